/*
** Divide and conquer for tridiagonal (Cuppen, Numer. Math. 36, 1981) and
** bidiagonal matrices (Gu and Eisenstat, SIAM J. Matrix Anal. Appl. 16, 1995),
** with the deflation of LAPACK's laed2 and lasd2. Vectors are rows, so that
** what is exchanged or rotated lies together. The tree of blocks is a loop over
** its levels.
*/
#include "op/eigen/divide.h"

#include <float.h>
#include <math.h>

#include "base/libm/libm.h"
#include "base/runtime/interrupt.h"
#include "base/size.h"
#include "op/value.h"

#define UNIT (DBL_EPSILON / 2)
enum { LEAF = 24 };           /* rows of a block at most */

/* The whole problem: 'x' are sets of vectors; the values of a node lie in d in
** the order of its rows, and order[] has the rows of a node by rising value. */
typedef struct divide_all {
    double *d, *e, *x[2], *gather, *factors[2];
    double *z, *poles, *roots, *spare;
    int64_t *order, *sorted, *kind, *slot;
    int64_t n, step;
    int sets;
} divide_all;

/* One join: rows from 'first' to end - 1, cut at 'middle'; 'rho' is the factor
** of z z^T (tridiagonal). 'kept' poles take part, whose rows are the first of
** sorted[]; others follow. */
typedef struct divide_join {
    int64_t first, middle, end, kept;
    double rho, tol;
} divide_join;

enum { LEFT_ROW, BOTH_ROW, RIGHT_ROW };   /* halves in which a row is not 0 */

size_t la_divide_work(int64_t n, int sets)
{
    return (size_t)(sets + 1) * la_whole_lines(n * n * (int64_t)sizeof(double))
        + 4 * la_whole_lines(n * (int64_t)sizeof(double))
        + 4 * la_whole_lines(n * (int64_t)sizeof(int64_t));
}

/* Cuts the work memory into whole cache lines, in the order in which
** la_divide_work counts it, and starts all sets of vectors as the
** identity. */
static void divide_begin(divide_all *a, char *work)
{
    size_t square = la_whole_lines(a->n * a->n * (int64_t)sizeof(double));
    size_t row = la_whole_lines(a->n * (int64_t)sizeof(double));
    double **vectors[] = {&a->z, &a->poles, &a->roots, &a->spare};
    int64_t **lists[] = {&a->order, &a->sorted, &a->kind, &a->slot};
    a->gather = (double *)(void *)work;
    for (int k = 0; k < a->sets; k++)
        a->factors[k] = (double *)(void *)(work += square);
    work += square;
    for (int k = 0; k < 4; k++, work += row) *vectors[k] = (void *)work;
    for (int k = 0; k < 4; k++, work += row) *lists[k] = (void *)work;
    for (int k = 0; k < a->sets; k++)
        for (int64_t i = 0; i < a->n; i++) {
            memset(a->x[k] + i * a->step, 0, sizeof(double) * (size_t)a->n);
            a->x[k][i * a->step + i] = 1;
        }
}

/* Boundary i of the blocks of a level, of n in 2^level parts. */
static int64_t boundary(int64_t n, int64_t i, int level)
{
    return (int64_t)(((uint64_t)n * (uint64_t)i) >> level);
}

static int divide_levels(int64_t n)
{
    int levels = 0;
    while (n >> levels > LEAF) levels++;
    return levels;
}

/* ---- order ---- */

/* order[] of rows that were just solved. */
static void sort_rows(const divide_all *a, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        int64_t j = i;
        for (; j > first && a->d[a->order[j - 1]] > a->d[i]; j--)
            a->order[j] = a->order[j - 1];
        a->order[j] = i;
    }
}

/* out = two lists of rows by rising value. */
static void merge_rows(const double *d, const int64_t *a, int64_t na,
                       const int64_t *b, int64_t nb, int64_t *out)
{
    int64_t i = 0, j = 0;
    while (i < na || j < nb)
        if (j == nb || (i < na && d[a[i]] <= d[b[j]])) *out++ = a[i++];
        else *out++ = b[j++];
}

