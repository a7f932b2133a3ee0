/*
** Messages between two ranks: tensors without a copy, strings, and requests.
**
** A request keeps the tensor whose memory it uses. One that Lua collects before
** it is done hands it to a list of the process: MPI still writes there.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "modules/mpi/ranks/module.h"

/* ---- tensors as bytes ---- */

static size_t item_size(const char *dtype)
{
    const char *digits = strpbrk(dtype, "123468");
    if (!strcmp(dtype, "bool")) return 1;
    return digits ? (size_t)atoi(digits) / 8 : 0;
}

static bytes transfer_view(lua_State *L, int arg, const char *name)
{
    la_tensor *t = la_check(L, arg);
    bytes b = {t, la_tensor_data(t), item_size(la_tensor_dtype(t)),
               la_tensor_numel(t)};
    if (!la_tensor_contiguous(t))
        luaL_error(L, "mpi.%s: argument %d is not contiguous", name, arg);
    if (!b.data && b.count > 0)
        luaL_error(L, "mpi.%s: argument %d has no data on the CPU", name, arg);
    if (!b.item)
        luaL_error(L, "mpi.%s: tensors of %s do not travel", name,
                   la_tensor_dtype(t));
    return b;
}

bytes mpi_source(lua_State *L, int arg, const char *name)
{
    return transfer_view(L, arg, name);
}

bytes mpi_target(lua_State *L, int arg, const char *name)
{
    if (la_mark_written(la_check(L, arg))) mpi_raise(L, name);
    return transfer_view(L, arg, name);
}

void mpi_apart(lua_State *L, const bytes *a, const bytes *b, const char *name)
{
    uintptr_t from = (uintptr_t)a->data, to = (uintptr_t)b->data;
    if (from < to + (size_t)b->count * b->item
        && to < from + (size_t)a->count * a->item)
        luaL_error(L, "mpi.%s: the result would be written over what is sent",
                   name);
}

/* ---- send and receive ---- */

static int tag_of(lua_State *L, int arg)
{
    lua_Integer tag = luaL_optinteger(L, arg, 0);
    luaL_argcheck(L, tag >= 0 && tag < 32767, arg,
                  "tag from 0 to 32766 expected");
    return (int)tag;
}

/* raw.send(comm, x, rank, tag) */
static int fn_send(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes b = mpi_source(L, 2, "send");
    int to = mpi_rank(L, 3, c, false), tag = tag_of(L, 4);
    span s;
    mpi_check(L, mpi_span(b.count * (int64_t)b.item, &s), "send");
    int code = MPI_Send(b.data, s.count, s.type, to, tag, c->user);
    mpi_span_free(&s);
    mpi_check(L, code, "send");
    return 0;
}

/* Whether the message had all the bytes that were expected. */
static void check_length(lua_State *L, MPI_Status *status, const span *s,
                         int64_t want, const char *name)
{
    MPI_Count got = 0;
    if (MPI_Get_elements_x(status, s->type, &got) || (int64_t)got == want)
        return;
    luaL_error(L, "mpi.%s: rank %d sent %I bytes, the tensor has %I", name,
               status->MPI_SOURCE + 1, (lua_Integer)got, (lua_Integer)want);
}

/* raw.recv(comm, x, rank or 0, tag): who sent it. */
static int fn_recv(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes b = mpi_target(L, 2, "recv");
    int from = mpi_rank(L, 3, c, true), tag = tag_of(L, 4);
    int64_t n = b.count * (int64_t)b.item;
    MPI_Status status;
    span s;
    mpi_check(L, mpi_span(n, &s), "recv");
    int code = MPI_Recv(b.data, s.count, s.type, from, tag, c->user, &status);
    span known = s;
    if (!code) check_length(L, &status, &known, n, "recv");
    mpi_span_free(&s);
    mpi_check(L, code, "recv");
    lua_pushinteger(L, status.MPI_SOURCE + 1);
    return 1;
}

/* ---- strings ---- */

/* raw.send_text(comm, text, rank, tag): apart from tensors. */
static int fn_send_text(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    size_t n;
    const char *text = luaL_checklstring(L, 2, &n);
    int to = mpi_rank(L, 3, c, false), tag = tag_of(L, 4);
    luaL_argcheck(L, n <= (size_t)1 << 30, 2,
                  "more than 1 GiB in a value: send its tensors");
    mpi_check(L, MPI_Send(text, (int)n, MPI_BYTE, to, tag, c->inner),
              "send_value");
    return 0;
}

