/*
** Formulas of powers, special functions and activations. Complex derivatives
** follow PyTorch's convention: the gradient times the conjugate derivative.
*/
#include "grad/formulas.h"
#include "grad/formula_terms.h"

/* base^e: e base^(e - 1), and 0 for e = 0 even where base is 0. */
la_tensor *la_x_pow_self(la_formula *x)
{
    la_tensor *e = A(1), *base = A(0);
    la_tensor *slope = R(mul, e, R(pow, base, R(sub, e, 1)));
    return R(where, R(eq, e, 0), 0, R(mul, G, C(slope)));
}

/* base^e log(base); 0^e has no slope in e for e >= 0. */
la_tensor *la_x_pow_exponent(la_formula *x)
{
    la_tensor *base = A(0), *e = A(1);
    la_tensor *slope = R(mul, RES(0), R(log, base));
    la_tensor *zero = R(eq, base, 0);
    if (e && la_is_complex((la_dtype)e->dtype)) e = R(real, e);
    zero = R(logical_and, zero, R(ge, e, 0));
    return R(mul, G, C(R(where, zero, 0, slope)));
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

/* sin(pi x) / (pi x): (pi x cos(pi x) - sin(pi x)) / (pi x^2), 0 at 0. */
la_tensor *la_x_sinc(la_formula *x)
{
    la_tensor *self = A(0), *p = R(mul, self, 3.141592653589793);
    la_tensor *slope = R(div, R(sub, R(mul, R(cos, p), p), R(sin, p)),
                         R(mul, p, self));
    return R(where, R(eq, self, 0), 0, R(mul, G, C(slope)));
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

/* 1 / (x (1 - x)); 0 outside of [eps, 1 - eps]. */
la_tensor *la_x_logit(la_formula *x)
{
    la_tensor *self = A(0);
    la_tensor *g = R(div, G, R(mul, self, R(rsub, self, 1)));
    if (VAL(1).tag == LA_VNONE) return g;
    double eps = VAL(1).d;
    la_tensor *inside = R(logical_and, R(ge, self, eps),
                          R(le, self, 1 - eps));
    return R(where, inside, g, 0);
}

la_tensor *la_x_inverse_norm(la_formula *x)
{
    la_tensor *n = R(add, R(square, A(0)), R(square, A(1)));
    return R(where, R(eq, n, 0), 0, R(reciprocal, n));
}

/* Equal infinities: the difference is NaN and the halves are equal. */
la_tensor *la_x_weight(la_formula *x, la_tensor *w)
{
    return R(where, R(isnan, w), 0.5, w);
}

/* x s(x): s (1 + x (1 - s)). */
la_tensor *la_x_silu(la_formula *x)
{
    la_tensor *self = A(0), *s = R(sigmoid, self);
    la_tensor *slope = R(add, R(mul, self, R(rsub, s, 1)), 1);
    return R(mul, G, C(R(mul, s, slope)));
}

/* Of x r with r = 1 / (1 + |x|), which is real: g r, and through |x| the part
** of g along x. */
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
    la_tensor *self = A(0), *t = R(tanh, R(softplus, self));
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
    la_tensor *self = A(0);
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
    la_tensor *self = A(0);
    double alpha = VAL(1).scalar.re, scale = VAL(2).scalar.re;
    double inner = VAL(3).scalar.re;
    la_tensor *low = R(mul, R(exp, R(mul, self, inner)),
                       inner * alpha * scale);
    return R(where, R(gt, self, 0), R(mul, G, scale), R(mul, G, low));
}
