/*
** Formulas of indexing: scatter_reduce and index_reduce, masked_scatter, lists
** of index tensors.
**
** scatter_reduce and index_reduce differ in what an index names: an element or
** a slice. read_at() reads there, add_at() adds there. Where several elements
** are the extremum, its gradient is divided evenly among them.
*/
#include "grad/formulas/formulas.h"
#include "op/index/index.h"
#include "grad/formulas/formula_terms.h"
#include "op/op.h"

enum { SELF, DIM, INDEX, SOURCE, REDUCE, INCLUDE };

/* index_reduce names slices, scatter_reduce single elements. */
static bool by_slices(const la_formula *x)
{
    return x->op->op == LA_OP(index_reduce);
}

static la_tensor *read_at(la_formula *x, la_tensor *t)
{
    return by_slices(x) ? R(index_select, t, VAL(DIM), A(INDEX))
                        : R(gather, t, VAL(DIM), A(INDEX));
}

static la_tensor *add_at(la_formula *x, la_tensor *t, la_tensor *source)
{
    return by_slices(x) ? R(index_add, t, VAL(DIM), A(INDEX), source)
                        : R(scatter_add, t, VAL(DIM), A(INDEX), source);
}

/* The operation itself, on other operands. */
static la_tensor *combined(la_formula *x, la_tensor *t, la_tensor *source)
{
    return by_slices(x)
        ? R(index_reduce, t, VAL(DIM), A(INDEX), source, VAL(REDUCE),
            VAL(INCLUDE))
        : R(scatter_reduce, t, VAL(DIM), A(INDEX), source, VAL(REDUCE),
            VAL(INCLUDE));
}

/* The argument 'reduce'. */
static la_reduce_kind kind_of(la_formula *x)
{
    la_reduce_kind kind = LA_RED_NONE;
    la_value word = VAL(REDUCE);
    la_status status = la_reduce_parse(&word, REDUCE + 1, &kind);
    if (status) la_chain_fail(&x->w, status);
    return kind;
}

/* How many elements were combined at each element of self, at least 1. */
static la_tensor *combined_count(la_formula *x)
{
    la_tensor *start = VAL(INCLUDE).b ? R(ones_like, G) : R(zeros_like, G);
    la_tensor *n = add_at(x, start, R(ones_like, A(SOURCE)));
    return R(masked_fill, n, R(eq, n, 0), 1);
}

/* 1 where 't' is the result, in the dtype of the gradient. */
static la_tensor *is_result(la_formula *x, la_tensor *t, la_tensor *result)
{
    return R(astype, R(eq, t, result), la_x_dtype(x));
}

/* The gradient of a result, for each that equals it. */
static la_tensor *shared(la_formula *x)
{
    la_tensor *self = is_result(x, A(SELF), RES(0));
    la_tensor *source = is_result(x, A(SOURCE), read_at(x, RES(0)));
    return R(div, G, add_at(x, self, source));
}

/* Without include_self, elements of self that an index names get nothing. */
static la_tensor *without_self(la_formula *x, la_tensor *grad)
{
    if (VAL(INCLUDE).b) return grad;
    return by_slices(x) ? R(index_fill, grad, VAL(DIM), A(INDEX), 0)
                        : R(scatter, grad, VAL(DIM), A(INDEX), 0);
}

/* Gradient by the kind of reduction; sum passes it as it is. */
la_tensor *la_x_combined_self(la_formula *x)
{
    la_tensor *self, *grad;
    switch (kind_of(x)) {
    case LA_RED_MEAN:
        grad = R(div, G, combined_count(x));
        break;
    case LA_RED_PROD:
        self = R(masked_fill, A(SELF), R(eq, A(SELF), 0), 1);
        grad = R(div, R(mul, G, C(combined(x, self, A(SOURCE)))), C(self));
        break;
    case LA_RED_AMAX: case LA_RED_AMIN:
        grad = R(mul, is_result(x, A(SELF), RES(0)), shared(x));
        break;
    default:
        grad = G;
    }
    return without_self(x, grad);
}

/* result / source; where an element is the only zero that was combined there,
** the product of the others. */
static la_tensor *product_source(la_formula *x)
{
    la_tensor *source = A(SOURCE), *zero = R(eq, source, 0);
    la_tensor *none = R(zeros_like, A(SELF));
    la_tensor *ones = R(astype, zero, la_x_dtype(x));
    la_tensor *zeros = read_at(x, add_at(x, none, ones));
    la_tensor *only = R(logical_and, zero, R(eq, zeros, 1));
    la_tensor *others = combined(x, A(SELF), R(masked_fill, source, only, 1));
    la_tensor *rest = R(div, read_at(x, R(mul, G, C(RES(0)))),
                        C(R(masked_fill, source, zero, 1)));
    return R(where, only, read_at(x, R(mul, G, C(others))), rest);
}

/* The gradient where the source went, by the kind of reduction. */
la_tensor *la_x_combined_source(la_formula *x)
{
    switch (kind_of(x)) {
    case LA_RED_MEAN:
        return read_at(x, R(div, G, combined_count(x)));
    case LA_RED_PROD:
        return product_source(x);
    case LA_RED_AMAX: case LA_RED_AMIN:
        return R(mul, is_result(x, A(SOURCE), read_at(x, RES(0))),
                 read_at(x, shared(x)));
    default:
        return read_at(x, G);
    }
}

/* ---- masks, lists of indices ---- */

/* Elements of the source beyond those that were used get zeros. */
la_tensor *la_x_masked_source(la_formula *x)
{
    int64_t n = 1;
    const la_output_meta *o = la_x_meta(x, 2, 0);
    la_tensor *picked = R(masked_select, G, A(1));
    if (!picked) return NULL;
    for (int d = 0; d < o->ndim; d++) n *= o->sizes[d];
    int64_t pad[2] = {0, n - picked->numel};
    return R(reshape, R(constant_pad_nd, picked, la_v_ints(pad, 2)), SIZES(2));
}

la_value la_x_list(la_formula *x)
{
    int64_t n = x->op->args[1].tensors.n;
    if (n > LA_MAX_DIMS) n = LA_MAX_DIMS;
    for (int64_t i = 0; i < n; i++) x->members[i] = la_x_member(x, i);
    return la_v_tensors(x->members, n);
}

la_value la_x_dtype(la_formula *x)
{
    return la_v_dtype((la_dtype)x->node->outputs[0].dtype);
}
