/*
** A run of elements taken apart: written to every second, third or fourth
** place, by moving the lanes of a vector to where they go and storing those
** alone. What lies between is neither read nor written, so it may belong to
** another thread or not be writable at all.
**
** vec_apart(to, from, size, every, n) does as many of the n elements of 'size'
** bytes as make whole vectors and returns their number, less than n: the last
** is never among them, as a vector may reach beyond it. 'size' and 'every' are
** constants where it is called.
*/
#ifndef LA_SIMD_STRIDED_STORE_H
#define LA_SIMD_STRIDED_STORE_H

#include "simd/vec.h"

#define APART_ static inline __attribute__((always_inline)) int64_t

#if defined(__AVX2__)
#include <immintrin.h>

/* Of vector number v of the 'every' that take one vector's elements, each of
** w lanes: the lane that goes to each place, and the places that take one. */
static inline __attribute__((always_inline))
i32v apart_lanes_(int v, int w, int every)
{
    i32v place = i32_iota(0) + v * I32_LANES;
    return place / (w * every) * w + place % (w * every);
}
static inline __attribute__((always_inline))
i32v apart_places_(int v, int w, int every)
{
    i32v place = i32_iota(0) + v * I32_LANES;
    return place % (w * every) < w;
}
#endif

#if defined(__AVX512F__)

static inline __m512i apart_lanes16_(int v, int every)
{
    typedef uint16_t u16v VEC_;
    u16v place = {0};
    for (int i = 0; i < VEC_BYTES / 2; i++) place[i] = (uint16_t)i;
    place += (uint16_t)(v * (VEC_BYTES / 2));
    return (__m512i)(place / (uint16_t)every);
}
static inline __mmask32 apart_places16_(int v, int every)
{
    __mmask32 k = 0;
    for (int i = 0; i < VEC_BYTES / 2; i++)
        if ((v * (VEC_BYTES / 2) + i) % every == 0) k |= 1u << i;
    return k;
}

/* Bytes go sixteen at a time: they are put into each quarter of a vector, and
** there each can reach any place. */
APART_ vec_apart1_(char *to, const char *from, int every, int64_t n)
{
    int64_t done = 0;
    __mmask64 k = every == 2 ? 0x55555555 : every == 3 ? 0x249249249249
        : 0x1111111111111111;
    uint8_t lanes[VEC_BYTES];
    for (int i = 0; i < VEC_BYTES; i++) lanes[i] = (uint8_t)(i / every % 16);
    __m512i lane = _mm512_loadu_si512(lanes);
    for (; n - done > 16; done += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(from + done));
        __m512i y = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(x), lane);
        _mm512_mask_storeu_epi8(to + done * every, k, y);
    }
    return done;
}

APART_ vec_apart2_(char *to, const char *from, int every, int64_t n)
{
    int64_t done = 0;
    for (; n - done > 32; done += 32, from += 64)
        for (int v = 0; v < every; v++, to += 64)
            _mm512_mask_storeu_epi16(to, apart_places16_(v, every),
                _mm512_permutexvar_epi16(apart_lanes16_(v, every),
                                         _mm512_loadu_si512(from)));
    return done;
}

static inline void apart_store_(void *to, i32v places, i32v lanes, i32v x)
{
    _mm512_mask_storeu_epi32(to, _mm512_movepi32_mask((__m512i)places),
        _mm512_permutexvar_epi32((__m512i)lanes, (__m512i)x));
}
#elif defined(__AVX2__)
static inline void apart_store_(void *to, i32v places, i32v lanes, i32v x)
{
    _mm256_maskstore_epi32(to, (__m256i)places,
        _mm256_permutevar8x32_epi32((__m256i)x, (__m256i)lanes));
}
#endif

APART_ vec_apart(char *to, const char *from, int size, int every, int64_t n)
{
    int64_t done = 0;
#if defined(__AVX512F__)
    if (size == 1) return vec_apart1_(to, from, every, n);
    if (size == 2) return vec_apart2_(to, from, every, n);
#endif
#if defined(__AVX2__)
    int64_t step = VEC_BYTES / size;
    if (size < 4) return 0;
    for (; n - done > step; done += step, from += VEC_BYTES)
        for (int v = 0; v < every; v++, to += VEC_BYTES)
            apart_store_(to, apart_places_(v, size / 4, every),
                         apart_lanes_(v, size / 4, every), i32_load(from));
#endif
    return done;
}

#undef APART_

#endif
