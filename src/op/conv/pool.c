/*
** Pooling: maximum or mean of windows over the last one to three dims, and the
** gradients.
**
** Planes are independent, so they are divided among threads, and so are blocks
** of channels where channels are contiguous (channels_last). The gradient of a
** plane is computed by one thread, in the order of the windows.
*/
#include "kernel/conv/pool_loops.h"

#include <string.h>

#include "base/runtime/context.h"
#include "iter/items.h"
#include "op/conv/conv.h"
#include "op/move/copy.h"
#include "op/view/view.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/pool.def"
#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "op/call.h"
#include "op/impls.h"
#include "op/op.h"

typedef void (*plane_fn)(const la_pooling *);

#define BLOCK 32              /* channels of a unit where images are few */

typedef struct planes {
    la_pooling pool;             /* of the first plane */
    plane_fn run;
    int64_t size;             /* bytes of an element */
    int64_t images, channels, block;   /* channels of a unit */
    enum { APART, VOLUME, ROW } merged;   /* what those make together */
    int64_t in_step[2], out_step[2];   /* image and channel, elements */
} planes;

/* Units begin..end: 'block' channels of an image each. */
static void pool_run_units(int64_t begin, int64_t end, void *context)
{
    const planes *s = context;
    int64_t blocks = (s->channels + s->block - 1) / s->block;
    for (int64_t i = begin; i < end; i++) {
        la_pooling p = s->pool;
        int64_t n = i / blocks, c = i % blocks * s->block;
        int64_t out = n * s->out_step[0] + c * s->out_step[1];
        p.in += (n * s->in_step[0] + c * s->in_step[1]) * s->size;
        p.out += out * s->size;
        if (p.index) p.index += out;
        int64_t left = la_min(s->block, s->channels - c);
        if (p.channels) p.channels = left;
        else if (s->merged == VOLUME) p.w[0].in = p.w[0].out = left;
        else if (s->merged == ROW) p.w[2].in *= left, p.w[2].out *= left;
        s->run(&p);
    }
}

/* Contiguous channels of one image are one unit, or blocks of them where there
** are fewer images than threads. */
static void plan_units(planes *s)
{
    const la_window *w = s->pool.w;
    s->block = 1;
    if (s->in_step[1] != 1 || s->out_step[1] != 1 || s->channels < 2
        || w[0].in * w[1].in * w[2].in > INT32_MAX)
        return;
    s->block = s->channels;
    if (s->images < la_num_threads() && s->block > BLOCK) s->block = BLOCK;
    s->pool.channels = s->block;
}

/* Windows that neither overlap nor leave a gap along contiguous rows: all rows
** of an image are then one row of windows. */
static bool is_one_row(const planes *s)
{
    const la_window *w = &s->pool.w[2];
    int64_t reach = (w->kernel - 1) * w->dilation + 1;
    return s->pool.w[1].in == 1 && s->pool.w[1].kernel == 1 && w->pad == 0
        && reach <= w->stride && w->in == w->out * w->stride
        && s->in_step[1] == w->in && s->out_step[1] == w->out
        && s->pool.in_step[2] == 1 && s->pool.out_step[2] == 1;
}

/* Without indices, planes of an image form one volume with windows one plane
** deep, or even one row: one call of the kernel instead of one per plane. */
static void merge_channels(planes *s)
{
    la_window *w = s->pool.w;
    int64_t plane = w[1].in * w[2].in;
    if (s->pool.index || s->pool.channels || s->pool.adaptive || w[0].in != 1
        || w[0].kernel != 1 || w[0].out != 1 || plane > INT32_MAX / BLOCK)
        return;
    s->merged = is_one_row(s) ? ROW : VOLUME;
    s->block = s->images < la_num_threads() || plane > 4096 ? BLOCK
        : la_min(s->channels, INT32_MAX / (plane + 1));
    if (s->block > s->channels) s->block = s->channels;
    w[0] = (la_window){1, 1, 1, 1, 0, 1};
    s->pool.in_step[0] = s->in_step[1];
    s->pool.out_step[0] = s->out_step[1];
}

/* All units over the threads. LA_EINTR leaves the result unfinished. */
static la_status pool_run(planes *s, la_dtype dtype)
{
    const la_window *w = s->pool.w;
    if (la_is_float(dtype)) plan_units(s);
    merge_channels(s);
    /* Adaptive windows have no fixed size; eight elements are a guess that only
    ** decides how units are shared out. */
    int64_t work = w[0].out * w[1].out * w[2].out * s->block
        * (s->pool.adaptive ? 8 : w[0].kernel * w[1].kernel * w[2].kernel);
    int64_t blocks = (s->channels + s->block - 1) / s->block;
    int64_t grain = 16384 / (work + 1) + 1, all = s->images * blocks;
    return la_iter_items(all, grain, LA_POLL_ELEMENTS / (work + 1) + grain,
                         pool_run_units, s);
}

