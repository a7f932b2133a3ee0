/*
** The contract of kernels.
**
** A kernel gets pointers, byte strides, counts and constants. It never sees a
** tensor, allocates, fails or calls up. Each source in this folder is compiled
** once per CPU capability with LA_CAP set to default, avx2 or avx512 (those in
** a leaf's folder for it alone); an object exports only tables, by LA_KERNEL.
**
** Element-wise kernels are loops over two dims: data[k] is operand k (outputs
** first), strides[k] its byte step along the inner dim (count n0) and
** strides[noperands + k] along the outer dim (count n1). They must give the
** same bits for an element whatever the strides, its position and the counts.
** Their 'params' is NULL or a la_params.
*/
#ifndef LA_KERNEL_KERNEL_H
#define LA_KERNEL_KERNEL_H

#include "base/cpu.h"
#include "base/dtype.h"
#include "base/scalar.h"

#define LA_MAX_PARAMS 6
/* The numbers of a call, in the order of its schema (alpha, min, max, ...). */
typedef struct la_params {
    la_scalar v[LA_MAX_PARAMS];
    bool stream;   /* the output is larger than the caches: write past them */
} la_params;

typedef void (*la_loop)(char **data, const int64_t *strides, int64_t n0,
                        int64_t n1, const void *params);

/* One loop per dtype of the computation; NULL where there is none. */
typedef la_loop la_loops[LA_NDTYPES];

#define LA_CAT_(a, b, c, d) a##b##c##d
#define LA_CAT(a, b, c, d) LA_CAT_(a, b, c, d)
/* In a kernel source: the symbol of table 'name' for this capability. */
#define LA_KERNEL(name) LA_CAT(la_, LA_CAP, _, name)

/* Above the kernels: a stub is the three tables of one kernel. The choice is
** made by la_cpu_cap() when it is called. */
#define LA_STUB_DECLARE(type, name) \
    extern const type la_default_##name, la_avx2_##name, la_avx512_##name
#define LA_STUB(name) \
    ((la_cpu_cap() == LA_CAP_AVX512) ? &la_avx512_##name \
     : (la_cpu_cap() == LA_CAP_AVX2) ? &la_avx2_##name : &la_default_##name)

#endif
