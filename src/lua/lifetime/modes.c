/* Grad mode and generator of coroutines. */
#include "lua/lifetime/modes.h"

#include "lua/binding.h"

#define MODE_NAME "lunarray.mode"

/* A coroutine's. The serial numbers say what of it holds: 0 is nothing, a
** greater one was opened later. */
struct la_mode {
    la_state *state;
    uint64_t grad, fork;
    bool no_grad;
    la_generator generator;     /* while it is not the context's */
};

/* Registry: modes by coroutine (weak keys), and the thread that
** la_modes.thread is the address of, so that no other gets that address. */
static const char modes_key, thread_key;

/* ---- whose modes hold ---- */

/* The slot is there already, so that this takes no memory. */
static void set_thread(lua_State *L, la_state *s, bool any)
{
    if (any) lua_pushthread(L);
    else lua_pushboolean(L, 0);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &thread_key);
    s->modes.thread = any ? L : NULL;
}

static la_generator *kept_generator(la_state *s, la_mode *m)
{
    return m ? &m->generator : &s->modes.generator;
}

static void draw_from(la_state *s, la_mode *m)
{
    if (s->modes.drawn == m) return;
    *kept_generator(s, s->modes.drawn) = s->context.generator;
    s->context.generator = *kept_generator(s, m);
    s->modes.drawn = m;
}

static void modes_note(la_mode *m, uint64_t *serial, uint64_t value)
{
    bool before = m->grad || m->fork;
    *serial = value;
    m->state->modes.count += (m->grad || m->fork) - before;
}

/* Does it run, or wait for one that it has resumed? One that has yielded, has
** ended or was never begun does neither. */
static bool is_active(lua_State *co)
{
    lua_Debug frame;
    return lua_status(co) == LUA_OK && lua_getstack(co, 0, &frame);
}

/* The one of the two that was opened later. */
static la_mode *later_grad(la_mode *a, la_mode *b)
{
    return !b->grad || (a && a->grad > b->grad) ? a : b;
}
static la_mode *later_fork(la_mode *a, la_mode *b)
{
    return !b->fork || (a && a->fork > b->fork) ? a : b;
}

/* Those of coroutines that have resumed L: Lua does not tell who has resumed
** whom, so the latest of all that are active. */
static void look_around(lua_State *L, int table, la_mode **grad, la_mode **fork)
{
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        la_mode *m = lua_touserdata(L, -1);
        if (!is_active(lua_tothread(L, -2))) continue;
        *grad = later_grad(*grad, m);
        *fork = later_fork(*fork, m);
    }
}

void la_settle_modes(lua_State *L, la_state *s)
{
    la_mode *grad = NULL, *fork = NULL;
    if (!lua_checkstack(L, 6)) return;
    if (L != s->main && s->modes.count) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &modes_key);
        int table = lua_gettop(L);
        lua_pushthread(L);
        lua_rawget(L, table);
        la_mode *own = lua_touserdata(L, -1);
        look_around(L, table, &grad, &fork);
        if (own && own->grad) grad = own;
        if (own && own->fork) fork = own;
        lua_settop(L, table - 1);
    }
    s->context.no_grad = grad ? grad->no_grad : s->modes.no_grad;
    draw_from(s, fork);
    set_thread(L, s, s->modes.count > 0 || s->context.where);
}

/* ---- own ones ---- */

/* A coroutine has died. The context may be in the middle of an operation: its
** mode stays as it is until somebody enters. */
static int mode_gc(lua_State *L)
{
    la_mode *m = lua_touserdata(L, 1);
    la_state *s = m->state;
    if (s->modes.drawn == m) draw_from(s, NULL);
    modes_note(m, &m->grad, 0);
    modes_note(m, &m->fork, 0);
    return 0;
}

/* Push the modes of L, made at the first call; nil for the main thread. L has
** entered. */
static la_mode *push_own(lua_State *L, la_state *s)
{
    luaL_checkstack(L, 8, "too many values for a scope");
    if (L == s->main) {
        lua_pushnil(L);
        return NULL;
    }
    la_push_weak_table(L, &modes_key, "k");
    lua_pushthread(L);
    if (lua_rawget(L, -2) != LUA_TUSERDATA) {
        lua_pop(L, 1);
        la_mode *fresh = lua_newuserdatauv(L, sizeof *fresh, 0);
        *fresh = (la_mode){.state = s};     /* its finalizer reads it */
        if (la_new_metatable(L, MODE_NAME, NULL))
            la_set_event(L, "__gc", mode_gc);
        la_take_metatable(L);
        lua_pushthread(L);
        lua_pushvalue(L, -2);
        lua_rawset(L, -4);
    }
    lua_remove(L, -2);
    set_thread(L, s, true);
    return lua_touserdata(L, -1);
}

/* ---- gradients ---- */

la_mode_mark la_open_mode(lua_State *L, la_state *s, bool no_grad)
{
    la_mode *m = push_own(L, s);
    la_mode_mark mark = {m, m && m->grad, m ? m->no_grad : s->modes.no_grad,
                         s->context.no_grad};
    if (m) modes_note(m, &m->grad, ++s->modes.opened);
    *(m ? &m->no_grad : &s->modes.no_grad) = no_grad;
    s->context.no_grad = no_grad;
    return mark;
}

static void take_back(la_state *s, const la_mode_mark *mark)
{
    la_mode *m = mark->mode;
    *(m ? &m->no_grad : &s->modes.no_grad) = mark->own;
    if (m && !mark->had) modes_note(m, &m->grad, 0);
}

void la_end_mode(lua_State *L, la_state *s, const la_mode_mark *mark)
{
    if (s->modes.thread && s->modes.thread != L) la_settle_modes(L, s);
    take_back(s, mark);
    s->context.no_grad = mark->context;
}

void la_close_mode(lua_State *L, la_state *s, const la_mode_mark *mark)
{
    take_back(s, mark);
    if (s->modes.thread) la_settle_modes(L, s);
    else s->context.no_grad = mark->own;
}

/* ---- generators ---- */

la_fork la_open_fork(lua_State *L, la_state *s)
{
    la_mode *m = push_own(L, s);
    la_fork f = {m, s->context.generator, m && m->fork, false};
    if (!m) return f;
    modes_note(m, &m->fork, ++s->modes.opened);
    m->generator = f.saved;
    draw_from(s, m);
    return f;
}

/* The scope of a coroutine gives the outer one back as it is by now. */
void la_close_fork(lua_State *L, la_state *s, la_fork *f)
{
    la_mode *m = f->mode;
    if (f->ended) return;
    f->ended = true;
    if (m && !f->had)
        modes_note(m, &m->fork, 0);
    else
        *(s->modes.drawn == m ? &s->context.generator : kept_generator(s, m))
            = f->saved;
    if (s->modes.thread) la_settle_modes(L, s);
}
