/*
** la.onnx.trace: what a function of tensors calls, from outside in: calls that
** operations make themselves are a list in theirs.
**
** The observer keeps copies of the frames, with references to their tensors, so
** that a tensor is known by its address until all is told. Each tensor has a
** number; the table 'tensors' holds them by it.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "lua/transform/host_program.h"
#include "modules/onnx/lua/onnx.h"
#include "op/observe.h"
#include "op/schema.h"

#define TRACE_NAME "lunarray.onnx.trace"

/* A call: arguments, then results; lists and texts are copies. */
typedef struct traced {
    const la_op *op;
    int nargs, nresults, depth;
    int64_t first;              /* calls from here to this one are inside */
    bool inplace;
    la_value *values;           /* of la_mem_alloc, nargs + nresults of them */
} traced;

typedef struct trace {
    la_observer observer;
    la_context *context;        /* NULL: not observed */
    la_observer *before;
    la_state *state;            /* in it compiled functions run as they are; */
    bool uncompiled;            /* ... as it was before */
    int depth;
    bool failed;                /* memory is out */
    int64_t n, capacity;
    traced *list;
} trace;

/* ---- copies of values ---- */

/* Frees what trace_copy made; blocks are one entry longer than their lists, so
** that an empty list has one too. */
static void trace_drop(la_value *v)
{
    switch (v->tag) {
    case LA_VTENSOR: la_tensor_release(v->tensor); break;
    case LA_VTENSORS:
        for (int64_t k = 0; k < v->tensors.n; k++)
            if (v->tensors.list[k]) la_tensor_release(v->tensors.list[k]);
        la_mem_free(v->tensors.list, (size_t)(v->tensors.n + 1)
                    * sizeof(la_tensor *));
        break;
    case LA_VINTS: case LA_VFLOATS:
        la_mem_free((void *)v->ints.list,
                    (size_t)(v->ints.n + 1) * sizeof(int64_t));
        break;
    case LA_VSTR:
        la_mem_free((void *)v->str.text, v->str.n + 1);
        break;
    default: break;
    }
    v->tag = LA_VNONE;
}

/* Retains the tensors: those of an eager program would be gone, and their
** addresses used again, before the trace is read. */
static bool trace_copy_list(const la_value *v, la_value *out)
{
    size_t n = (size_t)v->tensors.n;
    out->tensors.list = la_mem_alloc((n + 1) * sizeof(la_tensor *));
    if (!out->tensors.list) return false;
    for (size_t k = 0; k < n; k++) {
        la_tensor *t = v->tensors.list[k];
        out->tensors.list[k] = t ? la_tensor_retain(t) : NULL;
    }
    return true;
}

static bool trace_copy_bytes(const void *from, size_t bytes, size_t more,
                             void **out)
{
    char *copy = la_mem_alloc(bytes + more);
    if (!copy) return false;
    if (bytes) memcpy(copy, from, bytes);
    memset(copy + bytes, 0, more);
    *out = copy;
    return true;
}

/* A copy of one value; of generators and names, which are no values of Lua,
** nothing. */
static bool trace_copy(const la_value *v, la_value *out)
{
    void *copy;
    *out = *v;
    switch (v->tag) {
    case LA_VTENSOR: la_tensor_retain(v->tensor); return true;
    case LA_VTENSORS: if (trace_copy_list(v, out)) return true;
        break;
    case LA_VINTS: case LA_VFLOATS:
        if (!trace_copy_bytes(v->ints.list, (size_t)v->ints.n
                              * sizeof(int64_t), sizeof(int64_t), &copy)) break;
        out->ints.list = copy;
        return true;
    case LA_VSTR:
        if (!trace_copy_bytes(v->str.text, v->str.n, 1, &copy)) break;
        out->str.text = copy;
        return true;
    case LA_VPOINTER: case LA_VNAMES: out->tag = LA_VNONE; return true;
    default: return true;
    }
    out->tag = LA_VNONE;
    return false;
}

/* ---- the observer ---- */

