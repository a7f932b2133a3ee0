/* Lists of Lua as columns, and texts as codes of sorted categories. */
#include "modules/frame/lua/frame.h"

#include <math.h>
#include <string.h>

#include "base/runtime/interrupt.h"

/* ---- sorted texts ---- */

typedef struct texts_entry { const char *p; size_t n; int32_t code; }
    texts_entry;

/* Is a in front of b, by bytes? */
static bool texts_before(const texts_entry *a, const texts_entry *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    int way = n ? memcmp(a->p, b->p, n) : 0;
    return way ? way < 0 : a->n < b->n;
}

/* Two sorted runs, a .. b - 1 and b .. c - 1, as one. */
static void texts_merge(const texts_entry *from, int64_t a, int64_t b,
                        int64_t c, texts_entry *to)
{
    int64_t i = a, j = b;
    for (int64_t k = a; k < c; k++)
        to[k] = j >= c || (i < b && !texts_before(&from[j], &from[i]))
            ? from[i++] : from[j++];
}

/* Sorted by merging runs; where they are afterwards: in v or in scratch. */
static texts_entry *texts_sort(texts_entry *v, texts_entry *scratch, int64_t n)
{
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t a = 0; a < n; a += 2 * run) {
            int64_t b = a + run < n ? a + run : n;
            texts_merge(v, a, b, b + run < n ? b + run : n, scratch);
        }
        texts_entry *swap = v;
        v = scratch;
        scratch = swap;
    }
    return v;
}

/* ---- encoding ---- */

/* Gaps are nil, false and the value at index 'gap' of the stack. */
static bool texts_is_gap(lua_State *L, int at, int gap)
{
    return lua_isnil(L, at) || (lua_isboolean(L, at) && !lua_toboolean(L, at))
        || (gap && lua_rawequal(L, at, gap));
}

/* Numbers of the n texts of the list at 1, in the order in which they are met,
** to codes; the list of them is pushed. The first entry at fault, or 0. */
static int64_t texts_number(lua_State *L, int64_t n, int32_t *codes, int gap,
                            int64_t *count)
{
    lua_newtable(L);
    int list = lua_gettop(L);
    lua_newtable(L);
    *count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % 4096 == 0) LA_CHECK(L, "frame", la_poll());
        codes[i] = 0;
        lua_rawgeti(L, 1, i + 1);
        if (texts_is_gap(L, -1, gap)) {
            lua_pop(L, 1);
            continue;
        }
        if (lua_type(L, -1) != LUA_TSTRING) return i + 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, list + 1) == LUA_TNIL) {
            lua_pushvalue(L, -2);
            lua_rawseti(L, list, ++*count);
            lua_pushvalue(L, -2);
            lua_pushinteger(L, *count);
            lua_rawset(L, list + 1);
            codes[i] = (int32_t)*count;
        } else {
            codes[i] = (int32_t)lua_tointeger(L, -1);
        }
        lua_pop(L, 2);
    }
    lua_settop(L, list);
    return 0;
}

/* The list of 'count' texts on the top becomes the sorted one; to[code - 1] is
** the new code. */
static void texts_rank(lua_State *L, int64_t count, int32_t *to)
{
    int list = lua_gettop(L);
    size_t bytes = sizeof(texts_entry) * (size_t)(count + 1);
    texts_entry *v = lua_newuserdatauv(L, bytes, 0);
    texts_entry *scratch = lua_newuserdatauv(L, bytes, 0);
    for (int64_t k = 0; k < count; k++) {
        lua_rawgeti(L, list, k + 1);    /* the list keeps the text */
        v[k].p = lua_tolstring(L, -1, &v[k].n);
        v[k].code = (int32_t)k;
        lua_pop(L, 1);
    }
    v = texts_sort(v, scratch, count);
    lua_createtable(L, (int)count, 0);
    for (int64_t k = 0; k < count; k++) {
        to[v[k].code] = (int32_t)(k + 1);
        lua_rawgeti(L, list, v[k].code + 1);
        lua_rawseti(L, -2, k + 1);
    }
    lua_replace(L, list);
    lua_settop(L, list);
}

/* encode(list, n, gap): codes and the sorted categories; nil and the first
** entry that is neither a string nor a gap. */
static int texts_encode(lua_State *L)
{
    la_state *s = la_begin(L, "frame", 0);
    lua_settop(L, 3);
    luaL_checktype(L, 1, LUA_TTABLE);
    int64_t count, n = la_table_count_arg(L, 2, "frame");
    la_charge_more(L, "frame", n);
    int32_t *codes = la_table_push(L, s, LA_INT32, n, "frame");
    int64_t bad = texts_number(L, n, codes, 3, &count);
    if (bad) {
        lua_pushnil(L);
        lua_pushinteger(L, bad);
        return 2;
    }
    int32_t *to = lua_newuserdatauv(L, sizeof(int32_t) * (size_t)(count + 1),
                                    0);
    lua_insert(L, -2);
    texts_rank(L, count, to);
    for (int64_t i = 0; i < n; i++) if (codes[i]) codes[i] = to[codes[i] - 1];
    lua_pushvalue(L, 4);
    lua_insert(L, -2);
    return 2;
}

