/*
** From one tensor to a list of views (unbind, split, chunk, tensor_split,
** hsplit ...), and from a list of tensors to common sizes (broadcast_tensors,
** meshgrid). Composites of select, slice and expand.
*/
#include "op/view/view.h"

#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/view.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "op/look.h"
#include "tensor/shape.h"

/* Result 0 becomes a list of n NULL tensors, which the caller fills; a failure
** later releases what is there. The list belongs to the frame from then on.
** LA_ENOMEM. */
static la_status split_start_list(la_frame *f, int64_t n, la_tensor ***list)
{
    la_value v;
    LA_TRY(la_list_new(n, &v));
    la_set_result_value(f, 0, v);
    *list = v.tensors.list;
    return LA_OK;
}

/* Views that came together can't be changed in place one by one while recording
** (PyTorch's rule for unbind, split and chunk): each write would need the
** history of the whole list. */
static la_status mark_multi(la_frame *f)
{
    la_value *v = &f->results[0];
    for (int64_t k = 0; k < v->tensors.n; k++)
        if (v->tensors.list[k]->base)
            v->tensors.list[k]->flags |= LA_F_MULTI_VIEW;
    return LA_OK;
}

/* Lists may be of millions: asks for an interruption now and then. */
static inline la_status poll_piece(int64_t k)
{
    return (k & 4095) == 4095 ? la_poll() : LA_OK;
}

/* Argument k as a dim; 'what' names the operation for 0-dim tensors. */
static la_status split_dim_of(const la_frame *f, int k, const char *what,
                              int *out)
{
    int ndim = la_arg(f, 0)->ndim;
    if (ndim == 0)
        return la_error_at(LA_ESHAPE, 1, "%s expects at least a 1-dimensional "
                           "tensor", what);
    return la_arg_dim(f, k, ndim, out);
}

/* unbind(self, dim): one view per index, without the dim. */
la_status la_impl_unbind(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), **list;
    int d;
    LA_TRY(split_dim_of(f, 1, "unbind", &d));
    int64_t n = la_sizes(t)[d];
    LA_TRY(split_start_list(f, n, &list));
    for (int64_t k = 0; k < n; k++) {
        LA_TRY(poll_piece(k));
        LA_TRY(la_run(select, &list[k], t, d, k));
    }
    return mark_multi(f);
}

/* Pieces of 'piece' elements, the last one shorter. 'piece' is 0 for an empty
** dim alone. */
static la_status split_even(la_frame *f, la_tensor *t, int d, int64_t piece)
{
    la_tensor **list;
    int64_t size = la_sizes(t)[d];
    /* An empty dim gives one empty piece, as in PyTorch. */
    int64_t n = piece == 0 ? 1 : size / piece + (size % piece != 0);
    n = n < 1 ? 1 : n;
    LA_TRY(split_start_list(f, n, &list));
    for (int64_t k = 0; k < n; k++) {
        int64_t first = k * piece, rest = size - first;
        LA_TRY(poll_piece(k));
        LA_TRY(la_slice_of(t, d, first, first + (rest < piece ? rest : piece),
                           &list[k]));
    }
    return mark_multi(f);
}

/* split(self, split_size, dim) */
la_status la_impl_split(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    int64_t piece = la_arg_int(f, 1);
    int d;
    LA_TRY(split_dim_of(f, 2, "split", &d));
    if (piece < 0)
        return la_error_at(LA_EARG, 2, "split expects split_size be "
                           "non-negative, but got split_size=%lld",
                           (long long)piece);
    if (piece == 0 && la_sizes(t)[d] != 0)
        return la_error_at(LA_EARG, 2, "split_size can only be 0 if dimension "
                           "size is 0, but got dimension size of %lld",
                           (long long)la_sizes(t)[d]);
    return split_even(f, t, d, piece);
}

/* LA_EARG for a negative size, LA_ESHAPE unless their sum is the size of the
** dim. */
static la_status split_check_sizes(const la_value *sizes, int64_t size)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < sizes->ints.n; k++) {
        int64_t piece = sizes->ints.list[k];
        if (piece < 0)
            return la_error_at(LA_EARG, 2, "split_with_sizes expects "
                               "split_sizes have only non-negative entries, "
                               "but got %lld", (long long)piece);
        if (!la_add_ok(sum, piece, &sum))
            return la_error_at(LA_EARG, 2, "the sum of the sizes overflows");
    }
    if (sum != size)
        return la_error_at(LA_ESHAPE, 2, "split_with_sizes expects "
                           "split_sizes to sum exactly to %lld (input tensor's "
                           "size at the dimension), but they sum to %lld",
                           (long long)size, (long long)sum);
    return LA_OK;
}

