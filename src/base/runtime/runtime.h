/*
** A runtime: what belongs to one user of the library inside of a process, an
** allocator, a cap, threads or a job system, hooks, and the operations and
** devices that it was given. The process has a default one, made of constants.
**
** A thread is in one runtime at a time (la_here, base/runtime/context.h).
** Whoever enters the library moves it there: a closure to its state's, a
** function of the C interface to that of its state, its tensor or of la_use.
** Everything below asks la_here, and every thread has a few things of its own
** in each runtime it was in (la_local). Runtimes are told apart by a number
** that no other one gets: what a thread still notes of a runtime that is gone
** compares equal to none that lives.
*/
#ifndef LA_BASE_RUNTIME_RUNTIME_H
#define LA_BASE_RUNTIME_RUNTIME_H

#include "base/runtime/context.h"
#include "base/status.h"

/* Settings that a state of 'rt' begins with. */
void la_context_init(la_context *, la_runtime *rt);

struct la_config;

/* A runtime by its number, of a tensor or storage that lives. */
la_runtime *la_runtime_at(uint8_t owner);
/* Moves into that runtime until la_move_back, for the last steps of what
** dies. */
la_position la_move_to_owner(uint8_t owner);
/* Outside of any entry a thread may be in a runtime that another has ended: it
** goes to the one of la_use. */
void la_position_check(void);

/* 'config' is complete and sound. NULL with the error record set. */
la_runtime *la_runtime_make(const struct la_config *config);
/* LA_ESTATE while something of it lives; LA_EARG for the default one. */
la_status la_runtime_end(la_runtime *rt);
/* The thread's of la_use. */
void la_runtime_choose(la_runtime *rt);

/* Hook of op/registry.c: registrations in 'rt' go; called with nothing of it
** alive. */
extern void (*la_op_table_drop)(la_runtime *rt);


#endif
