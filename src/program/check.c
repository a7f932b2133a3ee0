/*
** The verifiers. la_prog_verify: what holds of a program after each pass, and
** of each that a file brings. la_prog_verify_plan, in the debug build: what the
** runner relies on without asking.
*/
#include "program/passes.h"

#include "base/assert.h"
#include "op/op.h"

static la_status check_fails(int32_t step, const char *what)
{
    return la_error(LA_ESTATE, "a program is wrong at step %d: %s",
                    (int)step + 1, what);
}

typedef struct check_walk {
    const la_prog *p;
    int32_t step;
    bool early, unknown;
} check_walk;

/* A made slot is read after the step that makes it only. */
static void check_read(void *context, int32_t view)
{
    check_walk *w = context;
    if (view >= w->p->views.n) {
        w->unknown = true;
        return;
    }
    int32_t slot = la_prog_view_at(w->p, view)->slot;
    if (slot < 0 || slot >= w->p->slots.n) {
        w->unknown = true;
        return;
    }
    const la_prog_slot *s = la_prog_slot_at(w->p, slot);
    if (s->kind != LA_SLOT_STEP) return;
    w->early |= s->maker >= w->step
        || la_prog_step_at(w->p, s->maker)->dead;
}

/* One walk, without memory of its own: it also runs on programs of files, whose
** size somebody else chose. */
la_status la_prog_verify(const la_prog *p)
{
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        check_walk w = {p, i, false, false};
        if (s->kind == LA_STEP_CALL && !s->op)
            return check_fails(i, "no operation");
        if (s->kind != LA_STEP_CALL && s->kind != LA_STEP_LOOK
            && s->kind != LA_STEP_LOOP
            && (s->object < 0 || s->object >= p->objects.n))
            return check_fails(i, "no tensor from outside");
        if (!la_prog_runs(s)) continue;
        la_prog_reads(p, s, check_read, &w);
        if (w.unknown) return check_fails(i, "a view that is not there");
        if (w.early) return check_fails(i, "it reads what no step has made");
    }
    for (int32_t i = 0; i < p->outputs.n; i++) {
        const la_prog_output *o = la_prog_output_at(p, i);
        if (o->view >= p->views.n || o->object >= p->objects.n
            || (o->view < 0 && o->object < 0))
            return check_fails(p->steps.n, "a result that is not there");
    }
    return LA_OK;
}

/* ---- a plan ---- */

#ifdef LA_DEBUG

enum { MOST_PAIRS = 256 };      /* slots whose pieces are compared, each with
                                ** each: longer programs check the first */

/* Life, maker and piece of one slot. */
static void verify_slot(const la_prog *p, const la_prog_slot *s)
{
    la_assert(s->kind <= LA_SLOT_STEP && s->memory <= LA_MEMORY_TAKEN);
    la_assert(s->nbytes >= 0);
    la_assert(s->first < 0 || (s->first <= s->last && s->last < p->steps.n));
    la_assert(s->kind != LA_SLOT_OBJECT
              || (s->index >= 0 && s->index < p->objects.n));
    la_assert(s->kind != LA_SLOT_CONST || s->own);
    la_assert(s->kind != LA_SLOT_STEP
              || (s->maker >= 0 && s->maker < p->steps.n));
    if (!la_prog_in_arena(p, s)) return;
    la_assert(s->at >= 0 && s->at % LA_PROG_LINE == 0);
    la_assert(s->nbytes <= p->arena_bytes - s->at);
}

/* Two pieces of the same time share no byte. */
static void verify_apart(const la_prog *p, const la_prog_slot *a, int32_t n)
{
    if (!la_prog_in_arena(p, a)) return;
    for (int32_t i = 0; i < n; i++) {
        const la_prog_slot *b = la_prog_slot_at(p, i);
        if (!la_prog_in_arena(p, b) || !la_prog_slots_meet(a, b)) continue;
        la_assert(a->at + a->nbytes <= b->at || b->at + b->nbytes <= a->at);
    }
}

/* Numbers of one step lie in the lists that they index. Only the first step
** of a group says that it is in one. */
static void verify_step(const la_prog *p, int32_t i)
{
    const la_prog_step *s = la_prog_step_at(p, i);
    la_assert(s->kind <= LA_STEP_LOOP && s->form <= LA_OUT);
    la_assert(s->nargs <= LA_MAX_ARGS && s->nresults <= LA_MAX_RESULTS);
    la_assert(s->joined >= 0 && s->joined <= p->groups.n);
    la_assert(s->packed >= 0 && s->packed <= p->packs.n);
    la_assert(s->kind != LA_STEP_LOOP || s->loop);
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        la_assert(s->results[k] < p->views.n && s->outs[k] < p->views.n);
    if (!s->joined) return;
    const la_prog_group *g = la_prog_group_of(p, s);
    la_assert(g->first == i && g->end >= i && g->end < p->steps.n);
}

void la_prog_verify_plan(const la_prog *p)
{
    la_assert(p->planned && !p->eager);
    la_assert(p->at >= 0 && p->at <= p->steps.n);
    la_assert(p->narguments <= p->objects.n);
    for (int32_t i = 0; i < p->views.n; i++) {
        const la_prog_view *v = la_prog_view_at(p, i);
        la_assert(v->slot >= 0 && v->slot < p->slots.n && v->form);
        la_assert(v->next < p->views.n);
    }
    for (int32_t i = 0; i < p->slots.n; i++) {
        verify_slot(p, la_prog_slot_at(p, i));
        if (i < MOST_PAIRS) verify_apart(p, la_prog_slot_at(p, i), i);
    }
    for (int32_t i = 0; i < p->steps.n; i++) verify_step(p, i);
}

#endif
