/*
** Recording: the dispatcher's kernel of the Record key, which lies beneath
** Autograd. Each call that reaches it runs as always, and is written down.
**
** A tensor is recognised by its storage. Storages that the recording has met
** are in a table, out of which they go as they end (LA_S_RECORDED), so that the
** recording keeps nothing alive: whether a gradient is taken over or copied
** depends on who else holds it. What is not in the table was made by no step:
** before the recording, and then it is a tensor from outside; or since (its
** 'born' says so), and then it is a constant of the recording.
**
** Want of memory ends a recording, not the calls: 'failed'.
*/
#include "program/recorder.h"

#include <stdatomic.h>
#include <string.h>

#include "base/once.h"
#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "grad/graph.h"
#include "op/call.h"
#include "op/dispatch.h"
#include "op/cost/fuel.h"
#include "op/host/hosted.h"
#include "op/op.h"
#include "op/schema.h"
#include "program/passes.h"

#define RECORD_BIT (1u << LA_KEY_RECORD)

static _Atomic uint32_t next_birth = 1;

/* The recorder of this context, unless it pauses: inside of a kernel. */
static la_recorder *recorder_here(void)
{
    const la_context *c = la_ctx();
    return c->excluded_keys & RECORD_BIT ? NULL : c->recorder;
}

/* ---- elements that decide something ---- */

static const char no_value[] = "the value depends on an argument of the "
    "compiled function, or on what it writes: return it, or use la.where, "
    "la.cond, la.while_loop or la.scan";

/* The program is for the elements that the object had when it was met.
** Arguments decide nothing. */
static void recorder_pin(la_recorder *r, int32_t object)
{
    la_prog_object *o = la_prog_object_at(r->p, object);
    o->pinned |= o->argument < 0 && o->slot >= 0;
}

static la_status recorder_read(const la_tensor *t)
{
    la_recorder *r = recorder_here();
    if (!r || !t->storage || r->p->eager) return LA_OK;
    int32_t slot = la_meet_slot_of(r, t->storage);
    if (slot < 0 && t->storage->born == r->birth) return LA_OK;
    if (slot < 0) slot = la_meet_outside(r, (la_tensor *)t);
    if (slot < 0) return LA_OK;
    const la_prog_slot *s = la_prog_slot_at(r->p, slot);
    if (s->varies && r->partial) {
        la_record_give_up(r, "its Lua code reads values (partial)");
        return LA_OK;
    }
    if (s->varies) return la_error(LA_ESTATE, no_value);
    if (s->kind == LA_SLOT_OBJECT) recorder_pin(r, s->index);
    /* Calls made it of objects that have been met. */
    for (int32_t i = 0; s->kind == LA_SLOT_STEP && i < r->p->objects.n; i++)
        recorder_pin(r, i);
    return LA_OK;
}

static void recorder_peek(const la_tensor *t)
{
    la_recorder *r = recorder_here();
    if (r && recorder_read(t))
        la_record_give_up(r, "an operation looks at values between its calls");
}

/* Rows whose results' sizes depend on elements, or that are values for Lua. */
static bool recorder_reads_values(const la_frame *f)
{
    const la_op *op = f->op;
    if (op->forms & LA_SIZED) return false;
    if (op->forms & LA_SIZED_BY_MASKS) {
        const la_value *v = &f->args[1];
        for (int64_t i = 0; v->tag == LA_VTENSORS && i < v->tensors.n; i++)
            if (v->tensors.list[i] && v->tensors.list[i]->dtype == LA_BOOL)
                return true;
        return false;
    }
    const la_schema *s = la_schema_of(op);
    return s->results[0] == LA_VBOOL
        || (!op->family && !op->meta && op->impl
            && !(op->forms & LA_COMPOSITE));
}

/* ---- a call ---- */

static bool recorder_is_write(const la_frame *f)
{
    return f->form != LA_FUNCTIONAL || (f->op->forms & LA_MUTATES);
}