/* raw.recv_text(comm, rank or 0, tag, wait): the text and who sent it; nothing
** if none is there and wait is false. */
static int fn_recv_text(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    int from = mpi_rank(L, 2, c, true), tag = tag_of(L, 3), there = 1, n = 0;
    bool wait = lua_isnone(L, 4) || lua_toboolean(L, 4);
    MPI_Status status;
    luaL_Buffer buffer;
    mpi_check(L, wait ? MPI_Probe(from, tag, c->inner, &status)
                      : MPI_Iprobe(from, tag, c->inner, &there, &status),
              "recv_value");
    if (!there) return 0;
    mpi_check(L, MPI_Get_count(&status, MPI_BYTE, &n), "recv_value");
    char *at = luaL_buffinitsize(L, &buffer, (size_t)n);
    mpi_check(L, MPI_Recv(at, n, MPI_BYTE, status.MPI_SOURCE, tag, c->inner,
                          &status), "recv_value");
    luaL_pushresultsize(&buffer, (size_t)n);
    lua_pushinteger(L, status.MPI_SOURCE + 1);
    return 2;
}

/* ---- requests ---- */

typedef struct request {
    MPI_Request id;         /* MPI_REQUEST_NULL: done */
    la_tensor *tensor;      /* owned until it is done */
    span s;
    int64_t expected;       /* bytes that are received; -1: nothing is */
    int peer;               /* rank from 1; 0: any, or all of a reduction */
    struct request *next;   /* of those that nobody waits for any more */
} request;

static request *left;       /* what Lua collected before it was done */

static void transfer_settle(request *r)
{
    mpi_span_free(&r->s);
    la_release(r->tensor);
    r->tensor = NULL;
}

/* Pushed first: what may raise comes before MPI has the memory. */
static request *push_request(lua_State *L, bytes b, int64_t expected, int peer)
{
    request *r = lua_newuserdatauv(L, sizeof *r, 0);
    *r = (request){MPI_REQUEST_NULL, NULL, {MPI_BYTE, 0, false}, expected,
                   peer, NULL};
    luaL_setmetatable(L, REQUEST_NAME);
    r->tensor = la_retain(b.tensor);
    return r;
}

/* raw.isend(comm, x, rank, tag) */
static int fn_isend(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes b = mpi_source(L, 2, "isend");
    int to = mpi_rank(L, 3, c, false), tag = tag_of(L, 4);
    request *r = push_request(L, b, -1, to + 1);
    mpi_check(L, mpi_span(b.count * (int64_t)b.item, &r->s), "isend");
    mpi_check(L, MPI_Isend(b.data, r->s.count, r->s.type, to, tag, c->user,
                           &r->id), "isend");
    return 1;
}

/* raw.irecv(comm, x, rank or 0, tag) */
static int fn_irecv(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes b = mpi_target(L, 2, "irecv");
    int from = mpi_rank(L, 3, c, true), tag = tag_of(L, 4);
    request *r = push_request(L, b, b.count * (int64_t)b.item,
                              from == MPI_ANY_SOURCE ? 0 : from + 1);
    mpi_check(L, mpi_span(r->expected, &r->s), "irecv");
    mpi_check(L, MPI_Irecv(b.data, r->s.count, r->s.type, from, tag, c->user,
                           &r->id), "irecv");
    return 1;
}

/* raw.iall_reduce(comm, x, op): in place. Tensors above mpi_chunk bytes are the
** caller's to cut. */
static int fn_iall_reduce(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes b = mpi_target(L, 2, "iall_reduce");
    MPI_Datatype type;
    MPI_Op op;
    const char *dtype = la_tensor_dtype(b.tensor);
    if (!mpi_reduction(dtype, luaL_checkstring(L, 3), &type, &op))
        return luaL_error(L, "mpi.iall_reduce: no '%s' of %s",
                          lua_tostring(L, 3), dtype);
    luaL_argcheck(L, b.count * (int64_t)b.item <= mpi_chunk, 2,
                  "too many elements for one call");
    request *r = push_request(L, b, -1, 0);
    mpi_check(L, MPI_Iallreduce(MPI_IN_PLACE, b.data, (int)b.count, type, op,
                                c->inner, &r->id), "iall_reduce");
    return 1;
}

