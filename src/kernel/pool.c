/* Pooling: maxima and averages of windows, and their gradients. */
#include "kernel/pool.h"

#include <float.h>
#include <math.h>

#include "kernel/gemm_parts.h"

typedef struct span {
    int64_t from, to, step;    /* input places, cut to the input */
    int64_t counted;           /* with the padding, cut to its end */
} span;

ALWAYS int64_t lower(int64_t a, int64_t b) { return a < b ? a : b; }

/* Window number o along dim d. */
ALWAYS span span_of(const la_pool *p, int d, int64_t o)
{
    const la_window *w = &p->w[d];
    if (p->adaptive) {
        int64_t from = o * w->in / w->out;
        int64_t to = ((o + 1) * w->in + w->out - 1) / w->out;
        return (span){from, to, 1, to - from};
    }
    int64_t from = o * w->stride - w->pad;
    int64_t to = from + (w->kernel - 1) * w->dilation + 1;
    int64_t counted = lower(to, w->in + w->pad) - from;
    if (from < 0) from += (-from + w->dilation - 1) / w->dilation * w->dilation;
    return (span){from, lower(to, w->in), w->dilation, counted};
}

ALWAYS double size_of(const la_pool *p, const span s[3])
{
    if (p->divisor != 0) return p->divisor;
    if (p->count_pad)
        return (double)(s[0].counted * s[1].counted * s[2].counted);
    return (double)((s[0].to - s[0].from) * (s[1].to - s[1].from)
                    * (s[2].to - s[2].from));
}

typedef void (*at_fn)(const la_pool *, const int64_t o[3], int64_t at);

ALWAYS void each_output(const la_pool *p, at_fn fn)
{
    int64_t at = 0, o[3];
    for (o[0] = 0; o[0] < p->w[0].out; o[0]++)
        for (o[1] = 0; o[1] < p->w[1].out; o[1]++)
            for (o[2] = 0; o[2] < p->w[2].out; o[2]++)
                fn(p, o, at++);
}

#define LOAD1(x) (x)
#define SAVE1(x) (x)
#define IS_NAN(x) ((x) != (x))
#define ELEM float
#define ACC float
#define LOWEST (-INFINITY)
#define NAME(x) x##_f32
#include "kernel/pool.inc"
#undef ELEM
#undef ACC
#undef NAME
#define ELEM double
#define ACC double
#define NAME(x) x##_f64
#include "kernel/pool.inc"
#undef ELEM
#undef ACC
#undef NAME
#undef LOAD1
#undef SAVE1

#define ACC float
#define ELEM la_f16
#define LOAD1(x) la_f16_to_f32(x)
#define SAVE1(x) la_f32_to_f16(x)
#define NAME(x) x##_f16
#include "kernel/pool.inc"
#undef ELEM
#undef LOAD1
#undef SAVE1
#undef NAME
#define ELEM la_bf16
#define LOAD1(x) la_bf16_to_f32(x)
#define SAVE1(x) la_f32_to_bf16(x)
#define NAME(x) x##_bf16
#include "kernel/pool.inc"
#undef ELEM
#undef LOAD1
#undef SAVE1
#undef NAME
#undef ACC
#undef LOWEST
#undef IS_NAN

#define LOAD1(x) (x)
#define SAVE1(x) ((ELEM)(x))
#define IS_NAN(x) 0
#define ACC int64_t
#define LOWEST INT64_MIN
#define ELEM uint8_t
#define NAME(x) x##_u8
#include "kernel/pool.inc"
#undef ELEM
#undef NAME
#define ELEM int8_t
#define NAME(x) x##_i8
#include "kernel/pool.inc"
#undef ELEM
#undef NAME
#define ELEM int16_t
#define NAME(x) x##_i16
#include "kernel/pool.inc"
#undef ELEM
#undef NAME
#define ELEM int32_t
#define NAME(x) x##_i32
#include "kernel/pool.inc"
#undef ELEM
#undef NAME
#define ELEM int64_t
#define NAME(x) x##_i64
#include "kernel/pool.inc"

#define ALL(t) {max_##t, average_##t, max_back_##t, average_back_##t}
const la_pool_table LA_KERNEL(pool) = {
    [LA_FLOAT32] = ALL(f32), [LA_FLOAT64] = ALL(f64), [LA_FLOAT16] = ALL(f16),
    [LA_BFLOAT16] = ALL(bf16), [LA_UINT8] = ALL(u8), [LA_INT8] = ALL(i8),
    [LA_INT16] = ALL(i16), [LA_INT32] = ALL(i32), [LA_INT64] = ALL(i64)
};
