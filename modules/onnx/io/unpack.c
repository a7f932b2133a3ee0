/* Unpacking of narrow integers and floats. */
#include "modules/onnx/io/unpack.h"

#include <string.h>

#include "io/narrow.h"

bool la_onnx_is_packed(const la_onnx_type *type)
{
    return type->bits < 8 || (type->bits == 8 && type->dtype == LA_FLOAT32);
}

/* ONNX's "float8e4m3fn", "float4e2m1"; its "float8e8m0" is OCP's e8m0fnu. NULL
** for integers. */
static const la_narrow *narrow_of(const la_onnx_type *type)
{
    size_t begin = strlen("float8");
    if (type->dtype != LA_FLOAT32) return NULL;
    const char *word = type->name + begin;
    if (strcmp(word, "e8m0") == 0) word = "e8m0fnu";
    return la_narrow_of(word, strlen(word));
}

void la_onnx_unpack(const la_onnx_type *type, const unsigned char *from,
                    int64_t n, void *to)
{
    const la_narrow *f = narrow_of(type);
    int bits = type->bits, in_byte = 8 / bits;
    unsigned mask = (1u << bits) - 1;
    for (int64_t k = 0; k < n; k++) {
        unsigned v = from[k / in_byte] >> (k % in_byte) * bits & mask;
        if (type->dtype == LA_UINT8)
            ((uint8_t *)to)[k] = (uint8_t)v;
        else if (type->dtype == LA_INT8)
            ((int8_t *)to)[k] = (int8_t)(v >> (bits - 1) ? (int)v - (1 << bits)
                                         : (int)v);
        else
            ((float *)to)[k] = la_narrow_value(f, v);
    }
}