/* Rows of all sets into the order of order[], or the reverse; with values. */
static void divide_end(const divide_all *a, bool falling)
{
    int64_t n = a->n;
    size_t bytes = sizeof(double) * (size_t)n;
    for (int k = 0; k < a->sets; k++) {
        for (int64_t i = 0; i < n; i++)
            memcpy(a->gather + i * n, a->x[k] + i * a->step, bytes);
        for (int64_t i = 0; i < n; i++)
            memcpy(a->x[k] + i * a->step,
                   a->gather + a->order[falling ? n - 1 - i : i] * n, bytes);
    }
    memcpy(a->spare, a->d, bytes);
    for (int64_t i = 0; i < n; i++)
        a->d[i] = a->spare[a->order[falling ? n - 1 - i : i]];
}

/* ---- deflation ---- */

/* Rows p and q are rotated so that p does not take part: true if that changes
** nothing beyond the tolerance. */
static bool join_pair(const divide_all *a, const divide_join *j, int64_t p,
                      int64_t q)
{
    double *d = a->d, *z = a->z;
    double r = la_m_hypot(z[p], z[q]), c = z[q] / r, s = -z[p] / r;
    double gap = d[q] - d[p];
    if (!(a->sets == 2 ? fabs(gap) <= j->tol : fabs(gap * c * s) <= j->tol))
        return false;
    z[q] = r;
    z[p] = 0;
    for (int k = 0; k < a->sets; k++) {
        int64_t cols = la_min(j->end + k, a->n) - j->first;
        la_rotate_rows(a->x[k] + p * a->step + j->first,
                       a->x[k] + q * a->step + j->first, cols, c, s);
    }
    if (a->sets == 1) {
        double x = d[p], y = d[q];
        d[p] = x * c * c + y * s * s;
        d[q] = x * s * s + y * c * c;
    }
    if (a->kind[p] != a->kind[q]) a->kind[q] = BOTH_ROW;
    return true;
}

/* sorted[]: poles that take part, then the others; slot[] is used on the
** way. */
static void deflate(const divide_all *a, divide_join *j)
{
    int64_t count = j->end - j->first, before = -1, out = 0, *list = a->sorted;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = list[i];
        bool fixed = a->sets == 2 && row == j->middle;
        if (!fixed && fabs(a->z[row]) * j->rho <= j->tol) {
            a->slot[out++] = row;
            continue;
        }
        if (before >= 0 && join_pair(a, j, before, row))
            a->slot[out++] = before;
        else if (before >= 0) list[j->kept++] = before;
        before = row;
        if (!fixed) continue;
        list[j->kept++] = row;
        before = -1;
    }
    if (before >= 0) list[j->kept++] = before;
    memcpy(list + j->kept, a->slot, sizeof *list * (size_t)out);
}

/* ---- the new vectors ---- */

/* slot[i]: where the row of pole i lies among those that are gathered: rows of
** the left half, of both, of the right one; count[] of each. */
static void group_rows(const divide_all *a, const divide_join *j,
                       int64_t *count)
{
    int64_t at[3] = {0};
    count[0] = count[1] = count[2] = 0;
    for (int64_t i = 0; i < j->kept; i++) count[a->kind[a->sorted[i]]]++;
    at[1] = count[0];
    at[2] = count[0] + count[1];
    for (int64_t i = 0; i < j->kept; i++)
        a->slot[i] = at[a->kind[a->sorted[i]]]++;
}

/* A row of factors at the slots, of norm 1. */
static void factor_row(const divide_all *a, double *to, const double *row,
                       int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += row[i] * row[i];
    double scale = 1 / sqrt(sum);
    for (int64_t i = 0; i < n; i++) to[a->slot[i]] = row[i] * scale;
}

/* factors[0] has the gaps; left vectors replace them. */
static void make_factors(const divide_all *a, const double *poles,
                         const double *z, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double *gaps = a->factors[0] + k * n, *row = a->spare;
        for (int64_t i = 0; i < n; i++) row[i] = z[i] / gaps[i];
        if (a->sets == 1) {
            factor_row(a, gaps, row, n);
            continue;
        }
        factor_row(a, a->factors[1] + k * n, row, n);
        for (int64_t i = 1; i < n; i++) row[i] *= poles[i];
        row[0] = -1;
        factor_row(a, gaps, row, n);
    }
}

