/*
** The allocator: how a block is found, counted and refused.
**
** The way of a small block (<= 1 KiB) must cost a few nanoseconds, because
** every small tensor is one. So each thread has free lists of its own, by
** 64-byte classes, and counters of its own that la_mem_stat sums; a hit takes
** no lock and touches no shared line but one read-mostly flag. The flag
** ('careful') is up while a cap or a rehearsal needs each allocation to be
** looked at; then every allocation goes through the lock, and the sum of all
** counters is exact: others can only free meanwhile. Lists and counters are
** those of a thread in a runtime (la_local), lock, cap and cache the runtime's.
**
** Blocks above 1 KiB live in memory_cache.c, under the same lock. Each block
** comes from the system by itself, so that any free block can be given back.
**
** Threads may free what others allocated: a thread's 'used' can be negative,
** only the sum means something.
**
** Blocks of la_mem_alloc are charged to the state that is current, and end in a
** footer that says to whose token, so that whoever frees one need not know. It
** lies in what rounding up leaves, more often than not.
*/
#include "base/log.h"
#include "base/runtime/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/runtime/host_call.h"
#include "base/runtime/local.h"
#include "base/runtime/memory_cache.h"
#include "base/runtime/parts.h"
#include "base/runtime/memory_zones.h"
#include "base/scratch.h"
#include "base/trace.h"

#define STEP ((size_t)64)
enum {
    SMALL_MAX = 1024,
    NCLASSES = LA_MEM_CLASSES    /* class 0: blocks of no bytes */
};

typedef struct la_free_block {
    struct la_free_block *next;
} free_block;

static int64_t small_keep = 2 << 20; /* free small bytes a thread keeps */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define RELAXED memory_order_relaxed

static inline void memory_add(atomic_int_fast64_t *counter, int64_t by)
{
    int64_t old = atomic_load_explicit(counter, RELAXED);
    atomic_store_explicit(counter, old + by, RELAXED);
}

static inline void count_call(la_local *t)
{
    uint64_t old = atomic_load_explicit(&t->calls, RELAXED);
    atomic_store_explicit(&t->calls, old + 1, RELAXED);
}

static inline size_t class_of(size_t bytes)
{
    return (bytes + STEP - 1) / STEP;
}

static inline size_t class_bytes(size_t class)
{
    return (class + !class) * STEP;
}

/* ---- the system, or the host ---- */

static void *memory_ask_host(la_memory_part *m, size_t size)
{
    la_host_call call;
    la_host_begin(&call);
    void *block = m->alloc(m->context, size, STEP);
    la_host_end(&call);
    return block;
}

static void memory_give_host(la_memory_part *m, void *block, size_t size)
{
    la_host_call call;
    la_host_begin(&call);
    m->release(m->context, block, size);
    la_host_end(&call);
}

static void *get_block(la_memory_part *m, size_t size, bool *zero)
{
    if (la_trace_on) la_trace("alloc  %zu bytes from the system", size);
    void *b = m->alloc ? memory_ask_host(m, size) : la_sys_alloc(size, zero);
    if (b) atomic_fetch_add_explicit(&m->blocks, 1, RELAXED);
    return b;
}

static void give_block(la_memory_part *m, void *block, size_t size)
{
    atomic_fetch_sub_explicit(&m->blocks, 1, RELAXED);
    if (m->release) memory_give_host(m, block, size);
    else la_sys_free(block, size);
}

static size_t raw_size(size_t bytes)
{
    return bytes <= SMALL_MAX ? class_bytes(class_of(bytes))
                              : la_cache_size(bytes);
}

void *la_raw_alloc(la_runtime *rt, size_t bytes)
{
    bool zero = false;
    void *b = get_block(&rt->memory, raw_size(bytes), &zero);
    return b ? memset(b, 0, bytes) : NULL;
}

void la_raw_free(la_runtime *rt, void *block, size_t bytes)
{
    if (block) give_block(&rt->memory, block, raw_size(bytes));
}

/* Most of its pages are never touched, so it is not zeroed. A host's allocator
** may have run an operation, which made one. */
bool la_local_scratch(la_local *t)
{
    bool zero = false;
    la_memory_part *m = &t->runtime->memory;
    char *block = get_block(m, raw_size(LA_SCRATCH_BYTES), &zero);
    if (t->scratch) la_raw_free(t->runtime, block, LA_SCRATCH_BYTES);
    else if (block) la_scratch_begin(t, block);
    return t->scratch != NULL;
}

