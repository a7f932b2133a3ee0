/* What a compiled function and its programs tell of themselves. */
#include "lua/transform/compile.h"

/* step:program(): the last signature's, or nil. */
static int compiled_program(lua_State *L)
{
    la_compiled *c = la_check_compiled(L, 1, "program");
    if (!c->last) return 0;
    lua_getiuservalue(L, 1, LA_COMPILED_ENTRIES);
    lua_rawgetp(L, -1, c->last);
    return 1;
}

const luaL_Reg la_compiled_methods[] = {
    {"program", compiled_program}, {NULL, NULL}};

const luaL_Reg la_entry_methods[] = {{NULL, NULL}};
