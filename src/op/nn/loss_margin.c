/*
** Margin losses of classes: multi_margin, multilabel_margin,
** multilabel_soft_margin. Composites. Inputs are (C) or (N, C), where a
** number is one class; labels count
** from 1, and a list of labels ends at the first that is less than 1.
*/
#include "op/nn/loss.h"

#define LA_ROWS "op/def/loss.def"
#include "op/frame.h"
#include "op/impls.h"
#include "op/look.h"
#include "tensor/shape.h"

/* (C) or (N, C); 'least' dims at the least. */
static la_status check_scores(const la_frame *f, int least)
{
    const la_tensor *x = la_arg(f, 0);
    if (x->ndim >= least && x->ndim <= 2) return LA_OK;
    return la_error_at(LA_ESHAPE, 1,
                       "scores of (C) or (N, C) are expected, got "
                       "%d dims",
                       x->ndim);
}

/* int64 labels with the first 'ndim' sizes of x. */
static la_status check_labels(const la_frame *f, const la_tensor *x, int ndim)
{
    const la_tensor *t = la_arg(f, 1);
    char have[256], want[256];
    if (t->dtype != LA_INT64)
        return la_error_at(LA_EDTYPE, 2, "class labels are int64, got %s",
                           la_dtype_name((la_dtype)t->dtype));
    if (la_has_sizes(t, ndim, la_sizes(x))) return LA_OK;
    return la_error_at(LA_ESHAPE, 2, "labels of size %s don't fit scores of "
                       "size %s",
                       la_sizes_text(t->ndim, la_sizes(t), have, sizeof have),
                       la_sizes_text(x->ndim, la_sizes(x), want, sizeof want));
}

static int64_t classes_of(const la_tensor *x)
{
    return x->ndim ? la_sizes(x)[x->ndim - 1] : 1;
}

/* Every label is a class; 'least' is the smallest allowed (1, or less for lists
** that end early). */
static la_status scan(la_chain *w, la_frame *f, int64_t least)
{
    const la_tensor *x = la_arg(f, 0);
    const la_look_question q = {LA_LOOK_labels, 2, least, classes_of(x)};
    int64_t answer;
    if (la_lacks_values(f)) return LA_OK;
    la_tensor *t = R(contiguous, f->args[1]);
    return w->status ? w->status : la_look(f->op, &q, t, &answer);
}

/* The mean over the classes, as each sample's loss. */
static la_status over_classes(la_chain *w, la_frame *f, int k, la_tensor *sum)
{
    double classes = (double)classes_of(la_arg(f, 0));
    return finish(w, f, k, R(div, sum, classes));
}

/* multi_margin_loss(self, target, p, margin, weight, reduction): sum over j !=
** y of max(0, margin - x[y] + x[j])^p, times weight[y] / C; p is 1 or 2. */
la_status la_impl_multi_margin_loss(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    int64_t last = -1, p = la_arg_int(f, 2);
    LA_TRY(check_scores(f, 0));
    if (x->ndim == 0) x = R(unsqueeze, x, 0);
    else if (x->ndim == 1 && la_arg(f, 1)->ndim == 1)    /* a batch of one */
        x = R(unsqueeze, x, 0);
    if (w->status) return w->status;
    LA_TRY(check_labels(f, x, x->ndim - 1));
    LA_TRY(known_reduction(f, 5));
    LA_TRY(scan(w, f, 1));
    if (p != 1 && p != 2)
        return la_error_at(LA_EARG, 3, "only p == 1 and p == 2 supported");
    if (la_has(f, 4) && (la_arg(f, 4)->ndim != 1
                         || la_arg(f, 4)->numel != la_sizes(x)[x->ndim - 1]))
        return la_error_at(LA_ESHAPE, 5, "one weight per class is expected");
    la_tensor *y = R(unsqueeze, f->args[1], last);
    la_tensor *ahead = R(sub, x, R(gather, x, last, y));
    la_tensor *sum = R(add, ahead, la_arg_float(f, 3));
    la_tensor *part = R(clamp_min, sum, 0.0);
    if (p == 2) part = R(square, part);
    if (la_has(f, 4)) {
        la_tensor *flat = R(reshape, y, la_v_ints(&last, 1));
        la_tensor *all = R(index_select, f->args[4], 0, flat);
        part = R(mul, part, R(view_as, all, y));
    }
    la_tensor *mine = R(zeros_like, x, la_v_dtype(LA_BOOL));
    mine = R(scatter, mine, last, y, la_scalar_bool(1));
    part = R(masked_fill, part, mine, 0.0);
    return over_classes(w, f, 5, R(sum, part, la_v_ints(&last, 1)));
}

/* multilabel_margin_loss(self, target, reduction): sum over labels y and other
** classes i of max(0, 1 - (x[y] - x[i])) / C. All pairs are computed at once, C
** x C for each sample, and masked. */
la_status la_impl_multilabel_margin_loss(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    int64_t last = -1, before = -2, both[2] = {-1, -2};
    LA_TRY(check_scores(f, 0));
    LA_TRY(check_labels(f, x, x->ndim));
    LA_TRY(known_reduction(f, 2));
    LA_TRY(scan(w, f, INT64_MIN));
    la_tensor *t = la_arg(f, 1);
    if (x->ndim == 0) {
        x = R(unsqueeze, x, 0);
        t = R(unsqueeze, t, 0);
    }
    la_tensor *real = R(ge, t, la_scalar_int(1));
    la_tensor *open = R(cumprod, real, last); /* 1 up to the end */
    la_tensor *is = R(gt, open, la_scalar_int(0));
    la_tensor *y = R(where, is, t, R(ones_like, t));
    la_tensor *count = R(scatter_add, R(zeros_like, t), last, y, open);
    la_tensor *other = R(eq, count, la_scalar_int(0));
    la_tensor *rows = R(unsqueeze, R(gather, x, last, y), last);
    la_tensor *ahead = R(sub, R(unsqueeze, x, before), rows);
    la_tensor *miss = R(add, ahead, 1.0);
    miss = R(clamp_min, miss, 0.0);
    la_tensor *a = R(unsqueeze, is, last);
    la_tensor *pairs = R(logical_and, a, R(unsqueeze, other, before));
    la_tensor *part = R(mul, miss, pairs);
    return over_classes(w, f, 2, R(sum, part, la_v_ints(both, 2)));
}

/* multilabel_soft_margin_loss(self, target, weight, reduction): the mean over
** classes of -(t log(sigmoid(x)) + (1 - t) log(sigmoid(-x))). */
la_status la_impl_multilabel_soft_margin_loss(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *t = la_arg(f, 1);
    int64_t last = -1;
    LA_TRY(check_scores(f, 1));
    LA_TRY(same_sizes(f, 0, 1));
    LA_TRY(known_reduction(f, 3));
    la_tensor *yes = R(logsigmoid, x);
    la_tensor *no = R(logsigmoid, R(neg, x));
    la_tensor *a = R(mul, t, yes);
    la_tensor *sum = R(add, a, R(mul, R(rsub, t, 1.0), no));
    la_tensor *each = R(neg, sum);
    if (la_has(f, 2)) each = R(mul, each, f->args[2]);
    return finish(w, f, 3, R(mean, each, la_v_ints(&last, 1)));
}