/* split_with_sizes(self, sizes, dim); split with a list is the same. */
la_status la_impl_split_with_sizes(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), **list;
    const la_value *sizes = &f->args[1];
    int64_t first = 0;
    int d;
    LA_TRY(split_dim_of(f, 2, "split", &d));
    LA_TRY(split_check_sizes(sizes, la_sizes(t)[d]));
    LA_TRY(split_start_list(f, sizes->ints.n, &list));
    for (int64_t k = 0; k < sizes->ints.n; k++) {
        int64_t end = first + sizes->ints.list[k];
        LA_TRY(poll_piece(k));
        LA_TRY(la_slice_of(t, d, first, end, &list[k]));
        first = end;
    }
    return mark_multi(f);
}

/* split(self, sizes, dim): the overload of split that takes a list. */
LA_FORWARD(la_impl_split_sizes, la_impl_split_with_sizes(f))

/* chunk(self, chunks, dim): pieces of ceil(size / chunks), perhaps fewer
** pieces. */
la_status la_impl_chunk(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), **list;
    int64_t n = la_arg_int(f, 1);
    int d;
    LA_TRY(split_dim_of(f, 2, "chunk", &d));
    if (n <= 0)
        return la_error_at(LA_EARG, 2, "chunk expects `chunks` to be greater "
                           "than 0, got: %lld", (long long)n);
    int64_t size = la_sizes(t)[d];
    if (size > 0)
        return split_even(f, t, d, size / n + (size % n != 0));
    LA_TRY(split_start_list(f, n, &list));  /* as many empty pieces as asked */
    for (int64_t k = 0; k < n; k++)
        LA_TRY(la_slice_of(t, d, 0, 0, &list[k]));
    return LA_OK;
}

/* --- tensor_split and its short forms --- */

/* n pieces whose sizes differ by at most one, larger ones first. LA_EARG unless
** n > 0. */
static la_status split_sections(la_frame *f, la_tensor *t, int d, int64_t n)
{
    la_tensor **list;
    int64_t size = la_sizes(t)[d], first = 0;
    if (n <= 0)
        return la_error_at(LA_EARG, 2, "number of sections must be larger than "
                           "0, got %lld", (long long)n);
    LA_TRY(split_start_list(f, n, &list));
    for (int64_t k = 0; k < n; k++) {
        int64_t end = first + size / n + (k < size % n);
        LA_TRY(la_slice_of(t, d, first, end, &list[k]));
        first = end;
    }
    return LA_OK;
}

/* Negative positions count from the end; all are cut to the size. */
static int64_t split_position(int64_t p, int64_t size)
{
    if (p < 0)
        p = p < -size ? 0 : p + size;
    return p > size ? size : p;
}

/* Cut before each of the positions, counted from 0. at->ints.n + 1 pieces. Not
** marked as multiple views, as in PyTorch. */
static la_status split_positions(la_frame *f, la_tensor *t, int d,
                                 const la_value *at)
{
    la_tensor **list;
    int64_t size = la_sizes(t)[d], n = at->ints.n, first = 0;
    LA_TRY(split_start_list(f, n + 1, &list));
    /* Positions need not ascend: a piece that would end before it begins is
    ** empty. */
    for (int64_t k = 0; k <= n; k++) {
        int64_t end = k < n ? split_position(at->ints.list[k], size) : size;
        LA_TRY(la_slice_of(t, d, first, end < first ? first : end, &list[k]));
        first = end;
    }
    return LA_OK;
}

/* tensor_split(self, sections, dim), (self, indices, dim), (self, tensor,
** dim) */
la_status la_impl_tensor_split(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    int d;
    LA_TRY(split_dim_of(f, 2, "tensor_split", &d));
    return split_sections(f, t, d, la_arg_int(f, 1));
}

la_status la_impl_tensor_split_indices(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    int d;
    LA_TRY(split_dim_of(f, 2, "tensor_split", &d));
    return split_positions(f, t, d, &f->args[1]);
}

