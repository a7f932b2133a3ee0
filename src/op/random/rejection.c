/*
** Distributions with parameters for each element, most of them by rejection:
** element by element, each from a stream of its own, whose counters differ in
** the last word. A rejected candidate of one element changes nothing in the
** next, so results depend neither on threads nor on the order of elements.
*/
#include <math.h>

#include "base/philox.h"
#include "base/libm/libm.h"
#include "base/runtime/thread_pool.h"
#include "iter/items.h"
#include "op/random/random.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/random.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
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
    return sqrt(-2 * la_m_log(u)) * la_m_cos(6.28318530717958647693 * v);
}

/* lgamma_r, since lgamma writes a global. */
static double log_factorial(double k)
{
    int sign;
    return la_m_lgamma_sign(k + 1, &sign);
}

/* ---- Poisson ---- */

/* Multiply uniform numbers until their product falls below exp(-rate). */
static double poisson_product(stream *s, double rate)
{
    double limit = la_m_exp(-rate), product = 1, u, v;
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
    double inverse = 1.1239 + 1.1328 / (b - 3.4), log_rate = la_m_log(rate);
    double accept = 0.9277 - 3.6224 / (b - 2), u, v;
    for (;;) {
        two_units(s, &u, &v);
        u -= 0.5;
        double us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= accept) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (la_m_log(v) + la_m_log(inverse) - la_m_log(a / (us * us) + b)
            <= k * log_rate - rate - log_factorial(k)) return k;
    }
}

/* The product method below a rate of 10, rejection above, where it is
** faster. */
static double sample_poisson(stream *s, const double *p)
{
    double rate = p[0];
    if (isnan(rate)) return rate;
    if (rate == 0) return 0;
    return rate < 10 ? poisson_product(s, rate) : poisson_rejection(s, rate);
}

/* ---- binomial ---- */

/* Adds geometric waiting times until they exceed n: the expected number of
** steps is n p (Devroye 1986, second waiting time method). */
static double binomial_waiting(stream *s, double n, double p)
{
    double scale = la_m_log1p(-p), sum = 0, count = 0, u, v;
    for (;;) {
        two_units(s, &u, &v);
        sum += ceil(la_m_log(u) / scale);
        if (sum > n) return count;
        count++;
        sum += ceil(la_m_log(v) / scale);
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
    double m = floor((n + 1) * p), odds = la_m_log(p / q), u, v;
    double top = log_factorial(m) + log_factorial(n - m);
    for (;;) {
        two_units(s, &u, &v);
        u -= 0.5;
        double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= accept) return k;
        if (k < 0 || k > n) continue;
        double bound = top - log_factorial(k) - log_factorial(n - k)
                     + (k - m) * odds;
        if (la_m_log(v * alpha / (a / (us * us) + b)) <= bound) return k;
    }
}

/* Symmetry makes p <= 1/2; waiting times for n p < 10, else rejection. */
static double sample_binomial(stream *s, const double *parameters)
{
    double n = parameters[0], p = parameters[1];
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
        scale *= la_m_pow(u, 1 / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = one_normal(s), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        two_units(s, &u, &unused);
        if (la_m_log(u) < 0.5 * x * x + d * (1 - v + la_m_log(v)))
            return scale * d * v;
    }
}

static double sample_gamma(stream *s, const double *p)
{
    return gamma_sample(s, p[0], p[1]);
}

/* The logarithm, which is finite where the number itself would be 0. */
static double sample_gamma_log(stream *s, const double *p)
{
    double u = 1, unused;
    if (!(p[0] > 0 && p[0] < 1)) return la_m_log(gamma_sample(s, p[0], 1));
    two_units(s, &u, &unused);
    return la_m_log(u) / p[0] + la_m_log(gamma_sample(s, p[0] + 1, 1));
}

