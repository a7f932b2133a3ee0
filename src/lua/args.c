/*
** Arguments of scripts: what the reader of schemas (op/arguments.inc) asks of a
** Lua stack.
**
** Positional arguments come in the schema's order; the last argument may be a
** table of keywords. A table where a list is expected by position is that
** list; a creation function takes both in one table. Nothing is owned here:
** tensors stay behind their handles, long lists in userdata on the stack. So an
** error may jump out of any of these functions.
*/
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lua/binding.h"
#include "op/host/device_names.h"
#include "tensor/names.h"

typedef struct reader {
    lua_State *L;
    const la_op *op;
    const la_schema *schema;
    const char *name;
    la_call_args *out;
    la_value *args;             /* out's */
    bool method, quiet;
    bool both;                  /* the last table is a list and keywords */
    int last, most;             /* the top of the stack, of parameters */
    int odd_word, score, nouts; /* out's, which takes them at the end */
} reader;

/* ---- errors ---- */

/* Number of an argument in errors: its index on the stack, or for one given by
** name the index of its parameter, counted down from -1. */
#define BY_NAME(at, k) (-1 - (k))
#define LEFT_OUT(k) ((k) + 1)

/* False while another overload may fit ('quiet'), else a Lua error that blames
** argument 'arg'. A text that costs something to make is made by callers that
** have looked at 'quiet' before. */
static bool fail(reader *r, int arg, const char *fmt, ...)
{
    if (r->quiet) return false;
    va_list ap;
    va_start(ap, fmt);
    const char *text = lua_pushvfstring(r->L, fmt, ap);
    va_end(ap);
    if (arg >= 0) la_raise_arg(r->L, arg, r->name, "%s", text);
    const la_word *word = &r->schema->params[-1 - arg].name;
    luaL_error(r->L, "bad argument '%s' to '%s' (%s)",
               lua_pushlstring(r->L, word->text, (size_t)word->n), r->name,
               text);
    return false;
}

static bool fail_zero(reader *r, int arg, const char *what)
{
    return fail(r, arg, "%s 0: counting starts at 1", what);
}

static bool fail_keyword(reader *r, int at, const char *fmt, ...)
{
    va_list ap;
    (void)at;
    va_start(ap, fmt);
    const char *text = lua_pushvfstring(r->L, fmt, ap);
    va_end(ap);
    return luaL_error(r->L, "%s: %s", r->name, text);
}

static bool fail_out(reader *r, int at, const char *why)
{
    (void)at;
    return !r->quiet
        && luaL_error(r->L, "bad argument 'out' to '%s' (%s)", r->name, why);
}

static bool fail_memory(reader *r)
{
    return luaL_error(r->L, "%s", la_error_message());
}

static const char *kind_text(reader *r, int at)
{
    return la_type_text(r->L, at);
}

static bool expected(reader *r, int at, int arg, const char *what)
{
    if (r->quiet) {
        la_note_wanted(r->out, arg, what);
        return false;
    }
    int t = lua_type(r->L, at);
    const char *got = la_type_text(r->L, at);
    if (t == LUA_TNUMBER && strcmp(what, "number") == 0)
        return fail(r, arg, "number has no integer representation");
    return fail(r, arg, "%s expected, got %s",
                la_wanted_text(r->L, r->out, arg, what), got);
}

static bool refuse_operand(reader *r, int at, int arg, const char *what)
{
    if (r->quiet || lua_type(r->L, at) != LUA_TTABLE)
        return expected(r, at, arg, what);
    return fail(r, arg, "%s expected, got %s", what,
                la_operand_text(r->L, at));
}

/* ---- single values ---- */

#define LIST_WORD "table"
#define MOST_ENTRIES LA_MAX_LIST

static inline bool is_nil(reader *r, int at) { return lua_isnil(r->L, at); }
static inline bool is_list(reader *r, int at)
{
    return lua_type(r->L, at) == LUA_TTABLE;
}
static inline bool is_number(reader *r, int at)
{
    return lua_type(r->L, at) == LUA_TNUMBER;
}
static inline bool is_tensor(reader *r, int at)
{
    return la_to_handle(r->L, at) != NULL;
}
static inline bool in_row(reader *r, int at) { return !is_list(r, at); }

static inline bool integer_at(reader *r, int at, int64_t *out)
{
    int ok = 0;
    if (is_number(r, at)) *out = lua_tointegerx(r->L, at, &ok);
    return ok;
}

static inline bool bool_at(reader *r, int at, bool *out)
{
    *out = lua_toboolean(r->L, at);
    return lua_type(r->L, at) == LUA_TBOOLEAN;
}

