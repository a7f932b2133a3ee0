/*
** Chains of metatables, and the stacks of Lua on which those of __call run
** (guard.h).
**
** That a block is a stack shows when it grows: Lua doubles the slots, and keeps
** EXTRA more. Where a chain could take long there is a hook before every
** instruction, which looks through all metatables of the script; a stack passes
** LARGE slots only when no link was there just before.
*/
#include "base/runtime/token.h"
#include "lua/sandbox/guard.h"

/* A slot of a stack, and those that Lua keeps besides (EXTRA_STACK). */
typedef struct slot {
    union { lua_Integer i; lua_Number n; void *p; } value;
    unsigned char type;
} slot;
enum { EXTRA = 5 };

enum { LARGE_SLOTS = 8192 };            /* a chain there: 20 ms */
#define LARGE (LARGE_SLOTS * sizeof(slot))
#define LONG_PULSE ((int64_t)1 << 28)
enum { FEW_SLOTS = 1024, FEW_LINKS = 50, LONG_CHAIN = 100,
       MOST_METATABLES = 256, SHRINK_EVERY = 4096 };
/* Chains that may have been called between two looks for them, in moves of a
** slot, and what a script pays for that when there are any. Lua follows 2000
** links of __index, at 10 ns each, in one instruction. */
enum { LEAST_SLOTS = 256 };
#define PATIENCE ((int64_t)1 << 34)
#define PATIENCE_STEPS ((int64_t)500000 * LA_GUARD_STEPS)

static size_t doubled(size_t bytes) { return 2 * bytes - EXTRA * sizeof(slot); }

/* ---- growth ---- */

static la_large_stack *find(la_stacks *s, void *block)
{
    for (int k = 0; k < s->count; k++)
        if (s->large[k].block == block) return &s->large[k];
    return NULL;
}

/* Steps of 5 ns for a chain through so many bytes of a stack. */
static int64_t chain_steps(size_t bytes)
{
    int64_t slots = (int64_t)(bytes / sizeof(slot));
    return slots * slots / 32;
}

/* Raises nothing; what the hook and the allocator look at must be whole. */
static bool may_be_large(const la_stacks *s, size_t bytes)
{
    if (bytes <= LARGE) return true;
    return s->clean && !s->grown && s->count < LA_LARGE_STACKS;
}

/* Lua makes a new block for a stack and frees the old one, or asks for a larger
** one, by its version. */
static bool is_growth(const la_stacks *s, void *block, size_t before,
                      size_t after)
{
    if (s->growing) return true;
    if (block) return after == doubled(before);
    if (before) return false;               /* an object: its type */
    bool stack = after == doubled(s->last);
    for (int k = 0; k < s->count; k++)
        stack |= after == doubled(s->large[k].bytes);
    return stack;
}

bool la_stacks_allow(la_pulse *p, void *block, size_t before, size_t after)
{
    la_stacks *s = p->stacks;
    if (after <= LARGE || may_be_large(s, after)) return true;
    if (!is_growth(s, block, before, after)) return true;
    p->owed += chain_steps(after / 2);
    return false;
}

/* Instructions between two calls of the hook: chains of three each take 40 ms
** at most. */
static void find_often(la_stacks *s)
{
    int64_t slots = 0, often;
    for (int k = 0; k < s->count; k++)
        if ((int64_t)(s->large[k].bytes / sizeof(slot)) > slots)
            slots = (int64_t)(s->large[k].bytes / sizeof(slot));
    often = slots > LARGE_SLOTS / 2 ? 1 : LONG_PULSE / (slots * slots + 1);
    s->often = often > LA_PULSE_MOST ? LA_PULSE_MOST : (int)often;
}

static void note_stack(la_pulse *p, void *block, size_t bytes)
{
    la_stacks *s = p->stacks;
    s->last = bytes;
    if (bytes > s->most) s->most = bytes;
    if (s->grown) p->owed += chain_steps(bytes / 2);
    s->grown = true;
    if (bytes > FEW_SLOTS * sizeof(slot) && s->count < LA_LARGE_STACKS)
        s->large[s->count++] = (la_large_stack){block, bytes};
    find_often(s);
}

/* A block that is gone was a stack if it is known, or the block that was made
** before has as many slots as a stack that grew from it. */
void la_stacks_note(la_pulse *p, void *block, size_t before, size_t after,
                    void *now)
{
    la_stacks *s = p->stacks;
    la_large_stack *known = block && s->count ? find(s, block) : NULL;
    bool stack = known != NULL;
    if (known) {
        *known = s->large[--s->count];
        find_often(s);
    }
    if (after && block && (stack || s->growing || after == doubled(before)))
        note_stack(p, now, after);
    else if (block && !after && s->fresh
             && (stack || s->growing || s->fresh_bytes == doubled(before)))
        note_stack(p, s->fresh, s->fresh_bytes);
    bool fresh = !block && before == 0 && after > 0;
    s->fresh = fresh ? now : NULL;
    s->fresh_bytes = fresh ? after : 0;
}

