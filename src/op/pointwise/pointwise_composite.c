/* Element-wise composites: operations that only call others. */
#include "base/runtime/context.h"
#include "op/composite.h"
#include "op/families.h"
#include "op/reduce/reduce.h"
#include "tensor/promote.h"

#define LA_ROWS "op/def/pointwise.def"
#include "op/call.h"
#include "op/impls.h"

/* other - alpha * self: sub with its operands exchanged. */
/* (floor_divide, remainder): both refuse an integer zero. Two passes over the
** operands: no kernel gives both results. */
la_status la_impl_divmod(la_frame *f)
{
    la_tensor *rest = NULL;
    LA_LET(quotient,
           la_run(floor_divide, &quotient, la_arg(f, 0), la_arg(f, 1)));
    LA_TRY(la_run(remainder, &rest, la_arg(f, 0), la_arg(f, 1)));
    la_set_result(f, 0, la_tensor_retain(quotient));
    la_set_result(f, 1, rest);
    return LA_OK;
}

/* Always in double precision, and so is what it is written to. */
la_status la_impl_float_power(la_frame *f)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    bool complex = la_is_complex((la_dtype)a->dtype)
        || la_is_complex((la_dtype)b->dtype);
    la_dtype d = complex ? LA_COMPLEX128 : LA_FLOAT64;
    if (f->form != LA_FUNCTIONAL && f->outs[0]->dtype != d)
        return la_error(LA_EDTYPE, "the result is %s, what it is written to "
                        "is %s", la_dtype_name(d),
                        la_dtype_name((la_dtype)f->outs[0]->dtype));
    LA_LET(base, la_run(to_dtype, &base, a, la_v_dtype(d)));
    LA_LET(exponent, la_run(to_dtype, &exponent, b, la_v_dtype(d)));
    return la_run_result(f, pow, base, exponent);
}

static bool is_wide_unsigned(const la_tensor *t)
{
    return t->dtype == LA_UINT16 || t->dtype == LA_UINT32
        || t->dtype == LA_UINT64;
}

/* self * 2^other; a power that is a float has that float's digits. Unsigned
** exponents of 16 bits and more, which don't promote with all dtypes, are
** int32: what lies beyond overflows anyway. */
la_status la_impl_ldexp(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    if (is_wide_unsigned(b) && !is_wide_unsigned(a)) {
        if (b->dtype != LA_UINT16) b = R(clamp_max, b, la_scalar_int(65535));
        b = R(to_dtype, b, la_v_dtype(LA_INT32));
    }
    if (b && (la_is_integral((la_dtype)b->dtype) || b->dtype == LA_BOOL))
        return la_chain_end(w, f, R(ldexp_whole, a, b));
    return la_chain_end(w, f, R(mul, a, R(exp2, b)));
}

/* hardtanh between 0 and 6. */
/* The method's order of arguments. (self, condition, other): where does all
** checks. */
