/*
** Statistics made of other operations: sum_to_size, allclose, diff, normalize,
** renorm, trapezoids, covariance, softmin, segment_reduce.
**
** None is worth a kernel, and autograd differentiates the operations they are
** made of. Temporaries are owned by the function (LA_OWNED), or by a chain
** where there are many.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "op/composite.h"
#include "op/reduce/reduce.h"
#include "tensor/promote.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/call.h"
#include "op/impls.h"
#include "op/look.h"
#include "tensor/shape.h"

/* ---- sum_to_size(self, sizes) ---- */

/* The dims in which 'self' was broadcast from 'sizes'. LA_ESHAPE where
** broadcasting could not have made self's sizes. */
static la_status statistics_broadcast_dims(const la_tensor *self,
                                           const la_value *sizes, int64_t *dims,
    int *n)
{
    int lead = self->ndim - (int)sizes->ints.n;
    *n = 0;
    bool fits = lead >= 0;
    for (int d = 0; fits && d < self->ndim; d++) {
        int64_t have = la_sizes(self)[d];
        int64_t want = d < lead ? 1 : sizes->ints.list[d - lead];
        if (d < lead || (want == 1 && have != 1)) dims[(*n)++] = d;
        else if (want != have) fits = false;
    }
    if (fits) return LA_OK;
    return la_error_at(LA_ESHAPE, 2, "the sizes cannot be broadcast to those "
                       "of the tensor: each must be 1 or the same, from the "
                       "last dim on");
}

/* The adjoint of broadcasting: sums over the dims that 'sizes' has as 1 or
** lacks. Without anything to add up the result is a new tensor over self's
** storage, not self. */
la_status la_impl_sum_to_size(la_frame *f)
{
    LA_OWNED sum = NULL;
    la_tensor *self = la_arg(f, 0), *out = NULL;
    int64_t dims[LA_MAX_DIMS];
    int n;
    LA_TRY(statistics_broadcast_dims(self, &f->args[1], dims, &n));
    if (f->args[1].ints.n == 0)
        return la_give(f, la_run(sum, &out, self), &out);
    if (n == 0)
        return la_give(f, la_run(alias, &out, self), &out);
    LA_TRY(la_run(sum, &sum, self, la_v_ints(dims, n), la_v_bool(true)));
    return la_give(f, la_run(reshape, &out, sum, f->args[1]), &out);
}

/* ---- allclose(self, other, rtol, atol, equal_nan) ---- */

/* A boolean: |self - other| <= atol + rtol * |other| everywhere. */
la_status la_impl_allclose(la_frame *f)
{
    la_value all[LA_MAX_RESULTS];
    LA_LET(close, la_run(isclose, &close, f->args[0], f->args[1], f->args[2],
                         f->args[3], f->args[4]));
    LA_TRY(la_run_many(all, all, close));
    la_set_result_value(f, 0, all[0]);
    return LA_OK;
}

/* ---- diff(self, n, dim, prepend, append) ---- */

/* prepend, self and append in one tensor along dim. *out is owned; cat checks
** the sizes. */
static la_status join_ends(la_frame *f, int64_t dim, la_tensor **out)
{
    la_tensor *list[3];
    int64_t n = 0;
    if (la_arg(f, 3)) list[n++] = la_arg(f, 3);
    list[n++] = la_arg(f, 0);
    if (la_arg(f, 4)) list[n++] = la_arg(f, 4);
    if (n == 1) return la_tensor_same(list[0], out);
    return la_run(cat, out, la_v_tensors(list, n), dim);
}

/* Neighbours subtracted; of booleans, compared. Takes *t over. */
static la_status diff_once(la_tensor **t, int64_t dim)
{
    la_tensor *out = NULL;
    int64_t size = la_sizes(*t)[dim], n = size > 0 ? size - 1 : 0;
    int64_t from = size > 0 ? 1 : 0;
    LA_LET(left, la_run(narrow, &left, *t, dim, 0, n));
    LA_LET(right, la_run(narrow, &right, *t, dim, from, n));
    if ((*t)->dtype == LA_BOOL)
        LA_TRY(la_run(logical_xor, &out, right, left));
    else
        LA_TRY(la_run(sub, &out, right, left));
    la_tensor_release(*t);
    *t = out;
    return LA_OK;
}

