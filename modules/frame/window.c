/*
** Moving windows over rows.
**
** Sums and variances are carried along: what enters is added, what leaves is
** taken away, with what rounding lost next to (Kahan's way for sums, Welford's
** for squares). A window is summed anew where an infinity has left it. How many
** equal values came last is counted too, so that a window of one value has that
** mean and no variance. Extremes keep a queue of the rows that can become one,
** medians the sorted values.
*/
#include <math.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/frame/frame.h"

typedef struct window_state {
    const double *x;
    la_table_how how;
    int64_t low, high;          /* the window: low .. high - 1 */
    int64_t n;                  /* values in it */
    double sum, lost, gone;     /* compensations of adding, of taking away */
    double mean, squares;
    double last;                /* the newest value, and how often at the end */
    int64_t same;
    double *sorted;             /* MEDIAN */
    int64_t *queue, head, tail; /* MIN, MAX: rows, the best in front */
} window_state;

/* ---- sums ---- */

/* s + x, compensated by *c. */
static double window_kahan(double s, double x, double *c)
{
    double y = x - *c, t = s + y;
    *c = t - s - y;
    if (!(fabs(*c) <= 1.7976931348623157e308)) *c = 0;
    return t;
}

/* Mean and squares are Welford's: n has been counted up already, so the new
** mean moves by its share of the distance. */
static void window_sum_add(window_state *w, double x)
{
    w->sum = window_kahan(w->sum, x, &w->lost);
    double delta = x - w->mean;
    w->mean += delta / (double)w->n;
    w->squares += delta * (x - w->mean);
}

/* Welford's update backwards. The loss of taking away is kept apart from that
** of adding: each is then the compensation of one kind of step. */
static void window_sum_remove(window_state *w, double x)
{
    w->sum = window_kahan(w->sum, -x, &w->gone);
    double delta = x - w->mean;
    if (w->n == 0) w->mean = w->squares = 0;
    else {
        w->mean -= delta / (double)w->n;
        w->squares -= delta * (x - w->mean);
    }
}

/* ---- sorted values ---- */

/* The first index whose value is not below x. */
static int64_t window_position(const window_state *w, int64_t n, double x)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (w->sorted[mid] < x) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* An insertion moves as many values as the window holds, at the speed of
** memmove: faster than a tree up to some thousands of rows, which is where
** rolling medians are used. */
static void window_sorted_add(window_state *w, double x)
{
    int64_t at = window_position(w, w->n - 1, x);
    memmove(w->sorted + at + 1, w->sorted + at,
            (size_t)(w->n - 1 - at) * sizeof(double));
    w->sorted[at] = x;
}

/* Any of several equal values may go, so the first one does. */
static void window_sorted_remove(window_state *w, double x)
{
    int64_t at = window_position(w, w->n + 1, x);
    memmove(w->sorted + at, w->sorted + at + 1,
            (size_t)(w->n - at) * sizeof(double));
}

/* ---- extremes ---- */

/* Row i makes those that are no better useless. */
static void window_queue_add(window_state *w, int64_t i)
{
    bool least = w->how == LA_TABLE_W_MIN;
    while (w->tail > w->head) {
        double before = w->x[w->queue[w->tail - 1]];
        if (least ? before < w->x[i] : before > w->x[i]) break;
        w->tail--;
    }
    w->queue[w->tail++] = i;
}

/* ---- one row in, one out ---- */

static bool window_is_extreme(la_table_how how)
{
    return how == LA_TABLE_W_MIN || how == LA_TABLE_W_MAX;
}

/* Gaps are in the window by position alone: they are counted nowhere. */
static void window_add(window_state *w, int64_t i)
{
    double x = w->x[i];
    if (x != x) return;
    w->n++;
    w->same = w->same && x == w->last ? w->same + 1 : 1;
    w->last = x;
    if (w->how == LA_TABLE_W_MEDIAN) window_sorted_add(w, x);
    else if (window_is_extreme(w->how)) window_queue_add(w, i);
    else window_sum_add(w, x);
}

/* A row that leaves the queue has been passed by a better one already, or
** stands at its head. */
static void window_remove(window_state *w, int64_t i)
{
    double x = w->x[i];
    if (x != x) return;
    w->n--;
    if (w->same > w->n) w->same = w->n;
    if (w->how == LA_TABLE_W_MEDIAN) window_sorted_remove(w, x);
    else if (!window_is_extreme(w->how)) window_sum_remove(w, x);
    else if (w->head < w->tail && w->queue[w->head] == i) w->head++;
}

/* The window low .. high - 1 from nothing. */
static void window_anew(window_state *w, int64_t low, int64_t high)
{
    w->n = w->same = w->head = w->tail = 0;
    w->sum = w->lost = w->gone = w->mean = w->squares = 0;
    w->low = low;
    for (w->high = low; w->high < high; w->high++) window_add(w, w->high);
}

/* To a window that begins and ends no earlier. */
static void window_move(window_state *w, int64_t low, int64_t high)
{
    bool sums = w->how <= LA_TABLE_W_STD, spoilt = false;
    if (low >= w->high) {
        window_anew(w, low, high);
        return;
    }
    for (; w->high < high; w->high++) window_add(w, w->high);
    for (; w->low < low; w->low++) {
        spoilt = spoilt || isinf(w->x[w->low]);
        window_remove(w, w->low);
    }
    if (sums && (spoilt || w->n == 0)) window_anew(w, low, high);
}

