/* Programs of la.game's rays and signed distances. */
#include <math.h>

#include "modules/game/terms.h"

#define LA_ROWS "modules/game/ops.def"
#include "op/impls.h"

#define N LA_TERMS

/* ---- rays: o + t d with t >= 0, infinity for none ---- */

/* The slab between lo and hi along each axis; a ray along it is in it for
** ever or never. Nothing enters a box with lo above hi, nor what is no number:
** 'ok' notes it, as a comparison alone would pass over it. */
void la_write_ray_box(la_recipe *b)
{
    int o[N], d[N], lo[N], hi[N], n = la_term_in(b, 0, o);
    int zero = la_const(b, 0), one = la_const(b, 1), inf, first, last;
    int ok = la_equals(b, zero, zero);
    inf = la_const(b, (double)INFINITY);
    first = zero;
    last = inf;
    la_term_in(b, 1, d);
    la_term_in(b, 2, lo);
    la_term_in(b, 3, hi);
    for (int i = 0; i < n; i++) {
        int flat = la_equals(b, d[i], zero);
        int by = la_choose(b, flat, one, d[i]);
        int s = la_over(b, la_minus(b, lo[i], o[i]), by);
        int t = la_over(b, la_minus(b, hi[i], o[i]), by);
        int in = la_both(b, la_at_most(b, lo[i], o[i]),
                         la_at_most(b, o[i], hi[i]));
        int back = la_less(b, d[i], zero);
        int near = la_choose(b, back, t, s), far = la_choose(b, back, s, t);
        near = la_choose(b, flat, la_choose(b, in, zero, inf), near);
        far = la_choose(b, flat, inf, far);
        ok = la_both(b, ok, la_at_most(b, near, far));
        first = la_larger(b, near, first);
        last = la_lesser(b, far, last);
    }
    int hit = la_both(b, la_at_most(b, first, last), la_less(b, first, inf));
    hit = la_both(b, hit, ok);
    la_put(b, la_choose(b, hit, first, inf));
}

/* Starts from the point of the ray that is nearest to the centre, half the
** chord back. Lengths count in a power of two, and d by another, so that no
** square leaves the range. */
void la_write_ray_sphere(la_recipe *b)
{
    int o[N + 1], d[N], c[N], n = la_term_in(b, 0, o), r = la_in(b, 3, 0);
    int zero = la_const(b, 0), one = la_const(b, 1), inf;
    inf = la_const(b, (double)INFINITY);
    la_term_in(b, 1, d);
    la_term_in(b, 2, c);
    la_term_minus(b, n, o, c, o);
    o[n] = r;
    int unit = la_term_scaled(b, n + 1, o, o), speed;
    speed = la_term_scaled(b, n, d, d);
    int square = la_times(b, o[n], o[n]);
    int inside = la_at_most(b, la_term_dot(b, n, o, o), square);
    int a = la_term_dot(b, n, d, d), none = la_equals(b, a, zero);
    a = la_choose(b, none, one, a);
    int t = la_negate(b, la_over(b, la_term_dot(b, n, o, d), a));
    for (int i = 0; i < n; i++) o[i] = la_plus(b, o[i], la_times(b, t, d[i]));
    int rest = la_minus(b, square, la_term_dot(b, n, o, o));
    int hit = la_both(b, la_at_most(b, zero, rest), la_at_most(b, zero, t));
    rest = la_choose(b, hit, rest, zero);
    t = la_minus(b, t, la_root(b, la_over(b, rest, a)));
    t = la_over(b, la_times(b, t, unit), speed);
    t = la_choose(b, hit, la_choose(b, none, inf, t), inf);
    la_put(b, la_choose(b, inside, zero, t));
}

/* T. Moeller and B. Trumbore, 1997; both sides. */
void la_write_ray_triangle(la_recipe *b)
{
    int o[N], d[N], a[N], e[N], g[N], p[3], q[3], zero = la_const(b, 0);
    int one = la_const(b, 1), inf = la_const(b, (double)INFINITY);
    la_term_in(b, 0, o);
    la_term_in(b, 1, d);
    la_term_in(b, 2, a);
    la_term_in(b, 3, e);
    la_term_in(b, 4, g);
    la_term_minus(b, 3, e, a, e);
    la_term_minus(b, 3, g, a, g);
    la_term_minus(b, 3, o, a, o);
    la_term_cross(b, d, g, p);
    la_term_cross(b, o, e, q);
    int det = la_term_dot(b, 3, e, p), flat = la_equals(b, det, zero);
    det = la_choose(b, flat, one, det);
    int u = la_over(b, la_term_dot(b, 3, o, p), det);
    int v = la_over(b, la_term_dot(b, 3, d, q), det);
    int t = la_over(b, la_term_dot(b, 3, g, q), det);
    int hit = la_both(b, la_at_most(b, zero, u), la_at_most(b, zero, v));
    hit = la_both(b, hit, la_at_most(b, la_plus(b, u, v), one));
    hit = la_both(b, hit, la_at_most(b, zero, t));
    la_put(b, la_choose(b, flat, inf, la_choose(b, hit, t, inf)));
    la_put(b, la_choose(b, flat, zero, la_choose(b, hit, u, zero)));
    la_put(b, la_choose(b, flat, zero, la_choose(b, hit, v, zero)));
}

/* ---- signed distances, negative inside ---- */

void la_write_sd_sphere(la_recipe *b)
{
    int p[N], n = la_term_in(b, 0, p);
    la_put(b, la_minus(b, la_term_length(b, n, p), la_in(b, 1, 0)));
}

/* How far outside along each axis, as a length; inside, the nearest side. */
void la_write_sd_box(la_recipe *b)
{
    int p[N], half[N], out[N], n = la_term_in(b, 0, p), zero = la_const(b, 0);
    int most = 0;
    la_term_in(b, 1, half);
    for (int i = 0; i < n; i++) {
        int q = la_minus(b, la_magnitude(b, p[i]), half[i]);
        out[i] = la_larger(b, zero, q);
        most = i == 0 ? q : la_larger(b, most, q);
    }
    most = la_choose(b, la_at_most(b, most, zero), most, zero);
    la_put(b, la_plus(b, la_term_length(b, n, out), most));
}

void la_write_sd_capsule(la_recipe *b)
{
    int p[N], a[N], e[N], n = la_term_in(b, 0, p), zero = la_const(b, 0);
    int one = la_const(b, 1);
    la_term_in(b, 1, a);
    la_term_in(b, 2, e);
    la_term_minus(b, n, p, a, p);
    la_term_minus(b, n, e, a, e);
    int square = la_term_dot(b, n, e, e), none = la_equals(b, square, zero);
    int t = la_over(b, la_term_dot(b, n, p, e), la_choose(b, none, one,
                                                          square));
    t = la_lesser(b, la_larger(b, t, zero), one);
    la_term_times(b, n, e, t, e);
    la_term_minus(b, n, p, e, p);
    la_put(b, la_minus(b, la_term_length(b, n, p), la_in(b, 3, 0)));
}
