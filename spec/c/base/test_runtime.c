/*
** Runtimes: allocators, caps, job systems, logs and hooks of their own; what
** belongs to one stays in it; an end that gives everything back.
*/
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

/* ---- hosts ---- */

typedef struct host {
    atomic_long blocks, bytes, most;    /* bytes beyond 'most' are refused */
    atomic_int refused, forgiving, lines, asked, regions;
    la_tensor *_Atomic victim;          /* released under pressure */
    char line[256];
} host;

static void *get(void *context, size_t bytes, size_t alignment)
{
    host *h = context;
    void *block = NULL;
    if (h->most && h->bytes + (long)bytes > h->most) {
        atomic_fetch_add(&h->refused, 1);
        la_tensor *t = atomic_exchange(&h->victim, NULL);
        la_release(t);
        if (!t || h->bytes + (long)bytes > h->most) return NULL;
    }
    if (posix_memalign(&block, alignment, bytes)) return NULL;
    memset(block, 0xa5, bytes);
    atomic_fetch_add(&h->blocks, 1);
    atomic_fetch_add(&h->bytes, (long)bytes);
    return block;
}

static void put(void *context, void *block, size_t bytes)
{
    host *h = context;
    atomic_fetch_sub(&h->blocks, 1);
    atomic_fetch_sub(&h->bytes, (long)bytes);
    memset(block, 0x5a, bytes);
    free(block);
}

static void write_line(void *context, int level, const char *text)
{
    host *h = context;
    if (level == LA_LOG_ERROR)
        strncpy(h->line, text, sizeof h->line - 1);
    atomic_fetch_add(&h->lines, 1);
}

static bool say_stop(void *context, la_token *token)
{
    host *h = context;
    atomic_fetch_add(&h->asked, 1);
    return la_token_code(token) == 0;
}

static la_config config_of(host *h)
{
    la_config c = {.size = sizeof c, .alloc = get, .release = put,
                   .alloc_context = h, .log = write_line, .log_context = h};
    c.jobs.size = sizeof c.jobs;
    c.jobs.host = h;
    return c;
}

static la_runtime *open_runtime(const la_config *c)
{
    la_runtime *rt = la_runtime_new(c);
    if (!rt) fail_msg("%s", la_error_text());
    assert_int_equal(la_error_code(), 0);
    return rt;
}

static void close_runtime(la_runtime *rt, host *h)
{
    if (la_runtime_destroy(rt)) fail_msg("%s", la_error_text());
    assert_int_equal(la_error_code(), 0);
    assert_string_equal(la_error_text(), "");
    assert_int_equal(h->blocks, 0);
    assert_int_equal(h->bytes, 0);
}

static la_tensor *of_size(int64_t n)
{
    return la_new("float32", 1, &n);
}

static double item(la_tensor *t)
{
    assert_non_null(t);
    double v = 0;
    if (strcmp(la_tensor_dtype(t), "float32") == 0)
        v = *(float *)la_tensor_data(t);
    else if (strcmp(la_tensor_dtype(t), "int64") == 0)
        v = (double)*(int64_t *)la_tensor_data(t);
    la_release(t);
    return v;
}

static void run(lua_State *L, const char *text)
{
    if (luaL_dostring(L, text)) fail_msg("%s", lua_tostring(L, -1));
}

/* ---- memory ---- */

static void every_block_comes_back(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    la_runtime *rt = open_runtime(&c);
    assert_true(h.blocks > 0);
    la_use(rt);
    la_tensor *a = of_size(3), *b = of_size(300000);
    la_tensor *r = la_call(NULL, "fft_fft", b);
    assert_non_null(r);
    assert_null(la_call(NULL, "matmul", a, b));
    assert_int_equal(la_error_code(), LA_ESHAPE);
    la_memory m = {.size = sizeof m};
    assert_int_equal(la_memory_stat(rt, &m), 0);
    assert_true(m.now >= 1200000 && m.peak >= m.now);
    assert_int_equal(m.blocks, h.blocks);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    assert_non_null(strstr(la_error_text(), "la_runtime_destroy"));
    la_release(a);
    la_release(b);
    la_release(r);
    assert_int_equal(la_memory_stat(rt, &m), 0);
    assert_true(m.now < 4000000);
    la_trim(rt);
    assert_int_equal(la_memory_stat(rt, &m), 0);
    assert_int_equal(m.now, 0);
    assert_true(m.cached < 4096);   /* but what workers keep */
    close_runtime(rt, &h);
    assert_null(la_use(NULL));      /* the choice went with it */
}

