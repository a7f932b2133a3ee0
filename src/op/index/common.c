/* Checked indices, walks and targets; see index.h. */
#include "op/index/index.h"

#include "base/runtime/context.h"
#include "iter/iter.h"
#include "op/call.h"
#include "op/op.h"
#include "tensor/scalar.h"

#include <math.h>
#include <stdio.h>

/* ---- walks ---- */

/* Sizes {1} for 0 dims, so that loops need not know that case. */
la_walk_shape la_walk_of(const la_tensor *t)
{
    la_walk_shape s = {.ndim = t->ndim ? t->ndim : 1, .sizes = {1}};
    for (int d = 0; d < t->ndim; d++) s.sizes[d] = la_sizes(t)[d];
    return s;
}

/* A walk without elements: nothing to do, and no index is looked at. */
static bool empty(const la_walk_shape *s)
{
    for (int d = 0; d < s->ndim; d++)
        if (s->sizes[d] == 0) return true;
    return false;
}

/* The strides are the caller's concern: 'shape' may be smaller than t in any
** dim, as the index of a gather may. */
la_status la_walk_view(la_tensor *t, const la_walk_shape *shape, uint64_t zero,
                       la_tensor **out)
{
    int64_t strides[LA_MAX_DIMS];
    for (int d = 0; d < shape->ndim; d++) {
        bool none = zero >> d & 1 || d >= t->ndim;
        strides[d] = none ? 0 : la_strides(t)[d];
    }
    return la_tensor_view(t, shape->ndim, shape->sizes, strides, t->offset,
                          out);
}

la_status la_walk_along(la_tensor *t, const la_walk_shape *shape, int dim,
                        la_tensor **out)
{
    int64_t strides[LA_MAX_DIMS] = {0};
    if (t->ndim > 0) strides[dim] = la_strides(t)[0];
    return la_tensor_view(t, shape->ndim, shape->sizes, strides, t->offset,
                          out);
}

/* The strides that a loop gets of operand k: in bytes, of the last dim and of
** the one before. */
static void few_strides(int64_t *out, int nops, int k, int ndim,
                        const int64_t *strides, int64_t item)
{
    out[k] = ndim > 0 ? strides[ndim - 1] * item : 0;
    out[nops + k] = ndim > 1 ? strides[0] * item : 0;
}

/* One call of the loop for elements that la_walk_is_few accepts. */
static void index_run_few(la_loop loop, const la_index_dims *dims,
                          la_tensor *const *operands)
{
    int nops = 2 + dims->n, ndim = operands[0]->ndim;
    const int64_t *sizes = la_sizes(operands[0]);
    int64_t strides[2 * (LA_INDEX_MAX + 2)];
    char *data[LA_INDEX_MAX + 2];
    for (int k = 0; k < nops; k++) {
        data[k] = la_data(operands[k]);
        few_strides(strides, nops, k, ndim, la_strides(operands[k]),
                    (int64_t)la_itemsize(operands[k]));
    }
    loop(data, strides, ndim > 0 ? sizes[ndim - 1] : 1,
         ndim > 1 ? sizes[0] : 1, dims);
}

/* An iterator; writes in order, as two indices may name one element. */
static la_status run_any(la_loop loop, const la_index_dims *dims, int kind,
                         la_tensor *const *operands)
{
    LA_ITER it;
    la_iter_config config = LA_ITER_CONFIG(0, 1, 1 + dims->n);
    it.noperands = 0;
    if (kind == LA_WALK_WRITES) {
        config.flags |= LA_IT_ENFORCE_LINEAR_ITERATION;
        config.read_write = 1;
    }
    for (int k = 0; k < dims->n + 2; k++) config.operands[k] = operands[k];
    LA_TRY(la_iter_build(&it, &config));
    if (kind == LA_WALK_READS)
        return la_iter_for_each(&it, loop, dims, LA_GRAIN);
    return la_iter_serial(&it, loop, dims);
}

