/* Decimal numbers read and written as the C library does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/decimal.h"

static uint64_t word = 88172645463325252u;

static uint64_t next_word(void)
{
    word ^= word << 13;
    word ^= word >> 7;
    return word ^= word << 17;
}

/* What strtod makes of the digits. */
static double by_library(uint64_t digits, int exponent)
{
    char text[48];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits,
             exponent);
    return strtod(text, NULL);
}

/* Is it decided? Then it is what the library says. */
static bool check_read(uint64_t digits, int exponent)
{
    double got;
    if (!la_decimal_nearest(digits, exponent, &got)) return false;
    assert_true(got == by_library(digits, exponent));
    return true;
}

static void random_digits_are_read(void **state)
{
    (void)state;
    int decided = 0, n = 0;
    for (int k = 0; k < 200000; k++) {
        int width = (int)(next_word() % 64), exponent = (int)(next_word() % 60);
        uint64_t digits = next_word() >> width | 1;
        decided += check_read(digits, exponent - 30), n++;
        check_read(digits, (int)(next_word() % 700) - 350);
    }
    assert_true(decided > n - 10);
    for (int k = -400; k < 400; k++)
        for (uint64_t d = 1; d < 12; d++) check_read(d, k);
}

/* Middles between two doubles, and their neighbours in the last digit. */
static void ties_are_read(void **state)
{
    (void)state;
    for (int k = 0; k < 100000; k++) {
        uint64_t tie = 2 * (next_word() >> 11 | UINT64_C(1) << 52) + 1;
        check_read(tie, 0);
        check_read(tie - 1, 0);
        check_read(tie * 10, -1);
        check_read(tie * 10 + 1, -1);
        check_read(tie * 10 - 1, -1);
    }
    assert_true(check_read(UINT64_C(9007199254740993), 0));
    assert_true(check_read(UINT64_C(9007199254740995), 0));
}

static int count_digits(uint64_t v)
{
    char text[20];
    return la_decimal_digits(v, text);
}

/* It comes back, and one digit less does not. */
static void check_written(double v)
{
    uint64_t bits;
    char text[48];
    memcpy(&bits, &v, sizeof bits);
    int exponent = (int)(bits >> 52);
    uint64_t c = bits & ((UINT64_C(1) << 52) - 1);
    la_decimal x = la_decimal_shortest(exponent ? c | UINT64_C(1) << 52 : c,
                                       (exponent ? exponent : 1) - 1075,
                                       c == 0 && exponent > 1);
    int n = count_digits(x.digits);
    assert_true(by_library(x.digits, x.exponent) == v);
    assert_true(x.digits % 10 != 0);
    if (n == 1) return;
    snprintf(text, sizeof text, "%.*e", n - 2, v);
    assert_true(strtod(text, NULL) != v);
}

static void doubles_are_written(void **state)
{
    (void)state;
    for (int k = 0; k < 100000; k++) {
        double v;
        uint64_t bits = next_word() >> 1;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v)) check_written(v);
        check_written((double)(next_word() % 1000000 + 1) / 1000);
    }
    for (int k = -1074; k < 1024; k++) {
        check_written(ldexp(1, k));
        check_written(nextafter(ldexp(1, k), INFINITY));
        if (k > -1074) check_written(nextafter(ldexp(1, k), 0));
    }
}

static void digits_are_written(void **state)
{
    (void)state;
    char text[20], want[32];
    uint64_t power = 1;
    for (int k = 0; k < 20; k++, power *= 10)
        for (uint64_t v = power - 1; v < power + 2; v++) {
            int n = la_decimal_digits(v, text);
            snprintf(want, sizeof want, "%llu", (unsigned long long)v);
            assert_int_equal(n, strlen(want));
            assert_memory_equal(text, want, (size_t)n);
        }
    assert_int_equal(la_decimal_digits(UINT64_MAX, text), 20);
    assert_memory_equal(text, "18446744073709551615", 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_digits_are_read),
        cmocka_unit_test(ties_are_read),
        cmocka_unit_test(doubles_are_written),
        cmocka_unit_test(digits_are_written)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