void la_local_free_scratch(la_local *t)
{
    if (t->scratch_block) la_scratch_close(t->scratch_block);
    la_raw_free(t->runtime, t->scratch_block, LA_SCRATCH_BYTES);
    t->scratch = t->scratch_block = NULL;
}

static void free_local(la_runtime *rt, la_local *t)
{
    la_local_free_scratch(t);
    la_raw_free(rt, t, sizeof *t);
}

/* ---- the lock ---- */

/* The system, which may be the host, gets its blocks after the lock: its
** function may ask for memory, or release some, or wait for a thread that
** does. */
static void unlock(la_memory_part *m)
{
    la_kept_block *b = m->cache.leaving;
    m->cache.leaving = NULL;
    pthread_mutex_unlock(&m->lock);
    while (b) {
        la_kept_block *next = b->next;
        give_block(m, b, b->size);
        b = next;
    }
}

/* ---- threads ---- */

/* Blocks of the class leave until 'keep' bytes are left. */
static void release_class(la_memory_part *m, la_local *t, size_t class,
                          int64_t keep)
{
    size_t size = class_bytes(class);
    while (t->free[class] && t->cached > keep) {
        free_block *b = t->free[class];
        t->free[class] = b->next;
        la_cache_leave(&m->cache, b, size);
        memory_add(&t->cached, -(int64_t)size);
    }
}

static void release_small(la_memory_part *m, la_local *t, int64_t keep)
{
    for (size_t c = 0; c < NCLASSES; c++) release_class(m, t, c, keep);
}

static void memory_start(void)
{
    if (!la_cache_start()) small_keep = 0;
}

void la_memory_begin(la_memory_part *m)
{
    pthread_once(&once, memory_start);
    pthread_mutex_init(&m->lock, NULL);
}

void la_local_join(la_local *t)
{
    la_memory_part *m = &t->runtime->memory;
    pthread_once(&once, memory_start);
    pthread_mutex_lock(&m->lock);
    atomic_store_explicit(&t->careful, m->careful, RELAXED);
    t->next = m->locals;
    t->link = &m->locals;
    if (m->locals) m->locals->link = &t->next;
    m->locals = t;
    pthread_mutex_unlock(&m->lock);
}

/* Its free blocks go, its counters stay with the runtime. */
void la_local_leave(la_local *t)
{
    la_memory_part *m = &t->runtime->memory;
    pthread_mutex_lock(&m->lock);
    release_small(m, t, 0);
    memory_add(&m->departed.used, t->used);
    m->departed.calls += t->calls;
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    unlock(m);
    free_local(t->runtime, t);
}

/* Nobody else is in the runtime, and its locals are no thread's any more. */
void la_memory_end(la_runtime *rt)
{
    la_memory_part *m = &rt->memory;
    pthread_mutex_lock(&m->lock);
    la_local *t = m->locals;
    for (la_local *each = t; each; each = each->next)
        release_small(m, each, 0);
    m->locals = NULL;
    la_cache_release(&m->cache, SIZE_MAX);
    unlock(m);
    while (t) {
        la_local *next = t->next;
        free_local(rt, t);
        t = next;
    }
    pthread_mutex_destroy(&m->lock);
}

/* ---- sums; the lock is held ---- */

/* A thread that frees a block counts it last: when the sum says that nothing is
** in use, its lists may be read. */
static int64_t sum_used(const la_memory_part *m)
{
    int64_t sum = atomic_load_explicit(&m->departed.used, RELAXED);
    for (la_local *t = m->locals; t; t = t->next)
        sum += atomic_load_explicit(&t->used, memory_order_acquire);
    return sum > 0 ? sum : 0;
}

static size_t sum_cached(const la_memory_part *m)
{
    int64_t sum = (int64_t)m->cache.kept;
    for (la_local *t = m->locals; t; t = t->next)
        sum += atomic_load_explicit(&t->cached, RELAXED);
    return sum > 0 ? (size_t)sum : 0;
}

static void note_peak(la_memory_part *m)
{
    size_t used = (size_t)sum_used(m);
    if (used > m->peak) m->peak = used;
}

static void account(la_local *t, size_t bytes)
{
    memory_add(&t->used, (int64_t)bytes);
    count_call(t);
}

/* ---- the careful way; the lock is held ---- */

