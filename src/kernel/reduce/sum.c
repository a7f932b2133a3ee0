/*
** Sums and products. Floats as float.inc says; integers and bool in
** int64, wrapping like any integer arithmetic.
*/
#include "kernel/pointwise/complex_lanes.h"
#include "kernel/reduce/load.h"

#define OP sum
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 0
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/undef.inc"

#define OP nansum
#define SIDEWAYS
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_select(S##_isnan(x), S##_zero(), x)
#define MAP1(x) ((x) == (x) ? (x) : 0)
#define IDENT 0
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/undef.inc"

#define OP prod
#define COMBV(S, a, b) ((a) * (b))
#define COMB1(a, b) ((a) * (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 1
#include "kernel/reduce/each_wide_float.inc"
#include "kernel/reduce/undef.inc"

/* Products of 16-bit floats leave their range easily: as in PyTorch every step
** is rounded to the dtype, so that an overflow shows. */
#define OPID(t) LA_CAT(prod, _, t, )
#define COMBV(S, a, b) f16_widen(f16_narrow((a) * (b)))
#define COMB1(a, b) la_f16_to_f32(la_f32_to_f16((a) * (b)))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 1
#include "kernel/reduce/float_f16.inc"
#undef COMBV
#undef COMB1
#define COMBV(S, a, b) bf16_widen(bf16_narrow((a) * (b)))
#define COMB1(a, b) la_bf16_to_f32(la_f32_to_bf16((a) * (b)))
#include "kernel/reduce/float_bf16.inc"
#include "kernel/reduce/undef.inc"

/* Wrapping is done in unsigned numbers, whose overflow has a meaning. */
#define OP isum
#define PARTIAL
#define ACC(T) uint64_t
#define COMB1(a, b) ((a) + (b))
#define MAP1(x) (x)
#define IDENT 0
#include "kernel/reduce/each_int.inc"
#include "kernel/reduce/undef.inc"

#define OP iprod
#define ACC(T) uint64_t
#define COMB1(a, b) ((a) * (b))
#define MAP1(x) (x)
#define IDENT 1
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

#define ID c32
#define T la_c32
#define A float
#define LANE f32
#define LANES(p, n, re, im) lanes_c32(p, n, re, im)
#define STORE1(out, i, x) (((la_f16 *)(out))[i] = la_f32_to_f16(x))
#include "kernel/reduce/complex_prod.inc"
#define ID c64
#define T float _Complex
#define A float
#define LANE f32
#define LANES(p, n, re, im) lanes_c64(p, n, re, im)
#define STORE1(out, i, x) (((float *)(out))[i] = (x))
#include "kernel/reduce/complex_prod.inc"
#define ID c128
#define T double _Complex
#define A double
#define LANE f64
#define LANES(p, n, re, im) lanes_c128(p, n, re, im)
#define STORE1(out, i, x) (((double *)(out))[i] = (x))
#include "kernel/reduce/complex_prod.inc"

const la_reductions LA_KERNEL(reduce_sum) = {
    REDUCE_FLOATS(sum), REDUCE_INTS(isum),
    [LA_COMPLEX32] = REDUCE_ENTRY(csum_c32, acc_csum_c32),
    [LA_COMPLEX64] = REDUCE_ENTRY(csum_c64, acc_csum_c64),
    [LA_COMPLEX128] = REDUCE_ENTRY(csum_c128, acc_csum_c128)
};
const la_reductions LA_KERNEL(reduce_nansum) = {
    REDUCE_FLOATS(nansum), REDUCE_INTS(isum)
};
const la_reductions LA_KERNEL(reduce_prod) = {
    REDUCE_FLOATS(prod), REDUCE_INTS(iprod),
    [LA_COMPLEX32] = REDUCE_ENTRY(cprod_c32, acc_cprod_c32),
    [LA_COMPLEX64] = REDUCE_ENTRY(cprod_c64, acc_cprod_c64),
    [LA_COMPLEX128] = REDUCE_ENTRY(cprod_c128, acc_cprod_c128)
};
