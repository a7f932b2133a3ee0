/* View rules, broadcasting and overlap, against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/shape.h"
#include "tensor/tensor.h"

enum { CAPACITY = 64 };   /* elements of the storage */

static uint64_t seed = 88172645463325252u;

static int64_t draw(int64_t n)   /* 0 .. n-1 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)n);
}

/* A random view that lies inside the storage, or NULL. */
static la_tensor *random_view(la_tensor *base)
{
    int64_t sizes[3], strides[3];
    int n = (int)draw(4);
    la_tensor *view = NULL;
    for (int d = 0; d < n; d++) {
        sizes[d] = draw(5);
        strides[d] = draw(9);
    }
    if (la_tensor_view(base, n, sizes, strides, draw(20), &view)) return NULL;
    return view;
}

/* Count how often each element of the storage is reached; the position in
** 'order' is that of the element. */
static void mark(const la_tensor *t, int *count, int64_t *order)
{
    for (int64_t k = 0; k < t->numel; k++) {
        int64_t rest = k, at = t->offset;
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += rest % la_sizes(t)[d] * la_strides(t)[d];
            rest /= la_sizes(t)[d];
        }
        count[at]++;
        order[k] = at;
    }
}

static void overlap_within(void **state)
{
    la_tensor *base;
    int64_t capacity = CAPACITY;
    int sure = 0;
    la_tensor_empty(1, &capacity, LA_INT16, &base);
    for (int round = 0; round < 20000; round++) {
        int count[CAPACITY] = {0};
        int64_t order[CAPACITY * 4];
        la_tensor *v = random_view(base);
        if (!v) continue;
        bool twice = false;
        mark(v, count, order);
        for (int k = 0; k < CAPACITY; k++) twice = twice || count[k] > 1;
        la_overlap got = la_internal_overlap(v);
        if (got == LA_OVERLAP_NO) assert_false(twice);
        if (got == LA_OVERLAP_YES) assert_true(twice);
        sure += got != LA_OVERLAP_TOO_HARD;
        la_tensor_release(v);
    }
    assert_true(sure > 5000);
    la_tensor_release(base);
}

static void overlap_of_two(void **state)
{
    la_tensor *base;
    int64_t capacity = CAPACITY;
    int counts[LA_OVERLAP_TOO_HARD + 1] = {0};
    la_tensor_empty(1, &capacity, LA_INT16, &base);
    for (int round = 0; round < 40000; round++) {
        int a_count[CAPACITY] = {0}, b_count[CAPACITY] = {0};
        int64_t a_order[CAPACITY * 4], b_order[CAPACITY * 4];
        la_tensor *a = random_view(base), *b = random_view(base);
        if (a && b) {
            bool meet = false;
            mark(a, a_count, a_order);
            mark(b, b_count, b_order);
            for (int k = 0; k < CAPACITY; k++)
                meet = meet || (a_count[k] && b_count[k]);
            la_overlap got = la_pair_overlap(a, b);
            counts[got]++;
            if (got == LA_OVERLAP_NO) assert_false(meet);
            if (got == LA_OVERLAP_PARTIAL) assert_true(meet);
            if (got == LA_OVERLAP_FULL)
                assert_memory_equal(a_order, b_order,
                                    (size_t)a->numel * 8);
        }
        la_tensor_release(a);
        la_tensor_release(b);
    }
    assert_true(counts[LA_OVERLAP_NO] > 1000);
    la_tensor_release(base);
}

static la_tensor *arange(int64_t n)
{
    la_tensor *t;
    la_tensor_empty(1, &n, LA_INT64, &t);
    for (int64_t k = 0; k < n; k++) ((int64_t *)la_data(t))[k] = k;
    return t;
}

static int64_t element(const la_tensor *t, int64_t k)
{
    int64_t at = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        at += k % la_sizes(t)[d] * la_strides(t)[d];
        k /= la_sizes(t)[d];
    }
    return ((int64_t *)la_data(t))[at];
}

