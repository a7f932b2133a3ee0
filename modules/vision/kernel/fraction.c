/* Maxima of windows at irregular steps, window by window. */
#include "modules/vision/kernel/fraction.h"

#include <math.h>

#define FRACTION(name, type)                                               \
    static void name##_at(const la_fraction *f, int64_t at,                \
                          const int64_t from[3])                           \
    {                                                                      \
        const type *in = (const type *)(const void *)f->in;                \
        int64_t best = (from[0] * f->size[1] + from[1]) * f->size[2]       \
            + from[2];                                                     \
        type most = -(type)INFINITY;                                       \
        for (int64_t i = from[0]; i < from[0] + f->kernel[0]; i++)         \
            for (int64_t j = from[1]; j < from[1] + f->kernel[1]; j++) {   \
                int64_t row = (i * f->size[1] + j) * f->size[2];           \
                for (int64_t k = from[2]; k < from[2] + f->kernel[2]; k++) { \
                    type v = in[row + k];                                  \
                    if (!(v > most) && v == v) continue;                   \
                    most = v;                                              \
                    best = row + k;                                        \
                }                                                          \
            }                                                              \
        ((type *)(void *)f->out)[at] = most;                               \
        f->index[at] = best + 1;                                           \
    }                                                                      \
    static void name(const la_fraction *f)                                 \
    {                                                                      \
        int64_t at = 0;                                                    \
        for (int64_t i = 0; i < f->count[0]; i++)                          \
            for (int64_t j = 0; j < f->count[1]; j++)                      \
                for (int64_t k = 0; k < f->count[2]; k++) {                \
                    int64_t from[3] = {f->first[0][i], f->first[1][j],     \
                                       f->first[2][k]};                    \
                    name##_at(f, at++, from);                              \
                }                                                          \
    }
FRACTION(fraction_f32, float)
FRACTION(fraction_f64, double)

const la_fraction_kernels LA_KERNEL(fraction) = {fraction_f32, fraction_f64};
