/*
** Long rows of products of matrices that fit a vector or two (transforms of 2,
** 3 or 4 dimensions): rows of A and columns of B are brought to the lanes of
** the results by permutations, so a product is a handful of instructions. The
** sums are those of the larger kernels: over k in rising order, from zero.
*/
#include "kernel/matmul/muladd.h"
#include "simd/complex_lanes.h"
#include "simd/permute/widen_int.h"

#if VEC_BYTES >= 32  /* below there are no permutations by a variable */

/* Span from the first to the last element, as they lie; too many when a stride
** is negative or large. */
static int64_t tiny_span(int64_t n0, int64_t s0, int64_t n1, int64_t s1)
{
    uint64_t most = 2 * VEC_BYTES;
    if (n0 == 1) s0 = 0;
    if (n1 == 1) s1 = 0;
    if ((uint64_t)s0 > most || (uint64_t)s1 > most) return INT32_MAX;
    return 1 + (n0 - 1) * s0 + (n1 - 1) * s1;
}

/* Is this a product for here: plain, dense results, at most 'most' elements in
** each matrix with its gaps? */
static bool tiny_fits(const la_gemm_block *g, int64_t most)
{
    if (g->m < 1 || g->n < 1 || g->k < 1 || g->k > LA_TINY_K || !g->plain
        || !g->first || g->conj_a || g->conj_b)
        return false;
    if (g->m > most || g->n > most || g->m * g->n > most) return false;
    if ((g->out.cs != 1 && g->n > 1) || (g->out.rs != g->n && g->m > 1))
        return false;
    return tiny_span(g->m, g->a_rs, g->k, g->a_cs) <= most
        && tiny_span(g->k, g->b_rs, g->n, g->b_cs) <= most;
}

/* Small integers are computed in 32 bits: a vector of 16-bit or 8-bit elements
** from memory and back, and the first n of one. */
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
    u16h h = u16h_from_u32(v & 0xffff);  /* which may saturate */
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
    return (u32v)i32_load_u8(p);
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

#define COMPLEX_ELEM 0

#define VEC f32v
#define VL F32_LANES
#define MAP i32v
#define FMA f32_fma

#define NAME(x) x##_f32
#define RELOAD 1
#define OUT float
#define TAKE f32_load
#define TAKE_N f32_load_n
#define PUT f32_store
#define PUT_N f32_store_n
#include "kernel/matmul/gemm_tiny.inc"

#define NAME(x) x##_f16
#define RELOAD 0
#define OUT la_f16
#define TAKE f16_load
#define TAKE_N f16_load_n
#define PUT f16_store
#define PUT_N f16_store_n
#include "kernel/matmul/gemm_tiny.inc"

#define NAME(x) x##_bf16
#define RELOAD 0
#define OUT la_bf16
#define TAKE bf16_load
#define TAKE_N bf16_load_n
#define PUT bf16_store
#define PUT_N bf16_store_n
#include "kernel/matmul/gemm_tiny.inc"

#undef COMPLEX_ELEM
#define COMPLEX_ELEM 1
#define CROSS(v) f32_cneg_first_(f32_cswap(v))
#define NAME(x) x##_c64
#define RELOAD 1
#define OUT float
#define TAKE f32_load
#define TAKE_N f32_load_n
#define PUT f32_store
#define PUT_N f32_store_n
#include "kernel/matmul/gemm_tiny.inc"
#undef COMPLEX_ELEM
#define COMPLEX_ELEM 0

#undef VEC
#undef FMA
#define VEC u32v
#define FMA(a, b, c) ((VEC)((a) * (b) + (c)))

#define NAME(x) x##_u32
#define RELOAD 1
#define OUT uint32_t
#define TAKE u32_load
#define TAKE_N u32_load_n
#define PUT u32_store
#define PUT_N u32_store_n
#include "kernel/matmul/gemm_tiny.inc"

#define NAME(x) x##_u16
#define RELOAD 1
#define OUT uint16_t
#define TAKE u16_take
#define TAKE_N u16_take_n
#define PUT u16_put
#define PUT_N u16_put_n
#include "kernel/matmul/gemm_tiny.inc"

#define NAME(x) x##_u8
#define RELOAD 1
#define OUT uint8_t
#define TAKE u8_take
#define TAKE_N u8_take_n
#define PUT u8_put
#define PUT_N u8_put_n
#include "kernel/matmul/gemm_tiny.inc"

#undef VEC
#undef VL
#undef MAP
#define VEC u64v
#define VL U64_LANES
#define MAP i64v

#define NAME(x) x##_u64
#define RELOAD 1
#define OUT uint64_t
#define TAKE u64_load
#define TAKE_N u64_load_n
#define PUT u64_store
#define PUT_N u64_store_n
#include "kernel/matmul/gemm_tiny.inc"

#undef VEC
#undef FMA
#define VEC f64v
#define FMA f64_fma

#define NAME(x) x##_f64
#define RELOAD 1
#define OUT double
#define TAKE f64_load
#define TAKE_N f64_load_n
#define PUT f64_store
#define PUT_N f64_store_n
#include "kernel/matmul/gemm_tiny.inc"

#undef COMPLEX_ELEM
#undef CROSS
#define COMPLEX_ELEM 1
#define CROSS(v) f64_cneg_first_(f64_cswap(v))
#define NAME(x) x##_c128
#define RELOAD 1
#define OUT double
#define TAKE f64_load
#define TAKE_N f64_load_n
#define PUT f64_store
#define PUT_N f64_store_n
#include "kernel/matmul/gemm_tiny.inc"

const la_gemm_tinies LA_KERNEL(gemm_tiny) = {
    [LA_FLOAT32] = tiny_f32, [LA_FLOAT64] = tiny_f64,
    [LA_FLOAT16] = tiny_f16, [LA_BFLOAT16] = tiny_bf16,
    [LA_COMPLEX64] = tiny_c64, [LA_COMPLEX128] = tiny_c128,
    [LA_UINT8] = tiny_u8, [LA_INT8] = tiny_u8,
    [LA_UINT16] = tiny_u16, [LA_INT16] = tiny_u16,
    [LA_UINT32] = tiny_u32, [LA_INT32] = tiny_u32,
    [LA_UINT64] = tiny_u64, [LA_INT64] = tiny_u64
};
#else
const la_gemm_tinies LA_KERNEL(gemm_tiny) = {NULL};
#endif
