/*
** Building an iterator: the steps that look at operands as wholes. Each step
** reads what the steps before it left and writes its own fields; shapes stay
** in the order of tensors until la_iter_reorder reverses them.
*/
#include <string.h>

#include "base/trace.h"
#include "iter/steps.h"
#include "tensor/names.h"

/* Operands as given: references taken, or only borrowed. LA_EARG for too many,
** or an input that is missing. */
static la_status populate(la_iter *it, const la_iter_config *c)
{
    int n = c->noutputs + c->ninputs;
    bool own = !(c->flags & LA_IT_BORROWED);
    it->noperands = 0;
    it->names = NULL;
    if (n > LA_ITER_MAX_OPS)
        return la_error(LA_EARG, "an iterator takes at most %d operands",
                        LA_ITER_MAX_OPS);
    for (int k = 0; k < n; k++) {
        la_iter_operand *op = &it->op[k];
        la_tensor *t = c->operands[k];
        if (!t && k >= c->noutputs)
            return la_error(LA_EARG, "an input tensor is missing");
        op->tensor = t && own ? la_tensor_retain(t) : t;
        op->owned = t && own;
        op->was_null = !t;
        op->data = NULL;
        op->current = op->target = t ? (la_dtype)t->dtype : LA_UNDEFINED;
        op->is_output = k < c->noutputs;
        op->is_read_write = (c->read_write >> k & 1) != 0;
        op->will_resize = false;
        it->noperands = k + 1;
    }
    it->noutputs = c->noutputs;
    return LA_OK;
}

/* An output that is an input too (in-place) is read as well as written. */
static void mark_outputs(la_iter *it)
{
    for (int k = 0; k < it->noutputs; k++) {
        la_iter_operand *out = &it->op[k];
        for (int i = it->noutputs; out->tensor && i < it->noperands; i++)
            if (it->op[i].tensor == out->tensor) out->is_read_write = true;
    }
}

static la_status overlap_error(bool internal)
{
    if (internal)
        return la_error(LA_EALIAS, "unsupported operation: more than one "
            "element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the "
            "operation.");
    return la_error(LA_EALIAS, "unsupported operation: some elements of the "
        "input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation.");
}

/* Each output against itself and against the inputs, as PyTorch's
** assert_no_internal_overlap and assert_no_partial_overlap. An output that is
** the very same tensor as an input is the in-place form. */
static la_status check_overlap(la_iter *it)
{
    if (!(it->flags & LA_IT_CHECK_MEM_OVERLAP)) return LA_OK;
    for (int k = 0; k < it->noutputs; k++) {
        const la_tensor *out = it->op[k].tensor;
        if (!out) continue;
        la_overlap inside = out->flags & LA_F_DENSE ? LA_OVERLAP_NO
                                                    : la_internal_overlap(out);
        if (inside == LA_OVERLAP_YES) return overlap_error(true);
        if (inside == LA_OVERLAP_TOO_HARD) it->flags |= LA_IT_IN_ORDER;
        for (int i = it->noutputs; i < it->noperands; i++) {
            const la_tensor *in = it->op[i].tensor;
            if (in != out && in->storage == out->storage
                && la_pair_overlap(out, in) == LA_OVERLAP_PARTIAL)
                return overlap_error(false);
        }
    }
    return LA_OK;
}

/* Does this operand take part in the inference of names and of the shape?
** Outputs that may be resized do not, unless they are inputs as well. */
static bool infers(const la_iter *it, const la_iter_operand *op)
{
    return op->tensor
        && !(op->is_output && (it->flags & LA_IT_RESIZE_OUTPUTS));
}

/* Names of the operands that infer, unified dim by dim from the last. */
static la_status compute_names(la_iter *it)
{
    bool any = false;
    for (int k = 0; k < it->noperands; k++)
        any |= it->op[k].tensor && it->op[k].tensor->names;
    int ndim = -1;
    for (int k = 0; any && k < it->noperands; k++) {
        const la_tensor *t = it->op[k].tensor;
        if (!infers(it, &it->op[k])) continue;
        la_names *joined = NULL;
        if (ndim < 0) joined = la_names_retain(t->names);
        else LA_TRY(la_names_unify(it->names, ndim, t->names, t->ndim,
                                   &joined));
        la_names_release(it->names);
        it->names = joined;
        ndim = t->ndim > ndim ? t->ndim : ndim;
    }
    return LA_OK;
}

/* The failing pair goes to the one function that has the error text. */
static la_status shape_error(const la_iter *it, const la_tensor *t)
{
    la_shape a = {.ndim = it->ndim}, b = la_shape_of(t);
    memcpy(a.sizes, it->shape, sizeof(int64_t) * it->ndim);
    return la_shape_broadcast(&a, &b, &a);
}

/* Broadcast t's sizes into the shape so far, aligned at the last dim. */
static la_status broadcast_in(la_iter *it, const la_tensor *t)
{
    const int64_t *sizes = la_sizes(t);
    int more = t->ndim - it->ndim;
    if (more > 0) {
        memmove(it->shape + more, it->shape, sizeof(int64_t) * it->ndim);
        for (int d = 0; d < more; d++) it->shape[d] = 1;
        it->ndim = t->ndim;
    }
    int64_t *shape = it->shape + it->ndim - t->ndim;
    for (int d = 0; d < t->ndim; d++) {
        if (sizes[d] == shape[d] || sizes[d] == 1) continue;
        if (shape[d] != 1) return shape_error(it, t);
        shape[d] = sizes[d];
    }
    return LA_OK;
}

