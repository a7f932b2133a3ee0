/*
** Recording a call of a compiled function: f runs once, protected, under a
** recorder; then its results are written down, and what modules and optimisers
** asked to be looked at in each call (la._recording).
*/
#include <string.h>

#include "lua/embed.h"
#include "lua/transform/compile.h"
#include "op/dispatch.h"
#include "op/op.h"

/* Recording of this state, as la_record_host gives it. */
typedef struct recording {
    lua_State *L;               /* that f runs on */
    la_state *state;
    la_recorder *r;
    la_called *e;
    la_compiled *c;
    int refs, base;             /* indices on the stack of L */
    int ran;                    /* f's results are above 'base' */
    char chunk[LUA_IDSIZE];     /* of the line that was asked for last */
} recording;

/* Registry: the refs of the entry that is recorded; listeners (nn). */
static const char record_refs, record_listeners;

/* ---- where ---- */

/* The line of the innermost function that is not of the library. */
static int record_where(void *host, const char **chunk)
{
    recording *w = host;
    lua_Debug ar;
    for (int level = 0; lua_getstack(w->L, level, &ar); level++) {
        lua_getinfo(w->L, "l", &ar);
        if (ar.currentline <= 0) continue;
        lua_getinfo(w->L, "S", &ar);
        if (la_is_module_name(ar.short_src)) continue;
        memcpy(w->chunk, ar.short_src, sizeof w->chunk);
        *chunk = w->chunk;
        return ar.currentline;
    }
    return 0;
}

/* ---- notes: la._recording ---- */

static recording *record_here(la_state *s)
{
    la_recorder *r = s->context.recorder;
    return r ? la_record_host(r) : NULL;
}

static void record_push_refs(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &record_refs);
}

/* A guard on table[key], the values at these indices; once for each. */
static void record_guard(lua_State *L, la_called *e, int refs, int table,
                         int key)
{
    const void *at = lua_topointer(L, table);
    int32_t known = 0;
    table = lua_absindex(L, table);
    key = lua_absindex(L, key);
    for (int32_t i = e->guards.n - 1; i >= 0; i--) {
        const la_watch *g = LA_PROG_AT(e->guards, la_watch, i);
        if (g->table_at != at) continue;
        known = g->table;
        lua_rawgeti(L, refs, g->key);
        bool same = lua_rawequal(L, -1, key);
        lua_pop(L, 1);
        if (same) return;
    }
    la_watch g = {.table_at = at, .table = known};
    if (!known) {
        lua_pushvalue(L, table);
        g.table = la_add_ref(L, e, refs);
    }
    lua_pushvalue(L, key);
    g.key = la_add_ref(L, e, refs);
    lua_pushvalue(L, key);
    lua_rawget(L, table);
    la_watch_value(L, e, refs, &g);
    la_watch *to = la_prog_add(&e->guards, sizeof g);
    if (!to) la_raise(L, "compile", LA_ENOMEM);
    *to = g;
}

/* Plain values among the fields of the table at 'table', and all of the table
** in its field '_registered.values': a module of nn. */
static void record_module(lua_State *L, la_called *e, int refs, int table)
{
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        int type = lua_type(L, -1);
        if (type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TSTRING)
            record_guard(L, e, refs, table, -2);
    }
    lua_pushliteral(L, "_registered");
    lua_rawget(L, table);
    if (lua_istable(L, -1)) {
        lua_pushliteral(L, "hooks");
        record_guard(L, e, refs, -2, -1);
        lua_pop(L, 1);
        lua_pushliteral(L, "names");
        lua_rawget(L, -2);
        if (lua_istable(L, -1)) {
            lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1) + 1);
            record_guard(L, e, refs, -2, -1);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
        lua_pushliteral(L, "values");
        lua_rawget(L, -2);
        int values = lua_gettop(L);
        if (lua_istable(L, values))
            for (lua_pushnil(L); lua_next(L, values); lua_pop(L, 1))
                record_guard(L, e, refs, values, -2);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* note("number", arg, table, key), note("count", ...):
