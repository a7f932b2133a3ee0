/*
** Borders around a tensor: of one value, or of the tensor's own elements.
**
** Numbers come in pairs (before, after), those of the last dim first. A
** negative number cuts elements off in place of adding some.
*/
#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/move/move.h"
#include "op/scalar_range.h"
#include "op/view/view.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/join.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Bytes that are written at a time, and that a thread has at least. */
#define PAD_BYTES (8 << 10)
#define PAD_GRAIN (128 << 10)

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
        int d = t->ndim - 1 - (int)k;
        const int64_t *pad = &pads->ints.list[2 * k];
        int64_t size = la_sizes(t)[d], end;
        if (!la_add_ok(size, pad[1], &end)
            || !la_add_ok(end, pad[0], &out->sizes[d]))
            return la_error_at(LA_ESHAPE, 2, "size overflow");
        if (out->sizes[d] < 0)
            return la_error_at(LA_ESHAPE, 2, "The input size %lld, plus "
                               "negative padding %lld and %lld, resulted in a "
                               "negative output size, which is invalid. Check "
                               "dimension %d of your input.", (long long)size,
                               (long long)pad[0], (long long)pad[1], d + 1);
    }
    return LA_OK;
}

/* (self, pad, value): sizes after padding, in self's memory format. */
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
static la_status fill_slab(const la_strided *out, int ndim,
                           const int64_t *sizes, int d, int64_t first,
                           int64_t end, char *value, size_t size)
{
    la_strided to = *out, from = {.data = value};
    int64_t span[LA_MAX_DIMS];
    if (end <= first)
        return LA_OK;
    memcpy(span, sizes, (size_t)ndim * sizeof *span);
    span[d] = end - first;
    to.data += first * to.strides[d];
    return la_move(&to, &from, ndim, span, size);
}

/* The number before dim d; 0 where the list does not reach it. */
static int64_t pad_before(const la_value *pads, int ndim, int d)
{
    int64_t k = ndim - 1 - d;
    return 2 * k < pads->ints.n ? pads->ints.list[2 * k] : 0;
}

/* Borders of short rows are a few bytes here and there: some rows at a time
** take the value everywhere, then what is inside. */
typedef struct short_rows {
    char *to;
    const char *from, *value;
    int64_t size, to_row, from_row, first;   /* in bytes */
    int64_t kept;                            /* elements of a row */
} short_rows;

/* Rows begin..end-1, counted over all dims but the last. */
static void pad_short(int64_t begin, int64_t end, void *context)
{
    const short_rows *r = context;
    const int64_t inside[] = {r->size, r->size, r->to_row, r->from_row};
    const int64_t all[] = {r->size, 0, 0, 0};
    int64_t n = end - begin;
    char *to = r->to + begin * r->to_row;
    la_move_block((size_t)r->size, to, r->value, all, n * r->to_row / r->size,
                  1);
    la_move_block((size_t)r->size, to + r->first, r->from + begin * r->from_row,
                  inside, r->kept, n);
}

/* Applies where the last dim alone gets a border, and both are contiguous. */
static bool has_short_rows(const la_tensor *t, const la_tensor *out,
                           const la_value *pads, short_rows *r)
{
    const int64_t bytes = 64, *pad = pads->ints.list;
    int64_t n = pads->ints.n;
    if (n < 2 || out->numel == 0 || t->numel == 0 || pad[0] < 0 || pad[1] < 0)
        return false;
    for (int64_t k = 2; k < n; k++) if (pad[k] != 0) return false;
    r->size = (int64_t)la_itemsize(t);
    r->kept = la_sizes(t)[t->ndim - 1];
    r->first = pad[0] * r->size;
    r->from_row = r->kept * r->size;
    r->to_row = la_sizes(out)[t->ndim - 1] * r->size;
    r->to = la_data(out);
    r->from = la_data(t);
    return r->to_row <= bytes && la_is_contiguous(t) && la_is_contiguous(out);
}

