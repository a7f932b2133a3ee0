/*
** Tensors: making and unmaking.
**
** la_tensor_empty is the hot path of the library: a small result is one block
** [header | storage record | data], filled with as few stores as can be. The
** block goes when the storage's last reference goes; the header holds one.
*/
#include "tensor/tensor.h"

#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/host_call.h"
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "tensor/names.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

void (*la_grad_meta_free)(struct la_grad_meta *);
void (*la_tensor_ends)(const la_tensor *t);

_Static_assert(sizeof(la_tensor) <= 192, "the header must stay small");

/* --- life --- */

/* Drops fields that few tensors have. */
static void drop_extras(la_tensor *t)
{
    if (t->grad && la_grad_meta_free)
        la_grad_meta_free(t->grad);
    la_names_release(t->names);
    if (t->counter)
        la_storage_let_go(t->counter);
    if (t->dims != t->inline_dims)
        la_mem_free(t->dims, la_dims_bytes(t->ndim));
}

/* Header, record and data are one block that nobody else holds: the end of
** nearly every small tensor. */
static bool is_whole_block(const la_tensor *t, const la_storage *s)
{
    return (t->flags & LA_F_INLINE_BLOCK) && s == la_headed_storage(t)
        && (s->flags & (LA_S_INLINE | LA_S_COUNTER | LA_S_WATCHED
                        | LA_S_RECORDED))
           == LA_S_INLINE
        && atomic_load_explicit(&s->refs, memory_order_acquire) == 1;
}

static inline void drop_storage(la_storage *s)
{
    if (la_drop_ref(&s->refs))
        la_storage_destroy(s);
}

static void make_destroy(la_tensor *t);
static __attribute__((noinline, cold)) void destroy_elsewhere(la_tensor *t)
{
    la_position before = la_move_to_owner(t->owner);
    make_destroy(t);
    la_move_back(&before);
}

static void make_destroy(la_tensor *t)
{
    la_storage *s = t->storage;
    if (la_is_elsewhere(t->owner)) {
        destroy_elsewhere(t);
        return;
    }
    if (t->flags & LA_F_RECORDED)
        la_tensor_ends(t);
    if (t->grad || t->names || t->counter || t->dims != t->inline_dims)
        drop_extras(t);
    if (t->base)  /* a root, which has no base; what is behind a header of
                  ** src/vmap: this goes as deep as these are nested */
        la_tensor_release(t->base);
    if (is_whole_block(t, s)) {
        la_storage_unpay(s, la_token_price((size_t)s->block_bytes));
        la_mem_give(t, (size_t)s->block_bytes);
        return;
    }
    if (!(t->flags & LA_F_INLINE_BLOCK))
        la_mem_free(t, sizeof *t);
    else if (s != la_headed_storage(t))
        drop_storage(la_headed_storage(t));
    if (s)
        drop_storage(s);
}

void la_tensor_release(la_tensor *t)
{
    if (t && la_drop_ref(&t->refs))
        make_destroy(t);
}

/* A header with one reference and nothing in it but inline dims. */
static void header_init(la_tensor *t, la_device device, la_dtype dtype,
                        uint32_t flags)
{
    atomic_init(&t->refs, 1);
    t->dtype = (uint8_t)dtype;
    t->ndim = 0;
    t->device = (uint8_t)device;
    t->owner = la_here.owner;
    t->flags = flags;
    t->seen_version = 0;
    t->numel = 0;
    t->offset = 0;
    t->storage = NULL;
    t->dims = t->inline_dims;
    t->base = NULL;
    t->grad = NULL;
    t->names = NULL;
    t->counter = NULL;
    t->snapshots = 0;
}

/* Count the changes of 't', which counts by its storage or not at all yet, by
** record 's'; NULL: by its storage. */
static void count_by(la_tensor *t, la_storage *s)
{
    if (!s)
        return;
    la_storage_hold(s);
    t->counter = s;
}

void la_tensor_adopt(la_tensor *t, la_storage *s)
{
    la_storage *old = t->storage;
    la_storage *own = t->flags & LA_F_INLINE_BLOCK ? la_headed_storage(t)
                                                   : NULL;
    t->storage = s;
    if (own && s == own)        /* held once already */
        la_storage_release(s);
    if (old && old != own)      /* the block of the header must stay */
        la_storage_release(old);
}

