/*
** Sums, products and means of 16-bit floats through an index: the accumulators
** are float32 and each written element is rounded once. Combined in their own
** dtype, the third of a thousand small values would already be lost.
**
** The target is widened as a whole, or where that would cost more than the
** values that are written, only the slices that any index names.
*/
#include "op/call.h"
#include "op/composite.h"
#include "op/index/index.h"

/* A target of at most so many elements for each written one is widened whole:
** converting is a few times faster than combining, and needs no sort. */
enum { WIDEN_UP_TO = 4 };

/* The target where the walk can reach it: all of 'dim', and of the others as
** much as the walk has. */
static la_status reachable(la_tensor *target, const la_scatter_plan *p,
                           la_tensor **out)
{
    la_walk_shape shape = p->shape;
    shape.sizes[p->dim] = la_sizes(target)[p->dim];
    return la_walk_view(target, &shape, 0, out);
}

/* A dense copy of the indices, counted from 1; dims in which they repeat
** (stride 0) have size 1. *repeats is the set of those dims. */
static la_status front_indices(const la_scatter_plan *p, uint64_t *repeats,
                               la_tensor **out)
{
    la_walk_shape shape = p->shape;
    *repeats = 0;
    for (int d = 0; d < shape.ndim; d++)
        if (la_strides(p->index)[d] == 0) {
            shape.sizes[d] = 1;
            *repeats |= (uint64_t)1 << d;
        }
    LA_LET(few, la_walk_view(p->index, &shape, 0, &few));
    LA_TRY(la_tensor_empty(shape.ndim, shape.sizes, LA_INT64, out));
    LA_TRY(la_run_(copy_, *out, few));
    int64_t *at = (int64_t *)la_data(*out);
    for (int64_t i = 0; i < (*out)->numel; i++)
        if (at[i] < 0) at[i] += p->dims.sizes[0] + 1;
    return LA_OK;
}

/* The plan with a source in float32, on the widened target 'wide'. */
static la_status reduce_wide(la_tensor *wide, const la_scatter_plan *p,
                             la_reduce_kind kind, bool with_self)
{
    la_scatter_plan q = *p;
    LA_LET(source, la_run(astype, &source, p->source, la_v_dtype(LA_FLOAT32)));
    q.source = source;
    return la_scatter_reduce(wide, &q, kind, with_self);
}

/* The slices that are named, in the order of their indices, widened, combined
** by the index's position among them, and put back. */
static la_status reduce_named(la_tensor *target, const la_scatter_plan *p,
                              la_reduce_kind kind, bool with_self)
{
    la_scatter_plan q = *p;
    uint64_t repeats;
    la_value distinct[LA_MAX_RESULTS];
    LA_CHAIN(w);
    LA_LET(view, reachable(target, p, &view));
    LA_LET(at, front_indices(p, &repeats, &at));
    LA_TRY(la_run_many(unique_inverse, distinct, at));
    LA_OWNED values = distinct[0].tensor;
    LA_OWNED inverse = distinct[1].tensor;
    LA_LET(walk, la_walk_view(inverse, &p->shape, repeats, &walk));
    q.index = walk;
    q.dims.sizes[0] = values->numel;
    la_tensor *slices = R(index_select, view, p->dim, values);
    la_tensor *wide = R(astype, slices, la_v_dtype(LA_FLOAT32));
    if (w->status) return w->status;
    LA_TRY(reduce_wide(wide, &q, kind, with_self));
    la_tensor *done = R(astype, wide, la_v_dtype((la_dtype)target->dtype));
    if (w->status) return w->status;
    return la_run_(index_copy, view, p->dim, values, done);
}

la_status la_scatter_in_float32(la_tensor *target, const la_scatter_plan *p,
                                la_reduce_kind kind, bool with_self)
{
    if (!p->dims.bad && target->ndim > 0
        && target->numel > WIDEN_UP_TO * p->source->numel)
        return reduce_named(target, p, kind, with_self);
    LA_LET(wide, la_run(astype, &wide, target, la_v_dtype(LA_FLOAT32)));
    LA_TRY(reduce_wide(wide, p, kind, with_self));
    return la_run_(copy_, target, wide);
}
