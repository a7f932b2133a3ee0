/*
** Transforms along one dim: groups of lines side by side in the lanes of
** vectors, or one line at a time; long ones with threads inside.
*/
#include "op/fft/fft_run.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "iter/items.h"
#include "op/fft/plans.h"
#include "op/fft/work.h"
#include "op/move/move.h"

/* A call: its plan, and what the elements of a line are. */
typedef struct call {
    const la_fft_axis *a;
    const la_fft_plan *p;
    const la_fft_plan *inner; /* the complex transform */
    la_fft_line in, out;
    int64_t nin, nout;        /* elements that are read and written */
    int64_t count;            /* lines */
    int lanes;                /* lines of a unit */
    bool apart;               /* each of them by itself, in a copy */
} call;

#define LINES_MOST 64         /* lines of a unit at most */

static const int64_t none = 0;

/* ---- odd numbers of real elements ---- */

/* The rows of an ODD plan lie behind the real elements. */
static la_fft_odd odd_of(const call *c, const la_fft_work *w, char *scratch)
{
    int64_t row = 2 * w->im;
    char *rows = scratch + 2 * row * w->size;
    return (la_fft_odd){.real = rows + (c->p->pass[0].radix / 2 + 1) * row
        * w->size, .rows = rows, .row = row, .im = w->im,
        .m = c->p->pass[0].m, .s = w->s, .r = c->p->pass[0].radix,
        .w = c->p->pass[0].w, .roots = c->p->pass[0].roots};
}

static size_t odd_scratch(const la_fft_plan *p, int lanes)
{
    size_t rows = la_fft_scratch(p->first, lanes) / 2;
    size_t real = 2 * la_dtype_size(p->real)
        * (size_t)((p->n + LA_FFT_SLACK) * (lanes == 1 ? 1 : 16));
    return rows * (size_t)(p->pass[0].radix / 2 + 3) + real;
}

/* Row b of the spectrum and the line: element k of the row is element r k + b,
** and from 'half' on, as far as there are elements, the conjugate of element
** n - r k - b. */
static la_fft_line odd_part(const la_fft_line *a, const la_fft_odd *o, int b,
                            bool mirrored, int64_t first)
{
    la_fft_line part = *a;
    int64_t n = o->r * o->m, at = o->r * first + b;
    part.data += (mirrored ? n - at : at) * a->step;
    part.step *= mirrored ? -o->r : o->r;
    if (mirrored) part.scale_im *= -1;
    return part;
}

/* Elements r k + b up to n/2. */
static int64_t odd_half(const la_fft_odd *o, int b)
{
    return (o->r * o->m / 2 - b) / o->r + 1;
}

/* Transform row b, which 'w' then has in buffer 0. */
static la_status odd_row(const call *c, la_fft_work *w, const la_fft_odd *o,
                         int b)
{
    w->buffer[0] = (char *)o->rows + b * o->row * w->size;
    return la_fft_transform(c->inner, w, NULL, NULL);
}

static la_status odd_to_complex(const call *c, const int64_t *in,
                                const int64_t *out, int lanes, char *scratch)
{
    la_fft_work w = la_fft_work_in(c->inner, lanes, scratch), real = w;
    la_fft_odd o = odd_of(c, &w, scratch);
    real.buffer[0] = o.real;
    real.im = (c->p->n + LA_FFT_SLACK) * real.s;
    la_fft_load(&real, &c->in, in, lanes, 0, c->nin);
    w.ker->first(&o);
    for (int b = 0; b <= o.r / 2; b++) {
        int64_t half = odd_half(&o, b);
        char *spare = w.buffer[1];
        LA_TRY(odd_row(c, &w, &o, b));
        la_fft_line part = odd_part(&c->out, &o, b, false, 0);
        la_fft_store(&w, &part, out, lanes, 0, half);
        part = odd_part(&c->out, &o, b, true, half);
        if (b > 0) la_fft_store(&w, &part, out, lanes, half, o.m - half);
        w.buffer[1] = spare;
    }
    return LA_OK;
}

