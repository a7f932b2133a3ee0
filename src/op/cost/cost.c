/* The kinds of cost: work of a call from its sizes. */
#include <math.h>

#include "op/cost/fuel.h"
#include "op/op.h"
#include "op/families.h"

#define times la_fuel_times
#define plus la_fuel_plus

/* Elements that one is worth. Multiply-adds of real floats are worth less: so
** many are an element. */
enum { FUNCTION = 8, COMPLEX_FUNCTION = 48, BRANCHES = 36, SERIES = 640,
       DIVISION = 8, REPEAT = 32, SPECTRUM = 8, MATRIX = 128, PASSES = 64,
       FLOAT_PRODUCTS = 8, COMPLEX_PRODUCT = 4, SORTED = 4 };

static int64_t numel(const la_frame *f, int arg)
{
    const la_tensor *t = la_arg(f, arg);
    return t ? t->numel : 0;
}

/* Elements of a size from the end, 1 for dims that are not there. */
static int64_t size_at(const la_frame *f, int arg, int from_end)
{
    const la_tensor *t = la_arg(f, arg);
    return t && t->ndim >= from_end ? la_sizes(t)[t->ndim - from_end] : 1;
}

static int64_t last(const la_frame *f, int arg) { return size_at(f, arg, 1); }

static int64_t total(const la_value *v)
{
    int64_t n = 0;
    if (v->tag == LA_VTENSOR) return v->tensor ? v->tensor->numel : 0;
    if (v->tag != LA_VTENSORS) return 0;
    for (int64_t i = 0; i < v->tensors.n; i++)
        if (v->tensors.list[i]) n = plus(n, v->tensors.list[i]->numel);
    return n;
}

static int64_t cost_results(const la_frame *f)
{
    return f->nresults ? total(&f->results[0]) : 0;
}

/* The shape of all tensors so far together, from the last dim. What does not
** broadcast is an error a little later. */
typedef struct extent {
    int ndim;
    int64_t sizes[LA_MAX_DIMS];
} extent;

static void cost_widen(extent *e, const la_tensor *t)
{
    while (e->ndim < t->ndim) e->sizes[e->ndim++] = 1;
    for (int d = 0; d < t->ndim; d++) {
        int64_t own = la_sizes(t)[t->ndim - 1 - d];
        if (own != 1) e->sizes[d] = own;
    }
}

static int64_t elements_of(const extent *e)
{
    int64_t n = 1;
    for (int d = 0; d < e->ndim; d++) n = times(n, e->sizes[d]);
    return n;
}

/* Element-wise results are as large as their inputs together. */
static int64_t broadcast(const la_frame *f)
{
    extent e;
    e.ndim = 0;
    for (int k = 0; k < f->nargs; k++)
        if (f->args[k].tag == LA_VTENSOR) cost_widen(&e, f->args[k].tensor);
    return elements_of(&e);
}

static int64_t cost_nothing(const la_frame *f)
{
    (void)f;
    return 0;
}

static int64_t cost_elements(const la_frame *f)
{
    int64_t most = f->op->family ? broadcast(f) : 0;
    for (int k = 0; k < f->nargs + f->nresults; k++) {
        int64_t n = total(k < f->nargs ? &f->args[k]
                                       : &f->results[k - f->nargs]);
        if (n > most) most = n;
    }
    return most;
}

static int64_t cost_functions(const la_frame *f)
{
    const la_tensor *t = f->nargs ? la_arg(f, 0) : NULL;
    bool complex = t && la_is_complex((la_dtype)t->dtype);
    return times(complex ? COMPLEX_FUNCTION : FUNCTION, cost_elements(f));
}

static int64_t cost_remainders(const la_frame *f)
{
    bool floats = false;
    for (int k = 0; k < f->nargs; k++)
        floats = floats || (f->args[k].tag == LA_VTENSOR && la_arg(f, k)
                            && la_is_float((la_dtype)la_arg(f, k)->dtype));
    return times(floats ? BRANCHES : DIVISION, cost_elements(f));
}

static int64_t cost_branches(const la_frame *f)
{
    return times(BRANCHES, cost_elements(f));
}

static int64_t cost_series(const la_frame *f)
{
    return times(SERIES, cost_elements(f));
}

static int64_t cost_repeats(const la_frame *f)
{
    return times(times(REPEAT, la_max(f->args[1].i, 1)), cost_elements(f));
}

static int64_t cost_ordered(const la_frame *f)
{
    int64_t n = cost_elements(f);
    int bits = n ? 64 - __builtin_clzll((uint64_t)n) : 0;
    return times(n, SORTED * bits);
}

/* ---- positions ---- */

