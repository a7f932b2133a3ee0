/*
** la.compile(f, options): a function that records f and runs what was recorded
** (src/program).
**
** A call looks for an entry with its signature. There is one: the program runs,
** and f does not. There is none: f runs under a recorder, as an eager call. An
** entry whose recording can't run as a program says so and has f run each time.
*/
#define LA_INTERNAL
#include <string.h>

#include "base/log.h"
#include "lua/build_options.h"
#include "lua/transform/compile.h"
#include "lua/transform/vmap.h"
#include "lunarray.h"
#include "program/passes.h"

la_compiled *la_check_compiled(lua_State *L, int arg, const char *name)
{
    la_compiled *c = luaL_testudata(L, arg, LA_COMPILED_NAME);
    if (!c) la_raise_arg(L, arg, name, "compiled function expected, got %s",
                         la_type_text(L, arg));
    return c;
}

/* ---- entries ---- */

void la_drop_called(la_called *e)
{
    la_prog_free(e->p);
    la_prog_free(e->parts);
    la_prog_drop_list(&e->items, sizeof(la_sig));
    la_prog_drop_list(&e->results, sizeof(la_sig));
    la_prog_drop_list(&e->guards, sizeof(la_watch));
    la_prog_drop_list(&e->numbers, sizeof(la_number));
    la_prog_drop_list(&e->shared, sizeof(la_shared));
    la_prog_drop_list(&e->handles, sizeof(int32_t));
    e->p = e->parts = NULL;
}

static int compile_entry_gc(lua_State *L)
{
    la_called *e = luaL_testudata(L, 1, LA_PROGRAM_NAME);
    if (e) la_drop_called(e);
    return 0;
}

static int compile_steps(lua_State *L)
{
    la_called *e = la_check_program(L, "#");
    lua_pushinteger(L, e->p ? la_count_steps(e->p) : 0);
    return 1;
}

/* Pushes a new entry. */
static la_called *compile_new_entry(lua_State *L)
{
    la_called *e = lua_newuserdatauv(L, sizeof *e, 1);
    *e = (la_called){0};
    if (la_new_metatable(L, LA_PROGRAM_NAME, NULL)) {
        la_set_methods(L, la_entry_methods);
        la_set_event(L, "__gc", compile_entry_gc);
        la_set_event(L, "__len", compile_steps);
        la_set_event(L, "__tostring", la_program_tostring);
    }
    la_take_metatable(L);
    lua_newtable(L);
    lua_setiuservalue(L, -2, 1);
    return e;
}

/* Pushes the refs of an entry of the function at 'self', and the entry. */
static void compile_push_entry(lua_State *L, int self, const la_called *e)
{
    lua_getiuservalue(L, self, LA_COMPILED_ENTRIES);
    lua_rawgetp(L, -1, e);
    lua_getiuservalue(L, -1, 1);
    lua_replace(L, -3);
}

static bool compile_modes_fit(const la_prog *p)
{
    const la_context *c = la_ctx();
    return p->no_grad == c->no_grad && p->default_dtype == c->default_dtype
        && p->deterministic == c->deterministic && p->portable == c->portable
        && p->lockstep == c->lockstep;
}

la_called *la_find_entry(lua_State *L, la_compiled *c, int self,
                        la_call_tensors *t, int tried)
{
    int top = lua_gettop(L);
    for (int i = tried; i < c->n; i++) {
        la_called *e = c->list[i];
        if (!e->p) continue;            /* its finalizer has run */
        compile_push_entry(L, self, e);
        la_hold_tensors(L, t, e->ntensors);
        if (compile_modes_fit(e->p)
            && la_match_signature(L, e, top + 1, self + 1, top, t)
            && ((c->watches && e->p->eager)
                || (la_match_guards(L, e, top + 1, t)
                    && la_prog_fits(e->p, t->tensors)
                    && la_match_shared(e, t->tensors)))) {
            memmove(&c->list[1], &c->list[0], (size_t)i * sizeof *c->list);
            return c->list[0] = c->last = e;
        }
        lua_settop(L, top);
    }
    return NULL;
}

