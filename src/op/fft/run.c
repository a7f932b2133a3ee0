/*
** Transforms along one dim: groups of short ones side by side in the lanes of
** vectors, others one by one, long ones with threads inside.
*/
#include "op/fft/run.h"

#include "base/memory.h"
#include "base/pool.h"
#include "iter/items.h"

/* Two split buffers for 'lanes' transforms. */
typedef struct work {
    const la_fft_plan *p;     /* FLAT */
    const la_fft_kernels *ker;
    int64_t size;             /* of a real number */
    int s;                    /* lanes */
    int64_t im;               /* elements from real to imaginary parts */
    char *buffer[2];
} work;

/* Lanes are a multiple of a vector, or one. */
static int whole_lanes(int width, int lanes)
{
    return lanes == 1 ? 1 : (lanes + width - 1) / width * width;
}

/* Elements of one part: one more than the transform has, for real ones; an odd
** number of cache lines, so that no two parts fall on the same lines. */
static int64_t part_length(const la_fft_plan *p, int s)
{
    return ((p->n + 1) * s + p->slack + 31) / 32 * 32 + 16;
}

static work work_in(const la_fft_plan *p, int lanes, char *scratch)
{
    work w = {.p = p, .ker = la_fft_kernels_of(p)};
    w.size = (int64_t)la_dtype_size(p->real);
    w.s = whole_lanes(w.ker->width, lanes);
    w.im = part_length(p, w.s);
    w.buffer[0] = scratch;
    w.buffer[1] = scratch + 2 * w.im * w.size;
    return w;
}

size_t la_fft_scratch(const la_fft_plan *p, int lanes)
{
    size_t size = la_dtype_size(p->real);
    if (p->kind == LA_FFT_REAL) return la_fft_scratch(p->first, lanes);
    if (p->kind != LA_FFT_FLAT) return 64;
    return 4 * size * (size_t)part_length(p, whole_lanes(16, lanes));
}

static void swap_buffers(work *w)
{
    char *t = w->buffer[0];
    w->buffer[0] = w->buffer[1];
    w->buffer[1] = t;
}

static bool is_pairs(const la_fft_line *a, int64_t size)
{
    return a->other == size && a->step == 2 * size;
}

/* May the first pass read the line itself, the last pass write it? */
static bool reads_line(const work *w, const la_fft_line *in)
{
    const la_fft_plan *p = w->p;
    return w->s == 1 && is_pairs(in, w->size) && p->passes > 1
        && p->pass[0].m >= w->ker->width;
}
static bool writes_line(const work *w, const la_fft_line *out)
{
    const la_fft_plan *p = w->p;
    return w->s == 1 && is_pairs(out, w->size) && p->passes > 1
        && p->n / p->pass[p->passes - 1].radix >= w->ker->width;
}

/* All passes from buffer 0 (or 'in') to buffer 0 again (or 'out'). */
static void run_passes(work *w, const la_fft_line *in, const la_fft_line *out)
{
    const la_fft_plan *p = w->p;
    for (int i = 0; i < p->passes; i++) {
        int r = p->pass[i].radix;
        la_fft_pass a = {.in = w->buffer[0], .out = w->buffer[1],
            .in_im = w->im, .out_im = w->im, .m = p->pass[i].m,
            .s = w->s * (p->n / (p->pass[i].m * r)), .radix = r,
            .w = p->pass[i].w, .roots = p->pass[i].roots};
        if (i == 0 && in) {
            a.in = in->data;
            a.in_pairs = true;
            a.sign = in->scale_im;
        }
        if (i == p->passes - 1 && out) {
            a.out = out->data;
            a.out_pairs = true;
            a.scale = out->scale;
            a.scale_im = out->scale_im;
        }
        void (*pass)(const la_fft_pass *) = r > 16 ? NULL : w->ker->pass[r];
        if (!pass) pass = w->ker->pass[0];
        pass(&a);
        swap_buffers(w);
    }
}

