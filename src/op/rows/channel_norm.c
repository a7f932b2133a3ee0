/*
** Batch norm and group norm in few passes. A plane is what a sample has of one
** channel; planes are gathered into groups that share mean and variance: all of
** a channel (groups = 0: batch norm), or some channels of a sample. Moments and
** gradient sums of planes are joined in their order, whatever the threads.
*/
#include <math.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "kernel/rows/rows.h"
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "base/runtime/thread_pool.h"
#include "op/call.h"
#include "op/impls.h"
#include "op/op.h"
#include "tensor/shape.h"

typedef struct planes {
    const la_plane_norm *kernel;
    const la_reduction *moments;
    const char *in, *dy;
    char *out;
    int64_t n, bytes;         /* elements and bytes of a plane */
    int64_t count, channels;  /* planes; channels of a sample */
    int64_t groups, per;      /* groups; planes of one (0: batch norm) */
    double *weight, *bias;    /* by channel; NULL: none */
    double *mean, *rstd;      /* by group */
    double *first, *second;   /* by group: means of gradients */
    double (*sums)[2];        /* by plane: of dy, of dy * (x - mean) */
    la_moments *m;            /* by plane */
} planes;

/* Batch norm has a group per channel, of planes 'channels' apart; else groups
** are runs of 'per' planes. */
static int64_t channel_norm_group_of(const planes *p, int64_t plane)
{
    return p->per ? plane / p->per : plane % p->channels;
}

/* An absent weight is 1, an absent bias 0. */
static double channel_norm_number_at(const double *list, int64_t i,
                                     double otherwise)
{
    return list ? list[i] : otherwise;
}

/* ---- passes over the planes ---- */

/* Mean and squared deviations of planes begin..end-1, as rows of reduce_var. */
static void plane_moments(int64_t begin, int64_t end, void *context)
{
    const planes *p = context;
    int64_t esize = p->bytes / p->n;
    la_reduce_rows r = {p->in + begin * p->bytes, esize, p->n, p->bytes,
                        end - begin};
    p->moments->inner(&r, (char *)(p->m + begin), NULL);
}

/* y = (x - mean) * (rstd * weight) + bias, the factor once per plane. */
static void plane_apply(int64_t begin, int64_t end, void *context)
{
    const planes *p = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t g = channel_norm_group_of(p, i), c = i % p->channels;
        double k[] = {p->mean[g], p->rstd[g]
                      * channel_norm_number_at(p->weight, c, 1),
                      channel_norm_number_at(p->bias, c, 0)};
        p->kernel->apply(p->in + i * p->bytes, p->out + i * p->bytes, p->n, k);
    }
}

/* sum(dy) and sum(dy * (x - mean)): all that both gradients need of a plane. */
static void plane_sums(int64_t begin, int64_t end, void *context)
{
    const planes *p = context;
    for (int64_t i = begin; i < end; i++)
        p->kernel->sums(p->dy + i * p->bytes, p->in + i * p->bytes, p->n,
                        p->mean[channel_norm_group_of(p, i)], p->sums[i]);
}

/* With w the weight and h = (x - mean) * rstd:
** dx = rstd * (dy * w - mean(dy * w) - h * mean(dy * w * h)) */
static void plane_back(int64_t begin, int64_t end, void *context)
{
    const planes *p = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t g = channel_norm_group_of(p, i), c = i % p->channels;
        double r = p->rstd[g];
        double k[] = {p->mean[g], r * channel_norm_number_at(p->weight, c, 1),
                      -r * r * p->second[g], -r * p->first[g]};
        p->kernel->back(p->dy + i * p->bytes, p->in + i * p->bytes,
                        p->out + i * p->bytes, p->n, k);
    }
}

/* A pass over all planes. LA_EINTR or LA_OK. */
static la_status each_plane(planes *p, la_range_fn pass)
{
    int64_t grain = la_ceil_div(LA_GRAIN, p->n);
    return la_iter_items(p->count, grain, grain * 16, pass, p);
}

/* ---- set-up ---- */

/* Statistics in float32, or float64 for float64, as in layer norm. */
static la_dtype channel_norm_stat_dtype(const la_tensor *t)
{
    return t->dtype == LA_FLOAT64 ? LA_FLOAT64 : LA_FLOAT32;
}

static double channel_norm_get(const la_tensor *t, int64_t i)
{
    return t->dtype == LA_FLOAT64 ? ((const double *)la_data(t))[i]
                                  : (double)((const float *)la_data(t))[i];
}

static void channel_norm_put(la_tensor *t, int64_t i, double x)
{
    if (t->dtype == LA_FLOAT64) ((double *)la_data(t))[i] = x;
    else ((float *)la_data(t))[i] = (float)x;
}

