/*
** Logarithms, the inverse hyperbolic functions and roots: log x = k log 2 +
** log c + log(1 + r) with c from a table and r exact in two parts.
*/
#include "base/libm/libm_parts.h"

/* ---- tables and coefficients (libm_parts.h) ---- */

/* Table for z from 0.6875 to 1.375 in 128 steps of the upper bits of its
** pattern: a number of ten bits near 1/z, and minus its logarithm in two parts.
** Near 1 it is 1, so that the logarithm there is that of the rest alone. */
static const double log_table[][3] = {
    {0x1.738p0, -0x1.7d4eeef5eec6ep-2, 0x1.8f8f27d8e90e9p-61},
    {0x1.71p0, -0x1.7664e1239dbcfp-2, 0x1.f6d5d64f5daf8p-57},
    {0x1.6fp0, -0x1.70d42e2789236p-2, 0x1.52cc811d78d59p-57},
    {0x1.6dp0, -0x1.6b3bb2235943ep-2, 0x1.da856ccd987b3p-56},
    {0x1.6bp0, -0x1.659b57303e1f3p-2, 0x1.f893d41c411f1p-56},
    {0x1.69p0, -0x1.5ff3070a793d4p-2, 0x1.bc60efafc6f6ep-57},
    {0x1.67p0, -0x1.5a42ab0f4cfe2p-2, 0x1.8ebcb7dee9a3dp-56},
    {0x1.65p0, -0x1.548a2c3add263p-2, 0x1.819cf7e308ddbp-57},
    {0x1.63p0, -0x1.4ec973260026ap-2, 0x1.42a87d977dc5ep-56},
    {0x1.618p0, -0x1.4a7373cecf997p-2, -0x1.cb140cabb6bdbp-56},
    {0x1.5f8p0, -0x1.44a41b463c47cp-2, 0x1.d70c8309edcfcp-56},
    {0x1.5d8p0, -0x1.3ecc460ef5f5p-2, 0x1.4313e09807affp-58},
    {0x1.5b8p0, -0x1.38ebdb38ed321p-2, 0x1.3e8cc159afd1p-56},
    {0x1.5ap0, -0x1.347dd9a987d55p-2, 0x1.4dd4c580919f8p-57},
    {0x1.58p0, -0x1.2e8e2bae11d31p-2, 0x1.8f4cdb95ebdf9p-56},
    {0x1.56p0, -0x1.2895a13de86a3p-2, -0x1.7ad24c13f040ep-56},
    {0x1.548p0, -0x1.241558bfd1404p-2, 0x1.9bae06a5c872dp-65},
    {0x1.528p0, -0x1.1e0d0c33716bep-2, -0x1.e55361a93fe61p-57},
    {0x1.51p0, -0x1.1980d2dd4236fp-2, -0x1.9d3d1b0e4d147p-56},
    {0x1.4fp0, -0x1.136870293a8bp-2, -0x1.7b66298edd24ap-56},
    {0x1.4d8p0, -0x1.0ed005f657da4p-2, -0x1.c56bd2abfe82ap-56},
    {0x1.4cp0, -0x1.0a324e27390e3p-2, -0x1.7dcfde8061c03p-56},
    {0x1.4ap0, -0x1.0402594b4d041p-2, 0x1.28ec217a5022dp-57},
    {0x1.488p0, -0x1.feb0233e607ccp-3, -0x1.6e32d5e8c707fp-57},
    {0x1.47p0, -0x1.f550a564b7b37p-3, -0x1.c5f6dfd018c37p-61},
    {0x1.45p0, -0x1.e8c0252aa5a6p-3, 0x1.6e03a39bfc89bp-59},
    {0x1.438p0, -0x1.df46c0c722d2fp-3, -0x1.05616f20722e7p-57},
    {0x1.42p0, -0x1.d5c216b4fbb91p-3, -0x1.6e443597e4d4p-57},
    {0x1.408p0, -0x1.cc320c0176502p-3, -0x1.039a653793a85p-57},
    {0x1.3fp0, -0x1.c2968558c18c1p-3, 0x1.73dee38a3fb6bp-57},
    {0x1.3d8p0, -0x1.b8ef670420c3bp-3, 0x1.999bd0ee3fe88p-57},
    {0x1.3cp0, -0x1.af3c94e80bff3p-3, 0x1.398cff3641985p-58},
    {0x1.3a8p0, -0x1.a57df28244dcdp-3, 0x1.b9af132a24e39p-59},
    {0x1.39p0, -0x1.9bb362e7dfb83p-3, -0x1.575e31f003e0cp-57},
    {0x1.378p0, -0x1.91dcc8c340bdep-3, -0x1.aaf77bfd17182p-58},
    {0x1.36p0, -0x1.87fa06520c911p-3, 0x1.bf7fdbfa08d9ap-57},
    {0x1.348p0, -0x1.7e0afd630c274p-3, 0x1.83e270efcc373p-58},
    {0x1.33p0, -0x1.740f8f54037a5p-3, 0x1.b264062a84cdbp-58},
    {0x1.318p0, -0x1.6a079d0f7aad2p-3, 0x1.eedcbac2a7f18p-62},
    {0x1.3p0, -0x1.5ff3070a793d4p-3, 0x1.bc60efafc6f6ep-58},
    {0x1.2e8p0, -0x1.55d1ad4232d6fp-3, 0x1.ac8966e060839p-58},
    {0x1.2d8p0, -0x1.4f099f4a230b2p-3, -0x1.a0a02a1b24794p-61},
    {0x1.2cp0, -0x1.44d2b6ccb7d1ep-3, -0x1.9f4f6543e1f88p-57},
    {0x1.2a8p0, -0x1.3a8eb2d31a376p-3, 0x1.220a8abf098f4p-60},
    {0x1.29p0, -0x1.303d718e47fd3p-3, 0x1.6b9c7d96091fap-63},
    {0x1.28p0, -0x1.29552f81ff523p-3, -0x1.301771c407dbfp-57},
    {0x1.268p0, -0x1.1eed90e2dc2c3p-3, 0x1.4e47b44db854p-57},
    {0x1.25p0, -0x1.14785846742acp-3, -0x1.a28813e3a7f07p-57},
    {0x1.24p0, -0x1.0d77e7cd08e59p-3, -0x1.9a5dc5e9030acp-57},
    {0x1.228p0, -0x1.02ebb42bf3d4bp-3, 0x1.f4b9c01cb92c6p-59},
    {0x1.218p0, -0x1.f7b79fec37ddfp-4, 0x1.87e897ed01783p-59},
    {0x1.2p0, -0x1.e27076e2af2e6p-4, 0x1.61578001e0162p-60},
    {0x1.1fp0, -0x1.d4313d66cb35dp-4, -0x1.790dd951d90fap-58},
    {0x1.1d8p0, -0x1.beba818146765p-4, 0x1.e2db7c7d5a13p-58},
    {0x1.1c8p0, -0x1.b05b49bee43fep-4, -0x1.160c7c252f298p-58},
    {0x1.1bp0, -0x1.9ab42462033adp-4, 0x1.2099e1c184e8ep-59},
    {0x1.1ap0, -0x1.8c345d6319b21p-4, 0x1.4a697ab3424a9p-61},
    {0x1.188p0, -0x1.765bf23a6be13p-4, -0x1.0ff28ef6a592fp-58},
    {0x1.178p0, -0x1.67bb0726ec0fcp-4, 0x1.b692c214ddbecp-58},
    {0x1.168p0, -0x1.590cafdf01c28p-4, -0x1.3d5c8aaea76d2p-58},
    {0x1.15p0, -0x1.42edcbea646fp-4, -0x1.ddd4f935996c9p-59},
    {0x1.14p0, -0x1.341d7961bd1d1p-4, 0x1.b599f227becbbp-58},
    {0x1.13p0, -0x1.253f62f0a1417p-4, 0x1.c125963fc4cfdp-62},
    {0x1.118p0, -0x1.0ed839b5526fep-4, -0x1.7256ea8988a68p-61},
    {0x1.108p0, -0x1.ffae9119b9303p-5, -0x1.ba13162a9c446p-60},
    {0x1.0f8p0, -0x1.e19070c276016p-5, 0x1.19918a7a17dc1p-59},
    {0x1.0e8p0, -0x1.c355dd0921f2dp-5, 0x1.9b2a03e3be3a7p-60},
    {0x1.0dp0, -0x1.95c830ec8e3ebp-5, -0x1.f5a0e80520bf2p-59},
    {0x1.0cp0, -0x1.77458f632dcfcp-5, -0x1.18d3ca87b9296p-59},
    {0x1.0bp0, -0x1.58a5bafc8e4d5p-5, 0x1.ce55c2b4e2b72p-59},
    {0x1.0ap0, -0x1.39e87b9febd6p-5, 0x1.5bfa937f551bbp-59},
    {0x1.09p0, -0x1.1b0d98923d98p-5, 0x1.e9ae889bac481p-60},
    {0x1.078p0, -0x1.d91a66c543cc4p-6, 0x1.d34e608cbdaabp-62},
    {0x1.068p0, -0x1.9ace7551cc514p-6, -0x1.3409c1df8167fp-60},
    {0x1.058p0, -0x1.5c45a51b8d389p-6, 0x1.b10b6c3ec21b4p-60},
    {0x1.048p0, -0x1.1d7f7eb9eebe7p-6, 0x1.d41fe63d2dbf9p-61},
    {0x1.038p0, -0x1.bcf712c74384cp-7, 0x1.f6842688f499ap-62},
    {0x1.028p0, -0x1.3e7295d25a7d9p-7, 0x1.ff29a11443a06p-65},
    {0x1p0, 0x0p0, 0x0p0},
    {0x1p0, 0x0p0, 0x0p0},
    {0x1p0, 0x0p0, 0x0p0},
    {0x1.fap-1, 0x1.82448a388a2aap-7, 0x1.04b16137f09ap-62},
    {0x1.f6p-1, 0x1.432a925980cc1p-6, -0x1.8cdaf39004192p-60},
    {0x1.f2p-1, 0x1.c63d2ec14aaf2p-6, -0x1.ce030a686bd86p-60},
    {0x1.efp-1, 0x1.149e3e4005a8dp-5, -0x1.53482d1f9d7d7p-61},
    {0x1.ebp-1, 0x1.5715c4c03ceefp-5, -0x1.bbf88ec501b56p-61},
    {0x1.e7p-1, 0x1.9a187b573de7cp-5, -0x1.727626c86b3abp-59},
    {0x1.e4p-1, 0x1.ccb73cdddb2ccp-5, -0x1.e48fb0500efd4p-59},
    {0x1.ep-1, 0x1.08598b59e3a07p-4, -0x1.dd7009902bf32p-58},
    {0x1.ddp-1, 0x1.2207b5c78549ep-4, -0x1.cc0fbce104eaap-58},
    {0x1.d9p-1, 0x1.4485e03dbdfadp-4, 0x1.1ba349aadbc6ep-58},
    {0x1.d6p-1, 0x1.5e95a4d9791cbp-4, 0x1.f38745c5c450ap-58},
    {0x1.d2p-1, 0x1.8197e2f40e3fp-4, 0x1.b9f2dffbeed43p-60},
    {0x1.cfp-1, 0x1.9c0c32d4d2548p-4, 0x1.fb0be3ccc1532p-59},
    {0x1.ccp-1, 0x1.b6ac88dad5b1cp-4, -0x1.0057eed1ca59fp-59},
    {0x1.c9p-1, 0x1.d179788219364p-4, 0x1.9daf7df76ad2ap-59},
    {0x1.c6p-1, 0x1.ec739830a112p-4, -0x1.a2bf991780d3fp-59},
    {0x1.c2p-1, 0x1.08598b59e3a07p-3, -0x1.dd7009902bf32p-57},
    {0x1.bfp-1, 0x1.160c8024b27b1p-3, -0x1.2d56ff61c2bfbp-57},
    {0x1.bcp-1, 0x1.23d712a49c202p-3, -0x1.6e38161051d69p-57},
    {0x1.b9p-1, 0x1.31b994d3a4f85p-3, -0x1.c4716bdfc0cc9p-58},
    {0x1.b6p-1, 0x1.3fb45a59928ccp-3, -0x1.d87e6a354d056p-57},
    {0x1.b3p-1, 0x1.4dc7b897bc1c8p-3, -0x1.927d47803c5f4p-57},
    {0x1.b1p-1, 0x1.5737cc9018cddp-3, 0x1.4f4d710fec38ep-57},
    {0x1.aep-1, 0x1.6574ebe8c133ap-3, -0x1.d34f0f4621bedp-60},
    {0x1.abp-1, 0x1.73cb9074fd14dp-3, -0x1.521a000b4cf01p-57},
    {0x1.a8p-1, 0x1.823c16551a3c2p-3, -0x1.1232ce70be781p-57},
    {0x1.a5p-1, 0x1.90c6db9fcbcd9p-3, 0x1.054473941ad99p-57},
    {0x1.a3p-1, 0x1.9a8778debaa38p-3, 0x1.f47dfd871f87fp-57},
    {0x1.ap-1, 0x1.a93ed3c8ad9e3p-3, 0x1.bcafa9de97203p-57},
    {0x1.9dp-1, 0x1.b811730b823d2p-3, 0x1.a0ee735d9f0ecp-60},
    {0x1.9bp-1, 0x1.c2028ab17f9b4p-3, 0x1.f11aa3853a5f1p-57},
    {0x1.98p-1, 0x1.d1037f2655e7bp-3, 0x1.60629242471a2p-57},
    {0x1.96p-1, 0x1.db13db0d4894p-3, 0x1.aa11d49f96cb9p-58},
    {0x1.93p-1, 0x1.ea4449f04aaf5p-3, -0x1.d33919ab94074p-57},
    {0x1.91p-1, 0x1.f474b134df229p-3, -0x1.27c77ded76aadp-58},
    {0x1.8ep-1, 0x1.01eae5626c691p-2, -0x1.18290bd2932e2p-59},
    {0x1.8cp-1, 0x1.07138604d5862p-2, 0x1.cdb16ed4e9138p-56},
    {0x1.8ap-1, 0x1.0c42d676162e3p-2, 0x1.162c79d5d11eep-58},
    {0x1.87p-1, 0x1.14167ef367783p-2, 0x1.e0936abd4fa6ep-62},
    {0x1.85p-1, 0x1.1956d3b9bc2fap-2, 0x1.7b9d68d50a15dp-56},
    {0x1.83p-1, 0x1.1e9e1678899f4p-2, 0x1.512c3749a1e4ep-56},
    {0x1.8p-1, 0x1.269621134db92p-2, 0x1.e0efadd9db02bp-56},
    {0x1.7ep-1, 0x1.2bef07cdc9354p-2, -0x1.82dad7fd86088p-56},
    {0x1.7cp-1, 0x1.314f1e1d35ce4p-2, -0x1.3d69909e5c3dcp-56},
    {0x1.7ap-1, 0x1.36b6776be1117p-2, -0x1.324f0e883858ep-58},
    {0x1.78p-1, 0x1.3c25277333184p-2, -0x1.2ad27e50a8ec6p-56},
    {0x1.75p-1, 0x1.44591e0539f49p-2, -0x1.2b125247b0fa5p-56},
};
/* (log(1 + r) - r + r^2/2) / r^3, |r| <= 2^-7: 2^-58 of the first term. */
static const double log_poly[] = {
    0x1.5555555555555p-2, -0x1.000000000002dp-2, 0x1.99999999999ecp-3,
    -0x1.5555554a1668bp-3, 0x1.2492491a59141p-3, -0x1.00059c8f65faep-3,
    0x1.c726a5b537d11p-4,
};

