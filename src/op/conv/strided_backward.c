/*
** The gradient of the input for strides above 1, which is a transposed
** convolution too: float32 and float64.
**
** Positions of x with the same remainders modulo the strides receive the same
** taps, so each such phase is a dense convolution of y with a part of the
** weights, and no tap meets a zero that the stride would have inserted (the
** sub-pixel decomposition, Shi et al. 2016). All phases of a band work from one
** copy of y's rows. Where rows of x are contiguous, the phases of a row are
** computed apart and interleaved.
*/
#include "op/conv/conv_plan.h"

#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/size.h"
#include "iter/items.h"

#define MOST_STRIDE 4
#define NARROW_LONG 16
#define MOST_TAPS (1 << 20)
#define PART_BYTES ((int64_t)64 << 10)    /* of the phases of a row, at once */

/* Elements that positions r, r + stride, ... along a dim receive: tap first_tap
** - i*tap_step of position first + i*step of y, relative to their index. */
typedef struct axis {
    int64_t taps, tap, tap_step, at, step;
} axis;

typedef struct phase {
    const axis *a[3];
    int64_t taps, before;    /* taps of the phases before it */
} phase;

typedef struct strided {
    la_conv_plan s;          /* over the positions of one phase */
    const la_window *w;      /* the convolution's */
    int64_t taps, count;     /* of all phases; phases */
    axis axes[3][MOST_STRIDE];
    phase phases[MOST_STRIDE * MOST_STRIDE * MOST_STRIDE];
    int64_t low[3], high[3]; /* least, largest position of y, for x's 0 */
    bool interleaved;
    int64_t line, group;     /* of the parts: a row, output channels at once */
    size_t part_bytes, task_bytes, tap_bytes;
} strided;

/* Remainder r: the taps t with (r + pad - t * dilation) divisible by the
** stride, which are stride / gcd(stride, dilation) apart. */
static axis axis_of(const la_window *w, int64_t r)
{
    axis a = {.tap_step = w->stride / (int64_t)la_gcd((uint64_t)w->stride,
                                                     (uint64_t)w->dilation)};
    int64_t first = 0, position = r + w->pad;
    while (first < w->kernel && (position - first * w->dilation) % w->stride)
        first++;
    a.taps = la_conv_ceil_div(w->kernel - first, a.tap_step);
    a.tap = first + (a.taps - 1) * a.tap_step;
    a.at = (position - a.tap * w->dilation) / w->stride;
    a.step = a.tap_step * w->dilation / w->stride;
    return a;
}

/* All remainders of each dim, and the range of y's positions they read. */
static void find_axes(strided *t, const la_conv *c)
{
    for (int d = 0; d < 3; d++) {
        t->low[d] = INT64_MAX;
        t->high[d] = INT64_MIN;
        for (int64_t r = 0; r < c->w[d].stride; r++) {
            axis a = t->axes[d][r] = axis_of(&c->w[d], r);
            int64_t last = a.at + (a.taps - 1) * a.step;
            if (a.taps > 0 && a.at < t->low[d]) t->low[d] = a.at;
            if (a.taps > 0 && last > t->high[d]) t->high[d] = last;
        }
    }
}

/* Every combination of remainders. */
static void strided_find_phases(strided *t)
{
    int64_t n0 = t->w[0].stride, n1 = t->w[1].stride, n2 = t->w[2].stride;
    for (int64_t i = 0, taps = 0; i < n0 * n1 * n2; i++) {
        phase *p = &t->phases[t->count++];
        p->a[0] = &t->axes[0][i / n2 / n1];
        p->a[1] = &t->axes[1][i / n2 % n1];
        p->a[2] = &t->axes[2][i % n2];
        p->taps = p->a[0]->taps * p->a[1]->taps * p->a[2]->taps;
        p->before = taps;
        taps += p->taps;
    }
}

/* One window that covers those of every phase, for la_conv_plan_make, which
** reverses it as it does those of stride 1. */
static la_conv strided_joined(const strided *t, const la_conv *c)
{
    la_conv u = *c;
    for (int d = 0; d < 3; d++) {
        const la_window *w = &c->w[d];
        int64_t span = t->high[d] - t->low[d] + 1;
        int64_t positions = la_conv_ceil_div(w->in, w->stride);
        u.w[d] = (la_window){positions, w->out, span, 1,
                             span - 1 + t->low[d], 1};
    }
    return u;
}