static int32_t recorder_name(la_recorder *r, const char *text)
{
    la_prog_list *names = &r->p->names;
    for (int32_t i = names->n - 1; i >= 0; i--)
        if (strcmp(*LA_PROG_AT(*names, char *, i), text) == 0) return i;
    size_t bytes = strlen(text) + 1;
    char *own = la_mem_alloc(bytes);
    char **entry = own ? la_prog_add(names, sizeof(char *)) : NULL;
    if (!entry) {
        if (own) la_mem_free(own, bytes);
        return LA_PROG_NONE;
    }
    memcpy(own, text, bytes);
    *entry = own;
    return names->n - 1;
}

static void recorder_locate(la_recorder *r, la_prog_step *s)
{
    const char *chunk = NULL;
    s->line = r->where ? r->where(r->host, &chunk) : 0;
    s->source = chunk ? recorder_name(r, chunk) : LA_PROG_NONE;
}

static void recorder_arg(la_recorder *r, la_prog_step *s, int k,
                         const la_value *v)
{
    if (la_prog_copy_value(&s->args[k], v)) r->failed = true;
    if (v->tag == LA_VTENSOR) s->views[k] = la_meet_operand(r, v->tensor);
    if (v->tag != LA_VTENSORS || r->failed) return;
    if (s->lists < 0) s->lists = r->p->members.n;
    for (int64_t i = 0; i < v->tensors.n; i++) {
        la_tensor *t = v->tensors.list[i];
        int32_t view = t ? la_meet_operand(r, t) : LA_PROG_NONE;
        int32_t *m = la_prog_add(&r->p->members, sizeof *m);
        if (m) *m = view;
        else r->failed = true;
    }
}

/* The step before it runs: what it reads, as it is then. */
static void recorder_step(la_recorder *r, const la_frame *f, la_prog_step *s)
{
    int n = f->nargs;
    *s = (la_prog_step){.kind = LA_STEP_CALL, .form = (uint8_t)f->form,
        .op = f->op, .sequence = la_node_sequence(),
        .no_grad = la_ctx()->no_grad,
        .lists = LA_PROG_NONE, .object = LA_PROG_NONE, .view = LA_PROG_NONE};
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        s->results[k] = s->outs[k] = LA_PROG_NONE;
    if (la_prog_take_arguments(r->p, s, n)) {
        r->failed = true;
        return;
    }
    for (int k = 0; k < n && !r->failed; k++)
        recorder_arg(r, s, k, &f->args[k]);
    for (int k = 0; k < LA_MAX_RESULTS && f->form != LA_FUNCTIONAL; k++)
        if (f->outs[k]) s->outs[k] = la_meet_operand(r, f->outs[k]);
    recorder_locate(r, s);
}

/* Does a slot that the step reads vary? */
static void recorder_look(void *context, int32_t view)
{
    void **c = context;
    const la_prog *p = c[0];
    bool *varies = c[1];
    *varies |= la_prog_slot_at(p, la_prog_view_at(p, view)->slot)->varies;
}

static int32_t recorder_result(la_recorder *r, la_tensor *t, int32_t step,
                               bool varies, bool *fresh)
{
    if (!t || !t->storage) return LA_PROG_NONE;
    int32_t slot = la_meet_slot_of(r, t->storage);
    if (slot < 0 && t->storage->born != r->birth)
        return la_meet_operand(r, t);
    if (slot < 0) {
        slot = la_meet_new_slot(r, LA_SLOT_STEP, LA_PROG_NONE, t->storage);
        if (slot < 0) return LA_PROG_NONE;
        la_prog_slot_at(r->p, slot)->maker = step;
        la_prog_slot_at(r->p, slot)->varies = varies;
    }
    *fresh |= la_prog_slot_at(r->p, slot)->maker == step;
    la_meet_note_tensor(r, t, step);
    return la_meet_view(r, slot, t);
}

