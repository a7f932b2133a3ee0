/* Functions known at points: interpolation, bins, phases. */
#include <math.h>

#include "base/runtime/context.h"
#include "modules/stats/stats.h"
#include "op/view/view.h"
#include "tensor/promote.h"

#define LA_ROWS "modules/stats/ops.def"
#include "op/call.h"
#include "op/impls.h"

/* ---- interp(x, xp, fp, left, right, period) ---- */

enum { X, XP, FP, LEFT, RIGHT, PERIOD };

/* LA_ESHAPE where xp and fp are no list of points. */
static la_status check_curve(const la_frame *f)
{
    la_tensor *xp = la_arg(f, XP), *fp = la_arg(f, FP);
    for (int k = XP; k <= FP; k++)
        if (la_arg(f, k)->ndim != 1)
            return la_error_at(LA_ESHAPE, k + 1, "a tensor of one dimension "
                               "is expected, got %d dimensions",
                               la_arg(f, k)->ndim);
    if (xp->numel == 0)
        return la_error_at(LA_ESHAPE, 2, "array of sample points is empty");
    if (xp->numel != fp->numel)
        return la_error_at(LA_ESHAPE, 3, "fp and xp are not of the same "
                           "length: %lld and %lld", (long long)fp->numel,
                           (long long)xp->numel);
    if (la_has(f, PERIOD) && !(la_arg_float(f, PERIOD) != 0))
        return la_error_at(LA_EARG, 6, "period must be a non-zero value");
    return LA_OK;
}

/* The points of one period in order, with the last before the first and the
** first behind the last. */
static void close_period(la_chain *w, double period, la_tensor **x,
                         la_tensor **xp, la_tensor **fp)
{
    int64_t n = (*xp)->numel;
    *x = R(remainder, *x, period);
    *xp = R(remainder, *xp, period);
    la_tensor *order = R(argsort, *xp, 0);
    *xp = R(take, *xp, order);
    *fp = R(take, *fp, order);
    la_tensor *before = R(narrow, *xp, 0, n - 1, 1);
    la_tensor *behind = R(narrow, *xp, 0, 0, 1);
    la_tensor *list[] = {R(sub, before, period), *xp,
                         R(add, behind, period)};
    la_tensor *values[] = {R(narrow, *fp, 0, n - 1, 1), *fp,
                           R(narrow, *fp, 0, 0, 1)};
    if (w->status) return;
    *xp = R(cat, la_v_tensors(list, 3));
    *fp = R(cat, la_v_tensors(values, 3));
}

/* *out: on the line through the neighbours of x. Over no distance there is no
** slope, and none is needed: x is then one of the points. */
static la_status on_lines(la_tensor *x, la_tensor *xp, la_tensor *fp,
                          la_tensor **out)
{
    LA_CHAIN(w);
    int64_t last = xp->numel > 1 ? xp->numel - 1 : 1;
    la_tensor *at = R(searchsorted, xp, x, false, true);
    at = R(clamp, R(sub, at, 1), 1, last);
    la_tensor *next = R(clamp, R(add, at, 1), 1, xp->numel);
    la_tensor *x0 = R(take, xp, at), *f0 = R(take, fp, at);
    la_tensor *wide = R(sub, R(take, xp, next), x0);
    la_tensor *rise = R(sub, R(take, fp, next), f0);
    la_tensor *none = R(eq, wide, 0), *exact = R(eq, x, x0);
    la_tensor *slope = R(div, rise, R(where, none, 1, wide));
    la_tensor *y = R(add, R(mul, slope, R(sub, x, x0)), f0);
    return la_chain_result(w, R(where, exact, f0, y), out);
}

/* Outside of the points: 'left' and 'right', or the first and the last
** value. */
static la_tensor *ends(la_chain *w, la_frame *f, la_tensor *x, la_tensor *xp,
                       la_tensor *fp, la_tensor *y)
{
    bool open = !la_has(f, PERIOD);
    la_tensor *low = R(select, xp, 0, 0);
    la_tensor *high = R(select, xp, 0, -1);
    la_tensor *last = R(select, fp, 0, -1), *right = last;
    la_tensor *left = R(select, fp, 0, 0);
    if (open && la_arg(f, LEFT)) left = la_arg(f, LEFT);
    if (open && la_arg(f, RIGHT)) right = la_arg(f, RIGHT);
    y = R(where, R(eq, x, high), last, y);
    y = R(where, R(lt, x, low), left, y);
    return R(where, R(gt, x, high), right, y);
}

/* NumPy's interp, as calls of operations: a binary search finds the
** neighbours, and gradients for x and fp follow from take and mul. */
la_status la_impl_interp(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, X), *xp = la_arg(f, XP), *fp = la_arg(f, FP);
    la_result_type type = LA_RESULT_TYPE_INIT;
    la_dtype d, values = la_inexact_dtype(fp);
    LA_TRY(check_curve(f));
    la_result_type_add(&type, x);
    la_result_type_add(&type, xp);
    LA_TRY(la_result_type_get(&type, &d));
    if (!la_is_inexact(d)) d = la_ctx()->default_dtype;
    la_value to = la_v_dtype(d);
    x = R(to_dtype, x, to);
    xp = R(to_dtype, xp, to);
    fp = R(to_dtype, fp, la_v_dtype(values));
    if (w->status) return w->status;
    if (la_has(f, PERIOD))
        close_period(w, fabs(la_arg_float(f, PERIOD)), &x, &xp, &fp);
    if (w->status) return w->status;
    LA_LET(y, on_lines(x, xp, fp, &y));
    return la_chain_end(w, f, ends(w, f, x, xp, fp, y));
}

