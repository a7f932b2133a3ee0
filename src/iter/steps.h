/* The build steps of the iterator, shared by the files of this folder. */
#ifndef LA_ITER_STEPS_H
#define LA_ITER_STEPS_H

#include "iter/iter.h"

/* dtype.c: the common device and dtype; targets of all operands. */
la_status la_iter_compute_types(la_iter *it, const la_iter_config *config);

/* layout.c. Fast set-up answers *done = false when it does not apply. */
la_status la_iter_fast_setup(la_iter *it, bool *done);
void la_iter_compute_strides(la_iter *it);
void la_iter_reorder(la_iter *it);
la_status la_iter_allocate(la_iter *it);
void la_iter_coalesce(la_iter *it);

/* Operand that has a tensor whose geometry is final. */
static inline bool la_iter_fixed(const la_iter_operand *op)
{
    return op->tensor && !op->will_resize;
}

/* row_iter.c: strides, order and merging of a build by rows, in place of the
** steps from the names on. */
la_status la_iter_build_rows(la_iter *it, const la_iter_config *config);

/* iter_verify.c: the debug build's self-check of an iterator that was built. */
#ifdef LA_DEBUG
void la_iter_verify(const la_iter *it);
#else
static inline void la_iter_verify(const la_iter *it) {}
#endif

#endif