/* --- making --- */

/* A small tensor in one block; 'data' of its bytes lie at the end. */
static la_tensor *combined_new(int64_t nbytes, la_dtype dtype, uint32_t flags)
{
    size_t bytes = LA_COMBINED_DATA + (size_t)nbytes;
    la_tensor *t = la_mem_take(bytes);
    if (!t)
        return NULL;
    header_init(t, LA_CPU, dtype, flags | LA_F_INLINE_BLOCK);
    la_storage *s = la_headed_storage(t);
    la_storage_init(s, LA_CPU, nbytes);
    s->flags = LA_S_INLINE | LA_S_HEADED;
    s->block_bytes = (int64_t)bytes;
    if (la_storage_pay(s, la_token_price(bytes))) {
        la_mem_give(t, bytes);
        return NULL;
    }
    s->data = nbytes ? (char *)t + LA_COMBINED_DATA : NULL;
    t->storage = s;
    return t;
}

/* Product of a few sizes that are all small enough not to overflow; -1 when
** one is not. */
static int64_t small_numel(int ndim, const int64_t *sizes)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) {
        if ((uint64_t)sizes[d] > LA_INLINE_BYTES)
            return -1;
        n *= sizes[d];
    }
    return n;
}

static void small_geometry(la_tensor *t, int ndim, const int64_t *sizes,
                           int64_t numel)
{
    int64_t step = 1;
    t->ndim = (uint8_t)ndim;
    t->numel = numel;
    for (int d = ndim - 1; d >= 0; d--) {
        t->inline_dims[d] = sizes[d];
        t->inline_dims[ndim + d] = step;
        step *= sizes[d] > 1 ? sizes[d] : 1;
    }
    if (ndim > 3)
        t->flags |= la_layout_flags(ndim, t->dims, t->dims + ndim, numel);
}

la_status la_tensor_empty(int ndim, const int64_t *sizes, la_dtype dtype,
                          la_tensor **out)
{
    if ((unsigned)ndim <= LA_INLINE_DIMS && dtype < LA_NDTYPES) {
        int64_t n = small_numel(ndim, sizes);
        int64_t nbytes = n * (int64_t)la_dtype_size(dtype);
        if (n >= 0 && nbytes <= LA_INLINE_BYTES) {
            la_tensor *t = combined_new(nbytes, dtype,
                                        LA_F_CONTIGUOUS | LA_F_DENSE);
            if (!t)
                return LA_ENOMEM;
            small_geometry(t, ndim, sizes, n);
            *out = t;
            return LA_OK;
        }
    }
    return la_tensor_empty_on(LA_CPU, ndim, sizes, NULL, dtype, out);
}

/* A header of its own with the geometry; the storage is still missing. */
static la_status header_new(la_device device, la_dtype dtype, int ndim,
                            const int64_t *sizes, const int64_t *strides,
                            la_tensor **out)
{
    la_plan plan;
    LA_TRY(la_plan_make(&plan, ndim, sizes, strides));
    la_tensor *t = la_mem_alloc(sizeof *t);
    if (!t) {
        la_plan_drop(&plan);
        return LA_ENOMEM;
    }
    header_init(t, device, dtype, 0);
    la_plan_commit(&plan, t);
    *out = t;
    return LA_OK;
}

/* Bytes from the start of the storage to the end of the last element. */
static la_status bytes_needed(const la_tensor *t, int64_t *out)
{
    int64_t last = t->offset, step, bytes;
    *out = 0;
    for (int d = 0; t->numel && d < t->ndim; d++)
        if (!la_mul_ok(la_sizes(t)[d] - 1, la_strides(t)[d], &step)
            || !la_add_ok(last, step, &last))
            return la_error(LA_ESHAPE, "size overflow: strides are too large");
    if (!la_add_ok(last, 1, &last)
        || !la_mul_ok(last, (int64_t)la_itemsize(t), &bytes)
        || bytes > LA_MAX_BYTES)
        return la_error(LA_ESHAPE, "size overflow: more than "
                        LA_MAX_BYTES_TEXT " bytes");
    if (t->numel)
        *out = bytes;
    return LA_OK;
}

