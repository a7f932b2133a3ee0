/*
** Exponentials, powers and hyperbolic functions: e^x = 2^k * 2^(j/64) * e^r,
** the middle factor from a table in two parts (Tang's method of 1989, with r in
** two parts too).
*/
#include "base/libm/libm_parts.h"

/* ---- tables and coefficients (libm_parts.h) ---- */

/* 2^(j/64), j from 0, in two parts. */
static const double exp_table[][2] = {
    {0x1p0, 0x0p0},
    {0x1.02c9a3e778061p0, -0x1.19083535b085dp-56},
    {0x1.059b0d3158574p0, 0x1.d73e2a475b465p-55},
    {0x1.0874518759bc8p0, 0x1.186be4bb284ffp-57},
    {0x1.0b5586cf9890fp0, 0x1.8a62e4adc610bp-54},
    {0x1.0e3ec32d3d1a2p0, 0x1.03a1727c57b53p-59},
    {0x1.11301d0125b51p0, -0x1.6c51039449b3ap-54},
    {0x1.1429aaea92dep0, -0x1.32fbf9af1369ep-54},
    {0x1.172b83c7d517bp0, -0x1.19041b9d78a76p-55},
    {0x1.1a35beb6fcb75p0, 0x1.e5b4c7b4968e4p-55},
    {0x1.1d4873168b9aap0, 0x1.e016e00a2643cp-54},
    {0x1.2063b88628cd6p0, 0x1.dc775814a8495p-55},
    {0x1.2387a6e756238p0, 0x1.9b07eb6c70573p-54},
    {0x1.26b4565e27cddp0, 0x1.2bd339940e9d9p-55},
    {0x1.29e9df51fdee1p0, 0x1.612e8afad1255p-55},
    {0x1.2d285a6e4030bp0, 0x1.0024754db41d5p-54},
    {0x1.306fe0a31b715p0, 0x1.6f46ad23182e4p-55},
    {0x1.33c08b26416ffp0, 0x1.32721843659a6p-54},
    {0x1.371a7373aa9cbp0, -0x1.63aeabf42eae2p-54},
    {0x1.3a7db34e59ff7p0, -0x1.5e436d661f5e3p-56},
    {0x1.3dea64c123422p0, 0x1.ada0911f09ebcp-55},
    {0x1.4160a21f72e2ap0, -0x1.ef3691c309278p-58},
    {0x1.44e086061892dp0, 0x1.89b7a04ef80dp-59},
    {0x1.486a2b5c13cdp0, 0x1.3c1a3b69062fp-56},
    {0x1.4bfdad5362a27p0, 0x1.d4397afec42e2p-56},
    {0x1.4f9b2769d2ca7p0, -0x1.4b309d25957e3p-54},
    {0x1.5342b569d4f82p0, -0x1.07abe1db13cadp-55},
    {0x1.56f4736b527dap0, 0x1.9bb2c011d93adp-54},
    {0x1.5ab07dd485429p0, 0x1.6324c054647adp-54},
    {0x1.5e76f15ad2148p0, 0x1.ba6f93080e65ep-54},
    {0x1.6247eb03a5585p0, -0x1.383c17e40b497p-54},
    {0x1.6623882552225p0, -0x1.bb60987591c34p-54},
    {0x1.6a09e667f3bcdp0, -0x1.bdd3413b26456p-54},
    {0x1.6dfb23c651a2fp0, -0x1.bbe3a683c88abp-57},
    {0x1.71f75e8ec5f74p0, -0x1.16e4786887a99p-55},
    {0x1.75feb564267c9p0, -0x1.0245957316dd3p-54},
    {0x1.7a11473eb0187p0, -0x1.41577ee04992fp-55},
    {0x1.7e2f336cf4e62p0, 0x1.05d02ba15797ep-56},
    {0x1.82589994cce13p0, -0x1.d4c1dd41532d8p-54},
    {0x1.868d99b4492edp0, -0x1.fc6f89bd4f6bap-54},
    {0x1.8ace5422aa0dbp0, 0x1.6e9f156864b27p-54},
    {0x1.8f1ae99157736p0, 0x1.5cc13a2e3976cp-55},
    {0x1.93737b0cdc5e5p0, -0x1.75fc781b57ebcp-57},
    {0x1.97d829fde4e5p0, -0x1.d185b7c1b85d1p-54},
    {0x1.9c49182a3f09p0, 0x1.c7c46b071f2bep-56},
    {0x1.a0c667b5de565p0, -0x1.359495d1cd533p-54},
    {0x1.a5503b23e255dp0, -0x1.d2f6edb8d41e1p-54},
    {0x1.a9e6b5579fdbfp0, 0x1.0fac90ef7fd31p-54},
    {0x1.ae89f995ad3adp0, 0x1.7a1cd345dcc81p-54},
    {0x1.b33a2b84f15fbp0, -0x1.2805e3084d708p-57},
    {0x1.b7f76f2fb5e47p0, -0x1.5584f7e54ac3bp-56},
    {0x1.bcc1e904bc1d2p0, 0x1.23dd07a2d9e84p-55},
    {0x1.c199bdd85529cp0, 0x1.11065895048ddp-55},
    {0x1.c67f12e57d14bp0, 0x1.2884dff483cadp-54},
    {0x1.cb720dcef9069p0, 0x1.503cbd1e949dbp-56},
    {0x1.d072d4a07897cp0, -0x1.cbc3743797a9cp-54},
    {0x1.d5818dcfba487p0, 0x1.2ed02d75b3707p-55},
    {0x1.da9e603db3285p0, 0x1.c2300696db532p-54},
    {0x1.dfc97337b9b5fp0, -0x1.1a5cd4f184b5cp-54},
    {0x1.e502ee78b3ff6p0, 0x1.39e8980a9cc8fp-55},
    {0x1.ea4afa2a490dap0, -0x1.e9c23179c2893p-54},
    {0x1.efa1bee615a27p0, 0x1.dc7f486a4b6bp-54},
    {0x1.f50765b6e454p0, 0x1.9d3e12dd8a18bp-54},
    {0x1.fa7c1819e90d8p0, 0x1.74853f3a5931ep-55},
};
/* (e^x - 1 - x - x^2/2) / x^3, |x| <= 0.4: 2^-60. */
static const double expm1_poly[] = {
    0x1.5555555555555p-3, 0x1.5555555555557p-5, 0x1.1111111111112p-7,
    0x1.6c16c16c14ef1p-10, 0x1.a01a01a01908fp-13, 0x1.a01a01b00a414p-16,
    0x1.71de3a5dec24dp-19, 0x1.27e4c28dbca06p-22, 0x1.ae6419cd06937p-26,
    0x1.1f9f58903183p-29, 0x1.61e1fe5de22c4p-33,
};
/* (sinh(x)/x - 1) / x^2 by x^2, |x| <= 0.4: 2^-67. */
static const double sinh_poly[] = {
    0x1.5555555555555p-3, 0x1.1111111111113p-7, 0x1.a01a01a01826dp-13,
    0x1.71de3a61c975p-19, 0x1.ae640bffb28afp-26, 0x1.61f33f178cdebp-33,
};

