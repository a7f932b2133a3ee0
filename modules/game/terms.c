/* Vectors and quaternions in programs; see terms.h. */
#include <math.h>

#include "modules/game/terms.h"

#include "base/size.h"

int la_term_in(la_recipe *b, int input, int *out)
{
    int n = (int)la_min(b->comps[input], LA_TERMS);
    for (int i = 0; i < n; i++) out[i] = la_in(b, input, i);
    return n;
}

void la_term_put(la_recipe *b, int n, const int *v)
{
    for (int i = 0; i < n; i++) la_put(b, v[i]);
}

int la_term_dot(la_recipe *b, int n, const int *v, const int *u)
{
    int sum = la_times(b, v[0], u[0]);
    for (int i = 1; i < n; i++) sum = la_plus(b, sum, la_times(b, v[i], u[i]));
    return sum;
}

/* Divides by the power of two of the largest term, but never by less than
** 'least' (0: no bound). */
static int scaled_from(la_recipe *b, int n, const int *v, double least,
                       int *out)
{
    int most = la_magnitude(b, v[0]);
    for (int i = 1; i < n; i++)
        most = la_larger(b, la_magnitude(b, v[i]), most);
    int power = la_emit(b, LA_ROW_POWER, most, 0, 0);
    if (least > 0) power = la_larger(b, power, la_const(b, least));
    la_term_times(b, n, v, la_over(b, la_const(b, 1), power), out);
    return power;
}

int la_term_scaled(la_recipe *b, int n, const int *v, int *out)
{
    return scaled_from(b, n, v, 0, out);
}

static int scaled_length(la_recipe *b, int n, const int *scaled)
{
    return la_root(b, la_term_dot(b, n, scaled, scaled));
}

int la_term_length(la_recipe *b, int n, const int *v)
{
    int scaled[LA_TERMS], power = la_term_scaled(b, n, v, scaled);
    return la_times(b, scaled_length(b, n, scaled), power);
}

/* Also where the length itself leaves the range. Nothing is scaled up to more
** than eps, as the slopes of what is not chosen would be infinite. */
void la_term_unit(la_recipe *b, int n, const int *v, double eps, int *out)
{
    int scaled[LA_TERMS], exponent = 0, zero = la_const(b, 0);
    /* An eps that is no number of the dtype would be 0. */
    eps = eps > 0 ? fmax(eps, la_term_eps(b, 0x1p-149, 0x1p-1074)) : 0;
    frexp(eps, &exponent);
    double least = eps > 0 && !isinf(eps) ? ldexp(1, exponent - 1) : 0;
    int power = scaled_from(b, n, v, least, scaled);
    int length = scaled_length(b, n, scaled);
    length = eps > 0
        ? la_larger(b, la_over(b, la_const(b, eps), power), length)
        : la_choose(b, la_equals(b, length, zero), la_const(b, 1), length);
    for (int i = 0; i < n; i++) out[i] = la_over(b, scaled[i], length);
}

void la_term_cross(la_recipe *b, const int *v, const int *u, int *out)
{
    int r[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r[i] = la_minus(b, la_times(b, v[j], u[k]), la_times(b, v[k], u[j]));
    }
    memcpy(out, r, sizeof r);
}

void la_term_times(la_recipe *b, int n, const int *v, int by, int *out)
{
    for (int i = 0; i < n; i++) out[i] = la_times(b, v[i], by);
}

void la_term_plus(la_recipe *b, int n, const int *v, const int *u, int *out)
{
    for (int i = 0; i < n; i++) out[i] = la_plus(b, v[i], u[i]);
}

void la_term_minus(la_recipe *b, int n, const int *v, const int *u, int *out)
{
    for (int i = 0; i < n; i++) out[i] = la_minus(b, v[i], u[i]);
}

void la_term_choose(la_recipe *b, int n, int truth, const int *v, const int *u,
                    int *out)
{
    for (int i = 0; i < n; i++) out[i] = la_choose(b, truth, v[i], u[i]);
}

void la_term_clamp(la_recipe *b, int n, const int *v, int most, int *out)
{
    int zero = la_const(b, 0), scaled[LA_TERMS];
    int power = la_term_scaled(b, n, v, scaled);
    int length = scaled_length(b, n, scaled);
    most = la_choose(b, la_less(b, most, zero), zero, most);
    int within = la_at_most(b, la_times(b, length, power), most);
    int by = la_over(b, most, la_choose(b, within, la_const(b, 1), length));
    for (int i = 0; i < n; i++)
        out[i] = la_choose(b, within, v[i], la_times(b, scaled[i], by));
}

/* ---- quaternions ---- */

/* One component: p[a] q[b] + p[c] q[d] + p[e] q[f] - p[g] q[h]. */
static int terms_product(la_recipe *b, const int *p, const int *q,
                         const char *k)
{
    int sum = la_times(b, p[k[0] - '0'], q[k[1] - '0']);
    for (int i = 2; i < 6; i += 2)
        sum = la_plus(b, sum, la_times(b, p[k[i] - '0'], q[k[i + 1] - '0']));
    return la_minus(b, sum, la_times(b, p[k[6] - '0'], q[k[7] - '0']));
}

