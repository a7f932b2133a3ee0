/*
** find, match, gmatch and gsub of a sandbox: Lua's patterns, whose time can
** grow exponentially, by a matcher that counts its steps.
**
** A pattern is tried by backtracking, as in Lua 5.4 (R. Ierusalimschy, L. H. de
** Figueiredo, W. Celes), with its limits on captures and on the depth of
** recursion. Classes are those of the C locale.
*/
#include <stdint.h>
#include <string.h>

#include "lua/sandbox/guard.h"
#include "base/ascii.h"

enum { MOST_CAPTURES = 32, DEEPEST = 200 };
enum { OPEN = -1, POSITION = -2 };      /* lengths of captures that have none */

/* The texts are Lua's and stay where they are while it works: on the stack, or
** in the table of a gmatch.
** One call of find, match, gsub, or of what gmatch gives. A capture of length
** OPEN has no end yet, one of POSITION is a number. */
typedef struct matcher {
    la_guard guard;
    const char *start, *end;            /* of the subject */
    const char *pattern_end;
    int depth;                          /* calls of match that may follow */
    int level;                          /* captures, open ones too */
    struct {
        const char *start;
        ptrdiff_t length;
    } capture[MOST_CAPTURES];
} matcher;

static const char *match(matcher *m, const char *s, const char *p);

static int fail(matcher *m, const char *text)
{
    return luaL_error(m->guard.L, "malformed pattern (%s)", text);
}

/* ---- classes ---- */

/* Behind the class that begins at p. */
static const char *class_end(matcher *m, const char *p)
{
    if (*p++ == '%') {
        if (p == m->pattern_end) fail(m, "ends with '%'");
        return p + 1;
    }
    if (p[-1] != '[') return p;
    if (p < m->pattern_end && *p == '^') p++;
    do {                                /* a ']' that comes first is itself */
        if (p == m->pattern_end) fail(m, "missing ']'");
        if (*p++ == '%' && p < m->pattern_end) p++;
    } while (p == m->pattern_end || *p != ']');
    return p + 1;
}

/* %a and its kin; a capital is what the small letter is not, and any other
** character stands for itself. */
static bool in_class(int c, int class)
{
    bool yes;
    switch (class | 0x20) {
    case 'a': yes = la_is_alpha(c); break;
    case 'c': yes = la_is_control(c); break;
    case 'd': yes = la_is_digit(c); break;
    case 'g': yes = la_is_graph(c); break;
    case 'l': yes = la_is_lower(c); break;
    case 'p': yes = la_is_punct(c); break;
    case 's': yes = la_is_space(c); break;
    case 'u': yes = la_is_upper(c); break;
    case 'w': yes = la_is_alnum(c); break;
    case 'x': yes = la_hex_digit(c) >= 0; break;
    case 'z': yes = c == 0; break;      /* of older Luas, and of this one */
    default: return class == c;
    }
    return la_is_upper(class) ? !yes : yes;
}

/* [...] from p to the ']' at 'last'. */
static bool in_set(int c, const char *p, const char *last)
{
    bool yes = true;
    if (*++p == '^') {
        yes = false;
        p++;
    }
    for (; p < last; p++) {
        if (*p == '%') {
            p++;
            if (in_class(c, (unsigned char)*p)) return yes;
        } else if (p[1] == '-' && p + 2 < last) {
            p += 2;
            if ((unsigned char)p[-2] <= c && c <= (unsigned char)*p) return yes;
        } else if ((unsigned char)*p == c) {
            return yes;
        }
    }
    return !yes;
}

/* Does one character fit the class from p to 'end'? */
static bool pattern_fits(matcher *m, const char *s, const char *p,
                         const char *end)
{
    if (s >= m->end) return false;
    int c = (unsigned char)*s;
    la_guard_steps(&m->guard, 1 + (end - p) / 16);
    switch (*p) {
    case '.': return true;
    case '%': return in_class(c, (unsigned char)p[1]);
    case '[': return in_set(c, p, end - 1);
    default: return (unsigned char)*p == c;
    }
}

/* ---- items ---- */

/* %bxy; p stands at x. */
static const char *balance(matcher *m, const char *s, const char *p)
{
    if (p >= m->pattern_end - 1) fail(m, "missing arguments to '%b'");
    if (s >= m->end || *s != *p) return NULL;
    int open = 1;
    while (++s < m->end) {
        la_guard_steps(&m->guard, 1);
        if (*s == p[1]) {
            if (--open == 0) return s + 1;
        } else if (*s == *p) {
            open++;
        }
    }
    return NULL;
}

/* %f[set]; p stands at '['. */
static bool frontier(matcher *m, const char *s, const char *p, const char *end)
{
    int before = s == m->start ? 0 : (unsigned char)s[-1];
    int after = s < m->end ? (unsigned char)*s : 0;
    return !in_set(before, p, end - 1) && in_set(after, p, end - 1);
}

