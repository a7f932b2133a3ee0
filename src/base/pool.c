/*
** The pool: how a region is published, shared out and awaited.
**
** One 64-bit word tells all: the number of the region, how many chunks it has,
** and the next chunk that nobody took. Caller and workers take chunks by
** compare-and-swap on that word, so a worker that wakes late finds nothing to
** take and can never touch a region that is over. Whoever takes a chunk reads
** the region's function after the swap: until that chunk is reported done the
** caller waits, so the fields stay.
**
** A worker without work spins for about 50 us, so that a chain of small
** regions costs a few cache-line transfers each, and then sleeps. One region
** runs at a time: a second caller, or a nested one, runs its range serially.
*/
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fpmode.h"
#include "base/machine.h"

enum { MAX_THREADS = 256, WORKER_STACK = 1 << 20 };
#define SPIN_NS 50000

typedef struct region {
    la_range_fn fn;
    void *context;
    int64_t n;
    la_fp_mode mode;
    atomic_bool *stop;       /* the caller's note of an interruption */
} region;

static struct {
    _Alignas(64) atomic_uint_fast64_t word;  /* number | chunks | next */
    _Alignas(64) atomic_int pending;         /* chunks not yet done */
    atomic_int sleepers;                     /* workers that sleep */
    atomic_bool caller_sleeps, stopping;
    _Alignas(64) region job;
    pthread_mutex_t region_lock;             /* held while a region runs */
    pthread_mutex_t sleep_lock;
    pthread_cond_t work, done;
    pthread_t thread[MAX_THREADS];
    int nworkers;                            /* under region_lock */
    atomic_int_fast64_t spin_ns;             /* 0: more threads than CPUs */
    unsigned life;                           /* counts forks */
} pool = {
    .region_lock = PTHREAD_MUTEX_INITIALIZER,
    .sleep_lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER
};

static atomic_int wanted;   /* threads asked for; 0: not decided */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int thread_index;
static _Thread_local bool inside;

static struct { la_host_parallel_for run; void *host; } substitute;
_Thread_local bool la_host_fault;

/* ---- the word ---- */

static inline uint64_t make_word(uint32_t number, int chunks, int next)
{
    return (uint64_t)number << 32 | (uint64_t)chunks << 16 | (uint64_t)next;
}
static inline uint32_t number_of(uint64_t w) { return (uint32_t)(w >> 32); }
static inline int chunks_of(uint64_t w) { return (int)(w >> 16 & 0xffff); }
static inline int next_of(uint64_t w) { return (int)(w & 0xffff); }

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

int64_t la_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- chunks ---- */

/* Chunk k of 'chunks' equal ones (the first ones take the remainder). */
static int64_t chunk_begin(int64_t n, int chunks, int k)
{
    int64_t size = n / chunks, rest = n % chunks;
    return k * size + (k < rest ? k : rest);
}

static void run_chunk(int chunks, int k)
{
    region job = pool.job;
    la_fp_mode before = la_fp_adopt(job.mode);
    atomic_bool *own = la_share_stop_note(job.stop);
    job.fn(chunk_begin(job.n, chunks, k), chunk_begin(job.n, chunks, k + 1),
           job.context);
    la_share_stop_note(own);
    la_fp_restore(before);
}

/* A chunk of this thread is done; the last one wakes a sleeping caller. */
static void report_done(void)
{
    if (atomic_fetch_sub(&pool.pending, 1) != 1) return;
    if (!atomic_load(&pool.caller_sleeps)) return;
    pthread_mutex_lock(&pool.sleep_lock);
    pthread_cond_signal(&pool.done);
    pthread_mutex_unlock(&pool.sleep_lock);
}

/* Chunks are left in 'w', and this thread's index is below their number: an
** index must be good for arrays of la_num_threads() entries. */
static inline bool can_take(uint64_t w)
{
    return next_of(w) < chunks_of(w) && thread_index < chunks_of(w);
}

/* Take and run chunks until none is left. Stops after a fork in a chunk: the
** region belongs to the parent then. */
static void run_chunks(void)
{
    unsigned life = pool.life;
    uint64_t w = atomic_load(&pool.word);
    while (can_take(w)) {
        if (!atomic_compare_exchange_weak(&pool.word, &w, w + 1)) continue;
        run_chunk(chunks_of(w), next_of(w));
        if (pool.life != life) return;
        report_done();
        w = atomic_load(&pool.word);
    }
}

