/*
** Distributions and choices as composites: normal, log_normal_, bernoulli,
** dropout, geometric_, dirichlet, multivariate_normal, trunc_normal_,
** multinomial, categorical, shuffle, choice.
**
** All randomness comes from operations that take the generator (uniform_,
** normal_, exponential_, gamma, randperm), in a fixed order, so that a seed
** determines the results.
*/
#include <math.h>

#include "base/libm/libm.h"
#include "base/runtime/thread_pool.h"
#include "op/composite.h"
#include "op/random/random.h"
#include "tensor/promote.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/random.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"

/* LA_EARG with 'text' unless it holds. */
static la_status need(bool holds, const char *text)
{
    return holds ? LA_OK : la_error(LA_EARG, "%s", text);
}

/* Integers sample in the default dtype. */
static la_dtype float_or_default(la_dtype d)
{
    return la_is_float(d) ? d : la_ctx()->default_dtype;
}

/* ---- normal ---- */

/* normal(mean, std, size, options): one mean and deviation for all. Scaled and
** shifted in place, and only where that changes anything. requires_grad is set
** at the end, so that no step is recorded. LA_EARG for a negative or NaN
** deviation. */
la_status la_impl_normal_float(la_frame *f)
{
    enum { MEAN, STD, SIZE, DTYPE, DEVICE, GRAD, FORMAT, NAMES, GENERATOR };
    la_value none = la_v_bool(false);
    LA_TRY(need(la_arg_float(f, STD) >= 0, "the standard deviation must not be "
                "negative"));
    LA_LET(t,
           la_run(randn, &t, f->args[SIZE], f->args[DTYPE], f->args[DEVICE],
                  none, f->args[FORMAT], f->args[NAMES], f->args[GENERATOR]));
    if (la_arg_float(f, STD) != 1)
        LA_TRY(la_run_(mul, t, la_scalar_float(la_arg_float(f, STD))));
    if (la_arg_float(f, MEAN) != 0)
        LA_TRY(la_run_(add, t, la_scalar_float(la_arg_float(f, MEAN))));
    if (la_arg_bool(f, GRAD)) t->flags |= LA_F_REQUIRES_GRAD;
    return LA_GIVE(f, la_tensor_retain(t));
}

/* normal(mean, std), tensors or numbers, broadcast: mean + std * randn. The
** tensors' sizes broadcast; dtypes promote, integers to the default dtype. */
la_status la_impl_normal(la_frame *f)
{
    la_tensor *mean = la_arg(f, 0), *std = la_arg(f, 1);
    la_shape a = la_shape_of(mean), b = la_shape_of(std), s;
    la_result_type type = LA_RESULT_TYPE_INIT;
    la_dtype d;
    LA_TRY(la_shape_broadcast(&a, &b, &s));
    la_result_type_add(&type, mean);
    la_result_type_add(&type, std);
    LA_TRY(la_result_type_get(&type, &d));
    LA_LET(z, la_run(randn, &z, la_v_ints(s.sizes, s.ndim),
                     la_v_dtype(float_or_default(d)), la_v_none(),
                     la_v_bool(false), la_v_none(), la_v_none(), f->args[2]));
    LA_LET(scaled, la_run(mul, &scaled, z, std));
    return la_run_result(f, add, scaled, mean);
}

/* log_normal_(self, mean, std): exp of normal values, computed in float64.
** Rounded once, when copied to self. LA_EDTYPE for integers. */
la_status la_impl_log_normal_(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    if (!la_is_float((la_dtype)self->dtype))
        return la_error_at(LA_EDTYPE, 1, "log-normal numbers need a floating "
                           "dtype, got %s",
                           la_dtype_name((la_dtype)self->dtype));
    LA_LET(t, la_tensor_empty(self->ndim, la_sizes(self), LA_FLOAT64, &t));
    LA_TRY(la_run_(normal_, t, f->args[1], f->args[2], f->args[3]));
    double *x = (double *)la_data(t);
    for (int64_t i = 0; i < t->numel; i++) x[i] = la_m_exp(x[i]);
    LA_TRY(la_run_(copy_, self, t));
    return LA_GIVE(f, la_tensor_retain(self));
}

/* ---- ones and zeros ---- */

