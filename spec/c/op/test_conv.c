/*
** Convolutions against their definition: every stride, padding, dilation and
** kernel size up to 3 (and some of 5) with sizes, channels, groups, layouts and
** dtypes in rotation, operands that end at guard pages, threads, allocations
** that fail. Integer-valued data makes sums exact, so results are compared for
** equality.
*/
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
#include "op/conv/engine.h"

static uint64_t seed = 20250311;
static int pick(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static void put(la_dtype t, char *p, double v)
{
    switch (t) {
    case LA_FLOAT32: *(float *)p = (float)v; return;
    case LA_FLOAT64: *(double *)p = v; return;
    case LA_BFLOAT16: *(la_bf16 *)p = la_f32_to_bf16((float)v); return;
    case LA_COMPLEX64: ((float *)p)[0] = (float)v; ((float *)p)[1] = 0; return;
    default: { int32_t i = (int32_t)v; memcpy(p, &i, 4); }
    }
}

static double get(la_dtype t, const char *p)
{
    switch (t) {
    case LA_FLOAT32: case LA_COMPLEX64: return *(const float *)p;
    case LA_FLOAT64: return *(const double *)p;
    case LA_BFLOAT16: return la_bf16_to_f32(*(const la_bf16 *)p);
    default: return *(const int32_t *)p;
    }
}

/* ---- memory that ends, or begins, where nothing may be touched ---- */

typedef struct guarded {
    char *base, *data;
    size_t mapped;
} guarded;

static guarded guarded_new(int64_t count, la_dtype t)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)count * la_dtype_size(t);
    size_t body = (bytes + page - 1) / page * page;
    guarded g = {.mapped = body + 2 * page};
    g.base = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.base != MAP_FAILED);
    mprotect(g.base, page, PROT_NONE);
    mprotect(g.base + page + body, page, PROT_NONE);
    g.data = g.base + page + (pick(3) ? body - bytes : 0);
    return g;
}

static void guarded_free(guarded *g) { munmap(g->base, g->mapped); }

/* ---- one case ---- */

typedef struct image {     /* batch, channels, three dims */
    guarded mem;
    int64_t size[5], step[5], count;
} image;

/* layout 0: contiguous; 1: channels last */
static image image_new(la_dtype t, const int64_t size[5], int layout)
{
    static const int orders[2][5] = {{4, 3, 2, 1, 0}, {1, 4, 3, 2, 0}};
    image m = {.count = 1};
    memcpy(m.size, size, sizeof m.size);
    for (int k = 0; k < 5; k++) {
        int d = orders[layout][k];
        m.step[d] = m.count;
        m.count *= size[d];
    }
    m.mem = guarded_new(m.count, t);
    return m;
}

static void fill(la_dtype t, char *p, int64_t n)
{
    int64_t size = (int64_t)la_dtype_size(t);
    for (int64_t i = 0; i < n; i++) put(t, p + i * size, pick(7) - 3);
}

static int64_t offset_of(const image *m, int64_t n, int64_t c,
                         const int64_t *at)
{
    return n * m->step[0] + c * m->step[1] + at[0] * m->step[2]
        + at[1] * m->step[3] + at[2] * m->step[4];
}

/* Every product of an element of x and one of the weight, added to y (0); or of
** y and weight to x (1); or of x and y to the weight (2). */
static void all_products(const la_conv *c, const image *x, const image *y,
                         double *to, const double *a, const double *b,
                         int which)
{
    int64_t taps = la_conv_taps(c), p[3], q[3];
    int64_t outs = c->w[0].out * c->w[1].out * c->w[2].out;
    for (int64_t n = 0; n < c->batch; n++)
        for (int64_t o = 0; o < c->oc * c->groups; o++)
            for (int64_t at = 0; at < outs; at++)
                for (int64_t k = 0; k < c->ic * taps; k++) {
                    int64_t t = k % taps, i = k / taps, r = at;
                    bool in = true;
                    for (int d = 2; d >= 0; d--) {
                        const la_window *w = &c->w[d];
                        p[d] = r % w->out;
                        r /= w->out;
                        q[d] = p[d] * w->stride - w->pad
                            + t % w->kernel * w->dilation;
                        t /= w->kernel;
                        in = in && q[d] >= 0 && q[d] < w->in;
                    }
                    if (!in) continue;
                    int64_t xi = offset_of(x, n, o / c->oc * c->ic + i, q);
                    int64_t yi = offset_of(y, n, o, p);
                    int64_t wi = o * c->ic * taps + k;
                    if (which == 0) to[yi] += a[xi] * b[wi];
                    else if (which == 1) to[xi] += a[yi] * b[wi];
                    else to[wi] += a[xi] * b[yi];
                }
}

