/*
** What norms are made of: sums of moduli, of their squares and powers, the
** largest and the smallest modulus, and the count of elements that are not
** zero, in the dtype of the modulus. No scaling against overflow, as PyTorch.
** Each is a map before a sum or an extreme (map.h); the usual ones of real
** floats have bodies of their own, as a map takes twice their time.
*/
#include "kernel/pointwise/complex/complex_lanes.h"
#include "kernel/reduce/float_driver.h"
#include "kernel/reduce/store.h"

/* ---- elements to moduli, or to their squares ---- */

#define NAME modulus_c32
#define SIZE 4
#define LANE f32
#include "kernel/reduce/loops/norm_load.inc"
#define NAME modulus_c64
#define SIZE 8
#define LANE f32
#include "kernel/reduce/loops/norm_load.inc"
#define NAME modulus_c128
#define SIZE 16
#define LANE f64
#include "kernel/reduce/loops/norm_load.inc"
#define NAME square_c32
#define SIZE 4
#define LANE f32
#include "kernel/reduce/loops/norm_load.inc"
#define NAME square_c64
#define SIZE 8
#define LANE f32
#include "kernel/reduce/loops/norm_load.inc"
#define NAME square_c128
#define SIZE 16
#define LANE f64
#include "kernel/reduce/loops/norm_load.inc"

/* ---- what is done to them ---- */

#define NAME abs
#define EXPR(S, x) S##_abs(x)
#include "kernel/reduce/each/each_norm_apply.inc"
#define NAME cube
#define EXPR(S, x) (S##_abs(x) * (x) * (x))
#include "kernel/reduce/each/each_norm_apply.inc"
#define NAME nonzero
#define EXPR(S, x) S##_select((x) != 0, S##_set1(1), S##_zero())
#include "kernel/reduce/each/each_norm_apply.inc"
#define NAME power
#define EXPR(S, x) S##_pow(S##_abs(x), S##_set1((REDUCE_A_##S)args->p))
#include "kernel/reduce/each/each_norm_apply.inc"

/* ---- bodies of their own ---- */

#define SHORT_AS_COLUMNS
#define OP abs_sum
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_abs(x)
#define MAP1(x) ((A)fabs(x))
#define IDENT 0
#include "kernel/reduce/each/each_float.inc"
#include "kernel/reduce/each/undef.inc"

#define SHORT_AS_COLUMNS
#define OP abs_max
#define COMBV(S, a, b) S##_max_nan(a, b)
#define QUICKV(S, a, b) S##_max(a, b)
#define COMB1(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MAPV(S, x) S##_abs(x)
#define MAP1(x) ((A)fabs(x))
#define IDENT 0
#include "kernel/reduce/each/each_float.inc"
#include "kernel/reduce/each/undef.inc"

#define OP square
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) ((x) * (x))
#define MAP1(x) ((x) * (x))
#define IDENT 0
#include "kernel/reduce/each/each_float.inc"
#include "kernel/reduce/each/undef.inc"

#define SHORT_AS_COLUMNS
#define OP cube
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) (S##_abs(x) * (x) * (x))
#define MAP1(x) ((A)fabs(x) * (x) * (x))
#define IDENT 0
#include "kernel/reduce/each/each_float.inc"
#include "kernel/reduce/each/undef.inc"

/* ---- maps before sums and extremes ---- */

#define OP abs_sum
#define BASE sum
#define APPLY(S) apply_abs_##S
#define REALS_OWN
#include "kernel/reduce/each/each_norm.inc"

#define OP abs_max
#define BASE max
#define APPLY(S) apply_abs_##S
#define REALS_OWN
#include "kernel/reduce/each/each_norm.inc"

#define OP abs_min
#define BASE min
#define APPLY(S) apply_abs_##S
#include "kernel/reduce/each/each_norm.inc"

#define OP square
#define BASE sum
#define APPLY(S) NULL
#define COMPLEX(t) load_square_##t
#define REALS_OWN
#include "kernel/reduce/each/each_norm.inc"

#define OP cube
#define BASE sum
#define APPLY(S) apply_cube_##S
#define REALS_OWN
#include "kernel/reduce/each/each_norm.inc"

#define OP nonzero
#define BASE sum
#define APPLY(S) apply_nonzero_##S
#include "kernel/reduce/each/each_norm.inc"

#define OP power
#define BASE sum
#define APPLY(S) apply_power_##S
#include "kernel/reduce/each/each_norm.inc"

const la_reductions LA_KERNEL(reduce_abs_sum) = {
    REDUCE_FLOATS(abs_sum), REDUCE_COMPLEXES(abs_sum)
};
const la_reductions LA_KERNEL(reduce_abs_max) = {
    REDUCE_FLOATS(abs_max), REDUCE_COMPLEXES(abs_max)
};
const la_reductions LA_KERNEL(reduce_abs_min) = {
    REDUCE_FLOATS(abs_min), REDUCE_COMPLEXES(abs_min)
};
const la_reductions LA_KERNEL(reduce_square) = {
    REDUCE_FLOATS(square), REDUCE_COMPLEXES(square)
};
const la_reductions LA_KERNEL(reduce_cube) = {
    REDUCE_FLOATS(cube), REDUCE_COMPLEXES(cube)
};
const la_reductions LA_KERNEL(reduce_nonzero) = {
    REDUCE_FLOATS(nonzero), REDUCE_COMPLEXES(nonzero)
};
const la_reductions LA_KERNEL(reduce_power) = {
    REDUCE_FLOATS(power), REDUCE_COMPLEXES(power)
};
