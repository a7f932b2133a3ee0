/* Choices from lists of values: products, combinations, powers, trimming. */
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/composite.h"
#include "op/move/move.h"
#include "op/view/view.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/join.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "op/look.h"

/* --- cartesian_prod --- */

/* LA_EARG for an empty list, LA_ESHAPE for anything but vectors. */
static la_status check_vectors(const la_value *in)
{
    if (in->tensors.n == 0)
        return la_error_at(LA_EARG, 1, "cartesian_prod expects at least one "
                           "tensor");
    for (int64_t k = 0; k < in->tensors.n; k++)
        if (in->tensors.list[k]->ndim != 1)
            return la_error_at(LA_ESHAPE, 1, "Expect a 1D vector, but got "
                               "shape with %d dimensions at position %lld",
                               in->tensors.list[k]->ndim, (long long)k + 1);
    return LA_OK;
}

/* (tensors) -> [product of the lengths, n], the last vector fastest: the grids
** of meshgrid, flattened, as columns. One vector alone is returned itself,
** without a second dim, as in PyTorch. */
la_status la_impl_cartesian_prod(la_frame *f)
{
    const la_value *in = &f->args[0];
    la_value grids[LA_MAX_RESULTS] = {{.tag = LA_VNONE}};
    la_tensor *out;
    LA_TRY(check_vectors(in));
    if (in->tensors.n == 1)
        return LA_GIVE(f, la_tensor_retain(in->tensors.list[0]));
    LA_TRY(la_run_many(meshgrid, grids, *in));
    la_tensor **list = grids[0].tensors.list;
    la_status status = LA_OK;
    for (int64_t k = 0; k < in->tensors.n && !status; k++) {
        la_tensor *grid = list[k];
        int64_t all = grid->numel;
        list[k] = NULL;
        status = la_reshape_to(grid, 1, &all, &list[k]);
        la_tensor_release(grid);
    }
    if (!status)
        status = la_run(stack, &out, grids[0], 1);
    la_value_drop(&grids[0]);
    return la_give(f, status, &out);
}

/* --- combinations --- */

/* How many choices of r out of n; LA_ESHAPE when there are too many. The
** product is divided at each step, which leaves no rest: it is a binomial
** coefficient each time. */
static la_status count_choices(int64_t n, int64_t r, int64_t *out)
{
    int64_t count = 1;
    for (int64_t k = 1; k <= r; k++) {
        if (!la_mul_ok(count, n - r + k, &count))
            return la_error(LA_ESHAPE, "size overflow: too many combinations");
        count /= k;
    }
    *out = count;
    return LA_OK;
}

/* The next choice in order; 'repeats' lets an element stand several times.
** Rightmost element first: the lexicographic order of Python's itertools. False
** after the last choice. */
static bool next_choice(int64_t *choice, int64_t r, int64_t n, bool repeats)
{
    int64_t k = r - 1;
    while (k >= 0 && choice[k] == (repeats ? n : n - r + 1 + k))
        k--;
    if (k < 0)
        return false;
    choice[k]++;
    for (int64_t j = k + 1; j < r; j++)
        choice[j] = repeats ? choice[k] : choice[j - 1] + 1;
    return true;
}

/* All choices as positions from 1, one after the other. */
static la_status list_choices(int64_t n, int64_t r, bool repeats,
                              la_tensor **out)
{
    int64_t choice[LA_MAX_DIMS], count = 0, all;
    if (n > 0 && (repeats || r <= n))
        LA_TRY(count_choices(repeats ? n + r - 1 : n, r, &count));
    if (!la_mul_ok(count, r, &all))
        return la_error(LA_ESHAPE, "size overflow: too many combinations");
    LA_TRY(la_tensor_empty(1, &all, LA_INT64, out));
    int64_t *at = (int64_t *)la_data(*out);
    for (int64_t k = 0; k < r; k++)
        choice[k] = repeats ? 1 : k + 1;
    for (int64_t k = 0; k < count; k++, at += r) {
        if (k % LA_POLL_ELEMENTS == 0) LA_TRY(la_poll());
        memcpy(at, choice, (size_t)r * sizeof *choice);
        next_choice(choice, r, n, repeats);
    }
    return LA_OK;
}

