/*
** The formula of borders that are made of the tensor itself: dim by dim, the
** gradient of a border is added where its elements came from.
*/
#include "grad/back_pad.h"

#include <string.h>

#include "tensor/shape.h"

enum { SELF, PAD, MODE };

/* Zeros around dim d; negative numbers cut. */
static la_status widen(la_tensor *t, int d, int64_t before, int64_t after,
                       la_tensor **out)
{
    int64_t pads[2 * LA_MAX_DIMS] = {0};
    int n = 2 * (t->ndim - d);
    pads[n - 2] = before;
    pads[n - 1] = after;
    return la_run(constant_pad_nd, out, LA_T(t), LA_IS(pads, n));
}

/* One dim: 'size' elements, 'before' and 'after' are its two numbers. */
typedef struct side {
    int dim;
    int64_t size, before, after;
    bool reflect, replicate;
} side;

/* What n elements of g from 'first' on give to the 'size' elements. */
static la_status border(const side *s, la_tensor *g, int64_t first, int64_t n,
                        bool behind, la_tensor **out)
{
    int64_t d = s->dim;
    LA_OWNED part = NULL;
    LA_OWNED turned = NULL;
    LA_TRY(la_run(narrow, &part, LA_T(g), LA_I(d), LA_I(first), LA_I(n)));
    if (s->reflect) {
        int64_t room = s->size - 1 - n;
        LA_TRY(la_run(flip, &turned, LA_T(part), LA_IS(&d, 1)));
        return widen(turned, s->dim, behind ? room : 1, behind ? 1 : room, out);
    }
    if (s->replicate) {
        LA_TRY(la_run(sum, &turned, LA_T(part), LA_IS(&d, 1), LA_B(true)));
        n = 1;
    } else {
        turned = la_tensor_retain(part);
        behind = !behind;
    }
    return widen(turned, s->dim, behind ? s->size - n : 0,
                 behind ? 0 : s->size - n, out);
}

static la_status add_border(const side *s, la_tensor *g, int64_t first,
                            int64_t n, bool behind, la_tensor **sum)
{
    LA_OWNED part = NULL;
    la_tensor *next = NULL;
    if (n <= 0) return LA_OK;
    LA_TRY(border(s, g, first, n, behind, &part));
    LA_TRY(la_run(add, &next, LA_T(*sum), LA_T(part)));
    la_tensor_release(*sum);
    *sum = next;
    return LA_OK;
}

static la_status one_dim(const side *s, la_tensor *g, la_tensor **out)
{
    int64_t n = s->size + s->before + s->after;
    LA_OWNED sum = NULL;
    LA_TRY(widen(g, s->dim, -s->before, -s->after, &sum));
    LA_TRY(add_border(s, g, 0, s->before, false, &sum));
    LA_TRY(add_border(s, g, n - s->after, s->after, true, &sum));
    *out = sum;
    sum = NULL;
    return LA_OK;
}

static la_status all_dims(la_formula *x, la_tensor *g, la_tensor **out)
{
    la_value pads = VAL(PAD), mode = VAL(MODE), sizes = SIZES(SELF);
    LA_OWNED now = la_tensor_retain(g);
    for (int64_t k = 0; k + 1 < pads.ints.n; k += 2) {
        int d = g->ndim - 1 - (int)(k / 2);
        side s = {d, sizes.ints.list[d], pads.ints.list[k],
                  pads.ints.list[k + 1], la_str_is(&mode, "reflect"),
                  la_str_is(&mode, "replicate")};
        la_tensor *next = NULL;
        if (s.before == 0 && s.after == 0) continue;
        LA_TRY(one_dim(&s, now, &next));
        la_tensor_release(now);
        now = next;
    }
    *out = la_tensor_retain(now);
    return LA_OK;
}

la_tensor *la_x_border_pad(la_formula *x)
{
    la_tensor *g = G, *out = NULL;
    if (x->status) return NULL;
    la_status status = all_dims(x, g, &out);
    return status ? la_x_fail(x, status) : la_x_own(x, out);
}
