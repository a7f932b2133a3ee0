/*
** Windows, with the formulas of scipy.signal.windows. A value depends on its
** position alone and is computed in double; the second half is the first one
** reversed, so a window is symmetric to the last bit.
*/
#include <math.h>
#include <stdio.h>

#include "base/runtime/context.h"
#include "base/libm/libm.h"
#include "base/scratch.h"
#include "iter/items.h"
#include "op/create/create.h"

#define LA_ROWS "op/def/create.def"
#include "iter/iter.h"
#include "op/frame.h"
#include "op/impls.h"

#define BLOCK 512
#define PI 3.14159265358979323846

/* A symmetric window of 'length' points; a periodic one is one without its
** last. */
typedef struct window {
    const struct shape *shape;
    int64_t length;
    double p;                 /* the parameter */
    double scale;             /* kaiser: 1 / I0(beta) */
    double terms[5];          /* of the sums of cosines */
    char *data;
    int64_t stride;           /* bytes */
    int64_t count;            /* points of the result */
    la_loop cast;
} window;

enum { NO_PARAMETER = -1, BETA, ALPHA, STD, TAU };
/* Their names, in the order of the schema. */
static const char *const parameters[] = {"beta", "alpha", "std", "tau"};

typedef struct shape {
    const char *name;
    double (*value)(const window *w, double i);   /* i in the first half */
    int parameter;
    double terms[5];
} shape;

/* Position of point i, from 0 to 1 at the two ends. A single point never
** asks. */
static double at(const window *w, double i)
{
    return i / (double)(w->length - 1);
}

/* ---- the shapes: i is in the first half, the middle included ---- */

static double boxcar(const window *w, double i) { return 1; }

/* terms[0] - terms[1] cos(2 pi u) + terms[2] cos(4 pi u) - ... */
static double cosines(const window *w, double i)
{
    double sum = w->terms[0], angle = 2 * PI * at(w, i);
    for (int k = 1; k < 5; k++)
        if (w->terms[k] != 0)
            sum += (k % 2 ? -1 : 1) * w->terms[k] * la_m_cos(k * angle);
    return sum;
}

/* A triangle whose ends are not 0. */
static double triang(const window *w, double i)
{
    double n = (double)w->length;
    return w->length % 2 ? 2 * (i + 1) / (n + 1) : (2 * i + 1) / n;
}

static double bartlett(const window *w, double i) { return 2 * at(w, i); }

static double cosine(const window *w, double i)
{
    return la_m_sin(PI / (double)w->length * (i + 0.5));
}

/* Piecewise cubic: a triangle convolved with itself. */
static double parzen(const window *w, double i)
{
    double half = (double)(w->length - 1) / 2, n = half - i;
    double u = n / ((double)w->length / 2);
    return n <= half / 2 ? 1 - 6 * u * u + 6 * u * u * u
                         : 2 * la_m_pow(1 - u, 3);
}

/* A triangle convolved with itself, of cosines. */
static double bohman(const window *w, double i)
{
    double u = 1 - 2 * at(w, i);
    return i == 0 ? 0 : (1 - u) * la_m_cos(PI * u) + la_m_sin(PI * u) / PI;
}

static double barthann(const window *w, double i)
{
    double u = 0.5 - at(w, i);
    return 0.62 - 0.48 * u + 0.38 * la_m_cos(2 * PI * u);
}

