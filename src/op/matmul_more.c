/*
** Products made of mm, mv and batched_mm: matmul by rank, vecdot. Views bring
** operands into place where they can.
*/
#include "op/matmul.h"

#include "base/context.h"
#include "op/view.h"
#include "tensor/shape.h"

la_status la_meta_mm(la_frame *f), la_impl_mm(la_frame *f);

/* The pointer is read after 'status' was computed. */
static la_status give(la_frame *f, la_status status, la_tensor **made)
{
    if (status == LA_OK) la_set_result(f, 0, *made);
    return status;
}

/* ---- matmul ---- */

static bool has_extras(const la_tensor *t)
{
    return t->names || t->device != LA_CPU
        || (t->flags & (LA_F_REQUIRES_GRAD | LA_F_CONJ | LA_F_NEG
                        | LA_F_ZERO));
}

/* Two plain matrices, the case that small programs are made of: mm without a
** second walk through the dispatcher. */
static la_status matmul_matrices(la_frame *f)
{
    la_tensor *out = NULL, *a = la_arg(f, 0), *b = la_arg(f, 1);
    if (la_is_plain_call(f) && !has_extras(a) && !has_extras(b)) {
        LA_TRY(la_meta_mm(f));
        return la_impl_mm(f);
    }
    return give(f, la_run(mm, &out, LA_T(a), LA_T(b)), &out);
}

/* The same of plain tensors: nothing records the views, so one is made by hand
** and the product, which is ours, loses its first dim in place. */
static la_status plain_row(la_tensor *a, la_tensor *b, la_tensor **out)
{
    LA_OWNED row = NULL;
    LA_OWNED product = NULL;
    int64_t sizes[2] = {1, la_sizes(a)[0]};
    int64_t strides[2] = {sizes[1] * la_strides(a)[0], la_strides(a)[0]};
    LA_TRY(la_tensor_view(a, 2, sizes, strides, a->offset, &row));
    LA_TRY(la_run(mm, &product, LA_T(row), LA_T(b)));
    int64_t n = la_sizes(product)[1];
    LA_TRY(la_tensor_set_geometry(product, 1, &n, NULL));
    *out = product;
    product = NULL;
    return LA_OK;
}

/* A vector on the left of a matrix: a matrix of one row. */
static la_status vector_matrix(la_tensor *a, la_tensor *b, la_tensor **out)
{
    if (!has_extras(a) && !has_extras(b) && !la_ctx()->included_keys)
        return plain_row(a, b, out);
    LA_OWNED row = NULL;
    LA_OWNED product = NULL;
    LA_TRY(la_run(unsqueeze, &row, LA_T(a), LA_I(0)));
    LA_TRY(la_run(mm, &product, LA_T(row), LA_T(b)));
    return la_run(squeeze, out, LA_T(product),
                  LA_IS(((const int64_t[]){0}), 1));
}

/* All rows of a batch against one matrix (or vector): a view of the batch as
** one matrix, where its strides allow that. */
static la_status fold_left(la_tensor *a, la_tensor *b, la_tensor **out,
                           bool *done)
{
    int n = a->ndim;
    int64_t flat[2] = {1, la_sizes(a)[n - 1]}, sizes[LA_MAX_DIMS];
    int64_t strides[LA_MAX_DIMS];
    la_shape to = {.ndim = 2};
    for (int d = 0; d < n - 1; d++) flat[0] *= sizes[d] = la_sizes(a)[d];
    to.sizes[0] = flat[0];
    to.sizes[1] = flat[1];
    LA_TRY(la_view_strides(a, &to, strides, done));
    if (!*done) return LA_OK;
    LA_OWNED rows = NULL;
    LA_OWNED product = NULL;
    LA_TRY(la_view_to(a, 2, flat, &rows));
    if (b->ndim == 1) {
        LA_TRY(la_run(mv, &product, LA_T(rows), LA_T(b)));
        return la_view_to(product, n - 1, sizes, out);
    }
    LA_TRY(la_run(mm, &product, LA_T(rows), LA_T(b)));
    sizes[n - 1] = la_sizes(b)[1];
    return la_view_to(product, n, sizes, out);
}

/* 't' as a batch of matrices with the batch sizes 'batch'. */
static la_status spread(la_tensor *t, const la_shape *batch, la_tensor **out)
{
    int64_t sizes[LA_MAX_DIMS];
    int n = batch->ndim;
    memcpy(sizes, batch->sizes, (size_t)n * sizeof *sizes);
    sizes[n] = la_sizes(t)[t->ndim - 2];
    sizes[n + 1] = la_sizes(t)[t->ndim - 1];
    return la_run(expand, out, LA_T(t), LA_IS(sizes, n + 2));
}

