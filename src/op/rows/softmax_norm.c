/*
** softmax, log_softmax, layer norm, RMS norm and the gradients of the norms:
** rows in, rows of the same length out. The kernels want rows without gaps, so
** other layouts are copied first.
*/
#include "kernel/rows/rows.h"

#include <float.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "op/op.h"
#include "tensor/shape.h"

#define POLL 16               /* grains between looks at the interrupt */

/* 't' without gaps and of dtype 'd' in *slot, or NULL for NULL. */
static la_status softmax_norm_plain(la_tensor *t, la_dtype d, la_tensor **slot)
{
    if (!t) return LA_OK;
    if (la_is_contiguous(t) && t->dtype == d) return la_tensor_same(t, slot);
    return la_convert_to(t, d, slot);
}

/* ---- softmax: (self, dim, dtype) ---- */

/* Elements of the dim are 'inner' elements apart: 1 for rows, else columns. */
typedef struct soft {
    const la_softmax *kernel;
    const char *in;
    char *out;
    int64_t n, inner, esize;
    int64_t side, blocks;     /* columns of one task */
} soft;

/* Tasks are ranges of rows, or blocks of columns that share cache lines. */
static void soft_rows(int64_t begin, int64_t end, void *context)
{
    const soft *s = context;
    int64_t at = begin * s->n * s->esize;
    s->kernel->rows(s->in + at, s->out + at, s->n, end - begin);
}

/* Blocks begin..end of 'side' columns. */
static void soft_columns(int64_t begin, int64_t end, void *context)
{
    const soft *s = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t j = i % s->blocks * s->side, left = s->inner - j;
        int64_t at = (i / s->blocks * s->n * s->inner + j) * s->esize;
        s->kernel->columns(s->in + at, s->out + at, s->n, s->inner * s->esize,
                           left < s->side ? left : s->side);
    }
}

/* Exponentials are dear: a quarter of the usual grain is worth a thread. */
static la_status soft_run(soft *s, int64_t numel)
{
    int64_t grain = la_ceil_div(LA_GRAIN / 4, s->n);
    if (s->inner == 1)
        return la_iter_items(numel / s->n, grain, grain * POLL, soft_rows, s);
    s->side = 64;
    s->blocks = la_ceil_div(s->inner, s->side);
    grain = la_ceil_div(LA_GRAIN / 4, s->n * s->side);
    return la_iter_items(numel / (s->n * s->inner) * s->blocks, grain,
                         grain * POLL, soft_columns, s);
}

/* The result's dtype: argument 3, else self's. */
static la_dtype soft_dtype(const la_frame *f)
{
    return la_has(f, 2) ? f->args[2].dtype : (la_dtype)la_arg(f, 0)->dtype;
}

/* Results in 'dtype' or self's; LA_EDTYPE when that is no floating one. */
static la_status soft_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    la_dtype d = soft_dtype(f);
    int dim = 0;
    LA_TRY(la_wrap_dim(la_arg_int(f, 1), self->ndim, &dim));
    f->scratch[0] = dim;
    if (!la_is_float(d))
        return la_error_at(LA_EDTYPE, 1, "floating point tensor expected, "
                           "got %s; say dtype = \"float32\"",
                           la_dtype_name(d));
    LA_TRY(la_set_output(f, 0, self->ndim, la_sizes(self), NULL, d));
    return la_take_names(la_result(f, 0), self);
}

/* Other layouts and dtypes are converted first: a contiguous copy costs less
** than the exponentials of strided rows. */
static la_status soft_impl(la_frame *f, const la_softmaxes *table)
{
    LA_OWNED plain = NULL;
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    int dim = (int)f->scratch[0];
    if (self->numel == 0) return LA_OK;
    plain = la_tensor_retain(self);
    if (self->dtype != out->dtype || !la_is_contiguous(self))
        LA_TRY(la_convert_to(self, (la_dtype)out->dtype, &plain));
    soft s = {.kernel = &(*table)[out->dtype], .in = la_data(plain),
              .out = la_data(out), .n = 1, .inner = 1,
              .esize = (int64_t)la_itemsize(out)};
    if (self->ndim) s.n = la_sizes(self)[dim];
    for (int d = dim + 1; d < self->ndim; d++) s.inner *= la_sizes(self)[d];
    return soft_run(&s, self->numel);
}