/* n elements of 'lanes' lines, whose offsets are 'at', to or from buffer 0. */
static la_fft_move move_of(const work *w, const la_fft_line *a,
                           const int64_t *at, int lanes, int64_t n)
{
    return (la_fft_move){.data = a->data, .lane = at, .step = a->step,
        .other = a->other, .n = n, .lanes = lanes, .s = w->s,
        .split = w->buffer[0], .im = w->im, .scale = a->scale,
        .scale_im = a->scale_im};
}

static void load(const work *w, const la_fft_line *a, const int64_t *at,
                 int lanes, int64_t n)
{
    la_fft_move t = move_of(w, a, at, lanes, n);
    w->ker->load(&t);
}

static void store(const work *w, const la_fft_line *a, const int64_t *at,
                  int lanes, int64_t n)
{
    la_fft_move t = move_of(w, a, at, lanes, n);
    w->ker->store(&t);
}

/* ---- one line of complex numbers ---- */

static const int64_t none = 0;

static void flat_line(const la_fft_plan *p, const la_fft_line *in,
                      const la_fft_line *out, char *scratch)
{
    work w = work_in(p, 1, scratch);
    bool from = reads_line(&w, in), to = writes_line(&w, out);
    if (!from) load(&w, in, &none, 1, p->n);
    run_passes(&w, from ? in : NULL, to ? out : NULL);
    if (!to) store(&w, out, &none, 1, p->n);
}

/* A long transform of n1 n2 elements: columns, then rows. The intermediate
** matrix has rows of 'row' elements. */
typedef struct split_job {
    const la_fft_plan *p;
    const la_fft_line *in, *out;
    char *matrix;
    int64_t row;
} split_job;

/* The next lines of a block, by their distance. */
static int set_lanes(int64_t *at, int64_t left, int64_t step)
{
    int lanes = left < LA_FFT_LANES ? (int)left : LA_FFT_LANES;
    for (int l = 0; l < lanes; l++) at[l] = l * step;
    return lanes;
}

static la_status split_columns(void *context, int64_t unit, char *scratch)
{
    const split_job *j = context;
    const la_fft_plan *p = j->p;
    int64_t at[LA_FFT_LANES], n1 = p->first->n, n2 = p->second->n;
    int64_t first = unit * LA_FFT_LANES, size = (int64_t)la_dtype_size(p->real);
    la_fft_line in = *j->in;
    int lanes = set_lanes(at, n2 - first, in.step);
    work w = work_in(p->first, (int)la_max(lanes, 2), scratch);
    in.data += first * in.step;
    in.step *= n2;
    load(&w, &in, at, lanes, n1);
    run_passes(&w, NULL, NULL);
    la_fft_twiddle t = {w.buffer[0], w.im, n1, w.s, first, p->n, p->block,
                     p->table, p->steps, p->leaps};
    w.ker->twiddle(&t);
    la_fft_line out = {j->matrix + first * 2 * size, j->row * 2 * size, size,
                       1, 1};
    set_lanes(at, lanes, 2 * size);
    store(&w, &out, at, lanes, n1);
    return LA_OK;
}

static la_status split_rows(void *context, int64_t unit, char *scratch)
{
    const split_job *j = context;
    const la_fft_plan *p = j->p;
    int64_t at[LA_FFT_LANES], n1 = p->first->n, n2 = p->second->n;
    int64_t first = unit * LA_FFT_LANES;
    int64_t pair = 2 * (int64_t)la_dtype_size(p->real);
    int lanes = set_lanes(at, n1 - first, j->row * pair);
    work w = work_in(p->second, (int)la_max(lanes, 2), scratch);
    la_fft_line in = {j->matrix + first * j->row * pair, pair, pair / 2, 1, 1};
    load(&w, &in, at, lanes, n2);
    run_passes(&w, NULL, NULL);
    la_fft_line out = *j->out;
    set_lanes(at, lanes, out.step);
    out.data += first * out.step;
    out.step *= n1;
    store(&w, &out, at, lanes, n2);
    return LA_OK;
}

