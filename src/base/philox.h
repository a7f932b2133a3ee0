/*
** Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a keyed bijection of 128-bit
** counters. Random numbers are its values at successive counters, so that any
** element of any fill can be computed by itself, in any order.
**
** A counter here is {block low, block high, stream, attempt}: fills use stream
** 0; methods that reject candidates count their tries in the last word.
*/
#ifndef LA_BASE_PHILOX_H
#define LA_BASE_PHILOX_H

#include <stdint.h>

typedef struct la_philox {
    uint32_t a, b, c, d;
} la_philox;

/* One round. The two products are taken apart by hand into halves, the form
** that compilers turn into vector multiplications. */
static inline la_philox la_philox_round(la_philox x, uint32_t k0, uint32_t k1)
{
    uint64_t p = (uint64_t)0xD2511F53u * x.a, q = (uint64_t)0xCD9E8D57u * x.c;
    return (la_philox){(uint32_t)(q >> 32) ^ x.b ^ k0, (uint32_t)q,
                       (uint32_t)(p >> 32) ^ x.d ^ k1, (uint32_t)p};
}

/* The four words at counter 'x' under 'seed'. */
static inline la_philox la_philox_words(la_philox x, uint64_t seed)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma GCC unroll 10
    for (uint32_t r = 0; r < 10; r++)
        x = la_philox_round(x, k0 + r * 0x9E3779B9u, k1 + r * 0xBB67AE85u);
    return x;
}

#endif
