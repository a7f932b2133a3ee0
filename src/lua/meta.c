/*
** Metamethods and attributes of a tensor.
**
** One table holds both: a method is a closure, an attribute a light userdata
** that points at its row. __index looks a string up there; every other key is
** an index (lua/bracket.c).
*/
#include <stdio.h>
#include <string.h>

#include "lua/binding.h"
#include "lua/attr.h"
#include "lua/sandbox/sandbox.h"
#include "op/call.h"
#include "tensor/shape.h"
#include "lua/bracket.h"

/* On the top is the attribute, as a light userdata. */
static int read_attribute(lua_State *L)
{
    const la_attr *a = lua_touserdata(L, -1);
    la_enter(L);
    return a->get(L, la_check_tensor(L, 1, a->name));
}

/* x.name and x[key]; upvalue LA_UP_OWN is the table of methods. Every x:f()
** comes by here: the key on the top gives way to what it names. An unknown name
** is nil, as for a table, unless others have it (foreign.c). */
static int meta_index(lua_State *L)
{
    int type = lua_type(L, 2);
    if (type != LUA_TSTRING) return la_bracket_get(L, type);
    if (lua_gettable(L, lua_upvalueindex(LA_UP_OWN)) != LUA_TLIGHTUSERDATA)
        return 1;
    la_fp_mode mode = la_fp_current();
    if (__builtin_expect(!la_fp_traps(mode), 1))
        return la_without_traps(L, mode, read_attribute);
    const la_attr *a = lua_touserdata(L, -1);
    lua_pushstring(L, a->name);         /* the key again, for another call */
    lua_replace(L, 2);
    return la_call_masked(L);
}

static int raise_no_field(lua_State *L)
{
    char quoted[256];
    size_t n;
    const char *key = lua_tolstring(L, 2, &n);
    la_quote(key, n, quoted, sizeof(quoted));
    lua_pushfstring(L, "a tensor has no field '%s' that can be assigned",
                    quoted);
    return la_throw_as(L, quoted, 1);
}

/* __newindex: stack 1 tensor, 2 key, 3 value. Names without a setter raise, so
** that a mistyped attribute is no silent assignment. */
static int write_key(lua_State *L)
{
    la_check_stack(L, la_up_state(L));
    int type = lua_type(L, 2);
    if (type != LUA_TSTRING) return la_bracket_set(L, type);
    lua_pushvalue(L, 2);
    const la_attr *a = NULL;
    if (lua_rawget(L, lua_upvalueindex(LA_UP_OWN)) == LUA_TLIGHTUSERDATA)
        a = lua_touserdata(L, -1);
    if (!a || !a->set)
        return raise_no_field(L);
    la_enter(L);
    return a->set(L, la_check_tensor(L, 1, a->name));
}

static int meta_newindex(lua_State *L) { return la_masked(L, write_key); }

/* The state block outlives the handles: lua_close frees memory after the last
** finalizer. Releasing the tensor may free a whole graph, but runs no Lua
** code. */
static int meta_gc(lua_State *L)
{
    la_handle *h = la_to_handle(L, 1);
    if (!h) return 0;
    h->state->ended++;
    la_tensor_drop(&h->tensor);
    return 0;
}

/* free() and <close>: the handle stays, empty; its finalizer counts it. Data
** that ends here is nothing that the collector has to look for. */
static int method_free(lua_State *L)
{
    la_handle *h = la_to_handle(L, 1);
    if (!h)
        return la_raise_arg(L, 1, "free", "tensor expected, got %s",
                            la_type_text(L, 1));
    la_storage *data = h->tensor ? h->tensor->storage : NULL;
    if (data) la_storage_retain(data);
    la_tensor_drop(&h->tensor);
    if (!data) return 0;
    if (h->slot == 0
        && atomic_load_explicit(&data->refs, memory_order_relaxed) == 1)
        la_uncount_bytes(h->state, (uint64_t)la_storage_bytes(data));
    la_storage_release(data);
    return 0;
}

