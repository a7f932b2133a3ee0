/* Fuel is the work. spec/support/limits/fuel.lua walks the golden records and
** rows, at several sizes, and measures calls by the function that it gets from
** here: their fuel is the same on all CPU paths and for any number of threads,
** and no call takes much longer for a unit than adding. What needs more than
** 512 MB is left out.
**
**     build/ctest/test_fuel table [PATTERN]
**
** prints nanoseconds per unit, the worst call of each operation (make fuel). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

#define PLENTY ((int64_t)1 << 50)

static int64_t processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* measured(f): the fuel of f(), the nanoseconds of the processor that it took,
** and whether it ended well. A call that takes very long is stopped. */
static int measured(lua_State *L)
{
    la_token *k = la_token_of(L);
    la_set_fuel(k, PLENTY);
    la_set_deadline(k, (int64_t)60 * 1000000000);
    lua_settop(L, 1);
    int64_t before = processor_time();
    bool well = lua_pcall(L, 0, 0, 0) == LUA_OK;
    int64_t after = processor_time(), left = la_fuel_left(k);
    la_token_clear(k);
    la_token_release(k);
    lua_pushinteger(L, PLENTY - left);
    lua_pushinteger(L, after - before);
    lua_pushboolean(L, well);
    return 3;
}

/* Runs the walk with these arguments; its result, 0 where it has none. */
static lua_Integer walk(const char *mode, const char *pattern)
{
    la_config c = {.size = sizeof c, .memory = 512 << 20};
    la_runtime *rt = la_runtime_new(&c);
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs_in(L, rt), 0);
    (void)luaL_dostring(L, "package.path = './?.lua;' .. package.path");
    if (luaL_loadfile(L, "spec/support/limits/fuel.lua"))
        fail_msg("%s", lua_tostring(L, -1));
    lua_pushcfunction(L, measured);
    lua_pushstring(L, mode);
    lua_pushstring(L, pattern);
    if (lua_pcall(L, 3, 1, 0)) fail_msg("%s", lua_tostring(L, -1));
    lua_Integer result = lua_tointeger(L, -1);
    lua_close(L);
    la_runtime_destroy(rt);
    return result;
}

static const char *program;

/* What this program prints in the mode 'list'. */
static char *listed(const char *environment)
{
    char command[1000], *text = NULL;
    size_t n = 0, had = 0;
    snprintf(command, sizeof command, "%s %s list", environment, program);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    do {
        text = realloc(text, n + 65537);
        had = fread(text + n, 1, 65536, f);
        n += had;
    } while (had > 0);
    text[n] = '\0';
    assert_int_equal(pclose(f), 0);
    return text;
}

static void equal_everywhere(void **state)
{
    static const char *const others[] = {"LUNARRAY_CPU=default",
                                         "LUNARRAY_NUM_THREADS=3"};
    char *here = listed("LUNARRAY_NUM_THREADS=1");
    (void)state;
    assert_true(strlen(here) > 10000);
    for (int k = 0; k < 2; k++) {
        char *other = listed(others[k]);
        size_t n = 0, line = 0;
        for (; here[n] && here[n] == other[n]; n++)
            if (here[n] == '\n') line = n + 1;
        if (here[n] || other[n])
            fail_msg("%s: %.60s and %.60s", others[k], here + line,
                     other + line);
        free(other);
    }
    free(here);
}

/* Times mean something in optimised code alone, and nothing under a checker of
** memory. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) \
    && !defined(__SANITIZE_THREAD__)
static void follows_time(void **state)
{
    (void)state;
    assert_int_equal(walk("check", NULL), 0);
}
#else
static void follows_time(void **state)
{
    (void)state;
    skip();
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_everywhere), cmocka_unit_test(follows_time)};
    program = argv[0];
    if (argc == 1) return cmocka_run_group_tests(tests, NULL, NULL);
    return (int)walk(argv[1], argc > 2 ? argv[2] : NULL);
}
