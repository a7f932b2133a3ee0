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
#include "base/runtime/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/cpu.h"
#include "base/os/fpmode.h"
#include "base/os/os.h"
#include "base/runtime/host_call.h"
#include "base/runtime/local.h"
#include "base/log.h"
#include "base/runtime/parts.h"
#include "base/runtime/passage.h"
#include "base/runtime/stop_note.h"
#include "base/runtime/token.h"
#include "lunarray.h"

enum { MAX_THREADS = LA_MAX_THREADS, WORKER_STACK = 1 << 20 };
#define SPIN_NS 50000

static _Thread_local int thread_index;
static _Thread_local bool inside;

static inline la_pool *pool_here(void) { return &la_runtime_here()->pool; }

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

/* ---- chunks ---- */

/* Chunk k of 'chunks' equal ones (the first ones take the remainder). */
static int64_t chunk_begin(int64_t n, int chunks, int k)
{
    int64_t size = n / chunks, rest = n % chunks;
    return k * size + (k < rest ? k : rest);
}

static void run_chunk(la_pool *p, int chunks, int k)
{
    la_region job = p->job;
    la_fp_mode before = la_fp_adopt(job.mode);
    la_stop_note *own = la_share_stop_note(job.stop);
    unsigned mask = la_cap_mask;
    la_cap_mask = job.cap_mask;
    job.fn(chunk_begin(job.n, chunks, k), chunk_begin(job.n, chunks, k + 1),
           job.context);
    la_clear_upper();
    la_cap_mask = mask;
    la_share_stop_note(own);
    la_fp_restore(before);
}

/* A chunk of this thread is done; the last one wakes a sleeping caller. */
static void report_done(la_pool *p)
{
    if (atomic_fetch_sub(&p->pending, 1) != 1) return;
    if (!atomic_load(&p->caller_sleeps)) return;
    pthread_mutex_lock(&p->sleep_lock);
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->sleep_lock);
}

/* Chunks are left in 'w', and this thread's index is below their number: an
** index must be good for arrays of la_num_threads() entries. */
static inline bool can_take(uint64_t w)
{
    return next_of(w) < chunks_of(w) && thread_index < chunks_of(w);
}

/* Take and run chunks until none is left. Stops after a fork in a chunk: the
** region belongs to the parent then. */
static void run_chunks(la_pool *p)
{
    unsigned life = p->life;
    uint64_t w = atomic_load(&p->word);
    while (can_take(w)) {
        if (!atomic_compare_exchange_weak(&p->word, &w, w + 1)) continue;
        run_chunk(p, chunks_of(w), next_of(w));
        if (p->life != life) return;
        report_done(p);
        w = atomic_load(&p->word);
    }
}

/* ---- workers ---- */

static bool has_work(la_pool *p)
{
    return can_take(atomic_load(&p->word)) || atomic_load(&p->stopping);
}

static bool spin_for_work(la_pool *p)
{
    int64_t until = 0;
    for (int i = 0; ; i++) {
        if (has_work(p)) return true;
        relax();
        if (i & 63) continue;
        int64_t now = la_nanoseconds();
        if (!until) until = now + atomic_load(&p->spin_ns);
        if (now > until) return false;
    }
}

static void sleep_for_work(la_pool *p)
{
    pthread_mutex_lock(&p->sleep_lock);
    atomic_fetch_add(&p->sleepers, 1);
    while (!has_work(p)) pthread_cond_wait(&p->work, &p->sleep_lock);
    atomic_fetch_sub(&p->sleepers, 1);
    pthread_mutex_unlock(&p->sleep_lock);
}

/* Belongs to the runtime of its pool for life. Its index is its number among
** the workers. */
static void *worker(void *runtime)
{
    la_move_to(runtime);
    la_pool *p = pool_here();
    unsigned life = p->life;
    thread_index = atomic_fetch_add(&p->begun, 1) + 1;
    inside = true;  /* regions inside a chunk are serial */
    while (!atomic_load(&p->stopping)) {
        if (!spin_for_work(p)) sleep_for_work(p);
        run_chunks(p);
        if (p->life != life) break;  /* we are a forked child */
    }
    return NULL;
}

/* Start workers up to 'n'; fewer when the system has no more. The region lock
** is held. Signals stay with the host's threads. */
static void start_workers(la_pool *p, int n)
{
    la_os_signals old;
    pthread_attr_t attr;
    la_runtimes_start();
    if (pthread_attr_init(&attr)) return;
    pthread_attr_setstacksize(&attr, WORKER_STACK);
    la_os_block_signals(&old);
    while (p->nworkers < n) {
        int k = p->nworkers;
        if (pthread_create(&p->thread[k], &attr, worker, la_runtime_here())) {
            la_log(la_runtime_here(), LA_LOG_WARNING, "no more than %d threads "
                   "could be started", k + 1);
            break;
        }
        p->nworkers++;
    }
    la_os_restore_signals(&old);
    pthread_attr_destroy(&attr);
    atomic_store(&p->spin_ns, p->nworkers < la_os_processors()
                                ? SPIN_NS : 0);
}

