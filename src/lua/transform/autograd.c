/*
** The Lua binding of autograd: attributes, backward, modes, hooks.
** Functions written in Lua are in lua/transform/function.c.
**
** Everything that runs the engine keeps its tensors in boxes on the stack:
** hooks and custom functions run Lua code, which may free any handle.
*/
#include "lua/transform/autograd.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "lua/build_options.h"
#include "lua/transform/vmap.h"
#include "op/frame.h"
#include "program/program.h"

/* ---- attributes ---- */

/* Registry: the handles of gradients by address, with weak values, so that
** x.grad is one value as long as somebody keeps it. */
static const char grads_key;

/* The address may be that of an older tensor whose handle is still there: the
** handle is asked what it holds. The new handle counts no bytes for the pacing:
** the data is the tensor's. Leaves the table of handles below the result. */
int la_get_grad(lua_State *L, la_tensor *t)
{
    if (t->flags & LA_F_BATCHED)
        return luaL_error(L, "grad: inside vmap gradients are results of "
                          "la.grad");
    if (la_up_state(L)->context.recorder) la_grad_watched.asked(t);
    la_tensor *g = la_leaf_grad(t);
    if (!g) {
        lua_pushnil(L);
        return 1;
    }
    la_push_weak_table(L, &grads_key, "v");
    lua_rawgetp(L, -1, g);
    la_handle *h = la_to_handle(L, -1);
    if (h && h->tensor == g) return 1;
    h = la_new_handle(L, la_up_state(L));
    g = la_leaf_grad(la_check_tensor(L, 1, "grad"));  /* finalizers have run */
    if (!g) {
        lua_pushnil(L);
        return 1;
    }
    h->tensor = la_tensor_retain(g);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -4, g);
    return 1;
}

/* x.grad = y keeps y's userdata as the value of x.grad. Raises for another
** shape, dtype or device (la_set_grad). */
int la_set_grad_attr(lua_State *L, la_tensor *t)
{
    la_tensor *g = lua_isnil(L, 3) ? NULL : la_check_tensor(L, 3, "grad");
    LA_CHECK(L, "grad", la_loop_hold());
    LA_CHECK(L, "grad", la_set_grad(t, g));
    if (!g || la_leaf_grad(t) != g) return 0;
    la_push_weak_table(L, &grads_key, "v");
    lua_pushvalue(L, 3);
    lua_rawsetp(L, -2, g);
    return 0;
}

/* "MulBackward" for the node of mul; nil for a leaf. */
int la_get_grad_fn(lua_State *L, la_tensor *t)
{
    la_node *n = NULL;
    int slot;
    char name[80];
    LA_CHECK(L, "grad_fn", la_grad_fn_of(la_vmap_root(t), &n, &slot));
    if (!n) {
        lua_pushnil(L);
        return 1;
    }
    const char *own = la_node_name(n);
    snprintf(name, sizeof(name), "%s", own + (own[0] == '_'));
    if (name[0] >= 'a' && name[0] <= 'z') {
        name[0] = (char)(name[0] - 'a' + 'A');
        lua_pushfstring(L, "%sBackward", name);
    } else {
        lua_pushstring(L, name);
    }
    return 1;
}

int la_get_requires_grad(lua_State *L, la_tensor *t)
{
    lua_pushboolean(L, la_requires_grad(la_vmap_root(t)));
    return 1;
}

/* Raises for a tensor that is no leaf, and for a dtype without gradients. */
int la_assign_requires_grad(lua_State *L, la_tensor *t)
{
    if (lua_type(L, 3) != LUA_TBOOLEAN)
        return luaL_error(L, "requires_grad: boolean expected, got %s",
                          luaL_typename(L, 3));
    t = la_vmap_root(t);
    LA_CHECK(L, "requires_grad", la_loop_hold());
    LA_CHECK(L, "requires_grad", la_require_grad(t, lua_toboolean(L, 3)));
    return 0;
}

int la_get_is_leaf(lua_State *L, la_tensor *t)
{
    bool leaf;
    LA_CHECK(L, "is_leaf", la_is_leaf(la_vmap_root(t), &leaf));
    lua_pushboolean(L, leaf);
    return 1;
}

/* Returns the tensor itself. */
static int method_requires_grad_(lua_State *L)
{
    la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, "requires_grad_");
    bool on = lua_isnoneornil(L, 2) || lua_toboolean(L, 2);
    LA_CHECK(L, "requires_grad_", la_loop_hold());
    LA_CHECK(L, "requires_grad_", la_require_grad(la_vmap_root(t), on));
    lua_settop(L, 1);
    return 1;
}