/* ---- digitize(self, edges, right) ---- */

/* Do the edges fall? LA_EARG where they neither rise nor fall. */
static la_status direction_of(la_tensor *edges, bool *falls)
{
    LA_CHAIN(w);
    bool up, down;
    int64_t n = edges->numel;
    *falls = false;
    if (n < 2) return LA_OK;
    la_tensor *left = R(narrow, edges, 0, 0, n - 1);
    la_tensor *right = R(narrow, edges, 0, 1, n - 1);
    la_tensor *rise = R(lt, left, right), *fall = R(gt, left, right);
    if (w->status) return w->status;
    LA_TRY(la_any_of(rise, &up));
    LA_TRY(la_any_of(fall, &down));
    *falls = down;
    if (!up || !down) return LA_OK;
    return la_error_at(LA_EARG, 2, "edges must be monotonically increasing or "
                       "decreasing");
}

/* digitize by a binary search; falling edges are searched from the other
** end. */
la_status la_impl_digitize(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *edges = la_arg(f, 1);
    la_result_type type = LA_RESULT_TYPE_INIT;
    la_dtype d;
    bool falls, right = la_arg_bool(f, 2);
    if (edges->ndim != 1)
        return la_error_at(LA_ESHAPE, 2, "edges are a tensor of one dimension, "
                           "got %d dimensions", edges->ndim);
    LA_TRY(direction_of(edges, &falls));
    la_result_type_add(&type, x);
    la_result_type_add(&type, edges);
    LA_TRY(la_result_type_get(&type, &d));
    x = R(to_dtype, x, la_v_dtype(d));
    edges = R(to_dtype, edges, la_v_dtype(d));
    if (w->status) return w->status;
    if (!falls)
        return la_run_result(f, searchsorted, edges, x, false, !right);
    la_tensor *at = R(searchsorted, R(flip, edges, 0), x, false, !right);
    return la_chain_end(w, f, R(rsub, at, edges->numel + 2));
}

/* ---- unwrap(self, dim, discont, period) ---- */

typedef struct phase {
    la_scalar period, high, low;   /* high, low: half a period up and down */
    bool both;                     /* half a period is either way */
    double most;                   /* steps below it stay */
} phase;

/* LA_EARG for a period that is not above 0. Integers of a whole period stay
** integers. */
static la_status phase_of(const la_frame *f, bool whole, phase *p)
{
    la_scalar s = la_has(f, 3) ? f->args[3].scalar
        : la_scalar_float(6.283185307179586);
    if (!(s.re > 0))
        return la_error_at(LA_EARG, 4, "the period must be above 0");
    *p = (phase){s, la_scalar_float(s.re / 2), la_scalar_float(-s.re / 2),
                 true, la_has(f, 2) ? la_arg_float(f, 2) : s.re / 2};
    if (whole) {
        p->high = la_scalar_int(s.i / 2);
        p->low = la_scalar_int(-(s.i / 2));
        p->both = s.i % 2 == 0;
    }
    return LA_OK;
}

/* Corrections that are added behind each step: multiples of the period. */
static la_tensor *corrections(la_chain *w, la_tensor *x, int64_t dim,
                              const phase *p)
{
    la_tensor *step = R(diff, R(detach, x), 1, dim);
    la_tensor *part = R(remainder, R(sub, step, p->low), p->period);
    part = R(add, part, p->low);
    if (p->both) {
        la_tensor *half = R(logical_and, R(eq, part, p->low), R(gt, step, 0));
        part = R(where, half, p->high, part);
    }
    la_tensor *stays = R(lt, R(abs, step), p->most);
    return R(cumsum, R(where, stays, 0, R(sub, part, step)), dim);
}

la_status la_impl_unwrap(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    int dim;
    phase p = {.both = false};
    bool ints = la_is_integral((la_dtype)x->dtype);
    bool whole = ints && la_has(f, 3) && f->args[3].scalar.kind == LA_KINT;
    LA_TRY(phase_of(f, whole, &p));
    if (x->ndim == 0)
        return la_error_at(LA_ESHAPE, 1, "unwrap needs at least one dim");
    LA_TRY(la_arg_dim(f, 1, x->ndim, &dim));
    if (ints)
        x = R(to_dtype, x, la_v_dtype(whole ? LA_INT64 : la_inexact_dtype(x)));
    int64_t n = la_sizes(la_arg(f, 0))[dim];
    if (n < 2) return la_chain_end(w, f, R(clone, x));
    la_tensor *list[] = {R(narrow, x, dim, 0, 1),
                         R(add, R(narrow, x, dim, 1, n - 1),
                              corrections(w, x, dim, &p))};
    if (w->status) return w->status;
    return la_chain_end(w, f, R(cat, la_v_tensors(list, 2), dim));
}
