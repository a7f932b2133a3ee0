/*
** Order-preserving keys of the real dtypes, and back; see order.h. An unsigned
** comparison of keys is the order of the elements, so one sort serves all
** dtypes and both directions.
*/
#include "kernel/sort/order.h"

#include "base/runtime/interrupt.h"

#include <string.h>

#include "simd/vec.h"

/* Integers: the sign bit is flipped, so that negative ones come first. */
#define ZERO_NONE(u) 0
#define MAP_U(u) (u)
#define MAP_B(u) ((u) != 0)
#define MAP_I8(u) ((u) ^ 0x80u)
#define MAP_I16(u) ((u) ^ 0x8000u)
#define MAP_I32(u) ((u) ^ 0x80000000u)
#define MAP_I64(u) ((u) ^ 0x8000000000000000u)

/* Floats compare as sign and magnitude: negative ones are complemented,
** positive ones get the top bit; every NaN becomes the largest key. */
static inline uint32_t order_half(uint16_t u, uint32_t infinity)
{
    uint32_t key = u ^ (u >> 15 ? 0xffffu : 0x8000u);
    return (u & 0x7fffu) > infinity ? 0xffffu : key;
}
static inline uint32_t order_f32(uint32_t u)
{
    uint32_t key = u ^ ((uint32_t)((int32_t)u >> 31) | 0x80000000u);
    return (u & 0x7fffffffu) > 0x7f800000u ? 0xffffffffu : key;
}
static inline uint64_t order_f64(uint64_t u)
{
    const uint64_t top = 0x8000000000000000u;
    uint64_t key = u ^ ((uint64_t)((int64_t)u >> 63) | top);
    return (int64_t)(u & ~top) > 0x7ff0000000000000 ? ~(uint64_t)0 : key;
}
/* -0.0 gets the key of 0.0, which is one more. */
#define MAP_HALF(u, infinity) \
    ((u) == 0x8000u ? 0x8000u : order_half(u, infinity))
#define MAP_F16(u) MAP_HALF(u, 0x7c00)
#define MAP_BF16(u) MAP_HALF(u, 0x7f80)
#define MAP_F32(u) ((u) == 0x80000000u ? 0x80000000u : order_f32(u))
#define MAP_F64(u) \
    ((u) == 0x8000000000000000u ? 0x8000000000000000u : order_f64(u))
/* The element of a key; that of NaN becomes a quiet NaN without a sign. */
static inline uint16_t unmap_16(uint32_t k)
{
    return (uint16_t)(k ^ (k >> 15 & 1 ? 0x8000u : 0xffffu));
}
static inline uint32_t unmap_32(uint32_t k)
{
    return k ^ (~(uint32_t)((int32_t)k >> 31) | 0x80000000u);
}
static inline uint64_t unmap_64(uint64_t k)
{
    return k ^ (~(uint64_t)((int64_t)k >> 63) | 0x8000000000000000u);
}

/* ---- binary searches of elements: those of one size share them ---- */

#define NAME truth
#define ZERO 0
#define TYPE uint8_t
#define KEY uint32_t
#define MAP(u, with) MAP_B(u)
#include "kernel/sort/search.inc"

#define NAME int8
#define ZERO 0
#define TYPE uint8_t
#define KEY uint32_t
#define MAP(u, with) ((u) ^ (KEY)(with))
#include "kernel/sort/search.inc"

#define NAME int16
#define ZERO 0
#define TYPE uint16_t
#define KEY uint32_t
#define MAP(u, with) ((u) ^ (KEY)(with))
#include "kernel/sort/search.inc"

#define NAME uint32
#define ZERO 0
#define TYPE uint32_t
#define KEY uint32_t
#define MAP(u, with) (u)
#include "kernel/sort/search.inc"

#define NAME int32
#define ZERO 0
#define TYPE uint32_t
#define KEY uint32_t
#define MAP(u, with) MAP_I32(u)
#include "kernel/sort/search.inc"

#define NAME uint64
#define ZERO 0
#define TYPE uint64_t
#define KEY uint64_t
#define MAP(u, with) (u)
#include "kernel/sort/search.inc"

#define NAME int64
#define ZERO 0
#define TYPE uint64_t
#define KEY uint64_t
#define MAP(u, with) MAP_I64(u)
#include "kernel/sort/search.inc"

#define NAME half
#define ZERO 0x8000u
#define TYPE uint16_t
#define KEY uint32_t
#define MAP(u, with) order_half(u, (uint32_t)(with))
#include "kernel/sort/search.inc"

#define NAME float
#define ZERO 0x80000000u
#define TYPE uint32_t
#define KEY uint32_t
#define MAP(u, with) order_f32(u)
#include "kernel/sort/search.inc"

#define NAME double
#define ZERO 0x8000000000000000u
#define TYPE uint64_t
#define KEY uint64_t
#define MAP(u, with) order_f64(u)
#include "kernel/sort/search.inc"

