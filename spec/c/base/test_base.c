/* Status record, dtypes, 16-bit floats, CPU levels, contexts. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/runtime/context.h"
#include "base/os/cpu.h"
#include "base/half.h"
#include "base/runtime/runtime.h"
#include "base/status.h"

static void errors_are_recorded(void **state)
{
    assert_int_equal(la_error_at(LA_ESHAPE, 2, "size %d", 7), LA_ESHAPE);
    assert_string_equal(la_error_message(), "size 7");
    assert_int_equal(la_error_arg(), 2);
    la_error(LA_EARG, "after: %s", la_error_message());
    assert_string_equal(la_error_message(), "after: size 7");
    assert_int_equal(la_error_arg(), 0);
    la_error_clear();
    assert_int_equal(la_error_status(), LA_OK);
    assert_string_equal(la_error_message(), "");
}

static void *other_thread(void *unused)
{
    la_error(LA_EIO, "of the other");
    return unused;
}

static void each_thread_has_its_record(void **state)
{
    pthread_t t;
    la_error(LA_EARG, "mine");
    pthread_create(&t, NULL, other_thread, NULL);
    pthread_join(t, NULL);
    assert_string_equal(la_error_message(), "mine");
}

static void long_texts_are_cut(void **state)
{
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    la_error(LA_EARG, "%s", text);
    assert_int_equal(strlen(la_error_message()), 1023);
}

static void user_text_is_quoted(void **state)
{
    char out[900], text[1000];
    assert_string_equal(la_quote("a\0b\x1b[%s\xff", 8, out, sizeof out),
                        "a\\x00b\\x1B[%s\\xFF");
    memset(text, '\n', sizeof text);
    la_quote(text, sizeof text, out, sizeof out);
    assert_int_equal(strlen(out), 200 * 4 + 3);
    memset(text, 'y', sizeof text);
    for (size_t capacity = 1; capacity < 12; capacity++) {
        la_quote(text, sizeof text, out, capacity);
        assert_true(strlen(out) < capacity);
    }
}

static void dtypes_have_names(void **state)
{
    for (int d = 0; d < LA_NDTYPES; d++) {
        const char *name = la_dtype_name(d);
        assert_int_equal(la_dtype_parse(name, strlen(name)), d);
    }
    assert_int_equal(la_dtype_parse("long", 4), LA_INT64);
    assert_int_equal(la_dtype_parse("float", 4), LA_UNDEFINED);
    assert_int_equal(la_dtype_parse("", 0), LA_UNDEFINED);
    assert_int_equal(la_dtype_size(LA_COMPLEX32), 4);
    assert_int_equal(la_dtype_to_real(LA_COMPLEX64), LA_FLOAT32);
    assert_int_equal(la_dtype_to_complex(LA_FLOAT64), LA_COMPLEX128);
    assert_int_equal(la_dtype_to_complex(LA_INT8), LA_UNDEFINED);
}

static void every_half_survives_the_round_trip(void **state)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        la_f16 h = {(uint16_t)bits};
        float f = la_f16_to_f32(h);
        uint16_t back = la_f32_to_f16(f).bits;
        bool nan = (bits & 0x7fff) > 0x7c00;
        assert_int_equal(isnan(f) != 0, nan);
        assert_int_equal(back, nan ? bits | 0x200 : bits);
        la_bf16 b = {(uint16_t)bits};
        f = la_bf16_to_f32(b);
        nan = (bits & 0x7fff) > 0x7f80;
        assert_int_equal(la_f32_to_bf16(f).bits, nan ? bits | 0x40 : bits);
    }
}

/* Between two neighbours the middle goes to the even one, all else to the
** nearer. */
static void halves_round_to_nearest_even(void **state)
{
    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        float low = la_f16_to_f32((la_f16){(uint16_t)bits});
        float high = la_f16_to_f32((la_f16){(uint16_t)(bits + 1)});
        float middle = (low + high) / 2;
        uint32_t even = bits + (bits & 1);
        assert_int_equal(la_f32_to_f16(middle).bits, even);
        assert_int_equal(la_f32_to_f16(nextafterf(middle, 0)).bits, bits);
        assert_int_equal(la_f32_to_f16(nextafterf(middle, 1e9f)).bits,
                         bits + 1);
        assert_int_equal(la_f32_to_f16(-middle).bits, even | 0x8000);
    }
    assert_int_equal(la_f32_to_f16(65519.996f).bits, 0x7bff);
    assert_int_equal(la_f32_to_f16(65520.0f).bits, 0x7c00);
    assert_int_equal(la_f32_to_f16(1e30f).bits, 0x7c00);
    assert_int_equal(la_f32_to_bf16(3.4e38f).bits, 0x7f80);
}

/* A fresh process with LUNARRAY_CPU = 'word': its level, and whether a note. */
static int level_of_child(const char *word, int *noted)
{
    int ends[2];
    unsigned char reported[2] = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("LUNARRAY_CPU", word, 1);
        reported[0] = (unsigned char)la_cpu_cap();
        reported[1] = la_cpu_note()[0] != '\0';
        _exit(write(ends[1], reported, 2) != 2);
    }
    assert_int_equal(read(ends[0], reported, 2), 2);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    *noted = reported[1];
    return reported[0];
}

static void the_cpu_level_can_only_be_lowered(void **state)
{
    int noted, best = level_of_child("", &noted);
    assert_false(noted);
    for (int c = 0; c < LA_NCAPS; c++) {
        int got = level_of_child(la_cap_name(c), &noted);
        assert_int_equal(got, noted ? best : c);
        assert_true(c <= best || noted);   /* a build may lack lower ones */
    }
    assert_int_equal(level_of_child("quantum", &noted), best);
    assert_true(noted);
    for (int level = 1; level <= 3; level++)
        assert_true(la_cpu_cache(level) >= 4096);
}

static void contexts_have_defaults(void **state)
{
    assert_int_equal(la_ctx()->default_dtype, LA_FLOAT32);
    la_context c;
    la_context_init(&c, &la_default_runtime);
    la_current_context = &c;
    c.default_dtype = LA_FLOAT64;
    assert_int_equal(la_ctx()->default_dtype, LA_FLOAT64);
    la_current_context = NULL;
    assert_int_equal(la_ctx()->default_dtype, LA_FLOAT32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_level_can_only_be_lowered),
        cmocka_unit_test(errors_are_recorded),
        cmocka_unit_test(each_thread_has_its_record),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(user_text_is_quoted),
        cmocka_unit_test(dtypes_have_names),
        cmocka_unit_test(every_half_survives_the_round_trip),
        cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(contexts_have_defaults)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
