/* The invariants of a runtime, for the debug build. */
#include "base/runtime/runtime_verify.h"

#ifdef LA_DEBUG

#include "base/assert.h"
#include "base/runtime/parts.h"

void la_runtime_verify(la_runtime *rt)
{
    uint64_t serial = __atomic_load_n(&la_owner_serial[rt->owner],
                                      __ATOMIC_RELAXED);
    la_assert(rt->serial == serial);
    la_assert(rt != &la_default_runtime || serial == 0);
    la_assert(atomic_load(&rt->states) >= 0);
    la_assert(atomic_load(&rt->background_threads) >= 0);
    la_assert(!rt->memory.alloc == !rt->memory.release);
    la_assert(atomic_load(&rt->pool.wanted) >= 0
              && atomic_load(&rt->pool.wanted) <= LA_MAX_THREADS);
}

#endif
