/* The pass 'one': a product with ones is its other operand, to the bit.
** Backward passes begin with ones, so many of their first calls are such. Slots
** of both are written by nobody else, and not both of them are kept by somebody
** outside, who might write one of them. */
#include "program/passes.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "op/op.h"

typedef struct one_walk {
    la_prog *p;
    bool *written;      /* per slot: by a step that is not its maker */
    int32_t step;
} one_walk;

static void one_note(void *context, int32_t view)
{
    one_walk *w = context;
    int32_t slot = la_prog_view_at(w->p, view)->slot;
    if (la_prog_slot_at(w->p, slot)->maker != w->step) w->written[slot] = true;
}

/* The step that makes the view's slot, which nobody else writes; NULL. */
static const la_prog_step *one_maker(const one_walk *w, int32_t view)
{
    if (view < 0) return NULL;
    int32_t slot = la_prog_view_at(w->p, view)->slot;
    const la_prog_slot *s = la_prog_slot_at(w->p, slot);
    return s->kind == LA_SLOT_STEP && !w->written[slot]
        ? la_prog_step_at(w->p, s->maker) : NULL;
}

static bool one_is_ones(const one_walk *w, int32_t view)
{
    const la_op *ones = LA_OP(ones), *copy = LA_OP(clone);
    const la_prog_step *s = one_maker(w, view);
    while (s && s->kind == LA_STEP_CALL && s->op == copy)
        s = one_maker(w, s->views[0]);
    return s && s->kind == LA_STEP_CALL && s->op == ones;
}

/* Can the operand be the result? It is the whole of its slot, too. */
static bool one_is_result(const one_walk *w, int32_t view, int32_t result)
{
    const la_prog_step *maker = one_maker(w, view);
    if (!maker || maker->kept || maker->early || !one_maker(w, result))
        return false;
    const la_prog_view *a = la_prog_view_at(w->p, view);
    const la_prog_view *b = la_prog_view_at(w->p, result);
    const la_prog_slot *s = la_prog_slot_at(w->p, a->slot);
    const la_prog_slot *t = la_prog_slot_at(w->p, b->slot);
    const la_tensor *f = a->form, *g = b->form;
    return a->slot != b->slot && a->bytes == 0 && b->bytes == 0
        && s->nbytes == t->nbytes && !(s->escapes && t->escapes)
        && (la_is_float((la_dtype)f->dtype)) && f->dtype == g->dtype
        && f->flags == g->flags && f->names == g->names
        && la_same_geometry(f, g);
}

/* The operand that the call gives as it is; -1: none. */
static int one_operand(const one_walk *w, const la_prog_step *s)
{
    if (!la_prog_runs(s) || s->kind != LA_STEP_CALL || s->results[0] < 0
        || s->form != LA_FUNCTIONAL || s->early
        || s->op->role != LA_ROLE_times) return -1;
    for (int k = 0; k < 2; k++)
        if (one_is_ones(w, s->views[1 - k])
            && one_is_result(w, s->views[k], s->results[0])) return k;
    return -1;
}

la_status la_prog_pass_one(la_prog *p, la_prog_pass_note *note)
{
    size_t bytes = (size_t)p->slots.n + 1;
    if (p->live) return LA_OK;
    one_walk w = {.p = p, .written = la_mem_zalloc(bytes)};
    if (!w.written) return LA_ENOMEM;
    for (w.step = 0; w.step < p->steps.n; w.step++)
        la_prog_writes(p, la_prog_step_at(p, w.step), one_note, &w);
    for (int32_t i = 0; i < p->steps.n; i++) {
        la_prog_step *s = la_prog_step_at(p, i);
        int k = one_operand(&w, s);
        if (k < 0) continue;
        la_prog_stand_for(p, s->views[k], s->results[0]);
        s->dead = true;
        note->count++;
    }
    la_mem_free(w.written, bytes);
    return LA_OK;
}
