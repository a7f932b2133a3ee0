/*
** Tensors from Lua values and back: nested tables, raw bytes, functions.
** A nested table is walked twice without recursion: once to learn shape and
** kind and to check every leaf, once to store; of a short one the leaves are
** kept from the first walk. A short list of numbers is read while its keys are
** looked through for options. Tables without a metatable are read raw.
** Metamethods and finalizers may change the table between the walks, so the
** second one checks lengths again.
*/
#include <stdio.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "lua/build_options.h"
#include "lua/from_table.h"
#include "lua/sandbox/sandbox.h"
#include "op/call.h"
#include "op/cost/fuel.h"
#include "tensor/hash.h"
#include "tensor/host/remote.h"
#include "tensor/shape.h"

/* ---- walking a nested table ---- */

/* An odometer: at[d] is the index from 0 in dim d, and the stack holds the
** current table of each dim, from 'base' on. */
typedef struct walk {
    lua_State *L;
    const char *name;
    int base;               /* stack index of the outermost table */
    int ndim;
    int64_t sizes[LA_MAX_DIMS], at[LA_MAX_DIMS];
    bool raw[LA_MAX_DIMS];
    bool stored;            /* the second walk: shapes have been checked */
    bool digits;            /* strings of digits are leaves: of uint64 */
    la_scalar *leaf;        /* where the next leaf is read to */
} walk;

static bool is_table(lua_State *L, int at)
{
    return lua_type(L, at) == LUA_TTABLE;
}

/* "[2][3]" of the element where the walk is. For errors only: the string is
** left on the stack. */
static const char *element_text(const walk *w, int depth)
{
    luaL_Buffer b;
    char one[32];
    luaL_buffinit(w->L, &b);
    for (int d = 0; d < depth; d++) {
        snprintf(one, sizeof(one), "[%lld]", (long long)w->at[d] + 1);
        luaL_addstring(&b, one);
    }
    luaL_pushresult(&b);
    return lua_tostring(w->L, -1);
}

/* Push element at[d] of the table that stands for dim d; its type. Lua code may
** run where the table has a metatable. */
static inline int table_push_element(walk *w, int d)
{
    int table = w->base + d;
    return w->raw[d] ? lua_rawgeti(w->L, table, w->at[d] + 1)
                     : lua_geti(w->L, table, w->at[d] + 1);
}

/* How long the table of dim d is, which is looked at now. */
static int64_t table_enter_table(walk *w, int d)
{
    int table = w->base + d;
    w->raw[d] = !lua_getmetatable(w->L, table);
    if (w->raw[d]) return (int64_t)lua_rawlen(w->L, table);
    lua_pop(w->L, 1);
    return luaL_len(w->L, table);
}

/* The key on the top of the stack, in the table of dim d, is no index. */
static void raise_odd_key(walk *w, int d)
{
    lua_State *L = w->L;
    size_t n;
    char quoted[256];
    const char *word = lua_type(L, -1) == LUA_TSTRING
        ? lua_tolstring(L, -1, &n) : NULL;
    word = word ? la_quote(word, n, quoted, sizeof(quoted))
        : lua_isnumber(L, -1) ? la_push_shown(L, -1) : la_type_text(L, -1);
    luaL_error(L, "bad argument #1 to '%s' (%s['%s']: a table of data has no "
               "such keys)", w->name, element_text(w, d), word);
}

/* Elements behind the length of a raw row would be dropped in silence: they lie
** behind a hole. The walk begins at the last element, where nothing follows in
** a table that is a list; below two elements there may be no list part. Keys of
** the outermost table, options among them, la_read_options_in_data has seen. */
static void check_holes(walk *w, int d, int64_t n)
{
    lua_State *L = w->L;
    if (n > 1) lua_pushinteger(L, n);
    else lua_pushnil(L);
    while (lua_next(L, w->base + d)) {
        lua_pop(L, 1);
        if (!lua_isinteger(L, -1)) raise_odd_key(w, d);
        int64_t i = lua_tointeger(L, -1);
        if (i < 1 || i > n)
            la_raise_hole(L, w->name, element_text(w, d), i, (int)n);
    }
}

