/*
** Printing tensors: two walks over the elements that are shown. The first
** finds the width and the notation that all of them fit, the second writes.
**
** The rules are PyTorch's: floats that are all whole numbers get a bare point,
** others 'precision' decimals, or an exponent when the largest and the smallest
** are far apart; zeros and infinities do not count for the width.
*/
#include "tensor/text/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "base/format.h"
#include "tensor/names.h"
#include "tensor/host/remote.h"
#include "tensor/scalar.h"

/* Elements that a summary shows at most. With the usual three at each edge the
** first is not reached by up to six dims, which are shown as PyTorch does;
** beyond, where each element costs a line of brackets, it is the second. */
enum { MOST_SHOWN = 60000, DEEP = 6, MOST_SHOWN_DEEP = 1000 };
enum { NUMBER_BYTES = LA_NUMBER_BYTES, MOST_PRECISION = LA_NUMBER_PRECISION };

/* --- text that grows --- */

/* Capacity doubles, so that a text of n bytes is copied less than twice. The
** old bytes stay where no memory is left. */
la_status la_text_add(la_text *text, const char *bytes, size_t n)
{
    if (n > text->capacity - text->size) {
        size_t capacity = (text->size + n) * 2 + 256;
        char *data = la_mem_alloc(capacity);
        if (!data)
            return LA_ENOMEM;
        if (text->size)
            memcpy(data, text->data, text->size);
        la_mem_free(text->data, text->capacity);
        text->data = data;
        text->capacity = capacity;
    }
    memcpy(text->data + text->size, bytes, n);
    text->size += n;
    return LA_OK;
}

void la_text_free(la_text *text)
{
    la_mem_free(text->data, text->capacity);
    *text = (la_text){NULL, 0, 0};
}

static la_status add_string(la_text *text, const char *s)
{
    return la_text_add(text, s, strlen(s));
}

static la_status add_repeated(la_text *text, char c, int64_t n)
{
    for (; n > 0; n--)
        LA_TRY(la_text_add(text, &c, 1));
    return LA_OK;
}

/* --- numbers --- */

/* How the numbers of one part (all, or the real or imaginary parts) look. */
typedef struct format {
    char kind;            /* of the dtype: 'b', 'u', 'i', 'f' */
    bool whole, scientific;
    int precision, width;
} format;

/* The sign of a NaN is not shown. */
static int write_real(char *s, char notation, int precision, double v)
{
    return la_format_number(s, notation, precision, false,
                            isnan(v) ? (double)NAN : v);
}

/* A point without decimals tells a float from an integer, as in PyTorch;
** infinities and NaN need none. */
static int write_float(const format *f, char *s, double v)
{
    if (f->scientific)
        return write_real(s, 'e', f->precision, v);
    if (!f->whole)
        return write_real(s, 'f', f->precision, v);
    int n = write_real(s, 'f', 0, v);
    if (isfinite(v)) {
        s[n++] = '.';
        s[n] = '\0';
    }
    return n;
}

/* Integers are written from their own 64 bits: a double would lose digits
** above 2^53. */
static int write_value(const format *f, char *s, const la_scalar *v, double x)
{
    switch (f->kind) {
    case 'b': return snprintf(s, NUMBER_BYTES, v->i ? "True" : "False");
    case 'u': return snprintf(s, NUMBER_BYTES, "%llu",
                              (unsigned long long)v->i);
    case 'i': return snprintf(s, NUMBER_BYTES, "%lld", (long long)v->i);
    default: return write_float(f, s, x);
    }
}

/* --- what is shown --- */

typedef struct printer {
    const la_tensor *t;
    const la_print_options *o;
    la_text *out;
    format re, im;
    bool complex;
    int64_t front[LA_MAX_DIMS], back[LA_MAX_DIMS];  /* shown of each dim */
    int indent;
    uint32_t steps;
} printer;

static int64_t print_shown(const printer *p, int d)
{
    return p->front[d] + p->back[d];
}

static double shown_in_all(const printer *p)
{
    double n = 1;
    for (int d = 0; d < p->t->ndim; d++)
        n *= (double)print_shown(p, d);
    return n;
}

/* Outer dims show one element at each edge, then only the first, until few
** enough are left. */
static void thin_out(printer *p)
{
    double most = p->t->ndim > DEEP ? MOST_SHOWN_DEEP : MOST_SHOWN;
    for (int d = 0; d < p->t->ndim && shown_in_all(p) > most; d++)
        if (print_shown(p, d) > 2)
            p->front[d] = p->back[d] = 1;
    for (int d = 0; d < p->t->ndim && shown_in_all(p) > most; d++)
        if (print_shown(p, d) > 1) {
            p->front[d] = 1;
            p->back[d] = 0;
        }
}

