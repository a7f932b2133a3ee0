/* The Lua modules inside the library; see embed.c. */
#ifndef LA_LUA_EMBED_H
#define LA_LUA_EMBED_H

#include <lua.h>

/* Put a loader for every embedded module into package.preload; what stands
** there already is kept. luaopen_lunarray calls it, and so does la_openlibs.
** Leaves the stack as it was; raises for want of memory. No module is compiled
** before it is required. */
void la_open_embedded(lua_State *L);

#endif