static la_status split_line(const la_fft_plan *p, const la_fft_line *in,
                            const la_fft_line *out)
{
    int64_t n1 = p->first->n, n2 = p->second->n, bytes;
    split_job j = {p, in, out, NULL, n2 + 8};
    if (!la_mul_ok(n1 * 2 * (int64_t)la_dtype_size(p->real), j.row, &bytes))
        return la_error(LA_ENOMEM, "not enough memory");
    j.matrix = la_mem_alloc((size_t)bytes);
    if (!j.matrix) return LA_ENOMEM;
    la_unit_plan columns = {split_columns, 1,
                            la_fft_scratch(p->first, LA_FFT_LANES)};
    la_unit_plan rows = {split_rows, 1,
                         la_fft_scratch(p->second, LA_FFT_LANES)};
    la_status status = la_iter_units(la_ceil_div(n2, LA_FFT_LANES), &columns,
                                     &j);
    if (!status)
        status = la_iter_units(la_ceil_div(n1, LA_FFT_LANES), &rows, &j);
    la_mem_free(j.matrix, (size_t)bytes);
    return status;
}

/* 'to' and 'from' by way of a split buffer of their own. */
static la_status copy_line(const la_fft_plan *p, const la_fft_line *to,
                           const la_fft_line *from, char *scratch)
{
    work w = {.p = p, .ker = la_fft_kernels_of(p), .s = 1, .im = p->n,
              .buffer = {scratch, NULL}};
    load(&w, from, &none, 1, p->n);
    store(&w, to, &none, 1, p->n);
    return LA_OK;
}

/* x times the chirp, convolved with its conjugate, times the chirp. */
static la_status chirp_in(const la_fft_plan *p, const la_fft_line *in,
                          const la_fft_line *out, char *x, char *scratch)
{
    const la_fft_kernels *ker = la_fft_kernels_of(p);
    int64_t n = p->n, length = p->first->n;
    int64_t size = (int64_t)la_dtype_size(p->real), pair = 2 * size;
    la_fft_line line = {x, pair, size, 1, 1}, back = {x, pair, size, 1, -1};
    LA_TRY(copy_line(p, &line, in, scratch));
    ker->multiply(x, x, p->table, n, false, 1);
    memset(x + n * pair, 0, (size_t)((length - n) * pair));
    LA_TRY(la_fft_line_run(p->first, &line, &line, scratch));
    ker->multiply(x, x, p->steps, length, false, 1);
    LA_TRY(la_fft_line_run(p->first, &back, &back, scratch));
    ker->multiply(x, x, p->table, n, false, 1);
    return copy_line(p, out, &line, scratch);
}

static la_status chirp_line(const la_fft_plan *p, const la_fft_line *in,
                            const la_fft_line *out)
{
    size_t pair = 2 * la_dtype_size(p->real);
    size_t line = (size_t)p->first->n * pair;
    size_t own = (size_t)(p->n + LA_FFT_SLACK) * pair;
    size_t sub = la_fft_scratch(p->first, 1), bytes;
    bytes = line + (own > sub ? own : sub);
    char *x = la_mem_alloc(bytes);
    if (!x) return LA_ENOMEM;
    la_status status = chirp_in(p, in, out, x, x + line);
    la_mem_free(x, bytes);
    return status;
}

la_status la_fft_line_run(const la_fft_plan *p, const la_fft_line *in,
                          const la_fft_line *out, char *scratch)
{
    if (la_interrupted()) return LA_EINTR;
    if (p->kind == LA_FFT_SPLIT) return split_line(p, in, out);
    if (p->kind == LA_FFT_CHIRP) return chirp_line(p, in, out);
    flat_line(p, in, out, scratch);
    return LA_OK;
}

/* ---- the forms, by split buffers ---- */

/* The imaginary part of row k is 0. */
static void clear_imag(const work *w, int64_t k)
{
    memset(w->buffer[0] + (w->im + k * w->s) * w->size, 0,
           (size_t)(w->s * w->size));
}

