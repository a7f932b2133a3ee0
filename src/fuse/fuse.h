/*
** Fusing: chains of element-wise operations and reductions of rows that run
** block by block.
**
** While a recording is open on a context, element-wise calls are written down
** instead of run; their results are deferred tensors (LA_F_DEFERRED): dtype
** and geometry, no storage. A value is computed when something needs it: an
** operation that can't be recorded, a write to what a step reads, the end of
** the recording. Then all steps behind it run together over blocks that stay
** in the first cache, with one pass over memory: the loops are those of the
** operations themselves, or of two in turn, so every bit is what it would have
** been (but for which of two NaNs is passed on: a loop's last elements may
** differ from its others in that, and blocks end elsewhere). Reductions over
** the last dims of a contiguous tensor are written down too: their rows go
** through the program whole, or in the pieces that the reduction makes of them.
**
** Calls that write a tensor which was given (in place, out=, copy_) are written
** down as well. Until they are done, at the end of the recording at the latest,
** the tensor's storage is hidden: whoever looks at that memory has them done
** before (write.c). So fields of structs are read once, worked on in registers
** and written once.
**
** What is never asked for is never computed. A deferred tensor that outlives
** its recording has no value: using it is an error that says so.
**
** A step is recorded when its inputs have one dtype and its result the shape
** and memory order of the steps before, or is one element for each of their
** rows; everything else runs as always, on computed values. So a recording
** never changes a result, only its cost.
*/
#ifndef LA_FUSE_FUSE_H
#define LA_FUSE_FUSE_H

#include "tensor/tensor.h"

typedef struct la_fuse la_fuse;

/* Is a recording open on the current context? */
bool la_fuse_is_open(void);
/* Open one on the current context, which has none. LA_ENOMEM. */
la_status la_fuse_open(void);
/* Compute the value of a deferred tensor; nothing to do for others. LA_ESTATE
** for one whose recording has ended; LA_ENOMEM, LA_EINTR. */
la_status la_fuse_value(la_tensor *t);
/* Compute the deferred ones among n tensors (NULL entries are skipped), with as
** few passes as there can be. */
la_status la_fuse_values(int n, la_tensor *const *tensors);
/* la_fuse_values at the end of the recording, with all writes into tensors that
** were given. */
la_status la_fuse_finish(int n, la_tensor *const *tensors);
/* End the recording; what was not computed never will be. */
void la_fuse_close(void);

#endif
