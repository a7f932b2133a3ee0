/*
** lunarray.h: tensors for Lua 5.4, and for C programs that embed Lua.
*/
#ifndef LUNARRAY_H
#define LUNARRAY_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LA_API __attribute__((visibility("default")))
#else
#define LA_API
#endif

struct lua_State;

/* For require "lunarray"; leaves the module table on the stack. */
LA_API int luaopen_lunarray(struct lua_State *L);

#ifdef __cplusplus
}
#endif
#endif
