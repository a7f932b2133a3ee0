/*
** Decimal to binary and back, by 128 bits of each power of ten.
**
** 10^k = (g - e) * 2^r with g of 128 bits, 0 <= e < 1, r = floor(log2(10^k)) -
** 127. Both directions multiply one of these g by the 64 bits of the other
** number; only how the product is rounded differs. The table is 10 KB; with it
** a number is read in about 10 ns and written in 40, by the C library in 100 to
** 400 and, as it has to be asked for each number of digits, 1000.
*/
#include "base/decimal.h"

enum { LEAST = -292, MOST = 324, LAST_EXACT = 55 };

typedef struct power_of_ten { uint64_t high, low; } power_of_ten;

/* High and low of each. */
static const uint64_t powers_of_ten[2 * (MOST - LEAST + 1)] = {
#include "base/decimal_powers.inc"
};

static power_of_ten decimal_power(int k)
{
    const uint64_t *p = powers_of_ten + 2 * (k - LEAST);
    return (power_of_ten){p[0], p[1]};
}

/* floor(log2(10^k)), right for |k| <= 1233. */
static int log2_of_power(int k) { return (k * 1741647) >> 19; }

/* The upper word. */
static uint64_t high_part(unsigned __int128 v) { return (uint64_t)(v >> 64); }

/* Ratios and products of two exact doubles are rounded once. */
static bool nearest_of_small(uint64_t digits, int exponent, double *out)
{
    static const double exact[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
        1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
        1e21, 1e22};
    if (digits > UINT64_C(1) << 53 || exponent < -22 || exponent > 22)
        return false;
    *out = exponent < 0 ? (double)digits / exact[-exponent]
                        : (double)digits * exact[exponent];
    return true;
}

/*
** The product of the digits (64 bits) and the power g is 192 bits. As g is
** rounded up by less than one unit, the true product lies less than 2^64 below:
** it is on the same side of the middle between two doubles unless the bits
** behind the double's, but for the last 64, are those of the middle. Then only
** an exact g decides, by the last 64, and ties go to the even double. Numbers
** of 19 digits come to that case once in 2^70, ties that were written out
** always. A mantissa that is rounded up to 2^53 carries into the exponent.
*/
bool la_decimal_nearest(uint64_t digits, int exponent, double *out)
{
    if (nearest_of_small(digits, exponent, out)) return true;
    if (exponent < LEAST || exponent > MOST || digits == 0) return false;
    power_of_ten g = decimal_power(exponent);
    int shift = __builtin_clzll(digits);
    digits <<= shift;
    unsigned __int128 low = (unsigned __int128)digits * g.low;
    unsigned __int128 top = (unsigned __int128)digits * g.high
        + high_part(low);
    uint64_t high = high_part(top), middle = (uint64_t)top;
    int bits = 10 + (int)(high >> 63);      /* behind the mantissa, in high */
    int binary = log2_of_power(exponent) - 127 - shift + 180 + bits;
    if (binary <= -1022 || binary >= 1023) return false;
    uint64_t mantissa = high >> bits, half = UINT64_C(1) << (bits - 1);
    uint64_t rest = high & (2 * half - 1);
    bool up = rest >= half;
    if (rest == half && middle == 0) {
        if (exponent < 0 || exponent > LAST_EXACT) return false;
        up = (uint64_t)low != 0 || (mantissa & 1);
    }
    uint64_t word = ((uint64_t)(binary + 1022) << 52) + mantissa + up;
    memcpy(out, &word, sizeof word);
    return true;
}

/* The top 64 bits of g * v; the last one is 1 if any bit below is. */
static uint64_t round_to_odd(power_of_ten g, uint64_t v)
{
    unsigned __int128 top = (unsigned __int128)g.high * v
        + high_part((unsigned __int128)g.low * v);
    return high_part(top) | ((uint64_t)top > 1);
}

/* Zeros at the end go into the exponent. */
static la_decimal without_zeros(uint64_t digits, int exponent)
{
    for (; digits % 10 == 0; exponent++) digits /= 10;
    return (la_decimal){digits, exponent};
}

