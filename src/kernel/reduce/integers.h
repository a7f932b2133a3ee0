/*
** Integer reductions: what the loops of int.inc have in common. Their results
** do not depend on the order, so there is one driver for all dtypes.
**
** Columns are reduced in strips of whole vectors, STRIP_ROWS rows at a time, so
** that the partial accumulators are loaded and stored once for many rows.
** Columns with gaps, and fewer than a vector holds, are copied to a tile first.
*/
#ifndef LA_KERNEL_REDUCE_INTEGERS_H
#define LA_KERNEL_REDUCE_INTEGERS_H

#include "base/scratch.h"
#include "kernel/reduce/map.h"
#include "simd/int_extreme.h"
#include "simd/permute/widen_int.h"

/* The loops of one reduction for one dtype (int.inc). Columns go to partial
** accumulators of 'part' bytes, which hold at most INT_DEEP elements each. */
typedef struct la_int_kind {
    int64_t size, acc, part;   /* bytes of an element and of its accumulators */
    int64_t lanes;             /* columns of one vector */
    /* acc[k] = IDENT */
    void (*fill)(char *acc, int64_t n);
    /* 'rows' rows of whole vectors of contiguous columns, combined with 'part'
    ** unless that is 'fresh' */
    void (*strips)(const char *in, int64_t row, int64_t rows, int64_t cols,
                   bool fresh, char *part);
    /* n elements 'step' bytes apart, combined with the one accumulator */
    void (*few)(const char *p, int64_t step, int64_t n, char *acc);
    /* partial accumulators combined with accumulators */
    void (*combine)(char *acc, const char *part, int64_t n);
} la_int_kind;

enum {
    /* elements of 16 bits that are summed in 32: 2^14 * 2^16 = 2^30 */
    INT_DEEP = 16384,
    STRIP_ROWS = 16,
    INT_SIDE = 1024,      /* columns with partial accumulators of their own */
    TILE_ROWS = 8, TILE_SIDE = 256
};

/* Contiguous columns, at least 'lanes' and at most INT_SIDE, of at most
** INT_DEEP rows. 'fresh': the accumulators hold nothing yet; where they are
** partial accumulators too, they are used as such. The columns after the last
** whole vector are the end of a vector that goes back over its neighbours. */
static inline void int_dense_columns(const la_int_kind *k,
                                     const la_reduce_cols *c, bool fresh,
                                     char *acc)
{
    LA_SCRATCH(char, partial, INT_SIDE * 8);
    char last[VEC_BYTES] __attribute__((aligned(64)));
    const int64_t whole = c->cols / k->lanes * k->lanes;
    const int64_t left = c->cols - whole, row = c->row_step;
    const int64_t back = (c->cols - k->lanes) * k->size;
    const bool direct = fresh && k->part == k->acc;
    char *part = direct ? acc : partial;
    const char *in = c->in;
    for (int64_t r = 0, m; r < c->rows; r += m, in += m * row) {
        m = c->rows - r < STRIP_ROWS ? c->rows - r : STRIP_ROWS;
        k->strips(in, row, m, whole, r == 0, part);
        if (left > 0) k->strips(in + back, row, m, k->lanes, r == 0, last);
    }
    if (left > 0)
        memcpy(part + whole * k->part, last + (k->lanes - left) * k->part,
               (size_t)(left * k->part));
    if (direct) return;
    if (fresh) k->fill(acc, c->cols);
    k->combine(acc, part, c->cols);
}

