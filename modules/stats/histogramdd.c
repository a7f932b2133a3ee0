/* histogramdd: counts of points in boxes, as torch.histogramdd. */
#include <math.h>

#include "base/runtime/thread_pool.h"
#include "modules/stats/stats.h"
#include "tensor/scalar.h"

#define LA_ROWS "modules/stats/ops.def"
#include "base/size.h"
#include "op/call.h"
#include "op/impls.h"

enum { SELF, BINS, RANGE, WEIGHT, DENSITY };

/* The points as rows of d coordinates, and what is known of each of these. */
/* Each coordinate is looked up in its own edges, and the numbers become one
** index in row-major order: counting is then a bincount, however many
** coordinates there are. */
typedef struct boxes {
    la_tensor *points;          /* n x d */
    int64_t n, d, total;        /* total: of all boxes */
    la_value edges;             /* d vectors */
    la_tensor *at;              /* int64: the box of each point, from 0 */
    la_tensor *inside;          /* bool */
} boxes;

/* The list has moved to the frame when the results are there. */
static void boxes_drop(boxes *b)
{
    la_tensor_drop(&b->points);
    la_tensor_drop(&b->at);
    la_tensor_drop(&b->inside);
    la_value_drop(&b->edges);
}

/* All dims but the last count points, as in PyTorch: a grid of points needs no
** reshape by the caller. */
static la_status read_points(la_frame *f, boxes *b)
{
    la_tensor *x = la_arg(f, SELF), *weight = la_arg(f, WEIGHT);
    if (x->ndim < 2)
        return la_error_at(LA_ESHAPE, 1, "input tensor should have at least 2 "
                           "dimensions, got %d", x->ndim);
    b->d = la_sizes(x)[x->ndim - 1];
    b->n = b->d ? x->numel / b->d : 0;
    if (b->d == 0)
        return la_error_at(LA_ESHAPE, 1, "the points have no coordinates");
    if (weight && weight->numel != b->n)
        return la_error_at(LA_ESHAPE, WEIGHT + 1, "%lld weights for %lld "
                           "points", (long long)weight->numel,
                           (long long)b->n);
    int64_t sizes[] = {b->n, b->d};
    return la_run(reshape, &b->points, x, la_v_ints(sizes, 2));
}

/* A number of the list in argument k. */
static la_status number_of(const la_frame *f, int k, int64_t i, double *out)
{
    la_scalar s;
    const la_tensor *t = f->args[k].tensors.list[i];
    if (t->ndim != 0 || !la_tensor_to_scalar(t, &s))
        return la_error_at(LA_EARG, k + 1, "[%lld]: a number is expected",
                           (long long)i + 1);
    *out = s.re;
    return LA_OK;
}

/* The range of coordinate j: asked for, or that of the points. LA_EARG unless
** it is finite and rises. */
static la_status range_of(la_frame *f, la_tensor *x, int64_t j, double *low,
                          double *high)
{
    LA_CHAIN(w);
    la_scalar s[2];
    *low = 0;
    *high = 1;
    if (la_has(f, RANGE)) {
        LA_TRY(number_of(f, RANGE, 2 * j, low));
        LA_TRY(number_of(f, RANGE, 2 * j + 1, high));
    } else if (x->numel) {
        la_tensor *least = R(detach, R(min, x));
        la_tensor *most = R(detach, R(max, x));
        if (w->status) return w->status;
        if (!la_tensor_to_scalar(least, &s[0])
            || !la_tensor_to_scalar(most, &s[1])) return LA_EARG;
        *low = s[0].re;
        *high = s[1].re;
    }
    if (!isfinite(*low) || !isfinite(*high))
        return la_error(LA_EARG, "dimension %lld's range [%g, %g] is not "
                        "finite", (long long)j + 1, *low, *high);
    if (*low > *high)
        return la_error_at(LA_EARG, RANGE + 1, "min should not exceed max, but "
                           "got min %g max %g for dimension %lld", *low, *high,
                           (long long)j + 1);
    if (*low == *high) {
        *low -= 0.5;
        *high += 0.5;
    }
    return LA_OK;
}

/* Evenly spaced edges for a number of bins; a vector is taken as it is. */
static la_status edges_of(la_frame *f, const boxes *b, la_tensor *x, int64_t j,
                          la_tensor **out)
{
    const la_value *asked = &f->args[BINS];
    la_value dtype = la_v_dtype((la_dtype)x->dtype);
    double count = 0, low, high;
    if (asked->tag == LA_VTENSORS) {
        la_tensor *given = asked->tensors.list[j];
        if (given->ndim == 1 && given->numel > 1)
            return la_run(to_dtype, out, given, dtype);
        if (given->ndim > 0)
            return la_error_at(LA_ESHAPE, BINS + 1, "[%lld]: a number of bins "
                               "or a vector of two edges or more is expected",
                               (long long)j + 1);
        LA_TRY(number_of(f, BINS, j, &count));
    } else {
        count = (double)asked->i;
    }
    if (count >= 0x1p40) return la_error_at(LA_EARG, BINS + 1, "too many bins");
    if (!(count >= 1) || count != floor(count))
        return la_error_at(LA_EARG, BINS + 1, "bins must be > 0 and integers");
    LA_TRY(range_of(f, x, j, &low, &high));
    return la_run(linspace, out, low, high, (int64_t)count + 1,
                  la_v_bool(true), dtype);
}

