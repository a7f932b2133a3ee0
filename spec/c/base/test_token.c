/* Tokens: cancelling, deadlines and fuel, from C and from scripts. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "lunarray.h"

static lua_State *open_state(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(luaL_dostring(L, "la = require 'lunarray'"), 0);
    return L;
}

static void run(lua_State *L, const char *script)
{
    if (luaL_dostring(L, script) == LUA_OK) return;
    fail_msg("%s", lua_tostring(L, -1));
}

/* The script ends by the code, and the record says so too. */
static void stops(lua_State *L, const char *script, int code, const char *text)
{
    assert_int_not_equal(luaL_dostring(L, script), LUA_OK);
    if (!strstr(lua_tostring(L, -1), text) || la_error_code() != code
        || !strstr(la_error_text(), text))
        fail_msg("%s: '%s', record %d '%s'", script, lua_tostring(L, -1),
                 la_error_code(), la_error_text());
    lua_settop(L, 0);
}

/* ---- the three limits ---- */

static void limits_stay(void **state)
{
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    assert_int_equal(la_token_code(k), 0);
    la_cancel(k);
    assert_int_equal(la_token_code(k), LA_ECANCEL);
    stops(L, "la.ones(2)", LA_ECANCEL, "ones: stopped by the host");
    la_set_deadline(k, INT64_MAX);
    la_set_fuel(k, 100);
    stops(L, "pcall(la.ones, 2) la.rand(2)", LA_ECANCEL, "rand: stopped by");
    la_token_clear(k);
    assert_int_equal(la_token_code(k), 0);
    assert_true(la_fuel_left(k) == INT64_MAX);
    run(L, "x = la.ones(2)");
    la_set_deadline(k, 0);
    la_cancel(k);
    assert_int_equal(la_token_code(k), LA_EDEADLINE);
    const char *calls[] = {
        "return x + x", "return x[1]", "x[1] = 3", "return x:item(1)",
        "return x:totable()", "return la.tensor{1}", "return tostring(x)",
        "return x:add_(1)", "return la.tensor(1)", "return la.hash(x)",
        "return la.fuse(function(a) return a end)(x)",
        "return x:tostring_raw()", "return la.load('x.npy')",
        "return la.from_function({2}, math.max)", "return x:backward()"
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        stops(L, calls[i], LA_EDEADLINE, "stopped: the deadline has");
    la_token_clear(k);
    run(L, "assert((x + x):sum():item() == 4)");
    lua_close(L);
    la_cancel(k);                       /* outlives its state */
    assert_int_equal(la_token_code(k), LA_ECANCEL);
    la_token_release(k);
}

/* However far away a deadline is, nothing stops before it. */
static void far_deadlines_stop_nothing(void **state)
{
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    for (int bit = 34; bit < 64; bit++) {
        for (int less = -1; less <= 1; less++) {
            int64_t ns = (int64_t)((UINT64_C(1) << bit) - 1);
            if (less < 0 || ns < INT64_MAX) ns += less;
            la_set_deadline(k, ns);
            run(L, "local x = la.ones(8) assert((x + x):sum():item() == 16)");
            assert_int_equal(la_token_code(k), 0);
        }
    }
    la_set_deadline(k, 1);
    struct timespec wait = {0, 1000000};
    nanosleep(&wait, NULL);
    stops(L, "la.ones(2)", LA_EDEADLINE, "the deadline has");
    la_token_clear(k);
    run(L, "la.ones(2)");
    la_token_release(k);
    lua_close(L);
}

static void nothing_is_no_token(void **state)
{
    assert_null(la_token_retain(NULL));
    la_token_release(NULL);
    la_cancel(NULL);
    la_set_deadline(NULL, 0);
    la_set_fuel(NULL, 0);
    la_token_clear(NULL);
    assert_int_equal(la_token_code(NULL), 0);
    lua_State *L = luaL_newstate();
    assert_null(la_token_of(L));
    assert_int_equal(la_error_code(), LA_ESTATE);
    lua_close(L);
}

/* ---- threads without a state ---- */

static void *other_thread(void *unused)
{
    la_token *k = la_token_of(NULL);
    la_set_fuel(k, 2);
    la_tensor *t = la_call(NULL, "ones", 2), *u = la_call(NULL, "ones", 2);
    assert_non_null(t);
    assert_non_null(u);
    assert_null(la_call(NULL, "ones", 2));
    assert_int_equal(la_error_code(), LA_EFUEL);
    la_release(t);
    la_release(u);
    return k;                           /* outlives its thread */
}

static void threads_have_their_own(void **state)
{
    pthread_t thread;
    void *other;
    la_token *k = la_token_of(NULL), *same = la_token_of(NULL);
    assert_ptr_equal(k, same);
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, &other);
    assert_ptr_not_equal(k, other);
    assert_int_equal(la_token_code(other), LA_EFUEL);
    assert_int_equal(la_token_code(k), 0);
    la_tensor *t = la_call(NULL, "ones", 2);
    assert_non_null(t);
    la_release(t);
    la_token_release(other);
    la_token_release(same);
    la_token_release(k);
}

