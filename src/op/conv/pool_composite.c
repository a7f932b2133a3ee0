/*
** Pooling as users call it, for one to three dims (composites of max_pool,
** avg_pool and their adaptive forms), lp_pool, and im2col / col2im, which have
** kernels.
*/
#include "iter/items.h"
#include "iter/iter.h"
#include "op/conv/conv.h"
#include "op/matmul/matmul.h"
#include "op/move/copy.h"
#include "op/view/view.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/pool.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"

/* 'list' gets nd integers from one or nd; an empty list (a default) stays
** empty. */
static la_status expand_list(const la_value *v, int nd, int64_t list[3],
                             la_value *out)
{
    *out = la_v_ints(list, v->ints.n ? nd : 0);
    if (v->ints.n != 0 && v->ints.n != 1 && v->ints.n != nd)
        return la_error(LA_EARG, "expected a single number or a list of %d, "
                        "got %lld numbers", nd, (long long)v->ints.n);
    for (int d = 0; v->ints.n && d < nd; d++)
        list[d] = v->ints.list[v->ints.n == 1 ? 0 : d];
    return LA_OK;
}

/* An operation with values and indices; the indices are returned if 'both'. */
static la_status call_with_indices(la_frame *f, const la_op *op, int n,
                                   const la_value *args, bool both)
{
    la_value r[LA_MAX_RESULTS];
    LA_TRY(la_do_many(op, r, n, args));
    la_set_result(f, 0, r[0].tensor);
    if (both) la_set_result(f, 1, r[1].tensor);
    else la_tensor_release(r[1].tensor);
    return LA_OK;
}

/* (input, kernel_size, stride, padding, dilation, ceil_mode, return_indices) */
static la_status max_pool(la_frame *f, int nd)
{
    int64_t list[4][3];
    la_value a[6] = {f->args[0]};
    for (int k = 1; k <= 4; k++)
        LA_TRY(expand_list(&f->args[k], nd, list[k - 1], &a[k]));
    a[5] = f->args[5];
    if (!la_arg_bool(f, 6) && la_is_plain_call(f) && la_is_plain(a[0].tensor))
        return la_max_pool_values(f, a);
    return call_with_indices(f, LA_OP(max_pool), 6, a, la_arg_bool(f, 6));
}

/* max_poolNd, avg_poolNd, adaptive_*_poolNd: one operation for each number of
** spatial dims, which only expands lists of one integer. */
LA_FORWARD(la_impl_max_pool1d, max_pool(f, 1))
LA_FORWARD(la_impl_max_pool2d, max_pool(f, 2))
LA_FORWARD(la_impl_max_pool3d, max_pool(f, 3))

/* (input, kernel_size, stride, padding, ceil_mode, count_include_pad,
** divisor_override); avg_pool1d lacks the last. */
static la_status avg_pool(la_frame *f, int nd)
{
    int64_t list[3][3];
    la_tensor *out;
    la_value a[7] = {f->args[0]};
    for (int k = 1; k <= 3; k++)
        LA_TRY(expand_list(&f->args[k], nd, list[k - 1], &a[k]));
    a[4] = f->args[4];
    a[5] = f->args[5];
    a[6] = nd == 1 ? la_v_none() : f->args[6];
    LA_TRY(la_do(LA_OP(avg_pool), &out, 7, a));
    return LA_GIVE(f, out);
}

LA_FORWARD(la_impl_avg_pool1d, avg_pool(f, 1))
LA_FORWARD(la_impl_avg_pool2d, avg_pool(f, 2))
LA_FORWARD(la_impl_avg_pool3d, avg_pool(f, 3))

/* One window that is all of the plane: a mean, which has a kernel for it. */
static bool is_mean(const la_tensor *t, int nd, const int64_t *sizes)
{
    for (int d = 0; d < nd; d++)
        if (sizes[d] != 1) return false;
    return (t->ndim == nd + 1 || t->ndim == nd + 2) && t->numel > 0
        && la_is_float(t->dtype);
}

/* (input, output_size) */
static la_status adaptive_avg(la_frame *f, int nd)
{
    int64_t list[3], dims[3] = {-1, -2, -3};
    la_tensor *out;
    la_value a[2] = {f->args[0]};
    LA_TRY(expand_list(&f->args[1], nd, list, &a[1]));
    if (a[1].ints.n == nd && is_mean(la_arg(f, 0), nd, list))
        LA_TRY(la_run(mean, &out, a[0], la_v_ints(dims, nd), la_v_bool(true)));
    else
        LA_TRY(la_do(LA_OP(adaptive_avg_pool), &out, 2, a));
    return LA_GIVE(f, out);
}

