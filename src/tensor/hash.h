/* A hash of what a tensor says: dtype, sizes and elements, whatever its
** layout. */
#ifndef LA_TENSOR_HASH_H
#define LA_TENSOR_HASH_H

#include "tensor/tensor.h"

/* XXH64 with seed 0 of: the dtype's name, a zero byte, ndim and the sizes as
** int64, the elements row by row; numbers little-endian. -0.0 and 0.0 differ,
** and so do NaN of different bits. 't' is contiguous, on the CPU, in bounds and
** without lazy bits. LA_EINTR. */
la_status la_tensor_hash(const la_tensor *t, uint64_t *out);

#endif
