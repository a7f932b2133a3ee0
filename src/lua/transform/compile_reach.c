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
** For la.fuse the same walk leaves a guard on each value, on how many of them a
** table has, on its metatable, and on names of globals that are not there yet;
** and what tensors it comes upon are arguments of the recording: f has other
** ones in other calls. Where f calls functions whose results are not of their
** arguments alone (math.random, os.clock, those of a host), it is recorded for
** none.
*/
#include <lualib.h>
#include <string.h>

#include "base/ascii.h"
#include "lua/embed.h"
#include "lua/transform/compile.h"
#include "op/op.h"

enum { REACH_MOST = 4000 };

/* Indices on the stack: values that wait, in order; those that were met. */
typedef struct reach_walk {
    lua_State *L;
    la_called *e;
    la_call_tensors *c;
    int refs, queue, seen, keys;
    lua_Integer n;
    bool watches;
    const char *why;    /* nothing can be watched; NULL: all is, so far */
    int32_t owner;      /* the ref of the value that is looked into; 0: none */
} reach_walk;

/* ---- guards ---- */

static void reach_add_guard(reach_walk *w, la_watch g)
{
    la_watch *to = la_prog_add(&w->e->guards, sizeof g);
    if (!to) la_raise(w->L, "fuse", LA_ENOMEM);
    *to = g;
}

static const char reach_is_many[] = "it captures too many Lua values";
static const char reach_lives[] = "it calls functions of Lua or of the host "
    "whose results are not of their arguments alone";

/* The ref of the value at 'at', whose guards stand one after another. */
static int32_t reach_owner(reach_walk *w, int at)
{
    if (!w->owner) {
        lua_pushvalue(w->L, at);
        w->owner = la_add_ref(w->L, w->e, w->refs);
    }
    return w->owner;
}

/* A guard on the value on the top, which the table or function at 'at' has
** under the key at 'key', or as its upvalue of number 'upvalue'. */
static void reach_watch(reach_walk *w, int at, int key, int upvalue)
{
    lua_State *L = w->L;
    la_handle *h = la_to_handle(L, -1);
    la_watch g = {.kind = upvalue ? LA_WATCH_UPVALUE : LA_WATCH_FIELD,
                  .key = upvalue};
    if (w->e->guards.n >= LA_COMPILE_WATCHED) w->why = reach_is_many;
    if (!w->watches || w->why) return;
    g.table = reach_owner(w, at);
    g.table_at = lua_topointer(L, at);
    if (!upvalue) {
        lua_pushvalue(L, key);
        g.key = la_add_ref(L, w->e, w->refs);
    }
    if (h && h->tensor) {
        g.tensor = la_join_tensor(w->c, h) + 1;
        if (g.tensor == 0) w->why = reach_is_many;
    }
    lua_pushvalue(L, -1);
    la_watch_value(L, w->e, w->refs, &g);
    reach_add_guard(w, g);
}

/* Guards on the number of a table's entries, and on its metatable. */
static void reach_watch_whole(reach_walk *w, int at, int32_t n)
{
    lua_State *L = w->L;
    if (!w->watches || w->why) return;
    la_watch g = {.kind = LA_WATCH_SIZE, .table = reach_owner(w, at),
                  .value = n, .table_at = lua_topointer(L, at)};
    reach_add_guard(w, g);
    g.kind = LA_WATCH_META;
    if (!lua_getmetatable(L, at)) lua_pushnil(L);
    la_watch_value(L, w->e, w->refs, &g);
    reach_add_guard(w, g);
}

/* ---- what is no function of its arguments ---- */

/* Has that library of Lua's the value on the top, under one of the names (NULL:
** any)? Without a library it is the table of all of them. */
static bool reach_has(lua_State *L, const char *library,
                      const char *const *names)
{
    int top = lua_gettop(L);
    bool is = false;
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (library) lua_getfield(L, -1, library);
    int table = lua_gettop(L);
    if (lua_istable(L, table))
        for (lua_pushnil(L); !is && lua_next(L, table);
             lua_settop(L, table + 1)) {
            if (!lua_rawequal(L, -1, top)) continue;
            is = !names;
            for (int i = 0; names && names[i] && !is; i++)
                is = lua_type(L, -2) == LUA_TSTRING
                    && strcmp(lua_tostring(L, -2), names[i]) == 0;
        }
    lua_settop(L, top);
    return is;
}