/* Rows n/2 + 1 .. n - 1 are the conjugates of those at n - k. */
static void mirror(const work *w, int64_t n)
{
    int64_t s = w->s;
    for (int64_t k = n / 2 + 1; k < n; k++)
        for (int64_t l = 0; l < s; l++) {
            int64_t to = k * s + l, from = (n - k) * s + l;
            if (w->size == 4) {
                float *x = (float *)w->buffer[0];
                x[to] = x[from];
                x[to + w->im] = -x[from + w->im];
            } else {
                double *x = (double *)w->buffer[0];
                x[to] = x[from];
                x[to + w->im] = -x[from + w->im];
            }
        }
}

/* Combine buffer 0 into buffer 1. */
static void combine(work *w, const la_fft_plan *real, bool back)
{
    la_fft_real r = {w->buffer[0], w->buffer[1], w->im, w->im,
                     real->first->n, w->s, real->table};
    if (back) w->ker->pack(&r);
    else w->ker->unpack(&r);
    swap_buffers(w);
}

/* A call: its plan, and what the elements of a line are. */
typedef struct call {
    const la_fft_axis *a;
    const la_fft_plan *p;
    const la_fft_plan *inner; /* the complex transform */
    la_fft_line in, out;
    int64_t nin, nout;        /* elements that are read and written */
    int64_t count;            /* lines */
    int lanes;                /* lines of a unit */
} call;

/* Transforms the rows in buffer 0 into those to be stored. */
static la_status run_inner(const call *c, work *w, const la_fft_line *in,
                           const la_fft_line *out)
{
    if (c->inner->kind == LA_FFT_FLAT) {
        run_passes(w, in, out);
        return LA_OK;
    }
    la_fft_line own = {w->buffer[0], w->size, w->im * w->size, 1, 1};
    return la_fft_line_run(c->inner, in ? in : &own, &own, w->buffer[1]);
}

/* 'lanes' lines of any form at these offsets. */
static la_status run_group(const call *c, const int64_t *in, const int64_t *out,
                           int lanes, char *scratch)
{
    work w = work_in(c->inner, lanes, scratch);
    la_fft_line from = c->in, to = c->out;
    bool real = c->p->kind == LA_FFT_REAL, direct = false;
    bool unpacked = c->a->form == LA_FFT_C2R;
    if (lanes == 1) {
        from.data += in[0];
        to.data += out[0];
        direct = !unpacked && reads_line(&w, &from);
    }
    const int64_t *at_in = lanes == 1 ? &none : in;
    const int64_t *at_out = lanes == 1 ? &none : out;
    if (!direct) load(&w, &from, at_in, lanes, c->nin);
    if (unpacked) {
        clear_imag(&w, 0);
        if (c->a->n % 2 == 0) clear_imag(&w, c->a->n / 2);
        if (real) combine(&w, c->p, true);
        else mirror(&w, c->a->n);
    }
    bool writes = c->a->form != LA_FFT_R2C && writes_line(&w, &to);
    LA_TRY(run_inner(c, &w, direct ? &from : NULL, writes ? &to : NULL));
    if (real && !unpacked) combine(&w, c->p, false);
    if (!writes) store(&w, &to, at_out, lanes, c->nout);
    return LA_OK;
}

/* ---- all lines ---- */

/* Offsets of line i, those along the innermost other dim following. */
static void line_at(const la_fft_axis *a, int64_t i, int64_t *in, int64_t *out)
{
    *in = *out = 0;
    for (int d = a->ndim - 1; d >= 0; d--) {
        int64_t j = i % a->sizes[d];
        i /= a->sizes[d];
        *in += j * a->in_strides[d];
        *out += j * a->out_strides[d];
    }
}

static la_status run_unit(void *context, int64_t unit, char *scratch)
{
    const call *c = context;
    int64_t in[LA_FFT_LANES], out[LA_FFT_LANES], first = unit * c->lanes;
    int lanes = (int)la_min(c->lanes, c->count - first);
    for (int l = 0; l < lanes; l++) line_at(c->a, first + l, &in[l], &out[l]);
    if (c->inner->kind == LA_FFT_FLAT || c->a->form != LA_FFT_C2C)
        return run_group(c, in, out, lanes, scratch);
    la_fft_line from = c->in, to = c->out;
    from.data += in[0];
    to.data += out[0];
    return la_fft_line_run(c->p, &from, &to, scratch);
}

