/* Indices, and the constants of indexing: la.newaxis and la.ellipsis. */
#ifndef LA_LUA_BRACKET_H
#define LA_LUA_BRACKET_H

#include "lua/binding.h"

/* The name of a metatable: a key entry is la.newaxis when it is a userdata of
** that type, not when it is one certain object. */
#define LA_NEWAXIS_NAME "lunarray.newaxis"
/* Set lib.newaxis and lib.ellipsis. 'lib' is an absolute stack index; the stack
** is left as it was. */
void la_open_index(lua_State *L, int lib);

#endif
