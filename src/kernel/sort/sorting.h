/*
** What sorting needs of vectors beyond simd/vec.h, for unsigned lanes (S is u32
** or u64; contracts of kernel/sort):
**   S_order(&a, &b)       compare-exchange: the smaller of each two lanes to a,
**                         the larger to b
**   S_pick(v, lanes)      lane i is v[lanes[i]]
**   S_zip(&a, &b)         a0 b0 a1 b1 ..., the lower half in a
**   S_bits(m)             bit i is lane i of a mask
**   S_split(low, high, v, pivot)
**                         partition: the lanes below the pivot to low[0..], the
**                         others to the positions before 'high'; returns how
**                         many are below. A whole vector may be written at both
**                         ends.
**   S_take(to, from, at, mask, n)
**                         to[i] = from[at[i] & mask]. The indices are u32; both
**                         'from' and 'at' can be read, whatever is there, up to
**                         'mask', which has all lower bits set, below 2 n
**   set_lanes(to, bits, first)
**                         the numbers of the set bits of eight, plus 'first',
**                         to to[0..]; all eight elements are written
** VEC_SORTS tells whether partitioning is fast enough to sort by it: from AVX2
** on, where a lane permutation by a variable is one instruction.
*/
#ifndef LA_KERNEL_SORT_SORTING_H
#define LA_KERNEL_SORT_SORTING_H

#include "simd/vec.h"

#if VEC_BYTES >= 32
#define VEC_SORTS 1

/* A permutation for each mask of eight lanes: byte i of entry m is the lane
** that goes to position i when the lanes of mask m go first, in order (a table
** of 2 KB, computed by the preprocessor from the counts of set bits). */
#define BEFORE_(m, i) __builtin_popcount((m) & ((1 << (i)) - 1))
#define GOES_(m, i) ((m) >> (i) & 1 ? BEFORE_(m, i) \
                     : __builtin_popcount(m) + (i) - BEFORE_(m, i))
#define LANE_(m, i) (uint64_t)(i) << 8 * GOES_(m, i)
#define ENTRY_(m) \
    LANE_(m, 0) | LANE_(m, 1) | LANE_(m, 2) | LANE_(m, 3) | LANE_(m, 4) \
        | LANE_(m, 5) | LANE_(m, 6) | LANE_(m, 7)
#define FOUR_(m) ENTRY_(m), ENTRY_((m) + 1), ENTRY_((m) + 2), ENTRY_((m) + 3)
#define SIXTEEN_(m) FOUR_(m), FOUR_((m) + 4), FOUR_((m) + 8), FOUR_((m) + 12)
#define SIXTY4_(m) \
    SIXTEEN_(m), SIXTEEN_((m) + 16), SIXTEEN_((m) + 32), SIXTEEN_((m) + 48)
static const uint64_t split_lanes_[256] = {
    SIXTY4_(0), SIXTY4_(64), SIXTY4_(128), SIXTY4_(192)
};
#undef BEFORE_
#undef GOES_
#undef LANE_
#undef ENTRY_
#undef FOUR_
#undef SIXTEEN_
#undef SIXTY4_
#else
#define VEC_SORTS 0
#endif

/* An index, kept in a general register: indexed loads are faster one by one
** than as a gather, which a compiler would make of such a loop. */
static inline uint32_t one_by_one(uint32_t x)
{
#ifdef __GNUC__
    __asm__("" : "+r"(x));
#endif
    return x;
}
static inline void u32_take_each_(uint32_t *to, const uint32_t *from,
                                  const uint32_t *at, uint32_t mask, int64_t n)
{
#pragma GCC unroll 8
    for (int64_t i = 0; i < n; i++) to[i] = from[one_by_one(at[i]) & mask];
}
static inline void u64_take(uint64_t *to, const uint64_t *from,
                            const uint32_t *at, uint32_t mask, int64_t n)
{
#pragma GCC unroll 8
    for (int64_t i = 0; i < n; i++) to[i] = from[one_by_one(at[i]) & mask];
}

#if defined(__AVX512F__)

