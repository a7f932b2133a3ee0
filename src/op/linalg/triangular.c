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
    la_tensor *a = la_arg(f, 0);
    la_shape batch;
    bool upper = la_arg_bool(f, 2), left = la_arg_bool(f, 3);
    bool unit = la_arg_bool(f, 4);
    LA_TRY(la_solve_shape(f, 0, 1, left, NULL, &batch));
    LA_LET(x, la_output_of(f, 0, &x));
    LA_TRY(la_copy_data(x, la_arg(f, 1)));
    int64_t rows = la_sizes(x)[x->ndim - 2], cols = la_sizes(x)[x->ndim - 1];
    job j = {.field = la_field_of((la_dtype)a->dtype),
             .x = la_matrices_in(x, rows, cols), .n = left ? rows : cols,
             .k = left ? cols : rows};
    LA_LET(keep, la_matrices_of(a, &batch, false, &keep, &j.a));
    if (!left) {
        j.a.mat = la_mat_t(j.a.mat);
        j.x.mat = la_mat_t(j.x.mat);
        upper = !upper;
    }
    j.flags = (upper ? LA_UPPER : 0) | (unit ? LA_UNIT : 0);
    int64_t count = la_shape_count(&batch);
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
    return la_output_end(f, 0, x);
}

/* ---- cholesky ---- */

la_status la_meta_cholesky(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    LA_TRY(la_check_square(f, 0));
    return la_set_output(f, 0, a->ndim, la_sizes(a), NULL,
                         (la_dtype)a->dtype);
}

la_status la_meta_cholesky_ex(la_frame *f)
{
    LA_TRY(la_meta_cholesky(f));
    la_shape batch = la_batch_shape(la_arg(f, 0), 2);
    return la_set_output(f, 1, batch.ndim, batch.sizes, NULL, LA_INT32);
}

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
static la_status factor(la_frame *f, la_tensor *info, bool check)
{
    LA_OWNED keep = NULL;
    la_tensor *a = la_arg(f, 0);
    la_shape batch = la_batch_shape(a, 2);
    bool upper = la_arg_bool(f, 1);
    LA_LET(x, la_output_of(f, 0, &x));
    int64_t n = la_sizes(a)[a->ndim - 1], count = la_shape_count(&batch);
    job j = {.field = la_field_of((la_dtype)a->dtype), .n = n,
             .x = la_matrices_in(x, n, n),
             .info = (int32_t *)la_data(info)};
    if (n <= LA_SMALL) {
        LA_TRY(la_matrices_of(a, &batch, false, &keep, &j.a));
        if (upper) j.a.mat = la_mat_t(j.a.mat);
        if (upper) j.x.mat = la_mat_t(j.x.mat);
        la_small s = {.m = (int)n, .n = (int)n, .count = count, .a = j.a,
                      .x = j.x, .info = j.info};
        LA_TRY(la_small_run(&j.field, j.field.ker->small_cholesky, &s));
    } else {
        double size = (double)n;
        LA_TRY(la_copy_data(x, a));
        if (upper) j.x.mat = la_mat_t(j.x.mat);
        LA_TRY(la_each_matrix(count, size * size * size / 6, 0, factor_one,
                              &j));
    }
    if (check)
        LA_TRY(la_check_info(j.info, count, "is not positive definite: the "
                             "first bad leading minor is of order"));
    return la_output_end(f, 0, x);
}

la_status la_impl_cholesky(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    LA_LET(info, la_tensor_empty(a->ndim - 2, la_sizes(a), LA_INT32, &info));
    return factor(f, info, true);
}

la_status la_impl_cholesky_ex(la_frame *f)
{
    LA_LET(info, la_output_of(f, 1, &info));
    LA_TRY(factor(f, info, la_arg_bool(f, 2)));
    return la_output_end(f, 1, info);
}
