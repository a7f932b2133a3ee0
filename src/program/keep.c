/* The pass "fold": calls whose operands no call changes, and that are no
** arguments, run once: their results are kept. They run again when a tensor
** from outside that they read has been written, or has other memory. */
#include "program/passes.h"

#include "base/runtime/memory.h"

typedef struct keep_walk {
    const la_prog *p;
    bool *written;      /* per slot: by a step that is not its maker */
    int32_t step;
    bool no;
} keep_walk;

static void keep_note(void *context, int32_t view)
{
    keep_walk *w = context;
    int32_t slot = la_prog_view_at(w->p, view)->slot;
    if (la_prog_slot_at(w->p, slot)->maker != w->step) w->written[slot] = true;
}

static void keep_read(void *context, int32_t view)
{
    keep_walk *w = context;
    int32_t slot = la_prog_view_at(w->p, view)->slot;
    const la_prog_slot *s = la_prog_slot_at(w->p, slot);
    w->no |= w->written[slot]
        || (s->kind == LA_SLOT_STEP ? !s->kept : s->varies);
}

static void keep_result(void *context, int32_t view)
{
    keep_walk *w = context;
    int32_t slot = la_prog_view_at(w->p, view)->slot;
    const la_prog_slot *s = la_prog_slot_at(w->p, slot);
    w->no |= w->written[slot] || s->escapes || s->kind != LA_SLOT_STEP;
}

static void keep_slot(void *context, int32_t view)
{
    keep_walk *w = context;
    la_prog_slot_at(w->p, la_prog_view_at(w->p, view)->slot)->kept = true;
}

/* Objects that kept steps read are looked at in each run. */
static void keep_watch(void *context, int32_t view)
{
    keep_walk *w = context;
    const la_prog_slot *s = la_prog_slot_at(w->p,
        la_prog_view_at(w->p, view)->slot);
    if (s->kind == LA_SLOT_OBJECT)
        la_prog_object_at(w->p, s->index)->kept = true;
}

/* Two walks, because a call that comes later may write what an earlier one
** reads: all writers are noted before any call is kept. */
la_status la_prog_pass_keep(la_prog *p, la_prog_pass_note *note)
{
    size_t bytes = (size_t)p->slots.n + 1;
    if (p->live) return LA_OK;
    keep_walk w = {.p = p, .written = la_mem_zalloc(bytes)};
    if (!w.written) return LA_ENOMEM;
    for (w.step = 0; w.step < p->steps.n; w.step++) {
        const la_prog_step *s = la_prog_step_at(p, w.step);
        if (!s->dead) la_prog_writes(p, s, keep_note, &w);
    }
    for (w.step = 0; w.step < p->steps.n; w.step++) {
        la_prog_step *s = la_prog_step_at(p, w.step);
        if (!s->pure || s->dead || s->kind != LA_STEP_CALL) continue;
        w.no = false;
        la_prog_reads(p, s, keep_read, &w);
        la_prog_writes(p, s, keep_result, &w);
        if (w.no) continue;
        s->kept = p->keeps = true;
        la_prog_writes(p, s, keep_slot, &w);
        la_prog_reads(p, s, keep_watch, &w);
        note->count++;
    }
    la_mem_free(w.written, bytes);
    return LA_OK;
}
