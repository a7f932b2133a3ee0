/*
** Running a program with autograd above it: for results that have a history.
** Each recorded call goes through the whole dispatcher, views too, on tensors
** with the histories that they had, so that the graph is the one that eager
** code makes, and leads to the leaves of this call.
**
** A view is the last tensor that a step gave for it. One that no step gave (an
** alias that a node saved) is made on the slot's storage, without a history. A
** tensor is let go of after the last step that reads it.
*/
#include "program/program.h"

#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "op/call.h"
#include "op/op.h"
#include "program/bind.h"
#include "program/passes.h"
#include "tensor/names.h"

typedef struct graph_run {
    la_prog *p;
    la_tensor *const *arguments;
    la_tensor **now;            /* [views], owned */
    la_storage **storages;      /* [slots], counted */
    const la_prog_host *host;
    int32_t step;
} graph_run;

static void graph_hold(graph_run *g, int32_t slot, la_storage *s)
{
    if (g->storages[slot] == s) return;
    if (g->storages[slot]) la_storage_release(g->storages[slot]);
    g->storages[slot] = s ? la_storage_retain(s) : NULL;
}

static void graph_set(graph_run *g, int32_t view, la_tensor *t)
{
    la_tensor *before = g->now[view];
    g->now[view] = la_tensor_retain(t);
    la_tensor_release(before);
    graph_hold(g, la_prog_view_at(g->p, view)->slot, t->storage);
}

/* ---- the entry ---- */

/* A constant that is written or given away starts as a copy: the next run must
** find it as it was met. */
static la_status graph_constant(graph_run *g, int32_t slot)
{
    const la_prog_slot *s = la_prog_slot_at(g->p, slot);
    la_tensor *t = s->own;
    if (!s->written && !s->escapes) {
        graph_hold(g, slot, t->storage);
        return LA_OK;
    }
    LA_LET(copy, la_run(clone, &copy, t));
    graph_hold(g, slot, copy->storage);
    return LA_OK;
}

static const la_tensor *graph_object(const graph_run *g, const la_prog_slot *s)
{
    if (s->kind != LA_SLOT_OBJECT) return NULL;
    const la_tensor *t = la_bind_object(g->p, s->index, g->arguments);
    return s->grad ? la_leaf_grad(t) : t;
}

static int64_t graph_origin(const graph_run *g, const la_prog_slot *s)
{
    if (s->kind != LA_SLOT_OBJECT) return 0;
    const la_tensor *t = graph_object(g, s);
    return t ? t->offset * (int64_t)la_itemsize(t) : s->origin;
}

/* Is 't' the view, on memory that begins at 'origin'? */
static bool graph_is_view(const la_prog_view *v, const la_tensor *t,
                          int64_t origin)
{
    const la_tensor *f = v->form;
    return v->grad == (la_grad_flag(t) != 0) && t->dtype == f->dtype
        && v->bytes == t->offset * (int64_t)la_itemsize(t) - origin
        && la_same_geometry(t, f);
}

/* Objects that share memory with another one have histories of their own. */
static void graph_objects(graph_run *g)
{
    for (int32_t i = 0; i < g->p->objects.n; i++) {
        const la_prog_object *o = la_prog_object_at(g->p, i);
        if (o->slot < 0) continue;
        const la_prog_slot *s = la_prog_slot_at(g->p, o->slot);
        la_tensor *t = la_bind_object(g->p, i, g->arguments);
        if (s->kind != LA_SLOT_OBJECT || s->index == i) continue;
        for (int32_t v = s->views; v >= 0; v = la_prog_view_at(g->p, v)->next)
            if (la_prog_view_at(g->p, v)->object == i
                || (!g->now[v] && la_prog_view_at(g->p, v)->object < 0
                    && graph_is_view(la_prog_view_at(g->p, v), t,
                                     graph_origin(g, s))))
                graph_set(g, v, t);
    }
}