/* ---- constants ---- */

static const double INV_LN2_64 = 0x1.71547652b82fep6;
/* ln2/64 in three parts; the first two times 2^17 are exact */
static const double LN2_64[] = {0x1.62e42fefp-7, 0x1.473de6afp-40,
                                0x1.3c7673007e5edp-75};
static const la_pair LN2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/* 2^(n/64) * e^(r + rest), r up to ln2/128, rest so small that its square does
** not count. */
static la_pair libm_exp_finish(int n, double r, double rest, int *k)
{
    int j = n & 63;
    double q = r * r * (1 / 2.0 + r * (1 / 6.0 + r * (1 / 24.0
             + r * (1 / 120.0 + r * (1 / 720.0)))));
    double hi = exp_table[j][0];
    *k = (n - j) / 64;
    return sum_down(hi, exp_table[j][1] + hi * (r + (q + (rest + rest * r))));
}

la_pair la_exp_pair(la_pair x, int *k)
{
    double n = nearest(x.hi * INV_LN2_64);
    double a = x.hi - n * LN2_64[0], b = n * LN2_64[1], r = a - b;
    double rest = (a - r) - b + (x.lo - n * LN2_64[2]);
    return libm_exp_finish((int)n, r, rest, k);
}

/* e^x beyond the range of a double, NaN for NaN. */
static double beyond(double x)
{
    return x > 0 ? x * 0x1p1023 : x < 0 ? 0 : x;
}

/* Beyond +-750 the result is 0 or infinity; scaled() makes what lies between
** overflow or lose digits as it should. */
double la_m_exp(double x)
{
    int k;
    if (!(fabs(x) < 750)) return beyond(x);
    la_pair e = la_exp_pair((la_pair){x, 0}, &k);
    return scaled(e.hi, k);
}

