/*
** The contract of products of bytes with sums of 32 bits, modulo 2^32 and so
** the same on all levels.
**
** Rows of A are bytes without a sign, of 8 or 16 bits each, whole quads of k
** with zeros behind. B is
** in panels of 16 columns, signed: 64 bytes with the sums of the columns, then
** 64 bytes for each quad of k, those of a column side by side. An operand of
** the other sign has its bytes flipped (x ^ 128) and 128 added to, or taken
** from, its zero point.
*/
#ifndef LA_KERNEL_MATMUL_BYTES_H
#define LA_KERNEL_MATMUL_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

enum { LA_BYTES_COLUMNS = 16, LA_BYTES_PANEL = 64 };

/* Bytes of a panel. */
static inline int64_t la_bytes_panel(int64_t quads)
{
    return (quads + 1) * LA_BYTES_PANEL;
}

/* out[i, j] = sum over k of (a[i, k] - a_zero[i]) * (b[k, j] - b_zero[j]) */
typedef struct la_bytes_block {
    int64_t m, n, quads;
    const void *a;            /* rows of 4 * quads elements */
    const uint8_t *b;         /* panels */
    int32_t *out;
    int64_t out_step;
    const int32_t *a_zero;    /* [m] */
    const int32_t *rest;      /* [m]: k * a_zero less the sum of the row */
    const int32_t *b_zero;    /* [whole panels] */
} la_bytes_block;

/* The 16 columns of a panel in an image: B[k, j] is the byte at base + taps[k]
** + at[j]. */
typedef struct la_bytes_image {
    const uint8_t *base;      /* 16 bytes behind what is read are there, too */
    const int64_t *taps;      /* [k] */
    int64_t k, at[LA_BYTES_COLUMNS];
    int first;                /* at rises by one within 0 .. first - 1, */
    bool two_runs;            /* and in the rest */
} la_bytes_image;

typedef struct la_bytes_scale {
    const double *scale;
    const int32_t *bias;
    int64_t scale_step, bias_step;      /* 0 or 1 */
    int zero, low, high;
} la_bytes_scale;

typedef struct la_bytes_kernels {
    int64_t row_size;         /* bytes of an element of a row: 1 or 2 */
    /* A panel of n <= 16 columns of B out of a matrix, with strides in bytes;
    ** 'flip' is 128 or 0. */
    void (*pack)(uint8_t *panel, const uint8_t *src, int64_t rs, int64_t cs,
                 int64_t k, int64_t n, uint8_t flip);
    void (*pack_image)(uint8_t *panel, const la_bytes_image *);
    /* A row of A; its sum. */
    int32_t (*row)(void *to, const uint8_t *src, int64_t cs, int64_t k,
                   uint8_t flip);
    void (*block)(const la_bytes_block *);
    /* round((x + bias) * scale) + zero, from low to high; scale and bias (NULL:
    ** 0) are alike for all, or by element. */
    void (*requantize)(const int32_t *x, int64_t n, const la_bytes_scale *s,
                       uint8_t *to);
    /* The least and the greatest of n numbers, of *low and *high, too. */
    void (*range)(const float *x, int64_t n, float *low, float *high);
    /* round(x / scale) + zero within 0 .. 255, halves to even; NaN is 0. */
    void (*round)(const float *x, int64_t n, float scale, int zero,
                  uint8_t *to);
} la_bytes_kernels;
LA_STUB_DECLARE(la_bytes_kernels, bytes);
/* The table for VPDPBUSD; empty where the compiler does not know it. */
extern const la_bytes_kernels la_avx512_vnni_bytes;

#endif