/* Makes space for one more call. False without memory: trace_end
** notes it, and nothing more is traced. */
static bool trace_reserve(trace *t)
{
    if (t->n < t->capacity) return true;
    int64_t capacity = t->capacity ? 2 * t->capacity : 64;
    traced *list = la_mem_alloc((size_t)capacity * sizeof *list);
    if (!list) return false;
    if (t->n) memcpy(list, t->list, (size_t)t->n * sizeof *list);
    la_mem_free(t->list, (size_t)t->capacity * sizeof *list);
    t->list = list;
    t->capacity = capacity;
    return true;
}

/* A copy of the call with its results. It is in the list before its values are
** copied, so that the finalizer frees a half-made one. */
static bool trace_add(trace *t, const la_frame *f, int64_t first)
{
    int n = f->nargs + f->nresults;
    if (!trace_reserve(t)) return false;
    la_value *values = la_mem_alloc((size_t)(n + 1) * sizeof *values);
    if (!values) return false;
    memset(values, 0, (size_t)(n + 1) * sizeof *values);
    t->list[t->n++] = (traced){f->op, f->nargs, f->nresults, t->depth, first,
                               f->form != LA_FUNCTIONAL
                               || f->op->forms & LA_MUTATES, values};
    for (int k = 0; k < n; k++)
        if (!trace_copy(k < f->nargs ? &f->args[k]
                        : &f->results[k - f->nargs], &values[k])) return false;
    return true;
}

static void trace_begin(la_observer *o, la_observed *c)
{
    trace *t = (trace *)o;
    t->depth++;
    c->begun = t->n;
}

static void trace_end(la_observer *o, la_observed *c)
{
    trace *t = (trace *)o;
    t->depth--;
    if (c->frame && c->frame->nresults > 0 && !t->failed)
        t->failed = !trace_add(t, c->frame, c->begun);
}

static void trace_recorded(la_observer *o, uint64_t sequence) {}

static void trace_stop(trace *t)
{
    if (t->context) {
        la_observe(t->context, t->before);
        t->state->uncompiled = t->uncompiled;
    }
    t->context = NULL;
}

/* Stops the trace first: no call may be noted while the list is freed. The
** trace can be closed and collected, in this order; the second finds
** nothing. */
static int trace_gc(lua_State *L)
{
    trace *t = lua_touserdata(L, 1);
    la_enter_state(L);
    trace_stop(t);
    for (int64_t k = 0; k < t->n; k++) {
        int n = t->list[k].nargs + t->list[k].nresults;
        for (int i = 0; i < n; i++) trace_drop(&t->list[k].values[i]);
        la_mem_free(t->list[k].values, (size_t)(n + 1) * sizeof(la_value));
    }
    la_mem_free(t->list, (size_t)t->capacity * sizeof *t->list);
    t->list = NULL;
    t->n = t->capacity = 0;
    return 0;
}

static int trace_close(lua_State *L)
{
    trace_stop(lua_touserdata(L, 1));
    return 0;
}

/* A trace with __gc and __close: an error in the traced function ends it at
** once, not when the collector comes. */
static trace *trace_push(lua_State *L)
{
    trace *t = lua_newuserdatauv(L, sizeof *t, 0);
    *t = (trace){.observer = {trace_begin, trace_end, trace_recorded}};
    if (la_new_metatable(L, TRACE_NAME, NULL)) {
        la_set_event(L, "__gc", trace_gc);
        la_set_event(L, "__close", trace_close);
    }
    la_take_metatable(L);
    return t;
}

/* ---- as tables ---- */

/* Stack positions, from base; LEVELS holds by depth the calls that no call
** around them has taken yet. */
enum { NUMBERS = 1, TENSORS, STORAGES, LEVELS };

/* The memory of tensor 'number' as another number, the same for all that lie in
** it. */
static void trace_note_storage(lua_State *L, int base, const la_tensor *t,
                               int64_t number)
{
    if (lua_rawgetp(L, base + NUMBERS, t->storage) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushinteger(L, number);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, base + NUMBERS, t->storage);
    }
    lua_rawseti(L, base + STORAGES, number);
}

