/*
** Handles, and keeping the collector in step with them.
**
** Lua sees a few dozen bytes for a tensor of any size and runs few finalizers
** a step, so dead tensors would pile up by the million. So we step the
** collector ourselves, without changing the host's settings; one that the host
** has stopped is left alone.
**
** How often depends on what a step does, which Lua does not tell. In
** generational mode it is a whole young collection: one every LOOK handles is
** cheapest, as the dead ones are still in the cache. But it walks the old
** tables that were written to since the last one, of any length, and after one
** that freed little it is a full collection. So steps are rarer where the heap
** is large, and the longer a script keeps what it makes, the rarer: a list that
** grows by a tensor at a time costs the same for each. In incremental mode a
** step is a fixed amount of work, by which a small heap is walked at once and a
** large one in hundreds of steps. So steps wait there until the backlog
** (handles beyond what the last cycle left) is more than 'patience', for Lua's
** own pace may do, and are spaced then so that a cycle takes PERIOD handles, or
** a quarter of those that live. When the backlog exceeds 'most' all the same, a
** full collection ends the matter. All bounds grow with the handles that live:
** a cycle walks these, and must be worth it.
**
** A graph of a million nodes may hang on one handle: bytes of blocks that are
** no data are looked at with the handles, and are worth a cycle by themselves.
**
** What ends a cycle is a small userdata without references, the watch: its
** finalizer runs once a cycle, counts and makes the next one.
**
** Steps for data come before a call makes its results: `c = a + b` in a loop
** then survives one young collection and dies in the next, so that two blocks
** in turn, warm in the cache, hold all its values. After the call the old and
** the new value would both be alive each time, and grow old. A step that proves
** to be a whole cycle (incremental mode, a heap that is not large) costs more
** than blocks from the last cache do: the next waits for a part of that.
*/
#include "base/os/cpu.h"
#include "base/runtime/memory.h"
#include "base/os/os.h"
#include "base/runtime/token.h"
#include "lua/binding.h"
#include "op/fft/plans.h"
#include "op/cost/fuel.h"

/* All three in handles. */
#define LOOK 64
#define PATIENCE 1500
#define PERIOD 1000
/* Bytes of Lua's heap for each handle between two young collections: a table of
** that size has 512 values, whose walk takes half a microsecond or more. */
#define HEAP_PER_HANDLE 8192
/* Bytes of tensor data. LOOK_BYTES is what steps may leave before a full
** collection is considered. */
#define STEP_BYTES ((uint64_t)1 << 19)
#define CYCLE_BYTES ((uint64_t)6 << 20)
#define LOOK_BYTES ((uint64_t)8 << 20)
/* Bytes of graphs, views and the like. */
#define CYCLE_BLOCKS ((uint64_t)16 << 20)

/* Handles whose finalizer has not run. A tensor freed by x:free() counts on:
** its userdata is still the collector's work. */
static uint64_t alive(const la_state *s) { return s->begun - s->ended; }

/* Handles that the last cycle left: of those that were when it had found the
** dead ones, less the finalizers since. */
static uint64_t survivors(const la_state *s)
{
    uint64_t freed = s->ended - s->ended_found;
    return freed < s->found ? s->found - freed : 0;
}

/* ---- the watch ---- */

#define WATCH_NAME "lunarray.watch"

/* Needs the metatable of la_pace_begin. Raises for want of memory; then
** 'watched' is false, and step_handles tries again. */
static void put_watch(lua_State *L, la_state *s)
{
    s->watched = false;         /* stays so when there is no memory for it */
    lua_newuserdatauv(L, 0, 0);
    la_set_metatable(L, WATCH_NAME);
    lua_pop(L, 1);
    s->watched = true;
}

/* Called by the collector: the watch has no references, so the next cycle finds
** it dead. */
static int watch_gc(lua_State *L)
{
    la_state *s = la_up_state(L);
    s->cycles++;
    s->found = alive(s);
    s->ended_found = s->ended;
    put_watch(L, s);
    return 0;
}

/* ---- cycles ---- */

static uint64_t at_least(uint64_t a, uint64_t b) { return a < b ? b : a; }

