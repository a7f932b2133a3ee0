/*
** What the sources of lunarray_mpi.so share. The module knows the library by
** lunarray.h alone, and moves bytes of contiguous tensors; shapes, packing and
** values are the matter of modules/mpi/lua/mpi.lua, which calls it.
**
** Ranks, as everything in Lua, count from 1; those of MPI from 0.
*/
#ifndef LUNARRAY_MPI_MODULE_H
#define LUNARRAY_MPI_MODULE_H

#include <lauxlib.h>
#include <lua.h>
#include <mpi.h>

#include "lunarray.h"

#define COMM_NAME "lunarray.mpi.comm"
#define REQUEST_NAME "lunarray.mpi.request"

/* A group of ranks. Two communicators, so that what the library sends for
** itself never meets a message of the user's. */
typedef struct comm {
    const void *mark;       /* mpi_mark, of every group */
    MPI_Comm user, inner;
    int rank, size;
    bool late;              /* a barrier timed out: its messages may come */
} comm;

/* A contiguous tensor as MPI sees it. */
typedef struct bytes {
    la_tensor *tensor;      /* borrowed */
    char *data;
    size_t item;            /* bytes of an element */
    int64_t count;          /* elements */
} bytes;

/* 'count' of 'type': what a call of MPI takes. Ended by span_free. */
typedef struct span {
    MPI_Datatype type;
    int count;
    bool derived;
} span;

/* Most bytes that one call of MPI gets; LUNARRAY_MPI_CHUNK sets fewer. */
extern int64_t mpi_chunk;

comm *mpi_comm(lua_State *L, int arg);
/* mpi_comm that gives NULL for anything else; raises nothing, and looks nothing
** up. */
const comm *mpi_test_comm(lua_State *L, int arg);
/* Raises the text of an MPI error code, of the function 'name'. */
void mpi_check(lua_State *L, int code, const char *name);
/* Raises la_error_text(), with the function's name in front. */
int mpi_raise(lua_State *L, const char *name);
/* A rank of Lua's at 'arg' as one of MPI's; 0 is any, where that is allowed. */
int mpi_rank(lua_State *L, int arg, const comm *c, bool any);

/* The tensor at 'arg', to read; raises unless it is contiguous and of a known
** dtype. mpi_target: to write, which marks it as changed. */
bytes mpi_source(lua_State *L, int arg, const char *name);
bytes mpi_target(lua_State *L, int arg, const char *name);

/* Raises where the two share memory: MPI's calls read one and write another. */
void mpi_apart(lua_State *L, const bytes *a, const bytes *b, const char *name);

/* 'n' bytes, however many. MPI's code. */
int mpi_span(int64_t n, span *out);
void mpi_span_free(span *s);
/* The type and operation for a reduction of 'dtype'. False: there is none. */
bool mpi_reduction(const char *dtype, const char *word, MPI_Datatype *type,
                   MPI_Op *op);
int mpi_make_operations(void);

/* Functions of each source, ended by {NULL, NULL}. */
extern const luaL_Reg mpi_transfer_functions[];
extern const luaL_Reg mpi_collective_functions[];
extern const luaL_Reg mpi_file_functions[];
extern const luaL_Reg mpi_prepared_functions[];
void mpi_open_requests(lua_State *L);
void mpi_open_calls(lua_State *L);

LA_API int luaopen_lunarray_mpi(lua_State *L);

#endif
