/*
** Filling contiguous memory with random numbers.
**
** A fill is cut into groups of LA_RANDOM_GROUP elements, and a group draws
** whole Philox blocks: element k of a fill is a function of the seed, of the
** fill's first block and of k, whatever the threads, chunks and vector widths.
** Each sixteen elements in a row use the same word of sixteen blocks in a row:
** that order needs no shuffling at any width.
*/
#ifndef LA_KERNEL_RANDOM_RANDOM_LOOPS_H
#define LA_KERNEL_RANDOM_RANDOM_LOOPS_H

#include "kernel/kernel.h"

#define LA_RANDOM_GROUP 64

/* Words that an element takes; a group takes 16 blocks for each of them. */
#define LA_RANDOM_BLOCKS(words) (16 * (words))

/* Arguments that a fill is a function of; which fields a distribution reads
** stands at its entry below. */
typedef struct la_random_call {
    uint64_t seed, block;  /* block: a multiple of 16 */
    double a, b;           /* from, to | mean, std | rate | median, sigma */
    uint64_t low, range;   /* integers: low .. low + range - 1; 0: all 2^64 */
    uint64_t threshold;    /* bernoulli: of 2^32 */
} la_random_call;

/* Write the elements of groups g0..g1-1 of a fill of 'n' elements at 'out'
** (element 0 of the fill). */
typedef void (*la_random_fill)(void *out, int64_t g0, int64_t g1, int64_t n,
                               const la_random_call *call);

typedef la_random_fill la_random_fills[LA_NDTYPES];

typedef struct la_random_kernels {
    la_random_fill words;        /* uint32, as they come; 1 word */
    la_random_fills uniform;     /* a <= x < b; 1 word, float64: 2 */
    la_random_fills normal;      /* 1 word, float64: 2 */
    la_random_fills exponential; /* rate a; as normal */
    la_random_fills cauchy;      /* as normal */
    la_random_fills integer;     /* range < 2^32; 2 words */
    la_random_fills wide;        /* any range; 4 words */
    la_random_fills bernoulli;   /* 1 word */
} la_random_kernels;

LA_STUB_DECLARE(la_random_kernels, random);

#endif
