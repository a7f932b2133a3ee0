/*
** Values that a compiled function reaches by itself: its upvalues, what is in
** their tables, user values and functions, globals. A tensor that comes as an
** argument and that f has as well is one object of the recording, of which
** nobody knows which of the two f used. So the recording is for calls with that
** very tensor.
**
** The walk looks at some thousands of values, breadth first. The tables of the
** library and of Lua are left out.
**
** For la.fuse the same walk leaves a guard on each value, and what tensors it
** comes upon are arguments of the recording: f has other ones in other calls.
*/
#include <string.h>

#include "lua/transform/compile.h"

enum { REACH_MOST = 4000 };

/* Indices on the stack: values that wait, in order; those that were met. */
typedef struct reach_walk {
    lua_State *L;
    la_called *e;
    la_call_tensors *c;
    int refs, queue, seen, keys;
    lua_Integer n;
    bool watches, many;
    int32_t owner;      /* the ref of the value that is looked into; 0: none */
} reach_walk;

/* ---- guards ---- */

static void reach_add_guard(reach_walk *w, la_watch g)
{
    la_watch *to = la_prog_add(&w->e->guards, sizeof g);
    if (!to) la_raise(w->L, "fuse", LA_ENOMEM);
    *to = g;
}

/* A guard on the value on the top, which the table or function at 'at' has
** under the key at 'key', or as its upvalue of number 'upvalue'. */
static void reach_watch(reach_walk *w, int at, int key, int upvalue)
{
    lua_State *L = w->L;
    la_handle *h = la_to_handle(L, -1);
    la_watch g = {.kind = upvalue ? LA_WATCH_UPVALUE : LA_WATCH_FIELD,
                  .key = upvalue};
    w->many |= w->e->guards.n >= LA_COMPILE_WATCHED;
    if (!w->watches || w->many) return;
    if (!w->owner) {
        lua_pushvalue(L, at);
        w->owner = la_add_ref(L, w->e, w->refs);
    }
    g.table = w->owner;
    g.table_at = lua_topointer(L, at);
    if (!upvalue) {
        lua_pushvalue(L, key);
        g.key = la_add_ref(L, w->e, w->refs);
    }
    if (h && h->tensor) {
        g.tensor = la_join_tensor(w->c, h) + 1;
        w->many |= g.tensor == 0;
    }
    lua_pushvalue(L, -1);
    g.value = la_add_ref(L, w->e, w->refs);
    reach_add_guard(w, g);
}

static void reach_watch_size(reach_walk *w, int at, int32_t n)
{
    if (!w->watches || w->many || !w->owner) return;
    reach_add_guard(w, (la_watch){.kind = LA_WATCH_SIZE, .table = w->owner,
                                  .value = n,
                                  .table_at = lua_topointer(w->L, at)});
}

/* ---- the walk ---- */

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

/* Entries of the table on the top whose names are in the code above 'f'. */
static void reach_named(reach_walk *w, int table, const char *code, size_t n)
{
    lua_State *L = w->L;
    int top = lua_gettop(L);
    size_t length;
    w->owner = 0;
    for (lua_pushnil(L); lua_next(L, table);) {
        const char *name = lua_type(L, -2) == LUA_TSTRING
            ? lua_tolstring(L, -2, &length) : NULL;
        w->keys = top + 1;
        if (name && reach_names(code, n, name, length)) {
            reach_watch(w, table, top + 1, 0);
            reach_add(w);
        } else lua_settop(L, top + 1);
    }
}

/* The function at 'f' uses globals, the table on the top: those that its code
** names, and what the table inherits. */
static void reach_globals(reach_walk *w, int f)
{
    enum { CHAIN = 4 };
    lua_State *L = w->L;
    int globals = lua_gettop(L);
    size_t n;
    reach_code c = {.begun = false};
    if (lua_iscfunction(L, f)) return;
    lua_pushvalue(L, f);
    if (lua_dump(L, reach_write, &c, 1) || !c.begun) return;
    luaL_pushresult(&c.b);
    int top = lua_gettop(L);
    const char *code = lua_tolstring(L, top, &n);
    for (int i = 0; i < CHAIN; i++) {
        reach_named(w, globals, code, n);
        lua_settop(L, top);
        if (!lua_getmetatable(L, globals)) break;
        lua_pushliteral(L, "__index");
        lua_rawget(L, -2);
        if (!lua_istable(L, -1)) break;
        lua_replace(L, globals);
        lua_settop(L, top);
    }
    w->owner = 0;
}

