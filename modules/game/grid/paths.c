/*
** Ways over a grid of costs {H, W}: entering a cell costs what it says, an
** infinite one is a wall. Sums are of doubles. A heap of cells gives the next
** one: the least estimate of the whole way, of equal ones that nearest to the
** goal, of these the first in row-major order; a cell keeps the neighbour that
** was first to reach it at that cost. So ways and fields depend on the costs
** alone.
*/
#include <math.h>

#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/frame.h"

#define LA_ROWS "modules/game/ops.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/cost/fuel.h"
#include "op/impls.h"

#define ROOT2 1.41421356237309504880
#define POLL_CELLS 4096
#define PAID_CELLS 64         /* the work of one is that of 64 elements */

/* The eight neighbours, those across an edge first. */
static const int steps[8][2] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0},
                                {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};

typedef struct cell {
    double cost, way, rest;   /* of the cell; to it; at least, from it */
    int64_t from;             /* the neighbour before; -1 */
    int64_t at;               /* index in the heap, from 1; 0 not in it, -1
                              ** done with */
} cell;

typedef struct map {
    cell *cells;
    int64_t h, w, n, *heap, size;
    double least;             /* the cheapest cell */
    bool diagonal;
} map;

/* ---- the heap ---- */

static bool paths_is_before(const map *m, int64_t i, int64_t j)
{
    const cell *a = &m->cells[i], *b = &m->cells[j];
    double x = a->way + a->rest, y = b->way + b->rest;
    if (x != y) return x < y;
    if (a->rest != b->rest) return a->rest < b->rest;
    return i < j;
}

static void set(map *m, int64_t at, int64_t i)
{
    m->heap[at] = i;
    m->cells[i].at = at + 1;
}

/* Cell i, new in the heap or cheaper than before. */
static void rise(map *m, int64_t i)
{
    if (m->cells[i].at == 0) set(m, m->size++, i);
    int64_t k = m->cells[i].at - 1;
    for (; k > 0 && paths_is_before(m, i, m->heap[(k - 1) / 2]);
         k = (k - 1) / 2)
        set(m, k, m->heap[(k - 1) / 2]);
    set(m, k, i);
}

static int64_t take_first(map *m)
{
    int64_t first = m->heap[0], i = m->heap[--m->size], k = 0, n = m->size;
    m->cells[first].at = -1;
    if (n == 0) return first;
    for (int64_t c; (c = 2 * k + 1) < n; k = c) {
        if (c + 1 < n && paths_is_before(m, m->heap[c + 1], m->heap[c])) c++;
        if (!paths_is_before(m, m->heap[c], i)) break;
        set(m, k, m->heap[c]);
    }
    set(m, k, i);
    return first;
}

/* ---- the walk ---- */

/* The cell a step away, or -1. */
static int64_t next_to(const map *m, int64_t i, int k)
{
    int64_t row = i / m->w + steps[k][0], column = i % m->w + steps[k][1];
    bool in = row >= 0 && row < m->h && column >= 0 && column < m->w;
    return in ? row * m->w + column : -1;
}

/* No way over so many rows and columns is cheaper. */
static double estimate(const map *m, int64_t i, int64_t goal)
{
    int64_t rows = i / m->w - goal / m->w, columns = i % m->w - goal % m->w;
    double y = (double)(rows < 0 ? -rows : rows);
    double x = (double)(columns < 0 ? -columns : columns);
    double low = x < y ? x : y, high = x < y ? y : x;
    double way = m->diagonal ? (high - low) + low * ROOT2 : x + y;
    /* A shade less, so that rounded sums are never below it. */
    return way * m->least * (1 - 1e-9);
}

/* Until 'goal' is done with (-1: all that can be reached). 'back': ways lead to
** where the walk began, and a step costs the cell that it leaves. */
static la_status paths_walk(const la_frame *f, map *m, int64_t goal, bool back)
{
    for (int64_t count = 0; m->size > 0; count++) {
        if (count % POLL_CELLS == 0) LA_TRY(la_poll());
        if (count % PAID_CELLS == 0 && la_fuel_running)
            LA_TRY(la_fuel_more(f, PAID_CELLS * 64));
        int64_t i = take_first(m);
        if (i == goal) return LA_OK;
        for (int k = 0; k < (m->diagonal ? 8 : 4); k++) {
            int64_t j = next_to(m, i, k);
            if (j < 0 || m->cells[j].at < 0 || isinf(m->cells[j].cost))
                continue;
            cell *c = &m->cells[j];
            double cost = back ? m->cells[i].cost : c->cost;
            double way = m->cells[i].way + (k < 4 ? cost : cost * ROOT2);
            if (!(way < c->way)) continue;
            if (goal >= 0 && c->at == 0) c->rest = estimate(m, j, goal);
            c->way = way;
            c->from = i;
            rise(m, j);
        }
    }
    return LA_OK;
}

