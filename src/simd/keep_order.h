/*
** f32_ordered(a), f64_ordered(a): the vector itself, made before any that the
** program makes so after it. Compilers turn round the two vectors of a turn, and
** with them the loads; memory that is not read in rising order comes up to a
** third slower, and operations that do next to nothing wait for it alone.
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
