/*
** Which packed products run on an ISA extension (AVX512-BF16, AMX tiles; see
** kernel/matmul/gemm.h)?
**
** Only 16-bit floats, only where no operand holds a value that the instructions
** misread (a subnormal bfloat16 counts as zero), and tiles only after they have
** passed the self-test below.
*/
#include "op/matmul/gemm_extension.h"

#include <stdatomic.h>
#include <string.h>

#include "base/half.h"
#include "base/os/cpu.h"
#include "base/os/isa_extension.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/matmul/gemm_paths.h"

/* ---- self-test of the AMX tiles ---- */

/* Sizes that leave a remainder in every tile dim. */
enum { M = 35, N = 41, K = 70, SEEDS = 3 };
typedef struct self_test {
    uint16_t a[M * K], b[K * N], out[2][M * N];
    char scratch[1 << 16];
} self_test;

/* Small whole numbers, scaled: their sums are exact in any order. */
static void extension_fill(la_dtype t, uint16_t *p, int n, unsigned seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        float v = (float)((int)(seed >> 29) - 3) * 0.25f;
        p[i] = t == LA_FLOAT16 ? la_f32_to_f16(v).bits : la_f32_to_bf16(v).bits;
    }
}

/* A row with nothing but a subnormal half, which must count. */
static void fill_subnormal(self_test *w)
{
    uint16_t *row = w->a + (M - 1) * K;
    memset(row, 0, K * sizeof *row);
    row[K / 2] = la_f32_to_f16(0x1p-20f).bits;
}

/* Runs one product of small integers by the extension and by the plain kernels.
** NULL when the bits agree, else the reason to refuse the extension. */
static const char *test_product(const la_gemm_kernels *ext, la_dtype t,
                                self_test *w, unsigned seed)
{
    const la_gemm_kernels *ker[2] = {ext, la_gemm_kernels_of(t)};
    la_gemm g;
    la_gemm_init(&g, t);
    extension_fill(t, w->a, M * K, seed);
    extension_fill(t, w->b, K * N, seed + 1);
    if (t == LA_FLOAT16) fill_subnormal(w);
    g.m = M;
    g.n = N;
    g.k = K - seed % 2;
    g.a = (la_gemm_mat){(char *)w->a, K, 1};
    g.b = (la_gemm_mat){(char *)w->b, N, 1};
    for (int i = 0; i < 2; i++) {
        g.out = (la_gemm_mat){(char *)w->out[i], N, 1};
        if (la_gemm_packed_bytes(&g, ker[i]) > sizeof w->scratch
            || la_gemm_packed_in(&g, ker[i], w->scratch) || la_interrupted())
            return "the AMX tiles were not tried: interrupted";
    }
    return memcmp(w->out[0], w->out[1], sizeof w->out[0])
        ? "the AMX tiles gave a wrong product" : NULL;
}

/* No developer of this project has such a processor, so the code is proved
** where it runs: a few microseconds, once, before the first product. */
static const char *try_tiles(const la_gemm_kernels *ext, la_dtype t)
{
    self_test *w = la_mem_alloc(sizeof *w);
    const char *why = w ? NULL : "the AMX tiles were not tried: no memory";
    for (unsigned seed = 0; !why && seed < SEEDS; seed++)
        why = test_product(ext, t, w, seed);
    if (w) la_mem_free(w, sizeof *w);
    return why;
}

/* The self-test's verdict, computed once per extension. Two threads may compute
** it at the same time; the answers agree. */
static bool tiles_work(const la_gemm_kernels *ext, la_dtype t,
                       la_extension which)
{
    static atomic_int known[LA_NEXTENSIONS];  /* 0: not yet, 1: yes, -1: no */
    int answer = atomic_load(&known[which]);
    if (answer) return answer > 0;
    const char *why = try_tiles(ext, t);
    /* Refused for good: scratch was sized for the tables in use. */
    if (why) la_cpu_refuse_extensions(1u << which, why);
    atomic_store(&known[which], why ? -1 : 1);
    return !why;
}

/* ---- the choice ---- */

/* Found by cpuid and neither refused nor disabled by LUNARRAY_CPU. */
static bool in_use(la_extension which)
{
    return la_cpu_extensions() >> which & 1;
}

/* The tiles first: theirs is the higher throughput. */
const la_gemm_kernels *la_gemm_extension_of(la_dtype t)
{
    const la_gemm_kernels *tiles = NULL;
    if (t == LA_BFLOAT16 && in_use(LA_EXTENSION_AMX)) tiles = &la_amx_gemm_bf16;
    if (t == LA_FLOAT16 && in_use(LA_EXTENSION_AMX_FP16))
        tiles = &la_amx_gemm_f16;
    if (tiles && tiles->block
        && tiles_work(tiles, t, t == LA_FLOAT16 ? LA_EXTENSION_AMX_FP16
                                                : LA_EXTENSION_AMX))
        return tiles;
    if (t == LA_BFLOAT16 && in_use(LA_EXTENSION_AVX512_BF16)
        && la_avx512_bf16_gemm_bf16.block)
        return &la_avx512_bf16_gemm_bf16;
    return NULL;
}

unsigned la_gemm_extensions(void)
{
    la_gemm_extension_of(LA_BFLOAT16);
    la_gemm_extension_of(LA_FLOAT16);
    return la_cpu_extensions();
}

/* The operands are scanned for values that the extension misreads: the whole of
** both, so the choice does not depend on how the product is cut. */
const la_gemm_kernels *la_gemm_extension(const la_gemm *g,
                                         const la_gemm_kernels *ker)
{
    if (g->dtype != LA_BFLOAT16 && g->dtype != LA_FLOAT16) return ker;
    if (g->portable) return ker;
    const la_gemm_kernels *ext = la_gemm_extension_of(g->dtype);
    if (!ext) return ker;
    if (!ext->mistakes) return ext;
    if (ext->mistakes(g->a.data, g->a.rs, g->a.cs, g->m, g->k)) return ker;
    if (ext->mistakes(g->b.data, g->b.rs, g->b.cs, g->k, g->n)) return ker;
    return ext;
}
