/*
** How do tensors become a la_conv? 'convolution' with one to three spatial
** dims, and its gradients, which are operations of their own so that they can
** be differentiated again. Checks and error messages are PyTorch's.
**
** A transposed convolution is the gradient of the input of the same la_conv: x
** is always the larger side, y the smaller, whichever the user calls input.
*/
#include "op/conv/conv.h"

#include "base/runtime/context.h"
#include "op/matmul/gemm.h"
#include "op/view/view.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/conv.def"
#include "op/call.h"
#include "op/impls.h"

/* Arguments after the tensors, in the order of the schemas. */
typedef struct settings {
    int nd;
    int64_t stride[3], pad[3], dilation[3], out_pad[3], groups;
    bool transposed;
} settings;

/* ---- shared with pooling ---- */

/* LA_EARG with 'name' and the value that is refused. */
la_status la_spatial(const la_value *v, int nd, const char *name,
                     int64_t least, int64_t *out)
{
    int64_t n = v->ints.n;
    if (n != 1 && n != nd)
        return la_error(LA_EARG, "expected %s to be a single integer value or "
                        "a list of %d values to match the convolution "
                        "dimensions, but got %lld values", name, nd,
                        (long long)n);
    for (int d = 0; d < nd; d++) {
        out[d] = v->ints.list[n == 1 ? 0 : d];
        if (out[d] < least || out[d] > INT32_MAX)
            return la_error(LA_EARG, "%s %s is not supported: got %lld",
                            out[d] > least ? "too large"
                            : least > 0 ? "non-positive" : "negative", name,
                            (long long)out[d]);
    }
    return LA_OK;
}

/* Strides of dims 0, 1 and of three spatial dims (leading ones missing: 0).
** Strides of spatial dims of size 1 may be anything; methods that take pixels
** as one run get those of such a run. */
static void image_steps(const la_tensor *t, int64_t step[5])
{
    const int64_t *sizes = la_sizes(t), *strides = la_strides(t);
    int first = 5 - (t->ndim - 2), inner = 4;
    step[0] = strides[0];
    step[1] = strides[1];
    for (int d = 2; d < 5; d++)
        step[d] = d < first ? 0 : strides[2 + d - first];
    while (inner > first && sizes[2 + inner - first] == 1) inner--;
    if (sizes[2 + inner - first] == 1) return;
    for (int d = inner + 1; d < 5; d++) step[d] = step[inner];
    for (int d = inner - 1; d >= first; d--)
        if (sizes[2 + d - first] == 1)
            step[d] = step[d + 1] * sizes[3 + d - first];
}

/* A contiguous copy. Nothing is recorded: it is no step of the user's. */
static la_status conv_plain_copy(la_tensor *t, la_tensor **out)
{
    /* The conversions are not the user's operations: autograd records the
    ** convolution as a whole. */
    la_context *c = la_ctx();
    bool before = c->no_grad;
    c->no_grad = true;
    la_status status = la_clone_contiguous(t, out);
    c->no_grad = before;
    return status;
}

/* Methods read the weight and the bias by one running index. */
la_status la_as_contiguous(la_tensor *t, la_tensor **out)
{
    if (!la_is_contiguous(t)) return conv_plain_copy(t, out);
    return la_tensor_same(t, out);
}

/* A tensor that is channels_last and not contiguous too (sizes of 1 allow
** both). */
static bool is_channels_last(const la_tensor *t)
{
    return (t->flags & (LA_F_CHANNELS_LAST | LA_F_CHANNELS_LAST_3D))
        && !la_is_contiguous(t);
}

/* la_as_contiguous, except that a channels_last tensor is kept: methods take
** any strides of channels. */
static la_status as_image(la_tensor *t, la_tensor **out)
{
    if (!is_channels_last(t)) return la_as_contiguous(t, out);
    return la_tensor_same(t, out);
}

/* ---- reading the arguments ---- */

