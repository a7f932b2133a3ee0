/*
** QR iterations for symmetric tridiagonal matrices (implicit shifts, EISPACK's
** imtql2) and bidiagonal ones (Demmel and Kahan, SIAM J. Sci. Stat. Comput. 11,
** 1990, as LAPACK's bdsqr: without a shift where that would cost small values
** their digits).
*/
#include "op/eigen/divide.h"

#include <float.h>
#include <math.h>

#include "base/libm/libm.h"
#include "base/runtime/interrupt.h"
#include "base/size.h"

#define UNIT (DBL_EPSILON / 2)
enum {
    MOST_ROUNDS = 60,         /* per value */
    ASK_AFTER = 1 << 17       /* rotations */
};

/* Has the host been asked lately, or does it say that work may go on? */
static bool goes_on(int64_t *rotations, int64_t more)
{
    *rotations += more;
    if (*rotations < ASK_AFTER) return true;
    *rotations = 0;
    return !la_interrupted();
}

void la_rotate_rows(double *p, double *q, int64_t cols, double c, double s)
{
    for (int64_t i = 0; i < cols; i++) {
        double x = p[i], y = q[i];
        p[i] = c * x + s * y;
        q[i] = c * y - s * x;
    }
}

/* la_rotation_of where squares are lost: by a power of two to where they are
** not. */
static __attribute__((noinline, cold)) double extreme_rotation(double x,
                                                               double y,
                                                               double *c,
                                                               double *s)
{
    double r;
    *c = 1;
    *s = 0;
    if (y == 0) return x;
    r = la_m_hypot(x, y);
    double power = r < 1 ? 0x1p600 : 0x1p-600;
    x *= power;
    y *= power;
    r = sqrt(x * x + y * y);
    *c = x / r;
    *s = y / r;
    return r / power;
}

static inline double rotation_of(double x, double y, double *c, double *s)
{
    double r = sqrt(x * x + y * y);
    if (y == 0 || !(r > 0x1p-480 && r < 0x1p500))
        return extreme_rotation(x, y, c, s);
    *c = x / r;
    *s = y / r;
    return r;
}

double la_rotation_of(double x, double y, double *c, double *s)
{
    return rotation_of(x, y, c, s);
}

/* ---- tridiagonal ---- */

/* One sweep over rows that end at 'near', where the shift is taken and a value
** is found; 'up': row k of the sweep, from 0 to last, is near + k, else
** near - k. */
static void tridiagonal_sweep(double *d, double *e, int64_t near, int64_t last,
                              bool up, double *x, int64_t step, int64_t cols)
{
    int64_t way = up ? 1 : -1;
    double *dn = d + near, *en = up ? e + near : e + near - 1;
    double g = (dn[way] - dn[0]) / (2 * en[0]), r = la_m_hypot(g, 1);
    double s = 1, c = 1, p = 0;
    g = dn[last * way] - dn[0] + en[0] / (g + copysign(r, g));
    for (int64_t i = last - 1; i >= 0; i--) {
        double f = s * en[i * way], b = c * en[i * way];
        r = rotation_of(g, f, &c, &s);
        if (i + 1 < last) en[(i + 1) * way] = r;
        if (r == 0) {
            dn[(i + 1) * way] -= p;
            return;
        }
        g = dn[(i + 1) * way] - p;
        r = (dn[i * way] - g) * s + 2 * c * b;
        p = s * r;
        dn[(i + 1) * way] = g + p;
        g = c * r - b;
        if (x)
            la_rotate_rows(x + (near + i * way) * step,
                           x + (near + (i + 1) * way) * step, cols, c, -s);
    }
    dn[0] -= p;
    en[0] = g;
}

/* Is the element behind row i negligible? */
static bool cut_behind(const double *d, const double *e, int64_t i)
{
    double size = fabs(e[i]);
    return size <= 0x1p-511
        || size <= UNIT * sqrt(fabs(d[i])) * sqrt(fabs(d[i + 1]));
}

