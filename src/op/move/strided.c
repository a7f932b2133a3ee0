/*
** Moves between strided memory: dims are ordered by the destination's strides,
** merged where both sides step evenly, and the rest is cut into ranges for
** threads.
**
** Not the copy of copy_engine.c: that takes tensors of any dtype, overlap and
** lazy bits to an iterator and ends in its loops. Here are parts of a result
** (rows of cat, borders, rolled or repeated rows) that are pointers and strides
** and no tensors, surely apart and of one element size; they are often so short
** that the loop is what matters, and get tiles and assembled groups of rows,
** which an iterator has not. Both order and merge dims by tensor/dims.h.
*/
#include "op/move/move.h"

#include "iter/items.h"
#include "kernel/move/elements.h"
#include "op/move/copy.h"
#include "op/value.h"
#include "tensor/dims.h"

/* Bytes that one range of a parallel move has at least. */
#define MOVE_GRAIN ((int64_t)128 << 10)
/* Elements between looks at the interrupt. */
#define POLL ((int64_t)1 << 20)

typedef struct plan {
    int ndim;                    /* dim 0 is the fastest */
    int64_t sizes[LA_MAX_DIMS], to[LA_MAX_DIMS], from[LA_MAX_DIMS];
    char *dst;
    const char *src;
    la_loop loop;
    int64_t rows;                /* product of sizes from dim 1 on */
    int64_t row;                 /* of a plan that is cut along dim 0 */
} plan;

/* The loop for elements of 'size' bytes, a power of two up to 16. */
static la_loop loop_of(size_t size)
{
    return (*LA_STUB(move))[__builtin_ctzll(size)];
}

void la_move_block(size_t size, char *to, const char *from,
                   const int64_t strides[4], int64_t n0, int64_t n1)
{
    char *data[2] = {to, (char *)from};
    loop_of(size)(data, strides, n0, n1, NULL);
}

la_strided la_strided_of(const la_tensor *t)
{
    la_strided p;   /* to clear all strides would cost more than the rest */
    p.data = la_data(t);
    for (int d = 0; d < t->ndim; d++)
        p.strides[d] = la_strides(t)[d] * (int64_t)la_itemsize(t);
    return p;
}

/* The dims of size other than 1, ordered by the destination's strides and
** merged where both sides go on evenly. */
static void order_dims(plan *p, int ndim, const int64_t *sizes,
                       const la_strided *to, const la_strided *from)
{
    uint8_t perm[LA_MAX_DIMS];
    int64_t *strides[2] = {p->to, p->from};
    int n = 0;
    for (int d = ndim - 1; d >= 0; d--)
        if (sizes[d] != 1) perm[n++] = (uint8_t)d;
    la_dims_sort(n, perm, la_dims_by_stride, to->strides);
    for (int k = 0; k < n; k++) {
        p->sizes[k] = sizes[perm[k]];
        p->to[k] = to->strides[perm[k]];
        p->from[k] = from->strides[perm[k]];
    }
    p->ndim = la_dims_merge(n, p->sizes, 2, strides);
}

/* Loops take two dims: dims of size 1 in place of those that lack. */
static void pad_dims(plan *p)
{
    for (; p->ndim < 2; p->ndim++) {
        p->sizes[p->ndim] = 1;
        p->to[p->ndim] = p->from[p->ndim] = 0;
    }
    p->rows = 1;
    for (int d = 1; d < p->ndim; d++)
        p->rows *= p->sizes[d];
}

/* Position of row 'index' along the dims from 1 on. */
static void seek(const plan *p, int64_t index, int64_t *at, char **data)
{
    data[0] = p->dst;
    data[1] = (char *)p->src;
    for (int d = 1; d < p->ndim; d++) {
        at[d] = index % p->sizes[d];
        index /= p->sizes[d];
        data[0] += at[d] * p->to[d];
        data[1] += at[d] * p->from[d];
    }
}

/* After 'n' rows of dim 1: carry into the dims above. */
static void strided_advance(const plan *p, int64_t n, int64_t *at, char **data)
{
    at[1] += n;
    data[0] += n * p->to[1];
    data[1] += n * p->from[1];
    for (int d = 1; d + 1 < p->ndim && at[d] == p->sizes[d]; d++) {
        data[0] += p->to[d + 1] - p->sizes[d] * p->to[d];
        data[1] += p->from[d + 1] - p->sizes[d] * p->from[d];
        at[d] = 0;
        at[d + 1]++;
    }
}

/* Rows of dim 0, as many at once as follow each other along dim 1. */
static void move_rows(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    int64_t at[LA_MAX_DIMS], strides[4] = {p->to[0], p->from[0], p->to[1],
                                           p->from[1]};
    char *data[2];
    seek(p, begin, at, data);
    while (begin < end) {
        int64_t n = p->sizes[1] - at[1];
        n = n < end - begin ? n : end - begin;
        char *here[2] = {data[0], data[1]};
        p->loop(here, strides, p->sizes[0], n, NULL);
        strided_advance(p, n, at, data);
        begin += n;
    }
}

/* A part of one long row. */
static void move_part(int64_t begin, int64_t end, void *context)
{
    const plan *p = context;
    int64_t at[LA_MAX_DIMS], strides[4] = {p->to[0], p->from[0], 0, 0};
    char *data[2];
    seek(p, p->row, at, data);
    data[0] += begin * p->to[0];
    data[1] += begin * p->from[0];
    p->loop(data, strides, end - begin, 1, NULL);
}

