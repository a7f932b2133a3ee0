/* Model files in hosts: la_model_load gives a program with the model's values
** and names; damage is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

/* A network as a file, an input, and what the model of the file gives. */
static const char script[] =
    "local la, nn = require 'lunarray', require 'lunarray.nn'\n"
    "la.manual_seed(4)\n"
    "local net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))\n"
    "local x, path = la.randn(3, 6), os.tmpname()\n"
    "la.onnx.save(net, path, x, {inputs = {'seen'},\n"
    "  outputs = {'done'}})\n"
    "local file = io.open(path, 'rb')\n"
    "local bytes = file:read 'a'\n"
    "file:close()\n"
    "os.remove(path)\n"
    "return bytes, x, la.onnx.load(bytes, {bytes = true})(x)\n";

/* A source of the host's, and how often it was closed. */
typedef struct text { const char *bytes; size_t n; int closed; } text;

static int64_t get(void *context, int64_t offset, void *buffer, int64_t n)
{
    memcpy(buffer, ((text *)context)->bytes + offset, (size_t)n);
    return n;
}

static void end(void *context) { ((text *)context)->closed++; }

/* One input, one output, and the values to the bit. */
static void check_program(la_program *p, la_tensor *x, la_tensor *y)
{
    la_tensor *out[1] = {NULL};
    uint64_t a, b;
    if (!p) fail_msg("%s", la_error_text());
    assert_int_equal(la_program_inputs(p), 1);
    assert_int_equal(la_program_outputs(p), 1);
    if (la_program_run(p, &x, out)) fail_msg("%s", la_error_text());
    la_hash(out[0], &a);
    la_hash(y, &b);
    assert_true(a == b);
    la_release(out[0]);
}

static void a_model_is_a_program(void **state)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    if (luaL_dostring(L, script)) fail_msg("%s", lua_tostring(L, -1));
    text t = {NULL, 0, 0};
    t.bytes = lua_tolstring(L, -3, &t.n);
    la_tensor *x = la_retain(la_test(L, -2)), *y = la_retain(la_test(L, -1));
    la_program *p = la_model_load(NULL, t.bytes, t.n, "onnx");
    check_program(p, x, y);
    assert_string_equal(la_program_name(p, LA_PROGRAM_INPUT, 0), "seen");
    assert_string_equal(la_program_name(p, LA_PROGRAM_OUTPUT, 0), "done");
    la_tensor *bias = la_program_weight(p, "2.bias");
    assert_non_null(bias);
    assert_int_equal(la_numel(bias), 2);
    la_release(bias);
    la_program_release(p);
    /* from a source, which is closed once */
    la_source source = {.size = sizeof source, .context = &t,
                        .length = (int64_t)t.n, .read = get, .close = end};
    p = la_model_load_from(NULL, &source, NULL);
    check_program(p, x, y);
    assert_int_equal(t.closed, 1);
    la_program_release(p);
    /* half of the file, another format, nothing */
    assert_null(la_model_load(NULL, t.bytes, t.n / 2, NULL));
    assert_int_equal(la_error_code(), LA_EIO);
    assert_null(la_model_load(NULL, t.bytes, t.n, "caffe"));
    assert_int_equal(la_error_code(), LA_EARG);
    assert_null(la_model_load(NULL, NULL, 0, NULL));
    assert_null(la_model_load_from(NULL, NULL, NULL));
    la_release(x);
    la_release(y);
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