/* ---- fuel ---- */

/* Multiplications of the best order of a chain of matrices, by the table of all
** its parts; sizes[0 .. n]. */
static double best_chain(const int *sizes, int n)
{
    double cost[8][8] = {{0}};
    for (int length = 2; length <= n; length++)
        for (int i = 0; i + length <= n; i++) {
            int j = i + length - 1;
            cost[i][j] = INFINITY;
            for (int k = i; k < j; k++)
                cost[i][j] = fmin(cost[i][j], cost[i][k] + cost[k + 1][j]
                    + (double)sizes[i] * sizes[k + 1] * sizes[j + 1]);
        }
    return cost[0][n - 1];
}

/* Up to six operands are multiplied in the order that costs least. */
static void einsum_finds_the_best_order(void **state)
{
    static const int chains[][7] = {
        {400, 400, 400, 2}, {2, 400, 400, 400}, {400, 3, 400, 3, 400},
        {300, 350, 150, 50, 100, 200, 250}, {100, 400, 5, 300, 20, 200, 10},
        {7, 300, 300, 300, 300, 300, 300}, {300, 20, 300, 20, 300, 20, 300},
        {200, 200, 200, 200, 200, 200, 1}};
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        const int *sizes = chains[c];
        int n = 6;
        while (sizes[n] == 0) n--;
        char script[400] = "list = {", equation[40] = "";
        for (int i = 0; i < n; i++) {
            size_t at = strlen(script), end = strlen(equation);
            snprintf(script + at, sizeof script - at, "la.ones(%d, %d), ",
                     sizes[i], sizes[i + 1]);
            snprintf(equation + end, sizeof equation - end, "%s%c%c",
                     i ? "," : "", 'a' + i, 'b' + i);
        }
        strcat(script, "}");
        run(L, script);
        snprintf(script, sizeof script, "r = la.einsum('%s->a%c', list)",
                 equation, 'a' + n);
        la_set_fuel(k, 1 << 30);
        run(L, script);
        double cost = (1 << 30) - (double)la_fuel_left(k);
        double best = best_chain(sizes, n) / 8192;
        if (cost > 1.02 * best + 100 * n)
            fail_msg("chain %zu costs %g, the best order %g", c, cost, best);
    }
    lua_close(L);
}

