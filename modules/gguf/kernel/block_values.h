/*
** The numbers of blocks 32 at a time, in vectors: of those types that are
** multiplied as they are. Each is what the reference of the format computes,
** operation by operation.
*/
#ifndef LA_GGUF_KERNEL_BLOCK_VALUES_H
#define LA_GGUF_KERNEL_BLOCK_VALUES_H

#include "modules/gguf/kernel/block_bytes.h"
#include "simd/permute/dot_bytes.h"
#include "simd/permute/widen_int.h"
#include "simd/vec.h"

#define VALUES 32
#define VALUE_VECTORS (VALUES / F32_LANES)

/* values_<type>(b, part, y): the numbers of a part of the block at b. */
#define VALUES_OF(type) \
    static inline void values_##type(const uint8_t *b, int part, \
                                     f32v y[VALUE_VECTORS])

/* Number j is in the low half of byte j, number j + 16 in the high half. */
static inline void value_nibbles(const uint8_t *q, i32v out[VALUE_VECTORS])
{
    const int half = VALUE_VECTORS / 2;
#pragma GCC unroll 4
    for (int v = 0; v < half; v++) {
        i32v both = i32_load_u8(q + v * F32_LANES);
        out[v] = both & 15;
        out[v + half] = both >> 4;
    }
}

VALUES_OF(Q4_0)
{
    f32v d = f32_set1(block_half(b));
    i32v q[VALUE_VECTORS];
    value_nibbles(b + 2, q);
#pragma GCC unroll 8
    for (int v = 0; v < VALUE_VECTORS; v++) y[v] = d * f32_from_i32(q[v] - 8);
}

VALUES_OF(Q4_1)
{
    f32v d = f32_set1(block_half(b)), m = f32_set1(block_half(b + 2));
    i32v q[VALUE_VECTORS];
    value_nibbles(b + 4, q);
#pragma GCC unroll 8
    for (int v = 0; v < VALUE_VECTORS; v++) y[v] = d * f32_from_i32(q[v]) + m;
}

VALUES_OF(Q8_0)
{
    f32v d = f32_set1(block_half(b));
#pragma GCC unroll 8
    for (int v = 0; v < VALUE_VECTORS; v++)
        y[v] = f32_from_i32(i32_load_i8(b + 2 + v * F32_LANES)) * d;
}

/* Bytes that a table of 16 has for the halves of 16 bytes. */
static inline void values_named(const int8_t *table, float d, const uint8_t *q,
                                f32v y[VALUE_VECTORS])
{
    sbytes32 named = bytes_lookup(table, bytes_nibbles(q));
    int8_t byte[VALUES];
    memcpy(byte, &named, sizeof byte);
#pragma GCC unroll 8
    for (int v = 0; v < VALUE_VECTORS; v++)
        y[v] = f32_set1(d) * f32_from_i32(i32_load_i8(byte + v * F32_LANES));
}

VALUES_OF(IQ4_NL) { values_named(block_curve, block_half(b), b + 2, y); }
VALUES_OF(MXFP4) { values_named(block_fp4, block_power(b), b + 1, y); }

/* A part of 32 with scale and minimum of 6 bits; 'high' has the fifth bits. */
static inline void values_part(const uint8_t *b, int part, const uint8_t *q,
                               const uint8_t *high, f32v y[VALUE_VECTORS])
{
    int scale, min;
    block_scales(b + 4, part, &scale, &min);
    f32v s = f32_set1(block_half(b) * (float)scale);
    f32v m = f32_set1(block_half(b + 2) * (float)min);
    q += part / 2 * 32;
#pragma GCC unroll 8
    for (int v = 0; v < VALUE_VECTORS; v++) {
        i32v x = i32_load_u8(q + v * F32_LANES);
        x = part % 2 ? x >> 4 : x & 15;
        if (high) x |= (i32_load_u8(high + v * F32_LANES) >> part & 1) << 4;
        y[v] = s * f32_from_i32(x) - m;
    }
}

VALUES_OF(Q4_K) { values_part(b, part, b + 16, NULL, y); }
/* The fifth bits of part k are bit k of 32 bytes. */
VALUES_OF(Q5_K) { values_part(b, part, b + 48, b + 16, y); }

/* Four bits of two parts in a byte, the other two of four parts; each half of a
** part has a scale. */
VALUES_OF(Q6_K)
{
    float d = block_half(b + 208);
    int within = part % 4;
    const uint8_t *q = b + part / 4 * 64 + within % 2 * 32;
    const uint8_t *high = b + 128 + part / 4 * 32;
#pragma GCC unroll 8
    for (int v = 0; v < VALUE_VECTORS; v++) {
        int half = v / (VALUE_VECTORS / 2);
        f32v s = f32_set1(d * (float)(int8_t)b[192 + 2 * part + half]);
        i32v x = i32_load_u8(q + v * F32_LANES);
        x = within / 2 ? x >> 4 : x & 15;
        x |= (i32_load_u8(high + v * F32_LANES) >> 2 * within & 3) << 4;
        y[v] = s * f32_from_i32(x - 32);
    }
}
#undef VALUES_OF

#endif
