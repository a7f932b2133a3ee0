/*
** Operations on devices of the host's. Its kernels come first. Without one
** there is what needs no arithmetic: views, copies and fills, by the hooks that
** move bytes, and new tensors, which are made on the CPU and moved.
*/
#include "op/call.h"
#include "op/host/device_names.h"
#include "op/dispatch.h"
#include "op/families.h"
#include "op/host/hosted.h"
#include "op/op.h"
#include "tensor/names.h"

#define BIT(key) ((la_keyset)1 << (key))

static la_status other_device(la_device a, la_device b)
{
    return la_error(LA_EARG, "Expected all tensors to be on the same device, "
                    "but found at least two devices, %s and %s!",
                    la_device_name(a), la_device_name(b));
}

/* A kernel of the host's gets tensors of its device, and numbers as 0-dim ones
** on the CPU. */
static la_status check_one(const la_tensor *t, la_device d)
{
    bool number = t->device == LA_CPU && t->ndim == 0;
    return t->device == d || number ? LA_OK
        : other_device(d, (la_device)t->device);
}

static la_status check_devices(const la_frame *f, la_device d)
{
    for (int k = 0; k < f->nargs; k++) {
        const la_value *v = &f->args[k];
        if (v->tag == LA_VTENSOR) LA_TRY(check_one(v->tensor, d));
        if (v->tag != LA_VTENSORS) continue;
        for (int64_t i = 0; i < v->tensors.n; i++)
            if (v->tensors.list[i])
                LA_TRY(check_one(v->tensors.list[i], d));
    }
    return LA_OK;
}

/* ---- without a kernel ---- */

static la_status no_kernel(const la_frame *f, la_device d)
{
    const char *name = f->op->signature;
    return la_error(LA_EKEY, "there is no kernel of '%.*s' for device '%s': "
                    "x:cpu() takes a tensor to the CPU",
                    (int)strcspn(name, "("), name, la_device_name(d));
}

la_status la_check_readable(const la_frame *f)
{
    for (int d = LA_NDEVICES - 1; d >= LA_DEVICE_EXT; d--)
        if (f->keys >> d & 1) return no_kernel(f, (la_device)d);
    return LA_OK;
}

/* The row's own functions: of views, which read no element, and of copies. A
** device that is asked for is where the result goes, whatever is copied. */
static la_status run_row(la_frame *f)
{
    for (int k = 0; k < f->nargs; k++)
        if (f->args[k].tag == LA_VDEVICE) f->keys = BIT(f->args[k].device);
    LA_TRY(f->op->meta(f));
    return f->op->impl ? f->op->impl(f) : LA_OK;
}

static bool is_creation(const la_frame *f)
{
    for (int k = 0; k < f->nargs; k++)
        if (f->args[k].tag == LA_VTENSOR || f->args[k].tag == LA_VTENSORS)
            return false;
    return true;
}

/* *slot, new on the CPU, on the device instead. */
static la_status move_result(la_tensor **slot, la_device d)
{
    la_tensor *from = *slot;
    LA_OWNED to = NULL;
    LA_TRY(la_tensor_empty_on(d, from->ndim, la_sizes(from), la_strides(from),
                              (la_dtype)from->dtype, &to));
    LA_TRY(la_run_(copy_, to, from));
    if (from->names) la_tensor_set_names(to, la_names_retain(from->names));
    to->flags |= from->flags & LA_F_REQUIRES_GRAD;
    la_tensor_release(from);
    *slot = to;
    to = NULL;
    return LA_OK;
}

/* Outputs on the CPU, without elements, of the dtypes of those given. */
static la_status outputs_like(const la_frame *f, la_frame *g)
{
    const int64_t none = 0;
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (f->outs[k])
            LA_TRY(la_tensor_empty(1, &none, (la_dtype)f->outs[k]->dtype,
                                   &g->outs[k]));
    return LA_OK;
}

static la_status create_on_cpu(const la_frame *f, la_frame *g)
{
    memset(g->outs, 0, sizeof g->outs);
    la_status status = f->form == LA_OUT ? outputs_like(f, g) : LA_OK;
    if (!status) status = la_dispatch(g);
    for (int k = 0; k < LA_MAX_RESULTS; k++) la_tensor_drop(&g->outs[k]);
    return status;
}

/* On the CPU, then moved; given outputs are copied to by la_finish_outputs. */
static la_status remote_create(la_frame *f, la_device d)
{
    la_value args[LA_MAX_ARGS];
    la_frame g = *f;
    memcpy(args, f->args, (size_t)f->nargs * sizeof *args);
    for (int k = 0; k < f->nargs; k++)
        if (args[k].tag == LA_VDEVICE) args[k].device = LA_CPU;
    g.args = args;
    LA_TRY(create_on_cpu(f, &g));
    memcpy(f->results, g.results, sizeof g.results);
    f->nresults = g.nresults;
    if (f->form == LA_OUT) return LA_OK;
    for (int k = 0; k < f->nresults; k++)
        if (f->results[k].tag == LA_VTENSOR)
            LA_TRY(move_result(&f->results[k].tensor, d));
    return LA_OK;
}

la_status la_run_remote(la_frame *f, la_device d, la_op_fn fn)
{
    uint32_t forms = f->op->forms;
    if (fn) {
        if (!(forms & LA_MOVES)) LA_TRY(check_devices(f, d));
        return la_hosted_kernel(f, fn);
    }
    if ((forms & (LA_VIEW_OP | LA_METADATA | LA_MOVES)) && f->op->meta)
        return run_row(f);
    return is_creation(f) && !(forms & LA_COMPOSITE) ? remote_create(f, d)
                                                     : no_kernel(f, d);
}
