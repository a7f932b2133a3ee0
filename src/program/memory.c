/*
** The pass 'memory': where made slots lie. Those that nobody keeps share one
** arena: a slot's piece is used by others before its first step and after its
** last. Pieces are given in the order of size, the largest first, each at the
** lowest offset that no slot of the same time has (greedy by size: Pisarchyk
** and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
**
** Left out, each slot has a piece of its own.
*/
#include "program/passes.h"

#include <stdlib.h>

#include "base/runtime/memory.h"

/* Steps of a group use what they use from its first to its last one. */
typedef struct memory_walk { la_prog *p; int32_t step, first; } memory_walk;

static void memory_use(void *context, int32_t view)
{
    memory_walk *w = context;
    la_prog_view *v = la_prog_view_at(w->p, view);
    la_prog_slot *s = la_prog_slot_at(w->p, v->slot);
    v->last = w->step;
    int32_t twin = w->p->live ? la_prog_twin(w->p, view, !v->grad)
                              : LA_PROG_NONE;
    if (twin >= 0) la_prog_view_at(w->p, twin)->last = w->step;
    if (s->first < 0 || s->first > w->first) s->first = w->first;
    s->last = w->step;
}

/* The lives of slots and views, over the steps that run. */
static void memory_lives(la_prog *p)
{
    int32_t first = 0, end = -1;
    for (int32_t i = 0; i < p->steps.n; i++) {
        la_prog_step *s = la_prog_step_at(p, i);
        if (i > end) first = end = i;
        if (s->joined) end = la_prog_group_of(p, s)->end;
        memory_walk w = {p, end, s->early ? 0 : first};
        if (!p->live && !la_prog_runs(s)) continue;
        la_prog_reads(p, s, memory_use, &w);
        la_prog_writes(p, s, memory_use, &w);
        for (int k = 0; p->live && k < LA_MAX_RESULTS; k++)
            if (s->results[k] >= 0) memory_use(&w, s->results[k]);
        for (int32_t k = 0; p->live && k < s->nlisted; k++) {
            int32_t view = la_prog_member(p, s->list_results + k);
            if (view >= 0) memory_use(&w, view);
        }
    }
}

bool la_prog_in_arena(const la_prog *p, const la_prog_slot *s)
{
    if (p->live || s->first < 0 || s->escapes) return false;
    return s->kind == LA_SLOT_STEP ? s->memory == LA_MEMORY_ARENA
        : s->kind == LA_SLOT_CONST && s->written;
}

static int64_t memory_piece(const la_prog_slot *s)
{
    return (s->nbytes + LA_PROG_LINE - 1) / LA_PROG_LINE * LA_PROG_LINE;
}

typedef struct memory_entry { int64_t bytes; int32_t slot; } memory_entry;

static int memory_larger(const void *a, const void *b)
{
    const memory_entry *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

bool la_prog_slots_meet(const la_prog_slot *a, const la_prog_slot *b)
{
    if (a->kept || b->kept) return true;
    int32_t first = a->kind == LA_SLOT_CONST ? 0 : a->first;
    int32_t other = b->kind == LA_SLOT_CONST ? 0 : b->first;
    return first <= b->last && other <= a->last;
}

/* The lowest offset for entry n: those before it have theirs. Moves behind each
** piece in the way until none is. */
static int64_t memory_fit(la_prog *p, const memory_entry *list, int32_t n,
                            bool share)
{
    const la_prog_slot *own = la_prog_slot_at(p, list[n].slot);
    int64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int32_t i = 0; i < n; i++) {
            const la_prog_slot *s = la_prog_slot_at(p, list[i].slot);
            if (share && !la_prog_slots_meet(own, s)) continue;
            if (at >= s->at + list[i].bytes || at + list[n].bytes <= s->at)
                continue;
            at = s->at + list[i].bytes;
            moved = true;
        }
    }
    return at;
}

/* Greedy by size (Y. Pisarchyk and J. Lee, Efficient memory management for deep
** neural net inference, 2020): large slots first, each at the lowest offset
** that is free while it lives. Slots of one size go by number, so that a plan
** is the same on each machine. */
la_status la_prog_pass_memory(la_prog *p, la_prog_pass_note *note)
{
    size_t bytes = ((size_t)p->slots.n + 1) * sizeof(memory_entry);
    memory_entry *list = la_mem_alloc(bytes);
    int32_t n = 0;
    if (!list) return LA_ENOMEM;
    memory_lives(p);
    for (int32_t i = 0; i < p->slots.n; i++) {
        la_prog_slot *s = la_prog_slot_at(p, i);
        bool given = s->kind == LA_SLOT_STEP
            && la_prog_step_at(p, s->maker)->kind == LA_STEP_LOOP;
        s->memory = s->inner || given ? LA_MEMORY_TAKEN
            : s->escapes ? LA_MEMORY_NEW : LA_MEMORY_ARENA;
        if (!la_prog_in_arena(p, s)) continue;
        list[n++] = (memory_entry){memory_piece(s), i};
        note->bytes += memory_piece(s);
    }
    qsort(list, (size_t)n, sizeof *list, memory_larger);
    for (int32_t i = 0; i < n; i++) {
        la_prog_slot *s = la_prog_slot_at(p, list[i].slot);
        s->at = memory_fit(p, list, i, !note->left_out);
        if (s->at + list[i].bytes > p->arena_bytes)
            p->arena_bytes = s->at + list[i].bytes;
    }
    note->count = n;
    la_mem_free(list, bytes);
    return LA_OK;
}
