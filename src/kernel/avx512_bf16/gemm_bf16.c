/*
** Packed blocks of bfloat16 by VDPBF16PS: the float32 tile's shape, with two
** steps of k at a time instead of one, so twice its speed where the instruction
** costs what a multiply-add does. Every lane adds its odd product first, then
** its even one, each rounded.
*/
#include "kernel/matmul/muladd.h"
#include "simd/permute/interleave16.h"

#ifdef H16_LANES
#include "simd/permute/transpose.h"

#define IS_BF16 1
#define MR 14
#define NR 32
#define LANES (H16_LANES / 2)
#define KC 1024    /* B passes from the second cache; 800 is 4 to 9 % slower */

#define NAME(x) x##_a
#define PANEL MR
#include "kernel/matmul/gemm_extension_pack.inc"
#undef NAME
#define NAME(x) x##_b
#define PANEL NR
#include "kernel/matmul/gemm_extension_pack.inc"
#undef NAME
#include "kernel/matmul/gemm_extension.inc"

/* The table entries: panels of 14 rows and of 32 columns. */
static void pack_a(void *dst, const void *src, int64_t rs, int64_t cs,
                   int64_t m, int64_t k, bool conj)
{
    int64_t pairs = (k + 1) / 2;
    for (int64_t i = 0; i < m; i += MR)
        panel_a((uint32_t *)dst + i * pairs, (const uint16_t *)src + i * rs, rs,
                cs, (int)(m - i < MR ? m - i : MR), k);
}

static void pack_b(void *dst, const void *src, int64_t rs, int64_t cs,
                   int64_t k, int64_t n, bool conj)
{
    int64_t pairs = (k + 1) / 2;
    for (int64_t j = 0; j < n; j += NR)
        panel_b((uint32_t *)dst + j * pairs, (const uint16_t *)src + j * cs, cs,
                rs, (int)(n - j < NR ? n - j : NR), k);
}

/* The operands and the destination of one tile. */
typedef struct tile_job {
    int64_t pairs;
    const uint32_t *a, *b;
    float *c;
    int64_t ldc;
    bool add;
    la_bf16 *out;        /* not NULL: 'cols' of each row end here, not in c */
    int64_t out_rs, cols;
} tile_job;

/* All sums are complete and plain: narrowed and stored from registers. */
ALWAYS void store_narrowed(const int mr, const int nv, f32v acc[][2],
                           const tile_job *j)
{
    la_bf16 *out = j->out;
    const int64_t rs = j->out_rs, cols = j->cols;
#pragma GCC unroll 16
    for (int i = 0; i < mr; i++, out += rs)
        h16_store_n(out, cols, bf16_from_sums(acc[i][0], acc[i][nv - 1]));
}

/* mr x nv vectors of sums over all of k; constants in every copy. */
ALWAYS void tile(const int mr, const int nv, const tile_job *j)
{
    f32v acc[MR][2];
    const uint32_t *a = j->a, *b = j->b;
#pragma GCC unroll 16
    for (int i = 0; i < mr; i++) acc[i][0] = acc[i][1] = (f32v){0};
    for (int64_t p = j->pairs; p > 0; p--, a += MR, b += NR) {
        h16v b0 = h16_load(b), b1 = nv > 1 ? h16_load(b + LANES) : b0;
#pragma GCC unroll 16
        for (int i = 0; i < mr; i++) {
            h16v x = h16_pair_to_all(a + i);
            acc[i][0] = bf16_dot_pairs(acc[i][0], x, b0);
            if (nv > 1) acc[i][1] = bf16_dot_pairs(acc[i][1], x, b1);
        }
    }
    if (j->out) {
        store_narrowed(mr, nv, acc, j);
        return;
    }
    float *c = j->c;
    const int64_t ldc = j->ldc;
    const bool add = j->add;
#pragma GCC unroll 16
    for (int i = 0; i < mr; i++, c += ldc)
#pragma GCC unroll 2
        for (int v = 0; v < nv; v++) {
            f32v x = acc[i][v];
            if (add) x += f32_load(c + v * LANES);
            f32_store(c + v * LANES, x);
        }
}

static void run_tile(int rows, int nv, const tile_job *j)
{
    switch (rows * 2 + nv - 1) {
#define ROW(n) \
    case 2 * n: tile(n, 1, j); return; \
    case 2 * n + 1: tile(n, 2, j); return;
    ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10)
    ROW(11) ROW(12) ROW(13) ROW(14)
#undef ROW
    }
}

/* The tile at (i, j): partial sums to g->part, plain results stored at once,
** all others through the epilogue. */
static void block_tile_bf16(const la_gemm_block *g, int64_t i, int64_t j)
{
    float sums[MR * NR];
    int64_t pairs = (g->k + 1) / 2;
    int rows = (int)(g->m - i < MR ? g->m - i : MR);
    int cols = (int)(g->n - j < NR ? g->n - j : NR);
    tile_job job = {.pairs = pairs, .a = (const uint32_t *)g->a + i * pairs,
                    .b = (const uint32_t *)g->b + j * pairs, .c = sums,
                    .ldc = NR};
    int nv = cols > LANES ? 2 : 1;
    if (g->part && !g->last && g->alpha.re == 1 && cols == nv * LANES) {
        job.c = g->part + i * g->part_rs + j;  /* sums stay float32 */
        job.ldc = g->part_rs;
        job.add = !g->first;
        run_tile(rows, nv, &job);
        return;
    }
    if (g->plain && g->first && g->last && g->out.cs == 1) {
        job.out = (la_bf16 *)g->out.data + i * g->out.rs + j;
        job.out_rs = g->out.rs;
        job.cols = cols;
        run_tile(rows, nv, &job);
        return;
    }
    run_tile(rows, nv, &job);
    finish_bf16(g, sums, i, j, rows, cols, 0);
}

#define TILE_M MR
#define TILE_N NR
#include "kernel/matmul/gemm_loop.inc"

const la_gemm_kernels LA_KERNEL(gemm_bf16) = {
    .mr = MR, .nr = NR, .packed_size = 2, .kc = KC, .has_part = true,
    .pack_a = pack_a, .pack_b = pack_b, .block = block_bf16,
    .mistakes = mistakes_bf16, .k_unit = 2
};
#else
const la_gemm_kernels LA_KERNEL(gemm_bf16) = {0};
#endif
