/* The allocator: alignment, reuse, counting, cap, rehearsal, threads. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/runtime/memory.h"
#include "base/runtime/memory_cache.h"

static const size_t sizes[] = {0, 1, 63, 64, 65, 192, 1000, 1024, 1025, 4096,
                               5000, 65536, 100001, 3 << 20, 4 << 20,
                               (4 << 20) + 1, 17 << 20};
enum { NSIZES = sizeof sizes / sizeof *sizes };

static void blocks_are_aligned_and_usable(void **state)
{
    size_t before = la_mem_stat().used;
    for (int i = 0; i < NSIZES; i++) {
        char *p = la_mem_alloc(sizes[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        memset(p, 0x5a, sizes[i]);
        assert_int_equal(la_mem_stat().used, before + sizes[i]);
        la_mem_free(p, sizes[i]);
        assert_int_equal(la_mem_stat().used, before);
    }
}

static void zalloc_is_zero_also_from_the_cache(void **state)
{
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < NSIZES; i++) {
            unsigned char *p = la_mem_zalloc(sizes[i]);
            assert_non_null(p);
            for (size_t k = 0; k < sizes[i]; k += 1 + sizes[i] / 5000)
                assert_int_equal(p[k], 0);
            memset(p, 0xff, sizes[i]);
            la_mem_free(p, sizes[i]);
        }
}

static void freed_blocks_are_reused(void **state)
{
    if (!LA_CACHE_ON) skip();
    for (int i = 0; i < NSIZES; i++) {
        void *first = la_mem_alloc(sizes[i]);
        la_mem_free(first, sizes[i]);
        void *again = la_mem_alloc(sizes[i]);
        assert_ptr_equal(first, again);
        la_mem_free(again, sizes[i]);
    }
    assert_true(la_mem_stat().cached > 0);
    la_mem_trim();
    assert_int_equal(la_mem_stat().cached, 0);
}

static void mapped_blocks_lie_on_huge_pages(void **state)
{
    if (!LA_CACHE_ON) skip();
    void *p = la_mem_alloc(5 << 20);
    assert_int_equal((uintptr_t)p % (2 << 20), 0);
    la_mem_free(p, 5 << 20);
}

static void the_cache_is_bounded(void **state)
{
    enum { N = 40 };
    static void *p[N];
    size_t bytes = 16 << 20;
    for (int i = 0; i < N; i++) assert_non_null(p[i] = la_mem_alloc(bytes));
    for (int i = 0; i < N; i++) la_mem_free(p[i], bytes);
    assert_true(la_mem_stat().cached <= (size_t)320 << 20);
    la_mem_trim();
}

#ifdef LA_DEBUG
/* A child process writes one byte outside, or frees another size. */
static void write_behind(char *p) { p[100] = 1; }
static void write_before(char *p) { p[-1] = 1; }
static void keep(char *p) {}

static int end_of_child(void (*harm)(char *), size_t freed)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGILL, SIG_DFL);    /* cmocka has a handler */
        char *p = la_mem_alloc(100);
        harm(p);
        la_mem_free(p, freed);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void red_zones_are_checked(void **state)
{
    if (!LA_CACHE_ON) skip();
    assert_int_equal(end_of_child(keep, 100), 0);
    assert_int_not_equal(end_of_child(write_behind, 100), 0);
    assert_int_not_equal(end_of_child(write_before, 100), 0);
    assert_int_not_equal(end_of_child(keep, 99), 0);
}
#endif

static void too_large_is_an_error(void **state)
{
    void *p = la_mem_alloc((size_t)1 << 51);
    assert_null(p);
    assert_int_equal(la_error_status(), LA_ENOMEM);
    p = la_mem_alloc(SIZE_MAX);
    assert_null(p);
    p = la_mem_alloc(SIZE_MAX - 62);
    assert_null(p);
}

static void the_cap_is_exact(void **state)
{
    size_t used = la_mem_stat().used, capacity = 1000003;
    la_mem_set_cap(used + capacity);
    assert_null(la_mem_alloc(capacity + 1));
    assert_non_null(strstr(la_error_message(), "1000004 bytes asked"));
    assert_non_null(strstr(la_error_message(), "limit"));
    void *p = la_mem_alloc(capacity);
    assert_non_null(p);
    assert_null(la_mem_alloc(1));
    void *none = la_mem_alloc(0);
    assert_non_null(none);
    la_mem_free(none, 0);
    la_mem_free(p, capacity);
    assert_non_null(p = la_mem_alloc(10));
    la_mem_free(p, 10);
    la_mem_set_cap(0);
    assert_int_equal(la_mem_stat().used, used);
}

static void cached_blocks_are_given_up_for_the_cap(void **state)
{
    size_t used = la_mem_stat().used, capacity = 32 << 20;
    void *a = la_mem_alloc(20 << 20);
    la_mem_free(a, 20 << 20);
    la_mem_set_cap(used + capacity);
    void *b = la_mem_alloc(capacity);
    assert_non_null(b);
    la_mem_info m = la_mem_stat();
    assert_true(m.used + m.cached <= m.cap + 4096);
    la_mem_free(b, capacity);
    la_mem_set_cap(0);
}

