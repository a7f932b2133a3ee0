/* The clock that only goes forward. */
#ifndef LA_BASE_OS_CLOCK_H
#define LA_BASE_OS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t la_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
