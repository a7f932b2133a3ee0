/* Attributes of a tensor and the methods that return plain Lua values. */
#include "lua/attr.h"

#include <string.h>

#include "op/call.h"
#include "op/host/device_names.h"
#include "program/program.h"
#include "tensor/names.h"
#include "tensor/host/remote.h"
#include "tensor/shape.h"

/* ---- attributes ---- */

#define SHAPE_NAME "lunarray.shape"

/* x.shape is a list with == and tostring. Lua calls it for two tables: x.shape
** == {2, 3} is true for a plain list. */
static int shape_equal(lua_State *L)
{
    lua_Integer n = luaL_len(L, 1);
    bool same = lua_istable(L, 2) && n == luaL_len(L, 2);
    for (lua_Integer i = 1; same && i <= n; i++) {
        lua_geti(L, 1, i);
        lua_geti(L, 2, i);
        same = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
    }
    lua_pushboolean(L, same);
    return 1;
}

static int attr_shape_text(lua_State *L)
{
    luaL_Buffer b;
    lua_Integer n = luaL_len(L, 1);
    luaL_buffinit(L, &b);
    luaL_addchar(&b, '{');
    for (lua_Integer i = 1; i <= n; i++) {
        if (i > 1) luaL_addstring(&b, ", ");
        lua_rawgeti(L, 1, i);
        luaL_addvalue(&b);
    }
    luaL_addchar(&b, '}');
    luaL_pushresult(&b);
    return 1;
}

/* The list may belong to a tensor that a finalizer frees meanwhile. */
void la_push_shape(lua_State *L, int n, const int64_t *list)
{
    int64_t copy[LA_MAX_DIMS];
    memcpy(copy, list, (size_t)n * sizeof(*list));
    lua_createtable(L, n, 0);
    for (int i = 0; i < n; i++) {
        lua_pushinteger(L, copy[i]);
        lua_rawseti(L, -2, i + 1);
    }
    if (la_new_metatable(L, SHAPE_NAME, "a shape's metatable is locked")) {
        la_set_event(L, "__eq", shape_equal);
        la_set_event(L, "__tostring", attr_shape_text);
    }
    la_take_handle_metatable(L);
}

static int get_shape(lua_State *L, la_tensor *t)
{
    la_push_shape(L, t->ndim, la_sizes(t));
    return 1;
}

static int get_dtype(lua_State *L, la_tensor *t)
{
    lua_pushstring(L, la_dtype_name((la_dtype)t->dtype));
    return 1;
}

static int get_ndim(lua_State *L, la_tensor *t)
{
    lua_pushinteger(L, t->ndim);
    return 1;
}

static int get_device(lua_State *L, la_tensor *t)
{
    la_enter_state(L);
    lua_pushstring(L, la_device_name((la_device)t->device));
    return 1;
}

static int get_version(lua_State *L, la_tensor *t)
{
    lua_pushinteger(L, la_tensor_version(t));
    return 1;
}

static int get_names(lua_State *L, la_tensor *t)
{
    const char *names[LA_MAX_DIMS];     /* interned: they outlive the tensor */
    if (!t->names) return 0;
    int n = t->names->ndim;
    memcpy(names, t->names->name, (size_t)n * sizeof(*names));
    lua_createtable(L, n, 0);
    for (int d = 0; d < n; d++) {
        lua_pushstring(L, names[d]);
        lua_rawseti(L, -2, d + 1);
    }
    return 1;
}