/* How a search reads the elements of a dtype. */
typedef struct search_kind {
    bool (*encode)(void *keys, const char *data, int64_t step, int64_t n,
                   uint64_t flip);
    int64_t size;
    void (*sixteen[2])(const void *sorted, int64_t m, uint64_t with,
                       const void *keys, int64_t *out);
    uint64_t with;
} search_kind;
#define FEW 24

#define LANE u32
#define KEY uint32_t
#define SKEY int32_t
#include "kernel/sort/search_keys.inc"
#define LANE u64
#define KEY uint64_t
#define SKEY int64_t
#include "kernel/sort/search_keys.inc"

/* ---- the dtypes ---- */

#define NAME b8
#define LANE u32
#define SEARCH {left_truth, right_truth}, 0
#define TYPE uint8_t
#define KEY uint32_t
#define MAP MAP_B
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME u8
#define LANE u32
#define SEARCH {left_int8, right_int8}, 0
#define TYPE uint8_t
#define KEY uint32_t
#define MAP MAP_U
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME i8
#define LANE u32
#define SEARCH {left_int8, right_int8}, 0x80
#define TYPE uint8_t
#define KEY uint32_t
#define MAP MAP_I8
#define UNMAP MAP_I8
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME u16
#define LANE u32
#define SEARCH {left_int16, right_int16}, 0
#define TYPE uint16_t
#define KEY uint32_t
#define MAP MAP_U
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME i16
#define LANE u32
#define SEARCH {left_int16, right_int16}, 0x8000
#define TYPE uint16_t
#define KEY uint32_t
#define MAP MAP_I16
#define UNMAP MAP_I16
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME u32
#define LANE u32
#define SEARCH {left_uint32, right_uint32}, 0
#define TYPE uint32_t
#define KEY uint32_t
#define MAP MAP_U
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME i32
#define LANE u32
#define SEARCH {left_int32, right_int32}, 0
#define TYPE uint32_t
#define KEY uint32_t
#define MAP MAP_I32
#define UNMAP MAP_I32
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME u64
#define LANE u64
#define SEARCH {left_uint64, right_uint64}, 0
#define TYPE uint64_t
#define KEY uint64_t
#define MAP MAP_U
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME i64
#define LANE u64
#define SEARCH {left_int64, right_int64}, 0
#define TYPE uint64_t
#define KEY uint64_t
#define MAP MAP_I64
#define UNMAP MAP_I64
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME f16
#define LANE u32
#define SEARCH {left_half, right_half}, 0x7c00
#define TYPE uint16_t
#define KEY uint32_t
#define MAP MAP_F16
#define UNMAP unmap_16
#define ZERO(u) ((u) == 0x8000u)
#include "kernel/sort/keys.inc"

#define NAME bf16
#define LANE u32
#define SEARCH {left_half, right_half}, 0x7f80
#define TYPE uint16_t
#define KEY uint32_t
#define MAP MAP_BF16
#define UNMAP unmap_16
#define ZERO(u) ((u) == 0x8000u)
#include "kernel/sort/keys.inc"

#define NAME f32
#define LANE u32
#define SEARCH {left_float, right_float}, 0
#define TYPE uint32_t
#define KEY uint32_t
#define MAP MAP_F32
#define UNMAP unmap_32
#define ZERO(u) ((u) == 0x80000000u)
#include "kernel/sort/keys.inc"

#define NAME f64
#define LANE u64
#define SEARCH {left_double, right_double}, 0
#define TYPE uint64_t
#define KEY uint64_t
#define MAP MAP_F64
#define UNMAP unmap_64
#define ZERO(u) ((u) == 0x8000000000000000u)
#include "kernel/sort/keys.inc"

const la_key_table LA_KERNEL(keys) = {
    [LA_BOOL] = {encode_b8, decode_b8, search_b8, false},
    [LA_UINT8] = {encode_u8, decode_u8, search_u8, false},
    [LA_INT8] = {encode_i8, decode_i8, search_i8, false},
    [LA_UINT16] = {encode_u16, decode_u16, search_u16, false},
    [LA_INT16] = {encode_i16, decode_i16, search_i16, false},
    [LA_UINT32] = {encode_u32, decode_u32, search_u32, false},
    [LA_INT32] = {encode_i32, decode_i32, search_i32, false},
    [LA_UINT64] = {encode_u64, decode_u64, search_u64, true},
    [LA_INT64] = {encode_i64, decode_i64, search_i64, true},
    [LA_FLOAT16] = {encode_f16, decode_f16, search_f16, false},
    [LA_BFLOAT16] = {encode_bf16, decode_bf16, search_bf16, false},
    [LA_FLOAT32] = {encode_f32, decode_f32, search_f32, false},
    [LA_FLOAT64] = {encode_f64, decode_f64, search_f64, true},
};