/* ---- constants ---- */

#define TABLE_LOW UINT64_C(0x3fe6000000000000)    /* 0.6875 */

/* ln2 in three parts, and the logarithm of 2 to base 10: the first two times
** 2^11 are exact */
static const double LN2[] = {0x1.62e42fefa2p-1, 0x1.9ef35793c6p-41,
                             0x1.673007e5ed5e8p-81};
static const double LG2[] = {0x1.34413509f6p-2, 0x1.9fef311f12p-42,
                             0x1.66b02df245e0ap-83};
static const la_pair INV_LN2 = {0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56};
static const la_pair INV_LN10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

/* The logarithm of x / 2^*k, which is between 0.6875 and 1.375. */
static la_pair log_split(la_pair x, int *k)
{
    uint64_t from = bits_of(x.hi) - TABLE_LOW;
    int i = (int)(from >> 45 & 127);
    *k = (int)((int64_t)from >> 52);
    double z = from_bits(bits_of(x.hi) - ((uint64_t)*k << 52));
    double inverse = log_table[i][0], zh = upper(z);
    la_pair r = sum(zh * inverse - 1, (z - zh) * inverse);
    if (x.lo != 0)
        r = pair_add(r, (la_pair){scaled(x.lo, -*k) * inverse, 0});
    la_pair square = product(r.hi, r.hi);
    la_pair a = sum(log_table[i][1], r.hi), b = sum(a.hi, square.hi * -0.5);
    double lo = square.lo * -0.5 - r.hi * r.lo + log_table[i][2] + r.lo;
    lo += r.hi * r.hi * r.hi * POLY(r.hi, log_poly);
    return sum_down(b.hi, a.lo + b.lo + lo);
}

