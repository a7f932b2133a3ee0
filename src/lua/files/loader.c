/*
** The readers of la.load: which one reads a file, the files that are open, and
** what their errors say (loader.h).
*/
#include "lua/files/loader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/runtime/host_call.h"
#include "api/api_struct.h"
#include "lua/build_options.h"
#include "api/files.h"
#include "lua/files/media.h"

#define READER(name) extern const la_loader la_loader_##name;
#include "lua/files/readers.def"
#undef READER
static const la_loader *const readers[] = {
#define READER(name) &la_loader_##name,
#include "lua/files/readers.def"
#undef READER
};
enum { READERS = sizeof readers / sizeof *readers };

/* ---- which reader ---- */

/* Does the path end with a dot and the first n bytes of 'word'? */
static bool loader_ends_with(const char *path, const char *word, size_t n)
{
    size_t length = strlen(path);
    return length > n && path[length - n - 1] == '.'
        && memcmp(path + length - n, word, n) == 0;
}

static bool has_extension(const la_loader *r, const char *path)
{
    const char *word = r->extensions;
    while (*word) {
        size_t n = strcspn(word, " ");
        if (loader_ends_with(path, word, n)) return true;
        word += n + (word[n] == ' ');
    }
    return false;
}

bool la_is_loaded(const char *path)
{
    for (int i = 0; i < READERS; i++)
        if (has_extension(readers[i], path)) return true;
    return false;
}

const char *la_push_extensions(lua_State *L)
{
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = 0; i < READERS; i++) {
        const char *c = readers[i]->extensions;
        for (luaL_addchar(&b, '.'); *c; c++)
            if (*c == ' ') luaL_addstring(&b, ", .");
            else luaL_addchar(&b, *c);
        luaL_addstring(&b, ", ");
    }
    luaL_pushresult(&b);
    return lua_tostring(L, -1);
}

/* Is it none of the formats that have no row? */
static bool is_unknown(const la_reader *in)
{
    la_file_format format;
    if (la_file_format_inside(in, &format) == LA_OK) return false;
    la_error_clear();
    return true;
}

/* Rows with the extension are asked first; among several, and in a sandbox, the
** bytes decide. Where nobody knows the bytes, the first row with the extension
** says what is wrong with them. */
static la_status find_loader(const la_open_file *file, const la_loader **out)
{
    bool by_host = file->in.host != NULL, yes = false;
    const la_loader *first = NULL;
    *out = NULL;
    for (int named = 1; named >= !by_host; named--)
        for (int i = 0; i < READERS; i++) {
            if (has_extension(readers[i], file->path) != named) continue;
            LA_TRY(readers[i]->fits(&file->in, &yes));
            if (yes) {
                *out = readers[i];
                return LA_OK;
            }
            if (!first && named) first = readers[i];
        }
    if (!by_host || (first && is_unknown(&file->in))) *out = first;
    return LA_OK;
}

/* ---- open files ---- */

static void close_file(la_open_file *file)
{
    la_source source = file->source;
    file->source = (la_source){0};
    la_reader_close(&file->in);
    la_mapping_drop(&file->mapping);
    la_source_close(&source);
}

/* May run twice: __close, and __gc of one whose slot was never marked. */
static int load_end(lua_State *L)
{
    la_enter_state(L);
    close_file(lua_touserdata(L, 1));
    return 0;
}

#define LOAD_NAME "lunarray.file"

static la_open_file *push_file(lua_State *L, const char *name,
                               const char *path)
{
    la_open_file *file = lua_newuserdatauv(L, sizeof *file, 1);
    *file = (la_open_file){.name = name, .in = {.fd = -1}};
    if (la_new_metatable(L, LOAD_NAME, NULL)) {
        la_set_event(L, "__gc", load_end);
        la_set_event(L, "__close", load_end);
    }
    la_take_metatable(L);
    file->path = lua_pushstring(L, path);
    lua_setiuservalue(L, -2, 1);
    return file;
}

la_open_file *la_push_load(lua_State *L, const char *name, const char *path)
{
    la_open_file *file = push_file(L, name, path);
    lua_toclose(L, -1);
    return file;
}

