/* The iterator against a naive walk: random shapes and strides, every flag,
** overlap, conversion through buffers, equality at 1, 2 and 7 threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "iter/iter.h"
#include "iter/reduce_iter.h"
#include "tensor/names.h"
#include "tensor/scalar.h"

#define SEED 20240611u

static uint64_t rng = SEED;

static uint32_t draw(uint32_t n)  /* 0 .. n-1 */
{
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(rng >> 33) % n;
}

/* --- random operands --- */

static double value_at(const la_tensor *t, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < t->ndim; d++) at += index[d] * la_strides(t)[d];
    la_scalar s = la_scalar_load((la_dtype)t->dtype,
                                 la_data(t) + at * (int64_t)la_itemsize(t));
    return s.kind == LA_KINT || s.kind == LA_KBOOL ? (double)s.i : s.re;
}

/* Small whole numbers, so that every dtype holds them and sums of two. */
static void fill(la_tensor *t)
{
    int64_t n = t->storage->nbytes / (int64_t)la_itemsize(t);
    for (int64_t i = 0; i < n; i++) {
        la_scalar s = la_scalar_int(draw(50));
        la_scalar_cast(&s, (la_dtype)t->dtype,
                       t->storage->data + i * (int64_t)la_itemsize(t));
    }
}

/* A tensor of 'shape' in some layout: permuted, with gaps, and with dims of
** the shape replaced by expanded ones when 'expand'. */
static la_tensor *operand(int ndim, const int64_t *shape, la_dtype dtype,
                          int expand)
{
    int64_t strides[LA_MAX_DIMS], next = 1, offset = draw(3);
    int order[LA_MAX_DIMS];
    for (int d = 0; d < ndim; d++) order[d] = ndim - 1 - d;
    if (draw(2))
        for (int d = ndim - 1; d > 0; d--) {
            int k = (int)draw((uint32_t)d + 1), o = order[d];
            order[d] = order[k];
            order[k] = o;
        }
    for (int d = 0; d < ndim; d++) {
        int dim = order[d];
        if (expand && draw(4) == 0) {
            strides[dim] = 0;
            continue;
        }
        strides[dim] = next * (draw(4) == 0 ? 2 : 1);
        next = strides[dim] * (shape[dim] > 0 ? shape[dim] : 1);
    }
    int64_t capacity = next + offset + 4;
    la_tensor *base, *view;
    assert_int_equal(la_tensor_empty(1, &capacity, dtype, &base), LA_OK);
    fill(base);
    assert_int_equal(la_tensor_view(base, ndim, shape, strides, offset, &view),
                     LA_OK);
    la_tensor_release(base);
    return view;
}

static void random_shape(int *ndim, int64_t *shape, int most)
{
    *ndim = (int)draw((uint32_t)most + 1);
    for (int d = 0; d < *ndim; d++)
        shape[d] = draw(20) == 0 ? 0 : 1 + (int64_t)draw(5);
}

/* A shape that broadcasts to 'shape'. */
static void thinner(int ndim, const int64_t *shape, int *n, int64_t *out)
{
    int drop = draw(3) == 0 ? (int)draw((uint32_t)ndim + 1) : 0;
    *n = ndim - drop;
    for (int d = 0; d < *n; d++)
        out[d] = draw(4) == 0 ? 1 : shape[drop + d];
}

/* --- loops under test --- */

static void add_f64(char **data, const int64_t *s, int64_t n0, int64_t n1,
                    const void *params)
{
    for (int64_t i = 0; i < n1; i++)
        for (int64_t j = 0; j < n0; j++)
            *(double *)(data[0] + j * s[0] + i * s[3]) =
                *(double *)(data[1] + j * s[1] + i * s[4])
              + *(double *)(data[2] + j * s[2] + i * s[5]);
}

static void add_f32(char **data, const int64_t *s, int64_t n0, int64_t n1,
                    const void *params)
{
    for (int64_t i = 0; i < n1; i++)
        for (int64_t j = 0; j < n0; j++)
            *(float *)(data[0] + j * s[0] + i * s[3]) =
                *(float *)(data[1] + j * s[1] + i * s[4])
              + *(float *)(data[2] + j * s[2] + i * s[5]);
}

