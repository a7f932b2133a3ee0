/* The pass 'dead': calls without an effect, whose results nobody reads, do not
** run. Walks backwards over the steps; a slot is wanted once a step that stays,
** or the caller, reads it. */
#include "program/passes.h"

#include "base/runtime/memory.h"

typedef struct dead_walk {
    const la_prog *p;
    bool *wanted;       /* per slot */
    bool any;
} dead_walk;

static void dead_want(void *context, int32_t view)
{
    dead_walk *w = context;
    w->wanted[la_prog_view_at(w->p, view)->slot] = true;
}

static void dead_ask(void *context, int32_t view)
{
    dead_walk *w = context;
    int32_t slot = la_prog_view_at(w->p, view)->slot;
    w->any |= w->wanted[slot]
        || la_prog_slot_at(w->p, slot)->kind == LA_SLOT_OBJECT;
}

/* Calls that only make views run where autograd is above: those of what is
** wanted. */
static void dead_alias(dead_walk *w, la_prog_step *s)
{
    w->any = !s->nresults;
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (s->results[k] >= 0) dead_ask(w, s->results[k]);
    for (int32_t k = 0; k < s->nlisted; k++) {
        int32_t view = la_prog_member(w->p, s->list_results + k);
        if (view >= 0) dead_ask(w, view);
    }
    s->dead = !w->any;
}

/* One walk from the last step to the first: a step is needed if it has an
** effect, or if a needed one reads what it writes. Questions that decided
** something have effects in this sense. */
la_status la_prog_pass_dead(la_prog *p, la_prog_pass_note *note)
{
    size_t bytes = (size_t)p->slots.n + 1;
    dead_walk w = {.p = p, .wanted = la_mem_zalloc(bytes)};
    if (!w.wanted) return LA_ENOMEM;
    for (int32_t i = 0; i < p->outputs.n; i++) {
        const la_prog_output *o = la_prog_output_at(p, i);
        if (o->view >= 0) dead_want(&w, o->view);
    }
    for (int32_t i = p->steps.n - 1; i >= 0; i--) {
        la_prog_step *s = la_prog_step_at(p, i);
        if (s->kind == LA_STEP_CALL && s->alias) {
            if (p->live) dead_alias(&w, s);
            continue;
        }
        w.any = !s->pure;
        if (!w.any) la_prog_writes(p, s, dead_ask, &w);
        s->dead = !w.any;
        note->count += s->dead;
        if (w.any) la_prog_reads(p, s, dead_want, &w);
    }
    la_mem_free(w.wanted, bytes);
    return LA_OK;
}
