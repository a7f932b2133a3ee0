/* Lua 5.4 and 5.5: what differs for sources that are the same for both. A
** module is compiled for one of them: their registries lie at different
** indices. */
#ifndef LA_LUA_VERSIONS_H
#define LA_LUA_VERSIONS_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

#if LUA_VERSION_NUM < 504 || LUA_VERSION_NUM > 505
#error "lunarray is for Lua 5.4 and 5.5"
#endif

/* Functions that only one of the two has are weak references, so that a module
** for the other one is loaded, and can say what is wrong (la_foreign_lua). */
#if LUA_VERSION_NUM == 504
#if defined(__ELF__)
#pragma weak lua_resetthread
#endif
#define la_reset_thread(co)     lua_resetthread(co)
#else
#if defined(__ELF__)
#pragma weak lua_closethread
#endif
#define la_reset_thread(co)     lua_closethread(co, NULL)
#endif

/* A test that 5.5 has under no name. */
#ifndef lua_numbertointeger
#define lua_numbertointeger(n, p) \
    ((n) >= (lua_Number)LUA_MININTEGER && (n) < -(lua_Number)LUA_MININTEGER \
     && (*(p) = (lua_Integer)(n), 1))
#endif

/* A step of the collector as large as 'kilobytes' of new memory ask for, 0: of
** the usual size. Did it end a cycle? */
static inline bool la_lua_step(lua_State *L, int kilobytes)
{
#if LUA_VERSION_NUM == 504
    return lua_gc(L, LUA_GCSTEP, kilobytes) > 0;
#else
    return lua_gc(L, LUA_GCSTEP, (size_t)kilobytes << 10) > 0;
#endif
}

/* Does the collector run a finalizer, which may be that of a state that closes?
** Before 5.4.4 it answers as one that the script has stopped. */
static inline bool la_in_finalizer(lua_State *L)
{
#if LUA_VERSION_NUM == 504 && LUA_VERSION_RELEASE_NUM < 50404
    return lua_gc(L, LUA_GCISRUNNING) == 0;
#else
    return lua_gc(L, LUA_GCISRUNNING) < 0;
#endif
}

/* Is it another Lua than the one that this was compiled for? Asked before any
** other function of that Lua is called. */
static inline bool la_foreign_lua(lua_State *L)
{
    return (int)lua_version(L) != LUA_VERSION_NUM;
}

/* The sentence about it, with the two numbers of the version found. */
#define LA_FOREIGN_LUA \
    "lunarray was built for Lua 5." LA_LUA_MINOR " and cannot run in Lua " \
    "%d.%d: build it with the headers of that Lua, or install its package " \
    "for that version"
#if LUA_VERSION_NUM == 504
#define LA_LUA_MINOR "4"
#else
#define LA_LUA_MINOR "5"
#endif
#endif
