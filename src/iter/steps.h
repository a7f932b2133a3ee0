/* The build steps of the iterator, shared by the files of this folder. */
#ifndef LA_ITER_STEPS_H
#define LA_ITER_STEPS_H

#include "iter/iter.h"

/* dtype.c: the common device and dtype; targets of all operands. */
la_status la_iter_compute_types(la_iter *it, const la_iter_config *config);

/* layout.c. Fast set-up answers *done = false when it does not apply. */
la_status la_iter_fast_setup(la_iter *it, bool *done);
void la_iter_compute_strides(la_iter *it, const la_iter_config *config);
void la_iter_reorder(la_iter *it);
la_status la_iter_allocate(la_iter *it);
void la_iter_coalesce(la_iter *it);

/* Operand that has a tensor whose geometry is final. */
static inline bool la_iter_fixed(const la_iter_operand *op)
{
    return op->tensor && !op->will_resize;
}

/* grid.c: a cut of the iteration into boxes of at most size[d] along dim d. */
typedef struct la_iter_grid {
    int64_t count;                 /* number of boxes */
    int64_t size[LA_MAX_DIMS];     /* of a box; the last along a dim is less */
    int64_t along[LA_MAX_DIMS];    /* boxes along dim d */
} la_iter_grid;
void la_iter_grid_init(const la_iter *it, la_iter_grid *g);
/* Halve the boxes along dim d (size[d] > 1). */
void la_iter_grid_halve(const la_iter *it, la_iter_grid *g, int d);
/* Box number k as an iterator that borrows everything from 'it'. */
void la_iter_part(const la_iter *it, const la_iter_grid *g, int64_t k,
                  la_iter *part);

/* verify.c: the debug build's self-check of an iterator that was built. */
#ifdef LA_DEBUG
void la_iter_verify(const la_iter *it);
#else
static inline void la_iter_verify(const la_iter *it) {}
#endif

#endif
