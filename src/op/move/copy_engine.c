/*
** Copies and fills of tensors: the ways from plain memory copies of dense
** tensors down to the iterator with conversion. Lazy bits are handled here, so
** that resolving them is a copy. Parts of results that are no tensors are moved
** by strided.c.
*/
#include "op/move/copy.h"

#include <math.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "iter/iter.h"
#include "kernel/kernel.h"
#include "kernel/move/copy.h"
#include "op/move/move.h"
#include "tensor/names.h"
#include "tensor/host/remote.h"
#include "tensor/scalar.h"

/* Bytes that one thread should get, and between looks at the interrupt. */
#define GRAIN_BYTES ((int64_t)1 << 19)
#define POLL_BYTES ((int64_t)1 << 24)

/* The result's dims are named as those of its source. */
void la_copy_names(la_tensor *to, const la_tensor *from)
{
    if (from->names || to->names)
        la_tensor_set_names(to, la_names_retain(from->names));
}

/* --- plain bytes --- */

typedef struct bytes {
    char *to;
    const char *from;     /* NULL: zeros */
} bytes;

/* Bytes begin..end-1: the piece of one thread. */
static void move_bytes(int64_t begin, int64_t end, void *context)
{
    const bytes *b = context;
    size_t n = (size_t)(end - begin);
    if (b->from) memcpy(b->to + begin, b->from + begin, n);
    else memset(b->to + begin, 0, n);
}

/* n bytes to 'to', of zeros where 'from' is NULL. LA_EINTR or LA_OK. */
static la_status run_bytes(char *to, const char *from, int64_t n)
{
    bytes b = {to, from};
    return la_iter_items(n, GRAIN_BYTES, POLL_BYTES, move_bytes, &b);
}

/* Does one run of bytes hold the same elements in both? */
static bool same_layout(const la_tensor *a, const la_tensor *b)
{
    if (!la_same_sizes(a, b)) return false;
    if (a->flags & b->flags & LA_F_CONTIGUOUS) return true;
    return (a->flags & b->flags & LA_F_DENSE)
        && memcmp(la_strides(a), la_strides(b),
                  sizeof(int64_t) * a->ndim) == 0;
}

/* --- the general way --- */

/* dst takes src's elements, by an iterator that borrows both. */
static la_iter_config copy_config(la_tensor *dst, la_tensor *src)
{
    la_iter_config c = LA_ITER_CONFIG(LA_IT_CHECK_MEM_OVERLAP | LA_IT_BORROWED,
                                      1, 1);
    c.operands[0] = dst;
    c.operands[1] = src;
    return c;
}

/* The output's fast dim is iterator dim 0. Where the input's is not among the
** first two, bring it there: loops over both can then work in squares. */
static void pair_dims(la_iter *it)
{
    int64_t size = (int64_t)la_dtype_size(it->op[1].current);
    if (it->ndim < 3 || it->op[1].strides[0] == size
        || (it->flags & LA_IT_IN_ORDER)) return;
    for (int d = 2; d < it->ndim; d++) {
        if (it->op[1].strides[d] != size || it->shape[d] < 8) continue;
        for (int k = -1; k < it->noperands; k++) {
            int64_t *v = k < 0 ? it->shape : it->op[k].strides;
            int64_t x = v[1];
            v[1] = v[d];
            v[d] = x;
        }
        return;
    }
}

/* Nobody will find such an output in a cache. */
static bool is_large(const la_tensor *t)
{
    int64_t size = t->numel * (int64_t)la_itemsize(t);
    return size > (int64_t)la_cpu_cache(3) / 2;
}

/* Few elements of two tensors that can't meet: their loop takes them as they
** lie, to find an order for them would cost more than it gives. */
static bool is_few(const la_tensor *dst, const la_tensor *src)
{
    bool rows = (dst->flags & src->flags & LA_F_CONTIGUOUS) || dst->ndim <= 2;
    return rows && dst->numel > 0 && dst->numel <= 1024
        && (dst->flags & LA_F_DENSE) && dst->storage != src->storage
        && !dst->names && !src->names && la_same_sizes(dst, src);
}

