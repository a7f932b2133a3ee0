/*
** Locks for a few instructions, or a copy of bytes: nobody asks for memory,
** gives some back or calls a host while holding one.
*/
#ifndef LA_BASE_LOCK_H
#define LA_BASE_LOCK_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/os.h"

typedef struct la_lock {
    pthread_mutex_t mutex;
} la_lock;
#define LA_LOCK_INIT {PTHREAD_MUTEX_INITIALIZER}

/* False when there are no more of them. */
static inline bool la_lock_init(la_lock *k)
{
    return pthread_mutex_init(&k->mutex, NULL) == 0;
}
static inline void la_lock_destroy(la_lock *k)
{
    pthread_mutex_destroy(&k->mutex);
}
static inline void la_lock_take(la_lock *k) { pthread_mutex_lock(&k->mutex); }
static inline void la_lock_drop(la_lock *k) { pthread_mutex_unlock(&k->mutex); }

/* A lock that is held for long, around work that takes memory and calls hosts.
** A thread that holds it, and comes again by such a call, gets false. */
typedef struct la_long_lock {
    pthread_mutex_t mutex;
    _Atomic uintptr_t holder;   /* the thread, 0 for none */
} la_long_lock;

/* False when there are no more of them. */
static inline bool la_long_lock_init(la_long_lock *k)
{
    atomic_init(&k->holder, 0);
    return pthread_mutex_init(&k->mutex, NULL) == 0;
}
static inline void la_long_lock_destroy(la_long_lock *k)
{
    pthread_mutex_destroy(&k->mutex);
}
/* Threads are told apart by the addresses of their errno: not every system has
** pthread_self. Nobody but the thread itself writes its own to 'holder'. */
static inline bool la_long_lock_take(la_long_lock *k)
{
    uintptr_t self = (uintptr_t)&errno;
    if (atomic_load_explicit(&k->holder, memory_order_relaxed) == self)
        return false;
    pthread_mutex_lock(&k->mutex);
    atomic_store_explicit(&k->holder, self, memory_order_relaxed);
    return true;
}
static inline void la_long_lock_drop(la_long_lock *k)
{
    atomic_store_explicit(&k->holder, 0, memory_order_relaxed);
    pthread_mutex_unlock(&k->mutex);
}

/* So that no other thread holds a static lock in the child of a fork. */
static inline void la_lock_at_fork(void (*take)(void), void (*drop)(void))
{
    la_os_at_fork(take, drop, drop);
}

#endif
