/*
** A frame of 100,000 particles that are structs of the host: a loop in C, and
** scripts that work on the same memory through a record (la_wrap_struct).
**
**     make build/bench/particles && taskset -c 1 build/bench/particles [rounds]
**
** Damping, a step of time, reflection at the walls of a box. Prints the best of
** some rounds, in microseconds of processor time, one after the other in each
** round so that all have the same machine; and whether the memory is the same
** in the end, bit by bit.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT 100000
#define FRAMES 20

typedef struct particle {
    float pos[3], vel[3], mass;
    int32_t id;
    float age, size;
} particle;

static const char layout[] = "pos:f32x3 vel:f32x3 mass:f32 id:i32 age:f32 "
                             "size:f32";

static const char script[] =
    "local la = require 'lunarray'\n"
    "la.set_num_threads(1)\n"
    "local function frame(p, dt)\n"
    "  local pos, vel = p.pos, p.vel\n"
    "  vel:mul_(0.999)\n"
    "  pos:add_(vel * dt)\n"
    "  local out = (pos:lt(0)):logical_or(pos:gt(1))\n"
    "  p.vel = la.where(out, -vel, vel)\n"
    "  pos:clamp_(0, 1)\n"
    "end\n"
    "local function plain(p, dt)\n"
    "  local pos, vel = p.pos, p.vel\n"
    "  p.vel = vel * 0.999\n"
    "  p.pos = pos + p.vel * dt\n"
    "  local out = (pos:lt(0)):logical_or(pos:gt(1))\n"
    "  p.vel = la.where(out, -vel, vel)\n"
    "  p.pos = pos:clamp(0, 1)\n"
    "end\n"
    "return la.fuse(frame), frame, plain\n";

/* Not inlined, and with the flags of the build, as a host would have it. */
static __attribute__((noinline)) void c_frame(particle *p, int n, float dt)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            float v = p[i].vel[k] * 0.999f, x = p[i].pos[k] + v * dt;
            if (x < 0 || x > 1) v = -v;
            p[i].vel[k] = v;
            p[i].pos[k] = x < 0 ? 0 : x > 1 ? 1 : x;
        }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void fill(particle *p)
{
    srand(1);
    memset(p, 0, COUNT * sizeof *p);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 3; k++) {
            p[i].pos[k] = (float)(rand() % 10000) / 10000.0f;
            p[i].vel[k] = (float)(rand() % 2000 - 1000) / 1000.0f;
        }
}

/* One frame by way 'way': 0 C, from 1 on the functions on the Lua stack. */
static int run(lua_State *L, int way, particle *p)
{
    const float dt = 0.015625f;
    if (way == 0) {
        c_frame(p, COUNT, dt);
        return 0;
    }
    lua_pushvalue(L, way);
    lua_getglobal(L, "p");
    lua_pushnumber(L, dt);
    return lua_pcall(L, 2, 0, 0);
}

static int fail(lua_State *L, const char *why)
{
    fprintf(stderr, "%s\n", why);
    lua_close(L);
    return 1;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {
        "C", "la.fuse, in place", "in place", "new tensors"};
    enum { WAYS = sizeof names / sizeof *names };
    double best[WAYS];
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    particle *p[WAYS];
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    if (la_openlibs(L)) return fail(L, la_error_text());
    if (luaL_dostring(L, script)) return fail(L, lua_tostring(L, -1));
    for (int k = 0; k < WAYS; k++) {
        p[k] = malloc(COUNT * sizeof(particle));
        fill(p[k]);
        best[k] = 1e9;
    }
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < WAYS; k++) {
            la_record *r = la_wrap_struct(p[k], COUNT, sizeof(particle),
                                          layout, 0, NULL, NULL);
            if (!r || la_push_record(L, r)) return fail(L, la_error_text());
            lua_setglobal(L, "p");
            la_record_release(r);
            double t = now();
            for (int j = 0; j < FRAMES; j++)
                if (run(L, k, p[k])) return fail(L, lua_tostring(L, -1));
            t = (now() - t) / FRAMES;
            if (t < best[k]) best[k] = t;
        }
    for (int k = 0; k < WAYS; k++)
        printf("%-20s %8.1f us  x%.2f  %s\n", names[k], best[k],
               best[k] / best[0], memcmp(p[k], p[0], COUNT * sizeof(particle))
               ? "differs" : "same bits");
    lua_close(L);
    for (int k = 0; k < WAYS; k++) free(p[k]);
    return 0;
}
