/* Programs of la.game's matrices: 4 x 4, row-major, for columns. */
#include "base/runtime/context.h"
#include "base/runtime/thread_pool.h"
#include "iter/items.h"
#include "modules/game/kernel/transforms.h"
#include "op/composite.h"
#include "modules/game/game.h"
#include "modules/game/terms.h"

#define LA_ROWS "modules/game/ops.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* The matrix whose upper left 3 x 3 is 'm' (NULL: the identity) and whose
** column 4 is t (NULL: zeros), as the output. */
static void put_affine(la_recipe *b, const int *m, const int *t)
{
    int zero = la_const(b, 0), one = la_const(b, 1);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            la_put(b, m ? m[3 * i + j] : i == j ? one : zero);
        la_put(b, t ? t[i] : zero);
    }
    for (int j = 0; j < 4; j++) la_put(b, j == 3 ? one : zero);
}

/* The upper left 3 x 3 of an input of 3 x 3 or 4 x 4. */
static void read_linear(la_recipe *b, int input, int *m)
{
    int side = b->comps[input] == 9 ? 3 : 4;
    for (int i = 0; i < 9; i++)
        m[i] = la_in(b, input, i / 3 * side + i % 3);
}

static void matrices_apply(la_recipe *b, const int *m, const int *v, int *out)
{
    int r[3];
    for (int i = 0; i < 3; i++) r[i] = la_term_dot(b, 3, m + 3 * i, v);
    memcpy(out, r, sizeof r);
}

/* Rows of the cofactors: the transpose of det times the inverse. */
static void find_cofactors(la_recipe *b, const int *m, int *out)
{
    for (int i = 0; i < 3; i++)
        la_term_cross(b, m + (i + 1) % 3 * 3, m + (i + 2) % 3 * 3, out + 3 * i);
}

/* ---- made of parts ---- */

void la_write_translation(la_recipe *b)
{
    int t[LA_TERMS];
    la_term_in(b, 0, t);
    put_affine(b, NULL, t);
}

void la_write_scaling(la_recipe *b)
{
    int zero = la_const(b, 0), m[9], s[LA_TERMS];
    la_term_in(b, 0, s);
    for (int i = 0; i < 9; i++) m[i] = i % 4 == 0 ? s[i / 4] : zero;
    put_affine(b, m, NULL);
}

void la_write_rotation(la_recipe *b)
{
    int q[LA_TERMS], m[9];
    la_term_in(b, 0, q);
    la_term_quat_matrix(b, q, m);
    put_affine(b, m, NULL);
}

void la_write_compose(la_recipe *b)
{
    int t[LA_TERMS], q[LA_TERMS], s[LA_TERMS], m[9];
    la_term_in(b, 0, t);
    la_term_in(b, 1, q);
    la_term_in(b, 2, s);
    la_term_quat_matrix(b, q, m);
    for (int i = 0; i < 9; i++) m[i] = la_times(b, m[i], s[i % 3]);
    put_affine(b, m, t);
}

/* Columns of unit length, some of them zero: those are replaced so that all
** three stand across each other. Of two, the first gets a vector across the
** third; where all are zero they stay so. */
static void matrices_complete(la_recipe *b, int c[3][3])
{
    int none[3], both[3], w[3], off[3], last[3][3];
    for (int j = 0; j < 3; j++) none[j] = la_term_is_zero(b, 3, c[j]);
    la_term_plus(b, 3, c[0], c[1], w);
    la_term_plus(b, 3, w, c[2], w);       /* the only one, if it is */
    la_term_off_axis(b, w, off);
    la_term_cross(b, off, w, off);
    la_term_unit(b, 3, off, 0, off);
    for (int j = 0; j < 3; j++) {
        both[j] = la_both(b, none[j], none[(j + 1) % 3]);
        la_term_choose(b, 3, both[j], off, c[j], c[j]);
    }
    for (int j = 0; j < 3; j++) {
        la_term_cross(b, c[(j + 1) % 3], c[(j + 2) % 3], last[j]);
        la_term_choose(b, 3, none[j], last[j], c[j], last[j]);
        la_term_choose(b, 3, both[j], c[j], last[j], last[j]);
    }
    memcpy(c, last, sizeof last);
}

