/*
** The table functions of a sandbox: loops in C that count their steps.
**
** They respect metamethods, as Lua's do; what they call of the script is under
** the hook.
*/
#include <string.h>

#include "lua/sandbox/guard.h"

#define LARGE 100           /* from so many elements on a random pivot */

/* Length of a table, or of a value with a metatable, which may be used like
** one. */
static lua_Integer guarded_table_length(lua_State *L)
{
    if (!lua_getmetatable(L, 1)) luaL_checktype(L, 1, LUA_TTABLE);
    else lua_pop(L, 1);
    return luaL_len(L, 1);
}

/* table.insert(t[, pos], value): a step of such a loop is two accesses, each
** maybe with a metamethod. */
static int guarded_insert(lua_State *L)
{
    la_guard g = la_guard_begin(L, "insert");
    lua_Integer end = (lua_Integer)((lua_Unsigned)guarded_table_length(L) + 1);
    lua_Integer at = end;
    switch (lua_gettop(L)) {
    case 2: break;
    case 3:
        at = luaL_checkinteger(L, 2);
        luaL_argcheck(L, (lua_Unsigned)at - 1u < (lua_Unsigned)end, 2,
                      "position out of bounds");
        for (lua_Integer i = end; i > at; i--) {
            lua_geti(L, 1, i - 1);
            lua_seti(L, 1, i);
            la_guard_steps(&g, 8);
        }
        break;
    default:
        return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    lua_seti(L, 1, at);
    return 0;
}

/* table.remove(t[, pos]): what stood there is the result; #t itself and #t + 1
** may be named, too. */
static int guarded_remove(lua_State *L)
{
    la_guard g = la_guard_begin(L, "remove");
    lua_Integer n = guarded_table_length(L), at = luaL_optinteger(L, 2, n);
    if (at != n)
        luaL_argcheck(L, (lua_Unsigned)at - 1u <= (lua_Unsigned)n, 2,
                      "position out of bounds");
    lua_geti(L, 1, at);
    for (; at < n; at++) {
        lua_geti(L, 1, at + 1);
        lua_seti(L, 1, at);
        la_guard_steps(&g, 8);
    }
    lua_pushnil(L);
    lua_seti(L, 1, at);
    return 1;
}

/* table.move(a, first, last, to[, b]): downwards where what is written would be
** read later. */
static int guarded_move(lua_State *L)
{
    la_guard g = la_guard_begin(L, "move");
    lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3);
    lua_Integer to = luaL_checkinteger(L, 4);
    int b = lua_isnoneornil(L, 5) ? 1 : 5;
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, b, LUA_TTABLE);
    if (last < first) {
        lua_pushvalue(L, b);
        return 1;
    }
    luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3,
                  "too many elements to move");
    lua_Integer n = last - first + 1;
    luaL_argcheck(L, to <= LUA_MAXINTEGER - n + 1, 4,
                  "destination wrap around");
    bool up = to > last || to <= first
        || (b != 1 && !lua_compare(L, 1, b, LUA_OPEQ));
    for (lua_Integer k = 0; k < n; k++) {
        lua_Integer i = up ? k : n - 1 - k;
        lua_geti(L, 1, first + i);
        lua_seti(L, b, to + i);
        la_guard_steps(&g, 8);
    }
    lua_pushvalue(L, b);
    return 1;
}

/* table.concat(t[, separator[, i[, j]]]): counted before it is joined, so that
** the buffer does not outgrow the longest string by more than one piece. */
static int guarded_concat(lua_State *L)
{
    la_guard g = la_guard_begin(L, "concat");
    lua_Integer last = guarded_table_length(L);
    size_t n, gap, all = 0;
    const char *between = luaL_optlstring(L, 2, "", &gap);
    lua_Integer i = luaL_optinteger(L, 3, 1);
    last = luaL_optinteger(L, 4, last);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (; i <= last; i++) {
        lua_geti(L, 1, i);
        if (!lua_isstring(L, -1))
            return luaL_error(L, "invalid value (at index %I) in table for "
                              "'concat'", (LUAI_UACINT)i);
        lua_tolstring(L, -1, &n);
        all += n + gap;
        if (all > LA_LONGEST + gap)
            return luaL_error(L, "concat: resulting string too large");
        luaL_addvalue(&b);
        if (i < last) luaL_addlstring(&b, between, gap);
        la_guard_bytes(&g, 256 + n + gap);
        if (i == LUA_MAXINTEGER) break;
    }
    luaL_pushresult(&b);
    return 1;
}

