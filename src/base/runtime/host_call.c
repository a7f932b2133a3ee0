/* State that a thread puts aside while a function of the host's runs on it. */
#include "base/runtime/host_call.h"

#include "base/runtime/passage.h"
#include "base/runtime/stop_note.h"

void la_host_begin(la_host_call *c)
{
    la_error_keep(&c->error);
    la_error_clear();
    c->scratch = la_scratch_begin_aside();
    c->before = (la_passage){la_current_context, la_here, la_fp_current()};
    la_current_context = NULL;
    c->note = la_share_stop_note(NULL);
    c->stopping = atomic_exchange_explicit(&la_stopping, LA_OK,
                                           memory_order_relaxed);
    c->fault = la_host_fault;
    la_host_fault = false;
}

static void come_back(const la_host_call *c)
{
    la_leave_context(&c->before);
    la_scratch_end_aside(&c->scratch);
    la_share_stop_note(c->note);
    atomic_store_explicit(&la_stopping, c->stopping, memory_order_relaxed);
    la_host_fault = c->fault;
}

void la_host_end(const la_host_call *c)
{
    come_back(c);
    la_error_restore(&c->error);
}

int la_host_end_with(const la_host_call *c, int status)
{
    if (status) come_back(c);
    else la_host_end(c);
    return status;
}

void la_host_release(void (*release)(void *context, void *data), void *context,
                     void *data)
{
    la_host_call call;
    if (!release) return;
    la_host_begin(&call);
    release(context, data);
    la_host_end(&call);
}
