/*
** Cellular noise (S. Worley, 1996): a point at random in every cell of size 1,
** and the distances to the nearest two. Cells are looked through from the
** nearest ones outwards until no other can hold a nearer point, so the
** distances are those of all points there are.
*/
#include <math.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/composite.h"
#include "modules/game/game.h"
#include "modules/game/program.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/game/ops.def"
#include "op/call.h"
#include "op/impls.h"

typedef struct worley {
    const double *p;
    double *out;              /* [n][2][d]: from the point to the nearest two */
    int d;
    int64_t seed;
} worley;

typedef struct nearest {
    double square[2], way[2][3];
} nearest;

static void worley_offer(nearest *n, const double *way)
{
    double square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
    int k = square < n->square[0] ? 0 : 1;
    if (!(square < n->square[1])) return;
    if (k == 0) {
        n->square[1] = n->square[0];
        memcpy(n->way[1], n->way[0], sizeof n->way[0]);
    }
    n->square[k] = square;
    memcpy(n->way[k], way, sizeof n->way[k]);
}

/* The point of the cell so many steps away: 21 bits for each coordinate, of 64
** that are mixed from the cell's as splitmix64 does (S. Vigna, 2015). */
static inline void worley_look(const worley *s, const int64_t *cell,
                               const double *part, const int *step, nearest *n)
{
    static const uint64_t by[3] = {0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u,
                                   0xa0761d6478bd642fu};
    double way[3] = {0};
    uint64_t h = (uint64_t)s->seed;
    for (int a = 0; a < 3; a++) h += (uint64_t)(cell[a] + step[a]) * by[a];
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    h ^= h >> 31;
    for (int a = 0; a < s->d; a++, h >>= 21)
        way[a] = (double)step[a] - part[a]
            + (double)(int64_t)(h & 0x1fffff) * 0x1p-21;
    worley_offer(n, way);
}

/* How far the cell 'step' away is along an axis, squared. */
static double gap_of(int step, double part)
{
    double low = (double)step - part, off = low > 0 ? low : low + 1;
    return step == 0 ? 0 : off * off;
}

/* Cells 'ring' steps away at most, those on the nearer sides first; of the
** second ring only its own. */
static void look_around(const worley *s, const int64_t *cell,
                        const double *part, int ring, nearest *n)
{
    double gaps[3][5] = {{0}};
    int steps[3][5] = {{0}}, count = 2 * ring + 1, deep = s->d == 3 ? count : 1;
    for (int a = 0; a < s->d; a++)
        for (int k = 1; k < count; k++) {
            int step = (k + 1) / 2 * (k % 2 ? 1 : -1);
            steps[a][k] = part[a] < 0.5 ? -step : step;
            gaps[a][k] = gap_of(steps[a][k], part[a]);
        }
    for (int z = 0; z < deep; z++)
        for (int y = 0; y < count; y++) {
            double gap = gaps[2][z] + gaps[1][y];
            int first = ring == 2 && z < 3 && y < 3 ? 3 : 0;
            for (int x = first; x < count; x++)
                if ((x | y | z) != 0 && gap + gaps[0][x] < n->square[1])
                    worley_look(s, cell, part, (const int[3]){steps[0][x],
                                steps[1][y], steps[2][z]}, n);
        }
}

static void run_points(int64_t begin, int64_t end, void *context)
{
    const worley *s = context;
    for (int64_t i = begin; i < end; i++) {
        const double *p = s->p + i * s->d;
        nearest n = {.square = {1e30, 1e30}};
        int64_t cell[3] = {0};
        double part[3] = {0}, *out = s->out + i * 2 * s->d, sum = 0;
        for (int a = 0; a < s->d; a++) {
            sum += p[a] - p[a];
            if (!(fabs(p[a]) < 0x1p52)) continue;
            double low = floor(p[a]);
            cell[a] = (int64_t)low;
            part[a] = p[a] - low;
        }
        worley_look(s, cell, part, (const int[3]){0}, &n);
        look_around(s, cell, part, 1, &n);
        if (n.square[1] > 1) look_around(s, cell, part, 2, &n);
        for (int k = 0; k < 2; k++)
            for (int a = 0; a < s->d; a++)
                out[k * s->d + a] = sum == 0 ? n.way[k][a] : (double)NAN;
    }
}

/* ---- game_worley_ways(p, seed) ---- */

static la_status check_points(const la_frame *f)
{
    char text[120];
    const la_tensor *t = la_arg(f, 0);
    int64_t last = t->ndim ? la_sizes(t)[t->ndim - 1] : 0;
    if ((last == 2 || last == 3) && t->ndim < LA_MAX_DIMS) return LA_OK;
    return la_error_at(LA_ESHAPE, 1, "points of 2 or 3 components (the last "
                       "dim) expected, got the shape %s",
                       la_sizes_text(t->ndim, la_sizes(t), text, sizeof text));
}

la_status la_meta_game_worley_ways(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    int64_t sizes[LA_MAX_DIMS + 1];
    LA_TRY(check_points(f));
    int64_t last = la_sizes(t)[t->ndim - 1];
    memcpy(sizes, la_sizes(t), (size_t)t->ndim * sizeof(*sizes));
    sizes[t->ndim - 1] = 2;
    sizes[t->ndim] = last;
    return la_set_output(f, 0, t->ndim + 1, sizes, NULL, (la_dtype)t->dtype);
}

la_status la_impl_game_worley_ways(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    if (out->numel == 0) return LA_OK;
    LA_LET(wide, la_run(astype, &wide, la_arg(f, 0), la_v_dtype(LA_FLOAT64)));
    LA_LET(p, la_run(contiguous, &p, wide));
    LA_LET(y, la_tensor_empty(out->ndim, la_sizes(out), LA_FLOAT64, &y));
    worley s = {(const double *)la_data(p), (double *)la_data(y),
                (int)la_sizes(p)[p->ndim - 1],
                (int64_t)la_game_bits(la_arg_int(f, 1)) << 31};
    LA_TRY(la_iter_items(p->numel / s.d, 64, 1024, run_points, &s));
    return la_run_(copy_, out, y);
}

/* worley(p, seed): lengths of the ways, which shrink as p moves along them. */
la_status la_impl_game_worley(la_frame *f)
{
    LA_CHAIN(w);
    static const int args[1] = {0};
    la_dtype dtype;
    LA_TRY(la_game_dtype(f, args, 1, &dtype));
    LA_TRY(check_points(f));
    la_tensor *p = R(to_dtype, f->args[0], la_v_dtype(dtype));
    la_tensor *way = R(game_worley_ways, p, f->args[1]);
    if (w->status) return w->status;
    if (la_grad_flag(p)) {
        la_tensor *none = R(sub, p, R(detach, p));
        way = R(sub, way, R(unsqueeze, none, -2));
    }
    la_tensor *f12 = R(game_length, way);
    for (int k = 0; k < 2; k++) {
        la_tensor *t = R(contiguous, R(select, f12, -1, k));
        if (t) la_set_result(f, k, la_tensor_retain(t));
    }
    return w->status;
}
