/*
** im2col and col2im: windows of an image as columns, and columns added back
** into an image; for convolutions of dtypes without a direct kernel, and for
** unfold and fold. The table 'columns' of conv.h.
*/
#include "kernel/conv/conv.h"
#include "kernel/matmul/muladd.h"

typedef struct { float re, im; } complex64;
typedef struct { double re, im; } complex128;

/* ADD for each dtype, rounded as the dtype is; bool takes or. */
ALWAYS la_f16 add_f16(la_f16 a, la_f16 b)
{
    return la_f32_to_f16(la_f16_to_f32(a) + la_f16_to_f32(b));
}
ALWAYS la_bf16 add_bf16(la_bf16 a, la_bf16 b)
{
    return la_f32_to_bf16(la_bf16_to_f32(a) + la_bf16_to_f32(b));
}
ALWAYS complex64 add_c64(complex64 a, complex64 b)
{
    return (complex64){a.re + b.re, a.im + b.im};
}
ALWAYS complex128 add_c128(complex128 a, complex128 b)
{
    return (complex128){a.re + b.re, a.im + b.im};
}
ALWAYS uint8_t add_bool(uint8_t a, uint8_t b) { return a | b; }
ALWAYS la_c32 add_c32(la_c32 a, la_c32 b)
{
    return (la_c32){add_f16(a.re, b.re), add_f16(a.im, b.im)};
}

#define ELEM uint8_t
#define NAME(x) x##_u8
#include "kernel/conv/im2col.inc"
#define ELEM uint16_t
#define NAME(x) x##_u16
#include "kernel/conv/im2col.inc"
#define ELEM uint32_t
#define NAME(x) x##_u32
#include "kernel/conv/im2col.inc"
#define ELEM uint64_t
#define NAME(x) x##_u64
#include "kernel/conv/im2col.inc"
#define ELEM float
#define NAME(x) x##_f32
#include "kernel/conv/im2col.inc"
#define ELEM double
#define NAME(x) x##_f64
#include "kernel/conv/im2col.inc"

#define ADD add_f16
#define ELEM la_f16
#define NAME(x) x##_f16
#include "kernel/conv/im2col.inc"
#define ADD add_bf16
#define ELEM la_bf16
#define NAME(x) x##_bf16
#include "kernel/conv/im2col.inc"
#define ADD add_c64
#define ELEM complex64
#define NAME(x) x##_c64
#include "kernel/conv/im2col.inc"
#define ADD add_c128
#define ELEM complex128
#define NAME(x) x##_c128
#include "kernel/conv/im2col.inc"
#define ADD add_c32
#define ELEM la_c32
#define NAME(x) x##_c32
#include "kernel/conv/im2col.inc"
#define ADD add_bool
#define ELEM uint8_t
#define NAME(x) x##_bool
#include "kernel/conv/im2col.inc"

const la_column_table LA_KERNEL(columns) = {
    [LA_BOOL] = {gather_bool, scatter_bool},
    [LA_UINT8] = {gather_u8, scatter_u8}, [LA_INT8] = {gather_u8, scatter_u8},
    [LA_UINT16] = {gather_u16, scatter_u16},
    [LA_INT16] = {gather_u16, scatter_u16},
    [LA_UINT32] = {gather_u32, scatter_u32},
    [LA_INT32] = {gather_u32, scatter_u32},
    [LA_UINT64] = {gather_u64, scatter_u64},
    [LA_INT64] = {gather_u64, scatter_u64},
    [LA_FLOAT16] = {gather_f16, scatter_f16},
    [LA_BFLOAT16] = {gather_bf16, scatter_bf16},
    [LA_FLOAT32] = {gather_f32, scatter_f32},
    [LA_FLOAT64] = {gather_f64, scatter_f64},
    [LA_COMPLEX32] = {gather_c32, scatter_c32},
    [LA_COMPLEX64] = {gather_c64, scatter_c64},
    [LA_COMPLEX128] = {gather_c128, scatter_c128}
};
