/*
** What the sources of the matrix kernels share: conversions of runs, the
** activations of the epilogue, a scalar multiply-add of the vectors' kind.
*/
#ifndef LA_KERNEL_GEMM_PARTS_H
#define LA_KERNEL_GEMM_PARTS_H

#include <math.h>

#include "kernel/gemm.h"
#include "simd/vec.h"

#define ALWAYS static inline __attribute__((always_inline))

/* Have v in a register: compilers repeat a load in each of its uses. */
#if VEC_BYTES >= 32
#define KEEP(v) __asm__("" : "+v"(v))
#else
#define KEEP(v) (void)(v)
#endif

/* One rounding where the vectors have it, two where they have not. */
ALWAYS float f32_muladd1(float a, float b, float c)
{
#if VEC_BYTES >= 32
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}
ALWAYS double f64_muladd1(double a, double b, double c)
{
#if VEC_BYTES >= 32
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

ALWAYS double act_one(la_gemm_act act, double x)
{
    switch (act) {
    case LA_ACT_GELU: return 0.5 * x * (1 + erf(x * 0.70710678118654752));
    case LA_ACT_GELU_TANH:
        return 0.5 * x * (1 + tanh(0.79788456080286536
                                   * (x + 0.044715 * x * x * x)));
    default: return x;
    }
}

static __attribute__((unused))
void f32_act(la_gemm_act act, float *v, int n)
{
    if (act == LA_ACT_RELU)
        for (int i = 0; i < n; i++)
            v[i] = v[i] < 0 ? 0 : v[i];  /* NaN stays */
    else
        for (int i = 0; i < n; i++)
            v[i] = (float)act_one(act, v[i]);
}

static __attribute__((unused))
void f64_act(la_gemm_act act, double *v, int n)
{
    if (act == LA_ACT_RELU)
        for (int i = 0; i < n; i++)
            v[i] = v[i] < 0 ? 0 : v[i];  /* NaN stays */
    else
        for (int i = 0; i < n; i++)
            v[i] = act_one(act, v[i]);
}

#endif
