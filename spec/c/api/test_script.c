/*
** States for hosts without Lua's headers: la_new_state, la_new_sandbox,
** la_run_script, la_set_print; and snapshots of records and generators.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lunarray.h"

typedef struct lines {
    char text[300000];
    size_t n;
    int count;
} lines;

static void keep_line(void *context, const char *text, size_t n)
{
    lines *l = context;
    assert_true(l->n + n + 1 < sizeof l->text);
    memcpy(l->text + l->n, text, n);
    l->n += n;
    l->text[l->n++] = '\n';
    l->count++;
}

static int run(struct lua_State *L, const char *text)
{
    return la_run_script(L, text, strlen(text), "mods/a.lua");
}

static const char *wanted(int code, int got, const char *part)
{
    assert_int_equal(code, got);
    assert_int_equal(code, la_error_code());
    if (!strstr(la_error_text(), part)) fail_msg("%s", la_error_text());
    return part;
}

static lines said;

static void in_each(struct lua_State *L)
{
    said.n = 0;
    assert_non_null(L);
    assert_int_equal(la_set_print(L, keep_line, &said), 0);
    assert_int_equal(run(L, "print(1, 'a\\0b', nil, 2.5)\nprint()\n"
                            "print(lunarray.ones(2))"), 0);
    assert_int_equal(la_error_code(), 0);
    static const char expected[] = "1\ta\0b\tnil\t2.5\n\ntensor([1., 1.])\n";
    assert_int_equal(said.n, sizeof expected - 1);
    assert_memory_equal(said.text, expected, said.n);
    wanted(LA_ELUA, run(L, "\nerror('own')"), "mods/a.lua:2: own");
    wanted(LA_ELUA, run(L, "x ="), "mods/a.lua:1:");
    wanted(LA_ELUA, run(L, "\x1bLua"), "binary chunk");
    wanted(LA_ESHAPE, run(L, "\n\nlunarray.ones(2):matmul(lunarray.ones(3))"),
           "mods/a.lua:3:");
    assert_int_equal(run(L, "kept = 1"), 0);
    assert_int_equal(run(L, "assert(kept == 1)"), 0);
    assert_int_equal(la_run_script(L, "return 1 + x(", 12, NULL), LA_ELUA);
    assert_non_null(strstr(la_error_text(), "script:1:"));
    assert_int_equal(la_run_script(L, NULL, 0, NULL), 0);
    assert_int_equal(la_run_script(L, NULL, 3, NULL), LA_EARG);
    assert_int_equal(la_set_print(L, NULL, NULL), LA_EARG);
    la_close_state(L);
}

static void test_states(void **state)
{
    la_limits limits = {.size = sizeof limits};
    in_each(la_new_state(NULL));
    in_each(la_new_sandbox(&limits));
    la_close_state(NULL);
    assert_int_equal(la_run_script(NULL, "x = 1", 5, NULL), LA_EARG);
    limits.size = 0;
    assert_null(la_new_sandbox(&limits));
    assert_int_equal(la_error_code(), LA_EARG);
    limits = (la_limits){.size = sizeof limits, .memory = 1000};
    assert_null(la_new_sandbox(&limits));
    assert_int_equal(la_error_code(), LA_ENOMEM);
}

/* No text has an address, and a line is paid by its bytes. */
static void test_sandbox(void **state)
{
    said.n = 0;
    la_limits limits = {.size = sizeof limits, .fuel = 1000};
    struct lua_State *L = la_new_sandbox(&limits);
    assert_int_equal(la_set_print(L, keep_line, &said), 0);
    assert_int_equal(run(L, "print({}, print, coroutine.create(print))"), 0);
    assert_memory_equal(said.text, "table\tfunction\tthread\n", said.n);
    wanted(LA_EFUEL, run(L, "while true do end"), "");
    wanted(LA_EFUEL, run(L, "print(1)"), "");
    la_token *k = la_token_of(L);
    la_token_clear(k);
    la_set_fuel(k, 100000);
    assert_int_equal(run(L, "s = ('x'):rep(200000)"), 0);
    int64_t before = la_fuel_left(k);
    assert_int_equal(run(L, "print(s)"), 0);
    assert_true(la_fuel_left(k) < before);
    la_token_release(k);
    la_close_state(L);
}

static void test_runtime(void **state)
{
    la_runtime *rt = la_runtime_new(NULL);
    struct lua_State *L = la_new_state(rt);
    assert_non_null(L);
    assert_int_equal(run(L, "x = lunarray.ones(3)"), 0);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    la_close_state(L);
    assert_int_equal(la_runtime_destroy(rt), 0);
}

/* ---- snapshots ---- */

/* Four bytes of padding, and a field that no tensor can lie on. */
typedef struct body {
    float pos[2];
    unsigned char kind;
    unsigned char packed[8];    /* an f64 at 9 */
} body;

static double drawn(struct lua_State *L)
{
    la_tensor *t = la_call(L, "rand");
    double v = *(float *)la_tensor_data(t);
    la_release(t);
    return v;
}

