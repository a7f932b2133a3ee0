/*
** Multiplication and shifts of narrow integers, which x86 has for some widths
** alone. A byte is taken in the lower or in the upper half of a 16-bit lane.
**
**   u16_high(a, b)              the upper halves of the products
**   bytes_divide(a, magic)      a / d of unsigned bytes; 'magic' is 65535 / d
**   bytes_left(a, counts)       shifts, each byte by its own unsigned count;
**   bytes_right(a, counts)      8 and more shift everything out
**   bytes_right_signed(a, counts)
**
**   words_left(a, counts)       the same of 16-bit integers
**   words_right(a, counts)
**   words_right_signed(a, counts)
**
** HAS_NARROW_SHIFTS tells whether the shifts are there: where 16-bit lanes have
** shifts by a vector of counts (AVX512BW), or where a table of 16 bytes in a
** register has the powers of two to multiply by (AVX2).
*/
#ifndef LA_SIMD_PERMUTE_NARROW_SHIFTS_H
#define LA_SIMD_PERMUTE_NARROW_SHIFTS_H

#include "simd/vec.h"

#if defined(__SSE2__)
#include "simd/isa/intrinsics.h"
#endif

typedef uint8_t u8v VEC_;
typedef int8_t i8v VEC_;
typedef uint16_t u16v VEC_;
typedef int16_t i16v VEC_;

/* The upper halves of the 32-bit products. */
static inline u16v u16_high(u16v a, u16v b)
{
#if defined(__AVX512BW__)
    return (u16v)_mm512_mulhi_epu16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (u16v)_mm256_mulhi_epu16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (u16v)_mm_mulhi_epu16((__m128i)a, (__m128i)b);
#else
    for (int i = 0; i < VEC_BYTES / 2; i++)
        a[i] = (uint16_t)((uint32_t)a[i] * b[i] >> 16);
    return a;
#endif
}

/* (a + 1) * (65535 / d) >> 16 is a / d for every byte a and d from 1 to 255 (as
** trying all of them shows): 65535 / d is at most (d - 1)/d below 65536 / d,
** and a + 1 instead of a makes good for it without reaching the next
** quotient. */
static inline u8v bytes_divide(u8v a, uint16_t magic)
{
    u16v x = (u16v)a, by = magic - (u16v){0};
    u16v low = u16_high((x & 0xff) + 1, by);
    u16v high = u16_high((x >> 8) + 1, by);
    return (u8v)(low | high << 8);
}

#if defined(__AVX512BW__)
#define HAS_NARROW_SHIFTS

/* The lower bytes of 'low' and the upper bytes of 'high' (ternary logic 0xca is
** a bitwise select). */
static inline u32v bytes_of_halves_(__m512i low, __m512i high)
{
    const __m512i mask = _mm512_set1_epi16(0xff);
    return (u32v)_mm512_ternarylogic_epi32(mask, low, high, 0xca);
}
static inline u32v bytes_left(u32v a, u32v counts)
{
    __m512i x = (__m512i)a, n = (__m512i)counts;
    const __m512i mask = _mm512_set1_epi16(0xff);
    __m512i low = _mm512_sllv_epi16(x, _mm512_and_si512(n, mask));
    __m512i high = _mm512_sllv_epi16(_mm512_andnot_si512(mask, x),
                                     _mm512_srli_epi16(n, 8));
    return bytes_of_halves_(low, high);
}
static inline u32v bytes_right(u32v a, u32v counts)
{
    __m512i x = (__m512i)a, n = (__m512i)counts;
    const __m512i mask = _mm512_set1_epi16(0xff);
    __m512i low = _mm512_srlv_epi16(_mm512_and_si512(x, mask),
                                    _mm512_and_si512(n, mask));
    return bytes_of_halves_(low, _mm512_srlv_epi16(x, _mm512_srli_epi16(n, 8)));
}
static inline u32v bytes_right_signed(u32v a, u32v counts)
{
    __m512i x = (__m512i)a, n = (__m512i)counts;
    const __m512i mask = _mm512_set1_epi16(0xff);
    __m512i low = _mm512_srav_epi16(_mm512_slli_epi16(x, 8),
                                    _mm512_and_si512(n, mask));
    __m512i high = _mm512_srav_epi16(x, _mm512_srli_epi16(n, 8));
    return bytes_of_halves_(_mm512_srli_epi16(low, 8), high);
}
static inline u32v words_left(u32v a, u32v counts)
{
    return (u32v)_mm512_sllv_epi16((__m512i)a, (__m512i)counts);
}
static inline u32v words_right(u32v a, u32v counts)
{
    return (u32v)_mm512_srlv_epi16((__m512i)a, (__m512i)counts);
}
static inline u32v words_right_signed(u32v a, u32v counts)
{
    return (u32v)_mm512_srav_epi16((__m512i)a, (__m512i)counts);
}
#elif defined(__AVX2__)
#define HAS_NARROW_SHIFTS