/* ---- lists ---- */

enum { TEXTS_GAP = 1, TEXTS_INTEGER = 2, TEXTS_FLOAT = 4, TEXTS_BOOL = 8,
       TEXTS_STRING = 16, TEXTS_OTHER = 32 };

static int texts_class(lua_State *L, int gap)
{
    switch (lua_type(L, -1)) {
    case LUA_TNIL: return TEXTS_GAP;
    case LUA_TBOOLEAN: return TEXTS_BOOL;
    case LUA_TSTRING: return TEXTS_STRING;
    case LUA_TNUMBER: return lua_isinteger(L, -1) ? TEXTS_INTEGER : TEXTS_FLOAT;
    default: return lua_rawequal(L, -1, gap) ? TEXTS_GAP : TEXTS_OTHER;
    }
}

/* Types of the n entries of the list at 1, together; the first entry that does
** not go with those before it, or 0. */
static int64_t texts_look(lua_State *L, int64_t n, int *seen)
{
    const int numbers = TEXTS_INTEGER | TEXTS_FLOAT;
    *seen = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % 4096 == 0) LA_CHECK(L, "frame", la_poll());
        lua_rawgeti(L, 1, i + 1);
        int here = texts_class(L, 3), before = *seen & ~TEXTS_GAP;
        lua_pop(L, 1);
        *seen |= here;
        if (here == TEXTS_OTHER) return i + 1;
        if (here == TEXTS_GAP || !before || here == before) continue;
        if (!(here & numbers) || !(before & numbers)) return i + 1;
    }
    return 0;
}

/* Value of the entry on the top, a gap as NaN; false for an integer that a
** double would round. */
static bool texts_double(lua_State *L, double *out)
{
    *out = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1)
        : lua_isboolean(L, -1) ? lua_toboolean(L, -1) : NAN;
    if (!lua_isinteger(L, -1)) return true;
    lua_Integer v = lua_tointeger(L, -1);
    return fabs(*out) <= 9007199254740992.0 && (lua_Integer)*out == v;
}

static la_dtype texts_dtype(int seen)
{
    return seen == TEXTS_INTEGER ? LA_INT64 : seen == TEXTS_BOOL ? LA_BOOL
        : LA_FLOAT64;
}

/* Numbers or booleans to a new column. The entry that does not fit, or 0. */
static int64_t texts_fill(lua_State *L, la_dtype dtype, int64_t n, void *out)
{
    for (int64_t i = 0; i < n; i++) {
        bool fine = true;
        lua_rawgeti(L, 1, i + 1);
        if (dtype == LA_INT64) ((int64_t *)out)[i] = lua_tointeger(L, -1);
        else if (dtype == LA_BOOL) ((uint8_t *)out)[i] = (uint8_t)
            lua_toboolean(L, -1);
        else fine = texts_double(L, (double *)out + i);
        lua_pop(L, 1);
        if (!fine) return i + 1;
    }
    return 0;
}

/* from_list(list, n, gap): "n" and a tensor; "t", codes and categories; or nil,
** the entry at fault and why. */
static int texts_from_list(lua_State *L)
{
    int seen;
    la_state *s = la_begin(L, "frame", 0);
    lua_settop(L, 3);
    luaL_checktype(L, 1, LUA_TTABLE);
    int64_t n = la_table_count_arg(L, 2, "frame");
    la_charge_more(L, "frame", n);
    int64_t bad = texts_look(L, n, &seen);
    if (!bad && seen & TEXTS_STRING) {
        texts_encode(L);
        lua_pushliteral(L, "t");
        lua_insert(L, -3);
        return 3;
    }
    if (!bad) {
        void *out = la_table_push(L, s, texts_dtype(seen), n, "frame");
        bad = texts_fill(L, texts_dtype(seen), n, out);
        if (!bad) {
            lua_pushliteral(L, "n");
            lua_insert(L, -2);
            return 2;
        }
        seen |= TEXTS_OTHER << 1;
    }
    lua_pushnil(L);
    lua_pushinteger(L, bad);
    lua_pushstring(L, seen & (TEXTS_OTHER << 1) ? "round"
                   : seen & TEXTS_OTHER ? "other" : "mix");
    return 3;
}

/* before(a, b): by bytes, whatever the locale */
static int texts_is_before(lua_State *L)
{
    texts_entry a, b;
    a.p = luaL_checklstring(L, 1, &a.n);
    b.p = luaL_checklstring(L, 2, &b.n);
    lua_pushboolean(L, texts_before(&a, &b));
    return 1;
}

const luaL_Reg la_table_text_functions[] = {
    {"encode", texts_encode}, {"from_list", texts_from_list},
    {"before", texts_is_before}, {NULL, NULL}
};