static la_status make_check_dtype(la_dtype dtype)
{
    if ((unsigned)dtype >= LA_NDTYPES)
        return la_error(LA_EDTYPE, "a dtype is needed to make a tensor");
    return LA_OK;
}

la_status la_tensor_empty_on(la_device device, int ndim, const int64_t *sizes,
                             const int64_t *strides, la_dtype dtype,
                             la_tensor **out)
{
    int64_t nbytes;
    LA_TRY(make_check_dtype(dtype));
    for (int d = 0; strides && d < ndim; d++)
        if (strides[d] < 0)
            return la_error(LA_ESHAPE, "negative strides are not supported, "
                            "got %lld", (long long)strides[d]);
    LA_LET(t, header_new(device, dtype, ndim, sizes, strides, &t));
    LA_TRY(bytes_needed(t, &nbytes));
    LA_TRY(la_storage_new(nbytes, device, &t->storage));
    return la_tensor_hand(&t, out);
}

la_status la_tensor_from_scalar(const la_scalar *s, la_tensor **out)
{
    /* Numbers keep full width, so that 0.1 with a float64 tensor stays 0.1;
    ** promotion weighs a wrapped number as the default dtype whatever it
    ** holds. */
    la_dtype dtype = s->kind == LA_KFLOAT ? LA_FLOAT64
                   : s->kind == LA_KCOMPLEX ? LA_COMPLEX128
                   : la_scalar_dtype(s);
    la_tensor *t = combined_new((int64_t)la_dtype_size(dtype), dtype,
                                LA_F_CONTIGUOUS | LA_F_DENSE | LA_F_WRAPPED);
    if (!t)
        return LA_ENOMEM;
    t->numel = 1;
    char *data = (char *)t + LA_COMBINED_DATA;
    if (s->kind == LA_KINT) memcpy(data, &s->i, sizeof s->i);
    else if (s->kind == LA_KFLOAT) memcpy(data, &s->re, sizeof s->re);
    else la_scalar_cast(s, dtype, data);
    *out = t;
    return LA_OK;
}

la_status la_number_to_default(la_tensor **number)
{
    la_tensor *old = *number, *t;
    la_dtype want = la_ctx()->default_dtype;
    if (old->dtype == LA_COMPLEX128) want = la_dtype_to_complex(want);
    else if (old->dtype != LA_FLOAT64) return LA_OK;
    if (want == (la_dtype)old->dtype) return LA_OK;
    la_scalar s = la_scalar_load((la_dtype)old->dtype, la_data(old));
    t = combined_new((int64_t)la_dtype_size(want), want,
                     LA_F_CONTIGUOUS | LA_F_DENSE | LA_F_WRAPPED);
    if (!t)
        return LA_ENOMEM;
    t->numel = 1;
    la_scalar_cast(&s, want, (char *)t + LA_COMBINED_DATA);
    la_tensor_release(old);
    *number = t;
    return LA_OK;
}

la_status la_tensor_deferred(int ndim, const int64_t *sizes,
                             const int64_t *strides, la_dtype dtype,
                             la_tensor **out)
{
    LA_TRY(make_check_dtype(dtype));
    LA_TRY(header_new(LA_CPU, dtype, ndim, sizes, strides, out));
    (*out)->flags |= LA_F_DEFERRED;
    return LA_OK;
}

la_status la_refuse_batched(void)
{
    la_ctx()->wanted_batched = true;
    return la_error(LA_ESTATE, "inside vmap a tensor has no elements to look "
                    "at: it stands for each element of a batch; return what is "
                    "needed from the function and look at it afterwards");
}

la_status la_tensor_form(const la_tensor *like, la_tensor **out)
{
    LA_TRY(header_new((la_device)like->device, (la_dtype)like->dtype,
                      like->ndim, la_sizes(like), la_strides(like), out));
    (*out)->flags |= like->flags & (LA_F_CONJ | LA_F_NEG | LA_F_WRAPPED);
    (*out)->names = la_names_retain(like->names);
    return LA_OK;
}

