/*
** Reductions through index tensors: adding, multiplying, taking the larger or
** the smaller into indexed elements (index_add, scatter_reduce, index_put with
** accumulate). The order is that of the walk: results do not depend on threads.
*/
#include <complex.h>
#include <string.h>

#include "base/complex.h"
#include "base/half.h"
#include "kernel/index/offset.h"
#include "simd/f16_scalar.h"
#include "simd/isa/unfused.h"

/* Whole rows: their n values, the steps along them and from row to row. */
typedef struct index_rows {
    char *to;
    const char *from;
    int64_t to_row, from_row, to_step, from_step, n;
} index_rows;

/* Parts that depend on the dtype and the operation: 'size' bytes of an element
** and three loops (contracts in reduce.inc). Code that finds the elements does
** not, and is compiled once. */
typedef struct index_combine {
    int64_t size;
    void (*flat)(char *to, const char *from, const int64_t *at, int64_t n);
    void (*offsets)(char *to, int64_t ts, const char *from, int64_t fs,
                    const int64_t *at, int64_t n);
    void (*rows)(const index_rows *r, const int64_t *at, int64_t m);
} index_combine;

/* A dense row whose elements have indices of their own, of one tensor. */
static void combine_flat(const index_combine *c, char *const *data,
                         int64_t step, int64_t n, const la_index_dims *d)
{
    const char *index = data[2], *from = data[1];
    int64_t at[INDEX_BLOCK];
    for (int64_t b = 0; b < n; b += INDEX_BLOCK) {
        int64_t m = n - b < INDEX_BLOCK ? n - b : INDEX_BLOCK;
        if (step == 8 && m == INDEX_BLOCK
            && all_from_front(index, INDEX_BLOCK, d->sizes[0])) {
            c->flat(data[0] - c->size, from, (const int64_t *)index,
                    INDEX_BLOCK);
        } else {
            if (!resolve_indices(at, index, step, m, d->sizes[0], d->bad))
                return;
            c->flat(data[0], from, at, m);
        }
        index += INDEX_BLOCK * step;
        from += INDEX_BLOCK * c->size;
    }
}

/* A row whose elements have indices of their own. */
static void combine_elements(const index_combine *c, char *const *data,
                             const int64_t *st, int64_t n,
                             const la_index_dims *d)
{
    int64_t at[INDEX_BLOCK];
    if (d->n == 1 && d->strides[0] == c->size && st[0] == 0
        && st[1] == c->size) {
        combine_flat(c, data, st[2], n, d);
        return;
    }
    for (int64_t b = 0; b < n; b += INDEX_BLOCK) {
        int64_t m = n - b < INDEX_BLOCK ? n - b : INDEX_BLOCK;
        if (!find_offsets(at, data, st, b, m, d)) return;
        c->offsets(data[0] + b * st[0], st[0], data[1] + b * st[1], st[1], at,
                   m);
    }
}

/* Whole rows, whose indices do not change along them. */
static void combine_rows(const index_combine *c, char *const *data,
                         const int64_t *st, int64_t n0, int64_t n1,
                         const la_index_dims *d)
{
    const int64_t *outer = st + d->n + 2;
    int64_t at[INDEX_BLOCK];
    for (int64_t b = 0; b < n1; b += INDEX_BLOCK) {
        int64_t m = n1 - b < INDEX_BLOCK ? n1 - b : INDEX_BLOCK;
        index_rows r = {data[0] + b * outer[0], data[1] + b * outer[1],
                        outer[0], outer[1], st[0], st[1], n0};
        if (!find_offsets(at, data, outer, b, m, d)) return;
        c->rows(&r, at, m);
    }
}

static void combine_all(const index_combine *c, char **operands,
                        const int64_t *st, int64_t n0, int64_t n1,
                        const la_index_dims *d)
{
    int nops = d->n + 2;
    char *data[LA_INDEX_MAX + 2];
    if (steady(st, d)) {
        combine_rows(c, operands, st, n0, n1, d);
        return;
    }
    memcpy(data, operands, (size_t)nops * sizeof(*data));
    for (int64_t j = 0; j < n1; j++) {
        combine_elements(c, data, st, n0, d);
        next_row(data, st + nops, nops);
    }
}

#define AS_IS(x) (x)
#define AS_BOOL(x) ((x) != 0)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
/* Through 64 unsigned bits, so that signed integers wrap. */
#define ADD_INT(a, b) (uint64_t)(a) + (uint64_t)(b)
#define MUL_INT(a, b) (uint64_t)(a) * (uint64_t)(b)
#define OR(a, b) ((a) | (b))
#define AND(a, b) ((a) & (b))
#define MAX_INT(a, b) ((a) > (b) ? (a) : (b))
#define MIN_INT(a, b) ((a) < (b) ? (a) : (b))
/* NaN wins. */
#define MAX_FLOAT(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MIN_FLOAT(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))

