/*
** Images and volumes of another size: weights per axis (axis.h), then bands of
** rows of each plane, over threads. The gradient runs the same loops with the
** transposed weights, so every element of it is one sum in one order.
*/
#include "modules/vision/kernel/resample.h"

#include "iter/items.h"
#include "op/conv/conv.h"
#include "modules/vision/axis.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/vision/ops.def"
#include "op/frame.h"
#include "op/impls.h"

enum { DATA, SIZE, SCALES, MODE, ALIGN, ANTIALIAS };

/* ---- shapes ---- */

/* Sizes and strides of the result: the last dims are 'size', the memory format
** is that of 't'. */
static la_status set_resized(la_frame *f, const la_tensor *t,
                             const la_value *size)
{
    int64_t sizes[LA_MAX_DIMS], strides[LA_MAX_DIMS];
    int nd = (int)size->ints.n;
    if (nd < 1 || nd > 3 || t->ndim != nd + 2)
        return la_error_at(LA_ESHAPE, 1, "expected %d dims (batch, channels, "
                           "sizes), got %d", nd + 2, t->ndim);
    memcpy(sizes, la_sizes(t), (size_t)t->ndim * sizeof *sizes);
    for (int d = 0; d < nd; d++) {
        sizes[2 + d] = size->ints.list[d];
        if (sizes[2 + d] > 0 && la_sizes(t)[2 + d] > 0) continue;
        return la_error(LA_ESHAPE, "input and output sizes should be greater "
                        "than 0, but got %lld and %lld in dim %d",
                        (long long)la_sizes(t)[2 + d],
                        (long long)sizes[2 + d], 3 + d);
    }
    LA_TRY(la_format_strides(la_suggest_format(t), t->ndim, sizes, strides));
    return la_set_output(f, 0, t->ndim, sizes, strides, (la_dtype)t->dtype);
}

/* The number of a la_resampling: C hosts can give any. */
static la_status check_mode(const la_frame *f)
{
    int64_t mode = la_arg_int(f, MODE);
    if (mode >= 0 && mode < LA_RESAMPLINGS) return LA_OK;
    return la_error_at(LA_EARG, MODE + 1, "no such mode");
}

static bool is_nearest(const la_frame *f)
{
    return la_arg_int(f, MODE) <= LA_NEAREST_EXACT;
}

/* ---- planes ---- */

/* One call: planes of 'rows' rows of 'depth' slices, in[] and out[] sizes by
** axis (depth, height, width); a row has 'channels' elements per position. */
typedef struct job {
    const la_resample_kernels *kernels;    /* NULL: elements are copied */
    la_axis axis[3];
    char *in, *out;
    int64_t channels, planes, bands, band;   /* rows of a band */
    int64_t size;             /* bytes of an element */
    bool wide_first;          /* rows are stretched before they are blended */
    bool same_width;          /* rows are not stretched at all */
} job;

static int64_t resample_row_bytes(const job *j, int64_t positions)
{
    return positions * j->channels * j->size;
}

/* Input row y of slice z. */
static const char *resample_row_at(const job *j, int64_t plane, int64_t z,
                                   int64_t y)
{
    const la_axis *a = j->axis;
    return j->in + ((plane * a[0].taps.in + z) * a[1].taps.in + y)
        * resample_row_bytes(j, a[2].taps.in);
}

/* Weight k of output i. */
static double weight_at(const job *j, const la_taps *t, int64_t i, int64_t k)
{
    int64_t at = k * t->out + i;
    if (t->width) return ((const int16_t *)t->weight)[i * t->width + k];
    return j->kernels->weight_size == sizeof(float)
        ? ((const float *)t->weight)[at] : ((const double *)t->weight)[at];
}

/* Nothing changes along the axis. */
static bool is_identity(const la_taps *t)
{
    if (t->in != t->out) return false;
    for (int64_t i = 0; i < t->out; i++)
        if (t->from[i] != i || t->count[i] != 1) return false;
    return true;
}

/* Scratch of a thread. */
typedef struct scratch {
    const char **rows;        /* what a blend reads */
    double *weights;
    char *blended;            /* a row of the input's width */
    char *ring;               /* stretched rows: row y in slot y % most */
} scratch;

static int64_t rows_at_once(const job *j)
{
    return j->axis[0].taps.most * j->axis[1].taps.most;
}

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static int64_t resample_scratch_bytes(const job *j)
{
    const la_axis *a = j->axis;
    int64_t rows = rows_at_once(j);
    return aligned(rows * 16) + aligned(resample_row_bytes(j, a[2].taps.in)
                                        + 64)
        + (j->wide_first
           ? a[1].taps.most * aligned(resample_row_bytes(j, a[2].taps.out))
               : 0);
}

static scratch resample_divide(const job *j, char *memory)
{
    int64_t rows = rows_at_once(j);
    scratch s = {.weights = (double *)(void *)memory};
    s.rows = (const char **)(void *)(memory + rows * 8);
    s.blended = memory + aligned(rows * 16);
    s.ring = s.blended + aligned(resample_row_bytes(j, j->axis[2].taps.in)
                                 + 64);
    return s;
}