/* A beta number of two gamma numbers, through their logarithms where both would
** be tiny. */
static double sample_beta(stream *s, const double *p)
{
    if (p[0] < 1 && p[1] < 1) {
        double x = sample_gamma_log(s, p), y = sample_gamma_log(s, p + 1);
        return isinf(x) && isinf(y) ? NAN : 1 / (1 + la_m_exp(y - x));
    }
    double x = gamma_sample(s, p[0], 1), y = gamma_sample(s, p[1], 1);
    return isinf(x) && !isinf(y) ? 1 : x / (x + y);
}

/* A normal number over the root of a chi-square one by its df, which is
** infinite for the normal distribution itself: (df, loc, scale). */
static double sample_student_t(stream *s, const double *p)
{
    double x = one_normal(s), df = p[0];
    if (!isinf(df)) x *= sqrt(df / 2 / gamma_sample(s, df / 2, 1));
    return p[1] + p[2] * x;
}

static double sample_chisquare(stream *s, const double *p)
{
    return gamma_sample(s, p[0] / 2, 2);
}

/* ---- by inversion ---- */

static double sample_laplace(stream *s, const double *p)
{
    double u, side;
    two_units(s, &u, &side);
    return side < 0.5 ? p[0] + p[1] * la_m_log(u) : p[0] - p[1] * la_m_log(u);
}

static double sample_gumbel(stream *s, const double *p)
{
    double u, unused;
    two_units(s, &u, &unused);
    return p[0] - p[1] * la_m_log(-la_m_log(u));
}

static double sample_weibull(stream *s, const double *p)
{
    double u, unused;
    two_units(s, &u, &unused);
    return p[0] * la_m_pow(-la_m_log(u), 1 / p[1]);
}

/* ---- the normal distribution between limits ---- */

/* Standard normal numbers in low..high, 0 <= low: candidates fall off
** exponentially, as slowly as accepts most (C. Robert, Simulation of truncated
** normal variables, 1995). */
static double normal_tail(stream *s, double low, double high)
{
    bool far = low > 1e6;     /* all are accepted, and squares could overflow */
    double rate = far ? low : (low + sqrt(low * low + 4)) / 2, u, v;
    double rest = la_m_expm1(-rate * (high - low));
    for (;;) {
        two_units(s, &u, &v);
        double x = low - la_m_log1p(u * rest) / rate;
        if (far || la_m_log(v) <= -0.5 * (x - rate) * (x - rate)) return x;
    }
}

/* Around 0: normal candidates for a wide interval, uniform ones for a narrow
** one. */
static double normal_middle(stream *s, double low, double high)
{
    double u, v;
    if (high - low > 2.5)
        for (;;) {
            double x = one_normal(s);
            if (x >= low && x <= high) return x;
        }
    for (;;) {
        two_units(s, &u, &v);
        double x = low + u * (high - low);
        if (la_m_log(v) <= -0.5 * x * x) return x;
    }
}

/* (mean, std, low, high) */
static double sample_truncated_normal(stream *s, const double *p)
{
    double low = (p[2] - p[0]) / p[1], high = (p[3] - p[0]) / p[1], x;
    if (!(low <= high) || isnan(p[1])) return NAN;
    if (low == high || p[1] == 0) return fmin(fmax(p[0], p[2]), p[3]);
    x = low > 0 ? normal_tail(s, low, high)
        : high < 0 ? -normal_tail(s, -high, -low) : normal_middle(s, low, high);
    return fmin(fmax(p[0] + p[1] * x, p[2]), p[3]);
}

/* ---- over tensors ---- */

enum { MOST = 4 };       /* parameters */

/* One sample from its parameters. */
typedef double (*sampler)(stream *s, const double *parameters);

typedef struct job {
    sampler sample;
    uint64_t seed, block;
    int n;
    const double *parameters[MOST];
    int step[MOST];          /* 0: one value for all elements */
    double *out;
} job;

/* Elements begin..end, each with its own stream. No sampler sees a NaN. */
static void rejection_run_range(int64_t begin, int64_t end, void *context)
{
    const job *j = context;
    double p[MOST] = {0};
    for (int64_t i = begin; i < end; i++) {
        stream s = {j->seed, j->block + (uint64_t)i, 0};
        bool nan = false;
        for (int k = 0; k < j->n; k++) {
            p[k] = j->parameters[k][i * j->step[k]];
            nan |= isnan(p[k]);
        }
        j->out[i] = nan ? NAN : j->sample(&s, p);
    }
}