LA_FORWARD(la_impl_adaptive_avg_pool1d, adaptive_avg(f, 1))
LA_FORWARD(la_impl_adaptive_avg_pool2d, adaptive_avg(f, 2))
LA_FORWARD(la_impl_adaptive_avg_pool3d, adaptive_avg(f, 3))

/* (input, output_size, return_indices) */
static la_status adaptive_max(la_frame *f, int nd)
{
    int64_t list[3];
    la_value a[2] = {f->args[0]};
    LA_TRY(expand_list(&f->args[1], nd, list, &a[1]));
    return call_with_indices(f, LA_OP(adaptive_max_pool), 2, a,
                             la_arg_bool(f, 2));
}

LA_FORWARD(la_impl_adaptive_max_pool1d, adaptive_max(f, 1))
LA_FORWARD(la_impl_adaptive_max_pool2d, adaptive_max(f, 2))
LA_FORWARD(la_impl_adaptive_max_pool3d, adaptive_max(f, 3))

/* ---- p-norms of windows ---- */

/* PyTorch's: (sign(m) * relu(|m|) * count)^(1/p), m the mean of x^p. */
static la_status lp_pool(la_frame *f, int nd)
{
    int64_t list[2][3], zero = 0;
    double count = 1;
    double p = la_arg_float(f, 1);
    la_value k, s;
    LA_OWNED open = NULL;
    LA_TRY(expand_list(&f->args[2], nd, list[0], &k));
    LA_TRY(expand_list(&f->args[3], nd, list[1], &s));
    LA_LET(powers, la_run(pow, &powers, f->args[0], la_scalar_float(p)));
    LA_LET(mean, la_run(avg_pool, &mean, powers, k, s, la_v_ints(&zero, 1),
                        f->args[4], la_v_bool(true), la_v_none()));
    for (int d = 0; d < k.ints.n; d++) count *= (double)list[0][d];
    LA_LET(sign, la_run(sign, &sign, mean));
    LA_LET(size, la_run(abs, &size, mean));
    LA_TRY(la_run(relu, &open, size));   /* no gradient at 0 */
    LA_LET(both, la_run(mul, &both, sign, open));
    LA_LET(sum, la_run(mul, &sum, both, la_scalar_float(count)));
    return la_run_result(f, pow, sum, la_scalar_float(1 / p));
}

/* lp_poolNd(input, norm_type, kernel_size, stride, ceil_mode) */
LA_FORWARD(la_impl_lp_pool1d, lp_pool(f, 1))
LA_FORWARD(la_impl_lp_pool2d, lp_pool(f, 2))

/* ---- im2col, col2im ---- */

/* Windows over an image of height and width 'in'; arguments from k on are
** kernel, dilation, padding, stride. */
static la_status image_windows(const la_frame *f, int k, const int64_t in[2],
                               la_columns *c)
{
    int64_t kernel[2], dilation[2], pad[2], stride[2];
    LA_TRY(la_spatial(&f->args[k], 2, "kernel_size", 1, kernel));
    LA_TRY(la_spatial(&f->args[k + 1], 2, "dilation", 1, dilation));
    LA_TRY(la_spatial(&f->args[k + 2], 2, "padding", 0, pad));
    LA_TRY(la_spatial(&f->args[k + 3], 2, "stride", 1, stride));
    c->w[0] = (la_window){1, 1, 1, 1, 0, 1};
    for (int d = 0; d < 2; d++) {
        c->w[1 + d] = (la_window){in[d], 0, kernel[d], stride[d], pad[d],
                                  dilation[d]};
        LA_TRY(la_window_out(&c->w[1 + d], false));
    }
    c->r0 = 0;
    c->r1 = c->w[1].out;
    c->col_step = c->w[1].out * c->w[2].out;
    return LA_OK;
}

/* Rows of columns per channel. */
static int64_t pool_call_taps_of(const la_columns *c)
{
    return c->w[1].kernel * c->w[2].kernel;
}

/* 'nd' dims, or one more with a batch. */
static la_status pool_call_check_image(const la_tensor *t, int nd)
{
    if (t->ndim == nd || t->ndim == nd + 1) return LA_OK;
    return la_error_at(LA_ESHAPE, 1, "Expected %dD or %dD input, got %dD", nd,
                       nd + 1, t->ndim);
}

/* im2col(input [N, C, H, W], kernel, dilation, padding, stride) -> [N, C *
** taps, windows]; F.unfold. */
la_status la_meta_im2col(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_columns c;
    int64_t sizes[3];
    LA_TRY(pool_call_check_image(t, 3));
    int lead = t->ndim - 3;
    const int64_t *s = la_sizes(t) + lead;
    LA_TRY(image_windows(f, 1, s + 1, &c));
    if (lead) sizes[0] = la_sizes(t)[0];
    sizes[lead] = s[0] * pool_call_taps_of(&c);
    sizes[lead + 1] = c.col_step;
    return la_set_output(f, 0, lead + 2, sizes, NULL, (la_dtype)t->dtype);
}

