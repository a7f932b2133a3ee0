/*
** Depthwise convolutions: one input and one output channel per group, float32
** and float64, at least LEAST_CHANNELS groups.
**
** Channels lie in the lanes of a vector, so every stride costs the same.
** channels_last operands are used in place; of others a block of channels of
** some rows at a time is transposed into the task's scratch. A unit of work is
** such a band of rows of one plane of an image. Planes of a volume add up what
** each tap along the depth contributes (forward only; its gradients go through
** other methods).
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "iter/items.h"
#include "op/conv/conv_plan.h"

#define BLOCK_BYTES 128     /* channels that are transposed together */
#define BAND_BYTES ((int64_t)192 << 10)
#define LEAST_CHANNELS 8
#define PARTS 8             /* of the batch, each with its own sums */

typedef struct side {       /* one of the two images */
    char *data;
    const int64_t *step;
    const la_window *w;
    bool small;             /* y of the windows */
    bool channels_last;          /* channels are side by side */
} side;

typedef struct depth {
    const la_conv *c;
    const la_conv_kernels *ker;
    const la_depth_kernels *own;
    la_conv_goal goal;
    int64_t size, channels;     /* of all; of a block */
    int64_t block, blocks, band, bands, line;
    bool flip;                  /* weights lie with their taps in reverse */
    side x, y;
    size_t x_bytes, y_bytes, scratch_bytes, weight_bytes, sum_bytes;
    int64_t units, tasks;
    char *weights, *sums, *scratch_of_tasks;
} depth;

/* Rows and columns of one side's planes. */
static int64_t rows_of(const side *s)
{
    return s->small ? s->w[1].out : s->w[1].in;
}

static int64_t cols_of(const side *s)
{
    return s->small ? s->w[2].out : s->w[2].in;
}

/* One row of the written side, and those it needs: below LA_CONV_SCRATCH? */
static bool rows_fit(const la_conv *c)
{
    const la_window *h = &c->w[1], *w = &c->w[2];
    double size = (double)la_dtype_size(c->dtype), bytes = 0;
    double block = la_conv_lesser(c->groups, BLOCK_BYTES / (int64_t)size);
    double reach = (double)(h->kernel - 1) * (double)h->dilation + 1;
    double rows = reach + 1 < (double)h->in ? reach + 1 : (double)h->in;
    if (c->x_step[1] != 1) bytes += rows * (double)w->in;
    if (c->y_step[1] != 1)
        bytes += (reach + 2 < (double)h->out ? reach + 2 : (double)h->out)
            * (double)w->out;
    return bytes * block * size <= (double)LA_CONV_SCRATCH * 3 / 4;
}

/* Channels or columns must be contiguous on both sides. The gradient of x
** needs, in each dim, stride 1 or dilation 1 (the kernel's contract). */
static bool depthwise_serves(const la_conv *c, la_conv_goal goal)
{
    bool floats = c->dtype == LA_FLOAT32 || c->dtype == LA_FLOAT64;
    if (!floats || c->ic != 1 || c->oc != 1 || c->groups < LEAST_CHANNELS)
        return false;
    bool flat = c->w[0].kernel == 1 && c->w[0].in == 1 && c->w[0].out == 1;
    if (goal != LA_CONV_FORWARD && !flat) return false;
    for (int d = 1; d < 3; d++)
        if (goal == LA_CONV_INPUT && c->w[d].stride > 1 && c->w[d].dilation > 1)
            return false;
    return (c->x_step[1] == 1 || c->x_step[4] == 1)
        && (c->y_step[1] == 1 || c->y_step[4] == 1) && rows_fit(c);
}

/* ---- the plan ---- */