/* Whatever la_view_strides allows has the same elements in the same order; and
** what splits and merges of single dims allow, it allows. */
static void view_strides(void **state)
{
    la_tensor *base = arange(CAPACITY);
    int viewed = 0;
    for (int round = 0; round < 20000; round++) {
        la_tensor *v = random_view(base), *w;
        la_shape to = {.ndim = 0};
        int64_t strides[LA_MAX_DIMS], left;
        bool possible;
        if (!v) continue;
        for (left = v->numel; left > 1 && to.ndim < 6; ) {
            int64_t part = 1 + draw(left);
            while (left % part) part--;
            to.sizes[to.ndim++] = part;
            left /= part;
        }
        if (v->numel == 0) to = (la_shape){.ndim = 1, .sizes = {0}};
        if (left <= 1) {
            assert_int_equal(la_view_strides(v, &to, strides, &possible), 0);
            if (la_is_contiguous(v)) assert_true(possible);
            if (possible) {
                assert_int_equal(la_tensor_view(v, to.ndim, to.sizes, strides,
                                                v->offset, &w), LA_OK);
                for (int64_t k = 0; k < v->numel; k++)
                    assert_int_equal(element(v, k), element(w, k));
                la_tensor_release(w);
                viewed++;
            }
        }
        la_tensor_release(v);
    }
    assert_true(viewed > 1000);
    la_tensor_release(base);
}

static void infer(void **state)
{
    la_shape s;
    assert_int_equal(la_view_infer((int64_t[]){2, -1}, 2, 6, &s), LA_OK);
    assert_int_equal(s.sizes[1], 3);
    assert_int_not_equal(la_view_infer((int64_t[]){-1, -1}, 2, 6, &s), 0);
    assert_int_not_equal(la_view_infer((int64_t[]){-1, 0}, 2, 0, &s), 0);
    assert_int_not_equal(la_view_infer((int64_t[]){-1, 4}, 2, 6, &s), 0);
    assert_int_not_equal(la_view_infer((int64_t[]){-2, 3}, 2, 6, &s), 0);
    assert_int_equal(la_view_infer((int64_t[]){0, 5}, 2, 0, &s), LA_OK);
    assert_int_equal(la_view_infer(NULL, 0, 1, &s), LA_OK);
    assert_int_equal(s.ndim, 0);
    assert_int_not_equal(la_view_infer((int64_t[]){INT64_MAX, 2, -1}, 3, 6,
                                       &s), 0);
}

static void broadcast(void **state)
{
    la_shape a = {2, {2, 3}}, b = {3, {4, 1, 3}}, c = {2, {2, 4}};
    assert_int_equal(la_shape_broadcast(&a, &b, &a), LA_OK);
    assert_int_equal(a.ndim, 3);
    assert_int_equal(a.sizes[0], 4);
    assert_int_equal(a.sizes[1], 2);
    assert_int_equal(la_shape_broadcast(&b, &c, &a), LA_ESHAPE);
    assert_string_equal("The size of tensor a (3) must match the size of "
                        "tensor b (4) at non-singleton dimension 3",
                        la_error_message());
}

static void dims(void **state)
{
    int d;
    uint64_t mask;
    assert_int_equal(la_wrap_dim(-1, 3, &d), LA_OK);
    assert_int_equal(d, 2);
    assert_int_equal(la_wrap_dim(3, 3, &d), LA_EINDEX);
    assert_string_equal("dimension 4 is out of range, 1 to 3 or -3 to -1",
                        la_error_message());
    assert_int_equal(la_wrap_dim(INT64_MIN, 3, &d), LA_EINDEX);
    assert_int_equal(la_wrap_dim(INT64_MAX, 3, &d), LA_EINDEX);
    assert_int_equal(la_wrap_dim(-1, 0, &d), LA_OK);
    assert_int_equal(la_wrap_dim_end(3, 3, &d), LA_OK);
    assert_int_equal(la_dim_mask(2, (int64_t[]){0, -3}, 3, &mask), LA_EARG);
    assert_int_equal(la_dim_mask(-1, NULL, 64, &mask), LA_OK);
    assert_true(mask == UINT64_MAX);
}

