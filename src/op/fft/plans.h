/*
** Plans (op/fft/fft_plan.h) are counted and shared between calls. The last ones
** used are kept, each state's by itself and charged to it, so that none evicts
** another's: up to LA_FFT_KEPT bytes, and an eighth of the state's cap, until
** the state is closed or la_mem_trim. Threads without a state share theirs.
*/
#ifndef LA_OP_FFT_PLANS_H
#define LA_OP_FFT_PLANS_H

#include "op/fft/fft_plan.h"

#define LA_FFT_KEPT ((size_t)64 << 20)

/* The radix of an ODD plan; 0: n is even, or has no suitable factor. */
int la_fft_odd_radix(int64_t n);
/* The plan for n complex elements ('is_real': for n real ones, n even or with
** an odd radix) of parts of dtype 'real'. An owned reference. LA_ENOMEM. */
la_status la_fft_plan_get(int64_t n, la_dtype real, bool is_real,
                          la_fft_plan **out);
void la_fft_plan_release(la_fft_plan *p);
/* Drops plans kept for this token's state, which closes or is short of memory.
** */
void la_fft_forget(la_token *k);
static inline void la_fft_plan_drop(la_fft_plan **p)
{
    if (*p) la_fft_plan_release(*p);
}
#define LA_FFT_PLAN __attribute__((cleanup(la_fft_plan_drop))) la_fft_plan

#endif
