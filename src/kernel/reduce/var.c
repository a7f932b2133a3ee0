/*
** Mean and variance. An accumulator is (mean, sum of squared deviations, count)
** in double. A block of elements is read twice while it is in the cache: its
** sum gives a centre c, and then the sums of x - c and (x - c)^2 give both
** moments; the rounding of c cancels (the corrected two-pass algorithm). Blocks
** and accumulators are merged by the formula of Chan, Golub and LeVeque (1979).
*/
#include "base/scratch.h"
#include "kernel/reduce/load.h"

typedef la_moments moments;

/* The moments of the elements of both; either may have none. */
static inline moments merge(moments a, moments b)
{
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    double n = a.n + b.n, d = b.mean - a.mean, w = b.n / n;
    return (moments){a.mean + d * w, a.m2 + b.m2 + d * d * a.n * w, n};
}

static void combine_var(char *into, const char *from, int64_t n)
{
    moments *a = (moments *)into;
    const moments *b = (const moments *)from;
    for (int64_t i = 0; i < n; i++) a[i] = merge(a[i], b[i]);
}

#define STORED 64   /* results that are computed together */

/* n results in double, by args->mode: the mean, the variance m2 / (n -
** correction) or its square root. As PyTorch: no element gives NaN, a divisor
** below zero counts as zero. */
static void results(const moments *a, int64_t n, const la_reduce_args *args,
                    double *x)
{
    if (args->mode == LA_STORE_VAR_MEAN) {
        for (int64_t i = 0; i < n; i++) x[i] = a[i].n == 0 ? NAN : a[i].mean;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double divisor = a[i].n - args->correction;
        double v = a[i].m2 / (divisor > 0 ? divisor : 0);
        x[i] = a[i].n == 0 ? NAN : v;
    }
    if (args->mode != LA_STORE_STD) return;
    for (int64_t i = 0; i < n; i++) x[i] = sqrt(x[i]);
}

#define ID f32
#define T float
#define A float
#define LANE f32
#define LOADV(p) f32_load(p)
#define LOADN(p, n, x) f32_load_pad(p, n, x)
#define LOAD1(p) reduce_load_f32(p)
#define STORE1(out, i, x) (((float *)(out))[i] = (float)(x))
#include "kernel/reduce/loops/var.inc"
#define ID f64
#define T double
#define A double
#define LANE f64
#define LOADV(p) f64_load(p)
#define LOADN(p, n, x) f64_load_pad(p, n, x)
#define LOAD1(p) reduce_load_f64(p)
#define STORE1(out, i, x) (((double *)(out))[i] = (x))
#include "kernel/reduce/loops/var.inc"
#define ID f16
#define T la_f16
#define A float
#define LANE f32
#define LOADV(p) f16_load(p)
#define LOADN(p, n, x) f16_load_pad(p, n, x)
#define LOAD1(p) reduce_load_f16(p)
#define STORE1(out, i, x) (((la_f16 *)(out))[i] = la_f32_to_f16((float)(x)))
#include "kernel/reduce/loops/var.inc"
#define ID bf16
#define T la_bf16
#define A float
#define LANE f32
#define LOADV(p) bf16_load(p)
#define LOADN(p, n, x) bf16_load_pad(p, n, x)
#define LOAD1(p) reduce_load_bf16(p)
#define STORE1(out, i, x) (((la_bf16 *)(out))[i] = la_f32_to_bf16((float)(x)))
#include "kernel/reduce/loops/var.inc"

#define VAR(k) \
    {sizeof(moments), 64, false, inner_##k, outer_##k, combine_var, store_##k}
const la_reductions LA_KERNEL(reduce_var) = {
    [LA_FLOAT16] = VAR(f16), [LA_BFLOAT16] = VAR(bf16),
    [LA_FLOAT32] = VAR(f32), [LA_FLOAT64] = VAR(f64)
};
