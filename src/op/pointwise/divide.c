/*
** Division and powers: true division makes floats, the others keep integers,
** refuse a zero divisor before anything is written, and never trap.
*/
#include <math.h>

#include "iter/iter.h"
#include "op/families.h"
#include "op/frame.h"
#include "op/scalar_range.h"
#include "tensor/scalar.h"

#define POINTWISE .meta = la_pointwise_meta, .impl = la_pointwise_impl

LA_STUB_DECLARE(la_loops, div_into);
LA_STUB_DECLARE(la_loops, div_trunc);
LA_STUB_DECLARE(la_loops, floor_divide);
LA_STUB_DECLARE(la_loops, is_zero);
LA_STUB_DECLARE(la_loops, pow_2);
LA_STUB_DECLARE(la_loops, pow_3);
LA_STUB_DECLARE(la_loops, pow_half);
LA_STUB_DECLARE(la_loops, pow_minus_half);
LA_STUB_DECLARE(la_loops, pow_minus_1);
LA_STUB_DECLARE(la_loops, pow_minus_2);
LA_STUB_DECLARE(la_loops, pow_whole);

/* --- a zero among the divisors --- */

/* n elements of dtype 'd', 'stride' bytes apart. The kernel's answers go
** through a buffer on the stack, so that the search ends at the first block
** that has a zero. */
static bool run_has_zero(la_dtype d, char *data, int64_t stride, int64_t n)
{
    char found[1024];
    la_loop loop = (*LA_STUB(is_zero))[d];
    int64_t strides[4] = {1, stride, 0, 0};
    for (int64_t m; n > 0; n -= m, data += m * stride) {
        char *at[2] = {found, data};
        m = n < (int64_t)sizeof(found) ? n : (int64_t)sizeof(found);
        loop(at, strides, m, 1, NULL);
        if (memchr(found, 1, (size_t)m)) return true;
    }
    return false;
}

/* Row by row along the last dim. t is not empty and not 0-dim; any strides. */
static bool has_zero(const la_tensor *t)
{
    la_dim_counter c;
    int last = t->ndim - 1;
    int64_t size = (int64_t)la_itemsize(t), step[2];
    if (la_is_contiguous(t))
        return run_has_zero((la_dtype)t->dtype, la_data(t), size, t->numel);
    la_dim_counter_init(&c, last, la_sizes(t), 0,
                        t->numel / la_sizes(t)[last]);
    while (la_dim_counter_step(&c, step)) {
        char *row = la_data(t);
        for (int d = 0; d < last; d++)
            row += c.values[d] * la_strides(t)[d] * size;
        if (run_has_zero((la_dtype)t->dtype, row, la_strides(t)[last] * size,
                         la_sizes(t)[last]))
            return true;
        la_dim_counter_advance(&c, (int64_t[2]){1, 1});
    }
    return false;
}

/* The plan's 'inspect'. A 0-dim divisor becomes the other's dtype first: 256 is
** 0 as an int8. */
static la_status refuse_zero(const la_frame *f, la_dtype dtype)
{
    const la_tensor *t = la_arg(f, 1);
    if (t->numel == 0 || t->device != LA_CPU) return LA_OK;
    bool zero;
    if (t->ndim == 0) {
        char element[16] = {0};
        la_scalar s = la_scalar_load((la_dtype)t->dtype, la_data(t));
        la_scalar_cast(&s, dtype, element);
        s = la_scalar_load(dtype, element);
        zero = s.i == 0;
    } else {
        zero = has_zero(t);
    }
    return zero ? la_error_at(LA_EARG, 2, "integer division by zero "
                              "(PyTorch's ZeroDivisionError)") : LA_OK;
}

/* Integer quotients and remainders: a zero divisor is an error, at once where
** it is a number. */
static la_status pick_int_divide(la_frame *f, la_dtype dtype,
                                 la_loop_plan *plan)
{
    if (!la_is_integral(dtype)) return LA_OK;
    LA_TRY(la_wrapped_fits(la_arg(f, 1), dtype, 2));
    if (la_arg(f, 1)->flags & LA_F_WRAPPED) return refuse_zero(f, dtype);
    plan->inspect = refuse_zero;
    return LA_OK;
}
const la_family la_family_INT_DIVIDE = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, NULL, .ninputs = 2,
    .fast = LA_FAST_ALL, .pick = pick_int_divide};

