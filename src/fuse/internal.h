/* The program of a recording: what record.c writes and run.c reads. */
#ifndef LA_FUSE_INTERNAL_H
#define LA_FUSE_INTERNAL_H

#include "fuse/fuse.h"
#include "op/families.h"

#define LA_FUSE_STEPS 64     /* one bit each in a la_fuse_set */
#define LA_FUSE_INPUTS 32
#define LA_FUSE_SOURCES 3
typedef uint64_t la_fuse_set;

/* Where an operand of a step comes from. */
typedef struct la_fuse_source {
    enum { LA_FROM_STEP, LA_FROM_INPUT, LA_FROM_NUMBER } kind;
    int index;                        /* of the step or the input */
    char number[16] __attribute__((aligned(16)));   /* in the step's dtype */
} la_fuse_source;

typedef struct la_fuse_step {
    la_plan plan;                     /* the loop and its numbers */
    int nsources;
    la_fuse_source from[LA_FUSE_SOURCES];
    la_tensor *tensor;                /* the result, owned */
} la_fuse_step;

struct la_fuse {
    int nsteps, ninputs;
    la_fuse_step steps[LA_FUSE_STEPS];
    la_tensor *inputs[LA_FUSE_INPUTS];        /* owned */
};

static inline bool la_fuse_is_pending(const la_fuse_step *s)
{
    return (s->tensor->flags & LA_F_DEFERRED) != 0;
}

/* Compute the pending steps of the set; the others behind them run too, but
** leave nothing. On failure no step has a value that had none before. */
la_status la_fuse_run(la_fuse *z, la_fuse_set wanted);

#endif