/* Coordinate j goes into the number of each point's box. The last bin has both
** ends; NaN is outside. */
static la_status add_coordinate(la_frame *f, boxes *b, int64_t j)
{
    LA_CHAIN(w);
    la_tensor *x = R(contiguous, R(select, b->points, 1, j));
    la_tensor **edges = &b->edges.tensors.list[j];
    if (w->status) return w->status;
    LA_TRY(edges_of(f, b, x, j, edges));
    int64_t bins = (*edges)->numel - 1;
    if (!la_mul_ok(b->total, bins, &b->total) || b->total >= LA_MAX_NUMEL)
        return la_error_at(LA_ESHAPE, BINS + 1, "too many bins");
    la_tensor *bin = R(searchsorted, *edges, x, false, true);
    bin = R(clamp, R(sub, bin, 2), 0, bins - 1);
    la_tensor *in = R(logical_and, R(ge, x, R(select, *edges, 0, 0)),
                         R(le, x, R(select, *edges, 0, -1)));
    if (j > 0) {
        bin = R(add, R(mul, b->at, bins), bin);
        in = R(logical_and, b->inside, in);
    }
    if (w->status) return w->status;
    la_tensor_drop(&b->at);
    la_tensor_drop(&b->inside);
    b->at = la_tensor_retain(bin);
    b->inside = la_tensor_retain(in);
    return LA_OK;
}

/* The counts by the volumes of their boxes and the number of all points. */
static la_tensor *density_of(la_chain *w, const boxes *b, la_tensor *counts)
{
    int64_t shape[LA_MAX_DIMS];
    counts = R(div, counts, R(sum, counts));
    for (int64_t j = 0; j < b->d; j++) {
        for (int64_t k = 0; k < b->d; k++) shape[k] = k == j ? -1 : 1;
        la_tensor *width = R(diff, b->edges.tensors.list[j]);
        counts = R(div, counts, R(reshape, width, la_v_ints(shape, b->d)));
    }
    return counts;
}

/* A point outside counts in a box behind the last, which is cut off. */
static la_status count_points(la_frame *f, boxes *b)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, SELF), *weight = la_arg(f, WEIGHT);
    la_value dtype = la_v_dtype((la_dtype)x->dtype);
    int64_t shape[LA_MAX_DIMS];
    la_tensor *slot = R(where, b->inside, R(add, b->at, 1), b->total + 1);
    if (weight) weight = R(reshape, weight, la_v_ints(&b->n, 1));
    la_tensor *counts = R(bincount, slot, la_v_tensor(weight), b->total + 1);
    for (int64_t j = 0; j < b->d; j++)
        shape[j] = b->edges.tensors.list[j]->numel - 1;
    counts = R(narrow, counts, 0, 0, b->total);
    counts = R(reshape, R(to_dtype, counts, dtype), la_v_ints(shape, b->d));
    if (la_arg_bool(f, DENSITY)) counts = density_of(w, b, counts);
    return la_chain_end(w, f, R(clone, counts));
}

/* Lists are compared with the number of coordinates before anything is
** computed; the edges become the second result without a copy. */
static la_status histogram_of(la_frame *f)
{
    __attribute__((cleanup(boxes_drop))) boxes b = {.total = 1};
    LA_TRY(read_points(f, &b));
    if (b.d > 16)
        return la_error_at(LA_ESHAPE, 1, "at most 16 coordinates, got %lld",
                           (long long)b.d);
    if (f->args[BINS].tag == LA_VTENSORS && f->args[BINS].tensors.n != b.d)
        return la_error_at(LA_EARG, BINS + 1, "%lld bins for %lld coordinates",
                           (long long)f->args[BINS].tensors.n, (long long)b.d);
    if (la_has(f, RANGE) && f->args[RANGE].tensors.n != 2 * b.d)
        return la_error_at(LA_EARG, RANGE + 1, "range needs %lld numbers, two "
                           "for each coordinate, got %lld",
                           (long long)(2 * b.d),
                           (long long)f->args[RANGE].tensors.n);
    LA_TRY(la_list_new(b.d, &b.edges));
    for (int64_t j = 0; j < b.d; j++) LA_TRY(add_coordinate(f, &b, j));
    LA_TRY(count_points(f, &b));
    la_set_result_value(f, 1, b.edges);
    b.edges = la_v_none();
    return LA_OK;
}

/* (self, bins, range, weight, density) -> counts, edges */
LA_FORWARD(la_impl_histogramdd, histogram_of(f))
LA_FORWARD(la_impl_histogramdd_bins, histogram_of(f))
