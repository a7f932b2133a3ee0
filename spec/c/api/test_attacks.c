/*
** The scripts of spec/support/limits/attacks.lua and program_attacks.lua, each
** in a sandbox of its own: they end by their fuel, stay below their cap, reach
** nothing of the host's, and leave another state's settings, generator and
** results as they were.
*/
#define _POSIX_C_SOURCE 200809L
#include "spec/support/mutate.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <unistd.h>

/* Who hangs is ended and named, long after all else is done. */
enum { WATCHDOG = 300 };
#define CAP ((size_t)32 << 20)
#define FUEL 20000
static const char *volatile attacking = "";
static bool has_files;

static void barks(int sig)
{
    const char *what = attacking;
    (void)!write(2, what, strlen(what));
    (void)!write(2, ": hangs\n", 8);
    _exit(1);
}

static void run(lua_State *L, const char *script)
{
    if (luaL_dostring(L, script) != LUA_OK)
        fail_msg("%s: %s", attacking, lua_tostring(L, -1));
    lua_settop(L, 0);
}

/* ---- the state next to it ---- */

static lua_State *open_host(void)
{
    lua_State *H = luaL_newstate();
    luaL_openlibs(H);
    assert_int_equal(la_openlibs(H), 0);
    run(H, "la = require 'lunarray' la.manual_seed(5) want = la.rand(4)"
           " function settings() local c = la.config() return table.concat({"
           " tostring(la.ones(1).dtype), tostring(la.is_grad_enabled()),"
           " tostring(la.get_num_threads()), tostring(la.rand(1) * 0),"
           " tostring(la.tensor{1 / 3})}, ' ') end before = settings()"
           " la.manual_seed(5)");
    return H;
}

static void is_untouched(lua_State *H)
{
    run(H, "assert(la.equal(la.rand(4), want), 'the generator')"
           " assert(settings() == before, settings()) la.manual_seed(5)"
           " assert((la.ones(50, 50):matmul(la.ones(50, 50)):sum():item())"
           " == 125000)");
}

/* ---- files of mods ---- */

static struct {
    const char *name;
    bytes sound;
} shelf[6] = {{.name = "a.laprog"}, {.name = "b.laprog"}, {.name = "a.npz"},
    {.name = "a.safetensors"}, {.name = "a.gguf"}, {.name = "a.onnx"}};
enum { FILES = sizeof shelf / sizeof *shelf };

static bytes opened;

/* "17.a.npz": a.npz with damage number 17. */
static int open_shelf(void *context, const char *name, la_source *source)
{
    static const char likely[] = "\0\1\2\3\4\10\377{}[],:\"019afnt";
    char *end;
    unsigned long long damage = strtoull(name, &end, 10);
    if (end > name && *end == '.') end++;
    for (int i = 0; i < FILES; i++) {
        if (strcmp(shelf[i].name, end) != 0) continue;
        opened = shelf[i].sound;
        seed = damage * 2654435769u + 88172645463325252u;
        if (end > name)
            mutate(&opened, &shelf[(i + 1) % FILES].sound, likely,
                   sizeof likely - 1);
        return open_bytes(&opened, name, source);
    }
    return la_fail("no such file");
}

static void fill_shelf(lua_State *H)
{
    run(H, "local nn, path = require 'lunarray.nn', os.tmpname()\n"
           "local net = nn.Sequential(nn.Linear(3, 4), nn.Tanh())\n"
           "local a = la.compile(function(v) return net(v):exp() end)\n"
           "local b = la.compile(function(v) return la.while_loop(function(y)"
           " return y:sum():lt(50) end, function(y) return y * 2 + 1 end, v)"
           " end)\n"
           "for _ = 1, 2 do a(la.ones(2, 3)) b(la.ones(2, 3)) end\n"
           "local t = {w = la.rand(3, 4), n = la.arange(9), s = la.tensor(2)}\n"
           "local files = {['a.laprog'] = a, ['b.laprog'] = b, ['a.npz'] = t,"
           " ['a.safetensors'] = t}\n"
           "shelf = {}\n"
           "local function take(name)"
           " local f = assert(io.open(path .. name, 'rb'))"
           " shelf[name] = f:read 'a' f:close() os.remove(path .. name) end\n"
           "for name, v in pairs(files) do la.save(v, path .. name) take(name)"
           " end\n"
           "shelf['a.gguf'] = la.gguf and la.gguf.encode{metadata = {a = 1,"
           " ['b.c'] = {'x', 'y'}}, tensors = t} or ''\n"
           "shelf['a.onnx'] = ''\n"
           "if la.onnx then"
           " la.onnx.save(net, path .. 'a.onnx', {la.ones(2, 3)})"
           " take 'a.onnx' end\n"
           "os.remove(path)");
    for (int i = 0; i < FILES; i++) {
        lua_getglobal(H, "shelf");
        lua_getfield(H, -1, shelf[i].name);
        const char *text = lua_tolstring(H, -1, &shelf[i].sound.n);
        assert_true(text && shelf[i].sound.n < MOST);
        memcpy(shelf[i].sound.data, text, shelf[i].sound.n);
        lua_settop(H, 0);
    }
}

