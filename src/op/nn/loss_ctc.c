/*
** ctc_loss (connectionist temporal classification, Graves et al. 2006): the
** negative logarithm of the probability that a sequence of frames spells the
** labels, with blanks between them.
**
** The forward recursion over the frames runs on all sequences and states at
** once and consists of operations, so it differentiates to any order. FAR
** stands for the logarithm of 0: it is finite, so that no difference of
** infinities appears.
*/
#include <math.h>

#include "op/nn/loss.h"

#define LA_ROWS "op/def/loss.def"
#include "op/call.h"
#include "op/impls.h"
#include "op/look.h"

#define FAR (-1e30)

enum { LOGS, TARGETS, IN_LENGTHS, TARGET_LENGTHS, BLANK, REDUCTION, ZERO_INF };

typedef struct ctc {
    int64_t frames, batch, classes, longest, states;
    bool single, flat;          /* no batch; the targets are one list */
    const int64_t *targets, *in, *lengths;
    la_dtype dtype;
} ctc;

/* ---- arguments ---- */

/* 'n' lengths of dtype int64, as one dim or a scalar. */
static la_status ctc_read_lengths(const la_frame *f, int arg, int64_t n,
                                  la_tensor *t)
{
    if (t->dtype != LA_INT64 || t->numel != n || t->ndim > 1)
        return la_error_at(LA_ESHAPE, arg + 1,
                           "%lld lengths of dtype int64 are "
                           "expected",
                           (long long)n);
    return la_look_alone(t);
}

/* Sequences have at most 'frames' frames, and labels within the targets; the
** lengths must add up to 'total', the length of flat targets. */
static la_status check_lengths(const ctc *c, int64_t total)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < c->batch; i++) {
        if (c->in[i] < 0 || c->in[i] > c->frames)
            return la_error_at(LA_EARG, IN_LENGTHS + 1, "length %lld is not "
                               "within 0 to %lld, the number of frames",
                               (long long)c->in[i], (long long)c->frames);
        if (c->lengths[i] < 0 || (!c->flat && c->lengths[i] > c->longest))
            return la_error_at(LA_EARG, TARGET_LENGTHS + 1, "length %lld does "
                               "not fit the targets",
                               (long long)c->lengths[i]);
        sum += c->lengths[i];
    }
    if (c->flat && sum != total)
        return la_error_at(LA_EARG, TARGET_LENGTHS + 1, "the lengths sum up to "
                           "%lld, but there are %lld targets", (long long)sum,
                           (long long)total);
    return LA_OK;
}

/* Fills 'c' from the arguments. Its pointers lead into temporaries of 'w'. */
static la_status read_ctc(la_chain *w, la_frame *f, ctc *c)
{
    const la_tensor *x = la_arg(f, LOGS);
    if (x->ndim != 2 && x->ndim != 3)
        return la_error_at(LA_ESHAPE, 1, "log-probabilities of (time, batch, "
                           "classes) or (time, classes) are expected");
    la_tensor *t = R(contiguous, f->args[TARGETS]);
    la_tensor *in = R(contiguous, f->args[IN_LENGTHS]);
    la_tensor *lengths = R(contiguous, f->args[TARGET_LENGTHS]);
    if (w->status) return w->status;
    c->dtype = (la_dtype)x->dtype;
    c->single = x->ndim == 2;
    c->frames = la_sizes(x)[0];
    c->batch = c->single ? 1 : la_sizes(x)[1];
    c->classes = la_sizes(x)[x->ndim - 1];
    c->flat = !c->single && t->ndim == 1;
    if (t->dtype != LA_INT64 || t->ndim < 1 || t->ndim > 2 - c->single
        || (t->ndim == 2 && la_sizes(t)[0] != c->batch))
        return la_error_at(LA_ESHAPE, 2, "int64 targets of (batch, length), or "
                           "one list of all, are expected");
    LA_TRY(ctc_read_lengths(f, IN_LENGTHS, c->batch, in));
    LA_TRY(ctc_read_lengths(f, TARGET_LENGTHS, c->batch, lengths));
    LA_TRY(la_look_alone(t));
    c->targets = (const int64_t *)la_data(t);
    c->in = (const int64_t *)la_data(in);
    c->lengths = (const int64_t *)la_data(lengths);
    c->longest = c->flat ? 0 : la_sizes(t)[t->ndim - 1];
    LA_TRY(check_lengths(c, t->numel));
    for (int64_t i = 0; i < c->batch; i++)
        if (c->flat && c->lengths[i] > c->longest) c->longest = c->lengths[i];
    c->states = 2 * c->longest + 1;
    return LA_OK;
}

/* ---- states: blank, label 1, blank, label 2, ..., blank ---- */

typedef struct maps {
    la_tensor *label;           /* class of each state */
    la_tensor *skip;            /* 0 where the blank before may be left out */
    la_tensor *first, *last;    /* 0 where a path may begin, or end */
} maps;