/* The byte of a table of 16 for each count; its last one for 15 and more. */
static inline __m256i bytes_powers_(u32v counts, __m128i table)
{
    __m256i n = _mm256_min_epu8((__m256i)counts, _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), n);
}
/* The lower bytes of 'low' and those of 'high', as the upper ones. */
static inline u32v bytes_of_halves_(__m256i low, __m256i high)
{
    return (u32v)_mm256_or_si256(
        _mm256_and_si256(low, _mm256_set1_epi16(0xff)),
        _mm256_slli_epi16(high, 8));
}
static inline u32v bytes_left(u32v a, u32v counts)
{
    __m256i p = bytes_powers_(counts, _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64,
        -128, 0, 0, 0, 0, 0, 0, 0, 0));
    __m256i x = (__m256i)a;
    return bytes_of_halves_(_mm256_mullo_epi16(x, p),
        _mm256_mullo_epi16(_mm256_srli_epi16(x, 8), _mm256_srli_epi16(p, 8)));
}
/* x >> n is x 2^(7 - n) >> 7: the product has 16 bits. */
static inline u32v bytes_right(u32v a, u32v counts)
{
    __m256i p = bytes_powers_(counts, _mm_setr_epi8(-128, 64, 32, 16, 8, 4, 2,
        1, 0, 0, 0, 0, 0, 0, 0, 0));
    __m256i x = (__m256i)a, mask = _mm256_set1_epi16(0xff);
    __m256i low = _mm256_mullo_epi16(_mm256_and_si256(x, mask),
                                     _mm256_and_si256(p, mask));
    __m256i high = _mm256_mullo_epi16(_mm256_srli_epi16(x, 8),
                                      _mm256_srli_epi16(p, 8));
    return bytes_of_halves_(_mm256_srli_epi16(low, 7),
                            _mm256_srli_epi16(high, 7));
}
static inline u32v bytes_right_signed(u32v a, u32v counts)
{
    __m256i p = bytes_powers_(counts, _mm_setr_epi8(-128, 64, 32, 16, 8, 4, 2,
        1, 1, 1, 1, 1, 1, 1, 1, 1));
    __m256i x = (__m256i)a, mask = _mm256_set1_epi16(0xff);
    __m256i low = _mm256_mullo_epi16(
        _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8),
        _mm256_and_si256(p, mask));
    __m256i high = _mm256_mullo_epi16(_mm256_srai_epi16(x, 8),
                                      _mm256_srli_epi16(p, 8));
    return bytes_of_halves_(_mm256_srai_epi16(low, 7),
                            _mm256_srai_epi16(high, 7));
}

/* Shifts of 32-bit lanes: one half of a lane is shifted where the other half
** does no harm. */
static inline u32v words_of_halves_(__m256i low, __m256i high)
{
    return (u32v)_mm256_blend_epi16(low, high, 0xaa);
}
static inline u32v words_left(u32v a, u32v counts)
{
    __m256i x = (__m256i)a, n = (__m256i)counts;
    const __m256i low = _mm256_set1_epi32(0xffff);
    return words_of_halves_(
        _mm256_sllv_epi32(x, _mm256_and_si256(n, low)),
        _mm256_sllv_epi32(_mm256_andnot_si256(low, x),
                          _mm256_srli_epi32(n, 16)));
}
static inline u32v words_right(u32v a, u32v counts)
{
    __m256i x = (__m256i)a, n = (__m256i)counts;
    const __m256i low = _mm256_set1_epi32(0xffff);
    return words_of_halves_(
        _mm256_srlv_epi32(_mm256_and_si256(x, low), _mm256_and_si256(n, low)),
        _mm256_srlv_epi32(x, _mm256_srli_epi32(n, 16)));
}
static inline u32v words_right_signed(u32v a, u32v counts)
{
    __m256i x = (__m256i)a, n = (__m256i)counts;
    const __m256i low = _mm256_set1_epi32(0xffff);
    return words_of_halves_(
        _mm256_srav_epi32(_mm256_srai_epi32(_mm256_slli_epi32(x, 16), 16),
                          _mm256_and_si256(n, low)),
        _mm256_srav_epi32(x, _mm256_srli_epi32(n, 16)));
}
#endif

#endif
