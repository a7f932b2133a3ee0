/*
** Element-wise families with rules of their own: what PyTorch refuses, which
** kernel a number chooses, what an integer does where only floats change.
**
** A family's check refuses by dtypes and arguments alone, before an output
** exists; its pick sees the dtype that is computed in, after promotion, and
** refuses scalars that this dtype cannot hold. Messages are PyTorch's where
** PyTorch has one.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "base/libm/libm.h"
#include "iter/iter.h"
#include "op/call.h"
#include "op/families.h"
#include "op/op.h"
#include "op/scalar_range.h"
#include "tensor/promote.h"
#include "tensor/scalar.h"

#define POINTWISE .meta = la_pointwise_meta, .impl = la_pointwise_impl
#define UNARY_OP (LA_IT_CHECK_MEM_OVERLAP | LA_IT_CHECK_ALL_SAME_DTYPE \
    | LA_IT_PROMOTE_INPUTS | LA_IT_RESIZE_OUTPUTS)

LA_STUB_DECLARE(la_loops, add_scaled);
LA_STUB_DECLARE(la_loops, always);
LA_STUB_DECLARE(la_loops, never);
LA_STUB_DECLARE(la_loops, round_digits);
LA_STUB_DECLARE(la_loops, round_tens);
LA_STUB_DECLARE(la_loops, maximum);
LA_STUB_DECLARE(la_loops, minimum);

static la_dtype family_dtype_of(const la_frame *f, int k)
{
    return (la_dtype)la_arg(f, k)->dtype;
}

/* Bool counts as whole: dtypes without fractions, infinities and NaN. */
static bool is_whole(la_dtype d) { return d == LA_BOOL || la_is_integral(d); }

/* A factor must fit; PyTorch lets it be negative for unsigned integers. */
static la_status family_check_factor(la_dtype dtype, const la_scalar *s)
{
    la_scalar size = *s;
    if (la_dtype_kind(dtype) == 'u' && s->re < 0)
        size = s->kind == LA_KINT && s->i > INT64_MIN ? la_scalar_int(-s->i)
                                                      : la_scalar_float(-s->re);
    return la_scalar_fits(&size, dtype, 0);
}

/* --- add, sub --- */

/* Refuses an alpha as PyTorch does: a kind above the dtype that is computed in,
** and a value that the dtype cannot hold. */
static la_status check_alpha(la_dtype dtype, const la_scalar *alpha)
{
    if (alpha->kind == LA_KBOOL && dtype != LA_BOOL)
        return la_error(LA_EDTYPE,
                        "Boolean alpha only supported for Boolean results.");
    if (alpha->kind >= LA_KFLOAT && is_whole(dtype))
        return la_error(LA_EDTYPE, "For integral input tensors, argument alpha "
                        "must not be a floating point number.");
    if (alpha->kind == LA_KCOMPLEX && !la_is_complex(dtype))
        return la_error(LA_EDTYPE, "For non-complex input tensors, argument "
                        "alpha must not be a complex number.");
    return family_check_factor(dtype, alpha);
}

/* alpha = 1, the default, takes the kernel without a product. */
static bool is_one(const la_scalar *s)
{
    return s->re == 1 && s->im == 0;
}

/* a + alpha*b; complex32 multiplies by 1 too, which shows at infinities. */
static la_status pick_scaled(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    const la_scalar *alpha = &plan->params.v[0];
    if (f->args[2].given) LA_TRY(check_alpha(dtype, alpha));
    if (!is_one(alpha) || dtype == LA_COMPLEX32)
        plan->loop = (*LA_STUB(add_scaled))[dtype];
    return LA_OK;
}

/* a - alpha * b runs as a + (-alpha) * b; the negation wraps for integers as
** the product does. */
static la_status pick_sub(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    la_scalar *alpha = &plan->params.v[0];
    LA_TRY(pick_scaled(f, dtype, plan));
    alpha->i = (int64_t)(0 - (uint64_t)alpha->i);
    alpha->re = -alpha->re;
    alpha->im = -alpha->im;
    return LA_OK;
}

/* bool has no difference: PyTorch names the operators that are meant. */
static la_status check_sub(la_frame *f)
{
    bool a = family_dtype_of(f, 0) == LA_BOOL,
        b = family_dtype_of(f, 1) == LA_BOOL;
    if (!a && !b) return LA_OK;
    if (a && b)
        return la_error(LA_EDTYPE, "Subtraction, the `-` operator, with two "
            "bool tensors is not supported. Use the `~` or `logical_xor()` "
            "operator instead.");
    return la_error(LA_EDTYPE, "Subtraction, the `-` operator, with a bool "
        "tensor is not supported. If you are trying to invert a mask, use the "
        "`~` or `logical_not()` operator instead.");
}

