/* Copies and conversions against a naive walk: all pairs of dtypes, values at
** the edges, layouts that take each way of the copy, equality at every number
** of threads and CPU capability in use. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/move/copy.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

#define SEED 424242u
static uint64_t rng = SEED;

static uint32_t draw(uint32_t n)
{
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(rng >> 33) % n;
}

static la_tensor *make(int ndim, const int64_t *sizes, la_dtype dtype)
{
    la_tensor *t;
    assert_int_equal(la_tensor_empty(ndim, sizes, dtype, &t), LA_OK);
    char *bytes = t->storage->data;
    for (int64_t i = 0; i < t->storage->nbytes; i++)
        bytes[i] = (char)draw(256);
    return t;
}

static la_tensor *permuted(la_tensor *t, const int64_t *dims)
{
    la_geometry g;
    la_tensor *view;
    la_geometry_of(t, &g);
    assert_int_equal(la_geo_permute(&g, dims, t->ndim), LA_OK);
    assert_int_equal(la_view_make(t, &g, &view), LA_OK);
    return view;
}

static char *element(const la_tensor *t, int64_t i)  /* row-major */
{
    int64_t at = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        at += i % la_sizes(t)[d] * la_strides(t)[d];
        i /= la_sizes(t)[d];
    }
    return la_data(t) + at * (int64_t)la_itemsize(t);
}

static void check_bytes(const la_tensor *dst, const la_tensor *src)
{
    size_t size = la_itemsize(dst);
    for (int64_t i = 0; i < dst->numel; i++)
        if (memcmp(element(dst, i), element(src, i), size))
            fail_msg("element %lld differs", (long long)i);
}

static void shuffle(int64_t *dims, int n)
{
    for (int d = 0; d < n; d++) dims[d] = d;
    for (int d = n - 1; d > 0; d--) {
        int k = (int)draw((uint32_t)d + 1);
        int64_t x = dims[d];
        dims[d] = dims[k];
        dims[k] = x;
    }
}

/* dst and src of one shape, each permuted from some contiguous tensor. */
static void any_layout(void **state)
{
    static const la_dtype kinds[] = {LA_UINT8, LA_FLOAT16, LA_FLOAT32,
                                     LA_FLOAT64, LA_COMPLEX128};
    for (int round = 0; round < 400; round++) {
        int n = 1 + (int)draw(4);
        int64_t sizes[4], inner[4], dims[4];
        for (int d = 0; d < n; d++)
            sizes[d] = 1 + draw(n == 2 ? 300 : n == 3 ? 70 : 12);
        la_dtype dtype = kinds[draw(5)];
        la_tensor *whole[2], *view[2];
        for (int k = 0; k < 2; k++) {
            shuffle(dims, n);
            for (int d = 0; d < n; d++) inner[dims[d]] = sizes[d];
            whole[k] = make(n, inner, dtype);
            view[k] = permuted(whole[k], dims);
        }
        la_set_num_threads(1 + (int)draw(4));
        assert_int_equal(la_copy_data(view[0], view[1]), LA_OK);
        check_bytes(view[0], view[1]);
        for (int k = 0; k < 2; k++) {
            la_tensor_release(view[k]);
            la_tensor_release(whole[k]);
        }
    }
}

/* Above the caches, where streaming stores come in; borders of odd size. */
static void large_transposes(void **state)
{
    static const la_dtype kinds[] = {LA_UINT8, LA_BFLOAT16, LA_INT32,
                                     LA_INT64, LA_COMPLEX128};
    int64_t swap[2] = {1, 0};
    for (int k = 0; k < 5; k++)
        for (int odd = 0; odd < 2; odd++) {
            int64_t side = 1 + (int64_t)(5000 / sqrt(la_dtype_size(kinds[k])));
            int64_t sizes[2] = {side + odd, (side & ~63) + 64 * odd};
            int64_t back[2] = {sizes[1], sizes[0]};
            la_tensor *a = make(2, sizes, kinds[k]), *b = make(2, back,
                                                               kinds[k]);
            la_tensor *t = permuted(a, swap);
            assert_int_equal(la_copy_data(b, t), LA_OK);
            check_bytes(b, t);
            la_tensor_release(t);
            la_tensor_release(a);
            la_tensor_release(b);
        }
}

