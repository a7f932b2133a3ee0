/* One element as its accumulator, from any address; what all reduction kernels
** share. */
#ifndef LA_KERNEL_REDUCE_LOAD_H
#define LA_KERNEL_REDUCE_LOAD_H

#include <math.h>

#include "kernel/reduce/hsum_rows.h"
#include "kernel/reduce/reduce.h"
#include "simd/vec.h"

static inline float reduce_load_f32(const char *p)
{
    float x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline double reduce_load_f64(const char *p)
{
    double x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline float reduce_load_bf16(const char *p)
{
    la_bf16 x;
    memcpy(&x, p, sizeof(x));
    return la_bf16_to_f32(x);
}
static inline float reduce_load_f16(const char *p)
{
    la_f16 x;
    memcpy(&x, p, sizeof(x));
    return la_f16_to_f32(x);
}
static inline uint8_t reduce_load_u8(const char *p)
{
    uint8_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline int8_t reduce_load_i8(const char *p)
{
    int8_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline uint16_t reduce_load_u16(const char *p)
{
    uint16_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline int16_t reduce_load_i16(const char *p)
{
    int16_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline uint32_t reduce_load_u32(const char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline int32_t reduce_load_i32(const char *p)
{
    int32_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline uint64_t reduce_load_u64(const char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline int64_t reduce_load_i64(const char *p)
{
    int64_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}

/* n elements of 'size' bytes, 'step' bytes apart, brought together. */
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

/* The integer vectors as wide as a float's lanes. */
#define REDUCE_BITS_f32 i32
#define REDUCE_BITS_f64 i64

/* Entries of a table: the functions of 'k', accumulators of type 'a'. */
#define REDUCE_ENTRY(k, a) \
    {sizeof(a), turned_##k, own_##k, inner_##k, outer_##k, fold_##k, store_##k}
#define REDUCE_FLOATS(op) \
    [LA_FLOAT16] = REDUCE_ENTRY(op##_f16, float), \
    [LA_BFLOAT16] = REDUCE_ENTRY(op##_bf16, float), \
    [LA_FLOAT32] = REDUCE_ENTRY(op##_f32, float), \
    [LA_FLOAT64] = REDUCE_ENTRY(op##_f64, double)
#define REDUCE_COMPLEXES(op) \
    [LA_COMPLEX32] = REDUCE_ENTRY(op##_c32, float), \
    [LA_COMPLEX64] = REDUCE_ENTRY(op##_c64, float), \
    [LA_COMPLEX128] = REDUCE_ENTRY(op##_c128, double)
/* Accumulators are one type for all, or the element's own. */
#define REDUCE_INTS(op) \
    [LA_BOOL] = REDUCE_ENTRY(op##_b8, acc_##op##_b8), \
    [LA_UINT8] = REDUCE_ENTRY(op##_u8, acc_##op##_u8), \
    [LA_INT8] = REDUCE_ENTRY(op##_i8, acc_##op##_i8), \
    [LA_UINT16] = REDUCE_ENTRY(op##_u16, acc_##op##_u16), \
    [LA_INT16] = REDUCE_ENTRY(op##_i16, acc_##op##_i16), \
    [LA_UINT32] = REDUCE_ENTRY(op##_u32, acc_##op##_u32), \
    [LA_INT32] = REDUCE_ENTRY(op##_i32, acc_##op##_i32), \
    [LA_UINT64] = REDUCE_ENTRY(op##_u64, acc_##op##_u64), \
    [LA_INT64] = REDUCE_ENTRY(op##_i64, acc_##op##_i64)

#endif