/* Scales are the lengths of the columns, the first one negative where the
** matrix mirrors. */
void la_write_decompose(la_recipe *b)
{
    int m[9], columns[3][3], s[3], normal[3], q[4], r[9];
    read_linear(b, 0, m);
    for (int i = 0; i < 9; i++) columns[i % 3][i / 3] = m[i];
    for (int j = 0; j < 3; j++) {
        s[j] = la_term_length(b, 3, columns[j]);
        la_term_unit(b, 3, columns[j], 0, columns[j]);
    }
    la_term_cross(b, columns[1], columns[2], normal);
    int mirror = la_less(b, la_term_dot(b, 3, columns[0], normal),
                         la_const(b, 0));
    int sign = la_choose(b, mirror, la_const(b, -1), la_const(b, 1));
    s[0] = la_times(b, s[0], sign);
    la_term_times(b, 3, columns[0], sign, columns[0]);
    matrices_complete(b, columns);
    for (int i = 0; i < 9; i++) r[i] = columns[i % 3][i / 3];
    la_term_matrix_quat(b, r, q);
    for (int i = 0; i < 3; i++) la_put(b, la_in(b, 0, 4 * i + 3));
    la_term_put(b, 4, q);
    la_term_put(b, 3, s);
}

/* Rows are scaled first, so that no product of three leaves the range. */
void la_write_inverse_affine(la_recipe *b)
{
    int m[9], c[9], r[9], t[3], power[3];
    read_linear(b, 0, m);
    for (int i = 0; i < 3; i++)
        power[i] = la_term_scaled(b, 3, m + 3 * i, m + 3 * i);
    find_cofactors(b, m, c);
    int det = la_term_dot(b, 3, m, c);
    for (int i = 0; i < 9; i++)
        r[i] = la_over(b, la_over(b, c[i % 3 * 3 + i / 3], det), power[i % 3]);
    for (int i = 0; i < 3; i++) t[i] = la_in(b, 0, 4 * i + 3);
    matrices_apply(b, r, t, t);
    for (int i = 0; i < 3; i++) t[i] = la_negate(b, t[i]);
    put_affine(b, r, t);
}

/* ---- cameras ---- */

void la_write_look_at(la_recipe *b)
{
    int eye[LA_TERMS], target[LA_TERMS], up[LA_TERMS], m[9], t[3];
    la_term_in(b, 0, eye);
    la_term_in(b, 1, target);
    la_term_in(b, 2, up);
    la_term_minus(b, 3, eye, target, target);
    la_term_frame(b, target, up, m, m + 3, m + 6);
    matrices_apply(b, m, eye, t);
    for (int i = 0; i < 3; i++) t[i] = la_negate(b, t[i]);
    put_affine(b, m, t);
}

/* Argument k: which depths the near and the far plane get. */
static la_status read_depth(const la_frame *f, int k, int64_t *whole)
{
    const la_value *v = &f->args[k];
    *whole = la_str_is(v, "minus_one_one");
    if (*whole || la_str_is(v, "zero_one")) return LA_OK;
    return la_error_at(LA_EARG, k + 1, "depth: 'zero_one' or 'minus_one_one' "
                       "expected, got '%s'",
                       LA_QUOTED(v));
}

/* With n = near / far, so that far may be infinite. */
void la_write_perspective(la_recipe *b)
{
    int zero = la_const(b, 0), one = la_const(b, 1), m[16];
    int half = la_scale(b, la_in(b, 0, 0), 0.5), near = la_in(b, 2, 0);
    int focus = la_over(b, la_emit(b, LA_ROW_COS, half, 0, 0),
                        la_emit(b, LA_ROW_SIN, half, 0, 0));
    int n = la_over(b, near, la_in(b, 3, 0)), below = la_minus(b, n, one);
    bool whole = la_recipe_param(b, 0) != 0;
    for (int i = 0; i < 16; i++) m[i] = zero;
    m[0] = la_over(b, focus, la_in(b, 1, 0));
    m[5] = focus;
    m[10] = la_over(b, whole ? la_plus(b, n, one) : one, below);
    m[11] = la_over(b, whole ? la_scale(b, near, 2) : near, below);
    m[14] = la_const(b, -1);
    la_term_put(b, 16, m);
}

/* perspective(fovy, aspect, near, far, depth) */
la_status la_impl_game_perspective(la_frame *f)
{
    int64_t params[1];
    LA_TRY(read_depth(f, 4, params));
    return la_run_program(f, LA_PROGRAM_perspective, 4, params, 1);
}

/* Maps low .. high to -1 .. 1, by 'scale', or to 0 .. 1. */
static void put_range(la_recipe *b, int low, int high, double scale,
                      int *by, int *shift)
{
    int size = la_minus(b, high, low);
    int sum = scale == 2 ? la_plus(b, high, low) : low;
    *by = la_over(b, la_const(b, scale), size);
    *shift = la_negate(b, la_over(b, sum, size));
}

