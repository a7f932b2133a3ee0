/*
** Pooling: maxima and averages of windows, and their gradients; the table
** 'pool'. Three methods, by layout: channels in the lanes (pool_channels.inc),
** neighbouring outputs of a row in the lanes (pool_rows.inc), output by output
** (pool.inc). They give the same bits: averages sum columns first everywhere.
*/
#include "kernel/conv/pool_loops.h"

#include <math.h>

#include "base/runtime/interrupt.h"
#include "base/scratch.h"
#include "kernel/matmul/muladd.h"
#include "simd/permute/deinterleave.h"

/* The window of one output along one dim. */
typedef struct span {
    int64_t from, to, step;    /* input positions, cut to the input */
    int64_t counted;           /* with the padding, cut to its end */
} span;

ALWAYS int64_t lower(int64_t a, int64_t b) { return a < b ? a : b; }

/* Window number o along dim d. */
ALWAYS span span_of(const la_pooling *p, int d, int64_t o)
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

/* Divisor of an average. */
ALWAYS double size_of(const la_pooling *p, const span s[3])
{
    if (p->divisor != 0) return p->divisor;
    if (p->count_pad)
        return (double)(s[0].counted * s[1].counted * s[2].counted);
    return (double)((s[0].to - s[0].from) * (s[1].to - s[1].from)
                    * (s[2].to - s[2].from));
}

/* Outputs along a dim whose windows have position i in them. */
ALWAYS span windows_with(const la_window *w, int64_t i)
{
    int64_t low = i + w->pad - w->kernel + 1, high = (i + w->pad) / w->stride;
    span s = {.from = low > 0 ? (low + w->stride - 1) / w->stride : 0};
    s.to = lower(high + 1, w->out);
    return s;
}

/* Elements of an input plane. */
ALWAYS int64_t plane_of(const la_pooling *p)
{
    return p->w[0].in * p->w[1].in * p->w[2].in;
}

/* Elements that n windows side by side read. */
ALWAYS int64_t work_of(const la_pooling *p, int64_t n)
{
    for (int d = 0; d < 3; d++)
        n *= p->adaptive ? p->w[d].in / (p->w[d].out + 1) + 1 : p->w[d].kernel;
    return p->channels ? n * p->channels : n;
}

/* Heads the loop over the rows of a plane, 'size' being in or out: row j of
** depth i, with n windows of each. Returns from the function when the operation
** is interrupted. */
#define EACH_ROW(size, n, i, j)                                              \
    for (int64_t i = 0, row = work_of(p, n), left = la_poll_every(          \
             p->w[0].size * p->w[1].size * row); i < p->w[0].size; i++)     \
        for (int64_t j = 0; j < p->w[1].size; j++)                          \
            if (la_poll_run(&left, row)) return;                            \
            else

typedef void (*at_fn)(const la_pooling *, const int64_t o[3]);

/* fn for every output of the plane, row-major. */
ALWAYS void each_output(const la_pooling *p, at_fn fn)
{
    int64_t o[3], work = work_of(p, 1), left = la_poll_every(
        p->w[0].out * p->w[1].out * p->w[2].out * work);
    for (o[0] = 0; o[0] < p->w[0].out; o[0]++)
        for (o[1] = 0; o[1] < p->w[1].out; o[1]++)
            for (o[2] = 0; o[2] < p->w[2].out; o[2]++) {
                if (la_poll_run(&left, work)) return;
                fn(p, o);
            }
}

/* ---- rows in vectors ---- */

#define LINE 2048        /* elements of one padded row of the input */
#define CHUNK 512        /* outputs of a row at a time */
#define MOST_TAPS 64

/* 'n' outputs of a row from 'first' on. They depend on columns from 'from' to
** 'to'; column c is at (c + pad - first*stride) % stride * pitch + ... / stride
** of a line. Sizes do not depend on the width of vectors, so bits don't. */
typedef struct lines {
    int64_t first, n, from, to, pitch;
    int32_t shift[MOST_TAPS];       /* of each tap, from an output's position */
} lines;

typedef void (*chunk_fn)(const la_pooling *, const lines *);

/* fn for every chunk of a row's outputs, in each of which it asks for
** interruption itself. False, and nothing done, where rows do not lie in runs,
** or windows are too large. */
static bool each_chunk(const la_pooling *p, chunk_fn fn)
{
    const la_window *w = &p->w[2];
    int64_t reach = (w->kernel - 1) * w->dilation + 1, n = CHUNK;
    lines l = {.n = 0};
    if (p->adaptive || p->in_step[2] != 1 || p->out_step[2] != 1
        || w->kernel > MOST_TAPS || plane_of(p) > INT32_MAX)
        return false;
    if (n > w->out) n = (w->out + 15) / 16 * 16;
    while (n > 16 && w->stride * (n + reach / w->stride + 1) > LINE)
        n = n / 32 * 16;
    l.pitch = n + reach / w->stride + 1;
    if (w->stride * l.pitch > LINE) return false;
    for (int64_t k = 0; k < w->kernel; k++)
        l.shift[k] = (int32_t)(k * w->dilation % w->stride * l.pitch
                               + k * w->dilation / w->stride);
    int64_t left = la_poll_every(work_of(p, w->out));
    for (; l.first < w->out; l.first += n) {
        if (la_poll_run(&left, work_of(p, n))) break;
        l.n = lower(n, w->out - l.first);
        l.from = l.first * w->stride - w->pad;
        l.to = lower(w->in, l.from + (l.n - 1) * w->stride + reach);
        if (l.from < 0) l.from = 0;
        if (l.from > l.to) l.from = l.to;
        fn(p, &l);
    }
    return true;
}

