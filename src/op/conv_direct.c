/*
** Direct convolution: the rows of the input that a band of output rows needs
** are copied, with their padding, into a piece of memory that stays in the
** second cache, and the kernel multiplies from there. Also serves the gradient
** of the input for stride 1, as the convolution of the other side with the
** taps reversed. Sums run over channels and taps in blocks whose size depends
** on the kernel's shape alone.
*/
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "op/conv_run.h"
#include "op/gemm.h"

#define TAPS_PER_BLOCK 576
#define FIXED_CACHE ((int64_t)512 << 10)
#define NARROW 6            /* rows shorter than this go to the product */

typedef struct direct {
    const la_conv_kernels *ker;
    int64_t size;           /* of an element */
    int64_t batch, groups, ic, oc;
    la_window w[3];
    const char *src, *weight, *bias;
    char *dst;
    const int64_t *src_step, *dst_step;
    int64_t w_row, w_channel, w_group;   /* steps of the weight, elements */
    bool flip;
    bool fixed;             /* bands may depend on sizes alone */
    bool lanes;             /* 'channels' of the kernel instead of 'tiles' */
    int64_t panel;          /* output channels of a panel of weights */
    int64_t taps, channels, blocks;      /* channels per block */
    int64_t phase, pitch, band, height;  /* of the copied rows */
    bool same_border;       /* zeros lie in the same places for every unit */
    int64_t bands, units;
    int tasks;
    size_t packed_bytes, shift_bytes, room_bytes;
    char *packed, *room;
    int64_t *shift;
} direct;

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static size_t aligned(int64_t bytes) { return ((size_t)bytes + 127) & ~63ul; }

static const la_conv_kernels *kernels_of(la_dtype d)
{
    if (d == LA_FLOAT32) return LA_STUB(conv_f32);
    return d == LA_FLOAT64 ? LA_STUB(conv_f64) : NULL;
}

bool la_conv_direct_serves(const la_conv *c, bool backward)
{
    if (!kernels_of(c->dtype)) return false;
    int64_t cols = backward ? c->w[2].in : c->w[2].out;
    if (cols < NARROW) return false;
    for (int d = 0; backward && d < 3; d++)
        if (c->w[d].stride != 1) return false;
    return la_conv_taps(c) <= 4 * TAPS_PER_BLOCK;
}

/* ---- the plan ---- */

static void take_forward(direct *s, const la_conv *c)
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

static void take_backward(direct *s, const la_conv *c)
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
    for (int d = 0; d < 3; d++) {
        const la_window *w = &c->w[d];
        s->w[d] = (la_window){w->out, w->in, w->kernel, 1,
            w->dilation * (w->kernel - 1) - w->pad, w->dilation};
    }
}

