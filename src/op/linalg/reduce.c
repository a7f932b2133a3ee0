/*
** Reductions of matrices to tridiagonal and bidiagonal form, for each dtype.
*/
#include "op/linalg/reduce.h"

#include <math.h>

#include "base/runtime/interrupt.h"
#include "base/size.h"
#include "op/value.h"

enum {
    PANEL = 32,               /* columns between two updates of the rest */
    SPAN = 128,               /* columns that one product updates */
    ASK_FROM = 64,            /* rows from which each step asks */
    PIECE = 1 << 21           /* elements of a pass between two questions */
};

#define JOIN__(a, b) a##_##b
#define JOIN_(a, b) JOIN__(a, b)
#define FN(name) JOIN_(name, TAG)

#define REAL float
#define PARTS 1
#define TAG f32
#include "op/linalg/reduce.inc"
#undef PARTS
#undef TAG
#define PARTS 2
#define TAG c64
#include "op/linalg/reduce.inc"
#undef REAL
#undef PARTS
#undef TAG
#define REAL double
#define PARTS 1
#define TAG f64
#include "op/linalg/reduce.inc"
#undef PARTS
#undef TAG
#define PARTS 2
#define TAG c128
#include "op/linalg/reduce.inc"
#undef REAL
#undef PARTS
#undef TAG
#undef FN
#undef JOIN_
#undef JOIN__

const la_reducer *la_reducer_of(la_dtype dtype)
{
    switch (dtype) {
    case LA_FLOAT32: return &reducer_f32;
    case LA_FLOAT64: return &reducer_f64;
    case LA_COMPLEX64: return &reducer_c64;
    default: return &reducer_c128;
    }
}

/* The parts, in the order in which they lie in memory. */
typedef struct reduction_sizes {
    int64_t step, most;
    size_t a, tau, panel, vectors, d;
} reduction_sizes;

static reduction_sizes reduction_sizes_of(const la_field *f, int64_t m,
                                          int64_t n)
{
    int64_t real = la_real_size(f), many = la_max(m, n);
    size_t line = la_whole_lines(m * f->size);
    reduction_sizes s = {.step = (int64_t)line / real};
    size_t most = la_whole_lines(many * f->size) + LA_LINE;
    s.most = (int64_t)most / real;
    s.a = line * (size_t)n;
    s.tau = la_whole_lines(n * f->size);
    s.panel = 4 * PANEL * most;
    s.vectors = 5 * most + la_whole_lines((4 * PANEL + PANEL * PANEL) * f->size);
    s.d = la_whole_lines(n * (int64_t)sizeof(double));
    return s;
}

size_t la_reduction_bytes(const la_field *f, int64_t m, int64_t n)
{
    reduction_sizes s = reduction_sizes_of(f, m, n);
    return s.a + 2 * s.tau + s.panel + s.vectors + 2 * s.d;
}

void la_reduction_begin(la_reduction *r, const la_field *f, int64_t m,
                        int64_t n, char *scratch)
{
    reduction_sizes s = reduction_sizes_of(f, m, n);
    *r = (la_reduction){.f = f, .m = m, .n = n, .step = s.step,
                        .most = s.most, .a = scratch, .scale = 1};
    r->tau = r->a + s.a;
    r->right = r->tau + s.tau;
    r->panel = r->right + s.tau;
    r->vectors = r->panel + s.panel;
    r->d = (double *)(void *)(r->vectors + s.vectors);
    r->e = (double *)(void *)((char *)r->d + s.d);
}
