/* The settings of a state, and the ones a thread has without a state. */
#include "base/runtime/context.h"

#include "base/runtime/runtime.h"

/* PyTorch's default seed, so that an unseeded run can be compared. */
#define DEFAULT_SEED UINT64_C(67280421310721)

_Thread_local la_context *la_current_context;
_Thread_local la_position la_here = {.runtime = &la_default_runtime};
_Thread_local _Atomic(la_runtime *) la_chosen_runtime = &la_default_runtime;
static la_context emergency;    /* without memory for the thread's own */

void la_context_init(la_context *c, la_runtime *rt)
{
    bool deterministic = (rt->flags & LA_DETERMINISTIC) != 0;
    *c = (la_context){
        .runtime = rt, .serial = rt->serial,
        .default_dtype = LA_FLOAT32,
        .token = &la_no_token,
        .deterministic = deterministic, .portable = deterministic,
        .lockstep = deterministic,
        .zero_memory = (rt->flags & LA_ZERO_MEMORY) != 0,
        .generator = {.seed = DEFAULT_SEED},
        .print = {.precision = 4, .threshold = 1000, .edgeitems = 3,
                  .linewidth = 80, .sci_mode = -1}
    };
}

/* Shared settings, used when there is no memory for a thread's own: the call is
** about to fail anyway. */
la_context *la_context_fallback(void)
{
    la_local *local = la_local_here();
    la_context *c = local ? &local->context : &emergency;
    if (!c->runtime) la_context_init(c, la_runtime_here());
    c->token = la_own_token;
    return c;
}

static la_passage enter(la_runtime *rt, la_context *c)
{
    la_passage before = {la_current_context, la_here, la_fp_begin()};
    la_current_context = c;
    if (rt->serial != la_here.serial) la_move_to(rt);
    return before;
}

la_passage la_enter_runtime(la_runtime *rt) { return enter(rt, NULL); }

la_passage la_enter_context(la_context *c)
{
    la_error_clear();
    return enter(c ? c->runtime : la_runtime_chosen(), c);
}

void la_leave_context(const la_passage *before)
{
    la_current_context = before->context;
    la_move_back(&before->position);
    la_fp_restore(before->mode);
}