static void recorder_list(la_recorder *r, la_prog_step *s, const la_value *v,
                          bool varies, bool *fresh)
{
    s->list_results = r->p->members.n;
    s->nlisted = (int)v->tensors.n;
    for (int64_t i = 0; i < v->tensors.n && !r->failed; i++) {
        int32_t view = recorder_result(r, v->tensors.list[i], r->p->steps.n,
                                       varies, fresh);
        int32_t *m = la_prog_add(&r->p->members, sizeof *m);
        if (m) *m = view;
        else r->failed = true;
    }
}

/* Everything that the call wrote varies from here on: memory from outside in
** any case, as the next call begins with what this one leaves. */
static void recorder_mark(void *context, int32_t view)
{
    void **c = context;
    la_prog *p = c[0];
    la_prog_slot *s = la_prog_slot_at(p, la_prog_view_at(p, view)->slot);
    s->written = true;
    s->varies |= *(bool *)c[1] || s->kind == LA_SLOT_OBJECT;
}

/* Operations without an effect but their results, and without a refusal that
** depends on values. */
static bool recorder_is_pure(const la_frame *f)
{
    const la_op *op = f->op;
    if (recorder_is_write(f)) return false;
    const la_tensor *t = f->results[0].tag == LA_VTENSOR
        ? f->results[0].tensor : NULL;
    bool real = t && (la_is_float((la_dtype)t->dtype)
                      || la_is_complex((la_dtype)t->dtype));
    if (op->family) return real || (t && t->dtype == LA_BOOL);
    return op->forms & LA_PURE;
}

/* out= gave a tensor other sizes. */
static void recorder_check_outs(la_recorder *r, const la_frame *f,
                                const la_prog_step *s)
{
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        if (s->outs[k] < 0) continue;
        const la_tensor *form = la_prog_view_at(r->p, s->outs[k])->form;
        const la_tensor *out = f->outs[k];
        if (out->ndim != form->ndim || memcmp(la_sizes(out), la_sizes(form),
                                      8 * (size_t)form->ndim) != 0)
            la_record_give_up(r, "it changes the sizes of a tensor by out=");
    }
}

/* The step after it ran. */
static void recorder_finish(la_recorder *r, la_frame *f, la_prog_step *s)
{
    bool varies = la_draws_numbers(la_schema_of(f->op)), fresh = false;
    void *context[] = {r->p, &varies};
    la_prog_reads(r->p, s, recorder_look, context);
    s->nresults = (uint8_t)f->nresults;
    for (int k = 0; k < f->nresults && !r->failed; k++) {
        const la_value *v = &f->results[k];
        if (v->tag == LA_VTENSOR)
            s->results[k] = recorder_result(r, v->tensor, r->p->steps.n,
                                            varies, &fresh);
        if (v->tag == LA_VTENSORS) recorder_list(r, s, v, varies, &fresh);
    }
    s->alias = !fresh && !recorder_is_write(f);
    s->pure = !s->alias && recorder_is_pure(f)
        && !la_draws_numbers(la_schema_of(f->op));
    if (f->op->forms & LA_METADATA) {
        bool outside = s->views[0] < 0 || la_prog_slot_at(r->p,
            la_prog_view_at(r->p, s->views[0])->slot)->kind != LA_SLOT_STEP;
        if (outside) la_record_give_up(r, "it changes the sizes or the storage "
                                      "of a tensor from outside");
        s->alias = true;
    }
    recorder_check_outs(r, f, s);
    if (!s->alias) la_prog_writes(r->p, s, recorder_mark, context);
    if (la_hosted_of(f->op))
        la_record_give_up(r, "it calls an operation of the host's");
    if (r->nsources) {
        size_t bytes = (size_t)r->nsources * sizeof(la_prog_source);
        s->sources = la_mem_alloc(bytes);
        if (!s->sources) r->failed = true;
        else memcpy(s->sources, r->sources, bytes);
        s->nsources = s->sources ? (uint8_t)r->nsources : 0;
    }
}