/* Only of strings: a number is no word. */
static inline const char *text_at(reader *r, int at, size_t *n)
{
    return lua_type(r->L, at) == LUA_TSTRING ? lua_tolstring(r->L, at, n)
                                             : NULL;
}

static void *pointer_at(reader *r, int at)
{
    return la_to_generator(r->L, at);
}

/* Tensors of one element are numbers too, but where a tensor is expected, and
** while an overload that takes it as a tensor is looked for. */
static inline bool scalar_at(reader *r, int at, la_type type, la_scalar *out)
{
    int t = lua_type(r->L, at);
    la_handle *h = la_to_handle(r->L, at);
    if (type == LA_TYPE_TENSOR && t != LUA_TNUMBER && t != LUA_TBOOLEAN)
        return false;
    if (type == LA_TYPE_FLOAT && t == LUA_TBOOLEAN) return false;
    if (h && r->out->exact && r->quiet) return false;
    if (type == LA_TYPE_SCALAR && h && h->tensor && h->tensor->ndim > 0)
        return false;
    return la_to_scalar(r->L, at, out);
}

/* Only the handle is noted: the tensor is read at the call itself. */
static inline int tensor_at(reader *r, int at, int arg, int k, la_value *v)
{
    la_handle *h = la_to_handle(r->L, at);
    if (!h && k == 1 && (r->op->forms & LA_METADATA) && at <= r->last)
        h = la_take_storage(r->L, at, r->out->handles[0]);
    if (!h) return 0;
    if (!h->tensor) return fail(r, arg, "%s", la_freed_text(h)) - 1;
    *v = (la_value){.tag = LA_VTENSOR, .given = true};
    r->out->handles[k] = h;
    return 1;
}

static const la_tensor *first_tensor(reader *r)
{
    la_handle *h = la_to_handle(r->L, 1);
    return h ? h->tensor : NULL;
}

/* ---- lists ---- */

/* Nothing of a list of 'n' is left over: every other key is an error, but names
** where 'named' is set. */
static bool check_leftover(reader *r, int at, int arg, lua_Integer n,
                           bool named)
{
    lua_State *L = r->L;
    char quoted[256];
    luaL_checkstack(L, 6, "too many arguments");
    lua_pushnil(L);
    while (lua_next(L, at)) {
        lua_pop(L, 1);
        int key = lua_gettop(L);
        if (lua_isinteger(L, key) && lua_tointeger(L, key) >= 1
            && lua_tointeger(L, key) <= n) continue;
        if (named && lua_type(L, key) == LUA_TSTRING) continue;
        if (r->quiet) return false;
        return fail(r, arg, "the list has %d entries, and also the "
                         "key %s", (int)n,
                         la_key_text(L, key, quoted, sizeof(quoted)));
    }
    return true;
}

/* Names next to the list of the last argument are keywords. */
static bool end_list(reader *r, int at, int arg, int64_t n)
{
    return check_leftover(r, at, arg, n, at == r->last && arg == at);
}

static bool is_object(reader *r, int at)
{
    if (!lua_getmetatable(r->L, at)) return false;
    lua_pop(r->L, 1);
    return true;
}

static void settle_list(reader *r, int at) { la_take_list(r->L, at); }

static inline int64_t count_at(reader *r, int at)
{
    return is_list(r, at) ? (int64_t)lua_rawlen(r->L, at) : -1;
}

static inline int entry_at(reader *r, int at, int64_t i)
{
    lua_rawgeti(r->L, at, i + 1);
    return lua_gettop(r->L);
}

static inline void leave_entry(reader *r) { lua_pop(r->L, 1); }

/* Memory in the pool, or in a userdata on the stack. */
static int64_t *reserve(reader *r, int arg, int64_t n)
{
    (void)arg;
    la_call_args *o = r->out;
    if (n <= LA_POOL_INTS - o->used) {
        o->used += (int)n;
        return o->pool + o->used - n;
    }
    luaL_checkstack(r->L, 4, "too many arguments");
    return lua_newuserdatauv(r->L, (size_t)n * sizeof(int64_t), 0);
}

/* Numbers of Lua lie nowhere as integers of a frame. */
static inline bool borrow_ints(reader *r, int at, la_type type, la_value *v)
{
    (void)r, (void)at, (void)type, (void)v;
    return false;
}

static la_tensor **box(reader *r, int at, int arg, int64_t n)
{
    (void)at;
    if (n > LA_MAX_LIST) {
        fail(r, arg, "list of %d is too long", (int)n);
        return NULL;
    }
    luaL_checkstack(r->L, 4, "too many arguments");
    return la_push_box(r->L, n)->list;
}

