/*
** The struct of a runtime, part by part: each belongs to one file, which alone
** changes it. For what lies in runtimes; base/runtime/runtime.h has what is
** done with them.
*/
#ifndef LA_BASE_RUNTIME_PARTS_H
#define LA_BASE_RUNTIME_PARTS_H

#include <pthread.h>

#include "base/os/fpmode.h"
#include "base/runtime/context.h"
#include "base/runtime/local.h"
#include "base/runtime/memory_cache.h"
#include "lunarray.h"

/* The allocator's part, base/runtime/memory.c. Guarded by the lock, but for
** atomics. */
typedef struct la_memory_part {
    pthread_mutex_t lock;
    la_local *locals;
    la_local departed;       /* counters of threads that ended */
    size_t cap, peak;
    uint64_t fail_in;        /* this many allocations from now; 0: off */
    bool fail_forever;
    atomic_bool careful, started;
    la_cache cache;
    atomic_int_fast64_t blocks;      /* held from the system or the host */
    /* NULL: the system's */
    void *(*alloc)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *block, size_t bytes);
    void *context;
    void (*_Atomic on_trim)(void);
} la_memory_part;

typedef struct la_region {
    void (*fn)(int64_t begin, int64_t end, void *context);
    void *context;
    int64_t n;
    la_fp_mode mode;
    struct la_stop_note *stop;   /* the caller's */
    unsigned cap_mask;       /* la_cap_mask */
} la_region;

enum { LA_MAX_THREADS = 256 };

/* Our own threads, base/runtime/thread_pool.c. */
typedef struct la_pool {
    _Alignas(64) atomic_uint_fast64_t word;  /* number | chunks | next */
    _Alignas(64) atomic_int pending;         /* chunks not yet done */
    atomic_int sleepers;                     /* workers that sleep */
    atomic_bool caller_sleeps, stopping;
    _Alignas(64) la_region job;
    pthread_mutex_t region_lock;             /* held while a region runs */
    pthread_mutex_t sleep_lock;
    pthread_cond_t work, done;
    pthread_t thread[LA_MAX_THREADS];
    int nworkers;                            /* under region_lock */
    atomic_int begun;                        /* workers that have an index */
    atomic_int_fast64_t spin_ns;             /* 0: more threads than CPUs */
    atomic_int wanted;                       /* threads; 0: not decided */
    unsigned life;                           /* counts forks */
} la_pool;

/* List that an operation keeps for its next call (plans of transforms): it is
** taken without waiting, and given up by la_mem_trim. */
typedef struct la_kept {
    atomic_flag taken;
    void *first;
} la_kept;

struct la_runtime {
    uint64_t serial;            /* of no other runtime; 0: the default one */
    uint8_t owner;               /* its number among those that live */
    unsigned flags;             /* of la_config */
    uint64_t seed;              /* ... where generators begin; 0: ours */
    int leaving;                /* threads that end in it; runtimes_lock */
    atomic_int states;          /* Lua states that are open */
    la_memory_part memory;
    la_pool pool;
    la_jobs jobs;
    void (*log)(void *context, int level, const char *text);
    void *log_context;
    bool (*stop)(void *context, la_token *token);
    void *stop_context;
    bool (*_Atomic interrupt)(void *host);   /* of la_set_interrupt */
    _Atomic(void *) interrupt_host;
    la_kept transforms;
    _Atomic(struct la_abandoned *) abandoned;   /* base/runtime/background.c */
    atomic_int background_threads;         /* ... threads of it that run */
    /* Registered operations and kernels, op/registry.c; NULL: none. */
    _Atomic(struct la_op_table *) table;
    atomic_bool kernels_replaced;   /* ... kernels for plain tensors too */
    _Atomic(struct la_devices *) devices;   /* runtime/device.c; NULL: none */
};

#define LA_POOL_INIT {.region_lock = PTHREAD_MUTEX_INITIALIZER, \
    .sleep_lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, \
    .done = PTHREAD_COND_INITIALIZER}

static inline bool la_has_jobs(const la_jobs *jobs)
{
    return jobs->parallel_for || jobs->enqueue;
}

#endif
