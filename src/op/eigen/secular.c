/*
** The roots of the equation of divide and conquer, each between two poles. Both
** sides are replaced by a pole and a constant that have the same value and
** slope (Bunch, Nielsen and Sorensen, Numer. Math. 31, 1978), within a bracket.
** A root is kept as its distance from the nearer pole, so that differences from
** all poles are exact to the last digits.
*/
#include "op/eigen/divide.h"

#include <float.h>
#include <math.h>

#include "base/runtime/interrupt.h"

enum { LANES = 4, MOST_STEPS = 100 };

/* Sums of z_i / (d_i - t) and of their derivatives, from a pole to another. */
typedef struct pole_sums { double value, slope; } pole_sums;

static pole_sums poles(const double *d, const double *z, int64_t from,
                       int64_t end, double t)
{
    double value[LANES] = {0}, slope[LANES] = {0};
    int64_t i = from;
    for (; i + LANES <= end; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double r = 1 / (d[i + l] - t), x = z[i + l] * r;
            value[l] += x;
            slope[l] += x * r;
        }
    for (int l = 0; i < end; i++, l++) {
        double r = 1 / (d[i] - t), x = z[i] * r;
        value[l] += x;
        slope[l] += x * r;
    }
    return (pole_sums){(value[0] + value[1]) + (value[2] + value[3]),
                       (slope[0] + slope[1]) + (slope[2] + slope[3])};
}

/* Distances of all poles from pole 'origin'. */
static void gaps_from(const la_secular *s, int64_t origin, double *gaps)
{
    double o = s->d[origin];
    for (int64_t i = 0; i < s->n; i++) {
        gaps[i] = s->d[i] - o;
        if (s->squares) gaps[i] *= s->d[i] + o;
    }
}

/* The step to the root of  c + p / (a - x) + q / (b - x)  that is 0 <= x
** between the poles a < 0 and b > 0, or of the first two terms. */
static double step_of(double w, double a, double b, pole_sums left,
                      pole_sums right, bool last)
{
    if (last) {
        double p = left.slope * a * a, c = w - left.slope * a;
        return c > 0 ? a + p / c : (double)NAN;
    }
    double c = w - a * left.slope - b * right.slope;
    double x = (a + b) * w - a * b * (left.slope + right.slope);
    double y = a * b * w, root = sqrt(fabs(x * x - 4 * y * c));
    return x <= 0 ? (x - root) / (2 * c) : 2 * y / (x + root);
}

/* Root k; its distances from the poles are left in 'gaps'. */
static bool solve_root(const la_secular *s, int64_t k, double sum,
                       double *gaps)
{
    int64_t n = s->n, origin = k;
    const double *z = s->spare;
    bool last = k == n - 1;
    gaps_from(s, k, gaps);
    double low = 0, high, t;
    high = last ? sum * (1 + 8 * DBL_EPSILON) : gaps[k + 1];
    t = high / 2;
    if (!last) {
        pole_sums a = poles(gaps, z, 0, k + 1, t);
        pole_sums b = poles(gaps, z, k + 1, n, t);
        if (1 + a.value + b.value < 0) {
            origin = k + 1;
            t = -t;
            low = t;
            high = 0;
            gaps_from(s, origin, gaps);
        } else high = t;
    }
    for (int i = 0; i < MOST_STEPS; i++) {
        pole_sums a = poles(gaps, z, 0, k + 1, t);
        pole_sums b = poles(gaps, z, k + 1, n, t);
        double w = 1 + a.value + b.value;
        double error = 1 + 8 * (b.value - a.value)
            + fabs(t) * (a.slope + b.slope);
        if (fabs(w) <= DBL_EPSILON / 2 * error) break;
        if (w < 0) low = t;
        else high = t;
        double x = t + step_of(w, gaps[k] - t, last ? 0 : gaps[k + 1] - t, a, b,
                               last);
        if (!(x > low && x < high)) x = low + (high - low) / 2;
        if (x == t || x == low || x == high) break;
        if (i == MOST_STEPS - 1) return false;
        t = x;
    }
    for (int64_t i = 0; i < n; i++) gaps[i] -= t;
    double o = s->d[origin];
    s->roots[k] = o + (s->squares && t != 0
                       ? t / (o + sqrt(fabs(o * o + t))) : t);
    return true;
}

/* The z that has exactly these roots: z_i^2 is the product of the differences
** from the roots over that from the other poles. */
static la_status exact_z(const la_secular *s)
{
    double *w = s->spare;
    for (int64_t i = 0; i < s->n; i++) w[i] = 1;
    for (int64_t k = 0; k < s->n; k++) {
        const double *gaps = s->gaps + k * s->n;
        double dk = s->d[k];
        if (k % 64 == 63 && la_interrupted()) return LA_EINTR;
        for (int part = 0; part < 2; part++) {
            int64_t i = part ? k + 1 : 0, end = part ? s->n : k;
            if (s->squares)
                for (; i < end; i++)
                    w[i] *= gaps[i] / ((s->d[i] - dk) * (s->d[i] + dk));
            else
                for (; i < end; i++) w[i] *= gaps[i] / (s->d[i] - dk);
        }
        w[k] *= gaps[k];
    }
    for (int64_t i = 0; i < s->n; i++)
        s->z[i] = copysign(sqrt(fabs(w[i])), s->z[i]);
    return LA_OK;
}

la_status la_secular_solve(const la_secular *s, int32_t *info)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        s->spare[i] = s->rho * s->z[i] * s->z[i];
        sum += s->spare[i];
    }
    for (int64_t k = 0; k < s->n; k++) {
        if (k % 8 == 7 && la_interrupted()) return LA_EINTR;
        if (!solve_root(s, k, sum, s->gaps + k * s->n)) *info = 1;
    }
    return *info ? LA_OK : exact_z(s);
}