static double *doubles_of(la_dtype t, const char *p, int64_t n)
{
    double *d = calloc((size_t)n + 1, sizeof *d);
    int64_t size = (int64_t)la_dtype_size(t);
    for (int64_t i = 0; p && i < n; i++) d[i] = get(t, p + i * size);
    return d;
}

static void describe(const la_conv *c, const char *what)
{
    fprintf(stderr, "%s of %s: batch %lld, groups %lld, %lld to %lld\n", what,
            la_dtype_name(c->dtype), (long long)c->batch,
            (long long)c->groups, (long long)c->ic, (long long)c->oc);
    for (int d = 0; d < 3; d++) {
        const la_window *w = &c->w[d];
        fprintf(stderr, "  in %lld out %lld kernel %lld stride %lld pad %lld "
                "dilation %lld, steps %lld %lld\n", (long long)w->in,
                (long long)w->out, (long long)w->kernel, (long long)w->stride,
                (long long)w->pad, (long long)w->dilation,
                (long long)c->x_step[2 + d], (long long)c->y_step[2 + d]);
    }
}

static void expect(const la_conv *c, const char *what, const char *have,
                   const double *want, int64_t n)
{
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    for (int64_t i = 0; i < n; i++) {
        if (get(c->dtype, have + i * size) == want[i]) continue;
        describe(c, what);
        fprintf(stderr, "  element %lld is %g, not %g\n", (long long)i,
                get(c->dtype, have + i * size), want[i]);
        fail();
    }
}

static void run_case(la_conv *c, int x_layout, int y_layout)
{
    int64_t taps = la_conv_taps(c), k = c->ic * taps;
    int64_t xs[5] = {c->batch, c->ic * c->groups, c->w[0].in, c->w[1].in,
                     c->w[2].in};
    int64_t ys[5] = {c->batch, c->oc * c->groups, c->w[0].out, c->w[1].out,
                     c->w[2].out};
    image x = image_new(c->dtype, xs, x_layout);
    image y = image_new(c->dtype, ys, y_layout);
    int64_t nw = c->groups * c->oc * k, channels = ys[1];
    guarded w = guarded_new(nw, c->dtype), b = guarded_new(channels, c->dtype);
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    fill(c->dtype, x.mem.data, x.count);
    fill(c->dtype, w.data, nw);
    fill(c->dtype, b.data, channels);
    memcpy(c->x_step, x.step, sizeof x.step);
    memcpy(c->y_step, y.step, sizeof y.step);
    c->x = x.mem.data;
    c->y = y.mem.data;
    c->weight = w.data;
    c->bias = pick(2) ? b.data : NULL;
    double *xd = doubles_of(c->dtype, x.mem.data, x.count);
    double *wd = doubles_of(c->dtype, w.data, nw);
    double *yd = doubles_of(c->dtype, NULL, y.count);
    for (int64_t i = 0; c->bias && i < y.count; i++)
        yd[i] = get(c->dtype, b.data + i / y.step[1] % channels * size);
    all_products(c, &x, &y, yd, xd, wd, 0);
    memset(c->y, 0x7f, (size_t)(y.count * size));
    assert_int_equal(la_conv_run(c, LA_CONV_FORWARD), LA_OK);
    expect(c, "forward", c->y, yd, y.count);

    fill(c->dtype, c->y, y.count);
    double *gd = doubles_of(c->dtype, c->y, y.count);
    memset(c->x, 0x7f, (size_t)(x.count * size));
    memset(xd, 0, (size_t)x.count * sizeof *xd);
    all_products(c, &x, &y, xd, gd, wd, 1);
    assert_int_equal(la_conv_run(c, LA_CONV_INPUT), LA_OK);
    expect(c, "gradient of the input", c->x, xd, x.count);

    fill(c->dtype, c->x, x.count);
    free(xd);
    xd = doubles_of(c->dtype, c->x, x.count);
    memset(w.data, 0x7f, (size_t)(nw * size));
    memset(wd, 0, (size_t)nw * sizeof *wd);
    all_products(c, &x, &y, wd, xd, gd, 2);
    assert_int_equal(la_conv_run(c, LA_CONV_WEIGHT), LA_OK);
    expect(c, "gradient of the weight", w.data, wd, nw);
    free(xd);
    free(yd);
    free(wd);
    free(gd);
    guarded_free(&x.mem);
    guarded_free(&y.mem);
    guarded_free(&w);
    guarded_free(&b);
}

