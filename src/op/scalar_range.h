/* Lua numbers as values of a dtype that cannot hold every number. */
#ifndef LA_OP_SCALAR_RANGE_H
#define LA_OP_SCALAR_RANGE_H

#include "tensor/tensor.h"

/* LA_EDTYPE unless the scalar fits an integer dtype; fractions are cut. */
la_status la_scalar_fits(const la_scalar *s, la_dtype dtype, int arg);
/* la_scalar_fits for a wrapped scalar; others always fit. */
la_status la_wrapped_fits(const la_tensor *t, la_dtype dtype, int arg);

/* A limit beyond the range of an integer dtype becomes its end; a lower limit
** above the range or an upper one below it is an error. */
la_status la_clip_limit(la_scalar *s, la_dtype dtype, bool upper, int arg);

#endif