/* Positions count from 1 in a tensor: converted in 'own', a copy of its
** elements. */
static la_status split_listed(la_frame *f, la_tensor *t, int d, la_tensor *own)
{
    int64_t *at = (int64_t *)la_data(own), n = own->numel;
    for (int64_t i = 0; i < n; i++) {
        if (at[i] == 0)
            return la_error_at(LA_EINDEX, 2, "index 0 (element %lld) is not a "
                               "position: indices start at 1",
                               (long long)i + 1);
        at[i] -= at[i] > 0;
    }
    la_value positions = la_v_ints(at, n);
    return split_positions(f, t, d, &positions);
}

/* A 0-dim tensor is a number of sections, a list holds positions. */
la_status la_impl_tensor_split_tensor(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *at = la_arg(f, 1);
    int d;
    LA_TRY(split_dim_of(f, 2, "tensor_split", &d));
    if (at->dtype != LA_INT64 && at->dtype != LA_INT32)
        return la_error_at(LA_EDTYPE, 2, "tensor_split expected "
                           "indices_or_sections to have dtype of int64 or "
                           "int32, but got %s", la_dtype_name(at->dtype));
    if (at->ndim > 1)
        return la_error_at(LA_ESHAPE, 2, "tensor_split expected "
                           "indices_or_sections to be a zero-dimensional or "
                           "one-dimensional tensor, but got a tensor with %d "
                           "dims", at->ndim);
    /* How many pieces there are depends on the values. */
    if (at->device != LA_CPU)
        return la_error_at(LA_EKEY, 2, "a tensor on the meta device has no "
                           "indices to be read");
    LA_LET(wide, la_run(astype, &wide, at, la_v_dtype(LA_INT64)));
    LA_TRY(la_look_sizes(wide));
    if (at->ndim == 0)
        return split_sections(f, t, d, *(const int64_t *)la_data(wide));
    LA_LET(own, la_clone_contiguous(wide, &own));
    return split_listed(f, t, d, own);
}

/* narrow whose start is a 0-dim integer tensor: from 1, or from the end. */
la_status la_impl_narrow_tensor(la_frame *f)
{
    la_tensor *start = la_arg(f, 2);
    if (start->ndim != 0 || !la_is_integral((la_dtype)start->dtype)
        || start->dtype == LA_BOOL)
        return la_error_at(LA_EARG, 3, "start must be an 0-dim integral "
                           "Tensor.");
    if (start->device != LA_CPU)
        return la_error_at(LA_EKEY, 3, "a tensor on the meta device has no "
                           "start to be read");
    LA_TRY(la_look_sizes(start));
    la_scalar s = la_scalar_load((la_dtype)start->dtype, la_data(start));
    if (s.i == 0)
        return la_error_at(LA_EINDEX, 3, "index 0 is not a position: indices "
                           "start at 1");
    return la_run_result(f, narrow, f->args[0], f->args[1], s.i - (s.i > 0),
                         f->args[3]);
}

/* hsplit, vsplit, dsplit ('name'): along dim d of a tensor with 'least' dims;
** sections must divide the size. */
static la_status named_split(la_frame *f, const char *name, int least, int d,
                             bool sections)
{
    la_tensor *t = la_arg(f, 0);
    if (t->ndim < least)
        return la_error(LA_ESHAPE, "%s requires a tensor with at least %d "
                        "dimension%s, but got a tensor with %d dimensions!",
                        name, least, least > 1 ? "s" : "", t->ndim);
    if (!sections)
        return split_positions(f, t, d, &f->args[1]);
    int64_t n = la_arg_int(f, 1);
    if (n <= 0 || la_sizes(t)[d] % n)
        return la_error_at(LA_EARG, 2, "%s attempted to split along dimension "
                           "%d, but the size of the dimension %lld is not "
                           "divisible by the split_size %lld!", name, d + 1,
                           (long long)la_sizes(t)[d], (long long)n);
    return split_sections(f, t, d, n);
}

/* Along dim 2, or dim 1 of a vector. */
static la_status hsplit(la_frame *f, bool sections)
{
    return named_split(f, "hsplit", 1, la_arg(f, 0)->ndim == 1 ? 0 : 1,
                       sections);
}