/* ---- costs and cells of a call ---- */

static size_t map_bytes(const map *m)
{
    return (size_t)(m->n + 1) * (sizeof(cell) + sizeof(int64_t));
}

static void map_free(map *m)
{
    if (m->cells) la_mem_free(m->cells, map_bytes(m));
    m->cells = NULL;
}

static la_status check_costs(const la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    if (t->ndim != 2)
        return la_error_at(LA_ESHAPE, 1, "costs {H, W} expected, got %d-D",
                           t->ndim);
    return LA_OK;
}

static la_status read_costs(map *m, const double *x)
{
    m->least = (double)INFINITY;
    LA_EACH_POLLED(i, 0, m->n) {
        if (!(x[i] >= 0))
            return la_error_at(LA_EARG, 1, "costs must be 0 or more, got %g at "
                               "{%lld, %lld}", x[i], (long long)(i / m->w + 1),
                               (long long)(i % m->w + 1));
        m->cells[i] = (cell){.cost = x[i], .way = (double)INFINITY,
                             .from = -1};
        if (x[i] < m->least) m->least = x[i];
    }
    if (isinf(m->least)) m->least = 0;
    return la_poll();
}

static la_status map_new(const la_frame *f, map *m)
{
    LA_LET(wide, la_run(astype, &wide, la_arg(f, 0), la_v_dtype(LA_FLOAT64)));
    LA_LET(t, la_run(contiguous, &t, wide));
    m->h = la_sizes(t)[0];
    m->w = la_sizes(t)[1];
    m->n = t->numel;
    m->cells = la_mem_alloc(map_bytes(m));
    if (!m->cells) return LA_ENOMEM;
    m->heap = (int64_t *)(m->cells + m->n + 1);
    return read_costs(m, (const double *)la_data(t));
}

/* Row and column, from 1 or negative from the end, as a cell. */
static la_status cell_at(const map *m, int arg, const int64_t *at,
                         int64_t *out)
{
    int64_t size[2] = {m->h, m->w}, k[2];
    for (int d = 0; d < 2; d++) {
        k[d] = at[d] < 0 ? at[d] + size[d] : at[d] - 1;
        if (at[d] == 0 || k[d] < 0 || k[d] >= size[d])
            return la_error_at(LA_EINDEX, arg + 1, "cell {%lld, %lld} is out "
                               "of range, {1, 1} to {%lld, %lld}",
                               (long long)at[0], (long long)at[1],
                               (long long)m->h, (long long)m->w);
    }
    *out = k[0] * m->w + k[1];
    return LA_OK;
}

/* Argument k, whole numbers {..., 2}: rows and columns. */
static la_status read_cells(const la_frame *f, int k, la_tensor **out)
{
    const la_tensor *t = la_arg(f, k);
    if (!la_is_integral((la_dtype)t->dtype))
        return la_error_at(LA_EDTYPE, k + 1, "rows and columns, of an integer "
                           "dtype, expected, got %s",
                           la_dtype_name((la_dtype)t->dtype));
    if (t->ndim < 1 || la_sizes(t)[t->ndim - 1] != 2)
        return la_error_at(LA_ESHAPE, k + 1, "rows and columns: 2 in the last "
                           "dim expected");
    LA_LET(wide, la_run(astype, &wide, la_arg(f, k), la_v_dtype(LA_INT64)));
    return la_run(contiguous, out, wide);
}

/* ---- astar(cost, start, goal, diagonal) ---- */

static la_status give_path(la_frame *f, const map *m, int64_t goal)
{
    int64_t sizes[2] = {0, 2};
    for (int64_t i = goal; i >= 0; i = m->cells[i].from) sizes[0]++;
    LA_TRY(la_set_output(f, 0, 2, sizes, NULL, LA_INT64));
    int64_t *out = (int64_t *)la_data(la_result(f, 0)), at = sizes[0];
    for (int64_t i = goal; i >= 0; i = m->cells[i].from) {
        out[2 * --at] = i / m->w + 1;
        out[2 * at + 1] = i % m->w + 1;
    }
    return LA_OK;
}

/* Argument k, a list or a tensor of a row and a column, as a cell. */
static la_status read_cell(const la_frame *f, const map *m, int k, int64_t *out)
{
    LA_OWNED t = NULL;
    const la_value *v = &f->args[k];
    const int64_t *list = v->ints.list;
    int64_t n = v->ints.n;
    if (v->tag == LA_VTENSOR) {
        LA_TRY(read_cells(f, k, &t));
        list = (const int64_t *)la_data(t);
        n = t->numel;
    }
    if (n != 2)
        return la_error_at(LA_EARG, k + 1, "a row and a column expected, got "
                           "%lld numbers", (long long)n);
    return cell_at(m, k, list, out);
}

