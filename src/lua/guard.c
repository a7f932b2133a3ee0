/* Steps of a sandbox: the hook, and loops in C. */
#include "lua/guard.h"

#define STEPS LA_GUARD_STEPS
#define OFTEN 100       /* instructions between calls of the hook */

/* A light userdata: the state outlives its functions. */
void la_push_guarded(lua_State *L, lua_CFunction fn)
{
    lua_pushlightuserdata(L, la_state_of(L));
    lua_insert(L, -2);
    lua_pushcclosure(L, fn, LA_GUARD_OWN);
}

/* Steps left by one call are the next one's: many short calls count like a long
** one. */
la_guard la_guard_begin(lua_State *L, const char *name)
{
    la_state *s = lua_touserdata(L, lua_upvalueindex(1));
    la_guard g = {L, s->context.token, name, &s->steps_left};
    if (la_token_armed(g.token)) LA_CHECK(L, name, la_token_ask(g.token));
    return g;
}

/* Whole thousands are paid; what is over stays for the next time. Nothing can
** be paid in part: where fuel ends the script ends. */
void la_guard_pay(la_guard *g)
{
    int64_t units = (STEPS - *g->left) / STEPS;
    *g->left += units * STEPS;
    if (la_token_armed(g->token))
        LA_CHECK(g->L, g->name, la_token_take(g->token, units));
}

/* Runs in the middle of Lua code, with its stack. More often than units are
** counted: one instruction may copy a million arguments. */
static void count(lua_State *L, lua_Debug *ar)
{
    la_state *s = la_state_of(L);
    if (!s || !la_token_armed(s->context.token)) return;
    la_guard g = {L, s->context.token, "script", &s->steps_left};
    LA_CHECK(L, g.name, la_token_ask(g.token));
    la_guard_steps(&g, OFTEN);
}

void la_guard_thread(lua_State *L)
{
    lua_sethook(L, count, LUA_MASKCOUNT, OFTEN);
}
