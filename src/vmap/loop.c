/*
** The last way: a call that no rule knows runs once per element of the batch,
** on the slices of its arguments, and the results are stacked. What changes its
** first argument changes the slices, which are views.
*/
#include "vmap/vmap_call.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/call.h"
#include "op/op.h"
#include "tensor/shape.h"

typedef struct pass {
    la_vcall *c;
    int64_t n;              /* of the batch */
    la_value *results;      /* [n][LA_MAX_RESULTS], of the passes so far */
    int nresults;
    la_generator *generator;    /* set back before each pass; NULL: goes on */
    la_generator start;
} pass;

static void drop_args(la_vcall *c)
{
    for (int k = 0; k < c->f->nargs; k++)
        if (c->args[k].tag == LA_VTENSOR || c->args[k].tag == LA_VTENSORS)
            la_value_drop(&c->args[k]);
}

/* Element i of the batch, a view; others as they are. */
static la_status slice(const la_vmap *v, la_tensor *t, int64_t i,
                       la_tensor **out)
{
    if (la_vmap_has(v, t)) return la_run(select, out, t->base, 0, i);
    *out = t ? la_tensor_retain(t) : NULL;
    return LA_OK;
}

/* The arguments of element i; on failure none are owned. */
static la_status loop_take(la_vcall *c, int64_t i)
{
    la_status status = LA_OK;
    for (int k = 0; k < c->f->nargs; k++) {
        const la_value *from = &c->f->args[k];
        la_value *to = &c->args[k];
        *to = *from;
        if (from->tag != LA_VTENSOR && from->tag != LA_VTENSORS) continue;
        to->tag = LA_VNONE;
        if (status) continue;
        if (from->tag == LA_VTENSOR) {
            la_tensor *t;
            status = slice(c->level, from->tensor, i, &t);
            if (!status) la_vmap_put(c, k, t);
            continue;
        }
        status = la_list_new(from->tensors.n, to);
        for (int64_t j = 0; !status && j < from->tensors.n; j++)
            status = slice(c->level, from->tensors.list[j], i,
                           &to->tensors.list[j]);
    }
    if (status) drop_args(c);
    return status;
}

/* The call for element i; its results are kept for later. */
static la_status run_one(pass *p, int64_t i)
{
    la_vcall *c = p->c;
    if (p->generator) *p->generator = p->start;
    LA_TRY(loop_take(c, i));
    c->g = *c->f;
    c->g.args = c->args;
    c->g.nresults = 0;
    memset(c->g.outs, 0, sizeof c->g.outs);
    if (c->f->form == LA_INPLACE) c->g.outs[0] = c->args[0].tensor;
    la_status status = la_dispatch(&c->g);
    drop_args(c);
    if (status) return status;
    p->nresults = c->g.nresults;
    memcpy(p->results + i * LA_MAX_RESULTS, c->g.results,
           sizeof c->g.results);
    return la_poll();
}

/* ---- results ---- */

static la_status uneven(const la_vcall *c, const la_tensor *a,
                        const la_tensor *b)
{
    char one[128], other[128];
    la_sizes_text(a->ndim, la_sizes(a), one, sizeof one);
    la_sizes_text(b->ndim, la_sizes(b), other, sizeof other);
    return la_error(LA_ESHAPE, "inside vmap %s has results of different "
                    "shapes for the elements of the batch, %s and %s: its "
                    "result's shape depends on data",
                    c->f->op->name, one, other);
}

/* Stack n tensors, of which 'list' is emptied; the result is f's result k, or
** entry 'at' of its list. */
static la_status stack(la_vcall *c, int64_t n, la_tensor **list,
                       la_tensor **out)
{
    for (int64_t i = 1; i < n; i++)
        if (!la_same_sizes(list[i], list[0]))
            return uneven(c, list[0], list[i]);
    la_tensor *all = NULL;
    LA_TRY(la_run(stack, &all, la_v_tensors(list, n), 0));
    return la_vmap_header(c->level, all, out);
}

/* Result k of all elements: tensors, or lists of as many for each. */
static la_status join_tensors(pass *p, int k, la_tensor **scratch)
{
    la_tensor *t = NULL;
    for (int64_t i = 0; i < p->n; i++)
        scratch[i] = p->results[i * LA_MAX_RESULTS + k].tensor;
    LA_TRY(stack(p->c, p->n, scratch, &t));
    la_set_result(p->c->f, k, t);
    return LA_OK;
}

