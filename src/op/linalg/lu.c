/*
** Operations by LU factors: lu_factor, inv, solve, det, slogdet, lu_solve.
**
** Matrices of at most LA_SMALL rows and right-hand sides go to the kernels that
** take a group of them at a time, others to the blocked factorization, on a
** copy that is made for the whole batch at once.
*/
#include "op/linalg/linalg.h"
#include "op/move/copy.h"
#include "base/runtime/memory.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* One call: what la_small says of matrices of any size. Of solve and inv 'b'
** is the copy that becomes the solution. */
typedef struct job {
    la_field field;
    la_small s;
    int64_t m, n, k;
    la_mats f, x;
    bool inverse;             /* x starts as the identity */
    bool right;               /* x a = b, so the transposes are solved */
} job;

static bool lu_is_small(const job *j)
{
    return j->m <= LA_SMALL && j->n <= LA_SMALL && j->k <= LA_SMALL;
}

/* ---- large matrices ---- */

static size_t large_bytes(const job *j)
{
    size_t rows = (size_t)la_max(j->m, j->n);
    return rows * (size_t)j->field.ker->row_bytes + 4 * rows + 64;
}

/* x = a^-1 for the factors in 'a': P sits in x from the start. */
static la_status solve_large(const job *j, la_gemm_mat a, const int32_t *pivots,
                             la_gemm_mat x)
{
    const la_field *f = &j->field;
    int64_t n = j->n;
    if (j->inverse) la_set_identity(f, x, n, n);
    if (j->right) {
        /* x P^T L U = b: U^T, then L^T, then the columns back */
        x = la_mat_t(x);
        LA_TRY(la_blocked_triangular(f, la_mat_t(a), 0, x, n, j->k));
        LA_TRY(la_blocked_triangular(f, la_mat_t(a), LA_UPPER | LA_UNIT, x, n,
                                     j->k));
        la_exchange_rows(f, x, j->k, pivots, 0, n, true);
        return LA_OK;
    }
    la_exchange_rows(f, x, j->k, pivots, 0, n, false);
    LA_TRY(la_blocked_triangular(f, a, LA_UNIT, x, n, j->k));
    return la_blocked_triangular(f, a, LA_UPPER, x, n, j->k);
}

/* Is the permutation of n pivots an odd one? Its determinant is then -1. */
static bool is_odd(const int32_t *pivots, int64_t n)
{
    int64_t exchanges = 0;
    for (int64_t r = 0; r < n; r++) exchanges += pivots[r] != r + 1;
    return exchanges & 1;
}

/* One matrix, in place in the result. Whatever is asked for besides
** (determinant, solution) follows while its factors are in the cache. A
** singular matrix ends here: info says where. */
static la_status factor_large(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_field *f = &j->field;
    int64_t rank = la_min(j->m, j->n);
    int32_t info, *own = (int32_t *)scratch;
    int32_t *pivots = j->s.pivots ? j->s.pivots + i * rank : own;
    char *panel = scratch + la_whole_lines(4 * rank);
    la_gemm_mat a = la_matrix_at(f, &j->f, i);
    LA_TRY(la_blocked_lu(f, a, j->m, j->n, j->s.pivot, panel, pivots, &info));
    if (j->s.info) j->s.info[i] = info;
    if (j->s.det)
        f->ker->det(a.data, j->n + 1, j->n, is_odd(pivots, rank),
                    j->s.det + i * f->size);
    if (!j->x.mat.data || info) return LA_OK;
    return solve_large(j, a, pivots, la_matrix_at(f, &j->x, i));
}