/* Strides of a tensor whose last 'nd' dims are spatial: theirs, and those of
** the dims before (image and channel; 0 where missing). */
static void pool_steps_of(const la_tensor *t, int nd, int64_t spatial[3],
                          int64_t lead[2])
{
    int first = t->ndim - nd;
    lead[0] = first > 1 ? la_strides(t)[first - 2] : 0;
    lead[1] = first > 0 ? la_strides(t)[first - 1] : 0;
    for (int d = 0; d < 3; d++)
        spatial[d] = d < 3 - nd ? 0 : la_strides(t)[first + d - (3 - nd)];
}

/* nd + 1 or nd + 2 dims, of which only the batch may be empty; a dtype with a
** kernel, floating point where 'floats'. */
static la_status check_input(const la_tensor *t, int nd, bool floats)
{
    if (t->ndim != nd + 1 && t->ndim != nd + 2)
        return la_error_at(LA_ESHAPE, 1, "Expected %dD or %dD input, got %dD",
                           nd + 1, nd + 2, t->ndim);
    const la_pool_kernels *k = &(*LA_STUB(pool))[t->dtype];
    if (!k->max || (floats && !la_is_float(t->dtype)))
        return la_error_at(LA_EDTYPE, 1, "pooling not implemented for %s",
                           la_dtype_name(t->dtype));
    /* An empty batch is fine; an empty plane has no maximum. */
    for (int d = t->ndim - nd - 1; d < t->ndim; d++)
        if (la_sizes(t)[d] == 0)
            return la_error_at(LA_ESHAPE, 1, "non-empty dims expected besides "
                               "the batch");
    return LA_OK;
}

