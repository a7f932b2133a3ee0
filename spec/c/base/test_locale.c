/*
** A host that has a comma for the point: its locale is set before the library
** is used, or when some operations have been called. Each is a process of its
** own, as schemas are read once.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <locale.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lunarray.h"

static char folder[] = "/tmp/lunarray-locale-XXXXXX";

/* glibc's sources of locales are the package 'locales'. */
static int make_locale(void **state)
{
    char command[200];
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
    return system(command) || setenv("LOCPATH", folder, 1) ? -1 : 0;
}

static int drop_locale(void **state)
{
    char command[200];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void set_locale(void)
{
    char text[8];
    assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
}

static void run(lua_State *L, const char *text)
{
    if (luaL_dostring(L, text)) fail_msg("%s", lua_tostring(L, -1));
}

/* Defaults with a fraction, lists of numbers, texts of numbers. */
static void use_from_lua(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    run(L, "local la = require 'lunarray'\n"
        "local x = la.tensor{-1., 1}\n"
        "assert(la.eye(3):sum():item() == 3)\n"
        "assert(x:leaky_relu()[1]:item() == la.tensor(-0.01):item())\n"
        "assert(x:elu() ~= nil and x:dropout(0) ~= nil)\n"
        "local sorted = x:sort()\n"
        "assert(sorted[1]:item() == -1)\n"
        "assert(tostring(x / 2):find('-0.5000,  0.5000', 1, true))\n"
        "local ok, text = pcall(la.dropout, x, 1.5)\n"
        "assert(text:find('1.5', 1, true), text)\n");
    lua_close(L);
}

static void use_from_c(void)
{
    la_tensor *x = la_call(NULL, "ones", 2), *y = la_call(NULL, "neg", x);
    la_tensor *z = la_call(NULL, "leaky_relu", y);
    assert_non_null(z);
    assert_true(((float *)la_tensor_data(z))[0] == -0.01f);
    la_release(z);
    z = la_call(NULL, "celu", y);
    assert_non_null(z);
    la_release(z);
    assert_null(la_call(NULL, "dropout", x, 1.5));
    assert_non_null(strstr(la_error_text(), "1.5"));
    la_release(y);
    la_release(x);
}

/* In a child, whose assertions end it. */
static void in_child(void (*body)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void early(void)
{
    set_locale();
    use_from_lua();
    use_from_c();
}

static void late(void)
{
    la_release(la_call(NULL, "ones", 2));
    la_release(la_call(NULL, "rand", 3));
    set_locale();
    use_from_c();
    use_from_lua();
}

static void test_set_before_the_first_call(void **state)
{
    (void)state;
    in_child(early);
}

static void test_set_after_some_calls(void **state)
{
    (void)state;
    in_child(late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_before_the_first_call),
        cmocka_unit_test(test_set_after_some_calls),
    };
    return cmocka_run_group_tests(tests, make_locale, drop_locale);
}
