/*
** la.load of Torch7's files. A value is a tag and what it says. Tables, objects
** and functions have a number, by which they are meant again later.
*/
#include "modules/torch7/lua/torch7.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "lua/lifetime/modes.h"

enum { NIL, NUMBER, STRING, TABLE, OBJECT, BOOLEAN, FUNCTION, OLD_FUNCTION,
       NUMBERED_FUNCTION };
enum { DEEPEST = 64, CLASS_NAME = 200 };

/* ---- errors ---- */

void la_torch7_check(la_torch7 *t, la_status status)
{
    char text[LA_ERROR_TEXT];
    if (status == LA_EIO) {
        strcpy(text, la_error_message());
        status = t->path_n
            ? la_error(LA_EIO, "%s, byte %lld: %s", t->path,
                       (long long)t->cursor.at, text)
            : la_error(LA_EIO, "byte %lld: %s", (long long)t->cursor.at, text);
    }
    la_load_check(t->L, &t->shown, status);
}

void la_torch7_fail(la_torch7 *t, const char *what)
{
    la_torch7_check(t, la_error(LA_EIO, "%s", what));
}

/* The key on the top of the stack joins the path. */
static void torch7_enter(la_torch7 *t)
{
    char shown[200];
    size_t n = 0;
    const char *s = "?";
    if (lua_type(t->L, -1) == LUA_TSTRING) s = lua_tolstring(t->L, -1, &n);
    else if (lua_isinteger(t->L, -1)) {
        lua_pushvalue(t->L, -1);
        s = lua_tolstring(t->L, -1, &n);
        lua_pop(t->L, 1);
    } else n = 1;
    la_quote(s, n < 40 ? n : 40, shown, sizeof shown);
    n = strlen(shown);
    if (t->path_n + n + 2 > LA_TORCH7_PATH) n = 0;
    if (t->path_n && n) t->path[t->path_n++] = '.';
    memcpy(t->path + t->path_n, shown, n);
    t->path_n += n;
    t->path[t->path_n] = 0;
}

static void torch7_leave(la_torch7 *t, size_t n)
{
    t->path_n = n;
    t->path[n] = 0;
}

static int64_t torch7_int(la_torch7 *t)
{
    int64_t v = 0;
    la_torch7_check(t, la_cursor_int(&t->cursor, &v));
    return v;
}

/* A count of what has 'least' bytes each. */
static int64_t torch7_count(la_torch7 *t, int64_t least)
{
    int64_t n = torch7_int(t);
    if (n < 0 || n > la_cursor_left(&t->cursor) / least)
        la_torch7_fail(t, "a length of more bytes than are left");
    return n;
}

/* ---- values ---- */

/* Numbers of Lua 5.1 that are whole are integers here. */
static void push_number(la_torch7 *t)
{
    double v = 0;
    la_torch7_check(t, la_cursor_double(&t->cursor, &v));
    bool whole = v == floor(v) && fabs(v) < 9007199254740992.0;
    if (whole && !(v == 0 && signbit(v)))
        lua_pushinteger(t->L, (lua_Integer)v);
    else lua_pushnumber(t->L, v);
}

static void push_string(la_torch7 *t)
{
    size_t n = (size_t)torch7_count(t, 1);
    luaL_Buffer b;
    char *to = luaL_buffinitsize(t->L, &b, n);
    la_status status = la_cursor_bytes(&t->cursor, to, n);
    luaL_pushresultsize(&b, status ? 0 : n);
    la_torch7_check(t, status);
}

/* Objects that are being read are false, functions true. */
static void set_object(la_torch7 *t, int64_t index)
{
    lua_rawseti(t->L, t->objects, (lua_Integer)index);
}

/* Pairs into the table on the top. */
static void fill_table(la_torch7 *t)
{
    lua_State *L = t->L;
    int64_t n = torch7_count(t, t->cursor.text ? 4 : 8);
    for (int64_t i = 0; i < n; i++) {
        size_t path = t->path_n;
        la_torch7_push(t);
        if (lua_isnil(L, -1) || (lua_isnumber(L, -1)
                                 && lua_tonumber(L, -1) != lua_tonumber(L, -1)))
            la_torch7_fail(t, "a key that is nil or NaN");
        torch7_enter(t);
        la_torch7_push(t);
        if (luaL_testudata(L, -1, LA_BOX_NAME)) la_torch7_open_box(t);
        torch7_leave(t, path);
        lua_rawset(L, -3);
    }
}

