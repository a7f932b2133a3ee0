/*
** GFLOP/s of matrix products over n, and of OpenBLAS and BLIS where they are
** installed, in one run: rounds of all contestants are interleaved and the
** best time of each counts. A line per result, as gemm_page.lua reads
** them: dtype, threads, n, who, GFLOP/s, nanoseconds. 'peak' is what a loop of
** independent multiply-adds of the widest vectors reaches. With TRANSPOSED set,
** products with transposed operands follow (aT, bT, aTbT). WHO names the one
** contestant to run: threads of another library may keep their processors.
**
**   gemm [threads [dtype [n ...]]]
*/
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/matmul/gemm.h"

typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *,
                         int, const float *, int, float, float *, int);
typedef void (*dgemm_fn)(int, int, int, int, int, int, double, const double *,
                         int, const double *, int, double, double *, int);
typedef void (*xgemm_fn)(int, int, int, int, int, int, const void *,
                         const void *, int, const void *, int, const void *,
                         void *, int);
typedef void (*threads_fn)(int);

typedef struct peer {
    const char *name;
    sgemm_fn s;
    dgemm_fn d;
    xgemm_fn c, z;
} peer;

static peer peers[3];
static int npeers;

/* One thread is timed by its own clock, which stops while others have the
** processor. */
static clockid_t timer = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec t;
    clock_gettime(timer, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void peer_open(const char *name, const char *file, const char *set,
                      int threads)
{
    const char *who = getenv("WHO");
    if (who && strcmp(who, name)) return;
    void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!lib) return;
    threads_fn set_threads = (threads_fn)dlsym(lib, set);
    if (set_threads) set_threads(threads);
    peers[npeers++] = (peer){name, (sgemm_fn)dlsym(lib, "cblas_sgemm"),
        (dgemm_fn)dlsym(lib, "cblas_dgemm"),
        (xgemm_fn)dlsym(lib, "cblas_cgemm"),
        (xgemm_fn)dlsym(lib, "cblas_zgemm")};
}

static void ours(la_dtype dtype, int n, char ta, char tb, void *a, void *b,
                 void *c)
{
    la_gemm g;
    la_gemm_init(&g, dtype);
    g.m = g.n = g.k = n;
    g.a = (la_gemm_mat){a, ta ? 1 : n, ta ? n : 1};
    g.b = (la_gemm_mat){b, tb ? 1 : n, tb ? n : 1};
    g.out = (la_gemm_mat){c, n, 1};
    if (la_gemm_run(&g)) puts("failed");
}

