/*
** Decimal numbers and binary ones, in both directions, without the C library
** and its locale.
*/
#ifndef LA_IO_DECIMAL_H
#define LA_IO_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* digits * 10^exponent as the nearest double, ties to even. False, where 128
** bits of the power do not decide or the result is subnormal, infinite or out
** of the table: the C library is to be asked. (Eisel and Lemire's way, with an
** interval instead of their tables of cases.) */
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

/* Digits of v at 'to', without an end; their number, at most 20. */
int la_decimal_digits(uint64_t v, char *to);

#endif
