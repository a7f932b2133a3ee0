/*
** Products of float32, of complex64 (as real products of twice the rows and
** columns) and of the 16-bit floats (packed as float32, summed in float32). The
** tile is 14 x 2 vectors with AVX512 (28 of 32 registers), 6 x 2 otherwise (12
** of 16); LANES is the number of partial sums of a dot product, one for every
** capability.
*/
#include "base/scratch.h"
#include "kernel/matmul/muladd.h"
#include "simd/complex_lanes.h"

/* complex64 in memory and in panels; 4 x 4 of them are transposed as 64-bit
** lanes */
#define NAME(x) x##_elem64
#define ELEM _Complex float
#define A_WIDTH (VEC_BYTES == 64 ? 7 : 3)
#define B_WIDTH F32_LANES
#if VEC_BYTES >= 32
typedef int64_t complex_vec __attribute__((vector_size(32)));
#define TRANSPOSE 4
#define TRANSPOSE_VEC complex_vec
#if VEC_BYTES == 64
typedef int64_t complex_wide_vec __attribute__((vector_size(64)));
#define WIDE_VEC complex_wide_vec
#define JOIN_VECS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#endif
#else
#define TRANSPOSE 0
#endif
#include "kernel/matmul/gemm_pack.inc"
#if TRANSPOSE
#include "kernel/matmul/transpose4.inc"
#endif
#undef NAME
#undef ELEM
#undef TRANSPOSE
#undef TRANSPOSE_VEC
#undef WIDE_VEC
#undef JOIN_VECS

#define ELEM float
#define KC LA_GEMM_KC
#define VEC f32v
#define VL F32_LANES
#define NR (2 * VL)
#define FMA f32_fma
#define MULADD f32_muladd1
#define SIDE 3
#define LANES 32
#if VEC_BYTES == 64
#define MR 14
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) \
    ROW(10) ROW(11) ROW(12) ROW(13) ROW(14)
#else
#define MR 6
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6)
#endif
#if VEC_BYTES >= 32
typedef float row_vec __attribute__((vector_size(32)));
#define TRANSPOSE 8
#define TRANSPOSE_VEC row_vec
#if VEC_BYTES == 64
typedef float row_wide_vec __attribute__((vector_size(64)));
#define WIDE_VEC row_wide_vec
#define JOIN_VECS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, \
    8, 9, 10, 11, 12, 13, 14, 15)
#endif
#else
#define TRANSPOSE 0
#endif

#define NAME(x) x##_f32
#define UNPACKED 1
#define LOAD_N f32_load_n
#define STORE_N f32_store_n
#include "kernel/matmul/gemm_tile.inc"
#define A_WIDTH MR
#define B_WIDTH NR
#include "kernel/matmul/gemm_pack.inc"

#if TRANSPOSE
#define EIGHT(x) x##_f32
#define EIGHT_VEC row_vec
#define EIGHT_LANES 8
#include "kernel/matmul/transpose8.inc"
#ifdef JOIN_VECS
#define EIGHT(x) x##_wide_f32
#define EIGHT_VEC row_wide_vec
#define EIGHT_LANES 16
#include "kernel/matmul/transpose8.inc"
#endif
#endif

#define OUT float
#define SAME 1
#define SCALAR(n) ((float)(n).re)
#define LOAD(d, s, n) memcpy(d, s, (size_t)(n) * 4)
#define SAVE(d, s, n) memcpy(d, s, (size_t)(n) * 4)
#define LOAD1(x) (x)
#define SAVE1(x) (x)
#include "kernel/matmul/gemm_epilogue.inc"
#include "kernel/matmul/gemm_block.inc"
#define SUMS(x) x##_f32
#define TAKE f32_load
#define TAKE_N f32_load_n
#define PARTS 0
#include "kernel/matmul/gemv.inc"
#undef UNPACKED
#undef SAME
#undef NAME
#undef OUT
#undef TAKE
#undef TAKE_N
#undef PARTS
#undef LOAD
#undef SAVE
#undef LOAD1
#undef SAVE1

const la_gemm_kernels LA_KERNEL(gemm_f32) = {
    MR, NR, 4, KC, false, pack_a_f32, pack_b_f32, block_f32, small_f32,
    dot_f32, axpy_f32, NULL, 0
};

/* ---- complex64 ---- */
#define PLAIN(x) x##_f32
#define PACKED(x) x##_elem64
#define NAME(x) x##_c64
#define SWAP f32_cswap
#include "kernel/matmul/gemm_complex.inc"
#undef NAME

const la_gemm_kernels LA_KERNEL(gemm_c64) = {
    MR / 2, NR / 2, 8, KC, false, pack_a_c64, pack_b_c64, block_c64, NULL,
    dot_c64, axpy_c64, NULL, 0
};

/* ---- 16-bit floats ---- */
#define SAME 0
#define PARTS 1

#define NAME(x) x##_f16
#define OUT la_f16
#define WIDEN f16_load
#define WIDEN_N f16_load_n
#define WIDEN_RUN f16_to_floats
#define NARROW_RUN f16_from_floats
#define LOAD1(x) la_f16_to_f32(x)
#define SAVE1(x) la_f32_to_f16(x)
#include "kernel/matmul/gemm_half.inc"
const la_gemm_kernels LA_KERNEL(gemm_f16) = {
    MR, NR, 4, KC, true, pack_a_f16, pack_b_f16, block_f16, NULL, dot_f16,
    axpy_f16, NULL, 0
};

#define NAME(x) x##_bf16
#define OUT la_bf16
#define WIDEN bf16_load
#define WIDEN_N bf16_load_n
#define WIDEN_RUN bf16_to_floats
#define NARROW_RUN bf16_from_floats
#define LOAD1(x) la_bf16_to_f32(x)
#define SAVE1(x) la_f32_to_bf16(x)
#include "kernel/matmul/gemm_half.inc"
const la_gemm_kernels LA_KERNEL(gemm_bf16) = {
    MR, NR, 4, KC, true, pack_a_bf16, pack_b_bf16, block_bf16, NULL, dot_bf16,
    axpy_bf16, NULL, 0
};
