/*
** The floating-point mode of a thread: rounding, flush-to-zero, exception
** masks. Workers compute in the mode of the thread that asked, with all
** exceptions masked, so that no NaN can raise a signal in a kernel.
*/
#ifndef LA_BASE_OS_FPMODE_H
#define LA_BASE_OS_FPMODE_H

#include <stdint.h>

typedef uint64_t la_fp_mode;

#if defined(__SSE2__)
#define LA_FP_MASKS 0x1f80u
static inline la_fp_mode la_fp_current(void)
{
    return __builtin_ia32_stmxcsr();
}
static inline void la_fp_restore(la_fp_mode mode)
{
    if (mode != la_fp_current()) __builtin_ia32_ldmxcsr((unsigned)mode);
}
#elif defined(__aarch64__)
#define LA_FP_MASKS 0u  /* exceptions are off where the trap bits are clear */
static inline la_fp_mode la_fp_current(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode & ~UINT64_C(0x9f00);
}
static inline void la_fp_restore(la_fp_mode mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
#else
#define LA_FP_MASKS 0u
static inline la_fp_mode la_fp_current(void) { return 0; }
static inline void la_fp_restore(la_fp_mode mode) { (void)mode; }
#endif

/* Compute in 'mode' from here on; the mode before, for la_fp_restore. */
static inline la_fp_mode la_fp_adopt(la_fp_mode mode)
{
    la_fp_mode before = la_fp_current();
    la_fp_restore(mode | LA_FP_MASKS);
    return before;
}

#endif