/* The shape, by the first elements; leaves their tables on the stack, where a
** walk begins. */
static void learn_shape(walk *w)
{
    lua_State *L = w->L;
    w->ndim = 0;
    while (is_table(L, w->base + w->ndim)) {
        int d = w->ndim++;
        if (w->ndim > LA_MAX_DIMS)
            luaL_error(L, "bad argument #1 to '%s' (nested too deep: at most "
                       "%d levels)", w->name, LA_MAX_DIMS);
        w->sizes[d] = table_enter_table(w, d);
        w->at[d] = 0;
        if (w->raw[d] && d > 0) check_holes(w, d, w->sizes[d]);
        if (w->sizes[d] == 0) return;
        luaL_checkstack(L, 4, "nested too deep");
        table_push_element(w, d);
    }
    lua_settop(L, w->base + w->ndim - (w->ndim > 0));
}

/* The table for dim d is on the stack: raises unless it has the size that the
** first one of that dim had. */
static void table_check_row(walk *w, int d, int type)
{
    lua_State *L = w->L;
    if (type != LUA_TTABLE)
        luaL_error(L, "bad argument #1 to '%s' (%s: table of %d elements "
                   "expected, got %s)", w->name, element_text(w, d),
                   (int)w->sizes[d], la_type_text(L, w->base + d));
    int64_t n = table_enter_table(w, d);
    if (n != w->sizes[d])
        luaL_error(L, "bad argument #1 to '%s' (%s: %d elements expected, got "
                   "%d)", w->name, element_text(w, d), (int)w->sizes[d],
                   (int)n);
    if (w->raw[d] && !w->stored) check_holes(w, d, n);
}

/* Step to the next innermost row; false at the end. Tables of the dims are on
** the stack from base on. */
static bool table_next_row(walk *w)
{
    int d = w->ndim - 2;
    while (d >= 0 && ++w->at[d] == w->sizes[d]) w->at[d--] = 0;
    if (d < 0) return false;
    lua_settop(w->L, w->base + d);
    for (; d < w->ndim - 1; d++) {
        int type = table_push_element(w, d);
        table_check_row(w, d + 1, type);
    }
    return true;
}

/* The value on the top is no leaf: raises, with its indices. */
static void leaf_error(walk *w)
{
    lua_State *L = w->L;
    const char *got = is_table(L, -1) ? "table (ragged nesting)"
        : la_to_handle(L, -1) ? "tensor: join tensors by la.stack or la.cat"
        : la_type_text(L, lua_gettop(L));
    luaL_error(L, "bad argument #1 to '%s' (%s: number expected, got %s)",
               w->name, element_text(w, w->ndim), got);
}

