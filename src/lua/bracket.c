/*
** Reading of index keys: x[key], x[key] = value, x(i, j).
**
** A key is read into items while Lua code may still run (metamethods of
** tables). Nothing is owned then: index tensors stay anchored on the Lua stack,
** and are taken out of their handles last of all. What the items mean, and all
** that is done with them, is op/index/key.c.
*/
#include <string.h>

#include "lua/binding.h"
#include "lua/bracket.h"
#include "op/index/key.h"
#include "tensor/scalar.h"

/* Never cleared as a whole: eight kilobytes. Items are set up to n, handles
** only where the item is a tensor. */
typedef struct key {
    int n;
    bool has_tensors;
    la_index_item items[LA_MAX_ITEMS];
    la_handle *handles[LA_MAX_ITEMS];   /* of the items that are tensors */
} key;

/* ---- reading a key: may raise, owns nothing ---- */

/* Raises unless it is a number with an integral value; 'what' is for the
** text. */
static int64_t integer_at(lua_State *L, int at, const char *what)
{
    int ok;
    int64_t v = lua_tointegerx(L, at, &ok);
    if (lua_type(L, at) != LUA_TNUMBER)
        return luaL_error(L, "index: %s: number expected, got %s", what,
                          la_type_text(L, lua_absindex(L, at)));
    if (!ok)
        return luaL_error(L, "index: %s: number has no integer representation",
                          what);
    return v;
}

/* Entry i of a table, whose type is returned; 'plain' ones have no __index. */
static inline int push_entry(lua_State *L, int table, int64_t i, bool plain)
{
    return plain ? lua_rawgeti(L, table, i) : lua_geti(L, table, i);
}

/* Field i of the table; false for nil. */
static bool range_field(lua_State *L, int table, int i, bool plain,
                        const char *what, int64_t *out)
{
    bool given = push_entry(L, table, i, plain) != LUA_TNIL;
    if (given) *out = integer_at(L, -1, what);
    lua_pop(L, 1);
    return given;
}

/* Length of the table by '#', without asking for metamethods it has not
** ('plain'). With a metatable luaL_len may run __len, and the reads that follow
** __index. */
static int64_t bracket_length(lua_State *L, int table, bool *plain)
{
    *plain = !lua_getmetatable(L, table);
    if (*plain) return (int64_t)lua_rawlen(L, table);
    lua_pop(L, 1);
    return luaL_len(L, table);
}

/* {}, {first, last}, {first, last, step}; the ends may be nil. */
static void bracket_read_range(lua_State *L, int table, la_index_item *it)
{
    bool plain;
    int64_t more = bracket_length(L, table, &plain);
    *it = (la_index_item){.kind = LA_ITEM_RANGE, .step = 1};
    it->has_first = range_field(L, table, 1, plain, "first", &it->first);
    it->has_last = range_field(L, table, 2, plain, "last", &it->last);
    /* behind a length of 2 is nothing */
    bool has_step = !(plain && more == 2)
        && range_field(L, table, 3, plain, "step", &it->step);
    if (more > 3)
        luaL_error(L, "index: a range {first, last, step} has at most 3 "
                   "numbers, got %d; give a list of positions as a tensor: "
                   "la.tensor{...}", (int)more);
    if (it->has_first && !it->has_last && !has_step && more == 1)
        luaL_error(L, "index: the range {%d} could mean the one position %d "
                   "(write %d without braces) or all from there on (write "
                   "{%d, -1})", (int)it->first, (int)it->first, (int)it->first,
                   (int)it->first);
}

/* Append what is at stack index 'at' to the key. A tensor leaves one copy on
** the stack: a list with __index may have made it just for this access, and
** nothing else would keep it. */
static void read_item(lua_State *L, int at, key *k)
{
    la_index_item *it = &k->items[k->n];
    if (k->n++ >= LA_MAX_ITEMS)
        luaL_error(L, "index: more than %d entries", LA_MAX_ITEMS);
    *it = (la_index_item){.kind = LA_ITEM_INTEGER};
    switch (lua_type(L, at)) {
    case LUA_TNUMBER: it->first = integer_at(L, at, "position"); return;
    case LUA_TTABLE: bracket_read_range(L, at, it); return;
    case LUA_TSTRING:
        it->kind = LA_ITEM_ELLIPSIS;
        if (strcmp(lua_tostring(L, at), "...") == 0) return;
        break;
    default:
        it->kind = LA_ITEM_TENSOR;
        k->handles[k->n - 1] = la_to_handle(L, at);
        if (k->handles[k->n - 1]) {
            k->has_tensors = true;
            luaL_checkstack(L, 8, "too many indices");
            lua_pushvalue(L, at);       /* stays: an anchor */
            return;
        }
        it->kind = LA_ITEM_NEWAXIS;
        if (luaL_testudata(L, at, LA_NEWAXIS_NAME)) return;
    }
    luaL_error(L, "index: number, range {first, last}, tensor, \"...\" or "
               "la.newaxis expected at position %d, got %s", k->n,
               la_type_text(L, at));
}

