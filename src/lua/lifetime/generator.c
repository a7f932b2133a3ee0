/*
** Generators and seeds. The generator of a state is in its context; those that
** la.Generator makes are userdata. A state is the seed and how far the stream
** has been used, 16 bytes of a uint8 tensor.
**
** The stream is a counter-based one (Philox): the offset counts what was drawn,
** and a seed with an offset determines all that follows. So no other state has
** to be saved, and setting a seed resets the offset to 0.
*/
#include <string.h>
#include <time.h>

#include "base/os/os.h"
#include "lua/binding.h"
#include "program/program.h"

#define GENERATOR_NAME "lunarray.Generator"
#define FORK_NAME "lunarray.fork_rng"
enum { STATE_BYTES = 16 };

la_generator *la_to_generator(lua_State *L, int arg)
{
    return luaL_testudata(L, arg, GENERATOR_NAME);
}

static la_generator *check_generator(lua_State *L, const char *name)
{
    la_generator *g = la_to_generator(L, 1);
    if (!g) la_raise_arg(L, 1, name, "generator expected, got %s",
                         la_type_text(L, 1));
    return g;
}

/* The generator of the running state. Makes that state current. */
static la_generator *own(lua_State *L)
{
    return &la_enter(L)->context.generator;
}

/* ---- seeds ---- */

static const char generator_refused[] = "it sets or reads the state of a "
    "generator";

static void set_seed(lua_State *L, const char *name, la_generator *g,
                     uint64_t seed)
{
    LA_CHECK(L, name, la_loop_hold());
    la_record_refuse(generator_refused);
    *g = (la_generator){.seed = seed};
}

/* A seed of the system's differs on every machine. */
static void set_fresh_seed(lua_State *L, la_generator *g, const char *name)
{
    if (la_state_of(L)->context.lockstep)
        la_raise(L, name, la_error(LA_ESUPPORT, "a state in lockstep takes no "
                                   "seed from the system: give one to "
                                   "manual_seed"));
    set_seed(L, name, g, la_fresh_seed());
}

/* 63 bits. Where the system has none yet, the clock has to do. */
uint64_t la_fresh_seed(void)
{
    uint64_t seed;
    struct timespec now;
    if (la_os_random(&seed, sizeof seed)) return seed >> 1;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec) >> 1;
}

static int push_seed(lua_State *L, const la_generator *g)
{
    lua_pushinteger(L, (lua_Integer)g->seed);
    return 1;
}

/* ---- states ---- */

/* State in the byte order of the machine, like the tensor's own data. */
static int push_state(lua_State *L, const la_generator *g)
{
    la_state *s = la_up_state(L);
    int64_t n = STATE_BYTES;
    la_tensor *t = NULL;
    la_record_refuse(generator_refused);
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "get_state", la_tensor_empty(1, &n, LA_UINT8, &t));
    memcpy(la_data(t), &g->seed, 8);
    memcpy(la_data(t) + 8, &g->offset, 8);
    la_fill_handle(s, h, t);
    return 1;
}

/* The state in the tensor at 'arg' into 'g'. Raises for any tensor that
** get_state could not have given; 'g' is as it was then. */
static void read_state(lua_State *L, int arg, const char *name,
                       la_generator *g)
{
    la_tensor *t = la_check_tensor(L, arg, name);
    if (t->dtype != LA_UINT8 || t->numel != STATE_BYTES || !la_is_contiguous(t)
        || la_tensor_check_bounds(t) || !la_data(t))
        la_raise_arg(L, arg, name, "the state must be a uint8 tensor of %d "
                     "elements as get_state gives it", STATE_BYTES);
    /* No change is none of a program, either. */
    if (memcmp(&g->seed, la_data(t), 8)
        || memcmp(&g->offset, la_data(t) + 8, 8)) {
        LA_CHECK(L, name, la_loop_hold());
        la_record_refuse(generator_refused);
    }
    memcpy(&g->seed, la_data(t), 8);
    memcpy(&g->offset, la_data(t) + 8, 8);
}

/* ---- methods of a generator; names as in PyTorch ---- */

/* g:manual_seed(seed): starts its stream anew; returns g. */
static int generator_manual_seed(lua_State *L)
{
    la_generator *g = check_generator(L, "manual_seed");
    set_seed(L, "manual_seed", g, (uint64_t)la_check_int(L, 2, "manual_seed"));
    lua_settop(L, 1);
    return 1;
}

