/* Both headers, with names taken that are macros in engines. */
#include "../c/engine_macros.h"

#include "lunarray.hpp"

la::tensor first(lua_State *L);
la::tensor first(lua_State *L) { return (la::check)(L, 1); }
