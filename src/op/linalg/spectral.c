/*
** Eigenvalues and singular values. Those of small real matrices, symmetric ones
** or with singular values, come from Jacobi's method, a group of matrices at a
** time (kernel/linalg/jacobi.inc); others from our own decompositions
** (op/eigen/reduce.h), or from LAPACK where LUNARRAY_LAPACK asks for it.
*/
#include "op/eigen/divide.h"
#include "op/linalg/lapack.h"
#include "op/eigen/reduce.h"
#include "op/eigen/schur.h"

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
    bool upper, full;         /* eigh: which triangle; svd: all of U */
} own_job;

/* Reads matrix i for a reduction of m x n; false: info says that an element is
** not finite. */
static bool own_begin(const own_job *j, int64_t i, la_condenser *r, int64_t m,
                      int64_t n, bool adjoint, bool lower, char **scratch)
{
    la_dtype dtype = j->b->field.dtype;
    la_gemm_mat a = la_matrix_at(&j->b->field, &j->a, i);
    la_reduction_begin(r, dtype, m, n, *scratch);
    *scratch += la_reduction_bytes(dtype, m, n);
    bool finite = la_reduction_load(r, dtype, adjoint ? la_mat_t(a) : a, lower,
                                    adjoint);
    j->b->info[i] = finite ? 0 : -1;
    return finite;
}

/* n values and, for the matrices of 'to', m x k numbers from x. */
static void own_values(const own_job *j, int64_t i, const la_condenser *r,
                       int64_t n)
{
    const la_field *f = &j->b->field;
    la_store_doubles(r->d, n, r->scale, false, la_dtype_to_real(f->dtype),
                     j->values + i * n * la_real_size(f));
}

static void own_vectors(const own_job *j, int64_t i, const la_mats *to,
                        const double *x, bool conj)
{
    const la_field *f = &j->b->field;
    la_store_doubles(x, to->step, 1, conj, f->dtype,
                     la_matrix_at(f, to, i).data);
}

static la_status own_eigh_of_one(void *context, int64_t i, char *scratch)
{
    const own_job *j = context;
    int64_t n = j->b->n;
    int32_t *info = &j->b->info[i];
    la_condenser r;
    if (!own_begin(j, i, &r, n, n, j->upper, true, &scratch)) return LA_OK;
    LA_TRY(la_reduce_tridiagonal(&r));
    if (j->u.mat.data) {
        double *x = (double *)(void *)scratch, *u = x + n * n;
        char *work = (char *)u + la_whole_lines(n * n * r.f.size);
        la_gemm_mat q = la_reduction_matrix(&r), c = {(char *)u, n, 1};
        LA_TRY(la_tridiagonal_vectors(r.d, r.e, n, x, n, work, info));
        la_write_rows(&r, x, n, n, n, n, c);
        LA_TRY(la_blocked_reflect(&r.f, la_mat_at(&r.f, q, 1, 0),
                                  (char *)r.tau, n - 1,
                                  la_mat_at(&r.f, c, 1, 0), n - 1, n, 0,
                                  work));
        own_vectors(j, i, &j->u, u, false);
    } else LA_TRY(la_tridiagonal_values(r.d, r.e, n, info));
    own_values(j, i, &r, n);
    return LA_OK;
}

/* Bytes for the vectors of one matrix: 'sets' of n rows, 'elements' of results,
** and work for reflectors on m x k. */
static size_t own_bytes(const la_batch *b, int sets, int64_t elements,
                        int64_t m, int64_t k)
{
    la_field f = la_field_of(la_is_complex(b->field.dtype) ? LA_COMPLEX128
                                                           : LA_FLOAT64);
    size_t most = la_divide_work(b->k, sets), qr = la_qr_work(&f, m, k);
    return (size_t)(sets * b->k * b->k) * sizeof(double)
        + la_whole_lines(elements * f.size) + 64 + (most > qr ? most : qr);
}

