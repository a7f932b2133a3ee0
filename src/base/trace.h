/* LUNARRAY_TRACE=1 shows the stages of each call on a sink that the program or
** the host sets (la_set_trace); the library itself prints nothing. */
#ifndef LA_BASE_TRACE_H
#define LA_BASE_TRACE_H

#include <stdbool.h>

#include "base/os/os.h"

typedef void (*la_trace_fn)(void *host, const char *text);
extern bool la_trace_on;    /* true while a sink is set */
__attribute__((visibility("default")))
void la_set_trace(la_trace_fn sink, void *host);   /* NULL: off */
void la_trace(const char *format, ...) __attribute__((format(LA_PRINTF, 1, 2)));

#endif
