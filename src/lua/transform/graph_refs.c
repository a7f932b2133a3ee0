/*
** What graphs hold of a Lua state: hooks, custom functions, their ctx.
**
** A tie's values stand in the registry, so a function that captures the tensor
** it hangs on would keep itself alive: registry, function, tensor, node, tie.
** Lua's collector can't see the part of the circle that lies in C. So from
** time to time, when many ties exist or much memory is in use, those whose
** graph is held by nothing but their own tensors' handles move from the
** registry into a table whose entries live as long as the handle does (an
** ephemeron), the collector runs, and what survived moves back.
*/
#include "lua/transform/autograd.h"

#include <string.h>

#include "base/runtime/memory.h"

#define LEAST 1024              /* ties before the first such collection */
#define LEAST_FEW 16            /* and when LEAST_BYTES are in use */
#define LEAST_BYTES ((uint64_t)256 << 20)

/* Registry keys: handles by tie (weak values); values by handle (weak keys).
** The key of an owner is the tie's address plus k, k < LA_TIE_OWNERS, which is
** smaller than a tie: no two ties share one. */
static const char owners_key, moved_key;

/* ---- life ---- */

void la_tie_set(la_tie *t, la_state *s, int first, int second)
{
    *t = (la_tie){s, {first, second}, 0, false, s->ties, &s->ties};
    if (s->ties) s->ties->link = &t->next;
    s->ties = t;
    s->nties++;
}

/* The tie stays as memory of its node; only its state is forgotten. */
static void unlink_tie(la_tie *t)
{
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    t->state->nties--;
    t->state = NULL;
}

/* Called when a node dies, which may be inside a finalizer and outside of any
** protected call: nothing may raise. Slots that exist are overwritten, and nil
** makes no new entry. */
void la_tie_end(la_tie *t)
{
    la_state *s = t->state;
    if (!s) return;
    unlink_tie(t);
    for (int k = 0; k < 2; k++)
        luaL_unref(s->main, LUA_REGISTRYINDEX, t->refs[k]);
    if (!lua_checkstack(s->main, 2)) return;    /* the entries die by age */
    if (lua_rawgetp(s->main, LUA_REGISTRYINDEX, &owners_key) == LUA_TTABLE)
        for (int k = 0; k < t->nowners && k < LA_TIE_OWNERS; k++) {
            lua_pushnil(s->main);
            lua_rawsetp(s->main, -2, (char *)t + k);
        }
    lua_pop(s->main, 1);
}

/* The registry goes with the state: references need not be given back. */
void la_cut_ties(la_state *s)
{
    while (s->ties) unlink_tie(s->ties);
}

/* 8 slots: what la_tie_push needs and a function with its argument. */
la_status la_tie_enter(const la_tie *t, lua_State **out)
{
    if (!t->state)
        return la_error(LA_EGRAD, "the Lua state of a hook or a custom "
                        "function was closed");
    *out = la_lua_of(t->state);
    if (!lua_checkstack(*out, 8)) return la_error(LA_EGRAD, "stack overflow");
    return LA_OK;
}

/* ---- owners ---- */

/* The handle at 'index' is of a tensor that the tie hangs on. */
void la_tie_owner(lua_State *L, la_tie *t, int k, int index)
{
    t->nowners = k + 1 > t->nowners ? k + 1 : t->nowners;
    if (k >= LA_TIE_OWNERS) return;
    index = lua_absindex(L, index);
    la_push_weak_table(L, &owners_key, "v");
    lua_pushvalue(L, index);
    lua_rawsetp(L, -2, (char *)t + k);
    lua_pop(L, 1);
}

/* The handle of owner k, pushed; NULL (and nil) when it is gone. */
static la_handle *push_owner(lua_State *L, const la_tie *t, int k)
{
    la_push_weak_table(L, &owners_key, "v");
    lua_rawgetp(L, -1, (const char *)t + k);
    lua_remove(L, -2);
    la_handle *h = la_to_handle(L, -1);
    return h && h->tensor ? h : NULL;
}

static int refs_of(const la_node *n)
{
    return n ? atomic_load_explicit(&n->refs, memory_order_relaxed) : 0;
}

/* Nothing but its handle holds the tensor, and nothing but such tensors the
** node; *node is the one of the first owner. Counters are compared for
** equality: a reference from anywhere else (a graph that uses the result, a
** host) makes the functions reachable, and then nothing may be moved. */
static bool owned_by_handle(const la_tensor *t, int nowners,
                            const la_node **node)
{
    const la_grad_meta *m = t->grad;
    if (atomic_load_explicit(&t->refs, memory_order_relaxed) != 1 || !m)
        return false;
    if (!m->fn) return nowners == 1 && refs_of(m->accumulator) <= 1;
    if (*node && *node != m->fn) return false;
    *node = m->fn;
    return refs_of(m->fn) == nowners;
}

