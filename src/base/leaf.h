/*
** Leaves: single tables of kernels for processors with more than AVX512. All
** that the machine has are in use, unless LUNARRAY_CPU names a level (then none)
** or a leaf (then that one and those before it).
*/
#ifndef LA_BASE_LEAF_H
#define LA_BASE_LEAF_H

#include <stdbool.h>

typedef enum la_leaf {
    LA_LEAF_AVX512_BF16,  /* dot products of pairs of bfloat16 */
    LA_LEAF_AMX,          /* tiles: products of bfloat16 */
    LA_LEAF_AMX_FP16,     /* and of float16; LUNARRAY_CPU says amx for both */
    LA_NLEAVES
} la_leaf;
#define LA_LEAVES_OF_AMX (1u << LA_LEAF_AMX | 1u << LA_LEAF_AMX_FP16)

/* The set of leaves in use, 1 << leaf for each. The first call asks the system
** for the tiles, so it waits until somebody wants to multiply or to know:
** threads of a process that may use them have larger signal frames. */
unsigned la_cpu_leaves(void);
unsigned la_cpu_best_leaves(void);     /* without what LUNARRAY_CPU says */
/* What turned out not to work is not used, and la_cpu_note says so. */
void la_cpu_refuse_leaves(unsigned set, const char *why);
const char *la_leaf_name(la_leaf);

/* For cpu.c: is this the name of a leaf, and does the processor have it? */
bool la_leaf_named(const char *word, bool *here);
/* For leaf.c: what la_cpu_note will say. */
void la_cpu_set_note(const char *why);

#endif
