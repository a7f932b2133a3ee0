/*
** SSE2, the baseline of x86-64: see the list in simd/vec.h. It has no rounding,
** blend, FMA or half-precision conversion: soft_*.inc emulate them, with the
** bits of the instructions but for f32_fma, which rounds twice here.
*/
#include <emmintrin.h>

#define MM(name) _mm_##name
#define REG_F __m128
#define REG_D __m128d
#define REG_I __m128i
#include "simd/isa/isa_x86.inc"
static inline f32v f32_fma(f32v a, f32v b, f32v c) { return a * b + c; }
static inline f64v f64_fma(f64v a, f64v b, f64v c) { return a * b + c; }
static inline f32v f32_select(i32v m, f32v a, f32v b)
{
    return (f32v)((m & (i32v)a) | (~m & (i32v)b));
}
static inline f64v f64_select(i64v m, f64v a, f64v b)
{
    return (f64v)((m & (i64v)a) | (~m & (i64v)b));
}
static inline i32v f32_sign_(f32v a) { return (i32v)a & INT32_MIN; }
static inline i64v f64_sign_(f64v a) { return (i64v)a & INT64_MIN; }
#define LANE f32
#define CTYPE float
#define MASK i32v
#define MAGIC 0x1p23f
#include "simd/isa/soft_round.inc"
#define LANE f64
#define CTYPE double
#define MASK i64v
#define MAGIC 0x1p52
#include "simd/isa/soft_round.inc"
static inline bool i32_any(i32v m) { return _mm_movemask_ps((__m128)m); }
static inline bool i64_any(i64v m) { return _mm_movemask_pd((__m128d)m); }
static inline bool i32_all(i32v m) { return _mm_movemask_ps((__m128)m) == 15; }
static inline bool i64_all(i64v m) { return _mm_movemask_pd((__m128d)m) == 3; }
/* Eight bytes are no SSE register: halves travel through the lower part. */
static inline __m128 f32h_up_(f32h h)
{
    return (__m128){h[0], h[1], 0, 0};
}
static inline f32h f32h_down_(__m128 a) { return (f32h){a[0], a[1]}; }
static inline f64v f64_from_f32h(f32h h)
{
    return (f64v)_mm_cvtps_pd(f32h_up_(h));
}
static inline f32h f32h_from_f64(f64v a)
{
    return f32h_down_(_mm_cvtpd_ps((__m128d)a));
}
static inline f32h f32_low(f32v a) { return (f32h){a[0], a[1]}; }
static inline f32h f32_high(f32v a) { return (f32h){a[2], a[3]}; }
static inline f32v f32_join(f32h low, f32h high)
{
    return (f32v)_mm_movelh_ps(f32h_up_(low), f32h_up_(high));
}
static inline void vec_stream(void *p, i32v v)
{
    _mm_stream_si128((__m128i *)p, (__m128i)v);
}
static inline u16h u16h_from_u32(u32v a)
{
    /* packs saturates signed values: move the sign bit of the half up. */
    __m128i x = _mm_srai_epi32(_mm_slli_epi32((__m128i)a, 16), 16);
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(_mm_packs_epi32(x, x));
    u16h h;
    memcpy(&h, &low, sizeof h);
    return h;
}
static inline u32v u32_from_u16h(u16h h)
{
    int64_t low;
    memcpy(&low, &h, sizeof low);
    return (u32v)_mm_unpacklo_epi16(_mm_cvtsi64_si128(low),
                                    _mm_setzero_si128());
}
#include "simd/isa/soft_half.inc"
#include "simd/permute/load_partial16.h"
#include "simd/isa/soft_part.inc"
