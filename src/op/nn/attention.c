/*
** Scaled dot-product attention in tiles of ROWS queries by COLS keys, forward
** and backward (FlashAttention, Dao et al. 2022; online softmax, Milakov &
** Gimelshein 2018).
**
**   out = softmax(scale * q k^T + mask) v
**   lse = logsumexp of each row of scores
**
** Two matrix products per tile and a softmax that is continued from tile to
** tile, so memory does not grow with the product of the lengths. Forward, the
** unit of a thread is a block of queries; backward it is a whole batch entry,
** since blocks of queries add to the same dk and dv. The order of sums is that
** of the tiles, so bits don't depend on threads.
*/
#include "kernel/nn/attention.h"

#include <math.h>

#include "base/runtime/context.h"
#include "iter/items.h"
#include "op/matmul/matmul.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/attention.def"
#include "op/call.h"
#include "op/impls.h"

#define ROWS 192
#define COLS 256

typedef struct attention {
    const la_attention_kernels *ker;
    la_dtype dtype;
    int64_t size, length, keys, width, out_width;   /* L, S, E, Ev */
    int64_t batch, blocks;
    const la_tensor *q, *k, *v, *mask, *out, *lse, *grad, *dq, *dk, *dv;
    bool causal;
    double scale;
} attention;

/* ---- matrices in tensors ---- */

/* Matrix 'b' of a tensor, counted over all dims but the last two. */
static la_gemm_mat matrix_at(const la_tensor *t, int64_t b)
{
    int n = t->ndim - 2;
    int64_t at = 0;
    for (int d = n - 1; d >= 0; d--) {
        at += b % la_sizes(t)[d] * la_strides(t)[d];
        b /= la_sizes(t)[d];
    }
    return (la_gemm_mat){la_data(t) + at * (int64_t)la_itemsize(t),
                         la_strides(t)[n], la_strides(t)[n + 1]};
}

/* The matrix without its first i rows and j columns; 'size' in bytes. */
static la_gemm_mat attention_shifted(la_gemm_mat m, int64_t i, int64_t j,
                                     int64_t size)
{
    m.data += (i * m.rs + j * m.cs) * size;
    return m;
}

/* The transpose, by its strides. */
static la_gemm_mat attention_transposed(la_gemm_mat m)
{
    return (la_gemm_mat){m.data, m.cs, m.rs};
}

/* c (+)= alpha * a @ b */
static la_status attention_product(const attention *s, int64_t m, int64_t n,
                                   int64_t k, la_gemm_mat a, la_gemm_mat b,
    la_gemm_mat c, double alpha, bool add)
{
    la_gemm g;
    la_gemm_init(&g, s->dtype);
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = a;
    g.b = b;
    g.out = c;
    g.alpha.re = alpha;
    if (add) {
        g.add = c;
        g.beta = (la_gemm_scalar){1, 0, 1};
    }
    return la_gemm_run(&g);
}

/* ---- one tile of scores ---- */

/* The tile of keys col.. of the rows, in 'scratch'. 'causal' only where the
** diagonal crosses the tile or lies left of it, so that most tiles skip the
** test. */
static la_score_tile tile_of(const attention *s, char *scratch, int64_t b,
                             int64_t row, int64_t rows, int64_t col,
                             int64_t cols)
{
    la_score_tile t = {.scores = scratch, .rows = rows, .cols = cols,
                       .step = COLS, .first_row = row, .first_col = col,
                       .causal = s->causal && col + cols > row + 1};
    if (s->mask) {
        la_gemm_mat m = matrix_at(s->mask, b);
        int64_t size = (int64_t)la_itemsize(s->mask);
        t.mask = attention_shifted(m, row, col, size).data;
        t.mask_is_bool = s->mask->dtype == LA_BOOL;
        t.mask_row = m.rs;
        t.mask_col = m.cs;
    }
    return t;
}

/* t->scores = queries @ k^T, then the mask. 'queries' are the tile's rows,
** scaled and contiguous. */
static la_status scores_of(const attention *s, const la_score_tile *t,
                           char *queries, int64_t b)
{
    la_gemm_mat q = {queries, s->width, 1};
    la_gemm_mat k = attention_shifted(matrix_at(s->k, b), t->first_col, 0,
                                      s->size);
    LA_TRY(attention_product(s, t->rows, t->cols, s->width, q,
                             attention_transposed(k),
        (la_gemm_mat){t->scores, COLS, 1}, 1, false));
    if (t->mask) s->ker->mask(t);
    return LA_OK;
}

/* Copies the rows of q, multiplied by 'scale': cheaper than scaling the
** scores. */
static void take_queries(const attention *s, char *to, int64_t b, int64_t row,
                         int64_t rows)
{
    la_gemm_mat q = attention_shifted(matrix_at(s->q, b), row, 0, s->size);
    s->ker->take(to, q.data, q.rs, q.cs, rows, s->width, s->scale);
}