/* (self, dim, dtype): exp(x - max) / sum(exp(x - max)) along dim, and its
** logarithm x - max - log(sum), which no rounding of the quotient can spoil. */
LA_FORWARD(la_meta_softmax, soft_meta(f))
LA_FORWARD(la_meta_log_softmax, soft_meta(f))
LA_FORWARD(la_impl_softmax, soft_impl(f, LA_STUB(softmax)))
LA_FORWARD(la_impl_log_softmax, soft_impl(f, LA_STUB(log_softmax)))

/* ---- softmax_backward, log_softmax_backward: (grad, result, dim) ---- */

typedef struct soft_grad {
    const la_softmax_grad *kernel;
    const char *dy, *y;
    char *out;
    int64_t n, inner, esize;
} soft_grad;

/* Rows begin..end. */
static void soft_grad_rows(int64_t begin, int64_t end, void *context)
{
    const soft_grad *s = context;
    int64_t at = begin * s->n * s->esize;
    s->kernel->rows(s->dy + at, s->y + at, s->out + at, s->n, end - begin);
}

/* Matrices begin..end of n rows and 'inner' columns. */
static void soft_grad_columns(int64_t begin, int64_t end, void *context)
{
    const soft_grad *s = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = i * s->n * s->inner * s->esize;
        s->kernel->columns(s->dy + at, s->y + at, s->out + at, s->n,
                           s->inner * s->esize, s->inner);
    }
}

/* The gradient has the result's sizes (LA_ESHAPE) and becomes its dtype, which
** must be floating (LA_EDTYPE). */
static la_status soft_grad_meta(la_frame *f)
{
    const la_tensor *grad = la_arg(f, 0), *y = la_arg(f, 1);
    int dim = 0;
    LA_TRY(la_wrap_dim(la_arg_int(f, 2), y->ndim, &dim));
    f->scratch[0] = dim;
    if (!la_same_sizes(grad, y))
        return la_error_at(LA_ESHAPE, 1, "%s: the gradient must have the "
                           "result's sizes", f->op->name);
    if (!la_is_float((la_dtype)y->dtype))
        return la_error_at(LA_EDTYPE, 2, "%s needs a floating point tensor, "
                           "got %s", f->op->name,
                           la_dtype_name((la_dtype)y->dtype));
    return la_set_output(f, 0, y->ndim, la_sizes(y), NULL, (la_dtype)y->dtype);
}

/* Both inputs in the result's dtype, without gaps. */
static la_status soft_grad_impl(la_frame *f, const la_softmax_grads *table)
{
    la_tensor *result = la_arg(f, 1);
    la_dtype d = (la_dtype)result->dtype;
    if (result->numel == 0) return LA_OK;
    LA_LET(dy, softmax_norm_plain(la_arg(f, 0), d, &dy));
    LA_LET(y, softmax_norm_plain(result, d, &y));
    soft_grad s = {.kernel = &(*table)[d], .dy = la_data(dy), .y = la_data(y),
                   .out = la_data(la_result(f, 0)), .n = 1, .inner = 1,
                   .esize = (int64_t)la_itemsize(y)};
    int dim = (int)f->scratch[0];
    if (y->ndim) s.n = la_sizes(y)[dim];
    for (int k = dim + 1; k < y->ndim; k++) s.inner *= la_sizes(y)[k];
    int64_t grain = la_ceil_div(LA_GRAIN / 4, s.n * s.inner);
    return la_iter_items(y->numel / (s.n * s.inner), grain, grain * POLL,
                         s.inner == 1 ? soft_grad_rows : soft_grad_columns,
                         &s);
}

/* With y the forward result, sums along dim: softmax gives y * (dy - sum(dy *
** y)), log_softmax dy - exp(y) * sum(dy). */
LA_FORWARD(la_meta_softmax_backward, soft_grad_meta(f))
LA_FORWARD(la_meta_log_softmax_backward, soft_grad_meta(f))
LA_FORWARD(la_impl_softmax_backward, soft_grad_impl(f, LA_STUB(softmax_grad)))
LA_FORWARD(la_impl_log_softmax_backward,
           soft_grad_impl(f, LA_STUB(log_softmax_grad)))

