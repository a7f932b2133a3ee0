/* The text of a tensor for hosts. */
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "api/api.h"
#include "tensor/text/print.h"

/* With the print settings of the thread itself, as without a state. Cut where
** 'capacity' ends, always with a NUL behind. */
LA_API int64_t la_tensor_text(const la_tensor *t, char *out, size_t capacity)
{
    la_text text = {0};
    LA_API_ENTRY(NULL);
    la_status status = t ? la_tensor_print(t, &la_ctx()->print, NULL, &text)
        : la_error(LA_EARG, "tensor expected");
    int64_t bytes = status ? -1 : (int64_t)text.size;
    if (!status && out && capacity) {
        size_t n = text.size < capacity ? text.size : capacity - 1;
        if (n) memcpy(out, text.data, n);
        out[n] = '\0';
    }
    la_text_free(&text);
    la_api_end("la_tensor_text", status);
    return bytes;
}
