/*
** Products by packed blocks (Goto & van de Geijn 2008, "Anatomy of
** high-performance matrix multiplication"): sizes of the blocks from the
** caches, and the division of the work among threads.
**
** Loops, from the outside: blocks of columns (nc), blocks of k (kc), then tasks
** over rows and columns of the block of B that is packed. Blocks of k are
** summed in ascending order whatever the cut, so the bits don't depend on
** caches or threads.
*/
#include "op/matmul/gemm_paths.h"

#include "base/os/cpu.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"

#define ALIGN 64
#define MAX_COLUMNS 4096  /* of B packed at a time */

typedef struct plan {
    const la_gemm *g;          /* one product: no batch */
    const la_gemm_kernels *ker;
    la_gemm_block base;        /* what all blocks have in common */
    int64_t mc, nc, kc;        /* sizes of a block */
    int tasks, tasks_m, tasks_n;
    size_t a_bytes, b_bytes, part_bytes;   /* a_bytes: of one task */
    char *a_scratch, *b_scratch, *part_scratch;
    int64_t p, j, kb, nb;      /* the block of B being worked on */
    int64_t line;              /* bytes of one of its packed columns */
} plan;

static int64_t round_up(int64_t a, int64_t to)
{
    return (a + to - 1) / to * to;
}

/* A grid of tasks over rows and columns: rows in multiples of mr, at least four
** panels each, since every task packs its own rows of A. */
static void gemm_packed_plan_tasks(plan *s, int threads)
{
    const la_gemm *g = s->g;
    double work = (double)g->m * (double)g->n * (double)g->k;
    int64_t most = work < 8.0 * SMALL_WORK ? 1 : threads;
    int64_t panels = (g->m + s->ker->mr - 1) / s->ker->mr;
    int64_t columns = (g->n + s->ker->nr - 1) / s->ker->nr;
    int64_t by_rows = panels / 4 > 0 ? panels / 4 : 1;
    s->tasks_m = (int)la_min(most, by_rows);
    s->tasks_n = (int)la_min(most / s->tasks_m, columns);
    if (s->tasks_n < 1) s->tasks_n = 1;
    s->tasks = s->tasks_m * s->tasks_n;
}

/* Sizes of blocks: a packed block of A takes a quarter of the second-level
** cache, one of B an eighth of the third level, which other cores use too. kc
** is the kernel's alone: it decides the bits. */
static void plan_blocks(plan *s)
{
    const la_gemm *g = s->g;
    int64_t mr = s->ker->mr, nr = s->ker->nr, size = s->ker->packed_size;
    int64_t l2 = (int64_t)la_cpu_cache(2), l3 = (int64_t)la_cpu_cache(3);
    s->kc = la_gemm_padded(s->ker, la_gemm_share(g->k, s->ker->kc));
    int64_t mc = l2 / 4 / (s->ker->kc * size) / mr * mr;
    int64_t nc = l3 / 8 / (s->ker->kc * size) / nr * nr;
    mc = mc < mr ? mr : mc;
    nc = nc < 4 * nr ? 4 * nr : la_min(nc, MAX_COLUMNS);
    int64_t rows = round_up((g->m + s->tasks_m - 1) / s->tasks_m, mr);
    int64_t blocks = (rows + mc - 1) / mc;
    s->mc = round_up((rows + blocks - 1) / blocks, mr);
    s->nc = la_min(round_up(g->n, nr), nc);
    s->a_bytes = (size_t)round_up(s->mc * s->kc * size + LA_GEMM_SLACK, ALIGN);
    s->b_bytes = (size_t)round_up(s->nc * s->kc * size + LA_GEMM_SLACK, ALIGN);
    bool part = s->ker->has_part && g->k > s->ker->kc;
    s->part_bytes = part ? (size_t)(g->m * g->n) * sizeof(float) : 0;
}

static void gemm_packed_plan_make(plan *s, const la_gemm *g,
                                  const la_gemm_kernels *ker, int threads)
{
    *s = (plan){.g = g, .ker = ker, .base = la_gemm_block_of(g)};
    gemm_packed_plan_tasks(s, threads);
    plan_blocks(s);
}

/* The workspace: B, then A for each task, then partial sums of 16-bit
** results. */
static size_t plan_bytes(const plan *s)
{
    return s->b_bytes + s->a_bytes * (size_t)s->tasks + s->part_bytes;
}

