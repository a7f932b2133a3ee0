/*
** max_unpool1d to max_unpool3d: each value goes to the index that max pooling
** found it at, all else is zero. Composites of zeros and scatter.
*/
#include "base/runtime/memory.h"
#include "op/conv/conv.h"
#include "op/view/view.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/pool.def"
#include "op/call.h"
#include "op/impls.h"

enum { INPUT, INDICES, KERNEL, STRIDE, PADDING, SIZE };

/* Ranks, int64 indices, one shape for both. */
static la_status check_unpool(const la_frame *f, int nd)
{
    const la_tensor *t = la_arg(f, INPUT), *at = la_arg(f, INDICES);
    if (t->ndim != nd + 1 && t->ndim != nd + 2)
        return la_error_at(LA_ESHAPE, 1, "Input to max_unpool%dd should be a "
                           "%dd or %dd Tensor, but got a tensor with %d "
                           "dimensions", nd, nd + 1, nd + 2, t->ndim);
    if (at->dtype != LA_INT64)
        return la_error_at(LA_EDTYPE, 2, "elements in indices should be type "
                           "int64 but got: %s", la_dtype_name(at->dtype));
    bool same = t->ndim == at->ndim;
    for (int d = 0; same && d < t->ndim; d++)
        same = la_sizes(t)[d] == la_sizes(at)[d];
    if (!same)
        return la_error_at(LA_ESHAPE, 2, "Expected shape of indices to be same "
                           "as that of the input tensor");
    return LA_OK;
}

/* Sizes of the plane before pooling: (in - 1) * stride + kernel - 2 * padding;
** output_size may choose another that pools to the same size. */
static la_status plane_sizes(const la_frame *f, int nd, int64_t *out)
{
    const la_tensor *t = la_arg(f, INPUT);
    const la_value *asked = &f->args[SIZE];
    int64_t kernel[3], stride[3], pad[3];
    int skip = 0;
    LA_TRY(la_spatial(&f->args[KERNEL], nd, "kernel_size", 1, kernel));
    LA_TRY(la_spatial(f->args[STRIDE].ints.n ? &f->args[STRIDE]
                      : &f->args[KERNEL], nd, "stride", 1, stride));
    LA_TRY(la_spatial(&f->args[PADDING], nd, "padding", 0, pad));
    if (asked->tag == LA_VINTS) {
        skip = asked->ints.n == nd + 2 ? 2 : 0;
        if (asked->ints.n != nd + skip)
            return la_error_at(LA_EARG, SIZE + 1, "output_size should be a "
                               "sequence containing %d or %d elements, but it "
                               "has a length of '%lld'", nd, nd + 2,
                               (long long)asked->ints.n);
    }
    for (int d = 0; d < nd; d++) {
        int64_t in = la_sizes(t)[t->ndim - nd + d];
        out[d] = (in - 1) * stride[d] + kernel[d] - 2 * pad[d];
        if (asked->tag != LA_VINTS) continue;
        int64_t want = asked->ints.list[skip + d];
        if (want <= out[d] - stride[d] || want >= out[d] + stride[d])
            return la_error_at(LA_EARG, SIZE + 1, "invalid output_size %lld "
                               "(dim %d must be between %lld and %lld)",
                               (long long)want, d + 1,
                               (long long)(out[d] - stride[d]),
                               (long long)(out[d] + stride[d]));
        out[d] = want;
    }
    return LA_OK;
}

/* Planes as rows, scattered into rows of zeros. */
static la_status unpool(la_frame *f, int nd)
{
    la_tensor *t = la_arg(f, INPUT);
    int64_t sizes[LA_MAX_DIMS], rows[3];
    int lead = t->ndim - nd;
    LA_TRY(check_unpool(f, nd));
    for (int d = 0; d < lead; d++) sizes[d] = rows[d] = la_sizes(t)[d];
    LA_TRY(plane_sizes(f, nd, sizes + lead));
    rows[lead] = 1;
    for (int d = lead; d < t->ndim; d++) rows[lead] *= la_sizes(t)[d];
    LA_LET(values, la_run(reshape, &values, t, la_v_ints(rows, lead + 1)));
    LA_LET(indices, la_run(reshape, &indices, f->args[INDICES],
                           la_v_ints(rows, lead + 1)));
    rows[lead] = 1;
    for (int d = lead; d < t->ndim; d++)
        if (!la_mul_ok(rows[lead], sizes[d] > 0 ? sizes[d] : 0, &rows[lead]))
            return la_error(LA_ESHAPE, "size overflow");
    LA_LET(zeros, la_run(new_zeros, &zeros, t, la_v_ints(rows, lead + 1)));
    LA_LET(planes, la_run(scatter, &planes, zeros, -1, indices, values));
    return la_run_result(f, reshape, planes, la_v_ints(sizes, t->ndim));
}

/* max_unpoolNd(input, indices, kernel_size, stride, padding, output_size) */
LA_FORWARD(la_impl_max_unpool1d, unpool(f, 1))
LA_FORWARD(la_impl_max_unpool2d, unpool(f, 2))
LA_FORWARD(la_impl_max_unpool3d, unpool(f, 3))
