/*
** Arguments of operations, by their schema.
**
** Positional arguments come in the schema's order; the last argument may be a
** table of keywords. A table where a list is expected by position is that
** list; a creation function takes both in one table. Nothing is owned here:
** tensors stay behind their handles, long lists in userdata on the stack.
*/
#include <stdarg.h>
#include <string.h>

#include "lua/binding.h"
#include "op/host/device_names.h"
#include "tensor/names.h"

typedef struct parser {
    lua_State *L;
    const la_op *op;
    const la_schema *schema;
    const char *name;
    la_call_args *out;
    bool method, quiet;
    int top;
} parser;

/* ---- argument errors ---- */

/* Number of an argument in errors: its index on the stack, or for one given by
** name the index of its parameter, counted down from -1. */
static int by_name(int k) { return -1 - k; }

/* False while another overload may fit ('quiet'), else a Lua error that blames
** argument 'arg'. A text that costs something to make is made by callers that
** have looked at 'quiet' before. */
static bool arg_error(parser *p, int arg, const char *fmt, ...)
{
    if (p->quiet) return false;
    va_list ap;
    va_start(ap, fmt);
    const char *text = lua_pushvfstring(p->L, fmt, ap);
    va_end(ap);
    if (arg >= 0) la_raise_arg(p->L, arg, p->name, "%s", text);
    const la_word *word = &p->schema->params[-1 - arg].name;
    luaL_error(p->L, "bad argument '%s' to '%s' (%s)",
               lua_pushlstring(p->L, word->text, (size_t)word->n), p->name,
               text);
    return false;
}

/* Nothing of a list of 'n' is left over: every other key is an error, but names
** where 'named' is set. */
static bool check_leftover(parser *p, int at, int arg, lua_Integer n,
                           bool named)
{
    lua_State *L = p->L;
    char quoted[256];
    luaL_checkstack(L, 6, "too many arguments");
    lua_pushnil(L);
    while (lua_next(L, at)) {
        lua_pop(L, 1);
        int key = lua_gettop(L);
        if (lua_isinteger(L, key) && lua_tointeger(L, key) >= 1
            && lua_tointeger(L, key) <= n) continue;
        if (named && lua_type(L, key) == LUA_TSTRING) continue;
        if (p->quiet) return false;
        return arg_error(p, arg, "the list has %d entries, and also the "
                         "key %s", (int)n,
                         la_key_text(L, key, quoted, sizeof(quoted)));
    }
    return true;
}

static bool expected(parser *p, int at, int arg, const char *what)
{
    if (p->quiet) {
        la_note_wanted(p->out, arg, what);
        return false;
    }
    int t = lua_type(p->L, at);
    const char *got = la_type_text(p->L, at);
    if (t == LUA_TNUMBER && strcmp(what, "number") == 0)
        return arg_error(p, arg, "number has no integer representation");
    return arg_error(p, arg, "%s expected, got %s",
                     la_wanted_text(p->L, p->out, arg, what), got);
}

/* ---- lists of integers ---- */

/* Memory for 'n' integers: in the pool, or in a userdata on the stack. */
static int64_t *reserve_list(parser *p, lua_Integer n)
{
    la_call_args *o = p->out;
    if (n <= LA_POOL_INTS - o->used) {
        o->used += (int)n;
        return o->pool + o->used - n;
    }
    luaL_checkstack(p->L, 4, "too many arguments");
    return lua_newuserdatauv(p->L, (size_t)n * sizeof(int64_t), 0);
}

/* A dim may be given by name when the tensor has names: first argument. */
static bool dim_by_name(parser *p, int at, int64_t *out)
{
    size_t n;
    la_handle *h = la_to_handle(p->L, 1);
    if (lua_type(p->L, at) != LUA_TSTRING || !h || !h->tensor) return false;
    const char *word = lua_tolstring(p->L, at, &n);
    *out = la_dim_by_name(h->tensor, word, n) + 1;
    return *out > 0;
}

