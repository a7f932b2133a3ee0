/* The rules that reductions share: dims, sizes of results, refusals. */
#include "op/reduce.h"

la_status la_reduce_dims(const la_frame *f, int k, const la_tensor *self,
                         uint64_t *mask)
{
    const la_value *v = &f->args[k];
    if (v->tag == LA_VINT) return la_dim_mask(1, &v->i, self->ndim, mask);
    *mask = la_all_dims(self);
    if (v->tag != LA_VINTS || v->ints.n == 0) return LA_OK;
    return la_dim_mask((int)v->ints.n, v->ints.list, self->ndim, mask);
}

la_shape la_reduce_shape(const la_tensor *self, uint64_t mask, bool keepdim)
{
    la_shape s = {.ndim = 0};
    for (int d = 0; d < self->ndim; d++) {
        if (!(mask >> d & 1)) s.sizes[s.ndim++] = la_sizes(self)[d];
        else if (keepdim) s.sizes[s.ndim++] = 1;
    }
    return s;
}

la_status la_reduce_output(la_frame *f, int k, const la_tensor *self,
                           uint64_t mask, bool keepdim, la_dtype dtype)
{
    int64_t sizes[LA_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < self->ndim; d++) {
        if (!(mask >> d & 1)) sizes[n++] = la_sizes(self)[d];
        else if (keepdim) sizes[n++] = 1;
    }
    return la_set_output(f, k, n, sizes, NULL, dtype);
}

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
