/*
** matmul by rank, and vecdot: composites of dot, mv, mm and batched_mm. Vectors
** become matrices and batches become longer matrices by views; operands are
** copied only where no view exists. Plain tensors skip the second dispatch
** (plain_matmul).
*/
#include "op/composite.h"
#include "op/matmul/matmul.h"
#include "op/view/view.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/matmul.def"
#include "op/call.h"
#include "op/impls.h"


/* The pointer is read after 'status' was computed. */
/* ---- matmul ---- */

/* A vector on the left of a matrix: a matrix of one row. */
static la_status vector_matrix(la_tensor *a, la_tensor *b, la_tensor **out)
{
    LA_LET(row, la_run(unsqueeze, &row, a, 0));
    LA_LET(product, la_run(mm, &product, row, b));
    return la_run(squeeze, out, product, la_v_ints(((const int64_t[]){0}), 1));
}

/* a [*, m, k] @ b [k, n] (or [k]) as one product of a matrix with all rows of
** the batch. *done stays false, and nothing is computed, when strides do not
** allow the view. */
static la_status flatten_left(la_tensor *a, la_tensor *b, la_tensor **out,
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
    LA_OWNED product = NULL;
    LA_LET(rows, la_view_to(a, 2, flat, &rows));
    if (b->ndim == 1) {
        LA_TRY(la_run(mv, &product, rows, b));
        return la_view_to(product, n - 1, sizes, out);
    }
    LA_TRY(la_run(mm, &product, rows, b));
    sizes[n - 1] = la_sizes(b)[1];
    return la_view_to(product, n, sizes, out);
}

/* 't' expanded to the batch sizes 'batch'; its last two dims stay. */
static la_status expand_batch(la_tensor *t, const la_shape *batch,
                              la_tensor **out)
{
    int64_t sizes[LA_MAX_DIMS];
    int n = batch->ndim;
    memcpy(sizes, batch->sizes, (size_t)n * sizeof *sizes);
    sizes[n] = la_sizes(t)[t->ndim - 2];
    sizes[n + 1] = la_sizes(t)[t->ndim - 1];
    return la_run(expand, out, t, la_v_ints(sizes, n + 2));
}

/* The sizes of 't' before its last two dims. */
static void batch_shape(const la_tensor *t, la_shape *out)
{
    out->ndim = t->ndim - 2;
    memcpy(out->sizes, la_sizes(t), (size_t)out->ndim * sizeof(int64_t));
}

/* The general product: batch sizes broadcast against each other by views with
** stride 0, then one call for all of them. */
static la_status broadcast_mm(la_tensor *a, la_tensor *b, la_tensor **out)
{
    la_shape x, y;
    batch_shape(a, &x);
    batch_shape(b, &y);
    if (x.ndim > LA_MAX_DIMS - 2 || y.ndim > LA_MAX_DIMS - 2)
        return la_error(LA_ESHAPE, "too many dims");
    LA_TRY(la_shape_broadcast(&x, &y, &x));
    LA_LET(wide_a, expand_batch(a, &x, &wide_a));
    LA_LET(wide_b, expand_batch(b, &x, &wide_b));
    return la_run(batched_mm, out, wide_a, wide_b);
}

/* Vectors become matrices of one row or column during the product. */
static la_status batched(la_tensor *a, la_tensor *b, la_tensor **out)
{
    LA_OWNED row = NULL;
    LA_OWNED column = NULL;
    int64_t dim = a->ndim == 1 ? -2 : -1;
    if (a->ndim == 1) LA_TRY(la_run(unsqueeze, &row, a, 0));
    if (b->ndim == 1) LA_TRY(la_run(unsqueeze, &column, b, 1));
    la_tensor *x = row ? row : a, *y = column ? column : b;
    if (!row && !column) return broadcast_mm(x, y, out);
    LA_LET(product, broadcast_mm(x, y, &product));
    return la_run(squeeze, out, product, la_v_ints(&dim, 1));
}

/* The case of each pair of ranks, as PyTorch's matmul defines them. */
la_status la_matmul(la_tensor *a, la_tensor *b, la_tensor **out)
{
    if (a->ndim == 0 || b->ndim == 0)
        return la_error(LA_ESHAPE, "both arguments to matmul need to be at "
                        "least 1D, but they are %dD and %dD", a->ndim, b->ndim);
    if (a->ndim == 1 && b->ndim == 1)
        return la_run(dot, out, a, b);
    if (a->ndim == 2 && b->ndim == 1)
        return la_run(mv, out, a, b);
    if (a->ndim == 1 && b->ndim == 2) return vector_matrix(a, b, out);
    if (a->ndim == 2 && b->ndim == 2)
        return la_run(mm, out, a, b);
    if (a->ndim >= 3 && b->ndim <= 2) {
        bool done = false;
        LA_TRY(flatten_left(a, b, out, &done));
        if (done) return LA_OK;
    }
    return batched(a, b, out);
}

