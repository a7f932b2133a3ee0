/*
** Compiled functions as programs of hosts (la_program_of, la.save): the last
** signature's recording, inputs named as the function's parameters, captured
** tensors by a table of names, and numbers that Lua keeps (learning rates,
** counts of steps) as weights.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/runtime/runtime.h"
#include "lua/transform/autograd.h"
#include "lua/transform/host_program.h"

/* ---- what is taken ---- */

/* Number that several programs read from one field of Lua. */
typedef struct taken_number {
    const void *table, *key;
    la_tensor *tensor;          /* owned */
} taken_number;

#define TAKEN_NAME "lunarray.TakenPrograms"

static int taken_gc(lua_State *L)
{
    la_taken *t = lua_touserdata(L, 1);
    la_enter_state(L);
    la_program_drop_list(&t->list);
    for (int32_t i = 0; i < t->numbers.n; i++)
        la_tensor_release(LA_PROG_AT(t->numbers, taken_number, i)->tensor);
    la_prog_drop_list(&t->numbers, sizeof(taken_number));
    return 0;
}

la_taken *la_push_taken(lua_State *L)
{
    return la_push_collected(L, sizeof(la_taken), TAKEN_NAME, taken_gc);
}

/* ---- numbers ---- */

static la_status taken_number_of(la_taken *t, const void *table,
                                 const void *key, double value,
                                 la_tensor **out)
{
    for (int32_t i = 0; i < t->numbers.n; i++) {
        const taken_number *n = LA_PROG_AT(t->numbers, taken_number, i);
        if (n->table != table || n->key != key) continue;
        *out = n->tensor;
        return LA_OK;
    }
    LA_LET(own, la_program_make_number(value, &own));
    taken_number *to = la_prog_add(&t->numbers, sizeof *to);
    if (!to) return LA_ENOMEM;
    *to = (taken_number){table, key, own};
    *out = own;
    own = NULL;
    return LA_OK;
}

/* Fields of optimisers: table[key], as the next step finds it. */
static void taken_number_add(lua_State *L, const char *function, la_taken *t,
                             la_program *g, const la_number *n, int refs)
{
    la_tensor *tensor = NULL;
    lua_rawgeti(L, refs, n->table);
    lua_rawgeti(L, refs, n->key);
    const void *table = lua_topointer(L, -2), *key = lua_topointer(L, -1);
    const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                      : "number";
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    double value = lua_type(L, -1) == LUA_TBOOLEAN ? lua_toboolean(L, -1)
                                                   : lua_tonumber(L, -1);
    LA_CHECK(L, function, taken_number_of(t, table, key, value, &tensor));
    LA_CHECK(L, function, la_program_add_number(g, n->kind == LA_NUMBER_COUNT
        ? LA_PROGRAM_COUNT : LA_PROGRAM_FIELD, tensor, name));
    lua_pop(L, 3);
}

/* ---- names of inputs and outputs ---- */

typedef struct taken_names {
    lua_State *L;
    const char *function;
    la_program *g;
    const la_called *e;
    int refs, f;                /* f: index of the Lua function, or 0 */
    bool *seen;                 /* per tensor: has a name */
} taken_names;

/* Pushes the name of value 'i' of the call, from 1. */
static void taken_push_parameter(taken_names *w, int i)
{
    const char *name = NULL;
    if (w->f && lua_isfunction(w->L, w->f) && !lua_iscfunction(w->L, w->f)) {
        lua_pushvalue(w->L, w->f);
        name = lua_getlocal(w->L, NULL, i);
    }
    if (name) lua_pushstring(w->L, name);
    else lua_pushfstring(w->L, "input%d", i);
}

/* The item that *at is, under the name on the top of the stack, which goes. */
static void taken_name_item(taken_names *w, const la_prog_list *items,
                            int32_t *at, int what)
{
    lua_State *L = w->L;
    size_t n;
    const la_sig *item = LA_PROG_AT(*items, la_sig, (*at)++);
    int32_t number = item->kind == (what ? LA_SIG_OUTPUT : LA_SIG_ARGUMENT)
        ? item->at : -1;
    for (int32_t i = 0; what && number >= 0 && i < w->e->handles.n; i++)
        if (*LA_PROG_AT(w->e->handles, int32_t, i) == item->at) number = i;
    if (number >= 0 && number < w->g->names[what].n && !w->seen[number]) {
        const char *name = lua_tolstring(L, -1, &n);
        w->seen[number] = true;
        if (n && strlen(name) == n)
            LA_CHECK(L, w->function, la_program_rename(w->g, what, number,
                                                       name, n));
    }
    luaL_checkstack(L, 8, "too many values");
    for (int32_t k = item->kind == LA_SIG_KEYS ? item->at : 0; k > 0; k--) {
        const la_sig *key = LA_PROG_AT(*items, la_sig, (*at)++);
        lua_pushvalue(L, -1);
        lua_rawgeti(L, w->refs, key->at);
        if (lua_type(L, -1) == LUA_TSTRING || lua_isinteger(L, -1)) {
            lua_pushfstring(L, "%s.%s", lua_tostring(L, -2),
                            lua_tostring(L, -1));
            lua_replace(L, -3);
        }
        lua_pop(L, 1);
        taken_name_item(w, items, at, what);
    }
    lua_pop(L, 1);
}