/* The n-th forward difference along dim. LA_ESHAPE for 0 dims, LA_EARG for n <
** 0. Stops early where nothing is left along dim; where nothing was there the
** result is self, and for n = 0 a copy. */
la_status la_impl_diff(la_frame *f)
{
    LA_OWNED t = NULL;
    la_tensor *self = la_arg(f, 0);
    int64_t n = la_arg_int(f, 1);
    int dim = 0;
    if (self->ndim == 0)
        return la_error_at(LA_ESHAPE, 1, "diff expects input to be at least "
                           "one-dimensional");
    if (n < 0)
        return la_error_at(LA_EARG, 2, "order must be non-negative but got "
                           "%lld", (long long)n);
    LA_TRY(la_wrap_dim(la_arg_int(f, 2), self->ndim, &dim));
    if (n == 0) LA_TRY(la_run(clone, &t, self));    /* the ends don't count */
    else LA_TRY(join_ends(f, dim, &t));
    for (int64_t k = 0; k < n && la_sizes(t)[dim] > 0; k++)
        LA_TRY(diff_once(&t, dim));
    return LA_GIVE(f, la_tensor_retain(t));
}

/* ---- normalize(self, p, dim, eps), renorm(self, p, dim, maxnorm) ---- */

/* self / max(||self||_p, eps), the norm along dim. eps bounds the divisor, so
** that rows of zeros stay zeros. */
la_status la_impl_normalize(la_frame *f)
{
    la_tensor *out = NULL;
    int64_t dim = la_has(f, 2) ? la_arg_int(f, 2) : la_arg(f, 0)->ndim > 1;
    LA_LET(norm, la_run(vector_norm, &norm, f->args[0], f->args[1],
                        la_v_ints(&dim, 1), la_v_bool(true)));
    LA_LET(safe,
           la_run(clamp_min, &safe, norm, la_scalar_float(la_arg_float(f, 3))));
    return la_give(f, la_run(div, &out, f->args[0], safe), &out);
}

/* Every slice along 'dim' whose norm is above the limit is scaled down. To
** maxnorm / (norm + 1e-7), PyTorch's formula. LA_ESHAPE for fewer than two
** dims, LA_EARG unless maxnorm >= 0. */
la_status la_impl_renorm(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *out = NULL;
    int64_t dims[LA_MAX_DIMS];
    int dim = 0, n = 0;
    la_scalar limit = la_scalar_float(la_arg_float(f, 3));
    if (self->ndim < 2)
        return la_error_at(LA_ESHAPE, 1, "renorm: input needs at least 2 "
                           "dimensions, got %d dimensions", self->ndim);
    if (!(limit.re >= 0))
        return la_error_at(LA_EARG, 4, "renorm: expected maxnorm to be >= 0 "
                           "but got %g", limit.re);
    LA_TRY(la_wrap_dim(la_arg_int(f, 2), self->ndim, &dim));
    for (int d = 0; d < self->ndim; d++)
        if (d != dim) dims[n++] = d;
    LA_LET(norm, la_run(vector_norm, &norm, self, f->args[1],
                        la_v_ints(dims, n), la_v_bool(true)));
    LA_LET(above, la_run(gt, &above, norm, limit));
    LA_LET(safe, la_run(add, &safe, norm, la_scalar_float(1e-7)));
    LA_LET(inverse, la_run(div, &inverse, limit, safe));
    LA_LET(factor, la_run(where, &factor, above, inverse, la_scalar_float(1)));
    return la_give(f, la_run(mul, &out, self, factor), &out);
}

/* ---- softmin(self, dim, dtype) ---- */

