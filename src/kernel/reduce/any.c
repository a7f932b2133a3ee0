/*
** Any, all and the count of what is not zero, for every dtype: a NaN is not
** zero, -0.0 is; a complex number is zero when both parts are. So an element is
** zero when no bit is set but signs: the loops know its width alone and take
** the bits that count. Runs of contiguous elements are looked at 4 KiB at a
** time, and any and all leave at the first block that decides.
*/
#include "kernel/reduce/load.h"
#include "kernel/sort/first_set.h"

typedef struct { uint64_t re, im; } pair64;

#define ID w1
#define T uint8_t
#define LANE uint8_t
#include "kernel/reduce/loops/any.inc"
#define ID w2
#define T uint16_t
#define LANE uint16_t
#include "kernel/reduce/loops/any.inc"
#define ID w4
#define T uint32_t
#define LANE uint32_t
#include "kernel/reduce/loops/any.inc"
#define ID w8
#define T uint64_t
#define LANE uint64_t
#include "kernel/reduce/loops/any.inc"
#define ID w16
#define T pair64
#define LANE uint64_t
#define PAIR
#include "kernel/reduce/loops/any.inc"

#define TAG b8
#define ID w1
#define MASK 0xff
#include "kernel/reduce/loops/any_entries.inc"
#define TAG i16
#define ID w2
#define MASK 0xffff
#include "kernel/reduce/loops/any_entries.inc"
#define TAG i32
#define ID w4
#define MASK 0xffffffff
#include "kernel/reduce/loops/any_entries.inc"
#define TAG i64
#define ID w8
#define MASK ~(uint64_t)0
#include "kernel/reduce/loops/any_entries.inc"
#define TAG h16
#define ID w2
#define MASK 0x7fff
#include "kernel/reduce/loops/any_entries.inc"
#define TAG f32
#define ID w4
#define MASK 0x7fffffff
#include "kernel/reduce/loops/any_entries.inc"
#define TAG f64
#define ID w8
#define MASK ~(uint64_t)0 >> 1
#include "kernel/reduce/loops/any_entries.inc"
#define TAG c32
#define ID w4
#define MASK 0x7fff7fff
#include "kernel/reduce/loops/any_entries.inc"
#define TAG c64
#define ID w8
#define MASK 0x7fffffff7fffffff
#include "kernel/reduce/loops/any_entries.inc"
#define TAG c128
#define ID w16
#define MASK ~(uint64_t)0 >> 1
#include "kernel/reduce/loops/any_entries.inc"

static void combine_any(char *into, const char *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) into[i] |= from[i];
}
static void combine_all(char *into, const char *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) into[i] &= from[i];
}
static void combine_count(char *into, const char *from, int64_t n)
{
    int64_t *a = (int64_t *)into;
    const int64_t *b = (const int64_t *)from;
    for (int64_t i = 0; i < n; i++) a[i] += b[i];
}
static void store_byte(const char *acc, char *out, int64_t n,
                       const la_reduce_args *args)
{
    memcpy(out, acc, (size_t)n);
}
static void store_count(const char *acc, char *out, int64_t n,
                        const la_reduce_args *args)
{
    memcpy(out, acc, (size_t)n * 8);
}

#define ANY(k) \
    {1, 32, false, inner_any_##k, outer_any_##k, combine_any, store_byte}
#define ALL(k) \
    {1, 32, false, inner_all_##k, outer_all_##k, combine_all, store_byte}
#define COUNT(k) {8, 32, false, inner_count_##k, \
                  outer_count_##k, combine_count, store_count}
#define EVERY(F) \
    [LA_BOOL] = F(b8), [LA_UINT8] = F(b8), [LA_INT8] = F(b8), \
    [LA_UINT16] = F(i16), [LA_INT16] = F(i16), [LA_UINT32] = F(i32), \
    [LA_INT32] = F(i32), [LA_UINT64] = F(i64), [LA_INT64] = F(i64), \
    [LA_FLOAT16] = F(h16), [LA_BFLOAT16] = F(h16), [LA_FLOAT32] = F(f32), \
    [LA_FLOAT64] = F(f64), [LA_COMPLEX32] = F(c32), [LA_COMPLEX64] = F(c64), \
    [LA_COMPLEX128] = F(c128)

const la_reductions LA_KERNEL(reduce_any) = {EVERY(ANY)};
const la_reductions LA_KERNEL(reduce_all) = {EVERY(ALL)};
const la_reductions LA_KERNEL(reduce_count) = {EVERY(COUNT)};