/* Arguments from 'first' on: stride, padding, dilation, transposed,
** output_padding, groups. */
static la_status read_settings(const la_frame *f, int first, int nd,
                               settings *s)
{
    const la_value *a = f->args + first;
    s->nd = nd;
    s->transposed = a[3].b;
    s->groups = a[5].i;
    LA_TRY(la_spatial(&a[0], nd, "stride", 1, s->stride));
    LA_TRY(la_spatial(&a[1], nd, "padding", 0, s->pad));
    LA_TRY(la_spatial(&a[2], nd, "dilation", 1, s->dilation));
    LA_TRY(la_spatial(&a[4], nd, "output_padding", 0, s->out_pad));
    if (s->groups < 1)
        return la_error(LA_EARG, "non-positive groups is not supported");
    for (int d = 0; s->transposed && d < nd; d++)
        if (s->out_pad[d] >= s->stride[d] && s->out_pad[d] >= s->dilation[d])
            return la_error(LA_EARG, "output padding must be smaller than "
                            "either stride or dilation, but got "
                            "output_padding %lld, stride %lld, dilation %lld",
                            (long long)s->out_pad[d], (long long)s->stride[d],
                            (long long)s->dilation[d]);
    return LA_OK;
}

/* "[2, 3]" for messages. */
static const char *conv_shape_text(const la_tensor *t, char *out,
                                   size_t capacity)
{
    return la_sizes_text(t->ndim, la_sizes(t), out, capacity);
}

/* Channels of the input against weight and groups. */
static la_status check_channels(const la_tensor *x, const la_tensor *w,
                                const settings *s)
{
    char a[160], b[160];
    int64_t have = la_sizes(x)[1], rows = la_sizes(w)[0];
    int64_t want = s->transposed ? rows : la_sizes(w)[1] * s->groups;
    if (rows < s->groups || rows % s->groups != 0)
        return la_error(LA_ESHAPE, "Given groups=%lld, expected weight to be "
                        "at least %lld at dimension 1 and divisible by it, but "
                        "got weight of size %s instead",
                        (long long)s->groups, (long long)s->groups,
                        conv_shape_text(w, a, sizeof a));
    if (have == want) return LA_OK;
    return la_error(LA_ESHAPE, "Given groups=%lld, %sweight of size %s, "
                    "expected input%s to have %lld channels, but got %lld "
                    "channels instead", (long long)s->groups,
                    s->transposed ? "transposed=1, " : "",
                    conv_shape_text(w, a, sizeof a),
                        conv_shape_text(x, b, sizeof b),
                    (long long)want, (long long)have);
}

/* One dtype for all, channels, and the bias's size. */
static la_status check_tensors(const la_tensor *x, const la_tensor *w,
                               const la_tensor *bias, const settings *s)
{
    char a[160], b[160];
    if (w->dtype != x->dtype)
        return la_error(LA_EDTYPE, "Input type (%s) and weight type (%s) "
                        "should be the same", la_dtype_name(x->dtype),
                        la_dtype_name(w->dtype));
    LA_TRY(check_channels(x, w, s));
    if (!bias) return LA_OK;
    if (bias->dtype != x->dtype)
        return la_error(LA_EDTYPE, "Input type (%s) and bias type (%s) should "
                        "be the same", la_dtype_name(x->dtype),
                        la_dtype_name(bias->dtype));
    int64_t want = s->transposed ? la_sizes(w)[1] * s->groups
                                 : la_sizes(w)[0];
    if (bias->ndim == 1 && bias->numel == want) return LA_OK;
    return la_error(LA_ESHAPE, "Given weight of size %s, expected bias to be "
                    "1-dimensional with %lld elements, but got bias of size %s "
                    "instead", conv_shape_text(w, a, sizeof a), (long long)want,
                    conv_shape_text(bias, b, sizeof b));
}

/* The weight's rank says how many spatial dims there are. */
static la_status check_ranks(const la_tensor *x, const la_tensor *w)
{
    if (w->ndim < 3 || w->ndim > 5)
        return la_error(LA_ESHAPE, "weight must have 3 to 5 dims, got %d",
                        w->ndim);
    if (x->ndim == w->ndim) return LA_OK;
    return la_error(LA_ESHAPE, "Expected %dD input for a weight of %d dims, "
                    "but got %dD input", w->ndim, w->ndim, x->ndim);
}