/* The tie could be collected as far as C is concerned: all owners are known,
** alive, and held by their handles alone. */
static bool is_private(lua_State *L, const la_tie *t)
{
    const la_node *node = NULL;
    bool yes = t->nowners > 0 && t->nowners <= LA_TIE_OWNERS;
    for (int k = 0; k < t->nowners && yes; k++) {
        const la_handle *h = push_owner(L, t, k);
        yes = h && owned_by_handle(h->tensor, t->nowners, &node);
        lua_pop(L, 1);
    }
    return yes;
}

/* ---- moving ---- */

/* The tie's values as a list under each of its handles; the registry's slots
** stay taken. A slot with false stays reserved, so that luaL_ref gives it to
** nobody. An error on the way leaves the registry complete: slots are cleared
** last. */
static void move_out(lua_State *L, la_tie *t)
{
    la_push_weak_table(L, &moved_key, "k");
    lua_createtable(L, 2, 0);
    for (int k = 0; k < 2; k++) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, t->refs[k]);
        lua_rawseti(L, -2, k + 1);
    }
    for (int k = 0; k < t->nowners; k++) {
        push_owner(L, t, k);
        lua_pushvalue(L, -2);
        lua_rawset(L, -4);
    }
    for (int k = 0; k < 2; k++) {
        if (t->refs[k] < 0) continue;
        lua_pushboolean(L, false);
        lua_rawseti(L, LUA_REGISTRYINDEX, t->refs[k]);
    }
    t->moved = true;
    lua_pop(L, 2);
}

/* Push the list of a moved tie; nil when it is gone. */
static void push_moved(lua_State *L, const la_tie *t)
{
    la_push_weak_table(L, &moved_key, "k");
    for (int k = 0; k < t->nowners; k++) {
        if (!push_owner(L, t, k)) {
            lua_pop(L, 1);
            continue;
        }
        lua_rawget(L, -2);
        lua_remove(L, -2);
        return;
    }
    lua_pop(L, 1);
    lua_pushnil(L);
}

/* Ties that died in the collection have left the list of the state by then
** (la_tie_end). */
static void move_back(lua_State *L, la_tie *t)
{
    push_moved(L, t);
    for (int k = 0; k < 2 && lua_istable(L, -1); k++) {
        if (t->refs[k] < 0) continue;
        lua_rawgeti(L, -1, k + 1);
        lua_rawseti(L, LUA_REGISTRYINDEX, t->refs[k]);
    }
    lua_pop(L, 1);
    t->moved = false;
}

void la_tie_push(lua_State *L, const la_tie *t, int k)
{
    if (!t->moved) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, t->refs[k]);
        return;
    }
    push_moved(L, t);           /* a finalizer runs backward meanwhile */
    if (lua_istable(L, -1)) {
        lua_rawgeti(L, -1, k + 1);
        lua_remove(L, -2);
    }
}

/* (state): moves out what could be collected. */
static int move_private(lua_State *L)
{
    la_state *s = lua_touserdata(L, 1);
    luaL_checkstack(L, 12, "too little stack to collect functions");
    for (la_tie *t = s->ties; t; t = t->next)
        if (!t->moved && is_private(L, t)) move_out(L, t);
    return 0;
}

/* Are there so many ties, or so many bytes that a few could hold? Each
** collection sets the mark for the next at twice what it left. */
static bool is_due(const la_state *s)
{
    if (s->nties < LEAST_FEW) return false;
    if (s->nties >= LEAST && s->nties >= s->most_ties) return true;
    uint64_t used = la_mem_stat().used;
    return used >= LEAST_BYTES && used >= s->most_tied;
}

/* May raise when Lua has no memory: moved ties still work then. Not inside a
** backward, whose engine holds references that the counters do not tell apart,
** nor inside a finalizer (the collector answers -1), nor in a scope, whose
** handles are all anchored, nor where the host has taken the collector over.
** The collector rests while ties are moved: what a step of it finalizes may be
** the tie at hand, which is memory of its node, or any other of the list. */
void la_collect_ties(lua_State *L, la_state *s)
{
    if (s->policy != LA_PACE_AUTO || s->scopes.depth > 0 || !is_due(s)) return;
    if (s->running || lua_gc(L, LUA_GCISRUNNING) != 1) return;
    luaL_checkstack(L, 12, "too little stack to collect functions");
    lua_pushcfunction(L, move_private);
    lua_pushlightuserdata(L, s);
    lua_gc(L, LUA_GCSTOP);
    int status = lua_pcall(L, 1, 0, 0);
    lua_gc(L, LUA_GCRESTART);
    if (status != LUA_OK) lua_error(L);
    lua_gc(L, LUA_GCCOLLECT);
    for (la_tie *t = s->ties; t; t = t->next)
        if (t->moved) move_back(L, t);
    lua_pushnil(L);             /* the next time starts with a new table */
    lua_rawsetp(L, LUA_REGISTRYINDEX, &moved_key);
    s->most_ties = 2 * s->nties;
    s->most_tied = 2 * (uint64_t)la_mem_stat().used;
}
