/*
** Formulas of powers, special functions and activations. Complex derivatives
** follow PyTorch's convention: the gradient times the conjugate derivative.
**
** A formula with a condition computes both branches, and the one that is not
** taken may be infinite. Its own derivative would then be 0 * inf = NaN, so the
** input is made harmless before the branch, not the result behind it: at once
** where the first gradient needs it, else by safe() only while the formula is
** recorded.
*/
#include <math.h>

#include "grad/formulas/formulas.h"
#include "grad/formulas/formula_terms.h"
#include "op/op.h"

/* 't', with 'value' where 'unused' while the formula is recorded. */
static la_tensor *safe(la_formula *x, la_tensor *unused, double value,
                       la_tensor *t)
{
    return la_grad_enabled() ? R(where, unused, value, t) : t;
}

/* A power series in q: c[0] + c[1] q + ... (Horner). */
static la_tensor *series(la_formula *x, la_tensor *q, const double *c, int n)
{
    la_tensor *sum = R(mul, q, c[n - 1]);
    for (int i = n - 2; i > 0; i--) sum = R(mul, R(add, sum, c[i]), q);
    return R(add, sum, c[0]);
}

la_tensor *la_x_flat(la_formula *x, la_tensor *g)
{
    if (!la_grad_enabled()) return g;
    return R(add, g, R(mul, R(sign, A(0)), 0));
}

/* base^e: e base^(e - 1), and 0 for e = 0 even where base is 0. Where the slope
** in base is itself a function of e, e = 0 is special at such bases only. */
la_tensor *la_x_pow_self(la_formula *x)
{
    la_tensor *e = A(1), *base = A(0), *none = R(eq, e, 0);
    if (la_grad_enabled() && la_x_wants(x, 1))
        none = R(logical_and, none,
                 R(logical_not, R(isfinite, R(pow, base, -2))));
    base = safe(x, none, 1, base);
    la_tensor *slope = R(mul, e, R(pow, base, R(sub, e, 1)));
    return R(where, none, 0, R(mul, G, C(slope)));
}

/* base^e log(base); 0^e has no slope in e for e >= 0. */
la_tensor *la_x_pow_exponent(la_formula *x)
{
    la_tensor *base = A(0), *e = A(1), *result = RES(0);
    if (!result) return NULL;
    if (la_is_complex((la_dtype)result->dtype))
        base = R(astype, base, la_v_dtype((la_dtype)result->dtype));
    la_tensor *zero = R(eq, base, 0), *sign = e;
    if (e && la_is_complex((la_dtype)e->dtype)) sign = R(real, e);
    zero = R(logical_and, zero, R(ge, sign, 0));
    base = safe(x, zero, 1, base);
    if (la_grad_enabled()) result = R(pow, base, e);
    return R(mul, G, C(R(where, zero, 0, R(mul, result, R(log, base)))));
}

/* Complex: only the direction counts, so the radial part of the gradient is
** removed. Real: zero. */
la_tensor *la_x_sgn(la_formula *x)
{
    la_tensor *self = A(0), *s, *r;
    if (!self || !la_is_complex((la_dtype)self->dtype))
        return R(zeros_like, G);
    s = RES(0);
    r = R(mul, R(real, R(mul, G, C(s))), s);
    r = R(div, R(sub, G, r), R(abs, self));
    return R(where, R(eq, self, 0), 0, r);
}

/* Gradient of sin(p) / p with p = pi x: pi (p cos(p) - sin(p)) / p^2, and the
** Taylor series where the difference cancels. */
la_tensor *la_x_sinc(la_formula *x)
{
    static const double c[] = {-1 / 3., 1 / 30., -1 / 840., 1 / 45360.,
                               -1 / 3991680.};
    const double pi = 3.141592653589793;
    la_tensor *p = R(mul, A(0), pi), *near = R(lt, R(abs, p), 0.3);
    la_tensor *small = R(where, near, p, 0), *large = R(where, near, 1, p);
    la_tensor *curve = R(mul, small, series(x, R(square, small), c, 5));
    la_tensor *slope = R(sub, R(mul, R(cos, large), large), R(sin, large));
    slope = R(div, slope, R(square, large));
    return R(mul, R(mul, G, pi), C(R(where, near, curve, slope)));
}