static la_status join_lists(pass *p, int k, la_tensor **scratch)
{
    const la_value *first = &p->results[k];
    la_value v;
    int64_t n = first->tensors.n;
    for (int64_t i = 1; i < p->n; i++)
        if (p->results[i * LA_MAX_RESULTS + k].tensors.n != n)
            return la_error(LA_ESHAPE, "inside vmap %s has lists of different "
                            "lengths for the elements of the batch",
                            p->c->f->op->name);
    LA_TRY(la_list_new(n, &v));
    la_set_result_value(p->c->f, k, v);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < p->n; i++)
            scratch[i] = p->results[i * LA_MAX_RESULTS + k].tensors.list[j];
        LA_TRY(stack(p->c, p->n, scratch, &v.tensors.list[j]));
    }
    return LA_OK;
}

/* A composite that asked runs once per element then. */
static la_status not_a_tensor(const la_vcall *c)
{
    la_ctx()->wanted_batched = true;
    return la_error(LA_ESTATE, "inside vmap %s has no answer as a Lua value: "
                    "it would depend on the element of the batch",
                    c->f->op->name);
}

/* A dtype is the same for all. */
static la_status loop_join(pass *p, int k, la_tensor **scratch)
{
    const la_value *v = &p->results[k];
    switch (v->tag) {
    case LA_VTENSOR: return join_tensors(p, k, scratch);
    case LA_VTENSORS: return join_lists(p, k, scratch);
    case LA_VDTYPE: case LA_VNONE:
        la_set_result_value(p->c->f, k, *v);
        return LA_OK;
    default: return not_a_tensor(p->c);
    }
}

static la_status join_all(pass *p)
{
    la_frame *f = p->c->f;
    if (f->form == LA_INPLACE || (f->op->forms & LA_MUTATES)) {
        la_set_result(f, 0, la_tensor_retain(f->args[0].tensor));
        return LA_OK;
    }
    size_t bytes = (size_t)p->n * sizeof(la_tensor *);
    la_tensor **scratch = la_mem_alloc(bytes);
    if (!scratch) return LA_ENOMEM;
    la_status status = LA_OK;
    for (int k = 0; k < p->nresults && !status; k++)
        status = loop_join(p, k, scratch);
    la_mem_free(scratch, bytes);
    if (status) la_drop_results(f);
    return status;
}

/* ---- the loop ---- */

/* The generator that the call draws from. */
static la_generator *generator_of(const la_vcall *c)
{
    for (int k = 0; k < c->schema->nparams; k++)
        if (c->schema->params[k].type == LA_TYPE_GENERATOR
            && c->f->args[k].tag == LA_VPOINTER)
            return c->f->args[k].pointer;
    return &la_ctx()->generator;
}

/* Truth values are refused before anything is run. */
static la_status answers_tensors(const la_vcall *c)
{
    for (int k = 0; k < c->schema->nresults; k++)
        if (c->schema->results[k] == LA_VBOOL) return not_a_tensor(c);
    return LA_OK;
}

static la_status run_all(pass *p)
{
    la_status status = LA_OK;
    for (int64_t i = 0; i < p->n && !status; i++) status = run_one(p, i);
    return status ? status : join_all(p);
}

la_status la_vmap_loop(la_vcall *c, bool again)
{
    pass p = {.c = c, .n = c->level->size};
    int64_t bytes;
    LA_TRY(answers_tensors(c));
    if (p.n == 0)
        return la_error(LA_ESHAPE, "inside vmap %s runs once per element of "
                        "the batch, and this batch has none",
                        c->f->op->name);
    if (!la_mul_ok(p.n, LA_MAX_RESULTS * sizeof(la_value), &bytes)
        || !(p.results = la_mem_zalloc((size_t)bytes))) return LA_ENOMEM;
    if (again) {
        p.generator = generator_of(c);
        p.start = *p.generator;
    }
    la_vmap *before = la_vmap_enter(c->level->outer);
    la_status status = run_all(&p);
    la_vmap_enter(before);
    for (int64_t i = 0; i < p.n * LA_MAX_RESULTS; i++)
        la_value_drop(&p.results[i]);
    la_mem_free(p.results, (size_t)bytes);
    return status;
}
