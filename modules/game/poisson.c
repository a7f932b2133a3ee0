/*
** poisson_disc(sizes, radius): points at random, none nearer to another than
** the radius, until no further one fits next to any (R. Bridson, 2007). Random
** numbers are mixed from the seed and a counter.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/cost/fuel.h"
#include "modules/game/game.h"

#define LA_ROWS "modules/game/ops.def"
#include "base/runtime/interrupt.h"
#include "op/frame.h"
#include "op/impls.h"

#define TRIES 30              /* next to a point */
#define PAID_ROUNDS 8         /* of tries, between two payments of fuel */
#define TRY_WORK 64           /* elements that one is worth */
#define DRAWS 64              /* for a try at the right distance */
#define MOST_CELLS ((int64_t)1 << 26)

typedef struct disc {
    int d;
    bool wide;                /* coordinates are kept as double */
    double size[3], radius, cell;
    int64_t seed, counter;
    int64_t cells[3], all;
    int32_t *grid;            /* the point of each cell, from 1; 0: none */
    int32_t *active;          /* points that may have others next to them */
    int64_t nactive, n, capacity;
    double (*x)[3];
} disc;

static double poisson_uniform(disc *s)
{
    uint64_t k = ((uint64_t)s->seed << 32) + (uint64_t)s->counter++;
    return (double)la_game_bits((int64_t)k) * 0x1p-32;
}

/* Seen as the result will hold it. */
static double kept(const disc *s, double x)
{
    return s->wide ? x : (double)(float)x;
}

static int64_t cell_of(const disc *s, const double *x, int64_t *at)
{
    int64_t k = 0;
    for (int a = s->d - 1; a >= 0; a--) {
        at[a] = (int64_t)(x[a] / s->cell);
        if (at[a] >= s->cells[a]) at[a] = s->cells[a] - 1;
        k = k * s->cells[a] + at[a];
    }
    return k;
}

/* Is no point within the radius? A cell holds one at most, and its diagonal is
** the radius: two cells to either side are enough, three where a border was
** rounded. */
static bool is_free(const disc *s, const double *x)
{
    int64_t at[3] = {0}, k[3], lo[3] = {0}, hi[3] = {0};
    cell_of(s, x, at);
    for (int a = 0; a < s->d; a++) {
        lo[a] = at[a] > 3 ? at[a] - 3 : 0;
        hi[a] = at[a] + 3 < s->cells[a] ? at[a] + 3 : s->cells[a] - 1;
    }
    for (k[2] = lo[2]; k[2] <= hi[2]; k[2]++)
        for (k[1] = lo[1]; k[1] <= hi[1]; k[1]++)
            for (k[0] = lo[0]; k[0] <= hi[0]; k[0]++) {
                int64_t i = (s->d == 3 ? k[2] * s->cells[1] + k[1] : k[1])
                    * s->cells[0] + k[0];
                if (s->grid[i] == 0) continue;
                const double *y = s->x[s->grid[i] - 1];
                double square = 0;
                for (int a = 0; a < s->d; a++)
                    square += (x[a] - y[a]) * (x[a] - y[a]);
                if (square < s->radius * s->radius) return false;
            }
    return true;
}

/* Lists of twice the capacity, or of some at first. */
static la_status poisson_grow(disc *s)
{
    int64_t more = s->capacity ? 2 * s->capacity : 64;
    size_t old = (size_t)s->capacity, new = (size_t)more;
    double (*x)[3] = la_mem_alloc(new * sizeof(*x));
    int32_t *active = x ? la_mem_alloc(new * sizeof(*active)) : NULL;
    if (!active) {
        if (x) la_mem_free(x, new * sizeof(*x));
        return LA_ENOMEM;
    }
    if (old) {
        memcpy(x, s->x, old * sizeof(*x));
        memcpy(active, s->active, old * sizeof(*active));
        la_mem_free(s->x, old * sizeof(*x));
        la_mem_free(s->active, old * sizeof(*active));
    }
    s->x = x;
    s->active = active;
    s->capacity = more;
    return LA_OK;
}

static la_status poisson_add(disc *s, const double *x)
{
    int64_t at[3];
    if (s->n == s->capacity) LA_TRY(poisson_grow(s));
    memcpy(s->x[s->n], x, 3 * sizeof(*x));
    s->active[s->nactive++] = (int32_t)s->n++;
    s->grid[cell_of(s, x, at)] = (int32_t)s->n;
    return LA_OK;
}