/* Rows of these families have alpha as their argument after the inputs: pick
** finds it in params.v[0]. */
const la_family la_family_ADD = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, NULL, .ninputs = 2,
    .fast = LA_FAST_ALL, .wraps = true, .pick = pick_scaled};
const la_family la_family_SUB = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, check_sub, .ninputs = 2,
    .fast = LA_FAST_ALL, .wraps = true, .pick = pick_sub};

/* --- one input --- */

/* LA_EDTYPE for bool: the message names the operations that may be meant. */
static la_status check_neg(la_frame *f)
{
    if (family_dtype_of(f, 0) != LA_BOOL) return LA_OK;
    return la_error(LA_EDTYPE, "Negation, the `-` operator, on a bool tensor "
        "is not supported. If you are trying to invert a mask, use the `~` or "
        "`logical_not()` operator instead.");
}
const la_family la_family_NEG = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, check_neg, .ninputs = 1,
    .fast = LA_FAST_ALL};

/* A complex number's size is real. */
static la_status configure_abs(la_frame *f, la_iter_config *c)
{
    la_dtype d = family_dtype_of(f, 0);
    if (!la_is_complex(d)) return LA_OK;
    if (f->form == LA_INPLACE)
        return la_error(LA_EDTYPE,
                        "In-place abs is not supported for complex tensors.");
    c->static_dtype = la_dtype_to_real(la_result_type_of(la_arg(f, 0)));
    c->flags &= ~(uint32_t)LA_IT_CHECK_ALL_SAME_DTYPE;
    return LA_OK;
}
/* The fast path makes results of the input's dtype: complex inputs, whose
** result is real, go by the iterator. */
const la_family la_family_ABS = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, NULL, .ninputs = 1,
    .fast = LA_FAST_ALL & ~LA_FAST_COMPLEX, .configure = configure_abs};

/* Integers are whole already. A copy in place of the row's kernel. */
static la_status pick_rounding(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (la_is_integral(dtype)) plan->loop = la_cast_loop(dtype, dtype);
    return LA_OK;
}
const la_family la_family_ROUNDING = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, NULL, .ninputs = 1, .fast = LA_FAST_ALL,
    .pick = pick_rounding};

/* round(self, decimals): by 10^decimals, multiplied or divided so that the
** factor is whole and exact. */
static la_status pick_round(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    int64_t digits = la_arg_int(f, 1);
    if (la_is_integral(dtype)) plan->loop = la_cast_loop(dtype, dtype);
    if (digits == 0 || !la_is_float(dtype)) return LA_OK;
    plan->loop = digits > 0 ? (*LA_STUB(round_digits))[dtype]
                            : (*LA_STUB(round_tens))[dtype];
    double count = fabs((double)digits);
    plan->params.v[0] = la_scalar_float(la_m_pow(10, count));
    return LA_OK;
}
const la_family la_family_ROUND = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, NULL, .ninputs = 1, .fast = LA_FAST_ALL,
    .pick = pick_round};

/* Real tensors come here in the in-place and out= forms only: copies. */
static la_status pick_conj(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (!la_is_complex(dtype)) plan->loop = la_cast_loop(dtype, dtype);
    return LA_OK;
}
/* A real tensor is its own conjugate. */
static la_status conj_or_alias(la_frame *f, la_op_fn conj)
{
    la_tensor *self = la_arg(f, 0), *out;
    if (f->form != LA_FUNCTIONAL || la_is_complex(family_dtype_of(f, 0)))
        return conj(f);
    LA_TRY(la_tensor_alias(self, false, &out));
    la_set_result(f, 0, out);
    return LA_OK;
}
static la_status meta_conj(la_frame *f)
{
    return conj_or_alias(f, la_pointwise_meta);
}
static la_status impl_conj(la_frame *f)
{
    return conj_or_alias(f, la_pointwise_impl);
}
const la_family la_family_CONJ = {
    .meta = meta_conj, .impl = impl_conj, UNARY_OP, LA_UNDEFINED, NULL,
    .ninputs = 1, .fast = LA_FAST_ALL,
    .pick = pick_conj};

