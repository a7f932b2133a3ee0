/* la.read_csv and la.write_csv: the options of both. */
#include "modules/csv/lua/csv.h"

#include <string.h>

#include "lua/build_options.h"

/* The table of options at 'at', made when there is none. */
void la_csv_options(lua_State *L, int at, const char *const *known,
                    const char *name)
{
    if (lua_isnoneornil(L, at)) {
        lua_settop(L, at - 1);
        lua_newtable(L);
    }
    lua_settop(L, at);
    if (!lua_istable(L, at))
        la_raise_arg(L, at, name, "table of options expected, got %s",
                     la_type_text(L, at));
    la_check_keywords(L, at, known, name);
}

/* true or false; absent: true. */
bool la_csv_header(lua_State *L, int at, const char *name)
{
    bool header = lua_getfield(L, at, "header") == LUA_TNIL
        || lua_toboolean(L, -1);
    if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
        la_raise_arg(L, at, name, "header: boolean expected, got %s",
                     la_type_text(L, lua_gettop(L)));
    lua_pop(L, 1);
    return header;
}

/* One byte that is no part of the grammar. */
char la_csv_separator(lua_State *L, int at, const char *name)
{
    size_t n = 1;
    const char *sep = ",";
    if (lua_getfield(L, at, "sep") != LUA_TNIL)
        sep = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &n) : "";
    if (n != 1 || !*sep || strchr("\"\r\n", *sep))
        la_raise_arg(L, at, name, "sep: one character expected, no quote and "
                     "no end of line");
    lua_pop(L, 1);
    return *sep;
}

static const la_function functions[] = {
    {"read_csv", la_read_csv, LA_MANY}, {"write_csv", la_write_csv, LA_MANY},
    {NULL, NULL, 0}
};

const la_module la_module_csv = {functions, NULL, NULL};