/* What a line is made of: see la_fft_line. Backward transforms are the
** conjugates of forward ones of the conjugates. */
static void set_lines(call *c)
{
    const la_fft_axis *a = c->a;
    int64_t size = (int64_t)la_dtype_size(a->real), n = a->n;
    bool real = c->p->kind == LA_FFT_REAL;
    double sign = a->backward ? -1 : 1;
    c->in = (la_fft_line){a->in, a->in_step, size, 1, sign};
    c->out = (la_fft_line){a->out, a->out_step, size, a->scale,
                           a->scale * sign};
    c->nin = c->nout = n;
    if (a->form == LA_FFT_R2C) {
        c->nout = n / 2 + 1;
        c->nin = real ? n / 2 : n;
        c->in.step = real ? 2 * a->in_step : a->in_step;
        c->in.other = real ? a->in_step : 0;
        c->in.scale_im = 1;
        if (real) {
            c->out.scale *= 0.5;
            c->out.scale_im *= 0.5;
        }
    }
    if (a->form == LA_FFT_C2R) {
        c->nin = n / 2 + 1;
        c->nout = real ? n / 2 : n;
        c->out.step = real ? 2 * a->out_step : a->out_step;
        c->out.other = real ? a->out_step : 0;
        /* pack conjugates by itself, for a backward transform */
        c->in.scale_im = real ? -sign : sign;
        c->out.scale_im = -a->scale;
    }
}

/* Dims in the order of the strides of what is read, so that neighbours come
** together; those of one element go. */
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
    a->ndim = n;
}

/* Work that is worth a thread, in bytes that passes go over. */
#define THREAD_WORK ((int64_t)64 << 10)
/* Lines without gaps of more bytes than this run one by one. */
#define LANES_MOST 4096

la_status la_fft_run(la_fft_axis *a)
{
    LA_FFT_PLAN *p = NULL;
    int64_t size = (int64_t)la_dtype_size(a->real);
    bool real = a->form != LA_FFT_C2C && a->n % 2 == 0;
    sort_dims(a);
    call c = {.a = a, .count = 1, .lanes = 1};
    for (int d = 0; d < a->ndim; d++) c.count *= a->sizes[d];
    if (c.count == 0) return LA_OK;
    LA_TRY(la_fft_plan_get(a->n, a->real, real, &p));
    c.p = p;
    c.inner = real ? p->first : p;
    set_lines(&c);
    bool close = is_pairs(&c.in, size) || is_pairs(&c.out, size);
    if (c.inner->kind == LA_FFT_FLAT && c.count > 1
        && (!close || c.inner->n * 2 * size <= LANES_MOST))
        c.lanes = (int)la_min(LA_FFT_LANES, c.count);
    int64_t units = la_ceil_div(c.count, c.lanes);
    int64_t bytes = c.inner->n * c.lanes * 2 * size * 4;
    la_unit_plan plan = {run_unit, la_ceil_div(THREAD_WORK, bytes),
                         la_fft_scratch(c.inner, c.lanes)};
    if (c.inner->kind != LA_FFT_FLAT && a->form != LA_FFT_C2C)
        plan.bytes = 4 * (size_t)(size * part_length(c.inner, 1));
    bool inside = c.inner->kind != LA_FFT_FLAT && units < la_num_threads();
    if (!inside) return la_iter_units(units, &plan, &c);
    char *scratch = la_mem_alloc(plan.bytes);
    if (!scratch) return LA_ENOMEM;
    la_status status = LA_OK;
    for (int64_t i = 0; i < units && !status; i++)
        status = la_interrupted() ? LA_EINTR : run_unit(&c, i, scratch);
    la_mem_free(scratch, plan.bytes);
    return status ? status : la_poll();
}