/* ---- trapezoid(y, x or nil, dx, dim), cumulative_trapezoid ---- */

/* (left + right) * width / 2 along 'dim'. The width is dx where x is not given;
** x of one dim holds the positions along dim for all rows, else it has y's
** sizes. *out is owned and has one element less than y along dim. */
static la_status strips(la_frame *f, int dim, la_tensor **out)
{
    LA_OWNED steps = NULL;
    LA_OWNED width = NULL;
    LA_OWNED area = NULL;
    la_tensor *y = la_arg(f, 0), *x = la_arg(f, 1);
    int64_t size = la_sizes(y)[dim], n = size > 0 ? size - 1 : 0;
    int64_t from = size > 0 ? 1 : 0, shape[LA_MAX_DIMS];
    LA_LET(left, la_run(narrow, &left, y, dim, 0, n));
    LA_LET(right, la_run(narrow, &right, y, dim, from, n));
    LA_LET(both, la_run(add, &both, left, right));
    if (x && x->ndim == 1) {
        for (int d = 0; d < y->ndim; d++) shape[d] = d == dim ? -1 : 1;
        LA_TRY(la_run(diff, &steps, x));
        LA_TRY(la_run(reshape, &width, steps, la_v_ints(shape, y->ndim)));
    } else if (x) {
        LA_TRY(la_run(diff, &width, x, 1, dim));
    }
    if (width) LA_TRY(la_run(mul, &area, both, width));
    else LA_TRY(la_run(mul, &area, both, la_scalar_float(la_arg_float(f, 2))));
    return la_run(mul, out, area, la_scalar_float(0.5));
}

/* The strips along argument 3, for sums of any kind; LA_ESHAPE for 0 dims. */
static la_status trapezoid_strips(la_frame *f, int *dim, la_tensor **out)
{
    la_tensor *y = la_arg(f, 0);
    *dim = 0;
    if (y->ndim == 0)
        return la_error_at(LA_ESHAPE, 1, "trapezoid needs at least one dim");
    LA_TRY(la_wrap_dim(la_arg_int(f, 3), y->ndim, dim));
    return strips(f, *dim, out);
}

/* Trapezoids of equal widths: the sum less half of the ends, times the width.
** One pass over y, which must not be empty along dim. */
static la_status even_trapezoid(la_frame *f, int dim)
{
    la_tensor *y = la_arg(f, 0), *out = NULL;
    int64_t d = dim;
    LA_LET(first, la_run(select, &first, y, dim, 0));
    LA_LET(last, la_run(select, &last, y, dim, la_sizes(y)[dim] - 1));
    LA_LET(ends, la_run(add, &ends, first, last));
    LA_LET(half, la_run(mul, &half, ends, la_scalar_float(0.5)));
    LA_LET(all, la_run(sum, &all, y, la_v_ints(&d, 1)));
    LA_LET(inner, la_run(sub, &inner, all, half));
    return la_give(f,
        la_run(mul, &out, inner, la_scalar_float(la_arg_float(f, 2))), &out);
}

/* The integral of y over x along dim by the trapezoidal rule. */
la_status la_impl_trapezoid(la_frame *f)
{
    la_tensor *y = la_arg(f, 0), *out = NULL;
    int dim;
    if (y->ndim > 0 && !la_arg(f, 1)) {
        LA_TRY(la_wrap_dim(la_arg_int(f, 3), y->ndim, &dim));
        if (la_sizes(y)[dim] > 0) return even_trapezoid(f, dim);
    }
    LA_LET(area, trapezoid_strips(f, &dim, &area));
    int64_t d = dim;
    return la_give(f, la_run(sum, &out, area, la_v_ints(&d, 1)), &out);
}

/* All its partial sums: one element less than y has along dim. */
la_status la_impl_cumulative_trapezoid(la_frame *f)
{
    la_tensor *out = NULL;
    int dim;
    LA_LET(area, trapezoid_strips(f, &dim, &area));
    return la_give(f, la_run(cumsum, &out, area, dim), &out);
}

