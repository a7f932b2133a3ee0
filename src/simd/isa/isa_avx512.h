/*
** AVX512 F, BW, DQ, VL: see the list in simd/vec.h, which includes this. Masks
** travel as vectors of all-ones lanes, as everywhere; compilers keep them in
** mask registers where they can.
*/
#if !defined(__AVX512F__) || !defined(__AVX512BW__) \
    || !defined(__AVX512DQ__) || !defined(__AVX512VL__)
#error "needs -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif
#include "simd/isa/intrinsics.h"

#define MM(name) _mm512_##name
#define REG_F __m512
#define REG_D __m512d
#define REG_I __m512i
#define HALF_F __m256
#define HALF_I __m256i
#define ROUND(name) _mm512_roundscale_##name
#include "simd/isa/isa_x86.inc"

/* Selects by bits: compilers keep a comparison in a mask register through this,
** but not through movepi32_mask. */
static inline f32v f32_select(i32v m, f32v a, f32v b)
{
    return (f32v)((i32v)b ^ (((i32v)a ^ (i32v)b) & m));
}
static inline f64v f64_select(i64v m, f64v a, f64v b)
{
    return (f64v)((i64v)b ^ (((i64v)a ^ (i64v)b) & m));
}
/* NaN when either is: lanes where a is NaN keep it. */
#define HAS_MAX_NAN
static inline f32v f32_max_nan(f32v a, f32v b)
{
    __mmask16 k = _mm512_cmp_ps_mask((__m512)a, (__m512)a, _CMP_ORD_Q);
    return (f32v)_mm512_mask_max_ps((__m512)a, k, (__m512)a, (__m512)b);
}
static inline f32v f32_min_nan(f32v a, f32v b)
{
    __mmask16 k = _mm512_cmp_ps_mask((__m512)a, (__m512)a, _CMP_ORD_Q);
    return (f32v)_mm512_mask_min_ps((__m512)a, k, (__m512)a, (__m512)b);
}
static inline f64v f64_max_nan(f64v a, f64v b)
{
    __mmask8 k = _mm512_cmp_pd_mask((__m512d)a, (__m512d)a, _CMP_ORD_Q);
    return (f64v)_mm512_mask_max_pd((__m512d)a, k, (__m512d)a, (__m512d)b);
}
static inline f64v f64_min_nan(f64v a, f64v b)
{
    __mmask8 k = _mm512_cmp_pd_mask((__m512d)a, (__m512d)a, _CMP_ORD_Q);
    return (f64v)_mm512_mask_min_pd((__m512d)a, k, (__m512d)a, (__m512d)b);
}
static inline bool i32_any(i32v m)
{
    return _mm512_movepi32_mask((__m512i)m) != 0;
}
static inline bool i64_any(i64v m)
{
    return _mm512_movepi64_mask((__m512i)m) != 0;
}
static inline bool i32_all(i32v m)
{
    return _mm512_movepi32_mask((__m512i)m) == 0xffff;
}
static inline bool i64_all(i64v m)
{
    return _mm512_movepi64_mask((__m512i)m) == 0xff;
}
#define HAS_MASKS
typedef __mmask16 f32k;
static inline f32k f32_above(f32v a, f32v b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
}
static inline f32v f32_pick(f32k k, f32v a, f32v b)
{
    return (f32v)_mm512_mask_blend_ps(k, (__m512)b, (__m512)a);
}
static inline bool i32_any_above(i32v a, i32v b)
{
    return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b) != 0;
}
static inline bool i64_any_above(i64v a, i64v b)
{
    return _mm512_cmpgt_epi64_mask((__m512i)a, (__m512i)b) != 0;
}
static inline f32h f32_low(f32v a)
{
    return (f32h)_mm512_castps512_ps256((__m512)a);
}
static inline f32h f32_high(f32v a)
{
    return (f32h)_mm512_extractf32x8_ps((__m512)a, 1);
}
static inline f32v f32_join(f32h low, f32h high)
{
    __m512 both = _mm512_castps256_ps512((__m256)low);
    return (f32v)_mm512_insertf32x8(both, (__m256)high, 1);
}
static inline void vec_stream(void *p, i32v v)
{
    _mm512_stream_si512((__m512i *)p, (__m512i)v);
}
static inline u16h u16h_from_u32(u32v a)
{
    return (u16h)_mm512_cvtepi32_epi16((__m512i)a);
}

static inline i32v i32_part_load_(const void *p, int64_t n)
{
    __mmask16 k = (__mmask16)((1u << n) - 1);
    return (i32v)_mm512_maskz_loadu_epi32(k, p);
}
static inline void i32_part_store_(void *p, int64_t n, i32v v)
{
    _mm512_mask_storeu_epi32(p, (__mmask16)((1u << n) - 1), (__m512i)v);
}
static inline u16h u16_part_load_(const void *p, int64_t n)
{
    return (u16h)_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), p);
}
static inline void u16_part_store_(void *p, int64_t n, u16h v)
{
    _mm256_mask_storeu_epi16(p, (__mmask16)((1u << n) - 1), (__m256i)v);
}
static inline i64v i64_part_load_(const void *p, int64_t n)
{
    __mmask8 k = (__mmask8)((1u << n) - 1);
    return (i64v)_mm512_maskz_loadu_epi64(k, p);
}
static inline void i64_part_store_(void *p, int64_t n, i64v v)
{
    _mm512_mask_storeu_epi64(p, (__mmask8)((1u << n) - 1), (__m512i)v);
}
