/*
** Programs as files: la.save(step, "net.laprog", {all =, names =}), and the
** reader of la.load.
*/
#include <string.h>

#include "lua/build_options.h"
#include "lua/files/loader.h"
#include "lua/transform/host_program.h"

static const char extension[] = ".laprog";

bool la_is_program_path(const char *path)
{
    size_t n = strlen(path), own = sizeof extension - 1;
    return n >= own && memcmp(path + n - own, extension, own) == 0;
}

/* ---- la.save ---- */

static la_status program_save(la_taken *t, const char *path)
{
    LA_WRITER to = {.fd = -1};
    LA_TRY(la_writer_open(path, &to));
    LA_TRY(la_program_write(t->list.n, t->list.items, &to));
    return la_writer_commit(&to);
}

/* The options at 3: all, and pushed, names or nil. */
static bool program_options(lua_State *L)
{
    static const char *const known[] = {"all", "names", NULL};
    if (lua_isnoneornil(L, 3)) {
        lua_pushnil(L);
        return false;
    }
    if (!lua_istable(L, 3))
        la_raise_arg(L, 3, "save", "table of options expected, got %s",
                     la_type_text(L, 3));
    la_check_keywords(L, 3, known, "save");
    lua_getfield(L, 3, "all");
    bool all = lua_toboolean(L, -1);
    if (lua_getfield(L, 3, "names") != LUA_TNIL && !lua_istable(L, -1))
        la_raise_arg(L, 3, "save", "names: a table of tensors expected, got %s",
                     la_type_text(L, -1));
    return all;
}

/* Some of a module's tensors may be unused, but where none is known, they are
** copies, or those of another module. */
static void program_check_names(lua_State *L, int names, const la_taken *t)
{
    if (!lua_istable(L, names)) return;
    if (luaL_testudata(L, 1, LA_LOADED_NAME))
        la_raise_arg(L, 3, "save", "names: a loaded program has the names of "
                     "its file");
    if (t->offered && !t->matched)
        la_raise_arg(L, 3, "save", "names: the function captured none of these "
                     "tensors: give those themselves, as net:state_dict() "
                     "does, and no copies");
}

bool la_save_program(lua_State *L, const char *path)
{
    bool all = program_options(L);
    int names = lua_gettop(L);
    la_taken *t = la_push_taken(L);
    if (!la_take_programs(L, 1, all, names, "save", t))
        la_raise_arg(L, 1, "save", "a .laprog holds a compiled function or a "
                     "loaded program, got %s", la_type_text(L, 1));
    program_check_names(L, names, t);
    LA_CHECK_TWICE(L, "save", program_save(t, path));
    return true;
}

/* ---- la.load ---- */

/* A .safetensors whose first text is a program's. */
static la_status program_fits(const la_reader *in, bool *yes)
{
    static const char begin[] = "{\"__metadata__\":{\"lunarray.program\":";
    char have[8 + sizeof begin];
    *yes = false;
    if (in->size < (int64_t)sizeof have) return LA_OK;
    LA_TRY(la_reader_read(in, 0, have, sizeof have));
    *yes = memcmp(have + 8, begin, sizeof begin - 1) == 0;
    return LA_OK;
}

static int program_push(lua_State *L, la_open_file *file)
{
    la_taken *t = la_push_taken(L);
    if (file->mapping)
        la_load_fail(L, file, "a program cannot be mapped: use load");
    la_status status = la_program_read(&file->in, file->limit, &t->list);
    if (status == LA_ENOMEM && la_collect_here(L))
        status = la_program_read(&file->in, file->limit, &t->list);
    la_load_check(L, file, status);
    la_push_loaded(L, &t->list);
    return 1;
}

const la_loader la_loader_program = {
    .extensions = "laprog", .fits = program_fits, .push = program_push
};
