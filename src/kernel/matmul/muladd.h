/*
** What the sources of the matrix kernels share: a scalar multiply-add that
** rounds as the vectors' does, and two attributes.
*/
#ifndef LA_KERNEL_MATMUL_MULADD_H
#define LA_KERNEL_MATMUL_MULADD_H

#include "kernel/matmul/gemm.h"
#include "simd/permute/shuffle.h"
#include "simd/vec.h"

#define ALWAYS static inline __attribute__((always_inline))

/* Have v in a register: compilers merge a load into each of its uses, which
** repeats it. */
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

#endif