static void fuel_is_work(void **state)
{
    static const struct { const char *call; int cost; } rows[] = {
        {"la.ones(2)", 1}, {"la.ones(1023)", 1}, {"la.ones(1024)", 2},
        {"x + x", 5}, {"x:add_(1)", 5}, {"x:sum()", 5}, {"x:exp()", 1 + 8 * 4},
        {"x:sort()", 1 + 4 * 4 * 13}, {"col + col:t()", 1 + 1 + 10000 / 1024},
        /* views, and what makes some */
        {"x:t()", 1}, {"x:view(4, 16, 64):permute(3, 1, 2)", 2}, {"x[1]", 1},
        {"x:reshape(-1)", 1}, {"x:expand(3, 64, 64)", 1},
        {"x:unbind(1)", 1 + 2 * 64 / 4}, {"x:split(1)", 1 + 2 * 64 / 4},
        {"la.cat{x, x}", 9}, {"la.stack({x, x}, 1)", 11},
        /* products: 64^3 / 8, results, and what is called besides */
        {"x:matmul(x)", 37}, {"x:mm(x)", 37}, {"la.linear(x, x)", 37},
        {"la.einsum('ij,jk->ik', {x, x})", 40}, {"la.inner(x, x)", 38},
        {"la.tensordot(x, x, 1)", 38}, {"la.addmm(x, x, x)", 37},
        {"la.chain_matmul{x, x, x}", 74}, {"x:matrix_power(4)", 73},
        {"la.bmm(b, b)", 26}, {"la.matmul(b, b[1])", 33},
        {"la.addbmm(b[1], b, b)", 24}, {"x:mv(x[1])", 1 + 5},
        {"la.outer(x[1], x[1])", 7}, {"la.zeros(7):dot(la.zeros(7))", 3},
        {"la.scaled_dot_product_attention(b, b, b)", 44},
        {"la.conv2d(im, w)", 43},
        {"la.conv_transpose2d(im, wt)", 49},
        {"la.det(x)", 289},
        /* windows, pairs */
        {"la.max_pool1d(la.ones(1, 1, 1000), 100, 1)",
         1 + 1 + 901 * 200 / 1024},
        {"la.pdist(x)", 275}, {"la.cdist(x, x)", 37 + 128},
        {"la.game.neighbors(x[{{}, {1, 2}}], 1)", 28},
        {"x:index_fill(1, la.ones(100, {dtype = 'int64'}), 0)",
         1 + 1 + 100 * 64 / 1024},
        /* of several steps */
        {"x:neg():softmax(2)", 5 + 33}, {"x:layer_norm{64}", 5},
        {"x:std()", 5},
        /* what is no operation */
        {"la.tensor{1, 2, 3}", 1}, {"x:totable()", 1 + 4 + 16 * 4 + 64 / 4},
        {"x:item(1, 1)", 1},
        {"tostring(x)", 63}, {"la.save(x, path)", 5}, {"la.load(path)", 5},
        {"la.read_csv(path .. '.csv')", 5},
    };
    for (int threads = 1; threads < 3; threads++) {
        lua_State *L = open_state();
        la_token *k = la_token_of(L);
        run(L, "x, col = la.ones(64, 64), la.ones(100, 1)"
               " im, w = la.ones(2, 3, 32, 32), la.ones(5, 3, 3, 3)"
               " wt, b = la.ones(3, 5, 3, 3), la.ones(4, 32, 32)"
               " path = os.tmpname() .. '.npy'"
               " la.write_csv(x, path .. '.csv')"
               " la.read_csv(path .. '.csv')");     /* loads la.frame */
        if (threads == 1) run(L, "la.set_num_threads(1)");
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
            char script[200];
            snprintf(script, sizeof script, "local r = %s", rows[i].call);
            la_set_fuel(k, 100000);
            run(L, script);
            int64_t cost = 100000 - la_fuel_left(k);
            if (cost != rows[i].cost)
                fail_msg("%s costs %d", rows[i].call, (int)cost);
            la_set_fuel(k, cost - 1);
            assert_int_not_equal(luaL_dostring(L, script), LUA_OK);
            assert_int_equal(la_token_code(k), LA_EFUEL);
            assert_int_equal(la_error_code(), LA_EFUEL);
            la_token_clear(k);
            la_set_fuel(k, cost);
            run(L, script);
            assert_int_equal(la_fuel_left(k), 0);
            la_token_clear(k);
            lua_settop(L, 0);
        }
        run(L, "la.set_num_threads(2) os.remove(path)"
               " os.remove(path .. '.csv') os.remove(path:sub(1, -5))");
        la_token_release(k);
        lua_close(L);
    }
}

/* A call that finds no memory before garbage is collected costs what it costs
** with memory. */
static void collecting_costs_nothing(void **state)
{
    la_config c = {.size = sizeof c, .memory = 10 << 20};
    la_runtime *rt = la_runtime_new(&c);
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs_in(L, rt), 0);
    la_token *k = la_token_of(L);
    run(L, "collectgarbage('stop') x = lunarray.ones(1 << 20)");
    for (int i = 0; i < 3; i++) {
        la_set_fuel(k, 1000000);
        run(L, "x = lunarray.ones(1 << 20)");
        assert_int_equal(1000000 - la_fuel_left(k), 1 + 1024);
    }
    la_token_release(k);
    lua_close(L);
    assert_int_equal(la_runtime_destroy(rt), 0);
}


/* What can't be paid is not begun: nothing is written. */
static void unpaid_is_not_begun(void **state)
{
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    run(L, "x = la.zeros(4096) m = la.zeros(64, 64)");
    la_set_fuel(k, 4);
    stops(L, "x:add_(1)", LA_EFUEL, "add_: stopped: out of fuel");
    la_token_clear(k);
    la_set_fuel(k, 40);
    stops(L, "m:addmm_(m + 1, m + 1)", LA_EFUEL, "addmm_: stopped: out of");
    la_token_clear(k);
    /* What can't be known before is paid for as it is made: all of it would
    ** take minutes. */
    la_set_fuel(k, 5);
    stops(L, "la.game.poisson_disc({3000, 3000}, 1)", LA_EFUEL,
          "game.poisson_disc: stopped: out of fuel");
    la_token_clear(k);
    run(L, "assert(x:sum():item() == 0 and m:sum():item() == 0)");
    la_token_release(k);
    lua_close(L);
}

/* ---- cancelling work that runs ---- */

static atomic_bool started;

