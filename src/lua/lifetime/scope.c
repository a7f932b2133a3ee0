/*
** Scopes: la.tidy(f), la.keep(v), and what la_frame_begin/end are made of.
**
** A handle that is made while a scope is open has a metatable without __gc, so
** the collector neither lists it for a finalizer nor calls one: the scope owns
** the tensor and drops it at its end. Until then it must not lose sight of the
** handle, whose tensor is to be set to NULL; so a table, the anchor, holds all
** handles of open scopes, and 'list' their addresses in the same order.
**
** A handle that outlives all scopes needs the collector again. lua_setmetatable
** with a __gc would search it in the list of all objects made since, which for
** many handles is quadratic. Instead a guard with a finalizer is made: the
** handle's user value is the guard, the guard's the handle. They die together,
** and the finalizer finds the handle through its own user value, still whole.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "lua/binding.h"
#include "lua/lifetime/record_handle.h"

#define GUARD_NAME "lunarray.guard"
/* Handles in a table or list that is not kept for the next scope. */
#define WIDE 65536

typedef struct la_scope {
    uint32_t first;         /* its part of the list begins here, from 0 */
    bool frame;
} scope;

/* Index 1 of the anchor is the metatable of handles in scopes; the handle at
** list[i] stands at i + ANCHOR_FIRST. */
enum { ANCHOR_META = 1, ANCHOR_FIRST = 2 };

/* ---- memory ---- */

/* Doubles an array of 'size' bytes an entry; false when there is no memory. */
static bool scope_grow(void *array, size_t capacity, size_t most, size_t size)
{
    void *old, *fresh = la_mem_alloc(most * size);
    if (!fresh) return false;
    memcpy(&old, array, sizeof(old));
    if (old) {
        memcpy(fresh, old, capacity * size);
        la_mem_free(old, capacity * size);
    }
    memcpy(array, &fresh, sizeof(fresh));
    return true;
}

static void scope_free_list(la_scopes *c)
{
    if (c->list) la_mem_free(c->list, c->most * sizeof(*c->list));
    c->list = NULL;
    c->most = 0;
}

/* ---- handles ---- */

/* Another table instead of one that has grown large, since the collector
** walks all its slots, used or not. Only while it anchors nothing. */
static void renew_anchor(lua_State *L, la_scopes *c)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->anchor);
    lua_createtable(L, 64, 0);
    lua_rawgeti(L, -2, ANCHOR_META);
    lua_rawseti(L, -2, ANCHOR_META);
    lua_rawseti(L, LUA_REGISTRYINDEX, c->anchor);
    lua_pop(L, 1);
    c->wide = false;
}

/* The user value is for a guard. The list grows first: once the handle is in
** the anchor nothing may fail. */
la_handle *la_scoped_handle(lua_State *L, la_state *s)
{
    la_scopes *c = &s->scopes;
    if (c->n == 0 && c->wide) renew_anchor(L, c);
    if (c->n == c->most) {
        uint32_t most = c->most ? 2 * c->most : 64;
        if (!scope_grow(&c->list, c->most, most, sizeof(*c->list)))
            luaL_error(L, "%s", la_error_message());
        c->most = most;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->anchor);
    la_handle *h = lua_newuserdatauv(L, sizeof(*h), 1);
    *h = (la_handle){LA_HANDLE_MAGIC, 0, NULL, s};
    lua_rawgeti(L, -2, ANCHOR_META);
    la_take_handle_metatable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, (lua_Integer)c->n + ANCHOR_FIRST);
    lua_replace(L, -2);
    c->list[c->n++] = h;
    h->slot = c->n;
    return h;
}

/* ---- begin and end ---- */

la_status la_scope_begin(la_state *s, bool frame)
{
    la_scopes *c = &s->scopes;
    if (c->depth == c->capacity) {
        int capacity = c->capacity ? 2 * c->capacity : 8;
        if (!scope_grow(&c->open, (size_t)c->capacity, (size_t)capacity,
                        sizeof(scope)))
            return LA_ENOMEM;
        c->capacity = capacity;
    }
    c->open[c->depth++] = (scope){c->n, frame};
    c->returned = 0;
    return LA_OK;
}

bool la_in_frame(const la_state *s)
{
    const la_scopes *c = &s->scopes;
    return c->depth > 0 && c->open[c->depth - 1].frame;
}

