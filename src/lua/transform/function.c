/*
** la.Function: an operation whose forward and backward are Lua functions.
**
** A call runs forward(ctx, ...) without recording and gives its results a node
** that holds ctx. Tensors given to ctx:save_for_backward are kept by the node
** with their versions, so that a saved result makes no cycle.
**
** Ownership: the node owns the saved tensors and its tie; the tie holds ctx and
** backward in the registry (lua/transform/graph_refs.c). A ctx never points at
** its node, which may die first: methods of ctx find the node in the list of
** backward calls that are running.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "grad/graph.h"
#include "lua/transform/autograd.h"
#include "program/program.h"
#include "tensor/names.h"
#include "vmap/vmap.h"

#define CTX_NAME "lunarray.ctx"
#define MAX_SAVED 65536

/* Under its address stands the list of saved values in a ctx. */
static const char saved_key;

enum { CTX, BACKWARD };         /* what the node's tie holds */

typedef struct function_node {
    la_tie tie;
    int ninputs;                /* arguments of the call */
    int nsaved;
    la_saved *saved;
    uint8_t *is_tensor;         /* [ninputs], behind the node's own part */
} function_node;

/* A backward that runs, in a list from the innermost outwards. */
typedef struct la_function_call {
    la_node *node;
    la_tensor **grads, **out;
    struct la_function_call *outer;
    la_status status;           /* of what backward returned */
    la_mode_mark mode;          /* the engine's, and whether it is open */
    bool is_open;
} call;

/* ---- ctx ---- */

/* ctx:save_for_backward(...). Raises for what is neither tensor nor nil. A
** second call replaces the list of the first. The values move into the node
** when forward has returned. */
static int ctx_save(lua_State *L)
{
    int n = lua_gettop(L) - 1;
    la_check_table(L, 1, "save_for_backward");
    if (n > MAX_SAVED)
        return luaL_error(L, "save_for_backward: at most %d values", MAX_SAVED);
    lua_createtable(L, n, 1);
    for (int i = 0; i < n; i++) {
        if (!lua_isnil(L, i + 2)) la_check_tensor(L, i + 2,
                                                  "save_for_backward");
        lua_pushvalue(L, i + 2);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, n);
    lua_setfield(L, -2, "n");
    lua_rawsetp(L, 1, &saved_key);
    return 0;
}

/* Push the saved values anew, as handles; a result comes back attached to the
** node. Raises LA_EGRAD for one that was changed in place or freed since. */
static int unpack_saved(lua_State *L, function_node *fn, la_node *n)
{
    luaL_checkstack(L, fn->nsaved + 4, "too many saved tensors");
    for (int i = 0; i < fn->nsaved; i++) {
        la_tensor *t = NULL;
        if (!fn->saved[i].data && !fn->saved[i].is_result) {
            lua_pushnil(L);
            continue;
        }
        la_status status = la_unsave(&fn->saved[i], n, &t);
        if (status) return la_raise(L, "saved", status);
        la_push_borrowed(L, fn->tie.state, t);
        la_tensor_release(t);
    }
    return fn->nsaved;
}

/* The node whose backward runs with the ctx at stack index 1, if any: only
** such a node is known to be alive. */
static la_node *running_node(lua_State *L)
{
    la_state *s = la_state_of(L);
    for (call *c = s ? s->functions : NULL; c; c = c->outer) {
        function_node *fn = la_node_extra(c->node);
        la_tie_push(L, &fn->tie, CTX);
        bool same = lua_rawequal(L, 1, -1);
        lua_pop(L, 1);
        if (same) return c->node;
    }
    return NULL;
}

/* How many values the saved list at 'list' has. */
static int saved_count(lua_State *L, int list)
{
    lua_pushliteral(L, "n");
    lua_rawget(L, list);
    lua_Integer n = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return n < 0 || n > MAX_SAVED ? 0 : (int)n;
}

/* ctx:saved(): what was saved; in forward the values themselves. In backward
** they come from the node, each call with new handles. Once they have moved
** there, none are left outside of backward. */
static int ctx_saved(lua_State *L)
{
    la_check_table(L, 1, "saved");
    la_node *n = running_node(L);
    if (n) return unpack_saved(L, la_node_extra(n), n);
    if (lua_rawgetp(L, 1, &saved_key) != LUA_TTABLE) return 0;
    int at = lua_gettop(L), count = saved_count(L, at);
    luaL_checkstack(L, count, "too many saved tensors");
    for (int i = 1; i <= count; i++) lua_rawgeti(L, at, i);
    return count;
}

/* ctx.name for a field that nobody has set. */
static int ctx_missing(lua_State *L) { return la_missing_name(L, "ctx", 1); }

