/*
** The numbers of GGUF's blocks but those of grids. Each type is what the
** reference of the format, the dequantizers of the gguf package for Python,
** computes, operation by operation, so that the bits are the same. K types have
** 256 numbers with scales of 6 bits for parts of 16 or 32.
*/
#include "modules/gguf/kernel/blocks.h"

#include "modules/gguf/kernel/block_values.h"

/* The loop over blocks, around a function for one. */
#define UNPACK(type, size, bytes) \
    static void unpack_##type(const uint8_t *b, int64_t n, float *y) \
    { \
        for (; n > 0; n--, b += bytes, y += size) block_##type(b, y); \
    }

/* ---- 32 numbers ---- */

/* The fifth bits of all numbers are one word. */
static inline void block_Q5_0(const uint8_t *b, float *y)
{
    float d = block_half(b);
    uint32_t high = block_u32(b + 2);
    for (int j = 0; j < 16; j++) {
        int low = (b[6 + j] & 15) | (int)(high >> j & 1) << 4;
        int up = b[6 + j] >> 4 | (int)(high >> (j + 16) & 1) << 4;
        y[j] = d * (float)(low - 16);
        y[j + 16] = d * (float)(up - 16);
    }
}

static inline void block_Q5_1(const uint8_t *b, float *y)
{
    float d = block_half(b), m = block_half(b + 2);
    uint32_t high = block_u32(b + 4);
    for (int j = 0; j < 16; j++) {
        int low = (b[8 + j] & 15) | (int)(high >> j & 1) << 4;
        int up = b[8 + j] >> 4 | (int)(high >> (j + 16) & 1) << 4;
        y[j] = d * (float)low + m;
        y[j + 16] = d * (float)up + m;
    }
}

static inline void named(const int8_t *values, float d, const uint8_t *q,
                         int n, float *y)
{
    for (int j = 0; j < n; j++) {
        y[j] = d * (float)values[q[j] & 15];
        y[j + n] = d * (float)values[q[j] >> 4];
    }
}

/* A float of 8 bits without a sign, halved: 3 bits of mantissa, 4 of exponent;
** 127 is no number and counts as 0. */
static inline float e4m3(unsigned x)
{
    unsigned e = x >> 3 & 15, m = x & 7;
    uint32_t bits = (e + 127 - 8) << 23 | m << 20;
    float normal, small = (float)m * 0x1p-10f;
    memcpy(&normal, &bits, sizeof normal);
    return x == 127 ? 0 : e ? normal : small;
}

static inline void block_NVFP4(const uint8_t *b, float *y)
{
    for (int part = 0; part < 4; part++)
        named(block_fp4, e4m3(b[part]), b + 4 + 8 * part, 8, y + 16 * part);
}

/* ---- 256 numbers ---- */

/* Parts of 16 with a scale and a minimum of 4 bits each. The numbers of 8 parts
** lie in 32 bytes, 2 bits of each in every byte. */
static inline void block_Q2_K(const uint8_t *b, float *y)
{
    float d = block_half(b + 80), low = block_half(b + 82);
    const uint8_t *q = b + 16;
    for (int part = 0; part < 16; part++, y += 16) {
        float s = d * (float)(b[part] & 15), m = low * (float)(b[part] >> 4);
        const uint8_t *from = q + part / 8 * 32 + part % 2 * 16;
        int shift = part / 2 % 4 * 2;
        for (int j = 0; j < 16; j++)
            y[j] = s * (float)(from[j] >> shift & 3) - m;
    }
}

/* Scales of 6 bits: 4 of them in the first 8 bytes, 2 in the last 4. */
static inline int q3_scale(const uint8_t *s, int part)
{
    int low = s[part % 8] >> part / 8 * 4 & 15;
    return (low | (s[8 + part % 4] >> part / 4 * 2 & 3) << 4) - 32;
}

static inline void block_Q3_K(const uint8_t *b, float *y)
{
    float d = block_half(b + 108);
    for (int part = 0; part < 16; part++, y += 16) {
        float s = d * (float)q3_scale(b + 96, part);
        const uint8_t *from = b + 32 + part / 8 * 32 + part % 2 * 16;
        const uint8_t *high = b + part % 2 * 16;
        int shift = part / 2 % 4 * 2, bit = part / 2;
        for (int j = 0; j < 16; j++)
            y[j] = s * (float)((from[j] >> shift & 3)
                               - (high[j] >> bit & 1 ? 0 : 4));
    }
}

static inline void block_Q8_K(const uint8_t *b, float *y)
{
    float d;
    memcpy(&d, b, sizeof d);
    for (int j = 0; j < 256; j++) y[j] = d * (float)(int8_t)b[4 + j];
}

/* IQ4_NL with scales of 6 bits for parts of 32. */
static inline void block_IQ4_XS(const uint8_t *b, float *y)
{
    float d = block_half(b);
    unsigned high = block_u16(b + 2);
    for (int part = 0; part < 8; part++, y += 32) {
        int low = b[4 + part / 2] >> part % 2 * 4 & 15;
        int scale = (low | (int)(high >> 2 * part & 3) << 4) - 32;
        named(block_curve, d * (float)scale, b + 8 + 16 * part, 16, y);
    }
}