/* ---- cov(self, correction, fweights, aweights), corrcoef(self) ---- */

/* *out (owned): a matrix of floats with a row for each variable. */
static la_status rows_of_variables(la_tensor *self, la_tensor **out)
{
    LA_OWNED x = NULL;
    if (self->ndim > 2)
        return la_error_at(LA_ESHAPE, 1, "cov(): expected input to have two or "
                           "fewer dimensions but got an input with %d "
                           "dimensions", self->ndim);
    int64_t shape[2] = {1, -1};
    if (self->ndim == 2) x = la_tensor_retain(self);
    else LA_TRY(la_run(reshape, &x, self, la_v_ints(shape, 2)));
    if (!la_is_inexact((la_dtype)x->dtype))
        LA_TRY(la_convert_to(x, la_ctx()->default_dtype, &x));
    return la_tensor_same(x, out);
}

/* Covariance of the rows of a matrix: (x - mean) @ (x - mean)^H / (n -
** correction). A single row gives a 0-dim result. Where n <= correction the
** divisor is 0: infinities and NaN, as in PyTorch. *out is owned. */
static la_status covariance(la_tensor *self, double correction,
                            la_tensor **out)
{
    int64_t shape[2] = {1, -1};
    LA_LET(x, rows_of_variables(self, &x));
    double n = (double)la_sizes(x)[1] - correction;
    int64_t last = 1;
    LA_LET(mean, la_run(mean, &mean, x, la_v_ints(&last, 1), la_v_bool(true)));
    LA_LET(centred, la_run(sub, &centred, x, mean));
    LA_LET(transposed, la_run(transpose, &transposed, centred, 0, 1));
    LA_LET(conj, la_run(conj, &conj, transposed));
    LA_LET(product, la_run(matmul, &product, centred, conj));
    LA_LET(whole, la_run(div, &whole, product, la_scalar_float(n > 0 ? n : 0)));
    if (la_sizes(x)[0] != 1) return la_run(alias, out, whole);
    return la_run(reshape, out, whole, la_v_ints(shape, 0));
}

/* Weights of 'n' observations, none negative: integers, or floats where
** 'floats'. Values are checked on the CPU alone: LA_ESHAPE, LA_EDTYPE or
** LA_EARG. */
static la_status check_weights(la_tensor *w, int arg, int64_t n, bool floats)
{
    const char *name = floats ? "aweights" : "fweights";
    la_dtype d = (la_dtype)w->dtype;
    la_scalar least;
    if (w->ndim > 1 || w->numel != n)
        return la_error_at(LA_ESHAPE, arg, "cov(): expected %s to have one "
                           "dimension and a weight for each of the %lld "
                           "observations", name, (long long)n);
    if (floats ? !la_is_float(d) : !la_is_integral(d))
        return la_error_at(LA_EDTYPE, arg, "cov(): expected %s to have %s "
                           "dtype but got %s", name, floats ? "floating point"
                           : "integral", la_dtype_name(d));
    if (n == 0 || w->device != LA_CPU) return LA_OK;
    LA_LET(plain, la_run(detach, &plain, w));
    LA_LET(min, la_run(amin, &min, plain));
    if (la_tensor_to_scalar(min, &least) && least.re < 0)
        return la_error_at(LA_EARG, arg, "cov(): %s cannot be negative", name);
    return LA_OK;
}

/* The observations in the dtype that they and the importances promote to;
** everything after is computed in it. */
static la_status promoted_rows(la_frame *f, la_tensor **out)
{
    const la_tensor *aw = la_arg(f, 3);
    la_result_type r = LA_RESULT_TYPE_INIT;
    la_dtype d;
    LA_LET(x, rows_of_variables(la_arg(f, 0), &x));
    la_result_type_add(&r, x);
    if (aw) la_result_type_add(&r, aw);
    LA_TRY(la_result_type_get(&r, &d));
    return la_convert_to(x, d, out);
}

