/*
** Memory of gradients, from run to run. A step gives a leaf a tensor, which is
** the leaf's until another one replaces it. Once the leaf has let go of it and
** nobody else has a reference, the next run writes to it again.
**
** A slot whose memory two leaves share, or which is a result too, is made anew
** in each run. So is one of results alone, unless they were copied to given
** tensors and nobody has a reference.
*/
#include "program/program.h"

#include "base/runtime/memory.h"
#include "program/bind.h"

enum { SEVERAL = -2 };

typedef struct spare_slot {
    int32_t step;           /* that gives it; LA_PROG_NONE: none; SEVERAL */
    bool result;            /* a result lies in it */
    la_tensor *base, *given;    /* owned; of the last run */
} spare_slot;

struct la_prog_spare {
    int32_t n;
    spare_slot slots[];
};

static size_t spare_bytes(int32_t n)
{
    return sizeof(struct la_prog_spare) + (size_t)n * sizeof(spare_slot);
}

static void spare_drop(spare_slot *s)
{
    la_tensor_drop(&s->given);
    la_tensor_drop(&s->base);
}

la_status la_spare_new(la_prog *p)
{
    struct la_prog_spare *m = la_mem_zalloc(spare_bytes(p->slots.n));
    if (!m) return LA_ENOMEM;
    m->n = p->slots.n;
    for (int32_t i = 0; i < m->n; i++) m->slots[i].step = LA_PROG_NONE;
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        if (s->kind != LA_STEP_GRAD || s->view < 0) continue;
        spare_slot *slot = &m->slots[la_prog_view_at(p, s->view)->slot];
        slot->step = slot->step == LA_PROG_NONE ? i : SEVERAL;
    }
    for (int32_t i = 0; i < p->outputs.n; i++) {
        int32_t view = la_prog_output_at(p, i)->view;
        if (view < 0) continue;
        spare_slot *slot = &m->slots[la_prog_view_at(p, view)->slot];
        slot->result = slot->step == LA_PROG_NONE;
        if (!slot->result) slot->step = SEVERAL;
    }
    p->spare = m;
    return LA_OK;
}

void la_spare_free(la_prog *p)
{
    struct la_prog_spare *m = p->spare;
    if (!m) return;
    for (int32_t i = 0; i < m->n; i++) spare_drop(&m->slots[i]);
    la_mem_free(m, spare_bytes(m->n));
    p->spare = NULL;
}

/* Only references of ours, and nothing that a host made of it? */
static bool spare_is_ours(const la_tensor *t, int32_t refs)
{
    return atomic_load_explicit(&t->refs, memory_order_acquire) == refs
        && !t->snapshots && !t->counter
        && !(t->flags & (LA_F_REQUIRES_GRAD | LA_F_HOST));
}

la_tensor *la_spare_take(la_prog *p, int32_t slot)
{
    spare_slot *s = &p->spare->slots[slot];
    if ((s->step < 0 && !s->result) || !s->base) return NULL;
    const la_tensor *given = s->given ? s->given : s->base;
    bool same = given == s->base;
    int32_t refs = !s->given ? 1 : same ? 2 : 1 + (given->base == s->base);
    la_storage *memory = s->base->storage;
    if (!spare_is_ours(s->base, refs) || !spare_is_ours(given, same ? refs : 1)
        || given->storage != memory
        || atomic_load_explicit(&memory->refs, memory_order_acquire)
           != (same ? 1 : 2)
        || memory->flags & (LA_S_WATCHED | LA_S_LOCKED | LA_S_READ_ONLY)) {
        spare_drop(s);
        return NULL;
    }
    atomic_store_explicit(&memory->version, 0, memory_order_relaxed);
    atomic_store_explicit(&memory->others, 0, memory_order_relaxed);
    return la_tensor_retain(s->base);
}

la_tensor *la_spare_given(la_prog *p, int32_t i, const la_tensor *base)
{
    int32_t view = la_prog_step_at(p, i)->view;
    spare_slot *s = &p->spare->slots[la_prog_view_at(p, view)->slot];
    return s->step == i && base && s->base == base ? s->given : NULL;
}

void la_spare_hold(la_prog *p, int32_t slot, la_tensor *base)
{
    spare_slot *s = &p->spare->slots[slot];
    if (!s->result || s->base == base) return;
    spare_drop(s);
    s->base = la_tensor_retain(base);
}

void la_spare_keep(la_prog *p, int32_t i, int32_t slot, la_tensor *base,
                   la_tensor *t)
{
    spare_slot *s = &p->spare->slots[slot];
    if (s->step != i || !base || base->storage != t->storage
        || la_prog_slot_at(p, slot)->kind != LA_SLOT_STEP
        || la_prog_slot_at(p, slot)->memory != LA_MEMORY_NEW) return;
    spare_drop(s);
    s->base = la_tensor_retain(base);
    s->given = la_tensor_retain(t);
}