/* Parameters; results by their position. */
static void taken_name_values(taken_names *w, int what)
{
    lua_State *L = w->L;
    const la_prog_list *items = what ? &w->e->results : &w->e->items;
    int64_t n = w->g->names[what].n + 1;
    int top = lua_gettop(L), value = 1;
    w->seen = lua_newuserdatauv(L, (size_t)n, 0);
    memset(w->seen, 0, (size_t)n);
    for (int32_t at = 0; at < items->n; value++) {
        if (what) lua_pushfstring(L, "output%d", value);
        else taken_push_parameter(w, value);
        taken_name_item(w, items, &at, what);
        lua_settop(L, top + 1);
    }
    lua_settop(L, top);
}

/* Those of the list on the top, which goes. */
static void taken_rename(lua_State *L, const char *function, la_program *g,
                         int what)
{
    size_t n;
    int list = lua_gettop(L);
    for (int64_t i = 0; lua_istable(L, list) && i < g->names[what].n; i++) {
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        const char *name = lua_type(L, -1) == LUA_TSTRING
            ? lua_tolstring(L, -1, &n) : NULL;
        if (name && n && strlen(name) == n)
            LA_CHECK(L, function, la_program_rename(g, what, i, name, n));
        lua_settop(L, list);
    }
    lua_pop(L, 1);
}

/* ---- names of weights ---- */

static bool taken_is_same(const la_tensor *a, const la_tensor *b)
{
    return a == b || (a->storage && a->storage == b->storage
        && a->offset == b->offset && a->dtype == b->dtype
        && la_same_geometry(a, b));
}

/* Tensors of the table on the top, in tables too; the name of the table is
** below. *t, unless it is NULL, counts them, and those that are weights. */
static void taken_name_weights(lua_State *L, const char *function,
                               la_program *g, int depth, la_taken *t)
{
    size_t n;
    int table = lua_gettop(L);
    if (depth == LA_COMPILE_DEPTH)
        luaL_error(L, "%s: names: tables in tables, more than %d deep",
                   function, LA_COMPILE_DEPTH);
    luaL_checkstack(L, 8, "names: too many tables");
    for (lua_pushnil(L); lua_next(L, table); lua_settop(L, table + 1)) {
        la_handle *h = la_to_handle(L, table + 2);
        if (!lua_istable(L, table + 2) && !(h && h->tensor)) continue;
        if (lua_type(L, table + 1) != LUA_TSTRING
            && !lua_isinteger(L, table + 1)) continue;
        lua_pushvalue(L, table + 1);
        if (lua_isstring(L, table - 1))
            lua_pushfstring(L, "%s.%s", lua_tostring(L, table - 1),
                            lua_tostring(L, -1));
        const char *name = lua_tolstring(L, -1, &n);
        if (h && t) t->offered++;
        for (int32_t i = 0; h && i < g->weights.n; i++)
            if (taken_is_same(la_program_weight_at(g, i), h->tensor)) {
                if (t) t->matched++;
                LA_CHECK(L, function, la_program_rename(g, 2, i, name, n));
            }
        if (h) continue;
        lua_pushvalue(L, table + 2);
        taken_name_weights(L, function, g, depth + 1, t);
    }
    lua_settop(L, table);
}

/* The names that f noted while it was recorded: refs[at]. */
static void taken_noted_names(lua_State *L, const char *function,
                              la_program *g, int refs, int32_t at)
{
    lua_rawgeti(L, refs, at);
    lua_getfield(L, -1, "input");
    taken_rename(L, function, g, 0);
    lua_getfield(L, -1, "output");
    taken_rename(L, function, g, 1);
    lua_pushnil(L);
    if (lua_getfield(L, -2, "weight") == LUA_TTABLE)
        taken_name_weights(L, function, g, 0, NULL);
    lua_pop(L, 3);
}

/* ---- a program of an entry ---- */

static la_program **taken_add(lua_State *L, const char *function, la_taken *t)
{
    la_program **to = la_prog_add(&t->list, sizeof *to);
    if (!to) la_raise(L, function, LA_ENOMEM);
    return to;
}

static la_status taken_copy(const la_called *e, la_program **out)
{
    la_prog *p = NULL;
    LA_TRY(la_prog_copy(e->p->recorded ? e->p->recorded : e->p, &p));
    return la_program_make(p, out);
}