/* The name of the class, behind a version in files of today. */
static size_t read_class(la_torch7 *t, char *name)
{
    for (int k = 0; k < 2; k++) {
        int64_t n = torch7_count(t, 1);
        if (n >= CLASS_NAME)
            la_torch7_fail(t, "the name of a class is too long");
        la_torch7_check(t, la_cursor_bytes(&t->cursor, name, (size_t)n));
        if (n < 2 || memcmp(name, "V ", 2)) return (size_t)n;
    }
    la_torch7_fail(t, "an object without a class");
    return 0;
}

/* An object that is a table: its fields, and the name of its class. */
static void push_object(la_torch7 *t, int64_t index)
{
    lua_State *L = t->L;
    char name[CLASS_NAME];
    size_t n = read_class(t, name);
    if (la_torch7_push_tensor(t, name, n)) {
        lua_pushvalue(L, -1);
        set_object(t, index);
        return;
    }
    la_torch7_push(t);
    if (!lua_istable(L, -1) || t->unused) {
        lua_newtable(L);
        lua_insert(L, -2);
        lua_setfield(L, -2, "__state");
    }
    lua_pushlstring(L, name, n);
    lua_setfield(L, -2, "__class");
    lua_pushvalue(L, -1);
    set_object(t, index);
}

/* A function: bytecode, which is passed over, and the table of its upvalues, in
** which there may be objects that are meant again. Pushes nil. */
static void push_function(la_torch7 *t)
{
    lua_State *L = t->L;
    bool unused = t->unused;
    int64_t n = torch7_count(t, 1);
    la_torch7_check(t, la_cursor_skip(&t->cursor, n));
    if (!unused) {
        lua_pushlstring(L, t->path, t->path_n);
        lua_pushliteral(L, "function");
        lua_rawset(L, t->skipped);
    }
    t->unused = true;
    la_torch7_push(t);
    t->unused = unused;
    lua_pop(L, 1);
    lua_pushnil(L);
}

