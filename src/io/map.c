/* Mapped files and the tensors in them. */
#include "io/map.h"

#include <errno.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "base/os/os.h"
#include "tensor/shape.h"

/* Shared and read-only. */
la_status la_mapping_open(const la_reader *s, la_mapping **out)
{
    if (s->size == 0) return la_error(LA_EIO, "truncated at byte 0");
    la_mapping *m = la_mem_alloc(sizeof *m);
    if (!m) return LA_ENOMEM;
    m->refs = 1;
    m->bytes = (size_t)s->size;
    m->data = la_os_map_file(s->fd, m->bytes);
    if (!m->data) {
        la_mem_free(m, sizeof *m);
        return la_error(LA_EIO, "the file cannot be mapped");
    }
    *out = m;
    return LA_OK;
}

void la_mapping_release(la_mapping *m)
{
    if (atomic_fetch_sub(&m->refs, 1) != 1) return;
    la_os_unmap_file(m->data, m->bytes);
    la_mem_free(m, sizeof *m);
}

static void release_tensor(void *mapping, void *data)
{
    la_mapping_release(mapping);
}

/* Strides in elements, the first dim fastest. */
static void fortran_strides(int ndim, const int64_t *sizes, int64_t *strides)
{
    int64_t step = 1;
    for (int d = 0; d < ndim; d++) {
        strides[d] = step;
        step *= sizes[d] > 0 ? sizes[d] : 1;
    }
}

/* Kernels load whole elements: data at an odd address would fault or be
** undefined. Bools would have to be checked byte by byte, which reads the file
** that mapping is to leave alone. */
static la_status check_range(const la_mapping *m, int64_t at, la_dtype dtype,
                             int ndim, const int64_t *sizes)
{
    int64_t numel, item = (int64_t)la_dtype_size(dtype);
    int64_t align = la_is_complex(dtype) ? item / 2 : item;
    LA_TRY(la_numel(ndim, sizes, &numel));
    if (at < 0 || at > (int64_t)m->bytes
        || numel > ((int64_t)m->bytes - at) / item)
        return la_error(LA_EIO, "truncated at byte %zu", m->bytes);
    if (at % align)
        return la_error(LA_EIO, "data at byte %lld is not aligned for %s: use"
                        " load", (long long)at, la_dtype_name(dtype));
    if (dtype == LA_BOOL)
        return la_error(LA_EIO, "bool data cannot be mapped: use load");
    return LA_OK;
}

/* Each tensor holds a reference to the mapping, taken before the storage
** exists, which releases it with its last view. */
la_status la_mapping_tensor(la_mapping *m, int64_t at, la_dtype dtype, int ndim,
                            const int64_t *sizes, bool fortran, la_tensor **out)
{
    int64_t strides[LA_MAX_DIMS];
    LA_TRY(check_range(m, at, dtype, ndim, sizes));
    if (fortran) fortran_strides(ndim, sizes, strides);
    atomic_fetch_add(&m->refs, 1);
    LA_TRY(la_tensor_wrap(m->data + at, dtype, ndim, sizes,
                          fortran ? strides : NULL, release_tensor, m, out));
    (*out)->storage->flags |= LA_S_READ_ONLY | LA_S_FIXED;
    return LA_OK;
}
