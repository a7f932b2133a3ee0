/* Calling operations from C: values in, results out, defaults filled in. */
#include "op/call.h"

#include "op/op.h"
#include "op/schema.h"
#include "tensor/scalar.h"

/* Scalars where a Tensor is declared become wrapped 0-dim tensors, owned
** by the call. */
bool la_keeps_numbers(const la_op *op, int n, const la_value *args)
{
    if (op->family || (op->forms & LA_KEEPS_NUMBERS)) return true;
    for (int k = 0; k < n; k++)
        if (args[k].tag == LA_VDTYPE && (args[k].dtype == LA_FLOAT64
                                         || args[k].dtype == LA_COMPLEX128))
            return true;
    return false;
}

typedef struct owned {
    la_tensor **slots[LA_MAX_ARGS];     /* in the arguments of the frame */
    int n;
} owned;

static void drop_owned(owned *o)
{
    while (o->n > 0) la_tensor_release(*o->slots[--o->n]);
}

static la_status call_wrap(la_value *v, owned *o)
{
    la_tensor *t = NULL;
    LA_TRY(la_tensor_from_scalar(&v->scalar, &t));
    v->tag = LA_VTENSOR;
    v->tensor = t;
    o->slots[o->n++] = &v->tensor;
    return LA_OK;
}

/* C numbers fit every parameter that takes a scalar; true and what a
** comparison gives are ints in C. */
static void call_widen(la_value *v, la_type type)
{
    bool number = type == LA_TYPE_SCALAR || type == LA_TYPE_TENSOR;
    if (number && v->tag == LA_VINT) *v = la_v_scalar(la_scalar_int(v->i));
    if (number && v->tag == LA_VFLOAT) *v = la_v_scalar(la_scalar_float(v->d));
    if (number && v->tag == LA_VBOOL) *v = la_v_scalar(la_scalar_bool(v->b));
    if (type == LA_TYPE_BOOL && v->tag == LA_VINT) *v = la_v_bool(v->i != 0);
    if (type != LA_TYPE_FLOAT) return;
    if (v->tag == LA_VINT) *v = la_v_float((double)v->i);
    if (v->tag == LA_VSCALAR) *v = la_v_float(v->scalar.re);
}

/* Wrapped numbers without a tensor next to them. */
static la_status default_numbers(const la_op *op, int n, const la_value *args,
                                 owned *o)
{
    int tensors = 0;
    for (int k = 0; k < n; k++)
        tensors += args[k].tag == LA_VTENSOR || args[k].tag == LA_VTENSORS;
    if (tensors > o->n || la_keeps_numbers(op, n, args)) return LA_OK;
    for (int k = 0; k < o->n; k++)
        LA_TRY(la_number_to_default(o->slots[k]));
    return LA_OK;
}

/* The arguments of the frame from the 'n' given ones and the defaults. What is
** wrapped here belongs to 'o', also after a failure. */
static la_status call_fill(const la_schema *s, int n, const la_value *given,
                           la_value *args, owned *o)
{
    for (int k = 0; k < s->nparams; k++) {
        const la_param *p = &s->params[k];
        args[k] = k < n ? given[k] : p->fallback;
        if (args[k].tag == LA_VNONE && k < n && !p->optional)
            args[k] = p->fallback;
        call_widen(&args[k], p->type);
        if (la_type_is_ints(p->type) && args[k].tag == LA_VINT)
            args[k] = la_v_ints(&given[k].i, 1);
        if (p->type == LA_TYPE_TENSOR && args[k].tag == LA_VSCALAR)
            LA_TRY(call_wrap(&args[k], o));
        if (args[k].tag == LA_VNONE && p->required && !p->optional)
            return la_error_at(LA_EARG, k + 1, "%s expected, got nothing",
                               la_type_name(p->type));
    }
    return LA_OK;
}

la_status la_do_frame(la_frame *f, int n, const la_value *given)
{
    la_value args[LA_MAX_ARGS];
    owned o;
    o.n = 0;
    const la_schema *s = la_schema_of(f->op);
    f->args = args;
    f->nargs = s->nparams;
    f->nresults = 0;
    f->keys = 0;
    f->unread = 0;
    memset(f->scratch, 0, sizeof(f->scratch));   /* results: by the gate */
    la_status status = call_fill(s, n, given, args, &o);
    if (!status && o.n) status = default_numbers(f->op, s->nparams, args, &o);
    if (!status) status = la_dispatch(f);
    drop_owned(&o);
    f->args = NULL;
    return status;
}

/* One call in a frame of the caller, who owns its results after LA_OK; 'out' is
** self or the out= tensor. */
static la_status call(const la_op *op, la_form form, la_tensor *out, int n,
                      const la_value *given, la_frame *f)
{
    f->op = op;
    f->form = form;
    memset(f->outs, 0, sizeof(f->outs));
    f->outs[0] = out;
    la_status status = la_do_frame(f, n, given);
    if (status == LA_OK) return LA_OK;
    const la_word *name = &la_schema_of(op)->name;
    la_error_unnamed(name->text, (size_t)name->n, status);
    return la_blame(status, 0);     /* its arguments are not the caller's */
}

la_status la_do(const la_op *op, la_tensor **out, int n, const la_value *args)
{
    la_frame f;
    LA_TRY(call(op, LA_FUNCTIONAL, NULL, n, args, &f));
    *out = f.results[0].tensor;
    for (int k = 1; k < LA_MAX_RESULTS; k++) la_value_drop(&f.results[k]);
    return LA_OK;
}

la_status la_do_result(la_frame *f, const la_op *op, int n,
                       const la_value *args)
{
    la_tensor *out = NULL;
    LA_TRY(la_do(op, &out, n, args));
    la_set_result(f, 0, out);
    return LA_OK;
}

la_status la_do_(const la_op *op, la_tensor *self, int n, const la_value *args)
{
    la_frame f;
    bool mutates = (op->forms & LA_MUTATES) != 0;
    LA_TRY(call(op, mutates ? LA_FUNCTIONAL : LA_INPLACE,
                mutates ? NULL : self, n, args, &f));
    la_drop_results(&f);
    return LA_OK;
}

la_status la_do_out(const la_op *op, la_tensor *out, int n,
                    const la_value *args)
{
    la_frame f;
    LA_TRY(call(op, LA_OUT, out, n, args, &f));
    la_drop_results(&f);
    return LA_OK;
}

la_status la_do_many(const la_op *op, la_value *results, int n,
                     const la_value *args)
{
    la_frame f;
    LA_TRY(call(op, LA_FUNCTIONAL, NULL, n, args, &f));
    memcpy(results, f.results, sizeof(f.results));
    return LA_OK;
}

bool la_tensor_to_scalar(const la_tensor *t, la_scalar *out)
{
    la_tensor *plain = NULL;
    if (t->numel != 1 || t->device != LA_CPU || la_grad_flag(t)) return false;
    if (__builtin_expect(la_ctx()->recorder != NULL, 0)) la_record_peek(t);
    if (t->flags & (LA_F_CONJ | LA_F_NEG)) {
        if (la_run(clone, &plain, (la_tensor *)t)) return false;
        *out = la_scalar_load((la_dtype)plain->dtype, la_data(plain));
        la_tensor_release(plain);
        return true;
    }
    if (la_tensor_check_bounds(t)) return false;
    *out = la_scalar_load((la_dtype)t->dtype, la_data(t));
    return true;
}
