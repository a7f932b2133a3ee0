/* The invariants of a tensor, for the debug build. */
#include "tensor/tensor_verify.h"

#ifdef LA_DEBUG

#include "base/assert.h"
#include "tensor/storage.h"

/* Bytes that the host gives back are in no block of ours, and a pointer that
** the processor may follow is there on the CPU alone. */
void la_storage_verify(const la_storage *s)
{
    la_assert(atomic_load(&s->refs) > 0);
    la_assert(s->device < LA_NDEVICES);
    la_assert(!s->data || s->device == LA_CPU);
    la_assert(s->block_bytes >= (int64_t)sizeof(la_storage));
    la_assert(!(s->flags & LA_S_INLINE) || !s->release);
    la_assert(!(s->flags & LA_S_MOVED) || s->nbytes < 0);
    la_assert(atomic_load(&s->holders) >= 0);
}

void la_tensor_verify(const la_tensor *t)
{
    int64_t numel = 1;
    la_assert(atomic_load(&t->refs) > 0);
    la_assert(t->ndim <= LA_MAX_DIMS);
    la_assert(t->dtype < LA_NDTYPES);
    la_assert((t->dims == t->inline_dims) == (t->ndim <= LA_INLINE_DIMS));
    for (int d = 0; d < t->ndim; d++) {
        la_assert(la_sizes(t)[d] >= 0 && la_strides(t)[d] >= 0);
        numel *= la_sizes(t)[d];
    }
    la_assert(t->numel == numel);
    la_assert((t->flags & LA_F_LAYOUT) ==
              la_layout_flags(t->ndim, la_sizes(t), la_strides(t), numel));
    la_assert(!t->base || !t->base->base || (t->flags & LA_F_BATCHED));
    la_assert(!(t->flags & LA_F_DEFERRED) || !t->storage);
    if (t->storage) la_storage_verify(t->storage);
}

void la_tensor_verify_extent(const la_tensor *t)
{
    bool has_data = t->device == LA_CPU && t->storage && t->numel
        && t->storage->nbytes >= 0
        && !(t->flags & LA_F_DEFERRED);
    if (!has_data) return;
    int64_t last = t->offset;
    for (int d = 0; d < t->ndim; d++)
        last += (la_sizes(t)[d] - 1) * la_strides(t)[d];
    la_assert(t->offset >= 0);
    la_assert((last + 1) * (int64_t)la_itemsize(t) <= t->storage->nbytes);
}

#endif
