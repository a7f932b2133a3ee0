/*
** Weights of resampling along one axis, as PyTorch's: the position of an output
** in the input, a window around it, a filter over the distances.
*/
#include "modules/vision/axis.h"

#include <math.h>
#include <string.h>

#include "base/libm/libm.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "base/size.h"

/* Positions and weights of float32 are computed in float32: which pixel is the
** nearest one depends on it. A single operation in double, rounded, is the one
** in float. */
static double rounded(const la_axis_plan *p, double x)
{
    return p->dtype == LA_FLOAT32 ? (double)(float)x : x;
}

/* Input positions per output position. */
static double scale_of(const la_axis_plan *p)
{
    if (p->align_corners)
        return p->out > 1 ? rounded(p, (double)(p->in - 1)
                                    / (double)(p->out - 1)) : 0;
    if (p->factor > 0) return rounded(p, 1 / p->factor);
    return rounded(p, (double)p->in / (double)p->out);
}

/* Position of output i in the input: corners meet corners, or centres of the
** outermost pixels lie half a pixel inside. */
static double axis_source_of(const la_axis_plan *p, double scale, int64_t i)
{
    if (p->align_corners) return rounded(p, scale * (double)i);
    double x = rounded(p, scale * rounded(p, (double)i + 0.5));
    return rounded(p, x - 0.5);
}

/* ---- filters over a distance ---- */

