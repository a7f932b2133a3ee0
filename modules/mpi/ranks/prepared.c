/*
** The common calls with as little as possible between Lua and MPI: short ways
** of those with arguments, and calls that were prepared, whose arguments have
** been looked at once.
*/
#include <string.h>

#include "modules/mpi/ranks/module.h"

static bool checking;           /* mpi.debug: the short ways are closed */

/* raw.checking([on]): whether collective calls are compared first. */
static int fn_checking(lua_State *L)
{
    if (!lua_isnone(L, 1)) checking = lua_toboolean(L, 1);
    lua_pushboolean(L, checking);
    return 1;
}

/* ---- short ways ---- */

/* The last reduction that was looked up: scripts repeat themselves. Names of
** dtypes are constants. */
static bool find_reduction(const char *dtype, const char *word,
                           MPI_Datatype *type, MPI_Op *op)
{
    static struct {
        const char *dtype;
        char word[8];
        MPI_Datatype type;
        MPI_Op op;
    } last;
    if (dtype != last.dtype || strcmp(word, last.word)) {
        if (!mpi_reduction(dtype, word, &last.type, &last.op)) return false;
        last.dtype = dtype;
        strcpy(last.word, word);        /* no word that is known is longer */
    }
    *type = last.type;
    *op = last.op;
    return true;
}

enum { SLOW = 1, GROUP, COMM };         /* upvalues of a short way */

/* Leaves the rest to the Lua function, which knows all cases. */
static int long_way(lua_State *L)
{
    if (!lua_isnil(L, lua_upvalueindex(GROUP))) {
        lua_pushvalue(L, lua_upvalueindex(GROUP));
        lua_insert(L, 1);
    }
    lua_pushvalue(L, lua_upvalueindex(SLOW));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* The group of a call, NULL for the long way; *arg is its first argument. */
static const comm *group_of(lua_State *L, int *arg)
{
    const comm *c = lua_touserdata(L, lua_upvalueindex(COMM));
    if (checking) return NULL;
    *arg = 1;
    if (c) return c->user == MPI_COMM_NULL ? NULL : c;
    *arg = 2;
    if (!lua_istable(L, 1)) return NULL;
    lua_rawgeti(L, 1, 1);
    c = mpi_test_comm(L, -1);
    lua_pop(L, 1);
    return c;
}

/* group:all_reduce_(x, op), or the same of one group without it. */
static int short_all_reduce(lua_State *L)
{
    int arg;
    const comm *c = group_of(L, &arg);
    la_tensor *t = c ? la_test(L, arg) : NULL;
    MPI_Datatype type;
    MPI_Op op;
    if (!t || !la_tensor_contiguous(t)) return long_way(L);
    const char *word = lua_isnoneornil(L, arg + 1) ? "sum"
        : lua_tostring(L, arg + 1);
    int64_t n = la_tensor_numel(t);
    if (!word || n > mpi_chunk / 16
        || !find_reduction(la_tensor_dtype(t), word, &type, &op)
        || la_mark_written(t)) return long_way(L);
    void *data = la_tensor_data(t);
    if (!data) return long_way(L);
    mpi_check(L, MPI_Allreduce(MPI_IN_PLACE, data, (int)n, type, op, c->inner),
              "all_reduce");
    lua_settop(L, arg);
    return 1;
}

/* raw.shortcut(f, [group, its comm]): all_reduce_ of any group, or of one, with
** f for what is not common. */
static int fn_shortcut(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 3);
    if (!lua_isnil(L, 3)) mpi_comm(L, 3);
    lua_pushcclosure(L, short_all_reduce, 3);
    return 1;
}

/* ---- prepared calls ---- */

#define CALL_NAME "lunarray.mpi.call"

typedef struct call {
    const comm *c;          /* kept by the user value */
    la_tensor *from, *to;   /* owned; 'to' is written, and may be 'from' */
    int (*run)(const struct call *, char *from, char *to);
    MPI_Datatype type;
    MPI_Op op;
    span s;                 /* of a part, for what only moves */
    int64_t count, item;
    int root;
    bool writes;            /* this rank's 'to' */
    const char *name;
} call;

static int run_all_reduce(const call *p, char *from, char *to)
{
    int code = MPI_SUCCESS;
    for (int64_t done = 0; done < p->count && !code;) {
        int64_t most = mpi_chunk / p->item, rest = p->count - done;
        int n = (int)(rest < most ? rest : most);
        code = MPI_Allreduce(MPI_IN_PLACE, to + done * p->item, n, p->type,
                             p->op, p->c->inner);
        done += n;
    }
    return code;
}

static int run_bcast(const call *p, char *from, char *to)
{
    return MPI_Bcast(to, p->s.count, p->s.type, p->root, p->c->inner);
}

static int run_all_gather(const call *p, char *from, char *to)
{
    return MPI_Allgather(from, p->s.count, p->s.type, to, p->s.count,
                         p->s.type, p->c->inner);
}

static int run_all_to_all(const call *p, char *from, char *to)
{
    return MPI_Alltoall(from, p->s.count, p->s.type, to, p->s.count,
                        p->s.type, p->c->inner);
}