/* ---- one attack ---- */

static void attack(lua_State *H, const char *script)
{
    la_limits limits = {.size = sizeof limits, .memory = CAP, .fuel = FUEL,
                        .open = has_files ? open_shelf : NULL};
    /* What several scripts begin with stays out of messages. */
    enum { SHOWN = 600 };
    size_t n = strlen(script) + 100;
    char *text = malloc(n);
    attacking = n > SHOWN + 100 ? script + n - 100 - SHOWN : script;
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    la_token *k = la_token_of(L);
    run(L, "x = lunarray.ones(3)");
    /* An expression or statements. */
    snprintf(text, n, "local la, x = lunarray, x return %s", script);
    if (luaL_loadstring(L, text) != LUA_OK) {
        snprintf(text, n, "local la, x = lunarray, x %s", script);
        if (luaL_loadstring(L, text) != LUA_OK)
            fail_msg("%s: %s", script, lua_tostring(L, -1));
    }
    (void)lua_pcall(L, 0, 0, 0);
    int code = la_token_code(k);
    if (code && code != LA_EFUEL) fail_msg("%s: ended by %d", attacking, code);
    if (la_token_memory(k) > CAP)
        fail_msg("%s: %zu bytes", attacking, la_token_memory(k));
    lua_settop(L, 0);
    lua_pushglobaltable(L);
    lua_pushliteral(L, "ESCAPED");
    lua_rawget(L, -2);
    if (lua_toboolean(L, -1))
        fail_msg("%s: reached %s", attacking, luaL_typename(L, -1));
    lua_settop(L, 0);
    is_untouched(H);
    lua_close(L);
    if (la_token_memory(k)) fail_msg("%s: bytes are left", attacking);
    la_token_release(k);
    attacking = "";
    free(text);
}

static int attacks_in(const char *file, const char *theme)
{
    lua_State *T = luaL_newstate(), *H = open_host();
    luaL_openlibs(T);
    if (luaL_dofile(T, file)) fail_msg("%s", lua_tostring(T, -1));
    lua_getfield(T, -1, theme);
    int n = (int)luaL_len(T, -1);
    for (int i = 1; i <= n; i++) {
        lua_geti(T, -1, i);
        alarm(WATCHDOG);
        attack(H, lua_tostring(T, -1));
        lua_pop(T, 1);
    }
    lua_close(H);
    lua_close(T);
    return n;
}

static int attacks_of(const char *theme)
{
    return attacks_in("spec/support/limits/attacks.lua", theme);
}

static int total;

/* ---- chains of metatables ---- */

static la_token *volatile cancelled;

static void cancels(int sig)
{
    (void)sig;
    la_cancel(cancelled);
}

/* The script in a sandbox with these limits; with none of them it is cancelled
** by a signal. It ends by that, or by an error of its own. */
static void ends_by(int expected, const char *script, int64_t fuel,
                    int64_t deadline)
{
    la_limits limits = {.size = sizeof limits, .memory = 2 * CAP,
                        .fuel = fuel, .deadline = deadline};
    struct itimerval soon = {.it_value.tv_usec = fuel || deadline ? 0 : 50000};
    lua_State *L = luaL_newstate();
    attacking = script;
    alarm(WATCHDOG);
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    cancelled = la_token_of(L);
    signal(SIGPROF, cancels);
    setitimer(ITIMER_PROF, &soon, NULL);
    assert_int_equal(luaL_loadstring(L, script), LUA_OK);
    assert_int_not_equal(lua_pcall(L, 0, 0, 0), LUA_OK);
    signal(SIGPROF, SIG_IGN);
    int code = la_token_code(cancelled);
    if (code) assert_int_equal(code, expected);
    lua_close(L);
    la_token_release(cancelled);
}