/* A bfloat16 that is read, changed and written by itself stays in a vector
** register: ways over the others take longer than the arithmetic. */
typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));

static inline f32x4 lane_of(la_bf16 h)
{
    return (f32x4)(u16x8){0, h.bits};   /* the upper half of the first lane */
}
static inline la_bf16 bf16_of(f32x4 x)
{
    if (x[0] != x[0]) return la_f32_to_bf16(x[0]);
    u32x4 bits = (u32x4)x;
    return (la_bf16){((u16x8)(bits + 0x7fff + (bits >> 16 & 1)))[1]};
}

#define OP add
#define OP_INT ADD_INT
#define OP_FLOAT ADD
#define OP_IN_LANES
#include "kernel/index/each_reduce.inc"
#define OP mul
#define OP_INT MUL_INT
#define OP_FLOAT MUL
#define OP_IN_LANES
#include "kernel/index/each_reduce.inc"
#define OP max
#define OP_ORDERED
#define OP_INT MAX_INT
#define OP_FLOAT MAX_FLOAT
#define OP_BOOL OR
#include "kernel/index/each_reduce.inc"
#define OP min
#define OP_ORDERED
#define OP_INT MIN_INT
#define OP_FLOAT MIN_FLOAT
#define OP_BOOL AND
#include "kernel/index/each_reduce.inc"

static inline float _Complex load_c32(la_c32 x)
{
    float _Complex z;
    float parts[2] = {f16_value(x.re), f16_value(x.im)};
    memcpy(&z, parts, sizeof z);
    return z;
}
static inline la_c32 store_c32(float _Complex z)
{
    return (la_c32){f16_of(crealf(z)), f16_of(cimagf(z))};
}

#define LOAD AS_IS
#define STORE AS_IS
#define TYPE float _Complex
#define VALUE float _Complex
#define NAME add_c64
#define COMBINE ADD
#include "kernel/index/reduce.inc"
#undef COMBINE
#define NAME mul_c64
#define MODE SIMD_UNFUSED
#define COMBINE la_c64_mul
#include "kernel/index/reduce.inc"
#undef COMBINE
#undef TYPE
#undef VALUE
#define TYPE double _Complex
#define VALUE double _Complex
#define NAME add_c128
#define COMBINE ADD
#include "kernel/index/reduce.inc"
#undef COMBINE
#define NAME mul_c128
#define MODE SIMD_UNFUSED
#define COMBINE la_c128_mul
#include "kernel/index/reduce.inc"
#undef COMBINE
#undef TYPE
#undef VALUE
#undef LOAD
#undef STORE
#define LOAD load_c32
#define STORE store_c32
#define TYPE la_c32
#define VALUE float _Complex
#define NAME add_c32
#define COMBINE ADD
#include "kernel/index/reduce.inc"
#undef COMBINE
#define NAME mul_c32
#define MODE SIMD_UNFUSED
#define COMBINE la_c64_mul
#include "kernel/index/reduce.inc"
#undef COMBINE

#define REALS(op, boolean, i8, i16, i32, i64) \
    [LA_BOOL] = boolean, [LA_UINT8] = op##_u8, [LA_INT8] = i8, \
    [LA_UINT16] = op##_u16, [LA_INT16] = i16, [LA_UINT32] = op##_u32, \
    [LA_INT32] = i32, [LA_UINT64] = op##_u64, [LA_INT64] = i64, \
    [LA_FLOAT16] = op##_f16, [LA_BFLOAT16] = op##_bf16, \
    [LA_FLOAT32] = op##_f32, [LA_FLOAT64] = op##_f64
/* Sums and products of signed integers have the bits of unsigned ones; those
** of bool are its largest and its smallest element. */
#define WRAPPING(op, boolean) \
    REALS(op, boolean, op##_u8, op##_u16, op##_u32, op##_u64)
#define ORDERED(op) REALS(op, op##_b8, op##_i8, op##_i16, op##_i32, op##_i64)
#define COMPLEX(op) \
    [LA_COMPLEX32] = op##_c32, [LA_COMPLEX64] = op##_c64, \
    [LA_COMPLEX128] = op##_c128

const la_index_reductions LA_KERNEL(index_reductions) = {
    .add = {WRAPPING(add, max_b8), COMPLEX(add)},
    .mul = {WRAPPING(mul, min_b8), COMPLEX(mul)},
    .max = {ORDERED(max)},
    .min = {ORDERED(min)},
};
