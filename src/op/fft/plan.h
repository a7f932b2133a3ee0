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
**
** Plans are counted and shared between calls. The last ones used are kept, each
** state's by itself and charged to it, so that none evicts another's: up to
** LA_FFT_KEPT bytes, and an eighth of the state's cap, until the state is
** closed or la_mem_trim. Threads without a state share theirs.
*/
#ifndef LA_OP_FFT_PLAN_H
#define LA_OP_FFT_PLAN_H

#include <stdatomic.h>

#include "kernel/fft/fft.h"
#include "op/op.h"

#define LA_FFT_KEPT ((size_t)64 << 20)

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

/* The radix of an ODD plan; 0: n is even, or has no suitable factor. */
int la_fft_odd_radix(int64_t n);
/* The plan for n complex elements ('is_real': for n real ones, n even or with
** an odd radix) of parts of dtype 'real'. An owned reference. LA_ENOMEM. */
la_status la_fft_plan_get(int64_t n, la_dtype real, bool is_real,
                          la_fft_plan **out);
void la_fft_plan_release(la_fft_plan *p);
/* Drops plans kept for this token's state, which closes or is short of
** memory. */
void la_fft_forget(la_token *k);
static inline void la_fft_plan_drop(la_fft_plan **p)
{
    if (*p) la_fft_plan_release(*p);
}
#define LA_FFT_PLAN __attribute__((cleanup(la_fft_plan_drop))) la_fft_plan

#endif
