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

/* The last signature's; NULL where there is none, or its finalizer has run. */
static la_called *methods_last(const la_compiled *c)
{
    return c->last && c->last->p ? c->last : NULL;
}

/* step:program(): the last signature's, or nil. */
static int compiled_program(lua_State *L)
{
    la_compiled *c = la_check_compiled(L, 1, "program");
    la_called *last = methods_last(c);
    if (!last) return 0;
    lua_getiuservalue(L, 1, LA_COMPILED_ENTRIES);
    lua_rawgetp(L, -1, last);
    return 1;
}

/* ---- p:steps() ---- */

static void methods_push_name(lua_State *L, const la_prog_step *s)
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

static void methods_push_line(lua_State *L, const la_prog *p,
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
    methods_push_name(L, s);
    lua_setfield(L, -2, "op");
    lua_pushinteger(L, s->line);
    lua_setfield(L, -2, "line");
    methods_push_line(L, p, s);
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

/* ---- explain ---- */

static const char *methods_bytes(lua_State *L, int64_t n)
{
    if (n < 10000) return lua_pushfstring(L, "%d bytes", (int)n);
    if (n < 10000000) return lua_pushfstring(L, "%d KB", (int)(n / 1000));
    return lua_pushfstring(L, "%d MB", (int)(n / 1000000));
}

/* Elements that the steps touch, in bytes, and multiplications of products: by
** what the program is bound. */
typedef struct methods_work { const la_prog *p; int64_t bytes; } methods_work;

static void methods_touch(void *context, int32_t view)
{
    methods_work *w = context;
    const la_tensor *f = la_prog_view_at(w->p, view)->form;
    w->bytes += f->numel * (int64_t)la_itemsize(f);
}

static int64_t methods_products(const la_prog *p, const la_prog_step *s)
{
    if (s->kind != LA_STEP_CALL || s->results[0] < 0 || s->nargs < 2
        || s->views[0] < 0 || s->views[1] < 0) return 0;
    int role = s->op->role;
    bool product = role == LA_ROLE_product || role == LA_ROLE_products
        || role == LA_ROLE_layer;
    const la_tensor *x = la_prog_view_at(p, s->views[0])->form;
    const la_tensor *y = la_prog_view_at(p, s->results[0])->form;
    return product && x->ndim > 0 ? y->numel * la_sizes(x)[x->ndim - 1] : 0;
}

static void methods_explain_bound(lua_State *L, luaL_Buffer *b,
                                  const la_prog *p)
{
    methods_work w = {p, 0};
    int64_t products = 0;
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        if (!la_prog_runs(s)) continue;
        la_prog_reads(p, s, methods_touch, &w);
        la_prog_writes(p, s, methods_touch, &w);
        products += methods_products(p, s);
    }
    bool arithmetic = products > 4 * w.bytes;
    luaL_addstring(b, "memory touched: ");
    methods_bytes(L, w.bytes);
    luaL_addvalue(b);
    luaL_addstring(b, arithmetic
        ? "; bound by arithmetic: the products of matrices take most of it\n"
        : "; bound by memory: most of the time goes to reading and writing\n");
}

static void methods_explain_passes(lua_State *L, luaL_Buffer *b,
                                   const la_prog *p)
{
    for (int k = 0; k < LA_NPASSES; k++) {
        const la_prog_pass_note *n = &p->notes[k];
        lua_pushfstring(L, "  %s: ", la_prog_pass_name(k));
        luaL_addvalue(b);
        if (n->left_out) {
            luaL_addstring(b, "left out\n");
            continue;
        }
        lua_pushfstring(L, "%s: %d", la_prog_pass_text(k), (int)n->count);
        luaL_addvalue(b);
        if (n->bytes) {
            luaL_addstring(b, ", ");
            methods_bytes(L, n->bytes);
            luaL_addvalue(b);
        }
        luaL_addstring(b, "\n");
    }
}

static void methods_explain_plan(lua_State *L, luaL_Buffer *b,
                                 const la_prog *p)
{
    if (p->live)
        luaL_addstring(b, "a result has a history: every call runs with "
                       "autograd\n");
    luaL_addstring(b, "passes\n");
    methods_explain_passes(L, b, p);
    if (!p->live) {
        luaL_addstring(b, "arena: ");
        methods_bytes(L, p->arena_bytes);
        luaL_addvalue(b);
        luaL_addstring(b, "; packed: ");
        methods_bytes(L, p->packed_bytes);
        luaL_addvalue(b);
        luaL_addstring(b, "\n");
    }
    methods_explain_bound(L, b, p);
}

static void methods_explain_step(lua_State *L, luaL_Buffer *b,
                                 const la_prog *p, int32_t i)
{
    const la_prog_step *s = la_prog_step_at(p, i);
    int32_t view = s->kind != LA_STEP_CALL ? s->view
        : s->results[0] >= 0 ? s->results[0] : s->list_results >= 0
        && s->nlisted ? la_prog_member(p, s->list_results) : -1;
    luaL_addstring(b, "  ");
    methods_push_name(L, s);
    luaL_addvalue(b);
    if (view >= 0) {
        const la_tensor *f = la_prog_view_at(p, view)->form;
        lua_pushfstring(L, " %s{", la_dtype_name((la_dtype)f->dtype));
        luaL_addvalue(b);
        for (int d = 0; d < f->ndim; d++) {
            lua_pushfstring(L, d ? ", %I" : "%I",
                            (LUAI_UACINT)la_sizes(f)[d]);
            luaL_addvalue(b);
        }
        luaL_addstring(b, "}");
    }
    luaL_addstring(b, "  ");
    methods_push_line(L, p, s);
    luaL_addvalue(b);
    luaL_addstring(b, "\n");
}

