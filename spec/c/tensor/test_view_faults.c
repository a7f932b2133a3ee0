/* Every allocation of every view, split and join fails once: the call says so
** and leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/runtime/memory.h"
#include "op/call.h"
#include "op/frame.h"
#include "tensor/text/print.h"

#define INTS(...) la_v_ints(((int64_t[]){__VA_ARGS__}), \
                        (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8))

typedef struct inputs {
    la_tensor *m, *transposed, *vector, *complex, *counts;
} inputs;

static la_status call(const inputs *in, int k, la_value *results)
{
    la_tensor *pair[2] = {in->m, in->transposed};
    la_value list = la_v_tensors(pair, 2), m = la_v_tensor(in->m),
    t = la_v_tensor(in->transposed);
    la_value v = la_v_tensor(in->vector), z = la_v_tensor(in->complex);
    switch (k) {
    case 0: return la_run_many(reshape, results, t, INTS(36));
    case 1: return la_run_many(flatten, results, t);
    case 2: return la_run_many(cat, results, list, 0);
    case 3: return la_run_many(stack, results, list, 1);
    case 4: return la_run_many(hstack, results, list);
    case 5: return la_run_many(dstack, results, list);
    case 6: return la_run_many(column_stack, results, list);
    case 7: return la_run_many(block_diag, results, list);
    case 8: return la_run_many(split, results, m, 2, 0);
    case 9: return la_run_many(split_sizes, results, m, INTS(1, 2, 3));
    case 10: return la_run_many(unbind, results, m);
    case 11: return la_run_many(tensor_split, results, m, 4);
    case 12: return la_run_many(chunk, results, m, 4);
    case 13: return la_run_many(meshgrid, results, la_v_tensors(
        ((la_tensor *[]){in->vector, in->vector}), 2), la_v_string("xy"));
    case 14: return la_run_many(broadcast_tensors, results, list);
    case 15: return la_run_many(flip, results, m, INTS(0, 1));
    case 16: return la_run_many(rot90, results, m);
    case 17: return la_run_many(roll, results, m, INTS(1, 2), INTS(0, 1));
    case 18: return la_run_many(roll, results, t, INTS(1));
    case 19: return la_run_many(repeat, results, t, INTS(2, 1, 3));
    case 20: return la_run_many(repeat_interleave, results, t, 2);
    case 21: return la_run_many(repeat_interleave_tensor, results, m,
                                in->counts, 0);
    case 22: return la_run_many(pad, results, m, INTS(1, 1));
    case 23: return la_run_many(pad, results, m, INTS(1, 1, 2, 0),
                                la_v_string("reflect"));
    case 24: return la_run_many(pad, results, m, INTS(1, 1),
                                la_v_string("replicate"));
    case 25: return la_run_many(tril, results, t);
    case 26: return la_run_many(tril_indices, results, 3, 4);
    case 27: return la_run_many(diag, results, m);
    case 28: return la_run_many(diag, results, v);
    case 29: return la_run_many(diagflat, results, t);
    case 30: return la_run_many(trace, results, m);
    case 31: return la_run_many(select_scatter, results, m, v, 0, 1);
    case 32: return la_run_many(diagonal_scatter, results, m, v);
    case 33: return la_run_many(unravel_index, results, in->counts, INTS(2, 3));
    case 34: return la_run_many(narrow_copy, results, m, 0, 1, 2);
    case 35: return la_run_many(imag, results, z);
    case 36: return la_run_many(resolve_conj, results, z);
    case 37: return la_run_many(mH, results, z);
    case 38: return la_run_many(cartesian_prod, results, la_v_tensors(
        ((la_tensor *[]){in->vector, in->vector}), 2));
    case 39: return la_run_many(combinations, results, v);
    case 40: return la_run_many(movedim, results, m, INTS(0), INTS(1));
    case 41: return la_run_many(vander, results, v);
    default: return LA_EKEY;
    }
}

static void make_inputs(inputs *in)
{
    int64_t two[] = {6, 6}, one = 6;
    la_tensor *z;
    assert_int_equal(la_tensor_empty(2, two, LA_FLOAT32, &in->m), LA_OK);
    assert_int_equal(la_tensor_empty(1, &one, LA_FLOAT32, &in->vector), LA_OK);
    assert_int_equal(la_tensor_empty(1, &one, LA_INT64, &in->counts), LA_OK);
    assert_int_equal(la_tensor_empty(2, two, LA_COMPLEX64, &z), LA_OK);
    for (int k = 0; k < 36; k++) ((float *)la_data(in->m))[k] = (float)k;
    for (int k = 0; k < 72; k++) ((float *)la_data(z))[k] = (float)k;
    for (int k = 0; k < 6; k++) ((float *)la_data(in->vector))[k] = (float)k;
    int64_t *counts = (int64_t *)la_data(in->counts);
    assert_non_null(counts);
    for (int64_t k = 0; k < 6; k++) counts[k] = k + 1;
    assert_int_equal(la_run(conj, &in->complex, z), LA_OK);
    la_tensor_release(z);
    assert_int_equal(la_run(t, &in->transposed, in->m), LA_OK);
}

static void drop_inputs(inputs *in)
{
    la_tensor_release(in->m);
    la_tensor_release(in->transposed);
    la_tensor_release(in->vector);
    la_tensor_release(in->complex);
    la_tensor_release(in->counts);
}

static void drop_results(la_value *results)
{
    for (int k = 0; k < LA_MAX_RESULTS; k++) la_value_drop(&results[k]);
}

/* Fail allocation 1, 2, ... until the call gets through. */
static void rehearse(const inputs *in, int k)
{
    la_value results[LA_MAX_RESULTS];
    size_t before = la_mem_stat().used;
    for (uint64_t n = 1; n < 400; n++) {
        la_mem_fail_at(n, false);
        la_status status = call(in, k, results);
        la_mem_fail_at(0, false);
        if (status == LA_OK) drop_results(results);
        if (la_mem_stat().used != before)
            fail_msg("call %d leaks when allocation %d fails", k, (int)n);
        if (status == LA_OK) return;
        if (status != LA_ENOMEM)
            fail_msg("call %d: %s", k, la_error_message());
    }
    fail_msg("call %d never ends", k);
}

static void every_allocation_fails(void **state)
{
    inputs in;
    size_t before = la_mem_stat().used;
    make_inputs(&in);
    for (int k = 0; k <= 41; k++) rehearse(&in, k);
    drop_inputs(&in);
    assert_int_equal(la_mem_stat().used, before);
}

static void printing_fails(void **state)
{
    inputs in;
    la_print_options o = {4, 1000, 3, 80, -1};
    make_inputs(&in);
    size_t before = la_mem_stat().used;
    for (uint64_t n = 1; n < 20; n++) {
        la_text text = {0};
        la_mem_fail_at(n, false);
        la_status status = la_tensor_print(in.m, &o, NULL, &text);
        la_mem_fail_at(0, false);
        la_text_free(&text);
        assert_int_equal(la_mem_stat().used, before);
        if (status == LA_OK) break;
        assert_int_equal(status, LA_ENOMEM);
    }
    drop_inputs(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(printing_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
