/*
** Eigenvalues and singular values: small matrices by Jacobi's method
** (kernel/linalg/jacobi.inc) unless they are general ones with eigenvalues,
** others by LAPACK.
*/
#include "op/linalg/lapack.h"

#include "base/runtime/memory.h"
#include "op/move/copy.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

typedef struct job {
    la_field field;
    la_lapack_plan plan;
    int64_t m, n, k;          /* rows, columns, singular values */
    char *a, *u, *vh, *values;
    int32_t *info;
    la_tensor *keep_values, *keep_info;     /* whose those are; borrowed */
    bool upper;
} job;

static job job_of(const la_tensor *a)
{
    job j = {.field = la_field_of((la_dtype)a->dtype)};
    j.m = la_sizes(a)[a->ndim - 2];
    j.n = la_sizes(a)[a->ndim - 1];
    j.k = la_min(j.m, j.n);
    return j;
}

/* One code for each of 'count' matrices. */
static la_status codes_for(job *j, int64_t count, la_tensor **keep)
{
    LA_TRY(la_tensor_empty(1, &count, LA_INT32, keep));
    j->info = (int32_t *)(void *)la_data(*keep);
    j->keep_info = *keep;
    return LA_OK;
}

/* ---- Hermitian matrices ---- */

static la_status triangle_of(const la_frame *f, bool *upper)
{
    const la_value *v = &f->args[1];
    *upper = la_str_is(v, "U") || la_str_is(v, "u");
    if (*upper || la_str_is(v, "L") || la_str_is(v, "l")) return LA_OK;
    return la_error_at(LA_EARG, 2, "'L' or 'U' expected");
}

/* (A, uplo) -> values, vectors */
la_status la_meta_eigh(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    bool upper;
    LA_TRY(la_check_square(f, 0));
    LA_TRY(triangle_of(f, &upper));
    la_shape batch = la_batch_shape(a, 2);
    int64_t n = la_sizes(a)[batch.ndim];
    la_dtype d = (la_dtype)a->dtype;
    LA_TRY(la_matrix_result(f, 0, &batch, n, -1, la_dtype_to_real(d)));
    if (f->op != LA_OP(eigh)) return LA_OK;
    return la_matrix_result(f, 1, &batch, n, n, d);
}

LA_FORWARD(la_meta_eigvalsh, la_meta_eigh(f))

static la_status small_eigh(job *j, const la_shape *batch, la_tensor *a,
                            la_tensor *vectors)
{
    int n = (int)j->n;
    la_small s = {.m = n, .n = n, .count = la_shape_count(batch),
                  .info = j->info, .values = j->values, .reverse = j->upper};
    LA_LET(keep, la_matrices_of(a, batch, false, &keep, &s.a));
    if (vectors) s.x = la_matrices_in(vectors, n, n);
    return la_small_run(&j->field, j->field.ker->small_eigh, &s);
}

static la_status large_eigh(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_field *f = &j->field;
    char *a = j->a + i * j->n * j->n * f->size;
    /* columns: the other triangle of what memory has as rows */
    bool finite = la_all_finite(f, a, j->n, j->n,
                                j->upper ? LA_LOWER_PART : LA_UPPER_PART);
    j->info[i] = -1;
    if (finite)
        j->info[i] = la_lapack_eigh(&j->plan, a, j->upper, j->values
                                    + i * j->n * la_real_size(f), scratch);
    return LA_OK;
}

/* Vectors (NULL: not wanted) by LAPACK; 'count' matrices. */
static la_status by_lapack(job *j, const la_shape *batch, la_tensor *a,
                           la_tensor *vectors)
{
    LA_TRY(la_plan_eigh(&j->plan, &j->field, j->n, vectors != NULL));
    LA_LET(columns, la_transposed(a, &columns));
    LA_LET(copy, la_matrices_copy(columns, batch, false, &copy));
    j->a = la_data(copy);
    double n = (double)j->n;
    la_lapack_work w = {large_eigh, j, sizeof *j,
                        {copy, j->keep_values, j->keep_info}};
    LA_TRY(la_lapack_run(&j->plan, la_shape_count(batch), 4 * n * n * n, &w));
    LA_TRY(la_check_finite(j->info, la_shape_count(batch)));
    if (!vectors) return LA_OK;
    LA_LET(back, la_transposed(copy, &back));
    return la_copy_data(vectors, back);
}

