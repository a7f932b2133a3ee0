/*
** A call on what is behind the headers, and the rules that most rows follow:
** tensors get their batch in front, dims move by one.
*/
#include "vmap/rules.h"
#include "vmap/vmap_call.h"

#include "op/call.h"
#include "op/families.h"
#include "op/op.h"
#include "tensor/promote.h"
#include "tensor/shape.h"

/* ---- arguments ---- */

void la_vmap_put(la_vcall *c, int k, la_tensor *owned)
{
    c->args[k] = la_v_tensor(owned);
    c->args[k].given = c->f->args[k].given;
}

int64_t *la_vmap_list(la_vcall *c, int k, int64_t n)
{
    int64_t *list = c->lists[c->nlists++];
    c->args[k] = la_v_ints(list, n);
    return list;
}

/* Takes the tensor behind 't', as the call needs it. A number stays one: it
** adapts to the dtype of what it meets. */
static la_status vmap_take_tensor(const la_vcall *c, la_vmap_way way,
                                  la_tensor *t, la_tensor **out)
{
    bool number = (t->flags & LA_F_WRAPPED) && !(t->flags & LA_F_BATCHED);
    if (way == LA_EXPAND && !number)
        return la_vmap_expanded(c->level, t, t->ndim, out);
    return la_vmap_behind(c->level, t, c->rank, out);
}

static la_status take_list(const la_vcall *c, la_vmap_way way,
                           const la_value *from, la_value *to)
{
    LA_TRY(la_list_new(from->tensors.n, to));
    for (int64_t i = 0; i < from->tensors.n; i++)
        if (from->tensors.list[i])
            LA_TRY(vmap_take_tensor(c, way, from->tensors.list[i],
                                    &to->tensors.list[i]));
    return LA_OK;
}

/* Arguments that a rule has put are left alone. */
la_status la_vmap_take(la_vcall *c, la_vmap_way way)
{
    for (int k = 0; k < c->f->nargs; k++) {
        const la_value *v = &c->f->args[k];
        la_tensor *t;
        if (v->tag == LA_VTENSOR && c->args[k].tag == LA_VNONE) {
            LA_TRY(vmap_take_tensor(c, way, v->tensor, &t));
            la_vmap_put(c, k, t);
        } else if (v->tag == LA_VTENSORS && c->args[k].tag == LA_VNONE) {
            LA_TRY(take_list(c, way, v, &c->args[k]));
        }
    }
    return LA_OK;
}

/* Tensors come by la_vmap_take or la_vmap_put. Channels last and names
** of dims speak of all dims of a tensor, and there are others now. */
static void vmap_begin(la_vcall *c)
{
    c->g = *c->f;
    c->g.args = c->args;
    c->g.nresults = 0;
    memset(c->g.outs, 0, sizeof c->g.outs);
    for (int k = 0; k < c->f->nargs; k++) {
        c->args[k] = c->f->args[k];
        const la_value *v = &c->args[k];
        bool row_major = v->tag == LA_VFORMAT
            && (v->format == LA_PRESERVE || v->format == LA_FORMAT_CONTIGUOUS);
        if (v->tag == LA_VTENSOR || v->tag == LA_VTENSORS
            || (v->tag == LA_VFORMAT && !row_major) || v->tag == LA_VNAMES)
            c->args[k].tag = LA_VNONE;
    }
}

static void vmap_end(la_vcall *c)
{
    for (int k = 0; k < c->f->nargs; k++)
        if (c->args[k].tag == LA_VTENSOR || c->args[k].tag == LA_VTENSORS)
            la_value_drop(&c->args[k]);
}

/* ---- results ---- */

static bool vmap_writes_first(const la_frame *f)
{
    return f->form == LA_INPLACE || (f->op->forms & LA_MUTATES);
}

/* A result without the batch is the same for all of it (qr without Q gives an
** empty one). */
la_status la_vmap_result(la_vcall *c, int k, la_tensor *owned)
{
    la_tensor *t = owned;
    if (owned->ndim == 0 || la_sizes(owned)[0] != c->level->size) {
        la_status status = la_vmap_expanded(c->level, owned, 0, &t);
        la_tensor_release(owned);
        if (status) return status;
        owned = t;
    }
    LA_TRY(la_vmap_header(c->level, owned, &t));
    la_set_result(c->f, k, t);
    return LA_OK;
}

