/*
** Order statistics along a dim: median, nanmedian, mode, quantile. The dim is
** brought last and without gaps; each line becomes keys
** (kernel/sort/order.h) in workspace of the task.
*/
#include <math.h>

#include "base/runtime/thread_pool.h"
#include "iter/items.h"
#include "kernel/sort/order.h"
#include "op/reduce/reduce.h"
#include "tensor/names.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/reduce.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Data of the lines that a task reads. */
typedef struct lines {
    const la_key_kernels *keys;
    const la_order_kernels *order;
    const la_tensor *in;      /* rows of n, no gaps */
    int64_t n, esize;
    bool skip_nan;            /* nanmedian, nanquantile */
    char *value;              /* one per line */
    int64_t *index;           /* may be NULL */
    const double *q;          /* quantile: nq of them */
    int64_t nq, rows;
    int how;
} lines;

/* Work space of a task: keys, items, spare items. */
static int64_t key_bytes(const lines *l) { return l->keys->wide ? 8 : 4; }
/* A key and its position. */
static int64_t item_bytes(const lines *l) { return l->keys->wide ? 16 : 8; }
static int64_t quantile_work_bytes(const lines *l)
{
    return l->n * (2 * item_bytes(l) + 2 * key_bytes(l)) + 64;
}

/* 'one' for each line. LA_ENOMEM, LA_EINTR or LA_OK. */
static la_status run_lines(lines *l, int64_t rows, la_unit_fn one)
{
    l->rows = rows;
    l->esize = (int64_t)la_itemsize(l->in);
    l->keys = &(*LA_STUB(keys))[l->in->dtype];
    l->order = &(*LA_STUB(order))[l->keys->wide];
    la_unit_plan plan = {one, la_ceil_div(LA_GRAIN, l->n * 8 + 1),
                         (size_t)quantile_work_bytes(l)};
    return la_iter_units(rows, &plan, l);
}

/* First element of a line. */
static const char *quantile_row_of(const lines *l, int64_t row)
{
    return la_data(l->in) + row * l->n * l->esize;
}

static uint64_t key_at(const lines *l, const void *keys, int64_t i)
{
    return l->keys->wide ? ((const uint64_t *)keys)[i]
                         : ((const uint32_t *)keys)[i];
}

/* The key that every NaN has; false for dtypes without. */
static bool nan_key(const lines *l, uint64_t *key)
{
    char nan[8];
    uint64_t wide[1] = {0};
    la_scalar s = la_scalar_float(NAN);
    if (!la_is_float((la_dtype)l->in->dtype)) return false;
    la_scalar_cast(&s, (la_dtype)l->in->dtype, nan);
    l->keys->encode(wide, nan, l->esize, 1, 0);
    *key = key_at(l, wide, 0);
    return true;
}

/* Items carry the position of their key: in a field, or in the low half of 64
** bits. */
static int64_t item_position(const lines *l, const void *items, int64_t i)
{
    if (l->keys->wide)
        return (int64_t)((const la_item64 *)items)[i].position;
    return (int64_t)(((const uint64_t *)items)[i] & 0xffffffffu);
}

/* Element 'at' of the line is the line's value, its 1-based position the
** index. */
static la_status answer(const lines *l, int64_t row, int64_t at)
{
    memcpy(l->value + row * l->esize, quantile_row_of(l, row) + at * l->esize,
           (size_t)l->esize);
    if (l->index) l->index[row] = at + 1;
    return LA_OK;
}

/* ---- median: the lower of the two in the middle ---- */

/* How many of the n keys are 'key': loops that the compiler makes vectors of,
** as nearly always none is. */
static int64_t count_key(const lines *l, const void *keys, uint64_t key)
{
    int64_t count = 0;
    if (l->keys->wide)
        LA_EACH_POLLED(i, 0, l->n) count += ((const uint64_t *)keys)[i] == key;
    else
        LA_EACH_POLLED(i, 0, l->n) count += ((const uint32_t *)keys)[i] == key;
    return count;
}

/* The first NaN in 'first'; how many in all. */
static int64_t count_nan(const lines *l, const void *keys, int64_t *first)
{
    uint64_t nan;
    int64_t count = nan_key(l, &nan) ? count_key(l, keys, nan) : 0;
    if (count > 0)
        for (*first = 0; key_at(l, keys, *first) != nan; ) ++*first;
    return count;
}

