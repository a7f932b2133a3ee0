/*
** Metatables that C sets.
**
** Lua looks for __gc when C sets a metatable, and then calls what it finds with
** hooks off, where no limit ends it. So no script may ever write to a metatable
** that C sets again: all are made here, with __metatable, and nothing else in
** src/lua makes one (spec/lint/metatables.lua).
*/
#ifndef LA_LUA_METATABLE_H
#define LA_LUA_METATABLE_H

#include <lauxlib.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lua/versions.h"

struct la_state;

/* luaL_newmetatable: push the state's metatable of this name; true where it is
** new, and is to be filled. 'lock' is what getmetatable gives for an object,
** NULL for false. Raises for want of memory. */
bool la_new_metatable(lua_State *L, const char *name, const char *lock);
/* The event, "__gc" or the like, of the metatable on the top. */
void la_set_event(lua_State *L, const char *event, lua_CFunction fn);
/* Lua calls no finalizer of what finalizers make while it closes a state. So
** what is made in a finalizer is noted, and the state's own block, which Lua
** finalizes last, finalizes those that are still there. (Handles of tensors are
** noted in a sandbox, which sees that it closes; lua/lifetime/closing.c.) The
** number of states that are known to close at the moment, of all threads. */
extern _Atomic int la_closing_states;
/* Notes the object on the top where a finalizer runs. Raises for want of
** memory, and where the state's own block is gone. */
void la_note_late(lua_State *L);
/* The state closes, from now on. */
void la_begin_closing(lua_State *L, struct la_state *s);
/* Finalizes what was noted. */
void la_end_closing(lua_State *L, struct la_state *s);

/* Pops the metatable that la_new_metatable pushed, for the object under it. */
static inline void la_take_metatable(lua_State *L)
{
    lua_setmetatable(L, -2);
    if (__builtin_expect(la_in_finalizer(L), 0)) la_note_late(L);
}
/* This one is for a handle of a tensor, and for what has no finalizer. */
static inline void la_take_handle_metatable(lua_State *L)
{
    lua_setmetatable(L, -2);
    if (atomic_load_explicit(&la_closing_states, memory_order_relaxed))
        la_note_late(L);
}
/* Push a userdata of 'bytes' zeros whose finalizer is 'gc', with the state's
** metatable of this name, which has nothing else. It is complete before its
** owner puts anything into it, so that an error at any later point frees that.
** Raises for want of memory. */
void *la_push_collected(lua_State *L, size_t bytes, const char *name,
                        lua_CFunction gc);
/* The object on the top gets the metatable of this name, which was made. */
void la_set_metatable(lua_State *L, const char *name);
/* The table on the top, popped, is the metatable of the value at 'index' alone.
** It is locked first; in it '__metatable' stays what it is, if it is there. */
void la_set_own_metatable(lua_State *L, int index);
/* Push registry[key], a table with weak entries ("k", "v") that is made when
** it is first asked for. Three slots of the stack. */
void la_push_weak_table(lua_State *L, const void *key, const char *mode);

#endif
