/*
** einsum: how is an equation turned into matrix products?
**
** The equation is read into labels (small integers, the dims of an ellipsis
** first); repeated letters of one operand become diagonals, so every operand is
** a view with one dim per label. Then pairs are contracted, each as one batched
** matrix product, or an element-wise one where no label is summed: of up to
** MOST_SEARCHED operands in the order with the fewest multiplications, of more,
** or where there is little to do, greedily.
**
** Invariant: operand.at[d] is the label of dim d and operand.set the set of
** them; e->size[l] is the broadcast size of label l, -1 before it is known.
*/

#include "op/matmul/matmul.h"
#include "base/ascii.h"
#include "op/view/view.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/matmul.def"
#include "op/call.h"
#include "op/impls.h"

#define MAX_LABELS 64
#define MAX_OPERANDS 32
#define MOST_SEARCHED 6
#define OUTER 128              /* rows and columns of a short outer product */
#define LITTLE 4096            /* multiplications in any order */
#define ELLIPSIS (-1)

typedef uint64_t labels;           /* a set of labels */

typedef struct operand {
    la_tensor *t;                  /* owned; dim d has label at[d] */
    int n;
    uint8_t at[LA_MAX_DIMS];
    labels set;
} operand;

typedef struct einsum {
    operand op[MAX_OPERANDS];
    int nops;
    int8_t of_letter[256];         /* letter -> label, -1 none yet */
    int count;                     /* labels in use; the ellipsis' come first */
    int64_t size[MAX_LABELS];
    char letter[MAX_LABELS];
    int nellipsis;
    uint8_t result[LA_MAX_DIMS];
    int nresult;
    labels kept;                   /* of the result */
} einsum;

/* On every way out: operands are owned by the box. */
static void einsum_clear(einsum *e)
{
    for (int i = 0; i < MAX_OPERANDS; i++) la_tensor_drop(&e->op[i].t);
}

/* ---- reading the equation ---- */

/* The next subscript from 'at': a letter, ELLIPSIS, or 0 at the end. */
static la_status next(const char **at, const char *end, int *out)
{
    while (*at < end && **at == ' ') ++*at;
    *out = 0;
    if (*at == end) return LA_OK;
    char c = *(*at)++;
    if (la_is_alpha(c)) {
        *out = (unsigned char)c;
        return LA_OK;
    }
    if (c == '.' && end - *at >= 2 && (*at)[0] == '.' && (*at)[1] == '.') {
        *at += 2;
        *out = ELLIPSIS;
        return LA_OK;
    }
    if (c == '.')
        return la_error(LA_EARG, "einsum(): found '.' in the equation that is "
                        "not part of any ellipsis");
    return la_error(LA_EARG, "einsum(): invalid subscript in the equation, "
                    "subscripts must be in [a-zA-Z]");
}

/* Dims that the ellipsis of one operand stands for, -1 without one. */
static la_status count_term(const char *at, const char *end, int ndim, int k,
                            int *covered)
{
    int letters = 0, dots = 0, c;
    do {
        LA_TRY(next(&at, end, &c));
        letters += c > 0;
        dots += c == ELLIPSIS;
    } while (c);
    if (dots > 1)
        return la_error(LA_EARG, "einsum(): found more than one ellipsis for "
                        "operand %d", k);
    if (dots ? letters > ndim : letters != ndim)
        return la_error(LA_EARG, "einsum(): the number of subscripts in the "
                        "equation (%d) %s the number of dimensions (%d) for "
                        "operand %d%s", letters,
                        dots ? "is more than" : "does not match", ndim, k,
                        dots ? "" : " and no ellipsis was given");
    *covered = dots ? ndim - letters : -1;
    return LA_OK;
}

/* The end of the operand's term that starts at 'at'. */
static const char *term_end(const char *at, const char *end)
{
    while (at < end && *at != ',') at++;
    return at;
}

/* The ellipsis stands for as many labels as the operand with most dims under it
** needs; they come first so that they align at the right, as broadcasting
** does. */
static la_status count_ellipsis(einsum *e, const char *at, const char *end)
{
    for (int k = 0; k < e->nops; k++) {
        const char *stop = term_end(at, end);
        int covered;
        LA_TRY(count_term(at, stop, e->op[k].t->ndim, k, &covered));
        if (covered > e->nellipsis) e->nellipsis = covered;
        at = stop + 1;
    }
    e->count = e->nellipsis;
    return e->count < MAX_LABELS ? LA_OK
        : la_error(LA_EARG, "einsum(): too many dims");
}