static void wake_sleepers(la_pool *p)
{
    if (!atomic_load(&p->sleepers)) return;
    pthread_mutex_lock(&p->sleep_lock);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->sleep_lock);
}

/* ---- regions ---- */

static void await_chunks(la_pool *p)
{
    int64_t until = 0;
    for (int i = 0; atomic_load(&p->pending) > 0; i++) {
        relax();
        if (i & 63) continue;
        int64_t now = la_nanoseconds();
        if (!until) until = now + atomic_load(&p->spin_ns);
        if (now > until) break;
    }
    if (atomic_load(&p->pending) == 0) return;
    pthread_mutex_lock(&p->sleep_lock);
    atomic_store(&p->caller_sleeps, true);
    while (atomic_load(&p->pending) > 0)
        pthread_cond_wait(&p->done, &p->sleep_lock);
    atomic_store(&p->caller_sleeps, false);
    pthread_mutex_unlock(&p->sleep_lock);
}

/* The region lock is held. Chunk 0 is the caller's own: in one region after
** another the same part of the data is met by the same core, in its cache. */
static void run_region(la_pool *p, int64_t n, int chunks, la_range_fn fn,
                       void *context)
{
    unsigned life = p->life;
    uint32_t number = number_of(atomic_load(&p->word)) + 1;
    la_stop_note stop;
    la_stop_note_begin(&stop);
    p->job = (la_region){fn, context, n, la_fp_current(), &stop,
                         la_cap_mask};
    /* Seen by whoever takes a chunk: the word is stored after it. */
    atomic_store_explicit(&p->pending, chunks, memory_order_relaxed);
    atomic_store(&p->word, make_word(number, chunks, 1));
    wake_sleepers(p);
    inside = true;
    run_chunk(p, chunks, 0);
    if (p->life == life) {
        report_done(p);
        run_chunks(p);
    }
    inside = false;
    if (p->life == life) await_chunks(p);
    la_stop_note_end(&stop);
}

static void run_serially(int64_t n, la_range_fn fn, void *context)
{
    fn(0, n, context);
}

static void run_in_pool(int64_t n, int64_t grain, la_range_fn fn, void *context)
{
    la_pool *p = pool_here();
    int64_t most = n / grain, threads = la_num_threads();
    int chunks = (int)(most < threads ? most : threads);
    if (chunks <= 1 || pthread_mutex_trylock(&p->region_lock)) {
        run_serially(n, fn, context);
        return;
    }
    unsigned life = p->life;
    if (p->nworkers < chunks - 1) start_workers(p, chunks - 1);
    if (p->nworkers) run_region(p, n, chunks, fn, context);
    else run_serially(n, fn, context);
    if (p->life == life) pthread_mutex_unlock(&p->region_lock);
}

/* ---- the host's job system ---- */

typedef struct host_job {
    la_runtime *runtime;
    la_range_fn fn;
    void *context;
    int64_t n;
    la_fp_mode mode;
    unsigned cap_mask;
    la_stop_note stop;
    /* Sum of mix(end) - mix(begin) over the ranges run. Ranges are edges from
    ** a lower to a higher index, so that the sum is mix(n) - mix(0) just when
    ** they form one path from 0 to n: nothing missed, nothing repeated. */
    atomic_uint_fast64_t sum;
    atomic_bool outside;
} host_job;

/* An odd multiplier and a shift: sums of few differences do not meet by chance
** (Steele, Lea and Flood's SplitMix64 finalizer). */
static uint64_t pool_mix(int64_t index)
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
    LA_ENTRY_IN(job->runtime);
    la_fp_mode before = la_fp_adopt(job->mode);
    la_stop_note *own = la_share_stop_note(&job->stop);
    unsigned mask = la_cap_mask;
    la_cap_mask = job->cap_mask;
    inside = true;
    if (begin < end) job->fn(begin, end, job->context);
    la_clear_upper();
    inside = outer;
    la_cap_mask = mask;
    la_share_stop_note(own);
    la_fp_restore(before);
    atomic_fetch_add(&job->sum, pool_mix(end) - pool_mix(begin));
}