/* A string where a dim is expected. */
static bool no_name(parser *p, int at, int arg)
{
    size_t n;
    char quoted[256];
    la_handle *h = la_to_handle(p->L, 1);
    bool named = h && h->tensor && h->tensor->names;
    if (p->quiet) {
        p->out->score += named ? 3 : 2;
        return false;
    }
    const char *word = lua_tolstring(p->L, at, &n);
    return arg_error(p, arg, named ? "the tensor has no dimension named '%s'"
                     : "dimension expected, got '%s': the tensor has no names",
                     la_quote(word, n, quoted, sizeof(quoted)));
}


static bool one_int(parser *p, int at, int arg, la_type type, int64_t *out)
{
    int ok = 0;
    const char *what = la_type_counted(type);
    bool is_dim = what && *what == 'd';
    int t = lua_type(p->L, at);
    if (type == LA_TYPE_FLOATS) {         /* the bits of a double */
        memcpy(out, &(double){lua_tonumber(p->L, at)}, sizeof *out);
        return t == LUA_TNUMBER || expected(p, at, arg, "list of numbers");
    }
    if (t == LUA_TNUMBER) *out = lua_tointegerx(p->L, at, &ok);
    if (!ok && is_dim && dim_by_name(p, at, out)) ok = 1;
    if (ok && !(what && *out == 0)) {
        if (what) *out -= *out > 0;
        return true;
    }
    p->out->score += t == LUA_TNUMBER;      /* of the right type at least */
    if (ok) return arg_error(p, arg, "%s 0: counting starts at 1", what);
    return t == LUA_TSTRING && is_dim ? no_name(p, at, arg)
                                      : expected(p, at, arg, "number");
}

#define LIST_TAG(type) ((type) == LA_TYPE_FLOATS ? LA_VFLOATS : LA_VINTS)

static bool int_list(parser *p, int at, int arg, la_type type, la_value *v)
{
    lua_State *L = p->L;
    /* names next to the list of the last argument are keywords */
    bool named = at == p->top && arg == at;
    lua_Integer n = (lua_Integer)lua_rawlen(L, at);
    if (n > LA_MAX_LIST)
        return arg_error(p, arg, "list of %d is too long", (int)n);
    int64_t *list = reserve_list(p, n);
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(L, at, i + 1);
        if (!one_int(p, lua_gettop(L), arg, type, &list[i])) return false;
        lua_pop(L, 1);
    }
    *v = (la_value){.tag = LIST_TAG(type), .given = true, .ints = {list, n}};
    return check_leftover(p, at, arg, n, named);
}

/* {{1, 2}, {2, 3}}: two lists of one length, kept one behind the other. A
** single number stands for a list of one. */
static bool dim_lists(parser *p, int at, int arg, la_value *v)
{
    lua_State *L = p->L;
    lua_Integer n = -1;
    int64_t *list = NULL;
    if (lua_type(L, at) != LUA_TTABLE || lua_rawlen(L, at) != 2)
        return expected(p, at, arg, "two lists of dimensions");
    for (int side = 0; side < 2; side++) {
        lua_rawgeti(L, at, side + 1);
        int sub = lua_gettop(L);
        la_take_list(L, sub);
        bool whole = lua_type(L, sub) == LUA_TTABLE;
        lua_Integer len = whole ? (lua_Integer)lua_rawlen(L, sub) : 1;
        if (len > 64 || (side == 1 && len != n))
            return arg_error(p, arg, "both lists of dims must have the same "
                             "length");
        if (side == 0) list = reserve_list(p, 2 * (n = len));
        for (lua_Integer i = 0; i < len; i++) {
            if (whole) lua_rawgeti(L, sub, i + 1);
            else lua_pushvalue(L, sub);
            if (!one_int(p, lua_gettop(L), arg, LA_TYPE_DIM_LISTS,
                         &list[side * n + i])) return false;
            lua_pop(L, 1);
        }
        if (whole && !check_leftover(p, sub, arg, n, false)) return false;
    }
    *v = (la_value){.tag = LA_VINTS, .given = true, .ints = {list, 2 * n}};
    return check_leftover(p, at, arg, 2, at == p->top && arg == at);
}