/* x less its nearest 64th is exact, and its product with log 2 is kept in two
** parts: whole x give powers of 2. */
double la_m_exp2(double x)
{
    int k;
    if (!(fabs(x) < 1100)) return beyond(x);
    double n = nearest(x * 64);
    la_pair r = product(x - n / 64, LN2.hi);
    la_pair e = libm_exp_finish((int)n, r.hi, r.lo + (x - n / 64) * LN2.lo, &k);
    return scaled(e.hi, k);
}

/* e^x - 1, |x| < 700 */
static la_pair expm1_pair(double x)
{
    int k;
    if (fabs(x) < 0.35)
        return sum_down(x, x * x * 0.5 + x * x * x * POLY(x, expm1_poly));
    la_pair e = la_exp_pair((la_pair){x, 0}, &k);
    e = pair_scale(e, power_of_2(k < -100 ? -100 : k));
    return pair_add(e, (la_pair){-1, 0});
}

/* 1 is below the last digit of e^x where that is large; where it is tiny, e^x
** is below that of -1, which the sum rounds to all the same. */
double la_m_expm1(double x)
{
    if (x > 700) return la_m_exp(x);
    if (x < -40) return -1 + 0x1p-60;
    if (x != x || x == 0) return x;
    return expm1_pair(x).hi;
}

/* ---- powers ---- */

/* |x|^y, x not 0, 1, infinite or NaN, y finite */
static double magnitude(double x, double y)
{
    int k;
    double up = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        up = -54;
    }
    la_pair l = la_log_pair((la_pair){x, 0});
    if (up != 0) l = pair_add(l, pair_mul(LN2, (la_pair){up, 0}));
    if (!(fabs(l.hi * y) < 760)) return beyond(l.hi * y);
    la_pair p = product(l.hi, y);
    la_pair e = la_exp_pair(sum_down(p.hi, p.lo + l.lo * y), &k);
    return scaled(e.hi, k);
}

/* 0 or infinity to a power */
static double power_of_end(double x, double y, bool odd)
{
    double r = (x == 0) == (y > 0) ? 0 : INFINITY;
    return odd ? copysign(r, x) : r;
}

/* The cases in the order of C11 F.10.4.4. From 2^53 on every number is even. */
double la_m_pow(double x, double y)
{
    bool whole = fabs(y) >= 0x1p53 || y == nearest(y * 0.5) * 2
        || (fabs(y) < 0x1p52 && y == floor(y));
    bool odd = whole && fabs(y) < 0x1p53 && y * 0.5 != floor(y * 0.5);
    if (x == 1 || y == 0) return 1;
    if (x != x || y != y) return x + y;
    if (isinf(y)) {
        if (x == -1) return 1;
        return (fabs(x) > 1) == (y > 0) ? INFINITY : 0;
    }
    if (x == 0 || isinf(x)) return power_of_end(x, y, odd);
    if (x < 0 && !whole) return NAN;
    if (x == -1) return odd ? -1 : 1;
    double r = magnitude(fabs(x), y);
    return x < 0 && odd ? -r : r;
}

/* ---- hyperbolic functions ---- */

/* (e^a + sign e^-a) / 2, a > 0.3 */
static double half_sum(double a, double sign)
{
    int k;
    la_pair e = la_exp_pair((la_pair){a, 0}, &k);
    if (a > 22) return scaled(e.hi, k - 1);
    e = pair_scale(e, power_of_2(k));
    la_pair inverse = pair_div((la_pair){sign, 0}, e);
    return pair_add(e, inverse).hi * 0.5;
}

/* Near zero the two exponentials would cancel. */
double la_m_sinh(double x)
{
    double a = fabs(x), z = x * x;
    if (a < 0.4) return x + x * z * POLY(z, sinh_poly);
    if (!(a < 750)) return x * 0x1p1023;
    return copysign(half_sum(a, -1), x);
}

double la_m_cosh(double x)
{
    double a = fabs(x);
    if (!(a < 750)) return a * 0x1p1023;
    return half_sum(a, 1);
}

/* (e^2a - 1) / (e^2a + 1) */
double la_m_tanh(double x)
{
    double a = fabs(x);
    if (!(a < 22)) return x != x ? x : copysign(1, x);
    if (a < 0x1p-28) return x;
    la_pair t = expm1_pair(a + a);
    return copysign(pair_div(t, pair_add(t, (la_pair){2, 0})).hi, x);
}
