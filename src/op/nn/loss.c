/*
** Losses that are composites of element-wise operations and a reduction, as
** torch.nn.functional defines them. Input and target have one size
** (same_sizes). Each function below: checks, the loss of each element,
** finish().
*/
#include "op/nn/loss.h"

#define LA_ROWS "op/def/loss.def"
#include "op/frame.h"
#include "op/impls.h"
#include "op/look.h"

/* ---- of a difference ---- */

/* mse_loss(self, target, reduction): (x - y)^2 */
la_status la_impl_mse_loss(la_frame *f)
{
    LA_CHAIN(w);
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 2));
    return finish(w, f, 2, R(square, R(sub, f->args[0], f->args[1])));
}

/* l1_loss(self, target, reduction): |x - y| */
la_status la_impl_l1_loss(la_frame *f)
{
    LA_CHAIN(w);
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 2));
    return finish(w, f, 2, R(abs, R(sub, f->args[0], f->args[1])));
}

/* Quadratic for |d| below 'edge', linear above: curve * d^2 or slope * (|d| -
** edge / 2). With an edge of 0 it is |d|. */
static la_status bent(la_frame *f, double edge, double curve, double slope)
{
    LA_CHAIN(w);
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 2));
    la_tensor *d = R(sub, f->args[0], f->args[1]);
    la_tensor *size = R(abs, d);
    if (edge == 0) return finish(w, f, 2, size);
    la_tensor *near = R(lt, size, edge);
    /* The slope of d^2, where that is not used, is 0 times d, which must be
    ** finite. */
    la_tensor *small = d && la_grad_flag(d) ? R(where, near, d, 0.0) : d;
    la_tensor *square = R(square, small);
    la_tensor *low = R(mul, square, curve);
    la_tensor *high = R(mul, R(sub, size, 0.5 * edge), slope);
    return finish(w, f, 2, R(where, near, low, high));
}

/* smooth_l1_loss(self, target, reduction, beta): beta is the edge, slope 1. */
la_status la_impl_smooth_l1_loss(la_frame *f)
{
    double beta = la_arg_float(f, 3);
    if (!(beta >= 0))
        return la_error_at(LA_EARG, 4, "smooth_l1_loss does not support "
                           "negative values for beta");
    return bent(f, beta, 0.5 / beta, 1);
}

/* huber_loss(self, target, reduction, delta): delta times smooth_l1_loss. */
la_status la_impl_huber_loss(la_frame *f)
{
    double delta = la_arg_float(f, 3);
    if (!(delta > 0))
        return la_error_at(LA_EARG, 4, "huber_loss does not support "
                           "non-positive values for delta");
    return bent(f, delta, 0.5, delta);
}

/* ---- of probabilities ---- */

/* max(log(x), -100), with gradient 0 where x is 0. */
static la_tensor *bounded_log(la_chain *w, la_tensor *x)
{
    if (w->status) return NULL;
    la_tensor *zero = R(le, x, 0.0);
    la_tensor *log = R(log, R(masked_fill, x, zero, 1.0));
    return R(clamp_min, R(masked_fill, log, zero, -100.0), -100.0);
}

/* All elements of argument 1 lie in [0, 1]. Meta tensors have no values to
** check. */
static la_status check_unit(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    if (x->numel == 0 || la_lacks_values(f)) return LA_OK;
    la_tensor *plain = R(detach, x);
    la_tensor *low = R(lt, plain, 0.0);
    la_tensor *count = R(sum, R(logical_or, low, R(gt, plain, 1.0)));
    const la_look_question q = {LA_LOOK_zero, 1, 0, 0};
    int64_t answer;
    return w->status ? w->status : la_look(f->op, &q, count, &answer);
}