/* I1(x) / x, or with sign -1 J1(x) / x: near 0 by the Taylor series there, as
** its derivatives would lose all digits. */
static la_tensor *bessel_quotient(la_formula *x, int sign, bool scaled)
{
    static const double c[] = {1 / 2., 1 / 16., 1 / 384., 1 / 18432.,
                               1 / 1474560.};
    la_tensor *self = A(0), *size = R(abs, self), *near = R(lt, size, 0.1);
    la_tensor *small = R(where, near, self, 0);
    la_tensor *curve = series(x, R(mul, R(square, small), sign), c, 5);
    if (scaled) curve = R(mul, curve, R(exp, R(neg, size)));
    la_tensor *quotient = R(div, RES(0), R(where, near, 1, self));
    return R(where, near, curve, quotient);
}

la_tensor *la_x_i1_quotient(la_formula *x, bool scaled)
{
    return bessel_quotient(x, 1, scaled);
}
la_tensor *la_x_j1_quotient(la_formula *x)
{
    return bessel_quotient(x, -1, false);
}

la_tensor *la_x_missing(la_formula *x, int k)
{
    return la_chain_fail(&x->w, la_error(
        LA_EGRAD, "the derivative of %s in argument %d is not implemented",
        x->op->op->name, k + 1));
}

/* x^(a - 1) e^-x / gamma(a) */
la_tensor *la_x_gamma_density(la_formula *x)
{
    la_tensor *a = A(0), *at = A(1);
    la_tensor *power = R(sub, R(xlogy, R(sub, a, 1), at), at);
    return R(exp, R(sub, power, R(lgamma, a)));
}

/* K0' = -K1, K1' = -K0 - K1 / x; e^x times it has itself in addition. */
la_tensor *la_x_bessel_k(la_formula *x)
{
    la_tensor *self = A(0), *own = RES(0);
    bool one = VAL(1).scalar.re != 0, scaled = VAL(2).scalar.re != 0;
    la_tensor *slope = R(neg, R(bessel_k, self, one ? 0 : 1, VAL(2)));
    if (one) slope = R(sub, slope, R(div, own, self));
    return R(mul, G, scaled ? R(add, slope, own) : slope);
}

/* phi(x) / Phi(x). Far below 0 both underflow, and their logarithms cancel:
** there it is -x over the asymptotic series of the Mills ratio (Abramowitz and
** Stegun 26.2.12). */
la_tensor *la_x_log_ndtr(la_formula *x)
{
    static const double c[] = {1, -1, 3, -15, 105, -945, 10395, -135135};
    la_tensor *self = A(0), *far = R(lt, self, -20);
    la_tensor *low = R(where, far, self, -20);
    la_tensor *tail = R(div, R(neg, low), series(x, R(reciprocal,
        R(square, low)), c, 8));
    la_tensor *near = safe(x, far, 0, self);
    near = R(sub, R(mul, R(square, near), -0.5), safe(x, far, 0, RES(0)));
    near = R(mul, R(exp, near), 0.3989422804014327);
    return R(mul, G, R(where, far, tail, near));
}

/* atan2(im, re): g (-im + i re) / |x|^2; real arguments have none. */
la_tensor *la_x_angle(la_formula *x)
{
    la_tensor *self = A(0), *re, *im, *g;
    if (!self || !la_is_complex((la_dtype)self->dtype))
        return R(zeros_like, G);
    re = R(real, self);
    im = R(imag, self);
    g = R(div, G, R(add, R(square, re), R(square, im)));
    g = R(complex, R(neg, R(mul, g, im)), R(mul, g, re));
    return R(where, R(eq, self, 0), 0, g);
}

/* The sum of digamma(x - i / 2) for i < p. */
la_tensor *la_x_mvlgamma(la_formula *x)
{
    la_tensor *self = A(0), *sum = R(digamma, self);
    for (int64_t i = 1; i < VAL(1).i; i++)
        sum = R(add, sum, R(digamma, R(sub, self, 0.5 * (double)i)));
    return R(mul, G, sum);
}

/* 1 / (x (1 - x)); 0 outside of [eps, 1 - eps], and NaN outside of [0, 1]
** without eps, where the result is NaN. */
la_tensor *la_x_logit(la_formula *x)
{
    bool bounded = VAL(1).tag != LA_VNONE;
    double eps = bounded ? VAL(1).d : 0;
    la_tensor *self = A(0);
    la_tensor *inside = R(logical_and, R(ge, self, eps),
                          R(le, self, 1 - eps));
    self = safe(x, R(logical_not, inside), 0.5, self);
    la_tensor *g = R(div, G, R(mul, self, R(rsub, self, 1)));
    return R(where, inside, g, bounded ? 0 : NAN);
}

