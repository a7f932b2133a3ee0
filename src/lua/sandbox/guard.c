/* Steps of a sandbox: the hook, and loops in C. */
#include "lua/sandbox/guard.h"

#include "base/runtime/token.h"

#define STEPS LA_GUARD_STEPS

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
    la_guard g = {L, s, s->context.token, name, &s->steps_left};
    la_check_stack(L, s);
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

/* ---- the hook ---- */

/* Bytes times instructions between two calls of the hook. Every other
** instruction may compare strings whose bytes are all zero, at 7 ns a byte, or
** look through a table that is empty by now, at 0.1 ns: 15 ms. */
#define STRING_WORK ((size_t)1 << 22)
#define BLOCK_WORK ((size_t)1 << 27)
/* Bytes from which on a new string costs more than the instruction that makes
** it, at the price of la_guard_bytes. */
#define LONG_STRING ((size_t)1024)

static void guard_count(lua_State *L, lua_Debug *ar);

/* lua_sethook may be called at any time: it is made for signal handlers. Other
** threads of Lua have the new count when they run for the next time. */
void la_pulse_block(la_pulse *p, bool string, size_t bytes)
{
    size_t work = string ? STRING_WORK : BLOCK_WORK;
    if (string && bytes > LONG_STRING) p->owed += (int64_t)(bytes / 64);
    if (bytes <= work / LA_PULSE_MOST) return;
    int often = bytes < work ? (int)(work / bytes) : 1;
    if (often >= p->often) return;
    p->often = often;
    if (p->thread) lua_sethook(p->thread, guard_count, LUA_MASKCOUNT, often);
}

static int pulse_of(const la_state *s)
{
    const la_pulse *p = s->pulse;
    int often = p->often < p->stacks->often ? p->often : p->stacks->often;
    return s->stack_kept && often > LA_PULSE_STACK ? LA_PULSE_STACK : often;
}

/* A count that has begun goes on where it is the right one. */
void la_guard_thread(la_state *s, lua_State *L)
{
    int often = pulse_of(s);
    if (lua_gethook(L) != guard_count || lua_gethookcount(L) != often)
        lua_sethook(L, guard_count, LUA_MASKCOUNT, often);
}

/* When a limit was reached each instruction raises: what is to be closed on the
** way out, however much it is, does nothing any more.
** Runs in the middle of Lua code, with its stack. More often than units are
** counted. */
static void guard_count(lua_State *L, lua_Debug *ar)
{
    la_state *s = la_state_of(L);
    if (!s || !s->pulse) return;
    la_check_stack(L, s);
    int passed = lua_gethookcount(L), often = pulse_of(s);
    la_stacks *stacks = s->pulse->stacks;
    stacks->grown = stacks->clean = false;
    bool armed = la_token_armed(s->context.token);
    if (armed && la_token_reached(s->context.token)) often = 1;
    if (often != passed) lua_sethook(L, guard_count, LUA_MASKCOUNT, often);
    if (!s->finalizing && s->aside < LA_ASIDE_MOST)
        s->aside += LA_ASIDE_PACE * passed;
    la_guard g = {L, s, s->context.token, "script", &s->steps_left};
    if (armed) LA_CHECK(L, g.name, la_token_ask(g.token));
    if (stacks->count || stacks->metatables) la_guard_links(L, s, passed);
    if (!armed) return;
    int64_t owed = s->pulse->owed;
    s->pulse->owed = 0;
    la_guard_steps(&g, passed + owed);
}

int la_guard_resume(la_state *s, lua_State *co, lua_State *from, int n,
                    int *results)
{
    lua_State *before = s->pulse->thread;
    s->pulse->thread = co;
    la_guard_thread(s, co);
    int status = lua_resume(co, from, n, results);
    s->pulse->thread = before;
    if (before) la_guard_thread(s, before);
    return status;
}