/* g:seed(): a seed that the system drew; returns it. */
static int generator_seed(lua_State *L)
{
    la_generator *g = check_generator(L, "seed");
    set_fresh_seed(L, g, "seed");
    return push_seed(L, g);
}

/* g:initial_seed(): the seed that was set last, an integer. */
static int generator_initial_seed(lua_State *L)
{
    return push_seed(L, check_generator(L, "initial_seed"));
}

/* g:get_state(): seed and offset as a new uint8 tensor. */
static int generator_get_state(lua_State *L)
{
    la_generator *g = check_generator(L, "get_state");
    la_enter(L);
    return push_state(L, g);
}

/* g:set_state(tensor): goes on where get_state was called; returns g. */
static int generator_set_state(lua_State *L)
{
    la_generator *g = check_generator(L, "set_state");
    la_enter(L);
    read_state(L, 2, "set_state", g);
    lua_settop(L, 1);
    return 1;
}

/* Blocks of four words: more than a program draws between two jumps. */
#define JUMP_BLOCKS ((uint64_t)1 << 40)
/* A multiple of the 16 blocks that every draw is rounded up to. */
#define FORK_BLOCKS 16

/* g:jump([n]): goes on n (1) times 2^40 blocks of its stream further, which is
** 2^42 words of 32 bits; returns g. Parts of one stream for several workers. */
static int generator_jump(lua_State *L)
{
    la_generator *g = check_generator(L, "jump");
    int64_t n = lua_isnoneornil(L, 2) ? 1 : la_check_int(L, 2, "jump");
    uint64_t most = (UINT64_MAX - g->offset) / JUMP_BLOCKS;
    if (n < 0 || (uint64_t)n > most)
        la_raise_arg(L, 2, "jump", "0 to %I jumps expected, got %I: a stream "
                     "has 2^64 blocks", (LUAI_UACINT)most, (LUAI_UACINT)n);
    LA_CHECK(L, "jump", la_loop_hold());
    la_record_refuse(generator_refused);
    g->offset += (uint64_t)n * JUMP_BLOCKS;
    lua_settop(L, 1);
    return 1;
}

/* The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable
** pseudorandom number generators", 2014): each x has another result. */
static uint64_t generator_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void push_generator_metatable(lua_State *L);

/* g:fork(): a new generator whose seed follows from where g is, which then goes
** on: each fork has numbers of its own, the same ones for the same g. */
static int generator_fork(lua_State *L)
{
    la_generator *g = check_generator(L, "fork");
    uint64_t step = generator_mix(g->offset + 0x9e3779b97f4a7c15);
    uint64_t child = generator_mix(g->seed + step) >> 1;
    la_generator *new = lua_newuserdatauv(L, sizeof(*new), 0);
    set_seed(L, "fork", new, child);
    push_generator_metatable(L);
    la_take_metatable(L);
    la_record_refuse(generator_refused);
    g->offset += FORK_BLOCKS;
    return 1;
}

static int generator_text(lua_State *L)
{
    la_generator *g = check_generator(L, "tostring");
    lua_pushfstring(L, "lunarray.Generator(seed=%I, offset=%I)",
                    (LUAI_UACINT)g->seed, (LUAI_UACINT)g->offset);
    return 1;
}

static const la_function generator_methods[] = {
    {"manual_seed", generator_manual_seed, 2}, {"seed", generator_seed, 1},
    {"initial_seed", generator_initial_seed, 1},
    {"get_state", generator_get_state, 1},
    {"set_state", generator_set_state, 2}, {"fork", generator_fork, 1},
    {"jump", generator_jump, 2}, {NULL, NULL, 0}
};

/* The name of the metatable is the type that luaL_testudata checks. */
static void push_generator_metatable(lua_State *L)
{
    if (!la_new_metatable(L, GENERATOR_NAME, NULL)) return;
    la_set_methods(L, generator_methods);
    la_set_event(L, "__tostring", generator_text);
}

/* The string at the top of the stack, if it is 'name', byte for byte. */
static bool generator_is(lua_State *L, const char *name)
{
    size_t n = 0;
    const char *text = lua_type(L, -1) == LUA_TSTRING
        ? lua_tolstring(L, -1, &n) : NULL;
    return text && n == strlen(name) && memcmp(text, name, n) == 0;
}

