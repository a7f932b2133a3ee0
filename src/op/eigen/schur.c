/*
** Schur forms and eigenvectors of general matrices, real and complex ones.
*/
#include "op/eigen/schur.h"

#include <math.h>

#include "base/libm/libm.h"
#include "base/runtime/interrupt.h"
#include "base/size.h"
#include "op/value.h"

enum {
    BULGES = 10,              /* pairs of shifts of a sweep at most */
    WINDOW = 80,              /* rows in which they move before products */
    SMALL_BLOCK = 160,         /* rows up to which pairs go one by one */
    MOST_ROUNDS = 60,         /* for a value, or two */
    BACK_BLOCK = 32,          /* rows of a step of back substitution */
    ASK_AFTER = 1 << 20       /* elements */
};

typedef struct schur_number { double re, im; } schur_number;

static inline schur_number schur_mul(schur_number a, schur_number b)
{
    return (schur_number){a.re * b.re - a.im * b.im,
                          a.re * b.im + a.im * b.re};
}

static double schur_size(schur_number a) { return fabs(a.re) + fabs(a.im); }

static double schur_norm(double a, double b, double c, double d)
{
    return la_m_hypot(la_m_hypot(a, b), la_m_hypot(c, d));
}

/* Scaled by the larger part of b. */
static schur_number schur_div(schur_number a, schur_number b)
{
    double s = 1 / fmax(fabs(b.re), fabs(b.im));
    double re = b.re * s, im = b.im * s, d = s / (re * re + im * im);
    return (schur_number){(a.re * re + a.im * im) * d,
                          (a.im * re - a.re * im) * d};
}

static schur_number schur_root(schur_number a)
{
    double r = la_m_hypot(a.re, a.im), x = sqrt((r + fabs(a.re)) / 2);
    if (x == 0) return (schur_number){0, 0};
    double y = a.im / (2 * x);
    if (a.re >= 0) return (schur_number){x, y};
    return (schur_number){fabs(y), copysign(x, a.im)};
}

/* The values of [[a, b], [c, d]]: of real ones conjugate pairs are exact, the
** one with the positive imaginary part first. */
static void schur_pair(schur_number a, schur_number b, schur_number c,
                       schur_number d, schur_number *first,
                       schur_number *second)
{
    schur_number p = {(a.re - d.re) / 2, (a.im - d.im) / 2};
    double nb = schur_size(b), nc = schur_size(c);
    double aside = sqrt(nb) * sqrt(nc), scale = fmax(schur_size(p), aside);
    *first = a;
    *second = d;
    if (scale == 0) return;
    /* b c in parts, which may be far apart */
    schur_number bc = {0, 0};
    if (aside > 0)
        bc = schur_mul((schur_number){b.re / nb, b.im / nb},
                       (schur_number){c.re / nc, c.im / nc});
    aside = aside / scale * (aside / scale);
    p = (schur_number){p.re / scale, p.im / scale};
    bc = (schur_number){bc.re * aside, bc.im * aside};
    schur_number disc = schur_mul(p, p);
    disc.re += bc.re;
    disc.im += bc.im;
    bool real = a.im == 0 && b.im == 0 && c.im == 0 && d.im == 0;
    if (real && disc.re < 0) {
        double im = sqrt(-disc.re) * scale, re = d.re + p.re * scale;
        *first = (schur_number){re, im};
        *second = (schur_number){re, -im};
        return;
    }
    /* d + p +- root: the one without cancellation first */
    schur_number root = schur_root(disc);
    if (p.re * root.re + p.im * root.im < 0)
        root = (schur_number){-root.re, -root.im};
    schur_number far = {p.re + root.re, p.im + root.im};
    *first = (schur_number){d.re + far.re * scale, d.im + far.im * scale};
    if (schur_size(far) == 0) return;
    schur_number near = schur_div(bc, far);
    *second = (schur_number){d.re - near.re * scale, d.im - near.im * scale};
}

#define SCHUR_AT(t, i) ((schur_number){(t)[2 * (i)], (t)[2 * (i) + 1]})

#define BODY "op/eigen/schur.inc"
#include "op/eigen/each_parts.inc"

/* ---- complex triangular form, vectors ---- */