/* LA_EDTYPE for bool, as in PyTorch; integers are allowed. */
static la_status check_relu(la_frame *f)
{
    if (family_dtype_of(f, 0) != LA_BOOL) return LA_OK;
    return la_error(LA_EDTYPE, "Boolean inputs not supported for relu");
}
const la_family la_family_RELU = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, check_relu, .ninputs = 1,
    .fast = LA_FAST_ALL};

/* A bool is squared as a number: the result is int64, as of x ^ 2. */
static la_status configure_square(la_frame *f, la_iter_config *c)
{
    if (family_dtype_of(f, 0) != LA_BOOL) return LA_OK;
    if (f->form == LA_INPLACE)
        return la_error(LA_EDTYPE, "result type Long can't be cast to the "
                        "desired output type Bool");
    c->static_dtype = LA_INT64;
    c->flags &= ~(uint32_t)LA_IT_CHECK_ALL_SAME_DTYPE;
    return LA_OK;
}
/* The common dtype stays bool, so the kernel is a conversion: 0 and 1 are their
** own squares. */
static la_status pick_square(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (dtype == LA_BOOL) plan->loop = la_cast_loop(LA_INT64, LA_BOOL);
    return LA_OK;
}
const la_family la_family_SQUARE = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, NULL, .ninputs = 1,
    .fast = LA_FAST_ALL & ~LA_FAST_BOOL, .configure = configure_square,
    .pick = pick_square};

/* Whole numbers are finite and real, and nothing else. The table has kernels
** where the answer depends on the element; the rest, by dtype alone, are
** 'always' and 'never'. */
static la_status pick_classify(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (plan->loop) return LA_OK;
    bool real = f->op->role == LA_ROLE_real;
    if (la_is_complex(dtype) || (la_is_float(dtype) && !real)) return LA_OK;
    plan->loop = real || f->op->role == LA_ROLE_finite
        ? (*LA_STUB(always))[dtype] : (*LA_STUB(never))[dtype];
    return LA_OK;
}
const la_family la_family_CLASSIFY = {
    POINTWISE, LA_IT_CHECK_MEM_OVERLAP | LA_IT_PROMOTE_INPUTS
    | LA_IT_RESIZE_OUTPUTS, LA_BOOL, NULL, .ninputs = 1, .fast = LA_FAST_ALL,
    .pick = pick_classify};

/* The largest finite value of a floating dtype, or of a complex one's parts. */
static double family_largest(la_dtype d)
{
    switch (d) {
    case LA_FLOAT16: case LA_COMPLEX32: return 65504;
    case LA_BFLOAT16: return 0x1.fep127;
    case LA_FLOAT32: case LA_COMPLEX64: return 0x1.fffffep127;
    default: return 0x1.fffffffffffffp1023;
    }
}

/* nan, posinf, neginf that are not given are 0 and the ends of the dtype's
** range. Whole dtypes have none of the three: a copy. */
static la_status pick_nan_to_num(la_frame *f, la_dtype dtype,
                                 la_loop_plan *plan)
{
    la_scalar *v = plan->params.v;
    if (is_whole(dtype)) plan->loop = la_cast_loop(dtype, dtype);
    if (!la_has(f, 1)) v[0] = la_scalar_float(0);
    if (!la_has(f, 2)) v[1] = la_scalar_float(family_largest(dtype));
    if (!la_has(f, 3)) v[2] = la_scalar_float(-family_largest(dtype));
    for (int k = 0; k < 3; k++) v[k].im = v[k].re;   /* both parts alike */
    return LA_OK;
}
const la_family la_family_NAN_TO_NUM = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, NULL, .ninputs = 1, .fast = LA_FAST_ALL,
    .pick = pick_nan_to_num};

/* --- three inputs --- */

/* PyTorch does not promote here: start, end and weight are of one dtype. */
static la_status check_lerp(la_frame *f)
{
    la_dtype own = family_dtype_of(f, 0);
    if (!la_is_inexact(own))
        return la_error_at(LA_EDTYPE, 1, "lerp interpolates between floating "
                           "or complex tensors, got %s: convert with x:to()",
                           la_dtype_name(own));
    for (int k = 1; k < 3; k++) {
        bool number = (la_arg(f, k)->flags & LA_F_WRAPPED) != 0;
        if (number || family_dtype_of(f, k) == family_dtype_of(f, 0)) continue;
        return la_error_at(LA_EDTYPE, k + 1, "expected dtype %s for `%s` but "
                           "got dtype %s", la_dtype_name(family_dtype_of(f, 0)),
                           k == 1 ? "end" : "weight",
                           la_dtype_name(family_dtype_of(f, k)));
    }
    return LA_OK;
}
const la_family la_family_LERP = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, check_lerp, .ninputs = 3,
    .fast = LA_FAST_ALL, .keeps_numbers = true};