static void broadcast_and_short_rows(void **state)
{
    int64_t big[3] = {5, 1000, 3}, row[1] = {3}, column[2] = {1000, 1};
    la_tensor *d = make(3, big, LA_INT32);
    la_tensor *r = make(1, row, LA_INT32), *c = make(2, column, LA_INT32);
    assert_int_equal(la_copy_data(d, r), LA_OK);
    for (int64_t i = 0; i < d->numel; i++)
        assert_memory_equal(element(d, i), element(r, i % 3), 4);
    assert_int_equal(la_copy_data(d, c), LA_OK);
    for (int64_t i = 0; i < d->numel; i++)
        assert_memory_equal(element(d, i), element(c, i / 3 % 1000), 4);
    la_tensor_release(d);
    la_tensor_release(r);
    la_tensor_release(c);
}

/* --- conversions --- */

static const double edges[] = {
    0, -0.0, 1, -1, 0.5, -0.5, 1.5, -1.5, 127, 128, 255, 256, -128, -129, 300,
    32767, 32768, -32769, 65535, 65536, 2147483647.0, 2147483648.0,
    -2147483648.0, -2147483649.0, 2147483647.5, 4294967295.0, 4294967296.0,
    -2147483648.5, 9.2e18, 9223372036854775808.0, -9223372036854775808.0,
    1.8e19, 18446744073709551616.0, 1e30, -1e30, 1e300, -1e300, 65504, 65520,
    1e-8, 6e-5, 1e-40, 3.4e38, 3.5e38, INFINITY, -INFINITY, NAN, 3.14159
};
enum { NEDGES = sizeof edges / sizeof edges[0] };

static int64_t trunc_to(double v, double low, double limit, int64_t out)
{
    return v >= low && v < limit ? (int64_t)v : out;
}

/* What kernel/move/cast.c documents, for floating sources. */
static void expected_integer(double v, la_dtype to, void *out)
{
    uint64_t bits;
    bool narrow = la_dtype_size(to) < 4 || to == LA_INT32;
    if (narrow)
        bits = (uint64_t)trunc_to(trunc(v), -0x1p31, 0x1p31, INT32_MIN);
    else if (to == LA_UINT64 && v >= 0x1p63)
        bits = v < 0x1p64 ? (uint64_t)v : 0;
    else
        bits = (uint64_t)trunc_to(v, -0x1p63, 0x1p63, INT64_MIN);
    memcpy(out, &bits, la_dtype_size(to));
}

static void expected(la_dtype to, la_dtype from, const void *in, void *out)
{
    la_scalar s = la_scalar_load(from, in);
    bool real = s.kind == LA_KFLOAT || s.kind == LA_KCOMPLEX;
    bool whole = la_is_integral(to) || to == LA_BOOL;
    if (from == LA_UINT64 && !whole) s = la_scalar_float(s.re);
    if (real && la_is_integral(to)) expected_integer(s.re, to, out);
    else la_scalar_cast(&s, to, out);
}

static bool same_value(la_dtype d, const void *a, const void *b)
{
    la_scalar x = la_scalar_load(d, a), y = la_scalar_load(d, b);
    bool re = x.re == y.re || (isnan(x.re) && isnan(y.re));
    bool im = x.im == y.im || (isnan(x.im) && isnan(y.im));
    return x.i == y.i && re && im && signbit(x.re) == signbit(y.re);
}

/* Sources hold the edges, each at a few positions, so that vector bodies, tails
** and blocks with and without outliers are all met. */
static la_tensor *edge_tensor(la_dtype from, int64_t n)
{
    la_tensor *t = make(1, &n, from);
    for (int64_t i = 0; i < n; i++) {
        double v = edges[i < 300 ? draw(16) : draw(NEDGES)];
        la_scalar s = la_is_complex(from)
            ? la_scalar_complex(v, edges[draw(NEDGES)]) : la_scalar_float(v);
        la_scalar_cast(&s, from, element(t, i));
    }
    return t;
}

static void check_pair(la_dtype to, la_dtype from, int64_t n, int64_t step)
{
    la_tensor *whole = edge_tensor(from, n * step), *src;
    la_geometry g;
    la_geometry_of(whole, &g);
    assert_int_equal(la_geo_slice(&g, 0, 0, n * step, step), LA_OK);
    assert_int_equal(la_view_make(whole, &g, &src), LA_OK);
    la_tensor *dst = make(1, &n, to);
    assert_int_equal(la_copy_data(dst, src), LA_OK);
    for (int64_t i = 0; i < n; i++) {
        char want[16] = {0};
        expected(to, from, element(src, i), want);
        if (!same_value(to, element(dst, i), want))
            fail_msg("%s to %s, element %lld (%g)", la_dtype_name(from),
                     la_dtype_name(to), (long long)i,
                     la_scalar_load(from, element(src, i)).re);
    }
    la_tensor_release(src);
    la_tensor_release(whole);
    la_tensor_release(dst);
}

