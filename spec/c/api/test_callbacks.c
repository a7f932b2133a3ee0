/*
** Functions of the host's that use the library themselves, also by scripts of
** other states: what runs around them goes on as if they had not.
*/
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

enum { BLOCK = 1 << 20 };
static int losses, yes;         /* ranges to lose; the answer to "stop?" */

/* A script of the default runtime, in a state that is gone afterwards. */
static void play(void)
{
    static _Thread_local bool within;
    if (within) return;
    within = true;
    la_runtime *former = la_use(NULL);
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    if (luaL_dostring(L, "local la = lunarray la.set_default_dtype 'float64'"
                      " pcall(la.ones(2).matmul, la.ones(2), la.ones(3))"
                      " assert((la.ones(200000):exp():sum():item()) > 0)"))
        fail_msg("%s", lua_tostring(L, -1));
    lua_close(L);
    assert_null(la_call(NULL, "nothing_of_this_name"));
    la_use(former);
    within = false;
}

static void run_and_play(void *host, int64_t n, int64_t grain, la_job fn,
                         void *context)
{
    play();
    fn(n / 2, n, context);
    play();
    if (losses == 0) fn(0, n / 2, context);
    else losses--;
    play();
}

static void *run_now(void *host, int64_t n, int64_t grain, la_job fn,
                     void *context)
{
    run_and_play(host, n, grain, fn, context);
    return host;
}

static void finish(void *host, void *task) { play(); }

static void write_line(void *context, int level, const char *text) { play(); }

static bool answer(void *context, la_token *token)
{
    play();
    return yes && token != NULL;
}

static la_runtime *open_runtime(const la_config *c)
{
    la_runtime *rt = la_runtime_new(c);
    assert_non_null(rt);
    la_use(rt);
    return rt;
}

static void close_runtime(la_runtime *rt)
{
    la_use(NULL);
    if (la_runtime_destroy(rt)) fail_msg("%s", la_error_text());
}

static void expect(la_tensor *t, int code, const char *text)
{
    assert_int_equal(t == NULL, code != 0);
    assert_int_equal(la_error_code(), code);
    assert_string_equal(la_error_text(), text);
    la_release(t);
}

static void job_systems_play(void **state)
{
    for (int kind = 0; kind < 2; kind++) {
        la_config c = {.size = sizeof c, .log = write_line};
        c.jobs.size = sizeof c.jobs;
        c.jobs.host = &c;
        c.jobs.workers = 2;
        if (kind == 0) c.jobs.parallel_for = run_and_play;
        else c.jobs.enqueue = run_now;
        if (kind == 1) c.jobs.finish = finish;
        la_runtime *rt = open_runtime(&c);
        la_tensor *x = la_call(NULL, "ones", BLOCK);
        la_tensor *y = la_call(NULL, "exp", x), *sum = la_call(NULL, "sum", y);
        assert_string_equal(la_tensor_dtype(sum), "float32");
        assert_true(la_runtime_of(sum) == rt);
        la_release(sum);
        la_release(y);
        /* the fault stays that of the call whose range it was */
        for (int k = 0; k < 2; k++) {
            losses = 1;
            expect(la_call(NULL, k ? "sum" : "exp", x), LA_EJOBS, k
                   ? "sum: the host's job system missed or repeated a range"
                   : "exp: the host's job system missed or repeated a range");
            assert_int_equal(losses, 0);
        }
        la_release(x);
        close_runtime(rt);
    }
}

static void stop_hooks_play(void **state)
{
    la_config c = {.size = sizeof c, .stop = answer};
    la_runtime *rt = open_runtime(&c);
    la_token_release(la_token_of(NULL));
    la_tensor *x = la_call(NULL, "ones", 4 * BLOCK);
    expect(la_call(NULL, "cumsum", x, 1), 0, "");
    yes = 1;
    expect(la_call(NULL, "cumsum", x, 1), LA_EINTR, "cumsum: interrupted");
    yes = 0;
    expect(la_call(NULL, "cumsum", x, 1), 0, "");
    la_release(x);
    close_runtime(rt);
}

