/*
** Threads for work that is not a range of a loop (pool.h has those): each runs
** one function to its end.
*/
#ifndef LA_BASE_THREAD_H
#define LA_BASE_THREAD_H

#include "base/status.h"

typedef struct la_thread la_thread;

/* New: a thread in run(context), without the host's signals. LA_ENOMEM where
** the system has no more. */
la_status la_thread_start(void (*run)(void *context), void *context,
                          la_thread **out);
/* Returns when it has ended; t is gone then. NULL is allowed. */
void la_thread_join(la_thread *t);

#endif
