/* Helpers that the view operations share; others use la_run. */
#ifndef LA_OP_VIEW_VIEW_H
#define LA_OP_VIEW_VIEW_H

#include "op/frame.h"
#include "tensor/names.h"
#include "tensor/shape.h"

/* Result 0 is the view of argument 0 that 'g' describes, or argument 0 with
** that geometry where the row changes it. from[k] tells which dim of the
** argument names dim k of the view (-1: none has); NULL drops the names. */
la_status la_view_result(la_frame *f, const la_geometry *g, const int *from);
/* Argument 0 gets the geometry 'g', checked against its storage. On failure it
** is as before. */
la_status la_change_geometry(la_frame *f, const la_geometry *g,
                             const int *from);

/* Argument k as a dim of a tensor with 'ndim' dims; the error names it. */
static inline la_status la_arg_dim(const la_frame *f, int k, int ndim,
                                   int *out)
{
    return la_blame(la_wrap_dim(la_arg_int(f, k), ndim, out), k + 1);
}

/* Result 0 is argument 0 itself. */
la_status la_same_result(la_frame *f);

/* A contiguous copy, recorded by autograd. */
la_status la_clone_contiguous(la_tensor *t, la_tensor **out);

/* Views through the dispatcher, for composites. */
la_status la_view_to(la_tensor *t, int ndim, const int64_t *sizes,
                     la_tensor **out);
/* A view where strides allow it, else a contiguous copy; one size may be -1. */
la_status la_reshape_to(la_tensor *t, int ndim, const int64_t *sizes,
                        la_tensor **out);
/* Elements first..end-1 of a dim, from 0. */
la_status la_slice_of(la_tensor *t, int dim, int64_t first, int64_t end,
                      la_tensor **out);

#endif
