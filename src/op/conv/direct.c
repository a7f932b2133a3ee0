/*
** Direct convolution of float32 and float64; also the gradient of the input for
** stride 1, as the convolution of the other side with reversed taps.
**
** Rows are copied with their padding (conv_plan.h) and multiplied from there;
** sums run over channels and taps in blocks whose size depends on the kernel's
** shape alone, so the bits don't depend on bands or threads.
*/
#include "op/conv/conv_plan.h"

#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "iter/items.h"

#define NARROW 2            /* rows shorter than this go to the product, */
#define NARROW_LONG 16      /* and with thousands of taps these */

/* Serves neither very narrow images, where copying rows costs more than columns
** do, nor windows that reach too far for the scratch. Kernels of thousands of
** taps need several vectors in a row. */
static bool direct_serves(const la_conv *c, la_conv_goal goal)
{
    bool backward = goal == LA_CONV_INPUT;
    if (goal == LA_CONV_WEIGHT) return false;
    if (!la_conv_kernels_of(c->dtype)) return false;
    int64_t cols = backward ? c->w[2].in : c->w[2].out;
    if (cols < (la_conv_taps(c) > LA_CONV_PART ? NARROW_LONG : NARROW))
        return false;
    for (int d = 0; backward && d < 3; d++)
        if (c->w[d].stride != 1) return false;
    la_window w[3];
    if (backward) la_conv_flip(c, w);
    return la_conv_plan_fits(c, backward ? w : c->w, backward ? c->oc : c->ic);
}

/* Elements of packed weights before block b of group g. */
static int64_t packed_at(const la_conv_plan *s, int64_t g, int64_t b)
{
    int64_t column = la_conv_ceil_div(s->oc, s->panel) * s->panel * s->taps;
    return (g * s->ic + b * s->channels) * column;
}

/* Taps that are summed at a time, of those from 'tap' on. */
static int64_t part_of(const la_conv_plan *s, int64_t tap)
{
    return la_conv_lesser(LA_CONV_PART, s->taps - tap);
}

/* Weights of one channel of more taps than a part has: part after part. */
static void pack_parts(const la_conv_plan *s, char *to, const char *from)
{
    int64_t panel = s->panel, left = la_poll_every(s->oc * s->taps);
    for (int64_t tap = 0; tap < s->taps; tap += LA_CONV_PART) {
        int64_t n = part_of(s, tap);
        const char *at = from + (s->flip ? -tap : tap) * s->size;
        for (int64_t i = 0; i < s->oc; i += panel, to += panel * n * s->size) {
            if (la_poll_run(&left, panel * n)) return;
            s->ker->pack(to, at + i * s->w_row * s->size, s->w_row,
                         s->flip ? -1 : 1,
                         (int)la_conv_lesser(panel, s->oc - i), (int)panel, n);
        }
    }
}

/* Weights of one block of input channels as panels; reversed taps are packed
** channel by channel, since only within a channel is the order reversed. */
static void pack_block(const la_conv_plan *s, int64_t g, int64_t b)
{
    int64_t panel = s->panel, first = b * s->channels;
    int64_t count = la_conv_lesser(s->channels, s->ic - first);
    char *to = s->packed + packed_at(s, g, b) * s->size;
    const char *from = s->weight
        + (g * s->w_group + first * s->w_channel
           + (s->flip ? s->taps - 1 : 0)) * s->size;
    int64_t runs = s->flip ? count : 1, length = count * s->taps / runs;
    int64_t left = la_poll_every(s->oc * count * s->taps);
    if (s->taps > LA_CONV_PART) {
        pack_parts(s, to, from);
        return;
    }
    for (int64_t i = 0; i < s->oc; i += panel) {
        if (la_poll_run(&left, panel * count * s->taps)) return;
        for (int64_t c = 0; c < runs; c++) {
            s->ker->pack(to, from + (i * s->w_row + c * s->w_channel) * s->size,
                         s->w_row, s->flip ? -1 : 1,
                         (int)la_conv_lesser(panel, s->oc - i), (int)panel,
                         length);
            to += panel * length * s->size;
        }
    }
}

/* Blocks begin..end, counted over groups and blocks of channels. */
static void pack_weights(int64_t begin, int64_t end, void *context)
{
    const la_conv_plan *s = context;
    for (int64_t i = begin; i < end; i++)
        pack_block(s, i / s->blocks, i % s->blocks);
}

/* ---- the work ---- */

/* Multiply-adds between two looks at the interruption. */
#define POLLED ((int64_t)1 << 23)

