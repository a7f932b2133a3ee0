/*
** Singular values of bidiagonal matrices by the differential quotient
** difference algorithm with shifts (Fernando and Parlett, Numer. Math. 67,
** 1994; Parlett and Marques, Linear Algebra Appl. 309, 2000): squares q of the
** diagonal and e of what is next to it; a sweep takes a division and no root,
** and subtracts nothing but the shift, so that small values keep their digits.
*/
#include "op/linalg/divide.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/libm/libm.h"
#include "base/runtime/interrupt.h"
#include "base/size.h"

#define TOL (4 * DBL_EPSILON)
#define TOL2 (TOL * TOL)
enum {
    MOST_SWEEPS = 30,         /* per value */
    ASK_AFTER = 1 << 17       /* elements */
};

typedef struct qd_pair { double *q, *e; } qd_pair;

/* The block of rows first .. last: values are those of its matrix and 'sigma',
** the sum of the shifts, whose lower digits are 'rest'. */
typedef struct qd_block {
    qd_pair now, next;
    double *value, *base;     /* found; sigma where a block ends, or -1 */
    int64_t first, last, asked;
    double sigma, rest;
    /* of the last sweep: smallest d, but for the last two rows, and these */
    double above, before, end;
    bool known, near;         /* these are; an e may be negligible */
    double part;              /* of a smallest d in the middle, as a shift */
} qd_block;

/* now becomes next, whose matrix is that of now less the shift; false: it is
** not positive, or not finite. */
static bool qd_sweep(qd_block *b, double shift)
{
    const double *q = b->now.q, *e = b->now.e;
    double *to = b->next.q, *te = b->next.e, sigma = b->sigma + shift;
    int64_t last = b->last;
    double d = q[b->first] - shift, least = INFINITY, before = INFINITY;
    bool near = false;
    for (int64_t i = b->first; i < last; i++) {
        double own = d + e[i], t = q[i + 1] / own;
        least = before < least ? before : least;
        before = d;
        near |= e[i] <= TOL2 * (own + sigma);
        to[i] = own;
        te[i] = e[i] * t;
        d = d * t - shift;
    }
    to[last] = d;
    b->above = least;
    b->before = before;
    b->end = d;
    b->near = near;
    b->known = true;
    return least >= 0 && before >= 0 && d >= 0;
}

/* A sweep without a shift, in which zeros meet. */
static void qd_plain(qd_block *b)
{
    const double *q = b->now.q, *e = b->now.e;
    double *to = b->next.q, *te = b->next.e, d = q[b->first];
    for (int64_t i = b->first; i < b->last; i++) {
        to[i] = d + e[i];
        double t = to[i] > 0 ? q[i + 1] / to[i] : 1;
        if (t > 0x1p900) t = 0x1p900;
        te[i] = to[i] > 0 ? e[i] * t : 0;
        d = to[i] > 0 ? d * t : q[i + 1];
    }
    to[b->last] = d;
    b->known = false;
    b->near = true;
}

/* The shift for rows up to 'last', of whose matrix q[last] is the last pivot:
** where the smallest value belongs to the last rows, a lower bound of it by the
** residual of z, B z = sqrt(q) e_last, and of the gap to the others, of which
** 'above' is an upper bound. */
static double qd_shift(qd_block *b)
{
    const double *q = b->now.q, *e = b->now.e;
    double pivot = q[b->last], a = 0, part = 1;
    double least = fmin(b->above, fmin(b->before, b->end));
    if (!b->known || !(least > 0)) return 0;
    double above = fmin(b->above, b->before);
    if (pivot <= above) {
        for (int64_t i = b->last - 1; i >= b->first; i--) {
            part *= e[i] / q[i];
            a += part;
            if (part < 0.01 * a || a > 0.7) break;
        }
        a *= 1.02;
        if (a < 0.6) {
            double quotient = pivot / (1 + a), gap = above / 2 - quotient;
            double shift = quotient * (1 - sqrt(a));
            if (gap > quotient * sqrt(a))
                shift = fmax(shift, quotient * (1 - quotient * (a / gap)));
            b->part = 0.25;
            return fmax(shift * (1 - 4 * DBL_EPSILON), least / 4);
        }
    }
    double shift = b->part * least;
    b->part += (1 - b->part) / 3;
    return shift;
}

/* A sweep by a shift that leaves the matrix positive. */
static void qd_step(qd_block *b)
{
    double shift = qd_shift(b);
    for (int tries = 0; !qd_sweep(b, shift); tries++) {
        bool late = b->above > 0 && b->before > 0 && b->end < 0;
        b->part = 0.25;
        if (late && b->next.e[b->last - 1] <= TOL2 * b->sigma
            && -b->end <= TOL2 * b->sigma) {
            b->next.q[b->last] = b->end = 0;
            break;
        }
        if (shift == 0) {
            qd_plain(b);
            break;
        }
        if (tries == 2) shift = 0;
        else if (late)
            shift = fmax(0, (shift + b->end) * (1 - 2 * DBL_EPSILON));
        else shift /= 4;
    }
    double sum = b->sigma + (shift + b->rest);
    b->rest += shift <= b->sigma ? shift - (sum - b->sigma)
                                 : b->sigma - (sum - shift);
    b->sigma = sum;
    qd_pair p = b->now;
    b->now = b->next;
    b->next = p;
}

