/*
** Tensor and storage.
**
** A storage is a block of bytes with a reference count; a tensor is a view of
** one: dtype, sizes, strides and an offset in elements. Several tensors share
** a storage. Headers of small tensors, their storage record and their data are
** one block from the free list (LA_INLINE_BYTES); the block lives until the
** storage's last reference goes.
**
** Ownership: parameters are borrowed; what comes back through an out-parameter
** is owned by the caller, who ends with la_tensor_release.
**
** Invariants, kept by la_tensor_set_geometry alone: numel is the product of
** the sizes; the layout flags describe sizes and strides; dims points to
** inline_dims while ndim <= LA_INLINE_DIMS.
*/
#ifndef LA_TENSOR_TENSOR_H
#define LA_TENSOR_TENSOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/runtime/context.h"
#include "base/runtime/device.h"
#include "base/dtype.h"
#include "base/scalar.h"
#include "base/runtime/token.h"
#include "base/status.h"

#define LA_MAX_DIMS 64
#define LA_INLINE_DIMS 5
#define LA_INLINE_BYTES 256
#define LA_MAX_NUMEL ((int64_t)1 << 48)
/* With sizes of 32 bits so little that areas 8 times as large have one, too. */
#if SIZE_MAX > UINT32_MAX
#define LA_MAX_BYTES ((int64_t)1 << 50)
#define LA_MAX_BYTES_TEXT "2^50"
#else
#define LA_MAX_BYTES ((int64_t)1 << 28)
#define LA_MAX_BYTES_TEXT "2^28"
#endif

/* Flags of a tensor. */
enum {
    LA_F_CONTIGUOUS = 1 << 0,       /* row-major without gaps */
    LA_F_CHANNELS_LAST = 1 << 1,    /* 4-D, NHWC order without gaps */
    LA_F_CHANNELS_LAST_3D = 1 << 2, /* 5-D, NDHWC */
    LA_F_DENSE = 1 << 3,            /* non-overlapping and dense, any order */
    LA_F_CONJ = 1 << 4,             /* read as the conjugate */
    LA_F_NEG = 1 << 5,              /* read as the negative */
    LA_F_WRAPPED = 1 << 7,          /* came from a number: a weak dtype */
    LA_F_REQUIRES_GRAD = 1 << 8,    /* leaf flag or has a grad_fn */
    LA_F_FIXED_GEOMETRY = 1 << 9,   /* detached: no metadata change */
    LA_F_INLINE_BLOCK = 1 << 10,    /* the header lies in a storage's block */
    LA_F_DEFERRED = 1 << 11,        /* of a batch, or of a chain: no storage */
    LA_F_NO_GRAD_VIEW = 1 << 12,    /* a view made while nothing was recorded */
    LA_F_MULTI_VIEW = 1 << 13,      /* a view that came with others in a list */
    LA_F_NO_HISTORY = 1 << 14,      /* a view that no gradient passes: bytes */
    LA_F_HOST = 1 << 15,            /* la_wrap's: its memory may be moved */
    LA_F_BATCHED = 1 << 16,         /* one element of the batch in 'base': no
                                    ** storage (src/vmap) */
    LA_F_CUSTOM_VIEW = 1 << 17,     /* a view that a custom function gave, or
                                    ** a view of that (la.Function) */
    LA_F_RECORDED = 1 << 18,        /* a recorder wants to hear of its end */
    LA_F_LAYOUT = LA_F_CONTIGUOUS | LA_F_CHANNELS_LAST
                | LA_F_CHANNELS_LAST_3D | LA_F_DENSE
};

/* Flags of a storage. */
enum {
    LA_S_READ_ONLY = 1 << 0,
    LA_S_FIXED = 1 << 1,    /* host memory or mapped: cannot be resized */
    LA_S_LOCKED = 1 << 2,   /* the host keeps a pointer: no resize for now */
    LA_S_INLINE = 1 << 3,   /* data follows the record in the same block */
    LA_S_NEW_ZERO = 1 << 5, /* was all zero when it was made (bit 4 is taken) */
    LA_S_COUNTER = 1 << 6,  /* is or was the counter of a tensor elsewhere */
    LA_S_MOVED = 1 << 7,    /* the host took the memory away (la_rebind) */
    LA_S_WATCHED = 1 << 9,  /* a snapshot wants its bytes before a write */
    LA_S_RECORDED = 1 << 10,    /* a recorder wants to hear of its end */
    LA_S_LENT = 1 << 11     /* others point at its bytes, which never move */
};

