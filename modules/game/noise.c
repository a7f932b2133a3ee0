/*
** Programs of la.game's noise. A lattice point's vector is chosen by 32 bits
** that are mixed from the seed and its coordinates one by one, so equal seeds
** give equal values everywhere; from 2^30 on coordinates count as 0. Each kind
** is divided by the largest value that vectors chosen at will can give, so that
** it stays within -1 .. 1.
*/
#include <math.h>

#include "modules/game/game.h"
#include "modules/game/terms.h"

#define LA_ROWS "modules/game/ops.def"
#include "op/frame.h"
#include "op/impls.h"

#define MOST_DIMS 3

/* A whole number that LA_ROW_HASH takes. */
static int noise_wrapped(la_recipe *b, int cell)
{
    int near = la_less(b, la_magnitude(b, cell), la_const(b, 0x1p30));
    return la_choose(b, near, cell, la_const(b, 0));
}

/* A coordinate whose sums and products stay finite: from 2^60 on it counts as
** 0. What is infinite becomes NaN, as the noise of it is. */
static int noise_bounded(la_recipe *b, int p)
{
    int far = la_at_most(b, la_const(b, 0x1p60), la_magnitude(b, p));
    return la_choose(b, far, la_times(b, p, la_const(b, 0)), p);
}

static int lattice_dot(la_recipe *b, int n, int bits, const int *d)
{
    int g[MOST_DIMS];
    for (int i = 0; i < n; i++) g[i] = la_emit(b, LA_ROW_SLOPE, bits, i, n);
    return la_term_dot(b, n, g, d);
}

/* ---- Perlin's ---- */

/* The corners of a cell, of dims k .. n - 1, the coordinates before being in
** 'bits' and d: joined along dim k by 'fade'. */
typedef struct cell {
    int n;
    int low[MOST_DIMS], high[MOST_DIMS];     /* coordinates of the corners */
    int near[MOST_DIMS], far[MOST_DIMS];     /* what lies between */
    int fade[MOST_DIMS];
} cell;

static int corners(la_recipe *b, const cell *c, int k, int bits, int *d)
{
    int ends[2];
    if (k == c->n) return lattice_dot(b, c->n, bits, d);
    for (int side = 0; side < 2; side++) {
        d[k] = side ? c->far[k] : c->near[k];
        int h = la_emit(b, LA_ROW_HASH, bits, side ? c->high[k] : c->low[k], 0);
        ends[side] = corners(b, c, k + 1, h, d);
    }
    return la_plus(b, ends[0], la_times(b, c->fade[k],
                                        la_minus(b, ends[1], ends[0])));
}

/* K. Perlin's improved noise, 2002. */
static int perlin(la_recipe *b, int n, const int *p, uint32_t seed)
{
    cell c = {.n = n};
    int d[MOST_DIMS], one = la_const(b, 1);
    for (int i = 0; i < n; i++) {
        int low = la_emit(b, LA_ROW_FLOOR, p[i], 0, 0);
        int t = la_minus(b, p[i], low), s;
        c.low[i] = noise_wrapped(b, low);
        c.high[i] = noise_wrapped(b, la_plus(b, low, one));
        c.near[i] = t;
        c.far[i] = la_minus(b, t, one);
        s = la_shift(b, la_times(b, t, la_shift(b, la_scale(b, t, 6), -15)),
                     10);
        c.fade[i] = la_times(b, la_times(b, la_times(b, t, t), t), s);
    }
    return la_scale(b, corners(b, &c, 0, la_seed(b, seed), d),
                    n == 2 ? 1.4142 : 0.9649);
}

static uint32_t seed_of(const la_recipe *b, int part)
{
    int64_t seed = la_recipe_param(b, 0);
    uint64_t bits = (uint64_t)seed * 64 + (uint64_t)part;
    /* Bits that the product has lost of a seed beyond 2^57; 0 of all others. */
    int64_t lost = (seed >> 57) - (seed < 0 ? -1 : 0);
    if (lost != 0) bits ^= (uint64_t)la_game_bits(lost) << 32;
    return la_game_bits((int64_t)bits);
}

