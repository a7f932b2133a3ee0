/*
** Running log of sums of exponentials, in double: the larger of the two is put
** outside, so that nothing overflows.
*/
#include "kernel/scan_load.h"

static inline double real_join(double a, double b)
{
    double high = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
    if (low != low) return low;
    if (high == low && isinf(high)) return high;
    return high + log1p(exp(low - high));
}

/* Of complex numbers the one with the larger real part. */
static inline double _Complex complex_join(double _Complex a,
                                           double _Complex b)
{
    bool first = creal(a) > creal(b);
    double _Complex high = first ? a : b, low = first ? b : a;
    if (isinf(creal(low)) && creal(low) < 0) return high;
    return high + clog(1 + cexp(low - high));
}

#define COMB(a, b) real_join(a, b)
#define IDENT -INFINITY

#define ID f32
#define T float
#define A double
#define LOAD1(p) reduce_load_f32(p)
#define STORE1(p, x) put_f32(p, x)
#include "kernel/scan_plain.inc"

#define ID f64
#define T double
#define A double
#define LOAD1(p) reduce_load_f64(p)
#define STORE1(p, x) put_f64(p, x)
#include "kernel/scan_plain.inc"

#define ID f16
#define T la_f16
#define A double
#define LOAD1(p) reduce_load_f16(p)
#define STORE1(p, x) put_f16(p, x)
#include "kernel/scan_plain.inc"

#define ID bf16
#define T la_bf16
#define A double
#define LOAD1(p) reduce_load_bf16(p)
#define STORE1(p, x) put_bf16(p, x)
#include "kernel/scan_plain.inc"

#undef COMB
#define COMB(a, b) complex_join(a, b)

#define ID c32
#define T la_c32
#define A double _Complex
#define LOAD1(p) get_c32(p)
#define STORE1(p, x) put_c32(p, x)
#include "kernel/scan_plain.inc"

#define ID c64
#define T float _Complex
#define A double _Complex
#define LOAD1(p) get_c64(p)
#define STORE1(p, x) put_c64(p, x)
#include "kernel/scan_plain.inc"

#define ID c128
#define T double _Complex
#define A double _Complex
#define LOAD1(p) get_c128(p)
#define STORE1(p, x) put_c128(p, x)
#include "kernel/scan_plain.inc"

const la_scans LA_KERNEL(scan_logsumexp) = {
    [LA_FLOAT16] = SCAN_ENTRY(f16, double),
    [LA_BFLOAT16] = SCAN_ENTRY(bf16, double),
    [LA_FLOAT32] = SCAN_ENTRY(f32, double),
    [LA_FLOAT64] = SCAN_ENTRY(f64, double),
    [LA_COMPLEX32] = SCAN_ENTRY(c32, double _Complex),
    [LA_COMPLEX64] = SCAN_ENTRY(c64, double _Complex),
    [LA_COMPLEX128] = SCAN_ENTRY(c128, double _Complex)
};