/* Addresses are asked for each time: a tensor's memory may have gone. */
static int run_call(lua_State *L)
{
    const call *p = lua_touserdata(L, lua_upvalueindex(1));
    if (p->c->inner == MPI_COMM_NULL)
        return luaL_error(L, "mpi: the group of ranks was freed");
    if (p->writes && la_mark_written(p->to)) return mpi_raise(L, p->name);
    char *to = la_tensor_data(p->to);
    char *from = p->from == p->to ? to : la_tensor_data(p->from);
    if (p->count > 0 && (!to || !from)) return mpi_raise(L, p->name);
    int code = p->run(p, from, to);
    if (code) mpi_check(L, code, p->name);
    return 0;
}

static int call_gc(lua_State *L)
{
    call *p = luaL_checkudata(L, 1, CALL_NAME);
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) mpi_span_free(&p->s);
    if (p->from) la_release(p->from);
    if (p->to) la_release(p->to);
    p->from = p->to = NULL;
    return 0;
}

/* Stack 1: the group. A call without tensors yet, on the top. */
static call *push_call(lua_State *L, const char *name)
{
    const comm *c = mpi_comm(L, 1);
    call *p = lua_newuserdatauv(L, sizeof *p, 1);
    memset(p, 0, sizeof *p);
    p->c = c;
    p->name = name;
    p->s.type = MPI_BYTE;
    luaL_setmetatable(L, CALL_NAME);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    return p;
}

static int push_function(lua_State *L, call *p, bytes from, bytes to)
{
    p->from = la_retain(from.tensor);
    p->to = la_retain(to.tensor);
    p->item = (int64_t)to.item;
    p->count = to.count;
    lua_pushcclosure(L, run_call, 1);
    return 1;
}

/* raw.prepare_all_reduce(comm, x, op) */
static int fn_prepare_all_reduce(lua_State *L)
{
    bytes b = mpi_target(L, 2, "all_reduce_init");
    const char *word = luaL_checkstring(L, 3);
    call *p = push_call(L, "all_reduce_init");
    if (!mpi_reduction(la_tensor_dtype(b.tensor), word, &p->type, &p->op))
        return luaL_error(L, "mpi.all_reduce_init: no '%s' of %s (sum, prod, "
                          "min, max; and, or of bools and integers; "
                          "mpi.all_reduce_ has more)", word,
                          la_tensor_dtype(b.tensor));
    p->run = run_all_reduce;
    p->writes = true;
    return push_function(L, p, b, b);
}

/* raw.prepare_bcast(comm, x, root) */
static int fn_prepare_bcast(lua_State *L)
{
    const comm *c = mpi_comm(L, 1);
    int root = mpi_rank(L, 3, c, false);
    bytes b = root == c->rank ? mpi_source(L, 2, "bcast_init")
                              : mpi_target(L, 2, "bcast_init");
    call *p = push_call(L, "bcast_init");
    p->run = run_bcast;
    p->root = root;
    p->writes = root != c->rank;
    mpi_check(L, mpi_span(b.count * (int64_t)b.item, &p->s), p->name);
    return push_function(L, p, b, b);
}

/* raw.prepare_all_gather(comm, x, out) and raw.prepare_all_to_all. */
static int prepare_parts(lua_State *L, const char *name, bool gather)
{
    const comm *c = mpi_comm(L, 1);
    bytes from = mpi_source(L, 2, name), to = mpi_target(L, 3, name);
    int64_t whole = gather ? from.count * c->size : from.count;
    if (from.item != to.item || to.count != whole
        || whole % c->size != 0)
        return luaL_error(L, "mpi.%s: the second tensor has %I elements, %I "
                          "(equal parts of %d ranks) and the first one's dtype "
                          "expected", name, (lua_Integer)to.count,
                          (lua_Integer)whole, c->size);
    mpi_apart(L, &from, &to, name);
    call *p = push_call(L, name);
    p->run = gather ? run_all_gather : run_all_to_all;
    p->writes = true;
    int64_t part = whole / c->size * (int64_t)from.item;
    mpi_check(L, mpi_span(part, &p->s), name);
    return push_function(L, p, from, to);
}

static int fn_prepare_all_gather(lua_State *L)
{
    return prepare_parts(L, "all_gather_init", true);
}

static int fn_prepare_all_to_all(lua_State *L)
{
    return prepare_parts(L, "all_to_all_init", false);
}

void mpi_open_calls(lua_State *L)
{
    luaL_newmetatable(L, CALL_NAME);
    lua_pushcfunction(L, call_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}

const luaL_Reg mpi_prepared_functions[] = {
    {"checking", fn_checking}, {"shortcut", fn_shortcut},
    {"prepare_all_reduce", fn_prepare_all_reduce},
    {"prepare_bcast", fn_prepare_bcast},
    {"prepare_all_gather", fn_prepare_all_gather},
    {"prepare_all_to_all", fn_prepare_all_to_all}, {NULL, NULL}
};