static int64_t parts(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Multiplications a row costs with the pixels in the lanes, and with the
** channels there; each tile's end counts as some more. */
static bool plan_lanes(const direct *s)
{
    int64_t cols = s->w[2].out, lanes = s->ker->lanes, mr = s->ker->mr;
    int64_t k = s->channels * s->taps, runs = parts(cols, mr);
    int64_t pixels = parts(cols, lanes) * s->oc * (k + 4);
    int64_t channels = runs * parts(cols, runs) * parts(s->oc, lanes)
        * (k + 12);
    return channels < pixels;
}

/* The form of the kernel and its panels: as even as they can be. */
static void plan_panels(direct *s)
{
    int64_t mr = s->ker->mr;
    s->lanes = plan_lanes(s);
    s->panel = s->lanes ? 2 * s->ker->lanes
        : s->oc > 0 ? parts(s->oc, parts(s->oc, mr)) : 1;
    s->packed_bytes = aligned(s->groups * parts(s->oc, s->panel) * s->panel
                              * s->ic * s->taps * s->size);
}

/* Rows of a band: what it copies should fit half of the second cache. */
static void plan_bands(direct *s)
{
    const la_window *h = &s->w[1], *x = &s->w[2];
    int64_t lanes = s->ker->lanes, reach = (h->kernel - 1) * h->dilation + 1;
    int64_t unit = s->fixed || s->lanes ? 1 : lanes;
    int64_t per_row = parts(x->out, lanes) * lanes;
    s->phase = parts(x->out, unit) * unit
        + (x->kernel - 1) * x->dilation / x->stride + 1;
    s->pitch = s->phase * x->stride;
    int64_t line = s->channels * s->w[0].kernel * s->pitch * s->size;
    int64_t cache = s->fixed ? FIXED_CACHE : (int64_t)la_cpu_cache(2);
    int64_t fit = (cache * 5 / 8 / line - reach) / h->stride + 1;
    int64_t most = h->out < 1 ? 1 : h->out, least = lesser(most, 4);
    fit = fit < least ? least : lesser(fit, most);
    s->bands = (most + fit - 1) / fit;
    int64_t threads = la_in_parallel() ? 1 : la_num_threads();
    int64_t others = s->batch * s->groups * s->w[0].out;
    if (!s->fixed && others * s->bands < threads) s->bands = lesser(threads, most);
    s->band = (most + s->bands - 1) / s->bands;
    s->bands = (most + s->band - 1) / s->band;
    s->height = (s->band - 1) * h->stride + reach;
    s->units = others * s->bands;
    s->same_border = s->bands == 1 && s->w[0].kernel == 1 && x->stride == 1
        && s->w[0].pad == 0;
    double work = (double)s->units * (double)s->band * (double)per_row
        * (double)s->oc * (double)(s->ic * s->taps);
    s->tasks = (int)lesser(work < 1e5 ? 1 : threads, s->units);
}

static void plan_make(direct *s, const la_conv *c, bool backward, bool fixed)
{
    *s = (direct){.ker = kernels_of(c->dtype), .batch = c->batch,
                  .groups = c->groups, .taps = la_conv_taps(c),
                  .weight = c->weight, .fixed = fixed,
                  .size = (int64_t)la_dtype_size(c->dtype)};
    s->w_group = c->oc * c->ic * s->taps;
    if (backward) take_backward(s, c);
    else take_forward(s, c);
    int64_t fit = TAPS_PER_BLOCK / s->taps;
    s->channels = lesser(fit < 1 ? 1 : fit, s->ic);
    s->blocks = (s->ic + s->channels - 1) / s->channels;
    plan_panels(s);
    plan_bands(s);
    s->shift_bytes = aligned(s->channels * s->taps * 8);
    s->room_bytes = aligned(s->channels * s->w[0].kernel * s->height
                            * s->pitch * s->size);
}

/* Where each tap of each channel lies, from the place of an output. */
static void make_shifts(direct *s)
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

/* Elements of packed weights before block b of group g. */
static int64_t packed_at(const direct *s, int64_t g, int64_t b)
{
    int64_t column = parts(s->oc, s->panel) * s->panel * s->taps;
    return (g * s->ic + b * s->channels) * column;
}

static void pack_block(const direct *s, int64_t g, int64_t b)
{
    int64_t panel = s->panel, first = b * s->channels;
    int64_t count = lesser(s->channels, s->ic - first);
    char *to = s->packed + packed_at(s, g, b) * s->size;
    const char *from = s->weight
        + (g * s->w_group + first * s->w_channel
           + (s->flip ? s->taps - 1 : 0)) * s->size;
    for (int64_t i = 0; i < s->oc; i += panel)
        for (int64_t c = 0; c < count; c++) {
            s->ker->pack(to, from + (i * s->w_row + c * s->w_channel) * s->size,
                         s->w_row, s->flip ? -1 : 1,
                         (int)lesser(panel, s->oc - i), (int)panel, s->taps);
            to += panel * s->taps * s->size;
        }
}

static void pack_weights(int64_t begin, int64_t end, void *context)
{
    const direct *s = context;
    for (int64_t i = begin; i < end; i++)
        pack_block(s, i / s->blocks, i % s->blocks);
}

/* ---- copying rows ---- */

static void copy_strided(char *to, const char *from, int64_t step, int64_t n,
                         int64_t size)
{
    if (step == 1) {
        memcpy(to, from, (size_t)(n * size));
    } else if (size == 4) {
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[i * step];
    } else {
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)to)[i] = ((const uint64_t *)from)[i * step];
    }
}