/* {row, column}, or a list of such, one behind the other. */
static bool cell_list(parser *p, int at, int arg, la_value *v)
{
    lua_State *L = p->L;
    const char *what = la_type_name(LA_TYPE_CELLS);
    if (lua_type(L, at) != LUA_TTABLE) return expected(p, at, arg, what);
    lua_Integer n = la_count_cells(L, at);
    if (n < 0) return int_list(p, at, arg, LA_TYPE_CELLS, v);
    int64_t *list = reserve_list(p, 2 * n);
    lua_Integer odd = la_read_cells(L, at, n, list);
    if (odd) return arg_error(p, arg, "[%d]: %s expected", (int)odd, what);
    *v = (la_value){.tag = LA_VINTS, .given = true, .ints = {list, 2 * n}};
    return check_leftover(p, at, arg, n, at == p->top && arg == at);
}

/* Does {{"C", 2}, {"H", 3}} stand for parameters k, a list of sizes, and k + 1,
** their names? */
static bool takes_named_sizes(parser *p, int at, int k)
{
    return k + 1 < p->schema->npositional
        && p->schema->params[k + 1].type == LA_TYPE_NAMES
        && lua_type(p->L, at) == LUA_TTABLE && la_count_cells(p->L, at) > 0;
}

static bool named_sizes(parser *p, int at, int k)
{
    int64_t n = la_count_cells(p->L, at), odd = LA_MAX_DIMS + 1;
    int64_t *sizes = reserve_list(p, n);
    const char **names = (const char **)reserve_list(p, n);
    if (n <= LA_MAX_DIMS)
        odd = la_read_named_sizes(p->L, at, n, sizes, names);
    if (odd) {
        p->out->score += 3;
        return arg_error(p, at, "[%d]: {name, size} expected", (int)odd);
    }
    p->out->args[k] = la_v_ints(sizes, n);
    p->out->args[k].given = true;
    p->out->args[k + 1] = (la_value){.tag = LA_VNAMES, .given = true,
                                     .names = {names, n}};
    return true;
}

/* One integer where a list is expected. */
static bool int_single(parser *p, int at, int arg, la_type type, la_value *v)
{
    int64_t *list = reserve_list(p, 1);
    *v = (la_value){.tag = LIST_TAG(type), .given = true, .ints = {list, 1}};
    return one_int(p, at, arg, type, list);
}

/* ---- tensors ---- */

static bool number_like(lua_State *L, int at)
{
    return lua_type(L, at) == LUA_TNUMBER || lua_type(L, at) == LUA_TBOOLEAN;
}

static bool args_read_tensor(parser *p, int at, int arg, int k, la_value *v)
{
    la_handle *h = la_to_handle(p->L, at);
    bool self = k == 0 && p->method;
    if (!h && k == 1 && (p->op->forms & LA_METADATA) && at <= p->top)
        h = la_take_storage(p->L, at, p->out->handles[0]);
    if (h) {
        if (!h->tensor) return arg_error(p, arg, "%s", la_freed_text(h));
        *v = (la_value){.tag = LA_VTENSOR, .given = true};
        p->out->handles[k] = h;
        return true;
    }
    bool number = !self && !p->schema->params[k].no_number;
    if (!p->quiet && lua_type(p->L, at) == LUA_TTABLE)
        return arg_error(p, arg, "tensor%s expected, got %s",
                         number ? " or number" : "",
                         la_operand_text(p->L, at));
    if (!number || !number_like(p->L, at))
        return expected(p, at, arg, number ? "tensor or number" : "tensor");
    *v = (la_value){.tag = LA_VSCALAR, .given = true};
    return la_to_scalar(p->L, at, &v->scalar);
}