/* v + k * unit, the unit in three parts */
static la_pair add_units(la_pair v, int k, const double *unit)
{
    la_pair s = sum(k * unit[0], v.hi);
    return sum_down(s.hi, s.lo + (v.lo + k * unit[1] + k * unit[2]));
}

la_pair la_log_pair(la_pair x)
{
    int k;
    la_pair v = log_split(x, &k);
    return add_units(v, k, LN2);
}

/* log(1 + y), y.hi > -1 */
static la_pair log1p_pair(la_pair y)
{
    la_pair u = sum(1, y.hi);
    return la_log_pair(sum_down(u.hi, u.lo + y.lo));
}

/* x for log, a subnormal one 2^54 times as large and *k -54; false where the
** result is no logarithm: it is in *x then. */
static bool is_regular(double *x, int *k)
{
    *k = 0;
    if (*x >= 0x1p-1022 && *x < INFINITY) return true;
    if (*x == 0) *x = -INFINITY;
    else if (*x < 0) *x = NAN;
    else if (*x < INFINITY) {
        *x *= 0x1p54;
        *k = -54;
        return true;
    }
    return false;
}

double la_m_log(double x)
{
    int up, k;
    if (!is_regular(&x, &up)) return x;
    la_pair v = log_split((la_pair){x, 0}, &k);
    return add_units(v, k + up, LN2).hi;
}