/* Above the threshold a long dim shows 'edgeitems' at both ends; what is left
** of many dims is thinned out further. */
static void choose_shown(printer *p)
{
    bool summary = p->t->numel > p->o->threshold;
    int64_t edge = p->o->edgeitems;
    for (int d = 0; d < p->t->ndim; d++) {
        int64_t size = la_sizes(p->t)[d];
        p->front[d] = size;
        p->back[d] = 0;
        if (summary && size > 2 * edge)
            p->front[d] = p->back[d] = edge;
    }
    if (summary)
        thin_out(p);
}

static la_status print_poll(printer *p)
{
    if (++p->steps % 1024 == 0) LA_TRY(la_poll());
    return LA_OK;
}

/* The element at 'offset', with the lazy bits applied. */
static la_scalar print_element(const printer *p, int64_t offset)
{
    const la_tensor *t = p->t;
    static const char zeros[16];
    const char *data = !t->storage->data
        ? zeros : t->storage->data + offset * (int64_t)la_itemsize(t);
    la_scalar v = la_scalar_load(t->dtype, data);
    if (t->flags & LA_F_CONJ)
        v.im = -v.im;
    if (t->flags & LA_F_NEG) {
        v.re = -v.re;
        v.im = -v.im;
        v.i = (int64_t)(0 - (uint64_t)v.i);
    }
    return v;
}

/* --- first walk: width and notation --- */

typedef struct statistics {
    double least, most;   /* of finite, nonzero magnitudes */
    bool any, whole;
} statistics;

/* Both walks over the elements go through one function, so that they cannot
** disagree about what is shown. */
typedef la_status (*visit_fn)(printer *p, const la_scalar *v, void *context);

/* Position 'k' of what is shown along dim d as an index. */
static int64_t shown_index(const printer *p, int d, int64_t k)
{
    return k < p->front[d] ? k : la_sizes(p->t)[d] - print_shown(p, d) + k;
}

/* All shown elements in order. Recursion is by dim, at most LA_MAX_DIMS
** deep. */
static la_status print_visit(printer *p, int d, int64_t offset, visit_fn fn,
                             void *context)
{
    if (d == p->t->ndim) {
        la_scalar v = print_element(p, offset);
        LA_TRY(print_poll(p));
        return fn(p, &v, context);
    }
    for (int64_t k = 0; k < print_shown(p, d); k++)
        LA_TRY(print_visit(p, d + 1,
                           offset + shown_index(p, d, k) * la_strides(p->t)[d],
                               fn,
                           context));
    return LA_OK;
}

/* Zeros, infinities and NaN have no say in the notation: they have no magnitude
** to compare. */
static void print_note(statistics *s, double v)
{
    double size = fabs(v);
    if (!isfinite(v) || v == 0)
        return;
    if (!s->any || size < s->least)
        s->least = size;
    if (!s->any || size > s->most)
        s->most = size;
    s->any = true;
    s->whole = s->whole && v == ceil(v);
}

static la_status note_parts(printer *p, const la_scalar *v, void *context)
{
    statistics *s = context;
    print_note(&s[0], v->re);
    print_note(&s[1], v->im);
    return LA_OK;
}

/* PyTorch's rule: exponents where magnitudes differ by more than 1000, above
** 1e8, or below 1e-4 unless all are whole. */
static void choose_notation(const printer *p, const statistics *s, format *f)
{
    f->whole = s->whole;
    f->scientific = false;
    if (s->any)
        f->scientific = s->most / s->least > 1000.0 || s->most > 1.0e8
            || (!s->whole && s->least < 1.0e-4);
    if (p->o->sci_mode >= 0)
        f->scientific = p->o->sci_mode > 0;
}

static void print_widen(format *f, const la_scalar *v, double x)
{
    char s[NUMBER_BYTES];
    if (f->kind == 'f' && (!isfinite(x) || x == 0))
        return;
    int n = write_value(f, s, v, x);
    f->width = n > f->width ? n : f->width;
}

static la_status widen_parts(printer *p, const la_scalar *v, void *unused)
{
    print_widen(&p->re, v, v->re);
    if (p->complex)
        print_widen(&p->im, v, v->im);
    return LA_OK;
}

