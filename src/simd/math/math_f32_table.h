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

/* tanh: halves of octaves from 2^-4 to 9.2, where it is 1; the one below has
** centre 0. The interval is in the exponent and the first bit after it. */
static const float f32_tanh_rows_[9][16] = {
    {0x1.3fff66p1f, 0x1.bfff5cp1f, 0x1.40019ap2f, 0x1.bfe3b2p2f,
     0x1.135274p3f, 0, 0x1.3fff84p-4f, 0x1.bffecp-4f, 0x1.3fffap-3f,
     0x1.bffed4p-3f, 0x1.3fff52p-2f, 0x1.c000cep-2f, 0x1.3ffe2ep-1f,
     0x1.c0003ep-1f, 0x1.400036p0f, 0x1.bfff9p0f},
    {0x1.fd5fd8p-15f, 0x1.5eb192p-15f, 0x1.5b869cp-19f, 0x1.9a4dbep-25f,
     -0x1.dab37p-23f, -0x1.ba1ba2p-5f, 0x1.1f4bb6p13f, 0x1.fb94a2p11f,
     0x1.2acc52p6f, -0x1.437018p7f, 0x1.662006p0f, -0x1.be385ep0f,
     -0x1.c5f1ap-8f, 0x1.70b102p-7f, -0x1.1c0c72p-8f, -0x1.043504p-9f},
    {-0x1.6e6d6ap-11f, -0x1.495f4cp-13f, -0x1.3520bep-17f, -0x1.6adab8p-23f,
     -0x1.9653a6p-20f, 0, -0x1.c8ebep2f, -0x1.1d9c5ep2f, -0x1.d850b2p-3f,
     -0x1.965ea6p-3f, -0x1.1c66eap-4f, -0x1.104d9cp-4f, -0x1.8aa83cp-6f,
     0x1.abf218p-7f, 0x1.edfbd4p-7f, 0x1.1130c8p-9f},
    {0x1.76ff78p-9f, 0x1.ef08fap-12f, 0x1.91c07ep-16f, 0x1.d991c8p-22f,
     0x1.28c77ep-23f, 0x1.111112p-3f, -0x1.0e7662p2f, -0x1.cc790ep0f,
     -0x1.19f21p-5f, 0x1.8f3da4p-2f, 0x1.1e4524p-5f, 0x1.d71bfap-8f,
     -0x1.bab31ep-5f, -0x1.e223d2p-5f, -0x1.3ada96p-6f, 0x1.e4e6dep-9f},
    {-0x1.07d18p-7f, -0x1.39f21cp-10f, -0x1.f57ddep-15f, -0x1.27ae4cp-20f,
     0x1.e53a2cp-21f, 0, 0x1.bc147ep-5f, 0x1.286fa6p-4f, 0x1.8f6a52p-4f,
     0x1.0555aep-3f, 0x1.43c826p-3f, 0x1.5c37dp-3f, 0x1.1a6b5cp-3f,
     0x1.f202ccp-5f, -0x1.9c568p-7f, -0x1.816856p-6f},
    {0x1.16e0a4p-6f, 0x1.3c6bf6p-9f, 0x1.fbc60ap-14f, 0x1.2ac976p-19f,
     0x1.33ce04p-24f, -0x1.555556p-2f, -0x1.4c6eap-2f, -0x1.44fe22p-2f,
     -0x1.350afep-2f, -0x1.1868e4p-2f, -0x1.c198e4p-3f, -0x1.16f0b6p-3f,
     -0x1.24711cp-6f, 0x1.4f15aep-4f, 0x1.bba48ap-4f, 0x1.01ba9p-4f},
    {-0x1.adde4ap-6f, -0x1.dc5ed2p-9f, -0x1.7cf1f8p-13f, -0x1.c021ep-19f,
     -0x1.47a2aep-22f, 0, -0x1.3d68bp-4f, -0x1.b8ec2ap-4f, -0x1.35cb7cp-3f,
     -0x1.a489c8p-3f, -0x1.1991aap-2f, -0x1.5e0f62p-2f, -0x1.893b28p-2f,
     -0x1.6ba7acp-2f, -0x1.e72892p-3f, -0x1.b6d9a2p-4f},
    {0x1.b3b3f2p-6f, 0x1.dd3c94p-9f, 0x1.7cb91cp-13f, 0x1.bff526p-19f,
     0x1.2256p-23f, 1, 0x1.fce34p-1f, 0x1.f9ec74p-1f, 0x1.f3b366p-1f,
     0x1.e842eap-1f, 0x1.d115a4p-1f, 0x1.a94574p-1f, 0x1.62862ap-1f,
     0x1.024fdep-1f, 0x1.1f24acp-2f, 0x1.d22e22p-4f},
    {0x1.f92572p-1f, 0x1.ff112ap-1f, 0x1.fff41ap-1f, 0x1.ffffc8p-1f,
     0x1.fffffep-1f, 0, 0x1.3f5942p-4f, 0x1.be379cp-4f, 0x1.3d6b6ap-3f,
     0x1.b8fbe6p-3f, 0x1.35f8ecp-2f, 0x1.a5734ap-2f, 0x1.1bf33cp-1f,
     0x1.68667p-1f, 0x1.b2525ap-1f, 0x1.e1fbep-1f}
};
static inline f32v f32_tanh(f32v x)
{
    f32v a = f32_min(K(9.2f), f32_abs(x));   /* NaN stays */
    u32v i = (u32v)f32_max(a, K(0x1.8p-5f)) >> 22;
    return f32_copysign(f32_by_interval_(f32_tanh_rows_, 7, i, a), x);
}

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
/* f32_gelu for x >= -GELU_TOP: x times the tail below 0, times 1 - tail
** above. */
static inline f32v f32_gelu_near_(f32v x)
{
    f32v a = f32_min(K(GELU_TOP), f32_abs(x));   /* NaN stays */
    f32v count = f32_step_(a, K(0x1.3ab7acp-2f), 0x1.79a934p-1f);
    u32v i = (u32v)f32_fma(a, count, K(EXP_SHIFT));
    f32v tail = f32_by_interval_(f32_normal_rows_, 7, i, a);
    return f32_fma(-a, tail, f32_max(f32_zero(), x));
}

#endif