/* Five numbers of -1, 0, 1 in a byte, which is a fraction of 256 with five
** digits to the base 3: the k-th one is what 3^k carries over it. */
static inline float digit(unsigned q, unsigned power)
{
    return (float)((int)((q * power & 255) * 3 >> 8) - 1);
}

static inline void block_TQ1_0(const uint8_t *b, float *y)
{
    static const unsigned powers[5] = {1, 3, 9, 27, 81};
    float d = block_half(b + 52);
    for (int k = 0; k < 5; k++) {
        for (int j = 0; j < 32; j++)
            y[32 * k + j] = d * digit(b[j], powers[k]);
        for (int j = 0; j < 16; j++)
            y[160 + 16 * k + j] = d * digit(b[32 + j], powers[k]);
    }
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 4; j++)
            y[240 + 4 * k + j] = d * digit(b[48 + j], powers[k]);
}

static inline void block_TQ2_0(const uint8_t *b, float *y)
{
    float d = block_half(b + 64);
    for (int part = 0; part < 8; part++, y += 32)
        for (int j = 0; j < 32; j++) {
            int q = b[part / 4 * 32 + j] >> part % 4 * 2 & 3;
            y[j] = d * (float)(q - 1);
        }
}

UNPACK(Q5_0, 32, 22)
UNPACK(Q5_1, 32, 24)
UNPACK(Q2_K, 256, 84)
UNPACK(Q3_K, 256, 110)
UNPACK(Q8_K, 256, 292)
UNPACK(IQ4_XS, 256, 136)
UNPACK(TQ1_0, 256, 54)
UNPACK(TQ2_0, 256, 66)
UNPACK(NVFP4, 64, 36)

/* ---- products ---- */

#define LANES 16
#define VECTORS (LANES / F32_LANES)

/* Two sets of 16 sums, added up. */
static inline float added(const f32v sum[2 * VECTORS])
{
    float lane[2 * LANES];
    memcpy(lane, sum, sizeof lane);
    for (int m = LANES; m > 0; m /= 2)
        for (int l = 0; l < m; l++) lane[l] += lane[l + m];
    return lane[0];
}

static float dot(const float *w, const float *x, int64_t n)
{
    f32v sum[2 * VECTORS] = {{0}};
    for (int64_t j = 0; j < n; j += 2 * LANES)
#pragma GCC unroll 8
        for (int v = 0; v < 2 * VECTORS; v++)
            sum[v] = f32_fma(f32_load(w + j + v * F32_LANES),
                             f32_load(x + j + v * F32_LANES), sum[v]);
    return added(sum);
}

/* Blocks whose numbers come 32 at a time: all of them, and the product with a
** row without keeping them, the same sums in the same order. */
#define IN_VECTORS(type, parts, bytes) \
    static void unpack_##type(const uint8_t *b, int64_t n, float *y) \
    { \
        f32v w[VALUE_VECTORS]; \
        for (; n > 0; n--, b += bytes) \
            for (int part = 0; part < parts; part++, y += VALUES) { \
                values_##type(b, part, w); \
                memcpy(y, w, sizeof w); \
            } \
    } \
    static float dot_##type(const uint8_t *b, int64_t n, const float *x) \
    { \
        f32v w[VALUE_VECTORS], sum[VALUE_VECTORS] = {{0}}; \
        for (; n > 0; n--, b += bytes) \
            UNROLLED for (int part = 0; part < parts; part++, x += VALUES) { \
                values_##type(b, part, w); \
                UNROLLED for (int v = 0; v < VALUE_VECTORS; v++) \
                    sum[v] = f32_fma(w[v], f32_load(x + v * F32_LANES), \
                                     sum[v]); \
            } \
        return added(sum); \
    }
#define UNROLLED _Pragma("GCC unroll 8")
IN_VECTORS(Q4_0, 1, 18)
IN_VECTORS(Q4_1, 1, 20)
IN_VECTORS(Q8_0, 1, 34)
IN_VECTORS(IQ4_NL, 1, 18)
IN_VECTORS(MXFP4, 1, 17)
IN_VECTORS(Q4_K, 8, 144)
IN_VECTORS(Q5_K, 8, 176)
IN_VECTORS(Q6_K, 8, 210)

#define ENTRY(type) [LA_BLOCK_##type] = unpack_##type
#define DOT(type) [LA_BLOCK_##type] = dot_##type
const la_block_kernels LA_KERNEL(blocks) = {
    {ENTRY(Q4_0), ENTRY(Q4_1), ENTRY(Q5_0), ENTRY(Q5_1), ENTRY(Q8_0),
     ENTRY(Q2_K), ENTRY(Q3_K), ENTRY(Q4_K), ENTRY(Q5_K), ENTRY(Q6_K),
     ENTRY(Q8_K), ENTRY(IQ4_NL), ENTRY(IQ4_XS), ENTRY(TQ1_0), ENTRY(TQ2_0),
     ENTRY(MXFP4), ENTRY(NVFP4)}, dot,
    {DOT(Q4_0), DOT(Q4_1), DOT(Q8_0), DOT(Q4_K), DOT(Q5_K), DOT(Q6_K),
     DOT(IQ4_NL), DOT(MXFP4)}};
