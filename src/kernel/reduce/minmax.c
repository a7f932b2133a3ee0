/*
** Largest and smallest elements; NaN wins over everything. 16-bit floats are
** compared as floats, which is exact; bool is compared as bytes. Complex
** numbers have no order.
*/
#include "kernel/reduce/map.h"
#include "kernel/reduce/store.h"

#define SHORT_AS_COLUMNS
#define OP max
#define COMBV(S, a, b) S##_max_nan(a, b)
#define QUICKV(S, a, b) S##_max(a, b)
#define COMB1(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT -INFINITY
#define BASE
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/undef.inc"

#define SHORT_AS_COLUMNS
#define OP min
#define COMBV(S, a, b) S##_min_nan(a, b)
#define QUICKV(S, a, b) S##_min(a, b)
#define COMB1(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT INFINITY
#define BASE
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/undef.inc"

/* The ends of an integer type, from its type alone. */
#define LEAST(A) ((A)-1 < (A)1 ? (A)((uint64_t)1 << (8 * sizeof(A) - 1)) : (A)0)
#define MOST(A) ((A)~LEAST(A))

#define OP imax
#define ACC(T) T
#define COMB1(a, b) ((a) > (b) ? (a) : (b))
#define MAP1(x) (x)
#define IDENT LEAST(A)
#include "kernel/reduce/each_int.inc"
#include "kernel/reduce/undef.inc"

#define OP imin
#define ACC(T) T
#define COMB1(a, b) ((a) < (b) ? (a) : (b))
#define MAP1(x) (x)
#define IDENT MOST(A)
#include "kernel/reduce/each_int.inc"
#include "kernel/reduce/undef.inc"

const la_reductions LA_KERNEL(reduce_max) = {
    REDUCE_FLOATS(max), REDUCE_INTS(imax)
};
const la_reductions LA_KERNEL(reduce_min) = {
    REDUCE_FLOATS(min), REDUCE_INTS(imin)
};
const la_reduce_bases LA_KERNEL(reduce_base_max) = {
    [LA_FLOAT32] = REDUCE_BASE(max_f32), [LA_FLOAT64] = REDUCE_BASE(max_f64)
};
const la_reduce_bases LA_KERNEL(reduce_base_min) = {
    [LA_FLOAT32] = REDUCE_BASE(min_f32), [LA_FLOAT64] = REDUCE_BASE(min_f64)
};