/* Rows from..to of side 'of' that meet rows first..last - 1 of the other
** side. */
static void rows_for(const side *of, int64_t first, int64_t last, int64_t *from,
                     int64_t *to)
{
    const la_window *w = &of->w[1];
    int64_t reach = (w->kernel - 1) * w->dilation, end = rows_of(of);
    if (of->small) {
        /* x to y: window p covers x from p * stride - pad on, over 'reach'. */
        int64_t low = first + w->pad - reach;
        *from = low <= 0 ? 0 : (low + w->stride - 1) / w->stride;
        *to = (last - 1 + w->pad) / w->stride + 1;
    } else {
        *from = first * w->stride - w->pad;
        *to = (last - 1) * w->stride - w->pad + reach + 1;
    }
    if (*from < 0) *from = 0;
    if (*to > end) *to = end;
    if (*from > *to) *from = *to;
}

/* The side whose rows are cut into bands. For the weight that is y, which is
** read as well. */
static const side *written_side(const depth *s)
{
    return s->goal == LA_CONV_INPUT ? &s->x : &s->y;
}
/* The side whose rows a band needs. */
static const side *read_side(const depth *s)
{
    return s->goal == LA_CONV_INPUT ? &s->y : &s->x;
}

/* Bytes of the transposed rows of one band; none where channels are
** contiguous. */
static size_t scratch_for(const depth *s, const side *of)
{
    int64_t rows = s->band;
    if (of->channels_last) return 0;
    if (of == read_side(s)) {
        const la_window *w = &of->w[1];
        int64_t reach = (w->kernel - 1) * w->dilation + 1;
        rows = of->small ? s->band / w->stride + reach + 1
                         : (s->band - 1) * w->stride + reach;
        rows = la_conv_lesser(rows, rows_of(of));
    }
    return la_conv_aligned(rows * cols_of(of) * s->block * s->size);
}

/* Everything here follows from sizes and strides alone, so the bits do too. */
static void depthwise_make_plan(depth *s, const la_conv *c, la_conv_goal goal)
{
    int64_t all = c->groups, size = (int64_t)la_dtype_size(c->dtype);
    *s = (depth){.c = c, .goal = goal, .size = size, .channels = all,
                 .ker = la_conv_kernels_of(c->dtype)};
    s->own = c->dtype == LA_FLOAT32 ? LA_STUB(conv_depth_f32)
                                    : LA_STUB(conv_depth_f64);
    s->x = (side){c->x, c->x_step, c->w, false, c->x_step[1] == 1};
    s->y = (side){c->y, c->y_step, c->w, true, c->y_step[1] == 1};
    s->flip = goal == LA_CONV_INPUT && c->w[1].stride == 1
              && c->w[2].stride == 1;
    /* One side transposed is enough to cut channels into blocks: both sides of
    ** a unit must hold the same channels. */
    bool transposed = !s->x.channels_last || !s->y.channels_last;
    s->block = transposed ? la_conv_lesser(all, BLOCK_BYTES / size) : all;
    s->blocks = la_conv_ceil_div(all, s->block);
    int64_t width = cols_of(&s->x) + cols_of(&s->y);
    int64_t most = rows_of(written_side(s)), fit = BAND_BYTES
        / (width * s->block * size);
    s->band = fit < 1 ? 1 : la_conv_lesser(fit, most);
    s->bands = la_conv_ceil_div(most, s->band);
    s->line = la_conv_ceil_div(all, 32) * 32;
    s->x_bytes = scratch_for(s, &s->x);
    s->y_bytes = scratch_for(s, &s->y);
    s->scratch_bytes = s->x_bytes + s->y_bytes;
    int64_t taps = la_conv_taps(c);
    s->weight_bytes = la_conv_aligned(taps * s->line * size);
    s->sum_bytes = goal == LA_CONV_WEIGHT ? s->weight_bytes : 0;
    s->units = c->batch * s->blocks * s->bands * c->w[0].out;
}

/* ---- one unit ---- */

/* One unit: rows first..last of the written side, from..to of the other. */
typedef struct band {
    int64_t n, plane, channel, channels, first, last, from, to;
} band;

/* Units count bands first, then blocks of channels, planes, images. */
static band band_of(const depth *s, int64_t unit)
{
    band b = {.first = unit % s->bands * s->band};
    b.last = la_conv_lesser(b.first + s->band, rows_of(written_side(s)));
    b.channel = unit / s->bands % s->blocks * s->block;
    b.channels = la_conv_lesser(s->block, s->channels - b.channel);
    b.plane = unit / s->bands / s->blocks % s->c->w[0].out;
    b.n = unit / s->bands / s->blocks / s->c->w[0].out;
    rows_for(read_side(s), b.first, b.last, &b.from, &b.to);
    return b;
}