/* Takes as many as fit, then fewer, until the rest matches. */
static const char *expand_most(matcher *m, const char *s, const char *p,
                               const char *end)
{
    ptrdiff_t i = 0;
    while (pattern_fits(m, s + i, p, end)) i++;
    for (; i >= 0; i--) {
        const char *after = match(m, s + i, end + 1);
        if (after) return after;
    }
    return NULL;
}

/* The other way round. */
static const char *expand_least(matcher *m, const char *s, const char *p,
                                const char *end)
{
    for (;;) {
        const char *after = match(m, s, end + 1);
        if (after) return after;
        if (!pattern_fits(m, s, p, end)) return NULL;
        s++;
    }
}

/* A capture that stays open only while the rest matches. */
static const char *open_capture(matcher *m, const char *s, const char *p,
                                ptrdiff_t what)
{
    if (m->level >= MOST_CAPTURES)
        luaL_error(m->guard.L, "too many captures");
    m->capture[m->level].start = s;
    m->capture[m->level].length = what;
    m->level++;
    const char *after = match(m, s, p);
    if (!after) m->level--;
    return after;
}

static const char *close_capture(matcher *m, const char *s, const char *p)
{
    int l = m->level - 1;
    while (l >= 0 && m->capture[l].length != OPEN) l--;
    if (l < 0) luaL_error(m->guard.L, "invalid pattern capture");
    m->capture[l].length = s - m->capture[l].start;
    const char *after = match(m, s, p);
    if (!after) m->capture[l].length = OPEN;
    return after;
}

/* %1 to %9: behind what the capture holds; NULL where that is not next. */
static const char *again(matcher *m, const char *s, int digit)
{
    int l = digit - '1';
    if (l < 0 || l >= m->level || m->capture[l].length == OPEN)
        luaL_error(m->guard.L, "invalid capture index %%%d", l + 1);
    ptrdiff_t n = m->capture[l].length;
    if (n == POSITION) n = 0;
    la_guard_bytes(&m->guard, (size_t)n);
    return m->end - s >= n && memcmp(m->capture[l].start, s, (size_t)n) == 0
        ? s + n : NULL;
}

/* The items of patterns that are more than one character each.
**
** Those that begin with '%' and are no class: true, and *s and *p behind what
** they match (*s NULL: nothing). */
static bool escaped(matcher *m, const char **s, const char **p)
{
    const char *q = *p + 1, *end;
    if (q >= m->pattern_end) return false;
    if (*q == 'b') {
        *s = balance(m, *s, q + 1);
        *p = q + 3;
    } else if (*q == 'f') {
        if (++q >= m->pattern_end || *q != '[')
            luaL_error(m->guard.L, "missing '[' after '%%f' in pattern");
        end = class_end(m, q);
        if (!frontier(m, *s, q, end)) *s = NULL;
        *p = end;
    } else if (*q >= '0' && *q <= '9') {
        *s = again(m, *s, (unsigned char)*q);
        *p = q + 1;
    } else {
        return false;
    }
    return true;
}

/* A class and the sign behind it. Gives what the rest matches, or sets *s and
** *p to go on there. */
static bool pattern_repeated(matcher *m, const char **s, const char **p,
                             const char **after)
{
    const char *end = class_end(m, *p), *rest;
    char sign = end < m->pattern_end ? *end : '\0';
    bool one = sign != '*' && sign != '-' && pattern_fits(m, *s, *p, end);
    *after = NULL;
    switch (sign) {
    case '*': *after = expand_most(m, *s, *p, end); return true;
    case '-': *after = expand_least(m, *s, *p, end); return true;
    case '+':
        if (one) *after = expand_most(m, *s + 1, *p, end);
        return true;
    case '?':
        rest = one ? match(m, *s + 1, end + 1) : NULL;
        *after = rest;
        *p = end + 1;
        return rest != NULL;
    default:
        *s += one;
        *p = end;
        return !one;
    }
}

/* Behind what the pattern from p on matches at s, or NULL. */
static const char *match(matcher *m, const char *s, const char *p)
{
    const char *after = NULL;
    if (m->depth-- == 0) luaL_error(m->guard.L, "pattern too complex");
    la_check_stack(m->guard.L, m->guard.state);
    for (;;) {
        la_guard_steps(&m->guard, 1);
        if (p == m->pattern_end) {
            after = s;
            break;
        }
        if (*p == '(') {
            bool position = p + 1 < m->pattern_end && p[1] == ')';
            after = position ? open_capture(m, s, p + 2, POSITION)
                             : open_capture(m, s, p + 1, OPEN);
            break;
        }
        if (*p == ')') {
            after = close_capture(m, s, p + 1);
            break;
        }
        if (*p == '$' && p + 1 == m->pattern_end) {
            after = s == m->end ? s : NULL;
            break;
        }
        if (*p == '%' && escaped(m, &s, &p)) {
            if (!s) break;
            continue;
        }
        if (pattern_repeated(m, &s, &p, &after)) break;
    }
    m->depth++;
    return after;
}

