/*
** The gradient of the weight without columns, for float32 and float64: every
** tap of every channel times the gradients of all output channels, pixel by
** pixel of one band of one image, or of several where images are small.
**
** The batch is cut into parts with sums of their own, so threads need not wait
** for each other; how it is cut follows from the sizes alone, and so do the
** bits.
*/
#include "op/conv/conv_plan.h"

#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "iter/items.h"

#define PARTS 8
#define LEAST_PIXELS 256    /* of a part, and of what is summed in one go */
#define MOST_TAPS 1024
#define MOST_GRADS (LA_CONV_SCRATCH / 2)  /* bytes of packed gradients */

typedef struct weights {
    la_conv_plan s;
    const la_conv *c;
    bool swapped;             /* input channels lie in the lanes */
    char *pixels;            /* the side that lies in the lanes */
    const int64_t *step;
    int64_t parts, images;   /* images that are summed in one go */
    int64_t slots;           /* workspaces: all parts, or one that holds the
                             ** sums of what is done */
    int64_t done, at_once;   /* parts */
    int64_t line;            /* channels of the result, rounded up */
    size_t sum_bytes, grad_bytes, scratch_bytes, position_bytes;
    char *block;
} weights;

/* Scratch memory of one part. */
typedef struct workspace {
    char *sums, *grads, *scratch;
    int64_t *position;
    int64_t images, rows;    /* that 'position' is for */
} workspace;

/* A workspace: sums, packed gradients, copied rows, row offsets. */
static size_t task_bytes(const weights *w)
{
    return w->sum_bytes + w->grad_bytes + w->scratch_bytes + w->position_bytes;
}

/* Nothing is initialised here: the kernel's first call stores. */
static workspace workspace_of(const weights *w, int64_t slot)
{
    workspace d = {.images = 0};
    d.sums = w->block + (size_t)slot * task_bytes(w);
    d.grads = d.sums + w->sum_bytes;
    d.scratch = d.grads + w->grad_bytes;
    d.position = (int64_t *)(d.scratch + w->scratch_bytes);
    return d;
}

/* Offsets of the rows of a unit's pixels in the copied rows. Computed again
** only when the unit's shape changes. */
static void find_positions(const weights *w, workspace *d,
                           const la_conv_unit *p, int64_t images)
{
    const la_conv_plan *s = &w->s;
    int64_t step = s->w[1].stride * s->pitch, *to = d->position;
    if (d->images == images && d->rows == p->rows) return;
    for (int64_t i = 0; i < images; i++)
        for (int64_t r = 0; r < p->rows; r++)
            *to++ = i * (int64_t)(s->scratch_bytes / (size_t)s->size)
                    + r * step;
    d->images = images;
    d->rows = p->rows;
}

/* Pixels of one image as panels: pixel by pixel, channels contiguous. */
static void pack_pixels(const weights *w, char *to, const la_conv_unit *p,
                        int64_t pixels)
{
    const la_conv_plan *s = &w->s;
    const int64_t *step = w->step;
    int64_t panel = 2 * s->ker->lanes;
    const char *from = w->pixels + (p->n * step[0] + p->g * s->oc * step[1]
        + p->d * step[2] + p->row * step[3] + p->col * step[4]) * s->size;
    bool flat = p->cols == s->w[2].out && step[3] == p->cols * step[4];
    int64_t rows = flat ? 1 : p->rows, count = p->rows * p->cols / rows;
    for (int64_t o = 0; o < s->oc; o += panel) {
        for (int64_t r = 0; r < rows; r++)
            s->ker->pack(to + r * count * panel * s->size,
                         from + (o * step[1] + r * step[3]) * s->size,
                         step[1], step[4],
                         (int)la_conv_lesser(panel, s->oc - o), (int)panel,
                         count);
        to += pixels * panel * s->size;
    }
}

/* One band of 'images' images from p's on. */
static void run_unit(const weights *w, workspace *d, la_conv_unit p,
                     int64_t images, bool first)
{
    const la_conv_plan *s = &w->s;
    int64_t each = p.rows * p.cols, pixels = images * each;
    int64_t panel = 2 * s->ker->lanes, from = p.n;
    find_positions(w, d, &p, images);
    for (int64_t i = 0; i < images; i++, p.n++)
        pack_pixels(w, d->grads + i * each * panel * s->size, &p, pixels);
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t c = b * s->channels;
        int64_t count = la_conv_lesser(s->channels, s->ic - c);
        for (int64_t i = 0; i < images; i++) {
            p.n = from + i;
            char *rows = d->scratch + (size_t)i * s->scratch_bytes;
            la_conv_plan_copy(s, rows, &p, c, count);
        }
        la_conv_gradient t = {
            .taps = count * s->taps, .m = s->oc, .source = d->scratch,
            .shift = s->shift, .rows = images * p.rows, .cols = p.cols,
            .position = d->position, .grads = d->grads, .out_tap = w->line,
            .first = first, .triples = s->triples};
        t.out = d->sums + (p.g * s->ic + c) * s->taps * w->line * s->size;
        s->ker->taps(&t);
    }
}