/* Calls of a body fail in the name of the composite that was called. */
static la_status recorder_body(la_frame *f, la_op_fn body)
{
    la_recorder *r = la_ctx()->recorder;
    const la_op *outer = r->composite;
    if (!outer) r->composite = f->op;
    la_status status = body(f);
    r->composite = outer;
    return status;
}

static void recorder_append(la_recorder *r, la_prog_step *s)
{
    s->named = r->composite ? r->composite : s->op;
    la_prog_step *to = r->failed ? NULL : la_prog_add(&r->p->steps, sizeof *s);
    if (to) *to = *s;
    else r->failed = true;
}

void la_record_step(la_recorder *r, la_prog_step *s)
{
    recorder_locate(r, s);
    recorder_append(r, s);
}

/* Did the call make tensors of its own, though an output with a history was
** given? They are copied there after it, by calls that the history has. */
static bool recorder_has_own(const la_frame *f)
{
    bool own = f->form == LA_OUT, history = false;
    for (int k = 0; k < LA_MAX_RESULTS && own; k++) {
        if (!f->outs[k]) continue;
        history |= la_grad_flag(f->outs[k]) != 0;
        own = k < f->nresults && f->results[k].tag == LA_VTENSOR
            && f->results[k].tensor != f->outs[k];
    }
    return own && history;
}

/* The call itself; other copies to what is given are a part of it. */
static la_status recorder_below(la_frame *f)
{
    la_status status = f->op->forms & LA_COMPOSITE ? la_run_body(f)
        : la_redispatch(f, LA_KEY_RECORD);
    if (!status && f->form != LA_FUNCTIONAL && !recorder_has_own(f))
        status = la_finish_outputs(f);
    return status;
}

static bool recorder_outer(const la_recorder *r, const la_tensor *t)
{
    int32_t slot = t->storage ? la_meet_slot_of(r, t->storage) : LA_PROG_NONE;
    if (slot >= 0) return la_prog_slot_at(r->p, slot)->kind == LA_SLOT_OBJECT;
    return !t->storage || t->storage->born != r->birth;
}

/* Does the call leave anything but its results? */
static bool recorder_lasts(const la_recorder *r, const la_frame *f)
{
    if (la_draws_numbers(la_schema_of(f->op)) || la_hosted_of(f->op))
        return true;
    if (!recorder_is_write(f)) return false;
    bool lasts = f->form == LA_FUNCTIONAL && f->args[0].tag == LA_VTENSOR
        && recorder_outer(r, f->args[0].tensor);
    for (int k = 0; k < LA_MAX_RESULTS && f->form != LA_FUNCTIONAL; k++)
        lasts |= f->outs[k] && recorder_outer(r, f->outs[k]);
    return lasts;
}

/* The copies are steps of their own. The versions of outputs rise once less
** then, which nobody sees of the recording's own. */
static void recorder_split(la_recorder *r, const la_frame *f, la_prog_step *s)
{
    s->form = LA_FUNCTIONAL;
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        s->outs[k] = LA_PROG_NONE;
        if (f->outs[k] && recorder_outer(r, f->outs[k]))
            la_record_give_up(r, "out= is a tensor from outside that has a "
                              "history");
    }
}

/* The kernel of the Record key. What the operation calls itself is a part of
** it. */
static la_status recorder_call(la_frame *f)
{
    la_recorder *r = la_ctx()->recorder;
    if (!r || r->failed || r->p->eager) return recorder_below(f);
    if (recorder_reads_values(f)) LA_TRY(la_check_reads(f));
    if (r->dry && recorder_lasts(r, f))
        return la_error(LA_ESTATE, "a branch of la.cond writes what is around, "
                        "or draws numbers");
    la_prog_step s;
    recorder_step(r, f, &s);
    LA_WITHOUT_KEYS(RECORD_BIT);
    la_status status = recorder_below(f);
    if (!status && recorder_has_own(f)) recorder_split(r, f, &s);
    if (!status && !r->failed) recorder_finish(r, f, &s);
    r->nsources = 0;
    if (!status && !r->failed) recorder_append(r, &s);
    if (status || r->failed) la_prog_cut_step(&s);
    return status;
}

