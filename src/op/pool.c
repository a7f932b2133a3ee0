/*
** Pooling: the largest value or the mean of windows over the last one to three
** dims, and the gradients. Planes are independent and go to threads.
*/
#include "kernel/pool.h"

#include <string.h>

#include "base/pool.h"
#include "op/conv.h"
#include "tensor/shape.h"

typedef void (*plane_fn)(const la_pool *);

typedef struct planes {
    la_pool pool;             /* of the first plane */
    plane_fn run;
    int64_t images, channels;
    int64_t in_step[2], out_step[2];   /* image and channel, bytes */
    int64_t index_step;       /* per plane */
} planes;

static void run_planes(int64_t begin, int64_t end, void *context)
{
    const planes *s = context;
    for (int64_t i = begin; i < end; i++) {
        la_pool p = s->pool;
        int64_t n = i / s->channels, c = i % s->channels;
        p.in += n * s->in_step[0] + c * s->in_step[1];
        p.out += n * s->out_step[0] + c * s->out_step[1];
        if (p.index) p.index += i * s->index_step;
        s->run(&p);
    }
}

static la_status run(planes *s)
{
    const la_window *w = s->pool.w;
    int64_t work = w[0].out * w[1].out * w[2].out
        * (s->pool.adaptive ? 8 : w[0].kernel * w[1].kernel * w[2].kernel);
    int64_t grain = 16384 / (work + 1) + 1, all = s->images * s->channels;
    if (all > 0) la_parallel_for(all, grain, run_planes, s);
    return la_interrupted() ? LA_EINTR : LA_OK;
}

/* Steps of a tensor whose last 'nd' dims are spatial; the dims before, at most
** two, are images and channels. */
static void steps_of(const la_tensor *t, int nd, int64_t spatial[3],
                     int64_t lead[2])
{
    int64_t size = (int64_t)la_itemsize(t);
    int first = t->ndim - nd;
    lead[0] = first > 1 ? la_strides(t)[first - 2] * size : 0;
    lead[1] = first > 0 ? la_strides(t)[first - 1] * size : 0;
    for (int d = 0; d < 3; d++)
        spatial[d] = d < 3 - nd ? 0 : la_strides(t)[first + d - (3 - nd)];
}

static la_status check_input(const la_tensor *t, int nd, bool floats)
{
    if (t->ndim != nd + 1 && t->ndim != nd + 2)
        return la_error_at(LA_ESHAPE, 1, "Expected %dD or %dD input, got %dD",
                           nd + 1, nd + 2, t->ndim);
    const la_pool_kernels *k = &(*LA_STUB(pool))[t->dtype];
    if (!k->max || (floats && !la_is_float(t->dtype)))
        return la_error_at(LA_EDTYPE, 1, "pooling not implemented for %s",
                           la_dtype_name(t->dtype));
    for (int d = t->ndim - nd - 1; d < t->ndim; d++)
        if (la_sizes(t)[d] == 0)
            return la_error_at(LA_ESHAPE, 1, "non-empty dims expected besides "
                               "the batch");
    return LA_OK;
}

/* Kernel, stride (the kernel's when empty), padding, dilation (NULL: 1). */
static la_status windows_of(const la_tensor *t, const la_value *kernel,
                            const la_value *dilation, bool ceil_mode,
                            la_window w[3], int *nd)
{
    int64_t k[3], s[3], p[3], d[3] = {1, 1, 1};
    int n = (int)kernel->ints.n;
    *nd = n;
    LA_TRY(la_spatial(&kernel[0], n, "kernel_size", 1, k));
    LA_TRY(la_spatial(kernel[1].ints.n ? &kernel[1] : &kernel[0], n, "stride",
                      1, s));
    LA_TRY(la_spatial(&kernel[2], n, "padding", 0, p));
    if (dilation) LA_TRY(la_spatial(dilation, n, "dilation", 1, d));
    for (int i = 0; i < 3; i++) w[i] = (la_window){1, 1, 1, 1, 0, 1};
    for (int i = 0; i < n; i++) {
        if (p[i] * 2 > k[i])
            return la_error(LA_EARG, "pad should be at most half of effective "
                            "kernel size, but got pad=%lld and kernel size "
                            "%lld", (long long)p[i], (long long)k[i]);
        la_window *o = &w[3 - n + i];
        *o = (la_window){la_sizes(t)[t->ndim - n + i], 0, k[i], s[i], p[i],
                         d[i]};
        LA_TRY(la_window_out(o, ceil_mode));
    }
    return LA_OK;
}

