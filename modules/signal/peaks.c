/*
** Peaks of a signal of one dim, with the rules of scipy.signal.find_peaks.
** Samples are compared as double. Positions count from 1 outside.
*/
#include <math.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/frame.h"
#include "op/cost/fuel.h"

#define LA_ROWS "modules/signal/ops.def"
#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "op/call.h"
#include "op/impls.h"

/* ---- what all take ---- */

/* A vector (argument k), contiguous and of 'dtype'. */
static la_status read_vector(const la_frame *f, int k, la_dtype dtype,
                             la_tensor **out)
{
    la_tensor *t = la_arg(f, k);
    if (t->ndim != 1)
        return la_error_at(LA_ESHAPE, k + 1, "a tensor of 1 dim expected, got "
                           "%d-D", t->ndim);
    if (t->dtype == dtype) return la_run(contiguous, out, t);
    LA_LET(cast, la_run(astype, &cast, t, la_v_dtype(dtype)));
    return la_run(contiguous, out, cast);
}

static la_status peaks_check_signal(const la_frame *f, int k)
{
    la_tensor *t = la_arg(f, k);
    if (t->ndim != 1)
        return la_error_at(LA_ESHAPE, k + 1, "a signal of 1 dim expected, got "
                           "%d-D", t->ndim);
    return la_blame(la_require_dtype(f, (la_dtype)t->dtype), k + 1);
}

static la_status check_positions(const la_frame *f, int k)
{
    la_tensor *t = la_arg(f, k);
    if (t->ndim == 1 && t->dtype == LA_INT64) return LA_OK;
    return la_error_at(LA_EARG, k + 1, "positions, int64 in 1 dim, expected, "
                       "got %s in %d-D", la_dtype_name((la_dtype)t->dtype),
                       t->ndim);
}

/* Dtype of heights: the signal's own where that is floating. */
static la_dtype height_dtype(const la_tensor *x)
{
    return la_is_float((la_dtype)x->dtype) ? (la_dtype)x->dtype : LA_FLOAT64;
}

/* ---- local maxima ---- */

/* The maxima of x, counted; where 'out' is not NULL, from 1 into its rows of
** 'most': middles, left edges, right edges. An interruption ends it early. */
static int64_t find_maxima(const double *x, int64_t n, int64_t *out,
                           int64_t most)
{
    int64_t count = 0;
    LA_EACH_POLLED(i, 1, n - 1) {
        int64_t ahead = i + 1;
        if (!(x[i - 1] < x[i])) continue;
        while (ahead < n - 1 && x[ahead] == x[i]) ahead++;
        if (x[ahead] < x[i]) {
            if (out) {
                out[count] = (i + ahead - 1) / 2 + 1;
                out[most + count] = i + 1;
                out[2 * most + count] = ahead;
            }
            count++;
        }
        /* The rest of a plateau is no rise, so nothing is found twice. */
    }
    return count;
}

la_status la_impl_signal_local_maxima(la_frame *f)
{
    LA_TRY(peaks_check_signal(f, 0));
    LA_LET(x, read_vector(f, 0, LA_FLOAT64, &x));
    const double *v = (const double *)la_data(x);
    int64_t n = x->numel, count = find_maxima(v, n, NULL, 0);
    LA_TRY(la_poll());
    size_t bytes = (size_t)count * 3 * sizeof(int64_t);
    int64_t *found = la_mem_alloc(bytes ? bytes : 1);
    if (!found) return LA_ENOMEM;
    find_maxima(v, n, found, count);
    la_status status = la_poll();
    for (int k = 0; k < 3 && !status; k++) {
        status = la_set_output(f, k, 1, &count, NULL, LA_INT64);
        if (!status && count > 0)
            memcpy(la_data(la_result(f, k)), found + k * count, bytes / 3);
    }
    la_mem_free(found, bytes ? bytes : 1);
    return status;
}

/* ---- distance ---- */

enum { LOOKED_AT = 1 << 16,     /* positions between two looks at the limits */
       ALL_LOWS = 12 };          /* work for each sample of find_lows */

la_status la_meta_signal_peaks_apart(la_frame *f)
{
    LA_TRY(check_positions(f, 0));
    LA_TRY(check_positions(f, 1));
    int64_t n = la_arg(f, 0)->numel;
    if (la_arg(f, 1)->numel != n)
        return la_error_at(LA_ESHAPE, 2, "as many positions as peaks expected");
    if (!(la_arg_float(f, 2) >= 1))
        return la_error_at(LA_EARG, 3, "distance must be at least 1, got %g",
                           la_arg_float(f, 2));
    return la_set_output(f, 0, 1, &n, NULL, LA_BOOL);
}