/* Blend, or the row itself where it is the only one and counts whole. */
static const char *blended(const job *j, const scratch *s, char *to,
                           int64_t count, int64_t positions, int shift)
{
    bool whole = count == 1
        && s->weights[0] == (double)(shift ? 1 << shift : 1);
    if (whole && to == s->blended) return s->rows[0];
    if (whole) memcpy(to, s->rows[0], (size_t)resample_row_bytes(j, positions));
    else j->kernels->blend(to, s->rows, s->weights, count, shift,
                           positions * j->channels);
    return to;
}

/* Rows of slices are blended, then stretched, once for each output. */
static void high_first(const job *j, const scratch *s, int64_t plane, int64_t z,
                       int64_t y, char *out)
{
    const la_taps *d = &j->axis[0].taps, *h = &j->axis[1].taps;
    const la_taps *w = &j->axis[2].taps;
    int64_t n = 0;
    bool same = j->same_width;
    for (int64_t kd = 0; kd < d->count[z]; kd++)
        for (int64_t kh = 0; kh < h->count[y]; kh++, n++) {
            s->rows[n] = resample_row_at(j, plane, d->from[z] + kd,
                                         h->from[y] + kh);
            s->weights[n] = weight_at(j, h, y, kh) * weight_at(j, d, z, kd);
        }
    const char *row = blended(j, s, same ? out : s->blended, n, w->in,
                              h->shift);
    if (!same) j->kernels->stretch(out, row, w, j->channels);
}

/* Input row y of all slices that output slice z takes, stretched into the
** ring. */
static void stretch_row(const job *j, const scratch *s, int64_t plane,
                        int64_t z, int64_t y)
{
    const la_taps *d = &j->axis[0].taps, *w = &j->axis[2].taps;
    int64_t n = 0;
    for (int64_t k = 0; k < d->count[z]; k++, n++) {
        s->rows[n] = resample_row_at(j, plane, d->from[z] + k, y);
        s->weights[n] = weight_at(j, d, z, k);
    }
    const char *row = blended(j, s, s->blended, n, w->in, d->shift);
    j->kernels->stretch(s->ring + y % j->axis[1].taps.most
                       * aligned(resample_row_bytes(j, w->out)), row, w,
                           j->channels);
}

/* Rows are stretched once each, then blended. *next is the first row that is
** not in the ring yet; windows ascend. */
static void wide_first(const job *j, const scratch *s, int64_t plane, int64_t z,
                       int64_t y, int64_t *next, char *out)
{
    const la_taps *h = &j->axis[1].taps, *w = &j->axis[2].taps;
    int64_t end = h->from[y] + h->count[y];
    for (*next = la_max(*next, h->from[y]); *next < end; ++*next)
        stretch_row(j, s, plane, z, *next);
    for (int64_t k = 0; k < h->count[y]; k++) {
        s->rows[k] = s->ring + (h->from[y] + k) % h->most
            * aligned(resample_row_bytes(j, w->out));
        s->weights[k] = weight_at(j, h, y, k);
    }
    blended(j, s, out, h->count[y], w->out, h->shift);
}

/* Elements as they are, of 'bytes' bytes each. */
static void pick_row(char *out, const char *row, const la_taps *t,
                     int64_t bytes)
{
    const int32_t *from = t->from;
    switch (bytes) {
#define PICK(type) \
    case sizeof(type): \
        for (int64_t i = 0; i < t->out; i++) \
            ((type *)(void *)out)[i] = ((const type *)(const void *)row) \
                [from[i]]; \
        return;
    PICK(uint8_t)
    PICK(uint16_t)
    PICK(uint32_t)
    PICK(uint64_t)
#undef PICK
    default:
        for (int64_t i = 0; i < t->out; i++)
            memcpy(out + i * bytes, row + from[i] * bytes, (size_t)bytes);
    }
}

/* Unit u: a band of rows of one slice of one plane of the output. */
static la_status run_band(void *context, int64_t u, char *memory)
{
    const job *j = context;
    const la_taps *d = &j->axis[0].taps, *h = &j->axis[1].taps;
    const la_taps *w = &j->axis[2].taps;
    int64_t band = u % j->bands, z = u / j->bands % d->out;
    int64_t plane = u / j->bands / d->out, next = 0;
    int64_t end = la_min((band + 1) * j->band, h->out);
    char *before = NULL;
    scratch s = j->kernels ? resample_divide(j, memory)
        : (scratch){.rows = NULL};
    for (int64_t y = band * j->band; y < end; y++) {
        char *out = j->out + ((plane * d->out + z) * h->out + y)
            * resample_row_bytes(j, w->out);
        if (j->kernels && j->wide_first)
            wide_first(j, &s, plane, z, y, &next, out);
        else if (j->kernels)
            high_first(j, &s, plane, z, y, out);
        else if (before && h->from[y] == h->from[y - 1])
            memcpy(out, before, (size_t)resample_row_bytes(j, w->out));
        else
            pick_row(out, resample_row_at(j, plane, d->from[z], h->from[y]), w,
                     j->channels * j->size);
        before = out;
    }
    return LA_OK;
}

