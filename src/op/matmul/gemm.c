/*
** Matrix products: which path runs, and those that need no packing. See
** op/matmul/gemm.h for the contract.
**
** Paths, in the order they are tried: 'small' kernels for tiny products, groups
** of rows as tiny products (run_tall), dot products for a few columns against
** long rows or a vector that is copied first (run_narrow), for a vector against
** contiguous lines, axpy for a row against contiguous columns, packed blocks
** (gemm_packed.c).
** The choice is made from sizes and strides alone, never from the number of
** threads, so the bits don't depend on it.
*/
#include "op/matmul/gemm.h"

#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "kernel/move/copy.h"
#include "op/matmul/gemm_extension.h"
#include "op/matmul/gemm_paths.h"

/* ---- transposition ---- */

/* The transpose, by its strides. */
static la_gemm_mat gemm_transposed(la_gemm_mat m)
{
    return (la_gemm_mat){m.data, m.cs, m.rs};
}

/* Rewrites the product as out^T = b^T a^T; costs nothing, swaps which operand
** must have contiguous rows. */
static void transpose_all(la_gemm *g)
{
    la_gemm t = *g;
    g->m = t.n;
    g->n = t.m;
    g->a = gemm_transposed(t.b);
    g->b = gemm_transposed(t.a);
    g->out = gemm_transposed(t.out);
    g->add = gemm_transposed(t.add);
    g->bias = gemm_transposed(t.bias);
    g->conj_a = t.conj_b;
    g->conj_b = t.conj_a;
    g->a_step = t.b_step;
    g->b_step = t.a_step;
}

#define LONG_WORK ((int64_t)1 << 26)  /* multiply-adds in some milliseconds */

/* ---- vectors and small products: unpacked operands ---- */

/* A product that reads its operands unpacked, cut into units of rows or
** columns. */
typedef struct direct {
    const la_gemm_kernels *ker;
    la_gemm_block b;
    int64_t size, unit;        /* rows (columns) per unit of the range */
    int64_t most;              /* units between two looks for an interrupt */
    enum { BY_NONE, ROWS_DOT, COLUMNS_AXPY, ROWS_SMALL } how;
} direct;

static void direct_block(const direct *d, const la_gemm_block *b)
{
    if (d->how == COLUMNS_AXPY) d->ker->axpy(b);
    else if (d->how == ROWS_DOT) d->ker->dot(b);
    else d->ker->small(b);
}

/* Units begin..end, as one kernel call. */
static void direct_units(const direct *d, int64_t begin, int64_t end)
{
    la_gemm_block b = d->b;
    int64_t first = begin * d->unit, count = (end - begin) * d->unit;
    if (d->how == COLUMNS_AXPY) {
        b.n = la_min(count, d->b.n - first);
        b.b = (const char *)b.b + first * b.b_cs * d->size;
        shift(&b, 0, first, d->size);
    } else {
        b.m = la_min(count, d->b.m - first);
        b.a = (const char *)b.a + first * b.a_rs * d->size;
        shift(&b, first, 0, d->size);
    }
    direct_block(d, &b);
}

/* A range for a thread, in steps short enough to answer an interrupt. */
static void direct_range(int64_t begin, int64_t end, void *context)
{
    const direct *d = context;
    for (; begin < end && !la_interrupted(); begin += d->most)
        direct_units(d, begin, la_min(begin + d->most, end));
}

/* One long dot product: the pieces that the kernel would sum one by one, on
** all threads, each into its own element of b.out; then their sum in order. */

/* Piece i of a long dot product into element i of the partial sums. */
static void dot_pieces(int64_t begin, int64_t end, void *context)
{
    const direct *d = context;
    la_gemm_block b = d->b;
    for (int64_t i = begin; i < end; i++) {
        int64_t p = i * LA_GEMM_PIECE;
        b.k = la_min(d->b.k - p, LA_GEMM_PIECE);
        b.a = (const char *)d->b.a + p * d->size;
        b.b = (const char *)d->b.b + p * d->size;
        b.out.data = d->b.out.data + i * d->size;
        d->ker->dot(&b);
    }
}

