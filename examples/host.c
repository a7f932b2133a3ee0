/*
** A host program: it shares an array of its own with a script, without a copy,
** lets the script work on it, and calls an operation from C.
**
**     make examples && build/examples/host
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>
#include <stdio.h>

#define PARTICLES 4

/* x, y, vx, vy of each particle: memory of the host, on its own stack. */
static float particles[PARTICLES][4] = {
    {0, 10, 1, 0}, {1, 8, -1, 2}, {2, 3, 0.5f, 0}, {3, 0.05f, 0, -2},
};

static const char script[] =
    "local x, v = particles[{{}, {1, 2}}], particles[{{}, {3, 4}}]\n"
    "for step = 1, 60 do\n"
    "  v[{{}, 2}] = v[{{}, 2}] - 9.81 / 60\n"
    "  x:add_(v, {alpha = 1 / 60})\n"
    "  local below = x[{{}, 2}]:lt(0)\n"
    "  v[{{}, 2}] = require('lunarray').where(below, v[{{}, 2}]:abs(),"
    " v[{{}, 2}])\n"
    "  x[{{}, 2}]:clamp_(0)\n"
    "end\n";

static int fail(lua_State *L, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    lua_close(L);
    return 1;
}

int main(void)
{
    int64_t sizes[2] = {PARTICLES, 4};
    lua_State *L = luaL_newstate();
    if (!L) return 1;
    luaL_openlibs(L);
    if (la_openlibs(L)) return fail(L, "open", la_error_text());

    la_tensor *shared = la_wrap(particles, "float32", 2, sizes, NULL, NULL,
                                NULL);
    if (!shared || la_push(L, shared))
        return fail(L, "share", la_error_text());
    lua_setglobal(L, "particles");
    if (luaL_dostring(L, script)) return fail(L, "script", lua_tostring(L, -1));

    /* The script wrote into our own array. */
    for (int i = 0; i < PARTICLES; i++)
        printf("particle %d at (%.3f, %.3f)\n", i + 1, particles[i][0],
               particles[i][1]);

    la_tensor *middle = la_call(L, "mean", shared, 1);   /* over dim 1 */
    if (!middle) return fail(L, "mean", la_error_text());
    const float *m = la_data(middle);
    printf("centre (%.3f, %.3f)\n", m[0], m[1]);
    la_release(middle);

    lua_close(L);
    la_release(shared);
    return 0;
}