static int method_retain_grad(lua_State *L)
{
    la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, "retain_grad");
    LA_CHECK(L, "retain_grad", la_loop_hold());
    LA_CHECK(L, "retain_grad", la_retain_grad(t));
    return 0;
}

/* Drops the gradient instead of filling it with zeros, so that the next
** backward need not add. */
static int method_zero_grad(lua_State *L)
{
    la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, "zero_grad");
    LA_CHECK(L, "zero_grad", la_loop_hold());
    LA_CHECK(L, "zero_grad", la_set_grad(t, NULL));
    return 0;
}

/* detach_: the tensor becomes a leaf without history. A view would go on
** sharing the history of its base, so it is refused. */
static int method_detach_(lua_State *L)
{
    la_enter(L);
    la_tensor *t = la_vmap_root(la_check_tensor(L, 1, "detach_"));
    if (t->base && la_requires_grad(t))
        return luaL_error(L, "detach_: Can't detach views in-place. Use "
                          "detach() instead");
    LA_CHECK(L, "detach_", la_loop_hold());
    la_forget_history(t);
    lua_settop(L, 1);
    return 1;
}

/* ---- backward ---- */

/* Raise an error about argument 'at' of function 'name', or about its option
** 'key' when that is not NULL. 'i' is the element of the list, 0 the whole.
** Never returns. */
static void raise_tensors(lua_State *L, int at, const char *name,
                          const char *key, int64_t i, const char *text)
{
    if (i > 0)
        text = lua_pushfstring(L, "[%I]: %s", (LUAI_UACINT)i, text);
    if (!key) la_raise_arg(L, at, name, "%s", text);
    luaL_error(L, "bad argument '%s' to '%s' (%s)", key, name, text);
}

/* Tensors of a call, kept alive by a box on the stack. A nil entry stays NULL
** where 'holes' allows it. 'at' holds a tensor or a list. Leaves the box on the
** top. A list is read through its metatable: Lua code may run. Raises for
** anything that is no live tensor. */
static la_tensor_box *autograd_read_tensors(lua_State *L, int at,
                                            const char *name, const char *key,
    bool holes)
{
    bool single = la_to_handle(L, at) != NULL;
    if (!single && lua_type(L, at) != LUA_TTABLE)
        raise_tensors(L, at, name, key, 0,
                      lua_pushfstring(L, "tensor or list of tensors expected, "
                                      "got %s", la_type_text(L, at)));
    int64_t n = single ? 1 : luaL_len(L, at);
    la_tensor_box *box = la_push_box(L, n);
    for (int64_t i = 0; i < n; i++) {
        if (single) lua_pushvalue(L, at);
        else lua_geti(L, at, i + 1);
        la_handle *h = la_to_handle(L, -1);
        if (!h && !(holes && lua_isnil(L, -1)))
            raise_tensors(L, at, name, key, i + 1,
                          lua_pushfstring(L, "tensor expected, got %s",
                                          la_type_text(L, -1)));
        if (h && !h->tensor)
            raise_tensors(L, at, name, key, 0, la_freed_text(h));
        if (h) box->list[i] = la_tensor_retain(h->tensor);
        lua_pop(L, 1);
    }
    return box;
}

