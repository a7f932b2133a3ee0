/* Lists of integers in error texts. */
#include "tensor/text/text.h"

#include <stdio.h>

const char *la_list_print(la_list_text *buffer, int64_t n, const int64_t *list)
{
    char *text = buffer->text;
    size_t used = 1;
    text[0] = '[';
    for (int64_t k = 0; k < n && used < sizeof buffer->text - 32; k++)
        used += (size_t)snprintf(text + used, 24, k ? ", %lld" : "%lld",
                                 (long long)list[k]);
    if (used >= sizeof buffer->text - 32)
        used += (size_t)snprintf(text + used, 8, ", ...");
    text[used] = ']';
    text[used + 1] = '\0';
    return text;
}
