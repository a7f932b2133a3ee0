/*
** Distances between all rows of two matrices. cdist and pdist are composites
** that bring their tensors to one dtype and one batch; distance_rows computes
** all pairs without making their differences, whatever the order.
**
** Of order 2, many rows are cheaper by a product: |a - b|^2 = |a|^2 + |b|^2 - 2
** a b', as PyTorch computes it from 26 rows on. That loses the digits of rows
** which are close and far from zero; where it would lose more than half of
** them, a pair is computed from its difference.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "base/runtime/interrupt.h"
#include "iter/iter.h"
#include "iter/items.h"
#include "kernel/conv/conv.h"
#include "kernel/linalg/distance.h"
#include "op/composite.h"
#include "op/linalg/linalg.h"
#include "op/view/view.h"
#include "tensor/promote.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/impls.h"

#define MANY_ROWS 25        /* for a product */
#define ROWS_AT_ONCE 256    /* against one panel */
#define BLOCK ((int64_t)1 << 18)   /* differences at a time */

/* Arguments of distance_rows, and of its gradient, which has 'grad' before
** them and the distances behind. */
enum { X1, X2, P, PRODUCT };
enum { GRAD, G_X1, G_X2, G_P, G_PRODUCT, G_RESULT };

/* ---- geometry ---- */

typedef struct pairs {
    const la_tensor *a, *b;
    int64_t rows, cols, depth, batch, size;
} pairs;

/* The dim that is number 'from' from the end. */
static int64_t distance_size_at(const la_tensor *t, int from)
{
    return la_sizes(t)[t->ndim - from];
}

/* Both tensors have one batch, and dtypes of a kernel. */
static pairs pairs_of(const la_tensor *a, const la_tensor *b)
{
    pairs p = {a, b, distance_size_at(a, 2), distance_size_at(b, 2),
               distance_size_at(a, 1), 1,
               (int64_t)la_itemsize(a)};
    for (int d = 0; d < a->ndim - 2; d++) p.batch *= la_sizes(a)[d];
    return p;
}

/* Row 'row' of matrix n of the batch. */
static char *distance_row_at(const la_tensor *t, int64_t n, int64_t row)
{
    int64_t at = row * la_strides(t)[t->ndim - 2];
    for (int d = t->ndim - 3; d >= 0; d--) {
        at += n % la_sizes(t)[d] * la_strides(t)[d];
        n /= la_sizes(t)[d];
    }
    return (char *)la_data(t) + at * (int64_t)la_itemsize(t);
}

/* 't' itself where elements of a row are neighbours, or a copy. */
static la_status by_rows(la_tensor *t, la_tensor **out)
{
    if (distance_size_at(t, 1) <= 1 || la_strides(t)[t->ndim - 1] == 1)
        return la_tensor_same(t, out);
    return la_clone_contiguous(t, out);
}

/* float32's or float64's. */
static const la_distance_kernels *distance_kernels_of(la_dtype d)
{
    return d == LA_FLOAT32 ? LA_STUB(distance_f32) : LA_STUB(distance_f64);
}

/* The kernels' orders; false: another. */
static bool distance_kind_of(double p, la_distance_kind *kind)
{
    *kind = p == 1 ? LA_DISTANCE_SUM : p == 2 ? LA_DISTANCE_ROOT
                                              : LA_DISTANCE_MOST;
    return p == 1 || p == 2 || p == INFINITY;
}

/* ---- forward ---- */

typedef struct job {
    pairs p;
    la_distance_kind kind;
    char *out;                      /* contiguous */
    const char *aa, *bb;            /* contiguous; NULL: no products */
    int64_t chunks;                 /* of rows */
} job;

/* Some rows of a against all of b. */
static la_status distance_run_unit(void *context, int64_t unit, char *scratch)
{
    const job *j = context;
    const pairs *p = &j->p;
    const la_distance_kernels *ker = distance_kernels_of((la_dtype)p->a->dtype);
    int64_t n = unit / j->chunks, row = unit % j->chunks * ROWS_AT_ONCE;
    la_distance g = {
        .kind = j->kind, .rows = la_min(ROWS_AT_ONCE, p->rows - row),
        .depth = p->depth, .a = distance_row_at(p->a, n, row),
        .a_step = la_strides(p->a)[p->a->ndim - 2],
        .b_step = la_strides(p->b)[p->b->ndim - 2], .out_step = p->cols,
        .panel = scratch, .pack = p->size == 4 ? LA_STUB(conv_f32)->pack
                                               : LA_STUB(conv_f64)->pack};
    int64_t first = n * p->rows + row;
    if (j->aa) g.aa = j->aa + first * p->size;
    for (int64_t c = 0; c < p->cols && !la_interrupted(); c += g.cols) {
        g.cols = la_min(LA_DISTANCE_PANEL, p->cols - c);
        g.b = distance_row_at(p->b, n, c);
        g.out = j->out + (first * p->cols + c) * p->size;
        if (j->bb) g.bb = j->bb + (n * p->cols + c) * p->size;
        if (j->aa) ker->near(&g);
        else ker->exact(&g);
    }
    return LA_OK;
}

