/* Programs of la.game's quaternions and dual quaternions. */
#include "modules/game/terms.h"

#define LA_ROWS "modules/game/ops.def"
#include "op/frame.h"
#include "op/impls.h"

/* ---- products ---- */

void la_write_quat_mul(la_recipe *b)
{
    int p[LA_TERMS], q[LA_TERMS];
    la_term_in(b, 0, p);
    la_term_in(b, 1, q);
    la_term_quat_mul(b, p, q, p);
    la_term_put(b, 4, p);
}

static void quat_conjugate(la_recipe *b, const int *q, int *out)
{
    for (int i = 0; i < 3; i++) out[i] = la_negate(b, q[i]);
    out[3] = q[3];
}

void la_write_quat_conj(la_recipe *b)
{
    int q[LA_TERMS];
    la_term_in(b, 0, q);
    quat_conjugate(b, q, q);
    la_term_put(b, 4, q);
}

void la_write_quat_inverse(la_recipe *b)
{
    int q[LA_TERMS], zero = la_const(b, 0);
    la_term_in(b, 0, q);
    int power = la_term_scaled(b, 4, q, q), square = la_term_dot(b, 4, q, q);
    square = la_choose(b, la_equals(b, square, zero), la_const(b, 1), square);
    quat_conjugate(b, q, q);
    for (int i = 0; i < 4; i++)
        la_put(b, la_over(b, la_over(b, q[i], square), power));
}

void la_write_quat_rotate(la_recipe *b)
{
    int q[LA_TERMS], v[LA_TERMS];
    la_term_in(b, 0, q);
    la_term_in(b, 1, v);
    la_term_quat_rotate(b, q, v, v);
    la_term_put(b, 3, v);
}

/* ---- between two ---- */

/* b rotated to the side of a: the shorter way. */
static void quat_read_pair(la_recipe *b, int *p, int *q)
{
    la_term_in(b, 0, p);
    la_term_in(b, 1, q);
    int minus = la_less(b, la_term_dot(b, 4, p, q), la_const(b, 0));
    int sign = la_choose(b, minus, la_const(b, -1), la_const(b, 1));
    la_term_times(b, 4, q, sign, q);
}

/* Values of an arc: its angle; is it small; its sine, 1 where it is small; a
** sixth of its square, 0 where it is not. */
typedef struct arc { int angle, small, sine, sixth; } arc;

/* The weight sin(t a) / sin(a) of an angle a. Where that is small, the series
** t + t (1 - t^2) a^2 / 6: smooth also where both ends are equal. */
static int quat_weigh(la_recipe *b, const arc *a, int t)
{
    int rest = la_minus(b, la_const(b, 1), la_times(b, t, t));
    int near = la_plus(b, t, la_times(b, la_times(b, t, rest), a->sixth));
    int far = la_emit(b, LA_ROW_SIN, la_times(b, t, a->angle), 0, 0);
    return la_choose(b, a->small, near, la_over(b, far, a->sine));
}

void la_write_slerp(la_recipe *b)
{
    int p[LA_TERMS], q[LA_TERMS], sum[4], way[4], zero = la_const(b, 0);
    int t = la_in(b, 2, 0), one = la_const(b, 1), w;
    quat_read_pair(b, p, q);
    la_term_plus(b, 4, p, q, sum);
    la_term_minus(b, 4, p, q, way);
    arc a = {.angle = la_scale(b, la_emit(b, LA_ROW_ATAN2,
                                          la_term_length(b, 4, way),
                                          la_term_length(b, 4, sum), 0), 2)};
    int reach = la_times(b, a.angle, la_plus(b, one, la_magnitude(b, t)));
    a.small = la_less(b, reach, la_const(b, la_term_eps(b, 1e-2, 1e-4)));
    a.sine = la_choose(b, a.small, one,
                       la_emit(b, LA_ROW_SIN, a.angle, 0, 0));
    for (int i = 0; i < 4; i++)
        way[i] = la_choose(b, a.small, way[i], zero);
    a.sixth = la_scale(b, la_term_dot(b, 4, way, way), 1.0 / 6);
    w = quat_weigh(b, &a, la_minus(b, one, t));
    la_term_times(b, 4, p, w, p);
    w = quat_weigh(b, &a, t);
    la_term_times(b, 4, q, w, q);
    la_term_plus(b, 4, p, q, p);
    la_term_put(b, 4, p);
}

void la_write_nlerp(la_recipe *b)
{
    int p[LA_TERMS], q[LA_TERMS], t = la_in(b, 2, 0);
    quat_read_pair(b, p, q);
    la_term_times(b, 4, p, la_minus(b, la_const(b, 1), t), p);
    la_term_times(b, 4, q, t, q);
    la_term_plus(b, 4, p, q, p);
    la_term_unit(b, 4, p, 0, p);
    la_term_put(b, 4, p);
}

/* ---- axes and angles ---- */

