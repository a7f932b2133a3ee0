/*
** Signatures of compiled functions: what the values of a call have in common
** with those of a recording. Tensors are compared by the program (their form)
** and here (which of them are one, and share memory); numbers by kind and bits,
** tables by keys, everything else by identity.
*/
#include <string.h>

#include "lua/transform/compile.h"

/* ---- lists ---- */

la_sig *la_add_sig(lua_State *L, la_prog_list *list, la_sig_kind kind,
                     int32_t at)
{
    la_sig *item = la_prog_add(list, sizeof *item);
    if (!item) la_raise(L, "compile", LA_ENOMEM);
    *item = (la_sig){.kind = (uint8_t)kind, .at = at};
    return item;
}

int32_t la_add_ref(lua_State *L, la_called *e, int refs)
{
    lua_rawseti(L, refs, ++e->nrefs);
    return e->nrefs;
}

/* ---- writing ---- */

typedef struct writer {
    lua_State *L;
    la_called *e;
    int refs;
    la_call_tensors *c;
} writer;

int la_join_tensor(la_call_tensors *c, la_handle *h)
{
    for (int i = 0; i < c->n; i++)
        if (c->tensors[i] == h->tensor) return i;
    if (c->n == LA_COMPILE_TENSORS) return -1;
    c->handles[c->n] = h;
    c->tensors[c->n] = h->tensor;
    return c->n++;
}

void la_hold_tensors(lua_State *L, la_call_tensors *c, int n)
{
    luaL_checkstack(L, n + 24, "compile: too many tensors");
    c->hold = lua_gettop(L) + 1;
    lua_settop(L, c->hold + n - 1);
}

void la_take_tensors(lua_State *L, la_call_tensors *c, const char *name)
{
    for (int i = 0; i < c->n; i++) {
        c->tensors[i] = c->handles[i]->tensor;
        if (!c->tensors[i])
            luaL_error(L, "%s: %s", name, la_freed_text(c->handles[i]));
    }
}

/* Is the tensor of the handle, which is the value at 'at', number 'k' of the
** call's? It joins them. */
static bool signature_join(lua_State *L, la_call_tensors *c, la_handle *h,
                           int at, int k)
{
    int n = c->n;
    if (la_join_tensor(c, h) != k) return false;
    if (k == n && c->hold) lua_copy(L, at, c->hold + k);
    return true;
}

static void signature_write(writer *w, int at, int depth);

static void signature_write_table(writer *w, int at, int depth)
{
    lua_State *L = w->L;
    if (depth == LA_COMPILE_DEPTH)
        luaL_error(L, "compile: tables in tables, more than %d deep",
                   LA_COMPILE_DEPTH);
    luaL_checkstack(L, 8, "compile: too many values");
    int32_t start = w->e->items.n, n = 0;
    la_add_sig(L, &w->e->items, LA_SIG_KEYS, 0);
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        la_add_sig(L, &w->e->items, LA_SIG_KEY,
                    la_add_ref(L, w->e, w->refs));
        signature_write(w, lua_gettop(L), depth + 1);
        n++;
    }
    LA_PROG_AT(w->e->items, la_sig, start)->at = n;
}

static void signature_write_number(writer *w, int at)
{
    lua_State *L = w->L;
    bool integer = lua_isinteger(L, at);
    la_sig *item = la_add_sig(L, &w->e->items,
                                integer ? LA_SIG_INT : LA_SIG_FLOAT, 0);
    if (integer) item->i = lua_tointeger(L, at);
    else item->d = lua_tonumber(L, at);
}

static void signature_write_handle(writer *w, int at, la_handle *h)
{
    if (!h->tensor) la_check_tensor(w->L, at, "compile");
    int n = w->c->n, k = la_join_tensor(w->c, h);
    if (k < 0)
        luaL_error(w->L, "compile: more than %d tensors in the arguments",
                   LA_COMPILE_TENSORS);
    if (k == n) lua_copy(w->L, at, w->c->hold + k);
    la_add_sig(w->L, &w->e->items, LA_SIG_ARGUMENT, k);
}

/* Plain values are compared by value and tables without a metatable key by key.
** A table with a metatable is an object: it is compared by identity, because
** what its fields mean is known to its methods alone. */
static void signature_write(writer *w, int at, int depth)
{
    lua_State *L = w->L;
    la_handle *h;
    switch (lua_type(L, at)) {
    case LUA_TNIL: la_add_sig(L, &w->e->items, LA_SIG_NIL, 0); return;
    case LUA_TBOOLEAN:
        la_add_sig(L, &w->e->items, LA_SIG_BOOL, lua_toboolean(L, at));
        return;
    case LUA_TNUMBER: signature_write_number(w, at); return;
    case LUA_TTABLE:
        if (lua_getmetatable(L, at)) {
            lua_pop(L, 1);
            break;
        }
        signature_write_table(w, at, depth);
        return;
    default:
        h = la_to_handle(L, at);
        if (!h) break;
        signature_write_handle(w, at, h);
        return;
    }
    lua_pushvalue(L, at);
    la_add_sig(L, &w->e->items, lua_type(L, at) == LUA_TSTRING
                ? LA_SIG_STRING : LA_SIG_VALUE,
                la_add_ref(L, w->e, w->refs));
}

