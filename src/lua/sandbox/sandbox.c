/*
** Lua's own library for untrusted scripts: what of it stays.
**
** Taken away or replaced is whatever reaches files, programs and other code
** (io, package, loadfile, os but its clocks), loads bytecode (which can crash
** the interpreter), looks into functions (debug), steers the collector, writes
** to the host's output, or shows an address (tostring, string.format,
** math.randomseed); and, so that limits hold, what runs long in C or keeps an
** error to itself (lua/sandbox/guard.h).
*/
#include "lua/sandbox/sandbox.h"

#include <lualib.h>
#include <stdbool.h>
#include <string.h>

#include "base/os/os.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "base/runtime/token.h"
#include "lua/sandbox/guard.h"
#include "lunarray.h"

/* ---- replacements ---- */

/* collectgarbage("count") */
static int count_memory(lua_State *L)
{
    if (strcmp(luaL_optstring(L, 1, "collect"), "count") != 0)
        return luaL_error(L, "collectgarbage: only \"count\" is available in a "
                          "sandbox");
    lua_pushnumber(L, lua_gc(L, LUA_GCCOUNT, 0)
                   + lua_gc(L, LUA_GCCOUNTB, 0) / 1024.0);
    return 1;
}

/* Would Lua show the address of what stands at 'index'? */
static bool has_address(lua_State *L, int index)
{
    switch (lua_type(L, index)) {
    case LUA_TNIL: case LUA_TBOOLEAN: case LUA_TNUMBER: case LUA_TSTRING:
        return false;
    default:
        break;
    }
    if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) return true;
    lua_pop(L, 1);
    return false;
}

void la_push_text(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    if (!has_address(L, index))
        luaL_tolstring(L, index, NULL);
    else if (luaL_getmetafield(L, index, "__name") != LUA_TSTRING)
        lua_pushstring(L, luaL_typename(L, index));
}

const char *la_push_shown(lua_State *L, int index)
{
    la_state *s = la_state_of(L);
    if (!s || !s->sandboxed) return luaL_tolstring(L, index, NULL);
    la_push_text(L, index);
    return lua_tostring(L, -1);
}

/* tostring(value) */
static int text_of(lua_State *L)
{
    luaL_checkany(L, 1);
    la_push_text(L, 1);
    return 1;
}

/* Raises for what differs on every machine, so that a state in lockstep has
** none of it. */
static int refuse_in_lockstep(lua_State *L, const char *name, const char *why)
{
    return la_raise(L, name, la_error(LA_ESUPPORT, "a state in lockstep %s",
                                      why));
}

/* math.randomseed(x, y): Lua's takes by itself, and tells, a seed part of which
** is an address; a script can work it out from a few numbers, too. */
static int sandbox_seed(lua_State *L)
{
    lua_Integer own[2] = {0, 0};
    la_state *s = la_state_of(L);
    if (lua_isnone(L, 1)) {
        if (s && s->context.lockstep)
            return refuse_in_lockstep(L, "math.randomseed", "takes no seed from"
                                      " the system: give one as argument");
        la_os_random(own, sizeof own);
        lua_settop(L, 0);
        lua_pushinteger(L, own[0]);
        lua_pushinteger(L, own[1]);
    }
    lua_pushvalue(L, lua_upvalueindex(LA_GUARD_OWN));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 0);
    return 0;
}

/* math.random begins with the runtime's seed where the host gave one or the
** bits have to be the same everywhere; what Lua began with is forgotten. */
static void begin_random(lua_State *L)
{
    const la_runtime *rt = la_runtime_here();
    bool fixed = rt->seed || (rt->flags & LA_DETERMINISTIC);
    lua_getglobal(L, LUA_MATHLIBNAME);
    lua_getfield(L, -1, "randomseed");
    if (fixed)
        lua_pushinteger(L,
                        (lua_Integer)la_state_of(L)->context.generator.seed);
    lua_call(L, fixed, 0);
    lua_pop(L, 1);
}

static int no_time(lua_State *L)
{
    return refuse_in_lockstep(L, "os.time", "has no clock");
}

