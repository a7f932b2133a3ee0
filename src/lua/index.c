/*
** Indexing: x[key], x[key] = value, x(i, j).
**
** A key is read into a list of items while Lua code may still run (metamethods
** of tables); nothing is owned then, tensors stay anchored on the Lua stack.
** After that no Lua code runs: integers, ranges and new axes make a view, dim
** by dim; if index tensors are left, the operations index and index_put go
** through them.
*/
#include <string.h>

#include "lua/binding.h"
#include "lua/index.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

enum { MAX_ITEMS = 2 * LA_MAX_DIMS };

typedef enum item_kind {
    ITEM_INTEGER, ITEM_RANGE, ITEM_NEWAXIS, ITEM_ELLIPSIS, ITEM_TENSOR
} item_kind;

typedef struct item {
    item_kind kind;
    bool has_first, has_last;
    int64_t first, last, step;      /* an integer is in first; from 1 */
    la_handle *handle;
} item;

typedef struct key {
    int n;
    item items[MAX_ITEMS];
} key;

/* ---- reading a key: may raise, owns nothing ---- */

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

/* Field i of the table; false for nil. */
static bool range_field(lua_State *L, int table, int i, const char *what,
                        int64_t *out)
{
    bool given = lua_geti(L, table, i) != LUA_TNIL;
    if (given) *out = integer_at(L, -1, what);
    lua_pop(L, 1);
    return given;
}

/* What '#' says of the table, without asking for metamethods it has not
** ('plain'). */
static int64_t length(lua_State *L, int table, bool *plain)
{
    *plain = !lua_getmetatable(L, table);
    if (*plain) return (int64_t)lua_rawlen(L, table);
    lua_pop(L, 1);
    return luaL_len(L, table);
}

/* {}, {first, last}, {first, last, step}; the ends may be nil. */
static void read_range(lua_State *L, int table, item *it)
{
    bool plain;
    int64_t more = length(L, table, &plain);
    *it = (item){.kind = ITEM_RANGE, .step = 1};
    it->has_first = range_field(L, table, 1, "first", &it->first);
    it->has_last = range_field(L, table, 2, "last", &it->last);
    /* behind a length of 2 is nothing */
    bool has_step = !(plain && more == 2)
        && range_field(L, table, 3, "step", &it->step);
    if (more > 3)
        luaL_error(L, "index: a range {first, last, step} has at most 3 "
                   "numbers, got %d; give a list of positions as a tensor: "
                   "la.tensor{...}", (int)more);
    if (it->has_first && !it->has_last && !has_step && more == 1)
        luaL_error(L, "index: the range {%d} could mean the one position %d "
                   "(write %d without braces) or all from there on (write "
                   "{%d, -1})", (int)it->first, (int)it->first, (int)it->first,
                   (int)it->first);
    if (it->step == 0) luaL_error(L, "index: slice step cannot be zero");
    if (it->has_first && it->first == 0)
        luaL_error(L, "index: a range can't begin with 0: indices start at 1");
}

static void read_item(lua_State *L, int at, key *k)
{
    item *it = &k->items[k->n];
    if (k->n++ >= MAX_ITEMS)
        luaL_error(L, "index: more than %d entries", MAX_ITEMS);
    *it = (item){.kind = ITEM_INTEGER};
    switch (lua_type(L, at)) {
    case LUA_TNUMBER: it->first = integer_at(L, at, "position"); return;
    case LUA_TTABLE: read_range(L, at, it); return;
    case LUA_TSTRING:
        it->kind = ITEM_ELLIPSIS;
        if (strcmp(lua_tostring(L, at), "...") == 0) return;
        break;
    default:
        it->kind = ITEM_TENSOR;
        it->handle = la_to_handle(L, at);
        if (it->handle) {
            luaL_checkstack(L, 8, "too many indices");
            lua_pushvalue(L, at);       /* stays: an anchor */
            return;
        }
        it->kind = ITEM_NEWAXIS;
        if (luaL_testudata(L, at, LA_NEWAXIS_NAME)) return;
    }
    luaL_error(L, "index: number, range {first, last}, tensor, \"...\" or "
               "la.newaxis expected at place %d, got %s", k->n,
               la_type_text(L, at));
}