/* Every matrix of the batch in chunks of rows; few elements stay on one
** thread. */
static la_status run_pairs(job *j)
{
    const pairs *p = &j->p;
    j->chunks = la_ceil_div(p->rows, ROWS_AT_ONCE);
    int64_t each = la_min(p->rows, ROWS_AT_ONCE) * p->cols;
    if (p->depth > 0 && each < LA_GRAIN) each *= la_min(p->depth, LA_GRAIN);
    la_unit_plan plan = {distance_run_unit, LA_GRAIN / la_max(each, 1) + 1,
        (size_t)(LA_DISTANCE_PANEL * p->depth * p->size)};
    return la_iter_units(p->batch * j->chunks, &plan, j);
}

/* The squares of the lengths of rows. */
static la_tensor *squares(la_chain *w, la_tensor *t)
{
    int64_t last = -1;
    return R(contiguous, R(sum, R(square, t), la_v_ints(&last, 1)));
}

/* 'out' gets the products, then the distances. */
static la_status run_product(job *j, la_tensor *a, la_tensor *b,
                             la_tensor *out)
{
    LA_CHAIN(w);
    la_tensor *aa = squares(w, a), *bb = squares(w, b);
    la_tensor *ab = R(matmul, a, R(transpose, b, (int64_t)-2,
                                         (int64_t)-1));
    if (w->status) return w->status;
    LA_TRY(la_run_(copy_, out, ab));
    j->aa = la_data(aa);
    j->bb = la_data(bb);
    return run_pairs(j);
}

/* Rows of the result whose differences are one block. */
static int64_t distance_block_of(const pairs *p)
{
    int64_t each = la_max(p->batch * p->cols * p->depth, 1);
    return la_max(BLOCK / each, 1);
}

/* n rows from 'row' on of 'a' minus all rows of 'b'. */
static la_tensor *distance_differences(la_chain *w, la_tensor *a, la_tensor *b,
                                       int64_t row, int64_t n)
{
    return R(sub, R(unsqueeze, R(narrow, a, -2, row, n), -2),
                R(unsqueeze, b, -3));
}

/* Other orders: the norms of some rows' differences at a time. */
static la_status distance_run_blocks(const pairs *p, la_tensor *a, la_tensor *b,
                                     double order, la_tensor *out)
{
    int64_t step = distance_block_of(p), last = -1;
    for (int64_t row = 0; row < p->rows; row += step) {
        LA_CHAIN(w);
        int64_t n = la_min(step, p->rows - row);
        la_tensor *d = R(vector_norm, distance_differences(w, a, b, row, n),
                         order, la_v_ints(&last, 1));
        la_tensor *part = R(narrow, out, -2, row, n);
        if (w->status) return w->status;
        LA_TRY(la_run_(copy_, part, d));
    }
    return LA_OK;
}

/* Batches are equal, as cdist has made them. */
la_status la_meta_distance_rows(la_frame *f)
{
    la_tensor *a = la_arg(f, X1), *b = la_arg(f, X2);
    int64_t sizes[LA_MAX_DIMS];
    LA_TRY(la_check_dims(a, X1));
    LA_TRY(la_check_dims(b, X2));
    LA_TRY(la_require_dtype(f, (la_dtype)a->dtype));
    LA_TRY(la_check_one_dtype(f, X1, X2));
    if (a->ndim != b->ndim || distance_size_at(a, 1) != distance_size_at(b, 1)
        || memcmp(la_sizes(a), la_sizes(b), (size_t)(a->ndim - 2) * 8) != 0)
        return la_error_at(LA_ESHAPE, X2 + 1, "a batch of matrices of as many "
                           "columns expected");
    memcpy(sizes, la_sizes(a), sizeof(*sizes) * (size_t)a->ndim);
    sizes[a->ndim - 1] = distance_size_at(b, 2);
    return la_set_output(f, 0, a->ndim, sizes, NULL, (la_dtype)a->dtype);
}

