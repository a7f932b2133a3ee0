/*
** Complex numbers of kernels, element by element: two plain fields, formulas
** written out (C's own operators call library functions that recover
** infinities, which PyTorch does not). Vectors of them are in simd/complex.h.
*/
#ifndef LA_KERNEL_POINTWISE_COMPLEX_H
#define LA_KERNEL_POINTWISE_COMPLEX_H

#include "kernel/each/drive.h"

/* gcc 12 makes fused multiply-addsub of neighbouring sums and differences even
** with contraction off when it vectorises; results would then differ between
** capabilities. Cores of scalar complex formulas are not vectorised. */
#if defined(__GNUC__) && !defined(__clang__)
#define CORE_UNFUSED __attribute__((optimize("no-tree-vectorize")))
#else
#define CORE_UNFUSED
#endif

#define CX c64
#define PART float
#define CXF(name) c64_##name
#define PARTF(name) name##f
#include "kernel/pointwise/complex.inc"
#define CX c128
#define PART double
#define CXF(name) c128_##name
#define PARTF(name) name
#include "kernel/pointwise/complex.inc"

#endif
