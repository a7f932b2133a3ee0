/*
** Files: la.save, la.load. What stands in a file's bytes is src/io's matter.
**
** Paths of a sandboxed state are refused before anything is opened. A save goes
** to a temporary file that replaces the old one only when it is complete
** (la_sink_commit), so that an error leaves the old file as it was.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "io/archive.h"
#include "io/npy.h"
#include "lua/binding.h"

typedef enum file_format { NPY, NPZ, SAFETENSORS, UNKNOWN } file_format;

static const char *const extensions[] = {".npy", ".npz", ".safetensors"};

static file_format format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int f = NPY; dot && f < UNKNOWN; f++)
        if (strcmp(dot, extensions[f]) == 0) return (file_format)f;
    return UNKNOWN;
}

/* A path at 'arg' with a known extension. The string stays owned by the
** stack. */
static const char *check_path(lua_State *L, int arg, const char *name,
                              file_format *format)
{
    const char *path = la_check_path(L, arg, name);
    *format = format_of(path);
    if (*format == UNKNOWN)
        la_raise_arg(L, arg, name, "the path must end with .npy, .npz or"
                     " .safetensors");
    return path;
}

/* The one tensor of an .npy file, new and owned by the caller. LA_SOURCE closes
** the file on every way out. */
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
    LA_TRY(la_run(resolve_conj, &a, t));
    LA_TRY(la_run(resolve_neg, &b, a));
    return la_run(contiguous, out, b);
}

/* The writer of la_npy_write: 'sink' is the la_sink. */
static la_status write_piece(void *sink, const void *bytes, size_t n)
{
    return la_sink_write(sink, bytes, n);
}

/* LA_ESTATE for tensors without values: of the meta device, or whose storage
** was freed. */
static la_status check_has_data(const la_tensor *t)
{
    if (t->device == LA_META)
        return la_error(LA_ESTATE, "a meta tensor has no data to save");
    if (t->numel && !t->storage)
        return la_error(LA_ESTATE, "the tensor has no data to save");
    return LA_OK;
}

/* The temporary file is only opened when the values are there to write. */
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

/* ---- tables of tensors ---- */

#define ARCHIVE_NAME "lunarray.archive"
enum { DEEPEST = 64 };

/* After la_archive_free the archive is empty, so that it may run again here. */
static int archive_gc(lua_State *L)
{
    la_archive_free(lua_touserdata(L, 1));
    return 0;
}

