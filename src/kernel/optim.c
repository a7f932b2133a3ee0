/* Steps of optimisers: SGD, Adam, RMSprop, Adagrad. */
#include "kernel/optim.h"
#include "simd/vec.h"

#define ID f32
#define T float
#define A float
#define LANE f32
#define LOADV(p) f32_load(p)
#define LOADN(p, n, x) f32_load_pad(p, n, x)
#define STOREV(p, v) f32_store(p, v)
#define STOREN(p, n, v) f32_store_n(p, n, v)
#include "kernel/optim.inc"

#define ID f64
#define T double
#define A double
#define LANE f64
#define LOADV(p) f64_load(p)
#define LOADN(p, n, x) f64_load_pad(p, n, x)
#define STOREV(p, v) f64_store(p, v)
#define STOREN(p, n, v) f64_store_n(p, n, v)
#include "kernel/optim.inc"

#define ID f16
#define T la_f16
#define A float
#define LANE f32
#define LOADV(p) f16_load(p)
#define LOADN(p, n, x) f16_load_pad(p, n, x)
#define STOREV(p, v) f16_store(p, v)
#define STOREN(p, n, v) f16_store_n(p, n, v)
#include "kernel/optim.inc"

#define ID bf16
#define T la_bf16
#define A float
#define LANE f32
#define LOADV(p) bf16_load(p)
#define LOADN(p, n, x) bf16_load_pad(p, n, x)
#define STOREV(p, v) bf16_store(p, v)
#define STOREN(p, n, v) bf16_store_n(p, n, v)
#include "kernel/optim.inc"

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
