/*
** x:storage(): the block of memory behind a tensor, as an object; memory shared
** with other libraries of the process by DLPack.
**
** One userdata per block and state while anybody keeps it, so that storages
** compare and serve as keys of tables: tensors on the same memory have the same
** one. It holds the memory, not a tensor.
*/
#include "lua/build_options.h"
#include "op/call.h"
#include "tensor/host/dlpack.h"

#define STORAGE_NAME "lunarray.Storage"

/* The userdata; empty after its finalizer. */
typedef struct holder {
    la_storage *storage;        /* owned: a reference of its own */
} holder;

/* Registry: the userdata by the address of the storage, with weak values. */
static const char holders_key;

/* Borrowed from the userdata at 1. Raises after its finalizer, too. */
static la_storage *check_storage(lua_State *L)
{
    holder *h = luaL_checkudata(L, 1, STORAGE_NAME);
    if (!h->storage) luaL_error(L, "storage: was freed");
    return h->storage;
}

/* The memory goes with its last holder, be it a tensor or this. */
static int storage_gc(lua_State *L)
{
    holder *h = luaL_checkudata(L, 1, STORAGE_NAME);
    if (h->storage) la_storage_release(h->storage);
    h->storage = NULL;
    return 0;
}

static int storage_bytes(lua_State *L)
{
    lua_pushinteger(L, la_storage_bytes(check_storage(L)));
    return 1;
}

static int storage_text(lua_State *L)
{
    la_storage *s = check_storage(L);
    lua_pushfstring(L, "lunarray.Storage of %I bytes%s%s",
                    (LUAI_UACINT)la_storage_bytes(s),
                    s->device == LA_CPU ? "" : " on ",
                    s->device == LA_CPU ? "" : la_device_name(s->device));
    return 1;
}

/* s:is_fixed(): memory of a host, of a file or of another library, which can't
** be resized. */
static int storage_is_shared(lua_State *L)
{
    lua_pushboolean(L, (check_storage(L)->flags & LA_S_FIXED) != 0);
    return 1;
}

/* Push the table of holders, created on demand, and make the metatable. */
static void push_holders(lua_State *L)
{
    static const la_function methods[] = {
        {"nbytes", storage_bytes, 1}, {"is_fixed", storage_is_shared, 1},
        {NULL, NULL, 0}};
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &holders_key) == LUA_TTABLE) return;
    lua_pop(L, 1);
    la_new_metatable(L, STORAGE_NAME, "a storage's metatable is locked");
    la_set_event(L, "__gc", storage_gc);
    la_set_event(L, "__len", storage_bytes);
    la_set_event(L, "__tostring", storage_text);
    la_set_methods(L, methods);
    lua_pop(L, 1);
    la_push_weak_table(L, &holders_key, "v");
}

/* x:storage(). The userdata is made before the tensor is looked at, as making
** it may run finalizers; it is dropped where there is one for the block. */
static int method_storage(lua_State *L)
{
    la_enter(L);
    push_holders(L);
    holder *h = lua_newuserdatauv(L, sizeof(*h), 0);
    h->storage = NULL;
    la_set_metatable(L, STORAGE_NAME);
    la_tensor *t = la_check_tensor(L, 1, "storage");
    LA_CHECK(L, "storage", la_tensor_check_bounds(t));
    if (!t->storage) return luaL_error(L, "storage: the tensor has none");
    la_storage *s = t->storage;
    if (lua_rawgetp(L, -2, s) == LUA_TUSERDATA) return 1;
    lua_pop(L, 1);
    h->storage = la_storage_retain(s);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, s);
    return 1;
}

la_handle *la_take_storage(lua_State *L, int at, const la_handle *self)
{
    holder *h = luaL_testudata(L, at, STORAGE_NAME);
    la_state *s = la_up_state(L);
    la_tensor *t;
    if (!h || !h->storage || !self || !self->tensor) return NULL;
    la_dtype dtype = self->tensor->dtype;
    la_handle *flat = la_new_handle(L, s);
    int64_t n = la_storage_bytes(h->storage) / (int64_t)la_dtype_size(dtype);
    LA_CHECK(L, "storage", la_tensor_on(h->storage, dtype, 1, &n,
                                        (int64_t[]){1}, 0, &t));
    la_fill_handle(s, flat, t);
    lua_replace(L, at);
    return flat;
}

/* ---- DLPack, for hosts and foreign functions: raw pointers ---- */

/* Raises in a sandbox. */
static la_state *enter_trusted(lua_State *L, const char *name)
{
    la_state *s = la_enter(L);
    if (s->sandboxed) luaL_error(L, "%s: not available in a sandbox", name);
    return s;
}

/* The table of options at 2, which may be missing, has no other keys than
** 'known'. */
static void check_options(lua_State *L, const char *const *known,
                          const char *name)
{
    if (lua_isnoneornil(L, 2)) return;
    if (!lua_istable(L, 2))
        la_raise_arg(L, 2, name, "table of options expected, got %s",
                     la_type_text(L, 2));
    la_check_keywords(L, 2, known, name);
}