** where argument 'arg' (from 1) of the next step is read. */
static void record_number(lua_State *L, recording *w, int refs, int kind)
{
    la_number n = {.kind = kind};
    int arg = (int)lua_tointeger(L, 2);
    lua_pushvalue(L, 3);
    n.table = la_add_ref(L, w->e, refs);
    lua_pushvalue(L, 4);
    n.key = la_add_ref(L, w->e, refs);
    la_number *to = la_prog_add(&w->e->numbers, sizeof n);
    if (!to) la_raise(L, "compile", LA_ENOMEM);
    *to = n;
    la_record_source(w->r, arg - 1, w->e->numbers.n - 1);
}

/* note("writes"): what keeps its state in Lua is about to change it.
** note("refuse"): f does in Lua what each call has to do.
** note("names", {input = list, output = list, weight = {name = tensor}}): what
** a file calls them unless the caller names them.
**
** note(what, ...), which la._recording gives while f is recorded. */
static int record_note(lua_State *L)
{
    static const char *const whats[] = {"field", "module", "number", "count",
                                        "names", "writes", "refuse", NULL};
    recording *w = record_here(la_enter(L));
    int what = luaL_checkoption(L, 1, NULL, whats);
    if (!w) return 0;
    lua_settop(L, 4);
    record_push_refs(L);
    int refs = lua_gettop(L);
    switch (what) {
    case 0: record_guard(L, w->e, refs, 2, 3); break;
    case 1: record_module(L, w->e, refs, 2); break;
    case 2: record_number(L, w, refs, LA_NUMBER_FIELD); break;
    case 3: record_number(L, w, refs, LA_NUMBER_COUNT); break;
    case 4:
        luaL_checktype(L, 2, LUA_TTABLE);
        lua_pushvalue(L, 2);
        w->e->names = la_add_ref(L, w->e, refs);
        break;
    case 5: LA_CHECK(L, "compile", la_loop_hold()); break;
    default:
        LA_CHECK(L, "compile", la_loop_hold());
        la_record_refuse("it changes what a module or a schedule of the "
                         "library keeps as Lua values");
    }
    return 0;
}

/* note.outside(f, ...): runs f without recording, as what it makes was there
** before. */
static int record_outside(lua_State *L)
{
    la_enter(L);
    bool on = la_record_pause(true);
    int failed = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    la_enter(L);
    if (on) la_record_pause(false);
    return failed ? lua_error(L) : lua_gettop(L);
}

/* la._recording([listener]): while a program is recorded the functions note and
** outside, else nothing. A listener is called with them as a recording begins,
** and with nothing as it ends. */
static int fn_recording(lua_State *L)
{
    la_state *s = la_enter(L);
    if (lua_isfunction(L, 1)) {
        if (lua_rawgetp(L, LUA_REGISTRYINDEX, &record_listeners)
            != LUA_TTABLE) {
            lua_newtable(L);
            lua_pushvalue(L, -1);
            lua_rawsetp(L, LUA_REGISTRYINDEX, &record_listeners);
        }
        lua_pushvalue(L, 1);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        return 0;
    }
    if (!record_here(s) || s->context.excluded_keys & 1u << LA_KEY_RECORD)
        return 0;
    lua_pushnil(L);
    la_closure(L, record_note);
    lua_pushnil(L);
    la_closure(L, record_outside);
    return 2;
}

static void record_tell(lua_State *L, bool begins)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &record_listeners) == LUA_TTABLE)
        for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
            int n = 0;
            if (begins) {
                lua_pushnil(L);
                la_closure(L, record_note);
                n = 1;
            }
            lua_call(L, n, 0);
        }
    else lua_pushnil(L);
    lua_pop(L, 2);
}

/* ---- results ---- */

typedef struct result_walk {
    lua_State *L;
    recording *w;
    int tables;         /* index of a table: table of the results -> number */
    int32_t ntables;
    const void *handles[LA_COMPILE_TENSORS];    /* with an output each */
    int32_t n;
} result_walk;

/* Which argument of the call the value is, from 0; -1: it is none. */
static int record_stack_index(const result_walk *r, int at)
{
    for (int i = 0; i < r->w->e->narguments; i++) {
        lua_pushvalue(r->L, r->w->refs - r->w->e->narguments + i);
        bool same = lua_rawequal(r->L, -1, at);
        lua_pop(r->L, 1);
        if (same) return i;
    }
    return -1;
}

