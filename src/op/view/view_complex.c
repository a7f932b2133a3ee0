/*
** Views of complex tensors: real and imaginary parts, pairs of reals, and the
** lazy bits. _conj and _neg_view only flip a bit; resolve_conj and resolve_neg
** compute the values.
*/
#include "op/view/view.h"

#include "base/runtime/memory.h"

#define LA_ROWS "op/def/view.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* The parts of each element as a new last dim of size 2. */
la_status la_meta_view_as_real(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *view;
    la_geometry g;
    if (!la_is_complex(t->dtype))
        return la_error(LA_EDTYPE, "view_as_real is only supported for complex "
                        "tensors");
    if (t->flags & LA_F_CONJ)
        return la_error(LA_ESTATE, "view_as_real doesn't work on unresolved "
                        "conjugated tensors.  To resolve the conjugate tensor "
                        "so you can view it as real, use :resolve_conj()");
    if (t->ndim >= LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: more than %d dimensions",
                        LA_MAX_DIMS);
    la_geometry_of(t, &g);
    /* Steps are counted in elements, which become half as large. */
    for (int d = 0; d < g.ndim; d++)
        g.strides[d] *= 2;
    g.sizes[g.ndim] = 2;
    g.strides[g.ndim++] = 1;
    LA_TRY(la_tensor_view_as(t, la_dtype_to_real(t->dtype), g.ndim, g.sizes,
                             g.strides, g.offset * 2, &view));
    return LA_GIVE(f, view);
}

/* Last dim of size 2 and stride 1; every other step divisible by 2, where there
** is one: a dim of size 1 has a stride, but nothing is read by it. */
static la_status check_pairs(const la_tensor *t)
{
    int last = t->ndim - 1;
    if (t->dtype != LA_FLOAT16 && t->dtype != LA_FLOAT32
        && t->dtype != LA_FLOAT64)
        return la_error(LA_EDTYPE, "view_as_complex is only supported for "
                        "half, float and double tensors, but got a tensor of "
                        "scalar type: %s", la_dtype_name(t->dtype));
    if (t->ndim == 0)
        return la_error(LA_ESHAPE, "Input tensor must have one or more "
                        "dimensions");
    if (la_sizes(t)[last] != 2)
        return la_error(LA_ESHAPE, "Tensor must have a last dimension of size "
                        "2");
    if (la_strides(t)[last] != 1)
        return la_error(LA_ESHAPE, "Tensor must have a last dimension with "
                        "stride 1");
    if (t->offset % 2)
        return la_error(LA_ESHAPE, "Tensor must have a storage_offset "
                        "divisible by 2");
    for (int d = 0; d < last; d++)
        if (la_sizes(t)[d] != 1 && la_strides(t)[d] % 2)
            return la_error(LA_ESHAPE, "Tensor must have a stride divisible by "
                            "2 for all but last dimension");
    return LA_OK;
}

/* view_as_complex(self [*, 2]) -> [*]: float16, float32, float64. */
la_status la_meta_view_as_complex(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *view;
    la_geometry g;
    LA_TRY(check_pairs(t));
    la_geometry_of(t, &g);
    g.ndim--;
    for (int d = 0; d < g.ndim; d++)
        g.strides[d] /= 2;
    LA_TRY(la_tensor_view_as(t, la_dtype_to_complex(t->dtype), g.ndim, g.sizes,
                             g.strides, g.offset / 2, &view));
    return LA_GIVE(f, view);
}

/* --- bits --- */

/* An alias with 'bit' flipped; 0 flips none. */
static la_status flip_bit(la_frame *f, uint32_t bit)
{
    la_geometry g;
    int from[LA_MAX_DIMS];
    la_geometry_of(la_arg(f, 0), &g);
    for (int k = 0; k < g.ndim; k++)
        from[k] = k;
    LA_TRY(la_view_result(f, &g, from));
    la_result(f, 0)->flags ^= bit;
    return LA_OK;
}

/* Internal: lazy; of a real tensor an alias. */
LA_FORWARD(la_meta__conj,
           flip_bit(f, la_is_complex(la_arg(f, 0)->dtype) ? LA_F_CONJ : 0))

/* conj(self); real tensors are returned themselves. */
la_status la_impl_conj(la_frame *f)
{
    if (!la_is_complex(la_arg(f, 0)->dtype)) return la_same_result(f);
    return la_run_result(f, _conj, la_arg(f, 0));
}

/* Internal: the imaginary part of a conjugated tensor is a negated view. */
LA_FORWARD(la_meta__neg_view, flip_bit(f, LA_F_NEG))

/* self itself, or a copy without the bits. */
static la_status resolve(la_frame *f, uint32_t bits)
{
    la_tensor *t = la_arg(f, 0);
    if (!(t->flags & bits))
        return la_same_result(f);
    return la_run_result(f, clone, t);
}

/* resolve_conj(self) */
LA_FORWARD(la_impl_resolve_conj, resolve(f, LA_F_CONJ))

/* resolve_neg(self) */
LA_FORWARD(la_impl_resolve_neg, resolve(f, LA_F_NEG))

/* --- parts --- */

/* Part 0 (real) or 1 (imaginary) of the pairs; 't' has no conj bit. */
static la_status complex_part(la_tensor *t, int which, la_tensor **out)
{
    LA_LET(pairs, la_run(view_as_real, &pairs, t));
    return la_run(select, out, pairs, -1, which);
}

/* real(self): a view of the real parts; real tensors are returned
** themselves. */
la_status la_impl_real(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    LA_OWNED plain = NULL;
    if (!la_is_complex(t->dtype))
        return la_same_result(f);
    if (t->flags & LA_F_CONJ) {  /* conj of conj: the bit goes */
        LA_TRY(la_run(conj, &plain, t));
        t = plain;
    }
    LA_TRY(complex_part(t, 0, &out));
    return LA_GIVE(f, out);
}

/* imag(self): a view; negated lazily under a conj bit. */
la_status la_impl_imag(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    LA_OWNED plain = NULL;
    LA_OWNED positive = NULL;
    if (!(t->flags & LA_F_CONJ)) {
        LA_TRY(complex_part(t, 1, &out));
    } else {
        LA_TRY(la_run(conj, &plain, t));
        LA_TRY(complex_part(plain, 1, &positive));
        LA_TRY(la_run(_neg_view, &out, positive));
    }
    return LA_GIVE(f, out);
}
