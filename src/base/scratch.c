/* Blocks of scratch: that of the thread, or that of the process. */
#include "base/scratch.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "base/runtime/local.h"
#include "base/runtime/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { BEYOND = 64 };         /* nobody's bytes, behind each buffer */
#else
enum { BEYOND = 0 };
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

static inline size_t step_of(size_t bytes)
{
    return ((bytes + 63) & ~(size_t)63) + BEYOND;
}

void la_scratch_watch(char *block, bool ours)
{
    if (ours) ASAN_POISON_MEMORY_REGION(block, LA_SCRATCH_BYTES);
    else ASAN_UNPOISON_MEMORY_REGION(block, LA_SCRATCH_BYTES);
}

/* ---- without a block ---- */

/* The block of the process, with the thread that uses it, by the address of
** its la_here. Kernels wait for nothing, so the lock is soon free again. */
static _Alignas(64) char last_block[LA_SCRATCH_BYTES];
static char *last_at = last_block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(la_position *) user;

static char *take_last(size_t bytes)
{
    if (atomic_load(&user) != &la_here) {
        pthread_mutex_lock(&lock);
        atomic_store(&user, &la_here);
    }
    char *at = last_at;
    last_at += step_of(bytes);
    la_assert(last_at <= last_block + LA_SCRATCH_BYTES);
    return at;
}

static void give_last(char *at)
{
    last_at = at;
    if (at != last_block) return;
    atomic_store(&user, NULL);
    pthread_mutex_unlock(&lock);
}

void la_scratch_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&user, NULL);
    last_at = last_block;
}

static __attribute__((noinline, cold)) char *take_first(size_t bytes)
{
    la_local *t = atomic_load(&user) == &la_here ? NULL : la_local_here();
    bool found = t && (t->scratch || la_local_scratch(t));
    return found ? la_scratch_take(bytes) : take_last(bytes);
}

/* After a function of the host's a thread looks for its local again. */
static __attribute__((noinline, cold)) void give_slow(char *at)
{
    if (atomic_load(&user) == &la_here) {
        give_last(at);
    } else {
        la_local_here();
        la_scratch_give(at);
    }
}

/* ---- in a block ---- */

char *la_scratch_take(size_t bytes)
{
    la_local *t = la_here.local;
    if (__builtin_expect(!t || !t->scratch, 0)) return take_first(bytes);
    char *at = t->scratch;
    t->scratch = at + step_of(bytes);
    la_assert(t->scratch <= t->scratch_block + LA_SCRATCH_BYTES);
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
    return at;
}

void la_scratch_give(char *at)
{
    la_local *t = la_here.local;
    if (__builtin_expect(!t || !t->scratch, 0)) {
        give_slow(at);
        return;
    }
    ASAN_POISON_MEMORY_REGION(at, (size_t)(t->scratch - at));
    t->scratch = at;
}

la_scratch_aside la_scratch_begin_aside(void)
{
    la_local *t = la_here.local;
    if (!t || t->scratch == t->scratch_block) return (la_scratch_aside){0};
    la_scratch_aside held = {t->scratch, t->scratch_block};
    t->scratch = t->scratch_block = NULL;
    return held;
}

void la_scratch_end_aside(const la_scratch_aside *held)
{
    la_local *t = held->block ? la_local_here() : NULL;
    if (!t) return;
    la_local_free_scratch(t);
    t->scratch = held->at;
    t->scratch_block = held->block;
}
