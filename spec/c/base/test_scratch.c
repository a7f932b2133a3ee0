/* Scratch of kernels: where buffers lie, without memory for a block, while a
** function of the host's runs, and that every block goes back. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/runtime/host_call.h"
#include "base/scratch.h"
#include "lunarray.h"

enum { N = 1000 };

/* ---- an allocator that may refuse blocks of scratch ---- */

typedef struct host {
    atomic_bool refuses;
    atomic_int refused, blocks;
} host;

static void *get(void *context, size_t bytes, size_t alignment)
{
    host *h = context;
    void *block = NULL;
    if (h->refuses && bytes >= LA_SCRATCH_BYTES) {
        atomic_fetch_add(&h->refused, 1);
        return NULL;
    }
    if (posix_memalign(&block, alignment, bytes)) return NULL;
    atomic_fetch_add(&h->blocks, 1);
    return block;
}

static void put(void *context, void *block, size_t bytes)
{
    host *h = context;
    atomic_fetch_sub(&h->blocks, 1);
    free(block);
}

static la_runtime *open_runtime(host *h)
{
    la_config c = {.size = sizeof c, .alloc = get, .release = put,
                   .alloc_context = h};
    c.jobs.size = sizeof c.jobs;
    la_runtime *rt = la_runtime_new(&c);
    assert_non_null(rt);
    return rt;
}

/* ---- buffers in buffers ---- */

static void fill(int *p, int value)
{
    for (int i = 0; i < N; i++) p[i] = value;
}

static bool holds(const int *p, int value)
{
    for (int i = 0; i < N; i++) if (p[i] != value) return false;
    return true;
}

static bool nested(int depth)
{
    LA_SCRATCH(int, a, N);
    LA_SCRATCH_ROWS(int, b, 2, N);
    fill(a, depth);
    fill(b[0], -depth);
    fill(b[1], depth << 8);
    bool good = (uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0;
    if (depth > 0) good &= nested(depth - 1) && nested(depth - 1);
    return good && holds(a, depth) && holds(b[0], -depth)
        && holds(b[1], depth << 8);
}

static char *where(void)
{
    LA_SCRATCH(char, here, 1);
    *here = 1;
    return here;
}

static void buffers_nest(void **state)
{
    (void)state;
    char *first = where();
    assert_true(nested(8));
    assert_ptr_equal(where(), first);
}

/* ---- threads without memory ---- */

static void *work(void *rt)
{
    la_runtime *before = la_use(rt);
    la_position was = la_here;
    la_move_to(rt);
    bool good = true;
    for (int i = 0; i < 200; i++) good &= nested(3);
    la_move_back(&was);
    la_use(before);
    return good ? rt : NULL;
}

static void threads_share_the_last_block(void **state)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    host h = {0};
    la_runtime *rt = open_runtime(&h);
    (void)state;
    h.refuses = true;
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, work, rt), 0);
    for (int k = 0; k < THREADS; k++) {
        void *good;
        pthread_join(thread[k], &good);
        assert_non_null(good);
    }
    assert_true(h.refused > 0);
    h.refuses = false;
    assert_ptr_equal(work(rt), rt);
    assert_int_equal(la_runtime_destroy(rt), 0);
    assert_int_equal(h.blocks, 0);
}

/* ---- functions of the host's ---- */

/* What another fiber of this thread leaves behind does not matter. */
static void callbacks_have_their_own(void **state)
{
    host h = {0};
    la_runtime *rt = open_runtime(&h);
    la_position was = la_here;
    (void)state;
    la_move_to(rt);
    {
        LA_SCRATCH(int, mine, N);
        la_host_call call;
        fill(mine, 7);
        la_host_begin(&call);
        la_position inside = la_here;
        la_move_to(rt);
        int *other = (void *)la_scratch_take(N * sizeof *other);
        assert_ptr_not_equal(other, mine);
        fill(other, 8);
        la_move_back(&inside);
        la_host_end(&call);
        assert_true(nested(4));
        assert_true(holds(mine, 7));
    }
    char *first = where();
    assert_ptr_equal(where(), first);
    la_move_back(&was);
    assert_int_equal(la_runtime_destroy(rt), 0);
    assert_int_equal(h.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_nest),
        cmocka_unit_test(threads_share_the_last_block),
        cmocka_unit_test(callbacks_have_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
