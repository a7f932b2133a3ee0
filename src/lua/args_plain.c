/*
** The quick way through the arguments of nearly every call: by position,
** tensors, numbers, booleans and whole numbers. What it does not know (names,
** lists, keywords, nil, words, any misfit) it leaves to la_parse, which reads
** everything again and finds the words for it. It leaves the Lua stack as it
** was, so that the results' handles need no room of their own there.
*/
#include "lua/face.h"

typedef struct reader {
    lua_State *L;
    la_call_args *out;
    int at, top;            /* the argument in hand; the last one */
} reader;

/* Dims and indices count from 1 for users and from 0 below; 0 is no place. */
static bool read_int(const reader *r, int at, bool counted, int64_t *out)
{
    if (!lua_isinteger(r->L, at)) return false;
    int64_t v = lua_tointeger(r->L, at);
    *out = v - (counted && v > 0);
    return !counted || v != 0;
}

static bool read_tensor(const reader *r, int k, la_value *v, bool method)
{
    la_handle *h = la_to_handle(r->L, r->at);
    r->out->handles[k] = h;
    v->tag = LA_VTENSOR;
    if (h) return h->tensor != NULL;
    v->tag = LA_VSCALAR;
    return !(k == 0 && method) && lua_type(r->L, r->at) == LUA_TNUMBER
        && la_to_scalar(r->L, r->at, &v->scalar);
}

/* From the argument in hand to the 'last', as one list. */
static bool read_ints(reader *r, la_value *v, bool counted, int last)
{
    int n = last - r->at + 1;
    int64_t *list = r->out->pool + r->out->used;
    if (n > LA_POOL_INTS - r->out->used) return false;
    for (int i = 0; i < n; i++)
        if (!read_int(r, r->at + i, counted, &list[i])) return false;
    r->out->used += n;
    r->at = last;
    v->tag = LA_VINTS;
    v->ints.list = list;
    v->ints.n = n;
    return true;
}

static bool read_float(const reader *r, la_value *v)
{
    if (lua_type(r->L, r->at) != LUA_TNUMBER) return false;
    v->tag = LA_VFLOAT;
    v->d = lua_tonumber(r->L, r->at);
    return true;
}

static bool read_bool(const reader *r, la_value *v)
{
    if (lua_type(r->L, r->at) != LUA_TBOOLEAN) return false;
    v->tag = LA_VBOOL;
    v->b = lua_toboolean(r->L, r->at);
    return true;
}

static bool read_one(reader *r, la_type type, int k, bool method)
{
    la_value *v = &r->out->args[k];
    v->given = true;
    switch (type) {
    case LA_TYPE_TENSOR: return read_tensor(r, k, v, method);
    case LA_TYPE_INT:
        v->tag = LA_VINT;
        return read_int(r, r->at, false, &v->i);
    case LA_TYPE_DIM: case LA_TYPE_INDEX:
        v->tag = LA_VINT;
        return read_int(r, r->at, true, &v->i);
    case LA_TYPE_INTS_VARIADIC: return read_ints(r, v, false, r->top);
    case LA_TYPE_DIMS_VARIADIC: return read_ints(r, v, true, r->top);
    case LA_TYPE_INTS: case LA_TYPE_SIZE:
        return read_ints(r, v, false, r->at);
    case LA_TYPE_DIMS: case LA_TYPE_INDICES:
        return read_ints(r, v, true, r->at);
    case LA_TYPE_SCALAR:
        v->tag = LA_VSCALAR;
        return lua_type(r->L, r->at) == LUA_TNUMBER
            && la_to_scalar(r->L, r->at, &v->scalar);
    case LA_TYPE_FLOAT: return read_float(r, v);
    case LA_TYPE_BOOL: return read_bool(r, v);
    default: return false;
    }
}

bool la_parse_plain(lua_State *L, const la_schema *s, bool method,
                    la_call_args *out)
{
    reader r = {L, out, 1, lua_gettop(L)};
    int k = 0;
    out->nouts = out->used = 0;
    for (; r.at <= r.top; k++, r.at++) {
        if (k >= s->npositional) return false;
        out->handles[k] = NULL;
        if (!read_one(&r, s->params[k].type, k, method)) return false;
    }
    for (; k < s->nparams; k++) {
        if (s->params[k].required) return false;
        out->handles[k] = NULL;
        out->args[k] = s->params[k].fallback;
    }
    return true;
}