/* The partial sums in order: the same additions as in the kernel's own loop. */
static void add_pieces(la_dtype dtype, const void *part, int64_t n, void *out)
{
    const float *f = part;
    const double *d = part;
    if (dtype == LA_FLOAT32) {
        float sum = f[0];
        for (int64_t i = 1; i < n; i++) sum += f[i];
        memcpy(out, &sum, sizeof sum);
    } else {
        double sum = d[0];
        for (int64_t i = 1; i < n; i++) sum += d[i];
        memcpy(out, &sum, sizeof sum);
    }
}

/* The pieces of one long dot product on all threads. False, and nothing was
** done: too short, another dtype, one thread or no memory. */
static bool run_long_dot(direct *d, la_dtype dtype)
{
    int64_t n = (d->b.k + LA_GEMM_PIECE - 1) / LA_GEMM_PIECE;
    if (d->b.m > 1 || d->b.n > 1 || n < 8 || !d->b.plain || d->b.onto)
        return false;
    if (dtype != LA_FLOAT32 && dtype != LA_FLOAT64) return false;
    if (la_in_parallel() || la_num_threads() == 1) return false;
    size_t bytes = (size_t)(n * d->size);
    void *out = d->b.out.data, *part = la_mem_alloc(bytes);
    if (!part) return false;
    d->b.out.data = part;
    la_parallel_for(n, SMALL_WORK / LA_GEMM_PIECE, dot_pieces, d);
    add_pieces(dtype, part, n, out);
    la_mem_free(part, bytes);
    return true;
}

/* Does the product run faster from unpacked operands? Packing pays only when
** each packed element is read several times. */
static bool gemm_is_small(const la_gemm *g, const la_gemm_kernels *ker)
{
    if (!ker->small || g->conj_a || g->conj_b) return false;
    int64_t size = ker->packed_size;
    double work = (double)g->m * (double)g->n * (double)g->k;
    int64_t b_bytes = la_min(g->k, ker->kc) * g->n * size;
    if (g->m <= 4 * ker->mr && g->b.cs == 1) return work < 1e8;
    /* each row of A meets one panel of B: packed, it would be read but once */
    bool contiguous = g->a.cs == 1 || g->n <= ker->nr / 2;
    if (g->n <= ker->nr && g->k <= ker->kc && contiguous) return true;
    return work <= 200.0 * 200 * 200 && b_bytes <= 256 * 1024;
}

/* A vector against contiguous lines. Sums of at most LA_TINY_K are in ascending
** order, as in tiny products; those of complex numbers use 'dot' for any k > 1,
** whichever path a batch takes. */
static bool is_dot(const la_gemm *g, const la_gemm_kernels *ker)
{
    return ker->dot && g->k > (ker->small ? LA_TINY_K : 1)
        && (g->m == 1 || g->n == 1) && g->a.cs == 1 && g->b.rs == 1;
}

/* Which of the direct paths serves; transposes 'g' where that helps. */
static int choose_direct(la_gemm *g, const la_gemm_kernels *ker)
{
    if (is_dot(g, ker)) {
        if (g->m == 1) transpose_all(g);
        return ROWS_DOT;
    }
    if (ker->axpy && g->n == 1 && g->a.rs == 1) transpose_all(g);
    if (ker->axpy && g->m == 1 && g->b.cs == 1) return COLUMNS_AXPY;
    if (g->out.cs != 1 && g->out.rs == 1) transpose_all(g);
    return gemm_is_small(g, ker) ? ROWS_SMALL : BY_NONE;
}

/* Cuts the product into units and runs them; above 'grain' on all threads. */
static void gemm_run_direct(const la_gemm *g, const la_gemm_kernels *ker,
                            int how)
{
    direct d = {.ker = ker, .b = la_gemm_block_of(g), .how = how};
    d.size = (int64_t)la_dtype_size(g->dtype);
    if (how == ROWS_DOT && run_long_dot(&d, g->dtype)) return;
    int64_t lines = how == COLUMNS_AXPY ? g->n : g->m;
    int64_t per_line = how == COLUMNS_AXPY ? g->k : g->k * g->n;
    d.unit = how == COLUMNS_AXPY ? 1024 : how == ROWS_DOT ? 32 : ker->mr;
    int64_t units = (lines + d.unit - 1) / d.unit;
    d.most = LONG_WORK / (per_line * d.unit + 1) + 1;
    /* Every range transposes a B whose columns are not contiguous: that must
    ** pay. */
    int64_t least = how == ROWS_SMALL && g->b.cs != 1 ? 8 * SMALL_WORK
                                                      : SMALL_WORK;
    int64_t grain = least / (per_line * d.unit + 1) + 1;
    if (units <= grain) direct_range(0, units, &d);
    else la_parallel_for(units, grain, direct_range, &d);
}

