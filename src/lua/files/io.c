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

#include "base/runtime/host_call.h"
#include "base/log.h"
#include "base/runtime/runtime.h"
#include "io/npy.h"
#include "api/api_struct.h"
#include "lua/binding.h"
#include "lua/build_options.h"
#include "lua/embed.h"
#include "lua/files/checkpoint.h"
#include "api/files.h"
#include "lua/files/loader.h"
#include "lua/transform/host_program.h"

/* A path at 'arg' to write to. The string stays owned by the stack. */
static const char *check_path(lua_State *L, int arg, const char *name,
                              la_file_format *format)
{
    const char *path = la_check_path(L, arg, name);
    *format = la_file_format_of(path);
    if (*format == LA_FILE_UNKNOWN && !la_is_program_path(path))
        la_raise_arg(L, arg, name, "the path must end with .npy, .npz,"
                     " .safetensors or .laprog");
    return path;
}

/* A path at 'arg' that something reads: a format, or LA_FILE_UNKNOWN for a
** reader (loader.h). */
static const char *check_source(lua_State *L, int arg, const char *name,
                                la_file_format *format)
{
    const char *path = la_check_path(L, arg, name);
    *format = la_is_loaded(path) ? LA_FILE_UNKNOWN : la_file_format_of(path);
    if (*format == LA_FILE_UNKNOWN && !la_is_loaded(path))
        la_raise_arg(L, arg, name, "the path must end with %s.npy, .npz or"
                     " .safetensors", la_push_extensions(L));
    return path;
}

/* ---- reading and writing ---- */

/* The mapping outlives this call only through the tensors in 'out'; an .npy
** file gives one entry with the empty name. */
static la_status map_file(la_open_file *file, la_file_format format,
                          la_archive *out)
{
    la_tensor *t = NULL;
    if (format == LA_FILE_NPZ)
        return la_error_at(LA_EARG, 1, ".npz files cannot be mapped: use load");
    LA_TRY(la_load_map(file));
    if (format == LA_FILE_SAFETENSORS)
        return la_safetensors_map(&file->in, file->mapping, out);
    LA_TRY(la_npy_map(&file->in, file->mapping, &t));
    return la_archive_add(out, "", 0, t);
}

/* {metadata = ...} of the options at 'arg'. Pushes that, or nil. */
static void push_metadata(lua_State *L, int arg)
{
    if (lua_isnoneornil(L, arg)) lua_pushnil(L);
    else lua_getfield(L, arg, "metadata");
}

/* Bytes that a file may hold for a sandboxed script that says nothing: a small
** file of packed zeros may say that it holds thousands of times its size. */
#define SANDBOX_LIMIT ((lua_Integer)256 << 20)

/* Tensors that were left out are told to the host's log. */
static void log_skipped(const char *path, const la_archive *a)
{
    char shown[2][200];
    const la_note *first = a->skipped.list;
    if (!a->skipped.n) return;
    la_log(la_runtime_here(), LA_LOG_WARNING, "load: %lld tensors of '%s' were "
           "left out, as there is no such dtype here: the first is '%s', %s",
           (long long)a->skipped.n, la_quote(path, strlen(path), shown[0],
                                             sizeof shown[0]),
           la_quote(first->key, first->n, shown[1], sizeof shown[1]),
           first->text);
}

/* A call costs by its largest tensor. */
static int64_t io_largest(const la_archive *a)
{
    int64_t most = 0;
    for (int64_t i = 0; i < a->n; i++)
        if (a->list[i].tensor->numel > most) most = a->list[i].tensor->numel;
    return most;
}

static void check_save_options(lua_State *L, int arg)
{
    static const char *const known[] = {"metadata", NULL};
    if (lua_isnoneornil(L, arg)) return;
    if (!lua_istable(L, arg))
        la_raise_arg(L, arg, "save", "table of options expected, got %s",
                     la_type_text(L, arg));
    la_check_keywords(L, arg, known, "save");
}

/* A table whose metatable has __tree(object) is saved as what that gives: a
** table with one key, the name of a module of the library. When it is loaded,
** the module's function _of_tree makes the object anew. */
static void io_take_tree(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TTABLE
        || luaL_getmetafield(L, 1, "__tree") == LUA_TNIL) return;
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_replace(L, 1);
}

