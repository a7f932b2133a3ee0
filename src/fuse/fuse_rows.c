/*
** Recording rows: reductions over the last dims as steps, and what may follow.
*/
#include "base/runtime/context.h"
#include "fuse/fuse_plan.h"
#include "op/op.h"
#include "tensor/shape.h"

static bool is_long(const la_fused *z) { return z->n > LA_FUSE_ROW; }

/* The pending step whose result is argument k, or NULL. */
static const la_fuse_step *pending_arg(const la_fused *z, const la_frame *f,
                                       int k)
{
    const la_tensor *t = la_arg(f, k);
    int i = t->flags & LA_F_DEFERRED ? la_fuse_step_of(z, t) : -1;
    return i < 0 ? NULL : &z->steps[i];
}

la_status la_fuse_settle(la_fused *z, const la_frame *f, int n)
{
    la_fuse_set reductions = 0;
    for (int k = 0; k < n && z->ntrail && is_long(z); k++) {
        const la_fuse_step *s = pending_arg(z, f, k);
        if (s && s->kind == LA_STEP_REDUCE)
            reductions |= LA_FUSE_ONE << (s - z->steps);
    }
    return reductions ? la_fuse_lay_out(z, reductions) : LA_OK;
}

/* ---- what fits ---- */

/* Does the tensor move through a row by one stride, none included? Dims that
** are neither whole nor repeated within it would not. */
static bool is_even(const la_fused *z, const la_tensor *t, int ntrail)
{
    bool repeated = true, whole = true;
    int lead = z->shape.ndim - ntrail;
    for (int d = z->shape.ndim - 1; d >= lead; d--) {
        int j = d - z->shape.ndim + t->ndim;
        int64_t size = j < 0 ? 1 : la_sizes(t)[j];
        if (z->shape.sizes[d] == 1) continue;
        if (size == 1) whole = false;
        else repeated = false;
    }
    return repeated || whole;
}

/* Elements with gaps between them are no rows; numbers and what is broadcast
** have none. */
static bool has_gaps(const la_tensor *t)
{
    return t->numel > 1 && !(t->flags & LA_F_DENSE);
}

/* Rows begin where the chain has had none: do its steps suit them? */
static bool suits_rows(const la_fused *z, int ntrail, int64_t n)
{
    for (int i = 0; i < z->ninputs; i++)
        if (has_gaps(z->inputs[i])) return false;
    for (int i = 0; i < z->nsteps && n <= LA_FUSE_ROW; i++) {
        const la_fuse_step *s = &z->steps[i];
        for (int k = 0; la_fuse_is_pending(s) && k < s->nsources; k++)
            if (s->from[k].kind == LA_FROM_INPUT
                && !is_even(z, z->inputs[s->from[k].index], ntrail))
                return false;
    }
    return true;
}

/* Results of rows as 'shape' has them: with the row's dims 1 or without. */
static bool has_results(const la_fused *z, const la_shape *shape)
{
    int lead = z->shape.ndim - z->ntrail;
    if (shape->ndim != lead && shape->ndim != z->shape.ndim) return false;
    for (int d = 0; d < shape->ndim; d++)
        if (shape->sizes[d] != (d < lead ? z->shape.sizes[d] : 1)) return false;
    return true;
}

static bool is_whole(const la_fused *z, const la_shape *shape,
                     const int64_t *strides)
{
    size_t bytes = sizeof(int64_t) * (size_t)shape->ndim;
    return shape->ndim == z->shape.ndim
        && memcmp(shape->sizes, z->shape.sizes, bytes) == 0
        && memcmp(strides, z->strides, bytes) == 0;
}

/* Among single elements a row's result stands for each of its row, where it
** broadcasts so. */
static bool fits_among_each(const la_fused *z, const la_frame *f, int k)
{
    const la_tensor *t = la_arg(f, k);
    const la_fuse_step *s = pending_arg(z, f, k);
    if (has_gaps(t)) return false;
    if (!s) return is_long(z) || (t->flags & LA_F_WRAPPED)
        || is_even(z, t, z->ntrail);
    if (s->kind == LA_STEP_EACH) return true;
    return t->ndim == z->shape.ndim || t->numel == 1;
}