/* The end of the columns that some row before 'row + rows' may attend to. */
static int64_t visible_end(const attention *s, int64_t row, int64_t rows)
{
    return s->causal ? la_min(s->keys, row + rows) : s->keys;
}

/* ---- forward: one block of queries ---- */

/* n float32 or float64 values ('size' bytes each). */
static void attention_fill(char *to, double v, int64_t n, int64_t size)
{
    for (int64_t i = 0; i < n; i++) {
        if (size == 4) ((float *)to)[i] = (float)v;
        else ((double *)to)[i] = v;
    }
}

/* One block of queries against all tiles of keys. For each row the maximum and
** the sum of exponentials so far are kept; when the maximum rises, what has
** been summed up to then is scaled by exp(old - new) ('factor'). scratch:
** scores [ROWS x COLS], max, sum and factor [ROWS], queries [ROWS x E]. */
static la_status forward_block(void *context, int64_t unit, char *scratch)
{
    const attention *s = context;
    int64_t b = unit / s->blocks, row = unit % s->blocks * ROWS;
    int64_t rows = la_min(ROWS, s->length - row), size = s->size;
    char *max = scratch + ROWS * COLS * size, *sum = max + ROWS * size;
    char *factor = sum + ROWS * size, *queries = factor + ROWS * size;
    la_gemm_mat out = attention_shifted(matrix_at(s->out, b), row, 0, size);
    attention_fill(max, -INFINITY, rows, size);
    attention_fill(sum, 0, rows, size);
    take_queries(s, queries, b, row, rows);
    int64_t end = visible_end(s, row, rows);
    /* Once even without keys: the first tile stores into 'out' and later ones
    ** add. */
    for (int64_t c = 0; c == 0 || c < end; c += COLS) {
        int64_t cols = la_min(COLS, end - c);
        la_score_tile t = tile_of(s, scratch, b, row, rows, c, cols);
        LA_TRY(scores_of(s, &t, queries, b));
        s->ker->soften(&t, max, sum, factor);
        if (c > 0)
            s->ker->scale(out.data, rows, s->out_width, out.rs, factor, false);
        la_gemm_mat v = attention_shifted(matrix_at(s->v, b), c, 0, size);
        LA_TRY(attention_product(s, rows, s->out_width, cols,
                                 (la_gemm_mat){scratch, COLS, 1}, v, out, 1,
                                     c > 0));
    }
    s->ker->scale(out.data, rows, s->out_width, out.rs, sum, true);
    s->ker->finish(la_data(s->lse) + (b * s->length + row) * size, max, sum,
                   rows);
    return LA_OK;
}

/* ---- backward: one batch entry, block after block ---- */

/* One tile of the gradients; p is computed again from the scores and lse:
**
**   dv += p^T g,  ds = p * (g v^T - rowsum(g * out))
**   dq += ds k,  dk += ds^T q
**
** The scaled queries lie behind 'dots' in the scratch memory. */
static la_status backward_tile(const attention *s, const la_score_tile *t,
                               char *grads, char *dots, int64_t b)
{
    int64_t row = t->first_row, col = t->first_col, size = s->size;
    bool more_rows = row > 0, more_cols = col > 0;
    la_gemm_mat p = {t->scores, COLS, 1}, ds = {grads, COLS, 1};
    la_gemm_mat g = attention_shifted(matrix_at(s->grad, b), row, 0, size);
    la_gemm_mat q = attention_shifted(matrix_at(s->q, b), row, 0, size);
    la_gemm_mat k = attention_shifted(matrix_at(s->k, b), col, 0, size);
    la_gemm_mat v = attention_shifted(matrix_at(s->v, b), col, 0, size);
    la_gemm_mat dq = attention_shifted(matrix_at(s->dq, b), row, 0, size);
    la_gemm_mat dk = attention_shifted(matrix_at(s->dk, b), col, 0, size);
    la_gemm_mat dv = attention_shifted(matrix_at(s->dv, b), col, 0, size);
    LA_TRY(scores_of(s, t, dots + ROWS * size, b));
    s->ker->restore(t, la_data(s->lse) + (b * s->length + row) * size);
    LA_TRY(attention_product(s, t->cols, s->out_width, t->rows,
                             attention_transposed(p), g, dv, 1, more_rows));
    LA_TRY(attention_product(s, t->rows, t->cols, s->out_width, g,
                             attention_transposed(v), ds, 1, false));
    s->ker->soft_grad(t, grads, dots);
    LA_TRY(attention_product(s, t->rows, s->width, t->cols, ds, k, dq, s->scale,
                             more_cols));
    return attention_product(s, t->cols, s->width, t->rows,
                             attention_transposed(ds), q, dk, s->scale,
        more_rows);
}