/* Finds the value at 'at' in the tables of the table on the top; leaves the
** keys that lead to it above that. */
static bool record_search(lua_State *L, int at, int depth)
{
    int table = lua_gettop(L);
    if (depth == LA_COMPILE_DEPTH || !lua_checkstack(L, 8)) return false;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        if (lua_rawequal(L, -1, at)) {
            lua_pop(L, 1);
            return true;
        }
        if (lua_type(L, -1) != LUA_TTABLE || lua_getmetatable(L, -1)) {
            lua_settop(L, table + 2);
            continue;
        }
        if (record_search(L, at, depth + 1)) {
            lua_remove(L, table + 2);
            return true;
        }
        lua_settop(L, table + 2);
    }
    return false;
}

/* Is the value in a table among the arguments? It is found there again. */
static bool record_inner(result_walk *r, int at)
{
    lua_State *L = r->L;
    la_called *e = r->w->e;
    int top = lua_gettop(L);
    for (int i = 0; i < e->narguments; i++) {
        lua_pushvalue(L, r->w->refs - e->narguments + i);
        if (lua_type(L, -1) == LUA_TTABLE && record_search(L, at, 0)) {
            int n = lua_gettop(L) - top - 1;
            la_add_sig(L, &e->results, LA_SIG_PATH, i)->i = n;
            for (int k = 1; k <= n; k++) {
                lua_pushvalue(L, top + 1 + k);
                la_add_sig(L, &e->results, LA_SIG_KEY,
                           la_add_ref(L, e, r->w->refs));
            }
            lua_settop(L, top);
            return true;
        }
        lua_settop(L, top);
    }
    return false;
}

/* Is the value one that f captures, where that is watched? */
static bool record_watched(result_walk *r, int at)
{
    lua_State *L = r->L;
    la_called *e = r->w->e;
    for (int32_t i = 0; i < e->guards.n && r->w->c->watches; i++) {
        if (LA_PROG_AT(e->guards, la_watch, i)->kind == LA_WATCH_SIZE) continue;
        la_push_watched(L, e, r->w->refs, i);
        bool same = lua_rawequal(L, -1, at);
        lua_pop(L, 1);
        if (!same) continue;
        la_add_sig(L, &e->results, LA_SIG_WATCHED, i);
        return true;
    }
    return false;
}

/* An object from outside is its own userdata again. */
static void record_handle(result_walk *r, int at, la_handle *h)
{
    lua_State *L = r->L;
    la_called *e = r->w->e;
    for (int32_t i = 0; i < r->n; i++)
        if (r->handles[i] == h) {
            la_add_sig(L, &e->results, LA_SIG_OUTPUT, i);
            return;
        }
    if (r->n == LA_COMPILE_TENSORS)
        luaL_error(L, "compile: more than %d tensors in the results",
                   LA_COMPILE_TENSORS);
    int k = la_record_output(r->w->r, h->tensor);
    if (k < 0) return;          /* the recording came to nothing */
    int32_t *to = la_prog_add(&e->handles, sizeof *to);
    if (!to) la_raise(L, "compile", LA_ENOMEM);
    const la_prog *p = la_record_program(r->w->r);
    int32_t object = la_prog_output_at(p, k)->object;
    bool captured = object >= 0
        && la_prog_object_at(p, object)->argument < 0;
    *to = captured ? -1 : e->nhandles;
    if (captured) {
        lua_pushvalue(L, at);
        la_add_sig(L, &e->results, LA_SIG_VALUE,
                    la_add_ref(L, e, r->w->refs));
        return;
    }
    r->handles[r->n++] = h;
    e->nhandles++;
    la_add_sig(L, &e->results, LA_SIG_OUTPUT, r->n - 1);
}

static void record_result(result_walk *r, int at, int depth);