static la_status adaptive_windows(const la_tensor *t, const la_value *sizes,
                                  la_window w[3], int *nd)
{
    int64_t out[3];
    int n = *nd = (int)sizes->ints.n;
    LA_TRY(la_spatial(sizes, n, "output_size", 0, out));
    for (int i = 0; i < 3; i++) w[i] = (la_window){1, 1, 1, 1, 0, 1};
    for (int i = 0; i < n; i++)
        w[3 - n + i] = (la_window){la_sizes(t)[t->ndim - n + i], out[i], 1, 1,
                                   0, 1};
    return LA_OK;
}

/* Result k: the input's leading dims, then the windows' counts. */
static la_status put_output(la_frame *f, int k, const la_tensor *t, int nd,
                            const la_window w[3], la_dtype dtype)
{
    int64_t sizes[LA_MAX_DIMS], strides[LA_MAX_DIMS];
    bool last = (t->flags & LA_F_CHANNELS_LAST) && !la_is_contiguous(t)
        && t->ndim == 4 && nd == 2 && k == 0;
    memcpy(sizes, la_sizes(t), (size_t)t->ndim * sizeof *sizes);
    for (int i = 0; i < nd; i++) sizes[t->ndim - nd + i] = w[3 - nd + i].out;
    if (last)
        LA_TRY(la_format_strides(LA_FORMAT_CHANNELS_LAST, 4, sizes, strides));
    return la_set_output(f, k, t->ndim, sizes, last ? strides : NULL, dtype);
}

static void planes_of(planes *s, const la_tensor *in, const la_tensor *out,
                      int nd, const la_window w[3])
{
    *s = (planes){.images = 1, .channels = 1};
    memcpy(s->pool.w, w, sizeof s->pool.w);
    s->pool.in = la_data(in);
    s->pool.out = la_data(out);
    steps_of(in, nd, s->pool.in_step, s->in_step);
    steps_of(out, nd, s->pool.out_step, s->out_step);
    int lead = in->ndim - nd;
    if (lead > 1) s->images = la_sizes(in)[lead - 2];
    if (lead > 0) s->channels = la_sizes(in)[lead - 1];
    s->index_step = w[0].out * w[1].out * w[2].out;
}

static const la_pool_kernels *kernels_of(const la_tensor *t)
{
    return &(*LA_STUB(pool))[t->dtype];
}

/* ---- max ---- */

la_status la_meta_max_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_window w[3];
    int nd;
    LA_TRY(check_input(t, (int)f->args[1].ints.n, false));
    LA_TRY(windows_of(t, &f->args[1], &f->args[4], la_arg_bool(f, 5), w, &nd));
    LA_TRY(put_output(f, 0, t, nd, w, (la_dtype)t->dtype));
    return put_output(f, 1, t, nd, w, LA_INT64);
}

la_status la_impl_max_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_window w[3];
    planes s;
    int nd;
    LA_TRY(windows_of(t, &f->args[1], &f->args[4], la_arg_bool(f, 5), w, &nd));
    planes_of(&s, t, la_result(f, 0), nd, w);
    s.pool.index = (int64_t *)la_data(la_result(f, 1));
    s.run = kernels_of(t)->max;
    return run(&s);
}