/* While it waits the host may run other jobs on this thread, which know nothing
** of this one. */
static void pool_ask_host(const la_jobs *jobs, int64_t grain, host_job *job)
{
    la_host_call call;
    la_host_begin(&call);
    if (jobs->parallel_for) {
        jobs->parallel_for(jobs->host, job->n, grain, run_host_range, job);
    } else {
        void *task = jobs->enqueue(jobs->host, job->n, grain, run_host_range,
                                   job);
        if (task) jobs->finish(jobs->host, task);
    }
    la_host_end(&call);
}

static void run_in_host(const la_jobs *jobs, int64_t n, int64_t grain,
                        la_range_fn fn, void *context)
{
    host_job job = {.runtime = la_runtime_here(), .fn = fn, .context = context,
                    .n = n, .mode = la_fp_current(),
                    .cap_mask = la_cap_mask};
    la_stop_note_begin(&job.stop);
    pool_ask_host(jobs, grain, &job);
    la_stop_note_end(&job.stop);
    if (atomic_load(&job.sum) == pool_mix(n) - pool_mix(0)
        && !atomic_load(&job.outside))
        return;
    la_host_fault = true;
    la_log(job.runtime, LA_LOG_ERROR, "the host's job system missed or "
           "repeated a part of 0..%lld (grain %lld)", (long long)n - 1,
           (long long)grain);
}

la_status la_region_status(la_status status)
{
    bool fault = la_host_fault;
    la_host_fault = false;
    la_status stop = (la_status)atomic_exchange(&la_stopping, LA_OK);
    if (stop && (status == LA_OK || la_is_stop(status)))
        return la_stop_error(stop);
    if (status || !fault) return status;
    return la_error(LA_EJOBS, "the host's job system missed or repeated a"
                    " range");
}

void la_set_parallel_for(la_host_parallel_for run, void *host)
{
    la_default_runtime.jobs = (la_jobs){.parallel_for = run, .host = host};
}

/* ---- forks and the end ---- */

void la_pool_begin(la_pool *p)
{
    pthread_mutex_init(&p->region_lock, NULL);
    pthread_mutex_init(&p->sleep_lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
}

/* Only the forking thread is left: begin anew, whatever the others held. */
void la_pool_forked(la_pool *p)
{
    la_pool_begin(p);
    atomic_store(&p->word, 0);
    atomic_store(&p->pending, 0);
    atomic_store(&p->sleepers, 0);
    atomic_store(&p->begun, 0);
    atomic_store(&p->caller_sleeps, false);
    atomic_store(&p->stopping, false);
    p->nworkers = 0;
    p->life++;
}

/* Number of threads by LUNARRAY_NUM_THREADS, or by the machine. */
static int choose_threads(la_pool *p)
{
    int n = 0, none = 0;
    const char *word = getenv("LUNARRAY_NUM_THREADS");
    if (word) n = atoi(word);
    if (n < 1) n = la_os_processors();
    atomic_compare_exchange_strong(&p->wanted, &none,
                                   n > MAX_THREADS ? MAX_THREADS : n);
    return atomic_load(&p->wanted);
}

bool la_pool_end(la_pool *p)
{
    if (inside || pthread_mutex_trylock(&p->region_lock)) return false;
    atomic_store(&p->stopping, true);
    wake_sleepers(p);
    for (int k = 0; k < p->nworkers; k++) pthread_join(p->thread[k], NULL);
    p->nworkers = 0;
    atomic_store(&p->begun, 0);
    atomic_store(&p->stopping, false);
    pthread_mutex_unlock(&p->region_lock);
    return true;
}

void la_pool_shutdown(void) { la_pool_end(pool_here()); }

/* Those of other runtimes are the host's to end. */
static __attribute__((destructor)) void at_unload(void)
{
    la_pool_end(&la_default_runtime.pool);
}

/* ---- the interface ---- */

void la_parallel_for(int64_t n, int64_t grain, la_range_fn fn, void *context)
{
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    const la_jobs *jobs = &la_runtime_here()->jobs;
    if (inside || n <= grain) run_serially(n, fn, context);
    else if (!la_has_jobs(jobs)) run_in_pool(n, grain, fn, context);
    else if (jobs->workers == 1) run_serially(n, fn, context);
    else run_in_host(jobs, n, grain, fn, context);
}

/* Under a host's job system its workers, where it said how many. */
int la_num_threads(void)
{
    la_runtime *rt = la_runtime_here();
    if (rt->jobs.workers > 0 && la_has_jobs(&rt->jobs)) return rt->jobs.workers;
    int n = atomic_load_explicit(&rt->pool.wanted, memory_order_relaxed);
    return n ? n : choose_threads(&rt->pool);
}

void la_set_num_threads(int n)
{
    atomic_store(&pool_here()->wanted,
                 n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n);
}

int la_thread_index(void)
{
    return thread_index;
}

bool la_in_parallel(void)
{
    return inside;
}
