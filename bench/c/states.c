/*
** What Lua states cost as they become more: microseconds to open one with
** la_openlibs, kilobytes that each takes, and nanoseconds of a + b in one after
** the other. One line for each number of states.
**
**     make build/bench/states && build/bench/states
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 1024, ROUNDS = 20000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    fclose(f);
    return pages * 4;
}

static const char *const PREPARE =
    "local la = require 'lunarray'; local a, b = la.rand(4), la.rand(4)\n"
    "return function() return a + b end";

static lua_State *open_one(void)
{
    lua_State *L = luaL_newstate();
    if (!L) return NULL;
    luaL_openlibs(L);
    if (la_openlibs(L) || luaL_dostring(L, PREPARE)) {
        lua_close(L);
        return NULL;
    }
    return L;
}

static int call_one(lua_State *L)
{
    lua_pushvalue(L, -1);
    if (lua_pcall(L, 0, 1, 0) != LUA_OK) return -1;
    lua_pop(L, 1);
    return 0;
}

int main(void)
{
    static lua_State *states[MOST];
    int n = 0, bad = 0;
    lua_State *warm = open_one();
    if (!warm) return 1;
    lua_close(warm);
    long before = resident();
    for (int more = 1; more <= MOST; more *= 4) {
        double t = now();
        int opened = more - n;
        for (; n < more; n++)
            if (!(states[n] = open_one())) return 1;
        double open_us = (now() - t) / opened / 1e3;
        double kb = (double)(resident() - before) / n;
        double best = 1e30;
        for (int round = 0; round < 5; round++) {
            t = now();
            for (int i = 0; i < ROUNDS; i++) bad |= call_one(states[i % n]);
            double each = (now() - t) / ROUNDS;
            if (each < best) best = each;
        }
        printf("%d %.1f %.1f %.1f\n", n, open_us, kb, best);
    }
    while (n--) lua_close(states[n]);
    return bad ? 1 : 0;
}