/* Parts begin..end of those that are not done, each with a workspace of its
** own; the first workspace holds the sums of what is done. */
static void run_parts(int64_t begin, int64_t end, void *context)
{
    const weights *w = context;
    const la_conv_plan *s = &w->s;
    int64_t per_image = s->units / s->batch, per_group = per_image / s->groups;
    for (int64_t i = begin; i < end; i++) {
        int64_t part = w->done + i;
        workspace d = workspace_of(w, w->done > 0 ? i + 1 : i);
        int64_t first = s->batch * part / w->parts;
        int64_t last = s->batch * (part + 1) / w->parts;
        if (s->same_border) memset(d.scratch, 0, w->scratch_bytes);
        for (int64_t n = first; n < last; n += w->images)
            for (int64_t u = 0; u < per_image; u++) {
                if (la_interrupted()) return;
                run_unit(w, &d, la_conv_plan_unit(s, n * per_image + u),
                         la_conv_lesser(w->images, last - n),
                         n == first && u % per_group == 0);
            }
    }
}

/* Elements begin..end of the sums in hand, in order, onto those of the first
** workspace. */
static void join_parts(int64_t begin, int64_t end, void *context)
{
    const weights *w = context;
    bool wide = w->c->dtype == LA_FLOAT64;
    int64_t last = w->done > 0 ? w->at_once : w->at_once - 1;
    for (int64_t slot = 1; slot <= last; slot++) {
        const char *from = w->block + (size_t)slot * task_bytes(w);
        double *f64 = (double *)w->block;
        float *f32 = (float *)w->block;
        for (int64_t i = begin; i < end && wide; i++)
            f64[i] += ((const double *)from)[i];
        for (int64_t i = begin; i < end && !wide; i++)
            f32[i] += ((const float *)from)[i];
    }
}

/* All parts at once, or as many as there are workspaces for. Then sums are
** joined in the order in which 'finish' would, so the bits don't depend on how
** many there are, and one is left for it. */
static la_status run_all(weights *w)
{
    int64_t sums = (int64_t)w->sum_bytes / w->s.size;
    int64_t grain = w->s.tasks == 1 ? w->parts : 1;
    if (w->slots == w->parts)
        return la_iter_items(w->parts, grain, 1, run_parts, w);
    for (; w->done < w->parts; w->done += w->at_once) {
        w->at_once = la_conv_lesser(w->slots - 1, w->parts - w->done);
        LA_TRY(la_iter_items(w->at_once, 1, 1, run_parts, w));
        LA_TRY(la_iter_items(sums, 1 << 16, LA_ALL_ITEMS, join_parts, w));
    }
    w->parts = 1;
    return LA_OK;
}

/* Sums are [channels of the copied side][taps][channels in the lanes]. */
static void weight_grad_finish(int64_t begin, int64_t end, void *context)
{
    const weights *w = context;
    const la_conv_plan *s = &w->s;
    int64_t own = w->swapped ? s->ic : 1, k = s->ic * s->taps / own;
    la_conv_sums t = {.taps = k, .m = s->oc, .line = w->line,
                      .parts = w->parts,
                      .part_step = (int64_t)task_bytes(w) / s->size};
    /* Swapped sides convolve with reversed taps, as the gradient of x does. */
    if (w->swapped) t.line = -t.line;    /* the taps run backwards */
    for (int64_t i = begin * own; i < end * own; i++) {
        int64_t first = w->swapped ? (i + 1) * k - 1 : i * k;
        t.sums = w->block + first * w->line * s->size;
        t.out = w->c->weight + i * k * s->oc * s->size;
        s->ker->finish(&t);
    }
}

/* Few output channels would leave lanes empty: with stride 1 the sides can
** be swapped, as for the gradient of the input. */
static bool swaps_sides(const la_conv *c)
{
    for (int d = 0; d < 3; d++)
        if (c->w[d].stride != 1) return false;
    return c->oc < 32 && c->ic >= 2 * c->oc;
}