la_status la_impl_eigh(la_frame *f)
{
    LA_OWNED vectors = NULL;
    la_tensor *a = la_arg(f, 0);
    la_shape batch = la_batch_shape(a, 2);
    int64_t count = la_shape_count(&batch);
    bool with = f->op == LA_OP(eigh);
    job j = job_of(a);
    LA_TRY(triangle_of(f, &j.upper));
    if (count == 0 || j.n == 0) return LA_OK;
    LA_LET(values, la_output_of(f, 0, &values));
    if (with) LA_TRY(la_output_of(f, 1, &vectors));
    LA_LET(info, codes_for(&j, count, &info));
    j.values = la_data(values);
    j.keep_values = values;
    if (j.n <= LA_JACOBI) {
        LA_TRY(small_eigh(&j, &batch, a, vectors));
        LA_TRY(la_check_finite(j.info, count));
    } else LA_TRY(by_lapack(&j, &batch, a, vectors));
    if (with) LA_TRY(la_output_end(f, 1, vectors));
    return la_output_end(f, 0, values);
}

LA_FORWARD(la_impl_eigvalsh, la_impl_eigh(f))

/* ---- general matrices ---- */

/* (A) -> complex values, vectors */
la_status la_meta_eig(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    LA_TRY(la_check_square(f, 0));
    la_shape batch = la_batch_shape(a, 2);
    int64_t n = la_sizes(a)[batch.ndim];
    la_dtype d = la_dtype_to_complex((la_dtype)a->dtype);
    LA_TRY(la_matrix_result(f, 0, &batch, n, -1, d));
    if (f->op != LA_OP(eig)) return LA_OK;
    return la_matrix_result(f, 1, &batch, n, n, d);
}

LA_FORWARD(la_meta_eigvals, la_meta_eig(f))

static la_status eig_of_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    int64_t n = j->n, size = 2 * la_real_size(&j->field);
    char *a = j->a + i * n * n * j->field.size;
    char *vectors = j->u ? j->u + i * n * n * size : NULL;
    j->info[i] = -1;
    if (la_all_finite(&j->field, a, n, n, LA_FULL_PART))
        j->info[i] = la_lapack_eig(&j->plan, a, j->values + i * n * size,
                                   vectors, scratch);
    return LA_OK;
}

la_status la_impl_eig(la_frame *f)
{
    LA_OWNED vectors = NULL;
    la_tensor *a = la_arg(f, 0);
    la_shape batch = la_batch_shape(a, 2);
    int64_t count = la_shape_count(&batch);
    bool with = f->op == LA_OP(eig);
    job j = job_of(a);
    double n = (double)j.n;
    if (count == 0 || j.n == 0) return LA_OK;
    LA_TRY(la_plan_eig(&j.plan, &j.field, j.n, with));
    LA_LET(values, la_output_of(f, 0, &values));
    if (with) LA_TRY(la_output_of(f, 1, &vectors));
    LA_LET(info, codes_for(&j, count, &info));
    LA_LET(columns, la_transposed(a, &columns));
    LA_LET(copy, la_matrices_copy(columns, &batch, false, &copy));
    j.a = la_data(copy);
    j.values = la_data(values);
    if (with) j.u = la_data(vectors);
    la_lapack_work w = {eig_of_one, &j, sizeof j,
                        {copy, values, vectors, info}};
    LA_TRY(la_lapack_run(&j.plan, count, 25 * n * n * n, &w));
    LA_TRY(la_check_finite(j.info, count));
    if (with) LA_TRY(la_output_end(f, 1, vectors));
    return la_output_end(f, 0, values);
}

LA_FORWARD(la_impl_eigvals, la_impl_eig(f))

/* ---- singular values ---- */

/* (A, full_matrices) -> U, S, Vh */
la_status la_meta_linalg_svd(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    LA_TRY(la_check_matrix(f, 0));
    la_shape batch = la_batch_shape(a, 2);
    int64_t m = la_sizes(a)[batch.ndim], n = la_sizes(a)[batch.ndim + 1];
    int64_t k = la_min(m, n);
    la_dtype d = (la_dtype)a->dtype;
    bool full = la_arg_bool(f, 1);
    LA_TRY(la_matrix_result(f, 0, &batch, m, full ? m : k, d));
    LA_TRY(la_matrix_result(f, 1, &batch, k, -1, la_dtype_to_real(d)));
    return la_matrix_result(f, 2, &batch, full ? n : k, n, d);
}

/* (A) -> S */
la_status la_meta_svdvals(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    LA_TRY(la_check_matrix(f, 0));
    la_shape batch = la_batch_shape(a, 2);
    const int64_t *own = la_sizes(a) + batch.ndim;
    return la_matrix_result(f, 0, &batch, la_min(own[0], own[1]), -1,
                            la_dtype_to_real((la_dtype)a->dtype));
}

