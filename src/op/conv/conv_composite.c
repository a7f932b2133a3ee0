/*
** conv1d to conv3d and conv_transpose1d to conv_transpose3d as users call them:
** defaults, padding 'same' and 'valid', inputs without a batch dim. Composites
** that all end in 'convolution', which checks the sizes.
*/
#include "op/conv/conv.h"
#include "op/view/view.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/conv.def"
#include "op/call.h"
#include "op/impls.h"

/* The arguments of 'convolution' behind its tensors. */
enum { STRIDE, PADDING, DILATION, TRANSPOSED, OUT_PAD, GROUPS, NSETTINGS };

/* The input needs nd + 1 dims, or nd + 2 with a batch; LA_ESHAPE otherwise. */
static la_status check_rank(const la_tensor *t, int nd, bool transposed)
{
    if (t->ndim == nd + 1 || t->ndim == nd + 2) return LA_OK;
    return la_error_at(LA_ESHAPE, 1,
                       "Expected %dD (unbatched) or %dD (batched) "
                       "input to conv%s%dd, but got %dD input",
                       nd + 1, nd + 2, transposed ? "_transpose" : "", nd,
                       t->ndim);
}

/* Without this a weight of another rank would reach 'convolution' and be
** reported with its rank, which the user of convNd did not choose. */
static la_status check_weight(const la_tensor *w, int nd)
{
    if (w->ndim == nd + 2) return LA_OK;
    return la_error_at(LA_ESHAPE, 2, "weight must have %d dims, got %d", nd + 2,
                       w->ndim);
}

/* 'convolution' with the settings s[NSETTINGS]. */
static la_status conv_call_call(la_tensor *x, la_tensor *w, la_tensor *bias,
                                const la_value *s, la_tensor **out)
{
    la_value a[3 + NSETTINGS] = {la_v_tensor(x), la_v_tensor(w),
                                 la_v_tensor(bias)};
    memcpy(a + 3, s, NSETTINGS * sizeof *s);
    return la_do(LA_OP(convolution), out, 3 + NSETTINGS, a);
}

/* Adds a batch of one where there is none, and takes it away from the
** result. */
static la_status conv_call_run(la_frame *f, la_tensor *x, int nd,
                               const la_value *s)
{
    la_tensor *w = la_arg(f, 1), *bias = la_arg(f, 2), *out;
    int64_t first = 0;
    LA_TRY(check_weight(w, nd));
    if (x->ndim == nd + 2) {
        LA_TRY(conv_call_call(x, w, bias, s, &out));
        return LA_GIVE(f, out);
    }
    LA_LET(batch, la_run(unsqueeze, &batch, x, 0));
    LA_LET(result, conv_call_call(batch, w, bias, s, &result));
    LA_TRY(la_run(squeeze, &out, result, la_v_ints(&first, 1)));
    return LA_GIVE(f, out);
}

/* The output padding of a convolution that is not transposed. */
static const int64_t zero = 0;

/* (input, weight, bias, stride, padding, dilation, groups) */
static la_status conv_call_conv(la_frame *f, int nd)
{
    la_value s[NSETTINGS] = {f->args[3], f->args[4], f->args[5],
                             la_v_bool(false),
                             la_v_ints(&zero, 1), f->args[6]};
    LA_TRY(check_rank(la_arg(f, 0), nd, false));
    return conv_call_run(f, la_arg(f, 0), nd, s);
}

/* convNd(input [N, C, ...], weight [O, C / groups, ...]) -> [N, O, ...]; size
** of a spatial dim: (in + 2 * padding - dilation * (kernel - 1) - 1) / stride +
** 1. */
LA_FORWARD(la_impl_conv1d, conv_call_conv(f, 1))
LA_FORWARD(la_impl_conv2d, conv_call_conv(f, 2))
LA_FORWARD(la_impl_conv3d, conv_call_conv(f, 3))