/* self + value * a * b: the value must fit what is computed in. */
static la_status pick_addcmul(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    la_scalar *value = &plan->params.v[0];
    if (value->kind == LA_KFLOAT && is_whole(dtype))
        la_scalar_cast(value, LA_INT64, &value->i);   /* as PyTorch: cut */
    if (value->kind == LA_KCOMPLEX && !la_is_complex(dtype))
        return la_error(LA_EDTYPE, "For non-complex input tensors, argument "
                        "value must not be a complex number.");
    return family_check_factor(dtype, &plan->params.v[0]);
}
const la_family la_family_ADDCMUL = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, NULL, .ninputs = 3,
    .fast = LA_FAST_ALL, .pick = pick_addcmul};

/* LA_EDTYPE for an integer quotient: whether it is to be rounded is not said,
** so PyTorch asks for div and addcmul instead. */
static la_status check_addcdiv(la_frame *f)
{
    if (!is_whole(family_dtype_of(f, 1)) || !is_whole(family_dtype_of(f, 2)))
        return LA_OK;
    return la_error(LA_EDTYPE, "Integer division with addcdiv is no longer "
        "supported; use self + value * (tensor1 / tensor2), or addcmul with a "
        "quotient rounded by div(..., {rounding_mode = \"trunc\"}).");
}
const la_family la_family_ADDCDIV = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, check_addcdiv, .ninputs = 3,
    .fast = LA_FAST_ALL, .pick = pick_addcmul};

/* --- clamp, hardtanh, threshold --- */

/* A limit that is a number: its 0-dim tensor belongs to this call alone. */
static la_status clip_limit(la_frame *f, int k, la_dtype dtype, bool upper)
{
    la_tensor *t = la_arg(f, k);
    if (!t || !(t->flags & LA_F_WRAPPED) || t->device != LA_CPU) return LA_OK;
    la_scalar s = la_scalar_load((la_dtype)t->dtype, la_data(t));
    LA_TRY(la_clip_limit(&s, dtype, upper, k + 1));
    la_scalar_cast(&s, (la_dtype)t->dtype, la_data(t));
    return LA_OK;
}

/* A scalar limit outside of the promoted dtype's range becomes the end of it,
** before the iterator casts it. The dtype is the one that the iterator will
** promote to. */
static la_status check_one_limit(la_frame *f, bool upper)
{
    la_result_type r = LA_RESULT_TYPE_INIT;
    la_dtype d;
    la_result_type_add(&r, la_arg(f, 0));
    la_result_type_add(&r, la_arg(f, 1));
    LA_TRY(la_result_type_get(&r, &d));
    return clip_limit(f, 1, d, upper);
}
static la_status check_clamp_min(la_frame *f)
{
    return check_one_limit(f, false);
}
static la_status check_clamp_max(la_frame *f)
{
    return check_one_limit(f, true);
}
const la_family la_family_CLAMP_MIN = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, check_clamp_min, .ninputs = 2,
    .fast = LA_FAST_ALL};
const la_family la_family_CLAMP_MAX = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, check_clamp_max, .ninputs = 2,
    .fast = LA_FAST_ALL};

/* A parameter of a kernel of integers is an integer: fractions are cut. */
static void cut_fraction(la_scalar *s, la_dtype dtype)
{
    if (la_is_integral(dtype) && s->kind == LA_KFLOAT)
        *s = la_scalar_int((int64_t)s->re);
}

/* The limits are clipped to the dtype's range as those of clamp are. LA_EARG
** where they are in the wrong order; NaN passes. */
static la_status pick_hardtanh(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    la_scalar *low = &plan->params.v[0], *high = &plan->params.v[1];
    if (low->re > high->re)
        return la_error_at(LA_EARG, 2, "min_val cannot be greater than "
                           "max_val");
    LA_TRY(la_clip_limit(low, dtype, false, 2));
    LA_TRY(la_clip_limit(high, dtype, true, 3));
    cut_fraction(low, dtype);
    cut_fraction(high, dtype);
    return LA_OK;
}
const la_family la_family_HARDTANH = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, NULL, .ninputs = 1,
    .fast = LA_FAST_ALL, .pick = pick_hardtanh};

