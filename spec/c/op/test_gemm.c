/*
** Matrix products against a naive reference: every size from 0 to 40 with
** layouts in rotation, every dtype, epilogue, guard pages, threads, error
** bound. Integer-valued data makes sums exact in every dtype, so results are
** compared for equality.
*/
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/matmul/gemm.h"

static const la_dtype dtypes[] = {
    LA_FLOAT32, LA_FLOAT64, LA_COMPLEX64, LA_COMPLEX128, LA_FLOAT16,
    LA_BFLOAT16, LA_UINT8, LA_INT8, LA_UINT16, LA_INT16, LA_UINT32, LA_INT32,
    LA_UINT64, LA_INT64};
enum { NDTYPES = sizeof dtypes / sizeof *dtypes };

static uint64_t seed = 20240607;
static int pick(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

/* ---- elements of any dtype ---- */

static void put(la_dtype t, char *p, double re, double im)
{
    switch (t) {
    case LA_FLOAT32: *(float *)p = (float)re; return;
    case LA_FLOAT64: *(double *)p = re; return;
    case LA_COMPLEX64: ((float *)p)[0] = (float)re;
        ((float *)p)[1] = (float)im; return;
    case LA_COMPLEX128: ((double *)p)[0] = re; ((double *)p)[1] = im; return;
    case LA_FLOAT16: *(la_f16 *)p = la_f32_to_f16((float)re); return;
    case LA_BFLOAT16: *(la_bf16 *)p = la_f32_to_bf16((float)re); return;
    default: {
        int64_t v = (int64_t)re;
        memcpy(p, &v, la_dtype_size(t));
    }
    }
}

static double get(la_dtype t, const char *p, int part)
{
    switch (t) {
    case LA_FLOAT32: return part ? 0 : *(const float *)p;
    case LA_FLOAT64: return part ? 0 : *(const double *)p;
    case LA_COMPLEX64: return ((const float *)p)[part];
    case LA_COMPLEX128: return ((const double *)p)[part];
    case LA_FLOAT16: return part ? 0 : la_f16_to_f32(*(const la_f16 *)p);
    case LA_BFLOAT16: return part ? 0 : la_bf16_to_f32(*(const la_bf16 *)p);
    case LA_UINT8: return part ? 0 : *(const uint8_t *)p;
    case LA_INT8: return part ? 0 : *(const int8_t *)p;
    case LA_UINT16: return part ? 0 : *(const uint16_t *)p;
    case LA_INT16: return part ? 0 : *(const int16_t *)p;
    case LA_UINT32: return part ? 0 : *(const uint32_t *)p;
    case LA_INT32: return part ? 0 : *(const int32_t *)p;
    case LA_UINT64: return part ? 0 : (double)*(const uint64_t *)p;
    default: return part ? 0 : (double)*(const int64_t *)p;
    }
}

/* ---- matrices inside guard bytes ---- */

typedef struct matrix {
    char *block, *data;
    int64_t rows, cols, rs, cs, elements;
} matrix;

enum { LAYOUTS = 6 };  /* row, column, both padded, strided, reversed */

static void strides(matrix *m, int layout)
{
    int64_t r = m->rows, c = m->cols;
    switch (layout) {
    case 0: m->rs = c; m->cs = 1; break;
    case 1: m->rs = 1; m->cs = r; break;
    case 2: m->rs = c + 3; m->cs = 1; break;
    case 3: m->rs = 1; m->cs = r + 5; break;
    case 4: m->rs = 2 * c + 1; m->cs = 2; break;
    default: m->rs = -c; m->cs = 1; break;
    }
}

static matrix matrix_new(la_dtype t, int64_t rows, int64_t cols, int layout)
{
    matrix m = {.rows = rows, .cols = cols};
    int64_t size = (int64_t)la_dtype_size(t);
    strides(&m, layout);
    m.elements = (rows + 1) * (2 * cols + 6) + (cols + 1) * (rows + 6);
    m.block = calloc((size_t)m.elements + 1, (size_t)size);
    m.data = m.block + (layout == 5 ? (rows > 0 ? (rows - 1) * cols : 0) : 0)
        * size;
    return m;
}

static char *cell(la_dtype t, const matrix *m, int64_t i, int64_t j)
{
    return m->data + (i * m->rs + j * m->cs) * (int64_t)la_dtype_size(t);
}

static void matrix_fill(la_dtype t, matrix *m)
{
    int low = la_dtype_kind(t) == 'u' ? 0 : -2;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->cols; j++)
            put(t, cell(t, m, i, j), low + pick(5), low + pick(5));
}

