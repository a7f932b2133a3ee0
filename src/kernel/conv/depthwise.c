/* Depthwise convolution of float32 and float64: every channel by itself. The
** tables conv_depth_* of conv.h. */
#include "kernel/conv/conv.h"
#include "kernel/matmul/muladd.h"

#define ELEM float
#define VEC f32v
#define VL F32_LANES
#define FMA f32_fma
#define LOAD_N f32_load_n
#define STORE_N f32_store_n
#define NAME(x) x##_f32
#include "kernel/conv/depthwise.inc"

const la_depth_kernels LA_KERNEL(conv_depth_f32) = {
    depth_f32, depth_weight_f32
};

#define ELEM double
#define VEC f64v
#define VL F64_LANES
#define FMA f64_fma
#define LOAD_N f64_load_n
#define STORE_N f64_store_n
#define NAME(x) x##_f64
#include "kernel/conv/depthwise.inc"

const la_depth_kernels LA_KERNEL(conv_depth_f64) = {
    depth_f64, depth_weight_f64
};