/* Selects the k-th key (quickselect) instead of sorting. A line with NaN gives
** NaN; nanmedian counts only what is left, or gives NaN when nothing is. */
static la_status one_median(void *context, int64_t row, char *work)
{
    const lines *l = context;
    char *items = work, *spare = items + l->n * item_bytes(l);
    char *keys = spare + l->n * item_bytes(l);
    int64_t first = 0;
    l->keys->encode(keys, quantile_row_of(l, row), l->esize, l->n, 0);
    int64_t nan = count_nan(l, keys, &first);
    if (nan > 0 && (!l->skip_nan || nan == l->n)) return answer(l, row, first);
    int64_t at, k = (l->n - nan - 1) / 2;
    l->order->kth(keys, items, spare, l->n, k + 1, &at);
    return answer(l, row, at - 1);
}

/* ---- mode: the smallest of the most frequent, its last position ---- */

/* Equal keys are neighbours after a stable sort: the longest run wins, and
** among equal runs the first, whose last item has the last position. */
static la_status one_mode(void *context, int64_t row, char *work)
{
    const lines *l = context;
    char *items = work, *spare = items + l->n * item_bytes(l);
    char *keys = spare + l->n * item_bytes(l);
    int64_t best = 0, length = 0, run = 0;
    l->keys->encode(keys, quantile_row_of(l, row), l->esize, l->n, 0);
    int64_t left = la_poll_every(l->n);
    l->order->make_items(items, keys, 0, l->n);
    l->order->sort_items(items, spare, l->n);
    for (int64_t i = 0; i < l->n; i++) {
        if ((i == 0 && la_poll_long(l->n)) || la_poll_run(&left, 1))
            return LA_EINTR;
        uint64_t a = key_at(l, keys, item_position(l, items, i));
        bool ends = i + 1 == l->n
            || key_at(l, keys, item_position(l, items, i + 1)) != a;
        run++;
        if (ends && run > length) {
            length = run;
            best = item_position(l, items, i);
        }
        if (ends) run = 0;
    }
    return answer(l, row, best);
}

/* ---- quantile ---- */

enum { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST };

/* An element as double, exact for the dtypes that quantile takes. */
static double real_at(const lines *l, const char *p)
{
    la_scalar s = la_scalar_load((la_dtype)l->in->dtype, p);
    return s.re;
}

/* The value at a rank that may lie between two elements of the sorted line, by
** the interpolation asked for (the words are NumPy's). Between a number and an
** infinity lies that infinity. */
static double quantile_between(const lines *l, const char *line,
                               const char *items, double rank)
{
    double low = floor(rank), high = ceil(rank), part = rank - low;
    if (l->how == NEAREST) low = high = nearbyint(rank);
    if (l->how == LOWER) high = low;
    if (l->how == HIGHER) low = high;
    if (l->how == MIDPOINT) part = low == high ? 0 : 0.5;
    int64_t i = item_position(l, items, (int64_t)low);
    int64_t j = item_position(l, items, (int64_t)high);
    double a = real_at(l, line + i * l->esize);
    double b = real_at(l, line + j * l->esize);
    if (low == high || part == 0 || a == b) return a;
    return isinf(a) && !isinf(b) ? a : a + (b - a) * part;
}

/* NaN in a line makes all its quantiles NaN, unless NaNs are left out: then the
** ranks are those of the other elements. */
static la_status one_quantile(void *context, int64_t row, char *work)
{
    const lines *l = context;
    char *items = work, *spare = items + l->n * item_bytes(l);
    char *keys = spare + l->n * item_bytes(l);
    int64_t first = 0;
    const char *line = quantile_row_of(l, row);
    l->keys->encode(keys, line, l->esize, l->n, 0);
    int64_t nan = count_nan(l, keys, &first);
    l->order->make_items(items, keys, 0, l->n);
    l->order->sort_items(items, spare, l->n);
    if (la_poll_long(l->n)) return LA_EINTR;
    int64_t n = l->skip_nan ? l->n - nan : l->n, left = la_poll_every(l->nq);
    for (int64_t k = 0; k < l->nq && !la_poll_run(&left, 16); k++) {
        double x = n == 0 || (nan > 0 && !l->skip_nan) || isnan(l->q[k]) ? NAN
            : quantile_between(l, line, items, l->q[k] * (double)(n - 1));
        la_scalar s = la_scalar_float(x);
        la_scalar_cast(&s, (la_dtype)l->in->dtype,
                       l->value + (k * l->rows + row) * l->esize);
    }
    return LA_OK;
}

/* ---- bringing the dim last ---- */

