/*
** What all ranks of a group do together, on contiguous tensors.
**
** Equal parts go by MPI's own collective calls, ragged ones by messages (raw.
** exchange), whose counts have no limit. Reductions of more than mpi_chunk
** bytes are cut; each element is reduced for itself, so the cuts change
** nothing.
*/
#include <stdlib.h>
#include <string.h>

#include "modules/mpi/ranks/module.h"

/* raw.bcast(comm, x, root) */
static int fn_bcast(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    int root = mpi_rank(L, 3, c, false);
    bytes b = root == c->rank ? mpi_source(L, 2, "bcast")
                              : mpi_target(L, 2, "bcast");
    span s;
    mpi_check(L, mpi_span(b.count * (int64_t)b.item, &s), "bcast");
    int code = MPI_Bcast(b.data, s.count, s.type, root, c->inner);
    mpi_span_free(&s);
    mpi_check(L, code, "bcast");
    return 0;
}

/* ---- reductions ---- */

static void reduction(lua_State *L, const bytes *b, int arg, const char *name,
                      MPI_Datatype *type, MPI_Op *op)
{
    const char *word = luaL_checkstring(L, arg);
    const char *dtype = la_tensor_dtype(b->tensor);
    if (!mpi_reduction(dtype, word, type, op))
        luaL_error(L, "mpi.%s: no '%s' of %s (sum, prod, avg, min, max; and, "
                   "or of bools and integers)", name, word, dtype);
}

/* Elements of the next call. */
static int collective_next_part(const bytes *b, int64_t done)
{
    int64_t most = mpi_chunk / (int64_t)b->item, rest = b->count - done;
    return (int)(rest < most ? rest : most);
}

/* raw.all_reduce(comm, x, op): in place. */
static int fn_all_reduce(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes b = mpi_target(L, 2, "all_reduce");
    MPI_Datatype type;
    MPI_Op op;
    reduction(L, &b, 3, "all_reduce", &type, &op);
    for (int64_t done = 0; done < b.count;) {
        int n = collective_next_part(&b, done);
        mpi_check(L, MPI_Allreduce(MPI_IN_PLACE, b.data + done * b.item, n,
                                   type, op, c->inner), "all_reduce");
        done += n;
    }
    return 0;
}

/* raw.reduce(comm, x, op, root): in place on the root, which has the result;
** elsewhere x is only read. */
static int fn_reduce(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    int root = mpi_rank(L, 4, c, false);
    bool mine = root == c->rank;
    bytes b = mine ? mpi_target(L, 2, "reduce") : mpi_source(L, 2, "reduce");
    MPI_Datatype type;
    MPI_Op op;
    reduction(L, &b, 3, "reduce", &type, &op);
    for (int64_t done = 0; done < b.count;) {
        int n = collective_next_part(&b, done);
        char *at = b.data + done * b.item;
        mpi_check(L, MPI_Reduce(mine ? MPI_IN_PLACE : at, mine ? at : NULL, n,
                                type, op, root, c->inner), "reduce");
        done += n;
    }
    return 0;
}

/* Block by block, where the whole is too much for one call. */
static void scatter_by_blocks(lua_State *L, const comm *c, const bytes *from,
                              const bytes *to, MPI_Datatype type, MPI_Op op)
{
    for (int root = 0; root < c->size; root++)
        for (int64_t done = 0; done < to->count;) {
            int n = collective_next_part(to, done);
            char *at = from->data + (root * to->count + done) * to->item;
            char *into = root == c->rank ? to->data + done * to->item : NULL;
            mpi_check(L, MPI_Reduce(at, into, n, type, op, root, c->inner),
                      "reduce_scatter");
            done += n;
        }
}

/* raw.reduce_scatter(comm, x, out, op): 'out' is this rank's of the 'size'
** equal blocks of the reduced x. */
static int fn_reduce_scatter(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes from = mpi_source(L, 2, "reduce_scatter");
    bytes to = mpi_target(L, 3, "reduce_scatter");
    MPI_Datatype type;
    MPI_Op op;
    reduction(L, &from, 4, "reduce_scatter", &type, &op);
    luaL_argcheck(L, from.count == to.count * c->size && from.item == to.item,
                  3, "an equal block of the first tensor expected");
    if (from.count * (int64_t)from.item > mpi_chunk)
        scatter_by_blocks(L, c, &from, &to, type, op);
    else
        mpi_check(L, MPI_Reduce_scatter_block(from.data, to.data,
                                              (int)to.count, type, op,
                                              c->inner), "reduce_scatter");
    return 0;
}