/* Extremes must be errors or cut, never wrap. */
static void extremes(void **state)
{
    static const int64_t far[] = {INT64_MIN, INT64_MIN + 1, -5, -1, 0, 1, 5,
                                  INT64_MAX - 1, INT64_MAX};
    la_tensor *t = arange(12), *v;
    la_geometry whole = {2, {3, 4}, {4, 1}, 0};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 9; k++) {
            la_geometry g = whole;
            if (la_geo_slice(&g, 1, far[i], far[k], 1) == LA_OK) {
                assert_int_equal(la_view_make(t, &g, &v), LA_OK);
                la_tensor_release(v);
            }
            g = whole;
            if (la_geo_unfold(&g, 1, far[i], far[k]) == LA_OK) {
                assert_int_equal(la_view_make(t, &g, &v), LA_OK);
                la_tensor_release(v);
            }
            g = whole;
            if (la_geo_diagonal(&g, far[i], 0, 1) == LA_OK) {
                assert_int_equal(la_view_make(t, &g, &v), LA_OK);
                la_tensor_release(v);
            }
            g = whole;
            if (la_geo_slice(&g, 1, 0, 4, far[k]) == LA_OK) {
                assert_int_equal(la_view_make(t, &g, &v), LA_OK);
                la_tensor_release(v);
            }
            g = whole;
            if (la_geo_select(&g, 0, far[i]) == LA_OK) {
                assert_int_equal(la_view_make(t, &g, &v), LA_OK);
                la_tensor_release(v);
            }
        }
    la_tensor_release(t);
}

/* Views of few dims get geometry, layout and bounds in one walk: they must be
** what a tensor of the same geometry has that was made the long way, and must
** be refused exactly where an element lies outside. */
static bool inside(int n, const int64_t *sizes, const int64_t *strides,
                   int64_t offset)
{
    int64_t last = offset;
    for (int d = 0; d < n; d++) {
        if (sizes[d] == 0) return offset >= 0;
        last += (sizes[d] - 1) * strides[d];
    }
    return offset >= 0 && last < CAPACITY;
}

static void one_walk(void **state)
{
    int64_t capacity = CAPACITY;
    la_tensor *base, *view, *other;
    int count = 0, refused = 0;
    assert_int_equal(la_tensor_empty(1, &capacity, LA_FLOAT32, &base), LA_OK);
    assert_int_equal(la_tensor_empty(1, &capacity, LA_FLOAT32, &other), LA_OK);
    for (int k = 0; k < 200000; k++) {
        int n = (int)draw(5);
        int64_t sizes[4], strides[4], offset = draw(80) - 5;
        for (int d = 0; d < n; d++) {
            sizes[d] = draw(5);
            strides[d] = draw(13);
        }
        bool fits = inside(n, sizes, strides, offset);
        la_status status = la_tensor_view(base, n, sizes, strides, offset,
                                          &view);
        assert_int_equal(status == LA_OK, fits);
        refused += !fits;
        if (!fits) continue;
        count++;
        assert_int_equal(la_tensor_set_geometry(other, n, sizes, strides),
                         LA_OK);
        assert_int_equal(view->numel, other->numel);
        assert_int_equal(view->ndim, n);
        assert_int_equal(view->offset, offset);
        assert_int_equal(view->flags & LA_F_LAYOUT, other->flags & LA_F_LAYOUT);
        assert_memory_equal(la_sizes(view), sizes, (size_t)n * 8);
        assert_memory_equal(la_strides(view), strides, (size_t)n * 8);
        la_tensor_release(view);
    }
    assert_true(count > 1000 && refused > 1000);
    int64_t huge[2] = {INT64_MAX, INT64_MAX}, one[2] = {1, 1};
    assert_int_not_equal(la_tensor_view(base, 2, huge, one, 0, &view), LA_OK);
    assert_int_not_equal(la_tensor_view(base, 2, huge, huge, 0, &view), LA_OK);
    assert_int_equal(la_tensor_view(base, 2, one, huge, 0, &view), LA_OK);
    la_tensor_release(view);
    la_tensor_release(other);
    la_tensor_release(base);
}

static void missing_strides(void **state)
{
    la_tensor *t;
    int64_t sizes[] = {4, 2, 3};
    assert_int_equal(la_tensor_empty(3, sizes, LA_FLOAT32, &t), LA_OK);
    assert_int_equal(la_tensor_set_geometry(t, 3, sizes,
                                            (int64_t[]){-1, -1, 2}), LA_OK);
    assert_memory_equal(la_strides(t), ((int64_t[]){12, 6, 2}), 24);
    assert_int_equal(la_tensor_set_geometry(t, 3, sizes,
                                            (int64_t[]){-1, 1, 2}), LA_OK);
    assert_memory_equal(la_strides(t), ((int64_t[]){2, 1, 2}), 24);
    la_tensor_release(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_within), cmocka_unit_test(overlap_of_two),
        cmocka_unit_test(view_strides), cmocka_unit_test(infer),
        cmocka_unit_test(broadcast), cmocka_unit_test(dims),
        cmocka_unit_test(extremes), cmocka_unit_test(one_walk),
        cmocka_unit_test(missing_strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
