/*
** The parts of the module that are tables by theme: la.linalg, la.fft, ...
**
** A theme holds the operations whose names begin with its own
** (la.linalg.cross is the row linalg_cross), those that THEME rows of
** op/aliases.def add, and the functions of its Lua module, where it has one:
** the module lunarray.<theme>, loaded when the first of them is asked for. The
** themes of modules/ stand in their files theme.def.
*/
#include "lua/binding.h"
#include "lua/embed.h"
#include <string.h>

static const struct {
    const char *name;
    bool module;             /* is there a Lua module lunarray.<name>? */
} themes[] = {
    {"testing", true},
    {"fft", false},
    {"linalg", false},
    {"special", false},
    {"parallel", true},
    {"plot", true},
#define MODULE_THEME(name, module) {#name, module},
#include "modules/theme.def"
#undef MODULE_THEME
};

enum { THEMES = sizeof(themes) / sizeof(themes[0]) };

bool la_is_theme(const char *name, size_t n)
{
    for (int i = 0; i < THEMES; i++)
        if (strlen(themes[i].name) == n && memcmp(themes[i].name, name, n) == 0)
            return true;
    return false;
}

/* theme[name] of a name that is no operation: from the module, which is
** upvalue 1 (nil for none; the theme is upvalue 2). What is found stays in the
** theme. */
static int load_member(lua_State *L)
{
    const char *theme = lua_tostring(L, lua_upvalueindex(2));
    if (lua_isnil(L, lua_upvalueindex(1))) return la_missing_name(L, theme, 1);
    if (!la_is_embedded(theme, strlen(theme))) {
        size_t n;
        char shown[208];
        const char *key = lua_tolstring(L, 2, &n);
        return luaL_error(L, "%s.%s: not in this build (family %s is left out)",
                          theme, la_quote(key ? key : "?", key ? n : 1, shown,
                                          sizeof shown), theme);
    }
    lua_pushcfunction(L, la_require);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_call(L, 1, 1);
    lua_pushvalue(L, 2);
    if (lua_gettable(L, -2) == LUA_TNIL) return la_missing_name(L, theme, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

static void new_theme(lua_State *L, int lib, const char *name, bool module)
{
    lua_createtable(L, 0, 32);
    lua_createtable(L, 0, 1);
    if (module) lua_pushfstring(L, "lunarray.%s", name);
    else lua_pushnil(L);
    lua_pushstring(L, name);
    lua_pushcclosure(L, load_member, 2);
    lua_setfield(L, -2, "__index");
    la_set_own_metatable(L, -2);
    lua_setfield(L, lib, name);
}

/* la[theme][name] = la[function]; nothing where this build has no such theme or
** function. */
static void add_member(lua_State *L, int lib, const char *theme,
                       const char *name, const char *function)
{
    int top = lua_gettop(L);
    if (lua_getfield(L, lib, theme) == LUA_TTABLE
        && lua_getfield(L, lib, function) != LUA_TNIL)
        lua_setfield(L, -2, name);
    lua_settop(L, top);
}

/* Functions of la that are no operations, under the name of their theme. */
static void add_autograd(lua_State *L, int lib)
{
    static const char *const names[] = {"grad", "Function", "no_grad",
        "enable_grad", "detect_anomaly", "gradcheck", "gradgradcheck",
        "jacobian", "hessian", "jvp", "vjp", "hvp", "checkpoint", "grad_graph",
        "vmap"};
    new_theme(L, lib, "autograd", false);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_member(L, lib, "autograd", names[i], names[i]);
}

void la_new_themes(lua_State *L, int lib)
{
    for (int i = 0; i < THEMES; i++)
        new_theme(L, lib, themes[i].name, themes[i].module);
}

void la_open_themes(lua_State *L, int lib)
{
    static const char *const rows[][2] = {
#define ALIAS(alias, name)
#define THEME(theme, name) {#theme, name},
#include "op/aliases.def"
#undef ALIAS
#undef THEME
    };
    add_autograd(L, lib);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        add_member(L, lib, rows[i][0], rows[i][1], rows[i][1]);
}
