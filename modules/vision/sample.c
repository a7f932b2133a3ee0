/*
** grid_sample: images and volumes at given points, and the gradients for the
** image and for the points. Chunks of points go over the threads; the gradient
** of an image is added up plane by plane, each by one thread in the order of
** the points.
**
** With a direction u (one vector per point) each operation is the derivative of
** the plain one as the points move along u: what second derivatives need.
*/
#include "modules/vision/kernel/sample.h"

#include "iter/items.h"
#include "op/conv/conv.h"
#include "op/move/copy.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/vision/ops.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"

/* ---- the call as users write it ---- */

static la_status sample_find_word(const la_value *v, int arg,
                                  const char *const *words, const char *what,
    int *out)
{
    for (*out = 0; *out < 3; ++*out)
        if (la_str_is(v, words[*out])) return LA_OK;
    return la_error_at(LA_EARG, arg + 1, "unknown %s '%s': %s, %s or %s "
                       "expected", what,
                       LA_QUOTED(v),
                       words[0], words[1], words[2]);
}

/* (input, grid, mode, padding_mode, align_corners) */
/* Keywords become numbers here; the operation behind takes a direction as
** well, which derivatives need and users do not. */
la_status la_impl_grid_sample(la_frame *f)
{
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    int mode, padding;
    LA_TRY(sample_find_word(&f->args[2], 2, modes, "mode", &mode));
    LA_TRY(sample_find_word(&f->args[3], 3, paddings, "padding_mode",
                            &padding));
    return la_run_result(f, grid_sampler, f->args[0], f->args[1], la_v_none(),
                         mode, padding, f->args[4]);
}

/* ---- checks ---- */

/* A call's tensors: 'plane' is the image or its gradient, 'value' what is read
** or its gradient. Which is given depends on the operation. */
typedef struct operands {
    la_tensor *grid, *direction;
    int mode, padding;
    bool align_corners;
} operands;

/* Arguments from k on: grid, direction, mode, padding, align_corners. */
static operands sample_operands_of(const la_frame *f, int k)
{
    return (operands){
        .grid = la_arg(f, k), .direction = la_arg(f, k + 1),
        .mode = (int)la_arg_int(f, k + 2), .padding = (int)la_arg_int(f, k + 3),
        .align_corners = la_arg_bool(f, k + 4)};
}

/* The grid fits an image of 'ndim' dims and dtype and its direction fits it. */
static la_status sample_check_grid(const la_frame *f, const operands *o,
                                   const la_tensor *image)
{
    const la_tensor *g = o->grid, *u = o->direction;
    LA_TRY(la_require_dtype(f, (la_dtype)image->dtype));
    if (image->ndim != 4 && image->ndim != 5)
        return la_error_at(LA_ESHAPE, 1, "4 or 5 dims (batch, channels, sizes) "
                           "expected, got %d", image->ndim);
    if (g->dtype != image->dtype || (u && u->dtype != image->dtype))
        return la_error_at(LA_EDTYPE, 2, "input and grid must have the same "
                           "dtype, got %s and %s", la_dtype_name(image->dtype),
                           la_dtype_name(g->dtype));
    if (g->ndim != image->ndim || la_sizes(g)[0] != la_sizes(image)[0]
        || la_sizes(g)[g->ndim - 1] != image->ndim - 2)
        return la_error_at(LA_ESHAPE, 2, "a grid of %d dims expected: batch "
                           "(%lld), %d sizes, and %d coordinates in the last",
                           image->ndim, (long long)la_sizes(image)[0],
                           image->ndim - 2, image->ndim - 2);
    if (u && (u->ndim != g->ndim || memcmp(la_sizes(u), la_sizes(g),
                                           (size_t)g->ndim * 8) != 0))
        return la_error(LA_ESHAPE, "direction and grid differ in their shape");
    if (o->mode == LA_SAMPLE_CUBIC && image->ndim == 5)
        return la_error_at(LA_EARG, 3, "mode 'bicubic' is for 4 dims");
    if (o->mode < 0 || o->mode > LA_SAMPLE_CUBIC || o->padding < 0
        || o->padding > LA_PAD_REFLECTION)
        return la_error(LA_EARG, "no such mode");
    return LA_OK;
}

