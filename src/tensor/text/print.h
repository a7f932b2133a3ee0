/* The text of a tensor, as PyTorch writes it. */
#ifndef LA_TENSOR_TEXT_PRINT_H
#define LA_TENSOR_TEXT_PRINT_H

#include <stddef.h>

#include "base/runtime/context.h"
#include "tensor/tensor.h"

/* Bytes that grow; start with {0} and end with la_text_free. Not terminated. */
typedef struct la_text {
    char *data;
    size_t size, capacity;
} la_text;
la_status la_text_add(la_text *, const char *bytes, size_t n);
void la_text_free(la_text *);

/* Append the text of 't': values aligned, the middle left out above
** o->threshold elements, dtype and device where they cannot be told. 'extra'
** ("grad_fn=<...>") joins the other remarks; NULL for none. The time is
** bounded whatever the sizes: where even the edges are too many, outer dims
** show fewer. Independent of the locale. LA_EINTR when asked to stop. */
la_status la_tensor_print(const la_tensor *t, const la_print_options *o,
                          const char *extra, la_text *out);

#endif
