/*
** Least squares: by QR for matrices of full rank, by LAPACK for others and
** where one of its drivers is asked for.
*/
#include "op/composite.h"
#include "op/linalg/lapack.h"
#include "op/move/copy.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* (A, B, rcond, driver): which of LAPACK's, or 'q' for QR alone, or 'a' for QR
** unless the rank is less than full. */
static la_status driver_of(const la_value *v, int arg, char *out)
{
    *out = v->tag == LA_VNONE ? 'a' : la_str_is(v, "gels") ? 'q'
         : la_str_is(v, "gelsy") ? 'y' : la_str_is(v, "gelsd") ? 'd'
         : la_str_is(v, "gelss") ? 's' : 0;
    if (*out) return LA_OK;
    return la_error_at(LA_EARG, arg, "'gels', 'gelsy', 'gelsd' or 'gelss' "
                       "expected");
}

la_status la_meta_lstsq_solve(la_frame *f)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    la_shape x, y, batch;
    char driver;
    int64_t none = 0;
    LA_TRY(la_check_matrix(f, 0));
    LA_TRY(la_check_matrix(f, 1));
    LA_TRY(driver_of(&f->args[3], 4, &driver));
    x = la_batch_shape(a, 2);
    y = la_batch_shape(b, 2);
    LA_TRY(la_shape_broadcast(&x, &y, &batch));
    const int64_t *own = la_sizes(a) + a->ndim - 2;
    la_dtype d = (la_dtype)a->dtype, real = la_dtype_to_real(d);
    LA_TRY(la_matrix_result(f, 0, &batch, own[1], la_sizes(b)[b->ndim - 1],
                            d));
    LA_TRY(la_set_output(f, 1, batch.ndim, batch.sizes, NULL, LA_INT64));
    if (driver != 'd' && driver != 's')
        return la_set_output(f, 2, 1, &none, NULL, real);
    return la_matrix_result(f, 2, &batch, la_min(own[0], own[1]), -1, real);
}

/* ---- by QR ---- */

/* The results of a call with two, as tensors of the chain. */
static void take_two(la_chain *w, const la_op *op, la_tensor *a,
                     la_tensor **x, la_tensor **y)
{
    la_value r[LA_MAX_RESULTS], args[] = {la_v_tensor(a)};
    if (w->status) return;
    w->status = la_do_many(op, r, 1, args);
    if (w->status) return;
    *x = la_chain_own(w, r[0].tensor);
    *y = la_chain_own(w, r[1].tensor);
}

/* With as many rows as columns: R^-1 Q^H B. Else the solution of least norm,
** Q R^-H B for the factors of A^H. *r: the triangular factor. */
static la_tensor *solution_of(la_chain *w, la_tensor *a, la_tensor *b,
                              bool tall, la_tensor **r)
{
    la_tensor *q = NULL;
    if (!tall) a = R(mH, a);
    take_two(w, LA_OP(qr), a, &q, r);
    if (tall)
        return R(solve_triangular, *r, R(matmul, R(mH, q), b), true);
    return R(matmul, q, R(solve_triangular, R(mH, *r), b, false));
}

/* Which diagonal elements of R, one at least, are up to the tolerance. A column
** that depends on those before it has such an element. */
static la_tensor *small_ones(la_chain *w, la_tensor *r, double rcond)
{
    int64_t last = -1;
    la_tensor *d = R(abs, R(diagonal, r, 0, -2, -1));
    la_tensor *most = R(amax, d, la_v_ints(&last, 1), true);
    return R(le, d, R(mul, most, rcond));
}

/* *full: has every matrix full rank? */
static la_status by_qr(la_frame *f, bool *full)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0), *r = NULL;
    const int64_t *own = la_sizes(a) + a->ndim - 2;
    int64_t last = -1;
    la_tensor *x = solution_of(w, a, la_arg(f, 1), own[0] >= own[1], &r);
    la_tensor *small = small_ones(w, r, la_arg_float(f, 2));
    la_tensor *some = R(sum, small);
    la_tensor *rank = R(sum, R(logical_not, small), la_v_ints(&last, 1));
    LA_TRY(w->status);
    *full = la_scalar_load(LA_INT64, la_data(some)).i == 0;
    LA_TRY(la_copy_data(la_result(f, 0), x));
    return la_copy_data(la_result(f, 1), rank);
}

