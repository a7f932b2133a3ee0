/* Levels, headers of tensors with a batch, and what is behind them. */
#include "vmap/vmap.h"

#include "op/call.h"
#include "op/dispatch.h"
#include "op/op.h"
#include "tensor/names.h"
#include "tensor/shape.h"
#include "vmap/vmap_call.h"

static la_status vmap_call(la_frame *f);

la_status la_vmap_open(la_vmap *v, int64_t size, la_randomness randomness)
{
    static _Atomic uint32_t numbers;
    la_context *c = la_ctx();
    int depth = c->vmap ? c->vmap->depth + 1 : 1;
    if (depth > LA_MAX_DIMS)
        return la_error(LA_EARG, "more than %d calls of vmap inside of each "
                        "other", LA_MAX_DIMS);
    la_vmap_kernel = vmap_call;
    *v = (la_vmap){c->vmap, size, atomic_fetch_add(&numbers, 1), (uint8_t)depth,
                   randomness, 0};
    c->vmap = v;
    return LA_OK;
}

void la_vmap_close(la_vmap *v) { la_ctx()->vmap = v->outer; }

la_status la_vmap_level(const la_tensor *t, la_vmap **out)
{
    la_vmap *v = la_ctx()->vmap;
    *out = NULL;
    if (!(t->flags & LA_F_BATCHED)) return LA_OK;
    while (v && v->number != t->seen_version) v = v->outer;
    if (!v)
        return la_error(LA_ESTATE, "the tensor stands for one element of a "
                        "batch inside a function that la.vmap ran, which has "
                        "ended: return it from the function to keep it");
    *out = v;
    return LA_OK;
}

/* Bits are told, so that is_conj and is_neg are right. */
la_status la_vmap_header(const la_vmap *v, la_tensor *owned, la_tensor **out)
{
    LA_OWNED behind = owned;
    la_tensor *t;
    LA_TRY(la_tensor_deferred(behind->ndim - 1, la_sizes(behind) + 1,
                              la_strides(behind) + 1, (la_dtype)behind->dtype,
                              &t));
    t->flags |= LA_F_BATCHED | LA_F_NO_HISTORY
        | (behind->flags & (LA_F_CONJ | LA_F_NEG));
    t->device = behind->device;
    t->seen_version = v->number;
    t->base = behind;
    behind = NULL;
    *out = t;
    return LA_OK;
}

/* A view with dim 'from' as dim 'to', without names. A view even where nothing
** moves: what the function does to the tensor's metadata is its own. */
static la_status level_moved(la_tensor *t, int from, int to, la_tensor **out)
{
    int64_t order[LA_MAX_DIMS];
    for (int n = 0, d = 0; n < t->ndim; n++) {
        d += d == from;
        order[n] = n == to ? from : d++;
    }
    LA_TRY(la_run(permute, out, t, la_v_ints(order, t->ndim)));
    la_names_release((*out)->names);
    (*out)->names = NULL;
    return LA_OK;
}

la_status la_vmap_wrap(la_vmap *v, la_tensor *t, int dim, la_tensor **out)
{
    la_tensor *front;
    if (la_sizes(t)[dim] != v->size)
        return la_error(LA_ESHAPE, "a batch of %lld, and one of %lld",
                        (long long)v->size, (long long)la_sizes(t)[dim]);
    la_vmap *before = la_vmap_enter(v->outer);
    la_status status = level_moved(t, dim, 0, &front);
    la_vmap_enter(before);
    return status ? status : la_vmap_header(v, front, out);
}

/* 'owned' with dims of size 1 after the batch, so many as there are missing to
** 'rank'. Takes it over. */
static la_status widened(la_tensor *owned, int rank, la_tensor **out)
{
    while (owned->ndim - 1 < rank) {
        la_tensor *next = NULL;
        la_status status = la_run(unsqueeze, &next, owned, 1);
        la_tensor_release(owned);
        if (status) return status;
        owned = next;
    }
    *out = owned;
    return LA_OK;
}

la_status la_vmap_behind(const la_vmap *v, la_tensor *t, int rank,
                         la_tensor **out)
{
    if (la_vmap_has(v, t))
        return widened(la_tensor_retain(t->base), rank, out);
    return la_tensor_same(t, out);
}

la_status la_vmap_expanded(const la_vmap *v, la_tensor *t, int rank,
                           la_tensor **out)
{
    int64_t sizes[LA_MAX_DIMS + 1];
    if (la_vmap_has(v, t)) return la_vmap_behind(v, t, rank, out);
    la_tensor *wide = NULL;
    if (t->ndim == LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "a batch of tensors of %d dims has too many",
                        LA_MAX_DIMS);
    sizes[0] = v->size;
    memcpy(sizes + 1, la_sizes(t), sizeof(int64_t) * (size_t)t->ndim);
    LA_TRY(la_run(expand, &wide, t, la_v_ints(sizes, t->ndim + 1)));
    return widened(wide, rank, out);
}

la_status la_vmap_unwrap(la_vmap *v, la_tensor *t, int64_t dim,
                         la_tensor **out)
{
    LA_OWNED front = NULL;
    int to;
    LA_TRY(la_wrap_dim_end(dim, t->ndim, &to));
    la_vmap *before = la_vmap_enter(v->outer);
    la_status status = la_vmap_expanded(v, t, t->ndim, &front);
    if (!status && to == 0) *out = la_tensor_retain(front);
    else if (!status) status = level_moved(front, 0, to, out);
    la_vmap_enter(before);
    return status;
}