/* The cubic convolution of R. Keys (1981), a = -0.75 as PyTorch, -0.5 where
** antialiased, as Pillow. */
static double cubic(double x, double a)
{
    x = fabs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

/* The sine is the library's own (base/libm), so that weights have the same
** bits on every system. */
static double sinc(double x)
{
    x *= 3.14159265358979323846;
    return x == 0 ? 1 : la_m_sin(x) / x;
}

static double axis_filter(const la_axis_plan *p, double x)
{
    switch (p->kind) {
    case LA_CUBIC: return cubic(x, p->antialias ? -0.5 : -0.75);
    case LA_LANCZOS: return fabs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
    default: return fabs(x) < 1 ? 1 - fabs(x) : 0;
    }
}

/* Inputs that the filter reaches over, at scale 1. */
static int64_t axis_width_of(const la_axis_plan *p)
{
    return p->kind == LA_LANCZOS ? 6 : p->kind == LA_CUBIC ? 4
        : p->kind == LA_LINEAR ? 2 : 1;
}

/* ---- one output ---- */

/* A window under construction: weights of the table's column i. */
typedef struct column {
    int64_t from, count;
    double *weight;           /* step elements from tap to tap */
    int64_t step;
    double largest;           /* a partial sum, as PyTorch has it */
} column;

/* The nearest pixel. PyTorch's older form rounds down from the pixel's edge,
** in float32 always. */
static void nearest(const la_axis_plan *p, int64_t i, column *c)
{
    float scale = p->factor > 0 ? (float)(1 / p->factor)
        : (float)p->in / (float)p->out;
    float x = p->kind == LA_NEAREST ? (float)i * scale
        : ((float)i + 0.5f) * scale;
    c->count = 1;
    c->weight[0] = c->largest = 1;
    if (x < (float)(p->in - 1)) c->from = (int64_t)floorf(x);
    else c->from = p->in - 1;
    if (p->kind == LA_NEAREST && p->out == p->in) c->from = i;
    if (p->kind == LA_NEAREST && p->out == 2 * p->in) c->from = i / 2;
}

/* A window of fixed width whose ends stick to the border. */
static void clamped(const la_axis_plan *p, double scale, int64_t i, column *c)
{
    int64_t width = axis_width_of(p), half = width / 2;
    double x = axis_source_of(p, scale, i);
    if (p->kind == LA_LINEAR && x < 0) x = 0;
    if (p->kind == LA_LINEAR && p->in == p->out) x = (double)i;
    int64_t at = x < (double)(p->in - 1) ? (int64_t)floor(x) : p->in - 1;
    double t = rounded(p, x - (double)at);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    int64_t first = at - half + 1, last = at + half;
    c->from = la_min(la_max(first, 0), p->in - 1);
    c->count = la_max(la_min(last, p->in - 1), 0) - c->from + 1;
    for (int64_t k = 0; k < c->count; k++) c->weight[k * c->step] = 0;
    for (int64_t k = 0; k < width; k++) {
        int64_t to = la_min(la_max(first + k, 0), p->in - 1) - c->from;
        double *w = &c->weight[to * c->step];
        *w += rounded(p, axis_filter(p, (double)(k + 1 - half) - t));
        if (*w > c->largest) c->largest = *w;
    }
}

/* A filter as wide as what it has to smooth; its weights add up to 1. An axis
** that keeps its size stays as it is, whatever the factor, as in PyTorch. */
static void smoothed(const la_axis_plan *p, double scale, int64_t most,
                     int64_t i, column *c)
{
    double wide = scale >= 1 ? scale : 1, sum = 0;
    double support = rounded(p, (double)axis_width_of(p) * 0.5 * wide);
    double centre = rounded(p, scale * rounded(p, (double)i + 0.5));
    double inverse = scale >= 1 ? rounded(p, 1 / scale) : 1;
    if (p->in == p->out) {
        *c = (column){i, 1, c->weight, c->step, 1};
        c->weight[0] = 1;
        return;
    }
    double low = rounded(p, rounded(p, centre - support) + 0.5);
    double high = rounded(p, rounded(p, centre + support) + 0.5);
    c->from = low > 0 ? (int64_t)low : 0;
    c->from = la_min(c->from, p->in - 1);
    int64_t end = high < (double)p->in ? (int64_t)high : p->in;
    c->count = la_min(la_max(end - c->from, 0), most);
    for (int64_t k = 0; k < c->count; k++) {
        double x = rounded(p, (double)(k + c->from) - centre);
        double w = rounded(p, axis_filter(p, rounded(p, x + 0.5) * inverse));
        c->weight[k * c->step] = w;
        sum += w;
    }
    for (int64_t k = 0; k < c->count; k++) {
        double *w = &c->weight[k * c->step];
        if (sum != 0) *w = rounded(p, *w / sum);
        if (*w > c->largest) c->largest = *w;
    }
}

/* ---- the table ---- */

/* Memory for a table of 'out' outputs; weights are doubles at first, and fit
** in whatever becomes of them: at least 16 of 16 bits per output. */
static la_status axis_allocate(la_axis *a, int64_t in, int64_t out,
                               int64_t most)
{
    int64_t n, bytes, taps = la_max(most, 4);
    *a = (la_axis){.taps = {.in = in, .out = out, .most = most}};
    if (!la_mul_ok(out, taps, &n) || !la_add_ok(n, out, &n)
        || !la_mul_ok(n, 8, &bytes))
        return la_error(LA_ENOMEM, "not enough memory");
    a->bytes = (size_t)bytes;
    a->memory = la_mem_zalloc(a->bytes);
    if (!a->memory) return LA_ENOMEM;
    a->taps.weight = a->memory;
    int32_t *at = (int32_t *)((char *)a->memory + 8 * (n - out));
    a->taps.from = at;
    a->taps.count = at + out;
    return LA_OK;
}

/* One block has all three parts: weights, the first input of each output, and
** how many inputs it takes. The positions stand behind the weights and stay
** where they are while these are narrowed. */
static double *weights_of(const la_axis *a) { return a->memory; }
static int32_t *from_of(const la_axis *a)
{
    return (int32_t *)((char *)a->memory + a->bytes) - 2 * a->taps.out;
}
static int32_t *count_of(const la_axis *a)
{
    return from_of(a) + a->taps.out;
}

/* The adjoint: input j gets from output i what output i takes from input j. The
** outputs of one input are neighbours. */
static la_status axis_transpose(const la_axis *a, la_axis *out)
{
    const la_taps *t = &a->taps;
    int64_t most = 1, first = 0, end = 0;
    for (int64_t j = 0; j < t->in; j++) {
        while (end < t->out && t->from[end] <= j) end++;
        while (first < end && t->from[first] + t->count[first] <= j) first++;
        most = la_max(most, end - first);
    }
    LA_TRY(axis_allocate(out, t->out, t->in, most));
    int32_t *from = from_of(out), *count = count_of(out);
    double *weight = weights_of(out);
    const double *w = t->weight;
    first = end = 0;
    for (int64_t j = 0; j < t->in; j++) {
        while (end < t->out && t->from[end] <= j) end++;
        while (first < end && t->from[first] + t->count[first] <= j) first++;
        from[j] = (int32_t)la_min(first, t->out - 1);
        count[j] = (int32_t)(end - first);
        for (int64_t i = first; i < end; i++)
            weight[(i - first) * t->in + j]
                = w[(j - t->from[i]) * t->out + i];
    }
    return LA_OK;
}

/* Bits of a shift that leaves as many binary digits as 16 bits hold of the
** largest weight. */
static int shift_of(double largest)
{
    int shift = 0;
    while (shift < 22
           && (int)(0.5 + largest * (1 << (shift + 1))) < (1 << 15)) shift++;
    return shift;
}

/* A weight in fixed point. */
static double fixed(double w, int shift)
{
    w *= 1 << shift;
    return (double)(int32_t)(w < 0 ? w - 0.5 : w + 0.5);
}

/* Narrows doubles to floats, in place: what is written lies before what is read
** next. */
static void axis_narrow(la_axis *a, bool whole)
{
    int64_t n = a->taps.out * a->taps.most;
    LA_EACH_POLLED(k, 0, n) {
        double w = weights_of(a)[k];
        float real = (float)(whole ? fixed(w, a->taps.shift) : w);
        memcpy((char *)a->memory + 4 * k, &real, 4);
    }
}

/* To rows of 16-bit weights, one for each output. */
static la_status axis_pack(la_axis *a)
{
    la_axis old = *a;
    const la_taps *t = &old.taps;
    la_status status = axis_allocate(a, t->in, t->out, t->most);
    if (!status) {
        int16_t *to = a->memory;
        a->taps.shift = t->shift;
        a->taps.width = (t->most + 15) / 16 * 16;
        memcpy(from_of(a), t->from, 8 * (size_t)t->out);
        for (int64_t i = 0; i < t->out; i++)
            for (int64_t k = 0; k < t->count[i]; k++)
                to[i * a->taps.width + k] = (int16_t)fixed(
                    weights_of(&old)[k * t->out + i], t->shift);
    }
    la_axis_drop(&old);
    return status;
}

/* Converts doubles to what the kernels read; 'largest' of the weights. */
static la_status axis_finish(la_axis *a, const la_axis_plan *p, double largest)
{
    bool bytes = p->dtype == LA_UINT8;
    if (bytes) a->taps.shift = shift_of(largest);
    if (bytes && a->taps.shift > 15) return axis_pack(a);
    if (p->dtype != LA_FLOAT64) axis_narrow(a, bytes);
    return LA_OK;
}

/* Dropping twice is harmless: callers drop on every way out. */
void la_axis_drop(la_axis *a)
{
    if (a->memory) la_mem_free(a->memory, a->bytes);
    a->memory = NULL;
}

/* Every output of the axis; the largest weight. */
static double axis_fill(const la_axis_plan *p, la_axis *a)
{
    double scale = scale_of(p), largest = 0;
    int32_t *from = from_of(a), *count = count_of(a);
    LA_EACH_POLLED(i, 0, p->out) {
        column c = {.weight = weights_of(a) + i, .step = p->out,
                    .largest = largest};
        if (p->kind <= LA_NEAREST_EXACT) nearest(p, i, &c);
        else if (p->antialias) smoothed(p, scale, a->taps.most, i, &c);
        else clamped(p, scale, i, &c);
        from[i] = (int32_t)c.from;
        count[i] = (int32_t)c.count;
        largest = c.largest;
    }
    return largest;
}

/* A table per axis makes the work of weights linear in the sizes, while pixels
** number their product. The gradient is the same table transposed: no second
** set of loops. */
la_status la_axis_make(const la_axis_plan *p, bool transposed, la_axis *out)
{
    int64_t most = axis_width_of(p);
    double scale = scale_of(p);
    *out = (la_axis){.memory = NULL};
    if (p->in > INT32_MAX || p->out > INT32_MAX)
        return la_error(LA_ESHAPE, "sizes up to %d can be resampled",
                        INT32_MAX);
    if (p->antialias && scale > 1) {
        double reach = ceil((double)most * 0.5 * scale) * 2 + 1;
        most = reach < (double)p->in ? (int64_t)reach : p->in;
    } else if (p->antialias) {
        most += 1;
    }
    la_axis a;
    la_status status = axis_allocate(&a, p->in, p->out, la_min(most, p->in));
    if (status) return status;
    double largest = axis_fill(p, &a);
    if (la_poll_long(p->out)) {
        la_axis_drop(&a);
        return LA_EINTR;
    }
    if (transposed) {
        status = axis_transpose(&a, out);
        la_axis_drop(&a);
    } else {
        *out = a;
    }
    return status ? status : axis_finish(out, p, largest);
}
