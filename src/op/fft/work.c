/* Transforms in split buffers, by the kind of their plan; see fft_plan.h. */
#include "op/fft/work.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "iter/items.h"

/* ---- buffers ---- */

/* Lanes are filled up to whole vectors: kernels have no tails. One line alone
** stays one lane, with its elements as the lanes. */
static int whole_lanes(int width, int lanes)
{
    return lanes == 1 ? 1 : (lanes + width - 1) / width * width;
}

/* Elements of one part of a buffer for plan 'p', which has no real numbers;
** one more than the transform has.
**
** An odd number of cache lines, so that no two parts fall on the same ones. */
static int64_t fft_part(const la_fft_plan *p, int s)
{
    if (p->kind == LA_FFT_CHIRP) p = p->first;
    return ((p->n + 1) * s + p->slack + LA_FFT_SLACK + 31) / 32 * 32 + 16;
}

/* Two buffers, because a pass reads one and writes the other; each has real
** and imaginary parts apart, which needs no shuffles in the passes. */
size_t la_fft_scratch(const la_fft_plan *p, int lanes)
{
    size_t size = la_dtype_size(p->real);
    return 4 * size * (size_t)fft_part(p, whole_lanes(16, lanes));
}

la_fft_work la_fft_work_in(const la_fft_plan *p, int lanes, char *scratch)
{
    la_fft_work w = {.ker = la_fft_kernels_of(p)};
    w.size = (int64_t)la_dtype_size(p->real);
    w.s = whole_lanes(w.ker->width, lanes);
    w.im = fft_part(p, w.s);
    w.buffer[0] = scratch;
    w.buffer[1] = scratch + 2 * w.im * w.size;
    return w;
}

/* Moves in pieces, because the pages of long lines are new. */
static void work_move(const la_fft_work *w, const la_fft_line *a,
                      const int64_t *at, int lanes, int64_t first, int64_t n,
    void (*fn)(const la_fft_move *))
{
    int64_t most = LA_POLL_ELEMENTS / lanes / 16 * 16;
    for (int64_t k = 0, end; (end = la_poll_part(k, n, most)) > k; k = end) {
        la_fft_move t = {.data = a->data + k * a->step, .lane = at,
            .step = a->step, .other = a->other, .n = end - k, .lanes = lanes,
            .s = w->s, .split = w->buffer[0] + (first + k) * w->s * w->size,
            .im = w->im, .scale = a->scale, .scale_im = a->scale_im};
        fn(&t);
    }
}

void la_fft_load(const la_fft_work *w, const la_fft_line *a, const int64_t *at,
                 int lanes, int64_t first, int64_t n)
{
    work_move(w, a, at, lanes, first, n, w->ker->load);
}

void la_fft_store(const la_fft_work *w, const la_fft_line *a,
                  const int64_t *at, int lanes, int64_t first, int64_t n)
{
    work_move(w, a, at, lanes, first, n, w->ker->store);
}

/* ---- FLAT ---- */

/* The first pass can take pairs where they lie, and the last one can write
** them: a transform of one line then needs neither a load nor a store of its
** own. Both need whole vectors of one line. */
bool la_fft_reads(const la_fft_plan *p, const la_fft_work *w,
                  const la_fft_line *in)
{
    return w->s == 1 && la_fft_is_pairs(in, w->size) && p->passes > 1
        && p->pass[0].radix > 3 && p->pass[0].m >= w->ker->width;
}

bool la_fft_writes(const la_fft_plan *p, const la_fft_work *w,
                   const la_fft_line *out)
{
    return w->s == 1 && la_fft_is_pairs(out, w->size) && p->passes > 1
        && p->n / p->pass[p->passes - 1].radix >= w->ker->width;
}

/* Stockham's order: every pass sorts while it goes, so that no bit reversal
** follows. Passes of radices without a kernel go through the general one,
** entry 0. */
static void run_passes(const la_fft_plan *p, la_fft_work *w,
                       const la_fft_line *in, const la_fft_line *out)
{
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
        la_fft_swap(w);
    }
}

/* ---- SPLIT ---- */

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

/* A few columns at a time are the lanes of one block; the twiddles between
** both steps are multiplied in while the block is still in the cache. */
static la_status split_columns(void *context, int64_t unit, char *scratch)
{
    const split_job *j = context;
    const la_fft_plan *p = j->p;
    int64_t at[LA_FFT_LANES], n1 = p->first->n, n2 = p->second->n;
    int64_t first = unit * LA_FFT_LANES, size = (int64_t)la_dtype_size(p->real);
    la_fft_line in = *j->in;
    int lanes = set_lanes(at, n2 - first, in.step);
    la_fft_work w = la_fft_work_in(p->first, (int)la_max(lanes, 2),
                                   scratch);
    in.data += first * in.step;
    in.step *= n2;
    la_fft_load(&w, &in, at, lanes, 0, n1);
    run_passes(p->first, &w, NULL, NULL);
    la_fft_twiddle t = {w.buffer[0], w.im, n1, w.s, first, p->n, p->block,
                     p->table, p->steps, p->leaps};
    w.ker->twiddle(&t);
    la_fft_line out = {j->matrix + first * 2 * size, j->row * 2 * size, size,
                       1, 1};
    set_lanes(at, lanes, 2 * size);
    la_fft_store(&w, &out, at, lanes, 0, n1);
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
    la_fft_work w = la_fft_work_in(p->second, (int)la_max(lanes, 2),
                                   scratch);
    la_fft_line in = {j->matrix + first * j->row * pair, pair, pair / 2, 1, 1};
    la_fft_load(&w, &in, at, lanes, 0, n2);
    run_passes(p->second, &w, NULL, NULL);
    la_fft_line out = *j->out;
    set_lanes(at, lanes, out.step);
    out.data += first * out.step;
    out.step *= n1;
    la_fft_store(&w, &out, at, lanes, 0, n2);
    return LA_OK;
}