/* The values of [[q0, .], [e0, q1]]: their product is q0 q1. */
static void qd_two(qd_block *b)
{
    int64_t i = b->last - 1;
    double q0 = b->now.q[i], q1 = b->now.q[i + 1], e = b->now.e[i];
    double half = ((q0 - q1) + e) / 2;
    double root = la_m_hypot(half, sqrt(q1) * sqrt(e));
    double large = half < 0 ? q1 + (root + half) : q1 + half + root;
    if (half < 0 && large > 0) {
        /* root + half without cancellation */
        large = q1 + q1 * (e / (root - half));
    }
    double small = large > 0 ? q0 * (q1 / large) : 0;
    b->value[i] = large + (b->sigma + b->rest);
    b->value[i + 1] = small + (b->sigma + b->rest);
    b->last -= 2;
}

/* Largest first: small values are found at the end. */
static void qd_turn(qd_block *b)
{
    double *q = b->now.q, *e = b->now.e;
    int64_t i = b->first, k = b->last;
    if (!(1.5 * q[i] < q[k])) return;
    for (; i < k; i++, k--) {
        double x = q[i], y = e[i];
        q[i] = q[k];
        q[k] = x;
        e[i] = e[k - 1];
        e[k - 1] = y;
    }
    b->known = false;
}

/* The block becomes the part behind its last negligible e; what is before it is
** for later. 'e' are those before the sweep that gave b->now. */
static void qd_split(qd_block *b, const double *e, qd_pair home)
{
    double sigma = b->sigma + b->rest;
    int64_t end = b->last - 1;
    while (end >= b->first
           && e[end] > TOL2 * (b->now.q[end] + sigma)
           && b->now.e[end] > TOL2 * (b->now.q[end + 1] + sigma))
        end--;
    b->near = false;
    if (end < b->first) return;
    size_t bytes = sizeof(double) * (size_t)(end + 1 - b->first);
    if (home.q != b->now.q) {
        memcpy(home.q + b->first, b->now.q + b->first, bytes);
        memcpy(home.e + b->first, b->now.e + b->first, bytes);
    }
    b->base[end] = sigma;
    for (int64_t i = b->first; i < end; i++) b->base[i] = -1;
    b->first = end + 1;
}

/* Values that have been found leave the block. */
static void qd_deflate(qd_block *b, const double *before)
{
    const double *q = b->now.q, *e = b->now.e;
    while (b->last >= b->first) {
        int64_t l = b->last, n = l + 1 - b->first;
        double sigma = b->sigma + b->rest;
        if (n == 1 || e[l - 1] <= TOL2 * (sigma + q[l])
            || before[l - 1] <= TOL2 * q[l - 1]) {
            b->value[l] = q[l] + sigma;
            b->last--;
        } else if (n == 2 || e[l - 2] <= TOL2 * sigma
                   || before[l - 2] <= TOL2 * q[l - 2])
            qd_two(b);
        else return;
        /* the rows before are the last ones now */
        b->end = b->last >= b->first ? q[b->last] : 0;
        b->before = b->above;
        if (b->last - 2 < b->first) b->known = false;
    }
}

/* All values of the block; false: not converged, or the host says stop. */
static bool qd_values(qd_block *b, qd_pair home)
{
    int64_t most = MOST_SWEEPS * (b->last + 1 - b->first) + MOST_SWEEPS;
    for (int64_t round = 0; b->last >= b->first; round++) {
        int64_t last = b->last;
        if (round == most) return false;
        if (b->first == last) {
            b->value[last] = b->now.q[last] + (b->sigma + b->rest);
            b->last--;
            return true;
        }
        qd_step(b);
        b->asked += last - b->first;
        if (b->asked > ASK_AFTER) {
            b->asked = 0;
            if (la_interrupted()) return false;
        }
        qd_deflate(b, b->next.e);
        if (b->last <= b->first) continue;
        if (b->near) qd_split(b, b->next.e, home);
        if (b->last != last || !b->known) qd_turn(b);
    }
    return true;
}

size_t la_bidiagonal_qd_work(int64_t n)
{
    return la_whole_lines(6 * n * (int64_t)sizeof(double));
}

bool la_bidiagonal_qd(double *d, const double *e, int64_t n, char *work)
{
    const double power = 0x1p200;
    double *w = (double *)(void *)work;
    qd_pair home = {w, w + n}, other = {w + 2 * n, w + 3 * n};
    qd_block b = {.value = w + 4 * n, .base = w + 5 * n};
    memset(w, 0, la_bidiagonal_qd_work(n));
    for (int64_t i = 0; i < n; i++) {
        double x = d[i] * power, y = i + 1 < n ? e[i] * power : 0;
        home.q[i] = x * x;
        home.e[i] = y * y;
        b.base[i] = -1;
    }
    b.base[n - 1] = 0;
    for (int64_t last = n - 1; last >= 0; last = b.first - 1) {
        b.now = home;
        b.next = other;
        b.last = last;
        b.sigma = b.base[last];
        b.rest = 0;
        b.part = 0.25;
        b.known = false;
        for (b.first = last; b.first > 0 && b.base[b.first - 1] < 0; )
            b.first--;
        qd_turn(&b);
        if (!qd_values(&b, home)) return false;
    }
    for (int64_t i = 0; i < n; i++) d[i] = sqrt(b.value[i]) / power;
    return true;
}