/* ---- by LAPACK ---- */

typedef struct job {
    la_lapack_plan plan;
    double rcond;
    char *a, *b, *values;     /* values NULL: none */
    int64_t *rank;
    int32_t *info;
} job;

static la_status solve_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_lapack_plan *p = &j->plan;
    int64_t size = p->f.size, real = la_real_size(&p->f);
    char *a = j->a + i * p->m * p->n * size;
    char *b = j->b + i * la_max(p->m, p->n) * p->k * size;
    char *values = NULL;
    if (j->values) values = j->values + i * la_min(p->m, p->n) * real;
    j->info[i] = -1;
    if (la_all_finite(&p->f, a, p->m, p->n, LA_FULL_PART))
        j->info[i] = la_lapack_lstsq(p, a, b, j->rcond, values, &j->rank[i],
                                     scratch);
    return LA_OK;
}

/* The first 'rows' elements of each column of 't' (k columns of each matrix, in
** memory one after the other), as a matrix of 'rows' x k. */
static la_status first_rows(la_tensor *t, int64_t rows, la_tensor **out)
{
    la_geometry g;
    la_geometry_of(t, &g);
    g.sizes[g.ndim - 1] = rows;
    la_geo_exchange(&g, g.ndim - 2, g.ndim - 1);
    return la_view_make(t, &g, out);
}

/* Columns of A and of B in memory of their own. */
static la_status columns_of(la_frame *f, const la_shape *batch, job *j,
                            la_tensor **copy, la_tensor **sides)
{
    int64_t m = j->plan.m, most = la_max(m, j->plan.n);
    la_shape s = la_with_matrix(batch, j->plan.k, most);
    LA_LET(flipped, la_transposed(la_arg(f, 0), &flipped));
    LA_TRY(la_matrices_copy(flipped, batch, false, copy));
    LA_TRY(la_tensor_empty(s.ndim, s.sizes, j->plan.f.dtype, sides));
    LA_LET(top, first_rows(*sides, m, &top));
    j->a = la_data(*copy);
    j->b = la_data(*sides);
    return la_copy_data(top, la_arg(f, 1));
}

static la_status by_lapack(la_frame *f, char driver)
{
    LA_OWNED sides = NULL;
    LA_OPEN_BATCH(b, f);
    la_tensor *x = b.out[0];
    b.shape = la_batch_shape(x, 2);
    b.count = la_shape_count(&b.shape);
    job j = {.rcond = la_arg_float(f, 2)};
    LA_TRY(la_plan_lstsq(&j.plan, &b.field, b.m, b.n,
                         la_sizes(x)[x->ndim - 1], driver));
    LA_LET(copy, columns_of(f, &b.shape, &j, &copy, &sides));
    LA_TRY(la_batch_codes(&b, 3));
    j.rank = (int64_t *)(void *)la_data(b.out[1]);
    j.info = b.info;
    if (driver != 'y') j.values = la_data(b.out[2]);
    la_lapack_work w = {solve_one, &j, sizeof j,
                        {copy, sides, b.out[1], b.out[2], b.codes}};
    double work = 10.0 * (double)b.m * (double)b.n
        * ((double)b.k + (double)j.plan.k);
    LA_TRY(la_lapack_run(&j.plan, b.count, work, &w));
    LA_TRY(la_check_finite(b.info, b.count));
    LA_LET(top, first_rows(sides, b.n, &top));
    LA_TRY(la_copy_data(x, top));
    return la_batch_end(&b);
}