/* Kernels have three orders, the others go block by block. */
static la_status forward(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    double order = la_arg_float(f, P);
    LA_LET(a, by_rows(la_arg(f, X1), &a));
    LA_LET(b, by_rows(la_arg(f, X2), &b));
    job j = {.p = pairs_of(a, b), .out = la_data(out)};
    if (!distance_kind_of(order, &j.kind))
        return distance_run_blocks(&j.p, a, b, order, out);
    if (order == 2 && la_arg_bool(f, PRODUCT))
        return run_product(&j, a, b, out);
    return run_pairs(&j);
}

/* The steps are not the user's: nothing is recorded. */
static la_status unrecorded(la_frame *f, la_op_fn run)
{
    la_context *c = la_ctx();
    bool before = c->no_grad;
    if (la_result(f, 0)->numel == 0) return LA_OK;
    c->no_grad = true;
    la_status status = run(f);
    c->no_grad = before;
    return status;
}

LA_FORWARD(la_impl_distance_rows, unrecorded(f, forward))

/* ---- the gradient of x1 ---- */

typedef struct back_job {
    pairs p;
    la_distance g;                  /* of the first row of the batch */
} back_job;

/* One row of one matrix. */
static la_status back_unit(void *context, int64_t unit, char *scratch)
{
    const back_job *j = context;
    const pairs *p = &j->p;
    la_distance g = j->g;
    int64_t n = unit / p->rows, at = unit * p->cols * p->size;
    (void)scratch;
    g.a = distance_row_at(p->a, n, unit % p->rows);
    g.b = distance_row_at(p->b, n, 0);
    g.out = (char *)g.out + at;
    g.grad = (const char *)g.grad + at;
    g.sums = (char *)g.sums + unit * p->depth * p->size;
    if (g.weights) {
        g.weights = (char *)g.weights + at;
        g.aa = (const char *)g.aa + unit * p->size;
        g.bb = (const char *)g.bb + n * p->cols * p->size;
    }
    distance_kernels_of((la_dtype)p->a->dtype)->back(&g);
    return LA_OK;
}

/* Rows are the units: each sums over all rows of the other side in order. */
static la_status distance_run_back(back_job *j)
{
    int64_t each = la_max(j->p.cols, 1) * la_max(j->p.depth, 1);
    la_unit_plan plan = {back_unit, LA_GRAIN / each + 1, 1};
    j->g.rows = 1;
    return la_iter_units(j->p.batch * j->p.rows, &plan, j);
}

/* Close pairs from their differences; of all others a sum(w) - w b, where w
** is grad / distance. */
static la_status back_product(back_job *j, la_tensor *a, la_tensor *b,
                              la_tensor *grad, la_tensor *out)
{
    LA_CHAIN(w);
    int64_t last = -1;
    la_tensor *aa = squares(w, a), *bb = squares(w, b);
    la_tensor *weights = R(empty_like, grad);
    if (w->status) return w->status;
    j->g.aa = la_data(aa);
    j->g.bb = la_data(bb);
    j->g.weights = la_data(weights);
    LA_TRY(distance_run_back(j));
    la_tensor *own = R(mul, a, R(sum, weights, la_v_ints(&last, 1),
                                       true));
    la_tensor *sum = R(sub, own, R(matmul, weights, b));
    if (w->status) return w->status;
    return la_run_(add, out, sum);
}

/* The derivatives of some rows' norms by their differences, times the
** gradient, summed. */
static la_tensor *block_gradient(la_chain *w, la_tensor *d, la_tensor *norm,
                                 la_tensor *grad, double p)
{
    int64_t over = -2;
    la_tensor *wide = R(unsqueeze, norm, -1), *g = R(unsqueeze, grad, -1);
    la_tensor *none = R(eq, wide, 0.0);
    la_tensor *safe = R(masked_fill, wide, none, 1.0);
    la_tensor *scale = R(masked_fill, R(div, g, R(pow, safe, p - 1)),
                            none, 0.0);
    la_tensor *slope = R(mul, R(sgn, d),
                            R(pow, R(abs, d), p - 1));
    slope = R(masked_fill, slope, R(eq, d, 0.0), 0.0);
    return R(sum, R(mul, slope, scale), la_v_ints(&over, 1));
}

