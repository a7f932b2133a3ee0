/* The invariants of a call, for the debug build. */
#include "op/debug/frame_verify.h"

#ifdef LA_DEBUG

#include "base/assert.h"
#include "op/op.h"
#include "op/schema.h"
#include "tensor/tensor_verify.h"

/* nil is allowed anywhere: a kernel may be called with less than users are
** asked for. */
static void verify_arg(const la_schema *s, int k, const la_value *v)
{
    la_assert(v->tag == LA_VNONE || s->tags[k] >> v->tag & 1);
    la_assert(v->tag != LA_VTENSOR || v->tensor);
    la_assert(v->tag != LA_VTENSORS || v->tensors.n >= 0);
    la_assert(v->tag != LA_VINTS || v->ints.n >= 0);
    la_assert(v->tag != LA_VSTR || v->str.text);
}

void la_frame_verify(const la_frame *f)
{
    const la_schema *s = la_schema_of(f->op);
    la_assert(f->form >= LA_FUNCTIONAL && f->form <= LA_OUT);
    la_assert(s->broken || f->nargs == s->nparams);
    la_assert(f->form != LA_INPLACE || f->outs[0]);
    if (s->broken) return;
    for (int k = 0; k < f->nargs; k++) verify_arg(s, k, &f->args[k]);
}

void la_frame_verify_results(const la_frame *f)
{
    la_assert(f->nresults >= 0 && f->nresults <= LA_MAX_RESULTS);
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        const la_value *v = &f->results[k];
        if (v->tag != LA_VTENSOR || !v->tensor) continue;
        la_tensor_verify(v->tensor);
        la_tensor_verify_extent(v->tensor);
    }
}

#endif
