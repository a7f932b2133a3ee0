/*
** Operations and devices from outside, in lunarray.h: registering and
** withdrawing them, and what their kernels see of a call. Nothing here raises a
** Lua error.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "base/runtime/host_call.h"
#include "base/runtime/passage.h"
#include "api/api.h"
#include "api/api_struct.h"
#include "op/host/device_names.h"
#include "op/dispatch.h"
#include "op/host/hosted.h"
#include "op/op.h"

/* ---- frames ---- */

/* Accessors for kernels of a host. Tensors are borrowed from the frame; an
** index out of range, and no frame, give NULL, 0 or nothing. */
static const la_value *value_at(const la_frame *f, int arg)
{
    return f && arg >= 0 && arg < f->nargs ? &f->args[arg] : NULL;
}

LA_API int la_frame_count(la_frame *f) { return f ? f->nargs : 0; }

LA_API void *la_frame_user(la_frame *f)
{
    la_hosted *h = f ? la_hosted_of(f->op) : NULL;
    return h ? h->user : NULL;
}

LA_API la_tensor *la_frame_tensor(la_frame *f, int arg)
{
    la_share_tensors();
    return value_at(f, arg) ? la_arg(f, arg) : NULL;
}

/* Towards 0, and to the nearest integer there is; NaN is 0. */
static int64_t api_ops_cut(double v)
{
    if (v != v) return 0;
    if (v >= 0x1p63) return INT64_MAX;
    return v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* A number with a fraction is cut; what is no number is 0. */
LA_API int64_t la_frame_integer(la_frame *f, int arg)
{
    const la_value *v = value_at(f, arg);
    if (!v) return 0;
    switch (v->tag) {
    case LA_VSCALAR:
        return v->scalar.kind == LA_KBOOL || v->scalar.kind == LA_KINT
            ? v->scalar.i : api_ops_cut(v->scalar.re);
    case LA_VBOOL: return v->b;
    case LA_VINT: return v->i;
    case LA_VFLOAT: return api_ops_cut(v->d);
    default: return 0;
    }
}

/* Reads any kind of number; what is none is 0, as the header promises to
** kernels that look without asking. */
LA_API double la_frame_number(la_frame *f, int arg)
{
    const la_value *v = value_at(f, arg);
    if (!v) return 0;
    switch (v->tag) {
    case LA_VSCALAR: return v->scalar.re;
    case LA_VBOOL: return v->b;
    case LA_VINT: return (double)v->i;
    case LA_VFLOAT: return v->d;
    default: return 0;
    }
}

/* A scalar is what the caller gave: boolean, integer or number. The imaginary
** part of a complex one is in no kind. */
static la_any any_scalar(const la_scalar *s)
{
    switch (s->kind) {
    case LA_KBOOL: return la_any_bool(s->i != 0);
    case LA_KINT: return la_any_int(s->i);
    default: return la_any_double(s->re);
    }
}

static la_any any_text(const char *text, size_t n)
{
    la_any a = la_any_text(text);
    a.count = (int64_t)n;
    return a;
}

/* Lists of the frame's as they are; words of the library by their names. */
static la_any any_list(const la_value *v)
{
    switch (v->tag) {
    case LA_VTENSORS: return la_any_tensors(v->tensors.list, v->tensors.n);
    case LA_VINTS: return la_any_ints(v->ints.list, v->ints.n);
    case LA_VFLOATS:
        return la_any_numbers((const double *)v->ints.list, v->ints.n);
    case LA_VNAMES: return la_any_texts(v->names.list, v->names.n);
    default: return (la_any){.kind = LA_ARG_NONE};
    }
}

/* The reverse of the reader of arguments. Nothing is copied: a frame outlives
** the kernel that looks into it. */
LA_API la_any la_frame_any(la_frame *f, int arg)
{
    const la_value *v = value_at(f, arg);
    if (!v) return (la_any){.kind = LA_ARG_NONE};
    switch (v->tag) {
    case LA_VTENSOR:
        la_share_tensors();
        return la_any_tensor(v->tensor);
    case LA_VSCALAR: return any_scalar(&v->scalar);
    case LA_VINT: return la_any_int(v->i);
    case LA_VFLOAT: return la_any_double(v->d);
    case LA_VBOOL: return la_any_bool(v->b);
    case LA_VSTR: return any_text(v->str.text, v->str.n);
    case LA_VDTYPE: return la_any_text(la_dtype_name(v->dtype));
    case LA_VDEVICE: return la_any_text(la_device_name(v->device));
    case LA_VFORMAT: return la_any_text(la_format_name(v->format));
    default: return any_list(v);
    }
}

/* The kernel of a host runs in its context; making a result is the library's
** work again, so the passage is entered for that long. */
LA_API int la_frame_output(la_frame *f, int k, const char *dtype, int ndim,
                           const int64_t *sizes)
{
    la_dtype d;
    la_error_clear();
    if (!f)
        return la_error(LA_EARG, "la_frame_output: there is no call");
    if (k < 0 || k >= la_schema_of(f->op)->nresults)
        return la_error(LA_EARG, "la_frame_output: there is no result %d",
                        k + 1);
    if (!la_api_dtype(dtype, &d) || !la_api_shape(ndim, sizes))
        return la_error_status();
    la_passage before = la_enter_kernel_call();
    la_status status = la_set_output(f, k, ndim, sizes, NULL, d);
    la_leave_context(&before);
    return status;
}

LA_API la_tensor *la_frame_result(la_frame *f, int k)
{
    la_share_tensors();
    return f && k >= 0 && k < LA_MAX_RESULTS && f->results[k].tag == LA_VTENSOR
        ? la_result(f, k) : NULL;
}

LA_API int la_fail(const char *text)
{
    return la_error(LA_EARG, "%s", text ? text : "failed");
}

/* ---- operations ---- */

/* Registers; the host's 'user' is released, too, when nothing is registered. */
static la_status register_op(const la_op_def *def, const la_op **out)
{
    la_op_def d;
    if (!def) return la_error(LA_EARG, "no la_op_def given");
    la_status status = LA_READ_STRUCT("la_register_op_ex", la_op_def, def, &d);
    if (!status) status = la_op_register(&d, la_is_lua_name, out);
    if (status && d.drop) {
        la_host_call call;
        la_host_begin(&call);
        d.drop(d.user);
        la_host_end(&call);
    }
    return status;
}

LA_API la_op *la_register_op_ex(la_runtime *rt, const la_op_def *def)
{
    const la_op *op = NULL;
    LA_API_ENTRY_IN(rt ? rt : &la_default_runtime);
    if (la_api_end("la_register_op_ex", register_op(def, &op))) return NULL;
    return (la_op *)&op->state->calls[0];
}

/* Makes no entry of the library's until nobody is inside: other threads may
** need whatever this one would hold. */
LA_API int la_withdraw_op(la_op *op)
{
    const la_callable *what = (const la_callable *)op;
    la_error_clear();
    return la_api_end("la_withdraw_op", what ? la_op_withdraw(what->op)
                      : la_error(LA_EARG, "the operation is NULL"));
}

LA_API int la_register_op(const char *schema, const char *doc, la_kernel shape,
                          la_kernel fill)
{
    const la_op *op;
    la_op_def d = {.size = sizeof d, .schema = schema, .doc = doc,
                   .shape = shape, .fill = fill};
    LA_API_ENTRY_IN(&la_default_runtime);
    la_status status = la_op_register(&d, la_is_lua_name, &op);
    return la_api_end("la_register_op", status);
}

/* ---- devices ---- */

static la_status register_device(const la_device_def *def, la_device *out)
{
    la_device_def d;
    if (!def) return la_error(LA_EARG, "no la_device_def given");
    LA_TRY(LA_READ_STRUCT("la_register_device_ex", la_device_def, def, &d));
    return la_device_register(&d, out);
}

LA_API int la_register_device_ex(la_runtime *rt, const la_device_def *def)
{
    la_device d = LA_CPU;
    LA_API_ENTRY_IN(rt ? rt : &la_default_runtime);
    la_status status = register_device(def, &d);
    return la_api_end("la_register_device_ex", status) ? -1 : (int)d;
}

LA_API int la_register_device(const char *name)
{
    la_device d = LA_CPU;
    la_device_def def = {.size = sizeof def, .name = name};
    LA_API_ENTRY_IN(&la_default_runtime);
    la_status status = la_device_register(&def, &d);
    return la_api_end("la_register_device", status) ? -1 : (int)d;
}

/* Registers by the whole name of a row, with its overload's: "max.dim". */
static la_status register_kernel(const char *op, int device, la_kernel kernel)
{
    const la_op *row = op ? la_op_lookup(op, strlen(op)) : NULL;
    if (!row) return la_error(LA_EARG, "there is no operation '%.60s'",
                              op ? op : "(null)");
    if (!la_device_is_known(device))
        return la_error(LA_EARG, "there is no device %d", device);
    return la_kernel_register(row, (la_key)device, (la_op_fn)kernel);
}

LA_API int la_register_kernel_ex(la_runtime *rt, const char *op, int device,
                                 la_kernel kernel)
{
    LA_API_ENTRY_IN(rt ? rt : &la_default_runtime);
    return la_api_end("la_register_kernel_ex",
                      register_kernel(op, device, kernel));
}

LA_API int la_register_kernel(const char *op, int device, la_kernel kernel)
{
    LA_API_ENTRY_IN(&la_default_runtime);
    return la_api_end("la_register_kernel",
                      register_kernel(op, device, kernel));
}
