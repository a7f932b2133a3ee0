/*
** Do elements share memory? PyTorch's MemoryOverlap, made sharper where a
** cheap test is certain: strides that step over each other's extents, ranges
** that do not meet, and remainders that can never agree.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "base/size.h"
#include "tensor/dims.h"
#include "tensor/tensor.h"

/* Each stride, from the smallest, jumps over all that came before. */
static bool strides_nest(const la_tensor *t)
{
    uint8_t perm[LA_MAX_DIMS];
    int n = la_dims_sorted(t->ndim, la_sizes(t), la_strides(t), perm);
    int64_t extent = 0;
    for (int k = 0; k < n; k++) {
        if (la_strides(t)[perm[k]] <= extent)
            return false;
        extent += (la_sizes(t)[perm[k]] - 1) * la_strides(t)[perm[k]];
    }
    return true;
}

la_overlap la_internal_overlap(const la_tensor *t)
{
    if (t->flags & LA_F_DENSE || t->numel < 2)
        return LA_OVERLAP_NO;
    for (int d = 0; d < t->ndim; d++)
        if (la_strides(t)[d] == 0 && la_sizes(t)[d] > 1)
            return LA_OVERLAP_YES;
    return strides_nest(t) ? LA_OVERLAP_NO : LA_OVERLAP_TOO_HARD;
}

/* Bytes from the first element to behind the last. */
static int64_t byte_extent(const la_tensor *t)
{
    int64_t last = 0;
    for (int d = 0; d < t->ndim; d++)
        last += (la_sizes(t)[d] - 1) * la_strides(t)[d];
    return (last + 1) * (int64_t)la_itemsize(t);
}

/* Are they the same elements in the same order, where the first ones are?
** Writing each after reading it is safe then. */
static bool same_positions(const la_tensor *a, const la_tensor *b)
{
    return a->ndim == b->ndim && la_itemsize(a) == la_itemsize(b)
        && memcmp(a->dims, b->dims, 2u * a->ndim * sizeof *a->dims) == 0;
}

/* Common divisor of all steps in bytes; 0 for a single element. */
static int64_t step_gcd(const la_tensor *t, int64_t g)
{
    for (int d = 0; d < t->ndim; d++)
        if (la_sizes(t)[d] > 1)
            g = (int64_t)la_gcd((uint64_t)g, (uint64_t)la_strides(t)[d]
                                             * la_itemsize(t));
    return g;
}

/* Elements lie at offset + multiples of g bytes: can a byte of one ever fall
** into an element of the other? */
static bool remainders_differ(const la_tensor *a, const la_tensor *b,
                              int64_t distance)
{
    int64_t g = step_gcd(b, step_gcd(a, 0));
    if (g == 0)
        return false;
    int64_t ahead = ((distance % g) + g) % g;   /* of b before a's next */
    return ahead >= (int64_t)la_itemsize(a)
        && g - ahead >= (int64_t)la_itemsize(b);
}

/* Bytes from the first to behind the last element of what lies within one step
** of 'step': dims that go on by multiples of it do not count. */
static int64_t span_within(const la_tensor *t, int64_t step)
{
    int64_t size = (int64_t)la_itemsize(t), last = 0;
    for (int d = 0; d < t->ndim; d++)
        if (la_strides(t)[d] * size % step)
            last += (la_sizes(t)[d] - 1) * la_strides(t)[d];
    return (last + 1) * size;
}

/* Fields of the same structs: whatever lies in one step of the largest stride
** ends before the other begins. */
static bool fields_differ(const la_tensor *a, const la_tensor *b,
                          int64_t distance)
{
    int64_t step = 0;
    for (int d = 0; d < a->ndim; d++)
        if (la_sizes(a)[d] > 1 && la_strides(a)[d] > step)
            step = la_strides(a)[d];
    step *= (int64_t)la_itemsize(a);
    if (step == 0) return false;
    int64_t ahead = ((distance % step) + step) % step;
    return ahead >= span_within(a, step)
        && step - ahead >= span_within(b, step);
}

/* Cheap tests one after another: ranges of bytes, remainders of the steps.
** Whether two strided sets of addresses meet is a Diophantine problem, NP-hard
** in general: what is left is TOO_HARD, and the caller decides. */
la_overlap la_distance_overlap(const la_tensor *a, const la_tensor *b,
                               int64_t distance)
{
    if (a->numel == 0 || b->numel == 0) return LA_OVERLAP_NO;
    if (distance == 0 && same_positions(a, b)) return LA_OVERLAP_FULL;
    if (distance >= byte_extent(a) || -distance >= byte_extent(b))
        return LA_OVERLAP_NO;
    if (a->flags & b->flags & LA_F_DENSE) return LA_OVERLAP_PARTIAL;
    return remainders_differ(a, b, distance) || fields_differ(a, b, distance)
        ? LA_OVERLAP_NO : LA_OVERLAP_TOO_HARD;
}

la_overlap la_pair_overlap(const la_tensor *a, const la_tensor *b)
{
    if (a == b) return LA_OVERLAP_FULL;
    if (!a->storage || a->storage != b->storage) return LA_OVERLAP_NO;
    return la_distance_overlap(a, b, b->offset * (int64_t)la_itemsize(b)
                               - a->offset * (int64_t)la_itemsize(a));
}