void la_write_orthographic(la_recipe *b)
{
    int zero = la_const(b, 0), m[16], near = la_in(b, 4, 0);
    bool whole = la_recipe_param(b, 0) != 0;
    for (int i = 0; i < 16; i++) m[i] = zero;
    put_range(b, la_in(b, 0, 0), la_in(b, 1, 0), 2, &m[0], &m[3]);
    put_range(b, la_in(b, 2, 0), la_in(b, 3, 0), 2, &m[5], &m[7]);
    put_range(b, near, la_in(b, 5, 0), whole ? 2 : 1, &m[10], &m[11]);
    m[10] = la_negate(b, m[10]);
    m[15] = la_const(b, 1);
    la_term_put(b, 16, m);
}

/* orthographic(l, r, b, t, near, far, depth) */
la_status la_impl_game_orthographic(la_frame *f)
{
    int64_t params[1];
    LA_TRY(read_depth(f, 6, params));
    return la_run_program(f, LA_PROGRAM_orthographic, 6, params, 1);
}

/* ---- on vectors ---- */

void la_write_transform_points(la_recipe *b)
{
    int p[LA_TERMS], m[16], out[4], one = la_const(b, 1), zero = la_const(b, 0);
    la_term_in(b, 1, p);
    for (int i = 0; i < 16; i++) m[i] = la_in(b, 0, i);
    for (int i = 0; i < 4; i++)
        out[i] = la_plus(b, la_term_dot(b, 3, m + 4 * i, p), m[4 * i + 3]);
    int affine = la_equals(b, m[15], one);
    for (int i = 12; i < 15; i++)
        affine = la_both(b, affine, la_equals(b, m[i], zero));
    out[3] = la_choose(b, affine, one, out[3]);
    for (int i = 0; i < 3; i++) la_put(b, la_over(b, out[i], out[3]));
}

void la_write_transform_vectors(la_recipe *b)
{
    int m[9], v[LA_TERMS];
    read_linear(b, 0, m);
    la_term_in(b, 1, v);
    matrices_apply(b, m, v, v);
    la_term_put(b, 3, v);
}

/* The cofactors are the inverse transpose but for the determinant, of which
** only the sign matters; so matrices that flatten have normals too. */
void la_write_transform_normals(la_recipe *b)
{
    int m[9], c[9], v[LA_TERMS];
    read_linear(b, 0, m);
    la_term_in(b, 1, v);
    la_term_scaled(b, 9, m, m);
    find_cofactors(b, m, c);
    int mirror = la_less(b, la_term_dot(b, 3, m, c), la_const(b, 0));
    matrices_apply(b, c, v, v);
    la_term_times(b, 3, v, la_choose(b, mirror, la_const(b, -1),
                                     la_const(b, 1)), v);
    la_term_unit(b, 3, v, 0, v);
    la_term_put(b, 3, v);
}

/* ---- skins ---- */

/* The first three rows of the sum of a vertex' matrices, on its point: as
** la_game_skin computes it. */
void la_write_skin(la_recipe *b)
{
    int p[LA_TERMS], m[12], joints = (int)b->comps[2], zero = la_const(b, 0);
    la_term_in(b, 0, p);
    for (int i = 0; i < 12; i++) {
        m[i] = joints > 0 ? la_times(b, la_in(b, 2, 0), la_in(b, 1, i)) : zero;
        for (int k = 1; k < joints; k++)
            m[i] = la_plus(b, m[i], la_times(b, la_in(b, 2, k),
                                             la_in(b, 1, 16 * k + i)));
    }
    for (int i = 0; i < 3; i++)
        la_put(b, la_plus(b, la_term_dot(b, 3, m + 4 * i, p), m[4 * i + 3]));
}

#define MOST_JOINTS 256       /* of a vertex */

static la_status check_skin(const la_frame *f)
{
    const la_tensor *p = la_arg(f, 0), *m = la_arg(f, 1);
    const la_tensor *joints = la_arg(f, 2), *weights = la_arg(f, 3);
    if (p->ndim != 2 || la_sizes(p)[1] != 3)
        return la_error_at(LA_ESHAPE, 1, "points {N, 3} expected");
    if (m->ndim != 3 || la_sizes(m)[1] != 4 || la_sizes(m)[2] != 4)
        return la_error_at(LA_ESHAPE, 2, "matrices {J, 4, 4} expected");
    if (joints->ndim != 2 || la_sizes(joints)[0] != la_sizes(p)[0]
        || la_sizes(joints)[1] > MOST_JOINTS)
        return la_error_at(LA_ESHAPE, 3, "joints {N, K} of %lld points, at "
                           "most %d of each, expected",
                           (long long)la_sizes(p)[0], MOST_JOINTS);
    if (!la_is_integral((la_dtype)joints->dtype))
        return la_error_at(LA_EDTYPE, 3, "joints are indices: an integer dtype "
                           "expected, got %s",
                           la_dtype_name((la_dtype)joints->dtype));
    if (!la_same_sizes(joints, weights))
        return la_error_at(LA_ESHAPE, 4, "weights of the shape of joints "
                           "expected");
    return LA_OK;
}