/* Positions nearer to that of peak j than 'distance' go, those in front of it
** or behind. Returns how many were looked at. */
static int64_t take_out(const int64_t *p, int64_t n, int64_t j, double distance,
                        uint8_t *keep)
{
    int64_t low = j - 1, high = j + 1;
    for (; low >= 0 && (double)p[j] - (double)p[low] < distance; low--)
        keep[low] = 0;
    for (; high < n && (double)p[high] - (double)p[j] < distance; high++)
        keep[high] = 0;
    return high - low;
}

la_status la_impl_signal_peaks_apart(la_frame *f)
{
    LA_LET(peaks, read_vector(f, 0, LA_INT64, &peaks));
    LA_LET(order, read_vector(f, 1, LA_INT64, &order));
    const int64_t *p = (const int64_t *)la_data(peaks);
    const int64_t *o = (const int64_t *)la_data(order);
    uint8_t *keep = (uint8_t *)la_data(la_result(f, 0));
    int64_t n = peaks->numel, work = 0;
    double distance = ceil(la_arg_float(f, 2));
    if (n > 0) memset(keep, 1, (size_t)n);
    for (int64_t i = n - 1; i >= 0; i--) {
        if (o[i] < 1 || o[i] > n)
            return la_error_at(LA_EINDEX, 2, "index %lld is out of range, 1 to "
                               "%lld", (long long)o[i], (long long)n);
        int64_t j = o[i] - 1;
        if (keep[j]) work += take_out(p, n, j, distance, keep);
        if (work < LOOKED_AT && i > 0) continue;
        if (la_fuel_running) LA_TRY(la_fuel_more(f, work));
        LA_TRY(la_poll());
        work = 0;
    }
    return LA_OK;
}

/* ---- prominences and widths ---- */

typedef struct survey {
    const double *x;
    const int64_t *peaks;     /* from 1, checked */
    int64_t n, count, reach;  /* reach: samples on either side of a peak */
    double rel_height;
    double *prominences, *widths, *heights, *left_ips, *right_ips;
    int64_t *left_bases, *right_bases;
    bool measured;            /* prominences and bases are known */
    int64_t *lows[2];         /* of every sample, both ways; NULL: unknown */
} survey;

/* Walks from the peak in steps of 'step' to where a sample is higher or 'end'
** was looked at: the first position (from 0) of the lowest. */
static int64_t base_of(const double *x, int64_t peak, int64_t end, int step)
{
    int64_t at = peak;
    double low = x[peak];
    for (int64_t i = peak; i != end + step && x[i] <= x[peak]; i += step)
        if (x[i] < low) {
            low = x[i];
            at = i;
        }
    return at;
}

/* Lows of all samples in one pass: what a sample overlooks are the parts that
** those behind it do, as far as they are no higher. 'higher' is scratch: where
** each one's view ends. */
static void find_lows(const double *x, int64_t n, int step, int64_t *lows,
                      int64_t *higher)
{
    int64_t first = step > 0 ? n - 1 : 0, end = step > 0 ? n : -1;
    LA_EACH_POLLED(k, 0, n) {
        int64_t i = first - k * step, low = i, j = i + step;
        while (j != end && x[j] <= x[i]) {
            if (x[lows[j]] < x[low]) low = lows[j];
            j = higher[j];
        }
        higher[i] = j;
        lows[i] = low;
    }
}

static void measure_prominences(int64_t begin, int64_t end, void *context)
{
    const survey *s = context;
    for (int64_t k = begin; k < end; k++) {
        int64_t peak = s->peaks[k] - 1;
        int64_t first = la_max(0, peak - s->reach);
        int64_t last = la_min(s->n - 1, peak + s->reach);
        bool known = s->lows[0] != NULL;
        int64_t l = known ? s->lows[0][peak]
                          : base_of(s->x, peak, first, -1);
        int64_t r = known ? s->lows[1][peak] : base_of(s->x, peak, last, 1);
        double low = s->x[l] > s->x[r] ? s->x[l] : s->x[r];
        s->prominences[k] = s->x[peak] - low;
        s->left_bases[k] = l + 1;
        s->right_bases[k] = r + 1;
    }
}

/* Between the bases, where x crosses the height, linear between samples. */
static void measure_widths(int64_t begin, int64_t end, void *context)
{
    const survey *s = context;
    const double *x = s->x;
    for (int64_t k = begin; k < end; k++) {
        int64_t peak = s->peaks[k] - 1, i = peak;
        double h = x[peak] - s->prominences[k] * s->rel_height;
        while (i > s->left_bases[k] - 1 && h < x[i]) i--;
        double left = (double)i;
        if (x[i] < h) left += (h - x[i]) / (x[i + 1] - x[i]);
        for (i = peak; i < s->right_bases[k] - 1 && h < x[i];) i++;
        double right = (double)i;
        if (x[i] < h) right -= (h - x[i]) / (x[i - 1] - x[i]);
        s->widths[k] = right - left;
        s->heights[k] = h;
        s->left_ips[k] = left + 1;
        s->right_ips[k] = right + 1;
    }
}

