/*
** Where the answer to "shall I stop?" is noted: on the thread that began the
** operation, or in the note of a region that its chunks share.
*/
#ifndef LA_BASE_RUNTIME_STOP_NOTE_H
#define LA_BASE_RUNTIME_STOP_NOTE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/os/os.h"
#include "base/runtime/context.h"

/* The host's function missed or repeated a range, or ran one outside, in a
** region of this thread. */
extern _Thread_local bool la_host_fault
    LA_HIDDEN;
/* Nonzero: a poll of an operation that this thread began was answered yes, with
** this status; la_poll clears it, and the dispatcher asks after each operation.
** */
extern _Thread_local atomic_int la_stopping
    LA_HIDDEN;
static inline bool la_is_stopping(void)
{
    return atomic_load_explicit(&la_stopping, memory_order_relaxed);
}
/* Note of the pool's: what the polls of a region's chunks write, and the token
** that they ask. The region's caller begins and ends it, so that a yes comes to
** the caller's operation; for the time of a chunk a thread has the region's.
** la_share_stop_note returns the one before (NULL: the thread's own). */
typedef struct la_stop_note {
    atomic_int said;
    la_token *token;
    const struct la_frame *call;    /* the region's */
} la_stop_note;
void la_stop_note_begin(la_stop_note *note);
void la_stop_note_end(la_stop_note *note);
la_stop_note *la_share_stop_note(la_stop_note *note);

/* The call of an operation that runs on this thread, the innermost; NULL: none.
** For crash notes alone (op/debug/describe.c). */
extern _Thread_local const struct la_frame *la_running_call
    LA_HIDDEN;

/* The region's that this thread works for; NULL: its own. */
extern _Thread_local la_stop_note *la_stop_shared LA_HIDDEN;
static inline atomic_int *la_stop_said(void)
{
    return la_stop_shared ? &la_stop_shared->said : &la_stopping;
}
static inline la_token *la_stop_token(void)
{
    return la_stop_shared ? la_stop_shared->token : la_ctx()->token;
}

#endif