/* ---- batches ---- */

/* A batch of products of equal sizes and strides. */
typedef struct batch {
    la_gemm g;                /* operands of the first product */
    const la_gemm_kernels *ker;
    la_gemm_tiny tiny;        /* NULL: not for this batch */
    int how;
    int64_t count;
    int tasks;
    char *scratch;               /* of all tasks; NULL for direct paths */
    size_t scratch_each;
} batch;

typedef struct offsets { int64_t a, b, out, add; } offsets;  /* in bytes */

/* Byte offsets of product 'index' from the first, row-major over the batch
** dims. */
static offsets offsets_at(const la_gemm *w, int64_t index)
{
    offsets at = {0, 0, 0, 0};
    int64_t size = (int64_t)la_dtype_size(w->dtype);
    for (int d = w->nbatch - 1; d >= 0; d--) {
        int64_t x = (d > 0 ? index % w->batch[d] : index) * size;
        if (d > 0) index /= w->batch[d];
        at.a += x * w->a_step[d];
        at.b += x * w->b_step[d];
        at.out += x * w->out_step[d];
        if (w->add.data) at.add += x * w->add_step[d];
    }
    return at;
}

/* Product 'index' of the batch as one of its own. */
static la_gemm product_at(const batch *s, int64_t index)
{
    la_gemm g = s->g;
    offsets at = offsets_at(&g, index);
    g.a.data += at.a;
    g.b.data += at.b;
    g.out.data += at.out;
    if (g.add.data) g.add.data += at.add;
    g.nbatch = 0;
    return g;
}

/* Products begin..end by a direct path: one block, its pointers moved along. */
static void batch_direct(int64_t begin, int64_t end, void *context)
{
    const batch *s = context;
    const la_gemm *g = &s->g;
    direct d = {.ker = s->ker, .b = la_gemm_block_of(g), .how = s->how};
    const char *a = g->a.data, *b = g->b.data;
    for (int64_t i = begin; i < end; i++) {
        offsets at = offsets_at(g, i);
        d.b.a = a + at.a;
        d.b.b = b + at.b;
        d.b.out.data = g->out.data + at.out;
        if (d.b.add.data) d.b.add.data = g->add.data + at.add;
        direct_block(&d, &d.b);
    }
}

/* Products begin..end by the tiny kernel, in runs along the last batch dim,
** where the steps between operands are constant. */
static void batch_tiny(int64_t begin, int64_t end, void *context)
{
    const batch *s = context;
    const la_gemm *g = &s->g;
    int d = g->nbatch - 1;
    la_tiny_steps steps = {g->a_step[d], g->b_step[d], g->out_step[d]};
    la_gemm_block b = la_gemm_block_of(g);
    while (begin < end) {
        offsets at = offsets_at(g, begin);
        int64_t left = g->batch[d] - begin % g->batch[d];
        int64_t count = la_min(left, end - begin);
        b.a = g->a.data + at.a;
        b.b = g->b.data + at.b;
        b.out.data = g->out.data + at.out;
        s->tiny(&b, &steps, count);
        begin += count;
    }
}

/* Each task packs into its own part of the workspace. */
static void batch_packed(int64_t begin, int64_t end, void *context)
{
    const batch *s = context;
    for (int64_t t = begin; t < end; t++) {
        int64_t i = share(s->count, (int)t, s->tasks);
        int64_t last = share(s->count, (int)t + 1, s->tasks);
        for (; i < last && !la_interrupted(); i++) {
            la_gemm g = product_at(s, i);
            char *scratch = s->scratch + s->scratch_each * (size_t)t;
            if (la_gemm_packed_in(&g, la_gemm_extension(&g, s->ker), scratch))
                return;
        }
    }
}

/* One product after the other, each with all threads: fewer products than
** threads. */
static la_status batch_sequential(batch *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        la_gemm g = product_at(s, i);
        LA_TRY(la_gemm_packed(&g, la_gemm_extension(&g, s->ker)));
    }
    return LA_OK;
}