static la_status own_eigh(job *j, const la_batch *b)
{
    int64_t n = b->n;
    own_job o = {.b = b, .upper = j->upper, .values = j->values};
    LA_TRY(la_reduction_check(n, n, n));
    LA_LET(keep, la_matrices_of(b->a, &b->shape, false, &keep, &o.a));
    size_t bytes = la_reduction_bytes(b->field.dtype, n, n);
    if (b->out[1]) {
        o.u = la_matrices_in(b->out[1], n, n);
        bytes += own_bytes(b, 1, n * n, n, n);
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
    LA_TRY(b.n <= LA_JACOBI && b.field.ker->small_eigh ? small_eigh(&j, &b)
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
    int64_t n = j->b->n;
    la_dtype complex = la_dtype_to_complex(f->dtype);
    double *values = (double *)(void *)scratch, *vectors = NULL;
    la_condenser r;
    scratch += la_whole_lines(2 * n * (int64_t)sizeof *values);
    if (!own_begin(j, i, &r, n, n, false, false, &scratch)) return LA_OK;
    LA_TRY(la_general_solve(&r, values, j->u.mat.data ? &vectors : NULL,
                            scratch, &j->b->info[i]));
    if (j->b->info[i]) return LA_OK;
    int64_t size = 2 * la_real_size(f);
    la_store_doubles(values, n, r.scale, false, complex,
                     j->values + i * n * size);
    if (vectors)
        la_store_doubles(vectors, n * n, 1, false, complex,
                         j->u.mat.data + i * n * n * size);
    return LA_OK;
}

static la_status own_eig(job *j, const la_batch *b)
{
    double n = (double)b->n;
    own_job o = {.b = b, .values = j->values};
    LA_TRY(la_reduction_check(b->n, b->n, b->n));
    LA_LET(keep, la_matrices_of(b->a, &b->shape, false, &keep, &o.a));
    if (b->out[1]) o.u = la_matrices_in(b->out[1], b->n, b->n);
    size_t bytes = la_whole_lines(2 * b->n * (int64_t)sizeof(double))
        + la_reduction_bytes(b->field.dtype, b->n, b->n)
        + la_general_work(b->field.dtype, b->n);
    LA_TRY(la_each_matrix(b->count, 25 * n * n * n, bytes, own_eig_of_one,
                          &o));
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

/* Both sets of vectors: u, of m x cols or (wide) cols x m numbers, and behind
** it v. Rows of v are meant, so wide ones are written as columns. */
static la_status own_svd_vectors(const own_job *j, int64_t i, la_condenser *r,
                                 char *scratch)
{
    int64_t m = r->m, n = r->n, cols = j->full ? m : n;
    bool wide = j->b->m < j->b->n;
    double *x = (double *)(void *)scratch, *y = x + n * n;
    double *large = y + n * n, *small = large + m * cols * r->parts;
    char *work = (char *)large + la_whole_lines((m * cols + n * n) * r->f.size);
    la_gemm_mat q = la_reduction_matrix(r), p = la_mat_at(&r->f, q, 0, 1);
    la_gemm_mat tall = {(char *)large, cols, 1}, other = {(char *)small, 1, n};
    if (wide) {
        tall = (la_gemm_mat){(char *)large, 1, m};
        other = (la_gemm_mat){(char *)small, n, 1};
    }
    LA_TRY(la_bidiagonal_vectors(r->d, r->e, n, x, y, n, work,
                                 &j->b->info[i]));
    la_write_rows(r, x, n, n, m, cols, tall);
    LA_TRY(la_blocked_reflect(&r->f, q, (char *)r->tau, n, tall, m, cols, 0,
                              work));
    la_write_rows(r, y, n, n, n, n, other);
    LA_TRY(la_blocked_reflect(&r->f, la_mat_t(p), (char *)r->right, n - 1,
                              la_mat_at(&r->f, other, 1, 0), n - 1, n, 0,
                              work));
    own_vectors(j, i, &j->u, wide ? small : large, false);
    own_vectors(j, i, &j->v, wide ? large : small, true);
    return LA_OK;
}

/* A matrix with more columns than rows is decomposed as its adjoint, of which
** U is V and V is U. */
static la_status own_svd_of_one(void *context, int64_t i, char *scratch)
{
    const own_job *j = context;
    bool wide = j->b->m < j->b->n;
    int64_t m = la_max(j->b->m, j->b->n), n = j->b->k;
    la_condenser r;
    if (!own_begin(j, i, &r, m, n, wide, false, &scratch)) return LA_OK;
    LA_TRY(la_reduce_bidiagonal(&r));
    if (j->u.mat.data) LA_TRY(own_svd_vectors(j, i, &r, scratch));
    else LA_TRY(la_bidiagonal_values(r.d, r.e, n, &j->b->info[i]));
    own_values(j, i, &r, n);
    return LA_OK;
}

static la_status own_svd(job *j, const la_batch *b, bool full)
{
    int64_t m = la_max(b->m, b->n), n = b->k, cols = full ? m : n;
    own_job o = {.b = b, .full = full, .values = j->values};
    LA_TRY(la_reduction_check(m, n, full && b->out[2] ? m : 0));
    LA_LET(keep, la_matrices_of(b->a, &b->shape, false, &keep, &o.a));
    size_t bytes = la_reduction_bytes(b->field.dtype, m, n);
    if (b->out[2]) {
        o.u = la_matrices_in(b->out[0], b->m, full ? b->m : n);
        o.v = la_matrices_in(b->out[2], full ? b->n : n, b->n);
        bytes += own_bytes(b, 2, m * cols + n * n, m, cols);
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
               && b.field.ker->small_svd
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