/* Order 0 counts elements: its derivative is 0. */
static la_status back_blocks(const pairs *p, la_tensor *const t[4],
                             double order, la_tensor *out)
{
    int64_t step = distance_block_of(p);
    if (order == 0) return la_run_(fill_, out, 0.0);
    for (int64_t row = 0; row < p->rows; row += step) {
        LA_CHAIN(w);
        int64_t n = la_min(step, p->rows - row);
        la_tensor *d = distance_differences(w, t[1], t[2], row, n);
        la_tensor *part = block_gradient(
            w, d, R(narrow, t[3], -2, row, n),
            R(narrow, t[0], -2, row, n), order);
        la_tensor *to = R(narrow, out, -2, row, n);
        if (w->status) return w->status;
        LA_TRY(la_run_(copy_, to, part));
    }
    return LA_OK;
}

/* A gradient is as large as x1. */
la_status la_meta_distance_rows_backward(la_frame *f)
{
    const la_tensor *a = la_arg(f, G_X1);
    LA_TRY(la_require_dtype(f, (la_dtype)a->dtype));
    return la_set_output(f, 0, a->ndim, la_sizes(a), NULL, (la_dtype)a->dtype);
}

/* The gradient and the distances are read row by row, so contiguous. */
static la_status backward(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    double order = la_arg_float(f, G_P);
    LA_LET(grad, la_clone_contiguous(la_arg(f, GRAD), &grad));
    LA_LET(norm, la_clone_contiguous(la_arg(f, G_RESULT), &norm));
    LA_LET(a, by_rows(la_arg(f, G_X1), &a));
    LA_LET(b, by_rows(la_arg(f, G_X2), &b));
    back_job j = {.p = pairs_of(a, b)};
    la_tensor *t[4] = {grad, a, b, norm};
    if (!distance_kind_of(order, &j.g.kind))
        return back_blocks(&j.p, t, order, out);
    j.g.cols = j.g.out_step = j.p.cols;
    j.g.depth = j.p.depth;
    j.g.a_step = la_strides(a)[a->ndim - 2];
    j.g.b_step = la_strides(b)[b->ndim - 2];
    j.g.out = la_data(norm);
    j.g.grad = la_data(grad);
    j.g.sums = la_data(out);
    if (order == 2 && la_arg_bool(f, G_PRODUCT))
        return back_product(&j, a, b, grad, out);
    return distance_run_back(&j);
}

LA_FORWARD(la_impl_distance_rows_backward, unrecorded(f, backward))

/* ---- cdist, pdist ---- */

/* Always by the product: what rounding leaves at or below zero is a distance of
** 0, with a derivative of 0. */
static la_tensor *by_product(la_chain *w, la_tensor *a, la_tensor *b)
{
    int64_t last = -1;
    la_tensor *aa = R(sum, R(square, a), la_v_ints(&last, 1), true);
    la_tensor *bb = R(sum, R(square, b), la_v_ints(&last, 1), true);
    la_tensor *ab = R(matmul, a, R(transpose, b, (int64_t)-2,
                                         (int64_t)-1));
    la_tensor *both = R(add, aa, R(transpose, bb, (int64_t)-2,
                                         (int64_t)-1));
    la_tensor *d = R(sub, both, R(mul, ab, 2.0));
    la_tensor *none = R(le, d, 0.0);
    la_tensor *root = R(sqrt, R(masked_fill, d, none, 1.0));
    return R(masked_fill, root, none, 0.0);
}

/* 't' in the dtype, its batch broadcast. Rows are made contiguous before they
** are repeated. */
static la_tensor *distance_operand(la_chain *w, la_tensor *t, la_dtype dtype,
                                   const la_shape *batch)
{
    la_shape to = la_with_matrix(batch, distance_size_at(t, 2),
                                 distance_size_at(t, 1));
    if (t->dtype != dtype) t = R(astype, t, la_v_dtype(dtype));
    if (w->status) return NULL;
    if (distance_size_at(t, 1) > 1 && la_strides(t)[t->ndim - 1] != 1)
        t = R(contiguous, t);
    if (w->status || (to.ndim == t->ndim
                      && memcmp(to.sizes, la_sizes(t),
                                (size_t)to.ndim * sizeof(*to.sizes)) == 0))
        return t;
    return R(expand, t, la_v_ints(to.sizes, to.ndim));
}

