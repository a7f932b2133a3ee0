/*
** Storage: counted blocks of bytes, what tensors are views of.
**
** A record lies in one of three ways: alone (block_bytes is its own size),
** with its data behind it (LA_S_INLINE), or behind the header of the tensor
** that it was made for (LA_S_HEADED). Data that is not inline is a block of
** its own, of exactly nbytes, or the host's (release is set). On a device of
** the host's data is NULL, so that nobody reads it: its block is opaque, and
** la_device_* of base/runtime/device.h move bytes. A record that
** counts the changes of a tensor that lies elsewhere by now (LA_S_COUNTER) may
** outlive its data.
*/
#include "tensor/storage.h"

#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/host_call.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "base/runtime/thread_pool.h"
#include "base/runtime/token.h"
#include "lunarray.h"

static const char too_big[] = "size overflow: %lld bytes asked, the most is "
                              LA_MAX_BYTES_TEXT;

_Thread_local uint32_t la_storage_birth;
void (*la_storage_ends)(const la_storage *s);

static void data_free(la_storage *s)
{
    if (la_is_remote(s->device))
        la_device_free(s->device, la_storage_remote(s), s->nbytes);
    else if (s->release)
        la_host_release(s->release, s->context, s->data);
    else if (s->data && !(s->flags & LA_S_INLINE))
        la_mem_give(s->data, (size_t)s->nbytes);
}

/* Data in the same block goes with the record. */
void la_storage_destroy(la_storage *s)
{
    if (la_is_elsewhere(s->owner)) {
        la_position before = la_move_to_owner(s->owner);
        la_storage_destroy(s);
        la_move_back(&before);
        return;
    }
    if (s->flags & LA_S_WATCHED) la_storage_unwatch(s);
    if (s->flags & LA_S_RECORDED) la_storage_ends(s);
    la_storage_unpay(s, la_storage_price(s));
    data_free(s);
    if (s->flags & LA_S_COUNTER) la_storage_let_go(s);
    else la_mem_give(la_storage_block(s), (size_t)s->block_bytes);
}

void la_storage_hold(la_storage *s)
{
    if (!(s->flags & LA_S_COUNTER)) {
        atomic_store_explicit(&s->holders, 1, memory_order_relaxed);
        s->flags |= LA_S_COUNTER;
    }
    la_take_ref(&s->holders);
}

void la_storage_let_go(la_storage *s)
{
    if (!la_drop_ref(&s->holders)) return;
    la_position before = la_move_to_owner(s->owner);
    la_mem_give(la_storage_block(s), (size_t)s->block_bytes);
    la_move_back(&before);
}

void la_storage_release(la_storage *s)
{
    if (la_drop_ref(&s->refs))
        la_storage_destroy(s);
}

/* Memory of a device of the host's; in a sandbox, too, it holds zeros. */
static la_status remote_new(la_device d, int64_t nbytes, int64_t kept,
                            void **block)
{
    *block = NULL;
    if (nbytes == 0) return LA_OK;
    LA_TRY(la_device_alloc(d, nbytes, block));
    if (!la_ctx()->zero_memory || nbytes <= kept) return LA_OK;
    la_status status = la_device_clear(d, *block, kept, nbytes - kept);
    if (status) la_device_free(d, *block, nbytes);
    return status;
}

static la_status data_new(la_storage *s)
{
    bool zero;
    if (s->nbytes == 0 || s->device == LA_META) return LA_OK;
    if (la_is_remote(s->device))
        return remote_new(s->device, s->nbytes, 0, &s->context);
    s->data = la_mem_take_tell((size_t)s->nbytes, &zero);
    if (!s->data) return LA_ENOMEM;
    if (zero) s->flags |= LA_S_NEW_ZERO;
    return LA_OK;
}

