/* Rules of rows with index tensors. */
#include "vmap/rules.h"
#include "vmap/vmap_call.h"

#include "base/runtime/memory.h"
#include "op/composite.h"
#include "op/value.h"
#include "tensor/shape.h"

static la_status indexing_give(la_vcall *c, la_chain *w, la_tensor *t,
                               bool *done)
{
    if (w->status) return w->status;
    *done = true;
    return la_vmap_result(c, 0, la_tensor_retain(t));
}

/* Dim 'from' of 't' as dim 'to'. */
static la_tensor *indexing_moved(la_chain *w, la_tensor *t, int from, int to)
{
    if (from == to) return t;
    return R(movedim, t, la_v_ints((int64_t[]){from}, 1),
                la_v_ints((int64_t[]){to}, 1));
}

/* One tensor, positions for each element: all of them at once, then told
** apart. */
static la_status select_shared(la_vcall *c, int d, bool *done)
{
    la_tensor *t = la_varg(c, 0), *index = la_varg(c, 2), *r;
    LA_CHAIN(w);
    int64_t each = index->numel, sizes[2] = {c->level->size, each};
    r = R(reshape, index->base,
             la_v_ints((int64_t[]){c->level->size * each}, 1));
    r = R(index_select, t, d, r);
    r = R(unflatten, r, d, la_v_ints(sizes, 2));
    return indexing_give(c, w, w->status ? NULL : indexing_moved(w, r, d, 0),
                         done);
}

/* Positions of its own for each element: gather takes them along the dim, the
** same for all other dims. */
la_status la_vmap_rule_index_select(la_vcall *c, bool *done)
{
    la_tensor *t = la_varg(c, 0), *index = la_varg(c, 2), *at;
    int d;
    if (!la_vmap_arg(c, 2)) return la_vmap_rule_by_index(c, done);
    if (t->ndim == 0 || index->ndim > 1) return LA_OK;
    LA_TRY(la_blame(la_wrap_dim(c->f->args[1].i, t->ndim, &d), 2));
    if (!la_vmap_arg(c, 0)) return select_shared(c, d, done);
    LA_CHAIN(w);
    la_shape s = la_shape_of(t->base);
    at = index->base;
    if (index->ndim == 0) at = R(unsqueeze, at, 1);
    for (int k = 0; k < d; k++) at = R(unsqueeze, at, 1);
    for (int k = d + 1; k < t->ndim; k++) at = R(unsqueeze, at, k + 1);
    s.sizes[d + 1] = index->numel;
    at = R(expand, at, la_v_ints(s.sizes, s.ndim));
    return indexing_give(c, w, R(gather, t->base, d + 1, at), done);
}

/* take of one tensor for all, at the positions of each. */
la_status la_vmap_rule_take(la_vcall *c, bool *done)
{
    if (la_vmap_arg(c, 0)) return LA_OK;
    la_vmap_put(c, 0, la_tensor_retain(la_varg(c, 0)));
    return la_vmap_rule_whole(c, done);
}

/* One sorted list for all, or lists that go with their values. */
la_status la_vmap_rule_searchsorted(la_vcall *c, bool *done)
{
    enum { SORTED, VALUES, SORTER = 5 };
    int rank = la_varg(c, SORTED)->ndim;
    if (rank == 0 || (la_varg(c, VALUES)->flags & LA_F_WRAPPED)) return LA_OK;
    if (rank == la_varg(c, VALUES)->ndim) return la_vmap_rule_whole(c, done);
    if (rank != 1 || la_vmap_arg(c, SORTED) || la_varg(c, SORTER)) return LA_OK;
    la_vmap_put(c, SORTED, la_tensor_retain(la_varg(c, SORTED)));
    return la_vmap_rule_whole(c, done);
}

/* ---- x[{...}] ---- */

/* Form of an index: the rank to which its tensors broadcast, where the first of
** them is, and whether others than they lie between. */
typedef struct key_form {
    int rank, first, last, count;
    bool masks, batched;
} key_form;

/* Masks count as one tensor of one dim: they become lists of positions. */
static void look_at_key(const la_vcall *c, key_form *k)
{
    const la_value *v = &c->f->args[1];
    *k = (key_form){0, -1, -1, 0, false, false};
    for (int64_t i = 0; i < v->tensors.n; i++) {
        const la_tensor *t = v->tensors.list[i];
        if (!t) continue;
        bool mask = t->dtype == LA_BOOL || t->dtype == LA_UINT8;
        int rank = mask ? 1 : t->ndim;
        if (k->first < 0) k->first = (int)i;
        k->last = (int)i;
        k->count++;
        k->masks |= mask;
        k->batched |= la_vmap_has(c->level, t);
        if (rank > k->rank) k->rank = rank;
    }
}

/* The numbers 1 to n of the elements of the batch, with so many dims of size 1
** behind. */
static la_tensor *element_numbers(la_chain *w, const la_vcall *c,
                                  const la_tensor *like, int rank)
{
    la_tensor *t = R(range, c->level->size);
    if (like->device != LA_CPU)
        t = R(to_device, t, la_v_device((la_device)like->device));
    for (int k = 0; k < rank; k++) t = R(unsqueeze, t, k + 1);
    return t;
}

/* The tensors of the index, of one rank; borrowed from 'w'. */
static void take_keys(la_chain *w, const la_vcall *c, int rank,
                      la_tensor **list)
{
    const la_value *v = &c->f->args[1];
    for (int64_t i = 0; i < v->tensors.n && !w->status; i++) {
        la_tensor *t = v->tensors.list[i];
        if (!t || !la_vmap_has(c->level, t)) {
            list[i] = t;
            continue;
        }
        la_status status = la_vmap_behind(c->level, t, rank, &list[i]);
        la_chain_take(w, status, list[i]);
    }
}

/* The batch is one dim more of self, and one more index where the tensors of
** the index have it: the numbers of its elements. What they give (the block)
** lies where the first of them is, or in front where other dims lie between. */
la_status la_vmap_rule_index(la_vcall *c, bool *done)
{
    const la_value *v = &c->f->args[1];
    la_tensor *self = la_varg(c, 0), *list[LA_MAX_DIMS + 1] = {NULL}, *r;
    bool own = la_vmap_arg(c, 0);
    key_form k;
    look_at_key(c, &k);
    if (k.count == 0 || k.count > LA_CHAIN_STEPS / 4
        || v->tensors.n >= LA_MAX_DIMS || (k.masks && k.batched)) return LA_OK;
    bool apart = k.last - k.first + 1 > k.count;
    int rank = k.rank, at = apart ? 0 : k.first;    /* of the result's block */
    LA_CHAIN(w);
    take_keys(w, c, rank, list + own);
    if (own && k.batched) list[0] = element_numbers(w, c, self, rank);
    r = w->status ? NULL : R(index, own ? self->base : self,
                             la_v_tensors(list, v->tensors.n + own));
    if (!r) return w->status;
    if (!k.batched) {       /* the batch comes before, or behind the block */
        r = indexing_moved(w, r, apart ? rank : 0, 0);
    } else if (!own) {
        r = indexing_moved(w, r, at, 0);
    } else {                /* {batch, block, rest}, or the block where it is */
        for (int d = 0; d < rank && at > 0 && r; d++)
            r = indexing_moved(w, r, 1, at + rank);
    }
    return indexing_give(c, w, r, done);
}
