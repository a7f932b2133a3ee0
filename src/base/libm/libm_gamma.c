/*
** Error functions and gamma. erfc x = e^(-x^2) g(x) / (x + 2) with g by
** polynomials of 1/(x + 2); gamma by Stirling's series from 8 on, below by its
** recurrence, and by reflection for negative numbers; lgamma near its zeros 1
** and 2 by polynomials over them.
*/
#include "base/libm/libm_parts.h"

/* ---- tables and coefficients (libm_parts.h) ---- */

/* (erf(x)/x - 2/sqrt(pi)) / x^2 by x^2, |x| <= 0.75: 2^-63. */
static const double erf_poly[] = {
    -0x1.812746b0379e7p-2, 0x1.ce2f21a042bdfp-4, -0x1.b82ce312888b9p-6,
    0x1.565bcd0e58a49p-8, -0x1.c02db3f882b3cp-11, 0x1.f9a324fef823cp-14,
    -0x1.f4d20b571f909p-17, 0x1.b9de790bf4933p-20, -0x1.5ee7002b1d2f2p-23,
    0x1.f10a98ff27e9bp-27, -0x1.09cfc8b6d302dp-30,
};
/* exp(x^2) erfc(x) (x + 2) as polynomials of 1/(x + 2) less the middle of its
** piece: x from 0.45 to 0.8, 1.25, 2, 3.25, 5.5, 10, 28; the constant term in
** two parts. At most 2^-66. */
static const double erfcx_middle[] = {
    0x1.87d6343eb1a1fp-2, 0x1.5465465465465p-2, 0x1.1d89d89d89d8ap-2,
    0x1.c30c30c30c30cp-3, 0x1.4b94b94b94b95p-3, 0x1.bbbbbbbbbbbbcp-4,
    0x1.ddddddddddddep-5,
};
static const double erfcx_poly[][14] = {
    {0x1.77eab5f4c45afp0, 0x1.8d08d97601cb2p-54, 0x1.fff9b4044f17p1,
     0x1.2e93323c83222p2, -0x1.1c7907454bd97p0, -0x1.936750b582022p2,
     0x1.cba6661a8ebe8p1, 0x1.141c7c07a8ca5p3, -0x1.c396b19ab1c8fp3,
     -0x1.18a1fc9f5bb28p1, 0x1.044fd265acd77p5, -0x1.44a5691e5355ap5,
     -0x1.a84de1fa23411p3, 0x1.d8ac046fe58fap6},
    {0x1.478edaf61cf72p0, -0x1.bdd1febb8f3fp-55, 0x1.c2851f41908dcp1,
     0x1.32f3bd1cc2cc8p2, 0x1.c4afd13c99799p-3, -0x1.b45fbadc35afdp2,
     0x1.260ebb7cddeb7p-2, 0x1.a1410eea6c589p3, -0x1.37050020b6323p3,
     -0x1.4cc9ff62e113fp4, 0x1.788819216f525p5, -0x1.f0e9bd7d11cd8p2,
     -0x1.cc1038d0a8ec5p6, 0x1.95e100923bd5dp7},
    {0x1.1ac9e74c4045bp0, -0x1.c7ed7cc685776p-54, 0x1.81859420fb83cp1,
     0x1.293e7adba549p2, 0x1.a5e78e6d56cc7p0, -0x1.92f58a709bd97p2,
     -0x1.10cbd7d84af62p2, 0x1.cd6944e10a8e2p3, 0x1.e8d93609eae21p1,
     -0x1.464bebbfd77d3p5, 0x1.ab9121c95c743p4, 0x1.744c76fc59979p6,
     -0x1.954e071b483a3p7, -0x1.0a4590be36712p4},
    {0x1.e3291b405344ap-1, 0x1.e29f6fbb5b617p-57, 0x1.3e9f12138c8e4p1,
     0x1.0f199516dd4e3p2, 0x1.7620243ab28c3p1, -0x1.17703343018b6p2,
     -0x1.127cd9e6180b9p3, 0x1.18a098f106e6cp3, 0x1.744e58fa7daa5p4,
     -0x1.146f4535092f3p5, -0x1.d2e0b7fd89365p5, 0x1.5209e5ff4e5b8p7,
     0x1.eb78928ef9c49p5, -0x1.72eba8e3799bfp9},
    {0x1.9fe02e7301aa5p-1, -0x1.535f63c13d006p-58, 0x1.038f7884dbb6p1,
     0x1.d3a53c67b6084p1, 0x1.d00e9775d6b6ap1, -0x1.99a468c32c59fp0,
     -0x1.36c5936fb8bccp3, -0x1.580529f991806p1, 0x1.cdf58139802b4p4,
     0x1.eed04f5049522p3, -0x1.bdcad400462e1p6, -0x1.3dc43aa115197p5,
     0x1.00dd59e7dfde1p9, -0x1.d18a5c1adb0e4p6},
    {0x1.6d5581644d18cp-1, -0x1.07b95dfb57b86p-56, 0x1.ab0deeed8c32p0,
     0x1.875fd460a228dp1, 0x1.da51c1def53a2p1, 0x1.7d560ddb30e0ep-1,
     -0x1.d62c60ebf71e4p2, -0x1.60243c8d22601p3, 0x1.99e8bb5f9056dp3,
     0x1.9f629bf7f7ad1p5, -0x1.3f764f0fae6d4p4, -0x1.f63135f62e9bcp7,
     0x1.66eabc236d848p4, 0x1.559e94e695ec5p10},
    {0x1.464f014710f99p-1, -0x1.a56312a491477p-55, 0x1.63beece20d0a7p0,
     0x1.42b125e2af9e5p1, 0x1.b381dc7a20918p1, 0x1.1154def4cb095p1,
     -0x1.ddc925cb52fafp1, -0x1.7ea1a893c33bap3, -0x1.910ee447406e6p2,
     0x1.210f3f98f6353p5, 0x1.2cc94fd46852cp6, -0x1.41a3a28a4311bp6,
     -0x1.e46f233ad09fep8, -0x1.353a0713cc917p5},
};
/* lgamma(x) / ((x - 1)(x - 2)) by x less the middle of the quarters of 1..2;
** the constant term in two parts. At most 2^-66. */
static const double lgamma_poly[][17] = {
    {0x1.18fa23339f753p-1, -0x1.9d66d0a6907a9p-58, -0x1.b0711b5caafdfp-3,
     0x1.e9e50dcc1e9afp-4, -0x1.4348c4d3c9d82p-4, 0x1.cd104346b8cf6p-5,
     -0x1.580598a58b16ap-5, 0x1.084e4687e9df9p-5, -0x1.9e7568d6630c4p-6,
     0x1.49db3f95ad697p-6, -0x1.0991aa8f26547p-6, 0x1.af9493aa84d6cp-7,
     -0x1.6157216bad213p-7, 0x1.22de6c49045dap-7, -0x1.e1e3c5aad1f5ap-8,
     0x1.a4353e797234ep-8, -0x1.5f41a7ade34cdp-8},
    {0x1.013d8539b967ap-1, -0x1.f9d938f5d035ap-55, -0x1.4e6fc9adb1f54p-3,
     0x1.3911f425318a4p-4, -0x1.5357c893b0c05p-5, 0x1.8cdb39b33d045p-6,
     -0x1.e585647363638p-7, 0x1.31d3c4bf63cadp-7, -0x1.89356e39f0d15p-8,
     0x1.0095ff758cf17p-8, -0x1.52b95412a8d73p-9, 0x1.c33c8fb326dep-10,
     -0x1.2ecb8b3dcb232p-10, 0x1.98bbb5c6efc4ap-11, -0x1.156cf67f8b674p-11,
     0x1.863fb2ad19276p-12, -0x1.0b30efa1b8e5cp-12},
    {0x1.dcfd339a88006p-2, -0x1.9b8c97b5170f7p-56, -0x1.0d79494357498p-3,
     0x1.aebb0c81e5095p-5, -0x1.8c66d24dc2b87p-6, 0x1.88f37b6d038d3p-7,
     -0x1.9755f4418ad69p-8, 0x1.b2cd23b570167p-9, -0x1.d9b6038f76639p-10,
     0x1.05f40f1cca0ddp-10, -0x1.250cf22f6126fp-11, 0x1.4ad1f6edd3d94p-12,
     -0x1.7835e126584f5p-13, 0x1.ae5c65638f29dp-14, -0x1.eef2d0c8ff3efp-15,
     0x1.244b142ca6e2cp-15, -0x1.5302701ac02bcp-16},
    {0x1.be5346f51a23p-2, -0x1.04eee9abfe95ap-59, -0x1.bf346f5de0ad4p-4,
     0x1.384caef1e460ep-5, -0x1.f3cb040748f2bp-7, 0x1.ae0b9be13acddp-8,
     -0x1.82bef48fca242p-9, 0x1.661e03b76b6eep-10, -0x1.527a91e778c7bp-11,
     0x1.44c724807957ap-12, -0x1.3b3d66dda11d5p-13, 0x1.34c4f9721d155p-14,
     -0x1.30a877a52a76bp-15, 0x1.2e65a134ff1cap-16, -0x1.2db96594a696dp-17,
     0x1.337329f168115p-18, -0x1.355173ea3036fp-19},
};
/* B(2k) / (2k (2k - 1)): the series of lgamma by 1/x. */
static const double stirling[] = {
    0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11,
    -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10,
    0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6, 0x1.6fe96381e068p-3,
    -0x1.6476701181f3ap0, 0x1.ace44322ce006p3,
};