static void add_i64(char **data, const int64_t *s, int64_t n0, int64_t n1,
                    const void *params)
{
    for (int64_t i = 0; i < n1; i++)
        for (int64_t j = 0; j < n0; j++)
            *(int64_t *)(data[0] + j * s[0] + i * s[3]) =
                *(int64_t *)(data[1] + j * s[1] + i * s[4])
              + *(int64_t *)(data[2] + j * s[2] + i * s[5]);
}

/* --- comparison with the naive walk --- */

static int next_index(int ndim, const int64_t *shape, int64_t *index)
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (++index[d] < shape[d]) return 1;
        index[d] = 0;
    }
    return 0;
}

static double broadcast_value(const la_tensor *t, int ndim,
                              const int64_t *index)
{
    int64_t own[LA_MAX_DIMS];
    for (int d = 0; d < t->ndim; d++)
        own[d] = la_sizes(t)[d] == 1 ? 0 : index[ndim - t->ndim + d];
    return value_at(t, own);
}

static void check_sum(const la_tensor *r, const la_tensor *a,
                      const la_tensor *b)
{
    int64_t index[LA_MAX_DIMS] = {0};
    if (r->numel == 0) return;
    do {
        assert_true(value_at(r, index)
                    == broadcast_value(a, r->ndim, index)
                     + broadcast_value(b, r->ndim, index));
    } while (next_index(r->ndim, la_sizes(r), index));
}

static la_status build(la_iter *it, uint32_t flags, la_tensor *out,
                       la_tensor *a, la_tensor *b)
{
    la_iter_config c = LA_ITER_CONFIG(flags, 1, b ? 2 : 1);
    c.operands[0] = out;
    c.operands[1] = a;
    c.operands[2] = b;
    return la_iter_build(it, &c);
}

static la_loop add_loop(la_dtype common)
{
    return common == LA_FLOAT64 ? add_f64 : common == LA_FLOAT32 ? add_f32
                                                                 : add_i64;
}

static void run_add(la_iter *it)
{
    assert_int_equal(la_iter_for_each(it, add_loop(it->common), NULL, 7),
                     LA_OK);
}

static void random_sums(void **state)
{
    for (int round = 0; round < 3000; round++) {
        int64_t shape[8], sa[8], sb[8];
        int n, na, nb;
        random_shape(&n, shape, 7);
        thinner(n, shape, &na, sa);
        thinner(n, shape, &nb, sb);
        la_tensor *a = operand(na, sa, LA_FLOAT64, 1);
        la_tensor *b = operand(nb, sb, LA_FLOAT64, 1);
        la_iter it;
        assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, a, b), LA_OK);
        run_add(&it);
        la_tensor *r = la_iter_output(&it, 0);
        la_iter_close(&it);
        check_sum(r, a, b);
        assert_true(r->numel == 0 || (r->flags & LA_F_DENSE));
        la_tensor_release(r);
        la_tensor_release(a);
        la_tensor_release(b);
    }
}

/* Whatever the dtypes of inputs and of the output. */
static void random_conversions(void **state)
{
    static const la_dtype kinds[] = {
        LA_UINT8, LA_INT16, LA_INT32, LA_INT64, LA_FLOAT16, LA_BFLOAT16,
        LA_FLOAT32, LA_FLOAT64
    };
    static const la_dtype common[] = {LA_INT64, LA_FLOAT32, LA_FLOAT64};
    for (int round = 0; round < 3000; round++) {
        int64_t shape[8], sa[8], sb[8];
        int n, na, nb;
        random_shape(&n, shape, 5);
        if (round % 3 == 0) {
            n = 2;
            shape[0] = 1 + draw(60);
            shape[1] = 1 + draw(3000);
        }
        thinner(n, shape, &na, sa);
        thinner(n, shape, &nb, sb);
        la_dtype want = common[draw(3)];
        la_tensor *a = operand(na, sa, kinds[draw(8)], 1);
        la_tensor *b = operand(nb, sb, kinds[draw(8)], 1);
        la_iter_config c = LA_ITER_CONFIG(LA_IT_CHECK_MEM_OVERLAP, 1, 2);
        la_iter it;
        c.operands[1] = a;
        c.operands[2] = b;
        c.static_dtype = kinds[3 + draw(5)];
        assert_int_equal(la_iter_build(&it, &c), LA_OK);
        for (int k = 0; k < 3; k++) {
            it.op[k].target = want;
            it.needs_cast |= it.op[k].current != want;
        }
        it.common = want;
        run_add(&it);
        la_tensor *r = la_iter_output(&it, 0);
        la_iter_close(&it);
        check_sum(r, a, b);
        la_tensor_release(r);
        la_tensor_release(a);
        la_tensor_release(b);
    }
}