/* Channels of all images, in their order; 'cols' is contiguous. */
typedef struct channels_job {
    la_columns c;           /* of the first one */
    void (*run)(const la_columns *);
    int64_t size;           /* bytes of an element */
    int64_t channels, next; /* of an image; bytes to the next one */
    int64_t rows, some;     /* of windows; so many between two polls */
} channels_job;

/* Channels begin .. end-1. Nothing of another one is written. */
static void run_channels(int64_t begin, int64_t end, void *context)
{
    const channels_job *j = context;
    int64_t line = j->c.w[2].out * j->size;
    la_columns c = j->c;
    for (int64_t i = begin; i < end; i++) {
        char *cols = j->c.cols + i * pool_call_taps_of(&c) * c.col_step
            * j->size;
        c.image = j->c.image + i / j->channels * j->next
            + i % j->channels * c.image_step[0] * j->size;
        for (int64_t r = 0; (c.r1 = la_poll_part(r, j->rows, j->some)) > r;
             r = c.r1) {
            c.r0 = r;
            c.cols = cols + r * line;
            j->run(&c);
        }
    }
}

/* Every image of the batch; 'image' has 3 or 4 dims. LA_EINTR or LA_OK. */
static la_status each_image(const la_tensor *image, const la_tensor *cols,
                            la_columns *c, bool gather)
{
    const la_column_kernels *ker = &(*LA_STUB(columns))[image->dtype];
    int lead = image->ndim - 3;
    const int64_t *step = la_strides(image) + lead;
    int64_t count = lead ? la_sizes(image)[0] : 1;
    int64_t size = (int64_t)la_itemsize(image);
    int64_t all = la_sizes(image)[lead];
    int64_t work = 1 + pool_call_taps_of(c) * c->w[2].out; /* of a row */
    channels_job j = {*c, gather ? ker->gather : ker->scatter, size, all,
                      lead ? step[-1] * size : 0, c->r1,
                      LA_POLL_ELEMENTS / work + 1};
    j.c.first = 0;
    j.c.last = pool_call_taps_of(c);      /* lines: those of one channel */
    j.c.image_step[0] = step[0];
    j.c.image_step[1] = 0;
    j.c.image_step[2] = step[1];
    j.c.image_step[3] = step[2];
    j.c.image = la_data(image);
    j.c.cols = la_data(cols);
    work *= 1 + j.rows;
    return la_iter_items(count * all, LA_GRAIN / work + 1,
                         LA_POLL_ELEMENTS / work + 1, run_channels, &j);
}

/* The input may have any strides. */
la_status la_impl_im2col(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0), *out = la_result(f, 0);
    la_columns c;
    if (out->numel == 0) return LA_OK;
    LA_TRY(image_windows(f, 1, la_sizes(t) + t->ndim - 2, &c));
    return each_image(t, out, &c, true);
}

/* col2im(columns, output_size, kernel, dilation, padding, stride): the adjoint
** of im2col, overlapping windows add up; F.fold. */
la_status la_meta_col2im(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    int64_t in[2], sizes[4];
    la_columns c;
    LA_TRY(pool_call_check_image(t, 2));
    LA_TRY(la_spatial(&f->args[1], 2, "output_size", 1, in));
    LA_TRY(image_windows(f, 2, in, &c));
    int lead = t->ndim - 2;
    int64_t rows = la_sizes(t)[lead], taps = pool_call_taps_of(&c);
    if (rows % taps != 0 || la_sizes(t)[lead + 1] != c.col_step)
        return la_error_at(LA_ESHAPE, 1, "columns of %lld x %lld do not fit: a "
                           "multiple of %lld x %lld expected",
                           (long long)rows, (long long)la_sizes(t)[lead + 1],
                           (long long)taps, (long long)c.col_step);
    if (lead) sizes[0] = la_sizes(t)[0];
    sizes[lead] = rows / taps;
    sizes[lead + 1] = in[0];
    sizes[lead + 2] = in[1];
    return la_set_output(f, 0, lead + 3, sizes, NULL, (la_dtype)t->dtype);
}

/* Clears the images, then adds the columns in order. */
la_status la_impl_col2im(la_frame *f)
{
    const la_tensor *out = la_result(f, 0);
    la_columns c;
    if (out->numel == 0) return LA_OK;
    LA_LET(cols, la_as_contiguous(la_arg(f, 0), &cols));
    LA_TRY(image_windows(f, 2, la_sizes(out) + out->ndim - 2, &c));
    LA_TRY(la_zero_data(la_result(f, 0)));
    return each_image(out, cols, &c, false);
}