/* The block of two at i, by a unitary matrix of two: t and z complex, in
** columns of n. */
static void split_block(double *t, double *z, int64_t n, int64_t i)
{
    schur_number a = SCHUR_AT(t, i * n + i), b = SCHUR_AT(t, (i + 1) * n + i);
    schur_number c = SCHUR_AT(t, i * n + i + 1);
    schur_number d = SCHUR_AT(t, (i + 1) * n + i + 1), first, second;
    schur_pair(a, b, c, d, &first, &second);
    /* the vector of the first value, by the row that says more of it */
    schur_number x = {b.re, b.im}, y = {first.re - a.re, first.im - a.im};
    schur_number u = {first.re - d.re, first.im - d.im}, w = c;
    if (schur_size(u) + schur_size(w) > schur_size(x) + schur_size(y)) {
        x = u;
        y = w;
    }
    double norm = schur_norm(x.re, x.im, y.re, y.im);
    if (norm == 0) return;
    x = (schur_number){x.re / norm, x.im / norm};
    y = (schur_number){y.re / norm, y.im / norm};
    for (int part = 0; part < (z ? 2 : 1); part++) {
        /* columns: (p, q) becomes (x p + y q, conj(x) q - conj(y) p) */
        double *p = (part ? z : t) + 2 * i * n, *q = p + 2 * n;
        for (int64_t k = 0; k < (part ? n : i + 2); k++, p += 2, q += 2) {
            schur_number v = {p[0], p[1]};
            schur_number o = {q[0], q[1]};
            schur_number r = schur_mul(x, v), s = schur_mul(y, o);
            p[0] = (r.re + s.re);
            p[1] = (r.im + s.im);
            r = schur_mul((schur_number){x.re, -x.im}, o);
            s = schur_mul((schur_number){y.re, -y.im}, v);
            q[0] = (r.re - s.re);
            q[1] = (r.im - s.im);
        }
    }
    for (int64_t k = i; k < n; k++) {
        double *p = t + 2 * (k * n + i);
        schur_number v = {p[0], p[1]};
        schur_number o = {p[2], p[3]};
        schur_number r = schur_mul((schur_number){x.re, -x.im}, v);
        schur_number s = schur_mul((schur_number){y.re, -y.im}, o);
        p[0] = (r.re + s.re);
        p[1] = (r.im + s.im);
        r = schur_mul(x, o);
        s = schur_mul(y, v);
        p[2] = (r.re - s.re);
        p[3] = (r.im - s.im);
    }
    double *top = t + 2 * (i * n + i), *end = t + 2 * ((i + 1) * n + i + 1);
    top[0] = first.re;
    top[1] = first.im;
    top[2] = top[3] = 0;
    end[0] = second.re;
    end[1] = second.im;
}

/* Rows first .. end - 1 of the solutions x of (T - t_kk) x = 0, x_k = 1, of
** which rows behind are known. A column that grows is made smaller. */
static void solve_rows(const double *t, double *x, int64_t n, int64_t first,
                           int64_t end, double least)
{
    const double big = 0x1p480;
    for (int64_t k = first; k < n; k++) {
        double *col = x + 2 * k * n;
        const double *own = t + 2 * (k * n + k);
        for (int64_t j = la_min(k, end - 1); j >= first; j--) {
            const double *tj = t + 2 * j * n;
            double re = col[2 * j], im = col[2 * j + 1];
            if (j < k) {
                double a = tj[2 * j] - own[0];
                double b = tj[2 * j + 1] - own[1];
                if (fabs(a) + fabs(b) < least) {
                    a = least;
                    b = 0;
                }
                schur_number q = schur_div((schur_number){re, im},
                                           (schur_number){a, b});
                double size = fabs(q.re) + fabs(q.im);
                if (size > big) {
                    for (int64_t i = 0; i < 2 * (k + 1); i++)
                        col[i] = (col[i] / size);
                    q.re /= size;
                    q.im /= size;
                }
                re = q.re;
                im = q.im;
                col[2 * j] = re;
                col[2 * j + 1] = im;
            }
            double a = re, b = im;
            for (int64_t i = first; i < j; i++) {
                col[2 * i] -= a * tj[2 * i] - b * tj[2 * i + 1];
                col[2 * i + 1] -= a * tj[2 * i + 1] + b * tj[2 * i];
            }
        }
    }
}

/* x: the vectors of the triangular t (complex, n x n). */
static la_status triangular_vectors(const double *t, double *x, int64_t n)
{
    la_field f = la_field_of(LA_COMPLEX128);
    la_gemm_mat a = {(char *)t, 1, n}, v = {(char *)x, 1, n};
    double norm = 0;
    for (int64_t i = 0; i < 2 * n * n; i++)
        norm = fmax(norm, fabs(t[i]));
    double least = norm * 0x1p-52;
    least = fmax(least, 0x1p-960);
    memset(x, 0, sizeof(double) * (size_t)(2 * n * n));
    for (int64_t i = 0; i < n; i++) x[2 * (i * n + i)] = 1;
    int64_t blocks = (n + BACK_BLOCK - 1) / BACK_BLOCK;
    for (int64_t b = blocks - 1; b >= 0; b--) {
        int64_t at = b * BACK_BLOCK, end = la_min(at + BACK_BLOCK, n);
        if (la_interrupted()) return LA_EINTR;
        solve_rows(t, x, n, at, end, least);
        LA_TRY(la_mat_product(&f, la_mat_at(&f, a, 0, at),
                              la_mat_at(&f, v, at, at),
                              la_mat_at(&f, v, 0, at), at, n - at, end - at,
                              LA_SUBTRACT));
    }
    return LA_OK;
}

