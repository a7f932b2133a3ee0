/* Structs that begin with their size: older, newer, wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api_struct.h"

typedef struct sample {
    size_t size;
    int64_t first, second;
} sample;

static void shorter_ones_end_in_zeros(void **state)
{
    sample given = {offsetof(sample, second), 7, 8}, read = {1, 2, 3};
    assert_int_equal(LA_READ_STRUCT("f", sample, &given, &read), LA_OK);
    assert_int_equal(read.size, sizeof(sample));
    assert_int_equal(read.first, 7);
    assert_int_equal(read.second, 0);
    given.size = sizeof given.size + 1;      /* one byte of a field */
    given.first = 0x107;
    assert_int_equal(LA_READ_STRUCT("f", sample, &given, &read), LA_OK);
    assert_int_equal(read.first, 7);
    assert_int_equal(LA_READ_STRUCT("f", sample, NULL, &read), LA_OK);
    assert_int_equal(read.first, 0);
}

static void longer_ones_must_be_zero_behind(void **state)
{
    struct { sample known; int64_t more[2]; } given = {{0, 7, 8}, {0, 0}};
    sample read = {0};
    given.known.size = sizeof given;
    assert_int_equal(LA_READ_STRUCT("f", sample, &given.known, &read), LA_OK);
    assert_int_equal(read.second, 8);
    assert_int_equal(read.size, sizeof(sample));
    given.more[1] = (int64_t)1 << 62;
    read.second = 5;
    assert_int_equal(LA_READ_STRUCT("f", sample, &given.known, &read), LA_EARG);
    assert_int_equal(read.second, 8);       /* there to be released */
    assert_int_equal(strncmp(la_error_message(), "f: sample.size is", 17), 0);
}

static void sizes_that_are_none_are_refused(void **state)
{
    sample s = {0, 7, 8}, read = {0};
    for (s.size = 0; s.size < sizeof(size_t); s.size++)
        assert_int_equal(LA_READ_STRUCT("f", sample, &s, &read), LA_EARG);
    assert_int_equal(read.first, 0);
    s.size = SIZE_MAX;                      /* never read that far */
    assert_int_equal(LA_READ_STRUCT("f", sample, &s, &read), LA_EARG);
    assert_int_equal(read.first, 0);
    assert_non_null(strstr(la_error_message(), "sizeof(sample)"));
    s.size = 0;
    assert_int_equal(LA_WRITE_STRUCT("f", sample, &read, &s), LA_EARG);
    assert_int_equal(LA_WRITE_STRUCT("f", sample, &read, NULL), LA_EARG);
}

static void answers_fill_what_there_is(void **state)
{
    sample known = {sizeof known, 7, 8}, out = {0, -1, -1};
    out.size = offsetof(sample, second);
    assert_int_equal(LA_WRITE_STRUCT("f", sample, &known, &out), LA_OK);
    assert_int_equal(out.first, 7);
    assert_int_equal(out.second, -1);
    assert_int_equal(out.size, offsetof(sample, second));
    struct { sample known; int64_t more; } longer = {{0, 0, 0}, 0};
    longer.known.size = sizeof longer;
    assert_int_equal(LA_WRITE_STRUCT("f", sample, &known, &longer.known),
                     LA_OK);
    assert_int_equal(longer.known.second, 8);
    assert_int_equal(longer.more, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shorter_ones_end_in_zeros),
        cmocka_unit_test(longer_ones_must_be_zero_behind),
        cmocka_unit_test(sizes_that_are_none_are_refused),
        cmocka_unit_test(answers_fill_what_there_is)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
