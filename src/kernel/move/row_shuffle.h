/*
** Byte shuffles of short rows: dense rows of up to 16 bytes that are made of
** the bytes of short source rows, the same way in each: pixels reversed, two
** columns exchanged, elements repeated. Sixteen bytes at a time go through one
** shuffle (PSHUFB), which may hold several rows.
*/
#ifndef LA_KERNEL_MOVE_ROW_SHUFFLE_H
#define LA_KERNEL_MOVE_ROW_SHUFFLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "simd/permute/shuffle.h"

#define SHUFFLE_BYTES 16

typedef uint8_t shuffle_bytes __attribute__((vector_size(SHUFFLE_BYTES)));

/* Byte j of a row of 'bytes' is at off[j] of its source row; source rows are
** 'step' bytes apart, rows of the result dense. */
typedef struct row_shuffle {
    int64_t bytes, step;
    int16_t off[SHUFFLE_BYTES];
    int64_t low, high;   /* of all offsets; high: one beyond */
} row_shuffle;

static inline int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Fill in *w from offsets of elements: n of them, of 'size' bytes. False if one
** is too far away for the 16-bit offsets; the caller takes another method. */
static inline bool row_shuffle_make(row_shuffle *w, const int64_t *off,
                                    int64_t n, int64_t size, int64_t step)
{
    const int64_t reach = SHUFFLE_BYTES * SHUFFLE_BYTES;
    *w = (row_shuffle){.bytes = n * size, .step = step, .low = off[0],
                       .high = off[0]};
    for (int64_t e = 0; e < n; e++) {
        if (off[e] < -reach || off[e] > reach) return false;
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
static inline int64_t row_shuffle_rows(const row_shuffle *w)
{
    int64_t k = SHUFFLE_BYTES / w->bytes, span = w->high - w->low;
    int64_t step = w->step < 0 ? -w->step : w->step;
    while (k > 0 && (k - 1) * step + span > SHUFFLE_BYTES) k--;
    return k;
}

/* One row byte by byte. */
static inline void row_shuffle_row(char *to, const char *from,
                                   const row_shuffle *w)
{
    for (int64_t j = 0; j < w->bytes; j++) to[j] = from[w->off[j]];
}

/* 'n' rows, k of them at a time. Where sixteen bytes would reach beyond either
** end of the source or of the result, rows are made byte by byte. */
static void row_shuffle_run(char *to, const char *from, int64_t n,
                            const row_shuffle *w, int64_t k)
{
    uint8_t at[SHUFFLE_BYTES] = {0};
    const int64_t last = (n - 1) * w->step, some = k * w->bytes;
    const int64_t group = k * w->step;
    /* of the first group's sixteen bytes, and where they may lie */
    const char *low = from + w->low + lesser(0, group - w->step);
    const char *begin = from + w->low + lesser(0, last);
    const char *end = from + w->high + larger(0, last);
    int64_t i = 0, groups;
    shuffle_bytes map;
    for (int64_t j = 0; j < k; j++)
        for (int64_t b = 0; b < w->bytes; b++)
            at[j * w->bytes + b] = (uint8_t)(from + j * w->step + w->off[b]
                                             - low);
    memcpy(&map, at, sizeof map);
    for (; w->step < 0 && i < n && low + i * w->step + SHUFFLE_BYTES > end; i++)
        row_shuffle_row(to + i * w->bytes, from + i * w->step, w);
    groups = lesser((n - i) / k,
                    ((n - i) * w->bytes - SHUFFLE_BYTES) / some + 1);
    if ((n - i) * w->bytes < SHUFFLE_BYTES) groups = 0;
    while (groups > 0) {
        const char *last_in = low + i * w->step + (groups - 1) * group;
        if (last_in >= begin && last_in + SHUFFLE_BYTES <= end) break;
        groups--;
    }
    const char *in = low + i * w->step;
    char *out = to + i * w->bytes;
    i += groups * k;
#pragma GCC unroll 4
    for (int64_t g = 0; g < groups; g++, in += group, out += some) {
        shuffle_bytes x;
        memcpy(&x, in, sizeof x);
        x = VEC_SHUFFLE(x, map);
        memcpy(out, &x, sizeof x);
    }
    for (; i < n; i++)
        row_shuffle_row(to + i * w->bytes, from + i * w->step, w);
}

#endif