void la_tensor_show(la_tensor *t, la_storage *s, int64_t offset)
{
    la_storage *old = t->storage;
    t->storage = s ? la_storage_retain(s) : NULL;
    t->offset = offset;
    if (old) drop_storage(old);
}

void la_tensor_count_as(la_tensor *t, const la_tensor *like)
{
    la_storage *held = t->counter, *now = like ? like->counter : NULL;
    if (held == now) return;
    t->counter = NULL;
    count_by(t, now);
    if (held) la_storage_let_go(held);
}

/* --- sharing --- */

enum {
    INHERITED = LA_F_CONJ | LA_F_NEG,
    INHERITED_BY_VIEWS = INHERITED | LA_F_NO_GRAD_VIEW | LA_F_MULTI_VIEW
                       | LA_F_NO_HISTORY | LA_F_CUSTOM_VIEW
};

/* A header has no storage to share. */
static la_status ready(const la_tensor *t)
{
    return t->flags & LA_F_DEFERRED ? la_refuse_batched() : LA_OK;
}

/* Layout flags of up to three dims, none of them empty. */
static uint32_t few_flags(const la_tensor *t, bool contiguous)
{
    const int64_t *sizes = la_sizes(t), *strides = la_strides(t);
    if (contiguous)
        return LA_F_CONTIGUOUS | LA_F_DENSE;
    if (t->ndim == 2)       /* dense is then the transpose of a dense one */
        return strides[0] == 1 && strides[1] == sizes[0] ? LA_F_DENSE : 0;
    return t->ndim < 2 ? 0
        : la_layout_flags(t->ndim, sizes, strides, t->numel);
}

/* The geometry of nearly every view in one walk: up to three dims, none empty,
** all of it inside 'nbytes'. False when the long way has to look closer. One
** look at all bits together ('wide') bounds what is multiplied: no negative
** number, nothing from 2^30 on, so that the last offset is below 2^62. */
static inline bool set_few_dims(la_tensor *t, int ndim, const int64_t *sizes,
                                const int64_t *strides, int64_t nbytes)
{
    uint64_t last = (uint64_t)t->offset, wide = last >> 18;
    int64_t numel = 1;
    bool contiguous = true;
    if (ndim > 3) return false;
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t n = sizes[d], s = strides[d];
        uint64_t most = (uint64_t)n - 1;
        wide |= most | (uint64_t)s;
        last += most * (uint64_t)s;
        if (n != 1 && s != numel) contiguous = false;
        if (__builtin_mul_overflow(numel, n, &numel)) return false;
        t->inline_dims[d] = n;
        t->inline_dims[ndim + d] = s;
    }
    if (wide >> 30 || numel > LA_MAX_NUMEL || last >= LA_MAX_NUMEL
        || (int64_t)(last + 1) * (int64_t)la_itemsize(t) > nbytes) return false;
    t->ndim = (uint8_t)ndim;
    t->numel = numel;
    t->flags |= few_flags(t, contiguous);
    return true;
}

static __attribute__((noinline)) la_status
set_any_dims(la_tensor *owned, int ndim, const int64_t *sizes,
          const int64_t *strides, la_tensor **out)
{
    LA_OWNED t = owned;
    LA_TRY(la_tensor_set_geometry(t, ndim, sizes, strides));
    if (t->storage)
        LA_TRY(la_tensor_check_bounds(t));
    return la_tensor_hand(&t, out);
}

/* A header for a part of 'base'; geometry and references are to come. */
static la_tensor *view_header(const la_tensor *base, la_dtype dtype,
                              int64_t offset)
{
    la_tensor *t = la_mem_alloc(sizeof *t);
    if (!t)
        return NULL;
    header_init(t, (la_device)base->device, dtype,
                base->flags & INHERITED_BY_VIEWS);
    t->offset = offset;
    return t;
}

static inline void share(la_tensor *t, la_tensor *base)
{
    if (base->storage)
        t->storage = la_storage_retain(base->storage);
    count_by(t, base->counter);
    t->seen_version = la_tensor_version(base);
    if (la_ctx()->no_grad) t->flags |= LA_F_NO_GRAD_VIEW;
    t->base = la_tensor_retain(base->base ? base->base : base);
}