/* Results of numbers that were given a dim lose it again. */
static la_status vmap_narrow(la_vcall *c)
{
    la_frame *g = &c->g;
    for (int k = 0; k < g->nresults; k++) {
        la_tensor *t = g->results[k].tensor, *cut = NULL;
        if (g->results[k].tag != LA_VTENSOR || t->ndim != 2) continue;
        LA_TRY(la_run(select, &cut, t, 1, 0));
        la_tensor_release(t);
        g->results[k].tensor = cut;
    }
    return LA_OK;
}

la_status la_vmap_run(la_vcall *c)
{
    la_frame *g = &c->g;
    if (c->f->form == LA_INPLACE) g->outs[0] = c->args[0].tensor;
    LA_TRY(la_dispatch(g));
    if (vmap_writes_first(c->f)) {
        la_drop_results(g);
        la_set_result(c->f, 0, la_tensor_retain(c->f->args[0].tensor));
        return LA_OK;
    }
    la_status status = c->numbers ? vmap_narrow(c) : LA_OK;
    for (int k = 0; k < g->nresults; k++) {
        la_value v = g->results[k];
        if (v.tag != LA_VTENSOR || status) la_value_drop(&v);
        else status = la_vmap_result(c, k, v.tensor);
    }
    if (status) la_drop_results(c->f);
    return status;
}

/* ---- element-wise ---- */

/* A batch of numbers is a vector, but promotes like the numbers: all of no dim
** are brought to the dtype of the result before. */
static la_status rank_numbers(la_vcall *c, int first, int last)
{
    la_result_type r = LA_RESULT_TYPE_INIT;
    la_dtype dtype;
    bool any = false;
    for (int k = first; k < last; k++) {
        const la_tensor *t = la_varg(c, k);
        if (!t) continue;
        la_result_type_add(&r, t);
        any |= t->ndim == 0 && la_vmap_arg(c, k);
    }
    if (!any) return LA_OK;
    LA_TRY(la_result_type_get(&r, &dtype));
    for (int k = first; k < last; k++) {
        la_tensor *t = la_varg(c, k), *as = NULL;
        if (!t || t->ndim > 0 || t->dtype == dtype
            || (t->flags & LA_F_WRAPPED) || (k == 0 && vmap_writes_first(c->f)))
            continue;
        LA_TRY(la_run(to_dtype, &as, c->args[k].tensor, la_v_dtype(dtype)));
        la_tensor_release(c->args[k].tensor);
        la_vmap_put(c, k, as);
    }
    return LA_OK;
}

/* Element-wise: ranks are made equal, broadcasting does the rest. Where the
** first argument would have to grow in place, the loop says so. */
la_status la_vmap_rule_each(la_vcall *c, bool *done)
{
    const la_family *family = c->f->op->family;
    if (vmap_writes_first(c->f) && c->rank > la_varg(c, 0)->ndim) return LA_OK;
    LA_TRY(la_vmap_take(c, LA_ALIGN));
    if (family) LA_TRY(rank_numbers(c, family->nraw, family->ninputs));
    *done = true;
    return la_vmap_run(c);
}

/* ---- dims ---- */

static bool vmap_has_param(const la_vcall *c, const char *word)
{
    size_t n = strlen(word);
    for (int k = 0; k < c->schema->nparams; k++) {
        const la_word *name = &c->schema->params[k].name;
        if ((size_t)name->n == n && memcmp(name->text, word, n) == 0)
            return true;
    }
    return false;
}

/* Does the row make fewer elements of many? An empty list of dims is all of
** them there. */
static bool vmap_reduces(const la_vcall *c)
{
    return vmap_has_param(c, "keepdim");
}

