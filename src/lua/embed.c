/* The Lua modules inside the library. */
#include "lua/face.h"

void la_open_embedded(lua_State *L) { (void)L; }