/* A table that was met before is named by its number: so one table that
** the results have twice is one table in each call, and a table that holds
** itself comes to an end. How many keys follow is known behind them. */
static void record_table(result_walk *r, int at, int depth)
{
    lua_State *L = r->L;
    la_called *e = r->w->e;
    if (depth == LA_COMPILE_DEPTH)
        luaL_error(L, "compile: tables in tables, more than %d deep",
                   LA_COMPILE_DEPTH);
    luaL_checkstack(L, 8, "compile: too many results");
    int32_t start = e->results.n, n = 0;
    if (lua_rawgetp(L, r->tables, lua_topointer(L, at)) == LUA_TNUMBER) {
        la_add_sig(L, &e->results, LA_SIG_AGAIN, (int)lua_tointeger(L, -1));
        e->ntables = 1;
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
    lua_pushinteger(L, ++r->ntables);
    lua_rawsetp(L, r->tables, lua_topointer(L, at));
    la_add_sig(L, &e->results, LA_SIG_KEYS, 0);
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        la_add_sig(L, &e->results, LA_SIG_KEY,
                    la_add_ref(L, e, r->w->refs));
        record_result(r, lua_gettop(L), depth + 1);
        n++;
    }
    LA_PROG_AT(e->results, la_sig, start)->at = n;
}

/* Identity goes before value: what the caller can recognise (an argument, a
** module, a tensor) is given back as that, and only what has no identity is
** rebuilt. */
static void record_result(result_walk *r, int at, int depth)
{
    lua_State *L = r->L;
    la_called *e = r->w->e;
    int type = lua_type(L, at), index = type > LUA_TSTRING
        ? record_stack_index(r, at) : -1;
    la_handle *h = la_to_handle(L, at);
    la_sig *item;
    if (index >= 0) {
        la_add_sig(L, &e->results, LA_SIG_STACK, index);
    } else if (type > LUA_TSTRING
               && (record_inner(r, at) || record_watched(r, at))) {
        return;
    } else if (h && h->tensor) {
        record_handle(r, at, h);
    } else if (type == LUA_TTABLE && !lua_getmetatable(L, at)) {
        record_table(r, at, depth);
    } else if (type == LUA_TNIL || type == LUA_TBOOLEAN) {
        la_add_sig(L, &e->results, type == LUA_TNIL ? LA_SIG_NIL
                    : LA_SIG_BOOL, lua_toboolean(L, at));
    } else if (type == LUA_TNUMBER && lua_isinteger(L, at)) {
        item = la_add_sig(L, &e->results, LA_SIG_INT, 0);
        item->i = lua_tointeger(L, at);
    } else if (type == LUA_TNUMBER) {
        item = la_add_sig(L, &e->results, LA_SIG_FLOAT, 0);
        item->d = lua_tonumber(L, at);
    } else {
        lua_pushvalue(L, at);
        la_add_sig(L, &e->results, LA_SIG_VALUE,
                    la_add_ref(L, e, r->w->refs));
    }
}

/* ---- the recording ---- */

/* f's results are the values above 'base'; protected, as it may raise for want
** of memory. */
static int record_results(lua_State *L)
{
    recording *w = lua_touserdata(L, lua_gettop(L));
    lua_pop(L, 1);
    result_walk *r = lua_newuserdatauv(L, sizeof *r, 0);
    w->L = L;
    int n = w->ran, first = w->refs + 1;
    w->e->nvalues = n;
    luaL_checkstack(L, n + 12, "compile: too many results");
    lua_newtable(L);
    r->L = L;
    r->w = w;
    r->tables = lua_gettop(L);
    r->ntables = r->n = 0;
    for (int i = 0; i < n; i++) {
        int top = lua_gettop(L);
        record_result(r, first + i, 0);
        lua_settop(L, top);
    }
    return 0;
}

/* Copies of the arguments, refs and f's results, for the walk. */
static int record_walk_results(lua_State *L, recording *w, int first)
{
    int n = lua_gettop(L) - w->base, refs = w->refs;
    if (!lua_checkstack(L, n + w->e->narguments + 8)) {
        lua_settop(L, w->base);
        lua_pushvalue(L, w->base);      /* the message for this */
        return LUA_ERRRUN;
    }
    w->ran = n;
    lua_pushcfunction(L, record_results);
    for (int i = 0; i < w->e->narguments; i++) lua_pushvalue(L, first + i);
    lua_pushvalue(L, refs);
    for (int i = 0; i < n; i++) lua_pushvalue(L, w->base + 1 + i);
    lua_pushlightuserdata(L, w);
    w->refs = w->e->narguments + 1;
    int failed = lua_pcall(L, w->e->narguments + n + 2, 0, 0);
    w->refs = refs;
    return failed;
}

