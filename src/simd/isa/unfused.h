/*
** SIMD_UNFUSED: an attribute of functions with scalar complex products.
**
** gcc 12 makes fused multiply-addsub of neighbouring sums and differences even
** with contraction off when it vectorises; results would then differ between
** capabilities, and between elements that lie differently. Such functions are
** not vectorised.
*/
#ifndef LA_SIMD_ISA_UNFUSED_H
#define LA_SIMD_ISA_UNFUSED_H

#if defined(__GNUC__) && !defined(__clang__)
#define SIMD_UNFUSED __attribute__((optimize("no-tree-vectorize")))
#else
#define SIMD_UNFUSED
#endif

#endif
