/*
** A runtime: what belongs to one user of the library inside of a process, an
** allocator, a cap, threads or a job system, hooks, and the operations and
** devices that it was given. The process has a default one, made of constants.
**
** A thread is in one runtime at a time (la_here, base/runtime/context.h).
** Whoever enters the library moves it there: a closure to its state's, a
** function of the C interface to that of its state, its tensor or of la_use.
** Everything below asks la_here, and every thread has a few things of its own
** in each runtime it was in (la_local). Runtimes are told apart by a number
** that no other one gets: what a thread still notes of a runtime that is gone
** compares equal to none that lives.
*/
#ifndef LA_BASE_RUNTIME_RUNTIME_H
#define LA_BASE_RUNTIME_RUNTIME_H

#include <pthread.h>

#include "base/runtime/context.h"
#include "base/os/fpmode.h"
#include "base/runtime/memory_cache.h"
#include "base/runtime/pool.h"
#include "base/status.h"

enum { LA_MEM_CLASSES = 1024 / 64 + 1 };

/* State of a thread in a runtime. */
struct la_local {
    struct la_free_block *free[LA_MEM_CLASSES];
    /* Written by the owner, read by all; no read-modify-write is atomic. */
    atomic_int_fast64_t used, cached;
    atomic_uint_fast64_t calls;
    atomic_bool careful;        /* a copy of the runtime's */
    la_runtime *runtime;
    la_local *next, **link;     /* of the runtime */
    la_local *sibling, **from;  /* of the thread; runtimes_lock */
    _Atomic(la_runtime *) *chosen;   /* the thread's of la_use */
    la_context context;         /* settings without a state */
    la_error_note error;        /* the record of failures */
};

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
    la_alloc_fn alloc;               /* NULL: the system's */
    la_free_fn release;
    void *context;
    void (*_Atomic on_trim)(void);
} la_memory_part;

typedef struct la_region {
    la_range_fn fn;
    void *context;
    int64_t n;
    la_fp_mode mode;
    la_stop_note *stop;      /* the caller's */
    unsigned cap_mask;       /* la_cap_mask */
} la_region;

enum { LA_MAX_THREADS = 256 };

/* Our own threads, base/runtime/pool.c. */
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
    int leaving;                /* threads that end in it; runtimes_lock */
    atomic_int states;          /* Lua states that are open */
    la_memory_part memory;
    la_pool pool;
    la_jobs jobs;
    void (*log)(void *context, int level, const char *text);
    void *log_context;
    bool (*stop)(void *context, la_token *token);
    void *stop_context;
    _Atomic(la_interrupt_fn) interrupt;      /* of la_set_interrupt */
    _Atomic(void *) interrupt_host;
    la_kept transforms;
    _Atomic(struct la_abandoned *) abandoned;   /* base/runtime/background.c */
    atomic_int background_threads;         /* ... threads of it that run */
    /* Registered operations and kernels, op/registry.c; NULL: none. */
    _Atomic(struct la_op_table *) table;
    atomic_bool kernels_replaced;   /* ... kernels for plain tensors too */
    _Atomic(struct la_devices *) devices;   /* runtime/device.c; NULL: none */
};

extern la_runtime la_default_runtime;
#define LA_POOL_INIT {.region_lock = PTHREAD_MUTEX_INITIALIZER, \
    .sleep_lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, \
    .done = PTHREAD_COND_INITIALIZER}

/* The runtime this thread is in. */
static inline la_runtime *la_runtime_here(void) { return la_here.runtime; }

/* This thread's own things where it is; made at the first call. NULL when there
** is no memory for them; no error record is written. */
la_local *la_local_make(void);
static inline la_local *la_local_here(void)
{
    return la_here.local ? la_here.local : la_local_make();
}

/* Functions of base/runtime/memory.c: a thread's things come into the runtime's
** sums, and leave them, their memory too. */
void la_local_join(la_local *t);
void la_local_leave(la_local *t);
/* Drops this thread's state in the default runtime, until it is needed. */
void la_local_forget(void);
/* Does it live, and belong to this thread? */
bool la_local_is_mine(const la_local *t);
/* Handlers of threads' ends and forks; every way in begins with it. */
void la_runtimes_start(void);

/* A runtime by its number, of a tensor or storage that lives. */
la_runtime *la_runtime_at(uint8_t owner);
/* Moves into that runtime until la_move_back, for the last steps of what
** dies. */
la_position la_move_to_owner(uint8_t owner);
void la_move_back(const la_position *before);
/* Outside of any entry a thread may be in a runtime that another has ended: it
** goes to the one of la_use. */
void la_position_check(void);

/* 'config' is complete and sound. NULL with the error record set. */
la_runtime *la_runtime_make(const la_config *config);
/* LA_ESTATE while something of it lives; LA_EARG for the default one. */
la_status la_runtime_end(la_runtime *rt);
/* The runtime that this thread chose by la_use, or the default one. */
la_runtime *la_runtime_chosen(void);
void la_runtime_choose(la_runtime *rt);
/* Every runtime, one after another, with the list locked: for forks and the
** end of the process. 'visit' takes no lock but that of the runtime's memory
** and frees nothing. */
void la_runtimes_each(void (*visit)(la_runtime *));

/* 'fn' runs once in the process; whoever comes meanwhile waits. */
typedef pthread_once_t la_once;
#define LA_ONCE PTHREAD_ONCE_INIT
static inline void la_run_once(la_once *once, void (*fn)(void))
{
    pthread_once(once, fn);
}

/* Blocks that are no tensor's: not counted and not capped. 64-byte aligned,
** zeroed; NULL without an error record. */
void *la_raw_alloc(la_runtime *rt, size_t bytes);
void la_raw_free(la_runtime *rt, void *block, size_t bytes);

/* A line for the host's log. Costs nothing without one. */
void la_log(la_runtime *rt, int level, const char *format, ...)
    __attribute__((format(LA_PRINTF, 3, 4), cold));

/* Hook of op/registry.c: registrations in 'rt' go; called with nothing of it
** alive. */
extern void (*la_op_table_drop)(la_runtime *rt);

/* Functions of base/runtime/memory.c for runtime.c: the locals of 'rt' leave
** their threads and every block goes back; nobody else is in it any more. */
void la_memory_begin(la_memory_part *m);
void la_memory_end(la_runtime *rt);
/* Without any block an allocator may be set again. */
void la_memory_restart(la_runtime *rt);
/* Bytes in live blocks. */
size_t la_memory_used(la_runtime *rt);
/* Free blocks and what operations keep; 'rt' is the one this thread is in.
** Returns the bytes of free blocks that went. */
size_t la_memory_trim(void);
/* Functions of base/runtime/pool.c. la_pool_end joins the workers; false when a
** region runs. */
void la_pool_begin(la_pool *p);
bool la_pool_end(la_pool *p);
void la_pool_forked(la_pool *p);
static inline bool la_has_jobs(const la_jobs *jobs)
{
    return jobs->parallel_for || jobs->enqueue;
}

#endif
