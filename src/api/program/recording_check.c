/*
** What holds of every recording, of one that a file gives: the verifier of the
** passes (program/check.c) relies on that. What follows from the rest is found
** here, and not read: what varies, what is written, what outlives the run.
*/
#include "api/program/api_program.h"

#include "op/op.h"
#include "op/schema.h"
#include "program/passes.h"

static la_status check_broken(const char *what)
{
    return la_error(LA_EIO, "the program is damaged: %s", what);
}

/* ---- objects and slots ---- */

/* Arguments come first. */
static la_status check_object(const la_prog *p, int32_t i)
{
    const la_prog_object *o = la_prog_object_at(p, i);
    if (i < p->narguments ? o->argument != i : o->argument >= 0)
        return check_broken("arguments are not in their order");
    if (o->argument < 0 && !o->tensor)
        return check_broken("a tensor that is not there");
    if (o->slot >= p->slots.n || o->grad_slot >= p->slots.n)
        return check_broken("a tensor without memory");
    if (i < p->narguments && o->slot < 0)
        return check_broken("an argument without memory");
    if (o->slot >= 0) {
        const la_prog_slot *s = la_prog_slot_at(p, o->slot);
        if (s->kind != LA_SLOT_OBJECT || s->grad)
            return check_broken("a tensor in memory of others");
    }
    if (o->grad_slot < 0) return LA_OK;
    const la_prog_slot *s = la_prog_slot_at(p, o->grad_slot);
    if (s->kind != LA_SLOT_OBJECT || !s->grad || s->index != i
        || !o->grad_asked || !o->had_grad)
        return check_broken("a gradient in memory of others");
    return LA_OK;
}

/* Meanwhile 'first' of a slot says that its step gives it, 'last' which step
** was the last to read it. */
static void check_give(const la_prog *p, int32_t step, int32_t view)
{
    if (view < 0) return;
    la_prog_slot *s = la_prog_slot_at(p, la_prog_view_at(p, view)->slot);
    if (s->maker == step) s->first = step;
}

static void check_makers(const la_prog *p)
{
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        for (int k = 0; k < LA_MAX_RESULTS; k++)
            check_give(p, i, s->results[k]);
        for (int32_t k = 0; k < s->nlisted; k++)
            check_give(p, i, la_prog_member(p, s->list_results + k));
    }
}

static la_status check_slot(const la_prog *p, int32_t i)
{
    const la_prog_slot *s = la_prog_slot_at(p, i);
    if (s->kind == LA_SLOT_CONST)
        return s->own && s->own->numel <= s->nbytes ? LA_OK
            : check_broken("a constant of other bytes");
    if (s->kind == LA_SLOT_OBJECT) {
        if (s->index < 0 || s->index >= p->objects.n)
            return check_broken("memory of a tensor that is not there");
        const la_prog_object *o = la_prog_object_at(p, s->index);
        return (s->grad ? o->grad_slot : o->slot) == i ? LA_OK
            : check_broken("memory of a tensor that has other");
    }
    if (s->maker < 0 || s->maker >= p->steps.n)
        return check_broken("memory that no step makes");
    const la_prog_step *maker = la_prog_step_at(p, s->maker);
    bool loop = maker->kind == LA_STEP_LOOP;
    if ((!loop && (maker->kind != LA_STEP_CALL || maker->alias
                   || maker->form != LA_FUNCTIONAL
                   || maker->op->forms & LA_MUTATES))
        || s->first != s->maker)
        return check_broken("memory that its step does not make");
    return LA_OK;
}

/* ---- views ---- */

static la_status check_inside(const la_tensor *f, int64_t bytes, int64_t all)
{
    int64_t item = (int64_t)la_itemsize(f);
    if (bytes < 0 || bytes % item)
        return check_broken("a view that begins outside of its memory");
    if (la_extent_check(f->ndim, la_sizes(f), la_strides(f), bytes / item,
                        item, all))
        return check_broken("a view that ends outside of its memory");
    return LA_OK;
}