static void promotion_and_outputs(void **state)
{
    int64_t shape[2] = {3, 4};
    la_tensor *a = operand(2, shape, LA_INT32, 0);
    la_tensor *b = operand(2, shape, LA_FLOAT32, 0);
    la_tensor *o = operand(2, shape, LA_FLOAT16, 0);
    la_tensor *l = operand(2, shape, LA_INT64, 0);
    la_iter it;
    assert_int_equal(build(&it, LA_IT_BINARY_OP, o, a, b), LA_OK);
    assert_int_equal(it.common, LA_FLOAT32);
    assert_int_equal(it.op[0].current, LA_FLOAT16);
    assert_int_equal(it.op[0].target, LA_FLOAT32);
    run_add(&it);
    la_iter_close(&it);
    check_sum(o, a, b);
    assert_int_equal(build(&it, LA_IT_BINARY_OP, l, a, b), LA_EDTYPE);
    assert_string_equal(la_error_message(), "result type Float can't be cast "
                        "to the desired output type Long");
    assert_int_equal(build(&it, LA_IT_BINARY_FLOAT_OP, NULL, a, l), LA_OK);
    assert_int_equal(it.common, LA_FLOAT32);
    run_add(&it);
    check_sum(it.op[0].tensor, a, l);
    la_iter_close(&it);
    assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, NULL, b), LA_EARG);
    assert_string_equal(la_error_message(), "an input tensor is missing");
    assert_int_equal(build(&it, LA_IT_CHECK_ALL_SAME_DTYPE, NULL, a, b),
                     LA_EDTYPE);
    assert_string_equal(la_error_message(),
                        "Found dtype Float but expected Int");
    la_tensor_release(a);
    la_tensor_release(b);
    la_tensor_release(o);
    la_tensor_release(l);
}

/* x:add_(y) with x of a lower dtype reads and writes x through a buffer. */
static void inplace_conversion(void **state)
{
    int64_t n = 5000;
    la_tensor *x = operand(1, &n, LA_FLOAT16, 0), *before;
    la_tensor *y = operand(1, &n, LA_FLOAT32, 0);
    assert_int_equal(la_tensor_empty(1, &n, LA_FLOAT16, &before), LA_OK);
    for (int64_t i = 0; i < n; i++)
        memcpy(la_data(before) + 2 * i,
               la_data(x) + 2 * i * la_strides(x)[0], 2);
    la_iter it;
    assert_int_equal(build(&it, LA_IT_BINARY_OP, x, x, y), LA_OK);
    assert_true(it.op[0].is_read_write);
    run_add(&it);
    la_iter_close(&it);
    check_sum(x, before, y);
    la_tensor_release(x);
    la_tensor_release(y);
    la_tensor_release(before);
}

/* --- shapes, resizing, errors --- */

static void expect(la_status status, la_status want, const char *text)
{
    assert_int_equal(status, want);
    assert_string_equal(la_error_message(), text);
}

