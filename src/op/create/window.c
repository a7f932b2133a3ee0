/*
** Windows, with the formulas of scipy.signal.windows. A value depends on its
** position alone and is computed in double; the second half is the first one
** reversed, so a window is symmetric to the last bit.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "base/libm/libm.h"
#include "base/scratch.h"
#include "iter/items.h"
#include "op/create/create.h"
#include "op/create/window.h"

#define LA_ROWS "op/def/create.def"
#include "iter/iter.h"
#include "op/frame.h"
#include "op/impls.h"

#define BLOCK 512
#define PI 3.14159265358979323846

/* ---- shapes: i is in the first half, the middle included ---- */

double la_window_cosines(const la_taper *w, double i)
{
    double sum = w->shape->terms[0], angle = 2 * PI * la_window_at(w, i);
    for (int k = 1; k < 5; k++)
        if (w->shape->terms[k] != 0)
            sum += (k % 2 ? -1 : 1) * w->shape->terms[k] * la_m_cos(k * angle);
    return sum;
}

double la_window_bartlett(const la_taper *w, double i)
{
    return 2 * la_window_at(w, i);
}

/* The modified Bessel function of order 0, by its power series: all terms are
** positive. */
static double bessel_i0(double x)
{
    double sum = 1, term = 1, q = x * x / 4;
    for (int k = 1; term > sum * 1e-17 && k < 4000; k++) {
        term *= q / ((double)k * k);
        sum += term;
    }
    return sum;
}

double la_window_kaiser(const la_taper *w, double i)
{
    double u = 2 * la_window_at(w, i) - 1;
    return bessel_i0(w->p * sqrt(1 - u * u)) * w->scale;
}

/* ---- filling ---- */

/* 'n' points of the buffer from 'first' on, in the dtype of the result. */
static void put_points(const la_taper *w, int64_t first, int64_t n,
                       double *from)
{
    char *data[2] = {w->data + first * w->stride, (char *)from};
    int64_t strides[4] = {w->stride, 8, 0, 0};
    if (n > 0) w->cast(data, strides, n, 1, NULL);
}

/* Points begin .. end - 1 of the first half, and those that mirror them: of a
** periodic window without the one past the end. */
static void put_block(int64_t begin, int64_t end, void *context)
{
    const la_taper *w = context;
    LA_SCRATCH(double, buffer, 2 * BLOCK);
    double *mirror = buffer + BLOCK;
    int64_t n = end - begin, first = w->length - end;
    for (int64_t i = begin; i < end; i++) {
        double x = w->length == 1 ? 1 : w->shape->value(w, (double)i);
        buffer[i - begin] = mirror[end - 1 - i] = x;
    }
    put_points(w, begin, n, buffer);
    put_points(w, first, la_min(n, w->count - first), mirror);
}

la_status la_window_fill(la_frame *f, const la_window_shape *s, double p,
                         bool periodic)
{
    la_tensor *out = la_result(f, 0);
    la_taper w = {.shape = s, .p = p, .data = la_data(out),
                   .count = out->numel, .stride = (int64_t)la_itemsize(out),
                   .cast = la_cast_loop((la_dtype)out->dtype, LA_FLOAT64)};
    w.length = out->numel + (periodic && out->numel > 1);
    if (s->value == la_window_kaiser) w.scale = 1 / bessel_i0(p);
    int64_t half = out->numel ? (w.length + 1) / 2 : 0;
    return la_iter_items(half, LA_GRAIN / 32, BLOCK, put_block, &w);
}

la_status la_window_sized(la_frame *f, int k, int options)
{
    int64_t n = la_arg_int(f, k);
    if (n < 0)
        return la_error_at(LA_EARG, k + 1, "a window has no negative length, "
                           "got %lld", (long long)n);
    LA_TRY(la_option_output(f, options, 1, &n, la_ctx()->default_dtype, NULL));
    return la_require_dtype(f, (la_dtype)la_result(f, 0)->dtype);
}

/* ---- PyTorch's: (n, periodic, parameters, options) ---- */

static const la_window_shape hann = {la_window_cosines, {0.5, 0.5}};
static const la_window_shape blackman = {la_window_cosines, {0.42, 0.5, 0.08}};
static const la_window_shape bartlett = {la_window_bartlett, {0}};
static const la_window_shape kaiser = {la_window_kaiser, {0}};

#define WINDOW(shape)                                                        \
    la_status la_meta_##shape##_window(la_frame *f)                          \
    {                                                                        \
        return la_window_sized(f, 0, 2);                                     \
    }                                                                        \
    la_status la_impl_##shape##_window(la_frame *f)                          \
    {                                                                        \
        return la_window_fill(f, &shape, 0, la_arg_bool(f, 1));              \
    }
WINDOW(hann)
WINDOW(blackman)
WINDOW(bartlett)

/* alpha - beta cos(2 pi u), whatever they add up to. */
LA_FORWARD(la_meta_hamming_window, la_window_sized(f, 0, 4))
la_status la_impl_hamming_window(la_frame *f)
{
    la_window_shape s = {la_window_cosines,
                         {la_arg_float(f, 2), la_arg_float(f, 3)}};
    return la_window_fill(f, &s, 0, la_arg_bool(f, 1));
}
LA_FORWARD(la_meta_kaiser_window, la_window_sized(f, 0, 3))
LA_FORWARD(la_impl_kaiser_window,
           la_window_fill(f, &kaiser, la_arg_float(f, 2), la_arg_bool(f, 1)))