/* ---- leaves ---- */

/* The gradient of a leaf from outside was looked at. */
static void recorder_asked(la_tensor *leaf)
{
    la_recorder *r = recorder_here();
    if (!r || r->failed) return;
    int32_t i = la_meet_need_object(r, leaf);
    if (i < 0) return;
    la_prog_object *o = la_prog_object_at(r->p, i);
    if (o->grad_set || o->grad_asked) return;
    la_tensor *grad = la_leaf_grad(leaf);
    o->grad_asked = true;
    o->had_grad = grad != NULL;
    if (!grad || !grad->storage) return;
    if (la_meet_slot_of(r, grad->storage) >= 0) {
        la_record_give_up(r, "a gradient shares memory with another tensor");
        return;
    }
    int32_t slot = la_meet_new_slot(r, LA_SLOT_OBJECT, i, grad->storage);
    if (slot < 0) return;
    la_prog_slot_at(r->p, slot)->grad = true;
    la_prog_slot_at(r->p, slot)->origin = la_meet_origin(grad);
    la_prog_slot_at(r->p, slot)->varies = true;
    la_prog_object_at(r->p, i)->grad_slot = slot;
}

static void recorder_event(la_recorder *r, la_step_kind kind, int32_t object,
                           int32_t view, bool on)
{
    la_prog_step s = {.kind = (uint8_t)kind, .object = object, .view = view,
                      .on = on, .lists = LA_PROG_NONE,
                      .sequence = la_node_sequence()};
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        s.results[k] = s.outs[k] = LA_PROG_NONE;
    recorder_locate(r, &s);
    recorder_append(r, &s);
}

static void recorder_set(la_tensor *leaf, la_tensor *grad)
{
    la_recorder *r = recorder_here();
    if (!r || r->failed) return;
    int32_t i = la_meet_need_object(r, leaf);
    if (i < 0) return;
    int32_t view = grad ? la_meet_operand(r, grad) : LA_PROG_NONE;
    la_prog_object_at(r->p, i)->grad_set = true;
    if (grad && (grad->flags & LA_F_REQUIRES_GRAD))
        la_record_give_up(r, "a gradient has a history");
    recorder_event(r, LA_STEP_GRAD, i, view, true);
}

static void recorder_required(la_tensor *leaf, bool on)
{
    la_recorder *r = recorder_here();
    int32_t i = r && !r->failed ? la_meet_object_of(r, leaf) : LA_PROG_NONE;
    if (!r || r->failed) return;
    if (i < 0 && !la_meet_is_inside(r, leaf))
        i = la_meet_new_object(r, leaf, LA_PROG_NONE);
    if (i >= 0) recorder_event(r, LA_STEP_REQUIRE, i, LA_PROG_NONE, on);
    else if (on) r->no_graph = "a tensor that it makes becomes a leaf of a "
                               "result's history";
}

static void recorder_ran(uint32_t flags)
{
    la_recorder *r = recorder_here();
    if (!r) return;
    r->ran = true;
    if (flags & LA_BW_RETAIN_GRAPH) r->retained = true;
    else r->no_graph = "a backward pass inside may use up a part of a result's "
                       "history";
}

/* With autograd above, the view has to leave its root in each run. */
static void recorder_owned(la_tensor *t)
{
    la_recorder *r = recorder_here();
    int32_t steps = r && !r->failed ? r->p->steps.n : 0;
    if (!steps || !t->storage) return;
    int32_t v = la_meet_view(r, la_meet_slot_of(r, t->storage), t);
    if (v >= 0) la_prog_view_at(r->p, v)->owned = steps;
    if (v >= 0) la_prog_step_at(r->p, steps - 1)->owns = true;
}

/* ---- the interface ---- */

