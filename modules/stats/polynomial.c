/* Polynomials: values, and fits by least squares, as NumPy's. */
#include "base/runtime/thread_pool.h"
#include "modules/stats/stats.h"
#include "op/scalar_range.h"
#include "tensor/promote.h"

#define LA_ROWS "modules/stats/ops.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"

static la_status check_row(const la_tensor *t, int k)
{
    if (t->ndim == 1) return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "a tensor of one dimension is "
                       "expected, got %d dimensions", t->ndim);
}

/* ---- polyval(p, x) ---- */

/* Horner's scheme, one step for each coefficient. */
/* Highest power first, as NumPy's lists are. Every step is recorded, so
** polyval has gradients for the coefficients as well as for x. */
static la_status horner(la_tensor *p, la_tensor *x, la_tensor **out)
{
    LA_TRY(la_run(zeros_like, out, x));
    for (int64_t k = 0; k < p->numel; k++) {
        LA_OWNED factor = NULL;
        LA_OWNED rise = *out;
        *out = NULL;
        LA_TRY(la_poll());
        LA_TRY(la_run(select, &factor, p, 0, k));
        LA_OWNED scaled = NULL;
        LA_TRY(la_run(mul, &scaled, rise, x));
        LA_TRY(la_run(add, out, scaled, factor));
    }
    return LA_OK;
}

/* Both are brought to one dtype first: a coefficient alone, of no dim, would
** not widen x. */
la_status la_impl_polyval(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *p = la_arg(f, 0), *x = la_arg(f, 1), *out = NULL;
    la_result_type type = LA_RESULT_TYPE_INIT;
    la_dtype d;
    LA_TRY(check_row(p, 0));
    la_result_type_add(&type, p);
    la_result_type_add(&type, x);
    LA_TRY(la_result_type_get(&type, &d));
    LA_TRY(la_wrapped_fits(x, d, 2));
    p = R(to_dtype, p, la_v_dtype(d));
    x = R(to_dtype, x, la_v_dtype(d));
    if (w->status) return w->status;
    la_status status = horner(p, x, &out);
    if (status) la_tensor_drop(&out);
    return la_give(f, status, &out);
}

/* ---- polyfit(x, y, degree, w) ---- */

/* LA_ESHAPE or LA_EARG for arguments that are no points. */
static la_status check_points(const la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *y = la_arg(f, 1), *weights = la_arg(f, 3);
    LA_TRY(check_row(x, 0));
    if (y->ndim != 1 && y->ndim != 2)
        return la_error_at(LA_ESHAPE, 2, "expected 1D or 2D array for y, got "
                           "%d dimensions", y->ndim);
    if (x->numel == 0)
        return la_error_at(LA_ESHAPE, 1, "expected non-empty vector for x");
    if (la_sizes(y)[0] != x->numel)
        return la_error_at(LA_ESHAPE, 2, "%lld values for %lld points",
                           (long long)la_sizes(y)[0], (long long)x->numel);
    if (la_arg_int(f, 2) < 0)
        return la_error_at(LA_EARG, 3, "expected degree >= 0, got %lld",
                           (long long)la_arg_int(f, 2));
    if (la_arg_int(f, 2) >= LA_MAX_NUMEL)
        return la_error_at(LA_EARG, 3, "the degree is too large");
    if (weights && (weights->ndim != 1 || weights->numel != x->numel))
        return la_error_at(LA_ESHAPE, 4, "expected a 1-d array of %lld "
                           "weights", (long long)x->numel);
    return LA_OK;
}

/* That of all floats together; float64 as soon as one is of integers. */
static la_status fit_dtype(const la_frame *f, la_dtype *out)
{
    static const int which[] = {0, 1, 3};
    la_result_type type = LA_RESULT_TYPE_INIT;
    for (int k = 0; k < 3; k++) {
        la_tensor *t = la_arg(f, which[k]);
        if (!t) continue;
        la_result_type_add(&type, t);
        if (!la_has_nan(t)) la_result_type_add_dtype(&type, LA_FLOAT64);
    }
    return la_result_type_get(&type, out);
}

/* The problem A c = y of the fit: the columns of A, powers of x times the
** weights, are scaled to length 1, so that the condition is that of the points.
** *length: what they were, and what the solution is divided by. */
static void fit_problem(la_chain *w, la_frame *f, la_dtype d, la_tensor **a,
                        la_tensor **y, la_tensor **length)
{
    la_tensor *weights = la_arg(f, 3), *powers;
    int64_t first = 0;
    *y = R(to_dtype, la_arg(f, 1), la_v_dtype(d));
    if (la_arg(f, 1)->ndim == 1) *y = R(unsqueeze, *y, 1);
    powers = R(linalg_vander, R(to_dtype, la_arg(f, 0), la_v_dtype(d)),
               la_arg_int(f, 2) + 1);
    powers = R(flip, powers, 1);
    if (weights) {
        weights = R(unsqueeze, R(to_dtype, weights, la_v_dtype(d)), 1);
        powers = R(mul, powers, weights);
        *y = R(mul, *y, weights);
    }
    *length = R(vector_norm, powers, 2.0, la_v_ints(&first, 1));
    *length = R(where, R(eq, *length, 0), 1, *length);
    *a = R(div, powers, *length);
}

