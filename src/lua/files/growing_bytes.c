/* Growing bytes as a userdata. */
#include "lua/files/growing_bytes.h"

#include "lua/binding.h"

#define BYTES_NAME "lunarray.bytes"

static int bytes_gc(lua_State *L)
{
    la_enter_state(L);
    la_bytes_free(lua_touserdata(L, 1));
    return 0;
}

la_bytes *la_push_bytes(lua_State *L)
{
    la_bytes *b = lua_newuserdatauv(L, sizeof *b, 0);
    *b = (la_bytes){0};
    if (la_new_metatable(L, BYTES_NAME, NULL))
        la_set_event(L, "__gc", bytes_gc);
    la_take_metatable(L);
    return b;
}
