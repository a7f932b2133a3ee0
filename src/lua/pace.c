/*
** Handles, and keeping the collector in step with them.
**
** Lua sees a few dozen bytes for a tensor of any size and runs few finalizers
** a step, so dead tensors would pile up by the million. After every LOOK
** handles (or STEP_BYTES of data) we run a collector step ourselves, without
** changing the host's settings: a step of size 0 is a whole young collection
** in generational mode. In incremental mode the step's size doubles while the
** backlog (handles beyond what the last whole cycle left) grows, and shrinks
** when it falls; past MOST a full collection ends the matter. A collector that
** the host has stopped is left alone.
**
** Steps for data come before a call makes its results: `c = a + b` in a loop
** then survives one young collection and dies in the next, so that two blocks
** in turn, warm in the cache, hold all its values. After the call the old and
** the new value would both be alive each time, and grow old.
*/
#include "base/memory.h"
#include "lua/face.h"

#define LOOK 128
#define STEP_BYTES ((uint64_t)1 << 19)
#define LOOK_BYTES ((uint64_t)8 << 20)
#define MOST 4000

la_handle *la_new_handle(lua_State *L, la_state *s)
{
    la_handle *h = lua_newuserdatauv(L, sizeof(*h), 0);
    h->magic = LA_HANDLE_MAGIC;
    h->tensor = NULL;
    s->made++;
    s->since++;
    lua_pushvalue(L, lua_upvalueindex(LA_UP_META));
    lua_setmetatable(L, -2);
    return h;
}

void la_fill_handle(la_state *s, la_handle *h, la_tensor *owned)
{
    h->tensor = owned;
    /* A view whose base nobody else holds stands for the data, too. */
    bool stands = !owned->base
        || atomic_load_explicit(&owned->base->refs, memory_order_relaxed) == 1;
    if (owned->storage && stands) {
        s->fresh += (uint64_t)owned->storage->nbytes;
        s->bytes += (uint64_t)owned->storage->nbytes;
    }
}

int la_push_owned(lua_State *L, la_tensor *owned)
{
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    la_fill_handle(s, h, owned);
    return 1;
}

static uint64_t alive(const la_state *s) { return s->made - s->ended; }

static void whole_cycle(lua_State *L, la_state *s)
{
    lua_gc(L, LUA_GCCOLLECT);
    s->floor = alive(s);
    s->step = 0;
}

/* Many handles: a step, and a larger one next time if it did not help. */
static void step_handles(lua_State *L, la_state *s)
{
    if (lua_gc(L, LUA_GCSTEP, (int)s->step)) s->floor = alive(s);
    if (alive(s) < s->floor) s->floor = alive(s);
    uint64_t backlog = alive(s) - s->floor;
    if (backlog > MOST) whole_cycle(L, s);
    else if (backlog > MOST / 4) s->step = s->step ? s->step * 2 : 2;
    else s->step /= 2;
    if (s->step > 512) s->step = 512;
}

/* Much data: a step first; a whole cycle when steps left much of it, rarer the
** larger the heap that it must walk. */
static void step_bytes(lua_State *L, la_state *s)
{
    uint64_t before = la_mem_stat().used;
    lua_gc(L, LUA_GCSTEP, 0);
    uint64_t after = la_mem_stat().used;
    uint64_t freed = after < before ? before - after : 0;
    s->bytes -= freed < s->bytes ? freed : s->bytes;
    s->fresh = 0;
    if (s->bytes < LOOK_BYTES) return;
    uint64_t heap = (uint64_t)lua_gc(L, LUA_GCCOUNT) << 10;
    if (heap > (16u << 20) && s->bytes < 7 * LOOK_BYTES) return;
    s->bytes = 0;
    whole_cycle(L, s);
}

void la_pace_data(lua_State *L, la_state *s)
{
    if (__builtin_expect(s->fresh < STEP_BYTES, 1)) return;
    if (lua_gc(L, LUA_GCISRUNNING)) step_bytes(L, s);
}

void la_pace(lua_State *L, la_state *s)
{
    if (__builtin_expect(s->since < LOOK && s->bytes < 2 * LOOK_BYTES, 1)) return;
    if (!lua_gc(L, LUA_GCISRUNNING)) return;
    if (s->bytes >= 2 * LOOK_BYTES) step_bytes(L, s);
    if (s->since >= LOOK) {
        s->since = 0;
        step_handles(L, s);
    }
}
