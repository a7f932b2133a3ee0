/*
** Running a program flat: its calls one after another, beneath autograd, each
** with the arguments and memory that were laid out before. Calls go through the
** gate as always, so limits, versions and snapshots are as in eager code.
*/
#include "program/program.h"

#include <string.h>

#include "base/os/clock.h"
#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "base/runtime/token.h"
#include "fuse/chain.h"
#include "op/call.h"
#include "op/op.h"
#include "program/bind.h"
#include "program/clock.h"
#include "program/passes.h"
#include "tensor/names.h"
#include "tensor/shape.h"

typedef struct run_state {
    la_prog *p;
    la_tensor *const *arguments;
    la_tensor **given;          /* results to write into; NULL entries */
    const la_prog_host *host;
} run_state;

/* ---- does it fit ---- */

static bool run_same_form(const la_tensor *form, const la_tensor *t)
{
    const uint32_t bits = LA_F_CONJ | LA_F_NEG;
    return t->dtype == form->dtype && t->device == form->device
        && t->names == form->names
        && !((t->flags ^ form->flags) & bits) && t->storage
        && t->storage->nbytes >= 0      /* the host did not move it */
        && la_same_geometry(t, form);
}

/* Does another tensor than the slot's have views of the object's memory? */
static bool run_is_joint(const la_prog *p, const la_prog_object *o)
{
    int32_t v = o->slot < 0 ? LA_PROG_NONE : la_prog_slot_at(p, o->slot)->views;
    for (; v >= 0; v = la_prog_view_at(p, v)->next)
        if (la_prog_view_at(p, v)->object >= 0) return true;
    return false;
}

/* Can the recording run on the object's tensor, though set_data gave that other
** memory? It counts writes by the record of what it had: its elements are not
** known by their version then, and views count as the slot's own tensor. */
static bool run_may_have_moved(const la_prog *p, const la_prog_object *o)
{
    return !o->pinned && !run_is_joint(p, o);
}

/* Has the gradient the form that views of it were met with? */
static bool run_grad_fits(const la_prog *p, const la_prog_object *o,
                          const la_tensor *t)
{
    const la_prog_slot *s = la_prog_slot_at(p, o->grad_slot);
    for (int32_t v = s->views; v >= 0; v = la_prog_view_at(p, v)->next)
        if (la_prog_view_at(p, v)->whole
            && !run_same_form(la_prog_view_at(p, v)->form, la_leaf_grad(t)))
            return false;
    return !la_leaf_grad(t) || !la_leaf_grad(t)->counter;
}

bool la_prog_object_fits(const la_prog *p, int32_t i, const la_tensor *t)
{
    const la_prog_object *o = la_prog_object_at(p, i);
    if (!run_same_form(o->form, t)
        || (la_grad_flag(t) != 0) != o->requires_grad) return false;
    if (o->grad_asked && (la_leaf_grad(t) != NULL) != o->had_grad)
        return false;
    if (o->pinned && la_tensor_version(t) != o->version) return false;
    if (t->counter && !run_may_have_moved(p, o)) return false;
    return o->grad_slot < 0 || run_grad_fits(p, o, t);
}

/* Is object 'i', which set_data gave its memory, the only one that has it? */
static bool run_has_own(const la_prog *p, int32_t i,
                        la_tensor *const *arguments)
{
    const la_storage *s = la_bind_object(p, i, arguments)->storage;
    for (int32_t k = 0; k < p->objects.n; k++) {
        const la_tensor *t = la_bind_object(p, k, arguments);
        const la_tensor *grad = la_prog_object_at(p, k)->grad_slot >= 0
            ? la_leaf_grad(t) : NULL;
        if ((k != i && t->storage == s) || (grad && grad->storage == s))
            return false;
    }
    return true;
}

bool la_prog_fits(const la_prog *p, la_tensor *const *arguments)
{
    for (int32_t i = 0; i < p->objects.n; i++) {
        const la_tensor *t = la_bind_object(p, i, arguments);
        if (!la_prog_object_fits(p, i, t)
            || (t->counter && !run_has_own(p, i, arguments))) return false;
    }
    return true;
}

/* ---- memory of results ---- */