la_status la_walk_run(la_loop loop, const la_index_dims *dims, int kind,
                      la_tensor *first, la_tensor *second,
                      la_tensor *const *indices)
{
    la_tensor *operands[LA_INDEX_MAX + 2] = {first, second};
    for (int k = 0; k < dims->n; k++) operands[2 + k] = indices[k];
    if (first->numel == 0) return LA_OK;
    if (!la_walk_is_few(first)) return run_any(loop, dims, kind, operands);
    index_run_few(loop, dims, operands);
    return LA_OK;
}

/* ---- indices ---- */

la_status la_index_dtype(const la_tensor *t, int arg, const char *what)
{
    if (t->dtype == LA_INT64 || t->dtype == LA_INT32) return LA_OK;
    return la_error_at(LA_EDTYPE, arg, "%s: Expected dtype int32 or int64 for "
                       "index, got %s", what,
                       la_dtype_name((la_dtype)t->dtype));
}

/* LA_EINDEX for element number 'element' of argument 'arg'; 'dim' as in
** index.h. */
static la_status out_of_range(int64_t value, int64_t element, int64_t size,
                              int dim, int arg)
{
    char where[64] = "";
    if (dim >= 0) snprintf(where, sizeof(where), "dimension %d with ", dim + 1);
    if (size == 0)
        return la_error_at(LA_EINDEX, arg, "index %lld (element %lld) is out "
                           "of bounds for %ssize 0: nothing can be taken there",
                           (long long)value, (long long)element, where);
    if (value == 0)
        return la_error_at(LA_EINDEX, arg, "index 0 (element %lld) is out of "
                           "bounds for %ssize %lld: indices start at 1",
                           (long long)element, where, (long long)size);
    return la_error_at(LA_EINDEX, arg, "index %lld (element %lld) is out of "
                       "bounds for %ssize %lld: 1 to %lld or -%lld to -1",
                       (long long)value, (long long)element, where,
                       (long long)size, (long long)size, (long long)size);
}

/* Any layout: the values are looked at in their logical order. Those of a
** tensor on the meta device are nobody's: a shape can still be told. */
static la_status index_check_values(la_tensor *t, int64_t size, int dim,
                                    int arg)
{
    LA_OWNED plain = NULL;
    int64_t step = 8;
    if (t->numel == 0 || t->device != LA_CPU) return LA_OK;
    if (t->ndim == 1) step = la_strides(t)[0] * 8;
    else if (!la_is_contiguous(t)) {
        LA_TRY(la_run(contiguous, &plain, t));
        t = plain;
    }
    LA_TRY(la_tensor_check_bounds(t));
    const char *data = la_data(t);
    int64_t at = LA_STUB(index_scans)->bad(data, step, t->numel, size);
    if (at < 0) return LA_OK;
    return out_of_range(*(const int64_t *)(data + at * step), at + 1, size, dim,
                        arg);
}

/* Kernels read int64 alone: an int32 index is converted once. */
la_status la_index_wide(la_tensor *t, la_tensor **out)
{
    if (t->dtype != LA_INT64)
        return la_run(astype, out, t, la_v_dtype(LA_INT64));
    return la_tensor_same(t, out);
}

/* A copy only where the two may overlap; *index is replaced then. */
la_status la_index_keep(const la_tensor *target, la_tensor **index)
{
    la_tensor *own = NULL;
    if (la_pair_overlap(target, *index) == LA_OVERLAP_NO) return LA_OK;
    LA_TRY(la_run(clone, &own, *index));
    la_tensor_release(*index);
    *index = own;
    return LA_OK;
}

/* One pass over the indices before any element is written: on an error nothing
** has changed. */
la_status la_index_checked(la_tensor *t, int64_t size, int dim, int arg,
                           la_tensor **out)
{
    la_tensor *wide = NULL;
    LA_TRY(la_index_wide(t, &wide));
    la_status status = index_check_values(wide, size, dim, arg);
    if (status) la_tensor_release(wide);
    else *out = wide;
    return status;
}

