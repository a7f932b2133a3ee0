/*
** Recursive filters: a cascade of sections along one dim, all other dims being
** signals of their own. Signals run side by side in the lanes of vectors
** (modules/signal/kernel/filter.h), chunk by chunk, each chunk through all
** sections while it is in the first cache; what is left over runs one by one
** with the same bits.
*/
#include "iter/items.h"
#include "modules/signal/kernel/filter.h"
#include "op/frame.h"

#define LA_ROWS "modules/signal/ops.def"
#include "base/runtime/interrupt.h"
#include "iter/iter.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

#define CHUNK_BYTES 16384     /* of signals on their way through the sections */
#define MOST_LANES 64
#define POLL_WORK (1 << 22)   /* products between two questions */

enum { B, A, X, ZI, DIM };

typedef struct cascade {
    const la_filter *kernel;
    const char *b, *a, *x, *zi;   /* zi NULL: from rest */
    char *y, *zf;
    int64_t sections, order, outer, n, inner, item;
} cascade;

/* ---- signals to and from the lanes ---- */

/* Row r of tile element (t, lane) lies at first[lane] + t * step elements. */
typedef struct lanes {
    int64_t first[MOST_LANES], count, width, step, item;
} lanes;

/* Elements at + 0 .. n-1 along the dim, to the tile or from it. */
#define MOVES(T)                                                             \
    static void take_##T(const lanes *s, const T *x, T *tile, int64_t at,   \
                         int64_t n)                                         \
    {                                                                       \
        for (int64_t l = 0; l < s->count; l++) {                            \
            const T *from = x + s->first[l] + at * s->step;                 \
            for (int64_t t = 0; t < n; t++)                                 \
                tile[t * s->width + l] = from[t * s->step];                 \
        }                                                                   \
    }                                                                       \
    static void give_##T(const lanes *s, T *y, const T *tile, int64_t at,   \
                         int64_t n)                                         \
    {                                                                       \
        for (int64_t l = 0; l < s->count; l++) {                            \
            T *to = y + s->first[l] + at * s->step;                         \
            for (int64_t t = 0; t < n; t++)                                 \
                to[t * s->step] = tile[t * s->width + l];                   \
        }                                                                   \
    }
typedef struct { uint64_t part[2]; } pair;
typedef uint32_t four;
typedef uint64_t longword;
MOVES(four)
MOVES(longword)
MOVES(pair)

/* Whole rows of the tile lie one behind the other in memory. */
static bool is_side_by_side(const lanes *s)
{
    return s->step > 1 && s->count == s->width
        && s->first[s->count - 1] - s->first[0] == s->count - 1;
}

static void filter_take(const lanes *s, const char *x, char *tile, int64_t at,
                        int64_t n)
{
    int64_t row = s->width * s->item;
    if (is_side_by_side(s)) {
        const char *from = x + (s->first[0] + at * s->step) * s->item;
        for (int64_t t = 0; t < n; t++)
            memcpy(tile + t * row, from + t * s->step * s->item, (size_t)row);
    } else if (s->item == 4) take_four(s, (void *)x, (void *)tile, at, n);
    else if (s->item == 8) take_longword(s, (void *)x, (void *)tile, at, n);
    else take_pair(s, (void *)x, (void *)tile, at, n);
}

static void filter_give(const lanes *s, char *y, const char *tile, int64_t at,
                        int64_t n)
{
    int64_t row = s->width * s->item;
    if (is_side_by_side(s)) {
        char *to = y + (s->first[0] + at * s->step) * s->item;
        for (int64_t t = 0; t < n; t++)
            memcpy(to + t * s->step * s->item, tile + t * row, (size_t)row);
    } else if (s->item == 4) give_four(s, (void *)y, (void *)tile, at, n);
    else if (s->item == 8) give_longword(s, (void *)y, (void *)tile, at, n);
    else give_pair(s, (void *)y, (void *)tile, at, n);
}

/* ---- the run ---- */

/* 'count' signals from 'row' on, of 'length' elements each. */
static lanes lanes_of(const cascade *c, int64_t row, int64_t count,
                      int64_t width, int64_t length)
{
    lanes s = {.count = count, .width = width, .step = c->inner,
               .item = c->item};
    for (int64_t l = 0; l < count; l++) {
        int64_t outer = (row + l) / c->inner, i = (row + l) % c->inner;
        s.first[l] = outer * length * c->inner + i;
    }
    return s;
}

static size_t state_bytes(const cascade *c, int64_t width)
{
    return (size_t)(c->sections * (c->order + 1) * width * c->item);
}

/* The states of all sections, each followed by a row of zeros, from zi (or
** zeros) to 'z'; and back to zf. */
static void take_states(const cascade *c, const lanes *s, char *z)
{
    int64_t rows = c->outer * c->inner * c->item * c->order;
    int64_t step = (c->order + 1) * s->width * s->item;
    memset(z, 0, state_bytes(c, s->width));
    for (int64_t k = 0; k < c->sections && c->zi; k++)
        filter_take(s, c->zi + k * rows, z + k * step, 0, c->order);
}

static void give_states(const cascade *c, const lanes *s, const char *z)
{
    int64_t rows = c->outer * c->inner * c->item * c->order;
    int64_t step = (c->order + 1) * s->width * s->item;
    for (int64_t k = 0; k < c->sections; k++)
        filter_give(s, c->zf + k * rows, z + k * step, 0, c->order);
}