/* A mask as an integer. GCC 12 may spill a mask of 16 bits as such and read it
** back as 32: the number has to be in a general register first. */
static inline unsigned mask_bits_(__mmask16 mask)
{
    unsigned bits = mask;
#ifdef __GNUC__
    __asm__("" : "+r"(bits));
#endif
    return bits;
}
static inline void u32_order(u32v *a, u32v *b)
{
    __m512i x = (__m512i)*a, y = (__m512i)*b;
    *a = (u32v)_mm512_min_epu32(x, y);
    *b = (u32v)_mm512_max_epu32(x, y);
}
static inline void u64_order(u64v *a, u64v *b)
{
    __m512i x = (__m512i)*a, y = (__m512i)*b;
    *a = (u64v)_mm512_min_epu64(x, y);
    *b = (u64v)_mm512_max_epu64(x, y);
}
static inline u32v u32_pick(u32v v, u32v lanes)
{
    return (u32v)_mm512_permutexvar_epi32((__m512i)lanes, (__m512i)v);
}
static inline u64v u64_pick(u64v v, u64v lanes)
{
    return (u64v)_mm512_permutexvar_epi64((__m512i)lanes, (__m512i)v);
}
static inline void u32_zip(u32v *a, u32v *b)
{
    const __m512i low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18,
                                         2, 17, 1, 16, 0);
    __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    __m512i x = (__m512i)*a, y = (__m512i)*b;
    *a = (u32v)_mm512_permutex2var_epi32(x, low, y);
    *b = (u32v)_mm512_permutex2var_epi32(x, high, y);
}
static inline void u64_zip(u64v *a, u64v *b)
{
    const __m512i low = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    __m512i high = _mm512_add_epi64(low, _mm512_set1_epi64(4));
    __m512i x = (__m512i)*a, y = (__m512i)*b;
    *a = (u64v)_mm512_permutex2var_epi64(x, low, y);
    *b = (u64v)_mm512_permutex2var_epi64(x, high, y);
}
static inline uint32_t u32_bits(i32v m)
{
    return mask_bits_(_mm512_movepi32_mask((__m512i)m));
}
static inline uint32_t u64_bits(i64v m)
{
    return mask_bits_(_mm512_movepi64_mask((__m512i)m));
}
static inline void set_lanes(int64_t *to, unsigned bits, int64_t first)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)&split_lanes_[bits]);
    __m512i x = _mm512_cvtepu8_epi64(bytes);
    _mm512_storeu_si512(to, _mm512_add_epi64(x, _mm512_set1_epi64(first)));
}
/* Elements of a table that is held in 2, 4, 8 or 16 vectors: two-source
** permutations of neighbouring vectors, then selections by the upper bits of
** the index. Faster than loads while the table fits the registers. */
static inline __attribute__((always_inline))
__m512i look_up_(const __m512i *t, const int vectors, __m512i at)
{
    __m512i x[8];
    int m = vectors / 2, bit = 32;
#pragma GCC unroll 8
    for (int i = 0; i < vectors / 2; i++)
        x[i] = _mm512_permutex2var_epi32(t[2 * i], at, t[2 * i + 1]);
#pragma GCC unroll 3
    for (m /= 2; m > 0; m /= 2, bit *= 2) {
        __mmask16 high = _mm512_test_epi32_mask(at, _mm512_set1_epi32(bit));
#pragma GCC unroll 4
        for (int i = 0; i < m; i++)
            x[i] = _mm512_mask_blend_epi32(high, x[2 * i], x[2 * i + 1]);
    }
    return x[0];
}
static inline __attribute__((always_inline))
void look_ups_(uint32_t *to, const uint32_t *from, const uint32_t *at,
               uint32_t mask, int64_t n, const int vectors)
{
    __m512i t[16], m = _mm512_set1_epi32((int)mask);
#pragma GCC unroll 16
    for (int i = 0; i < vectors; i++) t[i] = _mm512_loadu_si512(from + 16 * i);
    for (int64_t i = 0; i < n; i += 16) {
        __m512i x = _mm512_and_si512(_mm512_loadu_si512(at + i), m);
        u32v r = (u32v)look_up_(t, vectors, x);
        if (i + 16 <= n) u32_store(to + i, r);
        else u32_store_n(to + i, n - i, r);
    }
}
static inline void u32_take(uint32_t *to, const uint32_t *from,
                            const uint32_t *at, uint32_t mask, int64_t n)
{
    if (mask <= 31) look_ups_(to, from, at, mask, n, 2);
    else if (mask <= 63) look_ups_(to, from, at, mask, n, 4);
    else if (mask <= 127) look_ups_(to, from, at, mask, n, 8);
    else if (mask <= 255) look_ups_(to, from, at, mask, n, 16);
    else u32_take_each_(to, from, at, mask, n);
}
/* Faster than VPCOMPRESSD of whole vectors, once for each end. */
static inline void split_half_(uint32_t *low, uint32_t *high, __m256i v,
                               unsigned below)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)&split_lanes_[below]);
    v = _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(bytes));
    _mm256_storeu_si256((__m256i *)(void *)low, v);
    _mm256_storeu_si256((__m256i *)(void *)(high - 8), v);
}
static inline int u32_split(uint32_t *low, uint32_t *high, u32v v, u32v pivot)
{
    __m512i x = (__m512i)v;
    unsigned below = mask_bits_(_mm512_cmplt_epu32_mask(x, (__m512i)pivot));
    split_half_(low, high, _mm512_castsi512_si256(x), below & 255);
    int n = __builtin_popcount(below & 255);
    split_half_(low + n, high - 8 + n, _mm512_extracti64x4_epi64(x, 1),
                below >> 8);
    return __builtin_popcount(below);
}
static inline int u64_split(uint64_t *low, uint64_t *high, u64v v, u64v pivot)
{
    unsigned below = mask_bits_(
        _mm512_cmplt_epu64_mask((__m512i)v, (__m512i)pivot));
    __m128i bytes = _mm_loadl_epi64((const __m128i *)&split_lanes_[below]);
    __m512i x = _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(bytes),
                                         (__m512i)v);
    _mm512_storeu_si512(low, x);
    _mm512_storeu_si512(high - 8, x);
    return __builtin_popcount(below);
}