/* The output that the view is, and may be written as it is made; NULL: none. */
static la_tensor *run_given(const run_state *r, int32_t view)
{
    for (int32_t i = 0; r->given && i < r->p->outputs.n; i++) {
        if (la_prog_output_at(r->p, i)->view != view || !r->given[i]) continue;
        la_tensor *t = r->given[i];
        for (int32_t k = 0; k < r->p->objects.n; k++)
            if (la_bind_object(r->p, k, r->arguments)->storage == t->storage)
                return NULL;
        for (int32_t k = 0; k < i; k++)
            if (r->given[k] && r->given[k]->storage == t->storage) return NULL;
        const la_tensor *f = la_prog_view_at(r->p, view)->form;
        bool same = t->dtype == f->dtype && !t->names
            && t->offset == 0 && la_same_geometry(t, f);
        return same ? t : NULL;
    }
    return NULL;
}

/* A new storage for a slot that somebody keeps, in the form of the view that is
** made. */
static la_status run_new(run_state *r, int32_t view)
{
    la_prog *p = r->p;
    const la_prog_view *v = la_prog_view_at(p, view);
    const la_tensor *f = v->form;
    la_tensor *t = run_given(r, view);
    bool given = t != NULL;
    if (t) la_tensor_retain(t);
    else if (p->spare && (t = la_spare_take(p, v->slot))) (void)t;
    else if (la_is_row_major(f))
        LA_TRY(la_tensor_empty(f->ndim, la_sizes(f), (la_dtype)f->dtype, &t));
    else
        LA_TRY(la_tensor_empty_on(LA_CPU, f->ndim, la_sizes(f), la_strides(f),
                                  (la_dtype)f->dtype, &t));
    if (f->names) la_tensor_set_names(t, la_names_retain(f->names));
    p->bind->bases[v->slot] = t;
    if (p->spare && !given) la_spare_hold(p, v->slot, t);
    LA_TRY(la_bind_slot(p, v->slot, t));
    p->bind->tensors[view] = t;
    return LA_OK;
}

/* Tensor that result 'view' of step 'i' goes to; NULL: one of its own. */
static la_status run_target(run_state *r, int32_t i, int32_t view,
                           la_tensor **out)
{
    la_prog *p = r->p;
    *out = NULL;
    if (view < 0) return LA_OK;
    const la_prog_view *v = la_prog_view_at(p, view);
    const la_prog_slot *s = la_prog_slot_at(p, v->slot);
    if (s->kind != LA_SLOT_STEP || s->maker != i || v->bytes != 0
        || s->memory == LA_MEMORY_TAKEN) return LA_OK;
    if (s->memory == LA_MEMORY_NEW && !p->bind->bases[v->slot])
        LA_TRY(run_new(r, view));
    *out = p->bind->tensors[view];
    return LA_OK;
}

/* The operation made a tensor of its own: the slot is that one's, from now on
** in every run. */
static la_status run_take(la_prog *p, int32_t view, la_tensor *t)
{
    int32_t slot = la_prog_view_at(p, view)->slot;
    la_prog_slot_at(p, slot)->memory = LA_MEMORY_TAKEN;
    la_bind_clear(p, slot);
    la_tensor_drop(&p->bind->bases[slot]);
    p->bind->bases[slot] = la_tensor_retain(t);
    return la_bind_slot(p, slot, t);
}

static la_status run_result(run_state *r, int32_t i, int32_t view,
                            la_tensor *t)
{
    la_prog *p = r->p;
    if (view < 0 || !t) return LA_OK;
    const la_prog_view *v = la_prog_view_at(p, view);
    const la_prog_slot *s = la_prog_slot_at(p, v->slot);
    if (s->kind != LA_SLOT_STEP || s->maker != i
        || t == p->bind->tensors[view]) return LA_OK;
    if (t->dtype == v->form->dtype && la_same_geometry(t, v->form))
        return run_take(p, view, t);
    if (t->ndim != v->form->ndim || t->dtype != v->form->dtype
        || memcmp(la_sizes(t), la_sizes(v->form), 8 * (size_t)t->ndim) != 0)
        return la_error(LA_ESTATE, "the sizes of a result of %s depend on "
                        "values, and differ from those of the recording",
                        la_prog_step_at(p, i)->op->name);
    /* Given a tensor, the operation chose another layout than without. */
    LA_LET(own, la_tensor_empty_on(LA_CPU, t->ndim, la_sizes(v->form),
                                   la_strides(v->form), (la_dtype)t->dtype,
                                   &own));
    if (t->numel > 0) LA_TRY(la_run_(copy_, own, t));
    return run_take(p, view, own);
}

/* ---- steps ---- */

