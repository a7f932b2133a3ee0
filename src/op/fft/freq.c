/* The frequencies that the elements of a transform stand for. */
#include "base/runtime/context.h"
#include "iter/items.h"
#include "op/create/create.h"

#define LA_ROWS "op/def/fft.def"
#include "iter/iter.h"
#include "op/frame.h"
#include "op/impls.h"

enum { BLOCK = 512 };

typedef struct frequencies {
    int64_t positive;         /* so many from 0 on, then the negative ones */
    int64_t count;
    double step;
    char *data;
    int64_t stride;           /* bytes */
    la_loop cast;
} frequencies;

/* Frequencies are computed in double and converted by the cast of the result's
** dtype, which rounds them once. */
static void put_block(int64_t begin, int64_t end, void *context)
{
    const frequencies *s = context;
    double buffer[BLOCK];
    for (int64_t i = begin; i < end; i++)
        buffer[i - begin] = s->step * (double)(i < s->positive
                                               ? i : i - s->count);
    char *data[2] = {s->data + begin * s->stride, (char *)buffer};
    int64_t strides[4] = {s->stride, 8, 0, 0};
    s->cast(data, strides, end - begin, 1, NULL);
}

/* (n, d, options) */
static la_status freq_meta(la_frame *f, bool half)
{
    int64_t n = la_arg_int(f, 0), count = half ? n / 2 + 1 : n;
    if (n < 0 || (half && n < 1))
        return la_error_at(LA_EARG, 1, "n must be positive, got %lld",
                           (long long)n);
    LA_TRY(la_option_output(f, 2, 1, &count, la_ctx()->default_dtype, NULL));
    return la_require_dtype(f, (la_dtype)la_result(f, 0)->dtype);
}

static la_status freq_impl(la_frame *f, bool half)
{
    la_tensor *out = la_result(f, 0);
    int64_t n = la_arg_int(f, 0);
    frequencies s = {half ? out->numel : (n + 1) / 2, out->numel,
                     1.0 / ((double)n * la_arg_float(f, 1)), la_data(out),
                     la_strides(out)[0] * (int64_t)la_itemsize(out),
                     la_cast_loop((la_dtype)out->dtype, LA_FLOAT64)};
    return la_iter_items(s.count, LA_GRAIN, BLOCK, put_block, &s);
}

LA_FORWARD(la_meta_fft_fftfreq, freq_meta(f, false))
LA_FORWARD(la_impl_fft_fftfreq, freq_impl(f, false))
LA_FORWARD(la_meta_fft_rfftfreq, freq_meta(f, true))
LA_FORWARD(la_impl_fft_rfftfreq, freq_impl(f, true))
