/* Making tensors from Lua values, for the parts of the binding that need it. */
#ifndef LA_LUA_FROM_TABLE_H
#define LA_LUA_FROM_TABLE_H

#include "lua/binding.h"
#include "op/device_names.h"

/* Raise "unknown keyword" for a key of the table at 'at' (an absolute index)
** that is not in the NULL-ended list; the error names the whole list. */
void la_check_keywords(lua_State *L, int at, const char *const *known,
                       const char *name);
/* A list of sizes (or one integer) at 'at'; returns how many. */
int la_read_sizes(lua_State *L, int at, int64_t *sizes, const char *name);
/* src/grad: make a leaf that records, or one that does not. LA_EDTYPE unless
** the dtype is floating or complex, LA_EGRAD when it is no leaf. */
la_status la_require_grad(la_tensor *t, bool on);

#endif
