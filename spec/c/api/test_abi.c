/*
** The binary interface: where fields of public structs lie, and what codes are.
** Hosts were compiled against these figures: fields are only appended, numbers
** stay. Figures are those of 64-bit machines.
*/
#define LA_INTERNAL
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lunarray.h"

/* A field and all bytes before it. */
#define AT(type, field, offset) \
    {#type "." #field, offsetof(type, field), offset}
#define IS(type, bytes) {"sizeof " #type, sizeof(type), bytes}

typedef struct fact {
    const char *name;
    size_t here, published;
} fact;

static void check(const fact *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].here != list[i].published)
            fail_msg("%s is %zu, was %zu", list[i].name, list[i].here,
                     list[i].published);
}
#define CHECK(list) check(list, sizeof(list) / sizeof(*(list)))

static void structs_stay(void **state)
{
    static const fact list[] = {
        IS(la_any, 64), AT(la_any, kind, 0), AT(la_any, tensor, 8),
        AT(la_any, integer, 16), AT(la_any, count, 24), AT(la_any, number, 32),
        AT(la_any, text, 40), AT(la_any, list, 48), AT(la_any, name, 56),
        IS(la_range, 64), AT(la_range, kind, 0), AT(la_range, flags, 4),
        AT(la_range, first, 8), AT(la_range, last, 16), AT(la_range, step, 24),
        AT(la_range, tensor, 32), AT(la_range, reserved, 40),
        IS(la_jobs, 48), AT(la_jobs, host, 8), AT(la_jobs, workers, 16),
        AT(la_jobs, parallel_for, 24), AT(la_jobs, enqueue, 32),
        AT(la_jobs, finish, 40), IS(la_config, 136), AT(la_config, flags, 8),
        AT(la_config, alloc, 16), AT(la_config, release, 24),
        AT(la_config, alloc_context, 32), AT(la_config, jobs, 40),
        AT(la_config, memory, 88), AT(la_config, log, 96),
        AT(la_config, log_context, 104), AT(la_config, stop_context, 112),
        AT(la_config, stop, 120), AT(la_config, seed, 128),
        IS(la_memory, 48), AT(la_memory, now, 8),
        AT(la_memory, peak, 16), AT(la_memory, cap, 24),
        AT(la_memory, cached, 32), AT(la_memory, blocks, 40),
        IS(la_limits, 72), AT(la_limits, memory, 8),
        AT(la_limits, deadline, 16), AT(la_limits, fuel, 24),
        AT(la_limits, open, 32), AT(la_limits, open_context, 40),
        AT(la_limits, runtime, 48), AT(la_limits, stack, 56),
        AT(la_limits, stack_bytes, 64),
        IS(la_buffer, 72), AT(la_buffer, data, 8), AT(la_buffer, dtype, 16),
        AT(la_buffer, ndim, 24), AT(la_buffer, flags, 28),
        AT(la_buffer, sizes, 32), AT(la_buffer, byte_strides, 40),
        AT(la_buffer, extent, 48), AT(la_buffer, release, 56),
        AT(la_buffer, context, 64), IS(la_source, 40),
        AT(la_source, context, 8),
        AT(la_source, length, 16), AT(la_source, read, 24),
        AT(la_source, close, 32), IS(la_sink, 24), AT(la_sink, context, 8),
        AT(la_sink, write, 16), IS(la_named, 16), AT(la_named, name, 0),
        AT(la_named, tensor, 8), IS(la_op_def, 56), AT(la_op_def, schema, 8),
        AT(la_op_def, doc, 16), AT(la_op_def, shape, 24),
        AT(la_op_def, fill, 32), AT(la_op_def, user, 40),
        AT(la_op_def, drop, 48), IS(la_device_def, 64),
        AT(la_device_def, name, 8), AT(la_device_def, user, 16),
        AT(la_device_def, alloc, 24), AT(la_device_def, release, 32),
        AT(la_device_def, copy_in, 40), AT(la_device_def, copy_out, 48),
        AT(la_device_def, copy, 56)
    };
    if (sizeof(void *) != 8) skip();
    CHECK(list);
}

static void numbers_stay(void **state)
{
    static const fact list[] = {
        {"LA_EARG", LA_EARG, 1}, {"LA_ESHAPE", LA_ESHAPE, 2},
        {"LA_EDTYPE", LA_EDTYPE, 3}, {"LA_EINDEX", LA_EINDEX, 4},
        {"LA_EALIAS", LA_EALIAS, 5}, {"LA_ESTATE", LA_ESTATE, 6},
        {"LA_ENOMEM", LA_ENOMEM, 7}, {"LA_EIO", LA_EIO, 8},
        {"LA_EINTR", LA_EINTR, 9}, {"LA_EGRAD", LA_EGRAD, 10},
        {"LA_EKEY", LA_EKEY, 11}, {"LA_ECANCEL", LA_ECANCEL, 12},
        {"LA_EDEADLINE", LA_EDEADLINE, 13}, {"LA_EFUEL", LA_EFUEL, 14},
        {"LA_EJOBS", LA_EJOBS, 15}, {"LA_ESUPPORT", LA_ESUPPORT, 16},
        {"LA_ELUA", LA_ELUA, 17}, {"LA_MORE", LA_MORE, 18},
        {"LA_PROGRAM_WEIGHT", LA_PROGRAM_WEIGHT, 2},
        {"LA_BYTES_ARENA", LA_BYTES_ARENA, 2},
        {"LA_LOG_ERROR", LA_LOG_ERROR, 1}, {"LA_LOG_DEBUG", LA_LOG_DEBUG, 4},
        {"LA_DETERMINISTIC", LA_DETERMINISTIC, 1},
        {"LA_ZERO_MEMORY", LA_ZERO_MEMORY, 2}, {"LA_BY", LA_BY, 5},
        {"LA_READ_ONLY", LA_READ_ONLY, 1}, {"LA_ARG_NONE", LA_ARG_NONE, 0},
        {"LA_ARG_TENSOR", LA_ARG_TENSOR, 1},
        {"LA_ARG_INTEGER", LA_ARG_INTEGER, 2},
        {"LA_ARG_NUMBER", LA_ARG_NUMBER, 3},
        {"LA_ARG_BOOLEAN", LA_ARG_BOOLEAN, 4},
        {"LA_ARG_TEXT", LA_ARG_TEXT, 5},
        {"LA_ARG_INTEGERS", LA_ARG_INTEGERS, 6},
        {"LA_ARG_TENSORS", LA_ARG_TENSORS, 7}
    };
    CHECK(list);
    assert_int_equal(la_version(), LA_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_stay),
        cmocka_unit_test(numbers_stay)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
