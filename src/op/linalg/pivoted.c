/*
** pivoted_cholesky: semidefinite matrices, column by column (LAPACK's pstf2,
** but from the left, so that its work are passes over the columns before).
*/
#include "op/eigen/reduce.h"

#include <math.h>

#include "base/runtime/interrupt.h"
#include "base/size.h"
#include "op/move/copy.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

typedef struct pivoted_job {
    const la_batch *b;
    la_mats a;
    char *out;
    bool upper;
    double tol;
    int32_t *pivots;
    int64_t *rank;
} pivoted_job;

/* (A, upper, tol) -> L, pivots, rank */
LA_FORWARD(la_meta_pivoted_cholesky, la_meta_matrices(f, true, "nn,ni,l"))

static void exchange_elements(double *p, double *q, int64_t parts, bool conj)
{
    for (int64_t c = 0; c < parts; c++) {
        double sign = conj && c ? -1 : 1, x = p[c];
        p[c] = sign * q[c];
        q[c] = sign * x;
    }
}

/* Rows and columns j and p > j of the lower triangle exchanged; rows of L, to
** the left, as well. */
static void exchange_both(const la_condenser *r, int64_t j, int64_t p)
{
    int64_t parts = r->parts, n = r->n;
    double *cj = r->a + j * r->step, *cp = r->a + p * r->step;
    for (int64_t k = 0; k < j; k++) {
        double *col = r->a + k * r->step;
        exchange_elements(col + j * parts, col + p * parts, parts, false);
    }
    exchange_elements(cj + j * parts, cp + p * parts, parts, false);
    for (int64_t i = p + 1; i < n; i++)
        exchange_elements(cj + i * parts, cp + i * parts, parts, false);
    for (int64_t i = j + 1; i < p; i++)
        exchange_elements(cj + i * parts, r->a + i * r->step + p * parts, parts,
                          true);
    if (parts == 2) cj[p * 2 + 1] = -cj[p * 2 + 1];
}

/* Column j below the diagonal, less what columns before make of it, divided by
** the root of the pivot; r->d has what is left of the diagonal. */
static void pivoted_column(const la_condenser *r, int64_t j)
{
    int64_t parts = r->parts, n = r->n, from = j * parts / 8 * 8;
    double *col = r->a + j * r->step, *z = r->vectors, *s = r->panel;
    double *iz = z + r->most, root = sqrt(r->d[j]);
    la_colset c = {r->a + from, r->step, r->most, j, (r->step - from) / 8};
    for (int64_t i = from; i < r->step; i++) z[i] = iz[i] = 0;
    for (int64_t k = 0; k < j; k++) {
        const double *l = r->a + k * r->step + j * parts;
        s[k * parts] = -l[0];
        if (parts == 2) s[2 * k + 1] = l[1];
    }
    r->ker->sums(&c, s, z + from);
    col[j * parts] = root;
    if (parts == 2) col[2 * j + 1] = 0;
    for (int64_t i = j + 1; i < n; i++) {
        double *x = col + i * parts;
        x[0] = (x[0] + z[i * parts] - (parts == 2 ? iz[2 * i + 1] : 0)) / root;
        r->d[i] -= x[0] * x[0];
        if (parts == 1) continue;
        x[1] = (x[1] + z[2 * i + 1] + iz[2 * i]) / root;
        r->d[i] -= x[1] * x[1];
    }
}

/* The rank; pivots are rows from 1. */
static la_status pivoted_columns(const la_condenser *r, double tol,
                                 int32_t *pivots, int64_t *rank)
{
    int64_t n = r->n, j = 0;
    for (int64_t i = 0; i < n; i++) {
        pivots[i] = (int32_t)i + 1;
        r->d[i] = r->a[i * r->step + i * r->parts];
    }
    for (; j < n; j++) {
        int64_t p = j;
        for (int64_t i = j + 1; i < n; i++)
            if (r->d[i] > r->d[p]) p = i;
        if (!(r->d[p] > tol)) break;
        if (j % 16 == 15 && la_interrupted()) return LA_EINTR;
        if (p != j) {
            int32_t row = pivots[p];
            double d = r->d[p];
            exchange_both(r, j, p);
            pivots[p] = pivots[j];
            pivots[j] = row;
            r->d[p] = r->d[j];
            r->d[j] = d;
        }
        pivoted_column(r, j);
    }
    *rank = j;
    return LA_OK;
}

