/* transpose_rows.h for those who call kernels. */
#include "kernel/reduce/transpose_rows.h"

static void turn(const la_reduce_rows *r, int64_t size, int64_t width,
                 char *out)
{
    turn_rows(r, size, width, out);
}

const la_reduce_transpose LA_KERNEL(reduce_transpose) = {turn};
