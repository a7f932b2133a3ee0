/*
** la.profile(f, ...): what f's operations take, by operation and by line
** (modules/profile/record.h). lua/profile.lua makes what is shown of it, by the
** functions of the record here.
**
** The record is to be closed while f runs, so that a profile ends on every way
** out of f, and an error keeps its traceback. f can't yield across it.
*/
#include "modules/profile/record.h"

#include <stdio.h>
#include <string.h>

#include "lua/binding.h"
#include "lua/embed.h"

#define RECORD_NAME "lunarray.profile"
/* So many single calls are kept: 40 MB at most. */
#define MOST_EVENTS ((int64_t)1 << 20)
/* Callers that are looked at for a line outside of the library's modules. */
enum { MOST_LEVELS = 24 };

typedef struct record {
    la_profile *profile;
    la_state *state;
    lua_State *thread;          /* runs la.profile, so it lives meanwhile */
} record;

/* ---- lines ---- */

/* Is the chunk one of the library's modules, embedded or on the path? */
static bool is_ours(const char *source)
{
    char name[64];
    const char *at = source + 1, *last = NULL;
    if (strncmp(at, "lunarray.", 9) == 0 && *source == '=') return true;
    while ((at = strstr(at, "lunarray/"))) last = at += 9;
    if (!last) return false;
    size_t n = strlen(last);
    if (n < 5 || n - 4 >= sizeof name || strcmp(last + n - 4, ".lua") != 0)
        return false;
    for (size_t i = 0; i < n - 4; i++) name[i] = last[i] == '/' ? '.' : last[i];
    name[n - 4] = 0;
    return la_is_embedded(name, strlen(name));
}

/* The innermost line of a script; of the library's modules where there is none
** around. Neither of the two functions of Lua allocates or raises. */
static bool profile_where(void *host, char *text, size_t n)
{
    const record *r = host;
    const la_state *s = r->state;
    lua_State *L = s->context.caller ? s->context.caller
                 : s->running ? s->running : r->thread;
    lua_Debug d;
    bool found = false;
    for (int level = 0; level < MOST_LEVELS; level++) {
        if (!lua_getstack(L, level, &d)) break;
        if (!lua_getinfo(L, "Sl", &d) || d.currentline <= 0) continue;
        bool ours = is_ours(d.source);
        if (ours && found) continue;
        snprintf(text, n, "%s:%d", d.short_src, d.currentline);
        found = true;
        if (!ours) break;
    }
    return found;
}

/* ---- reading ---- */

static record *check_record(lua_State *L)
{
    record *r = luaL_checkudata(L, 1, RECORD_NAME);
    if (!r->profile) luaL_error(L, "profile: it has not begun");
    return r;
}

static void set_seconds(lua_State *L, const char *key, int64_t nanoseconds)
{
    lua_pushnumber(L, (double)nanoseconds * 1e-9);
    lua_setfield(L, -2, key);
}

static void set_integer(lua_State *L, const char *key, int64_t i)
{
    lua_pushinteger(L, i);
    lua_setfield(L, -2, key);
}

/* record:rows(): a list of {name, kind, line, count, self, total, bytes_self,
** bytes}; a line is "file:12". */
static int record_rows(lua_State *L)
{
    static const char *const kinds[] = {"operation", "gradient", "fused"};
    const record *r = check_record(L);
    int64_t n = la_profile_sums_of(r->profile).rows;
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        const la_profile_row *row = la_profile_row_at(r->profile, i);
        lua_createtable(L, 0, 8);
        lua_pushstring(L, row->name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, kinds[row->kind]);
        lua_setfield(L, -2, "kind");
        lua_pushstring(L, la_profile_line_text(r->profile, row->line));
        lua_setfield(L, -2, "line");
        set_integer(L, "count", row->count);
        set_seconds(L, "self", row->self);
        set_seconds(L, "total", row->total);
        set_integer(L, "bytes_self", row->bytes_self);
        set_integer(L, "bytes", row->bytes);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* record:event(i): its row, depth, begin and duration in microseconds, bytes,
** and the bytes in use since the start; nothing past the last. */
static int record_event(lua_State *L)
{
    const record *r = check_record(L);
    lua_Integer i = luaL_checkinteger(L, 2);
    if (i < 1 || i > la_profile_sums_of(r->profile).events) return 0;
    const la_profile_event *e = la_profile_event_at(r->profile, i - 1);
    lua_pushinteger(L, e->row + 1);
    lua_pushinteger(L, e->depth);
    lua_pushnumber(L, (double)e->begun * 1e-3);
    lua_pushnumber(L, (double)e->took * 1e-3);
    lua_pushinteger(L, e->bytes);
    lua_pushinteger(L, e->used);
    return 6;
}

/* record:sums(): seconds from start to end, single calls that are kept, those
** that only rows have, those that were lost. */
static int record_sums(lua_State *L)
{
    la_profile_sums sums = la_profile_sums_of(check_record(L)->profile);
    lua_pushnumber(L, (double)sums.took * 1e-9);
    lua_pushinteger(L, sums.events);
    lua_pushinteger(L, sums.dropped);
    lua_pushinteger(L, sums.lost);
    return 4;
}

/* ---- running ---- */

static int record_close(lua_State *L)
{
    record *r = luaL_checkudata(L, 1, RECORD_NAME);
    if (r->profile) la_profile_stop(r->profile);
    return 0;
}

static int record_gc(lua_State *L)
{
    record *r = luaL_checkudata(L, 1, RECORD_NAME);
    if (r->profile) la_profile_stop(r->profile);
    la_profile_free(r->profile);
    r->profile = NULL;
    return 0;
}

static void push_metatable(lua_State *L)
{
    static const la_function methods[] = {
        {"rows", record_rows, 1}, {"event", record_event, 2},
        {"sums", record_sums, 1}, {NULL, NULL, 0}};
    if (!la_new_metatable(L, RECORD_NAME, "a profile's metatable is locked"))
        return;
    la_set_event(L, "__gc", record_gc);
    la_set_event(L, "__close", record_close);
    la_set_methods(L, methods);
}

/* la.profile(f, ...): what was measured, then f's results. */
static int fn_profile(lua_State *L)
{
    la_state *s = la_enter(L);
    int n = lua_gettop(L);
    if (s->sandboxed)
        return luaL_error(L, "profile: not available in a sandbox");
    la_check_callable(L, 1, "profile");
    record *r = lua_newuserdatauv(L, sizeof *r, 0);
    *r = (record){NULL, s, L};
    push_metatable(L);
    la_take_metatable(L);
    lua_insert(L, 1);
    lua_toclose(L, 1);
    LA_CHECK(L, "profile", la_profile_start(profile_where, r, MOST_EVENTS,
                                            &r->profile));
    lua_call(L, n - 1, LUA_MULTRET);
    la_profile_stop(r->profile);
    luaL_checkstack(L, 4, "too many results");
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.profile");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "new");
    lua_replace(L, -2);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_insert(L, 2);
    return lua_gettop(L) - 1;
}

static const la_function functions[] = {
    {"profile", fn_profile, LA_MANY}, {NULL, NULL, 0}
};

const la_module la_module_profile = {functions, NULL, NULL};