/* Push the number of the tensor; a new one joins the table of tensors. */
static void trace_push_number(lua_State *L, int base, la_tensor *t)
{
    if (lua_rawgetp(L, base + NUMBERS, t) != LUA_TNIL) return;
    lua_pop(L, 1);
    int64_t number = (int64_t)lua_rawlen(L, base + TENSORS) + 1;
    la_state *s = la_up_state(L);
    la_handle *h = la_lasting_handle(L, s);
    la_fill_handle(s, h, la_tensor_retain(t));
    lua_rawseti(L, base + TENSORS, number);
    trace_note_storage(L, base, t, number);
    lua_pushinteger(L, number);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, base + NUMBERS, t);
}

/* A tensor is a number, equal for equal tensors, and says whether it stands for
** a number of the script: exporters make a constant of that. */
static void trace_push_tensor(lua_State *L, int base, la_tensor *t)
{
    lua_createtable(L, 0, 2);
    trace_push_number(L, base, t);
    lua_setfield(L, -2, "tensor");
    if (t->flags & LA_F_WRAPPED) {
        lua_pushboolean(L, 1);
        lua_setfield(L, -2, "number");
    }
}

/* A list of integers, numbers or tensors; false stands for a tensor that is
** nil, as a hole would shorten the list. */
static void trace_push_list(lua_State *L, int base, const la_value *v)
{
    int64_t n = v->tag == LA_VTENSORS ? v->tensors.n : v->ints.n;
    lua_createtable(L, (int)n, 0);
    for (int64_t k = 0; k < n; k++) {
        if (v->tag == LA_VINTS) lua_pushinteger(L, v->ints.list[k]);
        else if (v->tag == LA_VFLOATS) lua_pushnumber(L, la_float_at(v, k));
        else if (!v->tensors.list[k]) lua_pushboolean(L, 0);
        else trace_push_tensor(L, base, v->tensors.list[k]);
        lua_rawseti(L, -2, k + 1);
    }
}

/* The value as Lua has it. Pointers (generators) are of no use outside and
** become nil. */
static void trace_push_value(lua_State *L, int base, const la_value *v)
{
    switch (v->tag) {
    case LA_VTENSOR: trace_push_tensor(L, base, v->tensor); break;
    case LA_VTENSORS: case LA_VINTS: case LA_VFLOATS:
        trace_push_list(L, base, v);
        break;
    case LA_VSCALAR: la_push_scalar(L, &v->scalar); break;
    case LA_VINT: lua_pushinteger(L, v->i); break;
    case LA_VFLOAT: lua_pushnumber(L, v->d); break;
    case LA_VBOOL: lua_pushboolean(L, v->b); break;
    case LA_VSTR: lua_pushlstring(L, v->str.text, v->str.n); break;
    case LA_VDTYPE: lua_pushstring(L, la_dtype_name(v->dtype)); break;
    default: lua_pushnil(L);
    }
}

/* The list of calls of this depth. */
static void trace_push_level(lua_State *L, int base, int depth)
{
    if (lua_rawgeti(L, base + LEVELS, depth) != LUA_TNIL) return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, base + LEVELS, depth);
}

/* Field 'inner' of the call at the top: those inside of it. What is left of a
** call that failed is no part of it. */
static void trace_take_inner(lua_State *L, int base, const traced *c)
{
    int call = lua_gettop(L);
    lua_newtable(L);
    trace_push_level(L, base, c->depth + 1);
    lua_Unsigned n = lua_rawlen(L, -1), taken = 0;
    for (lua_Unsigned k = 1; k <= n; k++) {
        lua_rawgeti(L, call + 2, (lua_Integer)k);
        lua_getfield(L, -1, "order");
        bool inside = lua_tointeger(L, -1) > c->first;
        lua_pop(L, 1);
        if (inside) lua_rawseti(L, call + 1, (lua_Integer)++taken);
        else lua_pop(L, 1);
    }
    lua_pushnil(L);
    lua_rawseti(L, base + LEVELS, c->depth + 1);
    lua_settop(L, call + 1);
    lua_setfield(L, call, "inner");
}

