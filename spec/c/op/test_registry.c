/* The rows of the registry against the kernel tables that they name: a dtype
** that a row promises has a kernel, one that it does not promise is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "base/runtime/context.h"
#include "kernel/reduce/reduce_loops.h"
#include "lunarray.h"
#include "op/families.h"
#include "op/op.h"
#include "op/schema.h"

/* A value for a parameter that is no tensor: its default, or 1. */
static la_value plain_value(const la_param *p)
{
    if (p->fallback.tag != LA_VNONE) return p->fallback;
    switch (p->type) {
    case LA_TYPE_SCALAR: return la_v_scalar(la_scalar_int(1));
    case LA_TYPE_INT: return la_v_int(1);
    case LA_TYPE_FLOAT: return la_v_float(1);
    case LA_TYPE_BOOL: return la_v_bool(false);
    default: return la_v_none();
    }
}

/* The plan of an element-wise row for ones of the dtype. */
static la_status plan_for(const la_op *op, la_dtype d, la_loop_plan *plan)
{
    const la_schema *s = la_schema_of(op);
    const la_family *family = op->family;
    la_value args[LA_MAX_ARGS];
    la_frame f = {.op = op, .args = args, .nargs = s->nparams};
    la_tensor *held[LA_MAX_ARGS] = {NULL};
    const int64_t size = 2;
    for (int k = 0; k < s->nparams; k++) {
        args[k] = plain_value(&s->params[k]);
        if (k >= family->ninputs) continue;
        la_dtype own = k < family->nraw ? LA_BOOL : d;
        assert_int_equal(la_tensor_empty(1, &size, own, &held[k]), LA_OK);
        memset(la_data(held[k]), 1, 2 * la_dtype_size(own));
        args[k] = la_v_tensor(held[k]);
    }
    plan->loop = NULL;
    la_status status = la_pointwise_plan(&f, d, plan);
    for (int k = 0; k < LA_MAX_ARGS; k++) la_tensor_drop(&held[k]);
    return status;
}

static void check_element_wise(const la_op *op, la_dtype d)
{
    la_loop_plan plan;
    la_status status = plan_for(op, d, &plan);
    bool promised = op->dtypes & LA_DTYPE_BIT(d);
    if (promised && (status || !plan.loop))
        fail_msg("%s promises %s: %s", op->name, la_dtype_name(d),
                 la_error_message());
    if (!promised && !status)
        fail_msg("%s computes in %s, which its row does not say", op->name,
                 la_dtype_name(d));
}

/* A table may have more than the row promises, never less. */
static void check_reduction(const la_op *op, la_dtype d)
{
    for (int cap = 0; cap < LA_NCAPS; cap++) {
        const la_reduction *r = &(*(const la_reductions *)
                                  op->tables[cap])[d];
        if (!(op->dtypes & LA_DTYPE_BIT(d))) continue;
        if (!r->inner || !r->outer || !r->store || r->acc_size <= 0)
            fail_msg("%s promises %s, and table %d has no kernel", op->name,
                     la_dtype_name(d), cap);
    }
}

static void test_rows_and_tables(void **state)
{
    (void)state;
    for (int id = 0; id < la_op_count(); id++) {
        const la_op *op = la_op_at(id);
        assert_int_equal(op->id, id);
        for (int d = 0; d < LA_NDTYPES; d++) {
            if (op->family) check_element_wise(op, (la_dtype)d);
            if (la_is_reduction(op)) check_reduction(op, (la_dtype)d);
        }
    }
}

static void test_rows_are_found(void **state)
{
    (void)state;
    assert_ptr_equal(la_op_lookup("add", 3), LA_OP(add));
    assert_ptr_equal(la_op_at(LA_OP(max_dim)->id), LA_OP(max_dim));
    assert_null(la_op_at(la_op_count()));
    assert_null(la_op_at(-1));
    for (int id = 0; id < la_op_count(); id++)
        assert_true(la_op_at(id)->dtypes != 0);
}

/* What the parser leaves of a text that it does not understand, put under a
** row's name. */
static void test_no_call_fits_a_broken_schema(void **state)
{
    static la_schema broken;
    const la_op *op = la_op_lookup("eye", 3);
    const la_schema *before = la_schema_of(op);
    (void)state;
    assert_int_equal(la_schema_parse("eye(int n = 1,5) -> Tensor", &broken),
                     LA_EARG);
    op->state->schema = &broken;
    assert_null(la_call_list(NULL, "eye", 0, NULL, NULL));
    assert_memory_equal(la_error_text(), "eye: ", 5);
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    if (luaL_dostring(L, "local la = require 'lunarray'\n"
        "for n = 0, 3 do\n"
        "  local ok, text = pcall(la.eye, table.unpack({3, 3, {}}, 1, n))\n"
        "  assert(not ok and text:find('eye: ', 1, true), text)\n"
        "end")) fail_msg("%s", lua_tostring(L, -1));
    lua_close(L);
    op->state->schema = before;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_tables),
        cmocka_unit_test(test_rows_are_found),
        cmocka_unit_test(test_no_call_fits_a_broken_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