static void caps_are_their_own(void **state)
{
    host h = {0}, g = {0};
    la_config c = config_of(&h), d = config_of(&g);
    c.memory = 1 << 20;
    la_runtime *small = open_runtime(&c), *large = open_runtime(&d);
    la_use(small);
    la_tensor *none = of_size(1 << 20);
    assert_null(none);
    assert_int_equal(la_error_code(), LA_ENOMEM);
    assert_ptr_equal(la_use(large), small);
    la_tensor *t = of_size(1 << 20);
    assert_non_null(t);
    assert_ptr_equal(la_runtime_of(t), large);
    la_memory m = {.size = sizeof m};
    la_memory_stat(small, &m);
    assert_int_equal(m.cap, 1 << 20);
    assert_true(m.now < 1 << 20);
    la_use(NULL);
    la_release(t);                  /* elsewhere than the thread is */
    t = of_size(1 << 20);
    assert_null(la_runtime_of(t));
    la_release(t);
    close_runtime(small, &h);
    close_runtime(large, &g);
}

static void allocators_may_purge_or_refuse(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    la_runtime *rt = open_runtime(&c);
    la_use(rt);
    h.most = h.bytes + (2 << 20);
    la_tensor *t = of_size(1 << 18);    /* a megabyte */
    assert_non_null(t);
    h.victim = t;
    t = of_size(3 << 17);               /* fits without the first alone */
    assert_non_null(t);
    assert_true(h.refused > 0);
    la_release(t);
    t = of_size(1 << 18);               /* caches are given up for it */
    assert_non_null(t);
    assert_null(of_size(1 << 20));
    assert_int_equal(la_error_code(), LA_ENOMEM);
    la_release(t);
    la_use(NULL);
    close_runtime(rt, &h);
    h = (host){.most = 100};            /* not even the first block */
    c = config_of(&h);
    assert_null(la_runtime_new(&c));
    assert_int_equal(la_error_code(), LA_ENOMEM);
}

static void new_memory_is_zero_where_asked(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    c.flags = LA_ZERO_MEMORY;
    la_runtime *rt = open_runtime(&c);
    la_use(rt);
    for (int64_t n = 4; n < 100000; n *= 20)
        for (int round = 0; round < 2; round++) {
            la_tensor *t = la_call(NULL, "empty", (int)n);
            assert_non_null(t);
            float *p = la_tensor_data(t);
            for (int64_t i = 0; i < n; i++) assert_true(p[i] == 0);
            memset(p, 0xff, (size_t)n * sizeof *p);
            la_release(t);
        }
    la_use(NULL);
    close_runtime(rt, &h);
}

/* ---- what belongs to one stays in it ---- */

static void tensors_do_not_mix(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    la_runtime *rt = open_runtime(&c);
    la_tensor *ours = of_size(4);
    la_use(rt);
    la_tensor *theirs = of_size(4);
    assert_null(la_call(NULL, "add", ours, theirs));
    assert_int_equal(la_error_code(), LA_EARG);
    assert_null(la_call(NULL, "add", theirs, ours));
    assert_int_equal(la_error_code(), LA_EARG);
    la_tensor *list[2] = {theirs, ours};
    assert_null(la_call(NULL, "cat", la_any_tensors(list, 2)));
    assert_int_equal(la_error_code(), LA_EARG);
    la_tensor *sum = la_call(NULL, "add", theirs, theirs);
    assert_ptr_equal(la_runtime_of(sum), rt);
    la_release(sum);

    lua_State *L = luaL_newstate();
    assert_int_equal(la_push(L, theirs), LA_ESTATE);
    assert_int_equal(la_openlibs_in(L, rt), 0);
    assert_int_equal(la_openlibs(L), LA_ESTATE);
    assert_int_equal(la_push(L, ours), LA_EARG);
    assert_int_equal(lua_gettop(L), 0);
    assert_int_equal(la_push(L, theirs), 0);
    la_use(NULL);
    la_release(theirs);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    lua_close(L);
    la_release(ours);
    close_runtime(rt, &h);
    assert_int_equal(la_runtime_destroy(NULL), LA_EARG);
}

