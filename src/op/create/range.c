/*
** Sequences: arange, range, linspace, logspace. Values are computed in blocks,
** as int64 for integers and double for the rest, from their index alone, and
** converted to the dtype; so they depend neither on threads nor on each other.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "base/libm/libm.h"
#include "iter/items.h"
#include "op/create/create.h"
#include "op/scalar_range.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/create.def"
#include "iter/iter.h"
#include "op/frame.h"
#include "op/impls.h"

#define BLOCK 512

/* Element i is first + i * step; from 'half' on counted from the end. */
typedef struct sequence {
    la_dtype work;            /* int64 or float64 */
    int64_t first_i, step_i;
    double first, step, last;
    int64_t count, half;
    int64_t gaps;             /* last = first + gaps * step */
    bool power;               /* 'base' to the power of the element */
    double base;
    char *data;
    int64_t stride;           /* bytes */
    la_loop cast;
} sequence;

/* Element i from its index alone: no sum of steps, whose errors would add
** up. */
static double value_at(const sequence *s, int64_t i)
{
    double v = i < s->half ? s->first + s->step * (double)i
                           : s->last - s->step * (double)(s->gaps - i);
    return s->power ? la_m_pow(s->base, v) : v;
}

/* Elements begin.. as int64 (wrapping, so that no order of evaluation matters)
** or double, converted to the result's dtype. */
static void put_block(int64_t begin, int64_t end, void *context)
{
    const sequence *s = context;
    int64_t n = end - begin;
    union { int64_t i[BLOCK]; double d[BLOCK]; } buffer;
    for (int64_t k = 0; k < n; k++)
        if (s->work == LA_INT64)
            buffer.i[k] = (int64_t)((uint64_t)s->first_i
                                    + (uint64_t)(begin + k)
                                    * (uint64_t)s->step_i);
        else
            buffer.d[k] = value_at(s, begin + k);
    char *data[2] = {s->data + begin * s->stride, (char *)&buffer};
    int64_t strides[4] = {s->stride, 8, 0, 0};
    s->cast(data, strides, n, 1, NULL);
}

/* The sequence over result 0, which may have any stride. */
static la_status run_sequence(la_frame *f, sequence *s)
{
    la_tensor *out = la_result(f, 0);
    s->count = out->numel;
    s->data = la_data(out);
    s->stride = out->ndim > 0
        ? la_strides(out)[0] * (int64_t)la_itemsize(out) : 0;
    s->cast = la_cast_loop(out->dtype, s->work);
    return la_iter_items(s->count, LA_GRAIN, BLOCK, put_block, s);
}

/* --- arange and range --- */

typedef struct bounds {
    la_scalar first, end, step;
    bool closed;              /* range: the end belongs to it */
} bounds;

/* Are all bounds integers? Then nothing is rounded. */
static bool range_whole(const bounds *b)
{
    return b->first.kind <= LA_KINT && b->end.kind <= LA_KINT
        && b->step.kind <= LA_KINT;
}

/* Real, finite, and a step that is not 0. */
static la_status check_bounds(const bounds *b)
{
    if (b->first.kind == LA_KCOMPLEX || b->end.kind == LA_KCOMPLEX
        || b->step.kind == LA_KCOMPLEX)
        return la_error(LA_EDTYPE, "a range of complex numbers has no order");
    if (b->step.re == 0) return la_error(LA_EARG, "step must be nonzero");
    if (!isfinite(b->first.re) || !isfinite(b->end.re))
        return la_error(LA_EARG, "unsupported range: %g -> %g", b->first.re,
                        b->end.re);
    if (!isfinite(b->step.re))
        return la_error(LA_EARG, "step must be finite, got %g", b->step.re);
    return LA_OK;
}

/* The step leads away from the end. */
static la_status wrong_sign(void)
{
    return la_error(LA_EARG, "upper bound and lower bound inconsistent with "
                    "step sign");
}

