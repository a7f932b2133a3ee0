/*
** Circles of functions and graphs, which Lua's collector can't see.
**
** A tie's values stand in the registry. So a function that reaches a tensor
** whose graph leads to the node it hangs on keeps itself alive: registry,
** function, handle, tensor, nodes, tie. From time to time, when many ties exist
** or much memory is in use, the part of the circle that lies in C is shown to
** the collector:
**
** 1. All handles that the ties' values reach are gathered. What is missed, or
**    lies behind the globals, only makes step 2 find less.
** 2. Tensors and nodes that these lead to are walked, and the references among
**    them are counted. An object with more than were found is held by somebody
**    else (a handle of the script's, a host): it and all that it leads to is
**    left alone.
** 3. Each other object gets a table that stands for it and holds those of the
**    objects it refers to and the values of its ties. A table whose entries
**    live as long as their key does (an ephemeron) leads from a handle to the
**    table of its tensor. Then the values leave the registry, the collector
**    runs, and what survived moves back.
*/
#include "lua/transform/autograd.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "grad/graph.h"

#define LEAST 1024              /* ties before the first such collection */
#define LEAST_FEW 16            /* and when LEAST_BYTES are in use, or half of
                                ** what the state may have */
#define LEAST_BYTES ((uint64_t)256 << 20)
#define MOST_VALUES (1 << 20)   /* of Lua that are looked at */
#define MOST_OBJECTS (1 << 20)  /* of graphs */

/* Registry keys: the table of a handle's tensor by handle (weak keys), the list
** of a moved tie's values by tie (weak values). */
static const char moved_key, lists_key;

/* ---- handles that functions reach ---- */

/* Stack indices of the search: handles and values to look at are lists. */
enum { STATE = 1, HANDLES, SEEN, LIST };

typedef struct search {
    lua_State *L;
    int handles, listed, seen;
} search;

/* Take the value on the top of the stack. */
static void collect_ties_note(search *s)
{
    lua_State *L = s->L;
    int type = lua_type(L, -1);
    bool leads = type == LUA_TTABLE || type == LUA_TFUNCTION
              || type == LUA_TUSERDATA || type == LUA_TTHREAD;
    if (!leads || s->seen >= MOST_VALUES) {
        lua_pop(L, 1);
        return;
    }
    lua_pushvalue(L, -1);
    if (lua_rawget(L, SEEN) != LUA_TNIL) {
        lua_pop(L, 2);
        return;
    }
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, true);
    lua_rawset(L, SEEN);
    lua_rawseti(L, LIST, ++s->listed);
    s->seen++;
}

/* Globals and modules live anyway. */
static void pass_over_globals(search *s)
{
    lua_State *L = s->L;
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    collect_ties_note(s);
    if (lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, -2)) collect_ties_note(s);
    }
    collect_ties_note(s);
    s->listed = 0;
}

/* A coroutine that waits: at every level of its stack the function and its
** values, which are all locals to lua_getlocal. A running one is not asked. */
static void look_into_thread(search *s, lua_State *co)
{
    lua_Debug level;
    if (!co || lua_status(co) != LUA_YIELD || !lua_checkstack(co, 1)) return;
    for (int k = 0; lua_getstack(co, k, &level); k++) {
        lua_getinfo(co, "f", &level);
        lua_xmove(co, s->L, 1);
        collect_ties_note(s);
        for (int n = 1; lua_getlocal(co, &level, n); n++) {
            lua_xmove(co, s->L, 1);
            collect_ties_note(s);
        }
    }
}

/* Whatever Lua's own collector would reach from the value: upvalues, stacks of
** coroutines, metatables, keys and values, user values. A reference that is
** missed here would keep its circle for ever, or free what is in use. */
static void look_into(search *s)
{
    lua_State *L = s->L;
    int at = lua_gettop(L), type = lua_type(L, at);
    if (type == LUA_TFUNCTION) {
        for (int k = 1; lua_getupvalue(L, at, k); k++) collect_ties_note(s);
        return;
    }
    if (type == LUA_TTHREAD) {
        look_into_thread(s, lua_tothread(L, at));
        return;
    }
    if (lua_getmetatable(L, at)) collect_ties_note(s);
    if (type == LUA_TTABLE) {
        lua_pushnil(L);
        while (lua_next(L, at)) {
            collect_ties_note(s);
            lua_pushvalue(L, -1);
            collect_ties_note(s);
        }
        return;
    }
    for (int k = 1; lua_getiuservalue(L, at, k) != LUA_TNONE;
         k++) collect_ties_note(s);
    lua_pop(L, 1);
    if (!la_to_handle(L, at)) return;
    lua_pushvalue(L, at);
    lua_rawseti(L, HANDLES, ++s->handles);
}

