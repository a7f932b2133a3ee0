/*
** Norms of vectors and matrices, condition numbers, distances. Norms that need
** singular values (2, -2, "nuc") are refused.
*/
#include <math.h>

#include "op/composite.h"
#include "op/linalg/linalg.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/impls.h"

/* Which matrix norm: of orders 1 and inf (or their negatives) the extreme of
** the sums along a dim. */
typedef struct order {
    bool frobenius, rows, least;
} order;

static la_status singular_values(int arg)
{
    return la_error_at(LA_EARG, arg, "the orders 2, -2 and 'nuc' need singular "
                       "values, which are not available: 'fro', 1, -1, inf or "
                       "-inf expected");
}

static la_status order_of(const la_value *v, int arg, order *out)
{
    double p = v->tag == LA_VSCALAR ? v->scalar.re : 0;
    *out = (order){.least = p < 0, .rows = isinf(p)};
    if (v->tag == LA_VSTR) {
        out->frobenius = la_str_is(v, "fro");
        if (out->frobenius) return LA_OK;
        if (la_str_is(v, "nuc")) return singular_values(arg);
    } else if (isinf(p) || p == 1 || p == -1) return LA_OK;
    else if (p == 2 || p == -2) return singular_values(arg);
    return la_error_at(LA_EARG, arg, "unknown order of a matrix norm: 'fro', "
                       "1, -1, inf or -inf expected");
}

/* The norm over two different dims. */
static la_status matrix_norm(la_tensor *a, const la_value *ord, int arg,
                             const int64_t *dims, bool keep, la_tensor **out)
{
    LA_CHAIN box = {.n = 0};
    la_chain *w = &box;
    order o;
    LA_TRY(order_of(ord, arg, &o));
    int row, col;
    LA_TRY(la_wrap_dim(dims[0], a->ndim, &row));
    LA_TRY(la_wrap_dim(dims[1], a->ndim, &col));
    if (row == col)
        return la_error_at(LA_EARG, arg + 1, "two different dims expected");
    la_tensor *t = a;
    if (o.frobenius) {
        t = STEP(vector_norm, t, la_v_float(2), la_v_ints(dims, 2), keep);
    } else {
        int64_t along = o.rows ? col : row, other = o.rows ? row : col;
        t = STEP(sum, STEP(abs, t), la_v_ints(&along, 1), true);
        if (!o.least && la_sizes(a)[other] == 0)   /* no sums: the norm is 0 */
            t = STEP(sum, t, la_v_ints(&other, 1), true);
        else t = o.least ? STEP(amin, t, la_v_ints(&other, 1), true)
                    : STEP(amax, t, la_v_ints(&other, 1), true);
        if (!keep)
            t = STEP(squeeze, t, la_v_ints(((int64_t[]){row, col}), 2));
    }
    LA_TRY(w->status);
    *out = la_tensor_retain(t);
    return LA_OK;
}

/* dtype= converts first. */
static la_status converted(la_tensor *a, const la_value *dtype,
                           la_tensor **out)
{
    if (dtype->tag == LA_VDTYPE)
        return la_run(to_dtype, out, a, la_v_dtype(dtype->dtype));
    *out = la_tensor_retain(a);
    return LA_OK;
}

static la_status check_inexact(const la_tensor *a)
{
    if (la_is_float((la_dtype)a->dtype) || la_is_complex((la_dtype)a->dtype))
        return LA_OK;
    return la_error_at(LA_EDTYPE, 1, "a floating point or complex tensor "
                       "expected, got %s", la_dtype_name((la_dtype)a->dtype));
}

/* (A, ord, dim, keepdim, dtype) */
la_status la_impl_matrix_norm(la_frame *f)
{
    la_tensor *out = NULL;
    LA_OWNED a = NULL;
    LA_TRY(converted(la_arg(f, 0), &f->args[4], &a));
    LA_TRY(check_inexact(a));
    LA_TRY(la_check_dims(a, 0));
    if (f->args[2].ints.n != 2)
        return la_error_at(LA_EARG, 3, "two dims expected");
    return la_give(f, matrix_norm(a, &f->args[1], 2, f->args[2].ints.list,
                                  la_arg_bool(f, 3), &out), &out);
}

la_status la_impl_matrix_norm_word(la_frame *f)
{
    return la_impl_matrix_norm(f);
}