/* Products shared out among tasks. Workspace for either table, since the choice
** of the ISA extension may differ from product to product. */
static la_status batch_parallel(batch *s, int threads)
{
    s->tasks = (int)la_min(threads, s->count);
    s->scratch_each = la_gemm_packed_bytes(&s->g, s->ker);
    const la_gemm_kernels *extension = la_gemm_extension_of(s->g.dtype);
    size_t other = extension ? la_gemm_packed_bytes(&s->g, extension) : 0;
    if (other > s->scratch_each) s->scratch_each = other;
    size_t bytes = s->scratch_each * (size_t)s->tasks;
    s->scratch = la_mem_alloc(bytes);
    if (!s->scratch) return LA_ENOMEM;
    if (s->tasks == 1) batch_packed(0, 1, s);
    else la_parallel_for(s->tasks, 1, batch_packed, s);
    la_mem_free(s->scratch, bytes);
    return la_poll();
}

/* LA_EINTR may leave results unfinished; LA_ENOMEM comes before the first
** write. */
static la_status run_batch(batch *s)
{
    const la_gemm *g = &s->g;
    double work = (double)g->m * (double)g->n * ((double)g->k + 1);
    int threads = la_in_parallel() ? 1 : la_num_threads();
    if (s->tiny || s->how != BY_NONE) {
        void (*body)(int64_t, int64_t, void *) = s->tiny ? batch_tiny
                                                         : batch_direct;
        int64_t grain = work > SMALL_WORK ? 1 : (int64_t)(SMALL_WORK / work);
        if (s->count <= grain) body(0, s->count, s);
        else la_parallel_for(s->count, grain, body, s);
        return la_poll();
    }
    if (threads > 1 && s->count < threads && work > 8.0 * SMALL_WORK)
        return batch_sequential(s);
    bool few = work * (double)s->count < 2.0 * SMALL_WORK;
    return batch_parallel(s, few ? 1 : threads);
}

/* The kernel for a batch of tiny products in runs worth its preparation. */
#define TINY_RUN 8
static la_gemm_tiny tiny_of(const la_gemm *g, const la_gemm_kernels *ker)
{
    la_gemm_tiny tiny = (*LA_STUB(gemm_tiny))[g->dtype];
    if (!tiny || g->k > LA_TINY_K || g->batch[g->nbatch - 1] < TINY_RUN
        || is_dot(g, ker))
        return NULL;
    la_gemm_block b = la_gemm_block_of(g);
    return tiny(&b, &(la_tiny_steps){0, 0, 0}, 0) ? tiny : NULL;
}

/* Many rows against a tiny matrix: groups of rows form a batch of tiny
** products, the most rows per group that the kernel takes. True when all is
** done; else 'g' keeps the remaining rows. */
static bool run_tall(la_gemm *g, const la_gemm_kernels *ker)
{
    if (g->k > LA_TINY_K || g->n > 4 * LA_TINY_K || g->m < 8 * TINY_RUN)
        return false;
    batch s = {.g = *g, .ker = ker};
    s.g.nbatch = 1;
    s.g.batch = &s.count;
    for (int64_t rows = 16; rows > 1 && !s.tiny; rows--) {
        s.g.m = rows;
        s.count = g->m / rows;
        s.tiny = tiny_of(&s.g, ker);
    }
    if (!s.tiny) return false;
    int64_t a_step = s.g.m * g->a.rs, out_step = s.g.m * g->out.rs, none = 0;
    s.g.a_step = &a_step;
    s.g.out_step = &out_step;
    s.g.b_step = s.g.add_step = &none;
    if (run_batch(&s)) return true;  /* interrupted: the caller asks again */
    int64_t done = s.count * s.g.m, size = (int64_t)la_dtype_size(g->dtype);
    g->m -= done;
    g->a.data = gemm_at(&g->a, done, 0, size);
    g->out.data = gemm_at(&g->out, done, 0, size);
    return g->m == 0;
}

/* A few columns (or rows) against long contiguous rows, each read once for all
** of them. With float64 blocks of eight columns are as fast; columns that are
** not contiguous are copied first, which pays the more rows there are for
** each. */
static bool is_narrow(const la_gemm *g)
{
    bool wide = g->dtype == LA_FLOAT64;
    int64_t few = wide ? LA_GEMM_FEW / 2 : LA_GEMM_FEW;
    if (g->n > few || g->k <= LA_GEMM_LONG || g->a.cs != 1 || g->a.rs == 1
        || la_is_complex(g->dtype))
        return false;
    int64_t n = wide ? 2 * g->n : g->n;
    if (g->b.rs == 1) return true;
    return g->k > 4 * LA_GEMM_LONG ? g->m + 4 >= n * n : g->m >= 32 && n <= 4;
}

