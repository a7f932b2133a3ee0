/*
** The gradient of the weight for kernels of many taps, float32 and float64: the
** convolution of x with the gradient of y as its kernel. Images and channels of
** x are exchanged, the taps of the weight are its pixels, and stride and
** dilation are swapped:
**
**   weight[o, c, t] = sum over n, p of y[n, o, p] * x[n, c, p*s + t*d - pad]
*/
#include "op/conv/method.h"

#include <string.h>

#include "base/runtime/memory.h"

/* The convolution of one group; its kernel, 'y' by channels, then images, then
** pixels, is still to be set. */
static la_conv swapped(const la_conv *c)
{
    int64_t taps = la_conv_taps(c);
    la_conv s = {.dtype = c->dtype, .batch = c->ic, .groups = 1,
                 .ic = c->batch, .oc = c->oc, .x = c->x, .y = c->weight,
                 .weight = c->y};
    memcpy(s.x_step, c->x_step, sizeof s.x_step);
    s.x_step[0] = c->x_step[1];
    s.x_step[1] = c->x_step[0];
    s.y_step[0] = taps;
    s.y_step[1] = c->ic * taps;
    s.y_step[2] = c->w[1].kernel * c->w[2].kernel;
    s.y_step[3] = c->w[2].kernel;
    s.y_step[4] = 1;
    for (int d = 0; d < 3; d++) {
        const la_window *w = &c->w[d];
        s.w[d] = (la_window){w->in, w->kernel, w->out, w->dilation, w->pad,
                             w->stride};
    }
    return s;
}

/* Exactly where the direct method serves; methods that are quicker for few taps
** are asked before. */
static bool weight_swapped_serves(const la_conv *c, la_conv_goal goal)
{
    if (goal != LA_CONV_WEIGHT || c->ic == 0) return false;
    la_conv s = swapped(c);
    return la_conv_direct.serves(&s, LA_CONV_FORWARD);
}

/* Bytes of y in one group. */
static size_t y_bytes(const la_conv *c)
{
    return (size_t)(c->oc * c->batch * la_conv_pixels(c))
        * la_dtype_size(c->dtype);
}

/* Does y of a group lie as its kernel should? */
static bool is_kernel(const la_conv *c)
{
    int64_t pixels = la_conv_pixels(c);
    return c->batch == 1 && (c->y_step[4] == 1 || pixels == 1)
        && (c->oc == 1 || c->y_step[1] == pixels);
}

/* Pixels of one image are one run whose elements are y_step[4] apart. */
static void copy_y(const la_conv *c, int64_t g, char *to)
{
    int64_t size = (int64_t)la_dtype_size(c->dtype), pixels = la_conv_pixels(c);
    for (int64_t o = 0; o < c->oc; o++)
        for (int64_t n = 0; n < c->batch; n++) {
            const char *from = c->y + (n * c->y_step[0]
                + (g * c->oc + o) * c->y_step[1]) * size;
            int64_t step = c->y_step[4] * size, run = step == size ? pixels : 1;
            for (int64_t p = 0; p < pixels; p += run, to += run * size)
                memcpy(to, from + p * step, (size_t)(run * size));
        }
}

/* Group after group. */
static la_status weight_swapped_run(const la_conv *c, la_conv_goal goal)
{
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    la_conv s = swapped(c);
    size_t bytes = is_kernel(c) ? 0 : y_bytes(c);
    la_status status = LA_OK;
    (void)goal;                 /* the gradient of the weight alone */
    if (bytes && !(s.weight = la_mem_alloc(bytes))) return LA_ENOMEM;
    for (int64_t g = 0; g < c->groups && !status; g++) {
        s.x = c->x + g * c->ic * c->x_step[1] * size;
        s.y = c->weight + g * c->oc * c->ic * la_conv_taps(c) * size;
        if (bytes) copy_y(c, g, s.weight);
        else s.weight = c->y + g * c->oc * c->y_step[1] * size;
        status = la_conv_direct.run(&s, LA_CONV_FORWARD);
    }
    if (bytes) la_mem_free(s.weight, bytes);
    return status;
}

const la_conv_method la_conv_weight_swapped =
    {weight_swapped_serves, weight_swapped_run};