/* A target must be a class and not the blank. */
static la_status set_label(const ctc *c, int64_t blank, int64_t label,
                           int64_t *out)
{
    if (label == blank || label < 1 || label > c->classes)
        return la_error_at(LA_EINDEX, 2,
                           "target %lld is no label: they go from "
                           "1 to %lld without the blank, %lld",
                           (long long)label, (long long)c->classes,
                           (long long)blank);
    *out = label;
    return LA_OK;
}

/* The row of one sequence in each map. A path may begin at the first blank or
** label and end at the last; a blank between two labels may be skipped unless
** the labels are equal. Without frames it stays at the first blank, which
** spells no labels. */
static la_status ctc_fill_row(const ctc *c, int64_t i, int64_t blank,
                              const int64_t *targets, const maps *m)
{
    int64_t at = i * c->states, n = c->lengths[i];
    int64_t *label = (int64_t *)la_data(m->label) + at;
    double *skip = (double *)la_data(m->skip) + at;
    double *first = (double *)la_data(m->first) + at;
    double *last = (double *)la_data(m->last) + at;
    for (int64_t s = 0; s < c->states; s++) {
        label[s] = blank;
        skip[s] = first[s] = last[s] = FAR;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t s = 2 * k + 1;
        LA_TRY(set_label(c, blank, targets[k], &label[s]));
        if (k > 0 && label[s] != label[s - 2]) skip[s] = 0;
    }
    first[0] = last[2 * n] = 0;
    if (n > 0) last[2 * n - 1] = 0;
    if (n > 0 && c->in[i] > 0) first[1] = 0;
    return LA_OK;
}

/* An uninitialised (batch, states) tensor. */
static la_tensor *new_map(la_chain *w, const ctc *c, la_dtype d)
{
    int64_t sizes[2] = {c->batch, c->states};
    return R(empty, la_v_ints(sizes, 2), la_v_dtype(d));
}

/* The maps of all sequences, the ones that are added in the dtype of the
** input. */
static la_status make_maps(la_chain *w, const ctc *c, int64_t blank, maps *m)
{
    int64_t from = 0;
    m->label = new_map(w, c, LA_INT64);
    m->skip = new_map(w, c, LA_FLOAT64);
    m->first = new_map(w, c, LA_FLOAT64);
    m->last = new_map(w, c, LA_FLOAT64);
    if (w->status) return w->status;
    for (int64_t i = 0; i < c->batch; i++) {
        LA_TRY(ctc_fill_row(c, i, blank, c->targets + from, m));
        from += c->flat ? c->lengths[i] : c->longest;
    }
    m->skip = R(astype, m->skip, la_v_dtype(c->dtype));
    m->first = R(astype, m->first, la_v_dtype(c->dtype));
    m->last = R(astype, m->last, la_v_dtype(c->dtype));
    return w->status;
}

/* ---- the recursion ---- */

/* Values of k states before; FAR at the front. */
static la_tensor *ctc_shifted(la_chain *w, const ctc *c, la_tensor *x,
                              int64_t k)
{
    int64_t front = k < c->states ? k : c->states, last = 1;
    int64_t sizes[2] = {c->batch, front};
    la_tensor *far = R(full, la_v_ints(sizes, 2), FAR, la_v_dtype(c->dtype));
    la_tensor *rest = R(narrow, x, last, 0, c->states - front);
    la_tensor *list[2] = {far, rest};
    return R(cat, la_v_tensors(list, 2), last);
}

/* Sequences that have ended keep their state: their later frames don't
** count. */
static la_tensor *keep_ended(la_chain *w, const ctc *c, int64_t t,
                             la_tensor *old, la_tensor *new)
{
    int64_t sizes[2] = {c->batch, 1};
    bool ended = false;
    for (int64_t i = 0; i < c->batch; i++) ended |= t >= c->in[i];
    if (!ended || w->status) return new;
    la_tensor *going = R(empty, la_v_ints(sizes, 2), la_v_dtype(LA_BOOL));
    if (w->status) return NULL;
    for (int64_t i = 0; i < c->batch; i++) la_data(going)[i] = t < c->in[i];
    return R(where, going, new, old);
}

