/*
** Measures the error of src/simd/math/math.h, in units in the last place of the
** exact result. float32: all bit patterns in steps (first argument; 1 takes
** every float), against double libm. float64: random bit patterns (second
** argument: how many) against MPFR. Prints a table for ACCURACY.md.
**
** Build per capability, with the flags of the kernels:
**   cc -O2 -std=gnu11 -ffp-contract=off -mavx2 -mfma -mf16c -Isrc \
**     bench/c/accuracy.c -o build/accuracy -lmpfr -lsleef -lm
*/
#include <inttypes.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/pointwise/special/special.h"
#include "simd/math/math.h"

typedef struct {
    const char *name;
    f32v (*f32)(f32v);
    f64v (*f64)(f64v);
    double (*ref)(double);
    int (*mpfr)(mpfr_t, const mpfr_t, mpfr_rnd_t);
} unary;

static double ref_sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}
static double ref_silu(double x) { return x * ref_sigmoid(x); }
static double ref_rsqrt(double x) { return 1 / sqrt(x); }
static double ref_softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
static double ref_mish(double x) { return x * tanh(ref_softplus(x)); }
static double ref_gelu(double x) { return x * 0.5 * erfc(-x * M_SQRT1_2); }
static double ref_gelu_tanh(double x)
{
    double u = sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return x * (x > 0 ? 1 / (1 + exp(-2 * u)) : exp(2 * u) / (1 + exp(2 * u)));
}
static int mpfr_sigmoid(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    mpfr_neg(r, x, mode);
    mpfr_exp(r, r, mode);
    mpfr_add_ui(r, r, 1, mode);
    return mpfr_ui_div(r, 1, r, mode);
}
static int mpfr_gelu(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    mpfr_sqrt_ui(r, 2, mode);
    mpfr_div(r, x, r, mode);
    mpfr_neg(r, r, mode);
    mpfr_erfc(r, r, mode);
    mpfr_mul(r, r, x, mode);
    return mpfr_div_ui(r, r, 2, mode);
}
/* Newton's steps in long double from the result itself. */
static double ref_erfinv(double x)
{
    long double y = f64_erfinv(f64_set1(x))[0], a = fabsl(x), up = fabsl(y);
    for (int k = 0; k < 2 && up < INFINITY; k++) {
        long double gap = a > 0.5 ? 1 - a - erfcl(up) : erfl(up) - a;
        up -= gap * expl(up * up) * 0.886226925452758013649L;
    }
    return (double)copysignl(up, x);
}
static double ref_lgamma(double x) { return lgamma(x); }
static int mpfr_lgamma_(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    int sign;
    return mpfr_lgamma(r, &sign, x, mode);
}

#define U(f, m) {#f, f32_##f, f64_##f, f, m}
static const unary table[] = {
    U(exp, mpfr_exp), U(exp2, mpfr_exp2), U(expm1, mpfr_expm1),
    U(log, mpfr_log), U(log2, mpfr_log2), U(log10, mpfr_log10),
    U(log1p, mpfr_log1p), U(sin, mpfr_sin), U(cos, mpfr_cos),
    U(tan, mpfr_tan), U(asin, mpfr_asin), U(acos, mpfr_acos),
    U(atan, mpfr_atan), U(sinh, mpfr_sinh), U(cosh, mpfr_cosh),
    U(tanh, mpfr_tanh), U(asinh, mpfr_asinh), U(acosh, mpfr_acosh),
    U(atanh, mpfr_atanh), U(cbrt, mpfr_cbrt), U(erf, mpfr_erf),
    U(erfc, mpfr_erfc),
    {"erfinv", f32_erfinv, f64_erfinv, ref_erfinv, NULL},
    {"lgamma", f32_lgamma, f64_lgamma, ref_lgamma, mpfr_lgamma_},
    {"rsqrt", f32_rsqrt, f64_rsqrt, ref_rsqrt, mpfr_rec_sqrt},
    {"sigmoid", f32_sigmoid, f64_sigmoid, ref_sigmoid, mpfr_sigmoid},
    {"silu", f32_silu, f64_silu, ref_silu, NULL},
    {"softplus", f32_softplus, f64_softplus, ref_softplus, NULL},
    {"mish", f32_mish, f64_mish, ref_mish, NULL},
    {"gelu", f32_gelu, f64_gelu, ref_gelu, mpfr_gelu},
    {"gelu_tanh", f32_gelu_tanh, f64_gelu_tanh, ref_gelu_tanh, NULL},
};

static int same_special(double got, double want)
{
    if (want != want) return got != got;
    return got == want && !signbit(got) == !signbit(want);
}
/* Error in units in the last place of the float nearest to 'want'. */
static double ulps32(float got, double want)
{
    float near = (float)want;
    if (near != near || isinf(near) || near == 0)
        if (same_special(got, near)) return 0;
    if (got != got || near != near) return INFINITY;
    int e;
    frexp(want, &e);
    double ulp = ldexp(1, (e < -125 ? -125 : e) - 24);
    if (isinf(got) != isinf(near)) {
        double edge = copysign(0x1p128, isinf(got) ? got : near);
        return fabs((isinf(got) ? edge : got) - (isinf(near) ? edge : want))
            / 0x1p104;
    }
    return fabs((double)got - want) / ulp;
}

typedef struct { double worst; double at; } record;
static void note(record *r, double error, double x)
{
    if (error > r->worst) *r = (record){error, x};
}
static void sweep32(const unary *u, uint32_t step, record *r)
{
    for (uint64_t k = 0; k < UINT64_C(1) << 32;
         k += (uint64_t)step * F32_LANES) {
        u32v bits;
        for (int i = 0; i < F32_LANES; i++)
            bits[i] = (uint32_t)(k + (uint64_t)i * step);
        f32v x = (f32v)bits, y = u->f32(x);
        for (int i = 0; i < F32_LANES; i++)
            note(r, ulps32(y[i], u->ref(x[i])), x[i]);
    }
}
static uint64_t random64(void)
{
    static uint64_t s = 88172645463325252u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}
