/* Opening a state for scripts that are not trusted (lunarray.h). */
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "api/api.h"
#include "api/api_struct.h"
#include "lua/binding.h"
#include "lua/sandbox/guard.h"
#include "lua/sandbox/sandbox.h"
#include "lunarray.h"

/* The main thread of Lua has the hook, and the one that runs; coroutines get it
** from the thread that makes them, or when they run. */
static int open_closed(lua_State *L)
{
    la_close_unsafe(L);
    lua_settop(L, 0);
    la_state *s = la_state_of(L);
    s->sandboxed = true;
    s->steps_left = LA_GUARD_STEPS;
    s->aside = LA_ASIDE_MOST;
    s->context.zero_memory = true;
    s->context.must_ask = true;
    /* The hook comes last: what runs while the library opens is no script's. */
    la_open_protected(L);
    la_guard_thread(s, s->main);
    la_guard_thread(s, L);
    s->pulse->thread = s->main;
    return 0;
}

/* Opens in the state's runtime, with the thread's own settings. The token is
** there from la_join_runtime on; opening may fail after it for want of memory
** and be tried again. */
static la_status open_within(lua_State *L, const la_limits *l)
{
    LA_ENTRY_IN(l->runtime ? l->runtime : &la_default_runtime);
    LA_TRY(la_join_runtime(L, la_runtime_here()));
    LA_TRY(la_count_memory(L, l->memory));
    LA_TRY(la_open_by(L, open_closed));
    la_state *s = la_state_of(L);
    la_token *k = s->context.token;
    s->open = l->open;
    s->open_context = l->open_context;
    if (l->fuel) la_set_fuel(k, l->fuel);
    if (l->deadline) la_set_deadline(k, l->deadline);
    la_set_stack(L, l->stack, l->stack_bytes);
    return LA_OK;
}

/* Lua's memory is counted before the library opens, so that a limit holds for
** that too; the other limits begin when it is open. */
LA_API int la_open_sandboxed(lua_State *L, const la_limits *limits)
{
    la_limits l;
    LA_API_ENTRY(NULL);
    la_status status = LA_READ_STRUCT("la_open_sandboxed", la_limits, limits,
                                      &l);
    if (!status) status = open_within(L, &l);
    return la_api_end("la_open_sandboxed", status);
}