static bool check_same_form(const la_tensor *a, const la_tensor *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim) return false;
    for (int d = 0; d < 2 * a->ndim; d++)
        if (a->dims[d] != b->dims[d]) return false;
    return true;
}

/* Views of tensors from outside are looked at again in each call. */
static la_status check_view(const la_prog *p, int32_t i)
{
    const la_prog_view *v = la_prog_view_at(p, i);
    const la_prog_slot *s = la_prog_slot_at(p, v->slot);
    if (v->whole && (s->kind != LA_SLOT_OBJECT || v->bytes))
        return check_broken("a view that is no tensor from outside");
    if (s->kind == LA_SLOT_OBJECT) {
        const la_prog_object *o = la_prog_object_at(p, s->index);
        return !v->whole || s->grad || check_same_form(v->form, o->form)
            ? LA_OK : check_broken("a tensor from outside of two forms");
    }
    return check_inside(v->form, v->bytes, s->nbytes);
}

/* A slot that a step makes has the bytes of the result that begins with it: it
** is made as that. Once for each slot: others with that begin are no larger, or
** the gate refuses them. */
static la_status check_result(const la_prog *p, int32_t step, int32_t view)
{
    const la_prog_view *v = la_prog_view_at(p, view);
    la_prog_slot *s = la_prog_slot_at(p, v->slot);
    if (s->kind != LA_SLOT_STEP || s->maker != step || v->bytes
        || s->first < 0) return LA_OK;
    s->first = LA_PROG_NONE;
    const la_tensor *f = v->form;
    int64_t all = f->numel ? (int64_t)la_itemsize(f) : 0;
    for (int d = 0; f->numel && d < f->ndim; d++)
        all += (la_sizes(f)[d] - 1) * la_strides(f)[d]
            * (int64_t)la_itemsize(f);
    for (int32_t i = s->views; i >= 0; i = la_prog_view_at(p, i)->next)
        LA_TRY(check_inside(la_prog_view_at(p, i)->form,
                            la_prog_view_at(p, i)->bytes, all));
    return LA_OK;
}

/* ---- steps ---- */

static la_status check_lists(const la_prog *p, const la_prog_step *s)
{
    const la_schema *schema = la_schema_of(s->op);
    int64_t at = s->lists < 0 ? p->members.n : s->lists;
    for (int k = 0; k < s->nargs; k++) {
        if (s->args[k].tag != LA_VTENSORS) continue;
        int64_t n = s->args[k].tensors.n;
        if (n > p->members.n - at)
            return check_broken("a list of tensors that is not there");
        for (int64_t i = 0; i < n; i++, at++)
            if (la_prog_member(p, (int32_t)at) < 0
                && !schema->params[k].nullable)
                return check_broken("a list of tensors with a hole");
    }
    return LA_OK;
}

static la_status check_results(const la_prog *p, int32_t i)
{
    const la_prog_step *s = la_prog_step_at(p, i);
    const la_schema *schema = la_schema_of(s->op);
    bool list = schema->nresults > 0 && schema->results[0] == LA_VTENSORS;
    if (s->nresults > schema->nresults || (s->nlisted && !list))
        return check_broken("more results than the operation has");
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        if (s->results[k] < 0) continue;
        if (k >= s->nresults || schema->results[k] != LA_VTENSOR)
            return check_broken("a result that the operation has not");
        LA_TRY(check_result(p, i, s->results[k]));
    }
    for (int32_t k = 0; k < s->nlisted; k++) {
        int32_t view = la_prog_member(p, s->list_results + k);
        if (view >= 0) LA_TRY(check_result(p, i, view));
    }
    return LA_OK;
}

