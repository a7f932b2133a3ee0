/*
** la.vmap: a function of one element, run on a whole batch.
**
** Inside of the function a tensor with a batch is a header without storage
** (LA_F_BATCHED with LA_F_DEFERRED): sizes and strides of one element, and in
** 'base' the tensor that it stands for, whose first dim is the batch. The
** dispatcher hands every call with such an argument to this folder, above all
** keys: the row's rule (op/batch.def) makes of it a call on the tensors behind,
** with dims and sizes moved by one (vmap_call.c, special.c); composites run
** their bodies on the headers; what has no rule runs once per element (loop.c),
** which is the last way. Calls on the tensors behind are ordinary ones: they
** are recorded by autograd, and by the vmap around where 'base' is itself such
** a header.
**
** A level is one running la.vmap. Headers name theirs (seen_version holds its
** number, spare how deep it is), so that one that outlives it is refused.
*/
#ifndef LA_VMAP_VMAP_H
#define LA_VMAP_VMAP_H

#include "base/runtime/context.h"
#include "op/value.h"

/* Modes of operations that draw numbers: refuse; draw for every element of the
** batch; draw once for all. */
typedef enum la_randomness {
    LA_RANDOM_ERROR, LA_RANDOM_DIFFERENT, LA_RANDOM_SAME
} la_randomness;

typedef struct la_vmap {
    struct la_vmap *outer;
    int64_t size;           /* of the batch */
    uint32_t number;        /* of this level alone, until 2^32 were */
    uint8_t depth;          /* 1 for the outermost */
    la_randomness randomness;
    int bodies;             /* of composites that run on its headers */
} la_vmap;

/* 'v', of the caller, becomes the current context's innermost level until
** la_vmap_close. LA_EARG for more than 64 levels. */
la_status la_vmap_open(la_vmap *v, int64_t size, la_randomness randomness);
void la_vmap_close(la_vmap *v);

/* The header of 't' (borrowed), whose dim 'dim', from 0, is the batch of 'v':
** LA_ESHAPE where it has another size. */
la_status la_vmap_wrap(la_vmap *v, la_tensor *t, int dim, la_tensor **out);
/* Header of a tensor whose first dim is the batch; takes over 'owned', also
** after a failure. */
la_status la_vmap_header(const la_vmap *v, la_tensor *owned, la_tensor **out);
/* The tensor behind a header of 'v' with the batch as dim 'dim', from 0 among
** its dims; of a tensor without that batch an expanded view. */
la_status la_vmap_unwrap(la_vmap *v, la_tensor *t, int64_t dim,
                         la_tensor **out);
/* The level of a header, NULL for any other tensor; LA_ESTATE where it has
** ended. */
la_status la_vmap_level(const la_tensor *t, la_vmap **out);
/* Tensor behind 't', through all levels, borrowed; others are themselves. */
static inline la_tensor *la_vmap_root(la_tensor *t)
{
    while (t->flags & LA_F_BATCHED) t = t->base;
    return t;
}

#endif