/* ---- layer norm and RMS norm ---- */

/* The last dims are normalised: k of them, n elements. */
static la_status softmax_norm_check_shape(const la_tensor *self,
                                          const la_value *shape, int *k,
    int64_t *n)
{
    int64_t count = shape->ints.n;
    *n = 1;
    *k = (int)count;
    if (count < 1 || count > self->ndim)
        return la_error_at(LA_ESHAPE, 2, "normalized_shape has %lld sizes, the "
                           "input %d dims", (long long)count, self->ndim);
    for (int64_t i = 0; i < count; i++) {
        int64_t size = la_sizes(self)[self->ndim - count + i];
        if (shape->ints.list[i] != size)
            return la_error_at(LA_ESHAPE, 2, "normalized_shape says %lld where "
                               "the input has %lld elements",
                               (long long)shape->ints.list[i],
                               (long long)size);
        *n *= size;
    }
    return LA_OK;
}

/* A weight or bias has the sizes of the normalised dims, or is not given. */
static la_status check_affine(const la_tensor *self, const la_tensor *w,
                              int k, int arg)
{
    if (!w) return LA_OK;
    bool fits = w->ndim == k;
    for (int d = 0; fits && d < k; d++)
        fits = la_sizes(w)[d] == la_sizes(self)[self->ndim - k + d];
    if (!fits)
        return la_error_at(LA_ESHAPE, arg, "the sizes must be those of "
                           "normalized_shape");
    return LA_OK;
}

/* Statistics are kept in float32, or float64 for float64. */
static la_dtype softmax_norm_stat_dtype(la_dtype d)
{
    return d == LA_FLOAT64 ? LA_FLOAT64 : LA_FLOAT32;
}

/* LA_EDTYPE for a tensor that is not floating. */
static la_status float_only(const la_tensor *self)
{
    if (la_is_float((la_dtype)self->dtype)) return LA_OK;
    return la_error_at(LA_EDTYPE, 1, "a floating point tensor is expected, "
                       "got %s", la_dtype_name((la_dtype)self->dtype));
}

/* Results: out, then 'stats' tensors with one number per row. */
static la_status norm_meta(la_frame *f, int affine, int stats)
{
    la_tensor *self = la_arg(f, 0);
    int64_t sizes[LA_MAX_DIMS], n;
    int k;
    LA_TRY(float_only(self));
    LA_TRY(softmax_norm_check_shape(self, &f->args[1], &k, &n));
    for (int a = 0; a < affine; a++)
        LA_TRY(check_affine(self, la_arg(f, 2 + a), k, 3 + a));
    LA_TRY(la_set_output(f, 0, self->ndim, la_sizes(self), NULL,
                         (la_dtype)self->dtype));
    for (int d = 0; d < self->ndim; d++)
        sizes[d] = d < self->ndim - k ? la_sizes(self)[d] : 1;
    for (int i = 0; i < stats; i++)
        LA_TRY(la_set_output(f, 1 + i, self->ndim, sizes, NULL,
                             softmax_norm_stat_dtype((la_dtype)self->dtype)));
    f->scratch[0] = n;
    return LA_OK;
}

static char *data_of(const la_tensor *t) { return t ? la_data(t) : NULL; }

typedef struct norm_task {
    la_norm_rows all;
    la_row_norm_fn fn;
    int64_t esize, ssize;
} norm_task;

/* The part of a row statistic that belongs to a task; NULL stays NULL. */
static char *from(const char *p, int64_t bytes)
{
    return p ? (char *)p + bytes : NULL;
}

/* Rows begin..end. */
static void norm_rows(int64_t begin, int64_t end, void *context)
{
    const norm_task *t = context;
    la_norm_rows r = t->all;
    r.in += begin * r.n * t->esize;
    r.out = from(r.out, begin * r.n * t->esize);
    r.mean = from(r.mean, begin * t->ssize);
    r.rstd = from(r.rstd, begin * t->ssize);
    r.rows = end - begin;
    t->fn(&r);
}