/* The exponent is added last: of a power of 2 nothing else is left. */
double la_m_log2(double x)
{
    int up, k;
    if (!is_regular(&x, &up)) return x;
    la_pair v = pair_mul(log_split((la_pair){x, 0}, &k), INV_LN2);
    return pair_add((la_pair){k + up, 0}, v).hi;
}

double la_m_log10(double x)
{
    int up, k;
    if (!is_regular(&x, &up)) return x;
    la_pair v = pair_mul(log_split((la_pair){x, 0}, &k), INV_LN10);
    return add_units(v, k + up, LG2).hi;
}

/* The rounding of 1 + x is kept as the lower part of the sum. */
double la_m_log1p(double x)
{
    if (fabs(x) < 0x1p-54 || x != x) return x;
    if (x >= 0x1p54) return la_m_log(x);
    if (x <= -1) return x == -1 ? -INFINITY : NAN;
    return log1p_pair((la_pair){x, 0}).hi;
}

/* ---- inverse hyperbolic functions, by log(1 + y) ---- */

static const la_pair LOG_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/* log 2x, x far above 1 */
static double log_twice(double x)
{
    return pair_add(la_log_pair((la_pair){x, 0}), LOG_2).hi;
}

/* asinh a = log(1 + a + a^2 / (1 + sqrt(1 + a^2))) */
double la_m_asinh(double x)
{
    double a = fabs(x);
    if (!(a < INFINITY) || a < 0x1p-28) return x;
    if (a > 0x1p28) return copysign(log_twice(a), x);
    la_pair square = product(a, a);
    la_pair root = pair_sqrt(pair_add((la_pair){1, 0}, square));
    la_pair y = pair_div(square, pair_add((la_pair){1, 0}, root));
    return copysign(log1p_pair(pair_add((la_pair){a, 0}, y)).hi, x);
}