static la_status small_svd(job *j, const la_shape *batch, la_tensor *a,
                           la_tensor *u, la_tensor *vh, bool full)
{
    la_small s = {.m = (int)j->m, .n = (int)j->n, .unit = full,
                  .count = la_shape_count(batch), .info = j->info,
                  .values = j->values};
    LA_LET(keep, la_matrices_of(a, batch, false, &keep, &s.a));
    if (u) {
        s.k = (int)la_max(j->m, j->n);
        s.x = la_matrices_in(u, j->m, full ? j->m : j->k);
        s.f = la_matrices_in(vh, full ? j->n : j->k, j->n);
    }
    return la_small_run(&j->field, j->field.ker->small_svd, &s);
}

/* The rows of memory are columns of the transpose, whose vectors are
** V^H transposed and U transposed: what LAPACK writes is again in rows. */
static la_status large_svd(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_field *f = &j->field;
    int64_t full = j->plan.full;
    char *a = j->a + i * j->m * j->n * f->size;
    char *values = j->values + i * j->k * la_real_size(f);
    char *u = NULL, *vh = NULL;
    if (j->u) {
        u = j->u + i * j->m * (full ? j->m : j->k) * f->size;
        vh = j->vh + i * j->n * (full ? j->n : j->k) * f->size;
    }
    j->info[i] = -1;
    if (la_all_finite(f, a, j->m, j->n, LA_FULL_PART))
        j->info[i] = la_lapack_svd(&j->plan, a, values, vh, u, scratch);
    return LA_OK;
}

static la_status svd_by_lapack(job *j, const la_shape *batch, la_tensor *a,
                               la_tensor *u, la_tensor *vh, bool full)
{
    LA_TRY(la_plan_svd(&j->plan, &j->field, j->n, j->m, u != NULL, full));
    LA_LET(copy, la_matrices_copy(a, batch, false, &copy));
    j->a = la_data(copy);
    if (u) {
        j->u = la_data(u);
        j->vh = la_data(vh);
    }
    la_lapack_work w = {large_svd, j, sizeof *j,
                        {copy, j->keep_values, j->keep_info, u, vh}};
    return la_lapack_run(&j->plan, la_shape_count(batch), 4 * (double)j->m
                         * (double)j->n * (double)j->k, &w);
}

/* U and Vh of matrices without elements: parts of the identity. */
static void identities(const la_field *f, la_tensor *t, int64_t count)
{
    const int64_t *own = la_sizes(t) + t->ndim - 2;
    la_mats to = la_matrices_in(t, own[0], own[1]);
    for (int64_t i = 0; i < count; i++)
        la_set_identity(f, la_matrix_at(f, &to, i), own[0], own[1]);
}

/* The results in contiguous memory; u and vh NULL: not wanted. */
static la_status decompose(la_tensor *a, la_tensor *u, la_tensor *values,
                           la_tensor *vh, bool full)
{
    la_shape batch = la_batch_shape(a, 2);
    int64_t count = la_shape_count(&batch);
    job j = job_of(a);
    if (count == 0) return LA_OK;
    if (j.k == 0) {
        if (u) identities(&j.field, u, count);
        if (vh) identities(&j.field, vh, count);
        return LA_OK;
    }
    LA_LET(info, codes_for(&j, count, &info));
    j.values = la_data(values);
    j.keep_values = values;
    if (j.k <= LA_JACOBI && j.m <= LA_SMALL && j.n <= LA_SMALL)
        LA_TRY(small_svd(&j, &batch, a, u, vh, full));
    else LA_TRY(svd_by_lapack(&j, &batch, a, u, vh, full));
    return la_check_finite(j.info, count);
}

la_status la_impl_linalg_svd(la_frame *f)
{
    LA_LET(u, la_output_of(f, 0, &u));
    LA_LET(values, la_output_of(f, 1, &values));
    LA_LET(vh, la_output_of(f, 2, &vh));
    LA_TRY(decompose(la_arg(f, 0), u, values, vh, la_arg_bool(f, 1)));
    LA_TRY(la_output_end(f, 0, u));
    LA_TRY(la_output_end(f, 1, values));
    return la_output_end(f, 2, vh);
}

la_status la_impl_svdvals(la_frame *f)
{
    LA_LET(values, la_output_of(f, 0, &values));
    LA_TRY(decompose(la_arg(f, 0), NULL, values, NULL, false));
    return la_output_end(f, 0, values);
}
