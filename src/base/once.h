/* Functions that run once in a process, whichever thread comes first. */
#ifndef LA_BASE_ONCE_H
#define LA_BASE_ONCE_H

#include <pthread.h>

/* 'fn' runs once in the process; whoever comes meanwhile waits. */
typedef pthread_once_t la_once;
#define LA_ONCE PTHREAD_ONCE_INIT
static inline void la_run_once(la_once *once, void (*fn)(void))
{
    pthread_once(once, fn);
}

#endif
