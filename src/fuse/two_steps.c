/*
** Two steps in one loop: arithmetic that nobody else reads is computed in the
** loop of its reader (kernel/pointwise/two_steps.h), which saves writing and
** reading it.
*/
#include "fuse/fuse_plan.h"
#include "kernel/pointwise/two_steps.h"

LA_STUB_DECLARE(la_loops, add);
LA_STUB_DECLARE(la_loops, sub);
LA_STUB_DECLARE(la_loops, mul);
LA_STUB_DECLARE(la_loops, div);

/* Which arithmetic a step is, by its loop; LA_CHAIN_FIRSTS for any other. */
static la_two_steps arithmetic_of(const la_fuse_step *s, la_dtype d)
{
    const la_loops *of[LA_CHAIN_FIRSTS] = {
        [LA_CHAIN_ADD] = LA_STUB(add), [LA_CHAIN_SUB] = LA_STUB(sub),
        [LA_CHAIN_MUL] = LA_STUB(mul), [LA_CHAIN_DIV] = LA_STUB(div)};
    int k = 0;
    while (k < LA_CHAIN_FIRSTS && (*of[k])[d] != s->plan.loop) k++;
    return (la_two_steps)k;
}

la_loop la_fuse_chain(const la_fuse_step *first, const la_fuse_step *second,
                      int side)
{
    la_dtype d = (la_dtype)first->tensor->dtype;
    if (first->renewed || second->renewed) return NULL;
    if (first->kind != LA_STEP_EACH || second->kind != LA_STEP_EACH
        || second->tensor->dtype != d) return NULL;
    la_two_steps a = arithmetic_of(first, d), b = arithmetic_of(second, d);
    if (a == LA_CHAIN_FIRSTS || b == LA_CHAIN_FIRSTS) return NULL;
    if (side == 1 && b == LA_CHAIN_SUB) b = LA_CHAIN_SUB_FROM;
    if (side == 1 && b == LA_CHAIN_DIV) b = LA_CHAIN_DIV_INTO;
    return (*LA_STUB(chains))[a][b][d];
}
