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

/* The conversions of a call: arguments in 'half' (LA_UNDEFINED: in any 16-bit
** dtype) are float32 meanwhile, results in 'wide' (LA_UNDEFINED: in any
** floating one) become 'to'. */
typedef struct widening { la_dtype half, wide, to; } widening;

static bool is_rounded(const widening *by, la_dtype d)
{
    if (d == by->to) return false;
    return by->wide == LA_UNDEFINED ? la_is_float(d) : d == by->wide;
}

/* Results of 'wide' become results of f. */
static la_status round_results(la_frame *f, la_frame *wide, const widening *by)
{
    la_status status = LA_OK;
    for (int k = 0; k < wide->nresults && !status; k++) {
        la_value *v = &wide->results[k];
        la_tensor *out = NULL;
        if (v->tag != LA_VTENSOR
            || !is_rounded(by, (la_dtype)v->tensor->dtype)) continue;
        status = la_run(astype, &out, v->tensor, la_v_dtype(by->to));
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

static la_status run_wide(la_frame *f, uint32_t kept, la_op_fn impl,
                          const widening *by)
{
    la_value args[LA_MAX_ARGS];
    la_tensor *owned[LA_MAX_ARGS] = {NULL};
    la_status status = LA_OK;
    la_frame wide = *f;
    wide.args = args;
    for (int k = 0; k < f->nargs; k++) {
        la_tensor *t = la_arg(f, k);
        args[k] = f->args[k];
        if (!t || status || (kept >> k & 1)) continue;
        if (by->half == LA_UNDEFINED ? !la_is_half((la_dtype)t->dtype)
                                     : t->dtype != by->half) continue;
        status = la_run(astype, &owned[k], t, la_v_dtype(LA_FLOAT32));
        args[k].tensor = owned[k];
    }
    if (!status) status = impl(&wide);
    if (!status) status = round_results(f, &wide, by);
    for (int k = 0; k < f->nargs; k++) la_tensor_drop(&owned[k]);
    return status;
}

la_status la_in_float32(la_frame *f, uint32_t kept, la_op_fn impl)
{
    la_dtype half = half_dtype(f, kept);
    if (half == LA_UNDEFINED) return impl(f);
    return run_wide(f, kept, impl, &(widening){half, LA_FLOAT32, half});
}

la_status la_like_self(la_frame *f, uint32_t kept, la_op_fn impl)
{
    la_dtype to = (la_dtype)la_arg(f, 0)->dtype;
    if (!la_is_float(to)) return la_in_float32(f, kept, impl);
    return run_wide(f, kept, impl,
                    &(widening){LA_UNDEFINED, LA_UNDEFINED, to});
}