/* Factors of 'a' in j->f (or a copy), and all that j asks for. */
static la_status lu_run(job *j, la_tensor *a, const la_shape *batch)
{
    LA_OWNED keep = NULL;
    double n = (double)j->n;
    j->s.count = la_shape_count(batch);
    if (lu_is_small(j)) {
        LA_TRY(la_matrices_of(a, batch, false, &keep, &j->s.a));
        j->s.m = (int)j->m;
        j->s.n = (int)j->n;
        j->s.k = (int)j->k;
        j->s.f = j->f;
        j->s.x = j->x;
        j->s.b = j->inverse ? (la_mats){{NULL, 0, 0}, 0} : j->x;
        if (j->right) {
            j->s.a.mat = la_mat_t(j->s.a.mat);
            j->s.b.mat = la_mat_t(j->s.b.mat);
            j->s.x.mat = la_mat_t(j->s.x.mat);
        }
        return la_small_run(&j->field, j->field.ker->small_lu, &j->s);
    }
    if (!j->f.mat.data) {
        LA_TRY(la_matrices_copy(a, batch, false, &keep));
        j->f = la_matrices_in(keep, j->m, j->n);
    }
    return la_each_matrix(j->s.count, n * (double)j->m * (n + (double)j->k),
                          large_bytes(j), factor_large, j);
}

static job lu_job_of(const la_batch *b)
{
    return (job){.field = b->field, .m = b->m, .n = b->n, .s.pivot = true,
                 .s.info = b->info};
}

/* ---- lu_factor ---- */

/* (A, *, pivot) -> LU, pivots int32, info int32 */
LA_FORWARD(la_meta_lu_factor_ex, la_meta_matrices(f, false, "mn,ki,i"))

/* The small kernel reads the input itself; the blocked code works in place and
** gets a copy. */
la_status la_impl_lu_factor_ex(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    LA_TRY(la_batch_codes(&b, 2));
    job j = lu_job_of(&b);
    if (!lu_is_small(&j)) LA_TRY(la_copy_data(b.out[0], b.a));
    j.f = la_matrices_in(b.out[0], b.m, b.n);
    j.s.pivots = (int32_t *)la_data(b.out[1]);
    j.s.pivot = la_arg_bool(f, 1);
    LA_TRY(lu_run(&j, b.a, &b.shape));
    if (la_arg_bool(f, 2))
        LA_TRY(la_check_info(b.info, b.count, LA_SINGULAR));
    return la_batch_end(&b);
}

/* ---- inv ---- */

/* (A, *, check_errors) -> the inverses, codes; inv checks and has no codes. */
LA_FORWARD(la_meta_inv, la_meta_matrices(f, true, "nn"))
LA_FORWARD(la_meta_inv_ex, la_meta_matrices(f, true, "nn,i"))

/* Solves for the identity. inv raises for a singular matrix, inv_ex only if it
** is asked to. */
la_status la_impl_inv_ex(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    LA_TRY(la_batch_codes(&b, 1));
    job j = lu_job_of(&b);
    j.k = b.n;
    j.inverse = true;
    j.x = la_matrices_in(b.out[0], b.n, b.n);
    LA_TRY(lu_run(&j, b.a, &b.shape));
    if (f->op == LA_OP(inv) || la_arg_bool(f, 1))
        LA_TRY(la_check_info(b.info, b.count, LA_SINGULAR));
    return la_batch_end(&b);
}
LA_FORWARD(la_impl_inv, la_impl_inv_ex(f))

/* ---- solve ---- */

/* (A, B, *, left) -> X */
la_status la_meta_solve(la_frame *f)
{
    la_shape batch;
    bool vector;
    LA_TRY(la_solve_shape(f, 0, 1, la_arg_bool(f, 2), &vector, &batch));
    return la_solve_result(f, 1, &batch, vector);
}

/* (A, B, *, left, check_errors) -> X, codes of A */
la_status la_meta_solve_ex(la_frame *f)
{
    la_shape batch = la_batch_shape(la_arg(f, 0), 2);
    LA_TRY(la_meta_solve(f));
    return la_set_output(f, 1, batch.ndim, batch.sizes, NULL, LA_INT32);
}

