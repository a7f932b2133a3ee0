/*
** How is a direct convolution cut into units, and how are its rows copied? See
** conv_plan.h.
*/
#include "op/conv/conv_plan.h"

#include <string.h>

#include "base/runtime/thread_pool.h"
#include "base/size.h"

#define FIXED_CACHE ((int64_t)512 << 10)
#define LEAST_COLS 64       /* of a unit, where a row is cut */
#define LEAST_ROWS 4        /* of a unit, unless there are more threads */
#define LEAST_PACKED (4 << 20)  /* bytes of weights that may be mostly zeros */

const la_conv_kernels *la_conv_kernels_of(la_dtype d)
{
    if (d == LA_FLOAT32) return LA_STUB(conv_f32);
    return d == LA_FLOAT64 ? LA_STUB(conv_f64) : NULL;
}

/* ---- the plan ---- */

/* y from x: the geometry as it is. */
static void set_forward(la_conv_plan *s, const la_conv *c)
{
    s->ic = c->ic;
    s->oc = c->oc;
    s->src = c->x;
    s->dst = c->y;
    s->src_step = c->x_step;
    s->dst_step = c->y_step;
    s->bias = c->bias;
    s->w_row = c->ic * s->taps;
    s->w_channel = s->taps;
    memcpy(s->w, c->w, sizeof s->w);
}

void la_conv_flip(const la_conv *c, la_window w[3])
{
    for (int d = 0; d < 3; d++) {
        const la_window *from = &c->w[d];
        w[d] = (la_window){from->out, from->in, from->kernel, 1,
            from->dilation * (from->kernel - 1) - from->pad, from->dilation};
    }
}

/* x from y, stride 1: sides are swapped, taps are reversed and the padding is
** what is left of the kernel's reach. */
static void set_backward(la_conv_plan *s, const la_conv *c)
{
    s->ic = c->oc;
    s->oc = c->ic;
    s->src = c->y;
    s->dst = c->x;
    s->src_step = c->y_step;
    s->dst_step = c->x_step;
    s->bias = NULL;
    s->flip = true;
    s->w_row = s->taps;
    s->w_channel = c->ic * s->taps;
    la_conv_flip(c, s->w);
}

/* Which form of the kernel is cheaper? Counts multiplications for one row with
** pixels in the lanes and with channels there. The end of each tile counts as a
** few more, and as many more where neighbouring lanes are not neighbours in
** memory. */
static bool plan_lanes(const la_conv_plan *s)
{
    int64_t cols = s->cols, lanes = s->ker->lanes, mr = s->ker->mr;
    int64_t k = s->channels * s->taps, runs = la_conv_ceil_div(cols, mr);
    int64_t pixels = la_conv_ceil_div(cols, lanes) * s->oc
        * (k + (s->dst_step[4] == 1 ? 4 : 40));
    int64_t channels = runs * la_conv_ceil_div(cols, runs)
        * la_conv_ceil_div(s->oc, lanes) * (k + 12);
    return channels < pixels;
}

/* The form of the kernel, and panels of output channels as even as they can
** be. */
static void plan_panels(la_conv_plan *s)
{
    int64_t mr = s->ker->mr;
    double weights = (double)(s->groups * s->ic * s->taps * s->size);
    s->lanes = plan_lanes(s);
    /* Lanes of channels that do not exist are packed too. */
    if (s->oc < s->ker->lanes && weights * 2 * s->ker->lanes > LEAST_PACKED)
        s->lanes = false;
    s->panel = s->lanes ? 2 * s->ker->lanes
        : s->oc > 0 ? la_conv_ceil_div(s->oc, la_conv_ceil_div(s->oc, mr)) : 1;
    s->packed_bytes = la_conv_aligned(s->groups
                                      * la_conv_ceil_div(s->oc, s->panel)
                                      * s->panel * s->ic * s->taps * s->size);
}

/* Bytes that the copied rows of a unit should fit in: part of the second-level
** cache, or of a fixed size where bits depend on bands. */
static int64_t scratch_capacity(const la_conv_plan *s)
{
    int64_t cache = s->fixed ? FIXED_CACHE : (int64_t)la_cpu_cache(2);
    return cache * 5 / 8;
}

/* Rows or columns from a window's first tap to its last. */
static int64_t reach_of(const la_window *w)
{
    return (w->kernel - 1) * w->dilation + 1;
}

