/*
** Files: la.save, la.load. What stands in a file's bytes is src/io's matter.
**
** Paths of a sandboxed state are refused before anything is opened; there
** la.load asks the host for the name, where la_limits has a function. A save
** goes to a temporary file that replaces the old one only when it is complete
** (la_writer_commit), so that an error leaves the old file as it was.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "io/npy.h"
#include "lua/api_struct.h"
#include "lua/binding.h"
#include "lua/files.h"

/* A path at 'arg' with a known extension. The string stays owned by the
** stack. */
static const char *check_path(lua_State *L, int arg, const char *name,
                              la_file_format *format)
{
    const char *path = la_check_path(L, arg, name);
    *format = la_file_format_of(path);
    if (*format == LA_FILE_UNKNOWN)
        la_raise_arg(L, arg, name, "the path must end with .npy, .npz or"
                     " .safetensors");
    return path;
}

/* ---- tables of tensors ---- */

#define ARCHIVE_NAME "lunarray.archive"
enum { DEEPEST = 64 };

/* After la_archive_free the archive is empty, so that it may run again here. */
static int archive_gc(lua_State *L)
{
    la_enter_state(L);
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
static la_status map_file(const char *path, la_file_format format,
                          la_archive *out)
{
    LA_READER source = {.fd = -1};
    LA_MAPPING m = NULL;
    la_tensor *t = NULL;
    if (format == LA_FILE_NPZ)
        return la_error_at(LA_EARG, 1, ".npz files cannot be mapped: use load");
    LA_TRY(la_reader_open(path, &source));
    LA_TRY(la_mapping_open(&source, &m));
    if (format == LA_FILE_SAFETENSORS)
        return la_safetensors_map(&source, m, out);
    LA_TRY(la_npy_map(&source, m, &t));
    return la_archive_add(out, "", 0, t);
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
        LA_CHECK(L, "save", la_file_add(a, name, n, h->tensor));
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

/* The archive is freed here, not left to the collector: it holds all values. */
static void save_table(lua_State *L, const char *path, la_file_format format)
{
    if (format == LA_FILE_NPY)
        la_raise_arg(L, 1, "save", "tensor expected, got %s (tables go to .npz"
                     " or .safetensors)", la_type_text(L, 1));
    if (lua_type(L, 1) != LUA_TTABLE)
        la_raise_arg(L, 1, "save", "table of tensors expected, got %s",
                     la_type_text(L, 1));
    la_archive *a = push_archive(L);
    lua_pushnil(L);
    lua_pushvalue(L, 1);
    collect(L, a, lua_gettop(L), 0);
    LA_CHECK(L, "save", la_file_save(a, path, format));
    la_archive_free(a);
}

/* ---- sources of the host ---- */

/* Callbacks run with the thread's own settings; those of the script are back
** when they return, whatever the host ran. */
static int ask_open(const la_state *s, const char *name, la_source *out)
{
    LA_ENTRY(NULL);
    return s->open(s->open_context, name, out);
}

/* Keeps the record of a failure from what the host does. */
static void close_source(const la_source *source)
{
    la_error_note before;
    if (!source->close) return;
    la_error_keep(&before);
    LA_ENTRY(NULL);
    source->close(source->context);
    la_error_restore(&before);
}

/* A host with a newer header may write more than our struct. A source that
** cannot be read is not closed. */
static la_status open_source(const la_state *s, const char *name,
                             la_source *out)
{
    union { la_source source; char longer[4 * sizeof(la_source)]; } asked;
    char shown[256];
    memset(&asked, 0, sizeof asked);
    asked.source.size = sizeof asked.source;
    if (ask_open(s, name, &asked.source)) {
        if (la_error_status()) return la_error_status();
        return la_error(LA_EIO, "the host has no '%s'",
                        la_quote(name, strlen(name), shown, sizeof shown));
    }
    if (asked.source.size > sizeof asked)
        return la_error(LA_EARG, "la_source.size is %zu", asked.source.size);
    return LA_READ_STRUCT("open", la_source, &asked.source, out);
}

/* The first bytes tell the format. Nothing here raises: the source is closed on
** every way out. */
static la_status load_by_host(const la_state *s, const char *name,
                              la_file_format *format, la_archive *out)
{
    la_source source;
    la_reader in;
    LA_TRY(open_source(s, name, &source));
    la_status status = la_reader_of_source(&source, &in);
    if (!status) status = la_file_format_inside(&in, format);
    if (!status) status = la_file_read(&in, *format, out);
    close_source(&source);
    return status;
}

/* ---- the functions ---- */

/* A call costs by its largest result, which the bytes have told by now. */
static la_status pay(const la_state *s, const la_archive *a)
{
    int64_t most = 0;
    for (int64_t i = 0; i < a->n; i++)
        if (a->list[i].tensor->numel > most) most = a->list[i].tensor->numel;
    return most < 1024 ? LA_OK : la_token_take(s->context.token, most / 1024);
}

/* la.load(path), or a name of the host's in a sandbox */
static int io_load(lua_State *L)
{
    la_state *s = la_begin(L, "load", 0);
    la_file_format format = LA_FILE_UNKNOWN;
    const char *path = s->open ? la_check_name(L, 1, "load")
                               : check_path(L, 1, "load", &format);
    la_archive *a = push_archive(L);
    LA_CHECK(L, "load", s->open ? load_by_host(s, path, &format, a)
                                : la_file_load(path, format, a));
    LA_CHECK(L, "load", pay(s, a));
    push_entries(L, s, a);
    if (format == LA_FILE_NPY) lua_getfield(L, -1, "");
    la_pace(L, s);
    return 1;
}

/* la.mmap(path): as load, but the tensors are read-only and lie in the file */
static int io_mmap(lua_State *L)
{
    la_state *s = la_begin(L, "mmap", 0);
    la_file_format format;
    const char *path = check_path(L, 1, "mmap", &format);
    la_archive *a = push_archive(L);
    LA_CHECK(L, "mmap", map_file(path, format, a));
    push_entries(L, s, a);
    if (format == LA_FILE_NPY) lua_getfield(L, -1, "");
    la_pace(L, s);
    return 1;
}

/* la.save(object, path), or the other way round. PyTorch's order is (object,
** path), that of other libraries (path, object); a string can't be saved, so
** the first argument decides. */
static int io_save(lua_State *L)
{
    la_begin(L, "save", 0);
    la_file_format format;
    lua_settop(L, 2);
    if (lua_type(L, 1) == LUA_TSTRING) lua_rotate(L, 1, 1);
    const char *path = check_path(L, 2, "save", &format);
    if (format != LA_FILE_NPY || lua_type(L, 1) == LUA_TTABLE) {
        save_table(L, path, format);
    } else {
        la_archive *a = push_archive(L);
        la_tensor *t = la_check_tensor(L, 1, "save");
        LA_CHECK(L, "save", la_file_add(a, "", 0, t));
        LA_CHECK(L, "save", la_file_save(a, path, format));
        la_archive_free(a);
    }
    return 0;
}

static const luaL_Reg functions[] = {
    {"load", io_load}, {"mmap", io_mmap}, {"save", io_save}, {NULL, NULL}
};

const la_part la_part_io = {functions, NULL};
