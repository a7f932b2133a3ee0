/*
** A call of a compiled function in parts: step:begin(...) notes the arguments,
** step:advance(microseconds) runs steps for that long, and gives true and the
** results when all have run.
**
** Long calls of operations are cut by rows (program/slice.c). The arguments
** stay as they are meanwhile: their versions are compared. A call that can't be
** cut (a recording, one with autograd) runs whole in the first advance.
*/
#include "base/os/clock.h"
#include "base/runtime/memory.h"
#include "lua/transform/compile.h"

typedef struct la_walk {
    uint32_t number;            /* tells it from those before */
    bool running;               /* steps run, and finalizers may */
    la_called *e;                /* that runs in parts; NULL: not begun yet */
    bool in_parts;              /* ... of e's program */
    int n, nvalues;             /* tensors; values of the call */
    la_tensor *tensors[LA_COMPILE_TENSORS];     /* owned */
    uint32_t versions[LA_COMPILE_TENSORS];
} la_walk;

/* The program that runs. NULL where the state ends, whose finalizers may have
** freed it before. */
static la_prog *walk_program(const la_walk *w)
{
    return w->in_parts ? w->e->parts : w->e->p;
}

void la_drop_walk(la_compiled *c)
{
    la_walk *w = c->walk;
    if (!w) return;
    la_prog *p = w->e ? walk_program(w) : NULL;
    if (p && p->busy) la_prog_leave(p);
    if (w->e && w->e->p) w->e->p->busy = false;
    for (int i = 0; i < w->n; i++) la_tensor_release(w->tensors[i]);
    la_mem_free(w, sizeof *w);
    c->walk = NULL;
}

static void walk_note(la_walk *w)
{
    for (int i = 0; i < w->n; i++)
        w->versions[i] = la_tensor_version(w->tensors[i]);
}

/* The tensors among the arguments, in tables too, each retained. */
static void walk_tensors(lua_State *L, la_walk *w, int at, int depth)
{
    la_handle *h = la_to_handle(L, at);
    if (h && h->tensor && w->n < LA_COMPILE_TENSORS)
        w->tensors[w->n++] = la_tensor_retain(h->tensor);
    if (!lua_istable(L, at) || depth == LA_COMPILE_DEPTH
        || !lua_checkstack(L, 6)) return;
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1))
        walk_tensors(L, w, lua_gettop(L), depth + 1);
}

static la_status walk_cut(la_called *e)
{
    if (e->has_parts) return LA_OK;
    LA_TRY(la_prog_parts(e->p, &e->parts));
    e->has_parts = true;
    return LA_OK;
}

/* Begins the call, whose arguments are behind the function at 1, or leaves it
** for one that runs whole. */
static void walk_begin(lua_State *L, la_state *s, la_compiled *c)
{
    la_call_tensors list, *t = &list;
    la_walk *w = c->walk;
    if (la_compile_is_inside(s)) return;
    la_called *e = la_find_entry(L, c, 1, t, 0);
    if (!e || !la_entry_is_ready(e, c->without) || e->p->live) return;
    la_status status = walk_cut(e);
    la_prog *p = e->parts ? e->parts : e->p;
    if (!status) status = la_prog_begin(p, t->tensors);
    if (status && p->unfit) {
        la_error_clear();
        return;
    }
    if (status) la_drop_walk(c);
    LA_CHECK(L, "begin", status);
    e->p->busy = true;
    w->in_parts = p != e->p;
    for (int i = 0; i < w->n; i++) la_tensor_release(w->tensors[i]);
    w->n = t->n;
    for (int i = 0; i < t->n; i++)
        w->tensors[i] = la_tensor_retain(t->tensors[i]);
    w->e = e;
    lua_getiuservalue(L, 1, LA_COMPILED_WALK);
    lua_getiuservalue(L, 1, LA_COMPILED_ENTRIES);
    lua_rawgetp(L, -1, e);
    lua_rawseti(L, -3, 0);      /* is kept while others replace it */
    lua_pop(L, 2);
}

int la_compiled_begin(lua_State *L)
{
    la_compiled *c = la_check_compiled(L, 1, "begin");
    int n = lua_gettop(L) - 1;
    la_state *s = la_begin(L, "begin", 0);
    lua_createtable(L, n, 1);
    if (c->ended)               /* nobody would drop the walk */
        return luaL_error(L, "begin: the function was freed");
    if (c->walk)                /* a finalizer may have begun it just now */
        return luaL_error(L, "begin: a call has begun: advance it to its end "
                          "first");
    for (int i = 1; i <= n; i++) {
        lua_pushvalue(L, 1 + i);
        lua_rawseti(L, -2, i);
    }
    lua_setiuservalue(L, 1, LA_COMPILED_WALK);
    la_walk *w = la_mem_zalloc(sizeof *w);
    if (!w) return la_raise(L, "begin", LA_ENOMEM);
    w->nvalues = n;
    w->number = ++c->walks;
    c->walk = w;
    for (int i = 1; i <= n; i++) walk_tensors(L, w, 1 + i, 0);
    walk_note(w);
    luaL_checkstack(L, 24, "begin: too many arguments");
    walk_begin(L, s, c);
    walk_note(w);
    return 0;
}

