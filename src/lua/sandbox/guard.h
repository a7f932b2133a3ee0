/*
** Loops in C on behalf of a sandboxed script: Lua's hook does not see them, so
** they count their steps and ask the state's token now and then.
**
** A thousand steps cost what a thousand instructions of Lua's machine do.
*/
#ifndef LA_LUA_SANDBOX_GUARD_H
#define LA_LUA_SANDBOX_GUARD_H

#include "lua/binding.h"

/* The longest string of a sandbox: the interpreter's own passes over one (to
** join, hash or compare) can't be stopped, and take a few milliseconds so. */
#define LA_LONGEST ((size_t)1 << 24)

#define LA_GUARD_STEPS 1000     /* cost one unit of fuel */

typedef struct la_guard {
    lua_State *L;
    la_state *state;
    la_token *token;
    const char *name;       /* of the function, for the error */
    int64_t *left;          /* steps until the token is asked, of the state */
} la_guard;

/* Begins a lua_CFunction pushed by la_push_guarded. Raises when a limit has
** been reached. */
la_guard la_guard_begin(lua_State *L, const char *name);
/* Asks; raises. */
void la_guard_pay(la_guard *g);
static inline void la_guard_steps(la_guard *g, int64_t n)
{
    *g->left -= n;
    if (*g->left <= 0) la_guard_pay(g);
}
/* Pays for a pass of the C library over so many bytes. */
static inline void la_guard_bytes(la_guard *g, size_t n)
{
    la_guard_steps(g, 1 + (int64_t)(n / 64));
}

/* Push 'fn' with the state as its first upvalue and the value on the top, which
** is popped, as its second. */
void la_push_guarded(lua_State *L, lua_CFunction fn);
enum { LA_GUARD_OWN = 2 };

/* Functions of Lua's library by table, NULL-ended: "" is the globals. Each gets
** the one that it replaces (or nil) as its own upvalue. */
typedef struct la_guarded {
    const char *table;
    const luaL_Reg *functions;
} la_guarded;
extern const luaL_Reg la_guarded_calls[], la_guarded_coroutines[],
    la_guarded_strings[], la_guarded_patterns[], la_guarded_tables[],
    la_guarded_utf8[];

/* How often the hook that counts instructions runs. One instruction takes as
** long as its operand is: it joins, compares or converts a string, or looks
** through a table. So the hook comes more often once there are long ones.
** 'thread' is the thread of Lua that runs, NULL when none may be touched. */
typedef struct la_pulse {
    lua_State *thread;
    int often;              /* instructions between calls */
    int64_t owed;           /* steps for strings that Lua made since */
} la_pulse;
enum { LA_PULSE_MOST = 100 };
/* Lua gets a block of so many bytes. Raises nothing, allocates nothing. */
void la_pulse_block(la_pulse *p, bool string, size_t bytes);
/* The hook, on this thread of Lua, from now on. */
void la_guard_thread(la_state *s, lua_State *L);
/* Finalizers of a script run under the host's limits and a bound of their own,
** which holds while there are none, and while the state is closed: so many
** steps in all, and as many times what the script ran since. */
#define LA_ASIDE_MOST ((int64_t)4000 * LA_GUARD_STEPS)
enum { LA_ASIDE_PACE = 16 };
/* lua_resume of a thread with the hook; status as there. */
int la_guard_resume(la_state *s, lua_State *co, lua_State *from, int n,
                    int *results);

#endif