static la_status odd_to_real(const call *c, const int64_t *in,
                             const int64_t *out, int lanes, char *scratch)
{
    la_fft_work w = la_fft_work_in(c->inner, lanes, scratch), real = w;
    la_fft_odd o = odd_of(c, &w, scratch);
    char *spare = w.buffer[1];
    for (int b = 0; b <= o.r / 2; b++) {
        int64_t half = odd_half(&o, b), bytes = o.row * w.size;
        w.buffer[0] = (char *)o.rows + b * bytes;
        w.buffer[1] = spare;
        la_fft_line part = odd_part(&c->in, &o, b, false, 0);
        la_fft_load(&w, &part, in, lanes, 0, half);
        part = odd_part(&c->in, &o, b, true, half);
        la_fft_load(&w, &part, in, lanes, half, o.m - half);
        if (b == 0)
            memset(w.buffer[0] + w.im * w.size, 0, (size_t)(w.s * w.size));
        LA_TRY(odd_row(c, &w, &o, b));
        if (w.buffer[0] == spare)
            memcpy((char *)o.rows + b * bytes, spare, (size_t)bytes);
    }
    w.ker->last(&o);
    real.buffer[0] = o.real;
    real.im = (c->p->n + LA_FFT_SLACK) * real.s;
    la_fft_store(&real, &c->out, out, lanes, 0, c->nout);
    return LA_OK;
}

/* ---- all forms ---- */

/* Rows n/2 + 1 .. n - 1 are the conjugates of those at n - k. */
static void mirror(const la_fft_work *w, int64_t n)
{
    size_t row = (size_t)(w->s * w->size);
    char *re = w->buffer[0], *im = re + w->im * w->size;
    memset(im, 0, row);
    for (int64_t k = n / 2 + 1; k < n; k++) {
        memcpy(re + (size_t)k * row, re + (size_t)(n - k) * row, row);
        for (int64_t l = k * w->s, f = (n - k) * w->s; l < (k + 1) * w->s;
             l++, f++) {
            if (w->size == 4) ((float *)im)[l] = -((float *)im)[f];
            else ((double *)im)[l] = -((double *)im)[f];
        }
    }
}

/* Buffer 0 into buffer 1, and exchange them; 'line': the h + 1 elements are
** there. */
static void fft_run_combine(const call *c, la_fft_work *w,
                            const la_fft_line *line)
{
    bool back = c->a->form == LA_FFT_C2R;
    la_fft_real r = {w->buffer[0], w->buffer[1], w->im, w->im, c->inner->n,
                     w->s, c->p->table, line != NULL, 1, 1};
    if (line) {
        r.scale = line->scale;
        r.scale_im = line->scale_im;
        if (back) r.in = line->data;
        else r.out = line->data;
    }
    if (back) w->ker->pack(&r);
    else w->ker->unpack(&r);
    la_fft_swap(w);
}

/* Transforms a group of lines by a transform of half the length. */
static la_status even_group(const call *c, const la_fft_line *in,
                            const la_fft_line *out, const int64_t *from,
                            const int64_t *to, int lanes, la_fft_work *w)
{
    bool back = c->a->form == LA_FFT_C2R;
    const la_fft_line *many = back ? in : out;    /* the h + 1 elements */
    bool direct = w->s == 1 && la_fft_is_pairs(many, w->size);
    if (back) {
        bool writes = la_fft_writes(c->inner, w, out);
        if (!direct) la_fft_load(w, in, from, lanes, 0, c->nin);
        fft_run_combine(c, w, direct ? in : NULL);
        LA_TRY(la_fft_transform(c->inner, w, NULL, writes ? out : NULL));
        if (!writes) la_fft_store(w, out, to, lanes, 0, c->nout);
        return LA_OK;
    }
    bool reads = la_fft_reads(c->inner, w, in);
    if (!reads) la_fft_load(w, in, from, lanes, 0, c->nin);
    LA_TRY(la_fft_transform(c->inner, w, reads ? in : NULL, NULL));
    fft_run_combine(c, w, direct ? out : NULL);
    if (!direct) la_fft_store(w, out, to, lanes, 0, c->nout);
    return LA_OK;
}

/* 'lanes' lines at these offsets. */
static la_status fft_run_run_group(const call *c, const int64_t *in,
                                   const int64_t *out, int lanes, char *scratch)
{
    la_fft_line from = c->in, to = c->out;
    if (lanes == 1) {
        from.data += *in;
        to.data += *out;
        in = out = &none;
    }
    if (c->p->kind == LA_FFT_SPLIT && c->a->form == LA_FFT_C2C)
        return la_fft_line_run(c->p, &from, &to);
    call own = *c;
    own.in = from;
    own.out = to;
    if (c->p->kind == LA_FFT_ODD)
        return c->a->form == LA_FFT_R2C
            ? odd_to_complex(&own, in, out, lanes, scratch)
            : odd_to_real(&own, in, out, lanes, scratch);
    la_fft_work w = la_fft_work_in(c->inner, lanes, scratch);
    if (c->p->kind == LA_FFT_REAL)
        return even_group(c, &from, &to, in, out, lanes, &w);
    bool reads = la_fft_reads(c->p, &w, &from) && c->nin == c->p->n;
    bool writes = la_fft_writes(c->p, &w, &to) && c->nout == c->p->n;
    if (!reads) la_fft_load(&w, &from, in, lanes, 0, c->nin);
    if (c->a->form == LA_FFT_C2R) mirror(&w, c->a->n);
    LA_TRY(la_fft_transform(c->p, &w, reads ? &from : NULL,
                            writes ? &to : NULL));
    if (!writes) la_fft_store(&w, &to, out, lanes, 0, c->nout);
    return LA_OK;
}

