/*
** Decimal numbers and binary ones, in both directions, without the C library
** and its locale.
*/
#ifndef LA_BASE_DECIMAL_H
#define LA_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* digits * 10^exponent as the nearest double, ties to even. False, where 128
** bits of the power do not decide or the result is subnormal, infinite or out
** of the table: la_decimal_exact is to be asked. (Eisel and Lemire's way, with
** an interval instead of their tables of cases.) */
bool la_decimal_nearest(uint64_t digits, int exponent, double *out);

/* digits * 10^exponent, without zeros at the end of digits. */
typedef struct la_decimal {
    uint64_t digits;
    int exponent;
} la_decimal;
/* The fewest digits within half an ulp of c * 2^q, and of those the nearest.
** 0 < c < 2^53, -1074 <= q <= 971; 'narrow': the number below is half as far
** as the one above (c is the least of its binade). Source: R. Giulietti, The
** Schubfach way to render doubles, 2020. */
la_decimal la_decimal_shortest(uint64_t c, int q, bool narrow);

/* Value of digits, with a point among them or none, from text to end: always
** exact, infinite beyond the largest double. */
double la_decimal_exact(const char *text, const char *end, int exponent);

typedef struct la_decimal_text {
    const char *end;            /* behind the number; the text's start: none */
    double value;
    bool whole;                 /* digits alone */
} la_decimal_text;
/* The longest decimal number without a sign that the text begins with. */
la_decimal_text la_decimal_read(const char *text, const char *end);

/* The digits of 0.d1d2d3... * 10^point; a double has 309 before its point and
** 1074 behind it at most, and comes in pieces of 18. */
typedef struct la_decimal_digits_of {
    int n, point;
    char digits[309 + 1074 + 3 * 18];
} la_decimal_digits_of;
/* Those of v >= 0, finite; *d is empty. Where 'behind' digits behind the point
** and 'significant' ones are there, one more digit may stand for all others, on
** the same side of every tie. */
void la_decimal_expand(double v, int behind, int significant,
                       la_decimal_digits_of *d);
/* Round to the first n digits, ties to even; fewer are left alone. */
void la_decimal_round(la_decimal_digits_of *d, int n);

/* Digits of v at 'to', without an end; their number, at most 20. */
int la_decimal_digits(uint64_t v, char *to);

#endif