/* Terms of the equation against tensors given. */
static la_status count_operands(einsum *e, const char *at, const char *end,
                                int64_t given)
{
    int terms = 1;
    for (const char *p = at; p < end; p++) terms += *p == ',';
    if (given == 0)
        return la_error(LA_EARG, "einsum(): must provide at least one operand");
    if (terms != given)
        return la_error(LA_EARG, "einsum(): %s operands were provided than "
                        "specified in the equation",
                        given > terms ? "more" : "fewer");
    if (given > MAX_OPERANDS)
        return la_error(LA_EARG, "einsum(): at most %d operands", MAX_OPERANDS);
    e->nops = (int)given;
    return LA_OK;
}

/* The label of a letter, a new one at its first use. */
static la_status label_of(einsum *e, int c, int *out)
{
    *out = e->of_letter[c];
    if (*out >= 0) return LA_OK;
    if (e->count == MAX_LABELS)
        return la_error(LA_EARG, "einsum(): at most %d different dims",
                        MAX_LABELS);
    e->letter[e->count] = (char)c;
    e->of_letter[c] = (int8_t)e->count;
    *out = e->count++;
    return LA_OK;
}

/* Label's size from operand k: sizes broadcast, so 1 gives way to any other
** size. LA_ESHAPE with the letter and both sizes otherwise. */
static la_status einsum_note_size(einsum *e, int label, int64_t size, int k)
{
    if (e->size[label] <= 1 && size != e->size[label]) {
        if (e->size[label] == 1 || e->size[label] == -1)
            e->size[label] = size;
        if (e->size[label] == size) return LA_OK;
    }
    if (size == e->size[label] || size == 1) return LA_OK;
    if (label < e->nellipsis)
        return la_error(LA_ESHAPE, "einsum(): the ellipsis' sizes do not "
                        "broadcast: %lld for operand %d, %lld before",
                        (long long)size, k, (long long)e->size[label]);
    return la_error(LA_ESHAPE, "einsum(): subscript %c has size %lld for "
                    "operand %d which does not broadcast with previously seen "
                    "size %lld", e->letter[label], (long long)size, k,
                    (long long)e->size[label]);
}

/* Dim *d of the operand gets a label; a second dim with the same one is
** replaced by the diagonal of both, which keeps the first's position. */
static la_status assign_label(einsum *e, operand *o, int *d, int label, int k)
{
    LA_TRY(einsum_note_size(e, label, la_sizes(o->t)[*d], k));
    int first = -1;
    for (int i = 0; i < *d; i++)
        if (o->at[i] == label) first = i;
    if (first < 0) {
        o->at[(*d)++] = (uint8_t)label;
        o->set |= (labels)1 << label;
        return LA_OK;
    }
    if (la_sizes(o->t)[first] != la_sizes(o->t)[*d])
        return la_error(LA_ESHAPE, "einsum(): subscript %c is repeated for "
                        "operand %d but the sizes don't match, %lld != %lld",
                        e->letter[label], k, (long long)la_sizes(o->t)[*d],
                        (long long)la_sizes(o->t)[first]);
    la_tensor *diag, *back;
    int64_t last = -1, to = first;
    LA_TRY(la_run(diagonal, &diag, o->t, 0, first, *d));
    la_tensor_drop(&o->t);
    o->t = diag;
    LA_TRY(la_run(movedim, &back, diag, la_v_ints(&last, 1),
                  la_v_ints(&to, 1)));
    la_tensor_drop(&o->t);
    o->t = back;
    return LA_OK;
}

/* Labels of operand k from its term. Its ellipsis covers the last labels of
** those that stand for the ellipsis. */
static la_status read_operand(einsum *e, int k, const char *at,
                              const char *end)
{
    operand *o = &e->op[k];
    int d = 0, c, covered, label;
    LA_TRY(count_term(at, end, o->t->ndim, k, &covered));
    for (;;) {
        LA_TRY(next(&at, end, &c));
        if (!c) break;
        if (c != ELLIPSIS) {
            LA_TRY(label_of(e, c, &label));
            LA_TRY(assign_label(e, o, &d, label, k));
            continue;
        }
        for (int i = e->nellipsis - covered; i < e->nellipsis; i++)
            LA_TRY(assign_label(e, o, &d, i, k));
    }
    o->n = d;
    return LA_OK;
}

