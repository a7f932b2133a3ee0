/*
** Work that asks nobody, calls of foreign libraries above all: on threads of
** its own, so that whoever waits for it can stop waiting. What was left behind
** goes on to its end and then gives up what it holds; the runtime's end waits
** for it.
*/
#ifndef LA_BASE_ERRAND_H
#define LA_BASE_ERRAND_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/runtime.h"
#include "base/thread.h"

enum { LA_MOST_HANDS = 16 };

/* The head of a struct from la_mem_alloc, which is zero at first. */
typedef struct la_errand {
    void (*run)(struct la_errand *e);   /* once on each thread */
    /* Gives up the struct and what it holds, at its end: on the caller's
    ** thread, or on one of its own when it was left behind. */
    void (*drop)(struct la_errand *e);
    la_runtime *runtime;
    la_fp_mode mode;
    atomic_int working;         /* threads that have not ended */
    atomic_int holders;         /* ... and the caller */
    atomic_bool left;           /* nobody waits */
    bool alone;                 /* it runs on the caller's thread */
} la_errand;

/* By at most 'hands' threads. Without any to be had, on the caller's. LA_OK:
** it has run, and 'e' is the caller's still, who drops it; or LA_EINTR: the
** caller is to stop, and 'e' is not its any more. 'leave' (may be NULL) is
** called before threads are left behind. */
la_status la_errand_run(la_errand *e, int hands, void (*leave)(void));
/* 'run' asks between parts of its work, and ends early for a no. */
bool la_errand_goes_on(la_errand *e);

/* Waits for what was left behind in 'rt'. */
void la_errands_end(la_runtime *rt);

#endif
