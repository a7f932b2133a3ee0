/*
** Families and composites of mathematical functions and activations.
**
** A family here is one of op/pointwise/pointwise.c's with a refusal (check) or
** a choice of kernel (pick) of its own; the composites are activations that are
** not worth a kernel.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "op/composite.h"
#include "op/families.h"
#include "op/view/view.h"
#include "tensor/promote.h"

#define LA_ROWS "op/def/math.def"
#include "iter/iter.h"
#include "op/call.h"
#include "op/impls.h"

#define POINTWISE .meta = la_pointwise_meta, .impl = la_pointwise_impl
#define UNARY_OP (LA_IT_CHECK_MEM_OVERLAP | LA_IT_CHECK_ALL_SAME_DTYPE \
    | LA_IT_PROMOTE_INPUTS | LA_IT_RESIZE_OUTPUTS)
#define UNARY_FLOAT_OP (LA_IT_CHECK_MEM_OVERLAP | LA_IT_PROMOTE_INPUTS \
    | LA_IT_PROMOTE_INTEGERS_TO_FLOAT | LA_IT_CAST_OUTPUTS \
    | LA_IT_ENFORCE_SAFE_CASTING_TO_OUTPUT | LA_IT_RESIZE_OUTPUTS)

LA_STUB_DECLARE(la_loops, digamma);
LA_STUB_DECLARE(la_loops, gelu_tanh);

/* The dtype of tensor argument k, from 0. */
static la_dtype dtype_of(const la_frame *f, int k)
{
    return (la_dtype)la_arg(f, k)->dtype;
}

/* --- functions with a scalar parameter --- */

/* A complex number's angle is real. */
static la_status configure_angle(la_frame *f, la_iter_config *c)
{
    la_dtype d = dtype_of(f, 0);
    if (!la_is_complex(d)) return LA_OK;
    c->static_dtype = la_dtype_to_real(la_result_type_of(la_arg(f, 0)));
    c->flags &= ~(uint32_t)LA_IT_CAST_OUTPUTS;
    return LA_OK;
}
/* Complex inputs, whose result has another dtype, are kept off the fast
** path. */
const la_family la_family_ANGLE = {
    POINTWISE, UNARY_FLOAT_OP, LA_UNDEFINED, .ninputs = 1,
    .fast = LA_FAST_FLOAT, .configure = configure_angle};

/* The kernel takes a negative eps for none. */
static la_status pick_logit(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (!la_has(f, 1)) plan->params.v[0] = la_scalar_float(-1);
    return LA_OK;
}
const la_family la_family_LOGIT = {
    POINTWISE, UNARY_FLOAT_OP, LA_UNDEFINED, .ninputs = 1,
    .fast = LA_FAST_FLOAT, .pick = pick_logit};

/* Negative orders are refused as in PyTorch; the upper limit bounds the work of
** one element. */
static la_status check_polygamma(la_frame *f)
{
    int64_t n = la_arg_int(f, 1);
    if (n < 0)
        return la_error_at(LA_EARG, 2,
                           "polygamma(n, x) does not support negative n.");
    if (n > 1000)
        return la_error_at(LA_EARG, 2, "the order must be at most 1000");
    return LA_OK;
}
/* Order 0 is digamma, which has a kernel by vectors. */
static la_status pick_polygamma(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (la_arg_int(f, 1) == 0) plan->loop = (*LA_STUB(digamma))[dtype];
    return LA_OK;
}
const la_family la_family_POLYGAMMA = {
    POINTWISE, UNARY_FLOAT_OP, LA_UNDEFINED, check_polygamma, .ninputs = 1,
    .fast = LA_FAST_FLOAT, .pick = pick_polygamma};

