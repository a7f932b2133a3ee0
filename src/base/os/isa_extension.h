/*
** ISA extensions: single tables of kernels for processors with more than
** AVX512. All that the machine has are in use, unless LUNARRAY_CPU names a
** level (then none) or an extension (then that one and those before it).
*/
#ifndef LA_BASE_OS_ISA_EXTENSION_H
#define LA_BASE_OS_ISA_EXTENSION_H

#include <stdbool.h>

typedef enum la_extension {
    LA_EXTENSION_AVX512_VNNI,  /* dot products of quads of bytes */
    LA_EXTENSION_AVX512_BF16,  /* dot products of pairs of bfloat16 */
    LA_EXTENSION_AMX,          /* tiles: products of bfloat16 */
    LA_EXTENSION_AMX_FP16,     /* and of float16; LUNARRAY_CPU=amx is both */
    LA_NEXTENSIONS
} la_extension;
#define LA_EXTENSIONS_OF_AMX \
    (1u << LA_EXTENSION_AMX | 1u << LA_EXTENSION_AMX_FP16)

const char *la_extension_name(la_extension);

/* Those of the processor, 1 << extension for each; the system may refuse
** them. */
unsigned la_extensions_here(void);
/* Is this the name of an extension? Then *here says whether the processor has
** it. */
bool la_extension_named(const char *word, bool *here);
/* The extension of this name and those before it; 0 for none. */
unsigned la_extensions_up_to(const char *word);

#endif