/* ---- padding by word ---- */

/* 'same' pads dilation * (kernel - 1) in all, half of it on each side. Where
** that is odd, PyTorch puts the rest at the end: 'extra' then, and 'uneven' is
** set. */
static la_status same_padding(la_frame *f, int nd, int64_t *low,
                              int64_t *extra, bool *uneven)
{
    int64_t stride[3], dilation[3];
    const la_tensor *w = la_arg(f, 1);
    LA_TRY(la_spatial(&f->args[3], nd, "stride", 1, stride));
    LA_TRY(la_spatial(&f->args[5], nd, "dilation", 1, dilation));
    *uneven = false;
    for (int d = 0; d < nd; d++) {
        if (stride[d] != 1)
            return la_error(LA_EARG, "padding='same' is not supported for "
                            "strided convolutions");
        int64_t total = dilation[d] * (la_sizes(w)[2 + d] - 1);
        low[d] = total / 2;
        extra[d] = total % 2;
        *uneven |= extra[d] != 0;
    }
    return LA_OK;
}

/* Zeros behind the end of each spatial dim. 'pad' takes pairs from the last dim
** on. */
static la_status pad_end(la_tensor *x, int nd, const int64_t *extra,
                         la_tensor **out)
{
    int64_t pairs[6];
    for (int d = 0; d < nd; d++) {
        pairs[2 * d] = 0;
        pairs[2 * d + 1] = extra[nd - 1 - d];
    }
    return la_run(pad, out, x, la_v_ints(pairs, 2 * nd));
}

/* Argument 4 is 'same' or 'valid' (no padding). */
static la_status conv_named_padding(la_frame *f, int nd)
{
    la_tensor *x = la_arg(f, 0);
    int64_t low[3] = {0}, extra[3];
    bool uneven = false, same = la_str_is(&f->args[4], "same");
    LA_OWNED padded = NULL;
    LA_TRY(check_rank(x, nd, false));
    LA_TRY(check_weight(la_arg(f, 1), nd));
    if (!same && !la_str_is(&f->args[4], "valid"))
        return la_error_at(LA_EARG, 5, "padding must be 'same', 'valid' or "
                           "numbers");
    if (same) LA_TRY(same_padding(f, nd, low, extra, &uneven));
    if (uneven) LA_TRY(pad_end(x, nd, extra, &padded));
    la_value s[NSETTINGS] = {f->args[3], la_v_ints(low, nd), f->args[5],
                             la_v_bool(false), la_v_ints(&zero, 1), f->args[6]};
    return conv_call_run(f, padded ? padded : x, nd, s);
}

/* convNd(input, weight, bias, stride, padding = 'same' or 'valid', dilation,
** groups): 'same' keeps the spatial sizes, for stride 1 only. */
LA_FORWARD(la_impl_conv1d_padding, conv_named_padding(f, 1))
LA_FORWARD(la_impl_conv2d_padding, conv_named_padding(f, 2))
LA_FORWARD(la_impl_conv3d_padding, conv_named_padding(f, 3))

/* (input, weight, bias, stride, padding, output_padding, groups, dilation) */
static la_status conv_transpose(la_frame *f, int nd)
{
    la_value s[NSETTINGS] = {f->args[3], f->args[4], f->args[7],
                             la_v_bool(true),
                             f->args[5], f->args[6]};
    LA_TRY(check_rank(la_arg(f, 0), nd, true));
    return conv_call_run(f, la_arg(f, 0), nd, s);
}

/* Size of a spatial dim: (in - 1) * stride - 2 * padding + dilation * (kernel -
** 1) + output_padding + 1. */
LA_FORWARD(la_impl_conv_transpose1d, conv_transpose(f, 1))
LA_FORWARD(la_impl_conv_transpose2d, conv_transpose(f, 2))
LA_FORWARD(la_impl_conv_transpose3d, conv_transpose(f, 3))
