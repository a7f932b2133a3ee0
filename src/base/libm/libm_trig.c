/*
** Circular functions and their inverses. Arguments are reduced by pi/2 in four
** parts (Cody and Waite), huge ones by the bits of 2/pi that matter (Payne and
** Hanek); arctangents by the nearest sixteenth.
*/
#include "base/libm/libm_parts.h"

/* ---- tables and coefficients (libm_parts.h) ---- */

/* (sin(y)/y - 1) / y^2 by y^2, |y| <= pi/4: 2^-66. */
static const double sin_poly[] = {
    -0x1.5555555555555p-3, 0x1.111111111111p-7, -0x1.a01a01a019921p-13,
    0x1.71de3a545dd92p-19, -0x1.ae64540e0633bp-26, 0x1.61217b49ad79ap-33,
    -0x1.ab159dc3b3c21p-41,
};
/* (cos(y) - 1 + y^2/2) / y^4 by y^2, |y| <= pi/4: 2^-70. */
static const double cos_poly[] = {
    0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019dp-16,
    -0x1.27e4fb77119ecp-22, 0x1.1eed8de97b2c8p-29, -0x1.9394b6b53b9c8p-37,
    0x1.ab76634757375p-45,
};
/* The first 1,280 bits of 2/pi. */
static const uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
    0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
    0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
};
/* atan(i/16), i from 0, in two parts. */
static const double atan_table[][2] = {
    {0x0p0, 0x0p0},
    {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.0657e94db30dp-1, -0x1.d5b495f6349e6p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};
/* (atan(t)/t - 1) / t^2 by t^2, |t| <= 1/31: 2^-62. */
static const double atan_poly[] = {
    -0x1.5555555555555p-2, 0x1.999999999985dp-3, -0x1.249249223ff19p-3,
    0x1.c71c40f64f76bp-4, -0x1.738b90b97ca14p-4,
};

/* ---- constants ---- */

static const double TWO_OVER_PI = 0x1.45f306dc9c883p-1;
/* pi/2: the first three times 2^20 are exact */
static const double HALF_PI[] = {0x1.921fb544p0, 0x1.0b4611a6p-34,
                                 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};

/* 32 bits of 'limbs' (the lowest first) from bit 'at' up. */
static uint32_t bits_at(const uint32_t *limbs, int at)
{
    uint64_t two = limbs[at / 32] | (uint64_t)limbs[at / 32 + 1] << 32;
    return (uint32_t)(two >> at % 32);
}

/* a * 2/pi less the nearest integer, times pi/2; that integer modulo 4 goes to
** *quadrant. Words of 2/pi whose part of the product is a multiple of 4 are
** left out, and what is below 2^-137. */
static la_pair reduce_huge(double a, int *quadrant)
{
    int e = (int)(bits_of(a) >> 52) - 1023 - 52, first = (e - 2) / 32;
    uint64_t m = (bits_of(a) & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    if (first < 0 || e < 2) first = 0;
    uint32_t limbs[11] = {0}, factor[2] = {(uint32_t)m, (uint32_t)(m >> 32)};
    for (int i = 0; i < 2; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 7; j++) {
            carry += limbs[i + j]
                   + (uint64_t)factor[i] * two_over_pi[first + 6 - j];
            limbs[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        limbs[i + 7] = (uint32_t)carry;
    }
    int point = 32 * (first + 7) - e;         /* the bits of the fraction */
    uint32_t part[5];
    for (int j = 0; j < 5; j++) part[j] = bits_at(limbs, point - 32 * (j + 1));
    bool up = part[0] >> 31;
    *quadrant = (int)(bits_at(limbs, point) + up) & 3;
    la_pair f = {0, 0};
    double unit = up ? -0x1p-32 : 0x1p-32;
    for (int j = 0; j < 5; j++, unit *= 0x1p-32) {
        uint32_t word = up ? ~part[j] : part[j];
        la_pair s = sum(f.hi, word * unit);
        f = (la_pair){s.hi, f.lo + s.lo};
    }
    return pair_mul(sum_down(f.hi, f.lo), la_half_pi);
}

/* x less the nearest multiple of pi/2, whose count modulo 4 is *quadrant. */
static la_pair libm_trig_reduce(double x, int *quadrant)
{
    double a = fabs(x);
    *quadrant = 0;
    if (a < 0.785) return (la_pair){x, 0};
    if (a >= 0x1p20) {
        la_pair r = reduce_huge(a, quadrant);
        if (x > 0) return r;
        *quadrant = -*quadrant & 3;
        return pair_neg(r);
    }
    double n = nearest(x * TWO_OVER_PI);
    *quadrant = (int)n & 3;
    la_pair s = sum(x - n * HALF_PI[0], -(n * HALF_PI[1]));
    la_pair t = sum(s.hi, -(n * HALF_PI[2]));
    return sum_down(t.hi, s.lo + t.lo - n * HALF_PI[3]);
}

/* The sine and the cosine of |y| <= pi/4: the largest term exact, the rest with
** the effect of y's lower part, which the next term has to hold too. */
static la_pair sin_pair(la_pair y)
{
    double z = y.hi * y.hi;
    double rest = y.lo + (z * y.hi * POLY(z, sin_poly) - 0.5 * z * y.lo);
    return sum_down(y.hi, rest);
}
static la_pair cos_pair(la_pair y)
{
    la_pair z = product(y.hi, y.hi), c = sum_down(1, z.hi * -0.5);
    double rest = z.hi * z.hi * POLY(z.hi, cos_poly) - y.hi * y.lo;
    return sum_down(c.hi, c.lo + (rest - z.lo * 0.5));
}
/* The sine of y plus 'quadrant' right angles. */
static la_pair sine_from(la_pair y, int quadrant)
{
    la_pair r = quadrant & 1 ? cos_pair(y) : sin_pair(y);
    return quadrant & 2 ? pair_neg(r) : r;
}

double la_m_sin(double x)
{
    int q;
    if (!(fabs(x) < INFINITY)) return NAN;
    if (fabs(x) < 0x1p-27) return x;
    la_pair y = libm_trig_reduce(x, &q);
    return sine_from(y, q).hi;
}

double la_m_cos(double x)
{
    int q;
    if (!(fabs(x) < INFINITY)) return NAN;
    la_pair y = libm_trig_reduce(x, &q);
    return sine_from(y, q + 1).hi;
}

/* sin and cos are taken in two parts each, so that the quotient rounds once. */
double la_m_tan(double x)
{
    int q;
    if (!(fabs(x) < INFINITY)) return NAN;
    if (fabs(x) < 0x1p-27) return x;
    la_pair y = libm_trig_reduce(x, &q), s = sin_pair(y), c = cos_pair(y);
    return q & 1 ? -pair_div(c, s).hi : pair_div(s, c).hi;
}

/* The sine of pi x plus 'quadrant' right angles; halves are exact. */
static la_pair sinpi_from(double x, int quadrant)
{
    x -= 2 * floor(x * 0.5);                      /* 0 to 2, exact */
    double n = nearest(x + x);
    la_pair y = pair_mul((la_pair){x - n * 0.5, 0}, la_pi);
    return sine_from(y, (int)n + quadrant);
}

la_pair la_sinpi_pair(double x)
{
    la_pair s = sinpi_from(fabs(x), 0);
    return x < 0 ? pair_neg(s) : s;
}

double la_m_sinpi(double x)
{
    if (!(fabs(x) < INFINITY)) return NAN;
    if (x == floor(x)) return copysign(0, x);
    if (fabs(x) < 0x1p-900) return x * la_pi.hi;
    return la_sinpi_pair(x).hi;
}

double la_m_cospi(double x)
{
    if (!(fabs(x) < INFINITY)) return NAN;
    double a = fabs(x);
    if (a - floor(a) == 0.5) return 0;
    return sinpi_from(a, 1).hi;
}

/* ---- inverses ---- */

/* The angle of the point (b, a), both >= 0 and not both 0, near 1 by size.
**
** With c = i/16 near the tangent n/d of the smaller angle: atan(n/d) = atan(c)
** + atan((n - c d) / (d + c n)), the last quotient at most 1/31. */
static la_pair angle_pair(la_pair a, la_pair b)
{
    bool over = a.hi > b.hi;
    la_pair n = over ? b : a, d = over ? a : b;
    int i = (int)(n.hi / d.hi * 16 + 0.5);
    if (i > 0) {
        la_pair c = {i / 16.0, 0}, m = n;
        n = pair_add(n, pair_neg(pair_mul(c, d)));
        d = pair_add(d, pair_mul(c, m));
    }
    la_pair t = pair_div(n, d);
    double z = t.hi * t.hi;
    la_pair s = sum(atan_table[i][0], t.hi);
    double lo = s.lo + (atan_table[i][1] + t.lo
              + t.hi * z * POLY(z, atan_poly));
    la_pair r = sum_down(s.hi, lo);
    return over ? pair_add(la_half_pi, pair_neg(r)) : r;
}

static const la_pair ONE = {1, 0};

double la_m_atan(double x)
{
    double a = fabs(x);
    if (x != x || a < 0x1p-27) return x;
    if (a > 0x1p60) return copysign(la_half_pi.hi, x);
    return copysign(angle_pair((la_pair){a, 0}, ONE).hi, x);
}

/* sqrt(1 - a^2) */
static la_pair opposite(double a)
{
    return pair_sqrt(pair_mul(sum(1, -a), sum(1, a)));
}

double la_m_asin(double x)
{
    double a = fabs(x);
    if (!(a <= 1)) return NAN;
    if (a < 0x1p-27) return x;
    return copysign(angle_pair((la_pair){a, 0}, opposite(a)).hi, x);
}

double la_m_acos(double x)
{
    double a = fabs(x);
    if (!(a <= 1)) return NAN;
    la_pair angle = angle_pair(opposite(a), (la_pair){a, 0});
    return x < 0 ? pair_add(la_pi, pair_neg(angle)).hi : angle.hi;
}

/* Magnitudes that replace infinities and zeros. */
static double stand_in(double a, double other)
{
    if (isinf(a)) return 1;
    return isinf(other) ? 0 : a;
}

/* Scaled, so that the larger one is near 1; a size below 2^-70 of the other
** only counts where it is the result. */
double la_m_atan2(double y, double x)
{
    if (x != x || y != y) return x + y;
    double a = stand_in(fabs(y), x), b = stand_in(fabs(x), y);
    if (isinf(x) && isinf(y)) a = b = 1;
    bool left = signbit(x);
    if (a == 0) return copysign(left ? la_pi.hi : 0, y);
    if (b == 0) return copysign(la_half_pi.hi, y);
    int k = (int)(bits_of(a > b ? a : b) >> 52) - 1023;
    double as = scaled(a, -k), bs = scaled(b, -k);
    if (as < 0x1p-70) return copysign(left ? la_pi.hi : a / b, y);
    if (bs < 0x1p-70) return copysign(la_half_pi.hi, y);
    la_pair r = angle_pair((la_pair){as, 0}, (la_pair){bs, 0});
    if (left) r = pair_add(la_pi, pair_neg(r));
    return copysign(r.hi, y);
}
