/* Reductions made of other operations. */
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/call.h"
#include "op/impls.h"

/* LA_EDTYPE for an integer result, which a mean would have to be rounded to. */
static la_status check_nanmean(const la_frame *f)
{
    la_dtype self = (la_dtype)la_arg(f, 0)->dtype;
    la_dtype to = la_has(f, 3) ? f->args[3].dtype : self;
    if (!la_is_inexact(to))
        return la_error_at(LA_EDTYPE, 4, "nanmean(): could not infer output "
                           "dtype. Optional dtype must be either a floating "
                           "point or complex dtype. Got: %s",
                           la_dtype_name(to));
    return LA_OK;
}

/* The sum of what is a number over the count of it. (self, dim, keepdim,
** dtype); 0 / 0 = NaN where there is none. */
la_status la_impl_nanmean(la_frame *f)
{
    LA_OWNED sum = NULL;
    la_tensor *self = la_arg(f, 0);
    LA_TRY(check_nanmean(f));
    LA_LET(nan, la_run(isnan, &nan, self));
    LA_LET(number, la_run(logical_not, &number, nan));
    LA_LET(count, la_run(sum, &count, number, f->args[1], f->args[2]));
    LA_TRY(la_run(nansum, &sum, self, f->args[1], f->args[2], f->args[3]));
    return la_run_result(f, div, sum, count);
}

/* max(self, other) and min(self, other): other names of maximum and minimum. */