static bool rehearsal_fails(la_memory_part *m)
{
    if (!m->fail_in) return false;
    if (m->fail_in > 1) {
        m->fail_in--;
        return false;
    }
    if (!m->fail_forever) m->fail_in = 0;
    return true;
}

static void update_careful(la_memory_part *m)
{
    bool now = m->cap != 0 || m->fail_in != 0;
    if (now == atomic_load(&m->careful)) return;
    atomic_store(&m->careful, now);
    for (la_local *t = m->locals; t; t = t->next)
        atomic_store_explicit(&t->careful, now, RELAXED);
}

/* 'mine' are the things of the calling thread, or NULL. */
static void give_back_caches(la_memory_part *m, la_local *mine)
{
    if (mine) release_small(m, mine, 0);
    la_cache_release(&m->cache, SIZE_MAX);
}

/* Whether the cap leaves 'bytes' more, given that a new block from the system
** takes 'size'; free blocks are given up for it. */
static bool fits_cap(la_memory_part *m, la_local *t, size_t bytes, size_t size)
{
    if (!m->cap) return true;
    size_t used = (size_t)sum_used(m);
    if (used > m->cap || bytes > m->cap - used) return false;
    if (size && sum_cached(m) + size > m->cap - used) give_back_caches(m, t);
    return true;
}

static free_block *pop_small(la_local *t, size_t class)
{
    free_block *b = t->free[class];
    if (!b) return NULL;
    t->free[class] = b->next;
    memory_add(&t->cached, -(int64_t)class_bytes(class));
    return b;
}

/* A free block of ours; NULL with *size for a new one that may be had, or with
** 0 in it for none. 't' is NULL where this thread could not get any. */
static void *find_block(la_memory_part *m, la_local *t, size_t bytes, bool paid,
                        size_t *size)
{
    size_t whole = with_zones(bytes, paid);
    bool small = whole <= SMALL_MAX;
    *size = small ? class_bytes(class_of(whole)) : la_cache_size(whole);
    if (*size && !rehearsal_fails(m) && fits_cap(m, t, bytes, 0)) {
        void *b = !small ? la_cache_take(&m->cache, *size)
            : t ? (void *)pop_small(t, class_of(whole)) : NULL;
        if (b || fits_cap(m, t, bytes, *size)) return b;
    }
    *size = 0;
    return NULL;
}

/* A state with a cap leaves few free blocks behind: they are charged to nobody,
** and would be as many again. */
static bool may_keep(const la_memory_part *m, size_t size)
{
    la_context *c = la_current_context;
    size_t cap = c ? atomic_load_explicit(&c->token->cap, RELAXED) : 0;
    return !cap || m->cache.kept + size <= cap / 8;
}

/* Called without the lock: a block of the system, after giving up free ones if
** need be. */
static void *new_block(la_memory_part *m, size_t size, bool *zero)
{
    void *b = get_block(m, size, zero);
    if (b) return b;
    la_memory_trim();
    return get_block(m, size, zero);
}

static void report(size_t bytes)
{
    la_mem_info m = la_mem_stat();
    if (m.cap)
        la_error(LA_ENOMEM, "not enough memory (%zu bytes asked, %zu in use,"
                 " limit %zu)", bytes, m.used, m.cap);
    else
        la_error(LA_ENOMEM, "not enough memory (%zu bytes asked, %zu in use)",
                 bytes, m.used);
}

/* A block from the system is counted before it is asked for, so that the cap
** holds with several threads, and taken off again when there is none. */
static __attribute__((noinline)) void *alloc_slow(size_t bytes, bool paid,
                                                  bool *zero)
{
    la_local *t = la_local_here();
    la_memory_part *m = &la_runtime_here()->memory;
    la_local *counts = t ? t : &m->departed;
    size_t size;
    pthread_mutex_lock(&m->lock);
    atomic_store(&m->started, true);
    void *block = find_block(m, t, bytes, paid, &size);
    if (block || size) {
        account(counts, bytes);
        note_peak(m);
    }
    update_careful(m);
    unlock(m);
    if (block) return block;
    if (size) {
        block = new_block(m, size, zero);
        if (block) return block;
        pthread_mutex_lock(&m->lock);
        memory_add(&counts->used, -(int64_t)bytes);
        counts->calls--;
        unlock(m);
        la_log(la_runtime_here(), LA_LOG_WARNING, "the allocator refused a "
               "block of %zu bytes, twice", size);
    }
    report(bytes);
    return NULL;
}

