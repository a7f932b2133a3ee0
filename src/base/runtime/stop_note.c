/* The notes of stops: one of each thread, one of each region. */
#include "base/runtime/stop_note.h"

_Thread_local bool la_host_fault;
_Thread_local atomic_int la_stopping;
_Thread_local la_stop_note *la_stop_shared;
_Thread_local const struct la_frame *la_running_call;

void la_stop_note_begin(la_stop_note *note)
{
    atomic_init(&note->said, atomic_load(la_stop_said()));
    note->token = la_stop_token();
    note->call = la_running_call;
}

void la_stop_note_end(la_stop_note *note)
{
    int code = atomic_load(&note->said);
    if (code) atomic_store(la_stop_said(), code);
}

la_stop_note *la_share_stop_note(la_stop_note *note)
{
    la_stop_note *before = la_stop_shared;
    la_stop_shared = note;
    return before;
}