/* The entry on the top of the stack joins the function's; the one that was used
** last of all goes. */
static void compile_keep(lua_State *L, la_compiled *c, int self, la_called *e)
{
    lua_getiuservalue(L, self, LA_COMPILED_ENTRIES);
    if (c->n == c->most) {
        lua_pushnil(L);
        lua_rawsetp(L, -2, c->list[--c->n]);
    }
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, e);
    lua_pop(L, 1);
    memmove(&c->list[1], &c->list[0], (size_t)c->n * sizeof *c->list);
    c->list[0] = c->last = e;
    c->n++;
}

/* ---- recordings that differ in one number only ---- */

static bool compile_one_number(const la_called *a, const la_called *b, int *at)
{
    *at = -1;
    if (a->items.n != b->items.n || a->narguments != b->narguments)
        return false;
    for (int32_t i = 0; i < a->items.n; i++) {
        const la_sig *x = LA_PROG_AT(a->items, la_sig, i);
        const la_sig *y = LA_PROG_AT(b->items, la_sig, i);
        bool number = x->kind == LA_SIG_INT || x->kind == LA_SIG_FLOAT;
        if (x->kind != y->kind) return false;
        if (x->kind == LA_SIG_KEYS && x->at != y->at) return false;
        if (!number || x->i == y->i) continue;
        if (*at >= 0) return false;
        *at = i;
    }
    return *at >= 0;
}

/* Which value of the call item 'at' belongs to, from 1. */
static int compile_argument_of(const la_called *e, int at)
{
    int n = 0, i = 0, left = 0;
    for (; i <= at; i++) {
        const la_sig *item = LA_PROG_AT(e->items, la_sig, i);
        if (left == 0) n++;
        else left--;
        if (item->kind == LA_SIG_KEYS) left += 2 * item->at;
    }
    return n;
}

/* Recordings so far that differ from the new one in one number only, and in
** the same one. Those that went since were counted. */
static void compile_count(const la_compiled *c, la_called *e)
{
    e->number = -1;
    e->numbered = 1;
    for (int i = 0, at; i < c->n; i++) {
        const la_called *other = c->list[i];
        if (!compile_one_number(e, other, &at)
            || (other->numbered > 1 && other->number != at)
            || other->numbered < e->numbered) continue;
        e->number = at;
        e->numbered = other->numbered + 1;
    }
    if (e->numbered != LA_COMPILE_NUMBERS) return;
    la_log(la_runtime_here(), LA_LOG_WARNING, "compile: %d recordings differ "
           "in the number of argument %d only: give it as a tensor of no dim",
           (int)e->numbered, compile_argument_of(e, e->number));
}

/* ---- the call ---- */

/* f as it is: the arguments behind 'self'. */
static int compile_plain(lua_State *L, int self)
{
    int n = lua_gettop(L) - self;
    lua_getiuservalue(L, self, LA_COMPILED_F);
    lua_insert(L, self + 1);
    lua_call(L, n, LUA_MULTRET);
    return lua_gettop(L) - self;
}

/* Somebody else transforms what f calls: it is a part of that. */
bool la_compile_is_inside(const la_state *s)
{
    const la_context *c = &s->context;
    return c->recorder || c->vmap || c->where || s->uncompiled;
}

/* The function of la.fuse does what f does: where f captures too much to look
** at, or changes that, it runs at each call. */
static void compile_settle(lua_State *L, la_compiled *c, la_called *e, int self,
                           int refs, const char *why)
{
    int last = self + e->narguments;
    c->recordings++;
    if (!e->p || e->p->eager) return;
    if (!why && la_left_alone(L, e, refs, self + 1, last)) return;
    e->p->eager = true;
    e->p->why = why ? why
        : "it changes what it captures, or its arguments' tables";
}

