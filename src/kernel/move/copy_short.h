/* Copies of runs that are too short for a call. */
#ifndef LA_KERNEL_MOVE_COPY_SHORT_H
#define LA_KERNEL_MOVE_COPY_SHORT_H

#include <string.h>

/* A run of n bytes, meant for up to some hundred: pieces of fixed size become
** plain loads and stores; the last one may overlap the one before. */
static inline __attribute__((always_inline))
void copy_short(char *to, const char *from, size_t n)
{
    if (n >= 32) {
        for (size_t at = 0; at + 32 < n; at += 32)
            memcpy(to + at, from + at, 32);
        memcpy(to + n - 32, from + n - 32, 32);
    } else if (n >= 16) {
        memcpy(to, from, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++) to[i] = from[i];
    }
}

#endif
