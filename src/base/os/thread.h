/*
** Threads for work that is not a range of a loop (thread_pool.h has those):
** each runs one function to its end.
*/
#ifndef LA_BASE_OS_THREAD_H
#define LA_BASE_OS_THREAD_H

#include <stdint.h>

#include "base/status.h"

typedef struct la_thread la_thread;

/* New: a thread in run(context), without the host's signals. LA_ENOMEM where
** the system has no more. */
la_status la_thread_start(void (*run)(void *context), void *context,
                          la_thread **out);
/* Returns when it has ended; t is gone then. NULL is allowed. */
void la_thread_join(la_thread *t);
/* Releases t in the child of a fork, where it does not run. */
void la_thread_forget(la_thread *t);

/* Sleep for less than a second, or until a signal comes. */
void la_thread_nap(int64_t nanoseconds);

#endif
