/*
** Operations that change what a tensor refers to: its geometry (squeeze_, t_,
** as_strided_ ...), its size (resize_), its storage (set_). The elements of the
** storage stay.
*/
#include "op/view/view.h"

#include "base/runtime/memory.h"

#define LA_ROWS "op/def/view.def"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

la_status la_change_geometry(la_frame *f, const la_geometry *g,
                             const int *from)
{
    la_tensor *t = la_arg(f, 0);
    la_names *names = NULL;
    /* A meta tensor has no storage that the geometry could leave. */
    if (t->storage)
        LA_TRY(la_extent_check(g->ndim, g->sizes, g->strides, g->offset,
                               (int64_t)la_itemsize(t), t->storage->nbytes));
    if (from)
        LA_TRY(la_names_pick(t->names, g->ndim, from, &names));
    la_status status = la_tensor_set_geometry(t, g->ndim, g->sizes,
                                              g->strides);
    if (status) {
        la_names_release(names);
        return status;
    }
    t->offset = g->offset;
    la_tensor_set_names(t, names);
    return la_same_result(f);
}

/* The views' own functions, whose la_view_result comes here. */
LA_FORWARD(la_meta_squeeze_, la_meta_squeeze(f))
LA_FORWARD(la_meta_unsqueeze_, la_meta_unsqueeze(f))
LA_FORWARD(la_meta_transpose_, la_meta_transpose(f))
LA_FORWARD(la_meta_permute_, la_meta_permute(f))
LA_FORWARD(la_meta_t_, la_meta_t(f))

/* Arguments 1 to 3 (size, stride, offset), checked. */
static la_status strided_geometry(const la_frame *f, la_geometry *g)
{
    const la_value *sizes = &f->args[1], *strides = &f->args[2];
    if (sizes->ints.n != strides->ints.n || sizes->ints.n > LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 3, "mismatch in length of strides and "
                           "shape: %lld sizes, %lld strides",
                           (long long)sizes->ints.n,
                           (long long)strides->ints.n);
    g->ndim = (int)sizes->ints.n;
    g->offset = la_has(f, 3) ? la_arg_int(f, 3) : la_arg(f, 0)->offset;
    for (int d = 0; d < g->ndim; d++) {
        g->sizes[d] = sizes->ints.list[d];
        g->strides[d] = strides->ints.list[d];
        if (g->strides[d] < 0)
            return la_error_at(LA_ESHAPE, 3, "Negative strides "
                               "are not supported, got dimension %d", d + 1);
    }
    return LA_OK;
}

/* as_strided_(self, size, stride, storage_offset): drops the names. */
la_status la_meta_as_strided_(la_frame *f)
{
    la_geometry g;
    LA_TRY(strided_geometry(f, &g));
    return la_change_geometry(f, &g, NULL);
}

/* --- size and storage --- */

/* Refuses tensors with a history. */
static la_status check_resizable(const la_tensor *t)
{
    if (la_grad_flag(t))
        return la_error(LA_EGRAD, "cannot resize variables that require grad");
    return LA_OK;
}

/* The strides of a memory format, for the sizes that 't' has by now: where it
** was expanded its storage may still be too small for them. */
static la_status resize_strides(la_tensor *t, const int64_t *strides)
{
    int64_t bytes = (t->offset + t->numel) * (int64_t)la_itemsize(t);
    if (t->storage && t->numel && bytes > t->storage->nbytes)
        LA_TRY(la_storage_resize(t->storage, bytes));
    return la_tensor_set_geometry(t, t->ndim, la_sizes(t), strides);
}

/* The names would belong to other dims. */
static la_status check_unnamed(const la_tensor *t, int ndim,
                               const int64_t *sizes)
{
    bool same = t->ndim == ndim
        && memcmp(sizes, la_sizes(t), (size_t)ndim * sizeof(*sizes)) == 0;
    return same || !t->names ? LA_OK
        : la_error(LA_ESTATE, "a tensor with named dims cannot be resized: "
                   "rename() drops the names");
}

