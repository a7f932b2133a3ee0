/* Which ISA extensions the processor has, and their names. */
#include "base/os/isa_extension.h"

#include "base/ascii.h"

#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

static const char *const names[LA_NEXTENSIONS] = {
    "avx512_vnni", "avx512_bf16", "amx", "amx_fp16"};

/* Bits are given by number: compilers know the words only since lately. */
unsigned la_extensions_here(void)
{
    unsigned set = 0;
#ifdef __x86_64__
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    bool tiles = (d >> 22 & 1) && (d >> 24 & 1);  /* AMX-BF16, AMX-TILE */
    if (c >> 11 & 1) set = 1u << LA_EXTENSION_AVX512_VNNI;
    if (a < 1 || !__get_cpuid_count(7, 1, &a, &b, &c, &d)) return set;
    if (!(a >> 5 & 1)) return set;
    set |= 1u << LA_EXTENSION_AVX512_BF16;
    if (tiles) set |= 1u << LA_EXTENSION_AMX;
    if (tiles && (a >> 21 & 1)) set |= 1u << LA_EXTENSION_AMX_FP16;
#endif
    return set;
}

bool la_extension_named(const char *word, bool *here)
{
    for (int l = 0; l <= LA_EXTENSION_AMX; l++) {
        if (!la_same_word(word, names[l])) continue;
        *here = la_extensions_here() >> l & 1;
        return true;
    }
    return false;
}

unsigned la_extensions_up_to(const char *word)
{
    for (int l = 0; l < LA_EXTENSION_AMX; l++)
        if (la_same_word(word, names[l])) return (2u << l) - 1;
    return la_same_word(word, names[LA_EXTENSION_AMX]) ? ~0u : 0;
}

const char *la_extension_name(la_extension ext)
{
    return ext < LA_NEXTENSIONS ? names[ext] : "unknown";
}
