/*
** Calls of LAPACK ask nobody whether to go on: who waits for a large one stops
** waiting, and what was left behind harms nobody.
*/
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "lunarray.h"

enum { N = 600 };
static atomic_long blocks;

static void *get(void *context, size_t bytes, size_t alignment)
{
    void *block = NULL;
    if (posix_memalign(&block, alignment, bytes)) return NULL;
    atomic_fetch_add(&blocks, 1);
    return block;
}

static void put(void *context, void *block, size_t bytes)
{
    atomic_fetch_sub(&blocks, 1);
    memset(block, 0x5a, bytes);
    free(block);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static la_runtime *open_runtime(void)
{
    la_config c = {.size = sizeof c, .alloc = get, .release = put};
    la_runtime *rt = la_runtime_new(&c);
    assert_non_null(rt);
    la_use(rt);
    return rt;
}

static void close_runtime(la_runtime *rt)
{
    la_use(NULL);
    if (la_runtime_destroy(rt)) fail_msg("%s", la_error_text());
    assert_int_equal(blocks, 0);
}

static la_tensor *random_matrix(int64_t n)
{
    int64_t sizes[] = {n, n};
    la_tensor *t = la_call(NULL, "rand", la_any_ints(sizes, 2),
                           la_any_named("dtype", la_any_text("float64")));
    assert_non_null(t);
    return t;
}

/* Does LAPACK exist, and how long does it take? */
static double whole_time(la_tensor *t, const char *op)
{
    double begin = seconds();
    la_tensor *r = la_call(NULL, op, t);
    if (!r && la_error_code() == LA_EKEY) skip();
    assert_non_null(r);
    la_release(r);
    return seconds() - begin;
}

static void a_deadline_holds(void **state)
{
    static const char *const ops[] = {"svdvals", "eigvals", "eigvalsh",
                                      "linalg.eig"};
    la_runtime *rt = open_runtime();
    la_tensor *t = random_matrix(N);
    la_token *k = la_token_of(NULL);
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        double whole = whole_time(t, ops[i]), begin = seconds();
        la_set_deadline(k, 5000000);
        la_tensor *r = la_call(NULL, ops[i], t);
        double took = seconds() - begin;
        la_token_clear(k);
        if (r) {                        /* in time */
            la_release(r);
            continue;
        }
        assert_int_equal(la_token_code(k), 0);
        if (took > 0.1 + whole / 2)
            fail_msg("%s: %f of %f s", ops[i], took, whole);
    }
    la_token_release(k);
    la_release(t);
    close_runtime(rt);
}

/* Memory that was given is the caller's again at once. */
static void given_memory_stays_out(void **state)
{
    la_runtime *rt = open_runtime();
    la_tensor *t = random_matrix(N);
    la_token *k = la_token_of(NULL);
    whole_time(t, "eigvalsh");
    double *values = malloc(N * sizeof *values);
    int64_t size = N;
    la_tensor *out = la_wrap(values, "float64", 1, &size, NULL, NULL, NULL);
    la_set_deadline(k, 5000000);
    la_tensor *r = la_call(NULL, "eigvalsh", t,
                           la_any_named("out", la_any_tensor(out)));
    la_token_clear(k);
    la_release(r);
    la_release(out);
    free(values);
    la_release(t);
    la_token_release(k);
    close_runtime(rt);
}

/* One after another, in several threads, and then all at once gone. */
static void many_are_left_behind(void **state)
{
    la_runtime *rt = open_runtime();
    int64_t sizes[] = {4, N / 3, N / 3};
    la_token *k = la_token_of(NULL);
    la_tensor *t = la_call(NULL, "rand", la_any_ints(sizes, 3));
    whole_time(t, "linalg.svd");
    for (int i = 0; i < 6; i++) {
        la_set_deadline(k, 2000000);
        la_release(la_call(NULL, "linalg.svd", t));
        la_token_clear(k);
    }
    whole_time(t, "linalg.svd");
    la_token_release(k);
    la_release(t);
    close_runtime(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_holds),
        cmocka_unit_test(given_memory_stays_out),
        cmocka_unit_test(many_are_left_behind)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
