/* The pass 'same': a call that repeats an earlier one on the same elements gets
** its results. Slots of both are written by nobody else, and not both of them
** are kept by somebody outside, who might write one of them. */
#include "program/passes.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "op/op.h"

typedef struct same_walk {
    la_prog *p;
    int32_t *written;   /* per slot: the last step that wrote it, no maker */
    int32_t step;
    bool changed;
} same_walk;

static void same_note(void *context, int32_t view)
{
    same_walk *w = context;
    int32_t slot = la_prog_view_at(w->p, view)->slot;
    if (la_prog_slot_at(w->p, slot)->maker != w->step)
        w->written[slot] = w->step;
}

static void same_ask(void *context, int32_t view)
{
    same_walk *w = context;
    w->changed |= w->written[la_prog_view_at(w->p, view)->slot] >= w->step;
}

static bool same_value(const la_value *a, const la_value *b)
{
    if (a->tag != b->tag) return false;
    switch (a->tag) {
    case LA_VNONE: case LA_VTENSOR: return true;
    case LA_VINT: return a->i == b->i;
    case LA_VFLOAT: return memcmp(&a->d, &b->d, sizeof a->d) == 0;
    case LA_VBOOL: return a->b == b->b;
    case LA_VDTYPE: return a->dtype == b->dtype;
    case LA_VFORMAT: return a->format == b->format;
    case LA_VDEVICE: return a->device == b->device;
    case LA_VINTS: case LA_VFLOATS:
        return a->ints.n == b->ints.n
            && (!a->ints.n || memcmp(a->ints.list, b->ints.list,
                                     (size_t)a->ints.n * 8) == 0);
    case LA_VSTR:
        return a->str.n == b->str.n
            && memcmp(a->str.text, b->str.text, a->str.n) == 0;
    case LA_VSCALAR:
        return a->scalar.kind == b->scalar.kind
            && a->scalar.kind <= LA_KINT && a->scalar.i == b->scalar.i;
    default: return false;
    }
}

/* Constants of the recording are equal by their elements. */
static bool same_view(const la_prog *p, int32_t a, int32_t b)
{
    if (a == b) return true;
    if (a < 0 || b < 0) return false;
    const la_prog_view *x = la_prog_view_at(p, a), *y = la_prog_view_at(p, b);
    const la_tensor *c = la_prog_slot_at(p, x->slot)->own;
    const la_tensor *d = la_prog_slot_at(p, y->slot)->own;
    const la_tensor *f = x->form, *g = y->form;
    if (x->bytes != y->bytes || f->dtype != g->dtype || f->flags != g->flags
        || f->names != g->names || !la_same_geometry(f, g)) return false;
    return x->slot == y->slot
        || (c && d && !la_prog_slot_at(p, x->slot)->written
            && !la_prog_slot_at(p, y->slot)->written && c->numel == d->numel
            && (!c->numel
                || memcmp(la_data(c), la_data(d), (size_t)c->numel) == 0));
}

static bool same_call(const la_prog *p, const la_prog_step *a,
                      const la_prog_step *b)
{
    if (a->op != b->op || a->nargs != b->nargs || a->nresults != b->nresults
        || a->nlisted || b->nlisted) return false;
    for (int k = 0; k < a->nargs; k++)
        if (a->args[k].tag == LA_VTENSORS
            || !same_value(&a->args[k], &b->args[k])
            || !same_view(p, a->views[k], b->views[k])) return false;
    for (int k = 0; k < a->nresults; k++)
        if ((a->results[k] < 0) != (b->results[k] < 0)) return false;
    return true;
}

/* Results that can stand for each other. */
static bool same_results(const same_walk *w, const la_prog_step *a,
                         const la_prog_step *b)
{
    for (int k = 0; k < a->nresults; k++) {
        if (a->results[k] < 0) continue;
        int32_t x = la_prog_view_at(w->p, a->results[k])->slot;
        int32_t y = la_prog_view_at(w->p, b->results[k])->slot;
        const la_prog_slot *s = la_prog_slot_at(w->p, x);
        const la_prog_slot *t = la_prog_slot_at(w->p, y);
        if (x == y || s->kind != LA_SLOT_STEP || t->kind != LA_SLOT_STEP
            || w->written[x] >= 0 || w->written[y] >= 0
            || s->nbytes != t->nbytes || (s->escapes && t->escapes))
            return false;
    }
    return true;
}

void la_prog_stand_for(la_prog *p, int32_t a, int32_t b)
{
    int32_t to = la_prog_view_at(p, a)->slot;
    int32_t from = la_prog_view_at(p, b)->slot;
    la_prog_slot *s = la_prog_slot_at(p, to), *t = la_prog_slot_at(p, from);
    s->escapes |= t->escapes;
    for (int32_t v = t->views, next; v >= 0; v = next) {
        la_prog_view *view = la_prog_view_at(p, v);
        next = view->next;
        view->slot = to;
        la_prog_link_view(s, view, v);
    }
    t->views = LA_PROG_NONE;
}

static bool same_try(same_walk *w, int32_t early, int32_t late)
{
    la_prog_step *a = la_prog_step_at(w->p, early);
    la_prog_step *b = la_prog_step_at(w->p, late);
    if (!a->pure || a->dead || !same_call(w->p, a, b) || !same_results(w, a, b))
        return false;
    /* Is an operand written after the first call? By the end will do. */
    w->step = early;
    w->changed = false;
    la_prog_reads(w->p, a, same_ask, w);
    if (w->changed) return false;
    for (int k = 0; k < a->nresults; k++)
        if (a->results[k] >= 0)
            la_prog_stand_for(w->p, a->results[k], b->results[k]);
    b->dead = true;
    a->early |= b->early;
    return true;
}

static void same_all(same_walk *w, la_prog_pass_note *note)
{
    for (int32_t i = 0; i < w->p->steps.n; i++) {
        w->step = i;
        la_prog_writes(w->p, la_prog_step_at(w->p, i), same_note, w);
    }
    enum { BACK = 200 };        /* calls that are looked at for each */
    for (int32_t i = 0; i < w->p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(w->p, i);
        if (!s->pure || s->dead || s->kind != LA_STEP_CALL) continue;
        for (int32_t k = i - 1; k >= 0 && k > i - BACK; k--)
            if (same_try(w, k, i)) {
                note->count++;
                break;
            }
    }
}

la_status la_prog_pass_same(la_prog *p, la_prog_pass_note *note)
{
    size_t bytes = ((size_t)p->slots.n + 1) * sizeof(int32_t);
    if (p->live) return LA_OK;
    same_walk w = {.p = p, .written = la_mem_alloc(bytes)};
    if (!w.written) return LA_ENOMEM;
    for (int32_t i = 0; i < p->slots.n; i++) w.written[i] = -1;
    same_all(&w, note);
    la_mem_free(w.written, bytes);
    return LA_OK;
}