/* The band's first channel in a row. */
static char *depthwise_row_at(const depth *s, const side *of, const band *b,
                              int64_t plane, int64_t row)
{
    return of->data + (b->n * of->step[0] + b->channel * of->step[1]
                       + plane * of->step[2] + row * of->step[3]) * s->size;
}

/* Rows from 'first' on, in place or transposed into 'scratch'. */
static char *load_rows(const depth *s, const side *of, const band *b,
                       int64_t plane, int64_t first, int64_t last,
                       char *scratch)
{
    int64_t cols = cols_of(of), rows = last - first, at_once = 1;
    if (of->channels_last) return depthwise_row_at(s, of, b, plane, first);
    if (of->step[3] == cols) at_once = rows;
    for (int64_t r = 0; r < rows; r += at_once)
        s->ker->pack(scratch + r * cols * s->block * s->size,
                     depthwise_row_at(s, of, b, plane, first + r), of->step[1],
                         1,
                     (int)b->channels, (int)s->block, at_once * cols);
    return scratch;
}

/* The transposed result of a band into the tensor. */
static void store_rows(const depth *s, const side *of, const band *b,
                       const char *scratch)
{
    int64_t cols = cols_of(of), rows = b->last - b->first, at_once = 1;
    if (of->step[3] == cols) at_once = rows;
    for (int64_t r = 0; r < rows; r += at_once)
        s->ker->unpack(depthwise_row_at(s, of, b, b->plane, b->first + r),
                       of->step[1], scratch + r * cols * s->block * s->size,
            s->block, b->channels, at_once * cols);
}

/* Elements from a row, and from a column, to the next. */
static void depthwise_steps_of(const depth *s, const side *of, int64_t *row,
                               int64_t *col)
{
    *col = of->channels_last ? of->step[4] : s->block;
    *row = of->channels_last ? of->step[3] : s->block * cols_of(of);
}

/* The gradient of the input for stride 1 is a convolution with reversed
** taps. */
static void flip_window(la_window *w)
{
    *w = (la_window){w->out, w->in, w->kernel, 1,
                     (w->kernel - 1) * w->dilation - w->pad, w->dilation};
}

/* Adds up what each tap along the depth contributes to the rows of a plane. */
static void depthwise_run_planes(const depth *s, const band *b,
                                 la_conv_depth *k, char *scratch)
{
    const la_window *w = &s->c->w[0];
    int64_t tap = s->c->w[1].kernel * s->c->w[2].kernel * s->line * s->size;
    const char *weights = k->weights;
    for (int64_t t = 0; t < w->kernel; t++) {
        int64_t plane = b->plane * w->stride - w->pad + t * w->dilation;
        if (plane < 0 || plane >= w->in) continue;
        k->in = load_rows(s, read_side(s), b, plane, b->from, b->to, scratch);
        k->weights = weights + t * tap;
        s->own->run(k);
        k->add = true;
    }
    if (k->add) return;
    k->h.kernel = 0;             /* padding alone: no tap, nothing is read */
    k->in = k->out;              /* any valid address */
    s->own->run(k);
}

