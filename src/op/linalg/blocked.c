/*
** LU, Cholesky factors and triangular solutions of large matrices.
**
** LU and substitution follow the recursive forms (Toledo, SIAM J. Matrix Anal.
** Appl. 18, 1997), which make nearly all of the work products of large
** matrices, written as loops: after block b of the columns the last p blocks
** update the next p, where p is the largest power of two that divides b + 1.
*/
#include "op/linalg/blocked.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "base/size.h"
#include "op/value.h"

/* Only these four are computed in: callers have converted 16-bit floats and
** integers before. */
la_field la_field_of(la_dtype dtype)
{
    la_field f = {dtype, NULL, (int64_t)la_dtype_size(dtype)};
    switch (dtype) {
    case LA_FLOAT32: f.ker = LA_STUB(linalg_f32); break;
    case LA_FLOAT64: f.ker = LA_STUB(linalg_f64); break;
    case LA_COMPLEX64: f.ker = LA_STUB(linalg_c64); break;
    default: f.ker = LA_STUB(linalg_c128); break;
    }
    return f;
}

/* A product never reads an element that it writes: with LA_SUBTRACT 'out' is
** also the addend, element by element. */
la_status la_mat_product(const la_field *f, la_gemm_mat a, la_gemm_mat b,
                         la_gemm_mat out, int64_t m, int64_t n, int64_t k,
                         int flags)
{
    la_gemm g;
    if (m <= 0 || n <= 0) return LA_OK;
    la_gemm_init(&g, f->dtype);
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = a;
    g.b = b;
    g.out = out;
    g.conj_a = (flags & LA_CONJ_A) && la_is_complex(f->dtype);
    g.conj_b = (flags & LA_CONJ_B) && la_is_complex(f->dtype);
    if (flags & LA_SUBTRACT) {
        g.alpha = (la_gemm_scalar){-1, 0, -1};
        g.beta = (la_gemm_scalar){1, 0, 1};
        g.add = out;
    }
    return la_gemm_run(&g);
}

static int64_t power_in(int64_t x) { return x & -x; }

/* ---- substitution ---- */

typedef struct columns {
    const la_field *f;
    la_triangle t;
    la_gemm_mat b;
    int64_t k;
} columns;

/* Chunks of this many right-hand sides go to threads. */
enum { CHUNK = 256 };

static void solve_columns(int64_t begin, int64_t end, void *context)
{
    const columns *s = context;
    int64_t from = begin * CHUNK, to = la_min(end * CHUNK, s->k);
    la_gemm_mat b = la_mat_at(s->f, s->b, 0, from);
    s->f->ker->solve_block(&s->t, &b, to - from);
}

/* Rows i .. i + n - 1 by the diagonal block there. */
static void solve_diagonal(const la_field *f, la_gemm_mat t, int flags,
                           la_gemm_mat b, int64_t i, int64_t n, int64_t k)
{
    columns s = {f, {la_mat_at(f, t, i, i), (int)n, flags & LA_UPPER,
                     flags & LA_UNIT, flags & LA_CONJ},
                 la_mat_at(f, b, i, 0), k};
    la_parallel_for((k + CHUNK - 1) / CHUNK, 4, solve_columns, &s);
}

/* Solves blocks of LA_PANEL rows in their order. After block i the product is
** taken with the last p blocks, p being the largest power of two that divides i
** + 1: the shape of a recursion by halves, whose products are as square as they
** can be, without the recursion. */
la_status la_blocked_triangular(const la_field *f, la_gemm_mat t, int flags,
                                la_gemm_mat b, int64_t n, int64_t k)
{
    int64_t blocks = (n + LA_PANEL - 1) / LA_PANEL;
    int how = LA_SUBTRACT | (flags & LA_CONJ ? LA_CONJ_A : 0);
    bool upper = flags & LA_UPPER;
    if (k <= 0) return LA_OK;
    for (int64_t i = 0; i < blocks; i++) {
        int64_t p = power_in(i + 1) * LA_PANEL, at = i * LA_PANEL;
        int64_t end = la_min(at + LA_PANEL, n), first = (i + 1) * LA_PANEL - p;
        int64_t until = la_min((i + 1) * LA_PANEL + p, n);
        if (upper) solve_diagonal(f, t, flags, b, n - end, end - at, k);
        else solve_diagonal(f, t, flags, b, at, end - at, k);
        int64_t done = upper ? n - end : first;
        int64_t next = upper ? n - until : end;
        LA_TRY(la_mat_product(f, la_mat_at(f, t, next, done),
                              la_mat_at(f, b, done, 0),
                              la_mat_at(f, b, next, 0), until - end, k,
                              end - first, how));
    }
    return LA_OK;
}

/* ---- LU ---- */

/* 'bytes' bytes at p and at q, which do not overlap. */
static void exchange_bytes(char *p, char *q, int64_t bytes)
{
    char t[64];
    for (; bytes >= 64; bytes -= 64, p += 64, q += 64) {
        memcpy(t, p, 64);
        memcpy(p, q, 64);
        memcpy(q, t, 64);
    }
    if (bytes > 0) {
        memcpy(t, p, (size_t)bytes);
        memcpy(p, q, (size_t)bytes);
        memcpy(q, t, (size_t)bytes);
    }
}