/* 'centred': layer norm, else RMS norm. A row is normalised by one task, so the
** bits do not depend on threads. */
static la_status norm_impl(la_frame *f, la_tensor *weight, la_tensor *bias,
                           double eps, bool centred)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    la_dtype d = (la_dtype)self->dtype;
    if (self->numel == 0) return LA_OK;
    LA_LET(x, softmax_norm_plain(self, d, &x));
    LA_LET(w, softmax_norm_plain(weight, d, &w));
    LA_LET(b, softmax_norm_plain(bias, d, &b));
    int64_t n = f->scratch[0], rows = self->numel / n;
    norm_task t = {
        .all = {.in = la_data(x), .out = f->unread & 1 ? NULL : la_data(out),
                .weight = data_of(w), .bias = data_of(b),
                .mean = centred ? la_data(la_result(f, 1)) : NULL,
                .rstd = la_data(la_result(f, centred ? 2 : 1)),
                .n = n, .rows = rows, .eps = eps, .centred = centred},
        .fn = (*LA_STUB(row_norm))[d], .esize = (int64_t)la_itemsize(self),
        .ssize = d == LA_FLOAT64 ? 8 : 4
    };
    int64_t grain = la_ceil_div(LA_GRAIN, n);
    return la_iter_items(rows, grain, grain * POLL, norm_rows, &t);
}

/* (self, normalized_shape, weight, bias, eps) -> (x - mean) / sqrt(var + eps) *
** weight + bias, mean and rstd of the rows, which the gradient needs (J. L. Ba
** et al., Layer Normalization, 2016). */
LA_FORWARD(la_meta_native_layer_norm, norm_meta(f, 2, 2))
LA_FORWARD(la_impl_native_layer_norm,
           norm_impl(f, la_arg(f, 2), la_arg(f, 3), la_arg_float(f, 4), true))
/* (self, normalized_shape, weight, eps) -> x / sqrt(mean(x^2) + eps) * weight
** and rstd (B. Zhang and R. Sennrich, Root Mean Square Layer Normalization,
** 2019). */
LA_FORWARD(la_meta_native_rms_norm, norm_meta(f, 1, 1))
la_status la_impl_native_rms_norm(la_frame *f)
{
    bool wide = la_arg(f, 0)->dtype == LA_FLOAT64;
    double eps = la_has(f, 3) ? la_arg_float(f, 3)
               : wide ? DBL_EPSILON : FLT_EPSILON;
    return norm_impl(f, la_arg(f, 2), NULL, eps, false);
}

/* The first result of the native form. */
static la_status first_of(la_frame *f, const la_op *op, int n)
{
    la_tensor *out = NULL;
    LA_TRY(la_do(op, &out, n, f->args));
    return LA_GIVE(f, out);
}
LA_FORWARD(la_impl_layer_norm, first_of(f, LA_OP(native_layer_norm), 5))
LA_FORWARD(la_impl_rms_norm, first_of(f, LA_OP(native_rms_norm), 4))

/* ---- gradients: (grad, self, normalized_shape, [mean,] rstd, weight) ---- */

typedef struct grad_task {
    la_row_norm_grad all;
    la_row_norm_grad_fn fn;
    int64_t esize, ssize;
} grad_task;

/* Rows begin..end. */
static void grad_rows(int64_t begin, int64_t end, void *context)
{
    const grad_task *t = context;
    la_row_norm_grad r = t->all;
    int64_t at = begin * r.n * t->esize;
    r.dy += begin * r.apart * t->esize;
    r.in += at;
    r.out += at;
    r.mean = from(r.mean, begin * t->ssize);
    r.rstd = from(r.rstd, begin * t->ssize);
    r.rows = end - begin;
    t->fn(&r);
}

