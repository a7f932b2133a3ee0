/*
** Losses of classes: nll_loss and cross_entropy. Labels count from 1.
**
** One pass over the labels checks that all are classes and counts the ignored
** ones; the plain case is then one gather and one mean, or the fused kernel
** label_entropy, which never writes the probabilities to memory.
*/
#include "iter/items.h"
#include "kernel/rows/rows.h"
#include "op/nn/loss.h"
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/loss.def"
#include "op/impls.h"
#define LA_ROWS "op/def/reduce.def"
#include "base/runtime/context.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "op/call.h"
#include "op/impls.h"
#include "op/look.h"
#include "op/op.h"
#include "tensor/shape.h"

enum { SELF, TARGET, WEIGHT, IGNORE, REDUCTION, SMOOTHING };

/* ---- labels ---- */

/* The classes are dim 1 of (C), else dim 2; the target lacks that dim. */
static la_status check_target(const la_tensor *x, const la_tensor *t, int *dim)
{
    char have[256], want[256];
    bool fits = x->ndim >= 1 && t->ndim == x->ndim - 1;
    *dim = x->ndim > 1;
    for (int d = 0, k = 0; fits && d < x->ndim; d++)
        if (d != *dim) fits = la_sizes(x)[d] == la_sizes(t)[k++];
    if (!fits)
        return la_error_at(LA_ESHAPE, TARGET + 1, "labels of size %s don't fit "
                           "input of size %s: (N) and (N, C), or (N, ...) and "
                           "(N, C, ...) expected",
                           la_sizes_text(t->ndim, la_sizes(t), have,
                                         sizeof have),
                           la_sizes_text(x->ndim, la_sizes(x), want,
                                         sizeof want));
    if (t->dtype != LA_INT64)
        return la_error_at(LA_EDTYPE, TARGET + 1, "class labels are int64, got "
                           "%s", la_dtype_name((la_dtype)t->dtype));
    return LA_OK;
}

/* One weight per class, or none. */
static la_status labels_check_weight(const la_frame *f, int64_t classes)
{
    const la_tensor *v = la_arg(f, WEIGHT);
    if (!v || (v->ndim == 1 && v->numel == classes)) return LA_OK;
    return la_error_at(LA_ESHAPE, WEIGHT + 1, "weight tensor should be defined "
                       "either for all %lld classes or no classes",
                       (long long)classes);
}

/* ---- nll ---- */

typedef struct picked {
    la_tensor *labels;         /* like the target; ignored ones are 1 */
    la_tensor *ignored;        /* bool, or NULL when none is */
    la_tensor *weight;         /* of each label, or NULL for ones */
    int64_t count;             /* labels that count; -1: not known (meta) */
    bool counts;               /* ... are counted by a call */
    int dim;
} picked;

/* Checks the labels and looks up their weights. Ignored labels become class 1,
** so that gathering is valid; their loss is masked afterwards. */
static la_status pick_labels(la_frame *f, la_chain *w, picked *p)
{
    la_tensor *x = la_arg(f, SELF), *t = la_arg(f, TARGET);
    LA_TRY(check_target(x, t, &p->dim));
    int64_t classes = la_sizes(x)[p->dim], ignored = 1, all = -1;
    int64_t ignore = la_arg_int(f, IGNORE);
    la_look_question q = {LA_LOOK_count, TARGET + 1, classes, ignore};
    LA_TRY(labels_check_weight(f, classes));
    p->labels = R(contiguous, t);
    if (w->status) return w->status;
    /* A recording counts by calls, so that the number may change. */
    p->counts = la_ctx()->recorder && (x->dtype == LA_FLOAT32
                                        || x->dtype == LA_FLOAT64);
    if (p->counts) q.kind = LA_LOOK_ignored;
    if (!la_lacks_values(f)) LA_TRY(la_look(f->op, &q, p->labels, &ignored));
    p->count = t->numel - ignored;
    if (ignored) {
        p->ignored = R(eq, p->labels, la_scalar_int(ignore));
        p->labels = R(masked_fill, p->labels, p->ignored, la_scalar_int(1));
    }
    if (!la_has(f, WEIGHT) || w->status) return w->status;
    la_tensor *flat = R(reshape, p->labels, la_v_ints(&all, 1));
    la_tensor *found = R(index_select, f->args[WEIGHT], 0, flat);
    p->weight = R(reshape, found, la_v_ints(la_sizes(t), t->ndim));
    if (p->ignored)
        p->weight = R(masked_fill, p->weight, p->ignored, 0.0);
    return w->status;
}

