/*
** la.load of GGUF files. They are mapped, but those of a host, which are read;
** lunarray.gguf makes tensors of their bytes. The other parts of a split file
** come from the same folder.
*/
#include <string.h>

#include "io/map.h"
#include "lua/binding.h"
#include "lua/embed.h"
#include "lua/files/loader.h"

static la_status load_fits(const la_reader *in, bool *yes)
{
    char magic[4];
    *yes = false;
    if (in->size < 24) return LA_OK;
    LA_TRY(la_reader_read(in, 0, magic, sizeof magic));
    *yes = memcmp(magic, "GGUF", 4) == 0;
    return LA_OK;
}

/* All bytes as a tensor. */
static la_status load_bytes(la_open_file *file, la_tensor **out)
{
    int64_t n = file->in.size;
    LA_TRY(la_check_limit(n, file->limit));
    if (file->source.size == 0) {
        LA_TRY(la_load_map(file));
        return la_mapping_tensor(file->mapping, 0, LA_UINT8, 1, &n, false, out);
    }
    LA_OWNED t = NULL;
    LA_TRY(la_tensor_empty(1, &n, LA_UINT8, &t));
    LA_TRY(la_reader_read(&file->in, 0, la_data(t), (size_t)n));
    *out = t;
    t = NULL;
    return LA_OK;
}

static void push_load_bytes(lua_State *L, la_open_file *file)
{
    la_state *s = la_enter(L);
    la_tensor *t = NULL;
    la_handle *h = la_new_handle(L, s);
    la_load_check(L, file, load_bytes(file, &t));
    la_fill_handle(s, h, t);
}

/* lunarray.gguf's function of that name. */
static void push_part_function(lua_State *L, const char *name)
{
    lua_pushcfunction(L, la_require);
    lua_pushstring(L, "lunarray.gguf");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

/* The file's table, and then the tensors of each other part. */
static int push_gguf(lua_State *L, la_open_file *file)
{
    push_part_function(L, "decode");
    push_load_bytes(L, file);
    lua_pushstring(L, file->path);
    lua_call(L, 2, 1);
    int at = lua_gettop(L);
    push_part_function(L, "_other_parts");
    lua_pushstring(L, file->path);
    lua_getfield(L, at, "metadata");
    lua_call(L, 2, 1);
    for (lua_Integer i = 1; lua_rawgeti(L, at + 1, i) == LUA_TSTRING; i++) {
        size_t n = 0;
        const char *name = lua_tolstring(L, -1, &n);
        la_open_file *part = la_load_sibling(L, file, name, n);
        push_part_function(L, "add");
        lua_pushvalue(L, at);
        push_load_bytes(L, part);
        lua_pushstring(L, part->path);
        lua_call(L, 3, 0);
        la_load_close(L, -1);
        lua_settop(L, at + 1);
    }
    lua_settop(L, at);
    return 1;
}

const la_loader la_loader_gguf = {
    .extensions = "gguf", .fits = load_fits, .push = push_gguf
};
