/* AVX2, FMA and F16C: see the list in simd/vec.h, which includes this. */
#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "needs -mavx2 -mfma -mf16c"
#endif
#include "simd/isa/intrinsics.h"

#include "simd/permute/load_partial16.h"

#define MM(name) _mm256_##name
#define REG_F __m256
#define REG_D __m256d
#define REG_I __m256i
#define HALF_F __m128
#define HALF_I __m128i
#define ROUND(name) _mm256_round_##name
#include "simd/isa/isa_x86.inc"

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
static inline void vec_stream(void *p, i32v v)
{
    _mm256_stream_si256((__m256i *)p, (__m256i)v);
}
static inline u16h u16h_from_u32(u32v a)
{
    __m256i x = _mm256_packus_epi32((__m256i)a, (__m256i)a);
    return (u16h)_mm256_castsi256_si128(_mm256_permute4x64_epi64(x, 0x08));
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
