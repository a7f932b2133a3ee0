/*
** Products. Floats as float.inc says; integers and bool in int64, wrapping like
** any integer arithmetic: what has no gaps by int_prod.inc, other elements are
** widened first (map.h).
*/
#include "base/scratch.h"
#include "kernel/pointwise/complex/complex_lanes.h"
#include "kernel/reduce/float_driver.h"
#include "kernel/reduce/integers.h"
#include "kernel/reduce/store.h"

#define OP prod
#define COMBV(S, a, b) ((a) * (b))
#define COMB1(a, b) ((a) * (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 1
#include "kernel/reduce/each/each_wide_float.inc"
#include "kernel/reduce/each/undef.inc"

/* Products of 16-bit floats leave their range easily: as in PyTorch every step
** is rounded to the dtype, so that an overflow shows. */
#define OP prod
#define COMBV(S, a, b) f16_widen(f16_narrow((a) * (b)))
#define COMB1(a, b) la_f16_to_f32(la_f32_to_f16((a) * (b)))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 1
#define DTYPE f16
#include "kernel/reduce/loops/float.inc"
#undef COMBV
#undef COMB1
#define COMBV(S, a, b) bf16_widen(bf16_narrow((a) * (b)))
#define COMB1(a, b) la_bf16_to_f32(la_f32_to_bf16((a) * (b)))
#define DTYPE bf16
#include "kernel/reduce/loops/float.inc"
#include "kernel/reduce/each/undef.inc"

/* Wrapping is done in unsigned numbers, whose overflow has a meaning. */
#define COMBV(S, a, b) ((a) * (b))
#define COMB1(a, b) ((a) * (b))
#define IDENT 1
#define ID iprod_i64
#define T uint64_t
#define LANE u64
#define BITS i64
#include "kernel/reduce/loops/int.inc"
#include "kernel/reduce/each/undef.inc"

/* The product of the lanes; even and odd ones are two chains. */
static inline uint64_t lanes_product(u64v a)
{
    uint64_t even = 1, odd = 1;
#pragma GCC unroll 4
    for (int k = 0; k < U64_LANES; k += 2) {
        even *= a[k];
        odd *= a[k + 1];
    }
    return even * odd;
}

/* Product of n contiguous numbers, in any order: chains that do not wait for
** each other. */
static uint64_t prod_product(const uint64_t *x, int64_t n)
{
    enum { NL = U64_LANES };
    u64v a = u64_set1(1), b = a, c = a, d = a;
    uint64_t total = 1;
    int64_t i = 0;
    for (; i + 4 * NL <= n; i += 4 * NL) {
        a *= u64_load(x + i);
        b *= u64_load(x + i + NL);
        c *= u64_load(x + i + 2 * NL);
        d *= u64_load(x + i + 3 * NL);
    }
    for (; i + NL <= n; i += NL) a *= u64_load(x + i);
    for (; i < n; i++) total *= x[i];
    return total * lanes_product(a * b * (c * d));
}

/* Order is of no matter: tiles are reduced, and their results multiplied. */
static void product_rows(const la_reduce_map *map, const la_reduce_rows *r,
                         char *out)
{
    LA_SCRATCH(uint64_t, tile, 1024);
    uint64_t *acc = (uint64_t *)out;
    for (int64_t i = 0; i < r->rows; i++) {
        const char *p = r->in + i * r->row_step;
        acc[i] = 1;
        for (int64_t j = 0; j < r->n; j += 1024) {
            int64_t m = r->n - j < 1024 ? r->n - j : 1024;
            reduce_map(map, p + j * r->step, r->step, m, tile, NULL);
            acc[i] *= prod_product(tile, m);
        }
    }
}

static void product_columns(const la_reduce_map *map, const la_reduce_cols *c,
                            char *out)
{
    enum { SIDE = 128, DEEP = 8 };
    LA_SCRATCH(uint64_t, tile, SIDE * DEEP);
    uint64_t next[SIDE], *acc = (uint64_t *)out;
    for (int64_t k = 0; k < c->cols; k++) acc[k] = 1;
    for (int64_t r = 0; r < c->rows; r += DEEP)
        for (int64_t k = 0; k < c->cols; k += SIDE) {
            la_reduce_cols t = *c;
            t.in += r * c->row_step + k * c->step;
            t.rows = c->rows - r < DEEP ? c->rows - r : DEEP;
            t.cols = c->cols - k < SIDE ? c->cols - k : SIDE;
            reduce_map_tile(map, &t, tile, NULL);
            t.in = (const char *)tile;
            t.row_step = t.cols * 8;
            t.step = 8;
            outer_iprod_i64(&t, (char *)next, NULL);
            combine_iprod_i64((char *)(acc + k), (const char *)next, t.cols);
        }
}

