/*
** log(sum(exp(x))) without overflow. An accumulator is the maximum (of complex
** elements that of the real parts) and the sum of exp(x - maximum), in double:
** the online softmax of Milakov and Gimelshein (2018), a block at a time. A
** block is read twice while it is in the cache, once for its maximum and once
** for its sum; blocks and accumulators are merged by rescaling both sums to the
** larger maximum.
**
** Invariant: of real elements the sum is at least 1 where the maximum is
** finite, so the logarithm is of a normal number. A maximum of -inf (nothing,
** or nothing but -inf) has the sum 0, and gives -inf; a NaN makes all NaN.
*/
#include <complex.h>

#include "base/scratch.h"
#include "kernel/pointwise/complex/complex_math.h"
#include "kernel/scan/load.h"
#include "simd/math/math.h"

#define CALL_MAX(S, a, b) LA_CAT(S, _max, , )(a, b)

typedef struct scaled_sum {
    double top;           /* the maximum */
    double re, im;        /* sum of exp(x - top); im is 0 of real elements */
} scaled_sum;

/* exp(top - of), by which a sum about 'top' becomes one about 'of'. Of equal
** ones 1: an infinity minus itself would be NaN. */
static inline double rescale(double top, double of)
{
    return top == of ? 1 : la_m_exp(top - of);
}

/* The accumulator of the elements of both; a NaN maximum wins. */
static inline scaled_sum merge(scaled_sum a, scaled_sum b)
{
    double top = a.top > b.top || a.top != a.top ? a.top : b.top;
    double p = rescale(a.top, top), q = rescale(b.top, top);
    return (scaled_sum){top, a.re * p + b.re * q, a.im * p + b.im * q};
}

static void combine_scaled_sums(char *into, const char *from, int64_t n)
{
    scaled_sum *a = (scaled_sum *)into;
    const scaled_sum *b = (const scaled_sum *)from;
    for (int64_t i = 0; i < n; i++) a[i] = merge(a[i], b[i]);
}

/* The result, maximum + log(sum), in double; 'log' is that of the sum. */
static inline double result(const scaled_sum *t, double log)
{
    return t->top + log;
}
/* float32 is rounded at the sum, at the logarithm and at the end, as in
** PyTorch: integers are compared with it to the last bit. */
static inline float result_f32(const scaled_sum *t, double log)
{
    return (float)t->top + (float)log;
}
/* The logarithms of up to F64_LANES sums, by a whole vector. */
static inline void logs_of(const scaled_sum *t, int64_t n, bool single,
                           double *log)
{
    f64v sums = f64_set1(1);
    for (int64_t j = 0; j < F64_LANES && j < n; j++)
        sums[j] = single ? (double)(float)t[j].re : t[j].re;
    sums = f64_log(sums);
    memcpy(log, &sums, sizeof(sums));
}

static inline double _Complex complex_result(const scaled_sum *t)
{
    return t->top + complex_log(scan_complex(t->re, t->im));
}

/* The accumulator of one element: its real part and exp(x - real part), which
** is 1 for a real one; -inf adds 0. */
static inline scaled_sum from_real(double x)
{
    return (scaled_sum){x, x == -INFINITY ? 0 : 1, 0};
}
static inline scaled_sum from_complex(double _Complex z)
{
    double top = creal(z);
    if (top == -INFINITY) return (scaled_sum){top, 0, 0};
    return (scaled_sum){top, la_m_cos(cimag(z)), la_m_sin(cimag(z))};
}

#define ID f32
#define T float
#define A float
#define LANE f32
#define LOAD1(p) reduce_load_f32(p)
#define LOADV(p) f32_load(p)
#define EXP(v) f32_exp(v)
#define FETCH(p) from_real(reduce_load_f32(p))
#define STORE1(out, i, t) put_f32((out) + 4 * (i), result_f32(t, log))
#include "kernel/reduce/loops/logsumexp.inc"
#define ID f64
#define T double
#define A double
#define LANE f64
#define LOAD1(p) reduce_load_f64(p)
#define LOADV(p) f64_load(p)
#define EXP(v) f64_exp(v)
#define FETCH(p) from_real(reduce_load_f64(p))
#define STORE1(out, i, t) put_f64((out) + 8 * (i), result(t, log))
#include "kernel/reduce/loops/logsumexp.inc"
#define ID f16
#define T la_f16
#define A float
#define LANE f32
#define LOAD1(p) reduce_load_f16(p)
#define LOADV(p) f16_load(p)
#define EXP(v) f32_exp(v)
#define FETCH(p) from_real(reduce_load_f16(p))
#define STORE1(out, i, t) put_f16((out) + 2 * (i), result(t, log))
#include "kernel/reduce/loops/logsumexp.inc"
#define ID bf16
#define T la_bf16
#define A float
#define LANE f32
#define LOAD1(p) reduce_load_bf16(p)
#define LOADV(p) bf16_load(p)
#define EXP(v) f32_exp(v)
#define FETCH(p) from_real(reduce_load_bf16(p))
#define STORE1(out, i, t) put_bf16((out) + 2 * (i), result(t, log))
#include "kernel/reduce/loops/logsumexp.inc"
#define ID c32
#define T la_c32
#define FETCH(p) from_complex(get_c32(p))
#define STORE1(out, i, t) put_c32((out) + 4 * (i), complex_result(t))
#include "kernel/reduce/loops/logsumexp.inc"
#define ID c64
#define T float _Complex
#define FETCH(p) from_complex(get_c64(p))
#define STORE1(out, i, t) put_c64((out) + 8 * (i), complex_result(t))
#include "kernel/reduce/loops/logsumexp.inc"
#define ID c128
#define T double _Complex
#define FETCH(p) from_complex(get_c128(p))
#define STORE1(out, i, t) put_c128((out) + 16 * (i), complex_result(t))
#include "kernel/reduce/loops/logsumexp.inc"

#define LSE(k) \
    {sizeof(scaled_sum), transpose_max_##k, false, inner_##k, outer_##k, \
     combine_scaled_sums, store_##k}
const la_reductions LA_KERNEL(reduce_lse) = {
    [LA_FLOAT16] = LSE(f16), [LA_BFLOAT16] = LSE(bf16),
    [LA_FLOAT32] = LSE(f32), [LA_FLOAT64] = LSE(f64),
    [LA_COMPLEX32] = LSE(c32), [LA_COMPLEX64] = LSE(c64),
    [LA_COMPLEX128] = LSE(c128)
};
