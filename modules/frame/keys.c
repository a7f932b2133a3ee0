/*
** Sets of keys, and the numbers of one column's keys in another.
**
** Rows are hashed a few ahead of the one that is looked at, and the slot of
** each is fetched meanwhile: in a set that is larger than the caches this
** halves the time, as the fetches overlap.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/frame/frame.h"

/* ---- a set of keys ---- */

/* A key and its number stand together, so that a step of the walk reads one
** line of memory; id -1: empty. */
typedef struct keys_slot { uint64_t key; int32_t id; } keys_slot;

/* Slots are fetched so many rows ahead. */
enum { KEYS_AHEAD = 16 };

void la_table_set_free(la_table_set *s)
{
    la_table_free(&s->slots);
    la_table_free(&s->list);
}

/* All bits of the key reach the lower ones. */
static inline uint64_t keys_mix(uint64_t k)
{
    k ^= k >> 32;
    k *= UINT64_C(0x9e3779b97f4a7c15);
    k ^= k >> 29;
    k *= UINT64_C(0xbf58476d1ce4e5b9);
    return k ^ k >> 32;
}

/* The slot of the key, or the empty one where it belongs. */
static inline int64_t keys_find(const keys_slot *slots, int64_t mask,
                                uint64_t k)
{
    int64_t at = (int64_t)(keys_mix(k) & (uint64_t)mask);
    while (slots[at].id >= 0 && slots[at].key != k) at = (at + 1) & mask;
    return at;
}

static inline void keys_fetch(const keys_slot *slots, int64_t mask, uint64_t k)
{
    __builtin_prefetch(&slots[keys_mix(k) & (uint64_t)mask]);
}

/* Slots for at least twice the keys. The larger set is complete before the old
** one goes: a failed allocation leaves the set as it was, for the caller to
** free. */
static la_status keys_grow(la_table_set *s)
{
    la_table_set old = *s;
    int64_t size = s->size ? 4 * s->size : 1024, mask = size - 1;
    la_table_block slots = {NULL, 0}, list = {NULL, 0};
    la_status status = la_table_alloc(&slots, size, sizeof(keys_slot), false);
    if (!status) status = la_table_alloc(&list, size / 2, sizeof(uint64_t),
                                         false);
    if (status) {
        la_table_free(&slots);
        la_table_free(&list);
        return status;
    }
    memset(slots.p, 0xff, (size_t)size * sizeof(keys_slot));
    uint64_t *k = old.list.p;
    keys_slot *to = slots.p;
    for (int64_t i = 0; i < old.n; i++) {
        if (i + KEYS_AHEAD < old.n) keys_fetch(to, mask, k[i + KEYS_AHEAD]);
        to[keys_find(to, mask, k[i])] = (keys_slot){k[i], (int32_t)i};
        ((uint64_t *)list.p)[i] = k[i];
    }
    *s = (la_table_set){slots, list, size, old.n, size / 2};
    la_table_set_free(&old);
    return LA_OK;
}

la_status la_table_set_number(la_table_set *s, const uint64_t *k, int64_t n,
                              int32_t *out)
{
    LA_EACH_POLLED (i, 0, n) {
        if (s->n == s->capacity) LA_TRY(keys_grow(s));
        keys_slot *slots = s->slots.p;
        int64_t mask = s->size - 1;
        if (i + KEYS_AHEAD < n) keys_fetch(slots, mask, k[i + KEYS_AHEAD]);
        keys_slot *slot = slots + keys_find(slots, mask, k[i]);
        if (slot->id < 0) {
            *slot = (keys_slot){k[i], (int32_t)s->n};
            ((uint64_t *)s->list.p)[s->n++] = k[i];
        }
        out[i] = slot->id;
    }
    return la_poll();
}

/* out[i] = the number of k[i], or -1 where the set lacks it. */
static void keys_look_up(const la_table_set *s, const uint64_t *k, int64_t n,
                         int32_t *out)
{
    const keys_slot *slots = s->slots.p;
    int64_t mask = s->size - 1;
    for (int64_t i = 0; i < n; i++) {
        if (i + KEYS_AHEAD < n) keys_fetch(slots, mask, k[i + KEYS_AHEAD]);
        out[i] = slots[keys_find(slots, mask, k[i])].id;
    }
}