/* 'stats' of the forward results stand before the weight. LA_ESHAPE where
** anything does not have the sizes of the forward call. */
static la_status grad_meta(la_frame *f, int stats)
{
    la_tensor *grad = la_arg(f, 0), *self = la_arg(f, 1);
    int64_t n;
    int k;
    LA_TRY(float_only(self));
    LA_TRY(softmax_norm_check_shape(self, &f->args[2], &k, &n));
    LA_TRY(check_affine(self, la_arg(f, 3 + stats), k, 4 + stats));
    bool same = grad->dtype == self->dtype && la_same_sizes(grad, self);
    for (int i = 0; same && i < stats; i++)
        same = la_arg(f, 3 + i)->numel == (n ? self->numel / n : 0);
    if (!same)
        return la_error(LA_ESHAPE, "the gradient and the statistics must be "
                        "those of the forward call");
    f->scratch[0] = n;
    return la_set_output(f, 0, self->ndim, la_sizes(self), NULL,
                         (la_dtype)self->dtype);
}

/* The gradient as rows of n elements without gaps, *apart elements from one to
** the next: one row where it is the same for all, as that of a sum is. */
static la_status norm_dy(la_tensor *dy, la_dtype d, int k, int64_t n,
                         int64_t *apart, la_tensor **slot)
{
    int lead = dy->ndim - k;
    bool same = dy->numel > n;
    for (int j = 0; j < lead; j++)
        same = same && (la_sizes(dy)[j] == 1 || la_strides(dy)[j] == 0);
    *apart = same ? 0 : n;
    if (!same) return softmax_norm_plain(dy, d, slot);
    LA_LET(row, la_tensor_view(dy, k, la_sizes(dy) + lead,
                               la_strides(dy) + lead, dy->offset, &row));
    return softmax_norm_plain(row, d, slot);
}

/* 'mean' is NULL for RMS norm, which centres nothing. */
static la_status grad_impl(la_frame *f, la_tensor *mean, la_tensor *rstd,
                           la_tensor *weight)
{
    la_tensor *self = la_arg(f, 1);
    la_dtype d = (la_dtype)self->dtype;
    if (self->numel == 0) return LA_OK;
    int64_t n = f->scratch[0], rows = self->numel / n, apart;
    LA_LET(dy, norm_dy(la_arg(f, 0), d, (int)f->args[2].ints.n, n, &apart,
                       &dy));
    LA_LET(x, softmax_norm_plain(self, d, &x));
    LA_LET(w, softmax_norm_plain(weight, d, &w));
    LA_LET(m, softmax_norm_plain(mean, softmax_norm_stat_dtype(d), &m));
    LA_LET(s, softmax_norm_plain(rstd, softmax_norm_stat_dtype(d), &s));
    grad_task t = {
        .all = {.dy = la_data(dy), .in = la_data(x), .weight = data_of(w),
                .mean = data_of(m), .rstd = la_data(s),
                .out = la_data(la_result(f, 0)), .n = n, .rows = rows,
                .apart = apart, .centred = mean != NULL},
        .fn = (*LA_STUB(row_norm_grad))[d],
        .esize = (int64_t)la_itemsize(self), .ssize = d == LA_FLOAT64 ? 8 : 4
    };
    int64_t grain = la_ceil_div(LA_GRAIN, n);
    return la_iter_items(rows, grain, grain * POLL, grad_rows, &t);
}

/* ---- norm_backward(grad, self, normalized_shape, mean, rstd, weight): of the
** input, the weight and the bias. A block of rows adds up its own share of the
** last two; the shares are joined in order, whatever the threads. ---- */

#define SHARE 64              /* rows of a block */

/* Results: gradients of the input, in its dtype, and of weight and bias in the
** dtype of the statistics. */
static la_status share_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, 1);
    int64_t n;
    int k;
    LA_TRY(float_only(self));
    LA_TRY(softmax_norm_check_shape(self, &f->args[2], &k, &n));
    LA_TRY(check_affine(self, la_arg(f, 5), k, 6));
    f->scratch[0] = n;
    LA_TRY(la_set_output(f, 0, self->ndim, la_sizes(self), NULL,
                         (la_dtype)self->dtype));
    for (int i = 1; i <= 2; i++)
        LA_TRY(la_set_output(f, i, k, la_sizes(self) + self->ndim - k, NULL,
                             softmax_norm_stat_dtype((la_dtype)self->dtype)));
    return LA_OK;
}