/* So many panels of output channels at a time that a piece is short. */
static void multiply_panels(const la_conv_plan *s, la_conv_tiles *t)
{
    int64_t panel = t->panel, work = t->k * t->rows * t->cols * panel;
    int64_t most = work < POLLED ? POLLED / la_max(work, 1) * panel : panel;
    int64_t all = t->m;
    for (int64_t o = 0, end; (end = la_poll_part(o, all, most)) > o; o = end) {
        t->m = end - o;
        if (s->lanes) s->ker->channels(t);
        else s->ker->tiles(t);
        t->weights = (const char *)t->weights + most * t->k * s->size;
        t->out = (char *)t->out + most * t->out_channel * s->size;
        if (t->bias) t->bias = (const char *)t->bias + most * s->size;
    }
}

/* One block of channels of one unit, or 'k' of its taps from 'tap' on: stores
** at first, adds later. */
static void multiply_block(const la_conv_plan *s, const char *scratch,
                           const la_conv_unit *p, int64_t b, int64_t tap,
                           int64_t k)
{
    const int64_t *step = s->dst_step;
    int64_t line = la_conv_ceil_div(s->oc, s->panel) * s->panel;
    la_conv_tiles t = {
        .k = k, .m = s->oc, .panel = s->panel, .source = scratch,
        .shift = s->shift + tap,
        .weights = s->packed + (packed_at(s, p->g, b) + tap * line) * s->size,
        .row_step = s->w[1].stride * s->pitch, .rows = p->rows,
        .cols = p->cols, .out_channel = step[1],
        /* A single row has no next one; this step says that rows are
        ** contiguous. */
        .out_row = p->rows > 1 ? step[3] : p->cols * step[4],
        .out_col = step[4], .first = b == 0 && tap == 0,
        .triples = s->triples};
    t.out = s->dst + (p->n * step[0] + p->g * s->oc * step[1] + p->d * step[2]
                      + p->row * step[3] + p->col * step[4]) * s->size;
    if (t.first && s->bias) t.bias = s->bias + p->g * s->oc * s->size;
    multiply_panels(s, &t);
}

/* Copies and multiplies block after block; the copied rows stay in the
** cache. */
static void run_unit(const la_conv_plan *s, char *scratch, int64_t unit)
{
    la_conv_unit p = la_conv_plan_unit(s, unit);
    for (int64_t b = 0; b < s->blocks; b++) {
        int64_t first = b * s->channels;
        int64_t count = la_conv_lesser(s->channels, s->ic - first);
        la_conv_plan_copy(s, scratch, &p, first, count);
        if (s->taps <= LA_CONV_PART)
            multiply_block(s, scratch, &p, b, 0, count * s->taps);
        else for (int64_t tap = 0; tap < s->taps; tap += LA_CONV_PART)
            multiply_block(s, scratch, &p, b, tap, part_of(s, tap));
    }
}

/* Zeros of the border are written once where they lie alike in every unit. */
static void run_tasks(int64_t begin, int64_t end, void *context)
{
    const la_conv_plan *s = context;
    for (int64_t t = begin; t < end; t++) {
        char *scratch = s->scratch + (size_t)t * s->scratch_bytes;
        int64_t u = s->units * t / s->tasks, last = s->units * (t + 1)
            / s->tasks;
        if (s->same_border) memset(scratch, 0, s->scratch_bytes);
        for (; u < last && !la_interrupted(); u++) run_unit(s, scratch, u);
    }
}

/* One allocation: packed weights, offsets of taps, scratch of each task. */
static la_status direct_run(const la_conv *c, la_conv_goal goal)
{
    la_conv_plan s;
    la_conv_plan_make(&s, c, goal == LA_CONV_INPUT, false);
    if (s.units == 0 || s.oc == 0) return LA_OK;
    size_t bytes = s.packed_bytes + s.shift_bytes
        + s.scratch_bytes * (size_t)s.tasks;
    char *block = la_mem_alloc(bytes);
    if (!block) return LA_ENOMEM;
    s.packed = block;
    s.shift = (int64_t *)(block + s.packed_bytes);
    s.scratch = block + s.packed_bytes + s.shift_bytes;
    la_conv_plan_shifts(&s);
    pack_weights(0, s.groups * s.blocks, &s);
    la_status status = la_iter_items(s.tasks, 1, 1, run_tasks, &s);
    la_mem_free(block, bytes);
    return status;
}

const la_conv_method la_conv_direct = {direct_serves, direct_run};
