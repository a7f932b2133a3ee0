/*
** Running log of sums of exponentials, in double: the larger of the two is put
** outside, so that nothing overflows.
*/
#include "kernel/pointwise/complex/complex_math.h"
#include "kernel/scan/load.h"

/* log(exp(a) + exp(b)) as high + log(1 + exp(low - high)). NaN in either is the
** result; of equal infinities the difference would be NaN. */
static inline double real_join(double a, double b)
{
    double high = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
    if (low != low) return low;
    if (high == low && isinf(high)) return high;
    return high + la_m_log1p_exp(low - high);
}

/* Complex numbers are compared by the larger real part. */
static inline double _Complex complex_join(double _Complex a,
                                           double _Complex b)
{
    bool first = creal(a) > creal(b);
    double _Complex high = first ? a : b, low = first ? b : a;
    if (isinf(creal(low)) && creal(low) < 0) return high;
    return high + complex_log(1 + complex_exp(low - high));
}

/* plain.inc for the real dtypes too: log1p and exp have no vectors here. */
#define COMB(a, b) real_join(a, b)
#define IDENT -INFINITY
#define TOGETHER 1

#define SCAN_BODY "kernel/scan/plain.inc"
#include "kernel/scan/each_real.inc"

#undef COMB
#define COMB(a, b) complex_join(a, b)

#define CARRY double _Complex
#define GET(tag) get_##tag
#define PUT(tag) put_##tag
#include "kernel/scan/each_complex.inc"

const la_scans LA_KERNEL(scan_logsumexp) = {SCAN_REALS, SCAN_COMPLEXES};
