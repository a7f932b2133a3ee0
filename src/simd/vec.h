/*
** Vectors of the native width, for kernels.
**
** One source serves every capability: a vector is a GCC vector extension type
** of VEC_BYTES bytes (16 by default, 32 with AVX2, 64 with AVX512), so + - * /
** & | ^ ~ << >> and comparisons are plain operators. What the extensions lack
** (square root, rounding, selection, 16-bit floats, streaming stores) has a
** name of the form f32_sqrt, f64_sqrt, and is written with intrinsics in one
** isa_*.h file per capability, in the same order in each.
**
** Comparisons yield a mask: the integer vector of the same lanes, all bits set
** where true. Masks go to f32_select, i32_any and the like.
**
** Elements never depend on their lane: a tail is loaded with f32_load_n or
** f32_load_pad, run through the same body and stored with f32_store_n.
**
** Names: f32v is a vector, f32h one of half the width, f32_mem_ a vector in
** memory of any alignment; functions are <lane>_<what>, those ending in _ are
** for src/simd alone.
**
** f32_fma is one rounding where the capability has FMA (AVX2, AVX512) and a
** product and a sum by default: who needs equal bits everywhere writes a*b + c,
** which is never contracted.
*/
#ifndef LA_SIMD_VEC_H
#define LA_SIMD_VEC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/half.h"

#if defined(__AVX512F__)
#define VEC_BYTES 64
#elif defined(__AVX2__)
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif

enum {
    F32_LANES = VEC_BYTES / 4, F64_LANES = VEC_BYTES / 8,
    I32_LANES = VEC_BYTES / 4, I64_LANES = VEC_BYTES / 8,
    U32_LANES = VEC_BYTES / 4, U64_LANES = VEC_BYTES / 8,
    /* 16-bit floats are computed as float: as many lanes at a time. */
    F16_LANES = F32_LANES, BF16_LANES = F32_LANES
};

#define VEC_ __attribute__((vector_size(VEC_BYTES)))
#define VEC_HALF_ __attribute__((vector_size(VEC_BYTES / 2)))
#define VEC_ANYWHERE_ \
    __attribute__((vector_size(VEC_BYTES), aligned(1), may_alias))
typedef float f32v VEC_;
typedef double f64v VEC_;
typedef int32_t i32v VEC_;
typedef int64_t i64v VEC_;
typedef uint32_t u32v VEC_;
typedef uint64_t u64v VEC_;
/* Vector types in memory: any address, any declared type. */
typedef float f32_mem_ VEC_ANYWHERE_;
typedef double f64_mem_ VEC_ANYWHERE_;
typedef int32_t i32_mem_ VEC_ANYWHERE_;
typedef int64_t i64_mem_ VEC_ANYWHERE_;
typedef uint32_t u32_mem_ VEC_ANYWHERE_;
typedef uint64_t u64_mem_ VEC_ANYWHERE_;
/* Half as wide: F64_LANES floats, F32_LANES 16-bit integers. */
typedef float f32h VEC_HALF_;
typedef int32_t i32h VEC_HALF_;
typedef uint16_t u16h VEC_HALF_;

/* f32_load, f32_store, f32_set1, ..., for each of the six types. */
#define LANE f32
#define CTYPE float
#define MASK i32v
#include "simd/isa/lanes.inc"
#define LANE f64
#define CTYPE double
#define MASK i64v
#include "simd/isa/lanes.inc"
#define LANE i32
#define CTYPE int32_t
#define MASK i32v
#include "simd/isa/lanes.inc"
#define LANE i64
#define CTYPE int64_t
#define MASK i64v
#include "simd/isa/lanes.inc"
#define LANE u32
#define CTYPE uint32_t
#define MASK i32v
#include "simd/isa/lanes.inc"
#define LANE u64
#define CTYPE uint64_t
#define MASK i64v
#include "simd/isa/lanes.inc"

/*
** Each file below defines, for S in {f32, f64} and M the mask of S:
**   S_sqrt(a), S_fma(a, b, c)
**   S_min(a, b)          a < b ? a : b, so b when either is NaN
**   S_max(a, b)          a > b ? a : b
**   S_round S_floor S_ceil S_trunc (round: half to even; the sign of 0 stays)
**   S_select(m, a, b)    a where the mask is set, else b
**   i32_any(m) i32_all(m) i64_any(m) i64_all(m)
**   i32_from_f32(a)      toward zero; out of range: INT32_MIN
**   f32_from_i32(a)
**   f64_from_f32h(h), f32h_from_f64(a); f32_low(a), f32_high(a),
**   f32_join(low, high)
**   u64_mul_low32(a, b)  product of the lower halves of the lanes
**   vec_stream(p, v)     a streaming store; p has VEC_BYTES alignment
**   vec_fence()          makes streamed bytes visible to other threads
**   u16h_from_u32(a), u32_from_u16h(h)
**   f16_widen(h), f16_narrow(a): binary16 bits to f32v and back
**   i32_part_load_(p, n), i32_part_store_(p, n, v), i64 and u16 (of u16h): the
**                        first n lanes
*/
#if defined(__AVX512F__)
#include "simd/isa/isa_avx512.h"
#elif defined(__AVX2__)
#include "simd/isa/isa_avx2.h"
#elif defined(__SSE2__)
#include "simd/isa/isa_sse2.h"
#else
#include "simd/isa/isa_plain.h"
#endif