/* ---- all lines ---- */

/* Offsets of 'lanes' lines from line 'first' on, in row-major order of the
** other dims: one division for all of them. */
static void lines_at(const la_fft_axis *a, int64_t first, int lanes,
                     int64_t *in, int64_t *out)
{
    int64_t at[LA_MAX_DIMS], from = 0, to = 0;
    for (int d = a->ndim - 1; d >= 0; d--) {
        at[d] = first % a->sizes[d];
        first /= a->sizes[d];
        from += at[d] * a->in_strides[d];
        to += at[d] * a->out_strides[d];
    }
    int inner = a->ndim - 1;
    for (int l = 0; l < lanes;) {
        int64_t step_in = inner < 0 ? 0 : a->in_strides[inner];
        int64_t step_out = inner < 0 ? 0 : a->out_strides[inner];
        int64_t left = inner < 0 ? 1 : a->sizes[inner] - at[inner];
        int end = (int)la_min(lanes, l + left), d = inner;
        for (int64_t k = 0; l < end; l++, k++) {
            in[l] = from + k * step_in;
            out[l] = to + k * step_out;
        }
        from += left * step_in;
        to += left * step_out;
        /* The inner dim is through, or so are the lanes. */
        for (; d >= 0; d--) {
            if (d < inner) {
                from += a->in_strides[d];
                to += a->out_strides[d];
                if (++at[d] < a->sizes[d]) break;
            }
            at[d] = 0;
            from -= a->sizes[d] * a->in_strides[d];
            to -= a->sizes[d] * a->out_strides[d];
        }
    }
}

/* Elements of a line without gaps, and how they are read and written. */
static la_fft_line close_line(const call *c, const la_fft_line *a, bool input,
                              char *data)
{
    int64_t size = (int64_t)la_dtype_size(c->a->real);
    bool real = c->a->form == (input ? LA_FFT_R2C : LA_FFT_C2R);
    bool even = real && c->p->kind == LA_FFT_REAL;
    la_fft_line line = *a;
    line.data = data;
    line.step = real && !even ? size : 2 * size;
    line.other = real && !even ? 0 : size;
    return line;
}

/* Lines that lie apart from each other, copied to rows without gaps, which the
** transforms overwrite, and back. */
static la_status fft_run_run_apart(const call *c, const int64_t *in,
                                   const int64_t *out, int lanes, char *scratch)
{
    int64_t size = (int64_t)la_dtype_size(c->a->real);
    int64_t unit[2] = {size, size}, counts[2], strides[2];
    const la_fft_axis *a = c->a;
    int64_t longest = la_max(c->nin, c->nout) * 2 * size + 64;
    unit[0] = a->form == LA_FFT_R2C ? size : 2 * size;
    unit[1] = a->form == LA_FFT_C2R ? size : 2 * size;
    counts[0] = a->form == LA_FFT_C2R ? a->n / 2 + 1 : a->n;
    counts[1] = a->form == LA_FFT_R2C ? a->n / 2 + 1 : a->n;
    call own = *c;
    char *rest = scratch + lanes * longest;
    strides[0] = a->in_step;
    strides[1] = a->out_step;
    bool even_in = lanes > 1, even_out = lanes > 1;
    for (int l = 1; l < lanes; l++) {
        if (in[l] - in[l - 1] != in[1] - in[0]) even_in = false;
        if (out[l] - out[l - 1] != out[1] - out[0]) even_out = false;
    }
    for (int l = 0; l < lanes; l += even_in ? lanes : 1) {
        int64_t sizes[2] = {even_in ? lanes : 1, counts[0]};
        la_strided to = {scratch + l * longest, {longest, unit[0]}};
        la_strided from = {a->in + in[l], {even_in ? in[1] - in[0] : 0,
                                           strides[0]}};
        LA_TRY(la_move(&to, &from, 2, sizes, (size_t)unit[0]));
    }
    for (int l = 0; l < lanes; l++) {
        own.in = close_line(c, &c->in, true, scratch + l * longest);
        own.out = close_line(c, &c->out, false, scratch + l * longest);
        LA_TRY(fft_run_run_group(&own, &none, &none, 1, rest));
    }
    for (int l = 0; l < lanes; l += even_out ? lanes : 1) {
        int64_t sizes[2] = {even_out ? lanes : 1, counts[1]};
        la_strided from = {scratch + l * longest, {longest, unit[1]}};
        la_strided to = {a->out + out[l], {even_out ? out[1] - out[0] : 0,
                                           strides[1]}};
        LA_TRY(la_move(&to, &from, 2, sizes, (size_t)unit[1]));
    }
    return LA_OK;
}

