/* Files of pictures and sounds: what their functions share (media.h). */
#include "lua/files/media.h"

#include <string.h>

#include "lua/binding.h"
#include "tensor/host/remote.h"

la_status la_media_check(const la_tensor *t)
{
    if (t->flags & LA_F_BATCHED) return la_refuse_batched();
    if (t->device == LA_META)
        return la_error(LA_ESTATE, "a meta tensor has no data to save");
    LA_TRY(la_remote_refuse(t));
    if (t->numel && !t->storage)
        return la_error(LA_ESTATE, "the tensor has no data to save");
    return LA_OK;
}

la_status la_media_name(la_status status, const char *path)
{
    char text[512], shown[300];
    if (status != LA_EIO) return status;
    strncpy(text, la_error_message(), sizeof text - 1);
    text[sizeof text - 1] = 0;
    return la_error(status, "'%s': %s",
                    la_quote(path, strlen(path), shown, sizeof shown), text);
}

void la_media_source(lua_State *L, const char *name, const char *expected,
                     la_reader *out)
{
    size_t n;
    if (lua_type(L, 1) != LUA_TSTRING)
        la_raise_arg(L, 1, name, "string of %s bytes expected, got %s",
                     expected, la_type_text(L, 1));
    const char *bytes = lua_tolstring(L, 1, &n);
    la_reader_of_memory(bytes, n, out);
}

void la_media_order(lua_State *L, int n)
{
    lua_settop(L, n);
    if (lua_type(L, 1) != LUA_TSTRING || lua_type(L, 2) == LUA_TSTRING) return;
    lua_pushvalue(L, 1);
    lua_copy(L, 2, 1);
    lua_replace(L, 2);
}