/* One frame: each state is reached from itself, from the state before it, or
** from the one before that where skipping the blank is allowed; then the
** frame's log-probability of the state's class is added. The frame's
** temporaries are released here, so memory grows with what autograd keeps
** alone. */
static la_status ctc_advance(const ctc *c, const maps *m, la_tensor *emit,
                             int64_t t, la_tensor **alpha)
{
    LA_CHAIN(w);
    int64_t first = 0;
    la_tensor *one = ctc_shifted(w, c, *alpha, 1),
        *two = ctc_shifted(w, c, *alpha, 2);
    two = R(add, two, m->skip);
    if (w->status) return w->status;
    la_tensor *list[3] = {*alpha, one, two};
    la_tensor *all = R(stack, la_v_tensors(list, 3), 0);
    la_tensor *sum = R(logsumexp, all, la_v_ints(&first, 1));
    la_tensor *next = R(add, sum, R(select, emit, 0, t));
    next = keep_ended(w, c, t, *alpha, next);
    if (w->status) return w->status;
    la_tensor_release(*alpha);
    return la_tensor_same(next, alpha);
}

/* The states after the first frame: what a path may begin with, and the frame's
** log-probability in sequences that have one. */
static la_tensor *ctc_begin(la_chain *w, const ctc *c, const maps *m,
                            la_tensor *emit)
{
    int64_t frames = 0;
    if (c->frames == 0)         /* the sum of nothing needs a gradient too */
        return R(add, R(sum, emit, la_v_ints(&frames, 1)), m->first);
    la_tensor *start = R(add, R(select, emit, 0, 0), m->first);
    return keep_ended(w, c, 0, m->first, start);
}

/* The loss of each sequence: minus the logsumexp over the states in which a
** path may end. */
static la_tensor *losses(la_chain *w, const ctc *c, const maps *m,
                         la_tensor *logs, la_status *status)
{
    LA_OWNED alpha = NULL;
    int64_t sizes[3] = {c->frames, c->batch, c->states}, last = 1;
    la_tensor *index = R(expand, m->label, la_v_ints(sizes, 3));
    la_tensor *emit = R(gather, logs, 2, index);
    la_tensor *start = ctc_begin(w, c, m, emit);
    if (w->status) return NULL;
    alpha = la_tensor_retain(start);
    for (int64_t t = 1; t < c->frames; t++)
        if ((*status = ctc_advance(c, m, emit, t, &alpha))) return NULL;
    la_tensor *ends = R(add, alpha, m->last);
    return R(sub, 0, R(logsumexp, ends, la_v_ints(&last, 1)));
}

/* The mean is over sequences, each by the number of its labels. */
static la_tensor *by_length(la_chain *w, la_frame *f, const ctc *c,
                            la_tensor *each)
{
    la_tensor *flat =
        R(reshape, f->args[TARGET_LENGTHS], la_v_ints(&c->batch, 1));
    return R(div, each, R(clamp_min, flat, la_scalar_int(1)));
}

/* (log_probs, targets, input_lengths, target_lengths, blank, reduction,
** zero_infinity). A sequence that cannot be spelled has loss infinity, or 0
** with zero_infinity; 'mean' divides each loss by its number of labels
** first. */
la_status la_impl_ctc_loss(la_frame *f)
{
    LA_CHAIN(w);
    la_status status = LA_OK;
    int64_t blank = la_arg_int(f, BLANK), one = 1;
    ctc c;
    maps m;
    LA_TRY(known_reduction(f, REDUCTION));
    LA_TRY(read_ctc(w, f, &c));
    if (blank < 1 || blank > c.classes)
        return la_error_at(LA_EINDEX, BLANK + 1,
                           "blank must be in the range of "
                           "the labels, 1 to %lld",
                           (long long)c.classes);
    LA_TRY(make_maps(w, &c, blank, &m));
    la_tensor *logs = la_arg(f, LOGS);
    if (c.single) logs = R(unsqueeze, logs, one);
    la_tensor *each = losses(w, &c, &m, logs, &status);
    if (status) return status;
    /* No path at all leaves a loss of about -FAR: report it as infinite. */
    la_tensor *never = R(gt, each, -FAR / 2);
    each = R(masked_fill, each, never, la_arg_bool(f, ZERO_INF) ? 0 : INFINITY);
    if (la_str_is(&f->args[REDUCTION], "mean"))
        each = by_length(w, f, &c, each);
    if (c.single) each = R(squeeze, each);
    return finish(w, f, REDUCTION, each);
}

/* A list of integers as a tensor. */
static la_status lengths(const la_value *list, la_tensor **out)
{
    LA_TRY(la_tensor_empty(1, &list->ints.n, LA_INT64, out));
    memcpy(la_data(*out), list->ints.list,
           (size_t)list->ints.n * sizeof(int64_t));
    return LA_OK;
}

/* ctc_loss with lists of lengths. */
la_status la_impl_ctc_loss_lists(la_frame *f)
{
    la_tensor *out = NULL;
    la_value args[7];
    memcpy(args, f->args, sizeof(args));
    LA_LET(input, lengths(&f->args[2], &input));
    LA_LET(target, lengths(&f->args[3], &target));
    args[2] = la_v_tensor(input);
    args[3] = la_v_tensor(target);
    return la_give(f, la_do(LA_OP(ctc_loss), &out, 7, args), &out);
}
