/* Elements of less than a byte, and floats of a byte or less. */
#ifndef LA_ONNX_UNPACK_H
#define LA_ONNX_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

enum { LA_ONNX_STRING_TYPE = 8 };   /* TensorProto.DataType.STRING */

/* One element type of the format. */
typedef struct la_onnx_type {
    const char *name;       /* "float32", "int4", "float8e4m3fn" */
    la_dtype dtype;         /* LA_UNDEFINED for strings */
    int bits;               /* of an element in a file */
} la_onnx_type;
/* NULL for a number that stands for none. */
const la_onnx_type *la_onnx_type_of(int64_t number);

/* Are elements in files tensor of other bits than in memory? */
bool la_onnx_is_packed(const la_onnx_type *type);
/* n elements at 'from', the first in the lowest bits of a byte, into int8,
** uint8 or float32 at 'to'. */
void la_onnx_unpack(const la_onnx_type *type, const unsigned char *from,
                    int64_t n, void *to);

#endif