static void run_arguments(const la_prog *p, la_prog_step *s)
{
    int32_t list = s->lists;
    for (int k = 0; k < s->nargs; k++) {
        la_value *v = &s->args[k];
        if (s->views[k] >= 0) v->tensor = p->bind->tensors[s->views[k]];
        if (v->tag != LA_VTENSORS) continue;
        for (int64_t i = 0; i < v->tensors.n; i++) {
            int32_t view = la_prog_member(p, list++);
            v->tensors.list[i] = view < 0 ? NULL : p->bind->tensors[view];
        }
    }
}

static la_status run_sources(run_state *r, la_prog_step *s)
{
    for (int k = 0; k < s->nsources; k++)
        LA_TRY(r->host->read(r->host->context, s->sources[k].source,
                             &s->args[s->sources[k].arg]));
    return LA_OK;
}

static la_status run_results(run_state *r, int32_t i, const la_frame *f)
{
    const la_prog_step *s = la_prog_step_at(r->p, i);
    for (int k = 0; k < f->nresults; k++) {
        const la_value *v = &f->results[k];
        if (v->tag == LA_VTENSOR)
            LA_TRY(run_result(r, i, s->results[k], v->tensor));
        for (int64_t m = 0; v->tag == LA_VTENSORS && m < v->tensors.n; m++) {
            if (m >= s->nlisted) break;
            LA_TRY(run_result(r, i, la_prog_member(r->p, s->list_results
                                                   + (int32_t)m),
                              v->tensors.list[m]));
        }
    }
    return LA_OK;
}

static la_status run_call(run_state *r, int32_t i)
{
    la_prog_step *s = la_prog_step_at(r->p, i);
    la_frame f;
    f.op = s->op;
    f.form = (la_form)s->form;
    f.keys = 0;
    f.nargs = s->nargs;
    f.nresults = 0;
    f.unread = s->unread;
    f.args = s->args;
    memset(f.scratch, 0, sizeof f.scratch);
    run_arguments(r->p, s);
    if (s->packed) la_prog_put_packed(r->p, s);
    bool functional = f.form == LA_FUNCTIONAL && !(s->op->forms & LA_MUTATES);
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        f.outs[k] = s->outs[k] < 0 ? NULL : r->p->bind->tensors[s->outs[k]];
        if (functional) LA_TRY(run_target(r, i, s->results[k], &f.outs[k]));
    }
    la_status status = la_dispatch(&f);
    if (status) return status;
    if (functional) status = run_results(r, i, &f);
    la_drop_results(&f);
    return status;
}

/* The leaf's new gradient. */
static la_status run_give(run_state *r, const la_prog_step *s, la_tensor *leaf)
{
    la_prog *p = r->p;
    int32_t slot = la_prog_view_at(p, s->view)->slot;
    int32_t i = (int32_t)(s - la_prog_step_at(p, 0));
    la_tensor *base = p->bind->bases[slot];
    la_tensor *again = p->spare ? la_spare_given(p, i, base) : NULL;
    if (again) return la_set_grad(leaf, again);
    LA_LET(t, la_bind_export(p, s->view, &t));
    if (p->spare) la_spare_keep(p, i, slot, base, t);
    return la_set_grad(leaf, t);
}

static la_status run_grad(run_state *r, const la_prog_step *s)
{
    la_tensor *leaf = la_bind_object(r->p, s->object, r->arguments);
    if (s->kind == LA_STEP_REQUIRE) return la_require_grad(leaf, s->on);
    if (s->view < 0) return la_set_grad(leaf, NULL);
    if (la_prog_view_at(r->p, s->view)->whole)
        return la_set_grad(leaf, r->p->bind->tensors[s->view]);
    return run_give(r, s, leaf);
}

/* ---- groups ---- */

typedef struct run_group { run_state *r; const la_prog_group *g; } run_group;

/* Operand 'view' of a chain. What is made gets its memory; what comes from
** outside is looked at as the gate would. */
static la_status run_operand(void *context, int32_t view, la_tensor **out)
{
    const run_group *x = context;
    la_prog *p = x->r->p;
    const la_prog_slot *s = la_prog_slot_at(p, la_prog_view_at(p, view)->slot);
    if (s->kind == LA_SLOT_STEP && !s->kept && s->maker >= x->g->first
        && s->maker <= x->g->end) return run_target(x->r, s->maker, view, out);
    *out = p->bind->tensors[view];
    if (s->kind != LA_SLOT_OBJECT) return LA_OK;
    LA_TRY(la_tensor_check_bounds(*out));
    return s->written ? la_tensor_check_writable(*out) : LA_OK;
}