static void walk_check(lua_State *L, la_compiled *c)
{
    const la_walk *w = c->walk;
    for (int i = 0; i < w->n; i++) {
        if (la_tensor_version(w->tensors[i]) == w->versions[i]) continue;
        la_drop_walk(c);
        la_raise(L, "advance", la_error(LA_EALIAS, "an argument was written "
                 "since the call began, which ends it"));
    }
}

/* All of the call at once: pushes true and the results. */
static int walk_whole(lua_State *L, la_compiled *c, int first)
{
    int n = c->walk->nvalues;
    la_drop_walk(c);
    lua_pushvalue(L, 1);
    for (int i = 0; i < n; i++) lua_pushvalue(L, first + i);
    int top = lua_gettop(L) - n - 1;
    lua_pushboolean(L, true);
    lua_insert(L, top + 1);
    lua_call(L, n, LUA_MULTRET);
    return lua_gettop(L) - top;
}

/* Behind the last step: pushes true and the results. */
static int walk_end(lua_State *L, la_state *s, la_compiled *c, int refs,
                    int first)
{
    la_tensor *out[LA_COMPILE_TENSORS] = {NULL};
    uint32_t number = c->walk->number;
    la_called *e = c->walk->e;
    la_prog *p = walk_program(c->walk);
    lua_pushboolean(L, true);
    int handles = lua_gettop(L) + 1;
    la_push_handles(L, s, e);
    if (!c->walk || c->walk->number != number)
        return luaL_error(L, "advance: the call was ended meanwhile, by a "
                          "finalizer");
    la_status status = la_prog_results(p, c->walk->tensors, out);
    la_drop_walk(c);
    if (status) return la_run_raise(L, p, status);
    int top = handles - 2;
    la_give_results(L, s, e, refs, handles, first, out);
    for (int32_t i = 0; i < e->nhandles; i++) lua_remove(L, handles);
    return lua_gettop(L) - top;
}

/* The arguments that begin() got come back to the stack, in front of the steps
** that read them. A call that has no recording yet runs whole: what its steps
** are is known only when they have run. */
int la_compiled_advance(lua_State *L)
{
    la_compiled *c = la_check_compiled(L, 1, "advance");
    la_state *s = la_begin(L, "advance", 0);
    if (lua_type(L, 2) != LUA_TNUMBER)
        return la_raise_arg(L, 2, "advance", "number of microseconds expected, "
                            "got %s", la_type_text(L, 2));
    lua_Number us = lua_tonumber(L, 2);
    if (!c->walk)
        return luaL_error(L, "advance: no call has begun: step:begin(...)");
    if (c->walk->running)
        return luaL_error(L, "advance: a finalizer called it while the steps "
                          "of the call run");
    if (!(us >= 0)) us = 0;
    int64_t end = us > 1e12 ? INT64_MAX
        : la_nanoseconds() + (int64_t)(us * 1000);
    lua_settop(L, 2);
    lua_getiuservalue(L, 1, LA_COMPILED_WALK);
    int n = c->walk->nvalues, self = 4;
    luaL_checkstack(L, n + 24, "advance: too many arguments");
    lua_pushvalue(L, 1);
    for (int i = 1; i <= n; i++) lua_rawgeti(L, 3, i);
    walk_check(L, c);
    la_called *e = c->walk->e;
    if (!e) {
        lua_settop(L, self + n);
        return walk_whole(L, c, self + 1);
    }
    if (!walk_program(c->walk))
        return luaL_error(L, "advance: the function was freed");
    lua_settop(L, self + n);
    lua_rawgeti(L, 3, 0);
    lua_getiuservalue(L, -1, 1);
    int refs = lua_gettop(L);
    la_run_host h;
    la_prog_host host = la_run_host_of(&h, L, s, e, refs);
    la_prog *p = walk_program(c->walk);
    c->walk->running = true;
    la_status status = la_prog_advance(p, c->walk->tensors, end, &host);
    c->walk->running = false;
    if (status) {
        la_drop_walk(c);
        return la_run_raise(L, p, status);
    }
    walk_note(c->walk);
    if (p->at < p->steps.n) return 0;
    return walk_end(L, s, c, refs, self + 1);
}