/* The sum of the losses divided by the sum of the labels' weights (or their
** count), ignored ones excluded. */
static la_tensor *weighed_mean(la_chain *w, const picked *p, la_tensor *each)
{
    if (!p->weight && !p->ignored) return R(mean, each);
    la_tensor *sum = R(sum, each);
    if (!p->weight && p->counts) {
        la_tensor *n = R(sum, R(logical_not, p->ignored));
        return R(div, sum, R(astype, n, la_v_dtype((la_dtype)sum->dtype)));
    }
    if (!p->weight) return R(div, sum, (double)p->count);
    return R(div, sum, R(sum, p->weight));
}

/* Reduces the losses in the way that argument REDUCTION says. */
static la_tensor *labels_reduce(la_chain *w, const la_frame *f, const picked *p,
                                la_tensor *each)
{
    if (la_str_is(&f->args[REDUCTION], "mean"))
        return weighed_mean(w, p, each);
    if (la_str_is(&f->args[REDUCTION], "sum")) return R(sum, each);
    return each;
}

/* -logp[label], times its weight; ignored labels give 0. */
static la_tensor *label_loss(la_chain *w, const picked *p, la_tensor *logp)
{
    int64_t dim = p->dim;
    la_tensor *at = R(unsqueeze, p->labels, p->dim);
    la_tensor *wide = R(gather, logp, p->dim, at);
    la_tensor *each = R(neg, R(squeeze, wide, la_v_ints(&dim, 1)));
    if (p->weight) each = R(mul, each, p->weight);
    if (p->ignored)
        each = R(masked_fill, each, p->ignored, 0.0);
    return each;
}

/* -sum over the classes of weight * logp, for label smoothing (Szegedy et al.
** 2016); ignored labels give 0. */
static la_tensor *smooth_loss(la_chain *w, const la_frame *f, const picked *p,
                              la_tensor *logp)
{
    int64_t shape[LA_MAX_DIMS], dim = p->dim;
    if (la_has(f, WEIGHT)) {
        int n = la_arg(f, SELF)->ndim;
        for (int d = 0; d < n; d++) shape[d] = d == dim ? -1 : 1;
        la_tensor *v = R(reshape, f->args[WEIGHT], la_v_ints(shape, n));
        logp = R(mul, logp, v);
    }
    la_tensor *sum = R(sum, logp, la_v_ints(&dim, 1));
    la_tensor *each = R(neg, sum);
    if (p->ignored)
        each = R(masked_fill, each, p->ignored, 0.0);
    return each;
}

/* nll_loss(self [N, C, ...], target [N, ...], weight [C], ignore_index,
** reduction): self holds log-probabilities. */
la_status la_impl_nll_loss(la_frame *f)
{
    LA_CHAIN(w);
    picked p = {0};
    LA_TRY(known_reduction(f, REDUCTION));
    LA_TRY(pick_labels(f, w, &p));
    la_tensor *each = label_loss(w, &p, la_arg(f, SELF));
    return la_chain_end(w, f, labels_reduce(w, f, &p, each));
}

/* ---- cross entropy ---- */

/* cross_entropy whose target gives a probability of each class. */
static la_status with_probabilities(la_frame *f, la_tensor *logp, int dim)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, SELF), *t = la_arg(f, TARGET);
    int64_t shape[LA_MAX_DIMS], one = dim;
    double classes = (double)la_sizes(x)[dim];
    double s = la_arg_float(f, SMOOTHING);
    LA_TRY(labels_check_weight(f, la_sizes(x)[dim]));
    if (s > 0) {
        t = R(add, R(mul, t, 1 - s), s / classes);
    }
    la_tensor *all = R(mul, logp, t);
    if (la_has(f, WEIGHT)) {
        for (int d = 0; d < x->ndim; d++) shape[d] = d == dim ? -1 : 1;
        all =
            R(mul, all, R(reshape, f->args[WEIGHT], la_v_ints(shape, x->ndim)));
    }
    la_tensor *sum = R(sum, all, la_v_ints(&one, 1));
    la_tensor *each = R(neg, sum);
    if (la_str_is(&f->args[REDUCTION], "none")) return la_chain_end(w, f, each);
    la_tensor *total = R(sum, each);
    if (la_str_is(&f->args[REDUCTION], "mean"))
        total = R(div, total, (double)x->numel / classes);
    return la_chain_end(w, f, total);
}

/* Then a floating point target holds probabilities. */
static bool labels_same_shape(const la_tensor *x, const la_tensor *t)
{
    return x->ndim == t->ndim
        && memcmp(la_sizes(x), la_sizes(t), 8u * x->ndim) == 0;
}

