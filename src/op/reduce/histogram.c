/*
** Counting by value: bincount, histc, histogram. Values are read as double;
** what lies outside the range, or is NaN, is not counted.
*/
#include <math.h>

#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "kernel/index/index_loops.h"
#include "op/sort/order.h"
#include "op/reduce/reduce.h"
#include "op/composite.h"

#define LA_ROWS "op/def/reduce.def"
#include "base/runtime/interrupt.h"
#include "op/frame.h"
#include "op/impls.h"

/* ---- bincount(self, weights, minlength): value k in slot k ---- */

/* The largest value in *top, which sizes the result. LA_EINDEX for values below
** 1, with the first of them. */
static la_status histogram_largest(const la_tensor *x, int64_t *top)
{
    const int64_t *v = (const int64_t *)la_data(x);
    int64_t least = 1, i = 0;
    *top = 0;
    for (int64_t k = 0, end; (end = la_poll_piece(k, x->numel)) > k; k = end)
        LA_STUB(index_scans)->range(v + k, end - k, &least, top);
    LA_TRY(la_poll());
    if (least >= 1) return LA_OK;
    while (v[i] >= 1) i++;
    return la_error_at(LA_EINDEX, 1, "value %lld at position %lld: values "
                       "count from 1, slot k holds the count of k",
                       (long long)v[i], (long long)i + 1);
}

/* Into 'slot', of zeros. Tables of few counters are worth adding up. */
static la_status count_values(const la_tensor *x, int64_t size, int64_t *slot)
{
    const int64_t *v = (const int64_t *)la_data(x);
    LA_WORK tables = {NULL, 0};
    if (size == 0 || size > 4096 || x->numel < LA_TALLIES * size) {
        LA_EACH_POLLED(i, 0, x->numel) slot[v[i] - 1]++;
        return LA_OK;
    }
    LA_TRY(la_work_get(&tables, LA_TALLIES * size, sizeof(int64_t)));
    int64_t *t = tables.block;
    memset(t, 0, (size_t)(LA_TALLIES * size) * sizeof(*t));
    for (int64_t i = 0, end; (end = la_poll_piece(i, x->numel)) > i; i = end)
        LA_STUB(index_scans)->tally(t, size, v + i, end - i);
    for (int part = 0; part < LA_TALLIES; part++, t += size)
        for (int64_t k = 0; k < size; k++) slot[k] += t[k];
    return LA_OK;
}

/* LA_EDTYPE, LA_ESHAPE or LA_EARG with the argument at fault. */
static la_status bincount_check(const la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *weights = la_arg(f, 1);
    if (!la_is_integral((la_dtype)self->dtype))
        return la_error_at(LA_EDTYPE, 1, "bincount needs integers, got %s",
                           la_dtype_name((la_dtype)self->dtype));
    if (self->ndim != 1)
        return la_error_at(LA_ESHAPE, 1, "bincount only supports 1-d "
                           "non-negative integral inputs.");
    if (weights && (weights->ndim != 1 || weights->numel != self->numel))
        return la_error_at(LA_ESHAPE, 2, "weights should be 1-d and have the "
                           "same length as input");
    if (la_arg_int(f, 2) < 0)
        return la_error_at(LA_EARG, 3, "minlength should be >= 0");
    return LA_OK;
}

/* Counts in int64 or sums of weights (added in double, in input order; float32
** weights give float32), in max(minlength, largest value) slots. */
la_status la_impl_bincount(la_frame *f)
{
    LA_OWNED x = NULL;
    LA_OWNED w = NULL;
    la_tensor *weights = la_arg(f, 1);
    int64_t top = 0, size = la_arg_int(f, 2);
    LA_TRY(bincount_check(f));
    la_tensor *self = la_arg(f, 0);
    if (self->dtype == LA_INT64 && la_is_contiguous(self)
        && !(self->flags & LA_F_NEG)) x = la_tensor_retain(self);
    else LA_TRY(la_convert_to(self, LA_INT64, &x));
    LA_TRY(histogram_largest(x, &top));
    if (top > size) size = top;
    bool narrow = weights && weights->dtype == LA_FLOAT32;
    la_dtype sum = !weights ? LA_INT64 : LA_FLOAT64, to = sum;
    if (narrow) to = LA_FLOAT32;
    LA_LET(out, la_tensor_empty(1, &size, sum, &out));
    memset(la_data(out), 0, (size_t)size * 8);
    if (weights) {
        const int64_t *v = (const int64_t *)la_data(x);
        LA_TRY(la_convert_to(weights, LA_FLOAT64, &w));
        const double *m = (const double *)la_data(w);
        double *slot = (double *)la_data(out);
        LA_EACH_POLLED(i, 0, x->numel) slot[v[i] - 1] += m[i];
    } else {
        LA_TRY(count_values(x, size, (int64_t *)la_data(out)));
    }
    if (to != sum) LA_TRY(la_convert_to(out, to, &out));
    return la_give_owned(f, &out);
}