/* ---- workers ---- */

static bool has_work(void)
{
    return can_take(atomic_load(&pool.word)) || atomic_load(&pool.stopping);
}

static bool spin_for_work(void)
{
    int64_t until = 0;
    for (int i = 0; ; i++) {
        if (has_work()) return true;
        relax();
        if (i & 63) continue;
        int64_t now = la_nanoseconds();
        if (!until) until = now + atomic_load(&pool.spin_ns);
        if (now > until) return false;
    }
}

static void sleep_for_work(void)
{
    pthread_mutex_lock(&pool.sleep_lock);
    atomic_fetch_add(&pool.sleepers, 1);
    while (!has_work()) pthread_cond_wait(&pool.work, &pool.sleep_lock);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.sleep_lock);
}

static void *worker(void *index)
{
    unsigned life = pool.life;
    thread_index = (int)(intptr_t)index;
    inside = true;  /* regions inside a chunk are serial */
    while (!atomic_load(&pool.stopping)) {
        if (!spin_for_work()) sleep_for_work();
        run_chunks();
        if (pool.life != life) break;  /* we are a forked child */
    }
    return NULL;
}

/* Start workers up to 'n'; fewer when the system has no more. The region lock
** is held. Signals stay with the host's threads. */
static void start_workers(int n)
{
    sigset_t all, old;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr)) return;
    pthread_attr_setstacksize(&attr, WORKER_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool.nworkers < n) {
        int k = pool.nworkers;
        if (pthread_create(&pool.thread[k], &attr, worker,
                           (void *)(intptr_t)(k + 1)))
            break;
        pool.nworkers++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    atomic_store(&pool.spin_ns, pool.nworkers < la_machine_threads()
                                ? SPIN_NS : 0);
}

static void wake_sleepers(void)
{
    if (!atomic_load(&pool.sleepers)) return;
    pthread_mutex_lock(&pool.sleep_lock);
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.sleep_lock);
}

/* ---- regions ---- */

static void await_chunks(void)
{
    int64_t until = 0;
    for (int i = 0; atomic_load(&pool.pending) > 0; i++) {
        relax();
        if (i & 63) continue;
        int64_t now = la_nanoseconds();
        if (!until) until = now + atomic_load(&pool.spin_ns);
        if (now > until) break;
    }
    if (atomic_load(&pool.pending) == 0) return;
    pthread_mutex_lock(&pool.sleep_lock);
    atomic_store(&pool.caller_sleeps, true);
    while (atomic_load(&pool.pending) > 0)
        pthread_cond_wait(&pool.done, &pool.sleep_lock);
    atomic_store(&pool.caller_sleeps, false);
    pthread_mutex_unlock(&pool.sleep_lock);
}

/* The region lock is held. Chunk 0 is the caller's own: in one region after
** another the same part of the data is met by the same core, in its cache. */
static void run_region(int64_t n, int chunks, la_range_fn fn, void *context)
{
    unsigned life = pool.life;
    uint32_t number = number_of(atomic_load(&pool.word)) + 1;
    pool.job = (region){fn, context, n, la_fp_current(), la_stop_note()};
    /* Seen by whoever takes a chunk: the word is stored after it. */
    atomic_store_explicit(&pool.pending, chunks, memory_order_relaxed);
    atomic_store(&pool.word, make_word(number, chunks, 1));
    wake_sleepers();
    inside = true;
    run_chunk(chunks, 0);
    if (pool.life == life) {
        report_done();
        run_chunks();
    }
    inside = false;
    if (pool.life == life) await_chunks();
}

static void run_serially(int64_t n, la_range_fn fn, void *context)
{
    fn(0, n, context);
}

static void run_in_pool(int64_t n, int64_t grain, la_range_fn fn, void *context)
{
    int64_t most = n / grain, threads = la_num_threads();
    int chunks = (int)(most < threads ? most : threads);
    if (chunks <= 1 || pthread_mutex_trylock(&pool.region_lock)) {
        run_serially(n, fn, context);
        return;
    }
    unsigned life = pool.life;
    if (pool.nworkers < chunks - 1) start_workers(chunks - 1);
    if (pool.nworkers) run_region(n, chunks, fn, context);
    else run_serially(n, fn, context);
    if (pool.life == life) pthread_mutex_unlock(&pool.region_lock);
}

/* ---- the host's parallel_for ---- */