/* What failed is told, whatever is asked while it is undone. */
static void ask(void *context, void *data)
{
    la_memory m = {.size = sizeof m};
    assert_int_equal(la_memory_stat(NULL, &m), 0);
    la_trim(NULL);
    ++*(int *)context;
    play();
}

static void errors_outlast_what_follows(void **state)
{
    static float data[6];
    int64_t sizes[] = {2, 3};
    int times = 0;
    expect(la_wrap(data, "float32", -1, sizes, NULL, ask, &times), LA_ESHAPE,
           "la_wrap: 0 to 64 dimensions expected, got -1");
    la_buffer b = {.size = sizeof b, .data = data, .dtype = "float32",
                   .ndim = 2, .sizes = sizes, .extent = 4, .release = ask,
                   .context = &times};
    expect(la_wrap_ex(&b), LA_EARG, "la_wrap_ex: the layout reaches to byte 24,"
           " and 4 bytes belong to it");
    assert_null(la_wrap_struct(data, 1, 4, "x:f32 x:f32", 0, ask, &times));
    assert_int_equal(la_error_code(), LA_EARG);
    assert_memory_equal(la_error_text(), "la_wrap_struct: layout", 22);
    assert_int_equal(times, 3);
}

/* Kernels and what goes with the last reference. */
static int shape(la_frame *f)
{
    la_tensor *x = la_frame_tensor(f, 0);
    play();
    return la_frame_output(f, 0, la_tensor_dtype(x), la_tensor_ndim(x),
                           la_tensor_sizes(x));
}

static int fill(la_frame *f)
{
    play();
    return 0;
}

static void kernels_play(void **state)
{
    int times = 0;
    static float data[6];
    la_op_def def = {.size = sizeof def, .shape = shape, .fill = fill,
                     .schema = "play_on(Tensor self) -> Tensor"};
    la_runtime *rt = open_runtime(NULL);
    la_op *op = la_register_op_ex(rt, &def);
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs_in(L, rt), 0);
    la_token *k = la_token_of(L);
    int64_t sizes[] = {2, 3};
    la_tensor *x = la_wrap(data, "float32", 2, sizes, NULL, ask, &times);
    la_push(L, x);
    lua_setglobal(L, "x");
    la_release(x);
    if (luaL_dostring(L, "y = lunarray.play_on(x) z = y + 1 x = nil"
                      " collectgarbage() assert(lunarray.ones(1).dtype =="
                      " 'float32')"))
        fail_msg("%s", lua_tostring(L, -1));
    assert_int_equal(times, 1);
    assert_true(la_token_memory(k) >= 2 * sizeof data);
    la_token_release(k);
    lua_close(L);
    assert_non_null(op);
    close_runtime(rt);
}

/* ---- notes of a crash ---- */

static char described[400];
static int signals;

static void note_crash(int number)
{
    if (!signals++) la_describe_call(described, sizeof described);
}

/* As a pool would on a thread of its own, with a fault in the middle. */
static void run_and_raise(void *host, int64_t n, int64_t grain, la_job fn,
                          void *context)
{
    raise(SIGUSR1);
    fn(0, n, context);
}

static void test_calls_are_described_in_a_signal_handler(void **state)
{
    char small[8] = "xxxxxxx";
    la_config c = {.size = sizeof c,
                   .jobs = {sizeof(la_jobs), NULL, 2, run_and_raise}};
    la_runtime *rt = open_runtime(&c);
    signal(SIGUSR1, note_crash);
    la_tensor *x = la_call(NULL, "ones", 2000, 300), *y, *z;
    assert_non_null(x);
    signals = 0;
    y = la_call(NULL, "exp", x);
    assert_true(signals > 0);
    assert_string_equal(described, "exp(self=float32[2000, 300])");
    signals = 0;
    z = la_call(NULL, "std", x);
    assert_true(signals > 0);
    assert_non_null(strstr(described, "self=float32[2000, 300]"));
    assert_int_equal(la_describe_call(described, sizeof described), 0);
    assert_string_equal(described, "");
    assert_int_equal(la_describe_call(NULL, 9), 0);
    assert_int_equal(la_describe_call(small, 0), 0);
    assert_int_equal(small[0], 'x');
    la_release(x);
    la_release(y);
    la_release(z);
    signal(SIGUSR1, SIG_DFL);
    close_runtime(rt);
}

