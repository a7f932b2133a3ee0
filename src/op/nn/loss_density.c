/*
** Losses that are the negative logarithm of a density: gaussian_nll_loss and
** poisson_nll_loss. Composites of element-wise operations.
*/
#include <math.h>

#include "op/nn/loss.h"

#define LA_ROWS "op/def/loss.def"
#include "op/call.h"
#include "op/impls.h"
#include "op/look.h"
#include "tensor/shape.h"

#define LOG_2PI 1.8378770664093454836

/* The variance in a shape that broadcasts with the input: of its size, without
** the last dim, or with a last dim of 1; LA_ESHAPE otherwise. */
static la_status fit_variance(const la_frame *f, la_tensor **out)
{
    const la_tensor *x = la_arg(f, 0);
    la_tensor *v = la_arg(f, 2);
    int64_t last = -1;
    int n = x->ndim;
    char have[256], want[256];
    size_t rest = 8u * (size_t)(n > 0 ? n - 1 : 0);
    bool same = v->ndim == n && memcmp(la_sizes(v), la_sizes(x), rest) == 0
        && (n == 0 || la_sizes(v)[n - 1] == la_sizes(x)[n - 1]
            || la_sizes(v)[n - 1] == 1);
    if (same || v->ndim == 0) return la_tensor_same(v, out);
    if (v->ndim == n - 1 && memcmp(la_sizes(v), la_sizes(x), rest) == 0)
        return la_run(unsqueeze, out, v, last);
    return la_error_at(LA_ESHAPE, 3, "var is of incorrect size %s for an input "
                       "of size %s",
                       la_sizes_text(v->ndim, la_sizes(v), have, sizeof have),
                       la_sizes_text(n, la_sizes(x), want, sizeof want));
}

/* max(var, eps) whose gradient passes as if nothing were clamped: the
** difference is added as a constant. */
static la_tensor *floored(la_chain *w, la_tensor *var, double eps)
{
    la_tensor *plain = R(detach, var);
    return R(add, var, R(sub, R(clamp_min, plain, eps), plain));
}

/* LA_EARG if the variance has a negative element; meta tensors have none. */
static la_status check_not_negative(la_chain *w, la_frame *f, la_tensor *var)
{
    if (la_lacks_values(f) || var->numel == 0) return LA_OK;
    la_tensor *count = R(sum, R(lt, R(detach, var), 0.0));
    const la_look_question q = {LA_LOOK_zero, 3, 1, 0};
    int64_t answer;
    return w->status ? w->status : la_look(f->op, &q, count, &answer);
}

/* gaussian_nll_loss(self, target, var, full, eps, reduction): (log(v) + (x -
** t)^2 / v) / 2, v = max(var, eps); 'full' adds log(2 pi) / 2. */
la_status la_impl_gaussian_nll_loss(la_frame *f)
{
    LA_CHAIN(w);
    double eps = la_arg_float(f, 4);
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 5));
    LA_LET(var, fit_variance(f, &var));
    LA_TRY(check_not_negative(w, f, var));
    la_tensor *safe = floored(w, var, eps);
    la_tensor *square = R(square, R(sub, f->args[0], f->args[1]));
    la_tensor *part = R(div, square, safe);
    la_tensor *log = R(log, safe);
    la_tensor *both = R(add, log, part);
    if (la_arg_bool(f, 3)) both = R(add, both, LOG_2PI);
    return finish(w, f, 5, R(mul, both, 0.5));
}

/* Stirling's approximation of log(t!): t log(t) - t + log(2 pi t) / 2 for t
** above 1, else 0. */
static la_tensor *stirling(la_chain *w, la_tensor *t)
{
    la_tensor *small = R(le, t, 1.0);
    la_tensor *safe = R(masked_fill, t, small, 1.0);
    la_tensor *log = R(log, safe);
    la_tensor *b = R(sub, R(mul, safe, log), safe);
    la_tensor *c = R(add, b, R(mul, log, 0.5));
    return R(masked_fill, R(add, c, 0.5 * LOG_2PI), small, 0.0);
}

/* poisson_nll_loss(self, target, log_input, full, eps, reduction): exp(x) - t
** x, or x - t log(x + eps) where the input is no logarithm. */
la_status la_impl_poisson_nll_loss(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *t = la_arg(f, 1), *each;
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 5));
    if (la_arg_bool(f, 2)) {
        la_tensor *rate = R(exp, x);
        la_tensor *visible_end = R(mul, t, x);
        each = R(sub, rate, visible_end);
    } else {
        la_tensor *log = R(log, R(add, x, la_arg_float(f, 4)));
        la_tensor *visible_end = R(mul, t, log);
        each = R(sub, x, visible_end);
    }
    if (la_arg_bool(f, 3) && !w->status) {
        la_tensor *rest = stirling(w, t);
        each = R(add, each, rest);
    }
    return finish(w, f, 5, each);
}
