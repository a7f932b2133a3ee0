/*
** Normalisation over other dims than the last: group, instance and batch norm,
** made of the row norm, reductions and arithmetic.
**
** Contiguous planes of one dtype go to native_channel_norm, which reads each
** plane while it is in the cache; everything else is a chain of operations,
** with 16-bit floats as float32 (la_like_self).
*/
#include "op/reduce/reduce.h"
#include "op/composite.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/call.h"
#include "op/impls.h"

/* A vector with one element per channel, shaped to meet dim 1 of 'self'. *out
** is an owned view; LA_ESHAPE, blamed on argument 'arg', where the lengths
** differ. */
static la_status per_channel(la_tensor *self, la_tensor *v, int arg,
                             la_tensor **out)
{
    int64_t shape[LA_MAX_DIMS];
    if (v->ndim != 1 || v->numel != la_sizes(self)[1])
        return la_error_at(LA_ESHAPE, arg, "one element per channel (%lld) is "
                           "expected", (long long)la_sizes(self)[1]);
    for (int d = 0; d < self->ndim; d++) shape[d] = d == 1 ? -1 : 1;
    return la_run(reshape, out, v, la_v_ints(shape, self->ndim));
}

/* x * weight + bias by channel; either may be NULL. Takes *x over. */
static la_status affine(la_tensor **x, la_tensor *weight, la_tensor *bias,
                        int arg)
{
    LA_OWNED w = NULL;
    LA_OWNED b = NULL;
    la_tensor *next = NULL;
    if (weight) {
        LA_TRY(per_channel(*x, weight, arg, &w));
        LA_TRY(la_run(mul, &next, *x, w));
        la_tensor_release(*x);
        *x = next;
    }
    if (bias) {
        LA_TRY(per_channel(*x, bias, arg + 1, &b));
        LA_TRY(la_run(add, &next, *x, b));
        la_tensor_release(*x);
        *x = next;
    }
    return LA_OK;
}

/* LA_ESHAPE for a tensor without a dim of channels. */
static la_status channels_needed(const la_tensor *self)
{
    if (self->ndim >= 2) return LA_OK;
    return la_error_at(LA_ESHAPE, 1, "expected at least 2 dims (batch, "
                       "channels), got %d", self->ndim);
}

/* 'groups' of channels, each with mean 0 and variance 1 in every sample. The
** channels of a group are neighbours, so a group is one row of [N * groups, C /
** groups * ...]. *out is owned. */
static la_status grouped(la_tensor *self, int64_t groups, double eps,
                         la_tensor **out)
{
    const int64_t *s = la_sizes(self);
    if (groups < 1 || s[1] % groups != 0)
        return la_error_at(LA_ESHAPE, 2, "Expected number of channels in input "
                           "to be divisible by num_groups, but got %lld "
                           "channels and num_groups=%lld", (long long)s[1],
                           (long long)groups);
    if (self->numel == 0 && s[0] > 0)
        return la_error_at(LA_ESHAPE, 1, "a group has no elements: "
                           "there is no mean");
    if (self->numel == 0) return la_run(clone, out, self);
    int64_t n = self->numel / (s[0] * groups);
    int64_t shape[2] = {s[0] * groups, n};
    LA_LET(rows, la_run(reshape, &rows, self, la_v_ints(shape, 2)));
    LA_LET(normed, la_run(layer_norm, &normed, rows, la_v_ints(&n, 1),
                          la_v_none(), la_v_none(), la_v_float(eps)));
    return la_run(reshape, out, normed, la_v_ints(s, self->ndim));
}

/* A vector with self's dtype and an element per channel, or none. */
static bool fits_channels(const la_tensor *self, const la_tensor *v)
{
    return !v || (v->dtype == self->dtype && v->ndim == 1
                  && v->numel == la_sizes(self)[1]);
}

