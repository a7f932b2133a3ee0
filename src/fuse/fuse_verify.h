/* Self-checks of chains in the debug build; nothing in others. */
#ifndef LA_FUSE_FUSE_VERIFY_H
#define LA_FUSE_FUSE_VERIFY_H

#include "fuse/fuse_plan.h"

/* A chain before it runs: steps read inputs and steps before them, and what
** is pending has a tensor. A plan before it runs: lines name operands and
** registers that there are. */
#ifdef LA_DEBUG
void la_fuse_verify(const la_fused *z);
void la_fuse_plan_verify(const la_fuse_plan *p);
#else
static inline void la_fuse_verify(const la_fused *z) {}
static inline void la_fuse_plan_verify(const la_fuse_plan *p) {}
#endif

#endif
