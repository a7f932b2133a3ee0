/*
** Polynomials that depend on the interval: each lane looks up the centre and
** the coefficients of its own among sixteen. A lookup is one permutation with
** AVX512 and three operations with AVX2, cheaper than a division or a longer
** polynomial for all. Centres are chosen such that the value there is all but a
** float, so that the last addition leaves little more than its rounding.
*/
#ifndef LA_SIMD_MATH_MATH_F32_TABLE_H
#define LA_SIMD_MATH_MATH_F32_TABLE_H

/* table[i & 15] in each lane. */
static inline f32v f32_lookup16_(const float table[16], u32v i)
{
#if defined(__AVX512F__)
    return (f32v)_mm512_permutexvar_ps((__m512i)i, _mm512_loadu_ps(table));
#else
    __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), (__m256i)i);
    __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8),
                                           (__m256i)i);
    return (f32v)_mm256_blendv_ps(low, high, (__m256)(i << 28));
#endif
}
/* The polynomial of interval i at x; rows: the centres, the coefficients from
** the highest down. */
static inline __attribute__((always_inline))
f32v f32_by_interval_(const float rows[][16], int degree, u32v i, f32v x)
{
    f32v d = x - f32_lookup16_(rows[0], i), p = f32_lookup16_(rows[1], i);
#pragma GCC unroll 8
    for (int k = 2; k <= degree + 1; k++)
        p = f32_fma(p, d, f32_lookup16_(rows[k], i));
    return p;
}

/* A row of eight intervals, twice: a vector of AVX512, of which nothing has to
** be repeated. */
#define ROW8(...) {__VA_ARGS__, __VA_ARGS__}
/* row[i & 7] in each lane: one permutation. */
static inline f32v f32_lookup8_(const float row[16], u32v i)
{
#if defined(__AVX512F__)
    return (f32v)_mm512_permutexvar_ps((__m512i)i, _mm512_loadu_ps(row));
#else
    return (f32v)_mm256_permutevar8x32_ps(_mm256_loadu_ps(row), (__m256i)i);
#endif
}
/* Polynomials of degree 7 on eight intervals, but for the last step, to
** rows[8]; d is the distance from the centre, x - rows[0]. Coefficients go by
** pairs, which shortens the chain of additions by a third. */
static inline f32v f32_by_interval8_(const float rows[9][16], u32v i, f32v d)
{
    f32v s = d * d;
    f32v p = f32_fma(f32_lookup8_(rows[2], i), d, f32_lookup8_(rows[3], i));
    f32v q = f32_fma(f32_lookup8_(rows[4], i), d, f32_lookup8_(rows[5], i));
    f32v r = f32_fma(f32_lookup8_(rows[6], i), d, f32_lookup8_(rows[7], i));
    p = f32_fma(f32_lookup8_(rows[1], i), s, p);
    q = f32_fma(p, s, q);
    return f32_fma(q, s, r);
}