void la_write_perlin(la_recipe *b)
{
    int p[LA_TERMS], n = la_term_in(b, 0, p);
    la_put(b, perlin(b, n, p, seed_of(b, 0)));
}

/* ---- simplex noise ---- */

/* Steps from the first corner of the simplex to the others: along the largest
** coordinate first. */
static void find_steps(la_recipe *b, int n, const int *x,
                       int step[MOST_DIMS + 1][MOST_DIMS])
{
    int zero = la_const(b, 0), one = la_const(b, 1);
    int rank[MOST_DIMS];
    for (int i = 0; i < n; i++) rank[i] = zero;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            int first = la_at_most(b, x[j], x[i]);
            rank[i] = la_plus(b, rank[i], la_choose(b, first, one, zero));
            rank[j] = la_plus(b, rank[j], la_choose(b, first, zero, one));
        }
    for (int k = 0; k <= n; k++)
        for (int i = 0; i < n; i++) {
            int in = la_at_most(b, la_const(b, n - k), rank[i]);
            step[k][i] = la_choose(b, in, one, zero);
        }
}

/* S. Gustavson, 2005, with spheres of radius sqrt(1 / 2), which end where a
** simplex does: so the noise and its slope are continuous. */
static int simplex(la_recipe *b, int n, const int *given, uint32_t seed)
{
    double skew = n == 2 ? 0.36602540378443864676 : 1.0 / 3;
    double back = n == 2 ? 0.21132486540518711775 : 1.0 / 6;
    int step[MOST_DIMS + 1][MOST_DIMS], first[MOST_DIMS], x[MOST_DIMS];
    int p[MOST_DIMS], sum = 0, cells = 0, total = 0, zero = la_const(b, 0);
    for (int i = 0; i < n; i++) {
        p[i] = noise_bounded(b, given[i]);
        sum = i == 0 ? p[i] : la_plus(b, sum, p[i]);
    }
    sum = la_scale(b, sum, skew);
    for (int i = 0; i < n; i++) {
        first[i] = la_emit(b, LA_ROW_FLOOR, la_plus(b, p[i], sum), 0, 0);
        cells = i == 0 ? first[i] : la_plus(b, cells, first[i]);
    }
    cells = la_scale(b, cells, back);
    for (int i = 0; i < n; i++)
        x[i] = la_minus(b, p[i], la_minus(b, first[i], cells));
    find_steps(b, n, x, step);
    for (int k = 0; k <= n; k++) {
        int d[MOST_DIMS], bits = la_seed(b, seed);
        for (int i = 0; i < n; i++) {
            int at = la_plus(b, first[i], step[k][i]);
            bits = la_emit(b, LA_ROW_HASH, bits, noise_wrapped(b, at), 0);
            d[i] = la_shift(b, la_minus(b, x[i], step[k][i]), k * back);
        }
        int t = la_minus(b, la_const(b, 0.5), la_term_dot(b, n, d, d));
        t = la_larger(b, t, zero);
        t = la_times(b, t, t);
        int part = la_times(b, la_times(b, t, t), lattice_dot(b, n, bits, d));
        total = k == 0 ? part : la_plus(b, total, part);
    }
    return la_scale(b, total, n == 2 ? 99.2 : 76.88);
}

void la_write_simplex(la_recipe *b)
{
    int p[LA_TERMS], n = la_term_in(b, 0, p);
    la_put(b, simplex(b, n, p, seed_of(b, 0)));
}

/* ---- made of them ---- */

enum { OCTAVES = 1, LACUNARITY, GAIN };
#define MOST_OCTAVES 32

#define MOST_WEIGHT 0x1p60