/* Strides up to MOST_STRIDE, and phases whose rows fit the scratch. Kernels of
** thousands of taps need several vectors in a row. */
static bool strided_serves(const la_conv *c, la_conv_goal goal)
{
    const la_window *w = c->w;
    if (goal != LA_CONV_INPUT || !la_conv_kernels_of(c->dtype)) return false;
    for (int d = 0; d < 3; d++)
        if (w[d].stride > MOST_STRIDE) return false;
    int64_t least = la_conv_taps(c) > LA_CONV_PART ? NARROW_LONG : 1;
    if (w[2].in <= least * w[2].stride || la_conv_taps(c) > MOST_TAPS)
        return false;
    la_window joined[3];
    double spans = 1;
    for (int d = 0; d < 3; d++) {
        int64_t span = (w[d].kernel - 1) * w[d].dilation / w[d].stride + 2;
        joined[d] = (la_window){w[d].out, la_conv_ceil_div(w[d].in,
                                                           w[d].stride),
                                span, 1, 0, 1};
        spans *= (double)span;
    }
    if (least == 1 && spans > LA_CONV_PART) return false;
    return la_conv_plan_fits(c, joined, c->oc);
}

/* Scratch for the phases of a row: groups of output channels whose parts stay
** in the cache until they are interleaved. */
static void plan_parts(strided *t)
{
    la_conv_plan *s = &t->s;
    int64_t steps = t->w[2].stride, lanes = s->ker->lanes, each;
    t->interleaved = s->dst_step[4] == 1 && steps > 1;
    t->line = s->lanes ? s->cols : la_conv_ceil_div(s->cols, lanes) * lanes;
    each = steps * s->panel * s->band * t->line * s->size;
    t->group = s->panel * (1 + PART_BYTES / (each + 1));
    t->group = la_conv_lesser(t->group, la_conv_ceil_div(s->oc, s->panel)
                              * s->panel);
    if (t->interleaved)
        t->part_bytes = la_conv_aligned(steps * t->group * s->band * t->line
                                        * s->size);
    t->task_bytes = s->scratch_bytes + t->part_bytes;
}

/* la_conv_plan over the positions of one phase; sizes of weights and offsets
** are those of all phases. */
static void strided_plan_make(strided *t, const la_conv *c)
{
    *t = (strided){.w = c->w, .taps = la_conv_taps(c)};
    find_axes(t, c);
    strided_find_phases(t);
    la_conv u = strided_joined(t, c);
    la_conv_plan *s = &t->s;
    la_conv_plan_make(s, &u, true, false);
    s->src_step = c->y_step;    /* not those of 'u', which ends here */
    s->dst_step = c->x_step;
    s->w_row = t->taps;
    s->w_channel = c->ic * t->taps;
    s->w_group = c->oc * s->w_channel;
    s->packed_bytes = la_conv_aligned(s->groups
                                      * la_conv_ceil_div(s->oc, s->panel)
                                      * s->panel * s->ic * t->taps * s->size);
    s->shift_bytes = la_conv_aligned(s->channels * t->taps * 8);
    t->tap_bytes = la_conv_aligned(t->taps * s->panel * s->size);
    plan_parts(t);
}

/* ---- weights and shifts, phase by phase ---- */

/* The tap of the whole kernel that tap i of a phase is. */
static int64_t tap_of(const strided *t, const phase *p, int64_t i)
{
    const axis *a = p->a[0], *b = p->a[1], *c = p->a[2];
    int64_t z = i % c->taps, y = i / c->taps % b->taps, x = i / c->taps
        / b->taps;
    return ((a->tap - x * a->tap_step) * t->w[1].kernel
            + b->tap - y * b->tap_step) * t->w[2].kernel
        + c->tap - z * c->tap_step;
}

/* Offsets of the taps of each phase, as la_conv_plan_shifts. */
static void find_shifts(const strided *t)
{
    const la_conv_plan *s = &t->s;
    int64_t *out = s->shift;
    for (int64_t n = 0; n < t->count; n++) {
        const phase *p = &t->phases[n];
        const axis *a = p->a[0], *b = p->a[1], *e = p->a[2];
        out = s->shift + s->channels * p->before;
        for (int64_t c = 0; c < s->channels; c++)
            for (int64_t i = 0; i < p->taps; i++) {
                int64_t x = e->at - t->low[2] + i % e->taps * e->step;
                int64_t y = b->at - t->low[1] + i / e->taps % b->taps * b->step;
                int64_t z = a->at - t->low[0] + i / e->taps / b->taps * a->step;
                *out++ = ((c * s->w[0].kernel + z) * s->height + y) * s->pitch
                    + x;
            }
    }
}

