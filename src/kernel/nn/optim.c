/* Steps of optimisers: SGD, Adam, RMSprop, Adagrad, for the four float dtypes
** (kernel/rows/each_float.inc includes optim.inc for each). */
#include "kernel/nn/optim.h"
#include "simd/vec.h"

#define ROW_BODY "kernel/nn/optim.inc"
#include "kernel/rows/each_float.inc"

const la_optims LA_KERNEL(sgd) = {
    [LA_FLOAT16] = sgd_f16, [LA_BFLOAT16] = sgd_bf16,
    [LA_FLOAT32] = sgd_f32, [LA_FLOAT64] = sgd_f64
};
const la_optims LA_KERNEL(adam) = {
    [LA_FLOAT16] = adam_f16, [LA_BFLOAT16] = adam_bf16,
    [LA_FLOAT32] = adam_f32, [LA_FLOAT64] = adam_f64
};
const la_optims LA_KERNEL(rmsprop) = {
    [LA_FLOAT16] = rmsprop_f16, [LA_BFLOAT16] = rmsprop_bf16,
    [LA_FLOAT32] = rmsprop_f32, [LA_FLOAT64] = rmsprop_f64
};
const la_optims LA_KERNEL(adagrad) = {
    [LA_FLOAT16] = adagrad_f16, [LA_BFLOAT16] = adagrad_bf16,
    [LA_FLOAT32] = adagrad_f32, [LA_FLOAT64] = adagrad_f64
};
