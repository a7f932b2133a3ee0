/*
** Long rows of products of matrices that fit a vector or two (transforms of
** 2, 3 or 4 dimensions): rows of A and columns of B are brought to the lanes of
** the results by permutations. The sums are those of the larger kernels: over k
** in rising order, from zero.
*/
#include "kernel/gemm_parts.h"
#include "simd/pairs.h"

#if VEC_BYTES >= 32  /* below there are no permutations by a variable */

/* From the first to the last element, as they lie; too many when a stride is
** negative. */
static int64_t la_tiny_span(int64_t n0, int64_t s0, int64_t n1, int64_t s1)
{
    if ((s0 < 0 && n0 > 1) || (s1 < 0 && n1 > 1)) return INT32_MAX;
    if ((s0 > 64 && n0 > 1) || (s1 > 64 && n1 > 1)) return INT32_MAX;
    return 1 + (n0 > 1 ? (n0 - 1) * s0 : 0) + (n1 > 1 ? (n1 - 1) * s1 : 0);
}

ALWAYS u32v u16_take(const uint16_t *p)
{
    u16h h;
    memcpy(&h, p, sizeof h);
    return u32_from_u16h(h);
}
ALWAYS u32v u16_take_n(const uint16_t *p, int64_t n)
{
    uint16_t h[U32_LANES] = {0};
    for (int64_t i = 0; i < n; i++) h[i] = p[i];
    return u16_take(h);
}
ALWAYS void u16_put(uint16_t *p, u32v v)
{
    u16h h = u16h_from_u32(v);
    memcpy(p, &h, sizeof h);
}
ALWAYS void u16_put_n(uint16_t *p, int64_t n, u32v v)
{
    uint16_t h[U32_LANES];
    u16_put(h, v);
    for (int64_t i = 0; i < n; i++) p[i] = h[i];
}

typedef uint8_t quarter __attribute__((vector_size(VEC_BYTES / 4)));
ALWAYS u32v u8_take(const uint8_t *p)
{
    quarter h;
    memcpy(&h, p, sizeof h);
    return __builtin_convertvector(h, u32v);
}
ALWAYS u32v u8_take_n(const uint8_t *p, int64_t n)
{
    uint8_t h[U32_LANES] = {0};
    for (int64_t i = 0; i < n; i++) h[i] = p[i];
    return u8_take(h);
}
ALWAYS void u8_put(uint8_t *p, u32v v)
{
    quarter h = __builtin_convertvector(v, quarter);
    memcpy(p, &h, sizeof h);
}
ALWAYS void u8_put_n(uint8_t *p, int64_t n, u32v v)
{
    uint8_t h[U32_LANES];
    u8_put(h, v);
    for (int64_t i = 0; i < n; i++) p[i] = h[i];
}

#define WHOLE_FMA(a, b, c) ((a) * (b) + (c))

#define NAME(x) f32_##x
#define OUT float
#define VEC f32v
#define VL F32_LANES
#define ELEM float
#define MAP i32v
#define FMA f32_fma
#define TAKE f32_load
#define TAKE_N f32_load_n
#define PUT f32_store
#define PUT_N f32_store_n
#define PAIRS 0
#define SWAP
#include "kernel/gemm_tiny.inc"