la_status la_storage_new(int64_t nbytes, la_device device, la_storage **out)
{
    if (nbytes < 0 || nbytes > LA_MAX_BYTES)
        return la_error(LA_ESHAPE, too_big, (long long)nbytes);
    la_storage *s = la_mem_take(sizeof *s);
    if (!s)
        return LA_ENOMEM;
    la_storage_init(s, device, nbytes);
    if (la_storage_pay(s, la_storage_price(s))) {
        la_mem_give(s, sizeof *s);
        return LA_ENOMEM;
    }
    la_status status = data_new(s);
    if (status) {
        la_storage_unpay(s, la_storage_price(s));
        la_mem_give(s, sizeof *s);
        return status;
    }
    *out = s;
    return LA_OK;
}

static la_status move_remote(la_storage *s, int64_t nbytes)
{
    la_device d = s->device;
    int64_t kept = nbytes < s->nbytes ? nbytes : s->nbytes;
    void *fresh;
    LA_TRY(remote_new(d, nbytes, kept, &fresh));
    la_status status = la_device_move(d, fresh, 0, la_storage_remote(s), 0,
                                      kept);
    if (status) {
        la_device_free(d, fresh, nbytes);
        return status;
    }
    data_free(s);
    s->context = fresh;
    return LA_OK;
}

/* n bytes, zeros where 'from' is NULL. Asks now and then whether to stop: LA_OK
** or why. */
static la_status move_pieces(char *to, const char *from, int64_t n)
{
    const int64_t piece = (int64_t)1 << 24;
    int64_t i = 0;
    for (int64_t end; (end = la_poll_part(i, n, piece)) > i; i = end) {
        if (from) memcpy(to + i, from + i, (size_t)(end - i));
        else memset(to + i, 0, (size_t)(end - i));
    }
    return i < n ? la_poll() : LA_OK;
}

/* Move what fits into a block of its own and let go of the old data. Whoever
** makes it larger pays for it from then on. */
static la_status move_data(la_storage *s, int64_t nbytes)
{
    char *fresh = NULL;
    if (la_is_remote(s->device)) return move_remote(s, nbytes);
    if (nbytes > 0) {
        fresh = la_mem_take((size_t)nbytes);
        if (!fresh)
            return LA_ENOMEM;
    }
    int64_t kept = nbytes < s->nbytes ? nbytes : s->nbytes;
    la_status status = s->data ? move_pieces(fresh, s->data, kept) : LA_OK;
    if (!status && la_ctx()->zero_memory && nbytes > kept)
        status = move_pieces(fresh + kept, NULL, nbytes - kept);
    if (status) {
        la_mem_give(fresh, (size_t)nbytes);
        return status;
    }
    data_free(s);
    s->flags &= ~(uint32_t)LA_S_INLINE;
    s->data = fresh;
    return LA_OK;
}

/* Data that the host or a mapping owns cannot move; a view's bytes are kept as
** far as they fit. */
la_status la_storage_resize(la_storage *s, int64_t nbytes)
{
    if (s->flags & (LA_S_FIXED | LA_S_LOCKED | LA_S_LENT) || s->release)
        return la_error(LA_ESTATE, "Trying to resize storage that is not "
                        "resizable (it belongs to the host, is mapped, "
                        "lent or locked)");
    if (nbytes < 0 || nbytes > LA_MAX_BYTES)
        return la_error(LA_ESHAPE, too_big, (long long)nbytes);
    if (nbytes == s->nbytes)
        return LA_OK;
    if (s->device == LA_META) {
        s->nbytes = nbytes;
        return LA_OK;
    }
    if (s->flags & LA_S_WATCHED) LA_TRY(la_storage_before_write(s));
    size_t before = la_storage_price(s);
    size_t after = la_storage_price_at(s, nbytes);
    la_storage old = {.payer = s->payer};
    s->payer = NULL;
    la_status status = la_storage_pay(s, after);
    if (!status) {
        status = move_data(s, nbytes);
        if (status) la_storage_unpay(s, after);
    }
    if (status) {
        s->payer = old.payer;
        return status;
    }
    s->nbytes = nbytes;
    la_storage_unpay(&old, before);
    return LA_OK;
}