/* The product of bools is 1 where all are set. Its bytes become accumulators in
** the same memory, from the last one: none is overwritten before it is read. */
extern const la_reductions LA_OWN_TABLE(reduce_all);
static void widen_bytes(char *acc, int64_t n)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        uint64_t x = (uint64_t)acc[i];
        memcpy(acc + i * 8, &x, sizeof(x));
    }
}
static void inner_iprod_b8(const la_reduce_rows *r, char *acc,
                           const la_reduce_args *args)
{
    LA_OWN_TABLE(reduce_all)[LA_BOOL].inner(r, acc, args);
    widen_bytes(acc, r->rows);
}
static void outer_iprod_b8(const la_reduce_cols *c, char *acc,
                           const la_reduce_args *args)
{
    LA_OWN_TABLE(reduce_all)[LA_BOOL].outer(c, acc, args);
    widen_bytes(acc, c->cols);
}

#define TAG u8
#define T uint8_t
#define AS(x) (x)
#define LOAD32(p) i32_load_u8(p)
#define HALF uint32
#define FACTORS 4
#include "kernel/reduce/loops/int_prod.inc"
#define TAG i8
#define T int8_t
#define AS(x) (x)
#define LOAD32(p) i32_load_i8(p)
#define HALF int32
#define FACTORS 4
#include "kernel/reduce/loops/int_prod.inc"
#define TAG u16
#define T uint16_t
#define AS(x) (x)
#define LOAD32(p) i32_load_u16(p)
#define HALF uint32
#define FACTORS 2
#include "kernel/reduce/loops/int_prod.inc"
#define TAG i16
#define T int16_t
#define AS(x) (x)
#define LOAD32(p) i32_load_i16(p)
#define HALF int32
#define FACTORS 2
#include "kernel/reduce/loops/int_prod.inc"
#define TAG u32
#define T uint32_t
#define AS(x) (x)
#define LOAD32(p) i32_load(p)
#define HALF uint32
#define FACTORS 1
#include "kernel/reduce/loops/int_prod.inc"
#define TAG i32
#define T int32_t
#define AS(x) (x)
#define LOAD32(p) i32_load(p)
#define HALF int32
#define FACTORS 1
#include "kernel/reduce/loops/int_prod.inc"

#define ID c32
#define T la_c32
#define A float
#define LANE f32
#define LANES(p, n, re, im) lanes_c32(p, n, re, im)
#define STORE1(out, i, x) (((la_f16 *)(out))[i] = la_f32_to_f16(x))
#include "kernel/reduce/loops/complex_prod.inc"
#define ID c64
#define T float _Complex
#define A float
#define LANE f32
#define LANES(p, n, re, im) lanes_c64(p, n, re, im)
#define STORE1(out, i, x) (((float *)(out))[i] = (x))
#include "kernel/reduce/loops/complex_prod.inc"
#define ID c128
#define T double _Complex
#define A double
#define LANE f64
#define LANES(p, n, re, im) lanes_c128(p, n, re, im)
#define STORE1(out, i, x) (((double *)(out))[i] = (x))
#include "kernel/reduce/loops/complex_prod.inc"

#define IPROD(t) {8, 32, false, inner_iprod_##t, outer_iprod_##t, \
                  combine_iprod_i64, store_int_8}
const la_reductions LA_KERNEL(reduce_prod) = {
    REDUCE_FLOATS(prod),
    [LA_BOOL] = IPROD(b8), [LA_UINT8] = IPROD(u8), [LA_INT8] = IPROD(i8),
    [LA_UINT16] = IPROD(u16), [LA_INT16] = IPROD(i16),
    [LA_UINT32] = IPROD(u32), [LA_INT32] = IPROD(i32),
    [LA_UINT64] = IPROD(i64), [LA_INT64] = IPROD(i64),
    [LA_COMPLEX32] = REDUCE_ENTRY(cprod_c32, acc_cprod_c32),
    [LA_COMPLEX64] = REDUCE_ENTRY(cprod_c64, acc_cprod_c64),
    [LA_COMPLEX128] = REDUCE_ENTRY(cprod_c128, acc_cprod_c128)
};