/* Nothing but the stack is allocated meanwhile; the next hook needs slots, too.
** Chains are looked for where the stack may become large. */
bool la_guard_stack(lua_State *co, lua_State *L, la_state *s, int n)
{
    if (!s->pulse) return lua_checkstack(co, n);
    la_stacks *k = s->pulse->stacks;
    if (n > FEW_SLOTS) la_guard_links(L, s, 0);
    k->growing = true;
    bool fits = lua_checkstack(co, n + 2 * LUA_MINSTACK);
    k->growing = false;
    if (k->count) la_guard_thread(s, L);
    return fits;
}

/* ---- links ---- */

static const char metatables;

void la_note_metatable(lua_State *L, la_state *s, int index)
{
    if (!s->pulse) return;
    lua_pushvalue(L, index);
    la_push_weak_table(L, &metatables, "k");
    lua_pushvalue(L, -2);
    if (lua_rawget(L, -2) == LUA_TNIL) {
        lua_pushvalue(L, -3);
        lua_pushboolean(L, 1);
        lua_rawset(L, -4);
        s->pulse->stacks->metatables++;
    }
    lua_pop(L, 3);
}

/* Does the table on the top call by a value that may have a metatable? */
static bool is_link(lua_State *L)
{
    lua_pushliteral(L, "__call");
    int type = lua_rawget(L, -2);
    lua_pop(L, 1);
    return type == LUA_TTABLE || type == LUA_TUSERDATA || type == LUA_TSTRING;
}

/* Is the metatable on the top the first of a long chain of 'event'? */
static bool is_long(lua_State *L, const char *event)
{
    int top = lua_gettop(L), length = 0;
    lua_pushvalue(L, -1);
    while (length <= LONG_CHAIN) {
        lua_pushstring(L, event);
        if (lua_rawget(L, -2) != LUA_TTABLE || !lua_getmetatable(L, -1)) break;
        length++;
        lua_replace(L, top + 1);
        lua_settop(L, top + 1);
    }
    lua_settop(L, top);
    return length > LONG_CHAIN;
}

/* Links of __call; 'chains': also, is a chain of another event long? */
static int count_links(lua_State *L, la_stacks *s, bool *chains)
{
    int links = 0, all = 0;
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1)) {
        links += is_link(L);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    la_push_weak_table(L, &metatables, "k");
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pop(L, 1);
        links += is_link(L);
        if (chains && !*chains)
            *chains = is_long(L, "__index") || is_long(L, "__newindex");
        all++;
    }
    lua_pop(L, 1);
    s->metatables = all;
    return links;
}

static int fails(lua_State *L)
{
    lua_pushnil(L);
    return lua_error(L);
}

/* Is it time to look, where a chain has at most so many links as there are
** metatables and slots? */
static bool is_due(const la_stacks *s)
{
    int64_t links = (int64_t)(s->most / sizeof(slot));
    if (s->metatables <= FEW_LINKS) return false;
    if (links < LEAST_SLOTS) links = LEAST_SLOTS;
    if (links > s->metatables) links = s->metatables;
    return s->since >= PATIENCE / (links * links);
}

/* Lua gives back what a stack has too much after an error. */
static void shrink(lua_State *L)
{
    lua_pushcfunction(L, fails);
    lua_pcall(L, 0, 0, 0);
    lua_pop(L, 1);
}

static bool has_large(const la_stacks *s)
{
    for (int k = 0; k < s->count; k++)
        if (s->large[k].bytes > LARGE) return true;
    return false;
}

static int overflow(lua_State *L, la_pulse *p)
{
    p->owed += chain_steps(LARGE);
    return luaL_error(L, "script: stack overflow (calls nest deeply, and the "
                      "__call of a metatable may be no function)");
}

/* The hook and C functions have slots for what is pushed here. */
void la_guard_links(lua_State *L, la_state *state, int passed)
{
    la_pulse *p = state->pulse;
    la_stacks *s = p->stacks;
    int64_t before = s->since;
    s->grown = s->clean = false;
    s->since += passed;
    bool large = s->often == 1 || passed == 0, due = is_due(s);
    if (s->count && before / SHRINK_EVERY != s->since / SHRINK_EVERY)
        shrink(L);
    bool chains = false;
    int links = 1;
    if (due || (large && s->metatables <= MOST_METATABLES)) {
        if (due) s->since = 0;
        p->owed += s->metatables;
        links = count_links(L, s, due ? &chains : NULL);
        s->clean = links == 0;
    }
    if (links && has_large(s)) shrink(L);
    if (links && has_large(s)) overflow(L, p);
    if (links <= FEW_LINKS && !chains) return;
    p->owed += PATIENCE_STEPS;
    if (chains)
        luaL_error(L, "script: a chain of more than %d metatables by __index "
                   "or __newindex", (int)LONG_CHAIN);
    luaL_error(L, "script: more than %d metatables whose __call is no function",
               (int)FEW_LINKS);
}
