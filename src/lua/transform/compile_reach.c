/*
** Values that a compiled function reaches by itself: its upvalues, what is in
** their tables, user values and functions, globals. A tensor that comes as an
** argument and that f has as well is one object of the recording, of which
** nobody knows which of the two f used. So the recording is for calls with that
** very tensor.
**
** The walk looks at some thousands of values, breadth first. The tables of the
** library and of Lua are left out.
*/
#include <string.h>

#include "lua/transform/compile.h"

enum { REACH_MOST = 4000 };

/* Indices on the stack: values that wait, in order; those that were met. */
typedef struct reach_walk {
    lua_State *L;
    la_called *e;
    const la_call_tensors *c;
    int refs, queue, seen, keys;
    lua_Integer n;
} reach_walk;

/* Is the value on the top new, and one to look into? Pops it. */
static void reach_add(reach_walk *w)
{
    lua_State *L = w->L;
    const void *at = lua_topointer(L, -1);
    int type = lua_type(L, -1);
    bool looks = type == LUA_TTABLE || type == LUA_TFUNCTION
        || type == LUA_TUSERDATA;
    if (!looks || w->n == REACH_MOST
        || lua_rawgetp(L, w->seen, at) != LUA_TNIL) {
        lua_settop(L, w->keys);
        return;
    }
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
    lua_rawsetp(L, w->seen, at);
    lua_rawseti(L, w->queue, ++w->n);
    lua_settop(L, w->keys);
}

static bool reach_is_known(const char *name)
{
    static const char *const names[] = {"string", "table", "math", "io", "os",
        "coroutine", "utf8", "debug", "package", "lunarray"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return strncmp(name, "lunarray.", 9) == 0;
}

/* Modules of the library and of Lua, which 'require' has loaded, count as
** met. */
static void reach_skip_loaded(reach_walk *w)
{
    lua_State *L = w->L;
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    int loaded = lua_gettop(L);
    if (lua_istable(L, loaded))
        for (lua_pushnil(L); lua_next(L, loaded); lua_pop(L, 1)) {
            const void *at = lua_topointer(L, -1);
            if (!at || lua_type(L, -2) != LUA_TSTRING
                || !reach_is_known(lua_tostring(L, -2))) continue;
            lua_pushboolean(L, 1);
            lua_rawsetp(L, w->seen, at);
        }
    lua_settop(L, loaded - 1);
}

static void reach_tensor(reach_walk *w, const la_handle *h)
{
    lua_State *L = w->L;
    int32_t ref = 0;
    for (int32_t i = 0; i < w->e->items.n; i++) {
        la_sig *item = LA_PROG_AT(w->e->items, la_sig, i);
        if (item->kind != LA_SIG_ARGUMENT || item->i
            || w->c->tensors[item->at] != h->tensor) continue;
        if (!ref) {
            lua_pushvalue(L, -1);
            ref = la_add_ref(L, w->e, w->refs);
        }
        item->i = ref;
    }
}

typedef struct reach_code { bool begun; luaL_Buffer b; } reach_code;

static int reach_write(lua_State *L, const void *bytes, size_t n, void *context)
{
    reach_code *c = context;
    if (!c->begun) luaL_buffinit(L, &c->b);
    c->begun = true;
    luaL_addlstring(&c->b, bytes, n);
    return 0;
}

static bool reach_names(const char *code, size_t n, const char *name,
                        size_t length)
{
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(code + i, name, length) == 0) return true;
    return false;
}

/* The function at 'f' uses globals, the table on the top: those that its code
** names. */
static void reach_globals(reach_walk *w, int f)
{
    lua_State *L = w->L;
    int globals = lua_gettop(L);
    size_t n, length;
    reach_code c = {.begun = false};
    if (lua_iscfunction(L, f)) return;
    lua_pushvalue(L, f);
    if (lua_dump(L, reach_write, &c, 1) || !c.begun) return;
    luaL_pushresult(&c.b);
    int top = lua_gettop(L);
    const char *code = lua_tolstring(L, top, &n);
    for (lua_pushnil(L); lua_next(L, globals);) {
        const char *name = lua_type(L, -2) == LUA_TSTRING
            ? lua_tolstring(L, -2, &length) : NULL;
        w->keys = top + 1;
        if (name && reach_names(code, n, name, length)) reach_add(w);
        else lua_settop(L, top + 1);
    }
}

/* Looks into the value on the top of the stack. */
static void reach_into(reach_walk *w)
{
    lua_State *L = w->L;
    int at = lua_gettop(L), type = lua_type(L, at);
    const la_handle *h = la_to_handle(L, at);
    w->keys = at;
    if (h) {
        if (h->tensor) reach_tensor(w, h);
        return;
    }
    if (type == LUA_TTABLE) {
        for (lua_pushnil(L); lua_next(L, at);) {
            w->keys = at + 1;
            reach_add(w);
        }
        return;
    }
    for (int i = 1; i < 256; i++) {
        bool some = type == LUA_TFUNCTION ? lua_getupvalue(L, at, i) != NULL
            : lua_getiuservalue(L, at, i) != LUA_TNONE;
        if (!some) break;
        lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
        bool globals = lua_rawequal(L, -1, -2);
        lua_pop(L, 1);
        if (globals) reach_globals(w, at);
        else reach_add(w);
        lua_settop(L, at);
    }
}

void la_mark_captured(lua_State *L, la_called *e, int refs, int f,
                      const la_call_tensors *c)
{
    int top = lua_gettop(L);
    if (c->n == 0) return;
    luaL_checkstack(L, 16, "compile");
    lua_newtable(L);
    lua_newtable(L);
    reach_walk w = {L, e, c, refs, top + 1, top + 2, top + 2, 0};
    reach_skip_loaded(&w);
    lua_pushvalue(L, f);
    reach_add(&w);
    for (lua_Integer i = 1; i <= w.n; i++) {
        lua_rawgeti(L, w.queue, i);
        reach_into(&w);
        lua_settop(L, top + 2);
    }
    lua_settop(L, top);
}