/* ---- bins of equal width ---- */

typedef struct range {
    double low, high;
} range;

/* The given range, or that of the data; when empty, wider on both sides. */
static la_status find_range(const double *x, int64_t n, double wider, range *r)
{
    if (r->low == r->high && n > 0) {
        *r = (range){INFINITY, -INFINITY};
        LA_EACH_POLLED(i, 0, n) {
            if (isnan(x[i])) r->low = NAN;
            if (x[i] < r->low) r->low = x[i];
            if (x[i] > r->high) r->high = x[i];
        }
        LA_TRY(la_poll());
    }
    if (r->low == r->high) {
        r->low -= wider;
        r->high += wider;
    }
    if (!isfinite(r->low) || !isfinite(r->high))
        return la_error(LA_EARG, "range of [%g, %g] is not finite", r->low,
                        r->high);
    if (r->low > r->high)
        return la_error(LA_EARG, "max must be larger than min");
    return LA_OK;
}

/* Bins of equal width: the index is computed; values outside and NaN fail the
** comparison. A value equal to the upper limit belongs to the last bin. */
static void count_equal(const double *x, int64_t n, const double *w, range r,
                        double *slot, int64_t bins)
{
    double scale = (double)bins / (r.high - r.low);
    LA_EACH_POLLED(i, 0, n) {
        if (!(x[i] >= r.low && x[i] <= r.high)) continue;
        int64_t k = (int64_t)((x[i] - r.low) * scale);
        slot[k < bins ? k : bins - 1] += w ? w[i] : 1;
    }
}

static la_status bins_ok(int64_t bins, int arg)
{
    if (bins > 0) return LA_OK;
    return la_error_at(LA_EARG, arg, "bins must be > 0");
}

static la_status floats_only(const la_tensor *self)
{
    if (la_is_float((la_dtype)self->dtype)) return LA_OK;
    return la_error_at(LA_EDTYPE, 1, "a floating point tensor is expected, "
                       "got %s", la_dtype_name((la_dtype)self->dtype));
}

/* histc(self, bins, min, max) */
la_status la_impl_histc(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    int64_t bins = la_arg_int(f, 1);
    range r = {la_arg_float(f, 2), la_arg_float(f, 3)};
    LA_TRY(floats_only(self));
    LA_TRY(bins_ok(bins, 2));
    LA_LET(x, la_convert_to(self, LA_FLOAT64, &x));
    LA_TRY(find_range((double *)la_data(x), x->numel, 1, &r));
    LA_LET(out, la_tensor_empty(1, &bins, LA_FLOAT64, &out));
    memset(la_data(out), 0, (size_t)bins * 8);
    count_equal((double *)la_data(x), x->numel, NULL, r,
                (double *)la_data(out), bins);
    if (self->dtype != LA_FLOAT64)
        LA_TRY(la_convert_to(out, (la_dtype)self->dtype, &out));
    return la_give_owned(f, &out);
}

/* ---- histogram(self, bins or edges, weight, density) ---- */

/* edges[k] <= x < edges[k + 1]; the last bin has both ends. Where all are
** about as wide ('even'), the bin is computed, or at most a neighbour of it. */
static int64_t bin_of(double x, const double *edge, int64_t bins, double even)
{
    int64_t low = 0, high = bins;
    if (even > 0) {
        low = (int64_t)((x - edge[0]) * even);
        low = low < bins ? low : bins - 1;
        low -= low > 0 && x < edge[low];
        return low + (low + 1 < bins && x >= edge[low + 1]);
    }
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if (x >= edge[mid]) low = mid;
        else high = mid;
    }
    return low;
}