/* Stack: STATE. Leaves the list of handles at HANDLES; their number. */
static int collect_ties_gather(lua_State *L, la_state *state)
{
    search s = {.L = L};
    for (int k = HANDLES; k <= LIST; k++) lua_newtable(L);
    pass_over_globals(&s);
    for (la_tie *t = state->ties; t; t = t->next)
        for (int k = 0; k < 2; k++) {
            lua_rawgeti(L, LUA_REGISTRYINDEX, t->refs[k]);
            collect_ties_note(&s);
        }
    while (s.listed > 0) {
        lua_rawgeti(L, LIST, s.listed--);
        look_into(&s);
        lua_settop(L, LIST);
    }
    lua_settop(L, HANDLES);
    return s.handles;
}

/* ---- the objects of graphs that they lead to ---- */

typedef struct object {
    void *at;                   /* la_tensor or la_node */
    int32_t found;              /* references to it */
    bool is_node, is_outside;
} object;

typedef struct walk {
    la_visitor visitor;         /* first: the callbacks get its address */
    object *list;
    int32_t n, capacity;
    uint32_t *slots;            /* 2 * capacity: index in 'list' + 1, or 0 */
    int32_t *todo;              /* objects to mark */
    int32_t ntodo;
    bool failed;                /* no memory, or too many */
    lua_State *L;
    la_state *state;
    int tables, lists, filled;  /* stack indices; entries of the table on top */
} walk;

static void walk_free(walk *w)
{
    size_t n = (size_t)w->capacity;
    if (w->list) la_mem_free(w->list, n * sizeof *w->list);
    if (w->slots) la_mem_free(w->slots, 2 * n * sizeof *w->slots);
    if (w->todo) la_mem_free(w->todo, (size_t)w->n * sizeof *w->todo);
    w->list = NULL;
    w->slots = NULL;
    w->todo = NULL;
}

