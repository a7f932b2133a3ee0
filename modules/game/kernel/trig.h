/*
** sin, cos and atan2 of vectors of doubles from + - * / and floor alone, so
** that every capability and every machine gives the same bits.
**
** sin and cos: the argument less k right angles in three parts of pi / 2
** (W. Cody and W. Waite), then fdlibm's polynomials. Within 2 units of the last
** digit up to a million radians; beyond that the parts are no longer exact, and
** from 2^52 on results say nothing. atan2: S. Moshier's rational approximation
** (Cephes) of the quotient of the smaller and the larger, within 2 units.
*/
#ifndef LA_KERNEL_GAME_TRIG_H
#define LA_KERNEL_GAME_TRIG_H

#include "simd/vec.h"

/* r in -pi / 4 .. pi / 4 and the right angle, 0 to 3. */
static inline f64v quarter_f64(f64v x, f64v *r)
{
    f64v k = f64_floor(x * 6.36619772367581382433e-01 + 0.5);
    *r = ((x - k * 1.57079632673412561417e+00)
          - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
    return k - 4 * f64_floor(k * 0.25);
}

static inline f64v sin_part_f64(f64v r, f64v z)
{
    f64v p = f64_set1(1.58969099521155010221e-10);
    p = p * z - 2.50507602534068634195e-08;
    p = p * z + 2.75573137070700676789e-06;
    p = p * z - 1.98412698298579493134e-04;
    p = p * z + 8.33333333332248946124e-03;
    p = p * z - 1.66666666666666324348e-01;
    return r + r * (z * p);
}

static inline f64v cos_part_f64(f64v z)
{
    f64v p = f64_set1(-1.13596475577881948265e-11);
    p = p * z + 2.08757232129817482790e-09;
    p = p * z - 2.75573143513906633035e-07;
    p = p * z + 2.48015872894767294178e-05;
    p = p * z - 1.38888888888741095749e-03;
    p = p * z + 4.16666666666666019037e-02;
    f64v half = 0.5 * z, w = 1 - half;
    return w + (((1 - w) - half) + z * (z * p));
}

/* The sine of x plus 'angles' right angles. */
static inline f64v shifted_f64(f64v x, double angles)
{
    f64v r, q = quarter_f64(x, &r) + angles, z = r * r;
    q = f64_select(q >= 4, q - 4, q);
    i64v odd = (q == 1) | (q == 3);
    f64v v = f64_select(odd, cos_part_f64(z), sin_part_f64(r, z));
    v = f64_select(q >= 2, -v, v);
    return angles == 0 ? f64_select(x == 0, x, v) : v;
}
static inline f64v sin_f64(f64v x) { return shifted_f64(x, 0); }
static inline f64v cos_f64(f64v x) { return shifted_f64(x, 1); }

static inline f64v atan_rational_f64(f64v x)
{
    f64v z = x * x, p = f64_set1(-8.750608600031904122785e-01), q;
    p = p * z - 1.615753718733365076637e+01;
    p = p * z - 7.500855792314704667340e+01;
    p = p * z - 1.228866684490136173410e+02;
    p = p * z - 6.485021904942025371773e+01;
    q = z + 2.485846490142306297962e+01;
    q = q * z + 1.650270098316988542046e+02;
    q = q * z + 4.328810604912902668951e+02;
    q = q * z + 4.853903996359136964868e+02;
    q = q * z + 1.945506571482613964425e+02;
    return x + x * (z * (p / q));
}

static inline f64v atan2_f64(f64v y, f64v x)
{
    f64v ay = f64_abs(y), ax = f64_abs(x);
    i64v steep = ay > ax, far = (ay == ax) & (ay == (double)INFINITY);
    f64v low = f64_select(steep, ax, ay), high = f64_select(steep, ay, ax);
    /* Two infinities are equal, and so are two zeros. */
    low = f64_select(far, f64_set1(1), low);
    high = f64_select(far | (high == 0), f64_set1(1), high);
    f64v a = low / high;
    i64v upper = a > 0.41421356237309504880;
    f64v r = f64_select(upper, (a - 1) / (a + 1), a);
    f64v v = atan_rational_f64(r);
    v = f64_select(upper, 0.78539816339744830962
                   + (v + 3.06161699786838301793e-17), v);
    v = f64_select(steep, 1.57079632679489661923
                   - (v - 6.12323399573676603587e-17), v);
    v = f64_select(f64_signbit(x), 3.14159265358979323846
                   - (v - 1.22464679914735317720e-16), v);
    v = f64_copysign(v, y);
    return f64_select((x != x) | (y != y), x + y, v);
}

#endif