/* 'count' signals in 'width' lanes of 'run'. The scratch is a chunk of them and
** their states. LA_EINTR or LA_OK. */
static la_status run_lanes(const cascade *c, int64_t row, int64_t count,
                           int64_t width, la_filter_fn run, char *scratch)
{
    lanes s = lanes_of(c, row, count, width, c->n);
    lanes states = lanes_of(c, row, count, width, c->order);
    char *tile = scratch, *z = scratch + CHUNK_BYTES;
    int64_t chunk = CHUNK_BYTES / (width * c->item), work = 0;
    int64_t cost = la_max(1, c->sections * (c->order + 1) * width);
    chunk = la_max(1, la_min(chunk, POLL_WORK / cost));
    take_states(c, &states, z);
    if (count < width) memset(tile, 0, CHUNK_BYTES);
    for (int64_t at = 0; at < c->n; at += chunk) {
        int64_t m = la_min(chunk, c->n - at);
        if (work >= POLL_WORK) {
            LA_TRY(la_poll());
            work = 0;
        }
        work += m * cost;
        filter_take(&s, c->x, tile, at, m);
        run(&(la_filter_run){c->b, c->a, c->sections, c->order, tile, z, m});
        filter_give(&s, c->y, tile, at, m);
    }
    give_states(c, &states, z);
    return LA_OK;
}

static la_status run_unit(void *context, int64_t unit, char *scratch)
{
    const cascade *c = context;
    int64_t width = c->kernel->lanes, row = unit * width;
    int64_t count = la_min(width, c->outer * c->inner - row);
    if (c->kernel->side && count > width / 4)
        return run_lanes(c, row, count, width, c->kernel->side, scratch);
    for (int64_t k = 0; k < count; k++)
        LA_TRY(run_lanes(c, row + k, 1, 1, c->kernel->one, scratch));
    return LA_OK;
}

/* ---- (b, a, x, zi, dim) ---- */

/* The sizes of x with 'length' along the dim, behind the sections. */
static int state_sizes(const la_frame *f, int64_t *sizes)
{
    const la_tensor *b = la_arg(f, B), *x = la_arg(f, X);
    memcpy(sizes + 1, la_sizes(x), (size_t)x->ndim * sizeof(*sizes));
    sizes[0] = la_sizes(b)[0];
    sizes[1 + la_arg_int(f, DIM)] = la_sizes(b)[1] - 1;
    return x->ndim + 1;
}

la_status la_meta_filter_sections(la_frame *f)
{
    const la_tensor *b = la_arg(f, B), *a = la_arg(f, A), *x = la_arg(f, X);
    const la_tensor *zi = la_arg(f, ZI);
    int64_t sizes[LA_MAX_DIMS + 1], dim = la_arg_int(f, DIM);
    if (x->ndim < 1 || x->ndim >= LA_MAX_DIMS || dim < 0 || dim >= x->ndim)
        return la_error_at(LA_ESHAPE, X + 1, "a signal of 1 to %d dims and one "
                           "of them expected", LA_MAX_DIMS - 1);
    if (b->ndim != 2 || !la_same_sizes(a, b) || la_sizes(b)[1] < 1)
        return la_error_at(LA_ESHAPE, A + 1, "two matrices of coefficients of "
                           "equal sizes expected");
    int ndim = state_sizes(f, sizes);
    if (zi && !la_has_sizes(zi, ndim, sizes))
        return la_error_at(LA_ESHAPE, ZI + 1, "states of other sizes expected");
    la_dtype d = (la_dtype)x->dtype;
    LA_TRY(la_require_dtype(f, d));
    if (a->dtype != d || b->dtype != d || (zi && zi->dtype != d))
        return la_error(LA_EDTYPE, "tensors of one dtype expected");
    LA_TRY(la_set_output(f, 0, x->ndim, la_sizes(x), NULL, d));
    return la_set_output(f, 1, ndim, sizes, NULL, d);
}

static const char *bytes_of(const la_tensor *t)
{
    return t ? la_data(t) : NULL;
}

static void read_cascade(const la_frame *f, la_tensor *const *in, cascade *c)
{
    const la_tensor *x = in[X];
    int64_t dim = la_arg_int(f, DIM);
    *c = (cascade){.kernel = &(*LA_STUB(filter))[x->dtype],
        .b = bytes_of(in[B]), .a = bytes_of(in[A]), .x = bytes_of(x),
        .zi = bytes_of(in[ZI]), .y = la_data(la_result(f, 0)),
        .zf = la_data(la_result(f, 1)), .sections = la_sizes(in[B])[0],
        .order = la_sizes(in[B])[1] - 1, .outer = 1, .inner = 1,
        .n = la_sizes(x)[dim], .item = (int64_t)la_itemsize(x)};
    for (int64_t d = 0; d < dim; d++) c->outer *= la_sizes(x)[d];
    for (int64_t d = dim + 1; d < x->ndim; d++) c->inner *= la_sizes(x)[d];
}

la_status la_impl_filter_sections(la_frame *f)
{
    la_tensor *in[ZI + 1] = {NULL};
    la_status status = LA_OK;
    cascade c;
    for (int k = B; k <= ZI && !status; k++)
        if (la_arg(f, k)) status = la_run(contiguous, &in[k], la_arg(f, k));
    if (!status) {
        read_cascade(f, in, &c);
        int64_t width = c.kernel->lanes, rows = c.outer * c.inner;
        la_unit_plan plan = {run_unit, la_ceil_div(LA_GRAIN,
            la_max(1, c.n * c.sections * (c.order + 1) * width)),
            CHUNK_BYTES + state_bytes(&c, width)};
        if (rows > 0)
            status = la_iter_units(la_ceil_div(rows, width), &plan, &c);
    }
    for (int k = B; k <= ZI; k++) la_tensor_drop(&in[k]);
    return status;
}
