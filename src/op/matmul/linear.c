/*
** linear(x, weight, bias) = x @ weight^T + bias and bilinear(x, y, weight,
** bias): composites over matmul and addmm, with a direct call of the matrix
** product for plain tensors.
*/
#include "op/composite.h"
#include "op/matmul/matmul.h"
#include "op/view/view.h"

#define LA_ROWS "op/def/matmul.def"
#include "op/call.h"
#include "op/impls.h"

/* x of more than two dims as one matrix, so that bias and product are one
** addmm. */
static la_status linear_flat(la_tensor *x, la_tensor *w, la_tensor *bias,
                             la_tensor **out)
{
    int n = x->ndim;
    int64_t sizes[LA_MAX_DIMS], flat[2] = {1, la_sizes(x)[n - 1]};
    for (int d = 0; d < n - 1; d++) flat[0] *= sizes[d] = la_sizes(x)[d];
    sizes[n - 1] = la_sizes(w)[1];
    LA_LET(rows, la_reshape_to(x, 2, flat, &rows));
    LA_LET(product, la_run(addmm, &product, bias, rows, w));
    return la_view_to(product, n, sizes, out);
}

/* The general way, through the dispatcher: shapes and dtypes are checked by the
** operations called. */
static la_status linear(la_tensor *x, la_tensor *w, la_tensor *bias,
                        la_tensor **out)
{
    if (w->ndim > 2)
        return la_error_at(LA_ESHAPE, 2, "weight must have 1 or 2 dims, got "
                           "%d", w->ndim);
    LA_LET(transposed, la_run(t, &transposed, w));
    bool fused = bias && w->ndim == 2 && bias->ndim == 1;
    if (fused && x->ndim == 2)
        return la_run(addmm, out, bias, x, transposed);
    if (fused && x->ndim > 2) return linear_flat(x, transposed, bias, out);
    if (!bias) return la_matmul(x, transposed, out);
    LA_LET(product, la_matmul(x, transposed, &product));
    LA_TRY(la_check_fits(bias, 3, "a bias", product));
    return la_run(add, out, product, bias);
}

/* All rows of plain tensors as one product, the weight read transposed by its
** strides and the bias added as results are stored. Anything unusual, errors
** included, takes the general way. */
static bool is_plain_linear(const la_frame *f, const la_tensor *x,
                            const la_tensor *w, const la_tensor *bias)
{
    if (!la_is_plain_call(f) || !la_is_plain(x) || !la_is_plain(w))
        return false;
    if (x->ndim < 2 || w->ndim != 2 || x->dtype != w->dtype
        || la_sizes(x)[x->ndim - 1] != la_sizes(w)[1])
        return false;
    if (x->dtype == LA_BOOL || x->dtype == LA_COMPLEX32) return false;
    if (x->ndim > 2 && !la_is_contiguous(x)) return false;
    return !bias || (la_is_plain(bias) && bias->ndim == 1
                     && bias->dtype == x->dtype
                     && la_sizes(bias)[0] == la_sizes(w)[0]);
}

/* The product described to la_gemm_run; the operands were checked above. */
static la_status plain_linear(la_frame *f, const la_tensor *x,
                              const la_tensor *w, const la_tensor *bias)
{
    int64_t sizes[LA_MAX_DIMS];
    int n = x->ndim;
    la_gemm g;
    memcpy(sizes, la_sizes(x), (size_t)n * sizeof *sizes);
    sizes[n - 1] = la_sizes(w)[0];
    LA_TRY(la_set_output(f, 0, n, sizes, NULL, (la_dtype)x->dtype));
    la_gemm_init(&g, (la_dtype)x->dtype);
    g.m = 1;
    for (int d = 0; d < n - 1; d++) g.m *= sizes[d];
    g.k = la_sizes(w)[1];
    g.n = sizes[n - 1];
    /* With more dims x is contiguous, but the stride of a dim of size 1 may be
    ** anything. */
    int64_t down = n > 2 ? g.k : la_strides(x)[0];
    int64_t along = n > 2 ? 1 : la_strides(x)[1];
    g.a = (la_gemm_mat){la_data(x), down, along};
    g.b = (la_gemm_mat){la_data(w), la_strides(w)[1], la_strides(w)[0]};
    g.out = (la_gemm_mat){la_data(la_result(f, 0)), g.n, 1};
    g.beta = g.alpha;  /* one */
    if (bias) g.add = (la_gemm_mat){la_data(bias), 0, la_strides(bias)[0]};
    return la_gemm_run(&g);
}

