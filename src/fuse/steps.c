/*
** Steps: which calls a chain can have, and how one is written down. Operands
** are headers that show no memory (chain.h), so what asks for elements is none.
*/
#include "base/runtime/context.h"
#include "fuse/fuse_plan.h"
#include "iter/iter.h"
#include "op/op.h"
#include "tensor/promote.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

LA_STUB_DECLARE(la_loops, pow_2);

void la_fuse_init(la_fused *z, int most)
{
    z->nsteps = z->ninputs = z->ntrail = 0;
    z->most = most;
    z->plans = NULL;
}

/* ---- values ---- */

/* Searches from the last step backwards: what a call reads was mostly made just
** before. */
int la_fuse_step_of(const la_fused *z, const la_tensor *t)
{
    for (int i = z->nsteps - 1; i >= 0; i--)
        if (z->steps[i].tensor == t) return i;
    return -1;
}

void la_fuse_forget(la_fused *z)
{
    for (int i = 0; i < z->nsteps; i++) la_tensor_release(z->steps[i].tensor);
    for (int i = 0; i < z->ninputs; i++) la_tensor_release(z->inputs[i]);
    z->nsteps = z->ninputs = z->ntrail = 0;
}

/* ---- what can be a step ---- */

/* A tensor that a loop can read as it lies: on the CPU, without names and
** without lazy bits. */
bool la_fuse_is_simple(const la_tensor *t)
{
    return t->device == LA_CPU && !t->names
        && !(t->flags & (LA_F_CONJ | LA_F_NEG));
}

/* The dtype that the loop computes in: that of all inputs but the mask, if they
** have one and numbers adapt to it. LA_UNDEFINED otherwise. */
static la_dtype steps_common_dtype(const la_frame *f,
                                      const la_family *family)
{
    la_dtype d = LA_UNDEFINED;
    for (int k = family->nraw; k < family->ninputs; k++) {
        const la_tensor *t = la_arg(f, k);
        if (t->flags & LA_F_WRAPPED) continue;
        if (d != LA_UNDEFINED && t->dtype != d) return LA_UNDEFINED;
        d = (la_dtype)t->dtype;
    }
    for (int k = family->nraw; k < family->ninputs && d != LA_UNDEFINED; k++) {
        const la_tensor *t = la_arg(f, k);
        if ((t->flags & LA_F_WRAPPED)
            && la_category((la_dtype)t->dtype) > la_category(d))
            return LA_UNDEFINED;
    }
    for (int k = 0; k < family->nraw; k++)
        if (la_arg(f, k)->dtype != LA_BOOL) return LA_UNDEFINED;
    if (d != LA_UNDEFINED
        && (la_pointwise_widens(f, d) || la_pointwise_exceeds(f, d)))
        return LA_UNDEFINED;
    if (family->nraw || d == LA_UNDEFINED) return d;
    return family->fast >> la_category(d) & 1 ? d : LA_UNDEFINED;
}

/* Autograd's nodes hold values, which a step has not yet: no input may need a
** gradient. */
bool la_fuse_is_recordable(const la_frame *f)
{
    const la_family *family = f->op->family;
    if (!family || (f->op->forms & LA_MUTATES)
        || family->impl != la_pointwise_impl
        || family->ninputs > LA_FUSE_SOURCES
        || !(family->fast || f->op->role == LA_ROLE_choice))
        return false;
    for (int k = 0; k < family->ninputs; k++) {
        const la_tensor *t = la_arg(f, k);
        if (!t || !la_fuse_is_simple(t)) return false;
        if (la_grad_flag(t) && !la_ctx()->no_grad) return false;
    }
    return true;
}

/* Does the family's iterator have settings of its own in this call? A result
** of another dtype or layout is not described here; its refusals stand. */
static la_status is_configured(const la_frame *f, la_dtype dtype, bool *out)
{
    const la_family *family = f->op->family;
    la_iter_config c = LA_ITER_CONFIG(family->iter_flags, 1, family->ninputs);
    *out = false;
    if (!family->configure) return LA_OK;
    LA_TRY(family->configure((la_frame *)f, &c));
    *out = c.flags != family->iter_flags || c.ninputs != family->ninputs
        || (c.static_dtype != LA_UNDEFINED && c.static_dtype != dtype);
    return LA_OK;
}

