/*
** Constants and coefficients of float64 for math_own.inc: minimax polynomials,
** from the highest power down, in the manner of math_f32_coef.h, which also
** says what the constants are for.
*/
#ifndef LA_SIMD_MATH_MATH_F64_COEF_H
#define LA_SIMD_MATH_MATH_F64_COEF_H

/* (sinh r - r)/r^3 and (cosh r - 1)/r^2 in r^2, |r| <= ln2/2 */
static const double f64_sinh_c_[] = {
    0x1.af5ebf058d5e3p-26, 0x1.71ddf853a1031p-19, 0x1.a01a01afe5252p-13,
    0x1.111111110f6afp-7, 0x1.5555555555559p-3};
static const double f64_cosh_c_[] = {
    0x1.1f954917dda98p-29, 0x1.27e4c4ff25b27p-22, 0x1.a01a01b1806b4p-16,
    0x1.6c16c16c13f22p-10, 0x1.555555555555cp-5, 0x1p-1};
/* (atanh s - s)/s^3 in s^2, |s| <= 0.202 */
static const double f64_atanh_c_[] = {
    0x1.1c5af1f177b01p-4, 0x1.0daae50befebbp-4, 0x1.3b37bc693d457p-4,
    0x1.745c3afa0e3ecp-4, 0x1.c71c74d544029p-4, 0x1.249249219372ep-3,
    0x1.999999999c701p-3, 0x1.555555555554ep-2};
/* (atan t - t)/t^3 in t^2, |t| <= 1 */
static const double f64_atan_c_[] = {
    0x1.ba4f83ebc3771p-17, -0x1.3e3dbcb204c62p-13, 0x1.b2e76f25332dep-11,
    -0x1.797ef0dcbfe9p-9, 0x1.d70bfd6e134abp-8, -0x1.c71b5cb191c31p-7,
    0x1.6802237474625p-6, -0x1.e9ccf41806e55p-6, 0x1.2c20ff01d4e7ep-5,
    -0x1.599ddf74eada9p-5, 0x1.82d8ae57e8a15p-5, -0x1.ae5dddc99415ep-5,
    0x1.e1bb8855ac95bp-5, -0x1.110e4eeeb92d1p-4, 0x1.3b13665f5cbadp-4,
    -0x1.745d11aa761bcp-4, 0x1.c71c717fa6f0dp-4, -0x1.249249237efc8p-3,
    0x1.99999999955b2p-3, -0x1.5555555555526p-2};
/* (tan r - r)/r^3 in r^2, |r| <= pi/4 */
static const double f64_tan_c_[] = {
    0x1.48ddeff6f0f0dp-17, -0x1.975eb834828d6p-16, 0x1.981560b998162p-15,
    -0x1.ae3ad3cba6b39p-16, 0x1.19f838bf3e4dep-14, 0x1.5e7782153e364p-14,
    0x1.ff2ecbd812629p-13, 0x1.34bc1612446cdp-11, 0x1.7db18f6bf7b5ep-10,
    0x1.d6d2e7a6847a1p-9, 0x1.226e3a8194676p-7, 0x1.664f485d24537p-6,
    0x1.ba1ba1babf358p-5, 0x1.11111111105d2p-3, 0x1.555555555555ep-2};
/* (asin w - w)/w^3 in w^2, |w| <= 1/2 */
static const double f64_asin_c_[] = {
    0x1.060093ecd4bddp-5, -0x1.0b8551b036e17p-6, 0x1.410c9df7892abp-6,
    0x1.aa310c900a4afp-8, 0x1.8ef383b598169p-7, 0x1.c6f643c252761p-7,
    0x1.1c6c4417651d6p-6, 0x1.6e89eda1a3b41p-6, 0x1.f1c72c809ad02p-6,
    0x1.6db6db41993bdp-5, 0x1.333333336fe19p-4, 0x1.5555555555384p-3};
/* -log of 'near', in two parts of which the first has few bits; 'near' is one
** of 32 numbers of few bits near 1/m, m from LOG_PAIR_LOW to twice that, so
** that f = m*near - 1 is exact and below 0.0235; it is 1 around 1, where all of
** the logarithm is in f. */
static const double f64_table_near_[] = {
    0x1.5p0, 0x1.48p0, 0x1.4p0, 0x1.38p0, 0x1.38p0, 0x1.3p0, 0x1.28p0,
    0x1.28p0, 0x1.2p0, 0x1.18p0, 0x1.18p0, 0x1.1p0, 0x1.1p0, 0x1.08p0, 0x1p0,
    0x1p0, 0x1.fp-1, 0x1.ep-1, 0x1.d8p-1, 0x1.c8p-1, 0x1.b8p-1, 0x1.bp-1,
    0x1.a8p-1, 0x1.98p-1, 0x1.9p-1, 0x1.88p-1, 0x1.8p-1, 0x1.78p-1, 0x1.7p-1,
    0x1.68p-1, 0x1.6p-1, 0x1.58p-1};
