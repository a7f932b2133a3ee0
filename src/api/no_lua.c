/*
** The functions of the binding that src/api calls, for a library without Lua:
** no state has settings, and no name is taken.
*/
#include "api/api.h"
#include "grad/grad.h"

la_context *la_context_of(lua_State *L) { return NULL; }

la_status la_backward_on(lua_State *L, la_tensor *t, la_tensor *seed)
{
    return la_run_backward(1, &t, seed ? &seed : NULL, 0, NULL, NULL,
                           LA_BW_ACCUMULATE);
}

bool la_is_lua_name(const char *name, size_t n) { return false; }