/* The main lobe of a sinc. */
static double lanczos(const window *w, double i)
{
    double u = PI * (1 - 2 * at(w, i));
    return u == 0 ? 1 : la_m_sin(u) / u;
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

/* The parameter is beta. */
static double kaiser(const window *w, double i)
{
    double u = 2 * at(w, i) - 1;
    return bessel_i0(w->p * sqrt(1 - u * u)) * w->scale;
}

/* The parameter is the standard deviation, in points. */
static double gaussian(const window *w, double i)
{
    double u = (i - (double)(w->length - 1) / 2) / w->p;
    return la_m_exp(-u * u / 2);
}

/* A part "a" of the length is a cosine, half of it at each end. */
static double tukey(const window *w, double i)
{
    double last = (double)(w->length - 1), a = w->p;
    if (a <= 0 || i > floor((a < 1 ? a : 1) * last / 2)) return 1;
    return 0.5 - 0.5 * la_m_cos(2 * PI * i / (a < 1 ? a : 1) / last);
}

/* The parameter is the distance at which 1 / e is left. */
static double exponential(const window *w, double i)
{
    return la_m_exp(-fabs(i - (double)(w->length - 1) / 2) / w->p);
}

/* Shapes by name; those that others refer to by number are listed below. */
static const shape shapes[] = {
    {"boxcar", boxcar, NO_PARAMETER, {0}},
    {"hann", cosines, NO_PARAMETER, {0.5, 0.5}},
    {"hamming", cosines, NO_PARAMETER, {0.54, 0.46}},
    {"blackman", cosines, NO_PARAMETER, {0.42, 0.5, 0.08}},
    {"bartlett", bartlett, NO_PARAMETER, {0}},
    {"triang", triang, NO_PARAMETER, {0}},
    {"cosine", cosine, NO_PARAMETER, {0}},
    {"nuttall", cosines, NO_PARAMETER,
     {0.3635819, 0.4891775, 0.1365995, 0.0106411}},
    {"blackmanharris", cosines, NO_PARAMETER,
     {0.35875, 0.48829, 0.14128, 0.01168}},
    {"flattop", cosines, NO_PARAMETER,
     {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}},
    {"parzen", parzen, NO_PARAMETER, {0}},
    {"bohman", bohman, NO_PARAMETER, {0}},
    {"barthann", barthann, NO_PARAMETER, {0}},
    {"lanczos", lanczos, NO_PARAMETER, {0}},
    {"kaiser", kaiser, BETA, {0}},
    {"gaussian", gaussian, STD, {0}},
    {"tukey", tukey, ALPHA, {0}},
    {"exponential", exponential, TAU, {0}},
    {"general_hamming", cosines, ALPHA, {0}},
};
enum { HANN = 1, HAMMING, BLACKMAN, BARTLETT, KAISER = 14,
       GENERAL_HAMMING = 18, NSHAPES = 19 };

/* ---- filling ---- */

/* 'n' points of the buffer from 'first' on, in the dtype of the result. */
static void put_points(const window *w, int64_t first, int64_t n, double *from)
{
    char *data[2] = {w->data + first * w->stride, (char *)from};
    int64_t strides[4] = {w->stride, 8, 0, 0};
    if (n > 0) w->cast(data, strides, n, 1, NULL);
}

/* Points begin .. end - 1 of the first half, and those that mirror them: of a
** periodic window without the one past the end. */
static void put_block(int64_t begin, int64_t end, void *context)
{
    const window *w = context;
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

/* n points in result 0. A single one is 1, of every window. */
static la_status fill(la_frame *f, const shape *s, double p, bool periodic)
{
    la_tensor *out = la_result(f, 0);
    window w = {.shape = s, .p = p, .data = la_data(out), .count = out->numel,
                .stride = (int64_t)la_itemsize(out),
                .cast = la_cast_loop((la_dtype)out->dtype, LA_FLOAT64)};
    w.length = out->numel + (periodic && out->numel > 1);
    memcpy(w.terms, s->terms, sizeof(w.terms));
    if (s->value == kaiser) w.scale = 1 / bessel_i0(p);
    if (s == &shapes[GENERAL_HAMMING]) {
        w.terms[0] = p;
        w.terms[1] = 1 - p;
    }
    int64_t half = out->numel ? (w.length + 1) / 2 : 0;
    return la_iter_items(half, LA_GRAIN / 32, BLOCK, put_block, &w);
}

/* n (argument k) points of a floating dtype. */
static la_status sized(la_frame *f, int k, int options)
{
    int64_t n = la_arg_int(f, k);
    if (n < 0)
        return la_error_at(LA_EARG, k + 1, "a window has no negative length, "
                           "got %lld", (long long)n);
    LA_TRY(la_option_output(f, options, 1, &n, la_ctx()->default_dtype, NULL));
    return la_require_dtype(f, (la_dtype)la_result(f, 0)->dtype);
}

/* ---- signal_window(name, n, sym, beta, alpha, std, tau, options) ---- */

enum { W_NAME, W_N, W_SYM, W_BETA, W_OPTIONS = W_BETA + 4 };

static la_status unknown_name(const la_value *v)
{
    char text[400], quoted[80];
    int n = 0;
    for (int k = 0; k < NSHAPES; k++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s",
                      k ? ", " : "", shapes[k].name);
    return la_error_at(LA_EARG, W_NAME + 1, "unknown window '%s' (known: %s)",
                       la_quote(v->str.text, v->str.n, quoted, sizeof(quoted)),
                       text);
}

/* The window and its parameter: LA_EARG where one is given that it has not, or
** missing. */
static la_status read_window(const la_frame *f, const shape **s, double *p)
{
    int k = 0;
    while (k < NSHAPES && !la_str_is(&f->args[W_NAME], shapes[k].name)) k++;
    if (k == NSHAPES) return unknown_name(&f->args[W_NAME]);
    *s = &shapes[k];
    for (int j = BETA; j <= TAU; j++)
        if (la_has(f, W_BETA + j) && j != (*s)->parameter)
            return la_error_at(LA_EARG, W_BETA + j + 1, "the window '%s' has "
                               "no parameter %s", (*s)->name, parameters[j]);
    static const double defaults[] = {12, 0.5, 0, 1};
    int own = (*s)->parameter;
    if (own == NO_PARAMETER) return LA_OK;
    *p = own == STD ? (double)la_arg_int(f, W_N) / 6 : defaults[own];
    if (la_has(f, W_BETA + own)) *p = la_arg_float(f, W_BETA + own);
    else if (k == GENERAL_HAMMING)
        return la_error_at(LA_EARG, W_NAME + 1, "the window general_hamming "
                           "needs alpha=");
    return LA_OK;
}

la_status la_meta_signal_window(la_frame *f)
{
    const shape *s = NULL;
    double p = 0;
    LA_TRY(read_window(f, &s, &p));
    return sized(f, W_N, W_OPTIONS);
}
la_status la_impl_signal_window(la_frame *f)
{
    const shape *s = NULL;
    double p = 0;
    LA_TRY(read_window(f, &s, &p));
    return fill(f, s, p, !la_arg_bool(f, W_SYM));
}

/* ---- PyTorch's: (n, periodic, parameters, options) ---- */

#define WINDOW(name, k)                                                      \
    la_status la_meta_##name(la_frame *f) { return sized(f, 0, 2); }        \
    la_status la_impl_##name(la_frame *f)                                   \
    {                                                                       \
        return fill(f, &shapes[k], 0, la_arg_bool(f, 1));                   \
    }
WINDOW(hann_window, HANN)
WINDOW(blackman_window, BLACKMAN)
WINDOW(bartlett_window, BARTLETT)

/* alpha - beta cos(2 pi u), whatever they add up to. */
LA_FORWARD(la_meta_hamming_window, sized(f, 0, 4))
la_status la_impl_hamming_window(la_frame *f)
{
    shape s = shapes[HAMMING];
    s.terms[0] = la_arg_float(f, 2);
    s.terms[1] = la_arg_float(f, 3);
    return fill(f, &s, 0, la_arg_bool(f, 1));
}
LA_FORWARD(la_meta_kaiser_window, sized(f, 0, 3))
LA_FORWARD(la_impl_kaiser_window,
           fill(f, &shapes[KAISER], la_arg_float(f, 2), la_arg_bool(f, 1)))
