/* argmax, argmin, and max and min with positions. */
#include "kernel/reduce/load.h"
#include "kernel/reduce/transpose_rows.h"

#define CALL_BETTER(S, a, b) LA_CAT(BETTER_, S, , )(a, b)
#define BETTER_f32(a, b) BEYONDV(f32, a, b)
#define BETTER_f64(a, b) BEYONDV(f64, a, b)
#define BETTER_i32(a, b) i32_select(BEYOND(a, b), a, b)
#define BETTER_i64(a, b) i64_select(BEYOND(a, b), a, b)
#define CALL_FMA(S, a, b, c) LA_CAT(S, _fma, , )(a, b, c)
#define PICK_f32(m, a, b) i32_select(m, a, b)
#define PICK_f64(m, a, b) i64_select(m, a, b)
#define PICK_i32(m, a, b) i32_select(m, a, b)
#define PICK_i64(m, a, b) i64_select(m, a, b)
#define CALL_PICK(S, m, a, b) LA_CAT(PICK_, S, , )(m, a, b)
#define CALL_LOW(S, a, b, half) LA_CAT(fold_low_, S, , )(a, b, half)
#define CALL_HIGH(S, a, b, half) LA_CAT(fold_high_, S, , )(a, b, half)
#define IOTA_f32 i32_iota(0)
#define IOTA_f64 i64_iota(0)
#define IOTA_i32 i32_iota(0)
#define IOTA_i64 i64_iota(0)
#define IOTA(S) LA_CAT(IOTA_, S, , )

#define OP argmax
#define BEYOND(a, b) ((a) > (b))
#define BEYONDV(S, a, b) S##_max(a, b)
#include "kernel/reduce/each_argmax.inc"

#define OP argmin
#define BEYOND(a, b) ((a) < (b))
#define BEYONDV(S, a, b) S##_min(a, b)
#include "kernel/reduce/each_argmax.inc"

#define ARG(k) {rows_##k, cols_##k}
#define ALL(op) \
    [LA_BOOL] = ARG(op##_b8), [LA_UINT8] = ARG(op##_u8), \
    [LA_INT8] = ARG(op##_i8), [LA_UINT16] = ARG(op##_u16), \
    [LA_INT16] = ARG(op##_i16), [LA_UINT32] = ARG(op##_u32), \
    [LA_INT32] = ARG(op##_i32), [LA_UINT64] = ARG(op##_u64), \
    [LA_INT64] = ARG(op##_i64), [LA_FLOAT16] = ARG(op##_f16), \
    [LA_BFLOAT16] = ARG(op##_bf16), [LA_FLOAT32] = ARG(op##_f32), \
    [LA_FLOAT64] = ARG(op##_f64)

const la_arg_reductions LA_KERNEL(reduce_argmax) = {ALL(argmax)};
const la_arg_reductions LA_KERNEL(reduce_argmin) = {ALL(argmin)};