/* Two walks over the shown elements: the first decides the notation, the second
** the width that all of them need in it. */
static la_status choose_formats(printer *p)
{
    statistics s[2] = {{.whole = true}, {.whole = true}};
    char kind = la_dtype_kind(p->t->dtype);
    int precision = p->o->precision;
    precision = precision < 0 ? 0 : precision;
    precision = precision > MOST_PRECISION ? MOST_PRECISION : precision;
    p->complex = kind == 'c';
    p->re = p->im = (format){.kind = kind == 'c' ? 'f' : kind, .width = 1,
                             .precision = precision};
    if (p->re.kind == 'f') {
        LA_TRY(print_visit(p, 0, p->t->offset, note_parts, s));
        choose_notation(p, &s[0], &p->re);
        choose_notation(p, &s[1], &p->im);
    }
    return print_visit(p, 0, p->t->offset, widen_parts, NULL);
}

/* --- second walk: writing --- */

static la_status print_add_number(la_text *out, const format *f,
                                  const la_scalar *v, double x)
{
    char s[NUMBER_BYTES];
    int n = write_value(f, s, v, x);
    LA_TRY(add_repeated(out, ' ', f->width - n));
    return la_text_add(out, s, (size_t)n);
}

static la_status add_imaginary(la_text *out, const format *f, double x)
{
    char s[NUMBER_BYTES + 2];
    int n = write_float(f, s, x);
    s[n++] = 'j';
    if (s[0] != '-')
        LA_TRY(la_text_add(out, "+", 1));
    return la_text_add(out, s, (size_t)n);
}

static la_status add_element(printer *p, int64_t offset)
{
    la_scalar v = print_element(p, offset);
    LA_TRY(print_poll(p));
    LA_TRY(print_add_number(p->out, &p->re, &v, v.re));
    return p->complex ? add_imaginary(p->out, &p->im, v.im) : LA_OK;
}

static bool has_gap(const printer *p, int d)
{
    return print_shown(p, d) < la_sizes(p->t)[d];
}

/* Separator between two parts of dim d: a comma, and for rows line ends. */
static la_status add_separator(printer *p, int d)
{
    LA_TRY(add_string(p->out, ","));
    LA_TRY(add_repeated(p->out, '\n', p->t->ndim - 1 - d));
    return add_repeated(p->out, ' ', p->indent + d + 1);
}

/* One element at least stands on a line, however narrow it is. */
static int64_t elements_per_line(const printer *p)
{
    int length = p->re.width + 2 + (p->complex ? p->im.width + 1 : 0);
    int left = p->o->linewidth - (p->indent + p->t->ndim - 1);
    return left / length < 1 ? 1 : left / length;
}

/* The separator before item k of a row, counting the gap as an item. */
static la_status before_item(printer *p, int64_t k, int64_t per_line)
{
    if (k == 0)
        return LA_OK;
    if (k % per_line)
        return add_string(p->out, ", ");
    LA_TRY(add_string(p->out, ",\n"));
    return add_repeated(p->out, ' ', p->indent + p->t->ndim);
}

static la_status print_add_row(printer *p, int d, int64_t offset)
{
    int64_t per_line = elements_per_line(p), item = 0;
    LA_TRY(add_string(p->out, "["));
    for (int64_t k = 0; k <= print_shown(p, d); k++) {
        if (k == p->front[d] && has_gap(p, d)) {
            LA_TRY(before_item(p, item++, per_line));
            LA_TRY(add_string(p->out, print_shown(p, d) ? " ..." : "..."));
        }
        if (k == print_shown(p, d))
            break;
        LA_TRY(before_item(p, item++, per_line));
        LA_TRY(add_element(p, offset + shown_index(p, d, k)
                              * la_strides(p->t)[d]));
    }
    return add_string(p->out, "]");
}

/* The depth is that of the dims, 64 at most. */
static la_status add_dims(printer *p, int d, int64_t offset)
{
    if (d == p->t->ndim - 1)
        return print_add_row(p, d, offset);
    LA_TRY(add_string(p->out, "["));
    for (int64_t k = 0; k <= print_shown(p, d); k++) {
        if (k == p->front[d] && has_gap(p, d)) {
            if (k > 0)
                LA_TRY(add_separator(p, d));
            LA_TRY(add_string(p->out, "..."));
        }
        if (k == print_shown(p, d))
            break;
        if (k > 0 || (k == p->front[d] && has_gap(p, d)))
            LA_TRY(add_separator(p, d));
        LA_TRY(add_dims(p, d + 1, offset + shown_index(p, d, k)
                                  * la_strides(p->t)[d]));
    }
    return add_string(p->out, "]");
}

static la_status add_values(printer *p)
{
    choose_shown(p);
    LA_TRY(choose_formats(p));
    if (p->t->ndim == 0)
        return add_element(p, p->t->offset);
    return add_dims(p, 0, p->t->offset);
}

