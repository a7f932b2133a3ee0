/* Opening the library in a Lua state: the module table, the metatable, and the
** userdata that holds what belongs to the state. */
#include <lualib.h>
#include <math.h>
#include <string.h>

#include "base/os/cpu.h"
#include "base/runtime/parts.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "base/runtime/token.h"
#include "grad/grad.h"
#include "lua/attr.h"
#include "lua/transform/autograd.h"
#include "lua/binding.h"
#include "lua/embed.h"
#include "lua/sandbox/guard.h"
#include "lua/bracket.h"
#include "op/fft/plans.h"
#include "lunarray.h"
#include "op/op.h"

/* The state's key in the registry: a string could not be made when memory is
** short, and an address would be another in a second copy of the library. */
#define STATE_KEY ((lua_Integer)0x6c756e6172726179)

la_state *la_state_of(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, STATE_KEY);
    la_state *s = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

/* The order of the upvalues is that of the LA_UP_ constants. */
static void push_upvalues(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, STATE_KEY);
    lua_insert(L, -2);
    luaL_getmetatable(L, LA_META_NAME);
    lua_insert(L, -2);
}

void la_bare_closure(lua_State *L, lua_CFunction fn)
{
    push_upvalues(L);
    lua_pushcclosure(L, fn, LA_UP_OWN);
}

static inline int call_upvalue(lua_State *L)
{
    return la_masked(L, lua_tocfunction(L, lua_upvalueindex(LA_UP_BODY)));
}

static int call_ending(lua_State *L)
{
    return la_up_state(L)->closed ? 0 : call_upvalue(L);
}

static int call_body(lua_State *L)
{
    la_check_stack(L, la_up_state(L));
    return call_upvalue(L);
}

static void push_around(lua_State *L, lua_CFunction outer, lua_CFunction body)
{
    push_upvalues(L);
    lua_pushcfunction(L, body);
    lua_pushcclosure(L, outer, LA_UP_BODY);
}

void la_closure(lua_State *L, lua_CFunction fn)
{
    push_around(L, call_body, fn);
}

void la_ending_closure(lua_State *L, lua_CFunction fn)
{
    push_around(L, call_ending, fn);
}

/* ---- functions of rows ---- */

enum { UP_NAME = LA_UP_BODY + 1 };

/* An argument that nobody takes is a mistake, as in a call of an operation; nil
** is none. */
static int too_many(lua_State *L, int most)
{
    while (lua_gettop(L) > most && lua_isnil(L, -1)) lua_pop(L, 1);
    if (lua_gettop(L) == most) return call_body(L);
    return la_raise_arg(L, most + 1, lua_touserdata(L,
                            lua_upvalueindex(UP_NAME)),
                        "at most %d arguments expected, got %d", most,
                        lua_gettop(L));
}

static inline int call_counted(lua_State *L, int most)
{
    return __builtin_expect(lua_gettop(L) > most, 0) ? too_many(L, most)
                                                     : call_body(L);
}

static int call_0(lua_State *L) { return call_counted(L, 0); }
static int call_1(lua_State *L) { return call_counted(L, 1); }
static int call_2(lua_State *L) { return call_counted(L, 2); }
static int call_3(lua_State *L) { return call_counted(L, 3); }
static int call_4(lua_State *L) { return call_counted(L, 4); }

void la_push_function(lua_State *L, const la_function *row)
{
    static const lua_CFunction counted[LA_COUNTED + 1] = {
        call_0, call_1, call_2, call_3, call_4};
    lua_pushnil(L);
    if (row->most == LA_MANY) {
        la_closure(L, row->body);
        return;
    }
    push_upvalues(L);
    lua_pushcfunction(L, row->body);
    lua_pushlightuserdata(L, (void *)(uintptr_t)row->name);
    lua_pushcclosure(L, counted[row->most], UP_NAME);
}

void la_set_methods(lua_State *L, const la_function *methods)
{
    lua_newtable(L);
    for (const la_function *r = methods; r->name; r++) {
        la_push_function(L, r);
        lua_setfield(L, -2, r->name);
    }
    lua_setfield(L, -2, "__index");
}

/* The state's own block dies with the Lua state: no context of a closed state
** may stay current on this thread. Finalizers of scripts that are older than
** the block run later, when nothing can be made any more, and are refused. */
static int state_gc(lua_State *L)
{
    la_state *s = lua_touserdata(L, 1);
    la_runtime *rt = s->context.runtime;
    la_passage before = la_enter_runtime(rt);
    if (s->pulse) s->pulse->thread = NULL;
    s->aside = 0;               /* no finalizer of a script runs any more */
    la_end_closing(L, s);
    la_drop_scopes(s);
    la_cut_ties(s);
    la_fft_forget(s->context.token);
    la_token_release(s->context.token);
    s->context.token = &la_no_token;
    la_close_handles(L, s);
    s->closed = true;
    s->stack_low = 0;
    s->stack_kept = SIZE_MAX;
    la_leave_context(&before);
    if (la_current_context == &s->context) la_current_context = NULL;
    atomic_fetch_sub(&rt->states, 1);
    return 0;
}