/* The next dim of the result. */
static la_status add_result(einsum *e, int label)
{
    if (e->kept >> label & 1)
        return la_error(LA_EARG, "einsum(): output subscript %c appears more "
                        "than once in the output", e->letter[label]);
    e->kept |= (labels)1 << label;
    e->result[e->nresult++] = (uint8_t)label;
    return LA_OK;
}

/* Dims of the result from the text after the arrow. */
static la_status einsum_read_result(einsum *e, const char *at, const char *end)
{
    bool dots = false;
    int c;
    for (;;) {
        LA_TRY(next(&at, end, &c));
        if (!c) return LA_OK;
        if (c == ELLIPSIS) {
            if (dots)
                return la_error(LA_EARG, "einsum(): found more than one "
                                "ellipsis in the output");
            dots = true;
            for (int i = 0; i < e->nellipsis; i++) LA_TRY(add_result(e, i));
            continue;
        }
        if (e->of_letter[c] < 0)
            return la_error(LA_EARG, "einsum(): output subscript %c does not "
                            "appear in the equation for any input operand", c);
        LA_TRY(add_result(e, e->of_letter[c]));
    }
}

/* Without an arrow: the ellipsis, then letters that occur once, sorted. */
static la_status default_result(einsum *e, const char *at, const char *end)
{
    int seen[256] = {0};
    for (; at < end; at++) seen[(unsigned char)*at]++;
    for (int i = 0; i < e->nellipsis; i++) LA_TRY(add_result(e, i));
    for (int c = 'A'; c <= 'z'; c++)
        if (la_is_alpha(c) && seen[c] == 1)
            LA_TRY(add_result(e, e->of_letter[c]));
    return LA_OK;
}

/* The position of "->", or NULL. */
static const char *find_arrow(const char *at, const char *end)
{
    for (; at + 1 < end; at++)
        if (at[0] == '-' && at[1] == '>') return at;
    return NULL;
}

/* Arguments 0 (equation) and 1 (operands) into 'e'. Operands are retained
** first, so clear() may run after any failure. */
static la_status read_equation(einsum *e, const la_frame *f)
{
    const char *at = f->args[0].str.text, *end = at + f->args[0].str.n;
    const char *arrow = find_arrow(at, end), *stop = arrow ? arrow : end;
    la_tensor **list = f->args[1].tensors.list;
    memset(e->of_letter, -1, sizeof e->of_letter);
    for (int i = 0; i < MAX_LABELS; i++) e->size[i] = -1;
    LA_TRY(count_operands(e, at, stop, f->args[1].tensors.n));
    for (int k = 0; k < e->nops; k++) e->op[k].t = la_tensor_retain(list[k]);
    LA_TRY(count_ellipsis(e, at, stop));
    const char *p = at;
    for (int k = 0; k < e->nops; k++) {
        const char *term = term_end(p, stop);
        LA_TRY(read_operand(e, k, p, term));
        p = term + 1;
    }
    if (arrow) return einsum_read_result(e, arrow + 2, end);
    return default_result(e, at, stop);
}

/* ---- contraction ---- */

static bool holds(labels set, int label) { return set >> label & 1; }

static bool listed(const uint8_t *order, int n, int label)
{
    for (int i = 0; i < n; i++)
        if (order[i] == label) return true;
    return false;
}

/* A view of the operand with these labels as its dims, in order; those it
** lacks are size 1, and its labels that are not listed have size 1 and go. */
static la_status einsum_arrange(const operand *o, const uint8_t *order, int n,
                                la_tensor **out)
{
    int64_t perm[LA_MAX_DIMS], removed[LA_MAX_DIMS];
    int used = 0, nremoved = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < o->n; j++)
            if (o->at[j] == order[i]) perm[used++] = j;
    for (int j = 0; j < o->n; j++)
        if (!listed(order, n, o->at[j])) {
            removed[nremoved++] = used;
            perm[used++] = j;
        }
    LA_LET(permuted, la_run(permute, &permuted, o->t, la_v_ints(perm, used)));
    LA_LET(now, la_run(squeeze, &now, permuted, la_v_ints(removed, nremoved)));
    for (int d = 0; d < n; d++) {
        if (holds(o->set, order[d])) continue;
        la_tensor *wider;
        LA_TRY(la_run(unsqueeze, &wider, now, d));
        la_tensor_drop(&now);
        now = wider;
    }
    return la_tensor_same(now, out);
}