/* Both numbers are stored as elements: they are not clipped as limits are,
** LA_EARG where the dtype cannot hold one. */
static la_status pick_threshold(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    la_scalar *limit = &plan->params.v[0], *value = &plan->params.v[1];
    LA_TRY(la_scalar_fits(limit, dtype, 2));
    LA_TRY(la_scalar_fits(value, dtype, 3));
    cut_fraction(limit, dtype);
    cut_fraction(value, dtype);
    return LA_OK;
}
const la_family la_family_THRESHOLD = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, NULL, .ninputs = 1,
    .fast = LA_FAST_ALL, .pick = pick_threshold};

/* (self, min, max), one of the limits may be nil. LA_EARG without any,
** LA_EDTYPE for complex numbers, which have no order. Scalar limits are clipped
** to the range of the promoted dtype. */
static la_status check_clamp(la_frame *f)
{
    la_result_type r = LA_RESULT_TYPE_INIT;
    la_dtype d;
    if (!la_has(f, 1) && !la_has(f, 2))
        return la_error(LA_EARG, "at least one of 'min' or 'max' must "
                        "be given");
    for (int k = 0; k < 3; k++)
        if (la_has(f, k)) la_result_type_add(&r, la_arg(f, k));
    LA_TRY(la_result_type_get(&r, &d));
    if (la_is_complex(d) && f->form == LA_FUNCTIONAL)
        return la_error(LA_EDTYPE, "clamp is not supported for complex types");
    LA_TRY(clip_limit(f, 1, d, false));
    return clip_limit(f, 2, d, true);
}

/* With one limit alone clamp is a maximum or a minimum: two operands. */
static la_status configure_clamp(la_frame *f, la_iter_config *c)
{
    if (la_has(f, 1) && la_has(f, 2)) return LA_OK;
    c->ninputs = 2;
    c->operands[2] = la_has(f, 1) ? la_arg(f, 1) : la_arg(f, 2);
    return LA_OK;
}

/* The kernels of the case that configure has chosen. maximum and minimum let
** NaN pass, as clamp does. */
static la_status pick_clamp(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    if (!la_has(f, 2)) plan->loop = (*LA_STUB(maximum))[dtype];
    else if (!la_has(f, 1)) plan->loop = (*LA_STUB(minimum))[dtype];
    return LA_OK;
}
const la_family la_family_CLAMP = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, check_clamp, .ninputs = 3,
    .fast = LA_FAST_ALL, .configure = configure_clamp, .pick = pick_clamp};

/* --- where, masked_fill --- */

/* Argument k has to be a bool tensor; as in PyTorch the condition of where may
** be uint8. */
static la_status family_check_mask(la_frame *f, int k, const char *what)
{
    la_dtype d = family_dtype_of(f, k);
    if (d == LA_BOOL || (d == LA_UINT8 && k == 0)) return LA_OK;
    return la_error_at(LA_EDTYPE, k + 1, "%s is a bool tensor, got %s: compare "
                       "it with something, as in x:ne(0)", what,
                       la_dtype_name(d));
}

/* Checks the condition alone: the two choices are promoted by configure. */
static la_status check_where(la_frame *f)
{
    return family_check_mask(f, 0, "the condition");
}

/* The result's dtype is that of the two choices; the condition keeps its own
** (nraw) and takes no part in the promotion. LA_EARG where a number does not
** fit the result. */
static la_status configure_where(la_frame *f, la_iter_config *c)
{
    la_result_type r = LA_RESULT_TYPE_INIT;
    la_result_type_add(&r, la_arg(f, 1));
    la_result_type_add(&r, la_arg(f, 2));
    LA_TRY(la_result_type_get(&r, &c->static_dtype));
    LA_TRY(la_wrapped_fits(la_arg(f, 1), c->static_dtype, 2));
    return la_wrapped_fits(la_arg(f, 2), c->static_dtype, 3);
}
/* No flag of promotion: configure has set the result's dtype. */
#define SELECT_OP (LA_IT_CHECK_MEM_OVERLAP | LA_IT_ALLOW_CPU_SCALARS \
    | LA_IT_CHECK_ALL_SAME_DEVICE | LA_IT_RESIZE_OUTPUTS)
const la_family la_family_WHERE = {
    POINTWISE, SELECT_OP, LA_UNDEFINED, check_where, .ninputs = 3, .nraw = 1,
    .configure = configure_where};