static void shapes_and_resizing(void **state)
{
    int64_t s23[] = {2, 3}, s32[] = {3, 2}, s3[] = {3}, s0[] = {0};
    la_tensor *a = operand(2, s23, LA_FLOAT64, 0);
    la_tensor *b = operand(1, s3, LA_FLOAT64, 0);
    la_tensor *w = operand(2, s32, LA_FLOAT64, 0), *e;
    assert_int_equal(la_tensor_empty(1, s0, LA_FLOAT64, &e), LA_OK);
    la_iter it;
    assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, a, w), LA_ESHAPE);
    assert_int_equal(build(&it, LA_IT_BINARY_OP, e, a, b), LA_OK);
    assert_true(it.op[0].will_resize);
    run_add(&it);
    la_iter_close(&it);
    assert_int_equal(e->ndim, 2);
    check_sum(e, a, b);
    expect(build(&it, LA_IT_BINARY_OP & ~LA_IT_RESIZE_OUTPUTS, b, a, b),
           LA_ESHAPE,
           "output with shape [3] doesn't match the broadcast shape [2, 3]");
    expect(build(&it, LA_IT_BINARY_OP, b, b, a), LA_ESHAPE,
           "output with shape [3] doesn't match the broadcast shape [2, 3]");
    la_tensor_release(a);
    la_tensor_release(b);
    la_tensor_release(w);
    la_tensor_release(e);
}

static void overlap_is_refused(void **state)
{
    int64_t capacity = 8, n = 5, one = 1, zero = 0;
    la_tensor *base, *x, *y, *z;
    assert_int_equal(la_tensor_empty(1, &capacity, LA_FLOAT64, &base), LA_OK);
    assert_int_equal(la_tensor_view(base, 1, &n, &one, 0, &x), LA_OK);
    assert_int_equal(la_tensor_view(base, 1, &n, &one, 1, &y), LA_OK);
    assert_int_equal(la_tensor_view(base, 1, &n, &zero, 1, &z), LA_OK);
    la_iter it;
    expect(build(&it, LA_IT_BINARY_OP, x, y, y), LA_EALIAS,
           "unsupported operation: some elements of the input tensor and the "
           "written-to tensor refer to a single memory location. Please "
           "clone() the tensor before performing the operation.");
    expect(build(&it, LA_IT_BINARY_OP, z, z, x), LA_EALIAS,
           "unsupported operation: more than one element of the written-to "
           "tensor refers to a single memory location. Please clone() the "
           "tensor before performing the operation.");
    assert_int_equal(build(&it, LA_IT_BINARY_OP, x, x, x), LA_OK);
    la_iter_close(&it);
    assert_int_equal(build(&it, LA_IT_PROMOTE_INPUTS, x, y, y), LA_OK);
    la_iter_close(&it);
    la_tensor_release(base);
    la_tensor_release(x);
    la_tensor_release(y);
    la_tensor_release(z);
}

/* --- layout of results --- */

static void strides_of(int ndim, const int64_t *shape, const int64_t *sa,
                       const int64_t *sb, const int64_t *want)
{
    la_tensor *a, *b;
    assert_int_equal(la_tensor_empty_on(LA_CPU, ndim, shape, sa, LA_FLOAT32,
                                        &a), LA_OK);
    assert_int_equal(la_tensor_empty_on(LA_CPU, ndim, shape, sb, LA_FLOAT32,
                                        &b), LA_OK);
    la_iter it;
    assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, a, b), LA_OK);
    for (int d = 0; d < ndim; d++)
        assert_int_equal(la_strides(it.op[0].tensor)[d], want[d]);
    la_iter_close(&it);
    la_tensor_release(a);
    la_tensor_release(b);
}