static bool tensor_list(parser *p, int at, int arg, int k, la_value *v)
{
    lua_State *L = p->L;
    const la_param *param = &p->schema->params[k];
    const char *what = param->numbers ? "number or tensor" : "tensor";
    if (lua_type(L, at) != LUA_TTABLE)
        return expected(p, at, arg, param->numbers ? "list of numbers"
                                                   : "list of tensors");
    lua_Integer n = (lua_Integer)lua_rawlen(L, at);
    if (n > LA_MAX_LIST)
        return arg_error(p, arg, "list of %d is too long", (int)n);
    luaL_checkstack(L, 4, "too many arguments");
    la_tensor_box *box = la_push_box(L, n);
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(L, at, i + 1);
        la_handle *h = la_to_handle(L, -1);
        if (h && h->tensor) box->list[i] = la_tensor_retain(h->tensor);
        else if (h)
            return arg_error(p, arg, "[%d]: %s", (int)i + 1, la_freed_text(h));
        else if (param->numbers) box->list[i] = la_number_tensor(L, -1);
        if (!box->list[i] && !(param->nullable && lua_isnil(L, -1)))
            return arg_error(p, arg, "[%d]: %s expected, got %s",
                             (int)i + 1, what, la_type_text(L, -1));
        lua_pop(L, 1);
    }
    *v = (la_value){.tag = LA_VTENSORS, .given = true,
                    .tensors = {box->list, n}};
    return lua_getmetatable(L, at) ? true    /* of length what it says */
        : check_leftover(p, at, arg, n, at == p->top && arg == at);
}

/* Tensors as varargs: as many as follow. */
static bool args_tensors_in_row(parser *p, int *at, la_value *v)
{
    int first = *at, n = 0;
    while (first + n <= p->top && la_to_handle(p->L, first + n)) n++;
    luaL_checkstack(p->L, 4, "too many arguments");
    la_tensor_box *box = la_push_box(p->L, n);
    for (int i = 0; i < n; i++) {
        la_handle *h = la_to_handle(p->L, first + i);
        if (!h->tensor) return arg_error(p, first + i, la_freed_text(h));
        box->list[i] = la_tensor_retain(h->tensor);
    }
    *v = (la_value){.tag = LA_VTENSORS, .given = true,
                    .tensors = {box->list, n}};
    *at = first + n;
    return true;
}

/* ---- words ---- */

static bool args_read_dtype(parser *p, int at, int arg, la_value *v)
{
    size_t n;
    char quoted[256];
    if (lua_type(p->L, at) != LUA_TSTRING)
        return expected(p, at, arg, "dtype");
    const char *word = lua_tolstring(p->L, at, &n);
    la_dtype d = la_dtype_parse(word, n);
    p->out->odd_word = d == LA_UNDEFINED ? at : 0;
    if (d == LA_UNDEFINED && p->quiet) return false;
    if (d == LA_UNDEFINED)
        return arg_error(p, arg, "unknown dtype '%s' (known: %s)",
                         la_quote(word, n, quoted, sizeof(quoted)),
                         la_known_dtypes);
    *v = (la_value){.tag = LA_VDTYPE, .given = true, .dtype = d};
    return true;
}

static bool args_read_word(parser *p, int at, int arg, la_type type,
                           la_value *v)
{
    size_t n;
    char quoted[256];
    if (lua_type(p->L, at) != LUA_TSTRING)
        return expected(p, at, arg, type == LA_TYPE_DEVICE ? "device"
                                    : "string");
    const char *word = lua_tolstring(p->L, at, &n);
    v->given = true;
    if (type == LA_TYPE_STR) {
        v->tag = LA_VSTR;
        v->str.text = word;
        v->str.n = n;
        return true;
    }
    v->tag = type == LA_TYPE_DEVICE ? LA_VDEVICE : LA_VFORMAT;
    if (type == LA_TYPE_DEVICE && la_device_parse(word, n, &v->device))
        return true;
    if (type == LA_TYPE_FORMAT && la_format_parse(word, n, &v->format))
        return true;
    if (p->quiet) return false;
    return arg_error(p, arg, "unknown %s '%s'", la_type_name(type),
                     la_quote(word, n, quoted, sizeof(quoted)));
}

