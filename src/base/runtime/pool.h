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
#ifndef LA_BASE_RUNTIME_POOL_H
#define LA_BASE_RUNTIME_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/runtime/token.h"

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
/* The host's function missed or repeated a range, or ran one outside, in a
** region of this thread. */
extern _Thread_local bool la_host_fault
    LA_HIDDEN;
/* Error of what the regions of an operation have left behind, once: LA_EJOBS
** for a fault of the host's, the reason of a stop that the operation itself did
** not report ('status'). */
la_status la_region_status(la_status status);

/* Long loops ask every few milliseconds (20 at most). la_interrupted, for the
** inside of a region: true means that the loop should end; it stays true until
** the operation has ended. la_poll, for whoever answers with a status: LA_OK,
** or with its text LA_ECANCEL, LA_EDEADLINE or LA_EFUEL (the token of the call
** that began the region) or LA_EINTR (the hook, which is the host's or the
** program's: Ctrl-C). */
typedef bool (*la_interrupt_fn)(void *host);
__attribute__((visibility("default")))
void la_set_interrupt(la_interrupt_fn, void *host);
bool la_interrupted(void);
la_status la_poll(void);
/* Can anybody say yes? A call that could ask nobody may then be made as it
** is. */
bool la_may_be_interrupted(void);
/* Nanoseconds of a clock that only goes forward. */
int64_t la_nanoseconds(void);
/* Piece bounds for passes that take nanoseconds for each of n elements: where
** the piece that begins at i ends. i itself, which ends the loop, when nothing
** is left or the operation is interrupted. Short passes do not ask, nor do last
** pieces.
**     for (int64_t i = 0, end; (end = la_poll_piece(i, n)) > i; i = end)
** la_poll_part, for what takes longer: of pieces of 'most' elements.
** LA_EACH_POLLED heads the loop over single elements i = first .. n-1 (a break
** leaves the piece alone). */
#define LA_POLL_ELEMENTS ((int64_t)1 << 18)
static inline int64_t la_poll_part(int64_t i, int64_t n, int64_t most)
{
    if (n - i <= most) return n;
    return la_interrupted() ? i : i + most;
}
static inline int64_t la_poll_piece(int64_t i, int64_t n)
{
    return la_poll_part(i, n, LA_POLL_ELEMENTS);
}
#define LA_EACH_POLLED(i, first, n)                                          \
    for (int64_t i = (first), i##_end;                                      \
         (i##_end = la_poll_piece(i, n)) > i; )                             \
        for (; i < i##_end; i++)
/* Polls after a pass over n elements, before the next one relies on it. */
static inline bool la_poll_long(int64_t n)
{
    return n > LA_POLL_ELEMENTS && la_interrupted();
}
/* Elements until the next poll, for an array of n elements that is worked on by
** runs of any length, of which a run takes some. */
static inline int64_t la_poll_every(int64_t n)
{
    return n > LA_POLL_ELEMENTS ? LA_POLL_ELEMENTS : INT64_MAX;
}
static inline bool la_poll_run(int64_t *left, int64_t n)
{
    *left -= n;
    if (*left >= 0) return false;
    *left = LA_POLL_ELEMENTS;
    return la_interrupted();
}
/* Nonzero: a poll of an operation that this thread began was answered yes, with
** this status; la_poll clears it, and the dispatcher asks after each
** operation. */
extern _Thread_local atomic_int la_stopping
    LA_HIDDEN;
static inline bool la_is_stopping(void)
{
    return atomic_load_explicit(&la_stopping, memory_order_relaxed);
}
/* Note of the pool's: what the polls of a region's chunks write, and the token
** that they ask. The region's caller begins and ends it, so that a yes comes to
** the caller's operation; for the time of a chunk a thread has the region's.
** la_share_stop_note returns the one before (NULL: the thread's own). */
typedef struct la_stop_note {
    atomic_int said;
    la_token *token;
} la_stop_note;
void la_stop_note_begin(la_stop_note *note);
void la_stop_note_end(la_stop_note *note);
la_stop_note *la_share_stop_note(la_stop_note *note);

#endif