/* Entry i of a list; i is -1 for an argument of its own. */
static bool put_tensor(reader *r, int at, int arg, int64_t i, bool numbers,
                       la_tensor **out)
{
    la_handle *h = la_to_handle(r->L, at);
    if (h && h->tensor) *out = la_tensor_retain(h->tensor);
    else if (h && i < 0) return fail(r, arg, "%s", la_freed_text(h));
    else if (h)
        return fail(r, arg, "[%d]: %s", (int)i + 1, la_freed_text(h));
    else if (numbers) *out = la_number_tensor(r->L, at);
    return true;
}

/* The entry of a list stays on the stack, anchored. */
static const char *put_out(reader *r, int at, int k)
{
    la_handle *h = la_to_handle(r->L, at);
    r->out->out_at[k] = at;
    if (!h) return "tensor expected";
    if (!h->tensor) return la_freed_text(h);
    r->out->outs[k] = h;
    return NULL;
}

/* Readers of op/arguments.inc that the lists below are made of. */
static bool read_ints(reader *r, int at, int arg, la_type type, la_value *v);
static bool read_entry(reader *r, int at, int arg, la_type type, int64_t *out);

/* {{1, 2}, {2, 3}}: two lists of one length, kept one behind the other. A
** single number stands for a list of one. */
static bool read_dim_lists(reader *r, int at, int arg, la_value *v)
{
    lua_State *L = r->L;
    lua_Integer n = -1;
    int64_t *list = NULL;
    if (lua_type(L, at) != LUA_TTABLE || lua_rawlen(L, at) != 2)
        return expected(r, at, arg, "two lists of dimensions");
    for (int side = 0; side < 2; side++) {
        lua_rawgeti(L, at, side + 1);
        int sub = lua_gettop(L);
        la_take_list(L, sub);
        bool whole = lua_type(L, sub) == LUA_TTABLE;
        lua_Integer length = whole ? (lua_Integer)lua_rawlen(L, sub) : 1;
        if (length > 64 || (side == 1 && length != n))
            return fail(r, arg, "both lists of dims must have the same "
                        "length");
        if (side == 0) list = reserve(r, arg, 2 * (n = length));
        for (lua_Integer i = 0; i < length; i++) {
            if (whole) lua_rawgeti(L, sub, i + 1);
            else lua_pushvalue(L, sub);
            if (!read_entry(r, lua_gettop(L), arg, LA_TYPE_DIM_LISTS,
                         &list[side * n + i])) return false;
            lua_pop(L, 1);
        }
        if (whole && !check_leftover(r, sub, arg, n, false)) return false;
    }
    *v = (la_value){.tag = LA_VINTS, .given = true, .ints = {list, 2 * n}};
    return end_list(r, at, arg, 2);
}

/* {row, column}, or a list of such, one behind the other. */
static bool read_cells(reader *r, int at, int arg, la_value *v)
{
    lua_State *L = r->L;
    const char *what = la_type_name(LA_TYPE_CELLS);
    if (lua_type(L, at) != LUA_TTABLE) return expected(r, at, arg, what);
    lua_Integer n = la_count_cells(L, at);
    if (n < 0) return read_ints(r, at, arg, LA_TYPE_CELLS, v);
    int64_t *list = reserve(r, arg, 2 * n);
    lua_Integer odd = la_read_cells(L, at, n, list);
    if (odd) return fail(r, arg, "[%d]: %s expected", (int)odd, what);
    *v = (la_value){.tag = LA_VINTS, .given = true, .ints = {list, 2 * n}};
    return end_list(r, at, arg, n);
}

/* Does {{"C", 2}, {"H", 3}} stand for parameters k, a list of sizes, and k + 1,
** their names? */
static bool takes_named_sizes(reader *r, int at, int k)
{
    return k + 1 < r->schema->npositional
        && r->schema->params[k + 1].type == LA_TYPE_NAMES
        && lua_type(r->L, at) == LUA_TTABLE && la_count_cells(r->L, at) > 0;
}

static bool named_sizes(reader *r, int at, int k)
{
    int64_t n = la_count_cells(r->L, at), odd = LA_MAX_DIMS + 1;
    int64_t *sizes = reserve(r, at, n);
    const char **names = (const char **)reserve(r, at, n);
    if (n <= LA_MAX_DIMS)
        odd = la_read_named_sizes(r->L, at, n, sizes, names);
    if (odd) {
        r->score += 3;
        return fail(r, at, "[%d]: {name, size} expected", (int)odd);
    }
    r->args[k] = la_v_ints(sizes, n);
    r->args[k].given = true;
    r->args[k + 1] = (la_value){.tag = LA_VNAMES, .given = true,
                                     .names = {names, n}};
    return true;
}