/* tanh to 9.03, where it is 1: the intervals are halves of octaves of
** 1.66 |x| + 1, by the exponent and the first bit after it; the one at 0 has
** centre 0. */
static const float f32_tanh_rows_[9][16] = {
    ROW8(0x1.d2e018p-1f, 0x1.7e7c3cp0f, 0x1.33c7b6p1f, 0x1.d02e9ap1f,
         0x1.5b4da2p2f, 0x1.f703f8p2f, 0, 0x1.cd336ep-2f),
    ROW8(0x1.3a2d1ep-7f, -0x1.002d6ap-8f, -0x1.0f61fep-19f, 0x1.226f64p-15f,
         0x1.4254eep-20f, 0x1.4e9eacp-27f, -0x1.9c51c4p-5f, 0x1.32363p-5f),
    ROW8(0x1.d0cedcp-7f, 0x1.e63d7ap-8f, -0x1.7152dp-11f, -0x1.0703bap-13f,
         -0x1.1889d6p-18f, -0x1.14fe18p-25f, 0, -0x1.e70f86p-5f),
    ROW8(-0x1.c90276p-5f, -0x1.7f1824p-9f, 0x1.afc55p-9f, 0x1.82579p-12f,
         0x1.508108p-17f, 0x1.47db3p-24f, 0x1.10ae4ep-3f, -0x1.75a28cp-7f),
    ROW8(0x1.9c2a32p-5f, -0x1.97cc0cp-6f, -0x1.38181ap-7f, -0x1.e8e03ap-11f,
         -0x1.a5ac4cp-16f, -0x1.9ff0b4p-23f, 0, 0x1.5b0a2p-3f),
    ROW8(0x1.709b16p-4f, 0x1.6a1c98p-4f, 0x1.4dad82p-6f, 0x1.ec43a6p-10f,
         0x1.b1af16p-15f, 0x1.ac534p-22f, -0x1.55549ap-2f, -0x1.04f0cp-3f),
    ROW8(-0x1.61e9f8p-2f, -0x1.522fcap-3f, -0x1.02ac38p-5f, -0x1.723caap-9f,
         -0x1.4524bep-14f, -0x1.40a8fap-21f, 0, -0x1.634736p-2f),
    ROW8(0x1.ea2a6ep-2f, 0x1.7611fap-3f, 0x1.06eeep-5f, 0x1.72c0b2p-9f,
         0x1.446edap-14f, 0x1.3fe79cp-21f, 1, 0x1.a4b9bep-1f),
    ROW8(0x1.71ad7ap-1f, 0x1.cee2b2p-1f, 0x1.f7b762p-1f, 0x1.ff467ep-1f,
         0x1.fffaeep-1f, 0x1.fffff6p-1f, 0, 0x1.b05aa4p-2f)
};
static inline f32v f32_tanh(f32v x)
{
    f32v a = f32_min(K(9.03f), f32_abs(x));   /* NaN stays */
    u32v i = (u32v)f32_fma(a, K(1.66f), K(1)) >> 22;
    f32v d = a - f32_lookup8_(f32_tanh_rows_[0], i);
    f32v p = f32_by_interval8_(f32_tanh_rows_, i, d);
    return f32_copysign(f32_fma(p, d, f32_lookup8_(f32_tanh_rows_[8], i)), x);
}