/* Planes that 32 bits count, none of them empty. */
/* Kernels count pixels of a plane in 32 bits, so that a vector holds twice as
** many positions as with 64. */
static la_status sample_check_planes(const int64_t *sizes, int nd)
{
    int64_t n = 1;
    for (int d = 0; d < nd; d++) {
        if (sizes[d] < 1)
            return la_error_at(LA_ESHAPE, 1, "an image without pixels can't be "
                               "sampled: size %lld in dim %d",
                               (long long)sizes[d], 3 + d);
        if (!la_mul_ok(n, sizes[d], &n) || n > INT32_MAX)
            return la_error_at(LA_ESHAPE, 1, "planes of more than %d elements "
                               "can't be sampled", INT32_MAX);
    }
    return LA_OK;
}

/* Values have the image's batch and channels, and the grid's sizes. */
static la_status sample_check_values(const la_tensor *value,
                                     const la_tensor *grid)
{
    bool fits = value->ndim == grid->ndim
        && la_sizes(value)[0] == la_sizes(grid)[0];
    for (int d = 2; fits && d < value->ndim; d++)
        fits = la_sizes(value)[d] == la_sizes(grid)[d - 1];
    if (fits) return LA_OK;
    return la_error_at(LA_ESHAPE, 1, "the gradient's shape is not that of the "
                       "result");
}

/* ---- running ---- */

typedef struct job {
    const la_sample_kernels *kernels;
    la_sample sample;         /* of the first chunk of the first image */
    int64_t images, channels, points, size;
    int64_t chunks, together; /* channels of a unit that adds */
} job;

/* Contiguous copies of what is read; those of results are themselves. */
typedef struct held {
    la_tensor *grid, *direction, *plane, *value;
} held;

static void drop_held(held *h)
{
    la_tensor_drop(&h->grid);
    la_tensor_drop(&h->direction);
    la_tensor_drop(&h->plane);
    la_tensor_drop(&h->value);
}

/* Kernels read dense tensors only. Results were allocated dense, so that
** holding them copies nothing. */
static la_status sample_hold(const operands *o, la_tensor *plane,
                             la_tensor *value, held *h)
{
    *h = (held){.grid = NULL};
    LA_TRY(la_as_contiguous(o->grid, &h->grid));
    if (o->direction) LA_TRY(la_as_contiguous(o->direction, &h->direction));
    LA_TRY(la_as_contiguous(plane, &h->plane));
    return la_as_contiguous(value, &h->value);
}

/* Sizes stand in the order of the coordinates (x first), which is the reverse
** of the order of dims. */
static job sample_job_of(const operands *o, const held *h)
{
    const la_tensor *plane = h->plane, *value = h->value;
    int nd = plane->ndim - 2;
    job j = {.images = la_sizes(plane)[0], .channels = la_sizes(plane)[1],
             .points = 1, .size = (int64_t)la_itemsize(plane)};
    la_sample *s = &j.sample;
    j.kernels = plane->dtype == LA_FLOAT32 ? LA_STUB(sample_f32)
        : LA_STUB(sample_f64);
    *s = (la_sample){.nd = nd, .mode = (la_sample_mode)o->mode,
        .padding = (la_sample_padding)o->padding,
        .align_corners = o->align_corners, .plane_step = 1,
        .grid = la_data(h->grid),
        .direction = h->direction ? la_data(h->direction) : NULL,
        .plane = la_data(plane), .value = la_data(value)};
    for (int d = 0; d < nd; d++) {
        s->size[d] = la_sizes(plane)[1 + nd - d];
        s->plane_step *= s->size[d];
        j.points *= la_sizes(value)[2 + d];
    }
    s->value_step = j.points;
    j.chunks = la_ceil_div(j.points, LA_SAMPLE_POINTS);
    return j;
}

