/*
** Lua states in lunarray.h: opening the library in one, tensors and records on
** its stack. Calls of Lua run protected: nothing here but la_check lets a Lua
** error out.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <lualib.h>

#include "base/runtime/parts.h"
#include "lua/lifetime/record_handle.h"
#include "lua/sandbox/sandbox.h"
#include "lua/transform/autograd.h"

la_context *la_context_of(lua_State *L)
{
    la_state *s = L ? la_state_of(L) : NULL;
    if (s) la_use_modes(L, s);
    return s ? &s->context : NULL;
}

/* ---- states ---- */

/* The module goes into package.loaded and a global. */
int la_open_protected(lua_State *L)
{
    luaL_requiref(L, "lunarray", luaopen_lunarray, 1);
    return 0;
}

/* Runs 'opens' and leaves the stack as it was. LA_EARG, LA_ENOMEM, or the error
** record with what it raised. */
la_status la_open_by(lua_State *L, lua_CFunction opens)
{
    if (!L) return la_error(LA_EARG, "a Lua state is needed");
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    lua_pushcfunction(L, opens);
    if (lua_pcall(L, 0, 0, 0) == LUA_OK) return LA_OK;
    return la_lua_error(L, "open");
}

/* The thread's own settings stand while the state is opened, so that nothing of
** a script that calls in is taken for the new state's. */
static int open_in(lua_State *L, la_runtime *rt, const char *function)
{
    LA_API_ENTRY_IN(rt ? rt : &la_default_runtime);
    la_status status = la_join_runtime(L, la_runtime_here());
    if (!status) status = la_open_by(L, la_open_protected);
    return la_api_end(function, status);
}

/* A NULL runtime is the default one, so that hosts with one runtime need never
** name it. */
LA_API int la_openlibs_in(lua_State *L, la_runtime *rt)
{
    return open_in(L, rt, "la_openlibs_in");
}

LA_API int la_openlibs(lua_State *L)
{
    return open_in(L, NULL, "la_openlibs");
}

/* Whatever gives a host a tensor says before that counters are no longer the
** calling thread's alone. Borrowed from the handle at 'arg'; raises a Lua
** error, so only from a lua_CFunction of the host. */
LA_API la_tensor *la_check(lua_State *L, int arg)
{
    la_handle *h = la_to_handle(L, arg);
    la_share_tensors();
    if (!h) luaL_typeerror(L, arg, "tensor");
    else if (!h->tensor) luaL_argerror(L, arg, la_freed_text(h));
    return h ? h->tensor : NULL;
}

/* Borrowed, or NULL for anything but a live tensor; sets no error record. */
LA_API la_tensor *la_test(lua_State *L, int arg)
{
    la_handle *h = L ? la_to_handle(L, arg) : NULL;
    la_share_tensors();
    return h ? h->tensor : NULL;
}

/* A graph belongs to the state that recorded it: its functions run there, and
** nothing keeps two threads out of its nodes. */
static bool recorded_elsewhere(lua_State *L, const la_tensor *t)
{
    const la_state *s = la_state_of(L);
    return (t->flags & LA_F_REQUIRES_GRAD) && t->grad && t->grad->context
        && t->grad->context != &s->context;
}

/* Stack 1: the tensor as a light userdata, borrowed for the call. */
static int api_push_protected(lua_State *L)
{
    la_tensor *t = lua_touserdata(L, 1);
    la_state *s = la_state_of(L);
    if (recorded_elsewhere(L, t))
        return luaL_error(L, "the tensor was recorded in another Lua state; "
                          "detach() it there first");
    la_push_borrowed(L, s, t);
    return 1;
}

/* Retains 't': the caller's reference stays the caller's. On failure nothing is
** pushed. */
static la_status api_push(lua_State *L, la_tensor *t)
{
    if (!L || !t) return la_error(LA_EARG, "a Lua state and a tensor needed");
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    la_state *s = la_state_of(L);
    if (!s)
        return la_error(LA_ESTATE, "the library was never opened in this Lua "
                        "state");
    /* Memory is given back to the runtime of its tensor: no state of another
    ** may keep it alive. */
    if (t->owner != s->context.runtime->owner)
        return la_error(LA_EARG, "the tensor belongs to another runtime than "
                        "the state");
    lua_pushcfunction(L, api_push_protected);
    lua_pushlightuserdata(L, t);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) return LA_OK;
    return la_lua_error(L, "push");
}

/* Runs in protected mode all through: a host may push outside of any call. */
LA_API int la_push(lua_State *L, la_tensor *t)
{
    LA_API_ENTRY(NULL);
    return la_api_end("la_push", api_push(L, t));
}

/* Stack 1: the record as a light userdata, borrowed for the call. */
static int push_record_protected(lua_State *L)
{
    la_push_record_value(L, lua_touserdata(L, 1));
    return 1;
}

/* Checks the owner before anything is pushed: like a tensor, a record belongs
** to one runtime. */
static la_status push_record(lua_State *L, la_record *r)
{
    if (!L || !r) return la_error(LA_EARG, "a Lua state and a record needed");
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    if (!la_state_of(L))
        return la_error(LA_ESTATE, "the library was not opened in this state");
    if (r->owner != la_state_of(L)->context.runtime->owner)
        return la_error(LA_EARG, "the record belongs to another runtime than "
                        "the state");
    LA_ENTRY(&la_state_of(L)->context);
    lua_pushcfunction(L, push_record_protected);
    lua_pushlightuserdata(L, r);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) return LA_OK;
    return la_lua_error(L, "push");
}

/* The userdata is made in a protected call, as there may be no memory for it.
** On failure nothing is pushed, and the record is the caller's as before. */
LA_API int la_push_record(lua_State *L, la_record *r)
{
    la_share_tensors();
    return la_api_end("la_push_record", push_record(L, r));
}

/* ---- errors ---- */

/* The record of an error of the library's own stays as it is: it says more
** where Lua's memory is out. A copy of the value is what la_lua_error pops. */
LA_API const char *la_error_of(lua_State *L, int index)
{
    if (!L || !lua_checkstack(L, 6)) {
        la_error(LA_EARG, "la_error_of: a Lua state with a free stack needed");
        return la_error_text();
    }
    if (la_is_raised(L, index))
        return la_error_status() == LA_ENOMEM ? la_error_text()
                                              : lua_tostring(L, index);
    lua_pushvalue(L, index);
    la_lua_error(L, "");
    return la_error_text();
}