/* binary_cross_entropy(self, target, weight, reduction): -(t log(x) + (1 - t)
** log(1 - x)), logarithms bounded by -100 as in PyTorch. */
la_status la_impl_binary_cross_entropy(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *t = la_arg(f, 1);
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 3));
    if (la_has(f, 2)) LA_TRY(la_check_fits(la_arg(f, 2), 3, "a weight", x));
    LA_TRY(check_unit(f));
    la_tensor *rest = R(rsub, x, 1.0);
    la_tensor *yes = bounded_log(w, x);
    la_tensor *no = bounded_log(w, rest);
    la_tensor *a = R(mul, t, yes);
    la_tensor *both = R(add, a, R(mul, R(rsub, t, 1.0), no));
    la_tensor *each = R(neg, both);
    if (la_has(f, 2)) each = R(mul, each, f->args[2]);
    return finish(w, f, 3, each);
}

/* binary_cross_entropy_with_logits(self, target, weight, pos_weight,
** reduction): (1 - t) x - (1 + (pos_weight - 1) t) logsigmoid(x), which does
** not overflow for large |x| as sigmoid and log would. */
la_status la_impl_binary_cross_entropy_with_logits(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *t = la_arg(f, 1);
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 4));
    for (int k = 2; k <= 3; k++)
        if (la_has(f, k))
            LA_TRY(la_check_fits(la_arg(f, k), k + 1, "a weight", x));
    la_tensor *log = R(logsigmoid, x);
    if (la_has(f, 3)) {
        la_tensor *part = R(mul, R(sub, f->args[3], 1.0), t);
        log = R(mul, log, R(add, part, 1.0));
    }
    la_tensor *each = R(sub, R(mul, R(rsub, t, 1.0), x), log);
    if (la_has(f, 2)) each = R(mul, each, f->args[2]);
    return finish(w, f, 4, each);
}

/* kl_div(self, target, reduction, log_target): t (log(t) - x), x being a
** log-probability; 'batchmean' divides the sum by the size of dim 1. */
la_status la_impl_kl_div(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *t = la_arg(f, 1), *each;
    bool by_batch = la_str_is(&f->args[2], "batchmean");
    if (!by_batch) LA_TRY(known_reduction(f, 2));
    if (la_arg_bool(f, 3)) {
        la_tensor *d = R(sub, t, x);
        each = R(mul, R(exp, t), d);
    } else {
        la_tensor *own = R(xlogy, t, t);
        each = R(sub, own, R(mul, t, x));
    }
    if (!by_batch || w->status) return finish(w, f, 2, each);
    double rows = x->ndim ? (double)la_sizes(x)[0] : 1;
    la_tensor *sum = R(sum, each);
    return la_chain_end(w, f, R(div, sum, rows));
}

/* soft_margin_loss(self, target, reduction): log(1 + exp(-t x)) */
la_status la_impl_soft_margin_loss(la_frame *f)
{
    LA_CHAIN(w);
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 2));
    la_tensor *log = R(logsigmoid, R(mul, f->args[0], f->args[1]));
    return finish(w, f, 2, R(neg, log));
}

/* ---- of margins ---- */

/* 'same' where the target is 1, max(0, other) where it is -1, else 0. */
static la_status by_sign(la_chain *w, la_frame *f, int target, int reduction,
                         la_tensor *same, la_tensor *other)
{
    if (w->status) return w->status;
    la_tensor *one = R(ne, f->args[target], 1.0);
    la_tensor *minus = R(ne, f->args[target], -1.0);
    la_tensor *high = R(clamp_min, other, 0.0);
    la_tensor *zero = R(zeros_like, other);
    la_tensor *a = R(where, one, zero, same);
    la_tensor *b = R(where, minus, zero, high);
    return finish(w, f, reduction, R(add, a, b));
}

/* hinge_embedding_loss(self, target, margin, reduction): x where the target is
** 1, max(0, margin - x) where it is -1, the sum of both elsewhere. */
la_status la_impl_hinge_embedding_loss(la_frame *f)
{
    LA_CHAIN(w);
    LA_TRY(known_reduction(f, 3));
    la_tensor *x = la_arg(f, 0);
    la_tensor *one = R(eq, f->args[1], 1.0);
    la_tensor *minus = R(eq, f->args[1], -1.0);
    la_tensor *rest = R(rsub, x, la_arg_float(f, 2));
    la_tensor *missing = R(clamp_min, rest, 0.0);
    la_tensor *zero = R(zeros_like, x);
    la_tensor *a = R(where, minus, zero, x);
    return finish(w, f, 3, R(add, a, R(where, one, zero, missing)));
}