/* Singular values up to this part of the largest count as zero, as NumPy's. */
static double fit_rcond(const la_frame *f, la_dtype d)
{
    bool narrow = la_dtype_to_real(d) == LA_FLOAT32;
    return (double)la_arg(f, 0)->numel * (narrow ? 0x1p-23 : 0x1p-52);
}

/* Result 0 from the solution, a column for each of y. */
static la_status fit_result(la_chain *w, la_frame *f, la_tensor *solution,
                            la_tensor *length)
{
    la_tensor *out = R(div, solution, R(unsqueeze, length, 1));
    if (la_arg(f, 1)->ndim == 1) out = R(squeeze, out, 1);
    return la_chain_end(w, f, out);
}

/* Least squares by singular values (lstsq), not by normal equations, whose
** condition is the square: fits of high degree keep their digits. */
la_status la_impl_polyfit(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a, *y, *length;
    la_dtype d;
    LA_TRY(check_points(f));
    LA_TRY(fit_dtype(f, &d));
    fit_problem(w, f, d, &a, &y, &length);
    return fit_result(w, f, R(lstsq, a, y, la_v_float(fit_rcond(f, d))),
                      length);
}

/* With the residuals, the rank and the singular values of the scaled problem;
** full=false: without. */
la_status la_impl_polyfit_full(la_frame *f)
{
    if (!la_arg_bool(f, 4)) return la_impl_polyfit(f);
    LA_CHAIN(w);
    la_tensor *a, *y, *length;
    la_value parts[LA_MAX_RESULTS];
    la_dtype d;
    LA_TRY(check_points(f));
    LA_TRY(fit_dtype(f, &d));
    fit_problem(w, f, d, &a, &y, &length);
    if (w->status) return w->status;
    LA_TRY(la_run_many(lstsq, parts, a, y, la_v_float(fit_rcond(f, d)),
                       la_v_string("gelsd")));
    for (int k = 1; k < 4; k++) la_set_result(f, k, parts[k].tensor);
    la_status status = fit_result(w, f, parts[0].tensor, length);
    la_tensor_release(parts[0].tensor);
    return status;
}

/* ---- roots(p) ---- */

/* The first and the last coefficient that is not 0; false where there is
** none. */
static la_status ends_of(la_tensor *p, int64_t *first, int64_t *last)
{
    LA_CHAIN(w);
    la_scalar s[2];
    la_tensor *at = R(nonzero, R(detach, p));
    *first = *last = -1;
    if (w->status || at->numel == 0) return w->status;
    la_tensor *low = R(min, at), *high = R(max, at);
    if (w->status) return w->status;
    if (!la_tensor_to_scalar(low, &s[0]) || !la_tensor_to_scalar(high, &s[1]))
        return LA_EARG;
    *first = s[0].i - 1;
    *last = s[1].i - 1;
    return LA_OK;
}

/* The eigenvalues of the companion matrix; a trailing coefficient of 0 is a
** root of 0. */
la_status la_impl_roots(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *p = la_arg(f, 0);
    int64_t first, last, none = p->numel;
    LA_TRY(check_row(p, 0));
    la_dtype d = la_has_nan(p) ? (la_dtype)p->dtype : LA_FLOAT64;
    if (la_is_half(d)) d = LA_FLOAT32;
    p = R(to_dtype, p, la_v_dtype(d));
    if (w->status) return w->status;
    LA_TRY(ends_of(p, &first, &last));
    int64_t degree = last - first, zeros = first < 0 ? 0 : none - 1 - last;
    la_value to = la_v_dtype(la_dtype_to_complex(d));
    la_tensor *rest = R(zeros, la_v_ints(&zeros, 1), to);
    if (degree == 0) return la_chain_end(w, f, rest);
    la_tensor *top =
        R(div, R(narrow, p, 0, first + 1, degree), R(select, p, 0, first));
    la_tensor *rows[] = {R(unsqueeze, R(neg, top), 0),
        R(eye, degree - 1, degree, 0, la_v_dtype(d))};
    if (w->status) return w->status;
    la_tensor *values = R(eigvals, R(cat, la_v_tensors(rows, 2)));
    la_tensor *all[] = {values, rest};
    if (w->status) return w->status;
    return la_chain_end(w, f, R(cat, la_v_tensors(all, 2)));
}