/* ---- constants ---- */

static const la_pair TWO_OVER_ROOT_PI = {0x1.20dd750429b6dp0,
                                         0x1.1ae3a914fed8p-56};
static const la_pair HALF_LOG_2PI = {0x1.d67f1c864beb5p-1,
                                     -0x1.65b5a1b7ff5dfp-55};
static const la_pair LOG_PI = {0x1.250d048e7a1bdp0, 0x1.7abf2ad8d5088p-57};
static const la_pair ONE = {1, 0};

/* c[0] + c[1] + u * (c[2] + u * ...), the sum in two parts */
static la_pair poly_pair(double u, const double *c, int n)
{
    la_pair s = sum_down(c[0], u * polynomial(u, c + 2, n - 2));
    return (la_pair){s.hi, s.lo + c[1]};
}

/* ---- error functions ---- */

static la_pair erf_near(double x)
{
    la_pair p = pair_mul((la_pair){x, 0}, TWO_OVER_ROOT_PI);
    double z = x * x;
    return sum_down(p.hi, p.lo + x * z * POLY(z, erf_poly));
}

/* erfc x = result * 2^*k, x from 0.45 to 28 */
static la_pair erfc_far(double x, int *k)
{
    static const double ends[] = {0.8, 1.25, 2, 3.25, 5.5, 10};
    int i = 0;
    while (i < COUNT(ends) && x > ends[i]) i++;
    la_pair t = pair_div(ONE, sum(x, 2));
    la_pair g = poly_pair((t.hi - erfcx_middle[i]) + t.lo, erfcx_poly[i],
                          COUNT(erfcx_poly[0]));
    la_pair e = la_exp_pair(pair_neg(product(x, x)), k);
    return pair_mul(e, pair_mul(g, t));
}

