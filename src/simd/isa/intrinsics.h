/*
** The intrinsics of x86: what to include instead of the header immintrin.
**
** GCC's header declares every extension whatever the target, which takes 0.25 s
** of each of the kernels' objects. Its parts have include guards; defined
** beforehand, they leave out AVX512 where the target has none, and FP16, the
** longest part, everywhere. The names are those of GCC 12: other versions may
** have parts that need one of these, and get the header as it is.
*/
#ifndef LA_SIMD_ISA_INTRINSICS_H
#define LA_SIMD_ISA_INTRINSICS_H

#if defined(__GNUC__) && __GNUC__ == 12 && !defined(__clang__)
#define __AVX512FP16INTRIN_H_INCLUDED
#define __AVX512FP16VLINTRIN_H_INCLUDED
#ifndef __AVX512F__
#define _AVX5124FMAPSINTRIN_H_INCLUDED
#define _AVX5124VNNIWINTRIN_H_INCLUDED
#define _AVX512BF16INTRIN_H_INCLUDED
#define _AVX512BF16VLINTRIN_H_INCLUDED
#define _AVX512BITALGINTRIN_H_INCLUDED
#define _AVX512BWINTRIN_H_INCLUDED
#define _AVX512CDINTRIN_H_INCLUDED
#define _AVX512DQINTRIN_H_INCLUDED
#define _AVX512ERINTRIN_H_INCLUDED
#define _AVX512FINTRIN_H_INCLUDED
#define _AVX512IFMAINTRIN_H_INCLUDED
#define _AVX512IFMAVLINTRIN_H_INCLUDED
#define _AVX512PFINTRIN_H_INCLUDED
#define _AVX512VBMI2VLINTRIN_H_INCLUDED
#define _AVX512VBMIINTRIN_H_INCLUDED
#define _AVX512VBMIVLINTRIN_H_INCLUDED
#define _AVX512VLBWINTRIN_H_INCLUDED
#define _AVX512VLDQINTRIN_H_INCLUDED
#define _AVX512VLINTRIN_H_INCLUDED
#define _AVX512VNNIVLINTRIN_H_INCLUDED
#define _AVX512VP2INTERSECTINTRIN_H_INCLUDED
#define _AVX512VP2INTERSECTVLINTRIN_H_INCLUDED
#define _AVX512VPOPCNTDQINTRIN_H_INCLUDED
#define _AVX512VPOPCNTDQVLINTRIN_H_INCLUDED
#define _GFNIINTRIN_H_INCLUDED
#define _VPCLMULQDQINTRIN_H_INCLUDED
#define __AVX512VBMI2INTRIN_H_INCLUDED
#define __AVX512VNNIINTRIN_H_INCLUDED
#define __VAESINTRIN_H_INCLUDED
#endif
#endif
#include <immintrin.h>

#endif
