/*
** What the machine allows, measured in the same run: plain C loops of the same
** traffic as an operation, as functions for the scripts here. A Lua module.
**
**     floor.bound(kind, bytes [, threads])  nanoseconds (best) to move that
**         many bytes of float32 in all by a plain loop over memory used before:
**         "read"   summed up in eight vectors
**         "fill"   written
**         "copy"   half read, half written
**         "add"    two thirds read, one third written
**         above 16 MB the better of plain and streaming stores; with threads,
**         each has its part and its own processor
**     floor.clock()                          seconds, monotonic
**     floor.nothing()                        what an empty C function costs
*/
#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STREAM_FROM (16l << 20)
#define MOST_THREADS 64

typedef float vec __attribute__((vector_size(32), aligned(32), may_alias));

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define AVX2 __attribute__((noinline, target("avx2")))

AVX2 static float run_read(const float *a, const float *b, float *c, long n)
{
    vec s[8] = {{0}};
    for (long i = 0; i + 64 <= n; i += 64)
        for (int k = 0; k < 8; k++) s[k] += *(const vec *)(a + i + 8 * k);
    for (int k = 1; k < 8; k++) s[0] += s[k];
    return s[0][0] + s[0][7];
}

AVX2 static float run_fill(const float *a, const float *b, float *c, long n)
{
    vec v = {1, 1, 1, 1, 1, 1, 1, 1};
    for (long i = 0; i + 8 <= n; i += 8) *(vec *)(c + i) = v;
    return 0;
}

AVX2 static float run_copy(const float *a, const float *b, float *c, long n)
{
    for (long i = 0; i + 8 <= n; i += 8)
        *(vec *)(c + i) = *(const vec *)(a + i);
    return 0;
}

AVX2 static float run_add(const float *a, const float *b, float *c, long n)
{
    for (long i = 0; i + 8 <= n; i += 8)
        *(vec *)(c + i) = *(const vec *)(a + i) + *(const vec *)(b + i);
    return 0;
}

/* The same with stores that pass the cache by. */
AVX2 static float stream_fill(const float *a, const float *b, float *c, long n)
{
    vec v = {1, 1, 1, 1, 1, 1, 1, 1};
    for (long i = 0; i + 8 <= n; i += 8) __builtin_ia32_movntps256(c + i, v);
    return 0;
}

AVX2 static float stream_copy(const float *a, const float *b, float *c, long n)
{
    for (long i = 0; i + 8 <= n; i += 8)
        __builtin_ia32_movntps256(c + i, *(const vec *)(a + i));
    return 0;
}

AVX2 static float stream_add(const float *a, const float *b, float *c, long n)
{
    for (long i = 0; i + 8 <= n; i += 8)
        __builtin_ia32_movntps256(c + i,
            *(const vec *)(a + i) + *(const vec *)(b + i));
    return 0;
}

typedef float loop(const float *a, const float *b, float *c, long n);

static const struct kind {
    const char *name;
    int reads, writes;      /* streams of n floats each */
    loop *plain, *stream;
} kinds[] = {
    {"read", 1, 0, run_read, NULL},
    {"fill", 0, 1, run_fill, stream_fill},
    {"copy", 1, 1, run_copy, stream_copy},
    {"add", 2, 1, run_add, stream_add},
};

typedef struct job {
    const float *a, *b;
    float *c;
    long n;
    int passes;
    loop *run;
    pthread_barrier_t *gate;
    volatile float sink;
    double best;            /* seconds; of the first job, for all */
} job;

static void *work(void *arg)
{
    job *j = arg;
    j->best = 1e30;
    for (int k = 0; k < j->passes; k++) {
        pthread_barrier_wait(j->gate);
        double t = now();
        j->sink = j->run(j->a, j->b, j->c, j->n);
        pthread_barrier_wait(j->gate);
        t = now() - t;
        if (t < j->best) j->best = t;
    }
    return NULL;
}

static double alone(job *j)
{
    j->best = 1e30;
    for (int k = 0; k < j->passes; k++) {
        double t = now();
        j->sink = j->run(j->a, j->b, j->c, j->n);
        t = now() - t;
        if (t < j->best) j->best = t;
    }
    return j->best;
}

static double time_loop(loop *run, float *a, float *b, float *c, long n,
    int passes, int threads)
{
    job jobs[MOST_THREADS];
    pthread_t ids[MOST_THREADS];
    pthread_barrier_t gate;
    long part = n / threads / 64 * 64;
    if (threads == 1) {
        jobs[0] = (job){.a = a, .b = b, .c = c, .n = n, .passes = passes,
                        .run = run};
        return alone(&jobs[0]);
    }
    pthread_barrier_init(&gate, NULL, (unsigned)threads);
    for (int k = 0; k < threads; k++)
        jobs[k] = (job){.a = a + k * part, .b = b + k * part, .c = c + k * part,
            .n = part, .passes = passes, .run = run, .gate = &gate};
    for (int k = 1; k < threads; k++)
        if (pthread_create(&ids[k], NULL, work, &jobs[k])) abort();
    work(&jobs[0]);
    for (int k = 1; k < threads; k++) pthread_join(ids[k], NULL);
    pthread_barrier_destroy(&gate);
    return jobs[0].best;
}

static float *block(lua_State *L, long n)
{
    float *p = lua_newuserdatauv(L, ((size_t)n + 16) * sizeof(float), 0);
    p = (float *)(((size_t)p + 63) & ~(size_t)63);
    for (long i = 0; i < n; i++) p[i] = (float)(i % 7);
    return p;
}

static int floor_bound(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    long bytes = (long)luaL_checkinteger(L, 2);
    int threads = (int)luaL_optinteger(L, 3, 1);
    const struct kind *kind = NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (!strcmp(kinds[i].name, name)) kind = &kinds[i];
    luaL_argcheck(L, kind, 1, "read, fill, copy or add expected");
    luaL_argcheck(L, threads >= 1 && threads <= MOST_THREADS, 3, "1 to 64");
    luaL_argcheck(L, bytes > 0 && bytes < 1l << 32, 2, "up to 4 GiB");
    long n = bytes / 4 / (kind->reads + kind->writes) + 64;
    float *a = block(L, n), *b = kind->reads > 1 ? block(L, n) : a;
    float *c = kind->writes ? block(L, n) : a;
    int passes = (int)(400000000l / bytes);
    passes = passes < 9 ? 9 : passes > 5000 ? 5000 : passes;
    double best = time_loop(kind->plain, a, b, c, n, passes, threads);
    if (kind->stream && bytes > STREAM_FROM) {
        double other = time_loop(kind->stream, a, b, c, n, passes, threads);
        if (other < best) best = other;
    }
    lua_pushnumber(L, best * 1e9);
    return 1;
}

static int floor_clock(lua_State *L)
{
    lua_pushnumber(L, now());
    return 1;
}

static int floor_nothing(lua_State *L) { return 0; }

int luaopen_floor(lua_State *L)
{
    const luaL_Reg functions[] = {{"bound", floor_bound},
        {"clock", floor_clock}, {"nothing", floor_nothing}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
