/*
** The quick way through the arguments of nearly every call: by position,
** tensors, numbers, booleans, dtypes, whole numbers and lists of them. What it
** does not know (names, other lists, keywords, nil, words, any argument error)
** it leaves to la_parse, which reads everything again and has the messages. The
** Lua stack is as before then, and needs no check for the results' handles.
*/
#include "lua/binding.h"
#include "op/value.h"

/* All readers: false leaves the decision to la_parse. They convert nothing,
** call no metamethod, allocate nothing and raise nothing. */
static inline bool read_int(lua_State *L, int at, int64_t *out)
{
    if (!lua_isinteger(L, at)) return false;
    *out = lua_tointeger(L, at);
    return true;
}

/* Dims and indices count from 1 for users and from 0 below; 0 counts none. */
static inline bool read_counted(lua_State *L, int at, int64_t *out)
{
    if (!lua_isinteger(L, at)) return false;
    int64_t v = lua_tointeger(L, at);
    *out = v - (v > 0);
    return v != 0;
}

/* Only the handle is noted, the tensor is read at the call itself. 'self'
** refuses numbers. Booleans and generators are left to la_parse. */
static inline bool read_tensor(lua_State *L, int at, bool self, la_value *v,
                               la_handle **handle)
{
    la_handle *h = la_to_handle(L, at);
    *handle = h;
    v->tag = LA_VTENSOR;
    if (h) return h->tensor != NULL;
    v->tag = LA_VSCALAR;
    if (self || lua_type(L, at) != LUA_TNUMBER) return false;
    la_read_number(L, at, &v->scalar);
    return true;
}

/* The arguments from 'at' to 'last', as one list. false also where the pool is
** full; nothing is taken from it then. */
static bool read_ints(lua_State *L, int at, int last, bool counted,
                      la_call_args *out, la_value *v)
{
    int n = last - at + 1;
    int64_t *list = out->pool + out->used;
    if (n > LA_POOL_INTS - out->used) return false;
    for (int i = 0; i < n; i++)
        if (!(counted ? read_counted(L, at + i, &list[i])
                      : read_int(L, at + i, &list[i]))) return false;
    out->used += n;
    v->tag = LA_VINTS;
    v->ints.list = list;
    v->ints.n = n;
    return true;
}

/* Pop the n slots of a table walk that was given up. */
static bool leave_table(lua_State *L, int n)
{
    lua_pop(L, n);
    return false;
}

/* A table with nothing in it but whole numbers from 1 on, found in that order;
** any other may hold keywords. */
static __attribute__((noinline)) bool
read_int_table(lua_State *L, int at, bool counted, la_call_args *out,
               la_value *v)
{
    int64_t n = 0, *list = out->pool + out->used;
    if (lua_getmetatable(L, at)) return leave_table(L, 1);
    lua_pushnil(L);
    while (lua_next(L, at)) {
        int top = lua_gettop(L);
        bool fits = lua_isinteger(L, top - 1)
            && lua_tointeger(L, top - 1) == n + 1
            && n < LA_POOL_INTS - out->used
            && (counted ? read_counted(L, top, &list[n])
                        : read_int(L, top, &list[n]));
        if (!fits) return leave_table(L, 2);
        n++;
        lua_pop(L, 1);
    }
    out->used += (int)n;
    v->tag = LA_VINTS;
    v->ints.list = list;
    v->ints.n = n;
    return n > 0;
}

/* A table is a list; anything else is the first of a row of integers. */
static inline bool read_list(lua_State *L, int at, int last, bool counted,
                             la_call_args *out, la_value *v)
{
    return lua_type(L, at) == LUA_TTABLE
        ? read_int_table(L, at, counted, out, v)
        : read_ints(L, at, last, counted, out, v);
}

static bool read_number(lua_State *L, int at, la_type type, la_value *v)
{
    if (lua_type(L, at) != LUA_TNUMBER) return false;
    if (type == LA_TYPE_SCALAR) {
        v->tag = LA_VSCALAR;
        la_read_number(L, at, &v->scalar);
        return true;
    }
    v->tag = LA_VFLOAT;
    v->d = lua_tonumber(L, at);
    return true;
}

static bool read_bool(lua_State *L, int at, la_value *v)
{
    if (lua_type(L, at) != LUA_TBOOLEAN) return false;
    v->tag = LA_VBOOL;
    v->b = lua_toboolean(L, at);
    return true;
}

static __attribute__((noinline)) bool read_dtype(lua_State *L, int at,
                                                 la_value *v)
{
    size_t n;
    if (lua_type(L, at) != LUA_TSTRING) return false;
    const char *word = lua_tolstring(L, at, &n);
    v->tag = LA_VDTYPE;
    v->dtype = la_dtype_parse(word, n);
    return v->dtype != LA_UNDEFINED;
}

/* Read the argument at 'at', and what follows it where a list takes all. */
static inline bool read_one(lua_State *L, int at, int top, const la_param *p,
                            int k, bool method, la_call_args *out)
{
    la_value *v = &out->args[k];
    la_type type = p->type;
    switch (type) {
    case LA_TYPE_TENSOR:
        return read_tensor(L, at, p->no_number || (k == 0 && method), v,
                           &out->handles[k]);
    case LA_TYPE_DIM: case LA_TYPE_INDEX:
        v->tag = LA_VINT;
        return read_counted(L, at, &v->i);
    case LA_TYPE_INT:
        v->tag = LA_VINT;
        return read_int(L, at, &v->i);
    case LA_TYPE_DIMS_VARIADIC: case LA_TYPE_INTS_VARIADIC:
        return read_list(L, at, top, type == LA_TYPE_DIMS_VARIADIC, out, v);
    case LA_TYPE_DIMS: case LA_TYPE_INDICES:
        return read_list(L, at, at, true, out, v);
    case LA_TYPE_INTS: case LA_TYPE_SIZE:
        return read_list(L, at, at, false, out, v);
    case LA_TYPE_SCALAR: case LA_TYPE_FLOAT:
        return read_number(L, at, type, v);
    case LA_TYPE_BOOL: return read_bool(L, at, v);
    case LA_TYPE_DTYPE: return read_dtype(L, at, v);
    default: return false;
    }
}

/* Varargs, unless they are given as one list. A table is one argument like any
** other. */
static inline bool takes_all(lua_State *L, int at, la_type type)
{
    return la_type_is_variadic(type) && lua_type(L, at) != LUA_TTABLE;
}

bool la_parse_plain(lua_State *L, const la_schema *s, bool method,
                    la_call_args *out)
{
    int k = 0, top = lua_gettop(L);
    const la_param *p = s->params;
    out->nouts = out->used = 0;
    for (int at = 1; at <= top; at++, k++, p++) {
        if (k >= s->npositional) return false;
        out->handles[k] = NULL;
        out->args[k].given = true;
        if (!read_one(L, at, top, p, k, method, out)) return false;
        if (takes_all(L, at, p->type)) at = top;
    }
    if (k < s->nrequired) return false;
    for (; k < s->nparams; k++, p++) {
        out->handles[k] = NULL;
        out->args[k] = p->fallback;
    }
    return true;
}
