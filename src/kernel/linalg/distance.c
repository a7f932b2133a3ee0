/* Distances between rows of float32 and float64; see distance.h. */
#include "kernel/linalg/distance.h"

#include "kernel/matmul/muladd.h"
#include "simd/int_extreme.h"

/* Numbers without a sign compare as their bits do, NaN above all. */
ALWAYS f32v larger_f32(f32v a, f32v b)
{
    return (f32v)i32_max((i32v)a, (i32v)b);
}
ALWAYS f64v larger_f64(f64v a, f64v b) { return f64_max_nan(a, b); }

#define ELEM float
#define VEC f32v
#define VL F32_LANES
#define NAME(x) x##_f32
#define V(x) f32_##x
#define MASK i32v
#define ANY i32_any
#define CLOSE 0x1p-12f      /* the root of the rounding of a sum, about */
#include "kernel/linalg/distance.inc"

const la_distance_kernels LA_KERNEL(distance_f32) = {
    exact_f32, near_f32, back_f32
};

#define ELEM double
#define VEC f64v
#define VL F64_LANES
#define NAME(x) x##_f64
#define V(x) f64_##x
#define MASK i64v
#define ANY i64_any
#define CLOSE 0x1p-26
#include "kernel/linalg/distance.inc"

const la_distance_kernels LA_KERNEL(distance_f64) = {
    exact_f64, near_f64, back_f64
};