static void push_ctx(lua_State *L)
{
    static const la_function methods[] = {
        {"save_for_backward", ctx_save, LA_MANY}, {"saved", ctx_saved, 1},
        {NULL, NULL, 0}};
    lua_createtable(L, 0, 4);
    if (la_new_metatable(L, CTX_NAME, "a context's metatable is locked")) {
        la_set_methods(L, methods);
        lua_getfield(L, -1, "__index");
        lua_createtable(L, 0, 1);
        la_set_event(L, "__index", ctx_missing);
        la_set_own_metatable(L, -2);
        lua_pop(L, 1);
    }
    la_take_metatable(L);
}

/* ---- the node ---- */

/* The gradients from stack index 'base' + 1 on, to the edges. One per argument
** of forward, of which only tensors have an edge; missing ones and nil are no
** gradient. The references in c->out belong to the engine. */
static la_status take_gradients(lua_State *L, call *c, int base)
{
    function_node *fn = la_node_extra(c->node);
    int given = lua_gettop(L) - base, e = 0;
    if (given > fn->ninputs)
        return la_error(LA_EGRAD, "custom backward: backward returned %d "
                        "gradients for %d inputs", given, fn->ninputs);
    for (int k = 0; k < fn->ninputs; k++) {
        if (!fn->is_tensor[k]) continue;
        int at = base + 1 + k, edge = e++;
        if (k >= given || lua_isnil(L, at)) continue;
        la_handle *h = la_to_handle(L, at);
        if (!h || !h->tensor)
            return la_error(LA_EGRAD, "custom backward: backward: result %d: "
                            "tensor or nil expected, got %s", k + 1,
                            h ? "a freed tensor" : luaL_typename(L, at));
        const la_edge *to = &c->node->edges[edge];
        if (to->node && la_is_complex((la_dtype)h->tensor->dtype)
            && !la_is_complex((la_dtype)to->node->outputs[to->slot].dtype))
            return luaL_error(L, "backward: result %d: the gradient of a real "
                              "input is complex", k + 1);
        c->out[edge] = la_tensor_retain(h->tensor);
        if (to->node)
            LA_TRY(la_validate_grad(&to->node->outputs[to->slot],
                                    la_node_name(c->node), k + 1,
                                    &c->out[edge]));
    }
    return LA_OK;
}

/* Protected body: backward(ctx, grads...), results to the edges. The stack
** holds 1 the call's frame; results begin at 2. */
static int protected_backward(lua_State *L)
{
    call *c = lua_touserdata(L, 1);
    function_node *fn = la_node_extra(c->node);
    la_check_stack(L, fn->tie.state);
    luaL_checkstack(L, c->node->noutputs + fn->ninputs + 8, "too many results");
    c->mode = la_open_mode(L, fn->tie.state, fn->tie.state->context.no_grad);
    c->is_open = true;
    lua_pop(L, 1);
    la_tie_push(L, &fn->tie, BACKWARD);
    la_tie_push(L, &fn->tie, CTX);
    for (int k = 0; k < c->node->noutputs; k++) {
        if (c->grads[k]) la_push_borrowed(L, fn->tie.state, c->grads[k]);
        else lua_pushnil(L);
    }
    lua_call(L, 1 + c->node->noutputs, LUA_MULTRET);
    c->status = take_gradients(L, c, 1);
    return 0;
}

/* The node's 'run': called by the engine, outside of any protected call. The
** grad mode is restored, since an error may have left it changed. */
static la_status run_function(la_node *n, la_tensor **grads, la_tensor **out)
{
    function_node *fn = la_node_extra(n);
    la_state *s = fn->tie.state;
    lua_State *L = NULL;
    LA_TRY(la_tie_enter(&fn->tie, &L));
    call c = {.node = n, .grads = grads, .out = out, .outer = s->functions};
    s->functions = &c;
    lua_pushcfunction(L, protected_backward);
    lua_pushlightuserdata(L, &c);
    int status = lua_pcall(L, 1, 0, 0);
    s->functions = c.outer;
    la_make_current(&s->context);
    if (c.is_open) la_end_mode(L, s, &c.mode);
    return status == LUA_OK ? c.status
                            : la_keep_error(L, s, "custom backward");
}

/* Without retain_graph the engine calls it after the node ran. A cleared value
** is marked, so that unpack_saved raises instead of giving nil. */
static void clear_function(la_node *n)
{
    function_node *fn = la_node_extra(n);
    for (int i = 0; i < fn->nsaved; i++) {
        fn->saved[i].is_result |= fn->saved[i].data != NULL;
        la_saved_clear(&fn->saved[i]);
    }
}

/* The values were released by clear_function before. */
static void destroy_function(la_node *n)
{
    function_node *fn = la_node_extra(n);
    la_tie_end(&fn->tie);
    if (fn->saved)
        la_mem_free(fn->saved, (size_t)fn->nsaved * sizeof(la_saved));
}