static void test_snapshot_of_all(void **state)
{
    body list[3] = {{{1, 2}, 3, {4}}, {{5, 6}, 7, {8}}, {{9, 10}, 11, {12}}};
    body kept[3];
    memcpy(kept, list, sizeof list);
    la_record *r = la_wrap_struct(list, 3, sizeof *list,
        "pos:f32x2 kind:u8 mass:f64@9", 0, NULL, NULL);
    assert_non_null(r);
    int64_t n = 4;
    la_tensor *t = la_call(NULL, "arange", n);
    struct lua_State *L = la_new_state(NULL), *both[2] = {L, NULL};
    la_snapshot_def def = {.size = sizeof def, .tensors = 1, .records = 1,
                           .generators = 2, .tensor_list = &t,
                           .record_list = &r, .generator_list = both};
    la_snapshot *s = la_snapshot_take_ex(&def);
    assert_non_null(s);
    double first = drawn(L), own = drawn(NULL);
    la_release(la_call(NULL, "zero_", t));
    memset(list, 0, sizeof list);
    list[1].packed[7] = 99;
    for (int again = 0; again < 2; again++) {
        if (la_snapshot_restore(s)) fail_msg("%s", la_error_text());
        assert_memory_equal(list[1].pos, kept[1].pos, sizeof kept[1].pos);
        assert_memory_equal(list[1].packed, kept[1].packed, 8);
        assert_int_equal(list[2].kind, 11);
        assert_int_equal(((int64_t *)la_tensor_data(t))[3], 3);
        assert_float_equal(drawn(L), first, 0);
        assert_float_equal(drawn(NULL), own, 0);
    }
    body other[3];
    assert_int_equal(la_record_rebind(r, other, 3), 0);
    assert_int_equal(la_snapshot_restore(s), LA_ESTATE);
    la_snapshot_release(s);
    la_record_release(r);
    la_release(t);
    la_close_state(L);
}

static void test_bad_definitions(void **state)
{
    struct lua_State *nobody = NULL;
    la_record *none = NULL;
    la_snapshot_def def = {.size = sizeof def};
    la_snapshot *s = la_snapshot_take_ex(&def);
    assert_non_null(s);
    assert_int_equal(la_snapshot_restore(s), 0);
    la_snapshot_release(s);
    assert_null(la_snapshot_take_ex(NULL));
    assert_int_equal(la_error_code(), LA_EARG);
    def.tensors = 1;
    assert_null(la_snapshot_take_ex(&def));
    def.tensors = -1;
    assert_null(la_snapshot_take_ex(&def));
    def = (la_snapshot_def){.size = sizeof def, .records = 1,
                            .record_list = &none};
    assert_null(la_snapshot_take_ex(&def));
    wanted(LA_EARG, la_error_code(), "record 1 is NULL");
    def = (la_snapshot_def){.size = sizeof def, .generators = 1,
                            .generator_list = &nobody};
    la_snapshot_release(la_snapshot_take_ex(&def));
    assert_int_equal(la_error_code(), 0);
}

/* ---- seeds and clocks ---- */

static la_runtime *seeded(uint64_t seed, unsigned flags)
{
    la_config c = {.size = sizeof c, .flags = flags, .seed = seed};
    la_runtime *rt = la_runtime_new(&c);
    assert_non_null(rt);
    return rt;
}

/* What a new sandbox of the runtime prints. */
static void sandbox_says(la_runtime *rt, const char *script, char *out,
                         size_t n)
{
    la_limits limits = {.size = sizeof limits, .runtime = rt};
    struct lua_State *L = la_new_sandbox(&limits);
    assert_non_null(L);
    said.n = 0;
    assert_int_equal(la_set_print(L, keep_line, &said), 0);
    if (run(L, script)) fail_msg("%s", la_error_text());
    assert_true(said.n < n);
    memcpy(out, said.text, said.n);
    out[said.n] = 0;
    la_close_state(L);
}

static const char draws[] = "print(lunarray.initial_seed(), "
    "lunarray.rand(2):totable()[1], math.random(1 << 40))";

/* A seed of the host's begins the generators of tensors and of Lua, in each
** state alike; without one the default is PyTorch's, and Lua's is the
** system's. */
static void test_seeds(void **state)
{
    char a[200], b[200], c[200], d[200];
    la_runtime *rt = seeded(77, 0), *other = seeded(78, 0),
               *none = seeded(0, 0);
    sandbox_says(rt, draws, a, sizeof a);
    sandbox_says(rt, draws, b, sizeof b);
    sandbox_says(other, draws, c, sizeof c);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    assert_memory_equal(a, "77\t", 3);
    sandbox_says(none, draws, c, sizeof c);
    sandbox_says(none, draws, d, sizeof d);
    assert_memory_equal(c, "67280421310721\t", 15);
    assert_string_not_equal(c, d);
    la_runtime *former = la_use(rt);
    la_tensor *x = la_call(NULL, "rand", 3);
    la_generator_state now;
    assert_non_null(x);
    assert_int_equal(la_get_generator(NULL, &now), 0);
    assert_int_equal(now.seed, 77);
    la_release(x);
    la_use(former);
    assert_int_equal(la_runtime_destroy(rt), 0);
    assert_int_equal(la_runtime_destroy(other), 0);
    assert_int_equal(la_runtime_destroy(none), 0);
}

/* Nothing in a sandbox of such a runtime tells one machine from another. */
static void test_lockstep_hides_the_machine(void **state)
{
    char a[400], b[400];
    la_runtime *rt = seeded(0, LA_DETERMINISTIC);
    static const char script[] =
        "for _, f in ipairs{os.time, os.clock, math.randomseed, lunarray.seed,"
        " function() lunarray.Generator():seed() end} do"
        "  local ok, e = pcall(f)"
        "  assert(not ok and tostring(e):find('a state in lockstep'), e)"
        " end"
        " assert(os.difftime(3, 1) == 2)"
        " print(lunarray.initial_seed(), math.random(1 << 40))"
        " math.randomseed(5) print(math.random(1 << 40))";
    sandbox_says(rt, script, a, sizeof a);
    sandbox_says(rt, script, b, sizeof b);
    assert_string_equal(a, b);
    assert_int_equal(la_runtime_destroy(rt), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_sandbox),
        cmocka_unit_test(test_runtime),
        cmocka_unit_test(test_snapshot_of_all),
        cmocka_unit_test(test_bad_definitions),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_lockstep_hides_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