/* The rotation by twice 'half' about an axis of unit length; the identity where
** that is zero. */
static void axis_angle(la_recipe *b, const int *axis, int half, int *out)
{
    int zero = la_const(b, 0), length = la_term_dot(b, 3, axis, axis);
    int none = la_equals(b, length, zero);
    la_term_times(b, 3, axis, la_emit(b, LA_ROW_SIN, half, 0, 0), out);
    out[3] = la_choose(b, none, la_const(b, 1),
                       la_emit(b, LA_ROW_COS, half, 0, 0));
}

void la_write_quat_axis_angle(la_recipe *b)
{
    int axis[LA_TERMS], q[4];
    la_term_in(b, 0, axis);
    la_term_unit(b, 3, axis, 0, axis);
    axis_angle(b, axis, la_scale(b, la_in(b, 1, 0), 0.5), q);
    la_term_put(b, 4, q);
}

/* Angle from 0 to pi; axis x where there is no rotation. */
void la_write_quat_to_axis_angle(la_recipe *b)
{
    int q[LA_TERMS], zero = la_const(b, 0), one = la_const(b, 1);
    la_term_in(b, 0, q);
    int minus = la_less(b, q[3], zero);
    la_term_times(b, 4, q, la_choose(b, minus, la_const(b, -1), one), q);
    int length = la_term_length(b, 3, q), none = la_equals(b, length, zero);
    int by = la_choose(b, none, one, length);
    for (int i = 0; i < 3; i++)
        la_put(b, la_choose(b, none, i == 0 ? one : zero,
                            la_over(b, q[i], by)));
    la_put(b, la_scale(b, la_emit(b, LA_ROW_ATAN2, length, q[3], 0), 2));
}

void la_write_quat_euler(la_recipe *b)
{
    int angles[LA_TERMS], q[4], r[4], zero = la_const(b, 0);
    la_term_in(b, 0, angles);
    for (int i = 0; i < 3; i++) {
        int half = la_scale(b, angles[i], 0.5);
        int axis = (int)la_recipe_param(b, i);
        for (int k = 0; k < 3; k++) r[k] = zero;
        r[axis] = la_emit(b, LA_ROW_SIN, half, 0, 0);
        r[3] = la_emit(b, LA_ROW_COS, half, 0, 0);
        if (i == 0) memcpy(q, r, sizeof q);
        else la_term_quat_mul(b, r, q, q);
    }
    la_term_put(b, 4, q);
}

/* quat_euler(angles, order): three letters, no two equal ones in a row. */
la_status la_impl_game_quat_euler(la_frame *f)
{
    const la_value *order = &f->args[1];
    int64_t axes[3] = {0};
    bool ok = order->str.n == 3;
    for (int i = 0; i < 3 && ok; i++) {
        axes[i] = order->str.text[i] - 'x';
        ok = axes[i] >= 0 && axes[i] < 3 && (i == 0 || axes[i] != axes[i - 1]);
    }
    if (!ok)
        return la_error_at(LA_EARG, 2, "order: three of the letters x, y and z "
                           "expected, no two equal ones in a row, got '%s'",
                           LA_QUOTED(order));
    return la_run_program(f, LA_PROGRAM_quat_euler, 1, axes, 3);
}

/* The sum of the unit vectors u and v, made orthogonal to their difference:
** where both are nearly opposite, what was rounded leans on that. */
static void find_half(la_recipe *b, const int *u, const int *v, int *h)
{
    int way[3], one = la_const(b, 1);
    la_term_plus(b, 3, u, v, h);
    la_term_minus(b, 3, u, v, way);
    int square = la_term_dot(b, 3, way, way), lean;
    lean = la_choose(b, la_less(b, one, square), square, one);
    lean = la_over(b, la_term_dot(b, 3, h, way), lean);
    la_term_times(b, 3, way, lean, way);
    la_term_minus(b, 3, h, way, h);
}

/* With h halfway between the unit vectors u and v: (u x h, u h). Opposite ones
** rotate by pi about an axis across u. */
void la_write_quat_between(la_recipe *b)
{
    int v[LA_TERMS], u[LA_TERMS], h[3], off[3], q[4], zero = la_const(b, 0);
    int one = la_const(b, 1);
    la_term_in(b, 0, u);
    la_term_in(b, 1, v);
    la_term_unit(b, 3, u, 0, u);
    la_term_unit(b, 3, v, 0, v);
    int none = la_either(b, la_term_is_zero(b, 3, u),
                         la_term_is_zero(b, 3, v));
    find_half(b, u, v, h);
    int length = la_term_length(b, 3, h);
    double least = la_term_eps(b, 1e-5, 1e-12);
    int opposite = la_less(b, length, la_const(b, least));
    length = la_choose(b, opposite, one, length);
    for (int i = 0; i < 3; i++) h[i] = la_over(b, h[i], length);
    la_term_off_axis(b, u, off);
    la_term_cross(b, u, off, off);
    la_term_unit(b, 3, off, 0, off);
    la_term_cross(b, u, h, q);
    la_term_choose(b, 3, opposite, off, q, q);
    q[3] = la_choose(b, opposite, zero, la_term_dot(b, 3, u, h));
    for (int i = 0; i < 4; i++)
        la_put(b, la_choose(b, none, i == 3 ? one : zero, q[i]));
}

