/* The verifier: what holds of a program after each pass. */
#include "program/passes.h"

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
