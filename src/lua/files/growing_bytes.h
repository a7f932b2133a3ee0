/* Memory that must not be lost when Lua raises. */
#ifndef LA_LUA_FILES_GROWING_BYTES_H
#define LA_LUA_FILES_GROWING_BYTES_H

#include <lua.h>

#include "io/bytes.h"

/* Push empty bytes that the collector owns; la_bytes_free may empty them
** earlier. Raises for want of memory. */
la_bytes *la_push_bytes(lua_State *L);

#endif