static int nothing(la_frame *f) { (void)f; return 0; }

static int shape_first(la_frame *f)
{
    int64_t sizes[1] = {1};
    return la_frame_output(f, 0, "float32", 1, sizes);
}

/* What the default runtime was given is not there elsewhere. */
static void operations_are_their_own(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    la_runtime *rt = open_runtime(&c);
    assert_int_equal(la_register_op("only_here(Tensor self) -> Tensor", "",
                                    shape_first, nothing), 0);
    int device = la_register_device("toy");
    assert_true(device > 0);
    la_use(rt);
    la_tensor *t = of_size(2);
    assert_null(la_call(NULL, "only_here", t));
    assert_int_equal(la_error_code(), LA_EARG);
    assert_null(la_call(NULL, "zeros", 2,
                        la_any_named("device", la_any_text("toy"))));
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs_in(L, rt), 0);
    run(L, "assert(require('lunarray').only_here == nil)");
    lua_close(L);
    la_release(t);
    la_use(NULL);
    t = of_size(2);
    la_tensor *r = la_call(NULL, "only_here", t);
    assert_non_null(r);
    la_release(r);
    la_release(t);
    close_runtime(rt, &h);
}

static void threads_have_generators_of_their_own(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    la_runtime *rt = open_runtime(&c);
    la_release(la_call(NULL, "manual_seed", 7));
    assert_int_equal(la_error_code(), 0);
    double first = item(la_call(NULL, "rand", 1));
    double second = item(la_call(NULL, "rand", 1));
    la_release(la_call(NULL, "manual_seed", 7));
    assert_true(item(la_call(NULL, "rand", 1)) == first);
    la_use(rt);
    la_release(la_call(NULL, "manual_seed", 9));
    assert_true(item(la_call(NULL, "rand", 1)) != second);
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    la_openlibs(L);
    run(L, "local la = require('lunarray') la.manual_seed(1) la.rand(3)\n"
           "la.set_default_dtype('float64')");
    la_use(NULL);
    assert_true(item(la_call(NULL, "rand", 1)) == second);
    lua_close(L);
    close_runtime(rt, &h);
}

/* ---- job systems ---- */

typedef struct task {
    pthread_t thread;
    int64_t begin, end;
    la_job fn;
    void *context;
} task;

static void *run_task(void *p)
{
    task *t = p;
    t->fn(t->begin, t->end, t->context);
    return NULL;
}

/* Halves: one on another thread, one here. */
static void in_halves(void *host_, int64_t n, int64_t grain, la_job fn,
                      void *context)
{
    task t = {.begin = n / 2, .end = n, .fn = fn, .context = context};
    atomic_fetch_add(&((host *)host_)->regions, 1);
    pthread_create(&t.thread, NULL, run_task, &t);
    fn(0, n / 2, context);
    pthread_join(t.thread, NULL);
}

static void lose_half(void *host_, int64_t n, int64_t grain, la_job fn,
                      void *context)
{
    fn(0, n / 2, context);
}

static void repeat_half(void *host_, int64_t n, int64_t grain, la_job fn,
                        void *context)
{
    fn(0, n, context);
    fn(0, n / 2, context);
}

static void *begin_task(void *host_, int64_t n, int64_t grain, la_job fn,
                        void *context)
{
    task *t = malloc(sizeof *t);
    *t = (task){.end = n, .fn = fn, .context = context};
    atomic_fetch_add(&((host *)host_)->regions, 1);
    pthread_create(&t->thread, NULL, run_task, t);
    return t;
}

