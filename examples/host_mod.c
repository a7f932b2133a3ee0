/*
** A game with mods that nobody has read. Each runs in a sandbox of its own:
** memory of Lua and tensors together, fuel for every frame, which ends a mod at
** the same instruction on every machine, and a deadline as the last resort. A
** frame goes on whatever a mod does; a mod that was stopped is switched off.
**
**     make examples && build/examples/host_mod
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>
#include <stdio.h>

enum { MODS = 6, FRAMES = 30 };

typedef struct mod {
    const char *name, *script;
    lua_State *L;
    la_token *token;
    int frames;             /* that it has finished */
    bool off;
} mod;

/* Each gives the game a function frame(n). */
static mod mods[MODS] = {
    {.name = "weather", .script =
        "local wind = lunarray.zeros(64, 64)\n"
        "function frame(n) wind:add_(lunarray.ones(64, 64), {alpha = 0.1})\n"
        "  return wind:mean():item() end"},
    {.name = "stubborn", .script =
        "function frame(n) while true do\n"
        "  pcall(function() while true do end end) end end"},
    {.name = "greedy", .script =
        "local kept = {}\n"
        "function frame(n) for i = 1, 16 do\n"
        "  kept[#kept + 1] = lunarray.ones(1 << 16) end return #kept end"},
    {.name = "pattern", .script =
        "function frame(n) return (('a'):rep(40)):find(\n"
        "  ('a?'):rep(40) .. ('a'):rep(40) .. 'b') end"},
    {.name = "thief", .script =
        "function frame(n) return io.open('/etc/passwd'):read('a') end"},
    {.name = "undertaker", .script =
        "function frame(n) setmetatable({}, {__gc = function()\n"
        "  while true do end end}) local t = {}\n"
        "  for i = 1, 20000 do t[i] = {} end return n end"}
};

static bool open_mod(mod *m)
{
    la_limits limits = {.size = sizeof limits, .memory = 32 << 20};
    m->L = luaL_newstate();
    if (!m->L || la_open_sandboxed(m->L, &limits)) return false;
    m->token = la_token_of(m->L);
    la_set_fuel(m->token, 1000);
    return m->token && luaL_dostring(m->L, m->script) == LUA_OK;
}

/* One frame of one mod. What ends it is an error like any other; the token
** tells whether a limit was reached, which stays until the game lifts it. */
static void run_mod(mod *m, int n)
{
    la_set_fuel(m->token, 2000);
    la_set_deadline(m->token, 2000000000);
    lua_settop(m->L, 0);
    lua_getglobal(m->L, "frame");
    lua_pushinteger(m->L, n);
    if (lua_pcall(m->L, 1, 1, 0) == LUA_OK) {
        m->frames++;
        return;
    }
    m->off = true;
    printf("frame %d: %s is off: %s\n", n, m->name,
           la_token_code(m->token) ? la_error_text()
                                   : lua_tostring(m->L, -1));
}

int main(void)
{
    int running = 0;
    for (int k = 0; k < MODS; k++)
        if (!open_mod(&mods[k])) {
            fprintf(stderr, "%s: %s\n", mods[k].name, la_error_text());
            return 1;
        }
    for (int n = 1; n <= FRAMES; n++)
        for (int k = 0; k < MODS; k++)
            if (!mods[k].off) run_mod(&mods[k], n);
    for (int k = 0; k < MODS; k++) {
        if (!mods[k].off)
            printf("%s ran %d frames\n", mods[k].name, mods[k].frames);
        running += !mods[k].off;
        lua_close(mods[k].L);       /* finalizers are under the limits too */
        la_token_release(mods[k].token);
    }
    printf("%d of %d mods are left after %d frames\n", running, MODS, FRAMES);
    return 0;
}