/* ---- reading through one index tensor ---- */

/* Late checks are for fresh results alone: in place, or with out=, an index out
** of range must leave the target as it was. */
la_status la_reading_begin(const la_frame *f, la_tensor *index, la_reading *r)
{
    r->late = f->form == LA_FUNCTIONAL && !(f->op->forms & LA_MUTATES)
           && r->size > 0 && la_result(f, 0)->numel > 0;
    if (r->late) return la_index_wide(index, &r->index);
    LA_TRY(la_index_checked(index, r->size, r->dim, r->arg, &r->index));
    return la_index_keep(la_result(f, 0), &r->index);
}

/* A range error of the loop is only a flag; the message comes from a second
** look at the values. */
la_status la_reading_run(const la_reading *r, la_tensor *to, la_tensor *from,
                         la_tensor *at)
{
    int bad = 0;
    la_index_dims dims = {.n = 1, .sizes = {r->size}, .strides = {r->stride},
                          .bad = r->late ? &bad : NULL};
    la_loop get = LA_STUB(index_moves)->get[la_size_class(la_itemsize(from))];
    LA_TRY(la_walk_run(get, &dims, LA_WALK_READS, to, from, &at));
    return bad ? la_reading_failed(r) : LA_OK;
}

/* Computes by hand what views would say: strides of the last dim and of the one
** before, 0 along the dim that is indexed. */
la_status la_reading_few(const la_reading *r, la_tensor *to, la_tensor *from)
{
    int bad = 0, ndim = to->ndim;
    la_index_dims dims = {.n = 1, .sizes = {r->size}, .strides = {r->stride},
                          .bad = r->late ? &bad : NULL};
    la_loop get = LA_STUB(index_moves)->get[la_size_class(la_itemsize(from))];
    char *data[] = {la_data(to), la_data(from), la_data(r->index)};
    int64_t item = (int64_t)la_itemsize(from), steps[2] = {0}, at[2] = {0};
    int64_t strides[6];
    for (int d = 0; d < ndim; d++)
        if (d != r->dim) steps[d] = la_strides(from)[d];
    at[r->dim] = r->index->ndim ? la_strides(r->index)[0] : 0;
    few_strides(strides, 3, 0, ndim, la_strides(to), item);
    few_strides(strides, 3, 1, ndim, steps, item);
    few_strides(strides, 3, 2, ndim, at, sizeof(int64_t));
    get(data, strides, la_sizes(to)[ndim - 1], ndim > 1 ? la_sizes(to)[0] : 1,
        &dims);
    return bad ? la_reading_failed(r) : LA_OK;
}

la_status la_reading_failed(const la_reading *r)
{
    LA_TRY(index_check_values(r->index, r->size, r->dim, r->arg));
    return la_error_at(LA_EINDEX, r->arg, "an index changed while it was read");
}

/* ---- targets ---- */

static const char *const overlap_text =
    "unsupported operation: some elements of the input tensor and the "
    "written-to tensor refer to a single memory location. Please clone() the "
    "tensor before performing the operation.";

/* Overlap that cannot be decided in reasonable time passes, as in PyTorch. */
la_status la_target_scratch(const la_frame *f, const la_tensor *t)
{
    const la_tensor *out = f->outs[0];
    if (f->op->forms & LA_MUTATES) out = la_arg(f, 0);
    else if (f->form != LA_INPLACE) return LA_OK;
    if (!t || t->storage != out->storage) return LA_OK;
    la_overlap o = la_pair_overlap(out, t);
    if (o == LA_OVERLAP_NO || o == LA_OVERLAP_TOO_HARD) return LA_OK;
    return la_error(LA_EALIAS, "%s", overlap_text);
}

/* The result is self: by the form of the call, or as the operation always
** writes its first argument. */
static bool is_inplace(const la_frame *f)
{
    return f->form == LA_INPLACE || (f->op->forms & LA_MUTATES);
}