/* Pushes the object of the index, if it is there: true. A function is nil. */
static bool push_known(la_torch7 *t, int64_t index)
{
    lua_State *L = t->L;
    if (lua_rawgeti(L, t->objects, (lua_Integer)index) == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    if (lua_type(L, -1) != LUA_TBOOLEAN) return true;
    if (!lua_toboolean(L, -1) && !t->unused)
        la_torch7_fail(t, "a cycle: it holds itself");
    lua_pop(L, 1);
    lua_pushnil(L);
    return true;
}

static void push_numbered(la_torch7 *t, int64_t tag)
{
    lua_State *L = t->L;
    int64_t index = torch7_int(t);
    if (push_known(t, index)) return;
    if (t->depth == DEEPEST) la_torch7_fail(t, "nested too deep");
    t->depth++;
    bool function = tag == NUMBERED_FUNCTION || tag == OLD_FUNCTION;
    lua_pushboolean(L, function);
    set_object(t, index);
    if (function) {
        push_function(t);
    } else if (tag == OBJECT) {
        push_object(t, index);
    } else {
        lua_newtable(L);
        fill_table(t);
        lua_pushvalue(L, -1);
        set_object(t, index);
    }
    t->depth--;
}

/* A function without a number can hold others, and no end. */
static void push_plain_function(la_torch7 *t)
{
    if (t->depth == DEEPEST) la_torch7_fail(t, "nested too deep");
    t->depth++;
    push_function(t);
    t->depth--;
}

void la_torch7_push(la_torch7 *t)
{
    lua_State *L = t->L;
    luaL_checkstack(L, 16, "nested too deep");
    int64_t tag = torch7_int(t);
    switch (tag) {
    case NIL: lua_pushnil(L); break;
    case NUMBER: push_number(t); break;
    case STRING: push_string(t); break;
    case BOOLEAN: lua_pushboolean(L, torch7_int(t) == 1); break;
    case FUNCTION: push_plain_function(t); break;
    case TABLE: case OBJECT: case OLD_FUNCTION: case NUMBERED_FUNCTION:
        push_numbered(t, tag);
        break;
    default: la_torch7_fail(t, "the tag of a value is damaged");
    }
}

/* ---- the reader ---- */

static int push_file(lua_State *L)
{
    la_torch7 *t = lua_touserdata(L, 1);
    int64_t longs = lua_tointeger(L, 2);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_newtable(L);
    t->L = L;
    t->objects = 2;
    t->skipped = 3;
    t->depth = 0;
    t->unused = false;
    torch7_leave(t, 0);
    la_load_check(L, &t->shown, la_cursor_open(&t->cursor, &t->file->in,
                                             (int)longs));
    la_torch7_push(t);
    if (luaL_testudata(L, -1, LA_BOX_NAME)) la_torch7_open_box(t);
    if (longs == 4 && la_cursor_left(&t->cursor))
        la_torch7_fail(t, "bytes behind the value");
    lua_pushvalue(L, t->skipped);
    return 2;
}

/* Functions that were left out are told to the host's log. */
static void log_functions(lua_State *L, const la_open_file *file, int skipped)
{
    char shown[2][200];
    lua_Integer n = 0;
    lua_pushnil(L);
    while (lua_next(L, skipped)) {
        const char *key = lua_tostring(L, -2);
        if (!n++) la_quote(key, strlen(key), shown[0], 200);
        lua_pop(L, 1);
    }
    if (n) la_log(la_runtime_here(), LA_LOG_WARNING, "%s: %lld functions of "
                  "'%s' were left out, as bytecode is never loaded: one is "
                  "'%s'", file->name, (long long)n,
                  la_quote(file->path, strlen(file->path), shown[1], 200),
                  shown[0]);
}

/* Nothing in the file says how many bytes its longs have: 8 today, 4 where
** Torch7 was built for 32 bits or for Windows. With 4 there must be one value
** and nothing else; where neither will do, the first error is the file's. */
static void push_values(lua_State *L, la_torch7 *t)
{
    int top = lua_gettop(L);
    for (int longs = 8; longs >= 4; longs -= 4) {
        lua_pushcfunction(L, push_file);
        lua_pushvalue(L, top);
        lua_pushinteger(L, longs);
        int code = lua_pcall(L, 2, 2, 0);
        if (code == LUA_OK) return;
        if (t->cursor.text || code != LUA_ERRRUN || longs == 4) break;
    }
    lua_settop(L, top + 1);
    lua_error(L);
}

static int push_torch7(lua_State *L, la_open_file *file)
{
    la_load_check(L, file, la_check_limit(file->in.size, file->limit));
    la_torch7 *t = lua_newuserdatauv(L, sizeof *t, 0);
    memset(t, 0, sizeof *t);
    t->file = file;
    t->shown = (la_open_file){.name = file->name, .path = file->path,
                              .in = {.fd = -1}};
    push_values(L, t);
    log_functions(L, file, lua_gettop(L));
    bool asked = lua_istable(L, file->options)
        && lua_getfield(L, file->options, "metadata") && lua_toboolean(L, -1);
    if (lua_istable(L, file->options)) lua_pop(L, 1);
    if (!asked) {
        lua_pop(L, 1);
        return 1;
    }
    lua_newtable(L);
    lua_insert(L, -2);
    return 3;
}

/* A table or an object of a small number comes first in most files. */
static la_status torch7_fits(const la_reader *in, bool *yes)
{
    char first[8] = {0};
    *yes = false;
    if (in->size < 8) return LA_OK;
    LA_TRY(la_reader_read(in, 0, first, 8));
    static const char table[8] = {3, 0, 0, 0, 1}, object[8] = {4, 0, 0, 0, 1};
    *yes = memcmp(first, table, 8) == 0 || memcmp(first, object, 8) == 0
        || memcmp(first, "3\n1\n", 4) == 0 || memcmp(first, "4\n1\n", 4) == 0;
    return LA_OK;
}

const la_loader la_loader_torch7 = {
    .extensions = "t7", .fits = torch7_fits, .push = push_torch7
};
