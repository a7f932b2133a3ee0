/*
** Loaded programs: p(...) runs the recording whose signature the arguments
** have, p:weights() gives the captured tensors by name, #p and p:steps() tell
** the steps.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "api/api.h"
#include "base/runtime/runtime.h"
#include "grad/grad.h"
#include "lua/transform/autograd.h"
#include "lua/transform/host_program.h"
#include "op/op.h"
#include "tensor/host/lend.h"

/* One recording: e.p is that of 'g', borrowed. */
typedef struct loaded_one {
    la_program *g;
    la_called e;
} loaded_one;

typedef struct loaded {
    int32_t n, last;
    bool shared;                /* the weights are others' too: read-only */
    loaded_one *list;           /* in user value LOADED_LIST */
} loaded;

enum { LOADED_LIST = 1, LOADED_REFS };

static loaded *loaded_check(lua_State *L, const char *name)
{
    loaded *p = luaL_testudata(L, 1, LA_LOADED_NAME);
    if (!p) la_raise_arg(L, 1, name, "loaded program expected, got %s",
                         la_type_text(L, 1));
    return p;
}

static int loaded_gc(lua_State *L)
{
    loaded *p = luaL_testudata(L, 1, LA_LOADED_NAME);
    if (!p) return 0;
    la_enter_state(L);
    for (int32_t i = 0; i < p->n; i++) {
        p->list[i].e.p = NULL;
        la_drop_called(&p->list[i].e);
        la_program_drop(p->list[i].g);
    }
    p->n = 0;
    return 0;
}

/* ---- calls ---- */

/* Inputs that need a gradient get none, unless the program gives them one. */
static void loaded_check_grad(lua_State *L, const loaded_one *one,
                              const la_call_tensors *t)
{
    const la_prog *p = one->g->p;
    for (int i = 0; i < t->n && !la_ctx()->no_grad; i++)
        if (la_grad_flag(t->tensors[i])
            && !la_prog_object_at(p, i)->grad_set
            && !la_prog_object_at(p, i)->grad_asked)
            luaL_error(L, "program: input '%s' needs a gradient, and a loaded "
                       "program gives none: detach it, or call the program "
                       "inside of la.no_grad", la_program_key(one->g, 0, i));
}

static bool loaded_fits(const loaded_one *one, const la_call_tensors *t)
{
    for (int i = 0; i < t->n; i++) {
        const la_tensor *f = la_prog_object_at(one->g->p, i)->form;
        const la_tensor *x = t->tensors[i];
        if (x->dtype != f->dtype || !la_same_geometry(x, f)) return false;
    }
    return true;
}

/* The recording for the values at first..top, whose refs are pushed, at 'top' +
** 2, and the handles of the tensors. The only one there is answers for tensors
** of other forms itself. */
static loaded_one *loaded_find(lua_State *L, loaded *p, int first, int top,
                               la_call_tensors *t)
{
    lua_getiuservalue(L, 1, LOADED_REFS);
    for (int32_t i = 0; i < p->n; i++) {
        loaded_one *one = &p->list[i];
        lua_rawgeti(L, top + 1, i + 1);
        la_hold_tensors(L, t, LA_COMPILE_TENSORS);
        if (la_match_signature(L, &one->e, top + 2, first, top, t)
            && t->n == one->g->p->narguments
            && (p->n == 1 || loaded_fits(one, t))) {
            p->last = i;
            return one;
        }
        lua_settop(L, top + 1);
    }
    luaL_error(L, p->n == 1 ? "program: other values than it was recorded for: "
               "%d arguments, of the same structure and with the same numbers "
               "and texts" : "program: none of its %d recordings is for these "
               "arguments", p->n == 1 ? p->list[0].e.narguments : (int)p->n);
    return NULL;
}

/* p(...) */
static int loaded_call(lua_State *L)
{
    la_call_tensors t;
    la_tensor *out[LA_COMPILE_TENSORS] = {NULL};
    loaded *p = loaded_check(L, "program");
    la_state *s = la_begin(L, "program", 0);
    int top = lua_gettop(L);
    luaL_checkstack(L, 24, "program: too many arguments");
    if (!p->n) return luaL_error(L, "program: it was freed");
    loaded_one *one = loaded_find(L, p, 2, top, &t);
    int refs = top + 2, handles = lua_gettop(L) + 1;
    loaded_check_grad(L, one, &t);
    if (one->g->p->outputs.n > LA_COMPILE_TENSORS)
        return luaL_error(L, "program: more than %d results",
                          LA_COMPILE_TENSORS);
    la_push_handles(L, s, &one->e);
    la_take_tensors(L, &t, "program");
    LA_CHECK(L, "program", s->uncompiled
             ? la_program_replay(one->g, t.tensors, out)
             : la_program_call(one->g, t.tensors, out));
    return la_give_results(L, s, &one->e, refs, handles, 2, out);
}

/* ---- weights ---- */

static void loaded_push_tensor(lua_State *L, la_state *s, la_tensor *t,
                               bool shared)
{
    la_handle *h = la_new_handle(L, s);
    la_tensor *lent = NULL;
    if (shared) LA_CHECK(L, "weights", la_tensor_lend(t, &lent));
    la_fill_handle(s, h, lent ? lent : la_tensor_retain(t));
}

/* p:weights(): name -> tensor, of all recordings. The tensors themselves: what
** is written to one holds in the next call. */
static int loaded_weights(lua_State *L)
{
    loaded *p = loaded_check(L, "weights");
    la_state *s = la_begin(L, "weights", 0);
    lua_settop(L, 1);
    luaL_checkstack(L, 12, "weights");
    lua_newtable(L);
    for (int32_t i = p->n - 1; i >= 0; i--) {
        const la_program *g = p->list[i].g;
        for (int32_t k = 0; k < g->weights.n; k++) {
            lua_pushstring(L, la_program_key(g, 2, k));
            loaded_push_tensor(L, s, la_program_weight_at(g, k), p->shared);
            lua_rawset(L, 2);
        }
    }
    return 1;
}