/* The codes of a broadcast batch to those of A: the first of each. */
static la_status codes_back(la_tensor *codes, const la_shape *batch,
                            la_tensor *out)
{
    int64_t strides[LA_MAX_DIMS];
    int lead = batch->ndim - out->ndim;
    for (int d = 0; d < out->ndim; d++)
        strides[d] = la_strides(codes)[d + lead];
    LA_LET(view,
           la_tensor_view(codes, out->ndim, la_sizes(out), strides, 0, &view));
    return la_copy_data(out, view);
}

/* Fewer large matrices than right-hand sides: each is factored once. 'x' is a
** contiguous tensor for the solution. */
static la_status solve_shared(la_frame *f, la_tensor *x, bool vector,
                              bool check, la_tensor *out_info)
{
    la_value r[LA_MAX_RESULTS], args[] = {la_v_tensor(la_arg(f, 0))};
    la_tensor *b = la_arg(f, 1);
    LA_OWNED column = NULL;
    LA_OWNED flat = NULL;
    LA_TRY(la_do_many(LA_OP(lu_factor_ex), r, 1, args));
    LA_OWNED lu = r[0].tensor;
    LA_OWNED pivots = r[1].tensor;
    LA_OWNED info = r[2].tensor;
    if (check)
        LA_TRY(la_check_info((int32_t *)la_data(info), info->numel,
                             LA_SINGULAR));
    if (vector) LA_TRY(la_run(unsqueeze, &column, b, -1));
    LA_LET(y, la_run(lu_solve, &y, lu, pivots, vector ? column : b,
                     la_arg_bool(f, 2)));
    if (vector) LA_TRY(la_run(squeeze, &flat, y, -1));
    if (out_info) LA_TRY(la_copy_data(out_info, info));
    return la_copy_data(x, vector ? flat : y);
}

/* Result 0 from A and B; solve checks, and returns no codes. */
la_status la_impl_solve_ex(la_frame *f)
{
    la_tensor *out_info = NULL;
    bool vector, left = la_arg_bool(f, 2), check = f->op == LA_OP(solve);
    LA_OPEN_BATCH(b, f);
    int64_t own = b.count;
    la_tensor *x = b.out[0];
    if (!check) {
        check = la_arg_bool(f, 3);
        out_info = b.out[1];
    }
    LA_TRY(la_solve_shape(f, 0, 1, left, &vector, &b.shape));
    b.count = la_shape_count(&b.shape);
    if (b.n > LA_SMALL && own < b.count) {
        LA_TRY(solve_shared(f, x, vector, check, out_info));
        return la_batch_end(&b);
    }
    LA_TRY(la_batch_codes(&b, 2));
    LA_TRY(la_copy_data(x, la_arg(f, 1)));
    job j = lu_job_of(&b);
    int64_t rows = la_sizes(x)[x->ndim - (vector ? 1 : 2)];
    int64_t cols = vector ? 1 : la_sizes(x)[x->ndim - 1];
    j.k = left ? cols : rows;
    j.right = !left;
    j.x = la_matrices_in(x, rows, cols);
    if (j.k > 0 || out_info) LA_TRY(lu_run(&j, b.a, &b.shape));
    else memset(b.info, 0, (size_t)b.count * 4);
    if (check) LA_TRY(la_check_info(b.info, b.count, LA_SINGULAR));
    if (out_info) memset(la_data(out_info), 0, (size_t)out_info->numel * 4);
    if (out_info && out_info->numel && b.count)
        LA_TRY(codes_back(b.codes, &b.shape, out_info));
    return la_batch_end(&b);
}
LA_FORWARD(la_impl_solve, la_impl_solve_ex(f))

/* ---- determinants ---- */

/* (A) -> one element of each */
LA_FORWARD(la_meta_det, la_meta_matrices(f, true, ""))

la_status la_impl_det(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    job j = lu_job_of(&b);
    j.s.det = la_data(b.out[0]);
    LA_TRY(lu_run(&j, b.a, &b.shape));
    return la_batch_end(&b);
}