void la_term_quat_mul(la_recipe *b, const int *p, const int *q, int *out)
{
    int r[4] = {terms_product(b, p, q, "30031221"),
                terms_product(b, p, q, "31132002"),
                terms_product(b, p, q, "32230110"), 0};
    r[3] = la_times(b, p[3], q[3]);
    for (int i = 0; i < 3; i++)
        r[3] = la_minus(b, r[3], la_times(b, p[i], q[i]));
    memcpy(out, r, sizeof r);
}

/* v + w t + u x t with t = 2 u x v, for q = (u, w). */
void la_term_quat_rotate(la_recipe *b, const int *q, const int *v, int *out)
{
    int t[3], ut[3];
    la_term_cross(b, q, v, t);
    la_term_times(b, 3, t, la_const(b, 2), t);
    la_term_cross(b, q, t, ut);
    la_term_times(b, 3, t, q[3], t);
    la_term_plus(b, 3, t, ut, t);
    la_term_plus(b, 3, v, t, out);
}

void la_term_quat_matrix(la_recipe *b, const int *q, int *m)
{
    int one = la_const(b, 1), two[3], r[9];
    la_term_times(b, 3, q, la_const(b, 2), two);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        int xy = la_times(b, two[i], q[j]), wz = la_times(b, two[k], q[3]);
        int squares = la_plus(b, la_times(b, two[j], q[j]),
                              la_times(b, two[k], q[k]));
        r[4 * i] = la_minus(b, one, squares);
        r[3 * i + j] = la_minus(b, xy, wz);
        r[3 * j + i] = la_plus(b, xy, wz);
    }
    memcpy(m, r, sizeof r);
}

/* Four times a component times the others, S. Shepperd, 1978: the largest
** component is found first, so that nothing small is divided by. */
void la_term_matrix_quat(la_recipe *b, const int *m, int *out)
{
    int one = la_const(b, 1), trace[4], parts[4][4], r[4], best = 0;
    int off[3], sums[3];      /* of the elements opposite each other */
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        off[i] = la_minus(b, m[3 * k + j], m[3 * j + k]);
        sums[i] = la_plus(b, m[3 * k + j], m[3 * j + k]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        trace[i] = la_minus(b, la_minus(b, la_plus(b, one, m[4 * i]), m[4 * j]),
                            m[4 * k]);
        parts[i][i] = trace[i];
        parts[i][j] = sums[k];
        parts[i][k] = sums[j];
        parts[i][3] = off[i];
        parts[3][i] = off[i];
    }
    trace[3] = la_plus(b, la_plus(b, la_plus(b, one, m[0]), m[4]), m[8]);
    parts[3][3] = trace[3];
    memcpy(r, parts[3], sizeof r);
    best = trace[3];
    for (int i = 0; i < 3; i++) {
        int more = la_less(b, best, trace[i]);
        best = la_choose(b, more, trace[i], best);
        la_term_choose(b, 4, more, parts[i], r, r);
    }
    la_term_unit(b, 4, r, 0, r);
    int minus = la_less(b, r[3], la_const(b, 0));
    int sign = la_choose(b, minus, la_const(b, -1), one);
    la_term_times(b, 4, r, sign, out);
}

/* ---- frames ---- */

void la_term_off_axis(la_recipe *b, const int *v, int *out)
{
    int zero = la_const(b, 0), one = la_const(b, 1), size[3];
    for (int i = 0; i < 3; i++) size[i] = la_magnitude(b, v[i]);
    int y = la_both(b, la_at_most(b, size[1], size[2]),
                    la_at_most(b, size[1], size[0]));
    int z = la_at_most(b, size[2], size[0]);
    out[0] = la_choose(b, y, zero, la_choose(b, z, zero, one));
    out[1] = la_choose(b, y, one, zero);
    out[2] = la_choose(b, y, zero, la_choose(b, z, one, zero));
}

void la_term_frame(la_recipe *b, const int *back, const int *up, int *x,
                   int *y, int *z)
{
    int zero = la_const(b, 0), one = la_const(b, 1), u[3], off[3], side[3];
    int axis[3] = {zero, zero, one}, along[3];
    la_term_unit(b, 3, back, 0, z);
    la_term_choose(b, 3, la_term_is_zero(b, 3, z), axis, z, z);
    la_term_unit(b, 3, up, 0, u);
    la_term_cross(b, u, z, side);
    double least = la_term_eps(b, 1e-5, 1e-12);
    int parallel = la_at_most(b, la_term_length(b, 3, side),
                              la_const(b, least));
    la_term_off_axis(b, z, off);
    la_term_choose(b, 3, parallel, off, u, u);
    la_term_cross(b, u, z, side);
    /* Rounding errors lean on z where u and z are nearly parallel. */
    la_term_times(b, 3, z, la_term_dot(b, 3, side, z), along);
    la_term_minus(b, 3, side, along, side);
    la_term_unit(b, 3, side, 0, x);
    la_term_cross(b, z, x, y);
}
