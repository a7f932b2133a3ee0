/*
** Composite views: reshape, ravel, view_as, expand_as, broadcast_to, T, mT, mH,
** H, movedim, atleast_1d to atleast_3d. Only reshape and those by it may copy,
** where strides cannot express the sizes.
*/
#include "op/composite.h"
#include "op/view/view.h"

#include "base/runtime/memory.h"
#include "tensor/names.h"

#define LA_ROWS "op/def/view.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* These four go through the dispatcher, so that autograd records them. */
la_status la_clone_contiguous(la_tensor *t, la_tensor **out)
{
    la_value format = {.tag = LA_VFORMAT, .given = true,
                       .format = LA_FORMAT_CONTIGUOUS};
    return la_run(clone, out, t, format);
}

la_status la_view_to(la_tensor *t, int ndim, const int64_t *sizes,
                     la_tensor **out)
{
    return la_run(view, out, t, la_v_ints(sizes, ndim));
}

la_status la_slice_of(la_tensor *t, int dim, int64_t first, int64_t end,
                      la_tensor **out)
{
    return la_run(slice, out, t, dim, first, end);
}

/* A view where one is possible, else a contiguous copy. */
la_status la_reshape_to(la_tensor *t, int ndim, const int64_t *sizes,
                        la_tensor **out)
{
    la_shape to;
    int64_t strides[LA_MAX_DIMS];
    bool possible;
    LA_TRY(la_blame(la_view_infer(sizes, ndim, t->numel, &to), 2));
    LA_TRY(la_view_strides(t, &to, strides, &possible));
    if (possible)
        return la_view_to(t, to.ndim, to.sizes, out);
    LA_LET(copy, la_clone_contiguous(t, &copy));
    return la_view_to(copy, to.ndim, to.sizes, out);
}

/* reshape(self, size): one -1 is inferred. A view where strides allow it, else
** a copy; LA_ESHAPE where the sizes hold another number of elements. */
la_status la_impl_reshape(la_frame *f)
{
    la_tensor *out;
    return la_give(f, la_reshape_to(la_arg(f, 0), (int)f->args[1].ints.n,
                                 f->args[1].ints.list, &out), &out);
}

/* reshape_as(self, other), view_as(self, other): other's sizes; view_as never
** copies. */
la_status la_impl_reshape_as(la_frame *f)
{
    la_tensor *out, *other = la_arg(f, 1);
    return la_give(f, la_reshape_to(la_arg(f, 0), other->ndim, la_sizes(other),
                                 &out), &out);
}

la_status la_impl_view_as(la_frame *f)
{
    la_tensor *out, *other = la_arg(f, 1);
    return la_give(f, la_view_to(la_arg(f, 0), other->ndim, la_sizes(other),
                              &out), &out);
}

/* expand, for its two aliases. */
static la_status view_call_expand_to(la_frame *f, int ndim,
                                     const int64_t *sizes)
{
    return la_run_result(f, expand, la_arg(f, 0), la_v_ints(sizes, ndim));
}

/* expand_as(self, other), broadcast_to(self, size) */
LA_FORWARD(la_impl_expand_as,
           view_call_expand_to(f, la_arg(f, 1)->ndim, la_sizes(la_arg(f, 1))))
LA_FORWARD(la_impl_broadcast_to,
           view_call_expand_to(f, (int)f->args[1].ints.n, f->args[1].ints.list))

/* ravel(self): contiguous [numel]. */
la_status la_impl_ravel(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    int64_t all = t->numel;
    LA_OWNED plain = NULL;
    if (la_is_contiguous(t))
        plain = la_tensor_retain(t);
    else
        LA_TRY(la_clone_contiguous(t, &plain));
    return la_give(f, la_view_to(plain, 1, &all, &out), &out);
}

/* --- orders of dims --- */

/* Dims a and b may count from the end. *out is an owned view. */
static la_status view_call_transposed(la_tensor *t, int a, int b,
                                      la_tensor **out)
{
    return la_run(transpose, out, t, a, b);
}

/* x.T: all dims reversed. */
la_status la_impl_T(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    int64_t dims[LA_MAX_DIMS];
    for (int k = 0; k < t->ndim; k++)
        dims[k] = t->ndim - 1 - k;
    return la_give(f, la_run(permute, &out, t, la_v_ints(dims, t->ndim)),
                   &out);
}

/* Requires at least two dims, for x.mT and x.mH. LA_ESHAPE names the
** attribute. */
static la_status view_call_check_matrix(const la_tensor *t, const char *name)
{
    if (t->ndim < 2)
        return la_error(LA_ESHAPE, "tensor.%s is only supported on matrices or "
                        "batches of matrices. Got %d-D tensor.", name,
                        t->ndim);
    return LA_OK;
}

