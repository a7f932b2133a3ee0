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
#include "lua/files/checkpoint.h"
#include "api/files.h"

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

/* ---- reading and writing ---- */

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

/* The option that the call takes besides object and path: {metadata = ...} at
** 'arg'. Pushes that, or nil. */
static void push_option(lua_State *L, int arg, const char *name)
{
    static const char *const all[] = {"metadata", "limit", NULL};
    static const char *const one[] = {"metadata", NULL};
    const char *const *known = strcmp(name, "load") == 0 ? all : one;
    if (lua_isnoneornil(L, arg)) {
        lua_pushnil(L);
        return;
    }
    if (!lua_istable(L, arg))
        la_raise_arg(L, arg, name, "table of options expected, got %s",
                     la_type_text(L, arg));
    la_check_keywords(L, arg, known, name);
    lua_getfield(L, arg, "metadata");
}

/* Bytes that a file may hold for a sandboxed script that says nothing: a small
** file of packed zeros may say that it holds thousands of times its size. */
#define SANDBOX_LIMIT ((lua_Integer)256 << 20)

/* {limit = bytes} at 'arg'; 0 for none. */
static int64_t read_limit(lua_State *L, const la_state *s, int arg)
{
    int exact = 1;
    lua_Integer limit = s->sandboxed ? SANDBOX_LIMIT : 0;
    push_option(L, arg, "load");
    if (lua_istable(L, arg) && lua_getfield(L, arg, "limit") != LUA_TNIL) {
        limit = lua_tointegerx(L, -1, &exact);
        if (!exact || limit < 1)
            la_raise_arg(L, arg, "load", "limit: a number of bytes expected, "
                         "got %s", luaL_tolstring(L, -1, NULL));
    }
    lua_settop(L, arg);
    return limit;
}

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
    push_option(L, 3, "save");                          /* at 4 */
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

/* The file is closed on every way out, also while finalizers run. */
static la_status load_file(lua_State *L, const char *path,
                           la_file_format format, la_archive *out)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    return read_archive(L, &source, format, out);
}

/* ---- sources of the host ---- */

/* Callbacks run with the thread's own settings; those of the script are back
** when they return, whatever the host ran. */
static int ask_open(const la_state *s, const char *name, la_source *out)
{
    la_host_call call;
    la_host_begin(&call);
    return la_host_end_with(&call, s->open(s->open_context, name, out));
}

/* Keeps the record of a failure from what the host does. */
static void close_source(const la_source *source)
{
    la_host_call call;
    if (!source->close) return;
    la_host_begin(&call);
    source->close(source->context);
    la_host_end(&call);
}

/* A host with a newer header may write more than our struct. *out is what it
** opened, zero where nothing is to be closed: also with a size that is wrong,
** as all else was zero before the host was asked. */
static la_status open_source(const la_state *s, const char *name,
                             la_source *out)
{
    union { la_source source; char longer[4 * sizeof(la_source)]; } asked;
    char shown[256];
    memset(&asked, 0, sizeof asked);
    *out = (la_source){0};
    asked.source.size = sizeof asked.source;
    if (ask_open(s, name, &asked.source)) {
        if (la_error_status()) return la_error_status();
        return la_error(LA_EIO, "the host has no '%s'",
                        la_quote(name, strlen(name), shown, sizeof shown));
    }
    la_status status = asked.source.size > sizeof asked
        ? la_error(LA_EARG, "la_source.size is %zu", asked.source.size)
        : LA_READ_STRUCT("open", la_source, &asked.source, out);
    if (status) *out = asked.source;
    return status;
}

/* The first bytes tell the format. Nothing here raises: the source is closed on
** every way out. */
static la_status load_by_host(lua_State *L, const char *name,
                              la_file_format *format, la_archive *out)
{
    la_source source;
    la_reader in;
    la_status status = open_source(la_up_state(L), name, &source);
    if (!status) status = la_reader_of_source(&source, &in);
    if (!status) status = la_file_format_inside(&in, format);
    if (!status) status = read_archive(L, &in, *format, out);
    close_source(&source);
    return status;
}

/* ---- the functions ---- */

/* Results of load and mmap: the values; when asked for, the metadata and the
** tensors that were skipped. A .npy has but its tensor, of the empty name. */
static int push_results(lua_State *L, const char *name, la_file_format format,
                        la_archive *a)
{
    push_option(L, 2, name);
    bool asked = lua_toboolean(L, -1);
    la_push_values(L, name, a);
    if (format == LA_FILE_NPY) lua_getfield(L, -1, "");
    la_pace(L, la_state_of(L));
    if (!asked) return 1;
    la_push_notes(L, &a->metadata);
    la_push_notes(L, &a->skipped);
    return 3;
}

/* la.load(path[, {metadata = true, limit = bytes}]), or a name of the host's in
** a sandbox */
static int io_load(lua_State *L)
{
    la_state *s = la_begin(L, "load", 0);
    lua_settop(L, 2);
    la_file_format format = LA_FILE_UNKNOWN;
    const char *path = s->open ? la_check_name(L, 1, "load")
                               : check_path(L, 1, "load", &format);
    int64_t limit = read_limit(L, s, 2);
    la_archive *a = la_push_archive(L);
    a->limit = limit;
    LA_CHECK(L, "load", s->open ? load_by_host(L, path, &format, a)
                                : load_file(L, path, format, a));
    la_charge_more(L, "load", io_largest(a));
    log_skipped(path, a);
    return push_results(L, "load", format, a);
}

/* la.mmap(path[, {metadata = true}]): as load, but the tensors are read-only
** and lie in the file */
static int io_mmap(lua_State *L)
{
    la_begin(L, "mmap", 0);
    lua_settop(L, 2);
    la_file_format format;
    const char *path = check_path(L, 1, "mmap", &format);
    la_archive *a = la_push_archive(L);
    LA_CHECK(L, "mmap", map_file(path, format, a));
    return push_results(L, "mmap", format, a);
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
    files_io_save(L, path, format);
    return 0;
}

static const luaL_Reg functions[] = {
    {"load", io_load}, {"mmap", io_mmap}, {"save", io_save}, {NULL, NULL}
};

const la_part la_part_io = {functions, NULL};