static int64_t with_elements(const la_frame *f, int64_t work)
{
    int64_t n = cost_elements(f);
    return work > n ? work : n;
}

/* Index tensors stand for one dim, masks for their own. */
static int64_t cost_positions(const la_frame *f)
{
    const la_value *list = &f->args[1];
    const la_tensor *self = f->args[0].tensor;
    int64_t rest = self->numel;
    extent e;
    e.ndim = 0;
    for (int64_t i = 0, d = 0; i < list->tensors.n; i++) {
        const la_tensor *t = list->tensors.list[i];
        bool mask = t && (t->dtype == LA_BOOL || t->dtype == LA_UINT8);
        int64_t end = d + (mask ? t->ndim : 1);
        for (; d < end && d < self->ndim; d++)
            if (t && la_sizes(self)[d]) rest /= la_sizes(self)[d];
        if (t && !mask) cost_widen(&e, t);
        else if (t) rest = times(rest, t->numel);
    }
    return with_elements(f, times(rest, elements_of(&e)));
}

static int64_t cost_slices(const la_frame *f)
{
    const la_tensor *self = f->args[0].tensor;
    int64_t n = self->ndim ? la_sizes(self)[f->args[1].i] : 1;
    return with_elements(f, n ? times(self->numel / n, numel(f, 2)) : 0);
}

/* ---- products ---- */

/* A step for each matrix of a batch. */
static int64_t matrices(const la_frame *f, int arg)
{
    const la_tensor *t = la_arg(f, arg);
    int64_t matrix = times(last(f, arg), size_at(f, arg, 2));
    return t && t->ndim > 2 && matrix ? times(MATRIX, t->numel / matrix) : 0;
}

/* Multiply-adds with the dtype of argument 'arg', at least a step for each
** matrix of a batch. */
static int64_t products(const la_frame *f, int arg, int64_t work)
{
    const la_tensor *t = la_arg(f, arg);
    bool real = t && (t->dtype == LA_FLOAT32 || t->dtype == LA_FLOAT64);
    if (real) work /= FLOAT_PRODUCTS;
    if (t && la_is_complex((la_dtype)t->dtype))
        work = times(COMPLEX_PRODUCT, work);
    work = plus(plus(work, cost_results(f)), matrices(f, arg));
    return with_elements(f, work);
}

static int64_t cost_product(const la_frame *f)
{
    return products(f, 0, times(cost_results(f), last(f, 0)));
}

static int64_t cost_distances(const la_frame *f)
{
    double p = f->args[2].d;
    bool simple = p == 0 || p == 1 || p == 2 || p == INFINITY;
    int64_t each = simple ? 1 : BRANCHES;
    int64_t pairs = times(cost_results(f), last(f, 0));
    if (!f->args[3].b) return with_elements(f, times(each, pairs));
    return plus(cost_product(f), pairs / 2);    /* close ones once more */
}

static int64_t cost_add_product(const la_frame *f)
{
    return products(f, 1, times(cost_results(f), last(f, 1)));
}

static int64_t cost_sum_product(const la_frame *f)
{
    return products(f, 1, times(numel(f, 1), last(f, 2)));
}

static int64_t cost_pairs_grad(const la_frame *f)
{
    return products(f, 1, times(numel(f, 0), last(f, 1)));
}

static int64_t cost_taps(const la_frame *f)
{
    return with_elements(f, times(numel(f, 0), numel(f, 2)));
}

/* A weight's elements for one of its first dim: what an element of a
** convolution's result sums, or one of a transposed one's input adds to. */
static int64_t kernel_of(const la_frame *f, int arg)
{
    const la_tensor *w = la_arg(f, arg);
    return w && w->ndim && la_sizes(w)[0] ? w->numel / la_sizes(w)[0] : 0;
}

static int64_t cost_convolution(const la_frame *f)
{
    int64_t n = f->args[6].b ? numel(f, 0) : cost_results(f);
    return products(f, 1, times(n, kernel_of(f, 1)));
}

static int64_t cost_filters(const la_frame *f)
{
    return products(f, 1, times(cost_results(f), kernel_of(f, 1)));
}

static int64_t cost_convolution_grad(const la_frame *f)
{
    int64_t n = numel(f, f->args[6].b ? 1 : 0);
    return products(f, 2, times(n, kernel_of(f, 2)));
}

static int64_t attended(const la_frame *f, int first, int64_t each)
{
    int64_t width = last(f, first) ? last(f, first) : 1;
    int64_t rows = numel(f, first) / width;
    int64_t pairs = times(rows, size_at(f, first + 1, 2));
    return plus(products(f, first, times(pairs, each)),
                times(2, matrices(f, first)));
}

