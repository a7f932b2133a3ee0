/* bfloat16 by TDPBF16PS; see gemm_tiles.inc. */
#include "kernel/matmul/muladd.h"
#include "simd/permute/transpose.h"
#include "simd/isa/tiles.h"

#ifdef TILES
#define IS_BF16 1
#define DOT tile_dot_bf16
#include "kernel/amx/gemm_tiles.inc"

const la_gemm_kernels LA_KERNEL(gemm_bf16) = {
    .mr = MR, .nr = NR, .packed_size = 2, .kc = KC, .has_part = true,
    .pack_a = pack_a, .pack_b = pack_b, .block = block,
    .mistakes = mistakes_bf16, .k_unit = DEEP
};
#else
const la_gemm_kernels LA_KERNEL(gemm_bf16) = {0};
#endif
