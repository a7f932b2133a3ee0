/*
** What norms are made of: sums of moduli, of their squares and powers, the
** largest and the smallest modulus, and the count of elements that are not
** zero, in the dtype of the modulus. No scaling against overflow, as PyTorch.
*/
#include "kernel/reduce_load.h"

#define MAPS
#define OP abs_sum
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_abs(x)
#define MAP1(x) ((A)fabs(x))
#define IDENT 0
#include "kernel/reduce_floats.inc"
#include "kernel/reduce_complexes.inc"
#include "kernel/reduce_undef.inc"

#define MAPS
#define OP abs_max
#define COMBV(S, a, b) S##_max_nan(a, b)
#define QUICKV(S, a, b) S##_max(a, b)
#define COMB1(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MAPV(S, x) S##_abs(x)
#define MAP1(x) ((A)fabs(x))
#define IDENT 0
#include "kernel/reduce_floats.inc"
#include "kernel/reduce_complexes.inc"
#include "kernel/reduce_undef.inc"

#define MAPS
#define OP abs_min
#define COMBV(S, a, b) S##_min_nan(a, b)
#define QUICKV(S, a, b) S##_min(a, b)
#define COMB1(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))
#define MAPV(S, x) S##_abs(x)
#define MAP1(x) ((A)fabs(x))
#define IDENT INFINITY
#include "kernel/reduce_floats.inc"
#include "kernel/reduce_complexes.inc"
#include "kernel/reduce_undef.inc"

#define MAPS
#define OP square
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) ((x) * (x))
#define MAP1(x) ((x) * (x))
#define IDENT 0
#include "kernel/reduce_floats.inc"
#include "kernel/reduce_complexes.inc"
#include "kernel/reduce_undef.inc"

#define MAPS
#define OP nonzero
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_select((x) != 0, S##_set1(1), S##_zero())
#define MAP1(x) ((x) != 0 ? 1 : 0)
#define IDENT 0
#include "kernel/reduce_floats.inc"
#include "kernel/reduce_complexes.inc"
#include "kernel/reduce_undef.inc"

/* General powers go element by element through the C library. */
static inline f32v f32_power(f32v x, double p)
{
    for (int j = 0; j < F32_LANES; j++) x[j] = (float)pow(fabs(x[j]), p);
    return x;
}
static inline f64v f64_power(f64v x, double p)
{
    for (int j = 0; j < F64_LANES; j++) x[j] = pow(fabs(x[j]), p);
    return x;
}

#define MAPS
#define OP power
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_power(x, args->p)
#define MAP1(x) ((A)pow(fabs(x), args->p))
#define IDENT 0
#include "kernel/reduce_floats.inc"
#include "kernel/reduce_complexes.inc"
#include "kernel/reduce_undef.inc"

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
const la_reductions LA_KERNEL(reduce_nonzero) = {
    REDUCE_FLOATS(nonzero), REDUCE_COMPLEXES(nonzero)
};
const la_reductions LA_KERNEL(reduce_power) = {
    REDUCE_FLOATS(power), REDUCE_COMPLEXES(power)
};
