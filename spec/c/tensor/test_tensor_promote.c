/* Type promotion against PyTorch's table, result types, casts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tensor/promote.h"
#include "tensor/scalar.h"

/* The table of the documentation; xx: no common dtype. */
enum {
    b1 = LA_BOOL, u1 = LA_UINT8, i1 = LA_INT8, u2 = LA_UINT16, i2 = LA_INT16,
    u4 = LA_UINT32, i4 = LA_INT32, u8 = LA_UINT64, i8 = LA_INT64,
    f2 = LA_FLOAT16, bf = LA_BFLOAT16, f4 = LA_FLOAT32, f8 = LA_FLOAT64,
    c2 = LA_COMPLEX32, c4 = LA_COMPLEX64, c8 = LA_COMPLEX128, xx = LA_UNDEFINED
};
static const int order[16] = {b1, u1, i1, i2, i4, i8, f2, bf, f4, f8, c2, c4,
                              c8, u2, u4, u8};
static const int table[16][16] = {
/*       b1  u1  i1  i2  i4  i8  f2  bf  f4  f8  c2  c4  c8  u2  u4  u8 */
/* b1 */{b1, u1, i1, i2, i4, i8, f2, bf, f4, f8, c2, c4, c8, xx, xx, xx},
/* u1 */{u1, u1, i2, i2, i4, i8, f2, bf, f4, f8, c2, c4, c8, xx, xx, xx},
/* i1 */{i1, i2, i1, i2, i4, i8, f2, bf, f4, f8, c2, c4, c8, xx, xx, xx},
/* i2 */{i2, i2, i2, i2, i4, i8, f2, bf, f4, f8, c2, c4, c8, xx, xx, xx},
/* i4 */{i4, i4, i4, i4, i4, i8, f2, bf, f4, f8, c2, c4, c8, xx, xx, xx},
/* i8 */{i8, i8, i8, i8, i8, i8, f2, bf, f4, f8, c2, c4, c8, xx, xx, xx},
/* f2 */{f2, f2, f2, f2, f2, f2, f2, f4, f4, f8, c2, c4, c8, f2, f2, f2},
/* bf */{bf, bf, bf, bf, bf, bf, f4, bf, f4, f8, c4, c4, c8, bf, bf, bf},
/* f4 */{f4, f4, f4, f4, f4, f4, f4, f4, f4, f8, c4, c4, c8, f4, f4, f4},
/* f8 */{f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, c8, c8, c8, f8, f8, f8},
/* c2 */{c2, c2, c2, c2, c2, c2, c2, c4, c4, c8, c2, c4, c8, xx, xx, xx},
/* c4 */{c4, c4, c4, c4, c4, c4, c4, c4, c4, c8, c4, c4, c8, xx, xx, xx},
/* c8 */{c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, xx, xx, xx},
/* u2 */{xx, xx, xx, xx, xx, xx, f2, bf, f4, f8, xx, xx, xx, u2, xx, xx},
/* u4 */{xx, xx, xx, xx, xx, xx, f2, bf, f4, f8, xx, xx, xx, xx, u4, xx},
/* u8 */{xx, xx, xx, xx, xx, xx, f2, bf, f4, f8, xx, xx, xx, xx, xx, u8},
};

static void all_pairs(void **state)
{
    for (int a = 0; a < 16; a++)
        for (int b = 0; b < 16; b++) {
            int got = la_promote((la_dtype)order[a], (la_dtype)order[b]);
            if (got != table[a][b])
                fail_msg("%s with %s gives %s", la_dtype_name(order[a]),
                         la_dtype_name(order[b]),
                         got < LA_NDTYPES ? la_dtype_name(got) : "nothing");
        }
}

static void casts(void **state)
{
    assert_true(la_can_cast(LA_FLOAT64, LA_FLOAT16));
    assert_true(la_can_cast(LA_INT64, LA_UINT8));
    assert_true(la_can_cast(LA_INT8, LA_FLOAT16));
    assert_true(la_can_cast(LA_BOOL, LA_UINT8));
    assert_true(la_can_cast(LA_FLOAT32, LA_COMPLEX32));
    assert_false(la_can_cast(LA_FLOAT16, LA_INT64));
    assert_false(la_can_cast(LA_INT8, LA_BOOL));
    assert_false(la_can_cast(LA_FLOAT32, LA_BOOL));
    assert_false(la_can_cast(LA_COMPLEX32, LA_FLOAT64));
}

/* Kinds of operands: with dims, 0-dim, a number. */
typedef struct operand { char kind; int dtype; } operand;

static la_status result_of(int n, const operand *list, la_dtype *out)
{
    la_result_type r = LA_RESULT_TYPE_INIT;
    for (int k = 0; k < n; k++) {
        la_tensor *t;
        int64_t one = 1;
        la_tensor_empty(list[k].kind == 'd', &one, list[k].dtype, &t);
        if (list[k].kind == 'w') t->flags |= LA_F_WRAPPED;
        la_result_type_add(&r, t);
        la_tensor_release(t);
    }
    return la_result_type_get(&r, out);
}

static void categories(void **state)
{
    static const struct { int n; operand in[3]; int want; } rows[] = {
        {2, {{'d', i1}, {'w', i8}}, i1}, {2, {{'d', i8}, {'w', f8}}, f4},
        {2, {{'d', f2}, {'w', f8}}, f2}, {2, {{'d', f2}, {'w', c8}}, c2},
        {2, {{'d', u1}, {'0', i8}}, u1}, {2, {{'d', u1}, {'0', f8}}, f8},
        {2, {{'d', b1}, {'w', i8}}, i8}, {2, {{'d', b1}, {'0', u1}}, u1},
        {2, {{'0', i4}, {'w', i8}}, i4}, {2, {{'0', f2}, {'w', f8}}, f2},
        {2, {{'d', f2}, {'0', f8}}, f2}, {2, {{'d', bf}, {'0', c8}}, c4},
        {3, {{'d', i2}, {'0', f8}, {'w', c8}}, c8},
        {2, {{'d', u2}, {'w', i8}}, u2}, {2, {{'d', u2}, {'w', f8}}, f4},
        {1, {{'w', i8}}, i8}, {2, {{'w', b1}, {'w', i8}}, i8},
        {2, {{'d', i1}, {'d', u1}}, i2},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        la_dtype got = LA_UNDEFINED;
        assert_int_equal(result_of(rows[k].n, rows[k].in, &got), LA_OK);
        if ((int)got != rows[k].want)
            fail_msg("row %zu: %s", k, la_dtype_name(got));
    }
}

static void conflicts(void **state)
{
    la_dtype got;
    assert_int_equal(result_of(2, (operand[]){{'d', u2}, {'d', i8}}, &got),
                     LA_EDTYPE);
    assert_int_equal(result_of(3, (operand[]){{'d', u2}, {'d', u4},
                                              {'d', f4}}, &got), LA_EDTYPE);
    assert_int_equal(result_of(0, NULL, &got), LA_OK);
    assert_int_equal(got, LA_UNDEFINED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs), cmocka_unit_test(casts),
        cmocka_unit_test(categories), cmocka_unit_test(conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