/* The definition asks for p >= 1; the upper limit bounds the work of one
** element, which is a sum of p terms. */
static la_status check_mvlgamma(la_frame *f)
{
    if (la_arg_int(f, 1) < 1)
        return la_error_at(LA_EARG, 2,
                           "p has to be greater than or equal to 1");
    if (la_arg_int(f, 1) > 1000000)
        return la_error_at(LA_EARG, 2, "p must be at most 1000000");
    return LA_OK;
}
/* A term takes about 30 ns: looks come within a millisecond, or at each
** element, which takes 30 ms at most. */
static la_status pick_mvlgamma(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    int64_t p = la_arg_int(f, 1);
    if (p > 8) plan->grain = la_max(LA_GRAIN / p, 1);
    return LA_OK;
}
const la_family la_family_MVLGAMMA = {
    POINTWISE, UNARY_FLOAT_OP, LA_UNDEFINED, check_mvlgamma, .ninputs = 1,
    .fast = LA_FAST_FLOAT, .pick = pick_mvlgamma};

/* Exponents are int32 whatever the dtype. */
const la_family la_family_FREXP = {
    POINTWISE, LA_IT_CHECK_MEM_OVERLAP | LA_IT_PROMOTE_INPUTS
    | LA_IT_RESIZE_OUTPUTS, LA_INT32, .ninputs = 1, .fast = LA_FAST_FLOAT};

/* (x) -> mantissa and exponent: x 2^-e is exact. */
la_status la_impl_frexp(la_frame *f)
{
    la_tensor *mantissa;
    LA_LET(exponent, la_run(frexp_exponent, &exponent, la_arg(f, 0)));
    LA_LET(down, la_run(neg, &down, exponent));
    LA_TRY(la_run(ldexp_whole, &mantissa, la_arg(f, 0), down));
    la_set_result(f, 0, mantissa);
    la_set_result(f, 1, la_tensor_retain(exponent));
    return LA_OK;
}

/* Modified Bessel functions: their order and scale are arguments of one
** kernel. */
/* sin(x) / x, near 0 as sinc, which has derivatives there: far out the error of
** x / pi would be as large as a period. 0 at infinity. */
la_status la_impl_special_spherical_bessel_j0(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = R(mul, la_arg(f, 0), 1.0);
    la_tensor *size = R(abs, x);
    la_tensor *far = R(eq, size, (double)INFINITY);
    la_tensor *out = R(logical_and, R(gt, size, 1.0), R(logical_not, far));
    la_tensor *some = R(where, out, x, 1.0);
    la_tensor *near = R(sinc, R(mul, x, 0.31830988618379067154));
    near = R(where, out, R(div, R(sin, some), some), near);
    return la_chain_end(w, f, R(where, far, 0.0, near));
}

/* (n, x), the order first, as torch.polygamma has it; the method has x
** first. */
/* --- activations --- */

/* gelu(x, approximate): LA_EARG for another word than the two. */
static la_status check_gelu(la_frame *f)
{
    if (la_str_is(&f->args[1], "none") || la_str_is(&f->args[1], "tanh"))
        return LA_OK;
    return la_error_at(LA_EARG, 2,
                       "approximate argument must be either none or tanh.");
}
/* The row's kernel is the exact function, by erf; "tanh" is the approximation
** of D. Hendrycks and K. Gimpel, Gaussian Error Linear Units, 2016. */
static la_status pick_gelu(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (la_str_is(&f->args[1], "tanh"))
        plan->loop = (*LA_STUB(gelu_tanh))[dtype];
    return LA_OK;
}
const la_family la_family_GELU = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, check_gelu, .ninputs = 1,
    .fast = LA_FAST_ALL, .pick = pick_gelu};

/* celu divides its exponent by alpha; a negative alpha is allowed. */
static la_status check_celu(la_frame *f)
{
    if (f->args[1].scalar.re != 0) return LA_OK;
    return la_error_at(LA_EARG, 2,
                       "ZeroDivisionError: alpha cannot be 0 for CELU");
}
const la_family la_family_CELU = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, check_celu, .ninputs = 1,
    .fast = LA_FAST_ALL};

/* Written so that a NaN is refused too. */
static la_status check_softshrink(la_frame *f)
{
    double lambda = f->args[1].scalar.re;
    if (lambda >= 0) return LA_OK;
    return la_error_at(LA_EARG, 2, "lambda must be greater or equal to 0, but "
                       "found to be %g.", lambda);
}
const la_family la_family_SOFTSHRINK = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, check_softshrink, .ninputs = 1,
    .fast = LA_FAST_ALL};

