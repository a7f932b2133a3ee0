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
    struct la_stacks *stacks;
} la_pulse;
/* Where the stack of the host has an end (la_set_stack), a level of Lua that one
** instruction makes, as a metamethod's of a < b, may take 800 bytes of the 32
** KiB that are kept: gcc 14 makes it 336 of Debian's Lua. */
enum { LA_PULSE_MOST = 100, LA_PULSE_STACK = 40 };
/* Lua gets a block of so many bytes. Raises nothing, allocates nothing. */
void la_pulse_block(la_pulse *p, bool string, size_t bytes);
/* The hook, on this thread of Lua, from now on. */
void la_guard_thread(la_state *s, lua_State *L);
/* Finalizers of a script run under the host's limits and a bound of their own,
** which holds while there are none, and while the state is closed: so many
** steps in all, and as many times what the script ran since. */
#define LA_ASIDE_MOST ((int64_t)4000 * LA_GUARD_STEPS)
enum { LA_ASIDE_PACE = 16 };
/* ---- chains of __call (guarded_stack.c) ---- */

/*
** Lua calls a value that is no function by the __call of its metatable, which
** may be no function either: each link of such a chain moves all arguments by
** one slot, within one instruction, and a value that is its own __call goes on
** until the stack can't grow. So links are looked for where a stack has
** many slots, and no stack becomes large in the middle of an instruction.
*/
typedef struct la_large_stack {
    void *block;
    size_t bytes;
} la_large_stack;

enum { LA_LARGE_STACKS = 16 };      /* of a state, at most */

typedef struct la_stacks {
    la_large_stack large[LA_LARGE_STACKS];
    int count, often;       /* instructions between calls of the hook */
    bool growing;           /* a stack is about to: lua_checkstack */
    bool clean;             /* no link was there before this instruction */
    bool grown;             /* since the hook ran */
    void *fresh;            /* the newest block, of no type */
    size_t fresh_bytes, last, most;     /* bytes: of a stack that has grown */
    int metatables;         /* that scripts gave to tables, or more */
    int64_t since;          /* instructions since links were looked for */
} la_stacks;

/* May Lua have this block? As lua_Alloc; then what became of it. */
bool la_stacks_allow(la_pulse *p, void *block, size_t before, size_t after);
void la_stacks_note(la_pulse *p, void *block, size_t before, size_t after,
                    void *now);
/* The metatable at 'index' was given to a table. */
void la_note_metatable(lua_State *L, la_state *s, int index);
/* After so many instructions of this thread; raises. */
void la_guard_links(lua_State *L, la_state *s, int passed);
/* lua_checkstack within a sandbox. */
bool la_guard_stack(lua_State *co, lua_State *L, la_state *s, int n);

/* lua_resume of a thread with the hook; status as there. */
int la_guard_resume(la_state *s, lua_State *co, lua_State *from, int n,
                    int *results);

#endif