/* Weights of phase p, block b of group g, from output channel 'o' on. */
static char *weights_at(const strided *t, const phase *p, int64_t g, int64_t b,
                        int64_t o)
{
    const la_conv_plan *s = &t->s;
    int64_t all = la_conv_ceil_div(s->oc, s->panel) * s->panel;
    int64_t first = b * s->channels;
    int64_t count = la_conv_lesser(s->channels, s->ic - first);
    return s->packed + ((g * s->ic + first) * all * t->taps
                        + count * (all * p->before + o * p->taps)) * s->size;
}

/* All taps of one channel are packed as lines, which are then copied to their
** phases. A kernel of one tap goes straight to the only phase that has it. */
static void strided_pack_block(const strided *t, int64_t g, int64_t b,
                               char *lines)
{
    const la_conv_plan *s = &t->s;
    int64_t first = b * s->channels, line = s->panel * s->size;
    int64_t count = la_conv_lesser(s->channels, s->ic - first);
    const phase *only = t->phases;
    while (only->taps == 0) only++;
    for (int64_t o = 0; o < s->oc; o += s->panel)
        for (int64_t c = 0; c < count; c++) {
            const char *from = s->weight + (g * s->w_group + o * s->w_row
                + (first + c) * s->w_channel) * s->size;
            int valid = (int)la_conv_lesser(s->panel, s->oc - o);
            if (t->taps == 1) {
                s->ker->pack(weights_at(t, only, g, b, o), from, 1,
                             s->w_channel, valid, (int)s->panel, count);
                break;
            }
            s->ker->pack(lines, from, s->w_row, 1, valid, (int)s->panel,
                         t->taps);
            for (int64_t n = 0; n < t->count; n++) {
                const phase *p = &t->phases[n];
                char *to = weights_at(t, p, g, b, o) + c * p->taps * line;
                for (int64_t i = 0; i < p->taps; i++)
                    memcpy(to + i * line, lines + tap_of(t, p, i) * line,
                           (size_t)line);
            }
        }
}

/* ---- the work ---- */

/* The task in hand: a band, and a block of y's channels. */
typedef struct unit {
    la_conv_unit p;
    int64_t block, count;    /* of y's channels */
    char *rows, *parts;
} unit;

/* Positions of x along dim d with remainder r: of n from 'first' on, how many
** exist. */
static int64_t strided_positions(const strided *t, int d, int64_t r,
                                 int64_t first, int64_t n)
{
    int64_t all = la_conv_ceil_div(t->w[d].in - r, t->w[d].stride) - first;
    return all < 0 ? 0 : la_conv_lesser(all, n);
}

/* Arguments that all calls of the kernel for a phase share. */
static la_conv_tiles tiles_of(const strided *t, const unit *u, const phase *p,
                              int64_t o)
{
    const la_conv_plan *s = &t->s;
    return (la_conv_tiles){
        .k = u->count * p->taps, .m = s->oc, .panel = s->panel,
        .weights = weights_at(t, p, u->p.g, u->block, o), .source = u->rows,
        .shift = s->shift + s->channels * p->before, .row_step = s->pitch,
        .rows = u->p.rows, .cols = u->p.cols, .first = true,
        .triples = p->a[2]->taps == 3 && p->a[2]->step == 1};
}

/* The kernel's form was chosen by the plan. */
static void strided_multiply(const la_conv_plan *s, const la_conv_tiles *m)
{
    if (s->lanes) s->ker->channels(m);
    else s->ker->tiles(m);
}

/* The address of a phase's first position in x. */
static char *x_at(const strided *t, const unit *u, int64_t o,
                  const int64_t r[3])
{
    const la_conv_plan *s = &t->s;
    const int64_t *step = s->dst_step;
    return s->dst + (u->p.n * step[0] + (u->p.g * s->oc + o) * step[1]
                     + (u->p.d * t->w[0].stride + r[0]) * step[2]
                     + (u->p.row * t->w[1].stride + r[1]) * step[3]
                     + (u->p.col * t->w[2].stride + r[2]) * step[4]) * s->size;
}

/* One phase, stored straight into x with the stride's steps. */
static void run_phase(const strided *t, const unit *u, const phase *p,
                      const int64_t r[3])
{
    const la_conv_plan *s = &t->s;
    la_conv_tiles m = tiles_of(t, u, p, 0);
    m.rows = strided_positions(t, 1, r[1], u->p.row, u->p.rows);
    m.cols = strided_positions(t, 2, r[2], u->p.col, u->p.cols);
    if (m.rows == 0 || m.cols == 0) return;
    m.out = x_at(t, u, 0, r);
    m.out_channel = s->dst_step[1];
    m.out_row = s->dst_step[3] * t->w[1].stride;
    m.out_col = s->dst_step[4] * t->w[2].stride;
    m.first = u->block == 0;
    strided_multiply(s, &m);
}

