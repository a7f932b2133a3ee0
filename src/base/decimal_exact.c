/*
** Numbers of any length by exact arithmetic: what 128 bits of a power of ten do
** not decide, and printf's notations.
**
** A text is the ratio of two whole numbers, whose quotient is made bit by bit:
** 54 steps of a comparison and a subtraction, 5 us for the longest numbers. It
** is asked for subnormals, and for numbers of more than 19 digits.
**
** A double is a whole number and a binary fraction, whose decimal digits end: a
** multiplication by 10^18 moves 18 of them in front of the point. As all of
** them are known, rounding is right for any number of digits.
**
** Nothing is allocated: the largest numbers have 60 limbs, half a kilobyte.
*/
#include <math.h>

#include "base/decimal.h"

/* Digits that decide every double: the middle of two of them has 767 at most.
** All that is to be known of others is whether one is not zero. */
enum { MOST_DIGITS = 800 };
/* 10^(MOST_DIGITS + 330) has 3754 bits. */
enum { LIMBS = 60 };

static const uint64_t chunk = UINT64_C(1000000000000000000);    /* 10^18 */
enum { CHUNK_DIGITS = 18 };

/* A whole number; the highest of n limbs is not zero. */
typedef struct big {
    uint64_t limb[LIMBS];
    int n;
} big;

/* b = b * factor + addend */
static void multiply_add(big *b, uint64_t factor, uint64_t addend)
{
    unsigned __int128 carry = addend;
    for (int k = 0; k < b->n; k++) {
        carry += (unsigned __int128)b->limb[k] * factor;
        b->limb[k] = (uint64_t)carry;
        carry >>= 64;
    }
    if (carry && b->n < LIMBS) b->limb[b->n++] = (uint64_t)carry;
}

/* 10^exponent, at most 19. */
static uint64_t small_power(int exponent)
{
    uint64_t p = 1;
    while (exponent-- > 0) p *= 10;
    return p;
}

/* b = b * 10^exponent, in chunks that one limb holds. */
static void multiply_by_power(big *b, int exponent)
{
    for (; exponent >= CHUNK_DIGITS; exponent -= CHUNK_DIGITS)
        multiply_add(b, chunk, 0);
    multiply_add(b, small_power(exponent), 0);
}

/* b = b * 2^bits. From the top down, as limbs move up. */
static void shift_left(big *b, int bits)
{
    int whole = bits / 64, rest = bits % 64, n = b->n;
    if (n == 0) return;
    uint64_t high = rest ? b->limb[n - 1] >> (64 - rest) : 0;
    for (int k = n - 1; k >= 0; k--) {
        uint64_t below = rest && k > 0 ? b->limb[k - 1] >> (64 - rest) : 0;
        b->limb[k + whole] = b->limb[k] << rest | below;
    }
    for (int k = 0; k < whole; k++) b->limb[k] = 0;
    b->n = n + whole;
    if (high) b->limb[b->n++] = high;
}

/* Up to the highest one that is set. */
static int count_bits(const big *b)
{
    return b->n == 0 ? 0 : 64 * b->n - __builtin_clzll(b->limb[b->n - 1]);
}

/* a < b */
static bool is_below(const big *a, const big *b)
{
    if (a->n != b->n) return a->n < b->n;
    for (int k = a->n - 1; k >= 0; k--)
        if (a->limb[k] != b->limb[k]) return a->limb[k] < b->limb[k];
    return false;
}

/* a -= b, where that is no number below zero. */
static void exact_subtract(big *a, const big *b)
{
    bool borrow = false;
    for (int k = 0; k < a->n; k++) {
        uint64_t other = k < b->n ? b->limb[k] : 0, v = a->limb[k];
        a->limb[k] = v - other - borrow;
        borrow = v < other || (v == other && borrow);
    }
    while (a->n && a->limb[a->n - 1] == 0) a->n--;
}

/* ---- reading ---- */

/* The next bit of a / b, 0 <= a / b < 2; the rest is doubled. */
static unsigned next_bit(big *a, const big *b)
{
    bool set = !is_below(a, b);
    if (set) exact_subtract(a, b);
    shift_left(a, 1);
    return set;
}

/* a / b to the nearest, ties to even; 'more': a is a little too small. Both are
** scaled by powers of two until the quotient lies from 1 to below 2, so that
** its first bit is set. A subnormal has as many bits as its exponent leaves. */
static double nearest_ratio(big *a, big *b, bool more)
{
    int power = count_bits(a) - count_bits(b);
    shift_left(power < 0 ? a : b, power < 0 ? -power : power);
    if (is_below(a, b)) {
        shift_left(a, 1);
        power--;
    }
    if (power > 1023) return INFINITY;
    int bits = power < -1022 ? 53 + 1022 + power : 53;
    if (bits < 0) return 0;
    uint64_t mantissa = 0;
    for (int k = 0; k < bits; k++) mantissa = mantissa << 1 | next_bit(a, b);
    unsigned half = next_bit(a, b);
    mantissa += half && (a->n > 0 || more || (mantissa & 1));
    return ldexp((double)mantissa, power - bits + 1);
}

/* The significant digits of a text as they come. */
typedef struct digit_reader {
    big value;
    uint64_t part;              /* digits that are not in 'value' yet */
    int nparts, digits;
    bool more;                  /* digits beyond the most that are kept */
} digit_reader;

/* The digits that wait go into the number: one multiplication for 18. */
static void flush(digit_reader *s)
{
    multiply_add(&s->value, small_power(s->nparts), s->part);
    s->part = 0;
    s->nparts = 0;
}