/* (A, ord, dim, keepdim, dtype): of one dim the vector norm, of two the matrix
** norm; without an order the 2-norm of all. */
la_status la_impl_linalg_norm(la_frame *f)
{
    la_tensor *out = NULL;
    LA_OWNED a = NULL;
    const la_value *ord = &f->args[1], *dim = &f->args[2];
    bool keep = la_arg_bool(f, 3), all = !la_has(f, 2);
    int64_t own[2] = {-2, -1};
    LA_TRY(converted(la_arg(f, 0), &f->args[4], &a));
    LA_TRY(check_inexact(a));
    int64_t n = all ? a->ndim : dim->ints.n;
    if (!la_has(f, 1))
        return la_run_result(f, vector_norm, a, la_v_float(2), *dim, keep);
    if (n == 1 && ord->tag == LA_VSCALAR)
        return la_run_result(f, vector_norm, a, la_v_float(ord->scalar.re),
                             *dim, keep);
    if (n != 2)
        return la_error_at(LA_EARG, 3, "an order needs one dim or two, got "
                           "%lld", (long long)n);
    return la_give(f, matrix_norm(a, ord, 2, all ? own : dim->ints.list, keep,
                                  &out), &out);
}

la_status la_impl_linalg_norm_word(la_frame *f)
{
    return la_impl_linalg_norm(f);
}

/* (A, p): |A| |A^-1|, infinite for singular matrices. */
la_status la_impl_cond(la_frame *f)
{
    LA_CHAIN box = {.n = 0};
    la_chain *w = &box;
    la_value r[LA_MAX_RESULTS];
    int64_t dims[2] = {-2, -1};
    la_tensor *a = la_arg(f, 0);
    LA_OWNED norm = NULL;
    LA_OWNED other = NULL;
    if (!la_has(f, 1)) return singular_values(2);
    LA_TRY(la_check_square(f, 0));
    LA_TRY(matrix_norm(a, &f->args[1], 2, dims, false, &norm));
    LA_TRY(la_run_many(inv_ex, r, a));
    LA_OWNED inverse = r[0].tensor;
    LA_OWNED info = r[1].tensor;
    LA_TRY(matrix_norm(inverse, &f->args[1], 2, dims, false, &other));
    la_tensor *c = STEP(mul, norm, other);
    la_tensor *singular = STEP(ne, info, 0);
    return la_chain_end(w, f, STEP(where, singular, (double)INFINITY, c));
}

la_status la_impl_cond_word(la_frame *f) { return la_impl_cond(f); }

/* ---- distances ---- */

/* (x1, x2, p): between all rows of x1 and all rows of x2. */
la_status la_impl_cdist(la_frame *f)
{
    LA_CHAIN box = {.n = 0};
    la_chain *w = &box;
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    int64_t last = -1;
    LA_TRY(la_check_dims(a, 0));
    LA_TRY(la_check_dims(b, 1));
    if (la_sizes(a)[a->ndim - 1] != la_sizes(b)[b->ndim - 1])
        return la_error_at(LA_ESHAPE, 2, "%lld columns expected, got %lld",
                           (long long)la_sizes(a)[a->ndim - 1],
                           (long long)la_sizes(b)[b->ndim - 1]);
    if (!(la_arg_float(f, 2) >= 0))
        return la_error_at(LA_EARG, 3, "no negative order expected");
    la_tensor *d = STEP(sub, STEP(unsqueeze, a, -2), STEP(unsqueeze, b, -3));
    return la_chain_end(w, f, STEP(vector_norm, d, f->args[2],
                                   la_v_ints(&last, 1)));
}

/* (self, p): between all pairs of rows i < j, in order of i. */
la_status la_impl_pdist(la_frame *f)
{
    LA_CHAIN box = {.n = 0};
    la_chain *w = &box;
    la_tensor *a = la_arg(f, 0);
    int64_t last = -1;
    if (a->ndim != 2)
        return la_error_at(LA_ESHAPE, 1, "a matrix expected, got %d-D",
                           a->ndim);
    if (!(la_arg_float(f, 1) >= 0))
        return la_error_at(LA_EARG, 2, "no negative order expected");
    int64_t n = la_sizes(a)[0];
    la_tensor *pairs = STEP(triu_indices, n, n, 1);
    la_tensor *i = STEP(select, pairs, 0, (int64_t)0);
    la_tensor *j = STEP(select, pairs, 0, (int64_t)1);
    la_tensor *d = STEP(sub, STEP(index_select, a, 0, i),
                        STEP(index_select, a, 0, j));
    return la_chain_end(w, f, STEP(vector_norm, d, f->args[1],
                                   la_v_ints(&last, 1)));
}