static la_status find_path(la_frame *f, map *m)
{
    int64_t ends[2];
    LA_TRY(map_new(f, m));
    m->diagonal = la_arg_bool(f, 3);
    for (int k = 0; k < 2; k++) LA_TRY(read_cell(f, m, 1 + k, &ends[k]));
    cell *start = &m->cells[ends[0]], *goal = &m->cells[ends[1]];
    if (!isinf(start->cost) && !isinf(goal->cost)) {
        start->way = 0;
        start->rest = estimate(m, ends[0], ends[1]);
        rise(m, ends[0]);
        LA_TRY(paths_walk(f, m, ends[1], false));
        if (!isinf(goal->way)) return give_path(f, m, ends[1]);
    }
    la_set_result_value(f, 0, la_v_none());
    return LA_OK;
}

la_status la_impl_game_astar(la_frame *f)
{
    map m = {.cells = NULL};
    LA_TRY(check_costs(f));
    la_status status = find_path(f, &m);
    map_free(&m);
    return status;
}

LA_FORWARD(la_impl_game_astar_cells, la_impl_game_astar(f))
LA_FORWARD(la_impl_game_astar_from_cell, la_impl_game_astar(f))
LA_FORWARD(la_impl_game_astar_to_cell, la_impl_game_astar(f))

/* ---- flow_field(cost, goals) ---- */

la_status la_meta_game_flow_field(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    LA_TRY(check_costs(f));
    int64_t sizes[3] = {la_sizes(t)[0], la_sizes(t)[1], 2};
    la_dtype dtype = t->dtype == LA_FLOAT64 ? LA_FLOAT64 : LA_FLOAT32;
    LA_TRY(la_set_output(f, 0, 3, sizes, NULL, dtype));
    return la_set_output(f, 1, 2, sizes, NULL, dtype);
}

/* Steps to the neighbour on the way, and what is left of it. */
static la_status give_field(la_frame *f, const map *m)
{
    la_tensor *directions = la_result(f, 0), *distance = la_result(f, 1);
    LA_LET(wide, la_tensor_empty(3, la_sizes(directions), LA_FLOAT64, &wide));
    LA_LET(all, la_tensor_empty(2, la_sizes(distance), LA_FLOAT64, &all));
    double *to = (double *)la_data(wide), *way = (double *)la_data(all);
    LA_EACH_POLLED(i, 0, m->n) {
        const cell *c = &m->cells[i];
        bool on = c->from >= 0;
        way[i] = c->way;
        to[2 * i] = on ? (double)(c->from / m->w - i / m->w) : 0;
        to[2 * i + 1] = on ? (double)(c->from % m->w - i % m->w) : 0;
    }
    LA_TRY(la_run_(copy_, directions, wide));
    return la_run_(copy_, distance, all);
}

/* Argument 1: rows and columns, a list or a tensor of any number. */
static la_status find_field(la_frame *f, map *m)
{
    LA_OWNED t = NULL;
    const la_value *goals = &f->args[1];
    const int64_t *at = goals->ints.list;
    int64_t n = goals->ints.n;
    LA_TRY(map_new(f, m));
    if (goals->tag == LA_VTENSOR) {
        LA_TRY(read_cells(f, 1, &t));
        at = (const int64_t *)la_data(t);
        n = t->numel;
    } else if (n % 2 || n == 0) {
        return la_error_at(LA_EARG, 2, "rows and columns expected, got %lld "
                           "numbers", (long long)n);
    }
    LA_EACH_POLLED(k, 0, n / 2) {
        int64_t i = 0;
        LA_TRY(cell_at(m, 1, at + 2 * k, &i));
        if (isinf(m->cells[i].cost) || m->cells[i].way == 0) continue;
        m->cells[i].way = 0;
        rise(m, i);
    }
    LA_TRY(la_poll());
    LA_TRY(paths_walk(f, m, -1, true));
    if (m->n == 0) return LA_OK;
    return give_field(f, m);
}

la_status la_impl_game_flow_field(la_frame *f)
{
    map m = {.cells = NULL};
    la_status status = find_field(f, &m);
    map_free(&m);
    return status;
}

LA_FORWARD(la_meta_game_flow_field_cells, la_meta_game_flow_field(f))
LA_FORWARD(la_impl_game_flow_field_cells, la_impl_game_flow_field(f))
