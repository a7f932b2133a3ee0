/* Layer norm, RMS norm and their gradients, row by row. */
#include "base/runtime/interrupt.h"
#include "kernel/reduce/hsum.h"
#include "kernel/reduce/hsum_rows.h"
#include "kernel/rows/rows.h"
#include "simd/vec.h"

/* 1 / sqrt(x), in double. */
static inline f64v rstd_f64(f64v x) { return 1 / f64_sqrt(x); }
static inline f32v rstd_f32(f32v x)
{
    return f32_join(f32h_from_f64(rstd_f64(f64_from_f32h(f32_low(x)))),
                    f32h_from_f64(rstd_f64(f64_from_f32h(f32_high(x)))));
}

#define ROW_BODY "kernel/rows/norm.inc"
#include "kernel/rows/each_float.inc"

const la_row_norms LA_KERNEL(row_norm) = {
    [LA_FLOAT16] = norm_f16, [LA_BFLOAT16] = norm_bf16,
    [LA_FLOAT32] = norm_f32, [LA_FLOAT64] = norm_f64
};
const la_row_norm_grads LA_KERNEL(row_norm_grad) = {
    [LA_FLOAT16] = grad_f16, [LA_BFLOAT16] = grad_bf16,
    [LA_FLOAT32] = grad_f32, [LA_FLOAT64] = grad_f64
};
