/*
** Convolutions of bytes. The windows of 64 pixels are packed at a time, out of
** an image that has its padding, and multiplied by all rows of weights.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/conv/conv.h"
#include "op/move/copy.h"
#include "op/nn/integer.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/quantize.def"
#include "op/call.h"
#include "op/impls.h"

/* integer_conv2d(self, weight, self_zero, weight_zero, stride, padding,
** dilation, groups) */
enum { SELF, WEIGHT, SELF_ZERO, WEIGHT_ZERO, STRIDE, PADDING, DILATION,
       GROUPS };

/* Sizes and steps of both dims; pads in front and behind. */
typedef struct window {
    int64_t in[2], kernel[2], stride[2], dilation[2], before[2], padded[2],
        out[2];
} window;

/* List argument k for both dims: one number stands for both. */
static la_status pair_of(const la_frame *f, int k, int64_t least, int64_t *to)
{
    int64_t n = f->args[k].ints.n;
    for (int d = 0; d < 2 && n >= 1 && n <= 2; d++) {
        to[d] = f->args[k].ints.list[n > 1 ? d : 0];
        if (to[d] < least || to[d] > INT32_MAX) n = 0;
    }
    if (n == 1 || n == 2) return LA_OK;
    return la_error_at(LA_EARG, k + 1, "one or two numbers from %lld on "
                       "expected", (long long)least);
}

/* Pads of each side, (above, left, below, right), or as other lists. */
static la_status pads_of(const la_frame *f, window *w, int64_t *after)
{
    const la_value *v = &f->args[PADDING];
    if (v->ints.n != 4) {
        LA_TRY(pair_of(f, PADDING, 0, w->before));
        memcpy(after, w->before, sizeof w->before);
        return LA_OK;
    }
    for (int d = 0; d < 4; d++)
        if (v->ints.list[d] < 0 || v->ints.list[d] > INT32_MAX)
            return la_error_at(LA_EARG, PADDING + 1, "pads from 0 on expected");
    memcpy(w->before, v->ints.list, sizeof w->before);
    memcpy(after, v->ints.list + 2, sizeof w->before);
    return LA_OK;
}

/* The lists of a call for both dims; windows must fit. */
static la_status window_of(const la_frame *f, window *w)
{
    const la_tensor *x = la_arg(f, SELF), *k = la_arg(f, WEIGHT);
    int64_t after[2];
    LA_TRY(pair_of(f, STRIDE, 1, w->stride));
    LA_TRY(pair_of(f, DILATION, 1, w->dilation));
    LA_TRY(pads_of(f, w, after));
    for (int d = 0; d < 2; d++) {
        int64_t span;
        w->in[d] = la_sizes(x)[2 + d];
        w->kernel[d] = la_sizes(k)[2 + d];
        if (w->kernel[d] < 1
            || !la_add_ok(w->in[d], w->before[d] + after[d], &w->padded[d])
            || !la_mul_ok(w->kernel[d] - 1, w->dilation[d], &span)
            || span >= w->padded[d])
            return la_error_at(LA_ESHAPE, WEIGHT + 1, "windows of %lld do not "
                               "fit into %lld with padding",
                               (long long)w->kernel[d], (long long)w->in[d]);
        w->out[d] = (w->padded[d] - span - 1) / w->stride[d] + 1;
    }
    return LA_OK;
}

/* The windows of a call whose operands fit. */
static la_status check_conv(const la_frame *f, window *w)
{
    const la_tensor *x = la_arg(f, SELF), *k = la_arg(f, WEIGHT);
    int64_t groups = la_arg_int(f, GROUPS);
    LA_TRY(la_check_bytes(f, SELF));
    LA_TRY(la_check_bytes(f, WEIGHT));
    if (x->ndim != 4 || k->ndim != 4 || groups < 1
        || la_sizes(x)[1] % groups || la_sizes(k)[0] % groups
        || la_sizes(k)[1] != la_sizes(x)[1] / groups)
        return la_error_at(LA_ESHAPE, WEIGHT + 1, "images (n, c, h, w) and "
                           "weights (o, c / groups, h, w) expected, with %lld "
                           "groups", (long long)groups);
    LA_TRY(la_check_zero(f, SELF_ZERO, SELF, 1));
    LA_TRY(la_check_zero(f, WEIGHT_ZERO, WEIGHT, la_sizes(k)[0]));
    return window_of(f, w);
}

