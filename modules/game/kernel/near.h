/*
** The contract of the kernel that tells which of a list of points are near one:
** those at a distance whose square, x * x + y * y + z * z of the differences
** rounded one by one, is at most 'square'.
*/
#ifndef LA_KERNEL_GAME_NEAR_H
#define LA_KERNEL_GAME_NEAR_H

#include "kernel/kernel.h"

#define LA_NEAR_LIST 64       /* lists are filled up to a multiple, with NaN */

typedef struct la_game_near {
    const double *x, *y, *z;
    int64_t n;                /* a multiple of LA_NEAR_LIST */
    double point[3], square;
    uint64_t *bits;           /* one for each point of the list */
} la_game_near;
typedef void la_game_near_fn(const la_game_near *q);
typedef struct la_near_kernels { la_game_near_fn *near; } la_near_kernels;
LA_STUB_DECLARE(la_near_kernels, game_near);

#endif