/* The values that a parameter may have; NaN may be anywhere, its sample is
** NaN. */
typedef struct domain {
    double low, high;
    const char *text;    /* of the error */
} domain;

#define ANYTHING {-INFINITY, INFINITY, NULL}

/* LA_EARG for the first element outside. */
static la_status check_domain(const la_tensor *t, const domain *d, int k)
{
    const double *x = (const double *)la_data(t);
    if (!d->text) return LA_OK;
    LA_EACH_POLLED(i, 0, t->numel)
        if (x[i] < d->low || x[i] > d->high)
            return la_error_at(LA_EARG, k + 1, "%s, got %g", d->text, x[i]);
    return la_poll();
}

/* A distribution: its parameters, and which arguments they and the others
** are. */
typedef struct distribution {
    const char *what;
    sampler sample;
    int n, size, dtype, generator;     /* size, dtype: -1 for none */
    int at[MOST];                      /* arguments of the parameters */
    domain domains[MOST];
} distribution;

/* The dtype= argument; else that of the first parameter that is a floating
** tensor, else the default. */
static la_status rejection_dtype_of(const la_frame *f, const distribution *d,
                                    la_dtype *out)
{
    *out = LA_UNDEFINED;
    for (int k = 0; k < d->n; k++) {
        const la_tensor *t = la_arg(f, d->at[k]);
        la_dtype own = (la_dtype)t->dtype;
        if (la_is_complex(own))
            return la_error_at(LA_EDTYPE, d->at[k] + 1, "%s is not defined for "
                               "complex numbers", d->what);
        if (*out == LA_UNDEFINED && la_is_float(own)
            && !(t->flags & LA_F_WRAPPED)) *out = own;
    }
    if (*out == LA_UNDEFINED) *out = la_ctx()->default_dtype;
    if (d->dtype < 0 || !la_has(f, d->dtype)) return LA_OK;
    *out = f->args[d->dtype].dtype;
    if (la_is_float(*out)) return LA_OK;
    return la_error_at(LA_EDTYPE, d->dtype + 1, "%s needs a floating dtype, "
                       "got %s", d->what, la_dtype_name(*out));
}

/* A size[] argument as a shape: LA_ESHAPE for negative or too many sizes. */
static la_status asked_shape(const la_value *v, int k, la_shape *s)
{
    s->ndim = (int)v->ints.n;
    if (v->ints.n > LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, k + 1, "at most %d dimensions",
                           LA_MAX_DIMS);
    for (int d = 0; d < s->ndim; d++) {
        s->sizes[d] = v->ints.list[d];
        if (s->sizes[d] < 0)
            return la_error_at(LA_ESHAPE, k + 1, "negative dimension %lld",
                               (long long)s->sizes[d]);
    }
    return LA_OK;
}

/* The parameters and the sizes, broadcast. */
static la_status meta_distribution(la_frame *f, const distribution *d)
{
    la_shape s = {.ndim = 0};
    la_dtype dtype;
    for (int k = 0; k < d->n; k++) {
        la_shape own = la_shape_of(la_arg(f, d->at[k])), all = s;
        LA_TRY(la_shape_broadcast(&all, &own, &s));
    }
    if (d->size >= 0 && la_has(f, d->size)) {
        la_shape all = s, own;
        LA_TRY(asked_shape(&f->args[d->size], d->size, &own));
        LA_TRY(la_blame(la_shape_broadcast(&all, &own, &s), d->size + 1));
    }
    LA_TRY(rejection_dtype_of(f, d, &dtype));
    return la_set_output(f, 0, s.ndim, s.sizes, NULL, dtype);
}

