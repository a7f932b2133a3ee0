/* A Lua state for scripts that are not trusted. */
#ifndef LA_LUA_SANDBOX_SANDBOX_H
#define LA_LUA_SANDBOX_SANDBOX_H

#include <lauxlib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* (): opens what scripts may have of Lua's library, closes the rest of it, in a
** fresh state or one that the host has opened; it has joined its runtime before
** (la_join_runtime). Raises when Lua has no memory: nothing may run then. */
int la_close_unsafe(lua_State *L);
/* Charges Lua's memory, from now on, to the state's token, which gets the limit
** (0: none). The library's state must have begun. LA_ENOMEM. */
la_status la_count_memory(lua_State *L, size_t limit);

/* la_open_protected, of lua/api/api_state.c, loads the library into
** package.loaded and a global; raises. la_open_by runs such a function
** protected, with the stack as it was afterwards: LA_EARG, LA_ENOMEM, or the
** record of what it raised. */
int la_open_protected(lua_State *L);
la_status la_open_by(lua_State *L, lua_CFunction opens);

/* The text of a value, pushed: the name of its type where it has no other. */
void la_push_text(lua_State *L, int index);
/* The text of luaL_tolstring, but in a sandbox that of la_push_text. Borrowed
** from the value that is pushed. */
const char *la_push_shown(lua_State *L, int index);

#endif