/* Output size of a window, or 0. */
static int64_t out_of(const la_window *w)
{
    int64_t span = w->in + 2 * w->pad - w->dilation * (w->kernel - 1) - 1;
    return span < 0 ? 0 : span / w->stride + 1;
}

static void channels_of(la_conv *c)
{
    static const int64_t some[][3] = {   /* groups, ic, oc */
        {1, 1, 1}, {1, 3, 5}, {1, 1, 17}, {1, 7, 1}, {1, 2, 33}, {1, 17, 16},
        {1, 33, 8}, {5, 1, 1}, {2, 3, 4}, {17, 1, 1}, {45, 1, 1}, {8, 1, 1},
        {3, 1, 2}, {1, 5, 40}, {1, 4, 13}, {2, 6, 2}, {1, 40, 20}};
    const int64_t *s = some[pick(sizeof some / sizeof *some)];
    c->groups = s[0];
    c->ic = s[1];
    c->oc = s[2];
}

static const int64_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 14, 16, 17, 28, 33};
enum { NWIDTHS = sizeof widths / sizeof *widths };

static void random_case(la_dtype t, int64_t kernel, int64_t stride,
                        int64_t pad, int64_t dilation)
{
    la_conv c = {.dtype = t, .batch = 1 + pick(5)};
    channels_of(&c);
    int dims = 1 + pick(8);          /* mostly two */
    for (int d = 0; d < 3; d++) {
        la_window *w = &c.w[d];
        bool used = d == 2 || (d == 1 && dims > 1) || dims == 8;
        *w = (la_window){1, 1, 1, 1, 0, 1};
        if (!used) continue;
        w->in = d == 2 ? widths[pick(NWIDTHS)] : 1 + pick(d == 1 ? 9 : 4);
        bool same = pick(3) > 0;
        w->kernel = same ? kernel : 1 + pick(3);
        w->stride = same ? stride : 1 + pick(2);
        w->pad = same ? pad : pick(2);
        w->dilation = same ? dilation : 1;
        w->out = out_of(w);
        while (w->out == 0) {
            w->in++;
            w->out = out_of(w);
        }
    }
    int layout = pick(3) == 0;
    run_case(&c, layout, pick(5) ? layout : !layout);
}

static void every_window(void **state)
{
    static const la_dtype types[] = {LA_FLOAT32, LA_FLOAT32, LA_FLOAT64,
                                     LA_COMPLEX64, LA_INT32};
    for (int64_t kernel = 1; kernel <= 5; kernel += kernel < 3 ? 1 : 2)
        for (int64_t stride = 1; stride <= 3; stride++)
            for (int64_t pad = 0; pad <= 2; pad++)
                for (int64_t dilation = 1; dilation <= 2; dilation++)
                    for (int i = 0; i < 8; i++)
                        random_case(types[i % 5], kernel, stride, pad,
                                    dilation);
}

