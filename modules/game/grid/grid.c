/* Points in cells of a grid; see grid.h. */
#include "modules/game/grid/grid.h"

#include <math.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/cost/fuel.h"

#define PIECE ((int64_t)1 << 15)   /* points, each a miss of the caches */

/* Bytes of a grid of so many points, as one block behind 'starts'. */
static size_t bytes_of(const la_grid *g, int64_t points)
{
    return (size_t)(g->mask + 2) * sizeof(*g->starts) + (size_t)points
        * (sizeof(*g->order) + sizeof(*g->x) + sizeof(*g->cell));
}

void la_grid_free(la_grid *g)
{
    if (g->starts) la_mem_free(g->starts, bytes_of(g, g->total));
    g->starts = NULL;
}

static bool is_finite(const double *x, int d)
{
    double sum = 0;
    for (int k = 0; k < d; k++) sum += x[k] - x[k];
    return sum == 0;
}

static double grid_largest(const la_game_points *p)
{
    double most = 0;
    LA_EACH_POLLED(i, 0, p->n)
        for (int k = 0; k < p->d && is_finite(p->x + i * p->d, p->d); k++) {
            double x = fabs(p->x[i * p->d + k]);
            most = x > most ? x : most;
        }
    return most;
}

/* The quotient is within 2^41. */
static int64_t floor_of(double x)
{
    int64_t i = (int64_t)x;
    return (double)i > x ? i - 1 : i;
}

static la_grid_cell cell_of(const la_grid *g, const double *x, double size)
{
    la_grid_cell c = {{0}};
    for (int k = 0; k < g->d; k++) c.at[k] = floor_of(x[k] / size);
    return c;
}

/* How many are in each bucket, summed up: the end of bucket b is at b + 1. */
static la_status grid_count(la_grid *g, const la_game_points *p, double size)
{
    int64_t buckets = (int64_t)g->mask + 1;
    LA_EACH_POLLED(b, 0, buckets + 1) g->starts[b] = 0;
    LA_TRY(la_poll());
    for (int64_t i = 0, end; (end = la_poll_part(i, p->n, PIECE)) > i; i = end)
        for (; i < end; i++) {
            const double *x = p->x + i * p->d;
            if (!is_finite(x, p->d)) continue;
            la_grid_cell c = cell_of(g, x, size);
            g->starts[la_grid_bucket(g, c.at[0], c.at[1], c.at[2]) + 1]++;
            g->n++;
        }
    LA_TRY(la_poll());
    LA_EACH_POLLED(b, 0, buckets) g->starts[b + 1] += g->starts[b];
    return la_poll();
}

/* Point i to the end of what is left of its bucket. */
static void grid_put(la_grid *g, const la_game_points *p, double size,
                     int64_t i)
{
    const double *x = p->x + i * p->d;
    if (!is_finite(x, p->d)) return;
    la_grid_cell c = cell_of(g, x, size);
    uint64_t b = la_grid_bucket(g, c.at[0], c.at[1], c.at[2]);
    int64_t at = --g->starts[b + 1];
    g->order[at] = i;
    g->cell[at] = c;
    for (int a = 0; a < 3; a++) g->x[at][a] = a < p->d ? x[a] : 0;
}

/* Counted and put in order: within a bucket by their numbers. */
static la_status grid_fill(la_grid *g, const la_game_points *p, double size)
{
    int64_t buckets = (int64_t)g->mask + 1, n = p->n;
    LA_TRY(grid_count(g, p, size));
    for (int64_t k = 0, end; (end = la_poll_part(k, n, PIECE)) > k; k = end)
        for (; k < end; k++) grid_put(g, p, size, n - 1 - k);
    LA_TRY(la_poll());
    /* starts[b + 1] is now where bucket b begins. */
    LA_EACH_POLLED(b, 0, buckets) g->starts[b] = g->starts[b + 1];
    g->starts[g->mask + 1] = g->n;
    return la_poll();
}

/* Bucket of cell k around c. */
static uint64_t bucket_near(const la_grid *g, const la_grid_cell *c, int64_t k)
{
    return la_grid_bucket(g, c->at[0] + k % 3 - 1, c->at[1] + k / 3 % 3 - 1,
                          c->at[2] + (g->d == 3 ? k / 9 - 1 : 0));
}

/* Each point is compared with all in the buckets of the cells around its own.
** Those of one cell often follow each other. */
static la_status pay_pairs(const la_frame *f, const la_grid *g)
{
    int64_t pairs = 0, around = 0;
    if (!la_fuel_running) return LA_OK;
    LA_EACH_POLLED(i, 0, g->n) {
        const la_grid_cell *c = &g->cell[i];
        bool same = i > 0 && memcmp(c, c - 1, sizeof *c) == 0;
        if (!same) around = 0;
        for (int64_t k = 0; k < (g->d == 3 ? 27 : 9) && !same; k++) {
            uint64_t b = bucket_near(g, c, k);
            around += g->starts[b + 1] - g->starts[b];
        }
        pairs += around;
    }
    LA_TRY(la_poll());
    return la_fuel_more(f, pairs * LA_GAME_PAIR + 64 * g->n);
}

