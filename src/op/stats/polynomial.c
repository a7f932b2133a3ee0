/* Polynomials: values, and fits by least squares, as NumPy's. */
#include "base/pool.h"
#include "op/stats/stats.h"
#include "tensor/promote.h"

#define LA_ROWS "op/def/stats.def"
#include "op/impls.h"

static la_status check_row(const la_tensor *t, int k)
{
    if (t->ndim == 1) return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "a tensor of one dimension is "
                       "expected, got %d dimensions", t->ndim);
}

/* ---- polyval(p, x) ---- */

/* Horner's scheme, one step for each coefficient. */
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
    LA_CHAIN box = {.n = 0};
    la_chain *w = &box;
    la_tensor *p = la_arg(f, 0), *x = la_arg(f, 1), *out = NULL;
    la_result_type type = LA_RESULT_TYPE_INIT;
    la_dtype d;
    LA_TRY(check_row(p, 0));
    la_result_type_add(&type, p);
    la_result_type_add(&type, x);
    LA_TRY(la_result_type_get(&type, &d));
    p = STEP(to_dtype, p, la_v_dtype(d));
    x = STEP(to_dtype, x, la_v_dtype(d));
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

/* The columns, powers of x times the weights, are scaled to length 1: the
** condition of the problem is then that of the points. */
la_status la_impl_polyfit(la_frame *f)
{
    LA_CHAIN box = {.n = 0};
    la_chain *w = &box;
    la_tensor *x = la_arg(f, 0), *y = la_arg(f, 1), *weights = la_arg(f, 3);
    int64_t first = 0;
    la_value rows = la_v_ints(&first, 1);
    la_dtype d;
    LA_TRY(check_points(f));
    LA_TRY(fit_dtype(f, &d));
    bool column = y->ndim == 1;
    x = STEP(to_dtype, x, la_v_dtype(d));
    y = STEP(to_dtype, y, la_v_dtype(d));
    if (column) y = STEP(unsqueeze, y, 1);
    la_tensor *powers = STEP(linalg_vander, x, la_arg_int(f, 2) + 1);
    powers = STEP(flip, powers, 1);
    if (weights) {
        weights = STEP(unsqueeze, STEP(to_dtype, weights, la_v_dtype(d)), 1);
        powers = STEP(mul, powers, weights);
        y = STEP(mul, y, weights);
    }
    la_tensor *length = STEP(vector_norm, powers, 2.0, rows);
    length = STEP(where, STEP(eq, length, 0), 1, length);
    powers = STEP(div, powers, length);
    la_tensor *out = STEP(lstsq, powers, y);
    out = STEP(div, out, STEP(unsqueeze, length, 1));
    if (column) out = STEP(squeeze, out, 1);
    return la_chain_end(w, f, out);
}