/* x.names = {"N", "*"} or nil. Nothing is changed unless all are valid. */
static int attr_set_names(lua_State *L, la_tensor *t)
{
    const char *list[LA_MAX_DIMS];
    la_names *names = NULL;
    LA_CHECK(L, "names", la_loop_hold());
    if (lua_isnil(L, 3)) {
        la_tensor_set_names(t, NULL);
        return 0;
    }
    if (!lua_istable(L, 3) || lua_rawlen(L, 3) != t->ndim)
        return luaL_error(L, "names: a list of %d names or nil expected",
                          t->ndim);
    for (int d = 0; d < t->ndim; d++) {
        size_t n;
        lua_rawgeti(L, 3, d + 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            return luaL_error(L, "names: [%d]: string expected", d + 1);
        const char *word = lua_tolstring(L, -1, &n);
        list[d] = la_name_intern(word, n);
        if (!list[d]) return la_raise(L, "names", LA_ENOMEM);
        lua_pop(L, 1);
    }
    LA_CHECK(L, "names", la_names_new(t->ndim, list, &names));
    la_tensor_set_names(t, names);
    return 0;
}

/* Attributes that are operations with one tensor: T, mT, H, mH, real, imag.
** Making the handle may run finalizers, so the tensor is looked up again.
** Returns 1. */
static int attr_push_view(lua_State *L, la_tensor *t, const la_op *op,
                          const char *name)
{
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    la_tensor *out = NULL;
    t = la_check_tensor(L, 1, name);
    la_value self = la_v_tensor(t);
    LA_CHECK(L, name, la_do(op, &out, 1, &self));
    if (out == t) {         /* the same userdata, as of methods */
        la_tensor_release(out);
        lua_pushvalue(L, 1);
    } else {
        la_fill_handle(s, h, out);
    }
    return 1;
}

#define VIEW(name) static int get_##name(lua_State *L, la_tensor *t) \
    { return attr_push_view(L, t, LA_OP(name), #name); }
VIEW(T)
VIEW(mT)
VIEW(H)
VIEW(mH)
VIEW(real)
VIEW(imag)

/* x.data: the elements without the history, as detach() gives them. A change of
** them counts in x's version, so that a backward which needs the old values
** is refused. */
static int get_data(lua_State *L, la_tensor *t)
{
    return attr_push_view(L, t, LA_OP(detach), "data");
}

/* x.data = y: y's storage, dtype and geometry; history and gradient stay. */
static int set_data(lua_State *L, la_tensor *t)
{
    la_value results[LA_MAX_RESULTS];
    la_value args[2] = {la_v_tensor(t),
                        la_v_tensor(la_check_tensor(L, 3, "data"))};
    LA_CHECK(L, "data", la_do_many(LA_OP(set_data), results, 2, args));
    for (int k = 0; k < LA_MAX_RESULTS; k++) la_value_drop(&results[k]);
    return 0;
}

/* x.real = v and x.imag = v write through the view. The view is built in C
** alone, without a handle: no Lua code runs between the look-up and the copy.
** Recorded like any in-place operation. */
static int attr_write_view(lua_State *L, la_tensor *t, const la_op *op,
                           const char *name)
{
    la_tensor *view = NULL, *from = NULL;
    la_scalar s;
    la_handle *h = la_to_handle(L, 3);
    if (!h && !la_to_scalar(L, 3, &s))
        return luaL_error(L, "%s: tensor or number expected", name);
    la_tensor *value = h ? la_check_tensor(L, 3, name) : NULL;
    la_value self = la_v_tensor(t);
    LA_CHECK(L, name, la_do(op, &view, 1, &self));
    la_status status = h ? LA_OK : la_tensor_from_scalar(&s, &from);
    if (h) from = la_tensor_retain(value);
    if (!status) status = la_run_(copy_, view, from);
    if (from) la_tensor_release(from);
    la_tensor_release(view);
    return status ? la_raise(L, name, status) : 0;
}

static int set_real(lua_State *L, la_tensor *t)
{
    return attr_write_view(L, t, LA_OP(real), "real");
}
static int set_imag(lua_State *L, la_tensor *t)
{
    return attr_write_view(L, t, LA_OP(imag), "imag");
}

/* x["..."] is the one string that is an index. It comes by here as an
** attribute, since meta_index looks strings up first. */
static int get_rest(lua_State *L, la_tensor *t)
{
    lua_settop(L, 1);
    lua_pushliteral(L, "...");
    return la_bracket_get(L, lua_type(L, 2));
}
static int set_rest(lua_State *L, la_tensor *t)
{
    return la_bracket_set(L, LUA_TSTRING);
}

const la_attr la_attributes[] = {
    {"shape", get_shape, NULL}, {"dtype", get_dtype, NULL},
    {"ndim", get_ndim, NULL}, {"device", get_device, NULL},
    {"_version", get_version, NULL}, {"names", get_names, attr_set_names},
    {"T", get_T, NULL}, {"mT", get_mT, NULL}, {"H", get_H, NULL},
    {"mH", get_mH, NULL}, {"real", get_real, set_real},
    {"imag", get_imag, set_imag}, {"data", get_data, set_data},
    {"grad", la_get_grad, la_set_grad_attr}, {"grad_fn", la_get_grad_fn, NULL},
    {"requires_grad", la_get_requires_grad, la_assign_requires_grad},
    {"is_leaf", la_get_is_leaf, NULL}, {"...", get_rest, set_rest},
    {NULL, NULL, NULL}
};

/* ---- methods ---- */

/* A dim from 1, or from the end where negative, or a name; returns it from 0.
** Raises for others and for a 0-dim tensor. */
static int64_t user_dim(lua_State *L, int arg, la_tensor *t, const char *name)
{
    int d;
    size_t n;
    if (lua_type(L, arg) == LUA_TSTRING) {
        const char *word = lua_tolstring(L, arg, &n);
        d = la_dim_by_name(t, word, n);
        if (d >= 0) return d;
    }
    int64_t dim = la_check_int(L, arg, name);
    if (dim == 0)
        la_raise_arg(L, arg, name, "dimension 0: counting starts at 1");
    LA_CHECK(L, name, la_wrap_dim(dim > 0 ? dim - 1 : dim, t->ndim, &d));
    if (t->ndim == 0)
        la_raise_arg(L, arg, name, "a 0-dim tensor has no dimensions");
    return d;
}

/* Push n integers one by one. They may belong to a tensor that a finalizer
** frees while the stack grows, so the stack grows first. Returns their
** number. */
static int push_each(lua_State *L, const char *name, bool strides)
{
    luaL_checkstack(L, LA_MAX_DIMS, "too many results");
    la_tensor *t = la_check_tensor(L, 1, name);
    for (int d = 0; d < t->ndim; d++)
        lua_pushinteger(L, strides ? la_strides(t)[d] : la_sizes(t)[d]);
    return t->ndim;
}

/* x:size() is several integers, x:size(dim) one; so is stride. */
static int method_size(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "size");
    if (lua_isnoneornil(L, 2)) return push_each(L, "size", false);
    lua_pushinteger(L, la_sizes(t)[user_dim(L, 2, t, "size")]);
    return 1;
}

static int method_stride(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "stride");
    if (lua_isnoneornil(L, 2)) return push_each(L, "stride", true);
    lua_pushinteger(L, la_strides(t)[user_dim(L, 2, t, "stride")]);
    return 1;
}

static int method_numel(lua_State *L)
{
    lua_pushinteger(L, la_check_tensor(L, 1, "numel")->numel);
    return 1;
}

static int method_dim(lua_State *L)
{
    lua_pushinteger(L, la_check_tensor(L, 1, "dim")->ndim);
    return 1;
}

static int method_element_size(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "element_size");
    lua_pushinteger(L, (lua_Integer)la_itemsize(t));
    return 1;
}

