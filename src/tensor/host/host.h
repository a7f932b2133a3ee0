/*
** Memory of the host: described by bytes, moved, taken away.
**
** Where the host moves its memory, the storage of before is withdrawn: it has
** no data and is hidden, so that whatever still points at it (views, fields,
** what a graph saved) comes to la_host_moved at the gate. What was wrapped goes
** on with a storage of its own that counts versions from there.
*/
#ifndef LA_TENSOR_HOST_HOST_H
#define LA_TENSOR_HOST_HOST_H

#include <stddef.h>

#include "tensor/tensor.h"

typedef struct la_host_memory {
    void *data;
    la_dtype dtype;
    int ndim;
    const int64_t *sizes, *byte_strides;    /* strides NULL: row-major */
    size_t extent;          /* bytes from 'data' on; 0: not checked */
    bool read_only;
    la_release_fn release;  /* NULL: nobody is told */
    void *context;
} la_host_memory;

/* LA_ESTATE: what a tensor on withdrawn memory is told. */
la_status la_host_moved(void);

/* A tensor on it. LA_EARG for a pointer or a stride that is no multiple of the
** element's size, and for a layout that reaches past the extent. 'release' runs
** exactly once, also when this fails. */
la_status la_host_wrap(const la_host_memory *m, la_tensor **out);

/* LA_EARG unless 'data' is a multiple of 'size', which is no 0. */
la_status la_host_aligned(const void *data, size_t size);

/* The memory of 't', which is one of la_wrap's (LA_F_HOST), lies at 'data' from
** now on; NULL: it has none. LA_EARG as above; nothing changes then. */
la_status la_host_rebind(la_tensor *t, void *data, size_t extent);

/* Nobody reads or writes through 's' any more, and its 'release' is not called
** (who withdraws goes on with it). */
void la_host_withdraw(la_storage *s);

#endif
