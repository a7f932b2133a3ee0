/* Fuel is charged for every operation, and for products by their multiply-adds
** (spec/support/limits/charged.lua). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

#define MUCH (INT64_C(1) << 40)

/* spent(f, ...): fuel, and did the call succeed? */
static int spent(lua_State *L)
{
    la_token *k = lua_touserdata(L, lua_upvalueindex(1));
    la_set_fuel(k, MUCH);
    int status = lua_pcall(L, lua_gettop(L) - 1, 0, 0);
    int64_t left = la_fuel_left(k);
    la_token_clear(k);
    lua_settop(L, 0);
    lua_pushinteger(L, MUCH - left);
    lua_pushboolean(L, status == LUA_OK);
    return 2;
}

static void every_operation_is_charged(void **state)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    la_token *k = la_token_of(L);
    if (luaL_dostring(L, "package.path = './?.lua;lua/?.lua;lua/?/init.lua'")
        || luaL_loadfile(L, "spec/support/limits/charged.lua"))
        fail_msg("%s", lua_tostring(L, -1));
    lua_pushlightuserdata(L, k);
    lua_pushcclosure(L, spent, 1);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK || *lua_tostring(L, -1))
        fail_msg("%s", lua_tostring(L, -1));
    lua_close(L);
    la_token_release(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
