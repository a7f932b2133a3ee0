/* The rules that reductions share: dims, sizes of results, refusals. */
#include "op/call.h"
#include "op/reduce/reduce.h"
#include "tensor/names.h"
#include "tensor/shape.h"

/* Argument k as a mask of dims: an integer, a list, or nil or an empty list for
** all dims. An error for a dim that self lacks, or that is named twice. */
la_status la_reduce_dims(const la_frame *f, int k, const la_tensor *self,
                         uint64_t *mask)
{
    const la_value *v = &f->args[k];
    if (v->tag == LA_VINT) return la_dim_mask(1, &v->i, self->ndim, mask);
    *mask = la_all_dims(self);
    if (v->tag != LA_VINTS || v->ints.n == 0) return LA_OK;
    return la_dim_mask((int)v->ints.n, v->ints.list, self->ndim, mask);
}

/* self's sizes without the dims of the mask, or with 1 in them. */
la_shape la_reduce_shape(const la_tensor *self, uint64_t mask, bool keepdim)
{
    la_shape s = {.ndim = 0};
    for (int d = 0; d < self->ndim; d++) {
        if (!(mask >> d & 1)) s.sizes[s.ndim++] = la_sizes(self)[d];
        else if (keepdim) s.sizes[s.ndim++] = 1;
    }
    return s;
}

/* Names of reduced dims go with them; a dim that is kept keeps its name. */
static la_status keep_names(la_tensor *out, const la_tensor *self,
                            uint64_t mask, bool keepdim)
{
    const char *kept[LA_MAX_DIMS];
    la_names *names = NULL;
    int n = 0;
    for (int d = 0; d < self->ndim; d++)
        if (keepdim || !(mask >> d & 1)) kept[n++] = self->names->name[d];
    LA_TRY(la_names_new(n, kept, &names));
    la_tensor_set_names(out, names);
    return LA_OK;
}

/* Result k with these sizes and the names of the dims that stay. */
la_status la_reduce_output(la_frame *f, int k, const la_tensor *self,
                           uint64_t mask, bool keepdim, la_dtype dtype)
{
    int64_t sizes[LA_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < self->ndim; d++) {
        if (!(mask >> d & 1)) sizes[n++] = la_sizes(self)[d];
        else if (keepdim) sizes[n++] = 1;
    }
    LA_TRY(la_set_output(f, k, n, sizes, NULL, dtype));
    if (!self->names) return LA_OK;
    return keep_names(la_result(f, k), self, mask, keepdim);
}

/* LA_ESHAPE where a dim to be reduced is empty, for reductions without an
** identity (amax, argmax). 'whole': no dim was given, so that the message asks
** for one. */
la_status la_reduce_check_nonzero(const la_tensor *self, uint64_t mask,
                                  const char *name, bool whole)
{
    if (self->numel != 0) return LA_OK;
    if (whole)
        return la_error(LA_ESHAPE, "%s(): Expected reduction dim to be "
                        "specified for input.numel() == 0. Specify the "
                        "reduction dim with the 'dim' argument.", name);
    for (int d = 0; d < self->ndim; d++)
        if ((mask >> d & 1) && la_sizes(self)[d] == 0)
            return la_error(LA_ESHAPE, "%s(): Expected reduction dim %d to "
                            "have non-zero size.", name, d + 1);
    return LA_OK;
}

/* Names of self for a result of its sizes; nothing to do where there are
** none. */
la_status la_take_names(la_tensor *out, const la_tensor *self)
{
    if (self->names) la_tensor_set_names(out, la_names_retain(self->names));
    return LA_OK;
}

/* *slot takes a contiguous copy in dtype 'to' and drops what it held; t may be
** that very tensor. Unchanged on an error. */
la_status la_convert_to(la_tensor *t, la_dtype to, la_tensor **slot)
{
    la_tensor *fresh = NULL;
    LA_TRY(la_tensor_empty(t->ndim, la_sizes(t), to, &fresh));
    la_status status = la_run_(copy_, fresh, t);
    if (status) {
        la_tensor_release(fresh);
        return status;
    }
    la_tensor_drop(slot);
    *slot = fresh;
    return LA_OK;
}