/* The slot of 'at', or the empty one where it would be. */
static uint32_t *collect_ties_slot_of(const walk *w, const void *at)
{
    uint32_t mask = 2 * (uint32_t)w->capacity - 1;
    uint64_t h = ((uint64_t)(uintptr_t)at >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t k = (uint32_t)(h >> 32) & mask;
    while (w->slots[k] && w->list[w->slots[k] - 1].at != at) k = (k + 1) & mask;
    return &w->slots[k];
}

static bool collect_ties_grow(walk *w)
{
    walk old = *w;
    size_t n = w->capacity ? 2 * (size_t)w->capacity : 1024;
    if (n > MOST_OBJECTS) return false;
    w->capacity = (int32_t)n;
    w->list = la_mem_alloc(n * sizeof *w->list);
    w->slots = la_mem_zalloc(2 * n * sizeof *w->slots);
    if (!w->list || !w->slots) {
        walk_free(w);
        *w = old;
        return false;
    }
    if (old.n) memcpy(w->list, old.list, (size_t)old.n * sizeof *w->list);
    for (int32_t k = 0; k < w->n; k++)
        *collect_ties_slot_of(w, w->list[k].at) = (uint32_t)k + 1;
    walk_free(&old);
    return true;
}

static void collect_ties_count(walk *w, void *at, bool is_node)
{
    if (w->failed) return;
    if (w->n == w->capacity && !collect_ties_grow(w)) {
        w->failed = true;
        return;
    }
    uint32_t *slot = collect_ties_slot_of(w, at);
    if (!*slot) {
        w->list[w->n] = (object){at, 0, is_node, false};
        *slot = (uint32_t)++w->n;
    }
    w->list[*slot - 1].found++;
}

static void count_tensor(la_visitor *v, la_tensor *t)
{
    collect_ties_count((walk *)v, t, false);
}

static void count_node(la_visitor *v, la_node *n)
{
    collect_ties_count((walk *)v, n, true);
}

static void pass_hook(la_visitor *v, const la_hook *h) { (void)v, (void)h; }

static void collect_ties_visit(walk *w, int32_t k)
{
    object o = w->list[k];
    if (o.is_node) la_visit_node(o.at, &w->visitor);
    else la_visit_tensor(o.at, &w->visitor);
}

static int32_t refs_of(const object *o)
{
    const _Atomic int32_t *refs = o->is_node ? &((la_node *)o->at)->refs
                                             : &((la_tensor *)o->at)->refs;
    return atomic_load_explicit(refs, memory_order_relaxed);
}

/* An object that was met: it is held from outside. */
static void collect_ties_mark(walk *w, const void *at)
{
    int32_t k = (int32_t)*collect_ties_slot_of(w, at) - 1;
    if (w->list[k].is_outside) return;
    w->list[k].is_outside = true;
    w->todo[w->ntodo++] = k;
}

static void mark_tensor(la_visitor *v, la_tensor *t)
{
    collect_ties_mark((walk *)v, t);
}
static void mark_node(la_visitor *v, la_node *n)
{
    collect_ties_mark((walk *)v, n);
}

/* The list of handles is at HANDLES. False: nothing can be moved. */
static bool find_objects(walk *w, int nhandles)
{
    lua_State *L = w->L;
    w->visitor = (la_visitor){count_tensor, count_node, pass_hook};
    for (int k = 1; k <= nhandles; k++) {
        lua_rawgeti(L, HANDLES, k);
        la_handle *h = la_to_handle(L, -1);
        if (h && h->tensor) collect_ties_count(w, h->tensor, false);
        lua_pop(L, 1);
    }
    for (int32_t k = 0; k < w->n && !w->failed; k++) collect_ties_visit(w, k);
    if (w->failed || w->n == 0) return false;
    w->todo = la_mem_alloc((size_t)w->n * sizeof *w->todo);
    if (!w->todo) return false;
    w->visitor = (la_visitor){mark_tensor, mark_node, pass_hook};
    for (int32_t k = 0; k < w->n; k++)
        if (refs_of(&w->list[k]) != w->list[k].found)
            collect_ties_mark(w, w->list[k].at);
    while (w->ntodo > 0) collect_ties_visit(w, w->todo[--w->ntodo]);
    return true;
}

/* ---- the tables that stand for them ---- */

/* Into the table of the object at hand, on the top of the stack, comes that of
** another one. */
static void link(walk *w, const void *at)
{
    int32_t k = (int32_t)*collect_ties_slot_of(w, at) - 1;
    if (w->list[k].is_outside) return;
    lua_rawgeti(w->L, w->tables, k + 1);
    lua_rawseti(w->L, -2, ++w->filled);
}

static void link_tensor(la_visitor *v, la_tensor *t) { link((walk *)v, t); }
static void link_node(la_visitor *v, la_node *n) { link((walk *)v, n); }

/* The tie's values come into the table of the object at hand as a list. */
static void link_tie(walk *w, la_tie *t)
{
    lua_State *L = w->L;
    if (!t || t->state != w->state || t->moved) return;
    lua_createtable(L, 2, 0);
    for (int k = 0; k < 2; k++) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, t->refs[k]);
        lua_rawseti(L, -2, k + 1);
    }
    lua_pushvalue(L, -1);
    lua_rawsetp(L, w->lists, t);
    lua_rawseti(L, -2, ++w->filled);
}

static void link_hook(la_visitor *v, const la_hook *h)
{
    link_tie((walk *)v, la_tie_of_hook(h));
}

static void make_tables(walk *w)
{
    lua_State *L = w->L;
    w->visitor = (la_visitor){link_tensor, link_node, link_hook};
    for (int32_t k = 0; k < w->n; k++) {
        if (w->list[k].is_outside) continue;
        lua_newtable(L);
        lua_rawseti(L, w->tables, k + 1);
    }
    for (int32_t k = 0; k < w->n; k++) {
        if (w->list[k].is_outside) continue;
        lua_rawgeti(L, w->tables, k + 1);
        w->filled = 0;
        collect_ties_visit(w, k);
        if (w->list[k].is_node) link_tie(w, la_tie_of_node(w->list[k].at));
        lua_pop(L, 1);
    }
}

/* Each handle of the list at HANDLES leads to the table of its tensor. */
static void lead_from_handles(walk *w, int nhandles, int moved)
{
    lua_State *L = w->L;
    for (int k = 1; k <= nhandles; k++) {
        lua_rawgeti(L, HANDLES, k);
        la_handle *h = la_to_handle(L, -1);
        uint32_t slot = h && h->tensor ? *collect_ties_slot_of(w, h->tensor)
            : 0;
        if (slot) {
            lua_rawgeti(L, w->tables, (int)slot);
            lua_rawset(L, moved);
        }
        lua_settop(L, moved);
    }
}

/* Slots of the registry stay taken: one with false is given to nobody. No
** memory is taken, so all ties leave it or none. */
static void leave_registry(walk *w)
{
    lua_State *L = w->L;
    for (la_tie *t = w->state->ties; t; t = t->next) {
        t->moved = lua_rawgetp(L, w->lists, t) == LUA_TTABLE;
        lua_pop(L, 1);
        for (int k = 0; k < 2 && t->moved; k++) {
            if (t->refs[k] < 0) continue;
            lua_pushboolean(L, false);
            lua_rawseti(L, LUA_REGISTRYINDEX, t->refs[k]);
        }
    }
}

