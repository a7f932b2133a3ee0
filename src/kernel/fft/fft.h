/*
** The contract of the Fourier kernels.
**
** A transform of n = r1 r2 ... elements is a chain of passes, one per factor
** (Stockham's form, which sorts itself: C. Van Loan, "Computational Frameworks
** for the Fast Fourier Transform", 1992, 1.7). Before a pass with the radix r
** the data are s lanes of 'm * r' elements, x[q + s (p + m c)]; after it
**
**     y[q + s (r p + b)] = w^(p b) sum over c of x[q + s (p + m c)] e^(-2 pi i
**                          b c / r),    w = e^(-2 pi i / (m r)),
**
** so the next pass has r s lanes and a smaller m. Several transforms side by
** side are more lanes from the start. An element's bits follow from n alone,
** whatever the lanes, since each is the same expression.
**
** Between passes real and imaginary parts lie apart ("split"): x is the real
** parts, x + im the imaginary ones. Only forward transforms exist: the backward
** one is the conjugate of that of the conjugates, by the signs of the imaginary
** parts that are read and written as pairs.
**
** Split buffers are scratch, and may be read and written up to LA_FFT_SLACK
** elements (and as many times the first radix) past their end.
*/
#ifndef LA_KERNEL_FFT_FFT_H
#define LA_KERNEL_FFT_FFT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"

enum {
    LA_FFT_LANES = 16,        /* transforms side by side at most */
    LA_FFT_SLACK = 32,
    LA_FFT_RADIX = 256        /* every prime radix is below */
};

typedef struct la_fft_pass {
    const void *in;
    void *out;                /* overlaps nothing of 'in' */
    int64_t in_im, out_im;    /* elements from a real part to its other part */
    int64_t m, s;
    int radix;
    bool in_pairs;            /* 'in' is pairs (re, im); needs radix > 3, and
                              ** s >= W or s = 1 and m >= W, W the lanes of a
                              ** vector */
    bool out_pairs;           /* 'out' too; needs s >= W and m = 1 */
    double sign;              /* times the imaginary part of pairs read */
    double scale, scale_im;   /* times the parts of pairs written */
    const void *w;            /* for c = 1 .. r - 1: the m real parts of w^(p
                              ** c), the m imaginary ones. NULL: m = 1 */
    const void *roots;        /* odd primes from 7 on: cos and sin of
                              ** 2 pi k / r, k = 0 .. r - 1, as pairs */
} la_fft_pass;

/* Rows of pairs without gaps, each of which is transformed by one pass, without
** a split buffer. 'in' may be 'out'. */
typedef struct la_fft_rows {
    const void *in;
    void *out;
    int64_t count;            /* rows */
    double sign;              /* times the imaginary parts read */
    double scale, scale_im;   /* times the parts written */
} la_fft_rows;

/* Transforms side by side, and the same ones in the caller's memory. Element k
** of lane l has its real part at data + lane[l] + k * step, its imaginary part
** 'other' bytes behind it (0: it has none). */
typedef struct la_fft_move {
    char *data;
    const int64_t *lane;      /* bytes */
    int64_t step, other;      /* bytes */
    int64_t n;                /* elements of each */
    int lanes;                /* transforms */
    int s;                    /* lanes of the split buffer, >= lanes */
    void *split;              /* x[k s + l] */
    int64_t im;
    double scale, scale_im;   /* times the parts when they are stored; of
                              ** loads scale_im alone, 1 or -1 */
} la_fft_move;

/* Split of a long transform: element k of lane l, which is column 'column' + l
** of n2 columns, times w^(k (column + l)), in place. */
typedef struct la_fft_twiddle {
    void *split;
    int64_t im, n;            /* n rows of s lanes */
    int s;
    int64_t column, length, block;   /* w = e^(-2 pi i / length) */
    const void *table, *steps, *leaps;   /* op/fft/fft_plan.h */
} la_fft_twiddle;

/* Step between the transform z of the pairs of a real sequence of length 2 h (s
** lanes, h elements) and its first h + 1 elements, or the way back. 'in' and
** 'out' may be one buffer. */
typedef struct la_fft_real {
    const void *in;
    void *out;
    int64_t in_im, out_im;
    int64_t h, s;             /* s = 1, or a multiple of W */
    const void *w;            /* h / 2 + 1 pairs: e^(-pi i k / h) */
    bool pairs;               /* s = 1: the h + 1 elements are pairs */
    double scale, scale_im;   /* times what unpack writes as pairs; the
                              ** imaginary parts that pack reads */
} la_fft_real;

/* Real sequences of r m elements, r odd, and the spectra of r/2 + 1 of their
** parts: row b of the complex side, m elements of s lanes, is at b * row. */
typedef struct la_fft_odd {
    void *real;               /* x[q + s (p + m c)], s = 1 or a multiple of W */
    void *rows;
    int64_t row, im;          /* elements from row to row, to imaginary parts */
    int64_t m, s;
    int r;
    const void *w, *roots;    /* as in la_fft_pass */
} la_fft_odd;

/* Elements of split buffers times w[k], which are pairs; conjugated before,
** after. */
typedef struct la_fft_times {
    void *split;
    int64_t im, n, s;         /* s = 1, or a multiple of W */
    const void *w;
    bool before, after;
} la_fft_times;

typedef struct la_fft_kernels {
    int width;                /* W: lanes of a vector */
    /* Passes by radix: 2 to 10, 12, 16; pass[0] for odd primes from 7 on. */
    void (*pass[17])(const la_fft_pass *);
    /* Rows as long as those radices, but the odd primes; NULL where vectors are
    ** short. */
    void (*rows[17])(const la_fft_rows *);
    void (*load)(const la_fft_move *);    /* lanes past 'lanes' are zero */
    void (*store)(const la_fft_move *);
    void (*twiddle)(const la_fft_twiddle *);
    void (*times)(const la_fft_times *);
    /* out has h + 1 elements; twice the transform. */
    void (*unpack)(const la_fft_real *);
    /* in has h + 1 elements: out, h, is conj(z) times 2, for a backward
    ** transform by a forward one. The imaginary parts of the first and the
    ** last count as 0. */
    void (*pack)(const la_fft_real *);
    /* The first pass of a transform of real numbers, of which rows 0 .. r/2
    ** are kept; the last pass back, from the conjugates of what backward
    ** transforms of the rows would be. */
    void (*first)(const la_fft_odd *);
    void (*last)(const la_fft_odd *);
} la_fft_kernels;

LA_STUB_DECLARE(la_fft_kernels, fft_f32);
LA_STUB_DECLARE(la_fft_kernels, fft_f64);

#endif