/* A product of reaches may be larger than any integer, hence doubles. The plan
** of a larger cache takes up to 'scratch_capacity' more. */
bool la_conv_plan_fits(const la_conv *c, const la_window w[3], int64_t ic)
{
    double taps = (double)w[0].kernel * (double)w[1].kernel
        * (double)w[2].kernel;
    int64_t fit = taps < LA_CONV_BLOCK ? LA_CONV_BLOCK / (int64_t)taps : 1;
    double bytes = (double)la_conv_lesser(fit, ic)
        * (double)la_dtype_size(c->dtype) * (double)w[0].kernel;
    int64_t rows = la_conv_lesser(w[1].out, LEAST_ROWS);
    int64_t cols = la_conv_lesser(w[2].out, 2 * LEAST_COLS);
    bytes *= (double)((rows - 1) * w[1].stride + reach_of(&w[1]));
    bytes *= (double)(cols * w[2].stride + reach_of(&w[2]));
    return bytes <= (double)LA_CONV_SCRATCH * 3 / 4;
}

/* Threads that units should be enough for. */
static int64_t threads_of(const la_conv_plan *s)
{
    return s->fixed || la_in_parallel() ? 1 : la_num_threads();
}

/* Columns of a unit: all of a row, unless a few rows exceed the cache, or there
** are fewer rows than threads. */
static void plan_cols(la_conv_plan *s)
{
    const la_window *h = &s->w[1], *x = &s->w[2];
    int64_t rows = (la_conv_lesser(h->out, LEAST_ROWS) - 1) * h->stride
        + reach_of(h);
    int64_t each = s->channels * s->w[0].kernel * rows * x->stride * s->size;
    int64_t fit = scratch_capacity(s) / each, threads = threads_of(s);
    int64_t others = s->batch * s->groups * s->w[0].out * h->out;
    if (fit < LEAST_COLS) fit = LEAST_COLS;
    s->col_bands = la_conv_ceil_div(x->out, fit);
    if (others * s->col_bands < threads && x->out >= threads * LEAST_COLS)
        s->col_bands = threads;
    s->cols = la_conv_ceil_div(x->out, s->col_bands);
    if (s->col_bands > 1) s->cols = la_conv_ceil_div(s->cols, 16) * 16;
    s->col_bands = la_conv_ceil_div(x->out, s->cols);
}

/* The layout of a copied row: columns with the same remainder modulo the stride
** are contiguous ('phase' elements each), so that every tap reads neighbours.
** The vectors of 'tiles' read to the end of the last one. Remainders that no
** tap has are left out. */
static void plan_pitch(la_conv_plan *s)
{
    const la_window *x = &s->w[2];
    int64_t unit = s->fixed || s->lanes ? 1 : s->ker->lanes;
    s->phase = la_conv_ceil_div(s->cols, unit) * unit
        + (x->kernel - 1) * x->dilation / x->stride + 1;
    s->phases = x->dilation == 1 ? la_conv_lesser(x->kernel, x->stride)
                                 : x->stride;
    s->pitch = s->phase * s->phases;
}

/* Rows of a unit: what fits the cache, at least four, fewer only for
** threads. */
static void plan_bands(la_conv_plan *s)
{
    const la_window *h = &s->w[1];
    int64_t line = s->channels * s->w[0].kernel * s->pitch * s->size;
    int64_t fit = (scratch_capacity(s) / line - reach_of(h)) / h->stride + 1;
    int64_t least = la_conv_lesser(h->out, LEAST_ROWS), threads = threads_of(s);
    int64_t others = s->batch * s->groups * s->w[0].out * s->col_bands;
    fit = fit < least ? least : la_conv_lesser(fit, h->out);
    s->bands = la_conv_ceil_div(h->out, fit);
    if (others * s->bands < threads)
        s->bands = la_conv_lesser(threads, h->out);
    s->band = la_conv_ceil_div(h->out, s->bands);
    s->bands = la_conv_ceil_div(h->out, s->band);
    s->height = (s->band - 1) * h->stride + reach_of(h);
    s->units = others * s->bands;
    s->same_border = s->bands * s->col_bands == 1;
}

/* Too little work is not worth a second thread. */
static void conv_plan_plan_tasks(la_conv_plan *s)
{
    double work = (double)s->units * (double)(s->band * s->cols)
        * (double)s->oc * (double)(s->ic * s->taps);
    int threads = la_in_parallel() ? 1 : la_num_threads();
    s->tasks = (int)la_conv_lesser(work < 1e5 ? 1 : threads, s->units);
}