/* One call of the loop, over all elements or over rows. */
static void copy_engine_run_few(la_tensor *dst, la_tensor *src, la_loop loop,
                                const void *params)
{
    int64_t out = (int64_t)la_itemsize(dst), in = (int64_t)la_itemsize(src);
    int64_t strides[4] = {out, in, 0, 0}, n0 = dst->numel, n1 = 1;
    char *data[2] = {la_data(dst), la_data(src)};
    int last = dst->ndim - 1;
    if (last >= 0 && !(dst->flags & src->flags & LA_F_CONTIGUOUS)) {
        strides[0] = la_strides(dst)[last] * out;
        strides[1] = la_strides(src)[last] * in;
        strides[2] = la_strides(dst)[0] * out;
        strides[3] = la_strides(src)[0] * in;
        n0 = la_sizes(dst)[last];
        n1 = last > 0 ? la_sizes(dst)[0] : 1;
    }
    loop(data, strides, n0, n1, params);
}

/* A copy or conversion by the iterator; lazy bits are left to settle_bits. */
static la_status run_copy(la_tensor *dst, la_tensor *src)
{
    la_copy_hint hint = {.stream = is_large(dst)};
    bool cast = dst->dtype != src->dtype;
    la_loop loop = cast ? la_cast_loop(dst->dtype, src->dtype)
                 : (*LA_STUB(copy))[la_size_slot(la_itemsize(dst))];
    const void *params = cast ? NULL : &hint;
    if (is_few(dst, src)) {
        copy_engine_run_few(dst, src, loop, params);
        return LA_OK;
    }
    la_iter_config c = copy_config(dst, src);
    LA_ITER it;
    LA_TRY(la_iter_build(&it, &c));
    pair_dims(&it);
    return la_iter_for_each(&it, loop, params, LA_GRAIN);
}

/* Signs that differ between what src means and what dst is read as. */
static la_status settle_bits(la_tensor *dst, const la_tensor *src)
{
    uint32_t bits = (dst->flags ^ src->flags) & (LA_F_CONJ | LA_F_NEG);
    /* A conjugate only shows where a complex result keeps it. */
    bool conj = (bits & LA_F_CONJ) && la_is_complex(dst->dtype);
    la_sign_flip flip = {.re = (bits & LA_F_NEG) != 0};
    flip.im = flip.re != conj;
    if (!flip.re && !flip.im) return LA_OK;
    la_iter_config c = LA_ITER_CONFIG(LA_IT_BORROWED, 1, 0);
    c.operands[0] = dst;
    LA_ITER it;
    LA_TRY(la_iter_build(&it, &c));
    return la_iter_for_each(&it, (*LA_STUB(flip_sign))[dst->dtype], &flip,
                            LA_GRAIN);
}

/* The very same elements, read the same way. */
static bool is_same_data(const la_tensor *a, const la_tensor *b)
{
    uint32_t lazy = LA_F_CONJ | LA_F_NEG;
    return a == b || (a->storage == b->storage && a->storage
        && a->offset == b->offset && a->dtype == b->dtype && la_same_sizes(a, b)
        && memcmp(la_strides(a), la_strides(b), sizeof(int64_t) * a->ndim) == 0
        && ((a->flags ^ b->flags) & lazy) == 0);
}

/* LA_EARG for values from the meta device. */
static la_status copy_engine_check_devices(const la_tensor *dst,
                                           const la_tensor *src)
{
    if (src->device == LA_META && dst->device != LA_META)
        return la_error(LA_EARG, "Cannot copy out of meta tensor; no data!");
    return LA_OK;
}

/* Meta tensors get the checks alone. */
static la_status check_only(la_tensor *dst, la_tensor *src)
{
    la_iter_config c = copy_config(dst, src);
    LA_ITER it;
    return la_iter_build(&it, &c);
}

