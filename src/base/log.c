/* The host's log: one line of text for a call, formatted on the stack, as there
** may be no memory when something is to be told. */
#include "base/log.h"

#include <stdarg.h>

#include "base/format.h"
#include "base/runtime/host_call.h"
#include "base/runtime/parts.h"

void la_log(la_runtime *rt, int level, const char *format, ...)
{
    char text[LA_ERROR_TEXT];
    va_list list;
    if (!rt->log) return;
    va_start(list, format);
    la_format_list(text, sizeof text, format, list);
    va_end(list);
    la_host_call call;
    la_host_begin(&call);
    rt->log(rt->log_context, level, text);
    la_host_end(&call);
}
