/*
** What all reduction kernels share: loads and stores of single elements, from
** any address (memcpy, as strides need not keep alignment), elements gathered,
** and the names by which the bodies find types and build their tables.
*/
#ifndef LA_KERNEL_REDUCE_LOAD_H
#define LA_KERNEL_REDUCE_LOAD_H

#include <math.h>

#include "kernel/reduce/hsum_rows.h"
#include "kernel/reduce/reduce_loops.h"
#include "simd/vec.h"

/* reduce_load_ID(p): the element at p. */
#define LOAD_OF(id, T) static inline T reduce_load_##id(const char *p) \
    { T x; memcpy(&x, p, sizeof(x)); return x; }
LOAD_OF(f32, float)
LOAD_OF(f64, double)
LOAD_OF(u8, uint8_t)
LOAD_OF(i8, int8_t)
LOAD_OF(u16, uint16_t)
LOAD_OF(i16, int16_t)
LOAD_OF(u32, uint32_t)
LOAD_OF(i32, int32_t)
LOAD_OF(u64, uint64_t)
LOAD_OF(i64, int64_t)
#undef LOAD_OF

static inline float reduce_load_bf16(const char *p)
{
    return la_bf16_to_f32((la_bf16){reduce_load_u16(p)});
}
static inline float reduce_load_f16(const char *p)
{
    return la_f16_to_f32((la_f16){reduce_load_u16(p)});
}
/* A truth value: bytes of a host may be other than 0 and 1. */
static inline uint8_t reduce_load_b8(const char *p) { return *p != 0; }

/* n elements of 'size' bytes, 'step' bytes apart, copied without gaps to 'to'.
** 'size' is a constant where it is called, or memcpy would be a call per
** element. */
static inline void reduce_gather(void *to, const char *from, int64_t step,
                                 int64_t n, int64_t size)
{
    char *out = to;
    if (step == 2 * size)         /* a loop that becomes shuffles */
        for (int64_t j = 0; j < n; j++)
            memcpy(out + j * size, from + j * 2 * size, (size_t)size);
    else
        for (int64_t j = 0; j < n; j++)
            memcpy(out + j * size, from + j * step, (size_t)size);
}

/* Macros that names.inc looks up by the name of a dtype. */
#define REDUCE_T_f16 la_f16
#define REDUCE_T_bf16 la_bf16
#define REDUCE_T_f32 float
#define REDUCE_T_f64 double
#define REDUCE_A_f16 float
#define REDUCE_A_bf16 float
#define REDUCE_A_f32 float
#define REDUCE_A_f64 double
#define REDUCE_LANE_f16 f32
#define REDUCE_LANE_bf16 f32
#define REDUCE_LANE_f32 f32
#define REDUCE_LANE_f64 f64
#define REDUCE_BITS_f16 i32
#define REDUCE_BITS_bf16 i32
#define REDUCE_BITS_f32 i32
#define REDUCE_BITS_f64 i64

/* Entries of a table: the functions of 'k', accumulators of type 'a'. Those of
** floats are stored alike, as the dtype t says (store.h). */
#define REDUCE_ENTRY(k, a) \
    {sizeof(a), transpose_max_##k, own_##k, inner_##k, outer_##k, \
     combine_##k, store_##k}
#define REDUCE_FLOAT(k, a, t) \
    {sizeof(a), transpose_max_##k, own_##k, inner_##k, outer_##k, \
     combine_##k, store_##t}
#define REDUCE_FLOATS(op) \
    [LA_FLOAT16] = REDUCE_FLOAT(op##_f16, float, f16), \
    [LA_BFLOAT16] = REDUCE_FLOAT(op##_bf16, float, bf16), \
    [LA_FLOAT32] = REDUCE_FLOAT(op##_f32, float, f32), \
    [LA_FLOAT64] = REDUCE_FLOAT(op##_f64, double, f64)
#define REDUCE_COMPLEXES(op) \
    [LA_COMPLEX32] = REDUCE_FLOAT(op##_c32, float, f16), \
    [LA_COMPLEX64] = REDUCE_FLOAT(op##_c64, float, f32), \
    [LA_COMPLEX128] = REDUCE_FLOAT(op##_c128, double, f64)

#endif
