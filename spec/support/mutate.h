/*
** Damaged files for la.load: a host's source of bytes in memory, mutations of
** them, a sandboxed state that loads what there is and looks at it. Variables
** of the environment: LUNARRAY_MUTATIONS and LUNARRAY_SEED.
*/
#ifndef LA_SPEC_SUPPORT_MUTATE_H
#define LA_SPEC_SUPPORT_MUTATE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

enum { MOST = 1 << 17 };        /* bytes of a file */

typedef struct bytes {
    unsigned char data[MOST];
    size_t n;
} bytes;

static uint64_t seed = 88172645463325252u;

/* xorshift64 (Marsaglia, 2003) */
static uint32_t next_random(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 24) % (below ? below : 1);
}

static int64_t get(void *context, int64_t offset, void *buffer, int64_t n)
{
    bytes *b = context;
    memcpy(buffer, b->data + offset, (size_t)n);
    return n;
}

/* The host has one file, by every name. */
static inline int open_bytes(void *context, const char *name, la_source *source)
{
    bytes *b = context;
    source->context = b;
    source->length = (int64_t)b->n;
    source->read = get;
    return 0;
}

/* 0 where the file is not there, or is too long. */
static inline int read_file(const char *folder, const char *name, bytes *out)
{
    char path[200];
    snprintf(path, sizeof path, "%s%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    out->n = fread(out->data, 1, MOST, file);
    fclose(file);
    return out->n < MOST;
}

/* ---- mutations ---- */

/* A number near which lengths and counts are wrong. */
static void put_interesting(bytes *b, size_t at)
{
    static const uint64_t values[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff,
        0x7fffffff, 0x80000000, 0xffffffff, UINT64_C(1) << 40,
        INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    uint64_t v = values[next_random(sizeof values / sizeof *values)];
    size_t n = (size_t)1 << next_random(4);
    for (size_t i = 0; i < n && at + i < b->n; i++)
        b->data[at + i] = (unsigned char)(v >> 8 * i);
}

/* 'n' bytes of one part are put in at another, or taken out. */
static void move_bytes(bytes *b, const bytes *other)
{
    size_t n = 1 + next_random(40), at = next_random((uint32_t)b->n);
    if (next_random(2) && b->n > at + n) {
        memmove(b->data + at, b->data + at + n, b->n - at - n);
        b->n -= n;
    } else if (b->n + n < MOST && other->n > n) {
        memmove(b->data + at + n, b->data + at, b->n - at);
        memcpy(b->data + at, other->data + next_random((uint32_t)(other->n
                                                                  - n)), n);
        b->n += n;
    }
}

/* Up to six changes; 'likely' are bytes that mean something. */
static void mutate(bytes *b, const bytes *other, const char *likely, size_t n)
{
    for (uint32_t k = 1 + next_random(6); k && b->n; k--) {
        size_t at = next_random((uint32_t)b->n);
        switch (next_random(8)) {
        case 0: b->data[at] ^= (unsigned char)(1u << next_random(8)); break;
        case 1: b->data[at] = (unsigned char)next_random(256); break;
        case 2: put_interesting(b, at); break;
        case 3: b->n = next_random(20) ? b->n : at; break;
        case 4: move_bytes(b, other); break;
        default:
            b->data[at] = (unsigned char)likely[next_random((uint32_t)n)];
            break;
        }
    }
}

/* ---- loading ---- */

static inline int64_t count_of(const char *name, int64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : fallback;
}

/* Loads, and looks at all that was loaded. */
static const char looking[] =
    "local la, name, options = require 'lunarray', ...\n"
    "local ok, t = pcall(la.load, name, options)\n"
    "if not ok then return not options.metadata and type(t) == 'string' end\n"
    "local n = 0\n"
    "local function walk(v, depth)\n"
    "  n = n + 1\n"
    "  if n > 2000 then return end\n"
    "  if la.is_tensor(v) then\n"
    "    if v:numel() < 10000 then v = v:detach():resolve_conj():clone() end\n"
    "  elseif type(v) == 'table' then\n"
    "    for k, x in pairs(v) do walk(x, depth + 1) end\n"
    "  end\n"
    "end\n"
    "walk(t, 0)\n"
    "return true";

/* A sandboxed state with a function of the code at the bottom; 'open' gives its
** files. */
static inline lua_State *open_state_for(const char *code, void *context,
                                        int (*open)(void *, const char *,
                                                    la_source *))
{
    la_limits limits = {.size = sizeof limits, .memory = 64 << 20,
                        .open = open, .open_context = context};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    assert_int_equal(luaL_loadstring(L, code), LUA_OK);
    return L;
}

static inline lua_State *open_state(bytes *b)
{
    return open_state_for(looking, b, open_bytes);
}

/* The code gets bytes, and whether they are sound; it returns true. */
static inline void try_bytes(lua_State *L, const bytes *b, int sound)
{
    lua_pushvalue(L, 1);
    lua_pushlstring(L, (const char *)b->data, b->n);
    lua_pushboolean(L, sound);
    if (lua_pcall(L, 2, 1, 0) != LUA_OK) fail_msg("%s", lua_tostring(L, -1));
    assert_true(lua_toboolean(L, -1));
    lua_settop(L, 1);
}

/* A sound file has to be loaded. */
static inline void load_once(lua_State *L, const char *name, int lenient,
                             int sound)
{
    lua_pushvalue(L, 1);
    lua_pushstring(L, name);
    lua_newtable(L);
    lua_pushboolean(L, sound);
    lua_setfield(L, -2, "metadata");
    if (lenient) {
        lua_pushliteral(L, "table");
        lua_setfield(L, -2, "unknown");
    }
    if (lua_pcall(L, 2, 1, 0) != LUA_OK) fail_msg("%s", lua_tostring(L, -1));
    assert_true(lua_toboolean(L, -1));
    lua_settop(L, 1);
}

#endif