/* LA_EARG where nothing counts, as far as the value is known. */
static la_status check_sum(la_tensor *all)
{
    la_scalar sum;
    LA_LET(plain, la_run(detach, &plain, all));
    if (!la_tensor_to_scalar(plain, &sum) || sum.re != 0) return LA_OK;
    return la_error(LA_EARG, "cov(): weights sum to zero, can't be "
                    "normalized");
}

/* Observation k counts f[k] * a[k] times (NULL: once), in the mean, too. The
** products are divided by sum(f a) - correction * sum(f a a) / sum(f a), which
** is n - correction without weights. */
static la_status weighted_covariance(la_frame *f, la_tensor *x)
{
    LA_CHAIN(w);
    la_tensor *fw = la_arg(f, 2), *aw = la_arg(f, 3);
    double correction = la_arg_float(f, 1);
    int64_t n = la_sizes(x)[1], none = 0, last = 1;
    if (fw) LA_TRY(check_weights(fw, 3, n, false));
    if (aw) LA_TRY(check_weights(aw, 4, n, true));
    la_value d = la_v_dtype(la_dtype_to_real((la_dtype)x->dtype));
    la_tensor *often = fw ? R(astype, fw, d) : NULL;
    la_tensor *much = aw ? R(astype, aw, d) : NULL;
    la_tensor *each = fw && aw ? R(mul, often, much) : fw ? often : much;
    la_tensor *all = R(sum, each);
    LA_TRY(w->status);
    LA_TRY(check_sum(all));
    la_tensor *squares =
        R(mul, each, aw ? la_v_tensor(much) : la_v_scalar(la_scalar_int(1)));
    la_tensor *share = R(div, R(sum, squares), all);
    la_tensor *rest = R(sub, all, R(mul, share, correction));
    la_tensor *by = R(clamp_min, rest, 0.0);
    la_tensor *total =
        R(sum, R(mul, x, each), la_v_ints(&last, 1), la_v_bool(true));
    la_tensor *centred = R(sub, x, R(div, total, all));
    la_tensor *left = R(mul, centred, each);
    la_tensor *right = R(conj, R(transpose, centred, 0, 1));
    la_tensor *out = R(div, R(matmul, left, right), by);
    if (la_sizes(x)[0] == 1) out = R(reshape, out, la_v_ints(&none, 0));
    return la_chain_end(w, f, out);
}

/* (self, correction, fweights, aweights): rows are variables, columns
** observations. fweights count observations, aweights say how much each
** matters. */
la_status la_impl_cov(la_frame *f)
{
    la_tensor *out = NULL;
    if (!la_arg(f, 2) && !la_arg(f, 3)) {
        LA_TRY(covariance(la_arg(f, 0), la_arg_float(f, 1), &out));
        return la_give(f, LA_OK, &out);
    }
    LA_LET(x, promoted_rows(f, &x));
    return weighted_covariance(f, x);
}

/* cov divided by the standard deviations of its row and column. A single
** variable gives c / c: 1, or NaN for a constant one. */
la_status la_impl_corrcoef(la_frame *f)
{
    la_tensor *out = NULL;
    LA_LET(c, covariance(la_arg(f, 0), 1, &c));
    if (c->ndim == 0)
        return la_give(f, la_run(div, &out, c, c), &out);
    LA_LET(d, la_run(diagonal, &d, c));
    LA_LET(std, la_run(pow, &std, d, la_scalar_float(0.5)));
    LA_LET(column, la_run(unsqueeze, &column, std, 1));
    LA_LET(half, la_run(div, &half, c, column));
    return la_give(f, la_run(div, &out, half, std), &out);
}

/* ---- segment_reduce(self, reduce, lengths or offsets, axis) ---- */