static void reference(la_dtype t, const matrix *a, const matrix *b,
                      int64_t i, int64_t j, double out[2])
{
    out[0] = out[1] = 0;
    for (int64_t p = 0; p < a->cols; p++) {
        const char *x = cell(t, a, i, p), *y = cell(t, b, p, j);
        double xr = get(t, x, 0), yr = get(t, y, 0);
        out[0] += xr * yr;
        if (!la_is_complex(t)) continue;
        double xi = get(t, x, 1), yi = get(t, y, 1);
        out[0] -= xi * yi;
        out[1] += xr * yi + xi * yr;
    }
}

/* Wrap the exact value as the dtype would. */
static double wrapped(la_dtype t, double v)
{
    char bytes[16] = {0};
    put(t, bytes, v, 0);
    return get(t, bytes, 0);
}

static la_gemm gemm_of(la_dtype t, matrix *a, matrix *b, matrix *c)
{
    la_gemm g;
    la_gemm_init(&g, t);
    g.m = a->rows;
    g.n = b->cols;
    g.k = a->cols;
    g.a = (la_gemm_mat){a->data, a->rs, a->cs};
    g.b = (la_gemm_mat){b->data, b->rs, b->cs};
    g.out = (la_gemm_mat){c->data, c->rs, c->cs};
    return g;
}

static void compare(la_dtype t, const la_gemm *g, matrix *a, matrix *b,
                    matrix *c, const matrix *old)
{
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) {
            double want[2];
            reference(t, a, b, i, j, want);
            for (int part = 0; part < 1 + la_is_complex(t); part++) {
                double w = g->alpha.re * want[part];
                if (old) w += g->beta.re * get(t, cell(t, old, i, j), part);
                double got = get(t, cell(t, c, i, j), part);
                if (got == wrapped(t, w)) continue;
                fail_msg("%s m=%d n=%d k=%d at %d,%d strides %d %d, %d %d, "
                         "%d %d: got %g want %g", la_dtype_name(t),
                         (int)c->rows, (int)c->cols, (int)a->cols, (int)i,
                         (int)j, (int)a->rs, (int)a->cs, (int)b->rs,
                         (int)b->cs, (int)c->rs, (int)c->cs, got, w);
            }
        }
}

/* Layouts cycle with the case number; every fourth case has alpha and beta. */
static void one_case(la_dtype t, int m, int n, int k, int number)
{
    matrix a = matrix_new(t, m, k, number % LAYOUTS);
    matrix b = matrix_new(t, k, n, number / LAYOUTS % LAYOUTS);
    matrix c = matrix_new(t, m, n, number / LAYOUTS / LAYOUTS % LAYOUTS);
    matrix d = matrix_new(t, m, n, pick(LAYOUTS));
    matrix_fill(t, &a);
    matrix_fill(t, &b);
    matrix_fill(t, &d);
    bool more = number % 4 == 0;
    la_gemm g = gemm_of(t, &a, &b, &c);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            put(t, cell(t, &c, i, j), la_is_float(t) ? NAN : 7, 7);
    if (more) {
        g.alpha = (la_gemm_scalar){2, 0, 2};
        g.beta = (la_gemm_scalar){3, 0, 3};
        g.add = (la_gemm_mat){d.data, d.rs, d.cs};
    }
    assert_int_equal(la_gemm_run(&g), LA_OK);
    compare(t, &g, &a, &b, &c, more ? &d : NULL);
    free(a.block);
    free(b.block);
    free(c.block);
    free(d.block);
}

static void all_small_sizes(void **state)
{
    int number = 0;
    for (int m = 0; m <= 40; m++)
        for (int n = 0; n <= 40; n++)
            for (int k = 0; k <= 40; k++, number++) {
                one_case(LA_FLOAT32, m, n, k, number);
                if (number % 4 == 1) one_case(LA_FLOAT64, m, n, k, number / 4);
            }
}

static void every_dtype(void **state)
{
    for (int t = 0; t < NDTYPES; t++)
        for (int number = 0; number < 2000; number++)
            one_case(dtypes[t], pick(41), pick(41), pick(41), number);
}

