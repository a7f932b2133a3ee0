/*
** Snapshots by copy on write; see snapshot.h.
**
** One lock guards the link between a storage and its image, and the count of
** snapshots in a tensor: views of one storage may be written on two threads,
** and a snapshot may be released on any. No memory is asked for or given back
** while it is held, as a host's allocator may come back.
**
** All memory is of the runtime that the tensors belong to, and whoever calls is
** in it. Copies are charged as tensors are: to the state that writes.
*/
#include "tensor/snapshot.h"

#include <string.h>

#include "base/lock.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "tensor/storage.h"

/* Bytes that were copied away. */
typedef struct copy {
    char *data;             /* NULL: none */
    int64_t bytes;
} copy;

/* Bytes first..last-1 of a storage. */
typedef struct la_image {
    _Atomic int32_t refs;   /* of entries, and of the storage it is linked to */
    int32_t users;          /* of entries alone; under the lock */
    int64_t first, last;
    copy copy;              /* without: those that the storage has */
} image;

/* A tensor and what it was like. */
typedef struct entry {
    la_tensor *t;           /* NULL: not set yet */
    la_storage *storage;    /* held; NULL where there is none */
    image *image;           /* NULL: no bytes */
    int64_t *dims;          /* sizes, strides */
    int64_t offset;
    int64_t first, last;    /* its bytes of the storage */
    uint32_t flags;         /* lazy bits */
    uint8_t dtype, ndim;
    bool packed;            /* its image has its elements alone, row by row */
} entry;

struct la_snapshot {
    int64_t n;
    int64_t lent;           /* so many of the list's first are others'; the
                            ** rest nobody else holds */
    uint8_t owner;          /* the runtime */
    int generators;
    la_snapshot_generator *noted;       /* owned */
    entry list[];
};

enum { LAZY = LA_F_CONJ | LA_F_NEG };

static la_lock lock = LA_LOCK_INIT;
static bool survives_forks;     /* under the lock */

static void take_lock(void) { la_lock_take(&lock); }
static void drop_lock(void) { la_lock_drop(&lock); }

static void survive_forks(void)
{
    take_lock();
    bool first = !survives_forks;
    survives_forks = true;
    drop_lock();
    if (first) la_lock_at_fork(take_lock, drop_lock);
}

/* ---- images ---- */

static la_status snapshot_new_copy(int64_t bytes, copy *out)
{
    char *data = la_mem_alloc((size_t)bytes);
    if (!data) return LA_ENOMEM;
    *out = (copy){data, bytes};
    return LA_OK;
}

static void free_copy(copy *c)
{
    la_mem_free(c->data, (size_t)c->bytes);
}

static void release_image(image *m)
{
    if (atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) > 1)
        return;
    free_copy(&m->copy);
    la_mem_free(m, sizeof *m);
}

/* The lock is held; the caller gets the storage's reference. Who writes another
** part of the storage asks without the lock: what was read for the copy was
** read before the mark went. */
static image *unlink_image(la_storage *s)
{
    image *m = s->context;
    s->context = NULL;
    __atomic_fetch_and(&s->flags, ~(uint32_t)LA_S_WATCHED, __ATOMIC_RELEASE);
    return m;
}

void la_storage_unwatch(la_storage *s)
{
    take_lock();
    image *m = s->flags & LA_S_WATCHED ? unlink_image(s) : NULL;
    drop_lock();
    if (m) release_image(m);
}

/* The image with one reference more and how many bytes it wants: none when
** nobody uses it. NULL when the storage is not watched any more. */
static image *hold_image(la_storage *s, int64_t *bytes)
{
    take_lock();
    image *m = s->flags & LA_S_WATCHED ? s->context : NULL;
    *bytes = m && m->users > 0 ? m->last - m->first : 0;
    if (m) atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    drop_lock();
    return m;
}

/* So many bytes are copied to 'fresh', which the image gets, unless another
** thread has done so: then that is left alone. LA_OK; LA_ESTATE where the image
** wants more by now. */
static la_status snapshot_complete(la_storage *s, image *m, int64_t bytes,
                                   copy *fresh)
{
    image *linked = NULL;
    take_lock();
    bool watched = (s->flags & LA_S_WATCHED) && s->context == m;
    bool more = watched && m->users > 0 && m->last - m->first != bytes;
    if (watched && !more) {
        if (fresh->data)
            memcpy(fresh->data, s->data + m->first, (size_t)bytes);
        m->copy = *fresh;
        fresh->data = NULL;
        linked = unlink_image(s);
    }
    drop_lock();
    if (linked) release_image(linked);
    return more ? LA_ESTATE : LA_OK;
}