/* (A) -> sign, log |det|, which is real */
LA_FORWARD(la_meta_slogdet, la_meta_matrices(f, true, ",'"))

/* slogdet by the diagonals of the factors, large or small. */
la_status la_impl_slogdet(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    job j = lu_job_of(&b);
    int64_t n = j.n, part = j.field.size >> la_is_complex(j.field.dtype);
    la_shape rows = la_with_matrix(&b.shape, n, -1);
    LA_LET(lu, la_matrices_copy(b.a, &b.shape, false, &lu));
    LA_LET(pivots, la_tensor_empty(rows.ndim, rows.sizes, LA_INT32, &pivots));
    j.f = la_matrices_in(lu, n, n);
    j.s.pivots = (int32_t *)la_data(pivots);
    LA_TRY(lu_run(&j, lu, &b.shape));
    for (int64_t i = 0; i < b.count; i++)
        j.field.ker->log_det(la_matrix_at(&j.field, &j.f, i).data, n + 1, n,
                             is_odd(j.s.pivots + i * n, n),
                             la_data(b.out[0]) + i * j.field.size,
                             la_data(b.out[1]) + i * part);
    return la_batch_end(&b);
}

/* ---- lu_solve, lu_permutation ---- */

typedef struct solution {
    la_field field;
    la_mats lu, x;
    la_mats pivots;           /* int32, n of each matrix */
    int64_t n, k;
    bool left, adjoint;
} solution;

/* LU X = B (with P), or its adjoint; from the right by transposes. */
static la_status solve_factored(void *context, int64_t i, char *scratch)
{
    const solution *s = context;
    const la_field *f = &s->field;
    la_gemm_mat a = la_matrix_at(f, &s->lu, i), x = la_matrix_at(f, &s->x, i);
    const int32_t *p = (const int32_t *)s->pivots.mat.data
        + i * s->pivots.step;
    int conj = s->adjoint ? LA_CONJ : 0;
    if (!s->left) x = la_mat_t(x);
    if (s->left != s->adjoint) {     /* A X = B or A^H from the right */
        la_exchange_rows(f, x, s->k, p, 0, s->n, false);
        LA_TRY(la_blocked_triangular(f, a, LA_UNIT | conj, x, s->n, s->k));
        return la_blocked_triangular(f, a, LA_UPPER | conj, x, s->n, s->k);
    }
    a = la_mat_t(a);
    LA_TRY(la_blocked_triangular(f, a, conj, x, s->n, s->k));
    LA_TRY(la_blocked_triangular(f, a, LA_UPPER | LA_UNIT | conj, x, s->n,
                                 s->k));
    la_exchange_rows(f, x, s->k, p, 0, s->n, true);
    return LA_OK;
}

/* LU, pivots and B in one batch; LA_ESHAPE, LA_EDTYPE. */
static la_status lu_solve_shape(la_frame *f, la_shape *batch)
{
    la_tensor *lu = la_arg(f, 0), *pivots = la_arg(f, 1);
    LA_TRY(la_solve_shape(f, 0, 2, la_arg_bool(f, 3), NULL, batch));
    if (pivots->dtype != LA_INT32)
        return la_error_at(LA_EDTYPE, 2, "int32 expected, got %s",
                           la_dtype_name((la_dtype)pivots->dtype));
    if (pivots->ndim == lu->ndim - 1
        && la_has_sizes(pivots, lu->ndim - 1, la_sizes(lu)))
        return LA_OK;
    return la_error_at(LA_ESHAPE, 2, "one pivot for each row of LU expected");
}

/* (LU, pivots, B, *, left, adjoint) -> X */
la_status la_meta_lu_solve(la_frame *f)
{
    la_shape batch;
    LA_TRY(lu_solve_shape(f, &batch));
    return la_solve_result(f, 2, &batch, false);
}