/* Image n, chunk k, channels c to c + count of a job. */
static la_sample chunk_of(const job *j, int64_t n, int64_t k, int64_t c,
                          int64_t count)
{
    la_sample s = j->sample;
    int64_t first = k * LA_SAMPLE_POINTS, at = n * j->points + first;
    s.points = la_min(j->points - first, LA_SAMPLE_POINTS);
    s.channels = count;
    s.grid += at * s.nd * j->size;
    if (s.direction) s.direction += at * s.nd * j->size;
    if (s.slope) s.slope += at * s.nd * j->size;
    s.plane += (n * j->channels + c) * s.plane_step * j->size;
    s.value += ((n * j->channels + c) * s.value_step + first) * j->size;
    return s;
}

/* A chunk of points for all channels: positions and weights are found once and
** serve each of them. */
static la_status read_unit(void *context, int64_t u, char *scratch)
{
    const job *j = context;
    la_sample s = chunk_of(j, u / j->chunks, u % j->chunks, 0, j->channels);
    j->kernels->read(&s, scratch);
    return LA_OK;
}

static la_status slope_unit(void *context, int64_t u, char *scratch)
{
    const job *j = context;
    la_sample s = chunk_of(j, u / j->chunks, u % j->chunks, 0, j->channels);
    j->kernels->slope(&s, scratch);
    return LA_OK;
}

/* Some channels of one image, all points. */
static la_status add_unit(void *context, int64_t u, char *scratch)
{
    const job *j = context;
    int64_t blocks = la_ceil_div(j->channels, j->together);
    int64_t c = u % blocks * j->together;
    int64_t count = la_min(j->together, j->channels - c);
    for (int64_t k = 0; k < j->chunks && !la_interrupted(); k++) {
        la_sample s = chunk_of(j, u / blocks, k, c, count);
        j->kernels->add(&s, scratch);
    }
    return LA_OK;
}

/* The nearest pixel stays the same as points move: results are zero. */
/* Only the derivative along a direction vanishes: without a direction the
** values themselves are asked for. */
static bool is_flat(const operands *o)
{
    return o->mode == LA_SAMPLE_NEAREST && o->direction;
}

#define CHANNELS_TOGETHER 8   /* they share the work of finding the taps */

/* Reading is cut by points, adding by channels: two points may add to one
** pixel, two channels never do. So sums have one order, whatever the number of
** threads. */
static la_status sample_run_units(job *j, la_unit_fn run)
{
    int64_t work = LA_SAMPLE_POINTS * (j->channels + 4) * 16;
    la_unit_plan plan = {.run = run, .grain = 65536 / work + 1,
                         .bytes = j->kernels->scratch};
    int64_t units = j->images * j->chunks;
    if (run == add_unit) {
        j->together = la_min(CHANNELS_TOGETHER, j->channels);
        units = j->images * la_ceil_div(j->channels, j->together);
        plan.grain = 1;
    }
    LA_TRY(la_iter_units(units, &plan, j));
    return la_poll();
}

/* ---- the operations ---- */

enum { READ_IMAGE, READ_GRID };

/* grid_sampler(input, grid, direction, mode, padding, align_corners) */
la_status la_meta_grid_sampler(la_frame *f)
{
    const la_tensor *image = la_arg(f, READ_IMAGE);
    operands o = sample_operands_of(f, READ_GRID);
    int64_t sizes[5];
    LA_TRY(sample_check_grid(f, &o, image));
    LA_TRY(sample_check_planes(la_sizes(image) + 2, image->ndim - 2));
    sizes[0] = la_sizes(image)[0];
    sizes[1] = la_sizes(image)[1];
    for (int d = 2; d < image->ndim; d++) sizes[d] = la_sizes(o.grid)[d - 1];
    return la_set_output(f, 0, image->ndim, sizes, NULL,
                         (la_dtype)image->dtype);
}

