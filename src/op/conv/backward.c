/* All gradients of a convolution in one call. */
#include "op/conv/conv.h"

la_status la_impl_convolution_backward(la_frame *f)
{
    la_tensor *g = la_arg(f, 0), *parts[3] = {NULL};
    la_value a[9];
    int64_t dims[4] = {0, 2, 3, 4};
    memcpy(a, f->args, sizeof a);
    la_status status = la_do(LA_OP_convolution_grad_input, &parts[0], 9, a);
    if (!status)
        status = la_do(LA_OP_convolution_grad_weight, &parts[1], 9, a);
    if (!status)
        status = la_run(sum, &parts[2], LA_T(g), LA_IS(dims, g->ndim - 1));
    for (int k = 0; k < 3; k++) {
        if (!status) la_set_result(f, k, parts[k]);
        else la_tensor_drop(&parts[k]);
    }
    return status;
}
