/*
** Plans: how a transform of n elements is cut, and its tables. They depend on n
** and the dtype alone, so that bits do not depend on anything else.
**
** FLAT    passes of the radices of n (kernel/fft/fft.h)
** SPLIT   n = n1 n2, as n2 columns of n1 and n1 rows of n2 elements (D. H.
**         Bailey, "FFTs in external or hierarchical memory", 1990): long ones
** CHIRP   a convolution with e^(pi i k^2 / n) by transforms of another length
**         (L. Bluestein, 1970): where n has a large prime factor
** ODD     of n = r m real elements, r odd: r/2 + 1 transforms of m complex ones
** REAL    of n = 2 h real elements: a transform of h complex ones, whose
**         results are combined in pairs
*/
#ifndef LA_OP_FFT_FFT_PLAN_H
#define LA_OP_FFT_FFT_PLAN_H

#include <stdatomic.h>

#include "kernel/fft/fft.h"
#include "op/value.h"

typedef enum la_fft_kind { LA_FFT_FLAT, LA_FFT_SPLIT, LA_FFT_CHIRP,
                           LA_FFT_REAL, LA_FFT_ODD } la_fft_kind;

typedef struct la_fft_plan la_fft_plan;
struct la_fft_plan {
    int64_t n;
    la_dtype real;            /* float32 or float64 */
    la_fft_kind kind;
    int passes;               /* FLAT; ODD: 1, of r */
    int64_t slack;            /* elements past the end of a split buffer */
    struct {
        int radix;
        int64_t m;
        const char *w, *roots;
    } pass[64];
    la_fft_plan *first;       /* SPLIT: of n1; CHIRP: of the length; REAL: of
                              ** h; ODD: of m. Owned */
    la_fft_plan *second;      /* SPLIT: of n2 */
    const char *table;        /* SPLIT: w^(k l), k < n1, l < LA_FFT_LANES, as
                              ** rows of real and of imaginary parts; CHIRP:
                              ** the chirp; REAL: la_fft_real.w */
    const char *steps;        /* SPLIT: w^k for k < block; CHIRP: the
                              ** transform of the conjugate chirp, divided by
                              ** its length */
    const char *leaps;        /* SPLIT: w^(k block) */
    int64_t block;
    atomic_int refs;
    la_fft_plan *next;        /* in the list of those that are kept */
    la_token *payer;          /* or NULL */
    char *memory;             /* of the tables */
    size_t bytes;
};

static inline const la_fft_kernels *la_fft_kernels_of(const la_fft_plan *p)
{
    return p->real == LA_FLOAT32 ? LA_STUB(fft_f32) : LA_STUB(fft_f64);
}

#endif
