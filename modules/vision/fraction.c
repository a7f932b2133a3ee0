/*
** fractional_max_pool2d and 3d: steps between windows are drawn per plane, so
** that they add up to the input's size.
*/
#include "modules/vision/kernel/fraction.h"

#include "iter/items.h"
#include "op/composite.h"
#include "op/conv/conv.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/vision/ops.def"
#include "op/call.h"
#include "op/impls.h"

/* ---- the calls as users write them ---- */

enum { INPUT, KERNEL, SIZE, RATIO, INDICES, SAMPLES, GENERATOR };

/* The sizes of the result, given or as shares of the input's. */
static la_status output_size(const la_frame *f, int nd, int64_t *out)
{
    const la_tensor *t = la_arg(f, INPUT);
    const la_value *ratio = &f->args[RATIO];
    if (la_has(f, SIZE) == la_has(f, RATIO))
        return la_error(LA_EARG, "one of output_size and output_ratio is "
                        "expected");
    if (la_has(f, SIZE))
        return la_spatial(&f->args[SIZE], nd, "output_size", 1, out);
    if (ratio->ints.n != 1 && ratio->ints.n != nd)
        return la_error_at(LA_EARG, RATIO + 1, "one ratio or a list of %d "
                           "expected", nd);
    for (int d = 0; d < nd; d++) {
        double r = la_float_at(ratio, ratio->ints.n == 1 ? 0 : d);
        if (!(r > 0 && r < 1))
            return la_error_at(LA_EARG, RATIO + 1, "output_ratio must be "
                               "between 0 and 1, got %g", r);
        out[d] = (int64_t)((double)la_sizes(t)[t->ndim - nd + d] * r);
    }
    return LA_OK;
}

/* The samples in t's dtype, given or drawn. */
static la_status samples_for(const la_frame *f, la_tensor *t, int nd,
                             la_tensor **out)
{
    int64_t shape[3] = {1, la_sizes(t)[t->ndim - nd - 1], nd};
    if (la_arg(f, SAMPLES))
        return la_run(to_dtype, out, f->args[SAMPLES],
                      la_v_dtype((la_dtype)t->dtype));
    if (t->ndim == nd + 2) shape[0] = la_sizes(t)[0];
    LA_TRY(la_run(new_empty, out, t, la_v_ints(shape, 3)));
    return la_run_(uniform_, *out, la_v_float(0), la_v_float(1),
                   f->args[GENERATOR]);
}

/* The samples are drawn before the operation runs, as a tensor: a recorded
** call repeats with the same windows, and gradients need no second draw. */
static la_status fraction_pool(la_frame *f, int nd)
{
    la_tensor *t = la_arg(f, INPUT);
    int64_t kernel[3], size[3];
    la_value r[LA_MAX_RESULTS];
    if (t->ndim != nd + 1 && t->ndim != nd + 2)
        return la_error_at(LA_ESHAPE, 1, "Expected %dD or %dD input, got %dD",
                           nd + 1, nd + 2, t->ndim);
    LA_TRY(la_spatial(&f->args[KERNEL], nd, "kernel_size", 1, kernel));
    LA_TRY(output_size(f, nd, size));
    LA_LET(samples, samples_for(f, t, nd, &samples));
    LA_TRY(la_run_many(fractional_max_pool, r, t, la_v_ints(kernel, nd),
                       la_v_ints(size, nd), samples));
    la_set_result(f, 0, r[0].tensor);
    if (la_arg_bool(f, INDICES)) la_set_result(f, 1, r[1].tensor);
    else la_tensor_release(r[1].tensor);
    return LA_OK;
}

/* (input, kernel_size, output_size, output_ratio, return_indices,
** random_samples, generator) */
static la_status pool2d(la_frame *f) { return fraction_pool(f, 2); }
static la_status pool3d(la_frame *f) { return fraction_pool(f, 3); }

LA_FORWARD(la_impl_fractional_max_pool2d,
           la_in_float32(f, 1u << SAMPLES, pool2d))
LA_FORWARD(la_impl_fractional_max_pool3d,
           la_in_float32(f, 1u << SAMPLES, pool3d))

/* ---- fractional_max_pool(input, kernel_size, output_size, samples) ---- */