#elif defined(__AVX2__)

static inline void u32_order(u32v *a, u32v *b)
{
    __m256i x = (__m256i)*a, y = (__m256i)*b;
    *a = (u32v)_mm256_min_epu32(x, y);
    *b = (u32v)_mm256_max_epu32(x, y);
}
static inline void u64_order(u64v *a, u64v *b)
{
    i64v less = *a < *b;
    u64v x = u64_select(less, *a, *b), y = u64_select(less, *b, *a);
    *a = x;
    *b = y;
}
static inline u32v u32_pick(u32v v, u32v lanes)
{
    return (u32v)_mm256_permutevar8x32_epi32((__m256i)v, (__m256i)lanes);
}
static inline u64v u64_pick(u64v v, u64v lanes)
{
    u64v pairs = lanes * 2 | (lanes * 2 + 1) << 32;
    return (u64v)_mm256_permutevar8x32_epi32((__m256i)v, (__m256i)pairs);
}
static inline void u32_zip(u32v *a, u32v *b)
{
    __m256i x = _mm256_unpacklo_epi32((__m256i)*a, (__m256i)*b);
    __m256i y = _mm256_unpackhi_epi32((__m256i)*a, (__m256i)*b);
    *a = (u32v)_mm256_permute2x128_si256(x, y, 0x20);
    *b = (u32v)_mm256_permute2x128_si256(x, y, 0x31);
}
static inline void u64_zip(u64v *a, u64v *b)
{
    __m256i x = _mm256_unpacklo_epi64((__m256i)*a, (__m256i)*b);
    __m256i y = _mm256_unpackhi_epi64((__m256i)*a, (__m256i)*b);
    *a = (u64v)_mm256_permute2x128_si256(x, y, 0x20);
    *b = (u64v)_mm256_permute2x128_si256(x, y, 0x31);
}
static inline uint32_t u32_bits(i32v m)
{
    return (uint32_t)_mm256_movemask_ps((__m256)m);
}
static inline uint32_t u64_bits(i64v m)
{
    return (uint32_t)_mm256_movemask_pd((__m256d)m);
}
static inline void set_lanes(int64_t *to, unsigned bits, int64_t first)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)&split_lanes_[bits]);
    __m256i low = _mm256_cvtepu8_epi64(bytes), add = _mm256_set1_epi64x(first);
    __m256i high = _mm256_cvtepu8_epi64(_mm_srli_si128(bytes, 4));
    __m256i *out = (__m256i *)(void *)to;
    _mm256_storeu_si256(out, _mm256_add_epi64(low, add));
    _mm256_storeu_si256(out + 1, _mm256_add_epi64(high, add));
}
#define u32_take u32_take_each_
static inline __m256i split_pick_(__m256i v, unsigned below)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)&split_lanes_[below]);
    return _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(bytes));
}
static inline int u32_split(uint32_t *low, uint32_t *high, u32v v, u32v pivot)
{
    __m256 less = (__m256)(v < pivot);
    unsigned below = (unsigned)_mm256_movemask_ps(less);
    __m256i x = split_pick_((__m256i)v, below);
    _mm256_storeu_si256((__m256i *)(void *)low, x);
    _mm256_storeu_si256((__m256i *)(void *)(high - 8), x);
    return __builtin_popcount(below);
}
/* Each lane is two of 32 bits: one bit of the mask for each of those. */
static inline int u64_split(uint64_t *low, uint64_t *high, u64v v, u64v pivot)
{
    __m256 less = (__m256)(v < pivot);
    unsigned below = (unsigned)_mm256_movemask_ps(less);
    __m256i x = split_pick_((__m256i)v, below);
    _mm256_storeu_si256((__m256i *)(void *)low, x);
    _mm256_storeu_si256((__m256i *)(void *)(high - 4), x);
    return __builtin_popcount(below) / 2;
}

#else
#define u32_take u32_take_each_
static inline uint32_t u32_bits(i32v m)
{
    uint32_t bits = 0;
    for (int i = 0; i < U32_LANES; i++) bits |= (m[i] & (uint32_t)1) << i;
    return bits;
}
static inline uint32_t u64_bits(i64v m)
{
    uint32_t bits = 0;
    for (int i = 0; i < U64_LANES; i++) bits |= (uint32_t)(m[i] & 1) << i;
    return bits;
}
static inline void set_lanes(int64_t *to, unsigned bits, int64_t first)
{
    for (int i = 0, n = 0; i < 8; n += bits >> i++ & 1) to[n] = first + i;
}
#define LANE u32
#define CTYPE uint32_t
#define MASK i32v
#include "kernel/sort/sorting_plain.inc"
#define LANE u64
#define CTYPE uint64_t
#define MASK i64v
#include "kernel/sort/sorting_plain.inc"
#endif

#endif
