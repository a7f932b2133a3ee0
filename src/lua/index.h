/* Indices, and the constants of indexing: la.newaxis and la.ellipsis. */
#ifndef LA_LUA_INDEX_H
#define LA_LUA_INDEX_H

#include "lua/binding.h"

#define LA_NEWAXIS_NAME "lunarray.newaxis"
void la_open_index(lua_State *L, int lib);

/* Does i, from 1 or negative from the end, count an element of this size? */
static inline bool la_in_range(int64_t i, int64_t size)
{
    return i != 0 && i <= size && i >= -size;
}

/* The error of one that doesn't; 'dim' from 0. */
la_status la_out_of_range(int64_t i, int dim, int64_t size);

#endif
