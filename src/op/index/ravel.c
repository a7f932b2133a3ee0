/*
** ravel_multi_index: coordinates, one tensor for each dim of a shape, to the
** position (from 1) in the flat tensor: 1 + sum over d of (i_d - 1) * stride_d.
*/
#include "op/index/index.h"

#define LA_ROWS "op/def/index.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* *sum += (index - 1) * stride, negative indices counted from the end; the
** first call starts the sum at 1. 'dim' is for the message of an index out of
** range. */
static la_status add_position(la_tensor **sum, la_tensor *index, int dim,
                              int64_t size, int64_t stride)
{
    la_tensor *next = NULL;
    LA_TRY(la_index_dtype(index, 1, "ravel_multi_index()"));
    LA_LET(checked, la_index_checked(index, size, dim, 1, &checked));
    LA_LET(low, la_run(lt, &low, checked, la_scalar_int(0)));
    LA_LET(end, la_run(add, &end, checked, la_scalar_int(size + 1)));
    LA_LET(wrapped, la_run(where, &wrapped, low, end, checked));
    LA_LET(zero_based, la_run(sub, &zero_based, wrapped, la_scalar_int(1)));
    LA_LET(part, la_run(mul, &part, zero_based, la_scalar_int(stride)));
    if (!*sum) return la_run(add, sum, part, la_scalar_int(1));
    LA_TRY(la_run(add, &next, *sum, part));
    la_tensor_release(*sum);
    *sum = next;
    return LA_OK;
}

/* The last dim first: its stride is 1 and each size extends the next stride. */
la_status la_impl_ravel_multi_index(la_frame *f)
{
    const la_value *list = &f->args[0], *shape = &f->args[1];
    LA_OWNED sum = NULL;
    int64_t numel, stride = 1, n = shape->ints.n;
    if (list->tensors.n != n || n == 0 || n > LA_MAX_DIMS)
        return la_error_at(LA_EARG, 1, "a tensor of positions for each of the "
                           "%lld dims expected, got %lld", (long long)n,
                           (long long)list->tensors.n);
    LA_TRY(la_numel((int)n, shape->ints.list, &numel));
    for (int64_t d = n - 1; d >= 0; d--) {
        LA_TRY(add_position(&sum, list->tensors.list[d], (int)d,
                            shape->ints.list[d], stride));
        stride *= shape->ints.list[d];
    }
    return LA_GIVE(f, la_tensor_retain(sum));
}
