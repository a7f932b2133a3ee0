/*
** la.cond, la.while_loop and la.scan: control flow that depends on values. The
** forms themselves are in lua/lunarray/control.lua; here is what they need of
** the library, and how la.cond tells its two meanings apart.
*/
#include "lua/binding.h"
#include "lua/embed.h"
#include "program/program.h"
#include "vmap/vmap.h"

/* (t), whose elements are a condition: what stands behind a tensor with a batch
** of la.vmap, through all levels; nil and its truth while a program is recorded,
** which then knows of it; nothing for any other tensor. */
static int behind(lua_State *L)
{
    la_state *s = la_enter(L);
    la_vmap *level;
    int holds;
    la_handle *h = la_new_handle(L, s);
    la_tensor *t = la_check_tensor(L, 1, "control");
    LA_CHECK(L, "control", la_vmap_level(t, &level));
    if (!level) {
        bool records = la_record_choice(t, &holds) == LA_OK;
        if (!records) return la_raise(L, "control", LA_ESTATE);
        if (holds < 0) return 0;
        lua_pushnil(L);
        lua_pushboolean(L, holds);
        return 2;
    }
    la_fill_handle(s, h, la_tensor_retain(la_vmap_root(t)));
    return 1;
}

/* Call the module's function 'name' with 'behind' and what is on the stack. */
static int call_control(lua_State *L, const char *name)
{
    int n = lua_gettop(L);
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.control");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
    lua_pushnil(L);
    la_closure(L, behind);
    lua_rotate(L, 1, 2);
    lua_call(L, n + 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* A function, or what can be called like one: a layer, a la.Function. */
static bool is_callable(lua_State *L, int at)
{
    if (lua_type(L, at) == LUA_TFUNCTION) return true;
    if (luaL_getmetafield(L, at, "__call") == LUA_TNIL) return false;
    lua_pop(L, 1);
    return true;
}

/* la.cond(A[, p]), the operation (upvalue LA_UP_OWN), or la.cond(pred, f, g,
** ...). */
static int fn_cond(lua_State *L)
{
    int n = lua_gettop(L);
    if (n >= 2 && (is_callable(L, 2) || (n >= 3 && is_callable(L, 3))))
        return call_control(L, "cond");
    lua_pushvalue(L, lua_upvalueindex(LA_UP_OWN));
    lua_insert(L, 1);
    lua_call(L, n, LUA_MULTRET);
    return lua_gettop(L);
}

static int fn_while_loop(lua_State *L) { return call_control(L, "while_loop"); }
static int fn_scan(lua_State *L) { return call_control(L, "scan"); }

static const la_function functions[] = {
    {"while_loop", fn_while_loop, LA_MANY}, {"scan", fn_scan, LA_MANY},
    {NULL, NULL, 0}};
const la_part la_part_control = {functions, NULL};

void la_open_cond(lua_State *L, int lib)
{
    lua_getfield(L, lib, "cond");
    la_closure(L, fn_cond);
    lua_setfield(L, lib, "cond");
}
