/*
** The floating-point mode of a thread: rounding, flush-to-zero, exception
** masks, and the sticky flags. The library computes with the rounding of
** whoever calls and with all exceptions masked, so that no NaN raises a signal,
** and hands the mode back as it was. Workers compute in the mode of the thread
** that asked.
**
** Only the first look costs something where exceptions are masked anyway: the
** register is read at the beginning and at the end of a call, and written when
** the call has raised a flag that was not there.
*/
#ifndef LA_BASE_OS_FPMODE_H
#define LA_BASE_OS_FPMODE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t la_fp_mode;

#if defined(__SSE2__)
/* MXCSR; above it what la_fp_mask found in the x87 control word. */
#define LA_FP_MASKS UINT64_C(0x1f80)
#define LA_FP_FLAGS UINT64_C(0x3f)
#define LA_FP_X87_SHIFT 32
static inline la_fp_mode la_fp_current(void)
{
    return __builtin_ia32_stmxcsr();
}
static inline bool la_fp_traps(la_fp_mode mode)
{
    return (mode & LA_FP_MASKS) != LA_FP_MASKS;
}
static inline la_fp_mode la_fp_masked(la_fp_mode mode)
{
    return (mode & UINT32_MAX) | LA_FP_MASKS;
}
static inline void la_fp_write(la_fp_mode mode)
{
    __builtin_ia32_ldmxcsr((unsigned)mode);
}
/* The C library computes a little in x87 registers, whose exceptions feenable-
** except() unmasks with the others. */
static inline la_fp_mode la_fp_mask_x87(void)
{
    uint16_t before, masked;
    __asm__ volatile("fnstcw %0" : "=m"(before));
    masked = before | 0x3f;
    __asm__ volatile("fldcw %0" : : "m"(masked));
    return (la_fp_mode)before << LA_FP_X87_SHIFT;
}
/* A flag that is new would trap now, and one that is old would have before. */
static inline void la_fp_restore_x87(la_fp_mode mode)
{
    uint16_t control = (uint16_t)(mode >> LA_FP_X87_SHIFT), flags;
    if (!control) return;
    __asm__ volatile("fnstsw %0" : "=m"(flags));
    if (flags & ~control & 0x3f) __asm__ volatile("fnclex");
    __asm__ volatile("fldcw %0" : : "m"(control));
}
#elif defined(__aarch64__)
/* FPCR, and FPSR above it. */
#define LA_FP_TRAPS UINT64_C(0x9f00)
#define LA_FP_FLAGS (UINT64_C(0x9f) << 32)
static inline la_fp_mode la_fp_current(void)
{
    uint64_t control, flags;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
    return control | flags << 32;
}
static inline bool la_fp_traps(la_fp_mode mode)
{
    return (mode & LA_FP_TRAPS) != 0;
}
static inline la_fp_mode la_fp_masked(la_fp_mode mode)
{
    return mode & ~LA_FP_TRAPS;
}
static inline void la_fp_write(la_fp_mode mode)
{
    __asm__ volatile("msr fpsr, %0" : : "r"(mode >> 32));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode & UINT32_MAX));
}
static inline la_fp_mode la_fp_mask_x87(void) { return 0; }
static inline void la_fp_restore_x87(la_fp_mode mode) { (void)mode; }
#else
/* Machines whose exceptions never trap. */
#define LA_FP_FLAGS UINT64_C(0)
static inline la_fp_mode la_fp_current(void) { return 0; }
static inline bool la_fp_traps(la_fp_mode mode) { (void)mode; return false; }
static inline la_fp_mode la_fp_masked(la_fp_mode mode) { return mode; }
static inline void la_fp_write(la_fp_mode mode) { (void)mode; }
static inline la_fp_mode la_fp_mask_x87(void) { return 0; }
static inline void la_fp_restore_x87(la_fp_mode mode) { (void)mode; }
#endif

static inline void la_fp_restore(la_fp_mode mode)
{
    if (mode == la_fp_current()) return;
    la_fp_write(mode);
    la_fp_restore_x87(mode);
}

/* Flags that 'mode' does not have are lowered; LA_FP_ANY has all. */
#define LA_FP_ANY UINT64_MAX
static inline void la_fp_lower_flags(la_fp_mode mode)
{
    la_fp_restore(la_fp_current() & (mode | ~LA_FP_FLAGS));
}

/* Compute in 'mode' from here on, without traps; the mode before, for
** la_fp_restore. */
static inline la_fp_mode la_fp_adopt(la_fp_mode mode)
{
    la_fp_mode before = la_fp_current();
    la_fp_restore(la_fp_masked(mode));
    return before;
}

/* Compute without traps from here on; the mode before, for la_fp_restore. */
static inline la_fp_mode la_fp_begin(void)
{
    la_fp_mode before = la_fp_current();
    if (__builtin_expect(!la_fp_traps(before), 1)) return before;
    la_fp_write(la_fp_masked(before));
    return before | la_fp_mask_x87();
}

#endif