/* The number of elements, exact for integers: the distance always fits 65
** bits. */
static la_status count_whole(const bounds *b, int64_t *count)
{
    __int128 far = (__int128)b->end.i - b->first.i, step = b->step.i;
    if (step < 0) {
        far = -far;
        step = -step;
    }
    if (far < 0) {
        if (b->closed) far = -step;    /* nothing, as in Lua's for */
        else return wrong_sign();
    }
    __int128 n = b->closed ? (far + step) / step : (far + step - 1) / step;
    if (n > LA_MAX_NUMEL)
        return la_error(LA_ESHAPE, "invalid size, possible overflow?");
    *count = (int64_t)n;
    return LA_OK;
}

/* Count in floating point, rounded as PyTorch does it: ceil for arange, floor +
** 1 for range. */
static la_status count_real(const bounds *b, int64_t *count)
{
    double n = (b->end.re - b->first.re) / b->step.re;
    if (n < 0 && !b->closed) return wrong_sign();
    n = b->closed ? floor(n) + 1 : ceil(n);
    if (n < 0) n = 0;
    if (!(n <= (double)LA_MAX_NUMEL))
        return la_error(LA_ESHAPE, "invalid size, possible overflow?");
    *count = (int64_t)n;
    return LA_OK;
}

/* The bounds of a call whose options begin at argument 'options': (end) when
** that is 1, counted from 0 (range: from 1), else (first, end, step). */
static bounds bounds_of(const la_frame *f, int options, bool closed)
{
    const la_value *a = f->args;
    if (options == 1)
        return (bounds){la_scalar_int(closed), a[0].scalar, la_scalar_int(1),
                        closed};
    return (bounds){a[0].scalar, a[1].scalar, a[2].scalar, closed};
}

/* The first and the last element of an integer dtype have to be elements of it:
** those between lie between them. */
static la_status check_elements(const bounds *b, int64_t count, la_dtype dtype)
{
    if (!la_is_integral(dtype) || count == 0) return LA_OK;
    double first = trunc(b->first.re), step = trunc(b->step.re);
    double last = first + step * (double)(count - 1);
    la_scalar ends[2] = {la_scalar_float(first), la_scalar_float(last)};
    if (range_whole(b)) {
        /* exact: the count was found from them without an overflow */
        __int128 end = (__int128)b->step.i * (count - 1) + b->first.i;
        ends[0] = b->first;
        if (end >= INT64_MIN && end <= INT64_MAX)
            ends[1] = la_scalar_int((int64_t)end);
    }
    for (int k = 0; k < 2; k++)
        if (la_scalar_side(&ends[k], dtype) != 0)
            return la_error(LA_EDTYPE, "the %s element, %.0f, cannot be "
                            "converted to type %s without overflow",
                            k ? "last" : "first", ends[k].re,
                            la_dtype_name(dtype));
    return LA_OK;
}

/* int64 when all bounds are integers, else the default dtype. */
static la_status range_meta(la_frame *f, int options, bool closed)
{
    bounds b = bounds_of(f, options, closed);
    int64_t count = 0;
    LA_TRY(check_bounds(&b));
    la_dtype guess = range_whole(&b) ? LA_INT64 : la_ctx()->default_dtype;
    if (range_whole(&b)) LA_TRY(count_whole(&b, &count));
    else LA_TRY(count_real(&b, &count));
    LA_TRY(la_option_output(f, options, 1, &count, guess, NULL));
    return check_elements(&b, count, (la_dtype)la_result(f, 0)->dtype);
}