/* table.unpack(t[, i[, j]]): Lua's stack has at most a million slots. */
static int guarded_unpack(lua_State *L)
{
    la_guard g = la_guard_begin(L, "unpack");
    lua_Integer i = luaL_optinteger(L, 2, 1);
    lua_Integer last = lua_isnoneornil(L, 3) ? luaL_len(L, 1)
                                             : luaL_checkinteger(L, 3);
    if (i > last) return 0;
    lua_Unsigned n = (lua_Unsigned)last - (lua_Unsigned)i;
    if (n >= 1000000 || !la_guard_stack(L, L, g.state, (int)++n))
        return luaL_error(L, "too many results to unpack");
    for (lua_Unsigned k = 0; k < n; k++) {
        lua_geti(L, 1, i + (lua_Integer)k);
        la_guard_steps(&g, 4);
    }
    return (int)n;
}

/* ---- sort ---- */

/* Does the value at 'a' come before that at 'b'? Both are negative indices. By
** the function at 2, or by Lua's <, which may be a metamethod. */
static bool before(la_guard *g, int a, int b)
{
    lua_State *L = g->L;
    la_guard_steps(g, 8);
    if (lua_isnil(L, 2)) return lua_compare(L, a, b, LUA_OPLT);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a - 1);
    lua_pushvalue(L, b - 2);
    lua_call(L, 2, 1);
    bool yes = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return yes;
}

/* t[i] = the top, t[j] = the one below; both are popped. */
static void set_two(lua_State *L, lua_Integer i, lua_Integer j)
{
    lua_seti(L, 1, i);
    lua_seti(L, 1, j);
}

/* Exchange t[i] and t[j] where t[j] comes first. */
static void guarded_table_order(la_guard *g, lua_Integer i, lua_Integer j)
{
    lua_geti(g->L, 1, i);
    lua_geti(g->L, 1, j);
    if (before(g, -1, -2)) set_two(g->L, i, j);
    else lua_pop(g->L, 2);
}

/* The pivot is on the top and at t[up - 1]. Elements that come before it move
** below, others above (Hoare). Where the pivot ends; pops it. */
static lua_Integer partition(la_guard *g, lua_Integer low, lua_Integer up)
{
    lua_State *L = g->L;
    lua_Integer i = low, j = up - 1;
    for (;;) {
        while (lua_geti(L, 1, ++i), before(g, -1, -2)) {
            if (i == up - 1) luaL_error(L, "invalid order function for "
                                        "sorting");
            lua_pop(L, 1);
        }
        while (lua_geti(L, 1, --j), before(g, -3, -1)) {
            if (j < i) luaL_error(L, "invalid order function for sorting");
            lua_pop(L, 1);
        }
        if (j < i) {
            lua_pop(L, 1);
            set_two(L, up - 1, i);
            return i;
        }
        set_two(L, i, j);
    }
}

/* Quicksort with the median of three; the smaller half by recursion. The pivot
** of long ranges is taken by a generator of fixed seed, so that it is the same
** every time and yet hard to be made the worst. */
static void sort_range(la_guard *g, lua_Integer low, lua_Integer up,
                       uint64_t *random)
{
    lua_State *L = g->L;
    while (low < up) {
        guarded_table_order(g, low, up);
        if (up - low == 1) return;
        lua_Integer p = low + (up - low) / 2;
        if (up - low > LARGE) {
            *random = *random * 6364136223846793005u + 1442695040888963407u;
            p = low + (up - low) / 4
                + (lua_Integer)((*random >> 33)
                                % (uint64_t)((up - low) / 2));
        }
        guarded_table_order(g, low, p);
        guarded_table_order(g, p, up);
        if (up - low == 2) return;
        lua_geti(L, 1, p);              /* the pivot goes to up - 1 */
        lua_pushvalue(L, -1);
        lua_geti(L, 1, up - 1);
        set_two(L, p, up - 1);
        p = partition(g, low, up);
        if (p - low < up - p) {
            sort_range(g, low, p - 1, random);
            low = p + 1;
        } else {
            sort_range(g, p + 1, up, random);
            up = p - 1;
        }
    }
}

/* table.sort(t[, before]): an order that contradicts itself gives an error or
** any permutation, but ends. */
static int guarded_sort(lua_State *L)
{
    la_guard g = la_guard_begin(L, "sort");
    lua_Integer n = guarded_table_length(L);
    uint64_t random = 1;
    if (n < 2) return 0;
    luaL_argcheck(L, n < INT32_MAX, 1, "array too big");
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    luaL_checkstack(L, 200, "");
    sort_range(&g, 1, n, &random);
    return 0;
}

const luaL_Reg la_guarded_tables[] = {
    {"insert", guarded_insert}, {"remove", guarded_remove},
    {"move", guarded_move}, {"concat", guarded_concat},
    {"unpack", guarded_unpack}, {"sort", guarded_sort}, {NULL, NULL}
};