/* cross_entropy whose target gives labels: (1 - s) nll + s / C *
** smooth_loss. */
static la_status with_labels(la_frame *f, la_tensor *logp)
{
    LA_CHAIN(w);
    picked p = {0};
    double s = la_arg_float(f, SMOOTHING);
    LA_TRY(pick_labels(f, w, &p));
    la_tensor *each = label_loss(w, &p, logp);
    la_tensor *loss = labels_reduce(w, f, &p, each);
    if (s == 0) return la_chain_end(w, f, loss);
    double classes = (double)la_sizes(logp)[p.dim];
    la_tensor *even = smooth_loss(w, f, &p, logp);
    la_tensor *other = labels_reduce(w, f, &p, even);
    la_tensor *a = R(mul, loss, 1 - s);
    return la_chain_end(w, f, R(add, a, R(mul, other, s / classes)));
}

/* label_entropy(self, labels) on contiguous rows: pointers for the kernels. */
typedef struct entropy {
    const la_entropy *kernel;
    const char *in, *grad;
    const int64_t *label;
    char *loss, *lse, *out;
    int64_t n, esize, lsize;
} entropy;

/* Loss and logsumexp of rows begin..end. */
static void entropy_rows(int64_t begin, int64_t end, void *context)
{
    const entropy *e = context;
    e->kernel->rows(e->in + begin * e->n * e->esize, e->label + begin, e->n,
                    end - begin, e->loss + begin * e->esize,
                    e->lse + begin * e->lsize);
}

/* (softmax - one_hot(label)) * grad for rows begin..end. */
static void entropy_grad_rows(int64_t begin, int64_t end, void *context)
{
    const entropy *e = context;
    int64_t at = begin * e->n * e->esize;
    e->kernel->grad(e->grad + begin * e->esize, e->in + at, e->label + begin,
                    e->lse + begin * e->lsize, e->n, end - begin, e->out + at);
}

/* logsumexp is kept in float32 for 16-bit floats. */
static la_dtype lse_dtype(const la_tensor *x)
{
    return x->dtype == LA_FLOAT64 ? LA_FLOAT64 : LA_FLOAT32;
}

/* Contiguous self [N, C] and labels [N]; every label a class. */
static la_status check_entropy(const la_frame *f, const la_tensor *x,
                               const la_tensor *labels)
{
    int64_t ignored;
    const la_look_question q = {LA_LOOK_ignored, TARGET + 1, la_sizes(x)[1],
                                -1};
    if (x->ndim != 2 || !la_is_float((la_dtype)x->dtype)
        || !la_is_contiguous(x) || labels->ndim != 1
        || labels->numel != la_sizes(x)[0] || labels->dtype != LA_INT64
        || !la_is_contiguous(labels))
        return la_error(LA_ESHAPE, "%s: (N, C) floating point values and N "
                        "labels without gaps are expected", f->op->name);
    if (la_lacks_values(f)) return LA_OK;
    LA_TRY(la_look_ask(&q, labels, &ignored));
    if (!ignored) return LA_OK;
    return la_error_at(LA_EINDEX, TARGET + 1, "class label -1 is out of range: "
                       "there are %lld classes", (long long)la_sizes(x)[1]);
}

/* label_entropy(self [N, C], labels [N]) -> loss [N], logsumexp [N]:
** logsumexp(row) - row[label], in one pass over the row. */
la_status la_meta_label_entropy(la_frame *f)
{
    const la_tensor *x = la_arg(f, 0);
    LA_TRY(check_entropy(f, x, la_arg(f, 1)));
    LA_TRY(la_set_output(f, 0, 1, la_sizes(x), NULL, (la_dtype)x->dtype));
    return la_set_output(f, 1, 1, la_sizes(x), NULL, lse_dtype(x));
}

/* Rows over the threads; 'pass' is one of the two functions above. */
static la_status entropy_run(la_frame *f, entropy *e, const la_tensor *x,
                             const la_tensor *labels,
                             la_range_fn pass)
{
    if (x->numel == 0) return LA_OK;
    e->kernel = &(*LA_STUB(entropy))[x->dtype];
    e->in = la_data(x);
    e->label = (const int64_t *)la_data(labels);
    e->n = la_sizes(x)[1];
    e->esize = (int64_t)la_itemsize(x);
    e->lsize = x->dtype == LA_FLOAT64 ? 8 : 4;
    return la_iter_items(la_sizes(x)[0], la_ceil_div(LA_GRAIN / 4, e->n),
                         LA_POLL_ELEMENTS / 4 / e->n + 1, pass, e);
}