/* f and the listeners, with the arguments: function, then the values. */
static int record_body(lua_State *L)
{
    int n = lua_gettop(L) - 1;
    record_tell(L, true);
    lua_call(L, n, LUA_MULTRET);
    return lua_gettop(L);
}

static int record_quiet(lua_State *L)
{
    record_tell(L, false);
    return 0;
}

/* The call under a recorder, which ends whatever comes: nothing here raises
** while there is one. On the stack are the function record_body, f and the
** arguments. What lua_pcall gave. */
static int record_run(lua_State *L, recording *w, int first, la_tensor **list)
{
    bool no_grad = w->state->context.no_grad;
    int n = w->e->narguments, failed = lua_pcall(L, n + 1, LUA_MULTRET, 0);
    if (la_enter(L)->context.no_grad != no_grad)
        la_record_refuse("it changes whether gradients are recorded");
    if (!failed) {
        la_record_pause(true);
        failed = record_walk_results(L, w, first);
        la_enter(L);
        la_record_pause(false);
    }
    la_record_end(w->r, &w->e->p);
    if (w->e->p) w->e->p->fast = w->c->fast;
    if (w->e->p && la_note_shared(w->e, list)) {
        la_prog_free(w->e->p);
        w->e->p = NULL;
    }
    return failed;
}

/* f may free its arguments, or drop them: the tensors are kept meanwhile.
** Raises where no recording can begin. */
static int record_keeping(lua_State *L, recording *w, int first,
                          la_call_tensors *t)
{
    la_take_tensors(L, t, "compile");
    for (int i = 0; i < t->n; i++) la_tensor_retain(t->tensors[i]);
    la_status status = LA_ENOMEM;
    for (int k = 0; status == LA_ENOMEM && k < 2; k++)
        if (k == 0 || la_collect_here(L))
            status = la_record_begin(t->n, t->tensors, record_where, w,
                                     w->c->partial, &w->r);
    int failed = status ? LUA_OK : record_run(L, w, first, t->tensors);
    for (int i = 0; i < t->n; i++) la_tensor_release(t->tensors[i]);
    LA_CHECK(L, "compile", status);
    return failed;
}

void la_record_call(lua_State *L, la_state *s, la_compiled *c, la_called *e,
                    int self, int refs, la_call_tensors *t)
{
    int first = self + 1, base = lua_gettop(L), n = e->narguments;
    recording w = {.L = L, .state = s, .e = e, .c = c, .refs = refs,
                   .base = base + 1};
    lua_pushvalue(L, refs);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &record_refs);
    luaL_checkstack(L, n + 12, "compile: too many arguments");
    lua_pushliteral(L, "compile: too many results");
    lua_pushnil(L);
    la_closure(L, record_body);
    lua_getiuservalue(L, self, LA_COMPILED_F);
    for (int i = 0; i < n; i++) lua_pushvalue(L, first + i);
    int failed = record_keeping(L, &w, first, t);
    lua_remove(L, base + 1);
    luaL_checkstack(L, 4, "compile: too many results");
    lua_pushnil(L);
    la_closure(L, record_quiet);
    lua_call(L, 0, 0);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &record_refs);
    if (failed) lua_error(L);
}

/* The line is that of the script, also where Lua's own tostring calls. */
void la_raise_read(lua_State *L, const la_tensor *t, const char *name)
{
    la_enter(L);
    la_status status = la_record_read(t);
    lua_Debug ar;
    if (!status) return;
    if (strcmp(name, "tostring") != 0 || !lua_getstack(L, 1, &ar)
        || !lua_getinfo(L, "l", &ar) || ar.currentline > 0)
        la_raise(L, name, status);
    lua_pushfstring(L, "%s: %s", name, la_error_message());
    la_throw_as(L, name, 2);
}

static const la_function functions[] = {
    {"_recording", fn_recording, 1}, {NULL, NULL, 0}};
const la_part la_part_recording = {functions, NULL};