/*
** All in quarters of a unit of 10^k, the greatest power of ten that is not
** above the distance of two doubles: the number, and both ends of what is
** rounded to it, which belong to it where c is even. If there is a multiple of
** ten units between the ends there is one only, and it has the fewest digits;
** else the one or two multiples of one unit next to the number have. Rounding
** to odd keeps on which side of a quarter a number lies, which is all that is
** compared.
*/
la_decimal la_decimal_shortest(uint64_t c, int q, bool narrow)
{
    int k = (q * 1262611 - (narrow ? 524031 : 0)) >> 22;
    int h = q + log2_of_power(-k) + 1;
    power_of_ten g = decimal_power(-k);
    uint64_t at = round_to_odd(g, (4 * c) << h), odd = c & 1;
    uint64_t least = round_to_odd(g, (4 * c - 2 + narrow) << h) + odd;
    uint64_t most = round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = at / 4, tens = s / 10;
    if (s >= 10) {
        bool below = least <= 40 * tens, above = 40 * tens + 40 <= most;
        if (below != above) return without_zeros(tens + above, k + 1);
    }
    bool below = least <= 4 * s, above = 4 * s + 4 <= most;
    if (below != above) return without_zeros(s + above, k);
    bool up = at > 4 * s + 2 || (at == 4 * s + 2 && (s & 1));
    return without_zeros(s + up, k);
}

/* Pairs of digits, as divisions are what takes time. */
int la_decimal_digits(uint64_t v, char *to)
{
    char text[20];
    int at = 20;
    for (; v >= 100; v /= 100) {
        unsigned pair = (unsigned)(v % 100);
        text[--at] = (char)('0' + pair % 10);
        text[--at] = (char)('0' + pair / 10);
    }
    if (v >= 10) text[--at] = (char)('0' + v % 10), v /= 10;
    text[--at] = (char)('0' + v);
    memcpy(to, text + at, (size_t)(20 - at));
    return 20 - at;
}

/* ---- texts ----
**
** A text's first 19 digits are a number of 64 bits, which nearly always
** decides; the rest is left to exact arithmetic. What is not read here:
** signs, hexadecimal digits, words for infinity. A caller that takes them reads
** them itself, and all take numbers in the same notation. */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits at *at: their number; the value of the first 19 significant ones goes
** on in *v, and what does not fit counts in *lost. */
static int read_digits(const char **at, const char *end, uint64_t *v, int *lost)
{
    int n = 0;
    for (; *at < end && is_digit(**at); ++*at, n++) {
        if (*v < UINT64_C(1000000000000000000))
            *v = *v * 10 + (uint64_t)(**at - '0');
        else
            ++*lost;
    }
    return n;
}

/* "e+10" at *at, where it is one; else 0, and *at stays. */
static int read_exponent(const char **at, const char *end)
{
    const char *p = *at;
    int exponent = 0;
    if (p == end || (*p != 'e' && *p != 'E')) return 0;
    p++;
    bool down = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end || !is_digit(*p)) return 0;
    for (; p < end && is_digit(*p); p++)
        if (exponent < 100000) exponent = exponent * 10 + (*p - '0');
    *at = p;
    return down ? -exponent : exponent;
}

/* A text of zeros is zero, whatever its exponent is; one without any digit is
** no number, and one whose exponent has no digit ends in front of the 'e'. The
** value goes to the exact way with all of its digits, not with those that were
** kept here. */
la_decimal_text la_decimal_read(const char *text, const char *end)
{
    const char *p = text;
    uint64_t v = 0;
    int lost = 0, behind = 0;
    la_decimal_text out = {.end = text};
    int before = read_digits(&p, end, &v, &lost);
    const char *whole = p;
    if (p < end && *p == '.') {
        p++;
        behind = read_digits(&p, end, &v, &lost);
    }
    if (before + behind == 0) return out;
    const char *digits = p;
    int exponent = read_exponent(&p, end);
    out.end = p;
    out.whole = p == whole;
    if (lost || (v && !la_decimal_nearest(v, exponent - behind, &out.value)))
        out.value = la_decimal_exact(text, digits, exponent);
    return out;
}