static la_status fft_run_run_unit(void *context, int64_t unit, char *scratch)
{
    const call *c = context;
    int64_t in[LINES_MOST], out[LINES_MOST], first = unit * c->lanes;
    int lanes = (int)la_min(c->lanes, c->count - first);
    lines_at(c->a, first, lanes, in, out);
    if (c->apart) return fft_run_run_apart(c, in, out, lanes, scratch);
    return fft_run_run_group(c, in, out, lanes, scratch);
}

/* The layout of a line: see la_fft_line. Backward transforms are the conjugates
** of forward ones of the conjugates. */
static void set_lines(call *c)
{
    const la_fft_axis *a = c->a;
    int64_t size = (int64_t)la_dtype_size(a->real), n = a->n;
    bool even = c->p->kind == LA_FFT_REAL;
    double sign = a->backward ? -1 : 1;
    c->in = (la_fft_line){a->in, a->in_step, size, 1, sign};
    c->out = (la_fft_line){a->out, a->out_step, size, a->scale,
                           a->scale * sign};
    c->nin = c->nout = n;
    if (a->form == LA_FFT_R2C) {
        c->nout = n / 2 + 1;
        c->nin = even ? n / 2 : n;
        c->in.step = even ? 2 * a->in_step : a->in_step;
        c->in.other = even ? a->in_step : 0;
        c->in.scale_im = 1;
        if (even) {
            c->out.scale *= 0.5;
            c->out.scale_im *= 0.5;
        }
    }
    if (a->form == LA_FFT_C2R) {
        c->nin = n / 2 + 1;
        c->nout = even ? n / 2 : n;
        c->out.step = even ? 2 * a->out_step : a->out_step;
        c->out.other = even ? a->out_step : 0;
        /* pack conjugates by itself, for a backward transform */
        c->in.scale_im = even ? -sign : sign;
        c->out.scale_im = -a->scale;
    }
}

/* Dims in the order of the strides of what is read, so that neighbours come
** together; those of one element go, and those that are one dim become it. */
static void sort_dims(la_fft_axis *a)
{
    int n = 0;
    for (int d = 0; d < a->ndim; d++) {
        int64_t size = a->sizes[d], in = a->in_strides[d];
        int64_t out = a->out_strides[d];
        int k = n;
        if (size == 1) continue;
        for (; k > 0 && a->in_strides[k - 1] < in; k--) {
            a->sizes[k] = a->sizes[k - 1];
            a->in_strides[k] = a->in_strides[k - 1];
            a->out_strides[k] = a->out_strides[k - 1];
        }
        a->sizes[k] = size;
        a->in_strides[k] = in;
        a->out_strides[k] = out;
        n++;
    }
    a->ndim = 0;
    for (int d = 0; d < n; d++) {
        int k = a->ndim - 1;
        int64_t size = a->sizes[d], in = a->in_strides[d];
        int64_t out = a->out_strides[d];
        bool one = k >= 0 && a->in_strides[k] == size * in
            && a->out_strides[k] == size * out;
        if (one) size *= a->sizes[k];
        else k = a->ndim++;
        a->sizes[k] = size;
        a->in_strides[k] = in;
        a->out_strides[k] = out;
    }
}

/* Rows of pairs without gaps whose transform is one pass. */
typedef struct rows_job {
    la_fft_rows rows;
    int64_t bytes;            /* of a row */
    void (*fn)(const la_fft_rows *);
} rows_job;

static bool are_rows(const call *c, rows_job *job)
{
    const la_fft_axis *a = c->a;
    int64_t size = (int64_t)la_dtype_size(a->real);
    *job = (rows_job){{a->in, a->out, c->count, c->in.scale_im, c->out.scale,
                       c->out.scale_im}, a->n * 2 * size, NULL};
    if (a->form == LA_FFT_C2C && a->n <= 16)
        job->fn = la_fft_kernels_of(c->p)->rows[a->n];
    return job->fn && c->p->kind == LA_FFT_FLAT && c->p->passes == 1
        && la_fft_is_pairs(&c->in, size) && la_fft_is_pairs(&c->out, size)
        && (a->ndim == 0 || (a->ndim == 1 && a->in_strides[0] == job->bytes
                             && a->out_strides[0] == job->bytes));
}