static void every_layout(void **state)
{
    static const int sizes[][3] = {{1, 1, 1}, {1, 33, 40}, {33, 1, 40},
        {7, 9, 17}, {16, 16, 16}, {13, 40, 1}, {40, 23, 31}, {2, 3, 300}};
    for (int t = 0; t < NDTYPES; t++)
        for (int number = 0; number < 4 * LAYOUTS * LAYOUTS * LAYOUTS;
             number++) {
            const int *s = sizes[pick(8)];
            one_case(dtypes[t], s[0], s[1], s[2], number);
        }
}

static void larger_sizes(void **state)
{
    static const int sizes[][3] = {{300, 300, 10}, {256, 256, 256},
        {61, 1100, 33}, {1, 3000, 70}, {3000, 1, 70}, {1, 1, 5000},
        {5, 7, 600}, {230, 250, 257}};
    for (int t = 0; t < NDTYPES; t++)
        for (int s = 0; s < 8; s++) {
            /* sums must stay exact in a 16-bit float */
            if (dtypes[t] == LA_BFLOAT16 && sizes[s][2] > 60) continue;
            if (dtypes[t] == LA_FLOAT16 && sizes[s][2] > 300) continue;
            one_case(dtypes[t], sizes[s][0], sizes[s][1], sizes[s][2],
                     pick(216));
        }
}

/* ---- special values ---- */

static void beta_zero_ignores(void **state)
{
    float a[4] = {1, 2, 3, 4}, b[4] = {1, 0, 0, 1}, c[4];
    for (int i = 0; i < 4; i++) c[i] = NAN;
    matrix ma = {NULL, (char *)a, 2, 2, 2, 1, 4}, mb = ma, mc = ma;
    mb.data = (char *)b;
    mc.data = (char *)c;
    la_gemm g = gemm_of(LA_FLOAT32, &ma, &mb, &mc);
    assert_int_equal(la_gemm_run(&g), LA_OK);
    assert_memory_equal(a, c, sizeof c);
}

static void specials_propagate(void **state)
{
    enum { N = 70 };
    static float a[N * N], b[N * N], c[N * N];
    matrix ma = {NULL, (char *)a, N, N, N, 1, N * N}, mb = ma, mc = ma;
    mb.data = (char *)b;
    mc.data = (char *)c;
    for (int i = 0; i < N * N; i++) a[i] = b[i] = 1;
    a[3 * N + 5] = NAN;
    a[4 * N + 6] = INFINITY;
    b[7 * N + 8] = -INFINITY;
    la_gemm g = gemm_of(LA_FLOAT32, &ma, &mb, &mc);
    assert_int_equal(la_gemm_run(&g), LA_OK);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float v = c[i * N + j];
            if (i == 3 || (i == 4 && j == 8)) assert_true(isnan(v));
            else if (i == 4) assert_true(v == INFINITY);
            else if (j == 8) assert_true(v == -INFINITY);
            else assert_true(v == N);
        }
}

static void denormals_and_huge(void **state)
{
    double a[9], b[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, c[9];
    static const double v[9] = {5e-324, 1e-310, 2.2e-308, 1.7e308, -1.7e308,
                                -5e-324, 1e300, 1e-300, -0.0};
    memcpy(a, v, sizeof a);
    matrix ma = {NULL, (char *)a, 3, 3, 3, 1, 9}, mb = ma, mc = ma;
    mb.data = (char *)b;
    mc.data = (char *)c;
    la_gemm g = gemm_of(LA_FLOAT64, &ma, &mb, &mc);
    assert_int_equal(la_gemm_run(&g), LA_OK);
    for (int i = 0; i < 9; i++) assert_true(a[i] == c[i]);
}

/* ---- error bound, threads ---- */

static void random_fill(float *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = (float)(pick(1 << 24) - (1 << 23)) / (1 << 23);
}

static void error_is_bounded(void **state)
{
    enum { M = 20, N = 30, K = 3000 };
    float *a = malloc(M * K * 4), *b = malloc(K * N * 4), c[M * N];
    matrix ma = {NULL, (char *)a, M, K, K, 1, M * K};
    matrix mb = {NULL, (char *)b, K, N, N, 1, K * N};
    matrix mc = {NULL, (char *)c, M, N, N, 1, M * N};
    random_fill(a, M * K);
    random_fill(b, K * N);
    la_gemm g = gemm_of(LA_FLOAT32, &ma, &mb, &mc);
    assert_int_equal(la_gemm_run(&g), LA_OK);
    double terms = LA_GEMM_KC + (double)(K / LA_GEMM_KC + 1);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, size = 0;
            for (int p = 0; p < K; p++) {
                double x = (double)a[i * K + p] * b[p * N + j];
                sum += x;
                size += fabs(x);
            }
            assert_true(fabs(c[i * N + j] - sum) <= terms * 0x1p-24 * size);
        }
    free(a);
    free(b);
}

