/* Scalar conversions of the 16-bit floats; round to nearest even, NaN stays
** NaN, overflow becomes infinity, denormals are kept. The vector forms in
** src/simd give the same bits. */
#ifndef LA_BASE_HALF_H
#define LA_BASE_HALF_H

#include <stdint.h>
#include <string.h>

#include "base/dtype.h"

static inline float la_bf16_to_f32(la_bf16 h)
{
    uint32_t bits = (uint32_t)h.bits << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline la_bf16 la_f32_to_bf16(float f)
{
    uint32_t x;
    memcpy(&x, &f, 4);
    if ((x & 0x7fffffffu) > 0x7f800000u)  /* NaN: keep it quiet and a NaN */
        return (la_bf16){(uint16_t)(x >> 16 | 0x40)};
    return (la_bf16){(uint16_t)((x + 0x7fff + (x >> 16 & 1)) >> 16)};
}

float la_f16_to_f32(la_f16 h);
la_f16 la_f32_to_f16(float f);

#endif