/* The truth of options[key]; false without a table of options. */
static bool autograd_option(lua_State *L, int at, const char *key)
{
    bool on = false;
    if (lua_type(L, at) == LUA_TTABLE) {
        lua_getfield(L, at, key);
        on = lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    return on;
}

static void autograd_check_options(lua_State *L, int at, const char *name,
                                   const char *const *known)
{
    if (lua_type(L, at) == LUA_TTABLE) la_check_keywords(L, at, known, name);
}

/* LA_BW_ flags of the options at 'at'. */
static uint32_t graph_flags(lua_State *L, int at)
{
    uint32_t flags = 0;
    if (autograd_option(L, at, "retain_graph")) flags |= LA_BW_RETAIN_GRAPH;
    if (autograd_option(L, at, "create_graph")) flags |= LA_BW_CREATE_GRAPH;
    if (autograd_option(L, at, "allow_unused")) flags |= LA_BW_ALLOW_UNUSED;
    return flags;
}

/* The list at 'key' of the options, as a box; NULL when it is not given. */
static la_tensor_box *option_tensors(lua_State *L, int at, const char *name,
                                     const char *key, bool holes)
{
    if (lua_type(L, at) != LUA_TTABLE) return NULL;
    if (lua_getfield(L, at, key) == LUA_TNIL) {
        lua_pop(L, 1);
        return NULL;
    }
    return autograd_read_tensors(L, lua_gettop(L), name, key, holes);
}

/* The thread, the mode and the context are restored also after a failure: a
** hook may itself call backward, on another thread of this state. */
static la_status run_on(lua_State *L, int nroots, la_tensor **roots,
                        la_tensor **seeds, la_tensor_box *inputs,
                        la_tensor **out, uint32_t flags)
{
    la_state *s = la_up_state(L);
    lua_State *before = s->running;
    for (int i = 0; i < nroots && (flags & LA_BW_ACCUMULATE); i++)
        if ((roots[i]->flags & LA_F_BATCHED)
            || (seeds && seeds[i] && (seeds[i]->flags & LA_F_BATCHED)))
            return la_error(LA_ESTATE, "inside vmap gradients are asked for by "
                            "la.grad(y, x)");
    LA_TRY(la_loop_hold());
    s->running = L;
    s->thrown = false;
    la_status status = la_run_backward(nroots, roots, seeds,
                                   inputs ? (int)inputs->n : 0,
                                   inputs ? inputs->list : NULL, out, flags);
    s->running = before;
    la_make_current(&s->context);
    return status;
}

/* An error value of Lua's that waits to be raised has nobody to raise it: its
** text is in the record. */
static void forget_error(lua_State *L, la_state *s)
{
    if (s->thrown && lua_checkstack(L, 2)) la_open_errors(L);
    s->thrown = false;
}

la_status la_backward_on(lua_State *L, la_tensor *t, la_tensor *seed)
{
    la_state *s = L ? la_state_of(L) : NULL;
    la_tensor **seeds = seed ? &seed : NULL;
    la_context *c = la_ctx();
    lua_State *before = s ? s->running : NULL;
    LA_TRY(la_loop_hold());
    if (s) s->running = L;
    la_status status = la_run_backward(1, &t, seeds, 0, NULL, NULL,
                                       LA_BW_ACCUMULATE);
    if (s) s->running = before;
    if (s) forget_error(L, s);
    la_current_context = c;
    return status;
}

static la_status autograd_run(lua_State *L, la_tensor_box *roots,
                              la_tensor **seeds, la_tensor_box *inputs,
    la_tensor **out, uint32_t flags)
{
    return run_on(L, (int)roots->n, roots->list, seeds, inputs, out, flags);
}

/* x:backward() of one tensor: nothing on the way raises, so no box is needed to
** hold it. The reference is C's alone: hooks run protected, and the error is
** raised after it was released. */
static int backward_plain(lua_State *L, la_tensor *t)
{
    la_tensor_retain(t);
    la_status status = run_on(L, 1, &t, NULL, NULL, NULL, LA_BW_ACCUMULATE);
    la_tensor_release(t);
    return status ? la_raise_kept(L, "backward", status) : 0;
}

/* x:backward([grad][, {retain_graph=, create_graph=, inputs=, gradient=}]).
** Gradients are added to .grad of the leaves, or of 'inputs' only. The engine
** still writes one result per input, for which 'out' is there. */
static int method_backward(lua_State *L)
{
    static const char *const known[] = {"retain_graph", "create_graph",
                                        "inputs", "gradient", NULL};
    la_begin(L, "backward", 0);
    la_handle *h = la_to_handle(L, 1);
    if (lua_gettop(L) == 1 && h && h->tensor)
        return backward_plain(L, h->tensor);
    lua_settop(L, 3);
    la_tensor_box *inputs, *seeds;
    la_tensor_box *roots = autograd_read_tensors(L, 1, "backward", NULL, false);
    int at = lua_isnil(L, 2) || la_to_handle(L, 2) ? 3 : 2;
    if (!lua_isnil(L, at) && lua_type(L, at) != LUA_TTABLE)
        return la_raise_arg(L, at, "backward", "tensor or table of options "
                            "expected, got %s", la_type_text(L, at));
    at = lua_istable(L, at) ? at : 0;
    if (at) autograd_check_options(L, at, "backward", known);
    seeds = la_to_handle(L, 2) ? autograd_read_tensors(L, 2, "backward", NULL,
                                                       false)
        : at ? option_tensors(L, at, "backward", "gradient", true) : NULL;
    inputs = at ? option_tensors(L, at, "backward", "inputs", false) : NULL;
    if (seeds && seeds->n != roots->n)
        return luaL_error(L, "backward: %d tensors and %d gradients",
                          (int)roots->n, (int)seeds->n);
    if (inputs && inputs->n == 0)
        return luaL_error(L, "backward: 'inputs' cannot be empty");
    uint32_t flags = (at ? graph_flags(L, at) : 0) | LA_BW_ACCUMULATE;
    la_tensor_box *out = inputs ? la_push_box(L, inputs->n) : NULL;
    la_status status = autograd_run(L, roots, seeds ? seeds->list : NULL,
                                    inputs, out ? out->list : NULL, flags);
    if (status) return la_raise_kept(L, "backward", status);
    return 0;
}

/* la.grad(outputs, inputs[, {grad_outputs=, create_graph=, ...}]): as many
** values as inputs. nil for an input that is not used, which allow_unused
** permits. Gradients move from the box into handles one by one, so that an
** error in between leaks nothing. .grad stays as it was. */
static int fn_grad(lua_State *L)
{
    static const char *const known[] = {"retain_graph", "create_graph",
        "allow_unused", "grad_outputs", NULL};
    la_state *s = la_begin(L, "grad", 0);
    lua_settop(L, 3);
    autograd_check_options(L, 3, "grad", known);
    la_tensor_box *roots = autograd_read_tensors(L, 1, "grad", NULL, false);
    la_tensor_box *inputs = autograd_read_tensors(L, 2, "grad", NULL, false);
    if (inputs->n == 0)
        la_raise_arg(L, 2, "grad", "grad requires non-empty inputs");
    la_tensor_box *seeds = option_tensors(L, 3, "grad", "grad_outputs",
                                          true);
    if (seeds && seeds->n != roots->n)
        return luaL_error(L, "grad: %d outputs and %d grad_outputs",
                          (int)roots->n, (int)seeds->n);
    la_tensor_box *out = la_push_box(L, inputs->n);
    la_vmap_grad levels;
    if (!seeds) seeds = la_push_box(L, roots->n);
    LA_CHECK(L, "grad", la_vmap_before_grad(roots, seeds, inputs, &levels));
    la_status status = autograd_run(L, roots, seeds->list, inputs, out->list,
                                    graph_flags(L, 3));
    if (!status) status = la_vmap_after_grad(&levels, out);
    if (status) return la_raise_kept(L, "grad", status);
    luaL_checkstack(L, (int)inputs->n + 4, "too many inputs");
    for (int64_t i = 0; i < inputs->n; i++) {
        if (!out->list[i]) {
            lua_pushnil(L);
            continue;
        }
        la_handle *h = la_new_handle(L, s);
        la_fill_handle(s, h, out->list[i]);
        out->list[i] = NULL;
    }
    return (int)inputs->n;
}

/* ---- modes ---- */

#define SCOPE_NAME "lunarray.scope"
/* The grad mode to restore; restored once. The user value keeps what the mark
** refers to. */
typedef struct scope {
    la_mode_mark mark;
    bool done;
} scope;

/* __close; it has no upvalues, so the state comes from the registry. */
static int scope_end(lua_State *L)
{
    scope *s = luaL_testudata(L, 1, SCOPE_NAME);
    if (!s)
        return luaL_error(L, "__close: " SCOPE_NAME " expected, got %s",
                          la_type_text(L, 1));
    if (!s->done) {
        la_state *state = la_state_of(L);
        if (state) la_close_mode(L, state, &s->mark);
    }
    s->done = true;
    return 0;
}

/* The mode of the running coroutine from here on. The scope is there before,
** for it may find no memory. */
static int push_scope(lua_State *L, la_state *state, bool on)
{
    scope *s = lua_newuserdatauv(L, sizeof(*s), 1);
    s->done = true;
    if (la_new_metatable(L, SCOPE_NAME, "a scope's metatable is locked"))
        la_set_event(L, "__close", scope_end);
    la_take_metatable(L);
    s->mark = la_open_mode(L, state, !on);
    lua_setiuservalue(L, -2, 1);
    s->done = false;
    return 1;
}

/* no_grad(f, ...): f's results; without f a scope for <close>. Errors of f pass
** through, with the mode restored. */
static int with_mode(lua_State *L, bool on, const char *name)
{
    la_state *s = la_enter(L);
    if (lua_isnone(L, 1)) return push_scope(L, s, on);
    la_check_callable(L, 1, name);
    la_mode_mark before = la_open_mode(L, s, !on);
    lua_pop(L, 1);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    la_enter(L);
    la_end_mode(L, s, &before);
    if (status != LUA_OK) return lua_error(L);
    return lua_gettop(L);
}

static int fn_no_grad(lua_State *L)
{
    return with_mode(L, false, "no_grad");
}
static int fn_enable_grad(lua_State *L)
{
    return with_mode(L, true, "enable_grad");
}

/* Takes effect at once; the scope it returns restores the mode, if it is
** closed. */
static int fn_set_grad_enabled(lua_State *L)
{
    la_state *s = la_enter(L);
    if (!lua_isboolean(L, 1))
        la_raise_arg(L, 1, "set_grad_enabled", "boolean expected, got %s",
                     la_type_text(L, 1));
    LA_CHECK(L, "set_grad_enabled", la_loop_hold());
    return push_scope(L, s, lua_toboolean(L, 1));
}

static int fn_is_grad_enabled(lua_State *L)
{
    la_enter(L);
    lua_pushboolean(L, la_grad_enabled());
    return 1;
}

/* detect_anomaly(f): errors in backward show where the operation was called. */
static int protected_traceback(lua_State *L)
{
    luaL_traceback(L, L, NULL, 1);
    return 1;
}

/* No error of Lua may leave: the core is in the middle of an operation. NULL
** where there is no memory. */
static char *where_now(la_context *c)
{
    la_state *s = (la_state *)c;        /* its first member */
    lua_State *L = s->modes.thread;
    if (!L || !lua_checkstack(L, 4)) return NULL;
    lua_pushcfunction(L, protected_traceback);
    lua_pcall(L, 0, 1, 0);
    const char *text = lua_tostring(L, -1);
    size_t bytes = text ? strlen(text) + 1 : 0;
    char *copy = text ? la_mem_alloc(bytes) : NULL;
    if (copy) memcpy(copy, text, bytes);
    else la_error_clear();          /* the operation goes on without it */
    lua_pop(L, 1);
    return copy;
}

/* While the mode is on, the state knows which of its threads runs. */
static bool set_anomaly(lua_State *L, la_state *s, bool on)
{
    bool before = s->context.where != NULL;
    s->context.where = on ? where_now : NULL;
    la_settle_modes(L, s);
    return before;
}

#define ANOMALY_NAME "lunarray.anomaly"
typedef struct anomaly {
    bool before, done;
} anomaly;

/* __close, as scope_end. */
static int anomaly_end(lua_State *L)
{
    anomaly *a = luaL_testudata(L, 1, ANOMALY_NAME);
    if (!a)
        return luaL_error(L, "__close: " ANOMALY_NAME " expected, got %s",
                          la_type_text(L, 1));
    la_state *s = la_state_of(L);
    if (s && !a->done) set_anomaly(L, s, a->before);
    a->done = true;
    return 0;
}

static int push_anomaly(lua_State *L, la_state *s)
{
    anomaly *a = lua_newuserdatauv(L, sizeof(*a), 0);
    a->done = true;
    if (la_new_metatable(L, ANOMALY_NAME, "a scope's metatable is locked"))
        la_set_event(L, "__close", anomaly_end);
    la_take_metatable(L);
    a->before = set_anomaly(L, s, true);
    a->done = false;
    return 1;
}

/* Anomaly mode ends with f, or with the scope. It is slow: each recorded
** operation takes a traceback. */
static int fn_detect_anomaly(lua_State *L)
{
    la_state *s = la_enter(L);
    if (lua_isnone(L, 1)) return push_anomaly(L, s);
    la_check_callable(L, 1, "detect_anomaly");
    bool before = set_anomaly(L, s, true);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    la_enter(L);
    set_anomaly(L, s, before);
    if (status != LUA_OK) return lua_error(L);
    return lua_gettop(L);
}

static const la_function functions[] = {
    {"grad", fn_grad, 3}, {"no_grad", fn_no_grad, LA_MANY},
    {"inference_mode", fn_no_grad, LA_MANY},
    {"enable_grad", fn_enable_grad, LA_MANY},
    {"set_grad_enabled", fn_set_grad_enabled, 1},
    {"is_grad_enabled", fn_is_grad_enabled, 0},
    {"detect_anomaly", fn_detect_anomaly, LA_MANY},
    {"grad_graph", la_fn_grad_graph, 2}, {"Function", la_fn_Function, 1},
    {NULL, NULL, 0}
};
static const la_function methods[] = {
    {"requires_grad_", method_requires_grad_, 2},
    {"retain_grad", method_retain_grad, 1}, {"zero_grad", method_zero_grad, 1},
    {"detach_", method_detach_, 1}, {"backward", method_backward, LA_MANY},
    {"register_hook", la_method_register_hook, 2},
    {"register_post_accumulate_grad_hook", la_method_register_after_hook, 2},
    {NULL, NULL, 0}
};
const la_part la_part_grad = {functions, methods};
