/* Making tensors from Lua values, for the parts of the binding that need it. */
#ifndef LA_LUA_FROM_TABLE_H
#define LA_LUA_FROM_TABLE_H

#include "lua/binding.h"

/* A list of sizes (or one integer) at 'at'; returns how many. 'sizes' has
** LA_MAX_DIMS entries; signs are not looked at. Raises for more sizes and for
** what is no integer. A list with a metatable is read through it, so Lua code
** may run: tensors that were looked up before must be looked up again. */
int la_read_sizes(lua_State *L, int at, int64_t *sizes, const char *name);

#endif
