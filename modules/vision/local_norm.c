/* local_response_norm: a mean over neighbouring channels, as a pool. */
#include "op/composite.h"

#define LA_ROWS "modules/vision/ops.def"
#include "op/call.h"
#include "op/impls.h"

enum { INPUT, WINDOW, ALPHA, BETA, K };

/* The mean of squares over 'size' channels around each; beyond the ends are
** zeros. Channels become the height of a plane. */
static la_tensor *mean_square(la_chain *w, la_tensor *x, int64_t size)
{
    int64_t before = size / 2, after = (size - 1) / 2, one[2] = {1, 1};
    int64_t plane[4] = {la_sizes(x)[0], 1, la_sizes(x)[1], -1};
    int64_t kernel[2] = {size, 1}, pads[4] = {0, 0, before, after};
    int64_t pad[2] = {before, 0};
    bool even = before != after;
    la_tensor *square = R(reshape, R(mul, x, x), la_v_ints(plane, 4));
    if (even) square = R(constant_pad_nd, square, la_v_ints(pads, 4));
    if (even) pad[0] = 0;
    la_tensor *mean = R(avg_pool, square, la_v_ints(kernel, 2),
                           la_v_ints(one, 2), la_v_ints(pad, 2),
                           la_v_bool(false), la_v_bool(true), la_v_none());
    return R(reshape, mean, la_v_ints(la_sizes(x), x->ndim));
}

/* local_response_norm(input, size, alpha, beta, k) (A. Krizhevsky et al.,
** 2012) */
la_status la_impl_local_response_norm(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, INPUT);
    int64_t size = la_arg_int(f, WINDOW);
    if (x->ndim < 3)
        return la_error_at(LA_ESHAPE, 1, "at least 3 dims (batch, channels, "
                           "sizes) expected, got %d", x->ndim);
    if (size < 1 || size > INT32_MAX)
        return la_error_at(LA_EARG, 2, "a positive number of channels "
                           "expected, got %lld", (long long)size);
    if (x->numel == 0) return la_run_result(f, clone, x);
    la_tensor *mean = mean_square(w, x, size);
    la_tensor *by = R(pow, R(add, R(mul, mean, f->args[ALPHA].d), f->args[K].d),
                      f->args[BETA].d);
    return la_chain_end(w, f, R(div, x, by));
}
