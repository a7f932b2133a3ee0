/* la.vmap in Lua: what other files of the binding ask of it. */
#ifndef LA_LUA_TRANSFORM_VMAP_H
#define LA_LUA_TRANSFORM_VMAP_H

#include "lua/binding.h"
#include "vmap/vmap.h"

/* The levels that a call of la.grad went through, from the inside out. */
typedef struct la_vmap_grad {
    int n;
    la_vmap *levels[LA_MAX_DIMS];
} la_vmap_grad;

/* Replaces headers in the boxes by what is behind them, so that the engine sees
** ordinary tensors: the gradient of the sum over a batch is that of each of its
** elements, since none depends on another. LA_EARG where an output has a batch
** and an input has not: its gradient would be such a sum. */
la_status la_vmap_before_grad(la_tensor_box *roots, la_tensor_box *seeds,
                              la_tensor_box *inputs, la_vmap_grad *out);
/* Makes headers of the gradients again. */
la_status la_vmap_after_grad(const la_vmap_grad *g, la_tensor_box *gradients);

#endif