/* Task k: rows SHARE * k and up; its share stands at 2 * n * k. */
static void share_rows(int64_t begin, int64_t end, void *context)
{
    const grad_task *t = context;
    for (int64_t k = begin; k < end; k++) {
        grad_task one = *t;
        int64_t first = k * SHARE, left = t->all.rows - first;
        one.all.dweight += 2 * k * t->all.n * t->ssize;
        one.all.dbias += 2 * k * t->all.n * t->ssize;
        grad_rows(first, first + (left < SHARE ? left : SHARE), &one);
    }
}

/* Sums in double and in the order of the rows: 'count' shares, 2 n apart, of
** the n elements of 'out'. */
static la_status join_shares(const char *shares, int64_t count, int64_t n,
                             la_tensor *out)
{
    bool wide = out->dtype == LA_FLOAT64;
    char *to = la_data(out);
    LA_EACH_POLLED(i, 0, n) {
        double sum = 0;
        for (int64_t k = 0; k < count; k++)
            sum += wide ? ((const double *)shares)[2 * k * n + i]
                        : (double)((const float *)shares)[2 * k * n + i];
        if (wide) ((double *)to)[i] = sum;
        else ((float *)to)[i] = (float)sum;
    }
    return la_poll();
}

LA_FORWARD(la_meta_norm_backward, share_meta(f))
/* Without elements the sums are zeros. Memory for the shares grows with the
** rows: one share for each SHARE of them. */
la_status la_impl_norm_backward(la_frame *f)
{
    grad_task t;
    la_tensor *self = la_arg(f, 1), *dw = la_result(f, 1);
    la_dtype d = (la_dtype)self->dtype;
    int64_t n = f->scratch[0], apart;
    if (self->numel == 0) {
        memset(la_data(dw), 0, (size_t)dw->numel * la_itemsize(dw));
        memset(la_data(la_result(f, 2)), 0, (size_t)n * la_itemsize(dw));
        return LA_OK;
    }
    LA_LET(dy, norm_dy(la_arg(f, 0), d, (int)f->args[2].ints.n, n, &apart,
                       &dy));
    LA_LET(x, softmax_norm_plain(self, d, &x));
    LA_LET(w, softmax_norm_plain(la_arg(f, 5), d, &w));
    LA_LET(m, softmax_norm_plain(la_arg(f, 3), softmax_norm_stat_dtype(d), &m));
    LA_LET(s, softmax_norm_plain(la_arg(f, 4), softmax_norm_stat_dtype(d), &s));
    int64_t rows = self->numel / n, count = la_ceil_div(rows, SHARE);
    int64_t ssize = (int64_t)la_itemsize(dw), bytes = 2 * count * n * ssize;
    char *shares = la_mem_zalloc((size_t)bytes);
    if (!shares) return LA_ENOMEM;
    t = (grad_task){
        .all = {.dy = la_data(dy), .in = la_data(x), .weight = data_of(w),
                .mean = data_of(m), .rstd = la_data(s),
                .out = la_data(la_result(f, 0)), .n = n, .rows = rows,
                .apart = apart, .dweight = shares,
                .dbias = shares + n * ssize, .centred = m != NULL},
        .fn = (*LA_STUB(row_norm_grad))[d],
        .esize = (int64_t)la_itemsize(self), .ssize = ssize
    };
    la_status status = la_iter_items(count, la_ceil_div(LA_GRAIN, SHARE * n),
                                     1, share_rows, &t);
    if (!status) status = join_shares(shares, count, n, dw);
    if (!status)
        status = join_shares(shares + n * ssize, count, n, la_result(f, 2));
    la_mem_free(shares, (size_t)bytes);
    return status;
}

/* The gradient of the input alone. */
LA_FORWARD(la_meta_native_layer_norm_backward, grad_meta(f, 2))
LA_FORWARD(la_impl_native_layer_norm_backward,
           grad_impl(f, la_arg(f, 3), la_arg(f, 4), la_arg(f, 5)))
LA_FORWARD(la_meta_native_rms_norm_backward, grad_meta(f, 1))
LA_FORWARD(la_impl_native_rms_norm_backward,
           grad_impl(f, NULL, la_arg(f, 3), la_arg(f, 4)))