/* {op, arguments by name, results, inplace, composite, order, inner} joins its
** level. */
static void trace_push_call(lua_State *L, int base, const traced *c,
                            int64_t order)
{
    const la_schema *s = la_schema_of(c->op);
    trace_push_level(L, base, c->depth);
    lua_createtable(L, 0, 7);
    lua_pushinteger(L, order);
    lua_setfield(L, -2, "order");
    trace_take_inner(L, base, c);
    lua_pushlstring(L, c->op->signature, la_op_name_length(c->op));
    lua_setfield(L, -2, "op");
    lua_pushboolean(L, c->inplace);
    lua_setfield(L, -2, "inplace");
    lua_pushboolean(L, c->op->forms & LA_COMPOSITE);
    lua_setfield(L, -2, "composite");
    lua_createtable(L, 0, c->nargs);
    for (int k = 0; k < c->nargs; k++) {
        lua_pushlstring(L, s->params[k].name.text, (size_t)s->params[k].name.n);
        trace_push_value(L, base, &c->values[k]);
        if (lua_isnil(L, -1)) lua_pop(L, 2);
        else lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "args");
    lua_createtable(L, c->nresults, 0);
    for (int k = 0; k < c->nresults; k++) {
        trace_push_value(L, base, &c->values[c->nargs + k]);
        lua_rawseti(L, -2, k + 1);
    }
    lua_setfield(L, -2, "results");
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
}

/* The tensors among the n values from 'first' on, by their numbers. */
static void trace_push_numbers(lua_State *L, int base, int first, int n)
{
    lua_createtable(L, n, 0);
    for (int k = 0; k < n; k++) {
        la_handle *h = la_to_handle(L, first + k);
        if (h && h->tensor) trace_push_number(L, base, h->tensor);
        else lua_pushboolean(L, 0);
        lua_rawseti(L, -2, k + 1);
    }
}

/* la.onnx.trace(f, ...): {calls, tensors, storages, inputs, outputs} */
int la_onnx_trace(lua_State *L)
{
    la_state *s = la_begin(L, "onnx.trace", 0);
    int n = lua_gettop(L);
    la_check_callable(L, 1, "onnx.trace");
    trace *t = trace_push(L);
    lua_insert(L, 1);
    lua_toclose(L, 1);
    for (int k = 2; k <= n + 1; k++) lua_pushvalue(L, k);
    t->context = &s->context;
    t->before = s->context.observer;
    t->state = s;
    t->uncompiled = s->uncompiled;
    s->uncompiled = true;
    la_observe(&s->context, &t->observer);
    lua_call(L, n - 1, LUA_MULTRET);
    trace_stop(t);
    if (t->failed) la_raise(L, "onnx.trace", la_error(LA_ENOMEM, "not enough "
                                                      "memory"));
    int results = lua_gettop(L) - n - 1, base = lua_gettop(L);
    luaL_checkstack(L, 16, "onnx.trace");
    for (int k = NUMBERS; k <= LEVELS; k++) lua_newtable(L);
    lua_createtable(L, 0, 5);
    trace_push_numbers(L, base, 3, n - 1);
    lua_setfield(L, -2, "inputs");
    trace_push_numbers(L, base, n + 2, results);
    lua_setfield(L, -2, "outputs");
    for (int64_t k = 0; k < t->n; k++)
        trace_push_call(L, base, &t->list[k], k + 1);
    trace_push_level(L, base, 0);
    lua_setfield(L, -2, "calls");
    lua_pushvalue(L, base + TENSORS);
    lua_setfield(L, -2, "tensors");
    lua_pushvalue(L, base + STORAGES);
    lua_setfield(L, -2, "storages");
    return 1;
}

/* A program as a value that can be called: (program) -> loaded program; nothing
** for all else. */
int la_onnx_program(lua_State *L)
{
    la_begin(L, "onnx.save", 0);
    lua_settop(L, 1);
    if (!luaL_testudata(L, 1, LA_PROGRAM_NAME)
        && !luaL_testudata(L, 1, LA_LOADED_NAME)) return 0;
    la_taken *t = la_push_taken(L);
    la_take_programs(L, 1, false, 0, "onnx.save", t);
    la_push_loaded(L, &t->list);
    return 1;
}
