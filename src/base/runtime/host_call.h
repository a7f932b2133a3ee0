/*
** Around a function of the host's that the library calls.
**
** Whatever it runs on this thread, calls of its own, scripts of another state
** or of another runtime, which it may also end: when it returns, the thread
** works for whom it worked before, with the settings, the stop note and the
** fault that it had, and with the record of the failure that came first. In
** between none of these are there, so that the host's own calls do not see
** them.
*/
#ifndef LA_BASE_RUNTIME_HOST_CALL_H
#define LA_BASE_RUNTIME_HOST_CALL_H

#include "base/runtime/passage.h"
#include "base/runtime/stop_note.h"
#include "base/scratch.h"
#include "base/status.h"

typedef struct la_host_call {
    la_passage before;
    la_stop_note *note;
    int stopping;
    bool fault;
    la_scratch_aside scratch;
    la_error_note error;
} la_host_call;

void la_host_begin(la_host_call *c);
void la_host_end(const la_host_call *c);
/* la_host_end for a function that gives a status: the record of its own failure
** stays, and there is none where it left none. Returns the status. */
int la_host_end_with(const la_host_call *c, int status);
/* A function that a host gave with memory, or none. */
void la_host_release(void (*release)(void *context, void *data), void *context,
                     void *data);

#endif
