/*
** spec/support/limits/word_attacks.lua: the examples of all words with hostile
** arguments, in sandboxes with fuel and a cap. They end, stay below the cap,
** leave another state as it was, and all memory comes back.
**
**     build/ctest/test_word_attacks [SEED [CALLS]]
**
** CALLS are those of each word, at the most; with a 0 for SEED the names of the
** words are printed.
*/
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <signal.h>
#include <unistd.h>

#include "lunarray.h"

/* Words in a row that have one sandbox. Who hangs is ended and named. */
enum { WORDS = 16, WATCHDOG = 300 };
#define CAP ((size_t)128 << 20)
#define FUEL 6000

static char attacking[200];
static long seed = 1, calls = 4;

static void barks(int sig)
{
    (void)!write(2, attacking, strlen(attacking));
    (void)!write(2, ": hangs\n", 8);
    _exit(1);
}

/* The attack, on the top of the stack: the library, the debugger that no script
** of a sandbox gets, and the seed go in. */
static lua_State *open_attack(void)
{
    la_limits limits = {.size = sizeof limits, .memory = CAP};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    if (luaL_loadfile(L, "spec/support/limits/word_attacks.lua") != LUA_OK)
        fail_msg("%s", lua_tostring(L, -1));
    lua_getglobal(L, "lunarray");
    lua_pushcfunction(L, luaopen_debug);
    lua_call(L, 0, 1);
    lua_pushinteger(L, seed);
    if (lua_pcall(L, 3, 1, 0) != LUA_OK) fail_msg("%s", lua_tostring(L, -1));
    return L;
}

/* One word; false: there are no more. */
static bool attack(lua_State *L, la_token *k, int word)
{
    snprintf(attacking, sizeof attacking, "word %d of seed %ld", word, seed);
    alarm(WATCHDOG);
    la_set_fuel(k, FUEL);
    lua_pushvalue(L, -1);
    lua_pushinteger(L, word);
    lua_pushinteger(L, calls);
    bool well = lua_pcall(L, 2, 1, 0) == LUA_OK;
    int code = la_token_code(k);
    if (code && code != LA_EFUEL) fail_msg("%s: ended by %d", attacking, code);
    if (!well && !code)
        fail_msg("%s: %s", attacking, luaL_tolstring(L, -1, NULL));
    if (la_token_memory(k) > CAP) fail_msg("%s: above the cap", attacking);
    la_token_clear(k);
    bool more = !well || lua_toboolean(L, -1);
    if (seed == 0 && well && more) {
        printf("%d %s\n", word, lua_tostring(L, -1));
        (void)fflush(stdout);
    }
    lua_settop(L, 1);
    return more;
}

static void hostile_arguments_harm_nothing(void **state)
{
    lua_State *H = luaL_newstate();
    luaL_openlibs(H);
    assert_int_equal(la_openlibs(H), 0);
    assert_int_equal(luaL_dostring(H, "la = require 'lunarray'"
        " la.manual_seed(5) want = la.rand(4) la.manual_seed(5)"), LUA_OK);
    int word = 1;
    for (bool more = true; more;) {
        lua_State *L = open_attack();
        la_token *k = la_token_of(L);
        for (int i = 0; i < WORDS && more; i++) more = attack(L, k, word++);
        lua_close(L);
        /* A thread of the pool may still be on its way out of a range. */
        for (int i = 0; i < 200 && la_token_memory(k); i++) usleep(10000);
        if (la_token_memory(k))
            fail_msg("%s: %zu bytes are left", attacking, la_token_memory(k));
        la_token_release(k);
        if (luaL_dostring(H, "assert(la.equal(la.rand(4), want))"
                " la.manual_seed(5) assert(la.is_grad_enabled())"
                " assert(la.tensor{1 / 3}.dtype == 'float32')") != LUA_OK)
            fail_msg("%s: %s", attacking, lua_tostring(H, -1));
    }
    lua_close(H);
    assert_true(word > 1000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_arguments_harm_nothing),
    };
    if (argc > 1) seed = atol(argv[1]);
    if (argc > 2) calls = atol(argv[2]);
    signal(SIGALRM, barks);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