/* --- devices of the host's: by copies on the CPU --- */

/* Is every byte between t's first and last element one of its own? */
static bool is_dense(const la_tensor *t)
{
    return (t->flags & (LA_F_DENSE | LA_F_CONTIGUOUS)) != 0;
}

/* Both on one device, which copies by itself. */
static bool is_one_move(const la_tensor *dst, const la_tensor *src)
{
    uint32_t bits = (dst->flags ^ src->flags) & (LA_F_CONJ | LA_F_NEG);
    return dst->device == src->device && dst->dtype == src->dtype && !bits
        && is_dense(dst) && same_layout(dst, src)
        && dst->storage != src->storage && !dst->names && !src->names;
}

static la_status copy_remote(la_tensor *dst, la_tensor *src)
{
    LA_OWNED from = NULL;
    if (dst->device == LA_META) return check_only(dst, src);
    LA_TRY(la_tensor_check_bounds(dst));
    LA_TRY(la_tensor_check_bounds(src));
    if (is_one_move(dst, src)) return la_remote_move(dst, src);
    if (la_is_remote(src->device)) LA_TRY(la_remote_fetch(src, true, &from));
    else from = la_tensor_retain(src);
    if (!la_is_remote(dst->device)) return la_copy_data(dst, from);
    LA_LET(to, la_remote_fetch(dst, !is_dense(dst), &to));
    LA_TRY(la_copy_data(to, from));
    return la_remote_store(dst, to);
}

static la_status fill_remote(la_tensor *dst, const la_scalar *value)
{
    LA_LET(to, la_remote_fetch(dst, !is_dense(dst), &to));
    LA_TRY(la_fill_data(to, value));
    return la_remote_store(dst, to);
}

/* Elements or short rows of src go to several positions each: la_move has tiles
** for these. Long rows are copied in the order of the result. */
static bool is_repeated(const la_tensor *dst, const la_tensor *src)
{
    const int64_t longest = 128;
    int64_t row = (int64_t)la_itemsize(dst);
    bool again = false, dense = true;
    if (!la_same_sizes(dst, src) || !la_is_contiguous(dst)) return false;
    for (int d = src->ndim - 1; d >= 0; d--) {
        if (la_sizes(src)[d] == 1) continue;
        dense = dense && la_strides(src)[d] == la_strides(dst)[d];
        if (dense) row *= la_sizes(src)[d];
        if (la_strides(src)[d] == 0) again = true;
    }
    return again && row < longest;
}

/* Shortest way first: the same elements, one run of bytes, tiles for repeated
** elements, at last the iterator. Only the last one handles overlap and
** conversion; lazy signs are settled after each. */
la_status la_copy_data(la_tensor *dst, la_tensor *src)
{
    if (is_same_data(dst, src)) return LA_OK;
    LA_TRY(copy_engine_check_devices(dst, src));
    if (la_is_remote(dst->device) || la_is_remote(src->device))
        return copy_remote(dst, src);
    if (dst->device == LA_META) return check_only(dst, src);
    bool alike = dst->dtype == src->dtype && same_layout(dst, src);
    bool plain = dst->dtype == src->dtype && dst->storage != src->storage
              && !src->names;
    la_strided to, from;
    if (plain && alike) {
        LA_TRY(run_bytes(la_data(dst), la_data(src),
                         dst->numel * (int64_t)la_itemsize(dst)));
    } else if (plain && is_repeated(dst, src)) {
        to = la_strided_of(dst);
        from = la_strided_of(src);
        LA_TRY(la_move(&to, &from, dst->ndim, la_sizes(dst),
                       la_itemsize(dst)));
    }
    else
        LA_TRY(run_copy(dst, src));
    return settle_bits(dst, src);
}

/* --- fills --- */

