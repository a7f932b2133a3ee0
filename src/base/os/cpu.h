/*
** What this processor and system allow, and which kernels are in use.
**
** LUNARRAY_CPU of the environment (a CPU capability below, or an ISA extension
** of isa_extension.h) can only lower the capability; an unknown or missing one
** is ignored, and la.config().cpu_note says so.
*/
#ifndef LA_BASE_OS_CPU_H
#define LA_BASE_OS_CPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The CPU capabilities, lowest first: X(name, argument). The enumerators, the
** names in LUNARRAY_CPU, detection (cpu.c), the symbols of kernel tables
** (kernel/kernel.h) follow from this list; the Makefile has the compiler flags
** of each and may leave some out of a build (CAPS).
**   default  the baseline of the compiler: SSE2 on x86-64, plain C elsewhere
**   avx2     AVX2, FMA, F16C, BMI2
**   avx512   AVX512 F, BW, DQ, VL, CD */
#if defined(__x86_64__) || defined(__i386__)
#define LA_X86 1
#define LA_CAPS_ABOVE(X, arg) X(avx2, arg) X(avx512, arg)
#else
#define LA_CAPS_ABOVE(X, arg)
#endif
#define LA_CAPS(X, arg) X(default, arg) LA_CAPS_ABOVE(X, arg)

typedef enum la_cap {
#define LA_CAP_ROW(name, arg) LA_CAP_##name,
    LA_CAPS(LA_CAP_ROW, )
#undef LA_CAP_ROW
    LA_NCAPS
} la_cap;

extern atomic_int la_cpu_cap_known;  /* -1 before the first call */
la_cap la_cpu_cap_slow(void);

/* All ones; 0 while this thread runs an operation of a lockstep state whose
** bits differ between capabilities (op/lockstep.h): then the lowest one's
** kernels run, on every machine. Workers take over the caller's. */
extern _Thread_local unsigned la_cap_mask;

static inline la_cap la_cpu_cap(void)  /* in use; decided at the first call */
{
    int cap = atomic_load_explicit(&la_cpu_cap_known, memory_order_relaxed);
    if (__builtin_expect(cap < 0, 0)) cap = (int)la_cpu_cap_slow();
    return (la_cap)((unsigned)cap & la_cap_mask);
}

/* The upper halves of vector registers are cleared where wide kernels end: else
** code for SSE, of this library or of its host, takes several times as long
** until somebody does. GCC sees to it in each function, but not when asked for
** size or for no speed at all; then it is done after each operation and each
** chunk of a loop, and in the library in one file before kernels call scalar
** functions. */
#if defined(LA_X86) && defined(__GNUC__) && !defined(__clang__) \
    && (defined(__OPTIMIZE_SIZE__) || !defined(__OPTIMIZE__))
#define LA_LEAVES_UPPER 1
#endif
static inline void la_clear_upper(void)
{
#if defined(LA_LEAVES_UPPER) && defined(__AVX__)
    __builtin_ia32_vzeroupper();
#elif defined(LA_LEAVES_UPPER)
    if (atomic_load_explicit(&la_cpu_cap_known, memory_order_relaxed) > 0)
        __asm__ volatile("vzeroupper");
#endif
}

/* The highest capability that both the processor and this build have. */
la_cap la_cpu_best_cap(void);
/* Does this build have kernels for it, and the processor the instructions? */
bool la_cpu_has_cap(la_cap);
/* NULL, or the capability that every kernel of this build needs (a build
** without "default") and the processor does not have: nothing may run then. */
const char *la_cpu_missing(void);
const char *la_cap_name(la_cap);
const char *la_cpu_note(void);  /* "" or why LUNARRAY_CPU was not followed */

/* Data cache sizes in bytes, as read from the machine (sane guesses if not):
** level 1 to 3; level 3 is the share of one core complex. */
size_t la_cpu_cache(int level);

/* The set of extensions in use, 1 << extension for each. The first call asks
** the system for the tiles, so it waits until somebody wants to multiply or to
** know: threads of a process that may use them have larger signal frames. */
unsigned la_cpu_extensions(void);
unsigned la_cpu_best_extensions(void);     /* without what LUNARRAY_CPU says */
/* Extensions that failed their first use are not used, and la_cpu_note says so.
** */
void la_cpu_refuse_extensions(unsigned set, const char *why);

#endif