/* And a last table that is a list may hold keywords too: they are read when all
** by position are. */
static int takes_more(reader *r, int at, int k)
{
    la_type type = r->schema->params[k].type;
    if (at == r->last && is_list(r, at) && la_type_is_list(type)
        && la_has_string_key(r->L, at)) r->both = true;
    if (!takes_named_sizes(r, at, k)) return 0;
    return named_sizes(r, at, k) ? 1 : -1;
}

/* Is the table at 'at' the keywords' rather than the value of parameter k? One
** with a list part is a value; an empty one is, where a list is expected. */
static bool ends_positions(reader *r, int at, int k)
{
    if (at != r->last || lua_type(r->L, at) != LUA_TTABLE) return false;
    if (la_is_list(r->L, at)) return false;
    return !la_type_is_list(r->schema->params[k].type)
        || la_has_string_key(r->L, at);
}

#define NIL_IS_LEFT_OUT false
#include "op/arguments.inc"

/* ---- keywords ---- */

static bool one_keyword(reader *r, int at)
{
    size_t n;
    const char *word = lua_tolstring(r->L, at - 1, &n);
    return read_keyword(r, at, word, n);
}

/* How many keys of the table are names of parameters. */
static int known_keywords(reader *r, int table)
{
    size_t n;
    int known = 0;
    lua_State *L = r->L;
    luaL_checkstack(L, 4, "too many arguments");
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING) {
            const char *word = lua_tolstring(L, -2, &n);
            known += la_schema_find(r->schema, word, n) >= 0;
        }
    return known;
}

/* Values stay on the stack as anchors: a copy of the key goes on top for the
** next iteration. With 'creation' the list part of the table (integer keys)
** belongs to a positional argument. */
static bool read_keywords(reader *r, int table, bool creation)
{
    lua_State *L = r->L;
    char quoted[256];
    if (r->quiet) r->score += 2 * known_keywords(r, table);
    lua_pushnil(L);
    while (lua_next(L, table)) {
        int at = lua_gettop(L);
        luaL_checkstack(L, 8, "too many arguments");
        if (lua_type(L, at - 1) == LUA_TSTRING) {
            if (!one_keyword(r, at)) return false;
        } else if (!creation || !lua_isinteger(L, at - 1)) {
            return r->quiet ? false
                : lua_rawlen(L, table) > 0
                ? fail(r, table, "table of keywords expected, got a list: "
                            "at most %d arguments stand before them",
                            r->schema->npositional)
                : fail(r, table, "table of keywords expected, got one "
                            "with the key %s", la_key_text(L, at - 1, quoted,
                                                        sizeof(quoted)));
        }
        lua_pushvalue(L, at - 1);
    }
    return true;
}

/* ---- the whole call ---- */

/* x:to("float33"): what an overload without such an argument says of it. */
static bool odd_word(reader *r, int at)
{
    size_t n;
    char quoted[256];
    const char *word = lua_tolstring(r->L, at, &n);
    return fail(r, at, "'%s' is no device and no dtype (known: %s)",
                     la_quote(word, n, quoted, sizeof(quoted)),
                     la_known_dtypes);
}

static bool args_finish(reader *r, int at)
{
    if (r->both && !read_keywords(r, r->last, true)) return false;
    if (at == r->last && is_list(r, at)) {
        if (!read_keywords(r, at, false)) return false;
        at++;
    }
    if (at <= r->last && at == r->odd_word) return odd_word(r, at);
    return at > r->last ? fill_defaults(r) : too_many(r, at);
}

bool la_parse(lua_State *L, const la_op *op, const char *name, bool method,
              bool quiet, la_call_args *out)
{
    const la_schema *s = la_schema_of(op);
    reader r = {L, op, s, name, out, out->args, method, quiet, false,
                lua_gettop(L), s->npositional, out->odd_word, 0, 0};
    int at = 1;
    if (s->broken) la_raise(L, name, la_schema_fault(op->signature));
    out->used = 0;
    for (int k = 0; k < s->nparams; k++) out->handles[k] = NULL;
    memset(out->outs, 0, sizeof(out->outs));
    begin_reading(&r);
    bool fits = read_positional(&r, &at) && args_finish(&r, at);
    out->nouts = r.nouts;
    out->score = r.score;
    out->odd_word = r.odd_word;
    return fits;
}