/* Argument 'arg': samples around a peak in all, rounded up to an odd number. */
static la_status read_wlen(const la_frame *f, int arg, int64_t *reach)
{
    *reach = INT64_MAX / 4;
    if (!la_has(f, arg)) return LA_OK;
    double wlen = la_arg_float(f, arg);
    if (!(wlen > 1))
        return la_error_at(LA_EARG, arg + 1, "wlen must be larger than 1, got "
                           "%g", wlen);
    if (wlen < 1e15) *reach = (int64_t)ceil(wlen) / 2;
    return LA_OK;
}

static la_status check_peaks(const survey *s)
{
    for (int64_t k = 0; k < s->count; k++)
        if (s->peaks[k] < 1 || s->peaks[k] > s->n)
            return la_error_at(LA_EINDEX, 2, "peak %lld is out of range, 1 to "
                               "%lld", (long long)s->peaks[k],
                               (long long)s->n);
    return LA_OK;
}

/* The numbers of result k are computed in 'n' doubles of their own and rounded
** to its dtype. */
static la_status put_result(la_frame *f, int k, double *from)
{
    la_tensor *out = la_result(f, k);
    LA_LET(t, la_tensor_empty(1, &out->numel, LA_FLOAT64, &t));
    if (out->numel > 0)
        memcpy(la_data(t), from, (size_t)out->numel * sizeof(*from));
    return la_run_(copy_, out, t);
}

/* With many peaks and no limit to their surroundings, all samples at once:
** else a peak is a walk to both sides. The memory is the caller's. */
static la_status find_all_lows(survey *s, int64_t **memory, size_t *bytes)
{
    if (s->count < 32 || s->reach < s->n || s->measured) return LA_OK;
    *bytes = (size_t)s->n * 3 * sizeof(int64_t);
    *memory = la_mem_alloc(*bytes);
    if (!*memory) return LA_ENOMEM;
    s->lows[0] = *memory;
    s->lows[1] = *memory + s->n;
    find_lows(s->x, s->n, -1, s->lows[0], *memory + 2 * s->n);
    LA_TRY(la_poll());
    find_lows(s->x, s->n, 1, s->lows[1], *memory + 2 * s->n);
    return la_poll();
}

/* Each peak walks to both sides: no farther than its surroundings or, for the
** widths, its bases reach. */
static la_status measure_all(la_frame *f, survey *s, bool widths)
{
    int64_t work = s->lows[0] ? la_fuel_times(s->n, ALL_LOWS)
        : la_fuel_times(s->count, la_min(s->n, 2 * s->reach + 1));
    if (!s->measured) {
        if (la_fuel_running) LA_TRY(la_fuel_more(f, work));
        LA_TRY(la_iter_items(s->count, 256, 16, measure_prominences, s));
    }
    if (!widths) return LA_OK;
    work = 0;
    for (int64_t k = 0; k < s->count; k++)
        work = la_fuel_plus(work, s->right_bases[k] - s->left_bases[k]);
    if (la_fuel_running) LA_TRY(la_fuel_more(f, work));
    return la_iter_items(s->count, 256, 16, measure_widths, s);
}

/* Measure with memory for five doubles and two positions of each peak, in
** the order of a survey's fields; 'prepare' (NULL: nothing) fills in what is
** known before, 'give' takes what it wants of them. */
typedef la_status (*survey_fn)(la_frame *f, survey *s);
static la_status run_survey(la_frame *f, survey *s, bool widths,
                            survey_fn prepare, survey_fn give)
{
    LA_LET(x, read_vector(f, 0, LA_FLOAT64, &x));
    LA_LET(peaks, read_vector(f, 1, LA_INT64, &peaks));
    s->x = (const double *)la_data(x);
    s->peaks = (const int64_t *)la_data(peaks);
    s->n = x->numel;
    s->count = peaks->numel;
    LA_TRY(check_peaks(s));
    if (s->count == 0) return LA_OK;
    int64_t *lows = NULL;
    size_t lows_bytes = 0, bytes = (size_t)s->count * 7 * sizeof(double);
    double *measures = la_mem_alloc(bytes);
    if (!measures) return LA_ENOMEM;
    s->prominences = measures;
    s->widths = measures + s->count;
    s->heights = measures + 2 * s->count;
    s->left_ips = measures + 3 * s->count;
    s->right_ips = measures + 4 * s->count;
    s->left_bases = (int64_t *)(measures + 5 * s->count);
    s->right_bases = (int64_t *)(measures + 6 * s->count);
    la_status status = prepare ? prepare(f, s) : LA_OK;
    if (!status) status = find_all_lows(s, &lows, &lows_bytes);
    if (!status) status = measure_all(f, s, widths);
    if (!status) status = give(f, s);
    if (lows) la_mem_free(lows, lows_bytes);
    la_mem_free(measures, bytes);
    return status;
}

