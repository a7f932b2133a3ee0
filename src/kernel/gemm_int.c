/*
** Products of integers, modulo 2^bits: signed types use the unsigned ones.
*/
#include "kernel/gemm_parts.h"

#define MR 4
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4)
#define TURN 0
#define FMA(a, b, c) ((VEC)((a) * (b) + (c)))
/* Unsigned: the product of two uint16_t would overflow an int. */
#define MULADD(a, b, c) ((ELEM)((ELEM)(a) * 1u * (b) + (c)))
#define ACT(act, v, n) int_act(act)
#define SAME 1
#define NUMBER(n) ((ELEM)(n).i)
#define LOAD(d, s, n) memcpy(d, s, (size_t)(n) * sizeof(ELEM))
#define SAVE(d, s, n) memcpy(d, s, (size_t)(n) * sizeof(ELEM))
#define LOAD1(x) (x)
#define SAVE1(x) (x)

ALWAYS void int_act(la_gemm_act act) { (void)act; }  /* floats only */

typedef uint8_t u8v VEC_;
typedef uint16_t u16v VEC_;

#define NAME(x) x##_u8
#define ELEM uint8_t
#define VEC u8v
#include "kernel/gemm_int.inc"
const la_gemm_kernels LA_KERNEL(gemm_u8) = {
    MR, 2 * VEC_BYTES, 1, LA_GEMM_KC, false, pack_a_u8, pack_b_u8,
    block_u8, NULL, NULL, NULL
};
#undef NAME
#undef ELEM
#undef VEC

#define NAME(x) x##_u16
#define ELEM uint16_t
#define VEC u16v
#include "kernel/gemm_int.inc"
const la_gemm_kernels LA_KERNEL(gemm_u16) = {
    MR, VEC_BYTES, 2, LA_GEMM_KC, false, pack_a_u16, pack_b_u16,
    block_u16, NULL, NULL, NULL
};
#undef NAME
#undef ELEM
#undef VEC

#define NAME(x) x##_u32
#define ELEM uint32_t
#define VEC u32v
#include "kernel/gemm_int.inc"
const la_gemm_kernels LA_KERNEL(gemm_u32) = {
    MR, VEC_BYTES / 2, 4, LA_GEMM_KC, false, pack_a_u32, pack_b_u32,
    block_u32, NULL, NULL, NULL
};
#undef NAME
#undef ELEM
#undef VEC

#define NAME(x) x##_u64
#define ELEM uint64_t
#define VEC u64v
#include "kernel/gemm_int.inc"
const la_gemm_kernels LA_KERNEL(gemm_u64) = {
    MR, VEC_BYTES / 4, 8, LA_GEMM_KC, false, pack_a_u64, pack_b_u64,
    block_u64, NULL, NULL, NULL
};
