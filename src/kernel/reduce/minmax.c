/*
** Largest and smallest elements; NaN wins over everything. 16-bit floats are
** compared as floats, which is exact; bool is compared as bytes. Complex
** numbers have no order.
*/
#include "kernel/reduce/float_driver.h"
#include "kernel/reduce/integers.h"
#include "kernel/reduce/store.h"

#define SHORT_AS_COLUMNS
#define OP max
#define COMBV(S, a, b) S##_max_nan(a, b)
#define QUICKV(S, a, b) S##_max(a, b)
#define COMB1(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT -INFINITY
#include "kernel/reduce/each/each_float.inc"
#include "kernel/reduce/each/undef.inc"

#define SHORT_AS_COLUMNS
#define OP min
#define COMBV(S, a, b) S##_min_nan(a, b)
#define QUICKV(S, a, b) S##_min(a, b)
#define COMB1(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT INFINITY
#include "kernel/reduce/each/each_float.inc"
#include "kernel/reduce/each/undef.inc"

/* The ends of an integer type, from its type alone. */
#define LEAST(T) ((T)-1 < (T)1 ? (T)((uint64_t)1 << (8 * sizeof(T) - 1)) : (T)0)
#define MOST(T) ((T)~LEAST(T))

#define OP imax
#define AGAIN
#define COMBV(S, a, b) S##_max(a, b)
#define COMB1(a, b) ((a) > (b) ? (a) : (b))
#define IDENT LEAST(T)
#include "kernel/reduce/each/each_int.inc"
#include "kernel/reduce/each/undef.inc"

#define OP imin
#define AGAIN
#define COMBV(S, a, b) S##_min(a, b)
#define COMB1(a, b) ((a) < (b) ? (a) : (b))
#define IDENT MOST(T)
#include "kernel/reduce/each/each_int.inc"
#include "kernel/reduce/each/undef.inc"

/* The largest and smallest of bools: is any set, are all? */
#define BOOLS(name, table)                                                  \
    extern const la_reductions LA_OWN_TABLE(table);                         \
    static void inner_##name(const la_reduce_rows *r, char *acc,            \
                             const la_reduce_args *args)                    \
    {                                                                       \
        LA_OWN_TABLE(table)[LA_BOOL].inner(r, acc, args);                   \
    }                                                                       \
    static void outer_##name(const la_reduce_cols *c, char *acc,            \
                             const la_reduce_args *args)                    \
    {                                                                       \
        LA_OWN_TABLE(table)[LA_BOOL].outer(c, acc, args);                   \
    }
BOOLS(imax_b8, reduce_any)
BOOLS(imin_b8, reduce_all)

#define ENTRY(k, size) \
    {size, 32, false, inner_##k, outer_##k, combine_##k, store_int_##size}
#define EXTREMES(op) \
    [LA_BOOL] = {1, 32, false, inner_##op##_b8, outer_##op##_b8, \
                 combine_##op##_u8, store_int_1}, \
    [LA_UINT8] = ENTRY(op##_u8, 1), [LA_INT8] = ENTRY(op##_i8, 1), \
    [LA_UINT16] = ENTRY(op##_u16, 2), [LA_INT16] = ENTRY(op##_i16, 2), \
    [LA_UINT32] = ENTRY(op##_u32, 4), [LA_INT32] = ENTRY(op##_i32, 4), \
    [LA_UINT64] = ENTRY(op##_u64, 8), [LA_INT64] = ENTRY(op##_i64, 8)

const la_reductions LA_KERNEL(reduce_max) = {
    REDUCE_FLOATS(max), EXTREMES(imax)
};
const la_reductions LA_KERNEL(reduce_min) = {
    REDUCE_FLOATS(min), EXTREMES(imin)
};
const la_reduce_bases LA_KERNEL(reduce_base_max) = {
    [LA_FLOAT32] = &kind_max_f32, [LA_FLOAT64] = &kind_max_f64
};
const la_reduce_bases LA_KERNEL(reduce_base_min) = {
    [LA_FLOAT32] = &kind_min_f32, [LA_FLOAT64] = &kind_min_f64
};