/* Called at the end of the scope whose part begins at 'first': those that were
** returned are the next scope's. One by one from the end, as a host's memory
** that goes may call back. */
static void drop_handles(la_scopes *c, uint32_t first, bool frame)
{
    while (c->n > first) {
        la_handle *h = c->list[--c->n];
        if (!h) continue;
        h->slot = frame && h->tensor ? LA_SLOT_FRAME : 0;
        la_tensor_drop(&h->tensor);
    }
}

/* The anchor lets go of the slots from 'first' to 'last'. They exist, so that
** nothing is allocated. Without stack for it the table is replaced later. */
static void clear_anchor(lua_State *L, la_scopes *c, uint32_t first,
                         uint32_t last)
{
    if (first == last) return;
    if (!lua_checkstack(L, 3)) {
        c->wide = true;
        return;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->anchor);
    while (last > first) {
        lua_pushnil(L);
        lua_rawseti(L, -2, (lua_Integer)--last + ANCHOR_FIRST);
    }
    lua_pop(L, 1);
}

void la_scope_end(lua_State *L, la_state *s, int depth)
{
    la_scopes *c = &s->scopes;
    if (c->depth <= depth) return;
    uint32_t last = c->n;
    uint32_t first = c->open[depth].first
                   + (c->depth == depth + 1 ? c->returned : 0);
    c->returned = 0;
    c->depth = depth;
    drop_handles(c, first, c->open[depth].frame);
    clear_anchor(L, c, first, last);
    if (c->n == 0 && c->most > WIDE) {
        scope_free_list(c);
        c->wide = true;
    }
}

void la_drop_scopes(la_state *s)
{
    la_scopes *c = &s->scopes;
    c->depth = 0;
    drop_handles(c, 0, false);
    scope_free_list(c);
    if (c->open) la_mem_free(c->open, (size_t)c->capacity * sizeof(scope));
    c->open = NULL;
    c->capacity = 0;
}

/* ---- what outlives a scope ---- */

/* The guard of a handle that was kept: both are garbage. */
static int guard_gc(lua_State *L)
{
    lua_getiuservalue(L, 1, 1);
    la_handle *h = la_to_handle(L, -1);
    if (!h) return 0;
    h->state->ended++;
    la_tensor_drop(&h->tensor);
    return 0;
}

/* The handle 'h' at the top of the stack leaves its scope; the collector frees
** it from now on. Raises for want of memory, and then it has not left. */
static void keep_handle(lua_State *L, la_state *s, la_handle *h, int data)
{
    la_scopes *c = &s->scopes;
    if (h->slot == 0 || !h->tensor || h->state != s) return;
    lua_newuserdatauv(L, 0, 1);
    lua_pushvalue(L, -2);
    lua_setiuservalue(L, -2, 1);
    la_set_metatable(L, GUARD_NAME);
    lua_setiuservalue(L, -2, 1);
    s->begun++;
    c->list[h->slot - 1] = NULL;
    h->slot = 0;
    la_count_bytes(s, h->tensor);
}

/* The handle 'h' at the top of the stack, where it is of the innermost scope,
** is exchanged with one at the front of its part: those stay when it ends. */
static void return_handle(lua_State *L, la_state *s, la_handle *h, int data)
{
    la_scopes *c = &s->scopes;
    uint32_t to = c->open[c->depth - 1].first + c->returned;
    if (h->slot <= to || h->slot > c->n || h->state != s) return;
    uint32_t from = h->slot - 1;
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->anchor);
    lua_rawgeti(L, -1, (lua_Integer)to + ANCHOR_FIRST);
    lua_rawseti(L, -2, (lua_Integer)from + ANCHOR_FIRST);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (lua_Integer)to + ANCHOR_FIRST);
    lua_pop(L, 1);
    la_handle *other = c->list[to];
    c->list[from] = other;
    if (other) other->slot = from + 1;
    c->list[to] = h;
    h->slot = to + 1;
    c->returned++;
}

/* With the handle at the top of the stack; 'data' is a stack index. */
typedef void (*visit)(lua_State *L, la_state *s, la_handle *h, int data);

static void list_handle(lua_State *L, la_state *s, la_handle *h, int data);