/* A semidefinite matrix ends at its rank, where the largest pivot falls below
** 'tol': the factors are zero from there on, so that L L^H is the matrix up to
** tol. */
static la_status pivoted_one(void *context, int64_t i, char *scratch)
{
    const pivoted_job *j = context;
    const la_field *f = &j->b->field;
    int64_t n = j->b->n, rank = 0;
    la_gemm_mat a = la_matrix_at(f, &j->a, i);
    la_condenser r;
    la_reduction_begin(&r, f->dtype, n, n, scratch);
    double *row = (double *)(void *)(scratch
                                     + la_reduction_bytes(f->dtype, n, n));
    j->b->info[i] = -1;
    j->rank[i] = 0;
    if (!la_reduction_load(&r, f->dtype, j->upper ? la_mat_t(a) : a, true,
                           j->upper))
        return LA_OK;
    double most = 0, tol = j->tol / r.scale;
    for (int64_t c = 0; c < n; c++)
        most = fmax(most, r.a[c * r.step + c * r.parts]);
    double ulp = la_dtype_to_real(f->dtype) == LA_FLOAT32 ? 0x1p-24 : 0x1p-53;
    if (j->tol < 0) tol = (double)n * ulp * most;
    LA_TRY(pivoted_columns(&r, fmax(tol, 0), j->pivots + i * n, &rank));
    for (int64_t k = 0; k < n; k++) {
        for (int64_t c = 0; c < n * r.parts; c++) row[c] = 0;
        for (int64_t c = 0; c < n; c++) {
            bool lower = !j->upper && c <= k && c < rank;
            bool upper = j->upper && c >= k && k < rank;
            const double *x = r.a + (lower ? c : k) * r.step
                + (lower ? k : c) * r.parts;
            for (int64_t p = 0; (lower || upper) && p < r.parts; p++)
                row[c * r.parts + p] = x[p];
        }
        la_store_doubles(row, n, sqrt(r.scale), j->upper, f->dtype,
                         j->out + (i * n + k) * n * f->size);
    }
    j->rank[i] = rank;
    j->b->info[i] = 0;
    return LA_OK;
}

/* Diagonal pivoting stops at the first pivot below 'tol', which gives the rank:
** the factor has that many rows that are not zero . */
la_status la_impl_pivoted_cholesky(la_frame *f)
{
    la_scalar zero = la_scalar_int(0);
    LA_OPEN_BATCH(b, f);
    double n = (double)b.n;
    pivoted_job j = {.b = &b, .upper = la_arg_bool(f, 1),
                     .tol = la_arg_float(f, 2)};
    if (b.a->numel == 0) return la_fill_data(la_result(f, 2), &zero);
    LA_TRY(la_reduction_check(b.n, b.n, b.n));
    LA_LET(keep, la_matrices_of(b.a, &b.shape, false, &keep, &j.a));
    LA_TRY(la_batch_codes(&b, 3));
    j.out = la_data(b.out[0]);
    j.pivots = (int32_t *)(void *)la_data(b.out[1]);
    j.rank = (int64_t *)(void *)la_data(b.out[2]);
    size_t bytes = la_reduction_bytes(b.field.dtype, b.n, b.n)
        + la_whole_lines(2 * b.n * (int64_t)sizeof(double));
    LA_TRY(la_each_matrix(b.count, n * n * n / 3, bytes, pivoted_one, &j));
    LA_TRY(la_check_finite(b.info, b.count));
    return la_batch_end(&b);
}