/* A cycle is over. A script that keeps what it makes should not pay for one
** again and again: when next to nothing was freed, the next waits longer. */
static void cycle_over(la_state *s)
{
    uint64_t created = s->begun - s->begun_then;
    uint64_t freed = s->ended - s->ended_then;
    bool keeps = created > PERIOD && freed < created / 8;
    s->floor = alive(s);
    s->seen = s->cycles;
    s->begun_then = s->begun;
    s->ended_then = s->ended;
    s->patience = keeps ? PATIENCE + PERIOD : PATIENCE;
}

/* The bounds, by the handles that live. The floor is no measure of these: it
** has the dead ones, too, that came while the cycle went on. */
static uint64_t patience(const la_state *s)
{
    return at_least(s->patience, survivors(s) / 2);
}
static uint64_t period(const la_state *s)
{
    return at_least(PERIOD, survivors(s) / 4);
}
static uint64_t most(const la_state *s)
{
    return patience(s) + period(s) + 2 * at_least(LOOK, s->interval);
}

/* A full collection. A cap bounds the process, too: what the system's allocator
** has free between the blocks that live goes back to the system. */
static void gc_pace_collect(lua_State *L, la_state *s)
{
    lua_gc(L, LUA_GCCOLLECT);
    s->untrimmed = 0;
    if (la_token_is_capped(s->context.token)) la_os_trim();
}

/* Trims without a collection, when half of the cap has come and gone. */
static void trim_now_and_then(la_state *s)
{
    la_token *k = s->context.token;
    size_t cap = atomic_load_explicit(&k->cap, memory_order_relaxed);
    if (!cap || (s->untrimmed += s->fresh) < cap / 2) return;
    s->untrimmed = 0;
    la_os_trim();
}

/* Runs all finalizers that are due, and so Lua code. */
static void whole_cycle(lua_State *L, la_state *s)
{
    gc_pace_collect(L, s);
    cycle_over(s);
}

/* Handles between two young collections. When more than an eighth of what was
** made since the last one lives on, twice as many as before. */
static uint64_t young_interval(lua_State *L, la_state *s)
{
    uint64_t heap = (uint64_t)lua_gc(L, LUA_GCCOUNT) << 10;
    uint64_t least = at_least(LOOK, heap / HEAP_PER_HANDLE);
    uint64_t created = s->begun - s->begun_step;
    uint64_t freed = s->ended - s->ended_step;
    uint64_t next = freed < created - created / 8
        ? at_least(least, 2 * (uint64_t)s->interval) : least;
    uint64_t rarest = at_least(least, alive(s) / 8);
    next = next < rarest ? next : rarest;
    return next < UINT32_MAX ? next : UINT32_MAX;
}

/* Learns from a step: in generational mode each ends a collection; in
** incremental mode 'whole' comes at the end of a cycle. One that is longer than
** the last is noticed on the way. */
static void learn(lua_State *L, la_state *s, bool whole, bool ended)
{
    s->streak = ended && !whole ? s->streak + 1 : 0;
    s->young = s->streak > 1 || (s->young && !whole && ended);
    s->steps++;
    if (whole || s->steps > s->cycle) s->cycle = s->steps;
    if (whole || ended) s->steps = 0;
    if (s->young) {
        s->interval = (uint32_t)young_interval(L, s);
    } else {
        uint64_t interval = at_least(LOOK / 8, period(s) / s->cycle);
        s->interval = interval < 2 * LOOK ? (uint32_t)interval : 2 * LOOK;
    }
    s->begun_step = s->begun;
    s->ended_step = s->ended;
}

/* Never below 0: step_handles lowers the floor first. */
static uint64_t backlog(const la_state *s) { return alive(s) - s->floor; }

/* Many handles: a step, if it is needed. Runs finalizers. The counters of
** cycles are compared around the step, since the watch's finalizer runs inside
** it. */
static void step_handles(lua_State *L, la_state *s)
{
    s->since = 0;
    if (!s->watched) put_watch(L, s);
    if (s->cycles != s->seen && !s->young) cycle_over(s);
    if (alive(s) < s->floor) s->floor = alive(s);
    if (!s->young && backlog(s) < patience(s)) return;
    uint32_t before = s->cycles;
    bool whole = la_lua_step(L, 0);
    learn(L, s, whole, s->cycles != before);
    if (whole) cycle_over(s);
    s->seen = s->cycles;
    if (alive(s) < s->floor) s->floor = alive(s);
    if (backlog(s) > most(s)) whole_cycle(L, s);
}