/* The main thread is kept, not L: the library may be opened by a coroutine that
** dies. */
static la_state *new_state(lua_State *L, la_runtime *rt)
{
    la_state *s = lua_newuserdatauv(L, sizeof(*s), 0);
    memset(s, 0, sizeof(*s));
    la_context_init(&s->context, rt);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    s->main = lua_tothread(L, -1);
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    la_set_event(L, "__gc", state_gc);
    la_set_own_metatable(L, -2);
    atomic_fetch_add(&rt->states, 1);       /* from here on state_gc runs */
    la_token *token = la_token_new();
    if (!token) luaL_error(L, "not enough memory");
    s->context.token = token;
    lua_rawseti(L, LUA_REGISTRYINDEX, STATE_KEY);
    return s;
}

/* Stack 1: the runtime, as a light userdata. */
static int begin_protected(lua_State *L)
{
    new_state(L, lua_touserdata(L, 1));
    return 0;
}

/* Lua would not finalize the block of a state that closes. */
#define NOT_IN_FINALIZERS "lunarray is not opened in a finalizer, which " \
    "may be that of a Lua state that closes: open it before"

la_status la_join_runtime(lua_State *L, la_runtime *rt)
{
    if (!L) return la_error(LA_EARG, "a Lua state is needed");
    if (la_foreign_lua(L))
        return la_error(LA_ESTATE, LA_FOREIGN_LUA, (int)lua_version(L) / 100,
                        (int)lua_version(L) % 100);
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    la_state *s = la_state_of(L);
    if ((s && s->closed) || (!s && la_in_finalizer(L)))
        return la_error(LA_ESTATE, NOT_IN_FINALIZERS);
    if (s && s->context.runtime != rt)
        return la_error(LA_ESTATE, "the Lua state belongs to another runtime");
    if (s) return LA_OK;
    lua_pushcfunction(L, begin_protected);
    lua_pushlightuserdata(L, rt);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return LA_OK;
    return la_lua_error(L, "open");
}

/* NULL entries are those whose tensors were moved into handles. */
static int box_gc(lua_State *L)
{
    la_tensor_box *box = lua_touserdata(L, 1);
    for (int64_t i = 0; i < box->n; i++) la_tensor_drop(&box->list[i]);
    return 0;
}

static void new_box_metatable(lua_State *L)
{
    la_new_metatable(L, LA_BOX_NAME, NULL);
    la_set_event(L, "__gc", box_gc);
    lua_pop(L, 1);
}

/* ---- opening ---- */

/* Nothing here may ask for the registry, whose index is another. */
static int refuse_lua(lua_State *L)
{
    int version = (int)lua_version(L);
    lua_pushfstring(L, LA_FOREIGN_LUA, version / 100, version % 100);
    return lua_error(L);
}

/* Returns the module table. Opening again gives the same table. After an
** attempt that failed for want of memory it starts anew on the same state
** block, which closures of the first attempt may point at. */
LA_API int luaopen_lunarray(lua_State *L)
{
    if (la_foreign_lua(L)) return refuse_lua(L);
    la_state *s = la_state_of(L);
    if (s && lua_getfield(L, LUA_REGISTRYINDEX, "lunarray.module")
                 == LUA_TTABLE) return 1;
    if (la_cpu_missing())
        return luaL_error(L, "lunarray was built for processors with %s",
                          la_cpu_missing());
    if (!s && la_in_finalizer(L)) return luaL_error(L, NOT_IN_FINALIZERS);
    if (!s) s = new_state(L, &la_default_runtime);  /* else begun before */
    la_make_current(&s->context);
    new_box_metatable(L);
    la_open_errors(L);
    la_grad_init();
    la_new_metatable(L, LA_META_NAME, "a tensor's metatable is locked");
    int meta = lua_gettop(L);
    la_pace_begin(L, s);
    lua_newtable(L);
    int lib = lua_gettop(L);
    lua_newtable(L);
    int methods = lua_gettop(L);
    la_open_foreign(L, lib, methods);
    la_open_themes(L, lib);
    la_open_meta(L, meta, methods);
    la_open_scopes(L, la_state_of(L), meta);
    la_open_members(L, lib);
    la_open_embedded(L);
    lua_pushvalue(L, lib);
    lua_setfield(L, LUA_REGISTRYINDEX, "lunarray.module");
    lua_settop(L, lib);
    return 1;
}

/* Outside of our closures the metatable comes from the registry. */
la_handle *la_empty_handle(lua_State *L, la_state *s)
{
    if (s->scopes.depth > 0) return la_scoped_handle(L, s);
    if (s->closed) luaL_error(L, "lunarray is closed in this Lua state");
    la_handle *h = la_bare_handle(L, s);
    luaL_getmetatable(L, LA_META_NAME);
    la_take_handle_metatable(L);
    return h;
}

void la_push_borrowed(lua_State *L, la_state *s, la_tensor *t)
{
    la_empty_handle(L, s)->tensor = la_tensor_retain(t);
}
