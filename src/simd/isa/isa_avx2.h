/*
** AVX2, FMA and F16C: see the list in simd/vec.h, which includes this. Rounding
** modes are immediates: 8 is to nearest even, 9 down, 10 up, 11 toward zero,
** all without the inexact exception.
*/
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "needs -mavx2 -mfma -mf16c"
#endif
#include "simd/isa/intrinsics.h"

#include "simd/permute/load_partial16.h"

static inline f32v f32_sqrt(f32v a) { return (f32v)_mm256_sqrt_ps((__m256)a); }
static inline f64v f64_sqrt(f64v a)
{
    return (f64v)_mm256_sqrt_pd((__m256d)a);
}
static inline f32v f32_fma(f32v a, f32v b, f32v c)
{
    return (f32v)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
static inline f64v f64_fma(f64v a, f64v b, f64v c)
{
    return (f64v)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
static inline f32v f32_min(f32v a, f32v b)
{
    return (f32v)_mm256_min_ps((__m256)a, (__m256)b);
}
static inline f64v f64_min(f64v a, f64v b)
{
    return (f64v)_mm256_min_pd((__m256d)a, (__m256d)b);
}
static inline f32v f32_max(f32v a, f32v b)
{
    return (f32v)_mm256_max_ps((__m256)a, (__m256)b);
}
static inline f64v f64_max(f64v a, f64v b)
{
    return (f64v)_mm256_max_pd((__m256d)a, (__m256d)b);
}
static inline f32v f32_round(f32v a)
{
    return (f32v)_mm256_round_ps((__m256)a, 8);  /* nearest, no exceptions */
}
static inline f64v f64_round(f64v a)
{
    return (f64v)_mm256_round_pd((__m256d)a, 8);
}
static inline f32v f32_floor(f32v a)
{
    return (f32v)_mm256_round_ps((__m256)a, 9);
}
static inline f64v f64_floor(f64v a)
{
    return (f64v)_mm256_round_pd((__m256d)a, 9);
}
static inline f32v f32_ceil(f32v a)
{
    return (f32v)_mm256_round_ps((__m256)a, 10);
}
static inline f64v f64_ceil(f64v a)
{
    return (f64v)_mm256_round_pd((__m256d)a, 10);
}
static inline f32v f32_trunc(f32v a)
{
    return (f32v)_mm256_round_ps((__m256)a, 11);
}
static inline f64v f64_trunc(f64v a)
{
    return (f64v)_mm256_round_pd((__m256d)a, 11);
}
static inline f32v f32_select(i32v m, f32v a, f32v b)
{
    return (f32v)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)m);
}
static inline f64v f64_select(i64v m, f64v a, f64v b)
{
    return (f64v)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
}
static inline bool i32_any(i32v m) { return _mm256_movemask_ps((__m256)m); }
static inline bool i64_any(i64v m) { return _mm256_movemask_pd((__m256d)m); }
static inline bool i32_all(i32v m)
{
    return _mm256_movemask_ps((__m256)m) == 0xff;
}
static inline bool i64_all(i64v m)
{
    return _mm256_movemask_pd((__m256d)m) == 0xf;
}
static inline i32v i32_from_f32(f32v a)
{
    return (i32v)_mm256_cvttps_epi32((__m256)a);
}
static inline f32v f32_from_i32(i32v a)
{
    return (f32v)_mm256_cvtepi32_ps((__m256i)a);
}
static inline f64v f64_from_f32h(f32h h)
{
    return (f64v)_mm256_cvtps_pd((__m128)h);
}
static inline f32h f32h_from_f64(f64v a)
{
    return (f32h)_mm256_cvtpd_ps((__m256d)a);
}
static inline f32h f32_low(f32v a)
{
    return (f32h)_mm256_castps256_ps128((__m256)a);
}
static inline f32h f32_high(f32v a)
{
    return (f32h)_mm256_extractf128_ps((__m256)a, 1);
}
static inline f32v f32_join(f32h low, f32h high)
{
    return (f32v)_mm256_set_m128((__m128)high, (__m128)low);
}
static inline u64v u64_mul_low32(u64v a, u64v b)
{
    return (u64v)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
static inline void vec_stream(void *p, i32v v)
{
    _mm256_stream_si256((__m256i *)p, (__m256i)v);
}
static inline void vec_fence(void) { _mm_sfence(); }
static inline u16h u16h_from_u32(u32v a)
{
    __m256i x = _mm256_packus_epi32((__m256i)a, (__m256i)a);
    return (u16h)_mm256_castsi256_si128(_mm256_permute4x64_epi64(x, 0x08));
}
static inline u32v u32_from_u16h(u16h h)
{
    return (u32v)_mm256_cvtepu16_epi32((__m128i)h);
}
static inline f32v f16_widen(u16h h)
{
    return (f32v)_mm256_cvtph_ps((__m128i)h);
}
static inline u16h f16_narrow(f32v a)
{
    return (u16h)_mm256_cvtps_ph((__m256)a, 0);
}

/* Eight set words and eight clear ones: a mask of n lanes starts at 8 - n. */
static const int32_t part_mask_[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
static inline __m256i part_mask32_(int64_t n)
{
    return _mm256_loadu_si256((const __m256i *)(part_mask_ + 8 - n));
}
static inline i32v i32_part_load_(const void *p, int64_t n)
{
    return (i32v)_mm256_maskload_epi32((const int *)p, part_mask32_(n));
}
static inline void i32_part_store_(void *p, int64_t n, i32v v)
{
    _mm256_maskstore_epi32((int *)p, part_mask32_(n), (__m256i)v);
}
static inline i64v i64_part_load_(const void *p, int64_t n)
{
    return (i64v)_mm256_maskload_epi64((const long long *)p,
                                       part_mask32_(2 * n));
}
static inline void i64_part_store_(void *p, int64_t n, i64v v)
{
    _mm256_maskstore_epi64((long long *)p, part_mask32_(2 * n), (__m256i)v);
}
static inline u16h u16_part_load_(const void *p, int64_t n)
{
    const char *q = p;
    uint64_t low = soft_load16_(q, n < 4 ? n : 4);
    uint64_t high = soft_load16_(q + 8, n < 4 ? 0 : n - 4);
    return (u16h)_mm_set_epi64x((long long)high, (long long)low);
}
static inline void u16_part_store_(void *p, int64_t n, u16h v)
{
    char *q = p;
    soft_store16_(q, n < 4 ? n : 4, (uint64_t)_mm_cvtsi128_si64((__m128i)v));
    soft_store16_(q + 8, n < 4 ? 0 : n - 4,
                (uint64_t)_mm_extract_epi64((__m128i)v, 1));
}
