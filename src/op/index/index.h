/*
** What the files of the index operations share: index tensors as checked
** int64, the walk of the kernels over views of equal shape, results that start
** as self.
**
** Order of work in every operation here: shapes and dtypes in meta; in impl
** all indices are checked first, then the first element is written.
*/
#ifndef LA_OP_INDEX_INDEX_H
#define LA_OP_INDEX_INDEX_H

#include "kernel/index/index_loops.h"
#include "op/frame.h"
#include "tensor/shape.h"

/* Sizes and strides as arrays; a 0-dim tensor counts as one of {1}. */
typedef struct la_walk_shape {
    int ndim;
    int64_t sizes[LA_MAX_DIMS];
} la_walk_shape;
la_walk_shape la_walk_of(const la_tensor *t);

/* 't' as a view for a walk over 'shape': its own strides (0-dim: 0), stride 0
** in dims where 'zero' has a bit. Owned. */
la_status la_walk_view(la_tensor *t, const la_walk_shape *shape, uint64_t zero,
                       la_tensor **out);
/* A one-dim (or 0-dim) tensor along dim 'dim' of the walk, stride 0 in the
** others. */
la_status la_walk_along(la_tensor *t, const la_walk_shape *shape, int dim,
                        la_tensor **out);

/* The dim that argument k names, from 0. */
static inline la_status la_walk_dim(const la_frame *f, int k, int *dim)
{
    return la_wrap_dim(la_arg_int(f, k), la_arg(f, 0)->ndim, dim);
}
/* A 0-dim tensor counts as one of sizes {1}, whose stride is 0. */
static inline int64_t la_walk_size(const la_tensor *t, int dim)
{
    return t->ndim ? la_sizes(t)[dim] : 1;
}
/* The stride of the dim in bytes. */
static inline int64_t la_walk_step(const la_tensor *t, int dim)
{
    return t->ndim ? la_strides(t)[dim] * (int64_t)la_itemsize(t) : 0;
}

/* So few elements in so few dims go to a loop as they lie: to find an order for
** them costs more than any order can give. */
static inline bool la_walk_is_few(const la_tensor *t)
{
    return t->ndim <= 2 && t->numel <= 1024;
}
/* Run 'loop' over operands (written first) that all have the walk's shape. */
enum { LA_WALK_READS, LA_WALK_WRITES };   /* in parallel; in order */
la_status la_walk_run(la_loop loop, const la_index_dims *dims, int kind,
                      la_tensor *first, la_tensor *second,
                      la_tensor *const *indices);

/* LA_EDTYPE unless 't' is int64 or int32; 'what' names the operation. */
la_status la_index_dtype(const la_tensor *t, int arg, const char *what);
/* 't' as int64: a new reference, or a copy of int32. */
la_status la_index_wide(la_tensor *t, la_tensor **out);
/* la_index_wide with every value checked to lie in 1..size or -size..-1. 'dim'
** (from 0) is for the message; -1: none. */
la_status la_index_checked(la_tensor *t, int64_t size, int dim, int arg,
                           la_tensor **out);
/* Keeps a checked index from changes by writing 'target': the index is copied
** where that may be, which la_target_scratch cannot always tell. */
la_status la_index_keep(const la_tensor *target, la_tensor **index);
/* A dim that is read or written through one index tensor, argument
** 'arg' (from 1) of the frame. A result that is new may be half written when an
** index proves wrong: there they are checked while they are used. */
typedef struct la_reading {
    int64_t size;           /* of the indexed dim */
    int64_t stride;         /* its stride, in bytes */
    int dim, arg;
    bool late;
    la_tensor *index;       /* as int64; owned */
} la_reading;
la_status la_reading_begin(const la_frame *f, la_tensor *index, la_reading *r);
/* The error of an index that a loop found to be wrong. */
la_status la_reading_failed(const la_reading *r);
/* 'to', 'from' and 'at' as the walk sees them. */
la_status la_reading_run(const la_reading *r, la_tensor *to, la_tensor *from,
                         la_tensor *at);