/* Computed in float64 and converted. */
static la_status impl_distribution(la_frame *f, const distribution *d)
{
    la_tensor *wide[MOST] = {NULL}, *out = la_result(f, 0);
    LA_OWNED samples = NULL;
    la_shape whole = la_shape_of(out);
    la_generator *g = la_random_generator(f, d->generator);
    job j = {.sample = d->sample, .n = d->n, .seed = g->seed};
    la_status status = la_tensor_empty(out->ndim, la_sizes(out), LA_FLOAT64,
                                       &samples);
    for (int k = 0; k < d->n && !status; k++) {
        la_tensor *t = la_arg(f, d->at[k]);
        j.step[k] = t->numel != 1;
        status = la_random_doubles_of(t, t->numel != 1 ? &whole : NULL,
                                      &wide[k]);
        if (!status) status = check_domain(wide[k], &d->domains[k], d->at[k]);
        if (!status) j.parameters[k] = (const double *)la_data(wide[k]);
    }
    if (!status) {
        j.out = (double *)la_data(samples);
        j.block = la_random_draw(g, (uint64_t)out->numel);
        status = la_iter_items(out->numel, 1024, 1024, rejection_run_range, &j);
    }
    for (int k = 0; k < d->n; k++) la_tensor_drop(&wide[k]);
    return status ? status : la_run_(copy_, out, samples);
}

/* The two functions of a row whose arguments are n parameters, the sizes, the
** dtype and the generator. */
#define DISTRIBUTION(name, n_, ...) \
    static const distribution name##_rule = {#name, sample_##name, n_, \
        n_, n_ + 1, n_ + 2, {0, 1, 2, 3}, {__VA_ARGS__}}; \
    la_status la_meta_##name(la_frame *f) \
    { \
        return meta_distribution(f, &name##_rule); \
    } \
    la_status la_impl_##name(la_frame *f) \
    { \
        return impl_distribution(f, &name##_rule); \
    }
#define NOT_NEGATIVE(what) {0, INFINITY, what " must not be negative"}
#define POSITIVE(what) {0x1p-1074, INFINITY, what " must be above 0"}

/* poisson(self): self holds the rates. */
static const distribution poisson_rule = {"poisson", sample_poisson, 1, -1, -1,
    1, {0}, {{0, INFINITY, "invalid Poisson rate, expected rate to be "
              "non-negative"}}};
la_status la_meta_poisson(la_frame *f)
{
    la_dtype d = (la_dtype)la_arg(f, 0)->dtype;
    if (!la_is_float(d))
        return la_error(LA_EDTYPE, "poisson needs a floating dtype, got %s",
                        la_dtype_name(d));
    return meta_distribution(f, &poisson_rule);
}
LA_FORWARD(la_impl_poisson, impl_distribution(f, &poisson_rule))

/* student_t(df, size, loc, scale, dtype, generator) */
static const distribution student_t_rule = {"student_t", sample_student_t, 3, 1,
    4, 5, {0, 2, 3}, {POSITIVE("df"), ANYTHING, NOT_NEGATIVE("the scale")}};
LA_FORWARD(la_meta_student_t, meta_distribution(f, &student_t_rule))
LA_FORWARD(la_impl_student_t, impl_distribution(f, &student_t_rule))

/* Counts are truncated to integers. */
DISTRIBUTION(binomial, 2, NOT_NEGATIVE("the count"),
             {0, 1, "the probability must be between 0 and 1"})
DISTRIBUTION(gamma, 2, NOT_NEGATIVE("the shape"), NOT_NEGATIVE("the scale"))
DISTRIBUTION(gamma_log, 1, NOT_NEGATIVE("the concentration"))
DISTRIBUTION(beta, 2, NOT_NEGATIVE("a"), NOT_NEGATIVE("b"))
DISTRIBUTION(laplace, 2, ANYTHING, NOT_NEGATIVE("the scale"))
DISTRIBUTION(gumbel, 2, ANYTHING, NOT_NEGATIVE("the scale"))
DISTRIBUTION(weibull, 2, NOT_NEGATIVE("the scale"),
             POSITIVE("the concentration"))
DISTRIBUTION(chisquare, 1, POSITIVE("df"))
DISTRIBUTION(truncated_normal, 4, ANYTHING, NOT_NEGATIVE("std"), ANYTHING,
             ANYTHING)