static __attribute__((noinline)) void free_slow(void *block, size_t bytes,
                                                bool paid)
{
    la_local *mine = la_local_here();
    la_memory_part *m = &la_runtime_here()->memory;
    la_local *t = mine ? mine : &m->departed;
    pthread_mutex_lock(&m->lock);
    memory_add(&t->used, -(int64_t)bytes);
    size_t whole = with_zones(bytes, paid);
    if (whole <= SMALL_MAX) {
        la_cache_leave(&m->cache, block, class_bytes(class_of(whole)));
        if (mine) release_small(m, mine, small_keep / 2);
    } else if (may_keep(m, la_cache_size(whole))) {
        la_cache_put(&m->cache, block, la_cache_size(whole),
                     (size_t)sum_used(m));
    } else {
        la_cache_leave(&m->cache, block, la_cache_size(whole));
    }
    unlock(m);
}

bool la_mem_charge(size_t bytes)
{
    la_local *t = la_local_here();
    la_memory_part *m = &la_runtime_here()->memory;
    pthread_mutex_lock(&m->lock);
    bool fits = !rehearsal_fails(m) && fits_cap(m, t, bytes, 0);
    if (fits) {
        account(t ? t : &m->departed, bytes);
        note_peak(m);
    }
    update_careful(m);
    unlock(m);
    if (!fits) report(bytes);
    return fits;
}

void la_mem_discharge(size_t bytes)
{
    la_local *t = la_local_here();
    la_memory_part *m = &la_runtime_here()->memory;
    pthread_mutex_lock(&m->lock);
    memory_add(t ? &t->used : &m->departed.used, -(int64_t)bytes);
    unlock(m);
}

/* ---- the quick way ---- */

static inline void *alloc_quick(size_t bytes, bool paid)
{
    la_local *t = la_here.local;
    size_t whole = with_zones(bytes, paid);
    if (whole > SMALL_MAX || !t || atomic_load_explicit(&t->careful, RELAXED))
        return NULL;
    free_block *b = pop_small(t, class_of(whole));
    if (b) account(t, bytes);
    return b;
}

/* Debug: nobody relies on what fresh memory holds. */
static inline void *poison(void *block, size_t bytes)
{
#ifdef LA_DEBUG
    if (block) memset(block, ALLOCATED_BYTE, bytes);  /* NaN in every float */
#endif
    return block;
}

static inline void *memory_take(size_t bytes, bool paid, bool *zero)
{
    void *b = alloc_quick(bytes, paid);
    if (__builtin_expect(!b, 0)) b = alloc_slow(bytes, paid, zero);
    return enter_zones(b, bytes);
}

static inline void memory_give(void *block, size_t bytes, bool paid)
{
    block = leave_zones(block, bytes);
    la_local *t = la_here.local;
    size_t whole = with_zones(bytes, paid);
    size_t class = class_of(whole), size = class_bytes(class);
    if (__builtin_expect(!LA_CACHE_ON || whole > SMALL_MAX || !t
                         || t->cached + (int64_t)size > small_keep, 0)) {
        free_slow(block, bytes, paid);
        return;
    }
    free_block *b = block;
    b->next = t->free[class];
    t->free[class] = b;
    memory_add(&t->cached, (int64_t)size);
    int64_t used = atomic_load_explicit(&t->used, RELAXED);
    atomic_store_explicit(&t->used, used - (int64_t)bytes,
                          memory_order_release);
}

void *la_mem_take(size_t bytes)
{
    bool zero = false;
    return poison(memory_take(bytes, false, &zero), bytes);
}

void *la_mem_take_tell(size_t bytes, bool *zero)
{
    *zero = false;
    void *b = memory_take(bytes, false, zero);
#ifdef LA_DEBUG
    *zero = false;
#endif
    return poison(b, bytes);
}

void la_mem_give(void *block, size_t bytes)
{
    if (block) memory_give(block, bytes, false);
}

/* The end of the block behind 'bytes' is nobody's until it is freed. */
static inline void *new_paid(size_t bytes, bool *zero)
{
    la_token *k = la_ctx()->token, *payer;
    if (la_token_pay(k, &k->blocks, la_token_price(bytes), &payer))
        return NULL;
    void *b = memory_take(bytes, true, zero);
    if (__builtin_expect(!b, 0)) {
        if (payer) la_token_unpay(k, &k->blocks, la_token_price(bytes));
        return NULL;
    }
    *footer(b, bytes) = payer;
    HIDE(b, bytes);
    return b;
}

