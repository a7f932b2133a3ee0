/*
** Functions of Lua over elements: x:apply_(f), x:map_(y, f), la.from_function.
**
** One loop in C that calls the function. It may do anything meanwhile: free or
** resize the tensors, collect, raise. So the loop works on copies that only the
** stack holds, and self is written once, by copy_, when all values are there:
** after an error it is as it was. The function can't yield, as there is a C
** function below it.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "lua/build_options.h"
#include "lua/from_table.h"
#include "op/call.h"
#include "tensor/shape.h"

enum { MAX_SOURCES = 3 };

/* ---- values ---- */

/* Numbers of the element at 'p' pushed: two for a complex one. */
static int push_element(lua_State *L, la_dtype dtype, const char *p)
{
    la_scalar s = la_scalar_load(dtype, p);
    la_push_scalar(L, &s);
    return s.kind == LA_KCOMPLEX ? 2 : 1;
}

/* The two values on the top are the function's results; false for nil. With
** 'pair' a second number is the imaginary part. Popped. Raises for others. */
static bool take_value(lua_State *L, const char *name, bool pair,
                       la_scalar *out)
{
    int at = lua_gettop(L) - 1;
    bool given = !lua_isnil(L, at);
    if (given && !la_to_scalar(L, at, out))
        luaL_error(L, "%s: the function must return a number, got %s", name,
                   la_type_text(L, at));
    if (given && pair && lua_type(L, at + 1) == LUA_TNUMBER) {
        double re = out->re;
        *out = (la_scalar){.kind = LA_KCOMPLEX, .re = re,
                           .im = lua_tonumber(L, at + 1)};
    }
    lua_settop(L, at - 1);
    return given;
}

/* A call of Lua takes about a hundred nanoseconds: each thousand of them the
** host is asked whether to go on. */
static void apply_poll(lua_State *L, const char *name, int64_t i)
{
    if ((i & 0x3ff) == 0x3ff) LA_CHECK(L, name, la_poll());
}

/* ---- apply_, map_, map2_ ---- */

/* After each call of the function, which may be one of a host that ended the
** scope of handles here (la_frame_end). */
static void check_held(lua_State *L, const la_handle *h, const char *name)
{
    if (!h->tensor)
        luaL_error(L, "%s: tensor was freed: the function ended the scope "
                   "that it is called in", name);
}

/* Row-major; nothing is left of it on failure. */
static la_status copy_rows(la_tensor *t, la_tensor **out)
{
    LA_TRY(la_tensor_empty(t->ndim, la_sizes(t), (la_dtype)t->dtype, out));
    la_status status = la_run_(copy_, *out, t);
    if (status) la_tensor_drop(out);
    return status;
}

/* Push a row-major copy of the tensor at 'arg', of self's sizes: lazy bits are
** resolved. Each step is in the handle before the
** next begins, so that an error leaks nothing. Borrowed from the handle, which
** nobody but the stack and a scope knows. */
static la_tensor *push_copy(lua_State *L, int arg, const char *name)
{
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    la_tensor *self = la_check_tensor(L, 1, name);
    la_tensor *t = la_check_tensor(L, arg, name), *wide = NULL, *plain = NULL;
    LA_CHECK(L, name, la_run(detach, &h->tensor, t));
    LA_CHECK(L, name, la_run(expand, &wide, h->tensor,
                             la_v_ints(la_sizes(self), self->ndim)));
    la_tensor_release(h->tensor);
    h->tensor = wide;
    LA_CHECK_TWICE(L, name, copy_rows(h->tensor, &plain));
    la_tensor_release(h->tensor);
    return h->tensor = plain;
}

/* The tensor at 'arg' has values, and no gradient that would be lost. */
static void check_plain(lua_State *L, int arg, const char *name)
{
    la_tensor *t = la_check_tensor(L, arg, name);
    if (la_grad_flag(t))
        luaL_error(L, "%s: tensor %d requires grad, and a function of Lua has "
                   "no derivative; use its detach()", name, arg);
    if (t->device != LA_CPU)
        luaL_error(L, "%s: the tensor has no data: its device is not cpu",
                   name);
    LA_CHECK(L, name, la_tensor_check_bounds(t));
}

