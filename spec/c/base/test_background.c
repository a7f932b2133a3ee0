/*
** Calls of LAPACK ask nobody whether to go on: who waits for a large one stops
** waiting, and what was abandoned harms nobody.
*/
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/runtime/background.h"
#include "base/runtime/token.h"
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "base/runtime/thread_pool.h"
#include "lunarray.h"

enum { N = 600, SMALL = 64 };
static atomic_long blocks;
static atomic_bool no_small_blocks;     /* what a thread is noted in */

static void *get(void *context, size_t bytes, size_t alignment)
{
    void *block = NULL;
    if (no_small_blocks && bytes <= SMALL) return NULL;
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

/* A runtime for a test of LAPACK, which large matrices need; without it the
** test is skipped, before it has anything that the next one would find. */
static la_runtime *open_for_lapack(void)
{
    la_runtime *rt = open_runtime();
    la_tensor *t = random_matrix(N);
    la_tensor *r = la_call(NULL, "eigvalsh", t);
    bool none = !r && la_error_code() == LA_EKEY;
    la_release(r);
    la_release(t);
    if (none) {
        close_runtime(rt);
        skip();
    }
    return rt;
}

static double whole_time(la_tensor *t, const char *op)
{
    double begin = seconds();
    la_tensor *r = la_call(NULL, op, t);
    assert_non_null(r);
    la_release(r);
    return seconds() - begin;
}

static void a_deadline_holds(void **state)
{
    static const char *const ops[] = {"svdvals", "eigvals", "eigvalsh",
                                      "linalg.eig"};
    la_runtime *rt = open_for_lapack();
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
    la_runtime *rt = open_for_lapack();
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
    la_runtime *rt = open_for_lapack();
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

/* ---- tasks of our own ---- */

typedef struct patience {
    la_background head;
    int parts;
    char padding[2 * SMALL];    /* no small block itself */
} patience;

static atomic_int runs, parts, drops, asked, stop_after;
static atomic_bool released, forks;
static pid_t child;

/* The hook of the runtime: no, and from some question on yes. */
static bool stop(void *context, la_token *token)
{
    int n = atomic_fetch_add(&asked, 1);
    if (n == 4 && atomic_exchange(&forks, false)) child = fork();
    return n >= stop_after;
}

static void wait_patiently(la_background *e)
{
    atomic_fetch_add(&runs, 1);
    while (!released) la_thread_nap(100000);
}

static void ask_each_time(la_background *e)
{
    const patience *p = (patience *)e;
    for (int k = 0; k < p->parts && la_background_goes_on(e); k++)
        atomic_fetch_add(&parts, 1);
}

static void drop(la_background *e)
{
    atomic_fetch_add(&drops, 1);
    la_mem_free(e, sizeof(patience));
}

static la_status run_task(void (*run)(la_background *), int threads,
                          int stop_at)
{
    patience *p = la_mem_alloc(sizeof *p);
    assert_non_null(p);
    *p = (patience){.head = {.run = run, .drop = drop}, .parts = 1000};
    atomic_store(&asked, 0);
    atomic_store(&stop_after, stop_at);
    la_status status = la_background_run(&p->head, threads, NULL);
    if (status == LA_OK) drop(&p->head);
    la_region_status(status);
    return status;
}

static la_runtime *open_asking_runtime(void)
{
    la_config c = {.size = sizeof c, .alloc = get, .release = put,
                   .stop = stop};
    la_runtime *rt = la_runtime_new(&c);
    assert_non_null(rt);
    la_use(rt);
    atomic_store(&runs, 0);
    atomic_store(&parts, 0);
    atomic_store(&drops, 0);
    atomic_store(&released, false);
    return rt;
}

/* Who stops waiting again and again gets no more threads than there may be,
** also without a token. */
static void threads_have_a_limit(void **state)
{
    la_runtime *rt = open_asking_runtime();
    la_token *own = la_own_token;
    la_own_token = &la_no_token;
    enum { MOST = 2 * LA_MOST_BACKGROUND, CALLS = 5 };
    {
        LA_ENTRY_IN(rt);
        for (int k = 0; k < CALLS; k++)
            assert_int_equal(run_task(wait_patiently, LA_MOST_BACKGROUND, 2),
                             LA_EINTR);
        assert_true(runs <= MOST);
        released = true;
        la_background_end(rt);
        assert_int_equal(runs, MOST);
        assert_int_equal(drops, CALLS);
        assert_int_equal(run_task(wait_patiently, 2, INT_MAX), LA_OK);
        assert_int_equal(runs, MOST + 2);
    }
    la_own_token = own;
    close_runtime(rt);
}

/* A token has one abandoned task at a time; others have theirs. */
static void a_token_has_one_task(void **state)
{
    la_runtime *rt = open_asking_runtime();
    la_token *mine = la_token_new(), *other = la_token_new();
    {
        LA_ENTRY_IN(rt);
        la_token *before = la_own_token;
        la_own_token = mine;
        for (int k = 0; k < 5; k++)
            assert_int_equal(run_task(wait_patiently, 2, 2), LA_EINTR);
        assert_int_equal(drops, 4);     /* of those that did not begin */
        assert_int_equal(mine->away, 1);
        la_own_token = other;
        assert_int_equal(run_task(wait_patiently, 2, 2), LA_EINTR);
        assert_int_equal(drops, 4);
        released = true;
        la_own_token = mine;
        assert_int_equal(run_task(wait_patiently, 2, INT_MAX), LA_OK);
        la_background_end(rt);
        assert_int_equal(drops, 7);
        assert_int_equal(mine->away, 0);
        assert_int_equal(other->away, 0);
        la_own_token = before;
    }
    la_token_release(mine);
    la_token_release(other);
    close_runtime(rt);
}

/* Without threads it runs on the caller's, and may stop there too. */
static void no_thread_is_to_be_had(void **state)
{
    la_runtime *rt = open_asking_runtime();
    {
        LA_ENTRY_IN(rt);
        run_task(ask_each_time, 2, INT_MAX);      /* warm */
        atomic_store(&parts, 0);
        no_small_blocks = true;
        assert_int_equal(run_task(ask_each_time, 2, INT_MAX), LA_OK);
        assert_int_equal(parts, 1000);
        assert_true(asked >= 1000);
        assert_int_equal(run_task(ask_each_time, 2, 10), LA_EINTR);
        assert_int_equal(parts, 1010);
        no_small_blocks = false;
        assert_int_equal(drops, 3);
    }
    close_runtime(rt);
}

static void exit_with(bool good) { _exit(good ? 0 : 1); }

/* The child has no thread to wait for, and gives up what they held. */
static void a_hook_forks(void **state)
{
    la_runtime *rt = open_asking_runtime();
    int status = 0;
    {
        LA_ENTRY_IN(rt);
        forks = true;
        child = -1;
        la_status s = run_task(wait_patiently, 2, 20);
        if (child == 0) exit_with(s == LA_EINTR && drops == 1 && asked <= 5);
        assert_int_equal(s, LA_EINTR);
        released = true;
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close_runtime(rt);
    assert_int_equal(drops, 1);
}

/* ---- nobody to ask ---- */

static atomic_int shared_out;

static void run_range(void *host, int64_t n, int64_t grain, la_job fn,
                      void *context)
{
    atomic_fetch_add(&shared_out, 1);
    fn(0, n, context);
}

/* A thread without a token, in a runtime without a hook. */
static void *call_unstoppable(void *rt)
{
    la_use(rt);
    int64_t sizes[] = {3, N / 3, N / 3};
    la_tensor *t = la_call(NULL, "rand", la_any_ints(sizes, 3));
    atomic_store(&shared_out, 0);
    la_tensor *r = la_call(NULL, "linalg.svdvals", t);
    bool good = r || la_error_code() == LA_EKEY;
    if (r) good = shared_out > 0;
    la_release(r);
    la_release(t);
    return good ? rt : NULL;
}

/* The host's job system gets the matrices then. */
static void no_thread_is_needed(void **state)
{
    la_config c = {.size = sizeof c, .alloc = get, .release = put,
                   .jobs = {.size = sizeof c.jobs, .workers = 2,
                            .parallel_for = run_range}};
    la_runtime *rt = la_runtime_new(&c);
    assert_non_null(rt);
    pthread_t thread;
    void *good = NULL;
    assert_int_equal(pthread_create(&thread, NULL, call_unstoppable, rt), 0);
    pthread_join(thread, &good);
    assert_non_null(good);
    close_runtime(rt);
}

int main(void)
{
    setenv("LUNARRAY_LAPACK", "liblapack.so.3", 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_holds),
        cmocka_unit_test(given_memory_stays_out),
        cmocka_unit_test(many_are_left_behind),
        cmocka_unit_test(threads_have_a_limit),
        cmocka_unit_test(a_token_has_one_task),
        cmocka_unit_test(no_thread_is_to_be_had),
        cmocka_unit_test(a_hook_forks),
        cmocka_unit_test(no_thread_is_needed)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