/* The signature and what is captured are written down before f runs: f may
** change its arguments' tables, and the next call has to be compared with what
** this one was given. */
static int compile_record(lua_State *L, la_state *s, la_compiled *c, int self)
{
    la_call_tensors t;
    const char *why = NULL;
    int top = lua_gettop(L);
    la_called *e = compile_new_entry(L);
    lua_getiuservalue(L, -1, 1);
    int refs = lua_gettop(L);
    la_hold_tensors(L, &t, LA_COMPILE_TENSORS);
    int base = lua_gettop(L);
    la_write_signature(L, e, refs, self + 1, top, &t);
    lua_settop(L, base);
    lua_getiuservalue(L, self, LA_COMPILED_F);
    if (c->watches) why = la_watch_captured(L, e, refs, base + 1, &t);
    else la_mark_captured(L, e, refs, base + 1, &t);
    lua_settop(L, base);
    la_record_call(L, s, c, e, self, refs, &t);
    if (c->watches) compile_settle(L, c, e, self, refs, why);
    int n = lua_gettop(L) - base;
    if (e->p) {
        compile_count(c, e);
        lua_pushvalue(L, top + 1);
        compile_keep(L, c, self, e);
        lua_pop(L, 1);
    }
    return n;
}

/* A plan without memory is none: f runs. */
bool la_entry_is_ready(la_called *e, const char *const *without)
{
    if (e->p->eager || e->p->busy) return false;
    if (e->p->planned) return true;
    if (la_prog_plan(e->p, without) == LA_OK) return true;
    e->p->eager = true;
    return false;
}

/* A fused function that is recorded more often than it runs from a recording:
** then most calls are without one. */
static bool compile_is_restless(la_compiled *c)
{
    enum { FEW = 16, EACH = 8 };
    return c->watches && c->recordings >= FEW && c->recordings > c->runs
        && c->misses++ % EACH != 0;
}

/* step(...) */
int la_call_compiled(lua_State *L)
{
    la_call_tensors t;
    la_compiled *c = la_check_compiled(L, 1, "compile");
    la_state *s = la_begin(L, "compile", 0);
    int top = lua_gettop(L);
    la_check_stack(L, s);
    luaL_checkstack(L, 24, "compile: too many arguments");
    if (la_compile_is_inside(s)) return compile_plain(L, 1);
    bool plain = false;
    for (int tried = 0;; tried++) {
        la_called *e = la_find_entry(L, c, 1, &t, tried);
        if (!e && (plain || compile_is_restless(c)))
            return compile_plain(L, 1);
        if (!e) return compile_record(L, s, c, 1);
        int n = -1;
        c->runs += !e->p->eager && c->runs < INT32_MAX;
        if (!la_entry_is_ready(e, c->without)) plain = true;
        else n = la_run_entry(L, s, e, top + 1, &t, 2, NULL);
        if (n >= 0) return n;
        lua_settop(L, top);
    }
}

la_called *la_ready_entry(lua_State *L, la_state *s, la_compiled *c, int self,
                         la_call_tensors *t)
{
    int top = lua_gettop(L);
    if (la_compile_is_inside(s)) return NULL;
    la_called *e = la_find_entry(L, c, self, t, 0);
    if (!e) {
        compile_record(L, s, c, self);
        lua_settop(L, top);
        e = la_find_entry(L, c, self, t, 0);
    }
    return e && la_entry_is_ready(e, c->without) ? e : NULL;
}

/* Function and arguments are pushed once more, without the outputs between
** them. */
bool la_run_into(lua_State *L)
{
    la_call_tensors t;
    la_compiled *c = la_check_compiled(L, 1, "into");
    la_state *s = la_up_state(L);
    int top = lua_gettop(L);
    luaL_checkstack(L, top + 24, "into: too many arguments");
    if (la_compile_is_inside(s)) return false;
    lua_pushvalue(L, 1);
    for (int i = 3; i <= top; i++) lua_pushvalue(L, i);
    la_called *e = la_find_entry(L, c, top + 1, &t, 0);
    bool ready = e && !e->p->live && la_entry_is_ready(e, c->without);
    int refs = 2 * top;
    if (ready) ready = la_run_entry_into(L, s, e, refs, &t, 2);
    lua_settop(L, top);
    return ready;
}

