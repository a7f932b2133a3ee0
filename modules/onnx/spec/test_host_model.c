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

/* ---- sizes that the file leaves open ---- */

/* A network whose pictures may have any size, inputs of three sizes with what
** the model of the file gives, and its bytes. */
static const char open_script[] =
    "local la, nn = require 'lunarray', require 'lunarray.nn'\n"
    "la.manual_seed(4)\n"
    "local net = nn.Sequential(nn.Conv2d(3, 4, 5), nn.ReLU(),\n"
    "  nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)):eval()\n"
    "local bytes = la.onnx.save(net, nil, la.randn(2, 3, 9, 8),\n"
    "  {inputs = {'seen'}, outputs = {'done'},\n"
    "   dims = {seen = {'batch', nil, 'h', 'w'}}})\n"
    "local m = la.onnx.load(bytes, {bytes = true})\n"
    "local a, b = la.randn(1, 3, 6, 7), la.randn(3, 3, 20, 9)\n"
    "return bytes, a, m(a), b, m(b)\n";

/* NonZero: how many results there are depends on elements. */
static const char whole_script[] =
    "local la = require 'lunarray'\n"
    "local function value(name, dim)\n"
    "  return {name = name, type = {tensor_type = {elem_type = 1,\n"
    "    shape = {dim = {{dim_param = dim}}}}}}\n"
    "end\n"
    "local bytes = la.onnx.encode{ir_version = 9,\n"
    "  opset_import = {{version = 17}}, graph = {name = 'g', node = {\n"
    "    {op_type = 'NonZero', input = {'x'}, output = {'at'}},\n"
    "    {op_type = 'Cast', input = {'at'}, output = {'y'},\n"
    "     attribute = {{name = 'to', type = 2, i = 1}}}},\n"
    "  input = {value('x', 'n')}, output = {value('y', 'k')}}}\n"
    "local m = la.onnx.load(bytes, {bytes = true})\n"
    "local a, b = la.tensor{1., 0, 2}, la.tensor{0., 3}\n"
    "return bytes, a, m(a), b, m(b)\n";

/* The first state makes what is compared, with another model of the bytes. */
typedef struct case_of {
    lua_State *L;
    la_program *p;
    la_tensor *a, *ya, *b, *yb;
} case_of;

static void open_case(case_of *c, const char *text_of)
{
    size_t n;
    c->L = luaL_newstate();
    luaL_openlibs(c->L);
    assert_int_equal(la_openlibs(c->L), 0);
    if (luaL_dostring(c->L, text_of)) fail_msg("%s", lua_tostring(c->L, -1));
    const char *bytes = lua_tolstring(c->L, -5, &n);
    c->a = la_test(c->L, -4);
    c->ya = la_test(c->L, -3);
    c->b = la_test(c->L, -2);
    c->yb = la_test(c->L, -1);
    c->p = la_model_load(NULL, bytes, n, NULL);
    if (!c->p) fail_msg("%s", la_error_text());
}

static void close_case(case_of *c)
{
    la_program_release(c->p);
    lua_close(c->L);
}

static void check_run(la_program *p, la_tensor *x, la_tensor *y)
{
    la_tensor *out[1] = {NULL};
    uint64_t a, b;
    if (la_program_run(p, &x, out)) fail_msg("%s", la_error_text());
    la_hash(out[0], &a);
    la_hash(y, &b);
    assert_true(a == b);
    la_release(out[0]);
}

/* Small sizes and large ones alternate; a clone plans for itself, also behind
** the end of the program that it is of. */
static void open_sizes_are_those_of_the_call(void **state)
{
    int64_t sizes[4];
    case_of c;
    open_case(&c, open_script);
    assert_int_equal(la_program_form(c.p, LA_PROGRAM_INPUT, 0, NULL, 4, sizes),
                     4);
    assert_true(sizes[0] == -1 && sizes[1] == 3 && sizes[2] == -1);
    for (int k = 0; k < 2; k++) {
        check_run(c.p, c.a, c.ya);
        check_run(c.p, c.b, c.yb);
    }
    la_program *copy = la_program_clone(c.p);
    check_run(copy, c.b, c.yb);
    la_program_release(c.p);        /* the clone plans on */
    c.p = copy;
    check_run(c.p, c.a, c.ya);
    /* in steps */
    la_tensor *out[1] = {NULL};
    assert_int_equal(la_program_begin(c.p, &c.b, out), 0);
    assert_int_equal(la_program_begin(c.p, &c.a, out), LA_ESTATE);
    int status;
    do status = la_program_step(c.p, 1000);
    while (status == LA_MORE);
    assert_int_equal(status, 0);
    assert_int_equal(la_sizes(out[0])[0], 3);
    /* a result that is given; one of other sizes */
    assert_int_equal(la_program_run(c.p, &c.b, out), 0);
    assert_int_equal(la_program_run(c.p, &c.a, out), LA_ESHAPE);
    la_release(out[0]);
    close_case(&c);
}