/* Dims 0 and 1 of the result are a short row: such rows are assembled, many of
** them by one shuffle. */
#define GROUP_BYTES 64

static bool has_groups(const plan *p, int64_t size)
{
    int64_t row = p->sizes[0] * size;
    return p->ndim == 3 && row * p->sizes[1] <= GROUP_BYTES
        && p->to[0] == size && p->to[1] == row
        && p->to[2] == row * p->sizes[1];
}

/* Positions of dim 2: rows that a shuffle puts together from n1 pieces each. */
static void move_groups(int64_t begin, int64_t end, void *context)
{
    enum { SOME = 512 };
    const plan *p = context;
    const int64_t row = p->to[2], n1 = p->sizes[1];
    int64_t rows[SOME];
    la_piece pieces[GROUP_BYTES];
    for (int64_t i = 0; i < SOME; i++) rows[i] = i * p->from[2];
    for (int64_t k = 0; k < n1; k++)
        pieces[k] = (la_piece){k * p->to[1], k * p->from[1], p->from[0],
                               p->sizes[0]};
    for (; begin < end; begin += SOME) {
        int64_t n = end - begin < SOME ? end - begin : SOME;
        (*LA_STUB(assemble))[__builtin_ctzll((uint64_t)p->to[0])]
            (p->dst + begin * row, row, p->src + begin * p->from[2], rows, n,
             pieces, (int)n1);
    }
}

/* Groups, rows, or for few long rows parts of one row after the other. */
static la_status move_strided_run(plan *p, size_t size)
{
    int64_t row_bytes = p->sizes[0] * (int64_t)size;
    if (has_groups(p, (int64_t)size))
        return la_iter_items(p->sizes[2], MOVE_GRAIN / p->to[2],
                             POLL / p->sizes[0], move_groups, p);
    if (row_bytes <= 16 * MOVE_GRAIN || p->rows >= 64)
        return la_iter_items(p->rows, MOVE_GRAIN / row_bytes + 1,
                             POLL / p->sizes[0] + 1, move_rows, p);
    for (p->row = 0; p->row < p->rows; p->row++)
        LA_TRY(la_iter_items(p->sizes[0], MOVE_GRAIN / (int64_t)size, POLL,
                             move_part, p));
    return LA_OK;
}

static void set_dim(plan *p, int d, int64_t size, int64_t to, int64_t from)
{
    p->sizes[d] = size;
    p->to[d] = to;
    p->from[d] = from;
}

/* Short rows, few along dim 1 and many along dim 2: the loop over dim 1 would
** be called for every few of them. Such a dim 2 is cut into tiles that fit the
** first cache, and a tile goes inside. What is left of dim 2 becomes a plan of
** its own. False when there is no use in it. */
static bool make_tiles(plan *p, size_t size, plan *rest)
{
    const int64_t few = 32, bytes = 8 << 10;
    int64_t row = p->sizes[0] * (int64_t)size, n1 = p->sizes[1];
    if (p->ndim < 3 || p->ndim == LA_MAX_DIMS || n1 >= few || row > 128
        || has_groups(p, (int64_t)size)) return false;
    int64_t to1 = p->to[1], to2 = p->to[2], from1 = p->from[1];
    int64_t from2 = p->from[2], n2 = p->sizes[2], tile = bytes / (row * n1);
    tile = tile < few ? few : tile;
    if (n2 < tile) return false;
    *rest = *p;
    rest->dst += n2 / tile * tile * to2;
    rest->src += n2 / tile * tile * from2;
    set_dim(rest, 1, n2 % tile, to2, from2);
    set_dim(rest, 2, n1, to1, from1);
    for (int d = p->ndim++; d > 3; d--)
        set_dim(p, d, p->sizes[d - 1], p->to[d - 1], p->from[d - 1]);
    set_dim(p, 3, n2 / tile, tile * to2, tile * from2);
    set_dim(p, 2, n1, to1, from1);
    set_dim(p, 1, tile, to2, from2);
    pad_dims(p);
    pad_dims(rest);
    return true;
}

/* An empty move has no plan: sizes of 0 would be divided by. */
la_status la_move(const la_strided *to, const la_strided *from, int ndim,
                  const int64_t *sizes, size_t size)
{
    plan p, rest;
    for (int d = 0; d < ndim; d++)
        if (sizes[d] == 0)
            return LA_OK;
    p.dst = to->data;
    p.src = from->data;
    p.loop = loop_of(size);
    order_dims(&p, ndim, sizes, to, from);
    pad_dims(&p);
    if (make_tiles(&p, size, &rest) && rest.rows > 0)
        LA_TRY(move_strided_run(&rest, size));
    return move_strided_run(&p, size);
}

/* Lazy bits would have to be resolved on the way: that is a copy. */
la_status la_move_tensor(la_tensor *to, la_tensor *from)
{
    enum { LAZY = LA_F_CONJ | LA_F_NEG };
    if (to->dtype != from->dtype || (to->flags | from->flags) & LAZY)
        return la_copy_data(to, from);
    la_strided dst = la_strided_of(to), src = la_strided_of(from);
    return la_move(&dst, &src, to->ndim, la_sizes(to), la_itemsize(to));
}