/* The string at 'at' as a uint64: digits alone, nothing that is too large. */
static bool table_read_digits(lua_State *L, int at, la_scalar *out)
{
    size_t n;
    const char *s = lua_tolstring(L, at, &n);
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(unsigned char)s[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *out = la_scalar_unsigned(v);
    return n > 0;
}

/* The value on top of the stack, of this Lua type. A one-element tensor is a
** leaf too, unless it needs a gradient. */
static void table_read_leaf(walk *w, int type, la_scalar *out)
{
    lua_State *L = w->L;
    if (type != LUA_TNUMBER) {
        if (w->digits && type == LUA_TSTRING && table_read_digits(L, -1, out))
            return;
        if (type == LUA_TTABLE || !la_to_scalar(L, -1, out)) leaf_error(w);
    } else if (lua_isinteger(L, -1)) {
        *out = la_scalar_int(lua_tointeger(L, -1));
    } else {
        *out = la_scalar_float(lua_tonumber(L, -1));
    }
}

/* Raises when the host asks to stop; looked at every few milliseconds. */
static inline void poll_leaves(lua_State *L, const char *name, int64_t count)
{
    if ((count & 0xffff) == 0) LA_CHECK(L, name, la_poll());
}

/* Called for every leaf, in order; may set where the next is read to. */
typedef void (*leaf_fn)(walk *w, const la_scalar *leaf, void *context);

/* Visit the leaves in order, on tables that stand at their first row. The stack
** is cut back every eight leaves, which is cheaper than a pop for each. */
static void each_leaf(walk *w, leaf_fn fn, void *context)
{
    lua_State *L = w->L;
    int last = w->ndim - 1, row = w->base + last;
    luaL_checkstack(L, 12, "nested too deep");
    int64_t count = 0;
    do {
        for (w->at[last] = 0; w->at[last] < w->sizes[last]; w->at[last]++) {
            la_scalar *s = w->leaf;
            table_read_leaf(w, table_push_element(w, last), s);
            fn(w, s, context);
            if (w->at[last] % 8 == 7) lua_settop(L, row);
            poll_leaves(L, w->name, ++count);
        }
    } while (table_next_row(w));
}

/* Up to so many leaves the second walk is spared. */
#define KEPT 16
typedef struct first_look {
    la_kind kind;               /* the widest */
    int n;
    la_scalar list[KEPT + 1];   /* the first, and a slot for others */
} first_look;

/* First walk: the widest kind decides the dtype. */
static void look_at_leaf(walk *w, const la_scalar *leaf, void *context)
{
    first_look *k = context;
    if (leaf->kind > k->kind) k->kind = leaf->kind;
    if (k->n < KEPT) w->leaf = &k->list[++k->n];
}

/* Destination of the second walk; 'left' guards against a table that grew. */
typedef struct sink {
    la_tensor *t;
    char *at;
    int64_t left;
} sink;

/* Raises for a value that the dtype cannot hold. */
static void store_leaf(walk *w, const la_scalar *leaf, void *context)
{
    sink *s = context;
    if (s->left-- <= 0)
        luaL_error(w->L, "%s: the table changed while it was read", w->name);
    if (la_scalar_store(leaf, (la_dtype)s->t->dtype, s->at))
        luaL_error(w->L, "bad argument #1 to '%s' (%s: %s)", w->name,
                   element_text(w, w->ndim), la_error_message());
    s->at += la_itemsize(s->t);
}

/* The kept leaves, each with its indices for an error. */
static void store_kept(walk *w, const first_look *k, sink *s)
{
    for (int d = 0; d < w->ndim; d++) w->at[d] = 0;
    for (int i = 0; i < k->n; i++) {
        store_leaf(w, &k->list[i], s);
        for (int d = w->ndim - 1; d >= 0; d--) {
            if (++w->at[d] < w->sizes[d]) break;
            w->at[d] = 0;
        }
    }
}

/* The commonest table, a short list of numbers and nothing else, in the one
** walk that sees all its keys. False, with the stack as before, for others. */
static bool look_at_list(walk *w, int at, first_look *k)
{
    lua_State *L = w->L;
    int top = lua_gettop(L);
    if (lua_getmetatable(L, at)) {
        lua_settop(L, top);
        return false;
    }
    lua_pushnil(L);
    while (lua_next(L, at)) {
        if (k->n == KEPT || !lua_isinteger(L, -2)
            || lua_tointeger(L, -2) != k->n + 1
            || lua_type(L, -1) != LUA_TNUMBER) break;
        table_read_leaf(w, LUA_TNUMBER, w->leaf);
        look_at_leaf(w, w->leaf, k);
        lua_settop(L, top + 1);
    }
    w->ndim = 1;
    w->sizes[0] = k->n;
    bool whole = k->n > 0 && lua_gettop(L) == top;
    lua_settop(L, top);
    return whole;
}

static void begin_look(walk *w, first_look *k)
{
    k->kind = LA_KBOOL;
    k->n = 0;
    w->leaf = k->list;
}

static la_dtype kind_dtype(la_kind kind)
{
    la_scalar s = {kind, 0, 0, 0};
    return la_scalar_dtype(&s);
}

/* Tables of the first row back on the stack, as after learn_shape. */
static void rewind_walk(walk *w)
{
    lua_settop(w->L, w->base);
    for (int d = 0; d < w->ndim; d++) w->at[d] = 0;
    for (int d = 0; d + 1 < w->ndim && w->sizes[d] > 0; d++) {
        table_push_element(w, d);
        if (!is_table(w->L, -1))
            luaL_error(w->L, "%s: the table changed while it was read",
                       w->name);
        table_enter_table(w, d + 1);
    }
}

/* The handle stands below the tables, so that it stays anchored. Fills 'h'
** before the values are stored: whatever raises after that leaves a tensor that
** the collector owns. Options among the data, 'known' ones, go to 'o'. */
static void from_table(lua_State *L, int at, const char *const *known,
                       la_build_options *o, la_handle *h, const char *name)
{
    walk w;
    first_look k;
    int64_t count;
    w.L = L;
    w.name = name;
    w.stored = w.digits = false;
    begin_look(&w, &k);
    if (!look_at_list(&w, at, &k)) {
        la_read_options_in_data(L, at, known, o, name);
        w.digits = o->dtype == LA_UINT64;
        begin_look(&w, &k);
        lua_pushvalue(L, at);
        w.base = lua_gettop(L);
        learn_shape(&w);
        LA_CHECK(L, name, la_numel(w.ndim, w.sizes, &count));
        each_leaf(&w, look_at_leaf, &k);
    } else {
        count = k.n;
    }
    la_begin_work(L, la_up_state(L), name, la_fuel_lua(w.ndim, w.sizes, count));
    if (count == 0) k.kind = LA_KFLOAT;
    la_dtype dtype = o->dtype;
    if (dtype == LA_UNDEFINED) dtype = kind_dtype(k.kind);
    la_tensor *t = NULL;
    LA_CHECK_TWICE(L, name, la_tensor_empty(w.ndim, w.sizes, dtype, &t));
    la_fill_handle(la_up_state(L), h, t);
    sink s = {t, la_data(t), count};
    if (count <= KEPT) {
        store_kept(&w, &k, &s);
        return;
    }
    w.stored = true;
    rewind_walk(&w);
    each_leaf(&w, store_leaf, &s);
}

static void from_number(lua_State *L, int at, const la_build_options *o,
                        la_handle *h, const char *name)
{
    la_scalar s;
    la_tensor *t = NULL;
    la_begin_work(L, la_up_state(L), name, 1);
    bool digits = o->dtype == LA_UINT64 && lua_type(L, at) == LUA_TSTRING
        && table_read_digits(L, at, &s);
    if (!digits && !la_to_scalar(L, at, &s))
        la_raise_arg(L, at, name, "table, number, boolean or tensor expected, "
                     "got %s", la_type_text(L, at));
    la_dtype dtype = o->dtype != LA_UNDEFINED ? o->dtype : la_scalar_dtype(&s);
    LA_CHECK(L, name, la_tensor_empty(0, NULL, dtype, &t));
    la_fill_handle(la_up_state(L), h, t);
    LA_CHECK(L, name, la_scalar_store(&s, dtype, la_data(t)));
}

/* A copy without history, as la.tensor(x) in PyTorch. The flag of numbers that
** were wrapped does not pass on. */
static void from_tensor(lua_State *L, int at, const la_build_options *o,
                        la_handle *h, const char *name)
{
    la_tensor *src = la_check_tensor(L, at, name), *plain = NULL, *t = NULL;
    LA_CHECK(L, name, la_run(detach, &plain, src));
    la_dtype dtype = o->dtype;
    if (dtype == LA_UNDEFINED) dtype = (la_dtype)src->dtype;
    la_status status = la_run(astype, &t, plain, la_v_dtype(dtype));
    la_tensor_release(plain);
    LA_CHECK(L, name, status);
    t->flags &= ~(uint32_t)LA_F_WRAPPED;
    la_fill_handle(la_up_state(L), h, t);
}

/* The keywords a function knows; "known:" in its error lists all of them. */
static const char *const build_keys[] = {"dtype", "requires_grad", "device",
                                         "names", "memory_format", NULL};
static const char *const asarray_keys[] = {"dtype", "requires_grad", "device",
                                           "names", "memory_format", "copy",
                                           NULL};

/* Push a new tensor of the table, number, boolean or tensor at 'at'. Applies
** the options, those among the data too, and lets the collector keep up. */
static int build_tensor(lua_State *L, int at, const char *const *known,
                        la_build_options *o, const char *name)
{
    la_state *s = la_enter(L);
    la_handle *h = la_new_handle(L, s);
    int top = lua_gettop(L);
    if (la_to_handle(L, at)) from_tensor(L, at, o, h, name);
    else if (is_table(L, at)) from_table(L, at, known, o, h, name);
    else from_number(L, at, o, h, name);
    lua_settop(L, top);
    la_apply_options(L, h, o, name);
    la_pace(L, s);
    return 1;
}

static int fn_tensor(lua_State *L)
{
    la_enter(L);
    la_build_options o = la_read_options(L, 2, build_keys, "tensor");
    if (lua_isnone(L, 1))
        return la_raise_arg(L, 1, "tensor", "table, number, boolean or tensor "
                            "expected, got no value");
    return build_tensor(L, 1, build_keys, &o, "tensor");
}

/* asarray: the tensor itself when nothing would change. copy = true forces a
** copy, copy = false raises where one is needed. */
static int fn_asarray(lua_State *L)
{
    la_enter(L);
    la_build_options o = la_read_options(L, 2, asarray_keys, "asarray");
    la_handle *h = la_to_handle(L, 1);
    bool copy = false, never = false;
    int options = lua_istable(L, 2) ? 2 : 1;
    if (lua_istable(L, options)) {
        lua_getfield(L, options, "copy");
        copy = lua_toboolean(L, -1);
        never = lua_type(L, -1) == LUA_TBOOLEAN && !copy;
        lua_pop(L, 1);
    }
    bool same = h && h->tensor && !copy && !o.names && !o.has_format
        && (!o.has_device || o.device == (la_device)h->tensor->device)
        && (o.dtype == LA_UNDEFINED || o.dtype == (la_dtype)h->tensor->dtype);
    if (same) {
        lua_settop(L, 1);
        return 1;
    }
    if (never)
        return luaL_error(L, "asarray: this needs a copy, and copy is false");
    return build_tensor(L, 1, asarray_keys, &o, "asarray");
}

/* x:new_tensor(data[, options]): x's dtype unless one is given. */
static int method_new_tensor(lua_State *L)
{
    la_enter(L);
    la_build_options o = la_read_options(L, 3, build_keys, "new_tensor");
    la_tensor *self = la_check_tensor(L, 1, "new_tensor");
    if (o.dtype == LA_UNDEFINED) o.dtype = (la_dtype)self->dtype;
    return build_tensor(L, 2, build_keys, &o, "new_tensor");
}

/* ---- raw bytes ---- */

/* from_raw(string, dtype, sizes[, {offset = 1}]): copies the bytes. In the byte
** order of the machine. Without options the string must have the exact
** length. */
static int fn_from_raw(lua_State *L)
{
    la_state *s = la_enter(L);
    size_t n;
    int64_t sizes[LA_MAX_DIMS], numel, bytes, offset = 1;
    la_tensor *t = NULL;
    if (lua_type(L, 1) != LUA_TSTRING)
        return la_raise_arg(L, 1, "from_raw", "string expected, got %s",
                            la_type_text(L, 1));
    const char *raw = lua_tolstring(L, 1, &n);
    la_dtype dtype = la_check_dtype(L, 2, "from_raw");
    if (lua_istable(L, 4)) {
        lua_getfield(L, 4, "offset");
        if (!lua_isnil(L, -1)) offset = la_check_int(L, -1, "from_raw");
    }
    int ndim = la_read_sizes(L, 3, sizes, "from_raw");
    LA_CHECK(L, "from_raw", la_numel(ndim, sizes, &numel));
    bytes = numel * (int64_t)la_dtype_size(dtype);
    if (offset < 1 || offset - 1 > (int64_t)n
        || (lua_istable(L, 4) ? bytes > (int64_t)n - (offset - 1)
                              : bytes != (int64_t)n))
        return la_raise_arg(L, 1, "from_raw", "string of %d bytes expected, "
                            "got %d", (int)bytes, (int)n);
    la_begin_work(L, s, "from_raw", numel);
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "from_raw", la_tensor_empty(ndim, sizes, dtype, &t));
    la_fill_handle(s, h, t);
    if (bytes > 0) memcpy(la_data(t), raw + offset - 1, (size_t)bytes);
    la_pace(L, s);
    return 1;
}