/* A bias that grows by one moves the results of every plan by one. */
static void a_weight_is_one_for_all_sizes(void **state)
{
    case_of c;
    float was;
    open_case(&c, open_script);
    check_run(c.p, c.a, c.ya);
    check_run(c.p, c.b, c.yb);
    la_tensor *bias = la_program_weight(c.p, "4.bias");
    assert_non_null(bias);
    memcpy(&was, la_data(bias), sizeof was);
    float other = was + 1;
    memcpy(la_data(bias), &other, sizeof other);
    la_mark_written(bias);
    la_tensor *xs[2] = {c.a, c.b}, *ys[2] = {c.ya, c.yb};
    for (int k = 0; k < 2; k++) {
        la_tensor *out[1] = {NULL};
        assert_int_equal(la_program_run(c.p, &xs[k], out), 0);
        float got = *(float *)la_data(out[0]), old = *(float *)la_data(ys[k]);
        assert_true(got - old > 0.999f && got - old < 1.001f);
        la_release(out[0]);
    }
    la_release(bias);
    close_case(&c);
}

/* An error leaves the program as it was. */
static void sizes_that_are_fixed_stay(void **state)
{
    case_of c;
    la_tensor *out[1] = {NULL};
    float data[2 * 4 * 9 * 9] = {0};
    open_case(&c, open_script);
    la_tensor *x = la_wrap(data, "float32", 4, (int64_t[]){2, 4, 9, 9}, NULL,
                           NULL, NULL);
    assert_int_equal(la_program_run(c.p, &x, out), LA_ESHAPE);
    assert_non_null(strstr(la_error_text(), "[-1, 3, -1, -1] expected"));
    la_release(x);
    /* too small for the window: the plan fails, and later calls run */
    x = la_wrap(data, "float32", 4, (int64_t[]){1, 3, 2, 2}, NULL, NULL, NULL);
    assert_true(la_program_run(c.p, &x, out) != 0);
    assert_non_null(strstr(la_error_text(), "conv2d"));
    la_release(x);
    check_run(c.p, c.a, c.ya);
    close_case(&c);
}

/* Runs by the state, which begin and step do at once. */
static void elements_may_choose(void **state)
{
    case_of c;
    open_case(&c, whole_script);
    for (int k = 0; k < 2; k++) {
        check_run(c.p, c.a, c.ya);
        check_run(c.p, c.b, c.yb);
    }
    la_program *copy = la_program_clone(c.p);
    check_run(copy, c.a, c.ya);
    la_program_release(copy);
    la_tensor *out[1] = {NULL};
    assert_int_equal(la_program_begin(c.p, &c.b, out), 0);
    assert_int_equal(la_program_step(c.p, 0), 0);
    assert_int_equal(la_program_run(c.p, &c.b, out), 0);    /* given */
    assert_int_equal(la_program_run(c.p, &c.a, out), LA_ESHAPE);
    la_release(out[0]);
    la_sink none = {.size = sizeof none};
    assert_int_equal(la_program_save_to(c.p, &none, NULL), LA_ESUPPORT);
    close_case(&c);
}

/* ---- files that a program is kept in ---- */

static int put(void *context, const void *data, size_t n)
{
    text *t = context;
    t->bytes = realloc((void *)t->bytes, t->n + n);
    memcpy((char *)t->bytes + t->n, data, n);
    t->n += n;
    return 0;
}

static void what_ran_last_is_saved_first(void **state)
{
    case_of c;
    text t = {NULL, 0, 0};
    open_case(&c, open_script);
    check_run(c.p, c.a, c.ya);
    check_run(c.p, c.b, c.yb);
    la_sink sink = {.size = sizeof sink, .context = &t, .write = put};
    if (la_program_save_to(c.p, &sink, NULL)) fail_msg("%s", la_error_text());
    la_program *again = la_program_load(NULL, t.bytes, t.n);
    if (!again) fail_msg("%s", la_error_text());
    check_run(again, c.b, c.yb);
    la_program_release(again);
    free((void *)t.bytes);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_a_program),
        cmocka_unit_test(open_sizes_are_those_of_the_call),
        cmocka_unit_test(a_weight_is_one_for_all_sizes),
        cmocka_unit_test(sizes_that_are_fixed_stay),
        cmocka_unit_test(elements_may_choose),
        cmocka_unit_test(what_ran_last_is_saved_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