/* The size of the first dim, as # of the nested table would be. */
static int meta_len(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "#");
    if (t->ndim == 0)
        return luaL_error(L, "#: a 0-dim tensor has no length: x:numel() "
                          "counts elements, x:item() is the value");
    lua_pushinteger(L, la_sizes(t)[0]);
    return 1;
}

/* __eq: whole tensors, one boolean. Lua calls it for two userdata only, where
** the other may be of another library: that is unequal, not an error. */
static int meta_eq(lua_State *L)
{
    la_enter(L);
    la_handle *a = la_to_handle(L, 1), *b = la_to_handle(L, 2);
    if (!a || !b) {
        lua_pushboolean(L, 0);
        return 1;
    }
    la_value results[LA_MAX_RESULTS];
    LA_CHECK(L, "==",
        la_run_many(equal, results, la_check_tensor(L, 1, "=="),
                    la_check_tensor(L, 2, "==")));
    lua_pushboolean(L, results[0].b);
    return 1;
}

/* The number at 'arg' for an order comparison. Detached first: a tensor that
** needs a gradient may be compared, since the result of a comparison has no
** derivative. */
static double one_number(lua_State *L, int arg, const char *name)
{
    la_scalar s;
    la_handle *h = la_to_handle(L, arg);
    if (h) {
        la_tensor *t = la_check_tensor(L, arg, name);
        la_check_read(L, t, name);
        if (t->numel != 1 || la_is_complex((la_dtype)t->dtype))
            luaL_error(L, "%s between tensors needs one real element on each "
                       "side; compare element by element with x:%s(y)", name,
                       name[1] ? "le" : "lt");
        la_tensor *d = NULL;
        LA_CHECK(L, name, la_run(detach, &d, t));
        bool ok = la_tensor_to_scalar(d, &s);
        la_tensor_release(d);
        if (ok) return s.re;
    } else if (la_to_scalar(L, arg, &s)) {
        return s.re;
    }
    la_raise_arg(L, arg, name, "one-element tensor or number expected, got %s",
                 la_type_text(L, arg));
    return 0;
}

static int meta_lt(lua_State *L)
{
    la_enter(L);
    lua_pushboolean(L, one_number(L, 1, "<") < one_number(L, 2, "<"));
    return 1;
}

static int meta_le(lua_State *L)
{
    la_enter(L);
    lua_pushboolean(L, one_number(L, 1, "<=") <= one_number(L, 2, "<="));
    return 1;
}

/* .. gives text where one side is a tensor: "loss " .. x. */
static int meta_concat(lua_State *L)
{
    if (la_to_handle(L, 1) && la_to_handle(L, 2)) {
        lua_pushliteral(L, "'..' makes strings; join tensors with "
                        "la.cat({a, b}, dim)");
        return la_throw_as(L, "concat", 1);
    }
    la_push_shown(L, 1);
    la_push_shown(L, 2);
    lua_concat(L, 2);
    return 1;
}

/* ---- iteration over a dim ---- */

/* The iterator's step; its control variable is the index from 1. Upvalues
** after the usual two: the dim from 0, the tensor's handle. */
static int take_step(lua_State *L)
{
    la_check_stack(L, la_enter(L));
    lua_pushvalue(L, lua_upvalueindex(LA_UP_OWN + 1));
    la_tensor *t = la_check_tensor(L, lua_gettop(L), "iter");
    int64_t dim = lua_tointeger(L, lua_upvalueindex(LA_UP_OWN));
    int64_t i = luaL_optinteger(L, 2, 0);
    if (i < 0 || dim >= t->ndim || i >= la_sizes(t)[dim]) return 0;
    int at = lua_gettop(L);
    lua_pushinteger(L, i + 1);
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    la_tensor *row = NULL;
    t = la_check_tensor(L, at, "iter");     /* finalizers may have run */
    LA_CHECK(L, "iter", la_run(select, &row, t, dim, i));
    la_fill_handle(s, h, row);
    return 2;
}

