/*
** la.snapshot{a, b, ...}: the data of tensors and the states of generators, to
** be restored (tensor/snapshot.h).
**
** The object's user value is the list of the tensors' handles: a tensor that a
** script has freed is told from one that lives on in a graph or a view. In the
** same table each generator is a key, and its state the value.
*/
#include <string.h>

#include "program/program.h"
#include "lua/binding.h"
#include "lua/lifetime/record_handle.h"
#include "tensor/snapshot.h"

#define SNAPSHOT_NAME "lunarray.Snapshot"

typedef struct holder {
    la_snapshot *snapshot;      /* NULL: was freed, or not taken yet */
    int64_t n;
} holder;

static holder *check_holder(lua_State *L)
{
    holder *h = luaL_testudata(L, 1, SNAPSHOT_NAME);
    if (!h)
        luaL_error(L, "snapshot: lunarray.Snapshot expected, got %s",
                   la_type_text(L, 1));
    return h;
}

/* s:free(), also __close and __gc; may run twice. */
static int snapshot_free(lua_State *L)
{
    holder *h = check_holder(L);
    la_snapshot *s = h->snapshot;
    h->snapshot = NULL;
    la_snapshot_drop(s);
    lua_pushnil(L);
    lua_setiuservalue(L, 1, 1);
    return 0;
}

/* The generators of the list at the top get their states back, which cannot
** fail; how many there are. */
static int64_t each_generator(lua_State *L, bool restore)
{
    int64_t n = 0;
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        la_generator *g = la_to_generator(L, -2);
        n += g != NULL;
        if (g && restore) memcpy(g, lua_tostring(L, -1), sizeof *g);
        lua_pop(L, 1);
    }
    return n;
}

static int snapshot_text(lua_State *L)
{
    holder *h = check_holder(L);
    if (!h->snapshot) {
        lua_pushliteral(L, "lunarray.Snapshot that was freed");
        return 1;
    }
    lua_getiuservalue(L, 1, 1);
    int64_t n = each_generator(L, false);
    lua_pushfstring(L, "lunarray.Snapshot of %I tensors", (LUAI_UACINT)h->n);
    if (n == 0) return 1;
    lua_pushfstring(L, " and %I generators", (LUAI_UACINT)n);
    lua_concat(L, 2);
    return 1;
}

/* Handles of the list at the top of the stack that were freed. */
static void check_handles(lua_State *L, const holder *o)
{
    for (int64_t k = 0; k < o->n; k++) {
        lua_rawgeti(L, -1, k + 1);
        la_handle *h = la_to_handle(L, -1);
        if (!h || h->tensor != la_snapshot_tensor(o->snapshot, k))
            luaL_error(L, "restore: tensor %I was freed", (LUAI_UACINT)k + 1);
        lua_pop(L, 1);
    }
}

/* The elements of the handles in the list at 'list', which are the work. */
static int64_t count_elements(lua_State *L, int list, int64_t n)
{
    int64_t all = 0;
    for (int64_t k = 0; k < n; k++) {
        lua_rawgeti(L, list, k + 1);
        la_handle *h = la_to_handle(L, -1);
        if (h && h->tensor) all += h->tensor->numel;
        lua_pop(L, 1);
    }
    return all;
}

/* s:restore(): either all tensors or none; an error names the first that can't
** be written back. */
static int snapshot_restore(lua_State *L)
{
    holder *h = check_holder(L);
    la_state *s = la_enter(L);
    if (!h->snapshot) return luaL_error(L, "restore: the snapshot was freed");
    la_record_refuse("it restores a snapshot");
    lua_settop(L, 1);
    lua_getiuservalue(L, 1, 1);
    la_begin_work(L, s, "restore", count_elements(L, 2, h->n));
    check_handles(L, h);
    la_status status = la_snapshot_put_back(h->snapshot);
    if (status == LA_ENOMEM && la_collect_all(L, s)) {
        la_enter(L);
        if (!h->snapshot)
            return luaL_error(L, "restore: the snapshot was freed");
        check_handles(L, h);
        status = la_snapshot_put_back(h->snapshot);
    }
    if (status) return la_raise(L, "restore", status);
    each_generator(L, true);
    return 0;
}

/* The tensors of the list of handles at the top, into the holder. They are read
** out after the memory for their pointers is had, which may run finalizers. */
static la_status snapshot_take(lua_State *L, holder *o)
{
    la_tensor **list = lua_newuserdatauv(L, (size_t)o->n * sizeof(*list), 0);
    for (int64_t k = 0; k < o->n; k++) {
        lua_rawgeti(L, -2, k + 1);
        la_handle *h = la_to_handle(L, -1);
        lua_pop(L, 1);
        list[k] = h ? h->tensor : NULL;
        if (!list[k])
            return la_error(LA_ESTATE, "tensor %lld was freed",
                            (long long)k + 1);
    }
    return la_snapshot_make(o->n, list, &o->snapshot);
}

/* la.snapshot(list); the fields of a record are a list too. What it will hold
** counts for the pacing of the collector as tensors do. */
static int fn_snapshot(lua_State *L)
{
    la_state *s = la_enter(L);
    if (lua_type(L, 1) != LUA_TTABLE && !la_to_handle(L, 1)
        && !la_is_record(L, 1))
        return la_raise_arg(L, 1, "snapshot", "table of tensors expected, got "
                            "%s", la_type_text(L, 1));
    if (lua_gettop(L) > 1)
        return la_raise_arg(L, 2, "snapshot", "one table expected, got %d "
                            "arguments", lua_gettop(L));
    la_record_refuse("it takes a snapshot");
    lua_settop(L, 1);
    la_pace_data(L, s);
    holder *o = lua_newuserdatauv(L, sizeof(*o), 1);
    *o = (holder){NULL, 0};
    lua_pushvalue(L, lua_upvalueindex(LA_UP_OWN));
    la_take_metatable(L);
    o->n = la_list_handles(L, 1);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 2, 1);
    la_enter(L);
    la_begin_work(L, s, "snapshot", count_elements(L, 3, o->n));
    la_status status = snapshot_take(L, o);
    if (status == LA_ENOMEM && la_collect_all(L, s)) {
        la_enter(L);
        lua_settop(L, 3);
        status = snapshot_take(L, o);
    }
    if (status) return la_raise(L, "snapshot", status);
    for (int64_t k = 0; k < o->n && !s->scopes.depth; k++)
        la_count_bytes(s, la_snapshot_tensor(o->snapshot, k));
    lua_settop(L, 2);
    la_pace(L, s);
    return 1;
}

/* The metatable is locked: __gc with another object, or twice, is nothing that
** a script gets at. */
void la_open_snapshots(lua_State *L, int lib)
{
    static const la_function methods[] = {
        {"free", snapshot_free, 1}, {"restore", snapshot_restore, 1},
        {NULL, NULL, 0}};
    la_new_metatable(L, SNAPSHOT_NAME, "a snapshot's metatable is locked");
    la_set_event(L, "__gc", snapshot_free);
    la_set_event(L, "__close", snapshot_free);
    la_set_event(L, "__tostring", snapshot_text);
    la_set_methods(L, methods);
    la_closure(L, fn_snapshot);
    lua_setfield(L, lib, "snapshot");
}
