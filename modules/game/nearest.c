/*
** The k nearest points, by a k-d tree (J. Bentley, 1975): the points in an
** order in which the middle of every range divides it along one axis. Points
** with a coordinate that is no number, or infinite, come after all others.
*/
#include <math.h>
#include <stdatomic.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/composite.h"
#include "modules/game/game.h"
#include "modules/game/program.h"

#define LA_ROWS "modules/game/ops.def"
#include "base/runtime/interrupt.h"
#include "op/frame.h"
#include "op/cost/fuel.h"
#include "op/impls.h"

#define LEAF 8                /* points that are looked through as they are */
#define BATCH 16
#define QUERY_POLL 16384
#define PAID_UNITS 16         /* batches between two payments of fuel */

typedef struct tree {
    const double *x;          /* [n][d] */
    int64_t n, valid;         /* points; those with finite coordinates */
    int d;
    int64_t *order;           /* the valid ones as a tree, then the others */
    double *sorted;           /* [valid][d]: x of the valid ones in order */
    uint8_t *axis;            /* of the middle of a range */
} tree;

/* ---- building ---- */

static double coordinate(const tree *t, int64_t i, int axis)
{
    return t->x[t->order[i] * t->d + axis];
}

/* The axis along which points lo .. hi - 1 reach farthest, the first of
** several. */
static int widest(const tree *t, int64_t lo, int64_t hi)
{
    double most = -1;
    int best = 0;
    for (int a = 0; a < t->d; a++) {
        double least = coordinate(t, lo, a), largest = least;
        LA_EACH_POLLED(i, lo + 1, hi) {
            double v = coordinate(t, i, a);
            least = v < least ? v : least;
            largest = v > largest ? v : largest;
        }
        if (largest - least > most) {
            most = largest - least;
            best = a;
        }
    }
    return best;
}

static void nearest_swap(int64_t *p, int64_t i, int64_t j)
{
    int64_t v = p[i];
    p[i] = p[j];
    p[j] = v;
}

/* Splits lo .. hi - 1 at the point that has 'middle' behind smaller coordinates
** and before larger ones (C. Hoare's selection, pivots in the middle of the
** range first, then mixed from how many there were). */
static void nearest_divide(const tree *t, int64_t lo, int64_t hi,
                           int64_t middle, int axis)
{
    int64_t last = hi - 1;
    for (uint32_t k = 0; lo < last && !la_interrupted(); k++) {
        int64_t left = la_poll_every(last - lo);
        int64_t at = lo + (last - lo) / 2, i = lo, j = last, size = last - lo;
        if (k > 0) at = lo + (int64_t)(la_game_bits(k) % (uint64_t)size);
        double pivot = coordinate(t, at, axis);
        while (i <= j) {
            int64_t begin = j - i;
            while (coordinate(t, i, axis) < pivot) i++;
            while (coordinate(t, j, axis) > pivot) j--;
            if (i <= j) nearest_swap(t->order, i++, j--);
            if (la_poll_run(&left, begin - (j - i))) return;
        }
        if (middle <= j) last = j;
        else if (middle >= i) lo = i;
        else return;
    }
}

/* Ranges that are left to do wait on a stack: each is at most half of the one
** before, but for the last. */
static la_status nearest_build(tree *t)
{
    int64_t stack[128], top = 0;
    stack[top++] = 0;
    stack[top++] = t->valid;
    while (top > 0) {
        int64_t hi = stack[--top], lo = stack[--top];
        if (hi - lo <= LEAF) continue;
        int64_t middle = lo + (hi - lo) / 2;
        int axis = widest(t, lo, hi);
        nearest_divide(t, lo, hi, middle, axis);
        LA_TRY(la_poll());
        t->axis[middle] = (uint8_t)axis;
        stack[top++] = lo;
        stack[top++] = middle;
        stack[top++] = middle + 1;
        stack[top++] = hi;
    }
    return LA_OK;
}

static bool nearest_is_finite(const double *x, int d)
{
    double sum = 0;
    for (int k = 0; k < d; k++) sum += x[k] - x[k];
    return sum == 0;
}

static size_t tree_bytes(int64_t n, int d)
{
    return (size_t)(n + 1) * (sizeof(int64_t) + (size_t)d * sizeof(double) + 1);
}

