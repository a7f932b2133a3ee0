/*
** Damaged files for every reader of bytes (spec/support/limits/readers.lua):
** each read or refused with a text, in bounded time and memory, and sound files
** are read as before afterwards. LUNARRAY_MUTATIONS files are made of each
** sound one, LUNARRAY_READERS=png takes one reader; a process that dies leaves
** what it was reading in the file that LUNARRAY_DAMAGED names.
*/
#define _POSIX_C_SOURCE 200809L
#include "spec/support/mutate.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Seconds for one file, on the slowest machine and under sanitizers. */
enum { WATCHDOG = 120 };
/* What a state may hold after all that it had before. */
#define KEPT ((size_t)8 << 20)

static char reading[160];

static void barks(int sig)
{
    (void)!write(2, reading, strlen(reading));
    (void)!write(2, ": hangs\n", 8);
    _exit(1);
}

/* ---- checksums ---- */

static uint32_t crc_of(const unsigned char *p, size_t n)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (0xedb88320u & -(c & 1));
    }
    return ~c;
}

static size_t little(const unsigned char *p, int n)
{
    size_t v = 0;
    for (int k = n - 1; k >= 0; k--) v = v << 8 | p[k];
    return v;
}

static void put_sum(unsigned char *p, uint32_t sum, int is_little)
{
    for (int k = 0; k < 4; k++)
        p[k] = (unsigned char)(sum >> 8 * (is_little ? k : 3 - k));
}

/* Chunks of a PNG: a length, four letters, the bytes, their sum. */
static void right_png(bytes *b)
{
    for (size_t at = 8; at + 12 <= b->n;) {
        const unsigned char *p = b->data + at;
        size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16
            | (size_t)p[2] << 8 | p[3];
        if (n > b->n - at - 12) return;
        put_sum(b->data + at + 8 + n, crc_of(p + 4, n + 4), 0);
        at += n + 12;
    }
}

/* Members of a zip that are stored, by its directory. */
static void right_zip(bytes *b)
{
    for (size_t at = 0; at + 46 <= b->n; at++) {
        unsigned char *entry = b->data + at;
        if (memcmp(entry, "PK\1\2", 4)) continue;
        size_t from = little(entry + 42, 4), n = little(entry + 20, 4);
        if (from > b->n || b->n - from < 30) continue;
        unsigned char *local = b->data + from;
        size_t head = 30 + little(local + 26, 2) + little(local + 28, 2);
        if (head > b->n - from || n > b->n - from - head) continue;
        uint32_t sum = crc_of(local + head, n);
        put_sum(entry + 16, sum, 1);
        put_sum(local + 14, sum, 1);
    }
}

/* ---- one reader ---- */

typedef struct reader {
    const char *name, *likely, *code, *sums;
    size_t likely_length, head;     /* head: bytes that most damage is to hit */
    int plain, count;
    bytes *files;
} reader;

static void note(const char *name, int file, int64_t i, const bytes *b)
{
    static FILE *out;
    const char *path = getenv("LUNARRAY_DAMAGED");
    snprintf(reading, sizeof reading, "%s, file %d, damage %lld", name, file,
             (long long)i);
    if (!path) return;
    if (!out) out = fopen(path, "wb");
    assert_non_null(out);
    rewind(out);
    fwrite(b->data, 1, b->n, out);
    fflush(out);
    assert_int_equal(ftruncate(fileno(out), (off_t)b->n), 0);
}

static lua_State *open_reader(const reader *r, bytes *b)
{
    if (!r->plain) return open_state_for(r->code, b, open_bytes);
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(luaL_loadstring(L, r->code), LUA_OK);
    return L;
}

