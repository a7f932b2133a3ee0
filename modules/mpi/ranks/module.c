/*
** lunarray_mpi.so: begin and end of MPI, groups of ranks.
**
** MPI begins when the module is opened. It ends where the process does: by
** on_exit, since only there is known whether the script ended in an error. Then
** the other ranks, who would wait for ever, are ended too.
*/
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "modules/mpi/ranks/module.h"

static bool ours;               /* MPI was begun here, and ends here */

/* ---- errors ---- */

void mpi_check(lua_State *L, int code, const char *name)
{
    char text[MPI_MAX_ERROR_STRING];
    int n = 0;
    if (code == MPI_SUCCESS) return;
    if (MPI_Error_string(code, text, &n)) n = snprintf(text, sizeof text, "%d",
                                                       code);
    luaL_error(L, "mpi.%s: %s", name, text);
}

int mpi_raise(lua_State *L, const char *name)
{
    return luaL_error(L, "mpi.%s: %s", name, la_error_text());
}

/* ---- groups ---- */

comm *mpi_comm(lua_State *L, int arg)
{
    comm *c = luaL_checkudata(L, arg, COMM_NAME);
    if (c->user == MPI_COMM_NULL)
        luaL_error(L, "mpi: the group of ranks was freed");
    return c;
}

static const char mpi_mark[] = COMM_NAME;

const comm *mpi_test_comm(lua_State *L, int arg)
{
    const comm *c = lua_touserdata(L, arg);
    if (!c || lua_islightuserdata(L, arg) || lua_rawlen(L, arg) != sizeof *c)
        return NULL;
    return c->mark == mpi_mark && c->user != MPI_COMM_NULL ? c : NULL;
}

int mpi_rank(lua_State *L, int arg, const comm *c, bool any)
{
    lua_Integer rank = luaL_checkinteger(L, arg);
    if (rank == 0 && any) return MPI_ANY_SOURCE;
    if (rank < 1 || rank > c->size)
        luaL_argerror(L, arg, lua_pushfstring(L, "rank from 1 to %d expected, "
                                              "got %I", c->size, rank));
    return (int)rank - 1;
}

/* Push a group on 'base', which becomes its own (but for that of all). */
static comm *push_comm(lua_State *L, MPI_Comm base)
{
    comm *c = lua_newuserdatauv(L, sizeof *c, 0);
    *c = (comm){mpi_mark, MPI_COMM_NULL, MPI_COMM_NULL, 0, 0, false};
    luaL_setmetatable(L, COMM_NAME);
    c->user = base;
    mpi_check(L, MPI_Comm_set_errhandler(base, MPI_ERRORS_RETURN), "init");
    mpi_check(L, MPI_Comm_dup(base, &c->inner), "init");
    mpi_check(L, MPI_Comm_set_errhandler(c->inner, MPI_ERRORS_RETURN), "init");
    MPI_Comm_rank(base, &c->rank);
    MPI_Comm_size(base, &c->size);
    return c;
}

/* raw.rank_of(comm): rank from 1, and how many there are. */
static int fn_rank_of(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    lua_pushinteger(L, c->rank + 1);
    lua_pushinteger(L, c->size);
    return 2;
}

/* raw.split(comm, colour | nil, key): ranks of one colour, in order of the key;
** nil where the colour is. Every rank of the group calls it. */
static int fn_split(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    int colour = MPI_UNDEFINED, key = (int)luaL_optinteger(L, 3, 0);
    MPI_Comm part;
    if (!lua_isnoneornil(L, 2)) {
        lua_Integer given = luaL_checkinteger(L, 2);
        luaL_argcheck(L, given >= 0 && given <= INT32_MAX, 2,
                      "colour from 0 expected");
        colour = (int)given;
    }
    mpi_check(L, MPI_Comm_split(c->user, colour, key, &part), "split");
    if (part == MPI_COMM_NULL) return 0;
    push_comm(L, part);
    return 1;
}

/* raw.nodes(comm): ranks that share this one's memory, as a group. */
static int fn_local(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    MPI_Comm part;
    mpi_check(L, MPI_Comm_split_type(c->user, MPI_COMM_TYPE_SHARED, 0,
                                     MPI_INFO_NULL, &part), "local");
    push_comm(L, part);
    return 1;
}