/* ---- equal parts ---- */

/* Who has the whole and who a part of it. */
static void collective_check_parts(lua_State *L, const bytes *part,
                                   const bytes *whole, int size)
{
    if (part->count * size != whole->count || part->item != whole->item)
        luaL_error(L, "mpi: %d parts of %I elements do not make %I", size,
                   (lua_Integer)part->count, (lua_Integer)whole->count);
}

/* gather: every rank's part into the whole at the root, else the other way. The
** argument that is read is the second, the one that is written the third. */
static int exchange_parts(lua_State *L, bool gathers, const char *name)
{
    comm *c = mpi_comm(L, 1);
    int root = mpi_rank(L, 4, c, false), code;
    bytes part = gathers ? mpi_source(L, 2, name) : mpi_target(L, 3, name);
    bytes whole = {0};
    span s;
    if (root == c->rank) {
        whole = gathers ? mpi_target(L, 3, name) : mpi_source(L, 2, name);
        collective_check_parts(L, &part, &whole, c->size);
    }
    mpi_check(L, mpi_span(part.count * (int64_t)part.item, &s), name);
    if (gathers)
        code = MPI_Gather(part.data, s.count, s.type, whole.data, s.count,
                          s.type, root, c->inner);
    else
        code = MPI_Scatter(whole.data, s.count, s.type, part.data, s.count,
                           s.type, root, c->inner);
    mpi_span_free(&s);
    mpi_check(L, code, name);
    return 0;
}

/* raw.gather(comm, part, whole or nil, root) */
static int fn_gather(lua_State *L)
{
    return exchange_parts(L, true, "gather");
}

/* raw.scatter(comm, whole or nil, part, root) */
static int fn_scatter(lua_State *L)
{
    return exchange_parts(L, false, "scatter");
}

/* raw.all_gather(comm, part, whole) */
static int fn_all_gather(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes part = mpi_source(L, 2, "all_gather");
    bytes whole = mpi_target(L, 3, "all_gather");
    span s;
    collective_check_parts(L, &part, &whole, c->size);
    mpi_apart(L, &part, &whole, "all_gather");
    mpi_check(L, mpi_span(part.count * (int64_t)part.item, &s), "all_gather");
    int code = MPI_Allgather(part.data, s.count, s.type, whole.data, s.count,
                             s.type, c->inner);
    mpi_span_free(&s);
    mpi_check(L, code, "all_gather");
    return 0;
}

/* raw.all_to_all(comm, x, out): block k of x goes to rank k. */
static int fn_all_to_all(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    bytes from = mpi_source(L, 2, "all_to_all");
    bytes to = mpi_target(L, 3, "all_to_all");
    span s;
    luaL_argcheck(L, from.count == to.count && from.item == to.item
                  && from.count % c->size == 0, 3,
                  "as many elements as there, in equal blocks, expected");
    mpi_apart(L, &from, &to, "all_to_all");
    mpi_check(L, mpi_span(from.count / c->size * (int64_t)from.item, &s),
              "all_to_all");
    int code = MPI_Alltoall(from.data, s.count, s.type, to.data, s.count,
                            s.type, c->inner);
    mpi_span_free(&s);
    mpi_check(L, code, "all_to_all");
    return 0;
}

/* ---- ragged parts ---- */

typedef struct piece {
    int64_t rank, offset, count;    /* elements */
} piece;