la_status la_meta_integer_conv2d(la_frame *f)
{
    window w;
    LA_TRY(check_conv(f, &w));
    return la_set_output(f, 0, 4, (int64_t[4]){la_sizes(la_arg(f, SELF))[0],
        la_sizes(la_arg(f, WEIGHT))[0], w.out[0], w.out[1]}, NULL, LA_INT32);
}

enum { STRIP = 4 * LA_BYTES_COLUMNS };

typedef struct conv {
    window w;
    la_bytes_block block;     /* of the first group; m: rows of a group */
    uint8_t *image;           /* with padding, and 16 bytes behind */
    int64_t *taps;
    int64_t k, pixels, strips, groups, plane, channels;  /* of a group */
    uint8_t fill, flip;
} conv;

/* The offsets of the pixels from 'at' on, and the runs that they are. */
static void column_offsets(const conv *c, int64_t at, la_bytes_image *g)
{
    const window *w = &c->w;
    for (int j = 0; j < LA_BYTES_COLUMNS; j++) {
        int64_t y = (at + j) / w->out[1], x = (at + j) % w->out[1];
        g->at[j] = at + j >= c->pixels ? g->at[j - 1] + 1
            : y * w->stride[0] * w->padded[1] + x * w->stride[1];
    }
    int j = 1;
    while (j < LA_BYTES_COLUMNS && g->at[j] == g->at[j - 1] + 1) j++;
    g->first = j;
    for (j++; j < LA_BYTES_COLUMNS && g->at[j] == g->at[j - 1] + 1;) j++;
    g->two_runs = j >= LA_BYTES_COLUMNS;
}

/* The windows of STRIP pixels of a group, times its weights. */
static la_status conv_unit(void *context, int64_t unit, char *scratch)
{
    const conv *c = context;
    const la_bytes_kernels *ker = la_bytes_kernels_here();
    int64_t group = unit / c->strips, at = unit % c->strips * STRIP;
    la_bytes_block g = c->block;
    la_bytes_image from = {.base = c->image + group * c->channels * c->plane,
                           .taps = c->taps, .k = c->k};
    g.n = c->pixels - at < STRIP ? c->pixels - at : STRIP;
    uint8_t *panel = (uint8_t *)scratch;
    g.b = panel;
    for (int64_t p = 0; p < g.n; p += LA_BYTES_COLUMNS) {
        column_offsets(c, at + p, &from);
        ker->pack_image(panel, &from);
        panel += la_bytes_panel(g.quads);
    }
    g.a = (const char *)g.a + group * g.m * la_bytes_row_size(g.quads);
    g.a_zero += group * g.m;
    g.rest += group * g.m;
    g.out += group * g.m * c->pixels + at;
    ker->block(&g);
    return LA_OK;
}

/* An image with its padding; 'x' is contiguous. */
static void pad_image(const conv *c, const uint8_t *x)
{
    const window *w = &c->w;
    int64_t n = c->groups * c->channels;
    memset(c->image, c->fill, (size_t)(n * c->plane + LA_BYTES_COLUMNS));
    for (int64_t i = 0; i < n; i++) {
        uint8_t *to = c->image + i * c->plane + w->before[0] * w->padded[1]
            + w->before[1];
        for (int64_t y = 0; y < w->in[0]; y++, x += w->in[1],
             to += w->padded[1])
            for (int64_t j = 0; j < w->in[1]; j++) to[j] = x[j] ^ c->flip;
    }
}

/* The offset of each k = (channel, row, column) of a window. */
static void find_taps(const conv *c)
{
    const window *w = &c->w;
    for (int64_t p = 0; p < c->k; p++) {
        int64_t area = w->kernel[0] * w->kernel[1], at = p % area;
        c->taps[p] = p / area * c->plane
            + at / w->kernel[1] * w->dilation[0] * w->padded[1]
            + at % w->kernel[1] * w->dilation[1];
    }
}

