/*
** Complex numbers in vectors of alternating parts: re, im, re, im; a vector has
** half as many of them as lanes. Products are two multiplications and one sum
** per part, each rounded, on every capability: fused ones would differ between
** those with and without FMA (see simd/isa/unfused.h).
*/
#ifndef LA_SIMD_COMPLEX_LANES_H
#define LA_SIMD_COMPLEX_LANES_H

#include "simd/generic.h"
#include "simd/permute/deinterleave.h"

/* Lane numbers of: the first of each pair twice, the second twice, swapped.
** (The first parts of two vectors, and the second ones, are f32_even and
** f32_odd.) */
#if VEC_BYTES == 64
#define F32_FIRST_ \
    0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14
#define F32_SECOND_ \
    1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15
#define F32_SWAP_ \
    1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14
#define F64_FIRST_ \
    0, 0, 2, 2, 4, 4, 6, 6
#define F64_SECOND_ \
    1, 1, 3, 3, 5, 5, 7, 7
#define F64_SWAP_ \
    1, 0, 3, 2, 5, 4, 7, 6
#elif VEC_BYTES == 32
#define F32_FIRST_ \
    0, 0, 2, 2, 4, 4, 6, 6
#define F32_SECOND_ \
    1, 1, 3, 3, 5, 5, 7, 7
#define F32_SWAP_ \
    1, 0, 3, 2, 5, 4, 7, 6
#define F64_FIRST_ \
    0, 0, 2, 2
#define F64_SECOND_ \
    1, 1, 3, 3
#define F64_SWAP_ \
    1, 0, 3, 2
#else
#define F32_FIRST_ \
    0, 0, 2, 2
#define F32_SECOND_ \
    1, 1, 3, 3
#define F32_SWAP_ \
    1, 0, 3, 2
#define F64_FIRST_ \
    0, 0
#define F64_SECOND_ \
    1, 1
#define F64_SWAP_ \
    1, 0
#endif

static inline f32v f32_cfirst(f32v a)
{
    return __builtin_shufflevector(a, a, F32_FIRST_);
}
static inline f32v f32_csecond(f32v a)
{
    return __builtin_shufflevector(a, a, F32_SECOND_);
}
static inline f32v f32_cswap(f32v a)
{
    return __builtin_shufflevector(a, a, F32_SWAP_);
}
static inline f64v f64_cfirst(f64v a)
{
    return __builtin_shufflevector(a, a, F64_FIRST_);
}
static inline f64v f64_csecond(f64v a)
{
    return __builtin_shufflevector(a, a, F64_SECOND_);
}
static inline f64v f64_cswap(f64v a)
{
    return __builtin_shufflevector(a, a, F64_SWAP_);
}
/* Flip the sign of the imaginary part (the complex conjugate), or of the real
** part; signs of zeros and NaN too, as only the bit changes. */
static inline f32v f32_conj(f32v a)
{
    return (f32v)((u64v)a ^ 0x8000000000000000u);
}
static inline f32v f32_cneg_first_(f32v a)
{
    return (f32v)((u64v)a ^ 0x80000000u);
}
static inline f64v f64_conj(f64v a)
{
    i64v second = -(i64_iota(0) & 1);
    return (f64v)((i64v)a ^ (second & INT64_MIN));
}
static inline __attribute__((always_inline))
f64v f64_cneg_first_(f64v a)
{
    i64v second = -(i64_iota(0) & 1);
    return (f64v)((i64v)a ^ (~second & INT64_MIN));
}
/* (a.re b.re - a.im b.im, a.im b.re + a.re b.im). No calls, also where code is
** compiled for size: a product takes less time than one. */
static inline __attribute__((always_inline))
f32v f32_cmul(f32v a, f32v b)
{
    f32v cross = f32_cneg_first_(f32_cswap(a) * f32_csecond(b));
    return a * f32_cfirst(b) + cross;
}
static inline __attribute__((always_inline))
f64v f64_cmul(f64v a, f64v b)
{
    f64v cross = f64_cneg_first_(f64_cswap(a) * f64_csecond(b));
    return a * f64_cfirst(b) + cross;
}

#define LANE f32
#define CTYPE float
#define MASK i32v
#include "simd/each_complex.inc"
#define LANE f64
#define CTYPE double
#define MASK i64v
#include "simd/each_complex.inc"

#define vcfirst(a) VPICK_(a, cfirst)(a)
#define vcsecond(a) VPICK_(a, csecond)(a)
#define vcswap(a) VPICK_(a, cswap)(a)
#define vcmul(a, b) VPICK_(a, cmul)(a, b)
#define vcdiv(a, b) VPICK_(a, cdiv)(a, b)
#define vcinverse(a) VPICK_(a, cinverse)(a)
#define vconj(a) VPICK_(a, conj)(a)

#endif