/* Names of dims, interned; "*" is a dim without a name. */
static bool args_read_names(parser *p, int at, int arg, la_value *v)
{
    lua_State *L = p->L;
    if (lua_type(L, at) != LUA_TTABLE)
        return expected(p, at, arg, "list of names");
    lua_Integer n = (lua_Integer)lua_rawlen(L, at);
    if (n > LA_MAX_DIMS) return arg_error(p, arg, "too many names");
    const char **list = (const char **)reserve_list(p, n);
    for (lua_Integer i = 0; i < n; i++) {
        size_t len;
        lua_rawgeti(L, at, i + 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            return arg_error(p, arg, "[%d]: string expected, got %s",
                             (int)i + 1, la_type_text(L, -1));
        const char *word = lua_tolstring(L, -1, &len);
        list[i] = la_name_intern(word, len);
        lua_pop(L, 1);
        if (!list[i]) return luaL_error(L, "%s", la_error_message());
    }
    *v = (la_value){.tag = LA_VNAMES, .given = true, .names = {list, n}};
    return check_leftover(p, at, arg, n, at == p->top && arg == at);
}

/* ---- one value of a type ---- */

static bool args_read_number(parser *p, int at, int arg, la_type type,
                             la_value *v)
{
    la_handle *h = la_to_handle(p->L, at);
    v->given = true;
    if (h && p->out->exact && p->quiet) return expected(p, at, arg, "number");
    if (type == LA_TYPE_SCALAR) {
        v->tag = LA_VSCALAR;
        bool dims = h && h->tensor && h->tensor->ndim > 0;
        return (!dims && la_to_scalar(p->L, at, &v->scalar))
            || expected(p, at, arg, "number");
    }
    if (type == LA_TYPE_FLOAT) {
        la_scalar s;
        v->tag = LA_VFLOAT;
        if (lua_type(p->L, at) == LUA_TBOOLEAN || !la_to_scalar(p->L, at, &s))
            return expected(p, at, arg, "number");
        v->d = s.re;
        return true;
    }
    v->tag = LA_VINT;
    if (type == LA_TYPE_DIM && lua_type(p->L, at) == LUA_TTABLE) {
        p->out->score += 2;
        return arg_error(p, arg, "one dimension expected, got a table");
    }
    return one_int(p, at, arg, type, &v->i);
}

static bool args_read_value(parser *p, int at, int arg, int k)
{
    la_type type = p->schema->params[k].type;
    la_value *v = &p->out->args[k];
    *v = (la_value){.tag = LA_VNONE, .given = true};
    if (la_type_is_list(type)) la_take_list(p->L, at);
    switch (type) {
    case LA_TYPE_TENSOR: return args_read_tensor(p, at, arg, k, v);
    case LA_TYPE_TENSORS: return tensor_list(p, at, arg, k, v);
    case LA_TYPE_SCALAR: case LA_TYPE_FLOAT: case LA_TYPE_INT:
    case LA_TYPE_DIM: case LA_TYPE_INDEX:
        return args_read_number(p, at, arg, type, v);
    case LA_TYPE_DIM_LISTS: return dim_lists(p, at, arg, v);
    case LA_TYPE_CELLS: return cell_list(p, at, arg, v);
    case LA_TYPE_BOOL:
        if (lua_type(p->L, at) != LUA_TBOOLEAN)
            return expected(p, at, arg, "boolean");
        v->tag = LA_VBOOL;
        v->b = lua_toboolean(p->L, at);
        return true;
    case LA_TYPE_DTYPE: return args_read_dtype(p, at, arg, v);
    case LA_TYPE_NAMES: return args_read_names(p, at, arg, v);
    case LA_TYPE_GENERATOR:
        v->pointer = la_to_generator(p->L, at);
        v->tag = LA_VPOINTER;
        return v->pointer ? true : expected(p, at, arg, "generator");
    default:
        if (!la_type_is_ints(type) && type != LA_TYPE_FLOATS)
            return args_read_word(p, at, arg, type, v);
        return lua_type(p->L, at) == LUA_TTABLE
            ? int_list(p, at, arg, type, v) : int_single(p, at, arg, type, v);
    }
}

/* ---- keywords ---- */

static bool unknown_keyword(parser *p, const char *word, size_t n)
{
    char quoted[256];
    luaL_Buffer b;
    if (p->quiet) return false;
    luaL_buffinit(p->L, &b);
    for (int k = 0; k < p->schema->nparams; k++) {
        if (k > 0) luaL_addstring(&b, ", ");
        luaL_addlstring(&b, p->schema->params[k].name.text,
                        (size_t)p->schema->params[k].name.n);
    }
    if (p->op->forms & LA_OUT_FORM) luaL_addstring(&b, ", out");
    luaL_pushresult(&b);
    return luaL_error(p->L, "%s: unknown keyword '%s' (known: %s)", p->name,
                      la_quote(word, n, quoted, sizeof(quoted)),
                      lua_tostring(p->L, -1));
}

static bool refuse_out(parser *p, const char *why)
{
    return !p->quiet
        && luaL_error(p->L, "bad argument 'out' to '%s' (%s)", p->name, why);
}

/* out = tensor, or for several results a list of as many. */
static bool args_read_out(parser *p, int at)
{
    bool is_list = lua_istable(p->L, at);
    int n = is_list ? (int)lua_rawlen(p->L, at) : 1, all = p->schema->nresults;
    if (n > all) return refuse_out(p, "too many tensors");
    for (int k = 0; k < n; k++) {
        if (is_list) lua_rawgeti(p->L, at, k + 1);  /* anchored there */
        p->out->out_at[k] = is_list ? lua_gettop(p->L) : at;
        la_handle *h = la_to_handle(p->L, p->out->out_at[k]);
        if (!h) return refuse_out(p, "tensor expected");
        if (!h->tensor) return refuse_out(p, la_freed_text(h));
        p->out->outs[k] = h;
    }
    p->out->nouts = n;
    if (n == all) return true;
    return refuse_out(p, all == 1 ? "tensor expected" : lua_pushfstring(p->L,
        "a list of %d tensors expected, one for each result", all));
}

static bool one_keyword(parser *p, int at)
{
    size_t n;
    const char *word = lua_tolstring(p->L, at - 1, &n);
    if ((p->op->forms & LA_OUT_FORM) && strcmp(word, "out") == 0)
        return args_read_out(p, at);
    int k = la_schema_find(p->schema, word, n);
    if (k < 0) return unknown_keyword(p, word, n);
    if (p->out->args[k].given)
        return p->quiet ? false : luaL_error(p->L, "%s: argument '%s' is given "
                                             "twice", p->name, word);
    return args_read_value(p, at, by_name(k), k);
}

/* How many keys of the table are names of parameters. */
static int known_keywords(parser *p, int table)
{
    size_t n;
    int known = 0;
    lua_State *L = p->L;
    luaL_checkstack(L, 4, "too many arguments");
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING) {
            const char *word = lua_tolstring(L, -2, &n);
            known += la_schema_find(p->schema, word, n) >= 0;
        }
    return known;
}

