/*
** Which kernels may run here: asked once, lowered by LUNARRAY_CPU. A capability
** is available when the processor has it and the build does (LA_CAPS_BUILT, a
** set of bits 1 << LA_CAP_<name> that the Makefile makes of CAPS).
*/
#include "base/os/cpu.h"

#include "base/ascii.h"
#include "base/os/isa_extension.h"
#include "base/os/os.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LA_X86
#include <cpuid.h>
#endif
#ifndef LA_CAPS_BUILT
#define LA_CAPS_BUILT ((1u << LA_NCAPS) - 1)
#endif

static const char *const cap_names[LA_NCAPS] = {
#define LA_CAP_ROW(name, arg) #name,
    LA_CAPS(LA_CAP_ROW, )
#undef LA_CAP_ROW
};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned available;   /* 1 << cap for each, of processor and build */
static la_cap best, chosen;
static char note[160];
static size_t caches[4];
static pthread_once_t extensions_once = PTHREAD_ONCE_INIT;
static unsigned allowed;        /* extensions, by LUNARRAY_CPU */
static atomic_uint extensions;  /* of this machine and not refused */

#ifdef LA_X86
static bool has_f16c(void)  /* clang's cpu_supports does not know the word */
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

/* The builtins also ask whether the system saves the wide registers. */
static bool cpu_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
        && __builtin_cpu_supports("bmi2") && has_f16c();
}

static bool cpu_has_avx512(void)
{
    return cpu_has_avx2() && __builtin_cpu_supports("avx512f")
        && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512cd");
}
#endif
static bool cpu_has_default(void) { return true; }

/* 1 << cap for each capability of the processor. */
static unsigned detect(void)
{
    unsigned set = 0;
#ifdef LA_X86
    __builtin_cpu_init();
#endif
#define LA_CAP_ROW(name, arg) if (cpu_has_##name()) set |= 1u << LA_CAP_##name;
    LA_CAPS(LA_CAP_ROW, )
#undef LA_CAP_ROW
    return set;
}

/* The capability that LUNARRAY_CPU asks for, at most 'top'. */
static la_cap lowered(la_cap top)
{
    const char *word = getenv("LUNARRAY_CPU");
    bool here = false;
    if (!word || !*word) return top;
    if (la_extension_named(word, &here)) {
        if (!here || (int)top < LA_NCAPS - 1)
            snprintf(note, sizeof note, "LUNARRAY_CPU=%s is not available here",
                     word);
        return top;
    }
    for (int c = 0; c < LA_NCAPS; c++) {
        if (!la_same_word(word, cap_names[c])) continue;
        if (available >> c & 1) return (la_cap)c;
        snprintf(note, sizeof note, "LUNARRAY_CPU=%s is not available here",
                 word);
        return top;
    }
    snprintf(note, sizeof note, "LUNARRAY_CPU: the word is not known"
             " (default, avx2, avx512, avx512_vnni, avx512_bf16, amx)");
    return top;
}

static void find_caches(void)
{
    static const size_t guess[4] = {0, 32 << 10, 512 << 10, 8 << 20};
    for (int level = 1; level <= 3; level++) {
        size_t size = la_os_cache_bytes(level);
        caches[level] = size ? size : guess[level];
    }
}

static void cpu_decide(void)
{
    available = detect() & LA_CAPS_BUILT;
    for (int c = 0; c < LA_NCAPS; c++)
        if (available >> c & 1) best = (la_cap)c;
    chosen = lowered(best);
    find_caches();
}

la_cap la_cpu_cap_slow(void)
{
    pthread_once(&once, cpu_decide);
    atomic_store_explicit(&la_cpu_cap_known, (int)chosen,
                          memory_order_relaxed);
    return chosen;
}

atomic_int la_cpu_cap_known = -1;
_Thread_local unsigned la_cap_mask = ~0u;

la_cap la_cpu_best_cap(void)
{
    pthread_once(&once, cpu_decide);
    return best;
}

bool la_cpu_has_cap(la_cap cap)
{
    pthread_once(&once, cpu_decide);
    return available >> cap & 1;
}

const char *la_cpu_missing(void)
{
    pthread_once(&once, cpu_decide);
    return available ? NULL : cap_names[__builtin_ctz(LA_CAPS_BUILT)];
}

const char *la_cap_name(la_cap cap)
{
    return cap < LA_NCAPS ? cap_names[cap] : "unknown";
}

const char *la_cpu_note(void)
{
    pthread_once(&once, cpu_decide);
    return note;
}

static void set_note(const char *why)
{
    pthread_once(&once, cpu_decide);
    snprintf(note, sizeof note, "%s", why);
}

size_t la_cpu_cache(int level)
{
    pthread_once(&once, cpu_decide);
    return level >= 1 && level <= 3 ? caches[level] : 0;
}

/* ---- ISA extensions ---- */

/* Does the system save the tiles of this process' threads? */
static bool tiles_granted(void)
{
#ifdef __x86_64__
    enum { XTILECFG = 17, XTILEDATA = 18 };
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if (!(low >> XTILECFG & 1) || !(low >> XTILEDATA & 1)) return false;
    return la_os_grants_tiles();
#else
    return false;
#endif
}

/* A level by its name: none; an extension: it and those before; else all. */
static unsigned allowed_by(const char *word)
{
    if (!word) return ~0u;
    if (la_extensions_up_to(word)) return la_extensions_up_to(word);
    for (int c = 0; c < LA_NCAPS; c++)
        if (la_same_word(word, la_cap_name((la_cap)c))) return 0;
    return ~0u;
}

static void decide_extensions(void)
{
    allowed = allowed_by(getenv("LUNARRAY_CPU"));
    /* they complete the highest capability */
    if (la_cpu_best_cap() == LA_NCAPS - 1) extensions = la_extensions_here();
    if ((extensions & allowed & LA_EXTENSIONS_OF_AMX) && !tiles_granted())
        la_cpu_refuse_extensions(LA_EXTENSIONS_OF_AMX,
                             "the system does not grant the AMX tiles");
}

unsigned la_cpu_best_extensions(void)
{
    pthread_once(&extensions_once, decide_extensions);
    return extensions;
}

unsigned la_cpu_extensions(void) { return la_cpu_best_extensions() & allowed; }

void la_cpu_refuse_extensions(unsigned set, const char *why)
{
    extensions &= ~set;
    set_note(why);
}
