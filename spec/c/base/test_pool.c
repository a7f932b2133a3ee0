/* parallel_for: every index once, nesting, forks, modes, hosts, interrupts. */
#include <dirent.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/fpmode.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"

/* Forked children leave without freeing what the test runner holds. */
#define SEEN __attribute__((visibility("default")))
SEEN int __lsan_is_turned_off(void);
SEEN const char *__tsan_default_options(void);
int __lsan_is_turned_off(void) { return 1; }
const char *__tsan_default_options(void) { return "die_after_fork=0"; }

/* It cannot follow threads across a fork. */
#ifdef __SANITIZE_THREAD__
#define SKIP_FORK() skip()
#else
#define SKIP_FORK() (void)0
#endif

enum { N = 100003 };
static atomic_uchar hits[N];

static void hit(int64_t begin, int64_t end, void *context)
{
    for (int64_t i = begin; i < end; i++) atomic_fetch_add(&hits[i], 1);
}

static void assert_each_once(int64_t n)
{
    for (int64_t i = 0; i < n; i++) assert_int_equal(hits[i], 1);
    memset(hits, 0, sizeof hits);
}

static void each_index_runs_once(void **state)
{
    static const int64_t lengths[] = {1, 2, 3, 7, 64, 1000, N};
    for (int threads = 1; threads <= 7; threads++) {
        la_set_num_threads(threads);
        for (int k = 0; k < 7; k++)
            for (int64_t grain = 0; grain < 300; grain += 99) {
                la_parallel_for(lengths[k], grain, hit, NULL);
                assert_each_once(lengths[k]);
            }
    }
    la_parallel_for(0, 1, hit, NULL);
    la_parallel_for(-5, 1, hit, NULL);
    assert_int_equal(hits[0], 0);
}

static atomic_llong sum;
static atomic_int pieces;

static void start_counting(void)
{
    sum = 0;
    pieces = 0;
}

static void add_length(int64_t begin, int64_t end, void *context)
{
    atomic_fetch_add(&sum, end - begin);
    atomic_fetch_add(&pieces, 1);
    if (context) assert_true(end - begin >= *(int64_t *)context);
}

static void long_ranges_and_grains(void **state)
{
    int64_t n = INT64_C(1) << 40, grain = n / 3;
    la_set_num_threads(4);
    start_counting();
    la_parallel_for(n, grain, add_length, &grain);
    assert_int_equal(sum, n);
    assert_int_equal(pieces, 3);
    start_counting();
    la_parallel_for(INT64_MAX, 1, add_length, NULL);
    assert_int_equal(sum, INT64_MAX);
    assert_int_equal(pieces, 4);
}

static void nested(int64_t begin, int64_t end, void *context)
{
    assert_true(la_in_parallel());
    la_parallel_for(100, 1, add_length, NULL);
}

static void nested_regions_are_serial(void **state)
{
    la_set_num_threads(4);
    start_counting();
    la_parallel_for(4, 1, nested, NULL);
    assert_int_equal(pieces, 4);
    assert_int_equal(sum, 400);
    assert_false(la_in_parallel());
}

static void note_index(int64_t begin, int64_t end, void *context)
{
    atomic_int *seen = context;
    int k = la_thread_index();
    assert_in_range(k, 0, 7);
    atomic_fetch_add(&seen[k], 1);
    struct timespec nap = {0, 2000000};
    nanosleep(&nap, NULL);
}

static void workers_have_indices(void **state)
{
    atomic_int seen[8] = {0};
    la_set_num_threads(3);
    la_parallel_for(3, 1, note_index, seen);
    assert_int_equal(seen[0] + seen[1] + seen[2], 3);
    assert_int_equal(la_thread_index(), 0);
}

static atomic_int first_elsewhere;

static void note_first(int64_t begin, int64_t end, void *context)
{
    if (begin == 0 && la_thread_index() != 0)
        atomic_fetch_add(&first_elsewhere, 1);
}

static void the_first_chunk_is_the_callers(void **state)
{
    la_set_num_threads(2);
    for (int k = 0; k < 5000; k++) la_parallel_for(2, 1, note_first, NULL);
    assert_int_equal(first_elsewhere, 0);
}

static void *call_regions(void *unused)
{
    for (int i = 0; i < 2000; i++) la_parallel_for(1000, 10, add_length, NULL);
    return unused;
}