double la_m_erf(double x)
{
    int k;
    double a = fabs(x);
    if (x != x || a < 0x1p-900) return x * TWO_OVER_ROOT_PI.hi;
    if (a < 0.75) return erf_near(x).hi;
    if (a > 6) return copysign(1, x);
    la_pair c = erfc_far(a, &k);
    c = pair_scale(c, power_of_2(k));
    return copysign(pair_add(ONE, pair_neg(c)).hi, x);
}

double la_m_erfc(double x)
{
    int k;
    if (x != x) return x;
    if (x < 0.46 && x > -0.75) return pair_add(ONE, pair_neg(erf_near(x))).hi;
    if (x < -6) return 2;
    if (x > 28) return 0;
    la_pair c = erfc_far(fabs(x), &k);
    if (x > 0) return scaled(c.hi, k);
    return pair_add((la_pair){2, 0}, pair_neg(pair_scale(c, power_of_2(k)))).hi;
}

/* ---- gamma ---- */

/* log gamma x, x.hi >= 8 */
static la_pair stirling_pair(la_pair x)
{
    double y = 1 / x.hi, z = y * y;
    la_pair l = la_log_pair(x);
    la_pair s = pair_mul(pair_add(x, (la_pair){-0.5, 0}), l);
    s = pair_add(s, pair_neg(x));
    s = pair_add(s, HALF_LOG_2PI);
    return pair_add(s, (la_pair){y * POLY(z, stirling), 0});
}