/* (x, peaks, wlen) */
la_status la_meta_signal_peak_prominences(la_frame *f)
{
    int64_t reach;
    LA_TRY(peaks_check_signal(f, 0));
    LA_TRY(check_positions(f, 1));
    LA_TRY(read_wlen(f, 2, &reach));
    int64_t n = la_arg(f, 1)->numel;
    LA_TRY(la_set_output(f, 0, 1, &n, NULL, height_dtype(la_arg(f, 0))));
    LA_TRY(la_set_output(f, 1, 1, &n, NULL, LA_INT64));
    return la_set_output(f, 2, 1, &n, NULL, LA_INT64);
}

static la_status give_prominences(la_frame *f, survey *s)
{
    size_t bytes = (size_t)s->count * sizeof(int64_t);
    memcpy(la_data(la_result(f, 1)), s->left_bases, bytes);
    memcpy(la_data(la_result(f, 2)), s->right_bases, bytes);
    return put_result(f, 0, s->prominences);
}

la_status la_impl_signal_peak_prominences(la_frame *f)
{
    survey s = {.n = 0};
    LA_TRY(read_wlen(f, 2, &s.reach));
    return run_survey(f, &s, false, NULL, give_prominences);
}

/* Argument k, a value of 'dtype' for each peak, to 'to'. */
static la_status take_values(la_frame *f, int k, la_dtype dtype,
                             int64_t count, void *to)
{
    LA_LET(t, read_vector(f, k, dtype, &t));
    if (t->numel != count)
        return la_error_at(LA_ESHAPE, k + 1, "a value for each of %lld peaks "
                           "expected, got %lld", (long long)count,
                           (long long)t->numel);
    memcpy(to, la_data(t), (size_t)count * 8);
    return LA_OK;
}

/* The prominences and bases of a call of peak_widths, when they are given: each
** peak between its bases, these inside of x. */
static la_status take_known(la_frame *f, survey *s)
{
    enum { PROMINENCES = 4, LEFT, RIGHT };
    if (!la_has(f, PROMINENCES) || !la_has(f, LEFT) || !la_has(f, RIGHT))
        return LA_OK;
    LA_TRY(take_values(f, PROMINENCES, LA_FLOAT64, s->count, s->prominences));
    LA_TRY(take_values(f, LEFT, LA_INT64, s->count, s->left_bases));
    LA_TRY(take_values(f, RIGHT, LA_INT64, s->count, s->right_bases));
    s->measured = true;
    for (int64_t k = 0; k < s->count; k++)
        if (s->left_bases[k] < 1 || s->left_bases[k] > s->peaks[k]
            || s->right_bases[k] > s->n || s->right_bases[k] < s->peaks[k])
            return la_error_at(LA_EINDEX, LEFT + 1, "the bases %lld and %lld "
                               "are not around the peak %lld",
                               (long long)s->left_bases[k],
                               (long long)s->right_bases[k],
                               (long long)s->peaks[k]);
    return LA_OK;
}

/* (x, peaks, rel_height, wlen, prominences, left_bases, right_bases) */
la_status la_meta_signal_peak_widths(la_frame *f)
{
    int64_t reach;
    LA_TRY(peaks_check_signal(f, 0));
    LA_TRY(check_positions(f, 1));
    if (!(la_arg_float(f, 2) >= 0))
        return la_error_at(LA_EARG, 3, "rel_height must not be negative, got "
                           "%g", la_arg_float(f, 2));
    LA_TRY(read_wlen(f, 3, &reach));
    int64_t n = la_arg(f, 1)->numel;
    for (int k = 0; k < 4; k++)
        LA_TRY(la_set_output(f, k, 1, &n, NULL, k == 1
            ? height_dtype(la_arg(f, 0)) : LA_FLOAT64));
    return LA_OK;
}

static la_status give_widths(la_frame *f, survey *s)
{
    LA_TRY(put_result(f, 0, s->widths));
    LA_TRY(put_result(f, 1, s->heights));
    LA_TRY(put_result(f, 2, s->left_ips));
    return put_result(f, 3, s->right_ips);
}

la_status la_impl_signal_peak_widths(la_frame *f)
{
    survey s = {.rel_height = la_arg_float(f, 2)};
    LA_TRY(read_wlen(f, 3, &s.reach));
    return run_survey(f, &s, true, take_known, give_widths);
}
