/*
** pivoted_cholesky: semidefinite matrices, by LAPACK.
*/
#include "op/linalg/lapack.h"

#include "op/move/copy.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Copied into the block that background threads work on (la_lapack_run), hence
** pointers and numbers alone. */
typedef struct job {
    la_lapack_plan plan;
    bool upper;
    double tol;
    char *a;
    int32_t *pivots, *info;
    int64_t *rank;
} job;

/* (A, upper, tol) -> L, pivots, rank */
LA_FORWARD(la_meta_pivoted_cholesky, la_meta_matrices(f, true, "nn,ni,l"))

/* Zeros outside of the triangle and from the rank on; a in columns. */
static void pivoted_clear(const job *j, char *a, int64_t rank)
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
    pivoted_clear(j, a, j->rank[i]);
    j->info[i] = 0;
    return LA_OK;
}

/* A semidefinite matrix ends at its rank, where the largest pivot falls below
** 'tol': the factors are zero from there on, so that L L^H is the matrix up to
** tol. */
la_status la_impl_pivoted_cholesky(la_frame *f)
{
    la_scalar zero = la_scalar_int(0);
    LA_OPEN_BATCH(b, f);
    double n = (double)b.n;
    job j = {.upper = la_arg_bool(f, 1), .tol = la_arg_float(f, 2)};
    if (b.a->numel == 0) return la_fill_data(la_result(f, 2), &zero);
    LA_TRY(la_plan_pivoted(&j.plan, &b.field, b.n));
    LA_LET(copy, la_columns_copy(&b, &copy));
    LA_TRY(la_batch_codes(&b, 3));
    j.a = la_data(copy);
    j.pivots = (int32_t *)(void *)la_data(b.out[1]);
    j.rank = (int64_t *)(void *)la_data(b.out[2]);
    j.info = b.info;
    LA_TRY(la_lapack_batch(&j.plan, &b, n * n * n / 3, factor_one, &j,
                           sizeof j, copy));
    LA_LET(back, la_transposed(copy, &back));
    LA_TRY(la_copy_data(b.out[0], back));
    return la_batch_end(&b);
}