/* ---- sizes ---- */

/* PyTorch's pooling_output_shape: in ceil mode the last window may begin beyond
** the last full one, but within the input or its left padding. */
la_status la_window_out(la_window *w, bool ceil_mode)
{
    int64_t reach = w->dilation * (w->kernel - 1) + 1;
    int64_t span = w->in + 2 * w->pad - reach;
    int64_t beyond = ceil_mode && w->in > 0 ? w->stride - 1 : 0;
    if (span + beyond < 0)
        return la_error(LA_ESHAPE, "Calculated padded input size per channel: "
                        "%lld. Kernel size: %lld. Kernel size can't be greater "
                        "than actual input size",
                        (long long)(w->in + 2 * w->pad), (long long)reach);
    w->out = (span + beyond) / w->stride + 1;
    /* the last window must start inside the input or the left padding */
    if (ceil_mode && (w->out - 1) * w->stride >= w->in + w->pad) w->out--;
    return LA_OK;
}

/* The size of x from that of y: the inverse of la_window_out, plus
** output_padding. */
static la_status transposed_out(la_window *w, int64_t out_pad)
{
    w->in = (w->out - 1) * w->stride - 2 * w->pad
        + w->dilation * (w->kernel - 1) + out_pad + 1;
    if (w->in > 0) return LA_OK;
    return la_error(LA_ESHAPE, "Given input size per channel: %lld. Calculated "
                    "output size per channel: %lld. Output size is too small",
                    (long long)w->out, (long long)w->in);
}

/* Windows from the larger side (x of la_conv) to the smaller one (y). 'x' is
** the input of the convolution as the user sees it; 'sizes' gets the sizes of
** the output as the user sees it. */
static la_status conv_windows_of(const la_tensor *x, const la_tensor *w,
                                 const settings *s, la_conv *c, int64_t *sizes)
{
    /* Unused leading dims keep the window of one tap over one element, so that
    ** every method may loop over three dims. */
    int lead = 3 - s->nd;
    for (int d = 0; d < 3; d++) c->w[d] = (la_window){1, 1, 1, 1, 0, 1};
    for (int d = 0; d < s->nd; d++) {
        la_window *o = &c->w[lead + d];
        int64_t have = la_sizes(x)[2 + d];
        *o = (la_window){have, have, la_sizes(w)[2 + d], s->stride[d],
                         s->pad[d], s->dilation[d]};
        if (o->kernel < 1)
            return la_error(LA_ESHAPE, "kernel size must be positive");
        LA_TRY(s->transposed ? transposed_out(o, s->out_pad[d])
                             : la_window_out(o, false));
        sizes[2 + d] = s->transposed ? o->in : o->out;
    }
    int64_t rows = la_sizes(w)[0], columns = la_sizes(w)[1];
    sizes[0] = la_sizes(x)[0];
    sizes[1] = s->transposed ? columns * s->groups : rows;
    c->batch = sizes[0];
    c->groups = s->groups;
    c->oc = rows / s->groups;
    c->ic = columns;
    c->dtype = (la_dtype)x->dtype;
    return LA_OK;
}

/* Result 0: channels_last where 'last' is set and the rank has the format. */
static la_status set_image_output(la_frame *f, int ndim, const int64_t *sizes,
                                  bool last, la_dtype dtype)
{
    int64_t strides[LA_MAX_DIMS];
    if (!last || ndim < 4) return la_set_output(f, 0, ndim, sizes, NULL, dtype);
    LA_TRY(la_format_strides(ndim == 5 ? LA_FORMAT_CHANNELS_LAST_3D
                             : LA_FORMAT_CHANNELS_LAST, ndim, sizes, strides));
    return la_set_output(f, 0, ndim, sizes, strides, dtype);
}

/* The larger side, and the smaller one. */
static void set_x(la_conv *c, const la_tensor *t)
{
    c->x = la_data(t);
    image_steps(t, c->x_step);
}

static void set_y(la_conv *c, const la_tensor *t)
{
    c->y = la_data(t);
    image_steps(t, c->y_step);
}