/* The operation has the form, and its outputs. */
static la_status check_form(const la_prog_step *s)
{
    uint32_t needs = s->form == LA_INPLACE ? LA_INPLACE_FORM
        : s->form == LA_OUT ? LA_OUT_FORM : 0;
    bool metadata = s->op->forms & LA_METADATA;
    if ((s->op->forms & needs) != needs || (metadata && !s->alias)
        || (s->alias && !metadata && (s->form != LA_FUNCTIONAL
                                      || s->op->forms & LA_MUTATES)))
        return check_broken("a form of a call that its operation has not");
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        bool out = s->outs[k] >= 0;
        if (out && (s->form == LA_FUNCTIONAL
                    || (s->form == LA_INPLACE && (k || s->outs[0]
                                                  != s->views[0]))))
            return check_broken("an output that the call has not");
        if (k == 0 && s->form != LA_FUNCTIONAL && !out)
            return check_broken("a call in place of nothing");
    }
    return LA_OK;
}

typedef struct check_visit { const la_prog *p; int32_t step; } check_visit;

static void check_look(void *context, int32_t view)
{
    check_visit *w = context;
    la_prog_slot_at(w->p, la_prog_view_at(w->p, view)->slot)->last = w->step;
}

/* A call that only makes views gives views of what it reads. */
static la_status check_alias(const la_prog *p, int32_t i)
{
    const la_prog_step *s = la_prog_step_at(p, i);
    check_visit w = {p, i};
    la_prog_reads(p, s, check_look, &w);
    for (int32_t k = 0; k < LA_MAX_RESULTS + s->nlisted; k++) {
        int32_t view = k < LA_MAX_RESULTS ? s->results[k]
            : la_prog_member(p, s->list_results + k - LA_MAX_RESULTS);
        if (view >= 0
            && la_prog_slot_at(p, la_prog_view_at(p, view)->slot)->last != i)
            return check_broken("a view of what its call does not read");
    }
    return LA_OK;
}

static la_status check_numbers(const la_prog_step *s)
{
    for (int k = 0; k < s->nsources; k++) {
        la_tag tag = s->args[s->sources[k].arg].tag;
        if (tag != LA_VINT && tag != LA_VFLOAT && tag != LA_VSCALAR
            && tag != LA_VBOOL)
            return check_broken("a number in place of a tensor");
    }
    return LA_OK;
}

/* A question reads its elements one behind the other. */
static la_status check_question(const la_prog *p, const la_prog_step *s)
{
    if (s->view < 0) return check_broken("a question about nothing");
    const la_tensor *f = la_prog_view_at(p, s->view)->form;
    int kind = s->question.kind;
    bool one = kind == LA_LOOK_truth || kind == LA_LOOK_zero;
    if (f->dtype != (kind == LA_LOOK_truth ? LA_BOOL : LA_INT64)
        || !la_is_contiguous(f) || (one && f->numel != 1)
        || f->flags & (LA_F_CONJ | LA_F_NEG))
        return check_broken("a question about other elements");
    return LA_OK;
}

/* ---- loops ---- */

static const la_tensor *check_output_form(const la_prog *p, int32_t i)
{
    const la_prog_output *o = la_prog_output_at(p, i);
    return o->object >= 0 ? la_prog_object_at(p, o->object)->form
                          : la_prog_view_at(p, o->view)->form;
}

static void check_outer(void *context, int32_t view)
{
    check_visit *w = context;
    const la_prog_slot *s = la_prog_slot_at(w->p,
        la_prog_view_at(w->p, view)->slot);
    if (s->kind == LA_SLOT_OBJECT) w->step = -1;
}

/* A part captures nothing, writes nothing of others, draws no numbers. */
static la_status check_part(la_prog *p, int32_t arguments)
{
    LA_TRY(la_program_check(p));
    check_visit w = {p, 0};
    if (p->narguments != arguments || p->objects.n != arguments || p->chooses)
        return check_broken("a part of a loop with other arguments");
    for (int32_t i = 0; i < p->objects.n; i++) {
        const la_prog_object *o = la_prog_object_at(p, i);
        if (o->pinned || o->grad_asked || o->grad_set)
            return check_broken("a part of a loop that asks for gradients");
    }
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        if (s->kind != LA_STEP_CALL || s->nsources
            || la_draws_numbers(la_schema_of(s->op)))
            return check_broken("a part of a loop that is none");
        la_prog_writes(p, s, check_outer, &w);
    }
    return w.step < 0 ? check_broken("a part of a loop that writes others")
                      : LA_OK;
}