/* Memory for the bytes is had while the lock is not held. */
la_status la_storage_before_write(la_storage *s)
{
    la_status status = LA_ESTATE;
    while (status == LA_ESTATE) {
        int64_t bytes;
        image *m = hold_image(s, &bytes);
        if (!m) return LA_OK;
        copy fresh = {.data = NULL};
        status = bytes > 0 ? snapshot_new_copy(bytes, &fresh) : LA_OK;
        if (!status) status = snapshot_complete(s, m, bytes, &fresh);
        free_copy(&fresh);
        release_image(m);
    }
    return status;
}

la_status la_storage_expose(la_storage *s)
{
    if (atomic_load_explicit(&s->exposed, memory_order_relaxed)) return LA_OK;
    if (s->flags & LA_S_WATCHED) LA_TRY(la_storage_before_write(s));
    atomic_store_explicit(&s->exposed, true, memory_order_relaxed);
    return LA_OK;
}

/* May bytes change without la_tensor_check_writable? */
static bool is_exposed(const la_storage *s)
{
    return s->release || (s->flags & (LA_S_FIXED | LA_S_LOCKED))
        || atomic_load_explicit(&s->exposed, memory_order_relaxed);
}

/* One more entry for the image that the storage is linked to, of which 'e' may
** want more. False when there is none. */
static bool join_image(entry *e)
{
    la_storage *s = e->storage;
    take_lock();
    image *m = s->flags & LA_S_WATCHED ? s->context : NULL;
    if (m) {
        bool unused = m->users++ == 0;
        if (unused || e->first < m->first) m->first = e->first;
        if (unused || e->last > m->last) m->last = e->last;
        atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    }
    drop_lock();
    e->image = m;
    return m != NULL;
}

/* Bytes without gaps that the dims from *k on take; *k is as small as may be,
** but not below d. */
static int64_t find_run(const entry *e, int d, int *k)
{
    int64_t item = (int64_t)la_dtype_size((la_dtype)e->dtype), run = item;
    for (*k = e->ndim; *k > d; --*k) {
        int64_t n = e->dims[*k - 1];
        if (n != 1 && e->dims[e->ndim + *k - 1] * item != run) break;
        run *= n;
    }
    return run;
}

enum way { PACK, UNPACK, COMPARE };

/* n runs of bytes, 'step' apart at 'at' and without gaps in 'packed'. False
** where COMPARE finds others. With a constant 'run' it is a loop of moves. */
static inline bool move_runs(char *at, int64_t step, char *packed, int64_t n,
                             size_t run, enum way way)
{
    bool same = true;
    for (int64_t i = 0; i < n; i++, at += step, packed += run) {
        if (way == PACK) memcpy(packed, at, run);
        else if (way == UNPACK) memcpy(at, packed, run);
        else same = same && memcmp(at, packed, run) == 0;
    }
    return same;
}

/* Elements of the dims from d on, between 'at' in the storage and *packed,
** which goes on behind them. */
static bool move_dims(const entry *e, int d, char *at, char **packed,
                      enum way way)
{
    int k;
    int64_t run = find_run(e, d, &k), n = k > d ? e->dims[d] : 1;
    int64_t item = (int64_t)la_dtype_size((la_dtype)e->dtype);
    int64_t step = k > d ? e->dims[e->ndim + d] * item : 0;
    bool same = true;
    if (k > d + 1) {
        for (int64_t i = 0; i < n && same; i++)
            same = move_dims(e, d + 1, at + i * step, packed, way);
        return same;
    }
    if (run == 4) same = move_runs(at, step, *packed, n, 4, way);
    else if (run == 8) same = move_runs(at, step, *packed, n, 8, way);
    else if (run == 12) same = move_runs(at, step, *packed, n, 12, way);
    else same = move_runs(at, step, *packed, n, (size_t)run, way);
    *packed += n * run;
    return same;
}

/* A copy of the bytes of 'e' as they are now: without those between its
** elements where there are any, as in a field of structs. */
static la_status copy_now(entry *e, image *m)
{
    char *from = e->storage->data + e->first;
    int64_t bytes = e->t->numel * (int64_t)la_dtype_size((la_dtype)e->dtype);
    e->packed = bytes < e->last - e->first;
    LA_TRY(snapshot_new_copy(e->packed ? bytes : e->last - e->first, &m->copy));
    char *to = m->copy.data;
    if (e->packed) move_dims(e, 0, from, &to, PACK);
    else memcpy(to, from, (size_t)m->copy.bytes);
    return LA_OK;
}