/* Probabilities in [0, 1]; NaN is refused too. LA_EDTYPE or LA_EARG. */
static la_status check_chances(la_tensor *p)
{
    if (!la_is_float((la_dtype)p->dtype))
        return la_error(LA_EDTYPE, "the probabilities must be floating, got %s",
                        la_dtype_name((la_dtype)p->dtype));
    LA_LET(wide, la_random_doubles_of(p, NULL, &wide));
    const double *x = (const double *)la_data(wide);
    for (int64_t i = 0; i < wide->numel; i++)
        LA_TRY(need(x[i] >= 0 && x[i] <= 1,
                    "Expected p_in >= 0 && p_in <= 1 to be true"));
    return LA_OK;
}

/* self = uniform < p, p broadcast. In float64 only where p is, whose digits
** would be lost otherwise. */
static la_status bernoulli_of(la_tensor *self, la_tensor *p, la_value generator)
{
    la_dtype d = p->dtype == LA_FLOAT64 ? LA_FLOAT64 : LA_FLOAT32;
    LA_TRY(check_chances(p));
    LA_LET(u, la_tensor_empty(self->ndim, la_sizes(self), d, &u));
    LA_TRY(la_run_(uniform_, u, la_v_float(0), la_v_float(1), generator));
    LA_LET(hit, la_run(lt, &hit, u, p));
    return la_run_(copy_, self, hit);
}

/* bernoulli_(self, p tensor): in place, p broadcast to self. */
la_status la_impl_bernoulli__tensor(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    LA_TRY(bernoulli_of(self, la_arg(f, 1), f->args[2]));
    return LA_GIVE(f, la_tensor_retain(self));
}

/* Uninitialised, in t's shape, layout and device. */
static la_status empty_like(la_tensor *t, la_dtype d, la_tensor **out)
{
    int64_t strides[LA_MAX_DIMS];
    la_preserve_strides(t, strides);
    return la_tensor_empty_on((la_device)t->device, t->ndim, la_sizes(t),
                              strides, d, out);
}

/* bernoulli(self): self holds the probabilities. */
la_status la_impl_bernoulli(la_frame *f)
{
    la_tensor *p = la_arg(f, 0);
    LA_LET(out, empty_like(p, (la_dtype)p->dtype, &out));
    LA_TRY(bernoulli_of(out, p, f->args[1]));
    return LA_GIVE(f, la_tensor_retain(out));
}

/* bernoulli(self, size, dtype, generator): the probabilities of self, broadcast
** with the sizes. */
la_status la_impl_bernoulli_size(la_frame *f)
{
    la_tensor *p = la_arg(f, 0);
    la_shape own = la_shape_of(p), all, asked = {.ndim = 0};
    LA_OWNED chances = NULL;
    la_dtype d = float_or_default((la_dtype)p->dtype);
    LA_TRY(la_run(empty, &chances, f->args[1]));    /* checks the sizes */
    asked = la_shape_of(chances);
    LA_TRY(la_shape_broadcast(&own, &asked, &all));
    la_tensor_drop(&chances);
    LA_TRY(la_run(to_dtype, &chances, p, la_v_dtype(d)));
    LA_LET(out, la_tensor_empty(all.ndim, all.sizes,
                                la_has(f, 2) ? f->args[2].dtype : d, &out));
    LA_TRY(bernoulli_of(out, chances, f->args[3]));
    return LA_GIVE(f, la_tensor_retain(out));
}

/* bernoulli(self, p): one probability, in self's shape. */
la_status la_impl_bernoulli_p(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    LA_LET(out, empty_like(x, (la_dtype)x->dtype, &out));
    LA_TRY(la_run_(bernoulli_, out, f->args[1], f->args[2]));
    return LA_GIVE(f, la_tensor_retain(out));
}

/* dropout(self, p, training): self * mask / (1 - p); self itself when nothing
** is dropped (Srivastava et al. 2014). */
la_status la_impl_dropout(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    double p = la_arg_float(f, 1);
    if (!(p >= 0 && p <= 1))
        return la_error_at(LA_EARG, 2, "dropout probability has to be between "
                           "0 and 1, but got %g", p);
    /* Evaluation: the result is the argument itself, without a copy. */
    if (!la_arg_bool(f, 2) || p == 0) return LA_GIVE(f, la_tensor_retain(x));
    LA_LET(mask, empty_like(x, la_dtype_to_real((la_dtype)x->dtype), &mask));
    /* The mask is scaled instead of the result, so that one product is left,
    ** whose derivative is the mask. */
    LA_TRY(la_run_(bernoulli_, mask, la_v_float(1 - p), f->args[3]));
    if (p < 1)
        LA_TRY(la_run_(mul, mask, la_scalar_float(1 / (1 - p))));
    return la_run_result(f, mul, x, mask);
}

