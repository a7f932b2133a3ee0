/*
** The gradient of the weight without columns: every tap of every channel times
** the gradients of all output channels, pixel after pixel of one band of one
** image, or of some images where one is small. The batch is cut into parts with
** sums of their own, so that threads need not wait for each other; how follows
** from the sizes alone, and so do the bits.
*/
#include "op/conv/plan.h"

#include <string.h>

#include "base/memory.h"
#include "base/pool.h"

#define PARTS 8
#define LEAST_PIXELS 256    /* of a part, and of what is summed in one go */

typedef struct weights {
    la_conv_plan s;
    const la_conv *c;
    bool turned;             /* input channels lie in the lanes */
    char *pixels;            /* the side that lies in the lanes */
    const int64_t *step;
    int64_t parts, images;   /* images that are summed in one go */
    int64_t line;            /* channels of the result, rounded up */
    size_t sum_bytes, grad_bytes, room_bytes, place_bytes;
    char *block;
} weights;

/* What one part works with. */
typedef struct desk {
    char *sums, *grads, *room;
    int64_t *place;
    int64_t images, rows;    /* that 'place' is for */
} desk;

static size_t desk_bytes(const weights *w)
{
    return w->sum_bytes + w->grad_bytes + w->room_bytes + w->place_bytes;
}

static desk desk_of(const weights *w, int64_t part)
{
    desk d = {.images = 0};
    d.sums = w->block + (size_t)part * desk_bytes(w);
    d.grads = d.sums + w->sum_bytes;
    d.room = d.grads + w->grad_bytes;
    d.place = (int64_t *)(d.room + w->room_bytes);
    return d;
}

/* Where the rows of a unit's pixels lie in the copied rows. */
static void find_places(const weights *w, desk *d, const la_conv_place *p,
                        int64_t images)
{
    const la_conv_plan *s = &w->s;
    int64_t step = s->w[1].stride * s->pitch, *to = d->place;
    if (d->images == images && d->rows == p->rows) return;
    for (int64_t i = 0; i < images; i++)
        for (int64_t r = 0; r < p->rows; r++)
            *to++ = i * (int64_t)(s->room_bytes / (size_t)s->size) + r * step;
    d->images = images;
    d->rows = p->rows;
}

/* Pixels of one image as panels: pixel by pixel, channels side by side. */
static void pack_pixels(const weights *w, char *to, const la_conv_place *p,
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

/* The same band of 'images' images from p's on. */
static void run_unit(const weights *w, desk *d, la_conv_place p,
                     int64_t images, bool first)
{
    const la_conv_plan *s = &w->s;
    int64_t each = p.rows * p.cols, pixels = images * each;
    int64_t panel = 2 * s->ker->lanes, from = p.n;
    find_places(w, d, &p, images);
    for (int64_t i = 0; i < images; i++, p.n++)
        pack_pixels(w, d->grads + i * each * panel * s->size, &p, pixels);
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t c = b * s->channels;
        int64_t count = la_conv_lesser(s->channels, s->ic - c);
        for (int64_t i = 0; i < images; i++) {
            p.n = from + i;
            la_conv_plan_copy(s, d->room + (size_t)i * s->room_bytes, &p, c,
                              count);
        }
        la_conv_gradient t = {
            .taps = count * s->taps, .m = s->oc, .source = d->room,
            .shift = s->shift, .rows = images * p.rows, .cols = p.cols,
            .place = d->place, .grads = d->grads, .out_tap = w->line,
            .first = first, .triples = s->triples};
        t.out = d->sums + (p.g * s->ic + c) * s->taps * w->line * s->size;
        s->ker->taps(&t);
    }
}