/* An empty archive that the collector owns. */
static la_archive *push_archive(lua_State *L)
{
    la_archive *a = lua_newuserdatauv(L, sizeof *a, 0);
    *a = (la_archive){NULL, 0, 0};
    if (luaL_newmetatable(L, ARCHIVE_NAME)) {
        lua_pushcfunction(L, archive_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return a;
}

/* The mapping outlives this call only through the tensors in 'out'; an .npy
** file gives one entry with the empty name. */
static la_status map_file(const char *path, file_format format,
                          la_archive *out)
{
    LA_SOURCE source = {.fd = -1};
    LA_MAPPING m = NULL;
    la_tensor *t = NULL;
    if (format == NPZ)
        return la_error_at(LA_EARG, 1, ".npz files cannot be mapped: use load");
    LA_TRY(la_source_open(path, &source));
    LA_TRY(la_mapping_open(&source, &m));
    if (format == SAFETENSORS) return la_safetensors_map(&source, m, out);
    LA_TRY(la_npy_map(&source, m, &t));
    return la_archive_add(out, "", 0, t);
}

/* Values are read into memory of their own; the file is closed at the end. */
static la_status load_archive(const char *path, file_format format,
                              la_archive *out)
{
    LA_SOURCE source = {.fd = -1};
    LA_TRY(la_source_open(path, &source));
    return format == NPZ ? la_npz_read(&source, out)
                         : la_safetensors_read(&source, out);
}

/* The entries as a table; the archive's tensors move into handles. Leaves the
** table on the stack. An error on the way leaves the rest to the archive's
** finalizer. */
static void push_entries(lua_State *L, la_state *s, la_archive *a)
{
    lua_createtable(L, 0, (int)a->n);
    for (int64_t i = 0; i < a->n; i++) {
        lua_pushlstring(L, a->list[i].name, a->list[i].n);
        la_handle *h = la_new_handle(L, s);
        la_fill_handle(s, h, a->list[i].tensor);
        a->list[i].tensor = NULL;
        lua_rawset(L, -3);
    }
}

/* A contiguous copy (or the tensor itself, if plain) joins the archive. The
** archive owns what it is given, also where la_archive_add fails. */
static la_status add_tensor(la_archive *a, const char *name, size_t n,
                            la_tensor *t)
{
    la_tensor *values = NULL;
    LA_TRY(check_has_data(t));
    LA_TRY(plain(t, &values));
    return la_archive_add(a, name, n, values);
}

/* The number or boolean on the top of the stack as a 0-dim tensor. */
static la_status add_number(lua_State *L, la_archive *a, const char *name,
                            size_t n)
{
    la_tensor *t = NULL;
    la_scalar v;
    la_to_scalar(L, -1, &v);
    LA_TRY(la_tensor_from_scalar(&v, &t));
    return la_archive_add(a, name, n, t);
}

/* Mutual recursion with collect_value, to the depth of DEEPEST at most: there a
** table that contains itself raises. */
static void collect(lua_State *L, la_archive *a, int table, int depth);

/* The value on the top, by the name below it, is none that can be saved. */
static void refuse_value(lua_State *L, la_handle *h)
{
    size_t n;
    char shown[900];
    const char *name = lua_tolstring(L, -2, &n);
    la_quote(name, n, shown, sizeof shown);
    if (h) la_raise_arg(L, 1, "save", "'%s': tensor was freed", shown);
    la_raise_arg(L, 1, "save", "'%s': a %s cannot be saved", shown,
                 la_type_text(L, -1));
}

/* The value on the top goes by the name below it. The archive takes a reference
** of its own, so that the value may leave the stack. */
static void collect_value(lua_State *L, la_archive *a, int depth)
{
    size_t n;
    const char *name = lua_tolstring(L, -2, &n);
    la_handle *h = la_to_handle(L, -1);
    int type = lua_type(L, -1);
    if (h && h->tensor)
        LA_CHECK(L, "save", add_tensor(a, name, n, h->tensor));
    else if (type == LUA_TNUMBER || type == LUA_TBOOLEAN)
        LA_CHECK(L, "save", add_number(L, a, name, n));
    else if (type == LUA_TTABLE)
        collect(L, a, lua_gettop(L), depth + 1);
    else
        refuse_value(L, h);
}

/* Push prefix (at 'prefix', nil for none) "." key (at 'key'). The key is
** converted in a copy: lua_tostring on the key itself would confuse
** lua_next. */
static void push_name(lua_State *L, int prefix, int key)
{
    if (lua_type(L, key) != LUA_TSTRING && !lua_isinteger(L, key))
        la_raise_arg(L, 1, "save", "names must be strings or integers, got a"
                     " %s", la_type_text(L, key));
    lua_pushvalue(L, key);
    lua_tostring(L, -1);
    if (lua_isnil(L, prefix)) return;
    lua_pushvalue(L, prefix);
    lua_pushliteral(L, ".");
    lua_rotate(L, -3, 2);
    lua_concat(L, 3);
}

/* A module or an optimizer: it has state and methods; what is saved is the
** table that state_dict() gives. */
static void refuse_object(lua_State *L, int table)
{
    if (!luaL_getmetafield(L, table, "__name")) return;
    if (lua_getfield(L, table, "state_dict") == LUA_TFUNCTION)
        la_raise_arg(L, 1, "save", "table of tensors expected, got %s: save "
                     "its state_dict()", lua_tostring(L, -2));
    lua_pop(L, 2);
}

/* All leaves of the table at 'table'; its name stands right below it. */
static void collect(lua_State *L, la_archive *a, int table, int depth)
{
    if (depth > DEEPEST) la_raise_arg(L, 1, "save", "nested too deep");
    refuse_object(L, table);
    luaL_checkstack(L, 10, "nested too deep");
    lua_pushnil(L);
    while (lua_next(L, table)) {
        push_name(L, table - 1, lua_gettop(L) - 1);
        lua_insert(L, -2);
        collect_value(L, a, depth);
        lua_pop(L, 2);
    }
}

static la_status save_archive(la_archive *a, const char *path,
                              file_format format)
{
    LA_SINK sink = {.fd = -1};
    LA_TRY(la_sink_open(path, &sink));
    LA_TRY(format == NPZ ? la_npz_write(a, &sink)
                         : la_safetensors_write(a, &sink));
    return la_sink_commit(&sink);
}

/* The archive is freed here, not left to the collector: it holds all values. */
static void save_table(lua_State *L, const char *path, file_format format)
{
    if (format == NPY)
        la_raise_arg(L, 1, "save", "tensor expected, got %s (tables go to .npz"
                     " or .safetensors)", la_type_text(L, 1));
    if (lua_type(L, 1) != LUA_TTABLE)
        la_raise_arg(L, 1, "save", "table of tensors expected, got %s",
                     la_type_text(L, 1));
    la_archive *a = push_archive(L);
    lua_pushnil(L);
    lua_pushvalue(L, 1);
    collect(L, a, lua_gettop(L), 0);
    LA_CHECK(L, "save", save_archive(a, path, format));
    la_archive_free(a);
}

/* ---- the functions ---- */

/* Pushes one tensor. The handle is made first, so that nothing is owned by C
** when Lua raises for lack of memory. */
static void load_one(lua_State *L, la_state *s, const char *path)
{
    la_tensor *t = NULL;
    la_handle *h = la_new_handle(L, s);
    LA_CHECK(L, "load", load_npy(path, &t));
    la_fill_handle(s, h, t);
}

/* la.load(path) */
static int io_load(lua_State *L)
{
    la_state *s = la_enter(L);
    file_format format;
    const char *path = check_path(L, 1, "load", &format);
    if (format == NPY) {
        load_one(L, s, path);
    } else {
        la_archive *a = push_archive(L);
        LA_CHECK(L, "load", load_archive(path, format, a));
        push_entries(L, s, a);
    }
    la_pace(L, s);
    return 1;
}

/* la.mmap(path): as load, but the tensors are read-only and lie in the file */
static int io_mmap(lua_State *L)
{
    la_state *s = la_enter(L);
    file_format format;
    const char *path = check_path(L, 1, "mmap", &format);
    la_archive *a = push_archive(L);
    LA_CHECK(L, "mmap", map_file(path, format, a));
    push_entries(L, s, a);
    if (format == NPY) lua_getfield(L, -1, "");
    la_pace(L, s);
    return 1;
}

/* la.save(object, path), or the other way round. PyTorch's order is (object,
** path), that of other libraries (path, object); a string can't be saved, so
** the first argument decides. */
static int io_save(lua_State *L)
{
    la_enter(L);
    file_format format;
    lua_settop(L, 2);
    if (lua_type(L, 1) == LUA_TSTRING) lua_rotate(L, 1, 1);
    const char *path = check_path(L, 2, "save", &format);
    if (format != NPY || lua_type(L, 1) == LUA_TTABLE) {
        save_table(L, path, format);
    } else {
        la_tensor *t = la_check_tensor(L, 1, "save");
        LA_CHECK(L, "save", save_npy(t, path));
    }
    return 0;
}

/* ---- for hosts ---- */

/* Move the entry's tensor out to the caller. */
static la_status find_entry(la_archive *a, const char *path, const char *name,
                            la_tensor **out)
{
    for (int64_t i = 0; name && i < a->n; i++)
        if (a->list[i].n == strlen(name)
            && memcmp(a->list[i].name, name, a->list[i].n) == 0) {
            *out = a->list[i].tensor;
            a->list[i].tensor = NULL;
            return LA_OK;
        }
    return la_error(LA_EARG, "%s holds no tensor named '%s'", path,
                    name ? name : "");
}

static la_status load_by_name(const char *path, const char *name,
                              la_tensor **out)
{
    LA_ARCHIVE a = {NULL, 0, 0};
    file_format format = path ? format_of(path) : UNKNOWN;
    if (format == UNKNOWN)
        return la_error(LA_EARG, "the path must end with .npy, .npz or"
                        " .safetensors");
    if (format == NPY) return load_npy(path, out);
    LA_TRY(load_archive(path, format, &a));
    return find_entry(&a, path, name, out);
}

/* NULL on failure; the reason is in the error record. The caller owns the
** tensor. */
LA_API la_tensor *la_load(const char *path, const char *name)
{
    la_tensor *t = NULL;
    return load_by_name(path, name, &t) ? NULL : t;
}

static const luaL_Reg functions[] = {
    {"load", io_load}, {"mmap", io_mmap}, {"save", io_save}, {NULL, NULL}
};

const la_part la_part_io = {functions, NULL};