static void result_layout(void **state)
{
    /* By PyTorch's comparison of strides, the first operand first. */
    strides_of(2, (int64_t[]){2, 3}, (int64_t[]){1, 2}, (int64_t[]){1, 2},
               (int64_t[]){1, 2});
    strides_of(2, (int64_t[]){2, 3}, (int64_t[]){1, 2}, (int64_t[]){3, 1},
               (int64_t[]){1, 2});
    strides_of(2, (int64_t[]){2, 3}, (int64_t[]){3, 1}, (int64_t[]){1, 2},
               (int64_t[]){3, 1});
    strides_of(4, (int64_t[]){2, 3, 4, 5}, (int64_t[]){60, 1, 15, 3},
               (int64_t[]){60, 1, 15, 3}, (int64_t[]){60, 1, 15, 3});
    strides_of(4, (int64_t[]){2, 3, 4, 5}, (int64_t[]){60, 1, 15, 3},
               (int64_t[]){60, 20, 5, 1}, (int64_t[]){60, 1, 15, 3});
    strides_of(3, (int64_t[]){2, 3, 4}, (int64_t[]){1, 0, 2},
               (int64_t[]){1, 0, 2}, (int64_t[]){1, 2, 6});
}

static void linear_order(void **state)
{
    int64_t shape[2] = {4, 5}, strides[2] = {1, 4};
    la_tensor *a;
    assert_int_equal(la_tensor_empty_on(LA_CPU, 2, shape, strides, LA_FLOAT64,
                                        &a), LA_OK);
    la_iter it;
    assert_int_equal(build(&it, LA_IT_ENFORCE_LINEAR_ITERATION, NULL, a, NULL),
                     LA_OK);
    assert_int_equal(it.ndim, 2);
    assert_int_equal(it.shape[0], 5);
    assert_true(la_is_contiguous(it.op[0].tensor));
    la_iter_close(&it);
    assert_int_equal(build(&it, 0, NULL, a, NULL), LA_OK);
    assert_int_equal(it.ndim, 1);
    la_iter_close(&it);
    la_tensor_release(a);
}

static void meta_device(void **state)
{
    int64_t one = 1, sizes[2] = {3, 4};
    la_tensor *a = operand(1, &one, LA_FLOAT64, 0), *m;
    la_iter it;
    assert_int_equal(la_tensor_empty_on(LA_META, 2, sizes, NULL,
                                        LA_FLOAT32, &m), LA_OK);
    assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, m, m), LA_OK);
    assert_int_equal(it.op[0].tensor->device, LA_META);
    run_add(&it);
    la_iter_close(&it);
    assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, m, a), LA_EARG);
    la_tensor_release(a);
    la_tensor_release(m);
}

static void names_unify(void **state)
{
    int64_t shape[2] = {2, 3};
    la_tensor *a = operand(2, shape, LA_FLOAT64, 0);
    la_tensor *b = operand(2, shape, LA_FLOAT64, 0);
    const char *na[] = {la_name_intern("N", 1), la_name_intern("*", 1)};
    const char *nb[] = {la_name_intern("N", 1), la_name_intern("C", 1)};
    const char *nc[] = {la_name_intern("X", 1), la_name_intern("C", 1)};
    la_names *names;
    assert_int_equal(la_names_new(2, na, &names), LA_OK);
    la_tensor_set_names(a, names);
    assert_int_equal(la_names_new(2, nb, &names), LA_OK);
    la_tensor_set_names(b, names);
    la_iter it;
    assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, a, b), LA_OK);
    assert_ptr_equal(it.op[0].tensor->names->name[1], nb[1]);
    la_iter_close(&it);
    assert_int_equal(la_names_new(2, nc, &names), LA_OK);
    la_tensor_set_names(b, names);
    assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, a, b), LA_EARG);
    la_tensor_release(a);
    la_tensor_release(b);
}

/* --- threads, reductions, rows --- */

static void threads_give_the_same(void **state)
{
    static const int counts[] = {1, 2, 7};
    int64_t shape[3] = {37, 41, 83};
    la_tensor *a = operand(3, shape, LA_FLOAT32, 0);
    la_tensor *b = operand(3, shape, LA_FLOAT64, 1);
    for (int k = 0; k < 3; k++) {
        la_set_num_threads(counts[k]);
        la_iter it;
        assert_int_equal(build(&it, LA_IT_BINARY_OP, NULL, a, b), LA_OK);
        assert_int_equal(la_iter_for_each(&it, add_f64, NULL, 1000), LA_OK);
        check_sum(it.op[0].tensor, a, b);
        la_iter_close(&it);
    }
    la_tensor_release(a);
    la_tensor_release(b);
}

