/* Conversion of accumulators to elements; see store.h. */
#include "kernel/reduce/load.h"
#include "kernel/reduce/store.h"
#include "simd/math/math.h"

enum { SOME = 64 };   /* results that are computed together */

/* x becomes its p-th power. */
static void raise(double *x, int64_t n, double p)
{
    for (int64_t i = 0; i < n; i += F64_LANES) {
        int64_t m = n - i < F64_LANES ? n - i : F64_LANES;
        f64v v = f64_pow(f64_load_pad(x + i, m, 1), f64_set1(p));
        f64_store_n(x + i, m, v);
    }
}

#define DTYPE f16
#define NARROW(to, from, n) f16_from_floats(to, from, n)
#include "kernel/reduce/loops/store.inc"
#define DTYPE bf16
#define NARROW(to, from, n) bf16_from_floats(to, from, n)
#include "kernel/reduce/loops/store.inc"
#define DTYPE f32
#define NARROW(to, from, n) memcpy(to, from, (size_t)(n) * sizeof(float))
#include "kernel/reduce/loops/store.inc"
#define DTYPE f64
#define NARROW(to, from, n) memcpy(to, from, (size_t)(n) * sizeof(double))
#include "kernel/reduce/loops/store.inc"

const la_reduce_stores LA_KERNEL(reduce_store) = {
    [LA_FLOAT16] = results_f16, [LA_BFLOAT16] = results_bf16,
    [LA_FLOAT32] = results_f32, [LA_FLOAT64] = results_f64
};
