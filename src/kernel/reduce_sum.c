/*
** Sums and products. Floats as reduce_float.inc says; integers and bool in
** int64, wrapping like any integer arithmetic. Complex sums are sums of two
** columns (the caller hands over pairs of floats); complex products run
** element by element.
*/
#include <complex.h>

#include "kernel/reduce_load.h"

#define OP sum
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 0
#include "kernel/reduce_floats.inc"
#include "kernel/reduce_undef.inc"

#define OP nansum
#define MAPS
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_select(S##_isnan(x), S##_zero(), x)
#define MAP1(x) ((x) == (x) ? (x) : 0)
#define IDENT 0
#include "kernel/reduce_floats.inc"
#include "kernel/reduce_undef.inc"

#define OP prod
#define COMBV(S, a, b) ((a) * (b))
#define COMB1(a, b) ((a) * (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 1
#include "kernel/reduce_floats_wide.inc"
#include "kernel/reduce_undef.inc"

/* Products of 16-bit floats leave their range easily: as in PyTorch every step
** is rounded to the dtype, so that an overflow shows. */
#define OPID(t) LA_CAT(prod, _, t, )
#define COMBV(S, a, b) f16_widen(f16_narrow((a) * (b)))
#define COMB1(a, b) la_f16_to_f32(la_f32_to_f16((a) * (b)))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 1
#include "kernel/reduce_float_f16.inc"
#undef COMBV
#undef COMB1
#define COMBV(S, a, b) bf16_widen(bf16_narrow((a) * (b)))
#define COMB1(a, b) la_bf16_to_f32(la_f32_to_bf16((a) * (b)))
#include "kernel/reduce_float_bf16.inc"
#include "kernel/reduce_undef.inc"

/* Wrapping is done in unsigned numbers, whose overflow has a meaning. */
#define OP isum
#define PARTIAL
#define ACC(T) uint64_t
#define COMB1(a, b) ((a) + (b))
#define MAP1(x) (x)
#define IDENT 0
#include "kernel/reduce_ints.inc"
#include "kernel/reduce_undef.inc"

#define OP iprod
#define ACC(T) uint64_t
#define COMB1(a, b) ((a) * (b))
#define MAP1(x) (x)
#define IDENT 1
#include "kernel/reduce_ints.inc"
#include "kernel/reduce_undef.inc"

static inline float _Complex load_c32(const char *p)
{
    float _Complex z;
    float part[2] = {reduce_load_f16(p), reduce_load_f16(p + 2)};
    memcpy(&z, part, sizeof(z));
    return z;
}
static inline float _Complex load_c64(const char *p)
{
    float _Complex z;
    memcpy(&z, p, sizeof(z));
    return z;
}
static inline double _Complex load_c128(const char *p)
{
    double _Complex z;
    memcpy(&z, p, sizeof(z));
    return z;
}
static inline la_c32 narrow_c32(float _Complex z)
{
    return (la_c32){la_f32_to_f16(crealf(z)), la_f32_to_f16(cimagf(z))};
}

#define ID c32
#define A float _Complex
#define LOAD1(p) load_c32(p)
#define STORE1(out, i, x) (((la_c32 *)(out))[i] = narrow_c32(x))
#include "kernel/reduce_complex_prod.inc"
#define ID c64
#define A float _Complex
#define LOAD1(p) load_c64(p)
#define STORE1(out, i, x) (((float _Complex *)(out))[i] = (x))
#include "kernel/reduce_complex_prod.inc"
#define ID c128
#define A double _Complex
#define LOAD1(p) load_c128(p)
#define STORE1(out, i, x) (((double _Complex *)(out))[i] = (x))
#include "kernel/reduce_complex_prod.inc"

const la_reductions LA_KERNEL(reduce_sum) = {
    REDUCE_FLOATS(sum), REDUCE_INTS(isum)
};
const la_reductions LA_KERNEL(reduce_nansum) = {
    REDUCE_FLOATS(nansum), REDUCE_INTS(isum)
};
const la_reductions LA_KERNEL(reduce_prod) = {
    REDUCE_FLOATS(prod), REDUCE_INTS(iprod),
    [LA_COMPLEX32] = REDUCE_ENTRY(cprod_c32, float _Complex),
    [LA_COMPLEX64] = REDUCE_ENTRY(cprod_c64, float _Complex),
    [LA_COMPLEX128] = REDUCE_ENTRY(cprod_c128, double _Complex)
};
