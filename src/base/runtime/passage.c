/* The way of a thread through runtimes and settings. */
#include "base/runtime/passage.h"

#include "base/runtime/parts.h"
#include "base/runtime/runtime_verify.h"

_Thread_local la_context *la_current_context;
_Thread_local la_position la_here = {.runtime = &la_default_runtime};
_Thread_local _Atomic(la_runtime *) la_chosen_runtime = &la_default_runtime;

/* The runtime where this thread was before, and what it has there. */
static _Thread_local struct { uint64_t serial; la_local *local; } former;

void la_move_to(la_runtime *rt)
{
    la_runtime_verify(rt);
    if (rt->serial == la_here.serial) return;
    la_local *known = former.serial == rt->serial ? former.local : NULL;
    if (la_here.local) {
        former.serial = la_here.serial;
        former.local = la_here.local;
    }
    la_here = (la_position){rt, known, rt->serial, rt->owner};
}

/* Avoids the runtime of 'before', which may be gone by now. */
void la_move_back(const la_position *before)
{
    if (before->serial == la_here.serial) return;
    la_local *known = former.serial == before->serial ? former.local : NULL;
    la_here = *before;
    la_here.local = known;
}

void la_position_forget(const la_local *local)
{
    if (la_here.local == local) la_here.local = NULL;
    if (former.local == local) former.local = NULL;
}

void la_position_forget_runtime(uint64_t serial)
{
    if (former.serial == serial) former.local = NULL;
}

la_runtime *la_runtime_chosen(void)
{
    return atomic_load_explicit(&la_chosen_runtime, memory_order_relaxed);
}

static la_passage passage_enter(la_runtime *rt, la_context *c)
{
    la_passage before = {la_current_context, la_here, la_fp_begin()};
    la_current_context = c;
    if (rt->serial != la_here.serial) la_move_to(rt);
    return before;
}

la_passage la_enter_runtime(la_runtime *rt) { return passage_enter(rt, NULL); }

la_passage la_enter_context(la_context *c)
{
    la_error_clear();
    return passage_enter(c ? c->runtime : la_runtime_chosen(), c);
}

void la_leave_context(const la_passage *before)
{
    la_current_context = before->context;
    la_move_back(&before->position);
    la_fp_restore(before->mode);
}