typedef struct la_storage la_storage;
typedef void (*la_release_fn)(void *context, void *data);

struct la_storage {
    _Atomic int32_t refs;
    uint32_t flags;
    char *data;             /* NULL when nbytes is 0 or not on the CPU */
    int64_t nbytes;         /* below 0: nobody may look, la_storage_hide */
    _Atomic uint32_t version;  /* counts in-place changes: la_tensor_version */
    uint8_t device;
    uint8_t owner;          /* the runtime whose memory this is */
    _Atomic bool exposed;   /* somebody has a pointer to write through */
    int64_t block_bytes;    /* what la_mem_free must be told */
    la_release_fn release;  /* NULL: la_mem_free */
    void *context;          /* of 'release'; with LA_S_WATCHED what snapshots
                            ** hold of it (tensor/snapshot.c); of a device its
                            ** block */
    _Atomic int32_t holders;   /* with LA_S_COUNTER: of the record without its
                            ** data; all 'refs' are one of them */
    uint32_t moved_at;      /* la_rebind made it: the version it began with */
    _Atomic uint32_t others;   /* writes by tensors that count elsewhere */
    uint32_t born;          /* la_storage_birth then; 0: host memory */
    la_token *payer;        /* whom its bytes are charged to; NULL: nobody */
};

typedef struct la_tensor la_tensor;
struct la_names;            /* tensor/names.h */
struct la_grad_meta;        /* src/grad; opaque here */

struct la_tensor {
    _Atomic int32_t refs;
    uint8_t dtype;          /* la_dtype */
    uint8_t ndim;
    uint8_t device;         /* la_device */
    uint8_t owner;          /* the runtime that it belongs to */
    uint32_t flags;
    uint32_t seen_version;  /* version when a view's history was last its root's
                            ** (src/grad) */
    int64_t numel;
    int64_t offset;         /* in elements from storage->data */
    la_storage *storage;    /* NULL: no storage yet */
    int64_t *dims;          /* sizes, then strides (in elements) */
    int64_t inline_dims[2 * LA_INLINE_DIMS];
    la_tensor *base;        /* a view's root, owned; NULL for a root */
    struct la_grad_meta *grad;   /* owned; freed by the hook below */
    struct la_names *names; /* NULL: unnamed */
    la_storage *counter;    /* held: the record whose version counts this
                            ** tensor's changes; NULL: its storage's */
    int64_t snapshots;      /* that hold it; guarded by tensor/snapshot.c */
};

static inline int64_t *la_sizes(const la_tensor *t) { return t->dims; }
static inline int64_t *la_strides(const la_tensor *t)
{
    return t->dims + t->ndim;
}
/* Do both have the same number of dims, sizes and strides? */
static inline bool la_same_geometry(const la_tensor *a, const la_tensor *b)
{
    return a->ndim == b->ndim
        && memcmp(a->dims, b->dims,
                  2 * sizeof *a->dims * (size_t)a->ndim) == 0;
}
static inline size_t la_itemsize(const la_tensor *t)
{
    return la_dtype_size((la_dtype)t->dtype);
}
/* LA_F_REQUIRES_GRAD when a gradient flows to 't', else 0. A view asks its
** root: another view may have been written since. */
static inline uint32_t la_grad_flag(const la_tensor *t)
{
    bool asks = t->base && !(t->flags & LA_F_NO_HISTORY);
    return (t->flags | (asks ? t->base->flags : 0)) & LA_F_REQUIRES_GRAD;
}
static inline bool la_is_contiguous(const la_tensor *t)
{
    return (t->flags & LA_F_CONTIGUOUS) != 0;
}
/* Is the memory a block of a device of the host's (base/runtime/device.h),
** which la_storage_remote gives? Only its hooks know what that points at; NULL
** when there are no bytes. */
static inline bool la_is_remote(uint8_t device)
{
    return device >= LA_DEVICE_EXT;
}
static inline void *la_storage_remote(const la_storage *s)
{
    return s->context;
}
/* The first element; NULL when there is no data: on any device but the CPU, of
** no elements. Nobody asks a deferred tensor, which la_tensor_check_bounds
** refuses: the debug build stops here. */
static inline char *la_data(const la_tensor *t)
{
    la_assert(t->storage || !(t->flags & LA_F_DEFERRED));
    char *data = t->storage ? t->storage->data : NULL;
    return data ? data + t->offset * (int64_t)la_itemsize(t) : NULL;
}