/* Windows step by at least one: more of them than positions would not fit. */
la_status la_meta_fractional_max_pool(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0), *s = la_arg(f, 3);
    int nd = (int)f->args[1].ints.n, lead = t->ndim - nd;
    int64_t sizes[LA_MAX_DIMS];
    memcpy(sizes, la_sizes(t), (size_t)t->ndim * sizeof *sizes);
    for (int d = 0; d < nd; d++) {
        int64_t in = sizes[lead + d], k = f->args[1].ints.list[d];
        int64_t out = sizes[lead + d] = f->args[2].ints.list[d];
        if (out < 1 || k > in || out > in - k + 1)
            return la_error_at(LA_ESHAPE, 1, "%lld windows of %lld do not fit "
                               "into size %lld (dim %d)", (long long)out,
                               (long long)k, (long long)in, lead + d + 1);
    }
    bool fits = s->dtype == t->dtype && s->ndim == 3
        && la_sizes(s)[0] == (lead == 2 ? sizes[0] : 1)
        && la_sizes(s)[1] == sizes[lead - 1] && la_sizes(s)[2] == nd;
    if (!fits)
        return la_error(LA_ESHAPE, "random_samples (batch, channels, %d) of "
                        "the input's dtype expected", nd);
    LA_TRY(la_set_output(f, 0, t->ndim, sizes, NULL, (la_dtype)t->dtype));
    return la_set_output(f, 1, t->ndim, sizes, NULL, LA_INT64);
}

/* Planes differ in their samples, so that each computes its own steps, into
** scratch. */
typedef struct job {
    la_fraction first;        /* of the first plane */
    la_fraction_fn run;
    const la_tensor *samples;
    int nd;
    int64_t in, out;          /* elements of a plane */
    size_t size;
} job;

/* Number k of the samples of a plane. */
static double sample_at(const job *j, int64_t plane, int k)
{
    int64_t at = plane * j->nd + k;
    return j->samples->dtype == LA_FLOAT32
        ? ((const float *)(const void *)la_data(j->samples))[at]
        : ((const double *)(const void *)la_data(j->samples))[at];
}

/* Starts of windows along dim d; in float where the input is, as PyTorch does.
** Samples beyond 0..1 are taken for its ends. */
static void steps(const job *j, int d, double u, int64_t *first)
{
    const la_fraction *f = &j->first;
    int64_t n = f->count[d], last = f->size[d] - f->kernel[d];
    bool narrow = j->size == sizeof(float);
    u = u > 0 ? u < 1 ? u : 1 : 0;
    double by = n > 1 ? (double)last / (double)(n - 1) : 0;
    if (narrow) by = (double)((float)last / (n > 1 ? (float)(n - 1) : 1));
    for (int64_t i = 0; i < n - 1; i++) {
        double a = ((double)i + u) * by, b = u * by;
        if (narrow) a = (double)(((float)i + (float)u) * (float)by);
        if (narrow) b = (double)((float)u * (float)by);
        first[i] = la_min((int64_t)a - (int64_t)b, last);
    }
    first[n - 1] = last;
}

/* Planes begin..end; scratch holds the steps of the three dims. */
static la_status run_plane(void *context, int64_t plane, char *scratch)
{
    const job *j = context;
    la_fraction f = j->first;
    int64_t *first = (int64_t *)(void *)scratch;
    for (int d = 0; d < 3; d++) {
        /* samples are for width and height, or depth, height and width */
        int k = j->nd == 2 ? 2 - d : d;
        steps(j, d, d < 3 - j->nd ? 0 : sample_at(j, plane, k), first);
        f.first[d] = first;
        first += f.count[d];
    }
    f.in += plane * j->in * (int64_t)j->size;
    f.out += plane * j->out * (int64_t)j->size;
    f.index += plane * j->out;
    j->run(&f);
    return LA_OK;
}

la_status la_impl_fractional_max_pool(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    int nd = (int)f->args[1].ints.n, lead = out->ndim - nd;
    if (out->numel == 0) return LA_OK;
    LA_LET(in, la_as_contiguous(la_arg(f, 0), &in));
    LA_LET(samples, la_as_contiguous(la_arg(f, 3), &samples));
    job j = {.nd = nd, .in = 1, .out = 1, .size = la_itemsize(in),
             .samples = samples};
    const la_fraction_kernels *k = LA_STUB(fraction);
    j.run = in->dtype == LA_FLOAT32 ? k->f32 : k->f64;
    j.first.in = la_data(in);
    j.first.out = la_data(out);
    j.first.index = (int64_t *)(void *)la_data(la_result(f, 1));
    int64_t steps_needed = 0;
    for (int d = 0; d < 3; d++) {
        int at = d - (3 - nd);
        j.first.size[d] = at < 0 ? 1 : la_sizes(in)[lead + at];
        j.first.count[d] = at < 0 ? 1 : la_sizes(out)[lead + at];
        j.first.kernel[d] = at < 0 ? 1 : f->args[1].ints.list[at];
        j.in *= j.first.size[d];
        j.out *= j.first.count[d];
        steps_needed += j.first.count[d];
    }
    la_unit_plan plan = {.run = run_plane, .grain = 16384 / j.out + 1,
                         .bytes = (size_t)steps_needed * sizeof(int64_t)};
    return la_iter_units(out->numel / j.out, &plan, &j);
}
