/*
** parallel_for over our pool of threads, or over the host's.
**
** The range 0..n-1 is cut into at most num_threads chunks of at least 'grain'
** (chunk borders depend on n, grain and the thread count only); the caller
** works too. Inside a region, and when n <= grain, the call is serial. Workers
** start at the first use, spin shortly and then sleep, take over the caller's
** floating-point mode for the job, and survive fork by starting anew. When
** threads cannot be created there are fewer, with the same results.
*/
#ifndef LA_BASE_RUNTIME_THREAD_POOL_H
#define LA_BASE_RUNTIME_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef void (*la_range_fn)(int64_t begin, int64_t end, void *context);

void la_parallel_for(int64_t n, int64_t grain, la_range_fn fn, void *context);

/* Join all workers; the next region starts new ones. Done at unload too. */
void la_pool_shutdown(void);

/* Default: LUNARRAY_NUM_THREADS, else affinity and cgroup quota. */
int la_num_threads(void);
void la_set_num_threads(int n);      /* 1 .. 256, clamped */
int la_thread_index(void);           /* 0 for the caller, 1.. for workers */
bool la_in_parallel(void);

/* The host's job system: run fn(begin, end) for disjoint ranges covering
** 0..n-1, each exactly once, and return when all are done. NULL restores ours.
** To be set while no region runs; 'host' is borrowed until the next call. */
typedef void (*la_host_parallel_for)(void *host, int64_t n, int64_t grain,
                                     la_range_fn fn, void *context);
__attribute__((visibility("default")))
void la_set_parallel_for(la_host_parallel_for run, void *host);
/* Error of what the regions of an operation have left behind, once: LA_EJOBS
** for a fault of the host's, the reason of a stop that the operation itself did
** not report ('status'). */
la_status la_region_status(la_status status);

/* Functions for runtime.c. la_pool_end joins the workers; false when a region
** runs. */
struct la_pool;
void la_pool_begin(struct la_pool *p);
bool la_pool_end(struct la_pool *p);
void la_pool_forked(struct la_pool *p);

#endif
