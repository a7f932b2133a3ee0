/* Lua numbers as values of a dtype that cannot hold every number. */
#ifndef LA_OP_SCALAR_RANGE_H
#define LA_OP_SCALAR_RANGE_H

#include "tensor/tensor.h"

/* Is the integer an element of the integer dtype? (Above int64 there is none
** among Lua's.) */
static inline bool la_integer_fits(int64_t v, la_dtype dtype)
{
    int bits = (int)la_dtype_size(dtype) * 8;
    if (la_dtype_kind(dtype) == 'u')
        return v >= 0 && (bits == 64 || v >> bits == 0);
    return v >> (bits - 1) == v >> 63;
}

/* Below (-1), in (0) or above (1) the range of the dtype: the number without
** its fraction, which is no NaN and not complex. Bool counts as 0 and 1. */
int la_scalar_side(const la_scalar *s, la_dtype dtype);

/* LA_EDTYPE unless the scalar fits an integer dtype; fractions are cut. */
la_status la_scalar_fits(const la_scalar *s, la_dtype dtype, int arg);
/* la_scalar_fits for a wrapped scalar; others always fit. */
la_status la_wrapped_fits(const la_tensor *t, la_dtype dtype, int arg);

/* Is the wrapped scalar -n for an element n of the unsigned dtype? Adding it
** and multiplying by it are right modulo the dtype, as x - n is. */
bool la_wrapped_is_opposite(const la_tensor *t, la_dtype dtype);

/* A limit beyond the range of an integer dtype becomes its end; a lower limit
** above the range or an upper one below it is an error. */
la_status la_clip_limit(la_scalar *s, la_dtype dtype, bool upper, int arg);

#endif