/* Rows and images that are cut into pieces, blocks of channels. */
static void larger_cases(void **state)
{
    static const int64_t some[][7] = {
        /* batch, ic, oc, h, w, kernel, stride */
        {1, 2, 3, 1, 40000, 3, 1}, {1, 70, 4, 3, 700, 3, 1},
        {2, 130, 20, 9, 9, 3, 1}, {1, 200, 33, 5, 17, 2, 1},
        {9, 16, 16, 8, 8, 3, 1}, {3, 20, 32, 28, 28, 3, 1},
        {1, 3, 5, 1, 9000, 40, 7}, {1, 650, 2, 3, 4, 1, 2},
        {40, 2, 3, 4, 4, 3, 1}, {1, 2, 18, 60, 70, 3, 2}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int layout = 0; layout < 2; layout++) {
            const int64_t *s = some[i];
            la_conv c = {.dtype = LA_FLOAT32, .batch = s[0], .groups = 1,
                         .ic = s[1], .oc = s[2]};
            for (int d = 0; d < 3; d++) {
                c.w[d] = (la_window){1, 1, 1, 1, 0, 1};
                if (d == 0 || (d == 1 && s[3] == 1)) continue;
                c.w[d] = (la_window){s[2 + d], 0, s[5], s[6], s[5] / 2, 1};
                c.w[d].out = out_of(&c.w[d]);
            }
            run_case(&c, layout, layout);
        }
}

static void other_threads(void **state)
{
    int before = la_num_threads();
    for (int n = 2; n <= 5; n += 3) {
        la_set_num_threads(n);
        for (int i = 0; i < 40; i++)
            random_case(i % 2 ? LA_FLOAT64 : LA_FLOAT32, 3, 1 + i % 2, 1, 1);
    }
    larger_cases(state);
    la_set_num_threads(before);
}

/* The first allocation fails: nothing is written; later ones: a status. */
static void no_memory(void **state)
{
    static float x[2 * 3 * 8 * 8], y[2 * 4 * 8 * 8], w[4 * 3 * 9];
    for (int half = 0; half < 2; half++)
        for (int which = 0; which < 3; which++) {
            la_conv c = {.dtype = half ? LA_INT32 : LA_FLOAT32, .batch = 2,
                .groups = 1, .ic = 3, .oc = 4, .x = (char *)x, .y = (char *)y,
                .w = {{1, 1, 1, 1, 0, 1}, {8, 8, 3, 1, 1, 1},
                      {8, 8, 3, 1, 1, 1}},
                .x_step = {192, 64, 64, 8, 1}, .y_step = {256, 64, 64, 8, 1},
                .weight = (char *)w};
            for (int n = 1; n < 6; n++) {
                y[0] = x[0] = w[0] = 5;
                la_mem_fail_at((uint64_t)n, true);
                la_status s = la_conv_run(&c, (la_conv_goal)which);
                la_mem_fail_at(0, false);
                assert_true(s == LA_ENOMEM || (n > 1 && s == LA_OK));
                if (n == 1) assert_true(y[0] == 5 && x[0] == 5 && w[0] == 5);
            }
        }
}

/* The work space follows the caches, not the batch. */
static void work_space_is_bounded(void **state)
{
    enum { N = 64, C = 16, S = 32 };
    size_t bytes = (size_t)N * C * S * S * 4;
    char *x = calloc(1, bytes), *y = calloc(1, bytes);
    static float w[C * C * 9];
    la_conv c = {.dtype = LA_FLOAT32, .batch = N, .groups = 1, .ic = C,
        .oc = C, .x = x, .y = y, .weight = (char *)w,
        .w = {{1, 1, 1, 1, 0, 1}, {S, S, 3, 1, 1, 1}, {S, S, 3, 1, 1, 1}},
        .x_step = {C * S * S, S * S, S * S, S, 1},
        .y_step = {C * S * S, S * S, S * S, S, 1}};
    for (int integers = 0; integers < 2; integers++) {
        c.dtype = integers ? LA_INT32 : LA_FLOAT32;
        /* columns of the whole batch would be 36 MiB */
        la_mem_trim();
        la_mem_set_cap(la_mem_stat().used + (12 << 20));
        assert_int_equal(la_conv_run(&c, LA_CONV_FORWARD), LA_OK);
        assert_int_equal(la_conv_run(&c, LA_CONV_INPUT), LA_OK);
        assert_int_equal(la_conv_run(&c, LA_CONV_WEIGHT), LA_OK);
        la_mem_set_cap(0);
    }
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window),
        cmocka_unit_test(larger_cases),
        cmocka_unit_test(other_threads),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(work_space_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
