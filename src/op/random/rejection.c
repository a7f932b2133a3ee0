/*
** Distributions by rejection (Poisson, binomial, gamma): element by element,
** each from a stream of its own, whose counters differ in the last word. A
** rejected candidate of one element changes nothing in the next, so results
** depend neither on threads nor on the order of elements.
*/
#include <math.h>

#include "base/philox.h"
#include "iter/items.h"
#include "op/random/random.h"

#define LA_ROWS "op/def/random.def"
#include "op/impls.h"

/* ---- a stream ---- */

/* 'block' is the element's counter, 'tries' numbers its draws. */
typedef struct stream {
    uint64_t seed, block;
    uint32_t tries;
} stream;

/* Two uniform values in (0, 1). */
static void two_units(stream *s, double *u, double *v)
{
    la_philox x = {(uint32_t)s->block, (uint32_t)(s->block >> 32), 0,
                   ++s->tries};
    x = la_philox_words(x, s->seed);
    uint64_t p = (uint64_t)x.a << 32 | x.b, q = (uint64_t)x.c << 32 | x.d;
    *u = (double)(p >> 12) * 0x1p-52 + 0x1p-53;
    *v = (double)(q >> 12) * 0x1p-52 + 0x1p-53;
}

/* Box-Muller, one of the pair. */
static double one_normal(stream *s)
{
    double u, v;
    two_units(s, &u, &v);
    return sqrt(-2 * log(u)) * cos(6.28318530717958647693 * v);
}

/* lgamma_r, since lgamma writes a global. */
static double log_factorial(double k)
{
    int sign;
    return lgamma_r(k + 1, &sign);
}

/* ---- Poisson ---- */

/* Multiply uniform numbers until their product falls below exp(-rate). */
static double poisson_product(stream *s, double rate)
{
    double limit = exp(-rate), product = 1, u, v;
    for (int64_t k = 0; ; k += 2) {
        two_units(s, &u, &v);
        product *= u;
        if (product <= limit) return (double)k;
        product *= v;
        if (product <= limit) return (double)k + 1;
    }
}

/* W. Hoermann, The transformed rejection method for generating Poisson random
** variables (1993): PTRS. */
static double poisson_rejection(stream *s, double rate)
{
    double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.1328 / (b - 3.4), log_rate = log(rate);
    double accept = 0.9277 - 3.6224 / (b - 2), u, v;
    for (;;) {
        two_units(s, &u, &v);
        u -= 0.5;
        double us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= accept) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse) - log(a / (us * us) + b)
            <= k * log_rate - rate - log_factorial(k)) return k;
    }
}

/* The product method below a rate of 10, rejection above, where it is
** faster. */
static double poisson(stream *s, double rate, double unused)
{
    (void)unused;
    if (isnan(rate)) return rate;
    if (rate == 0) return 0;
    return rate < 10 ? poisson_product(s, rate) : poisson_rejection(s, rate);
}

/* ---- binomial ---- */

/* Adds geometric waiting times until they exceed n: the expected number of
** steps is n p (Devroye 1986, second waiting time method). */
static double binomial_waiting(stream *s, double n, double p)
{
    double scale = log1p(-p), sum = 0, count = 0, u, v;
    for (;;) {
        two_units(s, &u, &v);
        sum += ceil(log(u) / scale);
        if (sum > n) return count;
        count++;
        sum += ceil(log(v) / scale);
        if (sum > n) return count;
        count++;
    }
}

/* W. Hoermann, The generation of binomial random variates (1993): BTRS. */
static double binomial_rejection(stream *s, double n, double p)
{
    double q = 1 - p, deviation = sqrt(n * p * q), b = 1.15 + 2.53 * deviation;
    double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
    double accept = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
    double m = floor((n + 1) * p), odds = log(p / q), u, v;
    double top = log_factorial(m) + log_factorial(n - m);
    for (;;) {
        two_units(s, &u, &v);
        u -= 0.5;
        double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= accept) return k;
        if (k < 0 || k > n) continue;
        double bound = top - log_factorial(k) - log_factorial(n - k)
                     + (k - m) * odds;
        if (log(v * alpha / (a / (us * us) + b)) <= bound) return k;
    }
}

/* By symmetry p <= 1/2; waiting times for n p < 10, else rejection. */
static double binomial(stream *s, double n, double p)
{
    if (isnan(n) || isnan(p)) return NAN;
    n = floor(n);
    if (n <= 0 || p <= 0) return 0;
    if (p >= 1) return n;
    /* Both methods want the smaller probability. */
    double q = p <= 0.5 ? p : 1 - p;
    double k = n * q < 10 ? binomial_waiting(s, n, q)
                          : binomial_rejection(s, n, q);
    return p <= 0.5 ? k : n - k;
}

/* ---- gamma ---- */

/* G. Marsaglia, W. Tsang, A simple method for generating gamma variables
** (2000); shapes below 1 are lifted by one and scaled back. An infinite shape
** gives infinity, where d * (1 - v + log(v)) would be NaN and no candidate
** ever be accepted. */
static double gamma_sample(stream *s, double shape, double scale)
{
    double u, unused;
    if (!(shape > 0)) return shape == 0 ? 0 : NAN;
    if (isinf(shape)) return shape * scale;
    if (shape < 1) {
        two_units(s, &u, &unused);
        scale *= pow(u, 1 / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = one_normal(s), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        two_units(s, &u, &unused);
        if (log(u) < 0.5 * x * x + d * (1 - v + log(v))) return scale * d * v;
    }
}

/* ---- over tensors ---- */

/* One sample from parameters a and b. */
typedef double (*sampler)(stream *s, double a, double b);

typedef struct job {
    sampler sample;
    uint64_t seed, block;
    const double *a, *b;
    double *out;
} job;

/* Elements begin..end, each with its own stream. */
static void run_range(int64_t begin, int64_t end, void *context)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++) {
        stream s = {j->seed, j->block + (uint64_t)i, 0};
        j->out[i] = j->sample(&s, j->a[i], j->b ? j->b[i] : 0);
    }
}