/* Pivots come from users: each must name a row at or below its own. */
static la_status lu_check_pivots(la_tensor *pivots, int64_t rows)
{
    int64_t n = la_sizes(pivots)[pivots->ndim - 1];
    LA_LET(copy,
           la_tensor_empty(pivots->ndim, la_sizes(pivots), LA_INT32, &copy));
    LA_TRY(la_copy_data(copy, pivots));
    const int32_t *p = (const int32_t *)la_data(copy);
    for (int64_t i = 0; i < copy->numel; i++)
        if (p[i] < i % n + 1 || p[i] > rows)
            return la_error_at(LA_EINDEX, 2, "pivot %lld, %d, is out of bounds "
                               "for rows %lld to %lld",
                               (long long)(i % n + 1), p[i],
                               (long long)(i % n + 1), (long long)rows);
    return LA_OK;
}

/* Solves from the left or right, for the matrix or its adjoint: the four cases
** of one pair of triangular solves. */
la_status la_impl_lu_solve(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    la_tensor *x = b.out[0], *own = la_arg(f, 1);
    LA_TRY(lu_solve_shape(f, &b.shape));
    LA_TRY(lu_check_pivots(own, b.n));
    LA_TRY(la_copy_data(x, la_arg(f, 2)));
    int64_t rows = la_sizes(x)[x->ndim - 2], cols = la_sizes(x)[x->ndim - 1];
    solution s = {.field = b.field, .n = b.n, .left = la_arg_bool(f, 3),
                  .adjoint = la_arg_bool(f, 4),
                  .x = la_matrices_in(x, rows, cols)};
    s.k = s.left ? cols : rows;
    LA_LET(keep, la_matrices_of(b.a, &b.shape, false, &keep, &s.lu));
    LA_LET(pivots, la_matrices_copy(own, &b.shape, true, &pivots));
    s.pivots = (la_mats){{la_data(pivots), 1, 1}, s.n};
    LA_TRY(la_each_matrix(la_shape_count(&b.shape),
                          (double)s.n * (double)s.n * (double)s.k, 0,
                          solve_factored, &s));
    return la_batch_end(&b);
}

/* (pivots, m, dtype) -> the permutation matrices P, m x m */
la_status la_meta_lu_permutation(la_frame *f)
{
    la_tensor *p = la_arg(f, 0);
    int64_t m = la_arg_int(f, 1);
    if (p->dtype != LA_INT32)
        return la_error_at(LA_EDTYPE, 2, "int32 expected, got %s",
                           la_dtype_name((la_dtype)p->dtype));
    if (p->ndim < 1 || la_sizes(p)[p->ndim - 1] > m)
        return la_error_at(LA_ESHAPE, 2, "at most one pivot for each row of "
                           "LU expected");
    la_shape batch = la_batch_shape(p, 1);
    return la_matrix_result(f, 0, &batch, m, m, f->args[2].dtype);
}

/* The identity with its rows exchanged in reverse order: P in A = P L U. */
la_status la_impl_lu_permutation(la_frame *f)
{
    la_tensor *p = la_arg(f, 0);
    int64_t m = la_arg_int(f, 1), n = la_sizes(p)[p->ndim - 1];
    la_field field = la_field_of(f->args[2].dtype);
    la_shape batch = la_batch_shape(p, 1);
    LA_TRY(lu_check_pivots(p, m));
    LA_LET(x, la_output_of(f, 0, &x));
    LA_LET(copy, la_matrices_copy(p, &batch, true, &copy));
    la_mats all = la_matrices_in(x, m, m);
    for (int64_t i = 0; i < la_shape_count(&batch); i++) {
        la_gemm_mat a = la_matrix_at(&field, &all, i);
        la_set_identity(&field, a, m, m);
        la_exchange_rows(&field, a, m, (int32_t *)la_data(copy) + i * n, 0, n,
                         true);
    }
    return la_output_end(f, 0, x);
}