static void *cancel_soon(void *token)
{
    struct timespec wait = {0, 20000000};
    while (!atomic_load(&started)) nanosleep(&wait, NULL);
    nanosleep(&wait, NULL);
    la_cancel(token);
    return NULL;
}

static int begun(lua_State *L)
{
    atomic_store(&started, true);
    return 0;
}

/* Each would run for minutes. */
static void cancelled_while_running(void **state)
{
    static const char *const programs[] = {
        "begun() while true do m:matmul(m) end",
        "begun() while true do x:sort() end",
        "begun() while true do x:totable() end",
        "begun() while true do la.tensor(t) end",
        "begun() while true do x:exp():sum() end",
        "begun() while true do la.randn(3000000) end",
        "begun() while true do x[x:gt(0.5)] = 1 end",
        "begun() while true do tostring(m) end",
        "begun() la.fuse(function(a) while true do a = a * 2 + 1 end end)(x)",
        ("begun() y = la.ones(1, {requires_grad = true}) while true do"
         " (y * y):backward() end"),
    };
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    lua_register(L, "begun", begun);
    run(L, "x = la.rand(2000000) m = la.rand(500, 500)"
           " t = x[{{1, 300000}}]:totable()");
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        pthread_t thread;
        atomic_store(&started, false);
        pthread_create(&thread, NULL, cancel_soon, k);
        stops(L, programs[i], LA_ECANCEL, "stopped by the host");
        pthread_join(thread, NULL);
        la_token_clear(k);
        run(L, "assert((la.ones(1000):sum()):item() == 1000)");
    }
    la_token_release(k);
    lua_close(L);
}

static la_token *signalled;

static void handler(int number) { la_cancel(signalled); }

static void cancelled_by_a_signal(void **state)
{
    lua_State *L = open_state();
    struct sigaction act = {.sa_handler = handler}, before;
    struct itimerspec when = {.it_value = {0, 30000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGUSR1};
    timer_t timer;
    signalled = la_token_of(L);
    sigaction(SIGUSR1, &act, &before);
    run(L, "m = la.rand(500, 500)");
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &when, NULL);
    stops(L, "while true do m:matmul(m) end", LA_ECANCEL, "matmul: stopped by");
    timer_delete(timer);
    sigaction(SIGUSR1, &before, NULL);
    la_token_release(signalled);
    lua_close(L);
}

/* Walks over long lists of tensors end where a limit is reached, not behind the
** list: a part of what the whole takes passes before. */
__attribute__((unused))
static void deadline_inside_a_list(void **state)
{
    static const char *const scripts[] = {
        "la.snapshot(list)", "la.tidy(function() return list end)"};
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    (void)state;
    run(L, "list = la.ones(300000):split(1)");
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        la_set_deadline(k, 1000000);
        stops(L, scripts[i], LA_EDEADLINE, "stopped: the deadline has");
        la_token_clear(k);
        run(L, "assert(#list == 300000 and list[7]:item() == 1)");
    }
    la_token_release(k);
    lua_close(L);
}

/* Within a single long operation, over all threads. */
static void deadline_inside_an_operation(void **state)
{
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    run(L, "m = la.rand(3000, 3000, {dtype = 'float64'})");
    la_set_deadline(k, 20000000);
    stops(L, "while true do m:matmul(m) end", LA_EDEADLINE, "matmul: stopped:");
    la_token_clear(k);
    la_token_release(k);
    lua_close(L);
}

/* One long line: what was cut short is no result, and the next
** operation is not stopped for it. */
static void deadline_inside_a_scan(void **state)
{
    static const char *const names[] = {
        "cummin", "cummax", "cumsum", "cumprod", "logcumsumexp"};
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    run(L, "x = la.rand(4000000)");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char script[40], text[40];
        snprintf(script, sizeof script, "x:%s(1)", names[i]);
        snprintf(text, sizeof text, "%s: stopped:", names[i]);
        la_set_deadline(k, 1000000);
        stops(L, script, LA_EDEADLINE, text);
        la_token_clear(k);
        run(L, "assert((x + 1):numel() == 4000000)");
    }
    la_token_release(k);
    lua_close(L);
}

/* ---- states that move between threads ---- */

enum { STATES = 4, MOVES = 12 };
static lua_State *moving[STATES];
static la_token *tokens[STATES];
static pthread_mutex_t owner[STATES] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int wrong;