/* The memory of the output is another one then. */
static void recorder_resizes(void)
{
    la_record_refuse("it changes the sizes of a tensor by out=");
}

static void recorder_connect(void)
{
    la_record_kernel = recorder_call;
    la_record_read = recorder_read;
    la_record_peek = recorder_peek;
    la_record_look = la_look_record;
    la_record_resizes = recorder_resizes;
    la_record_body = recorder_body;
    la_record_owned = recorder_owned;
    la_storage_ends = la_meet_storage_ends;
    la_tensor_ends = la_meet_tensor_ends;
    la_grad_watched = (la_grad_watch){recorder_asked, recorder_set,
                                      recorder_required, recorder_ran};
}

static void recorder_modes(la_prog *p)
{
    const la_context *c = la_ctx();
    p->default_dtype = c->default_dtype;
    p->no_grad = c->no_grad;
    p->deterministic = c->deterministic;
    p->portable = c->portable;
    p->lockstep = c->lockstep;
}

/* Arguments come first among the objects, with their slots. */
static void recorder_arguments(la_recorder *r, int n, la_tensor *const *list)
{
    r->p->narguments = n;
    for (int k = 0; k < n && !r->failed; k++) {
        int32_t i = la_meet_new_object(r, list[k], k);
        if (i < 0) return;
        if (list[k]->device != LA_CPU || !list[k]->storage
            || list[k]->storage->nbytes < 0) {
            la_record_give_up(r, "an argument has no elements here");
            continue;
        }
        int32_t slot = la_meet_slot_of(r, list[k]->storage);
        if (slot < 0) {
            slot = la_meet_new_slot(r, LA_SLOT_OBJECT, i, list[k]->storage);
            if (slot < 0) return;
            la_prog_slot_at(r->p, slot)->origin = la_meet_origin(list[k]);
        }
        la_prog_slot_at(r->p, slot)->varies = true;
        la_prog_object_at(r->p, i)->slot = slot;
    }
}

/* Storages that are made from here on carry the recorder's number
** (la_storage_birth). So the recorder tells them from memory that was there
** before, without a list of all storages. 0 is the number of none. */
la_status la_record_begin(int n, la_tensor *const *arguments,
                          la_prog_where where, void *host, bool partial,
                          la_recorder **out)
{
    static la_once once = LA_ONCE;
    la_context *c = la_ctx();
    la_recorder *r = la_mem_zalloc(sizeof *r);
    if (!r) return LA_ENOMEM;
    la_status status = la_prog_new(&r->p);
    if (status) {
        la_mem_free(r, sizeof *r);
        return status;
    }
    la_run_once(&once, recorder_connect);
    do r->birth = atomic_fetch_add(&next_birth, 1);
    while (!r->birth);
    r->birth_before = la_storage_birth;
    r->where = where;
    r->host = host;
    r->partial = partial;
    r->outer = c->recorder;
    recorder_modes(r->p);
    recorder_arguments(r, n, arguments);
    c->recorder = r;
    c->included_keys |= RECORD_BIT;
    la_storage_birth = r->birth;
    *out = r;
    return LA_OK;
}

/* Histories of a result: used up inside, or alive. */
static void recorder_history(la_recorder *r, la_tensor *t, la_prog_output *o)
{
    la_node *fn = NULL;
    int slot;
    if (!la_requires_grad(t)) return;
    if (la_grad_fn_of(t, &fn, &slot)) r->failed = true;
    else if (!fn && la_leaf_grad(t))
        la_record_give_up(r, "a tensor that it makes gets a gradient");
    else if (!fn) o->requires_grad = true;
    else if (fn->run && !r->retained && !la_history_is_spent(fn))
        la_record_give_up(r, "a result has a history that a backward pass "
                          "inside went through, and did not use up");
    else if (fn->run && !r->retained) o->consumed = true;
    else o->history = r->p->live = true;
}

