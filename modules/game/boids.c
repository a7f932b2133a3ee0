/*
** A step of a flock in one call (C. Reynolds, 1987): for each boid the sums
** over its neighbours, the force, the new velocity and position, in double.
*/
#include <math.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "modules/game/grid/grid.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/game/ops.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"

enum { P, V, DT, RADIUS, SEPARATE, ALIGN, COHERE, SPEED, FORCE, ARGS };

typedef struct flock {
    la_grid grid;
    la_game_points v;
    double *out[2];           /* positions and velocities */
    double options[ARGS];
} flock;

typedef struct sums {
    const flock *s;
    double away[3], velocity[3], middle[3];
    int64_t n;
} sums;

static void add_one(void *context, int64_t j, double square,
                    const double *difference)
{
    sums *t = context;
    const double *v = t->s->v.x + t->s->grid.order[j] * t->s->v.d;
    double by = square > 0 ? 1 / square : 0;
    for (int k = 0; k < t->s->v.d; k++) {
        t->away[k] -= difference[k] * by;
        t->middle[k] += difference[k];
        t->velocity[k] += v[k];
    }
    t->n++;
}

static void boids_clamp(double *v, int d, double most)
{
    double square = 0;
    for (int k = 0; k < d; k++) square += v[k] * v[k];
    if (!(square > most * most)) return;
    double by = most / sqrt(square);
    for (int k = 0; k < d; k++) v[k] *= by;
}

/* Boid 'at' with position x: what it does after its sums. */
static void boids_move(const flock *s, const sums *t, int64_t at,
                       const double *x)
{
    const double *o = s->options;
    int d = s->v.d;
    const double *v = s->v.x + at * d;
    double force[3], next[3], n = t->n > 0 ? 1 / (double)t->n : 0;
    for (int k = 0; k < d; k++) {
        double align = t->n > 0 ? t->velocity[k] * n - v[k] : 0;
        force[k] = o[SEPARATE] * t->away[k] + o[ALIGN] * align
            + o[COHERE] * (t->middle[k] * n);
    }
    boids_clamp(force, d, o[FORCE]);
    for (int k = 0; k < d; k++) next[k] = v[k] + force[k] * o[DT];
    boids_clamp(next, d, o[SPEED]);
    for (int k = 0; k < d; k++) {
        s->out[0][at * d + k] = x[k] + next[k] * o[DT];
        s->out[1][at * d + k] = next[k];
    }
}

static la_status run_boids(void *context, int64_t unit, char *scratch)
{
    const flock *s = context;
    la_grid_list list = la_grid_list_in(&s->grid, scratch, false);
    int64_t end = la_min(s->grid.n, (unit + 1) * LA_GRID_UNIT);
    for (int64_t i = unit * LA_GRID_UNIT; i < end && !la_interrupted(); i++) {
        sums t = {.s = s};
        la_grid_visit(&s->grid, i, &list, add_one, &t);
        boids_move(s, &t, s->grid.order[i], s->grid.x[i]);
    }
    return la_poll();
}

/* Those in no cell go on alone. */
static void run_alone(const flock *s, const la_game_points *p)
{
    sums none = {.n = 0};
    LA_EACH_POLLED(i, 0, p->n) {
        double sum = 0;
        for (int k = 0; k < p->d; k++)
            sum += p->x[i * p->d + k] - p->x[i * p->d + k];
        if (sum != 0) boids_move(s, &none, i, p->x + i * p->d);
    }
}

/* (p, v, dt, radius, separate, align, cohere, speed, force) */
la_status la_meta_game_boids(la_frame *f)
{
    static const char *const names[] = {"radius", "speed", "force"};
    static const int limits[] = {RADIUS, SPEED, FORCE}, args[] = {P, V};
    const la_tensor *p = la_arg(f, P), *v = la_arg(f, V);
    la_dtype dtype;
    LA_TRY(la_game_dtype(f, args, 2, &dtype));
    LA_TRY(la_game_check_points(f, P));
    if (!la_same_sizes(p, v))
        return la_error_at(LA_ESHAPE, V + 1, "a velocity for each point, of "
                           "the same shape, expected");
    for (int k = 0; k < 3; k++)
        if (!(la_arg_float(f, limits[k]) >= 0))
            return la_error_at(LA_EARG, limits[k] + 1, "%s must be 0 or more, "
                               "got %g", names[k],
                               la_arg_float(f, limits[k]));
    LA_TRY(la_set_output(f, 0, 2, la_sizes(p), NULL, dtype));
    return la_set_output(f, 1, 2, la_sizes(p), NULL, dtype);
}

/* Both results of float64 are written at once, others through 'wide'. */
static la_status run_flock(la_frame *f, flock *s, const la_game_points *p)
{
    la_tensor *wide[2] = {NULL, NULL};
    la_status status = LA_OK;
    for (int k = 0; k < 2 && !status; k++) {
        la_tensor *out = la_result(f, k);
        status = la_tensor_empty(2, la_sizes(out), LA_FLOAT64, &wide[k]);
        if (!status) s->out[k] = (double *)la_data(wide[k]);
    }
    if (!status) {
        if (s->grid.n < p->n) run_alone(s, p);
        la_unit_plan plan = {run_boids, 1, la_grid_list_bytes(&s->grid)};
        status = la_iter_units(la_ceil_div(s->grid.n, LA_GRID_UNIT), &plan, s);
    }
    for (int k = 0; k < 2 && !status; k++)
        status = la_run_(copy_, la_result(f, k), wide[k]);
    for (int k = 0; k < 2; k++) la_tensor_drop(&wide[k]);
    return status;
}

la_status la_impl_game_boids(la_frame *f)
{
    la_game_points p = {.x = NULL};
    flock s = {.v = {.x = NULL}};
    if (la_result(f, 0)->numel == 0) return LA_OK;
    for (int k = DT; k < ARGS; k++) s.options[k] = la_arg_float(f, k);
    la_status status = la_game_points_of(f, P, &p);
    if (!status) status = la_game_points_of(f, V, &s.v);
    if (!status) status = la_grid_new(&s.grid, f, &p, s.options[RADIUS]);
    if (!status) status = run_flock(f, &s, &p);
    la_grid_free(&s.grid);
    la_game_points_free(&p);
    la_game_points_free(&s.v);
    return status;
}
