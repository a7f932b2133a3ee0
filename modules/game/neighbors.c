/* Neighbours within a radius, and what flocks make of them. */
#include "op/composite.h"
#include "modules/game/grid/grid.h"
#include "modules/game/program.h"

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/game/ops.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"

#define SORT_POLL 16384

static la_status check_radius(const la_frame *f, int k)
{
    double r = la_arg_float(f, k);
    if (r >= 0) return LA_OK;
    return la_error_at(LA_EARG, k + 1, "radius must be 0 or more, got %g", r);
}

/* Argument 0, points, in a grid for the radius, argument k. */
static la_status grid_of(const la_frame *f, int k, la_grid *g)
{
    la_game_points p = {.x = NULL};
    *g = (la_grid){.n = 0};
    LA_TRY(la_game_check_points(f, 0));
    LA_TRY(check_radius(f, k));
    la_status status = la_game_points_of(f, 0, &p);
    if (!status) status = la_grid_new(g, f, &p, la_arg_float(f, k));
    la_game_points_free(&p);
    return status;
}

/* ---- neighbors(p, radius, max) ---- */

typedef struct near {
    double square;
    int64_t at;               /* the point, from 0 */
} near;

typedef struct search {
    const la_grid *grid;
    int64_t *counts;          /* of each point */
    int64_t most, longest;    /* neighbours to keep; those of a point */
    const int64_t *starts;    /* from 1 */
    int64_t *indices;
} search;

static void count_one(void *context, int64_t j, double square,
                      const double *difference)
{
    (void)j, (void)square, (void)difference;
    ++*(int64_t *)context;
}

/* The neighbours of the point at position i: bits of a list less itself. */
static int64_t count_row(const la_grid *g, int64_t i, la_grid_list *list)
{
    int64_t n = 0;
    la_grid_list_of(g, i, list);
    if (list->n < 0) {
        la_grid_visit_cells(g, i, count_one, &n);
        return n;
    }
    la_grid_list_near(g, i, list);
    for (int64_t w = 0; w < list->n / LA_NEAR_LIST; w++)
        n += __builtin_popcountll(list->near[w]);
    return n - 1;
}

static la_status neighbors_count_rows(void *context, int64_t unit,
                                      char *scratch)
{
    const search *s = context;
    la_grid_list list = la_grid_list_in(s->grid, scratch, false);
    int64_t end = la_min(s->grid->n, (unit + 1) * LA_GRID_UNIT);
    for (int64_t i = unit * LA_GRID_UNIT; i < end && !la_interrupted(); i++)
        s->counts[s->grid->order[i]] = count_row(s->grid, i, &list);
    return la_poll();
}

typedef struct row {
    const la_grid *grid;
    near *list;
    int64_t n, most;
} row;

/* Order by distance, then by number; by number alone. */
static bool neighbors_is_before(const near *a, const near *b, bool by_distance)
{
    if (by_distance && a->square != b->square) return a->square < b->square;
    return a->at < b->at;
}

static void sift(near *list, int64_t i, int64_t n, bool by_distance)
{
    near v = list[i];
    for (int64_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && neighbors_is_before(&list[k], &list[k + 1],
                                             by_distance)) k++;
        if (!neighbors_is_before(&v, &list[k], by_distance)) break;
        list[i] = list[k];
    }
    list[i] = v;
}

/* All, or the 'most' nearest as a heap, the farthest of them first. */
static void note_one(void *context, int64_t j, double square,
                     const double *difference)
{
    row *r = context;
    near v = {square, r->grid->order[j]};
    (void)difference;
    if (r->n < r->most) {
        r->list[r->n++] = v;
        if (r->n == r->most)
            for (int64_t i = r->n / 2 - 1; i >= 0; i--)
                sift(r->list, i, r->n, true);
    } else if (r->n > 0 && neighbors_is_before(&v, &r->list[0], true)) {
        r->list[0] = v;
        sift(r->list, 0, r->n, true);
    }
}