static __attribute__((noinline)) la_status check_base(const la_tensor *base)
{
    LA_TRY(ready(base));
    if (!base->storage)
        return la_error(LA_ESTATE, "tensor has no storage");
    return LA_OK;
}

static inline la_status tensor_make_view(la_tensor *base, la_dtype dtype,
                                         int ndim, const int64_t *sizes,
    const int64_t *strides, int64_t offset, la_tensor **out)
{
    if (!base->storage) LA_TRY(check_base(base));
    la_tensor *t = view_header(base, dtype, offset);
    if (!t)
        return LA_ENOMEM;
    share(t, base);
    if (!t->storage
        || !set_few_dims(t, ndim, sizes, strides, t->storage->nbytes))
        return set_any_dims(t, ndim, sizes, strides, out);
    *out = t;
    return LA_OK;
}

la_status la_tensor_view(la_tensor *base, int ndim, const int64_t *sizes,
                         const int64_t *strides, int64_t offset,
                         la_tensor **out)
{
    return tensor_make_view(base, (la_dtype)base->dtype, ndim, sizes, strides,
                            offset, out);
}

la_status la_tensor_view_as(la_tensor *base, la_dtype dtype, int ndim,
                            const int64_t *sizes, const int64_t *strides,
                            int64_t offset, la_tensor **out)
{
    return tensor_make_view(base, dtype, ndim, sizes, strides, offset, out);
}

la_status la_tensor_alias(la_tensor *src, bool fixed, la_tensor **out)
{
    la_tensor *t;
    LA_TRY(ready(src));
    LA_TRY(header_new(src->device, src->dtype, src->ndim, la_sizes(src),
                      la_strides(src), &t));
    t->offset = src->offset;
    t->flags |= src->flags & (INHERITED | LA_F_WRAPPED);
    if (fixed)
        t->flags |= LA_F_FIXED_GEOMETRY;
    if (src->storage)
        t->storage = la_storage_retain(src->storage);
    count_by(t, src->counter);
    t->names = la_names_retain(src->names);
    *out = t;
    return LA_OK;
}

la_status la_tensor_on(la_storage *s, la_dtype dtype, int ndim,
                       const int64_t *sizes, const int64_t *strides,
                       int64_t offset, la_tensor **out)
{
    LA_TRY(make_check_dtype(dtype));
    LA_LET(t,
           header_new((la_device)s->device, dtype, ndim, sizes, strides, &t));
    t->offset = offset;
    t->storage = la_storage_retain(s);
    LA_TRY(la_tensor_check_bounds(t));
    return la_tensor_hand(&t, out);
}

static la_status make_wrap(void *data, la_dtype dtype, int ndim,
                           const int64_t *sizes, const int64_t *strides,
                           la_tensor **out)
{
    int64_t nbytes;
    LA_TRY(make_check_dtype(dtype));
    for (int d = 0; strides && d < ndim; d++)
        if (strides[d] < 0)
            return la_error(LA_ESHAPE, "negative strides are not supported");
    LA_LET(t, header_new(LA_CPU, dtype, ndim, sizes, strides, &t));
    LA_TRY(bytes_needed(t, &nbytes));
    if (nbytes && !data)
        return la_error(LA_EARG, "no memory given for %lld bytes",
                        (long long)nbytes);
    LA_TRY(la_storage_new(0, LA_CPU, &t->storage));
    t->storage->data = data;
    t->storage->nbytes = nbytes;
    t->storage->flags = LA_S_FIXED;
    return la_tensor_hand(&t, out);
}

static void host_keeps(void *context, void *data) { }

la_status la_tensor_wrap(void *data, la_dtype dtype, int ndim,
                         const int64_t *sizes, const int64_t *strides,
                         la_release_fn release, void *context, la_tensor **out)
{
    la_status status = make_wrap(data, dtype, ndim, sizes, strides, out);
    if (status) {
        la_host_release(release, context, data);
        return status;
    }
    (*out)->storage->release = release ? release : host_keeps;
    (*out)->storage->context = context;
    (*out)->storage->born = 0;      /* the memory was there before */
    return LA_OK;
}

