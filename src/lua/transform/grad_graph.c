/*
** la.grad_graph(x): what was recorded for x, as a list that Lua reads.
** lua/lunarray/graph.lua gives it its text and its drawings.
**
** Breadth first, by the list itself as the queue: no recursion, as a graph may
** be millions of nodes deep.
*/
#include "lua/attr.h"
#include "lua/transform/autograd.h"
#include "lua/embed.h"

/* Fields that describe the node's first output. */
static void set_output(lua_State *L, const la_node *n)
{
    const la_output_meta *o = n->outputs;
    if (n->noutputs < 1 || !o->sizes) return;
    la_push_shape(L, o->ndim, o->sizes);
    lua_setfield(L, -2, "shape");
    lua_pushstring(L, la_dtype_name((la_dtype)o->dtype));
    lua_setfield(L, -2, "dtype");
}

/* The index of 'n' in the list at 'list'; appended when it is new. 'seen' maps
** nodes to indices. A new entry has its node's address at index 0 until
** fill_inputs visits it. */
static lua_Integer index_of(lua_State *L, la_node *n, int list, int seen)
{
    if (lua_rawgetp(L, seen, n) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushinteger(L, (lua_Integer)lua_rawlen(L, list) + 1);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, seen, n);
        lua_createtable(L, 1, 4);
        lua_pushlightuserdata(L, n);
        lua_rawseti(L, -2, 0);
        lua_pushstring(L, la_node_name(n));
        lua_setfield(L, -2, "name");
        set_output(L, n);
        lua_rawseti(L, list, lua_tointeger(L, -2));
    }
    lua_Integer at = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return at;
}

/* The node at index 'at' gets its inputs; its address is taken away. */
static void fill_inputs(lua_State *L, lua_Integer at, int list, int seen)
{
    lua_rawgeti(L, list, at);
    lua_rawgeti(L, -1, 0);
    la_node *n = lua_touserdata(L, -1);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, -2, 0);
    lua_createtable(L, n->nedges, 0);
    for (int e = 0; e < n->nedges; e++) {
        la_node *from = n->edges[e].node;
        lua_pushinteger(L, from ? index_of(L, from, list, seen) : 0);
        lua_rawseti(L, -2, e + 1);
    }
    lua_setfield(L, -2, "inputs");
    lua_pop(L, 1);
}

/* The nodes behind the tensor in 'box', from the one that made it. */
static void fill_list(lua_State *L, la_tensor_box *box, int list, int seen)
{
    la_edge edge;
    la_tensor *t = box->list[0];
    LA_CHECK(L, "grad_graph", la_gradient_edge(t, &edge));
    if (!edge.node) return;
    la_node_release(edge.node);                 /* the tensor owns it */
    if (t->grad && !t->grad->fn) return;        /* a leaf */
    index_of(L, edge.node, list, seen);
    for (lua_Integer at = 1; at <= (lua_Integer)lua_rawlen(L, list); at++)
        fill_inputs(L, at, list, seen);
}

/* Nodes of the tensors in the table at 'names' (name -> tensor) are called so:
** leaves, and what a tensor in between was made by. */
static void set_labels(lua_State *L, int names, int list, int seen)
{
    for (lua_pushnil(L); lua_next(L, names); lua_pop(L, 1)) {
        la_edge edge;
        la_handle *h = la_to_handle(L, -1);
        if (!h || !h->tensor || lua_type(L, -2) != LUA_TSTRING) continue;
        LA_CHECK(L, "grad_graph", la_gradient_edge(h->tensor, &edge));
        if (!edge.node) continue;
        la_node_release(edge.node);
        if (lua_rawgetp(L, seen, edge.node) == LUA_TNUMBER) {
            lua_rawgeti(L, list, lua_tointeger(L, -1));
            lua_pushvalue(L, -4);
            lua_setfield(L, -2, "label");
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
}

/* graph.<name>(value at 'index') in place of the value there. */
static void pass_through(lua_State *L, const char *name, int index)
{
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.graph");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name);
    lua_pushvalue(L, index);
    lua_call(L, 1, 1);
    lua_replace(L, index);
    lua_pop(L, 1);
}

/* grad_graph(t[, names]): a list of {name, inputs, shape, dtype, label}; the
** first made t, inputs are indices into the list, 0 where nothing flows. */
int la_fn_grad_graph(lua_State *L)
{
    la_enter(L);
    lua_settop(L, 2);
    la_check_tensor(L, 1, "grad_graph");
    if (!lua_isnil(L, 2)) {
        if (lua_type(L, 2) != LUA_TTABLE)
            return la_raise_arg(L, 2, "grad_graph", "table of tensors by name "
                                "or module expected, got %s",
                                la_type_text(L, 2));
        pass_through(L, "names", 2);
        la_enter(L);
    }
    la_tensor_box *box = la_push_box(L, 1);     /* keeps the nodes alive */
    box->list[0] = la_tensor_retain(la_check_tensor(L, 1, "grad_graph"));
    lua_newtable(L);                            /* the list, at 4 */
    lua_newtable(L);                            /* nodes seen, at 5 */
    fill_list(L, box, 4, 5);
    if (lua_istable(L, 2)) set_labels(L, 2, 4, 5);
    lua_pop(L, 1);
    pass_through(L, "new", 4);
    return 1;
}