/* Is the value on the top such a tree? Push the module's name then. */
static bool io_push_module(lua_State *L)
{
    static const char before[] = "lunarray.";
    size_t n, head = sizeof before - 1;
    int top = lua_gettop(L);
    if (!lua_istable(L, -1)) return false;
    lua_pushnil(L);
    if (lua_next(L, -2) && lua_type(L, -2) == LUA_TSTRING) {
        const char *name = lua_tolstring(L, -2, &n);
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        if (n > head && memcmp(name, before, head) == 0
            && la_is_embedded(name + head, n - head) && !lua_next(L, top))
            return true;
    }
    lua_settop(L, top);
    return false;
}

/* Replaces the tree on the top by what it stands for. */
static void io_give_tree(lua_State *L)
{
    int tree = lua_gettop(L);
    if (!io_push_module(L)) return;
    lua_pushcfunction(L, la_require);
    lua_pushvalue(L, -2);
    lua_call(L, 1, 1);
    if (lua_type(L, -1) != LUA_TTABLE
        || lua_getfield(L, -1, "_of_tree") != LUA_TFUNCTION) {
        lua_settop(L, tree);
        return;
    }
    lua_pushvalue(L, tree);
    lua_call(L, 1, 1);
    lua_replace(L, tree);
    lua_settop(L, tree);
}

/* The object at 1, which a .npy holds alone. The archive is freed here, not
** left to the collector: it holds all values. */
static void files_io_save(lua_State *L, const char *path, la_file_format format)
{
    bool table = lua_type(L, 1) == LUA_TTABLE;
    if (format == LA_FILE_NPY && table)
        la_raise_arg(L, 1, "save", "tensor expected, got %s (tables go to .npz"
                     " or .safetensors)", la_type_text(L, 1));
    if (format != LA_FILE_NPY && !table)
        la_raise_arg(L, 1, "save", "table of tensors expected, got %s",
                     la_type_text(L, 1));
    check_save_options(L, 3);
    push_metadata(L, 3);                                /* at 4 */
    if (format == LA_FILE_NPY && !lua_isnil(L, 4))
        la_raise_arg(L, 3, "save", "a .npy has no metadata (.npz and "
                     ".safetensors have)");
    la_archive *a = la_push_archive(L);
    if (!lua_isnil(L, 4)) la_collect_metadata(L, a, 4, 3);
    if (table) la_collect_values(L, a, 1);
    else LA_CHECK_TWICE(L, "save", la_file_add(a, "", 0,
                                               la_check_tensor(L, 1, "save")));
    la_charge_more(L, "save", io_largest(a));
    LA_CHECK_TWICE(L, "save", la_file_save(a, path, format));
    la_archive_free(a);
}

/* Reads; memory of dead tensors is given back where it is needed. */
static la_status read_archive(lua_State *L, const la_reader *in,
                              la_file_format format, la_archive *out)
{
    la_status status = la_file_read(in, format, out);
    if (status != LA_ENOMEM || !la_collect_here(L)) return status;
    int64_t limit = out->limit;
    la_archive_free(out);
    out->limit = limit;
    return la_file_read(in, format, out);
}

/* ---- the functions ---- */

/* Results of load and mmap: the values; when asked for, the metadata and the
** tensors that were skipped. A .npy has but its tensor, of the empty name. */
static int push_results(lua_State *L, const char *name, la_file_format format,
                        la_archive *a)
{
    push_metadata(L, 2);
    bool asked = lua_toboolean(L, -1);
    la_push_values(L, name, a);
    io_give_tree(L);
    if (format == LA_FILE_NPY) lua_getfield(L, -1, "");
    la_pace(L, la_state_of(L));
    if (!asked) return 1;
    la_push_notes(L, &a->metadata);
    la_push_notes(L, &a->skipped);
    return 3;
}

/* The first bytes tell the format of what the host gives. */
static la_status read_formats(lua_State *L, const la_open_file *file,
                              la_file_format *format, la_archive *out)
{
    if (file->in.host) LA_TRY(la_file_format_inside(&file->in, format));
    return read_archive(L, &file->in, *format, out);
}

