/*
** la.vmap(f, in_dims, out_dims, {randomness=}): a function that runs f, written
** for one element, on a batch (src/vmap).
**
** A level must end on every way out of f, errors included, so f runs protected;
** a yield across it is refused by lua_pcall (no continuation), as the level
** belongs to this state's context.
*/
#include "lua/transform/vmap.h"

#include <string.h>

#include "lua/build_options.h"
#include "op/call.h"
#include "tensor/shape.h"

/* Tensors in tables count, tables in them too, to this depth. */
#define MAX_DEPTH 16

/* Values that a closure of la.vmap keeps, a list. */
enum { FUNCTION = 1, IN_DIMS, OUT_DIMS, RANDOMNESS };

/* A walk over values with a dim for each of their tensors: a number for all, a
** table with the same keys, false or nil for none. */
typedef struct walk {
    lua_State *L;
    la_vmap *v;
    const char *what;       /* "in_dims" or "out_dims", for errors */
    int at;                 /* the argument or result, from 1 */
    void (*tensor)(struct walk *w, int at, lua_Integer dim);
} walk;

static bool has_batch(const la_vmap *v, const la_tensor *t)
{
    return (t->flags & LA_F_BATCHED) && t->seen_version == v->number;
}

/* ---- dims ---- */

/* Push the dims of entry 'key' (on the top, kept) of a table whose own are at
** 'dims'. */
static void push_dims(lua_State *L, int dims)
{
    if (lua_type(L, dims) == LUA_TTABLE) {
        lua_pushvalue(L, -1);
        lua_gettable(L, dims);
    } else {
        lua_pushvalue(L, dims);
    }
}

static void raise_dim(const walk *w, int dims)
{
    luaL_error(w->L, "vmap: %s: a dim, from 1 or negative from the end, or "
               "false expected for %s %d, got %s", w->what,
               w->what[0] == 'i' ? "argument" : "result", w->at,
               la_type_text(w->L, dims));
}

/* The dim for a tensor: 0 for none, else as users count. */
static lua_Integer dim_at(const walk *w, int dims)
{
    lua_State *L = w->L;
    int isint = 0;
    if (!lua_toboolean(L, dims)) return 0;
    lua_Integer d = lua_tointegerx(L, dims, &isint);
    if (lua_type(L, dims) != LUA_TNUMBER || !isint || d == 0)
        raise_dim(w, dims);
    return d;
}

/* Push the value at 'at' with all tensors replaced by what w->tensor pushes.
** Tables are new ones. */
static void vmap_push_value(walk *w, int at, int dims, int depth)
{
    lua_State *L = w->L;
    if (la_to_handle(L, at)) {
        w->tensor(w, at, dim_at(w, dims));
        return;
    }
    if (lua_type(L, at) != LUA_TTABLE) {
        lua_pushvalue(L, at);
        return;
    }
    if (depth == MAX_DEPTH)
        luaL_error(L, "vmap: tables in tables, more than %d deep", MAX_DEPTH);
    luaL_checkstack(L, 6, "vmap: too many values");
    lua_newtable(L);
    int copy = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, at)) {
        lua_pushvalue(L, -2);               /* key, value, key */
        push_dims(L, dims);
        lua_insert(L, -2);                  /* key, value, dims, key */
        vmap_push_value(w, copy + 2, copy + 3, depth + 1);
        lua_settable(L, copy);
        lua_settop(L, copy + 1);
    }
}

/* Walk over values first..last, whose dims are at 'dims': a table of them in
** order, or one for all. They are pushed. */
static void push_values(walk *w, int first, int last, int dims)
{
    lua_State *L = w->L;
    luaL_checkstack(L, last - first + 8, "vmap: too many values");
    lua_pushnil(L);
    int own = lua_gettop(L);
    for (int k = first; k <= last; k++) {
        w->at = k - first + 1;
        lua_pushinteger(L, w->at);
        push_dims(L, dims);
        lua_replace(L, own);
        lua_pop(L, 1);
        vmap_push_value(w, k, own, 0);
    }
    lua_remove(L, own);
}

/* ---- on the way in ---- */

/* Dim 'd' of the tensor at 'at', from 0. */
static int wrapped_dim(walk *w, const la_tensor *t, lua_Integer d)
{
    int dim;
    if (t->ndim == 0)
        luaL_error(w->L, "vmap: argument %d: a tensor without dims has no "
                   "batch: give in_dims false for it", w->at);
    LA_CHECK(w->L, "vmap", la_wrap_dim(d > 0 ? d - 1 : d, t->ndim, &dim));
    return dim;
}

/* First all sizes are looked at, before anything is made: the batch has that of
** the first tensor with a dim for it. Pushes anything. */
static void vmap_note_size(walk *w, int at, lua_Integer d)
{
    lua_State *L = w->L;
    lua_pushboolean(L, true);
    if (d == 0) return;
    la_tensor *t = la_check_tensor(L, at, "vmap");
    int64_t n = la_sizes(t)[wrapped_dim(w, t, d)];
    if (w->v->size >= 0 && w->v->size != n)
        luaL_error(L, "vmap: argument %d has a batch of %I in dim %I, the "
                   "arguments before it have %I", w->at, (LUAI_UACINT)n,
                   (LUAI_UACINT)d, (LUAI_UACINT)w->v->size);
    w->v->size = n;
}