/* (input, r, with_replacement) -> [count, r]: rows of positions first, then one
** index_select. r is bounded by the size of a row on the stack; r = 0 gives an
** empty tensor of one dim, as PyTorch does. */
la_status la_impl_combinations(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    int64_t r = la_arg_int(f, 1), sizes[2] = {0, r};
    if (t->ndim != 1)
        return la_error_at(LA_ESHAPE, 1, "Expect a 1D vector, but got %d "
                           "dimensions", t->ndim);
    if (r < 0 || r > LA_MAX_DIMS)
        return la_error_at(LA_EARG, 2, "Expect a non-negative number up to "
                           "%d, but got %lld", LA_MAX_DIMS, (long long)r);
    if (r == 0)
        return la_give(f, la_tensor_empty_on(t->device, 1, sizes, NULL,
                                             t->dtype, &out), &out);
    LA_LET(index, list_choices(t->numel, r, la_arg_bool(f, 2), &index));
    sizes[0] = index->numel / r;
    LA_LET(flat, la_run(index_select, &flat, t, 0, index));
    return la_give(f, la_view_to(flat, 2, sizes, &out), &out);
}

/* --- trim_zeros --- */

/* A view without the zeros at both ends; zeros between other elements stay. The
** size depends on data, so the meta device is refused. */
la_status la_impl_trim_zeros(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    if (t->ndim != 1)
        return la_error_at(LA_ESHAPE, 1, "trim_zeros expects one dimension, "
                           "got %d", t->ndim);
    if (t->device != LA_CPU)
        return la_error(LA_EKEY, "the result's shape depends on data, and a "
                        "tensor on the meta device has none");
    LA_TRY(la_look_sizes(t));
    la_strided p = la_strided_of(t);
    int64_t first = 0, end = t->numel;
    for (; first < end; first++) {
        la_scalar v = la_scalar_load(t->dtype, p.data + first * p.strides[0]);
        if (v.re != 0 || v.im != 0)
            break;
    }
    for (; end > first; end--) {
        la_scalar v = la_scalar_load(t->dtype,
                                     p.data + (end - 1) * p.strides[0]);
        if (v.re != 0 || v.im != 0)
            break;
    }
    return la_give(f, la_slice_of(t, 0, first, end, &out), &out);
}

/* --- vander --- */

/* Ones and n - 1 times the values, multiplied up along the row. */
static la_status powers(la_tensor *t, int64_t n, la_tensor **out)
{
    la_tensor *parts[2] = {NULL, NULL};
    int64_t wide[2] = {t->numel, n - 1};
    LA_OWNED joined = NULL;
    LA_LET(column, la_run(unsqueeze, &column, t, 1));
    la_status status = la_run(ones_like, &parts[0], column);
    if (!status)
        status = la_run(expand, &parts[1], column, la_v_ints(wide, 2));
    if (!status)
        status = la_run(cat, &joined, la_v_tensors(parts, 2), 1);
    la_tensor_drop(&parts[0]);
    la_tensor_drop(&parts[1]);
    return status ? status : la_run(cumprod, out, joined, 1);
}

/* (x, N, increasing) -> [numel, N]: the powers fall from left to right unless
** 'increasing'. */
la_status la_impl_vander(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    int64_t n = la_has(f, 1) ? la_arg_int(f, 1) : t->numel;
    int64_t none[2] = {t->numel, 0}, dim = 1;
    if (t->ndim != 1)
        return la_error_at(LA_ESHAPE, 1, "x must be a one-dimensional tensor.");
    if (n < 0)
        return la_error_at(LA_EARG, 2, "N must be non-negative.");
    if (n == 0)
        return la_give(f, la_tensor_empty_on(t->device, 2, none, NULL, t->dtype,
                                          &out), &out);
    LA_LET(rising, powers(t, n, &rising));
    if (!la_arg_bool(f, 2))
        return la_give(f, la_run(flip, &out, rising, la_v_ints(&dim, 1)),
                       &out);
    return LA_GIVE(f, la_tensor_retain(rising));
}
