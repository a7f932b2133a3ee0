/*
** Composites of 16-bit floats, computed in float32 and rounded once.
**
** Element-wise kernels and reductions have float32 registers and round their
** result. What a composite makes of several of them is rounded at each step,
** and a difference of such steps may have no right digit left. A row says so
** with LA_IN_FLOAT32; an implementation that needs it on one of its ways calls
** la_in_float32 itself.
*/
#include "op/call.h"
#include "op/composite.h"

/* The 16-bit dtype of all floating tensors, or LA_UNDEFINED. */
static la_dtype half_dtype(const la_frame *f, uint32_t kept)
{
    la_dtype found = LA_UNDEFINED;
    for (int k = 0; k < f->nargs; k++) {
        const la_tensor *t = la_arg(f, k);
        if (!t || (kept >> k & 1) || (t->flags & LA_F_WRAPPED)) continue;
        la_dtype d = (la_dtype)t->dtype;
        if (la_is_complex(d)) return LA_UNDEFINED;
        if (!la_is_float(d)) continue;
        if (!la_is_half(d) || (found != LA_UNDEFINED && d != found))
            return LA_UNDEFINED;
        found = d;
    }
    return found;
}

/* Results in float32 become results of f in 'dtype'. */
static la_status round_results(la_frame *f, la_frame *wide, la_dtype dtype)
{
    la_status status = LA_OK;
    for (int k = 0; k < wide->nresults && !status; k++) {
        la_value *v = &wide->results[k];
        la_tensor *out = NULL;
        if (v->tag != LA_VTENSOR || v->tensor->dtype != LA_FLOAT32) continue;
        status = la_run(astype, &out, v->tensor, la_v_dtype(dtype));
        if (status) break;
        la_tensor_release(v->tensor);
        v->tensor = out;
    }
    if (status) {
        la_drop_results(wide);
        return status;
    }
    memcpy(f->results, wide->results, sizeof(f->results));
    f->nresults = wide->nresults;
    return LA_OK;
}

la_status la_in_float32(la_frame *f, uint32_t kept, la_op_fn impl)
{
    la_value args[LA_MAX_ARGS];
    la_tensor *owned[LA_MAX_ARGS] = {NULL};
    la_dtype half = half_dtype(f, kept);
    la_status status = LA_OK;
    if (half == LA_UNDEFINED) return impl(f);
    la_frame wide = *f;
    wide.args = args;
    for (int k = 0; k < f->nargs; k++) {
        la_tensor *t = la_arg(f, k);
        args[k] = f->args[k];
        if (!t || status || (kept >> k & 1) || t->dtype != half) continue;
        status = la_run(astype, &owned[k], t, la_v_dtype(LA_FLOAT32));
        args[k].tensor = owned[k];
    }
    if (!status) status = impl(&wide);
    if (!status) status = round_results(f, &wide, half);
    for (int k = 0; k < f->nargs; k++) la_tensor_drop(&owned[k]);
    return status;
}