static const double f64_table_high_[] = {
    -0x1.1675cababap-2, -0x1.fb9186d5e4p-3, -0x1.c8ff7c79aap-3,
    -0x1.9525a9cf46p-3, -0x1.9525a9cf46p-3, -0x1.5ff3070a7ap-3,
    -0x1.29552f82p-3, -0x1.29552f82p-3, -0x1.e27076e2bp-4, -0x1.6f0d28ae58p-4,
    -0x1.6f0d28ae58p-4, -0x1.f0a30c0118p-5, -0x1.f0a30c0118p-5,
    -0x1.f829b0e78p-6, 0, 0, 0x1.0415d89e78p-5, 0x1.08598b59e4p-4,
    0x1.4d3115d208p-4, 0x1.da72763844p-4, 0x1.365fcb015ap-3,
    0x1.5bf406b544p-3, 0x1.823c16551ap-3, 0x1.d1037f2656p-3,
    0x1.f991c6cb3cp-3, 0x1.1178e8227ep-2, 0x1.269621134ep-2,
    0x1.3c25277333p-2, 0x1.522ae0738ap-2, 0x1.68ac83e9c7p-2,
    0x1.7fafa3bd81p-2, 0x1.973a343135p-2};
static const double f64_table_low_[] = {
    -0x1.8380e731f55c4p-44, 0x1.d572aab993c87p-47, 0x1.7794f689f8434p-45,
    0x1.297137d9f158fp-44, 0x1.297137d9f158fp-44, 0x1.8586f183bebf2p-44,
    0x1.5b967f4471dfcp-44, 0x1.5b967f4471dfcp-44, 0x1.a342c2af0003cp-45,
    0x1.4b4641b664613p-44, 0x1.4b4641b664613p-44, 0x1.d599e83368e91p-45,
    0x1.d599e83368e91p-45, -0x1.980267c7e09e4p-45, 0, 0,
    -0x1.dddc7f461c516p-44, -0x1.7e5dd7009902cp-46, -0x1.53a2582f4e1efp-48,
    0x1.a89401fa71733p-46, -0x1.fd3a0afb9691bp-44, -0x1.27023eb68981cp-46,
    0x1.e0ddb9a631e83p-46, -0x1.84a7e75b6f6e4p-47, -0x1.90d04cd7cc834p-44,
    0x1.1ef78ce2d07f2p-44, -0x1.1b61f10522625p-44, 0x1.83b54b606bd5cp-46,
    0x1.ebe708164c759p-45, -0x1.7af966c548a3p-44, 0x1.46fb79bf6d4cbp-44,
    0x1.ab73b16bf4984p-44};
/* (log(1 + f) - f + f^2/2)/f^3 */
static const double f64_log_c_[] = {
    -0x1.9a222da7e7824p-4, 0x1.c79a89a94fb37p-4, -0x1.ffffec6af65e2p-4,
    0x1.249241ca6a418p-3, -0x1.55555555ebc34p-3, 0x1.99999999f0011p-3,
    -0x1.fffffffffffcep-3, 0x1.555555555554bp-2};
/* table[i & 31] */
static inline f64v f64_lookup_(const double table[32], u64v i)
{
#if defined(__AVX512F__)
    __m512d low = _mm512_permutex2var_pd(
        _mm512_loadu_pd(table), (__m512i)i, _mm512_loadu_pd(table + 8));
    __m512d high = _mm512_permutex2var_pd(
        _mm512_loadu_pd(table + 16), (__m512i)i, _mm512_loadu_pd(table + 24));
    __mmask8 upper = _mm512_test_epi64_mask((__m512i)i, _mm512_set1_epi64(16));
    return (f64v)_mm512_mask_blend_pd(upper, low, high);
#else
    return (f64v)_mm256_i64gather_pd(table, (__m256i)(i & 31), 8);
#endif
}

static inline i64v f64_greater_(i64v a, i64v b) { return i64_max(a, b); }
static inline bool f64_any_above_(i64v a, i64v b)
{
    return i64_any_above(a, b);
}
/* Like f32_cbrt_guess_; the third of the upper half of the bits is enough. */
static inline f64v f64_cbrt_guess_(f64v x)
{
    u64v third = u64_mul_low32((u64v)x >> 32, (u64v){0} + 0x55555555);
    return (f64v)(0x553ef1a9fbe76c00 - third);
}

#define LANE f64
#define CTYPE double
#define MASK i64v
#define BITS u64v
#define SIGN_BIT 0x8000000000000000u
#define EXPONENT_ 0xfff0000000000000u
#define MANTISSA 52
#define EXP_LIMIT 708
#define EXP_COUNT 0x1.71547652b82fep0
#define EXP_ADDEND EXP_SHIFT_64
#define EXP_LN2 0x1.62e42fefa39efp-1
#define EXP_LN2_LOW 0x1.abc9e3b39803fp-56
#define EXP_TOP 720
#define ROOT_LIMIT 0x1p500
#define CLOSE_TO_ONE 0x1.ffffffffffff8p-1
#define HUGEST 0x1.fffffffffffffp1023
#define ROUGH_ONE 0x7fde623822fc16e6u
#define HALF_LN2_HIGH 0x1.62e42fefa3ap-2
#define HALF_LN2_LOW -0x1.0ca86c3898dp-50
#define HALF_PI_HIGH 0x1.921fb54442d18p0
#define HALF_PI_LOW 0x1.1a62633145c07p-54
#define LOG_PAIR_LOW 0x1.84p-1
#define INDEX_SHIFT 47
#define LN2_HIGH 0x1.62e42fefa38p-1
#define LN2_LOW LN2_LOW_64
#define DENORMAL_UP 0x1p52
#define HUGE_POWER 0x1p80
#define POWER_TOP 800
#define LEAST_NORMAL 0x1p-1022
#define EXPONENT_UNIT 1
#define SQUARE_LOW 0x1p-400
#define ANGLE_TOP 0x1p20
#define CBRT_AGAIN true
#define CBRT_UP 0x1p600
#define CBRT_DOWN 0x1p-200
#include "simd/math/math_own.inc"

#endif