/* Each byte is written once: the two slabs of a dim, then the box inside. */
la_status la_impl_constant_pad_nd(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out = la_result(f, 0);
    const la_value *pads = &f->args[1];
    la_strided to = la_strided_of(out), from = la_strided_of(t);
    int64_t box[LA_MAX_DIMS];
    _Alignas(16) char value[16];
    short_rows narrow = {.value = value};
    size_t size = la_itemsize(t);
    LA_TRY(la_scalar_fits(&f->args[2].scalar, (la_dtype)t->dtype, 3));
    la_scalar_cast(&f->args[2].scalar, t->dtype, value);
    memcpy(box, la_sizes(out), 8u * out->ndim);
    if (has_short_rows(t, out, pads, &narrow))
        return la_iter_items(t->numel / narrow.kept, PAD_GRAIN / narrow.to_row,
                             PAD_BYTES / narrow.to_row + 1, pad_short, &narrow);
    for (int d = 0; d < t->ndim; d++) {
        int64_t before = pad_before(pads, t->ndim, d);
        int64_t cut = before < 0 ? -before : 0;
        int64_t first = before > 0 ? before : 0;
        int64_t kept = la_sizes(t)[d] - cut;
        int64_t left = box[d] - first;
        kept = kept < 0 ? 0 : kept > left ? left : kept;
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

/* reflect leaves the border element out (b a b c), replicate repeats it (a a b
** c), circular wraps around (c a b c). */
typedef enum border { REFLECT, REPLICATE, CIRCULAR } border;

/* 'pad' and 'other' are the two numbers of a dim. */
static la_status check_border(border kind, int64_t pad, int64_t other,
                              int64_t size, int d)
{
    int64_t left = other < 0 ? size + other : size;
    int64_t most = kind == REFLECT ? size - 1 : left < 0 ? 0 : left;
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
                       (long long)pad, d + 1,
                       (long long)(kind == REFLECT ? size : left));
}

/* The part of positions first..end-1 that lies within the result's. Position
** p comes from element p, or by 'step' from where 'from' is at 'first'. */
static void add_run(la_runs *r, const int64_t within[2], int64_t first,
                    int64_t end, int64_t from, int step)
{
    int64_t cut = within[0] > first ? within[0] - first : 0;
    first += cut;
    end = end < within[1] ? end : within[1];
    if (first >= end) return;
    r->run[r->n].n = end - first;
    r->run[r->n].from = from + step * cut;
    r->run[r->n++].step = step;
}

/* One dim, from position -before to size + after: reflect and replicate look
** at all elements, also at those that a negative number cuts; circular repeats
** what is left of them. */
static la_runs bordered(border kind, int64_t size, int64_t before,
                        int64_t after)
{
    static const int steps[] = {[REFLECT] = -1, [REPLICATE] = 0,
                                [CIRCULAR] = 1};
    la_runs r = {.n = 0};
    int64_t within[] = {-before, size + after};
    int64_t first = before < 0 ? -before : 0;
    int64_t end = after < 0 ? size + after : size;
    int64_t ahead[] = {before, 0, end - before};
    int64_t behind[] = {size - 2, size - 1, first};
    if (before > 0)
        add_run(&r, within, -before, 0, ahead[kind], steps[kind]);
    add_run(&r, within, 0, size, 0, 1);
    if (after > 0)
        add_run(&r, within, size, size + after, behind[kind], steps[kind]);
    return r;
}

/* LA_EARG for a word that is none of the three. */
static la_status border_kind(const la_value *mode, border *out)
{
    static const char *const names[] = {"reflect", "replicate", "circular"};
    for (int k = 0; k < 3; k++)
        if (la_str_is(mode, names[k])) {
            *out = (border)k;
            return LA_OK;
        }
    return la_error_at(LA_EARG, 3, "Unrecognised padding mode: 'constant', "
                       "'reflect', 'replicate' or 'circular' expected");
}

/* Both numbers are 0 for dims that the list does not reach. */
la_status la_border_runs(const la_value *pads, const la_value *mode, int ndim,
                         int d, int64_t size, la_runs *out)
{
    border kind = REFLECT;
    int64_t k = 2 * (ndim - 1 - d);
    bool given = k < pads->ints.n;
    LA_TRY(border_kind(mode, &kind));
    *out = bordered(kind, size, given ? pads->ints.list[k] : 0,
                    given ? pads->ints.list[k + 1] : 0);
    return LA_OK;
}

/* (self, pad, mode): sizes after padding; LA_ESHAPE where a border would need
** more elements than there are. */
la_status la_meta_border_pad_nd(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    const la_value *pads = &f->args[1];
    la_shape shape;
    int64_t strides[LA_MAX_DIMS];
    border kind = REFLECT;
    LA_TRY(border_kind(&f->args[2], &kind));
    LA_TRY(padded_sizes(t, pads, &shape));
    for (int64_t k = 0; k < pads->ints.n; k++) {
        int d = t->ndim - 1 - (int)(k / 2);
        LA_TRY(check_border(kind, pads->ints.list[k], pads->ints.list[k ^ 1],
                            la_sizes(t)[d], d));
    }
    LA_TRY(la_format_strides(la_suggest_format(t), shape.ndim, shape.sizes,
                             strides));
    LA_TRY(la_set_output(f, 0, shape.ndim, shape.sizes, strides, t->dtype));
    if (t->names)
        la_tensor_set_names(la_result(f, 0), la_names_retain(t->names));
    return LA_OK;
}

/* Every position of a dim comes from one of at most three runs. */
la_status la_impl_border_pad_nd(la_frame *f)
{
    enum { FEW = 6 };        /* runs of 64 dims would be 5 KiB of the stack */
    la_tensor *t = la_arg(f, 0);
    la_runs few[FEW], *dims = few;
    la_status status = LA_OK;
    if (t->ndim > FEW
        && !(dims = la_mem_zalloc((size_t)t->ndim * sizeof *dims)))
        return LA_ENOMEM;
    for (int d = 0; !status && d < t->ndim; d++)
        status = la_border_runs(&f->args[1], &f->args[2], t->ndim, d,
                                la_sizes(t)[d], &dims[d]);
    if (!status) status = la_move_runs(la_result(f, 0), t, dims);
    if (dims != few) la_mem_free(dims, (size_t)t->ndim * sizeof *dims);
    return status;
}

/* A value goes with 'constant' alone: LA_EARG. */
static la_status pad_by_mode(la_frame *f, la_tensor **out)
{
    la_tensor *t = la_arg(f, 0);
    const la_value *pads = &f->args[1], *mode = &f->args[2];
    la_value zero = la_v_scalar(la_scalar_int(0));
    if (la_str_is(mode, "constant"))
        return la_run(constant_pad_nd, out, t, *pads,
                      la_has(f, 3) ? f->args[3] : zero);
    if (la_has(f, 3))
        return la_error_at(LA_EARG, 4, "Padding mode '%s' doesn't take in "
                           "value argument", LA_QUOTED(mode));
    return la_run(border_pad_nd, out, t, *pads, *mode);
}

/* (self, pad, mode, value), the operation that users call. */
la_status la_impl_pad(la_frame *f)
{
    la_tensor *out;
    LA_TRY(pad_by_mode(f, &out));
    return LA_GIVE(f, out);
}