/* PyTorch's fill: fractions are cut, what is out of range is refused. */
static la_status fill_element(const la_scalar *value, la_dtype dtype,
                              void *out)
{
    la_scalar v = *value;
    if (dtype == LA_BOOL) {
        la_scalar_cast(&v, dtype, out);
        return LA_OK;
    }
    if (la_is_integral(dtype) && v.kind == LA_KFLOAT && isfinite(v.re))
        v.re = trunc(v.re);
    return la_scalar_store(&v, dtype, out);
}

/* The refusals of a fill, without one. */
la_status la_fill_check(la_dtype dtype, const la_scalar *value)
{
    char element[16] __attribute__((aligned(16)));
    return fill_element(value, dtype, element);
}

/* Compares bytes, so that -0.0 does not count as zero: a memset would lose its
** sign. */
static bool all_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

/* A dense tensor that is larger than the caches, of 16-byte elements: a fill of
** smaller ones needs no streaming stores (kernel/move/copy.c). */
typedef struct stream {
    char *to;
    int64_t size;
    char pattern[64];
} stream;

static void stream_range(int64_t begin, int64_t end, void *context)
{
    const stream *s = context;
    char *data[1] = {s->to + begin * s->size};
    (*LA_STUB(stream_fill))(data, NULL, (end - begin) * s->size, 1, s->pattern);
}

/* The pattern is a cache line of elements; LA_EINTR or LA_OK. */
static la_status copy_engine_fill_past_caches(la_tensor *dst,
                                              const char *element)
{
    stream s = {.to = la_data(dst), .size = (int64_t)la_itemsize(dst)};
    for (int64_t k = 0; k < (int64_t)sizeof s.pattern; k += s.size)
        memcpy(s.pattern + k, element, (size_t)s.size);
    return la_iter_items(dst->numel, LA_GRAIN, POLL_BYTES / s.size,
                         stream_range, &s);
}

/* The value is negated or conjugated beforehand where dst's lazy bits will do
** so again at each reading. */
la_status la_fill_data(la_tensor *dst, const la_scalar *value)
{
    char element[16] __attribute__((aligned(16)));
    la_scalar v = *value;
    if (la_is_remote(dst->device)) return fill_remote(dst, value);
    if (dst->flags & LA_F_CONJ) v.im = -v.im;
    if (dst->flags & LA_F_NEG) {
        v.i = (int64_t)(0 - (uint64_t)v.i);
        v.re = -v.re;
        v.im = -v.im;
    }
    LA_TRY(fill_element(&v, dst->dtype, element));
    if (dst->device == LA_META || dst->numel == 0) return LA_OK;
    if ((dst->flags & LA_F_DENSE) && all_zero(element, la_itemsize(dst)))
        return la_zero_data(dst);
    if ((dst->flags & LA_F_DENSE) && la_itemsize(dst) == 16 && is_large(dst))
        return copy_engine_fill_past_caches(dst, element);
    la_loop loop = (*LA_STUB(fill))[la_size_slot(la_itemsize(dst))];
    if ((dst->flags & LA_F_DENSE) && dst->numel < LA_GRAIN) {
        char *data[1] = {la_data(dst)};
        int64_t strides[2] = {(int64_t)la_itemsize(dst), 0};
        loop(data, strides, dst->numel, 1, element);
        return LA_OK;
    }
    la_iter_config c = LA_ITER_CONFIG(LA_IT_BORROWED, 1, 0);
    c.operands[0] = dst;
    LA_ITER it;
    LA_TRY(la_iter_build(&it, &c));
    return la_iter_for_each(&it, loop, element, LA_GRAIN);
}

la_status la_zero_storage(la_storage *s)
{
    return s->data ? run_bytes(s->data, NULL, s->nbytes) : LA_OK;
}

/* dst is dense: its elements are one run of bytes, and all bits 0 is 0 in every
** dtype. */
la_status la_zero_data(la_tensor *dst)
{
    if (dst->device == LA_META) return LA_OK;
    return run_bytes(la_data(dst), NULL,
                     dst->numel * (int64_t)la_itemsize(dst));
}
