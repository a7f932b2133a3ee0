/* Layer norm, RMS norm and their gradients, row by row. */
#include "kernel/fold.h"
#include "kernel/rowwise.h"
#include "simd/vec.h"

#define ROW_BODY "kernel/row_norm.inc"
#include "kernel/row_floats.inc"

const la_row_norms LA_KERNEL(row_norm) = {
    [LA_FLOAT16] = norm_f16, [LA_BFLOAT16] = norm_bf16,
    [LA_FLOAT32] = norm_f32, [LA_FLOAT64] = norm_f64
};
const la_row_norm_grads LA_KERNEL(row_norm_grad) = {
    [LA_FLOAT16] = grad_f16, [LA_BFLOAT16] = grad_bf16,
    [LA_FLOAT32] = grad_f32, [LA_FLOAT64] = grad_f64
};
