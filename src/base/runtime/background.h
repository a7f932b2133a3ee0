/*
** Work that asks nobody, calls of foreign libraries above all: on threads of
** its own, so that whoever waits for it can stop waiting. What was abandoned
** goes on to its end and then gives up what it holds; the runtime's end waits
** for it.
*/
#ifndef LA_BASE_RUNTIME_BACKGROUND_H
#define LA_BASE_RUNTIME_BACKGROUND_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/os/fpmode.h"
#include "base/os/thread.h"
#include "base/runtime/context.h"

enum { LA_MOST_BACKGROUND = 16 };

/* The head of a struct from la_mem_alloc, which is zero at first. */
typedef struct la_background {
    void (*run)(struct la_background *e);   /* once on each thread */
    /* Gives up the struct and what it holds, at its end: on the caller's
    ** thread, or on one of its own when it was abandoned. */
    void (*drop)(struct la_background *e);
    la_runtime *runtime;
    la_token *payer;            /* whose task it is, while it is abandoned */
    la_fp_mode mode;
    atomic_int working;         /* threads that have not ended */
    atomic_int holders;         /* ... and the caller */
    atomic_bool left;           /* nobody waits */
    bool alone;                 /* it runs on the caller's thread */
} la_background;

/* Runs on at most so many threads, or on the caller's when there is none to be
** had. LA_OK: it has run, and 'e' is the caller's still, who drops it; or
** LA_EINTR: the caller is to stop, and 'e' is not its any more. 'leave' (may be
** NULL) is called before threads are abandoned. */
la_status la_background_run(la_background *e, int threads, void (*leave)(void));
/* 'run' asks between parts of its work, and ends early for a no. */
bool la_background_goes_on(la_background *e);

/* Waits for what was abandoned in 'rt'. */
void la_background_end(la_runtime *rt);

#endif