static void theirs(const peer *p, la_dtype dtype, int n, void *a, void *b,
                   void *c)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    static const float onef[2] = {1, 0}, zerof[2] = {0, 0};
    if (dtype == LA_FLOAT32)
        p->s(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
    else if (dtype == LA_FLOAT64)
        p->d(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
    else if (dtype == LA_COMPLEX64)
        p->c(101, 111, 111, n, n, n, onef, a, n, b, n, zerof, c, n);
    else if (dtype == LA_COMPLEX128)
        p->z(101, 111, 111, n, n, n, one, a, n, b, n, zero, c, n);
}

static double batch(int who, la_dtype dtype, int n, int reps, void *a,
                    void *b, void *c)
{
    double t = now();
    for (int i = 0; i < reps; i++) {
        if (who < npeers) theirs(&peers[who], dtype, n, a, b, c);
        else ours(dtype, n, (who - npeers) & 1, (who - npeers) >> 1, a, b, c);
    }
    return (now() - t) / reps;
}

static void fill(void *data, size_t bytes, la_dtype dtype)
{
    static uint64_t state = 88172645463325252u;
    size_t size = la_dtype_size(dtype), count = bytes / size;
    for (size_t i = 0; i < count * (la_is_complex(dtype) ? 2 : 1); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double v = (double)(state >> 40) / (1 << 24) - 0.5;
        if (dtype == LA_FLOAT64 || dtype == LA_COMPLEX128)
            ((double *)data)[i] = v;
        else if (dtype == LA_FLOAT16)
            ((la_f16 *)data)[i] = (la_f16){(uint16_t)(0x3000 + i % 512)};
        else if (dtype == LA_BFLOAT16)
            ((la_bf16 *)data)[i] = (la_bf16){(uint16_t)(0x3f00 + i % 64)};
        else
            ((float *)data)[i] = (float)v;
    }
}

static void measure(la_dtype dtype, int n, bool transposed)
{
    size_t bytes = (size_t)n * (size_t)n * la_dtype_size(dtype);
    void *a = la_mem_alloc(bytes + 64), *b = la_mem_alloc(bytes + 64);
    void *c = la_mem_alloc(bytes + 64);
    double best[8], flops = 2.0 * n * n * n * (la_is_complex(dtype) ? 4 : 1);
    int count = npeers + (transposed ? 4 : 1);
    int skip = dtype < LA_FLOAT32 ? npeers : 0;
    const char *who = getenv("WHO");
    if (who && strcmp(who, "lunarray")) count = npeers;
    fill(a, bytes, dtype);
    fill(b, bytes, dtype);
    int reps = (int)(2e6 / (flops / 50 + 50)) + 1;
    for (int w = 0; w < count; w++)
        best[w] = 1e30;
    double stop = now() + 2e8 + 4 * flops / 50 * count;
    for (int round = 0; round < 4 || now() < stop; round++)
        for (int w = skip; w < count; w++) {
            double t = batch(w, dtype, n, reps, a, b, c);
            if (t < best[w]) best[w] = t;
        }
    for (int w = skip; w < count; w++)
        printf("%s %d %d %s %.2f %.0f\n", la_dtype_name(dtype),
               la_num_threads(), n, w < npeers ? peers[w].name
               : (const char *[]){"lunarray", "aT", "bT", "aTbT"}[w - npeers],
               flops / best[w], best[w]);
    fflush(stdout);
    la_mem_free(a, bytes + 64);
    la_mem_free(b, bytes + 64);
    la_mem_free(c, bytes + 64);
}

#if defined(__x86_64__)
typedef float lanes8 __attribute__((vector_size(32)));
typedef float lanes16 __attribute__((vector_size(64)));
enum { SUMS = 12 };

/* Sums that do not wait for each other, in a loop that loads nothing. */
#define FMA_LOOP(name, lanes, isa) \
    __attribute__((target(isa), optimize("fp-contract=fast"))) \
    static float name(int64_t passes) \
    { \
        lanes a[SUMS], x = {1e-3f, 1e-3f}, y = {0.5f}; \
        for (int i = 0; i < SUMS; i++) a[i] = x; \
        for (int64_t t = 0; t < passes; t++) { \
            _Pragma("GCC unroll 12") \
            for (int i = 0; i < SUMS; i++) a[i] = a[i] * x + y; \
            __asm__ volatile("" : "+v"(x), "+v"(y)); \
        } \
        for (int i = 1; i < SUMS; i++) a[0] += a[i]; \
        return a[0][0] + a[0][1]; \
    }
FMA_LOOP(fma_avx2, lanes8, "avx2,fma")
FMA_LOOP(fma_avx512, lanes16, "avx512f,avx512vl")

/* Of the widest vectors: one thread, times the number of threads. */
static void peak(la_dtype dtype)
{
    double best = 1e30;
    volatile float sink = 0;
    bool wide = __builtin_cpu_supports("avx512vl");
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return;
    for (int round = 0; round < 60; round++) {
        double t = now();
        sink += wide ? fma_avx512(200000) : fma_avx2(200000);
        t = now() - t;
        if (t < best) best = t;
    }
    double lanes_of = (la_dtype_to_real(dtype) == LA_FLOAT64 ? 4 : 8)
        * (wide ? 2 : 1);
    printf("%s %d 0 peak %.2f 0\n", la_dtype_name(dtype), la_num_threads(),
           200000.0 * SUMS * 2 * lanes_of / best * la_num_threads());
}
#else
static void peak(la_dtype dtype) { (void)dtype; }
#endif

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    la_dtype dtype = argc > 2 ? la_dtype_parse(argv[2], strlen(argv[2]))
                              : LA_FLOAT32;
    bool transposed = getenv("TRANSPOSED") != NULL;
    if (threads == 1) timer = CLOCK_THREAD_CPUTIME_ID;
    la_set_num_threads(threads);
    peer_open("openblas", "libopenblas.so.0", "openblas_set_num_threads",
              threads);
    peer_open("blis", "libblis.so.4", "bli_thread_set_num_threads", threads);
    if (!npeers || !getenv("WHO")) peak(dtype);
    for (int i = 3; i < argc; i++)
        measure(dtype, atoi(argv[i]), transposed);
    return 0;
}