#define UNIT_ELEMENTS 32768

/* Bands of rows over the threads. They are so large that the rows which two of
** them stretch both do not count. */
static la_status resample_run(job *j)
{
    const la_taps *h = &j->axis[1].taps, *w = &j->axis[2].taps;
    int64_t work = (h->most + w->most) * w->out * j->channels;
    j->same_width = is_identity(w);
    j->wide_first = h->out > h->in && !j->same_width;
    if (w->shift) j->wide_first = true;       /* bytes, as PyTorch does */
    j->band = la_max(UNIT_ELEMENTS / work, 4 * h->most);
    j->band = la_min(la_max(j->band, 1), h->out);
    j->bands = la_ceil_div(h->out, j->band);
    la_unit_plan plan = {.run = run_band,
        .grain = la_max(UNIT_ELEMENTS / (work * j->band), 1),
        .bytes = j->kernels ? (size_t)resample_scratch_bytes(j) : 0};
    return la_iter_units(j->planes * j->axis[0].taps.out * j->bands, &plan, j);
}

/* ---- the operations ---- */

/* The kernels of a dtype; NULL where elements are copied. */
static la_status resample_choose(const la_frame *f, la_dtype dtype, bool copies,
                                 const la_resample_kernels **out)
{
    *out = NULL;
    if (copies) return LA_OK;
    if (dtype == LA_FLOAT32) *out = LA_STUB(resample_f32);
    else if (dtype == LA_FLOAT64) *out = LA_STUB(resample_f64);
    else if (dtype == LA_UINT8 && f->args[SIZE].ints.n == 2)
        *out = LA_STUB(resample_u8);
    return *out ? LA_OK : la_refuse_dtype(f, dtype);
}

/* Taps of the axes; those that are not resampled have one of each. 'from' are
** the sizes that weights are made for, 'to' those after. */
static la_status make_axes(const la_frame *f, job *j, const int64_t *from,
                           const int64_t *to, bool transposed, la_dtype dtype)
{
    int nd = (int)f->args[SIZE].ints.n;
    const la_value *scales = &f->args[SCALES];
    for (int d = 0; d < 3; d++) {
        int at = d - (3 - nd);
        la_axis_plan p = {.in = 1, .out = 1, .kind = LA_NEAREST,
                          .dtype = dtype};
        if (at >= 0) {
            p.in = from[at];
            p.out = to[at];
            p.kind = (la_resampling)la_arg_int(f, MODE);
            p.align_corners = la_arg_bool(f, ALIGN);
            p.antialias = la_arg_bool(f, ANTIALIAS);
            if (scales->ints.n > at) p.factor = la_float_at(scales, at);
        }
        LA_TRY(la_axis_make(&p, transposed, &j->axis[d]));
    }
    return LA_OK;
}

/* Argument 0 to result 0, by the weights of the axes. */
static la_status resample(la_frame *f, bool transposed)
{
    la_tensor *out = la_result(f, 0), *given = la_arg(f, DATA);
    la_memory_format format = la_suggest_format(given);
    la_dtype dtype = (la_dtype)given->dtype;
    job j = {.size = (int64_t)la_itemsize(given)};
    const int64_t *before, *after;
    LA_TRY(resample_choose(f, dtype, is_nearest(f) && !transposed, &j.kernels));
    if (out->numel == 0) return LA_OK;
    LA_LET(in, la_in_format(given, format, &in));
    before = la_sizes(in) + 2;
    after = la_sizes(out) + 2;
    la_status status = transposed
        ? make_axes(f, &j, after, before, true, dtype)
        : make_axes(f, &j, before, after, false, dtype);
    j.in = la_data(in);
    j.out = la_data(out);
    j.channels = format == LA_FORMAT_CONTIGUOUS ? 1 : la_sizes(in)[1];
    j.planes = la_sizes(in)[0] * la_sizes(in)[1] / j.channels;
    if (!status) status = resample_run(&j);
    for (int d = 0; d < 3; d++) la_axis_drop(&j.axis[d]);
    return status;
}

/* resample(input, size, scales, mode, align_corners, antialias) */
la_status la_meta_resample(la_frame *f)
{
    const la_resample_kernels *kernels;
    const la_tensor *t = la_arg(f, DATA);
    LA_TRY(check_mode(f));
    LA_TRY(resample_choose(f, (la_dtype)t->dtype, is_nearest(f), &kernels));
    return set_resized(f, t, &f->args[SIZE]);
}

LA_FORWARD(la_impl_resample, resample(f, false))

/* resample_backward(grad, size, scales, mode, align_corners, antialias) */
la_status la_meta_resample_backward(la_frame *f)
{
    const la_tensor *g = la_arg(f, DATA);
    LA_TRY(check_mode(f));
    return set_resized(f, g, &f->args[SIZE]);
}

LA_FORWARD(la_impl_resample_backward, resample(f, true))