/* Tries a random point in the box, between one and two radii from x: what lies
** outside of the box is not drawn at all, or points at a border would be left
** with few tries, and thin boxes nearly empty. False where next to nothing of
** the box is at that distance, or another point is too near. */
static bool try_next_to(disc *s, const double *x, double *out)
{
    double square = 0, low[3], span[3], v[3];
    for (int a = 0; a < s->d; a++) {
        low[a] = fmax(-x[a] / s->radius, -2);
        span[a] = fmin((s->size[a] - x[a]) / s->radius, 2) - low[a];
    }
    for (int k = 0; k < DRAWS; k++) {
        square = 0;
        for (int a = 0; a < s->d; a++) {
            v[a] = low[a] + span[a] * poisson_uniform(s);
            square += v[a] * v[a];
        }
        if (square >= 1 && square <= 4) break;
    }
    if (!(square >= 1 && square <= 4)) return false;
    for (int a = 0; a < s->d; a++) {
        out[a] = kept(s, x[a] + v[a] * s->radius);
        if (!(out[a] >= 0 && out[a] < s->size[a])) return false;
    }
    return is_free(s, out);
}

/* Rounds of tries are paid for as they come. */
static la_status poisson_fill(la_frame *f, disc *s)
{
    double x[3] = {0};
    for (int a = 0; a < s->d; a++) {
        x[a] = kept(s, poisson_uniform(s) * s->size[a]);
        if (!(x[a] < s->size[a])) x[a] = 0;
    }
    LA_TRY(poisson_add(s, x));
    for (int64_t count = 0; s->nactive > 0; count++) {
        int64_t k = (int64_t)(poisson_uniform(s) * (double)s->nactive);
        const int32_t from = s->active[k];
        bool found = false;
        if (count % 128 == 0) LA_TRY(la_poll());
        if (count % PAID_ROUNDS == 0 && la_fuel_running)
            LA_TRY(la_fuel_more(f, PAID_ROUNDS * TRIES * TRY_WORK));
        for (int t = 0; t < TRIES && !found; t++)
            found = try_next_to(s, s->x[from], x);
        if (found) LA_TRY(poisson_add(s, x));
        else s->active[k] = s->active[--s->nactive];
    }
    return LA_OK;
}

static la_status poisson_give(la_frame *f, const disc *s)
{
    int64_t sizes[2] = {s->n, s->d};
    LA_TRY(la_set_output(f, 0, 2, sizes, NULL,
                         s->wide ? LA_FLOAT64 : LA_FLOAT32));
    void *out = la_data(la_result(f, 0));
    for (int64_t i = 0; i < s->n; i++)
        for (int a = 0; a < s->d; a++) {
            if (s->wide) ((double *)out)[i * s->d + a] = s->x[i][a];
            else ((float *)out)[i * s->d + a] = (float)s->x[i][a];
        }
    return LA_OK;
}

/* poisson_disc(sizes, radius, seed) */
static la_status read_disc(const la_frame *f, disc *s)
{
    const la_value *sizes = &f->args[0];
    if (sizes->ints.n != 2 && sizes->ints.n != 3)
        return la_error_at(LA_EARG, 1, "2 or 3 sizes expected, got %lld",
                           (long long)sizes->ints.n);
    *s = (disc){.d = (int)sizes->ints.n, .radius = la_arg_float(f, 1),
                .seed = la_game_bits(la_arg_int(f, 2)), .all = 1,
                .wide = la_ctx()->default_dtype == LA_FLOAT64,
                .cells = {1, 1, 1}};
    if (!(s->radius > 0) || isinf(s->radius))
        return la_error_at(LA_EARG, 2, "radius must be larger than 0 and "
                           "finite, got %g", s->radius);
    s->cell = s->radius / sqrt((double)s->d);
    for (int a = 0; a < s->d; a++) {
        s->size[a] = la_float_at(sizes, a);
        if (!(s->size[a] > 0) || isinf(s->size[a]))
            return la_error_at(LA_EARG, 1, "sizes must be larger than 0 and "
                               "finite, got %g", s->size[a]);
        double n = ceil(s->size[a] / s->cell);
        if (!(n * (double)s->all <= (double)MOST_CELLS))
            return la_error_at(LA_EARG, 2, "a radius of %g is too small for "
                               "these sizes: more than %lld points would have "
                               "to be told apart", s->radius,
                               (long long)MOST_CELLS);
        s->cells[a] = n < 1 ? 1 : (int64_t)n;
        s->all *= s->cells[a];
    }
    return LA_OK;
}

la_status la_impl_game_poisson_disc(la_frame *f)
{
    disc s;
    LA_TRY(read_disc(f, &s));
    size_t bytes = (size_t)s.all * sizeof(*s.grid);
    s.grid = la_mem_zalloc(bytes);
    if (!s.grid) return LA_ENOMEM;
    la_status status = poisson_fill(f, &s);
    if (!status) status = poisson_give(f, &s);
    if (s.x) {
        la_mem_free(s.x, (size_t)s.capacity * sizeof(*s.x));
        la_mem_free(s.active, (size_t)s.capacity * sizeof(*s.active));
    }
    la_mem_free(s.grid, bytes);
    return status;
}
