/*
** Which method computes a convolution? The first of the table that serves the
** case: special shapes before the general, and last the one that serves all.
*/
#include "op/conv/engine.h"

#include <string.h>

/* Products first where no columns need to be built (one tap, one window), then
** the methods that read rows in place, last the columns. */
static const la_conv_method *const methods[] = {
    &la_conv_one_tap, &la_conv_one_window, &la_conv_depthwise,
    &la_conv_gathered, &la_conv_direct, &la_conv_strided, &la_conv_weight_sums,
    &la_conv_weight_swapped, &la_conv_columns};

/* Has y no element: no image, no output channel or no output pixel? */
static bool is_y_empty(const la_conv *c)
{
    return c->batch == 0 || c->groups == 0 || c->oc == 0
        || la_conv_pixels(c) == 0;
}

/* The results of sums over nothing. The columns know the strides of x and y: x
** is cleared, y becomes the bias. */
static la_status run_empty(const la_conv *c, la_conv_goal goal)
{
    size_t size = la_dtype_size(c->dtype);
    int64_t count = c->groups * c->oc * c->ic * la_conv_taps(c);
    if (goal != LA_CONV_WEIGHT) return la_conv_columns.run(c, goal);
    memset(c->weight, 0, (size_t)count * size);
    return LA_OK;
}

/* Has the result an element at all? */
static bool has_result(const la_conv *c, la_conv_goal goal)
{
    if (goal == LA_CONV_FORWARD) return !is_y_empty(c);
    if (goal == LA_CONV_INPUT) return c->batch > 0 && c->ic * c->groups > 0;
    return c->groups * c->oc * c->ic * la_conv_taps(c) > 0;
}

/* One element in the last dim, seen by one tap. */
static bool is_narrow(const la_conv *c)
{
    const la_window *w = &c->w[2];
    return w->in == 1 && w->out == 1 && w->kernel == 1 && w->pad == 0;
}

/* The dims in front move behind, where the last one has size 1: methods
** run along the last, and columns of sound or text are images of width 1. */
static la_conv without_narrow(const la_conv *c)
{
    la_conv t = *c;
    for (int k = 0; k < 2 && is_narrow(&t); k++) {
        for (int d = 2; d > 0; d--) {
            t.w[d] = t.w[d - 1];
            t.x_step[2 + d] = t.x_step[1 + d];
            t.y_step[2 + d] = t.y_step[1 + d];
        }
        t.w[0] = (la_window){1, 1, 1, 1, 0, 1};
        t.x_step[2] = t.y_step[2] = 0;
    }
    return t;
}

/* The last method of the table serves everything, so the search ends. */
la_status la_conv_run(const la_conv *given, la_conv_goal goal)
{
    const la_conv_method *const *m = methods;
    if (!has_result(given, goal)) return LA_OK;
    if (given->ic == 0 || is_y_empty(given)) return run_empty(given, goal);
    la_conv wide, *c = &wide;
    wide = without_narrow(given);
    while (!(*m)->serves(c, goal)) m++;
    return (*m)->run(c, goal);
}
