/*
** signal_window: a window by its name, with the formulas of
** scipy.signal.windows; op/create/window.h fills it.
*/
#include <math.h>
#include <stdio.h>

#include "base/libm/libm.h"
#include "op/create/window.h"

#define LA_ROWS "modules/signal/ops.def"
#include "op/impls.h"

#define PI 3.14159265358979323846

enum { NO_PARAMETER = -1, BETA, ALPHA, STD, TAU };
/* Their names, in the order of the schema. */
static const char *const parameters[] = {"beta", "alpha", "std", "tau"};

/* ---- the shapes: i is in the first half, the middle included ---- */

static double boxcar(const la_taper *w, double i) { return 1; }

/* A triangle whose ends are not 0. */
static double triang(const la_taper *w, double i)
{
    double n = (double)w->length;
    return w->length % 2 ? 2 * (i + 1) / (n + 1) : (2 * i + 1) / n;
}

static double window_cosine(const la_taper *w, double i)
{
    return la_m_sin(PI / (double)w->length * (i + 0.5));
}

/* Piecewise cubic: a triangle convolved with itself. */
static double parzen(const la_taper *w, double i)
{
    double half = (double)(w->length - 1) / 2, n = half - i;
    double u = n / ((double)w->length / 2);
    return n <= half / 2 ? 1 - 6 * u * u + 6 * u * u * u
                         : 2 * la_m_pow(1 - u, 3);
}

/* A triangle convolved with itself, of cosines. */
static double bohman(const la_taper *w, double i)
{
    double u = 1 - 2 * la_window_at(w, i);
    return i == 0 ? 0 : (1 - u) * la_m_cos(PI * u) + la_m_sin(PI * u) / PI;
}

static double barthann(const la_taper *w, double i)
{
    double u = 0.5 - la_window_at(w, i);
    return 0.62 - 0.48 * u + 0.38 * la_m_cos(2 * PI * u);
}

/* The main lobe of a sinc. */
static double lanczos(const la_taper *w, double i)
{
    double u = PI * (1 - 2 * la_window_at(w, i));
    return u == 0 ? 1 : la_m_sin(u) / u;
}

/* The parameter is the standard deviation, in points. */
static double gaussian(const la_taper *w, double i)
{
    double u = (i - (double)(w->length - 1) / 2) / w->p;
    return la_m_exp(-u * u / 2);
}

/* A part "a" of the length is a cosine, half of it at each end. */
static double tukey(const la_taper *w, double i)
{
    double last = (double)(w->length - 1), a = w->p;
    if (a <= 0 || i > floor((a < 1 ? a : 1) * last / 2)) return 1;
    return 0.5 - 0.5 * la_m_cos(2 * PI * i / (a < 1 ? a : 1) / last);
}

/* The parameter is the distance at which 1 / e is left. */
static double window_exponential(const la_taper *w, double i)
{
    return la_m_exp(-fabs(i - (double)(w->length - 1) / 2) / w->p);
}

/* Shapes by name. */
static const struct named {
    const char *name;
    int parameter;
    la_window_shape shape;
} shapes[] = {
    {"boxcar", NO_PARAMETER, {boxcar, {0}}},
    {"hann", NO_PARAMETER, {la_window_cosines, {0.5, 0.5}}},
    {"hamming", NO_PARAMETER, {la_window_cosines, {0.54, 0.46}}},
    {"blackman", NO_PARAMETER, {la_window_cosines, {0.42, 0.5, 0.08}}},
    {"bartlett", NO_PARAMETER, {la_window_bartlett, {0}}},
    {"triang", NO_PARAMETER, {triang, {0}}},
    {"cosine", NO_PARAMETER, {window_cosine, {0}}},
    {"nuttall", NO_PARAMETER,
     {la_window_cosines, {0.3635819, 0.4891775, 0.1365995, 0.0106411}}},
    {"blackmanharris", NO_PARAMETER,
     {la_window_cosines, {0.35875, 0.48829, 0.14128, 0.01168}}},
    {"flattop", NO_PARAMETER,
     {la_window_cosines,
      {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}}},
    {"parzen", NO_PARAMETER, {parzen, {0}}},
    {"bohman", NO_PARAMETER, {bohman, {0}}},
    {"barthann", NO_PARAMETER, {barthann, {0}}},
    {"lanczos", NO_PARAMETER, {lanczos, {0}}},
    {"kaiser", BETA, {la_window_kaiser, {0}}},
    {"gaussian", STD, {gaussian, {0}}},
    {"tukey", ALPHA, {tukey, {0}}},
    {"exponential", TAU, {window_exponential, {0}}},
    {"general_hamming", ALPHA, {la_window_cosines, {0}}},
};
enum { NSHAPES = 19 };

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
static la_status read_window(const la_frame *f, la_window_shape *s, double *p)
{
    int k = 0;
    while (k < NSHAPES && !la_str_is(&f->args[W_NAME], shapes[k].name)) k++;
    if (k == NSHAPES) return unknown_name(&f->args[W_NAME]);
    int own = shapes[k].parameter;
    *s = shapes[k].shape;
    /* general_hamming: cosines whose terms are the parameter's */
    bool is_general = s->value == la_window_cosines && s->terms[0] == 0;
    for (int j = BETA; j <= TAU; j++)
        if (la_has(f, W_BETA + j) && j != own)
            return la_error_at(LA_EARG, W_BETA + j + 1, "the window '%s' has "
                               "no parameter %s", shapes[k].name,
                               parameters[j]);
    static const double defaults[] = {12, 0.5, 0, 1};
    if (own == NO_PARAMETER) return LA_OK;
    *p = own == STD ? (double)la_arg_int(f, W_N) / 6 : defaults[own];
    if (la_has(f, W_BETA + own)) *p = la_arg_float(f, W_BETA + own);
    else if (is_general)
        return la_error_at(LA_EARG, W_NAME + 1, "the window general_hamming "
                           "needs alpha=");
    if (!is_general) return LA_OK;
    s->terms[0] = *p;
    s->terms[1] = 1 - *p;
    return LA_OK;
}

la_status la_meta_signal_window(la_frame *f)
{
    la_window_shape s = {0};
    double p = 0;
    LA_TRY(read_window(f, &s, &p));
    return la_window_sized(f, W_N, W_OPTIONS);
}
la_status la_impl_signal_window(la_frame *f)
{
    la_window_shape s = {0};
    double p = 0;
    LA_TRY(read_window(f, &s, &p));
    return la_window_fill(f, &s, p, !la_arg_bool(f, W_SYM));
}
