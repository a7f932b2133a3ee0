/*
** qr, geqrf and the product of Householder reflectors with a matrix.
*/
#include "op/linalg/linalg.h"

#include "base/runtime/memory.h"
#include "op/move/copy.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* One description for the three operations; each fills what it needs. */
typedef struct job {
    la_field field;
    la_small s;
    la_mats a, q, c;          /* factors; Q; what reflectors are applied to */
    char *tau;                /* rank elements of each; NULL: in scratch */
    int64_t m, n, k;
    int flags;
} job;

/* Q has m x k, R has k x n; 'r' makes no Q. */
static la_status mode_of(const la_frame *f, int64_t m, int64_t n, int64_t *k,
                         bool *with_q)
{
    *with_q = !la_str_is(&f->args[1], "r");
    *k = la_min(m, n);
    if (la_str_is(&f->args[1], "complete")) *k = m;
    else if (*with_q && !la_str_is(&f->args[1], "reduced"))
        return la_error_at(LA_EARG, 2, "'reduced', 'complete' or 'r' "
                           "expected");
    return LA_OK;
}

/* (A, mode) -> Q, R */
la_status la_meta_qr(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    LA_TRY(la_check_matrix(f, 0));
    la_shape batch = la_batch_shape(a, 2);
    int64_t m = la_sizes(a)[batch.ndim], n = la_sizes(a)[batch.ndim + 1], k;
    int64_t none = 0;
    bool with_q;
    LA_TRY(mode_of(f, m, n, &k, &with_q));
    la_dtype d = (la_dtype)a->dtype;
    if (with_q) LA_TRY(la_matrix_result(f, 0, &batch, m, k, d));
    else LA_TRY(la_set_output(f, 0, 1, &none, NULL, d));
    return la_matrix_result(f, 1, &batch, k, n, d);
}

/* Scratch of one matrix: its tau, where the caller keeps none, then the work
** of the blocked panels, each from a new cache line on. */
static size_t scratch_bytes(const job *j)
{
    return la_whole_lines(la_min(j->m, j->n) * j->field.size)
        + la_qr_work(&j->field, j->m, la_max(j->n, j->k));
}

/* Q is the product of the reflectors with an identity. Starting from the
** identity, the blocked product skips what is known to be zero
** (LA_IDENTITY). */
static la_status factor_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_field *f = &j->field;
    int64_t rank = la_min(j->m, j->n);
    char *tau = j->tau ? j->tau + i * rank * f->size : scratch;
    char *work = scratch + la_whole_lines(rank * f->size);
    la_gemm_mat a = la_matrix_at(f, &j->a, i);
    LA_TRY(la_blocked_qr(f, a, j->m, j->n, tau, work));
    if (!j->q.mat.data) return LA_OK;
    la_gemm_mat q = la_matrix_at(f, &j->q, i);
    la_set_identity(f, q, j->m, j->k);
    return la_blocked_reflect(f, a, tau, rank, q, j->m, j->k, LA_IDENTITY,
                              work);
}

/* Factors of the batch in j->a, whose first rows are R. */
static la_status qr_run(job *j, int64_t count)
{
    double work = (double)j->m * (double)j->n * (double)la_min(j->m, j->n);
    return la_each_matrix(count, work, scratch_bytes(j), factor_one, j);
}

/* The small kernel reads any strides and writes Q and R itself: neither a copy
** nor a second walk. */
static la_status run_small(job *j, la_tensor *a, const la_shape *batch)
{
    LA_LET(keep, la_matrices_of(a, batch, false, &keep, &j->s.a));
    j->s.m = (int)j->m;
    j->s.n = (int)j->n;
    j->s.k = (int)j->k;
    j->s.count = la_shape_count(batch);
    return la_small_run(&j->field, j->field.ker->small_qr, &j->s);
}

/* R: the upper triangle of the first k rows of the factors. */
static void copy_r(const job *j, la_mats from, la_mats to, int64_t count)
{
    const la_field *f = &j->field;
    for (int64_t i = 0; i < count; i++)
        for (int64_t r = 0; r < j->k; r++) {
            la_gemm_mat row = la_mat_at(f, la_matrix_at(f, &to, i), r, 0);
            int64_t zeros = la_min(r, j->n);
            memset(row.data, 0, (size_t)(zeros * f->size));
            memcpy(row.data + zeros * f->size,
                   la_mat_at(f, la_matrix_at(f, &from, i), r, zeros).data,
                   (size_t)((j->n - zeros) * f->size));
        }
}

static job job_of(const la_batch *b)
{
    return (job){.field = b->field, .m = b->m, .n = b->n};
}