/* x.mT: the last two dims exchanged; x.mH: conjugated as well. */
la_status la_impl_mT(la_frame *f)
{
    la_tensor *out;
    LA_TRY(view_call_check_matrix(la_arg(f, 0), "mT"));
    return la_give(f, view_call_transposed(la_arg(f, 0), -2, -1, &out), &out);
}

/* Transposed, and conjugated if complex. */
static la_status adjoint(la_tensor *t, la_tensor **out)
{
    LA_LET(swapped, view_call_transposed(t, -2, -1, &swapped));
    if (la_is_complex(t->dtype))
        return la_run(conj, out, swapped);
    return la_tensor_hand(&swapped, out);
}

la_status la_impl_mH(la_frame *f)
{
    la_tensor *out;
    LA_TRY(view_call_check_matrix(la_arg(f, 0), "mH"));
    return la_give(f, adjoint(la_arg(f, 0), &out), &out);
}

/* x.H: the adjoint of a matrix; a scalar is only conjugated. */
la_status la_impl_H(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    if (t->ndim != 0 && t->ndim != 2)
        return la_error(LA_ESHAPE, "tensor.H is only supported on matrices "
                        "(2-D tensors). Got %d-D tensor. For batches of "
                        "matrices, consider using tensor.mH", t->ndim);
    if (t->ndim == 0)
        return la_give(f, la_run(conj, &out, t), &out);
    return la_give(f, adjoint(t, &out), &out);
}

/* movedim(self, source, destination): named dims go where they are told, the
** others keep their order in what is left. */
la_status la_impl_movedim(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    const la_value *from = &f->args[1], *to = &f->args[2];
    int64_t dims[LA_MAX_DIMS];
    uint64_t moved, filled;
    int s = 0, d = 0, next = 0;
    if (from->ints.n != to->ints.n)
        return la_error(LA_EARG, "Invalid source or destination dims: "
                        "source (%lld dims) should contain the same number of "
                        "dims as destination (%lld dims)",
                        (long long)from->ints.n, (long long)to->ints.n);
    LA_TRY(la_blame(la_dim_mask((int)from->ints.n, from->ints.list, t->ndim,
                                &moved), 2));
    LA_TRY(la_blame(la_dim_mask((int)to->ints.n, to->ints.list, t->ndim,
                                &filled), 3));
    for (int64_t k = 0; k < from->ints.n; k++) {
        LA_TRY(la_wrap_dim(from->ints.list[k], t->ndim, &s));
        LA_TRY(la_wrap_dim(to->ints.list[k], t->ndim, &d));
        dims[d] = s;
    }
    for (int k = 0; k < t->ndim; k++) {
        if (filled >> k & 1)
            continue;
        /* The next dim, in the old order, that was not moved. */
        while (moved >> next & 1)
            next++;
        dims[k] = next++;
    }
    return la_give(f, la_run(permute, &out, t, la_v_ints(dims, t->ndim)),
                   &out);
}

/* --- at least so many dims --- */

/* 't' with at least n dims, dims of size 1 added as NumPy does. */
static la_status view_call_at_least(la_tensor *t, int n, la_tensor **out)
{
    int64_t sizes[3] = {1, 1, 1};
    if (t->ndim >= n) return la_tensor_same(t, out);
    /* One dim becomes a row; for three dims a row of depth 1. */
    if (t->ndim == 1)
        sizes[1] = la_sizes(t)[0];
    if (t->ndim < 2)
        return la_reshape_to(t, n, sizes, out);
    return la_run(unsqueeze, out, t, -1);
}

static la_status at_least_result(la_frame *f, int n)
{
    la_tensor *out;
    return la_give(f, view_call_at_least(la_arg(f, 0), n, &out), &out);
}

/* at_least with a list of tensors; result 0 is a list. */
static la_status at_least_list(la_frame *f, int n)
{
    la_value list;
    int64_t count = f->args[0].tensors.n;
    LA_TRY(la_list_new(count, &list));
    la_set_result_value(f, 0, list);
    for (int64_t k = 0; k < count; k++)
        LA_TRY(view_call_at_least(f->args[0].tensors.list[k], n,
                                  &list.tensors.list[k]));
    return LA_OK;
}

/* atleast_nd(self), and of a list: a vector becomes [1, n] and [1, n, 1], a
** matrix [m, n, 1]. */
LA_FORWARD(la_impl_atleast_1d, at_least_result(f, 1))
LA_FORWARD(la_impl_atleast_2d, at_least_result(f, 2))
LA_FORWARD(la_impl_atleast_3d, at_least_result(f, 3))
LA_FORWARD(la_impl_atleast_1d_list, at_least_list(f, 1))
LA_FORWARD(la_impl_atleast_2d_list, at_least_list(f, 2))
LA_FORWARD(la_impl_atleast_3d_list, at_least_list(f, 3))