bool la_fuse_kind_of(const la_fused *z, const la_frame *f, int n,
                     const la_shape *shape, const int64_t *strides,
                     la_fuse_kind *kind)
{
    int64_t plain[LA_MAX_DIMS];
    *kind = LA_STEP_EACH;
    if (is_whole(z, shape, strides)) {
        for (int k = 0; k < n && z->ntrail; k++)
            if (!fits_among_each(z, f, k)) return false;
        return true;
    }
    *kind = LA_STEP_ROW;
    if (z->ntrail == 0 || is_long(z) || !has_results(z, shape)) return false;
    la_contiguous_strides(shape->ndim, shape->sizes, plain);
    return memcmp(strides, plain, sizeof(*plain) * (size_t)shape->ndim) == 0;
}

/* ---- a reduction ---- */

/* How many last dims the mask is; 0 for any other set. */
static int fuse_rows_trailing(uint64_t mask, int ndim)
{
    int n = __builtin_popcountll(mask);
    uint64_t all = ndim >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << ndim) - 1;
    return n && mask == (all >> (ndim - n) << (ndim - n)) ? n : 0;
}

static bool fuse_rows_reduces(const la_frame *f, la_reduce_plan *plan)
{
    if (f->form != LA_FUNCTIONAL || f->op->family || f->nargs == 0
        || f->args[0].tag != LA_VTENSOR) return false;
    const la_tensor *t = f->args[0].tensor;
    if (!t || !la_fuse_is_simple(t) || (t->flags & LA_F_WRAPPED)
        || t->ndim == 0 || !la_is_contiguous(t)) return false;
    if (la_grad_flag(t) && !la_ctx()->no_grad) return false;
    return la_reduce_plan_of(f, plan) && plan->kernel->inner;
}

/* The chain takes on rows of 'ntrail' dims, or has them. */
static bool begin_rows(la_fused *z, const la_tensor *t, int ntrail)
{
    int64_t n = 1;
    for (int d = t->ndim - ntrail; d < t->ndim; d++) n *= la_sizes(t)[d];
    if (n < 2 || !la_fuse_begin(z, t->ndim, la_sizes(t), la_strides(t)))
        return false;
    if (z->ntrail) return z->ntrail == ntrail;
    if (!suits_rows(z, ntrail, n)) return false;
    z->ntrail = ntrail;
    z->n = n;
    z->rows = t->numel / n;
    return true;
}

/* All rows of a chain have one length, that of the first reduction. What
** reduces other dims, or rows of another length, is left to the dispatcher. */
la_status la_fuse_record_reduction(la_fused *z, la_frame *f, bool *done)
{
    la_reduce_plan plan;
    int64_t strides[LA_MAX_DIMS];
    la_tensor *t = NULL;
    *done = false;
    if (!fuse_rows_reduces(f, &plan)) return LA_OK;
    la_tensor *self = f->args[0].tensor;
    int ntrail = fuse_rows_trailing(plan.mask, self->ndim);
    if (ntrail == 0) return LA_OK;
    if (!begin_rows(z, self, ntrail)) return LA_OK;
    plan.args.count = (double)z->n;
    la_shape shape = la_reduce_shape(self, plan.mask, plan.keepdim);
    la_contiguous_strides(shape.ndim, shape.sizes, strides);
    LA_TRY(la_tensor_deferred(shape.ndim, shape.sizes, strides, plan.dtype,
                              &t));
    la_fuse_step *s = &z->steps[z->nsteps];
    s->kind = LA_STEP_REDUCE;
    s->squares = s->write = s->replaced = s->copies = s->renewed = false;
    s->pending = true;
    s->reduction = plan;
    s->nsources = 1;
    la_fuse_take_source(z, &s->from[0], self, (la_dtype)self->dtype);
    s->tensor = la_tensor_retain(t);
    z->nsteps++;
    la_set_result(f, 0, t);
    *done = true;
    return LA_OK;
}
