/*
** Asking the host whether to stop.
**
** The hook may be called on any thread that works for us, and from several at
** once. Its first yes counts for the whole operation, whatever it answers
** later: it is noted on the thread that began the operation, whose workers
** share the note, so that no result of half the work is taken for a whole one.
*/
#include <stdatomic.h>
#include <stddef.h>

#include "base/pool.h"

static _Atomic(la_interrupt_fn) hook;
static _Atomic(void *) hook_host;

_Thread_local atomic_bool la_stopping;
static _Thread_local atomic_bool *shared;   /* a region's; NULL: our own */

void la_set_interrupt(la_interrupt_fn fn, void *host)
{
    atomic_store(&hook, (la_interrupt_fn)NULL);
    atomic_store(&hook_host, host);
    atomic_store(&hook, fn);
}

atomic_bool *la_stop_note(void)
{
    return shared ? shared : &la_stopping;
}

atomic_bool *la_share_stop_note(atomic_bool *note)
{
    atomic_bool *before = shared;
    shared = note;
    return before;
}

bool la_interrupted(void)
{
    la_interrupt_fn fn = atomic_load_explicit(&hook, memory_order_acquire);
    atomic_bool *note = la_stop_note();
    if (atomic_load_explicit(note, memory_order_relaxed)) return true;
    if (!fn || !fn(atomic_load_explicit(&hook_host, memory_order_relaxed)))
        return false;
    atomic_store(note, true);
    return true;
}

la_status la_poll(void)
{
    if (!la_interrupted()) return LA_OK;
    if (!shared) atomic_store(&la_stopping, false);
    return la_error(LA_EINTR, "interrupted");
}