typedef struct host_job {
    la_range_fn fn;
    void *context;
    int64_t n;
    la_fp_mode mode;
    atomic_bool *stop;
    /* Sum of mix(end) - mix(begin) over the ranges run. Ranges are edges from
    ** a lower to a higher index, so that the sum is mix(n) - mix(0) just when
    ** they form one path from 0 to n: nothing missed, nothing repeated. */
    atomic_uint_fast64_t sum;
    atomic_bool outside;
} host_job;

/* An odd multiplier and a shift: sums of few differences do not meet by chance
** (Steele, Lea and Flood's SplitMix64 finalizer). */
static uint64_t mix(int64_t index)
{
    uint64_t x = (uint64_t)index + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void run_host_range(int64_t begin, int64_t end, void *context)
{
    host_job *job = context;
    if (begin < 0 || begin > end || end > job->n) {
        atomic_store(&job->outside, true);
        return;
    }
    bool outer = inside;
    la_fp_mode before = la_fp_adopt(job->mode);
    atomic_bool *own = la_share_stop_note(job->stop);
    inside = true;
    if (begin < end) job->fn(begin, end, job->context);
    inside = outer;
    la_share_stop_note(own);
    la_fp_restore(before);
    atomic_fetch_add(&job->sum, mix(end) - mix(begin));
}

static void run_in_host(int64_t n, int64_t grain, la_range_fn fn, void *context)
{
    host_job job = {.fn = fn, .context = context, .n = n,
                    .mode = la_fp_current(), .stop = la_stop_note()};
    substitute.run(substitute.host, n, grain, run_host_range, &job);
    if (atomic_load(&job.sum) != mix(n) - mix(0) || atomic_load(&job.outside))
        la_host_fault = true;
}

la_status la_region_status(la_status status)
{
    bool fault = la_host_fault;
    la_host_fault = false;
    if (atomic_exchange(&la_stopping, false)
        && (status == LA_OK || status == LA_EINTR))
        return la_error(LA_EINTR, "interrupted");
    if (status || !fault) return status;
    return la_error(LA_ESTATE, "the host's parallel_for missed or repeated a"
                    " range");
}

void la_set_parallel_for(la_host_parallel_for run, void *host)
{
    substitute.run = run;
    substitute.host = host;
}

/* ---- forks and the end ---- */

/* Only the forking thread is left: begin anew, whatever the others held. */
static void in_child(void)
{
    pthread_mutex_init(&pool.region_lock, NULL);
    pthread_mutex_init(&pool.sleep_lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    atomic_store(&pool.word, 0);
    atomic_store(&pool.pending, 0);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.caller_sleeps, false);
    atomic_store(&pool.stopping, false);
    pool.nworkers = 0;
    pool.life++;
}

static void start(void)
{
    pthread_atfork(NULL, NULL, in_child);
    int n = 0;
    const char *word = getenv("LUNARRAY_NUM_THREADS");
    if (word) n = atoi(word);
    if (n < 1) n = la_machine_threads();
    int none = 0;
    atomic_compare_exchange_strong(&wanted, &none, n > 256 ? 256 : n);
}

void la_pool_shutdown(void)
{
    if (inside || pthread_mutex_trylock(&pool.region_lock)) return;
    atomic_store(&pool.stopping, true);
    wake_sleepers();
    for (int k = 0; k < pool.nworkers; k++) pthread_join(pool.thread[k], NULL);
    pool.nworkers = 0;
    atomic_store(&pool.stopping, false);
    pthread_mutex_unlock(&pool.region_lock);
}

static __attribute__((destructor)) void at_unload(void)
{
    la_pool_shutdown();
}

/* ---- the interface ---- */

void la_parallel_for(int64_t n, int64_t grain, la_range_fn fn, void *context)
{
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    if (inside || n <= grain) run_serially(n, fn, context);
    else if (substitute.run) run_in_host(n, grain, fn, context);
    else run_in_pool(n, grain, fn, context);
}

int la_num_threads(void)
{
    int n = atomic_load_explicit(&wanted, memory_order_relaxed);
    if (n) return n;
    pthread_once(&once, start);
    return atomic_load(&wanted);
}

void la_set_num_threads(int n)
{
    pthread_once(&once, start);
    atomic_store(&wanted, n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n);
}

int la_thread_index(void)
{
    return thread_index;
}

bool la_in_parallel(void)
{
    return inside;
}