/* ---- values ---- */

/* Equal values have no variance at all, which the differences of large squares
** would miss; what rounding takes below zero is zero. */
static double window_variance(const window_state *w)
{
    if (w->n < 2) return NAN;
    if (w->same >= w->n) return 0;
    double v = w->squares / (double)(w->n - 1);
    return v < 0 ? 0 : v;
}

/* A window of one repeated value is told by its length, so that its sum and
** mean are exact. */
static double window_value(const window_state *w)
{
    double n = (double)w->n;
    bool same = w->same >= w->n;
    switch (w->how) {
    case LA_TABLE_W_COUNT: return n;
    case LA_TABLE_W_SUM: return same && w->n ? w->last * n : w->sum;
    case LA_TABLE_W_MEAN:
        return !w->n ? NAN : same ? w->last : w->sum / n;
    case LA_TABLE_W_VAR: return window_variance(w);
    case LA_TABLE_W_STD: return sqrt(window_variance(w));
    case LA_TABLE_W_MEDIAN:
        if (!w->n) return NAN;
        if (w->n % 2) return w->sorted[w->n / 2];
        return (w->sorted[w->n / 2 - 1] + w->sorted[w->n / 2]) / 2;
    default:
        return w->head < w->tail ? w->x[w->queue[w->head]] : NAN;
    }
}

/* ---- bounds ---- */

/* The window of row i among n: of times, the rows after t - size, up to i. */
static void window_bounds(const la_table_window *o, const int64_t *times,
                          int64_t i, int64_t n, int64_t *low, int64_t *high)
{
    if (times) {
        *high = i + 1;
        while (*low < i && times[i] - times[*low] >= o->size) ++*low;
        return;
    }
    int64_t ahead = o->center ? (o->size - 1) / 2 : 0;
    int64_t end = i < n - ahead ? i + ahead + 1 : n;
    *low = i + ahead + 1 > o->size ? i + ahead + 1 - o->size : 0;
    *high = end;
}

/* Rows of one part: x, times and the rows of results. A count of values has
** been made where the window has enough rows, gaps or not, as in pandas. */
static la_status window_part(window_state *w, const la_table_window *o,
                             const int64_t *times, const int32_t *rows,
                             int64_t n, double *out)
{
    int64_t low = 0, high = 0;
    window_anew(w, 0, 0);
    for (int64_t i = 0; i < n; i++) {
        if (i % 4096 == 4095) LA_TRY(la_poll());
        window_bounds(o, times, i, n, &low, &high);
        window_move(w, low, high);
        int64_t have = w->how == LA_TABLE_W_COUNT ? high - low : w->n;
        double v = have >= o->least ? window_value(w) : NAN;
        out[rows ? rows[i] : i] = v;
    }
    return LA_OK;
}

/* Values and times of the part's rows, in a row. */
static la_status window_gather(const la_table_column *c, const int64_t *times,
                               const int32_t *rows, int64_t from, int64_t n,
                               double *x, int64_t *t)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t row = rows ? rows[i] : from + i;
        la_table_doubles(c, row, 1, x + i);
        if (!times) continue;
        t[i] = times[row];
        if (t[i] == LA_TABLE_DATE_GAP)
            return la_error(LA_EARG, "row %lld has no time",
                            (long long)row + 1);
        if (i && t[i] < t[i - 1])
            return la_error(LA_EARG, "the times are not sorted: row %lld is "
                            "before the row above it", (long long)row + 1);
    }
    return la_poll();
}

/* Parts are gathered into runs first, so that the window walks over neighbours
** in memory whatever the order of the groups. Queue and sorted values share
** their scratch, as a window has one of both. */
la_status la_table_rolling(const la_table_column *c,
                           const la_table_parts *parts,
                           const la_table_window *o, double *out)
{
    LA_TABLE_OWN xs = {NULL, 0}, ts = {NULL, 0}, more = {NULL, 0};
    window_state w = {.how = o->how};
    LA_TRY(la_table_alloc(&xs, c->n, sizeof(double), false));
    if (o->times) LA_TRY(la_table_alloc(&ts, c->n, sizeof(int64_t), false));
    w.x = xs.p;
    if (w.how >= LA_TABLE_W_MIN)
        LA_TRY(la_table_alloc(&more, c->n, sizeof(double), false));
    w.sorted = more.p;
    w.queue = more.p;
    for (int64_t i = 0; i < c->n; i++) out[i] = NAN;
    for (int64_t k = 0; k < parts->count; k++) {
        int64_t from = parts->offsets ? parts->offsets[k] : 0;
        int64_t to = parts->offsets ? parts->offsets[k + 1] : parts->n;
        const int32_t *rows = parts->rows ? parts->rows + from : NULL;
        LA_TRY(window_gather(c, o->times, rows, from, to - from, xs.p, ts.p));
        LA_TRY(window_part(&w, o, o->times ? ts.p : NULL, rows, to - from,
                           out));
    }
    return la_poll();
}
