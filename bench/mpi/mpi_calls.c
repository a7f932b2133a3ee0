/*
** The bare collective calls of MPI for mpi_calls.lua, on the memory of
** the same tensors and in the same process as those that go through Lua, so
** that pairs of times are comparable on a machine with other work.
**
**     mpicc -O2 -fPIC -shared -Iinclude bench/mpi/mpi_calls.c \
**       -o build/mpi_calls.so
*/
#include <lauxlib.h>
#include <lua.h>
#include <mpi.h>

#include "lunarray.h"

typedef struct work {
    la_tensor *x, *out;
    float *from, *to;
    int n, size;
} work;

static void all_reduce(const work *w)
{
    MPI_Allreduce(MPI_IN_PLACE, w->from, w->n, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
}

/* As a host in C does it: the address of the tensor and the mark at each call.
*/
static void host_all_reduce(const work *w)
{
    if (la_mark_written(w->x)) return;
    MPI_Allreduce(MPI_IN_PLACE, la_tensor_data(w->x),
                  (int)la_tensor_numel(w->x), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
}

static void bcast(const work *w)
{
    MPI_Bcast(w->from, w->n, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void all_gather(const work *w)
{
    MPI_Allgather(w->from, w->n, MPI_FLOAT, w->to, w->n, MPI_FLOAT,
                  MPI_COMM_WORLD);
}

static void all_to_all(const work *w)
{
    MPI_Alltoall(w->from, w->n / w->size, MPI_FLOAT, w->to, w->n / w->size,
                 MPI_FLOAT, MPI_COMM_WORLD);
}

static void (*const known[])(const work *) = {
    all_reduce, host_all_reduce, bcast, all_gather, all_to_all
};

/* In the order of 'known'.
** run(name, x, out, calls): seconds of so many calls. */
static int fn_run(lua_State *L)
{
    const char *names[] = {"all_reduce", "host", "bcast", "all_gather",
                           "all_to_all", NULL};
    int k = luaL_checkoption(L, 1, NULL, names);
    work w = {la_check(L, 2), la_check(L, 3), NULL, NULL, 0, 1};
    lua_Integer calls = luaL_checkinteger(L, 4);
    w.from = la_tensor_data(w.x);
    w.to = la_tensor_data(w.out);
    w.n = (int)la_tensor_numel(w.x);
    MPI_Comm_size(MPI_COMM_WORLD, &w.size);
    double start = MPI_Wtime();
    for (lua_Integer i = 0; i < calls; i++) known[k](&w);
    lua_pushnumber(L, MPI_Wtime() - start);
    return 1;
}

LA_API int luaopen_mpi_calls(lua_State *L)
{
    lua_pushcfunction(L, fn_run);
    return 1;
}
