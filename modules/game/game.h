/* Declarations that the operations of la.game share. */
#ifndef LA_OP_GAME_GAME_H
#define LA_OP_GAME_GAME_H

#include "op/frame.h"

/* Fuel for two points that are compared: as so many elements. */
enum { LA_GAME_PAIR = 4 };

/* 32 bits that depend on all of x; MurmurHash3's last steps (A. Appleby). */
static inline uint32_t la_game_bits(int64_t x)
{
    uint64_t h = (uint64_t)x * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(h >> 32);
}

/* Dtype in which a call computes: what its n arguments promote to, the default
** dtype for integers. LA_EDTYPE for others than the operation's row names. */
la_status la_game_dtype(const la_frame *f, const int *args, int n,
                        la_dtype *dtype);

/* 'n' points of 'd' components out of argument k, {N, 2} or {N, 3}, as doubles:
** sums and differences of float32 are then exact enough to compare. Owned by
** the caller, who ends with la_game_points_free. */
typedef struct la_game_points {
    double *x;                /* [n][d] */
    int64_t n;
    int d;
} la_game_points;
la_status la_game_check_points(const la_frame *f, int k);
la_status la_game_points_of(const la_frame *f, int k, la_game_points *out);
void la_game_points_free(la_game_points *p);

#endif