/* A list of sizes (or one integer) at 'at'; returns their number. */
int la_read_sizes(lua_State *L, int at, int64_t *sizes, const char *name)
{
    if (lua_type(L, at) != LUA_TTABLE) {
        sizes[0] = la_check_int(L, at, name);
        return 1;
    }
    int64_t n = luaL_len(L, at);
    if (n > LA_MAX_DIMS)
        la_raise_arg(L, at, name, "at most %d sizes expected", LA_MAX_DIMS);
    for (int i = 0; i < (int)n; i++) {
        lua_geti(L, at, i + 1);
        sizes[i] = la_check_int(L, lua_gettop(L), name);
        lua_pop(L, 1);
    }
    return (int)n;
}

/* Are the elements in memory as totable and tostring_raw read them: contiguous,
** in bounds of the storage, without bits that alter values? */
static bool lies_plain(const la_tensor *t)
{
    enum { ODD = LA_F_CONJ | LA_F_NEG | LA_F_DEFERRED };
    return t->device == LA_CPU && t->storage && !la_ctx()->recorder
        && !(t->flags & ODD) && la_is_contiguous(t)
        && (t->offset + t->numel) * (int64_t)la_itemsize(t)
           <= t->storage->nbytes;
}

/* A plain contiguous CPU copy, or the tensor itself, in a handle on the top,
** from which the result is borrowed. Each intermediate is in the handle before
** the next is computed, so that an error leaks nothing. */
static la_tensor *table_push_plain(lua_State *L, int arg, const char *name)
{
    la_state *s = la_up_state(L);
    la_check_read(L, la_check_tensor(L, arg, name), name);
    la_handle *h = la_new_handle(L, s);     /* may run finalizers: first */
    la_tensor *t = la_check_tensor(L, arg, name);
    la_tensor *plain = NULL, *dense = NULL;
    if (lies_plain(t)) return h->tensor = la_tensor_retain(t);
    LA_CHECK(L, name, la_run(resolve_conj, &plain, t));
    h->tensor = plain;
    LA_CHECK(L, name, la_run(resolve_neg, &dense, plain));
    h->tensor = dense;
    la_tensor_release(plain);
    plain = dense;
    LA_CHECK(L, name, la_run(contiguous, &dense, plain));
    h->tensor = dense;
    la_tensor_release(plain);
    if (dense->device == LA_META)
        luaL_error(L, "%s: a tensor on the meta device has no data", name);
    LA_CHECK(L, name, la_remote_bring(&h->tensor));
    LA_CHECK(L, name, la_tensor_check_bounds(h->tensor));
    return h->tensor;
}

