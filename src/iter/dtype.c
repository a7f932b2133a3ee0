/*
** Which dtype the loop computes in, and the dtype each operand has there. An
** operand whose dtype in memory differs is converted in chunks by the loop
** driver, so that no temporary tensors are made here.
*/
#include "base/runtime/context.h"
#include "iter/steps.h"
#include "tensor/promote.h"

/* Findings of a look at the operands. */
typedef struct survey {
    bool inputs_differ, outputs_differ, undefined_outputs;
    la_dtype output;           /* of the first defined output */
} survey;

static void survey_input(la_iter *it, const la_iter_operand *op, survey *s)
{
    if (it->common == LA_UNDEFINED) it->common = op->current;
    else if (it->common != op->current) s->inputs_differ = true;
}

static void survey_output(la_iter_operand *op, la_dtype fixed, survey *s)
{
    if (op->current == LA_UNDEFINED) {
        op->current = fixed;
        s->undefined_outputs |= fixed == LA_UNDEFINED;
    } else if (s->output == LA_UNDEFINED) {
        s->output = op->current;
    } else if (s->output != op->current) {
        s->outputs_differ = true;
    }
    op->target = fixed != LA_UNDEFINED ? fixed : op->current;
}

static void dtype_look(la_iter *it, const la_iter_config *c, survey *s)
{
    it->common = LA_UNDEFINED;
    it->device = LA_CPU;
    for (int k = 0; k < it->noperands; k++) {
        la_iter_operand *op = &it->op[k];
        if (op->is_output) survey_output(op, c->static_dtype, s);
        else survey_input(it, op, s);
        if (op->tensor && op->tensor->device != LA_CPU && it->device == LA_CPU)
            it->device = (la_device)op->tensor->device;
    }
}

static la_status check_same_dtype(const la_iter *it, const survey *s)
{
    bool fits = s->output == LA_UNDEFINED || s->output == it->common;
    if (!s->inputs_differ && !s->outputs_differ && fits) return LA_OK;
    for (int k = 0; k < it->noperands; k++) {
        const la_iter_operand *op = &it->op[k];
        if (op->tensor && op->current != it->common)
            return la_error(LA_EDTYPE, "Found dtype %s but expected %s",
                            la_dtype_title(op->current),
                            la_dtype_title(it->common));
    }
    return LA_OK;
}

static la_status promote(la_iter *it)
{
    la_result_type r = LA_RESULT_TYPE_INIT;
    for (int k = it->noutputs; k < it->noperands; k++)
        la_result_type_add(&r, it->op[k].tensor);
    return la_result_type_get(&r, &it->common);
}

static bool below_float(la_dtype d)
{
    return d == LA_BOOL || la_is_integral(d);
}

static const char *device_name(int device)
{
    return device == LA_CPU ? "cpu" : device == LA_META ? "meta" : "ext";
}

/* All on one device, but for 0-dim CPU numbers next to another device. */
static la_status check_device(const la_iter *it)
{
    int scalars = it->flags & LA_IT_ALLOW_CPU_SCALARS ? 1 : 0;
    for (int k = 0; k < it->noperands; k++) {
        const la_tensor *t = it->op[k].tensor;
        if (!t || t->device == it->device) continue;
        bool number = t->device == LA_CPU && t->ndim == 0
            && !it->op[k].is_output;
        if (number && ((t->flags & LA_F_WRAPPED) || scalars-- > 0)) continue;
        return la_error(LA_EARG, "Expected all tensors to be on the same "
            "device, but found at least two devices, %s and %s!",
            device_name(it->device), device_name(t->device));
    }
    return LA_OK;
}

static la_status settle_output(la_iter *it, la_iter_operand *op,
                               const la_iter_config *c)
{
    if (op->current == LA_UNDEFINED) op->current = op->target = it->common;
    if (op->current == LA_UNDEFINED)
        return la_error(LA_EDTYPE, "the dtype of an output is not known");
    if (c->static_dtype != LA_UNDEFINED || op->current == it->common
        || it->common == LA_UNDEFINED)
        return LA_OK;
    if ((it->flags & LA_IT_ENFORCE_SAFE_CASTING_TO_OUTPUT)
        && !la_can_cast(it->common, op->current))
        return la_error(LA_EDTYPE, "result type %s can't be cast to the "
                        "desired output type %s", la_dtype_title(it->common),
                        la_dtype_title(op->current));
    if (it->flags & LA_IT_CAST_OUTPUTS) op->target = it->common;
    return LA_OK;
}

la_status la_iter_compute_types(la_iter *it, const la_iter_config *c)
{
    survey s = {.output = LA_UNDEFINED};
    dtype_look(it, c, &s);
    if (it->flags & LA_IT_CHECK_ALL_SAME_DTYPE)
        LA_TRY(check_same_dtype(it, &s));
    if (it->noperands == it->noutputs) {
        it->common = s.output;
    } else if (it->flags & LA_IT_PROMOTE_INPUTS) {
        if (s.inputs_differ || it->all_scalars) LA_TRY(promote(it));
    } else if (s.inputs_differ) {
        it->common = LA_UNDEFINED;
    }
    if ((it->flags & LA_IT_PROMOTE_INTEGERS_TO_FLOAT)
        && it->common != LA_UNDEFINED && below_float(it->common))
        it->common = la_ctx()->default_dtype;
    if (it->device != LA_CPU && (it->flags & LA_IT_CHECK_ALL_SAME_DEVICE))
        LA_TRY(check_device(it));
    for (int k = 0; k < it->noutputs; k++)
        LA_TRY(settle_output(it, &it->op[k], c));
    if (it->flags & LA_IT_PROMOTE_INPUTS)
        for (int k = it->noutputs; k < it->noperands; k++)
            it->op[k].target = it->common;
    return LA_OK;
}