la_status la_tensor_check_writable(const la_tensor *t)
{
    uint32_t flags = t->storage
        ? __atomic_load_n(&t->storage->flags, __ATOMIC_ACQUIRE) : 0;
    if (flags & LA_S_READ_ONLY)
        return la_error(LA_ESTATE, "tensor is read-only (its memory is mapped "
                        "or belongs to the host): clone it first");
    return flags & LA_S_WATCHED ? la_storage_before_write(t->storage) : LA_OK;
}

/* --- changing what a tensor points at --- */

la_status la_tensor_check_not_fixed(const la_tensor *t)
{
    if (t->flags & LA_F_FIXED_GEOMETRY)
        return la_error(LA_ESTATE, "sizes, strides and storage of a detached "
                        "tensor cannot be changed: it shares them with the "
                        "tensor it was made from; use clone()");
    return LA_OK;
}

/* Names go when there are more or fewer dims than they were given for. */
static void commit_unnamed(la_plan *p, la_tensor *t)
{
    if (t->names && t->ndim != p->ndim)
        la_tensor_set_names(t, NULL);
    la_plan_commit(p, t);
}

/* Make sure that the storage holds what plan 'p' needs. */
static la_status grow_for(la_tensor *t, const la_plan *p)
{
    int64_t count, bytes;
    if (t->storage && p->numel == 0)
        return LA_OK;
    if (!la_add_ok(t->offset, p->numel, &count)
        || !la_mul_ok(count, (int64_t)la_itemsize(t), &bytes)
        || bytes > LA_MAX_BYTES)
        return la_error(LA_ESHAPE, "size overflow: more than "
                        LA_MAX_BYTES_TEXT " bytes");
    if (!t->storage)
        return la_storage_new(p->numel ? bytes : 0, t->device, &t->storage);
    if (bytes <= t->storage->nbytes)
        return LA_OK;
    return la_storage_resize(t->storage, bytes);
}

/* Storage grows but never shrinks, so that a buffer that is resized again and
** again settles; new elements are not set. */
la_status la_tensor_resize(la_tensor *t, int ndim, const int64_t *sizes)
{
    la_plan plan;
    if (ndim == t->ndim
        && memcmp(sizes, la_sizes(t), (size_t)ndim * sizeof *sizes) == 0
        && t->storage)
        return LA_OK;
    LA_TRY(la_tensor_check_not_fixed(t));
    LA_TRY(make_check_dtype(t->dtype));
    LA_TRY(la_plan_make(&plan, ndim, sizes, NULL));
    la_status status = grow_for(t, &plan);
    if (status)
        la_plan_drop(&plan);
    else
        commit_unnamed(&plan, t);
    return status;
}

/* 't' gets the storage 's' next and goes on counting by the record that it
** counts by now. A view without a history is no part of its root any more. */
static void keep_counter(la_tensor *t, const la_storage *s)
{
    la_storage *held = t->counter;
    la_storage *now = la_counter(t);
    t->counter = NULL;
    if (now != s)
        count_by(t, now);
    if (held)
        la_storage_let_go(held);
    if (t->base && !la_grad_flag(t))
        la_tensor_drop(&t->base);
}

/* t becomes another handle of src's storage. The plan is made first: no error
** leaves t half changed. */
la_status la_tensor_set(la_tensor *t, const la_tensor *src)
{
    la_plan plan;
    LA_TRY(ready(src));
    LA_TRY(la_plan_make(&plan, src->ndim, la_sizes(src), la_strides(src)));
    commit_unnamed(&plan, t);
    if (t->storage != src->storage)
        keep_counter(t, src->storage);
    t->flags = (t->flags & ~(uint32_t)(INHERITED | LA_F_HOST))
        | (src->flags & INHERITED);
    t->dtype = src->dtype;
    t->device = src->device;
    t->offset = src->offset;
    la_tensor_adopt(t, src->storage ? la_storage_retain(src->storage) : NULL);
    return LA_OK;
}
