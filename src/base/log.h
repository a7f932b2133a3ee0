/* Lines for the host's log. */
#ifndef LA_BASE_LOG_H
#define LA_BASE_LOG_H

#include "base/os/os.h"
#include "base/runtime/context.h"

/* A line for the log of the runtime, of LA_LOG_ERROR ... LA_LOG_DEBUG. Costs
** nothing without one. */
void la_log(la_runtime *rt, int level, const char *format, ...)
    __attribute__((format(LA_PRINTF, 3, 4), cold));

#endif
