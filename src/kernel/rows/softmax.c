/* softmax and log_softmax, along rows and along columns. */
#include "kernel/reduce/hsum.h"
#include "kernel/reduce/hsum_rows.h"
#include "kernel/rows/rows.h"
#include "kernel/scan/load.h"
#include "simd/math.h"
#include "simd/transpose.h"
#include "simd/vec.h"

#define ALWAYS static inline __attribute__((always_inline))
/* With the exponentials inside: the compiler's limits count the whole file. */
#define FLAT static __attribute__((flatten))

/* Lanes n and up become 0. */
static inline f32v keep_f32(int64_t n, f32v x)
{
    return f32_select(i32_iota(0) < i32_set1((int32_t)n), x, f32_zero());
}
static inline f64v keep_f64(int64_t n, f64v x)
{
    return f64_select(i64_iota(0) < i64_set1(n), x, f64_zero());
}

#define ID f32
#define T float
#define A float
#define LANE f32
#define LOADV(p) f32_load(p)
#define LOAD1(p) reduce_load_f32(p)
#define PUT1(p, x) put_f32(p, x)
#define LOADN(p, n, x) f32_load_pad(p, n, x)
#define STOREV(p, v) f32_store(p, v)
#define STOREN(p, n, v) f32_store_n(p, n, v)
#define EXP(v) f32_exp(v)
#define LOG(v) f32_log(v)
#define LOG1(x) logf(x)
#include "kernel/rows/softmax.inc"

#define ID f64
#define T double
#define A double
#define LANE f64
#define LOADV(p) f64_load(p)
#define LOAD1(p) reduce_load_f64(p)
#define PUT1(p, x) put_f64(p, x)
#define LOADN(p, n, x) f64_load_pad(p, n, x)
#define STOREV(p, v) f64_store(p, v)
#define STOREN(p, n, v) f64_store_n(p, n, v)
#define EXP(v) f64_exp(v)
#define LOG(v) f64_log(v)
#define LOG1(x) log(x)
#include "kernel/rows/softmax.inc"

#define SMALL
#define ID f16
#define T la_f16
#define A float
#define LANE f32
#define LOADV(p) f16_load(p)
#define LOAD1(p) reduce_load_f16(p)
#define PUT1(p, x) put_f16(p, x)
#define LOADN(p, n, x) f16_load_pad(p, n, x)
#define STOREV(p, v) f16_store(p, v)
#define STOREN(p, n, v) f16_store_n(p, n, v)
#define EXP(v) f32_exp(v)
#define LOG(v) f32_log(v)
#define LOG1(x) logf(x)
#include "kernel/rows/softmax.inc"

#define SMALL
#define ID bf16
#define T la_bf16
#define A float
#define LANE f32
#define LOADV(p) bf16_load(p)
#define LOAD1(p) reduce_load_bf16(p)
#define PUT1(p, x) put_bf16(p, x)
#define LOADN(p, n, x) bf16_load_pad(p, n, x)
#define STOREV(p, v) bf16_store(p, v)
#define STOREN(p, n, v) bf16_store_n(p, n, v)
#define EXP(v) f32_exp(v)
#define LOG(v) f32_log(v)
#define LOG1(x) logf(x)
#include "kernel/rows/softmax.inc"

const la_softmaxes LA_KERNEL(softmax) = {
    [LA_FLOAT16] = {softmax_rows_f16, softmax_columns_f16},
    [LA_BFLOAT16] = {softmax_rows_bf16, softmax_columns_bf16},
    [LA_FLOAT32] = {softmax_rows_f32, softmax_columns_f32},
    [LA_FLOAT64] = {softmax_rows_f64, softmax_columns_f64}
};
const la_softmaxes LA_KERNEL(log_softmax) = {
    [LA_FLOAT16] = {log_rows_f16, log_columns_f16},
    [LA_BFLOAT16] = {log_rows_bf16, log_columns_bf16},
    [LA_FLOAT32] = {log_rows_f32, log_columns_f32},
    [LA_FLOAT64] = {log_rows_f64, log_columns_f64}
};

#define GRADS(k) {softmax_grad_rows_##k, softmax_grad_columns_##k}
const la_softmax_grads LA_KERNEL(softmax_grad) = {
    [LA_FLOAT16] = GRADS(f16), [LA_BFLOAT16] = GRADS(bf16),
    [LA_FLOAT32] = GRADS(f32), [LA_FLOAT64] = GRADS(f64)
};
#undef GRADS
#define GRADS(k) {log_grad_rows_##k, log_grad_columns_##k}
const la_softmax_grads LA_KERNEL(log_softmax_grad) = {
    [LA_FLOAT16] = GRADS(f16), [LA_BFLOAT16] = GRADS(bf16),
    [LA_FLOAT32] = GRADS(f32), [LA_FLOAT64] = GRADS(f64)
};

#define ENTROPY(k) {entropy_##k, entropy_grad_##k}
const la_entropies LA_KERNEL(entropy) = {
    [LA_FLOAT16] = ENTROPY(f16), [LA_BFLOAT16] = ENTROPY(bf16),
    [LA_FLOAT32] = ENTROPY(f32), [LA_FLOAT64] = ENTROPY(f64)
};
