/* Recursive filters; the contract is filter.h. */
#include "modules/signal/kernel/filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "simd/vec.h"

/* One signal: plain numbers, and vectors of a long state. */
#define ID f32_one
#define T float
#define V float
#define WIDTH 1
#define PAIR 1
#define LONG f32
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define SET(x) (x)
#include "modules/signal/kernel/filter.inc"

#define ID f64_one
#define T double
#define V double
#define WIDTH 1
#define PAIR 1
#define LONG f64
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define SET(x) (x)
#include "modules/signal/kernel/filter.inc"

/* Two vectors of signals: each waits for its own last output alone. */
#define ID f32_side
#define T float
#define V f32v
#define WIDTH F32_LANES
#define PAIR 2
#define LOAD(p) f32_load(p)
#define STORE(p, v) f32_store(p, v)
#define SET(x) f32_set1(x)
#include "modules/signal/kernel/filter.inc"

#define ID f64_side
#define T double
#define V f64v
#define WIDTH F64_LANES
#define PAIR 2
#define LOAD(p) f64_load(p)
#define STORE(p, v) f64_store(p, v)
#define SET(x) f64_set1(x)
#include "modules/signal/kernel/filter.inc"

/* Complex numbers, one signal: no state in registers. */
#define COMPLEX_FILTER(name, T)                                              \
    static void name##_section(const la_filter_run *r, int64_t section)     \
    {                                                                       \
        int64_t order = r->order, skip = section * 2 * (order + 1);         \
        const T *b = (const T *)r->b + skip, *a = (const T *)r->a + skip;   \
        T *x = r->data, *z = (T *)r->z + skip;                              \
        for (int64_t i = 0; i < r->n; i++, x += 2) {                        \
            T re = x[0], im = x[1];                                         \
            T yr = z[0] + (b[0] * re - b[1] * im);                          \
            T yi = z[1] + (b[0] * im + b[1] * re);                          \
            for (int64_t k = 0; k < 2 * order; k += 2) {                    \
                z[k] = z[k + 2] + (b[k + 2] * re - b[k + 3] * im)           \
                    - (a[k + 2] * yr - a[k + 3] * yi);                      \
                z[k + 1] = z[k + 3] + (b[k + 2] * im + b[k + 3] * re)       \
                    - (a[k + 2] * yi + a[k + 3] * yr);                      \
            }                                                               \
            x[0] = yr;                                                      \
            x[1] = yi;                                                      \
        }                                                                   \
    }                                                                       \
    static void name(const la_filter_run *r)                                \
    {                                                                       \
        for (int64_t k = 0; k < r->sections; k++) name##_section(r, k);     \
    }
COMPLEX_FILTER(run_c64, float)
COMPLEX_FILTER(run_c128, double)

const la_filters LA_KERNEL(filter) = {
    [LA_FLOAT32] = {run_f32_one, run_f32_side, 2 * F32_LANES},
    [LA_FLOAT64] = {run_f64_one, run_f64_side, 2 * F64_LANES},
    [LA_COMPLEX64] = {run_c64, NULL, 1},
    [LA_COMPLEX128] = {run_c128, NULL, 1}
};
