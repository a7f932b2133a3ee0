/*
** Integer reductions: what the loops of int.inc have in common. Their results
** do not depend on the order, so there is one driver for all of them.
*/
#ifndef LA_KERNEL_REDUCE_INTEGERS_H
#define LA_KERNEL_REDUCE_INTEGERS_H

#include "base/scratch.h"
#include "kernel/reduce/map.h"
#include "simd/int_extreme.h"
#include "simd/permute/widen_int.h"

/* The loops of one reduction for one dtype (int.inc). Columns go to partial
** accumulators of 'part' bytes, which hold at most INT_DEEP elements each. */
typedef struct la_int_kind {
    int64_t size, acc, part;   /* bytes of an element and of its accumulators */
    int64_t lanes;             /* columns of one vector */
    /* acc[k] = IDENT */
    void (*fill)(char *acc, int64_t n);
    /* 'rows' rows of whole vectors of contiguous columns, combined with 'part'
    ** unless that is 'fresh' */
    void (*strips)(const char *in, int64_t row, int64_t rows, int64_t cols,
                   bool fresh, char *part);
    /* n elements 'step' bytes apart, combined with the one accumulator */
    void (*few)(const char *p, int64_t step, int64_t n, char *acc);
    /* partial accumulators combined with accumulators */
    void (*combine)(char *acc, const char *part, int64_t n);
} la_int_kind;

/* Elements of 16 bits that are summed in 32: 2^14 * 2^16 = 2^30. */
enum { INT_DEEP = 16384 };

/* la_reduction.outer of a kind; int_driver.c. */
typedef struct la_int_driver {
    void (*outer)(const la_int_kind *k, const la_reduce_cols *c, char *acc);
} la_int_driver;
extern const la_int_driver LA_OWN_TABLE(reduce_int);

/* Half a vector of 32-bit lanes in 64 bits. gcc 12 converts in two parts,
** which it puts together; there is one instruction. */
typedef int32_t int32_half __attribute__((vector_size(VEC_BYTES / 2)));
typedef uint32_t uint32_half __attribute__((vector_size(VEC_BYTES / 2)));
static inline int32_half load_int32_half(const char *p)
{
    int32_half x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline uint32_half load_uint32_half(const char *p)
{
    uint32_half x;
    memcpy(&x, p, sizeof(x));
    return x;
}
#ifdef __AVX512F__
static inline u64v widen_int32(int32_half x)
{
    return (u64v)_mm512_cvtepi32_epi64((__m256i)x);
}
static inline u64v widen_uint32(uint32_half x)
{
    return (u64v)_mm512_cvtepu32_epi64((__m256i)x);
}
#elif defined(__AVX2__)
static inline u64v widen_int32(int32_half x)
{
    return (u64v)_mm256_cvtepi32_epi64((__m128i)x);
}
static inline u64v widen_uint32(uint32_half x)
{
    return (u64v)_mm256_cvtepu32_epi64((__m128i)x);
}
#else
static inline u64v widen_int32(int32_half x)
{
    return (u64v)__builtin_convertvector(x, i64v);
}
static inline u64v widen_uint32(uint32_half x)
{
    return __builtin_convertvector(x, u64v);
}
#endif

#define INT_STORE(SIZE)                                                     \
    static inline void store_int_##SIZE(const char *acc, char *out,         \
                                        int64_t n, const la_reduce_args *a) \
    {                                                                       \
        memcpy(out, acc, (size_t)n * SIZE);                                 \
    }
INT_STORE(1)
INT_STORE(2)
INT_STORE(4)
INT_STORE(8)
#undef INT_STORE

#endif
