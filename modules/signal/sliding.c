/*
** Loops over overlapping windows: their sum, and running medians.
*/
#include <math.h>

#include "iter/items.h"
#include "op/frame.h"

#define LA_ROWS "modules/signal/ops.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"

#define BLOCK 16384           /* elements of one unit */
#define POLL_MOVES (1 << 22)  /* elements moved between two questions */

/* ---- overlap_add(parts, step, length) ---- */

typedef struct sum {
    const char *parts;
    char *out;
    int64_t frames, n, step, length, blocks;
    int64_t batch_step, frame_step;      /* of parts, in elements */
    int64_t width;            /* reals in an element: 2 of complex numbers */
    bool is_double;
} sum;

la_status la_meta_overlap_add(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    int64_t step = la_arg_int(f, 1), last = 0;
    int64_t sizes[2] = {t->ndim == 3 ? la_sizes(t)[0] : 0, la_arg_int(f, 2)};
    if (t->ndim != 3 || la_sizes(t)[1] < 1 || step < 1)
        return la_error_at(LA_ESHAPE, 1, "parts {batch, frames, n} expected");
    if (!la_mul_ok(la_sizes(t)[1] - 1, step, &last)
        || !la_add_ok(last, la_sizes(t)[2], &last) || last > sizes[1])
        return la_error_at(LA_ESHAPE, 3, "the parts end behind the length");
    return la_set_output(f, 0, 2, sizes, NULL, (la_dtype)t->dtype);
}

/* Elements first .. end - 1 of a batch: the frames that reach there, in order,
** whatever the block. */
#define ADD_UP(T)                                                            \
    static void add_up_##T(const sum *s, const T *parts, T *out,            \
                           int64_t first, int64_t end)                      \
    {                                                                       \
        int64_t k = first < s->n ? 0 : (first - s->n) / s->step + 1;        \
        memset(out + first * s->width, 0,                                   \
               (size_t)((end - first) * s->width) * sizeof(T));             \
        for (; k < s->frames && k * s->step < end; k++) {                   \
            int64_t from = la_max(first, k * s->step);                      \
            int64_t to = la_min(end, k * s->step + s->n);                   \
            const T *in = parts + (k * s->frame_step + from - k * s->step)  \
                * s->width;                                                 \
            T *at = out + from * s->width;                                  \
            int64_t count = (to - from) * s->width;                         \
            for (int64_t i = 0; i < count; i++) at[i] += in[i];             \
        }                                                                   \
    }
ADD_UP(float)
ADD_UP(double)

static void add_blocks(int64_t begin, int64_t end, void *context)
{
    const sum *s = context;
    for (int64_t u = begin; u < end; u++) {
        int64_t batch = u / s->blocks, first = u % s->blocks * BLOCK;
        int64_t last = la_min(first + BLOCK, s->length);
        int64_t in = batch * s->batch_step * s->width;
        int64_t out = batch * s->length * s->width;
        if (s->is_double)
            add_up_double(s, (const double *)s->parts + in,
                          (double *)s->out + out, first, last);
        else
            add_up_float(s, (const float *)s->parts + in,
                         (float *)s->out + out, first, last);
    }
}

la_status la_impl_overlap_add(la_frame *f)
{
    LA_OWNED own = NULL;
    la_tensor *t = la_arg(f, 0), *out = la_result(f, 0);
    la_dtype d = (la_dtype)t->dtype;
    if (la_strides(t)[2] != 1) {
        LA_TRY(la_run(contiguous, &own, t));
        t = own;
    }
    sum s = {.parts = la_data(t), .out = la_data(out),
             .frames = la_sizes(t)[1], .n = la_sizes(t)[2],
             .step = la_arg_int(f, 1), .length = la_arg_int(f, 2),
             .batch_step = la_strides(t)[0], .frame_step = la_strides(t)[1],
             .width = la_is_complex(d) ? 2 : 1,
             .is_double = d == LA_FLOAT64 || d == LA_COMPLEX128};
    s.blocks = la_ceil_div(s.length, BLOCK);
    return la_iter_items(la_sizes(t)[0] * s.blocks, 2, 16, add_blocks, &s);
}

/* ---- signal_running_median(x, size) ---- */

typedef struct median {
    const double *x;
    double *out;
    int64_t n, size, blocks;
} median;

la_status la_meta_signal_running_median(la_frame *f)
{
    const la_tensor *x = la_arg(f, 0);
    int64_t size = la_arg_int(f, 1);
    if (x->ndim < 1)
        return la_error_at(LA_ESHAPE, 1, "a signal of at least 1 dim expected");
    if (size < 1 || size % 2 == 0)
        return la_error_at(LA_EARG, 2, "an odd size of the window expected, "
                           "got %lld", (long long)size);
    return la_set_output(f, 0, x->ndim, la_sizes(x), NULL, (la_dtype)x->dtype);
}