/* Argument k, a list of dims: by one up, from the end made from the front, nil
** written out. */
static la_status shift_dims(la_vcall *c, int k, int rank)
{
    const la_value *v = &c->f->args[k];
    bool all = v->tag == LA_VNONE || (v->ints.n == 0 && vmap_reduces(c));
    int64_t n = all ? rank : v->ints.n;
    if (n > LA_MAX_DIMS)
        return la_error_at(LA_EARG, k + 1, "%lld dims", (long long)n);
    int64_t *list = la_vmap_list(c, k, n);
    for (int64_t i = 0; i < n; i++) {
        int d = (int)i;
        if (!all)
            LA_TRY(la_blame(la_wrap_dim(v->ints.list[i], rank, &d), k + 1));
        list[i] = d + 1;
    }
    /* While they have the caller's numbers; those of roll may come twice. */
    uint64_t mask;
    return all || vmap_has_param(c, "shifts") ? LA_OK
        : la_dim_mask((int)n, v->ints.list, rank, &mask);
}

/* The dims of the call, by one up. */
static la_status vmap_shift(la_vcall *c, int rank)
{
    for (int k = 0; k < c->schema->nparams; k++) {
        la_type type = c->schema->params[k].type;
        int d;
        if (type == LA_TYPE_DIM && c->f->args[k].tag == LA_VINT) {
            LA_TRY(la_blame(la_wrap_dim(c->f->args[k].i, rank, &d), k + 1));
            c->args[k].i = d + 1;
        } else if (type == LA_TYPE_DIMS || type == LA_TYPE_DIMS_VARIADIC) {
            LA_TRY(shift_dims(c, k, rank));
        }
    }
    return LA_OK;
}

/* Is a single dim left out, which then means everything as one row? */
static bool lacks_dim(const la_vcall *c)
{
    for (int k = 0; k < c->schema->nparams; k++)
        if (c->schema->params[k].type == LA_TYPE_DIM
            && c->f->args[k].tag == LA_VNONE) return true;
    return false;
}

static bool keeps_dims(const la_vcall *c)
{
    for (int k = 0; k < c->schema->nparams; k++) {
        const la_word *name = &c->schema->params[k].name;
        if (name->n == 7 && memcmp(name->text, "keepdim", 7) == 0)
            return c->f->args[k].tag == LA_VBOOL && c->f->args[k].b;
    }
    return false;
}

/* The first argument as rows, one per element of the batch. */
static la_status flatten(la_vcall *c)
{
    int64_t sizes[2] = {c->level->size, -1};
    la_tensor *flat = NULL, *t = c->args[0].tensor;
    if (c->level->size == 0 || t->numel == 0) sizes[1] = la_varg(c, 0)->numel;
    LA_TRY(la_run(reshape, &flat, t, la_v_ints(sizes, 2)));
    la_tensor_release(t);
    la_vmap_put(c, 0, flat);
    for (int k = 0; k < c->schema->nparams; k++)
        if (c->schema->params[k].type == LA_TYPE_DIM) c->args[k] = la_v_int(1);
    return LA_OK;
}

/* One tensor, and dims of it. */
la_status la_vmap_rule_dims(la_vcall *c, bool *done)
{
    int rank = la_varg(c, 0)->ndim;
    bool flat = lacks_dim(c);
    if (flat && keeps_dims(c) && rank > 1) return LA_OK;
    if (rank == 0 && (c->f->op->forms & LA_VIEW_OP)) return LA_OK;
    for (int k = 1; k < c->f->nargs; k++)
        if (la_varg(c, k)) return LA_OK;
    la_tensor *t;
    LA_TRY(la_vmap_behind(c->level, la_varg(c, 0), rank ? rank : 1, &t));
    la_vmap_put(c, 0, t);
    LA_TRY(vmap_shift(c, rank ? rank : 1));
    *done = true;
    if (flat) LA_TRY(flatten(c));
    c->numbers = rank == 0;
    return la_vmap_run(c);
}