/* Does Lua's own library have the value on the top as a function of its
** arguments? */
static bool reach_is_plain(lua_State *L)
{
    return reach_has(L, LUA_GNAME, NULL) || reach_has(L, LUA_MATHLIBNAME, NULL)
        || reach_has(L, LUA_STRLIBNAME, NULL)
        || reach_has(L, LUA_TABLIBNAME, NULL)
        || reach_has(L, LUA_UTF8LIBNAME, NULL);
}

/* Is the function on the top one of this library: with the state, or the name
** of a module, as its first upvalue? */
static bool reach_is_library(lua_State *L)
{
    bool is = false;
    if (!lua_getupvalue(L, -1, 1)) return false;
    if (lua_type(L, -1) == LUA_TSTRING)
        is = la_is_module_name(lua_tostring(L, -1));
    else is = lua_touserdata(L, -1) == la_state_of(L);
    lua_pop(L, 1);
    return is;
}

/* The value on the top may give another result, or do something, in each call:
** a library with clocks or files, or a function in C that nobody knows. */
static bool reach_is_live(lua_State *L)
{
    static const char *const effects[] = {"print", "warn", "collectgarbage",
        "load", "loadfile", "dofile", "require", NULL};
    static const char *const draws[] = {"random", "randomseed", NULL};
    static const char *const libraries[] = {LUA_OSLIBNAME, LUA_IOLIBNAME,
        LUA_DBLIBNAME, LUA_LOADLIBNAME, NULL};
    if (lua_istable(L, -1)) return reach_has(L, NULL, libraries);
    if (!lua_iscfunction(L, -1)) return false;
    if (reach_has(L, LUA_GNAME, effects)
        || reach_has(L, LUA_MATHLIBNAME, draws)) return true;
    return !reach_is_library(L) && !reach_is_plain(L);
}

static void reach_look_at(reach_walk *w)
{
    if (w->watches && !w->why && reach_is_live(w->L))
        w->why = reach_lives;
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
    return la_is_module_name(name);
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

/* Code that is written to memory of a known size; NULL only counts. Nothing is
** pushed while it is written: from 5.5 on Lua keeps a table of its own on the
** stack then. */
typedef struct reach_code { char *at; size_t n, size; } reach_code;

static int reach_write(lua_State *L, const void *bytes, size_t n, void *context)
{
    reach_code *c = context;
    (void)L;
    if (c->at && n > c->size - c->n) return 1;
    if (c->at && n) memcpy(c->at + c->n, bytes, n);
    c->n += n;
    return 0;
}

static inline bool reach_is_letter(char c)
{
    return c == '_' || la_is_alnum(c);
}

/* Has the code this name as a whole one? The byte before it may be a letter by
** chance, where it is the name's length as 5.5 writes it, with its final 0. */
static bool reach_names(const char *code, size_t n, const char *name,
                        size_t length)
{
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(code + i, name, length) == 0
            && (i == 0 || !reach_is_letter(code[i - 1])
                || (unsigned char)code[i - 1] == length + 1)
            && (i + length == n || !reach_is_letter(code[i + length])))
            return true;
    return false;
}

/* A guard on each name in the code that the table has not: f may ask whether it
** is there. Names of operations are methods. */
static void reach_absent(reach_walk *w, int table, const char *code, size_t n)
{
    lua_State *L = w->L;
    int top = lua_gettop(L);
    w->owner = 0;
    for (size_t i = 0, k; w->watches && !w->why && i < n; i = k + 1) {
        for (k = i; k < n && reach_is_letter(code[k]);) k++;
        size_t length = k - i;
        if (length == 0 || length > 40 || code[i] == '_'
            || la_is_lua_name(code + i, length)
            || la_op_first(code + i, length)) continue;
        lua_pushlstring(L, code + i, length);
        lua_pushfstring(L, "%p.%s", lua_topointer(L, table),
                        lua_tostring(L, -1));       /* which was met */
        lua_pushvalue(L, -1);
        bool met = lua_rawget(L, w->seen) != LUA_TNIL;
        lua_pushvalue(L, top + 1);
        if (!met && lua_rawget(L, table) == LUA_TNIL) {
            reach_watch(w, table, top + 1, 0);
            lua_pushvalue(L, top + 2);
            lua_pushboolean(L, 1);
            lua_rawset(L, w->seen);
        }
        lua_settop(L, top);
    }
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
            reach_look_at(w);
            reach_watch(w, table, top + 1, 0);
            reach_add(w);
        } else lua_settop(L, top + 1);
    }
}