/* Callbacks run with the thread's own settings; those of the script are back
** when they return, whatever the host ran. */
static int ask_open(const la_state *s, const char *name, la_source *out)
{
    la_host_call call;
    la_host_begin(&call);
    return la_host_end_with(&call, s->open(s->open_context, name, out));
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

/* Opens what the state may: a path, or a name of the host's. 'sibling': no
** link. */
static la_status open_bytes(lua_State *L, la_open_file *file, bool sibling)
{
    const la_state *s = la_state_of(L);
    if (!s->open && s->sandboxed)
        return la_error(LA_EARG, "files are not open to a sandboxed script");
    if (!s->open) return sibling ? la_reader_open_plain(file->path, &file->in)
                                : la_reader_open(file->path, &file->in);
    LA_TRY(open_source(s, file->path, &file->source));
    return la_reader_of_source(&file->source, &file->in);
}

la_status la_load_open(lua_State *L, la_open_file *file, const la_loader **out)
{
    LA_TRY(open_bytes(L, file, false));
    return find_loader(file, out);
}

la_status la_load_map(la_open_file *file)
{
    if (file->mapping) return LA_OK;
    if (file->in.fd < 0)
        return la_error(LA_EIO, "what a host reads cannot be mapped");
    LA_TRY(la_mapping_open(&file->in, &file->mapping));
    file->in.memory = file->mapping->data;
    return LA_OK;
}

/* ---- files of the same folder ---- */

/* Is it the name of a file, on any system, and no part of a path? */
static bool is_plain_name(const char *name, size_t n)
{
    bool dots = true;
    if (n == 0 || n > 255) return false;
    for (size_t i = 0; i < n; i++) {
        if (strchr("/\\:", name[i])) return false;      /* and NUL */
        dots = dots && name[i] == '.';
    }
    return !dots;
}

/* Push the name in the folder of the path. */
static const char *push_sibling(lua_State *L, const char *path,
                                const char *name, size_t n)
{
    size_t folder = strlen(path);
    while (folder && path[folder - 1] != '/' && path[folder - 1] != '\\')
        folder--;
    lua_pushlstring(L, path, folder);
    lua_pushlstring(L, name, n);
    lua_concat(L, 2);
    return lua_tostring(L, -1);
}

la_open_file *la_load_sibling(lua_State *L, const la_open_file *file,
                              const char *name, size_t n)
{
    char shown[300];
    if (!is_plain_name(name, n))
        la_load_fail(L, file, "the name '%s' is not that of a file in the same "
                     "folder", la_quote(name, n, shown, sizeof shown));
    const char *path = push_sibling(L, file->path, name, n);
    la_open_file *out = push_file(L, file->name, path);
    out->options = file->options;
    out->limit = file->limit;
    lua_remove(L, -2);
    lua_toclose(L, -1);
    la_load_check(L, file, open_bytes(L, out, true));
    if (file->mapping) la_load_check(L, out, la_load_map(out));
    return out;
}

void la_load_close(lua_State *L, int at) { lua_closeslot(L, at); }

/* ---- options and errors ---- */

void la_check_load_options(lua_State *L, int at, const la_loader *reader,
                           const char *name)
{
    const char *known[16] = {"metadata", "limit", "mmap"};
    int n = strcmp(name, "mmap") == 0 ? 1 : 3;
    known[n] = NULL;
    if (lua_isnoneornil(L, at)) return;
    if (!lua_istable(L, at))
        la_raise_arg(L, at, name, "table of options expected, got %s",
                     la_type_text(L, at));
    const char *const *more = reader ? reader->options : NULL;
    for (; more && *more && n < 15; more++) known[n++] = *more;
    la_check_keywords(L, at, known, name);
}

void la_load_check(lua_State *L, const la_open_file *file, la_status status)
{
    if (status) la_raise(L, file->name, la_media_name(status, file->path));
}

void la_load_fail(lua_State *L, const la_open_file *file, const char *format,
                  ...)
{
    char text[LA_ERROR_TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    la_load_check(L, file, la_error(LA_EIO, "%s", text));
}