/* The first block of rows visits every column, so that all of dk and dv are
** written; with causality it meets later columns fully masked. */
static la_status backward_batch(void *context, int64_t b, char *scratch)
{
    const attention *s = context;
    int64_t size = s->size;
    char *grads = scratch + ROWS * COLS * size,
         *dots = grads + ROWS * COLS * size;
    for (int64_t row = 0; row < s->length; row += ROWS) {
        int64_t rows = la_min(ROWS, s->length - row);
        la_gemm_mat g = attention_shifted(matrix_at(s->grad, b), row, 0, size);
        la_gemm_mat o = attention_shifted(matrix_at(s->out, b), row, 0, size);
        s->ker->row_dots(dots, g.data, g.rs, o.data, o.rs, rows,
                         s->out_width);
        take_queries(s, dots + ROWS * size, b, row, rows);
        int64_t end = row == 0 ? s->keys : visible_end(s, row, rows);
        for (int64_t c = 0; c < end; c += COLS) {
            la_score_tile t = tile_of(s, scratch, b, row, rows, c,
                                      la_min(COLS, end - c));
            LA_TRY(backward_tile(s, &t, grads, dots, b));
        }
    }
    return LA_OK;
}

/* Sizes and kernels from the three inputs; the rest of 's' is cleared. */
static void take_inputs(attention *s, const la_tensor *q, const la_tensor *k,
                        const la_tensor *v)
{
    int n = q->ndim;
    *s = (attention){.q = q, .k = k, .v = v, .dtype = (la_dtype)q->dtype,
                     .size = (int64_t)la_itemsize(q),
                     .length = la_sizes(q)[n - 2], .keys = la_sizes(k)[n - 2],
                     .width = la_sizes(q)[n - 1],
                     .out_width = la_sizes(v)[n - 1], .batch = 1};
    for (int d = 0; d < n - 2; d++) s->batch *= la_sizes(q)[d];
    s->blocks = (s->length + ROWS - 1) / ROWS;
    s->ker = s->dtype == LA_FLOAT32 ? LA_STUB(attention_f32)
                                    : LA_STUB(attention_f64);
}

/* ---- operations ---- */

/* q [*, L, E], k [*, S, E], v [*, S, Ev]: one float dtype, equal batch dims
** (the composite expands them). */
static la_status check_inputs(const la_tensor *q, const la_tensor *k,
                              const la_tensor *v)
{
    int n = q->ndim;
    if (n < 2 || k->ndim != n || v->ndim != n)
        return la_error(LA_ESHAPE, "query, key and value must have the same "
                        "number of dims, at least 2");
    if (q->dtype != k->dtype || q->dtype != v->dtype)
        return la_error(LA_EDTYPE, "Expected query, key, and value to have the "
                        "same dtype, but got query.dtype: %s key.dtype: %s and "
                        "value.dtype: %s instead.", la_dtype_name(q->dtype),
                        la_dtype_name(k->dtype), la_dtype_name(v->dtype));
    if (q->dtype != LA_FLOAT32 && q->dtype != LA_FLOAT64)
        return la_error(LA_EDTYPE, "attention needs floating point tensors");
    for (int d = 0; d < n - 2; d++)
        if (la_sizes(q)[d] != la_sizes(k)[d] || la_sizes(q)[d]
            != la_sizes(v)[d])
            return la_error(LA_ESHAPE, "batch sizes differ at dimension %d",
                            d + 1);
    if (la_sizes(q)[n - 1] == la_sizes(k)[n - 1]
        && la_sizes(k)[n - 2] == la_sizes(v)[n - 2]) return LA_OK;
    return la_error(LA_ESHAPE, "query and key must have the same last size "
                    "(%lld, %lld), key and value the same length (%lld, %lld)",
                    (long long)la_sizes(q)[n - 1],
                    (long long)la_sizes(k)[n - 1],
                    (long long)la_sizes(k)[n - 2],
                    (long long)la_sizes(v)[n - 2]);
}

/* mask [*, L, S]: bool (true: attend) or of q's dtype (added), or NULL. */
static la_status attention_check_mask(const la_tensor *q, const la_tensor *k,
                                      const la_tensor *mask)
{
    int n = q->ndim;
    if (!mask) return LA_OK;
    bool fits = mask->ndim == n
        && la_sizes(mask)[n - 2] == la_sizes(q)[n - 2]
        && la_sizes(mask)[n - 1] == la_sizes(k)[n - 2];
    for (int d = 0; fits && d < n - 2; d++)
        fits = la_sizes(mask)[d] == la_sizes(q)[d];
    if (!fits) return la_error(LA_ESHAPE, "the mask's shape does not fit");
    if (mask->dtype == LA_BOOL || mask->dtype == q->dtype) return LA_OK;
    return la_error(LA_EDTYPE, "the mask must be bool or %s",
                    la_dtype_name(q->dtype));
}