/* ---- geometry ---- */

/* n sizes or strides, all equal; n may be 0. */
static bool same_dims(int n, const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, (size_t)n * sizeof(*a)) == 0;
}

/* The common shape of the first n arguments; false where there is none. */
static bool broadcast_inputs(const la_frame *f, int n, la_shape *shape)
{
    *shape = la_shape_of(la_arg(f, 0));
    for (int k = 1; k < n; k++) {
        la_shape s = la_shape_of(la_arg(f, k));
        if (la_shape_broadcast(shape, &s, shape))
            return false;                    /* the operation says why */
    }
    return true;
}

/* Is there an order of dims to see in it? */
static bool has_order(const la_tensor *t)
{
    int dims = 0;
    for (int j = 0; j < t->ndim; j++) dims += la_sizes(t)[j] > 1;
    return dims > 1;
}

/* Is there a dim of size 1, whose stride is ambiguous? */
static bool has_single(const la_shape *shape)
{
    for (int d = 0; d < shape->ndim; d++)
        if (shape->sizes[d] == 1) return true;
    return false;
}

static bool are_row_major(const la_frame *f, int n)
{
    for (int k = 0; k < n; k++)
        if (!la_is_row_major(la_arg(f, k))) return false;
    return true;
}

static bool is_row_major_of(const la_shape *shape, const int64_t *strides)
{
    int64_t plain[LA_MAX_DIMS];
    la_contiguous_strides(shape->ndim, shape->sizes, plain);
    return same_dims(shape->ndim, plain, strides);
}

/* Is it one element, repeated over all dims? It has no say in the order. */
bool la_fuse_is_repeated(const la_tensor *t)
{
    for (int d = 0; d < t->ndim; d++)
        if (la_sizes(t)[d] > 1 && la_strides(t)[d] != 0) return false;
    return true;
}

/* The result's strides where they are plain to see: inputs of the full shape
** are contiguous, or dense in one order that no smaller input before them
** overrules, or one element; the iterator's rule for the rest is not repeated
** here. */
static bool result_strides(const la_frame *f, int n, const la_shape *shape,
                           int64_t *strides)
{
    bool any = false, smaller = false;
    la_contiguous_strides(shape->ndim, shape->sizes, strides);
    if (has_single(shape) && !are_row_major(f, n)) return false;
    for (int k = 0; k < n; k++) {
        const la_tensor *t = la_arg(f, k);
        if ((t->flags & LA_F_WRAPPED)
            || (t->numel > 1 && la_fuse_is_repeated(t))) continue;
        bool full = t->ndim == shape->ndim
            && same_dims(t->ndim, la_sizes(t), shape->sizes);
        bool gaps = full && !(t->flags & LA_F_DENSE)
            && la_fuse_has_row_order(t);
        if (!full || gaps || la_is_contiguous(t)) {
            if (any && full && !gaps
                && !same_dims(t->ndim, la_strides(t), strides))
                return false;
            if (any && gaps && !is_row_major_of(shape, strides)) return false;
            any |= full;
            if (!full && !la_is_contiguous(t)) return false;
            smaller |= !full && has_order(t);
            continue;
        }
        if (!(t->flags & LA_F_DENSE) || (smaller && !any)) return false;
        if (any && !same_dims(t->ndim, la_strides(t), strides)) return false;
        memcpy(strides, la_strides(t), sizeof(int64_t) * (size_t)t->ndim);
        any = true;
    }
    return true;
}

/* True when the chain has this geometry, or is empty and takes it. False when
** steps of another geometry wait: the caller has to run them first. */
bool la_fuse_begin(la_fused *z, int ndim, const int64_t *sizes,
                   const int64_t *strides)
{
    size_t bytes = sizeof(int64_t) * (size_t)ndim;
    if (z->nsteps && z->shape.ndim == ndim
        && same_dims(ndim, sizes, z->shape.sizes)
        && same_dims(ndim, strides, z->strides)) return true;
    if (z->nsteps) return false;
    z->shape.ndim = ndim;
    memcpy(z->shape.sizes, sizes, bytes);
    memcpy(z->strides, strides, bytes);
    return true;
}

/* ---- a step ---- */

