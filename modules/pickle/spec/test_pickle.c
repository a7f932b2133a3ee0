/* Damaged files of PyTorch through a host's source, in a sandboxed state with
** limits: each is loaded or refused, memory stays within the cap, and the state
** goes on. The files are those of spec/data; LUNARRAY_MUTATIONS=n sets how many
** mutations there are of each. */
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

#define DATA "modules/pickle/spec/data/"
static const char *const names[] = {
    "plain.pt", "layouts.pt", "training.pt", "dtypes.pt", "legacy.pt",
    "endian.big.pt", "deflated.pt", "script.pt", "protocol0.pkl",
    "protocol1.pkl", "protocol4.pkl", "protocol5.pkl", "scalars0.pkl",
    "scalars4.pkl"
};
enum { NAMES = sizeof names / sizeof *names, MOST = 1 << 17 };

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
static int open_bytes(void *context, const char *name, la_source *source)
{
    bytes *b = context;
    source->context = b;
    source->length = (int64_t)b->n;
    source->read = get;
    return 0;
}

/* 0 where the file is not there, or is too long. */
static int read_file(const char *name, bytes *out)
{
    char path[200];
    snprintf(path, sizeof path, DATA "%s", name);
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    out->n = fread(out->data, 1, MOST, file);
    fclose(file);
    return out->n < MOST;
}

/* ---- mutations ---- */

static const unsigned char opcodes[] =
    "(.012FIJKLMNPQRSTUVXabcdeghijlopqrstu})]G"
    "\x80\x81\x82\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93"
    "\x94\x95\x96\x97\x98";

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

/* Up to six changes. */
static void mutate(bytes *b, const bytes *other)
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
            b->data[at] = opcodes[next_random(sizeof opcodes - 1)];
            break;
        }
    }
}

/* The pickle of a stored member is what most mutations are to hit, and its
** checksum would stop them: the pickle alone is a file, too. */
static void take_pickle(bytes *b)
{
    static const char name[] = "data.pklFB";
    for (size_t i = 0; i + 200 < b->n && b->data[0] == 'P'; i++)
        if (memcmp(b->data + i, name, 8) == 0) {
            size_t at = i + 8;
            while (at < b->n && b->data[at] != 0x80) at++;
            b->n -= at;
            memmove(b->data, b->data + at, b->n);
            return;
        }
}

static int64_t count_of(const char *name, int64_t fallback)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : fallback;
}

/* Loads, and looks at all that was loaded. */
static const char script[] =
    "local la, options = require 'lunarray', ...\n"
    "local ok, t = pcall(la.load, 'x.pt', options)\n"
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

static lua_State *open_state(bytes *b)
{
    la_limits limits = {.size = sizeof limits, .memory = 64 << 20,
                        .open = open_bytes, .open_context = b};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    assert_int_equal(luaL_loadstring(L, script), LUA_OK);
    return L;
}

/* A sound file has to be loaded. */
static void load_once(lua_State *L, int lenient, int sound)
{
    lua_pushvalue(L, 1);
    lua_newtable(L);
    lua_pushboolean(L, sound);
    lua_setfield(L, -2, "metadata");
    if (lenient) {
        lua_pushliteral(L, "table");
        lua_setfield(L, -2, "unknown");
    }
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) fail_msg("%s", lua_tostring(L, -1));
    assert_true(lua_toboolean(L, -1));
    lua_settop(L, 1);
}

static void damaged_files_are_errors(void **state)
{
    int64_t count = count_of("LUNARRAY_MUTATIONS", 150);
    bytes *from = calloc(NAMES, sizeof *from), *b = calloc(1, sizeof *b);
    seed += (uint64_t)count_of("LUNARRAY_SEED", 0);
    for (int k = 0; k < NAMES; k++)
        if (!read_file(names[k], &from[k])) skip();
    lua_State *L = open_state(b);
    for (int k = 0; k < NAMES; k++)
        for (int64_t i = 0; i < count; i++) {
            *b = from[k];
            if (i % 2) take_pickle(b);
            if (i > 1) mutate(b, &from[next_random(NAMES)]);
            load_once(L, i % 4 > 1, i == 0);
        }
    lua_close(L);
    free(from);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
