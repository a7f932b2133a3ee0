/* Methods of compiled functions and of their programs. */
#include <string.h>

#include "lua/transform/compile.h"
#include "op/call.h"
#include "op/op.h"
#include "program/clock.h"

la_called *la_check_program(lua_State *L, const char *name)
{
    la_called *e = luaL_testudata(L, 1, LA_PROGRAM_NAME);
    if (!e) la_raise_arg(L, 1, name, "program expected, got %s",
                         la_type_text(L, 1));
    return e;
}

la_called *la_last_called(const la_compiled *c)
{
    return c->last && c->last->p ? c->last : NULL;
}

/* step:program(): the last signature's, or nil. */
static int compiled_program(lua_State *L)
{
    la_compiled *c = la_check_compiled(L, 1, "program");
    la_called *last = la_last_called(c);
    if (!last) return 0;
    lua_getiuservalue(L, 1, LA_COMPILED_ENTRIES);
    lua_rawgetp(L, -1, last);
    return 1;
}

/* ---- p:steps() ---- */

void la_push_step_name(lua_State *L, const la_prog_step *s)
{
    if (s->kind == LA_STEP_GRAD) lua_pushliteral(L, "grad");
    else if (s->kind == LA_STEP_LOOK) lua_pushliteral(L, "check");
    else if (s->kind == LA_STEP_LOOP) lua_pushstring(L,
        s->loop->chooses ? "cond" : "while_loop");
    else if (s->kind == LA_STEP_REQUIRE) lua_pushliteral(L, "requires_grad");
    else {
        size_t n = la_op_name_length(s->op);
        bool inplace = s->form == LA_INPLACE;
        lua_pushlstring(L, s->op->signature, n);
        if (inplace) lua_pushliteral(L, "_");
        if (inplace) lua_concat(L, 2);
    }
}

static void methods_push_sizes(lua_State *L, const la_tensor *form)
{
    lua_createtable(L, form->ndim, 0);
    for (int d = 0; d < form->ndim; d++) {
        lua_pushinteger(L, la_sizes(form)[d]);
        lua_rawseti(L, -2, d + 1);
    }
}

typedef struct methods_sizes { lua_State *L; const la_prog *p; } methods_sizes;

static void methods_add_sizes(void *context, int32_t view)
{
    methods_sizes *w = context;
    methods_push_sizes(w->L, la_prog_view_at(w->p, view)->form);
    lua_rawseti(w->L, -2, (lua_Integer)lua_rawlen(w->L, -2) + 1);
}

void la_push_step_line(lua_State *L, const la_prog *p,
                       const la_prog_step *s)
{
    if (s->source < 0 || s->line <= 0) lua_pushliteral(L, "?");
    else lua_pushfstring(L, "%s:%d", *LA_PROG_AT(p->names, char *, s->source),
                         (int)s->line);
}

/* {op =, line =, source =, shapes = sizes of what it writes} */
static void methods_push_step(lua_State *L, const la_prog *p,
                              const la_prog_step *s)
{
    methods_sizes w = {L, p};
    lua_createtable(L, 0, 4);
    la_push_step_name(L, s);
    lua_setfield(L, -2, "op");
    lua_pushinteger(L, s->line);
    lua_setfield(L, -2, "line");
    la_push_step_line(L, p, s);
    lua_setfield(L, -2, "source");
    lua_newtable(L);
    if (s->kind == LA_STEP_CALL || s->kind == LA_STEP_LOOP)
        la_prog_writes(p, s, methods_add_sizes, &w);
    else if (s->view >= 0) methods_add_sizes(&w, s->view);
    lua_setfield(L, -2, "shapes");
}

lua_Integer la_count_steps(const la_prog *p)
{
    lua_Integer n = 0;
    for (int32_t i = 0; i < p->steps.n; i++)
        n += la_prog_runs(la_prog_step_at(p, i));
    return n;
}

void la_push_steps(lua_State *L, const la_prog *p)
{
    lua_Integer n = 0;
    lua_newtable(L);
    for (int32_t i = 0; p && i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        if (!la_prog_runs(s)) continue;
        methods_push_step(L, p, s);
        lua_rawseti(L, -2, ++n);
    }
}

static int program_steps(lua_State *L)
{
    la_called *e = la_check_program(L, "steps");
    luaL_checkstack(L, 10, "steps");
    la_push_steps(L, e->p);
    return 1;
}

/* ---- profile ---- */