/* Is the digit kept? */
static bool add_digit(digit_reader *s, int digit)
{
    if (s->digits == MOST_DIGITS) {
        s->more = s->more || digit;
        return false;
    }
    if (s->digits || digit) s->digits++;
    s->part = s->part * 10 + (uint64_t)digit;
    if (++s->nparts == CHUNK_DIGITS) flush(s);
    return true;
}

/* The digits make one whole number: those behind the point lower the exponent,
** those that are not kept raise it. Ends far outside of the doubles are told by
** the exponent alone, which bounds the numbers. */
double la_decimal_exact(const char *text, const char *end, int exponent)
{
    digit_reader s = {.digits = 0};
    bool behind = false;
    big power = {.limb = {1}, .n = 1};
    for (; text < end; text++) {
        if (*text == '.') {
            behind = true;
        } else {
            bool kept = add_digit(&s, *text - '0');
            exponent += !kept - behind;
        }
    }
    flush(&s);
    if (s.digits == 0 || s.digits + exponent < -330) return 0;
    if (s.digits + exponent > 310) return INFINITY;
    multiply_by_power(exponent < 0 ? &power : &s.value,
                      exponent < 0 ? -exponent : exponent);
    return nearest_ratio(&s.value, &power, s.more);
}

/* ---- writing ---- */

/* d->digits before the point, of c * 2^q, q >= 0: the rests of divisions by
** 10^18, so the last ones come first. */
static void add_whole(la_decimal_digits_of *d, uint64_t c, int q)
{
    char text[324];
    int at = sizeof text;
    big b = {.limb = {c}, .n = c != 0};
    shift_left(&b, q);
    while (b.n) {
        unsigned __int128 rest = 0;
        for (int k = b.n - 1; k >= 0; k--) {
            rest = rest << 64 | b.limb[k];
            b.limb[k] = (uint64_t)(rest / chunk);
            rest %= chunk;
        }
        while (b.n && b.limb[b.n - 1] == 0) b.n--;
        uint64_t part = (uint64_t)rest;
        for (int k = 0; k < CHUNK_DIGITS && (b.n || part); k++, part /= 10)
            text[--at] = (char)('0' + part % 10);
    }
    d->n = d->point = (int)sizeof text - at;
    memcpy(d->digits, text + at, (size_t)d->n);
}

/* Digits behind the point, of c * 2^-q, 0 < q, c < 2^q, until 'enough' of them
** are there; one more says whether there are others. */
static void add_fraction(la_decimal_digits_of *d, uint64_t c, int q, int behind,
                         int significant)
{
    big b = {.limb = {c}, .n = 1};
    int limbs = (q + 63) / 64, low = 0;
    shift_left(&b, 64 * limbs - q);
    while (b.n < limbs) b.limb[b.n++] = 0;
    for (int count = 0; low < limbs; count += CHUNK_DIGITS) {
        if (count > behind && d->n > significant) {
            d->digits[d->n++] = '1';
            return;
        }
        unsigned __int128 carry = 0;
        for (int k = low; k < limbs; k++) {
            carry += (unsigned __int128)b.limb[k] * chunk;
            b.limb[k] = (uint64_t)carry;
            carry >>= 64;
        }
        while (low < limbs && b.limb[low] == 0) low++;
        uint64_t part = (uint64_t)carry;
        char *to = d->digits + d->n;
        for (int k = CHUNK_DIGITS - 1; k >= 0; k--, part /= 10)
            to[k] = (char)('0' + part % 10);
        int zeros = 0;
        if (d->n == 0)
            while (zeros < CHUNK_DIGITS && to[zeros] == '0') zeros++;
        memmove(to, to + zeros, (size_t)(CHUNK_DIGITS - zeros));
        d->n += CHUNK_DIGITS - zeros;
        if (d->n == 0 || zeros) d->point -= zeros;
    }
}

/* The parts before and behind the point on their own: the first is an integer
** of 1024 bits at most, the second a fraction of 1074. */
void la_decimal_expand(double v, int behind, int significant,
                       la_decimal_digits_of *d)
{
    uint64_t word, c;
    memcpy(&word, &v, sizeof word);
    int exponent = (int)(word >> 52 & 2047), q = (exponent ? exponent : 1)
        - 1075;
    c = word & ((UINT64_C(1) << 52) - 1);
    if (exponent) c |= UINT64_C(1) << 52;
    if (q >= 0) {
        add_whole(d, c, q);
        return;
    }
    add_whole(d, q > -64 ? c >> -q : 0, 0);
    if (q > -64) c &= (UINT64_C(1) << -q) - 1;
    if (c) add_fraction(d, c, -q, behind, significant);
}

/* A row of nines carries through to a new first digit. */
void la_decimal_round(la_decimal_digits_of *d, int n)
{
    if (n >= d->n) return;
    if (n < 0) {
        d->n = 0;
        return;
    }
    bool up = d->digits[n] > '5', tie = d->digits[n] == '5';
    for (int k = n + 1; k < d->n && tie; k++)
        if (d->digits[k] != '0') up = true, tie = false;
    if (tie) up = n > 0 && (d->digits[n - 1] & 1);
    d->n = n;
    if (!up) return;
    while (n > 0 && d->digits[n - 1] == '9') d->digits[--n] = '0';
    if (n > 0) {
        d->digits[n - 1]++;
        return;
    }
    memmove(d->digits + 1, d->digits, (size_t)d->n);
    d->digits[0] = '1';
    d->n++;
    d->point++;
}