/* Do planes of (N, C, ...) exist that are worth a call each, in one dtype? */
static bool has_planes(const la_tensor *self, const la_tensor *weight,
                       const la_tensor *bias)
{
    const int64_t *s = la_sizes(self);
    return la_is_float((la_dtype)self->dtype) && la_is_contiguous(self)
        && self->numel > 0 && self->numel / (s[0] * s[1]) >= 8
        && fits_channels(self, weight) && fits_channels(self, bias);
}

/* x normalised, and the groups' means and variances (a result may be NULL). */
static la_status by_planes(la_tensor *self, int64_t groups, la_tensor *weight,
                           la_tensor *bias, double eps, la_tensor **out)
{
    la_value all[LA_MAX_RESULTS];
    LA_TRY(la_run_many(native_channel_norm, all, self, groups, weight, bias,
                       la_v_float(eps)));
    for (int k = 0; k < 3; k++) out[k] = all[k].tensor;
    return LA_OK;
}

/* The fused operation as result 0; its statistics are dropped. */
static la_status groups_by_planes(la_frame *f, la_tensor *self, int64_t groups,
                                  la_tensor *weight, la_tensor *bias,
                                  double eps)
{
    la_tensor *out[3];
    LA_TRY(by_planes(self, groups, weight, bias, eps, out));
    la_tensor_release(out[1]);
    la_tensor_release(out[2]);
    return LA_GIVE(f, out[0]);
}

/* The rows of the groups normalised, then scaled and shifted. Arguments as of
** group_norm. */
static la_status groups_by_rows(la_frame *f)
{
    LA_LET(x, grouped(la_arg(f, 0), la_arg_int(f, 1), la_arg_float(f, 4), &x));
    LA_TRY(affine(&x, la_arg(f, 2), la_arg(f, 3), 3));
    return la_give_owned(f, &x);
}

/* group_norm(self, num_groups, weight, bias, eps) */
la_status la_impl_group_norm(la_frame *f)
{
    int64_t groups = la_arg_int(f, 1);
    la_tensor *self = la_arg(f, 0);
    LA_TRY(channels_needed(self));
    if (groups > 0 && has_planes(self, la_arg(f, 2), la_arg(f, 3)))
        return groups_by_planes(f, self, groups, la_arg(f, 2), la_arg(f, 3),
                                la_arg_float(f, 4));
    return la_like_self(f, 0, groups_by_rows);
}

/* ---- batch_norm(self, running_mean, running_var, weight, bias, training,
** momentum, eps) ---- */

enum { SELF, MEAN, VAR, WEIGHT, BIAS, TRAINING, MOMENTUM, EPS };

/* running = (1 - momentum) * running + momentum * now In place and detached:
** the running moments take no part in autograd. */
static la_status follow(la_tensor *running, la_tensor *now, double momentum)
{
    int64_t all = -1;
    LA_LET(flat, la_run(detach, &flat, now));
    LA_LET(part, la_run(reshape, &part, flat, la_v_ints(&all, 1)));
    LA_TRY(la_run_(mul, running, la_scalar_float(1 - momentum)));
    return la_run_(add, running, part, la_scalar_float(momentum));
}

/* The running moments, where given, move towards these (vectors). The variance
** is made unbiased for them, by n / (n - 1), as in PyTorch, while the batch
** itself is normalised by the biased one. */
static la_status follow_moments(la_frame *f, la_tensor *mean, la_tensor *var)
{
    la_tensor *self = la_arg(f, SELF);
    double count = (double)self->numel / (double)la_sizes(self)[1];
    if (la_arg(f, MEAN))
        LA_TRY(follow(la_arg(f, MEAN), mean, la_arg_float(f, MOMENTUM)));
    if (!la_arg(f, VAR)) return LA_OK;
    LA_LET(unbiased,
           la_run(mul, &unbiased, var, la_scalar_float(count / (count - 1))));
    return follow(la_arg(f, VAR), unbiased, la_arg_float(f, MOMENTUM));
}