static void visit_function(const la_node *n, la_visitor *v)
{
    const function_node *fn = la_node_extra((la_node *)n);
    for (int i = 0; i < fn->nsaved; i++) la_visit_saved(&fn->saved[i], v);
}

static const la_node_class class_function = {
    "CustomFunction", run_function, clear_function, destroy_function,
    visit_function
};

la_tie *la_tie_of_node(la_node *n)
{
    if (n->class != &class_function) return NULL;
    return &((function_node *)la_node_extra(n))->tie;
}

/* ---- the call: stack 1 the function's table, 2.. the arguments ---- */

static bool needs_grad(lua_State *L, int top)
{
    bool any = false;
    for (int at = 2; at <= top && !any; at++) {
        la_handle *h = la_to_handle(L, at);
        any = h && h->tensor && la_requires_grad(la_vmap_root(h->tensor));
    }
    return any && la_grad_enabled();
}

/* A node has ordinary tensors around it; what is behind a batch is not its to
** see. */
static void refuse_batches(lua_State *L, int last)
{
    for (int at = 2; at <= last; at++) {
        la_handle *h = la_to_handle(L, at);
        if (h && h->tensor && (h->tensor->flags & LA_F_BATCHED))
            luaL_error(L, "Function: inside vmap a function with a backward of "
                       "its own can't be differentiated: make it of "
                       "operations, or call it outside");
    }
}

static int count_tensors(lua_State *L, int top)
{
    int n = 0;
    for (int at = 2; at <= top; at++) {
        la_handle *h = la_to_handle(L, at);
        n += h && h->tensor;
    }
    return n;
}

/* ctx.needs_input_grad: a list of booleans, one per argument. */
static void push_needs(lua_State *L, int top)
{
    lua_createtable(L, top - 1, 0);
    for (int at = 2; at <= top; at++) {
        la_handle *h = la_to_handle(L, at);
        lua_pushboolean(L, h && h->tensor && la_requires_grad(h->tensor));
        lua_rawseti(L, -2, at - 1);
    }
}

/* Is 't' the tensor of one of the handles at first..last? */
static bool among_results(lua_State *L, int first, int last, la_tensor *t)
{
    for (int at = first; at <= last; at++) {
        la_handle *h = la_to_handle(L, at);
        if (h && h->tensor == t) return true;
    }
    return false;
}

/* Move the list of ctx into the node, which owns it from there on. A result is
** saved without its history, or the node would keep itself alive. */
static la_status save_all(lua_State *L, la_node *n, int ctx, int first,
                          int last)
{
    function_node *fn = la_node_extra(n);
    if (lua_rawgetp(L, ctx, &saved_key) != LUA_TTABLE) return LA_OK;
    int list = lua_gettop(L), count = saved_count(L, list);
    if (count == 0) return LA_OK;
    fn->saved = la_mem_zalloc((size_t)count * sizeof(la_saved));
    if (!fn->saved) return LA_ENOMEM;
    fn->nsaved = count;
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, list, i + 1);
        la_handle *h = la_to_handle(L, -1);
        if (h && h->tensor) {
            bool result = among_results(L, first, last, h->tensor);
            LA_TRY(la_saved_set(&fn->saved[i], h->tensor, result));
        }
        lua_pop(L, 1);
    }
    lua_pushnil(L);
    lua_rawsetp(L, ctx, &saved_key);
    return LA_OK;
}

/* 'e' stops at the number of edges that was counted: a finalizer can't add
** tensors, but it can free some, and then fewer edges are set. */
static la_status function_add_edges(lua_State *L, la_node *n, int top)
{
    function_node *fn = la_node_extra(n);
    int e = 0;
    for (int at = 2; at <= top; at++) {
        la_handle *h = la_to_handle(L, at);
        if (!h || !h->tensor || e == n->nedges) continue;
        fn->is_tensor[at - 2] = 1;
        LA_TRY(la_gradient_edge(h->tensor, &n->edges[e++]));
    }
    return LA_OK;
}

/* A view of all of 't' with its names. */
static la_status view_whole(la_tensor *t, la_tensor **out)
{
    LA_TRY(la_tensor_view(t, t->ndim, la_sizes(t), la_strides(t), t->offset,
                          out));
    (*out)->names = la_names_retain(t->names);
    return LA_OK;
}

