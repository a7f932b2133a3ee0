/*
** 8-bit multiplication and shifts, emulated in 16-bit lanes: x86 has neither
** for bytes. A byte is taken in the lower or in the upper half of such a lane.
**
**   bytes_divide(a, magic)     a / d of unsigned bytes; 'magic' is 65535 / d
**   bytes_left(a, counts)      shifts, each byte by its own unsigned count;
**   bytes_right(a, counts)     8 and more shift everything out
**   bytes_right_signed(a, counts)
**
** HAS_BYTE_SHIFTS tells whether the shifts are there: only where 16-bit lanes
** have shifts by a vector of counts (AVX512BW).
*/
#ifndef LA_SIMD_PERMUTE_BYTE_SHIFTS_H
#define LA_SIMD_PERMUTE_BYTE_SHIFTS_H

#include "simd/vec.h"

#if defined(__SSE2__)
#include "simd/isa/intrinsics.h"
#endif

typedef uint8_t u8v VEC_;
typedef int8_t i8v VEC_;
typedef uint16_t u16v VEC_;

/* The upper halves of the 32-bit products. */
static inline u16v u16_high_(u16v a, u16v b)
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
    u16v low = u16_high_((x & 0xff) + 1, by);
    u16v high = u16_high_((x >> 8) + 1, by);
    return (u8v)(low | high << 8);
}

#if defined(__AVX512BW__)
#define HAS_BYTE_SHIFTS

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
#endif

#endif
