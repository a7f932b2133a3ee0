/*
** Lockstep: a state whose results have the same bits on every machine.
**
** A row says by its flags what its bits depend on, and that decides what a
** lockstep state does with it:
**   LA_SAME_BITS    on nothing: it runs as ever. Views and rows that change
**                   geometry alone have the flag by their kind.
**   LA_BY_C_LIBRARY on a library of the system: refused.
**   neither         on the CPU capability (fused multiply-adds, methods by the
**                   width of vectors): it runs on the kernels of the lowest
**                   one, which every machine has. Composites are the calls
**                   that they make.
** spec/registry/lockstep_spec.lua compares the bits of all rows on all
** capabilities.
*/
#ifndef LA_OP_LOCKSTEP_H
#define LA_OP_LOCKSTEP_H

#include "kernel/kernel.h"
#include "op/frame.h"
#include "op/value.h"

/* How a lockstep state runs the row: "native", "baseline", "steps" (a
** composite's) or "refused". */
const char *la_lockstep_way(const la_op *op);

/* Around a call in a lockstep state. LA_ESUPPORT for a row that it refuses;
** then nothing is to be ended. */
la_status la_lockstep_begin(const la_op *op, unsigned *before);
static inline void la_lockstep_end(unsigned before) { la_cap_mask = before; }

/* LA_ESUPPORT where this build has no kernels of the lowest capability. */
la_status la_lockstep_check(void);

#endif