static void all_pairs(void **state)
{
    for (int to = 0; to < LA_NDTYPES; to++)
        for (int from = 0; from < LA_NDTYPES; from++) {
            if (to == from) continue;
            check_pair((la_dtype)to, (la_dtype)from, 1003, 1);
            check_pair((la_dtype)to, (la_dtype)from, 517, 3);
        }
}

static void lazy_bits_are_settled(void **state)
{
    int64_t n = 9;
    la_tensor *a = make(1, &n, LA_COMPLEX64), *b = make(1, &n, LA_COMPLEX64);
    for (int64_t i = 0; i < n; i++) {
        la_scalar s = la_scalar_complex((double)i, (double)(i + 1));
        la_scalar_cast(&s, LA_COMPLEX64, element(a, i));
    }
    static const double signs[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    for (unsigned bits = 0; bits < 4; bits++) {
        a->flags &= ~(uint32_t)(LA_F_CONJ | LA_F_NEG);
        if (bits & 1) a->flags |= LA_F_CONJ;
        if (bits & 2) a->flags |= LA_F_NEG;
        assert_int_equal(la_copy_data(b, a), LA_OK);
        for (int64_t i = 0; i < n; i++) {
            la_scalar s = la_scalar_load(LA_COMPLEX64, element(b, i));
            assert_true(s.re == signs[bits][0] * (double)i);
            assert_true(s.im == signs[bits][1] * (double)(i + 1));
        }
    }
    la_tensor_release(a);
    la_tensor_release(b);
}

static void fills(void **state)
{
    int64_t sizes[2] = {33, 77};
    la_scalar v = la_scalar_float(2.75), big = la_scalar_int(300);
    la_scalar nan = la_scalar_float(NAN);
    for (int d = 0; d < LA_NDTYPES; d++) {
        la_tensor *t = make(2, sizes, (la_dtype)d);
        char want[16];
        expected((la_dtype)d, LA_FLOAT64, &v.re, want);
        assert_int_equal(la_fill_data(t, &v), LA_OK);
        for (int64_t i = 0; i < t->numel; i++)
            assert_memory_equal(element(t, i), want, la_itemsize(t));
        la_tensor_release(t);
    }
    la_tensor *t = make(2, sizes, LA_UINT8);
    assert_int_equal(la_fill_data(t, &big), LA_EDTYPE);
    assert_int_equal(la_fill_data(t, &nan), LA_EDTYPE);
    la_tensor_release(t);
}

/* Dense tensors above the caches, from any start. */
static void large_fills(void **state)
{
    static const la_dtype kinds[] = {LA_INT16, LA_FLOAT32, LA_COMPLEX128};
    for (int k = 0; k < 3; k++) {
        int64_t size = (int64_t)la_dtype_size(kinds[k]);
        int64_t n = 3 + 40000000 / size, one = 1;
        la_scalar v = la_scalar_float(3);
        la_tensor *base = make(1, &n, kinds[k]), *t;
        int64_t part = n - 2;
        assert_int_equal(la_tensor_view(base, 1, &part, &one, 1, &t), LA_OK);
        char first[16], last[16], want[16];
        memcpy(first, element(base, 0), (size_t)size);
        memcpy(last, element(base, n - 1), (size_t)size);
        assert_int_equal(la_fill_data(t, &v), LA_OK);
        la_scalar_cast(&v, kinds[k], want);
        for (int64_t i = 0; i < part; i++)
            if (memcmp(element(t, i), want, (size_t)size))
                fail_msg("element %lld", (long long)i);
        assert_memory_equal(first, element(base, 0), (size_t)size);
        assert_memory_equal(last, element(base, n - 1), (size_t)size);
        la_tensor_release(t);
        la_tensor_release(base);
    }
}

int main(void)
{
    printf("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_layout),
        cmocka_unit_test(large_transposes),
        cmocka_unit_test(broadcast_and_short_rows),
        cmocka_unit_test(all_pairs),
        cmocka_unit_test(lazy_bits_are_settled),
        cmocka_unit_test(fills),
        cmocka_unit_test(large_fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