/* ---- rotations ---- */

void la_write_quat_look(la_recipe *b)
{
    int v[LA_TERMS], up[LA_TERMS], x[3], y[3], z[3], m[9], q[4];
    la_term_in(b, 0, v);
    la_term_in(b, 1, up);
    for (int i = 0; i < 3; i++) v[i] = la_negate(b, v[i]);
    la_term_frame(b, v, up, x, y, z);
    for (int i = 0; i < 3; i++) {
        m[3 * i] = x[i];
        m[3 * i + 1] = y[i];
        m[3 * i + 2] = z[i];
    }
    la_term_matrix_quat(b, m, q);
    la_term_put(b, 4, q);
}

void la_write_quat_from_mat3(la_recipe *b)
{
    int m[LA_TERMS], q[4];
    la_term_in(b, 0, m);
    la_term_matrix_quat(b, m, q);
    la_term_put(b, 4, q);
}

void la_write_quat_to_mat3(la_recipe *b)
{
    int q[LA_TERMS], m[9];
    la_term_in(b, 0, q);
    la_term_quat_matrix(b, q, m);
    la_term_put(b, 9, m);
}

/* The rotation by twice the length of 'half' about it: its sine by its length,
** and its cosine. Where it is short, the series of both: smooth at zero. */
static void quat_exponential(la_recipe *b, const int *half, int *out)
{
    int angle = la_term_length(b, 3, half), one = la_const(b, 1), x, near[3];
    int small = la_less(b, angle, la_const(b, la_term_eps(b, 2e-2, 1e-3)));
    for (int i = 0; i < 3; i++)
        near[i] = la_choose(b, small, half[i], la_const(b, 0));
    x = la_term_dot(b, 3, near, near);
    /* 1 - x / 6 + x^2 / 120 and 1 - x / 2 + x^2 / 24 */
    int sine = la_shift(b, la_scale(b, x, 1.0 / 120), -1.0 / 6);
    int cosine = la_shift(b, la_scale(b, x, 1.0 / 24), -0.5);
    sine = la_shift(b, la_times(b, x, sine), 1);
    cosine = la_shift(b, la_times(b, x, cosine), 1);
    int by = la_over(b, la_emit(b, LA_ROW_SIN, angle, 0, 0),
                     la_choose(b, small, one, angle));
    la_term_times(b, 3, half, la_choose(b, small, sine, by), out);
    out[3] = la_choose(b, small, cosine,
                       la_emit(b, LA_ROW_COS, angle, 0, 0));
}

/* The rotation by the angle |omega| dt about omega, in front of q. */
void la_write_quat_integrate(la_recipe *b)
{
    int q[LA_TERMS], omega[LA_TERMS], r[4], dt = la_in(b, 2, 0);
    la_term_in(b, 0, q);
    la_term_in(b, 1, omega);
    la_term_times(b, 3, omega, la_scale(b, dt, 0.5), omega);
    quat_exponential(b, omega, r);
    la_term_quat_mul(b, r, q, q);
    la_term_unit(b, 4, q, 0, q);
    la_term_put(b, 4, q);
}

/* ---- dual quaternions: real part first ---- */

void la_write_dual_quat(la_recipe *b)
{
    int q[LA_TERMS], t[LA_TERMS], dual[4];
    la_term_in(b, 0, q);
    la_term_in(b, 1, t);
    la_term_times(b, 3, t, la_const(b, 0.5), t);
    t[3] = la_const(b, 0);
    la_term_quat_mul(b, t, q, dual);
    la_term_put(b, 4, q);
    la_term_put(b, 4, dual);
}

void la_write_dual_quat_mul(la_recipe *b)
{
    int p[LA_TERMS], q[LA_TERMS], real[4], dual[4], more[4];
    la_term_in(b, 0, p);
    la_term_in(b, 1, q);
    la_term_quat_mul(b, p, q, real);
    la_term_quat_mul(b, p, q + 4, dual);
    la_term_quat_mul(b, p + 4, q, more);
    la_term_plus(b, 4, dual, more, dual);
    la_term_put(b, 4, real);
    la_term_put(b, 4, dual);
}

/* Works for sums of unit ones too (blends): both parts are divided by the
** length of the real one. */
void la_write_dual_quat_transform(la_recipe *b)
{
    int d[LA_TERMS], p[LA_TERMS], back[4], t[4], zero = la_const(b, 0);
    la_term_in(b, 0, d);
    la_term_in(b, 1, p);
    int length = la_term_length(b, 4, d);
    length = la_choose(b, la_equals(b, length, zero), la_const(b, 1), length);
    for (int i = 0; i < 8; i++) d[i] = la_over(b, d[i], length);
    la_term_quat_rotate(b, d, p, p);
    quat_conjugate(b, d, back);
    la_term_quat_mul(b, d + 4, back, t);
    la_term_times(b, 3, t, la_const(b, 2), t);
    la_term_plus(b, 3, p, t, p);
    la_term_put(b, 3, p);
}
