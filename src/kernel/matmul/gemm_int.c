/*
** Products of integers, modulo 2^bits: signed dtypes use the tables of the
** unsigned ones, as two's complement makes no difference to sums and products.
*/
#include "base/scratch.h"
#include "kernel/matmul/muladd.h"

#define MR 4
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4)
#define TRANSPOSE 0
#define PARTS 0
#define SIDE 2
#define KC LA_GEMM_KC
/* Unsigned: the product of two uint16_t would overflow an int. */
#define MULADD(a, b, c) ((ELEM)((ELEM)(a) * 1u * (b) + (c)))
#define SAME 1
#define SCALAR(n) ((ELEM)(n).i)
#define LOAD(d, s, n) memcpy(d, s, (size_t)(n) * sizeof(ELEM))
#define SAVE(d, s, n) memcpy(d, s, (size_t)(n) * sizeof(ELEM))
#define LOAD1(x) (x)
#define SAVE1(x) (x)

typedef uint8_t u8v VEC_;
typedef uint16_t u16v VEC_;

/* There is no multiplication of bytes: the lower and the upper byte of a 16-bit
** lane are multiplied by themselves. */
ALWAYS u8v u8_muladd(u8v a, u8v b, u8v c)
{
    u16v x = (u16v)a, y = (u16v)b;
    u16v low = x * y, high = (x >> 8) * (y & 0xff00);
    return (u8v)((low & 0xff) | high) + c;
}

#define NAME(x) x##_u8
#define ELEM uint8_t
#define VEC u8v
#define FMA u8_muladd
#include "kernel/matmul/gemm_int.inc"
#define NAME(x) x##_u16
#define ELEM uint16_t
#define VEC u16v
#define FMA(a, b, c) ((VEC)((a) * (b) + (c)))
#include "kernel/matmul/gemm_int.inc"
#define NAME(x) x##_u32
#define ELEM uint32_t
#define VEC u32v
#define FMA(a, b, c) ((VEC)((a) * (b) + (c)))
#include "kernel/matmul/gemm_int.inc"
#define NAME(x) x##_u64
#define ELEM uint64_t
#define VEC u64v
#define FMA(a, b, c) ((VEC)((a) * (b) + (c)))
#include "kernel/matmul/gemm_int.inc"

#define INT_KERNELS(type, bytes) { \
    MR, 2 * VEC_BYTES / bytes, bytes, KC, false, pack_a_##type, \
    pack_b_##type, block_##type, NULL, dot_##type, axpy_##type, \
    NULL, 0}
const la_gemm_kernels LA_KERNEL(gemm_u8) = INT_KERNELS(u8, 1);
const la_gemm_kernels LA_KERNEL(gemm_u16) = INT_KERNELS(u16, 2);
const la_gemm_kernels LA_KERNEL(gemm_u32) = INT_KERNELS(u32, 4);
const la_gemm_kernels LA_KERNEL(gemm_u64) = INT_KERNELS(u64, 8);
