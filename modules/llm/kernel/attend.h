/*
** The contract of attention over keys and values in pages: one group of heads
** at one position.
*/
#ifndef LA_LLM_KERNEL_ATTEND_H
#define LA_LLM_KERNEL_ATTEND_H

#include <stdint.h>

#include "kernel/kernel.h"

typedef struct la_attend {
    const float *q;           /* [heads][features], of one group */
    float *out;               /* the same */
    float *scores;            /* [heads][last - first], scratch */
    const float *const *keys, *const *values;   /* of the group, by page */
    int64_t heads, features;
    int64_t page, step;       /* positions of a page; floats between two */
    int64_t first, last;      /* positions that are seen, last not */
    float scale, softcap;
} la_attend;

typedef struct la_attend_kernels {
    void (*group)(const la_attend *);
    /* A row of features: pairs by their cosines and sines; 'step' from one of a
    ** pair to the other, 'next' from a pair to the next. */
    void (*rotate)(const float *x, float *out, const float *cosines,
                   const float *sines, int64_t pairs, int64_t step,
                   int64_t next);
} la_attend_kernels;
LA_STUB_DECLARE(la_attend_kernels, llm_attend);

#endif