static int method_nbytes(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "nbytes");
    lua_pushinteger(L, t->numel * (lua_Integer)la_itemsize(t));
    return 1;
}

/* Counted from 1, like every index a script sees. */
static int method_storage_offset(lua_State *L)
{
    lua_pushinteger(L, la_check_tensor(L, 1, "storage_offset")->offset + 1);
    return 1;
}

/* x:is_contiguous([format]), or {memory_format = format}. */
static int method_is_contiguous(lua_State *L)
{
    size_t n = 0;
    la_memory_format format = LA_FORMAT_CONTIGUOUS;
    if (lua_istable(L, 2)) {
        lua_getfield(L, 2, "memory_format");
        lua_replace(L, 2);
    }
    la_tensor *t = la_check_tensor(L, 1, "is_contiguous");
    const char *word = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &n)
                                                     : "";
    if (!lua_isnoneornil(L, 2) && !la_format_parse(word, n, &format))
        return la_raise_arg(L, 2, "is_contiguous", "memory format expected: "
                            "contiguous, channels_last or channels_last_3d");
    lua_pushboolean(L, la_tensor_is_format(t, format));
    return 1;
}

static int flag_method(lua_State *L, const char *name, uint32_t flag)
{
    lua_pushboolean(L, (la_check_tensor(L, 1, name)->flags & flag) != 0);
    return 1;
}

static int method_is_conj(lua_State *L)
{
    return flag_method(L, "is_conj", LA_F_CONJ);
}
static int method_is_neg(lua_State *L)
{
    return flag_method(L, "is_neg", LA_F_NEG);
}

static int method_is_meta(lua_State *L)
{
    lua_pushboolean(L, la_check_tensor(L, 1, "is_meta")->device == LA_META);
    return 1;
}

static int kind_method(lua_State *L, const char *name, char a, char b)
{
    char k = la_dtype_kind((la_dtype)la_check_tensor(L, 1, name)->dtype);
    lua_pushboolean(L, k == a || k == b);
    return 1;
}