/* The first half along dim times the sigmoid of the second. (self, dim): the
** result has half of self's size there. LA_ESHAPE for a 0-dim tensor or an odd
** size. Y. Dauphin et al., Language Modeling with Gated Convolutional Networks,
** 2017. */
la_status la_impl_glu(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    int dim;
    if (x->ndim == 0)
        return la_error(LA_ESHAPE, "glu does not support 0-dimensional "
                        "tensors");
    LA_TRY(la_arg_dim(f, 1, x->ndim, &dim));
    int64_t size = la_sizes(x)[dim], half = size / 2;
    if (size % 2 != 0)
        return la_error(LA_ESHAPE, "Halving dimension must be even, but "
            "dimension %d is size %lld", dim + 1, (long long)size);
    LA_LET(first, la_run(narrow, &first, x, dim, 0, half));
    LA_LET(second, la_run(narrow, &second, x, dim, half, half));
    LA_LET(gate, la_run(sigmoid, &gate, second));
    return la_run_result(f, mul, first, gate);
}

/* One weight per channel is seen as 1, C, 1, 1, ... A single weight becomes
** 0-dim, so that it broadcasts to any x. *out is owned. LA_ESHAPE where there
** are neither one nor C of them. */
static la_status shape_weight(la_tensor *x, la_tensor *weight, la_tensor **out)
{
    int64_t sizes[LA_MAX_DIMS];
    int64_t channels = x->ndim > 1 ? la_sizes(x)[1] : 1;
    if (weight->ndim > 1)
        return la_error_at(LA_ESHAPE, 2, "prelu: Expected `weight` to be a "
            "scalar or 1D tensor, but got: ndim = %d", weight->ndim);
    if (weight->numel != 1 && weight->numel != channels)
        return la_error_at(LA_ESHAPE, 2, "Mismatch of parameter numbers and "
            "input channel size. Found parameter numbers = %lld and channel "
            "size = %lld.", (long long)weight->numel, (long long)channels);
    for (int d = 0; d < x->ndim; d++) sizes[d] = d == 1 ? weight->numel : 1;
    int n = weight->numel == 1 ? 0 : x->ndim;
    return la_run(reshape, out, weight, la_v_ints(sizes, n));
}
/* x where it is above 0, else weight * x with a weight per channel. */
la_status la_impl_prelu(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    LA_LET(weight, shape_weight(x, la_arg(f, 1), &weight));
    LA_LET(low, la_run(mul, &low, x, weight));
    LA_LET(above, la_run(gt, &above, x, la_scalar_int(0)));
    return la_run_result(f, where, above, x, low);
}

/* A slope for each element from the uniform distribution. */
static la_status rrelu_slopes(la_frame *f, double low, double high,
                              la_tensor **out)
{
    LA_LET(fresh, la_run(empty_like, &fresh, la_arg(f, 0)));
    return la_run(uniform_, out, fresh, la_v_float(low), la_v_float(high),
                  f->args[4]);
}
/* leaky_relu whose slopes are drawn from [lower, upper) while training, and
** their mean otherwise. (self, lower, upper, training, generator); LA_EARG
** unless lower <= upper, so also for NaN. */
la_status la_impl_rrelu(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *out = NULL;
    LA_OWNED slopes = NULL;
    LA_OWNED low = NULL;
    LA_OWNED above = NULL;
    double lower = f->args[1].scalar.re, upper = f->args[2].scalar.re;
    if (!(lower <= upper))
        return la_error_at(LA_EARG, 2, "Lower bound should be less than or "
                           "equal to the upper bound");
    if (la_arg_bool(f, 3)) {
        LA_TRY(rrelu_slopes(f, lower, upper, &slopes));
        LA_TRY(la_run(mul, &low, x, slopes));
        LA_TRY(la_run(gt, &above, x, la_scalar_int(0)));
        LA_TRY(la_run(where, &out, above, x, low));
    } else
        LA_TRY(la_run(leaky_relu, &out, x,
                      la_scalar_float((lower + upper) / 2)));
    return LA_GIVE(f, out);
}