/* Short lists by insertion, others by a heap: no case is slow. */
static void sort_list(near *list, int64_t n)
{
    if (n < 24) {
        for (int64_t i = 1; i < n; i++) {
            near v = list[i];
            int64_t k = i;
            for (; k > 0 && neighbors_is_before(&v, &list[k - 1], false); k--)
                list[k] = list[k - 1];
            list[k] = v;
        }
        return;
    }
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift(list, i, n, false);
    for (int64_t i = n - 1; i > 0; i--) {
        near v = list[0];
        if (i % SORT_POLL == 0 && la_interrupted()) return;
        list[0] = list[i];
        list[i] = v;
        sift(list, 0, i, false);
    }
}

/* The numbers of a list by number that are near the point at position i. */
static void write_listed(const la_grid *g, int64_t i, const la_grid_list *list,
                         int64_t *to)
{
    la_grid_list_near(g, i, list);
    for (int64_t w = 0; w < list->n; w += LA_NEAR_LIST)
        for (uint64_t word = list->near[w / LA_NEAR_LIST]; word;
             word &= word - 1) {
            uint64_t at = list->at[w + __builtin_ctzll(word)];
            if ((int64_t)(at & UINT32_MAX) == i) continue;
            *to++ = (int64_t)(at >> 32) + 1;
        }
}

/* Points of a unit; the scratch is a list of the grid, and the longest of the
** results. */
static la_status neighbors_write_rows(void *context, int64_t unit,
                                      char *scratch)
{
    const search *s = context;
    const la_grid *g = s->grid;
    bool all = s->most >= s->longest;
    la_grid_list list = la_grid_list_in(g, scratch, all);
    near *found = (near *)(scratch + la_grid_list_bytes(g));
    int64_t end = la_min(g->n, (unit + 1) * LA_GRID_UNIT);
    for (int64_t i = unit * LA_GRID_UNIT; i < end && !la_interrupted(); i++) {
        int64_t *to = s->indices + s->starts[g->order[i]] - 1;
        la_grid_list_of(g, i, &list);
        if (all && list.n >= 0) {
            write_listed(g, i, &list, to);
            continue;
        }
        row r = {g, found, 0, s->most};
        la_grid_visit(g, i, &list, note_one, &r);
        sort_list(r.list, r.n);
        if (la_poll_long(r.n)) return LA_OK;      /* not all were found */
        for (int64_t k = 0; k < r.n; k++) to[k] = r.list[k].at + 1;
    }
    return la_poll();
}

/* Starts of the rows, and the number of all neighbours. */
static la_status sum_counts(search *s, int64_t n, int64_t *starts,
                            int64_t *total)
{
    *total = 0;
    LA_EACH_POLLED(i, 0, n) {
        starts[i] = *total + 1;
        s->longest = la_max(s->longest, s->counts[i]);
        *total += la_min(s->counts[i], s->most);
    }
    starts[n] = *total + 1;
    return la_poll();
}

static la_status find_all(la_frame *f, search *s)
{
    int64_t n = s->grid->total, sizes = n + 1, total = 0;
    LA_EACH_POLLED(i, 0, n) s->counts[i] = 0;
    LA_TRY(la_poll());
    int64_t units = la_ceil_div(s->grid->n, LA_GRID_UNIT);
    la_unit_plan plan = {neighbors_count_rows, 1, la_grid_list_bytes(s->grid)};
    LA_TRY(la_iter_units(units, &plan, s));
    LA_TRY(la_set_output(f, 0, 1, &sizes, NULL, LA_INT64));
    int64_t *starts = (int64_t *)la_data(la_result(f, 0));
    LA_TRY(sum_counts(s, n, starts, &total));
    LA_TRY(la_set_output(f, 1, 1, &total, NULL, LA_INT64));
    if (total == 0) return LA_OK;
    s->starts = starts;
    s->indices = (int64_t *)la_data(la_result(f, 1));
    plan.run = neighbors_write_rows;
    plan.bytes += (size_t)la_min(s->longest, s->most) * sizeof(near);
    return la_iter_units(units, &plan, s);
}