/* Sum over the labels of 'o' that nobody needs any more. Within a product the
** dtype stays; the sum of one operand is what 'sum' makes of it. */
static la_status sum_out(operand *o, labels needed, bool alone)
{
    int64_t dims[LA_MAX_DIMS];
    int n = 0, kept = 0;
    la_tensor *summed;
    for (int d = 0; d < o->n; d++)
        if (!holds(needed, o->at[d])) dims[n++] = d;
    if (n == 0) return LA_OK;
    LA_TRY(la_run(sum, &summed, o->t, la_v_ints(dims, n), la_v_bool(false),
                  alone ? la_v_none() : la_v_dtype((la_dtype)o->t->dtype)));
    la_tensor_drop(&o->t);
    o->t = summed;
    for (int d = 0; d < o->n; d++)
        if (holds(needed, o->at[d])) o->at[kept++] = o->at[d];
    o->n = kept;
    o->set &= needed;
    return LA_OK;
}

/* Labels that must survive the product of operands i and j: those of the result
** and of all other operands. */
static labels needed_by_others(const einsum *e, int i, int j)
{
    labels set = e->kept;
    for (int k = 0; k < e->nops; k++)
        if (k != i && k != j) set |= e->op[k].set;
    return set;
}

/* The dim of 'o' with this label. */
static int einsum_dim_of(const operand *o, int label)
{
    for (int d = 0; d < o->n; d++)
        if (o->at[d] == label) return d;
    return -1;
}

/* Has the operand this label with a size other than 1? Dims of size 1
** broadcast, so they count as absent. */
static bool einsum_wide(const operand *o, int label)
{
    int d = einsum_dim_of(o, label);
    return d >= 0 && la_sizes(o->t)[d] != 1;
}

/* How the labels of a pair fall: both and kept, left, right, summed. */
typedef struct parts {
    uint8_t batch[LA_MAX_DIMS], left[LA_MAX_DIMS], right[LA_MAX_DIMS],
        sum[LA_MAX_DIMS];
    int nbatch, nleft, nright, nsum;
} parts;

/* Sorts the labels of a pair into the four groups of a batched product. */
static void part_labels(const operand *x, const operand *y, labels needed,
                        parts *p)
{
    memset(p, 0, sizeof *p);
    for (int l = 0; l < MAX_LABELS; l++) {
        if (!holds(x->set | y->set, l)) continue;
        bool a = einsum_wide(x, l), b = einsum_wide(y, l);
        if (!holds(needed, l)) p->sum[p->nsum++] = (uint8_t)l;
        else if (a == b) p->batch[p->nbatch++] = (uint8_t)l;
        else if (a) p->left[p->nleft++] = (uint8_t)l;
        else p->right[p->nright++] = (uint8_t)l;
    }
}

static int append(uint8_t *to, int n, const uint8_t *from, int m)
{
    memcpy(to + n, from, (size_t)m);
    return n + m;
}

/* The product of the sizes of 'n' labels. No overflow: a view of that size
** exists. */
static int64_t extent(const einsum *e, const uint8_t *list, int n)
{
    int64_t size = 1;
    for (int i = 0; i < n; i++) size *= e->size[list[i]];
    return size;
}

/* One side as [batch, rows, columns], each group of labels flattened to one
** dim. */
static la_status side(const einsum *e, const operand *o, const parts *p,
                      const uint8_t *rows, int nrows, const uint8_t *cols,
                      int ncols, la_tensor **out)
{
    uint8_t order[LA_MAX_DIMS];
    int64_t sizes[LA_MAX_DIMS];
    int n = append(order, 0, p->batch, p->nbatch);
    n = append(order, n, rows, nrows);
    n = append(order, n, cols, ncols);
    LA_LET(view, einsum_arrange(o, order, n, &view));
    for (int i = 0; i < p->nbatch; i++) sizes[i] = la_sizes(view)[i];
    sizes[p->nbatch] = extent(e, rows, nrows);
    sizes[p->nbatch + 1] = extent(e, cols, ncols);
    return la_reshape_to(view, p->nbatch + 2, sizes, out);
}

/* Operand x becomes the product 't' (owned), whose dims are batch, left,
** right. */
static void einsum_take_result(einsum *e, operand *x, la_tensor *t,
                               const parts *p)
{
    la_tensor_drop(&x->t);
    x->t = t;
    x->n = append(x->at, 0, p->batch, p->nbatch);
    x->n = append(x->at, x->n, p->left, p->nleft);
    x->n = append(x->at, x->n, p->right, p->nright);
    x->set = 0;
    for (int d = 0; d < x->n; d++) x->set |= (labels)1 << x->at[d];
}

