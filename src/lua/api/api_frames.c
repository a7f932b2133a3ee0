/*
** The C interface to scopes and to the collector (lunarray.h): nothing here
** raises a Lua error. What may raise in Lua runs protected. The state's own
** memory is of its runtime, whatever the thread was in.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include "base/runtime/passage.h"
#include "lua/transform/autograd.h"

_Static_assert((int)LA_PACE_AUTO == LA_COLLECT_AUTO
               && (int)LA_PACE_FRAME == LA_COLLECT_FRAME
               && (int)LA_PACE_OFF == LA_COLLECT_OFF, "la_policy");

/* The state of L, or NULL with the error record set; 'name' begins the text. */
static la_state *state_of(lua_State *L, const char *name)
{
    la_state *s = NULL;
    if (!L)
        la_error(LA_EARG, "%s: a Lua state is needed", name);
    else if (!lua_checkstack(L, 4))
        la_error(LA_ENOMEM, "%s: the Lua stack is full", name);
    else if (!(s = la_state_of(L)))
        la_error(LA_ESTATE, "%s: lunarray is not open in this state", name);
    return s;
}

/* Opens a scope of the host's kind, which la.tidy can not close: each is ended
** by whoever began it. */
LA_API int la_frame_begin(lua_State *L)
{
    la_state *s = state_of(L, "la_frame_begin");
    if (!s) return la_error_status();
    LA_ENTRY(&s->context);
    if (la_scope_begin(s, true))
        return la_error(LA_ENOMEM, "la_frame_begin: not enough memory");
    la_error_clear();
    return LA_OK;
}

/* Kilobytes, rounded up, as lua_gc wants them. */
static int step_size(size_t bytes)
{
    size_t kb = bytes / 1024 + (bytes % 1024 > 0);
    return kb > (1 << 30) ? 1 << 30 : (int)kb;
}

/* A step may run finalizers of scripts, whose errors are warnings of Lua's. */
LA_API int la_frame_end(lua_State *L)
{
    la_state *s = state_of(L, "la_frame_end");
    if (!s) return la_error_status();
    LA_ENTRY(&s->context);
    if (!la_in_frame(s))
        return la_error(LA_ESTATE, "la_frame_end: no scope of la_frame_begin "
                        "is the innermost one");
    la_scope_end(L, s, s->scopes.depth - 1);
    /* The step comes after the tensors are gone, so that the collector finds
    ** their handles empty and has less to do. */
    if (s->policy == LA_PACE_FRAME)
        la_lua_step(L, step_size(s->frame_bytes));
    la_error_clear();
    return LA_OK;
}

/* Stack 1: the value. */
static int keep_protected(lua_State *L)
{
    la_keep_value(L, la_state_of(L), 1);
    return 0;
}

/* Everything is checked before the protected call, because a status says more
** than a Lua error that was caught. */
LA_API int la_keep(lua_State *L, int arg)
{
    la_state *s = state_of(L, "la_keep");
    if (!s) return la_error_status();
    LA_ENTRY(&s->context);
    if (lua_type(L, arg) == LUA_TNONE)
        return la_error(LA_EARG, "la_keep: no value at stack index %d", arg);
    la_handle *h = la_to_handle(L, arg);
    if (h && !h->tensor)
        return la_error(LA_ESTATE, "la_keep: tensor was freed");
    arg = lua_absindex(L, arg);
    lua_pushcfunction(L, keep_protected);
    lua_pushvalue(L, arg);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) return la_lua_error(L, "la_keep");
    la_error_clear();
    return LA_OK;
}

/* The bytes are kept for every policy; only LA_COLLECT_FRAME reads them. */
LA_API int la_set_collector(lua_State *L, int policy, size_t bytes)
{
    la_state *s = state_of(L, "la_set_collector");
    if (!s) return la_error_status();
    LA_ENTRY(&s->context);
    if (policy < LA_COLLECT_AUTO || policy > LA_COLLECT_OFF)
        return la_error(LA_EARG, "la_set_collector: %d is no policy", policy);
    s->policy = (la_policy)policy;
    s->frame_bytes = bytes;
    la_error_clear();
    return LA_OK;
}