la_status la_target_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    if (!is_inplace(f))
        return la_set_output(f, 0, self->ndim, la_sizes(self), NULL,
                             (la_dtype)self->dtype);
    if (la_internal_overlap(self) == LA_OVERLAP_YES)
        return la_error(LA_EALIAS, "unsupported operation: more than one "
                        "element of the written-to tensor refers to a single "
                        "memory location. Please clone() the tensor before "
                        "performing the operation.");
    la_set_result(f, 0, la_tensor_retain(self));
    return LA_OK;
}

/* An index write in its functional form begins with a copy of self. */
la_status la_target_begin(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    return self == out ? LA_OK : la_run_(copy_, out, self);
}

/* ---- reductions ---- */

la_status la_reduce_parse(const la_value *v, int arg, la_reduce_kind *out)
{
    static const struct { const char *word; la_reduce_kind kind; } words[] = {
        {"sum", LA_RED_SUM}, {"add", LA_RED_SUM}, {"prod", LA_RED_PROD},
        {"multiply", LA_RED_PROD}, {"mean", LA_RED_MEAN},
        {"amax", LA_RED_AMAX}, {"amin", LA_RED_AMIN}
    };
    char quoted[256];
    *out = LA_RED_NONE;
    if (v->tag != LA_VSTR) return LA_OK;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (la_str_is(v, words[i].word)) {
            *out = words[i].kind;
            return LA_OK;
        }
    return la_error_at(LA_EARG, arg, "reduce argument must be either sum, "
                       "prod, mean, amax or amin, got '%s'",
                       la_quote(v->str.text, v->str.n, quoted, sizeof(quoted)));
}

/* Complex numbers have sums and products alone. */
la_status la_reduce_of(const la_frame *f, la_reduce_kind *out)
{
    la_dtype d = (la_dtype)la_arg(f, 0)->dtype;
    LA_TRY(la_reduce_parse(&f->args[4], 5, out));
    if (la_reduce_loop(*out, d)) return LA_OK;
    return la_error(LA_EDTYPE, "%s has no order: amax and amin are not "
                    "defined for it", la_dtype_name(d));
}

/* mean is a sum first; LA_RED_NONE copies by size of element, not by dtype.
** NULL where the dtype has no such reduction. */
la_loop la_reduce_loop(la_reduce_kind kind, la_dtype d)
{
    const la_index_reductions *r = LA_STUB(index_reductions);
    switch (kind) {
    case LA_RED_PROD: return r->mul[d];
    case LA_RED_AMAX: return r->max[d];
    case LA_RED_AMIN: return r->min[d];
    case LA_RED_NONE: return LA_STUB(index_moves)
                             ->put[la_size_class(la_dtype_size(d))];
    default: return r->add[d];
    }
}

la_status la_scalar_tensor(const la_scalar *s, la_dtype d, la_tensor **out)
{
    LA_TRY(la_tensor_empty(0, NULL, d, out));
    la_scalar_cast(s, d, la_data(*out));
    return LA_OK;
}

/* Identities of amax and amin: what every element reaches. */
static la_scalar lowest(la_dtype d)
{
    int bits = (int)la_dtype_size(d) * 8;
    if (la_is_float(d)) return la_scalar_float(-INFINITY);
    if (la_dtype_kind(d) != 'i') return la_scalar_int(0);
    return la_scalar_int(bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)));
}

/* The highest value of a dtype. Unsigned 64-bit has all bits set: the scalar's
** int64 is -1, which the cast takes modulo 2^64. */
static la_scalar highest(la_dtype d)
{
    int bits = (int)la_dtype_size(d) * 8;
    if (la_is_float(d)) return la_scalar_float(INFINITY);
    if (d == LA_BOOL) return la_scalar_int(1);
    if (la_dtype_kind(d) == 'i') bits--;
    return la_scalar_int(bits == 64 ? -1
                         : (int64_t)(((uint64_t)1 << bits) - 1));
}