la_status la_impl_lstsq_solve(la_frame *f)
{
    la_scalar zero = la_scalar_int(0);
    char driver;
    bool full;
    LA_TRY(driver_of(&f->args[3], 4, &driver));
    if (la_arg(f, 0)->numel == 0 || la_result(f, 0)->numel == 0) {
        for (int k = 0; k < 3; k++)
            LA_TRY(la_fill_data(la_result(f, k), &zero));
        return LA_OK;
    }
    if (driver == 'a' || driver == 'q') {
        LA_TRY(by_qr(f, &full));
        if (full || driver == 'q') return LA_OK;
        driver = 'y';
    }
    return by_lapack(f, driver);
}

/* ---- lstsq ---- */

/* B fits A: *vector, is it a batch of vectors? */
static la_status check_sides(const la_frame *f, bool *vector)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    LA_TRY(la_check_matrix(f, 0));
    LA_TRY(la_check_one_dtype(f, 0, 1));
    int64_t m = la_sizes(a)[a->ndim - 2];
    *vector = la_is_vector(a, b);
    if (b->ndim >= 1 && la_sizes(b)[b->ndim - (*vector ? 1 : 2)] == m)
        return LA_OK;
    return la_error_at(LA_ESHAPE, 2, "%lld rows expected", (long long)m);
}

/* The sums of squares of A X - B where there are more rows than columns; else
** none. */
static la_tensor *residuals(la_chain *w, la_tensor *a, la_tensor *b,
                            la_tensor *x)
{
    int64_t rows = -2, none = 0;
    if (w->status) return NULL;
    const int64_t *own = la_sizes(a) + a->ndim - 2;
    if (own[0] > own[1]) {
        la_tensor *rest = R(abs, R(sub, R(matmul, a, x), b));
        return R(sum, R(square, rest), la_v_ints(&rows, 1));
    }
    return R(new_empty, a, la_v_ints(&none, 1),
             la_v_dtype(la_dtype_to_real((la_dtype)a->dtype)));
}

/* (A, B, rcond, driver): solution, residuals, rank, singular values */
la_status la_impl_lstsq(la_frame *f)
{
    LA_CHAIN(w);
    la_value r[LA_MAX_RESULTS];
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    bool vector;
    char driver;
    LA_TRY(check_sides(f, &vector));
    LA_TRY(driver_of(&f->args[3], 4, &driver));
    const int64_t *own = la_sizes(a) + a->ndim - 2;
    bool single = la_dtype_to_real((la_dtype)a->dtype) == LA_FLOAT32;
    double rcond = (single ? 0x1p-23 : 0x1p-52)
        * (double)la_max(own[0], own[1]);
    if (la_has(f, 2)) rcond = la_arg_float(f, 2);
    if (vector) b = R(unsqueeze, b, -1);
    LA_TRY(w->status);
    /* The rank and the singular values of A need a column to solve for. */
    bool none = la_sizes(b)[b->ndim - 1] == 0;
    int64_t more[2] = {0, 1};
    la_tensor *sides = none ? R(constant_pad_nd, b, la_v_ints(more, 2)) : b;
    LA_TRY(w->status);
    LA_TRY(la_run_many(lstsq_solve, r, a, sides, la_v_float(rcond),
                       f->args[3]));
    la_tensor *x = la_chain_own(w, r[0].tensor);
    if (none) x = R(narrow, x, -1, la_v_int(0), 0);
    la_tensor *rank = la_chain_own(w, r[1].tensor);
    la_tensor *values = la_chain_own(w, r[2].tensor);
    la_tensor *rest = residuals(w, a, b, x);
    values = R(detach, values);
    if (w->status) return w->status;
    if (vector && own[0] > own[1]) rest = R(squeeze, rest, -1);
    if (vector) x = R(squeeze, x, -1);
    LA_TRY(w->status);
    la_set_result(f, 0, la_tensor_retain(x));
    la_set_result(f, 1, la_tensor_retain(rest));
    la_set_result(f, 2, la_tensor_retain(rank));
    la_set_result(f, 3, la_tensor_retain(values));
    return LA_OK;
}
