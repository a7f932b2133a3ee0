/*
** Mathematical functions of vectors: f32_exp(f32v), f64_exp(f64v), f32_pow, ...
** for both widths, and what is made of them (sigmoid, silu, gelu, ...).
**
** Who computes what: sleef.def lists the functions; with AVX2 and FMA most have
** a method of our own (math_f32_own.h, math_f64_own.h, math_own.inc), the
** others, and all of them on the SSE2 baseline, are SLEEF's (sleef.h). Special
** values are right (NaN, infinities, zeros with their signs, denormals in and
** out); measured accuracy is in bench/ACCURACY.md. An element's result does not
** depend on its neighbours in the vector.
*/
#ifndef LA_SIMD_MATH_MATH_H
#define LA_SIMD_MATH_MATH_H

#include "simd/math/math_f32.h"
#include "simd/math/math_f64.h"

#define LANE f32
#define CTYPE float
#define MASK i32v
#include "simd/math/each_math.inc"
#define LANE f64
#define CTYPE double
#define MASK i64v
#include "simd/math/each_math.inc"

#include "simd/math/math_erfinv.h"

#endif
