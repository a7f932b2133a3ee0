/*
** Sums. Floats as float.inc says; integers and bool in int64, wrapping like any
** integer arithmetic. Sums of 16-bit floats are frequent enough to be worth
** bodies that widen in registers.
*/
#include "kernel/reduce/float_driver.h"
#include "kernel/reduce/integers.h"
#include "kernel/reduce/store.h"

#define OP sum
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) (x)
#define MAP1(x) (x)
#define IDENT 0
#include "kernel/reduce/each/each_float.inc"
#include "kernel/reduce/each/undef.inc"

#define OP nansum
#define SHORT_AS_COLUMNS
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define MAPV(S, x) S##_select(S##_isnan(x), S##_zero(), x)
#define MAP1(x) ((x) == (x) ? (x) : 0)
#define IDENT 0
#include "kernel/reduce/each/each_float.inc"
#include "kernel/reduce/each/undef.inc"

/* Wrapping is done in unsigned numbers, whose overflow has a meaning. Elements
** of 8 and 16 bits are summed in 32 bits first. */
#define COMBV(S, a, b) ((a) + (b))
#define COMB1(a, b) ((a) + (b))
#define IDENT 0
#define ID isum_u8
#define T uint8_t
#define LOADV(p) i32_load_u8(p)
#include "kernel/reduce/loops/int_narrow.inc"
#define ID isum_i8
#define T int8_t
#define LOADV(p) i32_load_i8(p)
#include "kernel/reduce/loops/int_narrow.inc"
#define ID isum_u16
#define T uint16_t
#define LOADV(p) i32_load_u16(p)
#include "kernel/reduce/loops/int_narrow.inc"
#define ID isum_i16
#define T int16_t
#define LOADV(p) i32_load_i16(p)
#include "kernel/reduce/loops/int_narrow.inc"
#define ID isum_u32
#define T uint32_t
#define A uint64_t
#define P uint64_t
#define LANE u64
#define BITS i64
#define LOADV(p) widen_uint32(load_uint32_half(p))
#include "kernel/reduce/loops/int.inc"
#define ID isum_i32
#define T int32_t
#define A uint64_t
#define P uint64_t
#define LANE u64
#define BITS i64
#define LOADV(p) widen_int32(load_int32_half(p))
#include "kernel/reduce/loops/int.inc"
#define ID isum_i64
#define T uint64_t
#define LANE u64
#define BITS i64
#include "kernel/reduce/loops/int.inc"
#include "kernel/reduce/each/undef.inc"

/* The sum of bools: how many are set. */
extern const la_reductions LA_OWN_TABLE(reduce_count);
static void inner_isum_b8(const la_reduce_rows *r, char *acc,
                          const la_reduce_args *args)
{
    LA_OWN_TABLE(reduce_count)[LA_BOOL].inner(r, acc, args);
}
static void outer_isum_b8(const la_reduce_cols *c, char *acc,
                          const la_reduce_args *args)
{
    LA_OWN_TABLE(reduce_count)[LA_BOOL].outer(c, acc, args);
}

#define ENTRY(k) \
    {8, 32, false, inner_##k, outer_##k, combine_isum_i64, store_int_8}
#define INTEGERS \
    [LA_BOOL] = ENTRY(isum_b8), \
    [LA_UINT8] = ENTRY(isum_u8), [LA_INT8] = ENTRY(isum_i8), \
    [LA_UINT16] = ENTRY(isum_u16), [LA_INT16] = ENTRY(isum_i16), \
    [LA_UINT32] = ENTRY(isum_u32), [LA_INT32] = ENTRY(isum_i32), \
    [LA_UINT64] = ENTRY(isum_i64), [LA_INT64] = ENTRY(isum_i64)

#define ID c32
#define T la_c32
#define REAL f16
#define LANE f32
#include "kernel/reduce/loops/complex_sum.inc"
#define ID c64
#define T float _Complex
#define REAL f32
#define LANE f32
#include "kernel/reduce/loops/complex_sum.inc"
#define ID c128
#define T double _Complex
#define REAL f64
#define LANE f64
#include "kernel/reduce/loops/complex_sum.inc"

const la_reductions LA_KERNEL(reduce_sum) = {
    REDUCE_FLOATS(sum), INTEGERS,
    [LA_COMPLEX32] = REDUCE_ENTRY(csum_c32, acc_csum_c32),
    [LA_COMPLEX64] = REDUCE_ENTRY(csum_c64, acc_csum_c64),
    [LA_COMPLEX128] = REDUCE_ENTRY(csum_c128, acc_csum_c128)
};
const la_reductions LA_KERNEL(reduce_nansum) = {
    REDUCE_FLOATS(nansum), INTEGERS
};
const la_reduce_bases LA_KERNEL(reduce_base_sum) = {
    [LA_FLOAT32] = &kind_sum_f32, [LA_FLOAT64] = &kind_sum_f64
};
