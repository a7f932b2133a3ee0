/*
** Constants and coefficients of float32 for math_own.inc: minimax polynomials
** by Sollya's fpminimax (relative error, single-precision coefficients), from
** the highest power down. The polynomial and its interval stand before each
** table.
*/
#ifndef LA_SIMD_MATH_MATH_F32_COEF_H
#define LA_SIMD_MATH_MATH_F32_COEF_H

/* (sinh r - r)/r^3 and (cosh r - 1)/r^2 in r^2, |r| <= ln2/2 */
static const float f32_sinh_c_[] = {
    0x1.a2e33ap-13f, 0x1.110fbep-7f, 0x1.555556p-3f};
static const float f32_cosh_c_[] = {
    0x1.6d4f14p-10f, 0x1.5554e6p-5f, 0x1p-1f};
/* (atanh s - s)/s^3 in s^2, |s| <= 0.202 */
static const float f32_atanh_c_[] = {
    0x1.374ebap-3f, 0x1.992602p-3f, 0x1.5555bap-2f};
/* (atan t - t)/t^3 in t^2, |t| <= 1 */
static const float f32_atan_c_[] = {
    -0x1.d4fe7ap-10f, 0x1.64f4acp-7f, -0x1.fe2454p-6f, 0x1.da6e9ap-5f,
    -0x1.581866p-4f, 0x1.c08fc8p-4f, -0x1.2420aep-3f, 0x1.9991e4p-3f,
    -0x1.55553ep-2f};
/* (tan r - r)/r^3 in r^2, |r| <= pi/4 */
static const float f32_tan_c_[] = {
    0x1.1f1228p-8f, 0x1.5fcadp-14f, 0x1.632138p-7f, 0x1.5cb268p-6f,
    0x1.badaep-5f, 0x1.110d9ap-3f, 0x1.55556p-2f};
/* (asin w - w)/w^3 in w^2, |w| <= 1/2 */
static const float f32_asin_c_[] = {
    0x1.59ddeep-5f, 0x1.8ba48cp-6f, 0x1.748b74p-5f, 0x1.330162p-4f,
    0x1.5555cap-3f};
/* -log of 'near', in two parts of which the first has few bits; 'near' is one
** of 16 numbers of few bits near 1/m, m from LOG_PAIR_LOW to twice that, so
** that f = m*near - 1 is exact and below 0.047; it is 1 around 1, where all of
** the logarithm is in f. */
static const float f32_table_near_[] = {
    0x1.4p0f, 0x1.4p0f, 0x1.3p0f, 0x1.2p0f, 0x1.2p0f, 0x1.1p0f, 0x1p0f,
    0x1p0f, 0x1.ep-1f, 0x1.cp-1f, 0x1.bp-1f, 0x1.ap-1f, 0x1.8p-1f, 0x1.7p-1f,
    0x1.6p-1f, 0x1.5p-1f};
static const float f32_table_high_[] = {
    -0x1.c9p-3f, -0x1.c9p-3f, -0x1.5ffp-3f, -0x1.e28p-4f, -0x1.e28p-4f,
    -0x1.f0cp-5f, 0, 0, 0x1.086p-4f, 0x1.118p-3f, 0x1.5bfp-3f, 0x1.a94p-3f,
    0x1.2698p-2f, 0x1.5228p-2f, 0x1.7fbp-2f, 0x1.af5p-2f};
static const float f32_table_low_[] = {
    0x1.070cacp-20f, 0x1.070cacp-20f, -0x1.83853cp-18f, 0x1.f123aap-17f,
    0x1.f123aap-17f, 0x1.cf3feep-17f, 0, 0, -0x1.9d2988p-18f, -0x1.c5f76p-17f,
    0x1.01ad5p-17f, -0x1.2c3752p-19f, -0x1.deecb2p-18f, 0x1.7039c6p-17f,
    -0x1.7109fap-20f, 0x1.4a9246p-17f};
/* (log(1 + f) - f + f^2/2)/f^3 */
static const float f32_log_c_[] = {
    0x1.258cd6p-3f, -0x1.56218ap-3f, 0x1.999948p-3f, -0x1.ffffdap-3f,
    0x1.555556p-2f};
static inline f32v f32_lookup_(const float table[16], u32v i)
{
    return f32_lookup16_(table, i);
}

static inline i32v f32_greater_(i32v a, i32v b) { return i32_max(a, b); }
static inline bool f32_any_above_(i32v a, i32v b)
{
    return i32_any_above(a, b);
}
/* The exponent of 2^k from its bits without the bias, times 2^23. */
static inline f32v f32_from_exponent_(u32v e)
{
    return f32_from_i32((i32v)e);
}
/* A first guess of 1/cbrt(x): minus a third of x's bits plus a constant divides
** the exponent by -3 and interpolates the mantissa linearly; 4 % off. */
static inline f32v f32_cbrt_guess_(f32v x)
{
    f32v third = f32_from_i32((i32v)x) * (-1 / 3.0f);
    return (f32v)i32_from_f32(third + 1419917306.0f);
}

/* EXP_*: argument reduction of e^x, and from where its branch for rare values
** is taken; ROOT_LIMIT, SQUARE_LOW: between them squares neither overflow nor
** lose digits; ROUGH_ONE: the bits of 1 doubled, less what halves the error of
** subtracting the bits; LOG_PAIR_*, LN2_*: the logarithm in two parts for
** pow. */
#define LANE f32
#define CTYPE float
#define MASK i32v
#define BITS u32v
#define SIGN_BIT 0x80000000u
#define EXPONENT_ 0xff800000u
#define MANTISSA 23
#define EXP_LIMIT 87
#define EXP_COUNT 0x1.715476p0f
#define EXP_ADDEND EXP_SHIFT
#define EXP_LN2 0x1.62e43p-1f
#define EXP_LN2_LOW -0x1.05c61p-29f
#define EXP_TOP 91
#define ROOT_LIMIT 0x1p60f
#define CLOSE_TO_ONE 0x1.fffff0p-1f
#define HUGEST 0x1.fffffep127f
#define ROUGH_ONE 0x7ef311c7u
#define HALF_LN2_HIGH 0x1.62e44p-25f
#define HALF_LN2_LOW -0x1.0105c6p-45f
#define HALF_PI_HIGH 0x1.921fb6p0f
#define HALF_PI_LOW -0x1.777a5cp-25f
#define LOG_PAIR_LOW 0x1.88p-1f
#define INDEX_SHIFT 19
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f
#define DENORMAL_UP 0x1p23f
#define HUGE_POWER 0x1p40f
#define POWER_TOP 120
#define LEAST_NORMAL 0x1p-126f
#define EXPONENT_UNIT 0x1p-23f
#define SQUARE_LOW 0x1p-40f
#define ANGLE_TOP ANGLE_LIMIT
#define CBRT_AGAIN false
#define CBRT_UP 0x1p90f
#define CBRT_DOWN 0x1p-30f
#include "simd/math/math_own.inc"

#endif