static void *run_now(void *host_, int64_t n, int64_t grain, la_job fn,
                     void *context)
{
    atomic_fetch_add(&((host *)host_)->regions, 1);
    fn(0, n, context);
    return NULL;
}

static void finish_task(void *host_, void *p)
{
    task *t = p;
    pthread_join(t->thread, NULL);
    free(t);
}

static la_tensor *sum_of_ones(int n)
{
    la_tensor *t = la_call(NULL, "ones", n);
    assert_non_null(t);
    la_tensor *twice = la_call(NULL, "add", t, t);
    la_release(t);
    la_tensor *sum = twice ? la_call(NULL, "sum", twice) : NULL;
    la_release(twice);
    return sum;
}

static void job_systems_run_ranges(void **state)
{
    for (int kind = 0; kind < 3; kind++) {
        host h = {0};
        la_config c = config_of(&h);
        if (kind == 0) c.jobs.parallel_for = in_halves;
        else c.jobs.enqueue = kind == 1 ? begin_task : run_now;
        if (kind > 0) c.jobs.finish = finish_task;
        c.jobs.workers = 3;
        la_runtime *rt = open_runtime(&c);
        assert_int_equal(la_thread_count(rt), 3);
        assert_int_equal(la_set_thread_count(rt, 2), LA_ESTATE);
        la_use(rt);
        assert_true(item(sum_of_ones(1 << 20)) == 2 << 20);
        assert_true(h.regions > 0);
        la_use(NULL);
        int before = h.regions;
        assert_true(item(sum_of_ones(1 << 20)) == 2 << 20);
        assert_int_equal(h.regions, before);
        close_runtime(rt, &h);
    }
}

static void lost_ranges_are_errors(void **state)
{
    for (int kind = 0; kind < 2; kind++) {
        host h = {0};
        la_config c = config_of(&h);
        c.jobs.parallel_for = kind ? repeat_half : lose_half;
        c.jobs.workers = 4;
        la_runtime *rt = open_runtime(&c);
        la_use(rt);
        la_tensor *t = of_size(1 << 20);
        la_tensor *none = la_call(NULL, "exp", t);
        assert_null(none);
        assert_int_equal(la_error_code(), LA_EJOBS);
        assert_non_null(strstr(h.line, "job system"));
        assert_true(item(la_call(NULL, "ones", 3)) == 1);   /* no trace left */
        la_release(t);
        la_use(NULL);
        close_runtime(rt, &h);
    }
}

static void one_worker_is_serial(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    c.jobs.parallel_for = lose_half;
    c.jobs.workers = 1;
    la_runtime *rt = open_runtime(&c);
    la_use(rt);
    assert_true(item(sum_of_ones(1 << 20)) == 2 << 20);
    la_use(NULL);
    close_runtime(rt, &h);
}

static void own_threads_are_counted(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    c.jobs.workers = 3;
    la_runtime *rt = open_runtime(&c);
    assert_int_equal(la_thread_count(rt), 3);
    int before = la_thread_count(NULL);
    assert_int_equal(la_set_thread_count(rt, 2), 0);
    assert_int_equal(la_thread_count(rt), 2);
    assert_int_equal(la_thread_count(NULL), before);
    assert_int_equal(la_set_thread_count(rt, 0), LA_EARG);
    la_use(rt);
    assert_true(item(sum_of_ones(1 << 20)) == 2 << 20);
    la_use(NULL);
    close_runtime(rt, &h);
}

static void stop_hooks_are_their_own(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    c.stop = say_stop;
    c.stop_context = &h;
    la_runtime *rt = open_runtime(&c);
    la_use(rt);
    la_tensor *t = of_size(4 << 20);
    assert_non_null(t);
    assert_null(la_call(NULL, "cumsum", t, 1));
    assert_int_equal(la_error_code(), LA_EINTR);
    assert_true(h.asked > 0);
    la_release(t);
    la_use(NULL);
    t = of_size(4 << 20);
    la_tensor *r = la_call(NULL, "cumsum", t, 1);
    assert_non_null(r);
    la_release(r);
    la_release(t);
    close_runtime(rt, &h);
}