/* Kernels of keys read lines without gaps, so other layouts are copied. */
static la_status dim_last(la_tensor *t, int dim, la_tensor **out)
{
    int64_t order[LA_MAX_DIMS];
    int n = 0;
    if (t->ndim == 0 || dim == t->ndim - 1)
        return la_run(contiguous, out, t);
    for (int d = 0; d < t->ndim; d++)
        if (d != dim) order[n++] = d;
    order[n++] = dim;
    LA_LET(permuted, la_run(permute, &permuted, t, la_v_ints(order, n)));
    return la_run(contiguous, out, permuted);
}

/* ---- (self, dim, keepdim) -> values, indices ---- */

static la_status no_complex(const la_tensor *self)
{
    if (!la_is_complex((la_dtype)self->dtype)) return LA_OK;
    return la_error_at(LA_EDTYPE, 1, "complex numbers have no order");
}

/* Values in self's dtype, positions in int64. LA_ESHAPE for an empty dim,
** LA_EDTYPE for complex. */
static la_status quantile_pair_meta(la_frame *f, const char *name)
{
    la_tensor *self = la_arg(f, 0);
    bool keepdim = la_arg_bool(f, 2);
    uint64_t mask = 0;
    LA_TRY(la_reduce_dims(f, 1, self, &mask));
    LA_TRY(la_reduce_check_nonzero(self, mask, name, false));
    LA_TRY(no_complex(self));
    LA_TRY(la_reduce_output(f, 0, self, mask, keepdim,
                            (la_dtype)self->dtype));
    return la_reduce_output(f, 1, self, mask, keepdim, LA_INT64);
}

/* Lines along the dim, values and positions by 'one'. An empty result has no
** lines. */
static la_status quantile_pair_impl(la_frame *f, lines *l, la_unit_fn one)
{
    la_tensor *self = la_arg(f, 0);
    int dim = 0;
    if (la_result(f, 0)->numel == 0) return LA_OK;
    LA_TRY(la_wrap_dim(la_arg_int(f, 1), self->ndim, &dim));
    LA_LET(in, dim_last(self, dim, &in));
    l->in = in;
    l->n = self->ndim ? la_sizes(self)[dim] : 1;
    l->value = la_data(la_result(f, 0));
    l->index = (int64_t *)la_data(la_result(f, 1));
    return run_lines(l, in->numel / l->n, one);
}

/* (self, dim, keepdim) -> values and positions; 'one' says which statistic. */
LA_FORWARD(la_meta_median_dim, quantile_pair_meta(f, "median"))
la_status la_impl_median_dim(la_frame *f)
{
    lines l = {.n = 0};
    return quantile_pair_impl(f, &l, one_median);
}
LA_FORWARD(la_meta_nanmedian_dim, quantile_pair_meta(f, "median"))
la_status la_impl_nanmedian_dim(la_frame *f)
{
    lines l = {.skip_nan = true};
    return quantile_pair_impl(f, &l, one_median);
}
la_status la_meta_mode(la_frame *f) { return quantile_pair_meta(f, "mode"); }
la_status la_impl_mode(la_frame *f)
{
    lines l = {.n = 0};
    return quantile_pair_impl(f, &l, one_mode);
}

/* ---- median and nanmedian of everything ---- */

static la_status whole_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    LA_TRY(no_complex(self));
    return la_set_output(f, 0, 0, NULL, NULL, (la_dtype)self->dtype);
}

/* The median of nothing is NaN, or 0 for integers. */
static la_status whole_impl(la_frame *f, bool skip_nan)
{
    la_tensor *self = la_arg(f, 0), *out = la_result(f, 0);
    la_scalar nan = la_is_float((la_dtype)self->dtype)
        ? la_scalar_float(NAN) : la_scalar_int(0);
    if (self->numel == 0) {
        la_scalar_cast(&nan, (la_dtype)self->dtype, la_data(out));
        return LA_OK;
    }
    LA_LET(in, la_run(contiguous, &in, self));
    lines l = {.skip_nan = skip_nan, .in = in, .n = self->numel,
               .value = la_data(out)};
    return run_lines(&l, 1, one_median);
}

LA_FORWARD(la_meta_median, whole_meta(f))
LA_FORWARD(la_impl_median, whole_impl(f, false))
LA_FORWARD(la_meta_nanmedian, whole_meta(f))
LA_FORWARD(la_impl_nanmedian, whole_impl(f, true))

/* ---- quantile(self, q, dim, keepdim, interpolation) ---- */

static int interpolation_of(const la_value *v)
{
    static const char *const words[] = {"linear", "lower", "higher",
                                        "midpoint", "nearest"};
    for (int k = 0; k < 5; k++)
        if (la_str_is(v, words[k])) return k;
    return -1;
}

