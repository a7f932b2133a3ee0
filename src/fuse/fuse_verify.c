/* The invariants of chains and plans, for the debug build. */
#include "fuse/fuse_verify.h"

#ifdef LA_DEBUG

#include "base/assert.h"

static void verify_step(const la_fused *z, int i)
{
    const la_fuse_step *s = &z->steps[i];
    la_assert(s->nsources >= 0 && s->nsources <= LA_FUSE_SOURCES);
    la_assert(s->kind != LA_STEP_REDUCE || s->nsources == 1);
    for (int k = 0; k < s->nsources; k++) {
        const la_fuse_source *from = &s->from[k];
        la_assert(from->kind != LA_FROM_STEP
                  || (from->index >= 0 && from->index < i));
        la_assert(from->kind != LA_FROM_INPUT
                  || (from->index >= 0 && from->index < z->ninputs));
    }
}

void la_fuse_verify(const la_fused *z)
{
    la_assert(z->nsteps >= 0 && z->nsteps <= LA_FUSE_STEPS);
    la_assert(z->ninputs >= 0 && z->ninputs <= LA_FUSE_INPUTS);
    la_assert(z->shape.ndim >= 0 && z->shape.ndim <= LA_MAX_DIMS);
    la_assert(z->ntrail >= 0 && z->ntrail <= z->shape.ndim);
    for (int i = 0; i < z->nsteps; i++)
        if (z->steps[i].pending) verify_step(z, i);
}

static void verify_location(const la_fuse_plan *p, const la_fuse_location *at)
{
    la_assert(at->kind != LA_IN_OPERAND
              || (at->index >= 0 && at->index < p->noperands));
    la_assert(at->kind != LA_IN_REGISTER
              || (at->index >= 0 && at->index < p->nregisters));
    la_assert(at->kind != LA_IN_SCALAR || at->scalar);
}

void la_fuse_plan_verify(const la_fuse_plan *p)
{
    la_assert(p->noutputs >= 0 && p->noutputs <= p->noperands);
    la_assert(p->noperands <= LA_FUSE_OPERANDS);
    la_assert(p->nlines <= LA_FUSE_STEPS + LA_FUSE_OPERANDS);
    la_assert(p->nregisters <= LA_FUSE_STEPS + LA_FUSE_OPERANDS);
    for (int k = 0; k < p->noperands; k++) {
        la_assert(p->operands[k].tensor);
        la_assert(p->operands[k].loaded < p->nregisters);
    }
    for (int k = 0; k < p->nlines; k++) {
        const la_fuse_line *l = &p->lines[k];
        la_assert(l->n >= 1 && l->n <= 1 + LA_FUSE_SOURCES);
        for (int i = 0; i < l->n; i++) verify_location(p, &l->at[i]);
    }
}

#endif
