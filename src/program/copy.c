/*
** Copies of recordings: what a program was before its passes. A copy has forms
** of its own, so that both can run; captured tensors and constants are shared.
*/
#include "program/program.h"

#include <string.h>

#include "base/runtime/memory.h"

/* A list as it is, its entries too. */
static la_status copy_list(la_prog_list *to, const la_prog_list *from,
                           size_t size)
{
    if (!from->n) return LA_OK;
    to->items = la_mem_alloc((size_t)from->n * size);
    if (!to->items) return LA_ENOMEM;
    memcpy(to->items, from->items, (size_t)from->n * size);
    to->n = to->capacity = from->n;
    return LA_OK;
}

/* ... and with what the entries own cut off, for a copy of each. */
static la_status copy_views(la_prog *to, const la_prog *from)
{
    LA_TRY(copy_list(&to->views, &from->views, sizeof(la_prog_view)));
    for (int32_t i = 0; i < to->views.n; i++)
        la_prog_view_at(to, i)->form = NULL;
    for (int32_t i = 0; i < to->views.n; i++)
        LA_TRY(la_tensor_form(la_prog_view_at(from, i)->form,
                              &la_prog_view_at(to, i)->form));
    return LA_OK;
}

static la_status copy_slots(la_prog *to, const la_prog *from)
{
    LA_TRY(copy_list(&to->slots, &from->slots, sizeof(la_prog_slot)));
    for (int32_t i = 0; i < to->slots.n; i++) {
        la_prog_slot *s = la_prog_slot_at(to, i);
        if (s->own) la_tensor_retain(s->own);
    }
    return LA_OK;
}

/* Forms are cleared before the first is copied: a copy that fails half way is
** freed like a whole one. */
static la_status copy_objects(la_prog *to, const la_prog *from)
{
    LA_TRY(copy_list(&to->objects, &from->objects, sizeof(la_prog_object)));
    for (int32_t i = 0; i < to->objects.n; i++) {
        la_prog_object *o = la_prog_object_at(to, i);
        if (o->tensor) la_tensor_retain(o->tensor);
        o->form = NULL;
    }
    for (int32_t i = 0; i < to->objects.n; i++)
        LA_TRY(la_tensor_form(la_prog_object_at(from, i)->form,
                              &la_prog_object_at(to, i)->form));
    return LA_OK;
}

/* Names are owned texts, and cleared first as well. */
static la_status copy_names(la_prog *to, const la_prog *from)
{
    LA_TRY(copy_list(&to->names, &from->names, sizeof(char *)));
    for (int32_t i = 0; i < to->names.n; i++)
        *LA_PROG_AT(to->names, char *, i) = NULL;
    for (int32_t i = 0; i < to->names.n; i++) {
        const char *name = *LA_PROG_AT(from->names, char *, i);
        size_t bytes = strlen(name) + 1;
        char *own = la_mem_alloc(bytes);
        if (!own) return LA_ENOMEM;
        memcpy(own, name, bytes);
        *LA_PROG_AT(to->names, char *, i) = own;
    }
    return LA_OK;
}

/* A block of a step's; nothing where the step has none. */
static la_status copy_block(void *slot, const void *from, size_t bytes)
{
    if (!from || !bytes) return LA_OK;
    void *own = la_mem_alloc(bytes);
    if (!own) return LA_ENOMEM;
    memcpy(own, from, bytes);
    memcpy(slot, &own, sizeof own);
    return LA_OK;
}

/* Its programs as they were recorded. */
static la_status copy_loop(la_prog_step *to, const la_prog_loop *from)
{
    const la_prog *test = from->test, *body = from->body;
    la_prog_loop *loop = la_mem_zalloc(sizeof *loop);
    if (!loop) return LA_ENOMEM;
    to->loop = loop;
    loop->chooses = from->chooses;
    loop->ncarry = from->ncarry;
    loop->ntest = from->ntest;
    loop->nbody = from->nbody;
    LA_TRY(la_prog_copy(test->recorded ? test->recorded : test, &loop->test));
    return la_prog_copy(body->recorded ? body->recorded : body, &loop->body);
}