/* Lays the parts out in the workspace. */
static void plan_layout(plan *s, char *scratch)
{
    s->b_scratch = scratch;
    s->a_scratch = scratch + s->b_bytes;
    if (!s->part_bytes) return;
    s->part_scratch = s->a_scratch + s->a_bytes * (size_t)s->tasks;
    s->base.part = (float *)s->part_scratch;
    s->base.part_rs = s->g->n;
}

/* Panels begin..end of the current block of B. */
static void pack_columns(int64_t begin, int64_t end, void *context)
{
    const plan *s = context;
    const la_gemm *g = s->g;
    int64_t size = (int64_t)la_dtype_size(g->dtype), nr = s->ker->nr;
    int64_t j = begin * nr, n = la_min(end * nr, s->nb) - j;
    s->ker->pack_b(s->b_scratch + j * s->line,
                   gemm_at(&g->b, s->p, s->j + j, size), g->b.rs, g->b.cs,
                   s->kb, n, g->conj_b);
}

/* A block of mb rows at i against columns j .. j + nb of the packed B. */
static void multiply_rows(const plan *s, char *scratch, int64_t i, int64_t mb,
                          int64_t j, int64_t nb)
{
    const la_gemm *g = s->g;
    int64_t size = (int64_t)la_dtype_size(g->dtype);
    la_gemm_block b = s->base;
    s->ker->pack_a(scratch, gemm_at(&g->a, i, s->p, size), g->a.rs, g->a.cs, mb,
                   s->kb, g->conj_a);
    shift(&b, i, s->j + j, size);
    b.m = mb;
    b.n = nb;
    b.k = s->kb;
    b.a = scratch;
    b.b = s->b_scratch + j * s->line;
    b.first = s->p == 0 && !b.onto;
    b.last = s->p + s->kb >= g->k;
    b.plain = la_gemm_block_is_plain(&b);
    s->ker->block(&b);
}

/* Task t: its rows and columns of the result, block after block. */
static void run_task(const plan *s, int t)
{
    int64_t mr = s->ker->mr, nr = s->ker->nr, m = s->g->m;
    int tm = t % s->tasks_m, tn = t / s->tasks_m;
    int64_t rows = (m + mr - 1) / mr, columns = (s->nb + nr - 1) / nr;
    int64_t i = share(rows, tm, s->tasks_m) * mr;
    int64_t end = la_min(share(rows, tm + 1, s->tasks_m) * mr, m);
    int64_t j = share(columns, tn, s->tasks_n) * nr;
    int64_t nb = la_min(share(columns, tn + 1, s->tasks_n) * nr, s->nb) - j;
    char *scratch = s->a_scratch + s->a_bytes * (size_t)t;
    for (; i < end && nb > 0 && !la_interrupted(); i += s->mc)
        multiply_rows(s, scratch, i, la_min(s->mc, end - i), j, nb);
}

/* Body for la_parallel_for: runs tasks begin..end - 1. */
static void gemm_packed_run_tasks(int64_t begin, int64_t end, void *context)
{
    for (int64_t t = begin; t < end; t++)
        run_task(context, (int)t);
}

/* One block of B: packed by all threads, then read by all of them. */
static void run_step(plan *s)
{
    int64_t panels = (s->nb + s->ker->nr - 1) / s->ker->nr;
    if (s->tasks == 1) {
        pack_columns(0, panels, s);
        run_task(s, 0);
        return;
    }
    int64_t grain = 32768 / (s->kb * s->ker->nr) + 1;
    la_parallel_for(panels, grain, pack_columns, s);
    la_parallel_for(s->tasks, 1, gemm_packed_run_tasks, s);
}

static la_status gemm_packed_run_plan(plan *s)
{
    const la_gemm *g = s->g;
    for (s->j = 0; s->j < g->n; s->j += s->nc) {
        s->nb = la_min(s->nc, g->n - s->j);
        for (s->p = 0; s->p == 0 || s->p < g->k; s->p += s->kc) {
            s->kb = la_min(s->kc, g->k - s->p);
            s->line = la_gemm_padded(s->ker, s->kb) * s->ker->packed_size;
            if (la_interrupted()) return LA_EINTR;
            run_step(s);
        }
    }
    return LA_OK;
}

size_t la_gemm_packed_bytes(const la_gemm *g, const la_gemm_kernels *ker)
{
    plan s;
    gemm_packed_plan_make(&s, g, ker, 1);
    return plan_bytes(&s);
}

la_status la_gemm_packed_in(const la_gemm *g, const la_gemm_kernels *ker,
                            char *scratch)
{
    plan s;
    gemm_packed_plan_make(&s, g, ker, 1);
    plan_layout(&s, scratch);
    return gemm_packed_run_plan(&s);
}