/* QL or QR with implicit Wilkinson shifts, as LAPACK's steqr: each unreduced
** block is worked on from its larger end, so that small values keep their
** relative accuracy on graded matrices. A block of one row is an eigenvalue.
** The bound on rounds ends what NaNs would make
** endless. */
bool la_tridiagonal_qr(double *d, double *e, int64_t n, double *x,
                       int64_t step, int64_t cols)
{
    int64_t rounds = 0, most = MOST_ROUNDS * n, rotations = 0;
    for (int64_t l = 0; l + 1 < n; ) {
        int64_t m = l;
        while (m + 1 < n && !cut_behind(d, e, m)) m++;
        if (m + 1 < n) e[m] = 0;
        if (m == l) {
            l++;
            continue;
        }
        /* from the larger end to the smaller one (LAPACK's steqr) */
        bool up = fabs(d[m]) >= fabs(d[l]);
        if (++rounds > most || !goes_on(&rotations, m - l)) return false;
        tridiagonal_sweep(d, e, up ? l : m, m - l, up, x, step, cols);
    }
    return true;
}

/* One sweep without vectors, from squares of the elements off the diagonal, so
** that it takes no roots (Pal, Walker and Kahan's, as in LAPACK's sterf). */
static void values_sweep(double *d, double *e, int64_t near, int64_t last,
                         bool up)
{
    int64_t way = up ? 1 : -1;
    double *dn = d + near, *en = up ? e + near : e + near - 1;
    double root = sqrt(en[0]), sigma = (dn[way] - dn[0]) / (2 * root);
    sigma = dn[0] - root / (sigma + copysign(sqrt(sigma * sigma + 1), sigma));
    double c = 1, s = 0, gamma = dn[last * way] - sigma, p = gamma * gamma;
    for (int64_t i = last - 1; i >= 0; i--) {
        double b = en[i * way], r = p + b, before = c, old = gamma;
        if (i + 1 < last) en[(i + 1) * way] = s * r;
        c = p / r;
        s = b / r;
        gamma = c * (dn[i * way] - sigma) - s * old;
        dn[(i + 1) * way] = old + (dn[i * way] - gamma);
        p = c != 0 ? gamma * gamma / c : before * b;
    }
    en[0] = s * p;
    dn[0] = sigma + gamma;
}

/* Values alone, by the variant without square roots of Pal, Walker and Kahan
** (LAPACK's sterf): e holds squares while it runs, which is why its limit is a
** product of squares. */
bool la_tridiagonal_pwk(double *d, double *e, int64_t n)
{
    int64_t rounds = 0, rotations = 0;
    for (int64_t i = 0; i + 1 < n; i++) e[i] *= e[i];
    for (int64_t l = 0; l + 1 < n; ) {
        int64_t m = l;
        while (m + 1 < n && e[m] > 0x1p-1000
               && e[m] > UNIT * UNIT * fabs(d[m]) * fabs(d[m + 1]))
            m++;
        if (m + 1 < n) e[m] = 0;
        if (m == l) {
            l++;
            continue;
        }
        bool up = fabs(d[m]) >= fabs(d[l]);
        if (++rounds > MOST_ROUNDS * n || !goes_on(&rotations, m - l))
            return false;
        values_sweep(d, e, up ? l : m, m - l, up);
    }
    return true;
}

/* ---- bidiagonal ---- */

typedef struct bidiagonal_part {
    double *d, *e, *u, *v;
    int64_t step, cols, first, last;
    double tol, thresh;
    bool down;                /* the bulge is chased from the first row */
} bidiagonal_part;

static void rotate_set(double *x, const bidiagonal_part *b, int64_t i,
                       double c, double s)
{
    if (x && (s != 0 || c != 1))
        la_rotate_rows(x + i * b->step, x + (i + 1) * b->step, b->cols, c, s);
}

/* The smaller singular value of [[f, g], [0, h]] (las2). */
static double least_of(double f, double g, double h)
{
    double fa = fabs(f), ga = fabs(g), ha = fabs(h);
    double low = fmin(fa, ha), high = fmax(fa, ha);
    if (low == 0) return 0;
    if (ga < high) {
        double as = 1 + low / high, at = (high - low) / high;
        double au = (ga / high) * (ga / high);
        return low * (2 / (sqrt(as * as + au) + sqrt(at * at + au)));
    }
    double au = high / ga;
    if (au == 0) return low * high / ga;
    double as = 1 + low / high, at = (high - low) / high;
    double c = 1 / (sqrt(1 + (as * au) * (as * au))
                    + sqrt(1 + (at * au) * (at * au)));
    return low * c * au * 2;
}

