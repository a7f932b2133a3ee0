/* Layer norm, RMS norm and their gradients, row by row. */
#include "kernel/fold.h"
#include "kernel/rowwise.h"
#include "simd/vec.h"

#define ID f32
#define T float
#define A float
#define LANE f32
#define LOADV(p) f32_load(p)
#define LOADN(p, n, x) f32_load_pad(p, n, x)
#define STOREV(p, v) f32_store(p, v)
#define STOREN(p, n, v) f32_store_n(p, n, v)
#include "kernel/row_norm.inc"

#define ID f64
#define T double
#define A double
#define LANE f64
#define LOADV(p) f64_load(p)
#define LOADN(p, n, x) f64_load_pad(p, n, x)
#define STOREV(p, v) f64_store(p, v)
#define STOREN(p, n, v) f64_store_n(p, n, v)
#include "kernel/row_norm.inc"

#define ID f16
#define T la_f16
#define A float
#define LANE f32
#define LOADV(p) f16_load(p)
#define LOADN(p, n, x) f16_load_pad(p, n, x)
#define STOREV(p, v) f16_store(p, v)
#define STOREN(p, n, v) f16_store_n(p, n, v)
#include "kernel/row_norm.inc"

#define ID bf16
#define T la_bf16
#define A float
#define LANE f32
#define LOADV(p) bf16_load(p)
#define LOADN(p, n, x) bf16_load_pad(p, n, x)
#define STOREV(p, v) bf16_store(p, v)
#define STOREN(p, n, v) bf16_store_n(p, n, v)
#include "kernel/row_norm.inc"

const la_row_norms LA_KERNEL(row_norm) = {
    [LA_FLOAT16] = norm_f16, [LA_BFLOAT16] = norm_bf16,
    [LA_FLOAT32] = norm_f32, [LA_FLOAT64] = norm_f64
};
const la_row_norm_grads LA_KERNEL(row_norm_grad) = {
    [LA_FLOAT16] = grad_f16, [LA_BFLOAT16] = grad_bf16,
    [LA_FLOAT32] = grad_f32, [LA_FLOAT64] = grad_f64
};