/* margin_ranking_loss(input1, input2, target, margin, reduction): max(0, -t (x1
** - x2) + margin) */
la_status la_impl_margin_ranking_loss(la_frame *f)
{
    LA_CHAIN(w);
    LA_TRY(known_reduction(f, 4));
    la_tensor *z = R(mul, R(sub, f->args[1], f->args[0]), f->args[2]);
    la_tensor *moved = R(add, z, la_arg_float(f, 3));
    return finish(w, f, 4, R(clamp_min, moved, 0.0));
}

/* cosine_embedding_loss(input1, input2, target, margin, reduction): 1 - cos for
** target 1, max(0, cos - margin) for target -1. */
la_status la_impl_cosine_embedding_loss(la_frame *f)
{
    LA_CHAIN(w);
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 4));
    if (la_arg(f, 0)->ndim != la_arg(f, 2)->ndim + 1)
        return la_error_at(LA_ESHAPE, 3, "a target with one dim less than the "
                           "inputs (%d) is expected, got %d dims",
                           la_arg(f, 0)->ndim, la_arg(f, 2)->ndim);
    la_tensor *cos = R(cosine_similarity, f->args[0], f->args[1], -1);
    la_tensor *same = R(rsub, cos, 1.0);
    la_tensor *other = R(sub, cos, la_arg_float(f, 3));
    return by_sign(w, f, 2, 4, same, other);
}

/* triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
** reduction): max(0, d(a, p) - d(a, n) + margin). With 'swap' the negative's
** distance is the smaller of those to anchor and positive (Balntas et al.
** 2016). */
la_status la_impl_triplet_margin_loss(la_frame *f)
{
    LA_CHAIN(w);
    LA_TRY(known_reduction(f, 7));
    if (la_arg_float(f, 3) <= 0)
        return la_error_at(LA_EARG, 4, "margin must be greater than 0, got %g",
                           la_arg_float(f, 3));
    const la_value p = f->args[4], eps = f->args[5];
    la_tensor *near = R(pairwise_distance, f->args[0], f->args[1], p, eps);
    la_tensor *far = R(pairwise_distance, f->args[0], f->args[2], p, eps);
    if (la_arg_bool(f, 6)) {
        far = R(minimum, far,
                R(pairwise_distance, f->args[1], f->args[2], p, eps));
    }
    la_tensor *moved = R(add, R(sub, near, far), la_arg_float(f, 3));
    return finish(w, f, 7, R(clamp_min, moved, 0.0));
}

/* ---- distances ---- */

/* cosine_similarity(x1, x2, dim, eps): x1 . x2 / (max(|x1|, eps) max(|x2|,
** eps)) over dim, after broadcasting. */
la_status la_impl_cosine_similarity(la_frame *f)
{
    LA_CHAIN(w);
    int64_t dim = la_arg_int(f, 2);
    la_tensor *floor = NULL, *norms[2];
    la_tensor *xy = R(mul, f->args[0], f->args[1]);
    la_tensor *dot = R(sum, xy, la_v_ints(&dim, 1));
    la_tensor *shape = R(zeros_like, xy);
    for (int k = 0; k < 2; k++) {
        la_tensor *same = R(type_as, f->args[k], shape);
        la_tensor *full = R(expand_as, same, shape);
        floor = R(vector_norm, full, la_v_float(2), la_v_ints(&dim, 1));
        norms[k] = R(clamp_min, floor, la_arg_float(f, 3));
    }
    return la_chain_end(w, f, R(div, dot, R(mul, norms[0], norms[1])));
}