/* erf to 3.925, where it is 1: intervals of one length, half as long at 0,
** where the polynomial is for erf(x) - x, which spares a rounding. */
static const float f32_erf_rows_[9][16] = {
    ROW8(0, 0x1.08b77cp-1f, 0x1.0b66dap0f, 0x1.90275ap0f, 0x1.0c413ep1f,
         0x1.504586p1f, 0x1.932fap1f, 0x1.ea8f8ap1f),
    ROW8(-0x1.e2e2d4p-6f, 0x1.8df8f8p-8f, 0x1.afef32p-7f, -0x1.6a9e34p-8f,
         -0x1.287212p-9f, 0x1.2ebc32p-11f, 0x1.0ce028p-12f, 0x1.c29cd8p-16f),
    ROW8(0x1.7e876p-9f, -0x1.89f8b6p-5f, 0x1.129b2cp-7f, 0x1.138daap-6f,
         -0x1.3eba24p-10f, -0x1.24f68p-9f, -0x1.b9dd9ap-12f, -0x1.42a6c2p-19f),
    ROW8(0x1.ca1566p-4f, 0x1.2fc06ap-9f, -0x1.13da3cp-4f, -0x1.057a52p-7f,
         0x1.a2e854p-7f, 0x1.134154p-8f, 0x1.0c593ep-11f, 0x1.ada2dcp-17f),
    ROW8(0x1.397bccp-13f, 0x1.77afaep-3f, 0x1.ba40cp-5f, -0x1.8a9fb2p-5f,
         -0x1.ce52bep-6f, -0x1.5fe79ep-8f, -0x1.0088c8p-11f, -0x1.084492p-17f),
    ROW8(-0x1.8129dep-2f, -0x1.126574p-3f, 0x1.31d57p-3f, 0x1.04174ep-3f,
         0x1.28cc6cp-5f, 0x1.3d7a3cp-8f, 0x1.6cdeeap-12f, 0x1.29c76ep-18f),
    ROW8(0x1.fff37cp-23f, -0x1.c9451ep-2f, -0x1.955b8ap-2f, -0x1.39cf8cp-3f,
         -0x1.df7062p-6f, -0x1.86e1c6p-9f, -0x1.6defe4p-13f, -0x1.e572aap-20f),
    ROW8(0x1.06eba8p-3f, 0x1.ba3696p-1f, 0x1.8412cp-2f, 0x1.9185f2p-4f,
         0x1.c989aep-7f, 0x1.299326p-10f, 0x1.d0ae7cp-15f, 0x1.fa59dep-22f),
    ROW8(0, 0x1.12172ap-1f, 0x1.b88376p-1f, 0x1.f22458p-1f, 0x1.fe71cp-1f,
         0x1.ffe566p-1f, 0x1.fffee6p-1f, 0x1.fffffep-1f)
};
static inline f32v f32_erf(f32v x)
{
    f32v a = f32_min(K(3.925f), f32_abs(x));   /* NaN stays */
    u32v i = (u32v)f32_fma(a, K(1.91f), K(EXP_SHIFT));
    f32v d = a - f32_lookup8_(f32_erf_rows_[0], i);
    f32v p = f32_by_interval8_(f32_erf_rows_, i, d);
    f32v known = f32_max(f32_lookup8_(f32_erf_rows_[8], i),
                         f32_min(a, K(0.27f)));
    return f32_copysign(f32_fma(p, d, known), x);
}

#undef ROW8