/* The sorted window of m elements without 'old' and with 'new'. */
static void sliding_replace(double *w, int64_t m, double old, double new)
{
    int64_t i = 0, high = m - 1;
    while (i < high) {
        int64_t middle = (i + high) / 2;
        if (w[middle] < old) i = middle + 1;
        else high = middle;
    }
    if (new > old)
        for (; i + 1 < m && w[i + 1] < new; i++) w[i] = w[i + 1];
    else
        for (; i > 0 && w[i - 1] > new; i--) w[i] = w[i - 1];
    w[i] = new;
}

/* Element k of the row, 0 outside; NaN counts and sorts as infinity. */
static double sliding_at(const double *x, int64_t n, int64_t k, int by,
                         int64_t *nans)
{
    double v = k >= 0 && k < n ? x[k] : 0;
    if (v == v) return v;
    *nans += by;
    return INFINITY;
}

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST(a, b) ((a) < (b) ? (b) : (a))

static inline double of_three(double a, double b, double c)
{
    double low = LEAST(a, b), high = MOST(a, b);
    return MOST(low, LEAST(high, c));
}

/* The middle of five: neither the least nor the most of four of them, and then
** of three. */
static inline double of_five(const double *x)
{
    double low = MOST(LEAST(x[0], x[1]), LEAST(x[2], x[3]));
    double high = LEAST(MOST(x[0], x[1]), MOST(x[2], x[3]));
    return of_three(low, high, x[4]);
}

/* Elements first .. end - 1 of a row by comparisons alone, as vectors: windows
** of 3 or 5 that lie inside and hold no NaN. Returns where it stopped. */
static int64_t run_short(const median *s, const double *x, double *out,
                         int64_t first, int64_t end)
{
    int64_t half = s->size / 2;
    bool whole = true;
    end = la_min(end, s->n - half);
    if (first < half || first >= end) return first;
    for (int64_t i = first - half; i < end + half; i++)
        whole = whole & (x[i] == x[i]);
    if (!whole) return first;
    if (half == 1)
        for (int64_t i = first; i < end; i++)
            out[i] = of_three(x[i - 1], x[i], x[i + 1]);
    else
        for (int64_t i = first; i < end; i++) out[i] = of_five(x + i - 2);
    return end;
}

/* Asks for an interruption after so many elements moved. */
static la_status poll_moves(int64_t *moved, int64_t more)
{
    if ((*moved += more) < POLL_MOVES) return LA_OK;
    *moved = 0;
    return la_poll();
}

/* Medians of any windows, by keeping 'w' sorted. */
static la_status run_sorted(const median *s, const double *x, double *out,
                            double *w, int64_t first, int64_t end)
{
    int64_t half = s->size / 2, nans = 0, moved = 0;
    if (first >= end) return LA_OK;
    memset(w, 0, (size_t)s->size * sizeof(*w));
    for (int64_t k = first - half; k <= first + half; k++) {
        sliding_replace(w, s->size, 0, sliding_at(x, s->n, k, 1, &nans));
        LA_TRY(poll_moves(&moved, s->size));
    }
    for (int64_t i = first; i < end; i++) {
        out[i] = nans > 0 ? NAN : w[half];
        double old = sliding_at(x, s->n, i - half, -1, &nans);
        sliding_replace(w, s->size, old, sliding_at(x, s->n, i + half + 1, 1,
                                                    &nans));
        LA_TRY(poll_moves(&moved, s->size));
    }
    return LA_OK;
}

/* A block of a row; the scratch is the window. */
static la_status run_median(void *context, int64_t unit, char *scratch)
{
    const median *s = context;
    const double *x = s->x + unit / s->blocks * s->n;
    double *out = s->out + unit / s->blocks * s->n, *w = (double *)scratch;
    int64_t first = unit % s->blocks * BLOCK, half = s->size / 2;
    int64_t end = la_min(first + BLOCK, s->n);
    if (half == 1 || half == 2) {
        if (first == 0) LA_TRY(run_sorted(s, x, out, w, 0, la_min(half, end)));
        first = run_short(s, x, out, la_max(first, la_min(half, end)), end);
    }
    return run_sorted(s, x, out, w, first, end);
}

la_status la_impl_signal_running_median(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    if (out->numel == 0) return LA_OK;
    LA_LET(wide, la_run(astype, &wide, la_arg(f, 0), la_v_dtype(LA_FLOAT64)));
    LA_LET(x, la_run(contiguous, &x, wide));
    LA_LET(y, la_tensor_empty(out->ndim, la_sizes(out), LA_FLOAT64, &y));
    median s = {.x = (const double *)la_data(x), .out = (double *)la_data(y),
                .n = la_sizes(out)[out->ndim - 1]};
    /* More than half of a longer window is zeros. */
    s.size = la_min(la_arg_int(f, 1), 2 * s.n + 1);
    s.blocks = la_ceil_div(s.n, BLOCK);
    la_unit_plan plan = {run_median, 1, (size_t)s.size * sizeof(double)};
    LA_TRY(la_iter_units(out->numel / s.n * s.blocks, &plan, &s));
    return la_run_(copy_, out, y);
}