/* A vector times a matrix, without the views. */
static la_status plain_vector_matrix(la_frame *f, la_tensor *a, la_tensor *b)
{
    la_gemm g;
    LA_TRY(la_matmul_supported(a));
    LA_TRY(la_set_output(f, 0, 1, la_sizes(b) + 1, NULL, (la_dtype)a->dtype));
    la_gemm_init(&g, (la_dtype)a->dtype);
    g.m = 1;
    g.k = la_sizes(b)[0];
    g.n = la_sizes(b)[1];
    g.a = (la_gemm_mat){la_data(a), 0, la_strides(a)[0]};
    g.b = (la_gemm_mat){la_data(b), la_strides(b)[0], la_strides(b)[1]};
    g.out = (la_gemm_mat){la_data(la_result(f, 0)), 0,
                          la_strides(la_result(f, 0))[0]};
    return la_gemm_run(&g);
}

/* Plain tensors whose product is one of the operations above: its meta and impl
** run on this frame, which saves a dispatch. *done is false when no case
** fits. */
static la_status plain_matmul(la_frame *f, la_tensor *a, la_tensor *b,
                              bool *done)
{
    int x = a->ndim, y = b->ndim;
    *done = true;
    if (x == 2 && y == 2) {
        LA_TRY(la_meta_mm(f));
        return la_impl_mm(f);
    }
    if (x == 2 && y == 1) {
        LA_TRY(la_meta_mv(f));
        return la_impl_mv(f);
    }
    if (x == 1 && y == 1) {
        LA_TRY(la_meta_dot(f));
        return la_impl_dot(f);
    }
    if (x == 1 && y == 2 && la_sizes(a)[0] == la_sizes(b)[0]
        && a->dtype == b->dtype)
        return plain_vector_matrix(f, a, b);
    if (x > 2 && x == y && memcmp(la_sizes(a), la_sizes(b),
                                  (size_t)(x - 2) * sizeof(int64_t)) == 0) {
        LA_TRY(la_meta_batched_mm(f));
        return la_impl_batched_mm(f);
    }
    *done = false;
    return LA_OK;
}

/* Shapes: [k]@[k] -> []; [m,k]@[k] -> [m]; [k]@[k,n] -> [n]; else batch dims
** broadcast and the last two dims multiply. One dtype, not bool or
** complex32. */
la_status la_impl_matmul(la_frame *f)
{
    la_tensor *out = NULL, *a = la_arg(f, 0), *b = la_arg(f, 1);
    if (la_is_plain_call(f) && la_is_plain(a) && la_is_plain(b)) {
        bool done;
        LA_TRY(plain_matmul(f, a, b, &done));
        if (done) return LA_OK;
    }
    return la_give(f, la_matmul(a, b, &out), &out);
}

/* ---- vecdot ---- */

/* sum(conj(x) * y, dim): where a vector has one element that is broadcast, or
** either operand is 0-dim. */
static la_status summed_product(la_tensor *x, la_tensor *y, int64_t dim,
                                la_tensor **out)
{
    LA_LET(conj, la_run(conj, &conj, x));
    LA_LET(product, la_run(mul, &product, conj, y));
    return la_run(sum, out, product, la_v_ints(&dim, 1), la_v_bool(false),
                  la_v_dtype((la_dtype)product->dtype));
}

/* vecdot(x, y, dim) = sum over dim of conj(x) * y: 'dim' moves last and each
** pair of vectors is a product of a row and a column, so the sum runs in the
** kernels of dot. A dim of tensors of different rank is one of what they
** broadcast to. */
la_status la_impl_vecdot(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *y = la_arg(f, 1), *out;
    int64_t dim = la_arg_int(f, 2), last = -1, lasts[2] = {-2, -1};
    bool moves = x->ndim == y->ndim || dim == -1;
    if (x->ndim == 0 || y->ndim == 0 || !moves)
        return la_give(f, summed_product(x, y, dim, &out), &out);
    LA_LET(a, la_run(movedim, &a, x, la_v_ints(&dim, 1), la_v_ints(&last, 1)));
    LA_LET(b, la_run(movedim, &b, y, la_v_ints(&dim, 1), la_v_ints(&last, 1)));
    if (la_sizes(a)[a->ndim - 1] != la_sizes(b)[b->ndim - 1])
        return la_give(f, summed_product(a, b, -1, &out), &out);
    LA_LET(conj, la_run(conj, &conj, a));
    LA_LET(row, la_run(unsqueeze, &row, conj, -2));
    LA_LET(column, la_run(unsqueeze, &column, b, -1));
    LA_LET(product, broadcast_mm(row, column, &product));
    return la_give(f, la_run(squeeze, &out, product, la_v_ints(lasts, 2)),
                   &out);
}