/* Tensor that step 's' of a group writes, which was there; NULL: none. */
static la_tensor *run_written(const la_prog *p, const la_prog_step *s)
{
    int32_t view = s->form != LA_FUNCTIONAL ? s->outs[0]
        : (s->op->forms & LA_MUTATES) ? s->views[0] : LA_PROG_NONE;
    return view < 0 ? NULL : p->bind->tensors[view];
}

/* Numbers that are read anew. */
static la_status run_renew(run_state *r, const la_prog_group *g)
{
    int n = -1;
    for (int32_t i = g->first; i <= g->end; i++) {
        la_prog_step *s = la_prog_step_at(r->p, i);
        n += la_prog_runs(s) && !s->kept;
        if (!la_prog_runs(s) || !s->nsources) continue;
        LA_TRY(run_sources(r, s));
        for (int k = 0; k < s->nargs; k++)
            if (s->views[k] >= 0)
                s->args[k].tensor = la_prog_view_at(r->p, s->views[k])->form;
        la_frame f = {.op = s->op, .form = (la_form)s->form, .args = s->args,
                      .nargs = s->nargs, .keys = 1u << LA_KEY_CPU};
        LA_TRY(la_fused_renew(g->chain, n, &f));
    }
    return LA_OK;
}

static la_status run_chain(run_state *r, const la_prog_group *g)
{
    run_group x = {r, g};
    LA_TRY(run_renew(r, g));
    la_status status = la_fused_run(g->chain, run_operand, &x);
    for (int32_t i = g->first; i <= g->end; i++) {
        const la_prog_step *s = la_prog_step_at(r->p, i);
        if (!la_prog_runs(s) || (status && !la_is_stop(status))) continue;
        la_tensor *t = run_written(r->p, s);
        if (t) la_bump_version(t);
    }
    return status;
}

static la_status run_step(run_state *r, int32_t i);

/* A group where each call counts: fuel is taken for it, or the chain found no
** memory, or would write what it must not. */
static la_status run_apart(run_state *r, const la_prog_group *g)
{
    for (int32_t i = g->first; i <= g->end; i++) {
        const la_prog_step *s = la_prog_step_at(r->p, i);
        if (la_prog_runs(s) && !s->kept) LA_TRY(run_step(r, i));
    }
    return LA_OK;
}

/* Calls that are kept and lie among those of a group run before it. */
static la_status run_kept(run_state *r, const la_prog_group *g)
{
    for (int32_t i = g->first; i <= g->end && !r->p->were_fresh; i++) {
        const la_prog_step *s = la_prog_step_at(r->p, i);
        if (la_prog_runs(s) && s->kept && !s->early) LA_TRY(run_step(r, i));
    }
    return LA_OK;
}

static la_status run_joined(run_state *r, int32_t first)
{
    const la_prog_step *s = la_prog_step_at(r->p, first);
    const la_prog_group *g = la_prog_group_of(r->p, s);
    la_token *token = la_ctx()->token;
    LA_TRY(run_kept(r, g));
    if (la_token_armed(token)) {
        LA_TRY(la_token_ask(token));
        if (la_token_counts(token)) return run_apart(r, g);
    }
    la_status status = run_chain(r, g);
    if (status && !la_is_stop(status)) {
        la_error_clear();
        return run_apart(r, g);
    }
    if (status) r->p->failed = s;
    return status;
}

/* The carry of a loop without a pass is what the loop gives, unless its memory
** is used by others later. A view of a tensor from outside, or of a result, may
** be a header of the program's, which loses its memory after the run: that
** tensor itself is given, or another header. */
static la_status run_unshare(run_state *r, int32_t view, la_tensor **t)
{
    la_tensor *own = *t;
    const la_prog_view *v = la_prog_view_at(r->p, view);
    const la_prog_slot *s = la_prog_slot_at(r->p, v->slot);
    bool outside = s->kind == LA_SLOT_OBJECT && !s->grad;
    if (outside && v->whole) return LA_OK;
    bool shares = outside || (s->escapes && own->offset == 0);
    if (outside && v->object >= 0)
        LA_TRY(la_tensor_same(la_bind_object(r->p, v->object, r->arguments),
                              t));
    else LA_TRY(shares ? la_run(detach, t, own) : la_run(clone, t, own));
    la_tensor_release(own);
    return LA_OK;
}