/* Lists values that are no handles: a generator at the top with its state, as a
** key and a value of the list; a record becomes the table of its fields. */
static void look_at_other(lua_State *L, int list)
{
    la_generator *g = la_to_generator(L, -1);
    if (g) {
        lua_pushvalue(L, -1);
        lua_pushlstring(L, (const char *)g, sizeof *g);
        lua_rawset(L, list);
    } else if (la_push_fields(L, -1)) {
        lua_remove(L, -2);
    }
}

/* Raises for a value, at the top above its key, that no snapshot keeps. */
static void refuse_rest(lua_State *L)
{
    char quoted[208];
    size_t n;
    int at = lua_gettop(L);
    const char *kind = la_type_text(L, at);
    const char *key = luaL_tolstring(L, at - 1, &n);
    luaL_error(L, "snapshot: '%s' is a %s, which a snapshot does not keep: "
               "it takes tensors, generators, records, and tables of these",
               la_quote(key, n, quoted, sizeof quoted), kind);
}

/* Is the value at the top, above its key, one that whoever takes a snapshot
** would miss: a member of a list, or an object in C under a name? Other named
** fields of a plain table are settings and methods, as those of objects are
** (tables with a metatable, such as modules, and what is inside of them). */
static bool is_lost(lua_State *L, visit each)
{
    int type = lua_type(L, -1);
    if (each != list_handle || type == LUA_TTABLE) return false;
    if (lua_type(L, -2) != LUA_TNUMBER && type != LUA_TUSERDATA
        && type != LUA_TTHREAD) return false;
    return !la_to_handle(L, -1) && !la_to_generator(L, -1)
        && !la_is_record(L, -1);
}