/* Operands have the form of what the part was recorded with: the carry, and
** behind it what the part uses, which are those from 'from' on. */
static la_status check_operands(const la_prog *p, const la_prog_step *s,
                                const la_prog *part, int32_t from)
{
    for (int32_t i = 0; i < part->narguments; i++) {
        int32_t k = i < s->loop->ncarry ? i + s->loop->chooses
            : from + i - s->loop->ncarry;
        int32_t view = la_prog_member(p, s->lists + k);
        if (view < 0 || !check_same_form(la_prog_view_at(p, view)->form,
                                         la_prog_object_at(part, i)->form))
            return check_broken("a loop on other tensors");
    }
    return LA_OK;
}

static bool check_same_sizes(const la_tensor *a, const la_tensor *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim
        && memcmp(la_sizes(a), la_sizes(b), 8 * (size_t)a->ndim) == 0;
}

/* Results of a branch are its own, in the form that the step gives them. */
static la_status check_branch(const la_prog *p, const la_prog_step *s,
                              const la_prog *part)
{
    if (part->outputs.n != s->nlisted)
        return check_broken("a branch with other results");
    for (int32_t k = 0; k < s->nlisted; k++) {
        int32_t view = la_prog_member(p, s->list_results + k);
        const la_prog_output *o = la_prog_output_at(part, k);
        if (view < 0 || o->object >= 0 || la_prog_slot_at(part,
                la_prog_view_at(part, o->view)->slot)->kind == LA_SLOT_OBJECT
            || !check_same_sizes(check_output_form(part, k),
                                 la_prog_view_at(p, view)->form))
            return check_broken("a branch with other results");
    }
    return LA_OK;
}

/* la.cond: the condition, and what both branches use. */
static la_status check_choice(const la_prog *p, const la_prog_step *s)
{
    const la_prog_loop *l = s->loop;
    int32_t view = la_prog_member(p, s->lists);
    const la_tensor *flag = view < 0 ? NULL : la_prog_view_at(p, view)->form;
    if (!flag || flag->dtype != LA_BOOL || flag->numel != 1)
        return check_broken("a condition that is no bool");
    LA_TRY(check_branch(p, s, l->test));
    LA_TRY(check_branch(p, s, l->body));
    LA_TRY(check_operands(p, s, l->test, 1 + l->ncarry));
    return check_operands(p, s, l->body, 1 + l->ncarry + l->ntest);
}

static la_status check_passes(const la_prog *p, const la_prog_step *s)
{
    const la_prog_loop *l = s->loop;
    if (l->test->outputs.n != 1 || l->body->outputs.n != l->ncarry
        || s->nlisted != l->ncarry)
        return check_broken("a part of a loop with other results");
    const la_tensor *flag = check_output_form(l->test, 0);
    if (flag->dtype != LA_BOOL || flag->numel != 1)
        return check_broken("a test that is no bool");
    for (int32_t k = 0; k < l->ncarry; k++)
        if (!check_same_form(check_output_form(l->body, k),
                             la_prog_object_at(l->body, k)->form))
            return check_broken("a carry of two forms");
    LA_TRY(check_operands(p, s, l->test, l->ncarry));
    return check_operands(p, s, l->body, l->ncarry + l->ntest);
}

static la_status check_loop(const la_prog *p, int32_t i)
{
    const la_prog_step *s = la_prog_step_at(p, i);
    const la_prog_loop *l = s->loop;
    int32_t n = la_loop_operands(s);
    if (n > 64 || n > p->members.n - s->lists || s->nlisted > 64)
        return check_broken("a loop without its tensors");
    LA_TRY(check_part(l->test, l->ncarry + l->ntest));
    LA_TRY(check_part(l->body, l->ncarry + l->nbody));
    LA_TRY(l->chooses ? check_choice(p, s) : check_passes(p, s));
    for (int32_t k = 0; k < s->nlisted; k++) {
        int32_t view = la_prog_member(p, s->list_results + k);
        if (view >= 0) LA_TRY(check_result(p, i, view));
    }
    return LA_OK;
}