int la_record_output(la_recorder *r, la_tensor *t)
{
    if (r->failed) return -1;
    int32_t object = la_meet_need_object(r, t);
    la_prog_output *o = r->failed ? NULL
        : la_prog_add(&r->p->outputs, sizeof *o);
    if (!o) {
        r->failed = true;
        return -1;
    }
    *o = (la_prog_output){.view = LA_PROG_NONE, .object = object};
    if (object >= 0) return r->p->outputs.n - 1;
    o->view = la_meet_operand(r, t);
    if (o->view < 0) return -1;
    recorder_history(r, t, o);
    la_prog_slot_at(r->p, la_prog_view_at(r->p, o->view)->slot)->escapes = true;
    return r->p->outputs.n - 1;
}

/* Tensors from outside that a call gave another history: only a run with
** autograd does that again. */
static void recorder_check_objects(la_recorder *r)
{
    for (int32_t i = 0; i < r->p->objects.n && !r->failed; i++) {
        la_prog_object *o = la_prog_object_at(r->p, i);
        const void *before = *LA_PROG_AT(r->fns, const void *, i);
        la_node *fn = NULL;
        int slot;
        if (la_grad_fn_of(o->tensor, &fn, &slot)) r->failed = true;
        else if (fn != before) r->p->live = true;
        if (before && r->ran)
            la_record_give_up(r, "a backward pass may go into the history of a "
                             "tensor from outside");
        if (o->argument >= 0) la_tensor_drop(&o->tensor);
    }
}

/* Storages that gradients keep. */
static void recorder_escapes(la_prog *p)
{
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        if (s->kind != LA_STEP_GRAD || s->view < 0) continue;
        la_prog_slot_at(p, la_prog_view_at(p, s->view)->slot)->escapes = true;
    }
}

void la_record_end(la_recorder *r, la_prog **out)
{
    la_context *c = la_ctx();
    la_prog *p = r->p;
    la_meet_end(r);         /* first: storages may end from here on */
    c->recorder = r->outer;
    if (!r->outer) c->included_keys &= ~RECORD_BIT;
    la_storage_birth = r->birth_before;
    recorder_check_objects(r);
    if (p->live && r->no_graph) la_record_give_up(r, r->no_graph);
    if (!p->eager && !la_look_mark(p))
        la_record_give_up(r, "a value that depends on what can't run first "
                          "decides what is called");
    recorder_escapes(p);
    la_prog_drop_list(&r->fns, sizeof(void *));
    bool failed = r->failed;
    la_mem_free(r, sizeof *r);
    if (failed) la_prog_free(p);
    *out = failed ? NULL : p;
}

bool la_record_pause(bool pause)
{
    la_context *c = la_ctx();
    bool on = c->recorder && !(c->excluded_keys & RECORD_BIT);
    if (!c->recorder) return false;
    if (pause) c->excluded_keys |= RECORD_BIT;
    else c->excluded_keys &= ~RECORD_BIT;
    la_storage_birth = pause ? 0 : c->recorder->birth;
    return on;
}

void la_record_source(la_recorder *r, int arg, int source)
{
    if (r->nsources == LA_RECORD_SOURCES) r->failed = true;
    else r->sources[r->nsources++] = (la_prog_source){arg, source};
}

void la_record_function(void)
{
    la_recorder *r = recorder_here();
    if (r) r->no_graph = "a function with a backward of its own is a part of a "
                         "result's history";
}

void la_record_refuse(const char *why)
{
    la_recorder *r = recorder_here();
    if (r && !r->failed) la_record_give_up(r, why);
}

la_status la_record_choice(la_tensor *t, bool soft, int *holds)
{
    const la_look_question q = {LA_LOOK_truth, 1, soft, 0};
    int64_t answer;
    *holds = -1;
    if (!recorder_here()) return LA_OK;
    LA_TRY(la_look(LA_OP(cond), &q, t, &answer));
    *holds = answer != 0;
    return LA_OK;
}

la_prog *la_record_program(la_recorder *r) { return r->p; }

void *la_record_host(const la_recorder *r) { return r->host; }