static void run_rows(int64_t begin, int64_t end, void *context)
{
    const rows_job *job = context;
    la_fft_rows rows = job->rows;
    rows.in = (const char *)rows.in + begin * job->bytes;
    rows.out = (char *)rows.out + begin * job->bytes;
    rows.count = end - begin;
    job->fn(&rows);
}

/* Work that is worth a thread, in bytes that passes go over. */
#define THREAD_WORK ((int64_t)64 << 10)
#define ROWS_BATCH 4096
/* Lines without gaps of more bytes than this run one by one; so do others, in
** a copy, where the buffers of several would be larger. */
#define LANES_MOST 4096
/* Short lines are as many side by side as make so many bytes. */
#define LANES_BYTES 8192
#define APART_LEAST (4 << 20)

/* How many lines run together, and how. Returns bytes of scratch. */
static size_t fft_run_choose(call *c)
{
    const la_fft_axis *a = c->a;
    int64_t size = (int64_t)la_dtype_size(a->real);
    int64_t together = la_max(la_fft_kernels_of(c->inner)->width,
                              64 / (2 * size));
    bool close = la_fft_is_pairs(&c->in, size)
        && la_fft_is_pairs(&c->out, size);
    int64_t line = c->inner->n * 2 * size;
    bool odd = c->p->kind == LA_FFT_ODD;
    while (!odd && la_fft_has_lanes(c->inner) && 2 * together <= LINES_MOST
           && 2 * together * line <= LANES_BYTES)
        together *= 2;
    c->lanes = (int)la_min(together, c->count);
    if (close && line > LANES_MOST) c->lanes = 1;
    c->apart = !close && c->count > 1
        && (!la_fft_has_lanes(c->inner)
            || (int64_t)la_fft_scratch(c->inner, c->lanes) > APART_LEAST);
    if (!la_fft_has_lanes(c->inner) && !c->apart) c->lanes = 1;
    int lanes = c->apart ? 1 : c->lanes;
    size_t bytes = odd ? odd_scratch(c->p, lanes)
                       : la_fft_scratch(c->inner, lanes);
    if (c->apart)
        bytes += (size_t)(c->lanes * (la_max(c->nin, c->nout) * 2 * size
                                      + 64));
    return bytes;
}

/* All units on this thread, with threads inside of them. */
static la_status run_inside(int64_t units, size_t bytes, call *c)
{
    char *scratch = la_mem_alloc(bytes);
    if (!scratch) return LA_ENOMEM;
    la_status status = LA_OK;
    for (int64_t i = 0; i < units && !status; i++)
        status = la_interrupted() ? LA_EINTR : fft_run_run_unit(c, i, scratch);
    la_mem_free(scratch, bytes);
    return status ? status : la_poll();
}

/* Three ways: short rows are one kernel; lines go side by side in the lanes of
** vectors, as many at a time as there are lanes; and a few long lines that have
** no use for lanes go one after the other, each on all threads. */
la_status la_fft_run(la_fft_axis *a)
{
    LA_FFT_PLAN *p = NULL;
    int64_t size = (int64_t)la_dtype_size(a->real);
    bool real = a->form != LA_FFT_C2C
        && (a->n % 2 == 0 || la_fft_odd_radix(a->n));
    sort_dims(a);
    call c = {.a = a, .count = 1};
    for (int d = 0; d < a->ndim; d++) c.count *= a->sizes[d];
    if (c.count == 0) return LA_OK;
    LA_TRY(la_fft_plan_get(a->n, a->real, real, &p));
    c.p = p;
    c.inner = real ? p->first : p;
    set_lines(&c);
    rows_job job;
    if (are_rows(&c, &job))
        return la_iter_items(c.count, la_ceil_div(THREAD_WORK, job.bytes),
                             ROWS_BATCH, run_rows, &job);
    size_t bytes = fft_run_choose(&c);
    int64_t units = la_ceil_div(c.count, c.lanes);
    int64_t work = a->n * c.lanes * 2 * size * 4;
    if (!la_fft_has_lanes(c.inner) && units < la_num_threads())
        return run_inside(units, bytes, &c);
    la_unit_plan plan = {fft_run_run_unit, la_ceil_div(THREAD_WORK, work),
                         bytes};
    return la_iter_units(units, &plan, &c);
}