static la_status check_step(const la_prog *p, int32_t i)
{
    la_prog_step *s = la_prog_step_at(p, i);
    if (s->kind == LA_STEP_LOOK) return check_question(p, s);
    if (s->kind == LA_STEP_LOOP) return check_loop(p, i);
    if (s->kind != LA_STEP_CALL) return LA_OK;
    LA_TRY(check_form(s));
    LA_TRY(check_lists(p, s));
    LA_TRY(check_results(p, i));
    LA_TRY(check_numbers(s));
    s->pure = s->pure && !s->alias && s->form == LA_FUNCTIONAL
        && !(s->op->forms & LA_MUTATES)
        && !la_draws_numbers(la_schema_of(s->op));
    return s->alias ? check_alias(p, i) : LA_OK;
}

/* ---- what follows ---- */

typedef struct check_mark { la_prog *p; bool varies; } check_mark;

static void check_varies(void *context, int32_t view)
{
    check_mark *m = context;
    m->varies |= la_prog_slot_at(m->p, la_prog_view_at(m->p, view)->slot)
        ->varies;
}

static void check_written(void *context, int32_t view)
{
    check_mark *m = context;
    la_prog_slot *s = la_prog_slot_at(m->p, la_prog_view_at(m->p, view)->slot);
    s->written = true;
    s->varies |= m->varies || s->kind == LA_SLOT_OBJECT;
}

static void check_escapes(la_prog *p, int32_t view)
{
    if (view >= 0)
        la_prog_slot_at(p, la_prog_view_at(p, view)->slot)->escapes = true;
}

static void check_vary(la_prog *p, int32_t view)
{
    if (view >= 0)
        la_prog_slot_at(p, la_prog_view_at(p, view)->slot)->varies = true;
}

static void check_marks(la_prog *p)
{
    for (int32_t i = 0; i < p->slots.n; i++) {
        la_prog_slot *s = la_prog_slot_at(p, i);
        s->varies = s->kind == LA_SLOT_OBJECT
            && (s->grad || s->index < p->narguments);
    }
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        check_mark m = {p, false};
        if (s->kind == LA_STEP_GRAD) check_escapes(p, s->view);
        for (int32_t k = 0; s->kind == LA_STEP_LOOP && k < s->nlisted; k++)
            check_vary(p, la_prog_member(p, s->list_results + k));
        if (s->kind != LA_STEP_CALL || s->alias) continue;
        m.varies = la_draws_numbers(la_schema_of(s->op));
        la_prog_reads(p, s, check_varies, &m);
        la_prog_writes(p, s, check_written, &m);
    }
    for (int32_t i = 0; i < p->outputs.n; i++)
        check_escapes(p, la_prog_output_at(p, i)->view);
}

static la_status check_outputs(const la_prog *p)
{
    for (int32_t i = 0; i < p->outputs.n; i++) {
        const la_prog_output *o = la_prog_output_at(p, i);
        if ((o->view < 0) == (o->object < 0))
            return check_broken("a result that is not there");
    }
    return LA_OK;
}

la_status la_program_check(la_prog *p)
{
    if (p->narguments > p->objects.n)
        return check_broken("arguments that are not there");
    for (int32_t i = 0; i < p->objects.n; i++) LA_TRY(check_object(p, i));
    check_makers(p);
    for (int32_t i = 0; i < p->slots.n; i++) LA_TRY(check_slot(p, i));
    for (int32_t i = 0; i < p->views.n; i++) LA_TRY(check_view(p, i));
    for (int32_t i = 0; i < p->steps.n; i++) LA_TRY(check_step(p, i));
    LA_TRY(check_outputs(p));
    for (int32_t i = 0; i < p->slots.n; i++)
        la_prog_slot_at(p, i)->first = la_prog_slot_at(p, i)->last
            = LA_PROG_NONE;
    check_marks(p);
    if (la_prog_verify(p)) return la_blame(LA_EIO, 0);
    return la_look_mark(p) ? LA_OK : check_broken("a question that comes too "
                                                  "late");
}
