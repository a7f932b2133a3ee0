/* Points in cells of a grid; see grid.h. */
#include "op/game/grid.h"

#include <math.h>

#include "base/memory.h"
#include "base/pool.h"

#define PIECE ((int64_t)1 << 15)   /* points, each a miss of the caches */

/* What a grid of so many points takes, as one block behind 'starts'. */
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

static double largest(const la_game_points *p)
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
static la_status count(la_grid *g, const la_game_points *p, double size)
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
static void put(la_grid *g, const la_game_points *p, double size, int64_t i)
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
static la_status fill(la_grid *g, const la_game_points *p, double size)
{
    int64_t buckets = (int64_t)g->mask + 1, n = p->n;
    LA_TRY(count(g, p, size));
    for (int64_t k = 0, end; (end = la_poll_part(k, n, PIECE)) > k; k = end)
        for (; k < end; k++) put(g, p, size, n - 1 - k);
    LA_TRY(la_poll());
    /* starts[b + 1] is now where bucket b begins. */
    LA_EACH_POLLED(b, 0, buckets) g->starts[b] = g->starts[b + 1];
    g->starts[g->mask + 1] = g->n;
    return la_poll();
}

la_status la_grid_new(la_grid *g, const la_game_points *p, double radius)
{
    double size = radius * (1 + 0x1p-10), least = largest(p) * 0x1p-40;
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
    return fill(g, p, size);
}
