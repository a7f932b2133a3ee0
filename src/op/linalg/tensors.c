/*
** Composites that reshape: tensorinv, tensorsolve, and the forms of
** la.linalg that differ from operations of the same name.
*/
#include "op/composite.h"
#include "op/linalg/linalg.h"
#include "op/view/view.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* ---- tensorinv, tensorsolve ---- */

/* (A, ind): the first ind dims are the rows. */
la_status la_impl_tensorinv(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0);
    int64_t ind = la_arg_int(f, 1), m = 1, n = 1, sizes[LA_MAX_DIMS];
    if (ind < 1 || ind > a->ndim)
        return la_error_at(LA_EARG, 2, "1 to %d expected, got %lld",
                           a->ndim, (long long)ind);
    int lead = (int)ind, rest = a->ndim - lead;
    for (int d = 0; d < a->ndim; d++) {
        if (d < lead) m *= la_sizes(a)[d];
        else n *= la_sizes(a)[d];
        sizes[d < lead ? rest + d : d - lead] = la_sizes(a)[d];
    }
    if (m != n)
        return la_error_at(LA_ESHAPE, 1, "the first %d dims have %lld "
                           "elements, the others %lld: the same number "
                           "expected", lead, (long long)m, (long long)n);
    int64_t square[2] = {m, n};
    la_tensor *x = R(inv, R(reshape, a, la_v_ints(square, 2)));
    return la_chain_end(w, f, R(reshape, x, la_v_ints(sizes, a->ndim)));
}

/* (A, B, dims): dims of A that move to its end first. */
la_status la_impl_tensorsolve(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    int64_t to[LA_MAX_DIMS], n = 1;
    if (la_has(f, 2)) {
        const la_value *dims = &f->args[2];
        for (int64_t k = 0; k < dims->ints.n && k < LA_MAX_DIMS; k++)
            to[k] = a->ndim - dims->ints.n + k;
        a = R(movedim, a, *dims, la_v_ints(to, dims->ints.n));
        LA_TRY(w->status);
    }
    if (b->ndim > a->ndim)
        return la_error_at(LA_ESHAPE, 2, "at most the %d dims of A expected, "
                           "got %d", a->ndim, b->ndim);
    for (int d = b->ndim; d < a->ndim; d++) n *= la_sizes(a)[d];
    if (n != b->numel || a->numel != n * n)
        return la_error_at(LA_ESHAPE, 1, "its last dims need as many elements "
                           "as B, %lld, got %lld", (long long)b->numel,
                           (long long)n);
    int64_t square[2] = {n, n};
    la_tensor *x = R(solve, R(reshape, a, la_v_ints(square, 2)),
                        R(reshape, b, la_v_ints(&n, 1)));
    return la_chain_end(w, f, R(reshape, x, la_v_ints(la_sizes(a) + b->ndim,
                                                      a->ndim - b->ndim)));
}

/* ---- forms of their own ---- */

/* (x, N): rising powers along a new last dim. */
la_status la_impl_linalg_vander(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0);
    if (x->ndim == 0) x = R(unsqueeze, x, 0);
    LA_TRY(w->status);
    int64_t n = la_has(f, 1) ? la_arg_int(f, 1) : la_sizes(x)[x->ndim - 1];
    if (n < 1)
        return la_error_at(LA_EARG, 2, "at least one power expected, got %lld",
                           (long long)n);
    la_tensor *column = R(unsqueeze, x, -1);
    la_tensor *ones = R(ones_like, column);
    la_shape s = la_batch_shape(x, 0);
    s.sizes[s.ndim++] = n - 1;
    la_tensor *powers =
        R(cumprod, R(expand, column, la_v_ints(s.sizes, s.ndim)), -1);
    la_tensor *list[] = {ones, powers};
    return la_chain_end(w, f, R(cat, la_v_tensors(list, 2), -1));
}

/* (x, y, dim): cross along the last dim. */
la_status la_impl_linalg_cross(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *y = la_arg(f, 1);
    if (x->ndim != y->ndim)
        return la_error_at(LA_ESHAPE, 2, "%d dims expected, got %d", x->ndim,
                           y->ndim);
    return la_run_result(f, cross, x, y, f->args[2]);
}

/* (x) */
la_status la_impl_matrix_transpose(la_frame *f)
{
    LA_TRY(la_check_dims(la_arg(f, 0), 0));
    return la_run_result(f, transpose, la_arg(f, 0), -2, -1);
}