/* float16 and bfloat16: converted to float32 as a whole and rounded once at the
** end, since the direct methods have no kernels for them. */
static bool is_16_bit(const la_frame *f)
{
    return la_is_half((la_dtype)la_arg(f, 0)->dtype);
}

/* Operation 'id' on float32 copies of the three tensors, the result converted
** into result 0. Nothing is recorded. */
static la_status run_as_float32(la_frame *f, const la_op *op)
{
    la_context *c = la_ctx();
    bool before = c->no_grad;
    la_tensor *wide[3] = {NULL};
    la_value a[9];
    LA_OWNED result = NULL;
    la_status status = LA_OK;
    c->no_grad = true;
    memcpy(a, f->args, sizeof a);
    for (int k = 0; k < 3 && !status; k++) {
        if (!la_arg(f, k)) continue;
        status = la_run(astype, &wide[k], f->args[k], la_v_dtype(LA_FLOAT32));
        a[k] = la_v_tensor(wide[k]);
    }
    if (!status) status = la_do(op, &result, 9, a);
    if (!status) status = la_run_(copy_, la_result(f, 0), result);
    for (int k = 0; k < 3; k++) la_tensor_release(wide[k]);
    c->no_grad = before;
    return status;
}

/* ---- convolution ---- */

/* convolution(input, weight, bias, stride, padding, dilation, transposed,
** output_padding, groups); channels_last if input or weight is. */
la_status la_meta_convolution(la_frame *f)
{
    const la_tensor *x = la_arg(f, 0), *w = la_arg(f, 1);
    int64_t sizes[5];
    settings s;
    la_conv c;
    LA_TRY(check_ranks(x, w));
    LA_TRY(read_settings(f, 3, w->ndim - 2, &s));
    LA_TRY(check_tensors(x, w, la_arg(f, 2), &s));
    LA_TRY(conv_windows_of(x, w, &s, &c, sizes));
    return set_image_output(f, x->ndim, sizes,
                            is_channels_last(x) || is_channels_last(w),
                            (la_dtype)x->dtype);
}

/* out[n, o, ...] += bias[o] for transposed convolutions: a product with k = 0,
** which leaves the addend and the bias. */
static la_status add_bias(const la_tensor *out, const la_tensor *bias)
{
    la_gemm g;
    la_gemm_init(&g, (la_dtype)out->dtype);
    int64_t batch = la_sizes(out)[0], step = la_strides(out)[0], none = 0;
    g.m = la_sizes(out)[1];
    if (g.m == 0) return LA_OK;
    g.n = batch ? out->numel / batch / g.m : 0;
    g.out = (la_gemm_mat){la_data(out), la_strides(out)[1],
                          la_strides(out)[1] == 1 ? g.m : 1};
    g.add = g.out;
    g.beta = (la_gemm_scalar){1, 0, 1};
    g.bias = (la_gemm_mat){la_data(bias), 1, 0};
    g.nbatch = 1;
    g.batch = &batch;
    g.a_step = g.b_step = &none;
    g.out_step = g.add_step = &step;
    return la_gemm_run(&g);
}

/* The user's input is y of the problem, the result x. */
static la_status run_transposed(la_conv *c, const la_tensor *x,
                                const la_tensor *bias, const la_tensor *out)
{
    set_y(c, x);
    set_x(c, out);
    LA_TRY(la_conv_run(c, LA_CONV_INPUT));
    return bias ? add_bias(out, bias) : LA_OK;
}

/* Input in any format, weight and bias contiguous; an empty result needs
** nothing. Forward: y from x. Transposed: x from y, the bias in a second
** pass. */
la_status la_impl_convolution(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    int64_t sizes[5];
    settings s;
    la_conv c = {.bias = NULL};
    LA_OWNED bias = NULL;
    if (out->numel == 0) return LA_OK;
    if (is_16_bit(f)) return run_as_float32(f, LA_OP(convolution));
    LA_LET(x, as_image(la_arg(f, 0), &x));
    LA_LET(w, la_as_contiguous(la_arg(f, 1), &w));
    if (la_arg(f, 2)) LA_TRY(la_as_contiguous(la_arg(f, 2), &bias));
    LA_TRY(read_settings(f, 3, w->ndim - 2, &s));
    LA_TRY(conv_windows_of(x, w, &s, &c, sizes));
    c.weight = la_data(w);
    if (s.transposed) return run_transposed(&c, x, bias, out);
    c.bias = bias ? la_data(bias) : NULL;
    set_x(&c, x);
    set_y(&c, out);
    return la_conv_run(&c, LA_CONV_FORWARD);
}