static int no_clock(lua_State *L)
{
    return refuse_in_lockstep(L, "os.clock", "has no clock");
}

/* ---- closing ---- */

/* The functions of the table on the top that are replaced. */
static void sandbox_replace(lua_State *L, const luaL_Reg *list)
{
    for (; list->name; list++) {
        lua_getfield(L, -1, list->name);
        la_push_guarded(L, list->func);
        lua_setfield(L, -2, list->name);
    }
}

/* Fields of the table on the top become nil. */
static void sandbox_clear(lua_State *L, const char *const *names)
{
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
}

/* require stays for what is loaded or preloaded; the table that it looks in is
** its upvalue, and reached by nothing else. */
static void close_package(lua_State *L)
{
    static const char *const gone[] = {"loadlib", "searchpath", "path",
                                       "cpath", NULL};
    lua_getglobal(L, LUA_LOADLIBNAME);
    sandbox_clear(L, gone);
    lua_getfield(L, -1, "searchers");
    lua_createtable(L, 1, 0);
    lua_rawgeti(L, -2, 1);
    lua_rawseti(L, -2, 1);
    lua_setfield(L, -3, "searchers");
    lua_pop(L, 2);
}

/* Keeps only the clocks of os, in a table of its own: the old one may be held.
** A runtime in lockstep for good has none that go. */
static void close_os(lua_State *L)
{
    static const struct { const char *name; lua_CFunction stopped; } kept[] = {
        {"time", no_time}, {"clock", no_clock}, {"difftime", NULL}};
    bool goes = !(la_runtime_here()->flags & LA_DETERMINISTIC);
    lua_getglobal(L, LUA_OSLIBNAME);
    lua_createtable(L, 0, 3);
    for (int k = 0; k < 3; k++) {
        if (goes || !kept[k].stopped) lua_getfield(L, -2, kept[k].name);
        else lua_pushcfunction(L, kept[k].stopped);
        lua_setfield(L, -2, kept[k].name);
    }
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, LUA_OSLIBNAME);
    lua_pop(L, 1);
    lua_setglobal(L, LUA_OSLIBNAME);
    lua_pop(L, 1);
}

/* The replacements of a library that is a global table: all have just been
** opened. */
static void replace_in(lua_State *L, const char *library, const luaL_Reg *list)
{
    lua_getglobal(L, library);
    sandbox_replace(L, list);
    lua_pop(L, 1);
}

/* Lua's functions stay reachable as upvalues of what replaces them alone. */
static void replace_all(lua_State *L)
{
    static const luaL_Reg globals[] = {
        {"collectgarbage", count_memory}, {"tostring", text_of}, {NULL, NULL}};
    static const luaL_Reg maths[] = {{"randomseed", sandbox_seed},
                                     {NULL, NULL}};
    lua_pushglobaltable(L);
    sandbox_replace(L, globals);
    sandbox_replace(L, la_guarded_calls);
    lua_pop(L, 1);
    replace_in(L, LUA_STRLIBNAME, la_guarded_strings);
    replace_in(L, LUA_STRLIBNAME, la_guarded_patterns);
    replace_in(L, LUA_TABLIBNAME, la_guarded_tables);
    replace_in(L, LUA_COLIBNAME, la_guarded_coroutines);
    replace_in(L, LUA_UTF8LIBNAME, la_guarded_utf8);
    replace_in(L, LUA_MATHLIBNAME, maths);
    begin_random(L);
}

