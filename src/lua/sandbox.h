/* A Lua state for scripts that are not trusted. */
#ifndef LA_LUA_SANDBOX_H
#define LA_LUA_SANDBOX_H

#include <lauxlib.h>

/* (): opens what scripts may have of Lua's library, closes the rest of it, in a
** fresh state or one that the host has opened. Raises when Lua has no memory:
** nothing may run in the state then. */
int la_close_unsafe(lua_State *L);

#endif