/* Powers of the gain, of which only the ratios count: where they grow too much
** for float32 they are made downwards from 1. Returns the sum of their
** magnitudes. */
static double find_weights(double gain, int n, double *weight)
{
    double sum = 0;
    weight[0] = 1;
    for (int k = 1; k < n; k++) weight[k] = weight[k - 1] * gain;
    if (!(fabs(weight[n - 1]) <= MOST_WEIGHT)) {
        weight[n - 1] = 1;
        for (int k = n - 1; k > 0; k--) weight[k - 1] = weight[k] / gain;
    }
    for (int k = 0; k < n; k++) sum += fabs(weight[k]);
    return sum;
}

/* The next octave's coordinates. What is too large counts as 0, also where the
** product is infinite; the first octave has seen whether p is finite. */
static void noise_widen(la_recipe *b, int n, int *p, double lacunarity)
{
    double factor = fmin(fmax(lacunarity, -0x1p120), 0x1p120);
    la_term_times(b, n, p, la_const(b, factor), p);
    for (int i = 0; i < n; i++) {
        int far = la_at_most(b, la_const(b, 0x1p60), la_magnitude(b, p[i]));
        p[i] = la_choose(b, far, la_const(b, 0), p[i]);
    }
}

void la_write_fbm(la_recipe *b)
{
    int p[LA_TERMS], n = la_term_in(b, 0, p), total = 0;
    int octaves = (int)la_recipe_param(b, OCTAVES);
    double weight[MOST_OCTAVES];
    double sum = find_weights(la_param_number(b, GAIN), octaves, weight);
    for (int k = 0; k < octaves; k++) {
        if (k > 0) noise_widen(b, n, p, la_param_number(b, LACUNARITY));
        int part = la_scale(b, perlin(b, n, p, seed_of(b, k)), weight[k]);
        total = k == 0 ? part : la_plus(b, total, part);
    }
    la_put(b, la_over(b, total, la_const(b, sum)));
}

static int slope_of(la_recipe *b, int n, const int *p, int part, int *out)
{
    int value = perlin(b, n, p, seed_of(b, part)), one = la_const(b, 1);
    la_recipe_gradient(b, 1, &value, &one, n, p, out);
    for (int i = 0; i < n; i++)
        if (out[i] < 0) out[i] = la_const(b, 0);
    return value;
}

/* The curl of a potential of three independent noises (R. Bridson, 2007); in
** two dims the slope of one, at a right angle. */
void la_write_curl(la_recipe *b)
{
    int p[LA_TERMS], n = la_term_in(b, 0, p), slope[3][MOST_DIMS];
    for (int k = 0; k < (n == 2 ? 1 : 3); k++)
        slope_of(b, n, p, k, slope[k]);
    if (n == 2) {
        la_put(b, slope[0][1]);
        la_put(b, la_negate(b, slope[0][0]));
        return;
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        la_put(b, la_minus(b, slope[k][j], slope[j][k]));
    }
}

/* ---- the calls ---- */

static la_status run_noise(la_frame *f, la_recipe_id id)
{
    int64_t params[1] = {la_arg_int(f, 1)};
    return la_run_program(f, id, 1, params, 1);
}

LA_FORWARD(la_impl_game_perlin, run_noise(f, LA_PROGRAM_perlin))
LA_FORWARD(la_impl_game_simplex, run_noise(f, LA_PROGRAM_simplex))
LA_FORWARD(la_impl_game_curl, run_noise(f, LA_PROGRAM_curl))

/* fbm(p, seed, octaves, lacunarity, gain) */
la_status la_impl_game_fbm(la_frame *f)
{
    int64_t params[4] = {la_arg_int(f, 1), la_arg_int(f, 2),
        la_number_param(la_arg_float(f, 3)),
        la_number_param(la_arg_float(f, 4))};
    if (params[OCTAVES] < 1 || params[OCTAVES] > MOST_OCTAVES)
        return la_error_at(LA_EARG, 3, "1 to %d octaves expected, got %lld",
                           MOST_OCTAVES, (long long)params[OCTAVES]);
    return la_run_program(f, LA_PROGRAM_fbm, 1, params, 4);
}
