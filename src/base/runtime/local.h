/*
** What a thread has of its own in a runtime: free lists, counters, settings and
** the record of failures. base/runtime/runtime.c makes and ends them.
*/
#ifndef LA_BASE_RUNTIME_LOCAL_H
#define LA_BASE_RUNTIME_LOCAL_H

#include <stdatomic.h>

#include "base/runtime/context.h"
#include "base/status.h"

enum { LA_MEM_CLASSES = 1024 / 64 + 1 };

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
    char *scratch;              /* the next free byte of a block of scratch */
    char *scratch_block;        /* (base/scratch.h), NULL: it has none yet */
};

/* This thread's own things where it is; made at the first call. NULL when there
** is no memory for them; no error record is written. */
la_local *la_local_make(void);
static inline la_local *la_local_here(void)
{
    return la_here.local ? la_here.local : la_local_make();
}

/* Drops this thread's state in the default runtime, until it is needed. */
void la_local_forget(void);
/* Does it live, and belong to this thread? */
bool la_local_is_mine(const la_local *t);
/* Handlers of threads' ends and forks; every way in begins with it. */
void la_runtimes_start(void);

#endif
