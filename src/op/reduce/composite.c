/* Reductions made of other operations. */
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/impls.h"

/* The sum of what is a number over the count of it. (self, dim, keepdim,
** dtype); 0 / 0 = NaN where there is none. LA_EDTYPE for integers, which have
** no NaN. */
la_status la_impl_nanmean(la_frame *f)
{
    LA_OWNED nan = NULL;
    LA_OWNED number = NULL;
    LA_OWNED count = NULL;
    LA_OWNED sum = NULL;
    la_tensor *self = la_arg(f, 0);
    if (!la_is_float((la_dtype)self->dtype)
        && !la_is_complex((la_dtype)self->dtype))
        return la_error_at(LA_EDTYPE, 1, "nanmean(): expected input to have "
                           "floating point or complex dtype but got %s: "
                           "convert it by x:float()",
                           la_dtype_name((la_dtype)self->dtype));
    LA_TRY(la_run(isnan, &nan, self));
    LA_TRY(la_run(logical_not, &number, nan));
    LA_TRY(la_run(sum, &count, number, f->args[1], f->args[2]));
    LA_TRY(la_run(nansum, &sum, self, f->args[1], f->args[2], f->args[3]));
    return la_run_result(f, div, sum, count);
}

/* max(self, other) and min(self, other): other names of maximum and minimum. */
la_status la_impl_max_other(la_frame *f)
{
    return la_run_result(f, maximum, f->args[0], f->args[1]);
}
la_status la_impl_min_other(la_frame *f)
{
    return la_run_result(f, minimum, f->args[0], f->args[1]);
}

/* dist(self, other, p): the norm of the difference. */
la_status la_impl_dist(la_frame *f)
{
    LA_OWNED d = NULL;
    LA_TRY(la_run(sub, &d, f->args[0], f->args[1]));
    return la_run_result(f, vector_norm, d, f->args[2]);
}