/* ---- threads ---- */

typedef struct player {
    la_runtime *rt;
    double answer;
    int code;
} player;

static void *play(void *p)
{
    player *me = p;
    la_use(me->rt);
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    me->code = la_openlibs_in(L, me->rt);
    me->code |= luaL_dostring(L, "local la = require('lunarray')\n"
        "local s = 0\n"
        "for i = 1, 200 do\n"
        "  local x = la.ones(i * 7) + la.rand(1) * 0\n"
        "  s = s + x:sum():item()\n"
        "  pcall(la.zeros(2, 3).matmul, la.zeros(2, 3), la.zeros(2, 3))\n"
        "end\n"
        "return s + (la.ones(100000) * 2):sum():item()");
    me->answer = lua_tonumber(L, -1);
    lua_close(L);
    me->code |= la_new("none", 0, NULL) != NULL;    /* an error stays behind */
    return NULL;
}

/* Each has a runtime, then all have one; records of threads that still live
** go with their runtime. */
static void threads_play_apart(void **state)
{
    enum { N = 3 };
    pthread_t thread[N];
    host h[N] = {{0}};
    player p[N];
    for (int shared = 0; shared < 2; shared++) {
        for (int k = 0; k < N; k++) {
            la_config c = config_of(&h[k]);
            c.jobs.workers = 2;
            p[k] = (player){.rt = k && shared ? p[0].rt : open_runtime(&c)};
            pthread_create(&thread[k], NULL, play, &p[k]);
        }
        for (int k = 0; k < N; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < N; k++) {
            assert_int_equal(p[k].code, 0);
            assert_true(p[k].answer == 140700 + 200000);
            if (!k || !shared) close_runtime(p[k].rt, &h[k]);
        }
    }
}

/* A sandbox in a runtime and one in the default one: each has its limits, and
** is closed from anywhere. */
static void sandboxes_have_runtimes(void **state)
{
    host h = {0};
    la_config c = config_of(&h);
    la_limits limits = {.size = sizeof limits, .memory = 32 << 20};
    lua_State *L = luaL_newstate(), *M = luaL_newstate();
    limits.runtime = open_runtime(&c);
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    long before = h.bytes;
    run(L, "x = lunarray.ones(1 << 20) assert(x:sum():item() == 1 << 20)");
    assert_true(h.bytes >= before + (4 << 20));
    lua_getglobal(L, "x");
    assert_ptr_equal(la_runtime_of(la_test(L, -1)), limits.runtime);
    la_limits old = {.size = offsetof(la_limits, open), .runtime = (void *)&h};
    assert_int_equal(la_open_sandboxed(M, &old), 0);    /* not read */
    assert_int_equal(la_push(M, la_test(L, -1)), LA_EARG);
    lua_settop(L, 0);
    assert_int_equal(la_open_sandboxed(L, &old), LA_ESTATE);
    assert_string_equal(la_error_text(), "la_open_sandboxed: the Lua state "
                        "belongs to another runtime");
    assert_int_equal(la_open_sandboxed(M, &limits), LA_ESTATE);
    assert_int_not_equal(luaL_dostring(L, "local t = {} while true do"
        " t[#t + 1] = lunarray.ones(1 << 18) end"), LUA_OK);
    assert_int_equal(la_error_code(), LA_ENOMEM);
    assert_int_not_equal(luaL_dostring(L, "local t = {} while true do"
        " t[#t + 1] = {} end"), LUA_OK);
    run(M, "x = lunarray.ones(1 << 24)");
    assert_int_equal(la_runtime_destroy(limits.runtime), LA_ESTATE);
    lua_close(L);
    close_runtime(limits.runtime, &h);
    run(M, "assert(x:sum():item() == 1 << 24)");
    lua_close(M);
}