/* Values stay on the stack as anchors: a copy of the key goes on top for the
** next iteration. With 'creation' the list part of the table (integer keys)
** belongs to a positional argument. */
static bool read_keywords(parser *p, int table, bool creation)
{
    lua_State *L = p->L;
    char quoted[256];
    if (p->quiet) p->out->score += 2 * known_keywords(p, table);
    lua_pushnil(L);
    while (lua_next(L, table)) {
        int at = lua_gettop(L);
        luaL_checkstack(L, 8, "too many arguments");
        if (lua_type(L, at - 1) == LUA_TSTRING) {
            if (!one_keyword(p, at)) return false;
        } else if (!creation || !lua_isinteger(L, at - 1)) {
            return p->quiet ? false
                : lua_rawlen(L, table) > 0
                ? arg_error(p, table, "table of keywords expected, got a list: "
                            "at most %d arguments stand before them",
                            p->schema->npositional)
                : arg_error(p, table, "table of keywords expected, got one "
                            "with the key %s", la_key_text(L, at - 1, quoted,
                                                        sizeof(quoted)));
        }
        lua_pushvalue(L, at - 1);
    }
    return true;
}

/* ---- the whole call ---- */

/* Varargs: as many integers as follow. */
static bool read_variadic(parser *p, int *at, int k)
{
    int first = *at, n = 0;
    la_type type = p->schema->params[k].type;
    while (first + n <= p->top && lua_type(p->L, first + n) != LUA_TTABLE) n++;
    int64_t *list = reserve_list(p, n);
    for (int i = 0; i < n; i++)
        if (!one_int(p, first + i, first + i, type, &list[i])) return false;
    p->out->args[k] = (la_value){.tag = LA_VINTS, .given = true,
                                 .ints = {list, n}};
    *at = first + n;
    return true;
}

