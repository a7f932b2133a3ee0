/* Files: la.save, la.load. What stands in a file's bytes is src/io's matter. */
#include <string.h>

#include "io/npy.h"
#include "lua/face.h"

typedef enum file_format { NPY, NPZ, SAFETENSORS, UNKNOWN } file_format;

static const char *const extensions[] = {".npy", ".npz", ".safetensors"};

static file_format format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int f = NPY; dot && f < UNKNOWN; f++)
        if (strcmp(dot, extensions[f]) == 0) return (file_format)f;
    return UNKNOWN;
}

/* A path at 'arg', without NUL bytes and with a known extension. */
static const char *check_path(lua_State *L, int arg, const char *name,
                              file_format *format)
{
    size_t n;
    if (la_up_state(L)->sandboxed)
        la_raise_arg(L, arg, name, "files are not open to this script");
    if (lua_type(L, arg) != LUA_TSTRING)
        la_raise_arg(L, arg, name, "path expected, got %s",
                     la_type_text(L, arg));
    const char *path = lua_tolstring(L, arg, &n);
    if (strlen(path) != n) la_raise_arg(L, arg, name, "NUL byte in the path");
    *format = format_of(path);
    if (*format == UNKNOWN)
        la_raise_arg(L, arg, name, "the path must end with .npy, .npz or"
                     " .safetensors");
    return path;
}

static la_status load_npy(const char *path, la_tensor **out)
{
    la_range_stream in;
    LA_SOURCE source = {.fd = -1};
    LA_TRY(la_source_open(path, &source));
    la_range_stream_init(&in, &source, 0, source.size);
    return la_npy_read(&in.stream, out);
}

/* Values in a row, as files hold them: no bits, no gaps. Owned. */
static la_status plain(la_tensor *t, la_tensor **out)
{
    LA_OWNED a = NULL;
    LA_OWNED b = NULL;
    LA_TRY(la_run(resolve_conj, &a, LA_T(t)));
    LA_TRY(la_run(resolve_neg, &b, LA_T(a)));
    return la_run(contiguous, out, LA_T(b));
}

static la_status write_piece(void *sink, const void *bytes, size_t n)
{
    return la_sink_write(sink, bytes, n);
}

static la_status check_has_data(const la_tensor *t)
{
    if (t->device == LA_META)
        return la_error(LA_ESTATE, "a meta tensor has no data to save");
    if (t->dtype == LA_UNDEFINED || (t->numel && !t->storage
                                     && !(t->flags & LA_F_ZERO)))
        return la_error(LA_ESTATE, "the tensor has no data to save");
    return LA_OK;
}

static la_status save_npy(la_tensor *t, const char *path)
{
    LA_OWNED values = NULL;
    LA_SINK sink = {.fd = -1};
    int64_t bytes;
    LA_TRY(check_has_data(t));
    LA_TRY(plain(t, &values));
    LA_TRY(la_npy_size(values, &bytes));
    LA_TRY(la_sink_open(path, &sink));
    LA_TRY(la_npy_write(values, write_piece, &sink));
    return la_sink_commit(&sink);
}

/* la.load(path) */
static int io_load(lua_State *L)
{
    la_state *s = la_enter(L);
    file_format format;
    la_tensor *t = NULL;
    const char *path = check_path(L, 1, "load", &format);
    la_handle *h = la_new_handle(L, s);
    LA_CHECK(L, "load", load_npy(path, &t));
    la_fill_handle(s, h, t);
    la_pace(L, s);
    return 1;
}

/* la.save(object, path), or the other way round */
static int io_save(lua_State *L)
{
    la_enter(L);
    file_format format;
    lua_settop(L, 2);
    if (lua_type(L, 1) == LUA_TSTRING) lua_rotate(L, 1, 1);
    const char *path = check_path(L, 2, "save", &format);
    la_tensor *t = la_check_tensor(L, 1, "save");
    LA_CHECK(L, "save", save_npy(t, path));
    return 0;
}

static const luaL_Reg functions[] = {
    {"load", io_load}, {"save", io_save}, {NULL, NULL}
};

const la_part la_part_io = {functions, NULL};