/* The order matters: columns before the form of the kernel, which decides the
** pitch of a row, which decides how many rows fit. */
void la_conv_plan_make(la_conv_plan *s, const la_conv *c, bool backward,
                       bool fixed)
{
    *s = (la_conv_plan){
        .ker = la_conv_kernels_of(c->dtype), .batch = c->batch,
        .groups = c->groups, .taps = la_conv_taps(c), .weight = c->weight,
        .fixed = fixed, .size = (int64_t)la_dtype_size(c->dtype)};
    s->w_group = c->oc * c->ic * s->taps;
    if (backward) set_backward(s, c);
    else set_forward(s, c);
    int64_t fit = LA_CONV_BLOCK / s->taps;
    s->channels = la_conv_lesser(fit < 1 ? 1 : fit, s->ic);
    s->blocks = (s->ic + s->channels - 1) / s->channels;
    s->triples = s->w[2].kernel == 3 && s->w[2].dilation == 1
        && s->w[2].stride == 1;
    plan_cols(s);
    plan_panels(s);
    plan_pitch(s);
    plan_bands(s);
    conv_plan_plan_tasks(s);
    s->shift_bytes = la_conv_aligned(s->channels * s->taps * 8);
    s->scratch_bytes = la_conv_aligned(s->channels * s->w[0].kernel * s->height
                                       * s->pitch * s->size);
}

/* The rows' scratch only shrinks. */
void la_conv_plan_shorten(la_conv_plan *s, int64_t pixels)
{
    if (s->band * s->cols <= pixels) return;
    int64_t cut = s->cols, others = s->units / s->bands / s->col_bands;
    if (pixels < s->cols) cut = la_conv_ceil_div(s->cols,
        la_conv_ceil_div(s->cols, la_max(pixels, 1)));
    s->cols = cut;
    s->col_bands = la_conv_ceil_div(s->w[2].out, s->cols);
    s->band = la_conv_lesser(s->band, la_max(pixels / s->cols, 1));
    s->bands = la_conv_ceil_div(s->w[1].out, s->band);
    s->height = (s->band - 1) * s->w[1].stride + reach_of(&s->w[1]);
    s->units = others * s->bands * s->col_bands;
    s->same_border = s->bands * s->col_bands == 1;
}

/* Offsets of each tap of each channel from the position of an output. */
void la_conv_plan_shifts(const la_conv_plan *s)
{
    const la_window *w = s->w;
    int64_t *out = s->shift;
    for (int64_t c = 0; c < s->channels; c++)
        for (int64_t t = 0; t < s->taps; t++) {
            int64_t x = t % w[2].kernel * w[2].dilation;
            int64_t h = t / w[2].kernel % w[1].kernel * w[1].dilation;
            int64_t d = t / w[2].kernel / w[1].kernel;
            *out++ = ((c * w[0].kernel + d) * s->height + h) * s->pitch
                + x % w[2].stride * s->phase + x / w[2].stride;
        }
}

/* Units count columns first, then bands, depth, groups, images. */
la_conv_unit la_conv_plan_unit(const la_conv_plan *s, int64_t unit)
{
    la_conv_unit p;
    p.col = unit % s->col_bands * s->cols;
    unit /= s->col_bands;
    p.row = unit % s->bands * s->band;
    unit /= s->bands;
    p.d = unit % s->w[0].out;
    unit /= s->w[0].out;
    p.g = unit % s->groups;
    p.n = unit / s->groups;
    p.rows = la_conv_lesser(s->band, s->w[1].out - p.row);
    p.cols = la_conv_lesser(s->cols, s->w[2].out - p.col);
    return p;
}

/* ---- copying rows ---- */

/* 'n' elements of 4 or 8 bytes, 'step' elements apart in the source. */
static void copy_strided(char *to, const char *from, int64_t step, int64_t n,
                         int64_t size)
{
    if (step == 1) {
        memcpy(to, from, (size_t)(n * size));
    } else if (size == 4 && step == 2) {     /* the compiler knows how */
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[i * 2];
    } else if (size == 4) {
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[i * step];
    } else {
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)to)[i] = ((const uint64_t *)from)[i * step];
    }
}

/* 'count' channels from one row, or as many zeros. */
typedef struct rows {
    char *to;                /* of the first channel */
    const char *from;        /* NULL: zeros */
    int64_t count, plane;    /* bytes from a channel to the next in 'to' */
} rows;

