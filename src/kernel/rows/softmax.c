/*
** softmax and log_softmax along rows and along columns, their gradients, and
** the loss of a label (cross entropy): the tables of rows.h.
**
** softmax.inc has the passes over rows and columns. The plain function and its
** logarithm share them.
*/
#include "base/libm/libm.h"
#include "base/runtime/interrupt.h"
#include "base/scratch.h"
#include "kernel/reduce/hsum.h"
#include "kernel/reduce/hsum_rows.h"
#include "kernel/rows/part16.h"
#include "kernel/rows/rows.h"
#include "kernel/scan/load.h"
#include "simd/math/math.h"
#include "simd/permute/transpose.h"
#include "simd/vec.h"

/* A copy of its own: the passes are long, and several callers share them. */
#define PASS static __attribute__((noinline))
#if VEC_BYTES > 16
#define ALWAYS static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 8")
#else  /* the copy for old processors is small */
#define ALWAYS static inline
#define UNROLLED
#endif

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
#define LOADN(p, n, x) f32_load_pad(p, n, x)
#define STOREV(p, v) f32_store(p, v)
#define STOREN(p, n, v) f32_store_n(p, n, v)
#define LOAD1(p) reduce_load_f32(p)
#define PUT1(p, x) put_f32(p, x)
#define EXP(v) f32_exp(v)
#define EXP_ALL(x) f32_exp_all(x, NV)
#define LOG(v) f32_log(v)
#define LOG1(x) la_m_logf(x)
#include "kernel/rows/softmax.inc"

#define ID f64
#define T double
#define A double
#define LANE f64
#define LOADV(p) f64_load(p)
#define LOADN(p, n, x) f64_load_pad(p, n, x)
#define STOREV(p, v) f64_store(p, v)
#define STOREN(p, n, v) f64_store_n(p, n, v)
#define LOAD1(p) reduce_load_f64(p)
#define PUT1(p, x) put_f64(p, x)
#define EXP(v) f64_exp(v)
#define EXP_ALL(x) f64_exp_all(x, NV)
#define LOG(v) f64_log(v)
#define LOG1(x) la_m_log(x)
#include "kernel/rows/softmax.inc"

#define SMALL
#define ID f16
#define T la_f16
#define A float
#define LANE f32
#define LOADV(p) f16_load(p)
#define LOADN(p, n, x) f16_load_part(p, n, x)
#define STOREV(p, v) f16_store(p, v)
#define STOREN(p, n, v) f16_store_part(p, n, v)
#define LOAD1(p) reduce_load_f16(p)
#define PUT1(p, x) put_f16(p, x)
#define EXP(v) f32_exp(v)
#define EXP_ALL(x) f32_exp_all(x, NV)
#define LOG(v) f32_log(v)
#define LOG1(x) la_m_logf(x)
#include "kernel/rows/softmax.inc"

#define SMALL
#define ID bf16
#define T la_bf16
#define A float
#define LANE f32
#define LOADV(p) bf16_load(p)
#define LOADN(p, n, x) bf16_load_part(p, n, x)
#define STOREV(p, v) bf16_store(p, v)
#define STOREN(p, n, v) bf16_store_part(p, n, v)
#define LOAD1(p) reduce_load_bf16(p)
#define PUT1(p, x) put_bf16(p, x)
#define EXP(v) f32_exp(v)
#define EXP_ALL(x) f32_exp_all(x, NV)
#define LOG(v) f32_log(v)
#define LOG1(x) la_m_logf(x)
#include "kernel/rows/softmax.inc"

/* The table entries: plain functions and logarithms share their code. */
#define ENTRIES(k)                                                          \
    static void softmax_rows_##k(const char *in, char *out, int64_t n,      \
                                 int64_t rows)                              \
    {                                                                       \
        rows_##k(in, out, n, rows, false);                                  \
    }                                                                       \
    static void log_rows_##k(const char *in, char *out, int64_t n,          \
                             int64_t rows)                                  \
    {                                                                       \
        rows_##k(in, out, n, rows, true);                                   \
    }                                                                       \
    static void softmax_columns_##k(const char *in, char *out, int64_t n,   \
                                    int64_t step, int64_t cols)             \
    {                                                                       \
        columns_##k(in, out, n, step, cols, false);                         \
    }                                                                       \
    static void log_columns_##k(const char *in, char *out, int64_t n,       \
                                int64_t step, int64_t cols)                 \
    {                                                                       \
        columns_##k(in, out, n, step, cols, true);                          \
    }                                                                       \
    static void softmax_grad_rows_##k(const char *dy, const char *y,        \
                                      char *out, int64_t n, int64_t rows)   \
    {                                                                       \
        grad_rows_##k(dy, y, out, n, rows, false);                          \
    }                                                                       \
    static void log_grad_rows_##k(const char *dy, const char *y, char *out, \
                                  int64_t n, int64_t rows)                  \
    {                                                                       \
        grad_rows_##k(dy, y, out, n, rows, true);                           \
    }                                                                       \
    static void softmax_grad_columns_##k(const char *dy, const char *y,     \
                                         char *out, int64_t n,              \
                                         int64_t step, int64_t cols)        \
    {                                                                       \
        grad_columns_##k(dy, y, out, n, step, cols, false);                 \
    }                                                                       \
    static void log_grad_columns_##k(const char *dy, const char *y,         \
                                     char *out, int64_t n, int64_t step,    \
                                     int64_t cols)                          \
    {                                                                       \
        grad_columns_##k(dy, y, out, n, step, cols, true);                  \
    }
ENTRIES(f32)
ENTRIES(f64)
ENTRIES(f16)
ENTRIES(bf16)

#define OF_DTYPES(ENTRY) {                                                  \
    [LA_FLOAT16] = ENTRY(f16), [LA_BFLOAT16] = ENTRY(bf16),                 \
    [LA_FLOAT32] = ENTRY(f32), [LA_FLOAT64] = ENTRY(f64)                    \
}
#define SOFTMAX(k) {softmax_rows_##k, softmax_columns_##k}
#define LOG_SOFTMAX(k) {log_rows_##k, log_columns_##k}
#define GRAD(k) {softmax_grad_rows_##k, softmax_grad_columns_##k}
#define LOG_GRAD(k) {log_grad_rows_##k, log_grad_columns_##k}
#define ENTROPY(k) {entropy_##k, entropy_grad_##k}
const la_softmaxes LA_KERNEL(softmax) = OF_DTYPES(SOFTMAX);
const la_softmaxes LA_KERNEL(log_softmax) = OF_DTYPES(LOG_SOFTMAX);
const la_softmax_grads LA_KERNEL(softmax_grad) = OF_DTYPES(GRAD);
const la_softmax_grads LA_KERNEL(log_softmax_grad) = OF_DTYPES(LOG_GRAD);
const la_entropies LA_KERNEL(entropy) = OF_DTYPES(ENTROPY);