/* Are windows two columns wide, side by side from the first column on? */
static bool are_pairs(const la_pooling *p)
{
    const la_window *w = &p->w[2];
    return !p->adaptive && w->kernel == 2 && w->stride == 2 && w->pad == 0
        && w->dilation == 1 && 2 * w->out <= w->in && p->in_step[2] == 1
        && p->out_step[2] == 1 && plane_of(p) <= INT32_MAX;
}

/* All of a row, where windows share it out; else n is 0. */
static lines whole_row(const la_pooling *p)
{
    lines l = {.n = p->w[2].out, .to = p->w[2].in};
    if (!p->adaptive || p->in_step[2] != 1 || p->out_step[2] != 1
        || l.to > LINE || plane_of(p) > INT32_MAX)
        l.n = 0;
    return l;
}

#define IS_NAN(x) ((x) != (x))
#define LOWEST (-INFINITY)

#define ACC float
#define SUM ACC
#define VEC f32v
#define IVEC i32v
#define INDEX int32_t
#define VL F32_LANES
#define CHOOSE i32_select
#define LANES i32_iota(0)
#define WIDE(x) f32_##x
#include "kernel/conv/pool_lines.inc"
#define ELEM float
#define LOAD1(x) (x)
#define SAVE1(x) (x)
#define MEM(x) f32_##x
#define NAME(x) x##_f32
#include "kernel/conv/pool.inc"
#undef LOAD1
#undef SAVE1
#define ELEM la_f16
#define LOAD1(x) la_f16_to_f32(x)
#define SAVE1(x) la_f32_to_f16(x)
#define MEM(x) f16_##x
#define NAME(x) x##_f16
#include "kernel/conv/pool.inc"
#undef LOAD1
#undef SAVE1
#define ELEM la_bf16
#define LOAD1(x) la_bf16_to_f32(x)
#define SAVE1(x) la_f32_to_bf16(x)
#define MEM(x) bf16_##x
#define NAME(x) x##_bf16
#include "kernel/conv/pool.inc"
#undef LOAD1
#undef SAVE1
#undef ACC
#undef VEC
#undef IVEC
#undef INDEX
#undef VL
#undef CHOOSE
#undef LANES
#undef WIDE

#define ACC double
#define VEC f64v
#define IVEC i64v
#define INDEX int64_t
#define VL F64_LANES
#define CHOOSE i64_select
#define LANES i64_iota(0)
#define WIDE(x) f64_##x
#include "kernel/conv/pool_lines.inc"
#define ELEM double
#define LOAD1(x) (x)
#define SAVE1(x) (x)
#define MEM(x) f64_##x
#define NAME(x) x##_f64
#include "kernel/conv/pool.inc"
#undef LOAD1
#undef SAVE1
#undef ACC
#undef VEC
#undef IVEC
#undef INDEX
#undef VL
#undef CHOOSE
#undef LANES
#undef WIDE
#undef LOWEST
#undef IS_NAN

#define LOAD1(x) (x)
#define SAVE1(x) ((ELEM)(x))
#define IS_NAN(x) 0
#define ACC int64_t
#undef SUM
#define SUM uint64_t     /* sums of integers wrap */
#define LOWEST INT64_MIN
#define ELEM uint8_t
#define NAME(x) x##_u8
#include "kernel/conv/pool.inc"
#define ELEM int8_t
#define NAME(x) x##_i8
#include "kernel/conv/pool.inc"
#define ELEM int16_t
#define NAME(x) x##_i16
#include "kernel/conv/pool.inc"
#define ELEM int32_t
#define NAME(x) x##_i32
#include "kernel/conv/pool.inc"
#define ELEM int64_t
#define NAME(x) x##_i64
#include "kernel/conv/pool.inc"

#define ALL(t) {max_##t, average_##t, max_back_##t, average_back_##t}
const la_pool_table LA_KERNEL(pool) = {
    [LA_FLOAT32] = ALL(f32), [LA_FLOAT64] = ALL(f64), [LA_FLOAT16] = ALL(f16),
    [LA_BFLOAT16] = ALL(bf16), [LA_UINT8] = ALL(u8), [LA_INT8] = ALL(i8),
    [LA_INT16] = ALL(i16), [LA_INT32] = ALL(i32), [LA_INT64] = ALL(i64)
};