/* LA_SMALL rows are where a blocked panel begins to pay. */
la_status la_impl_qr(la_frame *f)
{
    LA_OWNED copy = NULL;
    LA_OPEN_BATCH(b, f);
    job j = job_of(&b);
    bool with_q;
    LA_TRY(mode_of(f, j.m, j.n, &j.k, &with_q));
    la_mats to = la_matrices_in(b.out[1], j.k, j.n);
    if (with_q) j.q = la_matrices_in(b.out[0], j.m, j.k);
    if (j.m <= LA_SMALL && j.n <= LA_SMALL) {
        j.s.f = to;
        j.s.x = j.q;
        j.s.unit = true;
        LA_TRY(run_small(&j, b.a, &b.shape));
    } else {
        LA_TRY(la_matrices_copy(b.a, &b.shape, false, &copy));
        j.a = la_matrices_in(copy, j.m, j.n);
        LA_TRY(qr_run(&j, b.count));
        copy_r(&j, j.a, to, b.count);
    }
    return la_batch_end(&b);
}

/* ---- geqrf, householder_apply ---- */

/* (A) -> R above the vectors, tau */
LA_FORWARD(la_meta_geqrf, la_meta_matrices(f, false, "mn,k"))

/* The factors are the result, so the large case works in place on a copy of A
** in it. */
la_status la_impl_geqrf(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    job j = job_of(&b);
    j.a = la_matrices_in(b.out[0], j.m, j.n);
    j.tau = la_data(b.out[1]);
    if (j.m <= LA_SMALL && j.n <= LA_SMALL) {
        j.s.f = j.a;
        j.s.tau = j.tau;
        LA_TRY(run_small(&j, b.a, &b.shape));
    } else {
        LA_TRY(la_copy_data(b.out[0], b.a));
        LA_TRY(qr_run(&j, b.count));
    }
    return la_batch_end(&b);
}

/* (A, tau, other, adjoint): Q other or Q^H other, for batches of one shape */
la_status la_meta_householder_apply(la_frame *f)
{
    la_tensor *a = la_arg(f, 0), *tau = la_arg(f, 1), *c = la_arg(f, 2);
    LA_TRY(la_check_matrix(f, 0));
    LA_TRY(la_check_matrix(f, 2));
    LA_TRY(la_check_one_dtype(f, 0, 1));
    LA_TRY(la_check_one_dtype(f, 0, 2));
    const int64_t *x = la_sizes(a) + a->ndim - 2;
    if (tau->ndim != a->ndim - 1 || c->ndim != a->ndim
        || !la_has_sizes(c, c->ndim, la_sizes(c))
        || la_sizes(tau)[tau->ndim - 1] > la_min(x[0], x[1]))
        return la_error_at(LA_ESHAPE, 2, "at most one factor for each column "
                           "expected");
    for (int d = 0; d < a->ndim - 2; d++)
        if (la_sizes(a)[d] != la_sizes(tau)[d]
            || la_sizes(a)[d] != la_sizes(c)[d])
            return la_error_at(LA_ESHAPE, 2, "the same batch expected as that "
                               "of the reflectors");
    if (la_sizes(c)[c->ndim - 2] != x[0])
        return la_error_at(LA_ESHAPE, 3, "%lld rows expected, got %lld",
                           (long long)x[0],
                           (long long)la_sizes(c)[c->ndim - 2]);
    return la_set_output(f, 0, c->ndim, la_sizes(c), NULL,
                         (la_dtype)c->dtype);
}

static la_status apply_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_field *f = &j->field;
    return la_blocked_reflect(f, la_matrix_at(f, &j->a, i),
                              j->tau + i * j->n * f->size, j->n,
                              la_matrix_at(f, &j->c, i), j->m, j->k, j->flags,
                              scratch);
}

/* Multiplies by Q without making it: the reflectors below the diagonal of 'a'
** are applied block by block. */
la_status la_impl_householder_apply(la_frame *f)
{
    la_tensor *tau = la_arg(f, 1);
    LA_OPEN_BATCH(b, f);
    la_tensor *x = b.out[0];
    job j = job_of(&b);
    LA_TRY(la_copy_data(x, la_arg(f, 2)));
    LA_LET(keep, la_matrices_of(b.a, &b.shape, false, &keep, &j.a));
    LA_LET(factors, la_matrices_copy(tau, &b.shape, true, &factors));
    j.tau = la_data(factors);
    j.n = la_sizes(tau)[tau->ndim - 1];
    j.k = la_sizes(x)[x->ndim - 1];
    j.c = la_matrices_in(x, j.m, j.k);
    j.flags = la_arg_bool(f, 3) ? LA_ADJOINT : 0;
    LA_TRY(la_each_matrix(b.count, (double)j.m * (double)j.n * (double)j.k,
                          la_qr_work(&j.field, j.m, j.k), apply_one, &j));
    return la_batch_end(&b);
}