/* A boolean of that table, or 'otherwise'. */
static bool storage_option(lua_State *L, const char *key, bool otherwise,
                           const char *name)
{
    if (lua_isnoneornil(L, 2)) return otherwise;
    int type = lua_getfield(L, 2, key);
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        la_raise_arg(L, 2, name, "%s: boolean expected, got %s", key,
                     la_type_text(L, lua_gettop(L)));
    bool yes = type == LUA_TNIL ? otherwise : lua_toboolean(L, -1);
    lua_pop(L, 1);
    return yes;
}

/* The struct of t, or of a copy that nobody else holds. */
static la_status export_struct(la_tensor *t, bool copy, bool versioned,
                               void **out)
{
    LA_OWNED own = NULL;
    struct DLManagedTensor *m = NULL;
    struct DLManagedTensorVersioned *v = NULL;
    if (copy) {
        LA_TRY(la_run(clone, &own, t));
        t = own;
    }
    LA_TRY(versioned ? la_dlpack_export_versioned(t, &v)
                     : la_dlpack_export(t, &m));
    *out = versioned ? (void *)v : (void *)m;
    return LA_OK;
}

/* to_dlpack(x[, {versioned=, copy=}]): light userdata, whose consumer calls the
** deleter. */
static int method_to_dlpack(lua_State *L)
{
    static const char *const known[] = {"versioned", "copy", NULL};
    void *out = NULL;
    enter_trusted(L, "to_dlpack");
    check_options(L, known, "to_dlpack");
    bool versioned = storage_option(L, "versioned", false, "to_dlpack");
    bool copy = storage_option(L, "copy", false, "to_dlpack");
    la_tensor *t = la_check_tensor(L, 1, "to_dlpack");
    LA_CHECK(L, "to_dlpack", export_struct(t, copy, versioned, &out));
    lua_pushlightuserdata(L, out);
    return 1;
}

/* The options of an import: which of the two structs it is, where it 'looks'
** like one. Raises. */
static bool import_options(lua_State *L, bool looks)
{
    static const char *const known[] = {"versioned", NULL};
    check_options(L, known, "from_dlpack");
    return storage_option(L, "versioned", looks, "from_dlpack");
}

/* Steps of an import that may raise, in protected mode: nil, the options, what
** the struct looks like, the state. Gives the empty handle and what the struct
** is. */
static int prepare_import(lua_State *L)
{
    bool versioned = import_options(L, lua_toboolean(L, 3));
    la_empty_handle(L, lua_touserdata(L, 4));
    lua_pushboolean(L, versioned);
    return 2;
}

/* Stack 2: the options. An import that fails before it has begun takes the
** struct over too. The options are read again then, for an error that shows the
** line of the script; where they are well, the first one was want of memory. */
static int import_struct(lua_State *L, la_state *s, void *p)
{
    bool looks = la_dlpack_has_version(p);
    la_tensor *t = NULL;
    lua_settop(L, 2);
    lua_pushcfunction(L, prepare_import);
    lua_pushnil(L);
    lua_pushvalue(L, 2);
    lua_pushboolean(L, looks);
    lua_pushlightuserdata(L, s);
    if (lua_pcall(L, 4, 2, 0) != LUA_OK) {
        la_dlpack_drop(p, looks);
        import_options(L, looks);
        return lua_error(L);
    }
    la_handle *h = lua_touserdata(L, -2);
    LA_CHECK(L, "from_dlpack", lua_toboolean(L, -1)
             ? la_dlpack_import_versioned(p, &t) : la_dlpack_import(p, &t));
    lua_pop(L, 1);
    la_fill_handle(s, h, t);
    return 1;
}

/* from_dlpack(pointer[, {versioned=}]): a tensor on that memory. The struct is
** taken over, also by a call that fails; which of the two it is can be seen
** when nobody says. A tensor is returned as it is. */
static int fn_from_dlpack(lua_State *L)
{
    la_state *s = enter_trusted(L, "from_dlpack");
    void *p = lua_type(L, 1) == LUA_TLIGHTUSERDATA ? lua_touserdata(L, 1)
                                                   : NULL;
    if (p) return import_struct(L, s, p);
    import_options(L, false);
    if (la_to_handle(L, 1)) {
        la_check_tensor(L, 1, "from_dlpack");
        lua_settop(L, 1);
        return 1;
    }
    return la_raise_arg(L, 1, "from_dlpack", "tensor or light userdata of a "
                        "DLManagedTensor expected, got %s", la_type_text(L, 1));
}

static const la_function functions[] = {
    {"to_dlpack", method_to_dlpack, LA_MANY},
    {"from_dlpack", fn_from_dlpack, LA_MANY}, {NULL, NULL, 0}
};
static const la_function methods[] = {
    {"storage", method_storage, 1}, {"to_dlpack", method_to_dlpack, LA_MANY},
    {NULL, NULL, 0}
};
const la_part la_part_storage = {functions, methods};