la_status la_impl_game_neighbors(la_frame *f)
{
    la_grid g = {.n = 0};
    search s = {.grid = &g, .most = INT64_MAX};
    la_dtype dtype;
    LA_TRY(la_game_dtype(f, (const int[]){0}, 1, &dtype));
    if (la_has(f, 2)) {
        s.most = la_arg_int(f, 2);
        if (s.most < 0)
            return la_error_at(LA_EARG, 3, "max must be 0 or more, got %lld",
                               (long long)s.most);
    }
    la_status status = grid_of(f, 1, &g);
    size_t bytes = (size_t)(g.total + 1) * sizeof(*s.counts);
    if (!status) {
        s.counts = la_mem_alloc(bytes);
        status = s.counts ? find_all(f, &s) : LA_ENOMEM;
    }
    if (s.counts) la_mem_free(s.counts, bytes);
    la_grid_free(&g);
    return status;
}

/* ---- game_sum_near(p, x, radius) ---- */

typedef struct sums {
    const la_grid *grid;
    const double *x;          /* [total][width] */
    double *out;
    int64_t width;
} sums;

typedef struct sum_row { const sums *s; double *out; } sum_row;

static void neighbors_add_one(void *context, int64_t j, double square,
                              const double *difference)
{
    const sum_row *t = context;
    const double *x = t->s->x + t->s->grid->order[j] * t->s->width;
    (void)square, (void)difference;
    for (int64_t k = 0; k < t->s->width; k++) t->out[k] += x[k];
}

static la_status add_rows(void *context, int64_t unit, char *scratch)
{
    const sums *s = context;
    la_grid_list list = la_grid_list_in(s->grid, scratch, false);
    int64_t end = la_min(s->grid->n, (unit + 1) * LA_GRID_UNIT);
    for (int64_t i = unit * LA_GRID_UNIT; i < end && !la_interrupted(); i++) {
        sum_row t = {s, s->out + s->grid->order[i] * s->width};
        la_grid_visit(s->grid, i, &list, neighbors_add_one, &t);
    }
    return la_poll();
}

la_status la_meta_game_sum_near(la_frame *f)
{
    const la_tensor *p = la_arg(f, 0), *x = la_arg(f, 1);
    LA_TRY(la_game_check_points(f, 0));
    LA_TRY(la_require_dtype(f, (la_dtype)x->dtype));
    LA_TRY(check_radius(f, 2));
    if (x->ndim != 2 || la_sizes(x)[0] != la_sizes(p)[0])
        return la_error_at(LA_ESHAPE, 2, "a row for each point expected");
    return la_set_output(f, 0, 2, la_sizes(x), NULL, (la_dtype)x->dtype);
}

la_status la_impl_game_sum_near(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    la_grid g;
    if (out->numel == 0) return LA_OK;
    LA_LET(wide, la_run(astype, &wide, la_arg(f, 1), la_v_dtype(LA_FLOAT64)));
    LA_LET(x, la_run(contiguous, &x, wide));
    LA_LET(y, la_run(zeros, &y, la_v_ints(la_sizes(out), 2),
                     la_v_dtype(LA_FLOAT64)));
    la_status status = grid_of(f, 2, &g);
    if (!status) {
        sums s = {&g, (const double *)la_data(x), (double *)la_data(y),
                  la_sizes(out)[1]};
        la_unit_plan plan = {add_rows, 1, la_grid_list_bytes(&g)};
        status = la_iter_units(la_ceil_div(g.n, LA_GRID_UNIT), &plan, &s);
    }
    la_grid_free(&g);
    if (status) return status;
    return la_run_(copy_, out, y);
}

/* ---- separate, align, cohere ---- */

/* Both points and values in the dtype of the call. */
static la_status read_flock(la_chain *w, const la_frame *f, int n,
                            la_tensor **out)
{
    static const int args[2] = {0, 1};
    la_dtype dtype;
    LA_TRY(la_game_dtype(f, args, n, &dtype));
    LA_TRY(la_game_check_points(f, 0));
    LA_TRY(check_radius(f, n));
    if (n > 1 && !la_same_sizes(la_arg(f, 0), la_arg(f, 1)))
        return la_error_at(LA_ESHAPE, 2, "a velocity for each point, of the "
                           "same shape, expected");
    for (int k = 0; k < n; k++)
        out[k] = R(to_dtype, f->args[k], la_v_dtype(dtype));
    return w->status;
}

