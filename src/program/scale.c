/*
** The pass "scale", of fast programs alone: what scales and shifts the channels
** of a convolution becomes a part of its weights, as a batch norm in inference
** does. addcmul(shift, convolution(x, w, b), scale) is the convolution of x
** with w * scale and shift + b * scale, which are kept as other results of
** constants are (keep.c).
**
** Each weight is rounded once more, and each result once less.
*/
#include "program/passes.h"

#include <string.h>

#include "op/families.h"
#include "op/op.h"
#include "op/schema.h"

/* A convolution and the call after it; its operands are views. */
typedef struct scale_case {
    int32_t conv, step;
    int32_t weight, bias, scale, shift;
} scale_case;

/* Arguments of convolution, and of addcmul. */
enum { SCALE_TRANSPOSED = 6, SCALE_VALUE = 3 };

typedef struct scale_use { const la_prog *p; int32_t slot, n; } scale_use;

static void scale_count(void *context, int32_t view)
{
    scale_use *u = context;
    u->n += la_prog_view_at(u->p, view)->slot == u->slot;
}

static const la_tensor *scale_form(const la_prog *p, int32_t view)
{
    return la_prog_view_at(p, view)->form;
}

static la_prog_slot *scale_slot(const la_prog *p, int32_t view)
{
    return la_prog_slot_at(p, la_prog_view_at(p, view)->slot);
}

static bool scale_is_constant(const la_prog *p, int32_t view)
{
    const la_prog_slot *s = scale_slot(p, view);
    if (s->kind == LA_SLOT_STEP) return s->kept;
    if (s->varies || s->written) return false;
    return s->kind == LA_SLOT_CONST || (!s->grad
        && la_prog_object_at(p, s->index)->argument < 0);
}

/* One number for each of the channels, which are dim 1 of 'like'. */
static bool scale_is_channel(const la_tensor *t, const la_tensor *like)
{
    if (t->dtype != like->dtype || t->ndim != like->ndim || t->names
        || t->numel != la_sizes(like)[1] || la_sizes(t)[1] != t->numel)
        return false;
    return la_is_row_major(t) && !(t->flags & (LA_F_CONJ | LA_F_NEG));
}

/* Is the slot of 'view' read by one step alone, and that by 'step'? */
static bool scale_is_private(const la_prog *p, int32_t view, int32_t step)
{
    const la_prog_slot *s = scale_slot(p, view);
    scale_use u = {p, la_prog_view_at(p, view)->slot, 0};
    if (s->escapes || s->kept || s->kind != LA_SLOT_STEP) return false;
    for (int32_t i = s->maker + 1; i < p->steps.n; i++)
        if (i != step && la_prog_runs(la_prog_step_at(p, i)))
            la_prog_reads(p, la_prog_step_at(p, i), scale_count, &u);
    return u.n == 0;
}

/* Do steps between them write what the convolution reads? */
static bool scale_is_quiet(const la_prog *p, const scale_case *c)
{
    const la_prog_step *conv = la_prog_step_at(p, c->conv);
    scale_use u = {p, la_prog_view_at(p, conv->views[0])->slot, 0};
    for (int32_t i = c->conv + 1; i < c->step; i++)
        la_prog_writes(p, la_prog_step_at(p, i), scale_count, &u);
    return u.n == 0;
}

static bool scale_is_call(const la_prog_step *s, const la_op *op)
{
    return s->kind == LA_STEP_CALL && s->op == op && la_prog_runs(s)
        && s->form == LA_FUNCTIONAL && !s->early && !s->kept && !s->nsources
        && s->results[0] >= 0;
}

/* The convolution whose result is argument 'at' of the step, with channels on
** the first dim of a plain weight; LA_PROG_NONE. */
static int32_t scale_conv_of(const la_prog *p, int32_t step, int at)
{
    const la_prog_step *s = la_prog_step_at(p, step);
    if (s->views[at] < 0) return LA_PROG_NONE;
    int32_t i = scale_slot(p, s->views[at])->maker;
    if (i < 0 || i >= step) return LA_PROG_NONE;
    const la_prog_step *conv = la_prog_step_at(p, i);
    if (!scale_is_call(conv, LA_OP(convolution))
        || conv->results[0] != s->views[at] || conv->args[SCALE_TRANSPOSED].b
        || conv->views[0] < 0 || conv->views[1] < 0
        || !scale_is_private(p, s->views[at], step)) return LA_PROG_NONE;
    return i;
}