static void run_parts(int64_t begin, int64_t end, void *context)
{
    const weights *w = context;
    const la_conv_plan *s = &w->s;
    int64_t per_image = s->units / s->batch, per_group = per_image / s->groups;
    for (int64_t part = begin; part < end; part++) {
        desk d = desk_of(w, part);
        int64_t first = s->batch * part / w->parts;
        int64_t last = s->batch * (part + 1) / w->parts;
        if (s->same_border) memset(d.room, 0, w->room_bytes);
        for (int64_t n = first; n < last; n += w->images)
            for (int64_t u = 0; u < per_image; u++) {
                if (la_interrupted()) return;
                run_unit(w, &d, la_conv_plan_slot(s, n * per_image + u),
                         la_conv_lesser(w->images, last - n),
                         n == first && u % per_group == 0);
            }
    }
}

/* Sums are [channels of the copied side][taps][channels in the lanes]. */
static void finish(int64_t begin, int64_t end, void *context)
{
    const weights *w = context;
    const la_conv_plan *s = &w->s;
    int64_t own = w->turned ? s->ic : 1, k = s->ic * s->taps / own;
    la_conv_sums t = {.taps = k, .m = s->oc, .line = w->line,
                      .parts = w->parts,
                      .part_step = (int64_t)desk_bytes(w) / s->size};
    if (w->turned) t.line = -t.line;    /* the taps run backwards */
    for (int64_t i = begin * own; i < end * own; i++) {
        int64_t first = w->turned ? (i + 1) * k - 1 : i * k;
        t.sums = w->block + first * w->line * s->size;
        t.out = w->c->weight + i * k * s->oc * s->size;
        s->ker->finish(&t);
    }
}

/* Few output channels would leave lanes empty: with stride 1 the sides can
** change places, as for the gradient of the input. */
static bool is_turned(const la_conv *c)
{
    for (int d = 0; d < 3; d++)
        if (c->w[d].stride != 1) return false;
    return c->oc < 32 && c->ic >= 2 * c->oc;
}

static void weights_make(weights *w, const la_conv *c)
{
    *w = (weights){.c = c, .turned = is_turned(c)};
    la_conv_plan *s = &w->s;
    la_conv_plan_make(s, c, w->turned, true);
    w->pixels = w->turned ? c->x : c->y;
    w->step = w->turned ? c->x_step : c->y_step;
    int64_t pixels = s->w[0].out * s->w[1].out * s->w[2].out;
    int64_t panel = 2 * s->ker->lanes, unit = s->band * s->cols;
    w->parts = la_conv_lesser(PARTS, s->batch * pixels / LEAST_PIXELS);
    w->parts = la_conv_lesser(s->batch, w->parts < 2 ? 2 : w->parts);
    w->images = la_conv_parts(LEAST_PIXELS, pixels);
    w->images = la_conv_lesser(w->images, la_conv_parts(s->batch, w->parts));
    w->line = la_conv_parts(s->oc, panel) * panel;
    w->sum_bytes = la_conv_aligned(s->groups * s->ic * s->taps * w->line
                                   * s->size);
    w->grad_bytes = la_conv_aligned(w->images * unit * w->line * s->size);
    w->room_bytes = s->room_bytes * (size_t)w->images;
    w->place_bytes = la_conv_aligned(w->images * s->band * 8);
}

static bool serves(const la_conv *c, la_conv_goal goal)
{
    return goal == LA_CONV_WEIGHT && la_conv_kernels_of(c->dtype)
        && la_conv_taps(c) <= 1024;
}

static la_status run(const la_conv *c, la_conv_goal goal)
{
    weights w;
    (void)goal;                 /* the gradient of the weight alone */
    weights_make(&w, c);
    size_t bytes = w.s.shift_bytes + desk_bytes(&w) * (size_t)w.parts;
    char *block = la_mem_alloc(bytes);
    if (!block) return LA_ENOMEM;
    w.s.shift = (int64_t *)block;
    w.block = block + w.s.shift_bytes;
    la_conv_plan_shifts(&w.s);
    if (w.s.tasks == 1) run_parts(0, w.parts, &w);
    else la_parallel_for(w.parts, 1, run_parts, &w);
    if (!la_interrupted()) la_parallel_for(c->groups, 16, finish, &w);
    la_mem_free(block, bytes);
    return la_interrupted() ? LA_EINTR : LA_OK;
}

const la_conv_method la_conv_weight_sums = {serves, run};
