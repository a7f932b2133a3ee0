/*
** Type promotion: which dtype two dtypes meet in, and which dtype an
** operation on tensors with dims, 0-dim tensors and numbers computes in.
*/
#include "tensor/promote.h"

#include "base/runtime/context.h"
#include "tensor/scalar.h"

/* uint16, uint32 and uint64 came late to PyTorch: they meet themselves and
** floating types only. */
static bool is_late_unsigned(la_dtype d)
{
    return d == LA_UINT16 || d == LA_UINT32 || d == LA_UINT64;
}

static la_dtype wider(la_dtype a, la_dtype b)
{
    return a > b ? a : b;  /* the enum rises with width within a kind */
}

static la_dtype promote_integers(la_dtype a, la_dtype b)
{
    if (a != LA_UINT8 && b != LA_UINT8)
        return wider(a, b);
    la_dtype other = a == LA_UINT8 ? b : a;
    return other == LA_INT8 ? LA_INT16 : other;
}

static la_dtype promote_floats(la_dtype a, la_dtype b)
{
    la_dtype most = wider(a, b);
    /* Neither half holds the other. */
    return most == LA_BFLOAT16 && a != b ? LA_FLOAT32 : most;
}

/* The complex dtype whose parts hold both operands' parts; a real operand has
** one part. */
static la_dtype promote_complex(la_dtype a, la_dtype b)
{
    la_dtype real = promote_floats(la_dtype_to_real(a), la_dtype_to_real(b));
    return la_dtype_to_complex(real);
}

/* A higher category wins as it is, except that a complex dtype must not lose
** digits of a wider float. */
static la_dtype promote_categories(la_dtype low, la_dtype high)
{
    if (la_is_complex(high) && la_is_float(low))
        return promote_complex(low, high);
    return high;
}

/* The lattice of PyTorch's promoteTypes: bool < integers < floats < complex.
** uint16, uint32 and uint64 came late to it and join with floats only:
** LA_UNDEFINED otherwise. */
la_dtype la_promote(la_dtype a, la_dtype b)
{
    if (a == b)
        return a;
    if (a >= LA_NDTYPES || b >= LA_NDTYPES)
        return LA_UNDEFINED;
    if (is_late_unsigned(a) || is_late_unsigned(b))
        return la_is_float(a) ? a : la_is_float(b) ? b : LA_UNDEFINED;
    if (la_category(a) != la_category(b))
        return la_category(a) < la_category(b) ? promote_categories(a, b)
                                         : promote_categories(b, a);
    switch (la_category(a)) {
    case 1: return promote_integers(a, b);
    case 2: return promote_floats(a, b);
    default: return promote_complex(a, b);
    }
}

/* The direction of categories alone, as for results in place and out=: widths
** may shrink. */
bool la_can_cast(la_dtype from, la_dtype to)
{
    if (la_is_complex(from) && !la_is_complex(to))
        return false;
    if (la_is_float(from) && la_is_integral(to))
        return false;
    return to != LA_BOOL || from == LA_BOOL;
}

/* --- result type of an operation --- */

static la_status no_common(la_dtype a, la_dtype b)
{
    return la_error(LA_EDTYPE, "Promotion for uint16, uint32, uint64 types is "
                    "not supported, attempted to promote %s and %s: convert "
                    "one of them first", la_dtype_name(a), la_dtype_name(b));
}

/* LA_UNDEFINED is no operand yet. A pair without a common dtype is kept by
** remembering both: see la_result_type_get. */
static la_dtype promote_join(la_dtype have, la_dtype more)
{
    if (have == LA_UNDEFINED)
        return more;
    return la_promote(have, more);
}

/* A conflict cannot be told from "nothing yet" by LA_UNDEFINED, so a slot in
** conflict holds this, with the two dtypes in the lower bytes. */
enum { CONFLICT = 1 << 16 };

/* The first conflict stays, so that the message names the operands in the order
** of the call. */
static void promote_add(la_dtype *slot, la_dtype dtype)
{
    if ((int)*slot >= CONFLICT || dtype >= LA_NDTYPES)
        return;
    la_dtype both = promote_join(*slot, dtype);
    if (both == LA_UNDEFINED)
        both = (la_dtype)(CONFLICT | (int)*slot << 8 | (int)dtype);
    *slot = both;
}

/* Three classes, of which a lower one counts only where its category is higher:
** tensors with dims, 0-dim tensors, wrapped scalars. */
void la_result_type_add(la_result_type *r, const la_tensor *t)
{
    if (t->flags & LA_F_WRAPPED) {
        la_dtype d = t->dtype;
        /* A wrapped float weighs as the default dtype, whatever it holds. */
        if (la_is_float(d))
            d = la_ctx()->default_dtype;
        else if (la_is_complex(d))
            d = la_dtype_to_complex(la_ctx()->default_dtype);
        promote_add(&r->wrapped, d);
    } else if (t->ndim == 0) {
        promote_add(&r->zero, t->dtype);
    } else {
        promote_add(&r->dim, t->dtype);
    }
}

void la_result_type_add_scalar(la_result_type *r, const la_scalar *s)
{
    promote_add(&r->wrapped, la_scalar_dtype(s));
}

void la_result_type_add_dtype(la_result_type *r, la_dtype dtype)
{
    promote_add(&r->dim, dtype);
}

/* 'low' only matters where it is of a higher category. */
static la_dtype promote_combine(la_dtype high, la_dtype low)
{
    if (high == LA_UNDEFINED || low == LA_UNDEFINED)
        return high == LA_UNDEFINED ? low : high;
    if (la_is_complex(high))
        return high;
    if (la_is_float(high))
        return la_is_complex(low) ? la_dtype_to_complex(high) : high;
    if (high == LA_BOOL || la_is_inexact(low))
        return la_promote(high, low);
    return high;
}

static la_status combine_checked(la_dtype high, la_dtype low, la_dtype *out)
{
    *out = promote_combine(high, low);
    if (*out == LA_UNDEFINED && high != low)
        return no_common(high, low);
    return LA_OK;
}

static la_status check_slot(la_dtype slot)
{
    int bits = (int)slot;
    if (bits >= CONFLICT)
        return no_common((la_dtype)(bits >> 8 & 255), (la_dtype)(bits & 255));
    return LA_OK;
}

la_status la_result_type_get(const la_result_type *r, la_dtype *out)
{
    la_dtype low;
    LA_TRY(check_slot(r->dim));
    LA_TRY(check_slot(r->zero));
    LA_TRY(check_slot(r->wrapped));
    LA_TRY(combine_checked(r->zero, r->wrapped, &low));
    return combine_checked(r->dim, low, out);
}

la_dtype la_result_type_of(const la_tensor *t)
{
    la_dtype d = (la_dtype)t->dtype;
    la_result_type r = LA_RESULT_TYPE_INIT;
    la_result_type_add(&r, t);
    return la_result_type_get(&r, &d) ? (la_dtype)t->dtype : d;
}
