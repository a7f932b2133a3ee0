/*
** Threads that run one function to its end.
**
** Their stacks are as large as the system makes them, where those of the pool's
** workers have a size: a thread may run a Lua state, whose C functions nest.
** They are no smaller than the workers' (musl and macOS make small ones). Who
** starts one joins it; none is ever detached, so that nothing of the library
** runs after its unloading.
*/
#include "base/os/thread.h"

#include <pthread.h>
#include <time.h>

#include "base/runtime/memory.h"
#include "base/os/os.h"

enum { LEAST_STACK = 1 << 20 };

struct la_thread {
    pthread_t id;
    void (*run)(void *context);
    void *context;              /* borrowed */
};

/* Signature that pthread_create wants around 'run'. */
static void *thread_begin(void *context)
{
    la_thread *t = context;
    t->run(t->context);
    return NULL;
}

static int thread_create(la_thread *t)
{
    pthread_attr_t attr;
    size_t size = 0;
    int failed = pthread_attr_init(&attr);
    if (failed) return failed;
    pthread_attr_getstacksize(&attr, &size);      /* 0: not told */
    if (size && size < LEAST_STACK)
        pthread_attr_setstacksize(&attr, LEAST_STACK);
    failed = pthread_create(&t->id, &attr, thread_begin, t);
    pthread_attr_destroy(&attr);
    return failed;
}

la_status la_thread_start(void (*run)(void *context), void *context,
                          la_thread **out)
{
    la_os_signals old;
    la_thread *t = la_mem_take(sizeof *t);
    if (!t) return la_error(LA_ENOMEM, "not enough memory");
    *t = (la_thread){.run = run, .context = context};
    /* The new thread inherits the mask: the host's signals go to its own. */
    la_os_block_signals(&old);
    int failed = thread_create(t);
    la_os_restore_signals(&old);
    if (failed) {
        la_mem_give(t, sizeof *t);
        return la_error(LA_ENOMEM, "no more threads could be started");
    }
    *out = t;
    return LA_OK;
}

/* The join can only fail for a thread that joins itself. */
void la_thread_join(la_thread *t)
{
    if (!t) return;
    pthread_join(t->id, NULL);
    la_mem_give(t, sizeof *t);
}

void la_thread_forget(la_thread *t) { la_mem_give(t, sizeof *t); }

void la_thread_nap(int64_t nanoseconds)
{
    struct timespec t = {0, (long)nanoseconds};
    nanosleep(&t, NULL);
}