/* --- counting --- */

static inline void la_take_ref(_Atomic int32_t *refs)
{
    la_assert(atomic_load_explicit(refs, memory_order_relaxed) > 0);
    if (!la_alone()) {
        atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
        return;
    }
    int32_t n = atomic_load_explicit(refs, memory_order_relaxed);
    atomic_store_explicit(refs, n + 1, memory_order_relaxed);
}

/* Give back one reference; true when it was the last. The plain read first
** spares the locked instruction for the sole owner, who cannot race. */
static inline bool la_drop_ref(_Atomic int32_t *refs)
{
    int32_t n = atomic_load_explicit(refs, memory_order_acquire);
    la_assert(n > 0);
    if (n == 1)
        return true;
    if (!la_alone())
        return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
    atomic_store_explicit(refs, n - 1, memory_order_relaxed);
    return false;
}

/* --- life --- */

/* Is the thread in another runtime than the one whose memory this is? */
static inline bool la_is_elsewhere(uint8_t owner)
{
    return __builtin_expect(la_owner_serial[owner] != la_here.serial, 0);
}

static inline la_tensor *la_tensor_retain(la_tensor *t)
{
    la_take_ref(&t->refs);
    return t;
}
/* NULL is allowed. Never recurses over views or graphs. */
void la_tensor_release(la_tensor *t);
static inline void la_tensor_drop(la_tensor **slot)
{
    if (*slot) la_tensor_release(*slot);
    *slot = NULL;
}
/* A local that is released when its scope ends. */
#define LA_OWNED __attribute__((cleanup(la_tensor_drop))) la_tensor *
/* An owned local that 'call' makes; its failure is returned:
** LA_LET(sum, la_run(add, &sum, a, b)); at the level of a function's body. */
#define LA_LET(local, call) LA_OWNED local = NULL; LA_TRY(call)
/* *to becomes another reference to 't'. Returns LA_OK. */
static inline la_status la_tensor_same(la_tensor *t, la_tensor **to)
{
    *to = la_tensor_retain(t);
    return LA_OK;
}
/* The reference moves from an owned local to *to. Returns LA_OK. */
static inline la_status la_tensor_hand(la_tensor **from, la_tensor **to)
{
    *to = *from;
    *from = NULL;
    return LA_OK;
}

/* LA_ESTATE: an element of a batch has no elements to read or to share. */
la_status la_refuse_batched(void);
/* Mark of storages that this thread makes: a recording of a program tells its
** own by it; 0 outside of one. */
extern _Thread_local uint32_t la_storage_birth;
/* src/program sets this once: a storage with LA_S_RECORDED ends. */
extern void (*la_storage_ends)(const la_storage *s);
/* ... a tensor with LA_F_RECORDED. */
extern void (*la_tensor_ends)(const la_tensor *t);
/* src/grad sets this once: frees a dying tensor's grad_meta. */
extern void (*la_grad_meta_free)(struct la_grad_meta *);

/* --- making; all set *out only on LA_OK. Uninitialised unless said. --- */

/* Contiguous on the CPU. LA_ESHAPE "size overflow" before any allocation. */
la_status la_tensor_empty(int ndim, const int64_t *sizes, la_dtype,
                          la_tensor **out);
/* 'strides' NULL: contiguous. Strides must not be negative. */
la_status la_tensor_empty_on(la_device, int ndim, const int64_t *sizes,
                             const int64_t *strides, la_dtype, la_tensor **out);
