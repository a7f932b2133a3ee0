/*
** The pass "fuse": groups of element-wise calls and reductions, one behind the
** other, that src/fuse runs in as few walks over memory as there can be. What
** is read in the group alone is never stored.
**
** Only large tensors are worth it: a walk is laid out anew in each run.
*/
#include "program/passes.h"

#include "base/runtime/memory.h"
#include "op/families.h"
#include "op/op.h"

enum { LARGE = 8192, MOST = 32 };     /* elements; steps of a group */

typedef struct join_walk {
    la_prog *p;
    int32_t first;      /* of the group at hand */
    bool large, no;
} join_walk;

static bool join_is_plain(const la_tensor *f)
{
    return !f->names && !(f->flags & (LA_F_CONJ | LA_F_NEG));
}

static void join_operand(void *context, int32_t view)
{
    join_walk *w = context;
    const la_prog_view *v = la_prog_view_at(w->p, view);
    w->large |= v->form->numel >= LARGE;
    w->no |= !join_is_plain(v->form);
}

/* Can the call be one of a group at all? */
static bool join_suits(join_walk *w, const la_prog_step *s)
{
    if (s->kind != LA_STEP_CALL || s->form != LA_FUNCTIONAL || s->kept
        || s->early
        || s->nsources || s->nresults != 1 || s->nlisted || s->lists >= 0
        || s->results[0] < 0 || s->op->forms & LA_MUTATES) return false;
    const la_family *family = s->op->family;
    if (family ? family->impl != la_pointwise_impl : !s->op->reductions[0])
        return false;
    const la_prog_view *v = la_prog_view_at(w->p, s->results[0]);
    const la_prog_slot *slot = la_prog_slot_at(w->p, v->slot);
    w->large = w->no = false;
    la_prog_reads(w->p, s, join_operand, w);
    join_operand(w, s->results[0]);
    return w->large && !w->no && slot->kind == LA_SLOT_STEP && v->bytes == 0
        && la_prog_step_at(w->p, slot->maker) == s;
}

/* A result of the group is read as it was made alone: another view of it has no
** memory yet. */
static void join_look(void *context, int32_t view)
{
    join_walk *w = context;
    const la_prog_slot *s = la_prog_slot_at(w->p,
        la_prog_view_at(w->p, view)->slot);
    if (s->kind != LA_SLOT_STEP || s->maker < w->first) return;
    const la_tensor *own = la_prog_view_at(w->p,
        la_prog_step_at(w->p, s->maker)->results[0])->form;
    const la_prog_view *v = la_prog_view_at(w->p, view);
    bool same = v->bytes == 0 && v->form->ndim == own->ndim
        && v->form->dtype == own->dtype;
    for (int d = 0; same && d < own->ndim; d++)
        same = la_sizes(own)[d] == la_sizes(v->form)[d]
            && la_strides(own)[d] == la_strides(v->form)[d];
    w->no |= !same;
}

/* The last step of the group that begins at 'first'; how many it has. */
static int32_t join_end(join_walk *w, int32_t first, int *n)
{
    int32_t end = first;
    *n = 0;
    w->first = first;
    for (int32_t i = first; i < w->p->steps.n && *n < MOST; i++) {
        const la_prog_step *s = la_prog_step_at(w->p, i);
        if (!la_prog_runs(s)) continue;
        if (!join_suits(w, s)) break;
        w->no = false;
        la_prog_reads(w->p, s, join_look, w);
        if (w->no) break;
        end = i;
        ++*n;
    }
    return end;
}

typedef struct join_use { la_prog *p; int32_t first, end, step; } join_use;

static void join_outer(void *context, int32_t view)
{
    join_use *u = context;
    la_prog_slot *s = la_prog_slot_at(u->p, la_prog_view_at(u->p, view)->slot);
    if (s->kind == LA_SLOT_STEP && s->maker >= u->first && s->maker <= u->end
        && u->step > u->end) s->inner = false;
}

/* Which results of the group others read. */
static void join_mark(la_prog *p, int32_t first, int32_t end)
{
    join_use u = {p, first, end, 0};
    for (int32_t i = first; i <= end; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        if (!la_prog_runs(s)) continue;
        la_prog_slot *slot = la_prog_slot_at(p,
            la_prog_view_at(p, s->results[0])->slot);
        slot->joined = true;
        slot->inner = !slot->escapes;
    }
    for (u.step = end + 1; u.step < p->steps.n; u.step++) {
        const la_prog_step *s = la_prog_step_at(p, u.step);
        if (!la_prog_runs(s)) continue;
        la_prog_reads(p, s, join_outer, &u);
        la_prog_writes(p, s, join_outer, &u);
    }
    la_prog_step_at(p, first)->joined = end;
}

la_status la_prog_pass_join(la_prog *p, la_prog_pass_note *note)
{
    join_walk w = {.p = p};
    if (p->live) return LA_OK;
    for (int32_t i = 0; i < p->steps.n; i++) {
        int n;
        if (!la_prog_runs(la_prog_step_at(p, i))) continue;
        int32_t end = join_end(&w, i, &n);
        if (n < 2) continue;
        join_mark(p, i, end);
        note->count += n;
        i = end;
    }
    return LA_OK;
}