/* Elements of the tensor at 'arg'; 0 for what is none. */
static int64_t numel_at(lua_State *L, int arg)
{
    const la_handle *h = la_to_handle(L, arg);
    return h && h->tensor ? h->tensor->numel : 0;
}

static int method_tostring_raw(lua_State *L)
{
    la_begin(L, "tostring_raw", numel_at(L, 1));
    la_tensor *t = table_push_plain(L, 1, "tostring_raw");
    lua_pushlstring(L, t->numel ? la_data(t) : "",
                    (size_t)t->numel * la_itemsize(t));
    return 1;
}

/* hash(x): a Lua integer, the same for every layout. */
static int fn_hash(lua_State *L)
{
    uint64_t hash;
    la_begin(L, "hash", numel_at(L, 1));
    LA_CHECK(L, "hash", la_tensor_hash(table_push_plain(L, 1, "hash"), &hash));
    lua_pushinteger(L, (lua_Integer)hash);
    return 1;
}

/* ---- totable ---- */

/* Numbers of the commonest dtypes go to Lua at once: a la_scalar is written in
** parts and read as a whole, which costs more than all the rest. */
static inline void push_leaf(lua_State *L, la_dtype dtype, const char *at)
{
    switch (dtype) {
    case LA_FLOAT32: lua_pushnumber(L, *(const float *)at); return;
    case LA_FLOAT64: lua_pushnumber(L, *(const double *)at); return;
    case LA_INT64: lua_pushinteger(L, *(const int64_t *)at); return;
    default: break;
    }
    la_scalar s = la_scalar_load(dtype, at);
    if (s.kind != LA_KCOMPLEX) {
        la_push_scalar(L, &s);
        return;
    }
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, s.re);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, s.im);
    lua_rawseti(L, -2, 2);
}

