/*
** pixel_shuffle, pixel_unshuffle, channel_shuffle: a dim is split, dims change
** their order, neighbours are joined. Composites of views and one copy.
*/
#include "base/size.h"
#include "op/frame.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/vision/ops.def"
#include "op/call.h"
#include "op/impls.h"

/* self as 'split' (n dims), its dims as 'order' says, joined to 'joined', in
** self's memory format. */
static la_status rearrange(la_frame *f, int n, const int64_t *split,
                           const int64_t *order, int m, const int64_t *joined)
{
    LA_LET(parts, la_run(reshape, &parts, f->args[0], la_v_ints(split, n)));
    LA_LET(moved, la_run(permute, &moved, parts, la_v_ints(order, n)));
    la_value format = {.tag = LA_VFORMAT, .given = true,
                       .format = la_suggest_format(la_arg(f, 0))};
    if (format.format == LA_FORMAT_CONTIGUOUS)
        return la_run_result(f, reshape, moved, la_v_ints(joined, m));
    LA_LET(whole, la_run(reshape, &whole, moved, la_v_ints(joined, m)));
    return la_run_result(f, contiguous, whole, format);
}

/* (..., C, H, W) has at least 3 dims and two more fit behind; the factor, 1 or
** more, and its square. */
static la_status check_planes(const la_frame *f, int64_t *r, int64_t *square)
{
    const la_tensor *t = la_arg(f, 0);
    *r = la_arg_int(f, 1);
    if (t->ndim < 3 || t->ndim > LA_MAX_DIMS - 2)
        return la_error_at(LA_ESHAPE, 1, "3 to %d dims (..., channels, height, "
                           "width) expected, got %d", LA_MAX_DIMS - 2,
                           t->ndim);
    if (*r < 1 || !la_mul_ok(*r, *r, square))
        return la_error_at(LA_EARG, 2, "a positive factor expected, got %lld",
                           (long long)*r);
    return LA_OK;
}

/* Splits the last three dims into 'parts', orders them and joins 'whole'. */
static la_status rearrange_planes(la_frame *f, const int64_t parts[5],
                                  const int64_t moves[5],
                                  const int64_t whole[3])
{
    const la_tensor *t = la_arg(f, 0);
    int64_t split[LA_MAX_DIMS], order[LA_MAX_DIMS], joined[LA_MAX_DIMS];
    int lead = t->ndim - 3;
    for (int d = 0; d < lead; d++) split[d] = joined[d] = la_sizes(t)[d];
    for (int d = 0; d < lead; d++) order[d] = d;
    memcpy(split + lead, parts, 5 * sizeof *parts);
    memcpy(joined + lead, whole, 3 * sizeof *whole);
    for (int d = 0; d < 5; d++) order[lead + d] = lead + moves[d];
    return rearrange(f, lead + 5, split, order, lead + 3, joined);
}

/* pixel_shuffle(self, upscale_factor) */
la_status la_impl_pixel_shuffle(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    int64_t r, square = 1;
    LA_TRY(check_planes(f, &r, &square));
    const int64_t *s = la_sizes(t) + t->ndim - 3;
    if (s[0] % square != 0)
        return la_error_at(LA_ESHAPE, 1, "%lld channels are not divisible by "
                           "%lld, the square of the factor", (long long)s[0],
                           (long long)square);
    const int64_t parts[] = {s[0] / square, r, r, s[1], s[2]};
    const int64_t moves[] = {0, 3, 1, 4, 2};
    const int64_t whole[] = {s[0] / square, s[1] * r, s[2] * r};
    return rearrange_planes(f, parts, moves, whole);
}

/* pixel_unshuffle(self, downscale_factor) */
la_status la_impl_pixel_unshuffle(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    int64_t r, square = 1;
    LA_TRY(check_planes(f, &r, &square));
    const int64_t *s = la_sizes(t) + t->ndim - 3;
    if (s[1] % r != 0 || s[2] % r != 0)
        return la_error_at(LA_ESHAPE, 1, "height %lld and width %lld are not "
                           "divisible by the factor %lld", (long long)s[1],
                           (long long)s[2], (long long)r);
    const int64_t parts[] = {s[0], s[1] / r, r, s[2] / r, r};
    const int64_t moves[] = {0, 2, 4, 1, 3};
    const int64_t whole[] = {s[0] * square, s[1] / r, s[2] / r};
    return rearrange_planes(f, parts, moves, whole);
}

/* channel_shuffle(self, groups) */
la_status la_impl_channel_shuffle(la_frame *f)
{
    const la_tensor *t = la_arg(f, 0);
    int64_t split[LA_MAX_DIMS], order[LA_MAX_DIMS], groups = la_arg_int(f, 1);
    if (t->ndim < 3 || t->ndim > LA_MAX_DIMS - 1)
        return la_error_at(LA_ESHAPE, 1, "3 to %d dims (batch, channels, ...) "
                           "expected, got %d", LA_MAX_DIMS - 1, t->ndim);
    if (groups < 1 || la_sizes(t)[1] % groups != 0)
        return la_error_at(LA_EARG, 2, "%lld groups do not divide %lld "
                           "channels", (long long)groups,
                           (long long)la_sizes(t)[1]);
    split[0] = la_sizes(t)[0];
    split[1] = groups;
    split[2] = la_sizes(t)[1] / groups;
    for (int d = 2; d < t->ndim; d++) split[d + 1] = la_sizes(t)[d];
    for (int d = 0; d <= t->ndim; d++) order[d] = d;
    order[1] = 2;
    order[2] = 1;
    return rearrange(f, t->ndim + 1, split, order, t->ndim, la_sizes(t));
}