static int method_is_complex(lua_State *L)
{
    return kind_method(L, "is_complex", 'c', 'c');
}
static int method_is_floating_point(lua_State *L)
{
    return kind_method(L, "is_floating_point", 'f', 'f');
}
static int method_is_signed(lua_State *L)
{
    char k = la_dtype_kind(
        (la_dtype)la_check_tensor(L, 1, "is_signed")->dtype);
    lua_pushboolean(L, k != 'b' && k != 'u');
    return 1;
}

/* An address for foreign functions, valid as long as the storage is. It would
** reveal the layout of the address space to a script in a sandbox. */
static int method_data_ptr(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "data_ptr");
    if (la_up_state(L)->sandboxed)
        return luaL_error(L, "data_ptr: not available in a sandbox");
    LA_CHECK(L, "data_ptr", la_tensor_check_bounds(t));
    if (t->storage) LA_CHECK(L, "data_ptr", la_storage_expose(t->storage));
    lua_pushinteger(L, (lua_Integer)(intptr_t)(
        la_is_remote(t->device) ? la_remote_address(t) : la_data(t)));
    return 1;
}

/* Size in bytes of the whole storage, also where the tensor shows a part. */
static int method_storage_size(lua_State *L)
{
    la_tensor *t = la_check_tensor(L, 1, "untyped_storage_size");
    lua_pushinteger(L, t->storage ? la_storage_bytes(t->storage) : 0);
    return 1;
}

/* Do both have one storage, offset, sizes and strides? 'dims' holds both lists,
** 16 bytes per dim. */
static int method_is_set_to(lua_State *L)
{
    la_tensor *a = la_check_tensor(L, 1, "is_set_to");
    la_tensor *b = la_check_tensor(L, 2, "is_set_to");
    bool same = a->storage == b->storage && a->offset == b->offset
        && a->ndim == b->ndim && a->storage
        && memcmp(a->dims, b->dims, (size_t)a->ndim * 16) == 0;
    lua_pushboolean(L, same);
    return 1;
}

/* A locked storage can't be resized, through any tensor on it: somebody keeps a
** pointer to its data. Returns the tensor itself. */
static int lock(lua_State *L, const char *name, bool on)
{
    la_tensor *t = la_check_tensor(L, 1, name);
    if (!t->storage) return luaL_error(L, "%s: tensor has no storage", name);
    if (on) t->storage->flags |= LA_S_LOCKED;
    else t->storage->flags &= ~(uint32_t)LA_S_LOCKED;
    lua_settop(L, 1);
    return 1;
}

static int method_lock(lua_State *L) { return lock(L, "lock", true); }
static int method_unlock(lua_State *L) { return lock(L, "unlock", false); }

static const la_function methods[] = {
    {"size", method_size, LA_MANY}, {"stride", method_stride, LA_MANY},
    {"numel", method_numel, 1}, {"nelement", method_numel, 1},
    {"dim", method_dim, 1}, {"ndimension", method_dim, 1},
    {"element_size", method_element_size, 1},
    {"itemsize", method_element_size, 1}, {"nbytes", method_nbytes, 1},
    {"storage_offset", method_storage_offset, 1},
    {"is_contiguous", method_is_contiguous, 2}, {"is_conj", method_is_conj, 1},
    {"is_neg", method_is_neg, 1}, {"is_meta", method_is_meta, 1},
    {"is_complex", method_is_complex, 1},
    {"is_floating_point", method_is_floating_point, 1},
    {"is_signed", method_is_signed, 1}, {"data_ptr", method_data_ptr, 1},
    {"untyped_storage_size", method_storage_size, 1},
    {"is_set_to", method_is_set_to, 2}, {"lock", method_lock, 1},
    {"unlock", method_unlock, 1}, {NULL, NULL, 0}
};
/* la.is_tensor(v): true for a tensor, also one that was freed; false for any
** other value, and for none. */
static int fn_is_tensor(lua_State *L)
{
    lua_pushboolean(L, la_to_handle(L, 1) != NULL);
    return 1;
}

static const la_function functions[] = {
    {"is_tensor", fn_is_tensor, 1}, {"numel", method_numel, 1},
    {"is_complex", method_is_complex, 1},
    {"is_floating_point", method_is_floating_point, 1},
    {"is_signed", method_is_signed, 1}, {"is_conj", method_is_conj, 1},
    {"is_neg", method_is_neg, 1}, {NULL, NULL, 0}
};
const la_part la_part_attr = {functions, methods};
