/* Damaged files of Torch7, those of spec/data (write_data.lua): each is loaded
** or refused, memory stays within the cap, and the state goes on. */
#include "spec/support/mutate.h"

#define DATA "modules/torch7/spec/data/"
static const char *const names[] = {"net.t7", "net32.t7", "net.ascii.t7"};
enum { NAMES = sizeof names / sizeof *names };

static const char LIKELY[] = "\0\1\2\3\4\5\6\7\10\11\377\177 \n0123456789-VntF";

static void damaged_files_are_errors(void **state)
{
    int64_t count = count_of("LUNARRAY_MUTATIONS", 300);
    bytes *from = calloc(NAMES, sizeof *from), *b = calloc(1, sizeof *b);
    seed += (uint64_t)count_of("LUNARRAY_SEED", 0);
    for (int k = 0; k < NAMES; k++)
        if (!read_file(DATA, names[k], &from[k])) skip();
    lua_State *L = open_state(b);
    for (int k = 0; k < NAMES; k++)
        for (int64_t i = 0; i < count; i++) {
            *b = from[k];
            if (i) mutate(b, &from[next_random(NAMES)], LIKELY,
                          sizeof LIKELY - 1);
            load_once(L, "x.t7", 0, i == 0);
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
