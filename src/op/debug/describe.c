/* Calls and values in words. */
#include "op/debug/describe.h"

#include <stdarg.h>

#include "base/format.h"
#include "base/runtime/stop_note.h"
#include "op/host/device_names.h"
#include "op/op.h"
#include "op/schema.h"
#include "tensor/shape.h"

/* Calls inside of calls that are named: a crash may have damaged the chain. */
enum { SHAPE_BYTES = 200, MOST_OUTER = 8 };

void la_describe(la_description *text, const char *format, ...)
{
    va_list list;
    if (text->at + 1 >= text->capacity) return;
    size_t left = text->capacity - text->at;
    va_start(list, format);
    int n = la_format_list(text->start + text->at, left, format, list);
    va_end(list);
    if (n > 0) text->at += (size_t)n < left ? (size_t)n : left - 1;
}

/* Strides are named where they are not the contiguous ones. */
static void put_tensor(la_description *text, const la_tensor *t)
{
    char shape[SHAPE_BYTES];
    if (!t) {
        la_describe(text, "none");
        return;
    }
    la_describe(text, "%s%s", la_dtype_name((la_dtype)t->dtype),
           la_sizes_text(t->ndim, la_sizes(t), shape, sizeof shape));
    if (!la_is_contiguous(t))
        la_describe(text, " strides %s",
               la_sizes_text(t->ndim, la_strides(t), shape, sizeof shape));
    if (t->device != LA_CPU)
        la_describe(text, " on %s", la_device_name((la_device)t->device));
    if (t->flags & LA_F_REQUIRES_GRAD) la_describe(text, " requires grad");
    if (t->flags & LA_F_DEFERRED) la_describe(text, " deferred");
}

/* Kinds are kept apart: 1, 1.0 and true are other arguments, and promote
** differently. */
static void put_scalar(la_description *text, const la_scalar *s)
{
    if (s->kind == LA_KINT) la_describe(text, "%lld", (long long)s->i);
    else if (s->kind == LA_KBOOL)
        la_describe(text, "%s", s->i ? "true" : "false");
    else if (s->kind == LA_KFLOAT) la_describe(text, "%g", s->re);
    else la_describe(text, "%g%+gi", s->re, s->im);
}

/* Values of Lua that have no text (functions, handles of generators) are three
** points. */
void la_describe_value(la_description *text, const la_value *v)
{
    char shape[SHAPE_BYTES];
    switch (v->tag) {
    case LA_VTENSOR: put_tensor(text, v->tensor); break;
    case LA_VTENSORS:
        la_describe(text, "{");
        for (int64_t i = 0; i < v->tensors.n; i++) {
            if (i) la_describe(text, "; ");
            put_tensor(text, v->tensors.list[i]);
        }
        la_describe(text, "}");
        break;
    case LA_VSCALAR: put_scalar(text, &v->scalar); break;
    case LA_VINT: la_describe(text, "%lld", (long long)v->i); break;
    case LA_VFLOAT: la_describe(text, "%g", v->d); break;
    case LA_VBOOL: la_describe(text, "%s", v->b ? "true" : "false"); break;
    case LA_VINTS:
        la_describe(text, "%s", la_sizes_text((int)v->ints.n, v->ints.list,
                                              shape, sizeof shape));
        break;
    case LA_VFLOATS:
        for (int64_t i = 0; i < v->ints.n; i++)
            la_describe(text, "%s%g", i ? ", " : "{", la_float_at(v, i));
        la_describe(text, v->ints.n ? "}" : "{}");
        break;
    case LA_VSTR:
        la_describe(text, "'%.*s'", (int)v->str.n, v->str.text);
        break;
    case LA_VDTYPE: la_describe(text, "%s", la_dtype_name(v->dtype)); break;
    default: la_describe(text, "..."); break;
    }
}

void la_describe_frame(la_description *text, const la_frame *f)
{
    const la_schema *s = la_schema_of(f->op);
    bool first = true;
    la_describe(text, "%.*s(", (int)la_op_name_length(f->op), f->op->signature);
    for (int k = 0; k < f->nargs && k < s->nparams; k++) {
        const la_value *v = &f->args[k];
        if (!v->given && v->tag != LA_VTENSOR && v->tag != LA_VTENSORS)
            continue;
        if (v->tag == LA_VNONE) continue;
        la_describe(text, "%s%.*s=", first ? "" : ", ",
                    (int)s->params[k].name.n, s->params[k].name.text);
        la_describe_value(text, v);
        first = false;
    }
    la_describe(text, f->form == LA_INPLACE ? ") in place"
                 : f->form == LA_OUT ? ") to given outputs" : ")");
}

void la_describe_running(la_description *text)
{
    const la_frame *f = la_running_call;
    if (!f && la_stop_shared) f = la_stop_shared->call;
    for (int n = 0; f && n < MOST_OUTER; n++, f = f->outer) {
        if (n) la_describe(text, " in ");
        la_describe_frame(text, f);
    }
}
