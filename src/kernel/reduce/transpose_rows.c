/* The table entry of reduce_transpose: transpose_rows.h, for callers outside of
** the kernels. */
#include "kernel/reduce/transpose_rows.h"

static void transpose(const la_reduce_rows *r, int64_t size, int64_t width,
                      char *out)
{
    transpose_rows(r, size, width, out);
}

const la_reduce_transpose LA_KERNEL(reduce_transpose) = {transpose};
