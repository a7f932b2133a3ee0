/* A Lua with the library inside, for targets that have no Lua of their own:
** host script [arguments]. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

#include "lunarray.h"

static int run(lua_State *L, int argc, char **argv)
{
    lua_createtable(L, argc, 0);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - 1);
    }
    lua_setglobal(L, "arg");
    if (!luaL_loadfile(L, argv[1]) && !lua_pcall(L, 0, 0, 0)) return 0;
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return 1;
}

int main(int argc, char **argv)
{
    lua_State *L = luaL_newstate();
    if (!L || argc < 2) return 2;
    luaL_openlibs(L);
    int status = la_openlibs(L) ? 2 : run(L, argc, argv);
    lua_close(L);
    return status;
}