/* The phases from 'p' on that share rows of x: computed into parts, then
** interleaved into x. */
static void run_interleaved(const strided *t, const unit *u, const phase *p,
                            const int64_t r[3])
{
    const la_conv_plan *s = &t->s;
    int64_t steps = t->w[2].stride, channel = u->p.rows * t->line;
    la_conv_interleave v = {
        .parts = steps, .part = t->group * channel, .channel = channel,
        .row = t->line, .source = u->parts, .first = u->block == 0,
        .rows = strided_positions(t, 1, r[1], u->p.row, u->p.rows),
        .cols = la_conv_lesser(u->p.cols * steps,
                               t->w[2].in - u->p.col * steps),
        .out_channel = s->dst_step[1],
        .out_row = s->dst_step[3] * t->w[1].stride};
    if (v.rows == 0) return;
    for (int64_t o = 0; o < s->oc; o += t->group) {
        v.channels = la_conv_lesser(t->group, s->oc - o);
        v.out = x_at(t, u, o, r);
        for (int64_t i = 0; i < steps; i++) {
            la_conv_tiles m = tiles_of(t, u, p + i, o);
            m.m = v.channels;
            m.cols = s->lanes ? u->p.cols : t->line;
            m.out = u->parts + i * v.part * s->size;
            m.out_channel = channel;
            m.out_row = t->line;
            m.out_col = 1;
            strided_multiply(s, &m);
        }
        s->ker->interleave(&v);
    }
}

/* All phases of one band, block of channels by block. */
static void strided_run_unit(const strided *t, char *scratch, int64_t index)
{
    const la_conv_plan *s = &t->s;
    const la_window *w = t->w;
    unit u = {.p = la_conv_plan_unit(s, index), .rows = scratch,
              .parts = scratch + s->scratch_bytes};
    for (; u.block < s->blocks; u.block++) {
        int64_t first = u.block * s->channels;
        u.count = la_conv_lesser(s->channels, s->ic - first);
        la_conv_plan_copy(s, scratch, &u.p, first, u.count);
        for (int64_t n = 0; n < t->count;
             n += t->interleaved ? w[2].stride : 1) {
            int64_t r[3] = {n / w[2].stride / w[1].stride,
                            n / w[2].stride % w[1].stride, n % w[2].stride};
            /* The last planes of x may lack some remainders. */
            if (strided_positions(t, 0, r[0], u.p.d, 1) == 0) continue;
            if (t->interleaved) run_interleaved(t, &u, &t->phases[n], r);
            else run_phase(t, &u, &t->phases[n], r);
        }
    }
}

typedef struct job {
    const strided *t;
    char *scratch;
} job;

/* Tasks begin..end - 1, as in direct.c. */
static void strided_run_tasks(int64_t begin, int64_t end, void *context)
{
    const job *j = context;
    const la_conv_plan *s = &j->t->s;
    for (int64_t k = begin; k < end; k++) {
        char *scratch = j->scratch + (size_t)k * j->t->task_bytes;
        int64_t u = s->units * k / s->tasks;
        int64_t last = s->units * (k + 1) / s->tasks;
        if (s->same_border) memset(scratch, 0, s->scratch_bytes);
        for (; u < last && !la_interrupted(); u++) strided_run_unit(j->t,
                                                                    scratch, u);
    }
}

/* One allocation: packed weights, offsets, lines of taps, scratch of each
** task. */
static la_status strided_run(const la_conv *c, la_conv_goal goal)
{
    strided t;
    (void)goal;                 /* the gradient of x alone is served */
    strided_plan_make(&t, c);
    la_conv_plan *s = &t.s;
    size_t bytes = s->packed_bytes + s->shift_bytes + t.tap_bytes
        + t.task_bytes * (size_t)s->tasks;
    char *block = la_mem_alloc(bytes);
    if (!block) return LA_ENOMEM;
    s->packed = block;
    s->shift = (int64_t *)(block + s->packed_bytes);
    char *lines = block + s->packed_bytes + s->shift_bytes;
    job j = {&t, lines + t.tap_bytes};
    find_shifts(&t);
    for (int64_t i = 0; i < s->groups * s->blocks; i++)
        strided_pack_block(&t, i / s->blocks, i % s->blocks, lines);
    la_status status = la_iter_items(s->tasks, 1, 1, strided_run_tasks, &j);
    la_mem_free(block, bytes);
    return status;
}

const la_conv_method la_conv_strided = {strided_serves, strided_run};