static void run_with(int threads, la_gemm *g)
{
    la_set_num_threads(threads);
    assert_int_equal(la_gemm_run(g), LA_OK);
}

static void same_bits(int m, int n, int k, int ta, int tb)
{
    size_t bytes = (size_t)m * (size_t)n * 4;
    float *a = malloc((size_t)m * (size_t)k * 4), *c = malloc(bytes);
    float *b = malloc((size_t)n * (size_t)k * 4), *d = malloc(bytes);
    random_fill(a, (int64_t)m * k);
    random_fill(b, (int64_t)n * k);
    matrix ma = {NULL, (char *)a, m, k, ta ? 1 : k, ta ? m : 1, 0};
    matrix mb = {NULL, (char *)b, k, n, tb ? 1 : n, tb ? k : 1, 0};
    matrix mc = {NULL, (char *)c, m, n, n, 1, 0};
    la_gemm g = gemm_of(LA_FLOAT32, &ma, &mb, &mc);
    int old = la_num_threads();
    run_with(1, &g);
    static const int counts[] = {2, 3, 7};
    for (int i = 0; i < 3; i++) {
        g.out.data = (char *)d;
        run_with(counts[i], &g);
        assert_memory_equal(c, d, bytes);
    }
    /* a part of the result has the bits of the whole: blocking is unseen */
    if (m > 2 && n > 20) {
        g.m = m / 2;
        g.n = n - 3;
        run_with(1, &g);
        for (int i = 0; i < m / 2; i++)
            assert_memory_equal(c + i * n, d + i * n, (size_t)(n - 3) * 4);
    }
    la_set_num_threads(old);
    free(a);
    free(b);
    free(c);
    free(d);
}

static void threads_do_not_change_bits(void **state)
{
    static const int sizes[][3] = {{64, 64, 64}, {300, 200, 700}, {1, 5000,
        900}, {5000, 1, 900}, {40, 3000, 50}, {3000, 40, 300}, {9, 17, 5000},
        {1, 1, 300001}, {150, 640, 401}, {2, 1, 40000}};
    for (int s = 0; s < 10; s++)
        for (int t = 0; t < 4; t++)
            same_bits(sizes[s][0], sizes[s][1], sizes[s][2], t & 1, t >> 1);
}

/* Cut between rows (columns) for two threads, blocks of k, an addend, a bias:
** as with one thread, and the right values. Sums are small, so every dtype
** holds them exactly. */
static void parts_keep_the_epilogue(la_dtype t, int m, int n, int k)
{
    matrix a = matrix_new(t, m, k, 0), b = matrix_new(t, k, n, 1);
    matrix c = matrix_new(t, m, n, 0), d = matrix_new(t, m, n, 3);
    matrix bias = matrix_new(t, 1, n, 0);
    matrix_fill(t, &d);
    matrix_fill(t, &bias);
    for (int i = 0; i < m * k; i += 7)
        put(t, a.data + i * (int)la_dtype_size(t), i % 3 - 1, 0);
    matrix_fill(t, &b);
    la_gemm g = gemm_of(t, &a, &b, &c);
    g.alpha = g.beta = (la_gemm_scalar){2, 0, 2};
    g.add = (la_gemm_mat){d.data, d.rs, d.cs};
    g.bias = (la_gemm_mat){bias.data, 0, 1};
    size_t bytes = (size_t)(m * n) * la_dtype_size(t);
    char *one = malloc(bytes);
    int old = la_num_threads();
    run_with(1, &g);
    memcpy(one, c.data, bytes);
    memset(c.data, 0xff, bytes);
    run_with(2, &g);
    assert_memory_equal(one, c.data, bytes);
    la_set_num_threads(old);
    for (int i = 0; i < m; i += 3)
        for (int j = 0; j < n; j++) {
            double want[2];
            reference(t, &a, &b, i, j, want);
            double w = 2 * want[0] + 2 * get(t, cell(t, &d, i, j), 0)
                + get(t, cell(t, &bias, 0, j), 0);
            assert_true(get(t, cell(t, &c, i, j), 0) == wrapped(t, w));
        }
    free(one);
    free(a.block);
    free(b.block);
    free(c.block);
    free(d.block);
    free(bias.block);
}