void la_write_signature(lua_State *L, la_called *e, int refs, int first,
                        int top, la_call_tensors *c)
{
    writer w = {L, e, refs, c};
    c->n = 0;
    e->narguments = top - first + 1;
    for (int i = first; i <= top; i++) signature_write(&w, i, 0);
    e->ntensors = c->n;
}

/* ---- comparing ---- */

typedef struct reader {
    lua_State *L;
    const la_called *e;
    int refs;
    int32_t at;
    la_call_tensors *c;
} reader;

static bool signature_read(reader *r, int at);

/* True for as many entries, of the same keys. lua_next reads raw and is given
** keys of the table, so nothing here raises. */
static bool signature_read_table(reader *r, const la_sig *item, int at)
{
    lua_State *L = r->L;
    int32_t n = 0;
    if (lua_type(L, at) != LUA_TTABLE || !lua_checkstack(L, 8)) return false;
    for (lua_pushnil(L); lua_next(L, at); lua_pop(L, 1)) n++;
    if (n != item->at) return false;
    for (int32_t k = 0; k < n; k++) {
        const la_sig *key = LA_PROG_AT(r->e->items, la_sig, r->at++);
        lua_rawgeti(L, r->refs, key->at);
        lua_rawget(L, at);
        bool same = signature_read(r, lua_gettop(L));
        lua_pop(L, 1);
        if (!same) return false;
    }
    return true;
}

static bool signature_is_ref(reader *r, const la_sig *item, int at)
{
    lua_rawgeti(r->L, r->refs, item->at);
    bool same = lua_rawequal(r->L, -1, at);
    lua_pop(r->L, 1);
    return same;
}

static bool signature_read_tensor(reader *r, const la_sig *item, int at)
{
    la_handle *h = la_to_handle(r->L, at);
    if (!h || !h->tensor || !signature_join(r->L, r->c, h, at, item->at))
        return false;
    if (!item->i) return true;
    lua_rawgeti(r->L, r->refs, item->i);
    const la_handle *own = la_to_handle(r->L, -1);
    bool same = own && own->tensor == h->tensor;
    lua_pop(r->L, 1);
    return same;
}

static bool signature_is_float(lua_State *L, const la_sig *item, int at)
{
    double d;
    if (lua_type(L, at) != LUA_TNUMBER || lua_isinteger(L, at)) return false;
    d = lua_tonumber(L, at);
    return memcmp(&d, &item->d, sizeof d) == 0;
}

static bool signature_read(reader *r, int at)
{
    lua_State *L = r->L;
    const la_sig *item = LA_PROG_AT(r->e->items, la_sig, r->at++);
    switch (item->kind) {
    case LA_SIG_ARGUMENT: return signature_read_tensor(r, item, at);
    case LA_SIG_NIL: return lua_isnil(L, at);
    case LA_SIG_BOOL:
        return lua_isboolean(L, at) && lua_toboolean(L, at) == item->at;
    case LA_SIG_INT:
        return lua_isinteger(L, at) && lua_tointeger(L, at) == item->i;
    case LA_SIG_FLOAT: return signature_is_float(L, item, at);
    case LA_SIG_KEYS: return signature_read_table(r, item, at);
    default: return signature_is_ref(r, item, at);
    }
}

bool la_match_signature(lua_State *L, const la_called *e, int refs, int first,
                        int top, la_call_tensors *c)
{
    reader r = {L, e, refs, 0, c};
    c->n = 0;
    if (top - first + 1 != e->narguments) return false;
    int before = lua_gettop(L);
    bool same = true;
    for (int i = first; i <= top && same; i++) same = signature_read(&r, i);
    lua_settop(L, before);
    return same;
}

/* ---- shared memory ---- */

static int64_t signature_start(const la_tensor *t)
{
    return t->offset * (int64_t)la_itemsize(t);
}

static la_tensor *signature_object(const la_called *e, int32_t k,
                                   la_tensor *const *arguments)
{
    const la_prog_object *o = la_prog_object_at(e->p, k);
    return o->argument >= 0 ? arguments[o->argument] : o->tensor;
}

la_status la_note_shared(la_called *e, la_tensor *const *arguments)
{
    for (int32_t a = 0; a < e->ntensors; a++)
        for (int32_t b = a + 1; b < e->p->objects.n; b++) {
            const la_tensor *x = arguments[a];
            const la_tensor *y = signature_object(e, b, arguments);
            if (!x->storage || x->storage != y->storage) continue;
            la_shared *s = la_prog_add(&e->shared, sizeof *s);
            if (!s) return LA_ENOMEM;
            *s = (la_shared){a, b, signature_start(y) - signature_start(x)};
        }
    return LA_OK;
}