void *la_mem_alloc(size_t bytes)
{
    bool zero = false;
    return poison(new_paid(bytes, &zero), bytes);
}

void *la_mem_zalloc(size_t bytes)
{
    bool zero = false;
    void *b = new_paid(bytes, &zero);
    if (b && !zero) memset(b, 0, bytes);
    return b;
}

static inline void unpay(void *block, size_t bytes)
{
    la_token *k = *footer(block, bytes);
    if (k) la_token_unpay(k, &k->blocks, la_token_price(bytes));
}

void la_mem_free(void *block, size_t bytes)
{
    if (!block) return;
    SHOW(block, bytes);
    unpay(block, bytes);
    memory_give(block, bytes, true);
}

void la_mem_disown(void *block, size_t bytes)
{
    if (!block) return;
    SHOW(block, bytes);
    unpay(block, bytes);
    *footer(block, bytes) = NULL;
    HIDE(block, bytes);
}

/* ---- asking and setting ---- */

la_mem_info la_mem_stat_of(la_runtime *rt)
{
    la_memory_part *m = &rt->memory;
    pthread_mutex_lock(&m->lock);
    note_peak(m);
    la_mem_info info = {.used = (size_t)sum_used(m), .cached = sum_cached(m),
                        .peak = m->peak, .cap = m->cap,
                        .allocations = m->departed.calls};
    for (la_local *t = m->locals; t; t = t->next)
        info.allocations += atomic_load_explicit(&t->calls, RELAXED);
    pthread_mutex_unlock(&m->lock);
    return info;
}

la_mem_info la_mem_stat(void) { return la_mem_stat_of(la_runtime_here()); }

size_t la_memory_used(la_runtime *rt) { return la_mem_stat_of(rt).used; }

void la_mem_set_cap(size_t bytes)
{
    la_memory_part *m = &la_runtime_here()->memory;
    pthread_once(&once, memory_start);
    pthread_mutex_lock(&m->lock);
    m->cap = bytes;
    update_careful(m);
    if (m->cap && (size_t)sum_used(m) + sum_cached(m) > m->cap)
        give_back_caches(m, la_here.local);
    unlock(m);
}

void la_mem_on_trim(void (*release)(void))
{
    atomic_store(&la_runtime_here()->memory.on_trim, release);
}

size_t la_memory_trim(void)
{
    la_memory_part *m = &la_runtime_here()->memory;
    void (*release)(void) = atomic_load(&m->on_trim);
    la_local *t = la_here.local;
    if (release) release();
    if (t && la_scratch_is_idle(t)) la_local_free_scratch(t);
    pthread_once(&once, memory_start);
    pthread_mutex_lock(&m->lock);
    size_t before = sum_cached(m);
    give_back_caches(m, la_here.local);
    size_t after = sum_cached(m);
    unlock(m);
    return before > after ? before - after : 0;
}

void la_mem_trim(void) { la_memory_trim(); }

void la_memory_restart(la_runtime *rt)
{
    la_memory_part *m = &rt->memory;
    pthread_mutex_lock(&m->lock);
    if (!atomic_load(&m->blocks)) {
        atomic_store(&m->started, false);
        m->peak = 0;
    }
    pthread_mutex_unlock(&m->lock);
}

/* Sets the default runtime's allocator: that of others is known from the start.
** Blocks that threads have without a tensor, a record of an error, do not
** count. */
la_status la_mem_set_allocator(la_alloc_fn alloc, la_free_fn release,
                               void *context)
{
    la_memory_part *m = &la_default_runtime.memory;
    if (!alloc != !release)
        return la_error(LA_EARG, "an allocator needs both functions");
    la_local_forget();
    if (atomic_load(&m->started) || atomic_load(&m->blocks))
        return la_error(LA_ESTATE, "the allocator must be set before the"
                        " first allocation");
    m->alloc = alloc;
    m->release = release;
    m->context = context;
    return LA_OK;
}

void la_mem_fail_at(uint64_t n, bool forever)
{
    la_memory_part *m = &la_runtime_here()->memory;
    pthread_once(&once, memory_start);
    pthread_mutex_lock(&m->lock);
    m->fail_in = n;
    m->fail_forever = forever;
    update_careful(m);
    pthread_mutex_unlock(&m->lock);
}