/* (walk): moves out what could be collected. */
static int move_private(lua_State *L)
{
    walk *w = lua_touserdata(L, STATE);
    luaL_checkstack(L, 24, "too little stack to collect functions");
    int nhandles = collect_ties_gather(L, w->state);
    if (!find_objects(w, nhandles)) return 0;
    lua_newtable(L);
    w->tables = lua_gettop(L);
    la_push_weak_table(L, &lists_key, "v");
    w->lists = lua_gettop(L);
    la_push_weak_table(L, &moved_key, "k");
    make_tables(w);
    lead_from_handles(w, nhandles, lua_gettop(L));
    leave_registry(w);
    return 0;
}

/* ---- back ---- */

void la_tie_push_moved(lua_State *L, const la_tie *t)
{
    la_push_weak_table(L, &lists_key, "v");
    lua_rawgetp(L, -1, t);
    lua_remove(L, -2);
}

/* Ties that died in the collection have left the list of the state by then
** (la_tie_end). */
static void move_back(lua_State *L, la_tie *t)
{
    la_tie_push_moved(L, t);
    for (int k = 0; k < 2 && lua_istable(L, -1); k++) {
        if (t->refs[k] < 0) continue;
        lua_rawgeti(L, -1, k + 1);
        lua_rawseti(L, LUA_REGISTRYINDEX, t->refs[k]);
    }
    lua_pop(L, 1);
    t->moved = false;
}

/* The next time starts with new tables. */
static void drop_tables(lua_State *L)
{
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &moved_key);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &lists_key);
}

/* ---- when ---- */

/* Bytes of tensors and graphs that are charged to the state, and how many it
** may have; 0: no end. */
static uint64_t collect_ties_charged(const la_state *s, uint64_t *cap)
{
    la_token *k = s->context.token;
    *cap = atomic_load_explicit(&k->cap, memory_order_relaxed);
    return (uint64_t)atomic_load_explicit(&k->tensors, memory_order_relaxed)
         + atomic_load_explicit(&k->blocks, memory_order_relaxed);
}

/* Are there so many ties, or so many bytes that a few could hold? Each
** collection sets the marks for the next at twice what it left, and halfway
** from there to the state's cap. */
static bool is_due(const la_state *s)
{
    uint64_t cap;
    if (s->nties < LEAST_FEW) return false;
    if (s->nties >= LEAST && s->nties >= s->most_ties) return true;
    uint64_t used = la_mem_stat().used;
    if (used >= LEAST_BYTES && used >= s->most_tied) return true;
    uint64_t own = collect_ties_charged(s, &cap);
    return cap && own >= cap / 2 && own >= s->most_charged;
}

static void set_marks(la_state *s)
{
    uint64_t cap, own = collect_ties_charged(s, &cap);
    s->most_ties = 2 * s->nties;
    s->most_tied = 2 * (uint64_t)la_mem_stat().used;
    s->most_charged = own < cap ? own + (cap - own) / 2 : cap;
}

/* May raise when Lua has no memory: nothing is moved then. Not inside a
** backward, whose engine holds references that the counters do not tell apart,
** nor inside a finalizer (the collector answers -1), nor in a scope, whose
** handles are all anchored, nor where the host has taken the collector over.
** The collector rests while ties are moved: what a step of it finalizes may be
** the tie at hand, which is memory of its node, or any other of the list. */
void la_collect_ties(lua_State *L, la_state *s)
{
    if (s->policy != LA_PACE_AUTO || s->scopes.depth > 0 || !is_due(s)) return;
    if (s->running || lua_gc(L, LUA_GCISRUNNING) != 1) return;
    walk w = {.L = L, .state = s};
    luaL_checkstack(L, 12, "too little stack to collect functions");
    lua_pushcfunction(L, move_private);
    lua_pushlightuserdata(L, &w);
    lua_gc(L, LUA_GCSTOP);
    int status = lua_pcall(L, 1, 0, 0);
    lua_gc(L, LUA_GCRESTART);
    walk_free(&w);
    if (status != LUA_OK) {
        drop_tables(L);
        lua_error(L);
    }
    lua_gc(L, LUA_GCCOLLECT);
    for (la_tie *t = s->ties; t; t = t->next)
        if (t->moved) move_back(L, t);
    drop_tables(L);
    set_marks(s);
}
