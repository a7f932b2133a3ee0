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

#include "base/decimal.h"
#include "base/format.h"

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

/* Texts of every length with a point at every position, and with exponents. */
static void texts_of_every_length_are_read(void **state)
{
    (void)state;
    for (int length = 1; length <= 45; length++) {
        for (int point = -1; point <= length; point++) {
            char text[64], *p = text;
            bool nines = next_word() % 4 == 0;
            for (int k = 0; k < length; k++) {
                if (k == point) *p++ = '.';
                *p++ = (char)('0' + (nines ? 9 : next_word() % 10));
            }
            int behind = (int)(next_word() % 3);
            char *end = p;
            if (behind) p += sprintf(p, "e%d", (int)(next_word() % 60) - 30);
            if (behind) end = p;
            strcpy(p, "x");
            la_decimal_text got = la_decimal_read(text, p + 1);
            assert_ptr_equal(got.end, end);
            assert_true(got.value == strtod(text, NULL));
            assert_int_equal(got.whole,
                             (point < 0 || point == length) && !behind);
        }
    }
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

/* A random double: of any bits, of few decimals, or of few bits. */
static double some_double(int k)
{
    static const double parts[] = {1, 2, 8, 10, 100, 1000, 1024, 3};
    double v;
    uint64_t bits = next_word();
    memcpy(&v, &bits, sizeof v);
    if (k % 3 == 0)
        v = (double)(int64_t)(next_word() % 2000001 - 1000000)
            / parts[next_word() % 8];
    if (k % 7 == 0)
        v = ldexp((double)(next_word() % 16), (int)(next_word() % 2098) - 1074);
    return isfinite(v) ? v : 0.5;
}

static void check_text(const char *text)
{
    const char *end = text + strlen(text), *mark = strchr(text, 'e');
    double want = strtod(text, NULL);
    la_decimal_text got = la_decimal_read(text, end);
    assert_true(got.end == end);
    assert_true(got.value == want);
    assert_true(la_decimal_exact(text, mark ? mark : end,
                                 mark ? atoi(mark + 1) : 0) == want);
}

static void texts_of_any_length_are_read(void **state)
{
    (void)state;
    char text[2000];
    for (int k = 0; k < 20000; k++) {
        double v = fabs(some_double(k));
        snprintf(text, sizeof text, k % 2 ? "%.17g" : "%.25e", v);
        check_text(text);
    }
    /* The middle of two doubles in full, a little more, and a little less. */
    for (int k = 0; k < 2000; k++) {
        double v = fabs(some_double(k)), next = nextafter(v, INFINITY);
        int n = snprintf(text, 1990, "%.800Lf",
                         ((long double)v + (long double)next) / 2);
        check_text(text);
        strcpy(text + n, "0001");
        check_text(text);
        text[strcspn(text, "123456789")]--;
        check_text(text);
    }
    for (int k = -400; k < 400; k++) {
        snprintf(text, sizeof text, "12345678901234567890.5e%d", k);
        check_text(text);
    }
}

static void what_is_no_number_is_left(void **state)
{
    (void)state;
    static const struct { const char *text; int n; bool whole; } rows[] = {
        {"", 0, false}, {".", 0, false}, {"e5", 0, false}, {"-1", 0, false},
        {"12", 2, true}, {"12.", 3, false}, {".5", 2, false}, {"1e", 1, true},
        {"1e+", 1, true}, {"1.5e-3x", 6, false}, {"1,5", 1, true},
        {"0x10", 1, true}, {"inf", 0, false}, {" 1", 0, false}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const char *text = rows[k].text;
        la_decimal_text t = la_decimal_read(text, text + strlen(text));
        assert_int_equal(t.end - text, rows[k].n);
        if (rows[k].n) assert_int_equal(t.whole, rows[k].whole);
    }
}

static void formats_are_the_librarys(void **state)
{
    (void)state;
    static const char *const formats[] = {"%g", "%.17g", "%.3f", "%.0f", "%e",
        "%.0e", "%+g", "%12.4g|", "%-12.3f|", "%012.5f", "%.40e", "%.60f",
        "%.1g", "%.100f", "%.100e", "%.0g", "%+.3e"};
    char want[600], got[600];
    for (int k = 0; k < 20000; k++) {
        double v = some_double(k);
        const char *format = formats[k % 17];
        int n = snprintf(want, sizeof want, format, v);
        assert_int_equal(la_format(got, sizeof got, format, v), n);
        assert_string_equal(got, want);
    }
    static const char all[] = "a%5dz %-5d| %05d %+lld %zu %hhx %c %%%s %.3s "
        "%8s|%-8s| %.*s %u %ld %*d %e %f %g %g";
#define ALL -7, 42, -42, 5LL, (size_t)9, (unsigned char)255, 'q', "t", \
        "abcdef", "r", "l", 2, "xyz", 7u, -1L, -6, 3, 0.0, -0.0, \
        (double)INFINITY, 1e300
    snprintf(want, sizeof want, all, ALL);
    int n = la_format(got, sizeof got, all, ALL);
    assert_string_equal(got, want);
    assert_int_equal(n, strlen(want));
    assert_int_equal(la_format(got, 8, all, ALL), n);       /* clipped */
    assert_memory_equal(got, want, 7);
    assert_int_equal(got[7], '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_digits_are_read),
        cmocka_unit_test(texts_of_every_length_are_read),
        cmocka_unit_test(ties_are_read),
        cmocka_unit_test(doubles_are_written),
        cmocka_unit_test(digits_are_written),
        cmocka_unit_test(texts_of_any_length_are_read),
        cmocka_unit_test(what_is_no_number_is_left),
        cmocka_unit_test(formats_are_the_librarys)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