la_status la_meta_adaptive_max_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_window w[3];
    int nd;
    LA_TRY(check_input(t, (int)f->args[1].ints.n, false));
    LA_TRY(adaptive_windows(t, &f->args[1], w, &nd));
    LA_TRY(put_output(f, 0, t, nd, w, (la_dtype)t->dtype));
    return put_output(f, 1, t, nd, w, LA_INT64);
}

la_status la_impl_adaptive_max_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_window w[3];
    planes s;
    int nd;
    LA_TRY(adaptive_windows(t, &f->args[1], w, &nd));
    planes_of(&s, t, la_result(f, 0), nd, w);
    s.pool.index = (int64_t *)la_data(la_result(f, 1));
    s.pool.adaptive = true;
    s.run = kernels_of(t)->max;
    return run(&s);
}

/* ---- gradients ---- */

static la_status meta_back(la_frame *f, int nd)
{
    const la_tensor *g = la_arg(f, 0), *t = la_arg(f, 1);
    int lead = t->ndim - nd;
    LA_TRY(check_input(t, nd, true));
    if (g->dtype != t->dtype || g->ndim != t->ndim
        || memcmp(la_sizes(g), la_sizes(t), (size_t)lead * 8) != 0)
        return la_error_at(LA_ESHAPE, 1, "the gradient's shape or dtype is not "
                           "that of the pooling's result");
    return la_set_output(f, 0, t->ndim, la_sizes(t), NULL, (la_dtype)t->dtype);
}

/* Zero the result, which is contiguous, and let every plane add to it. */
static la_status run_back(la_frame *f, planes *s, int nd, const la_window w[3],
                          bool adaptive, const la_tensor *index)
{
    const la_tensor *g = la_arg(f, 0), *out = la_result(f, 0);
    planes made;
    for (int i = 0; i < nd; i++)
        if (la_sizes(g)[g->ndim - nd + i] != w[3 - nd + i].out)
            return la_error_at(LA_ESHAPE, 1, "the gradient's shape is not that "
                               "of the pooling's result");
    planes_of(&made, out, g, nd, w);
    made.pool.adaptive = adaptive;
    made.pool.count_pad = s->pool.count_pad;
    made.pool.divisor = s->pool.divisor;
    made.pool.index = index ? (int64_t *)la_data(index) : NULL;
    made.run = s->run;
    if (out->numel) memset(la_data(out), 0, (size_t)out->numel
                           * la_itemsize(out));
    return run(&made);
}

la_status la_meta_max_pool_backward(la_frame *f)
{
    const la_tensor *g = la_arg(f, 0), *i = la_arg(f, 2);
    if (i->dtype != LA_INT64 || i->ndim != g->ndim
        || memcmp(la_sizes(i), la_sizes(g), (size_t)g->ndim * 8) != 0)
        return la_error_at(LA_ESHAPE, 3, "indices must be int64 with the "
                           "gradient's shape");
    if (la_arg_int(f, 3) < 1 || la_arg_int(f, 3) > 3)
        return la_error_at(LA_EARG, 4, "1 to 3 spatial dims");
    return meta_back(f, (int)la_arg_int(f, 3));
}

la_status la_impl_max_pool_backward(la_frame *f)
{
    const la_tensor *g = la_arg(f, 0), *t = la_arg(f, 1);
    int nd = (int)la_arg_int(f, 3);
    la_window w[3] = {{1, 1, 1, 1, 0, 1}, {1, 1, 1, 1, 0, 1},
                      {1, 1, 1, 1, 0, 1}};
    LA_OWNED index = NULL;
    planes s = {.run = kernels_of(t)->max_back};
    for (int i = 0; i < nd; i++) {
        w[3 - nd + i].in = la_sizes(t)[t->ndim - nd + i];
        w[3 - nd + i].out = la_sizes(g)[g->ndim - nd + i];
    }
    LA_TRY(la_plain_contiguous(la_arg(f, 2), &index));
    return run_back(f, &s, nd, w, false, index);
}