/* ---- waiting times ---- */

/* geometric_(self, p): the ceiling of an exponential value of rate -log(1 - p).
** Numbers from 1 on: how many trials the first success takes. In float64,
** rounded when copied to self. */
la_status la_impl_geometric_(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    double p = la_arg_float(f, 1);
    LA_TRY(need(p > 0 && p < 1, "geometric_ expects p to be in (0, 1)"));
    LA_LET(t, la_tensor_empty(self->ndim, la_sizes(self), LA_FLOAT64, &t));
    LA_TRY(la_run_(exponential_, t, la_v_float(-la_m_log1p(-p)), f->args[2]));
    double *x = (double *)la_data(t);
    for (int64_t i = 0; i < t->numel; i++) x[i] = ceil(x[i]);
    LA_TRY(la_run_(copy_, self, t));
    return LA_GIVE(f, la_tensor_retain(self));
}

/* ---- by gamma ---- */

/* LA_EDTYPE for numbers of a dtype, argument k, that has no fractions. */
static la_status need_random_float(la_dtype d, int k)
{
    if (la_is_float(d)) return LA_OK;
    return la_error_at(LA_EDTYPE, k + 1, "random numbers of a distribution "
                       "need a floating dtype, got %s", la_dtype_name(d));
}

/* The sizes of argument 1 with the last one of 'a' behind them. */
static la_status add_last(const la_frame *f, const la_tensor *a,
                          int64_t *sizes, la_value *size)
{
    int64_t n = f->args[1].ints.n;
    if (n >= LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 2, "at most %d dimensions", LA_MAX_DIMS);
    memcpy(sizes, f->args[1].ints.list, (size_t)n * sizeof(*sizes));
    sizes[n] = la_sizes(a)[a->ndim - 1];
    *size = la_v_ints(sizes, n + 1);
    return LA_OK;
}

/* Factorisations have no 16-bit floats. */
static la_dtype wide_of(la_dtype d) { return la_is_half(d) ? LA_FLOAT32 : d; }


/* dirichlet(concentration, size, dtype, generator): gamma numbers along the
** last dim, divided by their sum; through logarithms, as tiny concentrations
** give numbers that are all 0. */
la_status la_impl_dirichlet(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    int64_t sizes[LA_MAX_DIMS + 1];
    la_value size = f->args[1];
    la_dtype d = la_has(f, 2) ? f->args[2].dtype
                              : float_or_default((la_dtype)a->dtype);
    if (a->ndim == 0)
        return la_error_at(LA_ESHAPE, 1, "the concentration needs a dim");
    LA_TRY(need_random_float(d, 2));
    if (la_has(f, 1)) LA_TRY(add_last(f, a, sizes, &size));
    LA_LET(logs, la_run(gamma_log, &logs, a, size, la_v_dtype(LA_FLOAT64),
                        f->args[3]));
    LA_LET(p, la_run(softmax, &p, logs, -1));
    return la_run_result(f, to_dtype, p, la_v_dtype(d));
}

/* ---- normal numbers of another shape ---- */

/* trunc_normal_(self, mean, std, a, b, generator) */
la_status la_impl_trunc_normal_(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    la_dtype d = (la_dtype)self->dtype;
    LA_TRY(need_random_float(d, 0));
    LA_LET(t, la_run(truncated_normal, &t, la_arg_float(f, 1),
                     la_arg_float(f, 2), la_arg_float(f, 3), la_arg_float(f, 4),
                     la_v_ints(la_sizes(self), self->ndim), la_v_dtype(d),
                     f->args[5]));
    LA_TRY(la_run_(copy_, self, t));
    return LA_GIVE(f, la_tensor_retain(self));
}