/* Lua code of the library, whose values belong to it. */
static bool reach_is_ours(lua_State *L, int at)
{
    lua_Debug ar;
    lua_pushvalue(L, at);
    lua_getinfo(L, ">S", &ar);
    return strncmp(ar.short_src, "lunarray.", 9) == 0;
}

static void reach_table(reach_walk *w, int at)
{
    lua_State *L = w->L;
    int32_t n = 0;
    for (lua_pushnil(L); lua_next(L, at); n++) {
        w->keys = at + 1;
        if (w->watches && lua_isfunction(L, -1) && !lua_iscfunction(L, -1)
            && reach_is_ours(L, -1)) {
            lua_settop(L, at + 1);
            continue;
        }
        reach_watch(w, at, at + 1, 0);
        reach_add(w);
    }
    reach_watch_size(w, at, n);
    w->keys = at;
    if (w->watches && lua_getmetatable(L, at)) reach_add(w);
}

/* Is the upvalue on the top the table of globals that its function sees? */
static bool reach_is_globals(lua_State *L, const char *name)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    bool globals = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    return globals || (name && strcmp(name, "_ENV") == 0
                       && lua_istable(L, -1));
}

static void reach_upvalues(reach_walk *w, int at)
{
    lua_State *L = w->L;
    const char *name;
    bool ours = lua_iscfunction(L, at) || reach_is_ours(L, at);
    for (int i = 1; i < 256 && (name = lua_getupvalue(L, at, i)); i++) {
        bool fused = luaL_testudata(L, -1, LA_COMPILED_NAME) != NULL;
        if (reach_is_globals(L, name)) {
            if (!w->watches || !ours) reach_globals(w, at);
        } else if (!w->watches) reach_add(w);
        else if (fused || !ours) {
            reach_watch(w, at, 0, i);
            reach_add(w);
        }
        lua_settop(L, at);
    }
}

/* A compiled function keeps f first. */
static void reach_user_values(reach_walk *w, int at)
{
    lua_State *L = w->L;
    int most = !w->watches ? 255
        : luaL_testudata(L, at, LA_COMPILED_NAME) ? LA_COMPILED_F : 0;
    for (int i = 1; i <= most; i++) {
        if (lua_getiuservalue(L, at, i) == LUA_TNONE) break;
        reach_add(w);
        lua_settop(L, at);
    }
}

/* Looks into the value on the top of the stack. */
static void reach_into(reach_walk *w)
{
    lua_State *L = w->L;
    int at = lua_gettop(L), type = lua_type(L, at);
    const la_handle *h = la_to_handle(L, at);
    w->keys = at;
    w->owner = 0;
    if (h) {
        if (h->tensor && !w->watches) reach_tensor(w, h);
        return;
    }
    if (type == LUA_TTABLE) reach_table(w, at);
    else if (type == LUA_TFUNCTION) reach_upvalues(w, at);
    else reach_user_values(w, at);
}

static bool reach_all(reach_walk *w, int f)
{
    lua_State *L = w->L;
    int top = lua_gettop(L);
    luaL_checkstack(L, 16, "compile");
    lua_newtable(L);
    lua_newtable(L);
    w->queue = top + 1;
    w->seen = w->keys = top + 2;
    reach_skip_loaded(w);
    lua_pushvalue(L, f);
    reach_add(w);
    for (lua_Integer i = 1; i <= w->n && !w->many; i++) {
        lua_rawgeti(L, w->queue, i);
        reach_into(w);
        lua_settop(L, top + 2);
    }
    lua_settop(L, top);
    return !w->many;
}

void la_mark_captured(lua_State *L, la_called *e, int refs, int f,
                      la_call_tensors *c)
{
    reach_walk w = {.L = L, .e = e, .c = c, .refs = refs};
    if (c->n > 0) reach_all(&w, f);
}

bool la_watch_captured(lua_State *L, la_called *e, int refs, int f,
                       la_call_tensors *c)
{
    reach_walk w = {.L = L, .e = e, .c = c, .refs = refs, .watches = true};
    bool all = reach_all(&w, f);
    e->ntensors = c->n;
    return all;
}