static la_status run_loop(run_state *r, int32_t i)
{
    la_prog_step *s = la_prog_step_at(r->p, i);
    la_tensor *operands[64], *out[64] = {NULL};
    for (int32_t k = 0; k < la_loop_operands(s); k++)
        operands[k] = r->p->bind->tensors[la_prog_member(r->p, s->lists + k)];
    la_status status = la_loop_run(s, operands, out, r->host);
    for (int32_t k = 0; k < s->nlisted && !status; k++) {
        int32_t view = la_prog_member(r->p, s->list_results + k);
        if (view >= 0 && !s->loop->chooses && out[k] == operands[k])
            status = run_unshare(r, la_prog_member(r->p, s->lists + k),
                                 &out[k]);
        if (!status) status = run_result(r, i, view, out[k]);
    }
    for (int32_t k = 0; k < s->nlisted; k++) la_tensor_release(out[k]);
    if (status) r->p->failed = s;
    return status;
}

static la_status run_question(run_state *r, la_prog_step *s)
{
    la_status status = la_look_again(r->p, s, r->p->bind->tensors[s->view]);
    if (status) r->p->failed = s;
    return status;
}

static la_status run_step(run_state *r, int32_t i)
{
    la_prog_step *s = la_prog_step_at(r->p, i);
    if (s->kind == LA_STEP_LOOK) return run_question(r, s);
    if (s->kind == LA_STEP_LOOP) return run_loop(r, i);
    if (s->kind != LA_STEP_CALL) return run_grad(r, s);
    if (s->nsources) LA_TRY(run_sources(r, s));
    la_status status = run_call(r, i);
    if (status == LA_ENOMEM && r->host->collect
        && r->host->collect(r->host->context)) status = run_call(r, i);
    if (status) r->p->failed = s;
    return status;
}

/* Do the results of kept steps hold? Looks at the objects that these read. */
static void run_look(run_state *r)
{
    la_prog *p = r->p;
    for (int32_t i = 0; i < p->objects.n && p->keeps; i++) {
        la_prog_object *o = la_prog_object_at(p, i);
        if (!o->kept) continue;
        const la_tensor *t = la_bind_object(p, i, r->arguments);
        uint32_t version = la_tensor_version(t) + la_other_writes(t);
        if (version == o->kept_version && t->storage == o->kept_storage
            && !t->counter) continue;
        o->kept_version = version;
        o->kept_storage = t->storage;
        p->fresh = false;
    }
}

/* Runs steps from p->at on, one at least, until all have run or the clock shows
** 'end'. */
static la_status run_steps(run_state *r, int64_t end)
{
    la_prog_clock *clock = r->host->clock;
    int32_t *at = &r->p->at;
    bool ran = false;
    for (; *at < r->p->steps.n; ++*at) {
        int32_t i = *at;
        const la_prog_step *s = la_prog_step_at(r->p, i);
        if (!la_prog_runs(s) || s->early || (s->kept && r->p->were_fresh))
            continue;
        if (ran && end != INT64_MAX && la_nanoseconds() >= end) return LA_OK;
        ran = true;
        int64_t begun = clock ? la_nanoseconds() : 0;
        LA_TRY(s->joined ? run_joined(r, i) : run_step(r, i));
        if (clock) la_prog_count(clock, i, la_nanoseconds() - begun);
        if (s->joined) *at = la_prog_group_of(r->p, s)->end;
    }
    r->p->fresh = r->p->keeps;
    return LA_OK;
}

/* ---- results of the whole ---- */

/* Is another result in the memory of this one? */
static bool run_is_shared(const la_prog *p, int32_t i)
{
    int32_t slot = la_prog_view_at(p, la_prog_output_at(p, i)->view)->slot;
    for (int32_t k = 0; k < p->outputs.n; k++) {
        const la_prog_output *o = la_prog_output_at(p, k);
        if (k != i && o->view >= 0
            && la_prog_view_at(p, o->view)->slot == slot) return true;
    }
    return false;
}

/* The tensor of result 'i'. One that gets a history is not the tensor that
** another result is. */
static la_status run_export(run_state *r, int32_t i, la_tensor **out)
{
    const la_prog_output *o = la_prog_output_at(r->p, i);
    if (!(o->requires_grad || o->consumed) || !run_is_shared(r->p, i))
        return la_bind_export(r->p, o->view, out);
    LA_LET(t, la_bind_export(r->p, o->view, &t));
    return la_tensor_alias(t, false, out);
}

