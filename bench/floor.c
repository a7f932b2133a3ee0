/*
** What the hardware allows, measured in the same run: plain C loops of the same
** traffic as an operation, as functions for bench/run.lua. A Lua module.
**
**     floor.add(n, turns)   c[i] = a[i] + b[i], float32: seconds per turn (best)
**     floor.read(n, turns)  a read of n floats, added up in 8 vectors
**     floor.clock()         seconds, monotonic
*/
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <time.h>

typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline, target("avx2")))
static void add(const float *a, const float *b, float *c, long n)
{
    for (long i = 0; i + 8 <= n; i += 8)
        *(vec *)(c + i) = *(const vec *)(a + i) + *(const vec *)(b + i);
}

__attribute__((noinline, target("avx2")))
static float read_all(const float *a, long n)
{
    vec s[8] = {{0}};
    for (long i = 0; i + 64 <= n; i += 64)
        for (int k = 0; k < 8; k++) s[k] += *(const vec *)(a + i + 8 * k);
    for (int k = 1; k < 8; k++) s[0] += s[k];
    return s[0][0] + s[0][7];
}

static float *block(lua_State *L, long n)
{
    float *p = aligned_alloc(64, ((size_t)n * sizeof(float) + 63) & ~63ul);
    if (!p) luaL_error(L, "not enough memory");
    for (long i = 0; i < n; i++) p[i] = (float)(i % 7);
    return p;
}

static int floor_add(lua_State *L)
{
    long n = luaL_checkinteger(L, 1);
    double best = 1e30;
    float *a = block(L, n), *b = block(L, n), *c = block(L, n);
    for (int k = 0; k < (int)luaL_checkinteger(L, 2); k++) {
        double t = now();
        add(a, b, c, n);
        t = now() - t;
        if (t < best) best = t;
    }
    free(a);
    free(b);
    free(c);
    lua_pushnumber(L, best);
    return 1;
}

static int floor_read(lua_State *L)
{
    long n = luaL_checkinteger(L, 1);
    double best = 1e30;
    volatile float sink = 0;
    float *a = block(L, n);
    for (int k = 0; k < (int)luaL_checkinteger(L, 2); k++) {
        double t = now();
        sink += read_all(a, n);
        t = now() - t;
        if (t < best) best = t;
    }
    free(a);
    lua_pushnumber(L, best);
    return 1;
}

static int floor_clock(lua_State *L)
{
    lua_pushnumber(L, now());
    return 1;
}

int luaopen_floor(lua_State *L)
{
    const luaL_Reg functions[] = {{"add", floor_add}, {"read", floor_read},
                                  {"clock", floor_clock}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
