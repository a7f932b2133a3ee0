/*
** Chains: element-wise calls and reductions of rows that are laid out once, as
** passes over memory, and run many times on other tensors of the same form.
**
** All steps behind a result run together over blocks that stay in the first
** cache: the loops are those of the operations themselves, or of two in turn,
** so every bit is what it would have been (but for which of two NaNs is passed
** on: a loop's last elements may differ from its others in that, and blocks end
** elsewhere). Rows of a reduction over the last dims of a contiguous tensor go
** through the chain whole, or in the pieces that the reduction makes of them.
**
** A call is a step when its inputs have one dtype and its result the shape and
** memory order of the steps before, or is one element for each of their rows.
** Steps are written down on headers that show no memory: what would have to be
** computed first is none. Who lays a chain out sees to it that no step reads
** memory which another one writes through a header of another geometry.
*/
#ifndef LA_FUSE_CHAIN_H
#define LA_FUSE_CHAIN_H

#include "op/frame.h"

typedef struct la_fused la_fused;

/* A chain for so many steps at most. LA_ENOMEM. */
la_status la_fused_new(int most, la_fused **out);
void la_fused_free(la_fused *c);
/* One more step, whose numbers may change from run to run where 'renewed' is
** set; *out stands for its result among the arguments of later ones,
** borrowed: a new header, or the tensor that the call writes. NULL: the call
** can't be a step of this chain. LA_ENOMEM. */
la_status la_fused_add(la_fused *c, la_frame *f, bool renewed,
                       la_tensor **out);
/* Takes the last step back. */
void la_fused_take_back(la_fused *c);
/* Lays the passes out, which store the results among n tensors and all writes.
** 'name' gives each operand of a pass a number of the caller's. LA_ENOMEM. */
la_status la_fused_finish(la_fused *c, int n,
                          la_tensor *const *wanted,
                          int32_t (*name)(void *, const la_tensor *),
                          void *context);
/* The call of step i has other numbers than before. */
la_status la_fused_renew(la_fused *c, int i, la_frame *f);
/* Runs it on the tensors that 'give' has for the numbers of the operands.
** LA_ENOMEM, LA_EINTR, and what 'give' says. */
la_status la_fused_run(la_fused *c, la_status (*give)(void *, int32_t,
                       la_tensor **), void *context);

#endif