/* Columns of norm 1 whose largest element is real, of out in rows; those of
** real values of real matrices are real, of pairs conjugate. 'spare': 4 n. */
static void normalise(double *out, const double *values, const double *by,
                      int64_t n, bool real, double *spare)
{
    double *most = spare, *sum = spare + n, *re = sum + n, *im = re + n;
    for (int64_t k = 0; k < 4 * n; k++) spare[k] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            double *p = out + 2 * (i * n + k);
            p[0] *= by[i];
            p[1] *= by[i];
            double size = fabs(p[0]) + fabs(p[1]);
            if (size <= most[k]) continue;
            most[k] = size;
            re[k] = p[0];
            im[k] = -p[1];
        }
    for (int64_t k = 0; k < n; k++) {
        double r = la_m_hypot(re[k], im[k]);
        re[k] = im[k] == 0 ? 1 : re[k] / r;
        im[k] /= r;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            double *p = out + 2 * (i * n + k);
            double a = p[0] / most[k], b = p[1] / most[k];
            p[0] = a * re[k] - b * im[k];
            p[1] = a * im[k] + b * re[k];
            if (real && values[2 * k + 1] == 0) p[1] = 0;
            sum[k] += p[0] * p[0] + p[1] * p[1];
        }
    for (int64_t k = 0; k < n; k++) sum[k] = 1 / sqrt(sum[k]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            double *p = out + 2 * (i * n + k);
            bool second = real && values[2 * k + 1] < 0;
            p[0] = second ? p[-2] : p[0] * sum[k];
            p[1] = second ? -p[-1] : p[1] * sum[k];
        }
}

/* ---- the whole ---- */

/* Scratch of la_general_solve, in its order; counted here because the caller
** allocates one block for each thread. */
size_t la_general_work(la_dtype dtype, int64_t n)
{
    la_field f = la_field_of(la_is_complex(dtype) ? LA_COMPLEX128
                                                  : LA_FLOAT64);
    size_t square = la_whole_lines(n * n * 2 * (int64_t)sizeof(double));
    size_t qr = la_qr_work(&f, n, n);
    return la_whole_lines(sizeof(large_c128))
        + la_whole_lines(5 * n * (int64_t)sizeof(double))
        + la_whole_lines((2 * WINDOW + n) * WINDOW * f.size) + 3 * square
        + (square > qr ? square : qr);
}

/* The Schur form, then eigenvectors of the triangle, then one product back to
** the basis of the matrix. A real matrix leaves blocks of two for complex
** pairs, which split_block makes triangular. */
la_status la_general_solve(la_condenser *r, double *values, double **vectors,
                           char *scratch, int32_t *info)
{
    int64_t n = r->n;
    size_t square = la_whole_lines(n * n * 2 * (int64_t)sizeof(double));
    double *t = (double *)(void *)scratch, *z = t + square / sizeof *t;
    double *x = z + square / sizeof *t, *by = x + square / sizeof *t;
    char *work = (char *)by + la_whole_lines(5 * n * (int64_t)sizeof *t);
    bool real = r->parts == 1;
    if (!vectors) z = NULL;
    LA_TRY((real ? schur_form_f64 : schur_form_c128)(r, t, z, by, work, info));
    if (*info) return LA_OK;
    for (int64_t i = 0; i + 1 < n; i++)
        if (t[2 * (i * n + i + 1)] != 0 || t[2 * (i * n + i + 1) + 1] != 0)
            split_block(t, z, n, i);
    for (int64_t i = 0; i < 2 * n; i++)
        values[i] = t[2 * (i / 2 * n + i / 2) + i % 2];
    if (!vectors) return LA_OK;
    LA_TRY(triangular_vectors(t, x, n));
    la_field c = la_field_of(LA_COMPLEX128);
    la_gemm_mat zm = {(char *)z, 1, n}, xm = {(char *)x, 1, n};
    la_gemm_mat out = {(char *)t, n, 1};
    LA_TRY(la_mat_product(&c, zm, xm, out, n, n, n, 0));
    normalise(t, values, by, n, real, by + n);
    *vectors = t;
    return LA_OK;
}
