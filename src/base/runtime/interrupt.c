/*
** Asking whether to stop: the token of whoever began the work, then the host's
** hook.
**
** Both may be asked on any thread that works for us, and from several at once.
** The first yes counts for the whole operation, whatever is answered later: it
** is noted on the thread that began the operation, whose workers share the
** note, so that no result of half the work is taken for a whole one.
*/
#include "base/runtime/interrupt.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/runtime/host_call.h"
#include "base/runtime/parts.h"
#include "base/runtime/stop_note.h"
#include "base/runtime/token.h"

void la_set_interrupt(la_interrupt_fn fn, void *host)
{
    la_runtime *rt = &la_default_runtime;
    atomic_store(&rt->interrupt, (la_interrupt_fn)NULL);
    atomic_store(&rt->interrupt_host, host);
    atomic_store(&rt->interrupt, fn);
}

/* The hooks of the runtime that this thread works for. */
static bool ask_hooks(la_token *k)
{
    la_runtime *rt = la_runtime_here();
    la_interrupt_fn fn = atomic_load_explicit(&rt->interrupt,
                                              memory_order_acquire);
    if (fn && fn(atomic_load_explicit(&rt->interrupt_host,
                                      memory_order_relaxed))) return true;
    return rt->stop && rt->stop(rt->stop_context,
                                k == &la_no_token ? NULL : k);
}

static bool host_stops(la_token *k)
{
    la_runtime *rt = la_runtime_here();
    if (!rt->stop && !atomic_load_explicit(&rt->interrupt,
                                           memory_order_acquire)) return false;
    la_host_call call;
    la_host_begin(&call);
    bool stops = ask_hooks(k);
    la_host_end(&call);
    return stops;
}

static la_status reason(la_token *k)
{
    la_status code = la_token_armed(k) ? la_token_reached(k) : LA_OK;
    return code ? code : host_stops(k) ? LA_EINTR : LA_OK;
}

bool la_interrupted(void)
{
    atomic_int *said = la_stop_said();
    if (atomic_load_explicit(said, memory_order_relaxed)) return true;
    la_status code = reason(la_stop_token());
    if (code) atomic_store(said, (int)code);
    return code != LA_OK;
}

bool la_may_be_interrupted(void)
{
    la_runtime *rt = la_runtime_here();
    la_token *k = la_stop_token();
    return k != &la_no_token || rt->stop
        || atomic_load_explicit(&rt->interrupt, memory_order_acquire);
}

la_status la_poll(void)
{
    if (!la_interrupted()) return LA_OK;
    if (la_stop_shared)
        return la_stop_error((la_status)atomic_load(&la_stop_shared->said));
    return la_stop_error((la_status)atomic_exchange(&la_stopping, LA_OK));
}