/* raw.free(comm): every rank of the group calls it. */
static int fn_free(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    luaL_argcheck(L, c->user != MPI_COMM_WORLD, 1, "the group of all ranks");
    mpi_check(L, MPI_Comm_free(&c->inner), "free");
    mpi_check(L, MPI_Comm_free(&c->user), "free");
    return 0;
}

static int fn_barrier(lua_State *L)
{
    mpi_check(L, MPI_Barrier(mpi_comm(L, 1)->inner), "barrier");
    return 0;
}

enum { HERE_TAG = 32765 };

/* Begin to tell all others that this rank is here, and to hear it from them:
** receipts are the first 'size' of the list. */
static int announce(const comm *c, MPI_Request *list)
{
    int code = MPI_SUCCESS;
    for (int k = 0; k < 2 * c->size; k++) list[k] = MPI_REQUEST_NULL;
    for (int k = 0; k < c->size && !code; k++)
        if (k != c->rank)
            code = MPI_Irecv(NULL, 0, MPI_BYTE, k, HERE_TAG, c->inner,
                             &list[k]);
    for (int k = 0; k < c->size && !code; k++)
        if (k != c->rank)
            code = MPI_Isend(NULL, 0, MPI_BYTE, k, HERE_TAG, c->inner,
                             &list[c->size + k]);
    return code;
}

/* Are the first n of the list done? */
static int test_all(MPI_Request *list, int n, int *done)
{
    int code = MPI_SUCCESS;
    *done = 1;
    for (int k = 0; k < n && *done && !code; k++)
        code = MPI_Test(&list[k], done, MPI_STATUS_IGNORE);
    return code;
}

/* The ranks that nothing was heard of, as a list; receipts are given up. */
static void push_missing(lua_State *L, const comm *c, MPI_Request *list)
{
    lua_newtable(L);
    for (int k = 0; k < c->size; k++) {
        int done = 1;
        if (list[k] != MPI_REQUEST_NULL
            && MPI_Test(&list[k], &done, MPI_STATUS_IGNORE)) done = 0;
        if (done) continue;
        lua_pushinteger(L, k + 1);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        MPI_Cancel(&list[k]);
        MPI_Request_free(&list[k]);
    }
    for (int k = c->size; k < 2 * c->size; k++)
        if (list[k] != MPI_REQUEST_NULL) MPI_Request_free(&list[k]);
}

/* raw.barrier_within(comm, seconds): nothing when all came, else the ranks that
** did not. Their messages may come later, so the group has no other such
** barrier then. */
static int fn_barrier_within(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    double end = MPI_Wtime() + luaL_checknumber(L, 2);
    if (c->late)
        return luaL_error(L, "mpi.barrier: one of this group timed out before");
    MPI_Request *list = lua_newuserdatauv(L, 2 * (size_t)c->size * sizeof *list,
                                          0);
    int done = 0;
    mpi_check(L, announce(c, list), "barrier");
    for (;;) {
        mpi_check(L, test_all(list, c->size, &done), "barrier");
        if (done || !(MPI_Wtime() < end)) break;
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    if (!done) {
        c->late = true;
        push_missing(L, c, list);
        return 1;
    }
    for (int k = 0; k < c->size; k++)
        mpi_check(L, MPI_Wait(&list[c->size + k], MPI_STATUS_IGNORE),
                  "barrier");
    return 0;
}

/* ---- what the machine gives ---- */

/* raw.cores(): the processors that this process may use, as a string of '0' and
** '1' by number. */
static int fn_cores(lua_State *L)
{
    cpu_set_t set;
    char text[CPU_SETSIZE];
    if (sched_getaffinity(0, sizeof set, &set)) CPU_ZERO(&set);
    for (int k = 0; k < CPU_SETSIZE; k++)
        text[k] = CPU_ISSET(k, &set) ? '1' : '0';
    lua_pushlstring(L, text, CPU_SETSIZE);
    return 1;
}

/* raw.library(): name and version, host, MPI's standard. */
static int fn_library(lua_State *L)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], host[MPI_MAX_PROCESSOR_NAME];
    int n = 0, major = 0, minor = 0;
    mpi_check(L, MPI_Get_library_version(text, &n), "library");
    lua_pushlstring(L, text, (size_t)n);
    mpi_check(L, MPI_Get_processor_name(host, &n), "library");
    lua_pushlstring(L, host, (size_t)n);
    mpi_check(L, MPI_Get_version(&major, &minor), "library");
    lua_pushfstring(L, "%d.%d", major, minor);
    return 3;
}