/* The k-th triple of the list at 'arg', checked against the tensor. */
static piece piece_at(lua_State *L, int arg, lua_Integer k, const comm *c,
                      const bytes *b)
{
    int64_t v[3];
    for (int i = 0; i < 3; i++) {
        lua_rawgeti(L, arg, 3 * k + i + 1);
        v[i] = lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    if (v[0] < 1 || v[0] > c->size || v[1] < 0 || v[2] < 0
        || v[1] > b->count || v[2] > b->count - v[1])
        luaL_error(L, "mpi.exchange: elements %I to %I with rank %I: the "
                   "tensor has %I", (lua_Integer)(v[1] + 1),
                   (lua_Integer)(v[1] + v[2]), (lua_Integer)v[0],
                   (lua_Integer)b->count);
    return (piece){v[0] - 1, v[1], v[2]};
}

/* Begin a message of the piece; empty ones are none on either side. */
static int collective_start(const comm *c, const bytes *b, piece p, bool send,
                            MPI_Request *id)
{
    span s;
    char *at = b->data + p.offset * (int64_t)b->item;
    *id = MPI_REQUEST_NULL;
    if (p.count == 0) return MPI_SUCCESS;
    int code = mpi_span(p.count * (int64_t)b->item, &s);
    if (code) return code;
    enum { TAG = 32767 };
    code = send ? MPI_Isend(at, s.count, s.type, (int)p.rank, TAG, c->inner, id)
                : MPI_Irecv(at, s.count, s.type, (int)p.rank, TAG, c->inner,
                            id);
    mpi_span_free(&s);
    return code;
}

/* raw.exchange(comm, x, sends, out, receipts): lists of rank, offset, count in
** elements, flat. Pieces between two ranks meet in the order of the lists. x
** may be nil where nothing is sent, out where nothing comes. */
static int fn_exchange(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    lua_Integer sends = luaL_len(L, 3) / 3, receipts = luaL_len(L, 5) / 3;
    bytes from = {0}, to = {0};
    if (sends > 0) from = mpi_source(L, 2, "exchange");
    if (receipts > 0) to = mpi_target(L, 4, "exchange");
    lua_Integer n = sends + receipts;
    MPI_Request *list = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *list,
                                          0);
    for (lua_Integer k = 0; k < sends; k++) piece_at(L, 3, k, c, &from);
    for (lua_Integer k = 0; k < receipts; k++) piece_at(L, 5, k, c, &to);
    int code = MPI_SUCCESS;
    lua_Integer begun = 0;
    for (lua_Integer k = 0; k < receipts && !code; k++)
        code = collective_start(c, &to, piece_at(L, 5, k, c, &to), false,
                                &list[begun++]);
    for (lua_Integer k = 0; k < sends && !code; k++)
        code = collective_start(c, &from, piece_at(L, 3, k, c, &from), true,
                                &list[begun++]);
    for (lua_Integer k = 0; k < begun; k++) {
        int other = MPI_Wait(&list[k], MPI_STATUS_IGNORE);
        if (!code) code = other;
    }
    mpi_check(L, code, "exchange");
    return 0;
}

/* ---- debug mode ---- */

enum { NOTE = 256 };

/* raw.compare(comm, text): what each rank is about to do, as a list of texts,
** where they differ; nothing where all are equal. */
static int fn_compare(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    size_t n;
    const char *text = luaL_checklstring(L, 2, &n);
    char *all = lua_newuserdatauv(L, (size_t)(c->size + 1) * NOTE, 0);
    char *own = all + (size_t)c->size * NOTE;
    memset(own, 0, NOTE);
    memcpy(own, text, n < NOTE - 1 ? n : NOTE - 1);
    mpi_check(L, MPI_Allgather(own, NOTE, MPI_BYTE, all, NOTE, MPI_BYTE,
                               c->inner), "debug");
    bool equal = true;
    for (int k = 0; k < c->size; k++)
        equal = equal && !memcmp(all + (size_t)k * NOTE, own, NOTE);
    if (equal) return 0;
    lua_createtable(L, c->size, 0);
    for (int k = 0; k < c->size; k++) {
        lua_pushstring(L, all + (size_t)k * NOTE);
        lua_rawseti(L, -2, k + 1);
    }
    return 1;
}

/* raw.bcast_text(comm, text or nil, root): the root's text. */
static int fn_bcast_text(lua_State *L)
{
    comm *c = mpi_comm(L, 1);
    int root = mpi_rank(L, 3, c, false);
    size_t n = 0;
    const char *text = root == c->rank ? luaL_checklstring(L, 2, &n) : NULL;
    int64_t length = (int64_t)n;
    luaL_Buffer buffer;
    mpi_check(L, MPI_Bcast(&length, 1, MPI_INT64_T, root, c->inner),
              "bcast_value");
    char *at = luaL_buffinitsize(L, &buffer, (size_t)length);
    if (text) memcpy(at, text, n);
    span s;
    mpi_check(L, mpi_span(length, &s), "bcast_value");
    int code = MPI_Bcast(at, s.count, s.type, root, c->inner);
    mpi_span_free(&s);
    mpi_check(L, code, "bcast_value");
    luaL_pushresultsize(&buffer, (size_t)length);
    return 1;
}

const luaL_Reg mpi_collective_functions[] = {
    {"bcast", fn_bcast}, {"all_reduce", fn_all_reduce}, {"reduce", fn_reduce},
    {"reduce_scatter", fn_reduce_scatter}, {"gather", fn_gather},
    {"scatter", fn_scatter}, {"all_gather", fn_all_gather},
    {"all_to_all", fn_all_to_all}, {"exchange", fn_exchange},
    {"compare", fn_compare}, {"bcast_text", fn_bcast_text}, {NULL, NULL}
};