/* Sum 'a' over the dims in 'mask'; reduced dims are kept with size 1, or go. */
static la_tensor *reduce(la_tensor *a, unsigned mask, bool keep)
{
    int64_t sizes[LA_MAX_DIMS];
    la_tensor *out;
    int n = 0;
    for (int d = 0; d < a->ndim; d++) {
        if (!(mask >> d & 1)) sizes[n++] = la_sizes(a)[d];
        else if (keep) sizes[n++] = 1;
    }
    assert_int_equal(la_tensor_empty(n, sizes, a->dtype, &out), LA_OK);
    la_reduce_job job = {
        .kernel = &(*LA_STUB(reduce_sum))[a->dtype], .nouts = 1,
        .out = {{out, LA_STORE_PLAIN}}, .decided = -1
    };
    assert_int_equal(la_reduce_run(&job, a, mask), LA_OK);
    return out;
}

/* 'out' has all dims of 'a'. */
static void check_reduction(const la_tensor *a, const la_tensor *out)
{
    double *sums = calloc((size_t)out->numel + 1, sizeof *sums);
    int64_t index[LA_MAX_DIMS] = {0};
    if (a->numel > 0) do {
        int64_t at = 0;
        for (int d = 0; d < a->ndim; d++)
            if (la_sizes(out)[d] > 1) at += index[d] * la_strides(out)[d];
        sums[at] += value_at(a, index);
    } while (next_index(a->ndim, la_sizes(a), index));
    for (int64_t i = 0; i < out->numel; i++)
        assert_true(((double *)la_data(out))[i] == sums[i]);
    free(sums);
}

static void random_reductions(void **state)
{
    for (int round = 0; round < 400; round++) {
        int64_t shape[8];
        int n;
        random_shape(&n, shape, 5);
        if (n > 1 && round % 8 == 0) shape[draw((uint32_t)n)] = 40000;
        la_tensor *a = operand(n, shape, LA_FLOAT64, 1);
        unsigned mask = draw(1u << n);
        la_tensor *out = reduce(a, mask, true), *less = reduce(a, mask, false);
        check_reduction(a, out);
        assert_memory_equal(la_data(out), la_data(less),
                            (size_t)out->numel * sizeof(double));
        la_tensor_release(out);
        la_tensor_release(less);
        la_tensor_release(a);
    }
}

static void reductions_ignore_threads(void **state)
{
    static const unsigned masks[] = {1, 2, 3};
    int64_t shape[2] = {300, 5000};
    la_tensor *a = operand(2, shape, LA_FLOAT64, 0);
    double *v = (double *)la_data(a);
    for (int64_t i = 0; i < 300 * 5000; i++) v[i] = 1.0 / (1 + draw(1000));
    for (int k = 0; k < 3; k++) {
        la_set_num_threads(1);
        la_tensor *one = reduce(a, masks[k], true);
        la_set_num_threads(7);
        la_tensor *seven = reduce(a, masks[k], true);
        assert_memory_equal(la_data(one), la_data(seven),
                            (size_t)one->numel * sizeof(double));
        la_tensor_release(one);
        la_tensor_release(seven);
    }
    la_tensor_release(a);
}

/* Each row once, its pointers those of a naive walk. */
typedef struct seen {
    const la_tensor *in, *out;
    int64_t rows;
} seen;

static void see_rows(const la_iter *it, char *const *data, int64_t rows,
                     void *context)
{
    seen *s = context;
    int o = it->inner;
    for (int64_t i = 0; i < rows; i++) {
        int64_t to = data[0] + i * it->op[0].strides[o] - la_data(s->out);
        int64_t from = data[1] + i * it->op[1].strides[o] - la_data(s->in);
        int64_t at = to / 8, want = 0;
        for (int d = s->in->ndim - 1; d >= 0; d--) {
            int64_t size = la_sizes(s->out)[d];
            want += at % size * la_strides(s->in)[d];
            at /= size;
        }
        assert_true(from == want * 8);
    }
    s->rows += rows;
}

