/*
** Numbers to bytes by their range, and sums of products of bytes to bytes.
*/
#include "iter/items.h"
#include "op/conv/conv.h"
#include "op/nn/integer.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/quantize.def"
#include "op/call.h"
#include "op/impls.h"

/* ---- quantize_dynamic ---- */

/* quantize_dynamic(self) */
la_status la_meta_quantize_dynamic(la_frame *f)
{
    const la_tensor *x = la_arg(f, 0);
    LA_TRY(la_set_output(f, 0, x->ndim, la_sizes(x), NULL, LA_UINT8));
    LA_TRY(la_set_output(f, 1, 0, NULL, NULL, LA_FLOAT32));
    return la_set_output(f, 2, 0, NULL, NULL, LA_UINT8);
}

void la_quantize_numbers(const float *from, int64_t n, uint8_t *to,
                         float *scale, uint8_t *zero)
{
    const la_bytes_kernels *ker = la_bytes_kernels_here();
    float low = 0, high = 0;
    ker->range(from, n, &low, &high);
    *scale = (high - low) / 255;
    if (*scale == 0) *scale = 1;
    ker->round(&(float){-low / *scale}, 1, 1, 0, zero);
    ker->round(from, n, *scale, *zero, to);
}

la_status la_impl_quantize_dynamic(la_frame *f)
{
    LA_LET(x, la_as_contiguous(la_arg(f, 0), &x));
    la_quantize_numbers((const float *)(const void *)la_data(x), x->numel,
                        (uint8_t *)la_data(la_result(f, 0)),
                        (float *)(void *)la_data(la_result(f, 1)),
                        (uint8_t *)la_data(la_result(f, 2)));
    return LA_OK;
}

/* ---- integer_requantize ---- */

/* integer_requantize(self, scale, zero, bias, dim) */
enum { SELF, SCALE, ZERO, BIAS, DIM };

/* Argument k, if it is there, is one number or those of the dim. */
static la_status check_scale(const la_frame *f, int k, la_dtype dtype,
                             int64_t n)
{
    const la_tensor *t = la_arg(f, k);
    if (!t || (t->dtype == dtype
               && (t->numel == 1 || (t->ndim == 1 && t->numel == n))))
        return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "one %s, or %lld of them, expected",
                       la_dtype_name(dtype), (long long)n);
}

la_status la_meta_integer_requantize(la_frame *f)
{
    const la_tensor *x = la_arg(f, SELF), *zero = la_arg(f, ZERO);
    int dim;
    LA_TRY(la_wrap_dim(la_arg_int(f, DIM), x->ndim, &dim));
    int64_t n = x->ndim ? la_sizes(x)[dim] : 1;
    LA_TRY(check_scale(f, SCALE, LA_FLOAT64, n));
    LA_TRY(check_scale(f, BIAS, LA_INT32, n));
    LA_TRY(la_check_bytes(f, ZERO));
    if (zero->numel != 1)
        return la_error_at(LA_ESHAPE, ZERO + 1, "one zero point expected");
    return la_set_output(f, 0, x->ndim, la_sizes(x), NULL,
                         (la_dtype)zero->dtype);
}

typedef struct scaling {
    la_bytes_scale like;
    const int32_t *x;
    uint8_t *to;
    int64_t channels, inner;  /* inner: elements behind the dim */
} scaling;

/* Rows begin..end: runs of one channel each, or of all where they are last. */
static void scale_range(int64_t begin, int64_t end, void *context)
{
    const scaling *j = context;
    const la_bytes_kernels *ker = la_bytes_kernels_here();
    bool last = j->inner == 1;
    int64_t n = last ? j->channels : j->inner;
    for (int64_t r = begin; r < end; r++) {
        la_bytes_scale s = j->like;
        int64_t channel = last ? 0 : r % j->channels;
        s.scale += channel * s.scale_step;
        if (s.bias) s.bias += channel * s.bias_step;
        if (!last) s.scale_step = s.bias_step = 0;
        ker->requantize(j->x + r * n, n, &s, j->to + r * n);
    }
}

la_status la_impl_integer_requantize(la_frame *f)
{
    la_tensor *out = la_result(f, 0), *bias = la_arg(f, BIAS);
    if (out->numel == 0) return LA_OK;
    LA_LET(x, la_as_contiguous(la_arg(f, SELF), &x));
    LA_LET(scale, la_as_contiguous(la_arg(f, SCALE), &scale));
    LA_LET(add, bias ? la_as_contiguous(bias, &add) : LA_OK);
    const la_tensor *zero = la_arg(f, ZERO);
    bool has_sign = zero->dtype == LA_INT8;
    uint8_t byte = *(const uint8_t *)la_data(zero);
    int64_t inner = 1;
    int dim;
    LA_TRY(la_wrap_dim(la_arg_int(f, DIM), x->ndim, &dim));
    for (int d = dim + 1; d < x->ndim; d++) inner *= la_sizes(x)[d];
    scaling j = {
        .like = {.scale = (const double *)(const void *)la_data(scale),
                 .bias = add ? (const int32_t *)(const void *)la_data(add)
                             : NULL,
                 .scale_step = scale->numel > 1,
                 .bias_step = add && add->numel > 1,
                 .zero = has_sign ? (int8_t)byte : byte,
                 .low = has_sign ? -128 : 0, .high = has_sign ? 127 : 255},
        .x = (const int32_t *)(const void *)la_data(x),
        .to = (uint8_t *)la_data(out), .inner = inner,
        .channels = x->ndim ? la_sizes(x)[dim] : 1};
    int64_t n = inner == 1 ? j.channels : inner, grain = 16384 / n + 1;
    return la_iter_items(x->numel / n, grain, 16 * grain, scale_range, &j);
}