/* A comparison in its cheapest form (a mask register with AVX512), for one that
** makes many choices:
** f32_pick(f32_above(a, b), c, d) is f32_select(a > b, c, d); i32_any_above(a,
** b) is i32_any(a > b). */
#ifndef HAS_MASKS
typedef i32v f32k;
static inline f32k f32_above(f32v a, f32v b) { return a > b; }
static inline f32v f32_pick(f32k k, f32v a, f32v b)
{
    return f32_select(k, a, b);
}
static inline bool i32_any_above(i32v a, i32v b) { return i32_any(a > b); }
static inline bool i64_any_above(i64v a, i64v b) { return i64_any(a > b); }
#endif

#define LANE f32
#define CTYPE float
#define MASK i32v
#define BITS u32v
#define SIGN 0x80000000u
#define INF 0x7f800000
#include "simd/isa/lanes_float.inc"
#define LANE f64
#define CTYPE double
#define MASK i64v
#define BITS u64v
#define SIGN 0x8000000000000000u
#define INF 0x7ff0000000000000
#include "simd/isa/lanes_float.inc"

static inline i32v i32_select(i32v m, i32v a, i32v b)
{
    return (i32v)f32_select(m, (f32v)a, (f32v)b);
}
static inline u32v u32_select(i32v m, u32v a, u32v b)
{
    return (u32v)f32_select(m, (f32v)a, (f32v)b);
}
static inline i64v i64_select(i64v m, i64v a, i64v b)
{
    return (i64v)f64_select(m, (f64v)a, (f64v)b);
}
static inline u64v u64_select(i64v m, u64v a, u64v b)
{
    return (u64v)f64_select(m, (f64v)a, (f64v)b);
}

/* f32_load_n, f32_load_pad, f32_store_n and the other five. */
#define LANE f32
#define CTYPE float
#define BITS i32
#include "simd/isa/lanes_part.inc"
#define LANE i32
#define CTYPE int32_t
#define BITS i32
#include "simd/isa/lanes_part.inc"
#define LANE u32
#define CTYPE uint32_t
#define BITS i32
#include "simd/isa/lanes_part.inc"
#define LANE f64
#define CTYPE double
#define BITS i64
#include "simd/isa/lanes_part.inc"
#define LANE i64
#define CTYPE int64_t
#define BITS i64
#include "simd/isa/lanes_part.inc"
#define LANE u64
#define CTYPE uint64_t
#define BITS i64
#include "simd/isa/lanes_part.inc"

/* --- float and double --- */

static inline f64v f64_from_f32_low(f32v a)
{
    return f64_from_f32h(f32_low(a));
}
static inline f64v f64_from_f32_high(f32v a)
{
    return f64_from_f32h(f32_high(a));
}
static inline f32v f32_from_f64(f64v low, f64v high)
{
    return f32_join(f32h_from_f64(low), f32h_from_f64(high));
}

/* --- 16-bit floats: bits as base/half.h gives them --- */

static inline f32v bf16_widen(u16h h)
{
    return (f32v)(u32_from_u16h(h) << 16);
}
/* Round to nearest even: add half a unit less one plus the lowest kept bit. NaN
** is quieted, its payload cut. */
static inline u16h bf16_narrow(f32v a)
{
    u32v x = (u32v)a;
    u32v near = (x + 0x7fff + (x >> 16 & 1)) >> 16;
    i32v nan = (i32v)(x & 0x7fffffff) > 0x7f800000;
    return u16h_from_u32(u32_select(nan, x >> 16 | 0x40, near));
}

/* Before a loop whose operands are the same memory or do not overlap: the
** compiler needs no run-time check and no scalar copy of the loop. */
#ifdef __clang__
#define VEC_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define VEC_LOOP _Pragma("GCC ivdep")
#endif

#define LANE f16
#define CTYPE la_f16
#include "simd/isa/lanes_16.inc"
#define LANE bf16
#define CTYPE la_bf16
#include "simd/isa/lanes_16.inc"

#endif