/* The broadcast shape of the operands that infer, in the order of tensors. */
static la_status compute_shape(la_iter *it)
{
    it->ndim = 0;
    it->same_shape = it->all_scalars = true;
    bool first = true;
    for (int k = 0; k < it->noperands; k++) {
        const la_tensor *t = it->op[k].tensor;
        if (!infers(it, &it->op[k])) continue;
        it->all_scalars &= t->ndim == 0;
        if (first) {
            it->ndim = t->ndim;
            memcpy(it->shape, la_sizes(t), sizeof(int64_t) * t->ndim);
            first = false;
        } else if (!la_has_sizes(t, it->ndim, it->shape)) {
            it->same_shape = false;
            LA_TRY(broadcast_in(it, t));
        }
    }
    return LA_OK;
}

static la_status output_shape_error(const la_iter *it, const la_tensor *t)
{
    char have[400], want[400];
    return la_error(LA_ESHAPE, "output with shape %s doesn't match the "
        "broadcast shape %s",
        la_sizes_text(t->ndim, la_sizes(t), have, sizeof have),
        la_sizes_text(it->ndim, it->shape, want, sizeof want));
}

/* An out= that holds elements is somebody's: it is never resized. */
static la_status wrong_out(const la_iter *it, const la_tensor *t)
{
    char have[400], want[400];
    return la_error(LA_ESHAPE, "out has shape %s, the result needs %s: give a "
        "tensor of that shape or an empty one",
        la_sizes_text(t->ndim, la_sizes(t), have, sizeof have),
        la_sizes_text(it->ndim, it->shape, want, sizeof want));
}

/* Which outputs take the shape that was found: those that are not there yet,
** and with LA_IT_RESIZE_OUTPUTS those without elements. LA_ESHAPE for others of
** another shape. */
static la_status mark_resizes(la_iter *it)
{
    for (int k = 0; k < it->noutputs; k++) {
        la_iter_operand *op = &it->op[k];
        if (!op->tensor) {
            op->will_resize = true;
        } else if (!la_has_sizes(op->tensor, it->ndim, it->shape)) {
            bool may = (it->flags & LA_IT_RESIZE_OUTPUTS)
                && !op->is_read_write;
            if (may && op->tensor->numel == 0)
                op->will_resize = true;
            else if (may)
                return wrong_out(it, op->tensor);
            else
                return output_shape_error(it, op->tensor);
        }
    }
    return LA_OK;
}

static la_status count_elements(la_iter *it)
{
    if (it->ndim == 1) {
        it->numel = it->shape[0];
        return LA_OK;
    }
    return la_numel(it->ndim, it->shape, &it->numel);
}

/* Strides, order and merging of dims, and the outputs that are still missing;
** the fast set-up does all at once for operands alike. */
static la_status build_arrange(la_iter *it)
{
    bool done;
    LA_TRY(la_iter_fast_setup(it, &done));
    if (done) return LA_OK;
    la_iter_compute_strides(it);
    la_iter_reorder(it);
    LA_TRY(la_iter_allocate(it));
    if (it->device == LA_CPU) la_iter_coalesce(it);
    return LA_OK;
}

/* Data pointers, now that every operand has its tensor, and names to
** outputs. */
static void build_finish(la_iter *it)
{
    it->needs_cast = false;
    for (int k = 0; k < it->noperands; k++) {
        la_iter_operand *op = &it->op[k];
        op->data = it->device == LA_META ? NULL : la_data(op->tensor);
        it->needs_cast |= op->current != op->target;
        if (it->names && op->is_output)
            la_tensor_set_names(op->tensor, la_names_retain(it->names));
    }
}

static la_status build(la_iter *it, const la_iter_config *c)
{
    it->flags = c->flags;
    it->inner = 0;
    it->coalesced = false;
    LA_TRY(populate(it, c));
    mark_outputs(it);
    LA_TRY(check_overlap(it));
    if (c->flags & (LA_IT_ROWS | LA_IT_IS_REDUCTION)) {
        LA_TRY(la_iter_build_rows(it, c));
        build_finish(it);
        return LA_OK;
    }
    LA_TRY(compute_names(it));
    LA_TRY(compute_shape(it));
    LA_TRY(count_elements(it));
    LA_TRY(mark_resizes(it));
    LA_TRY(la_iter_compute_types(it, c));
    LA_TRY(build_arrange(it));
    build_finish(it);
    return LA_OK;
}

static void trace(const la_iter *it)
{
    char text[800];
    la_iter_describe(it, text, sizeof text);
    la_trace("%s", text);
}

la_status la_iter_build(la_iter *it, const la_iter_config *config)
{
    la_status status = build(it, config);
    if (status) la_iter_close(it);
    else la_iter_verify(it);
    if (__builtin_expect(la_trace_on, 0) && !status) trace(it);
    return status;
}

/* Safe for an iterator that was closed already, or whose build failed. */
void la_iter_close(la_iter *it)
{
    for (int k = 0; k < it->noperands; k++)
        if (it->op[k].owned) la_tensor_release(it->op[k].tensor);
    it->noperands = 0;
    if (it->names) la_names_release(it->names);
    it->names = NULL;
}

la_tensor *la_iter_output(la_iter *it, int k)
{
    return la_tensor_retain(it->op[k].tensor);
}