/* The values of a file by its reader, which cost by the file's bytes. */
static int push_by_reader(lua_State *L, const la_loader *reader,
                          la_open_file *file)
{
    la_check_load_options(L, 2, reader, file->name);
    la_charge_more(L, file->name, file->in.size / 4);
    int n = reader->push(L, file);
    la_pace(L, la_state_of(L));
    return n;
}

/* la.mmap(path[, {metadata = true}]): as load, but the tensors are read-only
** and lie in the file */
static int io_mmap(lua_State *L)
{
    la_begin(L, "mmap", 0);
    const la_loader *reader = NULL;
    lua_settop(L, 2);
    la_file_format format;
    const char *path = check_source(L, 1, "mmap", &format);
    la_open_file *file = la_push_load(L, "mmap", path);
    file->options = 2;
    LA_CHECK(L, file->name, la_load_open(L, file, &reader));
    if (reader) {
        la_load_check(L, file, la_load_map(file));
        return push_by_reader(L, reader, file);
    }
    la_check_load_options(L, 2, NULL, "mmap");
    la_archive *a = la_push_archive(L);
    LA_CHECK(L, file->name, map_file(file, format, a));
    return push_results(L, "mmap", format, a);
}

/* {mmap = true} of the options at 2, which are a copy without it then. */
static bool wants_map(lua_State *L)
{
    if (!lua_istable(L, 2) || lua_getfield(L, 2, "mmap") == LUA_TNIL)
        return false;
    if (!lua_isboolean(L, -1))
        la_raise_arg(L, 2, "load", "mmap: boolean expected, got %s",
                     la_type_text(L, -1));
    bool map = lua_toboolean(L, -1);
    lua_settop(L, 2);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, 2);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, 3);
    }
    lua_pushnil(L);
    lua_setfield(L, 3, "mmap");
    lua_replace(L, 2);
    return map;
}

/* la.load(path[, {metadata = true, limit = bytes, mmap = false}]), or a name of
** the host's in a sandbox */
static int io_load(lua_State *L)
{
    la_state *s = la_begin(L, "load", 0);
    const la_loader *reader = NULL;
    lua_settop(L, 2);
    if (wants_map(L)) {
        if (s->sandboxed)
            la_raise_arg(L, 2, "load", "mmap: a sandbox maps no files");
        return io_mmap(L);
    }
    lua_settop(L, 2);
    la_file_format format = LA_FILE_UNKNOWN;
    const char *path = s->open ? la_check_name(L, 1, "load")
                               : check_source(L, 1, "load", &format);
    if (format != LA_FILE_UNKNOWN) la_check_load_options(L, 2, NULL, "load");
    int64_t limit = la_read_limit(L, 2, "load",
                                   s->sandboxed ? SANDBOX_LIMIT : 0);
    la_open_file *file = la_push_load(L, "load", path);
    file->options = 2;
    file->limit = limit;
    LA_CHECK(L, file->name, la_load_open(L, file, &reader));
    if (!reader) la_check_load_options(L, 2, NULL, "load");
    if (reader) return push_by_reader(L, reader, file);
    la_archive *a = la_push_archive(L);
    a->limit = file->limit;
    LA_CHECK(L, file->name, read_formats(L, file, &format, a));
    la_charge_more(L, "load", io_largest(a));
    log_skipped(path, a);
    return push_results(L, "load", format, a);
}

/* la.save(object, path[, {metadata = {...}}]), or path before object. PyTorch's
** order is (object, path), that of other libraries (path, object); a string
** can't be saved alone, so the first argument decides. */
static int io_save(lua_State *L)
{
    la_begin(L, "save", 0);
    la_file_format format;
    lua_settop(L, 3);
    if (lua_type(L, 1) == LUA_TSTRING) {
        lua_pushvalue(L, 1);
        lua_copy(L, 2, 1);
        lua_replace(L, 2);
    }
    const char *path = check_path(L, 2, "save", &format);
    if (format == LA_FILE_UNKNOWN) {
        la_save_program(L, path);
        return 0;
    }
    io_take_tree(L);
    files_io_save(L, path, format);
    return 0;
}

static const la_function functions[] = {
    {"load", io_load, LA_MANY}, {"mmap", io_mmap, LA_MANY},
    {"save", io_save, LA_MANY}, {NULL, NULL, 0}
};

const la_part la_part_io = {functions, NULL};