/* New rows of set k: the factors times the rows that take part; then those that
** do not. */
static la_status join_rows(const divide_all *a, const divide_join *j, int k,
                           const int64_t *count)
{
    int64_t n = j->kept, cols = la_min(j->end + k, a->n) - j->first;
    int64_t split = j->middle - j->first + (a->sets == 2);
    size_t bytes = sizeof(double) * (size_t)cols;
    la_field f = la_field_of(LA_FLOAT64);
    double *g = a->gather, *out = a->x[k] + j->first * a->step + j->first;
    for (int64_t i = 0; i < j->end - j->first; i++)
        memcpy(g + (i < n ? a->slot[i] : i) * cols,
               a->x[k] + a->sorted[i] * a->step + j->first, bytes);
    for (int64_t i = n; i < j->end - j->first; i++)
        memcpy(out + i * a->step, g + i * cols, bytes);
    la_gemm_mat s = {(char *)a->factors[k], n, 1};
    la_gemm_mat from = {(char *)g, cols, 1}, to = {(char *)out, a->step, 1};
    LA_TRY(la_mat_product(&f, s, from, to, n, split, count[0] + count[1], 0));
    return la_mat_product(&f, la_mat_at(&f, s, 0, count[0]),
                          la_mat_at(&f, from, count[0], split),
                          la_mat_at(&f, to, 0, split), n, cols - split,
                          count[1] + count[2], 0);
}

/* d and order[] of the joined rows: the roots rise. */
static void join_values(const divide_all *a, const divide_join *j)
{
    int64_t n = j->kept, rest = j->end - j->first - n, *list = a->sorted;
    double *d = a->d + j->first;
    for (int64_t i = 0; i < rest; i++) a->spare[i] = a->d[list[n + i]];
    for (int64_t i = 0; i < n; i++) d[i] = a->roots[i];
    for (int64_t i = 0; i < rest; i++) d[n + i] = a->spare[i];
    for (int64_t i = 0; i < n; i++) list[i] = j->first + i;
    for (int64_t i = n; i < n + rest; i++) {
        int64_t at = i;
        for (; at > n && a->d[list[at - 1]] > d[i]; at--)
            list[at] = list[at - 1];
        list[at] = j->first + i;
    }
    merge_rows(a->d, list, n, list + n, rest, a->order + j->first);
}

/* The poles that are left: roots, vectors, values. */
static la_status join_kept(const divide_all *a, const divide_join *j,
                           int32_t *info)
{
    int64_t n = j->kept, count[3] = {0};
    double *z = a->spare;         /* z of the poles in their order */
    if (n > 0) {
        for (int64_t i = 0; i < n; i++) {
            a->poles[i] = a->d[a->sorted[i]];
            z[i] = a->z[a->sorted[i]];
        }
        memcpy(a->z, z, sizeof *z * (size_t)n);
        if (a->sets == 2 && n > 1)
            a->poles[1] = fmax(a->poles[1], j->tol / 2);
        la_secular s = {n, a->poles, a->z, a->roots, a->factors[0], a->spare,
                        j->rho, a->sets == 2};
        LA_TRY(la_secular_solve(&s, info));
        if (*info) return LA_OK;
        group_rows(a, j, count);
        make_factors(a, a->poles, a->z, n);
    }
    for (int k = 0; k < a->sets; k++) LA_TRY(join_rows(a, j, k, count));
    join_values(a, j);
    return LA_OK;
}

