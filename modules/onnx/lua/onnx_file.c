/* Files of models, mapped, as userdata. */
#include "modules/onnx/lua/onnx.h"

#include "io/stream.h"

#define FILE_NAME "lunarray.onnx.file"

static int file_gc(lua_State *L)
{
    la_onnx_file *f = lua_touserdata(L, 1);
    la_enter_state(L);
    la_mapping_drop(&f->mapping);
    return 0;
}

la_onnx_file *la_push_onnx_file(lua_State *L)
{
    la_onnx_file *f = lua_newuserdatauv(L, sizeof *f, 0);
    *f = (la_onnx_file){0};
    if (la_new_metatable(L, FILE_NAME, NULL)) {
        lua_pushcfunction(L, file_gc);
        lua_setfield(L, -2, "__gc");
    }
    la_take_metatable(L);
    return f;
}

la_status la_onnx_file_map(la_onnx_file *f, const char *path)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    LA_TRY(la_mapping_open(&source, &f->mapping));
    f->bytes = f->mapping->data;
    f->n = f->mapping->bytes;
    return LA_OK;
}