/* ---- gradients: (grad, input, weight, settings...) ---- */

/* Checks the nine arguments of a gradient and sets up the problem. LA_ESHAPE
** unless 'grad' has the shape of the convolution's result. */
static la_status gradient_of(const la_frame *f, settings *s, la_conv *c)
{
    const la_tensor *g = la_arg(f, 0), *x = la_arg(f, 1), *w = la_arg(f, 2);
    int64_t sizes[5];
    LA_TRY(check_ranks(x, w));
    LA_TRY(read_settings(f, 3, w->ndim - 2, s));
    LA_TRY(check_tensors(x, w, NULL, s));
    LA_TRY(la_require_dtype(f, (la_dtype)x->dtype));
    LA_TRY(conv_windows_of(x, w, s, c, sizes));
    if (g->dtype != x->dtype)
        return la_error_at(LA_EDTYPE, 1, "gradient is %s, input is %s",
                           la_dtype_name(g->dtype), la_dtype_name(x->dtype));
    if (g->ndim == x->ndim
        && memcmp(la_sizes(g), sizes, (size_t)g->ndim * 8) == 0)
        return LA_OK;
    return la_error_at(LA_ESHAPE, 1, "the gradient's shape is not that of the "
                       "convolution's result");
}

/* The input's shape and memory format. */
la_status la_meta_convolution_grad_input(la_frame *f)
{
    const la_tensor *x = la_arg(f, 1);
    settings s;
    la_conv c;
    LA_TRY(gradient_of(f, &s, &c));
    return set_image_output(f, x->ndim, la_sizes(x), is_channels_last(x),
                            (la_dtype)x->dtype);
}

/* A transposed convolution's gradient is a plain one, and the other way
** round. */
la_status la_impl_convolution_grad_input(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    settings s;
    la_conv c = {.bias = NULL};
    if (out->numel == 0) return LA_OK;
    if (is_16_bit(f)) return run_as_float32(f, LA_OP(convolution_grad_input));
    LA_LET(g, as_image(la_arg(f, 0), &g));
    LA_LET(w, la_as_contiguous(la_arg(f, 2), &w));
    LA_TRY(gradient_of(f, &s, &c));
    c.weight = la_data(w);
    if (s.transposed) {
        set_x(&c, g);
        set_y(&c, out);
        return la_conv_run(&c, LA_CONV_FORWARD);
    }
    set_x(&c, out);
    set_y(&c, g);
    return la_conv_run(&c, LA_CONV_INPUT);
}

/* The weight's shape, contiguous. */
la_status la_meta_convolution_grad_weight(la_frame *f)
{
    const la_tensor *w = la_arg(f, 2);
    settings s;
    la_conv c;
    LA_TRY(gradient_of(f, &s, &c));
    return la_set_output(f, 0, w->ndim, la_sizes(w), NULL, (la_dtype)w->dtype);
}

/* The sides are swapped for a transposed convolution. */
la_status la_impl_convolution_grad_weight(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    settings s;
    la_conv c = {.bias = NULL};
    if (out->numel == 0) return LA_OK;
    if (is_16_bit(f)) return run_as_float32(f, LA_OP(convolution_grad_weight));
    LA_LET(g, as_image(la_arg(f, 0), &g));
    LA_LET(x, as_image(la_arg(f, 1), &x));
    LA_TRY(gradient_of(f, &s, &c));
    c.weight = la_data(out);
    set_x(&c, s.transposed ? g : x);
    set_y(&c, s.transposed ? x : g);
    return la_conv_run(&c, LA_CONV_WEIGHT);
}
