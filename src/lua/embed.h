/* The Lua modules inside the library; see embed.c. */
#ifndef LA_LUA_EMBED_H
#define LA_LUA_EMBED_H

#include <lua.h>
#include <stdbool.h>
#include <string.h>

/* Put a loader for every embedded module into package.preload; what stands
** there already is kept. luaopen_lunarray calls it, and so does la_openlibs.
** Leaves the stack as it was; raises for want of memory. No module is compiled
** before it is required. */
void la_open_embedded(lua_State *L);

/* Opens all standard libraries of Lua; raises for want of memory. The function
** of Lua's that does it has another name in each version, and a module that
** refers to it can't be loaded by the other one. */
void la_open_standard(lua_State *L);

/* (name): the module, loaded once, as require gives it, from what is loaded or
** preloaded alone. A lua_CFunction; raises. */
int la_require(lua_State *L);
/* Is there a module lunarray.<name>? */
bool la_is_embedded(const char *name, size_t n);
/* Does the name (of a module, of a chunk) begin with "lunarray."? Such names
** are the library's. */
static inline bool la_is_module_name(const char *name)
{
    return strncmp(name, "lunarray.", 9) == 0;
}

#endif
