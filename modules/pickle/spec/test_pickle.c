/* Damaged files of PyTorch, those of spec/data: each is loaded or refused,
** memory stays within the cap, and the state goes on. */
#include "spec/support/mutate.h"

#define DATA "modules/pickle/spec/data/"
static const char *const names[] = {
    "plain.pt", "layouts.pt", "training.pt", "dtypes.pt", "legacy.pt",
    "endian.big.pt", "deflated.pt", "script.pt", "protocols/0.pkl",
    "protocols/1.pkl", "protocols/4.pkl", "protocols/5.pkl", "scalars/0.pkl",
    "scalars/4.pkl"
};
enum { NAMES = sizeof names / sizeof *names };

static const char OPCODES[] =
    "(.012FIJKLMNPQRSTUVXabcdeghijlopqrstu})]G"
    "\x80\x81\x82\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x90\x91\x92\x93"
    "\x94\x95\x96\x97\x98";

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

static void damaged_files_are_errors(void **state)
{
    int64_t count = count_of("LUNARRAY_MUTATIONS", 150);
    bytes *from = calloc(NAMES, sizeof *from), *b = calloc(1, sizeof *b);
    seed += (uint64_t)count_of("LUNARRAY_SEED", 0);
    for (int k = 0; k < NAMES; k++)
        if (!read_file(DATA, names[k], &from[k])) skip();
    lua_State *L = open_state(b);
    for (int k = 0; k < NAMES; k++)
        for (int64_t i = 0; i < count; i++) {
            *b = from[k];
            if (i % 2) take_pickle(b);
            if (i > 1) mutate(b, &from[next_random(NAMES)], OPCODES,
                              sizeof OPCODES - 1);
            load_once(L, "x.pt", i % 4 > 1, i == 0);
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