la_status la_grid_new(la_grid *g, const la_frame *f, const la_game_points *p,
                      double radius)
{
    double size = radius * (1 + 0x1p-10), least = grid_largest(p) * 0x1p-40;
    *g = (la_grid){.d = p->d, .square = radius * radius, .mask = 15,
                   .total = p->n};
    while ((int64_t)g->mask < p->n) g->mask = 2 * g->mask + 1;
    if (!(size > least)) size = least;
    if (!(size > 0) || !(size < 1e300)) size = size > 0 ? 1e300 : 1;
    size_t bytes = bytes_of(g, p->n);
    char *block = la_mem_alloc(bytes);
    if (!block) return LA_ENOMEM;
    g->starts = (int64_t *)block;
    g->order = g->starts + g->mask + 2;
    g->x = (void *)(g->order + p->n);
    g->cell = (void *)(g->x + p->n);
    LA_TRY(grid_fill(g, p, size));
    return pay_pairs(f, g);
}

/* ---- the points around a cell ---- */

#define MOST_LISTED ((int64_t)8192)      /* 400 KB of lists */

static int64_t list_capacity(const la_grid *g)
{
    int64_t n = la_min(g->n, MOST_LISTED);
    return (n + LA_NEAR_LIST - 1) / LA_NEAR_LIST * LA_NEAR_LIST;
}

size_t la_grid_list_bytes(const la_grid *g)
{
    size_t n = (size_t)list_capacity(g);
    return n * 5 * sizeof(double) + n / LA_NEAR_LIST * sizeof(uint64_t);
}

la_grid_list la_grid_list_in(const la_grid *g, char *memory, bool by_number)
{
    int64_t n = list_capacity(g);
    double *x = (double *)memory;
    uint64_t *at = (uint64_t *)(x + 3 * n);
    return (la_grid_list){.x = x, .y = x + n, .z = x + 2 * n, .at = at,
                          .spare = at + n, .near = at + 2 * n,
                          .capacity = n, .by_number = by_number};
}

/* Positions of all in the cells around c: how many, or -1 where they are more
** than fit. */
static int64_t grid_gather(const la_grid *g, const la_grid_cell *c,
                           uint64_t *out, int64_t capacity)
{
    int64_t n = 0, deep = g->d == 3;
    for (int64_t k = 0; k < (deep ? 27 : 9); k++) {
        int64_t x = c->at[0] + k % 3 - 1, y = c->at[1] + k / 3 % 3 - 1;
        int64_t z = c->at[2] + (deep ? k / 9 - 1 : 0);
        uint64_t bucket = la_grid_bucket(g, x, y, z);
        int64_t first = g->starts[bucket], end = g->starts[bucket + 1];
        if (end - first > capacity - n) return -1;
        for (int64_t j = first; j < end; j++) {
            const int64_t *at = g->cell[j].at;
            out[n] = (uint64_t)j;
            n += at[0] == x && at[1] == y && at[2] == z;
        }
    }
    return n;
}

/* Sorts by the upper halves, which are below 'limit'; where that goes byte by
** byte, through 'spare'. */
static void sort_upper(uint64_t *list, uint64_t *spare, int64_t n,
                       uint64_t limit)
{
    if (n < 48) {
        for (int64_t i = 1; i < n; i++) {
            uint64_t v = list[i];
            int64_t k = i;
            for (; k > 0 && v < list[k - 1]; k--) list[k] = list[k - 1];
            list[k] = v;
        }
        return;
    }
    uint64_t *from = list, *to = spare;
    for (int shift = 32; limit > 0; limit >>= 8, shift += 8) {
        int32_t counts[256] = {0}, sum = 0;
        for (int64_t i = 0; i < n; i++) counts[from[i] >> shift & 255]++;
        for (int b = 0; b < 256; b++) {
            int32_t count = counts[b];
            counts[b] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++)
            to[counts[from[i] >> shift & 255]++] = from[i];
        uint64_t *other = from;
        from = to;
        to = other;
    }
    if (from != list) memcpy(list, from, (size_t)n * sizeof(*list));
}

void la_grid_list_of(const la_grid *g, int64_t i, la_grid_list *list)
{
    const la_grid_cell *c = &g->cell[i];
    if (list->any && memcmp(c, &list->cell, sizeof *c) == 0) return;
    list->any = true;
    list->cell = *c;
    list->n = -1;
    if (g->total > (int64_t)INT32_MAX) return;
    int64_t n = grid_gather(g, c, list->at, list->capacity);
    if (n < 0) return;
    if (list->by_number) {
        for (int64_t k = 0; k < n; k++)
            list->at[k] |= (uint64_t)g->order[list->at[k]] << 32;
        sort_upper(list->at, list->spare, n, (uint64_t)g->total);
    }
    for (int64_t k = 0; k < n; k++) {
        const double *x = g->x[list->at[k] & UINT32_MAX];
        list->x[k] = x[0];
        list->y[k] = x[1];
        list->z[k] = x[2];
    }
    for (; n % LA_NEAR_LIST; n++)
        list->x[n] = list->y[n] = list->z[n] = (double)NAN;
    list->n = n;
}

void la_grid_list_near(const la_grid *g, int64_t i, const la_grid_list *list)
{
    la_game_near q = {list->x, list->y, list->z, list->n,
                      {g->x[i][0], g->x[i][1], g->x[i][2]}, g->square,
                      list->near};
    LA_STUB(game_near)->near(&q);
}