/* One band, for whichever of the three goals. */
static void depthwise_run_unit(const depth *s, char *scratch, char *sums,
                               int64_t unit)
{
    band b = band_of(s, unit);
    const side *in = read_side(s), *out = written_side(s);
    char *out_scratch = scratch
                        + (in->channels_last  ? 0
                           : in == &s->x ? s->x_bytes
                                         : s->y_bytes);
    la_conv_depth k = {.first = b.first, .last = b.last, .in_first = b.from,
                       .channels = b.channels, .tap_step = s->line,
                       .h = s->c->w[1], .w = s->c->w[2],
                       .back = s->goal == LA_CONV_INPUT};
    if (k.back && s->flip) {
        flip_window(&k.h);
        flip_window(&k.w);
        k.back = false;
    }
    depthwise_steps_of(s, in, &k.in_row, &k.in_col);
    depthwise_steps_of(s, out, &k.out_row, &k.out_col);
    if (s->goal == LA_CONV_WEIGHT) {
        k.in = load_rows(s, in, &b, 0, b.from, b.to, scratch);
        k.out = load_rows(s, out, &b, 0, b.first, b.last, out_scratch);
        k.sums = sums + b.channel * s->size;
        s->own->weight(&k);
        return;
    }
    k.out = out->channels_last ? depthwise_row_at(s, out, &b, b.plane, b.first)
                               : out_scratch;
    k.weights = s->weights + b.channel * s->size;
    if (s->goal == LA_CONV_FORWARD && s->c->bias)
        k.bias = s->c->bias + b.channel * s->size;
    depthwise_run_planes(s, &b, &k, scratch);
    if (!out->channels_last) store_rows(s, out, &b, out_scratch);
}

/* Units of task t. For the weight whole images, whose sums task t keeps. */
static void depthwise_run_tasks(int64_t begin, int64_t end, void *context)
{
    const depth *s = context;
    for (int64_t t = begin; t < end; t++) {
        char *scratch = s->scratch_of_tasks + (size_t)t * s->scratch_bytes;
        int64_t per_image = s->units / s->c->batch, all = s->units;
        int64_t first = all * t / s->tasks, last = all * (t + 1) / s->tasks;
        /* Sums of the weight belong to a part of the batch, which must not
        ** depend on the number of threads. */
        if (s->goal == LA_CONV_WEIGHT) {   /* whole images */
            first = s->c->batch * t / s->tasks * per_image;
            last = s->c->batch * (t + 1) / s->tasks * per_image;
        }
        for (int64_t u = first; u < last && !la_interrupted(); u++)
            depthwise_run_unit(s, scratch, s->sums + (size_t)t * s->sum_bytes,
                               u);
    }
}

/* One allocation: packed weights or sums, then the scratch of each task. */
static la_status depthwise_run(const la_conv *c, la_conv_goal goal)
{
    depth s;
    depthwise_make_plan(&s, c, goal);
    int64_t taps = la_conv_taps(c), threads = la_in_parallel() ? 1
        : la_num_threads();
    int64_t parts = la_max(LA_CONV_SCRATCH / (int64_t)s.weight_bytes, 1);
    s.tasks = goal == LA_CONV_WEIGHT
        ? la_conv_lesser(la_conv_lesser(PARTS, parts), c->batch)
        : la_conv_lesser(threads, s.units);
    size_t sums = s.sum_bytes * (size_t)s.tasks;
    size_t bytes = s.weight_bytes + sums + s.scratch_bytes * (size_t)s.tasks;
    s.weights = la_mem_alloc(bytes);
    if (!s.weights) return LA_ENOMEM;
    char *block = s.weights;
    s.sums = block + s.weight_bytes;
    s.scratch_of_tasks = s.sums + sums;
    if (goal == LA_CONV_WEIGHT) memset(s.sums, 0, sums);
    else s.ker->pack(s.weights, c->weight + (s.flip ? taps - 1 : 0) * s.size,
                     taps, s.flip ? -1 : 1, (int)s.channels, (int)s.line, taps);
    /* Fewer multiplications are not worth waking the threads. */
    double work = (double)(c->batch * s.channels * taps)
        * (double)(c->w[0].out * c->w[1].out * c->w[2].out);
    la_status status = la_iter_items(s.tasks, work < 1e5 ? s.tasks : 1, 1,
                                     depthwise_run_tasks, &s);
    la_conv_sums t = {.taps = taps, .m = s.channels, .line = s.line,
                      .parts = s.tasks, .sums = s.sums, .out = c->weight,
                      .part_step = (int64_t)s.sum_bytes / s.size};
    if (goal == LA_CONV_WEIGHT && !status) s.ker->finish(&t);
    la_mem_free(block, bytes);
    return status;
}

const la_conv_method la_conv_depthwise = {depthwise_serves, depthwise_run};
