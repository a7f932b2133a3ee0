/*
** distance_field(mask): cells to the nearest true one, exactly. Along each dim
** the squares found so far, plus that of the way, have their least value on the
** lower envelope of parabolas (P. Felzenszwalb and D. Huttenlocher, 2012), here
** in whole numbers (A. Meijster and others, 2000).
*/
#include <math.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/composite.h"

#define LA_ROWS "modules/game/ops.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"

#define FAR INT64_MAX         /* no true cell was met */
#define MOST_SIZE ((int64_t)1 << 30)     /* squares of sizes must add up */

typedef struct field {
    int64_t *squares;
    int64_t n, inner;         /* size of the dim, elements from step to step */
} field;

/* First position at which the parabola about u lies below that about i < u. */
static int64_t crossing(int64_t i, int64_t u, int64_t at_i, int64_t at_u)
{
    int64_t up = u * u - i * i + at_u - at_i, by = 2 * (u - i);
    return up >= 0 ? up / by : -((-up + by - 1) / by);
}

/* A line; the scratch has its squares, middles of the envelope's parabolas and
** where each begins. */
static la_status run_line(void *context, int64_t line, char *scratch)
{
    const field *s = context;
    int64_t n = s->n, *g = (int64_t *)scratch, *mid = g + n, *from = mid + n;
    int64_t *x = s->squares + line / s->inner * n * s->inner + line % s->inner;
    int64_t top = -1;
    LA_EACH_POLLED(u, 0, n) {
        g[u] = x[u * s->inner];
        if (g[u] == FAR) continue;
        int64_t start = 0;
        while (top >= 0) {
            start = crossing(mid[top], u, g[mid[top]], g[u]) + 1;
            if (start > from[top]) break;
            top--;
        }
        if (top < 0) start = 0;
        if (start >= n) continue;
        mid[++top] = u;
        from[top] = start;
    }
    for (int64_t u = n - 1, k = 0; u >= 0 && top >= 0; u--, k++) {
        if (k % LA_POLL_ELEMENTS == LA_POLL_ELEMENTS - 1 && la_interrupted())
            break;
        int64_t way = u - mid[top];
        x[u * s->inner] = way * way + g[mid[top]];
        if (u == from[top]) top--;
    }
    return LA_OK;
}

la_status la_meta_game_distance_field(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    for (int d = 0; d < t->ndim; d++)
        if (la_sizes(t)[d] > MOST_SIZE)
            return la_error_at(LA_ESHAPE, 1, "sizes of at most 2^30 expected");
    bool wide = la_ctx()->default_dtype == LA_FLOAT64;
    return la_set_output(f, 0, t->ndim, la_sizes(t), NULL,
                         wide ? LA_FLOAT64 : LA_FLOAT32);
}

static la_status run_dims(const la_tensor *t, int64_t *squares)
{
    int64_t inner = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        field s = {squares, la_sizes(t)[d], inner};
        int64_t lines = t->numel / s.n;
        la_unit_plan plan = {run_line, la_ceil_div(4096, s.n),
                             (size_t)(3 * s.n) * sizeof(int64_t)};
        if (s.n > 1) LA_TRY(la_iter_units(lines, &plan, &s));
        inner *= s.n;
    }
    return LA_OK;
}

typedef struct roots {
    const int64_t *squares;
    void *out;
    bool wide;
} roots;

static void take_roots(int64_t begin, int64_t end, void *context)
{
    const roots *r = context;
    for (int64_t i = begin; i < end; i++) {
        double x = (double)INFINITY;
        if (r->squares[i] != FAR) x = sqrt((double)r->squares[i]);
        if (r->wide) ((double *)r->out)[i] = x;
        else ((float *)r->out)[i] = (float)x;
    }
}

la_status la_impl_game_distance_field(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    size_t bytes = (size_t)out->numel * sizeof(int64_t);
    if (out->numel == 0) return LA_OK;
    LA_LET(truth, la_run(astype, &truth, la_arg(f, 0), la_v_dtype(LA_BOOL)));
    LA_LET(mask, la_run(contiguous, &mask, truth));
    int64_t *squares = la_mem_alloc(bytes);
    if (!squares) return LA_ENOMEM;
    const uint8_t *b = (const uint8_t *)la_data(mask);
    LA_EACH_POLLED(i, 0, out->numel) squares[i] = b[i] ? 0 : FAR;
    la_status status = la_poll();
    if (!status) status = run_dims(out, squares);
    if (!status) {
        roots r = {squares, la_data(out), out->dtype == LA_FLOAT64};
        status = la_iter_items(out->numel, 16384, 16384, take_roots, &r);
    }
    la_mem_free(squares, bytes);
    return status;
}