/* The sizes of standard normal numbers: those asked for, before those that mean
** and factor have together. */
static la_status normal_sizes(la_frame *f, la_tensor *mean, la_tensor *factor,
                              int64_t *sizes, la_value *size)
{
    la_shape a = la_shape_of(mean), b = la_shape_of(factor), c = a, s;
    int64_t n = la_sizes(mean)[mean->ndim - 1];
    b.ndim--;
    if (b.sizes[b.ndim] != n || b.sizes[b.ndim - 1] != n)
        return la_error_at(LA_ESHAPE, 2, "a matrix of %lld x %lld is expected, "
                           "got %lld x %lld", (long long)n, (long long)n,
                           (long long)b.sizes[b.ndim - 1],
                           (long long)b.sizes[b.ndim]);
    LA_TRY(la_shape_broadcast(&a, &b, &c));
    s = c;
    if (la_has(f, 2)) {
        la_shape own = {.ndim = (int)f->args[2].ints.n};
        if (f->args[2].ints.n >= LA_MAX_DIMS)
            return la_error_at(LA_ESHAPE, 3, "too many dimensions");
        memcpy(own.sizes, f->args[2].ints.list,
               (size_t)own.ndim * sizeof(*own.sizes));
        c.ndim--;
        LA_TRY(la_blame(la_shape_broadcast(&own, &c, &s), 3));
        s.sizes[s.ndim++] = n;
    }
    memcpy(sizes, s.sizes, (size_t)s.ndim * sizeof(*sizes));
    *size = la_v_ints(sizes, s.ndim);
    return LA_OK;
}

/* multivariate_normal(mean, cov, size, scale_tril, dtype, generator): mean plus
** L z of standard normal z. */
la_status la_impl_multivariate_normal(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *mean = la_arg(f, 0), *l = la_arg(f, 3), *z;
    int64_t sizes[LA_MAX_DIMS + 1];
    la_value size;
    la_dtype d = la_has(f, 4) ? f->args[4].dtype
                              : float_or_default((la_dtype)mean->dtype);
    if (!la_arg(f, 1) == !l)
        return la_error_at(LA_EARG, 2, "either cov or scale_tril is needed");
    LA_TRY(need_random_float(d, 4));
    if (!l) l = R(cholesky, R(to_dtype, la_arg(f, 1), la_v_dtype(wide_of(d))));
    if (w->status) return w->status;
    if (mean->ndim == 0 || l->ndim < 2)
        return la_error_at(LA_ESHAPE, mean->ndim ? 4 : 1, "mean is a vector, "
                           "cov and scale_tril are matrices");
    LA_TRY(normal_sizes(f, mean, l, sizes, &size));
    l = R(to_dtype, l, la_v_dtype(d));
    z = R(randn, size, la_v_dtype(d), la_v_none(), la_v_bool(false),
          la_v_none(), la_v_none(), f->args[5]);
    if (w->status) return w->status;
    if (l->ndim == 2 && z->ndim > 1) z = R(matmul, z, R(mT, l));
    else z = R(squeeze, R(matmul, l, R(unsqueeze, z, -1)), -1);
    return la_chain_end(w, f, R(add, z, R(to_dtype, mean, la_v_dtype(d))));
}

/* ---- choices ---- */

/* Rows of finite, not negative weights with at least 'wanted' positive ones. p
** is [rows, n]. LA_EARG with PyTorch's messages. */
static la_status check_probabilities(const double *p, int64_t rows, int64_t n,
                                     int64_t wanted)
{
    int64_t left = la_poll_every(rows * n);
    for (int64_t r = 0; r < rows; r++, p += n) {
        double sum = 0;
        int64_t possible = 0;
        LA_EACH_POLLED(i, 0, n) {
            if (!(p[i] >= 0 && p[i] < INFINITY))
                return la_error(LA_EARG, "probability tensor contains either "
                                "`inf`, `nan` or element < 0");
            possible += p[i] > 0;
            sum += p[i];
        }
        if (la_poll_long(n) || la_poll_run(&left, n)) return la_poll();
        if (!(sum > 0))
            return la_error(LA_EARG, "invalid multinomial distribution (sum of "
                            "probabilities <= 0)");
        if (possible < wanted)
            return la_error(LA_EARG, "invalid multinomial distribution (with "
                            "replacement=false, not enough non-negative "
                            "category to sample)");
    }
    return LA_OK;
}

/* Draws of one row between looks at the interrupt. */
#define MOST ((int64_t)1 << 13)

/* Cumulative sums of the first 'fresh' of n weights (none once they are made),
** then a binary search for each uniform value. p is overwritten by its sums. n
** >= 1; positions from 1. */
static void draw_row(double *p, int64_t fresh, int64_t n, const double *u,
                     int64_t draws, int64_t *out)
{
    LA_EACH_POLLED(i, 1, fresh) p[i] += p[i - 1];
    for (int64_t k = 0; k < draws; k++) {
        double x = u[k] * p[n - 1];
        int64_t low = 0, high = n - 1;
        while (low < high) {
            int64_t mid = low + (high - low) / 2;
            if (p[mid] > x) high = mid;
            else low = mid + 1;
        }
        out[k] = low + 1;
    }
}