/* ---- the dispatcher's way in ---- */

/* The innermost level among the arguments; NULL where none has a batch. */
static la_status level_look(la_tensor *t, la_vmap **v)
{
    la_vmap *own;
    if (!t) return LA_OK;
    LA_TRY(la_vmap_level(t, &own));
    if (own && (!*v || own->depth > (*v)->depth)) *v = own;
    return LA_OK;
}

static la_status level_of(const la_frame *f, la_vmap **v)
{
    *v = NULL;
    for (int k = 0; k < f->nargs; k++) {
        const la_value *a = &f->args[k];
        if (a->tag == LA_VTENSOR) LA_TRY(level_look(a->tensor, v));
        if (a->tag != LA_VTENSORS) continue;
        for (int64_t i = 0; i < a->tensors.n; i++)
            LA_TRY(level_look(a->tensors.list[i], v));
    }
    for (int k = 0; k < LA_MAX_RESULTS; k++) LA_TRY(level_look(f->outs[k], v));
    return LA_OK;
}

static bool writes_first(const la_frame *f)
{
    return f->form == LA_INPLACE || (f->op->forms & LA_MUTATES);
}

/* The first argument is changed, and has no batch. A composite that tries it
** with a tensor of its own runs once per element then. */
static la_status no_batch(const char *text)
{
    la_ctx()->wanted_batched = true;
    return la_error_at(LA_ESTATE, 1, "%s", text);
}

/* Calls that can't be made inside of a function of one element. */
static la_status level_refuse(const la_frame *f, const la_vmap *v)
{
    if (f->form == LA_OUT)
        return la_error(LA_ESTATE, "out= can't be given inside vmap: use the "
                        "result");
    if (writes_first(f) && !la_vmap_has(v, la_arg(f, 0)))
        return no_batch("inside vmap a tensor without batch can't be changed "
                        "by one with a batch: use the form that gives a new "
                        "tensor, or make it by x:new_zeros() of a tensor with "
                        "a batch");
    if (f->op->forms & LA_METADATA)
        return la_error_at(LA_ESTATE, 1, "inside vmap sizes and storage of a "
                           "tensor can't be changed: use the form that gives a "
                           "new view");
    return LA_OK;
}

static la_status no_numbers(void)
{
    return la_error(LA_ESTATE, "inside vmap random numbers are refused unless "
                    "it is told what they shall be: {randomness = 'different'} "
                    "for every element of the batch, or 'same' for all of "
                    "them");
}

static la_status run_loop(la_vcall *c)
{
    la_randomness r = c->level->randomness;
    if (r == LA_RANDOM_ERROR && la_draws_numbers(c->schema))
        return no_numbers();
    return la_vmap_loop(c, r == LA_RANDOM_SAME);
}

/* A composite runs its body on the headers; where that asks for elements (it
** may, of plain tensors) it runs once per element instead. */
static la_status run_body(la_vcall *c)
{
    la_context *context = la_ctx();
    if ((c->f->op->forms & (LA_READS_VALUES | LA_MUTATES))
        || (c->schema->nresults > 0 && c->schema->results[0] == LA_VBOOL))
        return run_loop(c);
    context->wanted_batched = false;
    c->level->bodies++;
    la_status status = la_run_body(c->f);
    c->level->bodies--;
    if (!status || !context->wanted_batched) return status;
    context->wanted_batched = false;
    la_drop_results(c->f);
    c->f->nresults = 0;
    return run_loop(c);
}

static la_status run_rule(la_vcall *c)
{
    bool done = false;
    LA_TRY(la_vmap_by_rule(c, &done));
    return done ? LA_OK : run_loop(c);
}

/* A call without any batch, once for all elements. */
static la_status run_outside(la_vcall *c)
{
    la_vmap *before = la_vmap_enter(c->level->outer);
    la_status status = la_dispatch(c->f);
    la_vmap_enter(before);
    return status;
}

/* Runs operations that draw numbers: composites by their parts, where these see
** a batch, or refuse. */
static la_status run_random(la_vcall *c, bool batched)
{
    bool parts = batched || c->level->randomness == LA_RANDOM_ERROR;
    if (parts && (c->f->op->forms & LA_COMPOSITE)
        && !(c->f->op->forms & LA_MUTATES)) return run_body(c);
    switch (c->level->randomness) {
    case LA_RANDOM_SAME:
        return batched ? la_vmap_loop(c, true) : run_outside(c);
    case LA_RANDOM_DIFFERENT:
        if (!batched && writes_first(c->f))
            return no_batch("inside vmap with randomness = 'different' a "
                            "tensor without batch can't be filled with random "
                            "numbers: use the form that gives a new tensor");
        return run_rule(c);
    default:
        return no_numbers();
    }
}

static la_status vmap_call(la_frame *f)
{
    la_vcall c;
    c.f = f;
    c.schema = la_schema_of(f->op);
    c.nlists = 0;
    c.numbers = false;
    LA_TRY(level_of(f, &c.level));
    bool batched = c.level != NULL;
    if (!batched) c.level = la_ctx()->vmap;
    else LA_TRY(level_refuse(f, c.level));
    c.rank = 0;
    for (int k = 0; k < f->nargs; k++) {
        const la_tensor *t = la_arg(f, k);
        if (t && t->ndim > c.rank) c.rank = t->ndim;
    }
    if (la_draws_numbers(c.schema)) return run_random(&c, batched);
    return f->op->forms & LA_COMPOSITE ? run_body(&c) : run_rule(&c);
}