static int walk_step(lua_State *L) { return la_masked(L, take_step); }

/* The three values of a generic for, of which the closure holds all state. */
static int push_walk(lua_State *L, int64_t dim)
{
    lua_pushvalue(L, lua_upvalueindex(LA_UP_STATE));
    lua_pushvalue(L, lua_upvalueindex(LA_UP_META));
    lua_pushinteger(L, dim);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, walk_step, 4);
    lua_pushnil(L);
    lua_pushinteger(L, 0);
    return 3;
}

/* x:iter([dim]) for "for i, row in ..."; pairs(x) is the same over dim 1. */
static int method_iter(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "iter");
    int64_t dim = lua_isnoneornil(L, 2) ? 1 : la_check_int(L, 2, "iter");
    if (t->ndim == 0)
        return luaL_error(L, "iter: a 0-dim tensor has nothing to walk over");
    int d;
    if (dim == 0)
        return la_raise_arg(L, 2, "iter", "dimension 0: counting starts at 1");
    LA_CHECK(L, "iter", la_wrap_dim(dim > 0 ? dim - 1 : dim, t->ndim, &d));
    return push_walk(L, d);
}

static int meta_pairs(lua_State *L)
{
    lua_settop(L, 1);
    return method_iter(L);
}

static const luaL_Reg metamethods[] = {
    {"__close", method_free},
    {"__eq", meta_eq}, {"__lt", meta_lt}, {"__le", meta_le},
    {"__concat", meta_concat}, {"__pairs", meta_pairs}, {NULL, NULL}
};

static const char *const operators[][2] = {
    {"__add", "add"}, {"__sub", "sub"}, {"__mul", "mul"}, {"__div", "div"},
    {"__idiv", "floor_divide"}, {"__mod", "remainder"}, {"__pow", "pow"},
    {"__unm", "neg"}, {"__band", "bitwise_and"}, {"__bor", "bitwise_or"},
    {"__bxor", "bitwise_xor"}, {"__bnot", "bitwise_not"},
    {"__shl", "bitwise_left_shift"}, {"__shr", "bitwise_right_shift"},
};

/* meta[name] = fn, with the table at 'table' as its own upvalue. */
static void with_table(lua_State *L, int table, lua_CFunction fn, int meta,
                       const char *name)
{
    lua_pushvalue(L, table);
    la_bare_closure(L, fn);
    lua_setfield(L, meta, name);
}

/* All indices are absolute. 'methods' holds functions and, as light userdata,
** the attributes. */
void la_open_meta(lua_State *L, int meta, int methods)
{
    for (const luaL_Reg *r = metamethods; r->name; r++) {
        lua_pushnil(L);
        (r->func == method_free ? la_ending_closure : la_closure)(L, r->func);
        lua_setfield(L, meta, r->name);
    }
    with_table(L, methods, meta_gc, meta, "__gc");      /* compute nothing */
    with_table(L, methods, meta_len, meta, "__len");
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        la_push_operator(L, operators[i][1], operators[i][0]);
        lua_setfield(L, meta, operators[i][0]);
    }
    with_table(L, methods, meta_index, meta, "__index");
    with_table(L, methods, la_bracket_call, meta, "__call");
    with_table(L, methods, meta_newindex, meta, "__newindex");
    la_push_function(L, &la_tostring_row);
    lua_setfield(L, meta, "__tostring");
    lua_pushliteral(L, "lunarray.Tensor");
    lua_setfield(L, meta, "__name");
    for (const la_attr *a = la_attributes; a->name; a++) {
        lua_pushlightuserdata(L, (void *)a);
        lua_setfield(L, methods, a->name);
    }
}

static const la_function own_methods[] = {
    {"free", method_free, 1}, {"iter", method_iter, LA_MANY}, {NULL, NULL, 0}
};
const la_part la_part_meta = {NULL, own_methods};
