/* Chains: see chain.h. */
#include "fuse/chain.h"

#include <stddef.h>

#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "fuse/fuse_plan.h"
#include "op/lockstep.h"
#include "op/observe.h"
#include "op/op.h"

static size_t chain_bytes(int most)
{
    return offsetof(la_fused, steps) + (size_t)most * sizeof(la_fuse_step);
}

la_status la_fused_new(int most, la_fused **out)
{
    if (most > LA_FUSE_STEPS) most = LA_FUSE_STEPS;
    if (!(*out = la_mem_alloc(chain_bytes(most)))) return LA_ENOMEM;
    la_fuse_init(*out, most);
    return LA_OK;
}

void la_fused_free(la_fused *c)
{
    if (!c) return;
    la_fuse_drop_plans(c);
    la_fuse_forget(c);
    la_mem_free(c, chain_bytes(c->most));
}

/* ---- steps ---- */

static bool chain_is_full(const la_fused *c)
{
    return c->nsteps == c->most
        || c->ninputs > LA_FUSE_INPUTS - LA_FUSE_SOURCES;
}

static la_status chain_record(la_fused *c, la_frame *f, bool *done)
{
    bool given = f->form != LA_FUNCTIONAL;
    const la_family *family = f->op->family;
    if (f->op->role == LA_ROLE_copy) return la_fuse_record_copy(c, f, done);
    if (!family) return la_fuse_writes(c) ? LA_OK
        : la_fuse_record_reduction(c, f, done);
    if (!la_fuse_is_recordable(f)) return LA_OK;
    if (given && (!la_fuse_is_simple(f->outs[0])
                  || la_internal_overlap(f->outs[0]) != LA_OVERLAP_NO))
        return LA_OK;
    if (family->check) LA_TRY(family->check(f));
    LA_TRY(la_fuse_settle(c, f, family->ninputs));
    return given ? la_fuse_record_given(c, f, done)
                 : la_fuse_record(c, f, done);
}

/* A step takes the kernel that its call would take, in lockstep too. */
static la_status chain_record_here(la_fused *c, la_frame *f, bool *done)
{
    unsigned before;
    if (!la_ctx()->lockstep) return chain_record(c, f, done);
    LA_TRY(la_lockstep_begin(f->op, &before));
    la_status status = chain_record(c, f, done);
    la_lockstep_end(before);
    return status;
}

la_status la_fused_add(la_fused *c, la_frame *f, bool renewed,
                       la_tensor **out)
{
    bool done = false;
    *out = NULL;
    if (chain_is_full(c)) return LA_OK;
    la_status status = chain_record_here(c, f, &done);
    if (status == LA_ENOMEM) return status;
    if (status) la_error_clear();           /* the call says it when it runs */
    if (status || !done) return LA_OK;
    la_fuse_step *s = &c->steps[c->nsteps - 1];
    s->renewed = renewed;
    s->squares &= !renewed;
    *out = f->results[0].tensor;
    la_drop_results(f);         /* the step holds it */
    return LA_OK;
}

void la_fused_take_back(la_fused *c)
{
    la_tensor_release(c->steps[--c->nsteps].tensor);
}

/* ---- passes ---- */

static void chain_name(la_fused *c,
                       int32_t (*name)(void *, const la_tensor *),
                       void *context)
{
    la_fuse_plan *p = c->plans, *first = NULL;
    while (p) {             /* the last one comes first */
        la_fuse_plan *next = p->next;
        for (int k = 0; k < p->noperands; k++) {
            p->from[k] = name(context, p->operands[k].tensor);
        }
        p->next = first;
        first = p;
        p = next;
    }
    c->plans = first;
}

la_status la_fused_finish(la_fused *c, int n,
                          la_tensor *const *wanted,
                          int32_t (*name)(void *, const la_tensor *),
                          void *context)
{
    la_fuse_set set = la_fuse_writes(c);
    for (int k = 0; k < n; k++) {
        int i = la_fuse_step_of(c, wanted[k]);
        if (i >= 0 && c->steps[i].pending) set |= LA_FUSE_ONE << i;
    }
    if (set) LA_TRY(la_fuse_lay_out(c, set));
    chain_name(c, name, context);
    return LA_OK;
}

la_status la_fused_renew(la_fused *c, int i, la_frame *f)
{
    la_fuse_step *s = &c->steps[i];
    LA_TRY(la_pointwise_plan(f, (la_dtype)s->tensor->dtype, &s->plan));
    for (la_fuse_plan *p = c->plans; p; p = p->next)
        for (int k = 0; k < p->nlines; k++)
            if (p->lines[k].step == i) p->lines[k].loop = s->plan.loop;
    return LA_OK;
}

/* ---- runs ---- */

static la_status chain_run_pass(la_fuse_plan *p, la_status (*give)(void *,
                                int32_t, la_tensor **), void *context)
{
    for (int k = 0; k < p->noperands; k++)
        LA_TRY(give(context, p->from[k], &p->operands[k].tensor));
    p->nregisters = p->nkept;
    la_status status = la_fuse_run_plan(p);
    return status ? status : la_region_status(LA_OK);
}

la_status la_fused_run(la_fused *c, la_status (*give)(void *, int32_t,
                       la_tensor **), void *context)
{
    la_observed call;
    la_status status = LA_OK;
    bool observed = la_ctx()->observed;
    if (observed)
        la_observe_begin(&call, LA_OBSERVED_PASS, "fused chain", 11, 0);
    for (la_fuse_plan *p = c->plans; p && !status; p = p->next)
        status = chain_run_pass(p, give, context);
    if (observed) la_observe_end(&call);
    return status;
}
