/* Numbers out of the bytes of a block, which need not be aligned. */
#ifndef LA_GGUF_KERNEL_BLOCK_BYTES_H
#define LA_GGUF_KERNEL_BLOCK_BYTES_H

#include <stdint.h>
#include <string.h>

#include "base/dtype.h"
#include "simd/f16_scalar.h"

static inline float block_half(const uint8_t *p)
{
    la_f16 h;
    memcpy(&h, p, sizeof h);
    return f16_value(h);
}

static inline unsigned block_u16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static inline uint32_t block_u32(const uint8_t *p)
{
    return block_u16(p) | (uint32_t)block_u16(p + 2) << 16;
}

/* Four bits that name one of 16 values. */
static const int8_t block_curve[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                       1, 13, 25, 38, 53, 69, 89, 113};
/* Floats of 4 bits, doubled: 1 bit of mantissa, 2 of exponent. */
static const int8_t block_fp4[16] = {0, 1, 2, 3, 4, 6, 8, 12,
                                     0, -1, -2, -3, -4, -6, -8, -12};

/* The scale of doubled floats, in a byte: half of 2^(e - 127). */
static inline float block_power(const uint8_t *p)
{
    uint32_t bits = *p < 2 ? UINT32_C(0x200000) << *p
                           : (uint32_t)(*p - 1) << 23;
    float d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Eight scales and eight minima of 6 bits in 12 bytes. */
static inline void block_scales(const uint8_t *s, int part, int *scale,
                                int *min)
{
    if (part < 4) {
        *scale = s[part] & 63;
        *min = s[part + 4] & 63;
        return;
    }
    *scale = (s[part + 4] & 15) | (s[part - 4] >> 6) << 4;
    *min = s[part + 4] >> 4 | (s[part] >> 6) << 4;
}

#endif