/* Rows that are contiguous move whole; else column by column, so that a
** column-major matrix is walked along its memory. 'undo' takes the exchanges
** back in reverse. */
void la_exchange_rows(const la_field *f, la_gemm_mat a, int64_t cols,
                      const int32_t *pivots, int64_t first, int64_t end,
                      bool undo)
{
    int64_t runs = a.cs == 1 ? 1 : cols, run = (cols / la_max(runs, 1));
    for (int64_t s = first; s < end; s++) {
        int64_t j = undo ? first + end - 1 - s : s, i = pivots[j] - 1;
        for (int64_t c = 0; i != j && c < runs; c++)
            exchange_bytes(la_mat_at(f, a, i, c).data,
                           la_mat_at(f, a, j, c).data, run * f->size);
    }
}

/* Columns at .. end - 1 from row 'at' on; exchanges reach all to the left. */
static void lu_panel(const la_field *f, la_gemm_mat a, int64_t m, int64_t at,
                     int64_t end, bool pivot, char *panel, int32_t *pivots,
                     int32_t *info)
{
    int64_t own[LA_PANEL];
    la_gemm_mat part = la_mat_at(f, a, at, at);
    int n = (int)(end - at), rank = (int)la_min(n, m - at);
    f->ker->pack(panel, &part, m - at, n);
    int zero = f->ker->lu_panel(panel, m - at, n, own, pivot);
    f->ker->unpack(panel, &part, m - at, n);
    if (zero && !*info) *info = (int32_t)(at + zero);
    for (int j = 0; j < rank; j++)
        pivots[at + j] = (int32_t)(at + own[j] + 1);
    la_exchange_rows(f, a, at, pivots, at, at + rank, false);
}

/* Columns first .. end - 1 are done: the same for columns end .. until - 1,
** which all columns before have updated already. */
static la_status lu_update(const la_field *f, la_gemm_mat a, int64_t m,
                           int64_t first, int64_t end, int64_t until,
                           const int32_t *pivots)
{
    la_gemm_mat top = la_mat_at(f, a, first, end);
    int64_t k = until - end;
    if (k <= 0) return LA_OK;
    la_exchange_rows(f, la_mat_at(f, a, 0, end), k, pivots, first, end, false);
    LA_TRY(la_blocked_triangular(f, la_mat_at(f, a, first, first), LA_UNIT,
                                 top, end - first, k));
    return la_mat_product(f, la_mat_at(f, a, end, first), top,
                          la_mat_at(f, a, end, end), m - end, k, end - first,
                          LA_SUBTRACT);
}

/* Products come in the order of la_blocked_triangular (Toledo, "Locality of
** reference in LU decomposition", 1997). Columns beyond the rank are updated
** once at the end, as no panel is in them. Between panels the host is asked. */
la_status la_blocked_lu(const la_field *f, la_gemm_mat a, int64_t m, int64_t n,
                        bool pivot, char *panel, int32_t *pivots,
                        int32_t *info)
{
    int64_t rank = la_min(m, n), blocks = (rank + LA_PANEL - 1) / LA_PANEL;
    *info = 0;
    for (int64_t i = 0; i < blocks; i++) {
        int64_t p = power_in(i + 1) * LA_PANEL, at = i * LA_PANEL;
        int64_t end = la_min(at + LA_PANEL, rank);
        int64_t first = (i + 1) * LA_PANEL - p;
        int64_t until = la_min((i + 1) * LA_PANEL + p, rank);
        lu_panel(f, a, m, at, end, pivot, panel, pivots, info);
        if (la_interrupted()) return LA_EINTR;
        if (end < until) LA_TRY(lu_update(f, a, m, first, end, until, pivots));
    }
    return lu_update(f, a, m, 0, rank, n, pivots);
}

/* ---- Cholesky ---- */

/* Columns of a block, and columns updated by one product: of a product for
** the whole trailing part half would be thrown away. */
enum { BLOCK = 128, SPAN = 256 };

static la_status cholesky_level(const la_field *f, la_gemm_mat a, int64_t n,
                                int64_t block, int32_t *info);

/* The diagonal block at 'at': by the kernel, or by smaller blocks. */
static la_status cholesky_diagonal(const la_field *f, la_gemm_mat a,
                                   int64_t at, int64_t n, int32_t *info)
{
    la_gemm_mat corner = la_mat_at(f, a, at, at);
    if (n > LA_PANEL)
        LA_TRY(cholesky_level(f, corner, n, LA_PANEL, info));
    else *info = f->ker->cholesky_block(&corner, (int)n);
    if (*info) *info += (int32_t)at;
    return LA_OK;
}

/* Right-looking with columns of 'block'; two levels, BLOCK and LA_PANEL. */
static la_status cholesky_level(const la_field *f, la_gemm_mat a, int64_t n,
                                int64_t block, int32_t *info)
{
    *info = 0;
    for (int64_t at = 0; at < n; at += block) {
        int64_t end = la_min(at + block, n), k = end - at;
        LA_TRY(cholesky_diagonal(f, a, at, k, info));
        if (*info) return LA_OK;
        /* X L^H = A below the block: conj(L) X^T = A^T */
        la_gemm_mat below = la_mat_at(f, a, end, at);
        LA_TRY(la_blocked_triangular(f, la_mat_at(f, a, at, at), LA_CONJ,
                                     la_mat_t(below), k, n - end));
        for (int64_t j = end; j < n; j += SPAN) {
            la_gemm_mat left = la_mat_at(f, a, j, at);
            LA_TRY(la_mat_product(f, left, la_mat_t(left),
                                  la_mat_at(f, a, j, j), n - j,
                                  la_min(SPAN, n - j), k,
                                  LA_SUBTRACT | LA_CONJ_B));
        }
    }
    return LA_OK;
}

la_status la_blocked_cholesky(const la_field *f, la_gemm_mat a, int64_t n,
                              int32_t *info)
{
    return cholesky_level(f, a, n, BLOCK, info);
}