/* step:profile(...): a list of {op =, line =, source =, seconds =} of one call,
** and then f's results. */
static int compiled_profile(lua_State *L)
{
    la_call_tensors t;
    la_compiled *c = la_check_compiled(L, 1, "profile");
    la_state *s = la_begin(L, "profile", 0);
    int top = lua_gettop(L);
    luaL_checkstack(L, 24, "profile: too many arguments");
    la_called *e = la_ready_entry(L, s, c, 1, &t);
    if (!e)
        return luaL_error(L, "profile: the function runs as it is for these "
                          "arguments: %s", la_last_called(c)
                          && c->last->p->why ? c->last->p->why
                          : "nothing was recorded");
    int32_t n = e->p->steps.n;
    la_prog_clock clock = {n, NULL};
    clock.ns = lua_newuserdatauv(L, (size_t)(n ? n : 1) * sizeof(int64_t), 0);
    memset(clock.ns, 0, (size_t)n * sizeof(int64_t));
    int base = lua_gettop(L);
    int results = la_run_entry(L, s, e, top + 1, &t, 2, &clock);
    if (results < 0)
        return luaL_error(L, "profile: values decide otherwise than they did "
                          "in the last call: call the function first");
    lua_newtable(L);
    lua_Integer k = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!la_prog_runs(la_prog_step_at(e->p, i))) continue;
        methods_push_step(L, e->p, la_prog_step_at(e->p, i));
        lua_pushnumber(L, (double)clock.ns[i] * 1e-9);
        lua_setfield(L, -2, "seconds");
        lua_rawseti(L, -2, ++k);
    }
    (void)base;
    lua_insert(L, -results - 1);
    return results + 1;
}

/* ---- into ---- */

/* Raises where a tensor of result i (from 0), at 'from', has none of its form
** in 'to'. All results are looked at before one is written. */
static void methods_match(lua_State *L, int to, int from, int i, int depth)
{
    to = lua_absindex(L, to);
    from = lua_absindex(L, from);
    la_handle *h = la_to_handle(L, from);
    if (!h && !lua_istable(L, from)) return;
    la_handle *given = la_to_handle(L, to);
    if (h ? !given || !given->tensor
        : !lua_istable(L, to) || depth == LA_COMPILE_DEPTH)
        luaL_error(L, "into: result %d: a %s expected, got %s", i + 1,
                   h ? "tensor" : "table as the result", la_type_text(L, to));
    if (h) {
        const la_tensor *in = la_check_tensor(L, from, "into");
        const la_tensor *out = given->tensor;
        if (out->dtype != in->dtype || out->ndim != in->ndim
            || memcmp(la_sizes(out), la_sizes(in), 8 * (size_t)in->ndim) != 0)
            la_refuse_out(L, i, in, out);
        return;
    }
    luaL_checkstack(L, 8, "into");
    for (lua_pushnil(L); lua_next(L, from); lua_pop(L, 2)) {
        lua_pushvalue(L, -2);
        lua_gettable(L, to);
        methods_match(L, -1, -2, i, depth + 1);
    }
}

/* Writes each tensor of the results, at 'from', into that of the same key in
** 'to', which matches unless a metamethod gave other values before. */
static void methods_write(lua_State *L, int to, int from, int depth)
{
    to = lua_absindex(L, to);
    from = lua_absindex(L, from);
    if (la_to_handle(L, from)) {
        la_tensor *out = la_check_tensor(L, to, "into");
        la_tensor *in = la_check_tensor(L, from, "into"), *plain = NULL;
        if (out == in) return;
        LA_CHECK(L, "into", la_run(detach, &plain, in));
        la_status status = la_run_(copy_, out, plain);
        la_tensor_release(plain);
        LA_CHECK(L, "into", status);
        return;
    }
    if (!lua_istable(L, from) || depth == LA_COMPILE_DEPTH) return;
    luaL_checkstack(L, 8, "into");
    for (lua_pushnil(L); lua_next(L, from); lua_pop(L, 2)) {
        lua_pushvalue(L, -2);
        lua_gettable(L, to);
        methods_write(L, -1, -2, depth + 1);
    }
}

/* step:into(outs, ...): outs. Several results go into a list of them. */
static int compiled_into(lua_State *L)
{
    la_check_compiled(L, 1, "into");
    la_enter(L);
    if (lua_isnone(L, 2))
        return la_raise_arg(L, 2, "into", "tensors that results are written to "
                            "expected, got nothing");
    int n = lua_gettop(L) - 2;
    if (la_run_into(L)) {
        lua_settop(L, 2);
        return 1;
    }
    luaL_checkstack(L, n + 8, "into: too many arguments");
    lua_pushvalue(L, 1);
    for (int i = 0; i < n; i++) lua_pushvalue(L, 3 + i);
    lua_call(L, n, LUA_MULTRET);
    la_enter(L);
    int results = lua_gettop(L) - 2 - n;
    if (results != 1 && !lua_istable(L, 2))
        return luaL_error(L, "into: a list of tensors for %d results expected, "
                          "got %s", results, la_type_text(L, 2));
    for (int write = 0; write < 2; write++) {
        for (int i = 1; i <= results; i++) {
            if (results == 1) lua_pushvalue(L, 2);
            else lua_geti(L, 2, i);
            if (write) methods_write(L, -1, 2 + n + i, 0);
            else methods_match(L, -1, 2 + n + i, i - 1, 0);
            lua_pop(L, 1);
        }
    }
    lua_settop(L, 2);
    return 1;
}

const la_function la_compiled_methods[] = {
    {"program", compiled_program, 1}, {"explain", la_compiled_explain, 1},
    {"profile", compiled_profile, LA_MANY}, {"into", compiled_into, LA_MANY},
    {"begin", la_compiled_begin, LA_MANY}, {"advance", la_compiled_advance, 2},
    {NULL, NULL, 0}};

const la_function la_entry_methods[] = {
    {"steps", program_steps, 1}, {"explain", la_program_explain, 1},
    {NULL, NULL, 0}};