/* gamma x = result * 2^*k, x.hi > 0 and below 180 */
static la_pair gamma_pair(la_pair x, int *k)
{
    la_pair below = ONE;
    while (x.hi < 8) {
        below = pair_mul(below, x);
        x = pair_add(x, ONE);
    }
    return pair_div(la_exp_pair(stirling_pair(x), k), below);
}

/* Below zero by reflection. Gamma itself overflows from 171.6 on, its inverse
** vanishes from -184 down: between, powers of 2 are kept apart. */
double la_m_tgamma(double x)
{
    int k;
    if (x == 0) return copysign(INFINITY, x);
    if (x != x || x == INFINITY) return x;
    if (x > 172) return INFINITY;
    if (fabs(x) < 0x1p-60) return 1 / x;
    if (x > 0) {
        la_pair g = gamma_pair((la_pair){x, 0}, &k);
        return scaled(g.hi, k);
    }
    if (x == floor(x)) return NAN;
    if (x < -184) return copysign(0, floor(x * 0.5) * 2 == floor(x) ? 1 : -1);
    /* pi / (sin(pi x) gamma(1 - x)) */
    la_pair s = la_sinpi_pair(x), one_less = sum(1, -x);
    if (one_less.hi < 178) {
        la_pair g = gamma_pair(one_less, &k);
        return scaled(pair_div(la_pi, pair_mul(s, g)).hi, -k);
    }
    la_pair g = la_exp_pair(stirling_pair(one_less), &k);
    return scaled(pair_div(la_pi, pair_mul(s, g)).hi, -k);
}

/* log gamma(1 + d), d from 0 to 1 in two parts */
static la_pair lgamma_near(la_pair d)
{
    int i = (int)(d.hi * 4);
    i = i > 3 ? 3 : i;
    double u = (d.hi - (2 * i + 1) / 8.0) + d.lo;
    la_pair p = poly_pair(u, lgamma_poly[i], COUNT(lgamma_poly[0]));
    return pair_mul(pair_mul(d, pair_add(d, (la_pair){-1, 0})), p);
}

/* x > 0 */
static la_pair lgamma_pair(double x)
{
    if (x >= 8) return stirling_pair((la_pair){x, 0});
    if (x < 1)
        return pair_add(lgamma_near((la_pair){x, 0}),
                        pair_neg(la_log_pair((la_pair){x, 0})));
    la_pair over = ONE;
    for (; x > 2; x -= 1) over = pair_mul(over, (la_pair){x - 1, 0});
    la_pair near = lgamma_near((la_pair){x - 1, 0});
    return over.hi == 1 ? near : pair_add(la_log_pair(over), near);
}

double la_m_lgamma_sign(double x, int *sign)
{
    *sign = 1;
    if (x != x) return x;
    if (isinf(x) || x > 0x1.9p1014) return INFINITY;
    double a = fabs(x);
    if (a < 0x1p-60) {
        *sign = signbit(x) ? -1 : 1;
        return -la_m_log(a);
    }
    if (x >= 0x1p60) {
        la_pair l = la_log_pair((la_pair){x, 0});
        return pair_mul((la_pair){x, 0}, pair_add(l, (la_pair){-1, 0})).hi;
    }
    if (x > 0) return lgamma_pair(x).hi;
    if (x == floor(x)) return INFINITY;
    /* |gamma(x)| = pi / |x sin(pi x) gamma(-x)| */
    la_pair s = la_sinpi_pair(a);
    *sign = s.hi > 0 ? -1 : 1;
    la_pair size = pair_mul((la_pair){a, 0}, (la_pair){fabs(s.hi),
                            s.hi < 0 ? -s.lo : s.lo});
    la_pair r = pair_add(LOG_PI, pair_neg(la_log_pair(size)));
    return pair_add(r, pair_neg(lgamma_pair(a))).hi;
}

double la_m_lgamma(double x)
{
    int sign;
    return la_m_lgamma_sign(x, &sign);
}
