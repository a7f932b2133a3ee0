/*
** Least squares: by QR for matrices of full rank, by singular values for others
** and where a driver that gives them is asked for.
*/
#include "op/composite.h"
#include "op/linalg/linalg.h"
#include "op/move/copy.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* (A, B, rcond, driver): which of LAPACK's names, or 'q' for QR alone, or 'a'
** for QR unless the rank is less than full. */
static la_status driver_of(const la_value *v, int arg, char *out)
{
    *out = v->tag == LA_VNONE ? 'a' : la_str_is(v, "gels") ? 'q'
         : la_str_is(v, "gelsy") ? 'y' : la_str_is(v, "gelsd") ? 'd'
         : la_str_is(v, "gelss") ? 's' : 0;
    if (*out) return LA_OK;
    return la_error_at(LA_EARG, arg, "'gels', 'gelsy', 'gelsd' or 'gelss' "
                       "expected");
}

/* Singular values are a result of the drivers by singular values alone; others
** leave an empty tensor there, as PyTorch does. */
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

/* Which diagonal elements of R, one at least, are NaN or up to the tolerance. A
** column that depends on those before it has such an element. */
static la_tensor *small_ones(la_chain *w, la_tensor *r, double rcond)
{
    int64_t last = -1;
    la_tensor *d = R(abs, R(diagonal, r, 0, -2, -1));
    la_tensor *most = R(amax, d, la_v_ints(&last, 1), true);
    return R(logical_not, R(gt, d, R(mul, most, rcond)));
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

/* ---- by singular values ---- */

/* V S^-1 U^H B, where values up to the tolerance count as infinite. */
static la_status by_values(la_frame *f, bool values)
{
    LA_CHAIN(w);
    la_value r[LA_MAX_RESULTS];
    la_value args[] = {la_v_tensor(la_arg(f, 0)), la_v_bool(false)};
    int64_t last = -1;
    LA_TRY(la_do_many(LA_OP(linalg_svd), r, 2, args));
    la_tensor *u = la_chain_own(w, r[0].tensor);
    la_tensor *s = la_chain_own(w, r[1].tensor);
    la_tensor *v = R(mH, la_chain_own(w, r[2].tensor));
    la_tensor *most = R(amax, s, la_v_ints(&last, 1), true);
    la_tensor *none = R(le, s, R(mul, most, la_arg_float(f, 2)));
    la_tensor *inverse = R(masked_fill, R(reciprocal, s), none, 0);
    la_tensor *y = R(matmul, R(mH, u), la_arg(f, 1));
    la_tensor *x = R(matmul, v, R(mul, R(unsqueeze, inverse, -1), y));
    la_tensor *rank = R(sum, R(logical_not, none), la_v_ints(&last, 1));
    LA_TRY(w->status);
    LA_TRY(la_copy_data(la_result(f, 0), x));
    LA_TRY(la_copy_data(la_result(f, 1), rank));
    return values ? la_copy_data(la_result(f, 2), s) : LA_OK;
}

/* The driver 'a' (chosen here) tries QR first and takes singular values where
** the rank is not full: then only these find the shortest solution. */
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
    }
    return by_values(f, driver == 'd' || driver == 's');
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