/* The upper tail of the normal distribution to GELU_TOP. It falls like
** e^(-a^2/2), so the intervals become shorter as the squares of a + 1.2 grow:
** in each the tail falls by about the same factor. */
#define GELU_TOP 6
static const float f32_normal_rows_[9][16] = {
    {0, 0x1.dc9f86p-1f, 0x1.9b1078p0f, 0x1.117fa2p1f, 0x1.4c3cecp1f,
     0x1.8093f6p1f, 0x1.b02314p1f, 0x1.dbce56p1f, 0x1.026a44p2f, 0x1.15d704p2f,
     0x1.28375cp2f, 0x1.399176p2f, 0x1.4a4bcp2f, 0x1.5a5c38p2f, 0x1.69e45ep2f,
     0x1.78c48cp2f},
    {0x1.c93d86p-11f, -0x1.5fa2b8p-11f, -0x1.9449fcp-12f, 0x1.ce3f4p-13f,
     0x1.c5ac4cp-13f, 0x1.7d0044p-14f, -0x1.36fc36p-16f, -0x1.0b4bf8p-15f,
     -0x1.94320ap-16f, -0x1.ce63fp-17f, -0x1.cbfc26p-18f, -0x1.8e8244p-19f,
     -0x1.4743a4p-20f, -0x1.ea6536p-22f, -0x1.67a0a2p-23f, -0x1.f2664ep-25f},
    {0x1.86b81p-12f, 0x1.311524p-9f, -0x1.021586p-10f, -0x1.34a0d6p-10f,
     -0x1.711138p-12f, 0x1.d448ep-14f, 0x1.935a26p-13f, 0x1.243b06p-13f,
     0x1.3f5192p-14f, 0x1.297d4cp-15f, 0x1.f4b78p-17f, 0x1.8ab3fp-18f,
     0x1.2352aep-19f, 0x1.9b0094p-21f, 0x1.15af02p-22f, 0x1.6e95d2p-24f},
    {-0x1.4d2bccp-7f, 0x1.990898p-9f, 0x1.5d51e2p-8f, 0x1.3b5e88p-10f,
     -0x1.dd2ee8p-11f, -0x1.21d4acp-10f, -0x1.785accp-11f, -0x1.827c82p-12f,
     -0x1.57a2cap-13f, -0x1.144b54p-14f, -0x1.9ea2fcp-16f, -0x1.299b8ep-17f,
     -0x1.95d2dap-19f, -0x1.0b093ap-20f, -0x1.5341bp-22f, -0x1.a8325ep-24f},
    {0x1.bbe836p-15f, -0x1.5ea52p-6f, -0x1.9695f2p-9f, 0x1.73af0cp-8f,
     0x1.6beebep-8f, 0x1.b06514p-9f, 0x1.9dd2e8p-10f, 0x1.5e0bbap-11f,
     0x1.0de1a6p-12f, 0x1.83a82ap-14f, 0x1.091e56p-15f, 0x1.5fc61ep-17f,
     0x1.bfdap-19f, 0x1.1528dp-20f, 0x1.4d598ap-22f, 0x1.8ca05cp-24f},
    {0x1.105048p-4f, 0x1.78f454p-8f, -0x1.d9b1c4p-6f, -0x1.8c3276p-6f,
     -0x1.ae799cp-7f, -0x1.7f570ap-8f, -0x1.2f87d8p-9f, -0x1.be5044p-11f,
     -0x1.338e78p-12f, -0x1.92451ap-14f, -0x1.fc02p-16f, -0x1.3a8bcep-17f,
     -0x1.787f7ep-19f, -0x1.b8e4dep-21f, -0x1.f832dcp-23f, -0x1.1e88c4p-24f},
    {0x1.106c4cp-21f, 0x1.ed2372p-4f, 0x1.696f92p-4f, 0x1.6424c8p-5f,
     0x1.24218ap-6f, 0x1.ae72f8p-8f, 0x1.27a866p-9f, 0x1.844c7ap-11f,
     0x1.e6e34p-13f, 0x1.259054p-14f, 0x1.5966dp-16f, 0x1.91f146p-18f,
     0x1.c6ca0ap-20f, 0x1.fa169ep-22f, 0x1.142302p-23f, 0x1.2cb66ap-25f},
    {-0x1.988454p-2f, -0x1.08dee4p-2f, -0x1.c22f6ep-4f, -0x1.4d5b8p-5f,
     -0x1.c23152p-7f, -0x1.1e88e8p-8f, -0x1.5e4c54p-10f, -0x1.a1d60ep-12f,
     -0x1.e2565ap-14f, -0x1.0e7ce6p-15f, -0x1.2a81f4p-17f, -0x1.482648p-19f,
     -0x1.607d76p-21f, -0x1.760ebp-23f, -0x1.86acaap-25f, -0x1.98a57cp-27f},
    {0x1p-1f, 0x1.68593ep-3f, 0x1.bbbdfp-5f, 0x1.0b3cd8p-6f, 0x1.356816p-8f,
     0x1.5ca83ap-10f, 0x1.81810ep-12f, 0x1.a6662ap-14f, 0x1.c4babcp-16f,
     0x1.db6238p-18f, 0x1.eea526p-20f, 0x1.01e92cp-21f, 0x1.07ed16p-23f,
     0x1.0bdd36p-25f, 0x1.0c6c5ap-27f, 0x1.0e422p-29f}
};
static inline f32v f32_normal_near_(f32v a)
{
    f32v count = f32_step_(a, K(0x1.3ab7acp-2f), 0x1.79a934p-1f);
    u32v i = (u32v)f32_fma(a, count, K(EXP_SHIFT));
    return f32_by_interval_(f32_normal_rows_, 7, i, a);
}
/* f32_gelu for x >= -GELU_TOP: x times the tail below 0, times 1 - tail
** above. */
static inline f32v f32_gelu_near_(f32v x)
{
    f32v a = f32_min(K(GELU_TOP), f32_abs(x));   /* NaN stays */
    return f32_fma(-a, f32_normal_near_(a), f32_max(f32_zero(), x));
}

#endif
