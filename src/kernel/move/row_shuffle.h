/*
** Short dense rows that are made of the bytes of short source rows, the same
** way in each: pixels turned round, two columns exchanged, elements repeated.
** Sixteen bytes at a time go through one shuffle.
*/
#ifndef LA_KERNEL_MOVE_ROW_SHUFFLE_H
#define LA_KERNEL_MOVE_ROW_SHUFFLE_H

#include <string.h>

#include "simd/shuffle.h"

#define WEAVE 16

typedef uint8_t weave_bytes __attribute__((vector_size(WEAVE)));

/* Byte j of a row of 'bytes' is at off[j] of its source row; source rows are
** 'step' bytes apart, rows of the result dense. */
typedef struct weave {
    int64_t bytes, step;
    int16_t off[WEAVE];
    int64_t low, high;   /* of all offsets; high: one beyond */
} weave;

static inline int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* From offsets of elements: n of them, of 'size' bytes. False if one is too far
** away for a shuffle. */
static inline bool weave_make(weave *w, const int64_t *off, int64_t n,
                              int64_t size, int64_t step)
{
    *w = (weave){.bytes = n * size, .step = step, .low = off[0],
                 .high = off[0]};
    for (int64_t e = 0; e < n; e++) {
        if (off[e] < -WEAVE * WEAVE || off[e] > WEAVE * WEAVE) return false;
        w->low = lesser(w->low, off[e]);
        w->high = larger(w->high, off[e]);
        for (int64_t b = 0; b < size; b++)
            w->off[e * size + b] = (int16_t)(off[e] + b);
    }
    w->high += size;
    return true;
}

/* How many rows go through one shuffle: their bytes and those of their sources
** are among sixteen. */
static inline int64_t weave_rows(const weave *w)
{
    int64_t k = WEAVE / w->bytes, span = w->high - w->low;
    int64_t step = w->step < 0 ? -w->step : w->step;
    while (k > 0 && (k - 1) * step + span > WEAVE) k--;
    return k;
}

static inline void weave_row(char *to, const char *from, const weave *w)
{
    for (int64_t j = 0; j < w->bytes; j++) to[j] = from[w->off[j]];
}

/* 'n' rows, k of them at a time. Where sixteen bytes would reach beyond either
** end of the source or of the result, rows are made byte by byte. */
static void weave_run(char *to, const char *from, int64_t n, const weave *w,
                      int64_t k)
{
    uint8_t at[WEAVE] = {0};
    const int64_t last = (n - 1) * w->step, some = k * w->bytes;
    const int64_t group = k * w->step;
    /* of the first group's sixteen bytes, and where they may lie */
    const char *low = from + w->low + lesser(0, group - w->step);
    const char *begin = from + w->low + lesser(0, last);
    const char *end = from + w->high + larger(0, last);
    int64_t i = 0, groups;
    weave_bytes map;
    for (int64_t j = 0; j < k; j++)
        for (int64_t b = 0; b < w->bytes; b++)
            at[j * w->bytes + b] = (uint8_t)(from + j * w->step + w->off[b]
                                             - low);
    memcpy(&map, at, sizeof map);
    for (; w->step < 0 && i < n && low + i * w->step + WEAVE > end; i++)
        weave_row(to + i * w->bytes, from + i * w->step, w);
    groups = lesser((n - i) / k, ((n - i) * w->bytes - WEAVE) / some + 1);
    if ((n - i) * w->bytes < WEAVE) groups = 0;
    while (groups > 0 && (low + i * w->step + (groups - 1) * group < begin
                          || low + i * w->step + (groups - 1) * group + WEAVE
                             > end))
        groups--;
    const char *in = low + i * w->step;
    char *out = to + i * w->bytes;
    i += groups * k;
#pragma GCC unroll 4
    for (int64_t g = 0; g < groups; g++, in += group, out += some) {
        weave_bytes x;
        memcpy(&x, in, sizeof x);
        x = VEC_SHUFFLE(x, map);
        memcpy(out, &x, sizeof x);
    }
    for (; i < n; i++) weave_row(to + i * w->bytes, from + i * w->step, w);
}

#endif