/* 'draws' indices from 1 for each row. p [rows, n] is scratch of the caller,
** out is [rows, draws]. */
static la_status with_replacement(la_tensor *p, int64_t rows, int64_t draws,
                                  la_generator *g, la_tensor *out)
{
    int64_t total = rows * draws, n = la_sizes(p)[p->ndim - 1];
    LA_LET(u, la_tensor_empty(1, &total, LA_FLOAT64, &u));
    LA_TRY(la_random_doubles(total, (double *)la_data(u), g));
    int64_t left = la_poll_every(rows * (n + draws));
    for (int64_t r = 0; r < rows && !la_poll_run(&left, n + draws); r++)
        for (int64_t k = 0, end; (end = la_poll_part(k, draws, MOST)) > k;
             k = end)
            draw_row((double *)la_data(p) + r * n, k ? 0 : n, n,
                     (double *)la_data(u) + r * draws + k, end - k,
                     (int64_t *)la_data(out) + r * draws + k);
    return la_poll();
}

/* The smallest exponential values of these rates come in the order of drawing
** without replacement (Efraimidis & Spirakis 2006): topk of the keys. *out is
** owned. */
static la_status without_replacement(la_tensor *p, int64_t draws,
                                     la_value generator, la_tensor **out)
{
    la_value r[LA_MAX_RESULTS] = {0};
    LA_LET(keys, la_tensor_empty(p->ndim, la_sizes(p), LA_FLOAT64, &keys));
    LA_TRY(la_run_(exponential_, keys, la_v_float(1), generator));
    double *k = (double *)la_data(keys), *rate = (double *)la_data(p);
    LA_EACH_POLLED(i, 0, p->numel)
        /* Weight 0 is never drawn: check_probabilities saw to enough others. */
        k[i] = rate[i] > 0 ? k[i] / rate[i] : INFINITY;
    LA_TRY(la_run_many(topk, r, keys, draws, -1, la_v_bool(false),
                       la_v_bool(true)));
    la_tensor_release(r[0].tensor);
    *out = r[1].tensor;
    return LA_OK;
}

/* PyTorch's conditions and messages. */
static la_status check_multinomial(const la_tensor *self, int64_t draws,
                                   bool replacement)
{
    if (self->ndim != 1 && self->ndim != 2)
        return la_error_at(LA_ESHAPE, 1, "prob_dist must be 1 or 2 dim");
    if (!la_is_float((la_dtype)self->dtype))
        return la_error_at(LA_EDTYPE, 1, "multinomial only supports floating-"
                           "point dtypes for input, got: %s",
                           la_dtype_name((la_dtype)self->dtype));
    if (draws <= 0)
        return la_error_at(LA_EARG, 2, "cannot sample n_sample <= 0 samples");
    if (!replacement && draws > la_sizes(self)[self->ndim - 1])
        return la_error_at(LA_EARG, 2, "cannot sample n_sample > "
                           "prob_dist.size(-1) samples without replacement");
    return LA_OK;
}

/* multinomial(self [*, n], num_samples, replacement): indices drawn in
** proportion to the weights. */
la_status la_impl_multinomial(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    int64_t draws = la_arg_int(f, 1), sizes[2], n;
    bool replacement = la_arg_bool(f, 2);
    LA_OWNED out = NULL;
    LA_TRY(check_multinomial(self, draws, replacement));
    LA_LET(p, la_random_doubles_of(self, NULL, &p));
    n = la_sizes(p)[p->ndim - 1];
    int64_t rows = n ? p->numel / n : 0;
    LA_TRY(check_probabilities((double *)la_data(p), rows, n,
                               replacement ? 0 : draws));
    sizes[0] = la_sizes(self)[0];
    sizes[self->ndim - 1] = draws;
    if (replacement) {
        LA_TRY(la_tensor_empty(self->ndim, sizes, LA_INT64, &out));
        LA_TRY(with_replacement(p, rows, draws, la_random_generator(f, 3),
                                out));
    } else {
        LA_TRY(without_replacement(p, draws, f->args[3], &out));
    }
    return LA_GIVE(f, la_tensor_retain(out));
}

