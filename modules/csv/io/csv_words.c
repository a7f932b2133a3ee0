/* Numbers of texts, by hashing. */
#include "modules/csv/io/csv_words.h"

#include <string.h>

#include "base/runtime/memory.h"

/* Eight bytes a step; the last ones without what is behind the text. */
static inline uint32_t words_hash(const char *p, size_t n)
{
    uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15), v;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&v, p, sizeof v);
        h = (h ^ v) * UINT64_C(0xbf58476d1ce4e5b9);
        h ^= h >> 29;
    }
    if (n) {
        v = 0;
        memcpy(&v, p, n);
        h = (h ^ v) * UINT64_C(0xbf58476d1ce4e5b9);
        h ^= h >> 29;
    }
    h *= UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(h >> 32);
}

void la_csv_words_free(la_csv_words *w)
{
    if (w->list) la_mem_free(w->list, (size_t)w->capacity * sizeof *w->list);
    if (w->slots)
        la_mem_free(w->slots, 2 * (size_t)w->capacity * sizeof *w->slots);
    *w = (la_csv_words){0};
}

/* Grows to twice as many, two slots for each. */
static bool words_grow(la_csv_words *w)
{
    int64_t capacity = w->capacity ? 2 * w->capacity : 64;
    if (capacity > INT32_MAX / 2) return false;
    la_csv_word *list = la_mem_alloc((size_t)capacity * sizeof *list);
    int32_t *slots = la_mem_zalloc(2 * (size_t)capacity * sizeof *slots);
    if (!list || !slots) {
        if (list) la_mem_free(list, (size_t)capacity * sizeof *list);
        if (slots) la_mem_free(slots, 2 * (size_t)capacity * sizeof *slots);
        return false;
    }
    uint32_t mask = (uint32_t)(2 * capacity - 1);
    for (int64_t k = 0; k < w->n; k++) {
        uint32_t at = w->list[k].hash & mask;
        list[k] = w->list[k];
        while (slots[at]) at = (at + 1) & mask;
        slots[at] = (int32_t)(k + 1);
    }
    int64_t n = w->n;
    la_csv_words_free(w);
    *w = (la_csv_words){list, slots, n, capacity};
    return true;
}

int32_t la_csv_number(la_csv_words *w, const char *p, size_t n, bool doubled)
{
    if (w->n == w->capacity && !words_grow(w)) return -1;
    uint32_t hash = words_hash(p, n), mask = (uint32_t)(2 * w->capacity - 1);
    uint32_t at = hash & mask;
    for (int32_t k; (k = w->slots[at]); at = (at + 1) & mask) {
        const la_csv_word *word = &w->list[k - 1];
        if (word->hash == hash && word->n == n && word->doubled == doubled
            && memcmp(word->p, p, n) == 0) return k;
    }
    w->list[w->n++] = (la_csv_word){p, n, hash, doubled};
    return w->slots[at] = (int32_t)w->n;
}
