/*
** Borders around a tensor. A constant border is an operation of its own; the
** others are pieces of the tensor joined to it, dim by dim.
*/
#include "base/memory.h"
#include "op/move.h"
#include "op/view.h"
#include "tensor/scalar.h"

/* Sizes after padding: pairs go from the last dim backwards; negative numbers
** cut. */
static la_status padded_sizes(const la_tensor *t, const la_value *pads,
                              la_shape *out)
{
    int64_t n = pads->ints.n;
    if (n % 2)
        return la_error_at(LA_EARG, 2, "Length of pad must be even but instead "
                           "it equals %lld", (long long)n);
    if (n / 2 > t->ndim)
        return la_error_at(LA_EARG, 2, "Length of pad should be no more than "
                           "twice the number of dimensions of the input. Pad "
                           "length is %lld while the input has %d dimensions.",
                           (long long)n, t->ndim);
    *out = la_shape_of(t);
    for (int64_t k = 0; k < n / 2; k++) {
        int64_t *size = &out->sizes[t->ndim - 1 - k];
        if (!la_add_ok(*size, pads->ints.list[2 * k], size)
            || !la_add_ok(*size, pads->ints.list[2 * k + 1], size)
            || *size < 0)
            return la_error_at(LA_ESHAPE, 2, "The input size %lld, plus "
                               "negative padding %lld and %lld, resulted in a "
                               "negative output size, which is invalid. Check "
                               "dimension %lld of your input.",
                               (long long)la_sizes(t)[t->ndim - 1 - k],
                               (long long)pads->ints.list[2 * k],
                               (long long)pads->ints.list[2 * k + 1],
                               (long long)(t->ndim - k));
    }
    return LA_OK;
}

la_status la_meta_constant_pad_nd(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    la_shape shape;
    int64_t strides[LA_MAX_DIMS];
    LA_TRY(padded_sizes(t, &f->args[1], &shape));
    LA_TRY(la_format_strides(la_suggest_format(t), shape.ndim, shape.sizes,
                             strides));
    return la_set_output(f, 0, shape.ndim, shape.sizes, strides, t->dtype);
}

/* The value into positions first..end-1 of dim d, of what 'sizes' spans. */
static la_status fill_slab(const la_place *out, int ndim, const int64_t *sizes,
                           int d, int64_t first, int64_t end, char *value,
                           size_t size)
{
    la_place to = *out, from = {.data = value};
    int64_t span[LA_MAX_DIMS];
    if (end <= first)
        return LA_OK;
    memcpy(span, sizes, (size_t)ndim * sizeof *span);
    span[d] = end - first;
    to.data += first * to.strides[d];
    return la_move(&to, &from, ndim, span, size);
}

static int64_t pad_before(const la_value *pads, int ndim, int d)
{
    int64_t k = ndim - 1 - d;
    return 2 * k < pads->ints.n ? pads->ints.list[2 * k] : 0;
}

/* Each byte is written once: the two slabs of a dim, then the box inside. */
la_status la_impl_constant_pad_nd(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out = la_result(f, 0);
    const la_value *pads = &f->args[1];
    la_place to = la_place_of(out), from = la_place_of(t);
    int64_t box[LA_MAX_DIMS];
    _Alignas(16) char value[16];
    size_t size = la_itemsize(t);
    la_scalar_cast(&f->args[2].scalar, t->dtype, value);
    memcpy(box, la_sizes(out), 8u * out->ndim);
    for (int d = 0; d < t->ndim; d++) {
        int64_t before = pad_before(pads, t->ndim, d);
        int64_t cut = before < 0 ? -before : 0;
        int64_t first = before > 0 ? before : 0;
        int64_t kept = la_sizes(t)[d] - cut;
        int64_t room = box[d] - first;
        kept = kept < 0 ? 0 : kept > room ? room : kept;
        kept = kept < 0 ? 0 : kept;
        first = first < box[d] ? first : box[d];
        LA_TRY(fill_slab(&to, t->ndim, box, d, 0, first, value, size));
        LA_TRY(fill_slab(&to, t->ndim, box, d, first + kept, box[d], value,
                         size));
        to.data += first * to.strides[d];
        from.data += cut * from.strides[d];
        box[d] = kept;
    }
    return la_move(&to, &from, t->ndim, box, size);
}

/* --- borders made of the tensor --- */

typedef enum border { REFLECT, REPLICATE, CIRCULAR } border;

static la_status check_border(border kind, int64_t pad, int64_t size, int d)
{
    int64_t most = kind == REFLECT ? size - 1 : size;
    if (kind == REPLICATE && size == 0 && pad > 0)
        return la_error_at(LA_ESHAPE, 2, "replicate needs a non-empty "
                           "dimension, dimension %d has size 0", d + 1);
    if (kind == REPLICATE || pad <= most)
        return LA_OK;
    return la_error_at(LA_ESHAPE, 2, kind == REFLECT
                       ? "Padding size should be less than the corresponding "
                         "input dimension, but got: padding %lld at dimension "
                         "%d of size %lld"
                       : "Padding value causes wrapping around more than once: "
                         "padding %lld at dimension %d of size %lld",
                       (long long)pad, d + 1, (long long)size);
}

