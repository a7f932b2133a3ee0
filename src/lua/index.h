/* Indices, and the constants of indexing: la.newaxis and la.ellipsis. */
#ifndef LA_LUA_INDEX_H
#define LA_LUA_INDEX_H

#include "lua/binding.h"

#define LA_NEWAXIS_NAME "lunarray.newaxis"
void la_open_index(lua_State *L, int lib);

#endif