static void rows_are_distributed(void **state)
{
    for (int round = 0; round < 200; round++) {
        int64_t shape[8], sizes[8];
        int n;
        la_tensor *out;
        random_shape(&n, shape, 5);
        la_tensor *a = operand(n, shape, LA_FLOAT64, 0);
        unsigned mask = draw(1u << n);
        for (int d = 0; d < n; d++) sizes[d] = mask >> d & 1 ? 1 : shape[d];
        assert_int_equal(la_tensor_empty(n, sizes, LA_FLOAT64, &out), LA_OK);
        la_iter_config c = LA_ITER_CONFIG(LA_IT_IS_REDUCTION, 1, 1);
        c.operands[0] = out;
        c.operands[1] = a;
        c.row_dims = mask;
        la_iter it;
        assert_int_equal(la_iter_build(&it, &c), LA_OK);
        int64_t block = 1 + draw(4);
        la_row_plan plan = {see_rows, block, block * (1 + draw(3)), LA_GRAIN};
        seen s = {a, out, 0};
        if (a->numel > 0) {
            assert_int_equal(la_iter_rows(&it, &plan, &s), LA_OK);
            assert_int_equal(s.rows, out->numel);
        }
        la_iter_close(&it);
        la_tensor_release(a);
        la_tensor_release(out);
    }
}

static void counter_covers_ranges(void **state)
{
    int64_t shape[3] = {3, 4, 5};
    for (int64_t begin = 0; begin <= 60; begin++)
        for (int64_t end = begin; end <= 60; end++) {
            la_dim_counter c;
            int64_t step[2], at = begin;
            la_dim_counter_init(&c, 3, shape, begin, end);
            while (la_dim_counter_step(&c, step)) {
                int64_t here = c.values[0]
                    + 3 * (c.values[1] + 4 * c.values[2]);
                assert_int_equal(here, at);
                at += step[0] * step[1];
                la_dim_counter_advance(&c, step);
            }
            assert_int_equal(at, end);
        }
}

static void describes_itself(void **state)
{
    int64_t shape[2] = {2, 3};
    char text[512];
    la_tensor *a = operand(2, shape, LA_INT32, 0);
    la_iter it;
    assert_int_equal(build(&it, LA_IT_BINARY_FLOAT_OP, NULL, a, a), LA_OK);
    la_iter_describe(&it, text, sizeof text);
    assert_non_null(strstr(text, "int32 as float32"));
    la_iter_describe(&it, text, 8);
    assert_true(strlen(text) < 8);
    la_iter_close(&it);
    la_tensor_release(a);
}

/* A failed allocation of the output leaves nothing behind. */
static void out_of_memory(void **state)
{
    int64_t shape[2] = {40, 30};
    la_tensor *a = operand(2, shape, LA_FLOAT64, 0);
    size_t used = la_mem_stat().used;
    la_iter it;
    la_mem_fail_at(1, true);
    la_status status = build(&it, LA_IT_BINARY_OP, NULL, a, a);
    la_mem_fail_at(0, false);
    assert_int_equal(status, LA_ENOMEM);
    assert_int_equal(la_mem_stat().used, used);
    assert_int_equal(a->refs, 1);
    la_tensor_release(a);
}

int main(void)
{
    printf("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sums),
        cmocka_unit_test(random_conversions),
        cmocka_unit_test(promotion_and_outputs),
        cmocka_unit_test(inplace_conversion),
        cmocka_unit_test(shapes_and_resizing),
        cmocka_unit_test(overlap_is_refused),
        cmocka_unit_test(result_layout),
        cmocka_unit_test(linear_order),
        cmocka_unit_test(meta_device),
        cmocka_unit_test(names_unify),
        cmocka_unit_test(threads_give_the_same),
        cmocka_unit_test(random_reductions),
        cmocka_unit_test(reductions_ignore_threads),
        cmocka_unit_test(rows_are_distributed),
        cmocka_unit_test(counter_covers_ranges),
        cmocka_unit_test(describes_itself),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