/* LA_ESHAPE unless self is floating (N, C, ...); LA_EARG unless the groups
** divide the channels. */
static la_status channel_norm_check(const la_frame *f, const la_tensor *self,
                                    int64_t groups)
{
    if (self->ndim < 2 || !la_is_float((la_dtype)self->dtype))
        return la_error_at(LA_ESHAPE, 1, "%s: a floating point tensor (N, C, "
                           "...) is expected", f->op->name);
    if (groups < 0 || (groups && la_sizes(self)[1] % groups))
        return la_error_at(LA_EARG, 2, "%s: %lld channels don't make %lld "
                           "groups", f->op->name,
                           (long long)la_sizes(self)[1], (long long)groups);
    return LA_OK;
}

/* LA_ESHAPE unless argument k is absent or a vector of n elements. */
static la_status channel_norm_check_vector(const la_frame *f, int k, int64_t n)
{
    const la_tensor *v = la_arg(f, k);
    if (!v || (v->ndim == 1 && v->numel == n)) return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "%s: a vector of %lld elements is "
                       "expected", f->op->name, (long long)n);
}

/* Groups of the whole batch; batch norm (0) has one per channel. */
static int64_t group_count(const la_tensor *self, int64_t groups)
{
    return groups ? la_sizes(self)[0] * groups : la_sizes(self)[1];
}

/* Geometry and kernels from a contiguous (N, C, ...) tensor. */
static void read_planes(planes *p, const la_tensor *x, int64_t groups)
{
    p->channels = la_sizes(x)[1];
    p->count = la_sizes(x)[0] * p->channels;
    p->n = x->numel / p->count;
    p->bytes = p->n * (int64_t)la_itemsize(x);
    p->groups = group_count(x, groups);
    p->per = groups ? p->channels / groups : 0;
    p->in = la_data(x);
    p->kernel = &(*LA_STUB(plane_norm))[x->dtype];
    p->moments = &(*LA_STUB(reduce_var))[x->dtype];
}

/* One block for all lists; *bytes for its release. */
static la_status take_lists(planes *p, size_t *bytes)
{
    size_t count = (size_t)p->count, groups = (size_t)p->groups;
    *bytes = count * (sizeof(la_moments) + sizeof(double[2]))
        + 4 * groups * sizeof(double);
    char *block = la_mem_zalloc(*bytes);
    if (!block) return LA_ENOMEM;
    p->m = (la_moments *)block;
    p->sums = (double (*)[2])(p->m + count);
    p->mean = (double *)(p->sums + count);
    p->rstd = p->mean + groups;
    p->first = p->rstd + groups;
    p->second = p->first + groups;
    return LA_OK;
}

/* A vector in double, owned by *slot; NULL leaves both as they are. */
static la_status as_doubles(la_tensor *t, la_tensor **slot, double **list)
{
    if (!t) return LA_OK;
    LA_TRY(la_convert_to(t, LA_FLOAT64, slot));
    *list = (double *)la_data(*slot);
    return LA_OK;
}

/* ---- native_channel_norm(self, groups, weight, bias, eps) ---- */

/* Results: self normalised, and mean and biased variance by group (not rstd:
** batch norm's running moments follow them). */
la_status la_meta_native_channel_norm(la_frame *f)
{
    const la_tensor *self = la_arg(f, 0);
    int64_t groups = la_arg_int(f, 1);
    LA_TRY(channel_norm_check(f, self, groups));
    LA_TRY(channel_norm_check_vector(f, 2, la_sizes(self)[1]));
    LA_TRY(channel_norm_check_vector(f, 3, la_sizes(self)[1]));
    int64_t n = group_count(self, groups);
    LA_TRY(la_set_output(f, 0, self->ndim, la_sizes(self), NULL,
                         (la_dtype)self->dtype));
    LA_TRY(la_set_output(f, 1, 1, &n, NULL, channel_norm_stat_dtype(self)));
    return la_set_output(f, 2, 1, &n, NULL, channel_norm_stat_dtype(self));
}

/* Planes' moments become those of their groups. */
static void join_moments(planes *p, la_tensor *mean, la_tensor *var, double eps)
{
    double n = (double)p->n * (double)(p->count / p->groups);
    int64_t step = p->per ? 1 : p->channels;
    for (int64_t g = 0; g < p->groups; g++) {
        la_moments *all = p->m + (p->per ? g * p->per : g);
        for (int64_t k = 1; k < p->count / p->groups; k++)
            p->moments->combine((char *)all, (const char *)(all + k * step), 1);
        p->mean[g] = all->mean;
        p->rstd[g] = 1 / sqrt(all->m2 / n + eps);
        channel_norm_put(mean, g, all->mean);
        channel_norm_put(var, g, all->m2 / n);
    }
}