/* --- remarks behind the values --- */

typedef struct remarks {
    la_text *out;
    int64_t used;         /* columns of the last line */
    int linewidth, indent;
} remarks;

static la_status add_remark(remarks *r, const char *text)
{
    int64_t n = (int64_t)strlen(text);
    if (r->used + n + 2 > r->linewidth) {
        LA_TRY(add_string(r->out, ",\n"));
        LA_TRY(add_repeated(r->out, ' ', r->indent));
        r->used = r->indent + n;
    } else {
        LA_TRY(add_string(r->out, ", "));
        r->used += n + 2;
    }
    return add_string(r->out, text);
}

static la_status remark(remarks *r, const char *pattern, ...)
    __attribute__((format(LA_PRINTF, 2, 3)));

static la_status remark(remarks *r, const char *pattern, ...)
{
    char s[256];
    va_list args;
    va_start(args, pattern);
    la_format_list(s, sizeof s, pattern, args);
    va_end(args);
    return add_remark(r, s);
}

/* Sizes are written where the values do not tell them: without elements, and
** on the meta device. */
static la_status remark_size(remarks *r, const la_tensor *t)
{
    char s[LA_MAX_DIMS * 22 + 16];
    int n = snprintf(s, sizeof s, "size=(");
    for (int d = 0; d < t->ndim; d++)
        n += snprintf(s + n, sizeof s - (size_t)n, d ? ", %lld" : "%lld",
                      (long long)la_sizes(t)[d]);
    snprintf(s + n, sizeof s - (size_t)n, t->ndim == 1 ? ",)" : ")");
    return add_remark(r, s);
}

static la_status remark_names(remarks *r, const la_names *names)
{
    char s[1024];
    size_t n = (size_t)snprintf(s, sizeof s, "names=(");
    for (int d = 0; d < names->ndim && n + 160 < sizeof s; d++)
        n += (size_t)snprintf(s + n, sizeof s - n, d ? ", '%s'" : "'%s'",
                              names->name[d]);
    snprintf(s + n, sizeof s - n, ")");
    return add_remark(r, s);
}

/* A dtype that the printed values imply is left out. Without values only the
** default dtype goes without saying. */
static bool dtype_is_plain(const la_tensor *t)
{
    la_dtype d = t->dtype, usual = la_ctx()->default_dtype;
    if (t->numel == 0 || t->device == LA_META)
        return d == usual;
    return d == usual || d == la_dtype_to_complex(usual) || d == LA_INT64
        || d == LA_BOOL;
}

static la_status add_remarks(remarks *r, const la_tensor *t, const char *extra)
{
    if (t->device != LA_CPU)
        LA_TRY(remark(r, "device='%s'", la_device_name(t->device)));
    if (t->device == LA_META || (t->numel == 0 && t->ndim != 1))
        LA_TRY(remark_size(r, t));
    if (!dtype_is_plain(t))
        LA_TRY(remark(r, "dtype=%s", la_dtype_name(t->dtype)));
    if (extra)
        LA_TRY(add_remark(r, extra));
    else if (la_grad_flag(t))
        LA_TRY(add_remark(r, "requires_grad=True"));
    return t->names ? remark_names(r, t->names) : LA_OK;
}

/* Columns since the last line end; the first line has one more, as there is
** no line end before it to be counted. */
static int64_t last_line(const la_text *out, size_t start)
{
    size_t n = out->size;
    while (n > start && out->data[n - 1] != '\n')
        n--;
    return (int64_t)(out->size - n) + 2;
}

/* Values on a device of the host's are fetched first; those of a meta tensor
** are three points, as there are none. */
la_status la_tensor_print(const la_tensor *t, const la_print_options *o,
                          const char *extra, la_text *out)
{
    static const char prefix[] = "tensor(";
    LA_OWNED fetched = NULL;
    printer p = {.t = t, .o = o, .out = out, .indent = sizeof prefix - 1};
    remarks r = {.out = out, .linewidth = o->linewidth, .indent = p.indent};
    size_t start = out->size;
    LA_TRY(la_tensor_check_bounds(t));
    if (la_is_remote(t->device)) {
        LA_TRY(la_remote_fetch(t, true, &fetched));
        p.t = fetched;
    }
    LA_TRY(add_string(out, prefix));
    if (t->device == LA_META)
        LA_TRY(add_string(out, "..."));
    else if (t->numel == 0)
        LA_TRY(add_string(out, "[]"));
    else
        LA_TRY(add_values(&p));
    r.used = last_line(out, start);
    LA_TRY(add_remarks(&r, t, extra));
    return add_string(out, ")");
}