/* One element 'n' times. */
static la_status stretch(la_tensor *t, int d, int64_t at, int64_t n,
                         la_tensor **out)
{
    int64_t sizes[LA_MAX_DIMS];
    LA_OWNED one = NULL;
    LA_TRY(la_slice_of(t, d, at, at + 1, &one));
    memcpy(sizes, la_sizes(t), 8u * t->ndim);
    sizes[d] = n;
    return la_run(expand, out, LA_T(one), LA_IS(sizes, t->ndim));
}

static la_status mirror(la_tensor *t, int d, int64_t first, int64_t n,
                        la_tensor **out)
{
    int64_t dim = d;
    LA_OWNED part = NULL;
    LA_TRY(la_slice_of(t, d, first, first + n, &part));
    return la_run(flip, out, LA_T(part), LA_IS(&dim, 1));
}

static la_status border_before(border kind, la_tensor *t, int d, int64_t n,
                               la_tensor **out)
{
    int64_t size = la_sizes(t)[d];
    switch (kind) {
    case REFLECT: return mirror(t, d, 1, n, out);
    case REPLICATE: return stretch(t, d, 0, n, out);
    default: return la_slice_of(t, d, size - n, size, out);
    }
}

static la_status border_after(border kind, la_tensor *t, int d, int64_t n,
                              la_tensor **out)
{
    int64_t size = la_sizes(t)[d];
    switch (kind) {
    case REFLECT: return mirror(t, d, size - 1 - n, n, out);
    case REPLICATE: return stretch(t, d, size - 1, n, out);
    default: return la_slice_of(t, d, 0, n, out);
    }
}

/* Negative numbers cut the middle piece. */
static la_status middle(la_tensor *t, int d, int64_t before, int64_t after,
                        la_tensor **out)
{
    int64_t size = la_sizes(t)[d];
    int64_t first = before < 0 ? -before : 0;
    return la_slice_of(t, d, first, after < 0 ? size + after : size, out);
}

static la_status pad_dim(border kind, la_tensor *t, int d, int64_t before,
                         int64_t after, la_tensor **out)
{
    la_tensor *parts[3] = {NULL};
    int n = 0;
    LA_TRY(check_border(kind, before, la_sizes(t)[d], d));
    LA_TRY(check_border(kind, after, la_sizes(t)[d], d));
    la_status status = LA_OK;
    if (before > 0)
        status = border_before(kind, t, d, before, &parts[n++]);
    if (!status)
        status = middle(t, d, before, after, &parts[n++]);
    if (!status && after > 0)
        status = border_after(kind, t, d, after, &parts[n++]);
    if (!status)
        status = la_run(cat, out, LA_TS(parts, n), LA_I(d));
    for (int k = 0; k < n; k++)
        la_tensor_drop(&parts[k]);
    return status;
}

static la_status pad_borders(border kind, la_tensor *t, const la_value *pads,
                             la_tensor **out)
{
    la_shape shape;
    LA_OWNED now = la_tensor_retain(t);
    LA_TRY(padded_sizes(t, pads, &shape));
    for (int64_t k = 0; k < pads->ints.n / 2; k++) {
        int64_t before = pads->ints.list[2 * k];
        int64_t after = pads->ints.list[2 * k + 1];
        la_tensor *next;
        if (before == 0 && after == 0)
            continue;
        LA_TRY(pad_dim(kind, now, (int)(t->ndim - 1 - k), before, after,
                       &next));
        la_tensor_release(now);
        now = next;
    }
    if (now == t)
        return la_run(clone, out, LA_T(t));
    *out = now;
    now = NULL;
    return LA_OK;
}

static la_status pad_by_mode(la_frame *f, la_tensor **out)
{
    la_tensor *t = la_arg(f, 0);
    const la_value *pads = &f->args[1], *mode = &f->args[2];
    la_value zero = LA_S(la_scalar_int(0));
    if (la_str_is(mode, "constant"))
        return la_run(constant_pad_nd, out, LA_T(t), *pads,
                      la_has(f, 3) ? f->args[3] : zero);
    if (la_has(f, 3))
        return la_error_at(LA_EARG, 4, "Padding mode '%.*s' doesn't take in "
                           "value argument", (int)mode->str.n,
                           mode->str.text);
    if (la_str_is(mode, "reflect"))
        return pad_borders(REFLECT, t, pads, out);
    if (la_str_is(mode, "replicate"))
        return pad_borders(REPLICATE, t, pads, out);
    if (la_str_is(mode, "circular"))
        return pad_borders(CIRCULAR, t, pads, out);
    return la_error_at(LA_EARG, 3, "Unrecognised padding mode: 'constant', "
                       "'reflect', 'replicate' or 'circular' expected");
}

la_status la_impl_pad(la_frame *f)
{
    la_tensor *out;
    LA_TRY(pad_by_mode(f, &out));
    la_set_result(f, 0, out);
    return LA_OK;
}