/* Then, inside of the level, each tensor with a dim is replaced by its header.
** Making the handle may run finalizers: the tensor is read after. */
static void vmap_wrap(walk *w, int at, lua_Integer d)
{
    lua_State *L = w->L;
    la_state *s = la_up_state(L);
    la_tensor *out;
    if (d == 0) {
        lua_pushvalue(L, at);
        return;
    }
    la_handle *h = la_new_handle(L, s);
    la_tensor *t = la_check_tensor(L, at, "vmap");
    LA_CHECK(L, "vmap", la_vmap_wrap(w->v, t, wrapped_dim(w, t, d), &out));
    la_fill_handle(s, h, out);
}

/* ---- on the way out ---- */

/* A tensor with the batch as dim d; one without it is expanded, so that what f
** returns has the same shape whether it depends on its arguments or not. With
** d = 0 it must not: the tensor is returned as it is. */
static void unwrap(walk *w, int at, lua_Integer d)
{
    lua_State *L = w->L;
    la_state *s = la_up_state(L);
    la_tensor *out;
    if (d == 0) {
        if (has_batch(w->v, la_check_tensor(L, at, "vmap")))
            luaL_error(L, "vmap: out_dims: result %d differs from element to "
                       "element of the batch: it needs a dim", w->at);
        lua_pushvalue(L, at);
        return;
    }
    la_handle *h = la_new_handle(L, s);
    la_tensor *t = la_check_tensor(L, at, "vmap");
    LA_CHECK(L, "vmap", la_vmap_unwrap(w->v, t, d > 0 ? d - 1 : d, &out));
    la_fill_handle(s, h, out);
}

/* ---- the call ---- */

static void push_part(lua_State *L, int which)
{
    lua_rawgeti(L, lua_upvalueindex(LA_UP_OWN), which);
}

/* The arguments of the call, below them the level; inside of it. */
static int call_inside(lua_State *L)
{
    int top = lua_gettop(L);
    la_enter(L);
    walk w = {L, lua_touserdata(L, 1), "in_dims", 0, vmap_wrap};
    push_part(L, FUNCTION);
    push_part(L, IN_DIMS);
    push_values(&w, 2, top, top + 2);
    lua_remove(L, top + 2);
    lua_call(L, top - 1, LUA_MULTRET);
    return lua_gettop(L) - top;
}

/* Function that la.vmap gives. Stack: the level, a userdata; the arguments. The
** level is not open while sizes are compared, nor while results are brought
** out, which may raise: what it has made knows it by its number. */
static int call_mapped(lua_State *L)
{
    int n = lua_gettop(L);
    la_state *s = la_enter(L);
    la_vmap *v = lua_newuserdatauv(L, sizeof *v, 0);
    v->size = -1;
    lua_insert(L, 1);
    walk in = {L, v, "in_dims", 0, vmap_note_size};
    push_part(L, IN_DIMS);
    push_values(&in, 2, n + 1, n + 2);
    lua_settop(L, n + 1);
    if (v->size < 0)
        return luaL_error(L, "vmap: none of the arguments is a tensor with a "
                          "batch");
    push_part(L, RANDOMNESS);
    la_randomness random = (la_randomness)lua_tointeger(L, -1);
    lua_pop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(LA_UP_OWN));
    la_closure(L, call_inside);
    lua_pushvalue(L, 1);
    lua_rotate(L, 2, 2);                    /* level, closure, level, ... */
    la_enter(L);
    LA_CHECK(L, "vmap", la_vmap_open(v, v->size, random));
    int failed = lua_pcall(L, n + 1, LUA_MULTRET, 0);
    la_enter(L);
    la_vmap_close(v);
    if (failed) return lua_error(L);
    int top = lua_gettop(L);
    walk out = {L, v, "out_dims", 0, unwrap};
    luaL_checkstack(L, 8, "vmap: too many results");
    push_part(L, OUT_DIMS);
    push_values(&out, 2, top, top + 1);
    la_pace(L, s);
    return lua_gettop(L) - top - 1;
}

/* One dim or a table of them; more is known when there are arguments. */
static void check_dims(lua_State *L, int at)
{
    int type = lua_type(L, at);
    if (type == LUA_TNIL || type == LUA_TNONE) return;
    if (type == LUA_TTABLE || (type == LUA_TNUMBER && lua_isinteger(L, at)
                               && lua_tointeger(L, at) != 0)) return;
    la_raise_arg(L, at, "vmap", "dim or table of dims expected, got %s",
                 type == LUA_TNUMBER ? lua_tostring(L, at)
                                     : la_type_text(L, at));
}