/* The value at the top of the stack, popped: a handle is visited, a table comes
** to the end of the list at 'list' unless it has been there, with 'plain' as
** its mark. Where handles are listed, a record is the table of its fields;
** those are in no scope. */
static void scope_look_at(lua_State *L, la_state *s, int list, visit each,
                          int data, bool plain)
{
    la_handle *h = la_to_handle(L, -1);
    if (h) each(L, s, h, data);
    else if (each == list_handle) look_at_other(L, data);
    if (lua_type(L, -1) == LUA_TTABLE) {
        lua_pushvalue(L, -1);
        if (lua_rawget(L, list) == LUA_TNIL) {
            lua_pushvalue(L, -2);
            lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
            lua_pushvalue(L, -2);
            lua_pushboolean(L, plain);
            lua_rawset(L, list);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Is the table at the top no object, nor in one? */
static bool scope_is_plain(lua_State *L, int list)
{
    if (lua_getmetatable(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    lua_pushvalue(L, -1);
    lua_rawget(L, list);
    bool plain = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return plain;
}

/* A table may be long: raises where the state has reached a limit. */
static void scope_poll(lua_State *L, visit each, int64_t entry)
{
    if (entry % 1024 != 1023) return;
    la_make_current(&la_state_of(L)->context);
    LA_CHECK(L, each == list_handle ? "snapshot" : "keep", la_poll());
}

/* Handles in the table at 'arg' and in those inside it, keys and values, read
** raw. Under keys that are light userdata stands what C hides there. */
static void walk_table(lua_State *L, la_state *s, int arg, visit each,
                       int data)
{
    luaL_checkstack(L, 10, "tables of tensors");
    lua_newtable(L);
    int list = lua_gettop(L);
    lua_pushvalue(L, arg);
    scope_look_at(L, s, list, each, data, true);
    for (lua_Integer i = 1; lua_rawgeti(L, list, i) == LUA_TTABLE; i++) {
        bool plain = scope_is_plain(L, list);
        lua_pushnil(L);
        for (int64_t entry = 0; lua_next(L, -2); entry++) {
            scope_poll(L, each, entry);
            if (lua_type(L, -2) == LUA_TLIGHTUSERDATA) {
                lua_pop(L, 1);
                continue;
            }
            if (plain && is_lost(L, each)) refuse_rest(L);
            scope_look_at(L, s, list, each, data, plain);
            lua_pushvalue(L, -1);
            scope_look_at(L, s, list, each, data, plain);
        }
        lua_pop(L, 1);
    }
    lua_settop(L, list - 1);
}

/* The value at 'arg', an absolute index. */
static void scope_walk(lua_State *L, la_state *s, int arg, visit each, int data)
{
    la_handle *h = la_to_handle(L, arg);
    if (h) {
        lua_pushvalue(L, arg);
        each(L, s, h, data);
        lua_pop(L, 1);
    } else if (lua_type(L, arg) == LUA_TTABLE) {
        walk_table(L, s, arg, each, data);
    } else if (each == list_handle && la_push_fields(L, arg)) {
        walk_table(L, s, lua_gettop(L), each, data);
        lua_pop(L, 1);
    }
}

void la_keep_value(lua_State *L, la_state *s, int arg)
{
    if (s->scopes.n > 0) scope_walk(L, s, lua_absindex(L, arg), keep_handle, 0);
}

/* The handle at the top comes to the end of the list at 'data', once. */
static void list_handle(lua_State *L, la_state *s, la_handle *h, int data)
{
    lua_pushvalue(L, -1);
    if (lua_rawget(L, data) == LUA_TNIL) {
        lua_pushvalue(L, -2);
        lua_pushboolean(L, 1);
        lua_rawset(L, data);
        lua_pushvalue(L, -2);
        lua_rawseti(L, data, (lua_Integer)lua_rawlen(L, data) + 1);
    }
    lua_pop(L, 1);
}

int64_t la_list_handles(lua_State *L, int arg)
{
    arg = lua_absindex(L, arg);
    luaL_checkstack(L, 8, "tables of tensors");
    lua_newtable(L);
    int list = lua_gettop(L);
    scope_walk(L, NULL, arg, list_handle, list);
    return (int64_t)lua_rawlen(L, list);
}

/* ---- Lua ---- */

/* Protected: the scope's depth, f and its arguments. f's results stay in the
** outer scope, or out of all. Scopes that f left open (la_frame_begin) become a
** part of this one. */
static int run_tidy(lua_State *L)
{
    la_state *s = la_state_of(L);
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    luaL_checkstack(L, 8, "too many results");
    int n = lua_gettop(L), depth = (int)lua_tointeger(L, 1);
    s->scopes.depth = depth;
    for (int i = 2; i <= n; i++)
        scope_walk(L, s, i, depth == 1 ? keep_handle : return_handle, 0);
    return n - 1;
}

/* la.tidy(f, ...). Errors of f pass through unchanged. A yield across it is
** refused by lua_pcall: what others make meanwhile is not the scope's. */
static int fn_tidy(lua_State *L)
{
    la_state *s = la_enter(L);
    int depth = s->scopes.depth, n = lua_gettop(L);
    la_check_callable(L, 1, "tidy");
    luaL_checkstack(L, 4, "too many arguments");
    LA_CHECK(L, "tidy", la_scope_begin(s, false));
    uint64_t begun = s->begun;
    lua_pushcfunction(L, run_tidy);
    lua_pushinteger(L, depth + 1);
    lua_rotate(L, 1, 2);
    int failed = lua_pcall(L, n + 1, LUA_MULTRET, 0);
    la_enter(L);
    if (failed) s->scopes.returned = 0;
    la_scope_end(L, s, depth);
    if (failed) return lua_error(L);
    /* Tensors among the results are the collector's, and the loop around may
    ** make no others. Without any there is nothing to keep up with. */
    if (s->begun != begun) la_pace(L, s);
    return lua_gettop(L);
}

/* la.keep(v). Too late for a tensor that was freed. */
static int fn_keep(lua_State *L)
{
    la_state *s = la_enter(L);
    if (lua_isnone(L, 1)) la_raise_arg(L, 1, "keep", "value expected");
    if (la_to_handle(L, 1)) la_check_tensor(L, 1, "keep");
    lua_settop(L, 1);
    la_keep_value(L, s, 1);
    return 1;
}

/* The metatable of handles in scopes: a copy of the one at 'meta', which is
** complete, without __gc. */
void la_open_scopes(lua_State *L, la_state *s, int meta)
{
    la_new_metatable(L, GUARD_NAME, NULL);
    la_set_event(L, "__gc", guard_gc);
    lua_pop(L, 1);
    lua_createtable(L, 64, 0);
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, meta)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_pushnil(L);
    lua_setfield(L, -2, "__gc");
    lua_rawseti(L, -2, ANCHOR_META);
    s->scopes.anchor = luaL_ref(L, LUA_REGISTRYINDEX);
}

static const la_function functions[] = {
    {"tidy", fn_tidy, LA_MANY}, {"keep", fn_keep, 1}, {NULL, NULL, 0}
};
const la_part la_part_scope = {functions, NULL};