/* Moments of planes, joined in groups, then applied: two passes over self. */
la_status la_impl_native_channel_norm(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    planes p = {0};
    size_t bytes;
    if (self->numel == 0) return LA_OK;
    LA_LET(x, la_run(contiguous, &x, self));
    LA_LET(w, as_doubles(la_arg(f, 2), &w, &p.weight));
    LA_LET(b, as_doubles(la_arg(f, 3), &b, &p.bias));
    read_planes(&p, x, la_arg_int(f, 1));
    p.out = la_data(la_result(f, 0));
    LA_TRY(take_lists(&p, &bytes));
    la_status status = each_plane(&p, plane_moments);
    if (!status) {
        join_moments(&p, la_result(f, 1), la_result(f, 2), la_arg_float(f, 4));
        status = each_plane(&p, plane_apply);
    }
    la_mem_free(p.m, bytes);
    return status;
}

/* ---- native_channel_norm_backward(grad, self, groups, mean, var, weight,
** eps): of self, weight and bias ---- */

/* LA_ESHAPE where an argument does not have the sizes of the forward call. */
la_status la_meta_native_channel_norm_backward(la_frame *f)
{
    const la_tensor *grad = la_arg(f, 0), *self = la_arg(f, 1);
    int64_t groups = la_arg_int(f, 2);
    LA_TRY(channel_norm_check(f, self, groups));
    if (!la_same_sizes(grad, self))
        return la_error_at(LA_ESHAPE, 1, "%s: the gradient must have the "
                           "input's sizes", f->op->name);
    LA_TRY(channel_norm_check_vector(f, 3, group_count(self, groups)));
    LA_TRY(channel_norm_check_vector(f, 4, group_count(self, groups)));
    LA_TRY(channel_norm_check_vector(f, 5, la_sizes(self)[1]));
    LA_TRY(la_set_output(f, 0, self->ndim, la_sizes(self), NULL,
                         (la_dtype)self->dtype));
    for (int k = 1; k <= 2; k++)
        LA_TRY(la_set_output(f, k, 1, la_sizes(self) + 1, NULL,
                             channel_norm_stat_dtype(self)));
    return LA_OK;
}

/* The forward call gives variances; the gradient wants 1 / sqrt(var + eps). */
static void read_groups(planes *p, const la_tensor *mean, const la_tensor *var,
                        double eps)
{
    for (int64_t g = 0; g < p->groups; g++) {
        p->mean[g] = channel_norm_get(mean, g);
        p->rstd[g] = 1 / sqrt(channel_norm_get(var, g) + eps);
    }
}

/* Sums of planes become means of groups and gradients of channels. */
static void join_sums(planes *p, la_tensor *dw, la_tensor *db)
{
    double n = (double)p->n * (double)(p->count / p->groups);
    for (int64_t i = 0; i < p->count; i++) {
        int64_t g = channel_norm_group_of(p, i);
        double w = channel_norm_number_at(p->weight, i % p->channels, 1);
        p->first[g] += w * p->sums[i][0] / n;
        p->second[g] += w * p->sums[i][1] * p->rstd[g] / n;
    }
    for (int64_t c = 0; c < p->channels; c++) {
        double s = 0, q = 0;
        for (int64_t i = c; i < p->count; i += p->channels) {
            s += p->sums[i][0];
            q += p->sums[i][1] * p->rstd[channel_norm_group_of(p, i)];
        }
        channel_norm_put(dw, c, q);
        channel_norm_put(db, c, s);
    }
}

/* Two passes: the sums, then dx from them; nothing of self's size but the
** result is allocated unless the layout is converted. */
la_status la_impl_native_channel_norm_backward(la_frame *f)
{
    LA_OWNED dy = NULL;
    la_tensor *self = la_arg(f, 1);
    planes p = {0};
    size_t bytes;
    if (self->numel == 0) {
        for (int k = 1; k <= 2; k++)
            memset(la_data(la_result(f, k)), 0,
                   (size_t)la_result(f, k)->numel
                       * la_itemsize(la_result(f, k)));
        return LA_OK;
    }
    LA_LET(x, la_run(contiguous, &x, self));
    LA_LET(mean, la_convert_to(la_arg(f, 3), channel_norm_stat_dtype(self),
                               &mean));
    LA_LET(var, la_convert_to(la_arg(f, 4), channel_norm_stat_dtype(self),
                              &var));
    dy = la_tensor_retain(la_arg(f, 0));
    if (!la_is_contiguous(dy) || dy->dtype != self->dtype)
        LA_TRY(la_convert_to(la_arg(f, 0), (la_dtype)self->dtype, &dy));
    LA_LET(w, as_doubles(la_arg(f, 5), &w, &p.weight));
    read_planes(&p, x, la_arg_int(f, 2));
    p.dy = la_data(dy);
    p.out = la_data(la_result(f, 0));
    LA_TRY(take_lists(&p, &bytes));
    read_groups(&p, mean, var, la_arg_float(f, 6));
    la_status status = each_plane(&p, plane_sums);
    if (!status) {
        join_sums(&p, la_result(f, 1), la_result(f, 2));
        status = each_plane(&p, plane_back);
    }
    la_mem_free(p.m, bytes);
    return status;
}