la_tensor *la_x_inverse_norm(la_formula *x)
{
    la_tensor *n = R(add, R(square, A(0)), R(square, A(1)));
    la_tensor *zero = R(eq, n, 0);
    return R(where, zero, 0, R(reciprocal, safe(x, zero, 1, n)));
}

/* The difference of equal infinities is NaN. Other equal numbers keep their
** difference where it is differentiated. */
la_tensor *la_x_distance(la_formula *x, la_tensor *a, la_tensor *b)
{
    la_tensor *same = R(eq, a, b);
    if (la_grad_enabled()) same = R(logical_and, same, R(isinf, a));
    return R(where, same, 0, R(sub, a, b));
}

la_tensor *la_x_wide(la_formula *x, int k)
{
    la_tensor *t = A(k);
    return t && la_is_half((la_dtype)t->dtype)
        ? R(astype, t, la_v_dtype(LA_FLOAT32)) : t;
}

la_tensor *la_x_below_zero(la_formula *x)
{
    la_tensor *self = WIDE(0);
    return la_grad_enabled() ? R(where, R(ge, self, 0), 0, self) : self;
}

/* x s(x): s (1 + x (1 - s)). */
la_tensor *la_x_silu(la_formula *x)
{
    la_tensor *self = WIDE(0), *s = R(sigmoid, self);
    la_tensor *slope = R(add, R(mul, self, R(rsub, s, 1)), 1);
    return R(mul, G, C(R(mul, s, slope)));
}

/* Gradient of x r with r = 1 / (1 + |x|), which is real: g r, and through |x|
** the part of g along x. */
la_tensor *la_x_softsign(la_formula *x)
{
    la_tensor *self = A(0), *r = R(reciprocal, R(add, R(abs, self), 1));
    la_tensor *square = R(square, r), *along;
    if (!self || !la_is_complex((la_dtype)self->dtype))
        return R(mul, G, square);
    along = R(mul, R(real, R(mul, G, C(self))), square);
    return R(sub, R(mul, G, r), R(mul, R(sgn, self), along));
}

/* x tanh(softplus(x)). */
la_tensor *la_x_mish(la_formula *x)
{
    la_tensor *self = WIDE(0), *t = R(tanh, R(softplus, self));
    la_tensor *bend = R(mul, R(mul, self, R(sigmoid, self)),
                        R(rsub, R(square, t), 1));
    return R(mul, G, R(add, t, bend));
}

/* The approximation by tanh (Hendrycks & Gimpel 2016). */
static la_tensor *gelu_tanh(la_formula *x, la_tensor *self)
{
    const double k = 0.7978845608028654, c = 0.044715;
    la_tensor *sq = R(square, self);
    la_tensor *t = R(tanh, R(mul, R(mul, self, k),
                             R(add, R(mul, sq, c), 1)));
    la_tensor *left = R(mul, R(add, t, 1), 0.5);
    la_tensor *inner = R(mul, R(add, R(mul, sq, 3 * c), 1), k);
    la_tensor *right = R(mul, R(mul, R(mul, self, 0.5),
                                R(rsub, R(square, t), 1)), inner);
    return R(mul, G, R(add, left, right));
}

/* x Phi(x): Phi(x) + x phi(x). */
la_tensor *la_x_gelu(la_formula *x)
{
    la_tensor *self = WIDE(0);
    la_value form = VAL(1);
    if (la_str_is(&form, "tanh")) return gelu_tanh(x, self);
    la_tensor *cdf = R(ndtr, self);
    la_tensor *pdf = R(mul, R(exp, R(mul, R(square, self), -0.5)),
                       0.3989422804014327);
    return R(mul, G, R(add, cdf, R(mul, self, pdf)));
}

/* elu and selu: scale above 0, else inner * alpha * scale * exp(inner x). */
la_tensor *la_x_elu(la_formula *x)
{
    double alpha = VAL(1).scalar.re, scale = VAL(2).scalar.re;
    double inner = VAL(3).scalar.re;
    la_tensor *low = R(mul, R(exp, R(mul, la_x_below_zero(x), inner)),
                       inner * alpha * scale);
    return R(where, R(gt, A(0), 0), R(mul, G, scale), R(mul, G, low));
}