/* One padded row; columns sorted by their remainder modulo the stride. */
static void copy_row(const direct *s, char *to, const char *row)
{
    const la_window *w = &s->w[2];
    int64_t step = s->src_step[4], size = s->size;
    for (int64_t r = 0; r < w->stride; r++, to += s->phase * size) {
        int64_t at = r - w->pad;      /* input column of place 0 */
        int64_t first = at < 0 ? (-at + w->stride - 1) / w->stride : 0;
        int64_t last = at < w->in ? (w->in - at + w->stride - 1) / w->stride
                                  : 0;
        first = lesser(first, s->phase);
        last = lesser(last, s->phase);
        if (last < first) last = first;
        memset(to, 0, (size_t)(first * size));
        if (last > first)
            copy_strided(to + first * size,
                         row + (first * w->stride + at) * step * size,
                         step * w->stride, last - first, size);
        memset(to + last * size, 0, (size_t)((s->phase - last) * size));
    }
}

typedef struct place {
    int64_t n, g, d, row, rows;   /* of one unit of work */
} place;

/* A plane whose border is zero already: only what lies inside is copied. */
static void copy_inside(const direct *s, char *to, const char *plane, int64_t d)
{
    const la_window *h = &s->w[1], *w = &s->w[2];
    int64_t size = s->size, line = s->pitch * size;
    int64_t x = w->pad > 0 ? w->pad : 0, skip = x - w->pad;
    int64_t n = lesser(w->in - skip, s->phase - x);
    int64_t first = h->pad > 0 ? h->pad : 0;
    int64_t last = lesser(s->height, h->in + h->pad);
    if (n <= 0) return;
    to += first * line + x * size;
    plane += (d * s->src_step[2] + (first - h->pad) * s->src_step[3]
              + skip * s->src_step[4]) * size;
    for (int64_t y = first; y < last; y++, to += line) {
        if (s->src_step[4] == 1 && n * size == 32) memcpy(to, plane, 32);
        else copy_strided(to, plane, s->src_step[4], n, size);
        plane += s->src_step[3] * size;
    }
}

static void copy_plane(const direct *s, char *to, const char *plane, int64_t d,
                       int64_t row)
{
    const la_window *w = s->w;
    size_t bytes = (size_t)(s->pitch * s->size);
    for (int64_t h = 0; h < s->height; h++, to += bytes) {
        int64_t y = row * w[1].stride + h - w[1].pad;
        if (d < 0 || d >= w[0].in || y < 0 || y >= w[1].in)
            memset(to, 0, bytes);
        else
            copy_row(s, to, plane + (d * s->src_step[2] + y * s->src_step[3])
                     * s->size);
    }
}

static void copy_block(const direct *s, char *room, const place *p,
                       int64_t first, int64_t count)
{
    const la_window *d = &s->w[0];
    int64_t plane = s->height * s->pitch * s->size;
    for (int64_t c = first; c < first + count; c++) {
        const char *from = s->src + (p->n * s->src_step[0]
            + (p->g * s->ic + c) * s->src_step[1]) * s->size;
        if (s->same_border) {
            copy_inside(s, room, from, p->d * d->stride);
            room += plane;
            continue;
        }
        for (int64_t k = 0; k < d->kernel; k++, room += plane)
            copy_plane(s, room, from,
                       p->d * d->stride + k * d->dilation - d->pad, p->row);
    }
}

/* ---- the work ---- */