/* ---- one column's keys in another ---- */

/* The right's keys are numbered by a table over their range, or by a set. */
typedef struct keys_index {
    la_table_range range;
    la_table_block table;       /* int32 by key - least, or NULL */
    la_table_set set;
    int64_t count;
} keys_index;

static void keys_index_free(keys_index *x)
{
    la_table_free(&x->table);
    la_table_set_free(&x->set);
}

/* Gaps match nothing: they have no number. */
static la_status keys_by_table(keys_index *x, const uint64_t *k, int64_t n,
                               int32_t *out)
{
    int64_t size = (int64_t)(x->range.most - x->range.least) + 1;
    LA_TRY(la_table_alloc(&x->table, size, sizeof(int32_t), false));
    int32_t *number = x->table.p;
    memset(number, 0xff, (size_t)size * sizeof *number);
    LA_EACH_POLLED (i, 0, n) {
        if (x->range.gaps && k[i] == LA_TABLE_GAP) {
            out[i] = -1;
            continue;
        }
        int32_t *id = number + (k[i] - x->range.least);
        if (*id < 0) *id = (int32_t)x->count++;
        out[i] = *id;
    }
    return la_poll();
}

/* The gap is numbered as any key, and taken out again. */
static la_status keys_by_set(keys_index *x, const uint64_t *k, int64_t n,
                             int32_t *out)
{
    LA_TRY(la_table_set_number(&x->set, k, n, out));
    x->count = x->set.n;
    if (x->range.gaps)
        for (int64_t i = 0; i < n; i++) if (k[i] == LA_TABLE_GAP) out[i] = -1;
    return la_poll();
}

static void keys_number_left(const keys_index *x, const uint64_t *k, int64_t n,
                             bool may_gap, int32_t *out)
{
    if (!x->count) memset(out, 0xff, (size_t)n * sizeof *out);
    else if (x->table.p) {
        const int32_t *number = x->table.p;
        uint64_t least = x->range.least, range = x->range.most - least;
        for (int64_t i = 0; i < n; i++)
            out[i] = k[i] - least <= range ? number[k[i] - least] : -1;
    } else keys_look_up(&x->set, k, n, out);
    if (!may_gap) return;
    for (int64_t i = 0; i < n; i++) if (k[i] == LA_TABLE_GAP) out[i] = -1;
}

static la_status keys_index_right(keys_index *x, const la_table_column *right,
                                  int64_t others, int32_t *out)
{
    LA_TABLE_OWN block = {NULL, 0};
    int64_t n = right->n;
    LA_TRY(la_table_alloc(&block, n, sizeof(uint64_t), false));
    uint64_t *k = block.p;
    la_table_keys(right, 0, n, k);
    x->range = la_table_range_of(k, n, la_table_may_gap(right));
    LA_TRY(la_poll());
    if (!x->range.any) {
        memset(out, 0xff, (size_t)n * sizeof *out);
        return LA_OK;
    }
    uint64_t small = 2 * (uint64_t)(n + others) + 1024;
    if (x->range.most - x->range.least < small)
        return keys_by_table(x, k, n, out);
    return keys_by_set(x, k, n, out);
}

/* Only the right's keys are kept, and the left's are read a block at a time:
** a short table joins a long one out of the caches. */
la_status la_table_match_keys(const la_table_column *left,
                              const la_table_column *right, int32_t *l,
                              int32_t *r, int64_t *count)
{
    enum { MANY = 16 * LA_TABLE_BLOCK };
    LA_TABLE_OWN block = {NULL, 0};
    keys_index x = {.count = 0};
    la_status status = la_table_alloc(&block, MANY, sizeof(uint64_t), false);
    if (!status) status = keys_index_right(&x, right, left->n, r);
    for (int64_t i = 0; !status && i < left->n; i += MANY) {
        int64_t n = left->n - i < MANY ? left->n - i : MANY;
        la_table_keys(left, i, n, block.p);
        keys_number_left(&x, block.p, n, la_table_may_gap(left), l + i);
        status = la_poll();
    }
    *count = x.count;
    keys_index_free(&x);
    return status;
}