static void parts_are_the_whole(void **state)
{
    static const la_dtype list[] = {LA_FLOAT32, LA_FLOAT64, LA_FLOAT16,
                                    LA_COMPLEX64, LA_INT32};
    for (int i = 0; i < 5; i++) {
        parts_keep_the_epilogue(list[i], 140, 100, 420);
        parts_keep_the_epilogue(list[i], 70, 256, 410);
    }
}

/* ---- nothing outside is touched ---- */

/* 'bytes' that end at a page that may not be touched. */
static char *guarded(size_t bytes, char **base, size_t *mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = (bytes + page - 1) / page * page;
    *mapped = body + 2 * page;
    *base = mmap(NULL, *mapped, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(*base != MAP_FAILED);
    mprotect(*base, page, PROT_NONE);
    mprotect(*base + page + body, page, PROT_NONE);
    return *base + page + body - bytes;
}

static void guard_case(la_dtype t, int m, int n, int k, int ta, int tb,
                       bool at_start)
{
    size_t size = la_dtype_size(t), mapped[3], page = 4096;
    char *base[3], *p[3];
    size_t bytes[3] = {(size_t)(m * k) * size, (size_t)(k * n) * size,
                       (size_t)(m * n) * size};
    for (int i = 0; i < 3; i++) {
        p[i] = guarded(bytes[i], &base[i], &mapped[i]);
        if (at_start) p[i] = base[i] + page;
    }
    matrix a = {NULL, p[0], m, k, ta ? 1 : k, ta ? m : 1, 0};
    matrix b = {NULL, p[1], k, n, tb ? 1 : n, tb ? k : 1, 0};
    matrix c = {NULL, p[2], m, n, n, 1, 0};
    matrix_fill(t, &a);
    matrix_fill(t, &b);
    la_gemm g = gemm_of(t, &a, &b, &c);
    assert_int_equal(la_gemm_run(&g), LA_OK);
    compare(t, &g, &a, &b, &c, NULL);
    for (int i = 0; i < 3; i++) munmap(base[i], mapped[i]);
}

/* Rows of small products, of which each operand may be one for all. */
static void guard_batch(la_dtype t, int m, int n, int k, int count, int shared)
{
    size_t size = la_dtype_size(t), mapped[3];
    int64_t each[3] = {m * k, k * n, m * n}, batch = count, step[3];
    char *base[3], *p[3];
    for (int i = 0; i < 3; i++) {
        step[i] = shared >> i & 1 ? 0 : each[i];
        size_t bytes = (size_t)(each[i] + (batch - 1) * step[i]) * size;
        p[i] = guarded(bytes, &base[i], &mapped[i]);
    }
    matrix a = {NULL, p[0], m * (step[0] ? count : 1), k, k, 1, 0};
    matrix b = {NULL, p[1], k * (step[1] ? count : 1), n, n, 1, 0};
    matrix c = {NULL, p[2], m, n, n, 1, 0};
    matrix_fill(t, &a);
    matrix_fill(t, &b);
    a.rows = m;
    b.rows = k;
    la_gemm g = gemm_of(t, &a, &b, &c);
    g.nbatch = 1;
    g.batch = &batch;
    g.a_step = &step[0];
    g.b_step = &step[1];
    g.out_step = &step[2];
    assert_int_equal(la_gemm_run(&g), LA_OK);
    for (int i = 0; i < count; i++) {
        matrix x = a, y = b, z = c;
        x.data += i * step[0] * (int64_t)size;
        y.data += i * step[1] * (int64_t)size;
        z.data += i * step[2] * (int64_t)size;
        compare(t, &g, &x, &y, &z, NULL);
    }
    for (int i = 0; i < 3; i++) munmap(base[i], mapped[i]);
}

static void guard_pages_hold_for_batches(void **state)
{
    for (int t = 0; t < NDTYPES; t++)
        for (int number = 0; number < 400; number++)
            guard_batch(dtypes[t], 1 + pick(5), 1 + pick(5), 1 + pick(5),
                        1 + pick(40), number & 3);
}

static void guard_pages_hold(void **state)
{
    for (int t = 0; t < NDTYPES; t++)
        for (int number = 0; number < 300; number++)
            guard_case(dtypes[t], 1 + pick(35), 1 + pick(35), 1 + pick(35),
                       number & 1, number >> 1 & 1, number & 4);
}

/* ---- epilogue, batches, failures ---- */

static void epilogue_in_one_pass(void **state)
{
    enum { M = 33, N = 45, K = 300 };
    static double a[M * K], b[K * N], c[M * N], bias[N], add[M * N];
    matrix ma = {NULL, (char *)a, M, K, K, 1, 0};
    matrix mb = {NULL, (char *)b, K, N, N, 1, 0};
    matrix mc = {NULL, (char *)c, M, N, N, 1, 0};
    matrix_fill(LA_FLOAT64, &ma);
    matrix_fill(LA_FLOAT64, &mb);
    for (int j = 0; j < N; j++) bias[j] = j - 20;
    for (int i = 0; i < M * N; i++) add[i] = i % 17;
    la_gemm g = gemm_of(LA_FLOAT64, &ma, &mb, &mc);
    g.bias = (la_gemm_mat){(char *)bias, 0, 1};
    g.add = (la_gemm_mat){(char *)add, N, 1};
    g.beta = (la_gemm_scalar){2, 0, 2};
    assert_int_equal(la_gemm_run(&g), LA_OK);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double want[2];
            reference(LA_FLOAT64, &ma, &mb, i, j, want);
            assert_true(c[i * N + j]
                        == want[0] + 2 * add[i * N + j] + bias[j]);
        }
}