static void chains_end_by_every_limit(void **state)
{
    lua_State *T = luaL_newstate();
    luaL_openlibs(T);
    assert_int_equal(luaL_dofile(T, "spec/support/limits/attacks.lua"), LUA_OK);
    lua_getfield(T, -1, "chains");
    for (int i = 1; lua_geti(T, -1, i) == LUA_TSTRING; i++) {
        const char *script = lua_tostring(T, -1);
        ends_by(LA_EFUEL, script, FUEL, 0);
        ends_by(LA_EDEADLINE, script, 0, 50000000);
        ends_by(LA_ECANCEL, script, 0, 0);
        lua_pop(T, 1);
        total++;
    }
    lua_close(T);
}

static void what_is_deep_and_fair_runs(void **state)
{
    lua_State *T = luaL_newstate();
    luaL_openlibs(T);
    assert_int_equal(luaL_dofile(T, "spec/support/limits/attacks.lua"), LUA_OK);
    lua_getfield(T, -1, "fair");
    for (int i = 1; lua_geti(T, -1, i) == LUA_TSTRING; i++) {
        la_limits limits = {.size = sizeof limits, .memory = 2 * CAP,
                            .fuel = FUEL};
        lua_State *L = luaL_newstate();
        assert_int_equal(la_open_sandboxed(L, &limits), 0);
        la_token *k = la_token_of(L);
        if (luaL_dostring(L, lua_tostring(T, -1)) || !lua_toboolean(L, -1))
            fail_msg("%s: %s", lua_tostring(T, -1), lua_tostring(L, -1));
        lua_close(L);
        la_token_release(k);
        lua_pop(T, 1);
    }
    lua_close(T);
}

static void nothing_of_the_host_is_reached(void **state)
{
    total += attacks_of("escapes");
}

static void sizes_are_refused(void **state)
{
    total += attacks_of("sizes");
}

static void depth_ends(void **state)
{
    total += attacks_of("depth");
}

static void strings_end(void **state)
{
    total += attacks_of("strings");
}

static void coroutines_end(void **state)
{
    total += attacks_of("coroutines");
}

static void callbacks_harm_nothing(void **state)
{
    total += attacks_of("callbacks");
}

static void themes_keep_the_limits(void **state)
{
    total += attacks_of("themes");
}

static void what_mods_bring_along_ends(void **state)
{
    lua_State *H = open_host();
    fill_shelf(H);
    lua_close(H);
    has_files = true;
    total += attacks_of("recent");
    has_files = false;
}

static void recordings_that_go_wrong_end(void **state)
{
    lua_State *H = open_host();
    fill_shelf(H);
    lua_close(H);
    has_files = true;
    total += attacks_in("spec/support/limits/program_attacks.lua", "programs");
    has_files = false;
}

static void settings_are_the_hosts(void **state)
{
    total += attacks_of("settings");
    assert_true(total > 400);
}

/* build/ctest/test_attacks FILE THEME: another list. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_that_go_wrong_end),
        cmocka_unit_test(what_mods_bring_along_ends),
        cmocka_unit_test(nothing_of_the_host_is_reached),
        cmocka_unit_test(sizes_are_refused),
        cmocka_unit_test(depth_ends),
        cmocka_unit_test(strings_end),
        cmocka_unit_test(coroutines_end),
        cmocka_unit_test(callbacks_harm_nothing),
        cmocka_unit_test(themes_keep_the_limits),
        cmocka_unit_test(chains_end_by_every_limit),
        cmocka_unit_test(what_is_deep_and_fair_runs),
        cmocka_unit_test(settings_are_the_hosts),
    };
    signal(SIGALRM, barks);
    if (argc == 3) {
        lua_State *H = open_host();
        fill_shelf(H);
        lua_close(H);
        has_files = true;
        printf("%d attacks\n", attacks_in(argv[1], argv[2]));
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