/* The index of t among the inputs; a new one is retained. There is capacity
** (chain.c). */
static int input_of(la_fused *z, la_tensor *t)
{
    for (int i = 0; i < z->ninputs; i++)
        if (z->inputs[i] == t) return i;
    z->inputs[z->ninputs] = la_tensor_retain(t);
    return z->ninputs++;
}

/* Numbers are stored converted to the dtype in which the step computes. */
void la_fuse_take_source(la_fused *z, la_fuse_source *from, la_tensor *t,
                         la_dtype dtype)
{
    int i = la_fuse_step_of(z, t);
    if (i >= 0) {
        from->kind = LA_FROM_STEP;
        from->index = i;
    } else if (t->flags & LA_F_WRAPPED) {
        la_scalar s = la_scalar_load((la_dtype)t->dtype, la_data(t));
        from->kind = LA_FROM_SCALAR;
        la_scalar_cast(&s, dtype, from->scalar);
    } else {
        from->kind = LA_FROM_INPUT;
        from->index = input_of(z, t);
    }
}

/* Does the step square its input? A sum of it is then a sum of squares, for
** which the reductions have a kernel. */
static bool is_square(const la_frame *f, la_dtype dtype, la_loop loop)
{
    int role = f->op->role;
    if (role == LA_ROLE_times) return la_arg(f, 0) == la_arg(f, 1);
    return role == LA_ROLE_square
        || (role == LA_ROLE_power && loop == (*LA_STUB(pow_2))[dtype]);
}

la_status la_fuse_record(la_fused *z, la_frame *f, bool *done)
{
    const la_family *family = f->op->family;
    la_shape shape;
    int64_t strides[LA_MAX_DIMS], numel;
    la_tensor *t;
    la_fuse_step *s;
    la_fuse_kind kind;
    int n = family->ninputs;
    *done = false;
    bool configured;
    la_dtype dtype = steps_common_dtype(f, family);
    LA_TRY(is_configured(f, dtype, &configured));
    if (dtype == LA_UNDEFINED || configured || !broadcast_inputs(f, n, &shape)
        || !result_strides(f, n, &shape, strides)
        || la_numel(shape.ndim, shape.sizes, &numel) || numel == 0)
        return LA_OK;
    if (!z->nsteps || !la_fuse_kind_of(z, f, n, &shape, strides, &kind)) {
        if (z->nsteps) return LA_OK;
        la_fuse_begin(z, shape.ndim, shape.sizes, strides);
        kind = LA_STEP_EACH;
    }
    s = &z->steps[z->nsteps];
    s->kind = kind;
    LA_TRY(la_pointwise_plan(f, dtype, &s->plan));
    if (s->plan.inspect) return LA_OK;
    s->squares = is_square(f, dtype, s->plan.loop);
    la_dtype result = family->result != LA_UNDEFINED ? family->result : dtype;
    LA_TRY(la_tensor_deferred(shape.ndim, shape.sizes, strides, result, &t));
    s->nsources = n;
    for (int k = 0; k < n; k++)
        la_fuse_take_source(z, &s->from[k], la_arg(f, k),
                            k < family->nraw ? LA_BOOL : dtype);
    s->tensor = la_tensor_retain(t);
    s->pending = true;
    s->write = s->replaced = s->copies = s->renewed = false;
    z->nsteps++;
    la_set_result(f, 0, t);
    *done = true;
    return LA_OK;
}

/* Calls that write a tensor which was given. */
la_status la_fuse_record_given(la_fused *z, la_frame *f, bool *done)
{
    const la_family *family = f->op->family;
    la_shape shape;
    bool configured;
    const la_tensor *out = f->outs[0];
    la_fuse_call c = {.n = family->ninputs, .nraw = family->nraw};
    c.dtype = steps_common_dtype(f, family);
    LA_TRY(is_configured(f, c.dtype, &configured));
    if (c.dtype == LA_UNDEFINED || configured
        || !broadcast_inputs(f, c.n, &shape) || shape.ndim != out->ndim
        || !same_dims(out->ndim, shape.sizes, la_sizes(out))) return LA_OK;
    c.result = family->result != LA_UNDEFINED ? family->result : c.dtype;
    LA_TRY(la_pointwise_plan(f, c.dtype, &c.plan));
    return c.plan.inspect ? LA_OK : la_fuse_record_write(z, f, &c, done);
}