static void batches_are_products(void **state)
{
    enum { B0 = 3, B1 = 5, M = 9, N = 11, K = 13 };
    static float a[B0 * M * K], b[B1 * K * N], c[B0 * B1 * M * N];
    random_fill(a, B0 * M * K);
    random_fill(b, B1 * K * N);
    matrix ma = {NULL, (char *)a, M, K, K, 1, 0};
    matrix mb = {NULL, (char *)b, K, N, N, 1, 0};
    matrix mc = {NULL, (char *)c, M, N, N, 1, 0};
    int64_t batch[2] = {B0, B1}, as[2] = {M * K, 0}, bs[2] = {0, K * N};
    int64_t cs[2] = {B1 * M * N, M * N};
    la_gemm g = gemm_of(LA_FLOAT32, &ma, &mb, &mc);
    g.nbatch = 2;
    g.batch = batch;
    g.a_step = as;
    g.b_step = bs;
    g.out_step = cs;
    assert_int_equal(la_gemm_run(&g), LA_OK);
    for (int x = 0; x < B0 * B1; x++) {
        float d[M * N];
        matrix md = {NULL, (char *)d, M, N, N, 1, 0};
        ma.data = (char *)(a + x / B1 * M * K);
        mb.data = (char *)(b + x % B1 * K * N);
        la_gemm one = gemm_of(LA_FLOAT32, &ma, &mb, &md);
        assert_int_equal(la_gemm_run(&one), LA_OK);
        assert_memory_equal(d, c + x * M * N, sizeof d);
    }
}

static void no_memory_no_change(void **state)
{
    enum { N = 400 };
    float *a = calloc(N * N, 4), *c = calloc(N * N, 4);
    matrix ma = {NULL, (char *)a, N, N, N, 1, 0}, mc = ma;
    mc.data = (char *)c;
    la_gemm g = gemm_of(LA_FLOAT32, &ma, &ma, &mc);
    for (int i = 0; i < N * N; i++) c[i] = 5;
    la_mem_fail_at(1, true);
    assert_int_equal(la_gemm_run(&g), LA_ENOMEM);
    la_mem_fail_at(0, false);
    for (int i = 0; i < N * N; i++) assert_true(c[i] == 5);
    free(a);
    free(c);
}

static void bool_is_refused(void **state)
{
    la_gemm g;
    la_gemm_init(&g, LA_BOOL);
    assert_int_equal(la_gemm_run(&g), LA_EDTYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_small_sizes),
        cmocka_unit_test(every_dtype),
        cmocka_unit_test(every_layout),
        cmocka_unit_test(larger_sizes),
        cmocka_unit_test(beta_zero_ignores),
        cmocka_unit_test(specials_propagate),
        cmocka_unit_test(denormals_and_huge),
        cmocka_unit_test(error_is_bounded),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(guard_pages_hold),
        cmocka_unit_test(guard_pages_hold_for_batches),
        cmocka_unit_test(epilogue_in_one_pass),
        cmocka_unit_test(batches_are_products),
        cmocka_unit_test(no_memory_no_change),
        cmocka_unit_test(bool_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