/* A sweep from the first row to the last, with a shift. */
static void sweep_down(const bidiagonal_part *b, double shift)
{
    double *d = b->d, *e = b->e, c, s;
    int64_t l = b->first, m = b->last;
    double f = (fabs(d[l]) - shift) * (copysign(1, d[l]) + shift / d[l]);
    double g = e[l];
    for (int64_t i = l; i < m; i++) {
        double r = rotation_of(f, g, &c, &s);
        if (i > l) e[i - 1] = r;
        f = c * d[i] + s * e[i];
        e[i] = c * e[i] - s * d[i];
        g = s * d[i + 1];
        d[i + 1] *= c;
        rotate_set(b->v, b, i, c, s);
        d[i] = rotation_of(f, g, &c, &s);
        f = c * e[i] + s * d[i + 1];
        d[i + 1] = c * d[i + 1] - s * e[i];
        if (i + 1 < m) {
            g = s * e[i + 1];
            e[i + 1] *= c;
        }
        rotate_set(b->u, b, i, c, s);
    }
    e[m - 1] = f;
}

/* One step of Golub and Kahan's implicit QR with a shift, from the bottom of
** the block to its top: f and g are the bulge that the rotations chase. */
static void sweep_up(const bidiagonal_part *b, double shift)
{
    double *d = b->d, *e = b->e, c, s;
    int64_t l = b->first, m = b->last;
    double f = (fabs(d[m]) - shift) * (copysign(1, d[m]) + shift / d[m]);
    double g = e[m - 1];
    for (int64_t i = m; i > l; i--) {
        double r = rotation_of(f, g, &c, &s);
        if (i < m) e[i] = r;
        f = c * d[i] + s * e[i - 1];
        e[i - 1] = c * e[i - 1] - s * d[i];
        g = s * d[i - 1];
        d[i - 1] *= c;
        rotate_set(b->u, b, i - 1, c, -s);
        d[i] = rotation_of(f, g, &c, &s);
        f = c * e[i - 1] + s * d[i - 1];
        d[i - 1] = c * d[i - 1] - s * e[i - 1];
        if (i - 1 > l) {
            g = s * e[i - 2];
            e[i - 2] *= c;
        }
        rotate_set(b->v, b, i - 1, c, -s);
    }
    e[l] = f;
}

/* Sweeps without a shift subtract nothing. */
static void plain_down(const bidiagonal_part *b)
{
    double *d = b->d, *e = b->e, c = 1, s = 0, oc = 1, os = 0;
    for (int64_t i = b->first; i < b->last; i++) {
        double r = rotation_of(d[i] * c, e[i], &c, &s);
        if (i > b->first) e[i - 1] = os * r;
        d[i] = rotation_of(oc * r, d[i + 1] * s, &oc, &os);
        rotate_set(b->v, b, i, c, s);
        rotate_set(b->u, b, i, oc, os);
    }
    double h = d[b->last] * c;
    d[b->last] = h * oc;
    e[b->last - 1] = h * os;
}

/* A step without a shift (Demmel and Kahan, "Accurate singular values of
** bidiagonal matrices", 1990): it has no subtraction, so that the smallest
** values keep all their digits. */
static void plain_up(const bidiagonal_part *b)
{
    double *d = b->d, *e = b->e, c = 1, s = 0, oc = 1, os = 0;
    for (int64_t i = b->last; i > b->first; i--) {
        double r = rotation_of(d[i] * c, e[i - 1], &c, &s);
        if (i < b->last) e[i] = os * r;
        d[i] = rotation_of(oc * r, d[i - 1] * s, &oc, &os);
        rotate_set(b->u, b, i - 1, c, -s);
        rotate_set(b->v, b, i - 1, oc, -os);
    }
    double h = d[b->first] * c;
    d[b->first] = h * oc;
    e[b->first] = h * os;
}

