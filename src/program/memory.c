/*
** The pass 'memory': where made slots lie. Those that nobody keeps share one
** arena: a slot's piece is used by others before its first step and after its
** last. Pieces are given in the order of size, the largest first, each at the
** lowest offset that no slot of the same time has (greedy by size: Pisarchyk
** and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
** Where there are many, in the order of their first steps.
**
** Left out, each slot has a piece of its own.
*/
#include "program/passes.h"

#include <stdlib.h>
#include <string.h>

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

/* Which of several results nobody reads: what has them in its frame need not
** compute them. */
static void memory_find_unread(la_prog *p)
{
    if (p->live) return;
    for (int32_t i = 0; i < p->steps.n; i++) {
        la_prog_step *s = la_prog_step_at(p, i);
        s->unread = 0;
        if (s->kind != LA_STEP_CALL || s->form != LA_FUNCTIONAL
            || s->nresults < 2) continue;
        for (int k = 0; k < s->nresults; k++) {
            if (s->results[k] < 0) continue;
            const la_prog_slot *slot = la_prog_slot_at(p,
                la_prog_view_at(p, s->results[k])->slot);
            if (slot->kind == LA_SLOT_STEP && slot->maker == i
                && !slot->escapes && slot->last == i) s->unread |= 1u << k;
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

/* ---- many slots ---- */

/* Unrolled loops have tens of thousands of slots, most of a short life. They
** get their pieces in the order of their first steps, each in the smallest hole
** that it fits into: linear in time, where the order of size takes the
** square. */
enum { MEMORY_MANY = 2048 };

/* Holes of the arena in the order of their offsets, none next to another, and
** its end so far. */
typedef struct memory_hole { int64_t at, bytes; } memory_hole;
typedef struct memory_holes {
    memory_hole *list;      /* of as many as there are slots, and one */
    int32_t n;
    int64_t end;
} memory_holes;

static int64_t memory_take_hole(memory_holes *h, int64_t bytes)
{
    int32_t best = LA_PROG_NONE;
    for (int32_t i = 0; i < h->n; i++)
        if (h->list[i].bytes >= bytes
            && (best < 0 || h->list[i].bytes < h->list[best].bytes)) best = i;
    if (best < 0) {
        memory_hole last = h->n ? h->list[h->n - 1] : (memory_hole){0, 0};
        bool grows = h->n && last.at + last.bytes == h->end;
        int64_t at = grows ? last.at : h->end;
        h->n -= grows;
        h->end = at + bytes;
        return at;
    }
    memory_hole *x = &h->list[best];
    int64_t at = x->at;
    x->at += bytes;
    x->bytes -= bytes;
    if (!x->bytes)
        memmove(x, x + 1, (size_t)(--h->n - best) * sizeof *x);
    return at;
}

static void memory_give_hole(memory_holes *h, int64_t at, int64_t bytes)
{
    int32_t low = 0, high = h->n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (h->list[middle].at < at) low = middle + 1;
        else high = middle;
    }
    memory_hole *x = &h->list[low];
    bool before = low > 0 && x[-1].at + x[-1].bytes == at;
    bool behind = low < h->n && at + bytes == x->at;
    if (before) {
        x[-1].bytes += bytes + (behind ? x->bytes : 0);
        if (behind) memmove(x, x + 1, (size_t)(--h->n - low) * sizeof *x);
    } else if (behind) {
        x->at = at;
        x->bytes += bytes;
    } else {
        memmove(x + 1, x, (size_t)(h->n++ - low) * sizeof *x);
        *x = (memory_hole){at, bytes};
    }
}

/* A step from which on the slot's memory is its own; kept ones have it from the
** beginning, and for ever. */
static int32_t memory_first(const la_prog_slot *s)
{
    return s->kept || s->kind == LA_SLOT_CONST ? 0 : s->first;
}

/* Entries are linked by the step that they begin with, and from there on by the
** one that they end with: 'begins' and 'ends', of all steps and zeros, have the
** first, 'next' the following one, counted from 1. */
static void memory_sweep(la_prog *p, const memory_entry *list, int32_t n,
                         int32_t *begins, int32_t *ends, int32_t *next,
                         memory_holes *h)
{
    for (int32_t i = n - 1; i >= 0; i--) {
        int32_t *to = &begins[memory_first(la_prog_slot_at(p, list[i].slot))];
        next[i] = *to;
        *to = i + 1;
    }
    for (int32_t step = 0; step < p->steps.n; step++) {
        for (int32_t i = step ? ends[step - 1] : 0, k; i; i = k) {
            k = next[i - 1];
            memory_give_hole(h, la_prog_slot_at(p, list[i - 1].slot)->at,
                             list[i - 1].bytes);
        }
        for (int32_t i = begins[step], k; i; i = k) {
            la_prog_slot *s = la_prog_slot_at(p, list[i - 1].slot);
            k = next[i - 1];
            s->at = list[i - 1].bytes ? memory_take_hole(h, list[i - 1].bytes)
                                      : 0;
            if (s->kept || !list[i - 1].bytes) continue;
            next[i - 1] = ends[s->last];
            ends[s->last] = i;
        }
    }
}

static la_status memory_fit_many(la_prog *p, const memory_entry *list,
                                 int32_t n)
{
    size_t steps = (size_t)p->steps.n;
    size_t links = (2 * steps + (size_t)n) * sizeof(int32_t);
    size_t holes = ((size_t)n + 1) * sizeof(memory_hole);
    int32_t *begins = la_mem_zalloc(links);
    memory_holes h = {.list = la_mem_alloc(holes)};
    bool none = !begins || !h.list;
    if (!none) memory_sweep(p, list, n, begins, begins + steps,
                            begins + 2 * steps, &h);
    if (begins) la_mem_free(begins, links);
    if (h.list) la_mem_free(h.list, holes);
    if (!none) p->arena_bytes = h.end;
    return none ? LA_ENOMEM : LA_OK;
}

/* ---- the pass ---- */

/* Slots of one size go by number: a plan is the same on each machine. */
static void memory_fit_all(la_prog *p, const memory_entry *list, int32_t n,
                           bool share)
{
    for (int32_t i = 0; i < n; i++) {
        la_prog_slot *s = la_prog_slot_at(p, list[i].slot);
        s->at = memory_fit(p, list, i, share);
        if (s->at + list[i].bytes > p->arena_bytes)
            p->arena_bytes = s->at + list[i].bytes;
    }
}

la_status la_prog_pass_memory(la_prog *p, la_prog_pass_note *note)
{
    size_t bytes = ((size_t)p->slots.n + 1) * sizeof(memory_entry);
    memory_entry *list = la_mem_alloc(bytes);
    int32_t n = 0;
    if (!list) return LA_ENOMEM;
    memory_lives(p);
    memory_find_unread(p);
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
    la_status status = LA_OK;
    if (n > MEMORY_MANY && !note->left_out)
        status = memory_fit_many(p, list, n);
    else memory_fit_all(p, list, n, !note->left_out);
    note->count = n;
    la_mem_free(list, bytes);
    return status;
}