/* No cap and one that all fits under leave the cache as it is. */
static void a_cap_gives_up_what_is_above_it(void **state)
{
    if (!LA_CACHE_ON) skip();
    void *a = la_mem_alloc(20 << 20);
    la_mem_free(a, 20 << 20);
    la_mem_info m = la_mem_stat();
    assert_true(m.cached >= 20 << 20);
    const size_t fits[] = {0, m.used + m.cached, m.used + m.cached + (1 << 20)};
    for (int k = 0; k < 3; k++) {
        la_mem_set_cap(fits[k]);
        assert_int_equal(la_mem_stat().cached, m.cached);
    }
    la_mem_set_cap(m.used + m.cached - 1);
    m = la_mem_stat();
    assert_true(m.used + m.cached <= m.cap);
    la_mem_set_cap(0);
}

static void rehearsed_failures_hit_the_nth(void **state)
{
    for (int round = 0; round < 2; round++) {
        la_mem_fail_at(3, round);
        void *p[5];
        for (int i = 0; i < 5; i++) p[i] = la_mem_alloc(64u << (2 * i));
        la_mem_fail_at(0, false);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(!p[i], i == 2 || (round && i > 2));
            la_mem_free(p[i], 64u << (2 * i));
        }
    }
    assert_non_null(strstr(la_error_message(), "not enough memory"));
}

static void calls_are_counted(void **state)
{
    uint64_t before = la_mem_stat().allocations;
    for (int i = 0; i < 100; i++) {
        size_t bytes = (size_t)(i % 2 ? 100 : 100000);
        la_mem_free(la_mem_alloc(bytes), bytes);
    }
    assert_int_equal(la_mem_stat().allocations, before + 100);
}

enum { NHANDED = 1000 };
static void *handed[NHANDED];

static void *make_blocks(void *unused)
{
    for (int i = 0; i < NHANDED; i++) handed[i] = la_mem_alloc(192);
    return unused;
}

/* Blocks outlive the thread that made them; its counters are not lost. */
static void threads_hand_blocks_over(void **state)
{
    size_t used = la_mem_stat().used;
    for (int round = 0; round < 20; round++) {
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, make_blocks, NULL), 0);
        pthread_join(t, NULL);
        assert_int_equal(la_mem_stat().used, used + NHANDED * 192);
        for (int i = 0; i < NHANDED; i++) la_mem_free(handed[i], 192);
        assert_int_equal(la_mem_stat().used, used);
    }
}

static void *churn(void *seed)
{
    uint32_t x = (uint32_t)(uintptr_t)seed * 2654435761u + 1;
    void *p[64] = {0};
    size_t n[64] = {0};
    for (int i = 0; i < 20000; i++) {
        x = x * 1664525 + 1013904223;
        int k = x >> 26;
        la_mem_free(p[k], n[k]);
        n[k] = x >> 8 & ((x & 16) ? 0xffff : 0x3ff);
        p[k] = la_mem_alloc(n[k]);
        if (p[k]) memset(p[k], k, n[k]);
    }
    for (int k = 0; k < 64; k++) la_mem_free(p[k], n[k]);
    return NULL;
}

static void many_threads_churn(void **state)
{
    size_t used = la_mem_stat().used;
    pthread_t t[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, churn, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    assert_int_equal(la_mem_stat().used, used);
}

static void the_peak_is_kept(void **state)
{
    size_t used = la_mem_stat().used;
    void *p = la_mem_alloc(300 << 20);
    assert_non_null(p);
    la_mem_free(p, 300 << 20);
    assert_true(la_mem_stat().peak >= used + (300 << 20));
}

static void the_allocator_can_only_be_set_first(void **state)
{
    assert_int_equal(la_mem_set_allocator(NULL, NULL, NULL), LA_ESTATE);
}

static void checked_arithmetic(void **state)
{
    int64_t r;
    assert_true(la_mul_ok(1 << 30, 1 << 30, &r));
    assert_int_equal(r, INT64_C(1) << 60);
    assert_false(la_mul_ok(INT64_C(1) << 32, INT64_C(1) << 31, &r));
    assert_false(la_mul_ok(-1, 3, &r));
    assert_true(la_mul_ok(INT64_MAX, 0, &r));
    assert_false(la_add_ok(INT64_MAX, 1, &r));
    assert_true(la_add_ok(INT64_MAX, -1, &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_usable),
        cmocka_unit_test(zalloc_is_zero_also_from_the_cache),
        cmocka_unit_test(freed_blocks_are_reused),
        cmocka_unit_test(mapped_blocks_lie_on_huge_pages),
        cmocka_unit_test(the_cache_is_bounded),
#ifdef LA_DEBUG
        cmocka_unit_test(red_zones_are_checked),
#endif
        cmocka_unit_test(too_large_is_an_error),
        cmocka_unit_test(the_cap_is_exact),
        cmocka_unit_test(cached_blocks_are_given_up_for_the_cap),
        cmocka_unit_test(a_cap_gives_up_what_is_above_it),
        cmocka_unit_test(rehearsed_failures_hit_the_nth),
        cmocka_unit_test(calls_are_counted),
        cmocka_unit_test(threads_hand_blocks_over),
        cmocka_unit_test(many_threads_churn),
        cmocka_unit_test(the_peak_is_kept),
        cmocka_unit_test(the_allocator_can_only_be_set_first),
        cmocka_unit_test(checked_arithmetic)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
