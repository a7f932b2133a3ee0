/*
** The allocator: how a block is found, counted and refused.
**
** The way of a small block (<= 1 KiB) must cost a few nanoseconds, because
** every small tensor is one. So each thread has free lists of its own, by
** 64-byte classes, and counters of its own that la_mem_stat sums; a hit takes
** no lock and touches no shared line but one read-mostly flag. The flag
** ('careful') is up while a cap or a rehearsal needs each allocation to be
** looked at; then every allocation goes through the lock, and the sum of all
** counters is exact: others can only free meanwhile.
**
** Blocks above 1 KiB live in memory_cache.c, under the same lock. Each block
** comes from the system by itself, so that any free block can be given back.
**
** Threads may free what others allocated: a thread's 'used' can be negative,
** only the sum means something.
**
** The debug build surrounds each block with red zones, which hold the number
** of bytes asked for and a pattern and are checked when the block is freed;
** what is allocated is filled with NaN, what is freed with another pattern.
*/
#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory_cache.h"

#define STEP ((size_t)64)
enum {
    SMALL_MAX = 1024,
    NCLASSES = SMALL_MAX / 64 + 1    /* class 0: blocks of no bytes */
};

typedef struct free_block {
    struct free_block *next;
} free_block;

typedef struct thread_memory {
    free_block *free[NCLASSES];
    /* Written by the owner, read by all; no read-modify-write is atomic. */
    atomic_int_fast64_t used, cached;
    atomic_uint_fast64_t calls;
    struct thread_memory *next, **link;
} thread_memory;

static _Thread_local thread_memory *mine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* All below is guarded by the lock, except where atomic. */
static thread_memory *threads;
static thread_memory departed;   /* counters of threads that ended */
static size_t cap, peak;
static int64_t small_keep = 2 << 20; /* free small bytes a thread keeps */
static uint64_t fail_in;         /* this many allocations from now; 0: off */
static bool fail_forever;
static atomic_bool careful, started;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

#define RELAXED memory_order_relaxed

static inline void add(atomic_int_fast64_t *counter, int64_t by)
{
    int64_t old = atomic_load_explicit(counter, RELAXED);
    atomic_store_explicit(counter, old + by, RELAXED);
}

static inline void count_call(thread_memory *t)
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

/* ---- red zones ---- */

/* Sanitizers have red zones of their own, whose end ours would hide. */
#if defined(LA_DEBUG) && LA_CACHE_ON
#define ZONE ((size_t)64)
#else
#define ZONE ((size_t)0)
#endif
enum { ZONE_BYTE = 0xfd, ALLOCATED_BYTE = 0xff, FREED_BYTE = 0xdd };

/* No zone in front of large blocks: the mapped ones begin at a page. */
static inline size_t zone_before(size_t bytes)
{
    return bytes < 1 << 20 ? ZONE : 0;
}

/* The bytes of a block with its zones. What no system has stays as it is. */
static inline size_t with_zones(size_t bytes)
{
    return bytes > SIZE_MAX / 4 ? bytes : zone_before(bytes) + bytes + ZONE;
}

static void write_zone(char *zone, size_t bytes)
{
    memset(zone, ZONE_BYTE, ZONE);
    memcpy(zone, &bytes, sizeof bytes);
}

/* The zone still says that the block has 'bytes', and nothing else. */
static bool zone_is_whole(const char *zone, size_t bytes)
{
    if (memcmp(zone, &bytes, sizeof bytes)) return false;
    for (int i = sizeof bytes; i < (int)ZONE; i++)
        if ((unsigned char)zone[i] != ZONE_BYTE) return false;
    return true;
}

/* What the caller gets of a new block of with_zones(bytes), or NULL. */
static inline void *enter_zones(void *block, size_t bytes)
{
    if (!ZONE || !block) return block;
    char *inner = (char *)block + zone_before(bytes);
    if (zone_before(bytes)) write_zone(block, bytes);
    write_zone(inner + bytes, bytes);
    return inner;
}

/* The whole block again. A broken zone is a write outside of the block, or
** another number of bytes than was asked for. */
static inline void *leave_zones(void *inner, size_t bytes)
{
    if (!ZONE) return inner;
    char *block = (char *)inner - zone_before(bytes);
    la_assert(zone_is_whole((char *)inner + bytes, bytes));
    la_assert(!zone_before(bytes) || zone_is_whole(block, bytes));
    memset(block, FREED_BYTE, with_zones(bytes));
    return block;
}

/* ---- the lock ---- */

/* The system, which may be the host, gets its blocks after the lock: its
** function may ask for memory, or release some, or wait for a thread that
** does. */
static void unlock(void)
{
    void *leaving = la_sys_leaving();
    pthread_mutex_unlock(&lock);
    la_sys_free_list(leaving);
}