static int64_t cost_attention(const la_frame *f)
{
    return attended(f, 0, last(f, 0) + last(f, 2));
}

static int64_t cost_attention_grad(const la_frame *f)
{
    return attended(f, 1, 3 * last(f, 1) + 2 * last(f, 3));
}

/* Queries (rows, heads, features) of which each sees the positions up to its
** own: half of the rows on average. Pages of other layers are not read. */
static int64_t cost_pages(const la_frame *f)
{
    int64_t seen = plus(f->args[3].i, size_at(f, 0, 3) / 2 + 1);
    if (f->args[5].i > 0) seen = la_min(seen, f->args[5].i);
    int64_t n = numel(f, 0);
    return plus(n, times(n, seen) / FLOAT_PRODUCTS * 2);
}

/* Gates (steps, batch, gates) times the state's width. */
static int64_t cost_recurrent(const la_frame *f)
{
    return times(FUNCTION, with_elements(f, times(numel(f, 0), last(f, 3))));
}

static int64_t cost_recurrent_grad(const la_frame *f)
{
    return times(2 * FUNCTION,
                 with_elements(f, times(numel(f, 4), last(f, 6))));
}

/* ---- windows ---- */

/* A window that is longer than the tensor sees nothing more there. */
static int64_t window_of(const la_frame *f, int arg)
{
    const la_value *v = &f->args[arg];
    int64_t n = v->tag == LA_VINT ? v->i : 1, most = 2 * numel(f, 0) + 1;
    for (int64_t i = 0; v->tag == LA_VINTS && i < v->ints.n; i++)
        n = times(n, v->ints.list[i]);
    return n < most ? n : most;
}

/* Windows of more dims have shorter rows. */
static int64_t passes_of(const la_frame *f)
{
    const la_value *v = &f->args[1];
    return v->tag != LA_VINTS || v->ints.n < 2 ? 2 : v->ints.n < 3 ? 4 : 8;
}

static int64_t cost_windows(const la_frame *f)
{
    return with_elements(f, times(cost_results(f),
                                  times(passes_of(f), window_of(f, 1))));
}

static int64_t cost_windows_grad(const la_frame *f)
{
    return with_elements(f, times(numel(f, 0), window_of(f, 2)));
}

/* ---- matrices ---- */

/* Each element meets so many others in products, and is gone over besides. */
static int64_t meetings(int64_t n, int64_t others)
{
    return times(n, others / FLOAT_PRODUCTS + PASSES);
}

/* Right-hand sides count as further columns. */
static int64_t cost_factors(const la_frame *f)
{
    int64_t n = last(f, 0), m = size_at(f, 0, 2), least = m < n ? m : n;
    int64_t work = meetings(numel(f, 0), least);
    for (int k = 1; k < f->nargs; k++)
        if (la_arg(f, k)) work = plus(work, meetings(numel(f, k), least));
    for (int k = 0; k < f->nresults; k++)   /* all of Q may be m x m */
        if (total(&f->results[k]) > numel(f, 0))
            work = plus(work, meetings(total(&f->results[k]), least));
    if (m && n) work = plus(work, times(MATRIX, numel(f, 0) / m / n));
    return work;
}

static int64_t cost_spectrum(const la_frame *f)
{
    return times(SPECTRUM, cost_factors(f));
}

/* ---- the table ---- */

static int64_t (*const kinds[])(const la_frame *f) = {
    [LA_COST_none] = cost_elements,
#define COST(kind) [LA_COST_##kind] = cost_##kind,
#include "op/cost/cost.def"
#undef COST
};

/* Short rows cost more than their elements: the walk from one to the next.
** Element-wise inputs that are alike and without gaps are one row. */
enum { STEP = 40, SHORT = 64 };

static int64_t steps_between_rows(const la_frame *f)
{
    extent e;
    bool alike = f->op->family != NULL;
    int64_t n = 0;
    e.ndim = 0;
    for (int k = 0; k < f->nargs; k++) {
        const la_tensor *t = f->args[k].tag == LA_VTENSOR ? f->args[k].tensor
                                                          : NULL;
        if (!t || t->ndim == 0) continue;
        alike = alike && la_is_contiguous(t) && (!n || n == t->numel);
        n = t->numel;
        cost_widen(&e, t);
    }
    if (alike || e.ndim < 2 || e.sizes[0] < 1 || e.sizes[0] >= SHORT) return 0;
    return elements_of(&e) / e.sizes[0];
}

int64_t la_cost_of(const la_frame *f)
{
    int64_t work = kinds[f->op->cost](f);
    return work ? plus(work, times(STEP, steps_between_rows(f))) : 0;
}