/* Kernel, stride (the kernel's when empty), padding, dilation (NULL: 1). */
static la_status pool_windows_of(const la_tensor *t, const la_value *kernel,
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

/* Windows of adaptive pooling: the kernels compute their ends from the
** counts. */
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

/* The memory format of results: that of the input's images. */
static la_memory_format pool_format_of(const la_tensor *t, int nd)
{
    if (la_is_contiguous(t) || t->ndim != nd + 2) return LA_FORMAT_CONTIGUOUS;
    if (nd == 2 && (t->flags & LA_F_CHANNELS_LAST))
        return LA_FORMAT_CHANNELS_LAST;
    if (nd == 3 && (t->flags & LA_F_CHANNELS_LAST_3D))
        return LA_FORMAT_CHANNELS_LAST_3D;
    return LA_FORMAT_CONTIGUOUS;
}

/* Result k with these sizes in the input's memory format. */
static la_status set_output_format(la_frame *f, int k, const la_tensor *t,
                                   int nd, const int64_t *sizes, la_dtype dtype)
{
    int64_t strides[LA_MAX_DIMS];
    la_memory_format format = pool_format_of(t, nd);
    if (format == LA_FORMAT_CONTIGUOUS)
        return la_set_output(f, k, t->ndim, sizes, NULL, dtype);
    LA_TRY(la_format_strides(format, t->ndim, sizes, strides));
    return la_set_output(f, k, t->ndim, sizes, strides, dtype);
}

/* Result k: the input's leading dims, then the numbers of windows. */
static la_status set_pooled_output(la_frame *f, int k, const la_tensor *t,
                                   int nd, const la_window w[3], la_dtype dtype)
{
    int64_t sizes[LA_MAX_DIMS];
    memcpy(sizes, la_sizes(t), (size_t)t->ndim * sizeof *sizes);
    for (int i = 0; i < nd; i++) sizes[t->ndim - nd + i] = w[3 - nd + i].out;
    return set_output_format(f, k, t, nd, sizes, dtype);
}

/* Pointers and strides of both sides; the caller adds kernel and indices. */
static void planes_of(planes *s, const la_tensor *in, const la_tensor *out,
                      int nd, const la_window w[3])
{
    *s = (planes){.images = 1, .channels = 1, .block = 1,
                  .size = (int64_t)la_itemsize(in)};
    memcpy(s->pool.w, w, sizeof s->pool.w);
    s->pool.in = la_data(in);
    s->pool.out = la_data(out);
    pool_steps_of(in, nd, s->pool.in_step, s->in_step);
    pool_steps_of(out, nd, s->pool.out_step, s->out_step);
    int lead = in->ndim - nd;
    if (lead > 1) s->images = la_sizes(in)[lead - 2];
    if (lead > 0) s->channels = la_sizes(in)[lead - 1];
}

/* The table of the tensor's dtype; entries may be NULL (check_input). */
static const la_pool_kernels *pool_kernels_of(const la_tensor *t)
{
    return &(*LA_STUB(pool))[t->dtype];
}

/* ---- values ---- */

/* Arguments from 'k' on: kernel, stride, padding, ceil_mode, count_include_pad,
** divisor_override. */
static la_status average_of(const la_frame *f, int k, const la_tensor *t,
                            la_window w[3], int *nd, la_pooling *p)
{
    const la_value *a = f->args + k;
    LA_TRY(pool_windows_of(t, a, NULL, a[3].b, w, nd));
    p->count_pad = a[4].b;
    p->divisor = 0;
    if (a[5].tag != LA_VINT) return LA_OK;
    if (a[5].i == 0) return la_error(LA_EARG, "divisor must be not zero");
    p->divisor = (double)a[5].i;
    return LA_OK;
}

/* The windows and settings of a pooling. Adaptive ones have the output_size: of
** window i from floor(i * in / out) to ceil((i + 1) * in / out). */
static la_status pooling_of(const la_frame *f, la_pooling *p, int *nd)
{
    const la_tensor *t = la_arg(f, 0);
    *p = (la_pooling){.adaptive = f->op->role == LA_ROLE_adaptive};
    if (p->adaptive) return adaptive_windows(t, &f->args[1], p->w, nd);
    return f->op->role != LA_ROLE_largest ? average_of(f, 1, t, p->w, nd, p)
        : pool_windows_of(t, &f->args[1], &f->args[4], la_arg_bool(f, 5), p->w,
                          nd);
}

/* The values and, of a maximum, its int64 indices (from 1, within the
** plane). */
static la_status meta_pool(la_frame *f, bool indices)
{
    const la_tensor *t = la_arg(f, 0);
    la_pooling p;
    int nd;
    LA_TRY(check_input(t, (int)f->args[1].ints.n, false));
    LA_TRY(pooling_of(f, &p, &nd));
    LA_TRY(set_pooled_output(f, 0, t, nd, p.w, (la_dtype)t->dtype));
    return indices ? set_pooled_output(f, 1, t, nd, p.w, LA_INT64) : LA_OK;
}

/* The settings are read again: a frame keeps nothing between meta and impl.
** Indices share the strides of the values, as both were set from one input. */
static la_status impl_pool(la_frame *f, plane_fn fn, la_tensor *indices)
{
    const la_tensor *t = la_arg(f, 0);
    la_pooling p;
    planes s;
    int nd;
    LA_TRY(pooling_of(f, &p, &nd));
    planes_of(&s, t, la_result(f, 0), nd, p.w);
    if (indices) s.pool.index = (int64_t *)la_data(indices);
    s.pool.adaptive = p.adaptive;
    s.pool.count_pad = p.count_pad;
    s.pool.divisor = p.divisor;
    s.run = fn;
    return pool_run(&s, (la_dtype)t->dtype);
}

/* max_pool(self, kernel_size, stride, padding, dilation, ceil_mode),
** adaptive_max_pool(self, output_size) */
LA_FORWARD(la_meta_max_pool, meta_pool(f, true))
LA_FORWARD(la_meta_adaptive_max_pool, meta_pool(f, true))
LA_FORWARD(la_impl_max_pool,
           impl_pool(f, pool_kernels_of(la_arg(f, 0))->max, la_result(f, 1)))
LA_FORWARD(la_impl_adaptive_max_pool,
           impl_pool(f, pool_kernels_of(la_arg(f, 0))->max, la_result(f, 1)))

/* avg_pool: the mean of each window, divided by its size (with padding if
** count_include_pad) or by divisor_override. adaptive_avg_pool(self,
** output_size) */
LA_FORWARD(la_meta_avg_pool, meta_pool(f, false))
LA_FORWARD(la_meta_adaptive_avg_pool, meta_pool(f, false))
LA_FORWARD(la_impl_avg_pool,
           impl_pool(f, pool_kernels_of(la_arg(f, 0))->average, NULL))
LA_FORWARD(la_impl_adaptive_avg_pool,
           impl_pool(f, pool_kernels_of(la_arg(f, 0))->average, NULL))

/* Without indices a kernel may merge planes (merge_channels). */
la_status la_max_pool_values(la_frame *f, const la_value *args)
{
    const la_tensor *t = args[0].tensor;
    la_window w[3];
    planes s;
    int nd;
    LA_TRY(check_input(t, (int)args[1].ints.n, false));
    LA_TRY(pool_windows_of(t, &args[1], &args[4], args[5].b, w, &nd));
    LA_TRY(set_pooled_output(f, 0, t, nd, w, (la_dtype)t->dtype));
    planes_of(&s, t, la_result(f, 0), nd, w);
    s.run = pool_kernels_of(t)->max;
    return pool_run(&s, (la_dtype)t->dtype);
}

/* ---- gradients ---- */

/* The input's shape, dtype and memory format. */
static la_status meta_back(la_frame *f, int nd)
{
    const la_tensor *g = la_arg(f, 0), *t = la_arg(f, 1);
    int lead = t->ndim - nd;
    LA_TRY(check_input(t, nd, true));
    if (g->dtype != t->dtype || g->ndim != t->ndim
        || memcmp(la_sizes(g), la_sizes(t), (size_t)lead * 8) != 0)
        return la_error_at(LA_ESHAPE, 1, "the gradient's shape or dtype is not "
                           "that of the pooling's result");
    return set_output_format(f, 0, t, nd, la_sizes(t), (la_dtype)t->dtype);
}

la_status la_in_format(la_tensor *t, la_memory_format format, la_tensor **out)
{
    la_context *c = la_ctx();
    bool before = c->no_grad;
    c->no_grad = true;
    la_value as = {.tag = LA_VFORMAT, .given = true, .format = format};
    la_status status = la_run(contiguous, out, t, as);
    c->no_grad = before;
    return status;
}

/* Clears the result, then every plane adds to it. Indices share the gradient's
** strides, as the kernels' contract asks. */
static la_status pool_run_back(la_frame *f, const la_pooling *what, plane_fn fn,
                               int nd, la_tensor *indices)
{
    la_tensor *given = la_arg(f, 0), *out = la_result(f, 0);
    const la_window *w = what->w;
    la_memory_format format = pool_format_of(la_arg(f, 1), nd);
    LA_OWNED index = NULL;
    planes s;
    for (int i = 0; i < nd; i++)
        if (la_sizes(given)[given->ndim - nd + i] != w[3 - nd + i].out)
            return la_error_at(LA_ESHAPE, 1, "the gradient's shape is not that "
                               "of the pooling's result");
    LA_LET(g, la_in_format(given, format, &g));
    if (indices) LA_TRY(la_in_format(indices, format, &index));
    planes_of(&s, out, g, nd, w);
    s.pool.adaptive = what->adaptive;
    s.pool.count_pad = what->count_pad;
    s.pool.divisor = what->divisor;
    s.pool.index = index ? (int64_t *)la_data(index) : NULL;
    s.run = fn;
    LA_TRY(la_zero_data(out));
    return pool_run(&s, (la_dtype)out->dtype);
}

/* The gradient where only the counts of windows matter: indices say where each
** value came from, or adaptive windows follow from the counts. */
static la_status run_counted_back(la_frame *f, bool adaptive, plane_fn fn,
                                  int nd, la_tensor *indices)
{
    const la_tensor *g = la_arg(f, 0), *t = la_arg(f, 1);
    la_pooling p = {.adaptive = adaptive};
    for (int d = 0; d < 3; d++) p.w[d] = (la_window){1, 1, 1, 1, 0, 1};
    for (int i = 0; i < nd; i++) {
        p.w[3 - nd + i].in = la_sizes(t)[t->ndim - nd + i];
        p.w[3 - nd + i].out = la_sizes(g)[g->ndim - nd + i];
    }
    return pool_run_back(f, &p, fn, nd, indices);
}

/* max_pool_backward(grad, self, indices, ndim): each value to its index. */
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
    int nd = (int)la_arg_int(f, 3);
    const la_pool_kernels *ker = pool_kernels_of(la_arg(f, 1));
    return run_counted_back(f, false, ker->max_back, nd, la_arg(f, 2));
}