/* Bins per unit; 0 where they are so narrow that rounding moves an edge by more
** than a part of one. */
static double evenness(range r, int64_t bins)
{
    double width = (r.high - r.low) / (double)bins;
    double most = fmax(fabs(r.low), fabs(r.high));
    double even = (double)bins / (r.high - r.low);
    return isfinite(even) && width > 0x1p-48 * most ? even : 0;
}

/* Counts elements between given edges. */
static void count_edges(const double *x, int64_t n, const double *w,
                        const double *edge, int64_t bins, double even,
                        double *slot)
{
    LA_EACH_POLLED(i, 0, n)
        if (x[i] >= edge[0] && x[i] <= edge[bins])
            slot[bin_of(x[i], edge, bins, even)] += w ? w[i] : 1;
}

/* Counts become a density: their integral over the bins is 1. */
static void to_density(const double *edge, int64_t bins, double *slot)
{
    double total = 0;
    for (int64_t k = 0; k < bins; k++) total += slot[k];
    for (int64_t k = 0; k < bins; k++)
        slot[k] /= total * (edge[k + 1] - edge[k]);
}

/* 'edges' in double, bins + 1 of them; both results in self's dtype. */
static la_status fill_histogram(la_frame *f, la_tensor *x, la_tensor *edges,
                                double even)
{
    LA_OWNED w = NULL;
    la_tensor *self = la_arg(f, 0), *weight = la_arg(f, 2);
    int64_t bins = edges->numel - 1;
    if (weight && weight->numel != self->numel)
        return la_error_at(LA_ESHAPE, 3, "weight must have the elements of "
                           "the input");
    if (weight) LA_TRY(la_convert_to(weight, LA_FLOAT64, &w));
    LA_LET(count, la_tensor_empty(1, &bins, LA_FLOAT64, &count));
    memset(la_data(count), 0, (size_t)bins * 8);
    double *slot = (double *)la_data(count);
    const double *edge = (const double *)la_data(edges);
    count_edges((double *)la_data(x), x->numel,
                w ? (double *)la_data(w) : NULL, edge, bins, even, slot);
    if (la_arg_bool(f, 3)) to_density(edge, bins, slot);
    LA_TRY(la_convert_to(count, (la_dtype)self->dtype, &count));
    LA_LET(border, la_convert_to(edges, (la_dtype)self->dtype, &border));
    la_set_result(f, 0, count);
    la_set_result(f, 1, border);
    count = border = NULL;
    return LA_OK;
}

/* Evenly spaced edges, the last one exact. (self, bins,
** weight, density) -> counts, edges; LA_EARG for bins < 1 or infinite data. */
la_status la_impl_histogram(la_frame *f)
{
    int64_t bins = la_arg_int(f, 1), n;
    range r = {0, 0};
    LA_TRY(floats_only(la_arg(f, 0)));
    LA_TRY(bins_ok(bins, 2));
    if (!la_add_ok(bins, 1, &n)) return bins_ok(0, 2);
    LA_LET(x, la_convert_to(la_arg(f, 0), LA_FLOAT64, &x));
    if (x->numel == 0) r.high = 1;
    LA_TRY(find_range((double *)la_data(x), x->numel, 0.5, &r));
    LA_LET(edges, la_tensor_empty(1, &n, LA_FLOAT64, &edges));
    double *edge = (double *)la_data(edges);
    for (int64_t k = 0; k <= bins; k++)
        edge[k] = r.low + (r.high - r.low) * ((double)k / (double)bins);
    edge[bins] = r.high;
    return fill_histogram(f, x, edges, evenness(r, bins));
}

/* Edges given as a tensor of at least two rising values, else LA_ESHAPE or
** LA_EARG. */
la_status la_impl_histogram_edges(la_frame *f)
{
    LA_OWNED edges = NULL;
    la_tensor *given = la_arg(f, 1);
    LA_TRY(floats_only(la_arg(f, 0)));
    if (given->ndim != 1 || given->numel < 2)
        return la_error_at(LA_ESHAPE, 2, "edges are a list of two numbers or "
                           "more");
    LA_LET(x, la_convert_to(la_arg(f, 0), LA_FLOAT64, &x));
    LA_TRY(la_convert_to(given, LA_FLOAT64, &edges));
    const double *edge = (const double *)la_data(edges);
    for (int64_t k = 0; k + 1 < edges->numel; k++)
        if (!(edge[k] < edge[k + 1]))
            return la_error_at(LA_EARG, 2, "edges must rise");
    return fill_histogram(f, x, edges, 0);
}
