/*
** cummax and cummin: of equal elements the last one counts, as in PyTorch. NaN
** is an extreme of both kinds.
**
** A minimum is the maximum of the elements with other bits: all of an integer,
** the sign of a float. So there is one set of loops for each width and for each
** kind of floats, and bits to invert for each operation and dtype.
*/
#include "kernel/reduce/load.h"
#include "kernel/scan/scan.h"

#define ID w1
#define T uint8_t
#define A int8_t
#define DECODE(t) ((int8_t)(t))
#define ISNAN(x) 0
#include "kernel/scan/extreme.inc"

/* Bools by their truth, which more than one byte may have. */
#define ID some
#define T uint8_t
#define A int8_t
#define DECODE(t) ((t) != 0)
#define ISNAN(x) 0
#include "kernel/scan/extreme.inc"

#define ID none
#define T uint8_t
#define A int8_t
#define DECODE(t) ((t) == 0)
#define ISNAN(x) 0
#include "kernel/scan/extreme.inc"

#define ID w2
#define T uint16_t
#define A int16_t
#define DECODE(t) ((int16_t)(t))
#define ISNAN(x) 0
#include "kernel/scan/extreme.inc"

#define ID w4
#define T uint32_t
#define A int32_t
#define DECODE(t) ((int32_t)(t))
#define ISNAN(x) 0
#include "kernel/scan/extreme.inc"

#define ID w8
#define T uint64_t
#define A int64_t
#define DECODE(t) ((int64_t)(t))
#define ISNAN(x) 0
#include "kernel/scan/extreme.inc"

/* 16-bit floats are compared as float, exactly; what is stored are the elements
** themselves, so a NaN keeps its bits. */
#define ID f16
#define T uint16_t
#define A float
#define DECODE(t) reduce_load_f16((const char *)&(T){t})
#define ISNAN(x) ((x) != (x))
#include "kernel/scan/extreme.inc"

#define ID bf16
#define T uint16_t
#define A float
#define DECODE(t) reduce_load_bf16((const char *)&(T){t})
#define ISNAN(x) ((x) != (x))
#include "kernel/scan/extreme.inc"

#define ID f32
#define T uint32_t
#define A float
#define DECODE(t) reduce_load_f32((const char *)&(T){t})
#define ISNAN(x) ((x) != (x))
#include "kernel/scan/extreme.inc"

#define ID f64
#define T uint64_t
#define A double
#define DECODE(t) reduce_load_f64((const char *)&(T){t})
#define ISNAN(x) ((x) != (x))
#include "kernel/scan/extreme.inc"

/* The functions of the entry k: the loops 'id', and the bits to invert. */
#define ENTRY(k, id, flip)                                                  \
    static void line_##k(const la_scan_extreme_line *s)                     \
    {                                                                       \
        line_##id(s, flip);                                                 \
    }                                                                       \
    static void columns_##k(const la_scan_extreme_line *s, int64_t cols,    \
                            int64_t step, int64_t out)                      \
    {                                                                       \
        columns_##id(s, cols, step, out, flip);                             \
    }
ENTRY(max_b8, some, 0)
ENTRY(min_b8, none, 0)
ENTRY(max_u8, w1, 0x80)
ENTRY(min_u8, w1, 0x7f)
ENTRY(max_i8, w1, 0)
ENTRY(min_i8, w1, 0xff)
ENTRY(max_u16, w2, 0x8000)
ENTRY(min_u16, w2, 0x7fff)
ENTRY(max_i16, w2, 0)
ENTRY(min_i16, w2, 0xffff)
ENTRY(max_u32, w4, 0x80000000)
ENTRY(min_u32, w4, 0x7fffffff)
ENTRY(max_i32, w4, 0)
ENTRY(min_i32, w4, 0xffffffff)
ENTRY(max_u64, w8, (uint64_t)1 << 63)
ENTRY(min_u64, w8, ~(uint64_t)0 >> 1)
ENTRY(max_i64, w8, 0)
ENTRY(min_i64, w8, ~(uint64_t)0)
ENTRY(max_f16, f16, 0)
ENTRY(min_f16, f16, 0x8000)
ENTRY(max_bf16, bf16, 0)
ENTRY(min_bf16, bf16, 0x8000)
ENTRY(max_f32, f32, 0)
ENTRY(min_f32, f32, 0x80000000)
ENTRY(max_f64, f64, 0)
ENTRY(min_f64, f64, (uint64_t)1 << 63)

#define EXTREME(op, k) {line_##op##_##k, columns_##op##_##k}
#define EVERY(op) \
    [LA_BOOL] = EXTREME(op, b8), [LA_UINT8] = EXTREME(op, u8), \
    [LA_INT8] = EXTREME(op, i8), [LA_UINT16] = EXTREME(op, u16), \
    [LA_INT16] = EXTREME(op, i16), [LA_UINT32] = EXTREME(op, u32), \
    [LA_INT32] = EXTREME(op, i32), [LA_UINT64] = EXTREME(op, u64), \
    [LA_INT64] = EXTREME(op, i64), [LA_FLOAT16] = EXTREME(op, f16), \
    [LA_BFLOAT16] = EXTREME(op, bf16), [LA_FLOAT32] = EXTREME(op, f32), \
    [LA_FLOAT64] = EXTREME(op, f64)

const la_scan_extremes LA_KERNEL(scan_max) = {EVERY(max)};
const la_scan_extremes LA_KERNEL(scan_min) = {EVERY(min)};