static bool scale_weights_suit(const la_prog *p, const scale_case *c)
{
    const la_tensor *w = scale_form(p, c->weight);
    if (!scale_is_constant(p, c->weight) || !la_is_row_major(w)
        || (w->dtype != LA_FLOAT32 && w->dtype != LA_FLOAT64)) return false;
    if (c->bias < 0) return true;
    return scale_is_constant(p, c->bias)
        && la_is_row_major(scale_form(p, c->bias));
}

static bool scale_find(const la_prog *p, int32_t step, scale_case *c)
{
    const la_prog_step *s = la_prog_step_at(p, step);
    const la_value *value = &s->args[SCALE_VALUE];
    if (!scale_is_call(s, LA_OP(addcmul)) || s->views[0] < 0
        || value->tag != LA_VSCALAR || value->scalar.re != 1
        || value->scalar.im != 0) return false;
    for (int at = 1; at <= 2; at++) {
        int32_t other = s->views[3 - at];
        *c = (scale_case){.step = step, .scale = other, .shift = s->views[0]};
        if (other < 0 || (c->conv = scale_conv_of(p, step, at)) < 0) continue;
        const la_prog_step *conv = la_prog_step_at(p, c->conv);
        const la_tensor *y = scale_form(p, s->views[at]);
        const la_tensor *z = scale_form(p, s->results[0]);
        c->weight = conv->views[1];
        c->bias = conv->views[2];
        return scale_weights_suit(p, c) && scale_is_channel(
                scale_form(p, other), y)
            && scale_is_channel(scale_form(p, c->shift), y)
            && scale_is_constant(p, other) && scale_is_constant(p, c->shift)
            && y->dtype == z->dtype && la_same_geometry(y, z)
            && scale_is_quiet(p, c);
    }
    return false;
}

/* ---- the new steps ---- */

/* n steps before step 'at', each nothing yet. */
static la_status scale_insert(la_prog *p, int32_t at, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        if (!la_prog_add(&p->steps, sizeof(la_prog_step))) return LA_ENOMEM;
    la_prog_step *from = la_prog_step_at(p, at);
    memmove(from + n, from, sizeof *from * (size_t)(p->steps.n - n - at));
    memset(from, 0, sizeof *from * (size_t)n);
    for (int32_t i = 0; i < p->slots.n; i++)
        if (la_prog_slot_at(p, i)->maker >= at)
            la_prog_slot_at(p, i)->maker += n;
    for (int32_t i = 0; i < p->views.n; i++)
        if (la_prog_view_at(p, i)->step >= at)
            la_prog_view_at(p, i)->step += n;
    for (int32_t k = 0; k < n; k++) from[k].dead = true;
    return LA_OK;
}

/* The elements of 'view' as a tensor of these sizes; below 0 without memory. */
static int32_t scale_view(la_prog *p, int32_t view, int ndim,
                          const int64_t *sizes)
{
    int64_t strides[LA_MAX_DIMS];
    const la_prog_view *v = la_prog_view_at(p, view);
    la_prog_view like = {.bytes = v->bytes, .object = LA_PROG_NONE,
                         .step = LA_PROG_NONE};
    int32_t slot = v->slot;
    la_tensor *t = NULL;
    la_contiguous_strides(ndim, sizes, strides);
    if (la_tensor_deferred(ndim, sizes, strides, (la_dtype)v->form->dtype, &t))
        return LA_PROG_NONE;
    int32_t out = la_prog_view_of(p, slot, t, &like);
    la_tensor_release(t);
    return out;
}

/* A slot that step 'maker' makes and that is kept, seen as 'like' is. */
static int32_t scale_result(la_prog *p, int32_t maker, int32_t like)
{
    const la_prog_view plain = {.object = LA_PROG_NONE, .step = LA_PROG_NONE};
    la_prog_slot *s = la_prog_add(&p->slots, sizeof *s);
    const la_tensor *f = scale_form(p, like);
    if (!s) return LA_PROG_NONE;
    *s = (la_prog_slot){.kind = LA_SLOT_STEP, .kept = true,
        .index = LA_PROG_NONE, .views = LA_PROG_NONE, .maker = maker,
        .first = LA_PROG_NONE, .last = LA_PROG_NONE,
        .nbytes = f->numel * (int64_t)la_itemsize(f)};
    return la_prog_view_of(p, p->slots.n - 1, f, &plain);
}

