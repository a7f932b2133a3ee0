/*
** The parts of the module that are tables by theme: la.linalg, la.fft, ...
**
** A theme has the operations whose names begin with its own
** (la.linalg.cross is the row linalg_cross), those that THEME rows of
** op/aliases.def add, and the functions of its Lua module, where it has one:
** the module lunarray.<theme>. Each is looked up when it is first asked for.
** The themes of modules/ stand in their files theme.def.
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

/* Members that are functions of la, too, under the same name. */
static const struct { const char *theme, *name; } shared[] = {
#define ALIAS(alias, name)
#define THEME(theme, name) {#theme, name},
#include "op/aliases.def"
#undef ALIAS
#undef THEME
    {"autograd", "grad"}, {"autograd", "Function"}, {"autograd", "no_grad"},
    {"autograd", "enable_grad"}, {"autograd", "detect_anomaly"},
    {"autograd", "gradcheck"}, {"autograd", "gradgradcheck"},
    {"autograd", "jacobian"}, {"autograd", "hessian"}, {"autograd", "jvp"},
    {"autograd", "vjp"}, {"autograd", "hvp"}, {"autograd", "checkpoint"},
    {"autograd", "grad_graph"}, {"autograd", "vmap"}};

enum { SHARED = sizeof(shared) / sizeof(shared[0]) };

/* Upvalues of a theme's metamethods. */
enum { UP_MODULE = 1, UP_NAME, UP_LIB };

/* Push la[key] where the theme has it under the same name. What this build has
** no row for is not there. */
static bool push_shared(lua_State *L, const char *theme, const char *key)
{
    for (int i = 0; i < SHARED; i++) {
        if (strcmp(shared[i].theme, theme) || strcmp(shared[i].name, key))
            continue;
        lua_pushvalue(L, 2);
        if (lua_gettable(L, lua_upvalueindex(UP_LIB)) != LUA_TNIL) return true;
        lua_pop(L, 1);
    }
    return false;
}

/* Push the member of the Lua module lunarray.<theme>. */
static bool push_loaded(lua_State *L, const char *theme)
{
    if (lua_isnil(L, lua_upvalueindex(UP_MODULE))) return false;
    if (!la_is_embedded(theme, strlen(theme))) {
        size_t n = 1;
        char shown[208];
        const char *key = lua_tolstring(L, 2, &n);
        return luaL_error(L, "%s.%s: not in this build (family %s is left out)",
                          theme, la_quote(key ? key : "?", n, shown,
                                          sizeof shown), theme);
    }
    lua_pushcfunction(L, la_require);
    lua_pushvalue(L, lua_upvalueindex(UP_MODULE));
    lua_call(L, 1, 1);
    lua_pushvalue(L, 2);
    return lua_gettable(L, -2) != LUA_TNIL;
}

/* theme[name] at the first time; what is found stays in the theme. */
static int load_member(lua_State *L)
{
    const char *theme = lua_tostring(L, lua_upvalueindex(UP_NAME));
    size_t n = 0;
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &n)
                                                    : NULL;
    /* No name has a NUL, which would end a shorter one. */
    bool found = key && !memchr(key, 0, n) && (push_shared(L, theme, key)
        || la_push_theme_operation(L, theme, key));
    if (!found && !push_loaded(L, theme)) return la_missing_name(L, theme, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
}

/* Members of the theme's Lua module become fields of the theme, but for names
** that begin with "_", which are for its own use. A module that this build
** leaves out has none. */
static void fill_from_module(lua_State *L, const char *theme)
{
    if (lua_isnil(L, lua_upvalueindex(UP_MODULE))
        || !la_is_embedded(theme, strlen(theme))) return;
    lua_pushcfunction(L, la_require);
    lua_pushvalue(L, lua_upvalueindex(UP_MODULE));
    int status = lua_pcall(L, 1, 1, 0);
    if (status == LUA_ERRMEM) lua_error(L);
    bool has = status == LUA_OK && lua_istable(L, 2);
    for (lua_pushnil(L); has && lua_next(L, 2); lua_pop(L, 1)) {
        if (lua_type(L, 3) != LUA_TSTRING || *lua_tostring(L, 3) == '_')
            continue;
        lua_pushvalue(L, 3);
        lua_pushvalue(L, 4);
        lua_rawset(L, 1);
    }
    lua_settop(L, 1);
}

/* pairs(theme): what nobody asked for yet comes, too. */
static int walk_theme(lua_State *L)
{
    const char *theme = lua_tostring(L, lua_upvalueindex(UP_NAME));
    lua_settop(L, 1);
    fill_from_module(L, theme);
    for (int i = 0; i < SHARED; i++) {
        if (strcmp(shared[i].theme, theme)) continue;
        lua_getfield(L, lua_upvalueindex(UP_LIB), shared[i].name);
        if (!lua_isnil(L, -1)) lua_getfield(L, 1, shared[i].name);
        lua_settop(L, 1);
    }
    la_make_theme_operations(L, theme, 1);
    return la_push_next(L);
}

static void add_metamethod(lua_State *L, int lib, const char *theme,
                           bool module, const char *event, lua_CFunction fn)
{
    if (module) lua_pushfstring(L, "lunarray.%s", theme);
    else lua_pushnil(L);
    lua_pushstring(L, theme);
    lua_pushvalue(L, lib);
    lua_pushcclosure(L, fn, UP_LIB);
    lua_setfield(L, -2, event);
}

static void new_theme(lua_State *L, int lib, const char *name, bool module)
{
    lua_newtable(L);
    lua_createtable(L, 0, 4);
    add_metamethod(L, lib, name, module, "__index", load_member);
    add_metamethod(L, lib, name, module, "__pairs", walk_theme);
    la_set_own_metatable(L, -2);
    lua_setfield(L, lib, name);
}

void la_open_themes(lua_State *L, int lib)
{
    for (int i = 0; i < THEMES; i++)
        new_theme(L, lib, themes[i].name, themes[i].module);
    new_theme(L, lib, "autograd", false);
}