/* 0-dim with the value of 's', flagged as wrapped; bool, int64, float64 or
** complex128, which la_result_type_add weighs as the default dtype. */
la_status la_tensor_from_scalar(const la_scalar *s, la_tensor **out);
/* Converts a result of la_tensor_from_scalar to the default dtype: *number is
** replaced where it holds a float or complex number of another one. */
la_status la_number_to_default(la_tensor **number);
/* A header like that of 'like' (dtype, geometry, names, bits) without storage,
** to be shown some: for whoever runs the same calls again on other memory. */
la_status la_tensor_form(const la_tensor *like, la_tensor **out);
/* Lets such a header show 's' from 'offset' on, where all of it is inside;
** NULL: nothing. Counts its reference. */
void la_tensor_show(la_tensor *t, la_storage *s, int64_t offset);
/* ... and counts its writes as 'like' does; NULL: by its storage. */
void la_tensor_count_as(la_tensor *t, const la_tensor *like);
/* On the CPU, flagged LA_F_DEFERRED: geometry and dtype without storage, for a
** header that is never filled: an element of a batch, or a step of a chain.
** 'strides' must be those of a dense tensor. */
la_status la_tensor_deferred(int ndim, const int64_t *sizes,
                             const int64_t *strides, la_dtype, la_tensor **out);
/* Share 'base's storage with a geometry of its own. Bounds are checked against
** the storage. Bits (conj, neg) are inherited; records base's root as root. */
la_status la_tensor_view(la_tensor *base, int ndim, const int64_t *sizes,
                         const int64_t *strides, int64_t offset,
                         la_tensor **out);
/* la_tensor_view, reading the bytes as another dtype; 'offset' and the strides
** are in elements of that dtype. */
la_status la_tensor_view_as(la_tensor *base, la_dtype, int ndim,
                            const int64_t *sizes, const int64_t *strides,
                            int64_t offset, la_tensor **out);
/* Same storage and geometry, no grad, names kept. 'fixed' forbids metadata
** changes afterwards (what detach does). root is not recorded. */
la_status la_tensor_alias(la_tensor *src, bool fixed, la_tensor **out);
/* Host memory: strides in elements may be NULL; 'release' runs exactly once,
** also when this fails. */
la_status la_tensor_wrap(void *data, la_dtype, int ndim, const int64_t *sizes,
                         const int64_t *strides, la_release_fn release,
                         void *context, la_tensor **out);
/* A tensor of its own (no view) on a part of 's', which it takes a reference
** of. 'offset' and the strides are in elements; all of it is inside. */
la_status la_tensor_on(la_storage *s, la_dtype, int ndim, const int64_t *sizes,
                       const int64_t *strides, int64_t offset,
                       la_tensor **out);

/* --- geometry --- */

/* The only function that writes sizes, strides, numel and layout flags. strides
** NULL: contiguous; an entry -1 is the next dim's stride times its size.
** Allocates only for more than LA_INLINE_DIMS dims; on failure nothing
** changes. LA_ESHAPE on overflow, negative sizes, more than 64 dims. Does not
** look at the storage: see la_tensor_check_bounds. */
la_status la_tensor_set_geometry(la_tensor *t, int ndim, const int64_t *sizes,
                                 const int64_t *strides);
/* LA_ESHAPE unless every element lies inside the storage; LA_ESTATE where the
** host has taken its memory away, or where it is deferred. */
la_status la_tensor_check_bounds(const la_tensor *t);
/* Checks the extent before there is a tensor. */
la_status la_extent_check(int ndim, const int64_t *sizes,
                          const int64_t *strides, int64_t offset,
                          int64_t itemsize, int64_t nbytes);

typedef enum la_memory_format {
    LA_PRESERVE, LA_FORMAT_CONTIGUOUS, LA_FORMAT_CHANNELS_LAST,
    LA_FORMAT_CHANNELS_LAST_3D
} la_memory_format;
bool la_tensor_is_format(const la_tensor *t, la_memory_format f);
/* Strides of a dense tensor of these sizes in the format; -3d for 5 dims when
** CHANNELS_LAST is asked. LA_ESHAPE when the rank does not fit. */
la_status la_format_strides(la_memory_format, int ndim, const int64_t *sizes,
                            int64_t *strides);
/* The format that the strides look like (gaps allowed); CONTIGUOUS where sizes
** of 1 leave it open. What PyTorch calls suggest_memory_format. */
la_memory_format la_suggest_format(const la_tensor *t);
/* Strides for a dense copy of 't' that keep its order of dims where it is
** non-overlapping and dense (PyTorch's preserve rule). */
void la_preserve_strides(const la_tensor *t, int64_t *strides);