/* avg_pool_backward(grad, self, settings of avg_pool). */
la_status la_meta_avg_pool_backward(la_frame *f)
{
    la_window w[3];
    la_pooling p;
    int nd;
    LA_TRY(average_of(f, 2, la_arg(f, 1), w, &nd, &p));
    return meta_back(f, nd);
}

la_status la_impl_avg_pool_backward(la_frame *f)
{
    const la_tensor *t = la_arg(f, 1);
    la_pooling p = {.in = NULL};
    int nd;
    LA_TRY(average_of(f, 2, t, p.w, &nd, &p));
    return pool_run_back(f, &p, pool_kernels_of(t)->average_back, nd, NULL);
}

/* adaptive_avg_pool_backward(grad, self, ndim). */
la_status la_meta_adaptive_avg_pool_backward(la_frame *f)
{
    if (la_arg_int(f, 2) < 1 || la_arg_int(f, 2) > 3)
        return la_error_at(LA_EARG, 3, "1 to 3 spatial dims");
    return meta_back(f, (int)la_arg_int(f, 2));
}

la_status la_impl_adaptive_avg_pool_backward(la_frame *f)
{
    int nd = (int)la_arg_int(f, 2);
    const la_pool_kernels *ker = pool_kernels_of(la_arg(f, 1));
    return run_counted_back(f, true, ker->average_back, nd, NULL);
}
