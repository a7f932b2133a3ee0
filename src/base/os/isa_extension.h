/*
** ISA extensions: single tables of kernels for processors with more than
** AVX512. All that the machine has are in use, unless LUNARRAY_CPU names a
** level (then none) or an extension (then that one and those before it).
*/
#ifndef LA_BASE_OS_ISA_EXTENSION_H
#define LA_BASE_OS_ISA_EXTENSION_H

#include <stdbool.h>

typedef enum la_extension {
    LA_EXTENSION_AVX512_BF16,  /* dot products of pairs of bfloat16 */
    LA_EXTENSION_AMX,          /* tiles: products of bfloat16 */
    LA_EXTENSION_AMX_FP16,     /* and of float16; LUNARRAY_CPU=amx is both */
    LA_NEXTENSIONS
} la_extension;
#define LA_EXTENSIONS_OF_AMX \
    (1u << LA_EXTENSION_AMX | 1u << LA_EXTENSION_AMX_FP16)

/* The set of extensions in use, 1 << extension for each. The first call asks
** the system for the tiles, so it waits until somebody wants to multiply or to
** know: threads of a process that may use them have larger signal frames. */
unsigned la_cpu_extensions(void);
unsigned la_cpu_best_extensions(void);     /* without what LUNARRAY_CPU says */
/* Extensions that failed their first use are not used, and la_cpu_note says
** so. */
void la_cpu_refuse_extensions(unsigned set, const char *why);
const char *la_extension_name(la_extension);

/* Is this the name of an extension? Then *here says whether the processor has
** it. Used by cpu.c. */
bool la_extension_named(const char *word, bool *here);
/* Sets the text of la_cpu_note. Used by isa_extension.c. */
void la_cpu_set_note(const char *why);

#endif
