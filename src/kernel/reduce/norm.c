/*
** What norms are made of: sums of moduli, of their squares and powers, the
** largest and the smallest modulus, and the count of elements that are not
** zero, in the dtype of the modulus. No scaling against overflow, as PyTorch.
*/
#include "kernel/pointwise/complex_lanes.h"
#include "kernel/reduce/load.h"

#define MODULUS(t) modulus_##t

/* x becomes its p-th power. */
static void raise(double *x, int64_t n, double p)
{
    for (int64_t i = 0; i < n; i += F64_LANES) {
        int64_t m = n - i < F64_LANES ? n - i : F64_LANES;
        f64v v = f64_pow(f64_load_pad(x + i, m, 1), f64_set1(p));
        f64_store_n(x + i, m, v);
    }
}
#define RAISE(x, n, p) raise(x, n, p)

#define SIDEWAYS
#define OP abs_sum
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_abs(x)
#define MAP1(x) ((A)fabs(x))
#define IDENT 0
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/each_complex.inc"
#include "kernel/reduce/undef.inc"

#define SIDEWAYS
#define OP abs_max
#define COMBV(S, a, b) S##_max_nan(a, b)
#define QUICKV(S, a, b) S##_max(a, b)
#define COMB1(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MAPV(S, x) S##_abs(x)
#define MAP1(x) ((A)fabs(x))
#define IDENT 0
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/each_complex.inc"
#include "kernel/reduce/undef.inc"

#define SIDEWAYS
#define OP abs_min
#define COMBV(S, a, b) S##_min_nan(a, b)
#define QUICKV(S, a, b) S##_min(a, b)
#define COMB1(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))
#define MAPV(S, x) S##_abs(x)
#define MAP1(x) ((A)fabs(x))
#define IDENT INFINITY
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/each_complex.inc"
#include "kernel/reduce/undef.inc"

#define OP square
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) ((x) * (x))
#define MAP1(x) ((x) * (x))
#define IDENT 0
#include "kernel/reduce/each_float.inc"
#undef MAPV
#undef MAP1
#undef MODULUS
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define MODULUS(t) square_##t
#include "kernel/reduce/each_complex.inc"
#include "kernel/reduce/undef.inc"
#undef MODULUS
#define MODULUS(t) modulus_##t

#define SIDEWAYS
#define OP cube
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) (S##_abs(x) * (x) * (x))
#define MAP1(x) ((A)fabs(x) * (x) * (x))
#define IDENT 0
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/each_complex.inc"
#include "kernel/reduce/undef.inc"

#define SIDEWAYS
#define OP nonzero
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_select((x) != 0, S##_set1(1), S##_zero())
#define MAP1(x) ((x) != 0 ? 1 : 0)
#define IDENT 0
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/each_complex.inc"
#include "kernel/reduce/undef.inc"

/* Vectors even for one element, so that it has the same bits wherever it
** stands. */
static inline f32v f32_power(f32v x, double p)
{
    return f32_pow(f32_abs(x), f32_set1((float)p));
}
static inline f64v f64_power(f64v x, double p)
{
    return f64_pow(f64_abs(x), f64_set1(p));
}
static inline float power_float(float x, double p)
{
    return f32_power(f32_set1(x), p)[0];
}
static inline double power_double(double x, double p)
{
    return f64_power(f64_set1(x), p)[0];
}
#define POWER1(x, p) \
    _Generic((x), float: power_float, double: power_double)(x, p)

#define SIDEWAYS
#define OP power
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_power(x, args->p)
#define MAP1(x) POWER1(x, args->p)
#define IDENT 0
#include "kernel/reduce/each_float.inc"
#include "kernel/reduce/each_complex.inc"
#include "kernel/reduce/undef.inc"

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
