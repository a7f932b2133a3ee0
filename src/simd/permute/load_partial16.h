/* Loads of at most four 16-bit elements in one word, without touching what lies
** beyond; for capabilities whose masks are of 32 bits and more.
** Little-endian. */
#ifndef LA_SIMD_PERMUTE_LOAD_PARTIAL16_H
#define LA_SIMD_PERMUTE_LOAD_PARTIAL16_H

#include <stdint.h>
#include <string.h>

/* n elements, 0 <= n <= 4, at 'p': element i in bits 16*i of the result, zeros
** above. */
static inline uint64_t soft_load16_(const char *p, int64_t n)
{
    uint64_t x = 0;
    uint32_t two;
    uint16_t one;
    if (n == 4) {
        memcpy(&x, p, 8);
        return x;
    }
    if (n & 2) {
        memcpy(&two, p, 4);
        x = two;
    }
    if (n & 1) {
        memcpy(&one, p + (n & 2) * 2, 2);
        x |= (uint64_t)one << (n & 2) * 16;
    }
    return x;
}

/* The way back: the lowest n elements of x to 'p'. */
static inline void soft_store16_(char *p, int64_t n, uint64_t x)
{
    if (n == 4) {
        memcpy(p, &x, 8);
        return;
    }
    uint16_t one = (uint16_t)(x >> (n & 2) * 16);
    uint32_t two = (uint32_t)x;
    if (n & 2) memcpy(p, &two, 4);
    if (n & 1) memcpy(p + (n & 2) * 2, &one, 2);
}

#endif
