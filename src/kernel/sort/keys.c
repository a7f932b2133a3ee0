/*
** Order-preserving keys of the real dtypes, and back; see order.h. An unsigned
** comparison of keys is the order of the elements, so one sort serves all
** dtypes and both directions.
*/
#include "kernel/sort/order.h"

#include <string.h>

/* Integers: the sign bit is flipped, so that negative ones come first. */
#define ZERO_NONE(u) 0
#define MAP_U(u) (u)
#define MAP_B(u) ((u) != 0)
#define MAP_I8(u) ((u) ^ 0x80u)
#define MAP_I16(u) ((u) ^ 0x8000u)
#define MAP_I32(u) ((u) ^ 0x80000000u)
#define MAP_I64(u) ((u) ^ 0x8000000000000000u)

/* Floats compare as sign and magnitude: negative ones are complemented,
** positive ones get the top bit; every NaN becomes the largest key, -0.0 that
** of 0.0. */
static inline uint32_t map_f16(uint16_t u)
{
    uint32_t key = u ^ (u >> 15 ? 0xffffu : 0x8000u);
    key = u == 0x8000u ? 0x8000u : key;
    return (u & 0x7fffu) > 0x7c00u ? 0xffffu : key;
}
static inline uint32_t map_bf16(uint16_t u)
{
    uint32_t key = u ^ (u >> 15 ? 0xffffu : 0x8000u);
    key = u == 0x8000u ? 0x8000u : key;
    return (u & 0x7fffu) > 0x7f80u ? 0xffffu : key;
}
static inline uint32_t map_f32(uint32_t u)
{
    uint32_t key = u ^ ((uint32_t)((int32_t)u >> 31) | 0x80000000u);
    key = u == 0x80000000u ? 0x80000000u : key;
    return (u & 0x7fffffffu) > 0x7f800000u ? 0xffffffffu : key;
}
static inline uint64_t map_f64(uint64_t u)
{
    const uint64_t top = 0x8000000000000000u;
    uint64_t key = u ^ ((uint64_t)((int64_t)u >> 63) | top);
    key = u == top ? top : key;
    return (int64_t)(u & ~top) > 0x7ff0000000000000 ? ~(uint64_t)0 : key;
}
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

#define NAME b8
#define TYPE uint8_t
#define KEY uint32_t
#define MAP MAP_B
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME u8
#define TYPE uint8_t
#define KEY uint32_t
#define MAP MAP_U
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME i8
#define TYPE uint8_t
#define KEY uint32_t
#define MAP MAP_I8
#define UNMAP MAP_I8
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME u16
#define TYPE uint16_t
#define KEY uint32_t
#define MAP MAP_U
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME i16
#define TYPE uint16_t
#define KEY uint32_t
#define MAP MAP_I16
#define UNMAP MAP_I16
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME u32
#define TYPE uint32_t
#define KEY uint32_t
#define MAP MAP_U
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME i32
#define TYPE uint32_t
#define KEY uint32_t
#define MAP MAP_I32
#define UNMAP MAP_I32
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME u64
#define TYPE uint64_t
#define KEY uint64_t
#define MAP MAP_U
#define UNMAP MAP_U
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME i64
#define TYPE uint64_t
#define KEY uint64_t
#define MAP MAP_I64
#define UNMAP MAP_I64
#define ZERO ZERO_NONE
#include "kernel/sort/keys.inc"

#define NAME f16
#define TYPE uint16_t
#define KEY uint32_t
#define MAP map_f16
#define UNMAP unmap_16
#define ZERO(u) ((u) == 0x8000u)
#include "kernel/sort/keys.inc"

#define NAME bf16
#define TYPE uint16_t
#define KEY uint32_t
#define MAP map_bf16
#define UNMAP unmap_16
#define ZERO(u) ((u) == 0x8000u)
#include "kernel/sort/keys.inc"

#define NAME f32
#define TYPE uint32_t
#define KEY uint32_t
#define MAP map_f32
#define UNMAP unmap_32
#define ZERO(u) ((u) == 0x80000000u)
#include "kernel/sort/keys.inc"

#define NAME f64
#define TYPE uint64_t
#define KEY uint64_t
#define MAP map_f64
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
