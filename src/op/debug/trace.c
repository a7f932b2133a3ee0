/*
** What LUNARRAY_TRACE shows of a call at the gate: the schema, the arguments,
** the dispatch keys, the CPU capability of the kernels, the results. Only
** called while a sink is set, so that nothing here has to be quick.
*/
#include "op/debug/trace.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/os/cpu.h"
#include "base/format.h"
#include "base/trace.h"
#include "op/host/device_names.h"
#include "op/op.h"
#include "op/schema.h"
#include "tensor/shape.h"

/* Longer lines are clipped: a trace goes to a terminal or a log, and its
** buffers lie on the stack. */
enum { TEXT = 800, SHAPE = 200 };

/* A line that is written piece by piece and clipped at its end. */
typedef struct line {
    char text[TEXT];
    size_t at;
} line;

static void trace_put(line *l, const char *format, ...)
    __attribute__((format(LA_PRINTF, 2, 3)));

/* Formats without the locale (base/format.h), so that a trace of numbers reads
** the same everywhere. */
static void trace_put(line *l, const char *format, ...)
{
    va_list list;
    if (l->at + 1 >= sizeof l->text) return;
    va_start(list, format);
    int n = la_format_list(l->text + l->at, sizeof l->text - l->at, format,
                           list);
    va_end(list);
    if (n > 0) l->at += (size_t)n;
}

/* "float32[2, 3]", with strides where they are not the contiguous ones. */
static void put_tensor(line *l, const la_tensor *t)
{
    char text[SHAPE];
    if (!t) {
        trace_put(l, "none");
        return;
    }
    trace_put(l, "%s%s", la_dtype_name((la_dtype)t->dtype),
              la_sizes_text(t->ndim, la_sizes(t), text, sizeof text));
    if (!la_is_contiguous(t))
        trace_put(l, " strides %s",
                  la_sizes_text(t->ndim, la_strides(t), text, sizeof text));
    if (t->device != LA_CPU)
        trace_put(l, " on %s", la_device_name((la_device)t->device));
    if (t->flags & LA_F_REQUIRES_GRAD) trace_put(l, " requires grad");
    if (t->flags & LA_F_DEFERRED) trace_put(l, " deferred");
}

/* Kinds are kept apart: 1, 1.0 and true are other arguments, and promote
** differently. */
static void put_scalar(line *l, const la_scalar *s)
{
    if (s->kind == LA_KINT) trace_put(l, "%lld", (long long)s->i);
    else if (s->kind == LA_KBOOL) trace_put(l, "%s", s->i ? "true" : "false");
    else if (s->kind == LA_KFLOAT) trace_put(l, "%g", s->re);
    else trace_put(l, "%g%+gi", s->re, s->im);
}

/* Values of Lua that have no text (functions, handles of generators) are three
** points. */
static void put_value(line *l, const la_value *v)
{
    char text[SHAPE];
    switch (v->tag) {
    case LA_VTENSOR: put_tensor(l, v->tensor); break;
    case LA_VTENSORS:
        trace_put(l, "{");
        for (int64_t i = 0; i < v->tensors.n; i++) {
            if (i) trace_put(l, "; ");
            put_tensor(l, v->tensors.list[i]);
        }
        trace_put(l, "}");
        break;
    case LA_VSCALAR: put_scalar(l, &v->scalar); break;
    case LA_VINT: trace_put(l, "%lld", (long long)v->i); break;
    case LA_VFLOAT: trace_put(l, "%g", v->d); break;
    case LA_VBOOL: trace_put(l, "%s", v->b ? "true" : "false"); break;
    case LA_VINTS:
        trace_put(l, "%s", la_sizes_text((int)v->ints.n, v->ints.list, text,
                                         sizeof text));
        break;
    case LA_VFLOATS:
        for (int64_t i = 0; i < v->ints.n; i++)
            trace_put(l, "%s%g", i ? ", " : "{", la_float_at(v, i));
        trace_put(l, v->ints.n ? "}" : "{}");
        break;
    case LA_VSTR: trace_put(l, "'%.*s'", (int)v->str.n, v->str.text); break;
    case LA_VDTYPE: trace_put(l, "%s", la_dtype_name(v->dtype)); break;
    default: trace_put(l, "..."); break;
    }
}

/* Arguments that were not given are left out, as their defaults stand in the
** schema one line above. */
void la_trace_frame(const la_frame *f)
{
    const la_schema *s = la_schema_of(f->op);
    line l = {.at = 0};
    la_trace("call  %s", f->op->signature);
    trace_put(&l, "args ");
    for (int k = 0; k < f->nargs && k < s->nparams; k++) {
        const la_value *v = &f->args[k];
        if (!v->given && v->tag != LA_VTENSOR && v->tag != LA_VTENSORS)
            continue;
        if (v->tag == LA_VNONE) continue;
        trace_put(&l, " %.*s=", (int)s->params[k].name.n,
                  s->params[k].name.text);
        put_value(&l, v);
    }
    if (f->form == LA_INPLACE) trace_put(&l, ", in place");
    if (f->form == LA_OUT) trace_put(&l, ", to given outputs");
    la_trace("%s", l.text);
}

/* The highest key comes first, in the order in which kernels are tried. */
void la_trace_keys(const la_frame *f)
{
    line l = {.at = 0};
    for (int key = LA_NKEYS - 1; key >= 0; key--) {
        if (!(f->keys >> key & 1)) continue;
        trace_put(&l, " %s", key == LA_KEY_AUTOGRAD ? "Autograd"
                             : key == LA_KEY_RECORD ? "Record"
                             : key == LA_KEY_INPLACE_OR_VIEW ? "InplaceOrView"
                             : la_device_name((la_device)key));
    }
    la_trace("keys %s", l.text);
}

/* The capability is the one that is asked for; a kernel with fewer copies runs
** the next lower one. */
void la_trace_kernel(const la_frame *f)
{
    la_trace("kernel %s, %s", f->op->name, la_cap_name(la_cpu_cap()));
}

/* Called behind the kernel, with the results as the caller gets them. */
void la_trace_results(const la_frame *f)
{
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        line l = {.at = 0};
        if (f->results[k].tag == LA_VNONE) continue;
        put_value(&l, &f->results[k]);
        la_trace("result %s", l.text);
    }
}
