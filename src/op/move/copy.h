/* Moving data between tensors below the level of operations. */
#ifndef LA_OP_MOVE_COPY_H
#define LA_OP_MOVE_COPY_H

#include "op/value.h"

/* Write src's elements into dst (not resized): broadcast, converted, lazy bits
** of both respected. Nothing happens when both are the same elements. LA_ESHAPE
** or LA_EALIAS with PyTorch's sentences, LA_EINTR. Does not touch versions. */
la_status la_copy_data(la_tensor *dst, la_tensor *src);

/* Write one number everywhere. Fractions are cut for integer dtypes; LA_EDTYPE
** when the value is out of the dtype's range. */
la_status la_fill_data(la_tensor *dst, const la_scalar *value);

/* The refusal of la_fill_data alone: for meta functions, which write
** nothing. */
la_status la_fill_check(la_dtype dtype, const la_scalar *value);

/* Zero bytes over the whole of a tensor that was just made (contiguous or
** dense, its storage its own). */
la_status la_zero_data(la_tensor *dst);
/* The whole of a storage, whatever its tensors look at. */
la_status la_zero_storage(la_storage *s);

/* Copy the names of 'from' to 'to' (same number of dims). */
void la_copy_names(la_tensor *to, const la_tensor *from);

#endif
