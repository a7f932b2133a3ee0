/*
** Polynomials that depend on the interval: each lane looks up the centre and the
** coefficients of its own among sixteen. A lookup is one permutation with
** AVX512 and three operations with AVX2, cheaper than a division or a longer
** polynomial for all. Centres are chosen such that the value there is all but
** a float, so that the last addition leaves little more than its rounding.
*/
#ifndef LA_SIMD_MATH_F32_TABLE_H
#define LA_SIMD_MATH_F32_TABLE_H

/* table[i & 15] */
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

#endif