/* New sizes, in a memory format if one is given. New memory is
** uninitialised. */
static la_status resize(la_frame *f, int ndim, const int64_t *sizes,
                        const la_value *format)
{
    la_tensor *t = la_arg(f, 0);
    int64_t strides[LA_MAX_DIMS];
    LA_TRY(check_resizable(t));
    LA_TRY(check_unnamed(t, ndim, sizes));
    for (int d = 0; d < ndim; d++)
        if (sizes[d] < 0)
            return la_error_at(LA_ESHAPE, 2, "Trying to create tensor with "
                               "negative dimension %lld",
                               (long long)sizes[d]);
    bool strided = format->tag == LA_VFORMAT && format->format != LA_PRESERVE;
    if (strided && ndim <= LA_MAX_DIMS)
        LA_TRY(la_format_strides(format->format, ndim, sizes, strides));
    LA_TRY(la_tensor_resize(t, ndim, sizes));
    if (strided)
        LA_TRY(resize_strides(t, strides));
    return la_same_result(f);
}

/* resize_(self, size, memory_format) */
LA_FORWARD(la_meta_resize_,
           resize(f, (int)f->args[1].ints.n, f->args[1].ints.list, &f->args[2]))

/* resize_as_(self, other, memory_format) */
la_status la_meta_resize_as_(la_frame *f)
{
    la_tensor *like = la_arg(f, 1);
    return resize(f, like->ndim, la_sizes(like), &f->args[2]);
}

/* LA_EDTYPE unless the source of a set_ has t's dtype. */
static la_status check_source(const la_tensor *t, const la_tensor *source)
{
    if (t->dtype == source->dtype) return LA_OK;
    return la_error_at(LA_EDTYPE, 2, "Expected a tensor of type %s but got %s "
                       "for argument 'source'", la_dtype_name(t->dtype),
                       la_dtype_name(source->dtype));
}

/* set_(self, source): source's storage and geometry; nil: an empty tensor. */
la_status la_meta_set_(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *source = la_arg(f, 1);
    LA_OWNED empty = NULL;
    if (!source) {
        LA_TRY(la_tensor_empty_on(t->device, 1, (int64_t[]){0}, NULL, t->dtype,
                                  &empty));
        source = empty;
    }
    LA_TRY(la_tensor_check_not_fixed(t));
    LA_TRY(check_source(t, source));
    LA_TRY(la_tensor_set(t, source));
    return la_same_result(f);
}

/* set_(self, source, offset, size, stride): source's storage with a geometry;
** without strides a contiguous one. */
la_status la_meta_set__strided(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *source = la_arg(f, 1);
    const la_value *sizes = &f->args[3], *strides = &f->args[4];
    int64_t own[LA_MAX_DIMS];
    int n = (int)sizes->ints.n;
    LA_TRY(la_tensor_check_not_fixed(t));
    LA_TRY(check_source(t, source));
    if (n > LA_MAX_DIMS || (la_has(f, 4) && strides->ints.n != n))
        return la_error_at(LA_ESHAPE, 5, "mismatch in length of strides and "
                           "shape");
    for (int d = 0; la_has(f, 4) && d < n; d++)
        if (strides->ints.list[d] < 0)
            return la_error_at(LA_ESHAPE, 5, "Negative strides are not "
                               "supported, got dimension %d", d + 1);
    la_contiguous_strides(n, sizes->ints.list, own);
    LA_LET(view,
           la_tensor_view(source, n, sizes->ints.list, la_has(f, 4)
                          ? strides->ints.list : own, la_arg_int(f, 2), &view));
    LA_TRY(la_tensor_set(t, view));
    return la_same_result(f);
}

/* x.data = data: storage, geometry and dtype of 'data'. Allowed for a detached
** x, as in PyTorch: it parts from the tensor that it was made of. */
la_status la_meta_set_data(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *data = la_arg(f, 1);
    if (data->dtype != t->dtype
        && la_grad_flag(t) && !la_is_float(data->dtype)
        && !la_is_complex(data->dtype))
        return la_error_at(LA_EDTYPE, 2, "data set to a tensor that requires "
                           "gradients must be floating point or complex dtype");
    LA_TRY(la_tensor_set(t, data));
    return la_same_result(f);
}
