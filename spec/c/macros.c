/* The header, with names taken that are macros in engines. */
#include "engine_macros.h"

#include "lunarray.h"

la_tensor *first(struct lua_State *L);
la_tensor *first(struct lua_State *L) { return la_check(L, 1); }
