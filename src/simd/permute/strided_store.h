/*
** Strided stores: a run of elements written to every second, third or fourth
** position, by permuting the lanes of a vector to where they go and storing
** under a mask. What lies between is neither read nor written, so it may belong
** to another thread or not be writable at all; a scatter instruction would take
** a cycle or more per element.
**
** vec_store_strided(to, from, size, every, n) stores as many of the n elements
** of 'size' bytes as make whole vectors and returns their number, less than n:
** the last is never among them, as a vector may reach beyond it. 'size' and
** 'every' are constants where it is called, so that permutations and masks are
** constants too, once the loops over v are unrolled. Without AVX2 it does
** nothing.
*/
#ifndef LA_SIMD_PERMUTE_STRIDED_STORE_H
#define LA_SIMD_PERMUTE_STRIDED_STORE_H

#include "simd/vec.h"

#define STRIDED_ static inline __attribute__((always_inline)) int64_t

#if defined(__AVX2__)
#include "simd/isa/intrinsics.h"

/* One vector of elements of w lanes each is spread over 'every' vectors; of the
** v-th of these: which lane of the source goes to each lane, and the mask of
** the lanes that take one. */
static inline __attribute__((always_inline))
i32v strided_lanes_(int v, int w, int every)
{
    i32v at = i32_iota(0) + v * I32_LANES;
    return at / (w * every) * w + at % (w * every);
}
static inline __attribute__((always_inline))
i32v strided_mask_(int v, int w, int every)
{
    i32v at = i32_iota(0) + v * I32_LANES;
    return at % (w * every) < w;
}
#endif

#if defined(__AVX512F__)

static inline __m512i strided_lanes16_(int v, int every)
{
    typedef uint16_t u16v VEC_;
    u16v at = {0};
    for (int i = 0; i < VEC_BYTES / 2; i++) at[i] = (uint16_t)i;
    at += (uint16_t)(v * (VEC_BYTES / 2));
    return (__m512i)(at / (uint16_t)every);
}
static inline __mmask32 strided_mask16_(int v, int every)
{
    __mmask32 k = 0;
    for (int i = 0; i < VEC_BYTES / 2; i++)
        if ((v * (VEC_BYTES / 2) + i) % every == 0) k |= 1u << i;
    return k;
}

/* Bytes go sixteen at a time: VPSHUFB moves bytes within 128 bits only, so the
** sixteen are broadcast to each quarter of the vector first. */
STRIDED_ vec_store_strided1_(char *to, const char *from, int every, int64_t n)
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

STRIDED_ vec_store_strided2_(char *to, const char *from, int every, int64_t n)
{
    int64_t done = 0;
    for (; n - done > 32; done += 32, from += 64)
#pragma GCC unroll 4
        for (int v = 0; v < every; v++, to += 64)
            _mm512_mask_storeu_epi16(to, strided_mask16_(v, every),
                _mm512_permutexvar_epi16(strided_lanes16_(v, every),
                                         _mm512_loadu_si512(from)));
    return done;
}

static inline void strided_store_(void *to, i32v mask, i32v lanes, i32v x)
{
    _mm512_mask_storeu_epi32(to, _mm512_movepi32_mask((__m512i)mask),
        _mm512_permutexvar_epi32((__m512i)lanes, (__m512i)x));
}
#elif defined(__AVX2__)
static inline void strided_store_(void *to, i32v mask, i32v lanes, i32v x)
{
    _mm256_maskstore_epi32(to, (__m256i)mask,
        _mm256_permutevar8x32_epi32((__m256i)x, (__m256i)lanes));
}
#endif

STRIDED_ vec_store_strided(char *to, const char *from, int size, int every,
                           int64_t n)
{
    int64_t done = 0;
#if defined(__AVX512F__)
    if (size == 1) return vec_store_strided1_(to, from, every, n);
    if (size == 2) return vec_store_strided2_(to, from, every, n);
#endif
#if defined(__AVX2__)
    int64_t step = VEC_BYTES / size;
    if (size < 4) return 0;
    for (; n - done > step; done += step, from += VEC_BYTES)
#pragma GCC unroll 4
        for (int v = 0; v < every; v++, to += VEC_BYTES)
            strided_store_(to, strided_mask_(v, size / 4, every),
                           strided_lanes_(v, size / 4, every), i32_load(from));
#endif
    return done;
}

#undef STRIDED_

#endif