/* raw.clock(): seconds. */
static int fn_clock(lua_State *L)
{
    lua_pushnumber(L, MPI_Wtime());
    return 1;
}

/* raw.chunk([bytes]): the most that one call of MPI gets, for tests. */
static int fn_chunk(lua_State *L)
{
    lua_Integer given = luaL_optinteger(L, 1, mpi_chunk);
    luaL_argcheck(L, given >= 16 && given <= INT64_C(1) << 30, 1,
                  "16 to 2^30 bytes expected");
    lua_pushinteger(L, mpi_chunk);
    mpi_chunk = given / 16 * 16;
    return 1;
}

/* ---- begin and end ---- */

static void end_all(int status)
{
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1) {
        MPI_Finalize();
        return;
    }
    fprintf(stderr, "lunarray.mpi: rank %d of %d ended with status %d; the "
            "other ranks are ended\n", rank + 1, size, status);
    fflush(stderr);
    /* Output that launchers have not read by then may be lost (MPICH's does
    ** that). */
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    MPI_Abort(MPI_COMM_WORLD, status);
}

/* The last words of the process; Lua's state is closed by now. */
static void at_end(int status, void *unused)
{
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (!ours || !begun || ended) return;
    if (status) end_all(status);
    else MPI_Finalize();
}

/* raw.abort(text, status): ends all ranks. */
static int fn_abort(lua_State *L)
{
    fprintf(stderr, "%s\n", luaL_checkstring(L, 1));
    fflush(NULL);
    int status = (int)luaL_optinteger(L, 2, 1);
    end_all(status);
    _exit(status);
}

static void mpi_begin(lua_State *L)
{
    int begun = 0, ended = 0, given = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (ended) luaL_error(L, "lunarray.mpi: MPI has ended in this process");
    if (begun) MPI_Query_thread(&given);
    else mpi_check(L, MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given),
                   "init");
    if (!begun) {
        ours = true;
        on_exit(at_end, NULL);
        mpi_check(L, mpi_make_operations(), "init");
    }
    int here = 0;
    MPI_Is_thread_main(&here);
    if (!here) luaL_error(L, "lunarray.mpi: only the thread that began MPI may "
                          "use it");
}

/* The name by which reports of errors call this process. */
static void set_title(lua_State *L, const comm *c)
{
    if (c->size == 1) return;
    lua_pushfstring(L, "rank %d of %d", c->rank + 1, c->size);
    lua_setfield(L, LUA_REGISTRYINDEX, "lunarray.title");
}

static const luaL_Reg functions[] = {
    {"rank_of", fn_rank_of}, {"split", fn_split}, {"local_group", fn_local},
    {"free", fn_free}, {"barrier", fn_barrier},
    {"barrier_within", fn_barrier_within}, {"cores", fn_cores},
    {"library", fn_library}, {"clock", fn_clock}, {"chunk", fn_chunk},
    {"abort", fn_abort}, {NULL, NULL}
};

LA_API int luaopen_lunarray_mpi(lua_State *L)
{
    mpi_begin(L);
    luaL_newmetatable(L, COMM_NAME);
    mpi_open_requests(L);
    mpi_open_calls(L);
    luaL_newlib(L, functions);
    luaL_setfuncs(L, mpi_transfer_functions, 0);
    luaL_setfuncs(L, mpi_collective_functions, 0);
    luaL_setfuncs(L, mpi_file_functions, 0);
    luaL_setfuncs(L, mpi_prepared_functions, 0);
    set_title(L, push_comm(L, MPI_COMM_WORLD));
    lua_setfield(L, -2, "world");
    return 1;
}
