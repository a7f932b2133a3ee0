/*
** What this processor and system allow, and which kernels are in use.
** LUNARRAY_CPU of the environment (default, avx2, avx512; see isa_extension.h
** for others)
** can only lower the level; an unknown word is ignored and told by la.config().
*/
#ifndef LA_BASE_CPU_H
#define LA_BASE_CPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum la_cap {
    LA_CAP_DEFAULT,  /* x86-64 baseline (SSE2), or plain C elsewhere */
    LA_CAP_AVX2,     /* AVX2 + FMA + F16C + BMI2 */
    LA_CAP_AVX512,   /* AVX512 F, BW, DQ, VL, CD */
    LA_NCAPS
} la_cap;

extern atomic_int la_cpu_cap_known;  /* -1 before the first call */
la_cap la_cpu_cap_slow(void);

static inline la_cap la_cpu_cap(void)  /* in use; decided at the first call */
{
    int cap = atomic_load_explicit(&la_cpu_cap_known, memory_order_relaxed);
    return cap >= 0 ? (la_cap)cap : la_cpu_cap_slow();
}
la_cap la_cpu_best_cap(void);   /* the hardware's */
const char *la_cap_name(la_cap);
const char *la_cpu_note(void);  /* "" or why LUNARRAY_CPU was not followed */

/* Data cache sizes in bytes, as read from the machine (sane guesses if not):
** level 1 to 3; level 3 is the share of one core complex. */
size_t la_cpu_cache(int level);

#endif