/* Leaves the tensors among the entries on the stack, nothing else. */
static void bracket_read_list(lua_State *L, int table, key *k)
{
    bool plain;
    int64_t n = bracket_length(L, table, &plain);
    if (n > LA_MAX_ITEMS)
        luaL_error(L, "index: more than %d entries", LA_MAX_ITEMS);
    int at = lua_gettop(L) + 1;
    for (int64_t i = 1; i <= n; i++) {
        push_entry(L, table, i, plain);
        read_item(L, at, k);
        if (k->items[k->n - 1].kind == LA_ITEM_TENSOR) at = lua_gettop(L) + 1;
        else lua_pop(L, 1);
    }
}

/* A table is always the list of entries, so that x[{1, 2}] is an element and
** not a range: a range is {{1, 2}}. */
static void bracket_read_key(lua_State *L, int at, key *k)
{
    k->n = 0;
    k->has_tensors = false;
    if (lua_type(L, at) == LUA_TTABLE) bracket_read_list(L, at, k);
    else read_item(L, at, k);
}

/* ---- keys of integers alone ---- */

/* Number of integers in the key at 'at', which are in 'point' then: an integer,
** or a table of up to LA_MAX_POINT without a metatable. 0 for all others, and
** the stack is as before. Runs no Lua code. */
static int read_point(lua_State *L, int at, int type, int64_t *point)
{
    int whole = 0;
    if (type == LUA_TNUMBER) {
        point[0] = lua_tointegerx(L, at, &whole);
        return whole;
    }
    if (type != LUA_TTABLE || lua_rawlen(L, at) - 1u >= LA_MAX_POINT)
        return 0;
    if (lua_getmetatable(L, at)) {
        lua_pop(L, 1);
        return 0;
    }
    int n = (int)lua_rawlen(L, at), top = lua_gettop(L), i = 0;
    for (whole = 1; whole && i < n; i++) {
        whole = lua_rawgeti(L, at, i + 1) == LUA_TNUMBER;
        if (whole) point[i] = lua_tointegerx(L, -1, &whole);
    }
    lua_settop(L, top);
    return whole ? n : 0;
}

/* The arguments from 2 on as a point, as read_point has it. */
static int read_call_point(lua_State *L, int64_t *point)
{
    int n = lua_gettop(L) - 1, whole;
    if (n - 1u >= LA_MAX_POINT) return 0;
    for (int i = 0; i < n; i++) {
        if (lua_type(L, i + 2) != LUA_TNUMBER) return 0;
        point[i] = lua_tointegerx(L, i + 2, &whole);
        if (!whole) return 0;
    }
    return n;
}

/* ---- the metamethods: no Lua code runs once the tensors are taken ---- */

/* Takes borrowed tensors out of handles. Until the end of the operation nothing
** may allocate in Lua. */
static la_status bracket_take_tensors(key *k)
{
    for (int i = 0; i < k->n; i++) {
        if (k->items[i].kind != LA_ITEM_TENSOR) continue;
        k->items[i].tensor = k->handles[i]->tensor;
        if (!k->items[i].tensor)
            return la_error(LA_ESTATE, "an index tensor was freed");
    }
    return LA_OK;
}

/* Returns 1 with the handle 'h' on the top of the stack, or raises. */
static int bracket_finish(lua_State *L, la_state *s, la_handle *h,
                          la_status status, la_tensor *out)
{
    if (status) return la_raise(L, "index", status);
    la_fill_handle(s, h, out);
    la_pace(L, s);
    return 1;
}

/* The handles are looked up anew each time: finalizers may have run. */
static la_status read_key_of(lua_State *L, key *k, la_tensor **out)
{
    la_tensor *x = la_check_tensor(L, 1, "index");
    if (k->has_tensors) LA_TRY(bracket_take_tensors(k));
    return la_index_get(x, k->n, k->items, out);
}

/* Push x[key]; once more after a full collection where there is no memory, as
** dead tensors may hold it. */
static int bracket_get(lua_State *L, key *k)
{
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    la_tensor *out = NULL;
    la_status status = read_key_of(L, k, &out);
    if (__builtin_expect(status == LA_ENOMEM, 0) && la_collect_all(L, s))
        status = read_key_of(L, k, &out);
    return bracket_finish(L, s, h, status, out);
}

/* Kept out of line: the key's eight kilobytes of stack are for this path
** alone. */
static __attribute__((noinline)) int get_any(lua_State *L)
{
    key k;
    la_check_stack(L, la_enter(L));
    bracket_read_key(L, 2, &k);
    return bracket_get(L, &k);
}

static la_status get_point(lua_State *L, int n, const int64_t *point,
                           la_tensor **out)
{
    return la_index_get_at(la_check_tensor(L, 1, "index"), n, point, out);
}

