/* Memory of the host: tensors on it by byte strides, and what becomes of them
** when the host moves it. */
#include "tensor/host/host.h"

#include "base/runtime/host_call.h"
#include "base/size.h"
#include "tensor/storage.h"

la_status la_host_aligned(const void *data, size_t size)
{
    if ((uintptr_t)data % size == 0) return LA_OK;
    return la_error(LA_EARG, "the data is not aligned to its elements of %zu "
                    "bytes", size);
}

/* Strides in elements from those in bytes, and the bytes up to the end of the
** last element in *need. Every product is checked. */
static la_status read_strides(const la_host_memory *m, int64_t *strides,
                              int64_t *need)
{
    int64_t item = (int64_t)la_dtype_size(m->dtype), last = 0, step = item;
    bool empty = false, fits = true;
    for (int d = m->ndim - 1; d >= 0; d--) {
        int64_t n = m->sizes[d];
        int64_t s = m->byte_strides ? m->byte_strides[d] : step;
        if (n < 0) return la_error(LA_ESHAPE, "size %lld of dimension %d is "
                                   "negative", (long long)n, d + 1);
        if (s < 0 || s % item)
            return la_error(LA_EARG, "the stride of %lld bytes of dimension %d "
                            "is %s", (long long)s, d + 1, s < 0 ? "negative"
                            : "no multiple of the element's size");
        strides[d] = s / item;
        empty |= n == 0;
        int64_t reach = 0;
        fits = fits && la_mul_ok(n ? n - 1 : 0, s, &reach)
            && la_add_ok(last, reach, &last);
        if (!m->byte_strides) fits = fits && la_mul_ok(step, n ? n : 1, &step);
    }
    fits = fits && la_add_ok(last, item, &last);
    if (!fits) return la_error(LA_EARG, "the layout reaches past all memory");
    *need = empty ? 0 : last;
    return LA_OK;
}

static la_status host_wrap(const la_host_memory *m, int64_t *strides)
{
    int64_t need = 0;
    LA_TRY(la_host_aligned(m->data, la_dtype_size(m->dtype)));
    LA_TRY(read_strides(m, strides, &need));
    if (m->extent && (uint64_t)need > m->extent)
        return la_error(LA_EARG, "the layout reaches to byte %lld, and %zu "
                        "bytes belong to it", (long long)need, m->extent);
    return LA_OK;
}

la_status la_host_wrap(const la_host_memory *m, la_tensor **out)
{
    int64_t strides[LA_MAX_DIMS];
    la_status status = host_wrap(m, strides);
    if (status) {
        la_host_release(m->release, m->context, m->data);
        return status;
    }
    LA_TRY(la_tensor_wrap(m->data, m->dtype, m->ndim, m->sizes, strides,
                          m->release, m->context, out));
    (*out)->flags |= LA_F_HOST;
    if (m->read_only) (*out)->storage->flags |= LA_S_READ_ONLY;
    return LA_OK;
}

/* A la_release_fn. */
static void nobody(void *context, void *data) { }

void la_host_withdraw(la_storage *s)
{
    s->release = nobody;
    s->data = NULL;
    s->flags |= LA_S_MOVED;
    la_storage_hide(s);
}

/* The new storage counts on from where the old one was, so that what a graph
** saved before is of another version. */
la_status la_host_rebind(la_tensor *t, void *data, size_t extent)
{
    la_storage *old = t->storage, *s;
    size_t item = la_itemsize(t);
    if (!(t->flags & LA_F_HOST) || !old || !old->release)
        return la_error(LA_EARG, "only what la_wrap or la_wrap_ex gave has "
                        "memory that can be moved");
    int64_t nbytes = old->nbytes < 0 ? ~old->nbytes : old->nbytes;
    LA_TRY(la_host_aligned(data, la_is_complex((la_dtype)t->dtype) ? item / 2
                                                                   : item));
    if (data && extent && (uint64_t)nbytes > extent)
        return la_error(LA_EARG, "the tensor needs %lld bytes, and %zu belong "
                        "to the new memory", (long long)nbytes, extent);
    LA_TRY(la_storage_new(0, LA_CPU, &s));
    s->data = data;
    s->nbytes = nbytes;
    s->flags = old->flags & (LA_S_FIXED | LA_S_READ_ONLY | LA_S_LOCKED);
    s->release = old->release;
    s->context = old->context;
    s->born = 0;
    s->moved_at = la_tensor_version(t) + 1;
    atomic_store_explicit(&s->version, s->moved_at, memory_order_relaxed);
    if (!data) {
        s->flags |= LA_S_MOVED;
        la_storage_hide(s);
    }
    la_host_withdraw(old);
    la_tensor_adopt(t, s);
    return LA_OK;
}