/* ---- captures ---- */

/* Subject and pattern stay on the stack, or in a table of gmatch. */
static void pattern_begin(matcher *m, lua_State *L, const char *name,
                          const char *s, size_t ns, const char *p, size_t np)
{
    m->guard = la_guard_begin(L, name);
    m->start = s;
    m->end = s + ns;
    m->pattern_end = p + np;
    m->depth = DEEPEST;
    m->level = 0;
}

/* A new attempt: captures of the one before are forgotten. */
static const char *try_at(matcher *m, const char *s, const char *p)
{
    m->level = 0;
    m->depth = DEEPEST;
    return match(m, s, p);
}

/* Capture l; the whole match for the first where there are none. */
static void push_capture(matcher *m, int l, const char *s, const char *after)
{
    lua_State *L = m->guard.L;
    if (l >= m->level) {
        if (l > 0) luaL_error(L, "invalid capture index %%%d", l + 1);
        lua_pushlstring(L, s, (size_t)(after - s));
        return;
    }
    ptrdiff_t n = m->capture[l].length;
    if (n == OPEN) luaL_error(L, "unfinished capture");
    if (n == POSITION)
        lua_pushinteger(L, m->capture[l].start - m->start + 1);
    else
        lua_pushlstring(L, m->capture[l].start, (size_t)n);
}

/* 's' NULL: the captures alone. */
static int push_captures(matcher *m, const char *s, const char *after)
{
    int n = m->level == 0 && s ? 1 : m->level;
    luaL_checkstack(m->guard.L, n, "too many captures");
    for (int l = 0; l < n; l++) push_capture(m, l, s, after);
    return n;
}

/* ---- find and match ---- */

/* Bytes without a meaning of their own. A comparison may be as long as the
** text. */
static const char *find_plain(matcher *m, const char *s, const char *text,
                              size_t n)
{
    while ((size_t)(m->end - s) >= n) {
        if (n == 0) return s;
        const char *from = s;
        s = memchr(s, *text, (size_t)(m->end - s) - n + 1);
        const char *to = s ? s : m->end;
        la_guard_steps(&m->guard, (to - from) / 1024);
        if (!s) return NULL;
        la_guard_bytes(&m->guard, n);
        if (memcmp(s, text, n) == 0) return s;
        s++;
    }
    return NULL;
}

/* Is there anything in it that find would not look for literally? */
static bool has_specials(const char *p, size_t n)
{
    static const char specials[] = "^$*+?.([%-";
    for (size_t i = 0; i < n; i++)
        if (p[i] && strchr(specials, p[i])) return true;
    return false;
}

/* Start, from 0, that the third argument gives from 1 or from the end. */
static size_t first_position(lua_State *L, size_t n)
{
    lua_Integer i = luaL_optinteger(L, 3, 1);
    if (i > 0) return (size_t)i - 1;
    if (i == 0 || i < -(lua_Integer)n) return 0;
    return n - (size_t)-i;
}

/* find and match: at each position, unless the pattern is anchored. */
static int pattern_search(lua_State *L, bool find)
{
    size_t ns, np;
    matcher m;
    const char *s = luaL_checklstring(L, 1, &ns);
    const char *p = luaL_checklstring(L, 2, &np);
    size_t first = first_position(L, ns);
    pattern_begin(&m, L, find ? "find" : "match", s, ns, p, np);
    if (first > ns) {
        luaL_pushfail(L);
        return 1;
    }
    const char *at = s + first, *after = NULL;
    if (find && (lua_toboolean(L, 4) || !has_specials(p, np))) {
        at = find_plain(&m, at, p, np);
        after = at ? at + np : NULL;
    } else {
        bool anchor = np > 0 && *p == '^';
        while (!(after = try_at(&m, at, p + anchor)) && at < m.end && !anchor)
            at++;
    }
    if (!after) {
        luaL_pushfail(L);
        return 1;
    }
    if (!find) return push_captures(&m, at, after);
    lua_pushinteger(L, at - s + 1);
    lua_pushinteger(L, after - s);
    return 2 + push_captures(&m, NULL, NULL);
}

/* find(s, pattern[, init[, plain]]): first, last and captures. */
static int guarded_find(lua_State *L) { return pattern_search(L, true); }
/* match(s, pattern[, init]): captures, or the whole match. */
static int guarded_match(lua_State *L) { return pattern_search(L, false); }

/* ---- gmatch ---- */

typedef struct walk {
    const char *s, *p, *last;       /* where to go on; where a match ended */
    matcher m;
} walk;

