/* The stages of a call, written to a sink. Set it before other threads work. */
#include "base/trace.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/runtime/host_call.h"
#include "base/format.h"

bool la_trace_on;
static la_trace_fn sink;
static void *sink_host;

void la_set_trace(la_trace_fn fn, void *host)
{
    la_trace_on = false;
    sink = fn;
    sink_host = host;
    la_trace_on = fn != NULL;
}

void la_trace(const char *format, ...)
{
    char text[1024];
    va_list list;
    if (!la_trace_on) return;
    va_start(list, format);
    la_format_list(text, sizeof text, format, list);
    va_end(list);
    la_host_call call;
    la_host_begin(&call);
    sink(sink_host, text);
    la_host_end(&call);
}