/* Options of la.Generator at 'arg': kind. Other kinds than Philox are no
** streams of counters, which several threads could share. */
static void generator_check_options(lua_State *L, int arg)
{
    static const char *const all[] = {"kind", NULL};
    la_take_options(L, arg, all);
    for (lua_pushnil(L); lua_next(L, arg); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING
            ? lua_tostring(L, -2) : "?";
        lua_pushvalue(L, -2);
        bool known = generator_is(L, "kind");
        lua_pop(L, 1);
        if (!known)
            la_raise_arg(L, arg, "Generator", "unknown keyword '%s' (known: "
                         "kind)", key);
        const char *kind = lua_type(L, -1) == LUA_TSTRING
            ? lua_tostring(L, -1) : luaL_typename(L, -1);
        if (!generator_is(L, "philox"))
            la_raise_arg(L, arg, "Generator", "kind 'philox' expected, got "
                         "'%s': numbers have to be the same at any number of "
                         "threads", kind);
    }
}

/* la.Generator([seed], [{kind=}]). Without a seed it starts with that of the
** state's own generator, at offset 0. */
static int new_generator(lua_State *L)
{
    uint64_t seed = own(L)->seed;
    int options = lua_istable(L, 1) ? 1 : 2;
    if (lua_istable(L, options)) generator_check_options(L, options);
    if (options == 2 && !lua_isnoneornil(L, 1))
        seed = (uint64_t)la_check_int(L, 1, "Generator");
    la_generator *g = lua_newuserdatauv(L, sizeof(*g), 0);
    set_seed(L, "Generator", g, seed);
    push_generator_metatable(L);
    la_take_metatable(L);
    return 1;
}

/* ---- functions on the state's own generator ---- */

static int manual_seed(lua_State *L)
{
    la_generator *g = own(L);
    set_seed(L, "manual_seed", g, (uint64_t)la_check_int(L, 1, "manual_seed"));
    return 0;
}

static int lifetime_generator_seed(lua_State *L)
{
    la_generator *g = own(L);
    set_fresh_seed(L, g, "seed");
    return push_seed(L, g);
}

static int initial_seed(lua_State *L) { return push_seed(L, own(L)); }

static int get_rng_state(lua_State *L) { return push_state(L, own(L)); }

static int set_rng_state(lua_State *L)
{
    read_state(L, 1, "set_rng_state", own(L));
    return 0;
}

/* ---- fork_rng: what is drawn inside leaves no trace outside ---- */

/* __close passes an error object too, which is ignored: the error goes on. */
static int fork_close(lua_State *L)
{
    la_fork *f = luaL_testudata(L, 1, FORK_NAME);
    if (f) la_close_fork(L, la_enter(L), f);
    return 0;
}

static void push_fork(lua_State *L)
{
    la_state *s = la_enter(L);
    la_record_refuse(generator_refused);
    la_fork *f = lua_newuserdatauv(L, sizeof(*f), 1);
    f->ended = true;
    if (la_new_metatable(L, FORK_NAME, "a scope's metatable is locked")) {
        lua_pushnil(L);
        la_ending_closure(L, fork_close);
        lua_setfield(L, -2, "__close");
    }
    la_take_metatable(L);
    *f = la_open_fork(L, s);
    lua_setiuservalue(L, -2, 1);
}

/* local _ <close> = la.fork_rng(), or la.fork_rng(f, ...). With f the generator
** is restored on errors as well, which go on unchanged. */
static int fork_rng(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        push_fork(L);
        return 1;
    }
    la_check_callable(L, 1, "fork_rng");
    la_generator saved = *own(L);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    la_generator *g = own(L);
    if (g->seed != saved.seed || g->offset != saved.offset)
        la_record_refuse(generator_refused);
    *g = saved;
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

static const la_function functions[] = {
    {"Generator", new_generator, LA_MANY}, {"manual_seed", manual_seed, 1},
    {"seed", lifetime_generator_seed, 0}, {"initial_seed", initial_seed, 0},
    {"get_rng_state", get_rng_state, 0}, {"set_rng_state", set_rng_state, 1},
    {"fork_rng", fork_rng, LA_MANY}, {NULL, NULL, 0}
};

const la_part la_part_random = {functions, NULL};