void la_pace_begin(lua_State *L, la_state *s)
{
    s->interval = LOOK;
    s->cycle = 1;
    s->step_bytes = STEP_BYTES;
    s->patience = PATIENCE;
    la_new_metatable(L, WATCH_NAME, NULL);
    lua_pushnil(L);
    la_ending_closure(L, watch_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}

/* How much new data is worth a step. */
static uint64_t bytes_between(bool whole)
{
    uint64_t part = la_cpu_cache(3) / 4;
    if (!whole) return STEP_BYTES;
    return part < 4 * STEP_BYTES ? 4 * STEP_BYTES
        : part < CYCLE_BYTES ? part : CYCLE_BYTES;
}

/* Much data: a step first; a whole cycle when steps left much of it, rarer the
** larger the heap that it must walk. */
static void step_bytes(lua_State *L, la_state *s)
{
    uint64_t before = la_mem_stat().used;
    s->step_bytes = bytes_between(la_lua_step(L, 0));
    uint64_t after = la_mem_stat().used;
    uint64_t freed = after < before ? before - after : 0;
    s->bytes -= freed < s->bytes ? freed : s->bytes;
    trim_now_and_then(s);
    s->fresh = 0;
    if (s->bytes < LOOK_BYTES) return;
    uint64_t heap = (uint64_t)lua_gc(L, LUA_GCCOUNT) << 10;
    if (heap > (16u << 20) && s->bytes < 7 * LOOK_BYTES) return;
    s->bytes = 0;
    whole_cycle(L, s);
}

/* Graphs and what else hangs on few handles: a whole cycle when half as much
** again has come since the last one, and CYCLE_BLOCKS at least, or a quarter of
** the state's cap: Lua finds no memory there while its finalizers wait. */
static void step_blocks(lua_State *L, la_state *s)
{
    la_token *k = s->context.token;
    uint64_t now = atomic_load_explicit(&k->blocks, memory_order_relaxed);
    uint64_t cap = atomic_load_explicit(&k->cap, memory_order_relaxed);
    uint64_t most = cap && cap / 4 < CYCLE_BLOCKS ? cap / 4 : CYCLE_BLOCKS;
    if (now < s->blocks_left) s->blocks_left = now;
    if (most < s->blocks_left / 2) most = s->blocks_left / 2;
    if (now - s->blocks_left < most) return;
    whole_cycle(L, s);
    s->blocks_left = atomic_load_explicit(&k->blocks, memory_order_relaxed);
}

/* A scope frees what is made in it by itself, and a host that steps the
** collector wants no one else's; what was counted for it is forgotten. */
static bool rests(la_state *s)
{
    if (s->policy != LA_PACE_AUTO) {
        s->since = 0;
        s->fresh = s->bytes = 0;
    }
    return s->policy != LA_PACE_AUTO || s->scopes.depth > 0;
}

bool la_collect_all(lua_State *L, la_state *s)
{
    if (s->policy != LA_PACE_AUTO) return false;
    int64_t paid = la_fuel_of_failure();    /* finalizers may fail, too */
    if (la_token_is_capped(s->context.token)) la_fft_forget(s->context.token);
    gc_pace_collect(L, s);
    la_token_give_back(s->context.token, paid);
    return true;
}

bool la_collect_here(lua_State *L)
{
    la_state *s = la_up_state(L);
    if (!la_collect_all(L, s)) return false;
    la_make_current(&s->context);
    return true;
}

/* The collector counts as stopped while it runs a finalizer: an operation that
** is called there starts no step within the step. */
void la_pace_data_now(lua_State *L, la_state *s)
{
    if (rests(s)) return;
    if (lua_gc(L, LUA_GCISRUNNING) > 0) step_bytes(L, s);
}

void la_pace_now(lua_State *L, la_state *s)
{
    if (rests(s)) return;
    if (lua_gc(L, LUA_GCISRUNNING) <= 0) return;
    if (s->bytes >= LA_PACE_BYTES) step_bytes(L, s);
    if (s->since < s->interval) return;
    step_handles(L, s);
    step_blocks(L, s);
}