/* hsplit, vsplit, dsplit: by a number of equal sections, or (_indices) before
** each of the listed indices. */
LA_FORWARD(la_impl_hsplit, hsplit(f, true))
LA_FORWARD(la_impl_hsplit_indices, hsplit(f, false))
LA_FORWARD(la_impl_vsplit, named_split(f, "vsplit", 2, 0, true))
LA_FORWARD(la_impl_vsplit_indices, named_split(f, "vsplit", 2, 0, false))
LA_FORWARD(la_impl_dsplit, named_split(f, "dsplit", 3, 2, true))
LA_FORWARD(la_impl_dsplit_indices, named_split(f, "dsplit", 3, 2, false))

/* --- common sizes --- */

/* All expanded to one shape. Views with strides of 0; LA_ESHAPE where the sizes
** do not fit. */
la_status la_impl_broadcast_tensors(la_frame *f)
{
    la_shape all = {.ndim = 0};
    int64_t n = f->args[0].tensors.n;
    la_tensor **in = f->args[0].tensors.list, **list;
    for (int64_t k = 0; k < n; k++) {
        la_shape one = la_shape_of(in[k]);
        LA_TRY(la_shape_broadcast(&all, &one, &all));
    }
    LA_TRY(split_start_list(f, n, &list));
    for (int64_t k = 0; k < n; k++)
        LA_TRY(la_run(expand, &list[k], in[k], la_v_ints(all.sizes, all.ndim)));
    return LA_OK;
}

/* 0- or 1-dim tensors of one dtype; *xy says how they are indexed. LA_EARG,
** LA_ESHAPE or LA_EDTYPE otherwise. */
static la_status split_check_grid(const la_frame *f, bool *xy)
{
    int64_t n = f->args[0].tensors.n;
    la_tensor **in = f->args[0].tensors.list;
    if (n == 0)
        return la_error_at(LA_EARG, 1, "meshgrid expects a non-empty list of "
                           "tensors");
    for (int64_t k = 0; k < n; k++) {
        if (in[k]->ndim > 1)
            return la_error_at(LA_ESHAPE, 1, "Expected 0D or "
                               "1D tensor in the tensor list but got: %dD",
                               in[k]->ndim);
        if (in[k]->dtype != in[0]->dtype)
            return la_error_at(LA_EDTYPE, 1, "meshgrid expects all tensors to "
                               "have the same dtype");
    }
    *xy = la_str_is(&f->args[1], "xy");
    if (!*xy && !la_str_is(&f->args[1], "ij"))
        return la_error_at(LA_EARG, 2, "indexing must be one of "
                           "\"xy\" or \"ij\"");
    return LA_OK;
}

/* Tensor k along dim k of the grid, expanded over the others. *out is an owned
** view with strides of 0; no element is copied. */
static la_status grid_one(la_tensor *t, int k, int n, const int64_t *sizes,
                          la_tensor **out)
{
    int64_t line[LA_MAX_DIMS];
    for (int d = 0; d < n; d++)
        line[d] = d == k ? t->numel : 1;
    LA_LET(view, la_view_to(t, n, line, &view));
    return la_run(expand, out, view, la_v_ints(sizes, n));
}

/* meshgrid(tensors, indexing): "ij" is matrix order; "xy" swaps the first two
** dims of every grid. */
la_status la_impl_meshgrid(la_frame *f)
{
    int64_t n = f->args[0].tensors.n, sizes[LA_MAX_DIMS];
    la_tensor **in = f->args[0].tensors.list, **list;
    bool xy = false;
    LA_TRY(split_check_grid(f, &xy));
    if (n > LA_MAX_DIMS)
        return la_error_at(LA_EARG, 1, "more than %d tensors",
                           LA_MAX_DIMS);
    for (int64_t k = 0; k < n; k++)
        sizes[k] = in[k]->numel;
    LA_TRY(split_start_list(f, n, &list));
    for (int k = 0; k < n; k++) {
        LA_TRY(grid_one(in[k], k, (int)n, sizes, &list[k]));
        if (!xy || n < 2)
            continue;
        la_tensor *grid = list[k];  /* xy: the first two dims are swapped */
        list[k] = NULL;
        la_status status = la_run(transpose, &list[k], grid, 0, 1);
        la_tensor_release(grid);
        LA_TRY(status);
    }
    return LA_OK;
}
