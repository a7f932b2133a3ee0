/*
** What the files of the random operations share: generator, counters, fills.
*/
#ifndef LA_OP_RANDOM_RANDOM_H
#define LA_OP_RANDOM_RANDOM_H

#include "base/runtime/context.h"
#include "kernel/random/random_loops.h"
#include "op/frame.h"
#include "tensor/shape.h"

/* The generator in argument 'k', or the current one of the context. */
la_generator *la_random_generator(const la_frame *f, int k);

/* Take 'blocks' counters; returns the first, a multiple of 16. */
uint64_t la_random_draw(la_generator *g, uint64_t blocks);

/* Uniform float64, 0 <= x < 1, for methods that need a few of their own. */
la_status la_random_doubles(int64_t n, double *out, la_generator *g);

/* self as a new, contiguous float64 tensor of this shape (NULL: its own). */
la_status la_random_doubles_of(la_tensor *self, const la_shape *shape,
                               la_tensor **out);

#endif