static double largest_of(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void set_kinds(const divide_all *a, const divide_join *j)
{
    for (int64_t i = j->first; i < j->end; i++)
        a->kind[i] = i < j->middle ? LEFT_ROW : RIGHT_ROW;
}

/* ---- tridiagonal ---- */

/* Joins two solved halves (Cuppen, 1981): diag(d) + rho z z^T, z being the last
** row of the vectors above the cut and the first below it. What z hardly
** touches, or equal values, deflates: no equation is solved for it. */
static la_status tridiagonal_join(const divide_all *a, int64_t first,
                                  int64_t middle, int64_t end, int32_t *info)
{
    divide_join j = {first, middle, end, 0, 2 * fabs(a->e[middle - 1]), 0};
    double sign = copysign(M_SQRT1_2, a->e[middle - 1]);
    const double *x = a->x[0];
    for (int64_t i = first; i < middle; i++)
        a->z[i] = M_SQRT1_2 * x[i * a->step + middle - 1];
    for (int64_t i = middle; i < end; i++)
        a->z[i] = sign * x[i * a->step + middle];
    j.tol = 8 * UNIT * fmax(largest_of(a->d + first, end - first),
                            largest_of(a->z + first, end - first));
    set_kinds(a, &j);
    merge_rows(a->d, a->order + first, middle - first, a->order + middle,
               end - middle, a->sorted);
    deflate(a, &j);
    return join_kept(a, &j, info);
}

/* Divide and conquer (Gu and Eisenstat, 1995), by levels from the leaves up
** instead of by recursion. Each cut takes |e| from the two neighbours on the
** diagonal, which makes the rest a rank-one change that the joins put back. */
la_status la_tridiagonal_vectors(double *d, double *e, int64_t n, double *x,
                                 int64_t step, char *work, int32_t *info)
{
    divide_all a = {.d = d, .e = e, .x = {x}, .n = n, .step = step, .sets = 1};
    int levels = divide_levels(n);
    int64_t leaves = (int64_t)1 << levels;
    divide_begin(&a, work);
    for (int64_t i = 1; i < leaves; i++) {
        int64_t cut = boundary(n, i, levels);
        d[cut - 1] -= fabs(e[cut - 1]);
        d[cut] -= fabs(e[cut - 1]);
    }
    for (int64_t i = 0; i < leaves; i++) {
        int64_t at = boundary(n, i, levels);
        int64_t end = boundary(n, i + 1, levels);
        if (i % 64 == 63 && la_interrupted()) return LA_EINTR;
        if (!la_tridiagonal_qr(d + at, e + at, end - at, x + at * step + at,
                               step, end - at))
            *info = 1;
        sort_rows(&a, at, end);
    }
    for (int l = levels - 1; l >= 0 && !*info; l--)
        for (int64_t i = 0; i < (int64_t)1 << l && !*info; i++)
            LA_TRY(tridiagonal_join(&a, boundary(n, i, l),
                                    boundary(n, 2 * i + 1, l + 1),
                                    boundary(n, i + 1, l), info));
    if (*info) return LA_OK;        /* the order of rows is not complete */
    divide_end(&a, false);
    return LA_OK;
}

/* Shell's sort: the QR iterations leave values nearly in order. */
static void sort_values(double *d, int64_t n, bool falling)
{
    for (int64_t gap = n / 2; gap > 0; gap /= 2)
        for (int64_t i = gap; i < n; i++) {
            double x = d[i];
            int64_t k = i;
            for (; k >= gap && (falling ? d[k - gap] < x : d[k - gap] > x);
                 k -= gap) d[k] = d[k - gap];
            d[k] = x;
        }
}

la_status la_tridiagonal_values(double *d, double *e, int64_t n,
                                int32_t *info)
{
    if (!la_tridiagonal_pwk(d, e, n)) *info = 1;
    if (*info && la_interrupted()) return LA_EINTR;
    sort_values(d, n, false);
    return LA_OK;
}

/* ---- bidiagonal ---- */

/* A block of n rows and n + 1 columns: the last column is rotated into the
** others, so that row n of v becomes the vector of no value. */
static void combine_column(double *d, double *e, int64_t n, double *v,
                        int64_t step)
{
    double f = e[n - 1];
    for (int64_t k = n - 1; k >= 0 && f != 0; k--) {
        double c, s;
        d[k] = la_rotation_of(d[k], f, &c, &s);
        la_rotate_rows(v + k * step, v + n * step, n + 1, c, s);
        if (k == 0) break;
        f = -s * e[k - 1];
        e[k - 1] *= c;
    }
}

/* A leaf has one column more than rows unless it is the last: combine_column
** rotates that column away first. */
static bool bidiagonal_leaf(const divide_all *a, int64_t at, int64_t end)
{
    int64_t n = end - at, cols = la_min(end + 1, a->n) - at;
    double *u = a->x[0] + at * a->step + at, *v = a->x[1] + at * a->step + at;
    if (n == 0) return true;
    if (cols > n) combine_column(a->d + at, a->e + at, n, v, a->step);
    if (!la_bidiagonal_qr(a->d + at, a->e + at, n, u, v, a->step, cols))
        return false;
    sort_rows(a, at, end);
    return true;
}

/* The rows of V that have no value become that of the first pole, which is
** zero, and that of the joined block; and z. Returns what d and z were divided
** by, 0: all are zeros. */
static double bidiagonal_z(const divide_all *a, divide_join *j)
{
    double *d = a->d, *z = a->z, *v = a->x[1], alpha = d[j->middle];
    double beta = a->e[j->middle], first, second = 0;
    int64_t m = j->middle, step = a->step;
    d[m] = 0;
    double most = fmax(fmax(fabs(alpha), fabs(beta)),
                       largest_of(d + j->first, j->end - j->first));
    if (most == 0) return 0;
    int e;
    frexp(most, &e);
    double scale = ldexp(1, e - 1);
    alpha /= scale;
    beta /= scale;
    for (int64_t i = j->first; i < j->end; i++) {
        d[i] /= scale;
        z[i] = i < m ? alpha * v[i * step + m] : beta * v[i * step + m + 1];
    }
    j->tol = 8 * UNIT * most / scale;
    first = alpha * v[m * step + m];
    if (j->end < a->n) second = beta * v[j->end * step + m + 1];
    double r = la_m_hypot(first, second);
    z[m] = j->tol;
    if (r > j->tol) {
        z[m] = r;
        if (j->end < a->n)
            la_rotate_rows(v + m * step + j->first, v + j->end * step
                           + j->first, j->end + 1 - j->first, first / r,
                           second / r);
        else z[m] = first;
    }
    return scale;
}

static la_status bidiagonal_join(const divide_all *a, int64_t first,
                                 int64_t middle, int64_t end, int32_t *info)
{
    divide_join j = {first, middle, end, 0, 1, 0};
    double scale = bidiagonal_z(a, &j);
    int64_t *list = a->sorted;
    list[0] = middle;
    merge_rows(a->d, a->order + first, middle - first,
               a->order + middle + 1, end - middle - 1, list + 1);
    if (scale == 0) {
        memcpy(a->order + first, list, sizeof *list * (size_t)(end - first));
        return LA_OK;
    }
    set_kinds(a, &j);
    a->kind[middle] = BOTH_ROW;
    deflate(a, &j);
    LA_TRY(join_kept(a, &j, info));
    for (int64_t i = first; i < end; i++) a->d[i] *= scale;
    return LA_OK;
}

la_status la_bidiagonal_vectors(double *d, double *e, int64_t n, double *u,
                                double *v, int64_t step, char *work,
                                int32_t *info)
{
    divide_all a = {.d = d, .e = e, .x = {u, v}, .n = n, .step = step,
                    .sets = 2};
    int levels = divide_levels(n);
    divide_begin(&a, work);
    for (int64_t i = 0; i < (int64_t)1 << levels; i++) {
        if (i % 64 == 63 && la_interrupted()) return LA_EINTR;
        if (!bidiagonal_leaf(&a, boundary(n + 1, i, levels),
                             boundary(n + 1, i + 1, levels) - 1))
            *info = 1;
    }
    for (int l = levels - 1; l >= 0 && !*info; l--)
        for (int64_t i = 0; i < (int64_t)1 << l && !*info; i++)
            LA_TRY(bidiagonal_join(&a, boundary(n + 1, i, l),
                                   boundary(n + 1, 2 * i + 1, l + 1) - 1,
                                   boundary(n + 1, i + 1, l) - 1, info));
    if (*info) return LA_OK;        /* the order of rows is not complete */
    divide_end(&a, true);
    return LA_OK;
}

la_status la_bidiagonal_values(double *d, double *e, int64_t n,
                               int32_t *info)
{
    if (!la_bidiagonal_qr(d, e, n, NULL, NULL, 0, 0)) *info = 1;
    if (*info && la_interrupted()) return LA_EINTR;
    sort_values(d, n, true);
    return LA_OK;
}