/* Objects that kept steps read are looked at in each run. */
static void scale_watch(void *context, int32_t view)
{
    la_prog *p = context;
    const la_prog_slot *s = scale_slot(p, view);
    if (s->kind == LA_SLOT_OBJECT) la_prog_object_at(p, s->index)->kept = true;
}

/* Step 'i' becomes a kept call of 'op' on n views, in the name of 'like'. */
static la_status scale_call(la_prog *p, int32_t i, const la_op *op, int n,
                            const int32_t *views, int32_t result,
                            const la_prog_step *like)
{
    la_prog_step *s = la_prog_step_at(p, i);
    const la_schema *schema = la_schema_of(op);
    *s = (la_prog_step){.kind = LA_STEP_CALL, .op = op, .named = like->named,
        .line = like->line, .source = like->source, .lists = LA_PROG_NONE,
        .object = LA_PROG_NONE, .view = LA_PROG_NONE, .no_grad = like->no_grad,
        .pure = true, .kept = true, .nresults = 1};
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        s->results[k] = s->outs[k] = LA_PROG_NONE;
    s->results[0] = result;
    LA_TRY(la_prog_take_arguments(p, s, schema->nparams));
    for (int k = 0; k < schema->nparams; k++) {
        s->args[k] = schema->params[k].fallback;
        if (k >= n) continue;
        s->args[k] = (la_value){.tag = LA_VTENSOR};
        s->views[k] = views[k];
    }
    la_prog_reads(p, s, scale_watch, p);
    p->keeps = true;
    return LA_OK;
}

/* The step becomes the convolution with these weights. */
static la_status scale_replace(la_prog *p, const scale_case *c, int32_t weight,
                               int32_t bias)
{
    la_prog_step *s = la_prog_step_at(p, c->step);
    la_prog_step *conv = la_prog_step_at(p, c->conv);
    la_prog_step fresh = *s;
    fresh.args = NULL;
    fresh.sources = NULL;
    fresh.op = conv->op;
    fresh.named = conv->named;
    LA_TRY(la_prog_take_arguments(p, &fresh, conv->nargs));
    la_prog_cut_step(s);
    *s = fresh;
    for (int k = 0; k < conv->nargs; k++) {
        LA_TRY(la_prog_copy_value(&s->args[k], &conv->args[k]));
        s->views[k] = conv->views[k];
    }
    s->args[2] = (la_value){.tag = LA_VTENSOR};
    s->views[1] = weight;
    s->views[2] = bias;
    conv->dead = true;
    return LA_OK;
}

static la_status scale_join(la_prog *p, scale_case *c)
{
    const la_tensor *w = scale_form(p, c->weight);
    int64_t channels = la_sizes(w)[0], wide[LA_MAX_DIMS];
    int ndim = w->ndim, n = c->bias < 0 ? 1 : 2;
    for (int d = 0; d < ndim; d++) wide[d] = d ? 1 : channels;
    int32_t tall = scale_view(p, c->scale, ndim, wide);
    int32_t scale = scale_view(p, c->scale, 1, &channels);
    int32_t shift = scale_view(p, c->shift, 1, &channels);
    if (tall < 0 || scale < 0 || shift < 0) return LA_ENOMEM;
    LA_TRY(scale_insert(p, c->step, n));
    int32_t at = c->step, weight = scale_result(p, at, c->weight);
    int32_t bias = n == 1 ? shift : scale_result(p, at + 1, shift);
    if (weight < 0 || bias < 0) return LA_ENOMEM;
    c->step += n;
    const la_prog_step like = *la_prog_step_at(p, c->step);
    LA_TRY(scale_call(p, at, LA_OP(mul), 2, (int32_t[]){c->weight, tall},
                      weight, &like));
    if (n == 2)
        LA_TRY(scale_call(p, at + 1, LA_OP(addcmul), 3,
                          (int32_t[]){shift, c->bias, scale}, bias, &like));
    return scale_replace(p, c, weight, bias);
}

la_status la_prog_pass_scale(la_prog *p, la_prog_pass_note *note)
{
    scale_case c;
    for (int32_t i = 0; i < p->steps.n && p->fast && !p->live; i++) {
        if (!scale_find(p, i, &c)) continue;
        LA_TRY(scale_join(p, &c));
        i = c.step;
        note->count++;
    }
    return LA_OK;
}