/* A new image for 'e': linked to the storage, or with a copy of its own. */
static la_status snapshot_new_image(entry *e)
{
    la_storage *s = e->storage;
    bool copied = is_exposed(s);
    image *m = la_mem_alloc(sizeof *m);
    if (!m) return LA_ENOMEM;
    *m = (image){.users = 1, .first = e->first, .last = e->last};
    atomic_init(&m->refs, copied ? 1 : 2);
    if (copied) {
        la_status status = copy_now(e, m);
        if (status) {
            la_mem_free(m, sizeof *m);
            return status;
        }
    } else {
        take_lock();
        s->context = m;
        s->flags |= LA_S_WATCHED;
        drop_lock();
    }
    e->image = m;
    return LA_OK;
}

/* ---- entries ---- */

/* Span from the first byte to behind the last. The tensor is inside its
** storage. */
static void find_span(entry *e)
{
    int64_t item = (int64_t)la_dtype_size((la_dtype)e->dtype);
    int64_t last = e->offset;
    for (int d = 0; d < e->ndim; d++)
        last += (e->dims[d] - 1) * e->dims[e->ndim + d];
    e->first = e->offset * item;
    e->last = (last + 1) * item;
}

/* How many snapshots hold 't'. */
static void count_holder(la_tensor *t, int step)
{
    take_lock();
    t->snapshots += step;
    drop_lock();
}

/* Nobody but snapshots holds it. */
static bool is_freed(la_tensor *t)
{
    take_lock();
    bool freed =
        atomic_load_explicit(&t->refs, memory_order_acquire) <= t->snapshots;
    drop_lock();
    return freed;
}

static la_status fill_entry(entry *e, la_tensor *t)
{
    if (!t) return la_error(LA_EARG, "a tensor of the list is NULL");
    if (t->owner != la_here.owner)
        return la_error(LA_EARG, "a tensor belongs to another runtime than the "
                        "first");
    if (t->device != LA_CPU && t->device != LA_META)
        return la_error(LA_ESUPPORT, "tensors of devices have no snapshots");
    if (t->device == LA_CPU) LA_TRY(la_tensor_check_bounds(t));
    if (t->ndim > 0) {
        e->dims = la_mem_alloc(la_dims_bytes(t->ndim));
        if (!e->dims) return LA_ENOMEM;
        memcpy(e->dims, t->dims, la_dims_bytes(t->ndim));
    }
    e->ndim = t->ndim;
    e->dtype = t->dtype;
    e->offset = t->offset;
    e->flags = t->flags & LAZY;
    e->t = la_tensor_retain(t);
    count_holder(t, 1);
    if (t->storage) e->storage = la_storage_retain(t->storage);
    if (t->numel == 0 || t->device != LA_CPU) return LA_OK;
    find_span(e);
    return join_image(e) ? LA_OK : snapshot_new_image(e);
}

static void drop_entry(entry *e)
{
    if (e->image) {
        take_lock();
        e->image->users--;
        drop_lock();
        release_image(e->image);
    }
    if (e->storage) la_storage_release(e->storage);
    if (e->t) {
        count_holder(e->t, -1);
        la_tensor_release(e->t);
    }
    if (e->dims) la_mem_free(e->dims, la_dims_bytes(e->ndim));
}

static size_t snapshot_size_of(int64_t n)
{
    return sizeof(la_snapshot) + (size_t)n * sizeof(entry);
}

void la_snapshot_drop(la_snapshot *s)
{
    if (!s) return;
    la_position before = la_move_to_owner(s->owner);
    for (int64_t k = 0; k < s->n; k++) drop_entry(&s->list[k]);
    la_mem_free(s->noted, (size_t)s->generators * sizeof *s->noted);
    la_mem_free(s, snapshot_size_of(s->n));
    la_move_back(&before);
}

la_status la_snapshot_make(int64_t n, la_tensor *const *list, la_snapshot **out)
{
    if (n < 0 || n > INT32_MAX || (n && !list))
        return la_error(LA_EARG, "a list of tensors is needed");
    survive_forks();
    la_snapshot *s = la_mem_zalloc(snapshot_size_of(n));
    if (!s) return LA_ENOMEM;
    s->n = s->lent = n;
    s->owner = la_here.owner;
    for (int64_t k = 0; k < n; k++) {
        la_status status = k % 1024 == 1023 ? la_poll() : LA_OK;
        if (!status) status = fill_entry(&s->list[k], list[k]);
        if (status) {
            la_snapshot_drop(s);
            return status;
        }
    }
    *out = s;
    return LA_OK;
}

