/* Asking the host whether to stop. The hook may be called on any thread that
** works for us, and from several at once. */
#include <stdatomic.h>
#include <stddef.h>

#include "base/pool.h"

static _Atomic(la_interrupt_fn) hook;
static _Atomic(void *) hook_host;

void la_set_interrupt(la_interrupt_fn fn, void *host)
{
    atomic_store(&hook, (la_interrupt_fn)NULL);
    atomic_store(&hook_host, host);
    atomic_store(&hook, fn);
}

bool la_interrupted(void)
{
    la_interrupt_fn fn = atomic_load_explicit(&hook, memory_order_acquire);
    return fn && fn(atomic_load_explicit(&hook_host, memory_order_relaxed));
}