/* Binds what is there before the first step: constants, arguments and objects,
** gradients that objects have already. */
static la_status graph_entry(graph_run *g)
{
    la_prog *p = g->p;
    for (int32_t i = 0; i < p->slots.n; i++) {
        const la_prog_slot *s = la_prog_slot_at(p, i);
        if (s->kind == LA_SLOT_CONST) LA_TRY(graph_constant(g, i));
        if (s->kind != LA_SLOT_OBJECT) continue;
        la_tensor *t = la_bind_object(p, s->index, g->arguments);
        if (s->grad) t = la_leaf_grad(t);
        if (!t) return la_error(LA_ESTATE, "a gradient is gone");
        graph_hold(g, i, t->storage);
        for (int32_t v = s->views; v >= 0; v = la_prog_view_at(p, v)->next)
            if (la_prog_view_at(p, v)->whole) graph_set(g, v, t);
    }
    graph_objects(g);
    return LA_OK;
}

/* ---- a view that no step gave ---- */

/* The tensor of a view, made when a step first asks for it. Its header is new,
** but shows the storage that the slot has in this run, so that writes of other
** steps are seen. */
static la_status graph_need(graph_run *g, int32_t view, la_tensor **out)
{
    *out = view < 0 ? NULL : g->now[view];
    if (view < 0 || *out) return LA_OK;
    const la_prog_view *v = la_prog_view_at(g->p, view);
    /* A write gave it a history since. */
    int32_t twin = la_prog_twin(g->p, view, !v->grad);
    if (twin >= 0 && g->now[twin]
        && (la_grad_flag(g->now[twin]) != 0) == v->grad) {
        graph_set(g, view, g->now[twin]);
        *out = g->now[view];
        return LA_OK;
    }
    la_storage *s = g->storages[v->slot];
    int64_t item = (int64_t)la_itemsize(v->form);
    int64_t at = graph_origin(g, la_prog_slot_at(g->p, v->slot)) + v->bytes;
    if (!s || at < 0 || at % item)
        return la_error(LA_ESTATE, "a compiled function lost a tensor");
    LA_LET(t, la_tensor_form(v->form, &t));
    la_tensor_show(t, s, at / item);
    la_tensor_count_as(t, graph_object(g, la_prog_slot_at(g->p, v->slot)));
    graph_set(g, view, t);
    *out = t;
    return LA_OK;
}

/* ---- steps ---- */

/* Puts the run's tensors into the step's own list of arguments, where they are
** borrowed until the step has run. */
static la_status graph_arguments(graph_run *g, la_prog_step *s)
{
    int32_t list = s->lists;
    for (int k = 0; k < s->nargs; k++) {
        la_value *v = &s->args[k];
        if (s->views[k] >= 0) LA_TRY(graph_need(g, s->views[k], &v->tensor));
        for (int64_t i = 0; v->tag == LA_VTENSORS && i < v->tensors.n; i++)
            LA_TRY(graph_need(g, la_prog_member(g->p, list++),
                              &v->tensors.list[i]));
    }
    return LA_OK;
}

/* A result is what was met as made by this step, with and without a history,
** which a write may give it later. What no step made is the last tensor of its
** elements that has a history as it had. */
static void graph_give(graph_run *g, int32_t view, la_tensor *t)
{
    const la_prog_view *own = la_prog_view_at(g->p, view);
    bool grad = la_grad_flag(t) != 0;
    graph_hold(g, own->slot, t->storage);
    for (int32_t i = la_prog_slot_at(g->p, own->slot)->views; i >= 0;
         i = la_prog_view_at(g->p, i)->next) {
        const la_prog_view *v = la_prog_view_at(g->p, i);
        if ((v->whole || v->object >= 0) && g->now[i]) continue;
        bool is = v->step < 0 ? v->grad == grad
            : v->step == g->step || v->step == own->step;
        if (is && la_prog_same_view(v, own)) graph_set(g, i, t);
    }
}

