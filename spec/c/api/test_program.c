/*
** Programs in hosts: what a script has recorded runs without its state, with
** the script's values; in parts, as clones, out of files. Damaged files are
** errors, and so is want of memory at each point.
*/
#define LA_INTERNAL
#include "spec/support/mutate.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include "base/runtime/memory.h"

/* ---- locks are counted ---- */

static _Atomic long locks;

#if defined(__linux__) && !defined(__SANITIZE_THREAD__)
int pthread_mutex_lock(pthread_mutex_t *m)
{
    static int (*real)(pthread_mutex_t *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    locks++;
    return real(m);
}
#endif

/* ---- what a script makes ---- */

static const char recordings[] =
    "local la = require 'lunarray'\n"
    "local nn, optim = require 'lunarray.nn', require 'lunarray.optim'\n"
    "la.set_num_threads(1)\n"
    "la.manual_seed(3)\n"
    "net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))\n"
    "f = la.compile(function(x) return net(x):log_softmax(2) end)\n"
    "xs = {}\n"
    "for i = 1, 8 do xs[i] = la.randn(5, 6) end\n"
    "for i = 1, 2 do f(xs[1]) end\n"
    "opt = optim.Adam(net:parameters(), {lr = 0.01})\n"
    "t = la.tensor{1, 2, 3, 1, 2}\n"
    "step = la.compile(function(x, t)\n"
    "  opt:zero_grad()\n"
    "  local loss = la.cross_entropy(net(x):dropout(0.2), t)\n"
    "  loss:backward()\n"
    "  opt:step()\n"
    "  return loss, net[1].weight\n"
    "end)\n"
    "for i = 1, 3 do step(xs[i], t) end\n"
    "y = f(xs[1])\n"
    "names = {net = net:state_dict()}\n";

static lua_State *open_script(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    if (luaL_dostring(L, recordings)) fail_msg("%s", lua_tostring(L, -1));
    return L;
}

static void run(lua_State *L, const char *code)
{
    if (luaL_dostring(L, code)) fail_msg("%s", lua_tostring(L, -1));
}

static la_tensor *global(lua_State *L, const char *code)
{
    run(L, code);
    la_tensor *t = la_retain(la_test(L, -1));
    lua_pop(L, 1);
    return t;
}

static la_program *program(lua_State *L, const char *name)
{
    lua_getglobal(L, name);
    la_program *p = la_program_of(L, -1);
    if (!p) fail_msg("%s", la_error_text());
    lua_pop(L, 1);
    return p;
}

static void same(la_tensor *a, la_tensor *b)
{
    uint64_t x, y;
    assert_int_equal(la_hash(a, &x), 0);
    assert_int_equal(la_hash(b, &y), 0);
    assert_true(x == y);
}

static int put(void *context, const void *from, size_t n)
{
    bytes *b = context;
    if (b->n + n > MOST) return la_fail("too long");
    memcpy(b->data + b->n, from, n);
    b->n += n;
    return 0;
}

static void save(la_program *p, bytes *b)
{
    la_sink sink = {.size = sizeof sink, .context = b, .write = put};
    b->n = 0;
    if (la_program_save_to(p, &sink, NULL)) fail_msg("%s", la_error_text());
}

/* ---- runs ---- */

static void a_network_has_the_scripts_values(void **state)
{
    lua_State *L = open_script();
    la_program *p = program(L, "f");
    la_tensor *x = global(L, "return xs[1]"), *y = global(L, "return y");
    assert_int_equal(la_program_inputs(p), 1);
    assert_int_equal(la_program_outputs(p), 1);
    assert_string_equal(la_program_name(p, LA_PROGRAM_INPUT, 0), "x");
    assert_string_equal(la_program_name(p, LA_PROGRAM_OUTPUT, 0), "output1");
    assert_null(la_program_name(p, LA_PROGRAM_INPUT, 1));
    assert_null(la_program_name(p, 7, 0));
    assert_non_null(la_program_name(p, LA_PROGRAM_WEIGHT, 3));
    assert_null(la_program_name(p, LA_PROGRAM_WEIGHT, 4));
    lua_close(L);
    for (int i = 0; i < 3; i++) {
        la_tensor *out[1] = {NULL};
        if (la_program_run(p, &x, out)) fail_msg("%s", la_error_text());
        same(out[0], y);
        assert_false(la_requires_grad(out[0]));
        la_release(out[0]);
    }
    assert_int_equal(la_program_bytes(p, LA_BYTES_WEIGHTS),
                     (6 * 16 + 16 + 16 * 3 + 3) * 4);
    assert_true(la_program_bytes(p, LA_BYTES_ARENA) > 0);
    la_program_release(p);
    la_release(x);
    la_release(y);
}

/* The same steps in the script and in the host, from one file. */
static void a_training_step_goes_on(void **state)
{
    static bytes b;
    lua_State *L = open_script();
    la_program *p = program(L, "step");
    la_tensor *x[8], *t = global(L, "return t"), *loss[8], *weight;
    save(p, &b);
    la_program_release(p);
    run(L, "require 'lunarray'.manual_seed(11)");
    for (int i = 0; i < 8; i++) {
        char code[80];
        snprintf(code, sizeof code, "return xs[%d]", i + 1);
        x[i] = global(L, code);
        snprintf(code, sizeof code, "return (step(xs[%d], t))", i + 1);
        loss[i] = global(L, code);
    }
    weight = global(L, "return net[1].weight:detach():clone()");
    lua_close(L);
    p = la_program_load(NULL, b.data, b.n);
    if (!p) fail_msg("%s", la_error_text());
    assert_int_equal(la_seed_generator(NULL, 11), 0);
    for (int i = 0; i < 8; i++) {
        la_tensor *in[2] = {x[i], t}, *out[2] = {NULL, NULL};
        if (la_program_run(p, in, out)) fail_msg("%s", la_error_text());
        la_tensor *plain = la_call(NULL, "detach", loss[i]);
        same(out[0], plain);
        if (i == 7) same(out[1], weight);
        la_release(plain);
        la_release(out[0]);
        la_release(out[1]);
        la_release(x[i]);
        la_release(loss[i]);
    }
    la_program_release(p);
    la_release(t);
    la_release(weight);
}

/* ---- nothing is allocated, nothing locked ---- */

/* The second result of 'step' is a weight itself, handed out again. */
static void run_again(la_program *p, la_tensor **in, la_tensor **out)
{
    if (out[1]) la_release(out[1]);
    out[1] = NULL;
    if (la_program_run(p, in, out)) fail_msg("%s", la_error_text());
}

static void the_steady_state_allocates_nothing(void **state)
{
    static const char *const names[] = {"f", "step"};
    for (int k = 0; k < 2; k++) {
        lua_State *L = open_script();
        la_program *p = program(L, names[k]);
        la_tensor *in[2] = {global(L, "return xs[2]"), global(L, "return t")};
        la_tensor *out[2] = {NULL, NULL};
        lua_close(L);
        for (int i = 0; i < 3; i++) run_again(p, in, out);
        long before = locks;
        uint64_t blocks = la_mem_stat().allocations;
        long asking = locks - before;       /* locks of the question itself */
        before = locks;
        for (int i = 0; i < 20; i++) run_again(p, in, out);
        assert_int_equal(locks - before, 0);
        assert_true(asking >= 0);
        assert_true(la_mem_stat().allocations == blocks);
        la_release(in[0]);
        la_release(in[1]);
        la_release(out[0]);
        la_release(out[1]);
        la_program_release(p);
    }
}

/* ---- in parts ---- */

static void parts_are_the_whole(void **state)
{
    lua_State *L = open_script();
    la_program *p = program(L, "f");
    la_tensor *x = global(L, "return xs[1]:clone()");
    la_tensor *y = global(L, "return y"), *out[1] = {NULL};
    int parts = 0, code;
    assert_int_equal(la_program_step(p, 0), LA_ESTATE);
    assert_int_equal(la_program_begin(p, &x, out), 0);
    assert_int_equal(la_program_begin(p, &x, out), LA_ESTATE);
    assert_int_equal(la_program_run(p, &x, out), LA_ESTATE);
    for (; (code = la_program_step(p, 0)) == LA_MORE; parts++)
        assert_int_equal(la_error_code(), 0);
    assert_int_equal(code, 0);
    assert_true(parts > 0);
    same(out[0], y);
    /* an input that is written ends the call */
    assert_int_equal(la_program_begin(p, &x, out), 0);
    assert_int_equal(la_program_step(p, 0), LA_MORE);
    assert_int_equal(la_mark_written(x), 0);
    assert_int_equal(la_program_step(p, 0), LA_EALIAS);
    assert_non_null(strstr(la_error_text(), "la_program_step: input 'x'"));
    assert_int_equal(la_program_step(p, 0), LA_ESTATE);
    /* and so does its release */
    assert_int_equal(la_program_begin(p, &x, out), 0);
    la_program_release(p);
    la_release(out[0]);
    la_release(x);
    la_release(y);
    lua_close(L);
}

/* Large enough that calls are cut. */
static const char large[] =
    "local la = require 'lunarray'\n"
    "local nn, optim = require 'lunarray.nn', require 'lunarray.optim'\n"
    "la.manual_seed(5)\n"
    "net = nn.Sequential(nn.Conv2d(2, 8, 3, {padding = 1}), nn.GELU(),\n"
    "  nn.Flatten(), nn.Linear(2048, 256), nn.LayerNorm(256), nn.ReLU(),\n"
    "  nn.Linear(256, 40))\n"
    "f = la.compile(function(x, w) return net(x):softmax(2), x[{1}]:matmul(w),"
    "  (x * 2 - w:t()):exp():sum(1), w:matmul(w):amax({2}) end)\n"
    "opt = optim.Adam(net:parameters(), {lr = 0.01})\n"
    "step = la.compile(function(x, t) opt:zero_grad()\n"
    "  local loss = la.cross_entropy(net(x), t) loss:backward() opt:step()\n"
    "  return loss, net[4].weight end)\n"
    "x, w = la.randn(24, 2, 16, 16), la.randn(16, 16)\n"
    "t = la.randint(1, 40, {24})\n"
    "f(x, w)\n"
    "for _ = 1, 2 do step(x, t) end\n";

static int run_parts(la_program *p, la_tensor **in, la_tensor **out)
{
    int parts = 0, code;
    if (la_program_begin(p, in, out)) fail_msg("%s", la_error_text());
    for (; (code = la_program_step(p, 0)) == LA_MORE; parts++) {}
    if (code) fail_msg("%s", la_error_text());
    return parts;
}

static void slices_have_the_same_values(void **state)
{
    static const char *const names[] = {"f", "step"};
    lua_State *L = open_script();
    if (luaL_dostring(L, large)) fail_msg("%s", lua_tostring(L, -1));
    la_tensor *in[2][2];
    in[0][0] = in[1][0] = global(L, "return x");
    in[0][1] = global(L, "return w");
    in[1][1] = global(L, "return t");
    for (int k = 0; k < 2; k++) {
        lua_getglobal(L, "require");
        lua_pushliteral(L, "lunarray");
        lua_call(L, 1, 1);
        lua_getfield(L, -1, "save");
        lua_getglobal(L, names[k]);
        char path[] = "/tmp/lunarray-XXXXXX.laprog";
        assert_true(mkstemps(path, 7) >= 0);
        lua_pushstring(L, path);
        if (lua_pcall(L, 2, 0, 0)) fail_msg("%s", lua_tostring(L, -1));
        FILE *file = fopen(path, "rb");
        fseek(file, 0, SEEK_END);
        size_t n = (size_t)ftell(file);
        char *text = malloc(n);
        rewind(file);
        assert_int_equal(fread(text, 1, n, file), n);
        fclose(file);
        remove(path);
        la_program *p = la_program_load(NULL, text, n);
        la_program *q = la_program_load(NULL, text, n);
        free(text);
        la_tensor *given[4] = {NULL};
        for (int i = 0; i < 3; i++) {
            la_tensor *a[4] = {NULL}, *b[4] = {NULL};
            if (la_program_run(p, in[k], a)) fail_msg("%s", la_error_text());
            assert_true(run_parts(q, in[k], b) > 10);
            for (int m = 0; m < la_program_outputs(p); m++) {
                same(a[m], b[m]);
                la_release(a[m]);
                la_release(b[m]);
            }
        }
        for (int i = 0; k == 0 && i < 3; i++) {
            uint64_t blocks = la_mem_stat().allocations;
            run_parts(q, in[k], given);
            /* the workspace of the convolution */
            if (i == 2) assert_true(la_mem_stat().allocations <= blocks + 1);
        }
        for (int m = 0; m < 4; m++) la_release(given[m]);
        la_program_release(p);
        la_program_release(q);
        lua_settop(L, 0);
    }
    la_release(in[0][0]);
    la_release(in[0][1]);
    la_release(in[1][1]);
    lua_close(L);
}

/* ---- weights, clones ---- */

static void clones_share_the_weights(void **state)
{
    lua_State *L = open_script();
    la_program *p = program(L, "f"), *q = la_program_clone(p);
    la_tensor *x = global(L, "return xs[4]"), *a[1] = {NULL}, *b[1] = {NULL};
    la_tensor *w = la_program_weight(q, "weight.1");
    assert_non_null(q);
    assert_non_null(w);
    assert_null(la_program_weight(q, "none"));
    assert_int_equal(la_error_code(), LA_EARG);
    la_program_begin(p, &x, a);
    assert_int_equal(la_program_run(q, &x, b), 0);
    while (la_program_step(p, 0) == LA_MORE) {}
    same(a[0], b[0]);
    ((float *)la_tensor_data(w))[0] = 100;
    assert_int_equal(la_mark_written(w), 0);
    assert_int_equal(la_program_run(p, &x, a), 0);
    la_tensor *want = global(L, "return net(xs[4]):log_softmax(2):detach()");
    same(a[0], want);
    la_release(want);
    la_release(w);
    la_program_retain(q);
    la_program_release(q);
    la_program_release(q);
    la_program_release(p);
    la_release(a[0]);
    la_release(b[0]);
    la_release(x);
    lua_close(L);
}

/* ---- refusals ---- */

static void other_tensors_are_refused(void **state)
{
    lua_State *L = open_script();
    la_program *p = program(L, "f"), *s = program(L, "step");
    la_tensor *x = global(L, "return xs[1]"), *out[2] = {NULL, NULL};
    la_tensor *t = global(L, "return t"), *none = NULL;
    static const struct { const char *make; int code; const char *word; } bad[]
        = {{"return xs[1]:double()", LA_EDTYPE, "input 'x': float32"},
           {"return require 'lunarray'.ones(4, 6)", LA_ESHAPE, "[5, 6]"},
           {"return require 'lunarray'.ones(6, 5):t()", LA_ESHAPE,
            "contiguous"}};
    for (int i = 0; i < 3; i++) {
        la_tensor *one = global(L, bad[i].make);
        assert_int_equal(la_program_run(p, &one, out), bad[i].code);
        assert_non_null(strstr(la_error_text(), bad[i].word));
        la_release(one);
    }
    assert_int_equal(la_program_run(p, &none, out), LA_EARG);
    assert_int_equal(la_program_run(p, NULL, out), LA_EARG);
    assert_int_equal(la_program_run(NULL, &x, out), LA_EARG);
    la_tensor *given[1] = {x};
    assert_int_equal(la_program_run(p, &x, given), LA_ESHAPE);
    /* what a step writes is no input */
    la_tensor *w = la_program_weight(s, "weight.1");
    la_tensor *in[2] = {w, t};
    assert_int_equal(la_program_run(s, in, out), LA_ESHAPE);
    assert_int_equal(la_set_requires_grad(w, false), 0);
    in[0] = x;
    assert_int_equal(la_program_run(s, in, out), LA_ESTATE);
    assert_non_null(strstr(la_error_text(), "weight 'weight.1'"));
    lua_pushinteger(L, 1);
    assert_null(la_program_of(L, -1));
    assert_int_equal(la_error_code(), LA_EARG);
    run(L, "g = require 'lunarray'.compile(function(x) return x end)");
    lua_getglobal(L, "g");
    assert_null(la_program_of(L, -1));
    assert_int_equal(la_error_code(), LA_EARG);
    run(L, "p = require 'lunarray'.compile(function(x) if x:sum():item() > 0 "
        "then return x end return -x end, {partial = true}) p(xs[1])");
    lua_getglobal(L, "p");
    assert_null(la_program_of(L, -1));
    assert_int_equal(la_error_code(), LA_ESUPPORT);
    assert_null(la_program_of(NULL, 1));
    la_release(w);
    la_release(x);
    la_release(t);
    la_program_release(p);
    la_program_release(s);
    lua_close(L);
}

/* ---- cancel, memory ---- */

/* At each step; the state of before is put back, and the next run is as if
** nothing had been. */
static void a_cancelled_call_ends(void **state)
{
    lua_State *L = open_script();
    la_program *p = program(L, "f");
    la_tensor *x = global(L, "return xs[1]"), *y = global(L, "return y");
    la_token *k = la_token_of(NULL);
    lua_close(L);
    for (int at = 0, code = LA_ECANCEL; code == LA_ECANCEL; at++) {
        la_tensor *out[1] = {NULL};
        assert_int_equal(la_program_begin(p, &x, out), 0);
        for (int i = 0; i < at; i++) code = la_program_step(p, 0);
        if (at && code != LA_MORE) {
            la_release(out[0]);
            break;
        }
        la_cancel(k);
        code = la_program_step(p, 0);
        assert_int_equal(code, LA_ECANCEL);
        la_token_clear(k);
        assert_null(out[0]);
        assert_int_equal(la_program_run(p, &x, out), 0);
        same(out[0], y);
        la_release(out[0]);
    }
    la_token_release(k);
    la_program_release(p);
    la_release(x);
    la_release(y);
}

static int attempt(bytes *b, la_tensor *x, la_tensor *y)
{
    la_tensor *out[1] = {NULL};
    la_program *p = la_program_load(NULL, b->data, b->n), *q = NULL;
    int done = p && (q = la_program_clone(p)) != NULL
        && la_program_run(q, &x, out) == 0;
    int code = la_error_code();
    la_mem_fail_at(0, false);
    if (!done) assert_int_equal(code, LA_ENOMEM);
    else same(out[0], y);
    la_release(out[0]);
    la_program_release(p);
    la_program_release(q);
    return done;
}

static void every_allocation_can_fail(void **state)
{
    static bytes b, again;
    lua_State *L = open_script();
    la_program *p = program(L, "f");
    la_tensor *x = global(L, "return xs[1]"), *y = global(L, "return y");
    save(p, &b);
    for (int forever = 0; forever < 2; forever++) {
        uint64_t i = 1;
        do la_mem_fail_at(i++, forever);
        while (!attempt(&b, x, y));
        assert_true(i > 50);
    }
    for (uint64_t i = 1, code = 1; code; i++) {
        la_sink sink = {.size = sizeof sink, .context = &again, .write = put};
        again.n = 0;
        la_mem_fail_at(i, false);
        code = (uint64_t)la_program_save_to(p, &sink, "laprog");
        la_mem_fail_at(0, false);
        if (code) assert_int_equal(code, LA_ENOMEM);
    }
    assert_int_equal(again.n, b.n);
    assert_memory_equal(again.data, b.data, b.n);
    la_program_release(p);
    lua_getglobal(L, "step");
    for (uint64_t i = 1; ; i++) {
        la_mem_fail_at(i, false);
        la_program *s = la_program_of(L, -1);
        int code = la_error_code();
        la_mem_fail_at(0, false);
        la_program_release(s);
        if (s) break;
        assert_int_equal(code, LA_ENOMEM);
    }
    la_release(x);
    la_release(y);
    lua_close(L);
}

/* ---- files ---- */

static int64_t get_some(void *context, int64_t offset, void *buffer, int64_t n)
{
    return get(context, offset, buffer, n < 700 ? n : 700);
}

static void close_bytes(void *context) { ((bytes *)context)->n = 0; }

static void sources_are_read_and_closed(void **state)
{
    static bytes b;
    lua_State *L = open_script();
    la_program *p = program(L, "step");
    save(p, &b);
    la_source source = {.size = sizeof source, .context = &b,
                        .length = (int64_t)b.n, .read = get_some,
                        .close = close_bytes};
    la_program *q = la_program_load_from(NULL, &source, NULL);
    if (!q) fail_msg("%s", la_error_text());
    assert_int_equal(b.n, 0);
    assert_string_equal(la_program_name(q, LA_PROGRAM_INPUT, 1), "t");
    assert_null(la_program_load_from(NULL, NULL, NULL));
    assert_null(la_program_load(NULL, "nothing of that", 15));
    assert_int_equal(la_error_code(), LA_EIO);
    assert_null(la_program_load(NULL, NULL, 0));
    assert_int_equal(la_error_code(), LA_EARG);
    la_sink sink = {.size = sizeof sink, .context = &b, .write = put};
    assert_int_equal(la_program_save_to(p, &sink, "onnx"), LA_EARG);
    assert_int_equal(la_program_save_to(p, NULL, NULL), LA_EARG);
    la_program_release(p);
    la_program_release(q);
    lua_close(L);
}

/* By its extension, and by its bytes under another name. */
static void a_sandbox_loads_what_the_host_gives(void **state)
{
    static bytes b;
    lua_State *L = open_script();
    la_program *p = program(L, "step");
    save(p, &b);
    la_program_release(p);
    lua_close(L);
    L = open_state(&b);
    load_once(L, "net.laprog", 0, 1);
    load_once(L, "brain", 0, 1);
    if (luaL_dostring(L, "local p = lunarray.load('net.laprog')\n"
        "assert(#p > 5 and p:weights().lr:item() == 0.01)\n"
        "assert(not pcall(lunarray.save, p, 'x.laprog'))\n"
        "return p(lunarray.ones(5, 6), lunarray.tensor{1, 2, 3, 1, 2})"))
        fail_msg("%s", lua_tostring(L, -1));
    assert_non_null(la_test(L, -2));
    lua_close(L);
}

/* Programs of a runtime keep it, as tensors do. */
static void a_program_belongs_to_its_runtime(void **state)
{
    static bytes b;
    lua_State *L = open_script();
    la_program *p = program(L, "f");
    la_tensor *x = global(L, "return xs[1]"), *out[1] = {NULL};
    save(p, &b);
    la_config config = {.size = sizeof config};
    la_runtime *rt = la_runtime_new(&config);
    la_program *q = la_program_load(rt, b.data, b.n);
    assert_non_null(q);
    assert_int_equal(la_program_run(q, &x, out), LA_EARG);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    la_program_release(q);
    assert_int_equal(la_runtime_destroy(rt), 0);
    la_program_release(p);
    la_release(x);
    lua_close(L);
}

/* ---- damaged files ---- */

/* Numbers in the header, which the length in front of it follows. */
static void change_numbers(bytes *b)
{
    static const char *const values[] = {"0", "1", "2", "3", "7", "-1", "255",
        "65536", "2147483647", "4294967296", "9223372036854775807", "-9", ""};
    uint64_t header;
    memcpy(&header, b->data, 8);
    for (uint32_t k = 1 + next_random(3); k; k--) {
        size_t at = 8 + next_random((uint32_t)header), end;
        while (at < 8 + header && (b->data[at] < '0' || b->data[at] > '9'))
            at++;
        for (end = at; end < 8 + header && b->data[end] >= '0'
             && b->data[end] <= '9'; end++) {}
        const char *v = values[next_random(sizeof values / sizeof *values)];
        size_t n = strlen(v);
        if (end == at || b->n + n - (end - at) > MOST) continue;
        memmove(b->data + at + n, b->data + end, b->n - end);
        memcpy(b->data + at, v, n);
        b->n = b->n + n - (end - at);
        header = header + n - (end - at);
        memcpy(b->data, &header, 8);
    }
}

static void damaged_files_are_errors(void **state)
{
    static const char *const names[] = {"f", "step"};
    static const char likely[] = "0123456789-,:[]{}\"abtn\\ ";
    static bytes from[2], b;
    int64_t count = count_of("LUNARRAY_MUTATIONS", 1500), loaded = 0, ran = 0;
    lua_State *L = open_script();
    la_tensor *in[2] = {global(L, "return xs[1]"), global(L, "return t")};
    seed += (uint64_t)count_of("LUNARRAY_SEED", 0);
    for (int k = 0; k < 2; k++) {
        la_program *p = program(L, names[k]);
        save(p, &from[k]);
        la_program_release(p);
    }
    lua_close(L);
    la_set_memory_limit(64 << 20);
    for (int64_t i = 0; i < count; i++) {
        la_tensor *out[2] = {NULL, NULL};
        b = from[i % 2];
        if (i > 3 && i % 8 < 6) change_numbers(&b);
        else if (i > 3) mutate(&b, &from[next_random(2)], likely,
                               sizeof likely - 1);
        la_program *p = la_program_load(NULL, b.data, b.n);
        assert_true(p || i > 3);
        loaded += p != NULL;
        if (p && la_program_inputs(p) <= 2 && la_program_outputs(p) <= 2)
            for (int n = 0; n < 2; n++)
                ran += la_program_run(p, in, out) == 0;
        la_release(out[0]);
        la_release(out[1]);
        la_program_release(p);
    }
    la_set_memory_limit(0);
    assert_true(loaded > count / 100 && ran > 4);
    la_release(in[0]);
    la_release(in[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_has_the_scripts_values),
        cmocka_unit_test(a_training_step_goes_on),
        cmocka_unit_test(the_steady_state_allocates_nothing),
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(slices_have_the_same_values),
        cmocka_unit_test(clones_share_the_weights),
        cmocka_unit_test(other_tensors_are_refused),
        cmocka_unit_test(a_cancelled_call_ends),
        cmocka_unit_test(every_allocation_can_fail),
        cmocka_unit_test(sources_are_read_and_closed),
        cmocka_unit_test(a_sandbox_loads_what_the_host_gives),
        cmocka_unit_test(a_program_belongs_to_its_runtime),
        cmocka_unit_test(damaged_files_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
