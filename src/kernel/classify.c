/* Questions about one number, and nan_to_num. */
#include "kernel/complex.h"

#define NAME isnan
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) ((a) != (a))
#include "kernel/each_real.inc"
#define NO_PRODUCTS 1
#define EXPR(a) CXF(isnan)(a)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define INFINITE(a) (__builtin_fabs(a) == __builtin_inf())
#define FINITE(a) (__builtin_fabs(a) < __builtin_inf())

#define NAME isinf
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) INFINITE(a)
#include "kernel/each_real.inc"
#define NO_PRODUCTS 1
#define EXPR(a) (INFINITE((a).re) || INFINITE((a).im))
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME isfinite
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) FINITE(a)
#include "kernel/each_real.inc"
#define NO_PRODUCTS 1
#define EXPR(a) (FINITE((a).re) && FINITE((a).im))
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME isposinf
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) ((a) == (REAL)__builtin_inf())
#include "kernel/each_real.inc"
#include "kernel/table.inc"

#define NAME isneginf
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) ((a) == -(REAL)__builtin_inf())
#include "kernel/each_real.inc"
#include "kernel/table.inc"

#define NAME isreal
#define ARITY 1
#define RESULT uint8_t
#define NO_PRODUCTS 1
#define EXPR(a) ((a).im == 0)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

/* p0, p1, p2: what stands for NaN, inf and -inf */
#define REPLACED(a) vselect(visnan(a), p0, vselect(visinf(a), \
    vselect(vsignbit(a), p2, p1), a))
#define NAME nan_to_num
#define ARITY 1
#define NPARAMS 3
#define EXPR(a) REPLACED(a)
#include "kernel/each_float.inc"
#define EXPR(a) REPLACED(a)
#include "kernel/each_pairs.inc"
#include "kernel/table.inc"

/* p0, p1, p2: rtol, atol, NaN equals NaN */
static inline uint8_t close_reals(double a, double b, double gap, double limit,
                                  bool equal_nan)
{
    if (a == b) return 1;
    if (equal_nan && a != a && b != b) return 1;
    return FINITE(gap) && gap <= limit;
}

#define NAME isclose
#define ARITY 2
#define NPARAMS 3
#define RESULT uint8_t
#define EXPR(a, b) close_reals(a, b, (REAL)__builtin_fabs((a) - (b)), \
    (REAL)(p1 + (REAL)__builtin_fabs(p0 * (b))), p2 != 0)
#include "kernel/each_real.inc"
#undef NPARAMS
#define NPARAMS 0
#define EXPR(a, b) close_reals((double)(a), (double)(b), \
    __builtin_fabsf((float)(a) - (float)(b)), (float)((float)params->v[1].re \
    + __builtin_fabsf((float)params->v[0].re * (float)(b))), false)
#include "kernel/each_int.inc"
#define EXPR(a, b) close_reals(a, b, __builtin_fabsf((float)(a) - (float)(b)), \
    (float)((float)params->v[1].re \
    + __builtin_fabsf((float)params->v[0].re * (float)(b))), false)
#include "kernel/each_bool.inc"
#define EXPR(a, b) ((a).re == (b).re && (a).im == (b).im ? 1 \
    : params->v[2].re != 0 && CXF(isnan)(a) && CXF(isnan)(b) ? 1 \
    : close_reals(0, 1, CXF(abs)(CXF(sub)(a, b)), params->v[1].re \
    + params->v[0].re * CXF(abs)(b), false))
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

/* The answers that a dtype gives by itself. */
#define NAME never
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) ((void)(a), 0)
#include "kernel/each_bits.inc"
#define EXPR(a) ((void)(a), 0)
#include "kernel/each_bool.inc"
#include "kernel/table.inc"

#define NAME always
#define ARITY 1
#define RESULT uint8_t
#define EXPR(a) ((void)(a), 1)
#include "kernel/each_bits.inc"
#define EXPR(a) ((void)(a), 1)
#include "kernel/each_bool.inc"
#define EXPR(a) ((void)(a), 1)
#include "kernel/each_real.inc"
#include "kernel/table.inc"