/* Takes the results over; those that no later step reads are released with the
** frame. */
static void graph_results(graph_run *g, const la_prog_step *s,
                          const la_frame *f)
{
    for (int k = 0; k < f->nresults; k++) {
        const la_value *v = &f->results[k];
        if (v->tag == LA_VTENSOR && s->results[k] >= 0)
            graph_give(g, s->results[k], v->tensor);
        for (int64_t m = 0; v->tag == LA_VTENSORS && m < v->tensors.n; m++) {
            int32_t view = m < s->nlisted
                ? la_prog_member(g->p, s->list_results + (int32_t)m) : -1;
            if (view >= 0) graph_give(g, view, v->tensors.list[m]);
        }
    }
}

static la_status graph_call(graph_run *g, la_prog_step *s)
{
    la_frame f = {.op = s->op, .form = (la_form)s->form, .nargs = s->nargs,
                  .args = s->args};
    LA_TRY(graph_arguments(g, s));
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        LA_TRY(graph_need(g, s->outs[k], &f.outs[k]));
    la_ctx()->no_grad = s->no_grad;
    la_status status = la_dispatch(&f);
    if (status) return status;
    graph_results(g, s, &f);
    la_drop_results(&f);
    return LA_OK;
}

static la_status graph_leaf(graph_run *g, const la_prog_step *s)
{
    la_tensor *leaf = la_bind_object(g->p, s->object, g->arguments), *t;
    if (s->kind == LA_STEP_REQUIRE) return la_require_grad(leaf, s->on);
    LA_TRY(graph_need(g, s->view, &t));
    return la_set_grad(leaf, t);
}

static la_status graph_look(graph_run *g, la_prog_step *s)
{
    la_tensor *t;
    LA_TRY(graph_need(g, s->view, &t));
    return la_look_again(g->p, s, t);
}

/* A loop runs flat; what it gives has no derivative, and says so. */
static la_status graph_loop(graph_run *g, la_prog_step *s)
{
    la_tensor *operands[64], *out[64] = {NULL};
    bool grad = false;
    for (int32_t k = 0; k < la_loop_operands(s); k++) {
        LA_TRY(graph_need(g, la_prog_member(g->p, s->lists + k),
                          &operands[k]));
        grad |= la_requires_grad(operands[k]);
    }
    LA_TRY(la_loop_run(s, operands, out, g->host));
    la_status status = LA_OK;
    for (int32_t k = 0; k < s->nlisted; k++) {
        if (!status && grad && !s->no_grad && !s->loop->chooses
            && out[k] != operands[k])
            status = la_loop_history(out[k], la_loop_operands(s), operands);
        int32_t view = la_prog_member(g->p, s->list_results + k);
        if (!status && view >= 0) graph_give(g, view, out[k]);
        la_tensor_release(out[k]);
    }
    return status;
}

/* Lets go of a view whose last step this was. */
static void graph_let_go(void *context, int32_t view)
{
    graph_run *g = context;
    const la_prog_view *v = la_prog_view_at(g->p, view);
    if (v->last != g->step || v->whole) return;
    la_tensor_drop(&g->now[view]);
    if (la_prog_slot_at(g->p, v->slot)->last == g->step
        && !la_prog_slot_at(g->p, v->slot)->escapes)
        graph_hold(g, v->slot, NULL);
}

static void graph_clean(graph_run *g, const la_prog_step *s)
{
    la_prog_reads(g->p, s, graph_let_go, g);
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (s->results[k] >= 0) graph_let_go(g, s->results[k]);
    for (int32_t k = 0; k < s->nlisted; k++) {
        int32_t view = la_prog_member(g->p, s->list_results + k);
        if (view >= 0) graph_let_go(g, view);
    }
}

static la_status graph_step(graph_run *g, la_prog_step *s)
{
    if (s->kind == LA_STEP_LOOK) return graph_look(g, s);
    if (s->kind == LA_STEP_LOOP) return graph_loop(g, s);
    if (s->kind != LA_STEP_CALL) return graph_leaf(g, s);
    for (int k = 0; k < s->nsources; k++)
        LA_TRY(g->host->read(g->host->context, s->sources[k].source,
                             &s->args[s->sources[k].arg]));
    la_status status = graph_call(g, s);
    if (status == LA_ENOMEM && g->host->collect
        && g->host->collect(g->host->context)) status = graph_call(g, s);
    return status;
}