/* masked_fill(self, mask, value): the value is 0-dim and fits self's dtype. */
static la_status check_masked_fill(la_frame *f)
{
    const la_tensor *value = la_arg(f, 2);
    LA_TRY(family_check_mask(f, 1, "the mask"));
    if (value->ndim != 0)
        return la_error_at(LA_ESHAPE, 3, "masked_fill only supports a "
            "0-dimensional value tensor, but got tensor with %d "
            "dimension(s).", value->ndim);
    if (value->device != LA_CPU) return LA_OK;
    la_scalar s = la_scalar_load((la_dtype)value->dtype, la_data(value));
    if (s.kind != LA_KCOMPLEX || la_is_complex(family_dtype_of(f, 0)))
        return la_scalar_fits(&s, family_dtype_of(f, 0), 3);
    return la_error_at(LA_EDTYPE, 3, "value cannot be converted to type %s "
                       "without overflow", la_dtype_name(family_dtype_of(f,
                                                                         0)));
}

/* where(mask, value, self) with self's dtype: operands in the order of the
** kernel's table. */
static la_status configure_masked_fill(la_frame *f, la_iter_config *c)
{
    c->operands[1] = la_arg(f, 1);
    c->operands[2] = la_arg(f, 2);
    c->operands[3] = la_arg(f, 0);
    c->static_dtype = family_dtype_of(f, 0);
    return LA_OK;
}
const la_family la_family_MASKED_FILL = {
    POINTWISE, SELECT_OP, LA_UNDEFINED, check_masked_fill, .ninputs = 3,
    .nraw = 1, .configure = configure_masked_fill};

/* --- two inputs that must agree --- */

/* Tensors must agree in dtype, numbers of Lua adapt to the other operand;
** LA_EARG for a negative tolerance. */
static la_status check_isclose(la_frame *f)
{
    if (!((la_arg(f, 1)->flags | la_arg(f, 0)->flags) & LA_F_WRAPPED)
        && family_dtype_of(f, 0) != family_dtype_of(f, 1))
        return la_error(LA_EDTYPE, "%s did not match %s",
                        la_dtype_title(family_dtype_of(f, 0)),
                        la_dtype_title(family_dtype_of(f, 1)));
    if (la_arg_float(f, 2) < 0)
        return la_error_at(LA_EARG, 3, "rtol must be greater than or equal to "
                           "zero, but got %g", la_arg_float(f, 2));
    if (la_arg_float(f, 3) < 0)
        return la_error_at(LA_EARG, 4, "atol must be greater than or equal to "
                           "zero, but got %g", la_arg_float(f, 3));
    return LA_OK;
}
/* Integers and a number outside of their range are as close as their values in
** float64 are. */
static la_status adapt_isclose(la_frame *f, la_iter_config *c,
                               la_tensor **spare)
{
    for (int k = 0; k < 2; k++) {
        la_tensor *t = la_arg(f, k);
        if ((t->flags & LA_F_WRAPPED) || !la_is_integral((la_dtype)t->dtype)
            || !la_pointwise_exceeds(f, (la_dtype)t->dtype)) continue;
        LA_TRY(la_run(astype, spare, t, la_v_dtype(LA_FLOAT64)));
        c->operands[k + 1] = *spare;
    }
    return LA_OK;
}
const la_family la_family_ISCLOSE = {
    POINTWISE, LA_IT_COMPARISON_OP, LA_BOOL, check_isclose, .ninputs = 2,
    .fast = LA_FAST_ALL, .by_value = true, .adapt = adapt_isclose};

/* PyTorch's rules: no complex numbers, and no promotion among tensors. */
static la_status check_heaviside(la_frame *f)
{
    if (la_is_complex(family_dtype_of(f, 0))
        || la_is_complex(family_dtype_of(f, 1)))
        return la_error(LA_EDTYPE, "heaviside is not yet implemented for "
                        "complex tensors.");
    if (((la_arg(f, 1)->flags | la_arg(f, 0)->flags) & LA_F_WRAPPED)
        || family_dtype_of(f, 0) == family_dtype_of(f, 1))
        return LA_OK;
    return la_error(LA_EDTYPE, "heaviside is not yet implemented for tensors "
                    "with different dtypes.");
}
const la_family la_family_HEAVISIDE = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, check_heaviside, .ninputs = 2,
    .fast = LA_FAST_ALL};
