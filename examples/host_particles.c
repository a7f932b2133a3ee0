/*
** A host whose particles are structs of its own: a script sees their fields as
** tensors, moves them in one pass over memory, and goes on when the host has
** moved its memory to make them more.
**
**     make examples && build/examples/host_particles
**
** bench/c/particles.c compares such a frame with a loop in C.
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct particle {
    float pos[3], vel[3];
    float mass;
    uint8_t alive;
    double born;
} particle;

/* Where C puts them: types alone say it. */
static const char layout[] = "pos:f32x3 vel:f32x3 mass:f32 alive:b8 born:f64";

/* The first call of 'move' records it, in-place calls too; later calls with the
** same dt run the recording block by block. */
static const char script[] =
    "local la = require 'lunarray'\n"
    "local down = la.tensor{0, 0, -9.81}\n"
    "local move = la.fuse(function(p, dt)\n"
    "  local pos, vel = p.pos, p.vel\n"
    "  vel:add_(down * dt)\n"
    "  pos:add_(vel * dt)\n"
    "  p.vel = la.where(pos:lt(0), -0.5 * vel, vel)\n"
    "  pos:clamp_{min = 0}\n"
    "end)\n"
    "function frame(dt)\n"
    "  move(particles, dt)\n"
    "  particles.alive = particles.pos[{{}, 3}]:gt(0.01)\n"
    "end\n";

static int fail(lua_State *L, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    lua_close(L);
    return 1;
}

static void launch(particle *p, int from, int to)
{
    memset(p + from, 0, (size_t)(to - from) * sizeof *p);
    for (int i = from; i < to; i++) {
        p[i].pos[2] = (float)i;
        p[i].vel[0] = 1;
        p[i].mass = 2;
    }
}

static int run_frames(lua_State *L, int n)
{
    for (int i = 0; i < n; i++) {
        lua_getglobal(L, "frame");
        lua_pushnumber(L, 1.0 / 60);
        if (lua_pcall(L, 1, 0, 0)) return 1;
    }
    return 0;
}

int main(void)
{
    int n = 4;
    particle *p = malloc((size_t)n * sizeof *p);
    lua_State *L = luaL_newstate();
    if (!L || !p) return 1;
    luaL_openlibs(L);
    if (la_openlibs(L)) return fail(L, "open", la_error_text());
    launch(p, 0, n);
    la_record *r = la_wrap_struct(p, n, sizeof *p, layout, 0, NULL, NULL);
    if (!r || la_push_record(L, r)) return fail(L, "wrap", la_error_text());
    lua_setglobal(L, "particles");
    if (luaL_dostring(L, script)) return fail(L, "script", lua_tostring(L, -1));
    if (run_frames(L, 30)) return fail(L, "frame", lua_tostring(L, -1));

    /* More of them, at another address: the record goes on there. Tensors of
    ** before raise 'host memory was moved'. */
    particle *more = realloc(p, 8 * sizeof *p);
    if (!more) return 1;
    p = more;
    launch(p, n, 8);
    n = 8;
    if (la_record_rebind(r, p, n)) return fail(L, "rebind", la_error_text());
    if (run_frames(L, 30)) return fail(L, "frame", lua_tostring(L, -1));

    for (int i = 0; i < n; i++)
        printf("particle %d at (%.3f, %.3f, %.3f)%s\n", i + 1, p[i].pos[0],
               p[i].pos[1], p[i].pos[2], p[i].alive ? "" : ", on the ground");
    la_record_release(r);
    lua_close(L);
    free(p);
    return 0;
}