/* ---- averages ---- */

/* Arguments from 'k' on: kernel, stride, padding, ceil_mode, count_include_pad,
** divisor_override. */
static la_status average_of(const la_frame *f, int k, const la_tensor *t,
                            la_window w[3], int *nd, la_pool *p)
{
    const la_value *a = f->args + k;
    LA_TRY(windows_of(t, a, NULL, a[3].b, w, nd));
    p->count_pad = a[4].b;
    p->divisor = 0;
    if (a[5].tag != LA_VINT) return LA_OK;
    if (a[5].i == 0) return la_error(LA_EARG, "divisor must be not zero");
    p->divisor = (double)a[5].i;
    return LA_OK;
}

la_status la_meta_avg_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_window w[3];
    la_pool p;
    int nd;
    LA_TRY(check_input(t, (int)f->args[1].ints.n, false));
    LA_TRY(average_of(f, 1, t, w, &nd, &p));
    return put_output(f, 0, t, nd, w, (la_dtype)t->dtype);
}

la_status la_impl_avg_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_window w[3];
    la_pool p;
    planes s;
    int nd;
    LA_TRY(average_of(f, 1, t, w, &nd, &p));
    planes_of(&s, t, la_result(f, 0), nd, w);
    s.pool.count_pad = p.count_pad;
    s.pool.divisor = p.divisor;
    s.run = kernels_of(t)->average;
    return run(&s);
}

la_status la_meta_avg_pool_backward(la_frame *f)
{
    la_window w[3];
    la_pool p;
    int nd;
    LA_TRY(average_of(f, 2, la_arg(f, 1), w, &nd, &p));
    return meta_back(f, nd);
}

la_status la_impl_avg_pool_backward(la_frame *f)
{
    la_window w[3];
    planes s = {.run = kernels_of(la_arg(f, 1))->average_back};
    int nd;
    LA_TRY(average_of(f, 2, la_arg(f, 1), w, &nd, &s.pool));
    return run_back(f, &s, nd, w, false, NULL);
}

la_status la_meta_adaptive_avg_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_window w[3];
    int nd;
    LA_TRY(check_input(t, (int)f->args[1].ints.n, false));
    LA_TRY(adaptive_windows(t, &f->args[1], w, &nd));
    return put_output(f, 0, t, nd, w, (la_dtype)t->dtype);
}

la_status la_impl_adaptive_avg_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    la_window w[3];
    planes s;
    int nd;
    LA_TRY(adaptive_windows(t, &f->args[1], w, &nd));
    planes_of(&s, t, la_result(f, 0), nd, w);
    s.pool.adaptive = true;
    s.run = kernels_of(t)->average;
    return run(&s);
}

la_status la_meta_adaptive_avg_pool_backward(la_frame *f)
{
    if (la_arg_int(f, 2) < 1 || la_arg_int(f, 2) > 3)
        return la_error_at(LA_EARG, 3, "1 to 3 spatial dims");
    return meta_back(f, (int)la_arg_int(f, 2));
}

la_status la_impl_adaptive_avg_pool_backward(la_frame *f)
{
    const la_tensor *g = la_arg(f, 0), *t = la_arg(f, 1);
    int nd = (int)la_arg_int(f, 2);
    la_window w[3] = {{1, 1, 1, 1, 0, 1}, {1, 1, 1, 1, 0, 1},
                      {1, 1, 1, 1, 0, 1}};
    planes s = {.run = kernels_of(t)->average_back};
    for (int i = 0; i < nd; i++) {
        w[3 - nd + i].in = la_sizes(t)[t->ndim - nd + i];
        w[3 - nd + i].out = la_sizes(g)[g->ndim - nd + i];
    }
    return run_back(f, &s, nd, w, true, NULL);
}