/* x [*, in], weight [out, in] or [in], bias [out] or nil -> [*, out] or [*]. */
la_status la_impl_linear(la_frame *f)
{
    la_tensor *out;
    if (is_plain_linear(f, la_arg(f, 0), la_arg(f, 1), la_arg(f, 2)))
        return plain_linear(f, la_arg(f, 0), la_arg(f, 1), la_arg(f, 2));
    return la_give(f, linear(la_arg(f, 0), la_arg(f, 1), la_arg(f, 2), &out),
                &out);
}

/* LA_ESHAPE with the input's number and both sizes. */
static la_status check_bilinear(const la_tensor *x, const la_tensor *y,
                                const la_tensor *w)
{
    if (w->ndim != 3 || x->ndim < 1 || x->ndim != y->ndim)
        return la_error(LA_ESHAPE, "bilinear(): input dimensions do not match: "
                        "got %d and %d, and a weight of %d dims", x->ndim,
                        y->ndim, w->ndim);
    for (int d = 0; d < x->ndim - 1; d++)
        if (la_sizes(x)[d] != la_sizes(y)[d])
            return la_error(LA_ESHAPE, "bilinear(): input batch dimensions do "
                            "not match at dim %d: got %lld and %lld", d + 1,
                            (long long)la_sizes(x)[d],
                            (long long)la_sizes(y)[d]);
    for (int k = 1; k <= 2; k++) {
        int64_t have = la_sizes(k == 1 ? x : y)[x->ndim - 1];
        if (have != la_sizes(w)[k])
            return la_error(LA_ESHAPE,
                            "bilinear(): input%d size does not match "
                            "weight size: got %lld but expected %lld",
                            k, (long long)have, (long long)la_sizes(w)[k]);
    }
    return LA_OK;
}

/* x W_k for all k at once, then a batch of dot products with y. */
static la_status bilinear(la_tensor *x, la_tensor *y, la_tensor *w,
                          la_tensor **out)
{
    const int64_t *ws = la_sizes(w), *xs = la_sizes(x);
    int n = x->ndim;
    int64_t order[3] = {1, 0, 2}, joined[2] = {ws[1], ws[0] * ws[2]};
    int64_t sizes[LA_MAX_DIMS];
    int64_t last = -1;
    if (n + 1 > LA_MAX_DIMS) return la_error(LA_ESHAPE, "too many dims");
    memcpy(sizes, xs, (size_t)(n - 1) * sizeof *sizes);
    sizes[n - 1] = ws[0];
    sizes[n] = ws[2];
    LA_LET(transposed, la_run(permute, &transposed, w, la_v_ints(order, 3)));
    LA_LET(flat, la_reshape_to(transposed, 2, joined, &flat));
    LA_LET(all, la_matmul(x, flat, &all));
    LA_LET(cube, la_reshape_to(all, n + 1, sizes, &cube));
    LA_LET(column, la_run(unsqueeze, &column, y, -1));
    LA_LET(product, la_matmul(cube, column, &product));
    return la_run(squeeze, out, product, la_v_ints(&last, 1));
}

/* out[*, k] = sum over i, j of x[*, i] weight[k, i, j] y[*, j], plus
** bias[k]. */
la_status la_impl_bilinear(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *y = la_arg(f, 1), *w = la_arg(f, 2);
    la_tensor *bias = la_arg(f, 3), *out;
    LA_TRY(check_bilinear(x, y, w));
    LA_LET(product, bilinear(x, y, w, &product));
    if (!bias) return LA_GIVE(f, la_tensor_retain(product));
    return la_give(f, la_run(add, &out, product, bias), &out);
}
