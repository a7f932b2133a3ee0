/*
** One name for float and double vectors, so that an expression is written once:
** vsqrt(a) is f32_sqrt or f64_sqrt by the type of its argument. Constants are
** written vset(a, 0.5): a vector of the type of 'a' with 0.5 in every lane.
** VPICK_(a, name) picks f32_name or f64_name for functions without a short
** name. Kernels write their EXPR with these (src/kernel/README.md).
*/
#ifndef LA_SIMD_GENERIC_H
#define LA_SIMD_GENERIC_H

#include "simd/vec.h"

#define VPICK_(x, name) _Generic((x), f32v: f32_##name, f64v: f64_##name)
#define vset(like, x) VPICK_(like, set1)(x)
#define vsqrt(a) VPICK_(a, sqrt)(a)
#define vabs(a) VPICK_(a, abs)(a)
#define vneg(a) VPICK_(a, neg)(a)
#define vround(a) VPICK_(a, round)(a)
#define vfloor(a) VPICK_(a, floor)(a)
#define vceil(a) VPICK_(a, ceil)(a)
#define vtrunc(a) VPICK_(a, trunc)(a)
#define vmin(a, b) VPICK_(a, min)(a, b)
#define vmax(a, b) VPICK_(a, max)(a, b)
#define vmin_nan(a, b) VPICK_(a, min_nan)(a, b)
#define vmax_nan(a, b) VPICK_(a, max_nan)(a, b)
#define vcopysign(a, b) VPICK_(a, copysign)(a, b)
#define vselect(m, a, b) VPICK_(a, select)(m, a, b)
#define vfma(a, b, c) VPICK_(a, fma)(a, b, c)
#define vsignbit(a) VPICK_(a, signbit)(a)
#define visnan(a) VPICK_(a, isnan)(a)
#define visinf(a) VPICK_(a, isinf)(a)
#define visfinite(a) VPICK_(a, isfinite)(a)
#define vany(m) _Generic((m), i32v: i32_any, i64v: i64_any)(m)
#define vall(m) _Generic((m), i32v: i32_all, i64v: i64_all)(m)

#endif