/* self, n - 1 tensors, the function. Results go into the copy of self, element
** by element, which is copied back at the end: by copy_, so that read-only
** memory, overlaps and versions are treated as in any other call. Raises where
** the function has freed self or given it another shape meanwhile. */
static int apply(lua_State *L, const char *name, int n)
{
    la_state *s = la_enter(L);
    la_tensor *from[MAX_SOURCES];
    for (int k = 0; k < n; k++) check_plain(L, k + 1, name);
    lua_settop(L, n + 1);
    la_check_callable(L, n + 1, name);
    luaL_checkstack(L, 32, "too many arguments");
    for (int k = 1; k <= n; k++)
        if (la_to_handle(L, k))
            la_check_read(L, la_check_tensor(L, k, name), name);
    la_begin_work(L, s, name, la_check_tensor(L, 1, name)->numel);
    for (int k = 0; k < n; k++) from[k] = push_copy(L, k + 1, name);
    la_dtype dtype = (la_dtype)from[0]->dtype;
    for (int64_t i = 0; i < from[0]->numel; i++) {
        int given = 0;
        la_scalar value;
        lua_pushvalue(L, n + 1);
        for (int k = 0; k < n; k++)
            given += push_element(L, (la_dtype)from[k]->dtype, la_data(from[k])
                                  + i * (int64_t)la_itemsize(from[k]));
        lua_call(L, given, 2);
        la_enter(L);
        check_held(L, la_to_handle(L, n + 2), name);
        if (take_value(L, name, la_is_complex(dtype), &value))
            LA_CHECK(L, name, la_scalar_store(&value, dtype, la_data(from[0])
                + i * (int64_t)la_itemsize(from[0])));
        apply_poll(L, name, i);
    }
    check_plain(L, 1, name);
    la_tensor *self = la_check_tensor(L, 1, name);
    if (self->ndim != from[0]->ndim
        || memcmp(la_sizes(self), la_sizes(from[0]),
                  (size_t)self->ndim * sizeof(int64_t)) != 0)
        return luaL_error(L, "%s: the function changed the tensor's shape",
                          name);
    LA_CHECK(L, name, la_run_(copy_, self, from[0]));
    lua_settop(L, 1);
    la_pace(L, s);
    return 1;
}

/* x:apply_(f), x:map_(y, f), x:map2_(y, z, f) return x. */
static int method_apply(lua_State *L) { return apply(L, "apply_", 1); }
static int method_map(lua_State *L) { return apply(L, "map_", 2); }
static int method_map2(lua_State *L) { return apply(L, "map2_", 3); }

/* ---- from_function ---- */

/* The result grows to the widest kind of the values so far, as that of a table
** does, unless a dtype was given. */
typedef struct filling {
    lua_State *L;
    la_handle *h;
    int64_t at[LA_MAX_DIMS];    /* coordinates from 0 */
    la_kind kind;
    bool fixed;
} filling;

/* "{2, 3}", pushed: the coordinates as a script counts them, for an error. The
** text stays on the stack, as the caller raises. */
static const char *index_text(filling *f)
{
    luaL_Buffer b;
    luaL_buffinit(f->L, &b);
    luaL_addchar(&b, '{');
    for (int d = 0; d < f->h->tensor->ndim; d++) {
        if (d > 0) luaL_addstring(&b, ", ");
        lua_pushinteger(f->L, f->at[d] + 1);
        luaL_addvalue(&b);
    }
    luaL_addchar(&b, '}');
    luaL_pushresult(&b);
    return lua_tostring(f->L, -1);
}