static void batch_shape(const la_tensor *t, la_shape *out)
{
    out->ndim = t->ndim - 2;
    memcpy(out->sizes, la_sizes(t), (size_t)out->ndim * sizeof(int64_t));
}

static la_status broadcast_mm(la_tensor *a, la_tensor *b, la_tensor **out)
{
    la_shape x, y;
    LA_OWNED wide_a = NULL;
    LA_OWNED wide_b = NULL;
    batch_shape(a, &x);
    batch_shape(b, &y);
    if (x.ndim > LA_MAX_DIMS - 2 || y.ndim > LA_MAX_DIMS - 2)
        return la_error(LA_ESHAPE, "too many dims");
    LA_TRY(la_shape_broadcast(&x, &y, &x));
    LA_TRY(spread(a, &x, &wide_a));
    LA_TRY(spread(b, &x, &wide_b));
    return la_run(batched_mm, out, LA_T(wide_a), LA_T(wide_b));
}

/* Vectors become matrices of one row or column for the time of the product. */
static la_status batched(la_tensor *a, la_tensor *b, la_tensor **out)
{
    LA_OWNED row = NULL;
    LA_OWNED column = NULL;
    LA_OWNED product = NULL;
    int64_t dim = a->ndim == 1 ? -2 : -1;
    if (a->ndim == 1) LA_TRY(la_run(unsqueeze, &row, LA_T(a), LA_I(0)));
    if (b->ndim == 1) LA_TRY(la_run(unsqueeze, &column, LA_T(b), LA_I(1)));
    la_tensor *x = row ? row : a, *y = column ? column : b;
    if (!row && !column) return broadcast_mm(x, y, out);
    LA_TRY(broadcast_mm(x, y, &product));
    return la_run(squeeze, out, LA_T(product), LA_IS(&dim, 1));
}

la_status la_matmul(la_tensor *a, la_tensor *b, la_tensor **out)
{
    if (a->ndim == 0 || b->ndim == 0)
        return la_error(LA_ESHAPE, "both arguments to matmul need to be at "
                        "least 1D, but they are %dD and %dD", a->ndim, b->ndim);
    if (a->ndim == 1 && b->ndim == 1)
        return la_run(dot, out, LA_T(a), LA_T(b));
    if (a->ndim == 2 && b->ndim == 1)
        return la_run(mv, out, LA_T(a), LA_T(b));
    if (a->ndim == 1 && b->ndim == 2) return vector_matrix(a, b, out);
    if (a->ndim == 2 && b->ndim == 2)
        return la_run(mm, out, LA_T(a), LA_T(b));
    if (a->ndim >= 3 && b->ndim <= 2) {
        bool done = false;
        LA_TRY(fold_left(a, b, out, &done));
        if (done) return LA_OK;
    }
    return batched(a, b, out);
}

la_status la_impl_matmul(la_frame *f)
{
    la_tensor *out = NULL, *a = la_arg(f, 0), *b = la_arg(f, 1);
    if (a->ndim == 2 && b->ndim == 2) return matmul_matrices(f);
    return give(f, la_matmul(a, b, &out), &out);
}

/* ---- vecdot ---- */

la_status la_impl_vecdot(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *y = la_arg(f, 1), *out;
    int64_t dim = la_arg_int(f, 2), last = -1, lasts[2] = {-2, -1};
    LA_OWNED a = NULL;
    LA_OWNED b = NULL;
    LA_OWNED conj = NULL;
    LA_OWNED row = NULL;
    LA_OWNED column = NULL;
    LA_OWNED product = NULL;
    LA_TRY(la_run(movedim, &a, LA_T(x), LA_IS(&dim, 1), LA_IS(&last, 1)));
    LA_TRY(la_run(movedim, &b, LA_T(y), LA_IS(&dim, 1), LA_IS(&last, 1)));
    if (la_sizes(a)[a->ndim - 1] != la_sizes(b)[b->ndim - 1])
        return la_error(LA_ESHAPE, "vecdot needs equal sizes along the dim, "
                        "got %lld and %lld",
                        (long long)la_sizes(a)[a->ndim - 1],
                        (long long)la_sizes(b)[b->ndim - 1]);
    LA_TRY(la_run(conj, &conj, LA_T(a)));
    LA_TRY(la_run(unsqueeze, &row, LA_T(conj), LA_I(-2)));
    LA_TRY(la_run(unsqueeze, &column, LA_T(b), LA_I(-1)));
    LA_TRY(broadcast_mm(row, column, &product));
    return give(f, la_run(squeeze, &out, LA_T(product), LA_IS(lasts, 2)), &out);
}