/* Columns with gaps, or fewer than a vector holds: one by one where there are
** few, else copied to a tile. */
static inline void int_sparse_columns(const la_int_kind *k,
                                      const la_reduce_cols *c, bool fresh,
                                      char *acc)
{
    LA_SCRATCH(char, tile, TILE_ROWS * TILE_SIDE * 8);
    LA_SCRATCH(char, part, TILE_SIDE * 8);
    const int64_t cols = (c->cols + k->lanes - 1) / k->lanes * k->lanes;
    const char *in = c->in;
    if (fresh) k->fill(acc, c->cols);
    if (c->cols < 8) {
        for (int64_t j = 0; j < c->cols; j++)
            k->few(in + j * c->step, c->row_step, c->rows, acc + j * k->acc);
        return;
    }
    for (int64_t r = 0, m; r < c->rows; r += m) {
        m = c->rows - r < TILE_ROWS ? c->rows - r : TILE_ROWS;
        for (int64_t i = 0; i < m; i++, in += c->row_step)
            reduce_gather_by_size(tile + i * TILE_SIDE * k->size, in, c->step,
                                  c->cols, k->size);
        k->strips(tile, TILE_SIDE * k->size, m, cols, r == 0, part);
    }
    k->combine(acc, part, c->cols);
}

/* la_reduction.outer of 'k'. */
static __attribute__((noinline)) void int_columns(const la_int_kind *k,
                                                  const la_reduce_cols *c,
                                                  char *acc)
{
    const bool dense = c->step == k->size && c->cols >= k->lanes;
    int64_t side = dense ? INT_SIDE : TILE_SIDE;
    if (c->rows < 1) k->fill(acc, c->cols);
    if (dense && c->rows <= STRIP_ROWS && c->cols % k->lanes == 0
        && k->part == k->acc) {
        k->strips(c->in, c->row_step, c->rows, c->cols, true, acc);
        return;
    }
    for (int64_t j = 0, n; j < c->cols; j += n) {
        n = c->cols - j < side ? c->cols - j : side;
        /* the rest of a side is no narrower than a vector */
        if (dense && n == side && c->cols - j - n < k->lanes) n -= k->lanes;
        for (int64_t r = 0; r < c->rows; r += INT_DEEP) {
            la_reduce_cols t = *c;
            t.in += r * c->row_step + j * c->step;
            t.rows = c->rows - r < INT_DEEP ? c->rows - r : INT_DEEP;
            t.cols = n;
            (dense ? int_dense_columns : int_sparse_columns)(
                k, &t, r == 0, acc + j * k->acc);
        }
    }
}

/* Half a vector of 32-bit lanes in 64 bits. gcc 12 converts in two parts,
** which it puts together; there is one instruction. */
typedef int32_t int32_half __attribute__((vector_size(VEC_BYTES / 2)));
typedef uint32_t uint32_half __attribute__((vector_size(VEC_BYTES / 2)));
static inline int32_half load_int32_half(const char *p)
{
    int32_half x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline uint32_half load_uint32_half(const char *p)
{
    uint32_half x;
    memcpy(&x, p, sizeof(x));
    return x;
}
#ifdef __AVX512F__
static inline u64v widen_int32(int32_half x)
{
    return (u64v)_mm512_cvtepi32_epi64((__m256i)x);
}
static inline u64v widen_uint32(uint32_half x)
{
    return (u64v)_mm512_cvtepu32_epi64((__m256i)x);
}
#elif defined(__AVX2__)
static inline u64v widen_int32(int32_half x)
{
    return (u64v)_mm256_cvtepi32_epi64((__m128i)x);
}
static inline u64v widen_uint32(uint32_half x)
{
    return (u64v)_mm256_cvtepu32_epi64((__m128i)x);
}
#else
static inline u64v widen_int32(int32_half x)
{
    return (u64v)__builtin_convertvector(x, i64v);
}
static inline u64v widen_uint32(uint32_half x)
{
    return __builtin_convertvector(x, u64v);
}
#endif

#define INT_STORE(SIZE)                                                     \
    static inline void store_int_##SIZE(const char *acc, char *out,         \
                                        int64_t n, const la_reduce_args *a) \
    {                                                                       \
        memcpy(out, acc, (size_t)n * SIZE);                                 \
    }
INT_STORE(1)
INT_STORE(2)
INT_STORE(4)
INT_STORE(8)
#undef INT_STORE

#endif