/* ---- looking inside ---- */

/* NULL where its finalizer has run. */
static const la_prog *loaded_last(const loaded *p)
{
    return p->n ? p->list[p->last].e.p : NULL;
}

static int loaded_length(lua_State *L)
{
    loaded *p = loaded_check(L, "#");
    lua_pushinteger(L, loaded_last(p) ? la_count_steps(loaded_last(p)) : 0);
    return 1;
}

static int loaded_steps(lua_State *L)
{
    loaded *p = loaded_check(L, "steps");
    luaL_checkstack(L, 12, "steps");
    la_push_steps(L, loaded_last(p));
    return 1;
}

static void loaded_add_names(lua_State *L, luaL_Buffer *b, const la_program *g,
                             int what)
{
    for (int64_t i = 0; i < g->names[what].n; i++) {
        lua_pushfstring(L, i ? ", %s" : "%s", la_program_key(g, what, i));
        luaL_addvalue(b);
    }
}

/* print(p): "program(x) -> output1: 4 steps, 3 weights" */
static int loaded_tostring(lua_State *L)
{
    luaL_Buffer b;
    loaded *p = loaded_check(L, "tostring");
    luaL_buffinit(L, &b);
    for (int32_t i = 0; i < p->n; i++) {
        const la_program *g = p->list[i].g;
        luaL_addstring(&b, i ? "\nprogram(" : "program(");
        loaded_add_names(L, &b, g, 0);
        luaL_addstring(&b, ") -> ");
        loaded_add_names(L, &b, g, 1);
        lua_pushfstring(L, ": %d steps, %d weights",
                        (int)la_count_steps(g->p), (int)g->weights.n);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
    return 1;
}

/* ---- making ---- */

static void loaded_methods(lua_State *L)
{
    static const la_function methods[] = {
        {"weights", loaded_weights, 1}, {"steps", loaded_steps, 1},
        {NULL, NULL, 0}};
    la_set_methods(L, methods);
    lua_pushnil(L);
    la_closure(L, loaded_call);
    lua_setfield(L, -2, "__call");
    la_set_event(L, "__len", loaded_length);
    la_set_event(L, "__tostring", loaded_tostring);
    la_set_event(L, "__gc", loaded_gc);
}

void la_push_loaded(lua_State *L, la_prog_list *list)
{
    luaL_checkstack(L, 16, "load");
    loaded *p = lua_newuserdatauv(L, sizeof *p, 2);
    *p = (loaded){0};
    if (la_new_metatable(L, LA_LOADED_NAME, NULL)) loaded_methods(L);
    la_take_metatable(L);
    size_t bytes = (size_t)list->n * sizeof *p->list;
    p->list = lua_newuserdatauv(L, bytes, 0);
    memset(p->list, 0, bytes);
    lua_setiuservalue(L, -2, LOADED_LIST);
    lua_newtable(L);
    for (int32_t i = 0; i < list->n; i++) {
        la_program **g = LA_PROG_AT(*list, la_program *, i);
        p->list[i].g = *g;
        p->list[i].e.p = (*g)->p;
        *g = NULL;
        p->n = i + 1;
        lua_newtable(L);
        la_get_call(L, p->list[i].g, &p->list[i].e, lua_gettop(L));
        lua_rawseti(L, -2, i + 1);
    }
    lua_setiuservalue(L, -2, LOADED_REFS);
}

bool la_take_loaded(lua_State *L, int at, const char *function, la_taken *to)
{
    loaded *p = luaL_testudata(L, at, LA_LOADED_NAME);
    if (!p) return false;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t k = i == 0 ? p->last : i <= p->last ? i - 1 : i;
        la_program **g = la_prog_add(&to->list, sizeof *g);
        if (!g) la_raise(L, function, LA_ENOMEM);
        la_take_ref(&p->list[k].g->refs);
        *g = p->list[k].g;
    }
    return true;
}

/* ---- la_push_program ---- */

/* The program, lightly: pushes a clone of it. */
static int push_program_body(lua_State *L)
{
    la_taken *t = la_push_taken(L);
    la_program **g = la_prog_add(&t->list, sizeof *g);
    if (!g) la_raise(L, "la_push_program", LA_ENOMEM);
    *g = NULL;
    LA_CHECK(L, "la_push_program", la_program_copy(lua_touserdata(L, 1), g));
    la_push_loaded(L, &t->list);
    ((loaded *)lua_touserdata(L, -1))->shared = true;
    return 1;
}

static la_status push_program(lua_State *L, la_context *c, la_program *g)
{
    if (!c) return la_error(LA_ESTATE, "the Lua state was never opened "
                            "(la_openlibs)");
    if (!g) return la_error(LA_EARG, "no program given");
    if (la_runtime_at(g->owner) != c->runtime)
        return la_error(LA_EARG, "the program belongs to another runtime");
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    la_error_clear();
    lua_pushcfunction(L, push_program_body);
    lua_pushlightuserdata(L, g);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) return LA_OK;
    la_status status = la_error_status();
    if (!status) return la_lua_error(L, "la_push_program");
    lua_pop(L, 1);
    return status;
}

LA_API int la_push_program(lua_State *L, la_program *g)
{
    la_context *c = L ? la_context_of(L) : NULL;
    LA_API_ENTRY_IN(c ? c->runtime : la_runtime_chosen());
    la_share_tensors();
    return la_api_end("la_push_program", push_program(L, c, g));
}
