/*
** The contract of the attention kernels: what happens to a tile of scores
** between the two matrix products, row by row. Sums run over a fixed number of
** lanes, so the bits do not depend on the vector width. The softmax is computed
** online over blocks of columns (Milakov and Gimelshein, 2018; Dao et al.,
** FlashAttention, 2022), so the matrix of all scores is never stored.
*/
#ifndef LA_KERNEL_NN_ATTENTION_H
#define LA_KERNEL_NN_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

/* A tile of scores: rows x cols, 'step' elements from row to row. */
typedef struct la_score_tile {
    void *scores;
    int64_t rows, cols, step;
    int64_t first_row, first_col;  /* where it begins */
    bool causal;                   /* columns after the row's index are out */
    const char *mask;              /* NULL: none; bool, or added to scores */
    bool mask_is_bool;
    int64_t mask_row, mask_col;    /* elements */
} la_score_tile;

typedef struct la_attention_kernels {
    /* Apply the mask: scores that are out become -infinity. */
    void (*mask)(const la_score_tile *);
    /* One step of an online softmax: max[i], sum[i] are what the earlier
    ** columns left (-infinity, 0 at first) and are brought up to date; scores
    ** become exp(score - max), 0 where causality hides them; factor[i] is what
    ** earlier results must be multiplied with. */
    void (*soften)(const la_score_tile *, void *max, void *sum, void *factor);
    /* scores become exp(score - lse[i]), hidden ones 0 */
    void (*restore)(const la_score_tile *, const void *lse);
    /* out[i][j] *= factor[i], or 1 / factor[i] (0 for a factor of 0) */
    void (*scale)(void *out, int64_t rows, int64_t cols, int64_t step,
                  const void *factor, bool inverse);
    /* out[i][j] = in[i][j] * by, 'out' without gaps */
    void (*take)(void *out, const void *in, int64_t in_row, int64_t in_col,
                 int64_t rows, int64_t cols, double by);
    /* d[i] = sum over j of a[i][j] * b[i][j] */
    void (*row_dots)(void *d, const void *a, int64_t a_step, const void *b,
                     int64_t b_step, int64_t rows, int64_t cols);
    /* grad[i][j] = p[i][j] * (grad[i][j] - d[i]); tile gives p */
    void (*soft_grad)(const la_score_tile *, void *grad, const void *d);
    /* lse[i] = max[i] + log(sum[i]) */
    void (*finish)(void *lse, const void *max, const void *sum, int64_t rows);
} la_attention_kernels;

LA_STUB_DECLARE(la_attention_kernels, attention_f32);
LA_STUB_DECLARE(la_attention_kernels, attention_f64);

#endif
