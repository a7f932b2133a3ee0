/*
** What graphs hold of a Lua state: hooks, custom functions, their ctx. The
** values of a tie stand in the registry. How circles through them are collected
** stands in lua/transform/collect_ties.c.
*/
#include "lua/transform/autograd.h"

/* ---- life ---- */

void la_tie_set(la_tie *t, la_state *s, int first, int second)
{
    *t = (la_tie){s, {first, second}, false, s->ties, &s->ties};
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
** protected call: nothing may raise. */
void la_tie_end(la_tie *t)
{
    la_state *s = t->state;
    if (!s) return;
    unlink_tie(t);
    for (int k = 0; k < 2; k++)
        luaL_unref(s->main, LUA_REGISTRYINDEX, t->refs[k]);
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

void la_tie_push(lua_State *L, const la_tie *t, int k)
{
    if (!t->moved) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, t->refs[k]);
        return;
    }
    la_tie_push_moved(L, t);    /* a finalizer runs backward meanwhile */
    if (lua_istable(L, -1)) {
        lua_rawgeti(L, -1, k + 1);
        lua_remove(L, -2);
    }
}