/* acosh x = log(1 + t + sqrt(2t + t^2)), t = x - 1 */
double la_m_acosh(double x)
{
    if (!(x > 1)) return x == 1 ? 0 : NAN;
    if (x > 0x1p28) return x < INFINITY ? log_twice(x) : x;
    la_pair t = sum(x, -1);
    la_pair root = pair_sqrt(pair_mul(t, pair_add(t, (la_pair){2, 0})));
    return log1p_pair(pair_add(t, root)).hi;
}

/* atanh a = log(1 + 2a / (1 - a)) / 2 */
double la_m_atanh(double x)
{
    double a = fabs(x);
    if (a < 0x1p-28 || x != x) return x;
    if (a >= 1) return a == 1 ? copysign(INFINITY, x) : NAN;
    la_pair y = pair_div((la_pair){a + a, 0}, sum(1, -a));
    return copysign(log1p_pair(y).hi * 0.5, x);
}

/* ---- roots ---- */

/* Cube root of m = x / 8^e, from 1 to 8: Newton's method from a line, then once
** more with the exact cube. */
double la_m_cbrt(double x)
{
    double a = fabs(x);
    int e = 0;
    if (!(a < INFINITY) || a == 0) return x;
    if (a < 0x1p-1022) {
        a *= 0x1p54;
        e = -18;
    }
    int k = (int)(bits_of(a) >> 52) - 1023, q = k / 3 - (k % 3 < 0);
    double m = scaled(a, -3 * q), y = 0.9 + m * 0.145;
    for (int i = 0; i < 5; i++) y -= (y - m / (y * y)) * (1 / 3.0);
    la_pair square = product(y, y), cube = product(square.hi, y);
    double rest = (m - cube.hi) - cube.lo - square.lo * y;
    return copysign(scaled(y + rest / (3 * square.hi), q + e), x);
}

/* An infinity counts more than NaN. Scaled by a power of 2 the squares neither
** overflow nor lose digits; what is below 2^-60 of the other does not count. */
double la_m_hypot(double x, double y)
{
    double a = fabs(x), b = fabs(y);
    if (isinf(a) || isinf(b)) return INFINITY;
    if (a != a || b != b) return a + b;
    double high = a > b ? a : b, low = a > b ? b : a;
    if (high == 0 || low <= high * 0x1p-60) return high + low;
    int k = (int)(bits_of(high) >> 52) - 1023;
    high = scaled(high, -k);
    low = scaled(low, -k);
    la_pair s = pair_add(product(high, high), product(low, low));
    return scaled(pair_sqrt(s).hi, k);
}