/* resize_: keeps the storage while it is large enough, grows it otherwise
** (contents kept), never shrinks it. LA_ESTATE for fixed or locked storage;
** nothing changes on failure. */
la_status la_tensor_resize(la_tensor *t, int ndim, const int64_t *sizes);
la_status la_storage_resize(la_storage *s, int64_t nbytes);
/* LA_ESTATE for a detached tensor, which must go on sharing the memory of the
** tensor that it was made of. */
la_status la_tensor_check_not_fixed(const la_tensor *t);
/* Point 't' at src's storage, geometry, dtype and bits (set_, set_data). Its
** versions go on where they were. Does not ask whether it is detached. */
la_status la_tensor_set(la_tensor *t, const la_tensor *src);

/* --- storage --- */
la_status la_storage_new(int64_t nbytes, la_device, la_storage **out);
static inline la_storage *la_storage_retain(la_storage *s)
{
    la_take_ref(&s->refs);
    return s;
}
void la_storage_release(la_storage *s);
/* A hidden storage has less than no bytes, so that whoever asks whether a
** tensor is inside of it comes to la_tensor_check_bounds, which knows why. */
static inline void la_storage_hide(la_storage *s)
{
    if (s->nbytes >= 0) s->nbytes = ~s->nbytes;
}
/* Its size for users and for the pacing of the collector. */
static inline int64_t la_storage_bytes(const la_storage *s)
{
    return s->nbytes >= 0 ? s->nbytes : s->flags & LA_S_MOVED ? 0 : ~s->nbytes;
}

/* How often 't' was changed in place: what a graph saved is compared with it.
** Tensors that were made of one another (views, detach, alias) count together,
** by the record of their storage. set_ and set_data give a tensor other memory
** but leave it its count (la_tensor_set), as in PyTorch: it goes on counting
** with its views by the record that it had, and not with the tensor whose
** memory it now shares. Its writes are counted there apart. */
static inline la_storage *la_counter(const la_tensor *t)
{
    return t->counter ? t->counter : t->storage;
}
static inline uint32_t la_tensor_version(const la_tensor *t)
{
    const la_storage *s = la_counter(t);
    return s ? atomic_load_explicit(&s->version, memory_order_relaxed) : 0;
}
/* Counts writes to the memory of 't' by tensors that count elsewhere, which
** la_tensor_version leaves out. Equal to what it was when there was none. */
static inline uint32_t la_other_writes(const la_tensor *t)
{
    const la_storage *s = t->storage;
    if (!s) return 0;
    uint32_t n = atomic_load_explicit(&s->others, memory_order_relaxed);
    return t->counter
        ? n + atomic_load_explicit(&s->version, memory_order_relaxed) : n;
}
static inline void la_count_write(_Atomic uint32_t *count)
{
    if (!la_alone()) {
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
        return;
    }
    uint32_t v = atomic_load_explicit(count, memory_order_relaxed);
    atomic_store_explicit(count, v + 1, memory_order_relaxed);
}
static inline void la_bump_version(la_tensor *t)
{
    la_storage *s = la_counter(t);
    if (s) la_count_write(&s->version);
    if (t->counter && t->storage) la_count_write(&t->storage->others);
}
/* 't' is written next: its snapshots get what they want of it before that.
** LA_ESTATE when it must not be, because it is read-only; LA_ENOMEM. */
la_status la_tensor_check_writable(const la_tensor *t);
/* Somebody gets a pointer to write to 's' through: snapshots of it are
** completed now, and those to come are copies. LA_ENOMEM. */
la_status la_storage_expose(la_storage *s);

/* --- overlap (PyTorch's MemoryOverlap) --- */
typedef enum la_overlap {
    LA_OVERLAP_NO, LA_OVERLAP_YES, LA_OVERLAP_FULL, LA_OVERLAP_PARTIAL,
    LA_OVERLAP_TOO_HARD
} la_overlap;
/* Does 't' reach one element of its storage twice? NO, YES or TOO_HARD. */
la_overlap la_internal_overlap(const la_tensor *t);
/* NO, FULL (same elements, same order), PARTIAL or TOO_HARD. */
la_overlap la_pair_overlap(const la_tensor *a, const la_tensor *b);
/* ... of two geometries on one memory, b's first element so many bytes behind
** that of a. */
la_overlap la_distance_overlap(const la_tensor *a, const la_tensor *b,
                               int64_t distance);

#endif