/* ---- threads ---- */

/* Give blocks of the class back to the system until 'keep' bytes are left. */
static void release_class(thread_memory *t, size_t class, int64_t keep)
{
    size_t size = class_bytes(class);
    while (t->free[class] && t->cached > keep) {
        free_block *b = t->free[class];
        t->free[class] = b->next;
        la_sys_free_later(b, size);
        add(&t->cached, -(int64_t)size);
    }
}

static void release_small(thread_memory *t, int64_t keep)
{
    for (size_t c = 0; c < NCLASSES; c++) release_class(t, c, keep);
}

/* At the thread's end: its blocks go, its counters stay. */
static void thread_ends(void *p)
{
    thread_memory *t = p;
    pthread_mutex_lock(&lock);
    release_small(t, 0);
    add(&departed.used, t->used);
    departed.calls += t->calls;
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    unlock();
    mine = NULL;
    free(t);
}

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void start(void)
{
    pthread_key_create(&key, thread_ends);
    pthread_atfork(before_fork, after_fork, after_fork);
    if (!la_cache_start()) small_keep = 0;
}

/* This thread's memory; NULL when there is no memory for the lists. */
static thread_memory *thread_begins(void)
{
    pthread_once(&once, start);
    thread_memory *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    if (pthread_setspecific(key, t)) {
        free(t);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    t->next = threads;
    t->link = &threads;
    if (threads) threads->link = &t->next;
    threads = t;
    pthread_mutex_unlock(&lock);
    return mine = t;
}

/* ---- sums; the lock is held ---- */

static int64_t sum_used(void)
{
    int64_t sum = atomic_load_explicit(&departed.used, RELAXED);
    for (thread_memory *t = threads; t; t = t->next)
        sum += atomic_load_explicit(&t->used, RELAXED);
    return sum > 0 ? sum : 0;
}

static size_t sum_cached(void)
{
    int64_t sum = (int64_t)la_cache_bytes();
    for (thread_memory *t = threads; t; t = t->next)
        sum += atomic_load_explicit(&t->cached, RELAXED);
    return sum > 0 ? (size_t)sum : 0;
}

static void note_peak(void)
{
    size_t used = (size_t)sum_used();
    if (used > peak) peak = used;
}

static void account(thread_memory *t, size_t bytes)
{
    add(&t->used, (int64_t)bytes);
    count_call(t);
}

/* ---- the careful way; the lock is held ---- */

static bool rehearsal_fails(void)
{
    if (!fail_in) return false;
    if (fail_in > 1) {
        fail_in--;
        return false;
    }
    if (!fail_forever) fail_in = 0;
    return true;
}

static void update_careful(void)
{
    bool now = cap != 0 || fail_in != 0;
    if (now != atomic_load(&careful)) atomic_store(&careful, now);
}

static void give_back_caches(void)
{
    if (mine) release_small(mine, 0);
    la_cache_release(SIZE_MAX);
}

/* Whether the cap leaves 'bytes' more, given that a new block from the system
** takes 'size'; free blocks are given up for it. */
static bool fits_cap(size_t bytes, size_t size)
{
    if (!cap) return true;
    size_t used = (size_t)sum_used();
    if (used > cap || bytes > cap - used) return false;
    if (size && sum_cached() + size > cap - used) give_back_caches();
    return true;
}

static free_block *pop_small(thread_memory *t, size_t class)
{
    free_block *b = t->free[class];
    if (!b) return NULL;
    t->free[class] = b->next;
    add(&t->cached, -(int64_t)class_bytes(class));
    return b;
}

/* A free block of ours; NULL with *size for a new one that may be had, or with
** 0 in it for none. */
static void *find_block(thread_memory *t, size_t bytes, size_t *size)
{
    size_t whole = with_zones(bytes);
    bool small = whole <= SMALL_MAX;
    *size = small ? class_bytes(class_of(whole)) : la_cache_size(whole);
    if (*size && !rehearsal_fails() && fits_cap(bytes, 0)) {
        void *b = !small ? la_cache_take(*size)
            : t != &departed ? (void *)pop_small(t, class_of(whole)) : NULL;
        if (b || fits_cap(bytes, *size)) return b;
    }
    *size = 0;
    return NULL;
}

/* Not the lock: a block of the system, after giving up free ones if need be. */
static void *new_block(size_t size, bool *zero)
{
    void *b = la_sys_alloc(size, zero);
    if (b) return b;
    pthread_mutex_lock(&lock);
    give_back_caches();
    unlock();
    return la_sys_alloc(size, zero);
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
static __attribute__((noinline)) void *alloc_slow(size_t bytes, bool *zero)
{
    thread_memory *t = mine ? mine : thread_begins();
    size_t size;
    pthread_mutex_lock(&lock);
    atomic_store(&started, true);
    thread_memory *counts = t ? t : &departed;
    void *block = find_block(counts, bytes, &size);
    if (block || size) {
        account(counts, bytes);
        note_peak();
    }
    update_careful();
    unlock();
    if (block) return block;
    if (size) {
        block = new_block(size, zero);
        if (block) return block;
        pthread_mutex_lock(&lock);
        add(&counts->used, -(int64_t)bytes);
        counts->calls--;
        unlock();
    }
    report(bytes);
    return NULL;
}

static __attribute__((noinline)) void free_slow(void *block, size_t bytes)
{
    thread_memory *t = mine ? mine : thread_begins();
    pthread_mutex_lock(&lock);
    if (!t) t = &departed;
    add(&t->used, -(int64_t)bytes);
    size_t whole = with_zones(bytes);
    if (whole <= SMALL_MAX) {
        la_sys_free_later(block, class_bytes(class_of(whole)));
        if (t != &departed) release_small(t, small_keep / 2);
    } else {
        la_cache_put(block, la_cache_size(whole), (size_t)sum_used());
    }
    unlock();
}

/* ---- the quick way ---- */

static inline void *alloc_quick(size_t bytes)
{
    thread_memory *t = mine;
    size_t whole = with_zones(bytes);
    if (whole > SMALL_MAX || !t || atomic_load_explicit(&careful, RELAXED))
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

void *la_mem_alloc(size_t bytes)
{
    void *b = alloc_quick(bytes);
    if (__builtin_expect(!b, 0)) {
        bool zero = false;
        b = alloc_slow(bytes, &zero);
    }
    return poison(enter_zones(b, bytes), bytes);
}

void *la_mem_alloc_tell(size_t bytes, bool *zero)
{
    *zero = false;
    void *b = alloc_quick(bytes);
    if (!b) b = alloc_slow(bytes, zero);
#ifdef LA_DEBUG
    *zero = false;
#endif
    return poison(enter_zones(b, bytes), bytes);
}

void *la_mem_zalloc(size_t bytes)
{
    bool zero = false;
    void *b = alloc_quick(bytes);
    if (!b) b = alloc_slow(bytes, &zero);
    b = enter_zones(b, bytes);
    if (b && !zero) memset(b, 0, bytes);
    return b;
}

void la_mem_free(void *block, size_t bytes)
{
    if (!block) return;
    block = leave_zones(block, bytes);
    thread_memory *t = mine;
    size_t whole = with_zones(bytes);
    size_t class = class_of(whole), size = class_bytes(class);
    if (__builtin_expect(!LA_CACHE_ON || whole > SMALL_MAX || !t
                         || t->cached + (int64_t)size > small_keep, 0)) {
        free_slow(block, bytes);
        return;
    }
    free_block *b = block;
    b->next = t->free[class];
    t->free[class] = b;
    add(&t->used, -(int64_t)bytes);
    add(&t->cached, (int64_t)size);
}

/* ---- asking and setting ---- */

la_mem_info la_mem_stat(void)
{
    pthread_mutex_lock(&lock);
    note_peak();
    la_mem_info m = {.used = (size_t)sum_used(), .cached = sum_cached(),
                     .peak = peak, .cap = cap, .allocations = departed.calls};
    for (thread_memory *t = threads; t; t = t->next)
        m.allocations += atomic_load_explicit(&t->calls, RELAXED);
    pthread_mutex_unlock(&lock);
    return m;
}

void la_mem_set_cap(size_t bytes)
{
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    cap = bytes;
    update_careful();
    if (cap && (size_t)sum_used() + sum_cached() > cap) give_back_caches();
    unlock();
}

static void (*_Atomic on_trim)(void);

void la_mem_on_trim(void (*release)(void))
{
    atomic_store(&on_trim, release);
}

void la_mem_trim(void)
{
    void (*release)(void) = atomic_load(&on_trim);
    if (release) release();
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    give_back_caches();
    unlock();
}

la_status la_mem_set_allocator(la_alloc_fn alloc, la_free_fn release,
                               void *context)
{
    if (atomic_load(&started))
        return la_error(LA_ESTATE, "the allocator must be set before the"
                        " first allocation");
    if (!alloc != !release)
        return la_error(LA_EARG, "an allocator needs both functions");
    la_sys_set(alloc, release, context);
    return LA_OK;
}

void la_mem_fail_at(uint64_t n, bool forever)
{
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    fail_in = n;
    fail_forever = forever;
    update_careful();
    pthread_mutex_unlock(&lock);
}