/* Columns reach every page of the matrix at once: new ones, whose clearing may
** take longer than the transform, are touched before, in pieces. */
#define PAGE 4096
static void touch(int64_t begin, int64_t end, void *matrix)
{
    for (int64_t k = begin; k < end; k++) ((char *)matrix)[k * PAGE] = 0;
}

/* Rows of the matrix are eight elements longer than n2, so that a column does
** not fall on one set of the cache. Both steps are shared out over the threads
** by blocks of lanes, which do not depend on their number. */
static la_status split_line(const la_fft_plan *p, const la_fft_line *in,
                            const la_fft_line *out)
{
    int64_t n1 = p->first->n, n2 = p->second->n, bytes;
    split_job j = {p, in, out, NULL, n2 + 8};
    if (!la_mul_ok(n1 * 2 * (int64_t)la_dtype_size(p->real), j.row, &bytes))
        return la_error(LA_ENOMEM, "not enough memory");
    j.matrix = la_mem_alloc((size_t)bytes);
    if (!j.matrix) return LA_ENOMEM;
    la_status status = la_iter_items(bytes / PAGE, 4096, 512, touch, j.matrix);
    la_unit_plan columns = {split_columns, 1,
                            la_fft_scratch(p->first, LA_FFT_LANES)};
    la_unit_plan rows = {split_rows, 1,
                         la_fft_scratch(p->second, LA_FFT_LANES)};
    if (!status)
        status = la_iter_units(la_ceil_div(n2, LA_FFT_LANES), &columns, &j);
    if (!status)
        status = la_iter_units(la_ceil_div(n1, LA_FFT_LANES), &rows, &j);
    la_mem_free(j.matrix, (size_t)bytes);
    return status;
}

/* ---- CHIRP ---- */

static void work_times(la_fft_work *w, int64_t n, const char *by, bool before,
                       bool after)
{
    int64_t row = w->s * w->size, pair = 2 * w->size;
    for (int64_t k = 0, end; (end = la_poll_piece(k, n)) > k; k = end) {
        la_fft_times t = {w->buffer[0] + k * row, w->im, end - k, w->s,
                          by + k * pair, before, after};
        w->ker->times(&t);
    }
}

/* Zeros at from .. to-1. New pages take most of the time. */
static void work_clear(la_fft_work *w, int64_t from, int64_t to)
{
    int64_t row = w->s * w->size;
    for (int64_t k = from, end; (end = la_poll_piece(k, to)) > k; k = end) {
        char *at = w->buffer[0] + k * row;
        memset(at, 0, (size_t)((end - k) * row));
        memset(at + w->im * w->size, 0, (size_t)((end - k) * row));
    }
}

/* x times the chirp, convolved with its conjugate, times the chirp. */
static la_status chirp(const la_fft_plan *p, la_fft_work *w)
{
    int64_t n = p->n, length = p->first->n;
    work_times(w, n, p->table, false, false);
    work_clear(w, n, length);
    if (la_poll_long(n)) return la_poll();
    LA_TRY(la_fft_transform(p->first, w, NULL, NULL));
    work_times(w, length, p->steps, false, true);
    LA_TRY(la_fft_transform(p->first, w, NULL, NULL));
    if (la_poll_long(n)) return la_poll();
    work_times(w, n, p->table, true, false);
    return LA_OK;
}

/* ---- all ---- */

/* A transform that is split takes one line at a time, all threads together. */
bool la_fft_has_lanes(const la_fft_plan *p)
{
    if (p->kind == LA_FFT_CHIRP) p = p->first;
    return p->kind == LA_FFT_FLAT;
}

la_status la_fft_transform(const la_fft_plan *p, la_fft_work *w,
                           const la_fft_line *in, const la_fft_line *out)
{
    la_fft_line own = {w->buffer[0], w->size, w->im * w->size, 1, 1};
    if (p->kind == LA_FFT_SPLIT) return split_line(p, &own, &own);
    if (p->kind == LA_FFT_CHIRP) return chirp(p, w);
    run_passes(p, w, in, out);
    return LA_OK;
}

/* Between the steps a long line asks for an interruption; the passes
** themselves are not left half done. */
static la_status line_in(const la_fft_plan *p, const la_fft_line *in,
                         const la_fft_line *out, char *scratch)
{
    static const int64_t none = 0;
    la_fft_work w = la_fft_work_in(p, 1, scratch);
    bool from = la_fft_reads(p, &w, in), to = la_fft_writes(p, &w, out);
    if (!from) la_fft_load(&w, in, &none, 1, 0, p->n);
    if (la_poll_long(p->n)) return la_poll();
    LA_TRY(la_fft_transform(p, &w, from ? in : NULL, to ? out : NULL));
    if (la_poll_long(p->n)) return la_poll();
    if (!to) la_fft_store(&w, out, &none, 1, 0, p->n);
    return LA_OK;
}

la_status la_fft_line_run(const la_fft_plan *p, const la_fft_line *in,
                          const la_fft_line *out)
{
    if (la_interrupted()) return LA_EINTR;
    if (p->kind == LA_FFT_SPLIT) return split_line(p, in, out);
    size_t bytes = la_fft_scratch(p, 1);
    char *scratch = la_mem_alloc(bytes);
    if (!scratch) return LA_ENOMEM;
    la_status status = line_in(p, in, out, scratch);
    la_mem_free(scratch, bytes);
    return status;
}