/* The entry's refs are at 'refs', its function at 'f' or nowhere. */
static void taken_entry(lua_State *L, const la_called *e, int refs, int f,
                        int names, const char *function, la_taken *t)
{
    la_program **to = taken_add(L, function, t);
    taken_names w = {.L = L, .function = function, .e = e, .refs = refs,
                     .f = f};
    if (!e->p)
        la_raise(L, function, la_error(LA_EARG, "the program was never "
                                       "finished"));
    LA_CHECK(L, function, taken_copy(e, to));
    w.g = *to;
    luaL_checkstack(L, 16, "too many values");
    for (int32_t i = 0; i < e->numbers.n; i++)
        taken_number_add(L, function, t, *to,
                         LA_PROG_AT(e->numbers, la_number, i), refs);
    taken_name_values(&w, 0);
    taken_name_values(&w, 1);
    if (e->names) taken_noted_names(L, function, *to, refs, e->names);
    if (names && !lua_isnoneornil(L, names)) {
        lua_pushnil(L);
        lua_pushvalue(L, names);
        taken_name_weights(L, function, *to, 0, t);
        lua_pop(L, 2);
    }
    la_put_call(L, e, refs, &(*to)->call);
    LA_CHECK(L, function, la_program_finish(*to));
}

static void taken_compiled(lua_State *L, int at, bool all, int names,
                           const char *function, la_taken *t)
{
    la_compiled *c = luaL_testudata(L, at, LA_COMPILED_NAME);
    if (!c->last || !c->n)
        la_raise(L, function, la_error(LA_EARG, "nothing was recorded yet: "
                                       "call the function first"));
    lua_getiuservalue(L, at, LA_COMPILED_F);
    lua_getiuservalue(L, at, LA_COMPILED_ENTRIES);
    int f = lua_gettop(L) - 1;
    for (int i = all ? 0 : -1; i < (all ? c->n : 0); i++) {
        const la_called *e = i < 0 ? c->last : c->list[i];
        if (all && (!e->p || e->p->eager)) continue;
        lua_rawgetp(L, f + 1, e);
        lua_getiuservalue(L, -1, 1);
        taken_entry(L, e, f + 3, f, names, function, t);
        lua_settop(L, f + 1);
    }
    if (!t->list.n)
        la_raise(L, function, la_error(LA_ESUPPORT, "no signature of the "
                                       "function is a program"));
    lua_settop(L, f - 1);
}

bool la_take_programs(lua_State *L, int at, bool all, int names,
                      const char *function, la_taken *to)
{
    luaL_checkstack(L, 12, "too many values");
    at = lua_absindex(L, at);
    if (luaL_testudata(L, at, LA_COMPILED_NAME)) {
        taken_compiled(L, at, all, names, function, to);
        return true;
    }
    la_called *e = luaL_testudata(L, at, LA_PROGRAM_NAME);
    if (e) {
        lua_getiuservalue(L, at, 1);
        taken_entry(L, e, lua_gettop(L), 0, names, function, to);
        lua_pop(L, 1);
        return true;
    }
    return la_take_loaded(L, at, function, to);
}

/* ---- la_program_of ---- */

/* The value, where to. */
static int taken_body(lua_State *L)
{
    la_program **out = lua_touserdata(L, 2);
    la_taken *t = la_push_taken(L);
    if (!la_take_programs(L, 1, false, 0, "la_program_of", t))
        la_raise(L, "la_program_of", la_error(LA_EARG, "a compiled function or "
                 "a program expected, got %s", la_type_text(L, 1)));
    *out = *LA_PROG_AT(t->list, la_program *, 0);
    *LA_PROG_AT(t->list, la_program *, 0) = NULL;
    return 0;
}

/* The program belongs to no state: its memory is charged to nobody. */
static la_status taken_of(lua_State *L, int index, la_program **out)
{
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    index = lua_absindex(L, index);
    if (index > lua_gettop(L))
        return la_error(LA_EARG, "a compiled function or a program expected, "
                        "got no value");
    la_error_clear();
    lua_pushcfunction(L, taken_body);
    lua_pushvalue(L, index);
    lua_pushlightuserdata(L, out);
    if (lua_pcall(L, 2, 0, 0) == LUA_OK) return LA_OK;
    la_status status = la_error_status();
    if (!status) return la_lua_error(L, "la_program_of");
    lua_pop(L, 1);
    return status;
}

LA_API la_program *la_program_of(lua_State *L, int index)
{
    la_program *g = NULL;
    la_context *c = L ? la_context_of(L) : NULL;
    LA_API_ENTRY_IN(c ? c->runtime : la_runtime_chosen());
    la_share_tensors();
    la_status status = c ? taken_of(L, index, &g)
        : la_error(LA_ESTATE, "the Lua state was never opened (la_openlibs)");
    return la_api_end("la_program_of", status) ? NULL : g;
}
