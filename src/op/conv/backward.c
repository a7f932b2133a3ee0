/*
** convolution_backward: the gradients of input, weight and bias in one call, as
** torch.ops.aten has it. A composite; each part is an operation of its own and
** may be differentiated again.
*/
#include "op/conv/conv.h"

#define LA_ROWS "op/def/conv.def"
#include "op/call.h"
#include "op/impls.h"

/* Arguments as convolution_grad_input; the bias's gradient is the sum of the
** result's over all dims but the channels. Results are set only when all three
** exist, so a failure leaves none behind. */
la_status la_impl_convolution_backward(la_frame *f)
{
    la_tensor *g = la_arg(f, 0), *parts[3] = {NULL};
    la_value a[9];
    int64_t dims[4] = {0, 2, 3, 4};
    memcpy(a, f->args, sizeof a);
    la_status status = la_do(LA_OP(convolution_grad_input), &parts[0], 9, a);
    if (!status)
        status = la_do(LA_OP(convolution_grad_weight), &parts[1], 9, a);
    if (!status)
        status = la_run(sum, &parts[2], g, la_v_ints(dims, g->ndim - 1));
    for (int k = 0; k < 3; k++) {
        if (!status) la_set_result(f, k, parts[k]);
        else la_tensor_drop(&parts[k]);
    }
    return status;
}