/* Checks what a message that came is to hold. */
static int transfer_finish(lua_State *L, request *r, MPI_Status *status)
{
    span s = r->s;
    int from = r->expected >= 0 ? status->MPI_SOURCE + 1 : 0;
    r->id = MPI_REQUEST_NULL;
    if (r->expected >= 0) {
        MPI_Count got = 0;
        MPI_Get_elements_x(status, s.type, &got);
        int64_t want = r->expected;
        transfer_settle(r);
        if ((int64_t)got != want)
            return luaL_error(L, "mpi.irecv: rank %d sent %I bytes, the tensor "
                              "has %I", from, (lua_Integer)got,
                              (lua_Integer)want);
        lua_pushinteger(L, from);
        return 1;
    }
    transfer_settle(r);
    return 0;
}

/* With up to three decimals, and a point whatever the locale. */
static const char *seconds_text(double seconds, char text[32])
{
    long long ms = seconds < 1e9 ? llround(seconds * 1000) : 0;
    int n = snprintf(text, 32, "%lld.%03d", ms / 1000, (int)(ms % 1000));
    while (text[n - 1] == '0' && text[n - 2] != '.') text[--n] = '\0';
    return text;
}

static int raise_late(lua_State *L, const request *r, double seconds)
{
    char text[32];
    bool receives = r->expected >= 0;
    lua_pushfstring(L, "mpi.wait: not done within %s seconds: ",
                    seconds_text(seconds, text));
    if (r->peer)
        lua_pushfstring(L, "rank %d did not %s", r->peer,
                        receives ? "send" : "receive");
    else
        lua_pushstring(L, receives ? "no rank sent"
                                   : "not all ranks made this call");
    return luaL_error(L, "%s%s", lua_tostring(L, -2), lua_tostring(L, -1));
}

/* Until it is done; an error after 'seconds', and then it is as before. */
static int wait_within(lua_State *L, request *r, double seconds,
                       MPI_Status *status)
{
    double end = MPI_Wtime() + seconds;
    for (;;) {
        int done = 0, code = MPI_Test(&r->id, &done, status);
        if (code || done) return code;
        if (!(MPI_Wtime() < end)) raise_late(L, r, seconds);
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
}

/* request:wait([seconds]): for a receipt, who sent it. Again: nothing happens.
** With seconds an error where that is not enough; one may wait again. */
static int request_wait(lua_State *L)
{
    request *r = luaL_checkudata(L, 1, REQUEST_NAME);
    MPI_Status status;
    if (r->id == MPI_REQUEST_NULL) return 0;
    int code = lua_isnoneornil(L, 2) ? MPI_Wait(&r->id, &status)
        : wait_within(L, r, luaL_checknumber(L, 2), &status);
    if (code) transfer_settle(r);
    mpi_check(L, code, "wait");
    return transfer_finish(L, r, &status);
}

/* request:test(): is it done? */
static int request_test(lua_State *L)
{
    request *r = luaL_checkudata(L, 1, REQUEST_NAME);
    MPI_Status status;
    int done = 1;
    if (r->id != MPI_REQUEST_NULL) {
        mpi_check(L, MPI_Test(&r->id, &done, &status), "test");
        if (done) transfer_finish(L, r, &status);
    }
    lua_settop(L, 0);
    lua_pushboolean(L, done);
    return 1;
}

/* Drops requests that were left and are done by now. */
static void transfer_sweep(void)
{
    for (request **at = &left; *at;) {
        request *r = *at;
        int done = 0;
        if (MPI_Test(&r->id, &done, MPI_STATUS_IGNORE) || !done) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        transfer_settle(r);
        free(r);
    }
}

static int request_gc(lua_State *L)
{
    request *r = luaL_checkudata(L, 1, REQUEST_NAME);
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) transfer_sweep();
    if (r->id == MPI_REQUEST_NULL || ended) {
        if (r->tensor) transfer_settle(r);
        return 0;
    }
    request *copy = malloc(sizeof *copy);
    /* Without memory for the record the tensor simply stays. */
    if (copy) {
        *copy = *r;
        copy->next = left;
        left = copy;
    }
    r->id = MPI_REQUEST_NULL;
    r->tensor = NULL;
    return 0;
}

void mpi_open_requests(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"wait", request_wait}, {"test", request_test}, {NULL, NULL}
    };
    luaL_newmetatable(L, REQUEST_NAME);
    lua_pushcfunction(L, request_gc);
    lua_setfield(L, -2, "__gc");
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

const luaL_Reg mpi_transfer_functions[] = {
    {"send", fn_send}, {"recv", fn_recv}, {"send_text", fn_send_text},
    {"recv_text", fn_recv_text}, {"isend", fn_isend}, {"irecv", fn_irecv},
    {"iall_reduce", fn_iall_reduce}, {NULL, NULL}
};