static void damage(const reader *r, int file, bytes *b)
{
    const bytes *other = &r->files[next_random((uint32_t)r->count)];
    size_t whole = b->n;
    *b = r->files[file];
    whole = b->n;
    if (r->head && whole > r->head && next_random(4)) b->n = r->head;
    size_t head = b->n;
    mutate(b, other, r->likely, r->likely_length);
    if (b->n == head) b->n = whole;
    if (!r->sums || !next_random(4)) return;
    (*r->sums == 'p' ? right_png : right_zip)(b);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t read_damaged(const reader *r, int64_t count)
{
    bytes *b = calloc(1, sizeof *b);
    lua_State *L = open_reader(r, b);
    double begun = seconds(), longest = 0;
    size_t before = 0;
    for (int f = 0; f < r->count; f++)
        for (int64_t i = 0; i <= count + 1; i++) {
            if (i == 0 || i > count) *b = r->files[f];
            else damage(r, f, b);
            note(r->name, f, i, b);
            alarm(WATCHDOG);
            double from = seconds();
            try_bytes(L, b, i == 0 || i > count);
            if (seconds() - from > longest) longest = seconds() - from;
            if (i || f) continue;
            lua_gc(L, LUA_GCCOLLECT);
            before = (size_t)lua_gc(L, LUA_GCCOUNT) << 10;
        }
    lua_gc(L, LUA_GCCOLLECT);
    size_t after = (size_t)lua_gc(L, LUA_GCCOUNT) << 10;
    if (after > before + KEPT)
        fail_msg("%s: %zu bytes are kept", r->name, after - before);
    if (count_of("LUNARRAY_MUTATIONS", 0))
        print_message("%-12s %9lld files %8.1f s, longest %.3f s\n", r->name,
                      (long long)(r->count * (count + 2)), seconds() - begun,
                      longest);
    lua_close(L);
    free(b);
    return r->count * count;
}

/* ---- all ---- */

static const char *field(lua_State *T, const char *name, size_t *n)
{
    lua_getfield(T, -1, name);
    const char *text = lua_tolstring(T, -1, n);
    lua_pop(T, 1);          /* the table holds it */
    return text;
}

static void take_files(lua_State *T, reader *r)
{
    lua_getfield(T, -1, "files");
    r->count = (int)luaL_len(T, -1);
    r->files = calloc((size_t)r->count, sizeof *r->files);
    assert_true(r->count > 0);
    for (int f = 0; f < r->count; f++) {
        bytes *b = &r->files[f];
        lua_geti(T, -1, f + 1);
        const char *text = lua_tolstring(T, -1, &b->n);
        assert_true(text && b->n < MOST);
        memcpy(b->data, text, b->n);
        lua_pop(T, 1);
    }
    lua_pop(T, 1);
}

static void read_by(lua_State *T, int64_t count, int64_t *total)
{
    reader r = {0};
    r.name = field(T, "name", NULL);
    r.likely = field(T, "likely", &r.likely_length);
    r.code = field(T, "code", NULL);
    r.sums = field(T, "sums", NULL);
    lua_getfield(T, -1, "head");
    r.head = (size_t)lua_tointeger(T, -1);
    lua_getfield(T, -2, "plain");
    r.plain = lua_toboolean(T, -1);
    lua_pop(T, 2);
    take_files(T, &r);
    *total += read_damaged(&r, count);
    free(r.files);
}

static void damaged_files_are_errors(void **state)
{
    int64_t count = count_of("LUNARRAY_MUTATIONS", 60), total = 0;
    const char *only = getenv("LUNARRAY_READERS");
    lua_State *T = luaL_newstate();
    luaL_openlibs(T);
    assert_int_equal(la_openlibs(T), 0);
    seed += (uint64_t)count_of("LUNARRAY_SEED", 0);
    if (luaL_dostring(T, "package.path = './?.lua;' .. package.path"
                      " return (require 'spec.support.limits.readers')"))
        fail_msg("%s", lua_tostring(T, -1));
    for (int i = 1; lua_geti(T, -1, i) == LUA_TTABLE; i++) {
        if (!only || !strcmp(only, field(T, "name", NULL)))
            read_by(T, count, &total);
        lua_pop(T, 1);
    }
    lua_close(T);
    assert_true(total > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_errors),
    };
    signal(SIGALRM, barks);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