/* Composites ended with this step, whose results are views of what nobody else
** has: they have become no part of that. */
static void graph_own(graph_run *g)
{
    for (int32_t v = 0; v < g->p->views.n; v++)
        if (la_prog_view_at(g->p, v)->owned == g->step + 1 && g->now[v]
            && g->now[v]->base) la_own_memory(g->now[v]);
}

static la_status graph_steps(graph_run *g, bool early)
{
    for (int32_t i = 0; i < g->p->steps.n; i++) {
        la_prog_step *s = la_prog_step_at(g->p, i);
        g->step = i;
        if (s->dead && s->owns && !early) graph_own(g);
        if (s->dead || s->early != early) continue;
        la_status status = graph_step(g, s);
        if (status) {
            g->p->failed = s;
            g->p->unfit |= early;
            return status;
        }
        if (s->owns) graph_own(g);
        if (!early) graph_clean(g, s);
    }
    return LA_OK;
}

static la_status graph_outputs(graph_run *g, la_tensor **out)
{
    la_status status = LA_OK;
    int32_t i = 0;
    for (; i < g->p->outputs.n && !status; i++) {
        const la_prog_output *o = la_prog_output_at(g->p, i);
        la_tensor *t = NULL;
        if (o->object >= 0) t = la_bind_object(g->p, o->object, g->arguments);
        else status = graph_need(g, o->view, &t);
        if (status) break;
        out[i] = la_tensor_retain(t);
        if (!o->history && o->object < 0) status = la_bind_history(o, t);
    }
    while (status && i-- > 0) la_tensor_drop(&out[i]);
    return status;
}

/* Views of results live to the end, and those of the same elements, which a
** write may have given a history since. */
static void graph_keep_outputs(la_prog *p)
{
    for (int32_t i = 0; i < p->outputs.n; i++) {
        const la_prog_output *o = la_prog_output_at(p, i);
        if (o->view < 0) continue;
        const la_prog_view *own = la_prog_view_at(p, o->view);
        for (int32_t k = la_prog_slot_at(p, own->slot)->views; k >= 0;
             k = la_prog_view_at(p, k)->next)
            if (la_prog_same_view(la_prog_view_at(p, k), own))
                la_prog_view_at(p, k)->last = p->steps.n;
    }
}

static la_status graph_all(graph_run *g, la_tensor **out)
{
    LA_TRY(graph_entry(g));
    if (g->p->chooses) LA_TRY(graph_steps(g, true));
    LA_TRY(graph_steps(g, false));
    return graph_outputs(g, out);
}

/* The run holds its views and storages itself, by number, and gives up all
** of them at the end, after a failure too. Results have references of their
** own. */
la_status la_prog_run_graph(la_prog *p, la_tensor *const *arguments,
                            la_tensor **out, const la_prog_host *host)
{
    la_context *c = la_ctx();
    size_t views = ((size_t)p->views.n + 1) * sizeof(la_tensor *);
    size_t slots = ((size_t)p->slots.n + 1) * sizeof(la_storage *);
    bool no_grad = c->no_grad;
    graph_run g = {.p = p, .arguments = arguments, .host = host,
                   .now = la_mem_zalloc(views),
                   .storages = la_mem_zalloc(slots)};
    la_status status = g.now && g.storages ? LA_OK : LA_ENOMEM;
    p->busy = true;
    p->unfit = false;
    p->failed = NULL;
    if (!p->runs) graph_keep_outputs(p);
    LA_WITHOUT_KEYS(1u << LA_KEY_RECORD);
    if (!status) status = graph_all(&g, out);
    for (int32_t i = 0; g.now && i < p->views.n; i++)
        la_tensor_release(g.now[i]);
    for (int32_t i = 0; g.storages && i < p->slots.n; i++)
        graph_hold(&g, i, NULL);
    if (g.now) la_mem_free(g.now, views);
    if (g.storages) la_mem_free(g.storages, slots);
    c->no_grad = no_grad;
    p->busy = false;
    p->runs++;
    return status;
}