/* 'n' pixels, 'step' pixels apart, to position 'at' of the copied rows on. */
static void copy_pixels(const la_conv_plan *s, const rows *r, int64_t at,
                        const char *from, int64_t step, int64_t n)
{
    char *to = r->to + at * s->size;
    step *= s->src_step[4];
    if (s->src_step[1] == 1 && step != 1 && r->count > 1) {
        s->ker->unpack(to, r->plane / s->size, from, step, r->count, n);
        return;
    }
    for (int64_t c = 0; c < r->count; c++, to += r->plane) {
        copy_strided(to, from, step, n, s->size);
        from += s->src_step[1] * s->size;
    }
}

/* Zeros instead: padding. */
static void clear_pixels(const la_conv_plan *s, const rows *r, int64_t at,
                         int64_t n)
{
    char *to = r->to + at * s->size;
    for (int64_t c = 0; n > 0 && c < r->count; c++, to += r->plane)
        memset(to, 0, (size_t)(n * s->size));
}

/* Both remainders of stride 2 in one pass: input columns first..last - 1, the
** first of which is at position 'at' of the padded row. */
static void conv_plan_split_columns(const la_conv_plan *s, const rows *r,
                                    int64_t first, int64_t last, int64_t at)
{
    char *even = r->to + (at % 2 * s->phase + at / 2) * s->size;
    at++;
    char *odd = r->to + (at % 2 * s->phase + at / 2) * s->size;
    s->ker->split(even, odd, r->plane / s->size, r->from + first * s->size,
                  s->src_step[1], r->count, last - first);
}

/* Padded rows from output column 'col' on, columns sorted by their remainder
** modulo the stride. 'clean': all but columns of the input is zero already. */
static void conv_plan_copy_rows(const la_conv_plan *s, const rows *r,
                                int64_t col, bool clean)
{
    const la_window *w = &s->w[2];
    bool split = w->stride == 2 && s->phases == 2 && s->src_step[4] == 1;
    for (int64_t k = 0; k < s->phases && !(split && clean); k++) {
        int64_t at = col * w->stride + k - w->pad;   /* of position 0 */
        int64_t first = at < 0 ? -at : 0, last = at < w->in ? w->in - at : 0;
        if (w->stride > 1) {
            first = la_conv_ceil_div(first, w->stride);
            last = la_conv_ceil_div(last, w->stride);
        }
        first = la_conv_lesser(first, s->phase);
        last = la_conv_lesser(last, s->phase);
        if (last < first) last = first;
        int64_t start = k * s->phase;
        if (!clean) {
            clear_pixels(s, r, start, first);
            clear_pixels(s, r, start + last, s->phase - last);
        }
        if (last > first && !split)
            copy_pixels(s, r, start + first, r->from + (first * w->stride + at)
                        * s->src_step[4] * s->size, w->stride, last - first);
    }
    if (!split) return;
    int64_t at = col * 2 - w->pad, first = at > 0 ? at : 0;
    int64_t last = la_conv_lesser(w->in, at + 2 * s->phase);
    if (last > first) conv_plan_split_columns(s, r, first, last, first - at);
}

/* One depth of the kernel. Rows that lie between two windows are skipped, as
** nobody reads them. Where borders are zero already, so are rows outside. */
static void copy_planes(const la_conv_plan *s, rows r, int64_t d,
                        const la_conv_unit *p)
{
    const la_window *w = s->w;
    const char *from = r.from;
    int64_t reach = reach_of(&w[1]);
    bool depth = d >= 0 && d < w[0].in;
    for (int64_t h = 0; h < s->height; h++, r.to += s->pitch * s->size) {
        int64_t y = p->row * w[1].stride + h - w[1].pad;
        bool inside = depth && y >= 0 && y < w[1].in;
        if (w[1].stride > reach && h % w[1].stride >= reach) continue;
        if (!inside && depth && s->same_border) continue;
        r.from = from + (d * s->src_step[2] + y * s->src_step[3]) * s->size;
        if (inside) conv_plan_copy_rows(s, &r, p->col, s->same_border);
        else clear_pixels(s, &r, 0, s->pitch);
    }
}

/* All depths of the kernel for one unit. */
void la_conv_plan_copy(const la_conv_plan *s, char *scratch,
                       const la_conv_unit *p, int64_t first, int64_t count)
{
    const la_window *d = &s->w[0];
    int64_t plane = s->height * s->pitch * s->size;
    int64_t channel = p->g * s->ic + first;
    rows r = {scratch, s->src + (p->n * s->src_step[0]
                                 + channel * s->src_step[1]) * s->size,
              count, plane * d->kernel};
    for (int64_t k = 0; k < d->kernel; k++, r.to += plane)
        copy_planes(s, r, p->d * d->stride + k * d->dilation - d->pad, p);
}
