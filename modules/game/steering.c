/* Programs of la.game's steering: forces that bring a velocity v to one that is
** wanted, after C. Reynolds, 1999. */
#include "modules/game/game.h"
#include "modules/game/terms.h"

#define LA_ROWS "modules/game/ops.def"
#include "op/frame.h"
#include "op/impls.h"

#define N LA_TERMS

enum { SPEED, FORCE, RADIUS };

/* The force towards the velocity 'want', no longer than option FORCE. */
static void put_force(la_recipe *b, int n, const int *want)
{
    int v[N];
    la_term_in(b, 1, v);
    la_term_minus(b, n, want, v, v);
    la_term_clamp(b, n, v, la_const(b, la_param_number(b, FORCE)), v);
    la_term_put(b, n, v);
}

static void write_seek(la_recipe *b, bool away, bool slow)
{
    int p[N], d[N], n = la_term_in(b, 0, p), one = la_const(b, 1);
    int speed = la_const(b, la_param_number(b, SPEED));
    la_term_in(b, 2, d);
    la_term_minus(b, n, away ? p : d, away ? d : p, d);
    if (slow) {
        int length = la_term_length(b, n, d);
        int part = la_over(b, length, la_const(b, la_param_number(b, RADIUS)));
        speed = la_times(b, speed, la_choose(b, la_less(b, part, one), part,
                                             one));
    }
    la_term_unit(b, n, d, 0, d);
    la_term_times(b, n, d, speed, d);
    put_force(b, n, d);
}

void la_write_seek(la_recipe *b) { write_seek(b, false, false); }
void la_write_flee(la_recipe *b) { write_seek(b, true, false); }
void la_write_arrive(la_recipe *b) { write_seek(b, false, true); }

/* A unit vector out of 32 bits. */
static void random_unit(la_recipe *b, int n, int bits, int *out)
{
    int angle = la_emit(b, LA_ROW_UNIFORM, bits, 0, 0), r = la_const(b, 1);
    angle = la_scale(b, angle, 6.283185307179586477);
    if (n == 3) {
        int more = la_emit(b, LA_ROW_HASH, bits, la_const(b, 1), 0);
        int z = la_emit(b, LA_ROW_UNIFORM, more, 0, 0);
        out[2] = la_shift(b, la_scale(b, z, 2), -1);
        r = la_root(b, la_minus(b, r, la_times(b, out[2], out[2])));
    }
    out[0] = la_times(b, r, la_emit(b, LA_ROW_COS, angle, 0, 0));
    out[1] = la_times(b, r, la_emit(b, LA_ROW_SIN, angle, 0, 0));
}

enum { WANDER_FORCE, WANDER_SEED };

/* Towards a point of the unit circle (sphere) whose middle lies sqrt(2) ahead
** of the heading. */
void la_write_wander(la_recipe *b)
{
    int v[N], u[N], n = la_term_in(b, 1, v);
    int bits = la_seed(b, (uint32_t)la_recipe_param(b, WANDER_SEED));
    bits = la_emit(b, LA_ROW_NUMBER, bits, 0, 0);
    random_unit(b, n, bits, u);
    la_term_unit(b, n, v, 0, v);
    la_term_times(b, n, v, la_const(b, 1.41421356237309504880), v);
    la_term_plus(b, n, v, u, v);
    la_term_unit(b, n, v, 0, v);
    la_term_times(b, n, v, la_const(b, la_param_number(b, WANDER_FORCE)), v);
    la_term_put(b, n, v);
}

/* ---- the calls ---- */

/* Argument k, an option that must not be negative; 'above': nor zero. */
static la_status read_option(const la_frame *f, int k, const char *name,
                             bool above, int64_t *out)
{
    double x = la_arg_float(f, k);
    if (!(above ? x > 0 : x >= 0))
        return la_error_at(LA_EARG, k + 1, "%s must be %s, got %g", name,
                           above ? "larger than 0" : "0 or more", x);
    *out = la_number_param(x);
    return LA_OK;
}

/* (p, v, target, speed, force[, radius]) */
static la_status run_seek(la_frame *f, la_recipe_id id, int n)
{
    int64_t params[3];
    LA_TRY(read_option(f, 3, "speed", false, &params[SPEED]));
    LA_TRY(read_option(f, 4, "force", false, &params[FORCE]));
    if (n > 2) LA_TRY(read_option(f, 5, "radius", true, &params[RADIUS]));
    return la_run_program(f, id, 3, params, n);
}

LA_FORWARD(la_impl_game_seek, run_seek(f, LA_PROGRAM_seek, 2))
LA_FORWARD(la_impl_game_flee, run_seek(f, LA_PROGRAM_flee, 2))
LA_FORWARD(la_impl_game_arrive, run_seek(f, LA_PROGRAM_arrive, 3))

/* wander(p, v, seed, step, force): a seed of its own for every step. */
la_status la_impl_game_wander(la_frame *f)
{
    int64_t params[2];
    int64_t step = la_number_param(la_arg_float(f, 3));
    LA_TRY(read_option(f, 4, "force", false, &params[WANDER_FORCE]));
    params[WANDER_SEED] = la_game_bits((int64_t)(
        la_game_bits(step) + (uint64_t)la_arg_int(f, 2)));
    return la_run_program(f, LA_PROGRAM_wander, 2, params, 2);
}
