/* Elements of less than a byte, and floats of a byte or less. */
#ifndef LA_ONNX_UNPACK_H
#define LA_ONNX_UNPACK_H

#include "modules/onnx/io/tensor.h"

/* Are elements in files made of other bits than in memory? */
bool la_onnx_is_packed(const la_onnx_type *type);
/* n elements at 'from', the first in the lowest bits of a byte, into int8,
** uint8 or float32 at 'to'. */
void la_onnx_unpack(const la_onnx_type *type, const unsigned char *from,
                    int64_t n, void *to);

#endif