/* attention(q, k, v, mask, is_causal, scale) -> out [*, L, Ev], lse [*, L]. */
la_status la_meta_attention(la_frame *f)
{
    const la_tensor *q = la_arg(f, 0), *k = la_arg(f, 1), *v = la_arg(f, 2);
    int64_t sizes[LA_MAX_DIMS];
    int n = q->ndim;
    LA_TRY(check_inputs(q, k, v));
    LA_TRY(attention_check_mask(q, k, la_arg(f, 3)));
    memcpy(sizes, la_sizes(q), (size_t)n * sizeof *sizes);
    sizes[n - 1] = la_sizes(v)[n - 1];
    LA_TRY(la_set_output(f, 0, n, sizes, NULL, (la_dtype)q->dtype));
    return la_set_output(f, 1, n - 1, sizes, NULL, (la_dtype)q->dtype);
}

/* Threads take blocks of ROWS queries of any batch entry. */
la_status la_impl_attention(la_frame *f)
{
    attention s;
    take_inputs(&s, la_arg(f, 0), la_arg(f, 1), la_arg(f, 2));
    s.mask = la_arg(f, 3);
    s.causal = la_arg_bool(f, 4);
    s.scale = la_arg_float(f, 5);
    s.out = la_result(f, 0);
    s.lse = la_result(f, 1);
    size_t bytes = (size_t)((ROWS * (COLS + 3 + s.width) + 64) * s.size);
    return la_iter_units(s.batch * s.blocks,
                         &(la_unit_plan){forward_block, 1, bytes}, &s);
}

/* attention_backward(grad, q, k, v, mask, out, lse, is_causal, scale) -> dq,
** dk, dv. The mask gets no gradient. */
la_status la_meta_attention_backward(la_frame *f)
{
    const la_tensor *g = la_arg(f, 0), *o = la_arg(f, 5);
    LA_TRY(check_inputs(la_arg(f, 1), la_arg(f, 2), la_arg(f, 3)));
    LA_TRY(attention_check_mask(la_arg(f, 1), la_arg(f, 2), la_arg(f, 4)));
    if (g->ndim != o->ndim || g->dtype != o->dtype
        || memcmp(la_sizes(g), la_sizes(o), (size_t)g->ndim * 8) != 0)
        return la_error_at(LA_ESHAPE, 1, "the gradient must have the output's "
                           "shape and dtype");
    for (int k = 0; k < 3; k++) {
        const la_tensor *t = la_arg(f, 1 + k);
        LA_TRY(la_set_output(f, k, t->ndim, la_sizes(t), NULL,
                             (la_dtype)t->dtype));
    }
    return LA_OK;
}

/* Zero elements need no memory, and may have none. */
static void attention_clear(const la_tensor *t)
{
    if (t->numel) memset(la_data(t), 0, (size_t)t->numel * la_itemsize(t));
}

/* row_dots reads lines: gradients of any strides are copied when needed. */
static la_status contiguous_lines(la_tensor *t, la_tensor **out)
{
    if (t->numel == 0 || la_strides(t)[t->ndim - 1] == 1)
        return la_tensor_same(t, out);
    la_tensor *copy;
    LA_TRY(la_tensor_empty(t->ndim, la_sizes(t), (la_dtype)t->dtype, &copy));
    la_context *c = la_ctx();
    bool before = c->no_grad;
    c->no_grad = true;
    la_status status = la_run_(copy_, copy, t);
    c->no_grad = before;
    if (status) la_tensor_drop(&copy);
    *out = copy;
    return status;
}

/* Without queries or keys nothing is summed: the gradients are zeros. */
la_status la_impl_attention_backward(la_frame *f)
{
    attention s;
    LA_LET(grad, contiguous_lines(la_arg(f, 0), &grad));
    LA_LET(out, contiguous_lines(la_arg(f, 5), &out));
    take_inputs(&s, la_arg(f, 1), la_arg(f, 2), la_arg(f, 3));
    s.mask = la_arg(f, 4);
    s.grad = grad;
    s.out = out;
    s.lse = la_arg(f, 6);
    s.causal = la_arg_bool(f, 7);
    s.scale = la_arg_float(f, 8);
    s.dq = la_result(f, 0);
    s.dk = la_result(f, 1);
    s.dv = la_result(f, 2);
    for (int k = 0; s.length == 0 || s.keys == 0; k++) {
        attention_clear(la_result(f, k));
        if (k == 2) return LA_OK;
    }
    size_t bytes = (size_t)((ROWS * (2 * COLS + 1 + s.width) + 64) * s.size);
    return la_iter_units(s.batch, &(la_unit_plan){backward_batch, 1, bytes},
                         &s);
}