/* The pairs are in the order in which they were noted. */
bool la_match_shared(const la_called *e, la_tensor *const *arguments)
{
    int32_t k = 0;
    for (int32_t a = 0; a < e->ntensors; a++)
        for (int32_t b = a + 1; b < e->p->objects.n; b++) {
            const la_tensor *x = arguments[a];
            const la_tensor *y = signature_object(e, b, arguments);
            if (x->storage != y->storage || !x->storage) continue;
            if (k == e->shared.n) return false;
            const la_shared *s = LA_PROG_AT(e->shared, la_shared, k++);
            if (s->a != a || s->b != b
                || s->bytes != signature_start(y) - signature_start(x))
                return false;
        }
    return k == e->shared.n;
}

/* ---- guards ---- */

void la_watch_value(lua_State *L, la_called *e, int refs, la_watch *g)
{
    g->type = (int8_t)lua_type(L, -1);
    g->integer = lua_isinteger(L, -1);
    if (g->integer) g->i = lua_tointeger(L, -1);
    else if (g->type == LUA_TNUMBER) g->d = lua_tonumber(L, -1);
    else if (g->type == LUA_TBOOLEAN) g->i = lua_toboolean(L, -1);
    else g->at = lua_topointer(L, -1);
    g->value = la_add_ref(L, e, refs);
}

/* Numbers have one kind and the same bits. */
static bool signature_same_number(lua_State *L, const la_watch *g)
{
    if (lua_isinteger(L, -1))
        return g->integer && lua_tointeger(L, -1) == g->i;
    double d = lua_tonumber(L, -1);
    return !g->integer && memcmp(&d, &g->d, sizeof d) == 0;
}

/* Is the value on the top the guard's? */
static bool signature_same(lua_State *L, const la_watch *g, int refs)
{
    if (lua_type(L, -1) != g->type) return false;
    if (g->type == LUA_TNIL) return true;
    if (g->type == LUA_TNUMBER) return signature_same_number(L, g);
    if (g->type == LUA_TBOOLEAN) return lua_toboolean(L, -1) == g->i;
    if (lua_topointer(L, -1) == g->at) return true;
    if (g->type != LUA_TSTRING) return false;
    lua_rawgeti(L, refs, g->value);         /* long ones are many */
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    return same;
}

/* The table or function on the top stays below the value. */
static inline void signature_push_held(lua_State *L, const la_watch *g,
                                       int refs)
{
    if (g->kind == LA_WATCH_UPVALUE) {
        if (!lua_getupvalue(L, -1, g->key)) lua_pushnil(L);
        return;
    }
    if (g->kind == LA_WATCH_META) {
        if (!lua_getmetatable(L, -1)) lua_pushnil(L);
        return;
    }
    lua_rawgeti(L, refs, g->key);
    lua_rawget(L, -2);
}

void la_push_watched(lua_State *L, const la_called *e, int refs, int32_t i)
{
    const la_watch *g = LA_PROG_AT(e->guards, la_watch, i);
    lua_rawgeti(L, refs, g->table);
    signature_push_held(L, g, refs);
    lua_remove(L, -2);
}

/* The value on the top is what the guard tells. */
static inline bool signature_holds(lua_State *L, const la_watch *g, int refs,
                            la_call_tensors *c)
{
    if (g->tensor) {
        la_handle *h = la_to_handle(L, -1);
        if (!h || !h->tensor || !signature_join(L, c, h, -1, g->tensor - 1))
            return false;
        lua_pushvalue(L, -1);
        lua_rawseti(L, refs, g->value);
        return true;
    }
    return signature_same(L, g, refs);
}

/* Has the table on the top as many entries? */
static bool signature_has_size(lua_State *L, const la_watch *g)
{
    int32_t n = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) n++;
    return n == g->value;
}

bool la_match_guards(lua_State *L, const la_called *e, int refs,
                     la_call_tensors *c)
{
    int32_t table = 0;
    bool same = true;
    int before = lua_gettop(L);
    for (int32_t i = 0; i < e->guards.n && same; i++) {
        const la_watch *g = LA_PROG_AT(e->guards, la_watch, i);
        if (g->table != table) {
            lua_settop(L, before);
            lua_rawgeti(L, refs, table = g->table);
        }
        if (g->kind == LA_WATCH_SIZE) {
            same = signature_has_size(L, g);
            continue;
        }
        signature_push_held(L, g, refs);
        same = signature_holds(L, g, refs, c);
        lua_pop(L, 1);
    }
    lua_settop(L, before);
    return same;
}

bool la_left_alone(lua_State *L, const la_called *e, int refs, int first,
                   int top)
{
    la_call_tensors c;
    c.hold = 0;
    if (!lua_checkstack(L, 16)) return false;
    return la_match_signature(L, e, refs, first, top, &c)
        && la_match_guards(L, e, refs, &c);
}