/* The leaves of the last dim go into the table on the top. */
static const char *push_row(lua_State *L, const la_tensor *t, const char *data,
                            int64_t *count)
{
    int64_t n = la_sizes(t)[t->ndim - 1], item = (int64_t)la_itemsize(t);
    la_dtype dtype = (la_dtype)t->dtype;
    for (int64_t i = 1; i <= n; i++, data += item) {
        push_leaf(L, dtype, data);
        lua_rawseti(L, -2, i);
        poll_leaves(L, "totable", ++*count);
    }
    return data;
}

/* Tables of the dims stand on the stack from 'base' on; the odometer adds each
** finished one to its parent. Depth is bounded by LA_MAX_DIMS, and the stack is
** grown once for all. */
static void push_nested(lua_State *L, const la_tensor *t)
{
    int64_t at[LA_MAX_DIMS] = {0}, count = 0;
    const char *data = la_data(t);
    int d = 0, last = t->ndim - 1;
    luaL_checkstack(L, t->ndim + 4, "too many dimensions");
    lua_createtable(L, (int)la_sizes(t)[0], 0);
    while (d >= 0) {
        if (d < last && at[d] < la_sizes(t)[d]) {
            lua_createtable(L, (int)la_sizes(t)[++d], 0);
            continue;
        }
        if (d == last) data = push_row(L, t, data, &count);
        at[d--] = 0;
        if (d >= 0) lua_rawseti(L, -2, ++at[d]);
    }
}

