/*
** The way of a thread through runtimes and settings: in when the library is
** entered, back when it is left. base/runtime/context.h says where it is.
*/
#ifndef LA_BASE_RUNTIME_PASSAGE_H
#define LA_BASE_RUNTIME_PASSAGE_H

#include "base/os/fpmode.h"
#include "base/runtime/context.h"

void la_move_back(const la_position *before);
/* Forgets the thread's state in a runtime, which is about to go. */
void la_position_forget(const la_local *local);
void la_position_forget_runtime(uint64_t serial);
/* The runtime that this thread chose by la_use, or the default one. */
la_runtime *la_runtime_chosen(void);

/* Entries of the C interface: LA_ENTRY(c) masks floating-point exceptions and
** makes 'c' current (NULL: the thread's own, in the runtime of la_use) until
** the function ends, and then the mode and the one before again, for a host
** that calls from within a script. The error record is cleared: what stands
** there when the function ends is its own. LA_ENTRY_IN(rt) does the same with
** the thread's own settings in that runtime, and leaves the record: for what
** belongs to a tensor and can't fail. */
typedef struct la_passage {
    la_context *context;
    la_position position;
    la_fp_mode mode;
} la_passage;

la_passage la_enter_runtime(la_runtime *rt);
la_passage la_enter_context(la_context *c);
void la_leave_context(const la_passage *before);
#define LA_ENTRY(c) __attribute__((cleanup(la_leave_context), unused)) \
    la_passage entry_before = la_enter_context(c)
#define LA_ENTRY_IN(rt) __attribute__((cleanup(la_leave_context), unused)) \
    la_passage entry_before = la_enter_runtime(rt)

#endif