/* Is the table at 'at' the keywords' rather than the value of parameter k? One
** with a list part is a value; an empty one is, where a list is expected. */
static bool is_keywords(parser *p, int at, int k)
{
    if (at != p->top || lua_type(p->L, at) != LUA_TTABLE) return false;
    if (la_is_list(p->L, at)) return false;
    return !la_type_is_list(p->schema->params[k].type)
        || la_has_string_key(p->L, at);
}

/* Positional arguments; *at ends behind the last one taken. *both is set when
** a table was a list and holds keywords too. */
static bool read_positional(parser *p, int *at, bool *both)
{
    lua_State *L = p->L;
    for (int k = 0; k < p->schema->npositional && *at <= p->top; k++) {
        const la_param *param = &p->schema->params[k];
        if (is_keywords(p, *at, k)) return true;
        if (lua_isnil(L, *at) && (param->optional || !param->required)) {
            p->out->args[k].given = true;
            p->out->score += 2;
            ++*at;
            continue;
        }
        if (la_type_is_variadic(param->type) && !lua_istable(L, *at)) {
            if (!read_variadic(p, at, k)) return false;
            continue;
        }
        if (param->type == LA_TYPE_TENSORS && la_to_handle(L, *at)) {
            if (!args_tensors_in_row(p, at, &p->out->args[k])) return false;
            continue;
        }
        bool named = takes_named_sizes(p, *at, k);
        if (!(named ? named_sizes(p, *at, k)
                    : args_read_value(p, *at, *at, k))) return false;
        k += named;
        if (*at == p->top && lua_istable(L, *at)
            && la_type_is_list(param->type) && la_has_string_key(L, *at))
            *both = true;
        p->out->score += 2;
        ++*at;
    }
    return true;
}

static bool fill_defaults(parser *p)
{
    for (int k = 0; k < p->schema->nparams; k++) {
        const la_param *param = &p->schema->params[k];
        la_value *v = &p->out->args[k];
        if (v->given && v->tag != LA_VNONE) continue;
        if (v->given && param->optional && param->required) continue;
        if (param->required && la_type_is_variadic(param->type)) {
            *v = (la_value){.tag = LA_VINTS, .ints = {p->out->pool, 0}};
            continue;
        }
        if (param->required)
            return p->quiet ? false
                : la_raise_arg(p->L, k + 1, p->name,
                               "%s expected, got no value for '%s'",
                               k == 0 && p->method ? "tensor"
                               : la_type_name(param->type),
                               lua_pushlstring(p->L, param->name.text,
                                               (size_t)param->name.n));
        *v = param->fallback;
    }
    return true;
}

/* x:to("float33"): what an overload without such an argument says of it. */
static bool odd_word(parser *p, int at)
{
    size_t n;
    char quoted[256];
    const char *word = lua_tolstring(p->L, at, &n);
    return arg_error(p, at, "'%s' is no device and no dtype (known: %s)",
                     la_quote(word, n, quoted, sizeof(quoted)),
                     la_known_dtypes);
}

static bool args_finish(parser *p, int at, bool both)
{
    if (both && !read_keywords(p, p->top, true)) return false;
    if (at == p->top && lua_istable(p->L, at) && !la_to_handle(p->L, at)) {
        if (!read_keywords(p, at, false)) return false;
        at++;
    }
    if (at <= p->top && at == p->out->odd_word) return odd_word(p, at);
    if (at <= p->top) {
        p->out->score--;
        return arg_error(p, at, "at most %d arguments expected, got %d",
                         p->schema->npositional, p->top);
    }
    return fill_defaults(p);
}

bool la_parse(lua_State *L, const la_op *op, const char *name, bool method,
              bool quiet, la_call_args *out)
{
    const la_schema *s = la_schema_of(op);
    parser p = {L, op, s, name, out, method, quiet, lua_gettop(L)};
    int at = 1;
    bool both = false;
    if (s->broken) la_raise(L, name, la_schema_fault(op->signature));
    for (int k = 0; k < s->nparams; k++) {
        out->args[k].tag = LA_VNONE;
        out->args[k].given = false;
        out->handles[k] = NULL;
    }
    out->nouts = out->used = out->score = 0;
    memset(out->outs, 0, sizeof(out->outs));
    return read_positional(&p, &at, &both) && args_finish(&p, at, both);
}