static void methods_explain_steps(lua_State *L, luaL_Buffer *b,
                                  const la_prog *p)
{
    for (int32_t i = 0; i < p->steps.n; i++)
        if (la_prog_runs(la_prog_step_at(p, i)))
            methods_explain_step(L, b, p, i);
}

int la_program_tostring(lua_State *L)
{
    luaL_Buffer b;
    la_called *e = la_check_program(L, "tostring");
    luaL_checkstack(L, 10, "tostring");
    luaL_buffinit(L, &b);
    lua_pushfstring(L, "program of %I steps\n",
                    (LUAI_UACINT)(e->p ? la_count_steps(e->p) : 0));
    luaL_addvalue(&b);
    if (e->p) methods_explain_steps(L, &b, e->p);
    luaL_buffsub(&b, 1);        /* the last end of a line */
    luaL_pushresult(&b);
    return 1;
}

/* A text for people: steps, passes, memory. */
static int methods_explain(lua_State *L, const la_called *e)
{
    luaL_Buffer b;
    const la_prog *p = e->p;
    luaL_buffinit(L, &b);
    int steps = 0;
    for (int32_t i = 0; i < p->steps.n; i++)
        steps += la_prog_runs(la_prog_step_at(p, i));
    lua_pushfstring(L, "%d steps of %d calls, %d runs\n", steps,
                    (int)p->steps.n, (int)e->runs);
    luaL_addvalue(&b);
    if (p->eager) {
        luaL_addstring(&b, "the function itself runs at each call: ");
        luaL_addstring(&b, p->why ? p->why : "memory is out");
        luaL_addstring(&b, "\n");
    } else if (p->planned) {
        methods_explain_plan(L, &b, p);
    } else {
        luaL_addstring(&b, "no plan yet: the next call makes it\n");
    }
    luaL_addstring(&b, "steps\n");
    methods_explain_steps(L, &b, p);
    luaL_pushresult(&b);
    return 1;
}

static int compiled_explain(lua_State *L)
{
    la_compiled *c = la_check_compiled(L, 1, "explain");
    luaL_checkstack(L, 20, "explain");
    la_called *e = methods_last(c);
    if (!e)
        return luaL_error(L, "explain: nothing was recorded yet: call the "
                          "function first");
    if (!e->p->eager && !e->p->planned)
        LA_CHECK(L, "explain", la_prog_plan(e->p, c->without));
    lua_getiuservalue(L, 1, LA_COMPILED_ENTRIES);
    lua_rawgetp(L, -1, e);      /* stays while finalizers replace it */
    return methods_explain(L, e);
}

static int program_explain(lua_State *L)
{
    la_called *e = la_check_program(L, "explain");
    luaL_checkstack(L, 20, "explain");
    if (!e->p) return luaL_error(L, "explain: the program was freed");
    return methods_explain(L, e);
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
                          "arguments: %s", methods_last(c)
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

/* Writes each tensor of the results, at 'from', into that of the same key in
** 'to'. */
static void methods_write(lua_State *L, int to, int from, int depth)
{
    to = lua_absindex(L, to);
    from = lua_absindex(L, from);
    if (la_to_handle(L, from)) {
        la_tensor *out = la_check_tensor(L, to, "into");
        la_tensor *in = la_check_tensor(L, from, "into");
        if (out == in) return;
        if (out->dtype != in->dtype || out->ndim != in->ndim
            || memcmp(la_sizes(out), la_sizes(in), 8 * (size_t)in->ndim) != 0)
            luaL_error(L, "into: a tensor of the sizes and dtype of the result "
                       "expected");
        la_tensor *plain = NULL;
        LA_CHECK(L, "into", la_run(detach, &plain, in));
        la_status status = la_run_(copy_, out, plain);
        la_tensor_release(plain);
        LA_CHECK(L, "into", status);
        return;
    }
    if (!lua_istable(L, from)) return;
    if (!lua_istable(L, to) || depth == LA_COMPILE_DEPTH)
        luaL_error(L, "into: a table as the results expected, got %s",
                   la_type_text(L, to));
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
    luaL_checkany(L, 2);
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
    if (results == 1) {
        methods_write(L, 2, 3 + n, 0);
    } else {
        for (int i = 1; i <= results; i++) {
            lua_geti(L, 2, i);
            methods_write(L, -1, 2 + n + i, 0);
            lua_pop(L, 1);
        }
    }
    lua_settop(L, 2);
    return 1;
}

const la_function la_compiled_methods[] = {
    {"program", compiled_program, 1}, {"explain", compiled_explain, 1},
    {"profile", compiled_profile, LA_MANY}, {"into", compiled_into, LA_MANY},
    {"begin", la_compiled_begin, LA_MANY}, {"advance", la_compiled_advance, 2},
    {NULL, NULL, 0}};

const la_function la_entry_methods[] = {
    {"steps", program_steps, 1}, {"explain", program_explain, 1},
    {NULL, NULL, 0}};
