/*
** Looking through indices and masks: range checks, positions of set bytes,
** counts, truth values, histograms. The contract is index_loops.h.
*/
#include <string.h>

#include "kernel/each/drive.h"
#include "kernel/index/offset.h"
#include "kernel/sort/sorting.h"

/* The sign bit is set for an index that is 0 or out of range. */
static inline uint64_t scan_wrong(const char *index, int64_t size)
{
    int64_t v = *(const int64_t *)index;
    uint64_t wrapped = (uint64_t)v + (uint64_t)(v < 0 ? size : -1);
    return outside(wrapped, (uint64_t)size);
}

/* The first such index: blocks are checked by vectors, a bad block one by
** one. */
static int64_t bad(const char *index, int64_t step, int64_t n, int64_t size)
{
    const int64_t block = 512;
    for (int64_t i = 0; i < n; i += block) {
        int64_t end = n - i < block ? n : i + block;
        uint64_t any = 0;
        if (step == 8)
            for (int64_t j = i; j < end; j++) any |= scan_wrong(index + j * 8,
                                                                size);
        else
            for (int64_t j = i; j < end; j++)
                any |= scan_wrong(index + j * step, size);
        if (!(any >> 63)) continue;
        while (!(scan_wrong(index + i * step, size) >> 63)) i++;
        return i;
    }
    return -1;
}

/* Start of the last eight set bytes: before that, eight positions may be
** written at once. */
static int64_t last_eight(const uint8_t *mask, int64_t n)
{
    int some = 0;
    while (n > 0 && some < 8) some += mask[--n];
    return n;
}

/* Past lines of 64 bytes without one that is set. */
static inline int64_t skip_lines(const uint8_t *mask, int64_t i, int64_t end)
{
    for (; i + 64 <= end; i += 64) {
        uint64_t words[8], any = 0;
        memcpy(words, mask + i, sizeof words);
        for (int k = 0; k < 8; k++) any |= words[k];
        if (any) break;
    }
    return i;
}

/* Every position is written, and the next goes over it unless it counts. What
** follows the last set byte is left out, so that nothing is written beyond. */
static int64_t *scan_positions(int64_t *out, const uint8_t *mask, int64_t n,
                               int64_t first)
{
    int64_t i = 0;
    unsigned none = 0;
    while (n > 0 && !mask[n - 1]) n--;
    /* The product gathers the lowest bit of each byte in the highest byte. */
    for (int64_t end = last_eight(mask, n); i + 8 <= end; i += 8) {
        uint64_t bytes;
        memcpy(&bytes, mask + i, sizeof bytes);
        unsigned bits = (unsigned)(bytes * 0x0102040810204080u >> 56);
        if (bits == 0) {
            if (++none % 4 == 0) i = skip_lines(mask, i + 8, end) - 8;
            continue;
        }
        set_lanes(out, bits, first + i + 1);
        out += __builtin_popcount(bits);
    }
    for (; i < n; i++) {
        *out = first + i + 1;
        out += mask[i];
    }
    return out;
}

/* How many bytes are not 0; 128 fit the byte counters of a block. */
static int64_t scan_count(const uint8_t *mask, int64_t n)
{
    int64_t total = 0;
    for (int64_t i = 0; i < n; ) {
        int64_t end = n - i < 128 ? n : i + 128;
        uint8_t some = 0;
        for (; i < end; i++) some += mask[i] != 0;
        total += some;
    }
    return total;
}

#define NOT_ZERO(x) ((x) != 0)
#define SOME_BITS(x) (((x) & 0x7fff) != 0)
#define SOME_HALF(x) (((x) & 0x7fff7fff) != 0)
#define SOME_FLOAT(x) (((x) & 0x7fffffff7fffffff) != 0)
#define SOME_DOUBLE(x) ((((x).re | (x).im) & INT64_MAX) != 0)
typedef struct double_bits { uint64_t re, im; } double_bits;

#define NAME truth_1
#define TYPE uint8_t
#define TRUE NOT_ZERO
#include "kernel/index/nonzero.inc"
#define NAME truth_2
#define TYPE uint16_t
#define TRUE NOT_ZERO
#include "kernel/index/nonzero.inc"
#define NAME truth_4
#define TYPE uint32_t
#define TRUE NOT_ZERO
#include "kernel/index/nonzero.inc"
#define NAME truth_8
#define TYPE uint64_t
#define TRUE NOT_ZERO
#include "kernel/index/nonzero.inc"
#define NAME truth_f16
#define TYPE uint16_t
#define TRUE SOME_BITS
#include "kernel/index/nonzero.inc"
#define NAME truth_c32
#define TYPE uint32_t
#define TRUE SOME_HALF
#include "kernel/index/nonzero.inc"
#define NAME truth_f32
#define TYPE float
#define TRUE NOT_ZERO
#include "kernel/index/nonzero.inc"
#define NAME truth_f64
#define TYPE double
#define TRUE NOT_ZERO
#include "kernel/index/nonzero.inc"
#define NAME truth_c64
#define TYPE uint64_t
#define TRUE SOME_FLOAT
#include "kernel/index/nonzero.inc"
#define NAME truth_c128
#define TYPE double_bits
#define TRUE SOME_DOUBLE
#include "kernel/index/nonzero.inc"

/* The least and the largest of n values, and of what *least and *most were. */
static void range(const int64_t *v, int64_t n, int64_t *least, int64_t *most)
{
    int64_t low = *least, high = *most;
    for (int64_t i = 0; i < n; i++) {
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    *least = low;
    *most = high;
}

/* A histogram: neighbours go to tables of their own, since a counter that is
** raised twice in a row waits for its store. */
static void tally(int64_t *tables, int64_t size, const int64_t *v, int64_t n)
{
    int64_t i = 0;
    int64_t *a = tables - 1, *b = a + size, *c = b + size, *d = c + size;
    for (; i + 4 <= n; i += 4) {
        a[v[i]]++;
        b[v[i + 1]]++;
        c[v[i + 2]]++;
        d[v[i + 3]]++;
    }
    for (; i < n; i++) a[v[i]]++;
}

const la_index_scans LA_KERNEL(index_scans) = {
    .bad = bad, .positions = scan_positions, .count = scan_count,
        .range = range,
    .tally = tally,
};

const la_truths LA_KERNEL(truths) = {
    [LA_BOOL] = truth_1, [LA_UINT8] = truth_1, [LA_INT8] = truth_1,
    [LA_UINT16] = truth_2, [LA_INT16] = truth_2, [LA_UINT32] = truth_4,
    [LA_INT32] = truth_4, [LA_UINT64] = truth_8, [LA_INT64] = truth_8,
    [LA_FLOAT16] = truth_f16, [LA_BFLOAT16] = truth_f16,
    [LA_FLOAT32] = truth_f32, [LA_FLOAT64] = truth_f64,
    [LA_COMPLEX32] = truth_c32, [LA_COMPLEX64] = truth_c64,
    [LA_COMPLEX128] = truth_c128,
};
