/*
** Sums. Floats as float.inc says; integers and bool in int64, wrapping like any
** integer arithmetic. Sums of 16-bit floats are frequent enough to be worth
** bodies that widen in registers; without their NaNs they are maps (map.h).
*/
#include "kernel/reduce/map.h"
#include "kernel/reduce/store.h"

#define OP sum
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 0
#define BASE
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/undef.inc"

#define OP nansum
#define SHORT_AS_COLUMNS
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_select(S##_isnan(x), S##_zero(), x)
#define MAP1(x) ((x) == (x) ? (x) : 0)
#define IDENT 0
#include "kernel/reduce/each_wide_float.inc"
#include "kernel/reduce/undef.inc"

static void apply_zero_nan_f32(void *to, const void *from, int64_t n,
                               const la_reduce_args *args)
{
    const float *p = from;
    float *q = to;
    for (int64_t i = 0; i < n; i++) q[i] = p[i] == p[i] ? p[i] : 0;
}
#define OP nansum
#define BASE sum
#define APPLY(S) apply_zero_nan_##S
#include "kernel/reduce/each_half.inc"

/* Wrapping is done in unsigned numbers, whose overflow has a meaning. */
#define OP isum
#define PARTIAL
#define ACC(T) uint64_t
#define COMB1(a, b) ((a) + (b))
#define MAP1(x) (x)
#define IDENT 0
#include "kernel/reduce/each_int.inc"
#include "kernel/reduce/undef.inc"

#define ID c32
#define T la_c32
#define REAL f16
#define LANE f32
#include "kernel/reduce/complex_sum.inc"
#define ID c64
#define T float _Complex
#define REAL f32
#define LANE f32
#include "kernel/reduce/complex_sum.inc"
#define ID c128
#define T double _Complex
#define REAL f64
#define LANE f64
#include "kernel/reduce/complex_sum.inc"

const la_reductions LA_KERNEL(reduce_sum) = {
    REDUCE_FLOATS(sum), REDUCE_INTS(isum),
    [LA_COMPLEX32] = REDUCE_ENTRY(csum_c32, acc_csum_c32),
    [LA_COMPLEX64] = REDUCE_ENTRY(csum_c64, acc_csum_c64),
    [LA_COMPLEX128] = REDUCE_ENTRY(csum_c128, acc_csum_c128)
};
const la_reductions LA_KERNEL(reduce_nansum) = {
    REDUCE_FLOATS(nansum), REDUCE_INTS(isum)
};
const la_reduce_bases LA_KERNEL(reduce_base_sum) = {
    [LA_FLOAT32] = REDUCE_BASE(sum_f32), [LA_FLOAT64] = REDUCE_BASE(sum_f64)
};
