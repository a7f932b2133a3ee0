/* Which leaves may run: asked once, lowered by LUNARRAY_CPU. */
#include "base/os/isa_extension.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/cpu.h"
#include "base/os/os.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

static const char *const names[LA_NEXTENSIONS] = {"avx512_bf16", "amx",
                                              "amx_fp16"};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned allowed;     /* by LUNARRAY_CPU */
static atomic_uint leaves;   /* of this machine and not refused */

/* Bits are given by number: compilers know the words only since lately. */
static unsigned detect(void)
{
    unsigned set = 0;
#ifdef __x86_64__
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    bool tiles = (d >> 22 & 1) && (d >> 24 & 1);  /* AMX-BF16, AMX-TILE */
    if (a < 1 || !__get_cpuid_count(7, 1, &a, &b, &c, &d)) return 0;
    if (a >> 5 & 1) set = 1u << LA_EXTENSION_AVX512_BF16;
    if (set && tiles) set |= 1u << LA_EXTENSION_AMX;
    if (set && tiles && (a >> 21 & 1)) set |= 1u << LA_EXTENSION_AMX_FP16;
#endif
    return set;
}

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

bool la_extension_named(const char *word, bool *here)
{
    for (int l = 0; l <= LA_EXTENSION_AMX; l++) {
        if (strcmp(word, names[l])) continue;
        *here = detect() >> l & 1;
        return true;
    }
    return false;
}

/* A level by its name: none; an extension: it and those before; else all. */
static unsigned allowed_by(const char *word)
{
    bool here;
    if (!word) return ~0u;
    if (strcmp(word, names[LA_EXTENSION_AVX512_BF16]) == 0)
        return 1u << LA_EXTENSION_AVX512_BF16;
    if (la_extension_named(word, &here)) return ~0u;
    for (int c = 0; c < LA_NCAPS; c++)
        if (strcmp(word, la_cap_name((la_cap)c)) == 0) return 0;
    return ~0u;
}

static void decide(void)
{
    allowed = allowed_by(getenv("LUNARRAY_CPU"));
    /* they complete the highest capability */
    if (la_cpu_best_cap() == LA_NCAPS - 1) leaves = detect();
    if ((leaves & allowed & LA_EXTENSIONS_OF_AMX) && !tiles_granted())
        la_cpu_refuse_extensions(LA_EXTENSIONS_OF_AMX,
                             "the system does not grant the AMX tiles");
}

unsigned la_cpu_best_extensions(void)
{
    pthread_once(&once, decide);
    return leaves;
}

unsigned la_cpu_extensions(void) { return la_cpu_best_extensions() & allowed; }

void la_cpu_refuse_extensions(unsigned set, const char *why)
{
    leaves &= ~set;
    la_cpu_set_note(why);
}

const char *la_extension_name(la_extension ext)
{
    return ext < LA_NEXTENSIONS ? names[ext] : "unknown";
}
