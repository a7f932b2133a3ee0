/*
** What LUNARRAY_TRACE shows of a call at the gate: the schema, the arguments,
** the dispatch keys, the CPU capability of the kernels, the results. Only
** called while a sink is set, so that nothing here has to be quick.
*/
#include "op/debug/trace.h"

#include "base/os/cpu.h"
#include "base/trace.h"
#include "op/debug/describe.h"
#include "op/host/device_names.h"
#include "op/op.h"

/* Longer lines are clipped: a trace goes to a terminal or a log, and its
** buffers lie on the stack. */
enum { TRACE_BYTES = 800 };

void la_trace_frame(const la_frame *f)
{
    char buffer[TRACE_BYTES];
    la_description text = {buffer, sizeof buffer, 0};
    la_trace("call  %s", f->op->signature);
    la_describe_frame(&text, f);
    la_trace("args  %s", buffer);
}

/* The highest key comes first, in the order in which kernels are tried. */
void la_trace_keys(const la_frame *f)
{
    char buffer[TRACE_BYTES] = "";
    la_description text = {buffer, sizeof buffer, 0};
    for (int key = LA_NKEYS - 1; key >= 0; key--) {
        if (!(f->keys >> key & 1)) continue;
        la_describe(&text, " %s", key == LA_KEY_AUTOGRAD ? "Autograd"
                             : key == LA_KEY_RECORD ? "Record"
                             : key == LA_KEY_INPLACE_OR_VIEW ? "InplaceOrView"
                             : la_device_name((la_device)key));
    }
    la_trace("keys %s", buffer);
}

/* The capability is the one that is asked for; a kernel with fewer copies runs
** the next lower one. */
void la_trace_kernel(const la_frame *f)
{
    la_trace("kernel %s, %s", f->op->name, la_cap_name(la_cpu_cap()));
}

/* Called after the kernel, with the results as the caller gets them. */
void la_trace_results(const la_frame *f)
{
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        char buffer[TRACE_BYTES];
        la_description text = {buffer, sizeof buffer, 0};
        if (f->results[k].tag == LA_VNONE) continue;
        la_describe_value(&text, &f->results[k]);
        la_trace("result %s", buffer);
    }
}
