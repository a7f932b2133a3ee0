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
    return la_push_collected(L, sizeof(la_bytes), BYTES_NAME, bytes_gc);
}