/* State k is stopped by its own limit, whoever runs it. */
static void *visit_all(void *first)
{
    for (int i = 0; i < MOVES; i++) {
        int k = ((int)(intptr_t)first + i) % STATES;
        pthread_mutex_lock(&owner[k]);
        if (k % 2) la_set_fuel(tokens[k], 40);
        if (luaL_dostring(moving[k], "for i = 1, 20 do x = (x + x) / 2 end"))
            atomic_fetch_add(&wrong, 1);
        int failed = luaL_dostring(moving[k], "x = x:exp():log()"
                                   " for i = 1, 60 do x = x * 1 end");
        if (failed != (k % 2) || (failed && la_error_code() != LA_EFUEL))
            atomic_fetch_add(&wrong, 1);
        lua_settop(moving[k], 0);
        la_token_clear(tokens[k]);
        pthread_mutex_unlock(&owner[k]);
    }
    return NULL;
}

static void states_move(void **state)
{
    pthread_t threads[STATES];
    for (int i = 0; i < STATES; i++) {
        moving[i] = open_state();
        tokens[i] = la_token_of(moving[i]);
        run(moving[i], "x = la.ones(50, 10)");
    }
    for (int i = 0; i < STATES; i++)
        pthread_create(&threads[i], NULL, visit_all, (void *)(intptr_t)i);
    for (int i = 0; i < STATES; i++) pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    for (int i = 0; i < STATES; i++) {
        lua_close(moving[i]);
        la_token_release(tokens[i]);
    }
}

/* ---- Lua states on threads ---- */

/* Loops without an operation end too, through pcall. The error names
** la.parallel or, where no thread has begun yet, what it calls before. */
static void threads_of_a_script_stop(void **state)
{
    static const char *const bodies[] = {
        "while true do pcall(function() while true do end end) end",
        "while true do la.rand(100, 100):matmul(la.rand(100, 100)) end",
        "coroutine.wrap(function() while true do end end)()",
    };
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    run(L, "function work(body) return la.parallel.map(load('local la = "
           "require [[lunarray]] return function() ' .. body .. ' end')(), "
           "{1, 2, 3}, {threads = 2, retries = 3}) end");
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        char script[200];
        pthread_t thread;
        snprintf(script, sizeof script, "work[[%s]]", bodies[i]);
        atomic_store(&started, true);
        pthread_create(&thread, NULL, cancel_soon, k);
        stops(L, script, LA_ECANCEL, ": stopped by the host");
        pthread_join(thread, NULL);
        la_token_clear(k);
        la_set_deadline(k, 20000000);
        stops(L, script, LA_EDEADLINE, ": stopped: the deadline");
        la_token_clear(k);
        run(L, "local r = work 'return 7' assert(r[1] == 7 and r[3] == 7)");
    }
    la_token_release(k);
    lua_close(L);
}

/* The same for any number of threads, and it ends all of them. */
static void threads_of_a_script_share_fuel(void **state)
{
    static const char script[] = "local r = la.parallel.map(function(x) "
        "return (x:exp():sum()):item() end, list, {threads = n})";
    lua_State *L = open_state();
    la_token *k = la_token_of(L);
    int64_t cost = 0;
    run(L, "list = {} for i = 1, 12 do list[i] = la.zeros(5000) end "
           "n = 1");
    run(L, script);                     /* the module is there now */
    for (int n = 1; n < 4; n++) {
        lua_pushinteger(L, n);
        lua_setglobal(L, "n");
        la_set_fuel(k, 100000);
        run(L, script);
        if (n == 1) cost = 100000 - la_fuel_left(k);
        assert_true(cost > 12 * 2 * 5);
        assert_true(la_fuel_left(k) == 100000 - cost);
        la_set_fuel(k, cost - 1);
        stops(L, script, LA_EFUEL, "parallel.map: stopped: out of fuel");
        la_token_clear(k);
    }
    la_token_release(k);
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_stay),
        cmocka_unit_test(far_deadlines_stop_nothing),
        cmocka_unit_test(nothing_is_no_token),
        cmocka_unit_test(threads_have_their_own),
        cmocka_unit_test(fuel_is_work),
        cmocka_unit_test(einsum_finds_the_best_order),
        cmocka_unit_test(collecting_costs_nothing),
        cmocka_unit_test(unpaid_is_not_begun),
        cmocka_unit_test(cancelled_while_running),
        cmocka_unit_test(cancelled_by_a_signal),
#ifndef LA_EAGER_GC     /* a collection for each tensor: quadratic */
        cmocka_unit_test(deadline_inside_a_list),
#endif
        cmocka_unit_test(deadline_inside_an_operation),
        cmocka_unit_test(deadline_inside_a_scan),
        cmocka_unit_test(states_move),
        cmocka_unit_test(threads_of_a_script_stop),
        cmocka_unit_test(threads_of_a_script_share_fuel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
