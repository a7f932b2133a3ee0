/*
** Rows of one to four elements in the lowest lanes of a vector: fields of
** structs. f32_load_row(p, w) reads w elements and no byte behind them, the
** other lanes are 0; f32_store_row(p, w, v) writes w elements and leaves what
** is behind them alone, as it may belong to another thread. Likewise for f64.
** 'w' is a constant where they are called. SHORT_ROWS is 0 where there are
** none: without AVX2.
*/
#ifndef LA_SIMD_SHORT_ROWS_H
#define LA_SIMD_SHORT_ROWS_H

#include <string.h>

#include "simd/vec.h"

#define ROW_ static inline __attribute__((always_inline))

#if defined(__AVX2__)
#include "simd/intrinsics.h"
#define SHORT_ROWS 1

/* One element in the lowest lane. By memcpy: elements of other types and
** smaller alignment travel through these lanes too, which the intrinsics for
** one float or double do not allow. */
ROW_ __m128 load_4(const void *p)
{
    float x;
    memcpy(&x, p, 4);
    return _mm_set_ss(x);
}
ROW_ void store_4(void *p, __m128 v)
{
    float x = _mm_cvtss_f32(v);
    memcpy(p, &x, 4);
}
ROW_ __m128d load_8(const void *p)
{
    double x;
    memcpy(&x, p, 8);
    return _mm_set_sd(x);
}
ROW_ void store_8(void *p, __m128d v)
{
    double x = _mm_cvtsd_f64(v);
    memcpy(p, &x, 8);
}
#endif

#if defined(__AVX512F__)

ROW_ f32v f32_load_row(const void *p, int w)
{
    __m128 x = w == 4 ? _mm_loadu_ps(p) : w == 1 ? load_4(p)
        : _mm_maskz_loadu_ps((__mmask8)((1 << w) - 1), p);
    return (f32v)_mm512_zextps128_ps512(x);
}
ROW_ void f32_store_row(void *p, int w, f32v v)
{
    __m128 x = _mm512_castps512_ps128((__m512)v);
    if (w == 4) _mm_storeu_ps(p, x);
    else if (w == 1) store_4(p, x);
    else _mm_mask_storeu_ps(p, (__mmask8)((1 << w) - 1), x);
}
ROW_ f64v f64_load_row(const void *p, int w)
{
    __m256d x = w == 4 ? _mm256_loadu_pd(p)
        : w == 1 ? _mm256_zextpd128_pd256(load_8(p))
        : _mm256_maskz_loadu_pd((__mmask8)((1 << w) - 1), p);
    return (f64v)_mm512_zextpd256_pd512(x);
}
ROW_ void f64_store_row(void *p, int w, f64v v)
{
    __m256d x = _mm512_castpd512_pd256((__m512d)v);
    if (w == 4) _mm256_storeu_pd(p, x);
    else if (w == 1) store_8(p, _mm256_castpd256_pd128(x));
    else _mm256_mask_storeu_pd(p, (__mmask8)((1 << w) - 1), x);
}

/* Masked stores of AVX2 take five cycles on some processors: rows of three go
** in two parts. */
#elif defined(__AVX2__)

ROW_ f32v f32_load_row(const void *p, int w)
{
    __m128 x;
    if (w == 4) x = _mm_loadu_ps(p);
    else if (w == 1) x = load_4(p);
    else if (w == 2) x = _mm_castsi128_ps(_mm_loadl_epi64(p));
    else x = _mm_maskload_ps(p, _mm_setr_epi32(-1, -1, -1, 0));
    return (f32v)_mm256_zextps128_ps256(x);
}
ROW_ void f32_store_row(void *p, int w, f32v v)
{
    __m128 x = _mm256_castps256_ps128((__m256)v);
    if (w == 4) _mm_storeu_ps(p, x);
    else if (w == 1) store_4(p, x);
    else {
        _mm_storel_epi64(p, _mm_castps_si128(x));
        if (w == 3) store_4((char *)p + 8, _mm_movehl_ps(x, x));
    }
}
ROW_ f64v f64_load_row(const void *p, int w)
{
    if (w == 4) return (f64v)_mm256_loadu_pd(p);
    if (w == 3)
        return (f64v)_mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0));
    __m128d x = w == 1 ? load_8(p) : _mm_loadu_pd(p);
    return (f64v)_mm256_zextpd128_pd256(x);
}
ROW_ void f64_store_row(void *p, int w, f64v v)
{
    __m128d x = _mm256_castpd256_pd128((__m256d)v);
    if (w == 4) _mm256_storeu_pd(p, (__m256d)v);
    else if (w == 1) store_8(p, x);
    else {
        _mm_storeu_pd(p, x);
        if (w == 3)
            store_8((char *)p + 16, _mm256_extractf128_pd((__m256d)v, 1));
    }
}

#else
#define SHORT_ROWS 0
#endif

#undef ROW_

#endif