la_status la_impl_grid_sampler(la_frame *f)
{
    operands o = sample_operands_of(f, READ_GRID);
    held h;
    if (la_result(f, 0)->numel == 0) return LA_OK;
    if (is_flat(&o)) return la_zero_data(la_result(f, 0));
    la_status status = sample_hold(&o, la_arg(f, READ_IMAGE), la_result(f, 0),
                                   &h);
    if (!status) {
        job j = sample_job_of(&o, &h);
        status = sample_run_units(&j, read_unit);
    }
    drop_held(&h);
    return status;
}

enum { ADD_GRAD, ADD_GRID, ADD_SIZE = 6 };

/* grid_sampler_grad_input(grad, grid, direction, mode, padding, align_corners,
** size) */
la_status la_meta_grid_sampler_grad_input(la_frame *f)
{
    const la_tensor *grad = la_arg(f, ADD_GRAD);
    const la_value *size = &f->args[ADD_SIZE];
    operands o = sample_operands_of(f, ADD_GRID);
    int64_t sizes[5];
    LA_TRY(sample_check_grid(f, &o, grad));
    LA_TRY(sample_check_values(grad, o.grid));
    if (size->ints.n != grad->ndim - 2)
        return la_error(LA_ESHAPE, "%d sizes expected, got %lld",
                        grad->ndim - 2, (long long)size->ints.n);
    LA_TRY(sample_check_planes(size->ints.list, grad->ndim - 2));
    sizes[0] = la_sizes(grad)[0];
    sizes[1] = la_sizes(grad)[1];
    memcpy(sizes + 2, size->ints.list, (size_t)size->ints.n * sizeof *sizes);
    return la_set_output(f, 0, grad->ndim, sizes, NULL, (la_dtype)grad->dtype);
}

/* Pixels that no point touches keep their zero. */
la_status la_impl_grid_sampler_grad_input(la_frame *f)
{
    operands o = sample_operands_of(f, ADD_GRID);
    la_tensor *out = la_result(f, 0);
    held h;
    if (out->numel == 0) return LA_OK;
    LA_TRY(la_zero_data(out));
    if (la_arg(f, ADD_GRAD)->numel == 0 || is_flat(&o)) return LA_OK;
    la_status status = sample_hold(&o, out, la_arg(f, ADD_GRAD), &h);
    if (!status) {
        job j = sample_job_of(&o, &h);
        status = sample_run_units(&j, add_unit);
    }
    drop_held(&h);
    return status;
}

enum { SLOPE_GRAD, SLOPE_IMAGE, SLOPE_GRID };

/* grid_sampler_grad_grid(grad, input, grid, direction, mode, padding,
** align_corners) */
la_status la_meta_grid_sampler_grad_grid(la_frame *f)
{
    const la_tensor *grad = la_arg(f, SLOPE_GRAD);
    const la_tensor *image = la_arg(f, SLOPE_IMAGE);
    operands o = sample_operands_of(f, SLOPE_GRID);
    LA_TRY(sample_check_grid(f, &o, image));
    LA_TRY(sample_check_values(grad, o.grid));
    LA_TRY(sample_check_planes(la_sizes(image) + 2, image->ndim - 2));
    if (grad->dtype != image->dtype
        || la_sizes(grad)[1] != la_sizes(image)[1])
        return la_error_at(LA_ESHAPE, 1, "gradient and input differ in dtype "
                           "or channels");
    return la_set_output(f, 0, o.grid->ndim, la_sizes(o.grid), NULL,
                         (la_dtype)grad->dtype);
}

