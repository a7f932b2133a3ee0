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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_tokenizers_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