static la_status run_output(run_state *r, int32_t i, la_tensor **out)
{
    const la_prog_output *o = la_prog_output_at(r->p, i);
    la_tensor *given = r->given ? r->given[i] : NULL, *t = NULL;
    if (given && o->object < 0 && r->p->bind->tensors[o->view])
        t = la_tensor_retain(r->p->bind->tensors[o->view]);
    else if (o->object >= 0)
        LA_TRY(la_tensor_same(la_bind_object(r->p, o->object, r->arguments),
                              &t));
    else LA_TRY(run_export(r, i, &t));
    la_status status = LA_OK;
    if (given && t == given) la_bump_version(given);
    else if (given) status = la_run_(copy_, given, t);
    else if (o->object < 0 && !given) status = la_bind_history(o, t);
    if (given || status) la_tensor_release(t);
    else *out = t;
    return status;
}

static la_status run_outputs(run_state *r, la_tensor **out)
{
    la_status status = LA_OK;
    int32_t i = 0;
    for (; i < r->p->outputs.n && !status; i++)
        status = run_output(r, i, &out[i]);
    for (int32_t k = 0; status && k < i && !r->given; k++)
        la_tensor_drop(&out[k]);
    return status;
}

/* ---- the run ---- */

void la_prog_leave(la_prog *p)
{
    if (p->bind) la_bind_leave(p);
    p->busy = false;
    p->runs++;
}

/* Questions that have to be answered before anything is done. */
static la_status run_early(run_state *r)
{
    la_context *c = la_ctx();
    bool no_grad = c->no_grad;
    la_status status = LA_OK;
    LA_WITHOUT_KEYS(1u << LA_KEY_AUTOGRAD | 1u << LA_KEY_RECORD);
    c->no_grad = true;
    for (int32_t i = 0; i < r->p->steps.n && !status; i++) {
        const la_prog_step *s = la_prog_step_at(r->p, i);
        if (s->early && la_prog_runs(s) && !(s->kept && r->p->were_fresh))
            status = run_step(r, i);
    }
    c->no_grad = no_grad;
    r->p->unfit = status != LA_OK;
    return status;
}

la_status la_prog_begin(la_prog *p, la_tensor *const *arguments)
{
    static const la_prog_host nobody;
    run_state r = {p, arguments, NULL, &nobody};
    la_prog_verify_plan(p);
    if (!p->bind) LA_TRY(la_bind_new(p));
    if (p->alone && !p->spare) LA_TRY(la_spare_new(p));
    p->busy = true;
    p->failed = NULL;
    p->unfit = false;
    p->at = 0;
    la_status status = la_bind_entry(p, arguments);
    if (!status) run_look(&r);
    p->were_fresh = p->fresh;
    p->fresh = false;           /* until all have run */
    if (!status && p->chooses) status = run_early(&r);
    if (status) la_prog_leave(p);
    return status;
}

la_status la_prog_advance(la_prog *p, la_tensor *const *arguments, int64_t end,
                          const la_prog_host *host)
{
    la_context *c = la_ctx();
    run_state r = {p, arguments, p->given, host};
    bool no_grad = c->no_grad;
    LA_WITHOUT_KEYS(1u << LA_KEY_AUTOGRAD | 1u << LA_KEY_RECORD);
    c->no_grad = true;
    la_status status = run_steps(&r, end);
    c->no_grad = no_grad;
    return status;
}

static la_status run_end(run_state *r, la_tensor **out)
{
    la_context *c = la_ctx();
    bool no_grad = c->no_grad;
    LA_WITHOUT_KEYS(1u << LA_KEY_AUTOGRAD | 1u << LA_KEY_RECORD);
    c->no_grad = true;
    la_status status = run_outputs(r, out);
    c->no_grad = no_grad;
    return status;
}

la_status la_prog_results(la_prog *p, la_tensor *const *arguments,
                          la_tensor **out)
{
    return la_prog_results_into(p, arguments, out, NULL);
}

la_status la_prog_results_into(la_prog *p, la_tensor *const *arguments,
                               la_tensor **out, la_tensor **given)
{
    run_state r = {p, arguments, given, NULL};
    return run_end(&r, out);
}

la_status la_prog_run(la_prog *p, la_tensor *const *arguments, la_tensor **out,
                      bool into, const la_prog_host *host)
{
    run_state r = {p, arguments, into ? out : NULL, host};
    LA_TRY(la_prog_begin(p, arguments));
    p->given = r.given;
    la_status status = la_prog_advance(p, arguments, INT64_MAX, host);
    p->given = NULL;
    if (!status) status = run_end(&r, out);
    la_prog_leave(p);
    return status;
}