/* The reduction of one segment; an empty one gives the identity, which max and
** min only have as an infinity. */
static la_status one_segment(la_tensor *part, int axis, const la_value *how,
                             la_tensor **out)
{
    int64_t d = axis;
    la_value dims = la_v_ints(&d, 1), keep = la_v_bool(true);
    if (la_str_is(how, "sum")) return la_run(sum, out, part, dims, keep);
    if (la_str_is(how, "mean"))
        return la_run(mean, out, part, dims, keep);
    if (la_str_is(how, "prod"))
        return la_run(prod, out, part, d, keep);
    bool max = la_str_is(how, "max");
    if (part->numel > 0 && max)
        return la_run(amax, out, part, dims, keep);
    if (part->numel > 0) return la_run(amin, out, part, dims, keep);
    la_shape s = la_shape_of(part);
    la_scalar edge = la_scalar_float(max ? -INFINITY : INFINITY);
    s.sizes[axis] = 1;
    LA_TRY(la_tensor_empty(s.ndim, s.sizes, (la_dtype)part->dtype, out));
    return la_run_(fill_, *out, edge);
}

/* Segment k runs from start to end; offsets count from 1. 'v' has n lengths, or
** n + 1 offsets. Fills list[k] with the reduced segment k, size 1 along the
** axis. LA_EINDEX for a segment that is not within the axis. */
static la_status cut_segments(la_frame *f, int axis, const int64_t *v,
                              int64_t n, bool offsets, la_value *list)
{
    la_tensor *self = la_arg(f, 0);
    int64_t at = 0, size = la_sizes(self)[axis];
    for (int64_t k = 0; k < n; k++) {
        LA_OWNED part = NULL;
        bool falls = offsets && (v[k] < 1 || v[k + 1] < v[k]);
        int64_t first = falls ? -1 : offsets ? v[k] - 1 : at;
        int64_t length = falls ? 0 : offsets ? v[k + 1] - v[k] : v[k];
        if (first < 0 || length < 0 || first > size - length)
            return la_error_at(LA_EINDEX, 3, "segment %lld leaves the %lld "
                               "elements of the axis", (long long)k + 1,
                               (long long)size);
        LA_TRY(la_run(narrow, &part, self, axis, first, length));
        LA_TRY(one_segment(part, axis, &f->args[1], &list->tensors.list[k]));
        at = first + length;
    }
    return LA_OK;
}

/* Asked first, as one_segment takes any other word for min. */
static bool knows_word(const la_value *v)
{
    static const char *const words[] = {"sum", "mean", "prod", "max", "min"};
    for (int k = 0; k < 5; k++)
        if (la_str_is(v, words[k])) return true;
    return false;
}

/* (data, reduce, lengths, offsets, axis): one operation per segment. LA_EARG
** unless exactly one of the two lists is given. */
la_status la_impl_segment_reduce(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *out = NULL;
    bool offsets = la_arg(f, 3) != NULL;
    la_tensor *given = offsets ? la_arg(f, 3) : la_arg(f, 2);
    int axis = 0;
    la_value list;
    if (!knows_word(&f->args[1]))
        return la_error_at(LA_EARG, 2, "sum, mean, prod, max or min is "
                           "expected");
    if (!given || (offsets && la_arg(f, 2)) || given->ndim != 1)
        return la_error(LA_EARG, "give one of lengths and offsets, a list");
    LA_TRY(la_wrap_dim(la_arg_int(f, 4), self->ndim, &axis));
    if (self->ndim == 0)
        return la_error_at(LA_ESHAPE, 1, "at least one dim is needed");
    LA_LET(where, la_convert_to(given, LA_INT64, &where));
    LA_TRY(la_look_alone(where));
    int64_t n = where->numel - offsets;
    if (n < 1) return la_error(LA_EARG, "there are no segments");
    LA_TRY(la_list_new(n, &list));
    la_status status = cut_segments(f, axis, (int64_t *)la_data(where), n,
                                    offsets, &list);
    if (!status) status = la_run(cat, &out, list, axis);
    la_value_drop(&list);
    return status ? status : la_give(f, LA_OK, &out);
}