/* Mean and (biased) variance of the batch, dims kept; the running ones, where
** given, move towards them. Both are owned by the caller, also where the
** running ones fail. */
static la_status batch_moments(la_frame *f, la_tensor **mean, la_tensor **var)
{
    la_tensor *self = la_arg(f, SELF);
    la_value pair[LA_MAX_RESULTS];
    int64_t dims[LA_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < self->ndim; d++)
        if (d != 1) dims[n++] = d;
    LA_TRY(la_run_many(var_mean, pair, self, la_v_ints(dims, n), la_v_float(0),
                       la_v_none(), la_v_bool(true)));
    *var = pair[0].tensor;
    *mean = pair[1].tensor;
    return follow_moments(f, *mean, *var);
}

/* Batch norm in training by the fused operation, whose statistics feed the
** running ones. */
static la_status batch_by_planes(la_frame *f)
{
    la_tensor *out[3];
    LA_TRY(by_planes(la_arg(f, SELF), 0, la_arg(f, WEIGHT), la_arg(f, BIAS),
                     la_arg_float(f, EPS), out));
    la_status status = follow_moments(f, out[1], out[2]);
    la_tensor_release(out[1]);
    la_tensor_release(out[2]);
    la_set_result(f, 0, out[0]);
    return status;
}

/* The running moments, shaped for dim 1; LA_EARG when one is missing. */
static la_status given_moments(la_frame *f, la_tensor **mean, la_tensor **var)
{
    la_tensor *self = la_arg(f, SELF);
    if (!la_arg(f, MEAN) || !la_arg(f, VAR))
        return la_error(LA_EARG, "Expected running_mean and running_var to be "
                        "defined when training=False");
    LA_TRY(per_channel(self, la_arg(f, MEAN), MEAN + 1, mean));
    return per_channel(self, la_arg(f, VAR), VAR + 1, var);
}

/* Also the number of elements that a variance needs. */
static la_status check_running(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    LA_TRY(channels_needed(self));
    for (int k = MEAN; k <= VAR; k++)
        if (la_arg(f, k) && (la_arg(f, k)->ndim != 1
                             || la_arg(f, k)->numel != la_sizes(self)[1]))
            return la_error_at(LA_ESHAPE, k + 1, "one element per channel "
                               "(%lld) is expected",
                               (long long)la_sizes(self)[1]);
    if (la_arg_bool(f, TRAINING) && self->numel <= la_sizes(self)[1])
        return la_error_at(LA_ESHAPE, 1, "Expected more than 1 value per "
                           "channel when training");
    return LA_OK;
}

/* With given moments: x * scale + shift, both numbers of a channel. One
** operation over self in place of four: what depends on the channel alone is
** computed on vectors. */
static la_status batch_as_before(la_frame *f)
{
    LA_CHAIN(w);
    LA_OWNED var = NULL;
    LA_OWNED weight = NULL;
    LA_OWNED bias = NULL;
    la_tensor *self = la_arg(f, SELF);
    LA_LET(mean, given_moments(f, &mean, &var));
    if (la_arg(f, WEIGHT))
        LA_TRY(per_channel(self, la_arg(f, WEIGHT), WEIGHT + 1, &weight));
    if (la_arg(f, BIAS))
        LA_TRY(per_channel(self, la_arg(f, BIAS), BIAS + 1, &bias));
    la_tensor *scale = R(rsqrt, R(add, var, la_arg_float(f, EPS)));
    if (weight) scale = R(mul, scale, weight);
    la_tensor *centre = R(mul, mean, scale);
    la_tensor *shift = bias ? R(sub, bias, centre) : R(neg, centre);
    return la_chain_end(w, f, R(addcmul, shift, self, scale));
}

