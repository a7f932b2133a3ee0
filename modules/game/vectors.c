/* Programs of la.game's vectors. */
#include "modules/game/terms.h"

#define LA_ROWS "modules/game/ops.def"
#include "op/frame.h"
#include "op/impls.h"

#define N LA_TERMS

void la_write_dot(la_recipe *b)
{
    int v[N], u[N], n = la_term_in(b, 0, v);
    la_term_in(b, 1, u);
    la_put(b, la_term_dot(b, n, v, u));
}

void la_write_length(la_recipe *b)
{
    int v[N], n = la_term_in(b, 0, v);
    la_put(b, la_term_length(b, n, v));
}

void la_write_distance(la_recipe *b)
{
    int v[N], u[N], n = la_term_in(b, 0, v);
    la_term_in(b, 1, u);
    la_term_minus(b, n, v, u, v);
    la_put(b, la_term_length(b, n, v));
}

/* W. Kahan: twice the angle whose tangent is |u - v| / |u + v| of unit vectors,
** exact near 0 and pi, where the cosine says little. */
void la_write_angle(la_recipe *b)
{
    int v[N], u[N], sum[N], n = la_term_in(b, 0, v), zero = la_const(b, 0);
    la_term_in(b, 1, u);
    la_term_unit(b, n, v, 0, v);
    la_term_unit(b, n, u, 0, u);
    int none = la_either(b, la_term_is_zero(b, n, v),
                         la_term_is_zero(b, n, u));
    la_term_plus(b, n, v, u, sum);
    la_term_minus(b, n, v, u, v);
    int half = la_emit(b, LA_ROW_ATAN2, la_term_length(b, n, v),
                       la_term_length(b, n, sum), 0);
    la_put(b, la_choose(b, none, zero, la_scale(b, half, 2)));
}

void la_write_normalize(la_recipe *b)
{
    int v[N], n = la_term_in(b, 0, v);
    la_term_unit(b, n, v, la_param_number(b, 0), v);
    la_term_put(b, n, v);
}

/* normalize(v, eps) */
la_status la_impl_game_normalize(la_frame *f)
{
    double eps = la_arg_float(f, 1);
    if (!(eps > 0))
        return la_error_at(LA_EARG, 2, "eps must be larger than 0, got %g",
                           eps);
    int64_t params[1] = {la_number_param(eps)};
    return la_run_program(f, LA_PROGRAM_normalize, 1, params, 1);
}

void la_write_clamp_length(la_recipe *b)
{
    int v[N], n = la_term_in(b, 0, v);
    la_term_clamp(b, n, v, la_in(b, 1, 0), v);
    la_term_put(b, n, v);
}

void la_write_project(la_recipe *b)
{
    int v[N], u[N], n = la_term_in(b, 0, v);
    la_term_in(b, 1, u);
    la_term_unit(b, n, u, 0, u);
    int none = la_term_is_zero(b, n, u), zero = la_const(b, 0);
    la_term_times(b, n, u, la_term_dot(b, n, v, u), u);
    for (int i = 0; i < n; i++) la_put(b, la_choose(b, none, zero, u[i]));
}

void la_write_cross(la_recipe *b)
{
    int v[N], u[N];
    la_term_in(b, 0, v);
    la_term_in(b, 1, u);
    la_term_cross(b, v, u, v);
    la_term_put(b, 3, v);
}

void la_write_reflect(la_recipe *b)
{
    int v[N], u[N], n = la_term_in(b, 0, v);
    la_term_in(b, 1, u);
    int twice = la_scale(b, la_term_dot(b, n, v, u), 2);
    la_term_times(b, n, u, twice, u);
    la_term_minus(b, n, v, u, v);
    la_term_put(b, n, v);
}

/* GLSL's refract: eta v - (eta (n v) + sqrt(k)) n, zero where k < 0. */
void la_write_refract(la_recipe *b)
{
    int v[N], u[N], n = la_term_in(b, 0, v), one = la_const(b, 1);
    la_term_in(b, 1, u);
    int eta = la_in(b, 2, 0), zero = la_const(b, 0);
    int c = la_term_dot(b, n, v, u), rest;
    rest = la_times(b, la_times(b, eta, eta),
                    la_minus(b, one, la_times(b, c, c)));
    int k = la_minus(b, one, rest), total = la_less(b, k, zero);
    k = la_root(b, la_choose(b, total, one, k));
    int by = la_plus(b, la_times(b, eta, c), k);
    for (int i = 0; i < n; i++) {
        int w = la_minus(b, la_times(b, eta, v[i]), la_times(b, by, u[i]));
        la_put(b, la_choose(b, total, zero, w));
    }
}