/* No label is summed: the product is element by element, broadcast by views. */
static la_status einsum_multiply(einsum *e, operand *x, operand *y,
                                 const parts *p)
{
    uint8_t order[LA_MAX_DIMS];
    la_tensor *product;
    int n = append(order, 0, p->batch, p->nbatch);
    n = append(order, n, p->left, p->nleft);
    n = append(order, n, p->right, p->nright);
    LA_LET(a, einsum_arrange(x, order, n, &a));
    LA_LET(b, einsum_arrange(y, order, n, &b));
    LA_TRY(la_run(mul, &product, a, b));
    einsum_take_result(e, x, product, p);
    return LA_OK;
}

/* Many outer products with short rows are matrix products of depth 1: an
** element-wise one would have to begin anew in every row. Sums begin at 0, so a
** product of -0 is 0 there. */
static bool is_outer(const einsum *e, const parts *p, const la_tensor *t)
{
    la_dtype dtype = (la_dtype)t->dtype;
    int64_t rows = extent(e, p->left, p->nleft);
    int64_t cols = extent(e, p->right, p->nright);
    if (!la_is_inexact(dtype)) return false;
    return rows > 1 && cols > 1 && rows <= OUTER && cols <= OUTER
        && extent(e, p->batch, p->nbatch) >= OUTER / rows;
}

/* Sums at once over labels that nobody needs and that are not wide in both
** operands; the matrix product then finds equal sizes on both sides. */
static la_status sum_unshared(operand *x, const operand *y, labels needed)
{
    labels keep = needed;
    for (int d = 0; d < x->n; d++)
        if (einsum_wide(x, x->at[d]) && einsum_wide(y, x->at[d]))
            keep |= (labels)1 << x->at[d];
    return sum_out(x, keep, false);
}

/* x becomes the product of x and y, summed over the labels that are not in
** 'needed'. */
static la_status contract(einsum *e, operand *x, operand *y, labels needed)
{
    parts p;
    int64_t sizes[LA_MAX_DIMS];
    LA_TRY(sum_unshared(x, y, needed));
    LA_TRY(sum_unshared(y, x, needed));
    part_labels(x, y, needed, &p);
    if (p.nsum == 0 && !is_outer(e, &p, x->t))
        return einsum_multiply(e, x, y, &p);
    LA_LET(a, side(e, x, &p, p.left, p.nleft, p.sum, p.nsum, &a));
    LA_LET(b, side(e, y, &p, p.sum, p.nsum, p.right, p.nright, &b));
    LA_LET(product, la_run(batched_mm, &product, a, b));
    int n = 0;
    for (int i = 0; i < p.nbatch; i++) sizes[n++] = la_sizes(product)[i];
    for (int i = 0; i < p.nleft; i++) sizes[n++] = e->size[p.left[i]];
    for (int i = 0; i < p.nright; i++) sizes[n++] = e->size[p.right[i]];
    la_tensor *shaped;
    LA_TRY(la_view_to(product, n, sizes, &shaped));
    einsum_take_result(e, x, shaped, &p);
    return LA_OK;
}

/* Elements of a tensor with these labels. */
static double volume(const einsum *e, labels set)
{
    double v = 1;
    for (int l = 0; l < e->count; l++)
        if (holds(set, l)) v *= (double)e->size[l];
    return v;
}

/* ---- the order of contractions ---- */

/* The best way to contract a set of operands: multiplications, elements of the
** products on the way, and one of the two sets that are contracted last. */
typedef struct way {
    double cost, elements;
    unsigned half;
} way;

/* Labels of the product of a set of operands. */
static labels labels_of(const einsum *e, unsigned set)
{
    labels inside = 0, outside = e->kept;
    for (int k = 0; k < e->nops; k++)
        if (set >> k & 1) inside |= e->op[k].set;
        else outside |= e->op[k].set;
    return inside & outside;
}

