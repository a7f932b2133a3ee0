/*
** Rules on sizes and strides alone: broadcasting, dim wrapping, the views.
** Nothing here touches data. Dims count from 0 in C (the Lua binding shifts
** them), negative ones from the end; messages count from 1, as users do.
*/
#ifndef LA_TENSOR_SHAPE_H
#define LA_TENSOR_SHAPE_H

#include <string.h>

#include "base/dtype_title.h"
#include "base/size.h"
#include "tensor/tensor.h"

typedef struct la_shape {
    int ndim;
    int64_t sizes[LA_MAX_DIMS];
} la_shape;

typedef struct la_geometry {
    int ndim;
    int64_t sizes[LA_MAX_DIMS], strides[LA_MAX_DIMS];
    int64_t offset;
} la_geometry;

/* A position or dim as users count it: from 1, negative ones from the end. */
static inline int64_t la_counted(int64_t k)
{
    return k >= 0 && k < INT64_MAX ? k + 1 : k;
}

la_shape la_shape_of(const la_tensor *t);
/* Is this the shape of t? A loop, since shapes are short: a call of memcmp
** costs more. */
static inline bool la_has_sizes(const la_tensor *t, int ndim,
                                const int64_t *sizes)
{
    if (t->ndim != ndim) return false;
    for (int d = 0; d < ndim; d++)
        if (la_sizes(t)[d] != sizes[d]) return false;
    return true;
}
static inline bool la_same_sizes(const la_tensor *a, const la_tensor *b)
{
    return la_has_sizes(a, b->ndim, la_sizes(b));
}
/* "[2, 3]" for messages, cut where 'capacity' bytes end; returns 'out'. */
const char *la_sizes_text(int ndim, const int64_t *sizes, char *out,
                          size_t capacity);

/* Inline dims are copied as they stand, those past 'ndim' with them: a copy of
** fixed length is a few moves. */
static inline void la_geometry_of(const la_tensor *t, la_geometry *out)
{
    out->ndim = t->ndim;
    out->offset = t->offset;
    if (t->dims == t->inline_dims) {
        memcpy(out->sizes, la_sizes(t), sizeof t->inline_dims / 2);
        memcpy(out->strides, la_strides(t), sizeof t->inline_dims / 2);
        return;
    }
    memcpy(out->sizes, la_sizes(t), t->ndim * sizeof *out->sizes);
    memcpy(out->strides, la_strides(t), t->ndim * sizeof *out->strides);
}

/* Product with overflow checks against LA_MAX_NUMEL: LA_ESHAPE. */
la_status la_numel(int ndim, const int64_t *sizes, int64_t *out);
void la_contiguous_strides(int ndim, const int64_t *sizes, int64_t *strides);
/* Are the strides those of la_contiguous_strides, for dims of size 1 too?
** There they only decide the strides of results: a tensor of one channel in
** channels_last is contiguous, and its results stay in channels_last. */
static inline bool la_is_row_major(const la_tensor *t)
{
    uint64_t step = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (la_strides(t)[d] != (int64_t)step) return false;
        if (la_sizes(t)[d] > 1) step *= (uint64_t)la_sizes(t)[d];
    }
    return true;
}

/* Broadcast 'a' and 'b' to one shape in 'out' (may be a or b). The error is
** PyTorch's sentence: "The size of tensor a (2) must match the size of tensor
** b (3) at non-singleton dimension 1" with the dimension from 1. */
la_status la_shape_broadcast(const la_shape *a, const la_shape *b,
                             la_shape *out);

/* Wrap a dim (negative from the end) into 0..ndim-1; a 0-dim tensor has the
** dims 0 and -1. LA_EINDEX: "dimension 4 is out of range, 1 to 3 or -3 to
** -1". */
la_status la_wrap_dim(int64_t dim, int ndim, int *out);
/* la_wrap_dim for a position between dims (unsqueeze, stack): 0..ndim. */
la_status la_wrap_dim_end(int64_t dim, int ndim, int *out);
/* A list of dims as a bit set; n < 0 means all. Duplicates are LA_EARG. */
la_status la_dim_mask(int n, const int64_t *dims, int ndim, uint64_t *mask);

/* View rules. Each reads a geometry and writes another; nothing is changed on
** failure. Indices count from 0 here, negative from the end. */
la_status la_view_infer(const int64_t *asked, int n, int64_t numel,
                        la_shape *out);   /* resolves one -1 */
/* *possible is false when only a copy can have that shape. */
la_status la_view_strides(const la_tensor *t, const la_shape *to,
                          int64_t *strides, bool *possible);
la_status la_geo_select(la_geometry *g, int dim, int64_t index);
la_status la_geo_slice(la_geometry *g, int dim, int64_t first, int64_t end,
                       int64_t step);     /* half open, step > 0, ends cut */
/* Exchanges dims that are known to be there; a 0-dim tensor has none. */
static inline void la_geo_exchange(la_geometry *g, int a, int b)
{
    int64_t size = g->sizes[a], stride = g->strides[a];
    if (g->ndim == 0) return;
    g->sizes[a] = g->sizes[b];
    g->strides[a] = g->strides[b];
    g->sizes[b] = size;
    g->strides[b] = stride;
}
la_status la_geo_permute(la_geometry *g, const int64_t *dims, int n);
la_status la_geo_expand(la_geometry *g, const int64_t *sizes, int n);
la_status la_geo_squeeze(la_geometry *g, uint64_t mask); /* drops the ones */
la_status la_geo_unsqueeze(la_geometry *g, int64_t dim);
la_status la_geo_diagonal(la_geometry *g, int64_t offset, int64_t d0,
                          int64_t d1);
la_status la_geo_unfold(la_geometry *g, int64_t dim, int64_t size,
                        int64_t step);
/* Make the view that 'g' describes; shares t's storage. */
la_status la_view_make(la_tensor *t, const la_geometry *g, la_tensor **out);

#endif