la_status la_impl_grid_sampler_grad_grid(la_frame *f)
{
    operands o = sample_operands_of(f, SLOPE_GRID);
    held h;
    if (la_result(f, 0)->numel == 0) return LA_OK;
    if (is_flat(&o)) return la_zero_data(la_result(f, 0));
    la_status status = sample_hold(&o, la_arg(f, SLOPE_IMAGE),
                                   la_arg(f, SLOPE_GRAD), &h);
    if (!status) {
        job j = sample_job_of(&o, &h);
        j.sample.slope = la_data(la_result(f, 0));
        status = sample_run_units(&j, slope_unit);
    }
    drop_held(&h);
    return status;
}

/* ---- affine_grid ---- */

/* Coordinates of n pixels, shaped to lie along dim d of nd + 2. */
/* -1 and 1 are centres of the corner pixels (align_corners), or their outer
** edges; a single pixel is at 0. */
static la_status sample_coordinates(la_frame *f, int64_t n, int d, int nd,
                                    la_tensor **out)
{
    la_dtype dtype = (la_dtype)la_arg(f, 0)->dtype;
    bool align = la_arg_bool(f, 2);
    int64_t shape[LA_MAX_DIMS];
    double end = n < 2 ? 0 : align ? 1 : (double)(n - 1) / (double)n;
    for (int k = 0; k < nd + 2; k++) shape[k] = k == d ? n : 1;
    LA_LET(line, la_run(linspace, &line, -end, end, n, true, la_v_dtype(dtype),
                        la_v_device((la_device)la_arg(f, 0)->device)));
    return la_run(reshape, out, line, la_v_ints(shape, nd + 2));
}

/* theta is (N, nd, nd + 1). */
static la_status check_theta(const la_frame *f, int *nd)
{
    const la_tensor *theta = la_arg(f, 0);
    const la_value *size = &f->args[1];
    *nd = (int)size->ints.n - 2;
    if (*nd != 2 && *nd != 3)
        return la_error_at(LA_EARG, 2, "size should have 4 or 5 entries (N, C, "
                           "H, W) or (N, C, D, H, W), got %lld",
                           (long long)size->ints.n);
    for (int k = 0; k < *nd + 2; k++)
        if (size->ints.list[k] < 1)
            return la_error_at(LA_EARG, 2, "sizes should be positive, got %lld",
                               (long long)size->ints.list[k]);
    if (theta->ndim == 3 && la_sizes(theta)[0] == size->ints.list[0]
        && la_sizes(theta)[1] == *nd && la_sizes(theta)[2] == *nd + 1)
        return LA_OK;
    return la_error_at(LA_ESHAPE, 1, "a batch of maps (%lld, %d, %d) expected",
                       (long long)size->ints.list[0], *nd, *nd + 1);
}

/* affine_grid(theta, size, align_corners): theta's last column and, per
** dim of the result, its coordinate times one more column. */
la_status la_impl_affine_grid(la_frame *f)
{
    la_tensor *theta = la_arg(f, 0);
    int64_t shape[LA_MAX_DIMS];
    int nd;
    LA_OWNED sum = NULL;
    LA_TRY(check_theta(f, &nd));
    for (int k = 0; k < nd + 2; k++) shape[k] = 1;
    shape[0] = la_sizes(theta)[0];
    shape[nd + 1] = nd;
    for (int d = nd; d >= 0; d--) {
        LA_OWNED column = NULL;
        LA_OWNED wide = NULL;
        LA_OWNED line = NULL;
        LA_OWNED part = NULL;
        la_tensor *next = NULL;
        LA_TRY(la_run(select, &column, theta, 2, d));
        LA_TRY(la_run(reshape, &wide, column, la_v_ints(shape, nd + 2)));
        if (d == nd) {
            sum = la_tensor_retain(wide);
            continue;
        }
        LA_TRY(sample_coordinates(f, f->args[1].ints.list[nd + 1 - d], nd - d,
                                  nd, &line));
        LA_TRY(la_run(mul, &part, wide, line));
        LA_TRY(la_run(add, &next, sum, part));
        la_tensor_release(sum);
        sum = next;
    }
    return LA_GIVE(f, la_tensor_retain(sum));
}
