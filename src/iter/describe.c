/* An iterator as text, for LUNARRAY_TRACE and debuggers. */
#include <stdarg.h>
#include <stdio.h>

#include "iter/iter.h"
#include "base/format.h"

typedef struct writer {
    char *out;
    size_t capacity, at;
} writer;

static void describe_put(writer *w, const char *format, ...)
    __attribute__((format(LA_PRINTF, 2, 3)));

static void describe_put(writer *w, const char *format, ...)
{
    if (w->at + 1 >= w->capacity) return;
    va_list args;
    va_start(args, format);
    int n = la_format_list(w->out + w->at, w->capacity - w->at, format, args);
    va_end(args);
    if (n > 0) w->at += (size_t)n;
}

static void put_list(writer *w, const char *name, int n, const int64_t *v)
{
    describe_put(w, " %s=[", name);
    for (int d = 0; d < n; d++)
        describe_put(w, "%s%lld", d ? "," : "", (long long)v[d]);
    describe_put(w, "]");
}

static void put_operand(writer *w, const la_iter *it, int k)
{
    const la_iter_operand *op = &it->op[k];
    describe_put(w, "\n  %s %d: %s", op->is_output ? "out" : "in", k + 1,
                 la_dtype_name(op->current));
    if (op->target != op->current)
        describe_put(w, " as %s", la_dtype_name(op->target));
    put_list(w, "strides", it->ndim, op->strides);
    if (op->is_read_write) describe_put(w, " read-write");
    if (op->was_null) describe_put(w, " allocated");
    else if (op->will_resize) describe_put(w, " resized");
}

void la_iter_describe(const la_iter *it, char *out, size_t capacity)
{
    writer w = {out, capacity, 0};
    if (capacity) out[0] = '\0';
    describe_put(&w, "iter");
    put_list(&w, "shape", it->ndim, it->shape);
    describe_put(&w, " numel=%lld", (long long)it->numel);
    if (it->common != LA_UNDEFINED)
        describe_put(&w, " common=%s", la_dtype_name(it->common));
    if (it->inner) describe_put(&w, " inner=%d", it->inner);
    if (it->flags & LA_IT_IS_REDUCTION) describe_put(&w, " reduction");
    if (it->coalesced) describe_put(&w, " coalesced");
    if (it->needs_cast) describe_put(&w, " casts");
    for (int k = 0; k < it->noperands; k++) put_operand(&w, it, k);
}
