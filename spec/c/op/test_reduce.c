/* Reductions against plain loops: layouts, dims, dtypes, thread counts. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/runtime/thread_pool.h"
#include "op/frame.h"
#include "op/reduce/reduce.h"
#include "tensor/shape.h"

static la_tensor *filled(int ndim, const int64_t *sizes, const int64_t *strides,
                         la_dtype d)
{
    la_tensor *t = NULL;
    assert_int_equal(la_tensor_empty_on(LA_CPU, ndim, sizes, strides, d, &t),
                     LA_OK);
    uint32_t x = 1;
    for (int64_t i = 0; i < t->storage->nbytes / (int64_t)la_dtype_size(d);
         i++) {
        x = x * 1664525u + 1013904223u;
        double v = (double)(int32_t)(x >> 8) / 8388608.0 - 0.5;
        la_scalar s = la_is_float(d) ? la_scalar_float(v)
                                     : la_scalar_int((int64_t)(v * 100));
        char *p = t->storage->data + i * (int64_t)la_dtype_size(d);
        if (d == LA_FLOAT32) *(float *)p = (float)s.re;
        if (d == LA_FLOAT64) *(double *)p = s.re;
        if (d == LA_INT32) *(int32_t *)p = (int32_t)s.i;
        if (d == LA_INT8) *(int8_t *)p = (int8_t)s.i;
    }
    return t;
}

static double get(const la_tensor *t, int64_t element)
{
    const char *p = la_data(t) + element * (int64_t)la_itemsize(t);
    switch (t->dtype) {
    case LA_FLOAT32: return *(const float *)p;
    case LA_FLOAT64: return *(const double *)p;
    case LA_INT32: return *(const int32_t *)p;
    case LA_INT8: return *(const int8_t *)p;
    default: return (double)*(const int64_t *)p;
    }
}

enum { SUM, MAX, VAR };

/* Every result by a walk over all elements. */
static void naive(const la_tensor *t, uint64_t mask, int what, double *out,
                  int64_t n)
{
    double *sum = calloc((size_t)n, 8), *square = calloc((size_t)n, 8);
    double *count = calloc((size_t)n, 8);
    for (int pass = 0; pass < 2; pass++) {
        int64_t at[8] = {0};
        for (int64_t i = 0; i < t->numel; i++) {
            int64_t from = 0, to = 0;
            for (int d = 0; d < t->ndim; d++) {
                from += at[d] * la_strides(t)[d];
                if (!(mask >> d & 1)) to = to * la_sizes(t)[d] + at[d];
            }
            double x = get(t, from);
            if (pass == 0) {
                if (what == MAX) {
                    if (count[to] == 0 || x > sum[to]) sum[to] = x;
                } else {
                    sum[to] += x;
                }
                count[to]++;
            } else {
                double dev = x - sum[to] / count[to];
                square[to] += dev * dev;
            }
            for (int d = t->ndim - 1; d >= 0; d--) {
                if (++at[d] < la_sizes(t)[d]) break;
                at[d] = 0;
            }
        }
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = what == VAR ? square[i] / (count[i] - 1) : sum[i];
    free(sum);
    free(square);
    free(count);
}

static void check(const la_tensor *t, uint64_t mask, int what)
{
    la_shape s = {.ndim = 0};
    la_tensor *out = NULL, *again = NULL;
    for (int d = 0; d < t->ndim; d++)
        if (!(mask >> d & 1)) s.sizes[s.ndim++] = la_sizes(t)[d];
    la_dtype d = (la_dtype)t->dtype;
    bool integer = la_is_integral(d);
    la_dtype r = integer && what == SUM ? LA_INT64 : d;
    const la_reductions *table = what == SUM ? LA_STUB(reduce_sum)
        : what == MAX ? LA_STUB(reduce_max) : LA_STUB(reduce_var);
    assert_int_equal(la_tensor_empty(s.ndim, s.sizes, r, &out), LA_OK);
    assert_int_equal(la_tensor_empty(s.ndim, s.sizes, r, &again), LA_OK);
    la_reduce_job job = {.kernel = &(*table)[d], .nouts = 1, .decided = -1,
                         .args = {.correction = 1},
                         .out = {{out, what == VAR ? LA_STORE_VAR
                                                   : LA_STORE_PLAIN}}};
    la_set_num_threads(1);
    assert_int_equal(la_reduce_run(&job, t, mask), LA_OK);
    double *want = calloc((size_t)out->numel, 8);
    naive(t, mask, what, want, out->numel);
    for (int64_t i = 0; i < out->numel; i++) {
        double got = get(out, i);
        double scale = what == MAX || integer ? 0
            : d == LA_FLOAT32 ? 2e-6 : 1e-13;
        double limit = scale * (fabs(want[i]) + sqrt((double)t->numel));
        if (!(fabs(got - want[i]) <= limit) && want[i] == want[i])
            fail_msg("element %d of %d: %.17g, wanted %.17g (mask %x, op %d)",
                     (int)i, (int)out->numel, got, want[i], (unsigned)mask,
                     what);
    }
    free(want);
    job.out[0].tensor = again;
    int threads[] = {2, 7};
    for (int k = 0; k < 2; k++) {
        la_set_num_threads(threads[k]);
        memset(la_data(again), 0xff, (size_t)again->storage->nbytes);
        assert_int_equal(la_reduce_run(&job, t, mask), LA_OK);
        assert_memory_equal(la_data(out), la_data(again),
                            (size_t)out->numel * la_itemsize(out));
    }
    la_tensor_release(out);
    la_tensor_release(again);
}

static void every_mask(la_tensor *t)
{
    for (uint64_t mask = 0; mask < (uint64_t)1 << t->ndim; mask++) {
        check(t, mask, SUM);
        check(t, mask, MAX);
        if (la_is_float((la_dtype)t->dtype)) check(t, mask, VAR);
    }
    la_tensor_release(t);
}

static void test_layouts(void **state)
{
    la_dtype dtypes[] = {LA_FLOAT32, LA_FLOAT64, LA_INT32, LA_INT8};
    for (int k = 0; k < 4; k++) {
        la_dtype d = dtypes[k];
        every_mask(filled(1, (int64_t[]){10}, NULL, d));
        every_mask(filled(1, (int64_t[]){100003}, NULL, d));
        every_mask(filled(2, (int64_t[]){1000, 10}, NULL, d));
        every_mask(filled(2, (int64_t[]){40000, 3}, NULL, d));
        every_mask(filled(2, (int64_t[]){3, 40001}, NULL, d));
        every_mask(filled(2, (int64_t[]){300, 257}, NULL, d));
        every_mask(filled(3, (int64_t[]){7, 130, 33}, NULL, d));
        every_mask(filled(3, (int64_t[]){130, 2, 90}, NULL, d));
        every_mask(filled(4, (int64_t[]){5, 17, 9, 11}, NULL, d));
        every_mask(filled(2, (int64_t[]){70, 300}, (int64_t[]){1, 70}, d));
        every_mask(filled(2, (int64_t[]){70, 300}, (int64_t[]){601, 2}, d));
        every_mask(filled(3, (int64_t[]){40, 50, 60},
                          (int64_t[]){50, 1, 2000}, d));
        every_mask(filled(2, (int64_t[]){200, 90}, (int64_t[]){0, 1}, d));
        every_mask(filled(0, NULL, NULL, d));
    }
}

static void test_positions(void **state)
{
    float x[200];
    int64_t index[4];
    float value[4];
    for (int i = 0; i < 200; i++) x[i] = (float)(i % 50);
    const la_arg_reduction *max = &(*LA_STUB(reduce_argmax))[LA_FLOAT32];
    la_reduce_rows r = {(char *)x, 4, 200, 0, 1};
    max->rows(&r, index, (char *)value);
    assert_int_equal(index[0], 50);
    assert_true(value[0] == 49);
    x[120] = NAN;
    x[130] = NAN;
    max->rows(&r, index, (char *)value);
    assert_int_equal(index[0], 121);
    la_reduce_cols c = {(char *)x, 200, 4, 4, 4};
    max->cols(&c, index, (char *)value);
    assert_int_equal(index[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts), cmocka_unit_test(test_positions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