static void multiply_block(const direct *s, const char *room, const place *p,
                           int64_t b, int64_t count)
{
    const int64_t *step = s->dst_step;
    la_conv_tiles t = {
        .k = count * s->taps, .m = s->oc, .panel = s->panel, .source = room,
        .shift = s->shift,
        .weights = s->packed + packed_at(s, p->g, b) * s->size,
        .row_step = s->w[1].stride * s->pitch, .rows = p->rows,
        .cols = s->w[2].out, .out_channel = step[1], .out_row = step[3],
        .out_col = step[4], .first = b == 0,
        .triples = s->w[2].kernel == 3 && s->w[2].dilation == 1
            && s->w[2].stride == 1};
    t.out = s->dst + (p->n * step[0] + p->g * s->oc * step[1] + p->d * step[2]
                      + p->row * step[3]) * s->size;
    if (b == 0 && s->bias) t.bias = s->bias + p->g * s->oc * s->size;
    if (s->lanes) s->ker->channels(&t);
    else s->ker->tiles(&t);
}

static place place_of(const direct *s, int64_t unit)
{
    place p;
    p.row = unit % s->bands * s->band;
    unit /= s->bands;
    p.d = unit % s->w[0].out;
    unit /= s->w[0].out;
    p.g = unit % s->groups;
    p.n = unit / s->groups;
    p.rows = lesser(s->band, s->w[1].out - p.row);
    return p;
}

static void run_unit(const direct *s, char *room, int64_t unit)
{
    place p = place_of(s, unit);
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t first = b * s->channels;
        int64_t count = lesser(s->channels, s->ic - first);
        copy_block(s, room, &p, first, count);
        multiply_block(s, room, &p, b, count);
    }
}

static void run_tasks(int64_t begin, int64_t end, void *context)
{
    const direct *s = context;
    for (int64_t t = begin; t < end; t++) {
        char *room = s->room + (size_t)t * s->room_bytes;
        int64_t u = s->units * t / s->tasks, last = s->units * (t + 1)
            / s->tasks;
        if (s->same_border) memset(room, 0, s->room_bytes);
        for (; u < last && !la_interrupted(); u++) run_unit(s, room, u);
    }
}

la_status la_conv_direct(const la_conv *c, bool backward)
{
    direct s;
    plan_make(&s, c, backward, false);
    if (s.units == 0 || s.oc == 0) return LA_OK;
    size_t bytes = s.packed_bytes + s.shift_bytes
        + s.room_bytes * (size_t)s.tasks;
    char *block = la_mem_alloc(bytes);
    if (!block) return LA_ENOMEM;
    s.packed = block;
    s.shift = (int64_t *)(block + s.packed_bytes);
    s.room = block + s.packed_bytes + s.shift_bytes;
    make_shifts(&s);
    pack_weights(0, s.groups * s.blocks, &s);
    if (s.tasks == 1) run_tasks(0, 1, &s);
    else la_parallel_for(s.tasks, 1, run_tasks, &s);
    la_mem_free(block, bytes);
    return la_interrupted() ? LA_EINTR : LA_OK;
}

/* ---- the gradient of the weight ---- */

#define PARTS 8   /* sums over parts of the batch: fixed, so bits do not
                  ** depend on threads */

typedef struct weights {
    direct s;
    const la_gemm_kernels *gemm;
    const la_conv *c;
    int64_t parts, line;     /* channels of the result, rounded up */
    size_t sum_bytes, grad_bytes;
    char *sums, *grads;      /* per part */
} weights;

/* y's rows of one unit as panels: pixel by pixel, channels side by side. */
static void pack_grads(const weights *w, char *to, const place *p)
{
    const direct *s = &w->s;
    const int64_t *step = w->c->y_step;
    const char *from = w->c->y + (p->n * step[0] + p->g * s->oc * step[1]
                                  + p->d * step[2] + p->row * step[3])
        * s->size;
    w->gemm->pack_b(to, from, step[4], step[1], p->rows * s->w[2].out, s->oc,
                    false);
}

