/* Points in cells of a grid; see grid.h. */
#include "op/game/grid.h"

#include <math.h>

#include "base/memory.h"
#include "base/pool.h"

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
    for (int64_t i = 0; i < p->n; i++)
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

/* Counted, summed up and put in order: within a bucket by their numbers. */
static la_status fill(la_grid *g, const la_game_points *p, double size)
{
    memset(g->starts, 0, (size_t)(g->mask + 2) * sizeof(*g->starts));
    for (int64_t i = 0; i < p->n; i++) {
        const double *x = p->x + i * p->d;
        if (!is_finite(x, p->d)) continue;
        la_grid_cell c = cell_of(g, x, size);
        g->starts[la_grid_bucket(g, c.at[0], c.at[1], c.at[2]) + 1]++;
        g->n++;
    }
    for (uint64_t b = 0; b <= g->mask; b++) g->starts[b + 1] += g->starts[b];
    LA_TRY(la_poll());
    for (int64_t i = p->n - 1; i >= 0; i--) {
        const double *x = p->x + i * p->d;
        if (!is_finite(x, p->d)) continue;
        la_grid_cell c = cell_of(g, x, size);
        uint64_t b = la_grid_bucket(g, c.at[0], c.at[1], c.at[2]);
        int64_t at = --g->starts[b + 1];
        g->order[at] = i;
        g->cell[at] = c;
        for (int k = 0; k < 3; k++) g->x[at][k] = k < p->d ? x[k] : 0;
    }
    /* starts[b + 1] is now where bucket b begins. */
    for (uint64_t b = 0; b <= g->mask; b++) g->starts[b] = g->starts[b + 1];
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
