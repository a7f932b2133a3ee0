/* Arithmetic of sizes and counts: checked, or rounding as callers need it. */
#ifndef LA_BASE_SIZE_H
#define LA_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* a * b and a + b in *out; false on overflow, and of products also where an
** operand is negative: sizes are not. */
static inline bool la_mul_ok(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, out);
}
static inline bool la_add_ok(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline int64_t la_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t la_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* How many pieces of 'size' elements hold n elements; n >= 0, size > 0. */
static inline int64_t la_ceil_div(int64_t n, int64_t size)
{
    return n / size + (n % size != 0);
}

/* The greatest common divisor, by Euclid's algorithm; of 0 and b it is b. */
static inline uint64_t la_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