/* Batch norm by operations, where the fused one does not pay. */
static la_status batch_by_steps(la_frame *f)
{
    LA_OWNED var = NULL;
    LA_LET(mean, batch_moments(f, &mean, &var));
    LA_LET(safe,
           la_run(add, &safe, var, la_scalar_float(la_arg_float(f, EPS))));
    LA_LET(scale, la_run(pow, &scale, safe, la_scalar_float(-0.5)));
    LA_LET(centred, la_run(sub, &centred, f->args[SELF], mean));
    LA_LET(x, la_run(mul, &x, centred, scale));
    LA_TRY(affine(&x, la_arg(f, WEIGHT), la_arg(f, BIAS), WEIGHT + 1));
    return la_give_owned(f, &x);
}

/* (x - mean) / sqrt(var + eps) * weight + bias by channel (S. Ioffe and C.
** Szegedy, Batch Normalization, 2015). In training the moments are those of the
** batch, and running_mean and running_var, when given, are written. */
la_status la_impl_batch_norm(la_frame *f)
{
    LA_TRY(check_running(f));
    if (!la_arg_bool(f, TRAINING)) return la_like_self(f, 0, batch_as_before);
    if (has_planes(la_arg(f, SELF), la_arg(f, WEIGHT), la_arg(f, BIAS)))
        return batch_by_planes(f);
    return la_like_self(f, 1 << MEAN | 1 << VAR, batch_by_steps);
}

/* ---- instance_norm: the arguments of batch_norm; a group per channel ---- */

/* The channels' rows normalised, then scaled and shifted. */
static la_status channels_by_rows(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    LA_LET(x, grouped(self, la_sizes(self)[1], la_arg_float(f, EPS), &x));
    LA_TRY(affine(&x, la_arg(f, WEIGHT), la_arg(f, BIAS), WEIGHT + 1));
    return la_give_owned(f, &x);
}

/* The running moments move towards the samples' mean ones. var_mean's default
** is the unbiased variance, so no factor is needed here. */
static la_status follow_samples(la_frame *f)
{
    LA_OWNED vars = NULL;
    LA_OWNED centre = NULL;
    LA_OWNED mean = NULL;
    la_tensor *self = la_arg(f, SELF);
    la_value pair[LA_MAX_RESULTS];
    int64_t dims[LA_MAX_DIMS], first = 0;
    int n = 0;
    for (int d = 2; d < self->ndim; d++) dims[n++] = d;
    LA_TRY(la_run_many(var_mean, pair, self, la_v_ints(dims, n)));
    vars = pair[0].tensor;
    centre = pair[1].tensor;
    LA_LET(var, la_run(mean, &var, vars, la_v_ints(&first, 1)));
    LA_TRY(la_run(mean, &mean, centre, la_v_ints(&first, 1)));
    if (la_arg(f, MEAN))
        LA_TRY(follow(la_arg(f, MEAN), mean, la_arg_float(f, MOMENTUM)));
    if (!la_arg(f, VAR)) return LA_OK;
    return follow(la_arg(f, VAR), var, la_arg_float(f, MOMENTUM));
}

/* Each channel of each sample by its own moments; those given are used outside
** of training. LA_ESHAPE without spatial dims. */
la_status la_impl_instance_norm(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    if (!la_arg_bool(f, TRAINING)) return la_impl_batch_norm(f);
    LA_TRY(channels_needed(self));
    if (self->ndim < 3)
        return la_error_at(LA_ESHAPE, 1, "Expected more than 1 spatial element "
                           "when training");
    if (la_arg(f, MEAN) || la_arg(f, VAR)) {
        LA_TRY(check_running(f));
        LA_TRY(follow_samples(f));
    }
    if (la_sizes(self)[1] == 0) {       /* groups of nothing have no moments */
        LA_LET(x, la_run(clone, &x, self));
        return la_give_owned(f, &x);
    }
    if (has_planes(self, la_arg(f, WEIGHT), la_arg(f, BIAS)))
        return groups_by_planes(f, self, la_sizes(self)[1], la_arg(f, WEIGHT),
                                la_arg(f, BIAS), la_arg_float(f, EPS));
    return la_like_self(f, 1 << MEAN | 1 << VAR, channels_by_rows);
}