/* Scratch of a call: zero points, taps, rows of weights, the image. */
typedef struct parts {
    int64_t outputs, rows, image, bytes;
} parts;

/* False where they overflow. */
static bool count_bytes(const conv *c, const la_tensor *weight, parts *p)
{
    p->outputs = la_sizes(weight)[0];
    return la_mul_ok(c->w.padded[0], c->w.padded[1], &p->image)
        && la_mul_ok(p->image, c->groups * c->channels, &p->image)
        && la_mul_ok(p->outputs, la_bytes_row_size(c->block.quads) + 8,
                     &p->rows)
        && la_add_ok(p->rows, p->image, &p->bytes)
        && la_add_ok(p->bytes, 8 * c->k + 4 * STRIP + LA_BYTES_COLUMNS,
                     &p->bytes);
}

/* Weights become rows once, for all images; 'memory' holds p->bytes. */
static la_status run_conv(la_frame *f, conv *c, const la_tensor *x,
                          const la_tensor *weight, char *memory,
                          const parts *p)
{
    la_bytes_block *g = &c->block;
    c->taps = (int64_t *)(void *)memory;
    int32_t *a_zero = (int32_t *)(void *)(c->taps + c->k);
    int32_t *rest = a_zero + p->outputs, *b_zero = rest + p->outputs;
    uint8_t *rows = (uint8_t *)(b_zero + STRIP);
    c->image = rows + p->outputs * la_bytes_row_size(g->quads);
    find_taps(c);
    g->a_zero = a_zero;
    g->b_zero = b_zero;
    la_read_zeros(la_arg(f, WEIGHT_ZERO), weight, false, p->outputs, a_zero);
    la_read_zeros(la_arg(f, SELF_ZERO), x, true, STRIP, b_zero);
    int64_t m = g->m;
    g->m = p->outputs;
    la_bytes_rows(g, rows, rest, (const uint8_t *)la_data(weight), c->k, 1,
                  c->k, weight->dtype == LA_INT8 ? 128 : 0);
    g->m = m;
    c->fill = (uint8_t)b_zero[0];
    int64_t work = c->k * STRIP * m;
    la_unit_plan plan = {conv_unit, (1 << 21) / (work + 1) + 1,
        (size_t)(STRIP / LA_BYTES_COLUMNS * la_bytes_panel(g->quads))};
    const uint8_t *from = (const uint8_t *)la_data(x);
    for (int64_t i = 0; i < la_sizes(x)[0]; i++) {
        pad_image(c, from);
        LA_TRY(la_iter_units(c->groups * c->strips, &plan, c));
        from += c->groups * c->channels * c->w.in[0] * c->w.in[1];
        g->out += p->outputs * c->pixels;
    }
    return LA_OK;
}

la_status la_impl_integer_conv2d(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    conv c = {.groups = la_arg_int(f, GROUPS)};
    parts p;
    LA_TRY(check_conv(f, &c.w));
    if (out->numel == 0) return LA_OK;
    LA_LET(x, la_as_contiguous(la_arg(f, SELF), &x));
    LA_LET(weight, la_as_contiguous(la_arg(f, WEIGHT), &weight));
    const int64_t *s = la_sizes(weight);
    c.channels = s[1];
    c.k = s[1] * s[2] * s[3];
    if (c.k == 0) return la_zero_data(out);
    c.plane = c.w.padded[0] * c.w.padded[1];
    c.pixels = c.w.out[0] * c.w.out[1];
    c.strips = (c.pixels + STRIP - 1) / STRIP;
    c.flip = x->dtype == LA_UINT8 ? 128 : 0;
    c.block = (la_bytes_block){.m = s[0] / c.groups, .quads = (c.k + 3) / 4,
        .out = (int32_t *)(void *)la_data(out), .out_step = c.pixels};
    if (!count_bytes(&c, weight, &p))
        return la_error(LA_ENOMEM, "sizes are too large");
    char *memory = la_mem_alloc((size_t)p.bytes);
    if (!memory) return LA_ENOMEM;
    la_status status = run_conv(f, &c, x, weight, memory, &p);
    la_mem_free(memory, (size_t)p.bytes);
    return status;
}
