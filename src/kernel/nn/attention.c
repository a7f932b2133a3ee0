/* Row work of attention between its two matrix products, for float32 and
** float64; the contract is attention.h. */
#include "base/libm/libm.h"
#include "kernel/nn/attention.h"

#include "kernel/matmul/muladd.h"
#include "simd/math/math.h"

#define ELEM float
#define VEC f32v
#define VL F32_LANES
#define LANES 32
#define NAME(x) x##_f32
#define V_EXP f32_exp
#define V_MAX f32_max
#define V_SET1 f32_set1
#define LOG1 la_m_logf
#include "kernel/nn/attention.inc"

const la_attention_kernels LA_KERNEL(attention_f32) = {
    mask_f32, soften_f32, restore_f32, scale_f32, take_f32, row_dots_f32,
    soft_grad_f32, finish_f32
};

#define ELEM double
#define VEC f64v
#define VL F64_LANES
#define LANES 16
#define NAME(x) x##_f64
#define V_EXP f64_exp
#define V_MAX f64_max
#define V_SET1 f64_set1
#define LOG1 la_m_log
#include "kernel/nn/attention.inc"

const la_attention_kernels LA_KERNEL(attention_f64) = {
    mask_f64, soften_f64, restore_f64, scale_f64, take_f64, row_dots_f64,
    soft_grad_f64, finish_f64
};
