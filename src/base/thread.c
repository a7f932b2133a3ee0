/*
** Threads that run one function to its end.
**
** Their stacks are as large as the system makes them, unlike those of the
** pool's workers: a thread may run a Lua state, whose C functions nest. Who
** starts one joins it; none is ever detached, so that nothing of the library
** runs after its unloading.
*/
#include "base/thread.h"

#include <pthread.h>

#include "base/memory.h"
#include "base/os.h"

struct la_thread {
    pthread_t id;
    void (*run)(void *context);
    void *context;              /* borrowed */
};

/* What pthread_create wants around 'run'. */
static void *begin(void *context)
{
    la_thread *t = context;
    t->run(t->context);
    return NULL;
}

la_status la_thread_start(void (*run)(void *context), void *context,
                          la_thread **out)
{
    la_os_signals old;
    la_thread *t = la_mem_alloc(sizeof *t);
    if (!t) return la_error(LA_ENOMEM, "not enough memory");
    *t = (la_thread){.run = run, .context = context};
    /* The new thread inherits the mask: the host's signals go to its own. */
    la_os_block_signals(&old);
    int failed = pthread_create(&t->id, NULL, begin, t);
    la_os_restore_signals(&old);
    if (failed) {
        la_mem_free(t, sizeof *t);
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
    la_mem_free(t, sizeof *t);
}