/* out = samples of parameters a and b (float64, contiguous; b may be NULL). */
static la_status sample_all(la_tensor *out, la_tensor *a, la_tensor *b,
                            sampler sample, la_generator *g)
{
    LA_OWNED samples = NULL;
    int64_t n = out->numel;
    LA_TRY(la_tensor_empty(out->ndim, la_sizes(out), LA_FLOAT64, &samples));
    job j = {.sample = sample, .seed = g->seed, .a = (double *)la_data(a),
             .b = b ? (double *)la_data(b) : NULL,
             .out = (double *)la_data(samples)};
    j.block = la_random_draw(g, (uint64_t)n);
    LA_TRY(la_iter_items(n, 1024, 1024, run_range, &j));
    return la_run_(copy_, out, samples);
}

/* LA_EARG with 'text' unless all elements lie in low..high; NaN passes, its
** sample is NaN. */
static la_status every(const la_tensor *t, double low, double high,
                       const char *text)
{
    const double *x = (const double *)la_data(t);
    for (int64_t i = 0; i < t->numel; i++)
        if (x[i] < low || x[i] > high) return la_error(LA_EARG, "%s", text);
    return LA_OK;
}

/* A floating point tensor. */
static la_status need_float(const la_tensor *t, const char *what)
{
    if (la_is_float((la_dtype)t->dtype)) return LA_OK;
    return la_error(LA_EDTYPE, "%s needs a floating dtype, got %s", what,
                    la_dtype_name((la_dtype)t->dtype));
}

/* poisson(self): self holds the rates. */
la_status la_meta_poisson(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    LA_TRY(need_float(x, "poisson"));
    return la_set_output(f, 0, x->ndim, la_sizes(x), NULL, (la_dtype)x->dtype);
}

/* Computed in float64 and converted to self's dtype. */
la_status la_impl_poisson(la_frame *f)
{
    LA_OWNED rate = NULL;
    LA_TRY(la_random_doubles_of(la_arg(f, 0), NULL, &rate));
    LA_TRY(every(rate, 0, INFINITY, "invalid Poisson rate, expected rate to be "
                 "non-negative"));
    return sample_all(la_result(f, 0), rate, NULL, poisson,
                      la_random_generator(f, 1));
}

/* Two parameters, broadcast; the result has the first one's floating dtype,
** the second one's when that is none. */
static la_status meta_two(la_frame *f, const char *what)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    la_shape x = la_shape_of(a), y = la_shape_of(b), s;
    la_tensor *typed = (a->flags & LA_F_WRAPPED) ? b : a;
    if (!la_is_float((la_dtype)typed->dtype)) typed = typed == a ? b : a;
    la_dtype d = (la_dtype)typed->dtype;
    if (!la_is_float(d) || (typed->flags & LA_F_WRAPPED))
        d = la_ctx()->default_dtype;
    if (la_is_complex((la_dtype)a->dtype) || la_is_complex((la_dtype)b->dtype))
        return la_error(LA_EDTYPE, "%s is not defined for complex numbers",
                        what);
    LA_TRY(la_shape_broadcast(&x, &y, &s));
    return la_set_output(f, 0, s.ndim, s.sizes, NULL, d);
}

/* Both parameters in float64, expanded to the result's shape. */
static la_status doubles_of_two(la_frame *f, la_tensor **a, la_tensor **b)
{
    la_shape s = la_shape_of(la_result(f, 0));
    LA_TRY(la_random_doubles_of(la_arg(f, 0), &s, a));
    return la_random_doubles_of(la_arg(f, 1), &s, b);
}

/* binomial(count, probability) */
la_status la_meta_binomial(la_frame *f) { return meta_two(f, "binomial"); }

/* Counts are truncated to integers. */
la_status la_impl_binomial(la_frame *f)
{
    LA_OWNED n = NULL;
    LA_OWNED p = NULL;
    LA_TRY(doubles_of_two(f, &n, &p));
    LA_TRY(every(n, 0, INFINITY, "the count must not be negative"));
    LA_TRY(every(p, 0, 1, "the probability must be between 0 and 1"));
    return sample_all(la_result(f, 0), n, p, binomial,
                      la_random_generator(f, 2));
}

/* gamma(shape, scale) */
la_status la_meta_gamma(la_frame *f) { return meta_two(f, "gamma"); }

/* A shape or a scale of 0 gives 0. */
la_status la_impl_gamma(la_frame *f)
{
    LA_OWNED shape = NULL;
    LA_OWNED scale = NULL;
    LA_TRY(doubles_of_two(f, &shape, &scale));
    LA_TRY(every(shape, 0, INFINITY, "the shape must not be negative"));
    LA_TRY(every(scale, 0, INFINITY, "the scale must not be negative"));
    return sample_all(la_result(f, 0), shape, scale, gamma_sample,
                      la_random_generator(f, 2));
}
