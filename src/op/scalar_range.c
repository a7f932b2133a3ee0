/* Numbers of Lua against the range of an integer dtype. */
#include "op/scalar_range.h"

#include <math.h>

#include "tensor/scalar.h"

static bool range_bounded(la_dtype dtype)
{
    return dtype != LA_BOOL && la_is_integral(dtype);
}

int la_scalar_side(const la_scalar *s, la_dtype dtype)
{
    int bits = dtype == LA_BOOL ? 1 : (int)la_dtype_size(dtype) * 8;
    bool is_signed = la_dtype_kind(dtype) == 'i';
    double top = ldexp(1, is_signed ? bits - 1 : bits);
    if (s->kind == LA_KFLOAT) {
        double v = trunc(s->re);
        return v >= top ? 1 : v < (is_signed ? -top : 0) ? -1 : 0;
    }
    if (la_scalar_above_int(s)) return dtype != LA_UINT64;
    int64_t high = bits == 64 ? INT64_MAX : (int64_t)top - 1;
    int64_t low = !is_signed ? 0 : bits == 64 ? INT64_MIN : -(int64_t)top;
    return s->i > high ? 1 : s->i < low ? -1 : 0;
}

la_status la_scalar_fits(const la_scalar *s, la_dtype dtype, int arg)
{
    if (!range_bounded(dtype)) return LA_OK;
    if (s->kind != LA_KCOMPLEX && s->re == s->re
        && la_scalar_side(s, dtype) == 0) return LA_OK;
    return la_error_at(LA_EDTYPE, arg, "value cannot be converted to type %s "
                       "without overflow", la_dtype_name(dtype));
}

la_status la_wrapped_fits(const la_tensor *t, la_dtype dtype, int arg)
{
    if (!(t->flags & LA_F_WRAPPED) || t->device != LA_CPU) return LA_OK;
    if (t->dtype == LA_INT64 && range_bounded(dtype)
        && la_integer_fits(*(const int64_t *)la_data(t), dtype)) return LA_OK;
    la_scalar s = la_scalar_load((la_dtype)t->dtype, la_data(t));
    return la_scalar_fits(&s, dtype, arg);
}

bool la_wrapped_is_opposite(const la_tensor *t, la_dtype dtype)
{
    if (la_dtype_kind(dtype) != 'u' || t->dtype != LA_INT64
        || t->device != LA_CPU) return false;
    int64_t v = *(const int64_t *)la_data(t);
    return v < 0 && v > INT64_MIN && la_integer_fits(-v, dtype);
}

la_status la_clip_limit(la_scalar *s, la_dtype dtype, bool upper, int arg)
{
    if (!range_bounded(dtype) || s->kind == LA_KCOMPLEX) return LA_OK;
    int side = la_scalar_side(s, dtype);
    if (side == 0) return LA_OK;
    if (side == (upper ? -1 : 1))
        return la_error_at(LA_EDTYPE, arg, "the %s limit is outside the range "
                           "of %s", upper ? "upper" : "lower",
                           la_dtype_name(dtype));
    int bits = (int)la_dtype_size(dtype) * 8;
    bool is_signed = la_dtype_kind(dtype) == 'i';
    if (dtype == LA_UINT64 && upper) return LA_OK;
    int64_t high = bits == 64 ? INT64_MAX
        : (int64_t)ldexp(1, is_signed ? bits - 1 : bits) - 1;
    *s = la_scalar_int(upper ? high : is_signed ? -high - 1 : 0);
    return LA_OK;
}