/* LA_EARG when a q is outside 0..1 or NaN. */
static la_status check_point(double q)
{
    return q >= 0 && q <= 1 ? LA_OK
        : la_error_at(LA_EARG, 2, "q values must be in the range "
                      "[0, 1]");
}

/* LA_ESHAPE, LA_EDTYPE or LA_EARG with the argument at fault, in PyTorch's
** order. */
static la_status quantile_check(const la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *q = la_arg(f, 1);
    la_dtype d = (la_dtype)self->dtype;
    if (self->numel == 0)
        return la_error_at(LA_ESHAPE, 1, "input tensor must be "
                           "non-empty");
    if (!(q->flags & LA_F_WRAPPED) && q->device != self->device)
        return la_error_at(LA_EARG, 2, "q must be on the device of the input "
                           "tensor");
    if (q->ndim > 1)
        return la_error_at(LA_ESHAPE, 2, "q must be a scalar or 1D "
                           "tensor");
    if (d != LA_FLOAT32 && d != LA_FLOAT64)
        return la_error_at(LA_EDTYPE, 1, "input tensor must be "
                           "either float or double dtype");
    if (!(q->flags & LA_F_WRAPPED) && q->dtype != d
        && q->dtype != LA_FLOAT64)
        return la_error_at(LA_EDTYPE, 2, "q tensor must be same "
                           "dtype as the input tensor, or float64");
    if (interpolation_of(&f->args[4]) < 0)
        return la_error_at(LA_EARG, 5, "interpolation must be one "
                           "of linear, lower, higher, midpoint or nearest");
    if (!(q->flags & LA_F_WRAPPED)) return LA_OK;
    return check_point(la_scalar_load((la_dtype)q->dtype, la_data(q)).re);
}

/* Those of the dims that stay; the dim of q has none. */
static la_status quantile_put_names(la_frame *f, const la_tensor *self,
                                    uint64_t mask)
{
    int from[LA_MAX_DIMS], n = 0;
    la_names *names = NULL;
    if (!self->names) return LA_OK;
    if (la_arg(f, 1)->ndim == 1) from[n++] = -1;
    for (int d = 0; d < self->ndim; d++)
        if (la_arg_bool(f, 3) || !(mask >> d & 1)) from[n++] = d;
    LA_TRY(la_names_pick(self->names, n, from, &names));
    la_tensor_set_names(la_result(f, 0), names);
    return LA_OK;
}

/* A vector of q makes a new first dim of the result; dims of self as in other
** reductions. A tensor of q is checked in impl. */
static la_status quantile_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *q = la_arg(f, 1);
    uint64_t mask = 0;
    LA_TRY(quantile_check(f));
    LA_TRY(la_reduce_dims(f, 2, self, &mask));
    la_shape s = la_reduce_shape(self, mask, la_arg_bool(f, 3));
    if (q->ndim == 1) {
        memmove(s.sizes + 1, s.sizes, (size_t)s.ndim * sizeof(*s.sizes));
        s.sizes[0] = q->numel;
        s.ndim++;
    }
    LA_TRY(la_set_output(f, 0, s.ndim, s.sizes, NULL, (la_dtype)self->dtype));
    return quantile_put_names(f, self, mask);
}

/* Ranks are q * (n - 1), in double. */
static la_status quantile_impl(la_frame *f, bool skip_nan)
{
    LA_OWNED in = NULL;
    la_tensor *self = la_arg(f, 0);
    int dim = 0;
    LA_LET(q, la_convert_to(la_arg(f, 1), LA_FLOAT64, &q));
    const double *points = (const double *)la_data(q);
    LA_EACH_POLLED(i, 0, q->numel) LA_TRY(check_point(points[i]));
    lines l = {.skip_nan = skip_nan, .n = self->numel,
               .q = points, .nq = q->numel,
               .how = interpolation_of(&f->args[4]),
               .value = la_data(la_result(f, 0))};
    if (la_has(f, 2)) {
        LA_TRY(la_wrap_dim(la_arg_int(f, 2), self->ndim, &dim));
        LA_TRY(dim_last(self, dim, &in));
        l.n = self->ndim ? la_sizes(self)[dim] : 1;
    } else {
        LA_TRY(la_run(contiguous, &in, self));
    }
    l.in = in;
    return run_lines(&l, in->numel / l.n, one_quantile);
}

/* (self, q, dim, keepdim, interpolation) -> quantiles; without a dim those of
** all elements. */
LA_FORWARD(la_meta_quantile, quantile_meta(f))
LA_FORWARD(la_impl_quantile, quantile_impl(f, false))
LA_FORWARD(la_meta_nanquantile, quantile_meta(f))
LA_FORWARD(la_impl_nanquantile, quantile_impl(f, true))