static void read_list(lua_State *L, int table, key *k)
{
    bool plain;
    int64_t n = length(L, table, &plain);
    if (n > MAX_ITEMS) luaL_error(L, "index: more than %d entries", MAX_ITEMS);
    int at = lua_gettop(L) + 1;
    for (int64_t i = 1; i <= n; i++) {
        lua_geti(L, table, i);
        read_item(L, at, k);
        if (k->items[k->n - 1].kind == ITEM_TENSOR) at = lua_gettop(L) + 1;
        else lua_pop(L, 1);
    }
}

static void read_key(lua_State *L, int at, key *k)
{
    k->n = 0;
    if (lua_type(L, at) == LUA_TTABLE) read_list(L, at, k);
    else read_item(L, at, k);
}

/* ---- the view: owns, never raises ---- */

/* Reading on from here, no Lua code runs. Where nothing records (quick), the
** view is only described until it is needed: 'place' has the dims of the view
** so far, 'next' is the dim of the base that the next item finds. Otherwise
** each step is a call of an operation. */
typedef struct walk {
    la_tensor *base, *view;         /* view: owned; not there while quick */
    bool quick;
    int next;
    la_geometry place;
    int dim;                        /* of the view, where the walk stands */
    la_tensor *lists[LA_MAX_DIMS];  /* for index: borrowed or in owned */
    int nlists, reach;              /* entries; dims of the view they cover */
    bool advanced;
    la_tensor *owned[LA_MAX_DIMS];
    int nowned;
    int64_t reversed[LA_MAX_DIMS];  /* dims of the view to be turned round */
    int nreversed;
} walk;

static void walk_drop(walk *w)
{
    la_tensor_drop(&w->view);
    while (w->nowned > 0) la_tensor_release(w->owned[--w->nowned]);
}
#define WALK __attribute__((cleanup(walk_drop))) walk

/* Only what is read before it is set: the rest is large. */
static void walk_init(walk *w)
{
    w->view = NULL;
    w->dim = w->next = w->nlists = w->reach = w->nowned = w->nreversed = 0;
    w->quick = w->advanced = false;
}

static void step_to(walk *w, la_tensor *next)
{
    la_tensor_release(w->view);
    w->view = next;
}

static int64_t view_size(const walk *w)
{
    return w->quick ? la_sizes(w->base)[w->next] : la_sizes(w->view)[w->dim];
}

static void add_dim(walk *w, int64_t size, int64_t stride)
{
    w->place.sizes[w->place.ndim] = size;
    w->place.strides[w->place.ndim++] = stride;
}

/* The walk goes over n dims, which stay whole. */
static void keep_dims(walk *w, int n)
{
    w->dim += n;
    if (!w->quick) return;
    for (; n > 0 && w->next < w->base->ndim; n--, w->next++)
        add_dim(w, la_sizes(w->base)[w->next], la_strides(w->base)[w->next]);
}

/* Is the view, as it is described, the base over again? */
static bool is_whole(const walk *w)
{
    const la_geometry *g = &w->place;
    size_t bytes = (size_t)g->ndim * sizeof(int64_t);
    return g->ndim == w->base->ndim && g->offset == w->base->offset
        && memcmp(g->sizes, la_sizes(w->base), bytes) == 0
        && memcmp(g->strides, la_strides(w->base), bytes) == 0;
}

/* From the description to the tensor. To go through lists, the base will do
** where nothing else was asked of it. */
static la_status make_view(walk *w)
{
    if (!w->quick) return LA_OK;
    int at = w->dim;
    keep_dims(w, w->base->ndim - w->next);
    w->dim = at;
    w->quick = false;
    if (!w->advanced || !is_whole(w))
        return la_view_make(w->base, &w->place, &w->view);
    w->view = la_tensor_retain(w->base);
    return LA_OK;
}