/* The option randomness; 'error' unless it is given. */
static la_randomness randomness(lua_State *L, int at)
{
    static const char *const known[] = {"randomness", NULL};
    static const char *const words[] = {"error", "different", "same"};
    if (lua_isnil(L, at)) return LA_RANDOM_ERROR;
    if (lua_type(L, at) != LUA_TTABLE)
        la_raise_arg(L, at, "vmap", "table of options expected, got %s",
                     la_type_text(L, at));
    la_check_keywords(L, at, known, "vmap");
    if (lua_getfield(L, at, "randomness") == LUA_TNIL) return LA_RANDOM_ERROR;
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                      : "";
    for (int k = 0; k < 3; k++)
        if (strcmp(word, words[k]) == 0) return (la_randomness)k;
    luaL_error(L, "vmap: randomness: 'error', 'different' or 'same' expected");
    return LA_RANDOM_ERROR;
}

/* la.vmap(f[, in_dims[, out_dims[, {randomness=}]]]) */
static int fn_vmap(lua_State *L)
{
    la_check_callable(L, 1, "vmap");
    lua_settop(L, 4);
    check_dims(L, 2);
    check_dims(L, 3);
    lua_Integer random = randomness(L, 4);
    lua_createtable(L, RANDOMNESS, 0);
    for (int k = FUNCTION; k <= OUT_DIMS; k++) {
        lua_pushvalue(L, k);
        if (k > FUNCTION && lua_isnil(L, -1)) {
            lua_pop(L, 1);
            lua_pushinteger(L, 1);
        }
        lua_rawseti(L, -2, k);
    }
    lua_pushinteger(L, random);
    lua_rawseti(L, -2, RANDOMNESS);
    la_closure(L, call_mapped);
    return 1;
}

static const la_function functions[] = {
    {"vmap", fn_vmap, LA_MANY}, {NULL, NULL, 0}
};
const la_part la_part_vmap = {functions, NULL};

/* ---- gradients ---- */

/* The innermost level among the tensors, if any is deeper than *v. */
static la_status innermost(const la_tensor_box *box, la_vmap **v)
{
    for (int64_t i = 0; i < box->n; i++) {
        la_vmap *own;
        LA_TRY(la_vmap_level(box->list[i], &own));
        if (own && (!*v || own->depth > (*v)->depth)) *v = own;
    }
    return LA_OK;
}

/* Entry i is replaced by what is behind it. */
static void step_behind(la_tensor_box *box, int64_t i)
{
    la_tensor *t = la_tensor_retain(box->list[i]->base);
    la_tensor_release(box->list[i]);
    box->list[i] = t;
}

/* The gradient of output i, with the batch; a single number needs none. */
static la_status step_seed(la_vmap *v, const la_tensor *root, la_tensor **seed)
{
    la_tensor *t = NULL;
    if (!*seed && root->numel != 1) return LA_OK;   /* the engine says why */
    if (*seed) LA_TRY(la_vmap_unwrap(v, *seed, 0, &t));
    else LA_TRY(la_run(ones_like, &t, root->base));
    la_tensor_drop(seed);
    *seed = t;
    return LA_OK;
}

/* One level of la.grad: inputs and outputs become what is behind them. */
static la_status vmap_step(la_vmap *v, la_tensor_box *roots,
                           la_tensor_box *seeds, la_tensor_box *inputs)
{
    for (int64_t i = 0; i < inputs->n; i++) {
        if (!has_batch(v, inputs->list[i]))
            return la_error_at(LA_EARG, 2, "input %lld has no batch: its "
                               "gradient would be a sum over all elements of "
                               "the batch; give it to the function as an "
                               "argument with one (w:expand(n, ...))",
                               (long long)i + 1);
        step_behind(inputs, i);
    }
    for (int64_t i = 0; i < roots->n; i++) {
        if (!has_batch(v, roots->list[i]))
            return la_error_at(LA_EARG, 1, "output %lld does not depend on the "
                               "batch, as the inputs do", (long long)i + 1);
        LA_TRY(step_seed(v, roots->list[i], &seeds->list[i]));
        step_behind(roots, i);
    }
    return LA_OK;
}

la_status la_vmap_before_grad(la_tensor_box *roots, la_tensor_box *seeds,
                              la_tensor_box *inputs, la_vmap_grad *out)
{
    out->n = 0;
    for (;;) {
        la_vmap *v = NULL;
        LA_TRY(innermost(roots, &v));
        LA_TRY(innermost(inputs, &v));
        if (!v) return LA_OK;
        out->levels[out->n++] = v;
        la_vmap *before = la_ctx()->vmap;
        la_status status = vmap_step(v, roots, seeds, inputs);
        la_ctx()->vmap = before;
        if (status) return status;
    }
}

la_status la_vmap_after_grad(const la_vmap_grad *g, la_tensor_box *gradients)
{
    for (int k = g->n - 1; k >= 0; k--)
        for (int64_t i = 0; i < gradients->n; i++) {
            la_tensor *t = gradients->list[i];
            if (!t) continue;
            gradients->list[i] = NULL;
            LA_TRY(la_vmap_header(g->levels[k], t, &gradients->list[i]));
        }
    return LA_OK;
}
