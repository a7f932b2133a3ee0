/*
** The string and utf8 functions of a sandbox: no result is longer than
** LA_LONGEST, no loop goes on after a limit was reached, no text shows an
** address.
*/
#include <string.h>

#include "lua/sandbox/guard.h"
#include "lua/sandbox/sandbox.h"

enum { LONGEST_FORMAT = 1 << 16, MOST_CONVERSIONS = 1 << 12 };
#define LONGEST_QUOTED (LA_LONGEST >> 5)    /* 30 ns for each byte */

static int too_long(lua_State *L, const char *name)
{
    return luaL_error(L, "%s: resulting string too large (a sandbox has "
                      "strings of at most %d bytes)", name, (int)LA_LONGEST);
}

/* Calls the function that was replaced with all arguments. */
static int call_original(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(LA_GUARD_OWN));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* ---- of any length ---- */

/* string.rep(s, n, separator): the first piece, then what is there so far until
** all is. */
static int guarded_rep(lua_State *L)
{
    size_t n, gap = 0;
    const char *s = luaL_checklstring(L, 1, &n);
    lua_Integer times = luaL_checkinteger(L, 2);
    const char *between = luaL_optlstring(L, 3, "", &gap);
    la_guard g = la_guard_begin(L, "rep");
    if (times <= 0 || n + gap == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if ((lua_Unsigned)times > (LA_LONGEST + gap) / (n + gap))
        return too_long(L, "rep");
    size_t all = (n + gap) * (size_t)times - gap, done = n;
    luaL_Buffer b;
    la_guard_bytes(&g, all);
    char *to = luaL_buffinitsize(L, &b, all);
    memcpy(to, s, n);
    if (times > 1) {
        memcpy(to + n, between, gap);
        done += gap;
    }
    while (done < all) {
        size_t more = all - done < done ? all - done : done;
        memcpy(to + done, to, more);
        done += more;
    }
    luaL_pushresultsize(&b, all);
    return 1;
}

/* Passes that the compiler makes of vectors: 16 MiB in a few milliseconds. */
typedef void (*byte_map)(char *to, const char *from, size_t n);

static void to_upper(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(from[i] - (from[i] >= 'a' && from[i] <= 'z') * 32);
}

static void to_lower(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(from[i] + (from[i] >= 'A' && from[i] <= 'Z') * 32);
}

static void to_reverse(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = from[n - 1 - i];
}

/* Letters are ASCII's in a sandbox, whatever the host's locale. */
static int mapped(lua_State *L, byte_map map, const char *name)
{
    size_t n;
    luaL_Buffer b;
    const char *s = luaL_checklstring(L, 1, &n);
    la_guard g = la_guard_begin(L, name);
    la_guard_bytes(&g, 8 * n);      /* byte by byte */
    map(luaL_buffinitsize(L, &b, n), s, n);
    luaL_pushresultsize(&b, n);
    return 1;
}

/* string.upper(s), string.lower(s), string.reverse(s) */
static int guarded_upper(lua_State *L) { return mapped(L, to_upper, "upper"); }
static int guarded_lower(lua_State *L) { return mapped(L, to_lower, "lower"); }
static int guarded_reverse(lua_State *L)
{
    return mapped(L, to_reverse, "reverse");
}

/* ---- format ---- */

/* Looks through a format for what a sandbox has not: %p, and numbers of a few
** hundred digits each without end. Does it have %q? */
static bool check_format(lua_State *L, const char *text, size_t n)
{
    bool quotes = false;
    int conversions = 0;
    if (n > LONGEST_FORMAT) luaL_error(L, "format: format too long");
    for (const char *p = text; p < text + n; p++) {
        if (*p != '%') continue;
        p++;
        p += strspn(p, "-+ #0123456789.");
        if (*p == 'p')
            luaL_error(L, "format: %%p is not available in a sandbox");
        if (*p == 'q') quotes = true;
        if (++conversions > MOST_CONVERSIONS)
            luaL_error(L, "format: more than %d conversions",
                       MOST_CONVERSIONS);
    }
    return quotes;
}

/* string.format(format, ...): no %p. Tables and their kin give their texts here
** and now, so that the lengths are known before Lua's function joins them; it
** has no loop that is longer than they are. Each argument is at most once in
** the result. */
static int guarded_format(lua_State *L)
{
    size_t n, all, size;
    const char *text = luaL_checklstring(L, 1, &n);
    la_guard g = la_guard_begin(L, "format");
    size_t most = check_format(L, text, n) ? LONGEST_QUOTED : LA_LONGEST;
    all = n;
    for (int k = 2, top = lua_gettop(L); k <= top; k++) {
        la_guard_steps(&g, 1);
        if (lua_type(L, k) >= LUA_TTABLE) {     /* its text, now */
            la_push_text(L, k);
            lua_replace(L, k);
        }
        size = lua_type(L, k) == LUA_TSTRING ? lua_rawlen(L, k) : 0;
        all += size;
        if (all > most + n) return too_long(L, "format");
    }
    la_guard_bytes(&g, all);
    return call_original(L);
}

/* ---- pack ---- */

/* Numbers in a format of pack are sizes, of padding too: together they are no
** more than a string may be. */
static void check_packing(lua_State *L, int arg, const char *name)
{
    size_t n, all = 0, number = 0;
    const char *p = luaL_checklstring(L, arg, &n);
    la_guard g = la_guard_begin(L, name);
    la_guard_steps(&g, (int64_t)n);
    if (n > LONGEST_FORMAT) luaL_error(L, "%s: format too long", name);
    for (size_t i = 0; i <= n; i++) {
        bool digit = i < n && p[i] >= '0' && p[i] <= '9';
        if (digit && number <= LA_LONGEST)
            number = number * 10 + (size_t)(p[i] - '0');
        if (digit) continue;
        all += number;
        number = 0;
        if (all > LA_LONGEST) too_long(L, name);
    }
    la_guard_bytes(&g, all);
}

/* string.pack(format, ...) */
static int guarded_pack(lua_State *L)
{
    size_t all = 0;
    check_packing(L, 1, "pack");
    for (int k = 2, top = lua_gettop(L); k <= top; k++) {
        if (lua_type(L, k) == LUA_TSTRING) all += lua_rawlen(L, k);
        if (all > LA_LONGEST) return too_long(L, "pack");
    }
    return call_original(L);
}

/* Slots for the results of Lua's function besides the arguments. */
static void check_results(lua_State *L, la_guard *g, lua_Integer n)
{
    if (n >= 1000000 || !la_guard_stack(L, L, g->state, (int)n + 32))
        luaL_error(L, "string slice too long");
}

/* string.unpack(format, s): padding counts, values are as many as the stack
** takes. */
static int guarded_unpack(lua_State *L)
{
    check_packing(L, 1, "unpack");
    la_guard g = la_guard_begin(L, "unpack");
    check_results(L, &g, (lua_Integer)lua_rawlen(L, 1));
    return call_original(L);
}

/* string.packsize(format) */
static int guarded_packsize(lua_State *L)
{
    check_packing(L, 1, "packsize");
    return call_original(L);
}

/* A position from the end counts from the start, as in Lua's functions. */
static lua_Integer position(lua_Integer i, lua_Integer n)
{
    return i >= 0 ? i : -i > n ? 0 : n + i + 1;
}

/* The bytes of the string at 1 that the positions at 2 and 3 name are *i to *j.
** Their number, for which the stack has slots then. */
static lua_Integer range_of(lua_State *L, la_guard *g, lua_Integer *i,
                            lua_Integer *j)
{
    size_t size;
    luaL_checklstring(L, 1, &size);
    *i = position(luaL_optinteger(L, 2, 1), (lua_Integer)size);
    *j = position(luaL_optinteger(L, 3, *i), (lua_Integer)size);
    if (*i < 1) *i = 1;
    if (*j > (lua_Integer)size) *j = (lua_Integer)size;
    lua_Integer n = *j >= *i ? *j - *i + 1 : 0;
    la_guard_steps(g, 1 + n);
    check_results(L, g, n);
    return n;
}

/* string.byte(s, i, j) */
static int guarded_byte(lua_State *L)
{
    lua_Integer i, j;
    la_guard g = la_guard_begin(L, "byte");
    lua_Integer n = range_of(L, &g, &i, &j);
    const char *s = lua_tostring(L, 1);
    for (; i <= j; i++) lua_pushinteger(L, (unsigned char)s[i - 1]);
    return (int)n;
}

/* utf8.codepoint(s, i, j, lax) */
static int guarded_codepoint(lua_State *L)
{
    lua_Integer i, j;
    la_guard g = la_guard_begin(L, "codepoint");
    range_of(L, &g, &i, &j);
    return call_original(L);
}

const luaL_Reg la_guarded_strings[] = {
    {"byte", guarded_byte},
    {"rep", guarded_rep}, {"upper", guarded_upper}, {"lower", guarded_lower},
    {"reverse", guarded_reverse}, {"format", guarded_format},
    {"pack", guarded_pack}, {"unpack", guarded_unpack},
    {"packsize", guarded_packsize}, {NULL, NULL}
};

/* ---- utf8 ---- */

static bool continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* utf8.len(s, i, j, lax): Lua's counts the characters that begin in a range, so
** ranges follow each other; the bytes of a character are not parted. */
static int guarded_len(lua_State *L)
{
    enum { RANGE = 1 << 16 };
    size_t size;
    const char *s = luaL_checklstring(L, 1, &size);
    lua_Integer n = (lua_Integer)size, i = luaL_optinteger(L, 2, 1);
    lua_Integer j = luaL_optinteger(L, 3, -1), count = 0;
    la_guard g = la_guard_begin(L, "len");
    lua_settop(L, 4);
    la_guard_bytes(&g, size);
    i = position(i, n);
    j = position(j, n);
    do {
        lua_Integer end = j - i > RANGE ? i + RANGE : j;
        while (end < j && end >= 0 && end < n && continues(s[end])) end++;
        lua_pushvalue(L, lua_upvalueindex(LA_GUARD_OWN));
        lua_pushvalue(L, 1);
        lua_pushinteger(L, i);
        lua_pushinteger(L, end);
        lua_pushvalue(L, 4);
        lua_call(L, 4, 2);
        if (!lua_isinteger(L, -2)) return 2;    /* nil, where */
        count += lua_tointeger(L, -2);
        lua_settop(L, 4);
        la_guard_steps(&g, RANGE);
        i = end + 1;
    } while (i <= j);
    lua_pushinteger(L, count);
    return 1;
}

/* utf8.char(...): of up to a million numbers. */
static int guarded_char(lua_State *L)
{
    luaL_Buffer b;
    la_guard g = la_guard_begin(L, "char");
    int n = lua_gettop(L);
    luaL_buffinit(L, &b);
    for (int k = 1; k <= n; k++) {
        lua_Unsigned c = (lua_Unsigned)luaL_checkinteger(L, k);
        luaL_argcheck(L, c <= 0x7fffffffu, k, "value out of range");
        lua_pushfstring(L, "%U", (long)c);
        luaL_addvalue(&b);
        la_guard_steps(&g, 10);
    }
    luaL_pushresult(&b);
    return 1;
}

const luaL_Reg la_guarded_utf8[] = {
    {"len", guarded_len}, {"char", guarded_char},
    {"codepoint", guarded_codepoint}, {NULL, NULL}
};
