/* Damaged tokenizers, those of spec/data: each is read or refused, memory stays
** within the cap, and the state goes on. */
#include "spec/support/mutate.h"

#define DATA "modules/tokenizer/spec/data/"
static const char *const names[] = {"byte_bpe.json", "gpt2.json",
    "piece_bpe.json", "unigram.json", "bert.json", "words.json"};
enum { NAMES = sizeof names / sizeof *names };

static const char LIKELY[] =
    "{}[]\",:\\/0123456789truefalsn \377\200\1-+.*?()|^$";

/* A tokenizer is made of the bytes, a text goes there and back. */
static const char code[] =
    "local la, bytes, sound = require 'lunarray', ...\n"
    "local ok, t = pcall(la.tokenizer.decode, bytes)\n"
    "if not ok then return not sound and type(t) == 'string' end\n"
    "local ok, ids = pcall(t.encode, t, 'Hello, w\\xc3\\xb6rld 12!  \\xff', "
    "{special = true})\n"
    "if not ok then return not sound and type(ids) == 'string' end\n"
    "local ok, text = pcall(t.decode, t, ids, {special = true})\n"
    "return type(text) == 'string'";

/* The tokenizer in a record: the value of the first key, before the texts. */
static int read_tokenizer(const char *name, bytes *b)
{
    static const char from[] = "{\"tokenizer\":", to[] = ",\"texts\":";
    if (!read_file(DATA, name, b)) return 0;
    size_t begin = sizeof from - 1, end = begin;
    while (end + sizeof to < b->n && memcmp(b->data + end, to, sizeof to - 1))
        end++;
    b->n = end - begin;
    memmove(b->data, b->data + begin, b->n);
    return 1;
}

static void damaged_tokenizers_are_errors(void **state)
{
    int64_t count = count_of("LUNARRAY_MUTATIONS", 150);
    bytes *from = calloc(NAMES, sizeof *from), *b = calloc(1, sizeof *b);
    seed += (uint64_t)count_of("LUNARRAY_SEED", 0);
    for (int k = 0; k < NAMES; k++)
        if (!read_tokenizer(names[k], &from[k])) skip();
    lua_State *L = open_state_for(code, b, open_bytes);
    for (int k = 0; k < NAMES; k++)
        for (int64_t i = 0; i < count; i++) {
            *b = from[k];
            if (i) mutate(b, &from[next_random(NAMES)], LIKELY,
                          sizeof LIKELY - 1);
            try_bytes(L, b, i == 0);
        }
    lua_close(L);
    free(from);
    free(b);
}

/* ---- files of a host ---- */

static const char vocab[] = "[UNK]\n[CLS]\n[SEP]\nzebra\n##s\n";

static int64_t read_vocab(void *context, int64_t at, void *to, int64_t n)
{
    (void)context;
    memcpy(to, vocab + at, (size_t)n);
    return n;
}

static int open_vocab(void *context, const char *name, la_source *source)
{
    (void)context;
    if (strcmp(name, "vocab.txt") != 0) return la_fail("no such file");
    source->length = sizeof vocab - 1;
    source->read = read_vocab;
    return 0;
}

/* A sandbox reads a vocabulary, whose words have every letter, out of what its
** host opens; other names are errors with the host's text. Without an opener
** there are no files. */
static void a_sandbox_asks_its_host(void **state)
{
    static const char good[] = "local la = require 'lunarray'\n"
        "local t = la.tokenizer.load 'vocab.txt'\n"
        "assert(t:count() == 5 and t:count 'zebras' == 4)\n"
        "assert(t:decode(t:encode 'zebras') == 'zebras')\n"
        "assert(#la.gguf.map 'vocab.txt' == 28)\n"
        "local ok, why = pcall(la.tokenizer.load, 'other.txt')\n"
        "assert(not ok and why:find('no such file', 1, true))\n";
    static const char none[] = "local la = require 'lunarray'\n"
        "local ok, why = pcall(la.tokenizer.load, 'vocab.txt')\n"
        "assert(not ok and why:find('files are not open', 1, true))\n";
    la_limits limits = {.size = sizeof limits, .memory = 8 << 20};
    for (int k = 0; k < 2; k++) {
        limits.open = k ? NULL : open_vocab;
        lua_State *L = la_new_sandbox(&limits);
        assert_non_null(L);
        if (luaL_dostring(L, k ? none : good))
            fail_msg("%s", lua_tostring(L, -1));
        lua_close(L);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_tokenizers_are_errors),
        cmocka_unit_test(a_sandbox_asks_its_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