/* Workspaces of LA_CONV_SCRATCH for each thread, and of the weight's size for
** some. */
static void plan_slots(weights *w)
{
    const la_conv *c = w->c;
    double each = (double)task_bytes(w);
    double weight = (double)(c->groups * c->oc * c->ic) * (double)w->s.taps
        * (double)w->s.size;
    double most = (double)LA_CONV_SCRATCH * la_num_threads() + 3 * weight;
    w->slots = w->parts;
    if (each * (double)w->parts <= most) return;
    w->slots = la_conv_lesser(w->parts, la_max(2, (int64_t)(most / each)));
}

/* The plan is 'fixed': bands decide the order of sums here. */
static void weights_make(weights *w, const la_conv *c)
{
    *w = (weights){.c = c, .swapped = swaps_sides(c)};
    la_conv_plan *s = &w->s;
    la_conv_plan_make(s, c, w->swapped, true);
    w->pixels = w->swapped ? c->x : c->y;
    w->step = w->swapped ? c->x_step : c->y_step;
    int64_t pixels = s->w[0].out * s->w[1].out * s->w[2].out;
    int64_t panel = 2 * s->ker->lanes;
    w->line = la_conv_ceil_div(s->oc, panel) * panel;
    la_conv_plan_shorten(s, MOST_GRADS / (w->line * s->size));
    int64_t unit = s->band * s->cols;
    w->parts = la_conv_lesser(PARTS, s->batch * pixels / LEAST_PIXELS);
    w->parts = la_conv_lesser(s->batch, w->parts < 2 ? 2 : w->parts);
    w->images = la_conv_ceil_div(LEAST_PIXELS, pixels);
    w->images = la_conv_lesser(w->images, la_conv_ceil_div(s->batch, w->parts));
    w->sum_bytes = la_conv_aligned(s->groups * s->ic * s->taps * w->line
                                   * s->size);
    w->grad_bytes = la_conv_aligned(w->images * unit * w->line * s->size);
    w->scratch_bytes = s->scratch_bytes * (size_t)w->images;
    w->position_bytes = la_conv_aligned(w->images * s->band * 8);
    plan_slots(w);
}

/* Elements of a workspace's sums: channels in the lanes are rounded up. */
static double sums_of(const la_conv *c)
{
    bool swapped = swaps_sides(c);
    int64_t panel = 2 * la_conv_kernels_of(c->dtype)->lanes;
    int64_t inner = swapped ? c->ic : c->oc;
    return (double)(c->groups * (swapped ? c->oc : c->ic)) * la_conv_taps(c)
        * (double)(la_conv_ceil_div(inner, panel) * panel);
}

/* Up to MOST_TAPS: their offsets are part of the workspace. Large weights must
** fill their lanes. */
static bool weight_grad_serves(const la_conv *c, la_conv_goal goal)
{
    if (goal != LA_CONV_WEIGHT || !la_conv_kernels_of(c->dtype)
        || la_conv_taps(c) > MOST_TAPS)
        return false;
    double own = (double)(c->groups * c->oc * c->ic) * la_conv_taps(c);
    double sums = sums_of(c), size = (double)la_dtype_size(c->dtype);
    if (sums * size > (double)LA_CONV_SCRATCH / 4 && sums > 2 * own)
        return false;
    la_window w[3];
    bool swapped = swaps_sides(c);
    if (swapped) la_conv_flip(c, w);
    return la_conv_plan_fits(c, swapped ? w : c->w, swapped ? c->oc : c->ic);
}

/* One allocation: offsets, then the workspace of each part. */
static la_status weight_grad_run(const la_conv *c, la_conv_goal goal)
{
    weights w;
    (void)goal;                 /* the gradient of the weight alone */
    weights_make(&w, c);
    size_t bytes = w.s.shift_bytes + task_bytes(&w) * (size_t)w.slots;
    char *block = la_mem_alloc(bytes);
    if (!block) return LA_ENOMEM;
    w.s.shift = (int64_t *)block;
    w.block = block + w.s.shift_bytes;
    la_conv_plan_shifts(&w.s);
    la_status status = run_all(&w);
    if (!status)
        status = la_iter_items(c->groups, 16, LA_ALL_ITEMS, weight_grad_finish,
                               &w);
    la_mem_free(block, bytes);
    return status;
}

const la_conv_method la_conv_weight_sums = {weight_grad_serves,
                                            weight_grad_run};