/* categorical(logits, dim, num_samples): Gumbel-max; the index of the largest
** logit minus the logarithm of an exponential value. The logits need not be
** normalised. With num_samples the samples are the last dim of the result,
** without it that dim is dropped. */
la_status la_impl_categorical(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    int64_t n = la_has(f, 2) ? la_arg_int(f, 2) : 1;
    int dim;
    LA_TRY(la_wrap_dim(la_arg_int(f, 1), self->ndim, &dim));
    LA_TRY(need(self->ndim > 0, "the logits need a dim"));
    LA_TRY(need(n >= 0, "the number of samples must not be negative"));
    la_shape s;
    LA_LET(last, la_run(transpose, &last, self, dim, -1));
    LA_LET(x, la_run(unsqueeze, &x, last, -2));
    s = la_shape_of(x);
    s.sizes[s.ndim - 2] = n;
    LA_LET(noise, la_tensor_empty(s.ndim, s.sizes, LA_FLOAT64, &noise));
    LA_TRY(la_run_(exponential_, noise, la_v_float(1), f->args[3]));
    double *e = (double *)la_data(noise);
    LA_EACH_POLLED(i, 0, noise->numel) e[i] = la_m_log(e[i]);
    LA_LET(keys, la_run(sub, &keys, x, noise));
    LA_LET(found, la_run(argmax, &found, keys, -1, la_v_bool(false)));
    if (la_has(f, 2)) return LA_GIVE(f, la_tensor_retain(found));
    return la_run_result(f, select, found, -1, 0);
}

/* shuffle(self, dim): the slices along dim in random order. */
la_status la_impl_shuffle(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    int dim;
    LA_TRY(la_wrap_dim(la_arg_int(f, 1), self->ndim, &dim));
    LA_TRY(need(self->ndim > 0, "a 0-dim tensor has nothing to shuffle"));
    LA_LET(order, la_run(randperm, &order, la_sizes(self)[dim], la_v_none(),
                         la_v_none(), la_v_bool(false), la_v_none(),
                         la_v_none(), f->args[2]));
    return la_run_result(f, index_select, self, dim, order);
}

/* n indices of 'have' slices: by weights, with replacement, or a permutation's
** first n. *out is owned, positions from 1. */
static la_status choice_choose(la_frame *f, int64_t have, int64_t n,
                               la_tensor **out)
{
    bool replace = la_arg_bool(f, 2);
    if (la_has(f, 3)) {
        la_tensor *p = la_arg(f, 3);
        if (p->ndim != 1 || p->numel != have)
            return la_error_at(LA_ESHAPE, 4, "a probability for each of the "
                               "%lld slices expected", (long long)have);
        return la_run(multinomial, out, p, n, la_v_bool(replace), f->args[4]);
    }
    if (replace)
        return la_run(randint_low, out, 1, have, la_v_ints(&n, 1), la_v_none(),
                      la_v_none(), la_v_bool(false), la_v_none(), la_v_none(),
                      f->args[4]);
    LA_LET(order,
           la_run(randperm, &order, have, la_v_none(), la_v_none(),
                  la_v_bool(false), la_v_none(), la_v_none(), f->args[4]));
    return la_run(narrow, out, order, 0, 0, n);
}

/* choice(self, n, replace, p): n slices of dim 1; of an integer those of
** 1..self, which are the positions themselves. */
la_status la_impl_choice(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    int64_t n = la_arg_int(f, 1);
    LA_OWNED indices = NULL;
    la_scalar most = la_scalar_int(-1);
    bool number = self->ndim == 0 && la_is_integral((la_dtype)self->dtype)
        && la_tensor_to_scalar(self, &most);
    LA_TRY(need(self->ndim > 0 || most.i >= 0, "a tensor with a dim, or an "
                "integer that is not negative, is needed to choose from"));
    int64_t have = number ? most.i : la_sizes(self)[0];
    if (n < 0 || (n > 0 && have == 0) || (!la_arg_bool(f, 2) && n > have))
        return la_error_at(LA_EARG, 2, "can't choose %lld of %lld slices%s",
                           (long long)n, (long long)have, la_arg_bool(f, 2)
                           ? "" : " without replacement");
    if (n == 0)
        LA_TRY(la_tensor_empty(1, &n, LA_INT64, &indices));
    else
        LA_TRY(choice_choose(f, have, n, &indices));
    if (!number) return la_run_result(f, index_select, self, 0, indices);
    return LA_GIVE(f, la_tensor_retain(indices));
}
