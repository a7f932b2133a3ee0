/* LUNARRAY_TRACE at the gate: trace.c. Call these while la_trace_on. */
#ifndef LA_OP_DEBUG_TRACE_H
#define LA_OP_DEBUG_TRACE_H

#include "op/frame.h"

/* The schema and the arguments of a call that was checked. */
void la_trace_frame(const la_frame *f);
/* The keys that it is dispatched on, the first one first. */
void la_trace_keys(const la_frame *f);
/* The CPU kernel's operation and the capability of its tables. */
void la_trace_kernel(const la_frame *f);
void la_trace_results(const la_frame *f);

#endif