static void several_callers(void **state)
{
    pthread_t t[4];
    la_set_num_threads(3);
    start_counting();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, call_regions, NULL), 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    assert_int_equal(sum, 4 * 2000 * 1000);
}

static void assert_child_succeeds(pid_t child)
{
    int status = -1;
    for (int i = 0; i < 1000; i++) {
        struct timespec nap = {0, 10000000};
        if (waitpid(child, &status, WNOHANG) == child) break;
        nanosleep(&nap, NULL);
    }
    assert_int_equal(status, 0);
}

static void a_child_has_a_pool_of_its_own(void **state)
{
    SKIP_FORK();
    la_set_num_threads(3);
    la_parallel_for(N, 1, hit, NULL);
    assert_each_once(N);
    pid_t child = fork();
    if (child == 0) {
        la_parallel_for(N, 1, hit, NULL);
        for (int i = 0; i < N; i++)
            if (hits[i] != 1) _exit(1);
        exit(0);  /* with destructors */
    }
    assert_child_succeeds(child);
    la_parallel_for(N, 1, hit, NULL);
    assert_each_once(N);
}

static void fork_in_chunk(int64_t begin, int64_t end, void *context)
{
    pid_t *children = context;
    pid_t child = fork();
    if (child) children[begin] = child;
}

static void fork_inside_a_region(void **state)
{
    SKIP_FORK();
    pid_t parent = getpid(), children[3] = {0};
    la_set_num_threads(3);
    la_parallel_for(3, 1, fork_in_chunk, children);
    if (getpid() != parent) _exit(0);  /* the child of the caller */
    for (int i = 0; i < 3; i++) assert_child_succeeds(children[i]);
}

static void note_mode(int64_t begin, int64_t end, void *context)
{
    atomic_int *seen = context;
    volatile double tiny = 1.0, three = 3.0;
    atomic_store(&seen[begin], tiny / three > 0.33333333333333333);
    struct timespec nap = {0, 2000000};
    nanosleep(&nap, NULL);
}

static void workers_take_over_the_rounding_mode(void **state)
{
    atomic_int seen[3];
    la_set_num_threads(3);
    for (int up = 0; up < 2; up++) {
        fesetround(up ? FE_UPWARD : FE_DOWNWARD);
        la_parallel_for(3, 1, note_mode, seen);
        assert_int_equal(fegetround(), up ? FE_UPWARD : FE_DOWNWARD);
        fesetround(FE_TONEAREST);
        for (int i = 0; i < 3; i++) assert_int_equal(seen[i], up);
    }
}

static void divide(int64_t begin, int64_t end, void *context)
{
    volatile double zero = 0.0, r = 0.0;
    r = 1.0 / zero;
    (void)r;
}

#ifdef __SSE2__
static void unmasked_exceptions_do_not_trap(void **state)
{
    la_fp_mode before = la_fp_current();
    la_fp_restore(before & ~UINT64_C(0x200));  /* division by zero */
    la_parallel_for(3, 1, divide, NULL);
    la_fp_mode after = la_fp_current();
    la_fp_restore(before);
    assert_int_equal(after & 0x1f80, before & 0x1f80 & ~UINT64_C(0x200));
}
#endif

static void backwards(void *host, int64_t n, int64_t grain, la_range_fn fn,
                      void *context)
{
    int64_t step = n / 5 + 1, missed = *(int *)host;
    for (int64_t end = n; end > 0; end -= step)
        if (missed-- != 1)
            fn(end > step ? end - step : 0, end, context);
}

static void a_host_can_run_the_ranges(void **state)
{
    int missed = 0;
    la_set_parallel_for(backwards, &missed);
    la_parallel_for(N, 100, hit, NULL);
    assert_each_once(N);
    assert_false(la_region_status(LA_OK));
    missed = 2;
    la_parallel_for(N, 100, hit, NULL);
    la_set_parallel_for(NULL, NULL);
    memset(hits, 0, sizeof hits);
    assert_true(la_region_status(LA_OK));
    assert_false(la_region_status(LA_OK));
}

/* As many indices as there are, but one range twice instead of another. */
static void twice(void *host, int64_t n, int64_t grain, la_range_fn fn,
                  void *context)
{
    fn(0, n / 2, context);
    fn(0, n / 2, context);
}

static void outside(void *host, int64_t n, int64_t grain, la_range_fn fn,
                    void *context)
{
    fn(0, n, context);
    fn(n, 2 * n, context);
}