/* A result that is an argument is replaced by a view of it. Otherwise the
** argument itself would get the node as its history. Raises for want of
** memory. */
static la_status part_results(lua_State *L, int top, int first, int last)
{
    for (int at = first; at <= last; at++) {
        la_handle *h = la_to_handle(L, at);
        if (!h || !h->tensor || !among_results(L, 2, top, h->tensor)) continue;
        la_tensor *other = NULL;
        la_handle *fresh = la_new_handle(L, la_up_state(L));
        if (h->tensor) LA_TRY(view_whole(h->tensor, &other));
        fresh->tensor = other;
        lua_replace(L, at);
    }
    return LA_OK;
}

/* Results get their history; a view among them keeps it until its memory is
** changed, and has none from then on (grad/view_history.c). Integer and boolean
** results get none. Their slots still count, so that gradients keep the order
** of the results. */
static la_status function_attach(lua_State *L, la_node *n, int first, int last)
{
    for (int at = first; at <= last; at++) {
        la_handle *h = la_to_handle(L, at);
        if (!h || !h->tensor) continue;
        char kind = la_dtype_kind((la_dtype)h->tensor->dtype);
        LA_TRY(la_node_output(n, at - first, h->tensor));
        if (h->tensor->base) h->tensor->flags |= LA_F_CUSTOM_VIEW;
        if (kind == 'f' || kind == 'c')
            LA_TRY(la_set_history(h->tensor, n, at - first));
    }
    return LA_OK;
}

/* Steps that may raise come before the node is there: nobody else owns it.
** Tensors in ctx live as long as it, whatever scope they were made in. On
** failure the node dies with what it owns; the results stay tensors without
** history. */
static la_status function_record(lua_State *L, int top, int ctx, int first,
                                 int last)
{
    la_node *n;
    size_t inputs = (size_t)(top - 1);
    LA_TRY(part_results(L, top, first, last));
    la_keep_value(L, la_up_state(L), ctx);
    lua_pushvalue(L, ctx);
    int ctx_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_getfield(L, 1, "backward");
    int backward_ref = luaL_ref(L, LUA_REGISTRYINDEX);
    la_record_function();
    la_status status = la_node_new(&class_function, count_tensors(L, top),
                                   last - first + 1,
                                   sizeof(function_node) + inputs, &n);
    if (status) {
        luaL_unref(L, LUA_REGISTRYINDEX, ctx_ref);
        luaL_unref(L, LUA_REGISTRYINDEX, backward_ref);
        return status;
    }
    function_node *fn = la_node_extra(n);
    la_tie_set(&fn->tie, la_up_state(L), ctx_ref, backward_ref);
    fn->ninputs = top - 1;
    fn->is_tensor = (uint8_t *)(fn + 1);
    status = function_add_edges(L, n, top);
    if (!status) status = save_all(L, n, ctx, first, last);
    lua_settop(L, last);
    if (!status) status = function_attach(L, n, first, last);
    la_node_release(n);
    return status;
}

/* Stack: 1 the callable, 2..top the arguments, top + 1 ctx, then the results.
** forward runs with recording off; its errors pass through unchanged. */
static int function_call(lua_State *L)
{
    la_state *s = la_enter(L);
    la_collect_ties(L, s);
    int top = lua_gettop(L);
    bool recording = needs_grad(L, top);
    push_ctx(L);
    int ctx = top + 1;
    push_needs(L, top);
    lua_setfield(L, ctx, "needs_input_grad");
    lua_getfield(L, 1, "forward");
    lua_pushvalue(L, ctx);
    luaL_checkstack(L, top + 8, "too many arguments");
    for (int at = 2; at <= top; at++) lua_pushvalue(L, at);
    la_mode_mark before = la_open_mode(L, s, true);
    lua_pop(L, 1);
    int failed = lua_pcall(L, top, LUA_MULTRET, 0);
    la_enter(L);
    la_end_mode(L, s, &before);
    if (failed) return lua_error(L);
    int last = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK + last - ctx, "too many results");
    if (recording) refuse_batches(L, last);
    if (recording && last > ctx) {
        la_status status = function_record(L, top, ctx, ctx + 1, last);
        if (status) return la_raise(L, "Function", status);
    }
    return last - ctx;
}

/* la.Function{forward = f, backward = g}: callable. The callable is a new table
** with a metatable of its own; the definition may be changed later without
** effect on it. */
int la_fn_Function(lua_State *L)
{
    la_check_table(L, 1, "Function");
    if (lua_getfield(L, 1, "forward") != LUA_TFUNCTION
        || lua_getfield(L, 1, "backward") != LUA_TFUNCTION)
        return luaL_error(L, "Function: a table with the functions forward and "
                          "backward expected");
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "forward");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "backward");
    lua_createtable(L, 0, 2);
    lua_pushnil(L);
    la_closure(L, function_call);
    lua_setfield(L, -2, "__call");
    lua_pushliteral(L, "a Function's metatable is locked");
    lua_setfield(L, -2, "__metatable");
    la_set_own_metatable(L, -2);
    return 1;
}
