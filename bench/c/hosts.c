/*
** What a host's calls cost: operations through a handle and by name next to the
** same from Lua, wrapping and handing over memory, frames, snapshots, slots,
** states, and arithmetic on fields of structs next to contiguous tensors.
**
**     make build/bench/hosts && taskset -c 1 build/bench/hosts [rounds]
**
** Nanoseconds of processor time of one call on one thread; of 'rounds' rounds,
** in each of which every case is run once, the least.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PARTICLES = 100000 };

typedef struct particle {
    float pos[3], vel[3], mass;
    int32_t id;
    float age, size;
} particle;

/* What the cases work on; made once. */
static struct world {
    lua_State *L;
    la_op *add, *add_, *exp;
    la_tensor *a, *b, *large, *field, *step;
    la_snapshot *snapshot;
    la_slot *slot;
    particle *particles;
    float host[4];
} w;

static int drop(la_tensor *t)
{
    la_release(t);
    return t ? 0 : -1;
}

/* Each function does its call n times and returns 0, or -1 for a failure. */
static int handle_add(int n)
{
    int bad = 0;
    while (n--) bad |= drop(la_op_call(w.L, w.add, LA_ARGS(w.a, w.b), NULL));
    return bad;
}

static int handle_add_inplace(int n)
{
    int bad = 0;
    while (n--) bad |= drop(la_op_call(w.L, w.add_, LA_ARGS(w.a, w.b), NULL));
    return bad;
}

static int handle_exp(int n)
{
    int bad = 0;
    while (n--) bad |= drop(la_op_call(w.L, w.exp, LA_ARGS(w.a), NULL));
    return bad;
}

static int name_add(int n)
{
    int bad = 0;
    while (n--) bad |= drop(la_call(w.L, "add", w.a, w.b));
    return bad;
}

static int name_zeros_like(int n)
{
    int bad = 0;
    while (n--) bad |= drop(la_call(w.L, "zeros_like", w.a));
    return bad;
}

/* The loop is Lua's, one function per case; its counter is in the time. */
static int lua_loop(const char *name, int n)
{
    lua_getglobal(w.L, name);
    lua_pushinteger(w.L, n);
    if (!lua_pcall(w.L, 1, 0, 0)) return 0;
    fprintf(stderr, "%s\n", lua_tostring(w.L, -1));
    return -1;
}

static int lua_add(int n) { return lua_loop("add", n); }
static int lua_add_inplace(int n) { return lua_loop("add_inplace", n); }
static int lua_exp(int n) { return lua_loop("exp", n); }

static int wrap(int n)
{
    int64_t four = 4;
    int bad = 0;
    while (n--) bad |= drop(la_wrap(w.host, "float32", 1, &four, NULL, NULL,
                                    NULL));
    return bad;
}

static int wrap_push(int n)
{
    int64_t four = 4;
    int bad = 0;
    while (n--) {
        la_tensor *t = la_wrap(w.host, "float32", 1, &four, NULL, NULL, NULL);
        bad |= la_push(w.L, t);
        lua_setglobal(w.L, "x");
        bad |= drop(t);
    }
    return bad;
}

static int index_row(int n)
{
    int bad = 0;
    while (n--) {
        la_range row = la_at(2);
        bad |= drop(la_index(w.L, w.field, 1, &row));
    }
    return bad;
}

static int frame(int n)
{
    int bad = 0;
    while (n--) {
        bad |= la_frame_begin(w.L);
        bad |= la_frame_end(w.L);
    }
    return bad;
}

static int snapshot_restore(int n)
{
    int bad = 0;
    while (n--) bad |= la_snapshot_restore(w.snapshot);
    return bad;
}

static int publish_acquire(int n)
{
    int bad = 0;
    while (n--) {
        bad |= la_slot_publish(w.slot, w.a);
        bad |= drop(la_slot_acquire(w.slot));
    }
    return bad;
}

static int state(int n)
{
    int bad = 0;
    while (n--) {
        lua_State *L = luaL_newstate();
        if (!L) return -1;
        bad |= la_openlibs(L);
        lua_close(L);
    }
    return bad;
}

/* {100000, 3} floats in place: contiguous, and as a field of structs. */
static int large_add(int n)
{
    int bad = 0;
    while (n--) bad |= drop(la_op_call(w.L, w.add_, LA_ARGS(w.large, w.step),
                                       NULL));
    return bad;
}