/* Are all joints those of 'count' matrices, from 1 or negative from the end? */
static la_status check_joints(const la_tensor *joints, int64_t count)
{
    const int64_t *at = (const int64_t *)la_data(joints);
    LA_EACH_POLLED(i, 0, joints->numel)
        if (at[i] == 0 || at[i] > count || at[i] < -count) {
            int64_t most = la_sizes(joints)[1];
            return la_error_at(LA_EINDEX, 3, "joint %lld at {%lld, %lld} is "
                               "out of range, 1 to %lld matrices",
                               (long long)at[i], (long long)(i / most + 1),
                               (long long)(i % most + 1), (long long)count);
        }
    return la_poll();
}

#define SKIN_UNIT 256         /* vertices */

typedef struct skin {
    la_game_skin_fn *fn;
    la_game_skin all;
    int64_t item;             /* bytes of an element */
} skin;

static la_status skin_unit(void *context, int64_t unit, char *scratch)
{
    const skin *s = context;
    la_game_skin part = s->all;
    int64_t first = unit * SKIN_UNIT, item = s->item;
    (void)scratch;
    part.rows = la_min(SKIN_UNIT, part.rows - first);
    part.p = (const char *)part.p + 3 * first * item;
    part.out = (char *)part.out + 3 * first * item;
    part.weights = (const char *)part.weights + first * part.most * item;
    part.joints += first * part.most;
    s->fn(&part);
    return LA_OK;
}

la_status la_meta_game_skin_points(la_frame *f)
{
    la_dtype dtype = (la_dtype)la_arg(f, 0)->dtype;
    LA_TRY(check_skin(f));
    if (la_arg(f, 1)->dtype != dtype || la_arg(f, 3)->dtype != dtype
        || la_arg(f, 2)->dtype != LA_INT64)
        return la_error_at(LA_EDTYPE, 1, "tensors of one dtype, and joints of "
                           "int64, expected");
    return la_set_output(f, 0, 2, la_sizes(la_arg(f, 0)), NULL, dtype);
}

la_status la_impl_game_skin_points(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *in[4], *out = la_result(f, 0);
    for (int k = 0; k < 4; k++) in[k] = R(contiguous, la_arg(f, k));
    if (w->status || out->numel == 0) return w->status;
    int64_t count = la_sizes(in[1])[0];
    LA_TRY(check_joints(in[2], count));
    skin s = {LA_STUB(game_transforms)->skin[out->dtype == LA_FLOAT64],
              {la_data(in[0]), la_data(in[1]), la_data(in[3]),
               (const int64_t *)la_data(in[2]), la_data(out),
               la_sizes(in[0])[0], la_sizes(in[2])[1], count},
              (int64_t)la_itemsize(out)};
    la_unit_plan plan = {skin_unit, 8, 0};
    return la_iter_units(la_ceil_div(s.all.rows, SKIN_UNIT), &plan, &s);
}

/* Skinning where a gradient is asked for: each vertex gets its matrices by
** index_select, the rest is a program. */
static la_status recorded_skin(la_chain *w, la_tensor **in, la_tensor **out)
{
    int64_t sizes[2] = {la_sizes(in[2])[0], la_sizes(in[2])[1] * 16};
    la_tensor *m = R(index_select, in[1], 0, R(flatten, in[2], 0, -1));
    m = R(reshape, m, la_v_ints(sizes, 2));
    if (w->status) return w->status;
    return la_run_rows(LA_PROGRAM_skin, 3, (la_tensor *[]){in[0], m, in[3]},
                       NULL, 0, out);
}

/* skin(p, matrices, joints, weights) */
la_status la_impl_game_skin(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *in[4], *all = NULL;
    la_dtype dtype;
    bool recorded = false;
    la_status status;
    LA_TRY(check_skin(f));
    LA_TRY(la_game_dtype(f, (const int[]){0, 1, 3}, 3, &dtype));
    for (int k = 0; k < 4; k++)
        in[k] = R(to_dtype, f->args[k], la_v_dtype(k == 2 ? LA_INT64 : dtype));
    if (w->status) return w->status;
    for (int k = 0; k < 4; k++) recorded |= la_grad_flag(in[k]) != 0;
    if (recorded && !la_ctx()->no_grad)
        status = recorded_skin(w, in, &all);
    else
        status = la_run(game_skin_points, &all, in[0], in[1], in[2], in[3]);
    /* The indices are the joints. */
    if (status) return status == LA_EINDEX ? la_blame(status, 3) : status;
    return LA_GIVE(f, all);
}
