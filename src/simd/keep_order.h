/*
** vordered(a): the vector itself, computed before any other vordered() that
** follows in the program (f32_ordered and f64_ordered by the type).
**
** Loops take two vectors per iteration, and compilers are free to exchange the
** two, with their loads. Memory that is not read in ascending address order
** defeats the hardware prefetchers: up to a third slower for operations such as
** add, which do next to nothing but wait for memory. An empty asm statement
** that "changes" the vector costs nothing and, being volatile, keeps its order.
** Wherever arithmetic hides the loads, it is not needed.
*/
#ifndef LA_SIMD_KEEP_ORDER_H
#define LA_SIMD_KEEP_ORDER_H

#include "simd/generic.h"
#include "simd/permute/short_rows.h"

static inline f32v f32_ordered(f32v a)
{
#if VEC_BYTES > 16
    __asm__ volatile("" : "+v"(a));
#endif
    return a;
}
static inline f64v f64_ordered(f64v a)
{
#if VEC_BYTES > 16
    __asm__ volatile("" : "+v"(a));
#endif
    return a;
}

/* Rows of structs come one by one: in order as they are. */
#if VEC_BYTES > 16
static inline f32r f32_row_ordered_(f32r a) { return a; }
#define F32_ROW_ORDERED_ f32r: f32_row_ordered_,
#else
#define F32_ROW_ORDERED_
#endif
#if VEC_BYTES != 32
static inline f64r f64_row_ordered_(f64r a) { return a; }
#define F64_ROW_ORDERED_ f64r: f64_row_ordered_,
#else
#define F64_ROW_ORDERED_
#endif
#define vordered(a) _Generic((a), F32_ROW_ORDERED_ F64_ROW_ORDERED_ \
    f32v: f32_ordered, f64v: f64_ordered)(a)

#endif
