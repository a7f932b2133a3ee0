/*
** Inside of src/tensor: how records of storages, headers and blocks lie in
** memory. Others use tensor.h.
*/
#ifndef LA_TENSOR_STORAGE_H
#define LA_TENSOR_STORAGE_H

#include "base/runtime/context.h"
#include "base/runtime/token.h"
#include "tensor/tensor.h"

/* A tensor's header lies right before this record, in the same block. */
enum { LA_S_HEADED = 1 << 4 };

/* Offsets of the parts of a combined block: header, record, data on a cache
** line of its own. */
enum {
    LA_HEAD_BYTES = (sizeof(la_tensor) + 15) / 16 * 16,
    LA_COMBINED_DATA = (LA_HEAD_BYTES + sizeof(la_storage) + 63) / 64 * 64
};

static inline void *la_storage_block(la_storage *s)
{
    return s->flags & LA_S_HEADED ? (char *)s - LA_HEAD_BYTES : (char *)s;
}

/* The storage whose block a tensor with LA_F_INLINE_BLOCK lies in; the tensor
** holds a reference to it for life, whatever storage it points to later. */
static inline la_storage *la_headed_storage(const la_tensor *t)
{
    return (la_storage *)((char *)t + LA_HEAD_BYTES);
}

/* A record with one reference and no data. */
static inline void la_storage_init(la_storage *s, la_device device,
                                   int64_t nbytes)
{
    atomic_init(&s->refs, 1);
    s->flags = 0;
    s->data = NULL;
    s->nbytes = nbytes;
    atomic_init(&s->version, 0);
    s->device = (uint8_t)device;
    s->owner = la_here.owner;
    atomic_init(&s->exposed, false);
    s->block_bytes = sizeof(la_storage);
    s->release = NULL;
    s->context = NULL;
    atomic_init(&s->holders, 0);
    s->moved_at = 0;
    atomic_init(&s->others, 0);
    s->born = la_storage_birth;
    s->payer = NULL;
}

/* Charge the blocks of 's', of so many bytes, to the state that makes it, until
** la_storage_unpay. They are blocks of la_mem_take: a record knows who pays. */

static inline la_status la_storage_pay(la_storage *s, size_t bytes)
{
    la_token *k = la_ctx()->token;
    return la_token_pay(k, &k->tensors, bytes, &s->payer);
}

static inline void la_storage_unpay(const la_storage *s, size_t bytes)
{
    la_token *k = s->payer;
    if (k) la_token_unpay(k, &k->tensors, bytes);
}
/* Charge for a storage: its block, and data that has one of its own and is not
** the host's. */
static inline size_t la_storage_price_at(const la_storage *s, int64_t nbytes)
{
    size_t block = la_token_price((size_t)s->block_bytes);
    return nbytes ? block + la_token_price((size_t)nbytes) : block;
}
static inline size_t la_storage_price(const la_storage *s)
{
    bool alone = (s->flags & LA_S_INLINE) || s->release
        || s->device == LA_META;
    return la_storage_price_at(s, alone ? 0 : s->nbytes);
}
void la_storage_destroy(la_storage *s);

/* With LA_S_WATCHED: before a write, and at the storage's end (snapshot.c). */
la_status la_storage_before_write(la_storage *s);
void la_storage_unwatch(la_storage *s);

/* Keep the record of 's', whose references are held, for its version alone: it
** outlives its data until la_storage_let_go. */
void la_storage_hold(la_storage *s);
void la_storage_let_go(la_storage *s);

/* Take over 's' as the storage of 't' and let go of the one before. */
void la_tensor_adopt(la_tensor *t, la_storage *s);

/* A geometry that is checked and has its memory, not yet in the tensor: so
** that a function can do what may fail first. */
typedef struct la_plan {
    int ndim;
    uint32_t flags;
    int64_t numel;
    int64_t *block;      /* for more than LA_INLINE_DIMS dims, else NULL */
    int64_t dims[2 * LA_MAX_DIMS];
} la_plan;

la_status la_plan_make(la_plan *p, int ndim, const int64_t *sizes,
                       const int64_t *strides);
void la_plan_commit(la_plan *p, la_tensor *t);
void la_plan_drop(la_plan *p);

/* Layout flags of sizes and strides. */
uint32_t la_layout_flags(int ndim, const int64_t *sizes,
                         const int64_t *strides, int64_t numel);

static inline size_t la_dims_bytes(int ndim)
{
    return (size_t)ndim * 2 * sizeof(int64_t);
}

#endif