/* Elements off the diagonal that are negligible to the values of all rows
** (Demmel and Kahan's criterion) become zero: true if one did. *least: a lower
** bound of the values. */
static bool cut(const bidiagonal_part *b, double *least)
{
    double *d = b->d, *e = b->e;
    int64_t l = b->first, m = b->last, at = b->down ? m - 1 : l;
    if (fabs(e[at]) <= b->tol * fabs(d[b->down ? m : l])) {
        e[at] = 0;
        return true;
    }
    double mu = fabs(d[b->down ? l : m]);
    *least = mu;
    for (int64_t k = 0; k < m - l; k++) {
        int64_t i = b->down ? l + k : m - 1 - k;
        double next = fabs(d[b->down ? i + 1 : i]), aside = fabs(e[i]);
        if (aside <= b->tol * mu) {
            e[i] = 0;
            return true;
        }
        mu = next * (mu / (mu + aside));
        *least = fmin(*least, mu);
    }
    return false;
}

/* One iteration of the block that ends at b->last; *largest: of its elements */
static void bidiagonal_round(bidiagonal_part *b, double largest, int64_t n)
{
    double least = 0, shift = 0, *d = b->d, *e = b->e;
    int64_t l = b->first, m = b->last;
    if (cut(b, &least)) return;
    if ((double)n * b->tol * (least / largest) > fmax(UNIT, 0.01 * b->tol)) {
        double top = fabs(d[b->down ? l : m]);
        shift = b->down ? least_of(d[m - 1], e[m - 1], d[m])
                        : least_of(d[l], e[l], d[l + 1]);
        if (top > 0 && (shift / top) * (shift / top) < UNIT) shift = 0;
    }
    if (shift == 0) {
        if (b->down) plain_down(b);
        else plain_up(b);
        if (fabs(e[b->down ? m - 1 : l]) <= b->thresh)
            e[b->down ? m - 1 : l] = 0;
        return;
    }
    if (b->down) sweep_down(b, shift);
    else sweep_up(b, shift);
    int64_t end = b->down ? m - 1 : l;
    if (fabs(e[end]) <= b->thresh) e[end] = 0;
}

/* The first row of the block that ends at b->last: its elements off the
** diagonal are not negligible. */
static int64_t block_start(const bidiagonal_part *b, double *largest)
{
    double *d = b->d, *e = b->e;
    int64_t i = b->last;
    *largest = fabs(d[i]);
    for (; i > 0; i--) {
        if (fabs(d[i - 1]) <= b->thresh) d[i - 1] = 0;
        if (fabs(e[i - 1]) <= b->thresh) {
            e[i - 1] = 0;
            break;
        }
        *largest = fmax(*largest, fmax(fabs(d[i - 1]), fabs(e[i - 1])));
    }
    return i;
}

/* Golub and Kahan's iteration with the criteria of Demmel and Kahan. 'mu'
** bounds the smallest singular value from below, and so does the threshold what
** may count as zero: relative to that value, not to the largest. Signs are
** moved into v at the end, as values are not negative. */
bool la_bidiagonal_qr(double *d, double *e, int64_t n, double *u, double *v,
                      int64_t step, int64_t cols)
{
    int64_t rounds = 0, before = -1, end = -1, rotations = 0;
    double least = fabs(d[0]), mu = least;
    bidiagonal_part b = {.d = d, .e = e, .u = u, .v = v, .step = step,
                         .cols = cols, .last = n - 1, .tol = 100 * UNIT};
    for (int64_t i = 1; i < n && least > 0; i++) {
        mu = fabs(d[i]) * (mu / (mu + fabs(e[i - 1])));
        least = fmin(least, mu);
    }
    b.thresh = fmax(b.tol * least / sqrt((double)n), 0x1p-1000);
    while (b.last > 0) {
        double largest;
        if (fabs(d[b.last]) <= b.thresh) d[b.last] = 0;
        b.first = block_start(&b, &largest);
        if (b.first == b.last) {
            b.last--;
            continue;
        }
        if (++rounds > MOST_ROUNDS * n
            || !goes_on(&rotations, 2 * (b.last - b.first)))
            return false;
        if (b.first > end || b.last < before || end < 0)
            b.down = fabs(d[b.first]) >= fabs(d[b.last]);
        before = b.first;
        end = b.last;
        bidiagonal_round(&b, largest, n);
    }
    for (int64_t i = 0; i < n; i++)
        if (d[i] < 0 || (d[i] == 0 && signbit(d[i]))) {
            d[i] = -d[i];
            for (int64_t j = 0; v && j < cols; j++)
                v[i * step + j] = -v[i * step + j];
        }
    return true;
}