static void weight_unit(const weights *w, char *room, char *grads, char *sums,
                        int64_t unit, bool first)
{
    const direct *s = &w->s;
    place p = place_of(s, unit);
    pack_grads(w, grads, &p);
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t from = b * s->channels;
        int64_t count = lesser(s->channels, s->ic - from);
        copy_block(s, room, &p, from, count);
        la_conv_gradient t = {
            .taps = count * s->taps, .m = s->oc, .source = room,
            .shift = s->shift, .row_step = s->w[1].stride * s->pitch,
            .rows = p.rows, .cols = s->w[2].out, .grads = grads,
            .out_tap = w->line, .first = first};
        t.out = sums + (p.g * s->ic + from) * s->taps * w->line * s->size;
        s->ker->taps(&t);
    }
}

static void weight_parts(int64_t begin, int64_t end, void *context)
{
    const weights *w = context;
    const direct *s = &w->s;
    int64_t per_image = s->units / s->batch, per_group = per_image / s->groups;
    for (int64_t part = begin; part < end; part++) {
        char *room = s->room + (size_t)part * s->room_bytes;
        int64_t first = s->batch * part / w->parts;
        int64_t last = s->batch * (part + 1) / w->parts;
        if (s->same_border) memset(room, 0, s->room_bytes);
        for (int64_t u = first * per_image; u < last * per_image; u++) {
            int64_t own = u - first * per_image;
            if (la_interrupted()) return;
            weight_unit(w, room, w->grads + (size_t)part * w->grad_bytes,
                        w->sums + (size_t)part * w->sum_bytes, u,
                        own < per_image && own % per_group == 0);
        }
    }
}

/* weight[g][o][t] = the parts' sums of [g][t][o], in order. */
static void weight_finish(const weights *w)
{
    const direct *s = &w->s;
    int64_t k = s->ic * s->taps, step = (int64_t)w->sum_bytes / s->size;
    for (int64_t g = 0; g < s->groups; g++)
        for (int64_t o = 0; o < s->oc; o++)
            for (int64_t t = 0; t < k; t++) {
                int64_t at = (g * k + t) * w->line + o;
                int64_t to = (g * s->oc + o) * k + t;
                if (s->size == 4) {
                    float v = 0;
                    for (int64_t p = 0; p < w->parts; p++)
                        v += ((const float *)w->sums)[p * step + at];
                    ((float *)w->c->weight)[to] = v;
                } else {
                    double v = 0;
                    for (int64_t p = 0; p < w->parts; p++)
                        v += ((const double *)w->sums)[p * step + at];
                    ((double *)w->c->weight)[to] = v;
                }
            }
}

static void weights_make(weights *w, const la_conv *c)
{
    *w = (weights){.c = c, .gemm = la_gemm_kernels_of(c->dtype)};
    direct *s = &w->s;
    plan_make(s, c, false, true);  /* a band is one partial sum */
    w->parts = lesser(PARTS, c->batch);
    int64_t panel = 2 * s->ker->lanes;
    w->line = (s->oc + panel - 1) / panel * panel;
    w->sum_bytes = aligned(s->groups * s->ic * s->taps * w->line * s->size);
    w->grad_bytes = aligned(s->band * s->w[2].out * w->line * s->size
                            + LA_GEMM_SLACK);
}

la_status la_conv_direct_weight(const la_conv *c)
{
    weights w;
    weights_make(&w, c);
    direct *s = &w.s;
    size_t each = s->room_bytes + w.sum_bytes + w.grad_bytes;
    size_t bytes = s->shift_bytes + each * (size_t)w.parts;
    char *block = la_mem_alloc(bytes);
    if (!block) return LA_ENOMEM;
    s->shift = (int64_t *)block;
    s->room = block + s->shift_bytes;
    w.sums = s->room + s->room_bytes * (size_t)w.parts;
    w.grads = w.sums + w.sum_bytes * (size_t)w.parts;
    make_shifts(s);
    if (s->tasks == 1) weight_parts(0, w.parts, &w);
    else la_parallel_for(w.parts, 1, weight_parts, &w);
    if (!la_interrupted()) weight_finish(&w);
    la_mem_free(block, bytes);
    return la_interrupted() ? LA_EINTR : LA_OK;
}