static double ulps64(double got, const mpfr_t want)
{
    double near = mpfr_get_d(want, MPFR_RNDN);
    if (near != near || isinf(near) || near == 0)
        if (same_special(got, near)) return 0;
    if (got != got || near != near || isinf(got) != isinf(near))
        return isinf(got) && fabs(near) > 0x1.fffffffffffffp1023 ? 1
            : INFINITY;
    if (isinf(got)) return got == near ? 0 : INFINITY;
    mpfr_t d;
    mpfr_init2(d, 240);
    mpfr_sub_d(d, want, got, MPFR_RNDN);
    int e;
    frexp(near, &e);
    e = (e < -1021 ? -1021 : e) - 53;
    mpfr_mul_2si(d, d, -e, MPFR_RNDN);
    double error = fabs(mpfr_get_d(d, MPFR_RNDN));
    mpfr_clear(d);
    return error;
}
/* Half of the arguments of any size, half of a common size. */
static double argument(void)
{
    uint64_t bits = random64();
    double x;
    if (bits & 1) return ((double)(int64_t)random64()) * 0x1p-63
        * exp2((double)(bits >> 1 & 15) - 6);
    bits = random64();
    memcpy(&x, &bits, 8);
    return x;
}
static void sweep64(const unary *u, int64_t n, record *r)
{
    mpfr_t a, b;
    mpfr_inits2(240, a, b, NULL);
    for (int64_t k = 0; k < n; k += F64_LANES) {
        f64v x;
        for (int i = 0; i < F64_LANES; i++) x[i] = argument();
        f64v y = u->f64(x);
        for (int i = 0; i < F64_LANES; i++) {
            mpfr_set_d(a, x[i], MPFR_RNDN);
            u->mpfr(b, a, MPFR_RNDN);
            note(r, ulps64(y[i], b), x[i]);
        }
    }
    mpfr_clears(a, b, NULL);
}

typedef struct {
    const char *name;
    f32v (*f32)(f32v, f32v);
    f64v (*f64)(f64v, f64v);
    int (*mpfr)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
    double reach;              /* of |y log x|, in units of the range's */
} binary;
static const binary pairs[] = {
    {"pow", f32_pow, f64_pow, mpfr_pow, 1},
    {"atan2", f32_atan2, f64_atan2, mpfr_atan2, 0},
    {"hypot", f32_hypot, f64_hypot, mpfr_hypot, 0},
};
static double uniform(void) { return (double)(random64() >> 11) * 0x1p-53; }
/* A positive x from 2^-20 to 2^20 or close to 1; y such that powers cover all
** exponents up to 'most'. */
static void two_arguments(const binary *u, double most, double *x, double *y)
{
    bool close = random64() & 1;
    *x = close ? 1 + (uniform() - 0.5) * exp2(-20 * uniform())
        : exp2(40 * uniform() - 20);
    *y = 2 * uniform() - 1;
    if (u->reach == 0) *x *= 2 * (double)(random64() & 1) - 1;
    else *y *= u->reach * most / log2(*x);
}
static double error32(float got, const mpfr_t want)
{
    return ulps32(got, mpfr_get_d(want, MPFR_RNDN));
}
static void sweep_pairs(const binary *u, int64_t n, record *r32, record *r64)
{
    mpfr_t a, b;
    mpfr_inits2(240, a, b, NULL);
    for (int64_t k = 0; k < n; k++) {
        double x, y;
        two_arguments(u, 125, &x, &y);
        float s = (float)x, t = (float)y;
        mpfr_set_d(a, s, MPFR_RNDN);
        mpfr_set_d(b, t, MPFR_RNDN);
        u->mpfr(b, a, b, MPFR_RNDN);
        note(r32, error32(u->f32(f32_set1(s), f32_set1(t))[0], b), s);
        two_arguments(u, 1020, &x, &y);
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_set_d(b, y, MPFR_RNDN);
        u->mpfr(b, a, b, MPFR_RNDN);
        note(r64, ulps64(u->f64(f64_set1(x), f64_set1(y))[0], b), x);
    }
    mpfr_clears(a, b, NULL);
}
static int is_wanted(int argc, char **argv, const char *name)
{
    int wanted = argc < 4;
    for (int i = 3; i < argc; i++) wanted |= strcmp(argv[i], name) == 0;
    return wanted;
}

/* Usage: accuracy [step of floats] [count of doubles] [names...] */
int main(int argc, char **argv)
{
    uint32_t step = argc > 1 ? (uint32_t)atoi(argv[1]) : 997;
    int64_t count = argc > 2 ? atoll(argv[2]) : 20000;
    printf("| function | float32 | at | float64 | at |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (!is_wanted(argc, argv, table[k].name)) continue;
        record r32 = {0}, r64 = {0};
        if (step) sweep32(&table[k], step, &r32);
        printf("| %s | %.3f | %a ", table[k].name, r32.worst, r32.at);
        if (table[k].mpfr && count) {
            sweep64(&table[k], count, &r64);
            printf("| %.3f | %a |\n", r64.worst, r64.at);
        } else
            printf("| | |\n");
        fflush(stdout);
    }
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        if (!is_wanted(argc, argv, pairs[k].name)) continue;
        record r32 = {0}, r64 = {0};
        sweep_pairs(&pairs[k], count, &r32, &r64);
        printf("| %s | %.3f | %a | %.3f | %a |\n", pairs[k].name, r32.worst,
               r32.at, r64.worst, r64.at);
    }
    return 0;
}
