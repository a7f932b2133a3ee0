/*
** Reductions of matrices of real and of complex numbers.
*/
#include "op/eigen/reduce.h"

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

typedef struct la_reducer {
    la_status (*tridiagonal)(const la_condenser *);
    la_status (*bidiagonal)(const la_condenser *);
    la_status (*hessenberg)(const la_condenser *);
} la_reducer;

#define BODY "op/eigen/reduce.inc"
#include "op/eigen/each_parts.inc"

static const la_reducer *reducer_of(const la_condenser *r)
{
    return r->parts == 1 ? &reducer_f64 : &reducer_c128;
}

la_status la_reduce_tridiagonal(const la_condenser *r)
{
    return reducer_of(r)->tridiagonal(r);
}

la_status la_reduce_bidiagonal(const la_condenser *r)
{
    return reducer_of(r)->bidiagonal(r);
}

la_status la_reduce_hessenberg(const la_condenser *r)
{
    return reducer_of(r)->hessenberg(r);
}

/* ---- scratch ---- */

/* The parts, in the order in which they lie in memory. */
typedef struct reduction_sizes {
    int64_t step, most;
    size_t a, tau, panel, vectors, d;
} reduction_sizes;

static reduction_sizes reduction_sizes_of(la_dtype dtype, int64_t m, int64_t n)
{
    int64_t size = la_is_complex(dtype) ? 16 : 8, many = la_max(m, n);
    size_t line = la_whole_lines(m * size);
    reduction_sizes s = {.step = (int64_t)line / 8};
    size_t most = la_whole_lines(many * size) + LA_LINE;
    s.most = (int64_t)most / 8;
    s.a = line * (size_t)n;
    s.tau = la_whole_lines(n * size);
    s.panel = 4 * PANEL * most;
    s.vectors = 5 * most
        + la_whole_lines((6 * PANEL + PANEL * PANEL) * size);
    s.d = la_whole_lines(n * 8);
    return s;
}

la_status la_reduction_check(int64_t m, int64_t n, int64_t rows)
{
    double many = (double)la_max(m, n), few = (double)la_min(m, n);
    if (256 * (many + 64) * (few + 16) + 16 * (double)rows * (double)rows
        < 0x1p62)
        return LA_OK;
    return la_error(LA_ESHAPE, "a matrix of %lld x %lld is too large to be "
                    "decomposed", (long long)m, (long long)n);
}

size_t la_reduction_bytes(la_dtype dtype, int64_t m, int64_t n)
{
    reduction_sizes s = reduction_sizes_of(dtype, m, n);
    return s.a + 2 * s.tau + s.panel + s.vectors + 2 * s.d;
}

void la_reduction_begin(la_condenser *r, la_dtype dtype, int64_t m, int64_t n,
                        char *scratch)
{
    reduction_sizes s = reduction_sizes_of(dtype, m, n);
    bool complex = la_is_complex(dtype);
    *r = (la_condenser){.m = m, .n = n, .step = s.step, .most = s.most,
                        .parts = 1 + complex, .scale = 1};
    r->f = la_field_of(complex ? LA_COMPLEX128 : LA_FLOAT64);
    r->ker = complex ? LA_STUB(columns_c128) : LA_STUB(columns_f64);
    r->a = (double *)(void *)scratch;
    r->tau = r->a + s.a / 8;
    r->right = r->tau + s.tau / 8;
    r->panel = r->right + s.tau / 8;
    r->vectors = r->panel + s.panel / 8;
    r->d = r->vectors + s.vectors / 8;
    r->e = r->d + s.d / 8;
}

la_gemm_mat la_reduction_matrix(const la_condenser *r)
{
    return (la_gemm_mat){(char *)r->a, 1, r->step / r->parts};
}

/* ---- elements in and out ---- */

/* One column to double precision. */
static void load_column(double *to, const char *from, int64_t first,
                        int64_t rows, int64_t step, int64_t parts, bool single)
{
    const float *f = (const float *)(const void *)from;
    const double *d = (const double *)(const void *)from;
    for (int64_t i = first; i < rows; i++)
        for (int64_t p = 0; p < parts; p++) {
            int64_t at = i * step * parts + p;
            to[i * parts + p] = single ? (double)f[at] : d[at];
        }
}

bool la_reduction_load(la_condenser *r, la_dtype from, la_gemm_mat a,
                       bool lower, bool conj)
{
    int64_t parts = r->parts, count = r->step, size = parts * 8;
    bool single = la_dtype_to_real(from) == LA_FLOAT32;
    double most = 0, sum = 0;
    int e;
    if (single) size /= 2;
    for (int64_t c = 0; c < r->n; c++) {
        double *to = r->a + c * count;
        int64_t first = lower ? c : 0;
        for (int64_t i = 0; i < first * parts; i++) to[i] = 0;
        load_column(to, a.data + c * a.cs * size, first, r->m, a.rs, parts,
                    single);
        for (int64_t i = r->m * parts; i < count; i++) to[i] = 0;
        if (lower && parts == 2) to[c * parts + 1] = 0;
        for (int64_t i = first * parts; i < r->m * parts; i++) {
            double x = fabs(to[i]);
            sum += x * 0;
            most = x > most ? x : most;
        }
    }
    if (sum != 0) return false;
    frexp(most, &e);
    r->scale = most > 0 ? ldexp(1, e - 1) : 1;
    if (r->scale != 1 || conj)
        for (int64_t i = 0; i < count * r->n; i += parts) {
            r->a[i] /= r->scale;
            if (parts == 2) r->a[i + 1] /= conj ? -r->scale : r->scale;
        }
    return true;
}

void la_write_rows(const la_condenser *r, const double *x, int64_t step,
                   int64_t n, int64_t rows, int64_t cols, la_gemm_mat out)
{
    int64_t parts = r->parts;
    for (int64_t i = 0; i < rows; i++) {
        double *to = (double *)(void *)out.data + i * out.rs * parts;
        for (int64_t k = 0; k < cols; k++, to += out.cs * parts) {
            if (i < n || k < n) to[0] = i < n && k < n ? x[k * step + i] : 0;
            else to[0] = i == k;
            if (parts == 2) to[1] = 0;
        }
    }
}

void la_store_doubles(const double *x, int64_t count, double scale, bool conj,
                      la_dtype to, char *out)
{
    bool single = la_dtype_to_real(to) == LA_FLOAT32;
    int64_t numbers = count * (la_is_complex(to) ? 2 : 1);
    float *f = (float *)(void *)out;
    double *d = (double *)(void *)out;
    conj = conj && la_is_complex(to);
    for (int64_t i = 0; i < numbers; i++) {
        double v = x[i] * (conj && i % 2 ? -scale : scale);
        if (single) f[i] = (float)v;
        else d[i] = v;
    }
}