/* Columns of b one after the other, by blocks of rows that stay in the
** first-level cache while every column is copied. */
static void copy_columns(char *to, const la_gemm_mat *b, int64_t k, int64_t n,
                         int64_t size)
{
    const int64_t rows = 16384 / (n * size);
    int64_t steps[4] = {size, b->rs * size, k * size, b->cs * size};
    la_loop copy = (*LA_STUB(copy))[la_size_slot((size_t)size)];
    for (int64_t p = 0; p < k; p += rows) {
        char *data[2] = {to + p * size, gemm_at(b, p, 0, size)};
        copy(data, steps, la_min(rows, k - p), n, NULL);
    }
}

/* Product by dot products, on a contiguous copy of b's columns where needed. */
static la_status run_narrow(la_gemm *g, const la_gemm_kernels *ker)
{
    int64_t size = (int64_t)la_dtype_size(g->dtype);
    size_t bytes = g->b.rs == 1 ? 0 : (size_t)(g->k * g->n * size);
    char *scratch = bytes ? la_mem_alloc(bytes) : NULL;
    if (bytes && !scratch) return LA_ENOMEM;
    if (bytes) copy_columns(scratch, &g->b, g->k, g->n, size);
    if (bytes) g->b = (la_gemm_mat){scratch, 1, g->k};
    gemm_run_direct(g, ker, ROWS_DOT);
    if (bytes) la_mem_free(scratch, bytes);
    return la_poll();
}

/* A vector whose elements lie apart, against contiguous lines: copied, it is
** one that 'dot' takes, where packing would copy the matrix. Transposed so that
** the vector is b. */
static bool is_apart(la_gemm *g, const la_gemm_kernels *ker)
{
    if (!ker->dot || g->k <= LA_TINY_K || la_is_complex(g->dtype)) return false;
    if (g->m == 1 && g->a.cs != 1 && g->b.rs == 1) transpose_all(g);
    return g->n == 1 && g->b.rs != 1 && g->a.cs == 1;
}

/* One product: the first path that fits, transposed where that makes one
** fit. */
static la_status run_single(la_gemm *g, const la_gemm_kernels *ker)
{
    if (run_tall(g, ker)) return la_poll();
    if (g->m > 1 && g->n > 1 && g->m <= LA_GEMM_FEW && g->b.rs == 1
        && g->b.cs != 1)
        transpose_all(g);
    if ((g->m > 1 && g->n > 1 && is_narrow(g)) || is_apart(g, ker))
        return run_narrow(g, ker);
    int how = choose_direct(g, ker);
    if (how == BY_NONE) return la_gemm_packed(g, la_gemm_extension(g, ker));
    gemm_run_direct(g, ker, how);
    return la_poll();
}

/* A few microseconds at most, rows of the result contiguous: planning would
** cost as much as the product. The sums are those of every other path. */
static bool is_tiny(const la_gemm *g, const la_gemm_kernels *ker)
{
    return g->nbatch == 0 && ker->small && g->out.cs == 1 && g->m > 1
        && g->n > 1 && g->k <= 64 && g->m <= 64 && g->n <= 64;
}

la_status la_gemm_run(const la_gemm *given)
{
    const la_gemm_kernels *ker = la_gemm_kernels_of(given->dtype);
    if (!ker)
        return la_error(LA_EDTYPE, "no matrix product for %s",
                        la_dtype_name(given->dtype));
    if (is_tiny(given, ker)) {
        la_gemm_block b = la_gemm_block_of(given);
        ker->small(&b);
        return LA_OK;
    }
    batch s = {.g = *given, .ker = ker, .count = 1};
    s.g.portable = la_ctx()->portable;
    for (int d = 0; d < given->nbatch; d++)
        s.count *= given->batch[d];
    if (given->m == 0 || given->n == 0 || s.count == 0) return LA_OK;
    if (s.count == 1) {
        s.g = product_at(&s, 0);
        return run_single(&s.g, ker);
    }
    s.tiny = tiny_of(&s.g, ker);
    if (!s.tiny) s.how = choose_direct(&s.g, ker);
    return run_batch(&s);
}