static atomic_int stage;

static void *hold_on(void *rt)
{
    la_use(rt);
    la_tensor *t = of_size(5);
    la_release(t);
    la_release(la_new("nonsense", 0, NULL));
    atomic_store(&stage, 1);
    while (atomic_load(&stage) != 2) continue;
    /* The runtime is gone, with this thread's record and its choice. */
    bool clean = la_error_code() == 0 && la_error_text()[0] == '\0'
        && la_memory_stat(NULL, NULL) == LA_EARG
        && la_error_code() == LA_EARG;
    t = of_size(5);
    clean = clean && t && !la_runtime_of(t);
    la_release(t);
    return clean ? &stage : NULL;
}

static void runtimes_end_under_idle_threads(void **state)
{
    for (int round = 0; round < 3; round++) {
        host h = {0};
        la_config c = config_of(&h);
        la_runtime *rt = open_runtime(&c);
        pthread_t thread;
        void *clean = NULL;
        atomic_store(&stage, 0);
        pthread_create(&thread, NULL, hold_on, rt);
        while (atomic_load(&stage) != 1) continue;
        close_runtime(rt, &h);
        rt = open_runtime(&c);      /* perhaps at the same address */
        atomic_store(&stage, 2);
        pthread_join(thread, &clean);
        assert_non_null(clean);
        close_runtime(rt, &h);
    }
}

/* ---- structs ---- */

static void configs_are_checked(void **state)
{
    host h = {0};
    la_config c = {0};
    assert_null(la_runtime_new(&c));
    assert_int_equal(la_error_code(), LA_EARG);
    c.size = sizeof c.size;
    c.flags = 99;                       /* beyond the size: not read */
    la_runtime *rt = open_runtime(&c);
    close_runtime(rt, &h);
    c.size = sizeof c;
    assert_null(la_runtime_new(&c));
    c = config_of(&h);
    c.release = NULL;
    assert_null(la_runtime_new(&c));
    c = config_of(&h);
    c.jobs.enqueue = run_now;
    assert_null(la_runtime_new(&c));
    c.jobs.finish = finish_task;
    c.jobs.parallel_for = in_halves;
    assert_null(la_runtime_new(&c));
    assert_int_equal(la_error_code(), LA_EARG);
    rt = open_runtime(NULL);
    close_runtime(rt, &h);
    la_memory m = {0};
    assert_int_equal(la_memory_stat(NULL, &m), LA_EARG);
    assert_int_equal(la_memory_stat(NULL, NULL), LA_EARG);
    m.size = offsetof(la_memory, cap);
    m.cap = 77;
    assert_int_equal(la_memory_stat(NULL, &m), 0);
    assert_int_equal(m.cap, 77);
}

static void the_default_one_starts_afresh(void **state)
{
    assert_true(item(sum_of_ones(1 << 20)) == 2 << 20);
    assert_int_equal(la_shutdown(), 0);
    assert_int_equal(la_shutdown(), 0);
    assert_true(item(sum_of_ones(1 << 20)) == 2 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_comes_back),
        cmocka_unit_test(caps_are_their_own),
        cmocka_unit_test(allocators_may_purge_or_refuse),
        cmocka_unit_test(new_memory_is_zero_where_asked),
        cmocka_unit_test(tensors_do_not_mix),
        cmocka_unit_test(operations_are_their_own),
        cmocka_unit_test(threads_have_generators_of_their_own),
        cmocka_unit_test(job_systems_run_ranges),
        cmocka_unit_test(lost_ranges_are_errors),
        cmocka_unit_test(one_worker_is_serial),
        cmocka_unit_test(own_threads_are_counted),
        cmocka_unit_test(stop_hooks_are_their_own),
        cmocka_unit_test(threads_play_apart),
        cmocka_unit_test(sandboxes_have_runtimes),
        cmocka_unit_test(runtimes_end_under_idle_threads),
        cmocka_unit_test(configs_are_checked),
        cmocka_unit_test(the_default_one_starts_afresh)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