/* ---- a product in parts, one per thread ---- */

/* Few threads share nothing, not even the packed B: each packs what it needs,
** so no line of a cache goes from one processor to another. Many threads would
** pack too often: those share blocks of B. */
#define FEW_THREADS 4

typedef struct split {
    const la_gemm *g;
    const la_gemm_kernels *ker;
    int parts;
    bool rows;                /* cut between rows of the result, or columns */
    char *scratch;
    size_t scratch_each;
} split;

/* The units of the kernel that n rows or columns are. */
static int64_t units_of(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit;
}

/* Part t: a product of its own. */
static la_gemm gemm_packed_part_of(const split *s, int t)
{
    la_gemm g = *s->g;
    int64_t size = (int64_t)la_dtype_size(g.dtype);
    int64_t unit = s->rows ? s->ker->mr : s->ker->nr;
    int64_t all = s->rows ? g.m : g.n, units = units_of(all, unit);
    int64_t from = share(units, t, s->parts) * unit;
    int64_t n = la_min(share(units, t + 1, s->parts) * unit, all) - from;
    int64_t i = s->rows ? from : 0, j = s->rows ? 0 : from;
    g.a.data = gemm_at(&g.a, i, 0, size);
    g.b.data = gemm_at(&g.b, 0, j, size);
    g.out.data = gemm_at(&g.out, i, j, size);
    g.add.data = gemm_at(&g.add, i, j, size);
    g.bias.data = gemm_at(&g.bias, i, j, size);
    if (s->rows) g.m = n;
    else g.n = n;
    return g;
}

/* Parts begin..end, each with its own workspace. */
static void gemm_packed_run_parts(int64_t begin, int64_t end, void *context)
{
    const split *s = context;
    for (int64_t t = begin; t < end; t++) {
        la_gemm g = gemm_packed_part_of(s, (int)t);
        char *scratch = s->scratch + s->scratch_each * (size_t)t;
        if (la_gemm_packed_in(&g, s->ker, scratch)) return;
    }
}

/* The longest part in relation to an even share; 1 is perfect. */
static double imbalance(int64_t n, int64_t unit, int parts)
{
    int64_t units = units_of(n, unit);
    return (double)((units + parts - 1) / parts * unit * parts) / (double)n;
}

/* Cuts rows or columns, whichever divides more evenly by the kernel's units,
** and never a unit: a short, deep product has fewer parts than threads. */
static la_status run_split(const la_gemm *g, const la_gemm_kernels *ker,
                           int threads)
{
    split s = {.g = g, .ker = ker, .parts = threads};
    s.rows = imbalance(g->m, ker->mr, threads)
        < imbalance(g->n, ker->nr, threads);
    int64_t units = s.rows ? units_of(g->m, ker->mr) : units_of(g->n, ker->nr);
    s.parts = (int)la_min(threads, units);
    /* Parts have at most two sizes, those of the first and the last; the one
    ** with fewer rows may need more scratch, as its rows may be fewer
    ** blocks. */
    la_gemm first = gemm_packed_part_of(&s, 0),
        last = gemm_packed_part_of(&s, s.parts - 1);
    s.scratch_each = la_gemm_packed_bytes(&first, ker);
    size_t other = la_gemm_packed_bytes(&last, ker);
    if (other > s.scratch_each) s.scratch_each = other;
    size_t bytes = s.scratch_each * (size_t)s.parts;
    s.scratch = la_mem_alloc(bytes);
    if (!s.scratch) return LA_ENOMEM;
    la_parallel_for(s.parts, 1, gemm_packed_run_parts, &s);
    la_mem_free(s.scratch, bytes);
    return la_poll();
}

la_status la_gemm_packed(const la_gemm *g, const la_gemm_kernels *ker)
{
    plan s;
    int threads = la_in_parallel() ? 1 : la_num_threads();
    double work = (double)g->m * (double)g->n * (double)g->k;
    if (threads > 1 && threads <= FEW_THREADS && work > 16.0 * SMALL_WORK)
        return run_split(g, ker, threads);
    gemm_packed_plan_make(&s, g, ker, threads);
    size_t bytes = plan_bytes(&s);
    char *scratch = la_mem_alloc(bytes);
    if (!scratch) return LA_ENOMEM;
    plan_layout(&s, scratch);
    la_status status = gemm_packed_run_plan(&s);
    la_mem_free(scratch, bytes);
    return status;
}
