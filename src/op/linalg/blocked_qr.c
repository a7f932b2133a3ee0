/*
** Householder QR by blocks: a block of reflectors is I - V T V^H (Schreiber and
** Van Loan, SIAM J. Sci. Stat. Comput. 10, 1989), so that it is applied by
** matrix products. Two levels: panels within blocks.
*/
#include "op/linalg/blocked.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "base/size.h"
#include "op/value.h"
#include "tensor/scalar.h"

enum { BLOCK = 64 };

/* The parts of 'work': a copy of V with its ones and zeros, V^H V, T, the
** products V^H C and T V^H C, and a panel for the kernel. */
typedef struct parts {
    la_gemm_mat v, gram, t, w, tw;
    char *panel;
} parts;

size_t la_qr_work(const la_field *f, int64_t m, int64_t k)
{
    return la_whole_lines(m * BLOCK * f->size)
        + 2 * la_whole_lines(BLOCK * BLOCK * f->size)
        + 2 * la_whole_lines(BLOCK * k * f->size)
        + la_whole_lines(m * f->ker->row_bytes);
}

/* The parts lie one behind the other, each from a cache line on, in the order
** in which la_qr_work counts them. */
static parts parts_of(const la_field *f, char *work, int64_t m, int64_t k)
{
    parts p;
    size_t square = la_whole_lines(BLOCK * BLOCK * f->size);
    size_t wide = la_whole_lines(BLOCK * k * f->size);
    p.v = (la_gemm_mat){work, BLOCK, 1};
    work += la_whole_lines(m * BLOCK * f->size);
    p.gram = (la_gemm_mat){work, BLOCK, 1};
    p.t = (la_gemm_mat){work + square, BLOCK, 1};
    p.w = (la_gemm_mat){work + 2 * square, k, 1};
    p.tw = (la_gemm_mat){work + 2 * square + wide, k, 1};
    p.panel = work + 2 * square + 2 * wide;
    return p;
}

/* V, m x n unit lower trapezoidal, from below the diagonal of 'a'. */
static void copy_reflectors(const la_field *f, la_gemm_mat a, int64_t m,
                            int64_t n, la_gemm_mat v)
{
    la_scalar one = la_scalar_int(1);
    v.rs = n;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            char *to = la_mat_at(f, v, i, j).data;
            if (i > j)
                memcpy(to, la_mat_at(f, a, i, j).data, (size_t)f->size);
            else if (i < j) memset(to, 0, (size_t)f->size);
            else la_scalar_cast(&one, f->dtype, to);
        }
}

/* c (m x k) = (I - V T V^H) c, or with T^H, for n reflectors of a (m rows). */
/* Five products instead of n rank-1 updates: the matrix is read twice per
** block. T follows from V^H V, so that the reflectors themselves are not read
** again. */
static la_status apply_block(const la_field *f, parts *p, la_gemm_mat a,
                             const char *tau, int64_t m, int64_t n,
                             la_gemm_mat c, int64_t k, bool adjoint)
{
    if (k <= 0 || n <= 0) return LA_OK;
    la_gemm_mat v = {p->v.data, n, 1}, gram = {p->gram.data, n, 1};
    la_gemm_mat t = {p->t.data, n, 1}, w = {p->w.data, k, 1};
    la_gemm_mat tw = {p->tw.data, k, 1};
    copy_reflectors(f, a, m, n, v);
    LA_TRY(la_mat_product(f, la_mat_t(v), v, gram, n, n, m, LA_CONJ_A));
    f->ker->reflector_factor(t.data, gram.data, tau, n);
    LA_TRY(la_mat_product(f, la_mat_t(v), c, w, n, k, m, LA_CONJ_A));
    LA_TRY(la_mat_product(f, adjoint ? la_mat_t(t) : t, w, tw, n, k, n,
                          adjoint ? LA_CONJ_A : 0));
    return la_mat_product(f, v, tw, c, m, k, n, LA_SUBTRACT);
}

/* Columns at .. end - 1 by panels, each applied to the rest of the block. */
/* The panel is packed, as its columns are far apart in memory; the kernel then
** runs over dense rows. */
static la_status factor_block(const la_field *f, parts *p, la_gemm_mat a,
                              int64_t m, int64_t at, int64_t end, char *tau)
{
    for (int64_t j = at; j < end; j += LA_PANEL) {
        int64_t n = la_min(LA_PANEL, end - j), rows = m - j;
        la_gemm_mat part = la_mat_at(f, a, j, j);
        char *own = tau + j * f->size;
        f->ker->pack(p->panel, &part, rows, (int)n);
        f->ker->qr_panel(p->panel, rows, (int)n, own);
        f->ker->unpack(p->panel, &part, rows, (int)n);
        LA_TRY(apply_block(f, p, part, own, rows, n,
                           la_mat_at(f, a, j, j + n), end - j - n, true));
    }
    return LA_OK;
}

/* Householder QR by blocks (Schreiber and Van Loan, 1989): BLOCK reflectors
** become one product I - V T V^H, which is applied to the columns on the right
** before the next block. */
la_status la_blocked_qr(const la_field *f, la_gemm_mat a, int64_t m, int64_t n,
                        char *tau, char *work)
{
    int64_t rank = la_min(m, n);
    parts p = parts_of(f, work, m, n);
    for (int64_t at = 0; at < rank; at += BLOCK) {
        int64_t end = la_min(at + BLOCK, rank);
        LA_TRY(factor_block(f, &p, a, m, at, end, tau));
        if (la_interrupted()) return LA_EINTR;
        LA_TRY(apply_block(f, &p, la_mat_at(f, a, at, at), tau + at * f->size,
                           m - at, end - at, la_mat_at(f, a, at, end), n - end,
                           true));
    }
    return LA_OK;
}

/* Q is H1 H2 ... Hk: its product with C applies the last block first, that of
** Q^H the first one. */
la_status la_blocked_reflect(const la_field *f, la_gemm_mat a,
                             const char *tau, int64_t rank, la_gemm_mat c,
                             int64_t m, int64_t k, int flags, char *work)
{
    parts p = parts_of(f, work, m, k);
    int64_t blocks = (rank + BLOCK - 1) / BLOCK;
    for (int64_t i = 0; i < blocks; i++) {
        int64_t at = (flags & LA_ADJOINT ? i : blocks - 1 - i) * BLOCK;
        int64_t n = la_min(BLOCK, rank - at);
        /* of the identity, columns before the block are still unit vectors */
        int64_t from = flags & LA_IDENTITY ? la_min(at, k) : 0;
        if (la_interrupted()) return LA_EINTR;
        LA_TRY(apply_block(f, &p, la_mat_at(f, a, at, at), tau + at * f->size,
                           m - at, n, la_mat_at(f, c, at, from), k - from,
                           flags & LA_ADJOINT));
    }
    return LA_OK;
}
