/*
** Terms that programs share: vectors and quaternions as arrays of values
** (modules/game/program.h). Sums go from the first component to the last.
*/
#ifndef LA_OP_GAME_TERMS_H
#define LA_OP_GAME_TERMS_H

#include "modules/game/program.h"

#define LA_TERMS 64           /* components of the longest vector */

/* All components of an input; how many there are. */
int la_term_in(la_recipe *b, int input, int *out);
void la_term_put(la_recipe *b, int n, const int *v);
int la_term_dot(la_recipe *b, int n, const int *v, const int *u);
/* The length, also where squares overflow or vanish. Its slope at zero is 0. */
int la_term_length(la_recipe *b, int n, const int *v);
/* v by the power of two that its largest component reaches, so that no square
** leaves the range; this power. Both are exact but for components so small that
** they count nothing against the largest. */
int la_term_scaled(la_recipe *b, int n, const int *v, int *out);
/* v / max(length, eps); with eps 0 a vector of length 0 stays as it is. */
void la_term_unit(la_recipe *b, int n, const int *v, double eps, int *out);
void la_term_cross(la_recipe *b, const int *v, const int *u, int *out);
/* v times a value; v + u; v - u. */
void la_term_times(la_recipe *b, int n, const int *v, int by, int *out);
void la_term_plus(la_recipe *b, int n, const int *v, const int *u, int *out);
void la_term_minus(la_recipe *b, int n, const int *v, const int *u, int *out);
/* v where the truth holds, else u. */
void la_term_choose(la_recipe *b, int n, int truth, const int *v, const int *u,
                    int *out);
/* v no longer than 'most', a value; less than 0 counts as 0. */
void la_term_clamp(la_recipe *b, int n, const int *v, int most, int *out);
void la_term_quat_mul(la_recipe *b, const int *p, const int *q, int *out);
/* v rotated by q, of unit length. */
void la_term_quat_rotate(la_recipe *b, const int *q, const int *v, int *out);
/* Rows of the rotation of q, of unit length, and the quaternion of a rotation,
** of unit length and with w >= 0. */
void la_term_quat_matrix(la_recipe *b, const int *q, int *m);
void la_term_matrix_quat(la_recipe *b, const int *m, int *out);
/* The unit vector along the axis on which v is shortest, of several the first
** of y, z, x. */
void la_term_off_axis(la_recipe *b, const int *v, int *out);
/* Does v have a length? Of one that la_term_unit made. */
static inline int la_term_is_zero(la_recipe *b, int n, const int *unit)
{
    return la_equals(b, la_term_dot(b, n, unit, unit), la_const(b, 0));
}
/* Unit vectors x, y, z with z along 'back' (where that is zero, along the z
** axis) and y in the plane of z and up: where those are parallel, or up is
** zero, the axis that la_term_off_axis gives replaces up. */
void la_term_frame(la_recipe *b, const int *back, const int *up, int *x,
                   int *y, int *z);
/* The first or second number for what is computed in. */
static inline double la_term_eps(const la_recipe *b, double of_float,
                                 double of_double)
{
    return b->is_double ? of_double : of_float;
}

#endif