/* Integer dtypes truncate first and step before anything else. */
static la_status range_impl(la_frame *f, int options, bool closed)
{
    bounds b = bounds_of(f, options, closed);
    la_dtype dtype = la_result(f, 0)->dtype;
    bool cut = la_is_integral(dtype) || dtype == LA_BOOL;
    sequence s = {.half = INT64_MAX, .first = b.first.re, .step = b.step.re};
    s.work = range_whole(&b) || cut ? LA_INT64 : LA_FLOAT64;
    s.first_i = range_whole(&b) ? b.first.i : (int64_t)b.first.re;
    s.step_i = range_whole(&b) ? b.step.i : (int64_t)b.step.re;
    return run_sequence(f, &s);
}

/* arange(end, options), arange(first, end, step, options): first, first + step,
** ... below the end. */
LA_FORWARD(la_meta_arange, range_meta(f, 1, false))
LA_FORWARD(la_impl_arange, range_impl(f, 1, false))
LA_FORWARD(la_meta_arange_start, range_meta(f, 3, false))
LA_FORWARD(la_impl_arange_start, range_impl(f, 3, false))

/* range: the same with the end included, from 1, as Lua counts. */
LA_FORWARD(la_meta_range, range_meta(f, 1, true))
LA_FORWARD(la_impl_range, range_impl(f, 1, true))
LA_FORWARD(la_meta_range_start, range_meta(f, 3, true))
LA_FORWARD(la_impl_range_start, range_impl(f, 3, true))

/* --- linspace and logspace --- */

/* steps (argument 2) elements of the default dtype; real bounds only, which an
** integer dtype holds (or the powers of base, argument 3, to them). */
static la_status space_meta(la_frame *f, int options, bool powers)
{
    int64_t steps = la_arg_int(f, 2);
    if (steps < 0)
        return la_error_at(LA_EARG, 3, "number of steps must be non-negative");
    bool is_complex = f->args[0].scalar.kind == LA_KCOMPLEX
        || f->args[1].scalar.kind == LA_KCOMPLEX;
    if (is_complex)
        return la_error(LA_EDTYPE, "complex bounds are not supported: make the "
                        "parts and join them with complex");
    LA_TRY(la_option_output(f, options, 1, &steps, la_ctx()->default_dtype,
                            NULL));
    la_dtype d = (la_dtype)la_result(f, 0)->dtype;
    if (!la_is_integral(d) || steps == 0) return LA_OK;
    for (int k = 0; k < 2; k++) {
        la_scalar end = f->args[k].scalar;
        if (powers)
            end = la_scalar_float(la_m_pow(la_arg_float(f, 3), end.re));
        if (powers && steps == 1 && k == 1) break;
        LA_TRY(la_scalar_fits(&end, d, k + 1));
    }
    return LA_OK;
}

/* The upper half counts down from the end, so that an end which is an element
** is exact. Without its end a sequence has the values of the same steps with
** it. Integer dtypes truncate the bounds first. */
static la_status space_impl(la_frame *f, sequence s, bool endpoint)
{
    int64_t n = la_arg_int(f, 2);
    double first = f->args[0].scalar.re, last = f->args[1].scalar.re;
    if (la_is_integral(la_result(f, 0)->dtype) && !s.power) {
        first = trunc(first);
        last = trunc(last);
    }
    s.work = LA_FLOAT64;
    s.first = first;
    s.gaps = endpoint ? n - 1 : n;
    s.step = s.gaps > 0 ? (last - first) / (double)s.gaps : 0;
    s.last = last;
    s.half = s.gaps > 0 ? (s.gaps + 1) / 2 : 1;
    return run_sequence(f, &s);
}

/* linspace(first, last, n, endpoint, options) */
LA_FORWARD(la_meta_linspace, space_meta(f, 4, false))
LA_FORWARD(la_impl_linspace,
           space_impl(f, (sequence){.power = false}, la_arg_bool(f, 3)))
/* logspace(first, last, n, base, options) */
LA_FORWARD(la_meta_logspace, space_meta(f, 4, true))
la_status la_impl_logspace(la_frame *f)
{
    sequence s = {.power = true, .base = la_arg_float(f, 3)};
    return space_impl(f, s, true);
}