static la_status plant(tree *t, const la_game_points *p)
{
    *t = (tree){.x = p->x, .n = p->n, .d = p->d};
    t->order = la_mem_alloc(tree_bytes(p->n, p->d));
    if (!t->order) return LA_ENOMEM;
    t->sorted = (double *)(t->order + p->n + 1);
    t->axis = (uint8_t *)(t->sorted + (p->n + 1) * p->d);
    LA_EACH_POLLED(i, 0, p->n)
        if (nearest_is_finite(p->x + i * p->d, p->d)) t->order[t->valid++] = i;
    int64_t at = t->valid;
    LA_TRY(la_poll());
    LA_EACH_POLLED(i, 0, p->n)
        if (!nearest_is_finite(p->x + i * p->d, p->d)) t->order[at++] = i;
    LA_TRY(nearest_build(t));
    LA_EACH_POLLED(i, 0, t->valid)
        for (int k = 0; k < t->d; k++)
            t->sorted[i * t->d + k] = t->x[t->order[i] * t->d + k];
    return la_poll();
}

/* ---- asking ---- */

typedef struct candidate {
    double square;
    int64_t at;
} candidate;

/* The nearest so far, a heap: the farthest of them first. */
typedef struct query {
    const tree *t;
    const double *x;
    candidate *heap;
    int64_t n, k, left;       /* points until the next look at the interrupt */
    int64_t tested;
    bool stopped;
} query;

static bool is_farther(candidate a, candidate b)
{
    return a.square > b.square || (a.square == b.square && a.at > b.at);
}

static void sink(candidate *h, int64_t i, int64_t n)
{
    candidate v = h[i];
    for (int64_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && is_farther(h[c + 1], h[c])) c++;
        if (!is_farther(h[c], v)) break;
        h[i] = h[c];
    }
    h[i] = v;
}

/* The point at position i of the tree. */
static inline void nearest_offer(query *q, int64_t i)
{
    const double *y = q->t->sorted + i * q->t->d;
    candidate v = {0, q->t->order[i]};
    for (int k = 0; k < q->t->d; k++)
        v.square += (y[k] - q->x[k]) * (y[k] - q->x[k]);
    if (q->n == q->k) {
        if (!is_farther(q->heap[0], v)) return;
        q->heap[0] = v;
        sink(q->heap, 0, q->n);
        return;
    }
    int64_t at = q->n++;
    for (; at > 0 && is_farther(v, q->heap[(at - 1) / 2]); at = (at - 1) / 2)
        q->heap[at] = q->heap[(at - 1) / 2];
    q->heap[at] = v;
}

/* All of lo .. hi - 1 that may be among the nearest. A side is left out where
** its border alone is too far; equal distances are not, as the number of the
** point decides then. */
static void nearest_walk(query *q, int64_t lo, int64_t hi)
{
    if (la_poll_run(&q->left, 1)) q->stopped = true;
    while (hi - lo > LEAF && !q->stopped) {
        int64_t middle = lo + (hi - lo) / 2;
        int axis = q->t->axis[middle];
        double gap = q->x[axis] - q->t->sorted[middle * q->t->d + axis];
        if (gap < 0) nearest_walk(q, lo, middle);
        else nearest_walk(q, middle + 1, hi);
        nearest_offer(q, middle);
        q->tested++;
        if (q->n == q->k && gap * gap > q->heap[0].square) return;
        if (gap < 0) lo = middle + 1;
        else hi = middle;
    }
    for (int64_t i = lo; i < hi && !q->stopped; i++)
        nearest_offer(q, i);
    q->tested += hi - lo;
}

typedef struct asked {
    tree t;
    const la_game_points *queries;
    int64_t *out, k, first;   /* batches begin at 'first' */
    atomic_int_fast64_t tested;     /* points */
} asked;

static la_status ask_batch(void *context, int64_t unit, char *scratch)
{
    asked *a = context;
    int64_t tested = 0, begin = (a->first + unit) * BATCH;
    int64_t end = la_min(a->queries->n, begin + BATCH);
    for (int64_t i = begin; i < end; i++) {
        query q = {&a->t, a->queries->x + i * a->t.d, (candidate *)scratch, 0,
                   la_min(a->k, a->t.valid), QUERY_POLL, 0, false};
        int64_t *out = a->out + i * a->k, n = q.k;
        if (nearest_is_finite(q.x, a->t.d)) {
            if (n > 0) nearest_walk(&q, 0, a->t.valid);
            while (q.n > 0 && (q.n % QUERY_POLL != 0 || !la_interrupted())) {
                out[q.n - 1] = q.heap[0].at + 1;
                q.heap[0] = q.heap[--q.n];
                sink(q.heap, 0, q.n);
            }
        } else {
            n = 0;            /* no point is nearer than another */
        }
        for (int64_t j = n; j < a->k; j++)
            out[j] = (n > 0 ? a->t.order[a->t.valid + j - n] : j) + 1;
        tested += q.tested + a->k;
    }
    atomic_fetch_add_explicit(&a->tested, tested, memory_order_relaxed);
    return LA_OK;
}

