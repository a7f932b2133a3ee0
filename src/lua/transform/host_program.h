/*
** Programs of hosts (api/program) and Lua: a compiled function's recording as
** one, and one that was loaded as a value that can be called.
*/
#ifndef LA_LUA_TRANSFORM_HOST_PROGRAM_H
#define LA_LUA_TRANSFORM_HOST_PROGRAM_H

#include "api/program/api_program.h"
#include "lua/transform/compile.h"

#define LA_LOADED_NAME "lunarray.LoadedProgram"

/* Programs that a value of Lua has, and numbers that several share. */
typedef struct la_taken {
    la_prog_list list;          /* la_program *, owned */
    la_prog_list numbers;       /* of host_program.c */
    int64_t offered, matched;   /* tensors with names; those that are weights */
} la_taken;

/* Pushes an empty one that the collector owns. */
la_taken *la_push_taken(lua_State *L);
/* The programs of the value at 'at': of a compiled function the last one or, by
** 'all', each that can be one, the last first; of an entry, of a loaded program
** its own. 'names' is a table of tensors by name, in tables too, or nil. False:
** the value is none of these. Raises as 'function'. */
bool la_take_programs(lua_State *L, int at, bool all, int names,
                      const char *function, la_taken *to);
/* Pushes the loaded programs, which it takes out of the list. */
void la_push_loaded(lua_State *L, la_prog_list *list);
/* How values go in and come out of the entry whose refs are at 'refs', as the
** program keeps it. Raises for want of memory. */
void la_put_call(lua_State *L, const la_called *e, int refs, la_bytes *to);
/* The other way. Without a text: tensors in their order. Raises LA_EIO. */
void la_get_call(lua_State *L, const la_program *g, la_called *e, int refs);
/* la.save of one of these values at 1, to the path, with the options at 3. */
bool la_save_program(lua_State *L, const char *path);
/* Does the path end as that of a program? */
bool la_is_program_path(const char *path);
/* Programs of a loaded one; false: the value is none. */
bool la_take_loaded(lua_State *L, int at, const char *function, la_taken *to);

#endif
