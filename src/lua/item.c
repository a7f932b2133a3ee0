/*
** One element as a value of Lua: x:item(i, j), x:tonumber(), x:tointeger().
**
** These copy one element out and hold no reference, so nothing here has to be
** anchored. They read the storage without dispatch: whatever makes bytes differ
** from values (lazy conj and neg bits) is handled here, as is a tensor without
** storage.
*/
#include <math.h>

#include "lua/binding.h"
#include "op/index/key.h"
#include "tensor/scalar.h"

/* Numbers from lazily conjugated or negated elements. */
static void apply_bits(const la_tensor *t, la_scalar *s)
{
    if ((t->flags & LA_F_CONJ) && s->kind == LA_KCOMPLEX) s->im = -s->im;
    if (!(t->flags & LA_F_NEG)) return;
    s->re = -s->re;
    s->im = -s->im;
    s->i = -s->i;
}

/* The offset of element (i, j, ...) on the stack from 2 on. In elements. Raises
** when the number of indices or one of them is wrong. */
static int64_t item_offset(lua_State *L, const la_tensor *t, int n)
{
    int64_t at = t->offset;
    if (n != t->ndim)
        return luaL_error(L, "item: %d indices expected for a tensor of "
                          "dimension %d, got %d", t->ndim, t->ndim, n);
    for (int d = 0; d < n; d++) {
        int64_t i = lua_isinteger(L, d + 2) ? lua_tointeger(L, d + 2)
                                            : la_check_int(L, d + 2, "item");
        int64_t size = la_sizes(t)[d];
        if (!la_index_in_range(i, size))
            return la_raise(L, "item", la_index_out_of_range(i, d, size));
        at += la_index_from_0(i, size) * la_strides(t)[d];
    }
    return at;
}

/* The offset of the one element, in elements; raises for any other count. */
static int64_t only_offset(lua_State *L, const la_tensor *t, const char *name)
{
    if (t->numel != 1)
        return luaL_error(L, "%s: a Tensor with %I elements cannot be "
                          "converted to Scalar", name, (LUAI_UACINT)t->numel);
    return t->offset;
}

/* An element of a device of the host's is fetched to here. */
typedef union fetched {
    char bytes[16];
    double align[2];
} fetched;

/* Element 'at' of the storage. The bounds are checked here because another
** tensor on the same storage may have resized it. Raises without data. */
static const char *item_element(lua_State *L, const la_tensor *t, int64_t at,
                                const char *name, fetched *own)
{
    int64_t item = (int64_t)la_itemsize(t);
    bool remote = la_is_remote(t->device);
    if (t->storage && t->storage->nbytes < 0) {
        la_enter(L);
        LA_CHECK(L, name, la_tensor_check_bounds(t));
    }
    if (!t->storage || !(remote ? la_storage_remote(t->storage)
                                : t->storage->data))
        luaL_error(L, "%s: the tensor has no data", name);
    if ((at + 1) * item > t->storage->nbytes)
        luaL_error(L, "%s: the storage is too small by now", name);
    if (!remote) return t->storage->data + at * item;
    la_enter(L);
    LA_CHECK(L, name, la_device_read(t->device, own->bytes,
                                     la_storage_remote(t->storage), at * item,
                                     item));
    return own->bytes;
}

/* The one element, or the one at the n indices on the stack from 2 on: where
** it lies. */
static inline const char *find_element(lua_State *L, const la_tensor *t, int n,
                                       const char *name, fetched *own)
{
    la_check_read(L, t, name);
    if (t->flags & LA_F_DEFERRED) {
        la_enter(L);
        LA_CHECK(L, name, la_tensor_check_bounds(t));
    }
    return item_element(L, t, n > 0 ? item_offset(L, t, n)
                                    : only_offset(L, t, name), name, own);
}

/* The element at 'p' with the lazy conj and neg bits of 't' applied. */
static la_scalar item_load(const la_tensor *t, const char *p)
{
    la_scalar s = la_scalar_load((la_dtype)t->dtype, p);
    if (t->flags & (LA_F_CONJ | LA_F_NEG)) apply_bits(t, &s);
    return s;
}

/* A float32 goes to Lua at once: a la_scalar on the way is written in parts and
** read as a whole, which costs as much as the rest of the call. */
int la_item(lua_State *L)
{
    la_begin_work(L, la_up_state(L), "item", 0);
    fetched own;
    la_tensor *t = la_check_tensor(L, 1, "item");
    const char *p = find_element(L, t, lua_gettop(L) - 1, "item", &own);
    if (t->dtype == LA_FLOAT32 && !(t->flags & LA_F_NEG)) {
        lua_pushnumber(L, *(const float *)p);
        return 1;
    }
    la_scalar s = item_load(t, p);
    la_push_scalar(L, &s);
    return s.kind == LA_KCOMPLEX ? 2 : 1;
}

/* The one element of the tensor at 1; raises for a complex value that is not
** real, as nothing is dropped silently. */
static la_scalar real_scalar(lua_State *L, const char *name)
{
    la_begin_work(L, la_up_state(L), name, 0);
    fetched own;
    la_tensor *t = la_check_tensor(L, 1, name);
    la_scalar s = item_load(t, find_element(L, t, 0, name, &own));
    if (s.kind == LA_KCOMPLEX && s.im != 0)
        luaL_error(L, "%s: the value has an imaginary part: take real() or "
                   "abs() of it first", name);
    return s;
}

/* x:tonumber(), a float */
int la_tonumber(lua_State *L)
{
    la_scalar s = real_scalar(L, "tonumber");
    lua_pushnumber(L, s.re);
    return 1;
}

/* x:tointeger(): nothing is rounded. */
int la_tointeger(lua_State *L)
{
    la_scalar s = real_scalar(L, "tointeger");
    lua_Integer i = s.i;
    bool whole = (s.kind <= LA_KINT && !la_scalar_above_int(&s))
        || (s.re == floor(s.re) && lua_numbertointeger(s.re, &i));
    if (la_scalar_above_int(&s))
        return luaL_error(L, "tointeger: %s is beyond the integers of Lua: "
                          "tonumber() gives a float", la_push_number(L, s.re));
    if (!whole)
        return luaL_error(L, "tointeger: %s is not an integer of 64 bits: take "
                          "floor(), trunc() or round() of it first",
                          la_push_number(L, s.re));
    lua_pushinteger(L, i);
    return 1;
}