/* The code of the function at 'f', in which the names stand that it uses, and
** its size; it is the memory of a block that is pushed. NULL, with nothing
** pushed, for a function in C. */
static const char *reach_code_of(lua_State *L, int f, size_t *n)
{
    reach_code c = {.at = NULL};
    if (lua_iscfunction(L, f)) return NULL;
    lua_pushvalue(L, f);
    bool written = !lua_dump(L, reach_write, &c, 1);
    if (written) {
        c.size = c.n;
        c.n = 0;
        c.at = lua_newuserdatauv(L, c.size, 0);
        lua_insert(L, -2);
        written = !lua_dump(L, reach_write, &c, 1);
        lua_pop(L, 1);
        if (!written) lua_pop(L, 1);
    } else lua_pop(L, 1);
    *n = c.n;
    return written ? c.at : NULL;
}

/* Draws of Lua's are asked for through a table that nobody looks into. */
static void reach_draws(reach_walk *w, int f)
{
    lua_State *L = w->L;
    size_t n;
    if (!w->watches || w->why) return;
    const char *code = reach_code_of(L, f, &n);
    if (!code) return;
    if (reach_names(code, n, "random", 6)) w->why = reach_lives;
    lua_pop(L, 1);
}

/* The function at 'f' uses globals, the table on the top: those that its code
** names, and what the table inherits. */
static void reach_globals(reach_walk *w, int f)
{
    enum { CHAIN = 4 };
    lua_State *L = w->L;
    int globals = lua_gettop(L);
    size_t n;
    const char *code = reach_code_of(L, f, &n);
    if (!code) return;
    int top = lua_gettop(L);
    reach_absent(w, globals, code, n);
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
    return la_is_module_name(ar.short_src);
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
        reach_look_at(w);
        reach_watch(w, at, at + 1, 0);
        reach_add(w);
    }
    reach_watch_whole(w, at, n);
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
    if (!ours) reach_draws(w, at);
    for (int i = 1; i < 256 && (name = lua_getupvalue(L, at, i)); i++) {
        bool fused = luaL_testudata(L, -1, LA_COMPILED_NAME) != NULL;
        if (reach_is_globals(L, name)) {
            if (!w->watches || !ours) reach_globals(w, at);
        } else if (!w->watches) reach_add(w);
        else if (fused || !ours) {
            reach_look_at(w);
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

/* The objects and functions among the arguments, which a signature knows by
** their identity alone. */
static void reach_arguments(reach_walk *w)
{
    lua_State *L = w->L;
    for (int32_t i = 0; i < w->e->items.n; i++) {
        const la_sig *item = LA_PROG_AT(w->e->items, la_sig, i);
        if (item->kind != LA_SIG_VALUE) continue;
        lua_rawgeti(L, w->refs, item->at);
        reach_look_at(w);
        reach_add(w);
    }
}

static void reach_all(reach_walk *w, int f)
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
    if (w->watches) reach_arguments(w);
    for (lua_Integer i = 1; i <= w->n && !w->why; i++) {
        lua_rawgeti(L, w->queue, i);
        reach_into(w);
        lua_settop(L, top + 2);
    }
    lua_settop(L, top);
}

void la_mark_captured(lua_State *L, la_called *e, int refs, int f,
                      la_call_tensors *c)
{
    reach_walk w = {.L = L, .e = e, .c = c, .refs = refs};
    if (c->n > 0) reach_all(&w, f);
}

const char *la_watch_captured(lua_State *L, la_called *e, int refs, int f,
                              la_call_tensors *c)
{
    reach_walk w = {.L = L, .e = e, .c = c, .refs = refs, .watches = true};
    reach_all(&w, f);
    e->ntensors = c->n;
    return w.why;
}
