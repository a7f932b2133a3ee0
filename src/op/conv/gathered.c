/*
** Convolutions of few output pixels, such as the frames of a sound that just
** came in: the weights would be packed for hardly any use. A line of all taps
** is gathered for each pixel, and the weights are read where they lie, as the
** rows of a product whose sums run along contiguous lines.
*/
#include "op/conv/method.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "op/matmul/gemm.h"

#define MOST_PIXELS 8       /* of an image, */
#define MOST_IMAGES 2       /* of so many images: more pay for a packing */
#define LEAST_WEIGHTS 1024
#define LEAST_TAPS 32       /* of a pixel: a shorter sum is no long line */

static bool gathered_serves(const la_conv *c, la_conv_goal goal)
{
    int64_t lines = c->ic * la_conv_taps(c);
    return goal == LA_CONV_FORWARD
        && (c->dtype == LA_FLOAT32 || c->dtype == LA_FLOAT64)
        && c->batch <= MOST_IMAGES && la_conv_pixels(c) <= MOST_PIXELS
        && lines >= LEAST_TAPS && lines * c->oc >= LEAST_WEIGHTS
        && lines * MOST_PIXELS * 8 <= LA_CONV_SCRATCH
        && c->w[0].out == 1 && c->w[1].out == 1;
}

/* Taps first..last-1 of a window whose first tap is element 'at' lie inside. */
static void gathered_inside(const la_window *w, int64_t at, int64_t *first,
                            int64_t *last)
{
    *first = at < 0 ? (-at + w->dilation - 1) / w->dilation : 0;
    *last = at >= w->in ? 0 : (w->in - at + w->dilation - 1) / w->dilation;
    if (*last > w->kernel) *last = w->kernel;
    if (*first > *last) *first = *last;
}

/* The taps of one output column that lie inside, dim by dim, and where its
** first tap is, in elements from the image's first. */
typedef struct gathered_reach {
    int64_t first[3], last[3], at;
} gathered_reach;

static gathered_reach gathered_reach_of(const la_conv *c, int64_t x)
{
    gathered_reach r = {.at = 0};
    for (int d = 0; d < 3; d++) {
        const la_window *w = &c->w[d];
        int64_t at = (d == 2 ? x * w->stride : 0) - w->pad;
        gathered_inside(w, at, &r.first[d], &r.last[d]);
        r.at += at * c->x_step[2 + d];
    }
    return r;
}

/* n elements that lie 'step' elements apart, as a line. */
static void gathered_copy(char *to, const char *from, int64_t n, int64_t step,
                          int64_t size)
{
    if (size == 4)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * 4, from + i * step * 4, 4);
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * 8, from + i * step * 8, 8);
}

/* The taps of one channel for the output column of 'r'. */
static void gathered_channel(const la_conv *c, char *to, const char *from,
                             const gathered_reach *r)
{
    const la_window *w = c->w;
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    int64_t n = r->last[2] - r->first[2], step = c->x_step[4] * w[2].dilation;
    for (int64_t d = r->first[0]; d < r->last[0]; d++)
        for (int64_t k = r->first[1]; k < r->last[1]; k++) {
            int64_t offset = r->at + d * w[0].dilation * c->x_step[2]
                + k * w[1].dilation * c->x_step[3] + r->first[2] * step;
            int64_t tap = (d * w[1].kernel + k) * w[2].kernel + r->first[2];
            gathered_copy(to + tap * size, from + offset * size, n, step, size);
        }
}

/* The lines of one group of one image, zeros where taps lie outside. */
static void gathered_lines(const la_conv *c, int64_t n, int64_t g,
                           char *lines)
{
    int64_t size = (int64_t)la_dtype_size(c->dtype), taps = la_conv_taps(c);
    for (int64_t x = 0; x < c->w[2].out; x++) {
        gathered_reach r = gathered_reach_of(c, x);
        for (int64_t i = 0; i < c->ic; i++, lines += taps * size)
            gathered_channel(c, lines, c->x
                             + (n * c->x_step[0] + (g * c->ic + i)
                                * c->x_step[1]) * size, &r);
    }
}

/* The product of one group of one image. */
static la_status gathered_product(const la_conv *c, int64_t n, int64_t g,
                                  const char *lines)
{
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    la_gemm p;
    la_gemm_init(&p, c->dtype);
    p.m = c->oc;
    p.n = la_conv_pixels(c);
    p.k = c->ic * la_conv_taps(c);
    p.a = (la_gemm_mat){c->weight + g * c->oc * p.k * size, p.k, 1};
    p.b = (la_gemm_mat){(char *)lines, 1, p.k};
    p.out = (la_gemm_mat){c->y + (n * c->y_step[0]
                                  + g * c->oc * c->y_step[1]) * size,
                          c->y_step[1], c->y_step[4]};
    if (c->bias)
        p.bias = (la_gemm_mat){(char *)c->bias + g * c->oc * size, 1, 0};
    return la_gemm_run(&p);
}

static la_status gathered_run(const la_conv *c, la_conv_goal goal)
{
    (void)goal;
    size_t bytes = (size_t)(c->ic * la_conv_taps(c) * la_conv_pixels(c))
        * la_dtype_size(c->dtype);
    char *lines = la_mem_alloc(bytes);
    if (!lines) return LA_ENOMEM;
    la_status status = LA_OK;
    for (int64_t n = 0; n < c->batch && !status; n++)
        for (int64_t g = 0; g < c->groups && !status; g++) {
            memset(lines, 0, bytes);
            gathered_lines(c, n, g, lines);
            status = gathered_product(c, n, g, lines);
        }
    la_mem_free(lines, bytes);
    return status;
}

const la_conv_method la_conv_gathered = {gathered_serves, gathered_run};