/* la_reading_run for few elements (and a dim at least), without views. */
la_status la_reading_few(const la_reading *r, la_tensor *to, la_tensor *from);
static inline void la_reading_drop(la_reading *r) { la_tensor_drop(&r->index); }
#define LA_READING __attribute__((cleanup(la_reading_drop))) la_reading

/* Meta function: the result has self's shape and dtype. In-place: it is self,
** and LA_EALIAS when its elements share memory (an expanded tensor). */
la_status la_target_meta(la_frame *f);
/* First step of impl: the result holds self's values. */
la_status la_target_begin(la_frame *f);
/* LA_EALIAS when 't' shares elements with the tensor that will be written. */
la_status la_target_scratch(const la_frame *f, const la_tensor *t);

/* Which kernel combines: the words of reduce arguments. */
typedef enum la_reduce_kind {
    LA_RED_SUM, LA_RED_PROD, LA_RED_MEAN, LA_RED_AMAX, LA_RED_AMIN,
    LA_RED_NONE
} la_reduce_kind;
/* LA_RED_NONE where the word is nil; LA_EARG for a word of none. */
la_status la_reduce_parse(const la_value *v, int arg, la_reduce_kind *out);
/* The reduction of argument 5; LA_EDTYPE where self's dtype has no such. */
la_status la_reduce_of(const la_frame *f, la_reduce_kind *out);
la_loop la_reduce_loop(la_reduce_kind kind, la_dtype d);
/* A 0-dim tensor of dtype 'd', cast from 's'. */
la_status la_scalar_tensor(const la_scalar *s, la_dtype d, la_tensor **out);
/* A walk over the positions of 'source': what lies there goes to the position
** of the target whose index along 'dim' the index tensor gives. */
typedef struct la_scatter_plan {
    la_walk_shape shape;     /* of the walk */
    la_index_dims dims;      /* sizes, bad; strides are set by the run */
    int dim;                 /* the indexed dim of the target */
    la_tensor *index;        /* walk view, borrowed */
    la_tensor *source;       /* walk view, borrowed */
} la_scatter_plan;
/* target[.., index, ..] = source, or combined with it. */
la_status la_scatter_put(la_tensor *target, const la_scatter_plan *p);
la_status la_scatter_reduce(la_tensor *target, const la_scatter_plan *p,
                            la_reduce_kind kind, bool with_self);
/* Scatter into a 16-bit float target, whose sums, products and means are
** rounded once (op/index/scatter_float32.c). */
la_status la_scatter_in_float32(la_tensor *target, const la_scatter_plan *p,
                                la_reduce_kind kind, bool with_self);

/* Impl: slices of argument 1 along 'dim' at the positions of a list, argument
** 'arg', into the result (op/index/along_dim.c). */
la_status la_read_slices(la_frame *f, int dim, la_tensor *index, int arg);

/* ---- masks (op/index/mask.c) ---- */

/* Positions of nonzero elements of t, from 1, in the flat tensor: int64, one
** dim. */
la_status la_flat_positions(la_tensor *t, la_tensor **out);
/* Impl: the elements of x where the mask, of the same shape, is set. */
la_status la_select_masked(la_frame *f, la_tensor *x, la_tensor *mask);

/* ---- advanced indexing (op/index/advanced.c) ---- */

/* x[indices]: the walk over its result. */
typedef struct la_advanced {
    la_shape shape;                       /* of the result */
    int n;                                /* index tensors */
    la_tensor *index[LA_MAX_DIMS];        /* views for the walk; owned */
    int64_t sizes[LA_MAX_DIMS];           /* of the indexed dims */
    int64_t strides[LA_MAX_DIMS];         /* theirs in self, in elements */
    int64_t self_strides[LA_MAX_DIMS];    /* self's in the walk */
} la_advanced;

#endif