/* A short row needs nothing that keeps its tensor: once the table is there, no
** Lua code runs. False when it is something else. */
static bool push_short(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "totable");
    int64_t n = t->ndim == 1 ? la_sizes(t)[0] : 0, count = 0;
    if (n < 1 || n > 256 || la_is_complex((la_dtype)t->dtype)) return false;
    lua_createtable(L, (int)n, 0);      /* may run finalizers: look again */
    t = la_check_tensor(L, 1, "totable");
    bool same = t->ndim == 1 && la_sizes(t)[0] == n && lies_plain(t)
        && !la_is_complex((la_dtype)t->dtype);
    if (same) push_row(L, t, la_data(t), &count);
    else lua_pop(L, 1);
    return same;
}

/* Nested tables; a number for no dims, {re, im} for complex elements. */
static int method_totable(lua_State *L)
{
    la_begin(L, "totable", numel_at(L, 1));
    if (push_short(L)) return 1;
    la_tensor *t = table_push_plain(L, 1, "totable");
    la_charge_more(L, "totable", la_fuel_lua(t->ndim, la_sizes(t), t->numel));
    if (t->ndim == 0) push_leaf(L, (la_dtype)t->dtype, la_data(t));
    else push_nested(L, t);
    return 1;
}

static const la_function functions[] = {
    {"tensor", fn_tensor, LA_MANY}, {"asarray", fn_asarray, LA_MANY},
    {"as_tensor", fn_asarray, LA_MANY}, {"from_table", fn_asarray, LA_MANY},
    {"from_raw", fn_from_raw, 4}, {"frombuffer", fn_from_raw, 4},
    {"from_string", fn_from_raw, 4}, {"hash", fn_hash, 1}, {NULL, NULL, 0}
};
static const la_function methods[] = {
    {"new_tensor", method_new_tensor, LA_MANY}, {"totable", method_totable, 1},
    {"tolist", method_totable, 1}, {"tostring_raw", method_tostring_raw, 1},
    {"tobytes", method_tostring_raw, 1}, {"item", la_item, LA_MANY},
    {"tonumber", la_tonumber, 1}, {"tointeger", la_tointeger, 1},
    {NULL, NULL, 0}
};
const la_part la_part_build = {functions, methods};