/* Push x[point]. The state comes with the tensor: an upvalue would be a call
** more. */
static int push_point(lua_State *L, la_state *s, int n, const int64_t *point)
{
    la_tensor *out = NULL;
    la_check_stack(L, s);
    la_make_current(&s->context);
    la_use_modes(L, s);
    la_handle *h = la_new_handle(L, s);
    la_status status = get_point(L, n, point, &out);
    if (__builtin_expect(status == LA_ENOMEM, 0) && la_collect_all(L, s))
        status = get_point(L, n, point, &out);
    return bracket_finish(L, s, h, status, out);
}

/* Integers take the short way: no key is built, and as nothing is computed,
** floating-point exceptions need no mask. */
int la_bracket_get(lua_State *L, int type)
{
    int64_t point[LA_MAX_POINT];
    la_handle *from = la_to_handle(L, 1);
    int n = from ? read_point(L, 2, type, point) : 0;
    return n ? push_point(L, from->state, n, point) : la_masked(L, get_any);
}

/* z:imag() gets the attribute and calls it with z. Where Lua says that the call
** was one of a method, it is meant so: a tensor is indexed through a name of
** its own. */
static void refuse_attribute(lua_State *L)
{
    lua_Debug call;
    if (!lua_getstack(L, 0, &call) || !lua_getinfo(L, "n", &call)
        || !call.name || !call.namewhat || strcmp(call.namewhat, "method"))
        return;
    luaL_error(L, "'%s' is no method but an attribute: write x.%s, without "
               "parentheses", call.name, call.name);
}

static __attribute__((noinline)) int call_any(lua_State *L)
{
    key k;
    la_check_stack(L, la_enter(L));
    if (lua_gettop(L) == 2 && lua_type(L, 2) == LUA_TUSERDATA)
        refuse_attribute(L);
    k.n = 0;
    k.has_tensors = false;
    for (int at = 2, top = lua_gettop(L); at <= top; at++) read_item(L, at, &k);
    return bracket_get(L, &k);
}

/* Like x[{i, j, ...}] without the table. */
int la_bracket_call(lua_State *L)
{
    int64_t point[LA_MAX_POINT];
    la_handle *x = la_to_handle(L, 1);
    int n = x ? read_call_point(L, point) : 0;
    return n ? push_point(L, x->state, n, point) : la_masked(L, call_any);
}

/* x[key] = value, the tensor of 'h' or the scalar where that is NULL. */
static la_status bracket_put(lua_State *L, key *k, la_handle *h,
                             const la_scalar *scalar)
{
    la_tensor *x = la_check_tensor(L, 1, "index");
    la_tensor *value = h ? la_check_tensor(L, 3, "index") : NULL;
    if (k->has_tensors) LA_TRY(bracket_take_tensors(k));
    return la_index_put(x, k->n, k->items, value, scalar);
}

/* Kept out of line, as get_any is. */
static __attribute__((noinline)) int set_any(lua_State *L, la_handle *h,
                                             const la_scalar *scalar)
{
    key k;
    bracket_read_key(L, 2, &k);
    la_status status = bracket_put(L, &k, h, scalar);
    if (__builtin_expect(status == LA_ENOMEM, 0)
        && la_collect_all(L, la_up_state(L)))
        status = bracket_put(L, &k, h, scalar);
    return status ? la_raise(L, "index", status) : 0;
}

static la_status put_point(lua_State *L, int n, const int64_t *point,
                           const la_scalar *scalar)
{
    return la_index_put_at(la_check_tensor(L, 1, "index"), n, point, scalar);
}

/* __newindex with stack 1 tensor, 2 key, 3 value. Values that are scalars go to
** an element without a key being built. Nothing is returned to Lua. */
int la_bracket_set(lua_State *L, int type)
{
    int64_t point[LA_MAX_POINT];
    la_scalar scalar;
    la_enter(L);
    la_check_tensor(L, 1, "index");
    la_handle *h = la_to_handle(L, 3);
    if (!h && !la_to_scalar(L, 3, &scalar))
        return la_raise_arg(L, 3, "index", "number or tensor expected as the "
                            "value, got %s", la_operand_text(L, 3));
    int n = h ? 0 : read_point(L, 2, type, point);
    if (!n) return set_any(L, h, &scalar);
    la_status done = put_point(L, n, point, &scalar);
    if (__builtin_expect(done == LA_ENOMEM, 0)
        && la_collect_all(L, la_up_state(L)))
        done = put_point(L, n, point, &scalar);
    return done ? la_raise(L, "index", done) : 0;
}

/* ---- constants ---- */

static int newaxis_text(lua_State *L)
{
    lua_pushliteral(L, LA_NEWAXIS_NAME);
    return 1;
}

/* newaxis is a userdata: no other value can be mistaken for it. */
void la_open_index(lua_State *L, int lib)
{
    lua_newuserdatauv(L, 0, 0);
    la_new_metatable(L, LA_NEWAXIS_NAME, NULL);
    la_set_event(L, "__tostring", newaxis_text);
    la_take_metatable(L);
    lua_setfield(L, lib, "newaxis");
}

const la_part la_part_index = {NULL, NULL};