/* io and debug are not opened, and taken away where the host has opened them.
** string.dump goes as well: bytecode is not checked when it is loaded. */
int la_close_unsafe(lua_State *L)
{
    static const luaL_Reg libs[] = {
        {LUA_GNAME, luaopen_base}, {LUA_LOADLIBNAME, luaopen_package},
        {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
        {LUA_OSLIBNAME, luaopen_os}, {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math}, {LUA_UTF8LIBNAME, luaopen_utf8}};
    static const char *const functions[] = {"dofile", "loadfile", "print",
        "warn", NULL};
    static const char *const modules[] = {"io", "debug", "package", NULL};
    static const char *const bytecode[] = {"dump", NULL};
    for (size_t k = 0; k < sizeof(libs) / sizeof(libs[0]); k++) {
        luaL_requiref(L, libs[k].name, libs[k].func, 1);
        lua_pop(L, 1);
    }
    close_package(L);
    close_os(L);
    replace_all(L);
    lua_getglobal(L, LUA_STRLIBNAME);
    sandbox_clear(L, bytecode);
    lua_pushglobaltable(L);
    sandbox_clear(L, functions);
    sandbox_clear(L, modules);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    sandbox_clear(L, modules);
    return 0;
}

/* ---- memory ---- */

/* Lua's allocations go through this, until its last block is freed: by whatever
** thread closes the state, with the token that the state had. That is after the
** state has left its runtime, which may be gone: as tokens, this belongs to
** none, and its block is the default one's. Sizes are those that Lua keeps, so
** that every byte charged is given back. */
typedef struct counted {
    lua_Alloc fn;
    void *context, *last;       /* the host's; the state's own block */
    la_token *token;
    la_pulse pulse;
    la_stacks stacks;
} counted;

/* Bytes of a string's header in Lua: they depend on the machine's pointers, and
** fuel may not. */
#define STRING_HEADER (2 * sizeof(void *) + 9)

/* lua_Alloc: of a new block 'before' is the type of its object.
** NULL above the limit: Lua collects garbage then and tries again. Strings that
** are too long are refused as they are made. */
static void *sandbox_allocate(void *context, void *block, size_t before,
                              size_t after)
{
    counted *c = context;
    size_t have = block ? before : 0;
    bool string = !block && before == LUA_TSTRING;
    if (string && after > LA_LONGEST + 64) {
        la_error(LA_ENOMEM, "script: not enough memory (a string of %zu bytes;"
                 " a sandbox has none above %zu)", after, LA_LONGEST);
        return NULL;
    }
    if (after > have
        && !la_stacks_allow(&c->pulse, block, before, after)) {
        la_error(LA_ENOMEM, "script: stack overflow");
        return NULL;
    }
    if (after > have && la_token_charge_lua(c->token, after - have))
        return NULL;
    size_t length = after > STRING_HEADER ? after - STRING_HEADER : 0;
    if (after > have)
        la_pulse_block(&c->pulse, string, string ? length : after);
    void *fresh = c->fn(c->context, block, before, after);
    if (after > have && !fresh) la_token_uncharge_lua(c->token, after - have);
    if (after < have) la_token_uncharge_lua(c->token, have - after);
    if (fresh || after == 0)
        la_stacks_note(&c->pulse, block, before, after, fresh);
    if (after == 0 && block == c->last) {
        la_token_release(c->token);
        la_raw_free(&la_default_runtime, c, sizeof *c);
    }
    return fresh;
}

/* The main thread is the first part of the state's own block, the last that
** lua_close frees. */
la_status la_count_memory(lua_State *L, size_t limit)
{
    void *context;
    lua_Alloc fn = lua_getallocf(L, &context);
    la_state *s = la_state_of(L);
    la_token *k = s->context.token;
    if (fn == sandbox_allocate) {
        la_token_set_cap(k, limit);
        return LA_OK;
    }
    counted *c = la_raw_alloc(&la_default_runtime, sizeof *c);
    if (!c) return la_error(LA_ENOMEM, "not enough memory");
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    void *last = lua_getextraspace(lua_tothread(L, -1));
    lua_pop(L, 1);
    *c = (counted){fn, context, last, la_token_retain(k),
                   {NULL, LA_PULSE_MOST, 0, &c->stacks},
                   {.often = LA_PULSE_MOST}};
    s->pulse = &c->pulse;
    size_t now = ((size_t)lua_gc(L, LUA_GCCOUNT) << 10)
        + (size_t)lua_gc(L, LUA_GCCOUNTB);
    la_token_charge_lua(k, now);
    la_token_set_cap(k, limit);
    lua_setallocf(L, sandbox_allocate, c);
    return LA_OK;
}
