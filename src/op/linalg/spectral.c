/*
** Eigenvalues and singular values: small matrices by Jacobi's method
** (kernel/linalg/jacobi.inc) unless they are general ones with eigenvalues,
** others by our own decompositions (op/linalg/reduce.h), or by LAPACK where
** LUNARRAY_LAPACK asks for it.
*/
#include "op/linalg/divide.h"
#include "op/linalg/lapack.h"
#include "op/linalg/reduce.h"
#include "op/linalg/schur.h"

#include "base/runtime/memory.h"
#include "op/move/copy.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* All that one matrix of a batch needs. LAPACK may run on threads that are
** abandoned when the call is stopped, so the job is copied to them, and
** tensors whose memory they use are kept (la_lapack_batch). */
typedef struct job {
    la_field field;
    la_lapack_plan plan;
    int64_t m, n, k;          /* rows, columns, singular values */
    char *a, *u, *vh, *values;
    int32_t *info;
    bool upper;
} job;

/* The job of a batch with elements; its values are result 'k'. */
static la_status job_of(la_batch *b, int k, job *j)
{
    LA_TRY(la_batch_codes(b, LA_MAX_RESULTS - 1));
    j->field = b->field;
    j->m = b->m;
    j->n = b->n;
    j->k = b->k;
    j->values = la_data(b->out[k]);
    j->info = b->info;
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
    bool upper;
    LA_TRY(la_check_square(f, 0));
    LA_TRY(triangle_of(f, &upper));
    return la_meta_matrices(f, true, f->op == LA_OP(eigh) ? "n',nn" : "n'");
}

LA_FORWARD(la_meta_eigvalsh, la_meta_eigh(f))

/* Jacobi's rotations on a group of matrices at a time, one in each lane: no
** library is needed. */
static la_status small_eigh(job *j, const la_batch *b)
{
    int n = (int)j->n;
    la_small s = {.m = n, .n = n, .count = b->count, .info = j->info,
                  .values = j->values, .reverse = j->upper};
    LA_LET(keep, la_matrices_of(b->a, &b->shape, false, &keep, &s.a));
    if (b->out[1]) s.x = la_matrices_in(b->out[1], n, n);
    LA_TRY(la_small_run(&j->field, j->field.ker->small_eigh, &s));
    return la_check_finite(j->info, b->count);
}

/* A matrix of a batch for our own decompositions: results NULL where they are
** not wanted. */
typedef struct own_job {
    const la_batch *b;
    la_mats a;
    char *values;
    la_mats u, v;             /* vectors: columns of u, adjoints of rows of v */
    bool upper;
} own_job;

/* A NaN becomes info; what is called next returns LA_OK then. */
static la_status own_eigh_of_one(void *context, int64_t i, char *scratch)
{
    const own_job *j = context;
    const la_field *f = &j->b->field;
    const la_reducer *reducer = la_reducer_of(f->dtype);
    int64_t n = j->b->n;
    int32_t *info = &j->b->info[i];
    la_gemm_mat a = la_matrix_at(f, &j->a, i);
    la_reduction r;
    la_reduction_begin(&r, f, n, n, scratch);
    scratch += la_reduction_bytes(f, n, n);
    if (j->upper) a = la_mat_t(a);
    *info = 0;
    if (!reducer->load(&r, &a, true, j->upper)) {
        *info = -1;
        return LA_OK;
    }
    LA_TRY(reducer->tridiagonal(&r));
    if (j->u.mat.data) {
        la_gemm_mat u = la_matrix_at(f, &j->u, i);
        double *x = (double *)(void *)scratch;
        char *work = scratch + la_whole_lines(n * n * (int64_t)sizeof *x);
        LA_TRY(la_tridiagonal_vectors(r.d, r.e, n, x, n, work, info));
        la_gemm_mat q = {r.a, 1, r.step * la_real_size(f) / f->size};
        reducer->place(&r, x, n, n, n, n, u);
        LA_TRY(la_blocked_reflect(f, la_mat_at(f, q, 1, 0), r.tau, n - 1,
                                  la_mat_at(f, u, 1, 0), n - 1, n, 0, work));
    } else LA_TRY(la_tridiagonal_values(r.d, r.e, n, info));
    reducer->values(&r, r.d, n, j->values + i * n * la_real_size(f));
    return LA_OK;
}