static int field_add(int n)
{
    int bad = 0;
    while (n--) bad |= drop(la_op_call(w.L, w.add_, LA_ARGS(w.field, w.step),
                                       NULL));
    return bad;
}

/* The same by a loop in C, with the flags of the build. */
static __attribute__((noinline)) void c_add(particle *p, const float *step)
{
    for (int i = 0; i < PARTICLES; i++)
        for (int k = 0; k < 3; k++) p[i].pos[k] += step[3 * i + k];
}

static int field_add_c(int n)
{
    while (n--) c_add(w.particles, la_tensor_data(w.step));
    return 0;
}

static const struct row {
    const char *name;
    int (*run)(int n);
    int n;
} rows[] = {
    {"add of 4 elements, la_op_call", handle_add, 20000},
    {"add of 4 elements, la_call", name_add, 20000},
    {"add of 4 elements, Lua a + b", lua_add, 20000},
    {"add_ of 4 elements, la_op_call", handle_add_inplace, 20000},
    {"add_ of 4 elements, Lua a:add_(b)", lua_add_inplace, 20000},
    {"exp of 4 elements, la_op_call", handle_exp, 20000},
    {"exp of 4 elements, Lua a:exp()", lua_exp, 20000},
    {"zeros_like, la_call", name_zeros_like, 20000},
    {"la_wrap and la_release", wrap, 20000},
    {"la_wrap, la_push, global, release", wrap_push, 20000},
    {"la_index, one row", index_row, 20000},
    {"la_frame_begin, la_frame_end", frame, 20000},
    {"la_snapshot_restore, unchanged", snapshot_restore, 20000},
    {"la_slot_publish, la_slot_acquire", publish_acquire, 20000},
    {"state with la_openlibs, closed", state, 20},
    {"{100000, 3} add_, contiguous", large_add, 50},
    {"{100000, 3} add_, field of structs", field_add, 50},
    {"the same, loop in C", field_add_c, 50},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char script[] =
    "local a, b = la.rand(4), la.rand(4)\n"
    "function add(n) for i = 1, n do local c = a + b end end\n"
    "function add_inplace(n) for i = 1, n do a:add_(b) end end\n"
    "function exp(n) for i = 1, n do local c = a:exp() end end\n";

static int prepare(void)
{
    w.L = luaL_newstate();
    if (!w.L) return -1;
    luaL_openlibs(w.L);
    if (la_openlibs(w.L)) return -1;
    lua_getglobal(w.L, "lunarray");
    lua_setglobal(w.L, "la");
    if (luaL_dostring(w.L, script)) return -1;
    w.particles = calloc(PARTICLES, sizeof *w.particles);
    la_record *r = la_wrap_struct(w.particles, PARTICLES, sizeof *w.particles,
                                  "pos:f32x3 vel:f32x3 mass:f32 id:i32 "
                                  "age:f32 size:f32", 0, NULL, NULL);
    w.field = r ? la_record_field(r, "pos") : NULL;
    la_record_release(r);
    w.add = la_op_find("add");
    w.add_ = la_op_find("add_");
    w.exp = la_op_find("exp");
    w.a = la_call(w.L, "rand", 4);
    w.b = la_call(w.L, "rand", 4);
    w.large = la_call(w.L, "zeros", PARTICLES, 3);
    w.step = la_call(w.L, "rand", PARTICLES, 3);
    w.slot = la_slot_new();
    if (w.a) w.snapshot = la_snapshot_take(1, &w.a);
    return w.field && w.b && w.large && w.step && w.slot && w.snapshot ? 0 : -1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    double best[ROWS];
    if (prepare() || la_set_thread_count(NULL, 1)) {
        fprintf(stderr, "%s\n", la_error_text());
        return 1;
    }
    for (int k = 0; k < ROWS; k++) best[k] = 1e18;
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < ROWS; k++) {
            double t = now();
            if (rows[k].run(rows[k].n)) {
                fprintf(stderr, "%s: %s\n", rows[k].name, la_error_text());
                return 1;
            }
            t = (now() - t) / rows[k].n;
            if (t < best[k]) best[k] = t;
        }
    for (int k = 0; k < ROWS; k++)
        printf("%-36s %10.0f ns\n", rows[k].name, best[k]);
    la_tensor *all[] = {w.a, w.b, w.large, w.field, w.step};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) la_release(all[k]);
    la_snapshot_release(w.snapshot);
    la_slot_release(w.slot);
    lua_close(w.L);
    free(w.particles);
    return 0;
}
