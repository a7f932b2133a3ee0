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
#define vordered(a) VPICK_(a, ordered)(a)

#endif