/* Upvalues: the state, then a table of subject, pattern and walk. */
static int next_match(lua_State *L)
{
    lua_rawgeti(L, lua_upvalueindex(LA_GUARD_OWN), 3);
    walk *w = lua_touserdata(L, -1);
    w->m.guard = la_guard_begin(L, "gmatch");
    for (const char *s = w->s; s <= w->m.end; s++) {
        const char *after = try_at(&w->m, s, w->p);
        if (!after || after == w->last) continue;
        w->s = w->last = after;
        return push_captures(&w->m, s, after);
    }
    return 0;
}

/* gmatch(s, pattern[, init]): a walk, which next_match goes on with. */
static int guarded_gmatch(lua_State *L)
{
    size_t ns, np;
    const char *s = luaL_checklstring(L, 1, &ns);
    const char *p = luaL_checklstring(L, 2, &np);
    size_t first = first_position(L, ns);
    lua_settop(L, 2);
    lua_createtable(L, 3, 0);
    walk *w = lua_newuserdatauv(L, sizeof *w, 0);
    pattern_begin(&w->m, L, "gmatch", s, ns, p, np);
    w->s = s + (first > ns ? ns + 1 : first);
    w->p = p;
    w->last = NULL;
    lua_rawseti(L, 3, 3);
    lua_pushvalue(L, 1);
    lua_rawseti(L, 3, 1);
    lua_pushvalue(L, 2);
    lua_rawseti(L, 3, 2);
    la_push_guarded(L, next_match);
    return 1;
}

/* ---- gsub ---- */

/* The text at 3, with %0 to %9 for captures. */
static void add_text(matcher *m, luaL_Buffer *b, const char *s,
                     const char *after)
{
    size_t n;
    lua_State *L = m->guard.L;
    const char *text = lua_tolstring(L, 3, &n), *end = text + n;
    la_guard_bytes(&m->guard, n);
    for (const char *q; (q = memchr(text, '%', (size_t)(end - text)));
         text = q + 1) {
        luaL_addlstring(b, text, (size_t)(q++ - text));
        if (q < end && *q == '%') {
            luaL_addchar(b, '%');
        } else if (q < end && *q == '0') {
            luaL_addlstring(b, s, (size_t)(after - s));
        } else if (q < end && *q >= '1' && *q <= '9') {
            push_capture(m, *q - '1', s, after);
            luaL_tolstring(L, -1, NULL);
            lua_remove(L, -2);
            luaL_addvalue(b);
        } else {
            luaL_error(L, "invalid use of '%%' in replacement string");
        }
    }
    luaL_addlstring(b, text, (size_t)(end - text));
}

/* Adds the replacement of a match to the result. */
static void add_value(matcher *m, luaL_Buffer *b, const char *s,
                      const char *after)
{
    lua_State *L = m->guard.L;
    switch (lua_type(L, 3)) {
    case LUA_TFUNCTION:
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(m, s, after), 1);
        break;
    case LUA_TTABLE:
        push_capture(m, 0, s, after);
        lua_gettable(L, 3);
        break;
    default:
        add_text(m, b, s, after);
        return;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(b, s, (size_t)(after - s));
    } else if (lua_isstring(L, -1)) {
        luaL_addvalue(b);
    } else {
        luaL_error(L, "invalid replacement value (a %s)",
                   luaL_typename(L, -1));
    }
}

/* gsub(s, pattern, replacement[, n]): an empty match right behind a match does
** not count. */
static int guarded_gsub(lua_State *L)
{
    size_t ns, np;
    matcher m;
    luaL_Buffer b;
    const char *s = luaL_checklstring(L, 1, &ns), *last = NULL;
    const char *p = luaL_checklstring(L, 2, &np);
    int type = lua_type(L, 3);
    luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING
                     || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                     "string/function/table");
    lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)ns + 1), n = 0;
    bool anchor = np > 0 && *p == '^';
    pattern_begin(&m, L, "gsub", s, ns, p, np);
    luaL_buffinit(L, &b);
    while (n < most) {
        const char *after = try_at(&m, s, p + anchor);
        if (after && after != last) {
            n++;
            add_value(&m, &b, s, after);
            s = last = after;
        } else if (s < m.end) {
            luaL_addchar(&b, *s++);
        } else {
            break;
        }
        if (luaL_bufflen(&b) > LA_LONGEST)
            return luaL_error(L, "gsub: resulting string too large");
        if (anchor) break;
    }
    luaL_addlstring(&b, s, (size_t)(m.end - s));
    luaL_pushresult(&b);
    lua_pushinteger(L, n);
    return 2;
}

const luaL_Reg la_guarded_patterns[] = {
    {"find", guarded_find}, {"match", guarded_match},
    {"gmatch", guarded_gmatch}, {"gsub", guarded_gsub}, {NULL, NULL}
};