/* Rows over the threads, each in one pass. */
la_status la_impl_label_entropy(la_frame *f)
{
    entropy e = {.loss = la_data(la_result(f, 0)),
                 .lse = la_data(la_result(f, 1))};
    return entropy_run(f, &e, la_arg(f, 0), la_arg(f, 1), entropy_rows);
}

/* label_entropy_backward(grad [N], self, labels, logsumexp) -> [N, C]. */
la_status la_meta_label_entropy_backward(la_frame *f)
{
    const la_tensor *g = la_arg(f, 0), *x = la_arg(f, 1), *lse = la_arg(f, 3);
    LA_TRY(check_entropy(f, x, la_arg(f, 2)));
    if (g->ndim != 1 || g->numel != la_sizes(x)[0] || lse->ndim != 1
        || lse->numel != la_sizes(x)[0])
        return la_error(LA_ESHAPE, "%s: a gradient and a logsumexp per row are "
                        "expected", f->op->name);
    return la_set_output(f, 0, 2, la_sizes(x), NULL, (la_dtype)x->dtype);
}

/* Gradients of mean() are expanded scalars: they are made contiguous first. */
la_status la_impl_label_entropy_backward(la_frame *f)
{
    LA_OWNED grad = NULL;
    LA_OWNED lse = NULL;
    la_tensor *g = la_arg(f, 0), *l = la_arg(f, 3);
    const la_tensor *x = la_arg(f, 1);
    grad = la_tensor_retain(g);
    if (!la_is_contiguous(g) || g->dtype != x->dtype)
        LA_TRY(la_convert_to(g, (la_dtype)x->dtype, &grad));
    lse = la_tensor_retain(l);
    if (!la_is_contiguous(l) || (la_dtype)l->dtype != lse_dtype(x))
        LA_TRY(la_convert_to(l, lse_dtype(x), &lse));
    entropy e = {.grad = la_data(grad), .lse = la_data(lse),
                 .out = la_data(la_result(f, 0))};
    return entropy_run(f, &e, x, la_arg(f, 2), entropy_grad_rows);
}

/* cross_entropy by label_entropy: contiguous (N, C), no weights, no smoothing,
** no label ignored. *done is false, and nothing was computed, in other
** cases. */
static la_status labels_fused(la_frame *f, bool *done)
{
    LA_CHAIN(w);
    picked p = {0};
    la_value pair[LA_MAX_RESULTS];
    la_tensor *x = la_arg(f, SELF), *t = la_arg(f, TARGET);
    *done = false;
    if (x->ndim != 2 || !la_is_float((la_dtype)x->dtype) || la_lacks_values(f)
        || !la_is_contiguous(x) || x->numel == 0 || t->dtype != LA_INT64
        || la_has(f, WEIGHT) || la_arg_float(f, SMOOTHING) != 0)
        return LA_OK;
    LA_TRY(pick_labels(f, w, &p));
    /* The kernel has no notion of an ignored label. */
    if (p.ignored) return LA_OK;
    LA_TRY(la_run_many(label_entropy, pair, x, p.labels));
    la_chain_own(w, pair[0].tensor);
    la_chain_own(w, pair[1].tensor);
    *done = true;
    return la_chain_end(w, f, labels_reduce(w, f, &p, pair[0].tensor));
}

/* cross_entropy(self, target, weight, ignore_index, reduction,
** label_smoothing): a floating point target of self's shape gives
** probabilities, else labels. */
la_status la_impl_cross_entropy(la_frame *f)
{
    bool done;
    la_tensor *x = la_arg(f, SELF), *t = la_arg(f, TARGET);
    double s = la_arg_float(f, SMOOTHING);
    int dim = x->ndim > 1;
    LA_TRY(known_reduction(f, REDUCTION));
    if (!(s >= 0 && s <= 1))
        return la_error_at(LA_EARG, SMOOTHING + 1, "label_smoothing must be "
                           "between 0.0 and 1.0. Got: %g", s);
    if (x->ndim == 0)
        return la_error_at(LA_ESHAPE, 1, "expected (C), (N, C) or (N, C, ...), "
                           "got a 0-dim tensor");
    LA_TRY(labels_fused(f, &done));
    if (done) return LA_OK;
    LA_LET(logp, la_run(log_softmax, &logp, x, dim));
    bool real = la_dtype_kind((la_dtype)t->dtype) == 'f';
    if (real && labels_same_shape(x, t))
        return with_probabilities(f, logp, dim);
    return with_labels(f, logp);
}
