/* The stack that a state runs on, for hosts (lunarray.h). */
#include "lua/binding.h"
#include "lua/sandbox/guard.h"
#include "lunarray.h"

/* An operation, or an error on its way out, begins with so much or more. */
#define KEPT ((size_t)32 << 10)

int la_raise_stack(lua_State *L, const la_state *s)
{
    if (s->closed)
        return luaL_error(L, "lunarray is closed in this Lua state");
    return luaL_error(L, "stack overflow (stack of the host)");
}

/* Scripts may use the upper half of a small stack. */
LA_API int la_set_stack(lua_State *L, void *low, size_t bytes)
{
    la_error_clear();
    la_state *s = L ? la_state_of(L) : NULL;
    if (!s)
        return la_error(LA_ESTATE, "la_set_stack: the library was not opened "
                        "in this state");
    s->context.small_stack = low != NULL;
    s->stack_low = (uintptr_t)low;
    s->stack_kept = !low ? 0 : bytes / 2 < KEPT ? bytes / 2 : KEPT;
    if (s->pulse) la_guard_thread(s, L);
    return LA_OK;
}
