/*
** log(sum(exp(x))). An accumulator is the largest element (of complex ones the
** largest real part) and the sum of exp(x - largest), in double. A block is
** read twice while it is in the cache, like those of the variance.
*/
#include <complex.h>

#include "kernel/scan/load.h"
#include "simd/math.h"

#define CALL_MAX(S, a, b) LA_CAT(S, _max, , )(a, b)

typedef struct tower {
    double top, re, im;
} tower;

/* An infinity taken off itself would be NaN: its share is 1. */
static inline double share(double top, double of)
{
    return top == of ? 1 : exp(top - of);
}

static inline tower join(tower a, tower b)
{
    double top = a.top > b.top || a.top != a.top ? a.top : b.top;
    double p = share(a.top, top), q = share(b.top, top);
    return (tower){top, a.re * p + b.re * q, a.im * p + b.im * q};
}

static void fold_tower(char *into, const char *from, int64_t n)
{
    tower *a = (tower *)into;
    const tower *b = (const tower *)from;
    for (int64_t i = 0; i < n; i++) a[i] = join(a[i], b[i]);
}

static inline double whole(const tower *t) { return t->top + log(t->re); }
/* float32 is rounded at the sum, at the logarithm and at the end, as in
** PyTorch: integers are compared with it to the last bit. */
static inline float whole_f32(const tower *t)
{
    return (float)t->top + (float)log((double)(float)t->re);
}

static inline double _Complex complex_whole(const tower *t)
{
    return t->top + clog(scan_complex(t->re, t->im));
}

/* One element into an accumulator. */
static inline tower of_real(double x)
{
    return (tower){x, x == -INFINITY ? 0 : 1, 0};
}
static inline tower of_complex(double _Complex z)
{
    double top = creal(z);
    if (top == -INFINITY) return (tower){top, 0, 0};
    return (tower){top, cos(cimag(z)), sin(cimag(z))};
}

#define ID f32
#define T float
#define A float
#define LANE f32
#define LOAD1(p) reduce_load_f32(p)
#define LOADV(p) f32_load(p)
#define EXP(v) f32_exp(v)
#define FETCH(p) of_real(reduce_load_f32(p))
#define STORE1(out, i, t) put_f32((out) + 4 * (i), whole_f32(t))
#include "kernel/reduce/logsumexp.inc"
#define ID f64
#define T double
#define A double
#define LANE f64
#define LOAD1(p) reduce_load_f64(p)
#define LOADV(p) f64_load(p)
#define EXP(v) f64_exp(v)
#define FETCH(p) of_real(reduce_load_f64(p))
#define STORE1(out, i, t) put_f64((out) + 8 * (i), whole(t))
#include "kernel/reduce/logsumexp.inc"
#define ID f16
#define T la_f16
#define A float
#define LANE f32
#define LOAD1(p) reduce_load_f16(p)
#define LOADV(p) f16_load(p)
#define EXP(v) f32_exp(v)
#define FETCH(p) of_real(reduce_load_f16(p))
#define STORE1(out, i, t) put_f16((out) + 2 * (i), whole(t))
#include "kernel/reduce/logsumexp.inc"
#define ID bf16
#define T la_bf16
#define A float
#define LANE f32
#define LOAD1(p) reduce_load_bf16(p)
#define LOADV(p) bf16_load(p)
#define EXP(v) f32_exp(v)
#define FETCH(p) of_real(reduce_load_bf16(p))
#define STORE1(out, i, t) put_bf16((out) + 2 * (i), whole(t))
#include "kernel/reduce/logsumexp.inc"
#define ID c32
#define T la_c32
#define FETCH(p) of_complex(get_c32(p))
#define STORE1(out, i, t) put_c32((out) + 4 * (i), complex_whole(t))
#include "kernel/reduce/logsumexp.inc"
#define ID c64
#define T float _Complex
#define FETCH(p) of_complex(get_c64(p))
#define STORE1(out, i, t) put_c64((out) + 8 * (i), complex_whole(t))
#include "kernel/reduce/logsumexp.inc"
#define ID c128
#define T double _Complex
#define FETCH(p) of_complex(get_c128(p))
#define STORE1(out, i, t) put_c128((out) + 16 * (i), complex_whole(t))
#include "kernel/reduce/logsumexp.inc"

#define LSE(k) \
    {sizeof(tower), turned_##k, false, inner_##k, outer_##k, fold_tower, \
     store_##k}
const la_reductions LA_KERNEL(reduce_lse) = {
    [LA_FLOAT16] = LSE(f16), [LA_BFLOAT16] = LSE(bf16),
    [LA_FLOAT32] = LSE(f32), [LA_FLOAT64] = LSE(f64),
    [LA_COMPLEX32] = LSE(c32), [LA_COMPLEX64] = LSE(c64),
    [LA_COMPLEX128] = LSE(c128)
};
