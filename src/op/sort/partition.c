/*
** partition and argpartition: the k-th element in its sorted position, smaller
** ones before it and larger ones after. A fully sorted row satisfies that, so
** both are the results of sort and argsort.
*/
#include "op/frame.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/index.def"
#include "op/call.h"
#include "op/impls.h"

/* k counts from 1, or from the end when it is negative. */
static la_status check_k(const la_frame *f)
{
    int dim;
    const la_tensor *x = la_arg(f, 0);
    LA_TRY(la_wrap_dim(la_arg_int(f, 2), x->ndim, &dim));
    int64_t n = x->ndim ? la_sizes(x)[dim] : 1, k = la_arg_int(f, 1);
    if (k != 0 && k <= n && k >= -n) return LA_OK;
    return la_error_at(LA_EINDEX, 2, "k is %lld, 1 to %lld expected",
                       (long long)k, (long long)n);
}

/* (self, k, dim): the values of sort. */
la_status la_impl_partition(la_frame *f)
{
    la_value r[LA_MAX_RESULTS] = {0};
    LA_TRY(check_k(f));
    LA_TRY(la_run_many(sort, r, f->args[0], f->args[2]));
    la_tensor_release(r[1].tensor);
    return LA_GIVE(f, r[0].tensor);
}

/* (self, k, dim): the positions of argsort. */
la_status la_impl_argpartition(la_frame *f)
{
    LA_TRY(check_k(f));
    return la_run_result(f, argsort, f->args[0], f->args[2]);
}