/* Several tensors that go together, and dims of them. */
la_status la_vmap_rule_together(la_vcall *c, bool *done)
{
    bool number = false;
    int rank = c->rank;
    for (int k = 0; k < c->f->nargs; k++) {
        const la_value *v = &c->f->args[k];
        number |= v->tag == LA_VTENSOR && v->tensor->ndim == 0;
        if (v->tag == LA_VTENSOR && k == 0) rank = v->tensor->ndim;
        for (int64_t i = 0; v->tag == LA_VTENSORS && i < v->tensors.n; i++) {
            const la_tensor *t = v->tensors.list[i];
            number |= t->ndim == 0 || (i > 0 && t->ndim != rank);
            rank = t->ndim;
        }
    }
    if (number) return LA_OK;
    LA_TRY(la_vmap_take(c, LA_EXPAND));
    LA_TRY(vmap_shift(c, rank));
    *done = true;
    return la_vmap_run(c);
}

/* Takes the batch as a dim in front, but for the index, which counts along one
** dim of all elements of the batch. */
la_status la_vmap_rule_by_index(la_vcall *c, bool *done)
{
    if (la_vmap_arg(c, 2) || la_varg(c, 0)->ndim == 0) return LA_OK;
    for (int k = 1; k < c->f->nargs; k++) {
        la_tensor *t = la_varg(c, k);
        if (t && t->ndim == 0 && la_vmap_arg(c, k)) return LA_OK;
        if (t && (t->ndim == 0 || k == 2))
            la_vmap_put(c, k, la_tensor_retain(t));
    }
    LA_TRY(la_vmap_take(c, LA_EXPAND));
    LA_TRY(vmap_shift(c, la_varg(c, 0)->ndim));
    *done = true;
    return la_vmap_run(c);
}

/* ---- trailing dims ---- */

/* Operations of whole elements, with so many dims at least; others' shapes are
** refused by the operation itself, of which the loop hears. */
static la_status vmap_trailing(la_vcall *c, int least, la_vmap_way way,
                               bool *done)
{
    for (int k = 0; k < c->f->nargs; k++)
        if (la_varg(c, k) && la_varg(c, k)->ndim < least) return LA_OK;
    LA_TRY(la_vmap_take(c, way));
    *done = true;
    return la_vmap_run(c);
}

la_status la_vmap_rule_whole(la_vcall *c, bool *done)
{
    return vmap_trailing(c, 0, LA_EXPAND, done);
}

la_status la_vmap_rule_vectors(la_vcall *c, bool *done)
{
    return vmap_trailing(c, 1, LA_EXPAND, done);
}

la_status la_vmap_rule_matrices(la_vcall *c, bool *done)
{
    for (int k = 1; k < c->f->nargs; k++)
        if (la_varg(c, k) && la_varg(c, k)->ndim != la_varg(c, 0)->ndim)
            return LA_OK;
    return vmap_trailing(c, 2, LA_EXPAND, done);
}

/* One tensor with a batch; what goes with it is the same for all. */
la_status la_vmap_rule_first(la_vcall *c, bool *done)
{
    la_tensor *t;
    if (!la_vmap_arg(c, 0) || la_varg(c, 0)->ndim == 0) return LA_OK;
    for (int k = 1; k < c->f->nargs; k++)
        if (la_vmap_arg(c, k)) return LA_OK;
    LA_TRY(la_vmap_behind(c->level, la_varg(c, 0), 0, &t));
    la_vmap_put(c, 0, t);
    for (int k = 1; k < c->f->nargs; k++)
        if (la_varg(c, k)) la_vmap_put(c, k, la_tensor_retain(la_varg(c, k)));
    *done = true;
    return la_vmap_run(c);
}

/* ---- the table ---- */

static const la_vmap_rule rules[] = {
#define BATCH(rule) [LA_BATCH_##rule] = la_vmap_rule_##rule,
#include "op/batch.def"
#undef BATCH
};

la_status la_vmap_by_rule(la_vcall *c, bool *done)
{
    la_vmap_rule rule = rules[c->f->op->batch];
    if (!rule) return LA_OK;
    vmap_begin(c);
    la_vmap *before = la_vmap_enter(c->level->outer);
    la_status status = rule(c, done);
    la_vmap_enter(before);
    vmap_end(c);
    return status;
}