/* How many points a query is compared with shows itself only then: where fuel
** is counted, some batches are run and paid for, and then the next ones. */
static la_status ask_all(const la_frame *f, asked *a)
{
    la_unit_plan plan = {ask_batch, 4, (size_t)a->k * sizeof(candidate)};
    int64_t units = la_ceil_div(a->queries->n, BATCH);
    if (!la_fuel_running) return la_iter_units(units, &plan, a);
    for (; a->first < units; a->first += PAID_UNITS) {
        LA_TRY(la_iter_units(la_min(PAID_UNITS, units - a->first), &plan, a));
        LA_TRY(la_fuel_more(f, la_fuel_times(a->tested, LA_GAME_PAIR)));
        a->tested = 0;
    }
    return LA_OK;
}

/* ---- game_nearest_index(p, queries, k) ---- */

/* (p, queries, k) of both operations. */
static la_status check_call(const la_frame *f)
{
    const la_tensor *p = la_arg(f, 0), *q = la_arg(f, 1);
    int64_t k = la_arg_int(f, 2);
    LA_TRY(la_game_check_points(f, 0));
    LA_TRY(la_game_check_points(f, 1));
    if (la_sizes(p)[1] != la_sizes(q)[1])
        return la_error_at(LA_ESHAPE, 2, "queries of %lld components, as the "
                           "points, expected", (long long)la_sizes(p)[1]);
    if (k >= 0 && k <= la_sizes(p)[0]) return LA_OK;
    return la_error_at(LA_EARG, 3, "k must be 0 to %lld, the number of "
                       "points, got %lld", (long long)la_sizes(p)[0],
                       (long long)k);
}

la_status la_meta_game_nearest_index(la_frame *f)
{
    LA_TRY(check_call(f));
    int64_t sizes[2] = {la_sizes(la_arg(f, 1))[0], la_arg_int(f, 2)};
    return la_set_output(f, 0, 2, sizes, NULL, LA_INT64);
}

la_status la_impl_game_nearest_index(la_frame *f)
{
    la_game_points p = {.x = NULL}, q = {.x = NULL};
    la_tensor *out = la_result(f, 0);
    if (out->numel == 0) return LA_OK;
    asked a = {.queries = &q, .out = (int64_t *)la_data(out),
               .k = la_arg_int(f, 2)};
    la_status status = la_game_points_of(f, 0, &p);
    if (!status) status = la_game_points_of(f, 1, &q);
    if (!status) status = plant(&a.t, &p);
    if (!status) status = ask_all(f, &a);
    if (a.t.order) la_mem_free(a.t.order, tree_bytes(a.t.n, a.t.d));
    la_game_points_free(&p);
    la_game_points_free(&q);
    return status;
}

/* nearest(p, queries, k): distances as a program of what was found, so that
** they have derivatives. */
la_status la_impl_game_nearest(la_frame *f)
{
    LA_CHAIN(w);
    static const int args[2] = {0, 1};
    la_dtype dtype;
    LA_TRY(la_game_dtype(f, args, 2, &dtype));
    LA_TRY(check_call(f));
    la_tensor *p = R(to_dtype, f->args[0], la_v_dtype(dtype));
    la_tensor *q = R(to_dtype, f->args[1], la_v_dtype(dtype));
    la_tensor *index = R(game_nearest_index, p, q, f->args[2]);
    if (w->status) return w->status;
    int64_t sizes[3] = {la_sizes(q)[0], la_arg_int(f, 2), la_sizes(q)[1]};
    la_tensor *found = R(index_select, p, 0, R(flatten, index, 0, -1));
    found = R(reshape, found, la_v_ints(sizes, 3));
    la_tensor *distance = R(game_distance, found, R(unsqueeze, q, 1));
    if (w->status) return w->status;
    la_set_result(f, 0, la_tensor_retain(distance));
    la_set_result(f, 1, la_tensor_retain(index));
    return LA_OK;
}