/* The mean of x over the neighbours less x; zero where there are none. The
** column of ones counts them. */
static la_tensor *lag(la_chain *w, la_tensor *p, la_tensor *x, double radius)
{
    int64_t n = la_sizes(x)[0], d = la_sizes(x)[1], sizes[2] = {n, 1};
    la_tensor *ones = R(ones, la_v_ints(sizes, 2),
                        la_v_dtype((la_dtype)x->dtype),
                        la_v_device((la_device)x->device));
    la_tensor *list[2] = {x, ones};
    if (w->status) return NULL;
    la_tensor *wide = R(cat, la_v_tensors(list, 2), 1);
    la_tensor *sum = R(game_sum_near, R(detach, p), wide, la_v_float(radius));
    la_tensor *count = R(narrow, R(detach, sum), 1, d, 1);
    la_tensor *none = R(eq, count, 0);
    la_tensor *mean = R(div, R(narrow, sum, 1, 0, d), R(clamp_min, count, 1));
    return R(masked_fill, R(sub, mean, x), none, la_scalar_int(0));
}

/* cohere(p, radius) */
la_status la_impl_game_cohere(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *in[1];
    LA_TRY(read_flock(w, f, 1, in));
    return la_chain_end(w, f, lag(w, in[0], in[0], la_arg_float(f, 1)));
}

/* align(p, v, radius) */
la_status la_impl_game_align(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *in[2];
    LA_TRY(read_flock(w, f, 2, in));
    return la_chain_end(w, f, lag(w, in[0], in[1], la_arg_float(f, 2)));
}

/* The points that are the first of each pair, from 1. */
static la_tensor *firsts_of(la_chain *w, const la_tensor *starts)
{
    const int64_t *s = (const int64_t *)la_data(starts);
    int64_t n = starts->numel - 1, total = s[n] - 1;
    la_tensor *t = NULL;
    w->status = la_tensor_empty(1, &total, LA_INT64, &t);
    if (w->status) return NULL;
    la_chain_own(w, t);
    int64_t *to = (int64_t *)la_data(t);
    LA_EACH_POLLED(i, 0, n)
        for (int64_t k = s[i]; k < s[i + 1]; k++) to[k - 1] = i + 1;
    w->status = la_poll();
    return t;
}

/* game_push_apart(p, radius): the sum over neighbours of (p_i - p_j) by the
** square of the distance, pair by pair, so that each has its derivative. Pairs
** of no distance have no direction and push nobody. */
la_status la_impl_game_push_apart(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *p = la_arg(f, 0);
    la_value r[LA_MAX_RESULTS] = {{.tag = LA_VNONE}};
    la_tensor *fixed = R(detach, p);
    if (w->status) return w->status;
    LA_TRY(la_run_many(game_neighbors, r, fixed, f->args[1]));
    la_chain_own(w, r[0].tensor);
    la_chain_own(w, r[1].tensor);
    la_tensor *first = firsts_of(w, r[0].tensor);
    la_tensor *away = R(sub, R(index_select, p, 0, first),
                        R(index_select, p, 0, r[1].tensor));
    la_tensor *list[2] = {away, away}, *square = NULL;
    if (w->status) return w->status;
    LA_TRY(la_run_rows(LA_PROGRAM_dot, 2, list, NULL, 0, &square));
    la_chain_own(w, square);
    la_tensor *none = R(eq, R(detach, square), 0);
    square = R(masked_fill, square, none, la_scalar_int(1));
    la_tensor *push = R(div, away, square);
    la_tensor *zero = R(zeros_like, p);
    return la_chain_end(w, f, R(index_add, zero, 0, first, push));
}

/* separate(p, radius) */
la_status la_impl_game_separate(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *p;
    LA_TRY(read_flock(w, f, 1, &p));
    la_tensor *push = p->device == LA_META
        ? R(zeros_like, p) : R(game_push_apart, p, f->args[1]);
    return la_chain_end(w, f, push);
}