/* ---- la.compile ---- */

static const char *const known[] = {"cache", "partial", "fast", "without",
                                    NULL};

/* Names that other versions have passes of: leaving one out is no mistake. */
static bool compile_is_pass(const char *name)
{
    static const char *const names[] = {"epilogue", "layout", "threads"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    for (int k = 0; k < LA_NPASSES; k++)
        if (strcmp(la_prog_pass_name(k), name) == 0) return true;
    return false;
}

static void compile_option_without(lua_State *L, la_compiled *c, int options)
{
    lua_getfield(L, options, "without");
    if (lua_isnil(L, -1)) return;
    if (!lua_istable(L, -1))
        luaL_error(L, "compile: without: a list of names expected, got %s",
                   la_type_text(L, -1));
    int n = 0;
    for (lua_Integer i = 1; lua_geti(L, -1, i) != LUA_TNIL; i++) {
        int k = 0;
        const char *name = lua_type(L, -1) == LUA_TSTRING
            ? lua_tostring(L, -1) : "?";
        while (k < LA_NPASSES && strcmp(la_prog_pass_name(k), name) != 0) k++;
        if (k < LA_NPASSES && n < LA_NPASSES)
            c->without[n++] = la_prog_pass_name(k);
        else if (!compile_is_pass(name))
            luaL_error(L, "compile: without: unknown pass '%s'", name);
        lua_pop(L, 1);
    }
}

static void compile_options(lua_State *L, la_compiled *c, int options)
{
    if (lua_isnoneornil(L, options)) return;
    la_check_table(L, options, "compile");
    la_check_keywords(L, options, known, "compile");
    if (lua_getfield(L, options, "cache") != LUA_TNIL) {
        int isint;
        lua_Integer n = lua_tointegerx(L, -1, &isint);
        if (!isint || n < 1 || n > LA_COMPILE_CACHE)
            luaL_error(L, "compile: cache: 1 to %d signatures expected",
                       LA_COMPILE_CACHE);
        c->most = (int)n;
    }
    lua_getfield(L, options, "partial");
    c->partial = lua_toboolean(L, -1);
    lua_getfield(L, options, "fast");
    c->fast = lua_toboolean(L, -1);
    lua_pop(L, 3);
    compile_option_without(L, c, options);
}

static int compile_gc(lua_State *L)
{
    la_compiled *c = luaL_testudata(L, 1, LA_COMPILED_NAME);
    if (!c) return 0;
    la_drop_walk(c);
    c->ended = true;
    return 0;
}

la_compiled *la_new_compiled(lua_State *L, int f)
{
    la_compiled *c = lua_newuserdatauv(L, sizeof *c, 3);
    int at = lua_gettop(L);
    *c = (la_compiled){.most = LA_COMPILE_CACHE};
    if (la_new_metatable(L, LA_COMPILED_NAME,
                         "the metatable of compiled functions is locked")) {
        la_set_methods(L, la_compiled_methods);
        lua_pushnil(L);
        la_closure(L, la_call_compiled);
        lua_setfield(L, -2, "__call");
        la_set_event(L, "__gc", compile_gc);
    }
    la_take_metatable(L);
    lua_pushvalue(L, f);
    lua_setiuservalue(L, at, LA_COMPILED_F);
    lua_newtable(L);
    lua_setiuservalue(L, at, LA_COMPILED_ENTRIES);
    return c;
}

/* la.compile(f[, {cache=, partial=, fast=, without=}]) */
static int fn_compile(lua_State *L)
{
    la_check_callable(L, 1, "compile");
    lua_settop(L, 2);
    la_compiled *c = la_new_compiled(L, 1);
    compile_options(L, c, 2);
    lua_settop(L, 3);
    return 1;
}

static const la_function functions[] = {
    {"compile", fn_compile, LA_MANY}, {NULL, NULL, 0}};
const la_part la_part_compile = {functions, NULL};