la_status la_out_of_range(int64_t i, int dim, int64_t size)
{
    if (size == 0)
        return la_error(LA_EINDEX, "index %lld is out of bounds for dimension "
                        "%d, which has size 0", (long long)i, dim + 1);
    if (i == 0)
        return la_error(LA_EINDEX, "index 0 is out of bounds for dimension %d "
                        "with size %lld: indices start at 1", dim + 1,
                        (long long)size);
    return la_error(LA_EINDEX, "index %lld is out of bounds for dimension %d "
                    "with size %lld: 1 to %lld or -%lld to -1", (long long)i,
                    dim + 1, (long long)size, (long long)size,
                    (long long)size);
}

static la_status no_dim_left(const la_tensor *t)
{
    if (t->ndim == 0)
        return la_error(LA_EINDEX, "invalid index of a 0-dim tensor. Use "
                        "x:item() to convert a 0-dim tensor to a number");
    return la_error(LA_EINDEX, "too many indices for tensor of dimension %d",
                    t->ndim);
}

static la_status dim_left(const walk *w)
{
    bool left = w->quick ? w->next < w->base->ndim : w->dim < w->view->ndim;
    return left ? LA_OK : no_dim_left(w->base);
}

static la_status take_integer(walk *w, int64_t i)
{
    la_tensor *next = NULL;
    LA_TRY(dim_left(w));
    int64_t size = view_size(w);
    if (!la_in_range(i, size)) return la_out_of_range(i, w->dim, size);
    i = i > 0 ? i - 1 : i + size;
    if (w->quick) {
        w->place.offset += i * la_strides(w->base)[w->next++];
        return LA_OK;
    }
    LA_TRY(la_run(select, &next, LA_T(w->view), LA_I(w->dim), LA_I(i)));
    step_to(w, next);
    return LA_OK;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* The range from the smallest place up: first (from 0), end, step. */
static void forward(const item *it, int64_t size, int64_t *first, int64_t *end)
{
    int64_t a = !it->has_first ? 0
              : it->first > 0 ? it->first - 1 : it->first + size;
    int64_t b = !it->has_last ? size
              : it->last >= 0 ? it->last : it->last + size + 1;
    *first = clamp(a, 0, size);
    *end = clamp(b, *first, size);
}

/* A falling range, as the rising one over the same places. */
static void backward(const item *it, int64_t size, int64_t *first, int64_t *end)
{
    int64_t a = !it->has_first ? size
              : it->first > 0 ? it->first : it->first + size + 1;
    int64_t b = !it->has_last ? 1
              : it->last >= 0 ? it->last : it->last + size + 1;
    uint64_t step = 0 - (uint64_t)it->step;
    a = clamp(a, 0, size);
    b = clamp(b, 1, size + 1);
    *end = a;
    *first = a;
    if (a >= b) *first = a - 1 - (int64_t)((uint64_t)(a - b) / step * step);
}

static la_status take_range(walk *w, const item *it)
{
    int64_t first, end, step = it->step;
    la_tensor *next = NULL;
    LA_TRY(dim_left(w));
    int64_t size = view_size(w);
    int d = w->dim;
    keep_dims(w, 1);
    if (!it->has_first && !it->has_last && step == 1) return LA_OK;
    if (step > 0) forward(it, size, &first, &end);
    else backward(it, size, &first, &end);
    if (step < 0) {
        w->reversed[w->nreversed++] = d;
        step = step == INT64_MIN ? INT64_MAX : -step;
    }
    if (w->quick) return la_geo_slice(&w->place, d, first, end, step);
    LA_TRY(la_run(slice, &next, LA_T(w->view), LA_I(d), LA_I(first), LA_I(end),
                  LA_I(step)));
    step_to(w, next);
    return LA_OK;
}

static la_status take_newaxis(walk *w)
{
    la_tensor *next = NULL;
    int left = w->base->ndim - w->next;
    if (w->quick && w->place.ndim + left < LA_MAX_DIMS) {
        int64_t stride = left ? view_size(w) * la_strides(w->base)[w->next] : 1;
        add_dim(w, 1, stride);
        w->dim++;
        return LA_OK;
    }
    LA_TRY(make_view(w));
    LA_TRY(la_run(unsqueeze, &next, LA_T(w->view), LA_I(w->dim)));
    step_to(w, next);
    w->dim++;
    return LA_OK;
}

static void add_list(walk *w, la_tensor *t, int covers)
{
    while (w->reach < w->dim && w->nlists < LA_MAX_DIMS) {
        w->lists[w->nlists++] = NULL;
        w->reach++;
    }
    if (w->nlists < LA_MAX_DIMS) w->lists[w->nlists++] = t;
    w->reach += covers;
    keep_dims(w, covers);
    w->advanced = true;
}

/* x[true] as a tensor: a new dim of one place, or of none. */
static la_status take_truth(walk *w, bool yes)
{
    la_tensor *t = NULL;
    int64_t n = yes;
    LA_TRY(make_view(w));
    LA_TRY(la_run(unsqueeze, &t, LA_T(w->view), LA_I(w->dim)));
    step_to(w, t);
    LA_TRY(la_tensor_empty(1, &n, LA_INT64, &t));
    w->owned[w->nowned++] = t;
    if (yes) *(int64_t *)la_data(t) = 1;
    add_list(w, t, 1);
    return LA_OK;
}

static la_status take_tensor(walk *w, const item *it)
{
    la_scalar s;
    la_tensor *t = it->handle->tensor;
    if (!t) return la_error(LA_ESTATE, "an index tensor was freed");
    bool mask = t->dtype == LA_BOOL;
    if (t->ndim == 0 && (mask || la_is_integral((la_dtype)t->dtype))) {
        if (!la_tensor_to_scalar(t, &s))
            return la_error(LA_ESTATE, "a 0-dim index needs a value");
        return mask ? take_truth(w, s.i != 0) : take_integer(w, s.i);
    }
    if (!mask) LA_TRY(dim_left(w));
    add_list(w, t, mask ? t->ndim : 1);
    return LA_OK;
}

/* Dims of the tensor that the items name, so that "..." takes the rest. */
static int named_dims(const key *k)
{
    int n = 0;
    for (int i = 0; i < k->n; i++) {
        const item *it = &k->items[i];
        bool has_tensor = it->kind == ITEM_TENSOR;
        const la_tensor *t = has_tensor ? it->handle->tensor : NULL;
        if (t && t->dtype == LA_BOOL) n += t->ndim;
        else if (it->kind != ITEM_NEWAXIS && it->kind != ITEM_ELLIPSIS) n++;
    }
    return n;
}

static la_status take_items(walk *w, const key *k)
{
    int rest = w->base->ndim - named_dims(k);
    bool ellipsis = false;
    if (rest < 0 && w->base->ndim > 0)
        return la_error(LA_EINDEX, "too many indices for tensor of dimension "
                        "%d", w->base->ndim);
    for (int i = 0; i < k->n; i++) {
        const item *it = &k->items[i];
        switch (it->kind) {
        case ITEM_INTEGER: LA_TRY(take_integer(w, it->first)); break;
        case ITEM_RANGE: LA_TRY(take_range(w, it)); break;
        case ITEM_NEWAXIS: LA_TRY(take_newaxis(w)); break;
        case ITEM_TENSOR: LA_TRY(take_tensor(w, it)); break;
        case ITEM_ELLIPSIS:
            if (ellipsis)
                return la_error(LA_EINDEX, "an index can only have a single "
                                "ellipsis ('...')");
            ellipsis = true;
            keep_dims(w, rest > 0 ? rest : 0);
        }
    }
    return LA_OK;
}

/* Nothing has to be told of a view of such a tensor. */
static bool plain(const la_tensor *t)
{
    const la_context *c = la_ctx();
    return t->ndim > 0 && !t->names && !c->included_keys
        && t->device == LA_CPU && t->dtype != LA_UNDEFINED
        && !(t->flags & (LA_F_REQUIRES_GRAD | LA_F_ZERO));
}

static la_status walk_items(walk *w, la_tensor *t, const key *k)
{
    w->base = t;
    w->quick = k->n > 0 && plain(t);
    w->place.ndim = 0;
    w->place.offset = t->offset;
    if (!w->quick) w->view = la_tensor_retain(t);
    return take_items(w, k);
}

static la_status walk_begin(walk *w, la_tensor *t, const key *k)
{
    LA_TRY(walk_items(w, t, k));
    return make_view(w);
}

static la_status turned(la_tensor *t, const walk *w, la_tensor **out)
{
    return la_run(flip, out, LA_T(t), LA_IS(w->reversed, w->nreversed));
}

static la_status read_walk(la_tensor *t, const key *k, la_tensor **out)
{
    WALK w;
    la_tensor *next = NULL;
    walk_init(&w);
    LA_TRY(walk_begin(&w, t, k));
    if (w.nreversed > 0) {
        LA_TRY(turned(w.view, &w, &next));
        step_to(&w, next);
    }
    if (w.advanced)
        return la_run(index, out, LA_T(w.view), LA_TS(w.lists, w.nlists));
    if (w.view == t) return la_run(alias, out, LA_T(t));
    *out = la_tensor_retain(w.view);
    return LA_OK;
}

/* ---- writing ---- */

/* The value as the view takes it: leading dims of size 1 are dropped. */
static la_status fit_value(const walk *w, la_tensor *value, la_tensor **out)
{
    la_tensor *next = NULL;
    la_tensor *cut = la_tensor_retain(value);
    while (cut->ndim > w->view->ndim && la_sizes(cut)[0] == 1) {
        la_status status = la_run(select, &next, LA_T(cut), LA_I(0), LA_I(0));
        la_tensor_release(cut);
        if (status) return status;
        cut = next;
    }
    *out = cut;
    return LA_OK;
}

static la_status write_plain(walk *w, la_tensor *value)
{
    LA_OWNED cut = NULL;
    LA_OWNED wide = NULL;
    LA_OWNED back = NULL;
    LA_TRY(fit_value(w, value, &cut));
    if (w->nreversed == 0) return la_run_(copy_, w->view, LA_T(cut));
    LA_TRY(la_run(expand, &wide, LA_T(cut), LA_IS(la_sizes(w->view),
                                                  w->view->ndim)));
    LA_TRY(turned(wide, w, &back));
    return la_run_(copy_, w->view, LA_T(back));
}

/* Through index tensors; with dims turned round by way of a turned copy. */
static la_status write_lists(walk *w, la_value value)
{
    LA_OWNED copy = NULL;
    LA_OWNED back = NULL;
    la_value lists = LA_TS(w->lists, w->nlists);
    if (w->nreversed == 0)
        return la_run_(index_put, w->view, lists, value);
    LA_TRY(turned(w->view, w, &copy));
    LA_TRY(la_run_(index_put, copy, lists, value));
    LA_TRY(turned(copy, w, &back));
    return la_run_(copy_, w->view, LA_T(back));
}

static la_status write_number(walk *w, const la_scalar *s)
{
    LA_OWNED one = NULL;
    if (!w->advanced) return la_run_(fill_, w->view, LA_S(*s));
    LA_TRY(la_tensor_empty(0, NULL, (la_dtype)w->view->dtype, &one));
    LA_TRY(la_run_(fill_, one, LA_S(*s)));
    return write_lists(w, LA_T(one));
}

/* Element 'at' of the storage of a plain tensor; false when fill_ should see
** to it. */
static bool write_place(la_tensor *t, int64_t at, const la_scalar *number)
{
    la_dtype d = (la_dtype)t->dtype;
    int64_t item = (int64_t)la_dtype_size(d);
    if (!t->storage || (t->flags & (LA_F_CONJ | LA_F_NEG))
        || !t->storage->data || (at + 1) * item > t->storage->nbytes
        || (t->storage->flags & LA_S_READ_ONLY)) return false;
    if (la_scalar_store(number, d, t->storage->data + at * item)) {
        la_error_clear();
        return false;
    }
    la_bump_version(t);
    return true;
}

static bool write_element(const walk *w, const la_scalar *number)
{
    return w->quick && !w->advanced && w->place.ndim == 0
        && w->next == w->base->ndim
        && write_place(w->base, w->place.offset, number);
}

/* x[i] = number in a plain list; false when it is something else. */
static bool write_first(la_tensor *t, int64_t i, const la_scalar *number)
{
    if (t->ndim != 1 || !plain(t) || !la_in_range(i, la_sizes(t)[0]))
        return false;
    int64_t at = i > 0 ? i - 1 : i + la_sizes(t)[0];
    return write_place(t, t->offset + at * la_strides(t)[0], number);
}

static la_status write_walk(la_tensor *t, const key *k, la_tensor *value,
                            const la_scalar *number)
{
    WALK w;
    walk_init(&w);
    LA_TRY(walk_items(&w, t, k));
    if (!value && write_element(&w, number)) return LA_OK;
    LA_TRY(make_view(&w));
    if (!value) return write_number(&w, number);
    return w.advanced ? write_lists(&w, LA_T(value)) : write_plain(&w, value);
}

/* ---- the metamethods ---- */

/* x[i]; of a plain tensor without a call of an operation. */
static la_status select_first(la_tensor *t, int64_t i, la_tensor **out)
{
    const int64_t *sizes = la_sizes(t), *strides = la_strides(t);
    if (t->ndim == 0) return no_dim_left(t);
    int64_t size = sizes[0];
    if (!la_in_range(i, size)) return la_out_of_range(i, 0, size);
    i = i > 0 ? i - 1 : i + size;
    if (!plain(t)) return la_run(select, out, LA_T(t), LA_I(0), LA_I(i));
    return la_tensor_view(t, t->ndim - 1, sizes + 1, strides + 1,
                          t->offset + i * strides[0], out);
}

static int finish(lua_State *L, la_state *s, la_handle *h, la_status status,
                  la_tensor *out)
{
    if (status) return la_raise(L, "index", status);
    la_fill_handle(s, h, out);
    la_pace(L, s);
    return 1;
}

static int get(lua_State *L, const key *k)
{
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    la_tensor *out = NULL;
    la_tensor *t = la_check_tensor(L, 1, "index");
    la_status status = read_walk(t, k, &out);
    return finish(L, s, h, status, out);
}

static __attribute__((noinline)) int get_any(lua_State *L)
{
    key k;
    la_enter(L);
    read_key(L, 2, &k);
    return get(L, &k);
}

/* The state comes with the tensor: an upvalue would be a call more. */
int la_index_get(lua_State *L, int type)
{
    int whole = 0;
    lua_Integer i = 0;
    la_handle *from = la_to_handle(L, 1);
    if (from && type == LUA_TNUMBER) i = lua_tointegerx(L, 2, &whole);
    if (!whole) return get_any(L);
    la_tensor *out = NULL;
    la_state *s = from->state;
    la_current_context = &s->context;
    la_handle *h = la_new_handle(L, s);
    if (!from->tensor) la_raise_no_tensor(L, 1, "index");
    la_status status = select_first(from->tensor, i, &out);
    return finish(L, s, h, status, out);
}

int la_index_call(lua_State *L)
{
    key k;
    la_enter(L);
    k.n = 0;    /* the rest is six kilobytes */
    for (int at = 2, top = lua_gettop(L); at <= top; at++) read_item(L, at, &k);
    return get(L, &k);
}

int la_index_set(lua_State *L)
{
    key k;
    la_scalar number;
    la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, "index");
    la_handle *h = la_to_handle(L, 3);
    if (!h && !la_to_scalar(L, 3, &number))
        return la_raise_arg(L, 3, "index", "number or tensor expected as the "
                            "value, got %s", la_type_text(L, 3));
    if (!h && lua_isinteger(L, 2)
        && write_first(t, lua_tointeger(L, 2), &number)) return 0;
    read_key(L, 2, &k);
    t = la_check_tensor(L, 1, "index");
    la_tensor *value = h ? la_check_tensor(L, 3, "index") : NULL;
    LA_CHECK(L, "index", write_walk(t, &k, value, &number));
    return 0;
}

/* ---- constants ---- */

static int newaxis_text(lua_State *L)
{
    lua_pushliteral(L, LA_NEWAXIS_NAME);
    return 1;
}

void la_open_index(lua_State *L, int lib)
{
    lua_newuserdatauv(L, 0, 0);
    luaL_newmetatable(L, LA_NEWAXIS_NAME);
    lua_pushcfunction(L, newaxis_text);
    lua_setfield(L, -2, "__tostring");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_setfield(L, lib, "newaxis");
    lua_pushliteral(L, "...");
    lua_setfield(L, lib, "ellipsis");
}

const la_part la_part_index = {NULL, NULL};