/* Is order 2 to be computed by the product: never, for many rows, always? */
static la_status read_mode(const la_value *v, int *product)
{
    static const char *const words[] = {
        "donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist_if_necessary",
        "use_mm_for_euclid_dist"};
    char quoted[80];
    for (*product = 0; *product < 3; ++*product)
        if (la_str_is(v, words[*product])) return LA_OK;
    return la_error_at(LA_EARG, 4, "compute_mode is '%s', '%s' or '%s', got "
                       "'%s'", words[1], words[2], words[0],
                       la_quote(v->str.text, v->str.n, quoted, sizeof quoted));
}

/* Shapes, the order, the dtype and the batch of the result. */
static la_status check_cdist(const la_frame *f, la_dtype *dtype,
                             la_shape *batch)
{
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    la_result_type type = LA_RESULT_TYPE_INIT;
    LA_TRY(la_check_dims(a, 0));
    LA_TRY(la_check_dims(b, 1));
    if (distance_size_at(a, 1) != distance_size_at(b, 1))
        return la_error_at(LA_ESHAPE, 2, "%lld columns expected, got %lld",
                           (long long)distance_size_at(a, 1),
                               (long long)distance_size_at(b, 1));
    if (!(la_arg_float(f, 2) >= 0))
        return la_error_at(LA_EARG, 3, "no negative order expected");
    la_shape one = la_batch_shape(a, 2), two = la_batch_shape(b, 2);
    LA_TRY(la_shape_broadcast(&one, &two, batch));
    la_result_type_add(&type, a);
    la_result_type_add(&type, b);
    LA_TRY(la_result_type_get(&type, dtype));
    return la_require_dtype(f, *dtype);
}

/* (x1, x2, p, compute_mode): between all rows of x1 and all rows of x2. 16-bit
** floats are computed as float32. */
la_status la_impl_cdist(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    double p = la_arg_float(f, 2);
    la_dtype dtype;
    la_shape batch;
    int product = 0;
    LA_TRY(check_cdist(f, &dtype, &batch));
    LA_TRY(read_mode(&f->args[3], &product));
    bool half = la_is_half(dtype);
    la_dtype inner = half ? LA_FLOAT32 : dtype;
    bool many = distance_size_at(a, 2) > MANY_ROWS
        || distance_size_at(b, 2) > MANY_ROWS;
    a = distance_operand(w, a, inner, &batch);
    b = distance_operand(w, b, inner, &batch);
    if (w->status) return w->status;
    la_tensor *d = product == 2 && p == 2 ? by_product(w, a, b)
        : R(distance_rows, a, b, p, product == 1 && many);
    return la_chain_end(w, f, half ? R(astype, d, la_v_dtype(dtype)) : d);
}

/* Indices of the pairs i < j in a flat n x n matrix: (i - 1) n + j, as elements
** count from 1. A copy, since both indices take twice the memory. */
static la_status upper_indices(int64_t n, la_device device, la_tensor **out)
{
    LA_CHAIN(w);
    la_tensor *both = R(triu_indices, n, n, 1, la_v_dtype(LA_INT64),
                        la_v_device(device));
    la_tensor *i = R(select, both, 0, (int64_t)0);
    la_tensor *j = R(select, both, 0, (int64_t)1);
    if (w->status) return w->status;
    LA_TRY(la_run_(sub, i, 1));
    LA_TRY(la_run_(mul, i, n));
    LA_TRY(la_run_(add, i, j));
    return la_run(clone, out, i);
}

/* (self, p): between all pairs of rows i < j, in order of i. */
la_status la_impl_pdist(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0);
    bool half = la_is_half((la_dtype)a->dtype);
    if (a->ndim != 2)
        return la_error_at(LA_ESHAPE, 1, "a matrix expected, got %d-D",
                           a->ndim);
    if (!(la_arg_float(f, 1) >= 0))
        return la_error_at(LA_EARG, 2, "no negative order expected");
    int64_t flat = -1;
    LA_LET(at, upper_indices(la_sizes(a)[0], (la_device)a->device, &at));
    la_tensor *wide = half ? R(astype, a, la_v_dtype(LA_FLOAT32)) : a;
    la_tensor *all = R(distance_rows, wide, wide, f->args[1], false);
    la_tensor *d = R(index_select, R(reshape, all, la_v_ints(&flat, 1)), 0, at);
    if (half) d = R(astype, d, la_v_dtype((la_dtype)a->dtype));
    return la_chain_end(w, f, d);
}