/* Another tensor of the dtype of that kind with the values so far, in the same
** handle; nothing is copied before the first value. LA_ENOMEM. */
static la_status apply_widen(filling *f, la_kind kind, bool copy)
{
    la_tensor *wide = NULL, *t = f->h->tensor;
    la_scalar s = {.kind = kind};
    la_dtype dtype = la_scalar_dtype(&s);
    f->kind = kind;
    LA_TRY(la_tensor_empty(t->ndim, la_sizes(t), dtype, &wide));
    la_status status = copy ? la_run_(copy_, wide, t) : LA_OK;
    if (status) {
        la_tensor_release(wide);
        return status;
    }
    la_tensor_release(t);
    f->h->tensor = wide;
    return LA_OK;
}

/* Element i: the function is called with its coordinates, the tensor widened
** where the value is of a kind above those before. Raises with the coordinates
** of a value that is none or that does not fit a given dtype. */
static void fill_one(filling *f, int64_t i, int function)
{
    lua_State *L = f->L;
    int ndim = f->h->tensor->ndim;
    la_scalar value;
    lua_pushvalue(L, function);
    for (int d = 0; d < ndim; d++) lua_pushinteger(L, f->at[d] + 1);
    lua_call(L, ndim, 2);
    la_enter(L);
    check_held(L, f->h, "from_function");
    bool pair = la_is_complex((la_dtype)f->h->tensor->dtype);
    if (lua_isnil(L, -2))
        luaL_error(L, "from_function: element %s: number expected, got nil",
                   index_text(f));
    take_value(L, "from_function", pair, &value);
    if (!f->fixed && (i == 0 || value.kind > f->kind))
        LA_CHECK_TWICE(L, "from_function", apply_widen(f, value.kind, i > 0));
    la_tensor *t = f->h->tensor;
    if (la_scalar_store(&value, (la_dtype)t->dtype,
                        la_data(t) + i * (int64_t)la_itemsize(t)))
        luaL_error(L, "from_function: element %s: %s", index_text(f),
                   la_error_message());
    for (int d = ndim - 1; d >= 0; d--) {
        if (++f->at[d] < la_sizes(t)[d]) break;
        f->at[d] = 0;
    }
}

/* from_function(sizes, f[, options]): f gets the coordinates, from 1. Without
** elements f is not called, and the dtype is the default one. */
static int fn_from_function(lua_State *L)
{
    static const char *const known[] = {"dtype", "requires_grad", "device",
                                        "names", "memory_format", NULL};
    la_state *s = la_enter(L);
    filling f = {.L = L, .kind = LA_KBOOL};
    int64_t sizes[LA_MAX_DIMS];
    la_tensor *t = NULL;
    la_build_options o = la_read_options(L, 3, known, "from_function");
    int ndim = la_read_sizes(L, 1, sizes, "from_function");
    la_check_callable(L, 2, "from_function");
    luaL_checkstack(L, LA_MAX_DIMS + 16, "too many dims");
    f.fixed = o.dtype != LA_UNDEFINED;
    f.h = la_new_handle(L, s);
    int top = lua_gettop(L);
    la_enter(L);
    LA_CHECK_TWICE(L, "from_function", la_tensor_empty(ndim, sizes,
        f.fixed ? o.dtype : la_ctx()->default_dtype, &t));
    la_fill_handle(s, f.h, t);
    int64_t n = t->numel;
    la_begin_work(L, s, "from_function", n);
    for (int64_t i = 0; i < n; i++) {
        fill_one(&f, i, 2);
        lua_settop(L, top);
        apply_poll(L, "from_function", i);
    }
    la_apply_options(L, f.h, &o, "from_function");
    la_pace(L, s);
    return 1;
}

static const la_function functions[] = {
    {"from_function", fn_from_function, 3}, {NULL, NULL, 0}
};
static const la_function methods[] = {
    {"apply_", method_apply, 2}, {"map_", method_map, 3},
    {"map2_", method_map2, 4}, {NULL, NULL, 0}
};
const la_part la_part_apply = {functions, methods};
