/*
** Points in cells of a uniform grid, which are found by hashing: memory depends
** on the number of points alone. Cells are no smaller than the radius that is
** asked for, nor than 2^-40 of the largest coordinate, so neighbours lie in
** adjacent ones whatever was rounded. Points with a coordinate that is no
** number, or infinite, are in no cell: they have no neighbours.
**
** The order in which neighbours are visited depends on the points alone.
*/
#ifndef LA_OP_GAME_GRID_H
#define LA_OP_GAME_GRID_H

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "modules/game/kernel/near.h"
#include "modules/game/game.h"

#define LA_GRID_UNIT 128      /* positions that a thread takes at a time */

typedef struct la_grid_cell { int64_t at[3]; } la_grid_cell;

typedef struct la_grid {
    int64_t n;                /* points in cells; 'total' with all others */
    int64_t total;
    int d;
    double square;            /* of the radius */
    uint64_t mask;            /* buckets less one */
    int64_t *starts;          /* [buckets + 1]: points of each in 'order' */
    int64_t *order;           /* [n]: the point (from 0) at each position */
    double (*x)[3];           /* [n]: its coordinates */
    la_grid_cell *cell;       /* [n]: its cell */
} la_grid;

/* The call, of 'f', pays for the pairs that will be compared. The caller ends
** with la_grid_free, also after a failure. */
la_status la_grid_new(la_grid *g, const la_frame *f, const la_game_points *p,
                      double radius);
void la_grid_free(la_grid *g);

static inline uint64_t la_grid_bucket(const la_grid *g, int64_t x, int64_t y,
                                      int64_t z)
{
    uint64_t h = (uint64_t)y * 0x9e3779b97f4a7c15u
        + (uint64_t)z * 0xc2b2ae3d27d4eb4fu;
    return ((h ^ (h >> 29)) + (uint64_t)x) & g->mask;
}

/* Points in the cells around one: one coordinate after another, so that all in
** the cell are compared with them quickly. */
typedef struct la_grid_list {
    double *x, *y, *z;
    uint64_t *at, *spare;     /* positions in the grid's order; in lists by
                              ** number, the number is in the upper half */
    uint64_t *near;           /* bits */
    int64_t n;                /* < 0: too many, there is no list */
    int64_t capacity;
    bool by_number;           /* in the order of the points' numbers */
    bool any;                 /* 'cell' is set */
    la_grid_cell cell;
} la_grid_list;

/* The memory of a list for this grid, and a list in it, in the order of
** la_grid_visit or of the points' numbers. */
size_t la_grid_list_bytes(const la_grid *g);
la_grid_list la_grid_list_in(const la_grid *g, char *memory, bool by_number);
/* Make it the list of the cell of the point at position i. */
void la_grid_list_of(const la_grid *g, int64_t i, la_grid_list *list);
/* The bits of those within the radius of the point at position i, itself
** included. */
void la_grid_list_near(const la_grid *g, int64_t i, const la_grid_list *list);

/* A neighbour at position j of the grid's order: the square of its distance,
** and the difference of it and the point whose neighbour it is. */
typedef void la_grid_fn(void *context, int64_t j, double square,
                        const double *difference);

static inline __attribute__((always_inline)) void la_grid_visit_cells(
    const la_grid *g, int64_t i, la_grid_fn *fn, void *context)
{
    const double *x = g->x[i];
    la_grid_cell c = g->cell[i];
    int64_t deep = g->d == 3;
    for (int64_t k = 0; k < (deep ? 27 : 9); k++) {
        int64_t cx = c.at[0] + k % 3 - 1, cy = c.at[1] + k / 3 % 3 - 1;
        int64_t cz = c.at[2] + (deep ? k / 9 - 1 : 0);
        uint64_t bucket = la_grid_bucket(g, cx, cy, cz);
        LA_EACH_POLLED(j, g->starts[bucket], g->starts[bucket + 1]) {
            const double *y = g->x[j];
            double v[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
            double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
            const int64_t *at = g->cell[j].at;
            if (square <= g->square && j != i && at[0] == cx && at[1] == cy
                && at[2] == cz)
                fn(context, j, square, v);
        }
    }
}

/* Calls 'fn', a constant, for all within the radius of the point at position i,
** itself left out. Points that follow each other share the list. */
static inline __attribute__((always_inline)) void la_grid_visit(
    const la_grid *g, int64_t i, la_grid_list *list, la_grid_fn *fn,
    void *context)
{
    const double *x = g->x[i];
    la_grid_list_of(g, i, list);
    if (list->n < 0) {
        la_grid_visit_cells(g, i, fn, context);
        return;
    }
    la_grid_list_near(g, i, list);
    for (int64_t w = 0; w < list->n; w += LA_NEAR_LIST)
        for (uint64_t word = list->near[w / LA_NEAR_LIST]; word;
             word &= word - 1) {
            int64_t k = w + __builtin_ctzll(word);
            int64_t j = (int64_t)(list->at[k] & UINT32_MAX);
            double v[3] = {list->x[k] - x[0], list->y[k] - x[1],
                           list->z[k] - x[2]};
            double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
            if (j != i) fn(context, j, square, v);
        }
}

#endif
