/*
** solve_triangular and cholesky: blocks of products (blocked.c), or a group of
** small matrices at a time.
*/
#include <math.h>

#include "op/linalg/linalg.h"

#include "base/runtime/memory.h"
#include "op/move/copy.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

typedef struct job {
    la_field field;
    la_mats a, x;
    int64_t n, k;
    int flags;                /* LA_UPPER, LA_UNIT */
    int32_t *info;
} job;

/* ---- solve_triangular ---- */

/* (A, B, *, upper, left, unitriangular) */
la_status la_meta_solve_triangular(la_frame *f)
{
    la_shape batch;
    LA_TRY(la_solve_shape(f, 0, 1, la_arg_bool(f, 3), NULL, &batch));
    return la_solve_result(f, 1, &batch, false);
}

static la_status solve_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    return la_blocked_triangular(&j->field, la_matrix_at(&j->field, &j->a, i),
                                 j->flags, la_matrix_at(&j->field, &j->x, i),
                                 j->n, j->k);
}

/* Solving from the right: X A = B is A^T X^T = B^T, and A^T has the other
** triangle. */
la_status la_impl_solve_triangular(la_frame *f)
{
    bool upper = la_arg_bool(f, 2), left = la_arg_bool(f, 3);
    bool unit = la_arg_bool(f, 4);
    LA_OPEN_BATCH(b, f);
    la_tensor *x = b.out[0];
    LA_TRY(la_solve_shape(f, 0, 1, left, NULL, &b.shape));
    LA_TRY(la_copy_data(x, la_arg(f, 1)));
    int64_t rows = la_sizes(x)[x->ndim - 2], cols = la_sizes(x)[x->ndim - 1];
    job j = {.field = b.field, .n = b.n, .k = left ? cols : rows,
             .x = la_matrices_in(x, rows, cols)};
    LA_LET(keep, la_matrices_of(b.a, &b.shape, false, &keep, &j.a));
    if (!left) {
        j.a.mat = la_mat_t(j.a.mat);
        j.x.mat = la_mat_t(j.x.mat);
        upper = !upper;
    }
    j.flags = (upper ? LA_UPPER : 0) | (unit ? LA_UNIT : 0);
    int64_t count = la_shape_count(&b.shape);
    if (j.n <= LA_SMALL && j.k <= LA_SMALL) {
        la_small s = {.m = (int)j.n, .n = (int)j.n, .k = (int)j.k,
                      .count = count, .a = j.a, .b = j.x, .x = j.x,
                      .reverse = upper, .unit = unit};
        LA_TRY(la_small_run(&j.field, j.field.ker->small_triangular, &s));
    } else {
        double n = (double)j.n;
        LA_TRY(la_each_matrix(count, n * n * (double)j.k / 2, 0, solve_one,
                              &j));
    }
    return la_batch_end(&b);
}

/* ---- cholesky ---- */

LA_FORWARD(la_meta_cholesky, la_meta_matrices(f, true, "nn"))
LA_FORWARD(la_meta_cholesky_ex, la_meta_matrices(f, true, "nn,i"))

/* The triangle that holds no part of the factor is zeroed; a matrix that has
** none gets NaN on its diagonal. */
static la_status factor_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_field *f = &j->field;
    la_gemm_mat a = la_matrix_at(f, &j->x, i);
    LA_TRY(la_blocked_cholesky(f, a, j->n, &j->info[i]));
    if (j->info[i]) {
        la_scalar nan = la_scalar_float(NAN);
        for (int64_t k = 0; k < j->n; k++)
            la_scalar_cast(&nan, f->dtype, la_mat_at(f, a, k, k).data);
    }
    for (int64_t r = 0; r < j->n; r++)
        if (a.cs == 1)
            memset(la_mat_at(f, a, r, r + 1).data, 0,
                   (size_t)((j->n - r - 1) * f->size));
        else
            memset(la_mat_at(f, a, 0, r).data, 0, (size_t)(r * f->size));
    return LA_OK;
}

/* Factors; for the upper factor the transposes are read and written: the
** conjugate of a Hermitian matrix is its transpose, and that of L too. */
la_status la_impl_cholesky_ex(la_frame *f)
{
    LA_OWNED keep = NULL;
    LA_OPEN_BATCH(b, f);
    double n = (double)b.n;
    bool upper = la_arg_bool(f, 1);
    LA_TRY(la_batch_codes(&b, 1));
    job j = {.field = b.field, .n = b.n, .info = b.info,
             .x = la_matrices_in(b.out[0], b.n, b.n)};
    if (upper) j.x.mat = la_mat_t(j.x.mat);
    if (b.n <= LA_SMALL) {
        LA_TRY(la_matrices_of(b.a, &b.shape, false, &keep, &j.a));
        if (upper) j.a.mat = la_mat_t(j.a.mat);
        la_small s = {.m = (int)b.n, .n = (int)b.n, .count = b.count, .a = j.a,
                      .x = j.x, .info = j.info};
        LA_TRY(la_small_run(&j.field, j.field.ker->small_cholesky, &s));
    } else {
        LA_TRY(la_copy_data(b.out[0], b.a));
        LA_TRY(la_each_matrix(b.count, n * n * n / 6, 0, factor_one, &j));
    }
    if (f->op == LA_OP(cholesky) || la_arg_bool(f, 2))
        LA_TRY(la_check_info(j.info, b.count, "is not positive definite: the "
                             "first bad leading minor is of order"));
    return la_batch_end(&b);
}
LA_FORWARD(la_impl_cholesky, la_impl_cholesky_ex(f))