/* A 0-dim tensor of the value from which a reduction of this kind starts. */
static la_status reduce_identity(la_reduce_kind kind, la_dtype d,
                                 la_tensor **out)
{
    la_scalar s = la_scalar_int(kind == LA_RED_PROD);
    if (kind == LA_RED_AMAX) s = lowest(d);
    if (kind == LA_RED_AMIN) s = highest(d);
    return la_scalar_tensor(&s, d, out);
}

/* ---- one index along one dim of a target ---- */

/* The target stands still along the indexed dim: the loop adds the index. */
static la_status index_run_plan(la_tensor *target, const la_scatter_plan *p,
                                la_tensor *source, la_loop loop)
{
    la_index_dims dims = p->dims;
    int64_t item = (int64_t)la_itemsize(target);
    if (empty(&p->shape)) return LA_OK;
    dims.strides[0] = target->ndim ? la_strides(target)[p->dim] * item : 0;
    LA_LET(view, la_walk_view(target, &p->shape, (uint64_t)1 << p->dim, &view));
    return la_walk_run(loop, &dims, LA_WALK_WRITES, view, source, &p->index);
}

/* Scatters in the order of the walk: of equal indices the last one stays. */
la_status la_scatter_put(la_tensor *target, const la_scatter_plan *p)
{
    la_dtype d = (la_dtype)target->dtype;
    return index_run_plan(target, p, p->source, la_reduce_loop(LA_RED_NONE, d));
}

/* A value in place of the source. */
static la_status run_value(la_tensor *target, const la_scatter_plan *p,
                           la_tensor *value, la_loop loop)
{
    LA_LET(view, la_walk_view(value, &p->shape, ~(uint64_t)0, &view));
    return index_run_plan(target, p, view, loop);
}

/* Divide by how many were added up; integers round down. Counts are int64,
** with which the wide unsigned dtypes do not promote. */
static la_status index_divide(la_tensor *target, const la_scatter_plan *p,
                              bool with_self)
{
    la_scalar one = la_scalar_int(1), start = la_scalar_int(with_self);
    LA_LET(unit, la_scalar_tensor(&one, LA_INT64, &unit));
    LA_LET(count,
           la_tensor_empty(target->ndim, la_sizes(target), LA_INT64, &count));
    int64_t *n = (int64_t *)la_data(count);
    for (int64_t i = 0; i < count->numel; i++) n[i] = start.i;
    LA_TRY(run_value(count, p, unit, la_reduce_loop(LA_RED_SUM, LA_INT64)));
    for (int64_t i = 0; i < count->numel; i++) n[i] += n[i] == 0;
    la_dtype d = (la_dtype)target->dtype;
    if (la_is_inexact(d))
        return la_run_(div, target, count);
    LA_LET(wide, la_run(astype, &wide, target, la_v_dtype(LA_INT64)));
    LA_LET(whole, la_run(floor_divide, &whole, wide, count));
    return la_run_(copy_, target, whole);
}

/* Without self, the elements that will be written become the identity first;
** the others stay as they are. However many steps write the target, its version
** is counted by the operation that was called. */
la_status la_scatter_reduce(la_tensor *target, const la_scatter_plan *p,
                            la_reduce_kind kind, bool with_self)
{
    LA_WITHOUT_KEYS(1u << LA_KEY_INPLACE_OR_VIEW);
    la_dtype d = (la_dtype)target->dtype;
    la_loop loop = la_reduce_loop(kind, d);
    bool rounds = kind != LA_RED_AMAX && kind != LA_RED_AMIN;
    if (rounds && la_is_half(d))
        return la_scatter_in_float32(target, p, kind, with_self);
    if (!with_self) {
        LA_OWNED identity = NULL;
        LA_TRY(reduce_identity(kind, d, &identity));
        LA_TRY(run_value(target, p, identity,
                         la_reduce_loop(LA_RED_NONE, d)));
    }
    LA_TRY(index_run_plan(target, p, p->source, loop));
    return kind == LA_RED_MEAN ? index_divide(target, p, with_self) : LA_OK;
}
