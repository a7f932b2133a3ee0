/*
** pivoted_cholesky: semidefinite matrices, by LAPACK.
*/
#include "op/linalg/lapack.h"

#include "op/move/copy.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

typedef struct job {
    la_lapack_plan plan;
    bool upper;
    double tol;
    char *a;
    int32_t *pivots, *info;
    int64_t *rank;
} job;

/* (A, upper, tol) -> L, pivots, rank */
la_status la_meta_pivoted_cholesky(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    LA_TRY(la_check_square(f, 0));
    la_shape batch = la_batch_shape(a, 2);
    int64_t n = la_sizes(a)[batch.ndim];
    LA_TRY(la_matrix_result(f, 0, &batch, n, n, (la_dtype)a->dtype));
    LA_TRY(la_matrix_result(f, 1, &batch, n, -1, LA_INT32));
    return la_set_output(f, 2, batch.ndim, batch.sizes, NULL, LA_INT64);
}

/* Zeros outside of the triangle and from the rank on; a in columns. */
static void clear(const job *j, char *a, int64_t rank)
{
    int64_t n = j->plan.n, size = j->plan.f.size;
    for (int64_t c = 0; c < n; c++, a += n * size) {
        int64_t first = j->upper ? la_min(c + 1, rank) : 0;
        int64_t end = j->upper || c >= rank ? n : c;
        memset(a + first * size, 0, (size_t)((end - first) * size));
    }
}

static la_status factor_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_field *f = &j->plan.f;
    int64_t n = j->plan.n;
    char *a = j->a + i * n * n * f->size;
    j->info[i] = -1;
    /* columns: the other triangle of what memory has as rows */
    if (!la_all_finite(f, a, n, n, j->upper ? LA_LOWER_PART : LA_UPPER_PART))
        return LA_OK;
    la_lapack_pivoted(&j->plan, a, j->upper, j->tol, j->pivots + i * n,
                      &j->rank[i], scratch);
    clear(j, a, j->rank[i]);
    j->info[i] = 0;
    return LA_OK;
}

la_status la_impl_pivoted_cholesky(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    la_scalar zero = la_scalar_int(0);
    la_field field = la_field_of((la_dtype)a->dtype);
    la_shape batch = la_batch_shape(a, 2);
    int64_t n = la_sizes(a)[batch.ndim], count = la_shape_count(&batch);
    job j = {.upper = la_arg_bool(f, 1), .tol = la_arg_float(f, 2)};
    if (a->numel == 0) return la_fill_data(la_result(f, 2), &zero);
    LA_TRY(la_plan_pivoted(&j.plan, &field, n));
    LA_LET(columns, la_transposed(a, &columns));
    LA_LET(copy, la_matrices_copy(columns, &batch, false, &copy));
    LA_LET(pivots, la_output_of(f, 1, &pivots));
    LA_LET(rank, la_output_of(f, 2, &rank));
    LA_LET(info, la_tensor_empty(1, &count, LA_INT32, &info));
    j.a = la_data(copy);
    j.pivots = (int32_t *)(void *)la_data(pivots);
    j.rank = (int64_t *)(void *)la_data(rank);
    j.info = (int32_t *)(void *)la_data(info);
    la_lapack_work w = {factor_one, &j, sizeof j, {copy, pivots, rank, info}};
    LA_TRY(la_lapack_run(&j.plan, count, (double)n * (double)n * (double)n / 3,
                         &w));
    LA_TRY(la_check_finite(j.info, count));
    LA_LET(back, la_transposed(copy, &back));
    LA_TRY(la_copy_data(la_result(f, 0), back));
    LA_TRY(la_output_end(f, 1, pivots));
    return la_output_end(f, 2, rank);
}