static la_status own_eigh(job *j, const la_batch *b)
{
    const la_field *f = &b->field;
    int64_t n = b->n;
    own_job o = {.b = b, .upper = j->upper, .values = j->values};
    LA_LET(keep, la_matrices_of(b->a, &b->shape, false, &keep, &o.a));
    size_t bytes = la_reduction_bytes(f, n, n);
    if (b->out[1]) {
        size_t most = la_divide_work(n, 1), qr = la_qr_work(f, n, n);
        o.u = la_matrices_in(b->out[1], n, n);
        bytes += la_whole_lines(n * n * (int64_t)sizeof(double))
            + (most > qr ? most : qr);
    }
    double work = 4 * (double)n * (double)n * (double)n;
    LA_TRY(la_each_matrix(b->count, work, bytes, own_eigh_of_one, &o));
    return la_check_finite(b->info, b->count);
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

static la_status eigh_by_lapack(job *j, const la_batch *b)
{
    double n = (double)j->n;
    LA_TRY(la_plan_eigh(&j->plan, &j->field, j->n, b->out[1] != NULL));
    LA_LET(copy, la_columns_copy(b, &copy));
    j->a = la_data(copy);
    LA_TRY(la_lapack_batch(&j->plan, b, 4 * n * n * n, large_eigh, j,
                           sizeof *j, copy));
    if (!b->out[1]) return LA_OK;
    LA_LET(back, la_transposed(copy, &back));
    return la_copy_data(b->out[1], back);
}

la_status la_impl_eigh(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    job j = {0};
    LA_TRY(triangle_of(f, &j.upper));
    if (b.a->numel == 0) return LA_OK;
    LA_TRY(job_of(&b, 0, &j));
    LA_TRY(b.n <= LA_JACOBI ? small_eigh(&j, &b)
           : la_lapack_chosen() ? eigh_by_lapack(&j, &b) : own_eigh(&j, &b));
    return la_batch_end(&b);
}

LA_FORWARD(la_impl_eigvalsh, la_impl_eigh(f))

/* ---- general matrices ---- */

/* (A) -> complex values, vectors */
LA_FORWARD(la_meta_eig, la_meta_matrices(f, true, "nc,nnc"))
LA_FORWARD(la_meta_eigvals, la_meta_matrices(f, true, "nc"))

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

static la_status eig_by_lapack(job *j, const la_batch *b)
{
    double n = (double)b->n;
    LA_TRY(la_plan_eig(&j->plan, &b->field, b->n, b->out[1] != NULL));
    LA_LET(copy, la_columns_copy(b, &copy));
    j->a = la_data(copy);
    if (b->out[1]) j->u = la_data(b->out[1]);
    return la_lapack_batch(&j->plan, b, 25 * n * n * n, eig_of_one, j,
                           sizeof *j, copy);
}

static la_status own_eig_of_one(void *context, int64_t i, char *scratch)
{
    const own_job *j = context;
    const la_field *f = &j->b->field;
    int64_t n = j->b->n, size = 2 * la_real_size(f);
    la_gemm_mat a = la_matrix_at(f, &j->a, i);
    la_reduction r;
    la_reduction_begin(&r, f, n, n, scratch);
    j->b->info[i] = 0;
    if (!la_reducer_of(f->dtype)->load(&r, &a, false, false)) {
        j->b->info[i] = -1;
        return LA_OK;
    }
    char *vectors = j->u.mat.data;
    return la_general_solve(&r, j->values + i * n * size,
                            vectors ? vectors + i * n * n * size : NULL,
                            scratch + la_reduction_bytes(f, n, n),
                            &j->b->info[i]);
}

static la_status own_eig(job *j, const la_batch *b)
{
    const la_field *f = &b->field;
    double n = (double)b->n;
    own_job o = {.b = b, .values = j->values};
    LA_LET(keep, la_matrices_of(b->a, &b->shape, false, &keep, &o.a));
    if (b->out[1]) o.u = la_matrices_in(b->out[1], b->n, b->n);
    LA_TRY(la_each_matrix(b->count, 25 * n * n * n,
                          la_reduction_bytes(f, b->n, b->n)
                          + la_general_work(f, b->n), own_eig_of_one, &o));
    return la_check_finite(b->info, b->count);
}

la_status la_impl_eig(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    job j = {0};
    if (b.a->numel == 0) return LA_OK;
    LA_TRY(job_of(&b, 0, &j));
    LA_TRY(la_lapack_chosen() ? eig_by_lapack(&j, &b) : own_eig(&j, &b));
    return la_batch_end(&b);
}

LA_FORWARD(la_impl_eigvals, la_impl_eig(f))

/* ---- singular values ---- */

/* (A, full_matrices) -> U, S, Vh */
la_status la_meta_linalg_svd(la_frame *f)
{
    return la_meta_matrices(f, false, la_arg_bool(f, 1) ? "mm,k',nn"
                                                        : "mk,k',kn");
}

/* (A) -> S */
LA_FORWARD(la_meta_svdvals, la_meta_matrices(f, false, "k'"))

static la_status small_svd(job *j, const la_batch *b, bool full)
{
    la_small s = {.m = (int)j->m, .n = (int)j->n, .unit = full,
                  .count = b->count, .info = j->info, .values = j->values};
    LA_LET(keep, la_matrices_of(b->a, &b->shape, false, &keep, &s.a));
    if (b->out[2]) {
        s.k = (int)la_max(j->m, j->n);
        s.x = la_matrices_in(b->out[0], j->m, full ? j->m : j->k);
        s.f = la_matrices_in(b->out[2], full ? j->n : j->k, j->n);
    }
    LA_TRY(la_small_run(&j->field, j->field.ker->small_svd, &s));
    return la_check_finite(j->info, b->count);
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

/* A row-major matrix is the transpose to LAPACK, hence n and m exchanged and U
** and V^H exchanged: no copy has to be transposed. */
static la_status svd_by_lapack(job *j, const la_batch *b, bool full)
{
    bool with = b->out[2] != NULL;
    LA_TRY(la_plan_svd(&j->plan, &j->field, j->n, j->m, with, full));
    LA_LET(copy, la_matrices_copy(b->a, &b->shape, false, &copy));
    j->a = la_data(copy);
    if (with) {
        j->u = la_data(b->out[0]);
        j->vh = la_data(b->out[2]);
    }
    double work = 4 * (double)j->m * (double)j->n * (double)j->k;
    return la_lapack_batch(&j->plan, b, work, large_svd, j, sizeof *j, copy);
}

/* A matrix with more columns than rows is decomposed as its adjoint, of which U
** is V and V is U. */
static la_status own_svd_of_one(void *context, int64_t i, char *scratch)
{
    const own_job *j = context;
    const la_field *f = &j->b->field;
    const la_reducer *reducer = la_reducer_of(f->dtype);
    bool wide = j->b->m < j->b->n;
    int64_t m = la_max(j->b->m, j->b->n), n = j->b->k;
    int32_t *info = &j->b->info[i];
    la_gemm_mat a = la_matrix_at(f, &j->a, i);
    la_reduction r;
    la_reduction_begin(&r, f, m, n, scratch);
    scratch += la_reduction_bytes(f, m, n);
    if (wide) a = la_mat_t(a);
    *info = 0;
    if (!reducer->load(&r, &a, false, wide)) {
        *info = -1;
        return LA_OK;
    }
    LA_TRY(reducer->bidiagonal(&r));
    if (j->u.mat.data) {
        la_gemm_mat u = la_matrix_at(f, &j->u, i);
        la_gemm_mat v = la_mat_t(la_matrix_at(f, &j->v, i));
        double *x = (double *)(void *)scratch, *y = x + n * n;
        char *work = scratch + la_whole_lines(2 * n * n * (int64_t)sizeof *x);
        LA_TRY(la_bidiagonal_vectors(r.d, r.e, n, x, y, n, work, info));
        /* the larger side has more columns where all of U and Vh are wanted */
        la_gemm_mat tall = wide ? v : u, other = wide ? u : v;
        int64_t cols = j->upper ? m : n;
        la_gemm_mat q = {r.a, 1, r.step * la_real_size(f) / f->size};
        la_gemm_mat p = la_mat_t(la_mat_at(f, q, 0, 1));
        reducer->place(&r, x, n, n, m, cols, tall);
        LA_TRY(la_blocked_reflect(f, q, r.tau, n, tall, m, cols, 0, work));
        reducer->place(&r, y, n, n, n, n, other);
        LA_TRY(la_blocked_reflect(f, p, r.right, n - 1,
                                  la_mat_at(f, other, 1, 0), n - 1, n, 0,
                                  work));
        reducer->conjugate(v, j->b->n, wide ? cols : n);
    } else LA_TRY(la_bidiagonal_values(r.d, r.e, n, info));
    reducer->values(&r, r.d, n, j->values + i * n * la_real_size(f));
    return LA_OK;
}

static la_status own_svd(job *j, const la_batch *b, bool full)
{
    const la_field *f = &b->field;
    int64_t m = la_max(b->m, b->n), n = b->k;
    own_job o = {.b = b, .upper = full, .values = j->values};
    LA_LET(keep, la_matrices_of(b->a, &b->shape, false, &keep, &o.a));
    size_t bytes = la_reduction_bytes(f, m, n);
    if (b->out[2]) {
        size_t most = la_divide_work(n, 2), qr = la_qr_work(f, m, full ? m : n);
        o.u = la_matrices_in(b->out[0], b->m, full ? b->m : n);
        o.v = la_matrices_in(b->out[2], full ? b->n : n, b->n);
        bytes += la_whole_lines(2 * n * n * (int64_t)sizeof(double))
            + (most > qr ? most : qr);
    }
    double work = 4 * (double)m * (double)n * (double)n;
    LA_TRY(la_each_matrix(b->count, work, bytes, own_svd_of_one, &o));
    return la_check_finite(b->info, b->count);
}

/* U and Vh of matrices without elements: parts of the identity. */
static void identities(const la_field *f, la_tensor *t, int64_t count)
{
    const int64_t *own = la_sizes(t) + t->ndim - 2;
    la_mats to = la_matrices_in(t, own[0], own[1]);
    for (int64_t i = 0; i < count; i++)
        la_set_identity(f, la_matrix_at(f, &to, i), own[0], own[1]);
}

/* Both operations: svdvals has the values alone. */
la_status la_impl_linalg_svd(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    job j = {0};
    bool with = b.out[2] != NULL, full = with && la_arg_bool(f, 1);
    if (b.count == 0) return LA_OK;
    if (b.k > 0) {
        LA_TRY(job_of(&b, with, &j));
        LA_TRY(b.k <= LA_JACOBI && b.m <= LA_SMALL && b.n <= LA_SMALL
               ? small_svd(&j, &b, full)
               : la_lapack_chosen() ? svd_by_lapack(&j, &b, full)
               : own_svd(&j, &b, full));
    } else if (with) {
        identities(&b.field, b.out[0], b.count);
        identities(&b.field, b.out[2], b.count);
    }
    return la_batch_end(&b);
}
LA_FORWARD(la_impl_svdvals, la_impl_linalg_svd(f))
