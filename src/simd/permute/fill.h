/*
** One 8-byte word stored n times, for runs larger than the second-level cache.
** REP STOSQ (Intel's "fast string" operation) does not read the lines that it
** is going to overwrite, and leaves them in the third level where they fit
** there; streaming stores would write them to memory in any case.
*/
#ifndef LA_SIMD_PERMUTE_FILL_H
#define LA_SIMD_PERMUTE_FILL_H

#include <stdint.h>
#include <string.h>

static inline void vec_fill_words(char *to, uint64_t word, int64_t n)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(word) : "memory");
#else
    for (int64_t i = 0; i < n; i++) memcpy(to + i * 8, &word, 8);
#endif
}

#endif