/* --- div --- */

/* div(self, other, rounding_mode): argument 2 is nil, "trunc" or "floor". */
static la_status check_div(la_frame *f)
{
    const la_value *mode = &f->args[2];
    if (mode->tag == LA_VNONE || la_str_is(mode, "trunc")
        || la_str_is(mode, "floor"))
        return LA_OK;
    return la_error_at(LA_EARG, 3, "div expected rounding_mode to be one of "
                       "nil, 'trunc', or 'floor'");
}

/* Only true division makes floats of integers; with a rounding mode the dtypes
** promote as for any binary operation. */
static la_status configure_div(la_frame *f, la_iter_config *c)
{
    if (la_has(f, 2)) c->flags &= ~(uint32_t)LA_IT_PROMOTE_INTEGERS_TO_FLOAT;
    return LA_OK;
}

/* A scalar divided by a tensor has a kernel of its own; those of the roundings
** are tables of other operations. */
static la_status pick_div(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (!la_has(f, 2)) {
        if (la_arg(f, 0)->flags & LA_F_WRAPPED)
            plan->loop = (*LA_STUB(div_into))[dtype];
        return LA_OK;
    }
    plan->loop = la_str_is(&f->args[2], "trunc")
        ? (*LA_STUB(div_trunc))[dtype] : (*LA_STUB(floor_divide))[dtype];
    return pick_int_divide(f, dtype, plan);
}
const la_family la_family_DIV = {
    POINTWISE, LA_IT_BINARY_FLOAT_OP, LA_UNDEFINED, check_div, .ninputs = 2,
    .fast = LA_FAST_FLOAT | LA_FAST_COMPLEX, .keeps_numbers = true,
    .configure = configure_div,
    .pick = pick_div};

/* --- pow --- */

/* The exponents that have a shorter way; results are PyTorch's (the square
** root of -inf is NaN, its power to 0.5 would be inf). By squaring, each step
** adds a rounding: larger whole powers of complex ones go by the logarithm. */
enum { MOST_WHOLE = 64 };
static la_loop short_way(double exponent, la_dtype d)
{
    if (exponent == 2) return (*LA_STUB(pow_2))[d];
    if (exponent == 3) return (*LA_STUB(pow_3))[d];
    if (exponent == 0.5) return (*LA_STUB(pow_half))[d];
    if (exponent == -0.5) return (*LA_STUB(pow_minus_half))[d];
    if (exponent == -1) return (*LA_STUB(pow_minus_1))[d];
    if (exponent == -2 && !la_is_complex(d)) return (*LA_STUB(pow_minus_2))[d];
    if (exponent == floor(exponent) && fabs(exponent) <= MOST_WHOLE)
        return (*LA_STUB(pow_whole))[d];
    return NULL;
}

/* A scalar exponent is known before the loop runs: the usual ones have kernels
** of their own, and PyTorch refuses negative ones of integers. */
static la_status pick_pow(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    const la_tensor *e = la_arg(f, 1);
    if (!(e->flags & LA_F_WRAPPED) || !plan->loop) return LA_OK;
    la_scalar s = la_scalar_load((la_dtype)e->dtype, la_data(e));
    if (la_is_integral(dtype) && s.kind == LA_KINT && s.i < 0)
        return la_error_at(LA_EARG, 2, "Integers to negative integer powers "
                           "are not allowed.");
    LA_TRY(la_scalar_fits(&s, dtype, 2));
    la_loop other = s.im == 0 ? short_way(s.re, dtype) : NULL;
    if (other) plan->loop = other;
    plan->params.v[0] = s;
    return LA_OK;
}
/* The result of a number to the power of a tensor is laid out row-major. */
static la_status configure_pow(la_frame *f, la_iter_config *c)
{
    if (la_arg(f, 0)->flags & LA_F_WRAPPED)
        c->flags |= LA_IT_ENFORCE_LINEAR_ITERATION;
    return LA_OK;
}
const la_family la_family_POW = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, NULL, .ninputs = 2,
    .fast = LA_FAST_ALL, .configure = configure_pow, .pick = pick_pow};
