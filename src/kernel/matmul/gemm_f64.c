/*
** Products of float64 and of complex128 (as real products of twice the rows and
** columns); the tile is that of gemm_f32.c.
*/
#include "base/scratch.h"
#include "kernel/matmul/muladd.h"
#include "simd/complex_lanes.h"

#define NAME(x) x##_elem128
#define ELEM _Complex double
#define A_WIDTH (VEC_BYTES == 64 ? 7 : 3)
#define B_WIDTH F64_LANES
#define TRANSPOSE 0
#include "kernel/matmul/gemm_pack.inc"
#undef NAME
#undef ELEM
#undef TRANSPOSE

#define ELEM double
#define KC LA_GEMM_KC_F64
#define VEC f64v
#define VL F64_LANES
#define NR (2 * VL)
#define FMA f64_fma
#define MULADD f64_muladd1
#define SIDE 3
#define LANES 16
#if VEC_BYTES == 64
#define MR 14
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) \
    ROW(10) ROW(11) ROW(12) ROW(13) ROW(14)
#else
#define MR 6
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6)
#endif
#if VEC_BYTES >= 32
typedef double row_vec __attribute__((vector_size(32)));
#define TRANSPOSE 4
#define TRANSPOSE_VEC row_vec
#if VEC_BYTES == 64
typedef double row_wide_vec __attribute__((vector_size(64)));
#define WIDE_VEC row_wide_vec
#define JOIN_VECS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#endif
#else
#define TRANSPOSE 0
#endif

#define NAME(x) x##_f64
#define UNPACKED 1
#define LOAD_N f64_load_n
#define STORE_N f64_store_n
#include "kernel/matmul/gemm_tile.inc"
#define A_WIDTH MR
#define B_WIDTH NR
#include "kernel/matmul/gemm_pack.inc"

#if TRANSPOSE
#include "kernel/matmul/transpose4.inc"
#endif

#define OUT double
#define SAME 1
#define SCALAR(n) ((n).re)
#define LOAD(d, s, n) memcpy(d, s, (size_t)(n) * 8)
#define SAVE(d, s, n) memcpy(d, s, (size_t)(n) * 8)
#define LOAD1(x) (x)
#define SAVE1(x) (x)
#include "kernel/matmul/gemm_epilogue.inc"
#include "kernel/matmul/gemm_block.inc"
#define SUMS(x) x##_f64
#define TAKE f64_load
#define TAKE_N f64_load_n
#define PARTS 0
#include "kernel/matmul/gemv.inc"
#undef NAME

const la_gemm_kernels LA_KERNEL(gemm_f64) = {
    MR, NR, 8, KC, false, pack_a_f64, pack_b_f64, block_f64, small_f64,
    dot_f64, axpy_f64, NULL, 0
};

#define PLAIN(x) x##_f64
#define PACKED(x) x##_elem128
#define NAME(x) x##_c128
#define SWAP f64_cswap
#include "kernel/matmul/gemm_complex.inc"

const la_gemm_kernels LA_KERNEL(gemm_c128) = {
    MR / 2, NR / 2, 16, KC, false, pack_a_c128, pack_b_c128, block_c128, NULL,
    dot_c128, axpy_c128, NULL, 0
};
