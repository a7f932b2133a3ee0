/*
** Lua states for hosts that have no Lua headers at hand (lunarray.h): made,
** closed, running text protected, with a print of the host's.
*/
#include <lualib.h>
#include <stdint.h>

#include "api/api.h"
#include "base/runtime/passage.h"
#include "lua/binding.h"
#include "lua/embed.h"
#include "lua/sandbox/guard.h"
#include "lua/sandbox/sandbox.h"
#include "lua/transform/autograd.h"
#include "lunarray.h"

/* ---- states ---- */

/* Runs protected, because it raises when memory is out. */
static int api_open_standard(lua_State *L)
{
    la_open_standard(L);
    return 0;
}

/* The standard library comes first, as in a program of Lua. */
static la_status api_open_trusted(lua_State *L, la_runtime *rt)
{
    LA_TRY(la_open_by(L, api_open_standard));
    return (la_status)la_openlibs_in(L, rt);
}

/* A state that 'status' says is open, or NULL after it is closed; the record
** stays that of the failure. */
static lua_State *api_opened(lua_State *L, la_status status,
                             const char *function)
{
    if (status && L) {
        la_error_note kept;
        la_error_keep(&kept);
        lua_close(L);
        la_error_restore(&kept);
    }
    return la_api_end(function, status) ? NULL : L;
}

LA_API lua_State *la_new_state(la_runtime *rt)
{
    lua_State *L = luaL_newstate();
    la_status status = L ? api_open_trusted(L, rt)
        : la_error(LA_ENOMEM, "a Lua state can't be made");
    return api_opened(L, status, "la_new_state");
}

LA_API lua_State *la_new_sandbox(const la_limits *limits)
{
    lua_State *L = luaL_newstate();
    la_status status = L ? (la_status)la_open_sandboxed(L, limits)
        : la_error(LA_ENOMEM, "a Lua state can't be made");
    return api_opened(L, status, "la_new_sandbox");
}

/* Closes any state, also one that a host made by itself; NULL is allowed, as
** for la_release. */
LA_API void la_close_state(lua_State *L)
{
    if (L) lua_close(L);
}

/* ---- running ---- */

/* A chunk that is to run: borrowed for the call. */
typedef struct api_script {
    const char *text, *name;
    size_t n;
} api_script;

/* Stack 1: the api_script as a light userdata. */
static int api_run_protected(lua_State *L)
{
    const api_script *s = lua_touserdata(L, 1);
    lua_pushfstring(L, "@%s", s->name ? s->name : "script");
    if (luaL_loadbufferx(L, s->text, s->n, lua_tostring(L, -1), "t"))
        return lua_error(L);
    lua_call(L, 0, 0);
    return 0;
}

/* Runs the chunk and translates what it raised. Only texts are loaded: a
** precompiled chunk could crash Lua. */
static la_status api_run(lua_State *L, const api_script *s)
{
    if (!L || (!s->text && s->n))
        return la_error(LA_EARG, "a Lua state and a text needed");
    if (!la_state_of(L))
        return la_error(LA_ESTATE, "the library was not opened in this state");
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    lua_pushcfunction(L, api_run_protected);
    lua_pushlightuserdata(L, (void *)(uintptr_t)s);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return LA_OK;
    /* The library's own record has no position in the script. */
    const char *text = la_error_of(L, -1);
    la_status status = la_error_status();
    if (text != la_error_text()) la_error(status, "%s", text);
    lua_pop(L, 1);
    return status;
}

LA_API int la_run_script(lua_State *L, const char *text, size_t n,
                         const char *name)
{
    api_script s = {text, name, n};
    bool opened = L && la_state_of(L);
    la_status status = api_run(L, &s);
    /* A script's error keeps its text. */
    return status && opened && (text || !n) ? status
        : la_api_end("la_run_script", status);
}

/* ---- texts ---- */

LA_API const char *la_push_text_of(lua_State *L, int index)
{
    if (L) return la_push_shown(L, index);
    la_error_clear();
    (void)la_error(LA_ESTATE, "la_push_text_of: a Lua state is needed");
    return NULL;
}

/* Receiver of what scripts print. A copy lives in an upvalue, so the host's own
** struct may be on its stack. */
typedef struct api_print {
    void (*print)(void *context, const char *text, size_t n);
    void *context;
} api_print;

/* print(...): one text, with tabs between its parts. */
static int api_print_line(lua_State *L)
{
    la_guard g = la_guard_begin(L, "print");
    int n = lua_gettop(L);
    luaL_Buffer line;
    size_t size;
    luaL_buffinit(L, &line);
    for (int k = 1; k <= n; k++) {
        if (k > 1) luaL_addchar(&line, '\t');
        la_push_shown(L, k);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    const char *text = lua_tolstring(L, -1, &size);
    la_guard_bytes(&g, size);
    const api_print *to = lua_touserdata(L, lua_upvalueindex(LA_GUARD_OWN));
    to->print(to->context, text, size);
    return 0;
}

/* Stack 1: the api_print to copy, as a light userdata. */
static int api_set_print_protected(lua_State *L)
{
    api_print *to = lua_newuserdatauv(L, sizeof *to, 0);
    *to = *(const api_print *)lua_touserdata(L, 1);
    la_push_guarded(L, api_print_line);
    lua_setglobal(L, "print");
    return 0;
}

/* Checks what a host could get wrong, then sets the global in protected mode,
** since the closure needs memory. */
static la_status api_set_print(lua_State *L, const api_print *to)
{
    if (!L || !to->print)
        return la_error(LA_EARG, "a Lua state and a function needed");
    if (!la_state_of(L))
        return la_error(LA_ESTATE, "the library was not opened in this state");
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    lua_pushcfunction(L, api_set_print_protected);
    lua_pushlightuserdata(L, (void *)(uintptr_t)to);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return LA_OK;
    return la_lua_error(L, "print");
}

LA_API int la_set_print(lua_State *L, void (*print)(void *context,
                        const char *text, size_t n), void *context)
{
    api_print to = {print, context};
    return la_api_end("la_set_print", api_set_print(L, &to));
}