/* The best way for 'set' from those of its subsets; of equal ones that with
** smaller products, then the first. */
static way best_way(const einsum *e, const way *ways, const labels *product,
                    unsigned set)
{
    way best = {.half = 0};
    for (unsigned half = (set - 1) & set; half; half = (half - 1) & set) {
        unsigned rest = set & ~half;
        if (half < rest) continue;      /* each division once */
        way w = {ways[half].cost + ways[rest].cost
                     + volume(e, product[half] | product[rest]),
                 ways[half].elements + ways[rest].elements
                     + volume(e, product[set]),
                 half};
        if (!best.half || w.cost < best.cost
            || (w.cost == best.cost && w.elements < best.elements))
            best = w;
    }
    return best;
}

/* A pair that the best way of all contracts, found by dynamic programming over
** sets of operands (Pfeifer et al. 2014, without their pruning). */
static void searched(const einsum *e, int *bi, int *bj)
{
    way ways[1 << MOST_SEARCHED] = {{0, 0, 0}};
    labels product[1 << MOST_SEARCHED];
    unsigned all = (1u << e->nops) - 1, set;
    for (set = 1; set <= all; set++) {
        product[set] = labels_of(e, set);
        if (set & (set - 1)) ways[set] = best_way(e, ways, product, set);
    }
    /* Down to a set of two. */
    for (set = all; __builtin_popcount(set) > 2;) {
        unsigned half = ways[set].half, rest = set & ~half;
        set = half & (half - 1) ? half : rest;
    }
    *bi = __builtin_ctz(set);
    *bj = __builtin_ctz(set & (set - 1));
}

/* The pair whose product is smallest in relation to its operands (elements of
** the result less elements of both), as opt_einsum's greedy path does. The
** first pair wins a tie. */
static void greediest(const einsum *e, int *bi, int *bj)
{
    double best = 0;
    for (int i = 0; i < e->nops; i++)
        for (int j = i + 1; j < e->nops; j++) {
            labels both = e->op[i].set | e->op[j].set;
            double cost = volume(e, both & needed_by_others(e, i, j))
                - volume(e, e->op[i].set) - volume(e, e->op[j].set);
            bool first = i == 0 && j == 1;
            if (!first && cost >= best) continue;
            best = cost;
            *bi = i;
            *bj = j;
        }
}

/* The pair to contract next. */
static void cheapest(const einsum *e, int *i, int *j)
{
    *i = 0;
    *j = 1;
    labels all = 0;
    for (int k = 0; k < e->nops; k++) all |= e->op[k].set;
    if (e->nops <= 2) return;
    if (e->nops > MOST_SEARCHED || volume(e, all) <= LITTLE)
        greediest(e, i, j);
    else searched(e, i, j);
}

/* Contracts pairs until one operand is left, then sums what the result does not
** name. 'alone': a single operand keeps sum's own rule for the dtype. */
static la_status einsum_reduce(einsum *e)
{
    bool alone = e->nops == 1;
    while (e->nops > 1) {
        int i, j;
        cheapest(e, &i, &j);
        LA_TRY(contract(e, &e->op[i], &e->op[j], needed_by_others(e, i, j)));
        la_tensor_drop(&e->op[j].t);
        e->op[j] = e->op[--e->nops];
        e->op[e->nops].t = NULL;
    }
    return sum_out(&e->op[0], e->kept, alone);
}

/* No promotion between operands: LA_EDTYPE unless all dtypes agree. */
static la_status check_types(const einsum *e)
{
    for (int k = 1; k < e->nops; k++)
        if (e->op[k].t->dtype != e->op[0].t->dtype)
            return la_error(LA_EDTYPE, "expected all operands to have the same "
                            "dtype, but got: %s != %s",
                            la_dtype_name(e->op[0].t->dtype),
                            la_dtype_name(e->op[k].t->dtype));
    return LA_OK;
}

/* A broadcast dim of the result that has size 1 in the last operand was 1 in
** all of them, so the arranged view has the final sizes. */
static la_status einsum_run(einsum *e, const la_frame *f, la_tensor **out)
{
    LA_TRY(read_equation(e, f));
    LA_TRY(check_types(e));
    LA_TRY(einsum_reduce(e));
    return einsum_arrange(&e->op[0], e->result, e->nresult, out);
}

/* einsum(equation, operands). The result may be a view of an operand (a
** transpose or a diagonal), as in PyTorch. */
la_status la_impl_einsum(la_frame *f)
{
    einsum e = {.nops = 0};
    la_tensor *out;
    la_status status = einsum_run(&e, f, &out);
    einsum_clear(&e);
    if (status == LA_OK) la_set_result(f, 0, out);
    return status;
}