static la_status copy_step(la_prog *p, la_prog_step *to,
                           const la_prog_step *from)
{
    if (from->loop) LA_TRY(copy_loop(to, from->loop));
    if (from->args) LA_TRY(la_prog_take_arguments(p, to, from->nargs));
    for (int k = 0; from->args && k < from->nargs; k++) {
        LA_TRY(la_prog_copy_value(&to->args[k], &from->args[k]));
        to->views[k] = from->views[k];
    }
    return copy_block(&to->sources, from->sources,
                      from->nsources * sizeof(la_prog_source));
}

static la_status copy_steps(la_prog *to, const la_prog *from)
{
    LA_TRY(copy_list(&to->steps, &from->steps, sizeof(la_prog_step)));
    for (int32_t i = 0; i < to->steps.n; i++) {
        la_prog_step *s = la_prog_step_at(to, i);
        s->args = NULL;
        s->views = NULL;
        s->sources = NULL;
        s->loop = NULL;
        s->joined = s->packed = 0;
    }
    for (int32_t i = 0; i < to->steps.n; i++)
        LA_TRY(copy_step(to, la_prog_step_at(to, i), la_prog_step_at(from, i)));
    return LA_OK;
}

static void copy_facts(la_prog *to, const la_prog *from)
{
    to->narguments = from->narguments;
    to->eager = from->eager;
    to->live = from->live;
    to->alone = from->alone;
    to->chooses = from->chooses;
    to->why = from->why;
    to->default_dtype = from->default_dtype;
    to->no_grad = from->no_grad;
    to->deterministic = from->deterministic;
    to->portable = from->portable;
    to->lockstep = from->lockstep;
}

static la_status copy_all(la_prog *to, const la_prog *from)
{
    copy_facts(to, from);
    LA_TRY(copy_slots(to, from));
    LA_TRY(copy_views(to, from));
    LA_TRY(copy_objects(to, from));
    LA_TRY(copy_names(to, from));
    LA_TRY(copy_list(&to->outputs, &from->outputs, sizeof(la_prog_output)));
    LA_TRY(copy_list(&to->members, &from->members, sizeof(int32_t)));
    return copy_steps(to, from);
}

la_status la_prog_copy(const la_prog *from, la_prog **out)
{
    la_prog *to = NULL;
    LA_TRY(la_prog_new(&to));
    la_status status = copy_all(to, from);
    if (status) {
        la_prog_free(to);
        return status;
    }
    *out = to;
    return LA_OK;
}

/* Beneath autograd the view is the result that its step gives, also where it
** was met with a history: that is what may be written as it is made. */
static int32_t copy_result(const la_prog *p, int32_t view)
{
    const la_prog_view *v = view < 0 ? NULL : la_prog_view_at(p, view);
    const la_prog_slot *s = v ? la_prog_slot_at(p, v->slot) : NULL;
    if (!s || s->kind != LA_SLOT_STEP) return view;
    const la_prog_step *maker = la_prog_step_at(p, s->maker);
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (maker->results[k] >= 0
            && la_prog_same_view(la_prog_view_at(p, maker->results[k]), v))
            return maker->results[k];
    return view;
}

void la_prog_stand_alone(la_prog *p)
{
    p->live = false;
    p->alone = true;
    for (int32_t i = 0; i < p->outputs.n; i++) {
        la_prog_output *o = la_prog_output_at(p, i);
        o->requires_grad = o->consumed = o->history = false;
        o->view = copy_result(p, o->view);
    }
    for (int32_t i = 0; i < p->steps.n; i++) {
        la_prog_step *s = la_prog_step_at(p, i);
        if (s->kind == LA_STEP_GRAD) s->view = copy_result(p, s->view);
    }
    la_look_let_go(p);
}