static void a_host_that_repeats_a_range_is_found_out(void **state)
{
    la_set_parallel_for(twice, NULL);
    la_parallel_for(N & ~1, 100, hit, NULL);
    memset(hits, 0, sizeof hits);
    assert_int_equal(la_region_status(LA_OK), LA_EJOBS);
    assert_non_null(strstr(la_error_message(), "missed or repeated a range"));
    la_set_parallel_for(outside, NULL);
    la_parallel_for(N, 100, hit, NULL);     /* the second range does not run */
    la_set_parallel_for(NULL, NULL);
    assert_each_once(N);
    assert_int_equal(la_region_status(LA_OK), LA_EJOBS);
}

static bool say(void *host) { return *(bool *)host; }

static void the_interrupt_hook_is_asked(void **state)
{
    bool stop = false;
    assert_false(la_interrupted());
    la_set_interrupt(say, &stop);
    assert_false(la_interrupted());
    stop = true;
    assert_true(la_interrupted());
    stop = false;
    assert_true(la_interrupted());      /* until the operation has ended */
    assert_int_equal(la_poll(), LA_EINTR);
    assert_int_equal(la_poll(), LA_OK);
    assert_false(la_interrupted());
    la_set_interrupt(NULL, NULL);
}

static void shutdown_and_again(void **state)
{
    for (int i = 0; i < 5; i++) {
        la_set_num_threads(4);
        la_parallel_for(N, 1, hit, NULL);
        assert_each_once(N);
        la_pool_shutdown();
    }
}

static void sleepers_wake(void **state)
{
    la_set_num_threads(2);
    for (int i = 0; i < 20; i++) {
        struct timespec nap = {0, 1000000};
        nanosleep(&nap, NULL);
        la_parallel_for(N, 1, hit, NULL);
        assert_each_once(N);
    }
}

/* Other threads of this process: how many wait in the kernel, and how often
** any of them was taken off a processor. */
typedef struct others {
    int n, asleep;
    long switches;
} others;

static others ask_kernel(void)
{
    char path[300], line[512];
    others o = {0};
    long count;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) {
        if (atoi(e->d_name) <= 0 || atoi(e->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *f = fopen(path, "r");
        while (f && fgets(line, sizeof line, f)) {
            o.asleep += strncmp(line, "State:\tS", 8) == 0;
            if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1
                || sscanf(line, "nonvoluntary_ctxt_switches: %ld", &count) == 1)
                o.switches += count;
        }
        if (f) fclose(f);
        o.n++;
    }
    if (d) closedir(d);
    return o;
}

/* A worker without work goes to sleep and is not woken until there is some: it
** isn't put on a processor even once. */
static void idle_workers_sleep(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip();     /* has a busy thread of its own */
#endif
    struct timespec nap = {0, 1000000};
    la_pool_shutdown();
    la_set_num_threads(3);
    la_parallel_for(N, 1, hit, NULL);
    assert_each_once(N);
    others first, before = ask_kernel();
    if (before.n == 0) skip();      /* no /proc */
    assert_int_equal(before.n, 2);
    do {        /* asleep, and not only waiting for the lock to sleep under */
        first = before;
        nanosleep(&nap, NULL);
        before = ask_kernel();
    } while (before.asleep < before.n || before.switches != first.switches);
    for (int i = 0; i < 50; i++) nanosleep(&nap, NULL);
    others after = ask_kernel();
    assert_int_equal(after.asleep, after.n);
    assert_int_equal(after.switches, before.switches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_index_runs_once),
        cmocka_unit_test(long_ranges_and_grains),
        cmocka_unit_test(nested_regions_are_serial),
        cmocka_unit_test(workers_have_indices),
        cmocka_unit_test(the_first_chunk_is_the_callers),
        cmocka_unit_test(several_callers),
        cmocka_unit_test(a_child_has_a_pool_of_its_own),
        cmocka_unit_test(fork_inside_a_region),
        cmocka_unit_test(workers_take_over_the_rounding_mode),
#ifdef __SSE2__
        cmocka_unit_test(unmasked_exceptions_do_not_trap),
#endif
        cmocka_unit_test(a_host_can_run_the_ranges),
        cmocka_unit_test(a_host_that_repeats_a_range_is_found_out),
        cmocka_unit_test(the_interrupt_hook_is_asked),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(idle_workers_sleep),
        cmocka_unit_test(shutdown_and_again)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
