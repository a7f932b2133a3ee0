/* Tensors on devices of the host's. */
#include "tensor/host/remote.h"

#include "tensor/names.h"

/* Bytes from the first element to the end of the last. */
static int64_t span_bytes(const la_tensor *t)
{
    int64_t last = 0;
    if (t->numel == 0) return 0;
    for (int d = 0; d < t->ndim; d++)
        last += (la_sizes(t)[d] - 1) * la_strides(t)[d];
    return (last + 1) * (int64_t)la_itemsize(t);
}

static int64_t first_byte(const la_tensor *t)
{
    return t->offset * (int64_t)la_itemsize(t);
}

la_status la_remote_fetch(const la_tensor *t, bool read, la_tensor **out)
{
    LA_TRY(la_tensor_check_bounds(t));
    LA_LET(cpu, la_tensor_empty_on(LA_CPU, t->ndim, la_sizes(t), la_strides(t),
                                   (la_dtype)t->dtype, &cpu));
    if (read && t->numel)
        LA_TRY(la_device_read(t->device, la_data(cpu),
                              la_storage_remote(t->storage), first_byte(t),
                              span_bytes(t)));
    cpu->flags |= t->flags & (LA_F_CONJ | LA_F_NEG);
    if (t->names) la_tensor_set_names(cpu, la_names_retain(t->names));
    return la_tensor_hand(&cpu, out);
}

la_status la_remote_bring(la_tensor **owned)
{
    la_tensor *cpu;
    if (!la_is_remote((*owned)->device)) return LA_OK;
    LA_TRY(la_remote_fetch(*owned, true, &cpu));
    la_tensor_release(*owned);
    *owned = cpu;
    return LA_OK;
}

la_status la_remote_store(la_tensor *t, const la_tensor *fetched)
{
    if (t->numel == 0) return LA_OK;
    return la_device_write(t->device, la_storage_remote(t->storage),
                           first_byte(t), la_data(fetched), span_bytes(t));
}

la_status la_remote_move(la_tensor *t, const la_tensor *from)
{
    if (t->numel == 0) return LA_OK;
    return la_device_move(t->device, la_storage_remote(t->storage),
                          first_byte(t), la_storage_remote(from->storage),
                          first_byte(from), span_bytes(t));
}

la_status la_remote_refuse(const la_tensor *t)
{
    return !la_is_remote(t->device) ? LA_OK
        : la_error(LA_EKEY, "the tensor is on device '%s': x:cpu() first",
                   la_device_name(t->device));
}

void *la_remote_address(const la_tensor *t)
{
    void *block = t->storage ? la_storage_remote(t->storage) : NULL;
    if (!block || t->numel == 0) return NULL;
    return (void *)((uintptr_t)block + (uintptr_t)first_byte(t));
}
