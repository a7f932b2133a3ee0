/*
** Tensors that lie in a mapped file: nothing is read before it is used, and
** nothing can be written. Only for files that nobody changes meanwhile: one
** that gets shorter ends the process with a signal.
*/
#ifndef LA_IO_MAP_H
#define LA_IO_MAP_H

#include "io/stream.h"
#include "tensor/tensor.h"

typedef struct la_mapping {
    _Atomic int32_t refs;   /* the opener and each tensor in it */
    char *data;
    size_t bytes;
} la_mapping;

/* Map the whole file, which may be closed afterwards; one reference for the
** caller, given back with la_mapping_release. LA_EIO for an empty file. */
la_status la_mapping_open(const la_reader *, la_mapping **out);
void la_mapping_release(la_mapping *);
static inline void la_mapping_drop(la_mapping **slot)
{
    if (*slot) la_mapping_release(*slot);
    *slot = NULL;
}
#define LA_MAPPING __attribute__((cleanup(la_mapping_drop))) la_mapping *

/* A new read-only tensor, owned by the caller, at byte 'at' of the mapping,
** which it keeps alive. 'fortran': the first dim is the fastest. LA_EIO where
** the data is truncated or not aligned for the dtype, or the dtype is bool (its
** bytes would need a look). */
la_status la_mapping_tensor(la_mapping *, int64_t at, la_dtype, int ndim,
                            const int64_t *sizes, bool fortran,
                            la_tensor **out);

#endif