/* Files from and to the host: a read that gives no bytes is the failure, not
** what the host failed at before. */
typedef struct file {
    char bytes[1024];
    size_t n;
    int left, closed;       /* reads and writes until one fails */
} file;

static int put(void *context, const void *bytes, size_t n)
{
    file *f = context;
    if (f->left-- == 0) return 1;
    memcpy(f->bytes + f->n, bytes, n);
    f->n += n;
    play();
    return 0;
}

static int64_t get(void *context, int64_t at, void *buffer, int64_t n)
{
    file *f = context;
    if (f->left-- == 0) return -1;
    memcpy(buffer, f->bytes + at, (size_t)n);
    play();
    return n;
}

static void shut(void *context)
{
    ((file *)context)->closed++;
    play();
}

static void files_play(void **state)
{
    la_runtime *rt = open_runtime(NULL);
    int64_t n = 3;
    la_tensor *x = la_call(NULL, "ones", n);
    la_named list[] = {{"a", x}};
    file f = {.left = -1};
    la_sink sink = {sizeof sink, &f, put};
    assert_int_equal(la_save_to(&sink, "npz", 1, list), 0);
    la_source from = {sizeof from, &f, (int64_t)f.n, get, shut};
    f.left = -1;
    expect(la_load_from(&from, "a"), 0, "");
    int reads = -1 - f.left;
    assert_true(reads > 2);
    for (int k = 0; k < reads; k++) {
        assert_null(la_call(NULL, "nothing_of_this_name"));
        f.left = k;
        assert_null(la_load_from(&from, "a"));
        assert_int_equal(la_error_code(), LA_EIO);
        assert_non_null(strstr(la_error_text(), "the host failed to read at "));
    }
    assert_int_equal(f.closed, reads + 1);
    f = (file){.left = 0};
    assert_int_not_equal(la_save_to(&sink, "npz", 1, list), 0);
    assert_non_null(strstr(la_error_text(), "the host"));
    la_release(x);
    close_runtime(rt);
}

/* ---- log lines ---- */

static int refused_lines;
static void note_refusal(void *context, int level, const char *text)
{
    if (level == LA_LOG_WARNING && strstr(text, "allocator refused"))
        refused_lines++;
}

static void *small_alone(void *context, size_t bytes, size_t alignment)
{
    size_t whole = (bytes + alignment - 1) / alignment * alignment;
    return bytes > (1 << 20) ? NULL : aligned_alloc(alignment, whole);
}

static void give_back(void *context, void *block, size_t bytes)
{
    free(block);
}

/* A host reads which block it did not give. */
static void refusals_are_logged(void **state)
{
    la_config config = {.size = sizeof config, .alloc = small_alone,
                        .release = give_back, .log = note_refusal};
    la_runtime *rt = la_runtime_new(&config);
    assert_non_null(rt);
    la_use(rt);
    la_tensor *t = la_call(NULL, "zeros", 1000);
    assert_non_null(t);
    assert_int_equal(0, refused_lines);
    assert_null(la_call(NULL, "zeros", 1000000));
    assert_int_equal(LA_ENOMEM, la_error_code());
    assert_int_equal(1, refused_lines);
    la_release(t);
    la_use(NULL);
    assert_int_equal(0, la_runtime_destroy(rt));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job_systems_play),
        cmocka_unit_test(stop_hooks_play),
        cmocka_unit_test(errors_outlast_what_follows),
        cmocka_unit_test(test_calls_are_described_in_a_signal_handler),
        cmocka_unit_test(kernels_play),
        cmocka_unit_test(refusals_are_logged),
        cmocka_unit_test(files_play)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