void la_snapshot_own(la_snapshot *s, int64_t lent) { s->lent = lent; }

la_status la_snapshot_note(la_snapshot *s, int n,
                           const la_snapshot_generator *list)
{
    size_t bytes = (size_t)n * sizeof *list;
    if (n == 0) return LA_OK;
    s->noted = la_mem_alloc(bytes);
    if (!s->noted) return LA_ENOMEM;
    memcpy(s->noted, list, bytes);
    s->generators = n;
    return LA_OK;
}

la_tensor *la_snapshot_tensor(const la_snapshot *s, int64_t k)
{
    return s->list[k].t;
}

uint8_t la_snapshot_owner(const la_snapshot *s) { return s->owner; }

/* ---- restoring ---- */

/* Were they copied, because the storage was written or may have been? */
static bool has_bytes(const entry *e)
{
    return e->image && e->image->copy.data;
}

/* Address of the entry's bytes in its image, which has some. */
static char *saved_bytes(const entry *e)
{
    return e->image->copy.data + (e->first - e->image->first);
}

/* Does the storage have what was saved? */
static bool is_unchanged(const entry *e)
{
    char *now = e->storage->data + e->first, *saved = saved_bytes(e);
    return e->packed ? move_dims(e, 0, now, &saved, COMPARE)
                     : memcmp(now, saved, (size_t)(e->last - e->first)) == 0;
}

static la_status check_entry(const entry *e, int64_t k, bool lent)
{
    la_tensor *t = e->t;
    if (lent && is_freed(t))
        return la_error(LA_ESTATE, "tensor %lld was freed", (long long)k + 1);
    if (t->ndim != e->ndim || t->dtype != e->dtype || t->offset != e->offset
        || (t->flags & LAZY) != e->flags || t->storage != e->storage
        || (e->ndim > 0 && memcmp(t->dims, e->dims, la_dims_bytes(e->ndim))))
        return la_error(LA_ESTATE, "tensor %lld has another shape, dtype or "
                        "memory than when the snapshot was taken",
                        (long long)k + 1);
    if (t->device != LA_CPU) return LA_OK;
    LA_TRY(la_tensor_check_bounds(t));
    if (has_bytes(e) && (e->storage->flags & LA_S_READ_ONLY)
        && !is_unchanged(e))
        return la_tensor_check_writable(t);
    return LA_OK;
}

/* Elements of the dims from d on; those of both sides lie the same way. */
static void copy_dims(const entry *e, int d, char *to, const char *from)
{
    int64_t item = (int64_t)la_dtype_size((la_dtype)e->dtype);
    int k;
    int64_t run = find_run(e, d, &k);
    if (k == d) {
        memcpy(to, from, (size_t)run);
        return;
    }
    int64_t step = e->dims[e->ndim + d] * item;
    for (int64_t i = 0; i < e->dims[d]; i++)
        copy_dims(e, d + 1, to + i * step, from + i * step);
}

/* A dense tensor of any order of dims is one run of bytes. */
static void write_back(const entry *e)
{
    char *to = e->storage->data + e->first;
    if (e->storage->flags & LA_S_READ_ONLY) return;     /* the same bytes */
    char *from = saved_bytes(e);
    if (e->packed)
        move_dims(e, 0, to, &from, UNPACK);
    else if (e->t->flags & LA_F_DENSE)
        memcpy(to, from, (size_t)(e->last - e->first));
    else
        copy_dims(e, 0, to, from);
    la_bump_version(e->t);
}

/* An image without bytes is what the storage has: nothing was written since. */
la_status la_snapshot_put_back(la_snapshot *s)
{
    for (int64_t k = 0; k < s->n; k++)
        LA_TRY(check_entry(&s->list[k], k, k < s->lent));
    for (int64_t k = 0; k < s->n; k++) {
        entry *e = &s->list[k];
        if (has_bytes(e) && (e->storage->flags & LA_S_WATCHED))
            LA_TRY(la_storage_before_write(e->storage));
    }
    for (int64_t k = 0; k < s->n; k++)
        if (has_bytes(&s->list[k]))
            write_back(&s->list[k]);
    for (int k = 0; k < s->generators; k++) {
        la_generator *g = s->noted[k].generator;
        *(g ? g : &la_ctx()->generator) = s->noted[k].then;
    }
    return LA_OK;
}
